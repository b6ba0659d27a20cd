"""Artificial tables whose relevant columns are known: the two of Rogers & Gunn, section 5.1."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from foresift._sklearn import InvalidParameterError

__all__ = ["make_friedman", "make_simple"]

FRIEDMAN_THRESHOLD = 14.0


def make_simple(
    n_samples: int = 300, *, n_noise: int = 7, random_state: int | np.random.RandomState | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Make the Simple table: two relevant columns, the second carrying more than the first.

    All columns are drawn from the uniform distribution on [0, 1). The first two make
    ``Y = X_1 ** 2 + 2 * X_2`` (Rogers & Gunn eq. 23); the class is 1 where Y is above its median.

    Parameters
    ----------
    n_samples : int, default=300
        The number of rows, at least 2.
    n_noise : int, default=7
        The number of irrelevant columns, which follow the relevant ones; 0 is allowed.
    random_state : int, RandomState or None, default=None
        An int gives the same table every time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 2 + n_noise)
        Columns 0 and 1 are relevant, the others are not.
    y : ndarray of int, shape (n_samples,)
        The class, 0 or 1. With an even number of rows there are as many of either, with an odd one there is
        one more of class 0.

    See Also
    --------
    make_friedman : Five relevant columns, with an interaction.

    Notes
    -----
    The paper does not say where it cuts Y into two classes. The median of the sample is our reading: it gives
    equal classes. The paper calls the other columns redundant; they are irrelevant.

    An int as `random_state` gives the same y and the same first columns for every `n_noise`.

    Examples
    --------
    >>> from foresift.datasets import make_simple
    >>> X, y = make_simple(random_state=0)
    >>> X.shape, int(y.sum())
    ((300, 9), 150)
    """
    _check_count("n_samples", n_samples, 2)
    _check_count("n_noise", n_noise, 0)
    random = check_random_state(random_state)
    relevant = random.uniform(size=(n_samples, 2))
    target = relevant[:, 0] ** 2 + 2.0 * relevant[:, 1]
    return _with_noise_columns(relevant, n_noise, random), (target > np.median(target)).astype(np.int64)


def make_friedman(
    n_samples: int = 200,
    *,
    n_noise: int = 5,
    noise: float = 1.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Make Friedman's table, cut into two classes: five relevant columns, the first two by interaction.

    All columns are drawn from the uniform distribution on [0, 1). The first five make
    ``Y = 10 * sin(pi * X_1 * X_2) + 20 * (X_3 - 1 / 2) ** 2 + 10 * X_4 + 5 * X_5 + e`` (Rogers & Gunn
    eq. 24), e being Gaussian; the class is 1 where Y is above 14.

    Parameters
    ----------
    n_samples : int, default=200
        The number of rows, at least 2.
    n_noise : int, default=5
        The number of irrelevant columns, which follow the relevant ones; 0 is allowed.
    noise : float, default=1.0
        The standard deviation of e; 0 makes the class a function of the columns.
    random_state : int, RandomState or None, default=None
        An int gives the same table every time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 5 + n_noise)
        Columns 0 to 4 are relevant, the others are not.
    y : ndarray of int, shape (n_samples,)
        The class, 0 or 1. Y is above 14 in a little more than half of all rows; a table of a few rows may
        have one class only.

    See Also
    --------
    make_simple : Two relevant columns and no noise in the target.
    sklearn.datasets.make_friedman1 : The same function for regression.

    Notes
    -----
    An int as `random_state` gives the same y and the same first columns for every `n_noise`, and the same
    columns for every `noise`.

    Examples
    --------
    >>> from foresift.datasets import make_friedman
    >>> X, y = make_friedman(n_noise=95, random_state=0)
    >>> X.shape, int(y.sum())
    ((200, 100), 110)
    """
    _check_count("n_samples", n_samples, 2)
    _check_count("n_noise", n_noise, 0)
    if not (isinstance(noise, Real) and 0 <= noise < np.inf):
        raise InvalidParameterError(f"noise must be a finite number, 0 or more; got {noise!r}.")
    random = check_random_state(random_state)
    relevant = random.uniform(size=(n_samples, 5))
    x1, x2, x3, x4, x5 = relevant.T
    target = 10.0 * np.sin(np.pi * x1 * x2) + 20.0 * (x3 - 0.5) ** 2 + 10.0 * x4 + 5.0 * x5
    target += noise * random.normal(size=n_samples)
    return _with_noise_columns(relevant, n_noise, random), (target > FRIEDMAN_THRESHOLD).astype(np.int64)


def _with_noise_columns(
    relevant: NDArray[np.float64], n_noise: int, random: np.random.RandomState
) -> NDArray[np.float64]:
    """Append uniform columns; drawn last and one by one, so that asking for more changes nothing before."""
    irrelevant = random.uniform(size=(n_noise, len(relevant))).T
    return np.hstack([relevant, irrelevant])


def _check_count(name: str, value: Any, least: int) -> None:
    if not isinstance(value, Integral) or value < least:
        raise InvalidParameterError(f"{name} must be a whole number, {least} or more; got {value!r}.")
