"""Feature boosting: a distribution over the features, learned from classifiers that use some of them."""

from __future__ import annotations

import math
import numbers
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from foresift import _core
from foresift.data.sklearn_compat import (
    HasMethods,
    Interval,
    RealNotInt,
    StrOptions,
    require_model,
    seed_of,
    track,
)
from foresift.data.slices import TableOfX
from foresift.data.table import Table
from foresift.models.c45 import C45Classifier
from foresift.models.cart import CartClassifier, CartRegressor
from foresift.models.members import TrainingRows, draw_rows, fit_member, is_native, training_rows
from foresift.models.subset_models import count_columns, reading_options
from foresift.selectors.base import RankingSelector, Scores
from foresift.selectors.feature_weights import PairWeights, SingleWeights, Weights, change

__all__ = ["FeatureBoostingSelector"]

_MAX_PAIRED = 1_000  # columns; each pair of them has a weight, and time grows with the third power
_LOOKS = 10  # how often a pair is drawn on average, by default


class FeatureBoostingSelector(RankingSelector):
    """Boost the weights of features that were in use when a classifier did well (Bommaganti 3.6).

    In every iteration a subset of the features is drawn by the current weights and a classifier is fitted to
    it. If it is more accurate than those before, the features in use gain weight, else they lose some. The
    outcome is a distribution over the features, which `SubsetBaggingClassifier` can draw from.

    With `order=2` pairs of features have weights instead of single ones, so that two features that are
    informative only together, such as the two of an exclusive or, are boosted together.

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of heaviest features to keep, or their fraction; choose the number by cross-validation;
        None keeps the features that weigh more than at the start.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity; "auto" takes numbers with fractions as a quantity.
    subset_size : int, float or None, default=None
        Features in use in an iteration: a number or a share of all. None is half of them; with `order=2` the
        square root of their number, at least 2.
    order : {1, 2}, default=1
        Whether single features or pairs have weights. Pairs allow 1,000 features at most, and take time in
        proportion to the third power of their number (two minutes for 1,000). Constant ones are left out.
    estimator : classifier or regressor, default=None
        What is fitted. None is `C45Classifier()`; with `order=2` it is `CartClassifier()`, which splits a
        node also where no feature helps by itself, as C4.5 does not; for a quantity `CartRegressor()`.
    accuracy : {"training", "oob"} or None, default=None
        How the classifier is scored: by its accuracy on the rows it was fitted to, all of them, as in the
        thesis; or on those that a bootstrap sample left out. None is "training", and "oob" with `order=2`
        or a quantity, where trees that are not pruned fit their own rows perfectly. The score of a quantity
        is R2.
    n_iterations : int or None, default=None
        Number of iterations. None is 25, the largest ensemble of the thesis, or inside of a
        `SubsetBaggingClassifier` its number of members; with `order=2` as many as let every pair be in use
        ten times on average.
    learning_rate : float or None, default=None
        What the changes of eq. 8 are multiplied by, up to 1. None is 1; with `order=2` it is 0.5, so that
        pairs that were drawn with a good one by chance do not carry the day.
    init : int, default=3
        Iterations at the start that change no weights, at least 2.
    random_state : int, RandomState or None, default=None
        Draws the subsets, and seeds classifiers whose own `random_state` is None.
    keep : array-like or None, default=None
        Columns that are kept in any case, by name, number or mask: they are not ranked, and not counted.
    feature_groups : mapping, list, "one-hot" or None, default=None
        Columns that are ranked, and kept or dropped, as one: lists of columns or patterns of names, a label
        for every column, or the blocks of OneHotEncoder; see `foresift.selectors.units.read_units`.

    Attributes
    ----------
    feature_distribution_ : ndarray of shape (n_features,)
        The weights of the features at the end; they add up to one. With `order=2`, half the sum of the
        weights of the pairs of each. The columns of a group share its weight; those kept by request have 0.
    pair_distribution_ : ndarray of shape (n_features, n_features)
        The weights of the pairs, with `order=2`; those above the diagonal add up to one. Of groups each
        column has the weights of the group.
    history_ : dict of ndarray
        What happened in each iteration: `features` (a row of numbers of columns, of a group the first),
        `accuracy`, and `change`,
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
    included. The factor (F - k) / (F - 1) is 0 for subsets of all features: they change no weights. No weight
    falls below 1e-9 of the one it began with.

    Where one feature predicts the classes by itself, any partner does as well: with `order=2` some feature
    shares its weight then.

    By training accuracy a feature that lets a tree fit noise is as good as a relevant one: with few
    iterations and many features the distribution is close to the uniform one, and where trees are not
    pruned accuracy="oob" is the better choice.

    Metadata routing ends here: `set_fit_request` says whether `sample_weight` is wanted, requests of the
    estimators inside are not read.

    References
    ----------
    H. Bommaganti, master's thesis, University of Minnesota, section 3.6; pairs: section 5.2.

    Examples
    --------
    >>> import numpy as np
    >>> from foresift import FeatureBoostingSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 12))
    >>> y = (X[:, 3] > 0) ^ (X[:, 5] > 0)  # neither is informative by itself
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
        task="auto",
        subset_size=None,
        order=1,
        estimator=None,
        accuracy=None,
        n_iterations=None,
        learning_rate=None,
        init=3,
        random_state=None,
        keep=None,
        feature_groups=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.subset_size = subset_size
        self.order = order
        self.estimator = estimator
        self.accuracy = accuracy
        self.n_iterations = n_iterations
        self.learning_rate = learning_rate
        self.init = init
        self.random_state = random_state
        self.keep = keep
        self.feature_groups = feature_groups

    pair_distribution_: NDArray[np.float64]

    @property
    def reading_options(self) -> dict[str, Any]:
        """How the trees read X."""
        return reading_options(self._base() if is_native(self._base()) else self)

    def takes(self, table: Table) -> bool:
        """Whether the classifier is a tree that grows on coded columns."""
        return is_native(self._base())

    def _validate_params(self) -> None:
        super()._validate_params()
        require_model(self._base(), type(self).__name__)  # which of both is known when y is read

    def _base(self, task: str = "classification") -> Any:
        if self.estimator is not None:
            return self.estimator
        if task == "regression":
            return CartRegressor()
        return C45Classifier() if self.order == 1 else CartClassifier()

    def _score(self, data: TableOfX, weights: NDArray[np.float64] | None) -> Scores:
        base, quantity = self._base(data.target.task), data.target.task == "regression"
        require_model(base, type(self).__name__, data.target.task)
        rows, units = training_rows(base, data, data.X), self.units_
        usable = np.arange(units.n_free)
        if self.order == 2:  # a feature that predicts all by itself would lift a constant one
            varying = [any(_varies(data.store, j) for j in columns) for columns in units.members]
            usable = np.flatnonzero(varying) if sum(varying) > 1 else usable
        n_features = len(usable)
        size = min(self._size(units.n_free), n_features)
        in_pairs = self.order == 2 and n_features > 1
        learned: Weights = PairWeights(n_features) if in_pairs else SingleWeights(n_features)
        n_iterations = self._n_iterations(n_features, size, in_pairs)
        # A tree that is not pruned explains all of a quantity on its own rows.
        oob = self.accuracy == "oob" or (not self.accuracy and (in_pairs or quantity))
        weights = np.ones(data.n_rows) if weights is None else weights
        rate = (0.5 if in_pairs else 1.0) if self.learning_rate is None else self.learning_rate
        rng = np.random.default_rng(seed_of(self.random_state))
        subsets: list[NDArray[np.intp]] = []
        accuracies: list[float] = []
        changes: list[float] = []
        with track(self, n_iterations, task="iteration") as progress:
            for number in range(n_iterations):
                drawn = learned.draw(rng, size)
                subsets.append(units.first[usable[drawn]])
                accuracy = _accuracy(rows, units.columns(usable[drawn]), weights, rng, oob)
                early = number < self.init
                changed = 0.0 if early else rate * change(accuracy, accuracies, n_features, size)
                if changed:
                    learned.multiply(drawn, 1 + changed)
                accuracies.append(accuracy)
                changes.append(changed)
                if progress.advance():
                    break
        distribution = np.zeros(units.n_free)
        distribution[usable] = learned.of_features
        of_columns = units.spread(distribution / [len(columns) for columns in units.members], 0.0)
        history = {
            "features": np.array(subsets),
            "accuracy": np.array(accuracies),
            "change": np.array(changes),
        }
        found: dict[str, Any] = {"history_": history, "feature_distribution_": of_columns}
        if isinstance(learned, PairWeights):
            pairs = np.zeros((units.n_free + 1, units.n_free + 1))  # the last for the kept columns
            pairs[np.ix_(usable, usable)] = learned.of_pairs
            found["pair_distribution_"] = pairs[np.ix_(units.free_of_column, units.free_of_column)]
        return Scores(distribution, found, by_unit=True)

    def _own_support(self) -> NDArray[np.bool_]:
        return self.scores_ > (1 + 1e-9) / self.units_.n_free

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
        if isinstance(size, numbers.Integral) and size < least:
            raise ValueError("subset_size=1 has no pairs: use at least 2, or order=1.")
        return max(least, count_columns(size, n_features, "subset_size"))

    def _n_iterations(self, n_features: int, size: int, pairs: bool) -> int:
        if self.n_iterations is not None:
            return self.n_iterations
        if not pairs:
            return 25
        return max(25, math.ceil(_LOOKS * n_features * (n_features - 1) / (size * (size - 1))))


def _varies(store: _core.ColumnStore, column: int) -> bool:
    return store.n_values(column) + store.has_missing(column) > 1


def _accuracy(
    data: TrainingRows,
    columns: NDArray[np.intp],
    weights: NDArray[np.float64],
    rng: np.random.Generator,
    oob: bool,
) -> float:
    """Accuracy, or R2, of a model of some columns on all rows, or on those that a bootstrap leaves out."""
    shares = weights / weights.max()
    times: NDArray[Any] = draw_rows(rng, shares) if oob else weights
    member = fit_member(data, columns, times, seed=int(rng.integers(2**63)))
    if oob and (shares * (times == 0)).any():
        shares = shares * (times == 0)
    target, outputs = data.table.target, data.outputs(member, columns)
    if target.task == "regression":
        return float(r2_score(target.y, outputs[:, 0], sample_weight=shares))
    return float(shares @ (outputs.argmax(axis=1) == target.codes) / shares.sum())
