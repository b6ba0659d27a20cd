"""The gallery: its examples are complete programs with a title; `make docs` runs them."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
CELL = re.compile(r"^# %%\n", re.MULTILINE)


def test_there_are_twelve_and_each_has_its_place(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_sphinx"))
    monkeypatch.delitem(sys.modules, "gallery_style", raising=False)
    from gallery_style import ORDER

    assert len(EXAMPLES) >= 12
    assert sorted(ORDER) == [example.name for example in EXAMPLES]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_is_a_program_with_a_title(example):
    tree = ast.parse(example.read_text(encoding="utf-8"), str(example))
    compile(tree, str(example), "exec")
    title, line, *text = (ast.get_docstring(tree) or "\n").split("\n")
    assert title
    assert line == "=" * len(title)
    assert "?" in " ".join(text) + title  # the question that it answers


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_ends_with_advice_and_reads_no_foreign_table(example):
    text = example.read_text(encoding="utf-8")
    last = CELL.split(text)[-1]
    assert "# What to conclude\n# ---" in text
    assert "# What to do next\n# ---" in last
    assert not re.search(r"fetch_|https?://|datasets\.load|n_jobs=(?!-1``)", text)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_what_draws_numbers_has_a_seed(example):
    calls = [
        node
        for node in ast.walk(ast.parse(example.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]
    for call in calls:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name == "default_rng":
            assert call.args
        if name in {
            "select",
            "compare",
            "RelevanceSelector",
            "SiftForestClassifier",
            "RandomForestClassifier",
        }:
            assert any(keyword.arg == "random_state" for keyword in call.keywords), ast.unparse(call)
