"""Selections that are written to a file and read again."""

import json
import shutil
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from selection_cases import FAST, table
from typer.testing import CliRunner

from foresift import Selection, select
from foresift.cli.app import app
from foresift.datasets import make_quantity


def classes():
    return select(*table(), random_state=1, parameters=FAST)


def quantity():
    X, y, *_ = make_quantity(n_samples=120, random_state=0)
    return select(X, y, random_state=0, parameters=FAST)


def unchecked():
    return select(*table(80), "info-gain", 3, random_state=0, check=False)


def too_small_to_check():
    X, y = table(60)
    y = np.where(np.arange(60) < 3, "rare", "common")
    return select(X, y, "relieff", 2, random_state=0)


def nothing_kept():
    rng = np.random.default_rng(3)
    return select(rng.normal(size=(60, 3)), rng.integers(0, 2, 60), random_state=0, check=False)


def groups_and_time():
    X, y = table(150)
    groups, time = pd.Series(np.arange(150) // 5, name="patient"), pd.Series(np.arange(150) % 5, name="visit")
    return select(X, y, random_state=0, groups=groups, time=time, parameters=FAST)


def units():
    X, y = table()
    blocks = {"pair": ["strong", "copy"]}
    return select(X, y, keep=["weak"], feature_groups=blocks, random_state=0, parameters=FAST)


def odd_labels():
    X, y = table(80)
    pairs = pd.MultiIndex.from_product([["a", "b"], range(4)])
    return select(X.set_axis(pairs, axis=1), y, "info-gain", 6, check=False)


CASES = [
    classes,
    quantity,
    unchecked,
    too_small_to_check,
    nothing_kept,
    groups_and_time,
    units,
    odd_labels,
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_what_is_loaded_is_what_was_written(case, tmp_path):
    found = case()
    found.to_json(tmp_path / "s.json")
    again = Selection.load(str(tmp_path / "s.json"))
    assert again.to_dict() == found.to_dict()
    assert json.loads((tmp_path / "s.json").read_text()) == found.to_dict()
    assert repr(again).split(":")[0] == repr(found).split(":")[0]
    assert again.to_html() == found.to_html()
    pd.testing.assert_frame_equal(again.to_frame(), found.to_frame())
    assert list(map(str, again.features)) == list(map(str, found.features))
    if case is not odd_labels:
        assert again.features == found.features
        assert again.labels == found.labels
    again.to_json(tmp_path / "t.json")
    assert (tmp_path / "t.json").read_bytes() == (tmp_path / "s.json").read_bytes()
    for name in ("verdict", "details", "notes", "certainty", "sentence", "seed", "source", "created"):
        assert getattr(again, name) == getattr(found, name)
    assert again.plot_ranking().ax_ is not None


def test_columns_are_kept_by_name_and_by_number(tmp_path):
    X, y = table()
    found = select(X, y, random_state=1, parameters=FAST)
    found.to_json(tmp_path / "s.json")
    again = Selection.load(tmp_path / "s.json")
    pd.testing.assert_frame_equal(again.transform(X), found.transform(X))
    np.testing.assert_array_equal(again.transform(X.to_numpy()), found.transform(X.to_numpy()))
    numbered = select(X.set_axis(range(X.shape[1]), axis=1), y, "info-gain", 2, check=False)
    numbered.to_json(tmp_path / "n.json")
    assert Selection.load(tmp_path / "n.json").features == numbered.features


def test_what_a_file_does_not_hold(tmp_path):
    found = classes()
    found.to_json(tmp_path / "s.json")
    again = Selection.load(tmp_path / "s.json")
    assert not hasattr(again, "selector_")
    with pytest.raises(AttributeError, match="loaded from a file, which does not hold the fitted selector"):
        _ = again.selector_
    with pytest.raises(ValueError, match="loaded from a file, which does not hold the repetitions"):
        again.plot_stability()
    with pytest.raises(AttributeError, match="does not hold the fitted selector"):
        again.plot_convergence()


def test_files_of_the_command(tmp_path):
    path = Path(str(files("foresift.datasets") / "_data" / "bikeshare.csv"))
    X = pd.read_csv(path).drop(columns="cancelled")
    options = ["--target", "cancelled", "--trees", "20", "--no-check", "--out", str(tmp_path / "out")]
    assert CliRunner().invoke(app, ["select", str(path), *options]).exit_code == 0
    found = Selection.load(tmp_path / "out" / "selection.json")
    assert found.source == str(path)
    assert Selection.load(tmp_path / "out").to_dict() == found.to_dict()
    assert found.to_html() == (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert found.transform(X).columns.tolist() == [name for name in X.columns if name in found.features]


def lacking(key):
    return lambda d: d.pop(key)


DAMAGE = {
    "certainty": (lacking("certainty"), "is a damaged selection: it lacks 'certainty'"),
    "columns": (lacking("columns"), "it lacks 'columns'"),
    "type": (lambda d: d.update(features="age"), "'features' is of the wrong type"),
    "row": (lambda d: d["features"][1].pop("kept"), "'features' has an incomplete row"),
    "name": (lambda d: d["features"][1].update(name=3), "'features' has an incomplete row"),
    "twice": (lambda d: d["features"].append(d["features"][0]), "names no column, or one twice"),
    "none": (lambda d: d.update(features=[]), "names no column, or one twice"),
    "other": (lambda d: d["columns"].reverse() or d["columns"].pop(), "'columns' are not those of"),
    "method": (lambda d: d["method"].pop("key"), "'method' or 'data' is incomplete"),
    "newer": (lambda d: d.update(format=99, foresift="9.0"), "written by foresift 9.0, .*: update foresift"),
    "older": (lacking("format"), "whose files this version cannot read: make the selection again"),
    "comparison": (lacking("foresift"), "holds no selection: `foresift select --out`"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_damaged_files(case, tmp_path):
    damage, message = DAMAGE[case]
    plain = unchecked().to_dict()
    damage(plain)
    path = tmp_path / "s.json"
    path.write_text(json.dumps(plain))
    with pytest.raises(ValueError, match=message):
        Selection.load(path)


def test_unknown_parts_are_ignored(tmp_path):
    plain = unchecked().to_dict()
    (tmp_path / "s.json").write_text(json.dumps(plain | {"labels": [], "version": "9", "_selector": 1}))
    assert Selection.load(tmp_path / "s.json").to_dict() == plain


def test_other_files(tmp_path):
    path = tmp_path / "s.json"
    unchecked().to_json(path)
    whole = path.read_bytes()
    for content in (b"", whole[:-200], b"\xff" + whole, b"PK\x03\x04", b"[" * 100_000, b"9" * 5000):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"is no JSON file, or a damaged one"):
            Selection.load(path)
    path.write_text("[1, 2]")
    with pytest.raises(ValueError, match="holds no selection"):
        Selection.load(path)
    shutil.rmtree(tmp_path)
    with pytest.raises(FileNotFoundError):
        Selection.load(path)
