"""What an irrelevant feature gains at a node of two classes: counted paths, the table, closed forms."""

import inspect
import math
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
import reference
import reference_forest_gain as twin
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import gammaln

from foresift import _core, criteria
from foresift.criteria import expected_gain, gain_pvalue, gain_variance
from foresift.engine import null_gain
from foresift.engine.null_gain import EXACT_ROWS, chance_moments

CLOSE = {"abs": 1e-10, "rel": 1e-10}
SMALL = [(i, n - i) for n in range(2, 13) for i in range(1, n)]  # every node of up to 12 rows


@cache
def literal(i, j):
    """Gains of all arrangements with their probabilities, mean and variance."""
    found = twin.null_gains(min(i, j), max(i, j))
    gains, probabilities = np.array(list(found)), np.array(list(found.values()))
    mean = probabilities @ gains
    return gains, probabilities, mean, probabilities @ (gains - mean) ** 2


def literal_tail(i, j, gain):
    gains, probabilities, _, _ = literal(i, j)
    return probabilities[gains >= gain - 1e-12].sum()


def log_arrangements(i, j):
    return gammaln(i + j + 1) - gammaln(i + 1) - gammaln(j + 1)


# --- every arrangement of up to twelve rows ---


@pytest.mark.parametrize("n", range(2, 13))
def test_moments_are_those_of_all_arrangements(n):
    nodes = [node for node in SMALL if sum(node) == n]
    means, variances = np.array([literal(*node)[2:] for node in nodes]).T
    kernel = np.array([_core.null_moments(*node) for node in nodes])
    assert kernel[:, 0] == pytest.approx(means, **CLOSE)
    assert kernel[:, 1] == pytest.approx(variances, **CLOSE)
    assert expected_gain(nodes, "exact") == pytest.approx(means, **CLOSE)
    assert gain_variance(nodes) == pytest.approx(variances, **CLOSE)


@pytest.mark.parametrize("n", range(2, 13))
def test_pvalues_are_shares_of_all_arrangements(n):
    for i, j in (node for node in SMALL if sum(node) == n):
        gains = literal(i, j)[0]
        asked = np.concatenate([gains, gains + 1e-6, [1e-9, 0.05, 0.5, 1.0]])
        expected = [literal_tail(i, j, gain) for gain in asked]
        assert [_core.null_tail(i, j, gain) for gain in asked] == pytest.approx(expected, **CLOSE)
        assert gain_pvalue(asked, [i, j]) == pytest.approx(expected, **CLOSE)


def test_values_of_the_readings():
    assert expected_gain([[1, 3], [2, 2]], "exact") == pytest.approx([0.5613, 0.5409], abs=5e-5)  # R9
    equal = np.array([[n // 2, n // 2] for n in (4, 40, 100, 200)])
    too_high = expected_gain(equal, "upper") / expected_gain(equal, "exact") - 1  # R8
    assert too_high == pytest.approx([0.05, 0.03, 0.10, 0.18], abs=0.005)


# --- closed forms ---


@pytest.mark.parametrize("n", range(2, 61))
def test_closed_forms(n):
    nodes = [(i, n - i) for i in range(1, n)]
    lower, upper = twin.expected_gain_lower(n), twin.expected_gain_upper(n)
    assert expected_gain(nodes, "lower") == pytest.approx(lower, **CLOSE)
    assert expected_gain(nodes, "upper") == pytest.approx(upper, **CLOSE)
    assert expected_gain(nodes, "mid") == pytest.approx((lower + upper) / 2, **CLOSE)
    assert expected_gain(nodes) == pytest.approx((lower + upper) / 2, **CLOSE)
    assert expected_gain([1, n - 1], "exact") == pytest.approx(lower, **CLOSE)  # eq. 21 is this very case


def test_closed_forms_take_parts_of_rows():
    sizes = expected_gain([[3.25, 3.25], [3.5, 3.5], [3.75, 3.75]], "mid")
    assert (np.diff(sizes) < 0).all()
    with np.errstate(all="raise"):
        for bound in ("lower", "mid", "upper"):
            few = [[1e-300, 1e-300], [0.3, 0.2], [0.5, 0.5], [0.9, 1]]  # not more than two rows can gain
            assert expected_gain(few, bound).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("n", [10**k + odd for k in (6, 9, 12, 15) for odd in (0, 1)])
def test_closed_forms_of_huge_nodes(n):
    # Eq. 21 is (1 + 1 / ln 2) / n up to terms of 1 / n**2.
    assert expected_gain([n // 2, n - n // 2], "lower") == pytest.approx((1 + 1 / math.log(2)) / n, rel=1e-6)
    assert expected_gain([n - 1, 1], "mid") > expected_gain([n - 1, 1], "lower")


# --- shapes, order and number of classes ---

ASK = [
    lambda counts: expected_gain(counts, "exact"),
    lambda counts: expected_gain(counts, "mid"),
    gain_variance,
    lambda counts: gain_pvalue(0.2, counts),
]


@pytest.mark.parametrize("ask", ASK)
def test_shapes(ask):
    counts = np.random.default_rng(0).integers(0, 30, (4, 5, 2))
    result = ask(counts)
    assert result.shape == (4, 5)
    assert ask(counts[1]).tolist() == result[1].tolist()
    one = ask(counts[1, 2].tolist())
    assert isinstance(one, float)
    assert one == result[1, 2]
    assert ask(np.empty((0, 2))).shape == (0,)


def test_gains_and_counts_are_broadcast():
    counts = np.array([[3, 4], [10, 10]])
    both = gain_pvalue(np.array([0.1, 0.3, 0.5])[:, np.newaxis], counts)
    assert both.shape == (3, 2)
    assert both[2, 1] == gain_pvalue(0.5, [10, 10])
    assert gain_pvalue([0.1, 0.3], counts).tolist() == [both[0, 0], both[1, 1]]


@pytest.mark.parametrize("ask", ASK)
def test_order_and_empty_classes_do_not_matter(ask):
    counts = np.random.default_rng(1).integers(0, 40, (30, 2))
    result = ask(counts)
    assert np.array_equal(ask(counts[:, ::-1]), result)
    for places in ([0, 0, 1], [1, 1], [2], [0, 1, 1, 2]):
        assert np.array_equal(ask(np.insert(counts, places, 0, axis=1)), result)


def test_nodes_of_two_classes_among_three():
    counts = [[5, 0, 9], [0, 9, 5], [9, 5, 0]]
    for bound in ("lower", "mid", "upper", "exact"):
        assert expected_gain(counts, bound).tolist() == [expected_gain([5, 9], bound)] * 3
    # Beside a node of three classes, which is estimated, the others are still counted.
    mixed = expected_gain([*counts, [3, 4, 5]], "exact")
    assert mixed[:3].tolist() == [expected_gain([5, 9], "exact")] * 3
    assert 0 < mixed[3] < reference.entropy([3, 4, 5])


@pytest.mark.parametrize("node", [[0], [7], [7, 0], [0, 7], [0, 0, 9], [0, 0], [1, 0, 0]])
def test_a_pure_node_gains_nothing(node):
    assert gain_variance(node) == 0
    assert gain_pvalue([0.0, 0.1, 1.0], node).tolist() == [1, 1, 1]
    for bound in ("lower", "mid", "upper", "exact"):
        assert expected_gain(node, bound) == 0


def test_two_rows_are_always_parted():
    assert expected_gain([1, 1], "exact") == gain_pvalue(1.0, [1, 1]) == 1
    assert gain_variance([1, 1]) == 0


# --- the shipped table and beyond ---


def test_the_table_is_what_the_kernel_counts():
    rng = np.random.default_rng(0)
    sizes = [*rng.integers(2, EXACT_ROWS + 1, 30), EXACT_ROWS - 1, EXACT_ROWS, EXACT_ROWS]
    nodes = [(int(rng.integers(1, n)), int(n)) for n in sizes[:-1]] + [(EXACT_ROWS // 2, EXACT_ROWS)]
    nodes = np.array([(i, n - i) for i, n in nodes])
    counted = np.array([_core.null_moments(int(i), int(j)) for i, j in nodes]).T
    mean, variance = chance_moments(nodes)
    assert mean == pytest.approx(counted[0], rel=1e-12, abs=1e-12)
    assert variance == pytest.approx(counted[1], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("i", "n"), [(1, 257), (128, 257), (3, 300), (150, 300), (20, 777), (388, 777), (1, 3000), (70, 3000)]
)
def test_between_the_levels_of_the_grid(i, n):
    mean, variance = _core.null_moments(i, n - i, 400)
    assert expected_gain([i, n - i], "exact") == pytest.approx(mean, rel=2e-3)
    assert gain_variance([i, n - i]) == pytest.approx(variance, rel=2e-2)


def test_beyond_the_grid():
    # In 45 s: python -c "from foresift._core import null_moments as m; print(m(2**17, 2**17, 100)); \
    #                    print(m(2621, 2**18 - 2621, 100))"
    slow = {131_072: (2.0327440061211396e-05, 5.686508926040657e-11)}
    slow[2621] = (1.8601493676821482e-05, 5.517639350494578e-11)
    for i, (mean, variance) in slow.items():
        assert expected_gain([i, 2**18 - i], "exact") == pytest.approx(mean, rel=1e-2)
        assert gain_variance([i, 2**18 - i]) == pytest.approx(variance, rel=1e-2)


def test_the_table_and_the_grid_meet():
    rarer = np.arange(1, EXACT_ROWS // 2 + 1)
    here, there = (np.stack([rarer, n - rarer], axis=1) for n in (EXACT_ROWS, EXACT_ROWS + 1))
    ratio = expected_gain(there, "exact") / expected_gain(here, "exact")
    assert ratio == pytest.approx(EXACT_ROWS / (EXACT_ROWS + 1), rel=4e-3)


def test_huge_nodes():
    n = 10_000_000
    nodes = np.array([[1, n - 1], [1000, n - 1000], [n // 2, n // 2]])
    means, variances = expected_gain(nodes, "exact"), gain_variance(nodes)
    assert np.isfinite(means).all()
    assert (means > 0).all()
    assert np.isfinite(variances).all()
    assert (variances > 0).all()
    assert means[0] == pytest.approx(expected_gain(nodes[0], "lower"), rel=1e-2)
    for bound in ("lower", "mid", "upper"):
        assert np.isfinite(expected_gain(nodes, bound)).all()
    assert gain_pvalue(0.5, [n // 2, n // 2]) == 0  # less than any number
    assert 0 < gain_pvalue(3e-6, [n // 2, n // 2]) < 1e-6
    sizes = 2 ** np.arange(9, 32)
    halves = expected_gain(np.stack([sizes // 2, sizes // 2], axis=1), "exact")
    assert (np.diff(halves) < 0).all()
    assert (np.diff(halves * sizes) > 0).all()  # grows like log log n


# --- p-values far out ---


@pytest.mark.parametrize(("i", "j"), [(2, 2), (1, 9), (5, 6), (40, 60), (30, 400), (340, 340), (500, 500)])
def test_a_perfect_split_has_two_arrangements(i, j):
    pvalue = gain_pvalue(reference.entropy([i, j]), [i, j])
    assert pvalue == pytest.approx(2 * math.exp(-log_arrangements(i, j)), rel=1e-9, abs=0)
    if i == 340:
        assert pvalue < 1e-200


@pytest.mark.parametrize(("i", "j"), [(5, 7), (30, 30), (3, 200), (250, 400)])
def test_pvalues_fall_with_the_gain(i, j):
    most = reference.entropy([i, j])
    pvalues = gain_pvalue(np.linspace(0, most, 60) - 1e-10, [i, j])
    assert (np.diff(pvalues) <= 1e-12 * pvalues[:-1]).all()
    assert pvalues[0] == 1
    assert pvalues[-1] > 0
    assert gain_pvalue([most + 1e-9, 1.1, np.inf], [i, j]).tolist() == [0, 0, 0]


def test_pvalues_of_random_orders_are_uniform():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [60, 90])
    x = np.arange(150.0)
    gains = [criteria.information_gain(x, rng.permutation(y)) for _ in range(400)]
    pvalues = np.sort(gain_pvalue(gains, [60, 90]))
    # Kolmogorov-Smirnov at 0.001; p-values of a discrete gain may lie above the diagonal only.
    assert (np.arange(1, 401) / 400 - pvalues).max() < 1.95 / math.sqrt(400)
    assert np.mean(gains) == pytest.approx(expected_gain([60, 90], "exact"), rel=0.1)


@pytest.mark.parametrize("i", [2**18 + 1, 1000])
def test_pvalues_of_very_large_nodes_are_near_the_counted_ones(i):
    n = 2**19 + 2
    gain = 12 / math.log(2) / n  # far out
    assert gain_pvalue(gain, [i, n - i]) == pytest.approx(_core.null_tail(i, n - i, gain), rel=0.15)


# --- nodes that are too large to count ---


@pytest.mark.parametrize("n", [2, 3, 4, 7, 50, 51, 1000, 4097])
def test_one_row_of_a_class_has_a_closed_form(n):
    """Its place is all that can vary; up to 12 rows it is tested above against all arrangements."""
    gains = np.array([(reference.entropy([1, n - 1]) * (k + 1)) / 200 for k in range(200)])
    counted = [_core.null_tail(1, n - 1, gain) for gain in gains]
    assert gain_pvalue(gains, [1, n - 1]) == pytest.approx(counted, rel=1e-9, abs=0)


def test_one_row_of_a_class_among_very_many():
    n = 10**15
    for bits in (1.5, 10, 30, 49):  # 2 to the minus n times the gain on either side, in the limit
        assert gain_pvalue(bits / n, [1, n - 1]) == pytest.approx(2 * 2.0**-bits, rel=1e-2)
    assert gain_pvalue([1 / n, 100 / n], [1, n - 1]).tolist() == [1, 0]


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory by /proc")
@pytest.mark.parametrize(
    "counts", ["[1, 490_000_000]", "[2, 330_000_000]", "[200, 4_900_000]", "[2**52] * 2"]
)
def test_large_nodes_ask_for_little_memory(counts):
    script = f"""
import resource
import numpy as np
from foresift.criteria import gain_pvalue
counts = np.array({counts})
resource.setrlimit(resource.RLIMIT_AS, (2**30 + int(open("/proc/self/statm").read().split()[0]) * 4096,) * 2)
pvalues = gain_pvalue(np.array([1.0, 5, 12, 16]) / counts.sum(), counts)
assert pvalues[0] > 0.9 and 0 < pvalues[3] < 1e-2, pvalues
assert (np.diff(pvalues) <= 0).all(), pvalues
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


@pytest.mark.parametrize(("i", "n"), [(2, 1 << 22), (200, 1 << 22), (5000, 1 << 19)])
def test_counted_and_scaled_nodes_meet(i, n):
    """One row more, and it is scaled from a smaller node, or from one without that row."""
    for bits in (4, 12):
        here, there = (gain_pvalue(bits / m, [i, m - i]) for m in (n, n + 1))
        assert there == pytest.approx(here, rel=1e-6 if i <= 200 else 0.15)
    here, there = (gain_pvalue(8 / (1 << 23), [m, (1 << 23) - m]) for m in (200, 201))
    assert there == pytest.approx(here, rel=0.15)


def test_a_perfect_split_of_a_huge_node_is_not_impossible():
    n = 10**12
    assert 0 < gain_pvalue(reference.entropy([2, n - 2]) * (1 - 1e-9), [2, n - 2]) < 1e-12
    assert gain_pvalue(reference.entropy([2, n - 2]) * 1.001, [2, n - 2]) == 0


def test_what_cannot_be_shuffled_is_refused():
    for ask in (gain_variance, lambda counts: gain_pvalue(0.1, counts)):
        with pytest.raises(ValueError, match=r"3 classes has 3,000,000,000 rows, but at most 33,554,432"):
            ask([10**9] * 3)
    with pytest.raises(ValueError, match="from 2 to 10,000,000, but is 1000000000000"):
        expected_gain([3, 3, 3], "exact", n_permutations=10**12)
    with pytest.raises(ValueError, match="70000 classes, more than 65,535"):
        expected_gain([1] * 70_000, "exact")
    for bound in ("lower", "mid", "upper", "exact"):
        with pytest.raises(ValueError, match="is too large"):
            expected_gain([1e300, 1], bound)


# --- properties ---

nodes = st.tuples(st.integers(1, 400), st.integers(1, 400))


@given(nodes)
@settings(deadline=None)
def test_moments_are_possible(node):
    mean, variance, most = expected_gain(node, "exact"), gain_variance(node), reference.entropy(node)
    assert 0 < mean <= most * (1 + 1e-9)
    assert 0 <= variance <= mean * (most - mean) + 1e-9  # the widest spread inside 0..most
    assert variance > 0 or sum(node) <= 3


@given(nodes, st.floats(0, 1))
@settings(deadline=None, max_examples=60)
def test_pvalues_are_probabilities(node, gain):
    assert 0 <= gain_pvalue(gain, node) <= 1
    assert gain_pvalue([0.0, -1.0], node).tolist() == [1, 1]
    # Markov: g P(gain >= g) <= E
    assert gain * gain_pvalue(gain, node) <= expected_gain(node, "exact") * 1.01


# --- errors ---

SIX = [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("counts", "options", "message"),
    [
        (
            [3, 3],
            {"bound": "middle"},
            "must be one of 'lower', 'mid', 'upper', 'exact', but is 'middle'",
        ),
        ([3, 3], {"bound": "mid", "x": SIX}, 'use bound="exact" with x'),
        ([[3, 3], [2, 4]], {"x": SIX}, "holds 2: give one at a time"),
        ([3, 3], {"x": SIX[:5]}, "x has 5 values, but class_counts 6 rows"),
        ([3, 3], {"x": [[v] for v in SIX]}, "one-dimensional"),
        ([3, 3], {"x": [1, 2, 3, 4, 5, np.inf]}, "infinite"),
        ([3, 3], {"nominal_splits": "all"}, "nominal_splits"),
        ([3.5, 3], {}, "whole numbers of rows"),
        ([3, -3], {}, "finite and not negative"),
        ([3, np.nan], {}, "finite and not negative"),
        (3, {}, "last axis"),
        (
            [3, 3],
            {"n_permutations": 1},
            "n_permutations must be a whole number from 2 to 10,000,000, but is 1",
        ),
        ([3, 3], {"n_permutations": 2.5}, "n_permutations must be a whole number"),
        ([3, 3], {"n_permutations": None}, "n_permutations must be a whole number"),
        ([3, 3, 3], {"bound": "lower"}, 'a node has 3: use bound="exact"'),
        ([3, 3, 3], {"bound": "mid"}, 'a node has 3: use bound="exact"'),
        ([3, 3, 3], {"bound": "upper"}, 'a node has 3: use bound="exact"'),
        ([[3, 3, 0], [1, 1, 1]], {"bound": "mid"}, 'use bound="exact"'),
    ],
)
def test_bad_questions_are_refused(counts, options, message):
    with pytest.raises(ValueError, match=message):
        expected_gain(counts, **{"bound": "exact", **options})
    if options.get("bound") is None:
        with pytest.raises(ValueError, match=message):
            gain_variance(counts, **options)
        with pytest.raises(ValueError, match=message):
            gain_pvalue(0.1, counts, **options)


def test_bad_gains_are_refused():
    with pytest.raises(ValueError, match="gain contains NaN"):
        gain_pvalue([0.1, np.nan], [3, 3])
    for gain in ("a", {}, [1j], [[0.1], [0.1, 0.2]]):
        with pytest.raises(ValueError, match="gain must hold numbers only"):
            gain_pvalue(gain, [5, 5])
    with pytest.raises(ValueError, match="broadcast"):
        gain_pvalue([0.1, 0.2, 0.3], [[3, 3], [4, 4]])


@pytest.mark.parametrize("x", [3, sparse.csr_array(np.ones((10, 2))), sparse.csc_matrix(np.ones((10, 1)))])
def test_what_is_no_column_is_refused(x):
    with pytest.raises(TypeError, match=f"x must be a sequence with .* but is {type(x).__name__}"):
        gain_pvalue(0.1, [5, 5], x=x)


def test_the_functions_are_those_of_criteria():
    for name in ("expected_gain", "gain_variance", "gain_pvalue"):
        assert getattr(criteria, name) is getattr(null_gain, name)
        assert name in criteria.__all__
    assert inspect.signature(expected_gain).parameters["bound"].default == "mid"
