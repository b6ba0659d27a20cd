"""The parts of an experiment: data, tasks with everything that defines them, jobs and records."""

from __future__ import annotations

import hashlib
import os
import platform
import socket
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.containers import Block, read
from foresift.data.dependence import Dependence, read_dependence, unnamed
from foresift.data.slices import sliceable
from foresift.data.target import Classes, Quantity, table_task_of
from foresift.data.unread import refuse_unread
from foresift.data.values import is_missing, kind_of_target
from foresift.evaluation.harness.identity import add_array, canonical, checksum, describe, storage

__all__ = ["Data", "Job", "Record", "Unit", "canonical", "checksum", "describe", "host_facts", "software"]


@dataclass(frozen=True, eq=False)
class Data:
    """A named table; made by `Data.of`.

    Attributes
    ----------
    name : str
        Name of the data in the results.
    X : ndarray, data frame or sparse matrix
        The columns.
    y : ndarray of shape (n_rows,)
        The classes, or the quantity as float64.
    groups : ndarray of shape (n_rows,) or None
        Rows of one group are never on both sides of a split by groups.
    checksum : str
        Hash of names and values, and of their storage: sparse or dense, dtypes, categories and their order.
    features : tuple of str
        Names of the columns; "0", "1" ... if they have none.
    named : bool
        Whether the columns came with names.
    task : str
        "classification" or "regression".
    time : ndarray of int of shape (n_rows,) or None
        Place of every row in time.

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
    named: bool = False
    task: str = Classes.task
    time: NDArray[np.intp] | None = None

    @classmethod
    def of(
        cls, name: str, X: Any, y: Any, groups: Any = None, task: str = Classes.task, time: Any = None
    ) -> Data:
        """Check a table and compute its checksum; `task` "auto" is what `table_task_of` says."""
        source = read(X)
        labels = _column(y, source.n_rows)
        task = table_task_of(y) if task == "auto" else task
        if task == Quantity.task:
            labels = Quantity.read(y, source.n_rows).y
        elif labels.dtype.kind == "f" and (labels != np.trunc(labels)).any():
            labels = labels.astype(str)  # numbers with fractions are no classes for scikit-learn
        names = source.texts or tuple(map(str, range(source.n_columns)))
        groups = unnamed(groups)
        parts = None if groups is None else np.asarray(groups)
        if parts is not None and parts.shape != labels.shape:
            raise ValueError(
                f"groups has the shape {parts.shape}: give one group for each of {len(labels)} rows."
            )
        if parts is not None and _has_missing(groups, parts):
            raise ValueError("groups has missing values: give each such row a group of its own, or drop it.")
        digest = hashlib.blake2b(digest_size=16)
        kept = sliceable(X)
        named = source.labels is not None
        how = storage(kept, named=named)
        digest.update(canonical([source.n_rows, names, "named" if named else None, *how]).encode())
        blocks = source.blocks()
        if source.matrix is not None:  # storage in one array must not matter
            blocks = (Block(j, source.matrix[:, [j]], False) for j in range(source.n_columns))
        for block in blocks:
            digest.update(canonical([block.start, block.nominal]).encode())
            add_array(digest, block.values)
        add_array(digest, labels)
        if parts is not None:
            add_array(digest, parts)
        if task == Quantity.task:  # of classes there is no mark, so that old results are found
            digest.update(task.encode())
        if time is not None:
            in_time = read_dependence("auto", groups, time, source.n_rows)
            assert in_time is not None
            time = in_time.time
            digest.update(b"time")
            add_array(digest, time)
        return cls(name, kept, labels, parts, digest.hexdigest(), names, named, task, time)

    @cached_property
    def dependence(self) -> Dependence | None:
        """Which rows belong together."""
        if self.groups is None and self.time is None:
            return None
        groups = None if self.groups is None else np.unique(self.groups, return_inverse=True)[1]
        return Dependence(groups, self.time)

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
        """The classes, as text; none of a quantity."""
        if self.task == Quantity.task:
            return []
        return [str(label) for label in np.unique(self.y.astype(str) if self.y.dtype == object else self.y)]


def _column(y: Any, n_rows: int) -> NDArray[Any]:
    """The target as an array of one dimension, with two values at least."""
    refuse_unread(y, "y")
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (n_rows,):
        raise ValueError(f"X has {n_rows} rows, but y has the shape {labels.shape}: one value each.")
    if _has_missing(y, labels):
        raise ValueError("y has missing values: drop those rows first.")
    try:
        distinct = set(labels.tolist())
    except TypeError:  # lists, which have no hash
        raise TypeError("y holds lists or other collections: give one plain value for each row.") from None
    if len(distinct) < 2:
        raise ValueError("y has the same value in every row: there is nothing to predict.")
    kind_of_target(labels)
    return labels


def _has_missing(given: Any, values: NDArray[Any]) -> bool:
    if values.dtype.kind in "US" and not hasattr(given, "dtype"):
        values = np.asarray(given, dtype=object)  # a NaN in a list of text is now the text "nan"
    return values.dtype.kind in "fO" and any(map(is_missing, values.ravel().tolist()))


@dataclass(frozen=True)
class Unit:
    """A task, the smallest piece of an experiment: one method and estimator on one fold, with one seed.

    Its fields are everything that defines its result; `key` is a hash of them all. Two tasks with the same
    key are the same task.

    Attributes
    ----------
    kind : str
        Kind of task; "score" is a cross-validated score (`evaluate.score_units`).
    dataset, data : str
        Name and checksum of the data.
    method, method_parameters : str
        Name of the selector, and its class and parameters (`describe`); "none" and null: no selection.
    classifier, classifier_parameters : str
        The same for the classifier or regressor; empty if there is none.
    cv : str
        How rows are split.
    repeat, fold : int
        Which split, from 0.
    rows : str
        Checksum of the rows of the split.
    seed : int
        Seed of all random numbers.
    options : str
        JSON of further options: sizes, scorers, and the task where it is "regression".
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
    """Result of a task.

    Attributes
    ----------
    unit : Unit
        The task.
    scores : dict
        Scorer -> size -> score; sizes are text: "5", "own" (the method's own choice) or "all".
    features : dict
        Columns by number: "order" (best first), "own" (the method's own choice), and the sets of sizes that
        are not the beginning of that order, if there are any. `evaluate.selected` reads it.
    extra : dict
        Further results of a kind of task; for "score" the numbers of rows, and unknown sizes.
    error : str
        Why it failed; empty if it did not.
    seconds : dict
        Durations of its parts: "select", "fit", "score".
    notes : tuple of str
        Warnings.
    traceback : str
        Traceback of the error.
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
    """Tasks that share work, for example one fit of a selector; sent to a worker, without the data.

    Attributes
    ----------
    function : callable
        ``function(data, arguments, units)`` returns one `Record` per task. It must be pure, importable by
        name, and the result of a task must not depend on the other tasks.
    data : str
        Checksum of the data it is called with.
    arguments : object
        Arguments of the function; picklable.
    units : tuple of Unit
        The tasks.
    """

    function: Callable[[Data, Any, Sequence[Unit]], list[Record]]
    data: str
    arguments: Any
    units: tuple[Unit, ...]


@lru_cache
def software() -> str:
    """Versions that results depend on; of scikit-learn to the minor release.

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
    """Facts about the machine and the software of this process.

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
