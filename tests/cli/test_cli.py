"""The command line: the demonstration ranks as it was built, options do what they say, files are whole."""

import csv
import gzip
import importlib.util
import json
import re
import subprocess
import sys
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import foresift
from foresift.cli.app import ESTIMATORS, METHODS, OTHERS, app
from foresift.cli.errors import as_typed
from foresift.cli.reproduce import _PAPERS
from foresift.cli.terminal import notes
from foresift.evaluation.papers.specs import paper_keys
from foresift.models.scorer import StoreScorer

DEMO = Path(str(files("foresift.datasets") / "_data" / "bikeshare.csv"))
RELEVANT = {"plan", "payment", "months_subscribed", "rides_last_month", "support_calls", "home_to_station_m"}
FOLLOWS = "minutes_last_month"
IRRELEVANT = {"age", "city", "birth_weekday", "helmet_colour", "heard_from"}
ROOT = Path(__file__).parents[2]


def run(*args, **more):
    # Wide enough that rich folds no name.
    env = {"COLUMNS": "160", "TERM": "dumb"}
    return CliRunner().invoke(app, [str(arg) for arg in args], env=env, **more)


def ranked(result):
    """Return the column names of a printed ranking, best first."""
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.stdout.split("\n\n")[0].splitlines()]
    return [row[1] for row in rows if len(row) > 3 and row[0].isdigit()]


def demo(*args, check=False):
    return run("select", DEMO, "--target", "cancelled", "--check" if check else "--no-check", *args)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Run the demonstration once, with everything."""
    out = tmp_path_factory.mktemp("demo") / "new" / "folder"
    return demo("--out", out, "--write-data", check=True), out


def test_demo_puts_relevant_columns_on_top(whole):
    names = ranked(whole[0])
    assert len(names) == 12  # one is an identifier
    assert set(names[:7]) == RELEVANT | {FOLLOWS}
    assert set(names[7:]) == IRRELEVANT


def test_demo_says_what_it_did(whole):
    out = whole[0].stdout
    assert "customer_number: left out, id" in out
    assert re.search(
        r"\nProvisional: 7 of 12 columns are relevant, and they seem enough\.\nRelevance was tested at", out
    )
    assert (
        "The aim was one relevant column of each redundant group, and more where models predict better" in out
    )
    assert re.search(
        r"This is provisional: a loss of up to \d\.\d points cannot be excluded\. More rows", out
    )
    assert "In nested 5-fold cross-validation a forest on the" in out
    assert re.search(r"95 % interval -\d+\.\d to \+\d+\.\d", out)
    assert whole[0].stderr == ""


def test_demo_writes_its_files_and_no_other(whole):
    result, out = whole
    assert result.exit_code == 0
    assert {path.name for path in out.iterdir()} == {
        "report.html",
        "ranking.csv",
        "selection.json",
        "selected.csv",
    }
    found = json.loads((out / "selection.json").read_text(encoding="utf-8"))
    kept = [row["name"] for row in found["features"] if row["kept"]]
    assert set(kept) == RELEVANT | {FOLLOWS}
    assert found["curve"]["chosen"] == len(kept)
    assert f"\n{found['verdict']}\n" in result.stdout
    assert " ".join(found["details"]) in result.stdout
    assert "Best first: relevant columns by score" in result.stdout
    with (out / "ranking.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == [row["name"] for row in found["features"]]
    assert kept[0] in (out / "report.html").read_text(encoding="utf-8")
    with DEMO.open(newline="") as file, (out / "selected.csv").open(newline="") as small:
        for row, less in zip(csv.DictReader(file), csv.DictReader(small), strict=True):
            assert less == {name: cell for name, cell in row.items() if name in {*kept, "cancelled"}}


def test_selection_json_follows_the_contract(whole):
    found = json.loads((whole[1] / "selection.json").read_text(encoding="utf-8"))
    assert set(found) == {
        *(
            "foresift",
            "created",
            "source",
            "seed",
            "data",
            "method",
            "verdict",
            "certainty",
            "details",
            "notes",
            "features",
            "curve",
            "check",
        ),
        *("stability", "format", "columns", "profiles", "associations"),
    }
    lines = (whole[1] / "selection.json").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 150  # a row of the ranking, and the profile of a column, is one line
    assert found["data"]["n_rows"] == 600
    assert found["data"]["target"] == "cancelled"
    assert sum(c["count"] for c in found["data"]["classes"]) == 600
    assert [c["name"] for c in found["data"]["columns_left_out"]] == ["customer_number"]
    assert {d["kind"] for d in found["data"]["decisions"]} == {"numeric", "categorical", "id"}
    assert set(found["method"]) == {
        *("key", "title", "parameters", "goal", "error", "alpha", "seconds", "order")
    }
    assert found["method"]["goal"] == "compact"
    assert found["method"]["error"] == "fdr"
    assert found["method"]["alpha"] == 0.1
    assert found["certainty"] == "provisional"
    assert [row["rank"] for row in found["features"]] == list(range(1, 13))
    for row in found["features"]:
        assert row["low"] <= row["score"] <= row["high"]
        assert 0 <= row["frequency"] <= 1
    for point in found["curve"]["points"]:
        assert 0 <= point["low"] <= point["score"] <= point["high"] <= 1
    check = found["check"]
    assert check["difference"]["value"] == pytest.approx(check["kept"]["score"] - check["full"]["score"])
    assert -1 <= found["stability"]["low"] <= found["stability"]["value"]


def test_ranking_depends_on_the_seed_only():
    args = ["--method", "forest-gain", "--trees", 50, "--seed", 3]
    first = demo(*args, "--jobs", 1)
    assert first.exit_code == 0
    assert first.stdout == demo(*args, "--jobs", 2).stdout
    assert "\nThe rule of forest-gain is not a test, and many irrelevant columns pass it" in first.stdout


def test_k_keeps_the_best():
    found = json.loads(demo("--k", 3, "--json").stdout)
    assert [row["kept"] for row in found["features"]] == [True] * 3 + [False] * 9


def test_goals():
    compact, every = (json.loads(demo("--goal", goal, "--json").stdout) for goal in ("compact", "all"))
    kept = [row["name"] for row in every["features"] if row["kept"]]
    assert set(kept) == RELEVANT | {FOLLOWS} == {row["name"] for row in every["features"] if row["relevant"]}
    assert every["method"]["goal"] == "all"
    assert compact["method"]["goal"] == json.loads(demo("--json").stdout)["method"]["goal"] == "compact"
    assert compact["certainty"] is None  # without a check


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--goal", "small"), "'small' is not one of 'compact', 'all'"),
        (
            ("--goal", "all", "--method", "relevance"),
            "--goal all is for the method auto, not for relevance: leave it out, or use auto.",
        ),
        (
            ("--goal", "all", "--k", 3),
            "--goal all keeps every relevant column, so --k cannot be 3 too: leave out one of them.",
        ),
    ],
)
def test_a_goal_that_cannot_be_is_refused(options, message):
    result = demo(*options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_quiet_prints_names_only():
    names = demo("--quiet", "--k", 2).stdout.splitlines()
    assert names == [row["name"] for row in json.loads(demo("--json").stdout)["features"][:2]]


ESCAPE = "\x1b[31mred"


@pytest.fixture
def hostile(tmp_path):
    """A table whose names and classes would colour the terminal."""
    path = tmp_path / "t.parquet"
    columns = {ESCAPE: [i * 0.7 % 1 for i in range(40)], f"b{ESCAPE}": [i % 7 / 4 for i in range(40)]}
    columns["y"] = [f"{'yn'[i % 2]}{ESCAPE}" for i in range(40)]
    pyarrow.parquet.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize(
    "options",
    [
        ("--quiet", "--method", "info-gain", "--k", 2),
        ("--method", "info-gain", "--k", 2),
        ("--method", "info-gain", "--drop", "b\x1b"),
    ],
)
def test_no_name_sets_a_colour(hostile, options):
    result = run("select", hostile, "--target", "y", "--no-check", *options)
    assert "\x1b" not in result.output
    assert "\ufffd[31mred" in result.output or "\\x1b" in result.output


@pytest.mark.parametrize("quiet", [("--quiet",), ()])
def test_no_name_sets_a_colour_in_a_comparison(hostile, quiet):
    named = hostile.rename(hostile.with_name(f"{ESCAPE}.parquet"))
    options = ("--methods", "info-gain", "--classifiers", "nb", "--cv", "2", *quiet)
    result = run("compare", named, "--target", "y", *options)
    assert result.exit_code == 0
    assert "\x1b" not in result.output


def test_a_column_that_is_not_there_names_near_ones_only(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("Weight,size,kind\n1,2,a\n2,3,b\n")
    near = run("select", path, "--target", "WEIHGT").stderr
    assert "There is no column 'WEIHGT'; did you mean 'Weight'?" in " ".join(near.split())
    far = " ".join(run("select", path, "--target", "zzz").stderr.split())
    assert "There is no column 'zzz'; there are 'Weight', 'size', 'kind'." in far
    assert "mean" not in far


def test_top_shows_so_many_rows():
    result = demo("--top", 4)
    assert len(ranked(result)) == 4
    assert "8 more columns" in result.stdout


def test_standard_input_and_gzip(tmp_path):
    expected = demo("--json").stdout
    piped = run("select", "-", "--target", "cancelled", "--no-check", "--json", input=DEMO.read_bytes())
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(DEMO.read_bytes()))
    unpacked = run("select", packed, "--target", "cancelled", "--no-check", "--json")
    features = json.loads(expected)["features"]
    assert json.loads(piped.stdout)["features"] == features
    assert json.loads(piped.stdout)["source"] == "standard input"
    assert json.loads(unpacked.stdout)["features"] == features


def test_what_the_user_says_of_columns_counts():
    found = json.loads(
        demo("--json", "--keep-ids", "--categorical", "support_calls,age", "--drop", "city").stdout
    )
    kinds = {row["name"]: row["kind"] for row in found["features"]}
    assert kinds["customer_number"] == "numeric"
    assert kinds["support_calls"] == kinds["age"] == "categorical"
    assert "city" not in kinds
    assert {"name": "city", "reason": "dropped by --drop"} in found["data"]["columns_left_out"]


def test_a_column_taken_for_an_id_says_how_to_keep_it(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{1000 + 37 * i},{'ab'[i % 2]},{'' if i % 10 == 0 else 'yn'[i % 2]}\n" for i in range(40)]
    path.write_text("".join(["post code,z,y\n", *rows]))
    typed = ["select", path, "--target", "y", "--no-check", "--skip-unlabelled"]
    result = run(*typed)
    assert "y: missing in 4 rows (data rows 1, 11, 21 and 31), which are left out" in result.stdout
    assert "36 rows" in result.stdout
    assert "(--numeric 'post code' keeps it)" in result.stdout
    kept = run(*typed, "--numeric", "post code")
    assert "left out, id" not in kept.stdout
    assert "post code" in kept.stdout


def test_nothing_relevant_is_an_answer(tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "noise.csv"
    rows = [f"{a:.3f},{b:.3f},{c}" for a, b, c in zip(*rng.normal(size=(2, 80)), "xy" * 40, strict=True)]
    path.write_text("\n".join(["a,b,y", *rows]))
    result = run("select", path, "--target", "y", "--out", tmp_path / "out")
    assert result.exit_code == 0
    assert "none of the 2 columns is significant; none is kept." in result.stdout
    assert not any(
        row["kept"] for row in json.loads((tmp_path / "out/selection.json").read_text())["features"]
    )
    result = run("select", path, "--target", "y", "--no-check", "--out", tmp_path / "more", "--write-data")
    assert result.exit_code == 0
    assert "no smaller table" in result.stderr
    assert {path.name for path in (tmp_path / "more").iterdir()} == {
        "report.html",
        "ranking.csv",
        "selection.json",
    }


def test_too_few_rows_are_refused(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("a,b,y\n1,2,x\n2,1,z\n")
    result = run("select", path, "--target", "y", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "2 rows are too few for a test of relevance" in " ".join(result.stderr.split())
    assert "Warning" not in result.stderr
    assert not (tmp_path / "out").exists()


def test_an_error_rate_that_changes_nothing_is_said():
    result = demo("--method", "info-gain", "--alpha", 0.01)
    assert result.exit_code == 0
    assert "--alpha has no effect: info-gain does not test columns. Use auto or relevance." in " ".join(
        result.stderr.split()
    )


def test_long_names_are_shortened_in_the_terminal(tmp_path):
    path, long = tmp_path / "t.csv", "x" * 300 + "_end"
    rows = [f"{i * 0.7 % 1:.3f},{'yn'[i % 2]}" for i in range(30)]
    path.write_text("\n".join([f"{long},y", *rows]))
    result = run("select", path, "--target", "y", "--method", "info-gain", "--no-check")
    assert "xxxx…xxxxxxx_end" in result.stdout
    assert long not in result.stdout
    assert "30 rows, 1 column, target y" in result.stdout


def test_demo_table_is_what_its_generator_makes():
    spec = importlib.util.spec_from_file_location("make_demo_table", ROOT / "tools" / "make_demo_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.make_table() == DEMO.read_text(encoding="utf-8")


@pytest.mark.parametrize("method", METHODS)
def test_every_method_ranks(method, tmp_path):
    rng = np.random.default_rng(0)
    signal, noise = rng.normal(size=(2, 60)).round(3)
    rows = [
        f"{a},{b},{'xy'[int(b > 0)]},{'no' if a < 0 else 'yes'}" for a, b in zip(signal, noise, strict=True)
    ]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["signal,noise,word,class", *rows]))
    trees = [] if "n_estimators" not in _parameters(method) else ["--trees", 20]
    result = run("select", path, "--target", "class", "--method", method, "--no-check", *trees)
    assert result.exit_code == 0, result.output
    names = ranked(result)
    assert names[0] == "signal"
    assert sorted(names) == ["noise", "signal", "word"]


def _parameters(method):
    return METHODS[method].make().get_params()


@pytest.mark.parametrize("method", ["sfs", "sbs", "plus-minus", "exhaustive", "contribution"])
def test_a_search_looks_for_k_columns(method, tmp_path):
    """Noise that was shown only because K columns had to be would not be kept."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 50)
    X = rng.normal(size=(50, 4)).round(2)
    X[:, 2] += 4 * y
    path = tmp_path / "table.csv"
    rows = [",".join(map(str, [*row, label])) for row, label in zip(X, y, strict=True)]
    path.write_text("\n".join(["a,b,c,d,class", *rows]))
    result = run("select", path, "--target", "class", "--method", method, "--k", 3, "--quiet")
    assert len(result.stdout.split()) == 3, result.output


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("foresift sel", ["select"]),
        ("foresift select t.csv --method reli", ["relief", "relieff"]),
        ("foresift compare t.csv --methods random,reli", ["random,relief", "random,relieff"]),
        ("foresift compare t.csv --classifiers rf,knn", ["rf,knn", "rf,knn-manhattan"]),
        ("foresift reproduce o", ["opitz"]),
    ],
)
def test_the_shell_completes(typed, wanted):
    env = {"_FORESIFT_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    result = CliRunner().invoke(app, [], prog_name="foresift", env=env)
    assert result.stdout.split() == wanted


def test_names_to_complete_are_those_there_are():
    assert set(_PAPERS) == set(paper_keys())


def test_methods_version_and_help():
    listed = [part.splitlines()[1:] for part in run("methods").stdout.split("\n\n")]
    assert [[line.split()[0] for line in part] for part in listed] == [
        [*METHODS, "auto"],
        [*OTHERS],
        [*ESTIMATORS],
    ]
    takes = {line[:17].strip(): line[18:35].strip() for part in listed for line in part}
    assert [takes[key] for key in ("ssv1", "relieff", "auto", "rfe", "nb", "ridge", "rf")] == [
        "classes",
        *["classes, quantity"] * 3,
        "classes",
        "quantity",
        "classes, quantity",
    ]
    assert run("--version").stdout == f"foresift {version('foresift')}\n"
    assert "select" in run("--help").stdout
    assert "130 interrupted" in " ".join(run("select", "--help").stdout.split())


def test_the_command_line_imports_nothing_slow():
    """What makes `--help` and the completion of a shell wait a second is loaded when a command runs."""
    script = "import sys, foresift.cli.app; print(*(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"numpy", "scipy", "sklearn", "matplotlib", "pyarrow", "pandas"} & set(loaded.stdout.split())


def test_every_public_name_has_a_home():
    assert all(hasattr(foresift, name) for name in foresift.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        foresift.nothing


def test_a_search_that_was_stopped_says_so(tmp_path, monkeypatch):
    calls = iter(range(1000))
    evaluate = StoreScorer.evaluate

    def stopped(self, tasks):
        if next(calls) == 4:
            raise KeyboardInterrupt
        return evaluate(self, tasks)

    monkeypatch.setattr(StoreScorer, "evaluate", stopped)
    arguments = ["select", str(DEMO), "--target", "cancelled", "--method", "sbs"]
    result = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path)])
    assert result.exit_code == 130
    assert "The search was stopped by Ctrl-C" in " ".join(result.stdout.split())
    notes = json.loads((tmp_path / "selection.json").read_text())["notes"]
    assert any(note.startswith("The search was stopped by Ctrl-C") for note in notes)


def test_errors_name_what_is_typed(tmp_path):
    missing, few = tmp_path / "missing.csv", tmp_path / "few.csv"
    missing.write_text("a,b,y\n" + "".join(f"{i % 7 or ''},{i % 5},{'uv'[i % 2]}\n" for i in range(60)))
    few.write_text("a,b,y\n" + "".join(f"{i % 3}.5,{i % 5},{'uv'[i % 2]}\n" for i in range(6)))
    compare = ("compare", missing, "--target", "y", "--methods", "random")
    cases = {
        ("select", missing, "--target", "y", "--method", "ssv1", "--no-check"): "--categorical NAME",
        ("select", few, "--target", "y"): "(--method info-gain)",
        (*compare, "--cv", "1000"): "fewer than the 1000 folds: lower --cv, or drop or merge rare classes.",
        (*compare, "--scoring", "auc"): "did you mean 'roc_auc'?",
        ("select", missing, "--target", "y", "--alpha", "0.05", "--method", "info-gain", "--no-check"): (
            "--alpha has no effect"
        ),
    }
    for command, said in cases.items():
        result = run(*command)
        assert said in result.stderr, result.stderr
        assert not re.search(r"categorical_features|cv=|\bmethod \"|(?<!-)\b(alpha|cv)\b", result.stderr)


def test_names_in_quotes_are_not_translated():
    assert as_typed("column 'n_jobs' is odd: raise n_jobs") == "column 'n_jobs' is odd: raise --jobs"


def test_numbers_of_decisions_and_formats_are_said_in_grammar(tmp_path):
    said = [(f"c{i}", "left out") for i in range(13)]
    assert notes(said, "selection.json").endswith("  ... and 1 more decision (see selection.json)\n")
    assert notes([*said, said[0]]).endswith("  ... and 2 more decisions\n")
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(("x,y\n" + "1.5,u\n2,v\n" * 10).encode()))
    result = run("select", path, "--target", "y", "--method", "info-gain", "--no-check")
    assert "(gzipped CSV with commas, utf-8)" in result.stdout


def test_notes_without_the_check_name_options(tmp_path):
    rows = [(i % 97, i * 7919 % 101, f"2024-01-{1 + i % 28:02}") for i in range(120)]
    path = tmp_path / "t.csv"
    lines = "\n".join(f"{a},{a + b / 1000},{c},{int(a > 48)}" for a, b, c in rows)
    path.write_text(f"a,b,day,y\n{lines}\n")
    told = " ".join(run("select", path, "--target", "y", "--no-check", "--categorical", "day").stdout.split())
    assert "Whether 1 column is enough was not checked; --goal all keeps all 2." in told
    assert "to_datetime" not in told


def test_a_leak_is_told_without_the_check(tmp_path):
    path = tmp_path / "leak.csv"
    rows = "\n".join(f"{i % 2},{i * 7919 % 101},{'late' if i % 2 else 'paid'}" for i in range(80))
    path.write_text(f"settled,age,y\n{rows}\n")
    told = run("select", path, "--target", "y", "--no-check", "--categorical", "settled").stdout
    assert "The best column alone (settled) predicts almost perfectly (accuracy 100.0 %)." in " ".join(
        told.split()
    )
