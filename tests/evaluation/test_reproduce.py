"""Papers run again: each spec in small, how its numbers are made of records, and how they are laid out."""

import csv
import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from foresift.criteria import expected_gain
from foresift.evaluation.harness.run import run
from foresift.evaluation.harness.store import Store
from foresift.evaluation.harness.tasks import Record, Unit
from foresift.evaluation.papers.figures import draw_curves, has_curves
from foresift.evaluation.papers.reproduce import Row, load_data, plan_paper, rows_of_table, units_of
from foresift.evaluation.papers.specs import paper_keys, read_paper
from foresift.evaluation.papers.tables import Grid, grids_of_table, print_grids, write_results
from foresift.evaluation.papers.units import path_of

FOLDER = os.environ.get("FORESIFT_DATA", "")
needs_files = pytest.mark.skipif(
    not (Path(FOLDER) / "schema.json").is_file(), reason="FORESIFT_DATA names no folder of UCI tables"
)
PAPERS = paper_keys()
RESULTS = {}  # what the quick run of each paper left: units, records, paper


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
        assert bool(here) == (table.measure == "bounds" or bool(set(table.datasets) & set(paper.datasets)))
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
    paper.datasets["letter"]["cv"] = 2
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


def test_means_that_differ_by_rounding_are_a_tie():
    paper = read_paper("opitz")
    networks = (("Bagging", 0.1 + 0.2, 5.7), ("AdaBoost", 0.3, 4.5))
    rows = [Row("3", "sick", name, name, "", "", ours, math.nan, 1, said) for name, ours, said in networks]
    assert rows[0].ours > rows[1].ours
    errors, wins = grids_of_table(paper, paper.tables[0], rows)
    assert wins.rows == [["Bagging", "0-0-1 (1-0-0)"]]
    assert "0 of 1 pairs" in errors.remark


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
    *curve, row = rows_of_table(paper, table, records)
    assert (row.size, row.n, row.ours, row.published) == ("at 80%", 1, 1.0, None)
    assert [(point.size, point.n, point.ours) for point in curve] == [
        (str(size), 1, 1.0) for size in (5, 4, 3, 2, 1)
    ]
    (grid,) = grids_of_table(paper, table, [*curve, row])
    assert grid.rows == [["waveform", "1.00"]]


def figure(number):
    paper = read_paper("rogers-gunn").shortened()
    (table,) = [table for table in paper.tables if table.id == f"figure-{number}"]
    jobs, data = plan_paper(paper, [table], only=["Simple"])
    store = Store(":memory:")
    assert run(jobs, data, store).n_failed == 0
    return rows_of_table(paper, table, store.records(units_of(jobs))), len(data)


def test_bounds_are_those_of_the_nodes():
    rows, n_tables = figure(2)
    assert n_tables == 0  # nothing to run
    values = {(row.dataset, row.label, int(row.size)): row.ours for row in rows}
    for n in (6, 10, 20, 40, 100):
        assert values[f"{n} rows", "exact", 1] == pytest.approx(values[f"{n} rows", "lower", 1])
        middle = float(expected_gain([n // 2, n - n // 2], "exact"))
        assert values[f"{n} rows", "exact", n // 2] == pytest.approx(middle)
        assert len({values[f"{n} rows", "upper", i] for i in range(1, n)}) == 1  # of the size alone
    rows, _ = figure(3)
    values = {(row.dataset, row.label, int(row.size)): row.ours for row in rows}
    assert values["equal classes", "upper", 200] / values["equal classes", "exact", 200] == pytest.approx(
        1.18, abs=0.005
    )
    assert max(at for _, _, at in values) == 500


def test_densities_of_gains_add_up_and_complexity_removes_small_nodes():
    rows, n_tables = figure(4)
    assert n_tables == 1
    masses = {(row.classifier, row.label): 0.0 for row in rows}
    for row in rows:
        masses[row.classifier, row.label] += row.ours / 100
    assert set(masses) == {(way, name) for way in ("unit", "complexity") for name in ("X1", "X2", "X3")}
    assert list(masses.values()) == pytest.approx([1.0] * 6)
    perfect = {(row.classifier, row.label): row.ours for row in rows if row.size == "100"}
    assert all(perfect["complexity", name] < perfect["unit", name] for name in ("X1", "X2", "X3"))


def test_relevant_features_are_above_all_thresholds():
    rows, n_tables = figure(6)
    assert n_tables == 2
    values = {(row.label, row.size): row.ours for row in rows}
    for feature in ("1", "2"):
        assert values["score", feature] > values["upper", feature] > values["mid", feature]
        assert values["mid", feature] > values["lower", feature]
    shares = [values["irrelevant features", name] for name in ("below", "between", "above")]
    assert sum(shares) == pytest.approx(1)
    assert shares[1] > 0.5
    assert 0.5 < values["irrelevant features", "place of exact"] < 1
