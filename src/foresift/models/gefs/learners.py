"""What GEFS breeds: networks, or any model of scikit-learn, each on columns and rows of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from foresift import _core
from foresift.data.numeric_coding import InputCoding
from foresift.data.plain_state import saved
from foresift.engine.grow import in_threads
from foresift.models.backprop import Backprop, MLPEnsemble, Network, step_weights
from foresift.models.gefs.genes import Genome

__all__ = ["EstimatorLearner", "Learner", "ModelReader", "NetworkLearner"]

Rows = NDArray[np.uint32]


class Learner(Protocol):
    """Trains models and asks them, in threads; the outcome does not depend on how many."""

    when_not_finite: str  # what is wrong with models whose outputs are not finite, and what to do
    when_alike: str  # likewise of models that answer the same for every row

    def train(
        self, genomes: Sequence[Genome], rows: Sequence[Rows], numbers: Sequence[int], done: Callable[[], Any]
    ) -> list[Any]:
        """Train a model on the columns of every genome, with random bits of its number."""

    def outputs(self, genomes: Sequence[Genome], models: Sequence[Any]) -> list[NDArray[Any]]:
        """Outputs of every model for all training rows, shape (n, n_outputs)."""

    def pack(self, model: Any) -> dict[str, NDArray[Any]]:
        """Arrays that a file can hold and from which, with the training data, the model can be made again."""

    def can_unpack(self, packed: dict[str, NDArray[Any]], genome: Genome) -> bool:
        """Whether these arrays can be a model of the genome."""

    def unpack(
        self,
        packed: Sequence[dict[str, NDArray[Any]]],
        genomes: Sequence[Genome],
        rows: Sequence[Rows],
        numbers: Sequence[int],
    ) -> list[Any]:
        """Make packed models again."""


class NetworkLearner:
    """Networks on the native kernel.

    Parameters
    ----------
    values : ndarray of float32
        Coded training rows.
    coding : InputCoding
        Which inputs a column has.
    target, weights
        Class, or scaled quantity, and weight of every row.
    options : Backprop
        How to train.
    n_jobs : int or None
        Threads.
    """

    when_not_finite = "their weights or outputs are not finite. Use a smaller learning_rate."
    when_alike = "their units may have become saturated. Use a smaller learning_rate."

    def __init__(
        self,
        values: NDArray[np.float32],
        coding: InputCoding,
        target: NDArray[Any],
        weights: NDArray[np.float64] | None,
        options: Backprop,
        n_jobs: int | None,
    ) -> None:
        self.coding = coding
        self.ensemble = MLPEnsemble(values, target, step_weights(weights), options, n_jobs)

    def train(
        self, genomes: Sequence[Genome], rows: Sequence[Rows], numbers: Sequence[int], done: Callable[[], Any]
    ) -> list[Network]:
        """Train a network for every genome; see `Learner`."""
        return self.ensemble.train([self.coding.inputs_of(genes) for genes in genomes], rows, numbers, done)

    def outputs(self, genomes: Sequence[Genome], models: Sequence[Network]) -> list[NDArray[np.float32]]:
        """Outputs for all training rows; those of a network that diverged may be NaN."""
        return self.ensemble.outputs(models)

    def pack(self, model: Network) -> dict[str, NDArray[Any]]:
        """Return the weights."""
        return {"hidden": model.hidden, "output": model.output}

    def can_unpack(self, packed: dict[str, NDArray[Any]], genome: Genome) -> bool:
        """Whether the weights have the right shapes, and are finite."""
        options, n_inputs = self.ensemble.options, len(self.coding.inputs_of(genome))
        shapes = {
            "hidden": (options.n_hidden, n_inputs + 1),
            "output": (options.n_outputs, options.n_hidden + 1),
        }
        return packed.keys() == shapes.keys() and all(
            array.shape == shapes[key] and array.dtype == np.float32 and bool(np.isfinite(array).all())
            for key, array in packed.items()
        )

    def unpack(
        self,
        packed: Sequence[dict[str, NDArray[Any]]],
        genomes: Sequence[Genome],
        rows: Sequence[Rows],
        numbers: Sequence[int],
    ) -> list[Network]:
        """Make networks of their weights."""
        pairs = zip(packed, genomes, strict=True)
        return [self.ensemble.network(self.coding.inputs_of(genes), **arrays) for arrays, genes in pairs]


@saved
@dataclass(frozen=True, eq=False)
class ModelReader:
    """How models read rows, and what those other than networks answer.

    Attributes
    ----------
    coding : InputCoding
        How columns become numbers.
    plain : bool
        Whether models get the columns as they are: nominal ones as codes, NaN for missing.
    task : Task
        What their answers mean.
    """

    coding: InputCoding
    plain: bool
    task: Any  # a Task

    def values(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Read encoded rows."""
        return rows if self.plain else self.coding.code(rows)

    def varying(self, values: NDArray[Any]) -> NDArray[np.int32]:
        """Columns of which a model can see more than one value among these rows.

        Examples
        --------
        >>> rows = np.array([[1.0, 5.0], [1.0, np.nan]])
        >>> coding = InputCoding.learn(rows, (None, None))
        >>> readers = [ModelReader(coding, plain, task=None) for plain in (True, False)]
        >>> [reader.varying(reader.values(rows)).tolist() for reader in readers]  # a network sees 0 twice
        [[1], []]
        """
        if self.plain:
            differ = (values != values[0]) & ~(np.isnan(values) & np.isnan(values[0]))
            return np.flatnonzero(differ.any(axis=0)).astype(np.int32)
        differ = (values != values[0]).any(axis=0)
        blocks = zip(self.coding.starts[:-1], self.coding.starts[1:], strict=True)
        return np.array([j for j, (a, b) in enumerate(blocks) if differ[a:b].any()], dtype=np.int32)

    def columns_of(self, genome: Genome) -> Genome:
        """Return the column of each input of a model of this genome.

        Examples
        --------
        >>> coding = InputCoding.learn(np.zeros((1, 2)), (None, np.array(["a", "b"])))
        >>> ModelReader(coding, plain=False, task=None).columns_of(np.array([1, 0]))
        array([1, 1, 0])
        """
        return genome if self.plain else np.repeat(genome, np.diff(self.coding.starts)[genome])

    def part(self, values: NDArray[Any], genome: Genome) -> NDArray[Any]:
        """Return what a model of this genome sees of the values."""
        part = values[:, genome if self.plain else self.coding.inputs_of(genome)]
        if not part.shape[1]:
            return np.zeros((len(values), 1))  # a column without a known category
        return part.astype(np.result_type(part, self.task.precision), copy=False)

    def answers(self, model: Any, values: NDArray[Any], genome: Genome) -> NDArray[Any]:
        """Answers of a model other than a network."""
        return np.asarray(self.task.answers(model, self.part(values, genome)))


class EstimatorLearner:
    """Clones of an estimator.

    Parameters
    ----------
    estimator : estimator
        The classifier or regressor.
    reader : ModelReader
        What it gets to see.
    values : ndarray of shape (n, n_inputs)
        Training rows, as the reader reads them.
    target, weights
        Class code, or quantity, and weight of every row.
    seed : int
        Seeds the estimators, together with their numbers.
    n_jobs : int or None
        Threads.
    """

    def __init__(
        self,
        estimator: Any,
        reader: ModelReader,
        values: NDArray[Any],
        target: NDArray[Any],
        weights: NDArray[np.float64] | None,
        seed: int,
        n_jobs: int | None,
    ) -> None:
        self.estimator = estimator
        self.when_not_finite = (
            f"the predictions of {type(estimator).__name__} are too large, or not finite. Use another"
            " estimator, or set other parameters."
        )
        self.when_alike = (
            f"{type(estimator).__name__} learns nothing from their columns. These may be unrelated to y, or "
            "its parameters may be too strict."
        )
        self.reader = reader
        self.values = values
        self.target = target
        self.weights = None if weights is None or (weights == weights[0]).all() else weights
        self.seed = seed
        self.n_jobs = n_jobs
        if self.weights is not None and not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(
                f"{type(estimator).__name__} takes no sample_weight: fit without, or use evaluate='oob', "
                "which draws rows by their weights."
            )

    def train(
        self, genomes: Sequence[Genome], rows: Sequence[Rows], numbers: Sequence[int], done: Callable[[], Any]
    ) -> list[Any]:
        """Fit a clone for every genome; see `Learner`."""

        def work(k: int) -> Any:
            model = self._seeded(numbers[k])
            if self.reader.plain:
                model.set_params(categorical_features=self.reader.coding.nominal[genomes[k]])
            given = {} if self.weights is None else {"sample_weight": self.weights[rows[k]]}
            model.fit(self.reader.part(self.values[rows[k]], genomes[k]), self.target[rows[k]], **given)
            done()
            return model

        return in_threads(work, range(len(genomes)), self.n_jobs, _core.StopFlag())

    def _seeded(self, number: int) -> Any:
        model = clone(self.estimator)
        state = int(np.random.SeedSequence([self.seed, number]).generate_state(1)[0] % 2**31)
        seeds = [name for name in model.get_params() if name.split("__")[-1] == "random_state"]
        return model.set_params(**dict.fromkeys(seeds, state))

    def outputs(self, genomes: Sequence[Genome], models: Sequence[Any]) -> list[NDArray[Any]]:
        """Answers of every model for all training rows, scaled."""

        def work(k: int) -> NDArray[Any]:
            return np.asarray(
                self.reader.task.scaled(self.reader.answers(models[k], self.values, genomes[k]))
            )

        return in_threads(work, range(len(models)), self.n_jobs, _core.StopFlag())

    def pack(self, model: Any) -> dict[str, NDArray[Any]]:
        """Return nothing: an estimator cannot be stored safely, and is fitted again from its seed."""
        return {}

    def can_unpack(self, packed: dict[str, NDArray[Any]], genome: Genome) -> bool:
        """Whether there is nothing."""
        return not packed

    def unpack(
        self,
        packed: Sequence[dict[str, NDArray[Any]]],
        genomes: Sequence[Genome],
        rows: Sequence[Rows],
        numbers: Sequence[int],
    ) -> list[Any]:
        """Fit the models again."""
        return self.train(genomes, rows, numbers, lambda: None)
