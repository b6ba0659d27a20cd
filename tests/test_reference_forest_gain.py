"""The twins of Rogers & Gunn, against values worked by hand and those of the readings."""

import math

import numpy as np
import pytest
import reference_forest_gain as twin
from scipy.special import comb

H13 = 2 - 0.75 * math.log2(3)  # entropy of one against three: 0.8113
H12 = math.log2(3) - 2 / 3  # of one against two: 0.9183
ONE_OFF = 1 - 0.75 * H12  # two and two, one row cut off: 0.3113


def mean(gains):
    return sum(gain * probability for gain, probability in gains.items())


def test_best_gain_by_hand():
    assert twin.best_gain([0, 0, 1, 1], 2) == pytest.approx(1)
    assert twin.best_gain([0, 1, 0, 1], 2) == pytest.approx(ONE_OFF)
    assert twin.best_gain([0, 1, 2], 3) == pytest.approx(H12)
    assert twin.best_gain([0, 0, 0], 2) == 0
    assert twin.best_gain([0], 1) == 0


def test_null_gains_by_hand():
    # Two and two: ++-- and its reflection are parted; in the other four one end is cut off.
    gains = twin.null_gains(2, 2)
    assert list(gains) == [pytest.approx(ONE_OFF), pytest.approx(1)]
    assert list(gains.values()) == [pytest.approx(2 / 3), pytest.approx(1 / 3)]
    # One and three: at an end it is parted; one row further in, it stays with one of the others.
    gains = twin.null_gains(1, 3)
    assert list(gains) == [pytest.approx(H13 - 0.5), pytest.approx(H13)]
    assert list(gains.values()) == [0.5, 0.5]
    assert twin.null_gains(1, 1) == {1.0: 1.0}
    assert twin.null_gains(3, 0) == twin.null_gains(0, 1) == {0.0: 1.0}


def test_values_of_the_readings():
    assert twin.expected_gain_exact([1, 3]) == pytest.approx(0.5613, abs=5e-5)  # R9
    assert twin.expected_gain_exact([2, 2]) == pytest.approx(0.5409, abs=5e-5)
    for n, off_centre in {4: True, 6: True, 8: False, 10: True, 12: True}.items():
        expected = [mean(twin.null_gains(i, n - i)) for i in range(1, n // 2 + 1)]
        assert (expected[-1] < max(expected)) == off_centre
    assert twin.expected_gain_upper(4) / mean(twin.null_gains(2, 2)) == pytest.approx(1.05, abs=0.005)  # R8
    for n in range(5, 13):
        assert twin.expected_gain_upper(n) == pytest.approx(
            mean(twin.null_gains(n // 2, n - n // 2)), rel=0.03
        )


@pytest.mark.parametrize("n", range(2, 41))
def test_lower_bound_is_equation_21_and_its_odd_form(n):
    m = (n - 1) // 2
    if n % 2 == 0:
        formula = 1 / n - (n - 1) / n * math.log2((n - 1) / n)
    else:  # R8
        parent = -1 / n * math.log2(1 / n) - (n - 1) / n * math.log2((n - 1) / n)
        formula = parent - (m * math.log2(m) + (m + 1) * math.log2(m + 1)) / n**2
    assert twin.expected_gain_lower(n) == pytest.approx(formula, abs=1e-12)
    if n <= 12:
        assert twin.expected_gain_lower(n) == pytest.approx(mean(twin.null_gains(1, n - 1)), abs=1e-12)


def test_upper_bound():
    assert twin.expected_gain_upper(2) == 1
    assert math.log(twin.expected_gain_upper(200), 100) == pytest.approx(-0.82)


@pytest.mark.parametrize(("positive", "negative"), [(1, 1), (1, 4), (3, 3), (4, 5), (0, 3)])
def test_both_enumerations_agree(positive, negative):
    gains = twin.null_gains(positive, negative)
    counts = [negative, positive]
    expected = mean(gains)
    assert sum(gains.values()) == pytest.approx(1)
    assert len(twin.gains_of_arrangements(counts)) == comb(positive + negative, positive)
    assert twin.expected_gain_exact(counts) == pytest.approx(expected)
    variance = sum(p * (gain - expected) ** 2 for gain, p in gains.items())
    assert twin.variance_gain_exact(counts) == pytest.approx(variance, abs=1e-15)
    for gain in gains:
        assert twin.tail_gain_exact(counts, gain) == pytest.approx(
            sum(p for other, p in gains.items() if other >= gain - 1e-12)
        )


def test_moments_and_tails_by_hand():
    assert twin.variance_gain_exact([2, 2]) == pytest.approx(2 / 9 * (1 - ONE_OFF) ** 2)
    assert twin.tail_gain_exact([2, 2], 1.0) == pytest.approx(1 / 3)
    assert twin.tail_gain_exact([2, 2], 1.1) == 0
    assert twin.tail_gain_exact([2, 2], 0.0) == 1
    # Three classes of one row each: every arrangement is the same.
    assert twin.expected_gain_exact([1, 1, 1]) == pytest.approx(H12)
    assert twin.variance_gain_exact([1, 1, 1]) == pytest.approx(0)
    # Two a, one b, one c, H = 1.5: aa|bc leaves one bit in half of the rows, also reflected and with b and c
    # changing places (4 ways); b|aac and aba|c leave H12 in three quarters (2 and 4 ways), ab|ca one bit in
    # all (2 ways).
    expected = [0.5] * 2 + [1.5 - 0.75 * H12] * 6 + [1.0] * 4
    assert sorted(twin.gains_of_arrangements([2, 1, 1])) == pytest.approx(expected)


def test_columns_with_ties_by_hand():
    gains, probabilities = twin.null_gains_of_column([0, 0, 1, 1], [2, 2])
    assert sorted(gains) == pytest.approx([0, 0, 0, 0, 1, 1])
    assert probabilities == [1 / 6] * 6
    # Of the two ends and the middle pair, cuts part the ends only; sets of categories also the middle.
    x = [0, 1, 1, 2]
    assert sorted(twin.null_gains_of_column(x, [2, 2])[0]) == pytest.approx([ONE_OFF] * 6)
    nominal = twin.null_gains_of_column(x, [2, 2], nominal=True)[0]
    assert sorted(nominal) == pytest.approx([ONE_OFF] * 4 + [1, 1])
    assert twin.null_gains_of_column([5, 5, 5], [1, 1, 1])[0] == [0.0] * 6
    assert twin.null_gains_of_column([5, 5], [1, 1], nominal=True)[0] == [0.0] * 2
    with pytest.raises(ValueError, match="one value for every row"):
        twin.null_gains_of_column([1, 2], [1, 2])


def test_columns_with_missing_values_by_hand():
    expected = pytest.approx([0, 0, 0, 0, 1, 1])
    assert sorted(twin.null_gains_of_column([math.nan, math.nan, 1, 1], [2, 2])[0]) == expected
    assert sorted(twin.null_gains_of_column([-1, -1, 1, 1], [2, 2], nominal=True)[0]) == expected


@pytest.mark.parametrize("counts", [[3, 4], [2, 2, 2]])
def test_a_column_of_distinct_values_is_any_irrelevant_feature(counts):
    x = np.arange(sum(counts))[::-1] ** 2
    gains, _ = twin.null_gains_of_column(x, counts)
    assert sorted(gains) == pytest.approx(sorted(twin.gains_of_arrangements(counts)))


def test_interval_by_hand():
    # m = 2, S2 = 0.01 * 2, t(0.975; 1) = 12.7062
    means, intervals, weights = twin.confidence_weights([(0, 0.2, 1.0), (0, 0.4, 1.0)], 1, unit=1.0)
    assert means[0] == pytest.approx(0.3)
    assert intervals[0] == pytest.approx([0.3 - 1.27062, 0.3 + 1.27062], abs=1e-5)
    assert weights.tolist() == [1.0]
    # Weights 3 and 1, unit 0.8: m = 5, mean 0.25, S2 = 0.0075 * 5 / 4, t(0.95; 4) = 2.131847
    trials = [(0, 0.2, 3.0), (0, 0.4, 1.0)]
    means, intervals, _ = twin.confidence_weights(trials, 1, unit=0.8, confidence=0.9)
    half = 2.131847 * math.sqrt(0.0075 * 5 / 4 / 5)
    assert means[0] == pytest.approx(0.25)
    assert intervals[0] == pytest.approx([0.25 - half, 0.25 + half])
    # m = 1.25 need not be whole: S2 = 0.0075 * 5, and t(0.975; 0.25) is far beyond the 12.7 of one degree.
    upper = twin.confidence_weights(trials, 1, unit=3.2)[1][0, 1]
    assert 100 * 0.0375**0.5 < upper < math.inf


def test_weights_by_hand():
    # m = 4 and deviation 0.01 for both: half = 3.182446 * sqrt(0.0001 * 4 / 3 / 4) = 0.0183739
    trials = [(0, 0.10, 1.0), (0, 0.12, 1.0), (1, 0.50, 1.0), (1, 0.52, 1.0)]
    _, intervals, weights = twin.confidence_weights(trials, 2, unit=0.5)
    upper, lower = 0.1283739, 0.4916261
    assert [intervals[0, 1], intervals[1, 0]] == pytest.approx([upper, lower], abs=1e-7)
    assert weights == pytest.approx([upper / 0.62, lower / 0.62], abs=1e-7)
    # Features without an interval take the midpoint, (upper + lower) / 2 = 0.31: never tried, tried once,
    # tried where nothing is to be learned, always the same gain, less than a unit of weight.
    trials += [(3, 0.9, 5.0), (4, 1.0, 0.0), (4, 0.0, 0.0), (5, 0.3, 9.0), (5, 0.3, 7.0)]
    trials += [(6, 0.1, 0.1), (6, 0.9, 0.2)]
    means, intervals, weights = twin.confidence_weights(trials, 7, unit=0.5)
    assert means[[3, 5]] == pytest.approx([0.9, 0.3])
    assert np.isnan(means[[2, 4]]).all()
    assert np.isnan(intervals[2:]).all()
    assert weights == pytest.approx(np.array([upper, lower, *[0.31] * 5]) / (0.62 + 5 * 0.31), abs=1e-7)


def test_weights_are_uniform_without_evidence():
    assert twin.confidence_weights([], 4, unit=1.0)[2].tolist() == [0.25] * 4
    overlapping = [(0, 0.1, 1.0), (0, 0.4, 1.0), (1, 0.2, 1.0), (1, 0.5, 1.0)]
    assert twin.confidence_weights(overlapping, 3, unit=0.5)[2].tolist() == [1 / 3] * 3
    # So little weight above one unit that the interval is as good as infinite.
    assert twin.confidence_weights(overlapping, 2, unit=2 - 1e-12)[2].tolist() == [0.5] * 2


def test_more_weight_brings_the_distribution_nearer_to_the_means():
    trials = [(0, 0.1, 1.0), (0, 0.2, 1.0), (1, 0.4, 1.0), (1, 0.6, 1.0)]
    shares = [twin.confidence_weights(trials, 2, unit)[2][1] for unit in (1.0, 0.1, 0.01, 1e-6)]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(0.5 / 0.65, abs=1e-3)


def test_soft_weights_by_hand():
    weights = twin.soft_weights([[0.5, 0.0], [0.25, 0.125]], root_entropy=0.8, C=2)
    assert weights == pytest.approx([1.6 + 0.75, 1.6 + 0.125])
    assert twin.soft_weights(np.empty((0, 3)), 1.0, 5.0).tolist() == [5.0] * 3
