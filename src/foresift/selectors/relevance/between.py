"""The share of a variance that is between groups: its moments if rows are permuted, and its p-value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from math import factorial, prod, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammainc, gammaincc, ndtri, stdtr

__all__ = ["ValuePowers", "between_log_pvalue", "between_moments", "min_rows", "pooled"]

MAX_GROUPS = 20  # that are compared; the rows of all others are one more
MIN_ROWS = 5  # of a group;
MIN_EXPECTED = 3.0  # or about so many rows of the rarer of two classes, if the groups say nothing

_SMALL = 0.05  # expected number of groups up to which it is the probability that there is one

_Partition = list[list[int]]
# How two or three pairs of indices may coincide, as names of the sums in `_sums_of_groups`, and of values.
_OF_GROUPS = {2: ("d2", "kk", "k"), 3: ("d3", "kd2", "d2", "dpd", "p3", "kkk", "kk", "k")}
_OF_VALUES = {2: ((4,), (2, 2)), 3: ((6,), (2, 4), (3, 3), (2, 2, 2))}


class ValuePowers(NamedTuple):
    """Sums of powers of values whose mean is 0."""

    squares: float
    cubes: float
    fourths: float
    sixths: float

    @classmethod
    def of(cls, values: NDArray[np.float64], counts: NDArray[np.float64] | None = None) -> ValuePowers:
        """Sum over values, each of which may have been counted several times."""
        squares = values**2
        weights = np.ones(len(values)) if counts is None else counts
        return cls(*(float(power @ weights) for power in (squares, squares * values, squares**2, squares**3)))


def min_rows(powers: ValuePowers, n_rows: float) -> float:
    """Rows that a group needs: more, the rarer a class is or the more the variance is due to few rows.

    Examples
    --------
    >>> few, half = np.repeat([0.9, -0.1], [10, 90]), np.repeat([0.5, -0.5], 50)
    >>> round(min_rows(ValuePowers.of(few), 100), 1), min_rows(ValuePowers.of(half), 100)
    (24.3, 5.0)
    """
    if not powers.squares > 0:
        return float(MIN_ROWS)
    return max(float(MIN_ROWS), MIN_EXPECTED * n_rows * powers.fourths / powers.squares**2)


def pooled(counts: NDArray[np.intp], least: float) -> NDArray[np.intp]:
    """Numbers of the groups that categories belong to: frequent ones have their own, the others share one.

    Parameters
    ----------
    counts : ndarray of int
        Rows of every category.
    least : float
        Rows of a group.

    Returns
    -------
    ndarray of int
        A group for every category. If the others are too few for a group, they are with the least frequent.

    Examples
    --------
    >>> pooled(np.array([3, 40, 2, 30, 9]), 5), pooled(np.array([40, 2, 30]), 5)
    (array([3, 0, 3, 1, 2]), array([0, 1, 1]))
    """
    order = np.argsort(-counts, kind="stable")
    n_frequent = min(MAX_GROUPS, int(np.count_nonzero(counts >= least)))
    groups = np.empty(len(counts), dtype=np.intp)
    groups[order] = np.minimum(np.arange(len(counts)), n_frequent)
    if counts[order[n_frequent:]].sum() < least:
        groups = np.minimum(groups, max(0, n_frequent - 1))
    return groups


def between_log_pvalue(
    counts: NDArray[np.intp], sums: NDArray[np.float64], powers: ValuePowers, least: float
) -> float:
    """Log of the p-value of the share of the variance of values that is between categories.

    For two classes the share is Pearson's chi-square over the number of rows. If rows are permuted, its mean,
    variance and skewness are known, whatever the values and the categories are. The p-value is that of a beta
    distribution with these three. If a single category reaches the share more easily than that, as where a
    class is rare, the p-value is the probability of this.

    Parameters
    ----------
    counts : ndarray of int
        Rows of every category.
    sums : ndarray
        Sums over the rows of every category of values whose mean over all rows is 0.
    powers : ValuePowers
        Sums of powers of these values over all rows.
    least : float
        Rows of a category that is compared; see `pooled`.

    Returns
    -------
    float
        NaN for values that are all equal, for fewer than three groups, and for hardly more rows than groups.

    Examples
    --------
    >>> values = np.repeat([0.5, -0.5], 30)
    >>> sums = values.reshape(3, 20).sum(axis=1)
    >>> float(np.exp(between_log_pvalue(np.array([20, 20, 20]), sums, ValuePowers.of(values), 5)))
    1.45...e-13
    """
    groups = pooled(counts, least)
    sizes = np.bincount(groups, counts).astype(np.float64)
    n_rows, k = float(sizes.sum()), len(sizes) - 1
    if k < 2 or n_rows < k + MIN_ROWS or not powers.squares > 0:
        return np.nan
    share = float((np.bincount(groups, sums) ** 2 / sizes).sum() / powers.squares)
    mean, variance, skewness = between_moments(sizes, powers)
    if not 0 < variance < mean * (1 - mean):
        return np.nan
    pvalue, alone = _upper_tail(share, mean, variance, skewness), _of_one_group(share, sizes, powers)
    if alone < _SMALL:
        pvalue = max(pvalue, alone)
    return float(np.log(max(pvalue, np.finfo(float).tiny)))


def between_moments(sizes: NDArray[np.float64], powers: ValuePowers) -> tuple[float, float, float]:
    """Mean, variance and skewness of the share between groups of these sizes, if rows are permuted.

    The share is a quadratic form of the values, whose squares add up to 1. Its matrix P projects on what
    groups have apart from the mean. So the mean of its second power is a sum of products P_ab P_cd times the
    mean product of the values a, b, c and d, and that of its third power has three factors. Both depend on
    which of the indices coincide, and follow from sums over groups and from sums of powers of values.

    Examples
    --------
    >>> values = np.array([-1.0, -1.0, 0.0, 0.0, 0.0, 1.0, 1.0])
    >>> [round(moment, 3) for moment in between_moments(np.array([2.0, 2.0, 3.0]), ValuePowers.of(values))]
    [0.333, 0.063, 0.752]
    """
    n_rows = float(sizes.sum())
    of_groups = _sums_of_groups(sizes, n_rows)
    u3, u4, u6 = (
        power / powers.squares ** (k / 2)
        for k, power in zip((3, 4, 6), (powers.cubes, powers.fourths, powers.sixths), strict=True)
    )
    of_values = {(4,): u4, (2, 2): 1.0, (6,): u6, (2, 4): u4, (3, 3): u3**2, (2, 2, 2): 1.0}
    raw = []
    for n_pairs in (2, 3):
        left = np.array([of_groups[name] for name in _OF_GROUPS[n_pairs]])
        right = np.array([of_values[name] for name in _OF_VALUES[n_pairs]])
        orders = 1 / np.cumprod(n_rows - np.arange(2 * n_pairs))  # of so many different rows
        raw.append(float(np.einsum("g,v,m,gvm", left, right, orders, _coefficients(n_pairs))))
    mean = (len(sizes) - 1) / (n_rows - 1)
    variance = raw[0] - mean**2
    third = raw[1] - 3 * mean * raw[0] + 2 * mean**3
    return mean, variance, third / max(variance, np.finfo(float).tiny) ** 1.5


def _sums_of_groups(sizes: NDArray[np.float64], n: float) -> dict[str, float]:
    """Sums over rows of products of elements of P: k is its trace, d its diagonal.

    Every row of P adds up to 0. "dpd" is the sum of d_a P_ab d_b, "p3" that of P_ab cubed.
    """
    k, d = len(sizes) - 1.0, 1 / sizes - 1 / n
    d2, weighted = float(sizes @ d**2), sizes * d
    return {
        "k": k,
        "kk": k**2,
        "kkk": k**3,
        "d2": d2,
        "kd2": k * d2,
        "d3": float(sizes @ d**3),
        "dpd": float((weighted**2 / sizes).sum() - weighted.sum() ** 2 / n),
        "p3": float((sizes**2 * d**3).sum() - (n**2 - (sizes**2).sum()) / n**3),
    }


@lru_cache
def _coefficients(n_pairs: int) -> NDArray[np.float64]:
    """How often a sum of groups meets a sum of values, by the number of different rows.

    Sums over different rows follow from sums over any rows by inclusion and exclusion: over all ways in which
    indices may coincide, which are partitions. A partition in which some index is alone adds nothing: rows of
    P and values add up to 0.
    """
    ways = list(_partitions(list(range(2 * n_pairs))))
    sums = [way for way in ways if min(map(len, way)) > 1]
    found = np.zeros((len(_OF_GROUPS[n_pairs]), len(_OF_VALUES[n_pairs]), 2 * n_pairs))
    for way in ways:
        signed = [(coarser, sign) for coarser in sums if (sign := _moebius(way, coarser))]
        for one, sign in signed:
            group = _OF_GROUPS[n_pairs].index(_name(one))
            for other, other_sign in signed:
                value = _OF_VALUES[n_pairs].index(tuple(sorted(map(len, other))))
                found[group, value, len(way) - 1] += sign * other_sign
    return found


def _partitions(items: list[int]) -> Iterator[_Partition]:
    if not items:
        yield []
        return
    first, *rest = items
    for way in _partitions(rest):
        yield [[first], *way]
        for k, block in enumerate(way):
            yield [*way[:k], [first, *block], *way[k + 1 :]]


def _moebius(way: _Partition, coarser: _Partition) -> int:
    """Sign and weight of a coarser partition in inclusion and exclusion; 0 if it is not coarser."""
    block_of = {item: k for k, block in enumerate(coarser) for item in block}
    merged = [{block_of[item] for item in block} for block in way]
    if any(len(blocks) > 1 for blocks in merged):
        return 0
    return prod(
        (-1) ** (n - 1) * factorial(n - 1) for n in Counter(min(blocks) for blocks in merged).values()
    )


def _name(way: _Partition) -> str:
    """Name the sum of products of P in which indices coincide like this; 0 and 1 are a pair, 2 and 3, ..."""
    block_of = {item: k for k, block in enumerate(way) for item in block}
    n_pairs = len(block_of) // 2
    on_diagonal = sum(block_of[2 * k] == block_of[2 * k + 1] for k in range(n_pairs))
    shape = tuple(sorted(map(len, way)))
    names = {
        (4,): {2: "d2"},
        (2, 2): {2: "kk", 0: "k"},
        (6,): {3: "d3"},
        (2, 4): {3: "kd2", 1: "d2"},
        (3, 3): {2: "dpd", 0: "p3"},
        (2, 2, 2): {3: "kkk", 1: "kk", 0: "k"},
    }
    return names[shape][on_diagonal]


def _upper_tail(share: float, mean: float, variance: float, skewness: float) -> float:
    """Probability of a share or more, by a beta distribution from some least number to 1.

    The least number is that with which the skewness is right, and 0 if it need not be larger.
    """
    below, above = 0.0, mean
    if _beta(below, mean, variance)[2] < skewness:
        for _ in range(50):
            middle = (below + above) / 2
            if _beta(middle, mean, variance)[2] < skewness:
                below = middle
            else:
                above = middle
    first, total, _ = _beta(below, mean, variance)
    rest = min(max((1 - share) / (1 - below), 0.0), 1.0)
    return float(betainc(total * (1 - first), total * first, rest))


def _of_one_group(share: float, sizes: NDArray[np.float64], powers: ValuePowers) -> float:
    """Expected number of groups that reach the share by themselves, if the others do not differ.

    The sum over a group has Student's distribution if values are normal, and a gamma distribution with the
    skewness that is known if they are rare.
    """
    n = float(sizes.sum())
    share = min(share, 1 - np.finfo(float).eps)
    z = -ndtri(max(stdtr(n - 2, -sqrt(share * (n - 2) / (1 - share))), np.finfo(float).tiny))
    chosen = sizes * (n - sizes) / (n * (n - 1))
    skewness = np.abs(chosen * (n - 2 * sizes) / (n - 2) * powers.cubes) / (chosen * powers.squares) ** 1.5
    shape = 4 / np.maximum(skewness, 1e-3) ** 2
    above = gammaincc(shape, shape + z * np.sqrt(shape))
    below = gammainc(shape, np.maximum(shape - z * np.sqrt(shape), 0))
    return float((above + below).sum())


def _beta(least: float, mean: float, variance: float) -> tuple[float, float, float]:
    """Mean, sum of the parameters, and skewness of a beta distribution that was moved to begin at `least`."""
    first = (mean - least) / (1 - least)
    total = first * (1 - first) * (1 - least) ** 2 / variance - 1
    if first <= 0 or total <= 0:
        return first, total, np.inf
    return first, total, 2 * (1 - 2 * first) * sqrt(total + 1) / ((total + 2) * sqrt(first * (1 - first)))
