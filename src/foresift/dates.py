"""Dates and times written as text, as numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Dates", "read_dates"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?")
# Month before day where both fit, because it is said, and --categorical or a rewritten column mends it.
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
    "%d-%m-%Y",
    "%d-%b-%Y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
)
_PROBE = 25  # texts that a way of reading must fit before all are tried


class Dates(NamedTuple):
    """Texts read as dates: the numbers, what they count, and how the texts are written."""

    numbers: NDArray[np.float64]
    unit: str
    written: str


def read_dates(texts: Sequence[str]) -> Dates | None:
    """Read texts as dates or times, if every one of them is written in the same known way.

    Parameters
    ----------
    texts : sequence of str
        Without missing ones.

    Returns
    -------
    Dates or None
        Days since 1970 if no text has a time of day, else seconds since 1970 (UTC where no zone is named), or
        seconds since midnight; None if the texts are anything else.

    Examples
    --------
    >>> read_dates(["1970-01-02", "2024-02-29"])
    Dates(numbers=array([1.0000e+00, 1.9782e+04]), unit='days since 1970', written='YYYY-MM-DD')
    >>> read_dates(["1970-01-02", "soon"]) is None
    True
    """
    if not texts:
        return None
    ways: list[tuple[str, Callable[[str], datetime | float]]] = [("YYYY-MM-DD", _iso), ("HH:MM", _clock)]
    ways += [(_spelt(form), _reader(form)) for form in _FORMATS]
    for written, read in ways:
        try:
            for text in texts[:_PROBE]:
                read(text)
            moments = [read(text) for text in texts]
        except (ValueError, OverflowError):
            continue
        if written == "HH:MM":
            return Dates(np.array(moments, dtype=np.float64), "seconds since midnight", written)
        seconds = np.array([_seconds(moment) for moment in moments])
        if (seconds % 86_400 == 0).all():
            return Dates(seconds / 86_400, "days since 1970", written)
        return Dates(seconds, "seconds since 1970", written)
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


def _seconds(moment: datetime | float) -> float:
    assert isinstance(moment, datetime)
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
    }
    for code, part in parts.items():
        form = form.replace(code, part)
    return form
