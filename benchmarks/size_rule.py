"""Rules for the number of columns that `select` keeps, compared on stored curves.

`collect` ranks the columns on the training rows of every outer fold, and stores once what any rule needs: the
losses of the inner held-out rows for every size of the curve (Brier score, error, log loss), and the scores
on the outer test rows of forests on so many columns. `rules` then evaluates many rules on the stored file.

    python benchmarks/size_rule.py collect curves.pkl [--tables iris,glass]
    python benchmarks/size_rule.py rules curves.pkl [--worst 3]

Repeats begin at 1000: the folds are others than those of `nested_select.py`, on which the rule is judged.
Large tables are represented by a sample of their rows. A run takes up where the last one stopped.
"""

from __future__ import annotations

import argparse
import os
import pickle
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from nested_select import GENERATED, N_FOLDS, data_of, scores
from sklearn.model_selection import StratifiedKFold

from foresift.data.folds import make_folds
from foresift.data.slices import take_rows
from foresift.datasets import available
from foresift.evaluation.select.assess import _lighter
from foresift.evaluation.select.by_loss import BEATS
from foresift.evaluation.select.choosing import make
from foresift.evaluation.select.fitted import fit_all, order_of
from foresift.evaluation.select.models import Model
from foresift.evaluation.select.plan import plan_for
from foresift.evaluation.select.rows_of_folds import rare_classes, stratified_rows
from foresift.selectors.size_cv import sizes_for

FIRST_REPEAT = 1000
MAX_ROWS = 2500  # of a table; of more, as many are drawn
MAX_REPEATS, REPEATED_CELLS = 8, 40_000  # small tables are repeated
BRIER, ERROR, LOG = range(3)
MOST = 10, 20, 30, 1000  # columns that are not redundant and kept in any case


class Curve(NamedTuple):
    """What is known of an outer fold.

    `losses` has the shape (3, n_sizes, n_rows), `of_none` the shape (3, n_rows), and `outer` the accuracy and
    the area under the curve on the test rows for a number of columns.
    """

    sizes: np.ndarray
    losses: np.ndarray
    of_none: np.ndarray
    outer: dict[int, tuple[float, float]]
    n_relevant: int
    n_representative: int
    n_columns: int


def losses_of(probabilities: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Brier score, error and log loss of every row."""
    own = probabilities[np.arange(len(y)), y]
    n_classes = probabilities.shape[1]
    wrong = probabilities.argmax(axis=1) != y
    brier = (probabilities**2).sum(axis=1) - 2 * own + 1
    return np.array([brier, wrong, -np.log((50 * own + 1 / n_classes) / 51)])


def inner_losses(rows: Any, selector: Any, sizes: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Losses of held-out rows as `select` computes them, for every size and without any column."""
    plan = plan_for(len(rows), rows.table.n_columns)
    used = np.flatnonzero(~np.isin(rows.strata, rare_classes(rows)))
    if len(used) > plan.n_rows:
        used = stratified_rows(used, rows.strata, plan.n_rows, np.random.default_rng([seed, 2]))
    rows = rows.take(used)
    folds = make_folds(rows.table, None, plan.n_folds, seed)
    model = Model()
    scorer = model.scorer(rows, model.judge(rows.table.target), folds, seed, 1)
    light, codes = _lighter(selector, plan.tree_share, 1), rows.table.target.codes.astype(np.intp)
    of_sizes, of_none = [], []
    for number, fold in enumerate(folds):
        order = order_of(rows.take(np.sort(fold.train)).fit(light))
        tasks = [(tuple(np.sort(order[:size]).tolist()), number, [fold.test]) for size in sizes]
        y = codes[fold.test]
        of_sizes.append([losses_of(found.scores[0], y) for found in scorer.evaluate(tasks)])
        shares = np.bincount(codes[fold.train], minlength=rows.table.target.n_classes) / len(fold.train)
        of_none.append(losses_of(np.tile(shares, (len(y), 1)), y))
    joined = np.concatenate([np.array(part) for part in of_sizes], axis=2)  # size, loss, row
    return joined.transpose(1, 0, 2).astype(np.float32), np.concatenate(of_none, axis=1)


def curve_of(X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray, seed: int) -> Curve:
    """Losses inside the training rows, and scores on the test rows."""
    selector = make("auto", None, 0.1, "fdr", {}, seed, 1)
    rows = fit_all(selector, take_rows(X, train), y[train])
    order, n_columns = order_of(selector), rows.table.n_columns
    n_relevant, n_representative = int(selector.relevant_.sum()), int(selector.representative_.sum())
    sizes = sizes_for(n_columns)
    wanted = {*sizes.tolist(), n_relevant, *(min(n_representative, most) for most in MOST)}
    outer = {size: scores(X, y, train, test, order[:size].tolist()) for size in sorted(wanted)}
    inner = inner_losses(rows, selector, sizes, seed)
    return Curve(sizes, *inner, outer, n_relevant, n_representative, n_columns)


def curves_of(name: str, known: dict[Any, Curve]) -> Iterator[tuple[tuple[str, int, int], Curve]]:
    """Outer folds of a table that are not known yet."""
    X, y = data_of(name)
    if len(y) > MAX_ROWS and name not in GENERATED:
        some = np.sort(np.random.default_rng(FIRST_REPEAT).permutation(len(y))[:MAX_ROWS])
        X, y = take_rows(X, some), y[some]
    n_repeats = min(MAX_REPEATS, 1 + REPEATED_CELLS // (len(y) * np.shape(X)[1]))
    for repeat in range(FIRST_REPEAT, FIRST_REPEAT + n_repeats):
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat).split(y, y)
        for fold, (train, test) in enumerate(folds):
            if (name, repeat, fold) not in known:
                yield (name, repeat, fold), curve_of(X, y, train, test, repeat)


def collect(path: Path, names: list[str]) -> None:
    """Add the curves of all outer folds that the file does not have."""
    known = pickle.loads(path.read_bytes()) if path.exists() else {}
    for name in names:
        started = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            known.update(dict(curves_of(name, known)))
        path.write_bytes(pickle.dumps(known))
        n_folds = sum(key[0] == name for key in known)
        print(f"{name}: {n_folds} folds, {time.process_time() - started:.0f} s", flush=True)


# What a rule knows: the curve, and the losses that it goes by.
Rule = Callable[[Curve, np.ndarray, np.ndarray], int]


def first(which: np.ndarray) -> int:
    """Place of the first true one; the last place if there is none."""
    return int(which.argmax()) if which.any() else len(which) - 1


def compared(losses: np.ndarray, place: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean difference of every size from one of them, and its standard error."""
    differences = losses - losses[place]
    return differences.mean(axis=1), differences.std(axis=1, ddof=1) / np.sqrt(losses.shape[1])


def best(losses: np.ndarray) -> int:
    """Place of the least mean loss."""
    means = losses.mean(axis=1)
    return first(means <= means.min() + 1e-12)


def all_relevant(curve: Curve, losses: np.ndarray, of_none: np.ndarray) -> int:
    """Every relevant column."""
    return curve.n_relevant


def within(curve: Curve, losses: np.ndarray, of_none: np.ndarray, errors: float) -> int:
    """Smallest size that is worse than the best by some standard errors of the difference at most."""
    mean, error = compared(losses, best(losses))
    return int(curve.sizes[first(mean <= errors * error + 1e-12)])


def not_inferior(curve: Curve, losses: np.ndarray, of_none: np.ndarray, share: float, errors: float) -> int:
    """Smallest size that gives away at most a share of what all relevant columns gain, or those.

    Some standard errors are added to what it gives away.
    """
    last = max(0, int(np.searchsorted(curve.sizes, curve.n_relevant, side="right")) - 1)
    mean, error = compared(losses[: last + 1], last)
    allowed = share * (of_none.mean() - losses[last].mean())
    return int(curve.sizes[first(mean + errors * error <= allowed + 1e-12)])


def not_redundant(curve: Curve, losses: np.ndarray, of_none: np.ndarray, errors: float, most: int) -> int:
    """As `within`, but no fewer than the columns that are not redundant, up to a number of them."""
    return max(within(curve, losses, of_none, errors), min(curve.n_representative, most))


def candidates() -> Iterator[tuple[str, Rule, int]]:
    """Names, rules and the losses that they go by."""
    yield "all relevant columns", all_relevant, BRIER
    for loss, name in ((BRIER, "Brier"), (ERROR, "error"), (LOG, "log loss")):
        for errors in (0, 0.5, 1):
            yield f"within {errors:g} errors, {name}", partial(within, errors=errors), loss
    for share in (0.01, 0.03):
        for errors in (0, 1, 1.645):
            rule = partial(not_inferior, share=share, errors=errors)
            yield f"gives away {share:g}, {errors:g} errors", rule, BRIER
    for most in MOST:
        for errors in (0, 0.5, 1, 1.645):
            rule = partial(not_redundant, errors=errors, most=most)
            yield f"not redundant, up to {most}, within {errors:g}", rule, BRIER


def kept_by(curve: Curve, rule: Rule, loss: int) -> int:
    """Columns that are kept: as `select` does, no more than are relevant; of none only if they predict."""
    losses, of_none = curve.losses[loss].astype(float), curve.of_none[loss]
    size = rule(curve, losses, of_none)
    if curve.n_relevant:
        return min(size, curve.n_relevant)
    mean, error = compared(np.vstack([losses, of_none]), -1)
    place = int(np.searchsorted(curve.sizes, size))
    return size if size and mean[place] < -BEATS * error[place] else 0


def rules(path: Path, n_worst: int) -> None:
    """Print a line for every rule: differences from all columns, and the worst tables."""
    known = pickle.loads(path.read_bytes())
    names = list(dict.fromkeys(key[0] for key in known))
    print("| rule | points | AUC | kept | worst tables |\n| --- | --- | --- | --- | --- |")
    for title, rule, loss in candidates():
        means = []
        for name in names:
            folds = []
            for curve in (curve for key, curve in known.items() if key[0] == name):
                size = kept_by(curve, rule, loss)
                lost = np.subtract(curve.outer[size], curve.outer[curve.n_columns])
                folds.append((100 * lost[0], lost[1], size / curve.n_columns))
            means.append(np.nanmean(folds, axis=0))
        points, area, share = np.nanmean(means, axis=0)
        order = np.argsort([row[0] for row in means])[:n_worst]
        worst = ", ".join(f"{names[i]} {means[i][0]:+.1f}" for i in order)
        print(f"| {title} | {points:+.2f} | {area:+.4f} | {share:.2f} | {worst} |")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["collect", "rules"])
    parser.add_argument("curves", type=Path)
    parser.add_argument("--tables", default="")
    parser.add_argument("--worst", type=int, default=3)
    options = parser.parse_args()
    if options.what == "rules":
        rules(options.curves, options.worst)
        return
    by_size = sorted((place.rows * place.features, place.name) for place in available() if place.rows > 30)
    names = options.tables.split(",") if options.tables else [*(name for _, name in by_size), *GENERATED]
    collect(options.curves, names)


if __name__ == "__main__":
    main()
