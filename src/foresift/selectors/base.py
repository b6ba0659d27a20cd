"""The base of every feature selector: from the scores of the columns to a ranking, a mask and `transform`."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import InvalidOperation
from typing import Any, ClassVar, Self

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from foresift.data.containers import label_of, read
from foresift.data.dependence import Dependence, read_dependence
from foresift.data.sklearn_compat import (
    CallbackSupportMixin,
    Interval,
    RealNotInt,
    StrOptions,
    check_features,
    fit_context,
    output_container,
    table_tags,
)
from foresift.data.slices import TableOfX, columns_of, matrix_of, take_columns
from foresift.data.table import MAX_CATEGORIES, Schema, Table, make_table
from foresift.data.values import is_missing
from foresift.data.weights import check_sample_weight
from foresift.errors import warn_caller
from foresift.models.subset_models import count_columns, reading_options
from foresift.selectors.size_cv import SizeCurve, SubsetSizeCV

__all__ = ["RankingSelector", "Scores", "ranks_by_score", "with_task"]

_ROUNDING = 1e-12  # scores that differ by less, relative to their size, are equal


@dataclass(frozen=True, eq=False)
class Scores:
    """What a selector learns from a table.

    Attributes
    ----------
    values : array-like of shape (n_features,)
        The score of every column, higher is better; NaN for none.
    learned : mapping of str to object
        Further attributes of the fitted selector, by name.
    ranking : ndarray of int of shape (n_features,), default=None
        The rank of every column, 1 is the best; None ranks by the scores.
    support : ndarray of bool of shape (n_features,), default=None
        What a search found and keeps; None keeps by the number of features or by the method's own rule.
    interrupt : KeyboardInterrupt, default=None
        Raised as soon as the result is stored: Ctrl-C ended a search that has something to show.
    """

    values: ArrayLike
    learned: Mapping[str, Any] = field(default_factory=dict)
    ranking: NDArray[np.intp] | None = None
    support: NDArray[np.bool_] | None = None
    interrupt: KeyboardInterrupt | None = None


class RankingSelector(CallbackSupportMixin, SelectorMixin, BaseEstimator):
    """What all selectors share: reading the data, ranking the columns by score, keeping the best.

    A subclass has a parameter `n_features_to_select` (an int, a share, "cv" or a `SubsetSizeCV` to choose
    it by cross-validation, or None for the method's own rule) and scores the columns in `_score`. A parameter
    `task` says that it takes quantities too, unless `_for_quantities` says what to use instead. It may
    replace the rule, `_own_support`. A method that needs more than codes replaces `_open`, which reads X,
    and `_open_table`, which takes the same from a coded table; it sets `_needs_values`, or `takes` says
    whether a table will do.

    Attributes
    ----------
    scores_ : ndarray of float64 of shape (n_features,)
        The score of every column, higher is better; NaN where there is no estimate.
    ranking_ : ndarray of int of shape (n_features,)
        The rank of every column: 1 is the best, scores that are equal but for rounding (1e-12 of their size)
        rank in column order, NaN last.
    support_ : ndarray of bool of shape (n_features,)
        Which columns are kept, at least one.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Their names, if X had any.
    schema_ : Schema
        What the columns were: nominal ones with their categories.
    task_ : str
        "classification" or "regression".
    size_curve_ : SizeCurve
        The scores of the sizes, if cross-validation chose the number of features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foresift.criteria import information_gain
    >>> from foresift.selectors.base import RankingSelector, Scores
    >>> class GainSelector(RankingSelector):
    ...     def __init__(self, n_features_to_select=None):
    ...         self.n_features_to_select = n_features_to_select
    ...
    ...     def _score(self, table, weights):
    ...         columns = map(table.store.codes, range(table.n_columns))
    ...         y = table.target.codes
    ...         return Scores([information_gain(x, y, sample_weight=weights) for x in columns])
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = GainSelector(n_features_to_select=0.5).fit(X, y)
    >>> selector.ranking_, selector.transform(X).shape
    (array([3, 4, 1, 2]), (150, 2))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_features_to_select": [
            Interval(numbers.Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            StrOptions({"cv"}),
            SubsetSizeCV,
            None,
        ],
        "task": [StrOptions({"auto", "classification", "regression"})],
    }

    _needs_values: ClassVar[bool] = False  # rather than their order
    _for_quantities: ClassVar[str | None] = None  # what to use instead, if the method has no meaning there
    task: str = "classification"  # of a subclass without this parameter
    dependence: str = "auto"  # of a subclass without this parameter
    n_features_to_select: int | float | str | SubsetSizeCV | None
    n_features_in_: int
    scores_: NDArray[np.float64]
    ranking_: NDArray[np.intp]
    support_: NDArray[np.bool_]
    schema_: Schema
    size_curve_: SizeCurve
    task_: str

    @abstractmethod
    def _score(self, table: Any, weights: NDArray[np.float64] | None) -> Scores:
        """Score the columns of what `_open` returned; sets no attributes."""

    def _own_support(self) -> NDArray[np.bool_]:
        """Mask of the features that the method itself would keep; reads the learned attributes."""
        return self.scores_ > 0

    def subset_of_size(self, size: int) -> NDArray[np.bool_]:
        """Return the best columns, as many as are asked for.

        Parameters
        ----------
        size : int
            How many columns.

        Returns
        -------
        ndarray of bool of shape (n_features,)
            Which columns they are.
        """
        check_is_fitted(self, "ranking_")
        return self._best(size)

    def _best(self, size: int) -> NDArray[np.bool_]:
        return self.ranking_ <= size

    @fit_context(prefer_skip_nested_validation=False)  # a classifier may be among the parameters
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
    ) -> Self:
        """Score and rank the columns, and choose which to keep.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The columns; missing values are allowed.
        y : array-like of shape (n,)
            The class, or the quantity, of every row.
        sample_weight : array-like of shape (n,), default=None
            How much each row counts.
        groups : array-like of shape (n,), default=None
            Group of every row, such as a patient: rows of a group stay together in every fold, and in the
            permutations of a test.
        time : array-like of shape (n,), default=None
            When every row was observed, within its group if there are groups: folds are blocks of time, and
            tests respect that neighbours in time are alike.

        Returns
        -------
        RankingSelector
            Itself.
        """
        data = self._open(X, y)
        weights = check_sample_weight(sample_weight, data.n_rows)
        dependence = read_dependence(self.dependence, groups, time, data.n_rows)
        return self._fit_opened(data, weights, X, dependence)

    @fit_context(prefer_skip_nested_validation=False)
    def fit_table(self, table: Table, weights: NDArray[np.float64] | None = None) -> Self:
        """Fit to coded rows that it `takes`; the result is that of `fit` to the same rows."""
        self.n_features_in_ = table.n_columns
        if table.schema.names is not None:
            self.feature_names_in_ = np.array(table.schema.names, dtype=object)
        return self._fit_opened(self._open_table(table), weights, None, table.dependence, table)

    def takes(self, table: Table) -> bool:
        """Whether `fit_table` can fit it to a table: not if it needs more of X than the table has."""
        values = (table.store.n_values(j) for j in range(table.n_columns))
        return not self._needs_values or max(values) < MAX_CATEGORIES  # with more there are bins

    @property
    def reading_options(self) -> dict[str, Any]:
        """How it reads X: parameters of `make_table`."""
        return reading_options(self)

    def read_table(self, X: Any, y: Any) -> Table:
        """Check X and y, and code them."""
        return make_table(X, y, **self.reading_options, estimator=self, task=self.task)

    def _open(self, X: Any, y: Any) -> Any:
        """Read what `_score` takes: it has `n_rows`, `n_columns`, `schema` and `target`."""
        return TableOfX.of(self.read_table(X, y), X)

    def _open_table(self, table: Table) -> Any:
        """Take from a coded table what `_score` takes."""
        return TableOfX.of(table, None)

    def _fit_opened(
        self,
        data: Any,
        weights: NDArray[np.float64] | None,
        X: Any,
        dependence: Dependence | None,
        table: Table | None = None,
    ) -> Self:
        if dependence is not None and isinstance(data, Table):
            data = replace(data, dependence=dependence)
        if self._for_quantities is not None:
            data.target.require_classes(self, self._for_quantities)
        if self.task not in ("auto", data.target.task):
            held = "classes" if data.target.task == "classification" else "a quantity"
            raise ValueError(
                f'{type(self).__name__} has task="{self.task}", but y holds {held}: set task="auto".'
            )
        data.target.require_variety(self, weights)
        self.task_ = data.target.task
        plan = SubsetSizeCV() if self.n_features_to_select == "cv" else self.n_features_to_select
        if isinstance(plan, SubsetSizeCV):
            if table is None:
                table = data if isinstance(data, Table) else self.read_table(X, data.target.values())
            ranker = with_task(clone(self), data.target.task).set_params(n_features_to_select=1.0)
            self.size_curve_ = plan.curve(ranker, replace(table, dependence=dependence), weights, X)
        n_wanted = self._n_wanted(data.n_columns)  # before the scores, which may take long
        found = self._score(data, weights)
        for name, value in found.learned.items():
            setattr(self, name, value)
        self.schema_ = data.schema if table is None else table.schema
        self.scores_ = np.asarray(found.values, dtype=np.float64)
        self.ranking_ = ranks_by_score(self.scores_) if found.ranking is None else found.ranking
        if found.support is not None:
            self.support_ = found.support
        else:
            self.support_ = self._own_support_or_best() if n_wanted is None else self._best(n_wanted)
        if found.interrupt is not None:
            raise found.interrupt
        return self

    def transform(self, X: Any) -> Any:
        """Keep the selected columns of X.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            Anything that `fit` takes, with the same columns.

        Returns
        -------
        ndarray, sparse matrix or data frame of shape (n, n_selected)
            A sparse matrix (CSR) if X is one; a data frame if `set_output` asks for one (the columns keep
            their dtype if X is a frame of the same library); otherwise an array, of numbers if all selected
            columns are, else of objects.
        """
        check_is_fitted(self, "support_")
        output = output_container(self)
        if sparse.issparse(X) or (isinstance(X, np.ndarray) and (output == "default" or X.dtype != object)):
            try:
                return super().transform(X)
            except InvalidOperation:  # a decimal that signals
                raise ValueError(
                    "X contains a value that is no number: use None where one is missing."
                ) from None
        # scikit-learn takes neither mappings nor frames of nullable types with text, and through its arrays
        # of objects the columns of a frame would lose their types.
        source = read(X, self)
        check_features(self, X if source.pandas else None, source.names, source.n_columns, reset=False)
        if source.array is not None:
            return super().transform(source.array)
        kept = take_columns(X, self.get_support(indices=True))
        if output == "default":
            return matrix_of(read(kept, self))
        frame = nw.from_native(kept, pass_through=True)
        if isinstance(frame, nw.DataFrame) and nw.get_native_namespace(frame).__name__ == output:
            return frame.to_native()
        columns = map(_plain, columns_of(read(kept, self)))
        return dict(zip(self.get_feature_names_out(), columns, strict=True))  # set_output makes a frame of it

    def inverse_transform(self, X: Any) -> Any:
        """Put the selected columns back where they were, with zeros in the others.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_selected)
            What `transform` returns; missing values are allowed.

        Returns
        -------
        ndarray or sparse matrix of shape (n, n_features)
            All columns; the removed ones are zero.
        """
        support = self.get_support()
        if sparse.issparse(X):
            return super().inverse_transform(X)
        kept = matrix_of(read(X, self))  # scikit-learn's own would refuse missing values
        if kept.shape[1] != support.sum():
            raise ValueError(
                f"X has a different shape than during fitting: {kept.shape[1]} columns, but {support.sum()}"
                " were selected. Pass what transform returns."
            )
        whole = np.zeros((len(kept), len(support)), dtype=kept.dtype)
        whole[:, support] = kept
        return whole

    def __sklearn_tags__(self) -> Any:
        tags = table_tags(super().__sklearn_tags__())
        tags.target_tags.required = True
        return tags

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        return self.support_

    def _n_wanted(self, n_columns: int) -> int | None:
        """How many features the user asks for, or cross-validation chose; None leaves it to the method."""
        wanted = self.n_features_to_select
        if wanted is None:
            return None
        if isinstance(wanted, str | SubsetSizeCV):
            return self.size_curve_.chosen
        return count_columns(wanted, n_columns, "n_features_to_select")

    def _own_support_or_best(self) -> NDArray[np.bool_]:
        support = self._own_support()
        if support.any():
            return support
        best = self.ranking_ == 1
        warn_caller(
            f"No feature passed the rule of {type(self).__name__}, so the best is kept:"
            f" {label_of(self.schema_.names, int(best.argmax()))}. None may be relevant; set"
            " n_features_to_select to keep a given number."
        )
        return best


def ranks_by_score(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Rank of every score: 1 is the best, equal ones (but for rounding) in their order, NaN last."""
    order = np.argsort(-scores, kind="stable")  # NaN is sorted to the end
    # Columns that tie on paper differ in the last bits by the order of summation; they must not rank by that.
    with np.errstate(over="ignore"):
        close = np.isclose(scores[order[1:]], scores[order[:-1]], rtol=_ROUNDING, atol=0)
    group = np.concatenate([[0], np.cumsum(~close)])
    order = order[np.lexsort((order, group))]
    ranks = np.empty(len(scores), dtype=np.intp)
    ranks[order] = np.arange(1, len(scores) + 1)
    return ranks


def with_task(selector: Any, task: str) -> Any:
    """Set `task` of a selector that leaves it open: it might take some rows of a quantity as classes."""
    is_open = selector.get_params(deep=False).get("task") == "auto"
    return selector.set_params(task=task) if is_open else selector


def _plain(column: NDArray[Any]) -> NDArray[Any] | list[Any]:
    """Return a column as every data frame library can tell its type and its missing values."""
    if column.dtype == object or (column.dtype.kind == "f" and np.isnan(column).any()):
        return [None if is_missing(value) else value for value in column.tolist()]
    return column
