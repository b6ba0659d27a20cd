"""`foresift compare`: from a file to a table, stopped and gone on with, and mistakes told in one line."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from foresift.cli.app import app
from foresift.cli.compare import split_option
from foresift.cli.errors import _interrupts
from foresift.evaluation.harness.run import _children_ignore_ctrl_c

PLAIN = ("--methods", "info-gain,random", "--classifiers", "nb", "--cv", "3", "--sizes", "own,1")


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "fruit.csv"
    rows = []
    for k in range(60):
        kind, colour = ("apple", "plum")[k % 2], rng.choice(["red", "blue", ""])
        rows.append(f"{rng.normal(150 - 100 * (k % 2), 40):.1f},{colour},{rng.random()},{kind}")
    path.write_text("weight,colour,noise,kind\n" + "\n".join(rows) + "\n")
    return path


def invoke(*arguments):
    return CliRunner().invoke(app, ["compare", *map(str, arguments)])


def test_table_is_printed_and_the_store_gone_on_with(table, tmp_path):
    store = tmp_path / "results.sqlite"
    first = invoke(table, "--target", "kind", *PLAIN, "--store", store)
    assert first.exit_code == 0, first.output
    for part in ("fruit: 60 rows, 3 columns; 3 stratified folds", "info-gain", "none"):
        assert part in first.stdout
    assert first.stderr == ""  # no bar where there is no terminal
    times = sqlite3.connect(store).execute("SELECT key, finished FROM runs ORDER BY key").fetchall()
    again = invoke(table, "--target", "kind", *PLAIN, "--store", store, "--json")
    found = json.loads(again.stdout)
    assert found["about"]["dataset"] == "fruit"
    assert {row["method"] for row in found["rows"]} == {"none", "info-gain", "random"}
    assert sqlite3.connect(store).execute("SELECT key, finished FROM runs ORDER BY key").fetchall() == times
    quiet = invoke(table, "--target", "kind", *PLAIN, "--store", store, "--quiet")
    assert quiet.stdout.split()[2:4] == ["nb", "accuracy"]
    assert quiet.stderr == ""


@pytest.fixture
def prices(tmp_path):
    rng = np.random.default_rng(0)
    path, size = tmp_path / "prices.csv", rng.normal(100, 30, 80)
    rows = [
        f'{s:.1f},{rng.random():.3f},{rng.choice(["old", "new"])},"${900 * s + 1000 * rng.normal():,.0f}"'
        for s in size
    ]
    path.write_text("size,noise,age,price\n" + "\n".join(rows) + "\n")
    return path


def test_a_quantity_is_compared_and_said(prices, tmp_path):
    options = ("--target", "price", "--methods", "info-gain,random", "--sizes", "1", "--cv", "5")
    found = invoke(prices, *options, "--estimators", "ridge,rf", "--out", tmp_path / "out")
    assert found.exit_code == 0, found.output
    said = " ".join(found.stdout.split())
    assert "The target has 80 distinct whole numbers, treated as a quantity." in said
    assert "ridge, r2" in found.stdout
    assert "Classes" not in found.stdout
    assert "Which to take: info-gain with 1 column" in said
    plain = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert plain["about"]["task"] == "regression"
    assert plain["recommended"]["method"] == "info-gain"
    assert plain["recommendation"] in said
    assert "Which to take" in (tmp_path / "out" / "report.html").read_text()
    sure = invoke(prices, *options, "--task", "regression", "--classifiers", "ridge")
    assert sure.exit_code == 0
    assert "treated as a quantity" not in sure.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--target", "price", "--estimators", "nb"), "'nb' takes classes only, but y is a quantity: use rf"),
        (
            ("--target", "price", "--methods", "ssv1"),
            "takes classes only, but y is a quantity: use info-gain",
        ),
        (("--target", "price", "--scoring", "accuracy"), "The scorer 'accuracy' does not work on a quantity"),
        (("--target", "age", "--task", "regression"), "which are no numbers: leave out --task regression"),
        (("--target", "price", "--task", "classification"), "80 values in 80 rows: too many classes"),
        (("--target", "age", "--estimators", "ridge"), "'ridge' takes a quantity only, but y holds classes"),
    ],
)
def test_a_task_that_does_not_fit_is_told_in_one_line(prices, options, message):
    result = invoke(prices, *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_full_disk_leaves_the_old_answer(table, tmp_path, monkeypatch):
    """A new comparison.json beside an old report would be a lie; /dev/full is made to be full."""
    out = tmp_path / "out"
    assert invoke(table, "--target", "kind", *PLAIN, "--out", out, "--quiet").exit_code == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert set(before) == {"comparison.csv", "comparison.json", "report.html"}
    really = Path.write_text

    def full(self, text, **options):
        return really(Path("/dev/full") if "report.html" in self.name else self, text, **options)

    monkeypatch.setattr(Path, "write_text", full)
    result = invoke(table, "--target", "kind", *PLAIN, "--seed", 1, "--out", out, "--quiet")
    assert result.exit_code == 1
    assert f"Cannot write {out / 'report.html'}: no space left" in result.stderr
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_what_failed_names_the_column(tmp_path):
    path = tmp_path / "fruit.csv"
    rows = [f"{k % 4},{'' if k % 5 == 0 else k / 3},{'red' if k % 3 else 'blue'},{k % 2}" for k in range(40)]
    path.write_text("noise,weight,colour,kind\n" + "\n".join(rows) + "\n")
    arguments = (path, "--target", "kind", "--classifiers", "nb", "--cv", 2, "--methods")
    for names in ("ssv1,random", "ssv1"):
        shown = " ".join(invoke(*arguments, names).stdout.split())
        assert "ssv1 with nb: ValueError: column 'weight' is numeric and has missing values" in shown
    found = json.loads(invoke(*arguments, "ssv1", "--json", "--drop", "colour").stdout)  # all numbers
    assert "column 'weight'" in found["failures"][0]["error"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--target", "kidn"), "did you mean 'kind'?"),
        (("--target", "kind", "--methods", "relif"), "did you mean 'relief'"),
        (("--target", "kind", "--classifiers", "svn"), "did you mean 'svm'"),
        (("--target", "kind", "--cv", "ten"), "repeats x folds"),
        (("--target", "kind", "--cv", "40"), "fewer than the 40 folds"),
        (("--target", "kind", "--sizes", "1,many"), "own,2,5"),
        (("--target", "kind", "--sizes", "7"), "from 1 to 3"),
        (("--target", "kind", "--scoring", "acuracy"), "acuracy"),
        (("--target", "kind", "--methods", "sfx"), "There is no method 'sfx'; did you mean 'sfs'?"),
        (("--target", "kind", "--jobs", "0"), "--jobs"),
        (("--target", "kind", "--store", "/no/such/folder/f.sqlite"), "no folder"),
        (("--target", "kind", "--store", __file__), "not a SQLite file"),
    ],
)
def test_mistakes_are_told_in_one_line(table, options, message):
    result = invoke(table, *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.startswith("foresift: ")
    assert result.stderr.count("\n") == 1


def test_scheduler_that_does_not_answer(table):
    pytest.importorskip("distributed", reason="needs Dask")
    result = invoke(table, "--target", "kind", "--scheduler", "nonsense://nowhere")
    assert result.exit_code == 2
    assert "No Dask scheduler answers at nonsense://nowhere" in result.stderr


def test_way_to_split():
    assert split_option("10X5") == (10, 5)
    assert split_option(".25") == (1, 0.25)
    for text in ("", "x", "ax5", "5x", "2x2x2"):
        with pytest.raises(ValueError, match="--cv"):
            split_option(text)


def test_ctrl_c_says_how_to_go_on(table, tmp_path):
    store = tmp_path / "results.sqlite"
    arguments = ["compare", str(table), "--target", "kind", *PLAIN, "--cv", "300x3", "--store", str(store)]
    code = "from foresift.cli.app import app; app()"
    child = subprocess.Popen([sys.executable, "-c", code, *arguments], stderr=subprocess.PIPE, text=True)
    while child.poll() is None:  # till something is stored
        time.sleep(0.05)
        if store.exists() and _count(store) > 3:
            os.kill(child.pid, signal.SIGINT)
            break
    _, told = child.communicate(timeout=60)
    assert child.returncode == 130
    assert f"{_count(store)} of 2700 tasks are in {store}. To resume: foresift compare" in told
    assert f"--store {store}" in told
    assert "Traceback" not in told


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
def test_ctrl_c_finds_workers_that_are_just_starting(table, tmp_path):
    """A terminal sends it to all processes; those that are importing modules would show where they were."""
    typed = ["compare", str(table), "--target", "kind", *PLAIN, "--cv", "300x3", "--jobs", "2"]
    code = "from foresift.__main__ import main; main()"
    child = subprocess.Popen(
        [sys.executable, "-c", code, *typed],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    while child.poll() is None and not (workers := _workers(child.pid)):
        time.sleep(0.005)
    blocked = [_blocked_signals(worker) for worker in workers]
    os.killpg(child.pid, signal.SIGINT)
    told, _ = child.communicate(timeout=120)
    assert child.returncode == 130
    assert told == "foresift: stopped; nothing is stored without --store F.sqlite.\n"
    assert all(signals & 1 << signal.SIGINT - 1 for signals in blocked)


def _workers(pid):
    """Processes that a process has started to work for it."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent = (place / "stat").read_text().rpartition(")")[2].split()[1]
            line = (place / "cmdline").read_bytes()
        except OSError:  # gone
            continue
        if parent == str(pid) and b"loky" in line and b"tracker" not in line:
            found.append(place)
    return found


def _blocked_signals(place):
    lines = (place / "status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("SigBlk")).split()[1], 16)


def _count(store):
    connection = sqlite3.connect(store)
    try:
        return connection.execute("SELECT count(*) FROM units").fetchone()[0]
    except sqlite3.OperationalError:  # not made yet
        return 0
    finally:
        connection.close()


def test_after_ctrl_c_threads_of_libraries_end_in_silence(monkeypatch):
    told = []
    monkeypatch.setattr(threading, "excepthook", told.append)

    def fail():
        thread = threading.Thread(target=lambda: 1 / 0)
        thread.start()
        thread.join()

    with _interrupts() as heard:
        fail()
        assert len(told) == 1
        heard.append(signal.SIGINT)
        fail()
        assert len(told) == 1
    fail()
    assert len(told) == 2


def test_who_listens_hears_ctrl_c_while_workers_start():
    heard = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        with pytest.raises(KeyboardInterrupt), _children_ignore_ctrl_c():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [signal.SIGINT]
