"""Fingerprints of everything that foresift computes, to prove that a change of the code changed no result.

Every public estimator, with its defaults and in many variants, the public functions, `select` and `compare`
run on eight small tables. Of each result the exact bytes are hashed, so two versions agree to the last bit or
the difference is listed. The package under test is the one that `import foresift` finds:

    PYTHONPATH=/path/of/old python benchmarks/fingerprints.py write before.json
    PYTHONPATH=src python benchmarks/fingerprints.py write after.json
    python benchmarks/fingerprints.py diff before.json after.json      # exit code 1 if anything differs

Results are named by public names only. What is renamed goes into `RENAMED` of fingerprint_cases.py.
Sentences are left out, and so are times.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from fingerprint_cases import RENAMED, Example, Spec, default_specs, examples, specs, too_slow
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from threadpoolctl import threadpool_limits

import foresift
from foresift import criteria, importance

# What is read of a fitted estimator besides predictions. New attributes do not change a fingerprint.
ATTRIBUTES = (
    "scores_", "ranking_", "support_", "size_curve_", "classes_", "feature_importances_", "pvalues_",
    "adjusted_pvalues_", "relevant_", "redundant_with_", "gains_", "expected_gains_", "null_scores_",
    "stability_", "selection_frequencies_", "thresholds_", "expected_scores_", "intervals_",
    "redundancy_", "ranks_", "agreement_", "agreements_", "order_", "merit_", "path_", "full_error_",
    "n_evaluated_", "contributions_", "pairs_", "levels_", "n_rankable_", "feature_distribution_",
    "pair_distribution_", "history_", "feature_weights_", "feature_gains_", "confidence_intervals_",
    "mean_interval_sizes_", "weight_changes_", "oob_score_", "oob_decision_function_", "pruning_degree_",
    "pruning_degrees_", "cv_errors_", "estimator_weights_", "estimator_errors_", "estimators_features_",
    "genomes_", "fitness_", "n_trained_", "n_diverged_", "diversity_weight_",
)  # fmt: skip
CLOCKS = {"seconds", "select_seconds"}
# Objects that are not arrays or numbers, by the attributes that say all about them.
PARTS = [
    ("features", "score"),  # a step of a search
    ("sizes", "scores", "chosen"),  # a curve of sizes
    ("observed", "expected", "statistic", "pvalues"),  # pairs of features
    ("nodes", "counts", "set_offsets", "set_codes", "set_branches"),  # a tree
]
NODE_FIELDS = (
    "parent", "first_child", "feature", "n_children", "threshold", "category_set", "missing_branch",
    "majority_branch", "gain", "size",
)  # fmt: skip
RANKING = (
    "name", "rank", "score", "low", "high", "chance", "pvalue", "adjusted_pvalue", "relevant", "kept",
    "redundant_with", "frequency",
)  # fmt: skip
CHECKED = ("full", "kept", "difference", "n_folds", "n_rows", "n_kept", "baseline")
ROW = (
    "method", "classifier", "size", "scorer", "n", "mean", "deviation", "lower", "upper", "n_features",
    "stability", "stability_lower", "stability_upper", "best", "p_best", "p_none", "n_failed",
)  # fmt: skip

Work = Callable[[], dict[str, Any]]


# --- hashes ---


def fingerprint(value: Any) -> list[str]:
    """Return the hash of the exact value, and its first numbers for people."""
    digest = hashlib.sha256()
    for piece in _pieces(value):
        digest.update(piece)
    shown = ", ".join(islice(_shown(value), 5))
    return [digest.hexdigest(), shown]


def _pieces(value: Any) -> Iterator[bytes]:
    """Bytes that tell a value from any other; integers, floats and their arrays whatever their width."""
    value = _plain(value)
    if isinstance(value, float):
        yield f"float {'nan' if np.isnan(value) else (value + 0.0).hex()};".encode()  # no -0.0
    elif isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        kind = value.dtype.kind.replace("u", "i")
        values = np.ascontiguousarray(value, dtype={"b": "?", "i": "<i8", "f": "<f8"}[kind])
        if kind == "f":
            values = np.where(np.isnan(values), np.nan, values + 0.0)
        yield f"array {kind} {values.shape};".encode() + values.tobytes()
    elif isinstance(value, np.ndarray):
        yield f"array {value.shape};".encode()
        yield from _pieces(value.ravel().tolist())
    elif isinstance(value, Mapping):
        yield f"mapping {len(value)};".encode()
        for key in sorted(value, key=str):
            yield f"{key}:".encode()
            yield from _pieces(value[key])
    elif isinstance(value, list):
        yield f"list {len(value)};".encode()
        for item in value:
            yield from _pieces(item)
    elif value is None or isinstance(value, bool | int | str):
        yield f"{type(value).__name__} {value!r};".encode()
    else:
        raise TypeError(f"No fingerprint of {type(value)}: add its parts to PARTS.")


def _plain(value: Any) -> Any:
    """Turn objects into lists of what matters, and NumPy's numbers into Python's."""
    if isinstance(value, np.generic) and value.dtype.names is None:
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.names is not None:  # nodes of a tree
        return {name: value[name] for name in NODE_FIELDS if name in value.dtype.names}
    if isinstance(value, Mapping):
        return {key: item for key, item in value.items() if key not in CLOCKS}
    for names in PARTS:
        if all(hasattr(value, name) for name in names):
            return [getattr(value, name) for name in names]
    if isinstance(value, set | frozenset):
        return sorted(value)
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


def _shown(value: Any) -> Iterator[str]:
    value = _plain(value)
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, np.ndarray):
        value = value.ravel()[:5].tolist()
    if isinstance(value, list):
        for item in value:
            yield from _shown(item)
    else:
        yield f"{value:.6g}" if isinstance(value, float) else str(value)


# --- results ---


def fitted(spec: Spec, example: Example, n_jobs: int = 1) -> dict[str, Any]:
    """Fit an estimator, and read what it learned and what it predicts."""
    estimator = spec.build(example, n_jobs)
    weights = {} if example.weights is None else {"sample_weight": example.weights}
    estimator.fit(example.X, example.y, **weights)
    found = {}
    for name in ATTRIBUTES:
        for known_as in (name, RENAMED.get(name, name)):
            if hasattr(estimator, known_as):
                found[name] = getattr(estimator, known_as)
    for method in ("predict", "predict_proba"):
        if hasattr(estimator, method):
            found[method] = getattr(estimator, method)(example.X_new)
    return found


def selected(example: Example, method: str, n_jobs: int = 1, **options: Any) -> dict[str, Any]:
    """Run `select`, and read its numbers."""
    found = foresift.select(example.X, example.y, method, random_state=0, n_jobs=n_jobs, **options).to_dict()
    curve, check = found["curve"] or {}, found["check"] or {}
    return {
        **{name: [row[name] for row in found["features"]] for name in RANKING},
        **{
            f"curve {name}": [p[name] for p in curve.get("points", [])]
            for name in ("n", "score", "low", "high")
        },
        "curve chosen": [curve.get("chosen"), curve.get("by_rule")],
        **{f"check {name}": check.get(name) for name in CHECKED},
        "stability": found["stability"],
    }


def compared(example: Example, n_jobs: int = 1) -> dict[str, Any]:
    """Run `compare` over several methods and classifiers, and read its table."""
    gain = Spec("ForestGainSelector", n_estimators=10, max_features=1, bound="mid")
    forest = Spec("SiftForestClassifier", n_estimators=8, max_features="sqrt")
    methods: dict[str, Any] = {key: key for key in ("info-gain", "relieff", "cfs", "ssv2", "random")}
    methods["forest-gain"] = gain.build(example, None).set_params(random_state=None)
    if isinstance(example.X, np.ndarray) and not np.isnan(example.X).any():
        methods["k best"] = SelectKBest(k=3)
    models = {"nb": "nb", "c45": "c45", "forest": forest.build(example, None).set_params(random_state=None)}
    found = foresift.compare(
        example.X, example.y, methods, models, sizes=["own", 2], cv=3, repeats=2, random_state=1,
        scoring=["accuracy", "balanced_accuracy"], n_jobs=n_jobs,
    )  # fmt: skip
    table = {name: [getattr(row, name) for row in found.rows] for name in ROW}
    return {**table, "selected": found.selected, "n_failures": len(found.failures)}


def columns_of(example: Example) -> list[np.ndarray]:
    """Return the first two columns and the last."""
    X = example.X
    return [np.asarray(X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]) for j in (0, 1, -1)]


def criteria_of(example: Example) -> dict[str, Work]:
    """List calls of `foresift.criteria`."""
    columns, counts = columns_of(example), np.unique(example.y, return_counts=True)[1]
    drawn: dict[str, Any] = {"x": columns[1], "n_permutations": 30, "random_state": 0}

    def of_columns(function: Any) -> Work:
        return lambda: {"values": [function(x, example.y, sample_weight=example.weights) for x in columns]}

    def of_counts(function: Any, *before: Any) -> Work:
        return lambda: {"counts": function(*before, counts), "of x": function(*before, counts, **drawn)}

    bounds = ("lower", "mid", "upper", "exact")
    return {
        "information_gain": of_columns(criteria.information_gain),
        "gain_ratio": of_columns(criteria.gain_ratio),
        "best_ssv_split": of_columns(criteria.best_ssv_split),
        "node_complexity": lambda: {"values": criteria.node_complexity(counts)},
        "ssv": lambda: {"value": criteria.ssv(counts, counts[::-1])},
        "gain_variance": of_counts(criteria.gain_variance),
        "gain_pvalue": of_counts(criteria.gain_pvalue, [0.01, 0.1]),
        "expected_gain": lambda: {bound: criteria.expected_gain(counts, bound) for bound in bounds},
        "expected_gain of x": lambda: {"value": criteria.expected_gain(counts, "exact", **drawn)},
    }


def importances_of(example: Example) -> dict[str, Work]:
    """List calls of `foresift.importance`."""
    forest = Spec("SiftForestClassifier", n_estimators=10, max_features=1, record_tried=True)
    models = {
        "forest": forest.build(example),
        "C4.5": Spec("C45Classifier").build(example),
        "scikit-learn's forest": RandomForestClassifier(10, random_state=0),
    }
    weights = {} if example.weights is None else {"sample_weight": example.weights}
    calls: dict[str, Work] = {}
    for name, model in models.items():
        for function in ("average_gain", "contribution_ratio", "mean_decrease_impurity", "node_tables"):
            calls[f"{function} of {name}"] = lambda model=model, function=function: {
                "value": getattr(importance, function)(model.fit(example.X, example.y, **weights))
            }
    calls["co_occurrence of forest"] = lambda: {
        "value": importance.co_occurrence(models["forest"].fit(example.X, example.y, **weights))
    }
    return calls


def calls_without_table() -> dict[str, Work]:
    """List calls of `foresift.stats`, of the generators of data and of `commonality`."""
    rng = np.random.default_rng(0)
    scores, chosen = rng.random((9, 4)).round(2), rng.random((6, 8)) < 0.4
    a, b, pvalues = scores[:, 0], scores[:, 1], rng.random(12) ** 3
    given: dict[str, tuple[Any, ...]] = {
        "stats.adjusted_pvalues": (pvalues, "fwer"), "stats.benjamini_hochberg": (pvalues,),
        "stats.holm": (pvalues,), "stats.corrected_interval": (a, 0.1), "stats.sign_test": (a, b),
        "stats.corrected_resampled_ttest": (a, b, 0.1), "stats.critical_difference": (5, 12),
        "stats.friedman": (scores,), "stats.nemenyi": (scores,), "stats.jaccard": (chosen,),
        "stats.kuncheva": (np.array([rng.permutation(8) < 3 for _ in range(5)]),),
        "stats.paired_ttest": (a, b), "stats.selection_stability": (chosen,), "stats.wilcoxon": (a, b),
        "stats.win_loss_tie": (a, b, 0.05), "datasets.make_friedman": (60,), "datasets.make_simple": (60,),
        "datasets.make_waveform": (60,),
    }  # fmt: skip

    def call(name: str) -> dict[str, Any]:
        module, function = name.split(".")
        seed = {"random_state": 0} if module == "datasets" else {}
        return {"value": getattr(getattr(foresift, module), function)(*given[name], **seed)}

    return {**{name: lambda name=name: call(name) for name in given}, "commonality": common_features}


def common_features() -> dict[str, Any]:
    """Compare the paths of two searches."""
    example = examples()["numeric"]()
    paths = []
    for criterion in ("gini", "entropy"):
        tree = Spec("CartClassifier", criterion=criterion)
        search = Spec("SequentialSelector", estimator=tree, direction="forward").build(example)
        paths.append(search.fit(example.X, example.y).path_)
    return {"value": foresift.commonality(*paths)}


# Method, options, and the tables it runs on.
SELECT: list[tuple[str, dict[str, Any], Sequence[str]]] = [
    ("auto", {}, list(examples())),
    ("auto", {"n_features_to_select": 2, "error": "fwer"}, ["ties", "weighted"]),
    ("relevance", {"alpha": 0.05}, ["mixed"]),
    ("info-gain", {}, ["numeric", "mixed", "wide"]),
    ("relieff", {"n_features_to_select": 3}, ["ties"]),
    ("forest-gain", {"parameters": {"n_estimators": 20, "max_features": "sqrt"}}, ["copies", "mixed"]),
    ("cfs", {}, ["nominal", "copies"]),
    ("ssv2", {"check": False}, ["mixed", "xor"]),
    ("sfs", {"n_features_to_select": 2, "parameters": {"verbose": 0}}, ["numeric"]),
    ("contribution", {"parameters": {"n_estimators": 8, "verbose": 0}}, ["xor"]),
    ("random", {}, ["weighted"]),
]


def things(tables: Sequence[str]) -> Iterator[tuple[str, str, Work]]:
    """Name all that is run: the table, the thing, and what returns its results by name."""
    for name, work in calls_without_table().items():
        yield "no table", f"foresift.{name}", work
    makers = examples()
    for table in tables:
        example = makers[table]()
        for spec in specs():
            if not too_slow(spec, table):
                yield table, f"foresift.{spec!r}", partial(fitted, spec, example)
        for name, work in criteria_of(example).items():
            yield table, f"foresift.criteria.{name}", work
        for name, work in importances_of(example).items():
            yield table, f"foresift.importance.{name}", work
        for method, options, there in SELECT:
            if table in there:
                name = ", ".join(f"{key}={value!r}" for key, value in {"method": method, **options}.items())
                yield table, f"foresift.select({name})", partial(selected, example, method, **options)
        if table in ("numeric", "ties", "mixed"):
            yield table, "foresift.compare", partial(compared, example)


def results(work: Work) -> dict[str, list[str]]:
    """Run something; an error is a result, of which only the type counts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return {name: fingerprint(value) for name, value in work().items()}
        except Exception as error:
            hashed, _ = fingerprint(type(error).__name__)
            return {"error": [hashed, f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"]}


def dependent_on_n_jobs() -> list[str]:
    """List what two threads, or two processes, do not compute as one does."""
    example = examples()["mixed"]()
    works = {repr(spec): partial(fitted, spec, example) for spec in default_specs()}
    works |= {"select": partial(selected, example, "auto"), "compare": partial(compared, example)}
    return [
        name
        for name, work in works.items()
        if results(partial(work, n_jobs=1)) != results(partial(work, n_jobs=2))
    ]


# --- command line ---


def write(path: Path, tables: Sequence[str], only: str) -> int:
    """Run everything and write the fingerprints."""
    prints: dict[str, dict[str, dict[str, list[str]]]] = defaultdict(dict)
    seconds: dict[str, float] = defaultdict(float)
    for table, thing, work in things(tables):
        if only in thing:
            start = time.process_time()
            prints[table][thing] = results(work)
            seconds[thing] += time.process_time() - start
    about = {
        "foresift": foresift.__version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
    }
    slowest = {name: round(took, 2) for name, took in sorted(seconds.items(), key=lambda pair: -pair[1])[:20]}
    path.write_text(json.dumps({"about": about, "slowest": slowest, "prints": prints}, indent=1) + "\n")
    runs = [found for of_table in prints.values() for found in of_table.values()]
    refused = sum("error" in found for found in runs)
    print(f"foresift {foresift.__version__} of {Path(foresift.__file__).parent}")
    print(f"{sum(map(len, runs))} fingerprints of {len(runs)} runs, {refused} of them refused by an error")
    differing = [] if only else dependent_on_n_jobs()
    for thing in differing:
        print(f"n_jobs=2 gives another result: {thing}")
    return int(bool(differing))


def diff(before: Path, after: Path) -> int:
    """List what differs, by thing and name, with the tables and the first numbers of one of them."""
    old, new = (json.loads(path.read_text()) for path in (before, after))
    for name, version in old["about"].items():
        if name != "foresift" and version != new["about"][name]:
            print(f"Beware: {name} was {version} and is {new['about'][name]}.")
    changes: dict[str, dict[str, list[tuple[str, str, str]]]] = defaultdict(lambda: defaultdict(list))
    n_values = 0
    nothing = ["", "(absent)"]
    for table in {**old["prints"], **new["prints"]}:
        one, other = (some["prints"].get(table, {}) for some in (old, new))
        for thing in {**one, **other}:
            a, b = one.get(thing, {}), other.get(thing, {})
            for name in {**a, **b}:
                n_values += 1
                x, y = a.get(name, nothing), b.get(name, nothing)
                if x[0] != y[0]:
                    changes[thing][name].append((table, x[1], y[1]))
    for thing, names in changes.items():
        print(thing)
        for name, where in names.items():
            _, was, now = where[0]
            print(f"  {name}, {', '.join(table for table, _, _ in where)}:\n    {was}\n    {now}")
    n_changed = sum(len(where) for names in changes.values() for where in names.values())
    print(
        f"{n_changed} of {n_values} fingerprints differ" + (f", in {len(changes)} things" if changes else "")
    )
    return int(n_changed > 0)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    writer = commands.add_parser("write")
    writer.add_argument("file", type=Path)
    writer.add_argument("--tables", default=",".join(examples()))
    writer.add_argument("--only", default="", help="a part of the names of what is run")
    differ = commands.add_parser("diff")
    differ.add_argument("before", type=Path)
    differ.add_argument("after", type=Path)
    given = parser.parse_args(arguments)
    if given.command == "diff":
        return diff(given.before, given.after)
    with threadpool_limits(1):  # sums of several threads differ in the last bit
        return write(given.file, given.tables.split(","), given.only)


if __name__ == "__main__":
    sys.exit(main())
