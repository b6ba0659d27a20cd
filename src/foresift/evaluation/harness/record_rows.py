"""Records as rows of a store and back; rows that `Store.add` cannot have written are refused."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, NamedTuple

from foresift.evaluation.harness.tasks import Data, Record, Unit, canonical

__all__ = [
    "IDENTITY",
    "RESULTS",
    "SELECT",
    "Damaged",
    "Table",
    "data_row",
    "record_of",
    "row_of",
    "run_row_of",
    "table_of",
]

IDENTITY = tuple(column.name for column in fields(Unit))
RESULTS = ("status", "scores", "features", "extra")
_TIMES = ("select_seconds", "fit_seconds", "score_seconds")
_READ = ("key", *IDENTITY, *RESULTS, *_TIMES, "finished", "warnings", "error")
# A task whose run is missing is found too, and refused.
SELECT = f"SELECT {', '.join(_READ)} FROM units LEFT JOIN runs USING (key)"
_SIZE = re.compile(r"[1-9][0-9]{0,8}")


class Damaged(ValueError):
    """An invalid row; the store adds the name of the file."""


class Table(NamedTuple):
    """Description of a table of data in a store."""

    dataset: str
    n_rows: int
    n_features: int
    classes: list[str]
    features: list[str]


def data_row(data: Data) -> tuple[Any, ...]:
    """Return the row of the table `datasets`."""
    texts = (canonical(data.classes), canonical(data.features))
    return (data.checksum, data.name, data.n_rows, data.n_features, *texts)


def row_of(record: Record) -> tuple[Any, ...]:
    """Return the row of the table `units`."""
    unit = record.unit
    results = (canonical(record.scores), canonical(record.features), canonical(record.extra))
    return (unit.key, *(getattr(unit, name) for name in IDENTITY), _status(record.error), *results)


def run_row_of(record: Record) -> tuple[Any, ...]:
    """Return the row of the table `runs`."""
    return (
        record.unit.key,
        datetime.now(UTC).isoformat(timespec="milliseconds"),
        *(record.seconds.get(name.split("_")[0]) for name in _TIMES),
        record.host.get("host"),
        canonical(record.host),
        canonical(record.notes),
        record.error,
        record.traceback,
    )


def _status(error: str) -> str:
    return "failed" if error else "done"


def table_of(row: Sequence[Any]) -> tuple[str, Table]:
    """Checksum and description of a table, from a row of `datasets`."""
    data, dataset, n_rows, n_features, classes, features = row
    with _place("datasets", data):
        table = Table(dataset, n_rows, n_features, _loaded(classes, list), _loaded(features, list))
        if not (isinstance(dataset, str) and _is_count(n_rows)):
            raise Damaged("needs a name and a number of rows")
        named = _are_texts(table.classes) and _are_texts(table.features)
        if not (named and len(table.features) == n_features):
            raise Damaged("needs a name for each class and each column")
    return data, table


def record_of(row: Sequence[Any], n_features: Mapping[str, int]) -> Record:
    """Make the record of a row of `SELECT`, without host and traceback.

    `n_features` is the number of columns of each known table, by checksum.
    """
    found = dict(zip(_READ, row, strict=True))
    with _place("units", found["key"]):
        unit = _unit_of(found)
        seconds = {name.split("_")[0]: found[name] for name in _TIMES if found[name] is not None}
        timed = all(_is_number(value) and value >= 0 for value in seconds.values())
        if not (timed and isinstance(found["finished"], str) and isinstance(found["error"], str)):
            raise Damaged("has no row in the table runs, or a wrong one")
        if found["status"] != _status(found["error"]):
            raise Damaged("has the wrong status")
        notes = _loaded(found["warnings"], list)
        if not _are_texts(notes):
            raise Damaged("has warnings that are no texts")
        scores, features, extra = (_loaded(found[name], dict) for name in RESULTS[1:])
        record = Record(unit, scores, features, extra, found["error"], seconds, tuple(notes))
        _require_features(features, n_features.get(unit.data, sys.maxsize))
        _require_scores(scores, features)
        if not record.error and unit.kind in _HAS and not _HAS[unit.kind](record):
            raise Damaged("lacks results that it should have")
    return record


@contextlib.contextmanager
def _place(table: str, key: Any) -> Iterator[None]:
    try:
        yield
    except Damaged as error:
        raise Damaged(f"the row {key!r:.40} of its table {table} {error}") from error


def _unit_of(found: dict[str, Any]) -> Unit:
    """Return the task, and check its key, a hash of everything that defines it."""
    unit = Unit(*(found[name] for name in IDENTITY))
    try:
        if unit.key == found["key"]:
            return unit
    except (TypeError, ValueError):  # bytes, or text that is not valid Unicode
        pass
    raise Damaged("does not belong to its key")


def _loaded(cell: Any, kind: type) -> Any:
    try:
        value = json.loads(cell) if isinstance(cell, str) else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, kind):
        raise Damaged(f"has a cell that should be {'an object' if kind is dict else 'a list'} in JSON")
    return value


def _is_number(value: Any) -> bool:
    """Whether a value from JSON is a number that is finite as a float."""
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _is_count(value: Any) -> bool:
    return type(value) is int and value > 0


def _are_texts(values: list[Any]) -> bool:
    try:
        return all(isinstance(value, str) and value.encode() is not None for value in values)
    except UnicodeEncodeError:  # a lone surrogate
        return False


def _require_features(features: dict[str, Any], n_features: int) -> None:
    for name, columns in features.items():
        known = name in ("order", "own") or _SIZE.fullmatch(name)
        if not (known and isinstance(columns, list)):
            raise Damaged("has features that are no lists of columns")
        if not all(type(j) is int and 0 <= j < n_features for j in columns) or len({*columns}) < len(columns):
            raise Damaged("has features that are no columns, or are there twice")


def _require_scores(scores: dict[str, Any], features: dict[str, list[int]]) -> None:
    """Require that the columns of every scored size are known."""
    n_ranked = len(features.get("order", ()))
    for sizes in scores.values():
        if not (isinstance(sizes, dict) and all(v is None or _is_number(v) for v in sizes.values())):
            raise Damaged("has scores that are no numbers")
        for size in sizes:
            ranked = _SIZE.fullmatch(size) and int(size) <= n_ranked
            if not (size == "all" or ranked or (size in features and size != "order")):
                raise Damaged("has scores of features that it does not name")


def _has_scores(record: Record) -> bool:
    """Whether there is a score of every scorer, also for the method's own choice if that was requested."""
    asked = json.loads(record.unit.options or "{}")
    own = "own" in asked.get("sizes", ()) and "own" not in record.extra.get("unknown_sizes", ())
    return (
        all(_is_count(record.extra.get(name)) for name in ("n_train", "n_test"))
        and record.scores.keys() == asked.get("scoring", record.scores).keys()
        and (not own or ("own" in record.features and all("own" in s for s in record.scores.values())))
    )


def _has_path(record: Record) -> bool:
    sizes = record.scores.get("accuracy", {})
    whole = "order" in record.features and "select" in record.seconds
    return whole and bool(sizes) and all(map(_SIZE.fullmatch, sizes))


def _has_intervals(record: Record) -> bool:
    widths = record.extra.get("intervals")
    if not isinstance(widths, list):
        return False
    return len(widths) > 0 and all(width is None or _is_number(width) for width in widths)


# By the kind of a task: whether a record that did not fail is complete.
_HAS = {"score": _has_scores, "path": _has_path, "intervals": _has_intervals}
