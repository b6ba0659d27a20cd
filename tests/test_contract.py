"""What scikit-learn expects of every estimator: its own checks, pipelines, searches, copies, routing."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import foresift
from foresift import (
    AggregateSelector,
    BestRankerSelector,
    C45Classifier,
    CartClassifier,
    CartRegressor,
    CFSSelector,
    ContributionSelector,
    CumulativeGainSelector,
    FeatureBoostingSelector,
    ForestGainSelector,
    FScoreSelector,
    GEFSClassifier,
    GEFSRegressor,
    GEFSSelector,
    InfoGainSelector,
    MultiSURFSelector,
    MutualInfoSelector,
    NetworkClassifier,
    NetworkRegressor,
    PearsonSelector,
    RandomSelector,
    RelevanceSelector,
    ReliefFSelector,
    ReliefSelector,
    ResampleBoostClassifier,
    SequentialSelector,
    SiftForestClassifier,
    SiftForestRegressor,
    SSVSelector,
    SSVTreeClassifier,
    SubsetBaggingClassifier,
    SubsetBaggingRegressor,
    SURFSelector,
)

# Every public estimator stands here, with the parameters the checks run with.
ESTIMATORS = [
    CartClassifier(),
    CartClassifier(criterion="gini", max_features="sqrt", n_thresholds=3, missing="fractional"),
    SiftForestClassifier(n_estimators=5),
    SiftForestClassifier(n_estimators=5, bootstrap=False, max_features=None),
    SiftForestClassifier(
        n_estimators=5, max_features=1, feature_sampling="two-stage+confidence", update_every=2
    ),
    CartRegressor(),
    CartRegressor(max_features="sqrt", n_thresholds=3, missing="fractional"),
    SiftForestRegressor(n_estimators=5),
    SiftForestRegressor(n_estimators=5, bootstrap=False, max_features=None),
    SiftForestRegressor(
        n_estimators=5, max_features=1, feature_sampling="two-stage+confidence", update_every=2
    ),
    ForestGainSelector(n_estimators=5),
    ForestGainSelector(n_estimators=5, max_features=1, redundancy=0.5, weighting="unit"),
    C45Classifier(),
    C45Classifier(criterion="gain", pruning=None),
    RelevanceSelector(n_estimators=20),
    RelevanceSelector(n_estimators=20, error="none", n_shadows=6, minimal=True, n_half_samples=1),
    SSVTreeClassifier(cv=3),
    SSVTreeClassifier(pruning=None),
    SSVSelector(),
    SSVSelector(mode="tree"),
    ReliefSelector(),
    ReliefFSelector(n_neighbors=3),
    ReliefFSelector(n_neighbors=3, sigma=2.0),
    SURFSelector(),
    MultiSURFSelector(),
    PearsonSelector(),
    FScoreSelector(),
    InfoGainSelector(),
    InfoGainSelector(ratio=True),
    CFSSelector(),
    CFSSelector(search="backward", locally_predictive=True),
    MutualInfoSelector(),
    MutualInfoSelector(scheme="jmi", n_bins=3, missing="pairwise"),
    AggregateSelector([FScoreSelector(), SSVSelector(mode="tree")]),
    AggregateSelector([FScoreSelector(), InfoGainSelector(), ReliefFSelector()]),
    BestRankerSelector([FScoreSelector(), InfoGainSelector()], estimator=CartClassifier(), cv=3),
    BestRankerSelector([FScoreSelector(), ReliefFSelector()], estimator=GaussianNB(), rule="best"),
    RandomSelector(),
    CumulativeGainSelector(),
    CumulativeGainSelector(oblivious=True),
    FeatureBoostingSelector(),
    FeatureBoostingSelector(order=2, n_iterations=20),
    SubsetBaggingClassifier(n_estimators=5, distribution=RandomSelector()),
    SubsetBaggingClassifier(GaussianNB(), n_estimators=5),
    ResampleBoostClassifier(n_estimators=3),
    ResampleBoostClassifier(GaussianNB(), n_estimators=3, update="arc-x4"),
    ContributionSelector(n_estimators=5, max_error_increase=0.02),
    ContributionSelector(mode="batch", n_estimators=5, max_error_increase=0.02, protect_pairs=True),
    SequentialSelector(SiftForestClassifier(3)),
    SequentialSelector(CartClassifier(), direction="forward", cv=2),
    SequentialSelector(GaussianNB(), direction="plus-minus", cv=2, scoring="balanced_accuracy"),
    NetworkClassifier(),
    GEFSClassifier(population=5, n_candidates=12, n_offspring=4),
    GEFSClassifier(CartClassifier(max_depth=4), population=5, n_candidates=9, n_offspring=4),
    GEFSSelector(population=5, n_candidates=25, epochs=15),
    NetworkRegressor(),
    SubsetBaggingRegressor(n_estimators=5),
    SubsetBaggingRegressor(LinearRegression(), n_estimators=5),
    GEFSRegressor(population=5, n_candidates=12, n_offspring=4),
    GEFSRegressor(CartRegressor(max_depth=4), population=5, n_candidates=9, n_offspring=4),
]
MODELS = {
    GaussianNB: LinearRegression(tol=1e-12),  # sparse rows are solved step by step
    CartClassifier: CartRegressor(),
    SiftForestClassifier: SiftForestRegressor(),
}


def for_quantity(selector):
    """Tell a selector that y is a quantity, and give it a regressor in place of a classifier."""
    selector = clone(selector).set_params(task="regression")
    model = getattr(selector, "estimator", None)
    if type(model) in MODELS:
        size = {"n_estimators": model.n_estimators} if isinstance(model, SiftForestClassifier) else {}
        selector.set_params(estimator=clone(MODELS[type(model)]).set_params(**size), scoring=None)
    return selector


# Selectors that take a quantity.
FOR_QUANTITIES = [
    for_quantity(estimator)
    for estimator in ESTIMATORS
    if "task" in estimator.get_params()
    and estimator._for_quantities is None
    and not getattr(estimator, "ratio", False)
    and not (isinstance(estimator, AggregateSelector) and isinstance(estimator.selectors[1], SSVSelector))
]
SEARCHES = ContributionSelector | SequentialSelector
BAGGED = SubsetBaggingClassifier | SubsetBaggingRegressor | ResampleBoostClassifier

# As they come, with many trees and candidates, and further settings: for scikit-learn's checks alone.
# AggregateSelector has no defaults.
TYPES = dict.fromkeys(type(estimator) for estimator in ESTIMATORS if type(estimator) is not AggregateSelector)
KNOWN = {repr(estimator) for estimator in ESTIMATORS}
MORE = [make() for make in TYPES if repr(make()) not in KNOWN] + [
    C45Classifier(criterion="gain", pruning=None, collapse=False, cut_penalty=False, min_samples_leaf=1),
    C45Classifier(group_categories=True, min_value_gap=1e-5),
    SiftForestClassifier(5, max_features=1, constant_draw="leaf"),
    FScoreSelector(1),
    CFSSelector(0.5, search="forward", locally_predictive=True, convention="weka"),
    CFSSelector(1, search="backward"),
    CFSSelector(search="best-first-backward", task="classification"),
    CFSSelector(search="best-first-bidirectional", task="regression", convention="weka"),
    AggregateSelector([("a", PearsonSelector()), ("b", InfoGainSelector())], 0.5, rule="rra"),
    AggregateSelector([PearsonSelector(), FScoreSelector(), InfoGainSelector()], rule="vote", top=2),
    AggregateSelector([PearsonSelector(), FScoreSelector(), InfoGainSelector()], 1, rule="borda", top=1),
]


def bootstraps(estimator):
    return getattr(getattr(estimator, "estimator", estimator), "bootstrap", False)


def expected_failures(estimator):
    """Return {name of a check: why it may fail}; no other may."""
    small = isinstance(estimator, ContributionSelector) and estimator.n_estimators < 100
    small = small and estimator.task == "auto"  # forests for a quantity agree even so
    if small or bootstraps(estimator):
        # As in scikit-learn's forests: rows are drawn alike whatever their weight, which then multiplies how
        # often a row was drawn. Dropping or repeating rows changes what is drawn, so the trees are others;
        # but on the table of that check large forests of ContributionSelector agree on what to drop.
        reason = "a bootstrap of weighted rows is not one of repeated rows"
    elif isinstance(
        estimator, SubsetBaggingClassifier | SubsetBaggingRegressor | ResampleBoostClassifier
    ) or (
        isinstance(estimator, FeatureBoostingSelector)
        and (estimator.order == 2 or estimator.task == "regression")
    ):
        reason = "rows are drawn by weight: other rows are drawn when they are repeated instead"
    elif isinstance(
        estimator, NetworkClassifier | NetworkRegressor | GEFSClassifier | GEFSRegressor | GEFSSelector
    ):
        reason = (
            "rows are taken one after another, or drawn: two rows move a model twice, one of weight 2 once"
        )
    elif isinstance(estimator, ForestGainSelector | RelevanceSelector) or (
        isinstance(estimator, MutualInfoSelector) and estimator.scheme == "mrmr"
    ):
        # Of two equal rows either may be shuffled away, of one row of weight 2 only both.
        reason = "chance is found by shuffling rows: a row of weight 2 moves as one, two rows move apart"
    else:
        return {}
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}


@pytest.mark.filterwarnings("ignore:No feature passed the rule")  # some checks have nothing but noise
@parametrize_with_checks(ESTIMATORS + FOR_QUANTITIES, expected_failed_checks=expected_failures)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:No feature passed the rule")
@parametrize_with_checks(MORE, expected_failed_checks=expected_failures)
def test_checks_of_scikit_learn_of_defaults_and_further_settings(estimator, check):
    check(estimator)


def test_every_public_estimator_is_checked():
    public = [getattr(foresift, name) for name in foresift.__all__]
    types = [item for item in public if isinstance(item, type) and issubclass(item, BaseEstimator)]
    estimators = {item for item in types if hasattr(item, "fit")}
    assert estimators == {type(estimator) for estimator in ESTIMATORS}


@pytest.fixture
def iris():
    return load_iris(return_X_y=True, as_frame=True)


def fitted(estimator, X, y, **options):
    estimator = clone(estimator)
    seeds = [name for name in estimator.get_params() if name.split("__")[-1] == "random_state"]
    return estimator.set_params(**dict.fromkeys(seeds, 0)).fit(X, y, **options)


def answer(estimator, X):
    methods = ("predict_proba", "transform", "predict")
    return getattr(estimator, next(name for name in methods if hasattr(estimator, name)))(X)


def is_selector(estimator):
    return isinstance(estimator, SelectorMixin)


def with_model(estimator):
    """Steps of a pipeline that ends in a model: the estimator itself, or a tree behind it."""
    return [clone(estimator), CartClassifier()] if is_selector(estimator) else [clone(estimator)]


def needs_whole_numbers(estimator):
    """Tell whether missing numbers are refused, as SSV and naive Bayes have no rule for them."""
    members = getattr(estimator, "selectors", [getattr(estimator, "estimator", estimator)])
    return any(
        isinstance(member, SSVSelector | SSVTreeClassifier | GaussianNB | LinearRegression)
        for member in members
    )


def name_of(estimator):
    return repr(estimator).split("\n")[0]


EVERY = pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
SELECTORS = [estimator for estimator in ESTIMATORS if is_selector(estimator)]
CLASSIFIERS = [estimator for estimator in ESTIMATORS if is_classifier(estimator)]
EVERY_SELECTOR = pytest.mark.parametrize("estimator", SELECTORS, ids=name_of)
REGRESSORS = [estimator for estimator in ESTIMATORS if is_regressor(estimator)]
EVERY_CLASSIFIER = pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name_of)


def test_every_estimator_is_one_or_the_other():
    assert len(SELECTORS) + len(CLASSIFIERS) + len(REGRESSORS) == len(ESTIMATORS)


@EVERY
def test_parameters_round_trip(estimator):
    parameters = estimator.get_params(deep=False)
    again = type(estimator)(**parameters)
    assert again.get_params(deep=False) == parameters
    assert repr(clone(estimator).get_params(deep=False)) == repr(
        parameters
    )  # inner estimators are cloned too
    assert repr(vars(clone(estimator))) == repr(vars(estimator))  # __init__ only assigns
    if not isinstance(estimator, AggregateSelector):  # which needs selectors
        assert type(estimator)().set_params(**parameters).get_params(deep=False) == parameters
    with pytest.raises(ValueError, match="Invalid parameter"):
        clone(estimator).set_params(no_such_parameter=1)


@EVERY
def test_copies_of_a_fitted_estimator(estimator, iris):
    X, y = iris
    model = fitted(estimator, X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(answer(again, X), answer(model, X))
    assert vars(again).keys() == vars(model).keys()
    fresh = clone(model)
    assert not [name for name in vars(fresh) if name.endswith("_")]
    assert np.array_equal(answer(fresh.fit(X, y), X), answer(model, X))


@EVERY
def test_names_and_number_of_columns(estimator, iris):
    X, y = iris
    for frame in (X, pl.from_pandas(X)):
        model = fitted(estimator, frame, y)
        assert model.n_features_in_ == 4
        assert model.feature_names_in_.tolist() == X.columns.tolist()
        with pytest.raises(ValueError, match="feature names"):
            answer(model, frame[list(X.columns[::-1])])
    plain = fitted(estimator, X.to_numpy(), y)
    assert not hasattr(plain, "feature_names_in_")
    assert fitted(estimator, X, y).fit(X.to_numpy(), y).n_features_in_ == 4


@EVERY
def test_refitting_forgets_the_names(estimator, iris):
    X, y = iris
    assert not hasattr(fitted(estimator, X, y).fit(X.to_numpy(), y), "feature_names_in_")


@EVERY
def test_in_a_pipeline(estimator, iris):
    X, y = iris
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), *with_model(estimator))
    model = fitted(pipeline, X, y)
    assert model.score(X, y) > 0.9
    assert model[1].feature_names_in_.tolist() == X.columns.tolist()
    assert fitted(make_pipeline(SimpleImputer(), *with_model(estimator)), X, y).score(X, y) > 0.9


@EVERY
@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_after_transformers_of_any_output(estimator, output, iris):
    X, y = iris
    pipeline = make_pipeline(StandardScaler().set_output(transform=output), *with_model(estimator))
    assert fitted(pipeline, X, y).score(X, y) > 0.9


@EVERY_CLASSIFIER
def test_in_a_grid_search(estimator, iris):
    X, y = iris
    criteria = ["gain_ratio", "gain"] if isinstance(estimator, C45Classifier) else ["entropy", "gini"]
    default = getattr(type(estimator)(), "estimator", None)
    grid = {"max_depth": [1, None], "criterion": criteria, "estimator": [DummyClassifier(), default]}
    grid = {name: values for name, values in grid.items() if name in estimator.get_params()}
    before = vars(estimator).copy()
    search = GridSearchCV(estimator, grid, cv=3).fit(X, y)
    assert search.best_params_.get("max_depth") is None
    assert search.best_params_.get("estimator", default) == default
    assert search.best_score_ > 0.9
    assert vars(estimator) == before


@pytest.mark.parametrize("estimator", REGRESSORS, ids=name_of)
def test_regressors_in_a_grid_search_with_routed_weights(estimator):
    X, y = load_diabetes(return_X_y=True)
    weights = (y < 150).astype(float)
    with config_context(enable_metadata_routing=True):
        asked = clone(estimator).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        grid = {"max_depth": [1, 3]} if "max_depth" in asked.get_params() else {"random_state": [0, 1]}
        search = GridSearchCV(asked, grid, cv=3).fit(X, y, sample_weight=weights)
    assert search.best_params_.keys() == grid.keys()
    if not isinstance(estimator, NetworkRegressor | GEFSRegressor | SubsetBaggingRegressor):
        assert search.predict(X).max() < 150  # a tree predicts nothing beyond the rows that count


@EVERY_SELECTOR
def test_selectors_in_a_grid_search(estimator, iris):
    X, y = iris
    seed = {"random_state": 0} if "random_state" in estimator.get_params() else {}
    select = clone(estimator).set_params(**seed).set_output(transform="pandas")
    before = vars(select).copy()
    pipeline = Pipeline([("select", select), ("tree", CartClassifier())])
    X = X.assign(noise=np.random.default_rng(0).normal(size=len(X)))
    grid = [{"select__n_features_to_select": [1, 2, 0.8, None]}, {"tree__max_depth": [1]}]
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert "tree__max_depth" not in search.best_params_
    assert search.best_score_ > 0.9
    assert vars(select) == before
    best = search.best_estimator_["select"]
    assert search.best_estimator_["tree"].feature_names_in_.tolist() == best.get_feature_names_out().tolist()


@EVERY_CLASSIFIER
def test_weights_are_routed(estimator, iris):
    X, y = iris
    weights = (y != 2).astype(float)  # the third class does not count
    with config_context(enable_metadata_routing=True):
        asked = clone(estimator).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asked)
        assert set(pipeline.fit(X, y, sample_weight=weights).predict(X)) == {0, 1}
        assert cross_validate(asked, X, y, params={"sample_weight": weights})["test_score"].mean() < 0.7
        ignored = clone(estimator).set_fit_request(sample_weight=False)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=True), ignored)
        assert set(pipeline.fit(X, y, sample_weight=weights).predict(X)) == {0, 1, 2}
        with pytest.raises(ValueError, match="sample_weight"):
            make_pipeline(clone(estimator)).fit(X, y, sample_weight=weights)


@EVERY_SELECTOR
def test_weights_are_routed_to_selectors(estimator, iris):
    X, y = iris
    weights = (y != 2).astype(float)
    # A score that is but a place in the ranking may stay, a gain never does.
    what = "gains_" if isinstance(estimator, CumulativeGainSelector) else "scores_"
    plain = getattr(fitted(estimator, X, y), what).tolist()
    weighted = getattr(fitted(estimator, X, y, sample_weight=weights), what).tolist()
    assert (weighted == plain) == isinstance(estimator, RandomSelector)
    with config_context(enable_metadata_routing=True):
        for wanted, scores in [(True, weighted), (False, plain)]:
            asked = clone(estimator).set_fit_request(sample_weight=wanted)
            tree = CartClassifier().set_fit_request(sample_weight=not wanted)
            pipeline = fitted(make_pipeline(asked, tree), X, y, sample_weight=weights)
            assert getattr(pipeline[0], what).tolist() == scores
            assert (set(pipeline.predict(X)) == {0, 1}) == (not wanted)
        tree = CartClassifier().set_fit_request(sample_weight=True)
        with pytest.raises(ValueError, match="sample_weight"):
            make_pipeline(clone(estimator), tree).fit(X, y, sample_weight=weights)


@EVERY
def test_the_inputs_stay_as_they_are(estimator, iris):
    X, y = iris
    X = X.astype(np.float32)
    if not needs_whole_numbers(estimator):
        X.iloc[::7, 1] = np.nan
    weights = np.random.default_rng(0).random(len(y))
    copies = X.copy(), y.copy(), weights.copy()
    model = fitted(estimator, X, y, sample_weight=weights)
    answer(model, X)
    pd.testing.assert_frame_equal(X, copies[0])
    pd.testing.assert_series_equal(y, copies[1])
    assert np.array_equal(weights, copies[2])


@EVERY_SELECTOR
@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_output_of_selectors(estimator, output, iris):
    X, y = iris
    model = fitted(estimator, X, y).set_output(transform=output)
    frame = model.transform(X)
    assert isinstance(frame, {"pandas": pd.DataFrame, "polars": pl.DataFrame}[output])
    assert list(frame.columns) == model.get_feature_names_out().tolist() == list(X.columns[model.support_])


@EVERY_SELECTOR
def test_what_every_selector_tells(estimator, iris):
    X, y = iris
    model = fitted(estimator, X, y)
    assert model.scores_.shape == model.ranking_.shape == model.support_.shape == (4,)
    assert sorted(model.ranking_) == [1, 2, 3, 4]
    greedy = isinstance(estimator, MutualInfoSelector)  # its scores are those of different steps
    assert greedy or model.ranking_[np.nanargmax(model.scores_)] == 1
    assert np.array_equal(model.get_support(), model.support_)
    assert np.array_equal(model.transform(X), X.to_numpy()[:, model.support_])
    for k in (1, 2, 4):
        few = fitted(clone(estimator).set_params(n_features_to_select=k), X, y)
        assert few.support_.sum() == k
        # Those that end at that number have scores of what they saw.
        # BestRankerSelector may choose another ranker for another number.
        if not greedy and not isinstance(estimator, SEARCHES | BestRankerSelector):
            assert few.scores_.tolist() == model.scores_.tolist()
