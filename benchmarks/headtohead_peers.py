"""The methods of the comparison: foresift's, and those of other packages as their documentation uses them.

Every method takes numbers or a data frame, the target, the task, a seed and, where it needs one, the number
of columns to keep, and returns a mask of the selected columns. All run on one thread. Rates are 0.1 where a
method has one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import (
    RFECV,
    SelectFdr,
    SelectFromModel,
    f_classif,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
)
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from foresift import AggregateSelector, ForestGainSelector, MutualInfoSelector, RelevanceSelector, select

ALPHA = 0.1
SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)  # that are tried for methods without a rule of their own

Run = Callable[[Any, np.ndarray, str, int, int | None], np.ndarray]


@dataclass(frozen=True)
class Method:
    """A method, and where it is run.

    `is_told` says that in made tables it is given the number of relevant columns, since it has no rule of its
    own; it then has an advantage and is not judged. `two_classes` says that it takes no more than two.
    `tables` are those of a cell at most, by what one costs.
    """

    run: Run
    package: str
    tables: int = 10
    max_p: int = 10**6
    is_told: bool = False
    two_classes: bool = False

    @property
    def is_ours(self) -> bool:
        """Whether it is foresift's: it gets data frames as they are, others get numbers."""
        return self.package == "foresift"

    @property
    def version(self) -> str | None:
        """Of the package; None if it is not installed."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


def forest(task: str, seed: int, n_trees: int = 100, **parameters: Any) -> Any:
    """scikit-learn's, with its defaults."""
    kind = RandomForestClassifier if task == "classification" else RandomForestRegressor
    return kind(n_trees, n_jobs=1, random_state=seed, **parameters)


def folds(task: str, seed: int) -> Any:
    """Five, stratified by class."""
    kind = StratifiedKFold if task == "classification" else KFold
    return kind(5, shuffle=True, random_state=seed)


def first_by_cv(order: np.ndarray, X: np.ndarray, y: np.ndarray, task: str, seed: int) -> np.ndarray:
    """The first columns of a ranking: as many as a forest predicts best with, in five folds."""
    sizes = [size for size in SIZES if size < len(order)] + [len(order)]
    scores = [
        cross_val_score(forest(task, seed), X[:, order[:size]], y, cv=folds(task, seed)).mean()
        for size in sizes
    ]
    return mask_of(order[: sizes[int(np.argmax(scores))]], X)


def mask_of(columns: Any, X: Any) -> np.ndarray:
    return np.isin(np.arange(np.shape(X)[1]), np.asarray(columns, dtype=int))


# --- foresift -----------------------------------------------------------------------------------


def by_select(X: Any, y: np.ndarray, task: str, seed: int, k: int | None) -> np.ndarray:
    """All defaults, with the check, which chooses the number of columns."""
    found = select(X, y, task=task, alpha=ALPHA, random_state=seed)
    names = list(X) if hasattr(X, "columns") else [f"x{j}" for j in range(X.shape[1])]
    return np.isin(names, found.features)


def relevance(X: Any, y: np.ndarray, task: str, seed: int, k: int | None) -> np.ndarray:
    """The columns that pass; the best column, which `support_` keeps if none passes, is left out."""
    return RelevanceSelector(task=task, alpha=ALPHA, random_state=seed).fit(X, y).relevant_


def mrmr(X: Any, y: np.ndarray, task: str, seed: int, k: int | None) -> np.ndarray:
    """It stops by its own rule."""
    return MutualInfoSelector(scheme="mrmr", task=task, random_state=seed).fit(X, y).support_


def aggregate(X: Any, y: np.ndarray, task: str, seed: int, k: int | None) -> np.ndarray:
    """What at least two of three selectors keep, each by its own rule."""
    selectors = [
        RelevanceSelector(task=task, alpha=ALPHA),
        ForestGainSelector(task=task, bound="exact", max_features="sqrt", n_estimators=500),
        MutualInfoSelector(scheme="mrmr", task=task),
    ]
    return AggregateSelector(selectors, rule="vote", task=task, random_state=seed).fit(X, y).support_


# --- others -------------------------------------------------------------------------------------


def boruta(X: np.ndarray, y: np.ndarray, task: str, seed: int, k: int | None) -> np.ndarray:
    """As its authors recommend; tentative columns are left out."""
    from boruta import BorutaPy

    balanced = {"class_weight": "balanced"} if task == "classification" else {}
    return (
        BorutaPy(forest(task, seed, max_depth=5, **balanced), n_estimators="auto", random_state=seed)
        .fit(X, y)
        .support_
    )


def ipss_gb(X: np.ndarray, y: np.ndarray, task: str, seed: int, k: int | None) -> np.ndarray:
    return _ipss(X, y, task, seed, "gb")


def ipss_rf(X: np.ndarray, y: np.ndarray, task: str, seed: int, k: int | None) -> np.ndarray:
    return _ipss(X, y, task, seed, "rf")


def _ipss(X: np.ndarray, y: np.ndarray, task: str, seed: int, selector: str) -> np.ndarray:
    from ipss import ipss

    np.random.seed(seed)  # noqa: NPY002 it has no seed of its own
    quantity = task == "regression"
    return mask_of(ipss(X, y, selector, target_fdr=ALPHA, force_regression=quantity)["selected_features"], X)


def knockoffs(X: np.ndarray, y: np.ndarray, task: str, seed: int, k: int | None) -> np.ndarray:
    return _knockoffs(X, y, seed, "lasso")


def knockoffs_rf(X: np.ndarray, y: np.ndarray, task: str, seed: int, k: int | None) -> np.ndarray:
    return _knockoffs(X, y, seed, "randomforest")


def _knockoffs(X: np.ndarray, y: np.ndarray, seed: int, statistic: str) -> np.ndarray:
    """Gaussian model-X knockoffs; the covariance is estimated (Ledoit & Wolf), as by default."""
    from knockpy import KnockoffFilter

    np.random.seed(seed)  # noqa: NPY002 it has no seed of its own
    return KnockoffFilter(fstat=statistic, ksampler="gaussian").forward(X=X, y=y, fdr=ALPHA).astype(bool)


def mrmr_selection(X: np.ndarray, y: np.ndarray, task: str, seed: int, k: int | None) -> np.ndarray:
    import pandas as pd
    from mrmr import mrmr_classif, mrmr_regression

    search = mrmr_classif if task == "classification" else mrmr_regression
    order = search(pd.DataFrame(X), pd.Series(y), K=k or X.shape[1], n_jobs=1, show_progress=False)
    return mask_of(order, X) if k else first_by_cv(np.array(order), X, y, task, seed)


def mutual_info(X: np.ndarray, y: np.ndarray, task: str, seed: int, k: int | None) -> np.ndarray:
    """scikit-learn's estimate by nearest neighbours, which has no p-value."""
    estimate = mutual_info_classif if task == "classification" else mutual_info_regression
    order = np.argsort(-estimate(X, y, random_state=seed), kind="stable")
    return mask_of(order[:k], X) if k else first_by_cv(order, X, y, task, seed)


def f_test(X: np.ndarray, y: np.ndarray, task: str, seed: int, k: int | None) -> np.ndarray:
    """With Benjamini & Hochberg's procedure."""
    test = f_classif if task == "classification" else f_regression
    return SelectFdr(test, alpha=ALPHA).fit(X, y).get_support()


def rfecv(X: np.ndarray, y: np.ndarray, task: str, seed: int, k: int | None) -> np.ndarray:
    """A tenth of the columns at a time, at least one."""
    search = RFECV(forest(task, seed), step=0.1, cv=folds(task, seed), n_jobs=1)
    return search.fit(X, y).support_


def lightgbm(X: np.ndarray, y: np.ndarray, task: str, seed: int, k: int | None) -> np.ndarray:
    """Importance above the mean."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMClassifier if task == "classification" else LGBMRegressor
    return SelectFromModel(kind(n_jobs=1, verbose=-1, random_state=seed)).fit(X, y).get_support()


def probes(X: np.ndarray, y: np.ndarray, task: str, seed: int, k: int | None) -> np.ndarray:
    """One normal probe and a forest, as in its user guide."""
    import pandas as pd
    from feature_engine.selection import ProbeFeatureSelection

    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    scoring = "accuracy" if task == "classification" else "r2"
    selector = ProbeFeatureSelection(forest(task, seed), scoring=scoring, n_probes=1, random_state=seed)
    return np.array(selector.fit(frame, pd.Series(y)).get_support())


def all_columns(X: Any, y: np.ndarray, task: str, seed: int, k: int | None) -> np.ndarray:
    """No selection, for the scores of the classic tables."""
    return np.ones(np.shape(X)[1], dtype=bool)


# Judged by all tables of a cell: foresift's test and the fastest peer. The closest rival has 20, methods that
# take more than about 10 s for a table have five.
METHODS: dict[str, Method] = {
    "all": Method(all_columns, "scikit-learn"),
    "relevance": Method(relevance, "foresift", tables=300),
    "select": Method(by_select, "foresift", tables=20),
    "mrmr": Method(mrmr, "foresift"),
    "aggregate": Method(aggregate, "foresift"),
    "boruta": Method(boruta, "boruta", tables=5, max_p=500),
    "ipss-gb": Method(ipss_gb, "ipss", tables=20, two_classes=True),
    "ipss-rf": Method(ipss_rf, "ipss", tables=5, two_classes=True),
    "knockoffs": Method(knockoffs, "knockpy", tables=5, max_p=1000, two_classes=True),
    "knockoffs-rf": Method(knockoffs_rf, "knockpy", max_p=500, two_classes=True),
    "f-test": Method(f_test, "scikit-learn", tables=300),
    "rfecv": Method(rfecv, "scikit-learn", tables=5, max_p=100),
    "lightgbm": Method(lightgbm, "lightgbm"),
    "probes": Method(probes, "feature-engine", tables=5),
    "mrmr-selection": Method(mrmr_selection, "mrmr-selection", is_told=True),
    "mutual-info": Method(mutual_info, "scikit-learn", max_p=1000, is_told=True),
}
