"""Networks with one hidden layer, trained by back-propagation, for classes and for a quantity."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from foresift.data.numeric_coding import InputCoding, ValueTable
from foresift.data.plain_state import PlainEstimator
from foresift.data.sklearn_compat import (
    CallbackSupportMixin,
    StrOptions,
    fit_context,
    seed_of,
    table_tags,
    track,
)
from foresift.data.table import Schema
from foresift.data.weights import check_sample_weight
from foresift.errors import warn_caller
from foresift.models.backprop import (
    NETWORK_CONSTRAINTS,
    Backprop,
    MLPEnsemble,
    Network,
    Scaling,
    is_constant,
    step_weights,
)

__all__ = ["NetworkClassifier", "NetworkRegressor", "probabilities"]


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


class NetworkModel(CallbackSupportMixin, PlainEstimator):
    """Base of the networks: everything but what their outputs mean."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **NETWORK_CONSTRAINTS,
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
        "random_state": ["random_state"],
    }
    _task: ClassVar[str]  # of `make_table`

    network_: Network
    coding_: InputCoding
    schema_: Schema
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
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the network.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The columns; missing values are allowed.
        y : array-like of shape (n,)
            The class of every row; for a regressor a finite number.
        sample_weight : array-like of shape (n,), default=None
            Factors of the step of each row, relative to their mean; a row of weight 0 is ignored.

        Returns
        -------
        estimator
            The fitted estimator itself.
        """
        table = ValueTable.open(
            X, y, categorical_features=self.categorical_features, estimator=self, task=self._task
        )
        weights = check_sample_weight(sample_weight, table.n_rows)
        table.target.require_variety(self, weights)
        coding = InputCoding.learn(table.values, table.schema.categories, weights)
        options = Backprop.for_data(
            coding.n_inputs,
            table.target.n_outputs,
            n_hidden=self.n_hidden,
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            momentum=self.momentum,
            seed=seed_of(self.random_state),
        )
        used = np.arange(table.n_rows) if weights is None else np.flatnonzero(weights)
        values, wanted = coding.code(table.values), self._wanted(table.target, weights)
        with track(self, 1, task="network", X=X, y=y) as progress:
            ensemble = MLPEnsemble(values, wanted, step_weights(weights), options, n_jobs=1)
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
        self.network_, self.coding_, self.schema_ = network, coding, table.schema
        return self

    @abstractmethod
    def _wanted(self, target: Any, weights: NDArray[np.float64] | None) -> NDArray[Any]:
        """Learn what the outputs mean, and return what they should be, as the kernel takes it."""

    def _outputs(self, X: Any) -> NDArray[np.float32]:
        """Outputs of the network for every row."""
        check_is_fitted(self)
        batches = self.schema_.encode_batches(X, self)
        return np.concatenate([self.network_.outputs(self.coding_.code(batch)) for batch in batches])

    def __sklearn_tags__(self) -> Any:
        return table_tags(super().__sklearn_tags__())


class NetworkClassifier(ClassifierMixin, NetworkModel):
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

    _task = "classification"
    classes_: NDArray[Any]

    def _wanted(self, target: Any, weights: NDArray[np.float64] | None) -> NDArray[Any]:
        self.classes_ = target.labels
        return np.asarray(target.codes)

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
        return probabilities(self._outputs(X))

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


class NetworkRegressor(RegressorMixin, NetworkModel):
    """A network with one hidden layer of sigmoid units and a linear output, for a quantity.

    The network and the training of `NetworkClassifier`, row by row down the squared error. y is scaled to a
    mean of 0 and a variance of 1 for the training, and predictions are scaled back.

    Parameters
    ----------
    n_hidden : int, default=None
        Hidden units; None uses at least five, and one per ten inputs (Opitz).
    epochs : int, default=40
        Number of passes over the rows.
    learning_rate : float, default=0.01
        Step size of gradient descent; see Notes.
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
    scaling_ : Scaling
        Mean and standard deviation of y.
    n_features_in_, feature_names_in_, schema_
        Number, names and categories of the columns.

    See Also
    --------
    NetworkClassifier : The same for classes.
    sklearn.neural_network.MLPRegressor : Several layers, trained in batches.

    Notes
    -----
    The slope of a sigmoid output is at most 1/4 and enters the curvature of the error squared. A linear
    output has a slope of 1, so that 0.01 takes steps like 0.15 of `NetworkClassifier`.

    That curvature also grows with the number of inputs and with the weight of a row. Steps are therefore
    damped: with h the squared length of the gradient of the output, a step is divided by
    1 + learning_rate h / (1 - momentum). This is implicit gradient descent (Toulis and Airoldi 2017) for an
    output that is linear in its weights, which does not overshoot, so that training does not diverge on
    wide tables or with a large rate.

    References
    ----------
    P. Toulis and E. Airoldi, "Asymptotic and finite-sample properties of estimators based on stochastic
    gradients", Annals of Statistics 45, 2017.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from foresift import NetworkRegressor
    >>> X, y = make_friedman1(2000, random_state=0)
    >>> NetworkRegressor(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.8
    True
    """

    _task = "regression"
    scaling_: Scaling

    def __init__(
        self,
        *,
        n_hidden=None,
        epochs=40,
        learning_rate=0.01,
        momentum=0.9,
        categorical_features="from_dtype",
        random_state=None,
    ):
        super().__init__(
            n_hidden=n_hidden,
            epochs=epochs,
            learning_rate=learning_rate,
            momentum=momentum,
            categorical_features=categorical_features,
            random_state=random_state,
        )

    def _wanted(self, target: Any, weights: NDArray[np.float64] | None) -> NDArray[Any]:
        self.scaling_ = Scaling.learn(target, weights)
        return self.scaling_.code(target.y)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the quantity of every row.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            The predictions.
        """
        outputs = self._outputs(X)
        return self.scaling_.decode(outputs[:, 0])
