"""C4.5's groups of categories (option -s) and least gap of values, worked by hand on small tables."""

import math

import numpy as np
import pandas as pd
import pytest
from reference_c45 import entropy
from test_c45 import mixed, tree_lines
from test_c45_examples import GOLF, LENSES_X, LENSES_Y, PLAY

from foresift import SubsetBaggingClassifier
from foresift.models.c45 import C45Classifier

WHOLE = {"pruning": None, "collapse": False}


def grouped(**options):
    return C45Classifier(group_categories=True, **options)


def table_of(counts):
    """A column and classes with so many rows of each class in every category."""
    rows = [
        (name, cls) for name, of_class in counts.items() for cls, n in enumerate(of_class) for _ in range(n)
    ]
    return pd.DataFrame({"x": [name for name, _ in rows]}), np.array([cls for _, cls in rows])


def conditions(tree):
    return [str(rule.conditions[0]) for rule in tree.rules()]


# --- groups ---


def test_lenses():
    """The rules of the thesis: three tests, four leaves; one of two groupings that are as good."""
    ages = {"young": "1 young", "pre-presbyopic": "2 pre-presbyopic", "presbyopic": "3 presbyopic"}
    tree = grouped().fit(LENSES_X.assign(age=LENSES_X["age"].map(ages)), LENSES_Y)
    assert tree_lines(tree) == [
        "astigmatic = no",
        "|   age in {1 young, 2 pre-presbyopic}: soft (5.0/1.0)",
        "|   age = 3 presbyopic: none (3.0)",
        "astigmatic = yes",
        "|   tears = normal: hard (3.0/1.0)",
        "|   tears = reduced: none (6.0/1.0)",
    ]
    # By hand, of the eight rows that are not astigmatic: of the young and the pre-presbyopic four in five are
    # soft, the three presbyopic none. One branch per age would gain more, at a lower ratio.
    gain = 1 - 5 / 8 * entropy([1, 4])
    assert tree.node_table_.nodes["gain"][tree.node_table_.nodes["feature"] == 0] == pytest.approx([gain])
    assert gain / entropy([5, 3]) == pytest.approx(0.57500, abs=1e-5)
    assert (1 - 2 / 8) / entropy([2, 3, 3]) == pytest.approx(0.48038, abs=1e-5)
    # In the order of the alphabet the pair of the pre-presbyopic and the presbyopic comes first.
    lines = tree_lines(grouped().fit(LENSES_X, LENSES_Y))
    assert lines[1:3] == [
        "|   age in {pre-presbyopic, presbyopic}: none (5.0/1.0)",
        "|   age = young: soft (3.0)",
    ]


def test_golf():
    """Overcast alone: ratio 0.226 / 0.863; one branch each 0.247 / 1.577; the other pairs are below that."""
    tree = grouped(**WHOLE, max_depth=1).fit(GOLF[["outlook"]], PLAY)
    assert tree_lines(tree) == [
        "outlook = overcast: play (4.0)",
        "outlook in {rain, sunny}: don't (10.0/5.0)",
    ]
    assert tree.node_table_.nodes["gain"][0] == pytest.approx(entropy([9, 5]) - 10 / 14)
    ratios = {
        "one branch each": (entropy([9, 5]) - 10 / 14 * entropy([2, 3])) / entropy([5, 4, 5]),
        "overcast alone": (entropy([9, 5]) - 10 / 14) / entropy([4, 10]),
        "rain alone": (entropy([9, 5]) - 5 / 14 * entropy([3, 2]) - 9 / 14 * entropy([6, 3]))
        / entropy([5, 9]),
        "sunny alone": (entropy([9, 5]) - 5 / 14 * entropy([2, 3]) - 9 / 14 * entropy([7, 2]))
        / entropy([5, 9]),
    }
    assert ratios == pytest.approx(
        {
            "one branch each": 0.15643,
            "overcast alone": 0.26184,
            "rain alone": 0.00339,
            "sunny alone": 0.10873,
        },
        abs=1e-5,
    )


@pytest.mark.parametrize(
    ("counts", "branches"),
    [
        # Equal shares of the classes: nothing is gained by telling such categories apart.
        ({"a": (4, 0), "b": (0, 4), "c": (3, 0), "d": (0, 5)}, ["x in {a, c}", "x in {b, d}"]),
        # Three classes of equal size: merging two gives ratio 0.918 / 0.918, no better than 1.585 / 1.585.
        ({"a": (2, 0, 0), "b": (0, 2, 0), "c": (0, 0, 2)}, ["x = a", "x = b", "x = c"]),
        # Of pairs that are equally good the first is merged, and two groups are always left.
        ({"a": (2, 2), "b": (3, 1), "c": (2, 2), "d": (2, 2)}, ["x in {a, c, d}", "x = b"]),
        # No category has two rows: they are merged until two groups have.
        ({"a": (1, 0), "b": (0, 1), "c": (1, 0), "d": (0, 1)}, ["x in {a, c}", "x in {b, d}"]),
    ],
)
def test_groups_by_hand(counts, branches):
    X, y = table_of(counts)
    assert conditions(grouped(**WHOLE).fit(X, y)) == branches


def test_the_two_large_groups_stay_apart():
    # {a, b} against the single row of c has the best ratio, but two branches need two rows. To add that row
    # to b would lower the ratio.
    X, y = table_of({"a": (6, 1), "b": (6, 1), "c": (0, 1)})
    assert conditions(grouped(**WHOLE).fit(X, y)) == ["x = a", "x = b", "x = c"]
    one = grouped(min_samples_leaf=1, **WHOLE).fit(X, y)
    assert conditions(one) == ["x in {a, b}", "x = c"]


def test_missing_values_are_one_more_branch_of_the_split_information():
    X, y = table_of({"a": (3, 0), "b": (2, 0), "c": (0, 4)})
    X.loc[[0, 5]] = None
    tree = grouped(criterion="gain", **WHOLE).fit(X, y)
    assert conditions(tree) == ["x in {a, b}", "x = c"]
    known = [4, 3]
    assert tree.node_table_.nodes["gain"][0] == pytest.approx(7 / 9 * entropy(known))
    # The missing rows are in both branches, by their shares.
    assert tree.node_table_.nodes["size"][1:] == pytest.approx([4 + 2 * 4 / 7, 3 + 2 * 3 / 7])


def test_categories_that_do_not_occur_at_a_node_join_its_largest_group():
    X = pd.DataFrame({"side": ["l"] * 9 + ["r"] * 8, "x": list("aaaabbbcc") + list("abcdabcd")})
    y = [0] * 4 + [1] * 5 + [2] * 8
    tree = grouped(**WHOLE).fit(X, y)
    lines = ["side = l", "|   x = a: 0 (4.0)", "|   x in {b, c, d}: 1 (5.0)", "side = r: 2 (8.0)"]
    assert tree_lines(tree) == lines
    unseen = pd.DataFrame({"side": ["l", "l"], "x": ["d", "never"]})
    assert tree.predict(unseen).tolist() == [1, 1]


def test_more_than_256_categories_are_not_grouped():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": [f"c{i % 300:03}" for i in range(1200)]})
    y = (np.arange(1200) % 300 < 150) ^ (rng.random(1200) < 0.1)
    tree = grouped(**WHOLE).fit(X, y)
    assert tree.node_table_.nodes["n_children"][0] == 300
    few = X["x"] < "c256"
    assert grouped(**WHOLE).fit(X[few], y[few]).node_table_.nodes["n_children"][0] < 20


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("seed", range(3))
def test_weights_are_copies(seed, missing):
    X, y = mixed(seed, missing=missing)
    times = np.random.default_rng(seed).integers(0, 4, len(y))
    weighted = grouped().fit(X, y, sample_weight=times)
    rows = np.repeat(np.arange(len(y)), times)
    copied = grouped().fit(X.iloc[rows], y[rows])
    assert weighted.export_text() == copied.export_text()
    assert weighted.predict_proba(X) == pytest.approx(copied.predict_proba(X))


def test_every_row_meets_one_rule():
    X, y = mixed(8, n=300, missing=0.0)
    rules = grouped(pruning=None).fit(X, y).rules()
    assert any(condition.operator == "in" for rule in rules for condition in rule.conditions)
    compare = {"<=": np.less_equal, ">": np.greater, "=": np.equal, "in": lambda x, some: np.isin(x, some)}
    met = np.array(
        [
            np.all([compare[c.operator](X[c.name].to_numpy(), c.value) for c in rule.conditions], axis=0)
            for rule in rules
        ]
    )
    assert (met.sum(axis=0) == 1).all()
    predicted = grouped(pruning=None).fit(X, y).predict(X)
    assert [rules[i].prediction for i in met.argmax(axis=0)] == predicted.tolist()


def test_members_of_an_ensemble_group_too():
    X, y = mixed(9, n=200)
    model = SubsetBaggingClassifier(grouped(), 3, random_state=0).fit(X, y)
    member = model.estimators_[0]
    assert member.group_categories
    assert any("in {" in line for line in tree_lines(member))


# --- the least gap ---


def test_no_cut_between_values_that_are_too_close():
    x = np.array([1.0, 1.0, 1.5, 1.5, 2.0, 2.0, 4.0, 4.0])
    y = [0, 0, 1, 1, 1, 1, 1, 1]
    assert tree_lines(C45Classifier(**WHOLE).fit(x[:, np.newaxis], y))[0] == "x0 <= 1.25: 0 (2.0)"
    # The values 1, 1.5 and 2 form a chain: no two neighbours are more than half apart.
    chained = C45Classifier(min_value_gap=0.5, **WHOLE).fit(x[:, np.newaxis], y)
    assert tree_lines(chained) == ["x0 <= 3: 1 (6.0/2.0)", "x0 > 3: 1 (2.0)"]
    # Without the value in the middle, 1 and 2 are far enough apart.
    apart = x != 1.5
    tree = C45Classifier(min_value_gap=0.5, **WHOLE).fit(x[apart, np.newaxis], np.array(y)[apart])
    assert tree_lines(tree)[0] == "x0 <= 1.5: 0 (2.0)"
    assert tree_lines(C45Classifier(min_value_gap=5, **WHOLE).fit(x[:, np.newaxis], y)) == [": 1 (8.0/2.0)"]


def test_cuts_that_are_not_allowed_do_not_count_for_the_penalty():
    x = np.array([0.0, 0.1, 5.0, 5.1, 9.0, 9.1])
    y = [0, 0, 1, 1, 1, 1]

    def splits(min_samples_leaf, **options):
        tree = C45Classifier(min_samples_leaf=min_samples_leaf, **WHOLE, **options).fit(x[:, np.newaxis], y)
        return len(tree.node_table_.nodes) > 1

    # The gain is the entropy of 2 in 6, 0.918. Five cuts cost log2(5) / 6, two cost 1 / 6: less either way.
    assert entropy([2, 4]) > math.log2(5) / 6 > 1 / 6
    assert splits(1)
    assert splits(1, min_value_gap=0.2)
    # Noise of little gain stays only where it has few cuts.
    x, y = (
        np.array([0.0, 0.01, 0.02, 0.03, 0.04, 7.0, 7.01, 7.02, 7.03, 7.04]),
        [0, 1, 0, 1, 0, 1, 1, 0, 1, 1],
    )
    gain = entropy([4, 6]) - 0.5 * entropy([3, 2]) - 0.5 * entropy([1, 4])
    assert 0 < gain < math.log2(9) / 10
    assert not splits(1)
    assert splits(1, min_value_gap=0.1)
