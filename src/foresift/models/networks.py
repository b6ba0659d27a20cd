"""Networks with one hidden layer on the native kernel: a population trained in threads, and a classifier."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from foresift import _core
from foresift.data.numeric_coding import InputCoding, ValueTable
from foresift.data.sklearn_compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    fit_context,
    seed_of,
    table_tags,
    track,
)
from foresift.data.table import Schema
from foresift.data.weights import check_sample_weight
from foresift.engine.grow import in_threads
from foresift.errors import warn_caller

__all__ = [
    "Backprop",
    "MLPEnsemble",
    "Network",
    "NetworkClassifier",
    "is_constant",
    "probabilities",
    "step_weights",
]

_MAX = 2**32 - 1  # the kernel counts with 32 bits

# Of every estimator that trains networks.
NETWORK_CONSTRAINTS: dict[str, Any] = {
    "n_hidden": [Interval(numbers.Integral, 1, _MAX, closed="both"), None],
    "epochs": [Interval(numbers.Integral, 1, _MAX, closed="both")],
    "learning_rate": [Interval(numbers.Real, 0, None, closed="neither")],
    "momentum": [Interval(numbers.Real, 0, 1, closed="left")],
}


@dataclass(frozen=True, eq=False)
class Network:
    """One trained network.

    Attributes
    ----------
    inputs : ndarray of uint32 of shape (n_inputs,)
        Indices of its coded columns, with possible repetitions.
    hidden : ndarray of float32 of shape (n_hidden, n_inputs + 1)
        Weights into the hidden units, the bias last.
    output : ndarray of float32 of shape (n_outputs, n_hidden + 1)
        Weights into the outputs, the bias last.
    """

    inputs: NDArray[np.uint32]
    hidden: NDArray[np.float32]
    output: NDArray[np.float32]

    @property
    def is_finite(self) -> bool:
        """Whether no weight is infinite or NaN, as after training with a far too large learning rate."""
        return bool(np.isfinite(self.hidden).all() and np.isfinite(self.output).all())

    def outputs(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Outputs of every row: the probability of the second of two classes, or one number per class."""
        return np.asarray(_core.network_outputs(self.hidden, self.output, self.inputs, values))


@dataclass(frozen=True)
class Backprop:
    """Training options of the native kernel.

    Examples
    --------
    >>> rates = {"epochs": 35, "learning_rate": 0.15, "momentum": 0.9}
    >>> Backprop.for_data(n_inputs=63, n_classes=2, seed=0, **rates).n_hidden
    7
    """

    n_hidden: int
    n_outputs: int
    epochs: int
    learning_rate: float
    momentum: float
    seed: int

    @classmethod
    def for_data(
        cls, n_inputs: int, n_classes: int, *, n_hidden: int | None = None, **options: Any
    ) -> Backprop:
        """Use one output for two classes, else one each, and by default Opitz's number of hidden units."""
        n_outputs = 1 if n_classes == 2 else n_classes
        if n_hidden is None:  # at least one per output and per ten inputs, and five
            n_hidden = max(5, n_outputs, math.ceil(n_inputs / 10))
        return cls(n_hidden, n_outputs, **options)


class MLPEnsemble:
    """A population of networks on the same rows, trained in threads.

    Parameters
    ----------
    values : ndarray of float32 of shape (n, n_inputs)
        The coded training rows.
    target : ndarray of int32 of shape (n,)
        Their classes.
    weights : ndarray of float32 of shape (n,) or None
        Factors of the step of each row; see `step_weights`.
    options : Backprop
        Training options.
    n_jobs : int or None
        Threads. The result does not depend on it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values = rng.normal(size=(200, 3)).astype(np.float32)
    >>> target = (values[:, 0] > 0).astype(np.int32)
    >>> options = Backprop(5, 1, epochs=20, learning_rate=0.15, momentum=0.9, seed=0)
    >>> ensemble = MLPEnsemble(values, target, None, options, n_jobs=1)
    >>> everything = np.arange(200, dtype=np.uint32)
    >>> inputs = [np.array(columns, dtype=np.uint32) for columns in ([0, 1], [2, 2])]
    >>> networks = ensemble.train(inputs, [everything] * 2, numbers=[0, 1])
    >>> [float(((network.outputs(values)[:, 0] > 0.5) == target).mean()) > 0.9 for network in networks]
    [True, False]
    """

    def __init__(
        self,
        values: NDArray[np.float32],
        target: NDArray[np.int32],
        weights: NDArray[np.float32] | None,
        options: Backprop,
        n_jobs: int | None = None,
    ) -> None:
        self.values = values
        self.target = target
        self.weights = weights
        self.options = options
        self.n_jobs = n_jobs

    def train(
        self,
        inputs: Sequence[NDArray[np.uint32]],
        rows: Sequence[NDArray[np.uint32]],
        numbers: Sequence[int],
        done: Callable[[], Any] = lambda: None,
    ) -> list[Network]:
        """Train one network per entry, on these inputs and rows, with the random stream of this number.

        `done` is called, in any thread, after each of them.
        """
        stop, options = _core.StopFlag(), _core.NetworkOptions(**vars(self.options))

        def work(k: int) -> Network:
            layers = _core.train_network(
                self.values, self.target, self.weights, inputs[k], rows[k], numbers[k], stop, options
            )
            done()
            return Network(inputs[k], *layers)

        # The longest tasks first, so that the threads finish at about the same time.
        order = sorted(range(len(inputs)), key=lambda k: -(len(inputs[k]) + 1) * len(rows[k]))
        trained = dict(zip(order, in_threads(work, order, self.n_jobs, stop), strict=True))
        return [trained[k] for k in range(len(inputs))]

    def outputs(self, networks: Sequence[Network]) -> list[NDArray[np.float32]]:
        """Outputs of every network for every training row."""
        # In one thread: starting others would take longer.
        return [network.outputs(self.values) for network in networks]


def step_weights(weights: NDArray[np.float64] | None) -> NDArray[np.float32] | None:
    """Scale row weights to a mean of 1 over the rows of positive weight; None if all weights are equal.

    Examples
    --------
    >>> step_weights(np.array([0.0, 2.0, 6.0])), step_weights(np.array([3.0, 3.0]))
    (array([0. , 0.5, 1.5], dtype=float32), None)
    """
    if weights is None or (weights == weights[0]).all():
        return None
    return (weights / (weights.sum() / np.count_nonzero(weights))).astype(np.float32)


def probabilities(outputs: NDArray[Any]) -> NDArray[np.float64]:
    """Convert outputs of shape (n, n_outputs) to class probabilities by dividing by their sum.

    Examples
    --------
    >>> probabilities(np.array([[0.25]])), probabilities(np.array([[0.2, 0.6, 0.0]])).round(2)
    (array([[0.75, 0.25]]), array([[0.25, 0.75, 0.  ]]))
    """
    outputs = outputs.astype(np.float64)
    if outputs.shape[1] == 1:
        return np.hstack([1 - outputs, outputs])
    sums = outputs.sum(axis=1, keepdims=True)
    return np.divide(outputs, sums, out=np.full(outputs.shape, 1 / outputs.shape[1]), where=sums > 0)


def is_constant(rows: NDArray[Any]) -> bool:
    """Whether all rows are equal.

    Examples
    --------
    >>> is_constant(np.array([[1.0, 0.0], [1.0, 0.0]])), is_constant(np.array([[1.0], [0.9]]))
    (True, False)
    """
    return bool((rows == rows[0]).all())


class NetworkClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """A network with one hidden layer of sigmoid units, trained by online back-propagation (Opitz).

    The network of Opitz's experiments, several hundred times faster than scikit-learn's `MLPClassifier` with
    batches of one row. It minimises the squared error, row by row, in a new random order in every epoch.

    Parameters
    ----------
    n_hidden : int, default=None
        Hidden units; None uses at least five, one per class and one per ten inputs (Opitz).
    epochs : int, default=40
        Number of passes over the rows.
    learning_rate : float, default=0.15
        Step size of gradient descent.
    momentum : float, default=0.9
        Fraction of the last step that is added to the next.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        The nominal columns: by dtype (text, categories, booleans), none, or a list of names, indices or a
        mask.
    random_state : int, RandomState or None, default=None
        Seed of the initial weights, uniform between -0.5 and 0.5, and of the order of the rows.

    Attributes
    ----------
    network_ : Network
        The weights.
    coding_ : InputCoding
        Coding of the columns: an indicator for every category, other columns standardised, a missing value 0
        in all inputs of its column.
    classes_ : ndarray
        Class labels.
    n_features_in_, feature_names_in_, schema_
        Number, names and categories of the columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foresift import NetworkClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> NetworkClassifier(epochs=80, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **NETWORK_CONSTRAINTS,
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
        "random_state": ["random_state"],
    }

    schema_: Schema
    classes_: NDArray[Any]
    n_features_in_: int

    def __init__(
        self,
        *,
        n_hidden=None,
        epochs=40,
        learning_rate=0.15,
        momentum=0.9,
        categorical_features="from_dtype",
        random_state=None,
    ):
        self.n_hidden = n_hidden
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.categorical_features = categorical_features
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> NetworkClassifier:
        """Train the network.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The columns; missing values are allowed.
        y : array-like of shape (n,)
            The class of every row.
        sample_weight : array-like of shape (n,), default=None
            Factors of the step of each row, relative to their mean; a row of weight 0 is ignored.

        Returns
        -------
        NetworkClassifier
            The fitted estimator itself.
        """
        table = ValueTable.open(X, y, categorical_features=self.categorical_features, estimator=self)
        weights = check_sample_weight(sample_weight, table.n_rows)
        table.target.require_variety(self, weights)
        coding = InputCoding.learn(table.values, table.schema.categories, weights)
        options = Backprop.for_data(
            coding.n_inputs,
            table.target.n_classes,
            n_hidden=self.n_hidden,
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            momentum=self.momentum,
            seed=seed_of(self.random_state),
        )
        used = np.arange(table.n_rows) if weights is None else np.flatnonzero(weights)
        values = coding.code(table.values)
        with track(self, 1, task="network", X=X, y=y) as progress:
            ensemble = MLPEnsemble(values, table.target.codes, step_weights(weights), options, n_jobs=1)
            inputs = coding.inputs_of(range(table.n_columns))
            (network,) = ensemble.train([inputs], [used.astype(np.uint32)], [0], progress.advance)
        if not network.is_finite:
            raise ValueError(
                f"Training diverged with learning_rate={self.learning_rate} and momentum={self.momentum}: "
                "the weights are no longer finite. Use a smaller learning_rate."
            )
        if is_constant(network.outputs(values)) and not is_constant(values):
            warn_caller(
                f"The network predicts the same for every row: with learning_rate={self.learning_rate} its"
                " units may be saturated. Use a smaller learning_rate."
            )
        self.network_, self.coding_ = network, coding
        self.schema_, self.classes_ = table.schema, table.target.labels
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict class probabilities: the outputs of the network, divided by their sum.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Probabilities, in the order of `classes_`.
        """
        check_is_fitted(self)
        batches = self.schema_.encode_batches(X, self)
        return np.concatenate([probabilities(self.network_.outputs(self.coding_.code(b))) for b in batches])

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class with the largest output.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            Class labels.
        """
        proba = self.predict_proba(X)
        return np.asarray(self.classes_.take(proba.argmax(axis=1)))

    def __sklearn_tags__(self) -> Any:
        return table_tags(super().__sklearn_tags__())
