"""Count the published cells that our numbers agree with, by standard errors, and put the table into the page.

    python tools/count_cells.py    # reads docs/reproductions/*.csv, writes docs/reproductions/README.md

A cell is within two standard errors if our mean and the published one differ by at most twice the standard
error of the difference. If only one of the two has a spread, that spread serves for both. A number that a
paper prints in two tables counts once, and of two runs of a cell the one with more repeats counts. The
published cells are those of the papers' specs, which leave out data that cannot be had.
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from foresift.evaluation.papers.specs import Paper, read_paper

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reproductions"
BEGIN, END = "<!-- counts -->\n", "<!-- end of counts -->"
NAMES = {
    "rogers-gunn": "Rogers & Gunn",
    "bommaganti": "Bommaganti",
    "murata": "Murata et al.",
    "opitz": "Opitz",
    "grabczewski-jankowski": "Grabczewski & Jankowski",
}
KINDS = ("within", "better", "worse", "unknown")
HEADER = "| paper | published cells | run | within two standard errors | better | worse | no standard error |"

Cell = tuple[str, ...]


def numbers(text: dict[str, str], *names: str) -> list[float | None]:
    """Read fields of a line, of which some may be empty."""
    return [float(text[name]) if text[name] else None for name in names]


def kind(line: dict[str, str], trials: int | None, higher_is_better: bool) -> str:
    """Say how our number compares with the published one: one of KINDS.

    Examples
    --------
    >>> line = {"n": "10", "spread": "0.5", "published_spread": "", "difference": "-0.6"}
    >>> kind(line, 10, False), kind({**line, "n": "2"}, 10, False), kind(line, None, False)
    ('better', 'within', 'unknown')
    """
    ours, theirs, difference = numbers(line, "spread", "published_spread", "difference")
    ours, theirs = (theirs if ours is None else ours), (ours if theirs is None else theirs)
    if ours is None or theirs is None or difference is None or trials is None:
        return "unknown"
    error = (ours**2 / int(line["n"]) + theirs**2 / trials) ** 0.5
    if abs(difference) <= 2 * error:
        return "within"
    return "better" if (difference > 0) == higher_is_better else "worse"


def published(paper: Paper) -> int:
    """Count the cells that a paper prints.

    Examples
    --------
    >>> published(read_paper("rogers-gunn"))  # seven data sets and methods; CFS is in both tables
    49
    """
    cells = (cell for table in paper.tables for cell in table.cells)
    return len({(cell.dataset, cell.model, cell.classifier, cell.size, cell.value) for cell in cells})


def count(paper: Paper, folder: Path = FOLDER) -> Counter[str]:
    """Count the cells of a paper by kind, over all its CSV files."""
    tables = {table.id: table for table in paper.tables}
    best: dict[Cell, dict[str, str]] = {}
    for path in sorted(folder.glob(f"{paper.key}*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            for line in csv.DictReader(file):
                place = tuple(line[name] for name in ("dataset", "model", "classifier", "size", "published"))
                if line["published"] and int(line["n"]) > int(best.get(place, {"n": "0"})["n"]):
                    best[place] = line
    found: Counter[str] = Counter()
    for line in best.values():
        table = tables[line["table"]]
        found[kind(line, table.options.get("trials"), table.measure == "accuracy")] += 1
    return found


def lines_of_counts(folder: Path = FOLDER) -> list[str]:
    """Return the table of the page, one line for each paper."""
    lines = [HEADER, "| --- " * (HEADER.count("|") - 1) + "|"]
    for key, name in NAMES.items():
        paper = read_paper(key)
        found = count(paper, folder)
        cells = [name, published(paper), found.total(), *(found[kind] for kind in KINDS)]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def main() -> None:
    """Write the table between its markers."""
    page = FOLDER / "README.md"
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(before + BEGIN + "\n".join(lines_of_counts()) + "\n" + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
