"""Artificial tables with known relevant columns."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.utils import check_random_state

from foresift.datasets.frames import frame_of

__all__ = ["make_friedman", "make_quantity", "make_simple", "make_waveform"]

FRIEDMAN_THRESHOLD = 14.0


def make_simple(
    n_samples: int = 300, *, n_noise: int = 7, random_state: int | np.random.RandomState | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Make the Simple table: two relevant columns, the second more informative than the first.

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
        The class, 0 or 1, equally frequent; with an odd number of rows there is one more of class 0.

    See Also
    --------
    make_friedman : Five relevant columns, with an interaction.

    Notes
    -----
    The paper does not define the threshold of Y; the median gives equal classes. The paper calls the other
    columns redundant; they are irrelevant.

    With an int as `random_state`, y and the first columns are the same for every `n_noise`.

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
    """Make Friedman's table with two classes: five relevant columns, the first two with an interaction.

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
        The class, 0 or 1. Slightly more than half of the rows have class 1; a table of a few rows may have
        one class only.

    See Also
    --------
    make_simple : Two relevant columns and no noise in the target.
    sklearn.datasets.make_friedman1 : The same function for regression.

    Notes
    -----
    With an int as `random_state`, y and the first columns are the same for every `n_noise`, and the columns
    for every `noise`.

    Examples
    --------
    >>> from foresift.datasets import make_friedman
    >>> X, y = make_friedman(n_noise=95, random_state=0)
    >>> X.shape, int(y.sum())
    ((200, 100), 110)
    """
    _check_count("n_samples", n_samples, 2)
    _check_count("n_noise", n_noise, 0)
    _check_noise(noise)
    random = check_random_state(random_state)
    relevant = random.uniform(size=(n_samples, 5))
    x1, x2, x3, x4, x5 = relevant.T
    target = 10.0 * np.sin(np.pi * x1 * x2) + 20.0 * (x3 - 0.5) ** 2 + 10.0 * x4 + 5.0 * x5
    target += noise * random.normal(size=n_samples)
    return _with_noise_columns(relevant, n_noise, random), (target > FRIEDMAN_THRESHOLD).astype(np.int64)


def make_waveform(
    n_samples: int = 5000,
    *,
    n_noise: int = 0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Make Breiman's waveforms: three classes of mixtures of two of three triangles, and noise.

    A row is ``u * h + (1 - u) * g + e`` at 21 points, h and g being two triangles of height 6 around the
    points 7, 11 and 15, u uniform on [0, 1) and e standard Gaussian. Class 0 mixes the first and the last
    triangle, class 1 the first two, class 2 the last two.

    Parameters
    ----------
    n_samples : int, default=5000
        The number of rows, at least 2.
    n_noise : int, default=0
        The number of irrelevant Gaussian columns, which follow the 21 others; 19 for the version of 40
        columns.
    random_state : int, RandomState or None, default=None
        An int gives the same table every time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 21 + n_noise)
        The first and the last of the 21 columns are noise too: all triangles are 0 there.
    y : ndarray of int, shape (n_samples,)
        The class, 0, 1 or 2, each as likely as the others.

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), Classification and Regression Trees, section 2.6.2.

    Examples
    --------
    >>> from foresift.datasets import make_waveform
    >>> X, y = make_waveform(300, n_noise=19, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((300, 40), [0, 1, 2])
    """
    _check_count("n_samples", n_samples, 2)
    _check_count("n_noise", n_noise, 0)
    random = check_random_state(random_state)
    triangles = np.maximum(6.0 - np.abs(np.arange(1, 22) - np.array([[7], [11], [15]])), 0.0)
    y = random.randint(0, 3, size=n_samples).astype(np.int64)
    share = random.uniform(size=(n_samples, 1))
    first, second = np.array([0, 0, 1])[y], np.array([2, 1, 2])[y]
    waves = share * triangles[first] + (1.0 - share) * triangles[second]
    waves += random.normal(size=waves.shape)
    # Drawn last, column by column, so that the first columns do not depend on n_noise.
    return np.hstack([waves, random.normal(size=(n_noise, n_samples)).T]), y


def make_quantity(
    n_samples: int = 300,
    *,
    n_relevant: int = 4,
    n_noise: int = 6,
    signal: str = "additive",
    block_size: int = 1,
    correlation: float = 0.7,
    nominal: float = 0.0,
    n_categories: int = 5,
    noise: float = 1.0,
    heteroscedastic: bool = False,
    heavy_tailed: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Any, NDArray[np.float64], NDArray[np.str_]]:
    """Make a table for regression: relevant, redundant and irrelevant columns, numeric and nominal.

    The target is a signal of variance 1, made of the relevant columns, plus noise. Each relevant column has
    an effect g of mean 0 and variance 1: the value itself if it is numeric (standard Gaussian), a number for
    each category if it is nominal.

    Parameters
    ----------
    n_samples : int, default=300
        The number of rows, at least 2.
    n_relevant : int, default=4
        The number of relevant columns; with 0 the target is noise.
    n_noise : int, default=6
        The number of irrelevant columns.
    signal : {"additive", "interaction"}, default="additive"
        "additive": the sum of the effects. "interaction": the sum of the products of two effects, g_1 g_2 +
        g_3 g_4 + ...; the mean of y does not depend on one of the columns alone. The last of an odd number of
        columns is added.
    block_size : int, default=1
        Columns come in independent blocks of this size. The others in the block of a relevant column are
        redundant: they are informative, but not if the relevant one is known. The irrelevant columns have
        blocks of their own.
    correlation : float, default=0.7
        Correlation of any two numeric columns in a block, from 0 to below 1.
    nominal : float, default=0.0
        The fraction of blocks with nominal columns, from 0 to 1.
    n_categories : int, default=5
        The number of categories of nominal columns, equally frequent, at least 2.
    noise : float, default=1.0
        The standard deviation of the noise, and so its ratio to the signal's.
    heteroscedastic : bool, default=False
        Whether the standard deviation of the noise grows with the signal s, like exp(s / 2).
    heavy_tailed : bool, default=False
        Whether the noise has Student's t distribution with 3 degrees of freedom; otherwise it is Gaussian.
    random_state : int, RandomState or None, default=None
        An int gives the same table every time.

    Returns
    -------
    X : DataFrame or dict of str to ndarray
        Columns x1, x2, ...: relevant ones first, then redundant ones, then irrelevant ones. A dict without
        pandas.
    y : ndarray of float64, shape (n_samples,)
        The quantity.
    role : ndarray of str, shape (n_features,)
        What each column is: "relevant", "redundant" or "noise".

    See Also
    --------
    sklearn.datasets.make_friedman1 : Five relevant columns, with an interaction.

    Notes
    -----
    A nominal column is a Gaussian one, cut into categories that are then named in random order.

    With an int as `random_state`, y and the first columns are the same for every `n_noise`.

    Examples
    --------
    >>> from foresift.datasets import make_quantity
    >>> X, y, role = make_quantity(block_size=2, nominal=0.5, random_state=0)
    >>> X.shape, [str(kind) for kind in X.dtypes[:4]]
    ((300, 14), ['float64', 'category', 'float64', 'category'])
    >>> [(role == kind).sum().item() for kind in ("relevant", "redundant", "noise")]
    [4, 4, 6]
    """
    for name, value, least in [
        ("n_samples", n_samples, 2),
        ("n_relevant", n_relevant, 0),
        ("n_noise", n_noise, 0),
        ("block_size", block_size, 1),
        ("n_categories", n_categories, 2),
    ]:
        _check_count(name, value, least)
    _check_share("correlation", correlation, below_one=True)
    _check_share("nominal", nominal)
    _check_noise(noise)
    if signal not in ("additive", "interaction"):
        raise ValueError(f'signal must be "additive" or "interaction"; got {signal!r}.')
    if n_relevant + n_noise == 0:
        raise ValueError("n_relevant and n_noise are both 0: a table needs at least one column.")
    random = check_random_state(random_state)

    def block(number: int) -> list[tuple[NDArray[Any], NDArray[np.float64]]]:
        common = np.sqrt(correlation) * random.normal(size=n_samples)
        latent = common + np.sqrt(1 - correlation) * random.normal(size=(block_size, n_samples))
        is_nominal = int((number + 1) * nominal) > int(number * nominal)  # evenly spread
        return [_categories(z, n_categories, random) if is_nominal else (z, z) for z in latent]

    relevant = [block(k) for k in range(n_relevant)]
    y = _signal([columns[0][1] for columns in relevant], signal, n_samples)
    error = (
        random.standard_t(3, size=n_samples) / np.sqrt(3) if heavy_tailed else random.normal(size=n_samples)
    )
    if heteroscedastic:
        scale = np.exp(y / 2)
        error *= scale / np.sqrt(np.mean(scale**2))
    y = y + noise * error
    n_blocks = -(-n_noise // block_size)
    # Whole blocks, so that the first columns do not depend on n_noise.
    irrelevant = [column for k in range(n_blocks) for column, _ in block(k)][:n_noise]
    columns = [columns[0][0] for columns in relevant]
    columns += [column for columns in relevant for column, _ in columns[1:]]
    role = np.repeat(["relevant", "redundant", "noise"], [n_relevant, len(columns) - n_relevant, n_noise])
    columns += irrelevant
    return frame_of({f"x{j}": column for j, column in enumerate(columns, 1)}), y, role


def _categories(
    latent: NDArray[np.float64], n_categories: int, random: np.random.RandomState
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Cut a Gaussian column into categories, and give each an effect, in random order."""
    codes = np.minimum((norm.cdf(latent) * n_categories).astype(np.intp), n_categories - 1)
    steps = np.arange(n_categories) - (n_categories - 1) / 2
    effects = random.permutation(steps / steps.std())
    names = np.array([f"c{k}" for k in random.permutation(n_categories)], dtype=object)
    return names[codes], effects[codes]


def _signal(effects: list[NDArray[np.float64]], signal: str, n_samples: int) -> NDArray[np.float64]:
    """Sum of effects, or of products of two, over its standard deviation."""
    if signal == "interaction":
        pairs = [effects[k : k + 2] for k in range(0, len(effects), 2)]
        effects = [np.prod(pair, axis=0) for pair in pairs]
    return np.sum(effects, axis=0) / np.sqrt(len(effects)) if effects else np.zeros(n_samples)


def _with_noise_columns(
    relevant: NDArray[np.float64], n_noise: int, random: np.random.RandomState
) -> NDArray[np.float64]:
    """Append uniform columns, drawn last, so that the first columns do not depend on n_noise."""
    irrelevant = random.uniform(size=(n_noise, len(relevant))).T
    return np.hstack([relevant, irrelevant])


def _check_count(name: str, value: Any, least: int) -> None:
    if not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number, {least} or more; got {value!r}.")


def _check_noise(noise: float) -> None:
    if not (isinstance(noise, Real) and 0 <= noise < np.inf):
        raise ValueError(f"noise must be a finite number, 0 or more; got {noise!r}.")


def _check_share(name: str, value: float, *, below_one: bool = False) -> None:
    if not (isinstance(value, Real) and 0 <= value <= 1) or (below_one and value == 1):
        raise ValueError(f"{name} must be from 0 to {'below ' if below_one else ''}1; got {value!r}.")
