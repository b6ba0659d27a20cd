"""Selectors for classes and quantities: what `task` decides, what is refused, scores for a quantity."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.feature_selection import f_classif, f_regression, r_regression
from test_contract import FOR_QUANTITIES, SELECTORS, name_of

from foresift import (
    FScoreSelector,
    InfoGainSelector,
    PearsonSelector,
    RandomSelector,
    SSVSelector,
)
from foresift.criteria import variance_reduction
from foresift.data.target import task_of

EVERY = pytest.mark.parametrize("selector", FOR_QUANTITIES, ids=name_of)


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X, y + 0.25


def seeded(selector):
    """Clone a selector, with a seed wherever it takes one."""
    selector = clone(selector)
    seeds = [name for name in selector.get_params() if name.split("__")[-1] == "random_state"]
    return selector.set_params(**dict.fromkeys(seeds, 0))


@pytest.mark.parametrize(
    ("y", "task"),
    [
        ([0, 1, 2], "classification"),
        ([0.0, 1.0, 2.0], "classification"),  # whole numbers, however many
        (np.arange(1000.0), "classification"),
        ([0.0, 1.5], "regression"),
        (np.float32([0, 0.5]), "regression"),
        ([np.nan, 1.0, np.inf], "classification"),  # which refuses them
        (["0.5", "1.5"], "classification"),
        ([True, False], "classification"),
        (pd.Series([0.5, 1.5], dtype="Float64"), "regression"),
        (pl.Series([0.5, 1.5]), "regression"),
        (pd.Series([0.5, 1.5]).astype("category"), "regression"),  # as for type_of_target
        (pd.DataFrame({"y": [0.5, 1.5]}), "regression"),
    ],
)
def test_numbers_with_fractions_are_a_quantity(y, task):
    assert task_of(y) == task


@pytest.mark.parametrize("selector", [s for s in SELECTORS if "task" in s.get_params()], ids=name_of)
def test_every_selector_has_the_parameter(selector):
    assert selector.task == "auto"
    lines = type(selector).__doc__.split("\n")
    at = lines.index('    task : {"auto", "classification", "regression"}, default="auto"')
    assert "Whether y holds classes or a quantity" in lines[at + 1]
    with pytest.raises(ValueError, match="'task' parameter"):
        clone(selector).set_params(task="ranking").fit(np.eye(4), [0, 1, 0, 1])


@EVERY
def test_task_decides(selector, diabetes):
    X, y = diabetes
    X, y = X[::3, :4], y[::3]
    found = seeded(selector).fit(X, y)
    assert found.task_ == "regression"
    again = seeded(selector).set_params(task="auto").fit(X, y)
    assert again.task_ == "regression"
    assert np.array_equal(again.scores_, found.scores_, equal_nan=True)
    whole = np.round(y / 40)
    assert seeded(selector).fit(X, whole).task_ == "regression"
    assert seeded(selector).set_params(task="auto").fit(X, whole).task_ == "classification"


@EVERY
@pytest.mark.filterwarnings("ignore:No feature passed the rule")
def test_unit_and_origin_of_a_quantity_do_not_matter(selector, diabetes):
    X, y = diabetes
    X, y = X[::3, :4], np.round(y[::3])
    found = seeded(selector).fit(X, y)
    other = seeded(selector).fit(X, 2.0**20 * y - 2.0**24)
    assert other.ranking_.tolist() == found.ranking_.tolist()
    assert other.scores_ == pytest.approx(found.scores_, rel=1e-6, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("selector", [SSVSelector(), InfoGainSelector(ratio=True)])
def test_methods_for_classes_name_another(selector, diabetes):
    X, y = diabetes
    what = "set ratio=False" if isinstance(selector, InfoGainSelector) else "use "
    message = (
        f"{type(selector).__name__} needs classes, but y is a quantity: {what}.*, or cut it into classes"
    )
    for task in ("auto", "regression"):
        with pytest.raises(ValueError, match=message):
            clone(selector).set_params(task=task).fit(X, y)


def test_a_quantity_is_no_class(diabetes):
    with pytest.raises(ValueError, match='y is a quantity: set task="regression", or cut it'):
        PearsonSelector(task="classification").fit(*diabetes)
    with pytest.raises(ValueError, match=r'y holds text, .*or set task="classification"'):
        PearsonSelector(task="regression").fit(np.eye(2), ["a", "b"])


def test_correlation_and_f_are_those_of_scikit_learn(diabetes):
    X, y = diabetes
    assert PearsonSelector().fit(X, y).scores_ == pytest.approx(np.abs(r_regression(X, y)), rel=1e-12)
    assert FScoreSelector().fit(X, y).scores_ == pytest.approx(f_regression(X, y)[0], rel=1e-10)


def test_missing_values_leave_rows_out_of_a_column(diabetes):
    X, y = diabetes[0].copy(), diabetes[1]
    X[::5, 0] = X[1::7, 2] = np.nan
    X[:, 3] = np.nan
    for selector, score in [
        (FScoreSelector(), lambda X, y: f_regression(X, y)[0][0]),
        (PearsonSelector(), lambda X, y: abs(r_regression(X, y)[0])),
    ]:
        found = selector.fit(X, y).scores_
        for j in (0, 1, 2):
            known = ~np.isnan(X[:, j])
            assert found[j] == pytest.approx(score(X[known, j : j + 1], y[known]), rel=1e-10)
        assert found[3] == 0


@pytest.mark.parametrize("make", [FScoreSelector, PearsonSelector, InfoGainSelector])
def test_weights_count_rows(make, diabetes):
    X, y = diabetes
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    X = X.copy()
    X[::6, 1] = np.nan
    X[weights == 0, 4] = 1e300
    weighted = make().fit(X, y, sample_weight=weights).scores_
    repeated = make().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).scores_
    assert weighted == pytest.approx(repeated, rel=1e-10)


def test_nominal_columns_for_a_quantity(diabetes):
    y = diabetes[1]
    colour = np.array(["red", "green", "blue", None], dtype=object)[np.arange(len(y)) * 7 % 4]
    known = colour != None  # noqa: E711
    X = {"colour": colour}
    with pytest.raises(ValueError, match="set nominal='one-hot'"):
        PearsonSelector().fit(X, y)
    f = FScoreSelector(nominal="one-hot").fit(X, y).scores_
    assert f == pytest.approx(f_classif(y[known, np.newaxis], colour[known].astype(str))[0], rel=1e-10)
    means = pd.Series(y[known]).groupby(colour[known]).transform("mean")
    ratio = means.std(ddof=0) / y[known].std()
    assert PearsonSelector(nominal="one-hot").fit(X, y).scores_ == pytest.approx([ratio], rel=1e-10)


def test_columns_without_spread_and_perfect_ones():
    y = np.array([0.5, 1.5, 3.0, 7.0])
    huge = np.array([1e308, -1e308, 1e308, 0.0])
    X = np.column_stack([np.full(4, 0.1), 3 * y, -1e9 * y, huge, huge * 1e-308, y * 1e-320])
    assert PearsonSelector().fit(X, y).scores_ == pytest.approx(
        [0, 1, 1, *2 * [abs(np.corrcoef(huge / 1e308, y)[0, 1])], 1], abs=1e-3
    )
    scores = FScoreSelector().fit(X, y).scores_
    assert scores[0] == 0
    assert min(scores[1:3]) > 1e12
    assert FScoreSelector().fit(X[:2], y[:2]).scores_.tolist() == [0] * 6  # nothing is left for the residuals


def test_information_gain_of_a_quantity_is_the_explained_share(diabetes):
    X, y = diabetes[0].copy(), diabetes[1]
    X[::5, 0] = np.nan
    shares = [variance_reduction(column, y) / y.var() for column in X.T]
    found = InfoGainSelector().fit(X, y)
    assert found.scores_ == pytest.approx(shares, rel=1e-10)
    assert np.array_equal(found.scores_, found.gains_)


def test_the_random_baseline_does_not_look_at_y(diabetes):
    X, y = diabetes
    scores = RandomSelector(random_state=3).fit(X, y).scores_
    assert np.array_equal(scores, RandomSelector(random_state=3).fit(X, y > 100).scores_)
