"""What a selection does with its target: its kind, its logarithm, facts and notes about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.target import Quantity, Target, table_task_of, task_of
from foresift.data.target_column import target_column
from foresift.data.target_notes import are_numbers, note_on_quantity, notes_on_classes
from foresift.evaluation.select.assess import Assessment
from foresift.evaluation.select.judging import is_skewed, logarithm
from foresift.selectors.base import with_task

__all__ = ["Modelled", "facts_of", "notes_on", "prepared"]

TASKS = ("auto", "classification", "regression")
DOMINANT = 0.5  # of the variance
FEW = 10  # rows, of which one may be that far out
WORTH = 0.97  # of the error, up to which a logarithm is offered
MAX_BINS = 40  # of a histogram


@dataclass(frozen=True, eq=False)
class Modelled:
    """The target as it is modelled.

    Attributes
    ----------
    task : str
        "classification" or "regression".
    y : array-like
        The target, or its logarithm.
    back : callable or None
        From the logarithm to the unit of the target.
    asked : bool
        Whether the user named the task.
    """

    task: str
    y: Any
    back: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None
    asked: bool = False

    def tell(self, selector: Any) -> Any:
        """Set the task of a selector that leaves it open."""
        return with_task(selector, self.task)

    def in_units(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """A modelled quantity in its unit."""
        return y if self.back is None else self.back(y)


def prepared(y: Any, task: str, method: Any = "auto", *, log_target: bool = False) -> Modelled:
    """Find the task, and take the logarithm if that is asked for.

    Examples
    --------
    >>> prepared([1.5, 2.5, 4.0], "auto").task, prepared(["a", "b"], "auto").task
    ('regression', 'classification')
    """
    if task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(TASKS)}, but is {task!r}.")
    of_method = getattr(method, "task", "auto")
    asked = task != "auto" or of_method != "auto"
    if task == "auto":
        task = of_method if of_method in TASKS[1:] else table_task_of(y)
    if (task, task_of(y)) == ("classification", "regression"):  # numbers with fractions
        y = target_column(y)[0].astype(str)
    _require_values(y, task)
    if not log_target:
        return Modelled(task, y, asked=asked)
    if task != Quantity.task:
        raise ValueError("log_target is for a quantity, but the target holds classes: leave it out.")
    numbers = Quantity.read(y, len(y)).y
    if numbers.min() < 0:
        raise ValueError(
            f"log_target needs a target that is not negative, but its least value is {numbers.min():.6g}:"
            " leave it out."
        )
    return Modelled(task, *logarithm(numbers), asked=asked)


def _require_values(y: Any, task: str) -> None:
    """Refuse classes that hardly repeat."""
    values = target_column(y, warn=False)[0]
    if task == Quantity.task or values.dtype.kind not in "OUS":
        return
    n_values, n_rows = len(set(values.tolist())), len(values)
    if n_values > max(20, n_rows // 2):
        raise ValueError(
            f"y has {n_values} values in {n_rows} rows: too many classes. Merge them into a few with several"
            " rows each."
        )


def facts_of(target: Target, modelled: Modelled, of_all: NDArray[np.int64] | None = None) -> dict[str, Any]:
    """What JSON and the report tell of a target: the classes and their counts, or a histogram.

    If the target is that of a sample, `of_all` counts the classes in all rows.
    """
    if not isinstance(target, Quantity):
        counts = (target.counts() if of_all is None else of_all).astype(int).tolist()  # type: ignore[attr-defined]
        names = map(str, target.labels.tolist())  # type: ignore[attr-defined]
        classes = [{"name": c, "count": n} for c, n in zip(names, counts, strict=True)]
        return {"task": target.task, "classes": classes}
    y = modelled.in_units(target.y)
    counts, edges = np.histogram(y, bins=_edges(y))
    low, middle, high = np.quantile(y, [0.25, 0.5, 0.75])
    quantity = {
        "edges": edges.tolist(),
        "counts": counts.tolist(),
        "min": float(y.min()),
        "quartiles": [float(low), float(middle), float(high)],
        "max": float(y.max()),
        "mean": float(y.mean()),
        "deviation": float(y.std()),
        "log": modelled.back is not None,
    }
    return {"task": target.task, "classes": [], "quantity": quantity}


def _edges(y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Edges of a histogram: one bin for each of a few whole numbers, else by the usual rules."""
    span = np.ptp(y)
    if span < MAX_BINS and (y == np.trunc(y)).all():
        return np.arange(y.min(), y.max() + 2) - 0.5
    n_bins = min(MAX_BINS, len(np.histogram_bin_edges(y, "sturges")) * 2)
    return np.linspace(y.min(), y.max(), n_bins + 1)


def notes_on(y: Any, target: Target, modelled: Modelled, assessment: Assessment | None) -> list[str]:
    """What a reader should know of the target."""
    if not isinstance(target, Quantity):
        classes = target.labels.tolist()  # type: ignore[attr-defined]
        return notes_on_classes(classes, numeric=not modelled.asked and are_numbers(y, classes))
    notes = [] if modelled.asked or modelled.back is not None else [note_on_quantity(target.y)]
    return notes + _note_on_skew(target.y, modelled, assessment)


def _note_on_skew(y: NDArray[np.float64], modelled: Modelled, a: Assessment | None) -> list[str]:
    """Offer the logarithm of a skewed quantity, with what it would change."""
    if modelled.back is None and (share := _largest_share(y)) > DOMINANT:
        if_right = " If it is right, try log_target=True." if y.min() >= 0 else ""
        return [
            f"One value makes up {100 * share:.0f} % of the variance of the target, so R2 says little: check"
            f" it.{if_right}"
        ]
    if modelled.back is not None or y.min() < 0 or not is_skewed(y):
        return []
    text = "The target is skewed: a few large values decide R2. log_target=True models its logarithm"
    if a is None or a.errors is None or a.log_error is None:
        return [f"{text}."]
    if a.log_error > WORTH * a.errors.full:
        return []
    return [
        f"{text}: {a.model.name} on all columns is then off by {a.log_error:.3g} on average, instead of"
        f" {a.errors.full:.3g}."
    ]


def _largest_share(y: NDArray[np.float64]) -> float:
    """Share of the largest squared deviation from the median in all of them.

    Examples
    --------
    >>> _largest_share(np.append(np.arange(30.0), 1e6)) > 0.99
    True
    """
    squares = (y - np.median(y)) ** 2
    return float(squares.max() / squares.sum()) if len(y) > FEW else 0.0
