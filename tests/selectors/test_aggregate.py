"""Aggregated rankings: ranks of anyone's selectors, every rule against literal twins and R, agreement."""

import itertools
import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import reference_filters as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from scipy import sparse, stats
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    VarianceThreshold,
)
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from foresift.selectors.aggregate import AggregateSelector, ranks_of
from foresift.selectors.correlation import FScoreSelector, PearsonSelector
from foresift.selectors.filters import InfoGainSelector

RULES = ["mean-rank", "borda", "vote", "rra"]
OURS = [PearsonSelector(), FScoreSelector(), InfoGainSelector()]


class Given(BaseEstimator):
    """Says what its caller wants it to say."""

    def __init__(self, attribute="scores_", values=(), support=None):
        self.attribute = attribute
        self.values = values
        self.support = support

    def fit(self, X, y):
        setattr(self, self.attribute, np.asarray(self.values))
        if self.support is not None:
            self.support_ = np.asarray(self.support)
        return self


def aggregated(ranks, **parameters):
    """Aggregate rankings that are given as ranks."""
    selectors = [Given("ranking_", row) for row in ranks]
    X = np.zeros((2, len(ranks[0])))
    return AggregateSelector(selectors, **{"n_features_to_select": 1, **parameters}).fit(X, [0, 1])


# Ranks

WINE, WINES = load_wine(return_X_y=True)
MODELS = {
    "ours": (FScoreSelector(), "scores_"),
    "univariate": (SelectKBest(k=3), "scores_"),
    "tree": (DecisionTreeClassifier(max_depth=2, random_state=0), "feature_importances_"),
    "forest": (RandomForestClassifier(5, random_state=0), "feature_importances_"),
}


@pytest.mark.parametrize("name", MODELS)
def test_ranks_by_scores_and_importances(name):
    model, attribute = MODELS[name]
    fitted = model.fit(WINE, WINES)
    expected = stats.rankdata(-getattr(fitted, attribute))
    assert np.array_equal(ranks_of(fitted, name, 13), expected)


def test_ranks_by_coefficients():
    X = StandardScaler().fit_transform(WINE)
    for model in (LogisticRegression(), LogisticRegressionCV(max_iter=500, Cs=2, cv=2), SVC(kernel="linear")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            fitted = model.fit(X, WINES)
        expected = stats.rankdata(-np.abs(fitted.coef_).sum(axis=0))
        assert np.array_equal(ranks_of(fitted, "model", 13), expected)
    one = LogisticRegression().fit(X, WINES == 1)
    assert np.array_equal(ranks_of(one, "one", 13), stats.rankdata(-np.abs(one.coef_[0])))
    assert np.array_equal(
        ranks_of(one.sparsify(), "sparse", 13), stats.rankdata(-np.abs(one.coef_.toarray()[0]))
    )


def test_ranks_by_elimination_have_ties():
    fitted = RFE(DecisionTreeClassifier(random_state=0), n_features_to_select=4, step=3).fit(WINE, WINES)
    ranks = ranks_of(fitted, "rfe", 13)
    assert (ranks[fitted.ranking_ == 1] == 2.5).all()
    assert np.array_equal(ranks, stats.rankdata(fitted.ranking_))


def test_ranks_of_what_is_inside():
    X = StandardScaler().fit_transform(WINE)
    expected = ranks_of(LogisticRegression().fit(X, WINES), "inner", 13)
    for wrapped in (
        SelectFromModel(LogisticRegression()),
        make_pipeline("passthrough", LogisticRegression()),
        GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=2),
    ):
        assert np.array_equal(ranks_of(wrapped.fit(X, WINES), "outer", 13), expected)


def test_ranks_by_support_alone():
    for model in (
        SequentialFeatureSelector(DummyClassifier(), n_features_to_select=3, cv=2),
        VarianceThreshold(1.0),
    ):
        fitted = model.fit(WINE, WINES)
        assert np.array_equal(ranks_of(fitted, "support", 13), stats.rankdata(~fitted.get_support()))


def test_what_cannot_be_ranked_is_named():
    with pytest.raises(
        ValueError, match=r"Dummy: a fitted DummyClassifier does not say .*\(ranking_, scores_"
    ):
        AggregateSelector([("Dummy", DummyClassifier())]).fit(WINE, WINES)
    squares = make_pipeline(PolynomialFeatures(), LogisticRegression(max_iter=5))
    with (
        pytest.warns(),
        pytest.raises(ValueError, match="squares: coef_ has 15 entries, but X has 4 columns"),
    ):
        AggregateSelector([("squares", squares)]).fit(*load_iris(return_X_y=True))
    # the support vectors of SVC are no features
    rows = [[0.0, 1.0], [1.0, 0.0]]
    with pytest.raises(ValueError, match="SVC does not say which columns"):
        AggregateSelector([SVC()]).fit(rows, [0, 1])


# Rules

TIED = st.lists(st.integers(1, 4), min_size=5, max_size=5).map(stats.rankdata)
TABLES = st.lists(TIED, min_size=1, max_size=4)


@settings(deadline=None, max_examples=40)
@given(TABLES, st.integers(1, 7) | st.none())
def test_points_and_votes_equal_the_mean_over_orders_of_ties(table, top):
    k = 5 if top is None else min(top, 5)
    points = aggregated(table, rule="borda", top=top)
    assert points.scores_ == pytest.approx(sum(reference.borda(row, k) for row in table))
    assert np.array_equal(points.ranks_, table)
    if top is not None:
        votes = aggregated(table, rule="vote", top=top)
        assert votes.scores_ == pytest.approx(sum(reference.votes(row, k) for row in table))


@settings(deadline=None, max_examples=40)
@given(TABLES)
def test_complete_rankings_have_one_order_by_points_and_by_mean_rank(table):
    by_mean, by_points = aggregated(table), aggregated(table, rule="borda")
    assert by_mean.scores_ == pytest.approx(6 - np.mean(table, axis=0))
    assert by_points.scores_ == pytest.approx(by_mean.scores_ * len(table))
    assert np.array_equal(by_mean.ranking_, by_points.ranking_)


def test_mean_ranks_of_the_top():
    selector = aggregated([[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]], top=2)
    assert selector.scores_ == pytest.approx([6 - 2.5, 6 - 3, 6 - 4, 6 - 3, 6 - 2.5])
    assert selector.ranks_.max() == 5


def test_votes_are_what_the_selectors_keep():
    selectors = [
        Given("scores_", [5, 4, 3, 2, 1], [True, True, False, False, False]),
        Given("scores_", [1, 5, 2, 3, 4], [False, True, False, False, True]),
        Given("scores_", [5, 1, 2, 4, 3], [True, False, False, False, False]),
    ]
    selector = AggregateSelector(selectors, rule="vote").fit(np.zeros((2, 5)), [0, 1])
    assert selector.scores_.tolist() == [2, 2, 0, 0, 1]
    assert selector.ranking_.tolist() == [1, 2, 5, 4, 3]  # means: 2.33, 2.67, 3.67, 3.33, 3
    assert selector.support_.tolist() == [True, True, False, False, False]
    few = [Given("scores_", row, np.equal(row, 3)) for row in itertools.permutations([1, 2, 3])]
    with pytest.warns(UserWarning, match="No feature passed the rule of AggregateSelector"):
        AggregateSelector(few, rule="vote").fit(np.zeros((2, 3)), [0, 1])
    with pytest.raises(ValueError, match="For rule='vote' set top"):
        AggregateSelector([DecisionTreeClassifier()], rule="vote").fit(WINE, WINES)


# RobustRankAggreg 1.2.1 (R 4.2.2, Debian): aggregateRanks(glist = strsplit(LISTS, ""), N = 20), and the same
# with the first five letters of every list; all other scores are 1.
LISTS = [
    "qaglbcrnsdhmopjektfi",
    "dbgfacqijmoepshlrntk",
    "dbcitrfeagloknphjqms",
    "cghsaidkbopeqftlrmnj",
    "ctoepsnlmifkgqabhjdr",
]
WHOLE = {
    "c": 0.012149999999999994,
    "d": 0.112962500000000007,
    "g": 0.133059374999999952,
    "b": 0.407300000000000162,
    "a": 0.517578125000000444,
    "o": 0.580145312500000121,
    "i": 0.937499999999999889,
}
FIRST_FIVE = {
    "d": 0.11296250000000001,
    "c": 0.11296250000000001,
    "g": 0.13305937499999995,
    "b": 0.40730000000000016,
    "a": 0.51757812500000044,
}


@pytest.mark.parametrize(("top", "expected"), [(None, WHOLE), (5, FIRST_FIVE)])
def test_robust_ranks_as_r_has_them(top, expected):
    letters = sorted(LISTS[0])
    ranks = [[order.index(letter) + 1 for letter in letters] for order in LISTS]
    selector = aggregated(ranks, rule="rra", top=top)
    assert selector.pvalues_ == pytest.approx([expected.get(letter, 1.0) for letter in letters], abs=1e-12)
    best = {letters[j] for j in np.argsort(selector.ranking_)[: len(expected)]}
    assert best == set(expected)
    assert aggregated(ranks, rule="rra", n_features_to_select=None).get_support(indices=True) == [2]


def test_many_selectors_that_agree():
    selector = aggregated([np.arange(1, 1001)] * 200, rule="rra")
    assert np.isfinite(selector.scores_).all()
    assert selector.ranking_.tolist() == list(range(1, 1001))


def test_half_is_kept_by_the_other_rules():
    ranks = [[1, 2, 3, 4, 5], [2, 1, 3, 5, 4]]
    for rule in ("mean-rank", "borda"):
        selector = aggregated(ranks, rule=rule, n_features_to_select=None)
        assert selector.support_.tolist() == [True, True, False, False, False]
        assert selector.ranking_.tolist() == [1, 2, 3, 4, 5]


# Agreement


def test_agreement_at_its_ends():
    same = aggregated([[1, 2, 3]] * 3)
    assert same.agreement_ == 1
    assert np.array_equal(same.agreements_, np.ones((3, 3)))
    against = aggregated([[1, 2, 3], [3, 2, 1]])
    assert against.agreement_ == 0
    assert against.agreements_.tolist() == [[1, -1], [-1, 1]]
    tied = aggregated([[2, 2, 2], [1, 2, 3]])
    assert np.array_equal(tied.agreements_, [[1, np.nan], [np.nan, 1]], equal_nan=True)
    assert math.isnan(aggregated([[2, 2, 2]] * 2).agreement_)
    single = aggregated([[1], [1]])
    assert math.isnan(single.agreement_)
    assert single.ranking_.tolist() == [1]


# The selector


def test_nan_ranks_last():
    selector = AggregateSelector([Given("scores_", [np.nan, 1.0, np.nan, 3.0])])
    assert selector.fit(np.zeros((2, 4)), [0, 1]).ranks_.tolist() == [[3.5, 2, 3.5, 1]]


def test_names_of_the_selectors():
    selector = AggregateSelector([FScoreSelector(), ("mine", PearsonSelector()), FScoreSelector(2)])
    selector.fit(WINE, WINES)
    assert selector.selector_names_ == ["FScoreSelector-1", "mine", "FScoreSelector-2"]
    assert [type(member) for member in selector.selectors_] == [
        FScoreSelector,
        PearsonSelector,
        FScoreSelector,
    ]
    assert not hasattr(selector.selectors[0], "scores_")
    assert np.array_equal(selector.ranks_[1], selector.selectors_[1].ranking_)


def test_random_states_and_threads():
    selectors = [
        RandomForestClassifier(3),
        make_pipeline(StandardScaler(), SelectFromModel(RandomForestClassifier(3))),
        RandomForestClassifier(3, random_state=5),
    ]
    selector = AggregateSelector(selectors, 3, random_state=0).fit(WINE, WINES)
    with parallel_config(backend="threading"):  # processes take long to start
        again = clone(selector).set_params(n_jobs=2).fit(WINE, WINES)
    assert np.array_equal(selector.ranks_, again.ranks_)
    assert np.array_equal(selector.scores_, again.scores_)
    assert not np.array_equal(
        clone(selector).set_params(random_state=1).fit(WINE, WINES).ranks_, again.ranks_
    )
    seeds = [value for m in selector.selectors_ for k, value in m.get_params().items() if "random_state" in k]
    assert None not in seeds
    assert 5 in seeds
    assert selectors[0].random_state is None


def test_weights_reach_those_that_take_them():
    weights = np.random.default_rng(0).integers(0, 3, size=len(WINES))
    repeated = np.repeat(WINE, weights, axis=0), np.repeat(WINES, weights)
    selector = AggregateSelector(OURS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(
            selector.fit(WINE, WINES, weights).ranks_, clone(selector).fit(*repeated).ranks_
        )
    with pytest.warns(UserWarning, match="not taken by SelectKBest: for them every") as caught:
        AggregateSelector([SelectKBest(k=2), PearsonSelector()]).fit(WINE, WINES, weights)
    assert caught[0].filename == __file__


def test_in_a_pipeline_and_a_search():
    pipeline = make_pipeline(AggregateSelector(OURS, random_state=0), StandardScaler(), LogisticRegression())
    grid = {"aggregateselector__rule": RULES, "aggregateselector__n_features_to_select": [2, 6]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(WINE, WINES)
    assert search.best_score_ > 0.85
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert np.array_equal(again.predict(WINE), search.predict(WINE))


def test_frames_with_nominal_columns():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "c": ["u", "u", "v", "v"], "k": ["q"] * 4})
    selectors = [InfoGainSelector(), PearsonSelector(nominal="one-hot")]
    selector = AggregateSelector(selectors, 2).fit(frame, [0, 0, 1, 1])
    assert selector.ranks_.tolist() == [[1.5, 1.5, 3], [2, 1, 3]]
    assert selector.get_feature_names_out().tolist() == ["x", "c"]
    assert selector.transform(frame).shape == (4, 2)
    with pytest.raises(ValueError, match="column 'c' is nominal, but PearsonSelector"):
        AggregateSelector(OURS).fit(frame, [0, 0, 1, 1])


def test_tags_are_those_of_all_selectors():
    def tags(*selectors):
        found = AggregateSelector(list(selectors)).__sklearn_tags__().input_tags
        return found.allow_nan, found.sparse

    assert tags(*OURS) == (True, True)
    assert tags(PearsonSelector(), SequentialFeatureSelector(SVC())) == (False, True)
    assert tags(PearsonSelector(), SequentialFeatureSelector(GaussianNB())) == (False, False)
    assert tags() == (True, True)
    X = sparse.csr_matrix(WINE)
    expected = AggregateSelector(OURS).fit(WINE, WINES).ranking_
    assert np.array_equal(AggregateSelector(OURS).fit(X, WINES).ranking_, expected)


@pytest.mark.parametrize(
    ("selectors", "parameters", "message"),
    [
        ([], {}, "selectors is empty: give a list"),
        ([FScoreSelector], {}, r"selectors contains <class .*FScoreSelector'>: give a list of estimators"),
        (["pearson"], {}, "selectors contains 'pearson': give a list"),
        ("pearson", {}, "'selectors' parameter"),
        (OURS, {"rule": "mean"}, "'rule' parameter"),
        (OURS, {"top": 0}, "'top' parameter"),
        (OURS, {"n_features_to_select": 14}, "more than the 13 columns"),
        ([InfoGainSelector(ratio="yes")], {}, "'ratio' parameter of InfoGainSelector"),
    ],
)
def test_bad_parameters(selectors, parameters, message):
    with pytest.raises(ValueError, match=message):
        AggregateSelector(selectors, **parameters).fit(WINE, WINES)
