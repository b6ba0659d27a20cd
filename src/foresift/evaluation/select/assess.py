"""How many of the ranked columns are enough, and whether they predict held-out rows as well as all."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from foresift.data.folds import Fold, in_blocks_of_time
from foresift.data.target import Quantity, Target
from foresift.evaluation.select.by_loss import Choice, choose_by_loss
from foresift.evaluation.select.fitted import Rows, is_ours, ranked, sizes_of
from foresift.evaluation.select.judging import Judge, Measured, is_skewed, logarithm
from foresift.evaluation.select.models import Model, boosting_scorer
from foresift.evaluation.select.plan import Plan
from foresift.evaluation.select.rows_of_folds import (
    drawn_rows,
    fills_parts,
    folds_of,
    in_parts,
    rare_classes,
    require_folds,
    why_not,
)
from foresift.models.scorer import SubsetScorer
from foresift.selectors.base import with_units
from foresift.selectors.size_cv import SizeCurve
from foresift.stats import Estimate, corrected_interval

__all__ = ["Assessment", "Check", "Errors", "Keep", "Rival", "assess", "numbers_rows"]


class Check(NamedTuple):
    """Scores of models of all columns, and of those that were selected without the rows scored."""

    full: Estimate
    kept: Estimate
    difference: Estimate


class Rival(NamedTuple):
    """The score of gradient boosting on all columns, and how far it is above that of the forest.

    Of the forests on all columns and on the selected ones that is the better one.
    """

    score: Estimate
    difference: Estimate


class Errors(NamedTuple):
    """Mean absolute errors in the unit of a quantity: of all columns, of the selected ones, and of none."""

    full: float
    kept: float
    none: float


RIVAL_PARTS = 3  # of the parts of a large table, in which gradient boosting is tried


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
        Scores of the best 1, 2, 3 ... columns; of a selector that does not rank all, of all columns only. A
        group counts as one, columns kept by request do not count, and with such there is a size 0.
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
        Columns that the selection kept in each fold, those kept by request included.
    baseline : float
        Score without any column: of the commonest class, 0.5, or of the mean.
    errors : Errors or None
        Of a quantity.
    log_error : float or None
        Mean absolute error of all columns if the logarithm of a skewed quantity is modelled.
    rival : Rival or None
        Gradient boosting beside the forest; None if another model is checked.
    held_out : tuple of two ndarrays
        A quantity and its predictions from the selected columns, of the rows of all folds; of classes their
        codes and the probabilities of all. Empty if a scorer of the user judges.
    labels : ndarray or None
        The classes of these codes.
    rare : list
        Classes with too few rows, which were left out.
    in_time : bool
        Whether the folds are blocks of time.
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
    errors: Errors | None = None
    log_error: float | None = None
    rival: Rival | None = None
    held_out: tuple[NDArray[Any], NDArray[np.float64]] = (np.empty(0), np.empty(0))
    rare: list[Any] = field(default_factory=list)
    in_time: bool = False
    n_copies: int = 0
    labels: NDArray[Any] | None = None

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
    cv: Any = None,
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
        Fitted to all rows, so that it shows what it ranks. It is cloned.
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
    cv : splitter, iterable or None
        Folds; None draws as many as the plan says.
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
    rare = rare_classes(rows)
    common = np.flatnonzero(rows.counting & ~np.isin(rows.strata, rare))
    if len(common) > plan.n_rows and not numbers_rows(cv):
        common = drawn_rows(rows, common, plan.n_rows, np.random.default_rng([seed, 2]))
    used = rows.take(common)
    plan = replace(plan, in_parts=plan.in_parts and cv is None and fills_parts(used, plan.n_folds))
    folds = folds_of(used, cv, plan.n_folds, seed, common, len(rows))
    plan = replace(plan, n_folds=len(folds))
    every = in_parts(folds) if plan.in_parts else folds
    folds = every[: plan.n_folds]
    outside, inside = plan.jobs(n_jobs)
    light = _lighter(selector, plan.tree_share, inside)
    sizes = sizes_of(selector, rows.table.n_columns, plan.n_sizes)
    lots, judge = plan.lots(by_curve=by_curve), model.judge(used.table.target)
    held_out = [_without(lot, every) for lot in lots]
    require_folds(folds, held_out, used, judge)
    scorer = model.scorer(used, judge, held_out, seed, inside)
    work = _Folds(used, every, lots, plan.n_folds, light, keep, sizes, judge, scorer)
    in_parallel = Parallel(n_jobs=outside, prefer="threads")
    ranked = dict(zip(lots, in_parallel(delayed(work.ranked)(lot, tell) for lot in lots), strict=True))
    numbered = range(plan.n_folds)
    curves = np.array([ranked[lots[i]].scores[0] for i in numbered])
    inner = [work.chosen(ranked, [lot for lot in lots if len(lot) == 2 and i in lot], i) for i in numbered]
    results = in_parallel(
        delayed(work.kept)(i, ranked[lots[i]].selector, choice) for i, choice in enumerate(inner)
    )
    kept, full = np.array([found.score for found in results]), curves[:, -1]  # the last size is all columns
    share, (least, most) = 0.0 if plan.in_parts else 1 / plan.n_folds, judge.bounds
    check = Check(
        corrected_interval(full, share, least, most),
        corrected_interval(kept, share, least, most),
        corrected_interval(kept - full, share, least - most, most - least),
    )
    choice = work.chosen(ranked, lots[: plan.n_folds])
    assert choice is not None
    curve = SizeCurve(sizes, curves, choice.size)
    n_kept = np.array([found.n_columns for found in results])
    baseline = float(np.mean([found.of_none for found in results]))
    errors, log_error = None, None
    if isinstance(judge, Measured):
        of_all = [ranked[lots[i]].error for i in numbered]
        of_kept, of_none = zip(*((found.error, found.error_of_none) for found in results), strict=True)
        errors = Errors(*(float(np.mean(some)) for some in (of_all, of_kept, of_none)))
        if model.back is None and is_skewed(used.table.target.values()):
            log_error = _error_of_logarithm(used, model, folds, seed, n_jobs)
    n_rival = RIVAL_PARTS if plan.in_parts else plan.n_folds
    compared = folds[:n_rival], max(full, kept, key=np.mean)[:n_rival]
    rival = _rival(used, judge, *compared, seed, share) if model.is_default else None
    y, predicted = (np.concatenate(part) for part in zip(*(f.held_out for f in results), strict=True))
    about = (len(common), share, n_kept, baseline, errors, log_error, rival, (y, predicted), rare.tolist())
    drawn = cv is None or isinstance(cv, numbers.Integral)
    in_time = drawn and in_blocks_of_time(len(folds), used.table.dependence)
    labels = getattr(used.table.target, "labels", None)
    return Assessment(judge, model, curve, choice, check, plan, *about, in_time, labels=labels)


def numbers_rows(cv: Any) -> bool:
    """Whether folds are given as row numbers: then all rows are used."""
    return cv is not None and not isinstance(cv, numbers.Integral) and not hasattr(cv, "split")


def _rival(
    rows: Rows,
    judge: Judge,
    folds: list[Fold],
    forests: NDArray[np.float64],
    seed: int,
    share: float,
) -> Rival | None:
    """Compare gradient boosting on all columns with the scores of forests."""
    scorer = boosting_scorer(rows, judge, folds, seed)
    if scorer is None:
        return None
    # Its own threads wait for each other at full speed: on a machine that is in use they take minutes.
    with threadpool_limits(1, user_api="openmp"):
        found = scorer.evaluate([(None, i, [fold.test]) for i, fold in enumerate(folds)])
    scores = np.array(
        [
            judge.score(one.scores[0], rows.table.target.take(fold.test), rows.weights_of(fold.test))
            for one, fold in zip(found, folds, strict=True)
        ]
    )
    least, most = judge.bounds
    difference = corrected_interval(scores - forests, share, least - most, most - least)
    return Rival(corrected_interval(scores, share, least, most), difference)


def _error_of_logarithm(rows: Rows, model: Model, folds: list[Fold], seed: int, n_jobs: int | None) -> float:
    """Mean absolute error of a model of all columns that predicts the logarithm."""
    logs, back = logarithm(rows.table.target.values())
    rows = replace(rows, table=replace(rows.table, target=Quantity(logs)))
    judge = Measured(back, float(np.var(logs)))
    scorer = model.scorer(rows, judge, folds, seed, n_jobs)
    columns = tuple(range(rows.table.n_columns))
    found = scorer.evaluate([(columns, i, [fold.test]) for i, fold in enumerate(folds)])
    errors = []
    for (_, test), outputs in zip(folds, found, strict=True):
        errors.append(judge.error(outputs.scores[0], rows.table.target.take(test), rows.weights_of(test)))
    return float(np.mean(errors))


def _lighter(selector: Any, tree_share: float, n_jobs: int | None) -> Any:
    """Clone with fewer trees, and without what only the whole table needs; with the same units."""
    light = clone(selector)
    if is_ours(selector):
        light = with_units(light, selector.units_)
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

    held_out: tuple[NDArray[Any], NDArray[np.float64]]
    n_columns: int
    score: float
    of_none: float
    error: float
    error_of_none: float


def _without(lot: tuple[int, ...], folds: list[Fold]) -> Fold:
    """The folds of a lot to judge by, and the rows that all of them learn from."""
    train = reduce(np.intersect1d, [folds[i].train for i in lot])
    return Fold(train, np.concatenate([folds[i].test for i in lot]))


@dataclass(frozen=True)
class _Folds:
    """Rankings and forests of the folds; a lot are the folds that are held out together."""

    rows: Rows
    folds: list[Fold]
    lots: list[tuple[int, ...]]
    n_folds: int  # of which the first lots are
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
        order = ranked(fitted)
        by_size = self.predict([order.best(size) for size in self.sizes], lot)
        folds = [(self.target(fold), self.rows.weights_of(self.folds[fold].test)) for fold in lot]
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
        asked_again = self.lots.index(lot) < self.n_folds
        return _Ranked(fitted if asked_again else None, np.array(scores).T, losses, error)

    def chosen(
        self, learnt: dict[tuple[int, ...], _Ranked], lots: list[tuple[int, ...]], without: int | None = None
    ) -> Choice | None:
        """Size that lots of folds suggest; those of two are scored on the fold that is not left out.

        Columns are to predict better than none, or than those that are kept by request.
        """
        if not lots:
            return None
        losses, of_none = [], []
        for lot in lots:
            place = 0 if without is None else 1 - lot.index(without)
            losses.append(learnt[lot].losses[place])
            of_none.append(self.losses(self.of_none(lot, lot[place]), lot[place]))
        by_size = np.concatenate(losses, axis=1)
        without_any = np.concatenate(of_none) if self.sizes[0] else by_size[0]
        return choose_by_loss(self.sizes, by_size, without_any)

    def kept(self, fold: int, fitted: Any, choice: Choice | None) -> _Kept:
        """How the columns that the selection keeps predict a fold."""
        columns, target = self.keep(fitted, choice), self.target(fold)
        weights = self.rows.weights_of(self.folds[fold].test)
        lot = self.lots[fold]
        none = outputs = self.of_none(lot, fold)
        if len(columns):
            outputs = self.predict([columns], lot)[0][0]
        judged = [
            judge(some, target, weights)
            for judge in (self.judge.score, self.judge.error)
            for some in (outputs, none)
        ]
        return _Kept(self.judge.predictions(outputs, target), len(columns), *judged)

    def predict(self, subsets: list[NDArray[np.intp]], lot: tuple[int, ...]) -> list[list[Any]]:
        """Outputs of models of the other folds, for each set of columns and each fold of a lot."""
        number, tests = self.lots.index(lot), [self.folds[i].test for i in lot]
        # Equal sets of columns make equal models.
        tasks = [(tuple(np.sort(columns).tolist()), number, tests) for columns in subsets]
        return [found.scores for found in self.scorer.evaluate(tasks)]

    def losses(self, outputs: Any, fold: int) -> NDArray[np.float64]:
        """Losses of the rows of a fold, by their weights; of rows that depend on each other, of their parts.

        Otherwise differences that a few groups make would look as sure as if all rows had made them.
        """
        test = self.folds[fold].test
        losses, weights = self.judge.losses(outputs, self.target(fold)), self.rows.weights_of(test)
        if len(losses) != len(test):
            return losses
        if weights is not None:
            losses = losses * weights / weights.mean()
        if self.rows.parts is None:
            return losses
        part = np.unique(self.rows.parts[test], return_inverse=True)[1]
        return np.asarray(np.bincount(part, losses) * (part.max() + 1) / len(part))

    def of_none(self, lot: tuple[int, ...], fold: int) -> Any:
        """What is predicted of a fold without any column, by the rows outside of a lot."""
        train = self.train(lot)
        weights = self.rows.weights_of(train), self.rows.weights_of(self.folds[fold].test)
        return self.judge.of_none(self.rows.table.target.take(train), self.target(fold), *weights)

    def target(self, fold: int) -> Target:
        """The target of a fold."""
        return self.rows.table.target.take(self.folds[fold].test)

    def train(self, lot: tuple[int, ...]) -> NDArray[np.intp]:
        """Training rows without a lot."""
        return self.scorer.folds[self.lots.index(lot)].train
