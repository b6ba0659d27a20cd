"""Profiles, associations, predicted classes and p-values of a selection, against the rows they come from."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from foresift import Selection, select
from foresift.datasets import make_simple
from foresift.evaluation.select.findings import Findings
from foresift.evaluation.select.pictures import note_on_missing
from foresift.evaluation.select.resample import _two_parts


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 400
    x = rng.normal(size=n)
    X = pd.DataFrame({"x": x, "copy": x + 0.05 * rng.normal(size=n), "noise": rng.normal(size=n)})
    X["rare"] = np.where(rng.random(n) < 0.02, rng.normal(size=n), np.nan)
    X["kind"] = rng.choice(["a", "b", "c"], n)
    y = pd.Series(np.where(x + (X.kind == "a") + rng.normal(size=n) > 0.5, "yes", "no"), name="answer")
    return X, y


@pytest.fixture(scope="module")
def found(frame):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("foresift.evaluation.select.models.N_TREES", 10)
        return select(*frame, random_state=0, parameters={"n_estimators": 25})


def test_profiles_of_all_columns(frame, found):
    X, y = frame
    assert set(found.profiles["columns"]) == set(X)
    assert found.profiles["target"]["overall"][0] == pytest.approx((y == "yes").mean(), abs=1e-4)
    by_kind = {part["value"]: part for part in found.profiles["columns"]["kind"]["parts"]}
    for kind in "abc":
        assert by_kind[kind]["target"][0] == pytest.approx((y[X.kind == kind] == "yes").mean(), abs=1e-4)
    assert found.profiles["columns"]["x"]["direction"] == "up"


def test_redundant_columns_are_beside_their_leader(found):
    names = found.associations["names"]
    assert {"x", "copy"} <= set(names)
    assert abs(names.index("x") - names.index("copy")) == 1
    assert found.associations["values"][names.index("x")][names.index("copy")] > 0.95


def test_confusion_agrees_with_the_accuracy(found):
    counts = np.array(found.check["confusion"]["counts"])
    assert counts.sum() == found.check["n_rows"]
    assert np.trace(counts) / counts.sum() == pytest.approx(found.check["kept"]["score"], abs=0.005)
    chances = np.array(found.check["probabilities"]["counts"])
    assert chances.sum(axis=1).tolist() == counts.sum(axis=1).tolist()
    of = found.check["confusion"]["classes"].index(found.check["probabilities"]["of"])
    mean = (chances * np.arange(10)).sum(axis=1) / chances.sum(axis=1)
    assert mean[of] > mean[1 - of] + 2  # its rows have higher probabilities


def test_a_scorer_of_the_user_gives_no_predictions(frame):
    X, y = frame
    found = select(X[["x", "noise"]], y, scoring="f1_macro", random_state=0)
    assert "confusion" not in found.check


def test_the_name_of_the_target_is_known(found):
    assert found.data["target"] == "answer"
    assert "answer = " in found.to_html()


def test_pvalues_of_the_tests_are_in_the_ranking(found):
    row = found.ranking[0]
    selector = found.selector_
    j = list(selector.feature_names_in_).index(row["name"])
    for name, values in selector.test_pvalues_.items():
        known = row[f"p_{name}"]
        assert known is None if np.isnan(values[j]) else known == values[j]


def test_the_floor_is_that_of_the_shadows():
    """A column that is mostly one value has no rank test: the forest is its only one."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 600)
    X = pd.DataFrame({"flag": (y == 1) & (rng.random(600) < 0.4), "noise": rng.normal(size=600)}).astype(
        float
    )
    found = select(X, y, check=False, random_state=0)
    flag = next(row for row in found.ranking if row["name"] == "flag")
    others = [flag[f"p_{name}"] for name in ("ranks", "residuals", "pairs")]
    n_shadows = np.count_nonzero(~np.isnan(found.selector_.shadow_scores_))
    assert others == [None] * 3
    assert flag["p_floor"] == 1 / (1 + n_shadows)
    assert flag["pvalue"] < flag["p_floor"]
    assert all(row["p_floor"] is None for row in found.ranking if row["name"] != "flag")


def test_rows_that_depend_have_shadows_of_their_own():
    """Then a column is compared with its own shadows only."""
    scores = np.array([[0.5, -1.0, np.nan], [9.0, 1.0, 2.0]])
    for dependent, expected in ((True, [0.5, -1.0]), (False, [0.5, -1.0, 9.0, 1.0, 2.0])):
        found = Findings(
            SimpleNamespace(shadow_scores_=scores), [], [], [], [], None, None, dependent=dependent
        )
        assert found._shadows_of(0).tolist() == expected


def test_a_shadow_that_scored_as_high_forbids_the_floor():
    """P-values are tails, not counts: a floor is told only where no shadow scored as high."""
    n_floors = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 200)
        flag = (y == 1) & (rng.random(200) < 0.15)
        X = pd.DataFrame({"flag": flag, "other": rng.normal(size=200)}).astype(float)
        found = select(X, y, check=False, random_state=0)
        row = next(row for row in found.ranking if row["name"] == "flag")
        if row["p_floor"] is not None:
            n_floors += 1
            assert np.nanmax(found.selector_.shadow_scores_) < stats.norm.isf(row["p_forest"])
    assert n_floors > 3


def test_columns_that_are_mostly_missing_are_named(found):
    note = next(note for note in found.notes if "missing" in note)
    assert note.startswith("Column rare is missing in 97 % of the rows: its result rests on")


def test_several_columns_that_are_mostly_missing():
    columns = {name: {"missing": 0.9 + 0.01 * k} for k, name in enumerate("abcdefg")}
    ranking = [{"name": name, "kept": name == "b"} for name in columns]
    (note,) = note_on_missing({"columns": columns}, ranking, 100)
    assert note.startswith(
        "7 columns are mostly missing: a (90 %), b (91 %, kept), c (92 %), d (93 %), e (94 %)"
    )
    assert "and 2 more. Check whether they are known" in note
    empty = {"columns": {"a": {"missing": 1.0}}}
    assert note_on_missing(empty, [{"name": "a", "kept": False}], 100) == []


def test_pictures_are_saved_and_loaded(found, tmp_path):
    found.to_json(tmp_path / "selection.json")
    again = Selection.load(tmp_path)
    assert again.profiles == found.profiles
    assert again.associations == found.associations
    assert again.to_html() == found.to_html()
    plain = json.loads((tmp_path / "selection.json").read_text())
    del plain["profiles"], plain["associations"]
    (tmp_path / "selection.json").write_text(json.dumps(plain))
    assert Selection.load(tmp_path).profiles is None
    plain["profiles"] = [1]
    (tmp_path / "selection.json").write_text(json.dumps(plain))
    with pytest.raises(ValueError, match="'profiles' is of the wrong type"):
        Selection.load(tmp_path)


def test_a_logarithm_is_drawn_in_the_unit_of_the_target():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(200, 2)), np.exp(rng.normal(size=200) * 2)
    found = select(X, y, task="regression", log_target=True, check=False, random_state=0)
    assert found.profiles["target"]["overall"][0] == pytest.approx(y.mean(), rel=1e-5)


@pytest.mark.parametrize("kind", ["quantity", "weights", "classes"])
def test_words_agree_with_the_numbers_they_quote(kind):
    """More at higher values means that the second number quoted is the higher one."""
    n_directions = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, 12, 300).astype(float)
        y = (rng.random(300) < x / 12) * 1
        if kind == "quantity":
            y = np.exp(rng.normal(size=300) * 2 - 0.1 * x)
        weights = rng.exponential(size=300) ** 3 if kind == "weights" else None
        X = pd.DataFrame({"x": x, "z": rng.normal(size=300)})
        profile = select(X, y, sample_weight=weights, check=False).profiles["columns"]["x"]
        shown = [part["target"][0] for part in profile["parts"] if part["n"] >= 5]
        if profile["direction"] in ("up", "down"):
            n_directions += 1
            assert (shown[-1] > shown[0]) == (profile["direction"] == "up")
    assert n_directions


def test_kept_columns_are_drawn_before_redundant_ones():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 6))
    copies = x[:, :1] + 0.01 * rng.normal(size=(300, 30))
    y = x @ np.ones(6) + rng.normal(size=300)
    found = select(np.hstack([copies, x[:, 1:]]), y, random_state=0, check=False)
    assert set(found.features) <= set(found.associations["names"])
    assert len(found.associations["names"]) == 24


def test_facts_are_of_all_rows_though_pictures_are_of_a_sample():
    x = np.arange(30_000.0)
    x[:29_000] = np.nan
    X = pd.DataFrame({"rare": x, "z": np.random.default_rng(0).normal(size=30_000)})
    found = select(X, np.arange(30_000) % 2, "info-gain", 1, check=False)
    assert found.profiles["columns"]["rare"]["n_values"] == 1000
    assert "about 1,000 values" in " ".join(found.notes)
    assert "drawn at random from 30,000" in found.to_html()


def test_halves_of_a_quantity_differ_from_each_other():
    """Each repetition draws other rows, though values of the target hardly repeat."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=100)
    parts = [tuple(part) for _ in range(10) for part in _two_parts(y, 50, rng)]
    assert len(set(parts)) == 20
    small = [_two_parts(y, 20, rng) for _ in range(20)]
    assert len(np.unique(np.concatenate([np.concatenate(pair) for pair in small]))) == 100
    for one, other in small:
        assert len(one) == len(other) == 20
        assert not set(one) & set(other)
        assert abs(np.median(y[one]) - np.median(y)) < 0.5


def test_at_most_two_thousand_columns_have_profiles():
    X, y = make_simple(60, n_noise=2100, random_state=0)
    found = select(X, y, "info-gain", 3, check=False)
    assert len(found.profiles["columns"]) == 2000
    assert set(found.features) <= set(found.profiles["columns"])
    assert len(found.to_html().encode()) < 2e6
