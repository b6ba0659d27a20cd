"""Compare docstrings with signatures: `python tools/check_docstrings.py` prints what is wrong, one line each.

ruff checks the form of docstrings but not the parameters they list. `numpydoc lint` reads source files, where
an inherited `__init__` or that of a dataclass cannot be seen. The imported objects are checked instead.
"""

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path

from numpydoc.docscrape import get_doc_object
from numpydoc.validate import Validator
from sklearn.base import BaseEstimator

import foresift


def public_objects() -> Iterator[tuple[str, object]]:
    """Yield name and object of everything in an `__all__`, and of the public methods of classes among it."""
    for found in pkgutil.walk_packages(foresift.__path__, "foresift."):
        module = importlib.import_module(found.name)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if callable(value) and getattr(value, "__module__", None) == found.name:
                yield f"{found.name}.{name}", value
                methods = vars(value) if inspect.isclass(value) else {}
                for method in methods:
                    if method[0] != "_" and inspect.isroutine(getattr(value, method)):
                        yield f"{found.name}.{name}.{method}", getattr(value, method)


def lists_all_parameters(value: object, offered: bool) -> bool:
    """Tell whether a docstring must have a section of parameters, whatever it says now."""
    if dataclasses.is_dataclass(value):
        return False
    return offered or (inspect.isclass(value) and issubclass(value, BaseEstimator))


def problems(value: object, offered: bool) -> Iterator[str]:
    """Yield what is wrong with the docstring of an object; `offered` says that the package itself has it."""
    read = Validator(get_doc_object(value))
    documented = {name for names in read.doc_parameters for name in names.split(", ")}
    if documented or lists_all_parameters(value, offered):
        yield from (text for code, text in read.parameter_mismatches if code in ("PR01", "PR02"))
    elif offered and dataclasses.is_dataclass(value):
        attributes = {name for entry in read.doc["Attributes"] for name in entry.name.split(", ")}
        public = {field.name for field in dataclasses.fields(value) if not field.name.startswith("_")}
        missing = public - attributes
        yield from (f'Attribute "{name}" not documented' for name in sorted(missing))
    for section in ("Parameters", "Attributes", "Raises"):
        for entry in read.doc[section]:
            names = (entry.name or entry.type).replace("*", "").split(", ")
            if not all(name.isidentifier() for name in names):
                yield f"{section} has an entry that is no name: {entry.name or entry.type!r}"
            if " : " in " ".join([entry.type, *entry.desc]):
                yield f"{section}: an entry is lost in the text of {entry.name!r}"


def misplaced_headings(path: Path) -> Iterator[str]:
    """Yield lines of dashes that are not right below a heading of their length: numpydoc reads no other."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            lines = (ast.get_docstring(node) or "").split("\n")
            for above, line in zip(["", *lines], lines, strict=False):
                if "-----" in line and line.strip() != "-" * len(above.strip()):
                    yield line


def main() -> int:
    """Print all problems; the exit status is 1 if there are any."""
    offered = {id(getattr(foresift, name)) for name in foresift.__all__}
    found = [
        f"{name}: {problem}"
        for name, value in public_objects()
        for problem in problems(value, id(value) in offered)
    ]
    for path in sorted(Path(foresift.__file__).parent.rglob("*.py")):
        found += [f"{path}: a heading that is not one: {line}" for line in misplaced_headings(path)]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
