"""`select` with groups and time: the check does not leak, and samples keep together what belongs together."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import RFECV
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit

from foresift import PearsonSelector, select
from foresift.data.dependence import Dependence
from foresift.data.table import make_table
from foresift.evaluation.select.fitted import Rows
from foresift.evaluation.select.resample import _parts_of
from foresift.evaluation.select.rows_of_folds import drawn_rows


def patients(n_groups=40, size=8, task="classification"):
    """Columns that identify the patient, whose rows all have one class, and noise."""
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(n_groups), size)
    y = rng.permutation(np.arange(n_groups) % 2)[groups]
    if task == "regression":
        y = rng.normal(size=n_groups)[groups] + 0.01 * rng.normal(size=len(groups))
    X = pd.DataFrame(rng.normal(size=(n_groups, 3))[groups], columns=["a", "b", "c"])
    X["noise"] = rng.normal(size=len(groups))
    return X, y, pd.Series(groups, name="who")


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("cv", [None, GroupKFold(4)], ids=["folds", "splitter"])
def test_the_check_does_not_leak(task, cv):
    X, y, groups = patients(task=task)
    method = "forest-gain" if task == "regression" else "info-gain"
    leaking = select(X, y, method, 3, random_state=0)
    assert min(leaking.check[which]["score"] for which in ("full", "kept")) > 0.9
    found = select(X, y, method, 3, groups=groups, cv=cv, random_state=0)
    by_chance = 0.5 if task == "classification" else 0
    assert max(found.check[which]["score"] for which in ("full", "kept")) < by_chance + 0.15
    assert found.data["groups"] == {"column": "who", "n_groups": 40}
    assert "Folds keep the 40 groups of who whole." in found.details


def test_nested_sizes_and_samples_do_not_leak():
    X, y, groups = patients()
    found = select(X, y, groups=groups, random_state=0, parameters={"n_estimators": 50})
    assert found.check["kept"]["score"] < 0.65
    assert "time" not in found.data


def test_a_splitter_that_parts_groups_is_refused():
    X, y, groups = patients()
    with pytest.raises(ValueError, match="of the same group for testing"):
        select(X, y, "info-gain", groups=groups, cv=KFold(5, shuffle=True, random_state=0))
    with pytest.raises(ValueError, match="There are 40 groups, fewer than the 90 folds: lower cv"):
        select(X, y, "info-gain", groups=groups, cv=90)


def test_as_many_folds_as_groups():
    X, y, _ = patients()
    four = np.arange(len(y)) // 2 % 4
    assert select(X, y, "info-gain", groups=four).check["n_folds"] == 4
    found = select(X, y, "info-gain", groups=four // 2)
    assert found.check is None
    assert "The check was left out because there are 2 groups, fewer than the 3 folds." in found.notes
    one_class = y == 1
    found = select(X, y, "info-gain", groups=np.where(one_class, 0, groups_of(y)))
    assert found.check is None
    assert "The check was left out because" in found.notes[0]


def groups_of(y):
    return 1 + np.arange(len(y)) % 8


def walk(n=300, seed=0):
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=n)
    for i in range(1, n):
        noise[i] += 0.98 * noise[i - 1]
    return pd.DataFrame({"day": np.arange(n), "b": rng.normal(size=n)}), noise


def test_blocks_of_time():
    X, y = walk()
    assert select(X, y, "pearson", 2, random_state=0).check["full"]["score"] > 0.5
    time = pd.Series(pd.date_range("2020-01-01", periods=300), name="date")
    found = select(X, y, "pearson", 2, time=time, random_state=0)
    assert found.check["full"]["score"] < 0.2
    assert found.data["time"] == {"column": "date"}
    assert "Folds are blocks of time, with a gap between training and test rows." in found.details
    as_they_stand = select(X, y, "pearson", 2, dependence="time", random_state=0)
    assert as_they_stand.check == found.check
    how = {"estimator": Ridge(), "random_state": 0}
    turned = select(X[::-1], y[::-1], "pearson", 2, time=time[::-1], **how)
    assert turned.check["full"] == pytest.approx(select(X, y, "pearson", 2, time=time, **how).check["full"])


@pytest.mark.parametrize("method", ["auto", "pearson"])
def test_splits_of_time_series(method):
    X, y = walk(200)
    X["b"] += y / 4
    order = np.random.default_rng(0).permutation(200)
    mixed = select(
        X.iloc[order], y[order], method, time=order, cv=TimeSeriesSplit(4), estimator=Ridge(), random_state=0
    )
    folds = list(TimeSeriesSplit(4).split(X))
    full = [Ridge().fit(X.iloc[a], y[a]).score(X.iloc[b], y[b]) for a, b in folds]
    assert mixed.check["full"]["score"] == pytest.approx(np.mean(full))
    assert mixed.check["n_folds"] == 4


def test_purged_splits():
    X, y = walk(200)
    rows = np.arange(200)
    purged = [(rows[(rows < i - 10) | (rows >= i + 60)], rows[i : i + 50]) for i in range(0, 200, 50)]
    found = select(X, y, cv=purged, estimator=Ridge(), random_state=0)
    full = [Ridge().fit(X.iloc[a], y[a]).score(X.iloc[b], y[b]) for a, b in purged]
    assert found.check["full"]["score"] == pytest.approx(np.mean(full))


def test_other_selectors_get_the_groups():
    X, y, groups = patients(20, task="regression")
    found = select(X, y, RFECV(Ridge(), cv=GroupKFold(4)), groups=groups)
    assert found.check["n_folds"] == 5
    assert select(X, y, PearsonSelector(2), groups=groups).check["n_folds"] == 5


def rows_of(n, **dependence):
    y = np.random.default_rng(0).integers(0, 2, n)
    table = make_table(np.zeros((n, 1)), y)
    depends = Dependence(**dependence)
    return Rows(type(table)(table.store, table.schema, table.target, depends), y.astype(np.intp))


def test_rows_of_large_tables():
    rng, everything = np.random.default_rng(0), np.arange(6000)
    groups = rng.permutation(6000) // 10
    drawn = drawn_rows(rows_of(6000, groups=groups), everything, 1000, rng)
    assert len(drawn) == 1000
    assert set(np.bincount(groups[drawn])) == {0, 10}
    few = drawn_rows(rows_of(6000, groups=groups // 100), everything, 1000, rng)
    assert set(np.bincount(groups[few] // 100)) <= {166, 167}
    time = rng.permutation(6000)
    assert (time[drawn_rows(rows_of(6000, time=time), everything, 1000, rng)] >= 5000).all()
    panel = drawn_rows(rows_of(6000, groups=everything % 3, time=everything // 3), everything, 999, rng)
    assert panel.tolist() == list(range(5001, 6000))


def test_samples_keep_groups_and_blocks_of_time_whole():
    rng, y = np.random.default_rng(0), np.random.default_rng(1).normal(size=400)
    groups = rng.permutation(400) // 8
    for size in (200, 60):
        one, other = _parts_of(Dependence(groups))(y, size, rng)
        assert not set(groups[one]) & set(groups[other])
        assert len(one) == len(other) == pytest.approx(size, abs=8)
        assert set(np.bincount(groups[one])) <= {0, 8}
        one, other = _parts_of(Dependence(time=np.arange(400)))(y, size, rng)
        assert not set(one) & set(other)
        assert len(one) + len(other) == 2 * size
        assert (np.diff(one) > 1).sum() <= 5
    assert _parts_of(Dependence(groups % 3)) is None


def test_a_few_groups_that_are_predicted_by_luck_are_no_reason_to_keep_noise():
    # Of 900 rows a forest gets 60 % right, which looks sure; they are those of 60 patients.
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(60), 15)
    X = rng.normal(size=(60, 20))[patient] + 0.3 * rng.normal(size=(900, 20))
    y = (rng.normal(size=60)[patient] > 0).astype(int)
    found = select(X, y, groups=patient, random_state=0)
    assert found.check["full"]["score"] > 0.55
    assert not any(row["kept"] for row in found.ranking)


def test_pairs_of_rows_that_part_groups_are_refused():
    X, y, groups = patients()
    pairs = list(KFold(5, shuffle=True, random_state=0).split(X))
    with pytest.raises(ValueError, match="of the same group for testing"):
        select(X, y, "info-gain", 2, groups=groups, cv=pairs)
    days = np.tile(np.arange(8), 40)  # of a panel
    with pytest.raises(ValueError, match="of the same group for testing"):
        select(X, y, "info-gain", 2, groups=groups, time=days, cv=pairs)
    past = [(np.flatnonzero(days < k), np.flatnonzero(days == k)) for k in (4, 5, 6)]
    assert select(X, y, "info-gain", 2, groups=groups, time=days, cv=past).check["n_folds"] == 3
