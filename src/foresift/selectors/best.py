"""Which of several rankings to trust: the one whose best columns predict held-out rows best."""

from __future__ import annotations

import numbers
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from foresift.data.folds import make_folds
from foresift.data.sklearn_compat import Interval, RealNotInt, StrOptions, seed_of, seeded
from foresift.data.slices import TableOfX, take_rows
from foresift.data.table import Table
from foresift.models.scorer import grows_on_store
from foresift.models.subset_models import count_columns, fit_plain, read_alike
from foresift.selectors.base import RankingSelector, Scores, with_task, with_units
from foresift.selectors.correlation import FScoreSelector
from foresift.selectors.filters import InfoGainSelector
from foresift.selectors.mutual_info import MutualInfoSelector
from foresift.selectors.relevance import RelevanceSelector
from foresift.selectors.relief import ReliefFSelector
from foresift.selectors.size_cv import SizeCurve, SubsetSizeCV
from foresift.selectors.units import Units

__all__ = ["BestRankerSelector", "choose_ranker"]

MAX_FOLDS = 5
MIN_OF_A_CLASS = 3  # rows; rarer classes are left out of the choice, but not of the ranking
_DEFAULTS = {  # cheapest first
    "fscore": FScoreSelector(nominal="one-hot"),
    "info-gain": InfoGainSelector(),
    "mrmr": MutualInfoSelector(scheme="mrmr"),
    "relieff": ReliefFSelector(),
    "relevance": RelevanceSelector(minimal=True),
}


class BestRankerSelector(RankingSelector):
    """Choose among several rankers the one that predicts best (future work of Grabczewski & Jankowski).

    In every fold each candidate ranks the columns on the training rows, and a model of the best 1, 2, 3 ...
    of them is scored on the test rows. All candidates see the same folds. The candidate with the highest mean
    score at any size is chosen, of equal ones the first; then its size by the same scores, as in
    `SubsetSizeCV`. The chosen ranker is fitted to all rows.

    Parameters
    ----------
    candidates : list of selectors, or of (name, selector) pairs, or None, default=None
        Selectors of foresift that rank the columns, the cheapest first. None takes five: the F score,
        information gain, mRMR, ReliefF and the relevance test, with redundant columns last.
    n_features_to_select : int, float or None, default=None
        The number of features to keep, or their fraction: then the ranker is chosen for this number. None
        chooses it with the ranker.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity; "auto" takes numbers with fractions as a quantity.
    estimator : classifier or regressor, default=None
        The model that scores sets of columns; None is a forest of 100 trees.
    cv : int, splitter, iterable or None, default=None
        Folds, as in `SubsetSizeCV`. None: 5, or fewer if classes or groups are too small;
        classes of fewer than 3 rows are then left out of the choice.
    sizes : array-like of int, default=None
        The sizes to score, as in `SubsetSizeCV`.
    scoring : str, callable or None, default=None
        A score of scikit-learn, higher is better; None is the accuracy, or R2 for a quantity.
    rule : {"one-se", "best"}, default="one-se"
        The smallest size within one standard error of the best of the chosen ranker, or the best.
    n_jobs : int, default=None
        Rankings and models at a time; -1 for all cores. The outcome is the same.
    random_state : int, RandomState or None, default=None
        Assigns rows to folds, and seeds candidates and models whose own `random_state` is None.
    keep : array-like or None, default=None
        Columns that are kept in any case, by name, number or mask: they are not ranked, and not counted.
    feature_groups : mapping, list, "one-hot" or None, default=None
        Columns that are ranked, and kept or dropped, as one: lists of columns or patterns of names, a label
        for every column, or the blocks of OneHotEncoder; see `foresift.selectors.units.read_units`.

    Attributes
    ----------
    chosen_ : str
        The name of the chosen candidate.
    candidate_names_ : list of str
        The names of all candidates, as given or by type.
    candidate_scores_ : ndarray of shape (n_candidates, n_folds)
        The score of every candidate in every fold, at the size that `rule` chooses for it alone.
    candidate_curves_ : list of SizeCurve
        The scores of all sizes, of every candidate.
    size_curve_ : SizeCurve
        That of the chosen candidate.
    selector_ : selector
        The chosen candidate, fitted to all rows.
    scores_, ranking_ : ndarray of shape (n_features,)
        Those of `selector_`.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    See Also
    --------
    AggregateSelector : Combines rankings instead of choosing one.
    SubsetSizeCV : Chooses the size for one ranker.

    Notes
    -----
    `candidate_scores_` of the chosen one is optimistic: it was chosen for it. For an honest score,
    cross-validate the selector as a whole, as `select` and `compare` do.

    Examples
    --------
    >>> import numpy as np
    >>> from foresift import BestRankerSelector, FScoreSelector, ReliefFSelector
    >>> X = np.random.default_rng(0).normal(size=(200, 8))
    >>> y = X[:, 3] * X[:, 5] > 0  # neither column is informative alone
    >>> candidates = [("fscore", FScoreSelector()), ("relieff", ReliefFSelector())]
    >>> selector = BestRankerSelector(candidates, random_state=0).fit(X, y)
    >>> selector.chosen_, selector.get_support(indices=True)
    ('relieff', array([3, 5]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankingSelector._parameter_constraints,
        "candidates": [list, tuple, None],
        "n_features_to_select": [
            Interval(numbers.Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            StrOptions({"cv"}),  # what None does
            None,
        ],
        "estimator": "no_validation",
        "cv": "no_validation",
        "sizes": ["array-like", None],
        "scoring": "no_validation",
        "rule": [StrOptions({"one-se", "best"})],
        "n_jobs": [numbers.Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        candidates=None,
        n_features_to_select=None,
        *,
        task="auto",
        estimator=None,
        cv=None,
        sizes=None,
        scoring=None,
        rule="one-se",
        n_jobs=None,
        random_state=None,
        keep=None,
        feature_groups=None,
    ):
        self.candidates = candidates
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.estimator = estimator
        self.cv = cv
        self.sizes = sizes
        self.scoring = scoring
        self.rule = rule
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.keep = keep
        self.feature_groups = feature_groups

    def takes(self, table: Table) -> bool:
        """Whether all candidates, and the model, can be fitted to coded columns."""
        on_store = self.estimator is None or grows_on_store(self.estimator)
        return on_store and all(self._on_codes(one, table) for one in self._candidates().values())

    def _on_codes(self, candidate: Any, table: Table) -> bool:
        """Whether a candidate reads X as the table was read, and needs no more of it."""
        return read_alike(candidate.reading_options, self.reading_options) and candidate.takes(table)

    def _validate_params(self) -> None:
        super()._validate_params()
        self._candidates()  # says what is wrong with them

    def _candidates(self) -> dict[str, Any]:
        return dict(_DEFAULTS) if self.candidates is None else _named(self.candidates)

    def _score(self, data: TableOfX, weights: NDArray[np.float64] | None) -> Scores:
        task, units = data.target.task, self.units_
        rng = np.random.default_rng(seed_of(self.random_state))
        seed = int(rng.integers(2**31 - 1))
        candidates = self._candidates()
        _require_task(candidates, task)
        members = [_ready(one, task, units, rng) for one in candidates.values()]
        n_given = self._n_given()
        plan = SubsetSizeCV(
            self.estimator,
            cv=self.cv,
            sizes=self.sizes if n_given is None else [n_given],
            scoring=self.scoring,
            rule=self.rule,
            n_jobs=self.n_jobs,
            random_state=seed,
        )
        curves = self._curves(plan, members, data, weights)
        best = choose_ranker(curves)
        size = curves[best].chosen
        on_codes = self._on_codes(members[best], data)
        fitted = clone(members[best])
        if fitted.get_params(deep=False).get("n_jobs", 0) is None:
            fitted.set_params(n_jobs=self.n_jobs)
        if on_codes:
            fitted.fit_table(data, weights)
        else:
            fit_plain(fitted, data.X, data.target.values(), weights, data.dependence)
        at_own = [curve.scores[:, curve.sizes == curve.chosen][:, 0] for curve in curves]
        learned = {
            "chosen_": list(candidates)[best],
            "candidate_names_": list(candidates),
            "candidate_scores_": np.stack(at_own),
            "candidate_curves_": curves,
            "size_curve_": curves[best],
            "selector_": fitted,
        }
        first = units.first
        kept = fitted.subset_of_size(size)[first]
        return Scores(fitted.scores_[first], learned, fitted.ranking_[first], kept, by_unit=True)

    def _n_given(self) -> int | None:
        wanted = self.n_features_to_select
        if wanted is None or isinstance(wanted, str):
            return None
        return count_columns(wanted, self.units_.n_free, "n_features_to_select", self._what_is_ranked())

    def _n_wanted(self) -> int | None:
        return self._n_given()  # before anything that takes long

    def _best(self, size: int) -> NDArray[np.bool_]:
        return np.asarray(self.selector_.subset_of_size(size))

    def _curves(
        self, plan: SubsetSizeCV, members: list[Any], data: TableOfX, weights: NDArray[np.float64] | None
    ) -> list[SizeCurve]:
        """Scores of all candidates in the same folds."""
        table, X = data, data.X
        if self.cv is None:
            rows = _common_rows(data, weights)
            if len(rows) < data.n_rows:
                X = None if X is None else take_rows(X, rows)
                table = TableOfX.of(data.take_rows(rows), X)
                weights = None if weights is None else weights[rows]
                table.target.require_variety(self, weights)
            plan = plan.set_params(cv=_n_folds(table, weights, plan.random_state))
        elif not isinstance(self.cv, numbers.Real) and not hasattr(self.cv, "split"):
            plan = plan.set_params(cv=list(self.cv))
        on_codes = [self._on_codes(member, data) for member in members]
        return plan.curves(members, on_codes, self.reading_options, table, weights, X, self.units_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            models = [] if self.estimator is None else [self.estimator]
            inputs = [get_tags(member).input_tags for member in (*self._candidates().values(), *models)]
        except (AttributeError, TypeError, ValueError):  # fit will say what is wrong
            return tags
        tags.input_tags.sparse = all(member.sparse for member in inputs)
        tags.input_tags.allow_nan = all(member.allow_nan for member in inputs)
        return tags


def choose_ranker(curves: list[SizeCurve]) -> int:
    """Choose the ranker with the highest mean score at any size, by curves of the same folds and sizes.

    Parameters
    ----------
    curves : list of SizeCurve
        One for each ranker.

    Returns
    -------
    int
        The number of the curve, the first of equal ones.

    Examples
    --------
    >>> one = SizeCurve(np.array([1, 2]), np.array([[0.5, 0.8], [0.6, 0.9]]), 2)
    >>> other = SizeCurve(np.array([1, 2]), np.array([[0.8, 0.7], [0.84, 0.8]]), 1)
    >>> choose_ranker([one, other])
    0
    """
    highest = np.array([curve.mean.max() for curve in curves])
    return int((highest >= highest.max() - 1e-12).argmax())


def _ready(candidate: Any, task: str, units: Units, rng: np.random.Generator) -> Any:
    """Clone a candidate that ranks all columns, with seeds of its own and the units of the table."""
    member = with_units(with_task(seeded(clone(candidate), rng), task), units)
    return member.set_params(n_features_to_select=1.0)


def _common_rows(table: Table, weights: NDArray[np.float64] | None) -> NDArray[np.intp]:
    """Rows of classes that have enough rows to be in folds; all rows of a quantity."""
    codes = table.target.strata(1)
    counts = np.bincount(codes, None if weights is None else weights > 0)
    enough = counts >= MIN_OF_A_CLASS
    if enough.sum() < 2:  # folds say what is wrong
        return np.arange(table.n_rows)
    return np.flatnonzero(enough[codes] | (counts[codes] == 0))


def _n_folds(table: Table, weights: NDArray[np.float64] | None, seed: int) -> int:
    """Five folds, or as many as classes and groups allow."""
    for n_folds in range(MAX_FOLDS, 1, -1):
        try:
            make_folds(table, weights, n_folds, seed)
        except ValueError as error:
            why = str(error)
        else:
            return n_folds
    raise ValueError(
        "The rows are too few, or in too few groups, to choose a ranker in folds: use one ranker, such as"
        f" InfoGainSelector, or get more rows. {why}"
    )


def _require_task(candidates: dict[str, Any], task: str) -> None:
    """Refuse a candidate for classes if the target is a quantity."""
    for name, candidate in candidates.items():
        if task == "regression" and (
            candidate._for_quantities is not None or "task" not in candidate.get_params(deep=False)
        ):
            instead = candidate._for_quantities or "use ReliefFSelector"
            raise ValueError(
                f"The candidate {name} takes classes only, but y is a quantity: {instead}, or leave it out."
            )


def _named(candidates: Any) -> dict[str, Any]:
    """Candidates by name: as given, else by type, numbered where it repeats."""
    pairs = [pair if isinstance(pair, tuple) and len(pair) == 2 else (None, pair) for pair in candidates]
    if not pairs:
        raise ValueError("candidates is empty: name at least one selector, or None for the default ones.")
    found: dict[str, Any] = {}
    for given, member in pairs:
        if not isinstance(member, RankingSelector):
            raise ValueError(
                f"candidates contains {member!r}: give selectors of foresift, such as [InfoGainSelector(),"
                " ReliefFSelector()], or (name, selector) pairs; AggregateSelector([...]) makes one of any"
                " other."
            )
        for parameter in ("keep", "feature_groups"):
            if getattr(member, parameter) is not None:
                raise ValueError(
                    f"candidates contains a {type(member).__name__} with {parameter} of its own: set"
                    f" {parameter} of BestRankerSelector instead, which goes for all of them."
                )
        name, number = given or type(member).__name__, 2
        if given in found:
            raise ValueError(f"Two candidates are named {given!r}: give each a name of its own.")
        while name in found:
            name, number = f"{type(member).__name__}-{number}", number + 1
        found[name] = member
    return found
