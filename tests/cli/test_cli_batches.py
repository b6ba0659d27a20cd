"""`foresift select` of tables that are read in batches."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from foresift.cli.app import app


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng, place = np.random.default_rng(0), tmp_path_factory.mktemp("parts")
    for k in range(2):
        X = rng.normal(size=(6_000, 4)).astype(np.float32)
        y = np.where(X[:, 0] + rng.normal(size=len(X)) > 0, "yes", "no")
        columns = {f"x{j}": X[:, j] for j in range(4)}
        pyarrow.parquet.write_table(pa.table({**columns, "y": y}), place / f"{k}.parquet")
    return place


def run(*arguments):
    return CliRunner().invoke(app, ["select", *map(str, arguments), "--jobs", "1", "--trees", "10"])


def test_reads_a_folder_in_batches(folder, tmp_path):
    found = run(folder, "--target", "y", "--in-batches", "--out", tmp_path / "out", "--memory-limit", "1kB")
    assert found.exit_code == 0, found.output
    assert "read in batches" in found.output
    assert "12,000 rows" in found.output
    data = json.loads((tmp_path / "out" / "selection.json").read_text())
    assert data["data"]["target"] == "y"
    assert (tmp_path / "out" / "report.html").stat().st_size > 10_000


def test_in_batches_and_at_once_agree(folder):
    names = [
        run(folder, "--target", "y", "--quiet", "--no-check", *more).stdout
        for more in ((), ("--in-batches",))
    ]
    assert names[0] == names[1] == "x0\n"


def test_a_table_above_the_limit_is_read_in_batches(folder):
    found = run(folder, "--target", "y", "--max-memory", "0.00001", "--no-check")
    assert found.exit_code == 0, found.output
    assert "read in batches" in found.output


def test_csv_in_batches(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3000, 2))
    lines = [f"{a:.3f},{b:.3f},{'yes' if a + rng.normal() > 0 else 'no'}" for a, b in x]
    (tmp_path / "t.csv").write_text("a,b,y\n" + "\n".join(lines) + "\n")
    found = run(tmp_path / "t.csv", "--target", "y", "--in-batches", "--no-check", "--quiet")
    at_once = run(tmp_path / "t.csv", "--target", "y", "--no-check", "--quiet")
    assert found.stdout == at_once.stdout
    assert found.stdout.startswith("a\n")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--groups", "x0"], "--groups needs all rows in memory"),
        (["--write-data", "--out", "out"], "--write-data needs all rows in memory"),
        (["--drop", "nothing"], "nothing"),
        (["--memory-limit", "much"], "memory_limit is 'much'"),
        (["--cluster", "tcp://127.0.0.1:9"], "No Dask scheduler answers at tcp://127.0.0.1:9"),
    ],
)
def test_bad_options_get_one_sentence(folder, options, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = run(folder, "--target", "y", "--in-batches", *options)
    assert found.exit_code == 2
    assert said in found.output
    assert "Traceback" not in found.output
