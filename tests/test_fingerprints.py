"""The fingerprints of results see every change of a number, and none that is not there."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import foresift


@pytest.fixture(scope="module")
def prints():
    folder = str(Path(__file__).parents[1] / "benchmarks")
    sys.path.insert(0, folder)
    try:
        yield importlib.import_module("fingerprints")
    finally:
        sys.path.remove(folder)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.array([1.0, np.nan]), np.array([1.0, -np.nan])),
        (np.array([0.0]), np.array([-0.0])),
        (np.arange(3, dtype=np.int32), np.arange(3, dtype=np.uint64)),
        (np.float64(0.1), 0.1),
        ({"a": 1, "seconds": 0.3}, {"seconds": 0.4, "a": 1}),
        (np.array(["a", "b"]), np.array(["a", "b"], dtype=object)),
    ],
)
def test_what_is_equal_has_one_fingerprint(prints, one, other):
    assert prints.fingerprint(one)[0] == prints.fingerprint(other)[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (0.3, np.nextafter(0.3, 1)),
        (np.array([1.0, 2.0]), np.array([1.0, np.nextafter(2.0, 3)])),
        (np.arange(4), np.arange(4).reshape(2, 2)),
        (np.arange(2), np.arange(2.0)),
        (None, "None"),
        (["a", "b"], ["ab"]),
        ([[1], [2]], [[1, 2]]),
    ],
)
def test_what_differs_has_another(prints, one, other):
    assert prints.fingerprint(one)[0] != prints.fingerprint(other)[0]


def test_every_public_estimator_is_covered(prints):
    names = {name for name in foresift.__all__ if hasattr(getattr(foresift, name), "fit")}
    assert names
    assert {spec.name for spec in prints.default_specs()} == names
    assert len(prints.examples()) == 8


def test_a_run_repeats_itself_and_a_difference_is_listed(prints, tmp_path, capsys):
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    for path in (one, other):
        assert prints.main(["write", str(path), "--tables", "weighted", "--only", "SSV"]) == 0
    assert prints.main(["diff", str(one), str(other)]) == 0
    found = json.loads(other.read_text())
    thing = found["prints"]["weighted"]["foresift.SSVSelector()"]
    thing["scores_"][0] = "another"
    del thing["support_"]
    other.write_text(json.dumps(found))
    capsys.readouterr()
    assert prints.main(["diff", str(one), str(other)]) == 1
    said = capsys.readouterr().out
    assert said.splitlines()[0] == "foresift.SSVSelector()"
    assert "scores_, weighted" in said
    assert "(absent)" in said
    assert "2 of " in said


def test_a_renamed_parameter_or_attribute_is_found_under_its_old_name(prints, monkeypatch):
    monkeypatch.setitem(prints.RENAMED, "n_rows_drawn", "n_samples")
    monkeypatch.setitem(prints.RENAMED, "worth_", "scores_")
    monkeypatch.setattr(prints, "ATTRIBUTES", ("worth_",))
    example = prints.examples()["numeric"]()
    found = prints.fitted(prints.Spec("ReliefSelector", n_rows_drawn=5), example)
    direct = foresift.ReliefSelector(n_samples=5, random_state=0).fit(example.X, example.y)
    assert prints.fingerprint(found["worth_"]) == prints.fingerprint(direct.scores_)
