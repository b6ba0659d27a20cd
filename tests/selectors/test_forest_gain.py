"""ForestGainSelector: what its rule keeps, odd tables, weights, threads and stopping."""

import math
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from callbacks import Listener
from forest_gain_cases import BOUNDS, same, table_with_ties
from power import few_or_many, highest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification

from foresift import ForestGainSelector
from foresift.data.sklearn_compat import HAS_CALLBACKS
from foresift.datasets import make_simple

LEARNED = ["scores_", "thresholds_", "expected_scores_", "pvalues_", "intervals_", "ranking_", "support_"]


# --- what is kept ---


@pytest.mark.parametrize("max_features", [1, "sqrt"])
@pytest.mark.parametrize("bound", BOUNDS)
@few_or_many(5, 50)
def test_simple(bound, max_features, n_tables):
    kept, removed = [], []
    for seed in range(n_tables):
        X, y = make_simple(random_state=seed)
        selector = ForestGainSelector(bound=bound, max_features=max_features, random_state=seed).fit(X, y)
        kept.append(selector.support_[:2])
        removed.append(~selector.support_[2:])
        assert selector.ranking_[1] == 1
    assert np.mean(kept) >= 0.95
    least, most = {"lower": (0, 0.2), "mid": (0.1, 0.7), "upper": (0.75, 1), "exact": (0.4, 0.95)}[bound]
    assert least <= np.mean(removed) <= most


# The slow run finds a rate of 0.056 in place of 0.05 (0.001 and 0.007 were measured).
@pytest.mark.parametrize("max_features", [1, "sqrt"])
@few_or_many(10, 1000)
def test_pvalues_of_noise_are_on_the_safe_side(max_features, n_tables):
    small = 0
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(200, 30)), rng.integers(0, 2, 200)
        options = {"n_estimators": 30, "max_features": max_features, "random_state": seed}
        selector = ForestGainSelector(30, **options).fit(X, y)
        small += np.count_nonzero(selector.pvalues_ < 0.05)
        assert 0.2 < selector.pvalues_.mean() < 0.8
    assert small / (30 * n_tables) <= highest(0.05, 30 * n_tables)


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
    selector = ForestGainSelector(random_state=0).fit(X, y)
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
    selector = ForestGainSelector(random_state=0).fit(X, y)
    assert set(selector.ranking_[2:4]) == {1, 2}  # the petals
    assert selector.ranking_[4] == 5
    assert selector.support_[2:4].all()
    assert selector.pvalues_[4] > 0.05 > selector.pvalues_[2:4].max()
    for bound in BOUNDS[:3]:
        with pytest.raises(ValueError, match='valid for two classes only, but y has 3: use bound="exact"'):
            ForestGainSelector(bound=bound).fit(X, y)


def test_the_defaults_rank_the_relevant_columns_first():
    options = {"n_informative": 10, "n_redundant": 0, "shuffle": False, "random_state": 0}
    X, y = make_classification(2000, 100, **options)
    best = [
        set(np.argsort(-selector.fit(X, y).scores_)[:10].tolist())
        for selector in (
            ForestGainSelector(random_state=0),
            ForestGainSelector(bound="mid", max_features=1, random_state=0),  # the paper's
        )
    ]
    assert best[0] == set(range(10))
    assert len(best[1] & set(range(10))) < 10


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


@pytest.mark.parametrize(
    "options", [{}, {"bound": "mid", "max_features": 1}, {"redundancy": 0.8, "n_estimators": 20}]
)
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
