"""The target: the class, or the quantity, of every row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.utils import assert_all_finite, check_consistent_length

from foresift import _core
from foresift.data.complexity import complexity_of
from foresift.data.encoding import factorize
from foresift.data.target_column import has_task, not_classes, require_discrete, target_column
from foresift.data.target_notes import is_category
from foresift.data.values import is_missing, kind_of_target
from foresift.errors import floats_of

__all__ = ["Classes", "Quantity", "Target", "table_task_of", "task_of"]

_MAX_RANGE, _MIN_RANGE = 1e140, 1e-140  # of a quantity, so that sums of squares are normal numbers
_MAX_WHOLE = 2.0**63  # beyond, whole numbers are not told apart: nobody counts or numbers classes so far
LOPSIDED = 0.8  # share of the rows in one class above which accuracy says little
MAX_NUMBERED_CLASSES = 20  # more whole numbers than these are a quantity, where a table is read


class Target(ABC):
    """What a model predicts: `Classes` or a `Quantity`; both answer the same questions.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    n_outputs : int
        Numbers that a model predicts per row: a probability per class, or the one quantity.
    task : str
        "classification" or "regression".
    criterion : str
        What a split decreases, as the engine calls it: `impurity`.
    metric : str
        The score of predictions, as scikit-learn calls it; 1 is perfect.
    """

    n_outputs: int
    task: ClassVar[str]
    criterion: ClassVar[str]
    metric: ClassVar[str]

    @staticmethod
    def of(y: Any, n_rows: int, task: str = "classification", estimator: Any = None) -> Target:
        """Check y and code it; `task` is "classification", "regression" or "auto" (see `task_of`).

        `estimator` is named in messages.

        Examples
        --------
        >>> Target.of(["no", "yes", "no"], 3).values().tolist()
        ['no', 'yes', 'no']
        >>> Target.of([1, 2, 4], 3, "regression").values()
        array([1., 2., 4.])
        """
        task = task_of(y) if task == "auto" else task
        return (Quantity if task == "regression" else Classes).read(y, n_rows, estimator)

    @classmethod
    @abstractmethod
    def read(cls, y: Any, n_rows: int, estimator: Any = None) -> Self:
        """Check y and code it."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows."""

    @abstractmethod
    def take(self, rows: NDArray[Any]) -> Self:
        """The target of some rows; absent classes stay."""

    @abstractmethod
    def take_present(self, rows: NDArray[Any]) -> Self:
        """The target of some rows, without absent classes."""

    @abstractmethod
    def without_unused(self, weights: NDArray[np.float64] | None) -> Self:
        """The target without classes whose rows all have weight 0; those rows stay, in any class."""

    @abstractmethod
    def values(self, rows: Any = slice(None)) -> NDArray[Any]:
        """The labels or numbers of the rows, for models of other libraries."""

    @abstractmethod
    def require_variety(self, estimator: Any = None, weights: NDArray[Any] | None = None) -> None:
        """Raise unless rows of positive weight have at least two classes or distinct numbers."""

    @abstractmethod
    def require_classes(self, estimator: Any, instead: str) -> None:
        """Raise if y is a quantity; `instead` says what to do then."""

    @abstractmethod
    def strata(self, n_strata: int) -> NDArray[np.intp]:
        """Strata for folds and halves: the classes, or at most `n_strata` bins of a quantity."""

    @abstractmethod
    def contrasts(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """What columns are correlated with: whole numbers, a column for each class or one of ranks."""

    @abstractmethod
    def equal_weights(self, weights: NDArray[np.float64]) -> bool:
        """Whether weights say no more than the target does: all of a class are equal, or 0."""

    def ranked(self, weights: NDArray[np.float64] | None) -> Self:
        """The target by ranks: classes as they are, the ranks of a quantity among rows of positive weight."""
        return self

    @abstractmethod
    def impurity(self, weights: NDArray[np.float64] | None = None) -> float:
        """Impurity of all rows: the entropy in bits, or the variance."""

    def gain_unit(self, weights: NDArray[np.float64] | None = None) -> float:
        """Unit of reported gains: one bit, or the variance, so that the unit of y has no effect."""
        return 1.0

    @abstractmethod
    def complexity(self, weights: NDArray[np.float64] | None = None) -> float:
        """Node complexity of all rows."""

    @abstractmethod
    def grower(
        self, store: _core.ColumnStore, weights: NDArray[np.float64] | None, options: _core.GrowOptions
    ) -> _core.Grower:
        """The engine that grows trees for this target."""


@dataclass(frozen=True, eq=False)
class Classes(Target):
    """The class of every row.

    Attributes
    ----------
    codes : ndarray of int32 of shape (n_rows,)
        A position in `labels`.
    labels : ndarray of shape (n_classes,)
        The sorted class labels.
    """

    codes: NDArray[np.int32]
    labels: NDArray[Any]

    task = "classification"
    criterion = "entropy"
    metric = "accuracy"

    @classmethod
    def read(cls, y: Any, n_rows: int, estimator: Any = None) -> Classes:
        """Check y and code it.

        Examples
        --------
        >>> target = Classes.read(["no", "yes", "no"], 3)
        >>> target.codes.tolist(), target.labels.tolist(), target.n_classes
        ([0, 1, 0], ['no', 'yes'], 2)
        """
        y, checked = target_column(y)
        kind = kind_of_target(checked)
        if checked.dtype == object and any(map(is_missing, set(checked.tolist()))):
            raise ValueError(
                "Input y contains NaN: drop the rows whose target is missing, or give it a label."
            )
        assert_all_finite(y, input_name="y")
        check_consistent_length(np.broadcast_to(0.0, n_rows), y)
        if kind != "text":  # text always names classes, and checking a million strings again takes a second
            require_discrete(y, estimator)
        text = y.dtype.kind in "OU"
        labels, codes = factorize(y.astype(object) if text else y, "y")
        return cls(codes, labels.astype(y.dtype))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.labels)

    @property
    def n_outputs(self) -> int:  # type: ignore[override]
        """Number of classes."""
        return self.n_classes

    def take(self, rows: NDArray[Any]) -> Classes:
        """The target of some rows; absent classes stay."""
        return Classes(self.codes[rows], self.labels)

    def take_present(self, rows: NDArray[Any]) -> Classes:
        """The target of some rows, without absent classes.

        Examples
        --------
        >>> Classes.read(["a", "b", "c"], 3).take_present(np.array([2, 0])).codes
        array([1, 0], dtype=int32)
        """
        present, codes = np.unique(self.codes[rows], return_inverse=True)
        return Classes(codes.astype(np.int32), self.labels[present])

    def without_unused(self, weights: NDArray[np.float64] | None) -> Classes:
        """The classes without those whose rows all have weight 0; those rows stay, in any class.

        Examples
        --------
        >>> Classes.read(["a", "b", "c"], 3).without_unused(np.array([0.0, 1.0, 1.0])).codes
        array([0, 0, 1], dtype=int32)
        """
        if weights is None:
            return self
        present, used = np.zeros(self.n_classes, dtype=bool), weights > 0
        present[self.codes[used]] = True
        if present.all():
            return self
        codes = np.where(used, (np.cumsum(present) - 1)[self.codes], 0).astype(np.int32)
        return Classes(codes, self.labels[present])

    def counts(self, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Weight of every class.

        Examples
        --------
        >>> Classes.read(["no", "yes", "no"], 3).counts()
        array([2., 1.])
        """
        return np.bincount(self.codes, weights, minlength=self.n_classes).astype(np.float64)

    @property
    def largest_share(self) -> float:
        """Share of the rows in the most frequent class.

        Examples
        --------
        >>> Classes.read(["no", "yes", "no", "no"], 4).largest_share
        0.75
        """
        return float(self.counts().max()) / self.n_rows

    @property
    def lopsided(self) -> bool:
        """Whether one class has so many of the rows that accuracy says little."""
        return self.largest_share > LOPSIDED

    def values(self, rows: Any = slice(None)) -> NDArray[Any]:
        """The labels of the rows, for models of other libraries."""
        return np.asarray(self.labels.take(self.codes[rows]))

    def require_variety(self, estimator: Any = None, weights: NDArray[Any] | None = None) -> None:
        """Raise unless rows of positive weight have at least two classes.

        Examples
        --------
        >>> Classes.read(["yes", "yes"], 2).require_variety()
        Traceback (most recent call last):
            ...
        ValueError: y has one class, 'yes': a classifier needs at least two classes...
        """
        who = "a classifier" if estimator is None else type(estimator).__name__
        if weights is not None and len(np.unique(self.codes[weights > 0])) == 1 < self.n_classes:
            raise ValueError(
                f"Only one class has rows with a positive sample_weight: {who} needs at least two classes."
            )
        if self.n_classes == 1:
            raise ValueError(
                f"y has one class, {self.labels.tolist()[0]!r}: {who} needs at least two classes."
                " Check the target column, or the rows that were kept."
            )

    def require_classes(self, estimator: Any, instead: str) -> None:
        """Do nothing."""

    def strata(self, n_strata: int) -> NDArray[np.intp]:
        """The classes, whatever `n_strata` is."""
        return self.codes.astype(np.intp)

    def contrasts(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Indicators of the classes among these rows, each against the others; of two classes one is enough.

        Examples
        --------
        >>> Classes.read(["a", "b", "a"], 3).contrasts(np.array([0, 1])).ravel()
        array([1., 0.])
        """
        codes = self.codes[rows]
        present = np.flatnonzero(np.bincount(codes, minlength=self.n_classes))
        if len(present) < 2:
            return np.empty((len(codes), 0))
        return np.equal.outer(codes, present[: 1 if len(present) == 2 else None]).astype(np.float64)

    def equal_weights(self, weights: NDArray[np.float64]) -> bool:
        """Whether all weights of a class are equal, or 0."""
        of_class = [weights[(self.codes == c) & (weights > 0)] for c in range(self.n_classes)]
        return all(not len(some) or some.min() == some.max() for some in of_class)

    def impurity(self, weights: NDArray[np.float64] | None = None) -> float:
        """Entropy of the classes in bits.

        Examples
        --------
        >>> Classes.read(["no", "yes", "no", "yes"], 4).impurity()
        1.0
        """
        counts = self.counts(weights)
        shares = counts[counts > 0] / counts.sum()
        return float(-(shares @ np.log2(shares)))

    def complexity(self, weights: NDArray[np.float64] | None = None) -> float:
        """Node complexity of all rows."""
        return float(complexity_of(self.counts(weights)))

    def grower(
        self, store: _core.ColumnStore, weights: NDArray[np.float64] | None, options: _core.GrowOptions
    ) -> _core.Grower:
        """The engine that grows classification trees."""
        return _core.Grower(store, self.codes, self.n_classes, weights, options)


@dataclass(frozen=True, eq=False)
class Quantity(Target):
    """A finite number for every row.

    Attributes
    ----------
    y : ndarray of float64 of shape (n_rows,)
        The numbers.
    """

    y: NDArray[np.float64]

    n_outputs = 1
    task = "regression"
    criterion = "variance"
    metric = "r2"

    @classmethod
    def read(cls, y: Any, n_rows: int, estimator: Any = None) -> Quantity:
        """Check y: numbers of any type, booleans as 0 and 1.

        Examples
        --------
        >>> Quantity.read([1, 2.5, True], 3).y
        array([1. , 2.5, 1. ])
        >>> Quantity.read(["low", "high"], 2)
        Traceback (most recent call last):
            ...
        ValueError: y holds text, but numbers are needed: convert y to numbers, or use a method for classes.
        """
        given, checked = target_column(y)
        kind = kind_of_target(checked)
        if kind in ("text", "bytes", "U", "S"):
            use = (
                "numbers are needed" if estimator is None else f"{type(estimator).__name__} predicts numbers"
            )
            instead = 'set task="classification"' if has_task(estimator) else "use a method for classes"
            raise ValueError(f"y holds text, but {use}: convert y to numbers, or {instead}.")
        if given.dtype.kind == "O":
            given = np.array([np.nan if is_missing(value) else value for value in given], dtype=object)
        numbers = np.ascontiguousarray(floats_of(given, "y"))
        if np.isnan(numbers).any():
            raise ValueError("Input y contains NaN: drop the rows whose target is missing.")
        if np.isinf(numbers).any():
            raise ValueError(
                "Input y contains infinity or a value too large for dtype('float64'): drop or correct these"
                " rows."
            )
        check_consistent_length(np.broadcast_to(0.0, n_rows), numbers)
        _require_range(numbers, given)
        return cls(numbers)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    def take(self, rows: NDArray[Any]) -> Quantity:
        """The target of some rows."""
        return Quantity(self.y[rows])

    take_present = take

    def without_unused(self, weights: NDArray[np.float64] | None) -> Quantity:
        """The same numbers."""
        return self

    def values(self, rows: Any = slice(None)) -> NDArray[Any]:
        """The numbers of the rows, for models of other libraries."""
        return self.y[rows]

    def require_variety(self, estimator: Any = None, weights: NDArray[Any] | None = None) -> None:
        """Raise unless rows of positive weight have at least two distinct numbers.

        Examples
        --------
        >>> Quantity.read([3, 3], 2).require_variety()
        Traceback (most recent call last):
            ...
        ValueError: y has one value, 3.0: a regressor needs at least two distinct values...
        """
        who = "a regressor" if estimator is None else type(estimator).__name__
        if self.n_rows == 1:
            raise ValueError(f"X and y have one row (n_samples=1): {who} needs at least two.")
        if np.ptp(self.y) == 0:
            raise ValueError(
                f"y has one value, {self.y[0]}: {who} needs at least two distinct values."
                " Check the target column, or the rows that were kept."
            )
        if weights is not None and np.ptp(self.y[weights > 0]) == 0:
            raise ValueError(
                f"All rows with a positive sample_weight have the same y: {who} needs at least two distinct"
                " values."
            )

    def require_classes(self, estimator: Any, instead: str) -> None:
        """Raise an error that says what to use instead.

        Examples
        --------
        >>> Quantity.read([1.5, 2], 2).require_classes(None, "use a regressor")
        Traceback (most recent call last):
            ...
        ValueError: Unknown label type: continuous. This method needs classes, but y is a quantity: use a ...
        """
        raise not_classes(estimator, instead)

    def strata(self, n_strata: int) -> NDArray[np.intp]:
        """At most `n_strata` bins of about equal frequency, numbered from 0; equal numbers share a bin.

        Examples
        --------
        >>> Quantity.read([5, 1, 9, 7], 4).strata(2)
        array([0, 0, 1, 1])
        """
        ranks = stats.rankdata(self.y) - 0.5
        return np.unique((ranks * n_strata / self.n_rows).astype(np.intp), return_inverse=True)[1]

    def contrasts(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Twice the ranks among these rows, ties in the middle, less their mean.

        Examples
        --------
        >>> Quantity.read([3, 1, 9, 9], 4).contrasts(np.arange(4)).ravel()
        array([-1., -3.,  2.,  2.])
        """
        return (2 * stats.rankdata(self.y[rows]) - (len(rows) + 1))[:, np.newaxis]

    def equal_weights(self, weights: NDArray[np.float64]) -> bool:
        """Whether all weights are equal, or 0."""
        some = weights[weights > 0]
        return bool(some.min() == some.max())

    def ranked(self, weights: NDArray[np.float64] | None) -> Quantity:
        """The ranks among rows of positive weight, ties in the middle: heavy tails become as short as any.

        Examples
        --------
        >>> Quantity.read([3, 1, 9, 9], 4).ranked(np.array([1, 0, 1, 1])).y
        array([1. , 0. , 2.5, 2.5])
        """
        used = slice(None) if weights is None else weights > 0
        ranks = np.zeros(self.n_rows)
        ranks[used] = stats.rankdata(self.y[used])
        return Quantity(ranks)

    def impurity(self, weights: NDArray[np.float64] | None = None) -> float:
        """Variance of the numbers.

        Examples
        --------
        >>> Quantity.read([1, 3], 2).impurity()
        1.0
        """
        centred = self.y - np.average(self.y, weights=weights)
        return float(np.average(centred**2, weights=weights))

    gain_unit = impurity

    def complexity(self, weights: NDArray[np.float64] | None = None) -> float:
        """Node complexity of all rows: every distinct number counts as a class.

        Examples
        --------
        >>> round(Quantity.read([1, 2, 3, 4], 4).complexity(), 3)  # 12 arrangements
        3.585
        """
        used = slice(None) if weights is None else weights > 0
        ties = np.unique(self.y[used], return_inverse=True)[1]
        counts = np.bincount(ties, None if weights is None else weights[used])
        return float(complexity_of(counts.astype(np.float64)))

    def grower(
        self, store: _core.ColumnStore, weights: NDArray[np.float64] | None, options: _core.GrowOptions
    ) -> _core.Grower:
        """The engine that grows regression trees."""
        return _core.Grower(store, self.y, weights, options)


def _require_range(numbers: NDArray[np.float64], given: NDArray[Any]) -> None:
    """Raise if float64 does not hold the differences of the numbers, or their squares."""
    with np.errstate(over="ignore"):
        spread = min(float(np.ptp(numbers)), np.finfo(float).max)
    if spread > _MAX_RANGE or 0 < spread < _MIN_RANGE:
        size = "large" if spread > 1 else "small"
        raise ValueError(
            f"The values of y differ by up to {spread:.3g}, and the square of that is too {size} for float64:"
            f" divide y by {spread:.3g}."
        )
    if spread == 0 and (given != given[0]).any():
        raise ValueError(
            f"The values of y, near {numbers[0]:.3g}, differ by less than float64 can represent: subtract a"
            " constant from y, for example its smallest value."
        )


def task_of(y: Any) -> str:
    """Tell whether y holds classes or a quantity: numbers with fractions, as scikit-learn's `type_of_target`.

    Examples
    --------
    >>> task_of([1, 2, 3]), task_of([1.0, 2.5]), task_of(["a", "b"])
    ('classification', 'regression', 'classification')
    """
    numbers = _numbers_of(y)
    if numbers.dtype.kind != "f":
        return Classes.task
    numbers = numbers[np.isfinite(numbers)]  # type_of_target raises on the others
    fractions = (numbers != np.trunc(numbers)) | (np.abs(numbers) > _MAX_WHOLE)
    return Quantity.task if fractions.any() else Classes.task


def _numbers_of(y: Any) -> NDArray[Any]:
    """Return y as an array; numbers among objects, such as decimals, as floats."""
    column = target_column(y, warn=False)[0]
    if kind_of_target(column) == "number":
        return floats_of([np.nan if is_missing(value) else value for value in column], "y")
    return column


def table_task_of(y: Any) -> str:
    """Tell whether a target holds classes or a quantity, as `select`, `compare` and the command line see it.

    Numbers with fractions are a quantity, and so are more than 20 different whole numbers. Text, booleans,
    categories and any two values are classes. Estimators cannot go by the number of different values, which
    depends on the rows: they use `task_of`.

    Examples
    --------
    >>> table_task_of([1, 2, 3]), table_task_of([1.0, 2.5, 4.0]), table_task_of([1.5, 2.5])
    ('classification', 'regression', 'classification')
    >>> table_task_of(range(18, 90))
    'regression'
    """
    column = _numbers_of(y)
    if column.dtype.kind not in "fiu" or is_category(y):
        return Classes.task
    numbers = np.unique(column[np.isfinite(column)])
    most = MAX_NUMBERED_CLASSES if (numbers == np.trunc(numbers)).all() else 2
    return Quantity.task if len(numbers) > most else Classes.task
