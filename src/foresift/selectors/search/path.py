"""The path of a search for features: the sets visited, with their scores and times."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from foresift.data.plain_state import saved

__all__ = ["ROUNDING", "SearchPath", "Step", "commonality", "report"]

ROUNDING = 1e-12  # scores that differ by less are equal


@saved
@dataclass(frozen=True)
class Step:
    """One set of features that a search visited.

    Attributes
    ----------
    features : tuple of int
        The columns of the set, in rising order.
    score : float
        Its cross-validated score; NaN where none was asked for.
    seconds : float
        How long the search took from the step before to this one.
    """

    features: tuple[int, ...]
    score: float
    seconds: float


@saved
class SearchPath(Sequence[Step]):
    """The steps of a search, in their order, also as arrays that can be drawn as they are.

    Parameters
    ----------
    n_features_in : int
        Number of columns of the data.
    steps : iterable of Step, default=()
        The steps.

    Examples
    --------
    >>> path = SearchPath(4, [Step((0, 1, 2, 3), 0.9, 0.1), Step((0, 2, 3), 0.95, 0.3), Step((2,), 0.7, 0.2)])
    >>> path.reduction_rates, path.errors.round(2)
    (array([0.  , 0.25, 0.75]), array([0.1 , 0.05, 0.3 ]))
    >>> path.best().features, path.best(size=1).features, path[-1].seconds
    ((0, 2, 3), (2,), 0.2)
    """

    def __init__(self, n_features_in: int, steps: Sequence[Step] = ()) -> None:
        self.n_features_in = n_features_in
        self._steps = list(steps)

    def append(self, step: Step) -> None:
        """Add a step."""
        self._steps.append(step)

    def replace_last(self, step: Step) -> None:
        """Put a step in the place of the last one; the seconds of both count."""
        seconds = self._steps.pop().seconds + step.seconds
        self._steps.append(Step(step.features, step.score, seconds))

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> SearchPath: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return SearchPath(self.n_features_in, self._steps[index])
        return self._steps[index]

    def __len__(self) -> int:
        return len(self._steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self._steps)

    def __eq__(self, other: object) -> bool:
        """Whether both visited the same sets with the same scores; times do not count."""
        if not isinstance(other, SearchPath):
            return NotImplemented
        return (
            self.n_features_in == other.n_features_in
            and self.features == other.features
            and np.array_equal(self.scores, other.scores, equal_nan=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        sizes = f", {len(self[0].features)} to {len(self[-1].features)} features" if self._steps else ""
        return f"<SearchPath: {len(self)} steps{sizes}>"

    @property
    def features(self) -> list[tuple[int, ...]]:
        """The set of every step."""
        return [step.features for step in self._steps]

    @property
    def n_features(self) -> NDArray[np.intp]:
        """The size of every set."""
        return np.array([len(step.features) for step in self._steps], dtype=np.intp)

    @property
    def scores(self) -> NDArray[np.float64]:
        """The score of every set."""
        return np.array([step.score for step in self._steps])

    @property
    def errors(self) -> NDArray[np.float64]:
        """One less the score: the error rate, where the score is the accuracy."""
        return 1.0 - self.scores

    @property
    def reduction_rates(self) -> NDArray[np.float64]:
        """Share of the features that each set leaves out."""
        return 1.0 - self.n_features / self.n_features_in

    @property
    def seconds(self) -> NDArray[np.float64]:
        """How long every step took."""
        return np.array([step.seconds for step in self._steps])

    def best(self, size: int | None = None) -> Step:
        """Return the step of the best score, of equals the one of fewest features, among sets of one size."""
        steps = [step for step in self._steps if size is None or len(step.features) == size]
        if not steps:
            raise ValueError(f"The search visited no set of {size} features.")
        top = np.nanmax([step.score for step in steps]) if not _all_nan(steps) else np.nan
        good = [step for step in steps if not step.score < top - ROUNDING]
        return min(good, key=lambda step: len(step.features))

    def mask(self, step: Step) -> NDArray[np.bool_]:
        """Mask of a step's set over all columns."""
        mask = np.zeros(self.n_features_in, dtype=bool)
        mask[list(step.features)] = True
        return mask

    def memberships(self) -> NDArray[np.float64]:
        """For every column, the number of sizes at which the best set that was found has it."""
        sizes = sorted(set(self.n_features.tolist()))
        return np.sum([self.mask(self.best(size)) for size in sizes], axis=0, dtype=np.float64)


def _all_nan(steps: list[Step]) -> bool:
    return all(np.isnan(step.score) for step in steps)


def commonality(one: SearchPath, other: SearchPath) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How far two searches agree on what to keep, at every reduction rate of both (Murata, Figure 8).

    Parameters
    ----------
    one, other : SearchPath
        Paths of two fitted selectors on the same columns, their `path_`.

    Returns
    -------
    reduction_rates : ndarray of shape (n_sizes,)
        Share of the features that are left out, rising.
    shares : ndarray of shape (n_sizes,)
        Share of the kept features that both keep: the best sets of that size on either path are compared. Two
        random sets share on average 1 less the reduction rate.

    Examples
    --------
    >>> one = SearchPath(4, [Step((0, 1, 2, 3), 1.0, 0.0), Step((0, 1, 2), 1.0, 0.0), Step((0, 1), 1.0, 0.0)])
    >>> other = SearchPath(4, [Step((0, 1, 3), 1.0, 0.0), Step((0, 3), 1.0, 0.0)])
    >>> rates, shares = commonality(one, other)
    >>> rates, shares.round(3)
    (array([0.25, 0.5 ]), array([0.667, 0.5  ]))
    """
    for path in (one, other):
        if not isinstance(path, SearchPath):
            raise TypeError(
                f"commonality compares the path_ of two fitted selectors, but got {type(path).__name__}."
            )
    p = one.n_features_in
    if other.n_features_in != p:
        raise ValueError(
            f"The paths are of different data: one has {p} columns, the other {other.n_features_in}."
        )
    sizes = sorted(set(one.n_features.tolist()) & set(other.n_features.tolist()), reverse=True)
    sizes = [k for k in sizes if k]  # an empty set has no share
    shares = [len({*one.best(k).features} & {*other.best(k).features}) / k for k in sizes]
    return np.array([1 - k / p for k in sizes]), np.array(shares)


def report(name: str, path: SearchPath, seconds_left: float) -> None:
    """Print where a search stands to the standard error output: features left, current error, time left."""
    features, score = path[-1].features, path[-1].score
    error = "" if np.isnan(score) else f"error {1 - score:.4f}, "
    print(
        f"[{name}] {len(features)} of {path.n_features_in} features, {error}"
        f"{_clock(path.seconds.sum())} gone, about {_clock(seconds_left)} left",
        file=sys.stderr,
        flush=True,
    )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
