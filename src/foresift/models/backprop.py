"""Networks with one hidden layer on the native kernel, trained one by one or as a population in threads."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift import _core
from foresift.data.plain_state import saved
from foresift.data.sklearn_compat import Interval
from foresift.data.target import Quantity
from foresift.engine.grow import in_threads

__all__ = [
    "NETWORK_CONSTRAINTS",
    "Backprop",
    "MLPEnsemble",
    "Network",
    "Scaling",
    "is_constant",
    "step_weights",
]

_MAX = 2**32 - 1  # the kernel counts with 32 bits
_MAX_DEVIATIONS = 1e6  # a scaled quantity is clipped here; only rows without weight can reach it

# Of every estimator that trains networks.
NETWORK_CONSTRAINTS: dict[str, Any] = {
    "n_hidden": [Interval(numbers.Integral, 1, _MAX, closed="both"), None],
    "epochs": [Interval(numbers.Integral, 1, _MAX, closed="both")],
    "learning_rate": [Interval(numbers.Real, 0, None, closed="neither")],
    "momentum": [Interval(numbers.Real, 0, 1, closed="left")],
}


@saved
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
    linear : bool
        Whether the output is a weighted sum, for a quantity, or sigmoid units, for classes.
    """

    inputs: NDArray[np.uint32]
    hidden: NDArray[np.float32]
    output: NDArray[np.float32]
    linear: bool = False

    @property
    def is_finite(self) -> bool:
        """Whether no weight is infinite or NaN, as after training with a far too large learning rate."""
        return bool(np.isfinite(self.hidden).all() and np.isfinite(self.output).all())

    def outputs(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Outputs of every row: the second of two classes, one number per class, or the scaled quantity."""
        return np.asarray(_core.network_outputs(self.hidden, self.output, self.inputs, values, self.linear))


@dataclass(frozen=True)
class Backprop:
    """Training options of the native kernel.

    Examples
    --------
    >>> rates = {"epochs": 35, "learning_rate": 0.15, "momentum": 0.9}
    >>> Backprop.for_data(n_inputs=63, n_predicted=2, seed=0, **rates).n_hidden
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
        cls, n_inputs: int, n_predicted: int, *, n_hidden: int | None = None, **options: Any
    ) -> Backprop:
        """Choose the number of outputs, and by default Opitz's number of hidden units.

        Of `n_predicted` numbers per row (`Target.n_outputs`), two are the probabilities of two classes, for
        which one output is enough.
        """
        n_outputs = 1 if n_predicted == 2 else n_predicted
        if n_hidden is None:  # at least one per output and per ten inputs, and five
            n_hidden = max(5, n_outputs, math.ceil(n_inputs / 10))
        return cls(n_hidden, n_outputs, **options)


class MLPEnsemble:
    """A population of networks on the same rows, trained in threads.

    Parameters
    ----------
    values : ndarray of float32 of shape (n, n_inputs)
        The coded training rows.
    target : ndarray of int32 or float32 of shape (n,)
        Their classes, or their scaled quantity.
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
        target: NDArray[np.int32] | NDArray[np.float32],
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
            return self.network(inputs[k], *layers)

        # The longest tasks first, so that the threads finish at about the same time.
        order = sorted(range(len(inputs)), key=lambda k: -(len(inputs[k]) + 1) * len(rows[k]))
        trained = dict(zip(order, in_threads(work, order, self.n_jobs, stop), strict=True))
        return [trained[k] for k in range(len(inputs))]

    def network(
        self, inputs: NDArray[np.uint32], hidden: NDArray[np.float32], output: NDArray[np.float32]
    ) -> Network:
        """Make a network of its weights."""
        return Network(inputs, hidden, output, linear=self.target.dtype == np.float32)

    def outputs(self, networks: Sequence[Network]) -> list[NDArray[np.float32]]:
        """Outputs of every network for every training row."""
        # In one thread: starting others would take longer.
        return [network.outputs(self.values) for network in networks]


@saved
@dataclass(frozen=True)
class Scaling:
    """Scaling of a quantity to a mean of 0 and a variance of 1, which networks learn.

    Attributes
    ----------
    centre, unit : float
        Mean and standard deviation of the training rows.
    """

    centre: float
    unit: float

    @classmethod
    def learn(cls, target: Quantity, weights: NDArray[np.float64] | None = None) -> Scaling:
        """Learn mean and standard deviation of the rows, which count by their weights.

        Examples
        --------
        >>> scaling = Scaling.learn(Quantity(np.array([1e9, 1e9 + 4])))
        >>> scaling.code(np.array([1e9])), scaling.decode(np.array([-1.0, 1.0])).tolist()
        (array([-1.], dtype=float32), [1000000000.0, 1000000004.0])
        """
        # A deviation of 0 is left if all values but one have almost no weight.
        return cls(float(np.average(target.y, weights=weights)), target.impurity(weights) ** 0.5 or 1.0)

    def code(self, values: NDArray[np.float64]) -> NDArray[np.float32]:
        """Scale values."""
        deviations = np.clip((values - self.centre) / self.unit, -_MAX_DEVIATIONS, _MAX_DEVIATIONS)
        return np.asarray(deviations, dtype=np.float32)

    def decode(self, outputs: NDArray[Any]) -> NDArray[np.float64]:
        """Return scaled values to the unit of the quantity."""
        return np.asarray(self.centre + self.unit * outputs.astype(np.float64))


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


def is_constant(rows: NDArray[Any]) -> bool:
    """Whether all rows are equal.

    Examples
    --------
    >>> is_constant(np.array([[1.0, 0.0], [1.0, 0.0]])), is_constant(np.array([[1.0], [0.9]]))
    (True, False)
    """
    return bool((rows == rows[0]).all())
