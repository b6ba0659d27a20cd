"""Every method on a table of noise: compared scores are chance, unless the selection saw the test rows.

python benchmarks/leaks.py F.sqlite [--quantity] [--rows 200] [--columns 1000] [--splits 10] [--only A,B]
    [--jobs 1]

With --quantity the target is a number, and chance is an R2 of 0 or less, for methods that take one.
Results are kept in the store: a run that was stopped goes on. "leaky" is a selection on all rows, before they
are split: what a leak looks like. With --quick the methods are those of tests/evaluation/test_leaks.py.
"""

import argparse

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin, f_classif, f_regression

from foresift import (
    BestRankerSelector,
    CartClassifier,
    CartRegressor,
    ContributionSelector,
    FeatureBoostingSelector,
    ForestGainSelector,
    FScoreSelector,
    GEFSSelector,
    InfoGainSelector,
    RelevanceSelector,
    SequentialSelector,
    compare,
)
from foresift.evaluation.compare import make_method
from foresift.evaluation.registry import METHODS

SIZES = (5, 20)
LEAKY = "leaky"


class Among(SelectorMixin, BaseEstimator):
    """A search among the columns of the highest F scores, which are found in the same training rows."""

    def __init__(self, search, n_columns):
        self.search = search
        self.n_columns = n_columns

    def fit(self, X, y):
        """Filter, then search."""
        columns = FScoreSelector(self.n_columns).fit(X, y).get_support(indices=True)
        found = clone(self.search).fit(X[:, columns], y)
        self.scores_ = np.full(X.shape[1], -1.0)
        self.scores_[columns] = found.scores_
        self.support_ = np.isin(np.arange(X.shape[1]), columns[found.get_support()])
        return self

    def _get_support_mask(self):
        return self.support_


class Leaky(SelectorMixin, BaseEstimator):
    """The mistake: columns chosen by the F scores of all rows."""

    def __init__(self, scores):
        self.scores = scores

    def fit(self, X, y):
        """Learn nothing: the choice was made before."""
        self.scores_ = self.scores
        return self

    def _get_support_mask(self):
        return self.scores_ >= np.sort(self.scores_)[-10]


def noise(rows, columns, *, quantity=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    return X, rng.normal(size=rows) if quantity else rng.permutation(np.arange(rows) % 2)


def methods_for(quantity):
    return [
        key for key, method in METHODS.items() if method.takes("regression" if quantity else "classification")
    ]


def selectors(keys, *, quick=False, quantity=False):
    """Selectors by key: as `foresift compare` makes them, but for those that would take hours.

    Searches judge sets by trees of depth 3, add up to 20 columns, or begin with the best by F score;
    contributions are looked at again after every tenth of the columns.
    """
    tree = (CartRegressor if quantity else CartClassifier)(max_depth=2 if quick else 3)
    cv, most = (2, 5) if quick else (3, 20)

    def search(direction, n=None):
        return SequentialSelector(tree, n, direction=direction, cv=cv)

    lighter = {
        "sfs": search("forward", most),
        "plus-minus": search("plus-minus", most),
        "sbs": Among(search("backward"), 20 if quick else 60),
        "exhaustive": Among(search("exhaustive"), 7 if quick else 10),
        "contribution": ContributionSelector(step=0.1),
    }
    if quick:
        lighter |= {
            "forest-gain": ForestGainSelector(n_estimators=20),
            "relevance": RelevanceSelector(n_estimators=10, interactions=False),
            "gefs": GEFSSelector(population=5, n_candidates=20, epochs=3),
            "feature-boosting": FeatureBoostingSelector(n_iterations=10),
            "best": BestRankerSelector([FScoreSelector(), InfoGainSelector()], estimator=tree, cv=3),
            "contribution": ContributionSelector(step=0.2, n_estimators=10),
        }
    return {key: lighter[key] if key in lighter else make_method(key) for key in keys}


def compared(keys, X, y, *, store, sizes=("own", *SIZES), splits=10, quick=False, **options):
    """Compare methods on noise, by naive Bayes or ridge regression, with one that leaks among them."""
    quantity = y.dtype.kind == "f"
    leaky = Leaky((f_regression if quantity else f_classif)(X, y)[0])
    methods = selectors(keys, quick=quick, quantity=quantity) | {LEAKY: leaky}
    model = "ridge" if quantity else "nb"
    return compare(X, y, methods, [model], sizes=sizes, cv=0.3, repeats=splits, store=store, **options)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("store")
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--only")
    parser.add_argument("--quantity", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    X, y = noise(given.rows, given.columns, quantity=given.quantity)
    found = compared(
        given.only.split(",") if given.only else methods_for(given.quantity),
        X,
        y,
        store=given.store,
        splits=given.splits,
        quick=given.quick,
        n_jobs=given.jobs,
        name="noise of a quantity" if given.quantity else "noise",
        progress=True,
    )
    print(
        f"| method | own columns | {found.about['scoring'][0]} with them |",
        *(f" with {k} |" for k in SIZES),
        sep="",
    )
    print("|" + " --- |" * (3 + len(SIZES)))
    for method in dict.fromkeys(row.method for row in found.rows):
        rows = {row.size: row for row in found.rows if row.method == method}
        own = rows.get("own") or rows["all"]
        cells = [method, f"{own.n_features:g}", interval(own)]
        cells += [interval(rows[str(k)]) if str(k) in rows else "" for k in SIZES]
        print("| " + " | ".join(cells) + " |")
    honest = [row for row in found.rows if row.method != LEAKY]
    chance = 0.0 if given.quantity else 0.5
    above = [f"{row.method}, {row.size}" for row in honest if row.lower > chance]
    print(
        f"\n{len(honest) - len(above)} of {len(honest)} intervals reach down to chance; the others: {above}"
    )
    for failure in found.failures:
        print(failure)


def interval(row):
    return f"{row.mean:.3f} ({row.lower:.3f} to {row.upper:.3f})"


if __name__ == "__main__":
    main()
