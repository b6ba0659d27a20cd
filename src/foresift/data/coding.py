"""Codes of one byte for the columns of a table, and of two for its target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift import _core
from foresift.data.containers import label_of, read
from foresift.data.encoding import as_numbers, look_up, parts_of, single_columns
from foresift.data.schema import Schema
from foresift.data.target import Classes, Quantity, Target
from foresift.data.values import is_missing
from foresift.errors import InputError

__all__ = ["ADVICE", "MAX_VALUES", "Coding", "cuts_of", "make_coding", "other_columns", "other_types"]

MAX_VALUES = 255  # codes of a column; one more is for missing
TARGET_BINS = 4096  # of a quantity
ADVICE = "Use categorical_features='from_dtype', name it in categorical_features, or encode it."


def cuts_of(values: NDArray[Any], max_values: int = MAX_VALUES) -> NDArray[np.float64]:
    """Cut points of a sample: its distinct values but the last, or quantiles of about equal shares.

    The code of a number is how many cut points lie below it.

    Examples
    --------
    >>> cuts_of(np.array([2.0, 1.0, 2.0, 5.0, np.nan]))
    array([1., 2.])
    """
    ordered = np.sort(values[~np.isnan(values)])
    distinct = ordered[np.flatnonzero(np.diff(ordered, prepend=np.nan) != 0)]
    if len(distinct) <= max_values:
        return distinct[:-1].astype(np.float64)
    at = np.arange(1, max_values) * len(ordered) // max_values - 1
    # If most rows have the greatest value, what lies below is a bin of its own.
    cuts = np.unique(np.minimum(ordered[np.maximum(at, 0)], distinct[-2]))
    return cuts.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Coding:
    """What the codes of columns and target mean.

    Attributes
    ----------
    schema : Schema
        Names, categories and units of all columns.
    cuts : tuple of ndarray or None
        Cut points of numeric columns, None for nominal ones.
    code_of : dict of int to ndarray of uint8
        The code of every category of a nominal column, if there are more categories than codes.
    n_values : ndarray of uint32 of shape (n_columns,)
        Codes of each column; this number itself stands for missing.
    labels : ndarray or None
        Classes in the order of their codes; None for a quantity.
    target_cuts : ndarray
        Cut points of a quantity.
    nominal : ndarray of bool or None
        Which columns are read as nominal; None: by their dtype.
    """

    schema: Schema
    cuts: tuple[NDArray[np.float64] | None, ...]
    code_of: dict[int, NDArray[np.uint8]]
    n_values: NDArray[np.uint32]
    labels: NDArray[Any] | None
    target_cuts: NDArray[np.float64]
    nominal: NDArray[np.bool_] | None

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.cuts)

    @property
    def n_target_codes(self) -> int:
        """Number of classes, or of bins of a quantity."""
        return len(self.target_cuts) + 1 if self.labels is None else len(self.labels)

    def codes(self, X: Any) -> NDArray[np.uint8]:
        """Code a batch; the result has a row for each column."""
        source = read(X)
        if (source.names, source.n_columns) != (self.schema.names, self.n_columns):
            raise InputError(other_columns(self.schema.names, source.names, source.n_columns))
        codes = np.empty((self.n_columns, source.n_rows), dtype=np.uint8)
        for start, part, nominal, _ in parts_of(source, self.nominal):
            if nominal:
                for j, values in single_columns(part, start, source.labels):
                    codes[j] = self._of_categories(j, values, source.labels)
                continue
            numbers = as_numbers(part, start, source.labels, ADVICE)
            stop = start + numbers.shape[1]
            cuts = [some for some in self.cuts[start:stop] if some is not None]
            if len(cuts) < stop - start:
                j = start + [some is None for some in self.cuts[start:stop]].index(True)
                raise InputError(other_types(label_of(source.labels, j), "nominal", ""))
            begins = np.concatenate([[0], np.cumsum([len(some) for some in cuts])]).astype(np.uint32)
            codes[start:stop] = _core.code_values(numbers, np.concatenate(cuts), begins)
        return codes

    def _of_categories(self, j: int, values: NDArray[Any], labels: Sequence[Any] | None) -> NDArray[np.uint8]:
        known = self.schema.categories[j]
        if known is None:
            if values.dtype == object and all(map(is_missing, set(values.tolist()))):
                return np.full(len(values), self.n_values[j], dtype=np.uint8)
            raise InputError(other_types(label_of(labels, j), "", "nominal"))
        found = look_up(values, known, label_of(labels, j))
        missing = np.isnan(found)
        if (found < 0).any():
            raise InputError(
                f"{label_of(labels, j)} has a category that was not there when the rows were read first: do"
                " not change the data meanwhile."
            )
        whole = np.where(missing, 0, found).astype(np.intp)
        codes = self.code_of[j][whole] if j in self.code_of else whole.astype(np.uint8)
        return np.where(missing, self.n_values[j], codes).astype(np.uint8)

    def target_codes(self, y: NDArray[Any]) -> NDArray[np.uint16]:
        """Code the target of a batch."""
        if self.labels is None:
            numbers = np.asarray(y, dtype=np.float64)
            return np.searchsorted(self.target_cuts, numbers).astype(np.uint16)
        found = look_up(y, self.labels, "The target")
        if np.isnan(found).any() or (found < 0).any():
            raise InputError("The target has a class that was not there when the rows were read first.")
        return found.astype(np.uint16)

    def codes_of_target(self, target: Target) -> NDArray[np.uint16]:
        """Code a target whose classes are those of this coding."""
        if isinstance(target, Quantity):
            return self.target_codes(target.y)
        assert isinstance(target, Classes)
        return target.codes.astype(np.uint16)


def make_coding(
    schema: Schema,
    sample: dict[int, NDArray[Any]],
    target: Target,
    labels: NDArray[Any] | None,
    nominal: NDArray[np.bool_] | None,
    max_bins: int = MAX_VALUES,
) -> Coding:
    """Cut points of a sample, and codes of categories."""
    cuts: list[NDArray[np.float64] | None] = []
    code_of: dict[int, NDArray[np.uint8]] = {}
    n_values = np.empty(schema.n_columns, dtype=np.uint32)
    for j, known in enumerate(schema.categories):
        cuts.append(cuts_of(sample[j], max_bins) if known is None else None)
        own = cuts[-1]
        n_values[j] = len(own) + 1 if own is not None else min(MAX_VALUES, len(known))  # type: ignore[arg-type]
        if known is not None and len(known) > MAX_VALUES:
            codes = look_up(sample[j], known, label_of(schema.names, j))
            counts = np.bincount(codes[codes >= 0].astype(np.intp), minlength=len(known))
            frequent = np.sort(np.argsort(-counts, kind="stable")[: MAX_VALUES - 1])
            code_of[j] = np.full(len(known), MAX_VALUES - 1, dtype=np.uint8)
            code_of[j][frequent] = np.arange(MAX_VALUES - 1)
    own_cuts = np.empty(0) if labels is not None else cuts_of(target.values(), TARGET_BINS)
    return Coding(schema, tuple(cuts), code_of, n_values, labels, own_cuts, nominal)


def other_types(label: str, before: str, now: str) -> str:
    """Say that a column changes its type."""
    what = {"nominal": "categories", "": "numbers"}
    return (
        f"{label} holds {what.get(before, before)} in one batch of rows and {what.get(now, now)} in another:"
        " give it one type in all of them."
    )


def other_columns(before: tuple[str, ...] | None, now: tuple[str, ...] | None, n_columns: int) -> str:
    """Say that a batch has other columns."""
    if before is not None and now is not None:
        missing = [name for name in before if name not in now]
        new = [name for name in now if name not in before]
        if missing or new:
            said = f"lacks column {missing[0]!r}" if missing else f"has another column, {new[0]!r}"
            return f"A batch of rows {said}: give all of them the same columns."
        return "The columns of a batch of rows are in another order: give all of them the same columns."
    return f"A batch of rows has {n_columns} columns, and others have not: give all of them the same columns."
