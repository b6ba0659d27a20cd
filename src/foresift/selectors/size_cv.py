"""How many of the best-ranked columns to keep: cross-validation, and the one-standard-error rule."""

from __future__ import annotations

import numbers
import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import StratifiedKFold

from foresift.data.folds import Fold
from foresift.data.sklearn_compat import require_classifier, seeded
from foresift.data.slices import splits_of, take_rows
from foresift.data.table import Table
from foresift.models.forests import SiftForestClassifier
from foresift.models.scorer import PlainScorer, StoreScorer, SubsetScorer, takes_store
from foresift.models.subset_models import fit_plain

__all__ = ["SizeCurve", "SubsetSizeCV", "choose_size", "sizes_for"]

_MANY = 20  # up to so many columns every size is tried; of more, about so many sizes


@dataclass(frozen=True, eq=False)
class SizeCurve:
    """How well a classifier does with the best 1, 2, 3 ... columns, on rows that did not help to rank them.

    Attributes
    ----------
    sizes : ndarray of shape (n_sizes,)
        Numbers of columns, ascending.
    scores : ndarray of shape (n_folds, n_sizes)
        The score of every fold, higher is better.
    chosen : int
        The size that the rule takes.

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

    In every fold the features are ranked on the training rows alone, and a classifier is fitted to the best
    1, 2, 3 ... of them and scored on the rows left out. The smallest size within one standard error of the
    best mean is taken; then the features are ranked on all rows. `n_features_to_select="cv"` is short for
    `SubsetSizeCV()`. Its parameters can be searched like those of any estimator: as
    `n_features_to_select__rule` of the selector, for instance.

    Parameters
    ----------
    estimator : classifier, default=None
        What is scored; None is a `SiftForestClassifier` of 100 trees that tries sqrt(p) columns per node.
    cv : int, splitter or iterable, default=5
        Folds: a number means stratified, shuffled ones.
    sizes : array-like of int, default=None
        The sizes to try. None tries all up to 20 columns, and of more about 20, spaced evenly on a
        logarithmic scale.
    scoring : str, callable or None, default=None
        A score of scikit-learn, higher is better; None is the accuracy. A metric
        counts rows by their weights.
    rule : {"one-se", "best"}, default="one-se"
        The smallest size within one standard error of the best, or the best.
    n_jobs : int, default=None
        Folds at once; -1 for all cores.
    random_state : int, default=0
        Deals the folds, and seeds selectors and classifiers whose own `random_state` is None.

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
        X: Any,
        y: ArrayLike,
        weights: NDArray[np.float64] | None,
        n_columns: int,
        table: Table | None = None,
    ) -> SizeCurve:
        """Score the sizes for a selector; rows of weight 0 are not there.

        With a `table` of the same rows, of a selector that takes it, nothing is coded again; X and y may then
        be None.
        """
        if self.rule not in ("one-se", "best"):
            raise ValueError(f'rule must be "one-se" or "best", but is {self.rule!r}.')
        estimator = self.estimator
        if estimator is None:
            estimator = SiftForestClassifier(max_features="sqrt")
        require_classifier(estimator, "SubsetSizeCV")
        sizes = self._sizes(n_columns)
        if isinstance(self.scoring, list | tuple | set | dict):
            raise ValueError("scoring must be one score, by which the sizes are compared, not several.")
        scoring = "accuracy" if self.scoring is None else self.scoring
        check_scoring(estimator, scoring)
        if table is not None and takes_store(estimator, scoring) and _read_alike(selector, estimator):
            X = None
        elif table is not None and X is None:
            X = table.numbers()
        data = _Data(X, np.asarray(y).ravel() if table is None else table.target.values(), weights, table)
        if weights is not None and not weights.all():
            data = data.take(np.flatnonzero(weights))
        models = (seeded(clone(selector), self.random_state), seeded(clone(estimator), self.random_state))
        rows = self._folds(data.labels)
        # What is coded stays in this process.
        scores = Parallel(n_jobs=self.n_jobs, require=None if table is None else "sharedmem")(
            delayed(_score_fold)(*models, data.take(np.concatenate(fold)), len(fold[0]), sizes, scoring)
            for fold in rows
        )
        curve = SizeCurve(sizes, np.array(scores), 0)
        if not np.isfinite(curve.scores).all():
            raise ValueError(
                "The scorer returned NaN for some fold: a class may be missing there. Use fewer folds, or"
                " another score."
            )
        return SizeCurve(sizes, curve.scores, choose_size(curve, self.rule))

    def _sizes(self, n_columns: int) -> NDArray[np.intp]:
        if self.sizes is None:
            return sizes_for(n_columns)
        sizes = np.asarray(self.sizes)
        if sizes.ndim != 1 or not len(sizes) or sizes.dtype.kind not in "iu" or sizes.min() < 1:
            raise ValueError(f"sizes must be a list of whole numbers of at least 1, but is {self.sizes!r}.")
        sizes = np.unique(sizes)
        if sizes[-1] > n_columns:
            raise ValueError(f"sizes goes up to {sizes[-1]}, but X has {n_columns} columns: leave those out.")
        return sizes.astype(np.intp)

    def _folds(self, labels: NDArray[Any]) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        cv = self.cv
        if isinstance(cv, numbers.Integral):
            least = np.unique(labels, return_counts=True)[1].min()
            if least < cv:
                raise ValueError(
                    f"The rarest class has {least} rows, fewer than the {cv} folds that choose the number of"
                    " features: set n_features_to_select to a number or to SubsetSizeCV(cv=...) with fewer"
                    " folds, or drop or merge such classes."
                )
            cv = StratifiedKFold(int(cv), shuffle=True, random_state=self.random_state)
        folds = list(splits_of(cv, labels))
        n_classes = len(np.unique(labels))
        if any(len(np.unique(labels[train])) < n_classes for train, _ in folds):
            raise ValueError(
                "A fold has no training rows of some class: use stratified folds (cv as a number), or fewer."
            )
        if len(folds) < 2:
            raise ValueError("cv must make at least two folds, so that there is a standard error.")
        return folds


def sizes_for(n_columns: int) -> NDArray[np.intp]:
    """Sizes that are tried where none are told: each of few columns, of many ever fewer.

    Examples
    --------
    >>> sizes_for(4), sizes_for(1000)[-3:], len(sizes_for(1000))
    (array([1, 2, 3, 4]), array([ 483,  695, 1000]), 19)
    """
    if n_columns <= _MANY:
        return np.arange(1, n_columns + 1)
    return np.unique(np.geomspace(1, n_columns, _MANY).round().astype(np.intp))


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


@dataclass(frozen=True, eq=False)
class _Data:
    """Rows: selectors take the table, or X if that is None; classifiers X, or the table if that is None."""

    X: Any
    labels: NDArray[Any]
    weights: NDArray[np.float64] | None
    table: Table | None

    def take(self, rows: NDArray[np.intp]) -> _Data:
        weights = None if self.weights is None else self.weights[rows]
        table = None if self.table is None else self.table.take_rows(rows)
        X = None if self.X is None else take_rows(self.X, rows)
        return _Data(X, self.labels[rows], weights, table)

    def fit(self, selector: Any) -> Any:
        if self.table is not None:
            return selector.fit_table(self.table, self.weights)
        return fit_plain(selector, self.X, self.labels, self.weights)


def _score_fold(
    selector: Any, estimator: Any, data: _Data, n_train: int, sizes: NDArray[np.intp], scoring: Any
) -> list[float]:
    """Rank the columns on the first rows, and score the best of them on the others."""
    fold = Fold(np.arange(n_train), np.arange(n_train, len(data.labels)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what there is to say, the fit to all rows will say
        ranked = data.take(fold.train).fit(clone(selector).set_params(n_features_to_select=1.0))
        best = [np.flatnonzero(ranked.subset_of_size(size)) for size in sizes.tolist()]
    how: dict[str, Any] = {"scoring": scoring, "n_jobs": 1}
    scorer: SubsetScorer
    if data.X is None:
        assert data.table is not None
        scorer = StoreScorer(estimator, data.table, data.weights, [fold], **how)
    else:
        schema = None if data.table is None else data.table.schema
        scorer = PlainScorer(estimator, data.X, data.labels, schema, data.weights, [fold], **how)
    return [score for (score,) in scorer.judge([(tuple(c.tolist()), 0, [fold.test]) for c in best])]


def _read_alike(selector: Any, estimator: Any) -> bool:
    """Whether a classifier would code X as the selector has."""
    for name, usual in (("categorical_features", "from_dtype"), ("max_bins", 65_536)):
        read = [getattr(model, name, usual) for model in (selector, estimator)]
        if not all(value is None or isinstance(value, str | int) for value in read) or read[0] != read[1]:
            return False  # lists of columns count where they stand
    return True
