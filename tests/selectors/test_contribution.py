"""Contribution ratios against a literal walk, Algorithms 2 and 3 against plain loops."""

import numpy as np
import pytest
import reference_murata as twin
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from foresift import CartClassifier, ContributionSelector, SiftForestClassifier, commonality
from foresift.importance import contribution_ratio, node_tables
from foresift.selectors.search.subset_forests import SubsetForests

CV = StratifiedKFold(3, shuffle=True, random_state=0)
FOREST = SiftForestClassifier(15, max_features="sqrt", n_thresholds=10, min_gain=1e-12, random_state=4)


@pytest.fixture(scope="module")
def data():
    return make_classification(200, 8, n_informative=3, n_redundant=1, shuffle=False, random_state=3)


# --- eq. 5 ---


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_ratios_are_those_of_a_literal_walk(missing, data):
    X, y = data[0].copy(), data[1]
    X[np.random.default_rng(0).random(X.shape) < missing] = np.nan
    models = [
        FOREST,
        CartClassifier(),
        SiftForestClassifier(9, bootstrap=False),
        SiftForestClassifier(3, max_depth=2),
    ]
    for model in models:
        fitted = clone(model).fit(X, y)
        ratios = contribution_ratio(fitted)
        assert ratios == pytest.approx(twin.contribution_ratio(node_tables(fitted), 8), abs=1e-10)
        assert ratios.sum() == pytest.approx(100)
        assert (ratios >= 0).all()


@pytest.mark.parametrize("model", [RandomForestClassifier(20), ExtraTreesClassifier(20, bootstrap=True)])
def test_ratios_of_scikit_learn_are_those_of_its_arrays(model, data):
    X, y = data
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    for fit in ({}, {"sample_weight": weights}):
        forest = clone(model).set_params(random_state=0).fit(X, y, **fit)
        assert contribution_ratio(forest) == pytest.approx(
            twin.contribution_ratio_of_sklearn(forest), abs=1e-10
        )
        assert contribution_ratio(forest).sum() == pytest.approx(100)


def test_drawn_rows_count_as_often_as_they_were_drawn():
    # One split per tree: its rows are those of the root, 150 draws of 150 rows.
    X, y = load_iris(return_X_y=True)
    forest = SiftForestClassifier(30, max_depth=1, random_state=0).fit(X, y)
    assert [float(table.nodes["size"][0]) for table in forest.node_tables_] == [150.0] * 30
    chosen = np.bincount([table.nodes["feature"][0] for table in forest.node_tables_], minlength=4)
    assert contribution_ratio(forest) == pytest.approx(100 * chosen / 30)


def test_trees_without_a_split_are_left_out():
    X, y = np.zeros((20, 3)), np.repeat([0, 1], 10)
    assert contribution_ratio(SiftForestClassifier(5).fit(X, y)).tolist() == [0, 0, 0]
    X[0, 1] = 1.0  # a bootstrap without the first row has nothing to split
    forest = SiftForestClassifier(40, max_features=None, random_state=0).fit(X, y)
    leaves = [table.n_leaves for table in forest.node_tables_]
    assert min(leaves) == 1 < max(leaves)
    assert contribution_ratio(forest).tolist() == [0, 100, 0]


def test_columns_of_bagging_are_those_of_the_whole_model(data):
    X, y = data
    bagging = BaggingClassifier(DecisionTreeClassifier(), 10, max_features=0.5, random_state=0).fit(X, y)
    ratios = contribution_ratio(bagging)
    assert ratios.sum() == pytest.approx(100)
    assert ratios == pytest.approx(twin.contribution_ratio(node_tables(bagging), 8))
    with pytest.raises(TypeError, match="neither a decision tree nor an ensemble"):
        contribution_ratio(GaussianNB().fit(X, y))


# --- Algorithms 2 and 3 ---


def literal_path(X, y, forest, *, sequential):
    """Fit, read, drop, on copies of the columns."""
    features = list(range(X.shape[1]))
    ratios = contribution_ratio(clone(forest).fit(X, y))
    order = dict(enumerate(ratios))
    path = []
    while features:
        path.append((tuple(features), cross_val_score(forest, X[:, features], y, cv=CV).mean()))
        if sequential:
            ratios = contribution_ratio(clone(forest).fit(X[:, features], y))
            order = dict(zip(features, ratios, strict=True))
        features.remove(min(features, key=lambda j: (order[j], -j)))
    return path


@pytest.mark.parametrize("mode", ["sequential", "batch"])
@pytest.mark.parametrize(
    "forest", [FOREST, RandomForestClassifier(7, random_state=0)], ids=["ours", "sklearn"]
)
def test_path_is_the_literal_one(forest, mode, data):
    X, y = data
    selector = ContributionSelector(mode=mode, max_error_increase=None, estimator=forest, cv=CV).fit(X, y)
    expected = literal_path(X, y, forest, sequential=mode == "sequential")
    assert selector.path_.features == [features for features, _ in expected]
    assert selector.path_.scores == pytest.approx([score for _, score in expected])
    assert selector.contributions_ == pytest.approx(contribution_ratio(clone(forest).fit(X, y)))
    assert selector.full_error_ == pytest.approx(1 - expected[0][1])


def test_default_forest_is_that_of_algorithm_1(data):
    X, y = data
    ours = ContributionSelector(3, n_estimators=15, cv=CV, random_state=0).fit(X, y)
    forest = SiftForestClassifier(15, max_features="sqrt", n_thresholds=10, min_gain=1e-12)
    same = ContributionSelector(3, estimator=forest, cv=CV, random_state=0).fit(X, y)
    assert same.path_ == ours.path_
    noise = np.random.default_rng(1).integers(0, 2, len(y))
    tables = clone(forest).set_params(random_state=0).fit(np.round(X), noise).node_tables_
    assert all((table.nodes["gain"][~table.is_leaf] > 0).all() for table in tables)


@pytest.mark.parametrize(("increase", "relative"), [(0.02, False), (0.1, False), (0.2, True)])
@pytest.mark.parametrize("mode", ["sequential", "batch"])
def test_the_last_set_before_the_limit_is_kept(mode, increase, relative, data):
    X, y = data
    options = {"mode": mode, "estimator": FOREST, "cv": CV, "relative": relative}
    selector = ContributionSelector(max_error_increase=increase, **options).fit(X, y)
    whole = ContributionSelector(max_error_increase=None, **options).fit(X, y).path_
    limit = whole.errors[0] * (1 + increase) if relative else whole.errors[0] + increase
    n_good = int((whole.errors > limit + 1e-12).argmax()) if (whole.errors > limit).any() else len(whole)
    assert selector.path_ == whole[: n_good + 1]
    assert selector.support_.sum() == whole.n_features[n_good - 1]


def test_patience_looks_further(data):
    X, y = data
    options = {"estimator": FOREST, "cv": CV, "max_error_increase": 0.0}
    hasty, patient = (ContributionSelector(patience=n, **options).fit(X, y) for n in (0, 8))
    assert len(hasty.path_) < len(patient.path_) == 8
    good = patient.path_.errors <= patient.full_error_ + 1e-12
    assert patient.support_.sum() == patient.path_.n_features[good].min()
    assert hasty.support_.sum() >= patient.support_.sum()


def test_steps_of_several_features(data):
    X, y = data
    options = {"estimator": FOREST, "cv": None}
    assert ContributionSelector(2, step=3, **options).fit(X, y).path_.n_features.tolist() == [8, 5, 2]
    assert ContributionSelector(3, step=3, **options).fit(X, y).path_.n_features.tolist() == [8, 5, 3]
    assert ContributionSelector(1, step=0.5, **options).fit(X, y).path_.n_features.tolist() == [8, 4, 2, 1]


def test_scores_tell_the_order(data):
    X, y = data
    batch = ContributionSelector(3, mode="batch", estimator=FOREST, cv=None).fit(X, y)
    assert np.array_equal(batch.scores_, batch.contributions_)
    assert set(batch.get_support(indices=True)) == set(np.argsort(batch.contributions_)[-3:])
    sequential = ContributionSelector(3, estimator=FOREST, cv=None).fit(X, y)
    gone = [
        (set(a) - set(b)).pop()
        for a, b in zip(sequential.path_.features, sequential.path_.features[1:], strict=False)
    ]
    assert sequential.ranking_[gone].tolist() == [8, 7, 6, 5, 4]
    assert np.isnan(sequential.path_.scores).all()


def test_the_same_for_any_number_of_threads(data):
    X, y = data
    one, two = (ContributionSelector(n_estimators=20, n_jobs=n, random_state=3).fit(X, y) for n in (1, 2))
    assert one.path_ == two.path_
    assert np.array_equal(one.scores_, two.scores_)


def test_commonality_of_the_two_modes(data):
    X, y = data
    options = {"max_error_increase": None, "estimator": FOREST, "cv": CV}
    one, other = (ContributionSelector(mode=m, **options).fit(X, y) for m in ("sequential", "batch"))
    rates, shares = commonality(one.path_, other.path_)
    assert rates.tolist() == pytest.approx(1 - np.arange(8, 0, -1) / 8)
    assert shares[0] == 1
    assert ((shares >= 0) & (shares <= 1)).all()


def test_progress_and_ctrl_c(data, capsys, monkeypatch):
    X, y = data
    whole = ContributionSelector(1, estimator=FOREST, cv=CV, verbose=1).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert [int(line.split()[1]) for line in lines] == list(range(8, 0, -1))
    ContributionSelector(4, estimator=FOREST, cv=CV, verbose=1, step=5e-324).fit(X, y)
    assert len(capsys.readouterr().err.splitlines()) == 5  # each step drops one
    calls = iter(range(100))
    read = SubsetForests.read

    def interrupted(self, *args):
        if next(calls) % 100 == 3:
            raise KeyboardInterrupt
        return read(self, *args)

    monkeypatch.setattr(SubsetForests, "read", interrupted)
    selector = ContributionSelector(1, estimator=FOREST, cv=CV, return_partial=True).fit(X, y)
    assert selector.interrupted_
    assert selector.path_ == whole.path_[:3]
    assert tuple(selector.get_support(indices=True)) == whole.path_.features[2]
    calls = iter(range(100))
    selector.set_params(return_partial=False)
    with pytest.raises(KeyboardInterrupt):
        selector.fit(X, y)
    assert selector.path_ == whole.path_[:3]
    calls = iter(range(3, 100))
    with pytest.raises(KeyboardInterrupt):
        selector.fit(X[:, :5], y)
    assert selector.path_ == whole.path_[:3]  # nothing was found yet, so the fit before is kept
    assert selector.transform(X).shape[1] == len(whole.path_.features[2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features_to_select": 0}, "n_features_to_select"),
        ({"n_features_to_select": "cv"}, "chooses its own size; use None, max_error_increase, or give"),
        ({"n_features_to_select": 9}, "more than the 8 columns"),
        ({"cv": None}, "Without cv there are no errors"),
        ({"scoring": lambda model, X, y: float("nan")}, "scorer returned nan"),
        ({"cv": 120}, "fewer than the 120 folds"),
        ({"step": 0}, "step"),
        ({"step": 1.5}, "step"),
        ({"max_error_increase": -0.1}, "max_error_increase"),
        ({"mode": "both"}, "mode"),
        ({"n_estimators": 1, "protect_pairs": True}, "at least two are needed"),
    ],
)
def test_bad_input(options, message, data):
    with pytest.raises(ValueError, match=message):
        ContributionSelector(**options).fit(*data)


def test_an_estimator_without_trees_is_refused(data):
    with pytest.raises(TypeError, match="GaussianNB is neither"):
        ContributionSelector(estimator=GaussianNB()).fit(*data)


def test_trees_are_read_before_the_folds(data):
    """An estimator whose trees are private says so after one fit, not after a cross-validation."""
    fits = []

    class Counting(HistGradientBoostingClassifier):
        def fit(self, X, y, sample_weight=None):
            fits.append(len(y))
            return super().fit(X, y, sample_weight)

    with pytest.raises(TypeError, match=r"neither|private"):
        ContributionSelector(estimator=Counting(max_iter=2), n_jobs=1).fit(*data)
    assert fits == [200]
