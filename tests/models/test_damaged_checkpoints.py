"""Checkpoints of GEFS that are damaged or edited by hand are refused in one sentence."""

import io
import json
import random
import re
import zipfile

import numpy as np
import pytest
from power import seeds
from sklearn.naive_bayes import GaussianNB

from foresift import GEFSClassifier, GEFSSelector

DEEP = 100_000


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    return X, (X[:, 0] > 0).astype(int)


SMALL = {"population": 4, "n_offspring": 2, "epochs": 2, "evaluate": "oob"}
SMALL |= {"initial_length": 1.0, "diversity_weight": 1.0}  # which classifier and selector have not in common
REFUSED = "is not a checkpoint of GEFS, or is damaged: delete it, or name another file"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    path = tmp_path_factory.mktemp("search") / "search.npz"
    GEFSClassifier(**SMALL, n_candidates=8, random_state=0, checkpoint=path).fit(*table())
    return path.read_bytes()


def searches(path):
    """Go on with a search, with a seed and without, as a classifier and as a selector."""
    for make in (GEFSClassifier, GEFSSelector):
        for seed in (0, None):
            yield make(**SMALL, n_candidates=10, patience=5, random_state=seed, checkpoint=path)


def arrays_of(content):
    with np.load(io.BytesIO(content)) as file:
        return dict(file)


def with_head(change):
    def damage(content):
        arrays = arrays_of(content)
        head = json.loads(arrays["head"].item())
        head = change(head) or head
        return archive({**arrays, "head": np.array(head if isinstance(head, str) else json.dumps(head))})

    return damage


def with_array(name, change):
    def damage(content):
        arrays = arrays_of(content)
        return archive({**arrays, name: change(arrays[name])})

    return damage


def archive(arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def rezipped(change):
    """Members of the archive written anew, without pickles but for what `change` does to them."""

    def damage(content):
        file = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w") as new:
            for name in old.namelist():
                if (member := change(name, old.read(name))) is not None:
                    new.writestr(name, member)
        return file.getvalue()

    return damage


def claim(shape):
    """Let an array say that it is much larger than its file."""
    header = io.BytesIO()
    form = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_2_0(header, form)
    return lambda name, member: header.getvalue() if name == "fitness.npy" else member


CHECKPOINTS = {
    "empty": lambda content: b"",
    "text": lambda content: b"hello",
    "one array": lambda content: b"\x93NUMPY\x01\x00v\x00" + b" " * 118,
    "cut in the first member": lambda content: content[:20],
    "cut at a half": lambda content: content[: len(content) // 2],
    "cut at its end": lambda content: content[:-1],
    "cut in the directory": lambda content: content[:-100],
    "zeros within": lambda content: content[:300] + bytes(100) + content[400:],
    "zeros in the directory": lambda content: content[:-400] + bytes(300) + content[-100:],
    "an encrypted member": lambda content: re.sub(  # the first flag of every entry of the directory
        rb"(?s)(PK\x01\x02.{4})\x00", b"\\1\x01", content
    ),
    "no head": rezipped(lambda name, member: None if name == "head.npy" else member),
    "no genome": rezipped(lambda name, member: None if name == "genome.1.npy" else member),
    "no array in a member": rezipped(lambda name, member: b"" if name == "fitness.npy" else member),
    "a pickled head": with_array("head", lambda head: np.array([head.item()], dtype=object)),
    "a pickled genome": with_array("genome.0", lambda genes: genes.astype(object)),
    "an endless array": rezipped(claim((2**60,))),
    "an array too large": rezipped(claim((2**36,))),
    "a nested head": with_head(lambda head: "[" * DEEP),
    "a head with a nested part": with_head(lambda head: json.dumps(head)[:-1] + ', "x": ' + '{"a":' * DEEP),
    "a head that is a list": with_head(lambda head: [head]),
    "a head that is a number": with_head(lambda head: "7"),
    "no about": with_head(lambda head: head.pop("about") and None),
    "about is a list": with_head(lambda head: head.update(about=[1])),
    "a parameter is a list": with_head(lambda head: head["about"].update(epochs=[[1]])),
    "a seed that is text": with_head(lambda head: head["about"].update(seed="0")),
    "a seed below 0": with_head(lambda head: head["about"].update(seed=-1)),
    "a seed too large": with_head(lambda head: head["about"].update(seed=2**64)),
    "n_trained is NaN": with_head(lambda head: head.update(n_trained=float("nan"))),
    "n_trained is infinite": with_head(lambda head: head.update(n_trained=float("inf"))),
    "n_trained is text": with_head(lambda head: head.update(n_trained="8")),
    "n_trained is another": with_head(lambda head: head.update(n_trained=9)),
    "n_diverged is too large": with_head(lambda head: head.update(n_diverged=10**30)),
    "diversity_weight is NaN": with_head(lambda head: head.update(diversity_weight=float("nan"))),
    "diversity_weight is huge": with_head(lambda head: head.update(diversity_weight=10**400)),
    "no history": with_head(lambda head: head.update(history=[])),
    "history is a number": with_head(lambda head: head.update(history=3)),
    "an error that is text": with_head(lambda head: head["history"][-1].update(ensemble_error="low")),
    "an error that is a list": with_head(lambda head: head["history"][-1].update(mean_error=[0.5])),
    "seconds that are null": with_head(lambda head: head["history"][-1].update(seconds=None)),
    "a generation that is text": with_head(lambda head: head["history"][-1].update(generation="two")),
    "a generation too many": with_head(lambda head: head["history"].append({"generation": 9})),
    "genes of another dtype": with_array("genome.0", lambda genes: genes.astype(np.int64)),
    "genes of another byte order": with_array("genome.0", lambda genes: genes.astype(">i4")),
    "genes that are text": with_array("genome.0", lambda genes: genes.astype(str)),
    "genes in two dimensions": with_array("genome.0", lambda genes: genes[np.newaxis]),
    "genes in none": with_array("genome.0", lambda genes: np.array(1, dtype=np.int32)),
    "rows that are floats": with_array("rows.0", lambda rows: rows.astype(float)),
    "rows that are not there": with_array("rows.0", lambda rows: rows + 1000),
    "fitness that is text": with_array("fitness", lambda fitness: fitness.astype(str)),
    "fitness that is complex": with_array("fitness", lambda fitness: fitness.astype(complex)),
    "fitness of one": with_array("fitness", lambda fitness: fitness[:1]),
    "numbers below 0": with_array("numbers", lambda numbers: numbers - 100),
    "numbers to come": with_array("numbers", lambda numbers: numbers + 100),
    "numbers that are floats": with_array("numbers", lambda numbers: numbers + 0.5),
    "accuracies that are dates": with_array("accuracies", lambda values: values.astype("M8[s]")),
    "accuracies that are NaN": with_array("accuracies", lambda values: values * np.nan),
    "weights of another shape": with_array("model.0.hidden", lambda weights: weights.T.copy()),
    "weights that are NaN": with_array("model.0.output", lambda weights: weights * np.nan),
}


@pytest.mark.parametrize("what", CHECKPOINTS)
def test_damaged_checkpoints(what, checkpoint, tmp_path):
    path = tmp_path / "search.npz"
    path.write_bytes(CHECKPOINTS[what](checkpoint))
    before = path.read_bytes()
    for model in searches(path):
        with pytest.raises(ValueError, match=REFUSED):
            model.fit(*table())
    assert path.read_bytes() == before


def test_classifiers_do_not_go_on_from_genes_alone(checkpoint, tmp_path):
    """Estimators are not in the file; what is, is looked at all the same."""
    path = tmp_path / "search.npz"
    options = {**SMALL, "estimator": GaussianNB(), "n_candidates": 8, "random_state": 0, "checkpoint": path}
    GEFSClassifier(**options).fit(*table())
    content = path.read_bytes()
    for what in ("rows that are floats", "numbers below 0", "an error that is text", "no genome"):
        path.write_bytes(CHECKPOINTS[what](content))
        with pytest.raises(ValueError, match=REFUSED):
            GEFSClassifier(**options).fit(*table())
    path.write_bytes(content)
    assert GEFSClassifier(**options).fit(*table()).n_trained_ == 8


@seeds(15, 300)
def test_flipped_bytes_of_a_checkpoint(seed, checkpoint, tmp_path):
    rng = random.Random(seed)
    content = bytearray(checkpoint)
    for _ in range(rng.choice([1, 2, 8])):
        at_end = rng.random() < 0.3  # where the directory is
        place = len(content) - 1 - rng.randrange(900) if at_end else rng.randrange(len(content))
        content[place] ^= 1 << rng.randrange(8)
    path = tmp_path / "search.npz"
    path.write_bytes(content)
    try:
        GEFSSelector(**SMALL, n_candidates=10, checkpoint=path).fit(*table())
    except ValueError as error:
        assert str(error).startswith(str(path))  # noqa: PT017
