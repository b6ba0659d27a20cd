"""Dictionaries that reports are made from in the tests, and names that want to break out of them."""

from itertools import combinations

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
            "adjusted_pvalue": min(1.0, 0.004 * (i + 1)),
            "p_floor": 0.0083 if i == 1 else None,
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
            "order": "relevant columns by score, then the others",
            "parameters": {"n_estimators": 50, label: label},
            "goal": None,
            "error": "fdr",
            "alpha": 0.1,
            "seconds": 1.5,
        },
        "verdict": f"{n_kept} of {len(names)} columns are relevant for {label}.",
        "certainty": "too few rows",
        "details": [f"Details of {label}."],
        "notes": [f"Mind {label}!"],
        "features": features,
        "curve": {"metric": "accuracy", "points": points, "chosen": n_kept},
        "check": {
            "metric": "accuracy",
            "full": {"score": 0.9, "low": 0.88, "high": 0.92},
            "kept": {"score": 0.91, "low": 0.89, "high": 0.93},
            "difference": {"value": 0.01, "low": -0.01, "high": 0.03},
            "n_folds": 5,
            "n_rows": 1000,
            "n_kept": [n_kept, n_kept + 1],
            "baseline": 0.6,
            "confusion": {"classes": [label, "other"], "counts": [[350, 50], [40, 560]]},
            "probabilities": {"of": label, "counts": [list(range(10)), list(range(10, 0, -1))]},
        },
        "stability": {"value": 0.9, "low": 0.8, "high": 0.97},
        "profiles": profiles(names[:2000], [label, "other"]),
        "associations": associations(names[:24], len(names)),
    }


def associations(names, n_all):
    values = [
        [1.0 if i == j else round(0.9 ** abs(i - j), 3) for j in range(len(names))] for i in range(len(names))
    ]
    return {"names": names, "values": values, "n_left_out": n_all - len(names)} if len(names) > 1 else None


def profiles(names, classes=()):
    """What `Selection.profiles` is: every other column has categories, called as the columns are."""
    n_shown = len(classes)

    def target(k):
        shares = [(k + 1) / 10, *(0.0 for _ in classes[2:]), 1 - (k + 1) / 10]
        return shares if n_shown else [10.0 * k, 10.0 * k - 3, 10.0 * k + 4]

    directions = ("up", "differs", "down", "flat", "peak", "dip", "mixed")
    columns = {}
    for i, name in enumerate(names):
        ranges = [{"low": 10.0 * k, "high": 10.0 * k + 7, "n": 100, "target": target(k)} for k in range(8)]
        categories = [{"value": names[(i + k) % len(names)], "n": 200, "target": target(k)} for k in range(3)]
        others = [
            {"n_values": 12, "n": 40, "target": target(4)},
            {"missing": True, "n": 60, "target": target(5)},
        ]
        columns[name] = {
            "n_values": 15 if i % 2 else 80,
            "missing": 0.98 if i == 0 else 0.06,
            "direction": directions[i % 7],
            "parts": [*(categories if i % 2 else ranges), *others[i % 2 == 0 :]],
        }
    about = {"n_rows": 1000, "overall": target(3)}
    about |= {"classes": list(classes)} if classes else {}
    return {"target": about, "columns": columns}


def of_a_quantity(d, *, size=1.0):
    """Turn a selection into one of a quantity of some size."""
    values = [size * (i % 17 + i / 100) for i in range(120)]
    quantity = {
        "edges": [size * edge for edge in range(19)],
        "counts": [7] * 17 + [1],
        "min": 0.0,
        "quartiles": [4 * size, 8 * size, 12 * size],
        "max": max(values),
        "mean": 8 * size,
        "deviation": 5 * size,
        "log": size > 1,
    }
    d["data"] |= {"task": "regression", "classes": [], "quantity": quantity}
    d["check"] |= {
        "metric": "R2",
        "model": "a forest",
        "error": {"full": 2.31 * size, "kept": 2.1 * size, "baseline": 4.4 * size},
        "held_out": {"actual": values, "predicted": [0.8 * value + size for value in values]},
    }
    for part in ("confusion", "probabilities"):
        del d["check"][part]
    d["curve"]["metric"] = "R2"
    d["profiles"] = profiles(list(d["profiles"]["columns"]))
    return d


def comparison(methods, *, classifiers=("rf", "nb"), sizes=("2", "5", "10", "own"), feature="age"):
    """A comparison as `Comparison.to_dict()` gives it; the first method is the best."""
    rows = []
    for classifier in classifiers:
        for i, method in enumerate(("none", *methods)):
            for size in ("all",) if method == "none" else sizes:
                n = {"all": 30.0, "own": 6.5}.get(size) or float(size)
                mean = 0.92 - 0.01 * abs(i - 1) - 0.2 / n - (0.02 if classifier == "nb" else 0)
                best = i == 1 and size == "10"
                rows.append(
                    {
                        "dataset": "wine",
                        "method": method,
                        "classifier": classifier,
                        "size": size,
                        "scorer": "accuracy",
                        "n": 50,
                        "mean": mean + (0.015 if best else 0),
                        "deviation": 0.02,
                        "lower": mean - 0.02,
                        "upper": mean + 0.02,
                        "n_features": n,
                        "stability": None if method == "none" else 0.9 - 0.05 * i,
                        "stability_lower": None,
                        "stability_upper": None,
                        "select_seconds": None if method == "none" else 0.123 * i,
                        "fit_seconds": 0.5,
                        "best": best,
                        "p_best": None if best else 0.3 if i < 3 else 0.001,
                        "p_none": None if method == "none" else 0.04 * i,
                        "n_failed": int(i == 2),
                    }
                )
    pairs = [
        {
            "dataset": "wine",
            "estimator": one["classifier"],
            "scorer": "accuracy",
            **{name: one[name] for name in ("method", "size", "n_features")},
            **{f"other_{name}": two[name] for name in ("method", "size", "n_features")},
            "n": 50,
            "difference": one["mean"] - two["mean"],
            "lower": one["mean"] - two["mean"] - 0.02,
            "upper": one["mean"] - two["mean"] + 0.02,
            "p": 0.021,
            "p_adjusted": 0.42,
        }
        for one, two in combinations(sorted(rows, key=lambda row: -row["mean"]), 2)
        if one["classifier"] == two["classifier"]
    ]
    return {
        "verdict": f"{methods[0]} with 10 columns does best.",
        "recommendation": f"Which to take: {methods[0]} with 5 columns.",
        "recommended": next((r for r in rows if (r["method"], r["size"]) == (methods[0], "5")), None),
        "about": {
            "dataset": "wine",
            "n_rows": 178,
            "n_features": 30,
            "classes": ["1", "2", "3"],
            "features": [feature],
            "cv": "10 stratified folds",
            "repeats": 5,
            "sizes": [2, 5, 10, "own"],
            "scoring": ["accuracy"],
            "random_state": 0,
            "store": None,
            "software": "foresift 0.1.0, scikit-learn 1.9",
        },
        "rows": rows,
        "pairs": pairs,
        "failures": [
            {
                "dataset": "wine",
                "method": methods[0],
                "classifier": "rf",
                "error": f"ValueError: {feature}",
                "count": 2,
            }
        ],
        "selected": {method: {"5": {feature: 1.0, "colour": 0.62}} for method in methods},
        "ranks": {
            "methods": list(methods),
            "mean_ranks": [1.2 + 0.8 * i for i in range(len(methods))],
            "critical_difference": 1.1,
            "n": 20,
        },
    }
