"""Stores and checkpoints that are damaged or edited by hand: every reader says so in one sentence."""

import io
import json
import random
import re
import sqlite3
import zipfile

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from typer.testing import CliRunner

from foresift import GEFSClassifier, GEFSSelector
from foresift.cli.app import app
from foresift.cli.errors import BAD_INPUT
from foresift.comparison import compare
from foresift.errors import InputError
from foresift.store import Store, StoreError
from foresift.units import Record, Unit

DEEP = 100_000
NOT_SQLITE = "is not a SQLite file: name another file"


def command(*arguments):
    """Run a command; what goes wrong is one line, and never the name of an exception."""
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code in (0, BAD_INPUT), (result.output, result.exception)
    if result.exit_code:
        assert result.stderr.startswith("foresift: ")
        assert result.stderr.count("\n") == 1, result.stderr
        assert "Error" not in result.stderr
    return result


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    return X, (X[:, 0] > 0).astype(int)


def compared(store):
    return compare(*table(), ["info-gain"], ["nb"], cv=2, sizes=[1, "own"], store=store)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "results.sqlite"
    compared(path)
    return path.read_bytes()


@pytest.fixture
def path(whole, tmp_path):
    path = tmp_path / "results.sqlite"
    path.write_bytes(whole)
    return path


def edit(path, *statements):
    """Change a file as somebody with the program sqlite3 can."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


GAIN = "WHERE method = 'info-gain' AND fold = 1"
EDITS = {
    "scores are a list": f"UPDATE units SET scores = '[]' {GAIN}",
    "scores are null": f"UPDATE units SET scores = 'null' {GAIN}",
    "scores are no JSON": f"UPDATE units SET scores = 'accuracy' {GAIN}",
    "scores are empty": f"UPDATE units SET scores = '' {GAIN}",
    "scores are bytes": f"UPDATE units SET scores = CAST(scores AS BLOB) {GAIN}",
    "scores are not UTF-8": f"UPDATE units SET scores = CAST(x'7bff7d' AS TEXT) {GAIN}",
    "scores are nested": f"UPDATE units SET scores = replace(hex(zeroblob({DEEP})), '00', '[') {GAIN}",
    "extra is nested": f"""UPDATE units SET extra = replace(hex(zeroblob({DEEP})), '00', '{{"a":') {GAIN}""",
    "sizes are a number": f"""UPDATE units SET scores = '{{"accuracy":0.5}}' {GAIN}""",
    "a score is text": f"""UPDATE units SET scores = json_set(scores, '$.accuracy.own', 'high') {GAIN}""",
    "a score is a list": f"""UPDATE units SET scores = '{{"accuracy":{{"own":[1],"1":1}}}}' {GAIN}""",
    "a score is true": f"""UPDATE units SET scores = '{{"accuracy":{{"own":true,"1":1}}}}' {GAIN}""",
    "a score is NaN": f"""UPDATE units SET scores = '{{"accuracy":{{"own":NaN,"1":1}}}}' {GAIN}""",
    "a score is infinite": f"""UPDATE units SET scores = '{{"accuracy":{{"own":1e999,"1":1}}}}' {GAIN}""",
    "a score has 5,000 digits": f"""UPDATE units SET scores =
        '{{"accuracy":{{"own":' || replace(hex(zeroblob(5000)), '00', '7') || '}}}}' {GAIN}""",
    "another scorer": f"UPDATE units SET scores = replace(scores, 'accuracy', 'accurady') {GAIN}",
    "a size too many": f"UPDATE units SET scores = json_set(scores, '$.accuracy.9', 0.5) {GAIN}",
    "a size that is no number": f"UPDATE units SET scores = json_set(scores, '$.accuracy.²', 0.5) {GAIN}",
    "own is gone": f"UPDATE units SET scores = json_remove(scores, '$.accuracy.own') {GAIN}",
    "features are gone": f"UPDATE units SET features = '{{}}' {GAIN}",
    "features are a number": f"UPDATE units SET features = '7' {GAIN}",
    "features are text": f"""UPDATE units SET features = '{{"own":"0","order":[0,1]}}' {GAIN}""",
    "a feature of another table": f"UPDATE units SET features = json_set(features, '$.own[0]', 99) {GAIN}",
    "a feature below 0": f"UPDATE units SET features = json_set(features, '$.own[0]', -1) {GAIN}",
    "a feature with a part": f"UPDATE units SET features = json_set(features, '$.own[0]', 0.5) {GAIN}",
    "a feature twice": f"UPDATE units SET features = json_set(features, '$.order', json('[0,0]')) {GAIN}",
    "extra without rows": f"UPDATE units SET extra = '{{}}' {GAIN}",
    "extra with no rows": f"""UPDATE units SET extra = '{{"n_train":0,"n_test":0}}' {GAIN}""",
    "extra with text": f"UPDATE units SET extra = json_set(extra, '$.n_test', 'many') {GAIN}",
    "another status": f"UPDATE units SET status = 'failed' {GAIN}",
    "an unknown status": f"UPDATE units SET status = 'perhaps' {GAIN}",
    "another method": f"UPDATE units SET method = 'relief' {GAIN}",
    "a fold that is text": f"UPDATE units SET fold = 'first' {GAIN}",
    "a seed with a part": f"UPDATE units SET seed = 0.5 {GAIN}",
    "options that are bytes": f"UPDATE units SET options = x'00ff' {GAIN}",
    "no runs": "DELETE FROM runs",
    "a time that is text": "UPDATE runs SET select_seconds = 'long'",
    "a time that is infinite": "UPDATE runs SET select_seconds = 9e999",
    "a date that is a number": "UPDATE runs SET finished = x'31'",
    "an error that is done": "UPDATE runs SET error = 'ValueError: no'",
    "warnings that are an object": "UPDATE runs SET warnings = '{}'",
    "warnings that are numbers": "UPDATE runs SET warnings = '[1]'",
    "columns without names": "UPDATE datasets SET features = '[]'",
    "columns with half a character": """UPDATE datasets SET features = '["a","b","c","\\ud800"]'""",
    "classes that are numbers": "UPDATE datasets SET classes = '[0,1]'",
    "rows that are text": "UPDATE datasets SET n_rows = 'thirty'",
    "more columns than there are": "UPDATE datasets SET n_features = 1000000000000",
    "a column dropped": "ALTER TABLE units DROP COLUMN extra",
    "a column renamed": "ALTER TABLE runs RENAME COLUMN finished TO ended",
    "a column added": "ALTER TABLE runs ADD COLUMN mine TEXT",
    "a table dropped": "DROP TABLE runs",
    "a table renamed": "ALTER TABLE datasets RENAME TO tables",
}


@pytest.mark.parametrize("what", EDITS)
def test_edited_stores_are_damaged(what, path):
    edit(path, EDITS[what])
    before = path.read_bytes()
    result = command("report", path, "-o", path.parent / "page.html")
    assert result.exit_code == BAD_INPUT
    assert f"{path} is damaged" in result.stderr
    assert "restore it from a copy, delete it, or name another file" in result.stderr
    assert not (path.parent / "page.html").exists()
    assert path.read_bytes() == before
    with pytest.raises(StoreError, match="is damaged"):
        compared(path)


def test_results_of_a_table_that_the_store_does_not_describe(path):
    edit(path, "DELETE FROM datasets")
    assert "is damaged (its table datasets has no row" in command("report", path).stderr
    compared(path)  # puts it back
    assert command("report", path, "-o", path.parent / "page.html").exit_code == 0


def test_what_does_no_harm_is_taken(path):
    """Another format of JSON, an index or a table of one's own, a file that was compacted."""
    edit(
        path,
        "UPDATE units SET scores = replace(scores, ':', ' : ')",
        "CREATE INDEX mine ON units (method)",
        "CREATE TABLE notes (text)",
        "CREATE VIEW best AS SELECT max(score) FROM curves",
    )
    edit(path, "VACUUM")
    found = compared(path)
    assert found.failures == []
    assert command("report", path, "-o", path.parent / "page.html").exit_code == 0


def cut(share):
    return lambda content: content[: int(len(content) * share)]


def overwritten(start, stop, byte=0):
    return lambda content: content[:start] + bytes([byte]) * (stop - start) + content[stop:]


BYTES = {
    "cut in the header": (lambda content: content[:50], "is damaged"),
    "cut after the header": (lambda content: content[:100], "is damaged|" + NOT_SQLITE),
    "cut after a page": (lambda content: content[:4096], "is damaged"),
    "cut at a quarter": (cut(0.25), "is damaged"),
    "cut at a half": (cut(0.5), "is damaged"),
    "cut at nine tenths": (cut(0.9), "is damaged"),
    "no magic": (overwritten(0, 16), NOT_SQLITE),
    "another page size": (overwritten(16, 18, 255), "is damaged|" + NOT_SQLITE),
    "another file format": (overwritten(44, 48, 99), "is damaged"),
    "another text encoding": (overwritten(56, 60, 255), "is damaged"),
    "another format of ours": (overwritten(60, 64, 1), "is a store of format 16843009, but"),
    "of somebody else": (overwritten(68, 72, 1), "is a database, but not a store of foresift"),
    "no schema": (overwritten(100, 4096), "is damaged"),
    "no data": (overwritten(4096, 40_000), "is damaged"),
    "a text file": (lambda content: b"method,score\n" * 100, NOT_SQLITE),
}


@pytest.mark.parametrize("what", BYTES)
def test_damaged_files(what, path, whole):
    damage, said = BYTES[what]
    path.write_bytes(damage(whole))
    before = path.read_bytes()
    with pytest.raises(StoreError, match=said):
        compared(path)
    path.write_bytes(before)
    result = command("report", path)
    assert result.exit_code == BAD_INPUT
    assert re.search(said, result.stderr)
    assert path.read_bytes() == before


def test_empty_file_and_folder(path):
    path.write_bytes(b"")
    assert "is an empty file: name another file" in command("report", path).stderr
    assert path.read_bytes() == b""
    assert compared(path).failures == []  # an empty file is where a store may begin
    assert "is a folder: name a file" in command("report", path.parent).stderr


@pytest.mark.parametrize("seed", range(40))
def test_flipped_bytes_of_a_store(seed, path, whole):
    """A few thousand more were tried by hand."""
    rng = random.Random(seed)
    content = bytearray(whole)
    for _ in range(rng.choice([1, 2, 8])):
        place = rng.randrange(len(content) if rng.random() < 0.8 else 120)
        content[place] ^= 1 << rng.randrange(8)
    path.write_bytes(content)
    command("report", path, "-o", path.parent / "page.html")
    try:
        compared(path).to_html()
    except InputError as error:
        assert str(path) in str(error)  # noqa: PT017


# --- the units of papers ---


@pytest.fixture(scope="module")
def of_paper(tmp_path_factory):
    path = tmp_path_factory.mktemp("paper") / "results.sqlite"
    assert command(*REPRODUCE, "--store", path).exit_code == 0
    return path.read_bytes()


REPRODUCE = ("reproduce", "rogers-gunn", "--quick", "--only", "Simple", "--table", 3, "--table", 5)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE units SET scores = '{}' WHERE kind = 'score'",
        "UPDATE units SET scores = '[[' WHERE kind = 'score'",
        "UPDATE units SET extra = '{}' WHERE kind = 'intervals'",
        """UPDATE units SET extra = '{"intervals":7}' WHERE kind = 'intervals'""",
        """UPDATE units SET extra = '{"intervals":["wide"]}' WHERE kind = 'intervals'""",
        """UPDATE units SET extra = '{"intervals":[]}' WHERE kind = 'intervals'""",
        """UPDATE units SET extra = '{"intervals":[1]}'
        WHERE key = (SELECT key FROM units WHERE kind = 'intervals' LIMIT 1)""",
        "DELETE FROM runs",
        "DROP TABLE runs",
    ],
)
def test_reproduce_says_so_too(statement, of_paper, tmp_path):
    path = tmp_path / "results.sqlite"
    path.write_bytes(of_paper)
    assert command(*REPRODUCE, "--store", path, "--show").exit_code == 0
    edit(path, statement)
    for options in ((), ("--show",)):
        result = command(*REPRODUCE, "--store", path, *options)
        assert result.exit_code == BAD_INPUT
        assert "is damaged" in result.stderr


@pytest.mark.parametrize(
    "changes",
    [
        {"features": {}},
        {"features": {"order": [0, 0]}},
        {"features": {"2": [0, 1], "1": [0]}},
        {"scores": {}},
        {"scores": {"accuracy": {}}},
        {"scores": {"accuracy": {"all": 0.5}}},
        {"scores": {"accuracy": {"3": 0.5}}},
        {"seconds": {}},
    ],
    ids=str,
)
def test_paths_that_cannot_be(changes, tmp_path):
    unit = Unit("path", "toy", *[""] * 6, 0, 0, "", 0, "", "")
    sound = {
        "scores": {"accuracy": {"2": 0.9, "1": 0.8}},
        "features": {"order": [1, 0]},
        "seconds": {"select": 1},
    }
    with Store(":memory:") as store:
        store.add([Record(unit, **sound)])
        assert len(store.records()) == 1
    with Store(":memory:") as store:
        store.add([Record(unit, **{**sound, **changes})])
        with pytest.raises(StoreError, match="is damaged"):
            store.records()


# --- checkpoints of GEFS ---

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
    "cut at a half": cut(0.5),
    "cut at its end": lambda content: content[:-1],
    "cut in the directory": lambda content: content[:-100],
    "zeros within": overwritten(300, 400),
    "zeros in the directory": lambda content: content[:-400] + bytes(300) + content[-100:],
    "an encrypted member": lambda content: content.replace(
        b"PK\x01\x02\x2d\x03\x2d\x00\x00", b"PK\x01\x02\x2d\x03\x2d\x00\x01"
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


@pytest.mark.parametrize("seed", range(40))
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
