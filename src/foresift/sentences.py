"""The sentence that says what a selection did, and how sure it is."""

from __future__ import annotations

from typing import Any

from foresift.assess import Assessment

__all__ = ["say"]

_RATES = {
    "fdr": "a false discovery rate of {:.0%}",
    "fwer": "a probability of {:.0%} of any error",
    "none": "an error rate of {:.0%} each",
}


def say(
    ranking: list[dict[str, Any]],
    method: dict[str, Any],
    n_wanted: int | None,
    data: dict[str, Any],
    assessment: Assessment | None,
) -> str:
    """Say in one sentence what was kept, why, and how well it does on rows that took no part."""
    n_kept = sum(row["kept"] for row in ranking)
    sentence = _what(ranking, method, n_wanted, n_kept)
    if assessment is not None:
        sentence += "; " + _how_good(assessment, n_kept, data["n_rows"])
    return sentence + "."


def _what(ranking: list[dict[str, Any]], method: dict[str, Any], n_wanted: int | None, n_kept: int) -> str:
    n = len(ranking)
    if method["error"] is None:
        best = "the best " if n_wanted is not None else ""
        return f"Kept {best}{n_kept} of {n} columns by {method['title']}"
    rate = _RATES[method["error"]].format(method["alpha"])
    relevant = [row for row in ranking if row["relevant"]]
    if not relevant:
        what = f"None of {_columns(n)} is relevant at {rate}"
        return (
            f"{what}, so none is kept" if n_wanted is None else f"{what}; kept the best {n_kept} all the same"
        )
    same = sum(row["redundant_with"] is not None for row in relevant)
    tell = f", {same} of which {_tells(same)} the same as better ones" if same else ""
    found = f"{len(relevant)} of {_columns(n)} {_are(len(relevant))} relevant at {rate}{tell}"
    if n_kept == len(relevant) and n_wanted is None:
        return f"Kept all {n_kept} relevant columns: {found}" if n_kept > 1 else f"Kept 1 column: {found}"
    if n_wanted is not None:
        return f"Kept the best {n_kept}, as asked: {found}"
    enough = "is enough" if n_kept == 1 else f"{n_kept} are enough"
    return f"Kept {n_kept}: {found}, and the best {enough} (within one standard error of the best size)"


def _how_good(a: Assessment, n_kept: int, n_rows: int) -> str:
    """Say how the selected columns compare with all of them."""
    accuracy = a.metric == "accuracy"
    kept, full = (f"{e.value:.1%}" if accuracy else f"{e.value:.3f}" for e in (a.check.kept, a.check.full))
    value, low, high = (100 * x if accuracy else x for x in a.check.difference)
    form, unit = ("{:+.1f}", " points") if accuracy else ("{:+.3f}", "")
    used = "" if a.n_rows == n_rows else f" of {a.n_rows:,} of the {n_rows:,} rows"
    trees = "" if a.plan.tree_share == 1 else f", with {a.plan.tree_share:.0%} of the trees"
    name = "an accuracy" if accuracy else f"a {a.metric}"
    interval = f"95 % interval {form.format(low)} to {form.format(high)}"
    if high < 0:
        verdict = "so dropping the others costs something"
    elif low > 0:
        verdict = "so dropping the others helps"
    else:
        verdict = (
            f"so no loss was seen, and one of more than {form.format(-low).lstrip('+')}{unit} is unlikely"
        )
    return (
        f"on rows that took no part ({len(a.curve.scores)} folds{used}, the whole selection repeated in"
        f" each{trees}) a forest of the selected columns has {name} of {kept} and one of all columns {full},"
        f" a difference of {form.format(value)}{unit} ({interval}),"
        f" {verdict}"
    )


def _columns(n: int) -> str:
    return f"{n} columns" if n != 1 else "1 column"


def _are(n: int) -> str:
    return "are" if n != 1 else "is"


def _tells(n: int) -> str:
    return "tell" if n != 1 else "tells"
