"""Tests, stability and adjusted p-values against SciPy, published examples and their definitions."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from power import few_or_many, highest
from scipy import stats as sps

from foresift import stats
from foresift.stats import adjusted_pvalues, jaccard, kuncheva, selection_stability

# Demsar (2006), Table 6: area under the curve of four variants of C4.5 on 14 data sets. In the row "voting"
# the paper ranks two that are printed alike, so a digit is added.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.975, 0.9749],
        [0.957, 0.978, 0.946, 0.970],
    ]
)
pairs = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=2, max_size=30)


def literal_stability(selections):
    """Nogueira et al. 2018, eq. 4, feature by feature."""
    Z = np.asarray(selections, dtype=float)
    M, d = Z.shape
    variance = [M / (M - 1) * Z[:, f].mean() * (1 - Z[:, f].mean()) for f in range(d)]
    k = np.mean([sum(row) for row in Z])
    return 1 - np.mean(variance) / (k / d * (1 - k / d))


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=50)
def test_stability_is_its_definition(seed):
    rng = np.random.default_rng(seed)
    Z = rng.random((rng.integers(2, 9), rng.integers(2, 9))) < rng.random()
    Z[0, 0], Z[1, 1] = True, False
    found = selection_stability(Z)
    assert found.value == pytest.approx(literal_stability(Z))
    assert found.lower <= found.value <= found.upper


def test_ends_of_stability():
    same = selection_stability([[1, 0, 1, 0]] * 5)
    assert same == pytest.approx((1, 1, 1))
    rng = np.random.default_rng(0)
    random = np.array([rng.permutation(40) < 10 for _ in range(400)])
    assert abs(selection_stability(random).value) < 0.01
    assert np.isnan(selection_stability(np.zeros((3, 4))).value)
    assert np.isnan(selection_stability(np.ones((3, 4))).value)


@few_or_many(100, 5000)  # the slow run finds a coverage of 0.91 or 0.98 in place of 0.95
def test_the_interval_covers(n_tables):
    # Features are kept independently with fixed probabilities: the true value is known.
    rng = np.random.default_rng(1)
    chance = np.array([0.95] * 5 + [0.4] * 5 + [0.05] * 20)
    size = chance.mean()
    truth = 1 - (chance * (1 - chance)).mean() / (size * (1 - size))
    covered = []
    for _ in range(n_tables):
        found = selection_stability(rng.random((60, len(chance))) < chance)
        covered.append(found.lower <= truth <= found.upper)
    assert (0.88 < np.mean(covered) < 0.995) if n_tables < 5000 else (0.92 < np.mean(covered) < 0.97)


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=50)
def test_the_interval_is_that_of_the_theorem(seed):
    """Nogueira et al. 2018, theorem 9 and corollary 10, selection by selection."""
    rng = np.random.default_rng(seed)
    Z = (rng.random((rng.integers(2, 9), rng.integers(2, 9))) < rng.random()).astype(float)
    Z[0, 0], Z[1, 1] = 1, 0
    M, d = Z.shape
    stability, k = literal_stability(Z), Z.sum(axis=1)
    mean, p = k.mean(), Z.mean(axis=0)
    phi = [
        (
            sum(Z[i, f] * p[f] for f in range(d)) / d
            - k[i] * mean / d**2
            + stability / 2 * (2 * mean * k[i] / d**2 - k[i] / d - mean / d + 1)
        )
        / (mean / d * (1 - mean / d))
        for i in range(M)
    ]
    variance = 4 / M**2 * sum((each - np.mean(phi)) ** 2 for each in phi)
    half = sps.norm.ppf(0.95) * variance**0.5
    found = selection_stability(Z, confidence=0.9)
    assert found == pytest.approx((stability, stability - half, stability + half), abs=1e-12)


def test_bad_selections():
    with pytest.raises(ValueError, match="at least two"):
        selection_stability([[True, False]])
    with pytest.raises(ValueError, match="True and False"):
        selection_stability([[0.5, 1], [0, 1]])
    with pytest.raises(ValueError, match="confidence"):
        selection_stability([[0, 1], [0, 1]], confidence=1)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.01, 0.5))
def test_adjusted_pvalues_reject_what_the_rules_reject(pvalues, alpha):
    p = np.array(pvalues)
    m, order = len(p), np.argsort(p, kind="stable")
    ranked = p[order]
    passing = [k for k in range(m) if ranked[k] <= alpha * (k + 1) / m]
    by_fdr = p <= (ranked[passing[-1]] if passing else -1)
    stops = next((k for k in range(m) if ranked[k] > alpha / (m - k)), m)
    by_holm = np.isin(np.arange(m), order[:stops])
    rules = {"fdr": by_fdr, "fwer": p <= alpha / m, "none": p <= alpha}
    found = [(adjusted_pvalues(p, error), expected) for error, expected in rules.items()]
    for adjusted, expected in [*found, (stats.holm(p), by_holm)]:
        clear = np.abs(adjusted - alpha) > 1e-9
        assert ((adjusted <= alpha) == expected)[clear].all()
        assert (adjusted <= 1).all()
        assert (adjusted >= p - 1e-12).all()


def test_bad_error():
    with pytest.raises(ValueError, match="fdr"):
        adjusted_pvalues([0.1], "none of these")
    for wrong in ([0.1, np.nan], [1.5], [-0.1], [[0.1, 0.2]]):
        for error in ("fdr", "fwer", "none"):
            with pytest.raises(ValueError, match="numbers from 0 to 1"):
                adjusted_pvalues(wrong, error)
        with pytest.raises(ValueError, match="numbers from 0 to 1"):
            stats.holm(wrong)
    assert adjusted_pvalues([], "fdr").shape == (0,)


@given(pairs)
@settings(deadline=None)
def test_paired_ttest_is_that_of_scipy(scores):
    a, b = np.array(scores, dtype=float).T / 7
    found = stats.paired_ttest(a, b)
    if np.ptp(a - b) > 1e-9:
        assert found == pytest.approx(tuple(sps.ttest_rel(a, b)))
    else:
        assert found.pvalue == (np.abs(a - b).max() == 0)


@given(pairs, st.floats(0.05, 0.9))
@settings(deadline=None)
def test_corrected_ttest_is_the_formula(scores, share):
    a, b = np.array(scores, dtype=float).T / 7
    d = [x - y for x, y in zip(a, b, strict=True)]
    if np.ptp(d) < 1e-9:
        return
    n_train, n_test, n = 1000 * (1 - share), 1000 * share, len(d)
    variance = sum((x - sum(d) / n) ** 2 for x in d) / (n - 1)
    t = sum(d) / n / ((1 / n + n_test / n_train) * variance) ** 0.5  # Nadeau & Bengio 2003, section 3
    found = stats.corrected_resampled_ttest(a, b, share)
    assert found.statistic == pytest.approx(t)
    assert found.pvalue == pytest.approx(2 * (1 - sps.t.cdf(abs(t), n - 1)), abs=1e-9)
    assert found.pvalue >= stats.paired_ttest(a, b).pvalue


@few_or_many(100, 5000)  # the slow run finds a level of 0.065 in place of 0.05
def test_the_correction_holds_the_level_that_the_plain_test_breaks(n_tables):
    """Means of overlapping samples, one of two equal sources against the other."""
    rng = np.random.default_rng(0)
    plain, corrected = [], []
    for _ in range(n_tables):
        d = rng.normal(size=60)
        trials = np.array([d[rng.permutation(60)[:54]].mean() for _ in range(20)])
        plain.append(stats.paired_ttest(trials, np.zeros(20)).pvalue < 0.05)
        corrected.append(stats.corrected_resampled_ttest(trials, np.zeros(20), 0.9).pvalue < 0.05)
    assert np.mean(plain) > 0.5
    assert np.mean(corrected) < highest(0.05, n_tables)


def test_equal_scores_and_equal_differences():
    same = [0.5, 0.7, 0.9]
    for test in (stats.paired_ttest, stats.wilcoxon, stats.sign_test):
        assert test(same, same).pvalue == 1
    higher = stats.paired_ttest([2.0, 3.0, 4.0], [1.0, 2.0, 3.0])
    assert higher == (np.inf, 0)
    assert stats.paired_ttest([1.0, 2.0], [2.0, 3.0]).statistic == -np.inf


def test_wilcoxon_on_the_example_of_demsar():
    found = stats.wilcoxon(DEMSAR[:, 0], DEMSAR[:, 1])
    assert found.statistic == 12  # Table 2: R+ is 93, R- is 12
    assert 0.005 < found.pvalue < 0.02


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=5, max_size=20))
@settings(deadline=None, max_examples=50)
def test_wilcoxon_is_that_of_scipy(scores):
    a, b = np.array(scores, dtype=float).T
    if (a == b).all():
        assert stats.wilcoxon(a, b).pvalue == 1
    else:
        assert stats.wilcoxon(a, b) == pytest.approx(tuple(sps.wilcoxon(a - b, zero_method="zsplit")))


def test_sign_test_and_win_loss_tie():
    # Demsar (2006), section 3.1.4: 11 wins, 2 losses and a tie, were lung cancer won; it is a tie as printed.
    assert stats.win_loss_tie(DEMSAR[:, 1], DEMSAR[:, 0]) == (10, 2, 2)
    found = stats.sign_test(DEMSAR[:, 1], DEMSAR[:, 0])
    assert found == pytest.approx((10, sps.binomtest(10, 12).pvalue))
    assert found.pvalue == pytest.approx(2 * (1 + 12 + 66) / 2**12)
    assert stats.win_loss_tie([1.0, 2.0, 3.0], [1.4, 1.0, 5.0], tol=0.5) == (1, 1, 1)
    assert stats.win_loss_tie([1.0], [0.0]) == (1, 0, 0)


def test_friedman_on_the_example_of_demsar():
    found = stats.friedman(DEMSAR)
    assert found.mean_ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    ties = 1 - (6 + 6 + 60 + 6) / (14 * 4 * (16 - 1))  # three pairs and a row of four
    plain = found.statistic * ties
    assert plain == pytest.approx(9.28, abs=5e-3)
    assert 13 * plain / (14 * 3 - plain) == pytest.approx(3.69, abs=5e-3)
    assert found[:2] == pytest.approx(tuple(sps.friedmanchisquare(*DEMSAR.T)))
    assert found.f_pvalue == pytest.approx(sps.f.sf(found.f_statistic, 3, 39))


def test_friedman_at_its_ends():
    unanimous = stats.friedman([[3.0, 2.0, 1.0]] * 5)
    assert unanimous.f_statistic == np.inf
    assert unanimous.f_pvalue == 0
    assert stats.friedman([[1.0, 1.0, 1.0]] * 5)[:4] == (0, 1, 0, 1)


# Demsar (2006), Table 5 a: critical values q of Nemenyi's test for 2 to 10 classifiers.
@pytest.mark.parametrize(
    ("alpha", "row"),
    [
        (0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
    ],
)
def test_critical_difference_is_the_table_of_demsar(alpha, row):
    for k, q in enumerate(row, start=2):
        found = stats.critical_difference(k, 14, alpha) / np.sqrt(k * (k + 1) / (6 * 14))
        assert found == pytest.approx(q, abs=1.1e-3)


@pytest.mark.parametrize("alpha", [0.05, 0.2, 0.9])
def test_nemenyi_agrees_with_the_critical_difference(alpha):
    pvalues = stats.nemenyi(DEMSAR)
    assert (pvalues == pvalues.T).all()
    assert (pvalues.diagonal() == 1).all()
    ranks = stats.friedman(DEMSAR).mean_ranks
    apart = np.abs(ranks[:, None] - ranks[None, :]) >= stats.critical_difference(4, 14, alpha)
    np.testing.assert_array_equal(pvalues <= alpha, apart)


def test_nemenyi_of_two_is_a_normal_test():
    scores = DEMSAR[:, :2]
    apart = abs(np.subtract(*sps.rankdata(-scores, axis=1).mean(axis=0)))
    assert stats.nemenyi(scores)[0, 1] == pytest.approx(2 * sps.norm.sf(apart * np.sqrt(14)), abs=1e-6)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(deadline=None)
def test_holm_and_benjamini_hochberg(pvalues):
    p = np.array(pvalues)
    ranked, m = np.sort(p), len(p)
    literal = [min(1.0, max((m - j) * ranked[j] for j in range(i + 1))) for i in range(m)]
    np.testing.assert_allclose(np.sort(stats.holm(p)), literal)
    np.testing.assert_array_equal(stats.benjamini_hochberg(p), sps.false_discovery_control(p))


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=50)
def test_jaccard_and_kuncheva_are_their_definitions(seed):
    rng = np.random.default_rng(seed)
    d, n = rng.integers(3, 9), rng.integers(2, 6)
    k = rng.integers(1, d)
    sets = [set(rng.permutation(d)[:k].tolist()) for _ in range(n)]
    Z = np.array([[j in chosen for j in range(d)] for chosen in sets])
    pairs = [(a, b) for i, a in enumerate(sets) for b in sets[:i]]
    assert jaccard(Z) == pytest.approx(np.mean([len(a & b) / len(a | b) for a, b in pairs]))
    index = np.mean([(len(a & b) * d - k * k) / (k * (d - k)) for a, b in pairs])  # Kuncheva 2007, eq. 3
    assert kuncheva(Z) == pytest.approx(index)
    assert selection_stability(Z).value == pytest.approx(index)  # equal sizes: Nogueira's is Kuncheva's


def test_ends_of_jaccard_and_kuncheva():
    assert jaccard([[1, 0, 1, 0]] * 5) == kuncheva([[1, 0, 1, 0]] * 5) == 1
    assert jaccard([[1, 0], [0, 1]]) == 0
    assert jaccard(np.zeros((3, 4))) == 1
    assert np.isnan(kuncheva([[1, 1, 0], [1, 0, 0]]))
    assert np.isnan(kuncheva(np.zeros((3, 4))))
    assert np.isnan(kuncheva(np.ones((3, 4))))
    rng = np.random.default_rng(0)
    random = np.array([rng.permutation(40) < 10 for _ in range(400)])
    assert abs(kuncheva(random)) < 0.01
    for measure in (jaccard, kuncheva):
        with pytest.raises(ValueError, match="at least two"):
            measure([[True, False]])


def test_bad_scores():
    with pytest.raises(ValueError, match="equally long"):
        stats.paired_ttest([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="2 scores or more"):
        stats.wilcoxon([1.0], [1.0])
    with pytest.raises(ValueError, match="finite"):
        stats.paired_ttest([1.0, np.nan], [1.0, 2.0])
    with pytest.raises(ValueError, match="test_share"):
        stats.corrected_resampled_ttest([1.0, 2.0], [1.0, 2.0], 10)
    with pytest.raises(ValueError, match="tol"):
        stats.win_loss_tie([1.0, 2.0], [1.0, 2.0], tol=-1)
    with pytest.raises(ValueError, match="3 methods"):
        stats.friedman([[1.0, 2.0], [1.0, 2.0]])
    with pytest.raises(ValueError, match="finite"):
        stats.nemenyi([[1.0, np.nan], [1.0, 2.0]])
    with pytest.raises(ValueError, match="2 to 1,000,000 methods"):
        stats.critical_difference(1, 5)
    with pytest.raises(ValueError, match="alpha"):
        stats.critical_difference(3, 5, alpha=1)


def test_interval_without_overlap_is_that_of_student():
    scores = np.array([0.7, 0.8, 0.85, 0.75, 0.9])
    found = stats.corrected_interval(scores, 1e-12)
    expected = sps.ttest_1samp(scores, 0).confidence_interval(0.95)
    assert found == pytest.approx((scores.mean(), expected.low, expected.high))
    assert stats.corrected_interval(scores, 0.2).low < found.low
    assert stats.corrected_interval([0.9, 1.0, 1.0], 0.3, 0.0, 1.0).high == 1.0
    assert stats.corrected_interval([0.9, 1.0, 1.0], 0.3).high > 1.0


def test_interval_ends_where_the_test_begins_to_tell():
    scores = np.array([0.7, 0.8, 0.85, 0.75, 0.9])
    for end in stats.corrected_interval(scores, 0.2)[1:]:
        assert stats.corrected_resampled_ttest(scores, np.full(5, end), 0.2).pvalue == pytest.approx(0.05)


# --- worked examples of textbooks and papers ---

# Student (1908), hours of sleep that ten patients gained by either of two drugs.
SLEEP = [
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
]
# Hollander & Wolfe (1973), Nonparametric statistical methods: depression before and after a treatment (page
# 29), seconds to round first base in three ways (page 140).
DEPRESSION = [
    [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30],
    [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29],
]
ROUNDING = """
5.40 5.50 5.55  5.85 5.70 5.75  5.20 5.60 5.50  5.55 5.50 5.40  5.90 5.85 5.70  5.45 5.55 5.60  5.40 5.40 5.35
5.45 5.50 5.35  5.25 5.15 5.00  5.85 5.80 5.70  5.25 5.20 5.10  5.65 5.55 5.45  5.60 5.35 5.45  5.05 5.00 4.95
5.50 5.50 5.40  5.45 5.55 5.50  5.55 5.55 5.35  5.45 5.50 5.55  5.50 5.45 5.25  5.65 5.60 5.40  5.70 5.65 5.55
6.30 6.30 6.25
"""


def test_student_on_sleep():
    found = stats.paired_ttest(*SLEEP)
    assert found == pytest.approx((-4.0621, 0.002833), rel=1e-3)
    # The correction widens the error of the mean, and nothing else.
    corrected = stats.corrected_resampled_ttest(*SLEEP, 0.25)
    t = found.statistic / np.sqrt(1 + 10 * 0.25 / 0.75)
    assert corrected == pytest.approx((t, 2 * sps.t.sf(-t, 9)))


def test_wilcoxon_on_depression():
    found = stats.wilcoxon(*DEPRESSION)
    assert found == pytest.approx((5, 2 * 0.01953), abs=1e-4)  # 45 ranks, 40 of them for the first


def test_friedman_on_rounding_first_base():
    times = np.array(ROUNDING.split(), dtype=float).reshape(22, 3)
    found = stats.friedman(-times)
    assert (found.statistic, found.pvalue) == pytest.approx((11.143, 0.003805), rel=1e-3)
    assert found.mean_ranks == pytest.approx([53 / 22, 47 / 22, 32 / 22])


def test_adjusted_pvalues_of_examples():
    # Demsar (2006), section 3.2.2: the first two are rejected at 0.05.
    assert stats.holm([0.607, 0.019, 0.016]) == pytest.approx([0.607, 0.048, 0.048])
    # Benjamini & Hochberg (1995), section 3.2: four are rejected by theirs, three by Bonferroni's and Holm's.
    p = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
    ]
    p += [0.7590, 1.0]
    assert (stats.benjamini_hochberg(p) <= 0.05).sum() == 4
    assert (stats.holm(p) <= 0.05).sum() == 3


@pytest.mark.parametrize("values", [["a", "b"], [None, {}], [1j, 2.0], [[1.0], [1.0, 2.0]], object()])
def test_what_is_no_number_is_refused_by_name(values):
    for call, name in [
        (lambda: stats.paired_ttest(values, [1.0, 2.0]), "a"),
        (lambda: stats.win_loss_tie([1.0, 2.0], values), "b"),
        (lambda: stats.holm(values), "pvalues"),
        (lambda: stats.friedman(values), "scores"),
        (lambda: stats.corrected_interval(values, 0.1), "scores"),
        (lambda: stats.jaccard(values), "selections"),
    ]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match=rf"^{name} must hold numbers only"):
                call()


@pytest.mark.parametrize("value", ["a", [0.1, 0.2], None, 1j])
def test_a_single_number_is_asked_for_by_name(value):
    for call, name in [
        (lambda: stats.win_loss_tie([1.0], [2.0], tol=value), "tol"),
        (lambda: stats.critical_difference(value, 5), "k"),
        (lambda: stats.critical_difference(3, 5, alpha=value), "alpha"),
        (lambda: stats.corrected_resampled_ttest([1.0, 2.0], [1.0, 3.0], value), "test_share"),
        (lambda: stats.corrected_interval([1.0, 2.0], 0.1, confidence=value), "confidence"),
        (lambda: stats.corrected_interval([1.0, 2.0], 0.1, value), "least"),
        (lambda: stats.selection_stability([[1, 0], [1, 1]], confidence=value), "confidence"),
    ]:
        with pytest.raises(TypeError, match=f"^{name} must be a number, but is"):
            call()


def test_extreme_scores_neither_overflow_nor_warn():
    a, b = np.array([3.0, 4.0, 6.0]), np.array([1.0, 2.5, 2.0])
    usual = stats.paired_ttest(a, b)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scale in (2.0**1020, 2.0**-1060):
            assert stats.paired_ttest(scale * a, scale * b) == usual
        huge = stats.corrected_interval([1.7e308, 1.7e308, 1.6e308], 0.1)
        assert 1.6e308 < huge.value < 1.7e308
        assert np.isnan(stats.corrected_interval([np.inf, -np.inf], 0.1).low)
        with pytest.raises(ValueError, match="finite"):
            stats.paired_ttest([1.7e308, 1.0], [-1.7e308, 1.0])
        with pytest.raises(ValueError, match="a column for each feature"):
            stats.selection_stability(np.zeros((3, 0)))
        with pytest.raises(ValueError, match="2 to 1,000,000"):
            stats.critical_difference(10**30, 3)
