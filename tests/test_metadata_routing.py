"""Metadata routing: weights reach meta-estimators as they do without it, and nothing else does."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline

from foresift import (
    AggregateSelector,
    BestRankerSelector,
    CartClassifier,
    ContributionSelector,
    FeatureBoostingSelector,
    FScoreSelector,
    GEFSClassifier,
    GEFSSelector,
    InfoGainSelector,
    ResampleBoostClassifier,
    SequentialSelector,
    SiftForestClassifier,
    SubsetBaggingClassifier,
    SubsetSizeCV,
)

TINY = {"population": 4, "n_candidates": 8, "epochs": 3, "random_state": 0}
META = [
    AggregateSelector([InfoGainSelector(), FScoreSelector()]),
    BestRankerSelector(
        [InfoGainSelector(), FScoreSelector()], estimator=CartClassifier(max_depth=2), random_state=0
    ),
    ContributionSelector(estimator=SiftForestClassifier(5, max_features="sqrt"), cv=2, random_state=0),
    FeatureBoostingSelector(n_iterations=5, estimator=CartClassifier(max_depth=2), random_state=0),
    GEFSClassifier(**TINY),
    GEFSSelector(**TINY),
    ResampleBoostClassifier(CartClassifier(max_depth=1), 3, random_state=0),
    SequentialSelector(GaussianNB(), 2, cv=2, random_state=0),
    SubsetBaggingClassifier(CartClassifier(max_depth=2), 3, subset_size=2, random_state=0),
]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 4))
Y = (X[:, 0] + RNG.normal(size=80) > 0).astype(int)
WEIGHTS = RNG.integers(0, 3, size=80).astype(float)


def learned(model):
    return model.predict_proba(X) if is_classifier(model) else model.scores_


@pytest.mark.parametrize("meta", META, ids=lambda meta: type(meta).__name__)
def test_weights_come_through_a_pipeline_if_they_are_requested(meta):
    expected = learned(clone(meta).fit(X, Y, sample_weight=WEIGHTS))
    with config_context(enable_metadata_routing=True):
        asked = clone(meta).set_fit_request(sample_weight=True)
        model = Pipeline([("meta", asked)]).fit(X, Y, sample_weight=WEIGHTS)["meta"]
        assert np.array_equal(learned(model), expected)
        unasked = clone(meta).set_fit_request(sample_weight=False)
        with pytest.raises(TypeError, match="sample_weight"):
            Pipeline([("meta", unasked)]).fit(X, Y, sample_weight=WEIGHTS)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            Pipeline([("meta", clone(meta))]).fit(X, Y, sample_weight=WEIGHTS)
        if is_classifier(meta):
            with pytest.raises(TypeError, match="groups"):
                clone(meta).fit(X, Y, groups=Y)
        else:
            with pytest.raises(UnsetMetadataPassedError, match="groups"):
                Pipeline([("meta", clone(meta))]).fit(X, Y, groups=np.arange(80) // 4)


GROUPS, TIME = np.arange(80) // 4, np.arange(80) % 4


@pytest.mark.parametrize(
    "selector",
    [
        InfoGainSelector(SubsetSizeCV(cv=4)),
        SequentialSelector(GaussianNB(), cv=GroupKFold(4), random_state=0),
        ContributionSelector(estimator=SiftForestClassifier(5), cv=4, random_state=0),
        AggregateSelector([RFECV(LogisticRegression(), cv=GroupKFold(4)), InfoGainSelector()]),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_groups_and_times_come_through_a_pipeline_if_they_are_requested(selector):
    def seen(fitted):
        curve = getattr(fitted, "size_curve_", None)
        return fitted.scores_.tolist(), None if curve is None else curve.scores.tolist()

    expected = seen(clone(selector).fit(X, Y, groups=GROUPS, time=TIME))
    with config_context(enable_metadata_routing=True):
        asked = clone(selector).set_fit_request(groups=True, time=True)
        model = Pipeline([("step", asked)]).fit(X, Y, groups=GROUPS, time=TIME)["step"]
        assert seen(model) == expected
