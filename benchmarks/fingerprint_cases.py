"""Eight small tables, and the estimators and variants that `fingerprints.py` runs on them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

import foresift

# Old name -> new name of a parameter or an attribute; the new one is used where the old one is unknown.
RENAMED = {
    "n_twins": "n_shadows",
    "null_scores_": "shadow_scores_",
    "path_": "search_tree_",  # of CFSSelector
    "history_": "generations_",  # of GEFSClassifier
}


@dataclass(frozen=True)
class Example:
    """Rows to learn from, rows to predict, and weights or None."""

    X: Any
    y: np.ndarray
    X_new: Any
    weights: np.ndarray | None = None

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])


def examples() -> dict[str, Callable[[], Example]]:
    """Return what makes each of the eight tables."""
    makers = (numeric, ties, nominal, mixed, copies, xor, wide, weighted)
    return {make.__name__: make for make in makers}


def _parted(X: Any, y: Any, n: int, weights: Any = None) -> Example:
    y = np.asarray(y)
    if isinstance(X, pd.DataFrame):
        return Example(X.iloc[:n].reset_index(drop=True), y[:n], X.iloc[n:].reset_index(drop=True), weights)
    return Example(X[:n], y[:n], X[n:], weights)


def numeric() -> Example:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(160, 8))
    return _parted(X, (X[:, 0] + 0.7 * X[:, 3] + rng.normal(scale=0.5, size=160) > 0).astype(int), 120)


def ties() -> Example:
    rng = np.random.default_rng(2)
    X = rng.integers(0, 6, size=(160, 7)).astype(float)
    level = X[:, 1] + (X[:, 4] > 2) * 2 + rng.normal(size=160)
    X[rng.random(X.shape) < 0.08] = np.nan
    return _parted(X, np.array(["high", "low", "mid"])[np.digitize(level, [2.5, 4.5])], 120)


def nominal() -> Example:
    rng = np.random.default_rng(3)
    codes = [rng.integers(0, k, size=160) for k in (2, 3, 4, 5, 7, 3)]
    noise = rng.random(160) < 0.15
    y = ((codes[1] == 1) | (codes[4] > 4)) ^ noise
    X = pd.DataFrame({f"c{j}": np.array(list("pqrstuv"))[some] for j, some in enumerate(codes)})
    return _parted(X.astype("category"), np.where(y, "yes", "no"), 120)


def mixed() -> Example:
    rng = np.random.default_rng(4)
    numbers = rng.normal(size=(160, 4)).round(1)
    codes = rng.integers(0, 4, size=(160, 3))
    y = np.digitize(numbers[:, 0] + (codes[:, 1] == 2) * 1.5 + rng.normal(scale=0.4, size=160), [0, 1])
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    words = np.array(list("abcd"), dtype=object)[codes]
    words[rng.random(words.shape) < 0.1] = None
    columns = {f"n{j}": numbers[:, j] for j in range(4)} | {f"c{j}": words[:, j] for j in range(3)}
    return _parted(pd.DataFrame(columns), y, 120)


def copies() -> Example:
    rng = np.random.default_rng(5)
    a, b, c = rng.normal(size=(3, 160))
    near = [a + rng.normal(scale=0.2, size=160), b + rng.normal(scale=0.2, size=160)]
    X = np.column_stack([a, a, -a, near[0], b, b.copy(), near[1], np.exp(b), c, np.ones(160)])
    return _parted(X, (a + b + rng.normal(scale=0.5, size=160) > 0).astype(int), 120)


def xor() -> Example:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(200, 6))
    y = (X[:, 1] > 0) ^ (X[:, 4] > 0) ^ (rng.random(200) < 0.05)
    return _parted(X, y.astype(int), 150)


def wide() -> Example:
    rng = np.random.default_rng(7)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 300))
    X[:, :6] += 1.2 * y[:, np.newaxis]
    return _parted(X, y, 40)


def weighted() -> Example:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(180, 7)).round(2)
    y = (X[:, 2] + 0.5 * X[:, 5] + rng.normal(scale=0.4, size=180) > 1.2).astype(int)
    return _parted(X, y, 130, rng.choice([0.0, 0.5, 1.0, 2.0, 3.0], size=130))


class Spec:
    """A public class and its parameters under their old names; `build` makes the estimator."""

    def __init__(self, name: str, **parameters: Any) -> None:
        self.name, self.parameters = name, parameters

    def __repr__(self) -> str:
        given = ", ".join(f"{key}={value!r}" for key, value in self.parameters.items())
        return f"{self.name}({given})"

    def build(self, example: Example, n_jobs: int | None = 1) -> Any:
        """Make the estimator; `random_state` is 0, `n_jobs` as told."""
        make = getattr(foresift, self.name)
        known = inspect.signature(make).parameters
        given = {"random_state": 0, "n_jobs": n_jobs}
        given = {key: value for key, value in given.items() if key in known}
        for key, value in self.parameters.items():
            given[key if key in known else RENAMED.get(key, key)] = _built(value, example)
        return make(**given)


class ColumnNumbers:
    """Stands for weights 1, 2, 3 ... of the columns of the table at hand."""

    def __repr__(self) -> str:
        return "1..p"


def _built(value: Any, example: Example) -> Any:
    if isinstance(value, Spec):
        return value.build(example, None)
    if isinstance(value, ColumnNumbers):
        return np.arange(1.0, example.n_features + 1)
    return [_built(item, example) for item in value] if isinstance(value, list) else value


_RANKERS = [Spec("InfoGainSelector"), Spec("ReliefFSelector", n_neighbors=5), Spec("CumulativeGainSelector")]
_TREE = Spec("CartClassifier", max_depth=3)
_SMALL_FOREST = Spec("SiftForestClassifier", n_estimators=5, max_features="sqrt")
_SIFT = {"n_estimators": 12, "max_features": 1}
_GAIN = {"n_estimators": 12, "max_features": 1}
_TEST = {"n_estimators": 15}
_GEFS = {"population": 6, "n_candidates": 18, "epochs": 8}
_BAG = {"n_estimators": 8}
_ANY_SELECTOR: list[dict[str, Any]] = [{"n_features_to_select": 3}, {"n_features_to_select": 0.5}]
_SIZE_CV = Spec("SubsetSizeCV", estimator=_SMALL_FOREST, cv=3, n_jobs=None)

# Parameters beside the defaults. What another estimator's defaults could change is given in full.
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "CartClassifier": [
        *({"criterion": name} for name in ("gini", "gain_ratio", "ssv")),
        {"max_depth": 3, "min_samples_leaf": 5}, {"min_samples_split": 20, "min_gain": 0.02},
        {"max_features": "sqrt"}, {"n_thresholds": 2}, {"nominal_splits": "multiway"},
        {"missing": "fractional"}, {"class_weight": "balanced"}, {"max_bins": 8},
    ],
    "C45Classifier": [
        {"criterion": "gain"}, {"pruning": None}, {"confidence_factor": 0.05}, {"subtree_raising": False},
        {"collapse": False, "pruning": None}, {"thresholds": "value"}, {"cut_penalty": False},
        {"group_categories": True}, {"min_value_gap": 0.1},
        {"max_depth": 3, "min_samples_leaf": 6}, {"max_features": 2}, {"class_weight": "balanced"},
    ],
    "SSVTreeClassifier": [{"pruning": None}, {"pruning": 3}, {"pruning": 0.05}, {"cv": 4, "max_depth": 4}],
    "SiftForestClassifier": [
        *({**_SIFT, "criterion": name} for name in ("entropy", "gini", "gain_ratio", "ssv")),
        *({**_SIFT, "feature_sampling": name} for name in ("confidence", "two-stage", "soft")),
        {**_SIFT, "feature_sampling": "two-stage+confidence", "update_every": 4},
        {**_SIFT, "feature_sampling": ColumnNumbers()}, {**_SIFT, "feature_sampling": _RANKERS[0]},
        {**_SIFT, "max_features": "sqrt", "oob_score": True}, {**_SIFT, "constant_draw": "leaf"},
        {**_SIFT, "bootstrap": False, "max_samples": 0.5},
        {**_SIFT, "max_features": None, "n_thresholds": 1}, {**_SIFT, "nominal_splits": "multiway"},
        {**_SIFT, "missing": "fractional"}, {**_SIFT, "class_weight": "balanced", "max_depth": 4},
    ],
    "NetworkClassifier": [
        {"n_hidden": 4, "epochs": 20}, {"epochs": 5, "momentum": 0.0, "learning_rate": 0.05},
    ],
    "InfoGainSelector": [
        *_ANY_SELECTOR, {"ratio": True}, {"n_features_to_select": _SIZE_CV},
        {"n_features_to_select": Spec("SubsetSizeCV", estimator=GaussianNB(), rule="best", sizes=[1, 2, 5])},
    ],
    "PearsonSelector": [{"nominal": "one-hot"}, {"nominal": "one-hot", "n_features_to_select": 3}],
    "FScoreSelector": [{"nominal": "one-hot"}, {"nominal": "one-hot", "n_features_to_select": 3}],
    "RandomSelector": _ANY_SELECTOR,
    "ReliefSelector": [{"n_samples": 30}, {"n_features_to_select": 3}],
    "ReliefFSelector": [{"n_neighbors": 3}, {"n_samples": 40}, {"n_features_to_select": _SIZE_CV}],
    "SURFSelector": [{}],
    "MultiSURFSelector": [{}],
    "SSVSelector": [{"mode": "tree"}, {"mode": "tree", "n_features_to_select": 3}],
    "CFSSelector": [
        *({"search": name} for name in ("forward", "backward", "greedy")), {"convention": "weka"},
        {"locally_predictive": True, "convention": "weka"}, {"n_stale": 1}, {"n_features_to_select": 4},
    ],
    "CumulativeGainSelector": [{"oblivious": True}, {"n_features_to_select": 3}],
    "ForestGainSelector": [
        *({**_GAIN, "bound": name} for name in ("lower", "mid", "upper", "exact")),
        {**_GAIN, "bound": "mid", "weighting": "unit"}, {**_GAIN, "bound": "exact", "max_features": "sqrt"},
        {**_GAIN, "bound": "exact", "nominal_splits": "multiway"},
        {**_GAIN, "bound": "exact", "redundancy": 0.5},
        {**_GAIN, "bound": "exact", "n_features_to_select": 3},
    ],
    "RelevanceSelector": [
        {**_TEST, "minimal": True}, {**_TEST, "error": "fwer"}, {**_TEST, "minimal": True, "error": "fwer"},
        {**_TEST, "error": "none", "alpha": 0.05}, {**_TEST, "interactions": False}, {**_TEST, "n_twins": 6},
        {**_TEST, "n_half_samples": 4}, {**_TEST, "min_share": 0.1}, {**_TEST, "redundancy": None},
        {**_TEST, "nominal_splits": "multiway", "max_features": "sqrt"}, {**_TEST, "n_features_to_select": 3},
    ],
    "AggregateSelector": [
        *({"selectors": _RANKERS, "rule": name} for name in ("mean-rank", "borda", "vote", "rra")),
        {"selectors": _RANKERS, "rule": "borda", "top": 3, "n_features_to_select": 2},
    ],
    "FeatureBoostingSelector": [
        {"order": 2, "n_iterations": 25}, {"accuracy": "oob", "n_iterations": 25},
        {"subset_size": 0.5, "estimator": _TREE, "n_iterations": 25, "learning_rate": 0.3},
    ],
    "SequentialSelector": [
        {"estimator": _TREE, "direction": "forward", "n_features_to_select": 2},
        {"estimator": _SMALL_FOREST, "direction": "forward", "tol": 0.01},
        {"estimator": _SMALL_FOREST, "direction": "backward", "max_error_increase": 0.1},
        {"estimator": _TREE, "direction": "backward", "n_features_to_select": 3, "floating": True},
        {"estimator": _TREE, "direction": "plus-minus", "n_features_to_select": 3},
        {"estimator": _TREE, "direction": "exhaustive", "n_features_to_select": 2},
        {"estimator": GaussianNB(), "direction": "forward", "n_features_to_select": 3,
         "scoring": "balanced_accuracy"},
    ],
    "ContributionSelector": [
        {"n_estimators": 8, "mode": "batch"}, {"n_estimators": 8, "step": 2, "relative": True},
        {"n_estimators": 8, "patience": 2}, {"n_estimators": 15, "protect_pairs": True},
        {"n_estimators": 8, "n_features_to_select": 2, "max_error_increase": None},
        {"estimator": RandomForestClassifier(5, random_state=0), "n_features_to_select": 3},
    ],
    "SubsetBaggingClassifier": [
        {**_BAG, "subset_size": 0.5, "oob_score": True}, {**_BAG, "subset_size": 3, "vote": "equal"},
        {**_BAG, "subset_size": 2, "distribution": ColumnNumbers(), "ballot": "probability"},
        {**_BAG, "subset_size": 3, "distribution": _RANKERS[0], "estimator": _TREE},
        {**_BAG, "subset_size": 2, "distribution": Spec("FeatureBoostingSelector", n_iterations=20)},
        {**_BAG, "estimator": GaussianNB(), "subset_size": 0.5},
    ],
    "ResampleBoostClassifier": [
        {**_BAG, "update": "arc-x4"}, {**_BAG, "estimator": _TREE}, {**_BAG, "estimator": GaussianNB()},
    ],
    "GEFSClassifier": [
        {**_GEFS, "estimator": _TREE}, {**_GEFS, "evaluate": "oob"}, {**_GEFS, "emphasis": "adaboost"},
        {**_GEFS, "evaluate": "validation", "patience": 2},
    ],
    "GEFSSelector": [
        {**_GEFS, "estimator": _TREE}, {**_GEFS, "evaluate": "training", "n_features_to_select": 3},
    ],
}  # fmt: skip
REQUIRED: dict[str, dict[str, Any]] = {"AggregateSelector": {"selectors": _RANKERS}}

# Budgets of the runs with defaults, where an estimator has such a parameter.
CAPS: dict[str, Any] = {"n_estimators": 15, "n_candidates": 24, "population": 8, "n_iterations": 30}
CAPS |= {"epochs": 10}


def default_specs() -> list[Spec]:
    """Return every public estimator with its defaults."""
    found = []
    for name in sorted(foresift.__all__):
        make = getattr(foresift, name)
        if inspect.isclass(make) and hasattr(make, "fit"):
            known = inspect.signature(make).parameters
            capped = {key: value for key, value in CAPS.items() if key in known}
            found.append(Spec(name, **REQUIRED.get(name, {}), **capped))
    return found


def specs() -> list[Spec]:
    """Return every public estimator with its defaults, and the variants."""
    return default_specs() + [Spec(name, **given) for name, some in VARIANTS.items() for given in some]


def too_slow(spec: Spec, table: str) -> bool:
    """Whether it is a search that takes minutes: down from 300 columns, or with a slow model."""
    if table != "wide":
        return False
    if spec.name == "ContributionSelector":
        return "estimator" in spec.parameters
    own_tree_forward = spec.parameters.get("direction") == "forward" and spec.parameters["estimator"] is _TREE
    return spec.name == "SequentialSelector" and not own_tree_forward
