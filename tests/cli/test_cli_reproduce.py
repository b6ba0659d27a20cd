"""`foresift reproduce` and `foresift datasets`: what they run, show and write, all or none, and mistakes."""

import csv
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from foresift.cli.app import app
from foresift.cli.errors import FAILED
from foresift.evaluation.harness.store import Store
from foresift.evaluation.papers import figures
from foresift.evaluation.papers.specs import read_paper

FOLDER = os.environ.get("FORESIFT_DATA", "")
QUICK = ("rogers-gunn", "--quick", "--only", "Simple", "--table", 3, "--table", 5)


def command(*arguments, **environment):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)], env=environment)


def test_a_full_disk_leaves_the_old_results(tmp_path, monkeypatch):
    """A new CSV beside old tables would be a lie; /dev/full is made to be full."""
    out, store = tmp_path / "out", tmp_path / "a.sqlite"
    result = command(*QUICK, "--store", store, "--out", out)
    assert result.exit_code == 0, result.output
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert set(before) > {f"rogers-gunn.{ending}" for ending in ("csv", "md", "html")}
    really = Path.write_text
    for last in ("rogers-gunn.md", "rogers-gunn.html", "rogers-gunn-figure-5.png"):
        assert last in before

        def full(self, text, last=last, **options):
            return really(Path("/dev/full") if last in self.name else self, text, **options)

        monkeypatch.setattr(Path, "write_text", full)
        monkeypatch.setattr(figures, "draw_curves", lambda table, rows, path: path.write_text("a picture"))
        result = command(*QUICK, "--store", store, "--repeats", 1, "--show", "--out", out)
        assert result.exit_code == FAILED
        assert f"Cannot write {out / last}: no space left" in result.stderr
        assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def by_repeats(key):
    """A paper whose numbers are means of repeats of three folds."""
    paper = read_paper(key)
    tables = [replace(table, per="repeat") for table in paper.tables if table.id == "3"]
    quick = {**paper.quick, "datasets": ["Simple"], "repeats": 2}
    return replace(paper, tables=tables, protocol={**paper.protocol, "cv": 3}, quick=quick)


def test_only_whole_repeats_are_shown(tmp_path, monkeypatch):
    monkeypatch.setattr("foresift.evaluation.papers.specs.read_paper", by_repeats)
    store, out = tmp_path / "a.sqlite", tmp_path / "out"
    options = ("rogers-gunn", "--quick", "--store", store, "--out", out)
    whole = command(*options)
    assert whole.exit_code == 0, whole.output
    assert "incomplete" not in whole.output
    before = rows_of(out)
    assert {row["n"] for row in before.values()} == {"2"}
    with Store(store) as results:
        key, data = results.sql("SELECT key, data FROM units WHERE method = 'RF' AND fold = 1")[0]
        (mean,) = results.sql(
            "SELECT avg(score) FROM curves JOIN units USING (key) WHERE units.method = 'RF' AND data != ?",
            [data],
        )[0]
        results.sql("DELETE FROM runs WHERE key = ?", [key])
        results.sql("DELETE FROM units WHERE key = ?", [key])
    part = command(*options, "--show")
    assert part.exit_code == 0, part.output
    told = "23 of 24 tasks have been run, 2 of incomplete repeats, which are not in the tables"
    assert f"foresift: {told}." in part.stderr
    assert told in (out / "rogers-gunn.md").read_text()
    after = rows_of(out)
    assert after["RF"]["n"] == "1"
    assert float(after["RF"]["ours"]) == pytest.approx(1 - mean, rel=1e-5)
    assert {name: row for name, row in after.items() if name != "RF"} == {
        name: row for name, row in before.items() if name != "RF"
    }
    assert "Means of 1 to 2 splits or repeats: unfinished." in part.stdout


def rows_of(folder):
    with (folder / "rogers-gunn.csv").open(newline="") as file:
        return {row["model"]: row for row in csv.DictReader(file)}


def test_command_on_artificial_data(tmp_path):
    store, out = tmp_path / "a.sqlite", tmp_path / "out"
    options = ("rogers-gunn", "--quick", "--only", "Simple", "--table", "3", "--store", str(store))
    first = command(*options, "--out", str(out))
    assert first.exit_code == 0, first.output
    assert "Two-stage CART" in first.output
    assert (out / "rogers-gunn.md").read_text().count(
        "`foresift reproduce rogers-gunn --table 3 --quick"
    ) == 1
    results = {row[0]: json.loads(row[1]) for row in Store(store).sql("SELECT key, scores FROM units")}
    assert len(results) == 8
    again = command(*options, "--show")
    assert again.exit_code == 0
    assert "Two-stage CART" in again.output
    more = command(*options, "--repeats", "3")
    assert more.exit_code == 0
    after = {row[0]: json.loads(row[1]) for row in Store(store).sql("SELECT key, scores FROM units")}
    assert len(after) == 12
    assert results.items() <= after.items()


def test_failures_of_an_earlier_run_are_told(tmp_path):
    store, out = tmp_path / "a.sqlite", tmp_path / "out"
    options = ("rogers-gunn", "--quick", "--only", "Simple", "--table", "3", "--store", str(store))
    assert "failed" not in command(*options).output
    with Store(store) as results:
        results.sql("UPDATE units SET status = 'failed' WHERE rowid = 1")
        results.sql(
            "UPDATE runs SET error = 'ValueError: no' WHERE key = (SELECT key FROM units WHERE rowid = 1)"
        )
    again = command(*options, "--out", str(out))
    assert again.exit_code == 0
    assert "all tasks have been run, 1 of which failed. The table runs of" in again.output
    assert "1 of which failed" in (out / "rogers-gunn.md").read_text()
    assert "failed" not in command(*options, "--retry-failed").output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rogers",), "did you mean rogers-gunn"),
        (("opitz", "--table", "9"), "has no table '9'; it has 3"),
        (("opitz", "--only", "irises"), "no data set 'irises'"),
        (("opitz", "--jobs", "0"), "cannot be 0"),
        (
            ("rogers-gunn", "--only", "Simple", "--quick", "--show", "--store", "no.sqlite"),
            "no file no.sqlite",
        ),
    ],
)
def test_bad_commands(arguments, message):
    result = command(*arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_data_that_cannot_be_had(tmp_path, monkeypatch):
    def fetch(**options):
        raise OSError("no network")

    monkeypatch.setattr("foresift.datasets.uci.fetch_openml", fetch)
    result = command("murata", "--quick", FORESIFT_DATA=str(tmp_path))
    assert result.exit_code == 2
    assert "has no file of 'waveform'" in result.output


def test_command_datasets(tmp_path):
    nowhere = {"FORESIFT_DATA": "", "FORESIFT_DATA_REGRESSION": ""}
    result = CliRunner().invoke(app, ["datasets"], env=nowhere)
    assert result.exit_code == 0
    assert "FORESIFT_DATA_REGRESSION is not set" in result.output
    concrete = next(line for line in result.output.splitlines() if line.startswith("concrete"))
    assert concrete.split()[1:] == ["1030", "8", "quantity", "not", "available"]
    assert "OpenML 40" in next(line for line in result.output.splitlines() if line.startswith("sonar"))
    assert "not available" in next(line for line in result.output.splitlines() if line.startswith("lenses"))
    result = CliRunner().invoke(app, ["datasets"], env={"FORESIFT_DATA": str(tmp_path / "nowhere")})
    assert result.exit_code == 0
    assert "there is no such folder" in result.output
    result = CliRunner().invoke(app, ["datasets", "--data", str(tmp_path / "nowhere")])
    assert result.exit_code == 2
    if FOLDER:
        result = CliRunner().invoke(app, ["datasets", "--data", FOLDER])
        assert "file" in next(line for line in result.output.splitlines() if line.startswith("lenses"))
