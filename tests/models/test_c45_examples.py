"""C4.5 on the examples of the literature: the lenses of the thesis, Quinlan's golf data."""

import numpy as np
import pandas as pd
import pytest
from reference_c45 import added_errors, entropy

from foresift.criteria import gain_ratio, information_gain
from foresift.engine.tree_text import Condition
from foresift.models.c45 import C45Classifier


def tree_lines(tree):
    return tree.export_text().split("\n\n")[0].split("\n")


# --- the lenses of the thesis: Table 1, 17 rows ---

LENSES = [
    line.split()
    for line in """
    young myope no reduced soft
    young myope no normal soft
    young myope yes reduced none
    young hypermetrope no normal soft
    young hypermetrope yes reduced hard
    pre-presbyopic myope yes reduced none
    pre-presbyopic myope yes normal hard
    pre-presbyopic hypermetrope no reduced none
    pre-presbyopic hypermetrope no normal soft
    pre-presbyopic hypermetrope yes reduced none
    presbyopic myope no reduced none
    presbyopic myope no normal none
    presbyopic myope yes reduced none
    presbyopic myope yes normal hard
    presbyopic hypermetrope no reduced none
    presbyopic hypermetrope yes reduced none
    presbyopic hypermetrope yes normal none
    """.strip().split("\n")
]
COLUMNS = ["age", "prescription", "astigmatic", "tears"]
LENSES_X = pd.DataFrame([row[:4] for row in LENSES], columns=COLUMNS)
LENSES_Y = np.array([row[4] for row in LENSES])


def test_lenses_entropy_and_gains():
    counts = LENSES_X.groupby(LENSES_Y).size()[["hard", "soft", "none"]].tolist()
    assert counts == [3, 4, 10]
    assert entropy(counts) == pytest.approx(1.3831, abs=1e-4)
    gains = {name: information_gain(LENSES_X[name], LENSES_Y) for name in COLUMNS}
    # Hard, soft and none among the rows of every value.
    by_hand = {
        "age": [[1, 3, 1], [1, 1, 3], [1, 0, 6]],
        "prescription": [[2, 2, 5], [1, 2, 5]],
        "astigmatic": [[0, 4, 4], [3, 0, 6]],
        "tears": [[1, 1, 8], [2, 3, 2]],
    }
    for name, branches in by_hand.items():
        inside = sum(sum(branch) / 17 * entropy(branch) for branch in branches)
        assert gains[name] == pytest.approx(entropy(counts) - inside)
    assert gains == pytest.approx(
        {"age": 0.333028, "prescription": 0.011921, "astigmatic": 0.426355, "tears": 0.199813}, abs=1e-6
    )
    assert round(gains["astigmatic"], 3) == 0.426  # as printed in the thesis
    assert max(gains, key=gains.get) == "astigmatic"
    # The counts in its prose, one hard, two soft and six none, are not those of the table: they gain 0.029.
    wrong = entropy(counts) - 9 / 17 * entropy([1, 2, 6]) - 8 / 17 * entropy([2, 2, 4])
    assert wrong == pytest.approx(0.029, abs=5e-4)


def test_lenses_gains_one_level_down():
    """What Figure 8 has made-up numbers for."""
    gains = {}
    for side in ("no", "yes"):
        rows = (LENSES_X["astigmatic"] == side).to_numpy()
        for name in ("age", "tears", "prescription"):
            gains[side, name] = information_gain(LENSES_X[name][rows], LENSES_Y[rows])
    assert gains == pytest.approx(
        {
            ("no", "age"): 0.75,
            ("no", "tears"): 0.188722,
            ("no", "prescription"): 0.0,
            ("yes", "age"): 0.029407,
            ("yes", "tears"): 0.178849,
            ("yes", "prescription"): 0.018311,
        },
        abs=1e-6,
    )
    names = ("age", "tears", "prescription")
    cumulative = {name: (8 * gains["no", name] + 9 * gains["yes", name]) / 17 for name in names}
    assert max(cumulative, key=cumulative.get) == "age"


@pytest.mark.parametrize("options", [{}, {"pruning": None}, {"pruning": None, "criterion": "gain"}])
def test_lenses_tree(options):
    """The tests of the rules in the thesis: astigmatic, then age and tears."""
    tree = C45Classifier(**options).fit(LENSES_X, LENSES_Y)
    assert tree_lines(tree) == [
        "astigmatic = no",
        "|   age = pre-presbyopic: none (2.0/1.0)",
        "|   age = presbyopic: none (3.0)",
        "|   age = young: soft (3.0)",
        "astigmatic = yes",
        "|   tears = normal: hard (3.0/1.0)",
        "|   tears = reduced: none (6.0/1.0)",
    ]
    assert tree.export_text().endswith("\n\nNumber of leaves: 5\nSize of the tree: 8")
    nodes = tree.node_table_.nodes
    assert nodes["gain"][0] == pytest.approx(0.426355, abs=1e-6)
    # The instance of section 2.3.2.
    instance = pd.DataFrame([["young", "hypermetrope", "yes", "normal"]], columns=COLUMNS)
    assert tree.predict(instance).tolist() == ["hard"]


def test_id3_fits_the_lenses():
    id3 = {"criterion": "gain", "pruning": None, "collapse": False, "min_samples_leaf": 1}
    tree = C45Classifier(**id3).fit(LENSES_X, LENSES_Y)
    assert tree.score(LENSES_X, LENSES_Y) == 1
    assert (tree.node_table_.n_leaves, len(tree.node_table_.nodes)) == (10, 17)


# --- the golf data of Quinlan (1993), chapters 2 and 3 ---

GOLF = pd.DataFrame(
    {
        "outlook": ["sunny"] * 5 + ["overcast"] * 4 + ["rain"] * 5,
        "temperature": [75, 80, 85, 72, 69, 72, 83, 64, 81, 71, 65, 75, 68, 70.0],
        "humidity": [70, 90, 85, 95, 70, 90, 78, 65, 75, 80, 70, 80, 80, 96.0],
        "windy": [True, True, False, False, False, True, False, True, False, True, True, False, False, False],
    }
)
PLAY = np.array(["play", "don't", "don't", "don't"] + ["play"] * 5 + ["don't", "don't"] + ["play"] * 3)


def test_golf():
    assert information_gain(GOLF["outlook"], PLAY) == pytest.approx(0.247, abs=5e-4)
    assert gain_ratio(GOLF["outlook"], PLAY) == pytest.approx(0.156, abs=5e-4)
    assert tree_lines(C45Classifier().fit(GOLF, PLAY)) == [
        "outlook = overcast: play (4.0)",
        "outlook = rain",
        "|   windy = False: play (3.0)",
        "|   windy = True: don't (2.0)",
        "outlook = sunny",
        "|   humidity <= 77.5: play (2.0)",
        "|   humidity > 77.5: don't (3.0)",
    ]


def test_golf_with_a_missing_value():
    """Quinlan (1993), section 3.2: one outlook is not known, and then a new case has no humidity."""
    X = GOLF.copy()
    X.loc[5, "outlook"] = None
    assert information_gain(X["outlook"], PLAY) == pytest.approx(0.199, abs=5e-4)
    assert gain_ratio(X["outlook"], PLAY) == pytest.approx(0.110, abs=5e-4)
    tree = C45Classifier(thresholds="value").fit(X, PLAY)
    assert tree_lines(tree) == [
        "outlook = overcast: play (3.23)",
        "outlook = rain",
        "|   windy = False: play (3.0)",
        "|   windy = True: don't (2.38/0.38)",
        "outlook = sunny",
        "|   humidity <= 75: play (2.0)",
        "|   humidity > 75: don't (3.38/0.38)",
    ]
    assert tree.node_table_.nodes["gain"][0] == pytest.approx(0.199, abs=5e-4)
    new = pd.DataFrame({"outlook": ["sunny"], "temperature": [70.0], "humidity": [np.nan], "windy": [False]})
    assert tree.predict_proba(new)[0] == pytest.approx([0.56, 0.44], abs=5e-3)
    known = 3.38 / 5.38
    assert tree.predict_proba(new)[0, 0] == pytest.approx(known * 3 / 3.38, abs=1e-3)


def test_expected_errors_of_quinlan():
    """Quinlan (1993), section 4.2; (16, 1) is 0.157 in the book, where the limit is not approximated."""
    for (n, errors), rate in {(6, 0): 0.206, (9, 0): 0.143, (1, 0): 0.750, (16, 1): 0.157}.items():
        assert (errors + added_errors(n, errors, 0.25)) / n == pytest.approx(rate, abs=3e-3)


def test_rules_read_well():
    tree = C45Classifier().fit(GOLF, PLAY)
    assert [str(rule) for rule in tree.rules()] == [
        "if outlook = overcast then play (4.0)",
        "if outlook = rain and windy = False then play (3.0)",
        "if outlook = rain and windy = True then don't (2.0)",
        "if outlook = sunny and humidity <= 77.5 then play (2.0)",
        "if outlook = sunny and humidity > 77.5 then don't (3.0)",
    ]
    rule = tree.rules()[-1]
    assert rule.conditions == (Condition("outlook", "=", "sunny"), Condition("humidity", ">", 77.5))
    assert (rule.prediction, rule.coverage, rule.errors) == ("don't", 3, 0)
