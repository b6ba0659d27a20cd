"""Weights of rows and classes of any size: every estimator is right, or refuses them in a sentence."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone, is_classifier

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
from foresift.data.weights import check_sample_weight, scale_up

N = 60
TREES = [
    CartClassifier(),
    CartClassifier(criterion="gini", missing="fractional"),
    SiftForestClassifier(8, feature_sampling="two-stage+confidence", oob_score=True, random_state=0),
    C45Classifier(),
    SSVTreeClassifier(cv=3, random_state=0),
]
ESTIMATORS = [
    *TREES,
    SiftForestClassifier(5, feature_sampling="soft", random_state=0),
    ForestGainSelector(bound="exact", n_estimators=5, random_state=0),
    ForestGainSelector(bound="exact", n_estimators=5, weighting="unit", random_state=0),
    RelevanceSelector(n_estimators=10, random_state=0),
    SSVSelector(),
    SSVSelector(mode="tree"),
    ReliefSelector(),
    ReliefFSelector(n_neighbors=3),
    SURFSelector(),
    MultiSURFSelector(),
    PearsonSelector(),
    FScoreSelector(),
    InfoGainSelector(),
    InfoGainSelector(ratio=True),
    CFSSelector(),
    MutualInfoSelector(random_state=0),
    MutualInfoSelector(1.0, scheme="cmim"),
    AggregateSelector([FScoreSelector(), ReliefFSelector()]),
    BestRankerSelector(
        [FScoreSelector(), InfoGainSelector()], estimator=CartClassifier(), cv=2, random_state=0
    ),
    RandomSelector(random_state=0),
    CumulativeGainSelector(),
    FeatureBoostingSelector(n_iterations=10, random_state=0),
    SubsetBaggingClassifier(n_estimators=3, oob_score=True, random_state=0),
    ResampleBoostClassifier(n_estimators=3, random_state=0),
    ContributionSelector(n_estimators=3, random_state=0),
    SequentialSelector(CartClassifier(), cv=2, random_state=0),
    NetworkClassifier(epochs=5, random_state=0),
    GEFSClassifier(population=3, n_candidates=5, epochs=3, random_state=0),
    GEFSClassifier(CartClassifier(max_depth=3), population=3, n_candidates=5, random_state=0),
    GEFSSelector(population=3, n_candidates=5, epochs=3, random_state=0),
    CartRegressor(),
    SiftForestRegressor(5, oob_score=True, random_state=0),
    NetworkRegressor(epochs=5, random_state=0),
    SubsetBaggingRegressor(n_estimators=3, oob_score=True, random_state=0),
    GEFSRegressor(population=3, n_candidates=5, epochs=3, random_state=0),
]

rng = np.random.default_rng(0)
X = rng.normal(size=(N, 4))
X[:, 3] = rng.integers(0, 3, N)
Y = (X[:, 0] + rng.normal(size=N) > 0).astype(int)  # to a regressor a quantity of two values
ORDINARY = rng.uniform(0.5, 2.0, N)


def beside(weight, where):
    """Return ones, and another weight somewhere."""
    weights = np.ones(N)
    weights[where] = weight
    return weights


def outcome(estimator, sample_weight, **parameters):
    """Scores, or probabilities of the training rows; a warning is an error, but for the sentences of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        model = clone(estimator).set_params(**parameters).fit(X, Y, sample_weight=sample_weight)
        if hasattr(model, "scores_"):
            return model.scores_
        return model.predict_proba(X) if is_classifier(model) else model.predict(X)


by_name = pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)


def test_every_public_estimator_is_here():
    public = [getattr(foresift, name) for name in foresift.__all__]
    types = [item for item in public if isinstance(item, type) and issubclass(item, BaseEstimator)]
    estimators = {item for item in types if hasattr(item, "fit")}
    assert estimators == {type(estimator) for estimator in ESTIMATORS}


@by_name
def test_equal_weights_below_one_are_as_good_as_one(estimator):
    wanted = outcome(estimator, np.ones(N))
    for weight in (2.0**-30, 2.0**-997, 2.0**-1074):  # 1e-9, 7e-301 and the least there is
        assert np.array_equal(outcome(estimator, np.full(N, weight)), wanted, equal_nan=True)


@by_name
def test_equal_weights_beyond_counting_are_all_the_same(estimator):
    wanted = outcome(estimator, np.full(N, 2.0**47))
    assert np.isfinite(wanted).all()
    for weight in (2.0**60, 2.0**332, 2.0**1023):  # 1e18, 9e99, 9e307
        assert np.array_equal(outcome(estimator, np.full(N, weight)), wanted)


@by_name
def test_weights_of_any_size_are_relative(estimator):
    small, large = ORDINARY / ORDINARY.mean() / 4, ORDINARY * 2.0**47
    assert np.array_equal(outcome(estimator, small * 2.0**-900), outcome(estimator, small), equal_nan=True)
    assert np.array_equal(outcome(estimator, large * 2.0**900), outcome(estimator, large))


EXTREME = {
    **{f"all {weight:g}": np.full(N, weight) for weight in (1e-310, 1e-300, 1e6, 1e12, 1e18, 1e19, 1e100)},
    **{f"one {weight:g}": beside(weight, 7) for weight in (5e-324, 1e-300, 1e-20, 1e6, 1e12)},
    **{f"half {weight:g}": beside(weight, slice(None, None, 2)) for weight in (5e-324, 1e-18, 1e12)},
    **{f"class {weight:g}": beside(weight, Y == 1) for weight in (5e-324, 1e-18, 1e10)},
    "decaying": np.logspace(-323, 0, N),
    "decaying from 1e-100": np.logspace(-320, -100, N),
    **{
        f"zeros and {weight:g}": ORDINARY * weight * (np.arange(N) % 3 > 0)
        for weight in (1e-300, 1e18, 1e100)
    },
}


@by_name
@pytest.mark.parametrize("case", EXTREME)
def test_extreme_weights(estimator, case):
    try:
        found = outcome(estimator, EXTREME[case])
    except ValueError as error:  # columns of one value among the rows that matter, for one
        assert any(word in str(error) for word in ("weight", "class", "column"))  # noqa: PT017
        return
    # Of a forest's gain there may be no estimate, which it says.
    allowed = isinstance(estimator, ForestGainSelector | RelevanceSelector)
    assert allowed or not np.isnan(found).any()


@by_name
@pytest.mark.parametrize("weight", [1e14, 1e100, 1e308])
@pytest.mark.parametrize("where", [7, slice(None, None, 2)])
def test_weights_that_drown_others_are_refused(estimator, weight, where):
    with pytest.raises(ValueError, match=r"range from 1 to 1e\+.*lost in rounding .*Bring them closer"):
        outcome(estimator, beside(weight, where))


@pytest.mark.parametrize("estimator", TREES, ids=repr)
def test_class_weights_of_any_size(estimator):
    wanted = outcome(estimator, None, class_weight={0: 1, 1: 1})
    for weight in (5e-324, 2.0**-997):
        assert np.array_equal(outcome(estimator, None, class_weight={0: weight, 1: weight}), wanted)
    large = outcome(estimator, np.full(N, 2.0**1023), class_weight={0: 2.0**160, 1: 2.0**160})
    assert np.array_equal(large, outcome(estimator, np.full(N, 2.0**47)))
    for weights in ({0: 1e-300, 1: 1}, {0: 1e8, 1: 1}, {0: 1e50, 1: 1e45}):
        for rows in (None, np.full(N, 1e-300)):
            assert np.isfinite(outcome(estimator, rows, class_weight=weights)).all()
    with pytest.raises(ValueError, match="lost in rounding"):
        outcome(estimator, None, class_weight={0: 1e50, 1: 1})


@pytest.mark.parametrize(
    "estimator", [ReliefSelector(), ReliefFSelector(), PearsonSelector(), FScoreSelector()]
)
def test_a_class_of_hardly_any_weight_still_counts(estimator):
    wanted = outcome(estimator, beside(1e-9, Y == 1))
    for weight in (1e-15, 1e-18, 1e-100, 1e-300):
        assert outcome(estimator, beside(weight, Y == 1)) == pytest.approx(wanted, abs=1e-3)


def test_ordinary_weights_stay_to_the_last_bit():
    for mean in (1e-6, 1.0, 1e6):
        for weights in (np.full(N, mean), mean * ORDINARY / ORDINARY.mean(), mean * beside(1e-300, 7)):
            assert check_sample_weight(weights, N) is weights
    assert scale_up(ORDINARY) is ORDINARY
