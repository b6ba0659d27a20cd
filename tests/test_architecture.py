"""The house rules that a program can check: who may import whom, and what."""

import ast
import dataclasses
import importlib
import inspect
import re
from pathlib import Path

import pytest
from importlinter.cli import lint_imports
from sklearn.base import BaseEstimator

import foresift

ROOT = Path(__file__).parents[1]
PACKAGE = Path(foresift.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))


def name_of(path):
    """Name of a module within the package, such as `cli.select`; that of the package itself is empty."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path):
    """Yield the dotted name of everything that a module imports, wherever it does."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: write absolute imports, the checks read them"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_import_rule():
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == 0


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_only_modules_are_taken_from_the_package(path):
    """Elsewhere they would come through `__init__`, where the import rule loses sight of them."""
    modules = {name_of(module).split(".")[0] for module in MODULES} | {"_core", "__version__"}
    taken = {name.split(".")[1] for name in imports(path) if name.startswith("foresift.")}
    assert taken <= modules


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_only_one_door_to_scikit_learn_internals(path):
    """Private names and the experimental callbacks may change under us, so one module alone knows them."""
    if path.name != "sklearn_compat.py":
        sklearn = [name for name in imports(path) if name.startswith("sklearn.")]
        assert [name for name in sklearn if "._" in name or name.startswith("sklearn.callback")] == []


def test_only_the_bindings_know_python():
    words = ("nanobind", "Python.h", '"bindings/')
    outside = [path for path in ROOT.glob("cpp/**/*.?pp") if path.parent.name != "bindings"]
    assert [path.name for path in outside if any(word in path.read_text() for word in words)] == []
    assert len(outside) > 50


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_headings_of_docstrings_stand_alone(path):
    """A line of dashes has a line to itself, right below a heading of its length: numpydoc reads no other."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            continue
        lines = (ast.get_docstring(node) or "").split("\n")
        for above, line in zip(["", *lines], lines, strict=False):
            if "-----" in line:
                assert line.strip() == "-" * len(above.strip()), line


def entries(docstring, heading):
    """Names that a section of a numpydoc text lists, and lines that are none; None without that section."""
    lines = inspect.cleandoc(docstring).split("\n")
    begins = [i + 2 for i in range(len(lines) - 1) if lines[i : i + 2] == [heading, "-" * len(heading)]]
    if not begins:
        return None
    found = []
    for line, below in zip(lines[begins[0] :], [*lines[begins[0] + 1 :], ""], strict=True):
        if re.fullmatch("-+", below):
            break
        if line and not line.startswith(" "):
            names = re.fullmatch(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*)( : (?:(?! : ).)+)?", line)
            found += names[1].replace("*", "").split(", ") if names else [line]
    return found


def public_objects():
    """Yield (name, object) of what modules list in `__all__`, and the public methods of classes among it."""
    for path in MODULES:
        module = importlib.import_module(f"foresift.{name_of(path)}".rstrip("."))
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if getattr(value, "__module__", None) != module.__name__ or not callable(value):
                continue
            yield f"{name_of(path)}.{name}", value
            if inspect.isclass(value):
                methods = inspect.getmembers(value, inspect.isroutine)
                yield from (
                    (f"{name_of(path)}.{name}.{m}", f) for m, f in methods if m in vars(value) and m[0] != "_"
                )


def test_entries_of_a_docstring():
    text = """One line.

    Parameters
    ----------
    a, b : int
        Two.
    *rest
        More : than that.

    Returns
    -------
    int
        One.
    """
    assert entries(text, "Parameters") == ["a", "b", "rest"]
    assert entries(text, "Raises") is None
    merged = text.replace("Two.\n    *rest", "Two. c : str, default=None").replace(
        "int\n        Two", "int Two"
    )
    assert entries(merged, "Parameters") != ["a", "b", "c"]


@pytest.mark.parametrize(
    ("name", "value"), list(public_objects()), ids=lambda v: v if isinstance(v, str) else ""
)
def test_documented_parameters_are_those_of_the_signature(name, value):
    """None is missing, left over or lost in the text of another, as when lines are wrapped anew."""
    documented = entries(value.__doc__ or "", "Parameters")
    if inspect.isclass(value) and documented is None and issubclass(value, BaseEstimator):
        documented = []  # every estimator says what its parameters are
    if documented is not None:
        taken = [p for p in inspect.signature(value).parameters if p not in ("self", "cls")]
        assert sorted(documented) == sorted(taken)
    for heading in ("Attributes", "Raises"):
        assert all(entry.isidentifier() for entry in entries(value.__doc__ or "", heading) or [])
    for line in (value.__doc__ or "").split("\n"):
        assert not re.search(r"\w[.)] +\w+ : \w|\S : .+ : ", line), line


def test_what_the_package_offers_documents_its_parameters():
    offered = [getattr(foresift, name) for name in foresift.__all__ if name != "__version__"]
    with_parameters = [value for value in offered if callable(value) and inspect.signature(value).parameters]
    silent = [value for value in with_parameters if entries(value.__doc__, "Parameters") is None]
    for value in silent:  # what functions return, and nobody makes by hand
        fields = {field.name for field in dataclasses.fields(value)}
        assert fields <= set(entries(value.__doc__, "Attributes")), value
