"""Scores of sets of columns: on the store they are those of the ordinary way, and X is never looked at."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from foresift import (
    C45Classifier,
    CartClassifier,
    InfoGainSelector,
    SequentialSelector,
    SiftForestClassifier,
    SubsetSizeCV,
)
from foresift.data.folds import make_folds
from foresift.data.sklearn_compat import seeded
from foresift.data.slices import sliceable
from foresift.data.table import make_table
from foresift.models.scorer import (
    PlainScorer,
    StoreScorer,
    make_subset_scorer,
    n_candidates,
)

SUBSETS = [(0, 1, 2, 3, 4, 5), (1, 4), (0, 2, 5), (3, 5)]
MODELS = [
    SiftForestClassifier(7, max_features="sqrt", random_state=3),
    SiftForestClassifier(7, max_features=2, n_thresholds=4, criterion="gini", random_state=3),
    SiftForestClassifier(5, max_features=0.7, bootstrap=False, max_samples=0.6, random_state=3),
    SiftForestClassifier(5, missing="fractional", class_weight="balanced", random_state=3),
    SiftForestClassifier(5, min_samples_leaf=0.05, min_samples_split=0.2, random_state=3),
    CartClassifier(max_depth=3),
    CartClassifier(max_features=2, criterion="ssv", random_state=1),
]


def problem(seed=0, n=240, *, missing=0.0, nominal=False):
    rng = np.random.default_rng(seed)
    X, y = make_classification(n, 6, n_informative=4, n_redundant=0, n_classes=3, random_state=seed)
    X[:, 3] = rng.integers(0, 4, n)
    X[rng.random(X.shape) < missing] = np.nan
    frame = pd.DataFrame(X, columns=list("abcdef"))
    if nominal:
        words = np.array(["red", "green", "blue", "grey", "black"])
        frame["b"] = words[(rng.random(n) * 4 + y % 2).astype(int)]
    return frame, np.array(["x", "y", "z"])[y]


def both(model, X, y, weights=None, scoring="accuracy", cv=3):
    table = make_table(X, y)
    folds = make_folds(table, weights, cv, seed=0)
    store = make_subset_scorer(model, None, table, weights, folds, scoring=scoring)  # without X
    assert isinstance(store, StoreScorer)
    plain = PlainScorer(model, weights, folds, scoring, None, X, table.target.values(), table.schema)
    return store(SUBSETS), plain(SUBSETS)


@pytest.mark.parametrize("nominal", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: repr(model)[:40])
def test_scores_on_the_store_are_those_of_the_ordinary_way(model, missing, nominal):
    X, y = problem(missing=missing, nominal=nominal)
    ours, ordinary = both(model, X, y)
    assert ours == pytest.approx(ordinary, abs=1e-12)
    assert len(set(ours)) > 1


@pytest.mark.parametrize("scoring", ["neg_log_loss", "balanced_accuracy", "f1_macro", "roc_auc_ovr"])
def test_other_metrics(scoring):
    X, y = problem()
    for metric in (scoring, get_scorer(scoring)):
        ours, ordinary = both(MODELS[0], X, y, scoring=metric)
        assert ours == pytest.approx(ordinary, abs=1e-12)


def test_weights_count_in_fitting_and_scoring():
    X, y = problem()
    weights = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    for scoring in ("accuracy", "neg_log_loss"):
        ours, ordinary = both(MODELS[0], X, y, weights, scoring)
        assert ours == pytest.approx(ordinary, abs=1e-12)
        assert ours != pytest.approx(both(MODELS[0], X, y, None, scoring)[0], abs=1e-6)
    # A row of weight 0 is not there.
    there = weights > 0
    splitter = StratifiedKFold(3)
    ones = np.where(there, 1.0, 0.0)
    assert both(MODELS[0], X, y, ones, cv=splitter)[0] == both(MODELS[0], X[there], y[there], cv=splitter)[0]


def test_scores_are_those_of_cross_val_score():
    X, y = problem()
    cv = KFold(4, shuffle=True, random_state=5)
    ours, _ = both(MODELS[0], X, y, cv=cv)
    codes = np.unique(y, return_inverse=True)[1]
    means = [cross_val_score(MODELS[0], X.iloc[:, list(s)], codes, cv=cv).mean() for s in SUBSETS]
    assert ours == pytest.approx(means, abs=1e-12)


def test_any_classifier_takes_the_ordinary_way():
    X, y = problem()
    table = make_table(X, y)
    folds = make_folds(table, None, 3, seed=0)
    given = [(fold.train, fold.test) for fold in folds]
    for container in (X, X.to_numpy(), dict(X), X.to_numpy().tolist()):
        score = make_subset_scorer(GaussianNB(), container, table, None, folds, n_jobs=1)
        expected = [
            cross_val_score(GaussianNB(), X.to_numpy()[:, list(s)], y, cv=given).mean() for s in SUBSETS
        ]
        assert score(SUBSETS) == pytest.approx(expected)
    learns = SiftForestClassifier(3, feature_sampling="confidence", random_state=0)
    assert isinstance(make_subset_scorer(learns, X, table, None, folds), PlainScorer)
    looks_at_x = make_subset_scorer(
        MODELS[0], X, table, None, folds, scoring=lambda model, X, y: float(X.shape[1])
    )
    assert looks_at_x(SUBSETS) == [6, 2, 3, 2]


def test_every_set_is_evaluated_once():
    X, y = problem()
    table = make_table(X, y)
    score = make_subset_scorer(MODELS[0], None, table, None, make_folds(table, None, 3, seed=0))
    first = score([(0, 1), (2,), (0, 1)])
    assert first[0] == first[2]
    assert (score.n_evaluated, score.n_cached) == (2, 1)
    assert score([(2,), (0, 1), (5,)])[:2] == [first[1], first[0]]
    assert (score.n_evaluated, score.n_cached) == (3, 3)


@pytest.mark.parametrize("model", [MODELS[0], GaussianNB()], ids=["store", "plain"])
def test_threads_do_not_matter(model):
    X, y = problem()
    table = make_table(X, y)
    folds = make_folds(table, None, 3, seed=0)
    with parallel_config("threading"):  # processes take seconds to start
        one, two = (make_subset_scorer(model, X, table, None, folds, n_jobs=n)(SUBSETS) for n in (1, 2))
    assert one == two


def test_folds_are_stratified_shuffled_and_seeded():
    X, y = load_iris(return_X_y=True)
    table = make_table(X, y)
    folds = make_folds(table, None, 3, seed=1)
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(150))
    for fold in folds:
        assert set(fold.train) | set(fold.test) == set(range(150))
        assert np.ptp(np.bincount(y[fold.test])) <= 1
    assert any((np.diff(fold.test) > 1).any() for fold in folds)
    again = make_folds(table, None, 3, seed=1)
    assert all(np.array_equal(a.test, b.test) for a, b in zip(folds, again, strict=True))
    assert not np.array_equal(folds[0].test, make_folds(table, None, 3, seed=2)[0].test)
    given = [(np.arange(0, 150, 2), np.arange(1, 150, 2))]
    assert make_folds(table, None, given, seed=0)[0].test.tolist() == list(range(1, 150, 2))


def test_folds_without_a_class_are_refused():
    X, y = np.arange(30.0)[:, np.newaxis], np.repeat(["a", "b", "c"], [14, 14, 2])
    table = make_table(X, y)
    with pytest.raises(ValueError, match=r"Class 'c' has 2 rows, fewer than the 3 folds.*lower cv"):
        make_folds(table, None, 3, seed=0)
    with pytest.raises(
        ValueError, match=r"Split 2 of cv has no training rows of class 'c'.*a number of folds"
    ):
        make_folds(table, None, KFold(3), seed=0)
    with pytest.raises(ValueError, match="Split 0 of cv has no test rows"):
        make_folds(table, None, [(np.arange(30), np.array([], dtype=int))], seed=0)
    assert len(make_folds(table, None, 2, seed=0)) == 2


def test_scores_that_are_no_numbers_are_refused():
    X, y = problem()
    table = make_table(X, y)
    folds = make_folds(table, None, 3, seed=0)
    score = make_subset_scorer(GaussianNB(), X, table, None, folds, scoring=lambda model, X, y: float("nan"))
    with pytest.raises(ValueError, match=r"scorer returned nan in fold 1 of 3 for the 2 columns \[0, 1\]"):
        score([(0, 1)])


def test_what_does_not_fit_is_refused():
    X, y = problem()
    table = make_table(X, y)
    folds = make_folds(table, None, 3, seed=0)
    from sklearn.linear_model import LinearRegression

    with pytest.raises(ValueError, match="LinearRegression is not one"):
        SequentialSelector(LinearRegression()).fit(X, y)
    unweighted = make_subset_scorer(KNeighborsClassifier(), X, table, np.ones(len(y)), folds)
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
        unweighted([(0, 1)])


def test_seeds_and_numbers_of_columns():
    assert (
        seeded(RandomForestClassifier(), 1).random_state == seeded(RandomForestClassifier(), 1).random_state
    )
    assert seeded(RandomForestClassifier(random_state=5), 1).random_state == 5
    assert isinstance(
        seeded(RandomForestClassifier(random_state=np.random.RandomState(0)), 1).random_state, int
    )
    assert n_candidates(CartClassifier(max_features=4), 3) == 3
    assert n_candidates(CartClassifier(max_features="sqrt"), 17) == 4
    assert n_candidates(CartClassifier(), 17) == 17


def test_a_class_without_weight_is_not_there():
    X, y = problem()
    weights = np.where(y == "y", 0.0, 1.0)
    for scoring in ("neg_log_loss", "roc_auc", "accuracy"):
        ours, ordinary = both(MODELS[0], X, y, weights, scoring)
        assert ours == pytest.approx(ordinary, abs=1e-12)
        there = weights > 0
        given = [
            (np.flatnonzero(there)[train], np.flatnonzero(there)[test])
            for train, test in StratifiedKFold(3).split(X[there], y[there])
        ]
        short = both(MODELS[0], X[there], y[there], None, scoring, cv=StratifiedKFold(3))[0]
        assert both(MODELS[0], X, y, weights, scoring, cv=given)[0] == pytest.approx(short, abs=1e-12)


@pytest.mark.parametrize("named", [[1, 3], ["b", "d"], np.array([False, True, False, True, False, False])])
@pytest.mark.parametrize(
    "model",
    [
        C45Classifier(),
        SiftForestClassifier(5, feature_sampling="soft", max_features=3, random_state=0),
    ],
    ids=["c45", "forest"],
)
def test_numbers_of_columns_follow_as_columns_are_dropped(model, named):
    """Each set by hand, with the nominal columns of that set."""
    X, y = problem()
    X["b"] = np.random.default_rng(0).integers(0, 5, len(y)).astype(float)
    model = clone(model).set_params(categorical_features=named)
    table = SequentialSelector(model).read_table(X, y)
    folds = make_folds(table, None, 3, seed=0)
    given = [(fold.train, fold.test) for fold in folds]
    scores = make_subset_scorer(model, X, table, None, folds)(SUBSETS)
    for subset, score in zip(SUBSETS, scores, strict=True):
        at = [subset.index(j) for j in (1, 3) if j in subset]
        alone = clone(model).set_params(categorical_features=at or None)
        if isinstance(model, SiftForestClassifier):
            alone.set_params(max_features=min(3, len(subset)))
        assert score == pytest.approx(cross_val_score(alone, X.iloc[:, list(subset)], y, cv=given).mean())
    assert SequentialSelector(model, 1, random_state=0).fit(X, y).support_.sum() == 1


def test_what_cannot_follow_is_refused():
    X, y = problem()
    per_column = SiftForestClassifier(feature_sampling=np.ones(6))
    nested = BaggingClassifier(C45Classifier(categorical_features=[1]))
    for model, name in [(per_column, "feature_sampling"), (nested, "estimator__categorical_features")]:
        with pytest.raises(ValueError, match=f"{name} of .* cannot follow"):
            SequentialSelector(model).fit(X, y)


def test_a_scorer_of_several_numbers_is_refused():
    X, y = problem()
    with pytest.raises(ValueError, match="returned a dict, but sets are compared by one number"):
        SequentialSelector(GaussianNB(), scoring=lambda model, X, y: {"a": 1.0}).fit(X, y)


def test_folds_may_come_from_a_generator():
    X, y = problem()
    given = list(StratifiedKFold(3).split(X, y))
    one, other = (SequentialSelector(GaussianNB(), 5, cv=cv).fit(X, y) for cv in (given, iter(given)))
    assert one.path_ == other.path_
    with pytest.raises(ValueError, match="cv"):
        SequentialSelector(GaussianNB(), 5, cv="three").fit(X, y)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([([0, 1], [10**6])], "Split 0 of cv has the test row 1000000: rows are numbered from 0 to"),
        ([([-1, 1], [0])], "Split 0 of cv has the training row -1"),
        ([([0.5, 1], [0])], "as a list of whole numbers, or as a mask"),
        ([[0, 1, 2]], "Split 0 of cv is no pair of training rows"),
        ([0, 1], "Split 0 of cv is no pair of training rows"),
        ([([[0], [1, 2]], [0])], "Split 0 of cv is no pair of training rows"),
        ([([0, 1], [1, 2])], "Split 0 of cv has row 1 for training and for testing"),
        ([([0, 0], [1, 2])], "Split 0 of cv has a row twice among its training rows"),
        ("three", "cv is 'three': give a number of folds"),
        (b"x", "cv is b'x': give a number of folds"),
        (np.array("x"), "cv is array.*: give a number of folds"),
        ([([True, False], [0])], r"a mask of shape \(2,\)"),
    ],
)
def test_folds_that_are_none_are_refused(cv, message):
    X, y = problem()
    for selector in (SequentialSelector(GaussianNB(), 5, cv=cv), InfoGainSelector(SubsetSizeCV(cv=cv))):
        with pytest.raises(ValueError, match=message):
            selector.fit(X, y)


def test_frames_stay_frames():
    """Also one that narwhals wraps."""
    X, _ = problem()
    assert sliceable(X) is X
    assert isinstance(sliceable(nw.from_native(X)), pd.DataFrame)
    assert isinstance(sliceable(pl.from_pandas(X)), pl.DataFrame)
    assert isinstance(sliceable({"a": [1.0, 2.0]}), np.ndarray)
