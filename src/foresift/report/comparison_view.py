"""The view of a comparison: its dictionary turned into the texts and coordinates of the HTML report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from foresift.report.drawing import BAR, Scale, shortened, words
from foresift.report.numbers import TYPESET, unknown
from foresift.report.plots.pareto import pareto_chart
from foresift.report.plots.rank_diagram import rank_diagram
from foresift.report.plots.size_curve import MAX_CHARACTERS, curves, known_points

__all__ = ["ALPHA", "BASELINE", "MAX_PAIRS", "NONE", "view"]

ALPHA = 0.05  # a difference of this p-value or less is significant
MAX_NAMES = 12  # features named per method
MAX_PAIRS = 200  # pairs of rows shown for each estimator and scorer
NONE, BASELINE = "none", "random"  # the methods that select nothing, and any columns


def view(d: dict[str, Any]) -> dict[str, Any]:
    """Make the view of a comparison.

    Parameters
    ----------
    d : dict
        What `Comparison.to_dict()` returns.

    Returns
    -------
    dict
        Texts, not escaped yet, and coordinates.

    Examples
    --------
    >>> row = {"method": "relieff", "classifier": "nb", "size": "3", "scorer": "accuracy", "mean": 0.9}
    >>> shown = view({"rows": [row | {"n_features": 3, "best": True}]})
    >>> [(line["method"], line["features"], line["mark"]) for line in shown["families"][0]["rows"]]
    [('relieff', '3', 'best')]
    """
    about, rows = d.get("about") or {}, d.get("rows") or []
    families: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        key = tuple(row.get(name) for name in ("dataset", "classifier", "scorer"))
        families.setdefault(key, []).append(row)
    several = len({dataset for dataset, _, _ in families}) > 1
    ordered = sorted(families.items(), key=partial(_place, list(families)))
    target = f", predicting {shortened(about['target'])}" if about.get("target") else ""
    return {
        "title": "Methods compared"
        + (f" on {shortened(about['dataset'])}" if about.get("dataset") else "")
        + target,
        "source": shortened(about.get("dataset") or ""),
        "created": (about.get("created") or "")[:10],
        "version": None,
        "sentence": str(d.get("verdict") or "There are no results to compare yet."),
        "recommendation": str(d.get("recommendation") or ""),
        "notes": [str(note) for note in about.get("notes") or []],
        "tiles": _tiles(about, rows),
        "families": [_family(key, some, several, d.get("recommended")) for key, some in ordered],
        "recommended": _columns_of(d.get("recommended"), d.get("selected") or {}),
        "titles": [(shortened(name), shortened(title)) for name, title in (d.get("titles") or {}).items()],
        "pairs": _pairs(d.get("pairs") or [], several),
        "ranks": rank_diagram(d["ranks"]) if d.get("ranks") else None,
        "selected": _selected(d.get("selected") or {}),
        "failures": [_failure(failure) for failure in d.get("failures") or []],
        "made": _made(about),
        "in_script": {},
    }


def _place(
    keys: list[tuple[Any, ...]], item: tuple[tuple[Any, ...], list[dict[str, Any]]]
) -> tuple[float, ...]:
    """Order of the tables: data sets and scorers as they come, the estimator with the best result first."""
    (dataset, _, scorer), rows = item
    before = [keys.index(key) for key in keys if (key[0], key[2]) == (dataset, scorer)]
    return min(before), -max(map(_mean, rows)), keys.index(item[0])


def _columns_of(row: dict[str, Any] | None, selected: dict[str, Any]) -> list[str]:
    """The columns that the recommended method selects most often, as many as it selects on average."""
    row = row or {}
    shares = (selected.get(str(row.get("method"))) or {}).get(str(row.get("size"))) or {}
    n: Any = row.get("n_features")
    best = sorted(shares, key=lambda name: -shares[name])
    return [shortened(name) for name in best[: 0 if unknown(n) else round(n)][:MAX_NAMES]]


def _mean(row: dict[str, Any]) -> float:
    return -math.inf if unknown(row.get("mean")) else float(row["mean"])


def _size(row: dict[str, Any]) -> str:
    """Number of columns: "all", or a number, which is a mean if the splits kept different numbers."""
    if row.get("method") == NONE or row.get("size") == "all":
        return "all"
    n = row.get("n_features")
    return _known(row.get("size")) if unknown(n) else TYPESET.count(n)


def _columns(row: dict[str, Any]) -> str:
    """Number of columns, with the noun and whose choice it is."""
    size = _size(row)
    own = ", own choice" if row.get("size") == "own" else ""
    return f"{size} {'column' if size == '1' else 'columns'}{own}"


def _name(row: dict[str, Any]) -> str:
    return "no selection" if row.get("method") == NONE else _known(row.get("method"))


def _known(name: Any) -> str:
    return TYPESET.missing if name is None else shortened(name)


def _tiles(about: dict[str, Any], rows: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    def count(key: str) -> str:
        return f"{len({row.get(key) for row in rows if row.get(key) != NONE}):,}"

    splits = max((row.get("n") or 0 for row in rows), default=0)
    tiles = [(count("method"), "methods"), (count("classifier"), "estimators")]
    if splits:
        tiles.append((f"{splits:,}", "splits into training and test rows"))
    if count("dataset") not in ("0", "1"):
        tiles.append((count("dataset"), "data sets"))
    for key, what in (("n_rows", "rows"), ("n_features", "columns")):
        if about.get(key) is not None:
            tiles.append((f"{about[key]:,}", what))
    return tiles


def _family(key: tuple[Any, ...], rows: list[dict[str, Any]], several: bool, chosen: Any) -> dict[str, Any]:
    """The table and the drawings of one data set, estimator and scorer; `chosen` is the recommended row."""
    scorer = key[-1]
    write = partial(TYPESET.score, scorer)
    keys = ("mean", "lower", "upper")
    # A baseline that fails would leave no room for the others; what is off the scale stands at its end.
    drawn = [row for row in rows if row.get("method") != BASELINE] or rows
    scale = Scale.around([row.get(k) for row in drawn for k in keys], 6, BAR - 6)
    lines = [
        {
            "method": _name(row),
            "features": _size(row),
            "n_features": _value(row.get("n_features")),
            "size": "own choice" if row.get("size") == "own" else "",
            "score": write(row.get("mean")),
            "interval": TYPESET.interval(write, row.get("lower"), row.get("upper")),
            "mean": _value(row.get("mean")),
            "places": [scale.at(row.get(k)) for k in keys],
            "mark": _mark(row),
            "p_best": TYPESET.pvalue(row.get("p_best")),
            "p_none": TYPESET.pvalue(row.get("p_none")),
            "p_none_value": _value(row.get("p_none")),
            "stability": TYPESET.number(row.get("stability"), 2),
            "stability_value": _value(row.get("stability")),
            "seconds": _seconds(row.get("select_seconds")),
            "seconds_value": _value(row.get("select_seconds")),
            "failed": row.get("n_failed") or 0,
        }
        for row in sorted(rows, key=lambda row: -_mean(row))
    ]
    return {
        "title": _title(key, several),
        "scorer": words(scorer),
        "rows": lines,
        "curve": _curve(rows, scorer),
        "pareto": _pareto(rows, scorer, chosen),
    }


def _title(key: tuple[Any, ...], several: bool) -> str:
    dataset, estimator, scorer = key
    title = f"{shortened(estimator)}, {words(scorer)}" if estimator is not None else words(scorer)
    return f"{_known(dataset)}: {title}" if several else title


def _pairs(pairs: Sequence[dict[str, Any]], several: bool) -> list[dict[str, Any]]:
    """Tables of all pairs of rows, of those with the best rows if there are many."""
    families: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for pair in pairs:
        key = tuple(pair.get(name) for name in ("dataset", "estimator", "scorer"))
        families.setdefault(key, []).append(pair)
    return [
        {
            "title": _title(key, several),
            "rows": [_pair(pair, key[-1]) for pair in some[:MAX_PAIRS]],
            "n": len(some),
        }
        for key, some in families.items()
    ]


def _pair(pair: dict[str, Any], scorer: Any) -> dict[str, Any]:
    write = partial(TYPESET.difference, scorer)
    other = {name: pair.get(f"other_{name}") for name in ("method", "size", "n_features")}
    return {
        "names": [(_name(row), _columns(row)) for row in (pair, other)],
        "difference": write(pair.get("difference")),
        "interval": TYPESET.interval(write, pair.get("lower"), pair.get("upper")),
        "p": TYPESET.pvalue(pair.get("p")),
        "p_adjusted": TYPESET.pvalue(pair.get("p_adjusted")),
    }


def _pareto(rows: Sequence[dict[str, Any]], scorer: Any, chosen: Any) -> dict[str, Any] | None:
    """All results as points: the number of columns and the score."""
    points = [{"n": row.get("n_features"), "score": row.get("mean"), "name": _name(row)} for row in rows]
    drawn = pareto_chart(points, scorer)
    here = next((row for row in rows if row == chosen), None)
    if drawn is not None:
        for point in drawn["points"]:
            point["now"] = here is not None and (_name(here), here.get("n_features")) == (
                point["name"],
                point["n"],
            )
    return drawn


def _value(value: Any) -> str:
    """A number for the script to sort by; empty if it is not known."""
    return "" if unknown(value) else f"{value:.6g}"


def _seconds(value: Any) -> str:
    return TYPESET.missing if unknown(value) else f"{TYPESET.short(value, 2)} s"


def _mark(row: dict[str, Any]) -> str:
    if row.get("best"):
        return "best"
    p: Any = row.get("p_best")
    return "" if unknown(p) else "not significantly worse" if p > ALPHA else "worse"


def _curve(rows: Sequence[dict[str, Any]], scorer: Any) -> dict[str, Any] | None:
    """A line for every method with two sizes or more, and a level for no selection."""
    by_method: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if str(row.get("size", "")).isdigit():
            point = {"n": row.get("n_features"), "score": row.get("mean")}
            point |= {"low": row.get("lower"), "high": row.get("upper")}
            by_method.setdefault(_name(row), []).append(point)
    series = {name: known_points(points) for name, points in by_method.items()}
    series = {name: points for name, points in series.items() if len(points) > 1}
    if not series:
        return None
    everything: list[Any] = [row.get("mean") for row in rows if row.get("method") == NONE]
    across = None if not everything or unknown(everything[0]) else float(everything[0])
    drawn = curves(list(series.values()), scorer, names=list(series), across=across)
    best = max(series, key=lambda name: max(p["score"] for p in series[name]))
    marked = next((_name(row) for row in rows if row.get("best")), best)
    best = marked if marked in series else best
    for name, line in zip(series, drawn["lines"], strict=True):
        line |= {"name": name, "label": shortened(name, MAX_CHARACTERS), "best": name == best}
    return drawn | {"none": TYPESET.score(scorer, across)}


def _selected(selected: dict[str, Any]) -> list[dict[str, Any]]:
    """The columns that every method selects most often, by size."""
    lines = []
    for method, sizes in selected.items():
        for size in sorted(sizes or {}, key=lambda size: (not size.isdigit(), len(size), size)):
            named = sorted((sizes[size] or {}).items(), key=lambda item: -item[1])
            features = [(shortened(name), TYPESET.share(share)) for name, share in named[:MAX_NAMES]]
            what = "own choice" if size == "own" else size
            lines.append({"method": shortened(method), "size": what, "features": features, "n": len(named)})
    return lines


def _failure(failure: dict[str, Any]) -> str:
    parts = [shortened(failure[key]) for key in ("dataset", "method", "classifier") if failure.get(key)]
    times = f" ({failure['count']} times)" if failure.get("count") else ""
    return f"{', '.join(parts)}: {shortened(failure.get('error') or 'failed')}{times}"


def _made(about: dict[str, Any]) -> list[tuple[str, str]]:
    classes, sizes = about.get("classes"), about.get("sizes")
    lines = [
        ("Data", about.get("dataset")),
        ("Target", about.get("target") or ("a quantity" if about.get("task") == "regression" else None)),
        ("Classes", (len(classes) or None) if isinstance(classes, list) else classes),
        ("Splits", about.get("cv")),
        ("Repeats", about.get("repeats")),
        ("Sizes", ", ".join(map(str, sizes)) if sizes else None),
        ("Seed", about.get("random_state")),
        ("Results stored in", about.get("store")),
        ("Software", about.get("software")),
    ]
    return [(label, shortened(value)) for label, value in lines if value is not None]
