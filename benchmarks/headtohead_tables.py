"""The classic tables of the comparison: splits, preparation and the models that score a selection.

Selectors see the training rows alone. Three models of scikit-learn then learn from the selected columns of
these rows, and are scored on the test rows: a forest, a linear model and nearest neighbours.
"""

from __future__ import annotations

import warnings
from functools import cache, lru_cache
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, balanced_accuracy_score, r2_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from foresift.data.slices import take_rows
from foresift.datasets import available, load

N_FOLDS = 5
MAX_ROWS = 1000  # of larger tables so many are drawn
N_STRATA = 10  # folds of a quantity are stratified by tenths
MODELS = ("forest", "linear", "neighbours")


@cache
def tables() -> dict[str, str]:
    """Tasks of the tables that are there, the smallest table first; without a folder there are none."""
    sizes = {}
    for task in ("classification", "regression"):
        for place in available(task=task):
            if place.file:
                sizes[place.name] = (min(place.rows, MAX_ROWS) * place.features, task)
    return {name: task for name, (_, task) in sorted(sizes.items(), key=lambda item: item[1])}


@cache
def data_of(name: str) -> tuple[Any, np.ndarray]:
    """X, and the codes of the classes or the quantity."""
    X, y = load(name, download=False)
    if tables()[name] == "classification":
        y = np.unique(y, return_inverse=True)[1]
    drawn = np.sort(np.random.default_rng(0).permutation(len(y))[:MAX_ROWS])
    return take_rows(X, drawn), y[drawn]


def split_of(name: str, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Training and test rows: the folds of one repeat, then those of the next."""
    _, y = data_of(name)
    strata = y
    if tables()[name] == "regression":
        strata = np.searchsorted(np.quantile(y, np.arange(1, N_STRATA) / N_STRATA), y)
    repeat, fold = divmod(number, N_FOLDS)
    splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a class with fewer rows than folds
        return list(splitter.split(np.zeros(len(y)), strata))[fold]


def as_numbers(X: Any) -> np.ndarray:
    """For selectors that take numbers alone: codes of categories, and the median for what is missing."""
    columns = [_codes(X[name]) if _is_nominal(X[name]) else np.asarray(X[name], float) for name in X]
    values = np.array(columns).T
    medians = np.nan_to_num(np.nanmedian(values, axis=0))
    return np.where(np.isnan(values), medians, values)


def _is_nominal(column: Any) -> bool:
    return str(column.dtype) in ("category", "object", "str", "string", "bool")


def _codes(column: Any) -> np.ndarray:
    codes = column.astype("category").cat.codes.to_numpy().astype(float)
    return np.where(codes < 0, np.nan, codes)


def prepared(X: Any, model: Any, scaled: bool) -> Any:
    """A model behind what makes numbers of any column; `scaled` also standardises and makes indicators."""
    nominal = [name for name in X if _is_nominal(X[name])]
    numeric = [name for name in X if name not in nominal]
    median = SimpleImputer(strategy="median", keep_empty_features=True)
    if scaled:
        median = make_pipeline(median, StandardScaler())
        codes: Any = OneHotEncoder(handle_unknown="ignore")
    else:
        codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
    return make_pipeline(ColumnTransformer([("numeric", median, numeric), ("codes", codes, nominal)]), model)


def models_of(task: str, n_rows: int) -> dict[str, tuple[Any, bool]]:
    """The models, and whether they need scaled columns."""
    n_near = min(5, n_rows)
    if task == "classification":
        return {
            "forest": (RandomForestClassifier(100, n_jobs=1, random_state=0), False),
            "linear": (LogisticRegression(max_iter=1000), True),
            "neighbours": (KNeighborsClassifier(n_near), True),
        }
    return {
        "forest": (RandomForestRegressor(100, n_jobs=1, random_state=0), False),
        "linear": (Ridge(), True),
        "neighbours": (KNeighborsRegressor(n_near), True),
    }


@lru_cache(maxsize=64)
def scores(name: str, number: int, columns: tuple[int, ...]) -> dict[str, list[float]]:
    """Accuracy and balanced accuracy of each model, or R2; without columns those of the best constant."""
    X, y = data_of(name)
    train, test = split_of(name, number)
    task = tables()[name]
    found = {}
    for key, (model, scaled) in models_of(task, len(train)).items():
        if not columns:
            model = DummyClassifier() if task == "classification" else DummyRegressor()
            predicted = model.fit(np.zeros((len(train), 1)), y[train]).predict(np.zeros((len(test), 1)))
        else:
            some = X.iloc[:, list(columns)]
            predicted = prepared(some, model, scaled).fit(some.iloc[train], y[train]).predict(some.iloc[test])
        found[key] = [round(value, 5) for value in _score(task, y[test], predicted)]
    return found


def _score(task: str, y: np.ndarray, predicted: np.ndarray) -> list[float]:
    if task == "regression":
        return [float(r2_score(y, predicted))]
    return [float(accuracy_score(y, predicted)), float(balanced_accuracy_score(y, predicted))]
