"""Feature sampling that learns, replayed by the literal twins; the same for any threads and steps."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import reference
import reference_forest_gain as twin
from callbacks import Listener
from growing import grow_one, make_grower
from hypothesis import given, settings
from hypothesis import strategies as st

from foresift import CartClassifier, SiftForestClassifier
from foresift.criteria import node_complexity
from foresift.data.sklearn_compat import HAS_CALLBACKS, seed_of
from foresift.datasets import make_friedman, make_simple
from foresift.engine.candidate_gains import GainSums
from foresift.engine.column_sampling import inside_intervals
from foresift.importance import average_gain

LEARNING = ["confidence", "two-stage+confidence", "soft"]
POLICIES = ["two-stage", *LEARNING]
same = partial(pytest.approx, rel=1e-9, abs=1e-12, nan_ok=True)


def data(n=150, seed=0):
    return make_friedman(n, n_noise=3, random_state=seed)


def trials_in(tables):
    """(feature, gain, weight) of every trial of trees that recorded them."""
    found = []
    for table in tables:
        weights = node_complexity(table.counts)
        found += [(int(f), float(g), float(weights[node])) for node, f, g in table.tried.tolist()]
    return found


def root_complexity(y):
    return float(node_complexity(np.bincount(y)))


# --- sums, intervals and the distribution inside them ---

trials = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(0, 64).map(lambda k: k / 64),
        st.sampled_from([0.0, 0.25, 0.7, 1.0, 2.5, 9.0, 130.0]),
    ),
    max_size=40,
)
# One observation; equal gains; gains at nodes without complexity; nothing.
SPECIAL = [
    [(0, 0.5, 3.0)],
    [(0, 0.3, 0.7), (0, 0.3, 1.1), (0, 0.3, 2.9), (1, 0.1, 1.0), (1, 0.2, 1.0)],
    [(0, 1.0, 0.0), (0, 0.5, 0.0), (1, 0.2, 4.0), (1, 0.3, 0.0)],
    [(k, 0.1 * k + e, 5.0) for k in range(4) for e in (0.0, 0.001, 0.002)],
    [],
]


def assert_twin(trials, unit, confidence):
    sums = GainSums(4)
    for part in (trials[: len(trials) // 3], trials[len(trials) // 3 :]):
        feature, gain, weight = (np.array([trial[k] for trial in part], dtype=float) for k in range(3))
        sums.add(feature.astype(np.intp), gain, weight)
    means, intervals, weights = twin.confidence_weights(trials, 4, unit, confidence)
    assert sums.mean == same(means)
    endless = np.isinf(intervals)  # a little more than one observation: as good as none
    found = sums.intervals(unit, confidence)
    assert found == pytest.approx(np.where(endless, np.nan, intervals), rel=1e-6, abs=1e-9, nan_ok=True)
    assert inside_intervals(found) == pytest.approx(weights, rel=1e-5, abs=1e-9)
    positive = [sum(1 for f, _, w in trials if f == j and w > 0) for j in range(4)]
    assert sums.n_candidates.tolist() == positive


@given(trials, st.sampled_from([0.01, 0.3, 1.0, 4.0]), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
@settings(deadline=None, max_examples=200)
def test_intervals_and_weights_are_the_literal_ones(trials, unit, confidence):
    assert_twin(trials, unit, confidence)


@pytest.mark.parametrize("trials", SPECIAL)
@pytest.mark.parametrize("unit", [0.05, 1.0, 3.0])
def test_special_trials(trials, unit):
    assert_twin(trials, unit, 0.95)


def test_a_unit_of_nothing_gives_no_intervals():
    sums = GainSums(1)
    sums.add(np.array([0, 0]), np.array([0.1, 0.9]), np.array([1.0, 1.0]))
    assert np.isnan(sums.intervals(0.0, 0.95)).all()


ends = st.lists(st.tuples(st.floats(-0.5, 1), st.floats(0, 1)), min_size=1, max_size=8)


@given(ends, st.data())
def test_the_distribution_stays_inside_the_intervals(ends, data):
    intervals = np.array([(low, low + size) for low, size in ends])
    unknown = data.draw(st.lists(st.booleans(), min_size=len(ends), max_size=len(ends)))
    start = data.draw(st.one_of(st.none(), st.just(np.linspace(0, 1, len(ends)))))
    intervals[unknown] = np.nan
    weights = inside_intervals(intervals, start)
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    known = ~np.isnan(intervals[:, 0])
    middle = (intervals[known, 0].max() + intervals[known, 1].min()) / 2 if known.any() else 1.0
    aims = np.full(len(ends), middle) if start is None else start
    values = [
        max(0.0, aim if np.isnan(low) else min(max(aim, low), high))
        for aim, (low, high) in zip(aims, intervals, strict=True)
    ]
    uniform = np.full(len(ends), 1 / len(ends))
    assert weights == pytest.approx(np.array(values) / sum(values) if sum(values) > 0 else uniform)


def test_a_start_without_an_estimate_is_the_mean_of_the_others():
    none = np.full((3, 2), np.nan)
    assert inside_intervals(none, np.array([0.1, np.nan, 0.3])) == pytest.approx([1 / 6, 2 / 6, 3 / 6])
    assert inside_intervals(none, np.full(3, np.nan)) == pytest.approx([1 / 3] * 3)


# --- forests, replayed tree by tree ---


@pytest.mark.parametrize("confidence", [0.95, 0.6])
def test_confidence_sampling_is_the_literal_one(confidence):
    X, y = data()
    options = {"confidence": confidence, "weight_unit": 0.2, "record_tried": True, "random_state": 4}
    forest = SiftForestClassifier(12, max_features=1, feature_sampling="confidence", **options).fit(X, y)
    grower = make_grower(
        X, y, max_features=1, draw="bootstrap", n_draw=len(y), seed=seed_of(4), record_tried=True
    )
    weights, sizes = None, []  # all alike to begin with
    for number, table in enumerate(forest.node_tables_):
        assert grow_one(grower, number, weights, tried=True) == table
        means, intervals, weights = twin.confidence_weights(
            trials_in(forest.node_tables_[: number + 1]), X.shape[1], 0.2 * root_complexity(y), confidence
        )
        known = ~np.isnan(intervals[:, 0])
        sizes.append((intervals[known, 1] - intervals[known, 0]).mean() if known.any() else np.nan)
    assert forest.mean_interval_sizes_ == same(sizes)
    assert forest.feature_weights_ == same(weights)
    assert forest.confidence_intervals_ == same(intervals)
    assert forest.feature_gains_ == same(means)
    assert forest.feature_gains_ == same(average_gain(forest))
    assert len(set(weights.round(6))) > 1  # it has learned something


def test_updates_come_every_so_many_trees():
    X, y = data()
    options = {"record_tried": True, "random_state": 4}
    forest = SiftForestClassifier(11, feature_sampling="confidence", update_every=4, **options).fit(X, y)
    unit, sizes = 0.1 * root_complexity(y), []
    for end in (4, 8, 11):
        trials = trials_in(forest.node_tables_[:end])
        _, intervals, weights = twin.confidence_weights(trials, X.shape[1], unit)
        sizes.append(np.nanmean(intervals[:, 1] - intervals[:, 0]))
    assert forest.mean_interval_sizes_ == same(sizes)
    assert forest.feature_weights_ == same(weights)
    assert forest.confidence_intervals_ == same(intervals)
    shorter = SiftForestClassifier(4, **options).fit(X, y)  # uniform until the first update
    assert forest.node_tables_[:4] == shorter.node_tables_
    assert forest.node_tables_[4] != SiftForestClassifier(5, **options).fit(X, y).node_tables_[4]


def test_soft_sampling_is_equation_11():
    X, y = data()
    options = {"feature_sampling": "soft", "random_state": 1}
    entropy = reference.entropy(np.bincount(y))
    for constant in (0.0, 0.5, 20.0):
        forest = SiftForestClassifier(8, soft_constant=constant, **options).fit(X, y)
        decreases = [table.decreases(X.shape[1]) for table in forest.node_tables_]
        literal = np.zeros((8, X.shape[1]))
        for tree, table in zip(literal, forest.node_tables_, strict=True):
            for node in table.nodes[table.nodes["first_child"] >= 0]:
                tree[node["feature"]] += node["size"] / table.nodes["size"][0] * node["gain"]
        assert np.array(decreases) == same(literal)
        weights = twin.soft_weights(literal, entropy, constant)
        assert forest.feature_weights_ == same(weights / weights.sum())
        first = SiftForestClassifier(1, random_state=1).fit(X, y)
        assert forest.node_tables_[0] == first.node_tables_[0]
        assert not hasattr(forest, "confidence_intervals_")


def test_two_stage_sampling_is_the_gain_in_one_tree():
    X, y = data()
    tree = CartClassifier(record_tried=True).fit(X, y)
    gains = average_gain(tree)
    means, _, _ = twin.confidence_weights(trials_in([tree.node_table_]), X.shape[1], 1.0)
    assert gains == same(means)
    forest = SiftForestClassifier(3, feature_sampling="two-stage", random_state=0).fit(X, y)
    assert forest.feature_weights_ == same(gains / gains.sum())
    by_array = SiftForestClassifier(3, feature_sampling=gains, random_state=0).fit(X, y)
    assert forest.node_tables_ == by_array.node_tables_
    # Limits on the forest's own trees do not stunt that tree.
    stunted = {"max_depth": 1, "min_samples_leaf": 9, "max_features": 2, "n_thresholds": None}
    limited = SiftForestClassifier(3, feature_sampling="two-stage", **stunted).fit(X, y)
    assert limited.feature_weights_ == same(forest.feature_weights_)


def test_two_stage_and_confidence_begins_with_the_tree_and_leaves_it_as_intervals_demand():
    X, y = data()
    tree = CartClassifier(record_tried=True).fit(X, y)
    gains = average_gain(tree)
    options = {"feature_sampling": "two-stage+confidence", "record_tried": True, "random_state": 2}
    first = SiftForestClassifier(1, **options).fit(X, y)
    by_array = SiftForestClassifier(1, **{**options, "feature_sampling": gains}).fit(X, y)
    assert first.node_tables_ == by_array.node_tables_
    forest = SiftForestClassifier(25, **options).fit(X, y)
    inner = ~tree.node_table_.is_leaf
    unit = node_complexity(tree.node_table_.counts[inner]).mean()
    _, intervals, _ = twin.confidence_weights(trials_in(forest.node_tables_), X.shape[1], unit)
    assert forest.confidence_intervals_ == same(intervals)
    assert not np.isnan(intervals).any()
    values = np.maximum(np.clip(gains, *intervals.T), 0)
    assert forest.feature_weights_ == same(values / values.sum())


# --- the same however it is computed ---


LEARNED = ["feature_weights_", "feature_gains_", "confidence_intervals_", "mean_interval_sizes_"]


def assert_same_forest(one, two):
    assert one.node_tables_ == two.node_tables_
    for name in LEARNED:
        first, second = (getattr(forest, name, None) for forest in (one, two))
        assert first is second or np.array_equal(first, second, equal_nan=True)


@pytest.mark.parametrize("update_every", [1, 7, 10])
@pytest.mark.parametrize("policy", POLICIES)
def test_the_number_of_threads_does_not_matter(policy, update_every):
    X, y = data(200)
    options = {"feature_sampling": policy, "update_every": update_every, "random_state": 3}
    one, two = (SiftForestClassifier(24, n_jobs=jobs, **options).fit(X, y) for jobs in (1, 2))
    assert_same_forest(one, two)


@pytest.mark.parametrize("policy", POLICIES)
def test_growing_in_steps_is_growing_at_once(policy):
    X, y = data()
    options = {"feature_sampling": policy, "update_every": 7, "random_state": 3}
    steps = SiftForestClassifier(30, warm_start=True, **options)
    for n_estimators in (30, 50, 100):  # none is a multiple of 7
        steps.set_params(n_estimators=n_estimators).fit(X, y)
        assert_same_forest(steps, SiftForestClassifier(n_estimators, **options).fit(X, y))
    before = {name: getattr(steps, name, None) for name in LEARNED}
    with pytest.warns(UserWarning, match="does not fit new trees"):
        steps.fit(X, y)
    for name, value in before.items():
        assert value is None or np.array_equal(getattr(steps, name), value, equal_nan=True)


@pytest.mark.parametrize("policy", LEARNING)
def test_fewer_trees_than_between_updates(policy):
    X, y = data()
    options = {"feature_sampling": policy, "random_state": 3}
    late = SiftForestClassifier(5, update_every=1000, **options).fit(X, y)
    exact = SiftForestClassifier(5, update_every=5, **options).fit(X, y)
    assert_same_forest(late, exact)
    assert late.feature_weights_.std() > 0  # told of the last state all the same


def test_what_was_tried_is_kept_on_wish_only():
    X, y = data()
    options = {"feature_sampling": "confidence", "random_state": 3}
    kept, dropped = (SiftForestClassifier(6, record_tried=r, **options).fit(X, y) for r in (True, False))
    assert all(table.tried is None for table in dropped.node_tables_)
    assert all(table.tried is not None for table in kept.node_tables_)
    assert np.array_equal(kept.feature_gains_, dropped.feature_gains_)
    assert np.array_equal(kept.predict_proba(X), dropped.predict_proba(X))


@pytest.mark.skipif(not HAS_CALLBACKS, reason="callbacks came with scikit-learn 1.9")
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("update_every", [1, 5])
def test_a_stop_on_the_way_leaves_a_forest_that_can_go_on(policy, update_every):
    X, y = data()
    options = {"feature_sampling": policy, "update_every": update_every, "random_state": 3}
    forest = SiftForestClassifier(40, warm_start=True, **options).set_callbacks(Listener(stop_after=8))
    forest.fit(X, y)
    n_grown = len(forest.node_tables_)
    assert 8 <= n_grown < 20
    assert forest.score(X, y) > 0.8
    assert_same_forest(forest, SiftForestClassifier(n_grown, **options).fit(X, y))
    forest.set_callbacks().fit(X, y)
    assert_same_forest(forest, SiftForestClassifier(40, **options).fit(X, y))


# --- every kind of data ---


def mixed_table(n=240):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"size": rng.normal(size=n), "colour": rng.choice(list("rgb"), n), "noise": rng.random(n)}
    )
    X["shape"] = pd.Categorical(rng.choice(list("wxyz"), n))
    y = np.where(X["colour"] == "r", 0, np.where(X["size"] + (X["shape"] == "w") > 0.3, 1, 2))
    X.loc[::9, ["size", "colour"]] = None
    return X, y


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"criterion": "gini", "class_weight": "balanced"},
        {"criterion": "ssv", "max_features": 2, "n_thresholds": 3},
        {"nominal_splits": "multiway", "bootstrap": False},
        {"missing": "fractional"},
    ],
    ids=lambda options: "-".join(options) or "plain",
)
def test_three_classes_nominal_columns_missing_values_and_weights(policy, options):
    X, y = mixed_table()
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    forest = SiftForestClassifier(25, feature_sampling=policy, update_every=5, random_state=0, **options)
    for sample_weight in (None, weights):
        forest.fit(X, y, sample_weight)
        assert forest.feature_weights_.shape == (4,)
        assert forest.feature_weights_.sum() == pytest.approx(1)
        assert (forest.feature_weights_ >= 0).all()
        assert X.columns[forest.feature_weights_.argmax()] in ("size", "colour")
        assert forest.score(X, y, sample_weight) > 0.75
        if "confidence" in policy:
            assert forest.confidence_intervals_.shape == (4, 2)
            assert len(forest.mean_interval_sizes_) == 5


@pytest.mark.parametrize("policy", POLICIES)
def test_relevant_columns_are_drawn_more_often(policy):
    X, y = make_simple(random_state=0)
    weights = SiftForestClassifier(60, feature_sampling=policy, random_state=0).fit(X, y).feature_weights_
    assert weights.argmax() == 1  # it carries most
    assert weights[:2].sum() > 2 / 9


@pytest.mark.parametrize("policy", POLICIES)
def test_tables_too_small_to_learn_from(policy):
    forest = SiftForestClassifier(4, feature_sampling=policy, random_state=0)
    assert forest.fit([[0.0, 1.0], [1.0, 1.0]], [0, 1]).feature_weights_.sum() == pytest.approx(1)
    assert forest.fit([[1.0, 1.0]] * 6, [0, 1] * 3).feature_weights_ == pytest.approx([0.5, 0.5])
    one_column = forest.fit(np.arange(6.0)[:, np.newaxis], [0, 1] * 3)
    assert one_column.feature_weights_.tolist() == [1]
