"""The base of the selectors: scikit-learn's checks, ranking, support, every container through `transform`."""

import pickle
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from foresift import CartClassifier, criteria
from foresift.selectors.base import RankingSelector, Scores


class GainSelector(RankingSelector):
    """Information gain of every column; reads data its own way."""

    def __init__(self, n_features_to_select=None, *, categorical_features="from_dtype", max_bins=65_536):
        self.n_features_to_select = n_features_to_select
        self.categorical_features = categorical_features
        self.max_bins = max_bins

    def _score(self, table, weights):
        store = table.store
        gains = np.empty(table.n_columns)
        for j in range(table.n_columns):
            x = store.codes(j).astype(float)
            x[x == store.n_values(j)] = np.nan
            nominal = store.is_nominal(j)
            gains[j] = criteria.information_gain(
                x, table.target.codes, nominal=nominal, sample_weight=weights
            )
        return Scores(gains, {"n_bins_": np.array([store.n_values(j) for j in range(table.n_columns)])})


class GivenSelector(RankingSelector):
    """Takes the scores from its caller; has no parameters of reading."""

    def __init__(self, n_features_to_select=None, *, scores=()):
        self.n_features_to_select = n_features_to_select
        self.scores = scores

    def _score(self, table, weights):
        return Scores(self.scores, {"weights_": weights})


class TopHalfSelector(GivenSelector):
    """Has a rule of its own."""

    def _own_support(self):
        return self.ranking_ <= self.n_features_in_ // 2


def with_scores(scores, n_features_to_select=None, kind=GivenSelector):
    X = np.zeros((2, len(scores)))
    return kind(n_features_to_select, scores=scores).fit(X, [0, 1])


@parametrize_with_checks([GainSelector()])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


# Scores, ranking, support

SCORE = st.floats() | st.sampled_from([-1.0, 0.0, 1.0])  # NaN and infinity too
SCORES = st.lists(SCORE, min_size=1, max_size=20)


@given(SCORES)
def test_ranking_is_a_permutation_in_order_of_score(scores):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        selector = with_scores(scores)
    assert selector.scores_.dtype == np.float64
    assert np.array_equal(selector.scores_, scores, equal_nan=True)
    assert selector.ranking_.dtype.kind == "i"
    assert sorted(selector.ranking_) == list(range(1, len(scores) + 1))
    for first, second in pairwise(np.argsort(selector.ranking_)):
        a, b = selector.scores_[[first, second]]
        tied = a == b or abs(a - b) <= 1e-12 * abs(b) < np.inf or np.isnan([a, b]).all()
        assert first < second if tied else a > b or np.isnan(b)


@given(SCORES, st.data())
def test_the_best_k_are_kept(scores, data):
    k = data.draw(st.integers(1, len(scores)))
    selector = with_scores(scores, k)
    assert selector.support_.dtype == bool
    assert selector.support_.sum() == k
    assert np.array_equal(selector.support_, selector.ranking_ <= k)
    assert np.array_equal(selector.get_support(), selector.support_)


@given(SCORES)
def test_without_a_number_the_positive_scores_are_kept(scores):
    positive = np.array([score > 0 for score in scores])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector = with_scores(scores)
    assert np.array_equal(selector.support_, positive if positive.any() else selector.ranking_ == 1)
    assert [w.category for w in caught] == ([] if positive.any() else [UserWarning])


@given(st.integers(1, 300), st.floats(0, 1, exclude_min=True))
def test_a_share_keeps_that_many_and_at_least_one(n_columns, share):
    kept = with_scores(np.arange(n_columns), share).support_.sum()
    assert 1 <= kept <= n_columns
    assert kept == 1 or share * n_columns - 1 < kept <= share * n_columns + 1e-6


def test_a_few_rankings():
    selector = with_scores([np.nan, 1.0, 2.0, 1.0, -np.inf, np.nan], 3)
    assert selector.ranking_.tolist() == [5, 2, 1, 3, 4, 6]
    assert selector.get_support(indices=True).tolist() == [1, 2, 3]
    assert with_scores(np.arange(100), 0.29).support_.sum() == 29  # though 0.29 * 100 < 29
    assert with_scores(np.arange(7), 1.0).support_.all()


def test_rounding_does_not_break_ties():
    scores = [0.1, 1 / 3, np.nextafter(1 / 3, 1), 1 / 3 - 1e-9]
    assert with_scores(scores).ranking_.tolist() == [4, 1, 2, 3]
    rng = np.random.default_rng(0)
    X, y, rows = rng.normal(size=(40, 6)), rng.integers(0, 3, 40), rng.permutation(40)
    selector = GainSelector().fit(np.hstack([X, -X]), y)  # a column and its mirror image have the same gain
    assert np.array_equal(selector.ranking_[6:], selector.ranking_[:6] + 1)
    assert np.array_equal(selector.ranking_, GainSelector().fit(np.hstack([-X, X])[rows], y[rows]).ranking_)


def test_a_rule_of_ones_own():
    scores = [-3.0, -1.0, -2.0, -4.0]
    assert with_scores(scores, kind=TopHalfSelector).support_.tolist() == [False, True, True, False]
    assert with_scores(scores, 1, TopHalfSelector).support_.tolist() == [False, True, False, False]
    with pytest.warns(UserWarning, match="rule of TopHalfSelector"):
        assert with_scores([1.0], kind=TopHalfSelector).support_.all()


def test_when_no_feature_passes_the_best_is_kept_with_a_warning():
    X = pd.DataFrame({"a": [0, 1], "b": [0, 1], "c": [1, 0]})
    with pytest.warns(UserWarning, match="No feature passed the rule.*best is kept: column 'b'") as caught:
        selector = GivenSelector(scores=[-2.0, -1.0, np.nan]).fit(X, [0, 1])
    assert selector.support_.tolist() == [False, True, False]
    assert caught[0].filename == __file__  # it points at the call of fit
    with pytest.warns(UserWarning, match="the best is kept: column 0"):
        assert with_scores([np.nan, np.nan]).support_.tolist() == [True, False]


def test_too_many_features_are_refused_before_the_scores_are_worked_out():
    with pytest.raises(ValueError, match="=3 is more than the 2 columns of X: use at most that"):
        GivenSelector(3).fit(np.zeros((2, 2)), [0, 1])  # its scores would not do


@pytest.mark.parametrize("wrong", [0, -1, 0.0, 1.5, -0.5, "all", [1], np.nan])
def test_bad_numbers_of_features(wrong):
    with pytest.raises(ValueError, match="'n_features_to_select' parameter of GivenSelector must be"):
        with_scores([1.0, 2.0], wrong)


# What fit reads


def test_target():
    X = np.eye(3)
    with pytest.raises(ValueError, match="one class, 'a': GainSelector needs at least two"):
        GainSelector().fit(X, ["a", "a", "a"])
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        GainSelector().fit(X, [0.5, 1.5, 2.5])
    with pytest.raises(ValueError, match="requires y to be passed"):
        GainSelector().fit(X, None)


def test_weights():
    X, y = np.eye(3), [0, 0, 1]
    assert GivenSelector(1, scores=[1, 2, 3]).fit(X, y).weights_ is None
    weights = GivenSelector(1, scores=[1, 2, 3]).fit(X, y, sample_weight=[1, 0, 2]).weights_
    assert (weights.dtype, weights.tolist()) == (np.float64, [1, 0, 2])


def test_parameters_of_reading_are_used_if_there_are_any():
    X = np.array([[0.0, 0], [1, 1], [2, 2], [0, 3], [1, 4], [2, 5]])
    y = [0, 1, 0, 0, 1, 0]
    numeric, nominal = GainSelector().fit(X, y), GainSelector(categorical_features=[0]).fit(X, y)
    assert nominal.schema_.nominal.tolist() == [True, False]
    assert nominal.scores_[0] > numeric.scores_[0]
    assert GainSelector(max_bins=3).fit(X, y).n_bins_.tolist() == [3, 3]
    frame = pd.DataFrame({"n": [1.0, 2.0], "t": ["a", "b"]})
    assert GivenSelector(1, scores=[1, 2]).fit(frame, [0, 1]).schema_.nominal.tolist() == [False, True]


# transform

MIXED = {
    "size": [1.5, 2.5, None, 0.5],
    "noise": [1.0, 1.0, 1.0, 1.0],
    "colour": ["red", None, "blue", "red"],
    "flag": [True, False, True, True],
    "count": [3, 1, 2, 4],
}
KEPT = ["size", "colour", "flag", "count"]
Y = [0, 1, 1, 0]
TABLES = {
    "pandas": pd.DataFrame(MIXED),
    "pandas categories": pd.DataFrame(MIXED).astype({"colour": "category"}),
    "pandas nullable": pd.DataFrame(MIXED).convert_dtypes(),
    "pandas arrow": pd.DataFrame(MIXED).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame(MIXED),
    "polars categories": pl.DataFrame(MIXED).with_columns(pl.col("colour").cast(pl.Categorical)),
    "pyarrow": pa.table(MIXED),
    "pyarrow dictionary": pa.table({**MIXED, "colour": pa.array(MIXED["colour"]).dictionary_encode()}),
    "mapping": MIXED,
    "mapping of arrays": {name: np.array(column) for name, column in MIXED.items()},
    "mapping of series": {name: pl.Series(column) for name, column in MIXED.items()},
}
EVERY_TABLE = pytest.mark.parametrize("kind", TABLES)


def cells(rows):
    """Nested lists of plain values, None for every missing one."""
    return [[None if pd.isna(value) else value for value in row] for row in rows]


EXPECTED = [list(row) for row in zip(*(MIXED[name] for name in KEPT), strict=True)]


@EVERY_TABLE
def test_a_mixed_table_becomes_an_array_of_objects(kind):
    selector = GainSelector().fit(TABLES[kind], Y)
    assert selector.get_feature_names_out().tolist() == KEPT
    result = selector.transform(TABLES[kind])
    assert isinstance(result, np.ndarray)
    assert cells(result) == EXPECTED
    assert [type(value) for value in result[0]] == [float, str, bool, int]


@EVERY_TABLE
@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_a_mixed_table_becomes_a_frame_of_typed_columns(kind, output):
    X = TABLES[kind]
    selector = GainSelector().set_output(transform=output)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = selector.fit_transform(X, Y)
    assert type(result).__module__.split(".")[0] == output
    assert list(result.columns) == KEPT
    rows = result.rows() if output == "polars" else result.astype(object).to_numpy()
    assert cells(rows) == EXPECTED
    if output == "polars":
        assert pl.Object not in result.dtypes
        assert result["size"].null_count() == result["colour"].null_count() == 1
    if kind.startswith(output):
        assert [str(result[name].dtype) for name in KEPT] == [str(X[name].dtype) for name in KEPT]
        assert list(X.columns) == list(MIXED)  # X itself stays as it is
    # Read again the columns are what they were, so a tree behind the selector sees what one before it would.
    schema = GainSelector().fit(result, Y).schema_
    assert schema.nominal.tolist() == selector.schema_.nominal[selector.support_].tolist()


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_categories_of_any_kind(output):
    X = pd.DataFrame({"code": pd.Categorical([1, 2, 2, 1]), "range": pd.cut([1.0, 2, 3, 4], 2)})
    for frame in (X, pd.DataFrame({"sparse": pd.arrays.SparseArray([0.0, 1.0, 1.0, 0.0])})):
        result = GainSelector(1.0).set_output(transform=output).fit_transform(frame, Y)
        assert list(result.columns) == list(frame.columns)
        assert GainSelector(1.0).fit(result, Y).scores_[0] == 1


def test_pandas_keeps_its_index():
    X = TABLES["pandas"].set_axis(list("wxyz"))
    with config_context(transform_output="pandas"):
        result = GainSelector().fit_transform(X, Y)
    pd.testing.assert_frame_equal(result, X[KEPT])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, bool])
@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_numbers_stay_numbers(container, dtype):
    columns = {"a": [0, 1, 1, 0], "b": [1, 1, 1, 1], "c": [1, 0, 0, 0]}
    X = np.array(list(columns.values())).T.astype(dtype)
    data = X if container is np.asarray else container({name: X[:, j] for j, name in enumerate(columns)})
    result = GainSelector().fit_transform(data, Y)
    np.testing.assert_array_equal(result, X[:, [0, 2]], strict=True)


def test_arrays_of_text_and_of_objects():
    text = np.array([["a", "k"], ["b", "k"], ["b", "k"], ["a", "k"]])
    assert GainSelector().fit_transform(text, Y).dtype == text.dtype
    assert GainSelector().fit_transform(text.astype(object), Y).tolist() == [["a"], ["b"], ["b"], ["a"]]
    mixed = TABLES["pandas"].to_numpy(dtype=object)
    selector = GainSelector().fit(mixed, Y)
    assert cells(selector.transform(mixed)) == EXPECTED
    frame = selector.set_output(transform="polars").transform(mixed)
    assert frame.schema == {"x0": pl.Float64, "x2": pl.String, "x3": pl.Boolean, "x4": pl.Float64}
    assert cells(frame.rows()) == EXPECTED


def test_nested_lists():
    rows = [[1.5, 0, "a"], [2.5, 0, "b"], [2.0, 0, "b"], [0.5, 0, "a"]]
    assert GainSelector().fit_transform(rows, Y).tolist() == [[size, text] for size, _, text in rows]


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix])
def test_sparse(make, form):
    X = np.array([[0.0, 1, 0], [1, 1, 0], [1, 1, 2], [0, 1, np.nan]])
    selector = GainSelector().fit(make(X).asformat(form), Y)
    result = selector.transform(make(X).asformat(form))
    assert result.format == "csr"
    np.testing.assert_array_equal(result.toarray(), X[:, [0, 2]])
    back = selector.inverse_transform(result)
    np.testing.assert_array_equal(back.toarray(), X * [1, 0, 1])


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_frames_without_text_for_names(output):
    X = pd.DataFrame([[0.0, 1, 5], [1, 1, 5], [1, 1, 5], [0, 1, 6]])
    assert list(GainSelector().set_output(transform=output).fit_transform(X, Y).columns) == ["x0", "x2"]
    assert list(X.columns) == [0, 1, 2]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_columns_must_be_those_of_fit(make):
    selector = GainSelector().fit(make(MIXED), Y)
    with pytest.raises(ValueError, match="Feature names must be in the same order as they were in fit"):
        selector.transform(make({name: MIXED[name] for name in reversed(MIXED)}))
    with pytest.raises(ValueError, match=r"Feature names unseen at fit time:\n- other"):
        selector.transform(make({**MIXED, "other": MIXED["size"]}))
    with pytest.raises(ValueError, match=r"seen at fit time, yet now missing:\n- count"):
        selector.transform(make({name: MIXED[name] for name in list(MIXED)[:-1]}))
    array = TABLES["pandas"].to_numpy()
    with pytest.warns(UserWarning, match="X does not have valid feature names, but GainSelector was fitted"):
        selector.transform(array)
    with pytest.warns(UserWarning, match="X has feature names, but GainSelector was fitted without"):
        assert cells(GainSelector().fit(array, Y).transform(make(MIXED))) == EXPECTED


@pytest.mark.parametrize("make", [np.asarray, list, sparse.csr_array])
def test_the_number_of_columns_must_be_that_of_fit(make):
    selector = GainSelector().fit(np.eye(4), Y)
    with pytest.raises(ValueError, match="X has 3 features, but GainSelector is expecting 4 features"):
        selector.transform(make(np.eye(4)[:, :3]))


def test_inverse_transform_puts_columns_back():
    X = np.array([[0.0, 1, 3], [1, 1, 2], [1, 1, np.nan], [0, 1, 4]])
    selector = GainSelector().fit(X, Y)
    for output in ("default", "pandas", "polars"):
        kept = selector.set_output(transform=output).transform(X)
        np.testing.assert_array_equal(selector.inverse_transform(kept), X * [1, 0, 1])
    with pytest.raises(ValueError, match="different shape than during fitting: 3 columns, but 2 were"):
        selector.inverse_transform(X)
    mixed = GainSelector().fit(TABLES["polars"], Y)
    back = mixed.inverse_transform(mixed.transform(TABLES["polars"]))
    assert cells(back[:, mixed.support_]) == EXPECTED
    assert not back[:, ~mixed.support_].any()


@pytest.mark.parametrize("method", ["transform", "inverse_transform", "get_support", "get_feature_names_out"])
def test_nothing_works_before_fit(method):
    for X in (np.eye(3), sparse.eye_array(3), MIXED):
        with pytest.raises(NotFittedError):
            getattr(GainSelector(), method)(X)


def test_in_a_pipeline_and_a_grid_search():
    X, y = load_iris(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(GainSelector().set_output(transform="pandas"), CartClassifier(max_depth=3))
    grid = {"gainselector__n_features_to_select": [1, 2, 0.75, None]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.9
    selector, tree = search.best_estimator_
    assert tree.feature_names_in_.tolist() == selector.get_feature_names_out().tolist()


@EVERY_TABLE
def test_a_pipeline_of_mixed_columns(kind):
    pipeline = make_pipeline(GainSelector(2), CartClassifier())
    assert pipeline.fit(TABLES[kind], Y).score(TABLES[kind], Y) == 1


def test_copies():
    X, y = load_iris(return_X_y=True, as_frame=True)
    selector = GainSelector(0.5).fit(X, y)
    again = pickle.loads(pickle.dumps(selector))
    assert vars(again).keys() == vars(selector).keys()
    assert np.array_equal(again.transform(X), selector.transform(X))
    fresh = clone(selector)
    assert vars(fresh) == vars(GainSelector(0.5))
    assert not hasattr(selector.fit(X.to_numpy(), y), "feature_names_in_")
