"""Dictionaries that reports are made from in the tests, and names that want to break out of them."""

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "</script><script>alert(3)</script>",
    "{{ 7*7 }}{% raw %}",
    "' onmouseover='alert(4)",
    "<!--",
    "]]>",
    "&lt;b&gt;&amp;",
    "a\u2028b\u2029c",
    "\u202eesrever",
    "line\nbreak\ttab\rreturn\\n",
    "nul\x00 bell\x07 lone \ud800",
    "</textarea></title></style>",
    "🌲 naïve 列",
    "",
    " ",
]


def selection(names, *, n_kept=None):
    """A selection as `Selection.to_dict()` gives it, best column first; the last kept one has a double."""
    names = list(names)
    n_kept = max(1, len(names) // 2) if n_kept is None else n_kept
    features = [
        {
            "name": name,
            "kind": "numeric",
            "rank": i + 1,
            "score": 9.0 / (i + 1),
            "low": 8.0 / (i + 1),
            "high": 10.0 / (i + 1),
            "chance": 2.0,
            "pvalue": min(1.0, 0.0004 * (i + 1)),
            "relevant": i <= n_kept,
            "kept": i < n_kept,
            "redundant_with": names[0] if i == n_kept else None,
            "frequency": 1 / (i + 1),
        }
        for i, name in enumerate(names)
    ]
    sizes = sorted({1, 2, n_kept, len(names)} & set(range(1, len(names) + 1)))
    points = [{"n": n, "score": 0.9 - 0.2 / n, "low": 0.88 - 0.2 / n, "high": 0.92 - 0.2 / n} for n in sizes]
    label = names[-1]
    return {
        "foresift": "0.1.0",
        "created": "2026-11-15T12:00:00",
        "source": f"{label}.csv",
        "seed": 0,
        "data": {
            "n_rows": 1000,
            "n_columns": len(names) + 2,
            "target": label,
            "classes": [{"name": label, "count": 400}, {"name": "other", "count": 600}],
            "columns_left_out": [{"name": label, "reason": f"a copy of {label}"}],
            "decisions": [
                {"name": name, "kind": "numeric", "why": f"{name} holds numbers"} for name in names
            ],
        },
        "method": {
            "key": "relevance",
            "title": "calibrated relevance",
            "parameters": {"n_estimators": 50, label: label},
            "error": "fdr",
            "alpha": 0.1,
            "seconds": 1.5,
        },
        "sentence": f"{n_kept} of {len(names)} columns tell about {label}.",
        "features": features,
        "curve": {"metric": "accuracy", "points": points, "chosen": n_kept},
        "check": {
            "metric": "accuracy",
            "full": {"score": 0.9, "low": 0.88, "high": 0.92},
            "kept": {"score": 0.91, "low": 0.89, "high": 0.93},
            "difference": {"value": 0.01, "low": -0.01, "high": 0.03},
        },
        "stability": {"value": 0.9, "low": 0.8, "high": 0.97},
    }
