"""Specs of the papers: what they say exists, their numbers are those printed, and each of them runs."""

import csv
import inspect
import json
import math
import os
import tomllib
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from foresift import datasets
from foresift.cli.app import app
from foresift.cli.table import names_of
from foresift.experiment import run
from foresift.papers import specs
from foresift.papers.figures import draw_curves, has_curves
from foresift.papers.reproduce import Row, load_data, plan_paper, rows_of_table, units_of
from foresift.papers.specs import Cell, SpecError, build, paper_keys, read_paper
from foresift.papers.tables import Grid, grids_of_table, print_grids, write_results
from foresift.papers.units import path_of
from foresift.store import Store
from foresift.units import Record, Unit

FOLDER = os.environ.get("FORESIFT_DATA", "")
needs_files = pytest.mark.skipif(
    not (Path(FOLDER) / "schema.json").is_file(), reason="FORESIFT_DATA names no folder of UCI tables"
)
PAPERS = paper_keys()
RESULTS = {}  # what the quick run of each paper left: units, records, paper


def parts(value):
    """Every dict of a spec that names a class."""
    if isinstance(value, dict):
        if "class" in value:
            yield value
        for item in value.values():
            yield from parts(item)
    elif isinstance(value, list):
        for item in value:
            yield from parts(item)


@pytest.mark.parametrize("key", PAPERS)
def test_every_class_and_parameter_of_a_spec_exists(key):
    raw = tomllib.loads((files("foresift") / "papers" / f"{key}.toml").read_text(encoding="utf-8"))
    found = list(parts(raw))
    assert found
    for part in found:
        taken = inspect.signature(specs._named(part["class"])).parameters
        free = any(p.kind is p.VAR_KEYWORD for p in taken.values())
        assert free or set(part) - {"class", "args"} <= set(taken), part


@pytest.mark.parametrize("key", PAPERS)
def test_what_a_spec_says(key):
    paper = read_paper(key)
    assert paper.title
    assert paper.notes
    for name, entry in paper.datasets.items():
        assert ("make" in entry) != ("load" in entry)
        assert entry.get("load", "iris") in {place.name for place in datasets.available()}, name
    for table in paper.tables:
        assert paper.models_of(table)
        assert set(table.datasets) <= set(paper.datasets)
        high = {"error": 1.0, "accuracy": 1.0}.get(table.measure, 1.0) * table.scale
        for cell in table.cells:
            assert 0 <= cell.value <= high
            assert cell.spread is None or 0 < cell.spread < 0.2 * high


def test_published_numbers_are_those_printed():
    """A few of each table, typed again from the papers."""
    tables = {(key, table.id): table.published for key in PAPERS for table in read_paper(key).tables}
    gunn = tables["rogers-gunn", "3"]
    assert gunn["Sonar", "CI WS RF", "", ""] == Cell("Sonar", "CI WS RF", 0.1462, 0.0061**0.5)
    assert gunn["Simple", "CFS", "", ""].value == 0.1653
    assert tables["rogers-gunn", "4"]["Votes", "FS", "", ""].value == 0.0650
    thesis = tables["bommaganti", "5"]["glass", "C. Gain, small, 25 members", "", ""]
    assert (thesis.value, thesis.spread) == (39.34, 4.34)
    assert tables["bommaganti", "6"]["credit-g", "Random, medium, 25 members", "", ""].value == 37.73
    assert tables["bommaganti", "7"]["hypo", "F. Boost, large, 25 members", "", ""].value == 1.95
    assert tables["opitz", "3"]["letter", "AdaBoost", "", ""] == Cell("letter", "AdaBoost", 4.6)
    point = tables["grabczewski-jankowski", "figure-4"]["thyroid", "SSV2", "5NN Euclidean", "3"]
    assert (point.value, point.spread) == (98.54, 0.04)


# Sums over whole tables of the papers' texts, values and spreads, so that a slip anywhere would show.
SUMS = {
    ("rogers-gunn", "3"): (28, 3.2510, 0.0780),
    ("rogers-gunn", "4"): (28, 3.1437, 0.0772),
    ("bommaganti", "5"): (78, 1315.09, 99.51),
    ("bommaganti", "6"): (78, 1142.09, 90.02),
    ("bommaganti", "7"): (78, 1054.81, 86.72),
    ("opitz", "3"): (95, 1182.8, 0),
}


@pytest.mark.parametrize(("key", "number"), SUMS)
def test_sums_of_published_tables(key, number):
    (table,) = [table for table in read_paper(key).tables if table.id == number]
    power = 2 if key == "rogers-gunn" else 1  # which prints variances
    spreads = sum((cell.spread or 0) ** power for cell in table.cells)
    values = sum(cell.value for cell in table.cells)
    assert (len(table.cells), values, spreads) == pytest.approx(SUMS[key, number])


def quick(key):
    if key not in RESULTS:
        paper = read_paper(key).shortened()
        jobs, data = plan_paper(paper, paper.tables, FOLDER or None)
        store = Store(":memory:")
        outcome = run(jobs, data, store)
        RESULTS[key] = (paper, outcome, store.records(units_of(jobs)))
    return RESULTS[key]


@needs_files
@pytest.mark.parametrize("key", PAPERS)
def test_quick_run(key, tmp_path):
    paper, outcome, records = quick(key)
    assert outcome.n_failed == 0, {record.error for record in records}
    assert outcome.n_done == outcome.n_units == len(records)
    rows, grids = [], []
    for table in paper.tables:
        here = rows_of_table(paper, table, records)
        rows += here
        grids += grids_of_table(paper, table, here)
        assert bool(here) == bool(set(table.datasets) & set(paper.datasets))
        shown = {(row.dataset, row.model, row.classifier, row.size) for row in here}
        wanted = {place for place in table.published if place[0] in paper.datasets}
        assert wanted <= shown  # no published number without one of ours
    assert all(math.isfinite(row.ours) for row in rows)
    paths = write_results(tmp_path, paper, rows, grids, ["made by a test"])
    with paths[0].open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == len(rows)
    assert paper.title in paths[1].read_text()
    assert "</html>" in paths[2].read_text()
    drawn = [table for table in paper.tables if draws(paper, table, records, tmp_path / f"{table.id}.png")]
    assert bool(drawn) == (key != "opitz")  # which has a table only
    assert all((tmp_path / f"{table.id}.png").stat().st_size > 1000 for table in drawn)


def draws(paper, table, records, path):
    rows = rows_of_table(paper, table, records)
    if has_curves(rows):
        draw_curves(table, rows, path)
    return has_curves(rows)


@needs_files
def test_a_table_is_thinned_from_end_to_end():
    entry = {"load": "iris", "thin_to": 30}
    ((iris, _),) = load_data("iris", entry, FOLDER, 1)
    assert iris.n_rows == 30
    assert len(iris.classes) == 3  # the first 30 rows are of one


@needs_files
def test_a_path_is_kept_whole():
    _, _, records = quick("murata")
    for record in records:
        path = path_of(record)
        assert path.n_features.tolist() == list(range(21, 0, -1))
        assert sorted(record.features["order"]) == list(range(21))
        for before, after in zip(path.features, path.features[1:], strict=False):
            assert set(after) < set(before)


def test_fresh_rows_are_not_learned_from():
    paper = read_paper("rogers-gunn").shortened()
    (fresh,) = [table for table in paper.tables if table.id == "fresh"]
    jobs, data = plan_paper(paper, [fresh], only=["Simple, fresh rows"], repeats=1)
    assert data[0].n_rows == 2300
    split = jobs[0].arguments.split
    assert len(split.train) == 270
    assert split.train.max() < 300
    assert split.test.tolist() == list(range(300, 2300))


@needs_files
def test_a_data_set_may_have_folds_of_its_own():
    paper = read_paper("opitz")
    jobs, _ = plan_paper(paper, paper.tables, FOLDER, only=["letter", "iris"], repeats=1)
    folds = {(unit.dataset, unit.fold) for job in jobs for unit in job.units}
    assert sorted(folds) == [("iris", k) for k in range(10)] + [("letter", k) for k in range(2)]


@needs_files
def test_votes_lie_half_way_and_cancer_is_complete():
    gunn = read_paper("rogers-gunn").datasets
    ((votes, about),) = load_data("Votes", gunn["Votes"], FOLDER, 1)
    assert sorted(set(np.unique(votes.X))) == [0, 0.5, 1]
    assert (votes.X == 0.5).sum() == 392
    assert about["nominal"] == []
    ((cancer, _),) = load_data("WBC", gunn["WBC"], FOLDER, 1)
    assert cancer.X.shape == (683, 9)
    chess = read_paper("grabczewski-jankowski").datasets["mushroom"]
    ((mushroom, about),) = load_data("mushroom", chess, FOLDER, 1)
    assert about["nominal"] == list(range(22))
    assert (mushroom.X[:, 10] == 4).sum() == 2480  # missing: a fifth symbol
    hepatitis = read_paper("bommaganti").datasets["hepatitis"]
    ((data, about),) = load_data("hepatitis", hepatitis, FOLDER, 1)
    assert len(about["nominal"]) == 13
    assert np.isnan(data.X).sum() == 167


def record(score, *, repeat=0, fold=0, size="all", own=(), **names):
    names = {"dataset": "iris", "method": "Single Net", "classifier": "", **names}
    text = dict.fromkeys(("kind", "data", "method_parameters", "classifier_parameters", "cv"), "")
    text |= dict.fromkeys(("rows", "options", "software"), "")
    unit = Unit(**text, **names, repeat=repeat, fold=fold, seed=0)
    scores = score if isinstance(score, dict) else {size: score}
    return Record(unit, scores={"accuracy": scores}, features={"own": list(own)})


def test_a_spread_is_over_repeats_and_means_are_beside_what_is_published():
    paper = read_paper("opitz")
    records = [
        record(s, repeat=r, fold=f) for s, r, f in ((0.9, 0, 0), (1.0, 0, 1), (0.9, 1, 0), (0.9, 1, 1))
    ]
    (row,) = rows_of_table(paper, paper.tables[0], records)
    assert row.ours == pytest.approx(7.5)
    assert row.spread == pytest.approx(np.std([5, 10], ddof=1))
    assert (row.n, row.published, row.within) == (2, 4.3, None)
    assert row.difference == pytest.approx(3.2)
    failed = Record(records[0].unit, error="ValueError: no")
    assert rows_of_table(paper, paper.tables[0], [failed]) == []


def test_within_the_spread():
    row = Row("5", "cancer", "Single DT", "Single DT", "", "", 6.0, 0.5, 10, 6.5, 0.53)
    assert row.within
    assert not Row("5", "cancer", "Single DT", "Single DT", "", "", 5.9, 0.5, 10, 6.5, 0.53).within
    assert row.z is None
    known = Row("5", "cancer", "Single DT", "Single DT", "", "", 6.0, 0.4, 16, 6.5, 0.6, 9)
    assert known.z == pytest.approx(-0.5 / np.sqrt(0.1**2 + 0.2**2))
    paper = read_paper("rogers-gunn")
    (cell,) = [c for c in paper.tables[0].cells if (c.dataset, c.model) == ("Votes", "RF")]
    names = {"dataset": "Votes", "method": "RF"}
    rows = rows_of_table(paper, paper.tables[0], [record(0.9, **names), record(0.8, fold=1, **names)])
    assert rows[0].published_n == 100
    assert rows[0].z == pytest.approx((0.15 - 0.065) / np.sqrt(0.005 / 2 + cell.spread**2 / 100))


def test_curves_end_where_the_tree_has_no_more_features():
    paper = read_paper("grabczewski-jankowski")
    figure = paper.tables[0]
    scores = {"own": 0.8, "1": 0.6, "2": 0.8, "3": 0.1, "10": 0.1}
    names = {"dataset": "ionosphere", "classifier": "5NN Manhattan"}
    rows = rows_of_table(paper, figure, [record(scores, own=[4, 5], method="SSV2", **names)])
    assert {row.size: row.ours for row in rows} == pytest.approx(
        {"own": 80, "1": 60, "2": 80, "3": 80, "10": 80}
    )
    assert [(row.size, row.published) for row in rows if row.published] == [("10", 91.11)]
    rows = rows_of_table(paper, figure, [record(scores, own=[4, 5], method="SSV1", **names)])
    assert {row.size: row.ours for row in rows}["3"] == pytest.approx(10)


def test_the_best_of_a_curve():
    paper = read_paper("grabczewski-jankowski")
    names = {"dataset": "splice", "method": "ReliefF", "classifier": "naive Bayes"}
    rows = rows_of_table(paper, paper.tables[2], [record({"own": 0.99, "1": 0.6, "30": 0.96}, **names)])
    best = next(row for row in rows if row.size == "best")
    assert (best.ours, best.published, best.within) == (pytest.approx(96), 96.2, False)


def test_the_best_of_a_curve_of_errors_is_the_lowest():
    paper = read_paper("grabczewski-jankowski")
    table = replace(paper.tables[2], measure="error")
    names = {"dataset": "splice", "method": "ReliefF", "classifier": "naive Bayes"}
    rows = rows_of_table(paper, table, [record({"own": 0.99, "1": 0.6, "30": 0.96}, **names)])
    assert next(row for row in rows if row.size == "best").ours == pytest.approx(4)


def test_a_figure_without_published_points_has_no_empty_grid():
    paper = read_paper("grabczewski-jankowski")
    (figure,) = [table for table in paper.tables if table.id == "figure-4"]
    records = [
        record(
            {"own": 0.7, "2": 0.6, "5": 0.8},
            dataset="glass",
            method=method,
            classifier="naive Bayes",
            own=[1],
        )
        for method in ("CC", "SSV1")
    ]
    (grid,) = grids_of_table(paper, figure, rows_of_table(paper, figure, records))
    assert grid.rows == [["glass", "naive Bayes", "80.00 (5)", "80.00 (5)"]]


def test_methods_without_published_numbers_win_nothing():
    paper = read_paper("opitz")
    rows = rows_of_table(paper, paper.tables[0], [record(0.9), record(0.8, method="Bagging")])
    assert len(grids_of_table(paper, paper.tables[0], rows)) == 2
    alone = [replace(row, published=None) for row in rows]
    assert [len(grid.rows) for grid in grids_of_table(paper, paper.tables[0], alone)] == [1]


@pytest.mark.parametrize("width", [40, 80, 300])
def test_numbers_are_whole_on_a_narrow_terminal(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    labels = [f"method {k}" for k in range(14)]
    numbers = [f"{10 + k}.25 ({k})" for k in range(14)]
    print_grids([Grid("Many", ["data", "classifier", *labels], [["glass", "tree", *numbers]], "", 2)])
    shown = capsys.readouterr().out
    assert all(len(line) <= width for line in shown.splitlines())
    assert "…" not in shown
    assert all(number.split()[0] in shown for number in numbers)
    assert (shown.count("glass") == 1) == (width == 300)


def test_searches_are_compared_with_those_of_the_same_repeat():
    paper = read_paper("murata")
    (table,) = [table for table in paper.tables if table.id == "figure-8"]
    assert not table.cells  # one sentence of the text is not a number for each of them

    def path(method, repeat, order):
        scores = {str(k): 0.9 for k in range(1, 6)}
        found = record(scores, repeat=repeat, dataset="waveform", method=method)
        return replace(found, features={"order": order})

    up, down = [0, 1, 2, 3, 4], [4, 3, 2, 1, 0]
    records = [path("SBS", 0, up), path("SBS", 1, down), path("batch", 1, down), path("batch", 2, up)]
    (row,) = rows_of_table(paper, table, records)
    assert (row.n, row.ours, row.published) == (1, 1.0, None)


def test_names_with_a_comma_are_shown_in_quotes():
    paper = read_paper("rogers-gunn")
    with pytest.raises(SpecError, match=r'"Simple, fresh rows".*double quotes'):
        plan_paper(paper, paper.tables, only=["fresh rows"])
    assert names_of('Sonar,"Simple, fresh rows"') == ("Sonar", "Simple, fresh rows")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"class": "os.system"}, "classes of foresift"),
        ({"class": "NoSuchSelector"}, "no such class"),
        ({"n_estimators": 3}, "names no class"),
        ("$hidden", "not said of the data set"),
    ],
)
def test_bad_parts_of_a_spec(value, message):
    with pytest.raises(SpecError, match=message):
        build(value, {})


def damaged(monkeypatch, tmp_path, old, new):
    text = (files("foresift") / "papers" / "opitz.toml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "opitz.toml").write_text(text.replace(old, new), encoding="utf-8")
    monkeypatch.setattr(specs, "files", lambda package: tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[[4.3], [4.0], ", "[[4.3], ", "4 numbers or labels for 5 columns"),
        ("[[4.3], ", "[[4.3, 0.1], ", "each number needs no spread"),
        ('columns = ["Single Net"', 'columns = ["Simple Net"', "there is no model 'Simple Net'"),
        ("\niris = [[", "\nirises = [[", "a number is published of irises"),
        ('name = "Initial Pop"', 'name = "Bagging"', "two models have one name"),
        ('measure = "error"', 'measure = "luck"', "'luck'"),
        ('datasets = ["labor"', 'datasets = ["labour"', "'labour', which is not there"),
    ],
)
def test_a_damaged_spec_is_refused(monkeypatch, tmp_path, old, new, message):
    damaged(monkeypatch, tmp_path, old, new)
    with pytest.raises(SpecError, match=message):
        read_paper("opitz")


def command(*arguments, **environment):
    return CliRunner().invoke(app, ["reproduce", *arguments], env=environment)


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
    assert "all units of work have been run, 1 of which failed. Why is in the table runs of" in again.output
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

    monkeypatch.setattr("foresift.uci.fetch_openml", fetch)
    result = command("murata", "--quick", FORESIFT_DATA=str(tmp_path))
    assert result.exit_code == 2
    assert "has no data set 'waveform'" in result.output


def test_command_datasets(tmp_path):
    result = CliRunner().invoke(app, ["datasets"], env={"FORESIFT_DATA": ""})
    assert result.exit_code == 0
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
