"""The table of the ranking as the report shows it: texts, bars, and remarks that explain odd numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

from foresift.report.column_view import MOSTLY_MISSING
from foresift.report.drawing import BAR, Scale, shortened
from foresift.report.numbers import TYPESET, decimals_for, unknown
from foresift.report.unit_view import kind_text

__all__ = ["STATES", "decisive_pvalue", "feature_rows", "interval_note", "remarks_of", "why_of"]

STATES = {  # key: text in the table, and position when sorted by it
    "kept": ("kept", 0),
    "requested": ("kept by request", 0),
    "redundant": ("redundant", 1),
    "relevant": ("relevant, left out", 2),
    "out": ("left out", 3),
    "below": ("not significant", 4),
}
MAX_NAMES = 5
OFTEN = 0.9  # share of the subsamples
_INSIDE = (
    "The interval includes the score of an irrelevant column although the test is significant. The test uses"
    " all rows; the interval shows how much the score varies between subsamples of them"
)
_ABOVE = (
    "The interval lies above the score of an irrelevant column although the test is not significant. The"
    " interval is for this column alone; the test adjusts for all columns at once"
)


def feature_rows(features: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Texts and drawing of every feature; `decides` is the p-value that the verdict rests on."""
    numbers = ("score", "low", "high", "chance")
    decimals = decimals_for(f.get("score") for f in features)
    scale = Scale.around([f.get(key) for f in features for key in numbers], 1, BAR - 1, zero=True)
    write = partial(TYPESET.number, decimals=decimals)
    decisive = decisive_pvalue(features)
    rows = []
    for f in features:
        state = _state(f)
        rows.append(
            {
                "name": shortened(f["name"]),
                "kind": kind_text(f),
                "rank": TYPESET.number(f.get("rank") or None, 0),
                "score": write(f.get("score")),
                "interval": TYPESET.interval(write, f.get("low"), f.get("high")) or TYPESET.missing,
                "chance": write(f.get("chance")),
                "pvalue": _pvalue(f),
                "adjusted": TYPESET.pvalue(f.get("adjusted_pvalue")),
                "decides": TYPESET.pvalue(f.get(decisive)),
                "frequency": TYPESET.share(f.get("frequency")),
                "state": state,
                "status": STATES[state][0],
                "with": "" if f.get("redundant_with") is None else shortened(f["redundant_with"]),
                "bar": _bar(f, scale),
                "odd": bool(_contradicts(f)),
            }
        )
    return rows


def decisive_pvalue(features: list[dict[str, Any]]) -> str:
    """Name of the p-value that decides: the adjusted one, if the method has a test."""
    return "pvalue" if all(f.get("adjusted_pvalue") is None for f in features) else "adjusted_pvalue"


def _pvalue(feature: dict[str, Any]) -> str:
    """A p-value, or the least one that the shadows can show."""
    floor = feature.get("p_floor")
    return TYPESET.pvalue(feature.get("pvalue")) if unknown(floor) else f"\u2264 {TYPESET.number(floor, 3)}"


def _state(feature: dict[str, Any]) -> str:
    if feature.get("kept"):
        return "requested" if feature.get("requested") else "kept"
    if feature.get("redundant_with") is not None:
        return "redundant"
    return {True: "relevant", False: "below", None: "out"}[feature.get("relevant")]


def _bar(feature: dict[str, Any], scale: Scale) -> list[float | None]:
    """Begin and width of the bar, ends of the interval, chance; None where unknown."""
    zero, score = scale(0.0), scale.at(feature.get("score"))
    ends = (zero, zero) if score is None else (min(zero, score), max(zero, score))
    places = ends[0], ends[1] - ends[0], *(scale.at(feature.get(key)) for key in ("low", "high", "chance"))
    return [None if place is None else round(place, 1) for place in places]


def _contradicts(feature: dict[str, Any]) -> str:
    """Why the interval and the verdict seem to contradict each other; empty if they do not."""
    low: Any = feature.get("low")
    chance: Any = feature.get("chance")
    relevant = feature.get("relevant")
    if unknown(low) or unknown(chance) or relevant is None:
        return ""
    if relevant and low <= chance:
        return _INSIDE
    return _ABOVE if not relevant and low > chance else ""


def interval_note(features: list[dict[str, Any]]) -> list[str]:
    """Sentences on the columns whose interval seems to contradict the verdict."""
    notes = []
    for text in (_INSIDE, _ABOVE):
        named = [shortened(f["name"], 60) for f in features if _contradicts(f) == text]
        if named:
            more = f" and {len(named) - MAX_NAMES} more" if len(named) > MAX_NAMES else ""
            notes.append(f"{', '.join(named[:MAX_NAMES])}{more}: {text[0].lower()}{text[1:]}.")
    return notes


def _passed(feature: dict[str, Any]) -> str:
    """How often a column passed the test in subsamples, and what that means."""
    often: Any = feature.get("frequency")
    if unknown(often):
        return ""
    sure = " all the same" if often >= OFTEN else ": on other or fewer rows it may not pass"
    return f" The column passed in {TYPESET.share(often)} of the subsamples{sure}."


def remarks_of(feature: dict[str, Any], profile: dict[str, Any] | None = None) -> list[str]:
    """What a reader should know of the numbers of one column."""
    remarks = []
    if text := _contradicts(feature):
        remarks.append(f"{text}.{_passed(feature) if text == _INSIDE else ''}")
    if not unknown(feature.get("p_floor")):
        n, floor = round(1 / feature["p_floor"]) - 1, TYPESET.number(feature["p_floor"], 3)
        remarks.append(
            f"p \u2264 {floor} is the smallest p-value that {n:,} shadow features can show: none of them"
            " scored as high. The adjusted p-value extrapolates the tail of their scores."
        )
    if profile is not None and (profile.get("missing") or 0.0) >= MOSTLY_MISSING:
        remarks.append("Most of this column is missing, so its result rests on few values.")
    return remarks


def why_of(method: dict[str, Any]) -> dict[str, str]:
    """Why a column has its verdict, by state."""
    alpha = method.get("alpha")
    limit = "" if alpha is None else f" (adjusted p \u2264 {alpha:g})"
    above = "" if alpha is None else f" (adjusted p > {alpha:g})"
    return {
        "kept": "Kept: it is in the selected set.",
        "requested": "Kept by request. It is not tested.",
        "redundant": f"Significant{limit}, but left out: a better column explains at least half of its"
        " information about the target.",
        "relevant": f"Significant{limit}, but a model predicts about as well without it.",
        "out": "Left out: the method ranks other columns higher.",
        "below": f"Left out: not significant{above}.",
    }
