"""Pictures of columns: the target over the values of each, as texts and coordinates of a small table."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from foresift.data.profiles import MIN_SHOWN
from foresift.data.temporal import DAYS, SECONDS, time_of_number
from foresift.report.drawing import BAR, Scale, shortened
from foresift.report.numbers import TYPESET, counted, finite, unknown

__all__ = ["MOSTLY_MISSING", "Pictures", "pictures_of"]

MAX_CARDS = 30  # pictures in the document itself; the script draws others
MAX_COLUMNS, MAX_BYTES, FEW_BYTES = 2000, 900_000, 300_000  # of what the script draws from, if there are more
PAGE_BYTES = 1_250_000  # of all that the script has, and the list of columns
MAX_LABEL = 28  # characters
MOSTLY_MISSING = 0.9
_MONTH = 30 * 86_400  # seconds
_TESTED = {True: "", False: " This is not significant.", None: " This was not tested."}
_VERBS, _HOW_FREQUENT = {"up": "rises", "down": "falls"}, {"up": "more", "down": "less"}


@dataclass(frozen=True, eq=False)
class Pictures:
    """Draws profiles of columns on one scale.

    Attributes
    ----------
    profiles : dict
        What `Selection.profiles` is.
    target : str
        Name of the target, or "the target".
    named : bool
        Whether that is its name.
    units : dict of str to str
        Units of dates and times, by column.
    """

    profiles: dict[str, Any]
    target: str
    named: bool
    units: dict[str, str]

    @cached_property
    def classes(self) -> list[str]:
        """Classes that have a share of their own; empty for a quantity."""
        names = self.profiles["target"].get("classes") or []
        return [shortened(name, MAX_LABEL) or "(empty)" for name in names]

    @property
    def mode(self) -> str:
        """What is drawn: a "share" of one of two classes, a "stack" of shares, or a "mean"."""
        return "mean" if not self.classes else "share" if len(self.classes) == 2 else "stack"

    @cached_property
    def scale(self) -> Scale:
        """Of shares or means: the same for all columns, so that pictures can be compared."""
        parts = [part for one in self.profiles["columns"].values() for part in one["parts"]]
        enough = [part["target"] for part in parts if part["n"] >= MIN_SHOWN] or [[0.0, 0.0, 1.0]]
        if self.mode == "mean":
            return Scale.around([x for target in enough for x in (*target, *self.overall)], 4, BAR - 4)
        highest = max(finite([self.overall[0], *(target[0] for target in enough)]), default=1.0)
        return Scale(0.0, min(1.0, max(1.25 * highest, 0.01)) if self.mode == "share" else 1.0, 0, BAR)

    @property
    def overall(self) -> list[float]:
        """The target in all rows."""
        found: list[float] = self.profiles["target"]["overall"]
        return found

    def legend(self) -> dict[str, Any]:
        """What the parts of all pictures mean."""
        overall = None if self.mode == "stack" else self.scale(self.overall[0])
        head = {
            "share": f"share of {self.classes[0] if self.classes else ''}",
            "stack": "most frequent",
        }
        n_rows, n_all = self.profiles["target"]["n_rows"], self.profiles["target"].get("of") or 0
        return {
            "mode": self.mode,
            "classes": self.classes,
            "of": f"{n_all:,}" if n_all > n_rows else "",
            "overall": overall,
            "overall_text": self.write(self.overall),
            "head": head.get(self.mode, f"mean {self.target}" if self.named else "mean"),
            "n_rows": f"{n_rows:,}",
        }

    def write(self, target: list[float]) -> str:
        """The target of a part in a few characters."""
        if self.mode == "mean":
            return TYPESET.short(target[0])
        if self.mode == "share":
            return TYPESET.share(target[0])
        named = range(len(target) - bool(self.profiles["target"].get("merged")))
        best = max(named, key=target.__getitem__)
        return f"{self.classes[best]}: {TYPESET.share(target[best])}"

    def shape(self, target: list[float]) -> list[float]:
        """Where a part is drawn: the end of a bar, the ends of stacked bars, or mean and quartiles."""
        if self.mode == "stack":
            ends = [sum(target[: k + 1]) for k in range(len(target))]
            return [round(self.scale(end)) for end in ends]
        return [round(self.scale(value)) for value in (target[:1] if self.mode == "share" else target)]

    def draw(self, name: str, relevant: bool | None = None) -> dict[str, Any] | None:
        """The picture of a column; None if there is no profile of it."""
        profile = self.profiles["columns"].get(name)
        if profile is None:
            return None
        labels = self._labels(name, profile)
        rows = [
            {
                "label": label,
                "n": f"{part['n']:,}",
                "value": self.write(part["target"]),
                "shape": self.shape(part["target"]),
                "aside": "missing" in part or "n_values" in part,
            }
            for label, part in zip(labels, profile["parts"], strict=True)
        ]
        return {
            "facts": self._facts(profile),
            "words": self._words(profile, labels, relevant),
            "rows": rows,
        }

    def _facts(self, profile: dict[str, Any]) -> str:
        missing, sampled = profile["missing"], self.profiles["target"].get("sampled")
        text = ("at least " if sampled else "") + counted(profile["n_values"], "distinct value")
        if missing == 0:
            return f"{text}, none missing{' in the sample' if sampled else ''}"
        much = ": most of this column is missing" if missing >= MOSTLY_MISSING else ""
        return f"{text}, {TYPESET.part(missing)} missing{much}"

    def _labels(self, name: str, profile: dict[str, Any]) -> list[str]:
        write = self._writer(self.units.get(name) or profile.get("unit") or "", profile)
        return [_label(part, write) for part in profile["parts"]]

    def _writer(self, unit: str, profile: dict[str, Any]) -> Callable[[float], str]:
        """How ends of ranges are written: in as few digits as tell them apart."""
        ends = {end for part in profile["parts"] if "low" in part for end in (part["low"], part["high"])}
        if unit in (DAYS, SECONDS):
            long = max(ends, default=0) - min(ends, default=0) > _MONTH
            end = 10 if unit == DAYS or long else 16  # characters: the day, or the minute
            return lambda value: str(time_of_number(value, unit))[:end].replace("T", " ")
        ranges = [part for part in profile["parts"] if "low" in part]
        digits = next((n for n in range(3, 13) if _differ(ranges, n)), 12)
        seconds = " s" if unit else ""  # durations and times of day
        return lambda value: _number(value, digits) + seconds

    def _words(self, profile: dict[str, Any], labels: list[str], relevant: bool | None) -> str:
        """Direction in a sentence."""
        pairs = [
            (label, part)
            for label, part in zip(labels, profile["parts"], strict=True)
            if "missing" not in part and "n_values" not in part
        ]
        direction = profile["direction"]
        ranges = [label for label, part in pairs if "low" in part]
        if direction != "flat" and len(set(ranges)) < len(ranges):
            return "The ranges differ in their last digits only."
        gap = self._gap(profile)
        if direction == "flat" or len(pairs) < 2:
            if gap:
                return gap + _TESTED[relevant]
            if not relevant:
                return "No clear pattern."
            return (
                "No clear pattern by itself: the column matters together with others, or in a way that these"
                " parts do not show."
            )
        text = self._several(pairs) if self.mode == "stack" else self._one(pairs, direction)
        return " ".join(filter(None, [text, gap])) + _TESTED[relevant]

    def _gap(self, profile: dict[str, Any]) -> str:
        """How rows with a value differ from those without; empty if they do not."""
        missing = next((part["target"] for part in profile["parts"] if "missing" in part), None)
        if not profile.get("known") or missing is None:
            return ""
        known, gap = self.write(profile["known"]), self.write(missing)
        if self.mode == "share":
            return f"{self._what} in {known} of the rows where it is known, in {gap} where it is missing."
        if self.mode == "mean":
            return f"{self.target} is {known} on average where it is known, {gap} where it is missing."
        return f"{self._most} frequent where it is known {known}; where it is missing {gap}."

    @property
    def _what(self) -> str:
        """The class whose share is drawn, in a sentence."""
        return f"{self.target} = {self.classes[0]}" if self.named else f"class {self.classes[0]}"

    @property
    def _most(self) -> str:
        """Begin of a sentence on the most frequent class; several rare ones are never named."""
        return "Of the classes shown, most" if self.profiles["target"].get("merged") else "Most"

    def _one(self, pairs: list[tuple[str, Any]], direction: str) -> str:
        """How a share or a mean goes."""
        enough = [pair for pair in pairs if pair[1]["n"] >= MIN_SHOWN] or pairs
        ends = [f"{self.write(part['target'])} at {label}" for label, part in (enough[0], enough[-1])]
        by_value = sorted(enough, key=lambda pair: pair[1]["target"][0])
        (low_label, low), (high_label, high) = by_value[0], by_value[-1]
        most, least = (self.write(part["target"]) for part in (high, low))
        if self.mode == "share":
            what = self._what
            if direction in _VERBS:
                return (
                    f"{what} is {_HOW_FREQUENT[direction]} frequent at higher values: {ends[0]}, {ends[1]}."
                )
            most_word, least_word = "most frequent", "least frequent"
        else:
            what = self.target
            if direction in _VERBS:
                return f"{what} {_VERBS[direction]} with the column: on average {ends[0]}, {ends[1]}."
            most_word, least_word = "highest", "lowest"
        if direction == "peak":
            return f"{what} is {most_word} in the middle: {most} at {high_label}."
        if direction == "dip":
            return f"{what} is {least_word} in the middle: {least} at {low_label}."
        at = "for" if direction == "differs" else "at"
        return f"{what} is {most_word} {at} {high_label} ({most}), {least_word} {at} {low_label} ({least})."

    def _several(self, pairs: list[tuple[str, Any]]) -> str:
        """Which of several classes is most frequent where."""
        if "low" in pairs[0][1]:
            first, last = (self.write(part["target"]) for _, part in (pairs[0], pairs[-1]))
            return f"{self._most} frequent at the lowest values {first}; at the highest {last}."
        by_size = sorted(pairs, key=lambda pair: -pair[1]["n"])[:2]
        ends = "; ".join(f"for {label} {self.write(part['target'])}" for label, part in by_size)
        return f"{self._most} frequent {ends}."

    def for_script(self, features: list[dict[str, Any]], used: int) -> list[Any]:
        """Pictures of as many features as the page can hold beside `used` bytes, in few bytes."""
        found: list[Any] = [None] * len(features)
        left = min(MAX_BYTES, PAGE_BYTES - used) if len(features) <= MAX_COLUMNS else FEW_BYTES
        for i in sorted(range(len(features)), key=lambda i: not features[i].get("kept")):
            drawn = self.draw(features[i]["name"], features[i].get("relevant")) if left > 0 else None
            if drawn is not None:
                rows = [[r["label"], r["n"], r["value"], r["shape"], int(r["aside"])] for r in drawn["rows"]]
                found[i] = [drawn["facts"], drawn["words"], rows]
                left -= len(json.dumps(found[i]))
        return found


def pictures_of(d: dict[str, Any], target: str | None) -> Pictures | None:
    """The pictures of a selection, of columns whose profile is whole; None if there are none."""
    profiles = d.get("profiles") or {}
    about, columns = profiles.get("target") or {}, profiles.get("columns") or {}
    overall = about.get("overall") or []
    n_numbers = len(about["classes"]) if about.get("classes") else 3
    if n_numbers == 1 or not _numbers(overall, n_numbers) or unknown(about.get("n_rows")):
        return None
    whole = {name: one for name, one in columns.items() if _is_whole(one, n_numbers)}
    decisions = (d.get("data") or {}).get("decisions") or []
    units = {
        str(c["name"]): unit
        for c in decisions
        for unit in (DAYS, SECONDS)
        if str(c.get("why") or "").endswith(unit)
    }
    name = shortened(target or "the target", MAX_LABEL)
    return Pictures({"target": about, "columns": whole}, name, bool(target), units) if whole else None


def _is_whole(profile: Any, n_numbers: int) -> bool:
    """Whether a profile, which may come from a file, has all that is drawn."""
    if not isinstance(profile, dict) or not profile.get("parts") or not profile.get("direction"):
        return False
    if unknown(profile.get("missing")) or unknown(profile.get("n_values")):
        return False
    if "known" in profile and not _numbers(profile["known"] or [], n_numbers):
        return False
    return all(
        not unknown(part.get("n"))
        and _numbers(part.get("target") or [], n_numbers)
        and ("low" not in part or not unknown(part["low"]))
        and ("high" not in part or not unknown(part["high"]))
        and ("low" in part) == ("high" in part)
        and not any(unknown(part.get(key, "")) for key in ("value", "n_values", "missing"))
        and {"low", "value", "n_values", "missing"} & set(part)
        for part in profile["parts"]
    )


def _numbers(values: list[Any], n: int) -> bool:
    return len(values) == n and len(finite(values)) == n


def _label(part: dict[str, Any], write: Callable[[float], str]) -> str:
    """A part in words.

    Examples
    --------
    >>> _label({"low": 1, "high": 2.5}, str), _label({"missing": True}, str), _label({"n_values": 9}, str)
    ('1 to 2.5', 'missing', '9 others')
    """
    if "missing" in part:
        return "missing"
    if "n_values" in part:
        return f"{part['n_values']:,} others"
    if "value" in part:
        return shortened(part["value"], MAX_LABEL) or "(empty)"
    low, high = write(part["low"]), write(part["high"])
    return low if low == high else f"{low} to {high}"


def _differ(ranges: list[dict[str, Any]], digits: int) -> bool:
    """Whether ranges differ in this number of digits; neighbours may share a rounded end."""
    lows, highs = ([_number(part[key], digits) for part in ranges] for key in ("low", "high"))
    alone = all(
        low != high or part["low"] == part["high"]
        for low, high, part in zip(lows, highs, ranges, strict=True)
    )
    return alone and len(set(lows)) == len(set(highs)) == len(ranges)


def _number(value: float, digits: int) -> str:
    """A number in few digits; one of four digits may be a year.

    Examples
    --------
    >>> _number(1984, 4), _number(20500, 3)
    ('1984', '20,500')
    """
    text = f"{value:.{digits}g}" if abs(value) >= 1e9 else TYPESET.short(value, digits)
    text = text.replace("-", TYPESET.minus)
    return text.replace(",", "") if abs(value) < 10_000 else text
