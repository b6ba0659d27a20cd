"""A store on a disk that is full: one sentence, exit code 1, nothing lost, and the same command goes on."""

import functools
import shutil
import sqlite3
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from foresift.cli.app import app
from foresift.cli.errors import BAD_INPUT, FAILED
from foresift.evaluation.harness.store import Store, StoreNotWritten

FULL = "the disk is full: free some space, then run the same again, which continues; no results are lost."
ARGUMENTS = ("--target", "kind", "--methods", "random", "--classifiers", "nb", "--cv", "15x3", "--quiet")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "fruit.csv"
    rows = [f"{k % 7},{k * k % 11},{('apple', 'plum')[k % 2]}" for k in range(60)]
    path.write_text("weight,noise,kind\n" + "\n".join(rows) + "\n")
    return path


def invoke(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def units(path):
    with sqlite3.connect(path) as connection:
        return connection.execute("SELECT * FROM units ORDER BY key").fetchall()


def limited(monkeypatch, pages):
    """Let SQLite find the disk full after so many pages, or those that a file has."""
    connect = sqlite3.connect

    def limited_connection(*args, **options):
        connection = connect(*args, **options)
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    monkeypatch.setattr(sqlite3, "connect", limited_connection)


def test_comparison_goes_on_when_there_is_room(table, tmp_path, monkeypatch):
    store, whole = tmp_path / "results.sqlite", tmp_path / "whole.sqlite"
    with monkeypatch.context() as patch:
        limited(patch, 20)
        result = invoke("compare", table, *ARGUMENTS, "--store", store)
    assert result.exit_code == FAILED
    assert result.stdout == ""
    assert result.stderr == f"foresift: {store} cannot be written, {FULL}\n"
    before = units(store)
    assert 0 < len(before) < 90
    assert invoke("compare", table, *ARGUMENTS, "--store", store).exit_code == 0
    assert invoke("compare", table, *ARGUMENTS, "--store", whole).exit_code == 0
    assert set(before) <= set(units(store))
    assert units(store) == units(whole)


def test_reproduction_too(tmp_path, monkeypatch):
    store = tmp_path / "results.sqlite"
    Store(store).close()
    limited(monkeypatch, 1)
    result = invoke(
        "reproduce", "rogers-gunn", "--quick", "--only", "Simple", "--repeats", 9, "--store", store
    )
    assert result.exit_code == FAILED
    assert result.stderr.splitlines()[-1] == f"foresift: {store} cannot be written, {FULL}"


def test_file_that_is_no_store_is_still_bad_input(table):
    assert invoke("compare", table, *ARGUMENTS, "--store", __file__).exit_code == BAD_INPUT


def test_io_error_is_a_full_one_if_there_is_no_room(tmp_path, monkeypatch):
    def fail(*args, **options):
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(sqlite3, "connect", fail)
    with pytest.raises(StoreNotWritten, match="network drive"):
        Store(tmp_path / "results.sqlite")
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1000))
    with pytest.raises(StoreNotWritten, match="the disk is full"):
        Store(tmp_path / "results.sqlite")


def test_no_room_for_the_copies_of_workers(table, monkeypatch):
    """Workers read the table from a file of its own, which may be the one that does not fit."""
    import joblib

    def dump(value, path):
        with open("/dev/full", "w") as file:
            file.write("x")

    monkeypatch.setattr(joblib, "dump", dump)
    result = invoke("compare", table, *ARGUMENTS, "--jobs", 2)
    assert result.exit_code == FAILED
    assert result.stderr.startswith("foresift: Cannot write ")
    assert result.stderr.endswith(
        ".joblib: no space left on the device; free some, then run the same command again.\n"
    )


# --- a disk that is really full ---


@functools.cache
def can_mount():
    if shutil.which("unshare") is None:
        return False
    trial = "mount -t tmpfs -o size=64k none /mnt"
    return not subprocess.run(["unshare", "-rm", "sh", "-c", trial], capture_output=True).returncode


@pytest.mark.parametrize("room", ["", "cat /dev/zero > {disk}/filler 2> {disk}/log"], ids=["small", "none"])
def test_a_real_one(table, tmp_path, room):
    """Of 80 kB, and with nothing left: there SQLite cannot even open a store that is there."""
    if not can_mount():
        pytest.skip("needs leave to mount a file system")
    disk = tmp_path / "disk"
    disk.mkdir()
    options = " ".join(ARGUMENTS)
    compare = f"{sys.executable} -m foresift compare {table} {options} --store {disk}/f.sqlite"
    lines = [f"mount -t tmpfs -o size=80k none {disk}", compare]
    if room:
        made = tmp_path / "made.sqlite"
        Store(made).close()
        lines = [lines[0], f"cp {made} {disk}/f.sqlite", room.format(disk=disk), compare]
    told = subprocess.run(["unshare", "-rm", "sh", "-c", "\n".join(lines)], capture_output=True, text=True)
    assert told.returncode == FAILED
    assert told.stderr == f"foresift: {disk}/f.sqlite cannot be written, {FULL}\n"
