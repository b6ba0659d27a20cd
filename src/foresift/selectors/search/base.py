"""What subset searches share: one scorer for all sets, the path of sets visited, limits of the error."""

from __future__ import annotations

import math
import numbers
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from foresift.data.folds import make_folds
from foresift.data.sklearn_compat import (
    HasMethods,
    Interval,
    Progress,
    RealNotInt,
    StoppedEarly,
    require_model,
    seed_of,
    seeded,
    track,
)
from foresift.data.slices import TableOfX
from foresift.data.table import Table
from foresift.models.scorer import SubsetScorer, make_subset_scorer, takes_store
from foresift.models.subset_models import reading_options, refuse_numbered_columns, refuse_size_by_cv
from foresift.selectors.base import RankingSelector, Scores
from foresift.selectors.search.path import ROUNDING, SearchPath, Step, report
from foresift.selectors.units import Units

__all__ = ["Search", "SearchSelector"]


@dataclass(eq=False)
class Search(ABC):
    """One run of a search, by the parameters of a selector, its `rules`.

    Features are free units: columns, or groups of them.
    """

    rules: Any
    estimator: Any  # seeded
    data: TableOfX
    weights: NDArray[np.float64] | None
    scorer: Any  # a SubsetScorer, but for a search that scores no set
    n_wanted: int | None
    path: SearchPath = field(init=False)  # sets visited so far
    full_error: float = math.nan  # with all features, as soon as it is known
    interrupted: bool = False
    last: float = field(default_factory=time.perf_counter)  # time of the last visit

    def __post_init__(self) -> None:
        self.units: Units = self.rules.units_
        self.path = SearchPath(self.units.n_free)

    @property
    def least(self) -> int:
        """Size of the smallest set: none beside columns that are kept by request."""
        return 0 if self.units.kept.any() else 1

    def columns(self, features: Iterable[int]) -> tuple[int, ...]:
        """The columns of a set, with those that are kept by request."""
        return tuple(self.units.columns(features).tolist())

    def evaluate(self, subsets: Sequence[tuple[int, ...]]) -> Sequence[float]:
        """Scores of sets."""
        scores: Sequence[float] = self.scorer([self.columns(subset) for subset in subsets])
        return scores

    @abstractmethod
    def run(self, progress: Progress) -> None:
        """Extend `path` until the search ends."""

    @abstractmethod
    def seconds_left(self) -> float:
        """Estimate the time to the end."""

    @abstractmethod
    def result(self) -> Scores:
        """Choose a set of `path`, which may have been cut short."""

    def visit(
        self, features: tuple[int, ...], score: float, progress: Progress, *, better: bool = False
    ) -> None:
        """Move on to a set, or replace the last one by a `better` one, and report that."""
        now = time.perf_counter()
        (self.path.replace_last if better else self.path.append)(Step(features, score, now - self.last))
        self.last = now
        if self.rules.verbose:
            report(type(self.rules).__name__, self.path, self.seconds_left())
        self.interrupted = progress.advance()

    def within_limit(self, score: float) -> bool:
        """Whether the error is at most `max_error_increase` above that with all features."""
        increase = self.rules.max_error_increase
        if increase is None or math.isnan(score):
            return True
        limit = self.full_error * (1 + increase) if self.rules.relative else self.full_error + increase
        return 1.0 - score <= limit + ROUNDING


class SearchSelector(RankingSelector):
    """Base of the selectors that search: a subclass has a model, checks its rules and makes a `Search`.

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
    foresift.SequentialSelector, foresift.ContributionSelector : The subclasses.

    Examples
    --------
    >>> from foresift import ContributionSelector, SequentialSelector
    >>> issubclass(SequentialSelector, SearchSelector), issubclass(ContributionSelector, SearchSelector)
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_features_to_select": [
            Interval(numbers.Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            None,
        ],
        **{name: RankingSelector._parameter_constraints[name] for name in ("task", "keep", "feature_groups")},
        "estimator": [HasMethods(["fit", "predict"]), None],
        "max_error_increase": [Interval(numbers.Real, 0, None, closed="left"), None],
        "relative": ["boolean"],
        "scoring": [str, callable, None],
        "cv": [
            Interval(numbers.Integral, 2, None, closed="left"),
            HasMethods(["split", "get_n_splits"]),
            HasMethods(["__iter__"]),
        ],
        "return_partial": ["boolean"],
        "verbose": ["verbose"],
        "n_jobs": [numbers.Integral, None],
        "random_state": ["random_state"],
    }

    estimator: Any
    cv: Any
    scoring: Any
    return_partial: bool
    n_jobs: int | None
    random_state: Any
    path_: SearchPath
    full_error_: float
    interrupted_: bool
    _search: type[Search]

    @abstractmethod
    def _estimator(self, task: str = "classification") -> Any:
        """Return the model to clone: the one given, or else the default for the task."""

    @abstractmethod
    def _check_rules(self, n_columns: int, n_wanted: int | None) -> None:
        """Refuse parameters that contradict each other, before anything takes long."""

    @property
    def reading_options(self) -> dict[str, Any]:
        """How the model reads X."""
        return reading_options(self._estimator())

    def takes(self, table: Table) -> bool:
        """Whether the model is scored on coded columns."""
        target = table.target
        return takes_store(self._estimator(target.task), self.scoring or target.metric)

    def _score(self, data: TableOfX, weights: NDArray[np.float64] | None) -> Scores:
        seed = seed_of(self.random_state)
        require_model(self._estimator(data.target.task), type(self).__name__, data.target.task)
        estimator = seeded(clone(self._estimator(data.target.task)), seed)
        n_wanted = self._n_wanted()
        self._check_rules(self.units_.n_free, n_wanted)
        scorer: SubsetScorer | None = None
        if self.cv is not None:
            folds = make_folds(data, weights, self.cv, seed)
            how: dict[str, Any] = {"scoring": self.scoring, "n_jobs": self.n_jobs}
            scorer = make_subset_scorer(estimator, data.X, data, weights, folds, **how)
        search = self._search(self, estimator, data, weights, scorer, n_wanted)
        interrupt = None
        try:
            with track(self, None, task="step", X=data.X, y=data.target.values()) as progress:
                search.run(progress)
        except KeyboardInterrupt:
            if not search.path:
                raise
            search.interrupted = True
            interrupt = None if self.return_partial else StoppedEarly(self)
        found = search.result()
        steps = [replace(step, features=search.columns(step.features)) for step in search.path]
        learned = {
            "path_": SearchPath(data.n_columns, steps),
            "full_error_": search.full_error,
            "interrupted_": search.interrupted,
            **found.learned,
        }
        return replace(found, learned=learned, interrupt=interrupt, by_unit=True)

    def _validate_params(self) -> None:
        refuse_size_by_cv(self)
        super()._validate_params()
        require_model(self._estimator(), type(self).__name__)  # which of both is known when y is read
        refuse_numbered_columns(self._estimator())

    def _best(self, size: int) -> NDArray[np.bool_]:
        """The best set of that size on the path, which need not contain smaller ones; else by the ranking."""
        steps = [step for step in self.path_ if self.units_.n_free_in(step.features) == size]
        if steps:
            return self.path_.mask(SearchPath(self.n_features_in_, steps).best())
        return super()._best(size)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None and hasattr(self.estimator, "__sklearn_tags__"):
            inputs = get_tags(self.estimator).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = inputs.sparse, inputs.allow_nan
        return tags
