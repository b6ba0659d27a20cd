"""Pairs of features that split below each other: counted as a literal walk does, and kept together."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import reference_murata as twin
from power import few_or_many
from sklearn.ensemble import RandomForestClassifier

from foresift import CartClassifier, ContributionSelector, SiftForestClassifier
from foresift.engine.co_occurrence import CoOccurrence, count_pairs
from foresift.importance import co_occurrence, node_tables


def xor(seed, n=400, p=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    return X, np.where(rng.random(n) < 0.05, ~y, y).astype(int)


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


# The slow run finds a rate of 0.28 on noise: at a level of 0.05, six of 40 tables may have a pair.
@few_or_many(2, 40)
def test_xor_is_found_and_noise_is_not(n_tables):
    forest = SiftForestClassifier(300, max_features="sqrt", random_state=0)
    false = 0
    for seed in range(n_tables):
        got = co_occurrence(forest.fit(*xor(seed)))
        assert got.significant()[0, 1]
        assert got.lift[0, 1] > 1.05
        assert got.pvalues[0, 1] == got.pvalues.min() < 1e-3
        rng = np.random.default_rng(seed)
        false += (
            co_occurrence(forest.fit(rng.normal(size=(300, 8)), rng.integers(0, 2, 300))).significant().any()
        )
    assert false <= max(1, 0.15 * n_tables)


# The slow run of 4500 pairs finds a spread of 0.8 or 1.2.
@few_or_many(6, 100)
def test_statistic_of_noise_has_a_spread_of_one(n_tables):
    spread = []
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        forest = SiftForestClassifier(100, max_features=3, random_state=seed)
        got = co_occurrence(forest.fit(rng.normal(size=(200, 10)), rng.integers(0, 2, 200)))
        spread.append(got.statistic[np.triu_indices(10, 1)])
    assert 0.85 < np.std(spread) < (1.2 if n_tables < 100 else 1.15)


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


def test_columns_without_pairs_cost_nothing():
    """1,000 columns, of which 6 are in use: the matrices of every tree have 36 cells, not a million."""
    X, y = xor(0, p=6)
    few = SiftForestClassifier(60, max_features=3, random_state=0).fit(X, y)
    places = [5, 17, 400, 500, 501, 999]
    tables = [replace(table, nodes=table.nodes.copy()) for table in few.node_tables_]
    for table in tables:
        inner = ~table.is_leaf
        table.nodes["feature"][inner] = np.array(places)[table.nodes["feature"][inner]]
    expected = count_pairs(few.node_tables_, 6, most_free=0)
    tracemalloc.start()
    try:
        got = count_pairs(tables, 1000, most_free=0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.2 * sum(matrix.nbytes for matrix in vars(got).values())  # no more than the answer
    for name in ("observed", "expected", "statistic", "pvalues"):
        part = getattr(got, name)[np.ix_(places, places)]
        np.testing.assert_array_equal(part, getattr(expected, name))
    assert got.observed.sum() == expected.observed.sum()
    with pytest.raises(ValueError, match="too many pairs: select at most 4,000"):
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
    monkeypatch.setattr("foresift.selectors.search.contribution.SubsetForests", Grown)
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


# The slow run finds a power of 0.55 or less.
@pytest.mark.parametrize("mode", ["batch", "sequential"])
@few_or_many(4, 20)
def test_a_pair_that_tells_only_together_outlives_noise(mode, n_tables):
    kept = {True: 0, False: 0}
    for seed in range(n_tables):
        X, y = xor(seed, n=400, p=12)
        forest = SiftForestClassifier(100, max_features="sqrt", n_thresholds=10, random_state=seed)
        for protect in kept:
            options = {"estimator": forest, "mode": mode, "protect_pairs": protect, "random_state": seed}
            selector = ContributionSelector(2, **options).fit(X, y)
            kept[protect] += selector.support_[:2].all()
            assert selector.ranking_[selector.support_].max() == 2
    assert kept[True] >= 0.75 * n_tables > kept[False]


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
