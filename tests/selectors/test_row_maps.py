"""Where shadows have their values from if rows depend on each other: what maps keep."""

from dataclasses import replace

import numpy as np
import pytest
import reference_dependent as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from foresift.data.dependence import Dependence
from foresift.data.table import make_table
from foresift.selectors.relevance.dependent import DependentRows, half_of
from foresift.selectors.relevance.row_maps import draw_row_maps

seeds = st.integers(0, 2**32 - 1)


def grouped_rows(rng, n_groups, most):
    """Groups of 1 to `most` rows, in random order."""
    return rng.permutation(np.repeat(np.arange(n_groups), rng.integers(1, most + 1, n_groups)))


@given(seeds, st.integers(2, 60), st.integers(0, 40))
@settings(deadline=None, max_examples=40)
def test_series_are_shifted_around(seed, n, least):
    rng = np.random.default_rng(seed)
    time = rng.permutation(n)
    maps = draw_row_maps(Dependence(time=time), 12, least, rng)
    possible = n - 1 if min(least, (n - 1) // 2) == 0 else n - 2 * min(least, (n - 1) // 2) + 1
    shifts = set()
    for one in maps:
        (shift,) = set(((time[one] - time) % n).tolist())
        shifts.add(shift)
        assert min(shift, n - shift) >= max(1, min(least, (n - 1) // 2))
    assert len(shifts) == min(12, possible)  # none again while there are others


def shift_of(moved, rows):
    """By how many rows a series is shifted around."""
    place = {row: k for k, row in enumerate(rows.tolist())}
    (shift,) = {(place[row] - k) % len(rows) for k, row in enumerate(moved.tolist())}
    return shift


@given(seeds, st.integers(2, 9), st.booleans(), st.integers(0, 4))
@settings(deadline=None, max_examples=30)
def test_with_few_groups_rows_stay_in_their_group(seed, n_groups, panel, least):
    rng = np.random.default_rng(seed)
    groups = grouped_rows(rng, n_groups, 12)
    time = rng.permutation(len(groups)) if panel else None
    for one in draw_row_maps(Dependence(groups, time), 5, least, rng):
        assert np.array_equal(groups[one], groups)
        assert sorted(one.tolist()) == list(range(len(groups)))
        for g in range(n_groups if panel else 0):
            rows = np.flatnonzero(groups == g)
            rows = rows[np.argsort(time[rows])]
            shift = shift_of(one[rows], rows)
            assert len(rows) == 1 or min(shift, len(rows) - shift) >= max(1, min(least, (len(rows) - 1) // 2))


@given(seeds, st.integers(10, 60), st.integers(1, 30), st.booleans())
@settings(deadline=None, max_examples=40)
def test_groups_exchange_their_rows_with_groups_of_like_size(seed, n_groups, most, panel):
    rng = np.random.default_rng(seed)
    groups = grouped_rows(rng, n_groups, most)
    sizes, time = np.bincount(groups), rng.permutation(len(groups)) if panel else None
    strata = reference.strata(sizes.tolist())
    for one in draw_row_maps(Dependence(groups, time), 4, 1, rng):
        sources = []
        for g in range(n_groups):
            rows = np.flatnonzero(groups == g)
            rows = rows[np.argsort(time[rows])] if panel else rows
            moved = one[rows].astype(int)
            (source,) = set(groups[moved].tolist())
            sources.append(source)
            assert sizes[g] <= 2 * sizes[source]
            # All rows of the other group as often as there is room, and none more often than another by two.
            counts = np.unique(moved, return_counts=True)[1]
            assert len(counts) == min(sizes[g], sizes[source])
            assert counts.max() - counts.min() <= 1
            if panel and source == g:
                assert 0 <= shift_of(moved, rows) < sizes[g]
            elif panel:
                first = moved[: sizes[source]]
                assert (np.diff(time[first]) > 0).all()
                assert moved.tolist() == np.resize(first, sizes[g]).tolist()
            assert any(low <= sizes[g] <= high and low <= sizes[source] <= high for low, high in strata)
        others = [source for g, source in enumerate(sources) if source != g]
        assert len(set(others)) == len(others)
        if all(high <= 2 * low for low, high in strata):
            assert sorted(sources) == list(range(n_groups))


@pytest.mark.parametrize("panel", [True, False])
def test_a_group_without_peers_permutes_its_own_rows(panel):
    groups = np.repeat(np.arange(12), [3] * 11 + [20])
    dependence = Dependence(groups, np.arange(len(groups)) if panel else None)
    rows, shifts = np.arange(33, 53), set()
    for one in draw_row_maps(dependence, 30, 4, np.random.default_rng(0)):
        if panel:
            shifts.add(shift_of(one[rows], rows))
        assert sorted(one[rows].tolist()) == rows.tolist()
        assert not np.array_equal(one[rows], rows) or (one[:33] < 33).all()  # or it has its own by chance
    assert all(shift == 0 or 4 <= shift <= 16 for shift in shifts)


def test_equal_groups_go_to_every_place():
    groups = np.repeat(np.arange(12), 3)
    maps = draw_row_maps(Dependence(groups), 2000, 1, np.random.default_rng(0))
    counts = np.bincount(groups[maps[:, 0]], minlength=12)
    assert np.abs(counts - 2000 / 12).max() < 5 * np.sqrt(2000 / 12)


def test_500_groups_and_maps_go_by_the_seed():
    dependence = Dependence(np.repeat(np.arange(500), 2))
    one, same, other = (draw_row_maps(dependence, 3, 1, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    assert one.dtype == np.uint32


def table_of(y, dependence):
    n = len(y)
    X = np.random.default_rng(0).normal(size=(n, 2))
    return replace(make_table(X, y), dependence=dependence)


KINDS = {
    "groups": Dependence(np.arange(120) % 15),
    "few groups": Dependence(np.arange(120) % 4),
    "time": Dependence(time=np.arange(120)),
    "panel": Dependence(np.arange(120) % 15, np.arange(120)),
    "few series": Dependence(np.arange(120) % 4, np.arange(120)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_weight_0_keep_their_place_and_are_never_a_source(kind):
    rng = np.random.default_rng(5)
    weights = (rng.random(120) < 0.7).astype(float)
    table = table_of(rng.integers(0, 2, 120), KINDS[kind])
    rows = DependentRows.of(table, weights)
    out = weights == 0
    for one in rows.maps(7, seed=3):
        assert np.array_equal(one[out], np.flatnonzero(out))
        assert (weights[one[~out]] > 0).all()
    assert np.array_equal(rows.maps(7, 3), rows.maps(7, 3))
    assert not np.array_equal(rows.maps(7, 3), rows.maps(7, 4))


@pytest.mark.parametrize("kind", KINDS)
def test_halves_keep_groups_and_blocks_of_time_whole(kind):
    rng = np.random.default_rng(6)
    table = table_of(rng.integers(0, 2, 120), KINDS[kind])
    weights = np.ones(120)
    weights[:5] = 0
    for seed in range(10):
        half = half_of(table, weights, np.random.default_rng(seed))
        assert not half[:5].any()
        assert 0.3 <= half[5:].mean() <= 0.7
        if KINDS[kind].groups is not None and kind != "few series":
            inside = np.bincount(KINDS[kind].groups[5:], half[5:]) / np.bincount(KINDS[kind].groups[5:])
            assert set(inside.tolist()) == {0.0, 1.0}
        else:
            assert np.count_nonzero(np.diff(half[5:])) <= 7
    assert len({half_of(table, weights, np.random.default_rng(s)).tobytes() for s in range(5)}) > 1
