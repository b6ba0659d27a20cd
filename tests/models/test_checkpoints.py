"""Searches that were killed or interrupted go on to the same result; files that do not fit are refused."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from callbacks import Listener
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from foresift import GEFSClassifier, GEFSSelector
from foresift.data.sklearn_compat import HAS_CALLBACKS

SMALL = {"population": 6, "n_candidates": 26, "n_offspring": 4, "epochs": 3}


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:150, :6], y[:150]


def outcome(model, X):
    story = [
        {key: value for key, value in record.items() if key != "seconds"} for record in model.generations_
    ]
    return [genome.tolist() for genome in model.genomes_], story, model.predict_proba(X).tolist()


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"evaluate": "oob"},
        {"emphasis": "adaboost"},
        {"evaluate": "validation"},
        {"estimator": DecisionTreeClassifier(max_features=1)},
        {"estimator": GaussianNB(), "emphasis": "adaboost"},
    ],
    ids=str,
)
def test_goes_on_to_the_same_result(changes, data, tmp_path):
    X, y = data
    whole = GEFSClassifier(**SMALL, **changes, random_state=0).fit(X, y)
    path = tmp_path / "search.npz"
    for n_candidates in (10, 18, 26):
        part = GEFSClassifier(
            **{**SMALL, "n_candidates": n_candidates}, **changes, random_state=0, checkpoint=path
        )
        part.fit(X, y)
        assert part.n_trained_ == n_candidates
    assert outcome(part, X) == outcome(whole, X)
    assert os.listdir(tmp_path) == ["search.npz"]
    began = time.perf_counter()
    finished = GEFSClassifier(**SMALL, **changes, random_state=0, checkpoint=path).fit(X, y)
    assert outcome(finished, X) == outcome(whole, X)
    assert time.perf_counter() - began < 10


def test_selector_goes_on_too(data, tmp_path):
    whole = GEFSSelector(**SMALL, random_state=0).fit(*data)
    path = tmp_path / "search"
    GEFSSelector(**{**SMALL, "n_candidates": 14}, random_state=0, checkpoint=path).fit(*data)
    again = GEFSSelector(**SMALL, random_state=0, checkpoint=str(path)).fit(*data)
    assert again.scores_.tolist() == whole.scores_.tolist()


@pytest.mark.skipif(not HAS_CALLBACKS, reason="needs scikit-learn 1.9")
def test_progress_counts_what_the_file_has(data, tmp_path):
    path, listener = tmp_path / "search.npz", Listener()
    GEFSClassifier(**{**SMALL, "n_candidates": 10}, checkpoint=path, random_state=0).fit(*data)
    GEFSClassifier(**SMALL, checkpoint=path, random_state=0).set_callbacks(listener).fit(*data)
    assert listener.ended[:-1] == [("network", k) for k in range(26)]


def test_seed_is_that_of_the_file_if_none_is_given(data, tmp_path):
    path = tmp_path / "search.npz"
    first = GEFSClassifier(**{**SMALL, "n_candidates": 10}, checkpoint=path).fit(*data)
    second = GEFSClassifier(**SMALL, checkpoint=path).fit(*data)
    assert second.generations_[: len(first.generations_)] == first.generations_
    other = GEFSClassifier(**SMALL, random_state=5, checkpoint=path)
    with pytest.raises(ValueError, match="seed="):
        other.fit(*data)


def test_number_of_threads_may_change(data, tmp_path):
    path = tmp_path / "search.npz"
    GEFSClassifier(**{**SMALL, "n_candidates": 10}, checkpoint=path, random_state=0, n_jobs=2).fit(*data)
    model = GEFSClassifier(**SMALL, checkpoint=path, random_state=0, n_jobs=1, max_seconds=60).fit(*data)
    assert outcome(model, data[0]) == outcome(GEFSClassifier(**SMALL, random_state=0).fit(*data), data[0])


def test_other_data_and_parameters_are_refused(data, tmp_path):
    X, y = data
    path = tmp_path / "search.npz"
    GEFSClassifier(**SMALL, random_state=0, checkpoint=path).fit(X, y)
    for wrong in ((X + 1, y), (X, 1 - y), (X[:100], y[:100])):
        with pytest.raises(ValueError, match=r"other data: delete it, or name another file"):
            GEFSClassifier(**SMALL, random_state=0, checkpoint=path).fit(*wrong)
    weights = np.linspace(1, 2, len(y))
    with pytest.raises(ValueError, match="other data"):
        GEFSClassifier(**SMALL, random_state=0, checkpoint=path).fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match=r"epochs=3 instead of 4"):
        GEFSClassifier(**{**SMALL, "epochs": 4}, random_state=0, checkpoint=path).fit(X, y)
    with pytest.raises(ValueError, match="estimator"):
        GEFSClassifier(GaussianNB(), **SMALL, random_state=0, checkpoint=path).fit(X, y)


def test_codes_that_mean_something_else_are_other_data(tmp_path):
    """The encoded rows are the same in all of these."""
    codes = np.arange(60) % 3
    frame = pd.DataFrame({"a": np.array(["p", "q", "r"])[codes], "b": np.linspace(0, 1, 60)})
    y = np.where(codes == 1, "no", "yes")
    path = tmp_path / "search.npz"
    GEFSClassifier(**SMALL, random_state=0, checkpoint=path).fit(frame, y)
    for X, labels in (
        (frame.assign(a=codes), y),  # a number
        (frame.replace({"a": {"r": "z"}}), y),
        (frame, np.where(codes == 1, "maybe", "yes")),
    ):
        with pytest.raises(ValueError, match="other data"):
            GEFSClassifier(**SMALL, random_state=0, checkpoint=path).fit(X, labels)
    GEFSClassifier(**SMALL, random_state=0, checkpoint=path).fit(frame, y)


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04 not really"])
def test_other_files_are_refused(content, data, tmp_path):
    path = tmp_path / "search.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="not a checkpoint of GEFS"):
        GEFSClassifier(**SMALL, random_state=0, checkpoint=path).fit(*data)
    assert path.read_bytes() == content


def test_damaged_and_foreign_archives_are_refused(data, tmp_path):
    path = tmp_path / "search.npz"
    GEFSClassifier(**SMALL, random_state=0, checkpoint=path).fit(*data)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="damaged"):
        GEFSClassifier(**SMALL, random_state=0, checkpoint=path).fit(*data)
    np.savez(path, head=np.array('{"format": "other"}'))
    with pytest.raises(ValueError, match="not a checkpoint of GEFS"):
        GEFSClassifier(**SMALL, random_state=0, checkpoint=path).fit(*data)
    np.savez(path, head=np.array([{"format": "pickled"}], dtype=object))
    with pytest.raises(ValueError, match="not a checkpoint of GEFS"):
        GEFSClassifier(**SMALL, random_state=0, checkpoint=path).fit(*data)


def harmed(arrays, change):
    """Arrays of a file with one entry removed or changed."""
    name, value = change
    if name.startswith("head."):
        head = json.loads(arrays["head"].item())
        head.pop(name[5:]) if value is None else head.update({name[5:]: value})
        return {**arrays, "head": np.array(json.dumps(head))}
    arrays = dict(arrays)
    old = arrays.pop(name)
    return arrays if value is None else {**arrays, name: value(old)}


@pytest.mark.parametrize("estimator", ["mlp", GaussianNB()], ids=str)
def test_archives_with_a_part_missing_or_wrong_are_refused(estimator, data, tmp_path):
    path = tmp_path / "search.npz"
    options = {**SMALL, "estimator": estimator, "evaluate": "oob", "random_state": 0, "checkpoint": path}
    GEFSClassifier(**options).fit(*data)
    with np.load(path) as file:
        arrays = dict(file)
    changes = [(name, None) for name in ("genome.2", "fitness", "numbers", "accuracies")]
    changes += [(f"head.{name}", None) for name in ("about", "n_trained", "history", "diversity_weight")]
    changes += [
        ("head.history", []),
        ("head.history", [{"what": 1}]),
        ("head.about", {}),
        ("head.about", "x"),
    ]
    changes += [("genome.2", lambda genome: genome + 6), ("genome.2", lambda genome: genome - 7)]
    changes += [("genome.2", lambda genome: genome[:0]), ("genome.2", lambda genome: genome + 0.5)]
    changes += [("rows.0", None), ("rows.0", lambda rows: rows + 1000)]
    changes += [("fitness", lambda fitness: fitness[1:])]
    changes += [
        ("accuracies", lambda accuracies: accuracies[1:]),
        ("fitness", lambda fitness: fitness * np.nan),
    ]
    if estimator == "mlp":
        changes += [("model.0.hidden", None), ("model.0.hidden", lambda weights: weights[:, 1:])]
        changes += [("model.3.output", lambda weights: weights.astype(float))]
    for change in changes:
        np.savez(path, **harmed(arrays, change))
        with pytest.raises(ValueError, match="damaged: delete it, or name another file"):
            GEFSClassifier(**{**options, "n_candidates": 30}).fit(*data)
    np.savez(path, **harmed(arrays, ("head.about", None)))
    with pytest.raises(ValueError, match="damaged"):
        GEFSClassifier(**{**options, "random_state": None}).fit(*data)
    np.savez(path, **arrays)
    assert GEFSClassifier(**{**options, "n_candidates": 30}).fit(*data).n_trained_ == 30


@pytest.mark.parametrize("seed", [None, 0])
@pytest.mark.parametrize("make", [GEFSClassifier, GEFSSelector])
def test_places_where_no_file_can_be(make, seed, data, tmp_path):
    class Never(GaussianNB):
        def fit(self, X, y):
            raise AssertionError("the place is looked at first")

    options = {**SMALL, "estimator": Never(), "random_state": seed}
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*none; make it first"):
        make(**options, checkpoint=tmp_path / "none" / "search.npz").fit(*data)
    with pytest.raises(IsADirectoryError, match=r"is a folder: name a file"):
        make(**options, checkpoint=tmp_path).fit(*data)


def test_a_file_with_more_networks_than_are_wanted_is_taken_as_it_is(data, tmp_path):
    path = tmp_path / "search.npz"
    whole = GEFSClassifier(**SMALL, random_state=0, checkpoint=path).fit(*data)
    content = path.read_bytes()
    model = GEFSClassifier(**{**SMALL, "n_candidates": 10}, random_state=0, checkpoint=path).fit(*data)
    assert model.n_trained_ == 26
    assert outcome(model, data[0]) == outcome(whole, data[0])
    assert path.read_bytes() == content


class Interrupting(GaussianNB):
    """A classifier during whose 12th fit Ctrl-C is pressed."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        Interrupting.fits += 1
        if Interrupting.fits == 12:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


def test_of_an_interrupted_selector_the_file_is_left(data, tmp_path):
    options = {**SMALL, "estimator": Interrupting(), "random_state": 0, "checkpoint": tmp_path / "search.npz"}
    Interrupting.fits = 0
    selector = GEFSSelector(**options)
    with pytest.raises(KeyboardInterrupt):
        selector.fit(*data)
    assert not hasattr(selector, "scores_")
    with np.load(options["checkpoint"]) as file:
        assert json.loads(file["head"].item())["n_trained"] == 10  # the last whole generation
    selector.fit(*data)
    whole = GEFSSelector(**{**options, "checkpoint": None}).fit(*data)
    assert selector.scores_.tolist() == whole.scores_.tolist()


# The search would take hours; a generation takes a fraction of a second.
SCRIPT = """
import sys
import numpy as np
from foresift import GEFSClassifier
rng = np.random.default_rng(0)
X = rng.normal(size=(400, 10))
y = (X[:, 0] * X[:, 1] > 0).astype(int)
path, n_candidates, n_jobs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
options = {"population": 6, "n_offspring": 4, "epochs": 30, "random_state": 0, "n_jobs": n_jobs}
model = GEFSClassifier(**options, n_candidates=n_candidates, checkpoint=path)
print("started", flush=True)
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print("interrupted", flush=True)
# What is left is an ensemble like any other: it predicts, and goes on.
n = model.n_trained_
again = GEFSClassifier(**{**model.get_params(), "n_candidates": n, "checkpoint": None}).fit(X, y)
same = np.array_equal(again.predict_proba(X), model.predict_proba(X))
model.set_params(checkpoint=None).fit_more(X, y, 4)
print(n > 6, len(model.genomes_), same, model.n_trained_ - n, flush=True)
"""


def start(path, n_candidates, n_jobs):
    command = [sys.executable, "-c", SCRIPT, str(path), str(n_candidates), str(n_jobs)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "started\n", process.stderr.read()
    return process


def wait_for_generations(path):
    """Wait until some generations are in the file, however busy the machine is."""
    began = time.monotonic()
    while time.monotonic() - began < 60:
        time.sleep(0.2)
        if path.exists() and len(np.load(path)["head"].item()) > 1500:
            return


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
def test_a_killed_search_goes_on(tmp_path):
    path = tmp_path / "search.npz"
    process = start(path, 10**7, 2)
    wait_for_generations(path)
    process.kill()
    process.communicate()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 10))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    options = {"population": 6, "n_offspring": 4, "epochs": 30, "random_state": 0}
    first = GEFSClassifier(**options, n_candidates=6, checkpoint=path).fit(X, y)
    assert first.n_trained_ > 6
    more = first.n_trained_ + 8
    model = GEFSClassifier(**options, n_candidates=more, checkpoint=path).fit(X, y)
    whole = GEFSClassifier(**options, n_candidates=more).fit(X, y)
    assert outcome(model, X) == outcome(whole, X)


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_keeps_the_population(n_jobs, tmp_path):
    process = start(tmp_path / "search.npz", 10**7, n_jobs)
    try:
        wait_for_generations(tmp_path / "search.npz")
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
    finally:
        process.kill()
        process.communicate()
    assert output.splitlines() == ["interrupted", "True 6 True 4"], (output, errors)
    assert process.returncode == 0, errors
