"""Contribution ratios against a literal walk, Algorithms 2 and 3 against plain loops, pairs of features."""

from dataclasses import replace

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
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from foresift import CartClassifier, ContributionSelector, SiftForestClassifier, commonality, pairs
from foresift.importance import co_occurrence, contribution_ratio, node_tables
from foresift.pairs import CoOccurrence, count_pairs
from foresift.subset_forests import SubsetForests

CV = StratifiedKFold(3, shuffle=True, random_state=0)
FOREST = SiftForestClassifier(15, max_features="sqrt", n_thresholds=10, min_gain=1e-12, random_state=4)


@pytest.fixture(scope="module")
def data():
    return make_classification(200, 8, n_informative=3, n_redundant=1, shuffle=False, random_state=3)


def xor(seed, n=400, p=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    return X, np.where(rng.random(n) < 0.05, ~y, y).astype(int)


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
    forest = ours._estimator()
    assert (forest.max_features, forest.n_thresholds, forest.n_estimators) == ("sqrt", 10, 15)
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
    with pytest.raises(NotFittedError):  # nothing of the fit before
        selector.transform(X[:, :5])


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


# --- pairs ---


@pytest.mark.parametrize("seed", range(3))
def test_pairs_are_those_of_the_literal_twin(seed):
    X, y = xor(seed, p=5)
    for forest in (
        SiftForestClassifier(12, max_features=2, random_state=seed),
        RandomForestClassifier(12, max_depth=4, random_state=seed),
    ):
        fitted = forest.fit(X, y)
        got = count_pairs(node_tables(fitted), 5, most_free=0)
        observed, expected, statistic = twin.pairs(node_tables(fitted), 5)
        assert got.observed == pytest.approx(observed)
        # Where a depth leaves a pair no room, the fit comes near only slowly.
        assert got.expected == pytest.approx(expected, rel=1e-3, abs=1e-3)
        assert got.statistic == pytest.approx(statistic, rel=1e-2, abs=1e-2, nan_ok=True)
        assert np.array_equal(got.observed, got.observed.T)
        # Every depth keeps its sums, so what is expected adds up to what is there.
        assert got.expected.sum() == pytest.approx(got.observed.sum())


def test_xor_is_found_and_noise_is_not():
    forest = SiftForestClassifier(300, max_features="sqrt", random_state=0)
    false = 0
    for seed in range(5):
        got = co_occurrence(forest.fit(*xor(seed)))
        assert got.significant()[0, 1]
        assert got.lift[0, 1] > 1.05
        assert got.pvalues[0, 1] == got.pvalues.min() < 1e-3
        rng = np.random.default_rng(seed)
        false += (
            co_occurrence(forest.fit(rng.normal(size=(300, 8)), rng.integers(0, 2, 300))).significant().any()
        )
    assert false <= 1


def test_statistic_of_noise_has_a_spread_of_one():
    spread = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        forest = SiftForestClassifier(100, max_features=3, random_state=seed)
        got = co_occurrence(forest.fit(rng.normal(size=(200, 10)), rng.integers(0, 2, 200)))
        spread.append(got.statistic[np.triu_indices(10, 1)])
    assert 0.85 < np.std(spread) < 1.2  # 270 pairs


def test_a_pair_does_not_make_pairs_of_the_others():
    # Sums of rows and columns are fixed: where the two follow each other, noise must follow noise.
    X, y = xor(0, p=5)
    tables = SiftForestClassifier(400, max_features=2, random_state=0).fit(X, y).node_tables_
    naive, freed = (count_pairs(tables, 5, most_free=n) for n in (0, 20))
    assert naive.significant().sum() > 2
    assert np.argwhere(np.triu(freed.significant())).tolist() == [[0, 1]]
    others = np.ix_([2, 3, 4], [2, 3, 4])
    assert np.nanmax(freed.statistic[others]) < np.nanmax(naive.statistic[others])


def test_pairs_have_no_diagonal_and_few_trees_are_refused():
    X, y = xor(0, p=4)
    got = co_occurrence(SiftForestClassifier(10, random_state=0).fit(X, y))
    assert not got.significant(0.999).diagonal().any()
    assert (np.diagonal(got.observed) == 0).all()
    assert np.isnan(np.diagonal(got.lift)).all()
    with pytest.raises(ValueError, match="at least two are needed"):
        co_occurrence(CartClassifier().fit(X, y))


def test_columns_without_pairs_cost_nothing(monkeypatch):
    """4,000 columns, of which 6 are in use: the matrices of every tree have 36 cells, not 16 million."""
    X, y = xor(0, p=6)
    few = SiftForestClassifier(60, max_features=3, random_state=0).fit(X, y)
    wide = np.zeros((400, 4000))
    places = [5, 17, 400, 2000, 2001, 3999]
    wide[:, places] = X
    tables = [replace(table, nodes=table.nodes.copy()) for table in few.node_tables_]
    for table in tables:
        inner = ~table.is_leaf
        table.nodes["feature"][inner] = np.array(places)[table.nodes["feature"][inner]]
    widths = []

    def seen(edges, p, *rest):
        widths.append(p)
        return compare_with_chance(edges, p, *rest)

    compare_with_chance = pairs._against_chance
    monkeypatch.setattr(pairs, "_against_chance", seen)
    got, expected = count_pairs(tables, 4000, most_free=0), count_pairs(few.node_tables_, 6, most_free=0)
    assert widths == [6, 6]  # of the wide trees, and of the others
    for name in ("observed", "expected", "statistic", "pvalues"):
        part = getattr(got, name)[np.ix_(places, places)]
        np.testing.assert_array_equal(part, getattr(expected, name))
    assert got.observed.sum() == expected.observed.sum()
    with pytest.raises(ValueError, match="too many pairs; at most 4,000"):
        count_pairs(tables, 4001)


def test_trees_without_pairs():
    X, y = np.zeros((20, 3)), np.repeat([0, 1], 10)
    got = co_occurrence(SiftForestClassifier(5).fit(X, y))
    assert not got.observed.any()
    assert not got.significant().any()
    assert (got.pvalues == 1).all()


class Grown:
    """Stands for the forests of a selector: ratios and pairs as told."""

    ratios = np.array([30.0, 5.0, 20.0, 4.0, 15.0, 2.0, 24.0])
    together = ((1, 2), (3, 5), (3, 1))

    def __init__(self, *args):
        pass

    def read(self, features, with_pairs):
        p = len(self.ratios)
        pvalues = np.ones((p, p))
        for i, j in self.together:
            if {i, j} <= set(features.tolist()):
                pvalues[i, j] = pvalues[j, i] = 0.0
        ratios = np.where(np.isin(np.arange(p), features), self.ratios, 0.0)
        return ratios, CoOccurrence(pvalues, pvalues, pvalues, pvalues) if with_pairs else None


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("mode", ["batch", "sequential"])
def test_a_feature_of_a_pair_counts_with_its_partner(mode, step, monkeypatch):
    """Columns are dropped one by one, each counting with the partners that are there: a literal loop."""
    monkeypatch.setattr("foresift.contribution.SubsetForests", Grown)
    left, gone = list(range(7)), []
    while len(left) > 1:
        counts = {}
        for j in left:
            partners = [k for pair in Grown.together if j in pair for k in pair if k in left]
            counts[j] = (max(Grown.ratios[[j, *partners]]), Grown.ratios[j])
        gone.append(min(left, key=counts.get))
        left.remove(gone[-1])
    assert gone == [5, 3, 4, 1, 2, 6]  # by ratio alone: 5, 3, 1, 4, 2, 6
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 7)), rng.integers(0, 2, 30)
    selector = ContributionSelector(1, mode=mode, step=step, protect_pairs=True, cv=None).fit(X, y)
    assert np.argsort(-selector.ranking_).tolist() == [*gone, *left]
    assert selector.get_support(indices=True).tolist() == [0]
    assert selector.path_.features == [
        tuple(sorted({*range(7)} - {*gone[:n]})) for n in dict.fromkeys([*range(0, 6, step), 6])
    ]
    assert (np.diff(selector.scores_[[*gone, *left]]) >= 0).all()


def test_the_weaker_half_of_a_pair_stays_as_long_as_the_other():
    ranks = {True: [], False: []}
    for seed in range(6):
        X, y = xor(seed, n=300, p=20)
        forest = SiftForestClassifier(200, max_features="sqrt", n_thresholds=10, random_state=seed)
        for protect, worst in ranks.items():
            options = {"estimator": forest, "mode": "batch", "cv": None, "protect_pairs": protect}
            selector = ContributionSelector(2, **options).fit(X, y)
            worst.append(selector.ranking_[:2].max())
            if protect and selector.pairs_.significant()[0, 1]:
                assert abs(np.diff(selector.ranking_[:2])) == 1
    assert np.mean(ranks[True]) < np.mean(ranks[False])


@pytest.mark.parametrize("mode", ["batch", "sequential"])
def test_a_pair_that_tells_only_together_outlives_noise(mode):
    kept = {True: 0, False: 0}
    for seed in range(4):
        X, y = xor(seed, n=400, p=12)
        forest = SiftForestClassifier(100, max_features="sqrt", n_thresholds=10, random_state=seed)
        for protect in kept:
            options = {"estimator": forest, "mode": mode, "protect_pairs": protect, "random_state": seed}
            selector = ContributionSelector(2, **options).fit(X, y)
            kept[protect] += selector.support_[:2].all()
            assert selector.ranking_[selector.support_].max() == 2
    assert kept[True] >= 3 > kept[False]


def test_a_weak_pair_does_not_cost_the_best_feature():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6))
    mixed = (X[:, 1] > 0) ^ (X[:, 2] > 0)
    y = np.where(rng.random(600) < 0.3, mixed, X[:, 0] > 0).astype(int)
    forest = SiftForestClassifier(400, max_features=2, random_state=0)
    for cv in (None, 3):
        selector = ContributionSelector(
            1, estimator=forest, protect_pairs=True, mode="batch", cv=cv, random_state=0
        )
        selector.fit(X, y)
        assert selector.pairs_.significant()[1, 2]
        assert selector.get_support(indices=True).tolist() == [0]
        assert selector.ranking_[0] == 1


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
