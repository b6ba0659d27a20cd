"""Which columns are kept by request, which belong together, and what is wrong with what was given."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from foresift import AggregateSelector, FScoreSelector, InfoGainSelector, PearsonSelector, ReliefFSelector
from foresift.data.numeric_coding import ValueTable
from foresift.data.table import UncodedTable, make_table
from foresift.selectors.one_hot import one_hot_blocks
from foresift.selectors.units import read_units

NAMES = ("age", "s1_a", "s1_b", "size", "s2_a")


def units_of(keep=None, feature_groups=None, names=NAMES):
    return read_units(keep, feature_groups, names, 5)


def test_nothing_is_trivial():
    for nothing in (
        (None, None),
        ([], None),
        (None, {}),
        (None, []),
        (None, [None, np.nan, None, None, None]),
    ):
        units = units_of(*nothing)
        assert units.trivial
        assert units.n_free == 5
        assert units.of_column.tolist() == units.first.tolist() == [0, 1, 2, 3, 4]
        assert not units.unequal
    assert units_of().labels == NAMES


@pytest.mark.parametrize(
    "given",
    [
        {"first": "s1_*"},
        {"first": ["s1_a", "s1_b"]},
        {"first": (1, 2), "single": "size"},
        [["s1_b", "s1_a"]],
        np.array([[1, 2]]),
        ["s1_?", ["size"]],
        ["s1_*"],
        [None, "x", "x", "y", np.nan],
        pd.Series([0, 7, 7, 1, 2]),
    ],
)
def test_forms_of_groups(given):
    units = units_of(None, given)
    assert units.of_column.tolist() == [0, 1, 1, 2, 3]
    assert [columns.tolist() for columns in units.members] == [[0], [1, 2], [3], [4]]
    assert units.unequal


@pytest.mark.parametrize("keep", [["size", "age"], [3, 0], np.array([True, False, False, True, False])])
def test_forms_of_keep(keep):
    units = units_of(keep, {"s1": "s1_*"})
    assert units.kept.tolist() == [True, False, False, True, False]
    assert units.free_of_column.tolist() == [-1, 0, 0, -1, 1]
    assert units.n_free == 2
    assert [units.labels[unit] for unit in units.of_column[units.first]] == ["s1", "s2_a"]
    assert units.first.tolist() == [1, 4]
    assert units.columns([1]).tolist() == [0, 3, 4]
    assert units.n_free_in([0, 1, 2]) == 1


def test_a_kept_column_keeps_its_group():
    assert units_of(["s1_b"], ["s1_*"]).kept.tolist() == [False, True, True, False, False]


def test_the_best_member():
    units = units_of(None, [[0, 1], [2, 3]])
    assert units.best_members(np.array([np.nan, 1.0, 2.0, 2.0, np.nan])).tolist() == [1, 2, 4]


@pytest.mark.parametrize(
    ("keep", "groups", "names", "message"),
    [
        (["weight"], None, NAMES, "keep names 'weight', which is no column of X"),
        ([5], None, NAMES, "keep names 5, which is no column of X"),
        ([-1], None, NAMES, "keep names -1, which is no column"),
        ([1.5], None, NAMES, "keep names 1.5, which is no column"),
        (["age"], None, None, "X has no column names: give numbers, or pass a data frame"),
        (["age", "age"], None, NAMES, "keep has column 'age' twice: name every column once"),
        ([True, False], None, NAMES, "keep is a mask of 2 columns, but X has 5"),
        ([[0]], None, NAMES, "keep names \\[0\\], which is no column of X"),
        (list(NAMES), None, NAMES, "keep names every column: leave out what may be dropped"),
        (["age"], ["*"], NAMES, "keep names every column, with the groups they are in"),
        (None, ["s1_*", "s*_a"], NAMES, "feature_groups has column 's1_a' twice"),
        (None, [["size", "size"]], NAMES, "feature_groups has column 'size' twice"),
        (None, {"s": "S1_*"}, NAMES, "the pattern 'S1_\\*', which matches no column"),
        (None, {"s": "s1_*"}, None, "the pattern 's1_\\*', but X has no column names"),
        (None, [["s1_a"]], None, "group 'group 1' of feature_groups names 's1_a', but X has no column names"),
        (None, {"s": ["s1_c"]}, NAMES, "group 's' of feature_groups names 's1_c', which is no column"),
        (None, {"s": []}, NAMES, "no column in 's': name its columns, or leave it out"),
        (None, {"s": 3}, NAMES, "has 3 for a group: give a list of columns or a pattern"),
        (None, ["a", "b"], NAMES, "2 labels, but X has 5 columns: give one label per column"),
        (None, "sensor", NAMES, 'feature_groups is .sensor.: give "one-hot", or a list of patterns'),
        (None, "one-hot", None, "reads the names of the columns, and X has none"),
        (None, "one-hot", NAMES, "finds no columns of 0 and 1"),
    ],
)
def test_bad_input(keep, groups, names, message):
    with pytest.raises(ValueError, match=message) as caught:
        units_of(keep, groups, names)
    assert "\n" not in str(caught.value)


def test_bad_types_are_refused_by_fit():
    X, y = np.eye(4), [0, 1, 0, 1]
    with pytest.raises(ValueError, match=r"keep is the text 'age': give a list of columns, keep=\['age'\]\."):
        InfoGainSelector(keep="age").fit(X, y)
    with pytest.raises(ValueError, match="feature_groups is 'sensor': give \"one-hot\", or a list"):
        InfoGainSelector(feature_groups="sensor").fit(X, y)
    with pytest.raises(ValueError, match="'keep' parameter of InfoGainSelector must be"):
        InfoGainSelector(keep=3).fit(X, y)


def test_a_series_is_read_by_its_index():
    mask = pd.Series({name: name == NAMES[0] for name in reversed(NAMES)})
    assert np.flatnonzero(read_units(mask, None, NAMES, len(NAMES)).kept).tolist() == [0]
    labels = pd.Series({name: "g" if name in NAMES[:2] else None for name in reversed(NAMES)})
    units = read_units(None, labels, NAMES, len(NAMES))
    assert units.of_column[0] == units.of_column[1]
    assert len(set(units.of_column)) == len(NAMES) - 1


def test_labels_may_look_like_patterns():
    labels = ["d[1]", "d[1]", "d[2]", "d[2]", None]
    assert read_units(None, labels, NAMES, 5).labels[:2] == ("d[1]", "d[2]")


def test_members_of_an_aggregate_keep_nothing_by_themselves():
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
    with pytest.raises(ValueError, match="InfoGainSelector with keep of its own: set keep of AggregateSel"):
        AggregateSelector([InfoGainSelector(keep=[1]), FScoreSelector()]).fit(X, y)


# --- one-hot blocks ---


def rows(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "colour": rng.choice(["red", "light_blue", "light_green"], n),
            "light": rng.choice(["on", "off", "broken_or_dim"], n),
            "size": rng.normal(size=n),
            "sensor_1": rng.normal(size=n),
            "sensor_2": rng.normal(size=n),
        }
    )


def encoded(drop=None, prefix=True, **options):
    encoder = OneHotEncoder(drop=drop, sparse_output=False, **options)
    transformer = ColumnTransformer(
        [("onehot", encoder, ["colour", "light"])], remainder="passthrough", verbose_feature_names_out=prefix
    )
    return transformer.set_output(transform="pandas").fit_transform(rows())


def labels_of(frame, read=make_table):
    table = read(frame)
    blocks = one_hot_blocks(table)
    return [[frame.columns[j] for j in block] for block in blocks]


def reader(kind):
    if kind == "uncoded":
        return lambda X: UncodedTable.open(X, None, "from_dtype")
    return make_table if kind == "coded" else ValueTable.open


@pytest.mark.parametrize("kind", ["coded", "values", "uncoded"])
@pytest.mark.parametrize("prefix", [True, False])
def test_blocks_of_an_encoder(kind, prefix):
    frame = encoded(prefix=prefix)
    blocks = labels_of(frame, reader(kind))
    assert [len(block) for block in blocks] == [3, 3]
    start = "onehot__" if prefix else ""
    assert all(name.startswith(start + "colour_") for name in blocks[0])
    assert all(name.startswith(start + "light_") for name in blocks[1])


@pytest.mark.parametrize("kind", ["coded", "values", "uncoded"])
def test_blocks_of_get_dummies(kind):
    blocks = labels_of(pd.get_dummies(rows()), reader(kind))  # booleans
    assert [len(block) for block in blocks] == [3, 3]


def test_a_dropped_category():
    blocks = labels_of(encoded(drop="first"))
    assert sorted(len(block) for block in blocks) == [2, 2]


def test_columns_that_are_no_blocks():
    frame = rows()[["sensor_1", "sensor_2"]]
    assert labels_of(frame) == []
    frame = frame.round().clip(0, 1)  # zeros and ones, but two ones in some rows
    assert labels_of(frame) == []
    frame = pd.get_dummies(rows()[["colour"]]).astype(float)
    frame.iloc[3, 0] = np.nan
    assert all("colour_light_blue" not in block for block in labels_of(frame))
    assert labels_of(pd.get_dummies(rows()[["colour"]]) + 1) == []  # ones and twos


def test_a_selector_recognises_blocks_in_a_pipeline():
    X = rows(200)
    y = (X["colour"] == "red").astype(int)
    encoder = ColumnTransformer(
        [("onehot", OneHotEncoder(sparse_output=False), ["colour", "light"])], remainder="passthrough"
    ).set_output(transform="pandas")
    for select in (InfoGainSelector, PearsonSelector, FScoreSelector, ReliefFSelector):
        pipeline = make_pipeline(encoder, select(1, feature_groups="one-hot"))
        kept = pipeline.fit(X, y).get_feature_names_out().tolist()
        assert kept == ["onehot__colour_light_blue", "onehot__colour_light_green", "onehot__colour_red"]
    assert pipeline[-1].units_.labels[:2] == ("onehot__colour", "onehot__light")


def test_blocks_stay_the_same_in_folds():
    X = pd.get_dummies(rows(60)[["colour", "light", "size"]])
    y = (rows(60)["colour"] == "red").astype(int)
    model = InfoGainSelector("cv", feature_groups="one-hot").fit(X, y)
    assert model.size_curve_.sizes.tolist() == [1, 2, 3]
    assert model.size_curve_.chosen == 1
