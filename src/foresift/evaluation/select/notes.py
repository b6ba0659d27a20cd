"""Notes on a selection that need no check: possible leaks, duplicate rows, and what was not checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foresift.evaluation.select.alone import Alone
from foresift.evaluation.select.unit_rows import UnitRows
from foresift.report.numbers import PLAIN, counted
from foresift.selectors.best import BestRankerSelector
from foresift.selectors.near_rows import sampled_sentence
from foresift.selectors.relevance.untested import nothing_left

__all__ = [
    "MANY_COPIES",
    "note_on_choice",
    "note_on_copies",
    "note_on_own_rule",
    "note_on_sample",
    "note_on_targets",
    "notes_on_leaks",
    "notes_on_size",
    "notes_on_untested",
]

MANY_COPIES = 0.01  # share of the rows from which on they are worth a word
SIGNIFICANT = 0.05  # of columns that a rule without an error rate keeps


def note_on_own_rule(ranking: list[dict[str, Any]], method: dict[str, Any]) -> list[str]:
    """Warn of a method that keeps columns by its own rule, though its p-values are high: `forest-gain`."""
    kept = [row for row in ranking if row["kept"] and not row.get("requested")]
    high = sum(row["pvalue"] is not None and row["pvalue"] > SIGNIFICANT for row in kept)
    if method["error"] is not None or not high:
        return []
    return [
        f"The rule of {method['key']} is not a test, and many irrelevant columns pass it by chance: {high} of"
        f" the {counted(len(kept), 'column')} kept {'has' if high == 1 else 'have'} a p-value above"
        f" {SIGNIFICANT:g}. To control an error rate, use the method auto or relevance."
    ]


def notes_on_untested(selector: Any, names: list[str]) -> list[str]:
    """Say of which columns nothing is left that could be tested, and how to keep them."""
    return nothing_left(getattr(selector, "untested_", {}), names)


def note_on_choice(selector: Any) -> list[str]:
    """Say which ranker was chosen, among which, and how they scored in the folds of the choice."""
    if not isinstance(selector, BestRankerSelector):
        return []
    means = selector.candidate_scores_.mean(axis=1)
    scores = [f"{name} {mean:.3f}" for name, mean in zip(selector.candidate_names_, means, strict=True)]
    return [
        f"The ranking is that of {selector.chosen_}, chosen by cross-validation among {', '.join(scores)}"
        " (mean score of each at its own size). These scores were used for the choice, so the best of them is"
        " optimistic."
    ]


def note_on_targets(selector: Any, n_rows: int) -> list[str]:
    """Say that a method that compares rows looked at some of them only, though nobody asked for that."""
    n_samples = getattr(selector, "n_samples_", n_rows)
    if getattr(selector, "n_samples", None) != "auto" or n_samples == n_rows:
        return []
    return [sampled_sentence(n_samples, n_rows)]


def note_on_copies(n_copies: int, n_rows: int) -> list[str]:
    """Warn of rows that are there more than once, without a check.

    Examples
    --------
    >>> note_on_copies(60, 1800)
    ['60 of the 1,800 rows inspected are duplicates, which count more than once. Drop them.']
    """
    if n_copies < MANY_COPIES * n_rows:
        return []
    return [
        f"{n_copies:,} of the {n_rows:,} rows inspected {'is' if n_copies == 1 else 'are'} duplicates,"
        " which count more than once. Drop them."
    ]


def note_on_sample(method: str, n_sampled: int, n_rows: int) -> list[str]:
    """Say that a method looked at a sample of rows that come in batches.

    Examples
    --------
    >>> note_on_sample("relieff", 20_000, 5_000_000)
    ['relieff needs all rows at once: it ranked a random sample of 20,000 of the 5,000,000 rows.']
    """
    if n_sampled == n_rows:
        return []
    return [
        f"{method} needs all rows at once: it ranked a random sample of {n_sampled:,} of the {n_rows:,} rows."
    ]


def notes_on_leaks(units: UnitRows, alone: Sequence[Alone]) -> list[str]:
    """Ask where columns come from that are too good."""
    best = units.rows[0] if units.rows else {}
    found = [one for one in alone if one.name is not None or best["kept"]]
    name_of_best = best.get("group") or best.get("name")
    said = [(one.name or name_of_best, f"{one.metric} {PLAIN.score(*one[1:])}") for one in found]
    if len(said) > 1:
        named = ", ".join(f"{name} ({score})" for name, score in said)
        return [
            f"{units.counted(len(said))} predict almost perfectly alone: {named}. They may be leaks: check"
            " that they are known when the prediction is made."
        ]
    for name, score in said:
        which = f"column {name} alone"
        if found[0].name is None:
            which = f"best {'group' if best.get('group') else 'column'} alone ({name})"
        return [
            f"The {which} predicts almost perfectly ({score}). It may be a leak: check that it is known when"
            " the prediction is made."
        ]
    return []


def notes_on_size(units: UnitRows, method: dict[str, Any], n_kept: int) -> list[str]:
    """Say that redundant columns were left out, though nobody has seen how well the others predict."""
    n_relevant = sum(bool(row["relevant"]) for row in units.rows)
    if method["goal"] != "compact" or n_kept >= n_relevant:
        return []
    return [
        f"Whether {units.counted(n_kept)} {'is' if n_kept == 1 else 'are'} enough was not checked;"
        f' goal="all" keeps all {n_relevant:,}.'
    ]
