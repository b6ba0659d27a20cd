"""How far the answer of a selection can be trusted, in three levels."""

from __future__ import annotations

from typing import NamedTuple

from foresift.evaluation.select.assess import Assessment
from foresift.report.numbers import PLAIN
from foresift.stats import Stability

__all__ = ["CLEAR", "PROVISIONAL", "TOO_FEW_ROWS", "Certainty", "certainty_of"]

CLEAR, PROVISIONAL, TOO_FEW_ROWS = "clear", "provisional", "too few rows"
NO_LOSS = 0.02  # of accuracy or area under the curve; less is no loss worth mentioning
WIDE = 0.15  # width of an interval of a difference that says nothing
UNSTABLE, CHANCE = 0.4, 0.2  # stability below which columns may well be others, or are as good as drawn
FEW_ROWS = 100  # whatever the folds say: with fewer, differences of several points go unnoticed


class Certainty(NamedTuple):
    """A level, and why it is no higher."""

    level: str
    reasons: list[str]


def certainty_of(a: Assessment, stability: Stability | None) -> Certainty:
    """Judge the difference between the selected columns and all, and how stable the selection is.

    The answer is clear if the difference is significant, or a loss of two points can be excluded, and if
    subsamples of the rows select the same columns. It is provisional otherwise. There are too few rows to say
    if there are fewer than 100, if the interval of the difference is as wide as 15 points, or if subsamples
    hardly agree.
    """
    found = a.check.difference
    value = 1.0 if stability is None or stability.value != stability.value else stability.value
    unit = " points" if a.metric == "accuracy" else ""
    reasons, level = [], CLEAR
    if a.n_rows < FEW_ROWS:
        reasons.append(f"the check has only {a.n_rows} rows")
    if found.low < -NO_LOSS and found.high >= 0 and found.low <= 0:
        level = PROVISIONAL
        loss = PLAIN.difference(a.metric, -found.low).lstrip("+")
        reasons.append(f"a loss of {loss}{unit} cannot be excluded")
    if value < UNSTABLE:
        level = PROVISIONAL
        reasons.append(f"subsamples select different columns (stability {value:.2f})")
    if a.n_rows < FEW_ROWS or found.high - found.low > WIDE or value < CHANCE:
        level = TOO_FEW_ROWS
    return Certainty(level, reasons)
