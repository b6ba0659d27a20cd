"""CFS: against the literal twin, searches, weights, missing values, and what must not matter."""

import numpy as np
import pandas as pd
import pytest
import reference_cfs
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from foresift.data.discretize import mdl_cuts
from foresift.data.table import make_table
from foresift.selectors import uncertainty
from foresift.selectors.cfs import CFSSelector
from foresift.selectors.uncertainty import Uncertainties, symmetrical_uncertainty

SEARCHES = ["best-first", "best-first-backward", "best-first-bidirectional", "forward", "backward"]
CONVENTIONS = ["hall", "weka"]
SEEDS = pytest.mark.parametrize("seed", range(25))


# Against the twin


def random_columns(seed, n_columns=None):
    """Nominal columns as lists, None is missing: noise, copies of the class or of each other, constants."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 40))
    y = rng.integers(0, rng.integers(2, 4), size=n)
    columns = []
    for _ in range(n_columns or int(rng.integers(2, 8))):
        noise = rng.integers(0, rng.integers(1, 5), size=n)
        like = y if rng.random() < 0.6 or not columns else columns[rng.integers(len(columns))]
        column = np.where(rng.random(n) < rng.random(), like, noise)
        columns.append(np.where(rng.random(n) < rng.choice([0, 0, 0.2]), -1, column))
    lists = [[None if value == -1 else int(value) for value in column] for column in columns]
    return lists, y.tolist()


def frame(columns):
    return pd.DataFrame({f"c{j}": pd.Categorical(column) for j, column in enumerate(columns)})


def kept(selector):
    return sorted(selector.order_.tolist())


@SEEDS
@pytest.mark.parametrize("many_codes", [False, True])
def test_uncertainties_equal_the_twin(seed, many_codes, monkeypatch):
    if many_codes:  # as with two columns of thousands of categories
        monkeypatch.setattr(uncertainty, "_CELLS", 5)
    columns, y = random_columns(seed)
    ours = Uncertainties(make_table(frame(columns), y), None)
    twin = reference_cfs.Correlations(columns, y)
    assert ours.with_class == pytest.approx(twin.with_class, abs=1e-12)
    for j, row in enumerate(twin.between):
        assert ours.between(j) == pytest.approx(row, abs=1e-12)


@SEEDS
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_subsets_equal_the_twin(seed, convention):
    columns, y = random_columns(seed)
    X = frame(columns)
    twin = reference_cfs.Correlations(columns, y, convention == "weka")
    subsets = {
        "best-first": reference_cfs.best_first(twin, 5),
        "best-first-backward": reference_cfs.best_first(twin, 5, "backward"),
        "best-first-bidirectional": reference_cfs.best_first(twin, 5, "bidirectional"),
        "forward": reference_cfs.forward(twin),
        "backward": reference_cfs.backward(twin),
    }
    for search, subset in subsets.items():
        ours = CFSSelector(search=search, convention=convention).fit(X, y)
        assert kept(ours) == sorted(subset)
        assert ours.merit_ == pytest.approx(twin.merit(subset), abs=1e-10)
        if not search.endswith("backward"):
            assert ours.order_.tolist() == subset
        local = CFSSelector(search=search, convention=convention, locally_predictive=True).fit(X, y)
        assert kept(local) == sorted(reference_cfs.locally_predictive(twin, subset))
        assert local.merit_ == pytest.approx(twin.merit(kept(local)), abs=1e-10)
    for k in range(1, len(columns) + 1):
        some = CFSSelector(k, convention=convention).fit(X, y)
        assert some.order_.tolist() == reference_cfs.forward(twin, k)
        assert kept(CFSSelector(k, search="backward", convention=convention).fit(X, y)) == sorted(
            reference_cfs.backward(twin, k)
        )


@pytest.mark.parametrize("n_stale", [1, 2, 3, 9])
@pytest.mark.parametrize("direction", ["forward", "backward", "bidirectional"])
def test_best_first_equals_the_twin(n_stale, direction):
    search = "best-first" if direction == "forward" else f"best-first-{direction}"
    for seed in range(100, 130):
        columns, y = random_columns(seed, 9)
        twin = reference_cfs.Correlations(columns, y)
        ours = CFSSelector(n_stale=n_stale, search=search).fit(frame(columns), y)
        found = reference_cfs.best_first(twin, n_stale, direction)
        if direction == "backward":  # ranked by score
            found.sort(key=lambda j: -round(twin.with_class[j], 12))
        assert ours.order_.tolist() == found


@pytest.mark.parametrize("seed", range(8))
def test_a_patient_search_finds_the_best_of_all_subsets(seed):
    columns, y = random_columns(seed, 5)
    twin = reference_cfs.Correlations(columns, y)
    ours = CFSSelector(n_stale=400).fit(frame(columns), y)
    assert ours.merit_ == pytest.approx(twin.best_of_all(), abs=1.001e-5)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_numeric_columns_equal_the_twin(load, convention):
    X, y = load(return_X_y=True)
    X[::9, 1] = np.nan
    columns = [reference_cfs.intervals(column, y, convention == "weka") for column in X.T]
    twin = reference_cfs.Correlations(columns, y.tolist(), convention == "weka")
    ours = CFSSelector(convention=convention).fit(X, y)
    assert ours.scores_ == pytest.approx(twin.with_class, abs=1e-12)
    assert ours.order_.tolist() == reference_cfs.best_first(twin, 5)


# Attributes


def test_ranking_follows_the_search():
    X, y = load_breast_cancer(return_X_y=True)
    for parameters in ({}, {"search": "forward"}, {"search": "backward"}, {"locally_predictive": True}):
        ours = CFSSelector(**parameters).fit(X, y)
        n_kept = len(ours.order_)
        assert np.array_equal(np.flatnonzero(ours.support_), np.sort(ours.order_))
        assert ours.ranking_[ours.order_].tolist() == list(range(1, n_kept + 1))
        others = np.argsort(ours.ranking_)[n_kept:]
        assert (np.diff(ours.scores_[others]) <= 1e-12).all()
        assert sorted(ours.ranking_) == list(range(1, 31))


@pytest.mark.parametrize("search", SEARCHES)
def test_numbers_of_features_are_nested(search):
    X, y = load_wine(return_X_y=True)
    whole = CFSSelector(1.0, search=search).fit(X, y)
    for k in (1, 2, 6, 12):
        part = CFSSelector(k, search=search).fit(X, y)
        assert np.array_equal(part.support_, whole.ranking_ <= k)
        assert part.order_.tolist() == whole.order_[:k].tolist()
    assert CFSSelector(0.5, search=search).fit(X, y).support_.sum() == 6


@pytest.mark.parametrize("search", SEARCHES)
def test_path_tells_the_subsets(search):
    X, y = load_wine(return_X_y=True)
    ours = CFSSelector(search=search).fit(X, y)
    correlations = Uncertainties(make_table(X, y), None)
    subsets = []
    for parent, column, size, merit in ours.search_tree_.tolist():
        subset = {column} - {-1}
        if parent >= 0:
            subset ^= subsets[parent]
        elif search.endswith("backward"):
            subset = set(range(13))
        subsets.append(subset)
        pairs = sum(correlations.between(a)[b] for a in subset for b in subset if a < b)
        want = sum(correlations.with_class[a] for a in subset) / np.sqrt(max(size, 1) + 2 * pairs)
        assert len(subset) == size
        assert merit == pytest.approx(want, abs=1e-10)
    assert set(ours.order_.tolist()) in subsets
    assert ours.merit_ == pytest.approx(ours.search_tree_["merit"].max(), abs=1e-10)


def test_greedy_is_forward():
    X, y = load_wine(return_X_y=True)
    ours, other = CFSSelector(search="greedy").fit(X, y), CFSSelector(search="forward").fit(X, y)
    assert np.array_equal(ours.ranking_, other.ranking_)
    assert np.array_equal(ours.search_tree_, other.search_tree_)


def test_a_copy_is_left_out():
    X, y = load_iris(return_X_y=True)
    ours = CFSSelector().fit(np.column_stack([X, X[:, 3], X[:, 2]]), y)
    assert kept(ours) == [2, 3]
    assert ours.scores_[3] == ours.scores_[4]


def test_in_a_pipeline():
    X, y = load_wine(return_X_y=True)
    assert make_pipeline(CFSSelector(), GaussianNB()).fit(X, y).score(X, y) > 0.95


# Columns that tell nothing, and bad input


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_nothing_to_find(search, convention):
    X = np.column_stack([np.ones(40), np.arange(40) % 2, np.arange(40) // 2 % 2])
    with pytest.warns(UserWarning, match="column 0"):
        ours = CFSSelector(search=search, convention=convention).fit(X, np.arange(40) // 4 % 2)
    assert ours.scores_.tolist() == [0, 0, 0]
    assert (ours.merit_, ours.order_.size, ours.support_.tolist()) == (0, 0, [True, False, False])


@pytest.mark.parametrize("search", SEARCHES)
def test_constant_and_empty_columns_score_the_minimum(search):
    X, y = load_iris(return_X_y=True)
    useless = [np.ones(150), np.full(150, np.nan), np.where(y == 0, 1.0, np.nan)]
    X = np.column_stack([*useless, X])
    ours = CFSSelector(search=search, locally_predictive=True).fit(X, y)
    assert ours.scores_[:3].tolist() == [0, 0, 0]
    assert kept(ours) == [5, 6]
    if search != "backward":
        assert sorted(ours.ranking_[:3]) == [5, 6, 7]
    assert CFSSelector(1.0, search=search).fit(X, y).support_.all()


def test_columns_never_known_together():
    x = [None] * 6 + ["a", "b"] * 5
    z = ["p", "q", "q"] * 2 + [None] * 10
    columns = [[*x, None, None], [*z, None, None]]
    y = ["s", "t"] * 9
    ours = Uncertainties(make_table(frame(columns), y), None)
    assert ours.between(0)[1] == pytest.approx(reference_cfs.uncertainty(*columns), abs=1e-12)


@pytest.mark.parametrize("parameters", [{"search": "sideways"}, {"n_stale": 0}, {"convention": "R"}])
def test_bad_parameters_are_named(parameters):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=next(iter(parameters))):
        CFSSelector(**parameters).fit(X, y)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_columns_of_too_many_distinct_values(convention):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80_000)
    x = rng.normal(size=80_000) + 0.3 * y
    ours = CFSSelector(convention=convention).fit(np.column_stack([x, rng.random(80_000)]), y)
    intervals = np.searchsorted(mdl_cuts(x, y), x)  # of all values; ours are of quantile bins
    table = pd.crosstab(intervals, y).to_numpy()
    assert ours.scores_ == pytest.approx([float(symmetrical_uncertainty(table)), 0.0], abs=1e-5)


def test_correlations_are_worked_out_when_asked_for(monkeypatch):
    asked = []
    plain = Uncertainties._between
    monkeypatch.setattr(Uncertainties, "_between", lambda self, j: asked.append(j) or plain(self, j))
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = (rng.random((60, 50_001)) < 0.5).astype(np.float32)
    X[:, 7], X[:, 40_000] = y, np.where(rng.random(60) < 0.1, 1 - y, y)
    ours = CFSSelector().fit(X, y)
    assert ours.ranking_[7] == 1
    assert len(asked) == len(set(asked)) <= len(ours.search_tree_)


# What must not matter


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(SEARCHES), st.randoms(use_true_random=False))
def test_rows_and_names_do_not_matter(seed, search, random):
    columns, y = random_columns(seed)
    n = len(y)
    order = random.sample(range(n), n)
    name = dict(zip([0, 1, 2, 3, 4], random.sample("abcde", 5), strict=True)) | {None: None}
    renamed = [[name[column[i]] for i in order] for column in columns]
    selector = CFSSelector(2, search=search, locally_predictive=True)
    for n_features in (None, 2):
        selector.set_params(n_features_to_select=n_features)
        ours = selector.fit(frame(columns), y)
        before = ours.scores_, ours.ranking_, ours.merit_
        again = selector.fit(frame(renamed), [name[y[i]] for i in order])
        assert again.scores_ == pytest.approx(before[0], abs=1e-12)
        assert np.array_equal(again.ranking_, before[1])
        assert again.merit_ == pytest.approx(before[2], abs=1e-11)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(SEARCHES))
def test_increasing_transforms_do_not_matter(seed, search):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 60)
    X = rng.integers(0, 12, (60, 5)) + y[:, np.newaxis] * rng.integers(0, 6, 5)
    X = np.where(rng.random(X.shape) < 0.05, np.nan, X)
    ours = CFSSelector(4, search=search).fit(X, y)
    moved = CFSSelector(4, search=search).fit(np.exp(X / 10) * [1, 2, 3, 4, 5] - 50, y)
    assert np.array_equal(moved.scores_, ours.scores_)
    assert np.array_equal(moved.ranking_, ours.ranking_)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_no_single_feature_has_more_merit(seed):
    columns, y = random_columns(seed)
    X = frame(columns)
    forward = CFSSelector(search="forward").fit(X, y)
    assert forward.merit_ >= forward.scores_.max() - 1e-11
    assert CFSSelector().fit(X, y).merit_ >= forward.merit_ - 1e-5


@SEEDS
@pytest.mark.parametrize("search", SEARCHES)
def test_weights_are_rows(seed, search):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 80)
    X = rng.integers(0, 9, (80, 5)) + y[:, np.newaxis] * rng.integers(0, 6, 5)
    X = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    weights = rng.integers(0, 4, 80)
    selector = CFSSelector(search=search, categorical_features=[0, 1], locally_predictive=True)
    one = selector.fit(X, y, sample_weight=weights)
    scores, ranking, merit = one.scores_, one.ranking_, one.merit_
    other = selector.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert other.scores_ == pytest.approx(scores, abs=1e-12)
    assert np.array_equal(other.ranking_, ranking)
    assert other.merit_ == pytest.approx(merit, abs=1e-11)


def test_symmetrical_uncertainty_of_tables():
    tables = np.random.default_rng(0).integers(0, 9, (4, 3, 5)) + 1
    values = symmetrical_uncertainty(tables)
    assert values == pytest.approx(symmetrical_uncertainty(tables.swapaxes(1, 2)), abs=1e-15)
    for table, value in zip(tables, values, strict=True):
        rows = [(i, j) for i in range(3) for j in range(5) for _ in range(table[i, j])]
        assert value == pytest.approx(reference_cfs.uncertainty(*zip(*rows, strict=True)), abs=1e-12)
