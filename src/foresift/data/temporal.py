"""Dates, times and durations as numbers, in a unit that depends on their type alone."""

from __future__ import annotations

import datetime
import math
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from foresift.data.values import is_missing

__all__ = [
    "DAYS",
    "SECONDS",
    "in_unit",
    "numbers_of_objects",
    "numbers_of_series",
    "numbers_of_times",
    "time_of_number",
]

DAYS, SECONDS = "days since 1970", "seconds since 1970"  # as the readers of files call them
_DURATION, _OF_DAY = "seconds", "seconds since midnight"
UNITS = {"date": DAYS, "datetime": SECONDS, "duration": _DURATION, "time": _OF_DAY}
_DTYPES = {"date": nw.Date, "datetime": nw.Datetime, "duration": nw.Duration}
_PER_SECOND = {"ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15, "as": 10**18}


def numbers_of_times(values: NDArray[Any], label: str) -> tuple[NDArray[np.float64], str]:
    """Numbers of an array of datetime64 or timedelta64, NaN for NaT, and their unit.

    datetime64 of days or longer is a date; equal times are equal numbers, whatever their resolution.

    Examples
    --------
    >>> numbers_of_times(np.array(["1970-01-03", "NaT"], "datetime64[D]"), "column 0")
    (array([ 2., nan]), 'days since 1970')
    >>> numbers_of_times(np.array(["1970-01-03", "NaT"], "datetime64[ns]"), "column 0")
    (array([172800.,     nan]), 'seconds since 1970')
    """
    resolution = np.datetime_data(values.dtype)[0]
    since_1970 = values.dtype.kind == "M"
    if not since_1970 and (resolution in "YM" or resolution == "generic"):
        raise TypeError(f"{label} holds durations without a fixed unit ({values.dtype}): convert it to days.")
    if since_1970 and resolution in "YMWD":
        return _floats(values, "D"), DAYS
    unit = SECONDS if since_1970 else _DURATION
    if resolution not in _PER_SECOND:
        return _floats(values, "s"), unit
    # By way of microseconds, which float64 holds exactly for centuries, so that only the division rounds.
    per_second, parts = _PER_SECOND[resolution], max(1, _PER_SECOND[resolution] // 10**6)
    ticks = values.astype(np.int64) * np.datetime_data(values.dtype)[1]
    numbers = (ticks // parts + ticks % parts / parts) / (per_second // parts)
    return np.where(np.isnat(values), np.nan, numbers), unit


def _floats(values: NDArray[Any], resolution: str) -> NDArray[np.float64]:
    whole = values.astype(f"{values.dtype.kind}8[{resolution}]").astype(np.float64)
    return np.where(np.isnat(values), np.nan, whole)


def numbers_of_objects(values: NDArray[Any], kind: str, label: str) -> tuple[NDArray[np.float64], str]:
    """Numbers of an object column, and their unit; `kind` is what `kind_of_values` says.

    Times without a zone are UTC. A period is its first moment.

    Examples
    --------
    >>> days = np.array([datetime.date(1970, 1, 3), None], dtype=object)
    >>> numbers_of_objects(days, "date", "column 0")
    (array([ 2., nan]), 'days since 1970')
    """
    numbers = np.full(len(values), np.nan)
    rows: dict[Any, list[int]] = {}
    times = [None if is_missing(value) else _scalar(value) for value in values]
    for row, time in enumerate(times):
        if time is not None:
            rows.setdefault(time.dtype, []).append(row)
    for dtype, some in rows.items():
        part, unit = numbers_of_times(np.array([times[row] for row in some], dtype=dtype), label)
        numbers[some] = part if kind in ("duration", "time") else in_unit(part, unit, UNITS[kind], label)
    return numbers, UNITS[kind]


def _scalar(value: Any) -> Any:
    """A date, time or duration of Python or pandas as one of NumPy."""
    if hasattr(value, "to_timestamp"):
        value = value.to_timestamp()  # a period
    if isinstance(value, np.datetime64 | np.timedelta64):
        return value
    if hasattr(value, "to_datetime64"):
        return value.to_datetime64()  # in UTC
    if hasattr(value, "to_timedelta64"):
        return value.to_timedelta64()
    if isinstance(value, datetime.time):
        day = datetime.datetime.min
        value = datetime.datetime.combine(day, value.replace(tzinfo=None)) - day
    if isinstance(value, datetime.timedelta):
        return np.timedelta64(value)
    if getattr(value, "tzinfo", None) is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(value)


def numbers_of_series(series: nw.Series[Any], label: str) -> tuple[NDArray[np.float64], str] | None:
    """Numbers of a series whose dtype is of dates, times or durations, and their unit; None of any other.

    Examples
    --------
    >>> import polars as pl
    >>> numbers_of_series(nw.from_native(pl.Series([datetime.time(1, 30)]), series_only=True), "column 0")
    (array([5400.]), 'seconds since midnight')
    """
    native = series.to_native()
    if series.dtype == nw.Unknown:
        name = str(getattr(native, "dtype", None) or native.type)
        if name.startswith("date64"):  # of Arrow
            series = series.cast(nw.Date())
        elif name.startswith("period["):
            series = nw.from_native(native.dt.to_timestamp(), series_only=True)
    if not series.dtype.is_temporal():
        return None
    if series.dtype == nw.Time:
        if series.implementation.is_pandas_like():
            series = nw.from_native(native.array.__arrow_array__(), series_only=True)
        nanoseconds = series.cast(nw.Time()).cast(nw.Int64())
        return nanoseconds.to_numpy() / 1e9, _OF_DAY
    kind = next(name for name, dtype in _DTYPES.items() if series.dtype == dtype)
    values = series.to_numpy()
    if values.dtype.kind not in "mM":
        return numbers_of_objects(values, kind, label)
    numbers, unit = numbers_of_times(values, label)
    return in_unit(numbers, unit, UNITS[kind], label), UNITS[kind]


def in_unit(numbers: NDArray[Any], unit: str, wanted: str, label: str) -> NDArray[Any]:
    """Convert days and seconds since 1970 into each other; raise unless two units measure the same.

    An empty unit is that of plain numbers, which may be missing where times were.

    Examples
    --------
    >>> in_unit(np.array([2.0]), DAYS, SECONDS, "column 0")
    array([172800.])
    >>> in_unit(np.array([2.0]), "", SECONDS, "column 't'")
    Traceback (most recent call last):
        ...
    TypeError: column 't' holds plain numbers, but seconds since 1970 (dates or times) when fitted: ...
    """
    if unit == wanted:
        return numbers
    if {unit, wanted} == {DAYS, SECONDS}:
        return numbers * 86_400.0 if unit == DAYS else numbers / 86_400.0
    if not unit and np.isnan(numbers).all():
        return numbers
    now, then = (f"{text} (dates or times)" if text else "plain numbers" for text in (unit, wanted))
    raise TypeError(f"{label} holds {now}, but {then} when fitted: convert it to what it was.")


def time_of_number(number: float, unit: str) -> Any:
    """The date or time, as datetime64, that a limit stands for; a number in any other unit as it is.

    Examples
    --------
    >>> str(time_of_number(19753.5, DAYS)), str(time_of_number(90.5, SECONDS))
    ('2024-01-31', '1970-01-01T00:01:30.500')
    """
    if unit == DAYS:
        return np.datetime64(math.floor(number), "D")
    if unit == SECONDS:
        whole = number == math.floor(number)
        return np.datetime64(math.floor(number if whole else number * 1000), "s" if whole else "ms")
    return number
