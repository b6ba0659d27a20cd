"""What a reader should know of a target: numbers taken as classes, and classes that look like one."""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterable, Sequence
from typing import Any

import narwhals as nw
import numpy as np

__all__ = ["are_numbers", "are_whole_numbers", "notes_on_classes"]

MAX_CODES = 10  # labels from 0 on that are taken as classes without a word
MAX_GROUPS = 3  # of classes that look like one, which a note names
_WHOLE = re.compile(r"[+-]?(0|[1-9]\d*)(\.0*)?")


def are_numbers(y: Any, classes: Iterable[Any]) -> bool:
    """Whether a target holds numbers, and not categories, text or truth values.

    Examples
    --------
    >>> are_numbers([3, 4, 5], [3, 4, 5]), are_numbers(["3", "4"], ["3", "4"])
    (True, False)
    """
    native = nw.from_native(y, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        native = native[:, 0]
    dtype = native.dtype if isinstance(native, nw.Series) else getattr(y, "dtype", None)
    if dtype in (nw.Categorical, nw.Enum) or getattr(dtype, "name", "") == "category":
        return False
    return all(
        isinstance(label, numbers.Real) and not isinstance(label, bool | np.bool_) for label in classes
    )


def are_whole_numbers(texts: Iterable[str]) -> bool:
    """Whether all labels that were read from a file are whole numbers, and none a code such as 007.

    Examples
    --------
    >>> are_whole_numbers(["3", "-4", "5.0"]), are_whole_numbers(["3", "4.5"]), are_whole_numbers(["007"])
    (True, False, False)
    """
    return all(_WHOLE.fullmatch(text.strip()) for text in texts)


def notes_on_classes(
    classes: Sequence[Any], *, numeric: bool, how_to_confirm: str = "give them as text"
) -> list[str]:
    """Say that more than two numbers were taken as classes, and which classes may be one.

    Parameters
    ----------
    classes : sequence
        The different labels.
    numeric : bool
        Whether they are numbers that nobody has called classes.
    how_to_confirm : str
        How to say that they are classes.

    Returns
    -------
    list of str
        Whole sentences, maybe none.

    Examples
    --------
    >>> notes_on_classes(["YES", "no", "yes"], numeric=False)
    ["The classes 'YES' and 'yes' differ only in capitals or blanks: write alike what is one class."]
    """
    notes = []
    if numeric and len(classes) > 2 and not _are_codes(classes):
        notes.append(
            f"The target has {len(classes)} different whole numbers, taken as classes. If they are amounts,"
            f" cut them into a few ranges first, as with pandas.qcut; if they name classes, {how_to_confirm}."
        )
    alike: dict[str, list[str]] = {}
    for label in map(str, classes):
        alike.setdefault(label.strip().casefold(), []).append(label)
    groups = [" and ".join(map(repr, labels)) for labels in alike.values() if len(labels) > 1]
    if groups:
        named = "; ".join(groups[:MAX_GROUPS]) + ("; ..." if len(groups) > MAX_GROUPS else "")
        notes.append(f"The classes {named} differ only in capitals or blanks: write alike what is one class.")
    return notes


def _are_codes(classes: Sequence[Any]) -> bool:
    """Whether the labels are 0, 1, 2 and so on, as classes are coded; hardly any quantity is."""
    return len(classes) <= MAX_CODES and sorted(float(label) for label in classes) == [*range(len(classes))]
