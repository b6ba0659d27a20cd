"""Whether a table looks as if rows belong together, though nobody has said so."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from foresift.data.table import Schema, Table
from foresift.data.target import Classes, Quantity, Target
from foresift.data.temporal import DAYS, SECONDS
from foresift.reading.dates import Dates, read_dates

__all__ = ["ALIKE", "note_on_dates", "note_on_text", "notes_on_rows"]

MIN_GROUPS = 5  # more values of an identifier, or they are categories
MAX_GROUPS = 0.7  # of the rows; with more values hardly any repeats
CLEAR = 0.2  # rank correlation of neighbours
UNLIKELY = 4.9  # standard deviations: a p-value of 1e-6, both sides
SORTED = 0.98  # share of the steps between rows that do not go down, or not up
TOGETHER = 3  # columns whose values repeat in the same rows
ALIKE = "Neighbouring rows are alike"
MAX_COLUMNS, MAX_ROWS = 50, 10_000  # that are looked at

_WHO = (
    "animal|batch|clinic|client|customer|device|donor|family|hospital|household|member|participant|patient"
    "|person|respondent|school|sensor|session|shop|site|station|store|student|subject|user"
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NUMBER = "id|no|nr|key|code|uid|number"
_ID = re.compile(rf"({_NUMBER})|({_WHO})({_NUMBER})?", re.IGNORECASE)


def notes_on_rows(table: Table, names: list[str]) -> list[str]:
    """Say that rows may belong together, what that means, and what to do; nothing if they do not look it.

    Examples
    --------
    >>> from foresift.data.table import make_table
    >>> patients = np.arange(60) // 3
    >>> table = make_table({"patient_id": patients, "age": np.arange(60.0)}, patients % 2)
    >>> notes_on_rows(table, ["patient_id", "age"])
    ["The column patient_id looks like an identifier of groups: 20 values in 60 rows. ..."]
    """
    for j in (j for j, name in enumerate(names) if looks_like_an_identifier(name)):
        n_values = table.store.n_values(j)
        if MIN_GROUPS < n_values < MAX_GROUPS * table.n_rows and _is_discrete(table, j):
            return [_note_on_groups(names[j], n_values, table.n_rows)]
    if alike := _note_on_copies(table, names):
        return alike
    for name, dates in _dates(table, names):
        if note := note_on_dates(name, dates, table.target):
            return [note]
    return _note_on_order(table)


def note_on_text(schema: Schema, names: list[str]) -> list[str]:
    """Say which columns of text look like dates, as which they are not taken.

    Examples
    --------
    >>> from foresift.data.table import make_table
    >>> table = make_table({"when": ["2024-01-31", "2024-02-01"], "who": ["Ann", "Bob"]}, [0, 1])
    >>> note_on_text(table.schema, ["when", "who"])
    ['when is text that looks like dates, taken as categories: convert it, ...']
    """
    found = [n for n, one in zip(names, schema.categories, strict=True) if _read(one) is not None]
    if not found:
        return []
    more = f" and {len(found) - TOGETHER} more" if len(found) > TOGETHER else ""
    what, it = ("is text that looks", "it") if len(found) == 1 else ("are text that looks", "them")
    return [
        f"{', '.join(found[:TOGETHER])}{more} {what} like dates, taken as categories: convert {it}, for"
        " example with pandas.to_datetime."
    ]


def looks_like_an_identifier(name: str) -> bool:
    """Whether a column is named like what rows are of: its last word, or the first if that is id.

    Examples
    --------
    >>> [*map(looks_like_an_identifier, ("patient", "shopNo", "USER_ID", "userid", "id_of_site"))]
    [True, True, True, True, True]
    >>> [*map(looks_like_an_identifier, ("patient_age", "humid", "citric acid", "sensor3", "valid"))]
    [False, False, False, False, False]
    """
    words = _WORDS.findall(name)
    return bool(words) and (words[0].lower() == "id" or bool(_ID.fullmatch(words[-1])))


def note_on_dates(name: str, dates: NDArray[np.float64], target: Target) -> str:
    """Say that rows are in the order of dates: if they stand in it, or neighbours in it are alike."""
    known = ~np.isnan(dates)
    if len(np.unique(dates[known])) <= MIN_GROUPS:
        return ""
    rows = np.flatnonzero(known)[np.argsort(dates[known], kind="stable")]
    if not _is_sorted(dates[known]) and not _is_clear(_likeness(target.contrasts(rows)), len(rows)):
        return ""
    return (
        f"The rows are observed at the dates of {name}. Rows close in time are often alike, and then the"
        f" error rate and the scores are too optimistic: time=X[{name!r}] tests them by blocks of time."
    )


def _note_on_order(table: Table) -> list[str]:
    """Say that neighbouring rows are alike: in the target and, beyond what that explains, in most columns.

    A file may be sorted by the target or by a column; then most other columns are not alike. If they are in
    a file that is sorted by its classes, nothing can be tested in the order of the rows.
    """
    target = table.target
    if isinstance(target, Quantity) and _is_sorted(target.y):
        return ["The rows are sorted by the target: a column that counts or dates them gives it away."]
    first = max(0, table.n_rows - MAX_ROWS) // 2
    rows = np.arange(first, min(first + MAX_ROWS, table.n_rows))
    scores = target.contrasts(rows)
    alike = _likeness(scores)
    if not _is_clear(alike, len(rows)):
        return []
    some = np.linspace(0, table.n_columns - 1, min(table.n_columns, MAX_COLUMNS)).astype(int)
    n_alike = sum(_is_clear(_likeness(_rest(table, j, rows, scores)), len(rows)) for j in some.tolist())
    if n_alike <= len(some) / 2:
        return []
    if isinstance(target, Classes) and _is_one_run_each(target.codes):
        return [
            f"{ALIKE} within each class, as rows in the order of groups are. The error rate and the scores"
            " are too optimistic for new groups: pass groups= if you know them. The file is sorted by class,"
            " so its order cannot be taken for time."
        ]
    return [
        f"{ALIKE} (autocorrelation of the target {alike:.2f}), as rows in the order of"
        " time or of groups are. The error rate and the scores are too optimistic for other rows:"
        ' dependence="time" takes the rows in their order; else pass groups= or time=.'
    ]


def _note_on_groups(name: str, n_values: int, n_rows: int) -> str:
    return (
        f"The column {name} looks like an identifier of groups: {n_values:,} values in {n_rows:,} rows. Rows"
        " of a group are alike, so the error rate and the scores are too optimistic for new groups:"
        f" groups=X[{name!r}] keeps them together."
    )


def _note_on_copies(table: Table, names: list[str]) -> list[str]:
    """Say that several columns always change together, as facts about a patient do from visit to visit.

    Columns that are functions of each other, in the same or the reverse order, count once.
    """
    found: dict[bytes, dict[bytes, int]] = {}
    repeating = (
        j for j in range(table.n_columns) if MIN_GROUPS < table.store.n_values(j) < MAX_GROUPS * table.n_rows
    )
    for j in islice(repeating, MAX_COLUMNS):
        _, first, codes = np.unique(np.asarray(table.store.codes(j)), return_index=True, return_inverse=True)
        places = np.argsort(np.argsort(first))  # of values, by where they occur first
        rows = hashlib.sha256(places[codes].tobytes()).digest()
        found.setdefault(rows, {}).setdefault(min(places.tobytes(), places[::-1].tobytes()), j)
    together = max(found.values(), key=len, default={})
    if len(together) < TOGETHER:
        return []
    some = [names[j] for j in together.values()]
    n_values = table.store.n_values(min(together.values()))
    columns = f"{', '.join(some[: TOGETHER - 1])} and {some[TOGETHER - 1]}"
    return [
        f"The columns {columns} always change together, as if the {table.n_rows:,} rows were of {n_values:,}"
        " groups. If so, the error rate and the scores are too optimistic for new groups:"
        f" groups=X[{some[0]!r}] keeps them together."
    ]


def _is_discrete(table: Table, j: int) -> bool:
    """Whether a column holds categories or whole numbers."""
    values = np.asarray(table.store.values(j)) if not table.store.is_nominal(j) else np.zeros(1)
    return bool((values == np.round(values)).all())


def _dates(table: Table, names: list[str]) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Columns of dates and times, and of text that is such, as numbers."""
    units = table.schema.units or ("",) * table.n_columns
    for j, (categories, unit) in enumerate(zip(table.schema.categories, units, strict=True)):
        if categories is None and unit in (DAYS, SECONDS):
            yield names[j], np.append(table.store.values(j), np.nan)[np.asarray(table.store.codes(j))]
        if (found := _read(categories)) is not None:
            yield names[j], np.append(found.numbers, np.nan)[np.asarray(table.store.codes(j))]


def _read(categories: NDArray[Any] | None) -> Dates | None:
    """Categories that are text as dates; None if they are not."""
    if categories is None or not all(isinstance(text, str) for text in categories.tolist()):
        return None
    return read_dates(categories.tolist())


def _is_sorted(y: NDArray[np.float64]) -> bool:
    steps = np.sign(np.diff(y))
    return bool(len(np.unique(y)) > MIN_GROUPS and max((steps >= 0).mean(), (steps <= 0).mean()) > SORTED)


def _is_one_run_each(codes: NDArray[Any]) -> bool:
    """Whether the rows of every class stand together."""
    return int((codes[1:] != codes[:-1]).sum()) + 1 == len(np.unique(codes))


def _rest(table: Table, j: int, rows: NDArray[np.intp], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks of a column, of categories the commonest, without what the scores of a target explain."""
    codes = np.asarray(table.store.codes(j))[rows].astype(np.intp)
    values = (codes == np.bincount(codes).argmax()) if table.store.is_nominal(j) else rankdata(codes)
    design = np.column_stack([np.ones(len(codes)), scores])
    fit = np.linalg.lstsq(design, values.astype(np.float64), rcond=None)[0]
    return np.asarray(values - design @ fit)[:, np.newaxis]


def _likeness(scores: NDArray[np.float64]) -> float:
    """Autocorrelation from row to row."""
    scores = scores - scores.mean(axis=0)
    squares = float((scores**2).sum())
    return float((scores[1:] * scores[:-1]).sum()) / squares if squares > 1e-9 * len(scores) else 0.0


def _is_clear(alike: float, n_rows: int) -> bool:
    return alike > CLEAR and alike * np.sqrt(n_rows) > UNLIKELY
