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
    "untested": ("not tested", 5),
}
MAX_NAMES = 5
OFTEN, RARELY = 0.9, 0.5  # shares of the subsamples
_RARE = "The column is significant on all rows, but passed in less than half of the subsamples"
_INSIDE = (
    "The interval includes the score of an irrelevant column although the test is significant. The test uses"
    " all rows. The interval is wide because the score varies widely between subsamples of the rows"
)
_ABOVE = (
    "The interval lies above the score of an irrelevant column although the test is not significant. The"
    " interval is for this column alone and does not adjust for the number of columns; the test decides"
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
                "pvalue": TYPESET.pvalue(f.get("pvalue")),
                "adjusted": TYPESET.pvalue(f.get("adjusted_pvalue")),
                "decides": TYPESET.pvalue(f.get(decisive)),
                "frequency": TYPESET.share(f.get("frequency")),
                "state": state,
                "status": STATES[state][0],
                "with": "" if f.get("redundant_with") is None else shortened(f["redundant_with"]),
                "bar": _bar(f, scale),
                "odd": bool(_odd(f)),
            }
        )
    return rows


def decisive_pvalue(features: list[dict[str, Any]]) -> str:
    """Name of the p-value that decides: the adjusted one, if the method has a test."""
    return "pvalue" if all(f.get("adjusted_pvalue") is None for f in features) else "adjusted_pvalue"


def _state(feature: dict[str, Any]) -> str:
    if feature.get("kept"):
        return "requested" if feature.get("requested") else "kept"
    if feature.get("redundant_with") is not None:
        return "redundant"
    if feature.get("untested"):
        return "untested"
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


def _is_rare(feature: dict[str, Any]) -> bool:
    """Whether a relevant column passed in few subsamples."""
    often: Any = feature.get("frequency")
    return bool(feature.get("relevant")) and not unknown(often) and often < RARELY


def _odd(feature: dict[str, Any]) -> str:
    return _contradicts(feature) or (_RARE if _is_rare(feature) else "")


def interval_note(features: list[dict[str, Any]]) -> list[str]:
    """Sentences on columns whose interval or subsamples seem to contradict the verdict."""
    notes = []
    for text in (_INSIDE, _ABOVE, _RARE):
        named = [shortened(f["name"], 60) for f in features if _odd(f) == text]
        if named:
            more = f" and {len(named) - MAX_NAMES} more" if len(named) > MAX_NAMES else ""
            notes.append(f"{', '.join(named[:MAX_NAMES])}{more}: {text[0].lower()}{text[1:]}.")
    return notes


def _passed(feature: dict[str, Any]) -> str:
    """How often a column passed the test in subsamples, and what that means."""
    often: Any = feature.get("frequency")
    if unknown(often):
        return ""
    sure = "so the verdict is stable" if often >= OFTEN else "so on other or fewer rows it may not pass"
    return f" The column passed in {TYPESET.share(often)} of the subsamples, {sure}."


def remarks_of(feature: dict[str, Any], profile: dict[str, Any] | None = None) -> list[str]:
    """What a reader should know about the numbers of one column."""
    remarks = []
    if why := feature.get("untested"):
        remarks.append(f"Not tested: {why}.")
    if text := _odd(feature):
        remarks.append(f"{text}.{'' if text == _ABOVE else _passed(feature)}")
    if not unknown(feature.get("p_floor")):
        n, floor = round(1 / feature["p_floor"]) - 1, TYPESET.number(feature["p_floor"], 3)
        remarks.append(
            f"The forest is the only test of this column. By counting, p \u2264 {floor} is the smallest"
            f" p-value that {n:,} shadow features (permuted copies) can show: none of them scored as high."
            " The p-values shown extrapolate the tail of their scores."
        )
    if profile is not None and (profile.get("missing") or 0.0) >= MOSTLY_MISSING:
        remarks.append("Most of this column is missing, so its result rests on few values.")
    return remarks


def why_of(method: dict[str, Any], check: Any) -> dict[str, str]:
    """Why a column has its verdict, by state; "weak" is one that is kept though it is not significant."""
    alpha, p = method.get("alpha"), "p" if method.get("error") == "none" else "adjusted p"
    limit = "" if alpha is None else f" ({p} \u2264 {alpha:g})"
    above = "" if alpha is None else f" ({p} > {alpha:g})"
    again = "it does not pass if each redundant group counts once"
    if method.get("key") == "auto" and method.get("goal") is None:
        again = "you asked for fewer columns"
    elif check:
        again = f"models predict about as well without it, or {again}"
    why = {
        "kept": f"Kept: significant{limit}." if alpha is not None else "Kept: it is in the selected set.",
        "requested": "Kept by request. It is not tested.",
        "redundant": f"Significant{limit}, but left out: a better column explains at least half of its"
        " information about the target.",
        "relevant": f"Significant{limit}, but left out: {again}.",
        "out": "Left out: the method ranks other columns higher.",
        "below": f"Left out: not significant{above}.",
        "untested": "Left out: it was not tested.",
    }
    if alpha is not None:
        why["weak"] = (
            f"Kept although it is not significant{above}: models predict better with it, or you asked for"
            " more columns."
        )
    return why
