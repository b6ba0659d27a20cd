"""A file of results: what is in it stays, whatever happens, and nothing is in it twice."""

import json
import multiprocessing
import os
import sqlite3
from dataclasses import replace

import numpy as np
import pytest

from foresift.evaluation.harness.store import VERSION, Store, StoreError
from foresift.evaluation.harness.tasks import Data, Record, Unit


def unit(fold=0, **changes):
    base = Unit("score", "toy", "d", "gain", "{}", "nb", "{}", "2 folds", 0, fold, "r", 7, "{}", "foresift 0")
    return replace(base, **changes)


def record(fold=0, score=0.5, **changes):
    fields = {
        "scores": {"accuracy": {"own": score, "2": None}},
        "features": {"own": [1], "order": [1, 0]},
        "extra": {"n_train": 10, "n_test": 5},
        "seconds": {"select": 0.25, "fit": 1.5, "score": 0.0},
        "notes": ("UserWarning: hm",),
        "host": {"host": "here"},
    }
    return Record(unit(fold), **{**fields, **changes})


def failed(fold=0, text="ValueError: no"):
    return Record(unit(fold), error=text, traceback="Traceback ...")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.sqlite"


def test_what_goes_in_comes_out(path):
    with Store(path) as store:
        assert store.add([record(0), record(1, 1 / 3), failed(2)]) == 3
    with Store(path) as store:
        found = store.records([unit(1), unit(5), unit(0), unit(2)])
        assert [r.unit.fold for r in found] == [1, 0, 2]
        assert replace(found[1], host={"host": "here"}) == record(0)
        assert found[0].scores["accuracy"]["own"] == 1 / 3  # every bit of it
        assert found[2].error == "ValueError: no"
        assert {r.unit.key for r in store.records()} == {unit(fold).key for fold in range(3)}
        assert store.statuses()[unit(2).key] == "failed"


def test_done_stays_and_failed_gives_way(path):
    with Store(path) as store:
        assert store.add([record(0, 0.5)]) == 1
        assert store.add([record(0, 0.9)]) == 0
        assert store.add([failed(0)]) == 0
        assert store.records()[0].scores["accuracy"]["own"] == 0.5
        assert store.add([failed(1, "one")]) == 1
        assert store.add([failed(1, "two")]) == 1
        assert store.records([unit(1)])[0].error == "two"
        assert store.add([record(1)]) == 1
        assert store.records([unit(1)])[0].error == ""
        assert store.sql("SELECT count(*) FROM units") == store.sql("SELECT count(*) FROM runs") == [(2,)]


def test_all_or_none_of_a_job(path):
    with Store(path) as store:
        with pytest.raises(AttributeError):
            store.add([record(0), None])
        assert store.records() == []
        assert store.add([record(0)]) == 1  # and it goes on


def test_many_keys_at_once(path):
    with Store(path) as store:
        store.add(record(fold) for fold in range(1200))
        assert [r.unit.fold for r in store.records(unit(fold) for fold in range(1200))] == list(range(1200))


def test_results_do_not_hold_times(path, tmp_path):
    """So that the results of two runs can be compared bit for bit."""
    with Store(path) as one, Store(tmp_path / "other.sqlite") as other:
        one.add([record(0), failed(1, "a")])
        other.add([failed(1, "b")])
        other.add([record(0, seconds={"select": 9.0})])
        query = "SELECT * FROM units ORDER BY key"
        assert one.sql(query) == other.sql(query)


def test_plain_sql(path):
    """What docs/comparing.md shows, with nothing but the standard library."""
    data = Data.of("toy", {"a": [1.0, 2.0], "b": ["x", "y"]}, ["no", "yes"])
    with Store(path) as store:
        store.add_data(data)
        store.add_data(data)
        store.add([record(0, 0.5), record(1, 0.75), failed(2)])
    plain = sqlite3.connect(path)
    query = "SELECT method, size, avg(score), count(*) FROM curves WHERE size = 'own' GROUP BY method, size"
    assert plain.execute(query).fetchall() == [("gain", "own", 0.625, 2)]
    query = "SELECT fold, error FROM units JOIN runs USING (key) WHERE status = 'failed'"
    assert plain.execute(query).fetchall() == [(2, "ValueError: no")]
    query = "SELECT json_extract(features, '$.own') FROM units WHERE fold = 0"
    assert json.loads(plain.execute(query).fetchone()[0]) == [1]
    assert plain.execute("SELECT n_rows, features FROM datasets").fetchall() == [(2, '["a","b"]')]
    assert plain.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    plain.close()


# --- what can be wrong with a file ---


def test_not_a_database(path):
    path.write_text("method,score\n" * 100)
    with pytest.raises(StoreError, match="not a SQLite file"):
        Store(path)
    assert path.read_text().startswith("method,score")


def test_database_of_somebody_else(path):
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE customers (name)")
    other.commit()
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="not a store of foresift"):
        Store(path)
    assert path.read_bytes() == before


def test_store_of_another_format(path):
    Store(path).close()
    other = sqlite3.connect(path)
    other.execute(f"PRAGMA user_version = {VERSION + 1}")
    other.commit()
    other.close()
    with pytest.raises(StoreError, match=f"format {VERSION + 1}.*reads format {VERSION}"):
        Store(path)


def test_damaged_file(path):
    with Store(path) as store:
        store.add(record(fold) for fold in range(200))
        store.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(path.read_bytes())
    content[4096:-4096] = os.urandom(len(content) - 8192)
    path.write_bytes(content)
    with pytest.raises(StoreError, match="is damaged"), Store(path) as store:
        store.records()


def test_places_that_will_not_do(tmp_path):
    with pytest.raises(StoreError, match="is a folder"):
        Store(tmp_path)
    with pytest.raises(StoreError, match="no folder"):
        Store(tmp_path / "not" / "there.sqlite")
    with pytest.raises(StoreError, match="There is no file"):
        Store(tmp_path / "none.sqlite", read_only=True)
    with pytest.raises(StoreError, match="read-only"):
        Store("/proc/results.sqlite")  # a folder where nobody can make a file


def test_full_disk_loses_nothing(path):
    with Store(path) as store:
        store.add([record(0)])
        pages = store.sql("PRAGMA page_count")[0][0]
        store.sql(f"PRAGMA max_page_count = {pages + 1}")
        with pytest.raises(StoreError, match="disk is full"):
            store.add(record(fold) for fold in range(1, 500))
        assert [r.unit.fold for r in store.records()] == [0]
        store.sql("PRAGMA max_page_count = 1000000")
        assert store.add([record(1)]) == 1


def test_mistake_in_a_query(path):
    with Store(path) as store, pytest.raises(StoreError, match="no such column: eror"):
        store.sql("SELECT eror FROM runs")


# --- two processes ---


def _write(path, start, folds):
    start.wait()
    with Store(path) as store:
        for fold in folds:
            store.add([record(fold, fold / 100)])


def test_processes_that_write_at_once(path):
    """All of them make the file, and write the same units in different orders."""
    context = multiprocessing.get_context("fork")
    start = context.Event()
    orders = [np.random.default_rng(seed).permutation(60).tolist() for seed in range(4)]
    processes = [context.Process(target=_write, args=(path, start, order)) for order in orders]
    for process in processes:
        process.start()
    start.set()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 4
    with Store(path) as store:
        assert store.sql("PRAGMA integrity_check") == [("ok",)]
        assert store.sql("SELECT count(*), count(DISTINCT fold) FROM units") == [(60, 60)]
        assert store.sql("SELECT count(*) FROM runs") == [(60,)]
        assert [r.scores["accuracy"]["own"] for r in store.records([unit(7)])] == [0.07]
