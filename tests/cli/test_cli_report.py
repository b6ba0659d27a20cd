"""`foresift report`: a store of results as one page, and `compare --out`."""

import csv
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from foresift.cli.app import app
from foresift.evaluation.compare import compare
from foresift.evaluation.compare.stored import stored_comparison
from foresift.evaluation.compare.summary import summarise
from foresift.evaluation.harness.store import Store, StoreError
from foresift.evaluation.harness.tasks import Data


def invoke(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def table(seed, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)


@pytest.fixture
def file(tmp_path):
    X, y = table(0)
    path = tmp_path / "fruit.csv"
    lines = [
        ",".join([*(f"{value:.3f}" for value in row), f"class {label}"])
        for row, label in zip(X, y, strict=True)
    ]
    path.write_text("\n".join(["a,b,c,<i>d</i>,kind", *lines]) + "\n")
    return path


def test_compare_writes_files_and_report_makes_the_page_again(file, tmp_path):
    store, out = tmp_path / "results.sqlite", tmp_path / "out"
    plain = ("--methods", "info-gain,random", "--classifiers", "nb", "--cv", "3", "--sizes", "1")
    result = invoke("compare", file, "--target", "kind", *plain, "--store", store, "--out", out)
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in out.iterdir()) == ["comparison.csv", "comparison.json", "report.html"]
    found = json.loads((out / "comparison.json").read_text())
    with (out / "comparison.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["method"] for row in rows] == [row["method"] for row in found["rows"]]
    assert "<i>d" not in (out / "report.html").read_text()
    page = tmp_path / "again.html"
    result = invoke("report", store, "-o", page)
    assert result.exit_code == 0, result.output
    assert "info-gain" in page.read_text()
    result = invoke("report", store, "-o", tmp_path / "folder")  # that is how select and compare are called
    assert result.exit_code == 2
    assert "--out is the file to write, so its name must end in .html" in result.stderr
    assert not (tmp_path / "folder").exists()


def test_all_pairs_are_printed_and_written_on_request(file, tmp_path):
    store, out, page = tmp_path / "results.sqlite", tmp_path / "out", tmp_path / "again.html"
    plain = ("--methods", "info-gain,random", "--classifiers", "nb", "--cv", "5", "--sizes", "1,2")
    call = ("compare", file, "--target", "kind", *plain, "--store", store, "--all-pairs")
    result = invoke(*call, "--out", out)
    assert result.exit_code == 0, result.output
    assert "All pairs: nb, accuracy" in result.stdout
    assert result.stdout.index("All pairs") < result.stdout.index("Which to take")
    names = ["comparison.csv", "comparison.json", "pairs.csv", "report.html"]
    assert sorted(path.name for path in out.iterdir()) == names
    found = json.loads((out / "comparison.json").read_text())["pairs"]
    assert len(found) == 10  # of five rows
    with (out / "pairs.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [float(row["difference"]) for row in rows] == [pair["difference"] for pair in found]
    assert {name: "" if value is None else str(value) for name, value in found[0].items()} == rows[0]
    assert "All pairs" in (out / "report.html").read_text()
    assert json.loads(invoke(*call, "--json").stdout)["pairs"] == found
    assert "All pairs" not in invoke(*call, "--quiet").stdout

    result = invoke("report", store, "-o", page, "--all-pairs")
    assert result.exit_code == 0, result.output
    assert "All pairs: nb, accuracy" in result.stdout
    assert "All pairs" in page.read_text()
    assert (tmp_path / "again-pairs.csv").read_bytes() == (out / "pairs.csv").read_bytes()
    assert invoke("report", store, "-o", tmp_path / "plain.html").exit_code == 0
    assert "All pairs" not in (tmp_path / "plain.html").read_text()
    assert not (tmp_path / "plain-pairs.csv").exists()


def test_the_report_of_a_store_from_before_has_pairs(tmp_path):
    store = tmp_path / "old.sqlite"
    shutil.copyfile(Path(__file__).parents[1] / "evaluation" / "kept-store.db", store)
    for more in ((), ("--all-pairs",)):
        result = invoke("report", store, "-o", tmp_path / "old.html", *more)
        assert result.exit_code == 0, result.output
        assert ("All pairs" in (tmp_path / "old.html").read_text()) == bool(more)


def test_what_a_store_holds_is_what_compare_returned():
    with Store(":memory:") as store:
        found = compare(*table(0), ["info-gain", "random"], ["nb"], cv=3, sizes=[1, 2], store=store)
        again = stored_comparison(store)
    assert [row.to_dict() for row in again.rows] == [row.to_dict() for row in found.rows]
    assert again.selected == found.selected
    assert again.about["n_left_out"] == 0


def test_only_the_latest_of_different_splits_counts():
    with Store(":memory:") as store:
        compare(*table(0), ["info-gain", "relief"], ["nb"], cv=5, store=store, random_state=1)
        compare(*table(0), ["info-gain", "relief"], ["nb"], cv=3, store=store, random_state=1)
        found = compare(*table(0), ["info-gain"], ["nb"], cv=3, store=store, random_state=2)
        again = stored_comparison(store)
    assert {row.method: row.mean for row in again.rows} == {row.method: row.mean for row in found.rows}
    assert {row.n for row in again.rows} == {3}
    assert again.about["n_left_out"] == 3 * 5 + 3 * 3


def test_a_table_that_was_corrected_takes_the_place_of_the_old_one():
    """Rows of two tables of one name must not be set beside each other, nor tested against each other."""
    X, y = table(0)
    with Store(":memory:") as store:
        compare(X, y, ["info-gain", "random"], ["nb"], cv=5, store=store)
        found = compare(np.where(X > 2, 0, X), y, ["info-gain", "random"], ["nb"], cv=5, store=store)
        again, records = stored_comparison(store), store.records()
    assert [row.to_dict() for row in again.rows] == [row.to_dict() for row in found.rows]
    assert again.about["n_left_out"] == 15
    both = summarise(records, {record.unit.data: 4 for record in records})
    assert sum(row.best for row in both) == 2  # one for each table


def test_several_data_sets_have_ranks():
    with Store(":memory:") as store:
        for seed in range(3):
            compare(
                *table(seed), ["info-gain", "random"], ["nb"], cv=3, sizes=None, store=store, name=f"t{seed}"
            )
        again = stored_comparison(store)
    assert sorted(again.ranks["methods"]) == ["info-gain", "none", "random"]
    assert again.ranks["n"] == 3
    assert sum(again.ranks["mean_ranks"]) == pytest.approx(6)
    page = again.to_html()
    assert "t0, t1, t2" in page
    assert "<iframe" in again._repr_html_()
    assert "t2, nb, accuracy" in str(again)


def test_stores_that_will_not_do(tmp_path):
    result = invoke("report", tmp_path / "none.sqlite")
    assert result.exit_code == 2
    assert "There is no file" in result.stderr
    Store(tmp_path / "empty.sqlite").close()
    result = invoke("report", tmp_path / "empty.sqlite", "-o", tmp_path / "page.html")
    assert result.exit_code == 2
    assert "holds no comparison" in result.stderr
    assert not (tmp_path / "page.html").exists()
    sqlite3.connect(tmp_path / "other.sqlite").execute("CREATE TABLE t (a)")
    result = invoke("report", tmp_path / "other.sqlite")
    assert "not a store of foresift" in result.stderr


# --- places where nothing can be written ---

ENDS = {"closed": ("",), "with a log": ("", "-wal"), "with a log and its index": ("", "-wal", "-shm")}


def left_behind(folder, ends):
    """Make a store, whose last result is in the log alone, as a process that was killed leaves it."""
    path = folder / "it's 100 % = a?store#.sqlite"
    with tempfile.TemporaryDirectory() as working:
        place = Path(working, path.name)
        compare(*table(0), ["info-gain"], ["nb"], cv=3, store=place)
        if len(ends) == 1:
            compare(*table(0), ["random"], ["nb"], cv=3, store=place)
        with Store(place) as store:
            compare(*table(0), ["random"], ["nb"], cv=3, store=store)
            for end in ends:
                shutil.copy(f"{place}{end}", f"{path}{end}")
    return path


def content(folder):
    return {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.iterdir()}


@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS)
def test_report_writes_nothing_beside_a_store(ends, tmp_path):
    folder = tmp_path / "store"
    folder.mkdir()
    path = left_behind(folder, ends)
    before = content(folder)
    page = tmp_path / "page.html"
    result = invoke("report", path, "-o", page)
    assert result.exit_code == 0, result.output
    assert "random" in page.read_text()
    assert content(folder) == before
    with Store(path, read_only=True) as store:
        with pytest.raises(StoreError, match="read-only"):
            store.add_data(Data.of("other", *table(1)))
        assert len(store.records()) == 9
    link = tmp_path / "link.sqlite"
    link.symlink_to(path)
    assert invoke("report", link, "-o", page).exit_code == 0


@pytest.mark.parametrize("end", ["-wal", "-shm"])
@pytest.mark.parametrize("junk", [b"", b"junk" * 2000], ids=["empty", "junk"])
def test_damaged_log(end, junk, tmp_path):
    path = left_behind(tmp_path, ("", "-wal", "-shm"))
    Path(f"{path}{end}").write_bytes(junk)
    result = invoke("report", path, "-o", tmp_path / "page.html")
    if result.exit_code:
        assert "has a damaged log: delete the files that end in -wal and -shm" in result.stderr
        for other in ("-wal", "-shm"):
            Path(f"{path}{other}").unlink()
        result = invoke("report", path, "-o", tmp_path / "page.html")
    assert result.exit_code == 0, result.output


READER = """
import os, sys
from pathlib import Path
from typer.testing import CliRunner
from foresift.cli.app import app
store, ready, page = sys.argv[1:]
invoke = lambda path: CliRunner().invoke(app, ["report", path, "-o", page])
assert invoke(ready).exit_code == 0  # so that all modules are there: nobody may read them
Path(page).unlink()
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)  # nobody, whom the rights of files bind
try:
    Path(store).with_name("new").touch()
except PermissionError:
    result = invoke(store)
    print(result.exit_code, result.output)
    print(Path(page).read_text())
"""


@pytest.mark.skipif(os.name != "posix", reason="needs rights of files")
@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS)
def test_report_of_a_store_in_a_read_only_place(ends, tmp_path):
    with tempfile.TemporaryDirectory() as outside:  # pytest's folder is closed to others
        folder, pages = Path(outside, "store"), Path(outside, "pages")
        for place in (folder, pages):
            place.mkdir()
        path = left_behind(folder, ends)
        ready = left_behind(tmp_path, ("",))
        for file in folder.iterdir():
            file.chmod(0o444)
        for place, mode in ((folder, 0o555), (pages, 0o777), (Path(outside), 0o755)):
            place.chmod(mode)
        before = content(folder)
        command = [sys.executable, "-c", READER, str(path), str(ready), str(pages / "page.html")]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert result.stdout.startswith("0 Report: "), (result.stdout, result.stderr)
        assert "random" in result.stdout
        assert content(folder) == before
        folder.chmod(0o755)


def test_report_while_somebody_is_writing(tmp_path):
    path, page = tmp_path / "results.sqlite", tmp_path / "page.html"
    with Store(path) as store:
        for method in ("info-gain", "relief"):
            compare(*table(0), [method], ["nb"], cv=3, store=store)
            assert invoke("report", path, "-o", page).exit_code == 0
            assert method in page.read_text()
    assert sorted(os.listdir(tmp_path)) == ["page.html", "results.sqlite"]


def test_compare_says_which_columns_it_leaves_out(file):
    head, *lines = file.read_text().splitlines()
    numbered = [f"{10 + k},{line}" for k, line in enumerate(lines)]
    file.write_text("\n".join([f"customer_id,{head}", *numbered]) + "\n")
    plain = ("--target", "kind", "--methods", "info-gain", "--classifiers", "nb", "--cv", "3")
    result = invoke("compare", file, *plain)
    assert "customer_id: left out, id" in result.stdout
    assert "4 columns" in result.stdout
    assert "customer_id" not in invoke("compare", file, *plain, "--quiet").stdout
    assert "5 columns" in invoke("compare", file, *plain, "--keep-ids").stdout
