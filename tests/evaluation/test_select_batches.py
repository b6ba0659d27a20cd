"""`select` on large tables: in memory from 50,000 rows on, and in batches."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.linear_model import LogisticRegression

from foresift import RelevanceSelector, select
from foresift.data.folds import Fold
from foresift.errors import InputError
from foresift.evaluation.select.plan import plan_for
from foresift.evaluation.select.rows_of_folds import in_parts

QUICK = {"random_state": 0, "parameters": {"n_estimators": 10}}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 6)).astype(np.float32)
    return X, (X[:, 0] + X[:, 1] + rng.normal(size=len(X)) > 0).astype(int)


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    X, y = table
    place = tmp_path_factory.mktemp("parts")
    for k in range(3):
        some = slice(20_000 * k, 20_000 * (k + 1))
        columns = {f"x{j}": X[some, j] for j in range(X.shape[1])}
        pyarrow.parquet.write_table(pa.table({**columns, "y": y[some]}), place / f"{k}.parquet")
    return place


def test_rows_in_batches_and_in_memory_give_the_same_answer(table, folder):
    X, y = table
    in_memory = select(X, y, **QUICK)
    in_batches = select(folder, "y", **QUICK)
    assert set(in_batches.features) == {"x0", "x1"} == {f"x{name[1:]}" for name in in_memory.features}
    assert in_batches.data["n_rows"] == in_memory.data["n_rows"] == 60_000
    assert [one["count"] for one in in_batches.data["classes"]] == np.bincount(y).tolist()
    assert "5 disjoint samples of 2,500 of the 60,000 rows" in in_batches.sentence
    assert in_batches.certainty == "clear"


def test_a_stream_and_a_pattern_of_files_are_read_too(table, folder):
    reader = pyarrow.parquet.read_table(folder).to_reader()
    found = [select(X, "y", check=False, **QUICK) for X in (reader, f"{folder}/*.parquet", str(folder))]
    assert all(set(one.features) == {"x0", "x1"} for one in found)


def test_methods_that_need_all_rows_say_that_they_had_a_sample(folder):
    found = select(folder, "y", "cfs", check=False, random_state=0)
    assert any("cfs needs all rows at once: it ranked a random sample of" in note for note in found.notes)
    with pytest.warns(UserWarning, match="needs all rows at once: it was fitted to a random sample of"):
        RelevanceSelector(keep=["x5"], random_state=0).fit(folder, "y")


def test_a_model_of_the_user_is_checked_on_the_sample(folder):
    found = select(folder, "y", estimator=LogisticRegression(), **QUICK)
    assert found.check["model"] == "LogisticRegression"
    assert found.check["kept"]["score"] > 0.7


def test_a_quantity_in_batches(table, tmp_path):
    X, _ = table
    y = np.exp(X[:, 0] + np.random.default_rng(1).normal(size=len(X)))
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    pyarrow.parquet.write_table(pa.table({**columns, "y": y}), tmp_path / "one.parquet")
    found = select(tmp_path / "one.parquet", "y", log_target=True, **QUICK)
    assert found.data["task"] == "regression"
    assert "x0" in found.features
    assert found.check["metric"] == "R2 of the logarithm"


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"sample_weight": np.ones(60_000)}, "sample_weight needs all rows in memory"),
        ({"groups": np.zeros(60_000)}, "groups needs all rows in memory"),
        ({"cv": [(np.arange(5), np.arange(5, 9))]}, "cv by row numbers needs all rows in memory"),
        ({"memory_limit": "lots"}, "memory_limit is 'lots': give a number of bytes"),
    ],
)
def test_what_says_something_of_every_row_is_refused(folder, options, match):
    with pytest.raises(ValueError, match=match):
        select(folder, "y", **options)


def test_a_target_that_is_not_there_names_those_that_are(folder):
    with pytest.raises(InputError, match="did you mean 'x0'"):
        select(folder, "x_0")
    with pytest.raises(TypeError, match="read the file first"):
        select(str(folder), np.zeros(60_000))


def test_parts_of_a_large_table_share_no_rows():
    plan = plan_for(1_000_000, 50)
    assert (plan.in_parts, plan.n_folds, plan.n_rows) == (True, 5, 12_500)
    folds = [Fold(np.empty(0, np.intp), np.arange(10 * k, 10 * k + 10)) for k in range(5)]
    every = in_parts(folds)
    for k, lot in enumerate(plan.lots(by_curve=True)):
        test, choose = (every[i].test for i in lot)
        train = np.intersect1d(every[lot[0]].train, every[lot[1]].train)
        assert lot[0] == k
        assert len(train) == 10
        assert len(np.unique(np.concatenate([train, test, choose]))) == 30
    assert sorted(np.concatenate([fold.test for fold in every[:5]])) == list(range(50))


def test_noise_is_not_called_relevant_and_scores_as_by_chance():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(50_000, 5)), rng.integers(0, 2, 50_000)
    found = select(X, y, **QUICK)
    assert found.features == []
    assert found.check["full"]["low"] < 0.5 < found.check["full"]["high"] + 0.01


def test_an_assessment_in_parts_uses_independent_scores(table):
    X, y = table
    found = select(X, y, **QUICK)
    assert found.check["n_folds"] == 5
    assert found.check["n_rows"] == 12_500


def test_parts_that_differ_in_the_target_are_warned_of(table, tmp_path):
    X, y = table
    for label in (0, 1):
        columns = {f"x{j}": X[y == label, j] for j in range(X.shape[1])}
        pyarrow.parquet.write_table(pa.table({**columns, "y": y[y == label]}), tmp_path / f"{label}.parquet")
    with pytest.warns(UserWarning, match="differ in the target, by 100 % of its variance"):
        RelevanceSelector(random_state=0, n_estimators=5).fit(tmp_path, "y")


@pytest.mark.parametrize("check", [True, False])
def test_a_class_that_the_sample_misses_is_counted_and_said(check):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60_000, 3))
    y = np.where(X[:, 0] > 0, "yes", "no").astype(object)
    y[:2] = "rare"
    found = select(X, y, check=check, **QUICK)
    assert {one["name"]: one["count"] for one in found.data["classes"]}["rare"] == 2
    assert found.features


def test_two_classes_of_which_one_is_rare_are_tested_on_all_rows():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60_000, 3))
    y = np.zeros(60_000, dtype=int)
    y[:40] = 1
    X[:40, 0] += 3
    found = select(X, y, **QUICK)
    assert found.ranking[0]["name"].endswith("0")
    assert found.ranking[0]["relevant"]
    assert "disjoint samples" not in found.sentence  # too few rows of a class for five of them


def test_columns_of_mixed_types_get_the_same_sentence_as_in_small_tables():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"a": np.arange(70_000.0), "b": np.array(["x"] * 66_000 + [1] * 4000, dtype=object)})
    with pytest.raises(TypeError, match="mixes values of types") as large:
        RelevanceSelector().fit(X, np.arange(70_000) % 2)
    with pytest.raises(TypeError) as small:
        RelevanceSelector().fit(X.iloc[65_000:67_000], np.arange(2000) % 2)
    assert str(large.value) == str(small.value)


def test_columns_of_the_same_name_are_refused_in_one_sentence():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="Two columns of X are named 'a'"):
        RelevanceSelector().fit(pd.DataFrame(np.zeros((100, 2)), columns=["a", "a"]), np.arange(100) % 2)


def test_facts_of_a_quantity_are_those_of_all_rows_in_memory():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(60_000, 2)), rng.normal(size=60_000)
    y[19] = 1e3
    found = select(X, y, check=False, random_state=0)
    assert found.data["quantity"]["max"] == 1e3
    assert sum(found.data["quantity"]["counts"]) == 60_000
