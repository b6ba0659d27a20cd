"""Columns that must stay, and columns that stand or fall as one, in every public selector."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, SelectorMixin, f_classif

import foresift
from foresift import (
    AggregateSelector,
    BestRankerSelector,
    CartClassifier,
    CartRegressor,
    CFSSelector,
    ContributionSelector,
    CumulativeGainSelector,
    FeatureBoostingSelector,
    ForestGainSelector,
    FScoreSelector,
    GEFSSelector,
    InfoGainSelector,
    MultiSURFSelector,
    MutualInfoSelector,
    PearsonSelector,
    RandomSelector,
    RelevanceSelector,
    ReliefFSelector,
    ReliefSelector,
    SequentialSelector,
    SSVSelector,
    SURFSelector,
)

GEFS = {"population": 4, "n_candidates": 8, "n_offspring": 4, "epochs": 5}
FILTERS = [
    InfoGainSelector(),
    InfoGainSelector(ratio=True),
    PearsonSelector(),
    FScoreSelector(),
    ReliefSelector(),
    ReliefFSelector(),
    SURFSelector(),
    MultiSURFSelector(),
    SSVSelector(),
    ForestGainSelector(n_estimators=20),
    CumulativeGainSelector(),
    CumulativeGainSelector(oblivious=True),
    MutualInfoSelector(scheme="mim"),
    MutualInfoSelector(),
    MutualInfoSelector(scheme="jmi"),
    MutualInfoSelector(scheme="cmim"),
    CFSSelector(),
]
OTHERS = [
    SSVSelector(mode="tree"),
    ForestGainSelector(n_estimators=10, redundancy=0.5),
    RelevanceSelector(n_estimators=10),
    RelevanceSelector(n_estimators=10, minimal=True),
    MutualInfoSelector(scheme="disr", missing="pairwise"),
    CFSSelector(search="backward", locally_predictive=True),
    CFSSelector(search="best-first-bidirectional", convention="weka"),
    CFSSelector(search="best-first-backward"),
    CFSSelector(search="forward"),
    RandomSelector(),
    AggregateSelector([FScoreSelector(), InfoGainSelector()]),
    BestRankerSelector([FScoreSelector(), InfoGainSelector()], estimator=CartClassifier(max_depth=3), cv=3),
    AggregateSelector([FScoreSelector(), SelectKBest(f_classif, k=2)], rule="vote"),
    AggregateSelector([FScoreSelector(), InfoGainSelector(), ReliefFSelector()], rule="rra"),
    FeatureBoostingSelector(),
    FeatureBoostingSelector(order=2, n_iterations=20),
    GEFSSelector(**GEFS),
    ContributionSelector(n_estimators=5),
    ContributionSelector(mode="batch", n_estimators=5, protect_pairs=True),
    SequentialSelector(CartClassifier(max_depth=3)),
    SequentialSelector(CartClassifier(max_depth=3), direction="forward", floating=True),
    SequentialSelector(CartClassifier(max_depth=3), direction="plus-minus"),
    SequentialSelector(CartClassifier(max_depth=3), direction="exhaustive"),
]
SEARCHES = (SequentialSelector, ContributionSelector)
GROUPS = {"device": "device_*", "pair": ["left", "right"]}
# kept: 0; device: 1, 4, 6; pair: 2, 5; alone: 3, 7
NAMES = ["age", "device_a", "left", "signal", "device_b", "right", "device_c", "noise"]


def table(n_rows=120, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, len(NAMES))), columns=NAMES)
    level = X["age"] + X["device_b"] + 1.5 * X["signal"] + rng.normal(scale=0.5, size=n_rows)
    return X, level


def for_quantity(selector):
    """The same for a quantity; None if there is no such thing."""
    selector = clone(selector)
    members = [getattr(member, "score_func", None) for member in getattr(selector, "selectors", [])]
    if selector._for_quantities is not None or getattr(selector, "ratio", False) or f_classif in members:
        return None
    if isinstance(getattr(selector, "estimator", None), CartClassifier):
        selector.set_params(estimator=CartRegressor(max_depth=3))
    return selector


def fitted(selector, X, y, **parameters):
    selector = clone(selector).set_params(**parameters)
    if "random_state" in selector.get_params():
        selector.set_params(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return selector.fit(X, y)


def name_of(selector):
    return repr(selector).split("\n")[0]


CLASSES = [(selector, "classes") for selector in FILTERS + OTHERS]
QUANTITIES = [(for_quantity(s), "quantity") for s in FILTERS + OTHERS if for_quantity(s) is not None]
EVERY = pytest.mark.parametrize(
    ("selector", "kind"), CLASSES + QUANTITIES, ids=lambda x: x if isinstance(x, str) else name_of(x)
)


def data(kind):
    X, level = table()
    return X, (level > 0).astype(int) if kind == "classes" else level


def test_every_public_selector_is_here():
    public = [getattr(foresift, name) for name in foresift.__all__]
    selectors = {item for item in public if isinstance(item, type) and issubclass(item, SelectorMixin)}
    assert selectors == {type(selector) for selector in FILTERS + OTHERS}


def check(model, n_free):
    """What holds of any fit with these names, kept columns and groups."""
    support, ranking, scores = (
        dict(zip(NAMES, values.tolist(), strict=True))
        for values in (model.support_, model.ranking_, model.scores_)
    )
    kept = [NAMES[j] for j in np.flatnonzero(model.units_.kept)]
    assert all(support[name] and ranking[name] == 0 and np.isnan(scores[name]) for name in kept)
    for group in (["device_a", "device_b", "device_c"], ["left", "right"]):
        for values in (support, ranking, scores):
            assert len({repr(values[name]) for name in group}) == 1
    assert sorted(set(model.ranking_[~model.units_.kept])) == list(range(1, n_free + 1))


def n_free_kept(model):
    return len(set(model.units_.free_of_column[model.support_].tolist()) - {-1})


@EVERY
def test_kept_columns_and_groups(selector, kind):
    X, y = data(kind)
    model = fitted(selector, X, y, keep=["age"], feature_groups=GROUPS)
    check(model, 4)
    assert model.get_feature_names_out().tolist() == list(X.columns[model.support_])
    again = fitted(selector, X, y, keep=[0], feature_groups=[[1, 4, 6], [2, 5]])
    assert np.array_equal(again.support_, model.support_)
    assert np.array_equal(again.scores_, model.scores_, equal_nan=True)


@EVERY
@pytest.mark.parametrize("n_wanted", [1, 3, 0.5])
def test_the_number_of_features_counts_units(selector, kind, n_wanted):
    X, y = data(kind)
    model = fitted(selector, X, y, keep=["age"], feature_groups=GROUPS, n_features_to_select=n_wanted)
    check(model, 4)
    assert n_free_kept(model) == (2 if n_wanted == 0.5 else n_wanted)
    assert model.subset_of_size(0).tolist() == model.units_.kept.tolist() or isinstance(selector, SEARCHES)


@EVERY
def test_a_kept_column_keeps_its_group(selector, kind):
    X, y = data(kind)
    model = fitted(selector, X, y, keep=["left", "noise"], feature_groups=GROUPS, n_features_to_select=1)
    check(model, 3)
    assert model.support_[[2, 5, 7]].all()
    assert n_free_kept(model) == 1


@EVERY
def test_without_them_nothing_changes(selector, kind):
    X, y = data(kind)
    plain = fitted(selector, X, y)
    for nothing in ({"keep": [], "feature_groups": {}}, {"feature_groups": [[name] for name in NAMES]}):
        model = fitted(selector, X, y, **nothing)
        assert np.array_equal(model.scores_, plain.scores_, equal_nan=True)
        assert np.array_equal(model.ranking_, plain.ranking_)
        assert np.array_equal(model.support_, plain.support_)


@pytest.mark.parametrize("selector", FILTERS + OTHERS, ids=name_of)
def test_parameters_round_trip(selector):
    given = clone(selector).set_params(keep=["age"], feature_groups=GROUPS)
    parameters = clone(given).get_params(deep=False)
    assert (parameters["keep"], parameters["feature_groups"]) == (["age"], GROUPS)
    assert type(selector)(**parameters).get_params(deep=False) == parameters


@pytest.mark.parametrize("selector", FILTERS, ids=name_of)
def test_a_large_group_of_noise_does_not_beat_a_relevant_column(selector):
    rng = np.random.default_rng(0)
    category = rng.integers(0, 30, 300)
    X = np.column_stack([rng.normal(size=(300, 3)), category[:, np.newaxis] == np.arange(30)])
    y = (X[:, 1] + rng.normal(size=300) > 0).astype(int)
    model = fitted(selector, X, y, feature_groups=[list(range(3, 33))], n_features_to_select=2)
    assert model.ranking_[1] == 1
    group = [fitted(selector, X, rng.permutation(y), feature_groups=[range(3, 33)]) for _ in range(4)]
    assert sum(model.ranking_[3] == 1 for model in group) <= 2


@pytest.mark.parametrize(
    "selector", [InfoGainSelector(), MutualInfoSelector(), ReliefFSelector()], ids=name_of
)
def test_sizes_by_cross_validation_count_units(selector):
    X, y = data("classes")
    plan = foresift.SubsetSizeCV(CartClassifier(max_depth=3), cv=3)
    model = fitted(selector, X, y, keep=["age"], feature_groups=GROUPS, n_features_to_select=plan)
    check(model, 4)
    assert model.size_curve_.sizes.tolist() == [0, 1, 2, 3, 4]
    assert n_free_kept(model) == model.size_curve_.chosen
    everything = fitted(selector, X, y, keep=["age", "device_a", "left", "signal"], feature_groups=GROUPS,
                        n_features_to_select=plan)  # fmt: skip
    assert everything.size_curve_.chosen == 0
    assert not everything.support_[7]
    grouped = fitted(selector, X, y, feature_groups=GROUPS, n_features_to_select=plan)
    assert grouped.size_curve_.sizes.tolist() == [1, 2, 3, 4, 5]


def test_searches_keep_columns_in_every_set():
    X, y = data("classes")
    for direction in ("forward", "backward"):
        search = SequentialSelector(CartClassifier(max_depth=3), direction=direction)
        model = fitted(search, X, y, keep=["age"], feature_groups=GROUPS)
        assert all(0 in features for features in model.path_.features)
        assert all({1, 4, 6} <= set(some) or not {1, 4, 6} & set(some) for some in model.path_.features)
        assert (0,) in model.path_.features
        assert model.path_.n_features_in == 8


def test_no_best_column_is_forced_beside_kept_ones():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.integers(0, 2, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = RelevanceSelector(n_estimators=20, keep=[1], random_state=0).fit(X, y)
    assert model.get_support(indices=True).tolist() == [1]


def test_redundant_with_a_kept_column():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    X[:, 1] = X[:, 0]
    y = (X[:, 0] + X[:, 2] + rng.normal(scale=0.3, size=200) > 0).astype(int)
    assert fitted(MutualInfoSelector(1, keep=[0]), X, y).get_support(indices=True).tolist() == [0, 2]
    assert fitted(CFSSelector(1, keep=[0]), X, y).get_support(indices=True).tolist() == [0, 2]
    forest = ForestGainSelector(redundancy=0.5, keep=[0], n_features_to_select=1)
    assert fitted(forest, X, y).get_support(indices=True).tolist() == [0, 2]


def test_more_than_there_are():
    X, y = data("classes")
    with pytest.raises(ValueError, match="n_features_to_select=5 is more than the 4 columns and groups"):
        InfoGainSelector(5, keep=["age"], feature_groups=GROUPS).fit(X, y)
