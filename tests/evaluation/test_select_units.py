"""`keep` and `feature_groups` in `select` and `compare`."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import GaussianNB

from foresift import InfoGainSelector, RelevanceSelector, compare, select
from foresift.evaluation.harness.chosen import chosen_columns, selected
from foresift.evaluation.registry import METHODS, is_slow
from foresift.evaluation.select.fitted import order_of, ranked

FAST = {"n_estimators": 20}
NAMES = ["age", "sex", "s_1", "t_1", "s_2", "t_2", "s_3", "z", "noise"]
GROUPS = {"s": "s_*", "t": ["t_1", "t_2"]}


def table(n=240, task="classification"):
    """The target depends on age, a column of group s, and z."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, len(NAMES))), columns=NAMES)
    y = X["age"] + X["s_2"] + X["z"] + 0.3 * rng.normal(size=n)
    return X, (y > 0).astype(int) if task == "classification" else y


@pytest.fixture(scope="module")
def found():
    return select(*table(), keep=["age", "sex"], feature_groups=GROUPS, random_state=0, parameters=FAST)


def test_rows_of_the_ranking(found):
    rows = found.ranking
    assert [row["name"] for row in rows[:2]] == ["age", "sex"]
    assert [row["requested"] for row in rows] == [True, True] + [False] * 7
    for row in rows[:2]:
        assert row["kept"]
        assert row["rank"] == 0
        unknown = ("score", "low", "high", "chance", "pvalue", "adjusted_pvalue", "relevant", "frequency")
        assert {row[name] for name in unknown} == {None}
    group_of = {row["name"]: row["group"] for row in rows}
    assert [group_of[name] for name in NAMES] == [None, None, "s", "t", "s", "t", "s", None, None]
    of_s = [row for row in rows if row["group"] == "s"]
    for key in ("rank", "score", "relevant", "kept", "frequency"):
        assert len({row[key] for row in of_s}) == 1, key
    assert [row["rank"] for row in rows] == sorted(row["rank"] for row in rows)
    assert {row["rank"] for row in rows} == {0, 1, 2, 3, 4}
    assert set(found.features) == {"age", "sex", "s_1", "s_2", "s_3", "z"}
    assert found.transform(table()[0]).columns.tolist() == ["age", "sex", "s_1", "s_2", "s_3", "z"]


def test_the_curve_counts_units_and_begins_with_the_kept_columns(found):
    sizes = [point["n"] for point in found.curve["points"]]
    assert sizes == [0, 1, 2, 3, 4]
    assert found.curve["chosen"] == 2
    assert found.curve["counts"] == "columns and groups beside those kept by request"
    assert all(6 <= n <= 9 for n in found.check["n_kept"])
    alone = select(table()[0][["age", "sex"]], table()[1], "info-gain", 2, random_state=0)
    assert found.curve["points"][0]["score"] == pytest.approx(alone.check["full"]["score"])
    assert found.check["full"]["score"] == found.curve["points"][-1]["score"]
    assert found.check["baseline"] < 0.6


def test_sentences(found):
    assert "2 of 4 columns and groups beside the 2 that you keep (age, sex)" in found.verdict
    assert "The columns that you keep reach" in found.sentence
    note = (
        "The columns that you keep have no p-value: the test asks what helps beside them, and the error rate"
        " does not count them."
    )
    assert note in found.notes
    assert found.method["order"].startswith("columns that you keep, then ")


def test_sentences_of_one_kept_column_and_of_many():
    X, y = table()
    found = select(X, y, "info-gain", 2, keep=["age"], check=False)
    assert found.verdict == "Kept the best 2 of 8 columns beside the one that you keep (age)."
    found = select(X, y, "info-gain", 2, keep=NAMES[:5], check=False)
    said = "Kept the best 2 of 4 columns beside the 5 that you keep (age, sex, s_1 and 2 more)."
    assert found.verdict == said
    found = select(X, y, "info-gain", 1, feature_groups=GROUPS, check=False)
    assert found.verdict == "Kept the best 1 of 6 columns and groups."
    assert "requested" not in select(X, y, "info-gain", 1, check=False).ranking[0]


def test_nothing_helps_beside_the_kept_column():
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(200, 6)), columns=list("abcdef"))
    y = (X["a"] > 0).astype(int)
    found = select(X, y, keep=["a"], alpha=0.001, random_state=0, parameters=FAST)
    assert found.features == ["a"]
    said = "one of the 5 columns beside the one that you keep (a) is significant; no other is kept."
    assert found.verdict.endswith(said)
    assert found.curve["chosen"] == 0
    assert found.curve["by_rule"] == 0
    assert found.check["n_kept"] == [1] * 5
    assert found.check["kept"]["score"] > 0.9


@pytest.mark.parametrize("goal", ["compact", "all"])
@pytest.mark.parametrize("check", [True, False])
def test_goals_of_a_quantity(goal, check):
    X, y = table(task="regression")
    options = {"keep": ["t_1"], "feature_groups": GROUPS, "random_state": 0, "parameters": FAST}
    found = select(X, y, goal=goal, check=check, **options)
    assert found.features[:2] == ["t_1", "t_2"]
    assert {"age", "s_1", "s_2", "s_3", "z"} <= set(found.features)


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_every_method(method):
    X, y = table(80)
    known = () if method == "auto" else METHODS[method].make().get_params()
    light = {"n_estimators": 5, "population_size": 4, "n_generations": 2, "cv": 2, "max_evaluations": 5}
    slow = {key: value for key, value in light.items() if key in known}
    options = {
        "parameters": slow,
        "random_state": 0,
        "check": method not in METHODS or not is_slow(METHODS[method].make()),
    }
    found = select(X, y, method, 2, keep=["noise"], feature_groups=GROUPS, **options)
    kept = set(found.features)
    assert found.features[0] == "noise"
    assert len({row["rank"] for row in found.ranking if row["kept"]}) == 3
    for group in ({"s_1", "s_2", "s_3"}, {"t_1", "t_2"}):
        assert group <= kept or not group & kept
    assert [row["name"] for row in found.ranking] == [NAMES[j] for j in order_of(found.selector_)]


def test_the_order_of_units():
    X, y = table()
    fitted = InfoGainSelector(keep=["sex"], feature_groups=GROUPS).fit(X, y)
    order = ranked(fitted)
    assert order.columns[0] == 1
    assert order.ends.tolist()[0] == 1
    assert order.ends[-1] == len(NAMES)
    for size in range(6):
        mask = np.zeros(len(NAMES), dtype=bool)
        mask[order.best(size)] = True
        assert mask.tolist() == fitted.subset_of_size(size).tolist()


def test_one_hot_blocks_are_read_once():
    """A fold may lack a category, and then other columns would look like a block."""
    rng = np.random.default_rng(1)
    colour = rng.integers(0, 3, 150)
    X = pd.get_dummies(pd.DataFrame({"colour": np.array(["red", "green", "blue"])[colour]}), dtype=float)
    X["flag_a"] = 0.0
    X["flag_b"] = 0.0
    X.loc[:1, ["flag_a", "flag_b"]] = 1.0  # both in two rows only
    X["x"] = rng.normal(size=150)
    y = (X["x"] + (colour == 2) > 0.5).astype(int)
    found = select(X, y, feature_groups="one-hot", random_state=0, parameters=FAST)
    groups = {row["name"]: row["group"] for row in found.ranking}
    assert groups["colour_red"] == "colour"
    assert groups["flag_a"] is None
    assert [point["n"] for point in found.curve["points"]] == [1, 2, 3, 4]
    assert found.curve["counts"] == "columns and groups"


def test_own_parameters_of_a_selector_stay():
    X, y = table()
    found = select(X, y, InfoGainSelector(1, keep=["sex"]), check=False)
    assert found.features[0] == "sex"
    assert len(found.features) == 2
    found = select(X, y, InfoGainSelector(1, keep=["sex"]), keep=["t_1"], check=False)
    assert found.features[0] == "t_1"


def test_a_test_that_keeps_by_its_own_rule():
    X, y = table()
    found = select(X, y, RelevanceSelector(keep=["noise"], **FAST), check=False, random_state=0)
    assert found.features[0] == "noise"
    assert {"age", "s_2", "z"} < set(found.features)


def test_bad_input():
    X, y = table()
    with pytest.raises(ValueError, match="keep is for selectors of foresift, and SelectKBest is none"):
        select(X, y, SelectKBest(k=2), keep=["age"])
    with pytest.raises(ValueError, match="keep names 'weight', which is no column of X"):
        select(X, y, keep=["weight"])
    with pytest.raises(ValueError, match="feature_groups has column 's_1' twice"):
        select(X, y, feature_groups=["s_*", ["s_1", "z"]])
    with pytest.raises(ValueError, match="there are 5 columns and groups that may be dropped"):
        select(X, y, "auto", 6, keep=["age"], feature_groups=GROUPS, parameters=FAST)


def test_sizes_of_compare_are_units():
    X, y = table()
    selector = InfoGainSelector(keep=["noise"], feature_groups=GROUPS).fit(X, y)
    features, unknown = chosen_columns(selector, len(NAMES), [1, 2, 7, "own"])
    assert features["order"][0] == NAMES.index("noise")
    for size in (1, 2):
        columns = np.flatnonzero(selector.subset_of_size(size)).tolist()
        assert selected(features, str(size)) == columns
    assert unknown["7"].startswith("InfoGainSelector has 5 columns and groups that may be dropped")
    methods = {"plain": InfoGainSelector(), "units": InfoGainSelector(keep=["noise"], feature_groups=GROUPS)}
    found = compare(X, y, methods, {"nb": GaussianNB()}, sizes=[1, 2], cv=3)
    widths = {(row.method, row.size): row.n_features for row in found.rows if row.method != "none"}
    assert widths["plain", "1"] == 1
    assert widths["units", "1"] > 1
    assert widths["units", "2"] > 2
