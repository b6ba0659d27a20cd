"""Searches through sets of features: which set comes next, given the scores.

A search is a generator. It asks `evaluate` for the scores of candidate sets and yields every set it moves to,
with its score; whoever runs it decides when enough is enough. A set is a tuple of numbers, of columns or
groups of columns, in rising order; `least` is the size of the smallest, 0 where others are always present.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, islice
from math import comb

from foresift.selectors.search.path import ROUNDING

__all__ = ["Found", "backward", "exhaustive", "forward", "n_subsets", "plus_minus"]

Subset = tuple[int, ...]
Evaluate = Callable[[Sequence[Subset]], Sequence[float]]
Found = tuple[Subset, float]

_TOGETHER = 256  # sets of an exhaustive search that are evaluated in one go


def _with(features: Subset, j: int) -> Subset:
    return tuple(sorted((*features, j)))


def _without(features: Subset, j: int) -> Subset:
    return tuple(k for k in features if k != j)


def best_of(candidates: Sequence[Subset], scores: Sequence[float]) -> Found:
    """Return the candidate of the highest score, of equals the first."""
    top = max(scores)
    at = next(i for i, score in enumerate(scores) if score >= top - ROUNDING)
    return candidates[at], float(scores[at])


def add_one(features: Subset, n_features: int, evaluate: Evaluate) -> Found:
    """Add the column that helps most; of equals the first."""
    candidates = [_with(features, j) for j in range(n_features) if j not in features]
    return best_of(candidates, evaluate(candidates))


def drop_one(features: Subset, evaluate: Evaluate) -> Found:
    """Drop the column that is missed least; of equals the last."""
    candidates = [_without(features, j) for j in reversed(features)]
    return best_of(candidates, evaluate(candidates))


def _empty_set(evaluate: Evaluate, least: int) -> Iterator[Found]:
    """The set to begin with, if it is worth anything."""
    if least == 0:
        (score,) = evaluate([()])
        yield (), float(score)


def forward(
    n_features: int,
    evaluate: Evaluate,
    *,
    floating: bool = False,
    until: int | None = None,
    least: int = 1,
) -> Iterator[Found]:
    """Add one column after the other, up to all (SFS, Whitney; floating: SFFS, Pudil, Novovicova & Kittler).

    Floating: after every addition columns are dropped again, as long as that makes the best set of its size.
    It ends at `until` columns; floating it goes one further, for a set of that size may be found on the way
    back only.

    Examples
    --------
    >>> value = [1.0, 4.0, 2.0]
    >>> total = lambda subsets: [sum(value[j] for j in subset) for subset in subsets]
    >>> list(forward(3, total))
    [((1,), 4.0), ((1, 2), 6.0), ((0, 1, 2), 7.0)]
    """
    features: Subset = ()
    best: dict[int, float] = {}
    yield from _empty_set(evaluate, least)
    last = n_features if until is None else min(until + floating, n_features)
    while len(features) < last:
        features, score = add_one(features, n_features, evaluate)
        best[len(features)] = max(score, best.get(len(features), -float("inf")))
        yield features, score
        while floating and len(features) > 2:
            fewer, score = drop_one(features, evaluate)
            if score <= best[len(fewer)] + ROUNDING:
                break
            features, best[len(fewer)] = fewer, score
            yield features, score


def backward(
    n_features: int,
    evaluate: Evaluate,
    *,
    floating: bool = False,
    until: int | None = None,
    least: int = 1,
) -> Iterator[Found]:
    """Drop one column after the other, down to one (SBS, Marill & Green; floating: SBFS).

    Floating: after every deletion columns are added again, as long as that makes the best set of its size.
    It ends at `until` columns, floating one below.

    Examples
    --------
    >>> value = [1.0, 4.0, 2.0]
    >>> total = lambda subsets: [sum(value[j] for j in subset) for subset in subsets]
    >>> list(backward(3, total))
    [((0, 1, 2), 7.0), ((1, 2), 6.0), ((1,), 4.0)]
    """
    features = tuple(range(n_features))
    (score,) = evaluate([features])
    best = {n_features: float(score)}
    yield features, float(score)
    last = least if until is None else max(until - floating, least)
    while len(features) > last:
        features, score = drop_one(features, evaluate)
        best[len(features)] = max(score, best.get(len(features), -float("inf")))
        yield features, score
        while floating and len(features) < n_features - 1:
            more, score = add_one(features, n_features, evaluate)
            if score <= best[len(more)] + ROUNDING:
                break
            features, best[len(more)] = more, score
            yield features, score


def plus_minus(
    n_features: int, evaluate: Evaluate, *, plus: int, minus: int, until: int | None = None, least: int = 1
) -> Iterator[Found]:
    """Add `plus` columns and drop `minus`, again and again, up to all (Stearns). plus > minus.

    With `until` it ends with the drops of the first round that leave this many columns or more: a set is
    final only after the way back.

    Examples
    --------
    >>> value = [1.0, 4.0, 2.0]
    >>> total = lambda subsets: [sum(value[j] for j in subset) for subset in subsets]
    >>> [features for features, _ in plus_minus(3, total, plus=2, minus=1)]
    [(1,), (1, 2), (1,), (1, 2), (0, 1, 2)]
    """
    features: Subset = ()
    full = False
    yield from _empty_set(evaluate, least)
    while not full and (until is None or len(features) < until):
        for _ in range(min(plus, n_features - len(features))):
            features, score = add_one(features, n_features, evaluate)
            yield features, score
        full = len(features) == n_features
        if full and until in (None, n_features):
            return
        for _ in range(min(minus, len(features) - least)):
            features, score = drop_one(features, evaluate)
            yield features, score


def n_subsets(n_features: int, size: int | None) -> int:
    """How many sets an exhaustive search evaluates.

    Examples
    --------
    >>> n_subsets(20, 10), n_subsets(20, None)
    (184756, 1048575)
    """
    return 2**n_features - 1 if size is None else comb(n_features, size)


def exhaustive(
    n_features: int,
    evaluate: Evaluate,
    *,
    size: int | None = None,
    least: int = 1,
    enough: Callable[[float], bool] = lambda score: False,
) -> Iterator[Found]:
    """Score every set of that size, or of every size (round robin), small ones first.

    Yields the best set of a size so far after every few hundred of them, so that little is lost if the search
    is cut short; the last one of a size is its best. It ends after a size whose best score is `enough`.

    Examples
    --------
    >>> value = [1.0, 4.0, 2.0]
    >>> total = lambda subsets: [sum(value[j] for j in subset) for subset in subsets]
    >>> list(exhaustive(3, total, size=2))
    [((1, 2), 6.0)]
    """
    for k in range(least, n_features + 1) if size is None else [size]:
        best: list[Found] = []
        subsets = combinations(range(n_features), k)
        while some := list(islice(subsets, _TOGETHER)):
            best = [*best, best_of(some, evaluate(some))]
            best = [best_of([features for features, _ in best], [score for _, score in best])]
            yield best[0]
        if enough(best[0][1]):
            return
