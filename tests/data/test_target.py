"""A quantity as target: what is read, what is refused, and what it answers."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

import foresift
from foresift.data.table import make_table
from foresift.data.target import Classes, Quantity, Target, table_task_of

X = np.arange(8.0).reshape(4, 2)


def read(y, estimator=None):
    return make_table(X, y, estimator=estimator, task="regression").target


GOOD = {
    "list": [3, 1.5, 2, 1.5],
    "float32": np.array([3, 1.5, 2, 1.5], dtype=np.float32),
    "objects": np.array([3, 1.5, 2, 1.5], dtype=object),
    "decimals": [Decimal("3"), Decimal("1.5"), Decimal(2), Decimal("1.5")],
    "pandas": pd.Series([3, 1.5, 2, 1.5]),
    "pandas nullable": pd.Series([3, 1.5, 2, 1.5], dtype="Float64"),
    "pandas frame": pd.DataFrame({"y": [3, 1.5, 2, 1.5]}),
    "polars": pl.Series([3.0, 1.5, 2, 1.5]),
    "pyarrow": pa.chunked_array([[3.0, 1.5, 2, 1.5]]),
    "nothing masked": np.ma.array([3, 1.5, 2, 1.5]),
    "every second": np.array([3, 0, 1.5, 0, 2, 0, 1.5, 0])[::2],
}


@pytest.mark.parametrize("case", GOOD)
def test_quantity(case):
    target = read(GOOD[case])
    assert isinstance(target, Quantity)
    assert target.y.tolist() == target.values().tolist() == [3.0, 1.5, 2.0, 1.5]
    assert target.y.dtype == np.float64
    assert target.y.flags.c_contiguous
    assert (target.n_rows, target.n_outputs) == (4, 1)
    target.require_variety()


INTEGERS = [
    np.array([3, 1, 2, 1]),
    np.array([3, 1, 2, 1], dtype=np.uint8),
    pd.Series([3, 1, 2, 1], dtype="Int64"),
    pl.Series([3, 1, 2, 1]),
    pa.chunked_array([[3, 1, 2, 1]]),
]


@pytest.mark.parametrize("y", INTEGERS)
def test_integers(y):
    assert read(y).y.tolist() == [3.0, 1.0, 2.0, 1.0]


@pytest.mark.parametrize("y", [[True, False, True, True], pd.Series([1, 0, 1, 1], dtype="boolean")])
def test_booleans_are_0_and_1(y):
    assert read(y).y.tolist() == [1.0, 0.0, 1.0, 1.0]


STRUCTURED = np.zeros(4, dtype=[("age", float), ("size", int)])
BAD = {
    "too short": ([1.0, 2.0], ValueError, r"inconsistent numbers of samples: \[4, 2\]"),
    "sparse": (sparse.csr_array([[1], [0], [1], [0]]), TypeError, "pass y.toarray"),
    "NaN": ([0.0, 1.0, np.nan, 1.0], ValueError, "y contains NaN: drop the rows"),
    "None": ([0.0, 1.0, None, 1.0], ValueError, "y contains NaN: drop the rows"),
    "missing integer": (pd.Series([1, None, 0, 1], dtype="Int64"), ValueError, "y contains NaN: drop"),
    "polars null": (pl.Series([1, None, 0, 1]), ValueError, "y contains NaN: drop"),
    "infinity": ([0.0, 1.0, np.inf, 1.0], ValueError, "y contains infinity .*: drop or correct these rows"),
    "text": (["low", "high", "low", "low"], ValueError, "y holds text, .* convert y to numbers, or use a me"),
    "text of numbers": (["1", "2", "1", "3"], ValueError, "y holds text, .* convert y to numbers"),
    "text in a frame": (pd.Series(list("abca")), ValueError, "y holds text"),
    "categories": (pl.Series(list("abca"), dtype=pl.Categorical), ValueError, "y holds text"),
    "bytes": ([b"1", b"2", b"1", b"3"], ValueError, "y holds text"),
    "dates": (pd.date_range("2020-01-01", periods=4), TypeError, "y holds dates .* convert it to numbers"),
    "complex": (np.array([1j, 2, 3, 4]), ValueError, "Complex data not supported: y"),
    "two columns": (np.arange(8.0).reshape(4, 2), ValueError, "y should be a 1d array"),
    "mixed": (np.array(["a", 1, "a", 1], dtype=object), TypeError, "y mixes values of types int, str"),
    "enormous": ([0, 10**400, 1, 2], ValueError, "y holds numbers too large for float64: drop them, or res"),
    "huge": ([0.0, 1e200, 1.0, 2.0], ValueError, r"by up to 1e\+200, .* too large .* divide y by 1e\+200"),
    "tiny": ([0.0, 1e-200, 0.0, 0.0], ValueError, "by up to 1e-200, .* too small .* divide y by 1e-200"),
    "endless range": ([-1e308, 1e308, 0.0, 0.0], ValueError, r"divide y by 1.8e\+308"),
    "merged": ([10**25 + i for i in range(4)], ValueError, r"near 1e\+25, differ by less .* subtract a"),
    "merged int64": (2**60 + np.arange(4), ValueError, "subtract a constant from y"),
    "masked": (np.ma.array([1.0, 2, 3, 4], mask=[0, 1, 0, 0]), ValueError, "y contains NaN: drop the rows"),
    "structured": (STRUCTURED, TypeError, r"y is a structured array: pass one of its fields, .* y\['age'\]"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_quantity(case):
    y, error, message = BAD[case]
    with pytest.raises(error, match=message) as caught:
        read(y)
    assert "\n" not in str(caught.value)


def test_column_vector():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert read(np.array([[1], [2], [1], [2]])).y.tolist() == [1, 2, 1, 2]


def test_one_value():
    with pytest.raises(ValueError, match=r"y has one value, 7\.0: a regressor needs at least two"):
        read([7, 7, 7, 7]).require_variety()
    target = read([7, 7, 8, 9])
    target.require_variety(weights=np.array([1.0, 0.0, 1.0, 0.0]))
    with pytest.raises(ValueError, match="All rows with a positive sample_weight have the same y"):
        target.require_variety(weights=np.array([1.0, 2.0, 0.0, 0.0]))


REGRESSORS = {name for name in foresift.__all__ if name.endswith("Regressor")}


@pytest.mark.parametrize("name", [name for name in foresift.__all__ if name.endswith("Classifier")])
def test_classifiers_name_a_regressor(name):
    own = name.replace("Classifier", "Regressor")
    regressor = own if own in REGRESSORS else "SiftForestRegressor"
    message = f"{name} needs classes, but y is a quantity: use {regressor}, or cut it"
    with pytest.raises(ValueError, match=message):
        getattr(foresift, name)().fit(X, [0.5, 1.5, 2.5, 0.5])


def test_masked_and_structured_classes():
    labels = np.array(["a", "b", "a", "b"])
    for y in (labels, np.array([0, 1, 0, 1])):
        assert Classes.read(np.ma.array(y), 4).values().tolist() == y.tolist()
        with pytest.raises(ValueError, match="y contains NaN: drop the rows"):
            Classes.read(np.ma.array(y, mask=[0, 0, 0, 1]), 4)
    with pytest.raises(TypeError, match="y is a structured array"):
        Classes.read(STRUCTURED, 4)


def test_both_kinds_answer_the_same():
    rows = np.array([2, 0])
    for task, kind in (("classification", Classes), ("regression", Quantity)):
        target = Target.of([3, 1, 2, 1], 4, task)
        assert type(target) is kind
        assert target.take(rows).values().tolist() == [2, 3] == target.values(rows).tolist()
        assert target.take_present(rows).values().tolist() == [2, 3]
        assert target.take(rows).n_rows == 2
        assert target.complexity() == pytest.approx(math.log2(12) - 1)  # 4! / 2!, of which mirrored are one


def test_complexity_counts_ties_and_weights():
    target = read([3, 1, 2, 1])
    doubled = Quantity(np.array([3.0, 3, 1, 1, 2, 2, 1, 1]))
    assert target.complexity(np.full(4, 2.0)) == pytest.approx(doubled.complexity())
    assert target.complexity(np.array([1.0, 1, 0, 0])) == 0.0
    assert read([5, 5, 5, 5]).complexity() == 0.0
    many = Quantity(np.arange(1000.0))
    assert many.complexity() == pytest.approx(math.lgamma(1001) / math.log(2) - 1)


def test_impurity_of_a_large_offset_and_weights():
    y = np.array([0.25, 0.5, 1.0, 0.0])
    assert Quantity(1e9 + y).impurity() == pytest.approx(y.var(), rel=1e-6)
    weights = np.array([1.0, 2.0, 0.0, 1.0])
    assert Quantity(y).impurity(weights) == pytest.approx(np.var([0.25, 0.5, 0.5, 0.0]))
    assert Quantity(y).gain_unit(weights) == Quantity(y).impurity(weights)
    assert Classes.read([0, 1, 1], 3).gain_unit() == 1.0


def test_strata():
    rng = np.random.default_rng(0)
    y = rng.normal(size=1000)
    strata = Quantity(y).strata(5)
    assert np.bincount(strata).tolist() == [200] * 5
    assert all(y[strata == k].max() < y[strata == k + 1].min() for k in range(4))
    ties = Quantity(np.repeat([1.0, 2.0, 3.0], [900, 50, 50])).strata(10)
    assert np.unique(ties).tolist() == [*range(ties.max() + 1)]
    assert (ties[:900] == 0).all()
    assert Classes.read(list("abca"), 4).strata(2).tolist() == [0, 1, 2, 0]


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["a", "b", "c"], "classification"),
        ([str(i / 3) for i in range(50)], "classification"),
        ([True, False, True], "classification"),
        ([0.5, 1.5, 0.5], "classification"),  # two values
        ([0.5, 1.5, 2.0], "regression"),
        ([0.5, 1.5, math.nan], "classification"),  # the value that is missing is none
        ([0.0, 1.0, math.inf], "classification"),
        (range(20), "classification"),
        (range(21), "regression"),
        (np.arange(21.0), "regression"),
        (np.arange(21).astype(np.uint8), "regression"),
        ([*range(21), None], "regression"),
        ([Decimal(1), Decimal(2), Decimal("2.5")], "regression"),
        (pd.Series(range(50), dtype="category"), "classification"),
        (pd.Series([0.5, 1, 2]).astype("category"), "classification"),
        (pd.Series([0.5, 1, 2, None], dtype="Float64"), "regression"),
        (pd.Series(range(21), dtype="Int64"), "regression"),
        (pl.Series(range(21)), "regression"),
        (pl.Series(["a", "b", "c"], dtype=pl.Categorical), "classification"),
        (pa.array([0.5, 1, 2]), "regression"),
        (pd.DataFrame({"y": [0.5, 1, 2]}), "regression"),
        (np.array([[0.5], [1], [2]]), "regression"),
        ([3, 3, 3], "classification"),
        ([], "classification"),
    ],
)
def test_what_a_table_says_about_its_target(y, task):
    assert table_task_of(y) == task
