"""ForestGainSelector: scores, thresholds, intervals and p-values by literal loops; what its rule keeps."""

import math
import os
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import reference
import reference_forest_gain as twin
from callbacks import Listener
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_iris

from foresift import ForestGainSelector, SiftForestClassifier
from foresift._sklearn import HAS_CALLBACKS
from foresift.criteria import expected_gain, gain_variance, node_complexity
from foresift.datasets import make_friedman, make_simple
from foresift.importance import average_gain

BOUNDS = ["lower", "mid", "upper", "exact"]
LEARNED = ["scores_", "thresholds_", "expected_scores_", "pvalues_", "intervals_", "ranking_", "support_"]
same = partial(pytest.approx, rel=1e-9, abs=1e-12, nan_ok=True)


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


# --- against literal loops over nodes and trials ---


@pytest.mark.parametrize("weighting", ["complexity", "unit"])
@pytest.mark.parametrize("options", [{}, {"max_features": 3, "n_estimators": 5}])
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


@pytest.mark.filterwarnings("ignore:.*never tried", "ignore:No feature passed")
@pytest.mark.parametrize(
    ("kind", "n", "p", "times"),
    [("binary", 100, 2, 60), ("rare", 200, 10, 12), ("counts", 200, 60, 2), ("rounded", 100, 400, 1)],
)
def test_pvalues_of_noise_of_every_kind(kind, n, p, times):
    pvalues = []
    for seed in range(times):
        X, y = noise(kind, n, p, np.random.default_rng(seed))
        selector = ForestGainSelector(bound="exact", n_estimators=50, random_state=seed)
        pvalues.extend(selector.fit(X, y).pvalues_)
    pvalues = np.array(pvalues)
    assert np.nanmean(pvalues < 0.05) < 0.1
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


def table_with_ties(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, k, n) for k in (2, 3, 6)] + [rng.normal(size=n)]).astype(float)
    return X, ((X[:, 2] + X[:, 3] + rng.normal(size=n)) > 3).astype(int)


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
    mid = ForestGainSelector(n_estimators=50, random_state=0).fit(X, y)
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


# --- what is kept ---


@pytest.mark.parametrize("bound", BOUNDS)
def test_simple(bound):
    kept, removed = [], []
    for seed in range(10):
        X, y = make_simple(random_state=seed)
        selector = ForestGainSelector(bound=bound, random_state=seed).fit(X, y)
        kept.append(selector.support_[:2])
        removed.append(~selector.support_[2:])
        assert selector.ranking_[1] == 1
    assert np.mean(kept) >= 0.95
    least, most = {"lower": (0, 0.2), "mid": (0.1, 0.7), "upper": (0.75, 1), "exact": (0.4, 0.95)}[bound]
    assert least <= np.mean(removed) <= most


def test_pvalues_of_noise_are_on_the_safe_side():
    small = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(200, 30)), rng.integers(0, 2, 200)
        selector = ForestGainSelector(30, n_estimators=30, random_state=seed).fit(X, y)
        small += np.count_nonzero(selector.pvalues_ < 0.05)
        assert 0.2 < selector.pvalues_.mean() < 0.8
    assert small <= 0.07 * 40 * 30


def test_pvalues_of_what_matters_are_small():
    X, y = make_simple(random_state=0)
    selector = ForestGainSelector(random_state=0).fit(X, y)
    assert (selector.pvalues_[:2] < 0.001).all()
    assert (selector.pvalues_[2:] > 0.05).all()


def votes():
    """The table of votes where it is to be had, else one that looks like it."""
    folder = os.environ.get("FORESIFT_DATA")
    if folder and (path := Path(folder, "house-votes-84.csv")).exists():
        frame = pd.read_csv(path, dtype=str)
        return frame.drop(columns="class"), frame["class"], "physician-fee-freeze"
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    columns = {f"bill{j}": np.where(rng.random(300) < 0.55 + 0.05 * (j % 3), y, 1 - y) for j in range(8)}
    columns["fee"] = np.where(rng.random(300) < 0.95, y, 1 - y)
    frame = pd.DataFrame(columns).replace({0: "n", 1: "y"})
    return frame.mask(rng.random(frame.shape) < 0.05), y, "fee"


def test_a_table_of_nominal_columns():
    X, y, best = votes()
    rng = np.random.default_rng(0)
    noise = {f"noise{j}": rng.permutation(X.iloc[:, j]) for j in range(6)}
    X = X.assign(**noise)
    selector = ForestGainSelector(bound="exact", random_state=0).fit(X, y)
    assert selector.schema_.nominal.all()
    assert selector.get_feature_names_out()[selector.scores_[selector.support_].argmax()] == best
    assert selector.support_[:-6].mean() > 0.7
    assert (selector.pvalues_[-6:] > 0.05).all()
    assert selector.scores_[-6:] == pytest.approx(selector.thresholds_[-6:], rel=0.6)
    multiway = clone(selector).set_params(nominal_splits="multiway").fit(X, y)
    assert best in multiway.get_feature_names_out()


def test_three_classes():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.assign(noise=np.random.default_rng(0).normal(size=len(X)))
    selector = ForestGainSelector(bound="exact", random_state=0).fit(X, y)
    assert set(selector.ranking_[2:4]) == {1, 2}  # the petals
    assert selector.ranking_[4] == 5
    assert selector.support_[2:4].all()
    assert selector.pvalues_[4] > 0.05 > selector.pvalues_[2:4].max()
    for bound in BOUNDS[:3]:
        with pytest.raises(ValueError, match='known for two classes only, but y has 3: use bound="exact"'):
            ForestGainSelector(bound=bound).fit(X, y)


@pytest.mark.parametrize(("wanted", "n_kept"), [(1, 1), (4, 4), (9, 9), (0.5, 4), (1.0, 9), (1e-9, 1)])
def test_numbers_of_features(wanted, n_kept):
    X, y = make_simple(100, random_state=0)
    selector = ForestGainSelector(wanted, n_estimators=10, random_state=0).fit(X, y)
    assert np.array_equal(selector.support_, selector.ranking_ <= n_kept)


# --- odd tables ---


def test_nothing_passes():
    X = np.random.default_rng(0).integers(0, 2, (40, 3)).astype(float)
    y = np.arange(40) % 2
    with pytest.warns(UserWarning, match="No feature passed the rule of ForestGainSelector") as caught:
        selector = ForestGainSelector(bound="upper", random_state=0).fit(X, y)
    assert np.array_equal(selector.support_, selector.ranking_ == 1)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("constant", [3.0, np.nan, "a"])
def test_constant_columns_are_never_kept(bound, constant):
    X, y = make_simple(60, n_noise=1, random_state=0)
    frame = pd.DataFrame(X).set_axis(list("abc"), axis=1).assign(same=constant)
    selector = ForestGainSelector(bound=bound, random_state=0).fit(frame, y)
    assert selector.scores_[3] == 0
    assert selector.expected_scores_[3] == 0
    assert (selector.ranking_[3], selector.support_[3]) == (4, False)
    assert not selector.pvalues_[3] < 1  # 1, or no answer
    assert np.isnan(selector.intervals_[3]).all()


def test_columns_that_were_never_tried_rank_last():
    X = np.random.default_rng(0).normal(size=(12, 60))
    y = (X[:, 0] > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        selector = ForestGainSelector(n_estimators=2, random_state=0).fit(X, y)
    untried = np.isnan(selector.scores_)
    assert 0 < untried.sum() < 60
    assert selector.ranking_[untried].min() > selector.ranking_[~untried].max()
    assert not selector.support_[untried].any()
    for name in ("thresholds_", "expected_scores_", "pvalues_"):
        assert np.array_equal(np.isnan(getattr(selector, name)), untried)


def test_two_rows_tell_nothing():
    with pytest.warns(UserWarning, match="No feature passed"):
        selector = ForestGainSelector(n_estimators=3).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    assert np.isnan(selector.scores_).all()
    assert selector.support_.tolist() == [True, False]


# --- weights, threads, stopping ---


def test_whole_weights_score_like_repeated_rows():
    X, y = make_simple(80, n_noise=2, random_state=0)
    times = np.random.default_rng(0).integers(0, 4, 80)
    selector = ForestGainSelector(4, bound="exact", n_estimators=10, random_state=0)
    weighted = clone(selector).fit(X, y, sample_weight=times)
    repeated = clone(selector).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.scores_ == same(repeated.scores_)
    # A row of weight 2 keeps its parts together when classes are shuffled: more is gained by chance.
    assert (weighted.expected_scores_ > repeated.expected_scores_).all()
    halves = clone(selector).fit(X, y, sample_weight=times / 8)
    assert np.isfinite(halves.expected_scores_).all()
    assert math.isfinite(halves.pvalues_.sum())
    closed = clone(selector).set_params(bound="mid")
    with pytest.raises(ValueError, match='use bound="exact" with sample_weight'):
        closed.fit(X, y, sample_weight=times)
    ones = closed.fit(X, y, sample_weight=np.ones(80))
    plain = clone(closed).fit(X, y)
    assert (ones.thresholds_.tolist(), ones.pvalues_.tolist()) == (
        plain.thresholds_.tolist(),
        plain.pvalues_.tolist(),
    )


@pytest.mark.parametrize("options", [{}, {"bound": "exact"}, {"redundancy": 0.8, "n_estimators": 20}])
def test_the_number_of_threads_does_not_matter(options):
    X, y = table_with_ties(150)
    one, two, three = (
        ForestGainSelector(random_state=5, n_jobs=jobs, **options).fit(X, y) for jobs in (None, 2, 3)
    )
    for name in [*LEARNED, *(["redundancy_"] if "redundancy" in options else [])]:
        for other in (two, three):
            assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name


def test_random_states():
    X, y = make_simple(100, random_state=0)
    fit = lambda state: ForestGainSelector(n_estimators=5, random_state=state).fit(X, y).scores_.tolist()  # noqa: E731
    assert fit(0) == fit(0) == fit(np.random.RandomState(0))
    assert fit(0) != fit(1)
    assert fit(None) != fit(None)


@pytest.mark.skipif(not HAS_CALLBACKS, reason="callbacks came with scikit-learn 1.9")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_callbacks_hear_of_every_tree_and_can_stop(n_jobs):
    X, y = make_simple(random_state=0)
    listener = Listener()
    selector = ForestGainSelector(n_estimators=70, n_jobs=n_jobs, random_state=0)
    plain = clone(selector).fit(X, y)
    heard = selector.set_callbacks(listener).fit(X, y)
    assert np.array_equal(heard.scores_, plain.scores_)
    assert sorted(task for name, task in listener.ended if name == "tree") == list(range(70))
    assert listener.events == ["setup", "teardown"]
    assert (listener.begun[0], listener.ended[-1]) == (("fit", 0), ("fit", 0))
    stopped = clone(selector).set_callbacks(Listener(stop_after=20)).fit(X, y)
    assert not np.array_equal(stopped.scores_, plain.scores_)
    assert stopped.scores_ == pytest.approx(plain.scores_, rel=0.5)
    assert stopped.support_[:2].all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"bound": "middle"}, "bound"),
        ({"weighting": "size"}, "weighting"),
        ({"redundancy": 0.0}, "redundancy"),
        ({"redundancy": 1.5}, "redundancy"),
        ({"n_permutations": 1}, "n_permutations"),
        ({"confidence": 1.0}, "confidence"),
        ({"weight_unit": 0.0}, "weight_unit"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"max_features": 10}, "max_features=10 is more than the 9 columns"),
        ({"n_features_to_select": 10}, "10 is more than the 9 columns"),
        ({"nominal_splits": "all"}, "nominal_splits"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        ForestGainSelector(**parameters).fit(*make_simple(50, random_state=0))
