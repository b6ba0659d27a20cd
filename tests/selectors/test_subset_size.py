"""The number of features by cross-validation: the curve, the one-standard-error rule, leaks, bad input."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference_thesis
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, get_scorer
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from test_contract import SEARCHES, SELECTORS, name_of

from foresift import (
    BestRankerSelector,
    C45Classifier,
    CFSSelector,
    ForestGainSelector,
    FScoreSelector,
    InfoGainSelector,
    SubsetSizeCV,
)
from foresift.data.table import make_table
from foresift.selectors.base import RankingSelector, Scores
from foresift.selectors.size_cv import SizeCurve

SEEN = []  # the rows of every fit of a spy, by the number in their first column


class Spy(RankingSelector):
    """Ranks columns by their number, and tells which rows it was shown."""

    def __init__(self, n_features_to_select=None):
        self.n_features_to_select = n_features_to_select

    def _score(self, table, weights):
        SEEN.append(np.sort(table.store.values(0)).tolist())
        return Scores(-np.arange(table.n_columns))


class SpyClassifier(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        SEEN.append((sorted(X[:, 0].tolist()), X.shape[1]))
        return super().fit(X, y, sample_weight)


def make_data(seed=0, n=90, p=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).round(2)
    return X, (X[:, 1] + X[:, 2] + rng.normal(scale=0.4, size=n) > 0).astype(int)


# --- the curve ---


@pytest.mark.parametrize("selector", [InfoGainSelector(), FScoreSelector(), CFSSelector(search="forward")])
@pytest.mark.parametrize("rule", ["one-se", "best"])
def test_scores_are_those_of_cross_validated_pipelines(selector, rule):
    X, y = make_data()
    plan = SubsetSizeCV(GaussianNB(), sizes=[5, 1, 2, 4, 2], rule=rule)
    model = clone(selector).set_params(n_features_to_select=plan).fit(X, y)
    curve = model.size_curve_
    assert curve.sizes.tolist() == [1, 2, 4, 5]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for at, size in enumerate(curve.sizes.tolist()):
        pipeline = make_pipeline(clone(selector).set_params(n_features_to_select=size), GaussianNB())
        assert curve.scores[:, at] == pytest.approx(cross_val_score(pipeline, X, y, cv=folds))
    assert curve.mean == pytest.approx(curve.scores.mean(axis=0))
    assert curve.chosen == reference_thesis.one_standard_error(curve.sizes, curve.scores.tolist(), rule)
    assert curve.chosen == model.support_.sum()
    alone = clone(selector).set_params(n_features_to_select=curve.chosen).fit(X, y)
    assert model.support_.tolist() == alone.support_.tolist()
    assert model.scores_.tolist() == alone.scores_.tolist()
    assert not hasattr(model.set_params(n_features_to_select=2).fit(X, y), "size_curve_")


class GivenScores:
    """A score that does not look: what each fold gives to each size."""

    def __init__(self, scores):
        self.left = iter(np.asarray(scores).ravel().tolist())

    def __call__(self, model, X, y):
        return next(self.left)


@settings(deadline=None, max_examples=25)
@given(
    st.integers(2, 5).flatmap(
        lambda n_folds: st.lists(
            st.lists(st.integers(0, 10), min_size=4, max_size=4), min_size=n_folds, max_size=n_folds
        )
    ),
    st.sampled_from(["one-se", "best"]),
)
def test_the_rule(scores, rule):
    X, y = make_data(n=20, p=4)
    scores = [[s / 10 for s in fold] for fold in scores]
    plan = SubsetSizeCV(GaussianNB(), cv=len(scores), scoring=GivenScores(scores), rule=rule)
    curve = plan.curve(Spy(), make_table(X, y), None, X)
    assert curve.scores.tolist() == scores
    assert curve.chosen == reference_thesis.one_standard_error([1, 2, 3, 4], scores, rule)
    assert curve.best == reference_thesis.one_standard_error([1, 2, 3, 4], scores, "best")


def test_the_rule_by_hand():
    # Means 0.6, 0.78, 0.8; the standard error of the best is 0.1 / sqrt(4) * 2 / sqrt(3) = 0.0577.
    scores = np.array([[0.6, 0.68, 0.7], [0.6, 0.88, 0.9], [0.6, 0.68, 0.7], [0.6, 0.88, 0.9]])
    curve = SizeCurve(np.array([1, 2, 3]), scores, 2)
    assert curve.standard_error[2] == pytest.approx(0.05773502691896258)
    assert reference_thesis.one_standard_error([1, 2, 3], scores.tolist()) == 2
    assert curve.best == 3


def test_sizes_of_many_columns():
    X, y = make_data(p=200)
    sizes = InfoGainSelector(SubsetSizeCV(GaussianNB(), cv=2)).fit(X, y).size_curve_.sizes
    assert 15 <= len(sizes) <= 20
    assert (sizes[0], sizes[-1]) == (1, 200)
    ratios = sizes[8:-1] / sizes[7:-2]
    assert ratios.min() > 1.1
    assert ratios.max() < 1.6


def test_scores_of_scikit_learn():
    X, y = make_data()
    plan = SubsetSizeCV(LogisticRegression(), scoring="neg_log_loss", cv=KFold(3), sizes=[2])
    curve = InfoGainSelector(plan).fit(X, y).size_curve_
    pipeline = make_pipeline(InfoGainSelector(2), LogisticRegression())
    assert curve.scores[:, 0] == pytest.approx(
        cross_val_score(pipeline, X, y, cv=KFold(3), scoring=get_scorer("neg_log_loss"))
    )


# --- no leakage ---


def test_a_ranking_never_sees_the_rows_it_is_judged_on():
    X, y = make_data(n=40, p=3)
    X[:, 0] = np.arange(40)
    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    SEEN.clear()
    plan = SubsetSizeCV(SpyClassifier(), cv=folds)
    Spy(plan).fit(X, y)
    trained = [np.sort(train).astype(float).tolist() for train, _ in folds.split(X, y)]
    expected = [*trained, *[(rows, size) for rows in trained for size in (1, 2, 3)]]
    everything = list(range(40))  # which are ranked at last
    assert [*expected, everything] == SEEN


def test_rows_without_weight_are_in_no_fold():
    X, y = make_data(n=60, p=3)
    X[:, 0] = np.arange(60)
    weights = (np.arange(60) % 3 > 0) * 2.0
    SEEN.clear()
    model = Spy(SubsetSizeCV(SpyClassifier(), cv=4)).fit(X, y, sample_weight=weights)
    shown = SEEN[:-1]
    assert not {row for item in shown for row in (item[0] if isinstance(item, tuple) else item)} & set(
        range(0, 60, 3)
    )
    some = weights > 0
    again = Spy(SubsetSizeCV(SpyClassifier(), cv=4)).fit(X[some], y[some])
    assert again.size_curve_.scores.tolist() == model.size_curve_.scores.tolist()


def test_weights_reach_ranking_and_classifier():
    X, y = make_data()
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    curve = (
        InfoGainSelector(SubsetSizeCV(GaussianNB(), sizes=[2])).fit(X, y, sample_weight=weights).size_curve_
    )
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
    expected = []
    for train, test in folds:
        ranked = InfoGainSelector(2).fit(X[train], y[train], sample_weight=weights[train])
        bayes = GaussianNB().fit(ranked.transform(X[train]), y[train], sample_weight=weights[train])
        predicted = bayes.predict(ranked.transform(X[test]))
        expected.append(accuracy_score(y[test], predicted, sample_weight=weights[test]))
    assert curve.scores[:, 0] == pytest.approx(expected)
    knn = SubsetSizeCV(KNeighborsClassifier(), sizes=[2])  # which knows no weights
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
        InfoGainSelector(knn).fit(X, y, sample_weight=weights)


def test_a_fold_without_a_class_is_refused():
    X, y = make_data()
    order = np.argsort(y, kind="stable")
    with pytest.raises(ValueError, match="no training rows of class"):
        InfoGainSelector(SubsetSizeCV(cv=KFold(len(np.unique(y))))).fit(X[order], y[order])


# --- every selector ---


# A search for the best set finds its own size, and the best ranker has folds of its own, which choose both.
@pytest.mark.parametrize(
    "estimator",
    [model for model in SELECTORS if not isinstance(model, SEARCHES | BestRankerSelector)],
    ids=name_of,
)
def test_every_selector_can_choose_its_size(estimator):
    X, y = make_data(n=50, p=3)
    seeds = {"random_state": 0} if "random_state" in estimator.get_params() else {}
    model = clone(estimator).set_params(n_features_to_select="cv", **seeds)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)
    curve = model.size_curve_
    assert curve.sizes.tolist() == [1, 2, 3]
    assert curve.scores.shape == (5, 3)
    assert curve.chosen == model.support_.sum() == model.transform(X).shape[1]
    alone = clone(estimator).set_params(n_features_to_select=curve.chosen, **seeds).fit(X, y)
    assert model.support_.tolist() == alone.support_.tolist()


def test_a_forest_in_any_number_of_jobs():
    X, y = make_data(n=60, p=4)
    plan = {"estimator": C45Classifier(), "cv": 3}
    models = []
    for jobs in (1, 2):
        selector = ForestGainSelector(SubsetSizeCV(**plan, n_jobs=jobs), n_estimators=5, random_state=0)
        with parallel_config(backend="multiprocessing"):  # the quickest to start
            models.append(selector.fit(X, y))
    assert models[0].size_curve_.scores.tolist() == models[1].size_curve_.scores.tolist()
    assert models[0].ranking_.tolist() == models[1].ranking_.tolist()


def test_seeds():
    X, y = make_data()
    plan = SubsetSizeCV(DecisionTreeClassifier(splitter="random"), sizes=[3])
    one, two = (InfoGainSelector(plan).fit(X, y).size_curve_.scores.tolist() for _ in range(2))
    assert one == two
    other = SubsetSizeCV(DecisionTreeClassifier(splitter="random"), sizes=[3], random_state=1)
    assert InfoGainSelector(other).fit(X, y).size_curve_.scores.tolist() != one


# --- containers ---


@pytest.mark.parametrize("estimator", [C45Classifier(), DecisionTreeClassifier(random_state=0)])
@pytest.mark.parametrize(
    "make", [list, pd.DataFrame, pl.DataFrame, pa.table, dict, sparse.csr_array, sparse.coo_array]
)
def test_containers(make, estimator):
    X, y = make_data(p=4)
    columns = dict(zip("abcd", X.T, strict=True))
    data = X.tolist() if make is list else make(X) if make.__module__.startswith("scipy") else make(columns)
    plan = SubsetSizeCV(estimator, cv=3)
    expected, found = (InfoGainSelector(plan).fit(table, y) for table in (X, data))
    assert found.size_curve_.scores.tolist() == expected.size_curve_.scores.tolist()
    assert found.support_.tolist() == expected.support_.tolist()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_text_columns_and_labels(make):
    X, _ = make_data(n=80)
    columns = {
        "noise": X[:, 0],
        "text": [None if v > 1.8 else "high" if v > 0 else "low" for v in X[:, 1]],
        "more": [str(int(v)) for v in X[:, 3]],
    }
    y = pd.Series(np.where(X[:, 1] > 0, "yes", "no"))
    model = InfoGainSelector("cv").fit(make(columns), y)
    assert model.get_feature_names_out().tolist() == ["text"]
    assert model.size_curve_.chosen == 1


def test_parameters_can_be_searched():
    X, y = make_data(n=60)
    selector = InfoGainSelector(SubsetSizeCV(GaussianNB(), sizes=[1, 2], cv=2))
    grid = {"select__n_features_to_select__rule": ["one-se", "best"]}
    model = Pipeline([("select", selector), ("model", GaussianNB())])
    found = GridSearchCV(model, grid, cv=2).fit(X, y)
    plan = found.best_estimator_["select"].n_features_to_select
    assert plan.rule == found.best_params_["select__n_features_to_select__rule"]
    assert plan is not selector.n_features_to_select
    assert repr(clone(plan)) == repr(plan)


# --- odd and bad input ---


def test_columns_that_say_nothing():
    X, y = make_data(n=50, p=3)
    X[:, 0], X[:, 2] = 1.0, np.nan
    model = InfoGainSelector("cv").fit(X, y)
    assert model.get_support(indices=True).tolist() == [1]
    one = InfoGainSelector("cv").fit(X[:, [1]], y)
    assert one.size_curve_.sizes.tolist() == [1]
    nothing = InfoGainSelector("cv").fit(X[:, [0, 2]], y)
    assert nothing.support_.sum() == 1


X_SMALL, Y_SMALL = make_data(n=30)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": [0, 1]}, "whole numbers of at least 1"),
        ({"sizes": []}, "whole numbers"),
        ({"sizes": [1.5]}, "whole numbers"),
        ({"sizes": [1, None]}, "whole numbers"),
        ({"sizes": [[1, 2], [3, 4]]}, "whole numbers"),
        ({"sizes": 3}, "whole numbers"),
        ({"sizes": "all"}, "whole numbers"),
        ({"sizes": [True]}, "whole numbers"),
        ({"sizes": [1, 7]}, "up to 7, but X has 6 columns"),
        ({"rule": "two-se"}, "rule must be"),
        ({"cv": 1}, "cv must be at least 2 folds"),
        ({"cv": "many"}, "cv"),
        ({"cv": [(np.arange(15), np.arange(15, 30))]}, "at least two folds"),
        ({"cv": 20}, "Class 0 has 13 rows, fewer than the 20 folds"),
        ({"scoring": "luck"}, "luck"),
        ({"scoring": ["accuracy", "f1"]}, "one score"),
        ({"scoring": lambda model, X, y: np.nan}, "scorer returned nan"),
        ({"estimator": LinearRegression()}, "needs a classifier, but LinearRegression is not one"),
        ({"estimator": GaussianNB}, r"pass an instance, GaussianNB\(\)"),
        ({"estimator": "bayes"}, "needs a classifier"),
        ({"estimator": C45Classifier(confidence_factor=7)}, "confidence_factor"),
        ({"estimator": make_pipeline(LogisticRegression(C=-1))}, "'C' parameter"),
    ],
)
def test_bad_parameters(options, message):
    for selector in (InfoGainSelector, FScoreSelector):
        with pytest.raises(ValueError, match=message):
            selector(SubsetSizeCV(**{"estimator": GaussianNB(), **options})).fit(X_SMALL, Y_SMALL)


def test_rare_classes():
    y = Y_SMALL.copy()
    y[0] = 2
    with pytest.raises(ValueError, match=r"Class 2 has 1 rows.*drop or merge"):
        InfoGainSelector("cv").fit(X_SMALL, y)
    with pytest.raises(ValueError, match="no training rows of class"):
        InfoGainSelector(SubsetSizeCV(GaussianNB(), cv=KFold(3, shuffle=True, random_state=0))).fit(
            X_SMALL, y
        )


def test_classifiers_without_probabilities():
    model = InfoGainSelector(SubsetSizeCV(LinearSVC(), sizes=[1, 2])).fit(X_SMALL, Y_SMALL)
    assert (model.size_curve_.scores.mean(axis=0) > 0.8).all()
