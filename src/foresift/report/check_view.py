"""What the report shows of the check and of the repetitions: texts and coordinates."""

from __future__ import annotations

from typing import Any

from foresift.report.drawing import (
    PERCENT,
    Scale,
    difference_text,
    metric_text,
    number_text,
    unknown,
    with_interval,
)

__all__ = ["BAR", "check_view", "guess_text", "stability_view", "words"]

BAR = 200.0  # width of the drawing of a score
NOTHING = "No column was kept, so there is no smaller model."


def check_view(check: dict[str, Any] | None, n_features: int, n_kept: int) -> dict[str, Any] | None:
    """The two models beside each other, and in words what their difference means."""
    if not check:
        return None
    metric = check.get("metric")
    like_this = ("selected columns", check.get("kept"))
    guess = "most frequent class" if (metric or "") in PERCENT else "random guess"
    no_column = (f"no columns: {guess}", {"score": check.get("baseline")})
    both = [(f"all {n_features:,} columns", check.get("full")), like_this if n_kept else no_column]
    known = [(label, score or {}) for label, score in both]
    numbers = [score.get(key) for _, score in known for key in ("score", "low", "high")]
    scale = Scale.around(numbers, 6, BAR - 6)

    lines = [
        {
            "label": label,
            "text": with_interval(*(metric_text(metric, score.get(key)) for key in ("score", "low", "high"))),
            "places": [scale.at(score.get(key)) for key in ("score", "low", "high")],
        }
        for label, score in known
    ]
    sizes = [n for n in check.get("n_kept") or [] if n is not None]
    folds, n_rows = check.get("n_folds"), check.get("n_rows")
    how = [f"in {folds:,} folds" if folds else "", f"of {n_rows:,} rows" if folds and n_rows else ""]
    return {
        "metric": words(metric),
        "lines": lines,
        "verdict": _difference(check.get("difference"), metric) if n_kept else NOTHING,
        "how": " ".join(["Measured", *filter(None, how)]),
        "sizes": _sizes(sizes) if n_kept and sizes else "",
        "nested": bool(n_kept),
    }


def _sizes(sizes: list[int]) -> str:
    """How many columns were kept in the folds."""
    least, most = min(sizes), max(sizes)
    return f"{least:,} to {most:,}" if least < most else f"{least:,} each"


def _difference(difference: dict[str, Any] | None, metric: str | None) -> str:
    """What kept minus all says about the smaller model."""
    value, low, high = ((difference or {}).get(key) for key in ("value", "low", "high"))
    if unknown(value):
        return "The difference is not known."
    text = with_interval(*(difference_text(metric, number) for number in (value, low, high)))
    text += " points" if (metric or "") in PERCENT else ""
    if low is None or high is None or unknown(low + high):
        return f"Difference, selected minus all columns: {text}. The folds agree, so there is no interval."
    if low > 0:
        return f"The smaller model is significantly better: {text}."
    if high < 0:
        return f"The smaller model is significantly worse: {text}."
    return f"The difference is not significant: {text}."


def stability_view(stability: dict[str, Any] | None) -> dict[str, Any] | None:
    """How far repetitions agree, in a word and on a line."""
    value = (stability or {}).get("value")
    if stability is None or value is None or unknown(value):
        return None
    # Fleiss's bounds for agreement beyond chance, which Nogueira et al. (2018) take over.
    word = "excellent" if value > 0.75 else "intermediate to good" if value >= 0.4 else "poor"
    text = with_interval(*(number_text(stability.get(key), 2) for key in ("value", "low", "high")))
    scale = Scale(0.0, 1.0, 0.0, BAR)
    places = [scale.at(stability.get(key)) for key in ("value", "low", "high")]
    return {"text": text, "word": word, "places": places}


def guess_text(check: dict[str, Any]) -> str:
    """What is reached without any column."""
    if unknown(check.get("baseline")):
        return ""
    metric = check.get("metric")
    how = "the most frequent class" if (metric or "") in PERCENT else "random guessing"
    return f", {metric_text(metric, check['baseline'])} with {how}"


def words(metric: str | None) -> str:
    """Name of a metric as people say it."""
    return (metric or "score").replace("_", " ")
