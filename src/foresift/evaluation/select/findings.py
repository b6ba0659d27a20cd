"""What a selection found, as rows and numbers that JSON can hold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from foresift.evaluation.select.assess import Assessment
from foresift.evaluation.select.fitted import has_test, is_ours, is_relevant, ranked
from foresift.evaluation.select.resample import Resampled
from foresift.selectors.units import Units, read_units
from foresift.stats import Estimate, corrected_interval

__all__ = ["Findings"]

MAX_POINTS = 500  # held-out rows whose predictions are kept
N_BINS = 10  # of probabilities


@dataclass(frozen=True, eq=False)
class Findings:
    """A fitted selector, what it keeps, and what was seen of it, for `Selection.to_dict`."""

    selector: Any
    names: list[str]
    kinds: list[str]
    classes: list[str]
    kept: NDArray[np.intp]
    assessment: Assessment | None
    resampled: Resampled | None
    dependent: bool = False  # whether rows depend on each other: then a column has shadows of its own

    @cached_property
    def units(self) -> Units:
        """What was ranked."""
        s = self.selector
        return s.units_ if is_ours(s) else read_units(None, None, tuple(self.names), len(self.names))

    @cached_property
    def untested(self) -> dict[int, str]:
        """Why columns have no test."""
        return getattr(self.selector, "untested_", {})

    def rows(self) -> list[dict[str, Any]]:
        """One row for every column, those kept by request before the others, and these best first."""
        s, order, units = self.selector, ranked(self.selector), self.units
        nan = np.full(units.n_columns, np.nan)
        score, pvalue = (_numbers(s, name, nan, units) for name in ("scores_", "pvalues_"))
        zeros_of_tests = np.zeros(units.n_columns) if has_test(s) else nan
        chance = _numbers(s, "expected_scores_", zeros_of_tests, units)
        ends = _numbers(s, "intervals_", np.column_stack([nan, nan]), units)
        if self.resampled is not None:
            half = self.resampled.half_widths
            ends = np.column_stack([score - half, score + half])
        by_itself = getattr(s, "error", None) == "none"  # the p-value decides, and is not adjusted
        adjusted = nan if by_itself else _numbers(s, "adjusted_pvalues_", nan, units)
        relevant = units.spread(is_relevant(s), False) if has_test(s) else units.kept
        leaders = s.redundant_with_ if has_test(s) else np.full(units.n_columns, -1)
        kept, tested = set(self.kept.tolist()), ~units.kept if has_test(s) else np.zeros_like(units.kept)
        untested = np.isin(np.arange(units.n_columns), list(self.untested))
        tested &= ~untested
        pvalue, adjusted, chance = (np.where(untested, nan, some) for some in (pvalue, adjusted, chance))
        ranks = np.searchsorted(order.ends, np.arange(units.n_columns), side="right").tolist()
        return [
            {
                "name": self.names[j],
                "kind": self.kinds[j],
                "rank": rank,
                "score": _number(score[j]),
                "low": _number(ends[j, 0]),
                "high": _number(ends[j, 1]),
                "chance": _number(chance[j]),
                "pvalue": _number(pvalue[j]),
                "adjusted_pvalue": _number(adjusted[j]),
                "relevant": bool(relevant[j]) if tested[j] else None,
                "kept": j in kept,
                "redundant_with": self.names[leaders[j]] if leaders[j] >= 0 else None,
                "frequency": None
                if self.resampled is None or not tested[j]
                else _number(self.resampled.frequency[j]),
                **self._about_tests(j),
                **self._about_units(j),
                **({"untested": self.untested.get(j)} if self.untested else {}),
            }
            for rank, j in zip(ranks, order.columns.tolist(), strict=True)
        ]

    def _about_tests(self, column: int) -> dict[str, Any]:
        """P-value of each test, and the least one that the shadows can show if the forest is the only test.

        That is told only where all shadows scored lower than the column.
        """
        tests = getattr(self.selector, "test_pvalues_", None)
        if tests is None:
            return {}
        found = {f"p_{name}": _number(some[column]) for name, some in tests.items()}
        others = [value for name, value in found.items() if name != "p_forest" and value is not None]
        floor, p, shadows = None, found["p_forest"], self._shadows_of(column)
        if p is not None and not others and len(shadows) and p < 1 / (1 + len(shadows)):
            # The column's own score is on the scale of the shadows, where they are normal.
            floor = 1 / (1 + len(shadows)) if shadows.max() < -ndtri(p) else None
        return {**found, "p_floor": floor}

    def _shadows_of(self, column: int) -> NDArray[np.float64]:
        """Scores of the shadows that a column is compared with in the forest: those of all, or its own."""
        if not self.dependent:
            return self._all_shadows
        own = self.selector.shadow_scores_[column]
        return np.asarray(own[~np.isnan(own)])

    @cached_property
    def _all_shadows(self) -> NDArray[np.float64]:
        scores = self.selector.shadow_scores_
        return np.asarray(scores[~np.isnan(scores)])

    def _about_units(self, column: int) -> dict[str, Any]:
        """Whether a column is kept by request, and its group, where there are such."""
        units = self.units
        if units.trivial:
            return {}
        alone = units.sizes[column] == 1
        group = None if alone else units.labels[units.of_column[column]]
        return {"requested": bool(units.kept[column]), "group": group}

    def curve(self) -> dict[str, Any] | None:
        """Score of every size, with 95 % intervals, and the number of columns kept.

        `counts` says what sizes are, unless they are numbers of columns.
        """
        a = self.assessment
        if a is None or (len(a.curve.sizes) == 1 and len(self.names) > 1):
            return None
        points = []
        for size, scores in zip(a.curve.sizes.tolist(), a.curve.scores.T, strict=True):
            mean, low, high = _known(corrected_interval(scores, a.test_share, *a.judge.bounds))
            points.append({"n": size, "score": _number(mean), "low": _number(low), "high": _number(high)})
        chosen = {"chosen": self.units.n_free_in(self.kept), "by_rule": a.curve.chosen}
        counts = {} if self.units.trivial else {"counts": _counted(self.units)}
        return {"metric": a.metric, "points": points, **chosen, **counts}

    def check(self) -> dict[str, Any] | None:
        """Scores of all columns and of the selected ones, and their difference."""
        a = self.assessment
        if a is None:
            return None
        about: dict[str, Any] = {
            "n_folds": len(a.curve.scores),
            "n_rows": a.n_rows,
            "n_kept": a.n_kept.tolist(),
            "baseline": _number(a.baseline),
            "model": a.model.name,
            "classes_left_out": [self.classes[code] for code in a.rare],
        }
        if a.plan.in_parts:
            about["in_parts"] = True
        if a.errors is not None:
            y, predicted = a.held_out
            some = np.linspace(0, len(y) - 1, min(MAX_POINTS, len(y))).astype(int)
            some = np.argsort(y, kind="stable")[some]
            about["error"] = dict(zip(("full", "kept", "baseline"), map(_number, a.errors), strict=True))
            about["held_out"] = {"actual": y[some].tolist(), "predicted": predicted[some].tolist()}
        elif a.labels is not None and len(a.held_out[0]):
            about |= _classified(*a.held_out, [str(label) for label in a.labels.tolist()])
        if a.rival is not None:
            about["boosting"] = _score(a.rival.score)
            about["boosting_difference"] = _score(a.rival.difference, "value")
        full, kept, difference = a.check
        scores = {"full": _score(full), "kept": _score(kept), "difference": _score(difference, "value")}
        return {"metric": a.metric, **scores, **about}

    def stability(self) -> dict[str, Any] | None:
        """Stability of the test of relevance over parts of the rows."""
        if self.resampled is None or np.isnan(self.resampled.stability.value):
            return None
        value, low, high = self.resampled.stability
        return {"value": _number(value), "low": _number(low), "high": _number(high)}


def _numbers(selector: Any, name: str, otherwise: NDArray[np.float64], units: Units) -> NDArray[np.float64]:
    """Attribute of a selector that has a number for every column; not every selector has each of them.

    Nothing is known of columns that are kept by request, nor of groups if their columns have different ones.
    """
    value = getattr(selector, name, None)
    fits = value is not None and np.shape(value) == np.shape(otherwise)
    values = np.asarray(value, dtype=np.float64) if fits else otherwise
    if units.trivial:
        return values
    known = np.array([len(np.unique(values[one], axis=0)) == 1 for one in units.members])
    known = units.spread(known, False)
    return np.where(known if values.ndim == 1 else known[:, np.newaxis], values, np.nan)


def _classified(
    actual: NDArray[np.intp], probabilities: NDArray[np.float64], classes: list[str]
) -> dict[str, Any]:
    """How often each class was predicted for rows of each class, and of two classes how surely.

    Examples
    --------
    >>> found = _classified(np.array([0, 1]), np.array([[0.9, 0.1], [0.6, 0.4]]), ["no", "yes"])
    >>> found["confusion"]["counts"], found["probabilities"]["counts"][1][4]
    ([[1, 0], [1, 0]], 1)
    """
    n_classes = len(classes)
    cells = actual * n_classes + probabilities.argmax(axis=1)
    counts = np.bincount(cells, minlength=n_classes**2).reshape(n_classes, n_classes)
    about: dict[str, Any] = {"confusion": {"classes": classes, "counts": counts.tolist()}}
    if n_classes == 2:
        rarer = int(np.count_nonzero(actual) <= len(actual) / 2)  # of equal ones the second, as in profiles
        of_rarer = probabilities[:, rarer]
        bins = np.minimum((of_rarer * N_BINS + 1e-9).astype(np.intp), N_BINS - 1)
        by_class = [np.bincount(bins[actual == k], minlength=N_BINS).tolist() for k in range(2)]
        about["probabilities"] = {"of": classes[rarer], "counts": by_class}
    return about


def _counted(units: Units) -> str:
    """What the sizes of a curve count."""
    groups = " and groups" if (units.sizes[~units.kept] > 1).any() else ""
    return f"columns{groups}{' beside those kept by request' if units.kept.any() else ''}"


def _score(estimate: Estimate, value: str = "score") -> dict[str, float | None]:
    """A mean and its interval."""
    return dict(zip((value, "low", "high"), map(_number, _known(estimate)), strict=True))


def _known(estimate: Estimate) -> Estimate:
    """Leave out an interval of no width: folds that all agree do not say how sure the mean is."""
    return Estimate(estimate.value, np.nan, np.nan) if estimate.low == estimate.high else estimate


def _number(value: Any) -> float | None:
    value = float(value)
    return value if np.isfinite(value) else None
