"""Which columns predict almost perfectly by themselves: they may be leaks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift.data.folds import Fold
from foresift.data.table import Table, make_table
from foresift.data.target import Quantity
from foresift.evaluation.select.fitted import Rows, ranked
from foresift.evaluation.select.judging import Judge
from foresift.evaluation.select.models import Model
from foresift.evaluation.select.rows_of_folds import NoFolds, drawn_rows, folds_of, rare_classes, why_not

__all__ = ["Alone", "almost_perfect"]

Columns = tuple[str | None, NDArray[np.intp]]  # and their name, as in `Alone`
ALMOST_PERFECT = 0.99  # a score of one column from which on we ask where the column comes from
MAX_ROWS = 2000  # that are used
N_FOLDS = 3
MAX_BINS = 50  # of a number, in the quick look
PROMISING = 0.5  # explained by the bins or categories of a column, from which on a forest looks at it
MAX_COLUMNS = 3  # that a forest looks at


class Alone(NamedTuple):
    """The score of a column on held-out rows, where 1 is perfect; None is the best column or group."""

    name: str | None
    metric: str
    score: float


def almost_perfect(rows: Rows, names: list[str], selector: Any, seed: int, n_jobs: int | None) -> list[Alone]:
    """Find columns that predict almost perfectly by themselves, the best one of a fitted selector first.

    A ranking need not have them first: that of a test corrects columns of many categories. So the means of
    the target in the categories or bins of every column are looked at, and forests on the most promising
    columns decide. The size curve of a check cannot: its first size is another column in every fold.

    Examples
    --------
    >>> from foresift.evaluation.select.fitted import fit_all
    >>> from foresift.selectors.filters import InfoGainSelector
    >>> y = np.arange(60) % 2
    >>> selector = InfoGainSelector()
    >>> rows = fit_all(selector, np.column_stack([y, np.arange(60) // 2, 3 - y]), y)
    >>> almost_perfect(rows, [*"abc"], selector, 0, 1)
    [Alone(name=None, metric='accuracy', score=1.0), Alone(name='c', metric='accuracy', score=1.0)]
    """
    order = ranked(selector)
    n_requested = int(order.ends[0])
    best, others = order.best(1)[n_requested:], order.columns[n_requested:]
    sets: list[Columns] = []
    if not n_requested:
        sets, others = [(None, best)], others[len(best) :]
    found = _scored(rows, names, sets, np.sort(others), seed, n_jobs)
    return [one for one in found if one.score >= ALMOST_PERFECT]


def _scored(
    rows: Rows,
    names: list[str],
    sets: list[Columns],
    others: NDArray[np.intp],
    seed: int,
    n_jobs: int | None,
) -> list[Alone]:
    """Cross-validate forests on sets of columns, and on promising ones among others; none of too few rows."""
    if why_not(rows) is not None:
        return []
    common = np.flatnonzero(rows.counting & ~np.isin(rows.strata, rare_classes(rows)))
    if len(common) > MAX_ROWS:
        common = drawn_rows(rows, common, MAX_ROWS, np.random.default_rng([seed, 5]))
    used = replace(rows, X=None).take(common)
    try:
        folds = folds_of(used, None, N_FOLDS, seed, common, len(rows))
    except NoFolds:
        return []
    model, target = Model(), used.table.target
    judge = model.judge(target)
    if min(len(fold.test) for fold in folds) < judge.least_rows:
        return []
    explained = _explained(used.table, others, folds[0])
    promising = np.argsort(-explained, kind="stable")[:MAX_COLUMNS]
    sets = [*sets, *((names[others[i]], others[[i]]) for i in promising if explained[i] >= PROMISING)]
    found = []
    for name, columns in sets:
        tables = _tables(used.table, columns)
        scores = [_score(replace(used, table=one), model, judge, folds, seed, n_jobs) for one in tables]
        found.append(Alone(name, judge.metric, max(scores)))
    return found


def _tables(table: Table, columns: NDArray[np.intp]) -> list[Table]:
    """What forests see: the columns; of one column of text with gaps also whether it is missing.

    Few of its categories may be in the rows of two folds, and a forest does not split by rare ones.
    """
    store, j = table.store, columns[0]
    found = [table.take(columns)]
    if len(columns) == 1 and store.is_nominal(j) and store.has_missing(j):
        missing = np.asarray(store.codes(j)) == store.n_values(j)
        plain = make_table({"missing": missing}, table.target.values(), task=table.target.task)
        found.append(replace(plain, target=table.target, dependence=table.dependence))
    return found


def _score(rows: Rows, model: Model, judge: Judge, folds: list[Fold], seed: int, n_jobs: int | None) -> float:
    """Mean score of models of all columns on held-out rows."""
    outputs = model.scorer(rows, judge, folds, seed, n_jobs).evaluate(
        [(None, number, [fold.test]) for number, fold in enumerate(folds)]
    )
    scores = [
        judge.score(output.scores[0], rows.table.target.take(fold.test), rows.weights_of(fold.test))
        for output, fold in zip(outputs, folds, strict=True)
    ]
    return float(np.mean(scores))


def _explained(table: Table, columns: NDArray[np.intp], fold: Fold) -> NDArray[np.float64]:
    """Share of the variance of held-out rows that the means of the bins of each column explain.

    The variance of classes is that of their indicators. Missing is a bin of its own. A category that is only
    held out has the mean of all known values: a column that numbers the rows explains nothing, one that
    numbers the rows of one class and is missing in the others explains all.

    Examples
    --------
    >>> from foresift.data.table import make_table
    >>> y, rows = np.arange(60) % 2, np.arange(60)
    >>> table = make_table({"copy": y, "number": rows.astype(str)}, y)
    >>> _explained(table, np.arange(2), Fold(rows[20:], rows[:20]))
    array([1., 0.])
    """
    target, train, test = table.target, fold.train, fold.test
    if isinstance(target, Quantity):
        centred = target.y - target.y[train].mean()
        classes, weights, held_out = np.zeros(len(train), np.intp), centred[train], centred[test, np.newaxis]
    else:
        classes, weights, held_out = target.codes[train], None, np.eye(target.n_outputs)[target.codes[test]]
    total = ((held_out - held_out.mean(axis=0)) ** 2).sum()
    n_outputs, out = held_out.shape[1], np.zeros(len(columns))
    for i, column in enumerate(columns.tolist()):
        bins, n_bins = _bins(table, column)
        own = bins[train]
        sums = np.bincount(own * n_outputs + classes, weights, n_bins * n_outputs).reshape(n_bins, n_outputs)
        sizes = np.bincount(own, minlength=n_bins)[:, np.newaxis]
        of_known = sums[:-1].sum(axis=0) / max(1, sizes[:-1].sum())
        means = np.where(sizes > 0, sums / np.maximum(sizes, 1), of_known)
        out[i] = max(0.0, total - ((held_out - means[bins[test]]) ** 2).sum())
    return out / total if total > 0 else out


def _bins(table: Table, column: int) -> tuple[NDArray[np.intp], int]:
    """The category of every row, or the bin of a number, about as many rows in each; missing is the last."""
    codes = np.asarray(table.store.codes(column), dtype=np.intp)
    n_values = table.store.n_values(column)
    counts = np.bincount(codes, minlength=n_values + 1)[:-1]
    n_known = int(counts.sum())
    n_bins = min(MAX_BINS, max(2, n_known // 5))
    if table.store.is_nominal(column) or n_values <= n_bins:
        return codes, n_values + 1
    of_value = np.maximum(np.cumsum(counts) - 1, 0) * n_bins // max(1, n_known)
    return np.append(of_value, n_bins)[codes], n_bins + 1
