"""Rank-sum tests of columns beside their shadows: over classes, and over residuals of the classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from foresift.data.table import Table
from foresift.selectors.relevance.classes import MIN_SHARE, contrasted, counted_rows, max_of_k_quantile

__all__ = ["trend_scores"]

CELLS = 2**22  # of classes in the order of the shadows, at a time
MAX_KNOWN = 2**20  # ranks of columns that explain the classes; a tenth as many columns as rows at most
_CLEAR = 0.02  # columns with p-values below this explain the classes;
_BY_CHANCE = 2  # of many columns fewer, so that of noise no more than so many are expected to
RELATED = 0.3  # correlation of ranks from which on columns count as related
_RIDGE = 1e-6  # of unit columns: copies share their coefficient
_NOTHING = 1e-9  # of the variance of a class; what is left below this is rounding


def trend_scores(
    table: Table,
    weights: NDArray[np.float64] | None,
    columns: NDArray[np.uint32],
    n_shadows: int,
    shadow_rows: Callable[[int], NDArray[np.uint32]],
) -> NDArray[np.float64]:
    """How far the mean rank of a class lies from that of all rows, for each column and each of its shadows.

    The test of Wilcoxon, Mann & Whitney, of each class against the others: where more of a column makes a
    class steadily likelier, a cut in two wastes a third of what the ranks know. The score is the largest of
    the classes, as the normal quantile of its probability among so many. Nominal columns count by their
    commonest category, missing values are in the middle.

    What other columns explain is noise in this test. So it is made a second time with what a linear
    regression of the classes on the ranks of clear columns leaves of them, and the greater score counts.
    Clear columns that are correlated with the one that is tested, itself first of all, are left out of the
    regression: what they share is its to tell. So neither a column without meaning nor its shadows have part
    in what they are set against (but that, at the limit of their number, it may take another's place among
    the clear ones), and one is as good as the other.

    Sums are of whole numbers (what is left of a class is rounded), so they do not depend on rounding.

    Parameters
    ----------
    table, weights, columns, n_shadows, shadow_rows
        As in `pairwise_interaction_scores`, with any number of columns.

    Returns
    -------
    ndarray of shape (len(columns), 1 + n_shadows)
        As in `pairwise_interaction_scores`; where there are clear columns, the greater of two standard normal
        numbers.
    """
    counted = counted_rows(table, weights)
    target = table.target.codes[counted]
    classes = contrasted(target, table.target.n_classes)
    if not classes:
        return np.full((len(columns), 1 + n_shadows), np.nan)
    ranked = _Ranked(table, columns, counted, n_shadows, shadow_rows)
    inside = (target[:, np.newaxis] == classes).astype(np.float64)
    scores = ranked.scores(inside)
    clear = _strong_predictors(scores[:, 0], len(counted))
    if clear:
        left = _Residuals(inside, [ranked.ranks(k) for k in clear])
        scores = np.fmax(scores, ranked.scores(left.values, left))
    return scores


class _Block(NamedTuple):
    """Some columns, each as a row of ranks, and the sums of their squares."""

    numbers: NDArray[np.intp]
    ranks: NDArray[np.float64]
    norms: NDArray[np.float64]


@dataclass(frozen=True)
class _Ranked:
    """Columns and their shadows by ranks, in the rows that count."""

    table: Table
    columns: NDArray[np.uint32]
    rows: NDArray[np.intp]
    n_shadows: int
    shadow_rows: Callable[[int], NDArray[np.uint32]]

    def ranks(self, k: int) -> NDArray[np.float64] | None:
        """Whole numbers of mean 0, at most the number of rows: twice the rank, or in the commonest category.

        None if too few rows have another value, or that category.
        """
        store, column = self.table.store, int(self.columns[k])
        codes = np.asarray(store.codes(column))[self.rows]
        n_values = store.n_values(column)
        counts = np.bincount(codes, minlength=n_values + 1)
        n_known = len(codes) - counts[n_values]
        most = counts[:n_values].max(initial=0)
        if min(most if store.is_nominal(column) else n_known, n_known - most) < MIN_SHARE * len(codes):
            return None
        if store.is_nominal(column):
            ranks = n_known * (np.arange(n_values + 1) == counts[:n_values].argmax()) - most
        else:
            ranks = 2 * np.cumsum(counts) - counts - n_known  # ties in the middle
        ranks[n_values] = 0
        return np.asarray(ranks.astype(np.float64)[codes])

    def blocks(self) -> Iterator[_Block]:
        """Columns that have ranks, so many at a time; made anew each time, unless they fit in one block."""
        size = max(1, CELLS // len(self.rows))
        if len(self.columns) <= size:
            yield self._only_block
        else:
            for begin in range(0, len(self.columns), size):
                yield self._block(range(begin, min(begin + size, len(self.columns))))

    @cached_property
    def _only_block(self) -> _Block:
        return self._block(range(len(self.columns)))

    def _block(self, numbers: range) -> _Block:
        known = [(k, ranks) for k in numbers if (ranks := self.ranks(k)) is not None]
        ranks = np.array([row for _, row in known]).reshape(-1, len(self.rows))
        return _Block(np.array([k for k, _ in known], dtype=np.intp), ranks, np.array([r @ r for r in ranks]))

    def scores(self, values: NDArray[np.float64], left: _Residuals | None = None) -> NDArray[np.float64]:
        """Scores by sums of ranks times values, a column of these for each class, and those of the shadows.

        With `left`, columns that are related to clear ones have values of their own.
        """
        scores = np.full((len(self.columns), 1 + self.n_shadows), np.nan)
        n_rows, n_classes = values.shape
        lot = max(1, CELLS // (n_rows * n_classes))
        for begin in range(0, 1 + self.n_shadows, lot):
            shadows = slice(begin, min(begin + lot, 1 + self.n_shadows))
            sources = np.array([self._source(t) for t in range(shadows.start, shadows.stop)])
            for block in self.blocks():
                groups = {b"": np.arange(len(block.numbers))} if left is None else left.related(block)
                for related, some in groups.items():
                    own = values if left is None else left.without(related)
                    z = _deviations(
                        _sums(block.ranks[some], own, sources), _variances(own), block.norms[some]
                    )
                    scores[block.numbers[some], shadows] = max_of_k_quantile(
                        z.max(axis=2, initial=0), n_classes
                    )
        return scores

    def _source(self, number: int) -> NDArray[Any]:
        """Where each row has its values from; 0 is the column itself, then come its shadows."""
        if number == 0:
            return np.arange(len(self.rows))
        return np.searchsorted(self.rows, self.shadow_rows(number - 1)[self.rows])


def _variances(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(values.var(axis=0) * len(values) / (len(values) - 1))


def _sums(
    ranks: NDArray[np.float64], values: NDArray[np.float64], sources: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Sums over rows of ranks, taken from the sources of each shadow, times values: column, shadow, class."""
    if len(ranks) == 1:
        return np.asarray((ranks[0][sources] @ values)[np.newaxis])
    # Values move instead of ranks: sums over rows are the same.
    moved = np.empty((len(values), len(sources), values.shape[1]))
    for i, source in enumerate(sources):
        moved[source, i] = values
    return np.asarray((ranks @ moved.reshape(len(values), -1)).reshape(len(ranks), *moved.shape[1:]))


def _deviations(
    sums: NDArray[np.float64], variances: NDArray[np.float64], norms: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sums of classes that anything is left of, in the standard deviations they have if rows are permuted."""
    left = variances > 0
    scale = np.sqrt(norms[:, np.newaxis] * variances[left])
    return np.asarray(np.abs(sums[:, :, left]) / scale[:, np.newaxis])


def _strong_predictors(scores: NDArray[np.float64], n_rows: int) -> list[int]:
    """Numbers of the columns that tell something about the classes, the clearest first."""
    scores = np.where(np.isnan(scores), -np.inf, scores)
    least = -ndtri(min(_CLEAR, _BY_CHANCE / max(1, np.isfinite(scores).sum())))
    best = np.argsort(-scores, kind="stable")[: min(n_rows // 10, MAX_KNOWN // n_rows)]
    return [int(k) for k in best if scores[k] > least]


class _Residuals:
    """What is left of the classes: their indicators less a regression on the ranks of clear columns."""

    def __init__(self, inside: NDArray[np.float64], clear: list[NDArray[np.float64] | None]) -> None:
        self.clear = np.column_stack([ranks / np.sqrt(ranks @ ranks) for ranks in clear if ranks is not None])
        centred = inside - inside.mean(axis=0)
        self.nothing = _NOTHING * (centred**2).sum(axis=0)
        self.inverse = np.linalg.inv(self.clear.T @ self.clear + _RIDGE * np.eye(len(clear)))
        self.coefficients = self.inverse @ (self.clear.T @ centred)
        self.left = centred - self.clear @ self.coefficients
        self.values = self._whole(self.left)

    def related(self, block: _Block) -> dict[bytes, NDArray[np.intp]]:
        """Which columns of a block are correlated with which clear ones: those with the same are together."""
        correlated = (
            np.abs(block.ranks @ self.clear) > _related(len(self.clear)) * np.sqrt(block.norms)[:, np.newaxis]
        )
        groups: dict[bytes, list[int]] = {}
        for k, row in enumerate(correlated):
            groups.setdefault(row.tobytes() if row.any() else b"", []).append(k)
        return {key: np.array(some) for key, some in groups.items()}

    def without(self, key: bytes) -> NDArray[np.float64]:
        """What is left without the clear columns of a key of `related`."""
        if not key:
            return self.values
        related = np.frombuffer(key, dtype=bool)
        # Coefficients without some columns follow from those with them, by the inverse in blocks.
        some = np.linalg.solve(self.inverse[np.ix_(related, related)], self.coefficients[related])
        return self._whole(self.left + self.clear @ (self.inverse[:, related] @ some))

    def _whole(self, left: NDArray[np.float64]) -> NDArray[np.float64]:
        """In whole steps, so many that sums of products with ranks are exact; 0 if hardly any is left."""
        left = left * ((left**2).sum(axis=0) > self.nothing)
        return np.asarray(np.round(left * 2.0 ** min(20, 51 - 2 * len(left).bit_length())))


def _related(n_rows: int) -> float:
    """A correlation of ranks that is worth mentioning, and not by chance."""
    return float(min(0.9, max(RELATED, 4 / np.sqrt(n_rows))))
