"""Bagging over subsets of the features (Bommaganti 3.2), for classes and for a quantity."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin, clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import has_fit_parameter

from foresift.data.sklearn_compat import (
    HasMethods,
    Interval,
    RealNotInt,
    StrOptions,
    fit_context,
    seed_of,
    seeded,
    track,
)
from foresift.engine.bootstrap import score_out_of_bag
from foresift.engine.column_sampling import checked_weights, draw_columns
from foresift.models.cart import CartRegressor
from foresift.models.members import (
    MemberEnsemble,
    TrainingRows,
    VotingEnsemble,
    draw_rows,
    fit_member,
    shares_of,
)
from foresift.models.subset_models import count_columns

__all__ = ["SubsetBaggingClassifier", "SubsetBaggingRegressor"]


class _Member(NamedTuple):
    """A fitted member, its columns, and its accuracy on the training rows, if it votes by that."""

    estimator: Any
    columns: NDArray[np.intp]
    accuracy: float
    outputs: NDArray[np.float64]  # of the rows it did not draw
    oob: NDArray[np.bool_]


class SubsetBagging(MemberEnsemble):
    """Base of both: draws of rows and columns, and the out-of-bag estimate."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MemberEnsemble._parameter_constraints,
        "subset_size": [
            Interval(numbers.Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            None,
        ],
        "distribution": [StrOptions({"uniform"}), "array-like", HasMethods(["fit", "get_support"])],
        "oob_score": ["boolean", callable],
        "n_jobs": [numbers.Integral, None],
    }
    _metric: ClassVar[Callable[..., float]]  # of the out-of-bag predictions

    vote: str = "equal"

    def __init__(
        self,
        estimator=None,
        n_estimators=25,
        *,
        subset_size=None,
        distribution="uniform",
        oob_score=False,
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.subset_size = subset_size
        self.distribution = distribution
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)  # estimator and selector check their own parameters
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The columns, as the estimator takes them.
        y : array-like of shape (n,)
            The class of every row; for a regressor a finite number.
        sample_weight : array-like of shape (n,), default=None
            How likely each row is drawn, and how much it counts in the accuracy of a classifier.

        Returns
        -------
        estimator
            Itself.
        """
        data, shares, weights = self._open(X, y, sample_weight)
        size = self._size(data.table.n_columns)
        seed = seed_of(self.random_state)
        self.feature_distribution_ = self._distribution(X, y, weights, data.table.n_columns, size, seed)
        wanted = range(self.n_estimators)
        pool = Parallel(
            n_jobs=self.n_jobs, require="sharedmem" if data.rows.coded else None, return_as="generator"
        )
        what = (data, self.feature_distribution_, size, shares, self.vote == "accuracy")
        members: list[_Member] = []
        with track(self, self.n_estimators, task="member", X=X, y=y) as progress:
            for member in pool(delayed(_fit_member)(*what, (seed, i)) for i in wanted):
                members.append(member)
                if progress.advance():
                    break
        self.estimators_ = [member.estimator for member in members]
        self.estimators_features_ = [member.columns for member in members]
        accuracy = np.array([member.accuracy for member in members])
        equal = self.vote == "equal" or not accuracy.any()
        votes = np.ones(len(members)) if equal else accuracy
        self.estimator_weights_ = votes / votes.sum()
        if self.oob_score:
            self._score_out_of_bag(members, data, shares)
        return self

    def _size(self, n_columns: int) -> int:
        size = self.subset_size
        return n_columns if size is None else count_columns(size, n_columns, "subset_size")

    def _distribution(
        self, X: Any, y: Any, weights: NDArray[np.float64] | None, n_columns: int, size: int, seed: int
    ) -> NDArray[np.float64]:
        given = self.distribution
        if isinstance(given, str):
            return np.full(n_columns, 1 / n_columns)
        if hasattr(given, "fit"):
            given = self._weights_by_selector(given, X, y, weights, size, seed)
        distribution = checked_weights(given, n_columns, "distribution")
        positive = np.count_nonzero(distribution)
        if positive < size:
            raise ValueError(
                f"distribution gives {positive} columns a positive weight, but subset_size={size} are to be"
                f" drawn: lower subset_size to {positive}, or make more weights positive."
            )
        return distribution

    def _weights_by_selector(
        self, selector: Any, X: Any, y: Any, weights: NDArray[np.float64] | None, size: int, seed: int
    ) -> NDArray[np.float64]:
        fitted = seeded(clone(selector), seed % 2**32)
        given = fitted.get_params()
        own = {"n_features_to_select": size, "subset_size": size}
        if given.get("order") == 1:  # pairs of columns need far more iterations
            own["n_iterations"] = self.n_estimators
        fitted.set_params(**{name: value for name, value in own.items() if given.get(name, 0) is None})
        takes_weights = weights is not None and has_fit_parameter(fitted, "sample_weight")
        fitted.fit(X, y, **({"sample_weight": weights} if takes_weights else {}))
        self.selector_ = fitted
        learned = getattr(fitted, "feature_distribution_", None)
        return np.asarray(fitted.get_support() if learned is None else learned, dtype=np.float64)

    def _score_out_of_bag(
        self, members: list[_Member], data: TrainingRows, shares: NDArray[np.float64]
    ) -> None:
        target = data.table.target
        sums, weights = np.zeros((target.n_rows, target.n_outputs)), np.zeros((target.n_rows, 1))
        for member, weight in zip(members, self.estimator_weights_, strict=True):
            sums[member.oob] += weight * self._cast(member.outputs)
            weights[member.oob] += weight
        predicted, known = self._keep_oob(sums, weights), weights[:, 0] > 0
        self.oob_score_ = score_out_of_bag(self.oob_score, self._metric, target, predicted, known, shares)

    @abstractmethod
    def _keep_oob(self, sums: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[Any]:
        """Set the attribute with the out-of-bag outputs, NaN without any, and return the predictions."""


class SubsetBaggingClassifier(VotingEnsemble, SubsetBagging):
    """Bagging where each member sees its own draw of rows and its own subset of the columns.

    The ensemble of Bommaganti (section 3.2): every member is fitted on a bootstrap sample of the rows and on
    `subset_size` columns drawn from a distribution over the columns, and votes with the weight of its
    accuracy on the training rows (eq. 7).

    Parameters
    ----------
    estimator : classifier, default=None
        What the members are clones of; None is `C45Classifier()`.
    n_estimators : int, default=25
        Number of members.
    subset_size : int, float or None, default=None
        Columns of a member: a number, or a share of all. None takes all columns: plain bagging.
    distribution : "uniform", array-like of shape (n_features,) or selector, default="uniform"
        How likely each column is drawn: all the same; by these weights; or by a selector, which is fitted to
        the training data. A selector with a `feature_distribution_`, such as `FeatureBoostingSelector`, gives
        that; any other gives the features it keeps equal weights. Where its `n_features_to_select` is None
        (or its `subset_size`), it is set to that of the ensemble: `InfoGainSelector()` stands for the best
        `subset_size` columns. In the same way feature boosting has as many iterations as the ensemble has
        members (section 3.6), unless it learns weights of pairs.
    vote : {"accuracy", "equal"}, default="accuracy"
        Weights of the members: their accuracy on the training rows, or equal weights.
    ballot : {"class", "probability"}, default="class"
        What a member casts: its whole weight for one class (eq. 7), or in parts, by its probabilities.
    oob_score : bool or callable, default=False
        Whether to predict every row of positive weight by the members that did not draw it; a callable is the
        metric, `score(y_true, y_predicted)`, instead of the accuracy, which counts rows by their weight.
    n_jobs : int, default=None
        Members fitted at once, in threads if they are trees of this package; -1 for all cores. The outcome is
        the same for any number.
    random_state : int, RandomState or None, default=None
        Draws rows and columns, and seeds members (and a selector) whose own `random_state` is None.

    Attributes
    ----------
    estimators_ : list of classifiers
        The members.
    estimators_features_ : list of ndarray
        The columns of each, in ascending order.
    estimator_weights_ : ndarray of shape (n_estimators,)
        Their weights; they add up to one.
    feature_distribution_ : ndarray of shape (n_features,)
        What the columns were drawn by; adds up to one.
    selector_ : selector
        The fitted selector, if `distribution` is one.
    oob_score_, oob_decision_function_
        The out-of-bag estimate, and the votes it comes from (NaN in rows that every member drew), with
        `oob_score`.
    classes_, n_features_in_, feature_names_in_, schema_
        What the classes and columns were.

    See Also
    --------
    FeatureBoostingSelector : A distribution learned from the accuracy of classifiers.
    CumulativeGainSelector : The best column of every level of a tree.
    sklearn.ensemble.BaggingClassifier : Uniform subsets, equal votes by probability.

    Notes
    -----
    Columns are drawn one after another, without replacement. Rows are drawn in proportion to `sample_weight`,
    as many as there are rows of positive weight. A member whose rows are all of one class predicts that
    class. The accuracies of eq. 7 are those on the training rows, so they are too good, and for unpruned
    trees nearly equal.

    Metadata routing ends here: `set_fit_request` says whether `sample_weight` is wanted, requests of the
    estimators inside are not read.

    References
    ----------
    H. Bommaganti, master's thesis, University of Minnesota, sections 3.2 to 3.7.

    Examples
    --------
    >>> from foresift import InfoGainSelector, SubsetBaggingClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bagging = SubsetBaggingClassifier(subset_size=0.3, oob_score=True, random_state=0).fit(X, y)
    >>> len(bagging.estimators_features_[0]), bagging.oob_score_ > 0.94
    (9, True)
    >>> best = SubsetBaggingClassifier(subset_size=3, distribution=InfoGainSelector(), random_state=0)
    >>> best.fit(X, y).estimators_features_[0].tolist(), best.estimators_features_[1].tolist()
    ([20, 22, 23], [20, 22, 23])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SubsetBagging._parameter_constraints,
        "vote": [StrOptions({"accuracy", "equal"})],
        "ballot": [StrOptions({"class", "probability"})],
    }
    _metric = staticmethod(accuracy_score)

    def __init__(
        self,
        estimator=None,
        n_estimators=25,
        *,
        subset_size=None,
        distribution="uniform",
        vote="accuracy",
        ballot="class",
        oob_score=False,
        n_jobs=None,
        random_state=None,
    ):
        super().__init__(
            estimator,
            n_estimators,
            subset_size=subset_size,
            distribution=distribution,
            oob_score=oob_score,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.vote = vote
        self.ballot = ballot

    def _keep_oob(self, sums: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[Any]:
        self.oob_decision_function_ = shares_of(sums)
        return np.asarray(self.classes_.take(self.oob_decision_function_.argmax(axis=1)))


class SubsetBaggingRegressor(RegressorMixin, SubsetBagging):
    """Bagging for a quantity where each member sees its own draw of rows and its own subset of the columns.

    As `SubsetBaggingClassifier` (Bommaganti, section 3.2), but the prediction is the mean of the members.

    Parameters
    ----------
    estimator : regressor, default=None
        What the members are clones of; None is `CartRegressor()`.
    n_estimators, subset_size, distribution, n_jobs, random_state
        Members and their columns; see `SubsetBaggingClassifier`.
    oob_score : bool or callable, default=False
        Whether to predict every row of positive weight by the members that did not draw it; a callable is the
        metric, `score(y_true, y_predicted)`, instead of R2, which counts rows by their weight.

    Attributes
    ----------
    estimators_, estimators_features_, estimator_weights_, feature_distribution_, selector_
        The members and what they were drawn by; see `SubsetBaggingClassifier`. All weights are equal.
    oob_score_, oob_prediction_
        The out-of-bag estimate, and the predictions it comes from (NaN in rows that every member drew), with
        `oob_score`.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    See Also
    --------
    SubsetBaggingClassifier : The same for classes.
    sklearn.ensemble.BaggingRegressor : Uniform subsets.

    Notes
    -----
    Rows and columns are drawn as in `SubsetBaggingClassifier`. A member whose rows all have the same y
    predicts that.

    Metadata routing ends here: `set_fit_request` says whether `sample_weight` is wanted, requests of the
    estimators inside are not read.

    Examples
    --------
    >>> from foresift import SubsetBaggingRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bagging = SubsetBaggingRegressor(n_estimators=100, subset_size=0.5, oob_score=True, random_state=0)
    >>> bagging.fit(X, y).oob_score_ > 0.4
    True
    """

    _task = "regression"
    _metric = staticmethod(r2_score)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the quantity of every row: the mean of the members.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            The predictions.
        """
        return self._outputs(X)[:, 0]

    def _base(self) -> Any:
        return CartRegressor() if self.estimator is None else self.estimator

    def _keep_oob(self, sums: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[Any]:
        with np.errstate(invalid="ignore"):
            self.oob_prediction_ = (sums / weights)[:, 0]
        return self.oob_prediction_


def _fit_member(
    data: TrainingRows,
    distribution: NDArray[np.float64],
    size: int,
    shares: NDArray[np.float64],
    by_accuracy: bool,
    seed: tuple[int, int],
) -> _Member:
    """Draw columns and rows, fit a member to them, and predict all rows."""
    rng = np.random.default_rng(seed)
    columns = draw_columns(rng, distribution, size)
    times = draw_rows(rng, shares)
    member = fit_member(data, columns, times, seed=int(rng.integers(2**63)))
    target = data.table.target
    outputs = data.outputs(member, columns)
    accuracy = float(shares @ (outputs.argmax(axis=1) == target.codes)) if by_accuracy else 1.0
    oob = times == 0
    return _Member(member, columns, accuracy, outputs[oob], oob)
