"""How far the answer of a selection can be trusted, in three levels."""

from __future__ import annotations

from typing import NamedTuple

from foresift.evaluation.select.assess import Assessment
from foresift.report.numbers import PLAIN

__all__ = ["CLEAR", "PROVISIONAL", "TOO_FEW_ROWS", "Certainty", "certainty_of"]

LEVELS = CLEAR, PROVISIONAL, TOO_FEW_ROWS = "clear", "provisional", "too few rows"
UNSTABLE, CHANCE = 0.4, 0.2  # stability below which columns may well be others, or are as good as drawn
FEW_ROWS = 100  # whatever the folds say: with fewer, differences of several points go unnoticed


class Certainty(NamedTuple):
    """A level, and why it is no higher."""

    level: str
    reasons: list[str]


def certainty_of(
    a: Assessment, stability: float | None, *, significant: bool = True, any_kept: bool = True
) -> Certainty:
    """Judge the difference between the selected columns and all, and how stable the selection is.

    The answer is clear if the difference is significant, or a loss of two points can be excluded, and if
    subsamples of the rows select the same columns. It is provisional otherwise, and if columns are kept that
    are not significant. There are too few rows to say if there are fewer than 100, if a loss cannot be
    excluded and the interval of the difference is wider than 15 points, or if subsamples hardly agree. The
    limits are those of accuracy; see `Judge.limits` for others.

    Parameters
    ----------
    a : Assessment
        What the folds show.
    stability : float or None
        Of the relevance test; None if there is no test, or if it found nothing. 0 if it found something in
        all rows and nothing in subsamples.
    significant : bool, default=True
        Whether the kept columns passed the test, if there is one.
    any_kept : bool, default=True
        Whether any column is kept, beside those by request.

    Returns
    -------
    Certainty
        The level, and what speaks against a higher one.
    """
    doubts = []
    if a.n_rows < FEW_ROWS:
        doubts.append((TOO_FEW_ROWS, f"the check has only {a.n_rows} rows"))
    if not significant:
        doubts.append((PROVISIONAL, "no column is significant alone"))
    found = a.check.difference
    no_loss, wide = a.judge.limits(a.check.full.value - a.baseline)
    if found.low < -no_loss and found.high >= 0:
        loss = PLAIN.difference(a.metric, -found.low).lstrip("+")
        unit = " points" if a.metric == "accuracy" else f" in {a.metric}"
        level = TOO_FEW_ROWS if found.high - found.low > wide else PROVISIONAL
        doubt = f"a loss of up to {loss}{unit} cannot be excluded"
        if not any_kept:
            without = "guessing" if a.curve.sizes[0] else "the columns that you keep"
            doubt = f"{a.model.name} on all columns may be up to {loss}{unit} better than {without}"
        doubts.append((level, doubt))
    if stability is not None and stability < UNSTABLE:  # NaN is not: every column passes every time
        level = TOO_FEW_ROWS if stability < CHANCE else PROVISIONAL
        doubts.append((level, f"subsamples do not select the same columns (stability {stability:.2f})"))
    level = max((level for level, _ in doubts), key=LEVELS.index, default=CLEAR)
    return Certainty(level, [reason for _, reason in doubts])
