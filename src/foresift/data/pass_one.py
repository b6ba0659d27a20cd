"""The first pass over rows in batches: kinds, categories and classes of all, and a sample of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift import _core
from foresift.data.coded_column import CodedColumn
from foresift.data.coding import ADVICE, MAX_VALUES, Coding, make_coding, other_columns, other_types
from foresift.data.containers import as_float, label_of, read
from foresift.data.encoding import MAX_CATEGORIES, as_numbers, factorize, look_up, parts_of, single_columns
from foresift.data.schema import Schema
from foresift.data.table import Table
from foresift.data.target import Classes, Quantity, Target, table_task_of, task_of
from foresift.data.target_column import target_column
from foresift.data.values import is_missing
from foresift.errors import InputError

__all__ = ["HEAD_ROWS", "PartFacts", "PassOne", "Settled", "sample_size", "sampled_at", "settle"]

TABLE_ROWS = 20_000  # of the sample, about, that make a table
HEAD_ROWS = 10_000  # that are kept as they stand, to see whether neighbours are alike
_SAMPLE_CELLS, _MIN_SAMPLE, _MAX_SAMPLE = 2**22, 20_000, 2**15
_RULES = {"auto": task_of, "table": table_task_of}  # that tell classes from a quantity
_SAFE = 8  # standard deviations that a sample of unknown share may be larger
_SEED = np.uint64(0x9E3779B97F4A7C15)


def sample_size(n_columns: int) -> int:
    """Rows of the sample that cut points come from, about.

    Examples
    --------
    >>> sample_size(50), sample_size(200), sample_size(10_000)
    (32768, 20971, 20000)
    """
    return max(_MIN_SAMPLE, min(_MAX_SAMPLE, _SAMPLE_CELLS // n_columns))


def sampled_at(part: int, first: int, n_rows: int) -> NDArray[np.float64]:
    """Numbers in [0, 1) of rows of a part; rows with small ones are the sample, however they are read.

    Examples
    --------
    >>> bool((sampled_at(0, 2, 3) == sampled_at(0, 0, 5)[2:]).all())
    True
    """
    z = np.arange(first, first + n_rows, dtype=np.uint64)
    with np.errstate(over="ignore"):
        z = (z + np.uint64(part + 1) * np.uint64(0xD1B54A32D192ED03)) * _SEED + _SEED
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray((z ^ (z >> np.uint64(31))) >> np.uint64(11), dtype=np.float64) * 2.0**-53


@dataclass
class PartFacts:
    """What one pass over the rows of a part finds; several parts are joined by `settle`."""

    part: int
    n_rows: int = 0
    names: tuple[str, ...] | None = None
    kinds: list[str | None] = field(default_factory=list)  # "nominal", or the unit of numbers; None: unknown
    categories: dict[int, set[Any]] = field(default_factory=dict)
    labels: set[Any] | None = field(default_factory=set)  # None: too many for classes
    sample: list[dict[int, NDArray[Any]]] = field(default_factory=list)  # values by column; -1 the target
    sampled: list[NDArray[np.float64]] = field(default_factory=list)  # numbers of these rows
    head: dict[int, list[NDArray[Any]]] = field(default_factory=dict)


class PassOne:
    """Reads the batches of a part once.

    Parameters
    ----------
    part : int
        Its number.
    nominal : ndarray of bool or None
        Which columns are nominal; None: by their dtype.
    share : float or None
        Share of the rows that is sampled; None if their number is not known before.
    n_head : int, default=0
        How many of its first rows are kept.
    """

    def __init__(
        self, part: int, nominal: NDArray[np.bool_] | None, share: float | None, n_head: int = 0
    ) -> None:
        self.facts = PartFacts(part)
        self._nominal, self._share, self._n_head = nominal, share, n_head
        self._limit = 1.0 if share is None else share

    def add(self, X: Any, y: NDArray[Any] | None) -> None:
        """Read a batch, which may be empty; y is None if the target is known."""
        if y is not None and not len(y):
            return
        facts, source = self.facts, read(X)
        if y is not None and len(y) != source.n_rows:
            raise InputError(f"A batch has {source.n_rows:,} rows, but {len(y):,} values of the target.")
        if facts.kinds and (facts.names, len(facts.kinds)) != (source.names, source.n_columns):
            raise InputError(other_columns(facts.names, source.names, source.n_columns))
        facts.names = source.names
        facts.kinds = facts.kinds or [None] * source.n_columns
        sampled = sampled_at(facts.part, facts.n_rows, source.n_rows)
        rows = np.flatnonzero(sampled < self._limit)
        n_head = max(0, min(self._n_head - facts.n_rows, source.n_rows))
        found: dict[int, NDArray[Any]] = {}
        for j, values in _columns(source, self._nominal, facts):
            found[j] = values[rows]
            if n_head:
                facts.head.setdefault(j, []).append(values[:n_head].copy())
        if y is not None:
            _note_labels(facts, y)
            found[-1] = y[rows]
            if n_head:
                facts.head.setdefault(-1, []).append(y[:n_head].copy())
        facts.sample.append(found)
        facts.sampled.append(sampled[rows])
        facts.n_rows += source.n_rows
        if self._share is None:
            self._thin_out()

    def _thin_out(self) -> None:
        """Drop rows that cannot be in the sample of all rows, now and then."""
        facts = self.facts
        wanted = sample_size(len(facts.kinds))
        wanted += int(_SAFE * math.sqrt(wanted))
        if sum(map(len, facts.sampled)) < 2 * wanted:
            return
        sampled = np.concatenate(facts.sampled)
        self._limit = float(np.partition(sampled, wanted)[wanted])
        facts.sample, facts.sampled = _below(facts, self._limit)


def _below(facts: PartFacts, limit: float) -> tuple[list[dict[int, NDArray[Any]]], list[NDArray[np.float64]]]:
    """What is sampled with numbers below a limit."""
    kept = [sampled < limit for sampled in facts.sampled]
    sample = [
        {j: values[some] for j, values in found.items()}
        for found, some in zip(facts.sample, kept, strict=True)
    ]
    return sample, [sampled[some] for sampled, some in zip(facts.sampled, kept, strict=True)]


def _columns(
    source: Any, nominal: NDArray[np.bool_] | None, facts: PartFacts
) -> Iterator[tuple[int, NDArray[Any]]]:
    """Columns of a batch, numbers or categories, and notes of their kinds and categories."""
    for start, part, is_nominal, unit in parts_of(source, nominal):
        if is_nominal:
            for j, values in single_columns(part, start, source.labels):
                known = factorize(values, label_of(source.labels, j))[0]
                if len(known) and _same_kind(facts, j, "nominal", source.labels):
                    facts.categories.setdefault(j, set()).update(known.tolist())
                    if len(facts.categories[j]) > MAX_CATEGORIES:
                        factorize(
                            np.array(sorted(facts.categories[j]), dtype=object), label_of(source.labels, j)
                        )
                yield j, values
            continue
        numbers = as_numbers(part, start, source.labels, ADVICE)
        for offset, values in enumerate(numbers.T):
            _same_kind(facts, start + offset, unit, source.labels)
            yield start + offset, values


def _same_kind(facts: PartFacts, j: int, kind: str, labels: Sequence[Any] | None) -> bool:
    before = facts.kinds[j]
    if before is not None and before != kind:
        raise InputError(other_types(label_of(labels, j), before, kind))
    facts.kinds[j] = kind
    return True


def _note_labels(facts: PartFacts, y: NDArray[Any]) -> None:
    if y.dtype == object:
        labels = set(y.tolist())
        missing = any(map(is_missing, labels))
    else:
        labels = set() if facts.labels is None else set(np.unique(y).tolist())
        missing = y.dtype.kind == "f" and bool(np.isnan(y).any())
    if missing:
        raise ValueError("The target has missing values: drop the rows whose target is missing.")
    if y.dtype.kind == "f" and np.isinf(y).any():
        raise ValueError("The target contains infinity: drop or correct these rows.")
    if facts.labels is not None:
        facts.labels |= labels
        if len(facts.labels) > MAX_CATEGORIES:
            facts.labels = None


@dataclass(frozen=True, eq=False)
class Settled:
    """A coding, and rows as tables: the sample, in the order of the rows, and the first rows."""

    coding: Coding
    n_rows: list[int]  # of every part
    sample: Table
    sample_X: Any
    head: Table


def settle(
    parts: Iterable[PartFacts],
    nominal: NDArray[np.bool_] | None,
    task: str,
    target: Target | None = None,
    source: str = "X",
    max_bins: int = MAX_VALUES,
) -> Settled:
    """Join what was found in all parts: cut points, categories, classes, and the sample as a table."""
    parts = sorted(parts, key=lambda facts: facts.part)
    filled = [facts for facts in parts if facts.n_rows]
    if not filled:
        raise InputError(f"There are no rows in {source}: pass a table that has some.")
    first = filled[0]
    for other in filled[1:]:
        if (other.names, len(other.kinds)) != (first.names, len(first.kinds)):
            raise InputError(other_columns(first.names, other.names, len(other.kinds)))
        for j, kind in enumerate(other.kinds):
            if kind is not None:
                _same_kind(first, j, kind, first.names)
    n_columns, n_rows = len(first.kinds), sum(facts.n_rows for facts in filled)
    share = sample_size(n_columns) / n_rows
    kept = [_below(facts, share) for facts in filled]
    kinds = ["nominal" if kind is None else kind for kind in first.kinds]  # all missing
    sample = {
        j: _joined([found[j] for some, _ in kept for found in some], kinds[j]) for j in range(n_columns)
    }
    categories = _categories_of(filled, kinds)
    units = tuple("" if kind == "nominal" else kind for kind in kinds)
    schema = Schema(first.names, tuple(categories), units if any(units) else ())
    with_head = [facts.head for facts in filled if facts.head]
    head = {
        j: _joined([some for each in with_head for some in each[j]], kinds[j] if j >= 0 else "nominal")
        for j in with_head[0]
    }
    if target is None:
        y = _joined([found[-1] for some, _ in kept for found in some], "nominal")
        target, labels = _target_of(y, [facts.labels for facts in filled], task)
        target.require_variety()
        head_target = _like(target, head[-1])
    else:
        labels = target.labels if isinstance(target, Classes) else None
        sampled = np.concatenate([sampled_at(facts.part, 0, facts.n_rows) for facts in filled])
        head_target = target.take(np.arange(len(next(iter(head.values())))))
        target = target.take(np.flatnonzero(sampled < share))
    coding = make_coding(schema, sample, target, labels, nominal, max_bins)
    some = np.flatnonzero(np.concatenate([part for _, of in kept for part in of]) < TABLE_ROWS / n_rows)
    rows = {j: values[some] for j, values in sample.items()}
    X: Any = np.column_stack([*rows.values()])
    if first.names is not None:
        X = {name: rows[j] for j, name in enumerate(first.names)}
    table = _table(schema, rows, target.take(some))
    return Settled(coding, [facts.n_rows for facts in parts], table, X, _table(schema, head, head_target))


def _like(target: Target, y: NDArray[Any]) -> Target:
    """Other rows of a target."""
    if isinstance(target, Quantity):
        return Quantity.read(y, len(y))
    assert isinstance(target, Classes)
    return Classes(look_up(y, target.labels, "y").astype(np.int32), target.labels)


def _type_of(category: Any) -> str:
    return "text" if isinstance(category, str) else "bytes" if isinstance(category, bytes) else "numbers"


def _categories_of(parts: list[PartFacts], kinds: list[str]) -> list[NDArray[Any] | None]:
    """All categories of nominal columns, None for numbers."""
    names = parts[0].names
    categories: list[NDArray[Any] | None] = [None] * len(kinds)
    for j, kind in enumerate(kinds):
        if kind == "nominal":
            every = set().union(*(facts.categories.get(j, set()) for facts in parts))
            if len({_type_of(value) for value in every}) > 1:
                raise InputError(
                    other_types(label_of(names, j), *sorted({_type_of(value) for value in every})[:2])
                )
            categories[j] = factorize(_objects(every), label_of(names, j))[0]
    return categories


def _joined(values: list[Any], kind: str) -> NDArray[Any]:
    """Values of all batches as one array; numbers may be missing all in some, which look like categories."""
    values = [some.decoded() if isinstance(some, CodedColumn) else some for some in values]
    if kind != "nominal":
        values = [as_float(some) for some in values]
    if any(some.dtype == object for some in values):
        values = [some.astype(object) for some in values]
    return np.concatenate(values)


def _objects(values: set[Any]) -> NDArray[Any]:
    objects = np.empty(len(values), dtype=object)
    objects[:] = list(values)
    if values and all(isinstance(value, bool) for value in values):
        return objects.astype(bool)
    if values and not any(isinstance(value, str | bytes) for value in values):
        return objects.astype(np.float64)
    return objects


def _target_of(
    y: NDArray[Any], found: list[set[Any] | None], task: str
) -> tuple[Target, NDArray[Any] | None]:
    if len({isinstance(label, str) for labels in found if labels is not None for label in labels}) > 1:
        raise InputError(other_types("The target", "text", "numbers"))
    if task in _RULES:
        every = [label for labels in found if labels is not None for label in labels]  # fractions may be few
        task = _RULES[task](np.concatenate([y, np.array(every, dtype=y.dtype)]))
    if task == "regression":
        return Quantity.read(y, len(y)), None
    if any(labels is None for labels in found):
        raise ValueError(f'The target has more than {MAX_CATEGORIES:,} classes: set task="regression".')
    labels_of_all = sorted(set().union(*(labels for labels in found if labels is not None)))
    as_found = np.array(labels_of_all, dtype=object)
    labels = Classes.read(
        target_column(as_found)[0] if y.dtype == object else as_found.astype(y.dtype), len(as_found)
    ).labels
    return Classes(look_up(y, labels, "y").astype(np.int32), labels), labels


def _table(schema: Schema, columns: dict[int, NDArray[Any]], target: Target) -> Table:
    """Some rows as a table of their own, with exact codes and the categories that occur."""
    store = _core.ColumnStore(target.n_rows, 65_536)
    categories = list(schema.categories)
    for j, known in enumerate(schema.categories):
        if known is None:
            store.add_numeric(columns[j][:, np.newaxis])
            continue
        categories[j], codes = factorize(columns[j], label_of(schema.names, j))
        store.add_nominal(codes, len(categories[j]))  # type: ignore[arg-type]
    return Table(store, Schema(schema.names, tuple(categories), schema.units), target)
