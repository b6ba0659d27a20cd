"""Feature boosting: a distribution over the features, learned from classifiers that use some of them."""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from foresift import _core
from foresift._sklearn import HasMethods, Interval, RealNotInt, StrOptions, seed_of, track
from foresift.c45 import C45Classifier
from foresift.members import TrainingRows, draw_rows, fit_member, open_training_rows
from foresift.ranking import RankingSelector
from foresift.sampling import draw_columns
from foresift.trees import CartClassifier

__all__ = ["FeatureBoostingSelector"]

_LEAST = 1e-9  # no weight falls below this share of the uniform one, so that every feature can come back
_MAX_PAIRED = 1_000  # columns; each pair of them has a weight, and time grows with the third power
_LOOKS = 10  # how often a pair is drawn on average, by default


class Weights(ABC):
    """A distribution over features or pairs: draws subsets, and learns how well they did."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.intp]:
        """Draw `size` features, in ascending order."""

    @abstractmethod
    def multiply(self, columns: NDArray[np.intp], factor: float) -> None:
        """Multiply the weight of what was drawn, and scale all weights to a sum of one."""

    @property
    @abstractmethod
    def of_features(self) -> NDArray[np.float64]:
        """The distribution over single features."""


class SingleWeights(Weights):
    """A weight for every feature (Table 3).

    Examples
    --------
    >>> weights = SingleWeights(4)
    >>> weights.multiply(np.array([0, 1]), 3.0)
    >>> weights.of_features
    array([0.375, 0.375, 0.125, 0.125])
    """

    def __init__(self, n_features: int) -> None:
        self._weights = np.full(n_features, 1 / n_features)

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.intp]:
        """Draw features one after another, without replacement."""
        return draw_columns(rng, self._weights, size)

    def multiply(self, columns: NDArray[np.intp], factor: float) -> None:
        """Multiply the weights of these features."""
        self._weights[columns] *= factor
        self._weights = _scaled(self._weights)

    @property
    def of_features(self) -> NDArray[np.float64]:
        """The weights."""
        return self._weights


class PairWeights(Weights):
    """A weight for every pair of features; that of a feature is the sum over its pairs.

    Examples
    --------
    >>> weights = PairWeights(3)
    >>> weights.multiply(np.array([0, 1]), 4.0)
    >>> weights.of_pairs
    array([[0.        , 0.66666667, 0.16666667],
           [0.66666667, 0.        , 0.16666667],
           [0.16666667, 0.16666667, 0.        ]])
    >>> weights.of_features
    array([0.41666667, 0.41666667, 0.16666667])
    """

    def __init__(self, n_features: int) -> None:
        self._first, self._second = np.triu_indices(n_features, 1)
        self._weights = np.full(len(self._first), 1 / len(self._first))
        self._n_features = n_features

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.intp]:
        """Draw pairs one after another until there are enough features; of the last perhaps either one."""
        n_pairs = min(len(self._weights), 2 * size)  # more than enough pairs, most often
        while True:
            with np.errstate(divide="ignore"):
                keys = rng.standard_exponential(len(self._weights)) / self._weights
            nearest = np.argpartition(keys, n_pairs - 1)[:n_pairs]
            nearest = nearest[np.argsort(keys[nearest])]
            ends = np.column_stack([self._first[nearest], self._second[nearest]])
            features = rng.permuted(ends, axis=1).ravel()
            distinct = features[np.sort(np.unique(features, return_index=True)[1])]
            if len(distinct) >= size:
                return np.sort(distinct[:size])
            n_pairs = min(len(self._weights), 2 * n_pairs)

    def multiply(self, columns: NDArray[np.intp], factor: float) -> None:
        """Multiply the weights of all pairs of these features."""
        i, j = np.triu_indices(len(columns), 1)
        first, second = columns[i], columns[j]
        # Pairs are numbered row by row of the upper triangle.
        at = first * (2 * self._n_features - first - 1) // 2 + second - first - 1
        self._weights[at] *= factor
        self._weights = _scaled(self._weights)

    @property
    def of_pairs(self) -> NDArray[np.float64]:
        """The weights, as a symmetric matrix with zeros on the diagonal."""
        matrix = np.zeros((self._n_features, self._n_features))
        matrix[self._first, self._second] = matrix[self._second, self._first] = self._weights
        return matrix

    @property
    def of_features(self) -> NDArray[np.float64]:
        """Half the sum over the pairs of each feature."""
        ends = (self._first, self._second)
        return np.asarray(
            sum(np.bincount(end, self._weights, minlength=self._n_features) for end in ends) / 2
        )


def _scaled(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.maximum(weights, _LEAST / len(weights))
    return np.asarray(weights / weights.sum())


def change(accuracy: float, before: list[float], n_features: int, size: int) -> float:
    """Relative change of the weights of the features in use (the criterion function, eq. 8).

    Parameters
    ----------
    accuracy : float
        How well the classifier did.
    before : list of float
        The accuracies of all iterations before this one.
    n_features, size : int
        Number of features, and of those in use.

    Returns
    -------
    float
        From -1 to 1; 0 if the accuracies before were all the same.

    Examples
    --------
    >>> round(change(0.9, [0.7, 0.8], n_features=10, size=4), 4)  # 0.6667 * tanh(2 * 2.1213)
    0.6664
    """
    spread = np.std(before, ddof=1)
    if spread < 1e-12 or n_features == 1:
        return 0.0
    return float((n_features - size) / (n_features - 1) * np.tanh(2 * (accuracy - np.mean(before)) / spread))


class FeatureBoostingSelector(RankingSelector):
    """Boost the weights of features that were in use when a classifier did well (Bommaganti 3.6).

    In every iteration a subset of the features is drawn by the current weights and a classifier is fitted to
    it. If it is more accurate than those before, the features in use gain weight, else they lose some. The
    outcome is a distribution over the features, which `SubsetBaggingClassifier` can draw from.

    With `order=2` pairs of features have weights instead of single ones, so that two features that are worth
    something only together, such as the two of an exclusive or, are boosted together.

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        Keep so many of the heaviest, or such a share of all; choose the number by cross-validation; None
        keeps the features that weigh more than at the start.
    subset_size : int, float or None, default=None
        Features in use in an iteration: a number or a share of all. None is half of them; with `order=2` the
        square root of their number, at least 2.
    order : {1, 2}, default=1
        Whether single features or pairs have weights. Pairs allow 1,000 features at most, and take time in
        proportion to the third power of their number (two minutes for 1,000). Constant ones are left out.
    estimator : classifier, default=None
        What is fitted. None is `C45Classifier()`; with `order=2` it is `CartClassifier()`, which splits a
        node also where no feature helps by itself, as C4.5 does not.
    accuracy : {"training", "oob"} or None, default=None
        What the classifier is judged by: its accuracy on the rows it was fitted to, all of them, as in the
        thesis; or on those that a bootstrap sample left out. None is "training", and "oob" with `order=2`,
        where trees that are not pruned fit their own rows perfectly.
    n_iterations : int or None, default=None
        Number of iterations. None is 25, the largest ensemble of the thesis; with `order=2` as many as let
        every pair be in use ten times on average.
    learning_rate : float or None, default=None
        What the changes of eq. 8 are multiplied by, up to 1. None is 1; with `order=2` it is 0.5, so that
        pairs that were drawn with a good one by chance do not carry the day.
    init : int, default=3
        Iterations at the start that change no weights, at least 2.
    random_state : int, RandomState or None, default=None
        Draws the subsets, and seeds classifiers whose own `random_state` is None.

    Attributes
    ----------
    feature_distribution_ : ndarray of shape (n_features,)
        The weights of the features at the end; they add up to one. With `order=2`, half the sum of the
        weights of the pairs of each.
    pair_distribution_ : ndarray of shape (n_features, n_features)
        The weights of the pairs, with `order=2`; those above the diagonal add up to one.
    history_ : dict of ndarray
        What happened in each iteration: `features` (a row of numbers of columns), `accuracy`, and `change`,
        the relative change of the weights (eq. 8).
    scores_ : ndarray of shape (n_features,)
        The weights.
    ranking_, support_ : ndarray of shape (n_features,)
        1 is the heaviest; mask of the kept features.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    See Also
    --------
    SubsetBaggingClassifier : The ensemble of the thesis; set its `distribution` to this selector.

    Notes
    -----
    Mean and standard deviation of eq. 8 are those of all iterations before the current one, the first ones
    included. The factor (F - k) / (F - 1) is 0 for subsets of all features: they teach nothing. No weight
    falls below 1e-9 of the one it began with.

    Where one feature tells all by itself, any partner does as well: with `order=2` some feature shares its
    weight then.

    By training accuracy a feature that lets a tree fit noise is as good as a relevant one: with few
    iterations and many features the distribution is close to the uniform one, and where trees are not
    pruned accuracy="oob" is the better choice.

    References
    ----------
    H. Bommaganti, master's thesis, University of Minnesota, section 3.6; pairs: section 5.2.

    Examples
    --------
    >>> import numpy as np
    >>> from foresift import FeatureBoostingSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 12))
    >>> y = (X[:, 3] > 0) ^ (X[:, 5] > 0)  # neither tells anything by itself
    >>> selector = FeatureBoostingSelector(n_features_to_select=2, order=2, random_state=0).fit(X, y)
    >>> selector.get_support(indices=True)
    array([3, 5])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankingSelector._parameter_constraints,
        "subset_size": [
            Interval(numbers.Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            None,
        ],
        "order": [Interval(numbers.Integral, 1, 2, closed="both")],
        "estimator": [HasMethods(["fit", "predict"]), None],
        "accuracy": [StrOptions({"training", "oob"}), None],
        "n_iterations": [Interval(numbers.Integral, 1, None, closed="left"), None],
        "learning_rate": [Interval(numbers.Real, 0, 1, closed="right"), None],
        "init": [Interval(numbers.Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select=None,
        *,
        subset_size=None,
        order=1,
        estimator=None,
        accuracy=None,
        n_iterations=None,
        learning_rate=None,
        init=3,
        random_state=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.subset_size = subset_size
        self.order = order
        self.estimator = estimator
        self.accuracy = accuracy
        self.n_iterations = n_iterations
        self.learning_rate = learning_rate
        self.init = init
        self.random_state = random_state

    pair_distribution_: NDArray[np.float64]

    def _open(self, X: Any, y: Any) -> TrainingRows:  # type: ignore[override]
        return open_training_rows(self._base(), X, y, self)

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        return C45Classifier() if self.order == 1 else CartClassifier()

    def _score(  # type: ignore[override]
        self, data: TrainingRows, weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        usable = np.arange(data.n_columns)
        if self.order == 2:  # a feature that tells all by itself would carry a constant one along
            usable = np.flatnonzero([_varies(data.table.store, j) for j in range(data.n_columns)])
            usable = np.arange(data.n_columns) if len(usable) < 2 else usable
        n_features = len(usable)
        size = min(self._size(data.n_columns), n_features)
        pairs = self.order == 2 and n_features > 1
        learned: Weights = PairWeights(n_features) if pairs else SingleWeights(n_features)
        n_iterations = self._n_iterations(n_features, size, pairs)
        judge = _Judge(data, weights, oob=self.accuracy == "oob" or (not self.accuracy and pairs))
        rate = (0.5 if pairs else 1.0) if self.learning_rate is None else self.learning_rate
        rng = np.random.default_rng(seed_of(self.random_state))
        subsets: list[NDArray[np.intp]] = []
        accuracies: list[float] = []
        changes: list[float] = []
        with track(self, n_iterations, task="iteration") as progress:
            for number in range(n_iterations):
                drawn = learned.draw(rng, size)
                subsets.append(usable[drawn])
                accuracy = judge.accuracy(subsets[-1], rng)
                early = number < self.init
                changed = 0.0 if early else rate * change(accuracy, accuracies, n_features, size)
                if changed:
                    learned.multiply(drawn, 1 + changed)
                accuracies.append(accuracy)
                changes.append(changed)
                if progress.advance():
                    break
        self.history_ = {
            "features": np.array(subsets),
            "accuracy": np.array(accuracies),
            "change": np.array(changes),
        }
        self.__dict__.pop("pair_distribution_", None)  # of an earlier fit
        if isinstance(learned, PairWeights):
            self.pair_distribution_ = np.zeros((data.n_columns, data.n_columns))
            self.pair_distribution_[np.ix_(usable, usable)] = learned.of_pairs
        self.feature_distribution_ = np.zeros(data.n_columns)
        self.feature_distribution_[usable] = learned.of_features
        return self.feature_distribution_

    def _own_support(self) -> NDArray[np.bool_]:
        return self.scores_ > (1 + 1e-9) / self.n_features_in_

    def _size(self, n_features: int) -> int:
        size, pairs = self.subset_size, self.order == 2
        if pairs and n_features > _MAX_PAIRED:
            raise ValueError(
                f"order=2 keeps a weight for every pair of features, and X has {n_features:,}: drop some"
                f" first, for instance with InfoGainSelector, to {_MAX_PAIRED:,} at most, or use order=1."
            )
        least = 2 if pairs and n_features > 1 else 1
        if size is None:
            return max(least, math.isqrt(n_features) if pairs else n_features // 2)
        if not isinstance(size, numbers.Integral):
            return max(least, int(size * n_features + 1e-9))
        if int(size) > n_features:
            raise ValueError(
                f"subset_size={size} is more than the {n_features} columns of X: use fewer, a share such as"
                " 0.5, or None."
            )
        if int(size) < least:
            raise ValueError("subset_size=1 has no pairs: use at least 2, or order=1.")
        return int(size)

    def _n_iterations(self, n_features: int, size: int, pairs: bool) -> int:
        if self.n_iterations is not None:
            return self.n_iterations
        if not pairs:
            return 25
        return max(25, math.ceil(_LOOKS * n_features * (n_features - 1) / (size * (size - 1))))


def _varies(store: _core.ColumnStore, column: int) -> bool:
    return store.n_values(column) + store.has_missing(column) > 1


class _Judge:
    """Fits a classifier to some features, and tells how accurate it is."""

    def __init__(self, data: TrainingRows, weights: NDArray[np.float64] | None, *, oob: bool) -> None:
        self._data, self._oob = data, oob
        self._weights = np.ones(data.n_rows) if weights is None else weights
        self._shares = self._weights / self._weights.max()

    def accuracy(self, columns: NDArray[np.intp], rng: np.random.Generator) -> float:
        """Share of the rows that are classified rightly: of all, or of those a bootstrap leaves out."""
        data, shares = self._data, self._shares
        times: NDArray[Any] = draw_rows(rng, shares) if self._oob else self._weights
        member = fit_member(data, columns, times, seed=int(rng.integers(2**63)))
        right = data.rows.ballots(member, columns, data.table.classes).argmax(axis=1) == data.table.target
        if self._oob and (shares * (times == 0)).any():
            shares = shares * (times == 0)
        return float(shares @ right / shares.sum())
