"""Criteria against the literal oracles, scikit-learn and values worked by hand."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln
from sklearn.metrics import mutual_info_score

from foresift.criteria import best_ssv_split, gain_ratio, information_gain, node_complexity, ssv

CLOSE = {"abs": 1e-10, "rel": 1e-10}

# Bommaganti Table 1: age, prescription, astigmatic, tears, lens.
LENSES = np.array(
    [
        row.split()
        for row in """young myope no reduced soft
        young myope no normal soft
        young myope yes reduced none
        young hyper no normal soft
        young hyper yes reduced hard
        pre myope yes reduced none
        pre myope yes normal hard
        pre hyper no reduced none
        pre hyper no normal soft
        pre hyper yes reduced none
        old myope no reduced none
        old myope no normal none
        old myope yes reduced none
        old myope yes normal hard
        old hyper no reduced none
        old hyper yes reduced none
        old hyper yes normal none""".splitlines()
    ]
)


@st.composite
def problems(draw, nominal=False, missing=True, max_rows=30):
    """Few values, so many ties; constants, missing values and zero weights come by themselves."""
    n = draw(st.integers(1, max_rows))
    values = st.integers(0, draw(st.integers(0, 5)))
    if missing:
        values = st.one_of(values, st.just(-1)) if draw(st.booleans()) else values
    x = np.array(draw(st.lists(values, min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.integers(0, draw(st.integers(0, 3))), min_size=n, max_size=n)))
    weights = draw(
        st.one_of(
            st.none(),
            st.lists(st.integers(0, 3), min_size=n, max_size=n),
            st.lists(st.sampled_from([0.0, 0.25, 0.7, 1.0, 2.5]), min_size=n, max_size=n),
        )
    )
    if weights is not None and not any(weights):
        weights = None
    if nominal:
        return x, y, weights
    return np.where(x < 0, np.nan, x.astype(float) ** 2), y, weights


def as_column(codes):
    """Nominal column from codes, -1 as None."""
    return np.array([None if code < 0 else f"c{code}" for code in codes] + [None], dtype=object)[:-1]


def one_class(y, weights):
    return len(set(y if weights is None else y[np.asarray(weights) > 0])) == 1


@given(problems())
@settings(deadline=None)
def test_numeric_gain_is_that_of_the_best_cut(problem):
    x, y, weights = problem
    cuts = reference.cuts(x, y, "entropy", weights, missing="known")
    assert information_gain(x, y, sample_weight=weights) == pytest.approx(
        max(cuts.values(), default=0.0), **CLOSE
    )


@given(problems())
@settings(deadline=None)
def test_numeric_gain_ratio_is_that_of_a_cut_with_the_best_gain(problem):
    x, y, weights = problem
    gains = reference.cuts(x, y, "entropy", weights, missing="known")
    ratios = reference.cuts(x, y, "gain_ratio", weights, missing="known")
    top = max(gains.values(), default=0.0)
    allowed = [ratios[cut] for cut, gain in gains.items() if gain > top - 1e-9] or [0.0]
    found = gain_ratio(x, y, sample_weight=weights)
    assert any(found == pytest.approx(ratio, **CLOSE) for ratio in allowed)


@given(problems(nominal=True))
@settings(deadline=None)
def test_nominal_gain_and_ratio_are_those_of_one_branch_per_category(problem):
    x, y, weights = problem
    for function, criterion in [(information_gain, "entropy"), (gain_ratio, "gain_ratio")]:
        expected = reference.multiway(x, y, criterion, weights)
        assert function(as_column(x), y, sample_weight=weights) == pytest.approx(expected, **CLOSE)


@given(problems(missing=False))
@settings(deadline=None)
def test_best_ssv_cut(problem):
    x, y, weights = problem
    cuts = reference.cuts(x, y, "ssv", weights)
    score, threshold = best_ssv_split(x, y, sample_weight=weights)
    if not cuts or one_class(y, weights):
        assert (score, threshold) == (0.0, None)
        return
    top = max(cuts.values())
    assert score == pytest.approx(top, **CLOSE)
    assert threshold == min(cut for cut, value in cuts.items() if value > top - 1e-9)


@given(problems(nominal=True))
@settings(deadline=None)
def test_best_ssv_subset(problem):
    x, y, weights = problem
    subsets = reference.subsets(x, y, "ssv", weights)
    score, categories = best_ssv_split(as_column(x), y, sample_weight=weights)
    if not subsets or one_class(y, weights):
        assert (score, categories) == (0.0, None)
        return
    top = max(subsets.values())
    assert score == pytest.approx(top, **CLOSE)
    left = frozenset(-1 if category is None else int(category[1:]) for category in categories)
    assert subsets[left] == pytest.approx(top, **CLOSE)
    assert len(left) == min(len(other) for other, value in subsets.items() if value > top - 1e-9)


def test_ssv_of_many_categories_is_at_least_that_of_any_single_one():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 14, 300), rng.integers(0, 3, 300)
    score, categories = best_ssv_split(x, y, nominal=True)
    singles = []
    for left in [*({k} for k in range(14)), categories]:
        rows = np.isin(x, list(left))
        singles.append(ssv(np.bincount(y[rows], minlength=3), np.bincount(y[~rows], minlength=3)))
    assert score == singles[-1] == max(singles)


def test_lenses():
    lens = LENSES[:, 4]
    gains = [information_gain(LENSES[:, j], lens) for j in range(4)]
    assert gains[2] == pytest.approx(0.426, abs=5e-4)  # READINGS B1
    assert np.argmax(gains) == 2
    assert gain_ratio(LENSES[:, 2], lens) == pytest.approx(0.42742, abs=1e-5)
    assert ssv([0, 4, 4], [3, 0, 6]) == 92.0
    assert best_ssv_split(LENSES[:, 2], lens)[0] == 92.0
    for j in range(4):
        assert gains[j] == pytest.approx(mutual_info_score(LENSES[:, j], lens) / math.log(2))


@pytest.mark.parametrize("seed", range(5))
def test_nominal_gain_is_mutual_information(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 30, 500), rng.integers(0, 4, 500)
    expected = mutual_info_score(x, y) / math.log(2)
    assert information_gain(x, y, nominal=True) == pytest.approx(expected, rel=1e-10)


@given(problems())
@settings(deadline=None)
def test_only_the_order_of_numbers_matters(problem):
    x, y, weights = problem
    for function in (information_gain, gain_ratio):
        before = function(x, y, sample_weight=weights)
        assert function(np.exp(x / 3) - 7, y, sample_weight=weights) == pytest.approx(before, **CLOSE)
    assert information_gain(-x, y, sample_weight=weights) == pytest.approx(
        information_gain(x, y, sample_weight=weights), **CLOSE
    )


def test_many_distinct_values_are_cut_exactly():
    rng = np.random.default_rng(0)
    x = rng.normal(size=65_000)
    y = (x > 1.2345).astype(int)
    assert information_gain(x, y) == pytest.approx(reference.entropy(np.bincount(y)), rel=1e-10)
    _, threshold = best_ssv_split(x, y)
    assert threshold == (x[y == 0].max() + x[y == 1].min()) / 2


def test_more_distinct_values_than_codes_are_cut_almost_exactly():
    x = np.random.default_rng(0).normal(size=200_000)
    y = (x > 1.2345).astype(int)
    assert information_gain(x, y) == pytest.approx(reference.entropy(np.bincount(y)), rel=1e-3)
    assert best_ssv_split(x, y)[1] == pytest.approx(1.2345, abs=1e-3)


def test_every_kind_of_column_reads_alike():
    y = ["a", "b", "b", "a", "b"]
    numbers, strings = [1.0, 2.0, None, 4.0, 5.0], ["p", "q", None, "p", "q"]
    for make in (
        pd.Series,
        pl.Series,
        lambda v: pa.chunked_array([v]),
        list,
        lambda v: np.array(v, dtype=object),
    ):
        assert information_gain(make(numbers), y) == information_gain([1.0, 2.0, math.nan, 4.0, 5.0], y)
        assert information_gain(make(strings), make(y)) == pytest.approx(0.8)
    assert information_gain(["p", "q", math.nan, "p", "q"], y) == pytest.approx(0.8)
    assert information_gain(pd.Series(strings, dtype="category"), y) == pytest.approx(0.8)
    assert (
        information_gain(pd.array([1, 2, None, 4, 5], dtype="Int64").to_numpy(float, na_value=np.nan), y) > 0
    )
    assert information_gain(pd.Series([1, 2, None, 4, 5], dtype="Int64"), y) == information_gain(
        pl.Series([1, 2, None, 4, 5]), y
    )
    flags = np.array([True, False, False, True, False])
    assert information_gain(flags, y) == pytest.approx(reference.entropy([2, 3]))
    assert information_gain(pd.Series([True, False, None, True, False], dtype="boolean"), y) == pytest.approx(
        0.8
    )
    assert best_ssv_split(flags, y) == (12.0, frozenset({False})) or best_ssv_split(flags, y)[1] == {True}


def test_inputs_are_left_alone():
    x, y, weights = np.array([3.0, np.nan, 1.0]), np.array([2, 1, 1]), np.array([1.0, 0.0, 2.0])
    before = x.copy(), y.copy(), weights.copy()
    for array in (x, y, weights):
        array.flags.writeable = False
    gain_ratio(x, y, sample_weight=weights)
    for array, copy in zip((x, y, weights), before, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("function", [information_gain, gain_ratio, best_ssv_split])
@pytest.mark.parametrize(
    ("x", "y", "options", "error", "message"),
    [
        ([], [], {}, ValueError, "empty"),
        ([1, 2], [0, 1, 1], {}, ValueError, "same length"),
        ([1, 2], [0, None], {}, ValueError, r"y has 1 missing"),
        ([1.0, 2.0], [0.0, math.nan], {}, ValueError, r"y has 1 missing"),
        ([1.0, 2.0], [0.5, 1.7], {}, ValueError, "not whole"),
        ([1.0, 2.0], [0.0, math.inf], {}, ValueError, "y has infinite values"),
        ([1.0, math.inf], [0, 1], {}, ValueError, "infinite"),
        ([[1.0], [2.0]], [0, 1], {}, ValueError, "one-dimensional"),
        ([1.0, 2.0], [[0], [1]], {}, ValueError, "one-dimensional"),
        ([1.0, "a"], [0, 1], {}, TypeError, "mixes values of types float, str"),
        (np.array([1j, 2j]), [0, 1], {}, ValueError, "Complex"),
        (["a", "b"], [0, 1], {"nominal": False}, TypeError, "numbers"),
        (np.arange(70_000), np.zeros(70_000), {"nominal": True}, ValueError, "70,000 categories"),
        ([1.0, 2.0], [0, 1], {"sample_weight": [1.0]}, ValueError, "sample_weight"),
        ([1.0, 2.0], [0, 1], {"sample_weight": [1.0, -1.0]}, ValueError, "Negative"),
        ([1.0, 2.0], [0, 1], {"sample_weight": [1.0, math.nan]}, ValueError, "NaN"),
        ([1.0, 2.0], [0, 1], {"sample_weight": [0.0, 0.0]}, ValueError, "non-zero"),
    ],
)
def test_bad_columns_are_refused(function, x, y, options, error, message):
    with np.errstate(all="raise"), pytest.raises(error, match=message):
        function(x, y, **options)


def test_dates_are_numbers():
    days = np.array(["2020-01-03", "2020-01-01", "NaT", "2020-02-01"], "M8[D]")
    numbers = np.where(np.isnat(days), np.nan, days.astype(float))
    assert information_gain(days, [0, 1, 1, 0]) == information_gain(numbers, [0, 1, 1, 0]) > 0


def test_ssv_refuses_missing_numbers_and_bad_counts():
    with pytest.raises(ValueError, match="nominal=True"):
        best_ssv_split([1.0, math.nan], [0, 1])
    assert best_ssv_split([1.0, math.nan], [0, 1], nominal=True) == (2.0, {1.0})
    with pytest.raises(ValueError, match="same classes"):
        ssv([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="not negative"):
        ssv([1, -2], [1, 2])


@pytest.mark.parametrize("n", range(13))
def test_node_complexity_of_two_classes_by_enumeration(n):
    nodes = [(i, n - i) for i in range(n + 1)]
    expected = [reference.node_complexity(node) for node in nodes]
    np.testing.assert_allclose(node_complexity(nodes), expected, atol=1e-12)


def test_node_complexity_of_more_classes_by_enumeration():
    nodes = [(a, b, c) for a in range(5) for b in range(5) for c in range(4)]
    expected = [reference.node_complexity(node) for node in nodes]
    np.testing.assert_allclose(node_complexity(nodes), expected, atol=1e-12)
    assert node_complexity([2, 1, 2, 1]) == pytest.approx(reference.node_complexity([2, 1, 2, 1]))
    twelve = [(a, b, 12 - a - b) for a in range(1, 5) for b in range(a, 7) if b <= 12 - a - b]
    expected = [reference.node_complexity(node) for node in twelve]
    np.testing.assert_allclose(node_complexity(twelve), expected, atol=1e-12)


def test_node_complexity_of_any_shape_and_order():
    counts = np.random.default_rng(0).integers(0, 50, size=(4, 5, 3))
    result = node_complexity(counts)
    assert result.shape == (4, 5)
    assert result[2, 3] == pytest.approx(node_complexity(counts[2, 3]), abs=1e-9)
    np.testing.assert_allclose(node_complexity(counts[..., ::-1]), result, atol=1e-9)
    np.testing.assert_allclose(node_complexity(np.insert(counts, 1, 0, axis=-1)), result, atol=1e-9)
    assert node_complexity(np.empty((0, 3))).shape == (0,)


def test_node_complexity_of_huge_nodes():
    # log2 C(n, n/2) is n - log2(pi n / 2) / 2 up to 1 / (4 n ln 2) (Stirling).
    n = 10_000_000
    assert node_complexity([n // 2, n // 2]) == pytest.approx(
        n - math.log2(math.pi * n / 2) / 2 - 1, rel=1e-12
    )
    assert node_complexity([n - 1, 1]) == pytest.approx(math.log2(n) - 1, abs=1e-6)
    assert node_complexity([n, 0]) == 0.0
    assert np.isfinite(node_complexity([n, n, n])).all()


def test_node_complexity_of_counts_that_are_not_whole():
    whole = node_complexity([7, 5])
    assert node_complexity([7 * (1 + 1e-14), 5 - 1e-13]) == whole  # share times size
    assert node_complexity([6, 5]) < node_complexity([6.5, 5]) < whole
    assert node_complexity([[0.4, 0.3], [2.5, 0.0]]).tolist() == [0.0, 0.0]


def test_node_complexity_refuses_bad_counts():
    for bad in ([1, -1], [1, math.nan], [math.inf, 1]):
        with pytest.raises(ValueError, match="finite and not negative"):
            node_complexity(bad)
    with pytest.raises(ValueError, match="last axis"):
        node_complexity(3)


@given(st.lists(st.integers(0, 3000), min_size=2, max_size=4), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_node_complexity_in_bulk_is_that_of_single_nodes(node, seed):
    many = np.random.default_rng(seed).integers(0, 50, (300, len(node)))
    many[7] = node  # one large node among small ones: the table of factorials must reach it
    bulk = node_complexity(many)
    assert bulk[7] == pytest.approx(node_complexity(node), rel=1e-12, abs=1e-9)
    log_all = gammaln(many.sum(axis=1) + 1.0) - gammaln(many + 1.0).sum(axis=1)
    assert (np.abs(bulk - np.maximum(log_all / math.log(2) - 1, 0)) <= 1 + 1e-9).all()  # 1 - A / C is in 0..1
    large = np.vstack([many, np.full((1, len(node)), 5_000_000)])  # too large for a table
    assert node_complexity(large)[:-1] == pytest.approx(bulk, rel=1e-12, abs=1e-9)


def test_node_complexity_of_impossibly_many_rows():
    with np.errstate(all="raise"):
        assert node_complexity([1e19, 1e19]) == pytest.approx(2e19)
        assert node_complexity([0.0, 1e19]) == 0.0
        for n in (2**33, 10**12 + 1, 2**52, 2**63 - 1, 10**99):  # n + 1 ways, and (n + 2) times as many
            assert node_complexity([n, 1]) == pytest.approx(math.log2(n + 1) - 1, rel=1e-9)
            assert node_complexity([1, 0, n, 1]) == pytest.approx(2 * math.log2(n + 1) - 1, rel=1e-9)


@pytest.mark.parametrize("n", [2**32 - 3, 2**32 + 3])  # either side of where another formula is taken
@pytest.mark.parametrize("rarer", [1, 50, 10**6])
def test_node_complexity_of_huge_nodes_counts_their_arrangements(n, rarer):
    exact = sum(math.log2((n - k) / (k + 1)) for k in range(rarer)) - 1
    assert node_complexity([rarer, n - rarer]) == pytest.approx(exact, rel=1e-6)


def test_rows_that_no_table_has_are_refused():
    for ask in (node_complexity, lambda counts: ssv(counts, counts)):
        with pytest.raises(ValueError, match=r"_counts is too large: .* below 1e\+100"):
            ask([1e300, 1])
