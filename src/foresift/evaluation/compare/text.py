"""A comparison as text: its tables and its verdict."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from foresift.evaluation.compare.summary import (
    MIN_SPLITS,
    Row,
    Scores,
    beats_guessing,
    best_row,
    recommended_row,
)
from foresift.report.comparison_view import ALPHA, BASELINE, MAX_PAIRS
from foresift.report.drawing import shortened, words
from foresift.report.numbers import PLAIN

__all__ = ["as_text", "pairs_text", "recommendation", "render", "verdict"]

_FOOTNOTE = (
    "In brackets: the 95 % interval of the mean. p vs. best, p vs. all columns: p-values of the"
    " difference from the best row and from no selection, adjusted for the number of rows and for shared"
    f" training rows. = means not significantly worse than the best (p > {ALPHA}): with 95 % confidence"
    " the best row or one with = is truly the best. Rows can differ significantly although their"
    " intervals overlap, because scores of one split rise and fall together. There is no interval or"
    f" p-value for fewer than {MIN_SPLITS} splits, or where all scores or differences are equal. A row"
    " that failed where another did not is never the best. Stability is 1 if all splits select the same"
    " columns. --all-pairs (pairs() in Python) compares any two rows."
)


def verdict(rows: Sequence[Row]) -> str:
    """Say which method scores best on the first data set, and whether the others are significantly worse.

    Examples
    --------
    >>> row = Row("wine", "relieff", "nb", "3", "accuracy", 10, 0.9, 0.1, 0.85, 0.95, 3.0, best=True)
    >>> verdict([row])
    'relieff with 3 columns does best: accuracy 90.0 % (85.0 % to 95.0 %) with nb.'
    """
    scored = [row for row in rows if row.dataset == rows[0].dataset and row.scorer == rows[0].scorer]
    if all(math.isnan(row.mean) for row in scored):
        return "There are no results to compare yet."
    best = best_row(scored)
    where = f" on {shortened(best.dataset)}" if len({row.dataset for row in rows}) > 1 else ""
    score = PLAIN.with_interval(partial(PLAIN.score, best.scorer), best.mean, best.lower, best.upper)
    result = f"{words(best.scorer)} {score} with {shortened(best.classifier)}."
    if best.size == "all":
        said = f"Using all columns scores best{where}: {result}"
    else:
        said = f"{_who(best)} does best{where}: {result}"
    family = (best.dataset, best.classifier, best.scorer)
    others = [row.p_best for row in rows if (row.dataset, row.classifier, row.scorer) == family]
    judged = [p for p in others if not math.isnan(p)]
    worse = sum(p <= ALPHA for p in judged)
    if not judged:
        return said
    if not worse:
        return f"{said} The others are not significantly worse."
    rest = f"{len(judged)} other results with {shortened(best.classifier)}"
    return f"{said} {worse} of the {rest} {'is' if worse == 1 else 'are'} significantly worse."


def _who(row: Row) -> str:
    if row.size == "all":
        return "all columns"
    size = PLAIN.count(row.n_features)
    mean = "" if row.n_features == round(row.n_features) else " on average"
    return f"{shortened(row.method)} with {'1 column' if size == '1' else f'{size} columns'}{mean}"


def recommendation(rows: Sequence[Row], scores: Sequence[Scores] = ()) -> str:
    """Say which to take: the fewest columns that are not significantly worse; empty if nothing was tested.

    If the best row does not beat guessing, say that instead.

    Examples
    --------
    >>> about = ("nb", "3", "accuracy", 10, 0.9, 0.1, 0.85, 0.95)
    >>> best = Row("wine", "gain", *about, 3.0, best=True)
    >>> recommendation([best, Row("wine", "cfs", *about, 2.0, p_best_alone=0.3)])
    'Which to take: cfs with 2 columns, the fewest that are not worse in a comparison with the best ...'
    """
    row = recommended_row(rows, scores)
    if row is None and not beats_guessing(rows, scores):
        return (
            "None is recommended: the best accuracy is not significantly above that of always predicting the"
            " most frequent class."
        )
    if row is None:
        return ""
    family = [
        r for r in rows if (r.dataset, r.scorer, r.classifier) == (row.dataset, row.scorer, row.classifier)
    ]
    if row.best:
        smaller = [r for r in family if r.n_features < row.n_features and r.method != BASELINE]
        worse = smaller and all(r.p_best_alone <= ALPHA for r in smaller)
        why = f"; compared with it alone, every smaller set is worse (p <= {ALPHA})" if worse else ""
        return f"Which to take: {_who(row)}, the best{why}."
    best = next(r for r in family if r.best)
    score = partial(PLAIN.score, row.scorer)
    return (
        f"Which to take: {_who(row)}, the fewest that are not worse in a comparison with the best alone:"
        f" {words(row.scorer)} {score(row.mean)}, the best {score(best.mean)},"
        f" with {shortened(row.classifier)}."
    )


def as_text(
    rows: Sequence[Row], about: dict[str, Any], failures: Sequence[dict[str, Any]], width: int = 110
) -> str:
    """Return what `render` prints, without colours."""
    from rich.console import Console

    console = Console(file=io.StringIO(), width=width, color_system=None)
    render(rows, about, failures, console)
    return console.file.getvalue()  # type: ignore[attr-defined]


def render(
    rows: Sequence[Row], about: dict[str, Any], failures: Sequence[dict[str, Any]], console: Any
) -> None:
    """Print a table for every estimator and scorer, best mean first, to a `rich.console.Console`."""
    from rich.text import Text

    times = f", {about['repeats']} times" if about["repeats"] > 1 else ""
    size = f": {about['n_rows']} rows, {about['n_features']} columns" if "n_rows" in about else ""
    seed = f"; seed {about['random_state']}" if "random_state" in about else ""
    console.print(Text(f"{about['dataset']}{size}; {about['cv']}{times}{seed}"))
    for note in about.get("notes", ()):
        console.print(Text(note), style="yellow")
    several = len({row.dataset for row in rows}) > 1
    for key in dict.fromkeys((row.dataset, row.classifier, row.scorer) for row in rows):
        some = [row for row in rows if (row.dataset, row.classifier, row.scorer) == key]
        title = ", ".join(key if several else key[1:])
        some.sort(key=lambda row: (math.isnan(row.mean), -row.mean))
        console.print(_table(some, title, key[-1]))
    if rows:
        console.print(Text(_FOOTNOTE), style="dim")
    for failure in failures:
        if "size" in failure:
            continue
        who = f"{failure['method']} with {failure['classifier']}"
        console.print(Text(f"Failed {failure['count']} times: {who}: {failure['error']}"), style="red")
    for said in dict.fromkeys(f"{f['method']}: {f['error']}" for f in failures if "size" in f):
        console.print(Text(said))
    if any("size" not in failure for failure in failures) and about.get("store"):
        console.print(
            Text("Failures are kept in the store; --retry-failed (retry_failed=True) runs them again.")
        )


def _table(rows: Sequence[Row], title: str, scorer: str) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), title=Text(title), title_justify="left")
    table.add_column("method", overflow="fold")
    p_values = ("p vs.\nbest", "p vs. all\ncolumns")
    for heading in ("features", scorer, *p_values, "splits", "stability", "select, s"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        near = "best" if row.best else PLAIN.pvalue(row.p_best) + (" =" if row.p_best > ALPHA else "  ")
        interval = PLAIN.interval(partial(PLAIN.number, decimals=3), row.lower, row.upper)
        table.add_row(
            Text(row.method),
            _features(row.size, row.n_features),
            PLAIN.number(row.mean, 4) + (f" ({interval})" if interval else ""),
            near,
            PLAIN.pvalue(row.p_none),
            f"{row.n}" + (f", {row.n_failed} failed" if row.n_failed else ""),
            PLAIN.number(row.stability, 2),
            PLAIN.short(row.select_seconds),
        )
    return table


def pairs_text(pairs: Iterable[dict[str, Any]], place: str, width: int = 110) -> str:
    """Write what `Comparison.pairs` returns as tables, up to `MAX_PAIRS` pairs each.

    `place` says where those that are left out can be found.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console(file=io.StringIO(), width=width, color_system=None)
    families: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for pair in pairs:
        families.setdefault((pair["dataset"], pair["estimator"], pair["scorer"]), []).append(pair)
    several = len({dataset for dataset, _, _ in families}) > 1
    for key, some in families.items():
        title = f"All pairs: {', '.join(key if several else key[1:])}"
        console.print(_pairs_table(some[:MAX_PAIRS], title, key[-1]))
        if len(some) > MAX_PAIRS:
            console.print(Text(f"And {len(some) - MAX_PAIRS:,} more, of lower rows; {place}"))
    console.print(
        Text(
            "Difference: the first row minus the other, with its 95 % interval (accuracies in points). p: the"
            " p-value of this comparison alone. p, all pairs: adjusted by Holm's method for all pairs of the"
            " table. Use it unless you chose the pair before you saw the scores."
        ),
        style="dim",
    )
    return console.file.getvalue()  # type: ignore[attr-defined]


def _pairs_table(pairs: Sequence[dict[str, Any]], title: str, scorer: str) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), title=Text(title), title_justify="left")
    for name in ("higher mean", "lower mean"):
        table.add_column(name, overflow="fold")
        table.add_column("features", justify="right", no_wrap=True)
    for heading in ("difference", "p", "p, all\npairs"):
        table.add_column(heading, justify="right", no_wrap=True)
    write = partial(PLAIN.difference, scorer)
    for pair in pairs:
        table.add_row(
            Text(pair["method"]),
            _features(pair["size"], pair["n_features"]),
            Text(pair["other_method"]),
            _features(pair["other_size"], pair["other_n_features"]),
            PLAIN.with_interval(write, pair["difference"], pair["lower"], pair["upper"]),
            PLAIN.pvalue(pair["p"]),
            PLAIN.pvalue(pair["p_adjusted"]),
        )
    return table


def _features(size: str, n_features: float) -> str:
    return ("own: " if size == "own" else "") + PLAIN.count(n_features)
