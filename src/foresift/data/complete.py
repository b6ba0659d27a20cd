"""Checks for methods that have no rule for missing values of numeric columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from foresift.data.containers import label_of
from foresift.data.table import Table

__all__ = ["missing_numbers", "require_numbers"]


def require_numbers(table: Table) -> None:
    """Raise if a numeric column has missing values.

    Examples
    --------
    >>> from foresift.data.table import make_table
    >>> require_numbers(make_table({"size": [1.5, None]}))
    Traceback (most recent call last):
        ...
    ValueError: column 'size' is numeric and has missing values (NaN), for which SSV has no rule: ...
    """
    numeric = np.flatnonzero(~table.schema.nominal)
    if lacking := [j for j in numeric.tolist() if table.store.has_missing(j)]:
        raise ValueError(missing_numbers(table.schema.names, lacking))


def missing_numbers(names: Any, columns: list[int]) -> str:
    """Return the error message for numeric columns with missing values."""
    more = f" (and {len(columns) - 1} more)" if len(columns) > 1 else ""
    return (
        f"{label_of(names, columns[0])}{more} is numeric and has missing values (NaN), for which SSV has no"
        " rule: impute them, drop those rows, or name the column in categorical_features, where a missing"
        " value is one more category."
    )
