"""What strong predictors leave of a target: residuals of a regression on their ranks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Block", "Residuals", "related_from"]

RELATED = 0.3  # correlation of any scores from which on columns count as related
_RIDGE = 1e-6  # of unit columns: copies share their coefficient
_NOTHING = 1e-9  # of the variance of a class; residuals below this are rounding


class Block(NamedTuple):
    """Some columns as rows of scores, and the sums of their second, third and fourth powers.

    `numbers` count the scores of all columns, `columns` say whose they are: a column may have three.
    """

    numbers: NDArray[np.intp]
    columns: NDArray[np.intp]
    ranks: NDArray[np.float64]
    squares: NDArray[np.float64]
    cubes: NDArray[np.float64]
    fourths: NDArray[np.float64]

    def take(self, some: NDArray[np.intp]) -> Block:
        """Return some of the columns."""
        sums = (power[some] for power in (self.squares, self.cubes, self.fourths))
        return Block(self.numbers[some], self.columns[some], self.ranks[some], *sums)


class Residuals:
    """Residuals of the classes: their indicators less a regression on the scores of strong predictors.

    `columns` say whose scores these are.
    """

    def __init__(
        self, centred: NDArray[np.float64], strong: list[NDArray[np.float64]], columns: list[int]
    ) -> None:
        self.strong = np.column_stack([ranks / np.sqrt(ranks @ ranks) for ranks in strong])
        self.of_one_column = np.equal.outer(columns, columns)
        largest = np.maximum(np.abs(centred).max(axis=0), 1.0)
        centred = centred / 2.0 ** np.ceil(np.log2(largest))  # up to 1
        self.nothing = _NOTHING * (centred**2).sum(axis=0)
        self.inverse = np.linalg.inv(self.strong.T @ self.strong + _RIDGE * np.eye(len(strong)))
        self.coefficients = self.inverse @ (self.strong.T @ centred)
        self.left = centred - self.strong @ self.coefficients
        self.values = self._whole(self.left)

    def related(self, block: Block) -> dict[bytes, NDArray[np.intp]]:
        """Scores of a block by the strong predictors that their columns are correlated with, in any score."""
        least = related_from(len(self.strong)) * np.sqrt(block.squares)[:, np.newaxis]
        correlated = np.abs(block.ranks @ self.strong) > least
        columns, place = np.unique(block.columns, return_inverse=True)
        by_column = np.zeros((len(columns), correlated.shape[1]), dtype=bool)
        np.logical_or.at(by_column, place, correlated)
        correlated = (by_column @ self.of_one_column)[place]
        some = correlated.any(axis=1)
        groups = {b"": np.flatnonzero(~some).tolist()}
        for k in np.flatnonzero(some).tolist():
            groups.setdefault(correlated[k].tobytes(), []).append(k)
        return {key: np.array(members) for key, members in groups.items() if members}

    def key(self, related: NDArray[np.bool_]) -> bytes:
        """Name some strong predictors, and the other scores of their columns, as `related` does."""
        related = related @ self.of_one_column
        return related.tobytes() if related.any() else b""

    def without(self, key: bytes) -> NDArray[np.float64]:
        """Residuals without the strong predictors of a key of `related`."""
        if not key:
            return self.values
        related = np.frombuffer(key, dtype=bool)
        # Coefficients without some columns follow from those with them, by the inverse in blocks.
        some = np.linalg.solve(self.inverse[np.ix_(related, related)], self.coefficients[related])
        return self._whole(self.left + self.strong @ (self.inverse[:, related] @ some))

    def _whole(self, left: NDArray[np.float64]) -> NDArray[np.float64]:
        """In whole steps, few enough that sums of products with ranks are exact; 0 if hardly any is left."""
        left = left * ((left**2).sum(axis=0) > self.nothing)
        return np.asarray(np.round(left * 2.0 ** min(20, 51 - 2 * len(left).bit_length())))


def related_from(n_rows: int) -> float:
    """A correlation of scores that matters and is not by chance."""
    return float(min(0.9, max(RELATED, 4 / np.sqrt(n_rows))))
