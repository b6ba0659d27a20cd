"""Gain and split information of the best split of every column of coded blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from foresift.data.coded_blocks import CodedBlocks
from foresift.data.target import Quantity
from foresift.engine.histograms import Root, root_histograms

__all__ = ["BinnedQuantity", "best_splits", "binned_quantity"]

_BITS = 24  # of a score that the core adds up; two of them make one of 48
_ROUNDING = 1e-12  # cuts that gain less than the best by no more than this, relative to it, are as good
_Sums = NDArray[np.float64]  # of every code: rows of each class, or rows and the sum of a quantity


class BinnedQuantity(NamedTuple):
    """What is known of a quantity in bins.

    Attributes
    ----------
    mean : ndarray of shape (n_bins,)
        Mean of every bin, by the rows of a sample.
    variance : float
        Variance of all rows: that of the means, and what the sample says of the variance within bins.
    """

    mean: NDArray[np.float64]
    variance: float


def best_splits(blocks: CodedBlocks) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gain and split information of the best split of every column, over all rows.

    Numeric columns are cut between two codes, nominal ones have a branch per code. The gain is that on the
    rows where the column is known times their share, as that of `root_gains`.

    Returns
    -------
    gains : ndarray of shape (n_columns,)
        In bits, or as a share of the variance of a quantity.
    information : ndarray of shape (n_columns,)
        That of the split itself, in bits; missing values are one more branch.

    Examples
    --------
    >>> from foresift.data.row_source import InMemory
    >>> from foresift.data.target import Target
    >>> from foresift.engine.local_blocks import LocalBlocks
    >>> X = np.array([[1.0], [2.0], [3.0], [np.nan]])
    >>> best_splits(LocalBlocks(InMemory(X, Target.of(["a", "b", "b", "b"], 4)), None, "auto"))
    (array([0.68872188]), array([1.5]))
    """
    quantity = blocks.coding.labels is None
    sums = _sums_of_quantity(blocks) if quantity else _counts_of_classes(blocks)
    purity = _explained if quantity else _negative_entropy
    size: Callable[[_Sums], _Sums] = (lambda some: some[0]) if quantity else (lambda some: some.sum(axis=0))
    gains, information = np.zeros((2, blocks.n_columns))
    for j, (of_codes, is_nominal) in enumerate(zip(sums, blocks.schema.nominal, strict=True)):
        known, missing = of_codes[:, :-1], size(of_codes[:, -1:])
        whole = known.sum(axis=1, keepdims=True)
        if is_nominal:
            gain, branches = purity(known).sum(), size(known)
        else:
            gain, branches = _best_cut(known, whole, purity, size)
        gains[j] = max(0.0, gain - float(purity(whole)[0])) / blocks.n_rows
        sizes = np.append(branches[branches > 0], missing[missing > 0])
        information[j] = np.log2(blocks.n_rows) - (xlogy(sizes, sizes) / np.log(2)).sum() / blocks.n_rows
    return gains, information


def _best_cut(
    known: _Sums, whole: _Sums, purity: Callable[[_Sums], _Sums], size: Callable[[_Sums], _Sums]
) -> tuple[float, _Sums]:
    """Purity of both sides of the best cut, and their sizes; of equally good ones, the lowest."""
    below = np.cumsum(known, axis=1)
    above = whole - below
    possible = np.flatnonzero((size(below) > 0) & (size(above) > 0))
    if not len(possible):
        return float(purity(whole)[0]), size(whole)
    below, above = below[:, possible], above[:, possible]
    of_cuts = purity(below) + purity(above)
    gain = of_cuts - float(purity(whole)[0])
    at = int((gain >= gain.max() * (1 - _ROUNDING)).argmax())
    return float(of_cuts[at]), np.append(size(below)[at], size(above)[at])


def _negative_entropy(counts: _Sums) -> _Sums:
    """Rows times the entropy of their classes in bits, negative, of every branch."""
    total = counts.sum(axis=0)
    return np.asarray((xlogy(counts, counts).sum(axis=0) - xlogy(total, total)) / np.log(2))


def _explained(sums: _Sums) -> _Sums:
    """Sum of squares that the mean of every branch explains, if the mean of all rows is 0."""
    rows, total = sums
    return np.divide(total**2, rows, out=np.zeros_like(total), where=rows > 0)


def _counts_of_classes(blocks: CodedBlocks) -> Iterator[_Sums]:
    for counts in root_histograms(blocks, Root.of(blocks), np.arange(blocks.n_columns)):
        yield counts.astype(np.float64)


def _sums_of_quantity(blocks: CodedBlocks) -> Iterator[_Sums]:
    """Rows of every code, and the sum of their deviations from the mean in standard deviations.

    Scores of 24 bits would round: two sums are those of scores of 48.
    """
    mean, variance = binned_quantity(blocks)
    low, unit = mean.min(), np.ptp(mean) / (2.0 ** (2 * _BITS) - 1)
    whole = np.round((mean - low) / unit).astype(np.int64)
    centre = blocks.target_counts @ whole.astype(np.float64) / blocks.n_rows
    columns = np.arange(blocks.n_columns)
    halves = [
        root_histograms(blocks, Root.of(blocks, half.astype(np.uint32)), columns)
        for half in (whole >> _BITS, whole & (2**_BITS - 1))
    ]
    for (rows, high), (_, rest) in zip(*halves, strict=True):
        total = high * 2.0**_BITS + rest
        yield np.stack([rows.astype(np.float64), (total - rows * centre) * (unit / np.sqrt(variance))])


def binned_quantity(blocks: CodedBlocks) -> BinnedQuantity:
    """Means of the bins of a quantity by the sample, and its variance.

    Examples
    --------
    >>> from foresift.data.row_source import InMemory
    >>> from foresift.data.target import Target
    >>> from foresift.engine.local_blocks import LocalBlocks
    >>> y = Target.of([1.5, 2.0, 2.0, 4.5], 4, "regression")
    >>> binned_quantity(LocalBlocks(InMemory(np.zeros((4, 1)), y), None, "regression"))
    BinnedQuantity(mean=array([1.5, 2. , 4.5]), variance=1.375)
    """
    target, cuts = blocks.target, blocks.coding.target_cuts
    assert isinstance(target, Quantity)
    codes, counts = blocks.coding.target_codes(target.y), blocks.target_counts
    sampled = np.bincount(codes, minlength=len(counts))
    # A bin of the coarse sample may lack rows in the small one: its upper end is near.
    mean = np.append(cuts, target.y.max())
    some = sampled > 0
    first = np.zeros(len(counts))
    first[codes[::-1]] = target.y[::-1]  # deviations from a number of the bin: exactly 0 if all are equal
    deviations = target.y - first[codes]
    shift = np.bincount(codes, deviations, len(counts))[some] / sampled[some]
    mean[some] = first[some] + shift
    squares = np.bincount(codes, (deviations - (mean - first)[codes]) ** 2, len(counts))
    within = np.divide(squares, sampled - 1, out=np.zeros(len(counts)), where=sampled > 1)
    if blocks.n_rows == target.n_rows:
        within = squares / np.maximum(1, sampled)
    shares = counts / blocks.n_rows
    centre = shares @ mean
    return BinnedQuantity(mean, float(shares @ (within + (mean - centre) ** 2)))
