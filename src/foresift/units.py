"""The words of an experiment: data, units of work, what defines them, and what comes out."""

from __future__ import annotations

import hashlib
import json
import numbers
import os
import pickle
import platform
import re
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from foresift._inputs import is_missing, read
from foresift.subset_models import sliceable

__all__ = ["Data", "Job", "Record", "Unit", "canonical", "checksum", "describe", "host_facts", "software"]

_NO_MATTER = ("n_jobs", "verbose")  # parameters that do not change what is learned


@dataclass(frozen=True, eq=False)
class Data:
    """A named table; made by `Data.of`.

    Attributes
    ----------
    name : str
        What it is called in the results.
    X : ndarray, data frame or sparse matrix
        The columns.
    y : ndarray of shape (n_rows,)
        The classes.
    groups : ndarray of shape (n_rows,) or None
        Rows of one group never lie on both sides of a split by groups.
    checksum : str
        Of names and values.
    features : tuple of str
        Names of the columns; "0", "1" ... if they have none.

    Examples
    --------
    >>> data = Data.of("fruit", {"weight": [150.0, 30.0], "colour": ["red", "blue"]}, ["apple", "plum"])
    >>> data.n_rows, data.features, data.classes
    (2, ('weight', 'colour'), ['apple', 'plum'])
    """

    name: str
    X: Any
    y: NDArray[Any]
    groups: NDArray[Any] | None
    checksum: str
    features: tuple[str, ...]

    @classmethod
    def of(cls, name: str, X: Any, y: Any, groups: Any = None) -> Data:
        """Check a table and reckon its checksum."""
        source = read(X)
        labels = np.asarray(y)
        if labels.ndim == 2 and labels.shape[1] == 1:
            labels = labels[:, 0]
        if labels.shape != (source.n_rows,):
            raise ValueError(
                f"X has {source.n_rows} rows, but y has the shape {labels.shape}: one class each."
            )
        if labels.dtype.kind in "fO" and any(map(is_missing, labels.tolist())):
            raise ValueError("y has missing values: drop those rows first.")
        if len(set(labels.tolist())) < 2:
            raise ValueError("y has one class only: there is nothing to tell apart.")
        names = tuple(str(label) for label in source.labels or range(source.n_columns))
        parts = None if groups is None else np.asarray(groups)
        if parts is not None and parts.shape != labels.shape:
            raise ValueError(
                f"groups has the shape {parts.shape}: give one group for each of {len(labels)} rows."
            )
        digest = hashlib.blake2b(digest_size=16)
        digest.update(canonical([source.n_rows, names, None if source.labels is None else "named"]).encode())
        for block in source.blocks():
            digest.update(canonical([block.start, block.nominal]).encode())
            _add_array(digest, block.values)
        _add_array(digest, labels)
        if parts is not None:
            _add_array(digest, parts)
        return cls(name, sliceable(X), labels, parts, digest.hexdigest(), names)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.features)

    @property
    def classes(self) -> list[str]:
        """The classes, as text."""
        return [str(label) for label in np.unique(self.y.astype(str) if self.y.dtype == object else self.y)]


@dataclass(frozen=True)
class Unit:
    """The smallest thing that is done or not: one method and classifier on one fold, with one seed.

    Its fields are everything that defines its result, in words, numbers and JSON text; `key` is a hash of
    them all. Two units with the same key are the same unit.

    Attributes
    ----------
    kind : str
        What is done; "score" is a cross-validated score (`evaluate.score_units`).
    dataset, data : str
        Name and checksum of the data.
    method, method_parameters : str
        Name of the selector, and its class and parameters (`describe`); "none" and null: no selection.
    classifier, classifier_parameters : str
        The same for the classifier; empty if there is none.
    cv : str
        How rows were split.
    repeat, fold : int
        Which split, from 0.
    rows : str
        Checksum of the rows of the split.
    seed : int
        What randomness comes from.
    options : str
        JSON of what else there is: sizes, scorers.
    software : str
        Versions of the software.
    """

    kind: str
    dataset: str
    data: str
    method: str
    method_parameters: str
    classifier: str
    classifier_parameters: str
    cv: str
    repeat: int
    fold: int
    rows: str
    seed: int
    options: str
    software: str

    @cached_property
    def key(self) -> str:
        """Hash of all fields."""
        return checksum(canonical(asdict(self)).encode())


@dataclass(frozen=True)
class Record:
    """What came of a unit.

    Attributes
    ----------
    unit : Unit
        The unit.
    scores : dict
        Scorer -> size -> score; sizes are text: "5", "own" (what the method chose) or "all".
    features : dict
        Columns by number: "order" (best first), "own" (what the method chose), and the sets of sizes that are
        not the beginning of that order, if there are any. `evaluate.selected` reads it.
    extra : dict
        Whatever else a kind of unit has to tell.
    error : str
        Why it failed; empty if it did not.
    seconds : dict
        How long its parts took: "select", "fit", "score".
    notes : tuple of str
        Warnings.
    traceback : str
        Of the error.
    host : dict
        Where it ran.
    """

    unit: Unit
    scores: dict[str, dict[str, float | None]] = field(default_factory=dict)
    features: dict[str, list[int]] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    traceback: str = ""
    host: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """Units that share work, for instance one fit of a selector; what travels to a worker, but for the data.

    Attributes
    ----------
    function : callable
        ``function(data, arguments, units)`` returns one `Record` per unit. It must be pure, found by its name
        in a module, and give a unit the same result whatever other units it is called with.
    data : str
        Checksum of the data it is called with.
    arguments : object
        Whatever the function needs; picklable.
    units : tuple of Unit
        What to do.
    """

    function: Callable[[Data, Any, Sequence[Unit]], list[Record]]
    data: str
    arguments: Any
    units: tuple[Unit, ...]


def describe(value: Any) -> Any:
    """Turn parameters into JSON types that say all that matters: an estimator is its class and parameters.

    `n_jobs` and `verbose` are left out, arrays become checksums, functions their names.

    Examples
    --------
    >>> from foresift.filters import InfoGainSelector
    >>> describe({"size": np.int64(3), "selector": InfoGainSelector})["size"]
    3
    >>> describe(InfoGainSelector(2))
    {'class': 'foresift.filters.InfoGainSelector', ..., 'n_features_to_select': 2, 'ratio': False}
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic | np.ndarray) and value.ndim == 0:
        return describe(value.item())
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, float):
        return value if np.isfinite(value) else repr(value)
    if hasattr(value, "get_params") and not isinstance(value, type):
        return {"class": _qualified(type(value)), **_parameters(value)}
    if isinstance(value, Mapping):
        return {str(key): describe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [describe(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((describe(item) for item in value), key=str)
    if isinstance(value, np.ndarray) or sparse.issparse(value):
        array = value if isinstance(value, np.ndarray) else value.toarray()
        digest = hashlib.blake2b(digest_size=16)
        _add_array(digest, array)
        return f"array {digest.hexdigest()}"
    if isinstance(value, type) or hasattr(value, "__qualname__"):
        return _qualified(value)
    text = repr(value)
    # An address differs from run to run, and nothing would ever be found again.
    return text if not re.search(r" at 0x[0-9a-f]+", text) else _pickled(value)


def _parameters(estimator: Any) -> dict[str, Any]:
    return {
        name: describe(item)
        for name, item in sorted(estimator.get_params(deep=False).items())
        if name not in _NO_MATTER
    }


def _qualified(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def _pickled(value: Any) -> str:
    try:
        return f"{_qualified(type(value))} {checksum(pickle.dumps(value, protocol=4))}"
    except Exception as error:
        raise ValueError(
            f"{value!r} cannot be told from another one of its class, so no result could be found again:"
            " give it a __repr__ that says what it is."
        ) from error


def canonical(value: Any) -> str:
    """Return the JSON text of a value: the same text for the same value; NaN is null.

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


def _add_array(digest: Any, values: NDArray[Any]) -> None:
    digest.update(f"{values.dtype.kind}{values.dtype.itemsize}{values.shape}".encode())
    if values.dtype.kind in "biufc":
        digest.update(np.ascontiguousarray(values).tobytes() if values.ndim else values.tobytes())
        return
    cells = ["" if is_missing(cell) else f"{type(cell).__name__}{cell}" for cell in values.ravel().tolist()]
    digest.update(canonical(cells).encode())


@lru_cache
def software() -> str:
    """Versions of what results come from; scikit-learn's to the minor release.

    Examples
    --------
    >>> software()
    'foresift ..., scikit-learn ...'
    """
    return (
        f"foresift {_version('foresift')}, scikit-learn {'.'.join(_version('scikit-learn').split('.')[:2])}"
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "?"


@lru_cache
def host_facts() -> dict[str, Any]:
    """Where this process runs.

    Examples
    --------
    >>> sorted(host_facts())
    ['cores', 'host', 'libraries', 'machine', 'pid', 'python', 'system']
    """
    packages = ("foresift", "numpy", "scipy", "scikit-learn", "joblib")
    return {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "system": platform.platform(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "libraries": {package: _version(package) for package in packages},
    }
