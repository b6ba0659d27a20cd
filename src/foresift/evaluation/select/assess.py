"""How many of the ranked columns are enough, and whether they predict held-out rows as well as all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import make_scorer, roc_auc_score

from foresift.data.folds import Fold, make_folds
from foresift.evaluation.harness.chosen import known_sizes
from foresift.evaluation.select.by_loss import Choice, choose_by_loss
from foresift.evaluation.select.fitted import Rows, is_ours, order_of
from foresift.models.forests import SiftForestClassifier
from foresift.models.scorer import SubsetScorer, make_subset_scorer
from foresift.selectors.size_cv import SizeCurve, sizes_for
from foresift.stats import Estimate, corrected_interval

__all__ = [
    "Assessment",
    "Check",
    "Plan",
    "assess",
    "plan_for",
    "stratified_rows",
    "why_not",
]

# What a table may cost, in cells (rows times columns) that a ranking looks at; a million take about 5 s.
MAX_CELLS = 1_300_000  # of the rows that are used; of more, some are drawn
MIN_ROWS, MAX_ROWS = 500, 10_000  # that are used, however many columns there are
FIVE_FOLDS = 250_000  # cells up to which there are five folds; beyond, three
FULL_TREES = 500_000  # cells up to which the ranking has all its trees in the folds
N_TREES = 50  # of the forests that are scored
MIN_IN_A_LEAF = 3  # rows; trees of few columns grown to the end learn the noise of their leaves
MIN_OF_A_CLASS = 6  # rows; rarer classes cannot be in every fold and beside any two of them
LEAST = 20  # rows
LOPSIDED = 0.8  # share of the largest class above which accuracy says little


@dataclass(frozen=True)
class Plan:
    """How the assessment is done, so that it ends within a minute or so on any table.

    Attributes
    ----------
    n_rows : int
        Rows that are used, at most.
    n_folds : int
        Folds.
    tree_share : float
        Share of the trees of a ranking that is grown in the folds.
    """

    n_rows: int
    n_folds: int
    tree_share: float

    @property
    def one_by_one(self) -> bool:
        """Whether rankings follow each other, each in all threads: two of a wide table need much memory.

        Examples
        --------
        >>> plan_for(200, 10_000).one_by_one, plan_for(600, 12).one_by_one
        (True, False)
        """
        return self.n_folds < 5

    def jobs(self, n_jobs: int | None) -> tuple[int | None, int | None]:
        """How many threads share out the rankings, and how many each of them has."""
        return (1, n_jobs) if self.one_by_one else (n_jobs, 1)

    def lots(self, *, by_curve: bool) -> list[tuple[int, ...]]:
        """Folds that are held out together: each alone, and every two if inner folds choose sizes.

        Examples
        --------
        >>> plan_for(200, 10_000).lots(by_curve=True)
        [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
        """
        folds = range(self.n_folds)
        return [lot for size in (1, 2)[: 1 + by_curve] for lot in combinations(folds, size)]


def plan_for(n_rows: int, n_columns: int) -> Plan:
    """Plan the assessment of a table by its size alone, so that equal seeds give equal results anywhere.

    Examples
    --------
    >>> plan_for(600, 12)
    Plan(n_rows=600, n_folds=5, tree_share=1.0)
    >>> plan_for(100_000, 50).n_rows, plan_for(200, 10_000).n_folds
    (10000, 3)
    """
    used = min(n_rows, max(MIN_ROWS, min(MAX_ROWS, MAX_CELLS // n_columns)))
    cells = used * n_columns
    return Plan(used, 5 if cells <= FIVE_FOLDS else 3, min(1.0, max(0.2, FULL_TREES / cells)))


class Check(NamedTuple):
    """Scores of forests of all columns, and of those that were selected without the rows scored."""

    full: Estimate
    kept: Estimate
    difference: Estimate


@dataclass(frozen=True, eq=False)
class Assessment:
    """Results of the folds.

    Attributes
    ----------
    metric : str
        What the scores are: "accuracy" or "ROC AUC".
    curve : SizeCurve
        Scores of the best 1, 2, 3 ... columns; of a selector that does not rank all, of all columns only.
    choice : Choice
        The size that the curve suggests.
    check : Check
        Whether the selected columns do as well as all.
    plan : Plan
        How it was done.
    n_rows : int
        Rows that were used.
    test_share : float
        Share of them that is tested in a fold.
    n_kept : ndarray of int
        Columns that the selection kept in each fold.
    baseline : float
        Score without any column: of the commonest class, or 0.5.
    rare : list
        Classes with too few rows, which were left out.
    n_copies : int
        Rows that are copies of others, and not by coincidence.
    """

    metric: str
    curve: SizeCurve
    choice: Choice
    check: Check
    plan: Plan
    n_rows: int
    test_share: float
    n_kept: NDArray[np.intp]
    baseline: float
    rare: list[Any] = field(default_factory=list)
    n_copies: int = 0


# Given a fitted selector and what a curve suggests, or None: the columns to keep, maybe none.
Keep = Callable[[Any, Choice | None], NDArray[np.intp]]


def assess(
    rows: Rows,
    selector: Any,
    keep: Keep,
    plan: Plan,
    *,
    by_curve: bool,
    seed: int,
    n_jobs: int | None = None,
    tell: Callable[[], object] = lambda: None,
) -> Assessment | None:
    """Cross-validate the best 1, 2, 3 ... columns, and compare the selected columns with all of them.

    In every fold the columns are ranked on the training rows alone. For the check the whole selection is
    repeated on them. If the curve is to choose the size, this is a nested cross-validation, and the other
    folds are the inner ones: a ranking without folds i and j is scored on j to choose a size for fold i, and
    on i to choose one for j, so that every two folds cost one ranking.

    Parameters
    ----------
    rows : Rows
        The table.
    selector : selector
        It is cloned; one that is none of ours is fitted to all rows, and so shows what it ranks.
    keep : callable
        What a fitted selector keeps.
    plan : Plan
        Of `plan_for`.
    by_curve : bool
        Whether `keep` asks for a size.
    seed : int
        Draws rows and folds.
    n_jobs : int or None
        Threads: for rankings at once, or for each of them.
    tell : callable
        Is called when one of `Plan.lots` is done.

    Returns
    -------
    Assessment or None
        None if there are too few rows.
    """
    if why_not(rows.y) is not None:
        return None
    rare = _rare(rows.y)
    common = np.flatnonzero(~np.isin(rows.y, rare))
    if len(common) > plan.n_rows:
        common = stratified_rows(common, rows.y, plan.n_rows, np.random.default_rng([seed, 2]))
    used = rows.take(common)
    parts = [fold.test for fold in make_folds(used.table, None, plan.n_folds, seed)]
    outside, inside = plan.jobs(n_jobs)
    light = _lighter(selector, plan.tree_share, inside)
    n_columns = rows.table.n_columns
    ranks_all = is_ours(selector) or len(known_sizes(selector)) == n_columns
    sizes = sizes_for(n_columns) if ranks_all else np.array([n_columns])
    lots, metric = plan.lots(by_curve=by_curve), _metric_of(used.y)
    scorer = _forests(used, [_without(lot, parts) for lot in lots], seed, inside)
    work = _Folds(used, parts, lots, light, keep, sizes, metric, scorer)
    in_parallel = Parallel(n_jobs=outside, prefer="threads")
    ranked = dict(zip(lots, in_parallel(delayed(work.ranked)(lot, tell) for lot in lots), strict=True))
    folds = range(plan.n_folds)
    curves = np.array([ranked[i,].scores[0] for i in folds])
    inner = [work.chosen(ranked, [lot for lot in lots if len(lot) == 2 and i in lot], i) for i in folds]
    results = in_parallel(
        delayed(work.kept)(i, ranked[i,].selector, choice) for i, choice in enumerate(inner)
    )
    kept, n_kept, baseline = (np.array(part) for part in zip(*results, strict=True))
    full = curves[:, -1]  # the last size is that of all columns
    share = 1 / plan.n_folds
    check = Check(
        corrected_interval(full, share, 0.0, 1.0),  # accuracy, or area under a curve
        corrected_interval(kept, share, 0.0, 1.0),
        corrected_interval(kept - full, share, -1.0, 1.0),
    )
    choice = work.chosen(ranked, [(i,) for i in folds])
    assert choice is not None
    curve = SizeCurve(sizes, curves, choice.size)
    about = (len(common), share, n_kept, float(baseline.mean()), rare.tolist())
    return Assessment(metric, curve, choice, check, plan, *about)


def _rare(y: NDArray[np.intp]) -> NDArray[np.intp]:
    counts = np.bincount(y)
    return np.flatnonzero((counts > 0) & (counts < MIN_OF_A_CLASS))


def why_not(y: NDArray[np.intp]) -> str | None:
    """Say why rows of these classes cannot be checked, or None if they can.

    Examples
    --------
    >>> why_not(np.array([0, 1] * 8))
    'it needs 20 rows in classes of at least 6, and there are 16'
    >>> why_not(np.array([0, 1] * 10))
    """
    common = y[~np.isin(y, _rare(y))]
    if len(common) < LEAST:
        return f"it needs {LEAST} rows in classes of at least {MIN_OF_A_CLASS}, and there are {len(common)}"
    if len(np.unique(common)) < 2:
        return f"only one class has the {MIN_OF_A_CLASS} rows that it needs of each"
    return None


def stratified_rows(
    rows: NDArray[np.intp], y: NDArray[np.intp], n_rows: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Rows drawn from every class in proportion, of each at least as many as the folds need."""
    drawn = []
    for label in np.unique(y[rows]):
        own = rows[y[rows] == label]
        n_own = max(MIN_OF_A_CLASS, round(n_rows * len(own) / len(rows)))
        drawn.append(rng.permutation(own)[:n_own])
    return np.sort(np.concatenate(drawn))


def _lighter(selector: Any, tree_share: float, n_jobs: int | None) -> Any:
    """Clone with fewer trees, and without what only the whole table needs."""
    light = clone(selector)
    params = light.get_params(deep=False)
    new = {name: value for name, value in {"n_jobs": n_jobs, "n_half_samples": 0}.items() if name in params}
    if tree_share < 1 and "n_estimators" in params:
        new["n_estimators"] = max(1, round(tree_share * params["n_estimators"]))
    return light.set_params(**new)


def _metric_of(y: NDArray[np.intp]) -> str:
    return "ROC AUC" if np.bincount(y).max() > LOPSIDED * len(y) else "accuracy"


class _Ranked(NamedTuple):
    """What was learnt without a lot of folds; the selector only if it is asked again."""

    selector: Any
    scores: NDArray[np.float64]  # of every fold of the lot, and every size
    losses: list[NDArray[np.float64]]  # of every fold of the lot: of every size and row


def _without(lot: tuple[int, ...], parts: list[NDArray[np.intp]]) -> Fold:
    """The folds of a lot to judge by, and the rows of all others to learn from."""
    train = np.concatenate([part for i, part in enumerate(parts) if i not in lot])
    return Fold(np.sort(train), np.concatenate([parts[i] for i in lot]))


def _forests(rows: Rows, folds: list[Fold], seed: int, n_jobs: int | None) -> SubsetScorer:
    """The forests that are scored, by their probabilities: they all grow on one coded table."""
    forest = SiftForestClassifier(
        N_TREES, min_samples_leaf=MIN_IN_A_LEAF, max_features="sqrt", random_state=seed
    )
    scoring = make_scorer(_probabilities, response_method="predict_proba")
    return make_subset_scorer(forest, None, rows.table, None, folds, scoring=scoring, n_jobs=n_jobs)


def _probabilities(y: NDArray[Any], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability of every class; of two classes scikit-learn hands on the second one's alone."""
    return np.column_stack([1 - predicted, predicted]) if predicted.ndim == 1 else predicted


def _score(metric: str, probabilities: NDArray[np.float64], y: NDArray[np.intp]) -> float:
    if metric == "accuracy":
        return float((probabilities.argmax(axis=1) == y).mean())
    if probabilities.shape[1] == 2:
        return float(roc_auc_score(y, probabilities[:, 1]))
    labels = np.arange(probabilities.shape[1])
    how: dict[str, Any] = {"multi_class": "ovr", "average": "weighted", "labels": labels}
    return float(roc_auc_score(y, probabilities, **how))


def _brier(probabilities: NDArray[np.float64], y: NDArray[np.intp]) -> NDArray[np.float64]:
    """Squared distance of the probabilities from the class of every row."""
    own = probabilities[np.arange(len(y)), y]
    return np.asarray((probabilities**2).sum(axis=1) - 2 * own + 1)


@dataclass(frozen=True)
class _Folds:
    """Rankings and forests of the folds; a lot are the folds that are held out together."""

    rows: Rows
    parts: list[NDArray[np.intp]]  # rows of every fold
    lots: list[tuple[int, ...]]
    selector: Any
    keep: Keep
    sizes: NDArray[np.intp]
    metric: str
    scorer: SubsetScorer

    def ranked(self, lot: tuple[int, ...], tell: Callable[[], object]) -> _Ranked:
        """Fit the selector without a lot, and score the best columns of every size on each of its folds.

        The selector is returned only if its selection is scored.
        """
        fitted = self.rows.take(self.train(lot)).fit(clone(self.selector))  # the rows go before forests grow
        order = order_of(fitted)
        by_size = self.predict([order[:size] for size in self.sizes], lot)
        targets = [self.target(fold) for fold in lot]
        scores = [
            [_score(self.metric, *part) for part in zip(of_size, targets, strict=True)] for of_size in by_size
        ]
        losses = [
            np.array([_brier(of_size[place], y) for of_size in by_size]) for place, y in enumerate(targets)
        ]
        tell()
        return _Ranked(fitted if len(lot) == 1 else None, np.array(scores).T, losses)

    def chosen(
        self, learnt: dict[tuple[int, ...], _Ranked], lots: list[tuple[int, ...]], without: int | None = None
    ) -> Choice | None:
        """Size that lots of folds suggest; those of two are scored on the fold that is not left out."""
        if not lots:
            return None
        losses, of_none = [], []
        for lot in lots:
            place = 0 if without is None else 1 - lot.index(without)
            losses.append(learnt[lot].losses[place])
            y = self.target(lot[place])
            of_none.append(_brier(np.tile(self.shares(lot), (len(y), 1)), y))
        return choose_by_loss(self.sizes, np.concatenate(losses, axis=1), np.concatenate(of_none))

    def kept(self, fold: int, fitted: Any, choice: Choice | None) -> tuple[float, int, float]:
        """Score of the columns that the selection keeps, how many they are, and the score of none."""
        columns, y = self.keep(fitted, choice), self.target(fold)
        none = _score(self.metric, np.tile(self.shares((fold,)), (len(y), 1)), y)
        score = _score(self.metric, self.predict([columns], (fold,))[0][0], y) if len(columns) else none
        return score, len(columns), none

    def predict(
        self, subsets: list[NDArray[np.intp]], lot: tuple[int, ...]
    ) -> list[list[NDArray[np.float64]]]:
        """Probabilities by a forest of the other folds, for each set of columns and each fold of a lot."""
        number, tests = self.lots.index(lot), [self.parts[i] for i in lot]
        # Equal sets of columns make equal forests.
        tasks = [(tuple(np.sort(columns).tolist()), number, tests) for columns in subsets]
        return [found.scores for found in self.scorer.evaluate(tasks)]

    def target(self, fold: int) -> NDArray[np.intp]:
        """Codes of the classes of a fold."""
        return self.rows.table.target.codes[self.parts[fold]].astype(np.intp)

    def shares(self, lot: tuple[int, ...]) -> NDArray[np.float64]:
        """Shares of the classes outside of a lot: what is predicted without any column."""
        target = self.rows.table.target
        train = target.codes[self.train(lot)]
        return np.bincount(train, minlength=target.n_classes) / len(train)

    def train(self, lot: tuple[int, ...]) -> NDArray[np.intp]:
        """Training rows without a lot."""
        return self.scorer.folds[self.lots.index(lot)].train
