"""Parse dates and times as numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Dates", "dates_like", "read_dates"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?")
# Month before day if both match; the chosen format is reported, and the user can override it.
_FORMATS = (
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%m/%d/%Y",
    "%m/%d/%Y %H:%M",
    "%m/%d/%Y %H:%M:%S",
    "%d/%m/%Y",
    "%d/%m/%Y %H:%M",
    "%d/%m/%Y %H:%M:%S",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%m/%d/%Y %I:%M %p",
    "%m/%d/%Y %I:%M:%S %p",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d-%b-%Y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%d.%m.%y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%d-%m-%y",
    "%d-%b-%y",
    "%Y-%m",
    "%Y/%m",
    "%m/%Y",
    "%b %Y",
    "%B %Y",
)
# A quick check before dozens of formats are tried.
_DATELIKE = re.compile(
    r"\d{1,4}[-/. ]+(\d{1,2}|[A-Za-z]{3,9})([-/., ]+\d{2,4})?\b.*"
    r"|[A-Za-z]{3,9} (\d{1,2}, )?\d{4}|\d{1,2}/\d{4}"
)
_NEARLY_ALL = 0.95  # if this fraction of the texts are dates, the others are missing
_PROBE = 25  # texts that a format must match before all are parsed


class Dates(NamedTuple):
    """Dates parsed from texts: numbers, their unit, the format, and an example that is not a date."""

    numbers: NDArray[np.float64]
    unit: str
    written: str
    odd: str = ""


def read_dates(texts: Sequence[str]) -> Dates | None:
    """Parse texts, without missing ones, as dates or times; None if they are not.

    All must have one known format, or nearly all one of several; the others are NaN. The numbers are days
    since 1970 if no text has a time of day, else seconds since 1970 (UTC by default), or seconds since
    midnight.

    Examples
    --------
    >>> read_dates(["1970-01-02", "2024-02-29"])
    Dates(numbers=array([1.0000e+00, 1.9782e+04]), unit='days since 1970', written='YYYY-MM-DD', odd='')
    >>> read_dates(["1970-01-02", "soon"]) is None
    True
    """
    if not texts:
        return None
    ways: list[tuple[str, Callable[[str], datetime | float]]] = [("HH:MM", _clock), *_WAYS.items()]
    if not any(map(str.isdigit, texts[0])):  # a word; skip the thirty formats
        ways = []
    for written, read in ways:
        try:
            for text in texts[:_PROBE]:
                read(text)
            moments = [read(text) for text in texts]
        except (ValueError, OverflowError):
            continue
        if written == "HH:MM":
            return Dates(np.array(moments, dtype=np.float64), "seconds since midnight", written)
        return _counted([_seconds(moment) for moment in moments if isinstance(moment, datetime)], written)
    return _mixed(texts)


def dates_like(texts: Sequence[str], known: Dates) -> NDArray[np.float64]:
    """Parse more texts as dates that were recognised before; NaN for those that are written otherwise.

    Examples
    --------
    >>> dates_like(["03/04/2024", "soon"], read_dates(["31/01/2024"]))
    array([19816.,    nan])
    """
    if known.written == "HH:MM":
        return np.array([_or_none(_clock, text) for text in texts], dtype=np.float64)
    # The format of ISO dates also says whether they have a time.
    ways = ["YYYY-MM-DD" if way.startswith("YYYY-MM-DD") else way for way in known.written.split(" or ")]
    parsed = ((_parsed(text, written) for written in ways) for text in texts)
    seconds = np.array(
        [next((x for x in some if x is not None), np.nan) for some in parsed], dtype=np.float64
    )
    return seconds / 86_400 if known.unit == "days since 1970" else seconds


def _or_none(read: Callable[[str], float], text: str) -> float | None:
    try:
        return read(text)
    except ValueError:
        return None


def _counted(seconds: list[float], written: str, odd: str = "") -> Dates:
    """Convert to days if no text has a time of day."""
    numbers = np.array(seconds)
    if (numbers[~np.isnan(numbers)] % 86_400 == 0).all():
        return Dates(numbers / 86_400, "days since 1970", written, odd)
    if written == "YYYY-MM-DD":  # which may have a time
        written += " HH:MM:SS" if (numbers[~np.isnan(numbers)] % 60 != 0).any() else " HH:MM"
    return Dates(numbers, "seconds since 1970", written, odd)


def _mixed(texts: Sequence[str]) -> Dates | None:
    """Parse dates in several formats: the one that matches most, then the one that matches most others."""
    # A random sample, because formats may alternate, with a fixed seed, so that results are reproducible.
    n_probe = min(len(texts), 4 * _PROBE)
    probe = [texts[i] for i in np.random.default_rng(0).choice(len(texts), n_probe, replace=False)]
    if sum(map(bool, map(_DATELIKE.fullmatch, probe))) < _NEARLY_ALL * len(probe):
        return None
    rest, ways = list(probe), []
    while rest:
        fits = {written: [_parsed(text, written) is not None for text in rest] for written in _WAYS}
        best = max(fits, key=lambda written: sum(fits[written]))  # the first of equal ones
        if not any(fits[best]):
            break
        ways.append(best)
        rest = [text for text, fit in zip(rest, fits[best], strict=True) if not fit]
    parsed = ((_parsed(text, written) for written in ways) for text in texts)
    seconds = [next((moment for moment in some if moment is not None), np.nan) for some in parsed]
    odd = [text for text, moment in zip(texts, seconds, strict=True) if moment != moment]
    if len(odd) > (1 - _NEARLY_ALL) * len(texts):
        return None
    return _counted(seconds, " or ".join(ways), odd[0] if odd else "")


def _parsed(text: str, written: str) -> float | None:
    try:
        return _seconds(_WAYS[written](text))
    except (ValueError, OverflowError):
        return None


def _iso(text: str) -> datetime:
    if not _ISO.fullmatch(text):
        raise ValueError(text)
    return datetime.fromisoformat(text)


def _clock(text: str) -> float:
    match = _CLOCK.fullmatch(text)
    if not match or int(match[1]) > 24 or int(match[2]) > 59:
        raise ValueError(text)
    return 3600.0 * int(match[1]) + 60.0 * int(match[2]) + float(match[3] or 0)


def _reader(form: str) -> Callable[[str], datetime]:
    return lambda text: datetime.strptime(text, form)


def _seconds(moment: datetime) -> float:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) / timedelta(seconds=1)


def _spelt(form: str) -> str:
    parts = {
        "%Y": "YYYY",
        "%m": "MM",
        "%d": "DD",
        "%H": "HH",
        "%M": "MM",
        "%S": "SS",
        "%b": "Mon",
        "%B": "Month",
        "%y": "YY",
        "%I": "HH",
        "%p": "AM",
    }
    for code, part in parts.items():
        form = form.replace(code, part)
    return form


_WAYS: dict[str, Callable[[str], datetime]] = {
    "YYYY-MM-DD": _iso,
    **{_spelt(form): _reader(form) for form in _FORMATS},
}
