"""`foresift report`: a store of results as one page, and `compare --out`."""

import csv
import json
import sqlite3

import numpy as np
import pytest
from typer.testing import CliRunner

from foresift.cli.app import app
from foresift.comparison import compare
from foresift.comparison.stored import stored_comparison
from foresift.comparison.summary import summarise
from foresift.store import Store


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
