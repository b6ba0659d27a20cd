"""Specs of the papers: what they say exists, their numbers are those printed, damaged ones are refused."""

import csv
import importlib.util
import inspect
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from foresift import datasets
from foresift.cli.table import names_of
from foresift.evaluation.papers import specs
from foresift.evaluation.papers.reproduce import plan_paper
from foresift.evaluation.papers.specs import Cell, SpecError, build, paper_keys, read_paper

PAPERS = paper_keys()


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
    raw = tomllib.loads((files("foresift.evaluation.papers") / f"{key}.toml").read_text(encoding="utf-8"))
    found = list(parts(raw))
    assert found
    for part in found:
        taken = inspect.signature(specs._named(part["class"])).parameters
        free = any(p.kind is p.VAR_KEYWORD for p in taken.values())
        assert free or set(part) - {"class", "args"} <= set(taken), part


PINNED = {
    "SiftForestClassifier": {"max_features", "correct_nominal"},
    "ForestGainSelector": {"bound", "max_features"},
}


@pytest.mark.parametrize("key", PAPERS)
def test_a_spec_does_not_rely_on_defaults_that_are_not_the_papers(key):
    raw = tomllib.loads((files("foresift.evaluation.papers") / f"{key}.toml").read_text(encoding="utf-8"))
    for part in parts(raw):
        assert PINNED.get(part["class"], set()) <= set(part), part
        if key == "rogers-gunn" and part["class"] in PINNED:
            assert (part["max_features"], part["constant_draw"]) == (1, "leaf")


@pytest.mark.parametrize("key", PAPERS)
def test_what_a_spec_says(key):
    paper = read_paper(key)
    assert paper.title
    assert paper.notes
    for name, entry in paper.datasets.items():
        assert ("make" in entry) != ("load" in entry)
        assert entry.get("load", "iris") in {place.name for place in datasets.available()}, name
    for table in paper.tables:
        assert bool(paper.models_of(table)) == (table.measure != "bounds")  # which are not run
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
        ("$hidden", "not given for the data set"),
    ],
)
def test_bad_parts_of_a_spec(value, message):
    with pytest.raises(SpecError, match=message):
        build(value, {})


def damaged(monkeypatch, tmp_path, old, new):
    text = (files("foresift.evaluation.papers") / "opitz.toml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "opitz.toml").write_text(text.replace(old, new), encoding="utf-8")
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
        ('datasets = ["labor"', 'datasets = ["labour"', "'labour', which does not exist"),
    ],
)
def test_a_damaged_spec_is_refused(monkeypatch, tmp_path, old, new, message):
    damaged(monkeypatch, tmp_path, old, new)
    with pytest.raises(SpecError, match=message):
        read_paper("opitz")


def counting():
    """The tool that counts cells, which is no part of the package."""
    path = Path(__file__).parents[2] / "tools" / "count_cells.py"
    spec = importlib.util.spec_from_file_location("count_cells", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_counts_of_the_page_are_those_of_the_files():
    tool = counting()
    page = (tool.FOLDER / "README.md").read_text(encoding="utf-8")
    assert page.split(tool.BEGIN)[1].split(tool.END)[0].splitlines() == tool.lines_of_counts()


FIELDS = ("table", "dataset", "model", "classifier", "size", "published", "n", "spread", "published_spread")
CELLS = [
    ("3", "Votes", "RF", "", "", 0.065, 100, 0.03, 0.04, -0.0101),  # standard error 0.005
    ("3", "Sonar", "RF", "", "", 0.1657, 100, 0.03, 0.04, 0.0101),
    ("3", "WBC", "RF", "", "", 0.0226, 100, 0.03, 0.04, 0.0099),
    ("3", "Votes", "CFS", "", "", 0.0398, 100, 0.03, 0.04, 0.0),
    ("4", "Votes", "CFS", "", "", 0.0398, 100, 0.03, 0.04, 0.0),  # the same number again
    ("3", "Pima", "RF", "", "", 0.2343, 1, "", "", 0.5),
    ("3", "Simple", "RF", "", "", "", 100, 0.03, "", ""),  # not published
]


def test_a_number_that_is_printed_twice_is_one_published_cell():
    tool = counting()
    cells = {"rogers-gunn": 49, "bommaganti": 182, "murata": 0, "opitz": 95, "grabczewski-jankowski": 12}
    assert {key: tool.published(read_paper(key)) for key in PAPERS} == cells


def test_cells_are_counted_by_standard_errors(tmp_path):
    tool = counting()
    with (tmp_path / "rogers-gunn.csv").open("w", newline="") as file:
        csv.writer(file).writerows([(*FIELDS, "difference"), *CELLS])
    paper = read_paper("rogers-gunn")
    assert tool.count(paper, tmp_path) == {"better": 1, "worse": 1, "within": 2, "unknown": 1}
    with (tmp_path / "rogers-gunn-more.csv").open("w", newline="") as file:  # more trials: a smaller error
        csv.writer(file).writerows([(*FIELDS, "difference"), (*CELLS[2][:6], 900, *CELLS[2][7:])])
    assert tool.count(paper, tmp_path)["worse"] == 2
    line = {"n": "10", "spread": "0.5", "published_spread": "", "difference": "0.6"}
    assert tool.kind(line, 10, True) == "better"  # accuracy; one spread for both
    assert tool.kind({**line, "difference": "0.4"}, 10, True) == "within"
