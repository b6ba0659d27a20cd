"""Stores that are damaged or edited by hand: every reader says so in one sentence."""

import random
import re
import sqlite3

import numpy as np
import pytest
from power import seeds
from typer.testing import CliRunner

from foresift.cli.app import app
from foresift.cli.errors import BAD_INPUT
from foresift.errors import InputError
from foresift.evaluation.compare import compare
from foresift.evaluation.harness.store import Store, StoreError
from foresift.evaluation.harness.tasks import Record, Unit

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


@seeds(15, 300)
def test_flipped_bytes_of_a_store(seed, path, whole):
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
