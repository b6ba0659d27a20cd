"""The base of every feature selector: from the scores of the columns to a ranking, a mask and `transform`."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from foresift.data.coded_blocks import CodedBlocks
from foresift.data.containers import label_of
from foresift.data.dependence import Dependence, read_dependence
from foresift.data.plain_state import PlainEstimator
from foresift.data.sklearn_compat import (
    CallbackSupportMixin,
    Interval,
    RealNotInt,
    StrOptions,
    fit_context,
    table_tags,
)
from foresift.data.slices import TableOfX
from foresift.data.table import MAX_CATEGORIES, Schema, Table, make_table
from foresift.data.target import Quantity
from foresift.data.weights import check_sample_weight
from foresift.engine.open_blocks import comes_in_batches, open_blocks
from foresift.errors import warn_caller
from foresift.models.subset_models import count_columns, reading_options
from foresift.selectors.one_hot import one_hot_blocks
from foresift.selectors.selected_columns import SelectedColumnsMixin
from foresift.selectors.size_cv import SizeCurve, SubsetSizeCV
from foresift.selectors.unit_chance import gain_of_size
from foresift.selectors.units import Units, read_units

__all__ = ["RankingSelector", "Scores", "ranks_by_score", "with_task", "with_units"]

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
    by_unit : bool, default=False
        Whether values, ranking and support are of the free units instead of the columns.
    members : ndarray of int of shape (n_free,), default=None
        The column that stands for each free unit in the method's own rule; None is the first.
    """

    values: ArrayLike
    learned: Mapping[str, Any] = field(default_factory=dict)
    ranking: NDArray[np.intp] | None = None
    support: NDArray[np.bool_] | None = None
    interrupt: KeyboardInterrupt | None = None
    by_unit: bool = False
    members: NDArray[np.intp] | None = None


class RankingSelector(CallbackSupportMixin, SelectedColumnsMixin, PlainEstimator):
    """What all selectors share: reading the data, ranking the columns by score, keeping the best.

    A subclass has a parameter `n_features_to_select` (an int, a share, "cv" or a `SubsetSizeCV` to choose
    it by cross-validation, or None for the method's own rule) and scores the columns in `_score`. A parameter
    `task` says that it takes quantities too, unless `_for_quantities` says what to use instead. It may
    replace the rule, `_own_support`. A method that needs more than codes replaces `_open`, which reads X,
    and `_open_table`, which takes the same from a coded table; it sets `_needs_values`, or `takes` says
    whether a table will do.

    With the parameters `keep` and `feature_groups` it ranks units instead of columns: the groups, and the
    columns that are in none, without those that are kept by request. `_score` may score the units in
    `units_` itself (`Scores.by_unit`); otherwise `_of_units` takes the scores of their best columns, less
    what the best of so many scores by chance.

    Attributes
    ----------
    scores_ : ndarray of float64 of shape (n_features,)
        The score of every column, higher is better; NaN where there is no estimate. The columns of a group
        share its score, and columns that are kept by request have none.
    ranking_ : ndarray of int of shape (n_features,)
        The rank of every column: 1 is the best, scores that are equal but for rounding (1e-12 of their size)
        rank in column order, NaN last. The columns of a group share its rank; columns that are kept by
        request are not ranked and have 0.
    support_ : ndarray of bool of shape (n_features,)
        Which columns are kept, at least one.
    units_ : Units
        What is ranked, and kept or dropped whole.
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
        "keep": ["array-like", str, None],  # `read_units` has a word for a name by itself
        "feature_groups": ["array-like", Mapping, str, None],
    }

    _needs_values: ClassVar[bool] = False  # rather than their order
    _needs_quantity: ClassVar[bool] = False  # its numbers, where blocks have only their order
    _for_quantities: ClassVar[str | None] = None  # what to use instead, if the method has no meaning there
    task: str = "classification"  # of a subclass without this parameter
    dependence: str = "auto"  # of a subclass without this parameter
    keep: Any = None
    feature_groups: Any = None
    n_features_to_select: int | float | str | SubsetSizeCV | None
    n_features_in_: int
    scores_: NDArray[np.float64]
    ranking_: NDArray[np.intp]
    support_: NDArray[np.bool_]
    units_: Units
    schema_: Schema
    size_curve_: SizeCurve
    task_: str

    @abstractmethod
    def _score(self, table: Any, weights: NDArray[np.float64] | None) -> Scores:
        """Score the columns of what `_open` returned; sets no attributes."""

    def _own_support(self) -> NDArray[np.bool_]:
        """Mask of the features that the method itself would keep; reads the learned attributes.

        Of a unit only the column counts that stands for it.
        """
        return self.scores_ > 0

    def _of_units(self, found: Scores, data: Any, weights: NDArray[np.float64] | None) -> Scores:
        """Scores of the free units from those of the columns.

        The score of a unit is that of its best column; less what the best of its columns scores by chance,
        more what one of them does, so that it does not gain by being large. Chance are the scores with
        permuted targets, on average.
        """
        values = np.asarray(found.values, dtype=np.float64)
        members = self.units_.best_members(values)
        scores = values[members] - self._gain_of_size(data, weights)
        return Scores(scores, interrupt=found.interrupt, by_unit=True, members=members)

    def _gain_of_size(self, data: Any, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
        scorer = copy(self)
        scorer.__dict__.pop("_skl_callbacks", None)  # a callback follows the fit, not this
        seed = getattr(self, "random_state", None)
        return gain_of_size(
            self.units_, data, weights, lambda some: scorer._score(some, weights).values, seed
        )

    def subset_of_size(self, size: int) -> NDArray[np.bool_]:
        """Return the best columns, as many as are asked for.

        Parameters
        ----------
        size : int
            How many columns; a group counts as one, columns that are kept by request do not count.

        Returns
        -------
        ndarray of bool of shape (n_features,)
            Which columns they are, and those kept by request.
        """
        check_is_fitted(self, "ranking_")
        return self._best(size)

    def _best(self, size: int) -> NDArray[np.bool_]:
        return self.ranking_ <= size

    def _best_half(self) -> NDArray[np.bool_]:
        return self._best(max(1, self.units_.n_free // 2))

    def _best_with_last(self, last: NDArray[np.bool_], size: int) -> NDArray[np.bool_]:
        """The best units, where those of which `last` holds come after all others."""
        order = np.lexsort((self.ranking_[self._members], last[self._members]))
        chosen = np.zeros(len(order), dtype=bool)
        chosen[order[:size]] = True
        return self.units_.spread(chosen, True)

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
            The columns; missing values are allowed. Or rows that need not fit in memory: the path of a
            Parquet or CSV file or of a folder, a Dask DataFrame, a polars LazyFrame, an Arrow stream.
        y : array-like of shape (n,) or str
            The class, or the quantity, of every row; of rows that come in batches the name of its column.
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
        plain = sample_weight is None and groups is None and time is None
        if comes_in_batches(X, y) and not plain:
            raise ValueError(
                "sample_weight, groups and time need all rows in memory, but X is read in batches: read it"
                " first, or leave them out."
            )
        blocks = self.blocks_of(X, y) if plain else None
        if blocks is not None:
            return self._fit_to(blocks)
        data = self._open(X, y)
        weights = check_sample_weight(sample_weight, data.n_rows)
        dependence = read_dependence(self.dependence, groups, time, data.n_rows)
        return self._fit_opened(data, weights, X, dependence)

    @fit_context(prefer_skip_nested_validation=False)
    def fit_blocks(self, blocks: CodedBlocks) -> Self:
        """Fit to rows that are coded in blocks; see `blocks_of`."""
        return self._fit_to(blocks)

    def _fit_to(self, blocks: CodedBlocks) -> Self:
        self.n_features_in_ = blocks.n_columns
        if blocks.schema.names is not None:
            self.feature_names_in_ = np.array(blocks.schema.names, dtype=object)
        if self.takes_blocks():
            return self._fit_opened(blocks, None, None, None)
        if blocks.n_rows > blocks.sample.n_rows:
            warn_caller(
                f"{type(self).__name__} needs all rows at once: it was fitted to a random sample of"
                f" {blocks.sample.n_rows:,} of the {blocks.n_rows:,} rows."
            )
        return self._fit_opened(self._open_table(blocks.sample), None, None, None, blocks.sample)

    def blocks_of(self, X: Any, y: Any) -> CodedBlocks | None:
        """Rows in coded blocks, if that is how `fit` reads them: those that come in batches; else None."""
        if not comes_in_batches(X, y):
            return None
        nominal = getattr(self, "categorical_features", "from_dtype")
        n_jobs = getattr(self, "n_jobs", None)
        return open_blocks(X, y, categorical_features=nominal, task=self.task, n_jobs=n_jobs)

    def takes_blocks(self) -> bool:
        """Whether it is fitted to all rows of blocks, and not to a sample of them."""
        return False

    def takes_rows(self, blocks: CodedBlocks, target: Any) -> bool:
        """Whether it is fitted to all rows of blocks of which a sample has another target, as a logarithm."""
        same = not isinstance(target, Quantity) or np.array_equal(target.y, blocks.target.y)
        return self.takes_blocks() and (same or not self._needs_quantity)

    @fit_context(prefer_skip_nested_validation=False)
    def fit_table(self, table: Table, weights: NDArray[np.float64] | None = None) -> Self:
        """Fit to coded rows that it `takes`; the result is that of `fit` to the same rows."""
        self.n_features_in_ = table.n_columns
        if table.schema.names is not None:
            self.feature_names_in_ = np.array(table.schema.names, dtype=object)
        dependence = read_dependence(self.dependence, table.dependence, None, table.n_rows)
        return self._fit_opened(self._open_table(table), weights, None, dependence, table)

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
        if isinstance(data, Table):
            data = replace(data, dependence=dependence)
        some = data.sample if isinstance(data, CodedBlocks) else data
        if self._for_quantities is not None:
            data.target.require_classes(self, self._for_quantities)
        if self.task not in ("auto", data.target.task):
            held = "classes" if data.target.task == "classification" else "a quantity"
            raise ValueError(
                f'{type(self).__name__} has task="{self.task}", but y holds {held}: set task="auto".'
            )
        if not isinstance(data, CodedBlocks) or np.count_nonzero(data.target_counts) < 2:
            data.target.require_variety(self, weights)
        self.task_ = data.target.task
        self.units_ = read_units(
            self.keep, self.feature_groups, data.schema.names, data.n_columns, lambda: one_hot_blocks(some)
        )
        plan = SubsetSizeCV() if self.n_features_to_select == "cv" else self.n_features_to_select
        if isinstance(plan, SubsetSizeCV):
            if table is None:
                table = some if isinstance(some, Table) else self.read_table(X, data.target.values())
            ranker = with_task(clone(self), data.target.task).set_params(n_features_to_select=1.0)
            ranker = with_units(ranker, self.units_)
            self.size_curve_ = plan.curve(
                ranker, replace(table, dependence=dependence), weights, X, self.units_
            )
        n_wanted = self._n_wanted()  # before the scores, which may take long
        found = self._score(data, weights)
        for name, value in found.learned.items():
            setattr(self, name, value)
        of_sample = isinstance(data, CodedBlocks)  # a table of which may lack categories
        self.schema_ = data.schema if table is None or of_sample else table.schema
        if not (found.by_unit or self.units_.trivial):
            found = self._of_units(found, data, weights)
        self._keep_best(found, n_wanted)
        if found.interrupt is not None:
            raise found.interrupt
        return self

    def _keep_best(self, found: Scores, n_wanted: int | None) -> None:
        """Rank the units, and keep the best of them."""
        units, scores = self.units_, np.asarray(found.values, dtype=np.float64)
        ranking = ranks_by_score(scores) if found.ranking is None else found.ranking
        self.scores_ = units.spread(scores, np.nan)
        self.ranking_ = units.spread(ranking, 0)
        self._members = units.first if found.members is None else found.members
        if found.support is not None:
            self.support_ = units.spread(found.support, True)
        elif n_wanted is not None:
            self.support_ = self._best(n_wanted)
        else:
            self.support_ = units.spread(self._own_support()[self._members], True)
            if not self.support_.any():
                self.support_ = self.ranking_ == 1
                warn_caller(
                    f"No feature passed the rule of {type(self).__name__}, so the best is kept:"
                    f" {self._label_of_best()}. None may be relevant; set n_features_to_select to keep a"
                    " given number."
                )

    def __sklearn_tags__(self) -> Any:
        tags = table_tags(super().__sklearn_tags__())
        tags.target_tags.required = True
        return tags

    def _n_wanted(self) -> int | None:
        """How many features the user asks for, or cross-validation chose; None leaves it to the method."""
        wanted = self.n_features_to_select
        if wanted is None:
            return None
        if isinstance(wanted, str | SubsetSizeCV):
            return self.size_curve_.chosen
        return count_columns(wanted, self.units_.n_free, "n_features_to_select", self._what_is_ranked())

    def _what_is_ranked(self) -> str:
        return "columns of X" if self.units_.trivial else "columns and groups that may be dropped"

    def _label_of_best(self) -> str:
        best = np.flatnonzero(self.ranking_ == 1)
        if len(best) == 1:
            return label_of(self.schema_.names, int(best[0]))
        return f"group {self.units_.labels[self.units_.of_column[best[0]]]!r}"


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


def with_units(selector: Any, units: Units) -> Any:
    """Give a selector units that were read: of other rows it might recognise other ones."""
    if units.trivial:
        return selector
    return selector.set_params(keep=units.kept, feature_groups=units.of_column)
