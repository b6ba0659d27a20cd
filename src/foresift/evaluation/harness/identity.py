"""Identity of objects across runs: parameters as JSON text, and checksums of values."""

from __future__ import annotations

import copyreg
import hashlib
import json
import numbers
import re
import sys
import types
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import foresift
from foresift.data.containers import values_of
from foresift.data.values import is_missing

__all__ = ["add_array", "canonical", "checksum", "describe", "storage"]

_IGNORED = ("n_jobs", "verbose", "memory_limit")  # parameters that do not change results
# Parameters of this package with the value that results from before they existed have.
_NEW = {
    "correct_nominal": False,
    "constant_draw": "redraw",
    "min_value_gap": 0.0,
    "group_categories": False,
    "task": "auto",
    "sigma": None,
    "keep": None,
    "feature_groups": None,
    "dependence": "auto",
    "max_bins": "auto",
}
# What None stands for where it was the default once.
_FORMER: dict[str, dict[str, Any]] = {
    "foresift.ContributionSelector": {"scoring": "accuracy"},
    "foresift.GEFSSelector": {"learning_rate": 0.15},
    "foresift.SequentialSelector": {"scoring": "accuracy"},
}
# Defaults that were None once, and how None is described since: a store has results of the default by None.
_WAS_NONE = {"n_samples": ("auto", "all")}


def describe(value: Any) -> Any:
    """Describe parameters by JSON types: an estimator is its class and parameters.

    `n_jobs`, `verbose` and `memory_limit` are left out, as are new parameters where they are switched off.
    Arrays and data frames become checksums. Classes and functions become their public names, so that moving
    code does not invalidate a store. Other objects, and estimators that stay fitted when cloned, are
    described by what pickle would store. Objects without an identity, such as lambdas, are refused.

    Examples
    --------
    >>> from foresift import InfoGainSelector
    >>> describe({"size": np.int64(3), "selector": InfoGainSelector})["size"]
    3
    >>> describe(InfoGainSelector(2))
    {'class': 'foresift.InfoGainSelector', ..., 'n_features_to_select': 2, 'ratio': False}
    >>> describe(lambda X: X)
    Traceback (most recent call last):
        ...
    ValueError: <function <lambda> at ...> cannot be identified, so no result could be found ...
    """
    return _describe(value, False, ())


def _describe(value: Any, fitted: bool, inside: tuple[int, ...]) -> Any:
    """`fitted`: describe the state of estimators; `inside`: ids of the containers of the value."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic | np.ndarray) and value.ndim == 0 and value.dtype.kind in "biufUSO":
        return _describe(value.item(), fitted, inside)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, float):
        return value if np.isfinite(value) else {"float": repr(value)}
    if isinstance(value, bytes | bytearray):
        return {"bytes": checksum(bytes(value))}
    if isinstance(value, np.ndarray):
        return f"array {_of_array(value)}"
    if sparse.issparse(value):
        return f"{type(value).__name__} {_of_array(value.toarray())}"
    if isinstance(value, type):
        return _qualified(value)
    if isinstance(value, types.FunctionType):
        return _of_function(value)
    if id(value) in inside:
        raise _unidentifiable(value, "It contains itself.")
    inside = (*inside, id(value))
    if isinstance(value, Mapping):
        return {_key(key): _describe(item, fitted, inside) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_describe(item, fitted, inside) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((_describe(item, fitted, inside) for item in value), key=canonical)
    if hasattr(value, "get_params") and not fitted:
        if hasattr(type(value), "__sklearn_clone__") and not _cloned_bare(value):
            return _of_object(value, True, inside)
        return {"class": _qualified(type(value)), **_parameters(value, inside)}
    frame = nw.from_native(value, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(frame, nw.DataFrame | nw.Series):
        return _of_frame(value, frame, inside)
    return _of_object(value, fitted, inside)


def _key(key: Any) -> str:
    plain = describe(key)
    return plain if isinstance(plain, str) else f"{type(plain).__name__} {canonical(plain)}"


def _cloned_bare(estimator: Any) -> bool:
    """Whether a clone has the parameters only; a clone of `FrozenEstimator` stays fitted."""
    from sklearn.base import BaseEstimator

    return type(estimator).__sklearn_clone__ is BaseEstimator.__sklearn_clone__


def _parameters(estimator: Any, inside: tuple[int, ...]) -> dict[str, Any]:
    its_name = _qualified(type(estimator))
    former, new = _FORMER.get(its_name, {}), _NEW if its_name.startswith("foresift.") else {}
    was_none = _WAS_NONE if new else {}
    found = {}
    for name, item in sorted(estimator.get_params(deep=False).items()):
        if name in _IGNORED or (name in new and _same(item, new[name])):
            continue
        if name in was_none:
            default, every = was_none[name]
            item = every if item is None else None if _same(item, default) else item
        elif item is None:
            item = former.get(name)
        found[name] = _describe(item, False, inside)
    return found


def _same(item: Any, former: Any) -> bool:
    return item is None if former is None else bool(item == former)


def _of_function(function: Any) -> str:
    """Name of a function that can be found by it; lambdas and closures cannot."""
    if not _has(sys.modules.get(function.__module__), function):
        raise _unidentifiable(function, "Define it with def at the top of a module.")
    return _qualified(function)


def _of_frame(native: Any, frame: Any, inside: tuple[int, ...]) -> dict[str, Any]:
    columns = [frame] if isinstance(frame, nw.Series) else list(frame.iter_columns())
    return {
        "class": _qualified(type(native)),
        "names": [_describe(column.name, False, inside) for column in columns],
        "types": [_type_of(column) for column in columns],
        "values": [_of_array(values_of(column)) for column in columns],
        "index": _of_array(np.asarray(native.index)) if hasattr(native, "index") else None,
    }


def _of_object(value: Any, fitted: bool, inside: tuple[int, ...]) -> Any:
    """What pickle would store, but not as bytes: they depend on whether equal strings are one object."""
    try:
        known = copyreg.dispatch_table.get(type(value))
        parts = value.__reduce_ex__(4) if known is None else known(value)
    except Exception as error:
        raise _unidentifiable(value, "Make it an object that can be pickled.") from error
    if isinstance(parts, str):  # a name in a module, as of a ufunc
        return f"{getattr(value, '__module__', '')}.{parts}"
    make, arguments, *rest = parts
    state, items, pairs = (*rest, None, None, None)[:3]
    if make is copyreg.__newobj__ and len(arguments) == 1:  # type: ignore[attr-defined]
        made: Any = []
    else:
        name = getattr(make, "__qualname__", "")
        made = [name, *(_describe(item, fitted, inside) for item in arguments)]
    return {
        "class": _qualified(type(value)),
        "made": made,
        "state": _describe(state, fitted, inside),
        "items": [_describe(item, fitted, inside) for item in items or ()],
        "pairs": [_describe(pair, fitted, inside) for pair in pairs or ()],
    }


def _unidentifiable(value: Any, advice: str) -> ValueError:
    return ValueError(f"{value!r} cannot be identified, so no result could be found again. {advice}")


def _qualified(value: Any) -> str:
    """Public name of a class or function, which moving its code does not change.

    For example `sklearn.ensemble.RandomForestClassifier`, not `sklearn.ensemble._forest...`.
    """
    module, name = value.__module__, value.__qualname__
    if module.partition(".")[0] == "foresift":
        return _own_name(value)
    public = re.sub(r"\._.*", "", module)
    return f"{public if _offers(sys.modules.get(public), value) else module}.{name}"


def _own_name(value: Any) -> str:
    """Name of a class or function of this package; a private class has its bare name."""
    name = value.__qualname__
    for place in foresift._MODULES:
        if _offers(getattr(foresift, place), value):
            return f"foresift.{place}.{name}"
    if not isinstance(value, type) and not _offers(foresift, value):
        raise _unidentifiable(
            value, "It is not public: define one of your own with def at the top of a module."
        )
    return f"foresift.{name}"


def _offers(module: Any, value: Any) -> bool:
    """Whether a class or function is public in a module, under its own name."""
    return value.__qualname__.partition(".")[0] in getattr(module, "__all__", ()) and _has(module, value)


def _has(module: Any, value: Any) -> bool:
    for part in value.__qualname__.split("."):
        module = getattr(module, part, None)
    return module is value


def canonical(value: Any) -> str:
    """Return the canonical JSON text of a value; NaN is null.

    Examples
    --------
    >>> canonical({"b": 1, "a": [0.5, float("nan")]})
    '{"a":[0.5,null],"b":1}'
    """
    return json.dumps(_finite(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


def checksum(content: bytes) -> str:
    """Hash of some bytes: 32 hexadecimal digits.

    Examples
    --------
    >>> checksum(b"")
    'cae66941d9efbd404e4d88758ea67670'
    """
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _of_array(values: NDArray[Any]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    add_array(digest, values)
    return digest.hexdigest()


def add_array(digest: Any, values: NDArray[Any]) -> None:
    """Add type, shape and values to a hash; the width of text does not count (``<U1`` or ``<U10``).

    Examples
    --------
    >>> narrow, wide = hashlib.blake2b(), hashlib.blake2b()
    >>> add_array(narrow, np.array(["a", "b"]))
    >>> add_array(wide, np.array(["a", "b"], dtype="<U10"))
    >>> narrow.digest() == wide.digest()
    True
    """
    kind, width = values.dtype.kind, values.dtype.itemsize
    if kind in "biufc":
        digest.update(f"{kind}{width}{values.shape}".encode())
        digest.update(np.ascontiguousarray(values).tobytes() if values.ndim else values.tobytes())
        return
    cells = values.ravel().tolist()
    if kind in "US":
        width = max([1, *map(len, cells)]) * np.dtype(f"{kind}1").itemsize
    unit = values.dtype.str if kind in "mM" else ""  # seconds differ from days
    digest.update(f"{kind}{width}{values.shape}{unit}".encode())
    texts = ["" if is_missing(cell) else f"{type(cell).__name__}{cell}" for cell in cells]
    digest.update(canonical(texts).encode())


def storage(X: Any, *, named: bool) -> list[Any]:
    """Describe by JSON types how X is stored, as far as estimators may depend on it.

    The list is empty in the usual cases: an array of numbers without names, or a pandas frame of plain
    numbers and unordered categories, all of which occur, in alphabetical order.

    Examples
    --------
    >>> storage(np.eye(2), named=False), storage(sparse.csr_array(np.eye(2)), named=False)
    ([], ['csr_array'])
    """
    if sparse.issparse(X):
        return [type(X).__name__]
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return [] if X.dtype.kind in "biuf" and not named else ["array", X.dtype.kind]
    dtypes = [None if _is_plain(column) else _type_of(column) for column in frame.iter_columns()]
    labels = None if all(isinstance(name, str) for name in frame.columns) else "not text"
    usual = frame.implementation.is_pandas() and labels is None and not any(dtypes)
    return [] if usual else [str(frame.implementation), labels, dtypes]


def _type_of(column: Any) -> list[Any]:
    """Dtype, categories, and whether they have an order."""
    native = column.to_native()
    categories = getattr(native.dtype, "categories", None)
    if categories is None or (column.dtype == nw.Categorical and not column.implementation.is_pandas_like()):
        return [str(native.dtype)]  # polars numbers the levels of a Categorical per process
    levels = [f"{type(level).__name__}{level}" for level in categories]
    return [type(native.dtype).__name__, levels, bool(getattr(native.dtype, "ordered", False))]


def _is_plain(column: Any) -> bool:
    dtype = column.to_native().dtype
    if isinstance(dtype, np.dtype):
        return dtype.kind in "biuf"
    if not column.implementation.is_pandas() or column.dtype not in (nw.Categorical, nw.Enum):
        return False
    levels = list(dtype.categories)
    if dtype.ordered or not all(isinstance(level, str) for level in levels):
        return False
    return levels == sorted({cell for cell in values_of(column).tolist() if not is_missing(cell)})
