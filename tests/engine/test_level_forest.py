"""Codes, histograms and trees grown level by level, against slow reference implementations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_histograms import LevelTrees, best_cut, best_subset_gain, codes_of, histogram, shadow_of

from foresift import _core
from foresift.data import coded_blocks, row_source
from foresift.data.coded_blocks import CodedBlocks
from foresift.data.coding import cuts_of
from foresift.data.row_source import InMemory
from foresift.data.target import Target
from foresift.engine import level_forest
from foresift.engine.histograms import Requests, Root, root_sums
from foresift.engine.level_forest import LevelOptions, grow_levels
from foresift.engine.local_blocks import LocalBlocks

TARGETS = ["two", "three", "seven", "quantity"]


def small_table(seed, target="two", n_rows=300, n_categories=5):
    """Columns full of ties, gaps and constants, nominal ones among them, and a target that some explain."""
    rng = np.random.default_rng([seed, 41])
    gaps = np.round(rng.normal(size=n_rows), 1)
    gaps[rng.random(n_rows) < 0.3] = np.nan
    category = rng.integers(0, n_categories, n_rows).astype(np.float64)
    with_gaps = rng.integers(0, 3, n_rows).astype(np.float64)
    with_gaps[rng.random(n_rows) < 0.2] = np.nan
    flag = (rng.random(n_rows) < 0.4).astype(np.float64)
    X = np.column_stack(
        [
            rng.integers(0, 4, n_rows),
            gaps,
            np.full(n_rows, 3.0),
            category,
            with_gaps,
            flag,
            rng.random(n_rows),
        ]
    )
    signal = X[:, 0] + 2 * (category % 2) + np.nan_to_num(gaps) + flag + rng.normal(size=n_rows)
    if target == "quantity":
        return X, np.round(signal, 2)
    n_classes = {"two": 2, "three": 3, "seven": 7}[target]
    edges = np.quantile(signal, np.arange(1, n_classes) / n_classes)
    return X, np.searchsorted(edges, signal)


NOMINAL = np.array([False, False, False, True, True, False, False])


def blocks_of(X, y, nominal=NOMINAL, **options):
    return LocalBlocks(InMemory(X, Target.of(y, len(y), "auto")), nominal, "auto", **options)


def root_of(blocks):
    """Widths and kinds; ranks of the bins of a quantity as scores."""
    n_codes = blocks.coding.n_target_codes
    scores = None if blocks.coding.labels is not None else 37 * np.arange(n_codes, dtype=np.uint32) + 5
    return Root.of(blocks, scores)


def all_rows(blocks):
    """Codes and target in the order of the rows, and the number of blocks."""
    found = blocks.collect(lambda block: (block.codes, block.target))
    codes = np.empty((blocks.n_columns, blocks.n_rows), dtype=np.uint8)
    target = np.empty(blocks.n_rows, dtype=np.intp)
    for k, (own, y) in enumerate(found):
        codes[:, k :: len(found)], target[k :: len(found)] = own, y
    return codes, target, len(found)


def options_of(**changes):
    defaults = {
        "n_trees": 4,
        "n_candidates": 4,
        "max_depth": 4,
        "min_split": 10,
        "min_share": 0.0,
        "multiway": False,
        "n_shadows": 4,
        "shadows_per_tree": 2,
        "seed": 5,
    }
    return LevelOptions(**{**defaults, **changes})


def order_of(codes):
    return np.array([j for j in range(len(codes)) if codes[j].min() < codes[j].max()], dtype=np.uint32)


def permutations_of(n_columns, n_shadows, seed=0):
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(2 * n_shadows)[:n_shadows] for _ in range(n_columns)], dtype=np.uint32)


def grown(blocks, options, n_jobs=1, root=None):
    root, order = root_of(blocks) if root is None else root, order_of(all_rows(blocks)[0])
    permutations = permutations_of(blocks.n_columns, options.n_shadows)
    return grow_levels(blocks, root, order, permutations, options, n_jobs, lambda done: False)


def reference(blocks, options):
    """The same, one tree after the other, sorted by level as `grow_levels` does."""
    codes, target, n_blocks = all_rows(blocks)
    permutations = permutations_of(blocks.n_columns, options.n_shadows)
    trees = LevelTrees(codes, target, root_of(blocks), n_blocks, order_of(codes), permutations, options)
    levels = [trees.grow(k) for k in range(options.n_trees)]
    return [
        of_tree[depth] for depth in range(options.max_depth) for of_tree in levels if depth < len(of_tree)
    ]


def assert_same_gains(found, expected):
    assert len(found) == len(expected)
    for (column, weight, gain), (ref_column, ref_weight, ref_gain) in zip(found, expected, strict=True):
        assert column.tolist() == ref_column.tolist()
        np.testing.assert_allclose(weight, ref_weight, rtol=1e-12)
        largest = np.nanmax(ref_gain, initial=0.0)  # of a quantity gains are squares of scores
        np.testing.assert_allclose(gain, ref_gain, rtol=1e-9, atol=1e-12 * (1 + largest))


def equal_gains(one, other):
    return len(one) == len(other) and all(
        np.array_equal(a, b, equal_nan=True)
        for x, y in zip(one, other, strict=True)
        for a, b in zip(x, y, strict=True)
    )


# Codes


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-5, 5, width=16) | st.sampled_from([0.0, 1.0, np.nan]), max_size=300),
    st.integers(2, 255),
    st.sampled_from([np.float32, np.float64]),
)
def test_codes_are_those_of_searchsorted(values, max_bins, dtype):
    values = np.array(values, dtype=dtype)
    cuts = cuts_of(values, max_bins)
    assert len(cuts) < max_bins
    assert (np.diff(cuts) > 0).all()
    begins = np.array([0, len(cuts)], dtype=np.uint32)
    codes = _core.code_values(values[:, np.newaxis], cuts, begins)[0]
    assert codes.tolist() == codes_of(values, cuts).tolist()
    known = values[~np.isnan(values)]
    if len(np.unique(known)) <= max_bins:  # exact: codes are ranks
        assert codes[~np.isnan(values)].tolist() == np.unique(known, return_inverse=True)[1].tolist()
    elif len(known):
        assert len(np.unique(codes[~np.isnan(values)])) > 1


def test_bins_have_about_equal_shares():
    values = np.random.default_rng(0).lognormal(size=100_000)
    counts = np.bincount(codes_of(values, cuts_of(values, 255)))
    assert len(counts) == 255
    assert counts.min() >= counts.max() - 2


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rare_values_on_either_side_are_kept_apart(sign):
    rng = np.random.default_rng(0)
    values = np.zeros(200_000)
    values[rng.permutation(len(values))[:400]] = rng.random(400) + 1
    codes = codes_of(sign * values, cuts_of(sign * values))
    assert len(np.unique(codes)) > 1
    assert set(codes[values == 0]).isdisjoint(codes[values > 0])


# Sums


@pytest.mark.parametrize("target", TARGETS)
def test_root_sums_equal_a_loop_over_rows(target, monkeypatch):
    monkeypatch.setattr(coded_blocks, "MAX_BLOCK_ROWS", 70)
    blocks = blocks_of(*small_table(0, target))
    codes, y, n_blocks = all_rows(blocks)
    assert n_blocks == 5
    root = root_of(blocks)
    sums, counts = root_sums(blocks, root)
    assert counts.tolist() == np.bincount(y, minlength=root.n_codes).tolist()
    scores = root.scores if target == "quantity" else None
    for j, found in enumerate(sums):
        assert np.array_equal(found, histogram(codes[j], y, int(root.width[j]), root.n_codes, scores))


@pytest.mark.parametrize("target", ["three", "quantity"])
@pytest.mark.parametrize("max_sums", [1, 50, 5000])
def test_root_sums_in_chunks(target, max_sums, monkeypatch):
    blocks = blocks_of(*small_table(1, target))
    whole, _ = root_sums(blocks, root_of(blocks))
    monkeypatch.setattr(CodedBlocks, "max_sums", max_sums)
    parts, _ = root_sums(blocks, root_of(blocks))
    assert all(np.array_equal(a, b) for a, b in zip(whole, parts, strict=True))


def requests_for(root, shadows):
    """All columns, and their shadows, at the root."""
    n = len(root.width)
    column = np.tile(np.arange(n, dtype=np.uint32), 1 + len(shadows))
    shadow = np.repeat(np.array([0, *shadows], dtype=np.uint32), n)
    asked = level_forest._Asked(level_forest._Tree(), column, shadow)
    return Requests(level_forest._arrays([asked], root), root.n_codes, 9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 5), st.sampled_from(TARGETS), st.lists(st.integers(1, 299), max_size=6), st.randoms())
def test_any_division_of_rows_has_the_same_sums(seed, target, ends, random):
    blocks = blocks_of(*small_table(seed, target))
    codes, y, _ = all_rows(blocks)
    requests = requests_for(root_of(blocks), ())
    whole = requests.zeros()
    requests.add(coded_blocks.Block(codes, y.astype(np.uint16), 0), whole, None)
    parts = requests.zeros()
    spans = np.split(np.arange(300), sorted(ends))
    random.shuffle(spans)
    for number, rows in enumerate(spans):
        some = coded_blocks.Block(codes[:, rows].copy(), y[rows].astype(np.uint16), number)
        requests.add(some, parts, None)
    assert all(np.array_equal(a, b) for a, b in zip(whole, parts, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(whole, blocks.sum(requests), strict=True))


def test_shadows_are_permuted_inside_blocks(monkeypatch):
    monkeypatch.setattr(coded_blocks, "MAX_BLOCK_ROWS", 100)
    blocks = blocks_of(*small_table(2))
    codes, y, n_blocks = all_rows(blocks)
    root, numbers = root_of(blocks), (3, 8)
    sums = blocks.sum(requests_for(root, numbers))[0]
    at = 0
    for number in (0, *numbers):
        for j, own in enumerate(codes):
            column = own if number == 0 else shadow_of(own, n_blocks, 9, number - 1)
            expected = histogram(column, y, int(root.width[j]), root.n_codes)
            assert np.array_equal(sums[at : at + expected.size].reshape(expected.shape), expected)
            at += expected.size
    assert at == len(sums)


@pytest.mark.parametrize("batch_rows", [1, 7, 64, 1000])
def test_rows_are_read_in_any_batches(batch_rows, monkeypatch):
    monkeypatch.setattr(coded_blocks, "MAX_BLOCK_ROWS", 70)
    X, y = small_table(3, "quantity")
    expected = all_rows(blocks_of(X, y))
    monkeypatch.setattr(row_source, "BATCH_ROWS", batch_rows)
    found = all_rows(blocks_of(X, y))
    assert all(np.array_equal(a, b) for a, b in zip(expected[:2], found[:2], strict=True))


# Splits


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("min_share", [0.0, 0.3])
def test_splits_equal_trying_everything(target, seed, min_share):
    blocks = blocks_of(*small_table(seed, target, n_rows=120))
    codes, y, _ = all_rows(blocks)
    root = root_of(blocks)
    scores = root.scores if target == "quantity" else None
    requests = requests_for(root, ())
    sums = blocks.sum(requests)[0]
    gains, n_children, child_of, child_rows = requests.plan.search(0, sums, root.nominal, False, min_share)
    ends = np.cumsum(n_children)
    for j, own in enumerate(codes):
        if not root.nominal[j]:
            expected = best_cut(own, y, int(root.width[j]), min_share, scores)
            assert gains[j] == pytest.approx(expected.gain, rel=1e-9, abs=1e-9)
            assert (n_children[j] == 0) == (expected.child_of is None)
        elif target != "seven":  # of many classes not all subsets are tried
            assert gains[j] == pytest.approx(best_subset_gain(own, y, scores), rel=1e-9, abs=1e-9)
        rows = child_rows[ends[j] - n_children[j] : ends[j]]
        if n_children[j]:
            assert rows.tolist() == np.bincount(child_of[j][own]).tolist()


# Trees


CASES = {
    "plain": {},
    "one shadow at a time": {"n_shadows": 5, "shadows_per_tree": 1},
    "all columns": {"n_candidates": 6, "n_trees": 2},
    "one candidate": {"n_candidates": 1, "max_depth": 6},
    "deep": {"max_depth": 7, "min_split": 12, "n_trees": 2},
    "large nodes": {"min_split": 120},
    "a stump": {"max_depth": 1},
    "shares": {"min_share": 0.25},
    "multiway": {"multiway": True},
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", CASES)
def test_trees_are_those_of_the_reference(case, target, monkeypatch):
    monkeypatch.setattr(coded_blocks, "MAX_BLOCK_ROWS", 90)
    options = options_of(**CASES[case])
    blocks = blocks_of(*small_table(4, target, n_rows=160))
    found = grown(blocks, options)
    assert_same_gains(found, reference(blocks, options))
    assert max(len(level.column) for level in found) > 0


@pytest.mark.parametrize("target", ["two", "three", "quantity"])
@pytest.mark.parametrize("multiway", [False, True])
def test_many_categories_are_compared_with_their_shadows(target, multiway, monkeypatch):
    X, y = small_table(6, target, n_rows=160, n_categories=40)
    X[:, 3] = np.random.default_rng(0).permutation(X[:, 3])  # says nothing, but gains much
    blocks, options = blocks_of(X, y), options_of(n_candidates=6, max_depth=3, n_trees=3, multiway=multiway)
    found = grown(blocks, options)
    assert_same_gains(found, reference(blocks, options))
    if target == "two":  # where it would split without that
        monkeypatch.setattr(level_forest, "MANY_CATEGORIES", 1000)
        assert not equal_gains(grown(blocks, options), found)


@pytest.mark.parametrize("target", ["three", "quantity"])
@pytest.mark.parametrize("max_sums", [1, 300, 4000])
def test_plans_in_chunks_gain_the_same(target, max_sums, monkeypatch):
    blocks, options = blocks_of(*small_table(7, target)), options_of(n_trees=6)
    whole = grown(blocks, options)
    monkeypatch.setattr(CodedBlocks, "max_sums", max_sums)
    assert equal_gains(grown(blocks, options), whole)


@pytest.mark.parametrize("target", ["two", "quantity"])
def test_threads_do_not_matter(target, monkeypatch):
    monkeypatch.setattr(coded_blocks, "MAX_BLOCK_ROWS", 40)
    X, y = small_table(8, target)
    one = grown(blocks_of(X, y, n_jobs=1), options_of(), n_jobs=1)
    assert equal_gains(grown(blocks_of(X, y, n_jobs=3), options_of(), n_jobs=3), one)


def test_a_file_of_codes_gains_the_same():
    X, y = small_table(9)
    assert equal_gains(
        grown(blocks_of(X, y, memory_limit=0), options_of()), grown(blocks_of(X, y), options_of())
    )


def test_used_up_columns_are_left_out():
    rng = np.random.default_rng(0)
    flags = rng.integers(0, 2, (400, 3)).astype(np.float64)
    flags[:, 1][rng.random(400) < 0.1] = np.nan  # a third value
    blocks = blocks_of(flags, np.nan_to_num(flags) @ [100, 10, 1] + 0.5, np.zeros(3, dtype=bool))
    levels = grown(blocks, options_of(n_trees=1, n_candidates=3, max_depth=9, min_split=2))
    assert [sorted(set(level.column.tolist())) for level in levels] == [[0, 1, 2], [1, 2], [2]]
    few = options_of(n_trees=1, n_candidates=1, max_depth=9, min_split=2)
    assert sorted(level.column[0] for level in grown(blocks, few)) == [0, 1, 2]


def test_too_few_rows_and_no_columns():
    X, y = small_table(0, n_rows=50)
    blocks = blocks_of(X, y)
    assert grown(blocks, options_of(min_split=51)) == []
    assert len(grown(blocks, options_of(min_split=50))) > 0
    none = np.empty(0, np.uint32)
    permutations = permutations_of(blocks.n_columns, 4)
    assert grow_levels(blocks, root_of(blocks), none, permutations, options_of(), 1, lambda done: False) == []


def test_advance_ends_growing():
    blocks, told = blocks_of(*small_table(0)), []

    def advance(done):
        told.append(done)
        return done == 2

    order, permutations = order_of(all_rows(blocks)[0]), permutations_of(blocks.n_columns, 4)
    levels = grow_levels(blocks, root_of(blocks), order, permutations, options_of(), 1, advance)
    assert told == [1, 2]
    assert equal_gains(levels, grown(blocks, options_of(max_depth=2)))
