"""What the report of a comparison shows, worked out from its dictionary: texts and coordinates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from foresift.report.drawing import (
    DASH,
    Scale,
    metric_text,
    number_text,
    pvalue_text,
    share_text,
    shortened,
    unknown,
    with_interval,
)
from foresift.report.plots.rank_diagram import rank_diagram
from foresift.report.plots.size_curve import MAX_CHARACTERS, curves, known_points

__all__ = ["view"]

ALPHA = 0.05  # a difference of this p-value or less counts
BAR = 200.0  # width of the drawing of a score
MAX_NAMES = 12  # features named per method
NONE = "none"  # the method that selects nothing


def view(d: dict[str, Any]) -> dict[str, Any]:
    r"""Work out what the template shows.

    Parameters
    ----------
    d : dict
        What `Comparison.to_dict()` returns: `about`, `rows`, `failures`, `selected`; and, where several data
        sets were compared, `ranks` as `rank_diagram` takes them.

    Returns
    -------
    dict
        Texts, not escaped yet, and coordinates.

    Examples
    --------
    >>> row = {"method": "relieff", "classifier": "nb", "size": "3", "scorer": "accuracy", "mean": 0.9}
    >>> shown = view({"rows": [row | {"n_features": 3, "best": True}]})
    >>> shown["families"][0]["rows"][0]["score"], shown["sentence"]
    ('90.0\xa0%', 'relieff with 3 columns does best: accuracy 90.0\xa0% with nb.')
    """
    about, rows = d.get("about") or {}, d.get("rows") or []
    families: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        families.setdefault(tuple(row.get(key) for key in ("dataset", "classifier", "scorer")), []).append(
            row
        )
    several = len({dataset for dataset, _, _ in families}) > 1
    return {
        "title": "Methods compared" + (f" on {shortened(about['dataset'])}" if about.get("dataset") else ""),
        "source": shortened(about.get("dataset") or ""),
        "created": (about.get("created") or "")[:10],
        "version": None,
        "sentence": _sentence(families),
        "notes": [str(note) for note in about.get("notes") or []],
        "tiles": _tiles(about, rows),
        "families": [_family(key, some, several) for key, some in families.items()],
        "ranks": rank_diagram(d["ranks"]) if d.get("ranks") else None,
        "selected": _selected(d.get("selected") or {}),
        "failures": [_failure(failure) for failure in d.get("failures") or []],
        "made": _made(about),
        "in_script": {},
    }


def _mean(row: dict[str, Any]) -> float:
    return -math.inf if unknown(row.get("mean")) else float(row["mean"])


def _words(scorer: Any) -> str:
    return shortened(scorer or "score").replace("_", " ")


def _size(row: dict[str, Any]) -> str:
    """How many columns: "all", or a number, which is a mean if the splits took different ones."""
    if row.get("method") == NONE or row.get("size") == "all":
        return "all"
    n: Any = row.get("n_features")
    if unknown(n):
        return _known(row.get("size"))
    return number_text(n, 0 if float(n).is_integer() else 1)


def _columns(row: dict[str, Any]) -> str:
    size = _size(row)
    if size == "own":
        return "the columns it selects"
    return f"{size} columns" if size != "1" else "1 column"


def _name(row: dict[str, Any]) -> str:
    return "no selection" if row.get("method") == NONE else _known(row.get("method"))


def _known(name: Any) -> str:
    return DASH if name is None else shortened(name)


def _score(row: dict[str, Any]) -> str:
    texts = (metric_text(row.get("scorer"), row.get(key)) for key in ("mean", "lower", "upper"))
    return with_interval(*texts)


def _interval(row: dict[str, Any]) -> str:
    low, high = (metric_text(row.get("scorer"), row.get(key)) for key in ("lower", "upper"))
    return "" if DASH in (low, high) else f"{low} to {high}"


def _sentence(families: dict[tuple[Any, ...], list[dict[str, Any]]]) -> str:
    """Which method does best, with the classifier it does best with, and how sure that is."""
    first = next(iter(families), None)
    scored = [row for key, some in families.items() if first and key[::2] == first[::2] for row in some]
    if not any(_mean(row) > -math.inf for row in scored):
        return "There are no results to compare yet."
    # A mean of the splits that did not fail is no equal of one of all splits.
    whole = [row for row in scored if not row.get("n_failed")] or scored
    best = max(whole, key=lambda row: (_mean(row), -(row.get("n_features") or 0)))
    family = families[tuple(best.get(key) for key in ("dataset", "classifier", "scorer"))]
    where = f" on {_known(best.get('dataset'))}" if len({key[0] for key in families}) > 1 else ""
    result = f"{_words(best.get('scorer'))} {_score(best)} with {_known(best.get('classifier'))}."
    if best.get("method") == NONE:
        said = f"Using all columns scores best{where}: {result}"
    else:
        said = f"{_name(best)} with {_columns(best)} does best{where}: {result}"
    judged = [row for row in family if not unknown(row.get("p_best"))]
    near = sum(row["p_best"] > ALPHA for row in judged)
    if judged and near == len(judged):
        said += " The others are not significantly worse."
    elif judged:
        worse = len(judged) - near
        said += f" {worse} of the {len(judged)} others {'is' if worse == 1 else 'are'} significantly worse."
    return said


def _tiles(about: dict[str, Any], rows: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    def count(key: str) -> str:
        return f"{len({row.get(key) for row in rows if row.get(key) != NONE}):,}"

    splits = max((row.get("n") or 0 for row in rows), default=0)
    tiles = [(count("method"), "methods"), (count("classifier"), "classifiers")]
    if splits:
        tiles.append((f"{splits:,}", "splits into training and test rows"))
    if count("dataset") not in ("0", "1"):
        tiles.append((count("dataset"), "data sets"))
    for key, what in (("n_rows", "rows"), ("n_features", "columns")):
        if about.get(key) is not None:
            tiles.append((f"{about[key]:,}", what))
    return tiles


def _family(key: tuple[Any, ...], rows: list[dict[str, Any]], several: bool) -> dict[str, Any]:
    """The table and the curve of one data set, classifier and scorer."""
    dataset, classifier, scorer = key
    keys = ("mean", "lower", "upper")
    scale = Scale.around([row.get(k) for row in rows for k in keys], 6, BAR - 6)
    lines = [
        {
            "method": _name(row),
            "features": _size(row),
            "n_features": _value(row.get("n_features")),
            "size": "own choice" if row.get("size") == "own" else "",
            "score": metric_text(scorer, row.get("mean")),
            "interval": _interval(row),
            "mean": _value(row.get("mean")),
            "places": [scale.at(row.get(k)) for k in keys],
            "mark": _mark(row),
            "p_best": pvalue_text(row.get("p_best")),
            "p_none": pvalue_text(row.get("p_none")),
            "p_none_value": _value(row.get("p_none")),
            "stability": number_text(row.get("stability"), 2),
            "stability_value": _value(row.get("stability")),
            "seconds": _seconds(row.get("select_seconds")),
            "seconds_value": _value(row.get("select_seconds")),
            "failed": row.get("n_failed") or 0,
        }
        for row in sorted(rows, key=lambda row: -_mean(row))
    ]
    title = f"{shortened(classifier)}, {_words(scorer)}" if classifier is not None else _words(scorer)
    return {
        "title": f"{_known(dataset)}: {title}" if several else title,
        "scorer": _words(scorer),
        "rows": lines,
        "curve": _curve(rows, scorer),
    }


def _value(value: Any) -> str:
    """A number for the script to sort by; empty if it is not known."""
    return "" if unknown(value) else f"{value:.6g}"


def _seconds(value: Any) -> str:
    return DASH if unknown(value) else f"{value:,.0f} s" if value >= 10 else f"{value:.2g} s"


def _mark(row: dict[str, Any]) -> str:
    if row.get("best"):
        return "best"
    p: Any = row.get("p_best")
    return "" if unknown(p) else "perhaps equal" if p > ALPHA else "worse"


def _curve(rows: Sequence[dict[str, Any]], scorer: Any) -> dict[str, Any] | None:
    """A line for every method that was tried at two sizes or more, and one across for no selection."""
    by_method: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if str(row.get("size", "")).isdigit():
            point = {"n": row.get("n_features"), "score": row.get("mean")}
            by_method.setdefault(_name(row), []).append(
                point | {"low": row.get("lower"), "high": row.get("upper")}
            )
    series = {name: known_points(points) for name, points in by_method.items()}
    series = {name: points for name, points in series.items() if len(points) > 1}
    if not series:
        return None
    everything: list[Any] = [row.get("mean") for row in rows if row.get("method") == NONE]
    across = None if not everything or unknown(everything[0]) else float(everything[0])
    drawn = curves(list(series.values()), scorer, names=list(series), across=across)
    best = max(series, key=lambda name: max(p["score"] for p in series[name]))
    for name, line in zip(series, drawn["lines"], strict=True):
        short = name if len(name) <= MAX_CHARACTERS else name[: MAX_CHARACTERS - 1] + "…"
        line |= {"name": name, "label": short, "best": name == best}
    return drawn | {"none": metric_text(scorer, across)}


def _selected(selected: dict[str, Any]) -> list[dict[str, Any]]:
    """Of every method and size the columns it selects most often."""
    lines = []
    for method, sizes in selected.items():
        by_size = sorted(
            (sizes or {}).items(), key=lambda item: (not item[0].isdigit(), len(item[0]), item[0])
        )
        for size, shares in by_size:
            named = sorted((shares or {}).items(), key=lambda item: -item[1])
            features = [(shortened(name), share_text(share)) for name, share in named[:MAX_NAMES]]
            what = "own choice" if size == "own" else f"{size}"
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
        ("Classes", len(classes) if isinstance(classes, list) else classes),
        ("Splits", about.get("cv")),
        ("Repeats", about.get("repeats")),
        ("Sizes", ", ".join(map(str, sizes)) if sizes else None),
        ("Seed", about.get("random_state")),
        ("Kept in", about.get("store")),
        ("Software", about.get("software")),
    ]
    return [(label, shortened(value)) for label, value in lines if value is not None]
