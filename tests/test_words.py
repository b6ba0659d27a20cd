"""The words: pages, report templates and sentences of `select` use the field's vocabulary."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += [page for page in sorted((ROOT / "docs").rglob("*.md")) if "api" not in page.parts]
TEMPLATES = sorted((ROOT / "src/foresift/report/templates").glob("*.html"))
SENTENCES = [
    ROOT / "src/foresift" / name
    for name in (
        "evaluation/select/sentences.py",
        "evaluation/select/notes.py",
        "evaluation/select/pictures.py",
        "evaluation/compare/text.py",
        "report/column_view.py",
        "report/ranking_view.py",
    )
]

# What to write instead, and what not to write.
WORDS = {
    "shadow feature, or reference implementation": r"\btwins?\b",
    "redundant with": r"\btells? the same\b",
    "informative about, or predicts": r"\btells\b|\btells? as much\b|(?<!who )\bknows\b",
    "recognise, distinguish, detect": r"\btold (?:apart|from|by)\b|\btells? apart\b",
    "marked redundant": r"\btold as\b",
    "residuals after": r"\b(?:leaves?|is left|are left) of\b|\bwhat other columns leave\b",
    "removed": r"\b(?:take|takes|taken|taking) away\b",
    "task": r"\bunits? of work\b",
    "batch, block": r"\blots?\b",
    "split candidate, evaluated": r"\bcolumns? (?:is|are|was|were) tried\b|\bits trials\b",
    "held-out rows": r"\bunseen\b|\b(?:took|takes?|taking) no part\b",
    "split, assign to folds": r"\b(?:deals?|dealt|dealing)\b(?! with)",
    "significantly worse (p <= 0.05)": r"\bluck(?:y|ily)?\b",
    "a number, or the best k": r"\bso many\b(?! (?:that|as)\b)|\bas many of the best\b",
    "this fraction": r"\bsuch a (?:share|part)\b",
    "similar size, stratified": r"\bof like size\b|\blike shares\b",
    "say about": r"\bsays? (?:nothing |little |something )?of\b",
    "probabilities, has an out-of-bag prediction": r"\bballots?\b|\bvoices\b|\bare heard\b",
    "equalized, normalized": r"\bevened\b|\bunskewed\b",
}
LAYERS = {"subpackage, layer, entry point": r"\b(?:rooms?|floors?|houses?|doors?)\b"}  # of code

SKIPPED = re.compile(
    r"^```.*?^```$"  # examples and output
    r"|^(?: {4}|\t).*$"  # code
    r"|`[^`\n]*`"
    r"|<!--.*?-->"
    r"|\$\$.*?\$\$|\$[^$\n]+\$"  # formulas
    r"|(?<=\])\([^)\n]*\)",  # addresses of links
    re.MULTILINE | re.DOTALL,
)
MARKUP = re.compile(
    r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}|<(?:style|script)\b.*?</(?:style|script)>|<[^>]*>", re.DOTALL
)


def prose(path):
    """What people read of a file, without code, formulas and markup."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return "\n".join(strings(text))
    return (MARKUP if path.suffix == ".html" else SKIPPED).sub(" ", text)


def strings(source):
    """Yield the strings of a module that are not docstrings; pieces of an f-string are joined."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "0" for part in node.values)
        elif isinstance(node, ast.Constant) and id(node) not in docstrings | parts:
            yield str(node.value)


def found(text, words):
    """Say what stands in a text that should not, with its neighbourhood."""
    text = re.sub(r"\s+", " ", text)
    return [
        f"...{text[max(hit.start() - 40, 0) : hit.end() + 40]}...: write {better!r}"
        for better, pattern in words.items()
        for hit in re.finditer(pattern, text, re.IGNORECASE)
    ]


@pytest.mark.parametrize(
    "path", [*PAGES, *TEMPLATES, *SENTENCES], ids=lambda path: str(path.relative_to(ROOT))
)
def test_plain_words(path):
    words = {**WORDS, **LAYERS} if path.name == "CONTRIBUTING.md" else WORDS
    assert found(prose(path), words) == []


PLANTED = [
    "A twin of each column is permuted.",
    "This column tells the same as that one.",
    "Nobody tells how many;",
    "The forest knows the classes.",
    "What other columns leave of the classes is tested.",
    "What is left\nof the target is uncorrelated.",
    "A trend is taken away first.",
    "All units of work have been run.",
    "Rows are read in lots.",
    "At a node where the column is tried.",
    "It predicts unseen rows.",
    "On rows that took no part it has an accuracy of 75 %.",
    "A number of folds deals whole groups.",
    "It is worse than luck explains.",
    "So many of the best are kept.",
    "Such a share of the columns passes.",
    "Groups of like size exchange rows.",
    "So a check says little of them.",
    "The column was told as redundant.",
    "Numbers are told apart from dates.",
]


@pytest.mark.parametrize("sentence", PLANTED)
def test_planted_words_are_found(sentence, tmp_path):
    """In a page, a template and a string of a module alike."""
    page, template, module = (tmp_path / name for name in ("a.md", "a.html", "a.py"))
    page.write_text(f"# A page\n\nSome text. {sentence}\n", encoding="utf-8")
    template.write_text(f"<p>{{% if x %}}{sentence}{{% endif %}}</p>", encoding="utf-8")
    module.write_text(f'"""Says."""\nNOTE = f"{{1}} of 2." {sentence!r}\n', encoding="utf-8")
    for path in (page, template, module):
        assert found(prose(path), WORDS), path.suffix


def test_every_pattern_is_planted():
    for better, pattern in WORDS.items():
        if "probabilities" in better or "equalized" in better:  # names of the code, which no sentence had
            continue
        assert any(re.search(pattern, re.sub(r"\s+", " ", text), re.IGNORECASE) for text in PLANTED), better


def test_code_is_not_prose(tmp_path):
    page = tmp_path / "a.md"
    page.write_text(
        "`n_twins` was renamed; see [votes](house-votes.md).\n\n```python\ntwins = lots\n```\n\n    unseen\n",
        encoding="utf-8",
    )
    assert found(prose(page), {**WORDS, **LAYERS}) == []
    module = tmp_path / "a.py"
    module.write_text('"""What a twin tells."""\n\n\ndef f():\n    """Unseen."""\n    return "plain"\n')
    assert found(prose(module), WORDS) == []
