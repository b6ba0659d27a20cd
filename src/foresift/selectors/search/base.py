"""What selectors share that judge set after set of columns by cross-validation: the frame of `fit`."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from foresift.data.folds import make_folds
from foresift.data.sklearn_compat import Progress, StoppedEarly, fit_context, seed_of, seeded, track
from foresift.data.table import Table
from foresift.models.scorer import SubsetScorer, make_subset_scorer, read_for_search
from foresift.models.subset_models import refuse_size_by_cv
from foresift.selectors.base import RankingSelector, Scores
from foresift.selectors.search.path import ROUNDING, SearchPath

__all__ = ["SearchSelector"]


class SearchSelector(RankingSelector):
    """Base of the selectors that search: a subclass makes its classifier, takes the steps and chooses one.

    It has the parameters `estimator`, `cv`, `scoring`, `max_error_increase`, `relative`, `return_partial`,
    `n_jobs` and `random_state`.

    Attributes
    ----------
    path_ : SearchPath
        Every set the search moved to.
    full_error_ : float
        Error with all features; NaN if it is not known.
    interrupted_ : bool
        Whether the search was cut short.

    See Also
    --------
    foresift.SequentialSelector, foresift.ContributionSelector : Those there are.

    Examples
    --------
    >>> from foresift import ContributionSelector, SequentialSelector
    >>> issubclass(SequentialSelector, SearchSelector), issubclass(ContributionSelector, SearchSelector)
    (True, True)
    """

    estimator: Any
    cv: Any
    scoring: Any
    max_error_increase: float | None
    relative: bool
    return_partial: bool
    n_jobs: int | None
    random_state: Any
    path_: SearchPath
    full_error_: float
    interrupted_: bool

    @abstractmethod
    def _estimator(self) -> Any:
        """Return the classifier to clone: the one given, or else the usual one."""

    @abstractmethod
    def _check_rules(self, n_columns: int, n_wanted: int | None) -> None:
        """Refuse what does not go together, before anything takes long."""

    @abstractmethod
    def _search(
        self, data: Any, scorer: SubsetScorer | None, n_wanted: int | None, progress: Progress
    ) -> None:
        """Fill `path_` until the search has come to its end."""

    @abstractmethod
    def _keep(self, scorer: SubsetScorer | None, n_wanted: int | None) -> None:
        """Set what is learned from `path_`, which may be empty or cut short."""

    def _open_search(self, estimator: Any, X: Any, table: Table, weights: NDArray[np.float64] | None) -> Any:
        """Return what `_search` takes as its data."""
        return table

    @fit_context(prefer_skip_nested_validation=False)  # the classifier checks its own parameters
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Search, and keep the set that was found.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The columns, of a kind that the classifier takes; its own forests allow missing values.
        y : array-like of shape (n,)
            The class of every row.
        sample_weight : array-like of shape (n,), default=None
            How much each row counts; one of weight 0 is not there.

        Returns
        -------
        SearchSelector
            Itself.
        """
        seed = seed_of(self.random_state)
        estimator = seeded(clone(self._estimator()), seed)
        table, weights = read_for_search(self, estimator, X, y, sample_weight)
        n_wanted = self._n_wanted(table.n_columns)
        self._check_rules(table.n_columns, n_wanted)
        scorer = None
        if self.cv is not None:
            folds = make_folds(table, weights, self.cv, seed)
            how: dict[str, Any] = {"scoring": self.scoring, "n_jobs": self.n_jobs}
            scorer = make_subset_scorer(estimator, X, table, weights, folds, **how)
        data = self._open_search(estimator, X, table, weights)
        self.schema_ = table.schema
        self.path_, self.interrupted_, self.full_error_ = SearchPath(table.n_columns), False, math.nan
        try:
            with track(self, None, task="step", X=X, y=y) as progress:
                self._search(data, scorer, n_wanted, progress)
        except KeyboardInterrupt:
            if not self.path_:
                raise
            self.interrupted_ = True
            self._keep(scorer, n_wanted)
            if not self.return_partial:
                raise StoppedEarly(self) from None
            return self
        self._keep(scorer, n_wanted)
        return self

    def _validate_params(self) -> None:
        refuse_size_by_cv(self)
        super()._validate_params()

    def _within_limit(self, score: float) -> bool:
        """Whether the error is at most `max_error_increase` above that with all features."""
        if self.max_error_increase is None or math.isnan(score):
            return True
        increase = self.max_error_increase
        limit = self.full_error_ * (1 + increase) if self.relative else self.full_error_ + increase
        return 1.0 - score <= limit + ROUNDING

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "support_")

    def _best(self, size: int) -> NDArray[np.bool_]:
        """The best set of that size on the way, which need not contain smaller ones; else by the ranking."""
        if size in self.path_.n_features:
            return self.path_.mask(self.path_.best(size))
        return super()._best(size)

    def _own_support(self) -> NDArray[np.bool_]:
        return self.support_

    def _score(self, table: Table, weights: NDArray[np.float64] | None) -> Scores:
        return Scores(self.scores_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None and hasattr(self.estimator, "__sklearn_tags__"):
            inputs = get_tags(self.estimator).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = inputs.sparse, inputs.allow_nan
        return tags
