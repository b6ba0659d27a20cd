"""The view of a selection: its dictionary turned into the texts and coordinates of the HTML report."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from itertools import pairwise
from typing import Any

from foresift.report.association_view import association_view
from foresift.report.check_view import baseline_text, check_view, stability_view
from foresift.report.classes_view import confusion_view, probabilities_view
from foresift.report.column_view import MAX_CARDS, Pictures, pictures_of
from foresift.report.drawing import BAR, Scale, shortened, words
from foresift.report.numbers import TYPESET, counted, unknown
from foresift.report.plots.size_curve import curves, hit_areas, known_points
from foresift.report.quantity_view import histogram_view, predictions_view
from foresift.report.ranking_view import (
    STATES,
    decisive_pvalue,
    feature_rows,
    interval_note,
    remarks_of,
    why_of,
)
from foresift.report.unit_view import COLUMNS, lengths, size_text

__all__ = ["FIRST_ROWS", "MAX_FEATURES", "view"]

FIRST_ROWS = 200  # rows in the document itself, for printing and where no script runs
PAGE = 50  # rows that the script shows at first; it adds the others on demand
MAX_FEATURES = 12_000  # features in the document; of more, the kept ones and the best
MAX_LINES = 200  # rows of the tables of columns
MAX_REMARKS = 2000  # columns that the script has remarks on
LONG_SENTENCE = 180  # characters; longer ones are set in smaller letters
OPTIONAL = ("interval", "chance", "pvalue", "frequency")  # not given by every method
ERRORS = {
    "fdr": "at most {} of the columns called relevant are expected to be false discoveries",
    "fwer": "the probability of at least one false discovery is at most {}",
    "none": "each irrelevant column passes with probability {}",
}
KEPT = {  # by the goal of the method auto
    "compact": "one relevant column of each redundant group, and more where models predict better with them",
    "all": "every relevant column",
}
# Marks that change the direction of writing, and so of the quotes and commas of a list.
TURNS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def view(d: dict[str, Any]) -> dict[str, Any]:
    """Make the view of a selection.

    Parameters
    ----------
    d : dict
        What `Selection.to_dict()` returns.

    Returns
    -------
    dict
        Texts, not escaped yet, and coordinates; `in_script` is what the script of the page needs.

    Examples
    --------
    >>> shown = view({"verdict": "None.", "features": [{"name": "age", "rank": 1, "score": 0.25}]})
    >>> shown["rows"][0]["score"], shown["has"]["pvalue"], shown["curve"]
    ('0.250', False, None)
    """
    features = sorted(d.get("features") or [], key=lambda f: _or(f.get("rank"), math.inf))
    n_features = len(features)
    n_kept = sum(bool(f.get("kept")) for f in features)
    known = [f.get("relevant") for f in features if f.get("relevant") is not None]
    if n_features > MAX_FEATURES:
        known_ones = sorted(range(n_features), key=lambda i: (not features[i].get("kept"), i))[:MAX_FEATURES]
        features = [features[i] for i in sorted(known_ones)]
    rows = feature_rows(features)
    data, method = d.get("data") or {}, d.get("method") or {}
    curve = _curve(d.get("curve"))
    pictures = pictures_of(d, data.get("target"))
    drawn = _for_script(features, rows, curve, d.get("curve"), n_kept)
    return {
        "title": _title(d, data),
        "source": _file(d),
        "target": shortened(data["target"]) if data.get("target") else None,
        "created": (d.get("created") or "")[:10],
        "version": d.get("foresift"),
        **_said(d),
        "tiles": _tiles(d, data, n_features, n_kept, known),
        "rows": rows[:FIRST_ROWS],
        "blank": feature_rows([{"name": ""}])[0],
        "n_features": n_features,
        "n_known": len(features),
        "n_kept": n_kept,
        "n_relevant": sum(known) if known else None,
        "limit": "" if method.get("alpha") is None else f"{method['alpha']:g}",
        "adjusts": decisive_pvalue(features) == "adjusted_pvalue",
        "odd": interval_note(features),
        "cards": _cards(features, rows, pictures),
        "legend": None if pictures is None else pictures.legend(),
        "has": {cell: any(row[cell] != TYPESET.missing for row in rows) for cell in OPTIONAL},
        "curve": curve,
        "list": _python_list([f["name"] for f in features if f.get("kept")], n_kept),
        "order": method.get("order") or "",
        "check": check_view(d.get("check"), n_features, n_kept),
        "stability": stability_view(d.get("stability")),
        "groups": _groups(features),
        "associations": association_view(d.get("associations"), features),
        "confusion": confusion_view(d.get("check")) if n_kept else None,
        "probabilities": probabilities_view(d.get("check")) if n_kept else None,
        "n_doubles": sum(bool(f.get("kept")) and f.get("redundant_with") is not None for f in features),
        "classes": _classes(data),
        "histogram": histogram_view(data.get("quantity")),
        "predictions": predictions_view(d.get("check")) if n_kept else None,
        "decisions": _decisions(data),
        "left_out": [
            (shortened(c["name"]), shortened(c.get("reason") or "")) for c in _list(data, "columns_left_out")
        ],
        "most_lines": MAX_LINES,
        "error": _error(method),
        "kept": KEPT.get(str(method.get("goal"))),
        "certainty": d.get("certainty"),
        "made": _made(d, data, method),
        "parameters": _parameters(method),
        "cite": _cite(d, method),
        "requested": any(f.get("requested") for f in features),
        "in_groups": any(f.get("group") is not None for f in features),
        "in_script": drawn | _pictures_for_script(features, pictures, why_of(method, d.get("check")), drawn),
    }


def _cards(
    features: list[dict[str, Any]], rows: list[dict[str, Any]], pictures: Pictures | None
) -> list[dict[str, Any]]:
    """Pictures of the kept columns, with what is to be said of each."""
    if pictures is None:
        return []
    cards: list[dict[str, Any]] = []
    for feature, row in zip(features, rows, strict=True):
        drawn = pictures.draw(feature["name"], feature.get("relevant")) if feature.get("kept") else None
        if drawn is not None and len(cards) < MAX_CARDS:
            profile = pictures.profiles["columns"][feature["name"]]
            cards.append({"name": row["name"], **drawn, "remarks": remarks_of(feature, profile)})
    return cards


def _pictures_for_script(
    features: list[dict[str, Any]], pictures: Pictures | None, why: dict[str, str], drawn: dict[str, Any]
) -> dict[str, Any]:
    """What the script draws when a row is opened, and says about it."""
    profiles = {} if pictures is None else pictures.profiles["columns"]
    used = len(json.dumps(drawn, ensure_ascii=False).encode("utf-8", "replace")) + len(
        "".join(str(f["name"]) for f in features if f.get("kept")).encode("utf-8", "replace")
    )
    texts: dict[str, int] = {}  # many columns have the same
    remarks = {}
    for i, feature in enumerate(features[:MAX_REMARKS]):
        if said := remarks_of(feature, profiles.get(feature["name"])):
            remarks[i] = [texts.setdefault(text, len(texts)) for text in said]
    return {
        "why": why,
        "remarks": remarks,
        "remark_texts": list(texts),
        "legend": None if pictures is None else pictures.legend(),
        "pictures": None if pictures is None else pictures.for_script(features, used),
    }


def _said(d: dict[str, Any]) -> dict[str, Any]:
    """The verdict, its details and the warnings."""
    verdict = str(d.get("verdict") or "")
    details, notes = ([str(text) for text in d.get(key) or []] for key in ("details", "notes"))
    return {"sentence": verdict, "long": len(verdict) > LONG_SENTENCE, "details": details, "notes": notes}


def _or(value: Any, other: Any) -> Any:
    return other if unknown(value) else value


def _list(data: dict[str, Any], key: str) -> list[dict[str, Any]]:
    return data.get(key) or []


def _title(d: dict[str, Any], data: dict[str, Any]) -> str:
    target = shortened(data["target"]) if data.get("target") else "the target"
    return f"What matters for {target}" + (f" in {_file(d)}" if _file(d) else "")


def _file(d: dict[str, Any]) -> str:
    """Name of the file without its folders."""
    return shortened(re.split(r"[/\\]", d.get("source") or "")[-1])


def _tiles(
    d: dict[str, Any], data: dict[str, Any], n_features: int, n_kept: int, known: list[bool]
) -> list[tuple[str, str]]:
    """Numbers and their labels, for the row under the verdict."""
    tiles = [(f"{n_kept:,}", f"of {n_features:,} columns kept")]
    if known:
        tiles.append((f"{sum(known):,}", "relevant"))
    check = d.get("check") or {}
    if (check.get("kept") or {}).get("score") is not None:
        metric = check.get("metric")
        text = TYPESET.score(metric, check["kept"]["score"])
        full = (check.get("full") or {}).get("score")
        beside = "" if full is None else f", {TYPESET.score(metric, full)} with all columns"
        error = (check.get("error") or {}).get("kept")
        if n_kept:
            tiles.append((text, f"{words(metric)} with the selected columns{beside}"))
            if not unknown(error):
                off = f"mean absolute error, {TYPESET.short(check['error'].get('full'))} with all columns"
                tiles.append((TYPESET.short(error), off))
        elif full is not None:
            label = f"{words(metric)} with all columns{baseline_text(check)}"
            tiles.append((TYPESET.score(metric, full), label))
    if (d.get("stability") or {}).get("value") is not None:
        tiles.append((TYPESET.number(d["stability"]["value"], 2), "stability, 1 is best"))
    if data.get("n_rows") is not None:
        tiles.append((f"{data['n_rows']:,}", "rows"))
    if d.get("certainty"):
        tiles.append((d["certainty"], "certainty of this answer"))
    return tiles


def _curve(curve: dict[str, Any] | None) -> dict[str, Any] | None:
    """The drawing of the curve, and which of its points are the chosen and the best."""
    points = known_points((curve or {}).get("points"))
    if curve is None or not points:
        return None
    drawn = curves([points], curve.get("metric"))
    (line,) = drawn["lines"]
    counts = curve.get("counts") or COLUMNS
    for point, (begin, width) in zip(line["points"], hit_areas(line["points"]), strict=True):
        point |= {"begin": begin, "width": width, "size": size_text(point["n"], counts)}
    start = next((i for i, p in enumerate(points) if p["n"] == curve.get("chosen")), None)
    best = max(range(len(points)), key=lambda i: points[i]["score"])
    gaps = any(b["n"] - a["n"] > 1 for a, b in pairwise(points))
    more = {
        "metric": words(curve.get("metric")),
        "best": best,
        "start": start,
        "gaps": gaps,
        "counts": counts,
    }
    return drawn | line | more


def _groups(features: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    """Leaders, best first, and the features that are redundant with them."""
    groups: dict[Any, list[str]] = {}
    for f in features:
        if f.get("redundant_with") is not None:
            groups.setdefault(f["redundant_with"], []).append(shortened(f["name"]))
    ranks = {f["name"]: i for i, f in enumerate(features)}
    return [(shortened(name), groups[name]) for name in sorted(groups, key=lambda n: ranks.get(n, math.inf))]


def _classes(data: dict[str, Any]) -> list[dict[str, Any]]:
    classes = _list(data, "classes")
    total = sum(c.get("count") or 0 for c in classes)
    scale = Scale(0.0, 1.0, 0.0, BAR)
    return [
        {
            "name": shortened(c["name"]),
            "count": TYPESET.number(c.get("count"), 0),
            "share": TYPESET.share(c["count"] / total if total and c.get("count") is not None else None),
            "width": scale((c.get("count") or 0) / total) if total else 0.0,
        }
        for c in classes[:MAX_LINES]
    ]


def _decisions(data: dict[str, Any]) -> dict[str, Any]:
    decisions = _list(data, "decisions")
    counts = Counter(str(c.get("kind") or "other") for c in decisions)
    return {
        "summary": ", ".join(f"{count:,} {kind}" for kind, count in counts.most_common()),
        "lines": [
            (shortened(c["name"]), c.get("kind") or "", shortened(c.get("why") or ""))
            for c in decisions[:MAX_LINES]
        ],
        "n": len(decisions),
    }


def _error(method: dict[str, Any]) -> str | None:
    """What the test controls."""
    alpha, error = method.get("alpha"), method.get("error")
    if error not in ERRORS or alpha is None:
        return None
    return ERRORS[error].format(f"{100 * alpha:g}{TYPESET.percent}")


def _made(d: dict[str, Any], data: dict[str, Any], method: dict[str, Any]) -> list[tuple[str, str]]:
    n_rows, n_columns, seconds = data.get("n_rows"), data.get("n_columns"), method.get("seconds")
    size = None
    if n_rows is not None and n_columns is not None:
        size = f"{counted(n_rows, 'row')}, {counted(n_columns, 'column')} beside the target"
    lines = [
        ("Data", shortened(d["source"]) if d.get("source") else None),
        ("Size", size),
        ("Target", shortened(data["target"]) if data.get("target") else None),
        ("Method", method.get("title") or method.get("key")),
        ("Method key", method.get("key")),
        ("Seed", d.get("seed")),
        ("Time", None if seconds is None else f"{seconds:,.1f} s"),
        ("Made", (d.get("created") or "").replace("T", " ").replace("+00:00", " UTC") or None),
        ("foresift", d.get("foresift")),
    ]
    return [(label, str(value)) for label, value in lines if value is not None]


def _parameters(method: dict[str, Any]) -> list[tuple[str, str]]:
    parameters = (method.get("parameters") or {}).items()
    return [(shortened(key), f"{v:.6g}" if isinstance(v, float) else shortened(v)) for key, v in parameters]


def _cite(d: dict[str, Any], method: dict[str, Any]) -> list[str]:
    year = (d.get("created") or "")[:4]
    version = f", version {d['foresift']}" if d.get("foresift") else ""
    who = f"foresift developers ({year})" if year else "foresift developers"
    ours = f"{who}. foresift: which columns of a table matter{version}."
    return [ours, *([shortened(method["reference"])] if method.get("reference") else [])]


def _python_list(names: list[Any], n: int) -> str:
    """A list to paste into Python; JSON's literals of strings and whole numbers are Python's as well."""
    lines = "".join(f"    {_literal(name)},\n" for name in names)
    lines += f"    # and {n - len(names)} more: see selection.json\n" if n > len(names) else ""
    return f"features = [\n{lines}]\n" if lines else "features = []\n"


def _literal(name: Any) -> str:
    text = json.dumps(name, ensure_ascii=False)
    return TURNS.sub(lambda mark: f"\\u{ord(mark.group()):04x}", text)


def _for_script(
    features: list[dict[str, Any]],
    rows: list[dict[str, Any]],
    drawn: dict[str, Any] | None,
    curve: dict[str, Any] | None,
    n_kept: int,
) -> dict[str, Any]:
    """The columns of the table for the script: texts, and numbers to sort by."""
    points, order = (drawn or {}).get("points", []), _order(features, (curve or {}).get("order"))
    sizes = [p["n"] for p in points]
    start = (drawn or {}).get("start")
    cells = ("kind", "rank", "score", "interval", "chance", "pvalue", "adjusted", "frequency", "with")
    decisive = decisive_pvalue(features)
    return {
        "page": PAGE,
        "step": FIRST_ROWS,
        "name": [f["name"] for f in features],
        "state": [row["state"] for row in rows],
        "status": {state: text for state, (text, _) in STATES.items()},
        "relevant": [bool(f.get("relevant")) for f in features],
        "cells": {cell: [row[cell] for row in rows] for cell in cells},
        "bars": [row["bar"] for row in rows],
        "decides": "adjusted" if decisive == "adjusted_pvalue" else "pvalue",
        "odd": [i for i, row in enumerate(rows[:MAX_REMARKS]) if row["odd"]],
        "sort": {
            **{key: [_key(f.get(key)) for f in features] for key in ("rank", "score", "frequency")},
            "pvalue": [_key(f.get(decisive)) for f in features],
            "status": [STATES[row["state"]][1] for row in rows],
        },
        "sizes": sizes,
        "size_texts": [p["size"] for p in points],
        "lengths": lengths([features[i] for i in order], sizes),
        "start": -1 if start is None else start,
        "chosen": n_kept,
        "order": order,
    }


def _key(value: Any) -> float | None:
    """A number to sort by, in few digits."""
    if unknown(value):
        return None
    return float(f"{min(max(value, -1e300), 1e300):.6g}")


def _order(features: list[dict[str, Any]], names: list[Any] | None) -> list[int]:
    """Order in which features enter a list of a given size: as given, else the kept ones and then by rank."""
    place = {name: i for i, name in enumerate(names or [])}
    return sorted(
        range(len(features)),
        key=lambda i: (place.get(features[i]["name"], math.inf), not features[i].get("kept"), i),
    )
