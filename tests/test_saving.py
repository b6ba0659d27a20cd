"""What estimators are saved as: plain state, which skops reads without trusting any type but public ones."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.pipeline import make_pipeline
from test_contract import ESTIMATORS, FOR_QUANTITIES, answer, fitted, name_of

import foresift
from foresift import (
    AggregateSelector,
    BestRankerSelector,
    C45Classifier,
    CartClassifier,
    CFSSelector,
    ForestGainSelector,
    GEFSClassifier,
    InfoGainSelector,
    NetworkClassifier,
    RandomSelector,
    RelevanceSelector,
    ReliefFSelector,
    SiftForestClassifier,
    SSVTreeClassifier,
    SubsetBaggingClassifier,
    SubsetSizeCV,
    select,
)
from foresift.data.plain_state import _CLASSES, PlainEstimator

skops = pytest.importorskip("skops.io")

PUBLIC = {
    f"{item.__module__}.{item.__name__}"
    for item in (getattr(foresift, name) for name in foresift.__all__)
    if isinstance(item, type) and issubclass(item, BaseEstimator)
}
# State that the settings of the contract do not leave behind.
MORE = [
    RelevanceSelector(n_estimators=20, n_half_samples=2, redundancy=0.5),
    RelevanceSelector(n_estimators=20, keep=[0], feature_groups=[[1, 2]]),
    InfoGainSelector("cv"),
    InfoGainSelector(SubsetSizeCV(CartClassifier(), cv=3)),
    ForestGainSelector(n_estimators=5, n_features_to_select="cv"),
    SiftForestClassifier(5, feature_sampling="soft", update_every=2, max_features=1),
    SiftForestClassifier(5, feature_sampling="confidence", update_every=2, max_features=1),
    SiftForestClassifier(20, feature_sampling=InfoGainSelector(2), oob_score=True),
    SubsetBaggingClassifier(n_estimators=20, distribution=RandomSelector(), oob_score=True),
    AggregateSelector([CFSSelector(), RelevanceSelector(n_estimators=20)]),
    BestRankerSelector([CFSSelector(), RelevanceSelector(n_estimators=20)], cv=3),
    make_pipeline(ReliefFSelector(2), C45Classifier()),
]


def same(one, other):
    """Tell whether two states are equal, to the last bit and in all types."""
    if isinstance(one, PlainEstimator):
        return type(one) is type(other) and same(one.__getstate__(), other.__getstate__())
    if isinstance(one, BaseEstimator):
        return type(one) is type(other) and same(vars(one), vars(other))
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        if one.dtype == object:
            return one.shape == other.shape and same(one.tolist(), other.tolist())
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other or (one != one and other != other)


def check_saved(model, X):
    data = skops.dumps(model)
    types = skops.get_untrusted_types(data=data)
    assert set(types) <= PUBLIC
    again = skops.loads(data, trusted=types)
    assert np.array_equal(answer(again, X), answer(model, X))
    assert same(again, model)
    assert same(pickle.loads(pickle.dumps(model)), model)
    assert vars(again).keys() == vars(model).keys()
    assert skops.dumps(again) is not None
    return again


@pytest.mark.filterwarnings("ignore:No feature passed the rule")
@pytest.mark.parametrize("estimator", [*ESTIMATORS, *MORE], ids=name_of)
def test_classes(estimator):
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = y if is_regressor(estimator) else np.array(["a", "b", "c"])[y]
    check_saved(fitted(estimator, X, y), X)


@pytest.mark.parametrize("estimator", FOR_QUANTITIES, ids=name_of)
def test_quantities(estimator):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    check_saved(fitted(estimator, X[:150], y[:150]), X)


@pytest.mark.parametrize(
    "estimator",
    [
        C45Classifier(),
        CartClassifier(missing="fractional"),
        SSVTreeClassifier(),
        SiftForestClassifier(5),
        NetworkClassifier(),
        GEFSClassifier(population=5, n_candidates=12, n_offspring=4),
        SubsetBaggingClassifier(n_estimators=3),
        RelevanceSelector(n_estimators=20),
        InfoGainSelector(3),
    ],
    ids=name_of,
)
def test_categories_and_dates(estimator):
    rng = np.random.default_rng(0)
    words = np.array(["red", "blue", "a word with ümlaut"], dtype=object)[rng.integers(0, 3, 90)]
    X = pd.DataFrame(
        {
            "word": words,
            "flag": rng.random(90) < 0.5,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, 90), unit="D"),
            "number": rng.normal(size=90),
        }
    )
    y = np.where((X["day"] > "2024-02-10") ^ (X["word"] == "red"), "yes", "no")
    again = check_saved(fitted(estimator, X, y), X)
    assert again.schema_.units[2] == "seconds since 1970"
    assert again.schema_.kinds == ["categorical", "categorical", "date", "numeric"]


def test_a_loaded_forest_grows_on():
    X, y = load_iris(return_X_y=True)
    forest = SiftForestClassifier(3, warm_start=True, random_state=0).fit(X, y)
    data = skops.dumps(forest)
    again = skops.loads(data, trusted=skops.get_untrusted_types(data=data))
    for one in (forest, again):
        one.set_params(n_estimators=6).fit(X, y)
    assert np.array_equal(again.predict_proba(X), forest.predict_proba(X))


def test_the_selector_of_a_selection_can_be_saved():
    X, y = load_iris(return_X_y=True, as_frame=True)
    check_saved(select(X, y, check=False, random_state=0).selector_, X)


def test_state_of_other_versions():
    model = CartClassifier().fit([[0.0], [1.0]], [0, 1])
    old = CartClassifier()
    old.__setstate__(dict(vars(model)))  # pickles made before held the objects themselves
    assert old.predict([[1.0]]) == [1]
    state = model.__getstate__()
    assert state["schema_"]["__foresift_class__"] == "Schema"
    with pytest.raises(ValueError, match="has a 'Forest', which this version of foresift does not know"):
        clone(model).__setstate__({**state, "schema_": {"__foresift_class__": "Forest"}})


def test_names_of_saved_classes_are_kept():
    """A name that disappears breaks files: keep it, or add a class of that name that reads them."""
    assert set(_CLASSES) >= {
        *(
            "ClassTask",
            "CoOccurrence",
            "CompleteSchema",
            "ConfidenceSampling",
            "Estimate",
            "GainSums",
            "InputCoding",
        ),
        *(
            "InputCoding",
            "Member",
            "ModelReader",
            "Network",
            "NodeTable",
            "Population",
            "QuantityTask",
            "Record",
        ),
        *("Sampling", "Scaling", "Schema", "SearchPath", "SizeCurve", "SoftSampling", "Stability", "Step"),
        "Units",
    }
