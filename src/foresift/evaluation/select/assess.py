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

from foresift.data.folds import Fold, splits_of
from foresift.data.target import Target
from foresift.evaluation.harness.chosen import known_sizes
from foresift.evaluation.select.by_loss import Choice, choose_by_loss
from foresift.evaluation.select.fitted import N_STRATA, Rows, is_ours, order_of
from foresift.evaluation.select.judging import Judge
from foresift.evaluation.select.models import Model
from foresift.models.scorer import SubsetScorer
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
MIN_OF_A_CLASS = 6  # rows; rarer classes cannot be in every fold and beside any two of them
LEAST = 20  # rows


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
    """Scores of models of all columns, and of those that were selected without the rows scored."""

    full: Estimate
    kept: Estimate
    difference: Estimate


class Errors(NamedTuple):
    """Mean absolute errors in the unit of a quantity: of all columns, of the selected ones, and of none."""

    full: float
    kept: float
    none: float


@dataclass(frozen=True, eq=False)
class Assessment:
    """Results of the folds.

    Attributes
    ----------
    judge : Judge
        How predictions are scored.
    model : Model
        What predicts.
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
        Score without any column: of the commonest class, 0.5, or of the mean.
    errors : Errors or None
        Of a quantity.
    held_out : tuple of two ndarrays
        A quantity and its predictions from the selected columns, of the rows of all folds; empty of classes.
    rare : list
        Classes with too few rows, which were left out.
    n_copies : int
        Rows that are copies of others, and not by coincidence.
    """

    judge: Judge
    model: Model
    curve: SizeCurve
    choice: Choice
    check: Check
    plan: Plan
    n_rows: int
    test_share: float
    n_kept: NDArray[np.intp]
    baseline: float
    errors: Errors | None
    held_out: tuple[NDArray[np.float64], NDArray[np.float64]]
    rare: list[Any] = field(default_factory=list)
    n_copies: int = 0

    @property
    def metric(self) -> str:
        """What the scores are."""
        return self.judge.metric


# Given a fitted selector and what a curve suggests, or None: the columns to keep, maybe none.
Keep = Callable[[Any, Choice | None], NDArray[np.intp]]


def assess(
    rows: Rows,
    selector: Any,
    keep: Keep,
    plan: Plan,
    model: Model,
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
    model : Model
        What predicts.
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
    if why_not(rows) is not None:
        return None
    rare = _rare(rows)
    common = np.flatnonzero(~np.isin(rows.strata, rare))
    if len(common) > plan.n_rows:
        common = stratified_rows(common, rows.strata, plan.n_rows, np.random.default_rng([seed, 2]))
    used = rows.take(common)
    parts = _parts(used, plan, seed)
    outside, inside = plan.jobs(n_jobs)
    light = _lighter(selector, plan.tree_share, inside)
    n_columns = rows.table.n_columns
    ranks_all = is_ours(selector) or len(known_sizes(selector)) == n_columns
    sizes = sizes_for(n_columns) if ranks_all else np.array([n_columns])
    lots, judge = plan.lots(by_curve=by_curve), model.judge(used.table.target)
    scorer = model.scorer(used, judge, [_without(lot, parts) for lot in lots], seed, inside)
    work = _Folds(used, parts, lots, light, keep, sizes, judge, scorer)
    in_parallel = Parallel(n_jobs=outside, prefer="threads")
    ranked = dict(zip(lots, in_parallel(delayed(work.ranked)(lot, tell) for lot in lots), strict=True))
    folds = range(plan.n_folds)
    curves = np.array([ranked[i,].scores[0] for i in folds])
    inner = [work.chosen(ranked, [lot for lot in lots if len(lot) == 2 and i in lot], i) for i in folds]
    results = in_parallel(
        delayed(work.kept)(i, ranked[i,].selector, choice) for i, choice in enumerate(inner)
    )
    kept, full = np.array([found.score for found in results]), curves[:, -1]  # the last size is all columns
    share, (least, most) = 1 / plan.n_folds, judge.bounds
    check = Check(
        corrected_interval(full, share, least, most),
        corrected_interval(kept, share, least, most),
        corrected_interval(kept - full, share, least - most, most - least),
    )
    choice = work.chosen(ranked, [(i,) for i in folds])
    assert choice is not None
    curve = SizeCurve(sizes, curves, choice.size)
    n_kept = np.array([found.n_columns for found in results])
    baseline = float(np.mean([found.of_none for found in results]))
    errors = None
    if not np.isnan(results[0].error):
        of_all = [ranked[i,].error for i in folds]
        errors = Errors(*(float(np.mean(some)) for some in (of_all, *zip(*((f.error, f.error_of_none) for f in results)))))
    held_out = tuple(np.concatenate(pair) for pair in zip(*(f.held_out for f in results), strict=True))
    about = (len(common), share, n_kept, baseline, errors, held_out, rare.tolist())
    return Assessment(judge, model, curve, choice, check, plan, *about)


def _parts(rows: Rows, plan: Plan, seed: int) -> list[NDArray[np.intp]]:
    """Rows of every fold; classes, or tenths of a quantity, are strata."""
    return [fold.test for fold in splits_of(plan.n_folds, rows.table.target.strata(N_STRATA), seed)]


def _rare(rows: Rows) -> NDArray[np.intp]:
    """Classes with too few rows."""
    if rows.table.target.task == "regression":
        return np.empty(0, dtype=np.intp)
    counts = np.bincount(rows.strata)
    return np.flatnonzero((counts > 0) & (counts < MIN_OF_A_CLASS))


def why_not(rows: Rows) -> str | None:
    """Say why rows cannot be checked, or None if they can.

    Examples
    --------
    >>> from foresift.data.table import make_table
    >>> y = np.array([0, 1] * 8)
    >>> why_not(Rows(make_table(y[:, np.newaxis], y), y))
    'it needs 20 rows in classes of at least 6, and there are 16'
    """
    common = rows.strata[~np.isin(rows.strata, _rare(rows))]
    if rows.table.target.task == "regression":
        return f"it needs {LEAST} rows, and there are {len(rows)}" if len(rows) < LEAST else None
    if len(common) < LEAST:
        return f"it needs {LEAST} rows in classes of at least {MIN_OF_A_CLASS}, and there are {len(common)}"
    if len(np.unique(common)) < 2:
        return f"only one class has the {MIN_OF_A_CLASS} rows that it needs of each"
    return None


def stratified_rows(
    rows: NDArray[np.intp], strata: NDArray[np.intp], n_rows: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Rows drawn from every stratum in proportion, of each at least as many as the folds need."""
    drawn = []
    for label in np.unique(strata[rows]):
        own = rows[strata[rows] == label]
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


class _Ranked(NamedTuple):
    """What was learnt without a lot of folds; the selector only if it is asked again."""

    selector: Any
    scores: NDArray[np.float64]  # of every fold of the lot, and every size
    losses: list[NDArray[np.float64]]  # of every fold of the lot: of every size and row
    error: float  # of all columns, in the unit of a quantity, on the first fold


class _Kept(NamedTuple):
    """How the selected columns, and none, predict a fold."""

    n_columns: int
    score: float
    of_none: float
    error: float
    error_of_none: float
    held_out: tuple[NDArray[np.float64], NDArray[np.float64]]


def _without(lot: tuple[int, ...], parts: list[NDArray[np.intp]]) -> Fold:
    """The folds of a lot to judge by, and the rows of all others to learn from."""
    train = np.concatenate([part for i, part in enumerate(parts) if i not in lot])
    return Fold(np.sort(train), np.concatenate([parts[i] for i in lot]))


@dataclass(frozen=True)
class _Folds:
    """Rankings and forests of the folds; a lot are the folds that are held out together."""

    rows: Rows
    parts: list[NDArray[np.intp]]  # rows of every fold
    lots: list[tuple[int, ...]]
    selector: Any
    keep: Keep
    sizes: NDArray[np.intp]
    judge: Judge
    scorer: SubsetScorer

    def ranked(self, lot: tuple[int, ...], tell: Callable[[], object]) -> _Ranked:
        """Fit the selector without a lot, and score the best columns of every size on each of its folds.

        The selector is returned only if its selection is scored.
        """
        fitted = self.rows.take(self.train(lot)).fit(clone(self.selector))  # the rows go before forests grow
        order = order_of(fitted)
        by_size = self.predict([order[:size] for size in self.sizes], lot)
        folds = [(self.target(fold), self.weights(self.parts[fold])) for fold in lot]
        scores = [
            [self.judge.score(part, *fold) for part, fold in zip(of_size, folds, strict=True)]
            for of_size in by_size
        ]
        losses = [
            np.array([self.losses(of_size[place], fold) for of_size in by_size])
            for place, fold in enumerate(lot)
        ]
        tell()
        error = self.judge.error(by_size[-1][0], *folds[0])
        return _Ranked(fitted if len(lot) == 1 else None, np.array(scores).T, losses, error)

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
            of_none.append(self.losses(self.of_none(lot, lot[place]), lot[place]))
        return choose_by_loss(self.sizes, np.concatenate(losses, axis=1), np.concatenate(of_none))

    def kept(self, fold: int, fitted: Any, choice: Choice | None) -> _Kept:
        """How the columns that the selection keeps predict a fold."""
        columns, target = self.keep(fitted, choice), self.target(fold)
        weights = self.weights(self.parts[fold])
        none = outputs = self.of_none((fold,), fold)
        if len(columns):
            outputs = self.predict([columns], (fold,))[0][0]
        scores = (self.judge.score(some, target, weights) for some in (outputs, none))
        errors = (self.judge.error(some, target, weights) for some in (outputs, none))
        return _Kept(len(columns), *scores, *errors, self.judge.in_units(outputs, target))

    def predict(self, subsets: list[NDArray[np.intp]], lot: tuple[int, ...]) -> list[list[Any]]:
        """Outputs of models of the other folds, for each set of columns and each fold of a lot."""
        number, tests = self.lots.index(lot), [self.parts[i] for i in lot]
        # Equal sets of columns make equal models.
        tasks = [(tuple(np.sort(columns).tolist()), number, tests) for columns in subsets]
        return [found.scores for found in self.scorer.evaluate(tasks)]

    def losses(self, outputs: Any, fold: int) -> NDArray[np.float64]:
        """Losses of the rows of a fold, by their weights."""
        losses, weights = self.judge.losses(outputs, self.target(fold)), self.weights(self.parts[fold])
        if weights is None or len(losses) != len(weights):
            return losses
        return losses * weights / weights.mean()

    def of_none(self, lot: tuple[int, ...], fold: int) -> Any:
        """What is predicted of a fold without any column, by the rows outside of a lot."""
        train = self.train(lot)
        return self.judge.of_none(
            self.rows.table.target.take(train), self.target(fold), self.weights(train)
        )

    def target(self, fold: int) -> Target:
        """The target of a fold."""
        return self.rows.table.target.take(self.parts[fold])

    def weights(self, rows: NDArray[np.intp]) -> NDArray[np.float64] | None:
        """Weights of some rows."""
        return None if self.rows.weights is None else self.rows.weights[rows]

    def train(self, lot: tuple[int, ...]) -> NDArray[np.intp]:
        """Training rows without a lot."""
        return self.scorer.folds[self.lots.index(lot)].train
