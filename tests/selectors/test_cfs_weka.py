"""CFS against Weka: subsets and merits as literals, so that no Java is needed.

They are from Weka 3.9.7 (the jar in python-weka-wrapper3 0.3.3): weka.attributeSelection.CfsSubsetEval, with
option -L (no locally predictive attributes) or without, and weka.attributeSelection.BestFirst -N 5 with -D 1
(forward), -D 0 (backward) or -D 2 (bidirectional), GreedyStepwise (forward) or GreedyStepwise -B (backward).
Merits are what evaluateSubset returns for the final subset; Weka holds correlations in single precision.
"""

import os
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from foresift.selectors.cfs import CFSSelector

CONVENTIONS = ["hall", "weka"]


def frame(columns):
    return pd.DataFrame({f"c{j}": pd.Categorical(column) for j, column in enumerate(columns)})


def kept(selector):
    return sorted(selector.order_.tolist())


SMALL = [
    "1100?00?011?00?",
    "21?201?220020?1",
    "101?10?00110000",
    "2?100?1102201?1",
    "00?110?100??101",
    "100111000010000",
    "010110010000100",
    "110001110000010",
    "020202??2022102",
    "110211200012010",
    "122311212230000",
    "023012020002211",
]
SMALL_CLASS = list("100012020010201")
WEKA_SMALL = {
    ("best-first", False): ([2, 9, 10, 11], 0.45776359),
    ("best-first-backward", False): ([2, 9, 10, 11], 0.45776359),
    ("best-first-bidirectional", False): ([2, 9, 10, 11], 0.45776359),
    ("best-first-backward", True): ([0, 2, 9, 10, 11], 0.44976098),
    ("best-first-bidirectional", True): ([0, 2, 9, 10, 11], 0.44976098),
    ("forward", False): ([10, 11], 0.45374776),
    ("backward", False): ([2, 9, 10, 11], 0.45776359),
    ("best-first", True): ([0, 2, 9, 10, 11], 0.44976098),
    ("forward", True): ([0, 9, 10, 11], 0.44228987),
    ("backward", True): ([0, 2, 9, 10, 11], 0.44976098),
}


@pytest.mark.parametrize(("search", "local"), WEKA_SMALL)
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_small_table_with_missing_values_equals_weka(search, local, convention):
    X = frame([[None if value == "?" else value for value in column] for column in SMALL])
    ours = CFSSelector(search=search, locally_predictive=local, convention=convention).fit(X, SMALL_CLASS)
    columns, merit = WEKA_SMALL[search, local]
    assert kept(ours) == columns
    assert ours.merit_ == pytest.approx(merit, abs=1e-6)


def lenses():
    """The 24 cases of the lenses data: every combination of age, prescription, astigmatism and tears."""
    rows = list(product(["young", "pre", "presbyopic"], ["myope", "hypermetrope"], ["no", "yes"], [0, 1]))
    classes = []
    for age, prescription, astigmatic, tears in rows:
        if not tears or (age == "presbyopic" and prescription == "myope" and astigmatic == "no"):
            classes.append("none")
        elif astigmatic == "no":
            classes.append("soft")
        else:
            classes.append("hard" if prescription == "myope" or age == "young" else "none")
    return frame(list(zip(*rows, strict=True))), classes


@pytest.mark.parametrize(("search", "local"), WEKA_SMALL)
def test_independent_columns(search, local):
    X, y = lenses()
    theirs = CFSSelector(search=search, locally_predictive=local, convention="weka").fit(X, y)
    assert theirs.scores_ == pytest.approx([0.02706687, 0.03397192, 0.32415396, 0.47186095], abs=1e-7)  # Weka
    assert kept(theirs) == [3]  # Weka
    ours = CFSSelector(search=search, locally_predictive=local).fit(X, y)
    assert kept(ours) == ([0, 1, 2, 3] if local else [2, 3])
    if not local:
        assert ours.merit_ == pytest.approx((0.32415396 + 0.47186095) / np.sqrt(2), abs=1e-7)


SOYBEAN = [0, 2, 3, 6, 10, 11, 12, 14, 16, 17, 18, 21, 22, 23, 25, 27, 29, 34]
SOYBEAN_BACKWARD = [*SOYBEAN, 1, 13, 20, 28, 31]
SOYBEAN_BEST_FIRST_BACKWARD = [j for j in SOYBEAN if j != 18] + [1, 13, 20, 28]
SONAR = [3, 4, 8, 9, 10, 11, 12, 20, 27, 35, 43, 44, 45, 46, 47, 48, 50, 51, 53]
WEKA_NOMINAL = [
    ("house-votes-84", "best-first", False, [3], 0.7287861),  # the paper of Rogers & Gunn: V4
    ("house-votes-84", "backward", False, [3], 0.7287861),
    ("house-votes-84", "best-first", True, [2, 3, 9, 10], 0.5671888),  # V3, V4, V10, V11
    ("mushroom", "forward", False, [4], 0.5460779),
    ("mushroom", "backward", False, [4, 7, 11], 0.5157972),
    ("mushroom", "best-first", True, [4, 6, 11, 16], 0.4279018),
    ("mushroom", "backward", True, [4, 6, 7, 11, 16], 0.4638002),
    ("kr-vs-kp", "best-first", False, [9, 20, 32], 0.2572775),
    ("kr-vs-kp", "backward", True, [2, 9, 14, 15, 20, 31, 32], 0.2117669),
    ("soybean", "best-first", False, SOYBEAN, 0.7015158),
    ("soybean", "forward", True, [*SOYBEAN, 4, 7, 8, 9], 0.6777771),
    ("soybean", "backward", False, SOYBEAN_BACKWARD, 0.7010887),
    ("soybean", "backward", True, [*SOYBEAN_BACKWARD, 8], 0.696728),
    ("soybean", "best-first-backward", False, SOYBEAN_BEST_FIRST_BACKWARD, 0.7017551),
    ("soybean", "best-first-backward", True, [*SOYBEAN_BEST_FIRST_BACKWARD, 4, 8], 0.6917082),
    ("soybean", "best-first-bidirectional", False, SOYBEAN, 0.7015158),
    ("kr-vs-kp", "best-first-backward", False, [9, 20, 32], 0.2572775),
    ("splice", "best-first-bidirectional", False, [27, 28, 29, 30, 31, 34], 0.4226928),
    ("splice", "best-first", False, [27, 28, 29, 30, 31, 34], 0.4226928),
]
WEKA_NUMERIC = [
    ("iris", "best-first", False, [2, 3], 0.8873807),
    ("sonar", "best-first", False, SONAR, 0.3524746),
    ("sonar", "best-first-backward", False, SONAR, 0.3524746),
    ("glass", "best-first-bidirectional", False, [0, 1, 2, 3, 5, 6, 7], 0.5113964),
    ("glass", "best-first", True, [0, 1, 2, 3, 5, 6, 7, 8], 0.5030995),
    ("glass", "forward", False, [2, 3, 5, 6, 7], 0.5089226),
    ("hepatitis", "backward", False, [0, 1, 5, 10, 11, 12, 13, 16, 17, 18], 0.3228385),
    ("hypo", "forward", True, [5, 12, 17, 18, 21], 0.3233152),
]
NOMINAL = {"hepatitis": [1, 2, *range(3, 13), 18], "hypo": [*range(1, 17), 18, 20, 22, 24, 26, 27, 28]}


def read_table(name):
    folder = os.environ.get("FORESIFT_DATA")
    if not folder:
        pytest.skip("FORESIFT_DATA does not name the folder of the UCI tables")
    table = pd.read_csv(Path(folder) / f"{name}.csv", dtype=str, keep_default_na=False, na_values=[""])
    return table.drop(columns="class"), table["class"]


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize(("name", "search", "local", "columns", "merit"), WEKA_NOMINAL)
def test_nominal_tables_equal_weka(name, search, local, columns, merit, convention):
    X, y = read_table(name)
    ours = CFSSelector(search=search, locally_predictive=local, convention=convention).fit(X, y)
    assert kept(ours) == sorted(columns)
    assert ours.merit_ == pytest.approx(merit, abs=1e-6)


@pytest.mark.parametrize(("name", "search", "local", "columns", "merit"), WEKA_NUMERIC)
def test_numeric_tables_equal_weka(name, search, local, columns, merit):
    X, y = read_table(name)
    nominal = [X.columns[j] for j in NOMINAL.get(name, [])]
    X = X.astype({column: float for column in X.columns if column not in nominal})
    ours = CFSSelector(search=search, locally_predictive=local, convention="weka").fit(X, y)
    assert kept(ours) == sorted(columns)
    assert ours.merit_ == pytest.approx(merit, abs=1e-6)
