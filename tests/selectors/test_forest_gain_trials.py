"""Scores, thresholds, p-values, intervals of ForestGainSelector, by literal loops over nodes and trials."""

import warnings

import numpy as np
import pytest
import reference
import reference_forest_gain as twin
from forest_gain_cases import BOUNDS, same, table_with_ties
from power import few_or_many, highest
from scipy import stats

from foresift import ForestGainSelector, SiftForestClassifier
from foresift.criteria import expected_gain, gain_variance, node_complexity
from foresift.datasets import make_friedman, make_simple
from foresift.importance import average_gain


def evaluation_forest(selector, X, y, **options):
    """The trees that a selector grows, as a forest."""
    names = ("n_estimators", "max_features", "random_state", "nominal_splits")
    options |= {name: getattr(selector, name) for name in names}
    return SiftForestClassifier(bootstrap=False, record_tried=True, **options).fit(X, y)


def each_trial(forest, weighting="complexity"):
    """Tree, class counts of the node, weight, feature and gain of every trial."""
    for number, table in enumerate(forest.node_tables_):
        for node, feature, gain in table.tried.tolist():
            counts = table.counts[node]
            weight = float(node_complexity(counts)) if weighting == "complexity" else 1.0
            yield number, counts, weight, feature, gain


@pytest.mark.parametrize("weighting", ["complexity", "unit"])
@pytest.mark.parametrize("options", [{}, {"max_features": 1}, {"max_features": 5, "n_estimators": 5}])
def test_scores_are_mean_gains_in_a_forest_without_bootstrap(weighting, options):
    X, y = make_friedman(random_state=0)
    selector = ForestGainSelector(weighting=weighting, random_state=7, **{"n_estimators": 20, **options}).fit(
        X, y
    )
    forest = evaluation_forest(selector, X, y)
    assert selector.scores_ == same(average_gain(forest, weighting))
    assert (forest.node_tables_[0].nodes["size"][0], forest.bootstrap) == (200, False)


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("weighting", ["complexity", "unit"])
def test_thresholds_are_means_over_the_same_trials(bound, weighting):
    X, y = make_simple(80, n_noise=2, random_state=0)
    selector = ForestGainSelector(bound=bound, weighting=weighting, n_estimators=9, random_state=3).fit(X, y)
    weights, bounds, chance, gains = np.zeros((4, 4))
    for _, counts, weight, feature, gain in each_trial(evaluation_forest(selector, X, y), weighting):
        weights[feature] += weight
        gains[feature] += weight * gain
        bounds[feature] += weight * expected_gain(counts, bound)
        chance[feature] += weight * expected_gain(counts, "exact")
    assert selector.scores_ == same(gains / weights)
    assert selector.thresholds_ == same(bounds / weights)
    assert selector.expected_scores_ == same(chance / weights)
    assert np.array_equal(selector.support_, selector.scores_ > selector.thresholds_)


@pytest.mark.parametrize("weighting", ["complexity", "unit"])
def test_pvalues_are_those_of_trials_above_the_first_split(weighting):
    X, y = make_simple(80, n_noise=2, random_state=0)
    selector = ForestGainSelector(weighting=weighting, n_estimators=9, random_state=3).fit(X, y)
    gains, chance, variance, n_trials = np.zeros((4, 4))
    trees = [set() for _ in range(4)]
    for number, table in enumerate(evaluation_forest(selector, X, y).node_tables_):
        for node, feature, gain in table.tried.tolist():
            above, at = set(), table.nodes["parent"][node]
            while at >= 0:
                above.add(int(table.nodes["feature"][at]))
                at = table.nodes["parent"][at]
            counts = table.counts[node]
            weight = float(node_complexity(counts)) if weighting == "complexity" else 1.0
            if feature in above or weight == 0:
                continue
            gains[feature] += weight * gain
            chance[feature] += weight * expected_gain(counts, "exact")
            variance[feature] += weight**2 * gain_variance(counts)
            n_trials[feature] += 1
            trees[feature].add(number)
    n_trees = np.array([len(numbers) for numbers in trees])
    shape = np.minimum(chance**2 / (n_trees * variance), 7 * n_trials / n_trees)
    assert selector.pvalues_ == same(stats.gamma.sf(gains, shape, scale=chance / shape))


def noise(kind, n, p, rng):
    X = rng.normal(size=(n, p))
    kinds = {"binary": X > 0, "rare": X > 2, "counts": rng.binomial(2, 0.3, (n, p)), "rounded": X.round(1)}
    return kinds.get(kind, X).astype(float), rng.integers(0, 2, n)


# Rates of up to 0.07 were measured, for rare flags. The slow run finds one of 0.1.
@pytest.mark.filterwarnings("ignore:.*never a split candidate", "ignore:No feature passed")
@pytest.mark.parametrize(
    ("kind", "n", "p", "per_table"),
    [("binary", 100, 2, 30), ("rare", 200, 10, 6), ("counts", 200, 60, 1), ("rounded", 100, 400, 1)],
)
@few_or_many(1, 30)
def test_pvalues_of_noise_of_every_kind(kind, n, p, per_table, n_tables):
    pvalues = []
    for seed in range(per_table * n_tables):
        X, y = noise(kind, n, p, np.random.default_rng(seed))
        selector = ForestGainSelector(bound="exact", n_estimators=50, random_state=seed)
        pvalues.extend(selector.fit(X, y).pvalues_)
    pvalues = np.array(pvalues)
    assert np.nanmean(pvalues < 0.05) < highest(0.07, len(pvalues))
    assert np.nanmin(pvalues) > 1e-5


@pytest.mark.parametrize(("p", "max_features"), [(1, 1), (2, 1), (10, None)])
def test_a_column_that_is_used_up_by_its_own_split_is_significant(p, max_features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, p))
    y = (X[:, 0] > 0) ^ (rng.random(300) < 0.3)
    selector = ForestGainSelector(max_features=max_features, n_estimators=50, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert selector.fit(X, y).pvalues_[0] < 1e-6


@pytest.mark.parametrize(("weighting", "unit"), [("complexity", 0.3), ("unit", None)])
def test_intervals_are_those_of_the_trials(weighting, unit):
    X, y = make_simple(100, n_noise=3, random_state=1)
    options = {"confidence": 0.8, "weighting": weighting, "weight_unit": unit or 0.1}
    selector = ForestGainSelector(n_estimators=12, random_state=0, **options).fit(X, y)
    one = unit * float(node_complexity(np.bincount(y))) if unit else 1.0
    trials = [(f, g, w) for _, _, w, f, g in each_trial(evaluation_forest(selector, X, y), weighting)]
    means, intervals, _ = twin.confidence_weights(trials, 5, one, 0.8)
    assert selector.intervals_ == same(intervals)
    assert selector.scores_ == same(means)


@pytest.mark.parametrize("kind", ["ties", "missing", "nominal", "multiway", "three classes"])
def test_chance_where_it_is_shuffled(kind):
    X, y = table_with_ties()
    nominal = [0, 1, 2] if kind in ("nominal", "multiway") else None
    if kind == "missing":
        X[::5, 3] = np.nan
    if kind == "three classes":
        y = y + (X[:, 1] == 0)
    splits = "multiway" if kind == "multiway" else "subsets"
    options = {
        "n_estimators": 4,
        "random_state": 1,
        "nominal_splits": splits,
        "categorical_features": nominal,
    }
    selector = ForestGainSelector(bound="exact", n_permutations=1000, **options).fit(X, y)
    forest = evaluation_forest(selector, X, y, categorical_features=nominal)
    encoded = forest.schema_.encode(X, forest)
    sums, weights = np.zeros((2, 4))
    for table in forest.node_tables_:
        at_node = reference.weights_at_nodes(table, encoded, np.ones(len(y))) > 0
        for node, feature, _ in table.tried.tolist():
            counts, rows = table.counts[node], at_node[node]
            weight = float(node_complexity(counts))
            if weight == 0:
                continue
            column = {"x": X[rows, feature], "nominal": nominal is not None and feature in nominal}
            shuffles = {"nominal_splits": splits, "n_permutations": 1000}
            sums[feature] += weight * expected_gain(counts.astype(int), "exact", **column, **shuffles)
            weights[feature] += weight
    assert selector.thresholds_ == pytest.approx(sums / weights, rel=0.05)
    assert np.array_equal(selector.thresholds_, selector.expected_scores_)


def test_few_shuffles_agree_with_many():
    X, y = table_with_ties(200)
    few, many = (
        ForestGainSelector(bound="exact", n_permutations=k, random_state=0).fit(X, y) for k in (2, 60)
    )
    assert np.array_equal(few.scores_, many.scores_)  # the trees are the same
    assert few.thresholds_ == pytest.approx(many.thresholds_, rel=0.1)
    # Ties leave fewer cuts, so the closed forms are too high, the more so the more ties there are.
    mid = ForestGainSelector(bound="mid", max_features=1, n_estimators=50, random_state=0).fit(X, y)
    ratio = mid.thresholds_ / mid.expected_scores_
    assert (ratio[:3] > 1.2).all()
    assert ratio[0] > ratio[1] > ratio[2] > ratio[3]


def test_one_row_more_than_distinct_values_is_shuffled():
    X, y = make_simple(100, n_noise=0, random_state=0)
    counted = ForestGainSelector(bound="exact", random_state=0).fit(X, y)
    X[0] = X[1]  # one tie
    X[0, 1] += 1e-9
    shuffled = ForestGainSelector(bound="exact", n_permutations=20, random_state=0).fit(X, y)
    assert shuffled.expected_scores_ == pytest.approx(counted.expected_scores_, rel=0.03)
    assert shuffled.pvalues_ == pytest.approx(counted.pvalues_, abs=0.02)
