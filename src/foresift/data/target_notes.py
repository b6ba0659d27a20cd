"""Notes on a target: numbers treated as classes or as a quantity, and labels that may be the same class."""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

__all__ = [
    "are_numbers",
    "are_whole_numbers",
    "is_category",
    "note_on_quantity",
    "note_on_rare_classes",
    "notes_on_classes",
]

MAX_CODES = 10  # up to this many labels 0, 1, 2, ... are treated as classes without a note
MAX_CLASSES = 20  # in any case; else half of the rows
MAX_GROUPS = 3  # groups of similar labels listed in a note
_WHOLE = re.compile(r"[+-]?(0|[1-9]\d*)(\.0*)?")


def are_numbers(y: Any, classes: Iterable[Any]) -> bool:
    """Whether a target holds numbers rather than categories, text or booleans.

    Examples
    --------
    >>> are_numbers([3, 4, 5], [3, 4, 5]), are_numbers(["3", "4"], ["3", "4"])
    (True, False)
    """
    if is_category(y):
        return False
    return all(
        isinstance(label, numbers.Real) and not isinstance(label, bool | np.bool_) for label in classes
    )


def is_category(y: Any) -> bool:
    """Whether a target has the data type of categories, whatever they are called.

    Examples
    --------
    >>> import pandas as pd
    >>> is_category(pd.Series([3, 4], dtype="category")), is_category([3, 4])
    (True, False)
    """
    native = nw.from_native(y, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        native = native[:, 0]
    if isinstance(native, nw.Series):
        return native.dtype in (nw.Categorical, nw.Enum)
    # NumPy takes any class for its type of objects.
    return getattr(getattr(y, "dtype", None), "name", "") == "category"


def are_whole_numbers(texts: Iterable[str]) -> bool:
    """Whether all labels read from a file are whole numbers, without leading zeros such as 007.

    Examples
    --------
    >>> are_whole_numbers(["3", "-4", "5.0"]), are_whole_numbers(["3", "4.5"]), are_whole_numbers(["007"])
    (True, False, False)
    """
    return all(_WHOLE.fullmatch(text.strip()) for text in texts)


def note_on_quantity(y: NDArray[np.float64]) -> str:
    """Say that numbers are treated as a quantity, and what overrules it.

    Examples
    --------
    >>> note_on_quantity(np.array([18, 19, 20]))
    'The target has 3 distinct whole numbers, treated as a quantity; task="classification" treats them as ...'
    >>> note_on_quantity(np.arange(100) / 3)
    'The target has 100 distinct numbers with fractions, treated as a quantity.'
    """
    numbers = np.unique(y)
    whole = (numbers == np.trunc(numbers)).all()
    kind = "whole numbers" if whole else "numbers with fractions"
    what = f"The target has {len(numbers):,} distinct {kind}, treated as a quantity"
    if len(numbers) <= max(MAX_CLASSES, len(y) // 2):
        return f'{what}; task="classification" treats them as classes.'
    return f"{what}."


def notes_on_classes(classes: Sequence[Any], *, numeric: bool) -> list[str]:
    """Return notes on numbers treated as classes, and on labels that may be the same class.

    `numeric` says that the labels are numbers which the user has not declared to be classes.

    Examples
    --------
    >>> notes_on_classes([3, 4, 5], numeric=True)
    ['The target has 3 distinct whole numbers, treated as classes; task="regression" treats them as ...]
    >>> notes_on_classes(["YES", "no", "yes"], numeric=False)
    ["The classes 'YES' and 'yes' differ only in case or spaces: if they are one class, spell it one way."]
    """
    notes = []
    if numeric and len(classes) > 2 and not _are_codes(classes):
        notes.append(
            f"The target has {len(classes)} distinct whole numbers, treated as classes;"
            ' task="regression" treats them as a quantity.'
        )
    folded: dict[str, list[str]] = {}
    for label in map(str, classes):
        folded.setdefault(label.strip().casefold(), []).append(label)
    groups = [" and ".join(map(repr, labels)) for labels in folded.values() if len(labels) > 1]
    if groups:
        named = "; ".join(groups[:MAX_GROUPS]) + ("; ..." if len(groups) > MAX_GROUPS else "")
        notes.append(
            f"The classes {named} differ only in case or spaces: if they are one class, spell it one way."
        )
    return notes


def note_on_rare_classes(share: float, n_classes: int) -> str:
    """Say what guessing scores where one class has most of the rows, and what to score by instead.

    Examples
    --------
    >>> note_on_rare_classes(0.967, 2)
    'One class has 96.7 % of the rows, so guessing has an accuracy of 96.7 %. Score by roc_auc instead: ...
    """
    score = "roc_auc" if n_classes == 2 else "balanced_accuracy"
    return (
        f"One class has {100 * share:.1f} % of the rows, so guessing has an accuracy of {100 * share:.1f} %."
        f' Score by {score} instead: --scoring {score} (scoring="{score}" in Python).'
    )


def _are_codes(classes: Sequence[Any]) -> bool:
    """Whether the labels are the integers 0, 1, 2, ..., as classes usually are coded."""
    return len(classes) <= MAX_CODES and sorted(float(label) for label in classes) == [*range(len(classes))]
