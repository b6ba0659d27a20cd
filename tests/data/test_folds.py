"""Folds of rows that belong together: groups stay whole, and blocks of time keep a distance."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, TimeSeriesSplit

from foresift import InfoGainSelector, PearsonSelector, SequentialSelector, SubsetSizeCV, compare
from foresift.data.dependence import Dependence
from foresift.data.folds import make_folds
from foresift.data.table import make_table
from foresift.data.time_blocks import correlation_length

RNG = np.random.default_rng(0)
GROUPS = RNG.permutation(np.repeat(np.arange(20), RNG.integers(1, 12, 20)))
N = len(GROUPS)
X = RNG.normal(size=(N, 3))
CLASSES = RNG.integers(0, 2, N)
QUANTITY = RNG.normal(size=20)[GROUPS] + 0.1 * RNG.normal(size=N)
TIME = RNG.permutation(N)


def table(y=CLASSES, **dependence):
    task = "regression" if y.dtype.kind == "f" else "classification"
    return replace(make_table(X, y, task=task), dependence=Dependence(**dependence))


@pytest.mark.parametrize("y", [CLASSES, QUANTITY], ids=["classes", "quantity"])
@pytest.mark.parametrize("cv", [5, GroupKFold(5), LeaveOneGroupOut()], ids=str)
@pytest.mark.parametrize("time", [None, TIME], ids=["groups", "panel"])
def test_groups_stay_whole(y, cv, time):
    folds = make_folds(table(y, groups=GROUPS, time=time), None, cv, seed=1)
    tested = np.concatenate([fold.test for fold in folds])
    assert sorted(tested) == list(range(N))
    for fold in folds:
        assert not np.intersect1d(GROUPS[fold.train], GROUPS[fold.test]).size
        assert len(fold.train) + len(fold.test) == N


def test_folds_of_a_quantity_are_alike_in_size_and_mean():
    folds = make_folds(table(QUANTITY, groups=GROUPS), None, 4, seed=0)
    means = [QUANTITY[fold.test].mean() for fold in folds]
    assert max(means) - min(means) < QUANTITY.std()
    assert min(len(fold.test) for fold in folds) > N / 8


def test_rows_of_weight_0_are_in_no_fold():
    weights = (np.arange(N) % 3 > 0).astype(float)
    for fold in make_folds(table(groups=GROUPS), weights, 4, seed=0):
        assert (weights[np.concatenate(fold)] > 0).all()
        assert not np.intersect1d(GROUPS[fold.train], GROUPS[fold.test]).size


def series(n, memory, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    for i in range(1, n):
        y[i] += memory * y[i - 1]
    return y


def test_blocks_of_time_keep_a_distance():
    time = np.random.default_rng(1).permutation(400)
    y = series(400, 0.8)[time]
    own = replace(make_table(y[:, np.newaxis], y, task="regression"), dependence=Dependence(time=time))
    gap = correlation_length(own.target, own.dependence)
    assert 3 <= gap <= 7
    folds = make_folds(own, None, 5, seed=0)
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(400))
    for fold in folds:
        tested = np.sort(time[fold.test])
        assert (np.diff(tested) == 1).all()
        assert np.abs(time[fold.train][:, np.newaxis] - tested).min() == gap + 1
    most = 400 // 5 // 5  # of a trend, that is never forgotten
    trend = replace(own, target=replace(own.target, y=time.astype(float)))
    assert {len(fold.train) for fold in make_folds(trend, None, 5, seed=0)} == {320 - most, 320 - 2 * most}


def test_splitters_see_the_order_of_time():
    for fold in make_folds(table(time=TIME), None, TimeSeriesSplit(4), seed=0):
        assert TIME[fold.train].max() < TIME[fold.test].min()


def test_a_panel_of_few_groups_is_split_by_time():
    groups, time = np.arange(N) % 3, np.arange(N) // 3
    folds = make_folds(table(groups=groups, time=time), None, 5, seed=0)
    for fold in folds:
        assert not np.intersect1d(time[fold.train], time[fold.test]).size
    assert set(groups[folds[0].test]) == {0, 1, 2}


@pytest.mark.parametrize(
    ("dependence", "cv", "message"),
    [
        ({"groups": np.arange(N) % 3}, 5, r"^There are 3 groups, fewer than the 5 folds: lower cv\.$"),
        ({"time": np.arange(N) % 3}, 5, r"^There are 3 different times, fewer than the 5 folds: lower cv\.$"),
        (
            {"groups": np.arange(N) // 3},
            [(range(4), range(4, N))],
            "row 3 for training and row 4 of the same",
        ),
        ({"groups": CLASSES.astype(np.intp)}, 2, "no training rows of class 1"),
    ],
)
def test_what_cannot_be_split(dependence, cv, message):
    with pytest.raises(ValueError, match=message):
        make_folds(table(**dependence), None, cv, seed=0)


@pytest.mark.parametrize("cv", [4, GroupKFold(4)], ids=str)
def test_searches_and_size_curves_keep_groups_whole(cv):
    """A column that names the group is worth nothing on new ones."""
    groups = np.repeat(np.arange(24), 8)
    effect = np.random.default_rng(0).normal(size=24)[groups]
    rng = np.random.default_rng(1)
    X = np.column_stack([groups, rng.normal(size=(192, 2))])
    search = SequentialSelector(cv=cv, random_state=0, task="regression")
    assert search.fit(X, effect, groups=groups).path_.scores.max() < 0.2
    sized = PearsonSelector(SubsetSizeCV(cv=cv), task="regression").fit(X, effect, groups=groups)
    assert sized.size_curve_.mean.max() < 0.2
    if cv == 4:
        assert search.fit(X, effect).path_.scores.max() > 0.9


def test_compare_splits_by_time():
    found = compare(X, CLASSES, ["info-gain"], ["nb"], cv=4, time=TIME)
    assert found.about["cv"] == "4 blocks of time"
    assert compare(X, CLASSES, ["info-gain"], ["nb"], cv=0.3, time=TIME).about["cv"] == "last 0.3 for testing"
    with pytest.raises(ValueError, match="time repeats"):
        compare(X, CLASSES, ["info-gain"], ["nb"], cv=4, time=GROUPS)
    panel = compare(X, CLASSES, [InfoGainSelector()], ["nb"], cv=4, time=TIME, groups=GROUPS)
    assert panel.about["cv"] == "4 stratified folds of groups"
