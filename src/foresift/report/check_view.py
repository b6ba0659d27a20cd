"""The check and the stability of a selection as the report shows them: texts and coordinates."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import Any

from foresift.report.drawing import BAR, Scale, words
from foresift.report.numbers import PERCENT, TYPESET, unknown

__all__ = ["baseline_text", "check_view", "stability_view"]

_GUESSES = {"ROC AUC": "random guess", "R2": "the mean", "R2 of the logarithm": "the mean"}
NOTHING = "No column was kept, so there is no smaller model."


def check_view(check: dict[str, Any] | None, n_features: int, n_kept: int) -> dict[str, Any] | None:
    """The scores of the two models, and whether their difference is significant."""
    if not check:
        return None
    metric = check.get("metric")
    selected = ("selected columns", check.get("kept"))
    guess = _GUESSES.get(str(metric), "most frequent class" if metric in PERCENT else "no model")
    no_column = (f"no columns: {guess}", {"score": check.get("baseline")})
    both = [(f"all {n_features:,} columns", check.get("full")), selected, no_column]
    if not n_kept:
        del both[1]
    elif unknown(check.get("baseline")):
        del both[2]
    values = {label: [(score or {}).get(key) for key in ("score", "low", "high")] for label, score in both}
    scale = Scale.around([*chain(*values.values())], 6, BAR - 6)
    write = partial(TYPESET.score, metric)
    known = check.get("error") or {}
    keys = ("full", "kept", "baseline") if n_kept else ("full", "baseline")
    errors = [known.get(key) for key in keys[: len(both)]]
    lines = [
        {
            "label": label,
            "text": TYPESET.with_interval(write, *numbers),
            "places": [scale.at(number) for number in numbers],
            "error": TYPESET.short(error) if not unknown(error) else "",
        }
        for (label, numbers), error in zip(values.items(), errors, strict=True)
    ]
    sizes = [n for n in check.get("n_kept") or [] if n is not None]
    folds, n_rows = check.get("n_folds"), check.get("n_rows")
    what = "disjoint samples" if check.get("in_parts") else "folds"
    how = [
        f"in {folds:,} {what}" if folds else "",
        f"with {n_rows:,} rows in all" if folds and n_rows else "",
    ]
    return {
        "metric": words(metric),
        "lines": lines,
        "verdict": _difference(check.get("difference"), metric) if n_kept else NOTHING,
        "how": " ".join(["Measured on held-out rows", *filter(None, how)]),
        "sizes": _sizes(sizes) if n_kept and sizes else "",
        "nested": bool(n_kept),
        "in_parts": bool(check.get("in_parts")),
    }


def _sizes(sizes: list[int]) -> str:
    least, most = min(sizes), max(sizes)
    return f"{least:,} to {most:,}" if least < most else f"{least:,} each"


def _difference(difference: dict[str, Any] | None, metric: str | None) -> str:
    value, low, high = ((difference or {}).get(key) for key in ("value", "low", "high"))
    if unknown(value):
        return "The difference is not known."
    text = TYPESET.with_interval(partial(TYPESET.difference, metric), value, low, high)
    text += " points" if metric in PERCENT else ""
    if low is None or high is None or unknown(low + high):
        return f"Difference, selected minus all columns: {text}. The folds agree, so there is no interval."
    if low > 0:
        return f"The smaller model is significantly better: {text}."
    if high < 0:
        return f"The smaller model is significantly worse: {text}."
    return f"The difference is not significant: {text}."


def stability_view(stability: dict[str, Any] | None) -> dict[str, Any] | None:
    """How far the selections on subsamples agree, in a word and on a scale."""
    value = (stability or {}).get("value")
    if stability is None or value is None or unknown(value):
        return None
    # Fleiss's bounds for agreement beyond chance, which Nogueira et al. (2018) take over.
    word = "excellent" if value > 0.75 else "intermediate to good" if value >= 0.4 else "poor"
    numbers = [stability.get(key) for key in ("value", "low", "high")]
    scale = Scale(0.0, 1.0, 0.0, BAR)
    text = TYPESET.with_interval(partial(TYPESET.number, decimals=2), *numbers)
    return {"text": text, "word": word, "places": [scale.at(number) for number in numbers]}


def baseline_text(check: dict[str, Any]) -> str:
    """The score without any column."""
    if unknown(check.get("baseline")):
        return ""
    metric = check.get("metric")
    how = (
        "random guessing"
        if metric == "ROC AUC"
        else "the most frequent class"
        if metric in PERCENT
        else "the mean"
    )
    return f", {TYPESET.score(metric, check['baseline'])} with {how}"
