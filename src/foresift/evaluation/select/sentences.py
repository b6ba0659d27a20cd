"""The sentences that say what a selection did, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from foresift.evaluation.select.alone import Alone
from foresift.evaluation.select.assess import Assessment
from foresift.evaluation.select.certainty import CLEAR, PROVISIONAL, TOO_FEW_ROWS, Certainty
from foresift.evaluation.select.notes import MANY_COPIES, notes_on_leaks, notes_on_size
from foresift.evaluation.select.rows_of_folds import MIN_OF_A_CLASS
from foresift.evaluation.select.unit_rows import UnitRows
from foresift.report.numbers import PLAIN, counted

__all__ = ["Said", "order_of_ranking", "say"]

_RATES = {
    "fdr": "a false discovery rate of {:g} %",
    "fwer": "a family-wise error rate of {:g} %",
    "none": "an unadjusted level of {:g} %",
}
# How a verdict begins, by its level; None without a check.
_OPENINGS = {None: "", CLEAR: "", PROVISIONAL: "Provisional: ", TOO_FEW_ROWS: "Too few rows {}"}
MAX_CLASSES = 5  # that are named


class Said(NamedTuple):
    """What a selection did in one short sentence, the details, and what a reader should be warned of."""

    verdict: str
    details: list[str]
    notes: list[str]


def say(
    ranking: list[dict[str, Any]],
    method: dict[str, Any],
    n_wanted: int | None,
    data: dict[str, Any],
    assessment: Assessment | None,
    certainty: Certainty | None,
    unchecked: str | None = None,
    more: Sequence[str] = (),
    alone: Sequence[Alone] = (),
) -> Said:
    """Say what was kept, why, and how well that predicts held-out rows.

    Parameters
    ----------
    ranking, method, data
        As in `Selection`.
    n_wanted : int or None
        How many columns were asked for.
    assessment : Assessment or None
        What the folds show.
    certainty : Certainty or None
        How far that can be trusted; None without an assessment.
    unchecked : str or None
        Why there is no assessment, if that is to be said.
    more : sequence of str
        What else a reader should be warned of.
    alone : sequence of Alone
        Columns that predict almost perfectly by themselves, and how well.

    Returns
    -------
    Said
        Whole sentences.
    """
    units = UnitRows.of(ranking)
    n_kept = sum(row["kept"] for row in units.rows)
    details = [*_why(units, method, n_wanted, n_kept, assessment), *_how_tested(data, method)]
    notes = [*units.note(method), *notes_on_leaks(units, alone)]
    if assessment is not None:
        n_columns = sum(row["kept"] for row in ranking)
        details += _how_good(assessment, n_columns, len(ranking), data["n_rows"])
        details += _of_this_size(assessment, units, n_kept)
        details += _how_split(assessment, data)
        details += _how_sure(certainty, sampled=assessment.plan.in_parts)
        notes += [
            *_rival(assessment),
            *_copies(assessment),
            *_rare(assessment, data),
            *_drift(assessment),
        ]
    else:
        notes += [f"The check was left out because {unchecked}."] if unchecked else []
        notes += notes_on_size(units, method, n_kept)
    verdict = _verdict(units, method, n_wanted, n_kept, assessment, certainty)
    return Said(verdict, details, [*notes, *more])


def order_of_ranking(ranking: list[dict[str, Any]]) -> str:
    """Say by what the ranking is ordered, which is not always the score alone."""
    free = [row for row in ranking if not row.get("requested")]
    if len(free) < len(ranking):
        return f"columns that you keep, then {order_of_ranking(free)}"
    if any(row["redundant_with"] is not None for row in ranking):
        return "one of each redundant group by score, then the other relevant columns, then the rest"
    if any(row["relevant"] for row in ranking):
        return "relevant columns by score, then the others"
    if any(row["relevant"] is None and row["chance"] is not None for row in ranking):
        return "by how far the score exceeds that of an irrelevant column"
    return "as the method ranks them" if all(row["score"] is None for row in ranking) else "by score"


def _verdict(
    units: UnitRows,
    method: dict[str, Any],
    n_wanted: int | None,
    n_kept: int,
    a: Assessment | None,
    certainty: Certainty | None,
) -> str:
    """Say the result in a dozen words."""
    if method["error"] is None:
        return f"Kept {'the best ' if n_wanted is not None else ''}{n_kept} of {units.all}."
    n_relevant = sum(bool(row["relevant"]) for row in units.rows)
    if n_wanted is not None:
        found = f"{n_relevant or 'none'} {_are(n_relevant or 1)} relevant"
        return f"The best {n_kept} of {units.all} {_are(n_kept)} kept, as requested; {found}."
    level = None if certainty is None else certainty.level
    if not n_relevant:
        return _none_significant(units, n_kept, level)
    if method["key"] == "auto" and method["goal"] == "compact" and a is not None:
        worse = a.check.difference.high < 0
        return _enough(units, n_kept, n_relevant, level, a.model.name, worse=worse)
    what = f"{n_relevant} of {units.all} {_are(n_relevant)} relevant"
    kept = " and kept" if n_kept == n_relevant else f"; {n_kept} {_are(n_kept)} kept"
    return _OPENINGS[level].format("to be certain: ") + f"{what}{kept}."


def _none_significant(units: UnitRows, n_kept: int, level: str | None) -> str:
    opening = _OPENINGS[level].format("to say which columns matter: ")
    none = f"{'none' if opening else 'None'} of the {units.all} is significant"
    if not n_kept:
        return f"{opening}{none}; {'no other' if units.requested else 'none'} is kept."
    best = "all together" if n_kept == len(units.rows) > 1 else f"the best {n_kept} together"
    best = "the best one" if n_kept == 1 else best
    s = "s" if n_kept == 1 else ""
    better = f"improve{s} on {units.them}" if units.requested else f"predict{s} better than chance"
    return f"{opening}{none} alone, but {best} {better} and {_are(n_kept)} kept."


def _enough(
    units: UnitRows, n_kept: int, n_relevant: int, level: str | None, model: str, *, worse: bool
) -> str:
    """Say whether the kept columns are enough; if all relevant ones are kept, say that instead of both."""
    all_relevant = n_kept == n_relevant
    rest = "" if all_relevant else f"; {n_relevant} {_are(n_relevant)} relevant"
    if level == TOO_FEW_ROWS:
        which = f"the {n_kept} relevant of {units.all}" if all_relevant else f"{n_kept} of {units.all}"
        return f"Too few rows to say whether {which} {_are(n_kept)} enough{rest}."
    kept = f"{n_kept} of {units.all} {_are(n_kept)}"
    if worse:
        also = "relevant and kept" if all_relevant else "kept"
        return f"{kept} {also}, but {model} on all columns predicts better{rest}."
    verb = _are(n_kept) if level != PROVISIONAL else "seem" if n_kept != 1 else "seems"
    if all_relevant:
        they = "it" if n_kept == 1 else "they"
        return f"{_OPENINGS[level]}{kept} relevant, and {they} {verb} enough."
    return f"{_OPENINGS[level]}{n_kept} of {units.all} {verb} enough{rest}."


def _how_sure(certainty: Certainty | None, *, sampled: bool) -> list[str]:
    """Say why an answer is not clear, and what to do; of a large table the check has samples."""
    if certainty is None or not certainty.reasons:
        return []
    *others, last = certainty.reasons
    why = f"{', '.join(others)} and {last}" if others else last
    few = "There are too few rows to be certain" if certainty.level == TOO_FEW_ROWS else "This is provisional"
    do = "cv=5 gives the check larger training sets" if sampled else "More rows would settle it"
    return [f"{few}: {why}. {do}."]


def _why(
    units: UnitRows,
    method: dict[str, Any],
    n_wanted: int | None,
    n_kept: int,
    a: Assessment | None,
) -> list[str]:
    """Say by which test or method, and how the number came about."""
    if method["error"] is None:
        return [f"Method {method['key']}: {method['title']}."]
    rate = _RATES[method["error"]].format(100 * method["alpha"])
    relevant = [row for row in units.rows if row["relevant"]]
    same = sum(row["redundant_with"] is not None for row in relevant)
    said = [f"Relevance was tested at {rate}."]
    if same:
        said.append(f"{same} of the relevant columns {_are(same)} redundant with a better one.")
    if n_wanted is not None or method["key"] != "auto" or a is None:
        return said
    if not relevant:
        how = (
            f"The kept columns were chosen by the {a.judge.loss} of held-out rows: no error rate holds for"
            " them."
        )
        return [*said, how] if n_kept else said
    if method["goal"] == "all":
        return [*said, "The goal was to keep every relevant column."]
    said.append(
        "The aim was one relevant column of each redundant group, and more where models predict better with"
        " them."
    )
    chosen = a.curve.chosen
    if chosen != n_kept:
        but = f"{n_kept} are kept because they are not redundant"
        if chosen > n_kept:
            but = f"only {n_kept} {_are(n_kept)} relevant"
        return [*said, f"The size curve suggests {units.counted(chosen)}, but {but}."]
    if n_kept > len(relevant):
        more = n_kept - len(relevant)
        them = "it" if more == 1 else "them"
        said.append(
            f"{more} of the kept columns {_are(more)} not significant alone, but {a.model.plural} without"
            f" {them} predict worse: no error rate holds for {them}."
        )
    elif n_kept < len(relevant):
        best = f"the best {units.counted(n_kept).removeprefix('1 ')}"
        said.append(f"{a.judge.best(best, a.model.name)} of all sizes.")
    doubles = sum(row["kept"] and row["redundant_with"] is not None for row in units.rows)
    if doubles:
        first = next(i for i, row in enumerate(units.rows) if row["redundant_with"] is not None)
        said.append(
            f"{doubles} of the kept columns {_are(doubles)} redundant with a better one, but"
            f" {a.model.plural} on fewer columns predict worse. To leave redundant columns out, request"
            f" {units.counted(first)}."
        )
    return said


def _how_good(a: Assessment, n_kept: int, n_columns: int, n_rows: int) -> list[str]:
    """Say how the selected columns compare with all columns in nested cross-validation."""
    full = _reached(a, a.check.full.value)
    used = "" if a.n_rows == n_rows else f" on {a.n_rows:,} of the {n_rows:,} rows"
    n_folds = len(a.curve.scores)
    folds, nested = f"{n_folds}-fold cross-validation{used}", "nested "
    if a.plan.in_parts:
        part = f"{a.n_rows // n_folds:,} of the {n_rows:,} rows"
        folds, nested = f"{n_folds} disjoint samples of {part}, each tested on another,", ""
    if not n_kept:
        baseline = PLAIN.score(a.metric, a.baseline)
        return [
            f"In {folds} {a.model.name} on all columns reaches {full}; {a.judge.guess} reaches {baseline}."
        ]
    least, most = int(a.n_kept.min()), int(a.n_kept.max())
    if least == n_columns:
        each = "sample" if a.plan.in_parts else "fold"
        return [f"In {nested}{folds} every {each} kept all columns; {a.model.name} on them reaches {full}."]
    sizes = f"{least} to {most} columns" if least < most else counted(least, "column")
    trees = "" if a.plan.tree_share == 1 else f", with {PLAIN.share(a.plan.tree_share)} of the trees"
    kept, full = _reached(a, a.check.kept.value), PLAIN.score(a.metric, a.check.full.value)
    return [
        f"In {nested}{folds} {a.model.name} on the selected columns reaches {kept},"
        f" {a.model.again} on all columns {full}.",
        *_of_requested(a),
        *_off(a),
        _difference(a),
        f"Each {'sample' if a.plan.in_parts else 'fold'} kept {sizes}{trees}.",
    ]


def _of_this_size(a: Assessment, units: UnitRows, n_kept: int) -> list[str]:
    """Say how sets as large as the kept one do, if clearly not as those that the folds kept."""
    found = a.curve.mean[a.curve.sizes == n_kept]
    if not n_kept or not len(found) or not (found[0] < a.check.kept.low or found[0] > a.check.kept.high):
        return []
    size = units.counted(n_kept)
    return [f"The size curve reaches {_reached(a, found[0])} with {size}, as many as are kept here."]


def _of_requested(a: Assessment) -> list[str]:
    """Say what the columns that are kept by request predict by themselves."""
    if a.curve.sizes[0]:
        return []
    return [f"The columns that you keep reach {PLAIN.score(a.metric, a.curve.mean[0])} by themselves."]


def _drift(a: Assessment) -> list[str]:
    """Say so if nothing predicts other times, as of a target that drifts."""
    if not a.in_time or a.errors is None or a.check.full.value >= a.baseline:
        return []
    return [
        f"In other stretches of time {a.model.name} on all columns predicts worse than the mean: the level of"
        " the target drifts. So the check cannot compare columns; rely on the test."
    ]


def _how_tested(data: dict[str, Any], method: dict[str, Any]) -> list[str]:
    """Say what a test respects."""
    respects = []
    if "groups" in data:
        respects.append(_groups_of(data))
    if "time" in data:
        column = data["time"]["column"]
        respects.append("the order of time" if column is None else f"the order of {column}")
    return [f"The test respects {' and '.join(respects)}."] if respects and method["error"] else []


def _groups_of(data: dict[str, Any]) -> str:
    of = "" if data["groups"]["column"] is None else f" of {data['groups']['column']}"
    return f"the {data['groups']['n_groups']:,} groups{of}"


def _how_split(a: Assessment, data: dict[str, Any]) -> list[str]:
    """Say what folds keep together."""
    if a.in_time:
        latest = "" if a.n_rows == data["n_rows"] else f" of the latest {a.n_rows:,} rows"
        return [f"Folds are blocks of time{latest}, with a gap between training and test rows."]
    if "groups" not in data:
        return []
    return [f"Folds keep {_groups_of(data)} whole."]


def _reached(a: Assessment, score: float) -> str:
    """A score and its name, as people say it: 92.5 % accuracy, R2 0.83."""
    text = PLAIN.score(a.metric, score)
    return f"{text} {a.metric}" if a.metric in ("accuracy", "ROC AUC") else f"{a.metric} {text}"


def _off(a: Assessment) -> list[str]:
    """Say how far off predictions of a quantity are, in its unit."""
    if a.errors is None:
        return []
    full, kept, none = (PLAIN.short(error) for error in a.errors)
    return [
        f"Predictions from the selected columns are off by {kept} on average, from all columns by {full},"
        f" without any column by {none}."
    ]


def _difference(a: Assessment) -> str:
    """Say the difference and whether it is significant; folds that all agree do not say how sure it is."""
    unit = " points" if a.metric == "accuracy" else ""
    value, low, high = (PLAIN.difference(a.metric, x) for x in a.check.difference)
    if a.check.difference.low == a.check.difference.high:
        return f"The difference is {value}{unit} in every fold, so there is no interval."
    text = f"The difference, {value}{unit} (95 % interval {low} to {high}), is"
    if a.check.difference.high < 0:
        return f"{text} significant: the other columns are needed."
    if a.check.difference.low > 0:
        return f"{text} significant: the model improves without the other columns."
    return f"{text} not significant."


def _rival(a: Assessment) -> list[str]:
    """Say that the forest is behind gradient boosting, on all columns and on the selected ones, if it is."""
    if a.rival is None or not a.rival.difference.low > 0:
        return []
    full, kept = a.check.full.value, a.check.kept.value
    forest = f"{PLAIN.score(a.metric, max(full, kept))}{' with the selected ones' if kept > full else ''}"
    kind = "Regressor" if a.errors is not None else "Classifier"
    return [
        "Gradient boosting predicts this target better than the forest that was checked:"
        f" {_reached(a, a.rival.score.value)} with all columns, the forest {forest}. Check the selection with"
        f" it: estimator=HistGradientBoosting{kind}()."
    ]


def _copies(a: Assessment) -> list[str]:
    """Warn of rows that are there more than once, and so on both sides of a fold."""
    if a.n_copies < MANY_COPIES * a.n_rows:
        return []
    rows = f"{a.n_copies:,} of the {a.n_rows:,} rows used in the check {_are(a.n_copies)} duplicates"
    return [f"{rows}: they are in training and test folds alike, so all scores are too high. Drop them."]


def _rare(a: Assessment, data: dict[str, Any]) -> list[str]:
    """Say which classes the check did not look at."""
    if not a.rare:
        return []
    names = [data["classes"][code]["name"] for code in a.rare]
    more = f" and {len(names) - MAX_CLASSES} more" if len(names) > MAX_CLASSES else ""
    said = ", ".join(names[:MAX_CLASSES]) + more
    sampled = data["classes"][a.rare[0]]["count"] >= MIN_OF_A_CLASS
    rows = "rows in the sample" if sampled else "rows"
    return [f"Classes with fewer than {MIN_OF_A_CLASS} {rows} were left out of the check: {said}."]


def _are(n: int) -> str:
    return "are" if n != 1 else "is"
