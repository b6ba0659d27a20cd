"""CFS for a quantity: against Weka and the literal twin, weights, units, missing values, extreme numbers."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
import reference_cfs
from oracle_tables import table
from sklearn.datasets import load_diabetes

from foresift import CFSSelector, PearsonSelector
from foresift.data.table import make_table
from foresift.selectors.linear_correlations import LinearCorrelations

SEARCHES = {
    "best-first": lambda twin: reference_cfs.best_first(twin, 5),
    "best-first-backward": lambda twin: reference_cfs.best_first(twin, 5, "backward"),
    "best-first-bidirectional": lambda twin: reference_cfs.best_first(twin, 5, "bidirectional"),
    "forward": reference_cfs.forward,
    "backward": reference_cfs.backward,
}
EVERY_SEARCH = pytest.mark.parametrize("search", SEARCHES)
CONVENTION = pytest.mark.parametrize("convention", ["hall", "weka"])


def kept(selector):
    return sorted(selector.order_.tolist())


def fitted(X, y, **parameters):
    return CFSSelector(task="regression", **parameters).fit(X, y)


# Against Weka 3.9.7: the searches of test_cfs_weka.py, merits of single columns, of pairs and of all columns.

WEKA_KEPT = {  # search: without and with locally predictive columns, columns and merit
    "mtcars": {
        "backward": [("cyl disp hp drat wt vs am gear carb", 0.86772884)] * 2,
        "forward": [("cyl wt", 0.90377524), ("cyl wt carb", 0.87514614)],
    },
    "attitude": {"forward": [("complaints", 0.82541758), ("complaints learning", 0.81759711)]},
    "longley": {"forward": [("GNP", 0.98355162), ("GNP Armed.Forces", 0.89639057)]},
    "airquality": {"forward": [("Wind Temp", 0.74854454), ("Solar.R Wind Temp", 0.42369401)]},
}
WEKA_MERITS = {  # of single columns, of pairs, of all
    "mtcars": """
0.8521619 0.8475514 0.7761683 0.6811719 0.8676594 0.4186840 0.6640389 0.5998324 0.4802848 0.5509251;
0.8487821 0.7813435 0.8597983 0.9037752 0.7123074 0.8384418 0.8712047 0.8363910 0.8112181 0.8646194
0.8478883 0.8484479 0.8482129 0.8477991 0.8479435 0.8475969 0.8502937 0.7787363 0.7811624 0.7726895
0.7769101 0.7791354 0.7802369 0.7753585 0.8602783 0.5819772 0.7927602 0.6935873 0.6111928 0.7178896
0.7319285 0.8925340 0.8368941 0.7859835 0.7840944 0.4948536 0.5336990 0.5317861 0.5289366 0.8270065
0.7063432 0.6289774 0.5568370 0.6922877 0.6377252;
0.8670576
""",
    "attitude": """
0.8254176 0.4261169 0.6236781 0.5901390 0.1564392 0.1550862;
0.7183040 0.8175971 0.7894048 0.6958639 0.6779236 0.6050302 0.5891188 0.4017514 0.3682105 0.6710055
0.5472425 0.4622539 0.4563019 0.4212801 0.1944125;
0.6712621
""",
    "longley": """
0.9708985 0.9835516 0.5024981 0.4573074 0.9603906 0.9713295;
0.9830431 0.5714792 0.5624074 0.9716169 0.9728611 0.8378090 0.8963906 0.9825720 0.9831957 0.6251157
0.5453582 0.5334531 0.5317177 0.5082950 0.9662458;
0.8682803
""",
    "airquality": """
0.3436601 0.6015465 0.6983603 0.1645193 0.0132256;
0.3656789 0.4035327 0.3459222 0.3414479 0.7485445 0.5781774 0.2341403 0.6735562 0.4967408 0.0403735;
0.4221800
""",
}


@EVERY_SEARCH
@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("name", WEKA_KEPT)
def test_subsets_equal_weka(name, search, local):
    found = WEKA_KEPT[name]  # every forward search finds the same here, and every backward one
    columns, merit = found.get(search.removeprefix("best-first-"), found["forward"])[local]
    X, y = table(name)
    ours = fitted(X, y, search=search, locally_predictive=local, convention="weka")
    assert X.columns[kept(ours)].tolist() == columns.split()
    assert ours.merit_ == pytest.approx(merit, abs=1e-6)


@pytest.mark.parametrize("name", WEKA_MERITS)
def test_merits_equal_weka(name):
    X, y = table(name)
    singles, pairs, (of_all,) = ([float(x) for x in part.split()] for part in WEKA_MERITS[name].split(";"))
    ours = fitted(X, y, convention="weka", n_features_to_select=1.0)
    assert ours.scores_ == pytest.approx(singles, abs=1e-6)
    assert ours.merit_ == pytest.approx(of_all, abs=1e-6)
    for (a, b), merit in zip(itertools.combinations(X.columns, 2), pairs, strict=True):
        assert fitted(X[[a, b]], y, convention="weka", n_features_to_select=2).merit_ == pytest.approx(
            merit, abs=1e-6
        )


BREAKS = "26 30 54 25 70 52 51 26 67 18 21 29 17 12 18 35 30 36 36 21 24 18 10 43 28 15 26"
BREAKS += " 27 14 29 19 29 31 41 20 44 42 26 19 16 39 28 21 39 29 20 21 24 17 13 15 15 16 28"


@EVERY_SEARCH
def test_independent_nominal_columns_equal_weka(search):
    X = {"wool": list("A" * 27 + "B" * 27), "tension": list(("L" * 9 + "M" * 9 + "H" * 9) * 2)}
    ours = fitted(X, [int(n) for n in BREAKS.split()], search=search, convention="weka")
    assert ours.scores_ == pytest.approx([0.22093304, 0.29709122], abs=1e-7)
    assert (kept(ours), ours.merit_) == ([0, 1], pytest.approx(0.36455529, abs=1e-7))


# Searches end at different subsets here. Digits are numbers, letters categories.
MIXED = [
    "20204879939134",
    "46??01978?406?",
    "acccbababbacba",
    "45413497946037",
    "46147945674925",
    "bc?cbbbcaaaaba",
    "34403699953146",
    "32007949687904",
    "bccaaacbcababb",
    "3???1599?46028",
]
MIXED_Y = [int(digit) for digit in "50165803256932"]
WEKA_MIXED = {
    ("best-first", False): ([1, 3, 4, 8], 0.82428524),
    ("best-first-backward", False): ([1, 3, 7, 8], 0.83615689),
    ("best-first-bidirectional", False): ([1, 3, 4], 0.82444326),
    ("forward", False): ([1, 8], 0.78839755),
    ("backward", False): ([1, 3, 7, 8], 0.83615689),
    ("best-first", True): ([1, 3, 4, 8], 0.82428524),
    ("best-first-backward", True): ([1, 3, 7, 8], 0.83615689),
    ("best-first-bidirectional", True): ([1, 3, 4, 8], 0.82428524),
    ("forward", True): ([1, 4, 8], 0.78065829),
    ("backward", True): ([1, 3, 7, 8], 0.83615689),
}


@pytest.mark.parametrize(("search", "local"), WEKA_MIXED)
def test_nominal_and_missing_values_equal_weka(search, local):
    cells = [[None if v == "?" else float(v) if v.isdigit() else v for v in column] for column in MIXED]
    ours = fitted(frame(cells), MIXED_Y, search=search, locally_predictive=local, convention="weka")
    columns, merit = WEKA_MIXED[search, local]
    assert (kept(ours), ours.merit_) == (columns, pytest.approx(merit, abs=1e-6))


# Against the twin


def random_columns(seed):
    """Numbers and categories as lists, None is missing: noise, parts of y or of each other, constants."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 40))
    y = np.round(rng.normal(size=n), 1)
    columns, earlier = [], [y]
    for _ in range(int(rng.integers(2, 9))):
        like = earlier[rng.integers(len(earlier)) if rng.random() < 0.4 else 0]
        x = np.round(like + rng.normal(size=n) * rng.choice([0.3, 1, 4]), 1)
        earlier.append(x)
        kind = rng.random()
        if kind < 0.35:
            values = np.array(list("abcd"))[np.searchsorted(np.sort(rng.choice(x, 3)), x)].tolist()
        else:
            values = (x * 10.0 ** rng.integers(-2, 3) if kind < 0.95 else np.full(n, 0.1)).tolist()
        gone = rng.random(n) < rng.choice([0, 0, 0.2])
        columns.append([None if g else value for g, value in zip(gone, values, strict=True)])
    return columns, y


def frame(columns):
    """A data frame; text is nominal."""
    return pd.DataFrame(
        {
            f"c{j}": pd.Series(column, dtype=object if reference_cfs.is_nominal(column) else float)
            for j, column in enumerate(columns)
        }
    )


@pytest.mark.parametrize("seed", range(25))
@CONVENTION
def test_correlations_equal_the_twin(seed, convention):
    columns, y = random_columns(seed)
    weka = convention == "weka"
    ours = LinearCorrelations(make_table(frame(columns), y, task="regression"), None, like_weka=weka)
    twin = reference_cfs.LinearCorrelations(columns, y.tolist(), weka)
    assert ours.with_class == pytest.approx(twin.with_class, abs=1e-12)
    for j, row in enumerate(twin.between):
        assert ours.between(j) == pytest.approx(row, abs=1e-12)
    ratio = ours.deviations / np.array(twin.deviations)
    assert ratio == pytest.approx(ratio[0], rel=1e-12)  # in another unit


@pytest.mark.parametrize("seed", range(25))
@CONVENTION
@pytest.mark.filterwarnings("ignore:No feature passed the rule")
def test_subsets_equal_the_twin(seed, convention):
    columns, y = random_columns(seed)
    X = frame(columns)
    twin = reference_cfs.LinearCorrelations(columns, y.tolist(), convention == "weka")
    for search, find in SEARCHES.items():
        subset = find(twin)
        ours = fitted(X, y, search=search, convention=convention)
        assert kept(ours) == sorted(subset)
        assert ours.merit_ == pytest.approx(twin.merit(subset), abs=1e-10)
        local = fitted(X, y, search=search, convention=convention, locally_predictive=True)
        assert kept(local) == sorted(reference_cfs.locally_predictive(twin, subset))
    for k in range(1, len(columns) + 1):
        some = fitted(X, y, n_features_to_select=k, convention=convention)
        assert some.order_.tolist() == reference_cfs.forward(twin, k)
        some = fitted(X, y, n_features_to_select=k, convention=convention, search="best-first-backward")
        assert kept(some) == sorted(reference_cfs.backward(twin, k))


@EVERY_SEARCH
@pytest.mark.parametrize("seed", range(5))
def test_columns_of_very_different_size(search, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 9)) + rng.normal(size=(50, 1))
    y = X @ rng.random(9) + rng.normal(size=50)
    X *= 10.0 ** rng.integers(-9, 9, 9)  # a sum of squares without the largest is not that of the others
    twin = reference_cfs.LinearCorrelations(X.T.tolist(), y.tolist(), like_weka=True)
    ours = fitted(X, y, search=search, convention="weka")
    assert kept(ours) == sorted(SEARCHES[search](twin))
    assert ours.merit_ == pytest.approx(twin.merit(kept(ours)), abs=1e-11)


# What does and does not matter


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X, y + 0.25


def test_scores_are_correlations(diabetes):
    ours = CFSSelector().fit(*diabetes)
    assert ours.task_ == "regression"
    assert ours.scores_ == pytest.approx(PearsonSelector().fit(*diabetes).scores_, abs=1e-12)


@EVERY_SEARCH
def test_units_matter_in_wekas_convention_alone(search, diabetes):
    X, y = diabetes
    other = X * 2.0 ** np.arange(-20, 20, 4) - 5
    ours = CFSSelector(search=search).fit(X, y)
    again = fitted(other, 1e3 * y, search=search)
    assert again.scores_ == pytest.approx(ours.scores_, abs=1e-8)
    assert again.ranking_.tolist() == ours.ranking_.tolist()
    one_unit = CFSSelector(search=search, convention="weka").fit(X / X.std(axis=0), y)
    assert one_unit.ranking_.tolist() == ours.ranking_.tolist()
    assert one_unit.merit_ == pytest.approx(ours.merit_, abs=1e-10)
    weka = CFSSelector(search=search, convention="weka").fit(other, y)
    assert weka.support_.tolist() != ours.support_.tolist()


@EVERY_SEARCH
@CONVENTION
def test_order_of_rows_does_not_matter(search, convention, diabetes):
    X, y = diabetes
    rows = np.random.default_rng(0).permutation(len(y))
    ours = CFSSelector(search=search, convention=convention).fit(X, y)
    again = CFSSelector(search=search, convention=convention).fit(X[rows], y[rows])
    assert again.ranking_.tolist() == ours.ranking_.tolist()
    assert again.scores_ == pytest.approx(ours.scores_, abs=1e-12)


@EVERY_SEARCH
@CONVENTION
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.filterwarnings("ignore:No feature passed the rule")
def test_weights_are_rows(search, convention, seed):
    columns, y = random_columns(seed)
    X = frame(columns)
    weights = np.random.default_rng(seed).integers(0, 4, len(y))
    weights[:2] = 1
    parameters = {"search": search, "convention": convention, "locally_predictive": True}
    rows = np.repeat(np.arange(len(y)), weights)
    want = fitted(X.iloc[rows].reset_index(drop=True), y[rows], **parameters)
    for unit in (1.0, 2.0**-1000, 2.0**900):
        ours = CFSSelector(task="regression", **parameters).fit(X, y, sample_weight=unit * weights)
        assert ours.scores_ == pytest.approx(want.scores_, abs=1e-12)
        assert ours.ranking_.tolist() == want.ranking_.tolist()
        assert ours.merit_ == pytest.approx(want.merit_, abs=1e-11)


@EVERY_SEARCH
@CONVENTION
def test_extreme_numbers(search, convention, diabetes):
    X, y = diabetes[0].copy(), diabetes[1] * 1e130
    plain = fitted(X, y, search=search)
    X[:, 2] = X[:, 2] / np.abs(X[:, 2]).max() * 1.7e308
    X[:, 3] *= 1e-300
    X[:, 8] *= 1e-310  # subnormal: some digits are lost
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = fitted(X, y, search=search, convention=convention)
    assert ours.scores_ == pytest.approx(plain.scores_, abs=1e-9)
    assert np.isfinite(ours.search_tree_["merit"]).all()
    assert ours.merit_ > 0.5
    if convention == "hall":
        assert ours.ranking_.tolist() == plain.ranking_.tolist()


@EVERY_SEARCH
@CONVENTION
def test_constant_and_empty_columns(search, convention, diabetes):
    X, y = diabetes
    useless = np.column_stack([np.full(len(y), 0.1), np.full(len(y), np.nan), np.full(len(y), 1e300)])
    ours = fitted(np.hstack([useless, X]), y, search=search, convention=convention)
    assert ours.scores_[:3].tolist() == [0, 0, 0]
    assert not ours.support_[:3].any()
    alone = fitted(X, y, search=search, convention=convention)
    assert kept(ours) == [j + 3 for j in kept(alone)]
    nominal = pd.DataFrame(X).assign(one="a", none=pd.Series([None] * len(y), dtype="category"))
    nominal.columns = nominal.columns.astype(str)
    assert kept(fitted(nominal, y, search=search, convention=convention)) == kept(alone)


def test_many_categories():
    rng = np.random.default_rng(0)
    y = rng.normal(size=3000)
    X = {"place": [f"p{n}" for n in rng.integers(0, 900, 3000)], "other": [f"p{n}" for n in range(3000)]}
    ours = LinearCorrelations(make_table(X, y, task="regression"), None)
    columns = [list(column) for column in X.values()]
    assert ours.with_class[0] == pytest.approx(reference_cfs.linear(columns[0], y.tolist()), abs=1e-12)
    share = pd.Series(X["place"]).map(pd.Series(X["place"]).value_counts() / 3000)
    assert ours.between(1)[0] == pytest.approx(np.sqrt((1 - share) / share / 2999).mean(), abs=1e-12)


def test_numbers_in_bins():
    rng = np.random.default_rng(0)
    y = rng.normal(size=100_000)
    X = np.column_stack([y + rng.normal(size=100_000), rng.normal(size=100_000)])
    scores = PearsonSelector().fit(X, y).scores_
    assert CFSSelector().fit(X, y).scores_ == pytest.approx(scores, abs=1e-4)
