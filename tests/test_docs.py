"""The pages: every example on them runs."""

import doctest
import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import foresift
from foresift.cli.app import app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(page for page in DOCS.rglob("*.md"))]
FENCE = re.compile(r"^```(python|pycon|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"# Not run here: \w")  # how a block says, to readers too, why it is not
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def blocks(page):
    """Yield kind and text of the examples of a page, and the line each begins at."""
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        if not NOT_RUN.match(match[2]):
            yield match[1], match[2], text.count("\n", 0, match.start(2))


def run_session(text, names, where, line):
    """Run lines that begin with >>>, and compare what they show."""
    example = doctest.DocTestParser().get_doctest(text, names, where, where, line)
    report = []
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    assert runner.run(example, out=report.append, clear_globs=False).failed == 0, "".join(report)
    names.update(example.globs)


def run_commands(text, where):
    """Run lines that begin with $, and compare what they print with what is shown, if anything is."""
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
        name, *arguments = shlex.split(command, comments=True)
        assert name == "foresift", f"{where}: only foresift can be run here, not {command!r}"
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, f"{where}: {command}\n{result.output}\n{result.exception!r}"
        if shown.strip():
            assert doctest.OutputChecker().check_output(shown, result.stdout, FLAGS), result.stdout


@pytest.mark.parametrize("page", [page for page in PAGES if any(blocks(page))], ids=lambda page: page.stem)
def test_examples_run(page, tmp_path, monkeypatch):
    """In the order of the page, as one program, in a folder that holds the demonstration tables."""
    for table in (Path(foresift.__file__).parent / "datasets" / "_data").glob("*.csv"):
        shutil.copy(table, tmp_path)
    monkeypatch.chdir(tmp_path)
    for name, value in {"MPLBACKEND": "Agg", "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    names = {"__name__": "__page__"}
    for kind, text, line in blocks(page):
        where = f"{page.name}, line {line}"
        if kind == "pycon":
            run_session(text, names, where, line)
        elif kind == "console":
            run_commands(text, where)
        else:  # empty lines put the code where it stands on the page, for tracebacks
            exec(compile("\n" * line + text, str(page), "exec"), names)


def test_a_wrong_example_is_noticed():
    with pytest.raises(AssertionError, match=r"Got:\s+2"):
        run_session(">>> 1 + 1\n3\n", {}, "here", 1)
    with pytest.raises(AssertionError, match="forest-gain"):
        run_commands("$ foresift methods\nnothing\n", "here")
    with pytest.raises(AssertionError, match="no-such-file"):
        run_commands("$ foresift select no-such-file.csv --target y\n", "here")


def test_few_examples_are_left_out():
    texts = [text for page in PAGES for _, text in FENCE.findall(page.read_text(encoding="utf-8"))]
    assert sum(bool(NOT_RUN.match(text)) for text in texts) <= 5
