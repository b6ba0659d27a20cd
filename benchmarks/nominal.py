"""Forests on tables with columns of many categories, with `correct_nominal` on and off.

    python benchmarks/nominal.py [--tables 10] [--trees 100]

Mean accuracy in 5 folds of generated tables; beside it scikit-learn's forest with categories as ordinal codes
and as indicators. Then tables with few categories, where nothing may change. The best possible accuracy of
the first two tables is 0.852 and 0.750. docs/guide/classifiers.md shows the results.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from common import Results
from numpy.typing import NDArray
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from foresift import SiftForestClassifier, datasets

FEW_CATEGORIES = ("kr-vs-kp", "splice", "soybean", "mushroom")

Made = tuple[pd.DataFrame, NDArray[Any]]


def category(codes: NDArray[Any]) -> pd.Categorical:
    """Codes as the values of a nominal column."""
    return pd.Categorical([f"v{code}" for code in codes])


def frame(numbers: NDArray[Any], **nominal: NDArray[Any]) -> pd.DataFrame:
    """A table of numbers and of nominal columns."""
    columns = {f"x{j}": column for j, column in enumerate(numbers.T)}
    return pd.DataFrame(columns | {name: category(codes) for name, codes in nominal.items()})


def nearly_unique(rng: np.random.Generator, noise: float) -> Made:
    """One number and three columns drawn from 700 values, which mean nothing."""
    x = rng.normal(size=(800, 1))
    y = x[:, 0] + noise * rng.normal(size=800) > 0
    return frame(x, **{f"c{j}": rng.integers(700, size=800) for j in range(3)}), y


def identifiers(rng: np.random.Generator) -> Made:
    """Four numbers, a number of the row and one of the customer, who has three rows."""
    x = rng.normal(size=(1000, 4))
    y = x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size=1000) > 0
    return frame(x, row=rng.permutation(1000), customer=rng.integers(333, size=1000)), y


def postcodes(rng: np.random.Generator) -> Made:
    """Three numbers, and 1,000 postcodes of 10 regions, which matter."""
    region, code = rng.integers(10, size=1000), rng.integers(1000, size=2000)
    x = rng.normal(size=(2000, 3))
    y = np.linspace(-1.5, 1.5, 10)[region[code]] + x[:, 0] + rng.normal(size=2000) > 0
    return frame(x, postcode=code), y


def words(rng: np.random.Generator) -> Made:
    """Three numbers and two columns of words, few of them frequent; the two most frequent of one matter."""
    word = np.minimum(rng.zipf(1.5, size=(1000, 2)), 5000)
    x = rng.normal(size=(1000, 3))
    effect = 0.8 * (word[:, 0] == 1) - 0.8 * (word[:, 0] == 2)
    return frame(x, first=word[:, 0], second=word[:, 1]), x[:, 0] + effect + 0.7 * rng.normal(size=1000) > 0.2


def fifty(rng: np.random.Generator) -> Made:
    """Three numbers, one column of 50 categories that matter, and one of 50 that do not."""
    code, x = rng.integers(50, size=1000), rng.normal(size=(1000, 3))
    y = rng.normal(size=50)[code] + 0.7 * x[:, 0] + 0.7 * rng.normal(size=1000) > 0
    return frame(x, informative=code, noise=rng.integers(50, size=1000)), y


def three_classes(rng: np.random.Generator) -> Made:
    """Three numbers, one column of 50 categories that matter, and one of 300 that do not."""
    code, x = rng.integers(50, size=1500), rng.normal(size=(1500, 3))
    y = (2 * rng.normal(size=(50, 3))[code] + x + rng.normal(size=(1500, 3))).argmax(axis=1)
    return frame(x, informative=code, noise=rng.integers(300, size=1500)), y


TABLES: dict[str, Callable[[np.random.Generator], Made]] = {
    "3 x 700 values, noise 0.5": lambda rng: nearly_unique(rng, 0.5),
    "3 x 700 values, noise 1": lambda rng: nearly_unique(rng, 1.0),
    "identifiers": identifiers,
    "1,000 postcodes, 10 regions": postcodes,
    "words": words,
    "50 informative": fifty,
    "50 informative, 3 classes": three_classes,
}


def peer(coder: Any, max_features: str | None, trees: int, seed: int) -> Any:
    """scikit-learn's forest."""
    nominal = make_column_selector(dtype_include="category")
    forest = RandomForestClassifier(trees, max_features=max_features, random_state=seed)
    return make_pipeline(make_column_transformer((coder, nominal), remainder="passthrough"), forest)


def models(trees: int, seed: int) -> dict[str, Any]:
    """What is compared."""

    def own(on: bool, max_features: str | None) -> Any:
        return SiftForestClassifier(trees, correct_nominal=on, max_features=max_features, random_state=seed)

    ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return {
        "off": own(False, "sqrt"),
        "on": own(True, "sqrt"),
        "off, all": own(False, None),
        "on, all": own(True, None),
        "ordinal": peer(ordinal, "sqrt", trees, seed),
        "ordinal, all": peer(ordinal, None, trees, seed),
        "indicators": peer(OneHotEncoder(handle_unknown="ignore"), "sqrt", trees, seed),
    }


def compare_made(n_tables: int, trees: int) -> None:
    """Print accuracies on generated tables, with the standard error of on less off, and the time it takes."""
    names = tuple(models(trees, 0))
    shown = Results("Accuracy; max_features: sqrt, or all", ("table", *names, "on - off", "time"))
    for title, make in TABLES.items():
        scores, taken = np.zeros((n_tables, len(names))), np.zeros(len(names))
        for seed in range(n_tables):
            X, y = make(np.random.default_rng(seed))
            folds = StratifiedKFold(5, shuffle=True, random_state=seed)
            for k, model in enumerate(models(trees, seed).values()):
                start = time.process_time()
                scores[seed, k] = cross_val_score(model, X, y, cv=folds).mean()
                taken[k] += time.process_time() - start
        gain = scores[:, 1] - scores[:, 0]
        error = gain.std(ddof=1) / np.sqrt(n_tables)
        means = (f"{mean:.3f}" for mean in scores.mean(axis=0))
        shown.add_row(title, *means, f"{gain.mean():+.3f} ({error:.3f})", f"x {taken[1] / taken[0]:.1f}")
    shown.show()


def compare_few_categories(trees: int) -> None:
    """Print whether forests on tables with few categories are the same to the last bit, in 10 x 10 folds."""
    shown = Results("Probabilities in 10 x 10 folds", ("table", "most categories", "on equals off"))
    for name in FEW_CATEGORIES:
        X, y = datasets.load(name)
        most = max((X[c].nunique() for c in X if X[c].dtype == "category"), default=0)
        equal = []
        for repeat in range(10):
            for train, test in StratifiedKFold(10, shuffle=True, random_state=repeat).split(X, y):
                on, off = (
                    SiftForestClassifier(trees, correct_nominal=switch, random_state=repeat)
                    .fit(X.iloc[train], y[train])
                    .predict_proba(X.iloc[test])
                    for switch in (True, False)
                )
                equal.append(np.array_equal(on, off))
        shown.add_row(name, str(most), f"{sum(equal)} of {len(equal)}")
    shown.show()


def main() -> None:
    """Compare, and print tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--trees", type=int, default=100)
    options = parser.parse_args()
    compare_made(options.tables, options.trees)
    compare_few_categories(min(options.trees, 20))


if __name__ == "__main__":
    main()
