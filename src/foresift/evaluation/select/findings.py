"""What a selection found, as rows and numbers that JSON can hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.evaluation.select.assess import Assessment
from foresift.evaluation.select.fitted import has_test, order_of
from foresift.evaluation.select.resample import Resampled
from foresift.stats import Estimate, corrected_interval

__all__ = ["Findings"]

MAX_POINTS = 500  # held-out rows whose predictions are kept


@dataclass(frozen=True, eq=False)
class Findings:
    """A fitted selector, what it keeps, and what was seen of it, for `Selection.to_dict`."""

    selector: Any
    names: list[str]
    nominal: NDArray[np.bool_]
    classes: list[str]
    kept: NDArray[np.intp]
    assessment: Assessment | None
    resampled: Resampled | None

    def rows(self) -> list[dict[str, Any]]:
        """One row for every column, best first."""
        s, order = self.selector, order_of(self.selector)
        nan = np.full(len(order), np.nan)
        score, pvalue = (_numbers(s, name, nan) for name in ("scores_", "pvalues_"))
        chance = _numbers(s, "expected_scores_", np.zeros(len(order)) if has_test(s) else nan)
        ends = _numbers(s, "intervals_", np.column_stack([nan, nan]))
        if self.resampled is not None:
            half = self.resampled.half_widths
            ends = np.column_stack([score - half, score + half])
        adjusted = _numbers(s, "adjusted_pvalues_", nan)
        leaders = s.redundant_with_ if has_test(s) else np.full(len(order), -1)
        kept = set(self.kept.tolist())
        return [
            {
                "name": self.names[j],
                "kind": "categorical" if self.nominal[j] else "numeric",
                "rank": rank,
                "score": _number(score[j]),
                "low": _number(ends[j, 0]),
                "high": _number(ends[j, 1]),
                "chance": _number(chance[j]),
                "pvalue": _number(pvalue[j]),
                "adjusted_pvalue": _number(adjusted[j]),
                "relevant": bool(s.relevant_[j]) if has_test(s) else None,
                "kept": j in kept,
                "redundant_with": self.names[leaders[j]] if leaders[j] >= 0 else None,
                "frequency": None if self.resampled is None else _number(self.resampled.frequency[j]),
            }
            for rank, j in enumerate(order.tolist(), start=1)
        ]

    def curve(self) -> dict[str, Any] | None:
        """Score of every size, with 95 % intervals, and the number of columns kept."""
        a = self.assessment
        if a is None or (len(a.curve.sizes) == 1 and len(self.names) > 1):
            return None
        points = []
        for size, scores in zip(a.curve.sizes.tolist(), a.curve.scores.T, strict=True):
            mean, low, high = _known(corrected_interval(scores, a.test_share, *a.judge.bounds))
            points.append({"n": size, "score": _number(mean), "low": _number(low), "high": _number(high)})
        return {"metric": a.metric, "points": points, "chosen": len(self.kept), "by_rule": a.curve.chosen}

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
        if a.errors is not None:
            y, predicted = a.held_out
            some = np.linspace(0, len(y) - 1, min(MAX_POINTS, len(y))).astype(int)
            some = np.argsort(y, kind="stable")[some]
            about["error"] = dict(zip(("full", "kept", "baseline"), map(_number, a.errors), strict=True))
            about["held_out"] = {"actual": y[some].tolist(), "predicted": predicted[some].tolist()}
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


def _numbers(selector: Any, name: str, otherwise: NDArray[np.float64]) -> NDArray[np.float64]:
    """Attribute of a selector that has a number for every column; not every selector has each of them."""
    value = getattr(selector, name, None)
    fits = value is not None and np.shape(value) == np.shape(otherwise)
    return np.asarray(value, dtype=np.float64) if fits else otherwise


def _score(estimate: Estimate, value: str = "score") -> dict[str, float | None]:
    """A mean and its interval."""
    return dict(zip((value, "low", "high"), map(_number, _known(estimate)), strict=True))


def _known(estimate: Estimate) -> Estimate:
    """Leave out an interval of no width: folds that all agree do not say how sure the mean is."""
    return Estimate(estimate.value, np.nan, np.nan) if estimate.low == estimate.high else estimate


def _number(value: Any) -> float | None:
    value = float(value)
    return value if np.isfinite(value) else None
