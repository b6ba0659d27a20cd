"""The house rules that a program can check: who may import whom, and what."""

import ast
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

import foresift

ROOT = Path(__file__).parents[1]
PACKAGE = Path(foresift.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))


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


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_only_modules_are_taken_from_the_package(path):
    """Elsewhere they would come through `__init__`, where the import rule loses sight of them."""
    modules = {module.stem for module in MODULES} | {"_core", "__version__"}
    taken = {name.split(".")[1] for name in imports(path) if name.startswith("foresift.")}
    assert taken <= modules


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_only_one_door_to_scikit_learn_internals(path):
    """Private names and the experimental callbacks may change under us, so one module alone knows them."""
    if path.name != "_sklearn.py":
        sklearn = [name for name in imports(path) if name.startswith("sklearn.")]
        assert [name for name in sklearn if "._" in name or name.startswith("sklearn.callback")] == []


def test_only_the_bindings_know_python():
    sources = {path.name: path.read_text() for path in ROOT.glob("cpp/**/*.?pp")}
    knowing = {
        name
        for name, text in sources.items()
        if any(w in text for w in ("nanobind", "Python.h", "bindings.hpp"))
    }
    assert knowing == {"bindings.hpp", "bindings.cpp", "bind_mlp.cpp"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_headings_of_docstrings_stand_alone(path):
    """A line of dashes has a line to itself, right below a heading of its length: numpydoc reads no other."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            continue
        lines = (ast.get_docstring(node) or "").split("\n")
        for above, line in zip(["", *lines], lines, strict=False):
            if "-----" in line:
                assert line.strip() == "-" * len(above.strip()), line
