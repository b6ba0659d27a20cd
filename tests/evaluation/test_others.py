"""Methods of other libraries by name: they take any table, and fit into a comparison."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, VarianceThreshold

from foresift import compare
from foresift.errors import InputError
from foresift.evaluation.compare.others import CodedSelector, make_other
from foresift.evaluation.registry import OTHERS


def table(task):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    X["kind"] = rng.choice(["u", "v"], 60)
    y = 3 * X["b"] + 2 * (X["kind"] == "u")
    X.loc[::9, "b"] = np.nan
    X["gone"] = np.nan
    return X, y if task == "regression" else np.where(y > 1, "high", "low")


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("key", OTHERS)
def test_they_select_columns_of_any_table(key, task):
    if key == "boruta":
        pytest.importorskip("boruta")
    X, y = table(task)
    selector = make_other(key, ["own"], task)
    small = {name: 10 for name, value in selector.get_params().items() if name.endswith("n_estimators")}
    if key != "boruta":
        selector.set_params(**small)
    seeds = [name for name in selector.get_params() if name.endswith("random_state")]
    fitted = clone(selector).set_params(**dict.fromkeys(seeds, 0)).fit(X, y)
    assert fitted.get_support()[1]
    assert fitted.transform(X).shape == (60, fitted.get_support().sum())
    again = clone(selector).set_params(**dict.fromkeys(seeds, 0)).fit(X, y)
    np.testing.assert_array_equal(again.get_support(), fitted.get_support())


def test_they_are_compared():
    X, y = table("regression")
    found = compare(X, y, ["select-from-model", "permutation"], ["knn"], sizes=["own", 2], cv=2)
    assert found.failures == []
    assert {row.n_features for row in found.rows if row.size == "2"} == {2}
    ranked = compare(X, y, ["rfe"], ["knn"], sizes=[2, 3], cv=2)
    assert ranked.failures == []


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "boruta", None)
    X, y = table("regression")
    with pytest.raises(InputError, match=r"The method 'boruta' needs BorutaPy: pip install boruta\."):
        compare(X, y, ["boruta"])


def test_at_least_one_column_is_kept():
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.arange(40) % 2

    class Nothing(SelectKBest):
        def _get_support_mask(self):
            return np.zeros(3, dtype=bool)

    fitted = CodedSelector(Nothing(k=1)).fit(X, y)
    assert fitted.get_support(indices=True).tolist() == [fitted.scores_.argmax()]
    assert CodedSelector(VarianceThreshold()).fit(X, y).get_support().all()
