"""Records of many splits summarised in rows: mean, interval, tests, stability and times."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.target import Classes
from foresift.evaluation.harness.evaluate import selected
from foresift.evaluation.harness.tasks import Record
from foresift.report.comparison_view import ALPHA, BASELINE
from foresift.stats import corrected_interval, corrected_resampled_ttest, holm
from foresift.stats.stability import Stability, selection_stability

__all__ = [
    "Row",
    "Scores",
    "adjusted",
    "beats_guessing",
    "best_row",
    "differences",
    "failures",
    "pvalue",
    "recommended_row",
    "scored_rows",
    "selection_shares",
    "summarise",
]

# Few scores are often equal by chance, so their spread is no estimate.
MIN_SPLITS = 5
# Ranges of scorers of scikit-learn.
_RANGES = {
    re.compile(
        r"accuracy|balanced_accuracy|top_k_accuracy|average_precision"
        r"|(f1|precision|recall|jaccard|roc_auc)(_\w+)?"
    ): (0.0, 1.0),
    re.compile(r"r2|explained_variance|d2_\w+"): (-math.inf, 1.0),
}
Split = tuple[int, int]  # repeat and fold


@dataclass(frozen=True)
class Row:
    """Results of one method, size and estimator.

    Attributes
    ----------
    dataset, method, classifier, size, scorer : str
        Names; a size is a number, "own" (the method's own choice) or "all". `classifier` is the estimator,
        a regressor for a quantity: the name is as in files from before.
    n : int
        Number of scored splits.
    mean, deviation : float
        Mean and standard deviation of their scores.
    lower, upper : float
        95 % interval of the mean, corrected for the overlap of training sets (Nadeau & Bengio), and limited
        to the range of the scorer where that is known: 0 to 1 for an accuracy, up to 1 for R2. NaN for fewer
        than 5 splits, or if all scores are equal.
    n_features : float
        Mean number of features.
    stability, stability_lower, stability_upper : float
        Nogueira's measure of the agreement of the selections, and its interval; NaN where all features are
        used. The interval treats selections as independent, though splits share rows.
    select_seconds : float
        Mean time of the selection; NaN for no selection.
    best : bool
        Whether its mean is the highest for its data set, estimator and scorer, among the rows that have a
        score for every split that any row has. If there is no such row, none is best.
    p_best, p_none : float
        P-values of the difference to the best row, and to no selection: corrected resampled t-test, adjusted
        by Holm's method for the number of these comparisons in the table of its data set, estimator and
        scorer. NaN without a comparison, for fewer than 5 splits, and if all differences are equal. The best
        row is chosen by the same scores: `p_best` <= 0.05 marks any one row that is truly best in at most 5 %
        of tables, but of many equal rows it marks some more often (docs/comparing.md).
    n_failed : int
        Number of failed splits.
    p_best_alone : float
        P-value of the difference to the best row, not adjusted for the other comparisons.
    """

    dataset: str
    method: str
    classifier: str
    size: str
    scorer: str
    n: int
    mean: float
    deviation: float
    lower: float
    upper: float
    n_features: float
    stability: float = math.nan
    stability_lower: float = math.nan
    stability_upper: float = math.nan
    select_seconds: float = math.nan
    best: bool = False
    p_best: float = math.nan
    p_none: float = math.nan
    n_failed: int = 0
    p_best_alone: float = math.nan

    @property
    def estimator(self) -> str:
        """Name of the classifier or regressor."""
        return self.classifier

    def to_dict(self) -> dict[str, Any]:
        """Fields by name; NaN is None."""
        return {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in asdict(self).items()
        }


def best_row(rows: Sequence[Row]) -> Row:
    """The highest mean of rows that are best for their estimator, or else of those with the most splits."""

    def merit(row: Row) -> tuple[Any, ...]:
        known = not math.isnan(row.mean)
        return row.best, known, 0 if row.best else row.n, row.mean if known else 0.0, -row.n_features

    return max(rows, key=merit)


def beats_guessing(rows: Sequence[Row], scores: Sequence[Scores]) -> bool:
    """Whether the best row of the first data set and scorer is significantly better than guessing.

    What is not known is no reason against it.
    """
    if not rows or len(scores) != len(rows):
        return True
    family = rows[0].dataset, rows[0].scorer
    first = [k for k, row in enumerate(rows) if (row.dataset, row.scorer) == family]
    best = best_row([rows[k] for k in first])
    own = next(scores[k] for k in first if rows[k] is best)
    guess = replace(own, by_split=own.guess)
    return not own.guess or (differences(own, guess).mean() > 0 and not pvalue(own, guess) > ALPHA)


def recommended_row(rows: Sequence[Row], scores: Sequence[Scores] = ()) -> Row | None:
    """The fewest columns that are not significantly worse than the best, on the first data set.

    It is chosen among the rows of the first scorer that share the estimator of the best one and have a score
    for every split; the random baseline is never recommended. P-values are not adjusted: that would let pass
    sets which are worse. None if nothing could be tested, or nothing predicts: the random
    baseline does best, no R2 is above 0, or no accuracy above that of guessing.

    Examples
    --------
    >>> about = ("nb", "3", "accuracy", 10, 0.9, 0.1, 0.85, 0.95)
    >>> best = Row("wine", "gain", *about, 3.0, best=True)
    >>> recommended_row([best, Row("wine", "cfs", *about, 2.0, p_best_alone=0.3)]).method
    'cfs'
    """
    scored = [row for row in rows if (row.dataset, row.scorer) == (rows[0].dataset, rows[0].scorer)]
    best = best_row(scored) if scored else None
    if best is None or not best.best:
        return None
    if best.method == BASELINE or (best.scorer == "r2" and best.mean <= 0):
        return None  # nothing predicts
    if not beats_guessing(rows, scores):
        return None
    family = [row for row in scored if row.classifier == best.classifier and row.n == best.n]
    if all(math.isnan(row.p_best_alone) for row in family):
        return None
    as_good = [row for row in family if row.best or row.p_best_alone > ALPHA or row.mean == best.mean]
    honest = [row for row in as_good if row.method != BASELINE] or [best]
    return min(honest, key=_cost)


def _cost(row: Row) -> tuple[float, ...]:
    """What is lower for a better row: its columns, then of equal ones score, stability and time."""
    stability, seconds = (0.0 if math.isnan(x) else x for x in (row.stability, row.select_seconds))
    return row.n_features, -row.mean, -stability, seconds


@dataclass(frozen=True)
class Scores:
    """Scores of one row, by split, the fraction of the rows in a test set, and accuracies of guessing.

    Guessing is always predicting the most frequent class; of other scores, and in stores from before, it is
    not known.
    """

    by_split: dict[Split, float]
    test_share: float
    guess: dict[Split, float] = field(default_factory=dict)


def summarise(records: Iterable[Record], n_features: Mapping[str, int]) -> list[Row]:
    """Summarise records of kind "score" in rows, in the order of the records.

    `n_features` is the number of columns of each data set, by its checksum (`Unit.data`).

    Examples
    --------
    >>> from foresift.evaluation.harness.tasks import Unit
    >>> def record(method, fold, score):
    ...     unit = Unit("score", "toy", "", method, "", "nb", "", "", 0, fold, "", 0, "", "")
    ...     features = {} if method == "none" else {"own": [0, fold]}
    ...     size = "all" if method == "none" else "own"
    ...     return Record(unit, {"accuracy": {size: score}}, features, {"n_train": 90, "n_test": 10})
    >>> scores = {"none": [0.7, 0.8, 0.6, 0.7, 0.7], "gain": [0.8, 0.9, 0.9, 0.8, 1.0]}
    >>> rows = summarise([record(m, k, s) for m in scores for k, s in enumerate(scores[m])], {"": 6})
    >>> for row in rows:
    ...     print(f"{row.method} {row.mean:.2f} {row.lower:.2f} {row.upper:.2f} {row.best} {row.p_none:.3f}")
    none 0.70 0.59 0.81 False nan
    gain 0.88 0.75 1.00 True 0.042
    """
    return scored_rows(records, n_features)[0]


def scored_rows(
    records: Iterable[Record], n_features: Mapping[str, int]
) -> tuple[list[Row], tuple[Scores, ...]]:
    """Return the rows of `summarise`, and the scores that each of them is of."""
    groups: dict[tuple[str, ...], list[Record]] = defaultdict(list)
    for record in records:
        if record.unit.kind == "score":
            unit = record.unit
            groups[unit.data, unit.dataset, unit.method, unit.classifier].append(record)
    # Estimators share the selections: where one failed, another has recorded them.
    chosen = _selections(record for some in groups.values() for record in some)
    known = {
        key: _stability(list(some.values()), key[-1], n_features[key[0]]) for key, some in chosen.items()
    }
    rows: list[tuple[Row, Scores]] = []
    families: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for (data, dataset, method, classifier), some in groups.items():
        done = [record for record in some if not record.error]
        for scorer, size in dict.fromkeys(
            (scorer, size) for record in done for scorer, sizes in record.scores.items() for size in sizes
        ):
            agreement = known.get((data, method, size), Stability(math.nan, math.nan, math.nan))
            scored = [record for record in done if size in record.scores.get(scorer, ())]
            about = (dataset, method, classifier, size, scorer)
            row, scores = _row(about, scored, n_features[data], agreement)
            families[data, dataset, classifier, scorer].append(len(rows))
            rows.append((replace(row, n_failed=len(some) - len(scored)), scores))
    tested: dict[int, Row] = {}
    for family in families.values():
        tested |= dict(zip(family, _tested([rows[k] for k in family]), strict=True))
    return [tested[k] for k in range(len(rows))], tuple(scores for _, scores in rows)


def _row(
    about: tuple[str, str, str, str, str], records: Sequence[Record], p: int, agreement: Stability
) -> tuple[Row, Scores]:
    *_, size, scorer = about
    scores: dict[Split, float] = {}
    shares, widths = [], []
    for record in records:
        value = record.scores[scorer][size]
        scores[record.unit.repeat, record.unit.fold] = math.nan if value is None else float(value)
        n_train, n_test = record.extra["n_train"], record.extra["n_test"]
        shares.append(n_test / (n_train + n_test))
        widths.append(p if size == "all" else len(selected(record.features, size)))
    values, share = np.array(list(scores.values())), float(np.mean(shares))
    mean = float(values.mean())
    deviation = float(values.std(ddof=1)) if len(values) > 1 else math.nan
    lower = upper = math.nan
    if len(values) >= MIN_SPLITS and np.ptp(values) > 0:
        _, lower, upper = corrected_interval(values, share, *_range(records[0], scorer))
    seconds = [record.seconds["select"] for record in records if "select" in record.seconds]
    stability = float(agreement.value), float(agreement.lower), float(agreement.upper)
    row = Row(
        *about,
        len(values),
        mean,
        deviation,
        lower,
        upper,
        float(np.mean(widths)),
        *stability,
        float(np.mean(seconds)) if seconds else math.nan,
    )
    return row, Scores(scores, share, _guesses(records, scorer))


def _guesses(records: Sequence[Record], scorer: str) -> dict[Split, float]:
    """Accuracies of guessing, if that is the score and all records have them."""
    found = {(one.unit.repeat, one.unit.fold): one.extra.get("guess") for one in records}
    known = {split: guess for split, guess in found.items() if isinstance(guess, float)}
    return known if scorer == Classes.metric and len(known) == len(found) else {}


def _range(record: Record, scorer: str) -> tuple[float, float]:
    """Range of the scores; a user's own scorer may have any name."""
    scorers = json.loads(record.unit.options or "{}").get("scoring", {})
    known = _RANGES.items() if scorers.get(scorer, scorer) == scorer else ()
    return next((limits for names, limits in known if names.fullmatch(scorer)), (-math.inf, math.inf))


def _selections(records: Iterable[Record]) -> dict[tuple[str, str, str], dict[Split, Record]]:
    """Records that name the selected features, one for each split, by data set, method and size."""
    found: dict[tuple[str, str, str], dict[Split, Record]] = defaultdict(dict)
    for record in records:
        if not record.error and record.features:
            for size in dict.fromkeys(size for sizes in record.scores.values() for size in sizes):
                unit = record.unit
                found[unit.data, unit.method, size].setdefault((unit.repeat, unit.fold), record)
    return found


def _stability(records: Sequence[Record], size: str, p: int) -> Stability:
    if size == "all" or len(records) < 2:
        return Stability(math.nan, math.nan, math.nan)
    return selection_stability(_masks(records, size, p))


def _masks(records: Sequence[Record], size: str, p: int) -> NDArray[np.bool_]:
    masks = np.zeros((len(records), p), dtype=bool)
    for mask, record in zip(masks, records, strict=True):
        mask[selected(record.features, size)] = True
    return masks


def _tested(family: Sequence[tuple[Row, Scores]]) -> list[Row]:
    """Test rows of one data set, estimator and scorer against the best of them and against no selection."""
    best = _best(family)
    none = next((k for k, (row, _) in enumerate(family) if row.size == "all"), None)
    to_best, to_none = _against(family, best), _against(family, none)
    p_best, p_none = adjusted(to_best), adjusted(to_none)
    return [
        replace(
            row,
            best=k == best,
            p_best=p_best.get(k, math.nan),
            p_none=p_none.get(k, math.nan),
            p_best_alone=to_best.get(k, math.nan),
        )
        for k, (row, _) in enumerate(family)
    ]


def _best(family: Sequence[tuple[Row, Scores]]) -> int | None:
    """The highest mean of the rows that have every split; of equal means the one with the fewest features."""
    splits = {split for _, scores in family for split in scores.by_split}
    whole = [
        k
        for k, (row, scores) in enumerate(family)
        if not math.isnan(row.mean) and splits <= set(scores.by_split)
    ]
    return max(whole, key=lambda k: (family[k][0].mean, -family[k][0].n_features), default=None)


def _against(family: Sequence[tuple[Row, Scores]], one: int | None) -> dict[int, float]:
    """P-values of the differences of all other rows from one of them."""
    if one is None:
        return {}
    return {k: pvalue(scores, family[one][1]) for k, (_, scores) in enumerate(family) if k != one}


def adjusted(raw: Mapping[Any, float]) -> dict[Any, float]:
    """Adjust p-values for their number, by Holm's method; those that are not known are left out.

    Examples
    --------
    >>> adjusted({"a": 0.01, "b": 0.04, "c": math.nan, "d": 0.03})
    {'a': 0.03, 'b': 0.06, 'd': 0.06}
    """
    known = {key: value for key, value in raw.items() if not math.isnan(value)}
    return dict(zip(known, holm(list(known.values())).tolist(), strict=True))


def differences(one: Scores, other: Scores) -> NDArray[np.float64]:
    """Differences of the scores of two rows, in the splits that both have."""
    splits = [split for split in one.by_split if split in other.by_split]
    return np.array([one.by_split[split] - other.by_split[split] for split in splits], dtype=np.float64)


def pvalue(one: Scores, other: Scores) -> float:
    """P-value of the difference of two rows: corrected resampled t-test; NaN if it says nothing."""
    difference = differences(one, other)
    if len(difference) < MIN_SPLITS or not np.isfinite(difference).all():
        return math.nan
    # A difference that never varies, possible for accuracies of small folds, would have a p-value of 0.
    if difference.any() and np.ptp(difference) <= 1e-12 * np.abs(difference).max():
        return math.nan
    return float(corrected_resampled_ttest(difference, np.zeros(len(difference)), one.test_share).pvalue)


def selection_shares(
    records: Iterable[Record], names: Sequence[str], most: int = 30
) -> dict[str, dict[str, dict[str, float]]]:
    """Share of the splits in which each feature was selected: method -> size -> name -> share.

    The records are of one data set, whose columns have these names. Up to `most` features are listed for each
    size, the most frequent first.
    """
    shares: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for (_, method, size), some in _selections(records).items():
        mean = _masks(list(some.values()), size, len(names)).mean(axis=0)
        order = np.argsort(-mean, kind="stable")[:most]
        shares[method][size] = {names[j]: float(mean[j]) for j in order if mean[j] > 0}
    return dict(shares)


def failures(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Count failures by data set, method, estimator and error; `size` is there if only that one is unknown.

    Examples
    --------
    >>> from foresift.evaluation.harness.tasks import Unit
    >>> unit = Unit("score", "toy", "", "gain", "", "nb", "", "", 0, 0, "", 0, "", "")
    >>> failures([Record(unit, error="ValueError: no")] * 2)
    [{'dataset': 'toy', 'method': 'gain', 'classifier': 'nb', 'error': 'ValueError: no', 'count': 2}]
    """
    counts: dict[tuple[str, ...], int] = defaultdict(int)
    for record in records:
        about = record.unit.dataset, record.unit.method, record.unit.classifier
        if record.error:
            counts[*about, record.error] += 1
        for size, why in record.extra.get("unknown_sizes", {}).items():
            counts[*about, why, size] += 1
    names = ("dataset", "method", "classifier", "error", "size")
    return [dict(zip(names, about, strict=False)) | {"count": count} for about, count in counts.items()]
