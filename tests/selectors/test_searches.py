"""The walks through sets of features against their literal twins, on worths that are pure chance."""

from itertools import pairwise

import numpy as np
import pytest
import reference_murata as twin
from hypothesis import given, settings
from hypothesis import strategies as st

from foresift.selectors.search.path import SearchPath, Step, commonality
from foresift.selectors.search.walks import backward, exhaustive, forward, n_subsets, plus_minus

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 6)


def worths(p, seed):
    """Give every set a number of its own."""
    values = np.random.default_rng(seed).permutation(2**p)
    return lambda subset: float(values[sum(2**j for j in subset)])


def evaluator(worth):
    asked = []

    def evaluate(subsets):
        asked.extend(subsets)
        assert all(list(subset) == sorted(set(subset)) for subset in subsets)
        return [worth(subset) for subset in subsets]

    evaluate.asked = asked
    return evaluate


def sets(steps):
    return [frozenset(features) for features, _ in steps]


@settings(max_examples=60, deadline=None)
@given(sizes, seeds)
def test_searches_are_the_literal_ones(p, seed):
    worth = worths(p, seed)
    assert sets(forward(p, evaluator(worth))) == twin.forward(p, worth)
    assert sets(backward(p, evaluator(worth))) == twin.backward(p, worth)
    assert sets(forward(p, evaluator(worth), floating=True)) == twin.floating_forward(p, worth)
    assert sets(plus_minus(p, evaluator(worth), plus=3, minus=2)) == twin.plus_minus(p, worth, 3, 2)
    for size in range(1, p + 1):
        assert sets(forward(p, evaluator(worth), until=size)) == twin.forward(p, worth)[:size]
        assert sets(backward(p, evaluator(worth), until=size)) == twin.backward(p, worth)[: p + 1 - size]
        there = sets(forward(p, evaluator(worth), floating=True, until=size))
        assert there == twin.floating_forward(p, worth, size)
        for plus, minus in [(2, 1), (3, 2), (4, 1)]:
            there = sets(plus_minus(p, evaluator(worth), plus=plus, minus=minus, until=size))
            assert there == twin.plus_minus(p, worth, plus, minus, size)
            assert any(len(found) == size for found in there)
        assert sets(exhaustive(p, evaluator(worth), size=size)) == [twin.exhaustive(p, size, worth)]
    assert sets(exhaustive(p, evaluator(worth))) == [twin.exhaustive(p, k, worth) for k in range(1, p + 1)]


@settings(max_examples=60, deadline=None)
@given(sizes, seeds)
def test_scores_are_those_of_the_sets(p, seed):
    worth = worths(p, seed)
    evaluate = evaluator(worth)
    searches = [forward(p, evaluate, floating=True), backward(p, evaluate, floating=True)]
    searches += [plus_minus(p, evaluate, plus=3, minus=2), exhaustive(p, evaluate)]
    for search in searches:
        assert all(score == worth(features) for features, score in search)


@settings(max_examples=60, deadline=None)
@given(sizes, seeds)
def test_floating_never_ends_below_the_best_it_knew(p, seed):
    # Backward floating mirrors forward floating: a set and what it leaves out change places.
    worth = worths(p, seed)
    everything = frozenset(range(p))
    mirrored = lambda subset: worth(everything - frozenset(subset))  # noqa: E731
    there = sets(backward(p, evaluator(worth), floating=True))
    assert there[0] == everything
    if p > 2:
        back = twin.floating_forward(p, mirrored)
        expected = [everything, *(everything - found for found in back)]
        shared = min(len(there), len(expected))
        assert there[: shared - 1] == expected[: shared - 1]


def test_plus_minus_goes_forth_and_back():
    worth = worths(5, 0)
    steps = sets(plus_minus(5, evaluator(worth), plus=2, minus=1))
    assert [len(step) for step in steps] == [1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 5]
    for before, after in pairwise(steps):
        assert len(before ^ after) == 1
        near = [before ^ {j} for j in range(5) if (j in before) == (len(after) < len(before))]
        assert after == max(near, key=worth)


def test_wanted_sizes_are_looked_for_on_the_way_back_too():
    """Alone the first column is best; the other two together are perfect."""
    worth = {(0,): 0.75, (1,): 0.5, (2,): 0.5, (0, 1): 0.76, (0, 2): 0.75, (1, 2): 1.0, (0, 1, 2): 1.0}
    total = lambda subsets: [worth[subset] for subset in subsets]  # noqa: E731
    assert ((1, 2), 1.0) in list(plus_minus(3, total, plus=2, minus=1, until=2))
    assert ((1, 2), 1.0) in list(forward(3, total, floating=True, until=2))


def test_exhaustive_tells_the_best_so_far():
    worth = worths(12, 3)
    steps = list(exhaustive(12, evaluator(worth), size=5))
    assert len(steps) > 2  # 792 sets
    scores = [score for _, score in steps]
    assert scores == sorted(scores)
    assert steps[-1][0] == tuple(sorted(twin.exhaustive(12, 5, worth)))
    single = evaluator(lambda subset: float(subset[0] == 599))
    found = list(exhaustive(600, single, enough=lambda score: True))
    assert found[-1] == ((599,), 1.0)  # a size is finished before it ends
    assert len(single.asked) == 600
    assert found[0][1] == 0


def test_equals_are_decided_by_column():
    same = lambda subsets: [1.0] * len(subsets)  # noqa: E731
    assert [features for features, _ in forward(3, same)] == [(0,), (0, 1), (0, 1, 2)]
    assert [features for features, _ in backward(3, same)] == [(0, 1, 2), (0, 1), (0,)]
    nearly = lambda subsets: [1.0 + 1e-15 * (2 in subset) for subset in subsets]  # noqa: E731
    assert next(forward(3, nearly))[0] == (0,)


def test_number_of_sets():
    for p in range(1, 7):
        assert n_subsets(p, None) == sum(n_subsets(p, k) for k in range(1, p + 1))
    evaluate = evaluator(worths(5, 1))
    list(exhaustive(5, evaluate, size=3))
    assert len(evaluate.asked) == n_subsets(5, 3) == 10


def test_path_as_arrays():
    path = SearchPath(4)
    for features, score in [
        ((0, 1, 2, 3), 0.9),
        ((0, 1, 2), 0.95),
        ((0, 1), 0.95),
        ((1, 3), 0.8),
        ((1,), 0.5),
    ]:
        path.append(Step(features, score, 0.5))
    assert path.n_features.tolist() == [4, 3, 2, 2, 1]
    assert path.errors == pytest.approx([0.1, 0.05, 0.05, 0.2, 0.5])
    assert path.reduction_rates.tolist() == [0, 0.25, 0.5, 0.5, 0.75]
    assert path.best().features == (0, 1)  # of equals the smaller
    assert path.best(2).features == (0, 1)
    assert path.memberships().tolist() == [3, 4, 2, 1]
    assert path[1:3].features == [(0, 1, 2), (0, 1)]
    assert path == SearchPath(4, list(path))
    assert path != path[1:]
    with pytest.raises(ValueError, match="no set of 7"):
        path.best(7)


def test_commonality():
    def path(*subsets):
        return SearchPath(5, [Step(subset, 1.0, 0.0) for subset in subsets])

    one = path((0, 1, 2, 3, 4), (0, 1, 2), (0, 1), (0,))
    rates, shares = commonality(one, path((0, 1, 2, 3, 4), (0, 1, 2, 3), (2, 3, 4), (0, 4), (4,)))
    assert rates.tolist() == pytest.approx([0, 0.4, 0.6, 0.8])
    assert shares.tolist() == pytest.approx([1, 1 / 3, 1 / 2, 0])
    assert commonality(one, one)[1].tolist() == [1, 1, 1, 1]
    with pytest.raises(ValueError, match="5 columns, the other 6"):
        commonality(one, SearchPath(6))
    with pytest.raises(TypeError, match="path_ of two fitted selectors, but got list"):
        commonality(one, [1, 2])
    empty = path((0, 1), ())
    assert commonality(empty, empty)[1].tolist() == [1]  # of an empty set there is no share
