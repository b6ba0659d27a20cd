"""ForestGainSelector for a quantity: gains and chance by literal loops over nodes, odd tables, weights."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import reference
from forest_gain_cases import BOUNDS, same
from power import few_or_many, highest
from sklearn.base import clone
from sklearn.datasets import make_friedman1

from foresift import ForestGainSelector, InfoGainSelector, SiftForestRegressor
from foresift.criteria import expected_reduction, node_complexity

LEARNED = ["scores_", "thresholds_", "expected_scores_", "pvalues_", "intervals_", "ranking_", "support_"]
QUIET = pytest.mark.filterwarnings("ignore:No feature passed the rule", "ignore:.*never a split candidate")


def table_with_ties(n=50, seed=0):
    """Columns of 2, 3 and 6 values and one without ties; a quantity with ties."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, k, n) for k in (2, 3, 6)] + [rng.normal(size=n)]).astype(float)
    return X, np.round(X[:, 2] + X[:, 3] + rng.normal(size=n), 1)


def share_of_best_split(x, y, nominal):
    """Share of the variance that the best division in two explains, of all that there are."""
    values = np.unique(x)
    if len(values) < 2:
        return 0.0
    sides = [values[:k] for k in range(1, len(values))]
    if nominal:
        sides = [some for k in range(1, len(values)) for some in combinations(values, k)]
    within = []
    for side in sides:
        left = np.isin(x, side)
        within.append(left.sum() * y[left].var() + (~left).sum() * y[~left].var())
    return 1 - min(within) / (len(y) * y.var())


def each_candidate(selector, X, y, nominal=None):
    """Rows of the node, its weight, the column and its share of the variance, of every split candidate."""
    names = ("n_estimators", "max_features", "random_state", "nominal_splits")
    options = {name: getattr(selector, name) for name in names} | {"categorical_features": nominal}
    forest = SiftForestRegressor(bootstrap=False, record_tried=True, correct_nominal=False, **options)
    forest.fit(X, y)
    encoded = forest.schema_.encode(X, forest)
    for table in forest.node_tables_:
        at_node = reference.weights_at_nodes(table, encoded, np.ones(len(y))) > 0
        for node, column, _ in table.tried.tolist():
            rows = at_node[node]
            weight = float(node_complexity(np.unique(y[rows], return_counts=True)[1]))
            yield rows, weight if selector.weighting == "complexity" else 1.0, column


@pytest.mark.parametrize("nominal", [None, [1, 2]])
@pytest.mark.parametrize("options", [{}, {"max_features": 1, "weighting": "unit"}, {"max_features": None}])
@QUIET
def test_scores_are_mean_shares_of_the_variance_at_the_nodes(options, nominal):
    X, y = table_with_ties()
    selector = ForestGainSelector(
        task="regression", n_estimators=4, random_state=3, categorical_features=nominal, **options
    ).fit(X, y)
    sums, weights = np.zeros((2, 4))
    for rows, weight, column in each_candidate(selector, X, y, nominal):
        of_these = nominal is not None and column in nominal
        sums[column] += weight * share_of_best_split(X[rows, column], y[rows], of_these)
        weights[column] += weight
    assert selector.scores_ == same(sums / weights)
    assert np.array_equal(selector.support_, selector.scores_ > selector.thresholds_)


@pytest.mark.parametrize("nominal", [None, [0, 1, 2]])
@QUIET
def test_thresholds_are_expected_shares_at_the_same_nodes(nominal):
    X, y = table_with_ties(40)
    splits = "subsets" if nominal is None else "multiway"
    selector = ForestGainSelector(
        task="regression",
        n_estimators=3,
        n_permutations=1000,
        nominal_splits=splits,
        categorical_features=nominal,
        random_state=1,
    ).fit(X, y)
    sums, weights = np.zeros((2, 4))
    for rows, weight, column in each_candidate(selector, X, y, nominal):
        if weight == 0:
            continue
        of_these = nominal is not None and column in nominal
        chance = expected_reduction(X[rows, column], y[rows], nominal=of_these, n_permutations=1000)
        sums[column] += weight * chance / y[rows].var()
        weights[column] += weight
    assert selector.thresholds_ == pytest.approx(sums / weights, rel=0.03)
    assert np.array_equal(selector.thresholds_, selector.expected_scores_)


@QUIET
def test_three_rows_have_one_node_that_counts():
    X = np.array([[1.0, 5.0, 2.0], [2.0, 3.0, 1.0], [3.0, 4.0, 2.0]])
    y = np.array([0.5, 1.0, 4.0])
    selector = ForestGainSelector(random_state=0).fit(X, y)
    assert selector.scores_ == same(InfoGainSelector().fit(X, y).scores_)


def test_what_is_kept_and_dropped():
    X, y = make_friedman1(300, 8, random_state=0)
    X = np.column_stack([X, X[:, 3]])
    selector = ForestGainSelector(random_state=0, redundancy=0.5).fit(X, y)
    assert set(np.flatnonzero(selector.ranking_ <= 6)) == {0, 1, 2, 3, 4, 8}
    assert (selector.pvalues_[:5] < 1e-6).all()
    assert (selector.pvalues_[5:8] > 0.01).all()
    assert selector.support_.sum() < 9
    assert selector.support_[[3, 8]].sum() == 1  # of the two copies
    assert (selector.intervals_[:, 0] < selector.scores_).all()
    assert (selector.intervals_[:, 1] > selector.scores_).all()


def test_missing_values_and_categories_of_a_frame():
    X, y = make_friedman1(300, 6, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame.loc[::7, "d"] = np.nan
    frame["colour"] = pd.Categorical(np.where(X[:, 4] > 0.5, "red", "blue"))
    frame.loc[::9, "colour"] = None
    selector = ForestGainSelector(random_state=0).fit(frame, y)
    assert np.isfinite(selector.scores_).all()
    assert int(selector.scores_.argmax()) == 3
    assert selector.pvalues_[6] < 0.01 < selector.pvalues_[5]


@QUIET
@pytest.mark.parametrize("power", [-400, 30, 400])
def test_the_unit_of_a_quantity_has_no_effect(power):
    X, y = make_friedman1(80, 6, random_state=1)
    options = {"task": "regression", "n_estimators": 10, "redundancy": 0.5, "random_state": 0}
    one = ForestGainSelector(**options).fit(X, y)
    other = ForestGainSelector(**options).fit(X, np.ldexp(y, power))
    for name in [*LEARNED, "redundancy_"]:
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name
    moved = ForestGainSelector(**options).fit(X, 1e4 - 3 * y)
    assert moved.scores_ == pytest.approx(one.scores_, rel=1e-6)
    assert moved.thresholds_ == pytest.approx(one.thresholds_, rel=1e-6)


def test_whole_weights_score_like_repeated_rows():
    X, y = table_with_ties(80)
    times = np.random.default_rng(0).integers(0, 4, 80)
    selector = ForestGainSelector(4, task="regression", n_estimators=10, random_state=0)
    weighted = clone(selector).fit(X, y, sample_weight=times)
    repeated = clone(selector).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.scores_ == same(repeated.scores_)
    assert weighted.intervals_ == same(repeated.intervals_)
    assert (weighted.expected_scores_ > repeated.expected_scores_).all()


@QUIET
def test_extreme_weights():
    X, y = make_friedman1(100, 5, random_state=0)
    weights = np.ones(100)
    weights[::2] = 0
    some = ForestGainSelector(n_estimators=5, random_state=0).fit(X, y, sample_weight=weights)
    half = ForestGainSelector(n_estimators=5, random_state=0).fit(X[1::2], y[1::2])
    assert some.scores_ == same(half.scores_)
    for extreme in (np.geomspace(1e-6, 1e6, 100), np.full(100, 1e-300), np.full(100, 1e300)):
        found = ForestGainSelector(n_estimators=5, random_state=0).fit(X, y, sample_weight=extreme)
        assert np.isfinite(found.scores_).all()
        assert ((found.scores_ >= 0) & (found.scores_ <= 1 + 1e-9)).all()


@QUIET
@pytest.mark.parametrize(
    "y",
    [
        np.r_[np.zeros(39), 1.5],  # one row differs
        np.r_[np.full(20, 1e-170), np.full(20, 0.5)] + 1e-171 * np.arange(40),  # squares that underflow
        1e15 + np.arange(40) / 8,
        np.linspace(-4e139, 4e139, 40),
        np.geomspace(1e-130, 1e130, 40),
    ],
)
def test_odd_quantities(y):
    X = np.random.default_rng(0).normal(size=(40, 3))
    selector = ForestGainSelector(task="regression", n_estimators=5, random_state=0).fit(X, y)
    assert ((selector.scores_ >= 0) & (selector.scores_ <= 1 + 1e-9)).all()
    assert np.isfinite(selector.thresholds_).all()
    assert ((selector.pvalues_ >= 0) & (selector.pvalues_ <= 1)).all()


def test_what_it_refuses():
    X, y = make_friedman1(50, 5, random_state=0)
    for bound in BOUNDS[:-1]:
        with pytest.raises(ValueError, match='needs classes, but y is a quantity: set bound="exact"'):
            ForestGainSelector(bound=bound).fit(X, y)
    fit = ForestGainSelector(task="regression", n_estimators=2).fit
    with pytest.raises(ValueError, match=r"y has one value, 2\.5: ForestGainSelector needs at least two"):
        fit(X, np.full(50, 2.5))
    with pytest.raises(ValueError, match="one row"):
        fit(X[:1], y[:1])
    for scale in (1e308, 1e-310):
        with pytest.raises(ValueError, match=r"too (large|small) for float64: divide y by"):
            fit(X, y / y.max() * scale)
    with pytest.raises(ValueError, match="All rows with a positive sample_weight have the same y"):
        fit(X, np.r_[0.5, np.ones(49)], sample_weight=np.r_[0.0, np.ones(49)])


@pytest.mark.parametrize("options", [{}, {"redundancy": 0.8, "n_estimators": 20}])
def test_the_number_of_threads_does_not_matter(options):
    X, y = table_with_ties(150)
    one, two = (
        ForestGainSelector(task="regression", random_state=5, n_jobs=jobs, **options).fit(X, y)
        for jobs in (None, 2)
    )
    for name in [*LEARNED, *(["redundancy_"] if "redundancy" in options else [])]:
        assert np.array_equal(getattr(one, name), getattr(two, name), equal_nan=True), name


def test_a_forest_draws_columns_by_its_scores():
    X, y = make_friedman1(150, 8, random_state=0)
    selector = ForestGainSelector(n_estimators=20, random_state=5)
    forest = SiftForestRegressor(5, feature_sampling=selector, random_state=0).fit(X, y)
    alone = clone(selector).fit(X, y)
    wanted = alone.scores_ * alone.support_
    assert forest.feature_weights_ == pytest.approx(wanted / wanted.sum())


def noise(kind, n, p, rng):
    """Columns and a quantity that have nothing to do with each other."""
    X = rng.normal(size=(n, p))
    kinds = {"binary": X > 0, "counts": rng.binomial(2, 0.3, (n, p)), "nominal": rng.integers(0, 5, (n, p))}
    y = rng.standard_t(2, n) if kind == "heavy" else rng.normal(size=n)
    return kinds.get(kind, X).astype(float), y


# Rates of up to 0.026 were measured; rare flags, which are not among these, had 0.068.
@QUIET
@pytest.mark.parametrize("kind", ["distinct", "heavy", "binary", "counts", "nominal"])
@few_or_many(4, 60)
def test_pvalues_of_noise_of_every_kind(kind, n_tables):
    pvalues = []
    for seed in range(n_tables):
        X, y = noise(kind, 150, 10, np.random.default_rng(seed))
        nominal = range(10) if kind == "nominal" else None
        selector = ForestGainSelector(n_estimators=30, categorical_features=nominal, random_state=seed)
        pvalues.extend(selector.fit(X, y).pvalues_)
    pvalues = np.array(pvalues)
    assert np.nanmean(pvalues < 0.05) < highest(0.05, len(pvalues))
    assert np.nanmedian(pvalues) > 0.3
