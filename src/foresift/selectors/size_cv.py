"""How many of the best-ranked columns to keep: cross-validation, and the one-standard-error rule."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone

from foresift.data.folds import make_folds
from foresift.data.plain_state import saved
from foresift.data.sklearn_compat import require_model, seed_of, seeded
from foresift.data.slices import take_rows
from foresift.data.table import Table
from foresift.models.forests import default_forest
from foresift.models.scorer import make_subset_scorer
from foresift.models.subset_models import fit_plain
from foresift.selectors.units import Units

__all__ = ["MANY_SIZES", "SizeCurve", "SubsetSizeCV", "choose_size", "sizes_for"]

MANY_SIZES = 20  # up to this many columns every size is scored; of more, about this many sizes


@saved
@dataclass(frozen=True, eq=False)
class SizeCurve:
    """Scores of a classifier with the best 1, 2, 3 ... columns, on rows that the ranking did not use.

    Attributes
    ----------
    sizes : ndarray of shape (n_sizes,)
        Numbers of columns, ascending; a group of columns counts as one, and those kept by request not.
    scores : ndarray of shape (n_folds, n_sizes)
        The score of every fold, higher is better.
    chosen : int
        The size that the rule chooses.

    Examples
    --------
    >>> curve = SizeCurve(np.array([1, 2, 4]), np.array([[0.6, 0.79, 0.8], [0.8, 0.91, 0.9]]), 2)
    >>> curve.mean.round(2), curve.standard_error.round(2), curve.best
    (array([0.7 , 0.85, 0.85]), array([0.1 , 0.06, 0.05]), 2)
    """

    sizes: NDArray[np.intp]
    scores: NDArray[np.float64]
    chosen: int

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean score of every size."""
        return np.asarray(self.scores.mean(axis=0))

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """Standard error of the means over the folds."""
        return np.asarray(self.scores.std(axis=0, ddof=1) / np.sqrt(len(self.scores)))

    @property
    def best(self) -> int:
        """The size of the highest mean; of equal ones the smallest."""
        return int(self.sizes[_first_best(self.mean)])


@dataclass(eq=False)
class SubsetSizeCV(BaseEstimator):
    """Lets a selector choose its number of features by cross-validation (`n_features_to_select`).

    In every fold the features are ranked on the training rows alone, and a model is fitted to the best
    1, 2, 3 ... of them and scored on the test rows. The smallest size within one standard error of the
    best mean is chosen; then the features are ranked on all rows. `n_features_to_select="cv"` is short for
    `SubsetSizeCV()`. Its parameters can be searched like those of any estimator: as
    `n_features_to_select__rule` of the selector, for instance.

    Parameters
    ----------
    estimator : classifier or regressor, default=None
        The model; None is a `SiftForestClassifier` of 100 trees with sqrt(p) split candidates per node, for a
        quantity a `SiftForestRegressor`.
    cv : int, splitter or iterable, default=5
        Folds: a number means shuffled ones, stratified by class, that keep the groups of `fit` whole; with
        times, blocks of time.
    sizes : array-like of int, default=None
        The sizes to score. None scores all up to 20 columns, and of more about 20, spaced evenly on a
        logarithmic scale.
    scoring : str, callable or None, default=None
        A score of scikit-learn, higher is better; None is the accuracy, or R2 for a quantity. A metric counts
        rows by their weights.
    rule : {"one-se", "best"}, default="one-se"
        The smallest size within one standard error of the best, or the best.
    n_jobs : int, default=None
        Folds at once; -1 for all cores.
    random_state : int, default=0
        Assigns rows to folds, and seeds selectors and classifiers whose own `random_state` is None.

    Notes
    -----
    The score of the chosen size is not an honest estimate of how well the selection does, because it was
    chosen for it: cross-validate the whole pipeline, selector included.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from foresift import InfoGainSelector, SubsetSizeCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = InfoGainSelector(SubsetSizeCV(GaussianNB(), sizes=[1, 3, 10, 30])).fit(X, y)
    >>> selector.size_curve_.sizes, selector.size_curve_.chosen == int(selector.support_.sum())
    (array([ 1,  3, 10, 30]), True)
    """

    estimator: Any = None
    _: KW_ONLY
    cv: Any = 5
    sizes: ArrayLike | None = None
    scoring: Any = None
    rule: str = "one-se"
    n_jobs: int | None = None
    random_state: int = 0

    def curve(
        self,
        selector: Any,
        table: Table,
        weights: NDArray[np.float64] | None,
        X: Any = None,
        units: Units | None = None,
    ) -> SizeCurve:
        """Score the sizes for a selector that ranks all columns, or units; rows of weight 0 are left out.

        Columns that are kept by request are in every model, and not counted; the size 0 has nothing else.
        The table is coded as the selector reads X, and is not coded again. Classifiers and selectors that do
        not read codes get X, or without it numbers from the table.
        """
        on_codes = [selector.takes(table)]
        return self.curves([selector], on_codes, selector.reading_options, table, weights, X, units)[0]

    def curves(
        self,
        selectors: Sequence[Any],
        on_codes: Sequence[bool],
        read_as: dict[str, Any],
        table: Table,
        weights: NDArray[np.float64] | None,
        X: Any = None,
        units: Units | None = None,
    ) -> list[SizeCurve]:
        """Score the sizes for several selectors in the same folds; see `curve`.

        `on_codes` says which of them are fitted to the table instead of X, `read_as` how that was coded.
        Equal sets of columns are scored once.
        """
        sizes, estimator, seed = self._require(table, units)
        folds = make_folds(table, weights, self.cv, seed)
        if len(folds) < 2:
            raise ValueError("cv must make at least two folds, to estimate a standard error.")
        scorer = make_subset_scorer(
            seeded(clone(estimator), seed),
            X,
            table,
            weights,
            folds,
            scoring=self.scoring,
            n_jobs=self.n_jobs,
            read_as=read_as,
        )
        rankers = [seeded(clone(selector), seed) for selector in selectors]

        def best_of_each_size(ranker: Any, coded: bool, train: NDArray[np.intp]) -> list[tuple[int, ...]]:
            fitted, own = clone(ranker), None if weights is None else weights[train]
            if coded:
                fitted.fit_table(table.take_rows(train), own)
            else:
                some = None if table.dependence is None else table.dependence.take(train)
                fit_plain(fitted, take_rows(X, train), table.target.values(train), own, some)
            masks = [fitted.subset_of_size(size) for size in sizes.tolist()]
            return [tuple(np.flatnonzero(mask).tolist()) for mask in masks]

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the fit to all rows gives the same warnings
            # The codes stay in this process.
            ranked = Parallel(n_jobs=self.n_jobs, require="sharedmem")(
                delayed(best_of_each_size)(ranker, coded, fold.train)
                for ranker, coded in zip(rankers, on_codes, strict=True)
                for fold in folds
            )
        wanted = [(subset, at % len(folds)) for at, subsets in enumerate(ranked) for subset in subsets]
        different = list(dict.fromkeys(wanted))
        found = scorer.scores([(subset, k, [folds[k].test]) for subset, k in different])
        known = {task: scores[0] for task, scores in zip(different, found, strict=True)}
        scores = np.reshape([known[task] for task in wanted], (len(rankers), len(folds), len(sizes)))
        return [SizeCurve(sizes, one, choose_size(SizeCurve(sizes, one, 0), self.rule)) for one in scores]

    def _require(self, table: Table, units: Units | None) -> tuple[NDArray[np.intp], Any, int]:
        """Check the parameters; return the sizes, the model and the seed."""
        if self.rule not in ("one-se", "best"):
            raise ValueError(f'rule must be "one-se" or "best", but is {self.rule!r}.')
        estimator = default_forest(table.target.task) if self.estimator is None else self.estimator
        require_model(estimator, "SubsetSizeCV", table.target.task)
        least = int(units is None or not units.kept.any())
        plain = units is None or units.trivial
        which = "columns" if plain else "columns and groups that may be dropped"
        sizes = self._sizes(table.n_columns if units is None else units.n_free, least, which)
        if isinstance(self.scoring, list | tuple | set | dict):
            raise ValueError("scoring must be one score, by which the sizes are compared, not several.")
        fixed = isinstance(self.random_state, numbers.Integral)
        return sizes, estimator, int(self.random_state) if fixed else seed_of(self.random_state) % 2**32

    def _sizes(self, n_columns: int, least: int, which: str) -> NDArray[np.intp]:
        if self.sizes is None:
            return np.append(np.arange(least, 1), sizes_for(n_columns))
        sizes = np.asarray(self.sizes)
        if sizes.ndim != 1 or not len(sizes) or sizes.dtype.kind not in "iu" or sizes.min() < least:
            raise ValueError(
                f"sizes must be a list of whole numbers of at least {least}, but is {self.sizes!r}."
            )
        sizes = np.unique(sizes)
        if sizes[-1] > n_columns:
            raise ValueError(f"sizes goes up to {sizes[-1]}, but X has {n_columns} {which}: leave those out.")
        return sizes.astype(np.intp)


def sizes_for(n_columns: int, most: int = MANY_SIZES) -> NDArray[np.intp]:
    """Sizes that are scored by default: all of few columns, ever fewer of many, and at most so many.

    Examples
    --------
    >>> sizes_for(4), sizes_for(1000)[-3:], len(sizes_for(1000))
    (array([1, 2, 3, 4]), array([ 483,  695, 1000]), 19)
    """
    if n_columns <= most:
        return np.arange(1, n_columns + 1)
    return np.unique(np.geomspace(1, n_columns, most).round().astype(np.intp))


def choose_size(curve: SizeCurve, rule: str = "one-se") -> int:
    """Choose a size: the smallest within one standard error of the best mean, or the best.

    Examples
    --------
    >>> curve = SizeCurve(np.array([1, 2, 4]), np.array([[0.6, 0.79, 0.8], [0.8, 0.9, 0.9]]), 0)
    >>> choose_size(curve), choose_size(curve, "best")
    (2, 4)
    """
    at = _first_best(curve.mean)
    if rule == "one-se":
        within = curve.mean >= curve.mean[at] - curve.standard_error[at] - 1e-12
        at = int(within.argmax())
    return int(curve.sizes[at])


def _first_best(means: NDArray[np.float64]) -> int:
    return int((means >= means.max() - 1e-12).argmax())
