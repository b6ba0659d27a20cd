"""The oracles themselves, against values worked by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import reference

NO, YES = [0, 4, 4], [3, 0, 6]  # lenses by astigmatism: hard, soft, none


def test_scores_of_the_lenses():
    # Bommaganti 2.3.5 (READINGS B1): H(3, 4, 10) = 0.44162 + 0.49117 + 0.45031, branches 1 and 0.9183 bits.
    assert reference.entropy([3, 4, 10]) == pytest.approx(1.38310, abs=1e-5)
    assert reference.entropy_gain([NO, YES]) == pytest.approx(0.426, abs=5e-4)
    assert reference.entropy_gain([[1, 2, 6], [2, 2, 4]]) == pytest.approx(0.029, abs=5e-4)
    assert reference.split_information([NO, YES]) == pytest.approx(0.99750, abs=1e-5)
    assert reference.gain_ratio([NO, YES]) == pytest.approx(0.42742, abs=1e-5)


def test_gini_and_ssv_by_hand():
    assert reference.gini([1, 1]) == 0.5
    assert reference.gini_decrease([[2, 0], [1, 1]]) == pytest.approx(0.375 - 0.25)
    # L = (0, 4, 4), R = (3, 0, 6): parted pairs 4 * 9 + 4 * 3 = 48; only "none" is cut, by 4.
    assert reference.ssv([NO, YES]) == 2 * 48 - 4
    assert reference.ssv([YES, NO]) == 2 * 48 - 4
    # Three branches: the one row of class 1 parts from both of class 0, one of which is outside its fullest.
    assert reference.ssv([[1, 0], [0, 1], [1, 0]]) == 2 * 2 - 1


def test_cuts_by_hand():
    x, y = [1.0, 1.0, 2.0, 4.0], [0, 0, 0, 1]
    assert reference.cuts(x, y, "entropy").keys() == {1.5, 3.0}
    assert reference.cuts(x, y, "entropy")[3.0] == pytest.approx(reference.entropy([3, 1]))
    assert reference.cuts(x, y, "entropy", weights=[1, 1, 1, 0]).keys() == {1.5}


def test_cuts_with_missing_values_by_hand():
    x, y = [1.0, 2.0, math.nan], [0, 1, 1]
    assert reference.cuts(x, y, "entropy", missing="left") == {1.5: pytest.approx(0.918296 - 2 / 3)}
    right = reference.cuts(x, y, "entropy", missing="right")
    assert right == {1.5: pytest.approx(0.918296), math.inf: pytest.approx(0.918296 - 2 / 3)}
    assert reference.cuts(x, y, "entropy", missing="known") == {1.5: pytest.approx(2 / 3)}
    ratio = reference.cuts(x, y, "gain_ratio", missing="known")
    assert ratio == {1.5: pytest.approx(2 / 3 / math.log2(3))}
    with pytest.raises(ValueError, match="missing"):
        reference.cuts(x, y, "entropy")


def test_nominal_splits_by_hand():
    x, y = [0, 0, 1, 2, -1], [0, 0, 1, 1, 1]
    found = reference.subsets(x, y, "entropy")
    assert len(found) == 2**4 - 2
    assert found[frozenset({0})] == found[frozenset({-1, 1, 2})] == pytest.approx(reference.entropy([2, 3]))
    assert reference.multiway(x, y, "entropy", missing="category") == pytest.approx(reference.entropy([2, 3]))
    assert reference.multiway(x, y, "entropy") == pytest.approx(0.8 * 1.0)
    assert reference.multiway([0, 0, -1], [0, 1, 1], "entropy") == 0.0


def test_tree_by_hand():
    # Column 0 and column 1 part the classes alike at the root: the first column wins.
    X = [[1, 5, 0], [2, 6, 0], [3, 7, 1], [3, 7, 0]]
    tree = reference.grow(X, [0, 0, 1, 2])
    assert tree["split"] == {"threshold": 2.5, "missing": 0, "feature": 0}
    assert tree["gain"] == pytest.approx(1.0)
    assert list(tree["children"][0]["counts"]) == [2, 0, 0]
    assert tree["children"][1]["split"] == {"threshold": 0.5, "missing": 0, "feature": 2}
    assert reference.predict_proba(tree, [[9, 0, 1], [math.nan, 0, 0]]).tolist() == [[0, 1, 0], [1, 0, 0]]
    assert "split" not in reference.grow(X, [0, 0, 1, 2], max_depth=0)
    assert "split" not in reference.grow(X, [0, 0, 1, 2], min_size_leaf=3)
    assert "split" not in reference.grow(X, [0, 0, 1, 2], min_size_split=5)
    assert "split" not in reference.grow(X, [0, 0, 1, 2], min_gain=1.01)


def test_tree_splits_impure_nodes_even_without_gain():
    xor = reference.grow([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    assert xor["gain"] == pytest.approx(0.0)
    assert xor["split"]["feature"] == 0
    assert [child["split"]["feature"] for child in xor["children"]] == [1, 1]


def test_tree_learns_the_side_of_missing_values():
    X = np.array([[1.0], [2.0], [3.0], [math.nan]])
    right = reference.grow(X, [0, 0, 1, 1])
    assert right["split"] == {"threshold": 2.5, "missing": 1, "feature": 0}
    apart = reference.grow(X, [0, 0, 0, 1])
    assert apart["split"] == {"threshold": math.inf, "missing": 1, "feature": 0}
    nominal = reference.grow([[0.0], [1.0], [math.nan]], [0, 1, 0], nominal=[0])
    assert nominal["split"] == {"left": frozenset({1}), "missing": 1, "feature": 0}


def test_walk_of_a_node_table():
    # A numeric cut at the root (missing: both ways), then three branches by category.
    fields = ["first_child", "feature", "category_set", "n_children", "missing_branch", "majority_branch"]
    nodes = np.zeros(6, dtype=[(name, "i4") for name in fields] + [("threshold", "f8"), ("size", "f8")])
    nodes[0] = (1, 0, -1, 2, -1, 1, 0.5, 8)
    nodes[2] = (3, 1, 0, 3, 1, 2, 0.0, 6)
    for leaf, size in [(1, 2), (3, 1), (4, 2), (5, 3)]:
        nodes[leaf] = (-1, -1, -1, 0, 0, 0, 0.0, size)
    counts = np.array([[4, 4], [2, 0], [2, 4], [1, 0], [1, 1], [0, 3]], dtype=float)
    table = SimpleNamespace(
        nodes=nodes,
        counts=counts,
        set_offsets=np.array([0, 3]),
        set_codes=np.array([4, 7, 9]),
        set_branches=np.array([0, 1, 2]),
    )
    X = np.array([[0.5, 4.0], [1.0, 4.0], [1.0, math.nan], [1.0, -1.0], [1.0, 5.0], [math.nan, 4.0]])
    assert [reference.leaf_of(table, row) for row in X] == [1, 3, 4, 5, 5, 3]
    expected = [[1, 0], [1, 0], [0.5, 0.5], [0, 1], [0, 1], [1, 0]]
    assert reference.predict_rows(table, X).tolist() == expected
    mixed = reference.predict_rows(table, [[math.nan, 9.0]])[0]
    assert mixed == pytest.approx([0.25, 0.75])  # a quarter goes left


def test_node_complexity_by_hand():
    assert set(reference.arrangements([2, 1])) == {(0, 0, 1), (0, 1, 0), (1, 0, 0)}
    assert reference.node_complexity([5, 0]) == 0.0
    assert reference.node_complexity([1, 1]) == 0.0  # READINGS R2
    # Three arrangements, one of them its own mirror image: log2(3) - (1 - 1/3).
    assert reference.node_complexity([2, 1]) == pytest.approx(math.log2(3) - 2 / 3)
    # Rogers & Gunn, Figure 1 and Table 1: n = 5, i = 3, C = 10, A_u = C(2, 1) = 2.
    assert reference.node_complexity([3, 2]) == pytest.approx(math.log2(10) - 0.8)
    assert reference.node_complexity([1, 1, 1]) == pytest.approx(math.log2(6) - 1)


def test_random_bits():
    # splitmix64 from state 0 returns mix64(G), mix64(2 G), ... : the published first outputs.
    assert reference.mix64(reference.GOLDEN) == 0xE220A8397B1DCDAF
    assert reference.mix64(2 * reference.GOLDEN) == 0x6E789E6AA1B965F4
    bits = reference.Bits(1, 2, 3)
    assert [bits.next() for _ in range(3)] == [
        reference.mix64(bits.key + k * reference.GOLDEN) for k in (1, 2, 3)
    ]
    draws = [reference.Bits(7, tree, 0).below(10) for tree in range(2000)]
    assert min(draws) == 0
    assert max(draws) == 9
    assert np.bincount(draws).min() > 140
    units = [bits.unit() for _ in range(2000)]
    assert 0.0 <= min(units) < max(units) < 1.0
    assert np.mean(units) == pytest.approx(0.5, abs=0.03)


def test_bootstrap_draws_n_rows():
    counts = reference.bootstrap(0, 0, 1000)
    assert counts.sum() == 1000
    assert (counts == 0).mean() == pytest.approx(math.exp(-1), abs=0.05)
    assert not np.array_equal(counts, reference.bootstrap(0, 1, 1000))
