"""Rows and classes that tests without a forest look at, and the scale of their scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri_exp

from foresift.data.table import Table

__all__ = ["MIN_SHARE", "contrasted", "counted_rows", "max_of_k_quantile"]

MIN_SHARE = 0.25  # of the rows; sums over fewer are far from normal


def counted_rows(table: Table, weights: NDArray[np.float64] | None) -> NDArray[np.intp]:
    """Rows of a weight above 0."""
    return np.arange(table.n_rows) if weights is None else np.flatnonzero(weights > 0)


def contrasted(target: NDArray[np.int32], n_classes: int) -> list[int]:
    """Classes to set against the others: of two, one says it all."""
    classes = [c for c in range(n_classes) if 0 < np.count_nonzero(target == c) < len(target)]
    return classes[:1] if len(classes) == 2 else classes


def max_of_k_quantile(most: NDArray[np.float64], n_tries: int) -> NDArray[np.float64]:
    """Normal quantile of the largest of so many absolute values of normal numbers."""
    log_one = np.minimum(np.log(2) + log_ndtr(-most), -1e-12)  # probability that one is as large
    with np.errstate(divide="ignore"):
        log_any = np.log(-np.expm1(n_tries * np.log1p(-np.exp(log_one))))
    log_any = np.where(log_one + np.log(n_tries) < -15, log_one + np.log(n_tries), log_any)
    return np.asarray(-ndtri_exp(np.minimum(log_any, -1e-12)))
