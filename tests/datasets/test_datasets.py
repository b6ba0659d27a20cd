"""The artificial tables, by their formulas written out again; the named ones, from files and from OpenML."""

import gzip
import hashlib
import importlib.util
import json
import math
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1
from sklearn.feature_selection import f_classif

from foresift import InfoGainSelector
from foresift.datasets import (
    available,
    checksum,
    load,
    make_friedman,
    make_simple,
    make_waveform,
    uci,
)

MAKERS = [make_simple, make_friedman, make_waveform]
FOLDER = os.environ.get("FORESIFT_DATA", "")
needs_files = pytest.mark.skipif(
    not (Path(FOLDER) / "schema.json").is_file(), reason="FORESIFT_DATA names no folder of UCI tables"
)
QUANTITIES = os.environ.get("FORESIFT_DATA_REGRESSION", "")
needs_quantities = pytest.mark.skipif(
    not (Path(QUANTITIES) / "schema.json").is_file(), reason="FORESIFT_DATA_REGRESSION names no folder"
)


@pytest.mark.parametrize("n_samples", [2, 3, 41, 300])
def test_simple_is_cut_at_the_median(n_samples):
    X, y = make_simple(n_samples, random_state=1)
    target = [float(row[0]) ** 2 + 2 * float(row[1]) for row in X]  # Rogers & Gunn eq. 23
    above = set(np.argsort(target)[-(n_samples // 2) :])
    assert y.tolist() == [int(row in above) for row in range(n_samples)]


@pytest.mark.parametrize("seed", range(5))
def test_friedman_without_noise(seed):
    X, y = make_friedman(noise=0.0, random_state=seed)
    for row, label in zip(X.tolist(), y, strict=True):  # Rogers & Gunn eq. 24
        x1, x2, x3, x4, x5 = row[:5]
        target = 10 * math.sin(math.pi * x1 * x2) + 20 * (x3 - 1 / 2) ** 2 + 10 * x4 + 5 * x5
        assert label == (target > 14)


@pytest.mark.parametrize("noise", [0.0, 1.0, 3.0])
def test_friedman_is_the_table_of_scikit_learn_in_two_classes(noise):
    X, y = make_friedman(500, n_noise=0, noise=noise, random_state=7)
    X_regression, target = make_friedman1(500, n_features=5, noise=noise, random_state=7)
    np.testing.assert_array_equal(X, X_regression)
    np.testing.assert_array_equal(y, target > 14)


def test_noise_of_friedman_moves_the_rows_near_the_threshold():
    """A row d below the threshold is above it with the probability that a Gaussian exceeds d."""
    n = 20_000
    X, y = make_friedman(n, n_noise=0, noise=1.0, random_state=0)
    x1, x2, x3, x4, x5 = X.T
    target = 10 * np.sin(np.pi * x1 * x2) + 20 * (x3 - 0.5) ** 2 + 10 * x4 + 5 * x5
    for low in (-2.0, -1.0, 0.0, 1.0):
        rows = (target - 14 >= low) & (target - 14 < low + 1)
        expected = np.mean([0.5 * math.erfc((14 - t) / math.sqrt(2)) for t in target[rows]])
        assert y[rows].mean() == pytest.approx(expected, abs=0.03)


def test_classes_are_balanced():
    assert make_simple(300, random_state=0)[1].sum() == 150
    assert make_simple(301, random_state=0)[1].sum() == 150
    assert 0.5 < make_friedman(20_000, random_state=0)[1].mean() < 0.56


@pytest.mark.parametrize(
    ("make", "n_samples", "n_features"), [(make_simple, 300, 9), (make_friedman, 200, 10)]
)
def test_defaults_are_those_of_the_paper(make, n_samples, n_features):
    X, y = make(random_state=0)
    assert X.shape == (n_samples, n_features)
    assert X.dtype == np.float64
    assert y.shape == (n_samples,)
    assert y.dtype == np.int64
    assert set(y) == {0, 1}
    assert X.min() >= 0
    assert X.max() < 1


@pytest.mark.parametrize("make", [make_simple, make_friedman])
def test_all_columns_are_uniform_and_independent(make):
    X, _ = make(20_000, n_noise=4, random_state=3)
    np.testing.assert_allclose(X.mean(axis=0), 0.5, atol=0.01)
    np.testing.assert_allclose(X.var(axis=0), 1 / 12, atol=0.002)
    np.testing.assert_allclose(np.corrcoef(X.T), np.eye(X.shape[1]), atol=0.03)


def test_the_second_column_of_simple_carries_most():
    X, y = make_simple(5000, random_state=0)
    scores = f_classif(X, y)[0]
    assert scores[1] > 2 * scores[0]
    assert scores[0] > 10 * scores[2:].max()


@pytest.mark.parametrize("make", MAKERS)
def test_more_noise_columns_change_nothing_before_them(make):
    X, y = make(50, n_noise=20, random_state=5)
    for n_noise in (0, 1, 7):
        fewer, same_y = make(50, n_noise=n_noise, random_state=5)
        np.testing.assert_array_equal(fewer, X[:, : fewer.shape[1]])
        np.testing.assert_array_equal(same_y, y)


def test_the_noise_of_friedman_leaves_the_columns_alone():
    np.testing.assert_array_equal(
        make_friedman(noise=0.0, random_state=2)[0], make_friedman(noise=2.0, random_state=2)[0]
    )


@pytest.mark.parametrize("make", MAKERS)
def test_seeds(make):
    X, y = make(random_state=4)
    for state in (4, np.int64(4), np.random.RandomState(4)):
        again = make(random_state=state)
        np.testing.assert_array_equal(again[0], X)
        np.testing.assert_array_equal(again[1], y)
    assert not np.array_equal(make(random_state=6)[0], X)
    assert not np.array_equal(make()[0], make()[0])
    state = np.random.RandomState(4)
    assert not np.array_equal(make(random_state=state)[0], make(random_state=state)[0])


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_samples": 1}, "n_samples must be a whole number, 2 or more; got 1"),
        ({"n_samples": 10.0}, "n_samples must be a whole number"),
        ({"n_samples": None}, "n_samples must be a whole number"),
        ({"n_noise": -1}, "n_noise must be a whole number, 0 or more; got -1"),
        ({"n_noise": 0.5}, "n_noise must be a whole number"),
        ({"random_state": "seed"}, "random_state|seed"),
    ],
)
def test_bad_values_are_refused(make, parameters, message):
    with pytest.raises(ValueError, match=message):
        make(**parameters)


@pytest.mark.parametrize("noise", [-0.1, math.nan, math.inf, "loud", None])
def test_bad_noise_is_refused(noise):
    with pytest.raises(ValueError, match="noise must be a finite number, 0 or more"):
        make_friedman(noise=noise)


def test_waveform_is_mixtures_of_triangles():
    X, y = make_waveform(60_000, n_noise=2, random_state=0)
    assert np.bincount(y) == pytest.approx([20_000] * 3, rel=0.03)
    triangle = {peak: [max(6 - abs(i - peak), 0) for i in range(1, 22)] for peak in (7, 11, 15)}
    for label, (a, b) in enumerate([(7, 15), (7, 11), (11, 15)]):
        rows = X[y == label]
        mean = [(s + t) / 2 for s, t in zip(triangle[a], triangle[b], strict=True)]
        np.testing.assert_allclose(rows[:, :21].mean(axis=0), mean, atol=0.05)
        # Var(u) is 1/12, and the noise has the variance 1.
        spread = [1 + (s - t) ** 2 / 12 for s, t in zip(triangle[a], triangle[b], strict=True)]
        np.testing.assert_allclose(rows[:, :21].var(axis=0), spread, rtol=0.06)
        np.testing.assert_allclose(rows[:, 21:].mean(axis=0), 0, atol=0.03)
    assert make_waveform(random_state=0)[0].shape == (5000, 21)


@needs_files
def test_waveform_is_that_of_uci():
    X, y = load("waveform", FOLDER)
    ours, labels = make_waveform(random_state=0)
    for label in range(3):
        theirs = X.to_numpy()[y == str(label)]
        np.testing.assert_allclose(ours[labels == label].mean(axis=0), theirs.mean(axis=0), atol=0.2)
        np.testing.assert_allclose(ours[labels == label].var(axis=0), theirs.var(axis=0), rtol=0.25)


@needs_files
@pytest.mark.parametrize("name", [name for name, known in uci.CATALOGUE.items() if known.classes])
def test_named_tables(name):
    X, y = load(name, FOLDER, download=False)
    entry = json.loads((Path(FOLDER) / "schema.json").read_text())[name]
    assert X.shape == (entry["rows"], entry["features"])
    assert {str(label): int((y == label).sum()) for label in set(y)} == entry["classes"]
    assert int(X.isna().sum().sum()) == entry["missing_cells"]
    nominal = [column for column in X.columns if X[column].dtype == "category"]
    assert nominal == entry["discrete"]
    assert all(X[column].dtype == np.float64 for column in entry["continuous"])


@needs_quantities
@pytest.mark.parametrize("name", [name for name, known in uci.CATALOGUE.items() if known.classes is None])
def test_named_tables_with_a_quantity(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X, y = load(name, QUANTITIES, download=False)
    entry = json.loads((Path(QUANTITIES) / "schema.json").read_text())[name]
    assert X.shape == (entry["rows"], entry["features"])
    assert y.dtype == np.float64
    assert np.isfinite(y).all()
    assert int(X.isna().sum().sum()) == entry["missing_cells"]
    nominal = [column for column in X.columns if X[column].dtype == "category"]
    assert nominal == entry["discrete"]
    assert all(X[column].dtype == np.float64 for column in X.columns if column not in nominal)


@needs_quantities
def test_all_quantities_are_there():
    places = available(QUANTITIES, task="regression")
    assert len(places) >= 15
    assert all(place.as_pinned and place.task == "regression" for place in places)


@needs_files
def test_pinned_checksums():
    there = {place.name: place for place in available(FOLDER, task="classification")}
    assert all(there[name].as_pinned for name, known in uci.CATALOGUE.items() if known.classes)
    path = Path(there["iris"].file)
    assert checksum("iris", FOLDER) == hashlib.sha256(path.read_bytes()).hexdigest()


def small_folder(tmp_path, name="fruit"):
    text = "weight,colour,class\n150,red,apple\n30,,plum\n,blue,plum\n"
    entry = {"rows": 3, "features": 2, "classes": {"apple": 1, "plum": 2}, "discrete": ["colour"]}
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "schema.json").write_text(json.dumps({name: {**entry, "file": "a.csv.gz"}}))
    return tmp_path, text


def test_another_copy_is_told(tmp_path, monkeypatch):
    folder, text = small_folder(tmp_path)
    known = uci.Known(3, 2, 2, None, hashlib.sha256(text.encode()).hexdigest()[:16])
    monkeypatch.setitem(uci.CATALOGUE, "fruit", known)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load("fruit", folder)
    monkeypatch.setitem(uci.CATALOGUE, "fruit", known._replace(sha256="0" * 16))
    with pytest.warns(UserWarning, match=r"a\.csv\.gz is not the copy of fruit"):
        load("fruit", folder)


def test_a_folder_of_ones_own(tmp_path, monkeypatch):
    folder, text = small_folder(tmp_path)
    X, y = load("fruit", folder)
    assert y.tolist() == ["apple", "plum", "plum"]
    np.testing.assert_array_equal(X["weight"], [150, 30, np.nan])
    assert X["colour"].isna().tolist() == [False, True, False]
    assert checksum("fruit", folder) == hashlib.sha256(text.encode()).hexdigest()
    monkeypatch.setenv("FORESIFT_DATA", str(folder))
    assert load("fruit")[1].tolist() == y.tolist()
    place = next(place for place in available() if place.name == "fruit")
    assert place[1:4] == (3, 2, 2)
    assert place.file.endswith("a.csv.gz")
    assert not place.as_pinned
    assert place.openml is None


def quantity_folder(folder, name="fruit"):
    folder.mkdir()
    entry = {"file": "b.csv", "rows": 3, "features": 2, "target": "price", "discrete": ["colour"]}
    (folder / "b.csv").write_text("weight,colour,target\n150,red,2.5\n30,,1e-3\n,blue,-4\n")
    (folder / "schema.json").write_text(json.dumps({name: entry}))
    return folder


def test_a_quantity_of_ones_own(tmp_path, monkeypatch):
    folder = quantity_folder(tmp_path / "b")
    X, y = load("fruit", folder)
    assert y.tolist() == [2.5, 0.001, -4.0]
    np.testing.assert_array_equal(X["weight"], [150, 30, np.nan])
    monkeypatch.delenv("FORESIFT_DATA", raising=False)
    monkeypatch.setenv("FORESIFT_DATA_REGRESSION", str(folder))
    assert load("fruit")[1].tolist() == y.tolist()
    place = next(place for place in available() if place.name == "fruit")
    assert place[1:4] == (3, 2, None)
    assert place.task == "regression"
    assert "fruit" not in [place.name for place in available(task="classification")]
    (folder / "b.csv").write_text("weight,colour,class\n150,red,2.5\n")
    with pytest.raises(ValueError, match="last column 'target'"):
        load("fruit")


def test_one_name_for_classes_and_a_quantity(tmp_path, monkeypatch):
    monkeypatch.setenv("FORESIFT_DATA", str(small_folder(tmp_path)[0]))
    monkeypatch.setenv("FORESIFT_DATA_REGRESSION", str(quantity_folder(tmp_path / "b")))
    for ask in (load, checksum):
        with pytest.raises(ValueError, match=r"two data sets 'fruit'.*task=.classification. or"):
            ask("fruit")
    assert load("fruit", task="classification")[1].tolist() == ["apple", "plum", "plum"]
    assert load("fruit", task="regression")[1].tolist() == [2.5, 0.001, -4.0]
    assert checksum("fruit", task="classification") != checksum("fruit", task="regression")
    with pytest.raises(ValueError, match="task must be one of"):
        load("fruit", task="ranking")


def test_quantities_without_their_folder(monkeypatch):
    monkeypatch.delenv("FORESIFT_DATA_REGRESSION", raising=False)
    with pytest.raises(FileNotFoundError, match=r"FORESIFT_DATA_REGRESSION is not set.*'concrete'"):
        load("concrete")
    with pytest.raises(ValueError, match=r"did you mean concrete\?"):
        load("concret")


def test_without_pandas_it_is_a_dict_that_selectors_take(tmp_path, monkeypatch):
    folder, _ = small_folder(tmp_path)
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pandas" else find(name))
    X, y = load("fruit", folder)
    assert X["colour"].tolist() == ["red", None, "blue"]
    assert len(InfoGainSelector().fit(X, y).scores_) == 2
    monkeypatch.delenv("FORESIFT_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="install pandas"):
        load("sonar")


def openml(shape):
    class Bunch:
        data = pd.DataFrame(np.zeros(shape))
        target = pd.Series(["a", "b"] * (shape[0] // 2), dtype="category")

    return Bunch


def test_openml_is_asked_by_its_pinned_number(monkeypatch):
    asked = []
    monkeypatch.delenv("FORESIFT_DATA", raising=False)

    def fetch(**options):
        asked.append(options["data_id"])
        return openml((208, 60))

    monkeypatch.setattr(uci, "fetch_openml", fetch)
    X, y = load("sonar")
    assert asked == [40]
    assert X.shape == (208, 60)
    assert y.dtype.kind == "U"
    assert set(y) == {"a", "b"}
    with pytest.raises(ValueError, match="59 of OpenML is not ionosphere: it has 208 rows, 60 columns"):
        load("ionosphere")
    with pytest.raises(FileNotFoundError, match="download is False"):
        load("sonar", download=False)
    assert asked == [40, 59]


def test_neither_a_file_nor_openml(tmp_path, monkeypatch):
    def fetch(**options):
        raise OSError("no network")

    monkeypatch.setattr(uci, "fetch_openml", fetch)
    monkeypatch.setenv("FORESIFT_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"no file of 'sonar', and OpenML cannot be .*no network"):
        load("sonar")
    with pytest.raises(FileNotFoundError, match="OpenML has no suitable copy"):
        load("promoters")
    with pytest.raises(FileNotFoundError, match="has no file of 'sonar'"):
        checksum("sonar")
    with pytest.raises(ValueError, match=r"did you mean sonar\?"):
        load("sonnar")
    with pytest.raises(FileNotFoundError, match="no folder"):
        load("sonar", tmp_path / "nowhere")
    assert all(not place.file for place in available(task="classification"))


def test_damaged_folders(tmp_path):
    (tmp_path / "schema.json").write_text("{")
    with pytest.raises(ValueError, match="not valid JSON"):
        load("sonar", tmp_path)
    folder, _ = small_folder(tmp_path, "sonar")
    with pytest.raises(ValueError, match="is not sonar: it has 3 rows, 2 columns and 2 classes, in"):
        load("sonar", folder)
    (folder / "a.csv.gz").write_bytes(gzip.compress(b"weight,colour\n1,red\n"))
    with pytest.raises(ValueError, match="last column 'class'"):
        load("sonar", folder)
