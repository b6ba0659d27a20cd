"""The size of a subset by the losses of held-out rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Choice", "choose_by_loss"]

# In standard errors of a difference of losses. A size is as good as the best within the first; columns
# predict if they are better than none by the second.
WITHIN, BEATS = 1.0, 2.3
WORSE = 1.64  # in one-sided tests at 5 %


class Choice(NamedTuple):
    """The size that a curve suggests, and whether so many columns predict better than none do.

    `worse` is the largest smaller size that predicts significantly worse; 0 if none does.
    """

    size: int
    predicts: bool
    worse: int = 0


def choose_by_loss(
    sizes: NDArray[np.intp], losses: NDArray[np.float64], of_none: NDArray[np.float64]
) -> Choice:
    """Choose the smallest size within one standard error of the best, by the losses of the same rows.

    It is the standard error of the difference, which is far smaller than that of the losses themselves: less
    is given away than by the usual rule.

    Parameters
    ----------
    sizes : ndarray of shape (n_sizes,)
        Numbers of columns, ascending; 0 if some are kept by request.
    losses : ndarray of shape (n_sizes, n_rows)
        Brier score of every held-out row.
    of_none : ndarray of shape (n_rows,)
        The same of the shares of the classes, or of the columns that are kept by request.

    Examples
    --------
    >>> losses = np.array([[0.5, 0.3, 0.4, 0.4], [0.2, 0.3, 0.2, 0.3], [0.1, 0.3, 0.2, 0.28]])
    >>> choose_by_loss(np.array([1, 2, 4]), losses, np.full(4, 0.5))
    Choice(size=4, predicts=True, worse=1)
    """
    best = losses[_first_least(losses.mean(axis=1))]
    at = int((_in_errors(losses - best) <= WITHIN).argmax())
    predicts = bool(_in_errors((losses[at] - of_none)[np.newaxis])[0] < -BEATS)
    worse = sizes[:at][_in_errors(losses[:at] - losses[at]) > WORSE]
    return Choice(int(sizes[at]), predicts, int(worse.max(initial=0)))


def _first_least(means: NDArray[np.float64]) -> int:
    return int((means <= means.min() + 1e-12).argmax())


def _in_errors(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean of every row in units of its standard error; of equal numbers, infinite or 0."""
    mean = differences.mean(axis=1)
    error = differences.std(axis=1, ddof=1) / np.sqrt(differences.shape[1])
    sign = np.where(np.abs(mean) < 1e-12, 0.0, np.copysign(np.inf, mean))
    return np.divide(mean, error, out=sign, where=error > 1e-12)
