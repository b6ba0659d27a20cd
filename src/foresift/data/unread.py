"""What is not a table yet, such as a path, a generator or a dataset, and what to pass instead."""

from __future__ import annotations

from collections.abc import Mapping
from io import IOBase
from os import PathLike, fspath
from typing import Any

import narwhals as nw
from narwhals.exceptions import DuplicateError

__all__ = ["refuse_unread"]

_QUERIES = {"duckdb": "df", "pyspark": "toPandas", "ibis": "to_pandas"}  # what makes frames of them
_IN_BATCHES = ("a path", "a query of duckdb", "a lazy frame", "a dataset", "a stream of batches")
_ARROW = {"to_table": "a dataset", "read_all": "a stream of batches", "read": "a file"}


def refuse_unread(value: Any, name: str) -> None:
    """Raise if X or y has to be read or computed first.

    Examples
    --------
    >>> refuse_unread((row for row in [[1.0], [2.0]]), "X")
    Traceback (most recent call last):
        ...
    TypeError: X is a generator, which can be read only once: pass list(X).
    """
    if said := _what_to_pass(value, name):
        batches = name == "X" and any(said.startswith(one) for one in _IN_BATCHES)
        more = "; selectors and select also take it with the name of its target, y='...'" if batches else ""
        raise TypeError(f"{name} is {said}{more}.")


def _what_to_pass(value: Any, name: str) -> str:
    library = type(value).__module__.partition(".")[0]
    if value is None and name == "X":
        return "None: pass a table"
    if isinstance(value, str) and name == "y":
        return (
            f"the text {value!r}: pass a value for every row, such as X[{value!r}], not the name of a column"
        )
    if isinstance(value, str | PathLike):
        return f"a path: read the file first, X, y = foresift.read({fspath(value)!r}, target=...)"
    if isinstance(value, IOBase):
        return "an open file: read it first, X, y = foresift.read(path, target=...)"
    if library in _QUERIES:
        return f"a query of {library}: pass the result of {name}.{_QUERIES[library]}()"
    if _is_lazy(value):
        method = "compute" if hasattr(value, "compute") else "collect"  # Dask, or others
        return f"a lazy frame: pass the result of {name}.{method}()"
    if library == "pyarrow" and (method := next((one for one in _ARROW if hasattr(value, one)), "")):
        return f"{_ARROW[method]} of pyarrow: pass the result of {name}.{method}()"
    if library == "torch" and (value.requires_grad or value.device.type != "cpu"):
        return f"a tensor that NumPy cannot read: pass {name}.detach().cpu().numpy()"
    if library == "foresift" and type(value).__name__ == "FileData":
        return "a table of foresift.read: pass its parts, X, y = table, or select(**table.arguments)"
    if library == "pandas" and hasattr(value, "ngroups"):
        return f"groups of a frame: pass a table, such as that of {name}.mean()"
    if hasattr(value, "__next__"):
        return f"a {type(value).__name__}, which can be read only once: pass list({name})"
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return f"a list of dicts: pass pandas.DataFrame({name})"
    return ""


def _is_lazy(value: Any) -> bool:
    try:
        return isinstance(nw.from_native(value, pass_through=True), nw.LazyFrame)
    except DuplicateError:  # of names, which are told where the columns are read
        return False
