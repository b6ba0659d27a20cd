"""What the ensembles of GEFS share: parameters, breeding, going on, and the mean outputs of the members."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from dataclasses import asdict
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from foresift import _core
from foresift.data.numeric_coding import InputCoding, ValueTable
from foresift.data.plain_state import PlainEstimator
from foresift.data.sklearn_compat import (
    CallbackSupportMixin,
    StoppedEarly,
    fit_context,
    seed_of,
    table_tags,
    track,
)
from foresift.data.table import Schema
from foresift.data.weights import check_sample_weight
from foresift.engine.grow import in_row_spans
from foresift.models.backprop import Network
from foresift.models.gefs.checkpoints import stored_seed
from foresift.models.gefs.evolution import Population
from foresift.models.gefs.genes import Genome
from foresift.models.gefs.learners import ModelReader
from foresift.models.gefs.search import SEARCH_CONSTRAINTS, open_search, run_search

__all__ = ["GEFSModel"]


class GEFSModel(CallbackSupportMixin, PlainEstimator):
    """Base of the ensembles: everything but what their outputs mean.

    Parameters
    ----------
    estimator, population, n_candidates, n_offspring, mutation_rate, mutation_share, initial_length
        The members and the search; see `GEFSClassifier`.
    diversity_weight, evaluate, validation_fraction, emphasis, n_hidden, epochs, learning_rate, momentum
        Fitness and networks; see `GEFSClassifier`.
    max_seconds, patience, checkpoint, categorical_features, n_jobs, random_state
        See `GEFSClassifier`.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = SEARCH_CONSTRAINTS
    _task: ClassVar[str]  # of `make_table`

    schema_: Schema
    coding_: InputCoding
    n_features_in_: int
    _population: Population
    _reader: ModelReader
    _about: dict[str, Any]
    _seed: int

    def __init__(
        self,
        estimator="mlp",
        *,
        population=20,
        n_candidates=250,
        n_offspring=10,
        mutation_rate=0.5,
        mutation_share=0.1,
        initial_length=2.0,
        diversity_weight=1.0,
        evaluate="auto",
        validation_fraction=0.2,
        emphasis=None,
        n_hidden=None,
        epochs=40,
        learning_rate=0.15,
        momentum=0.9,
        max_seconds=None,
        patience=None,
        checkpoint=None,
        categorical_features="from_dtype",
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.population = population
        self.n_candidates = n_candidates
        self.n_offspring = n_offspring
        self.mutation_rate = mutation_rate
        self.mutation_share = mutation_share
        self.initial_length = initial_length
        self.diversity_weight = diversity_weight
        self.evaluate = evaluate
        self.validation_fraction = validation_fraction
        self.emphasis = emphasis
        self.n_hidden = n_hidden
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.max_seconds = max_seconds
        self.patience = patience
        self.checkpoint = checkpoint
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)  # a model may be among the parameters
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Breed an ensemble.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The columns; missing values are allowed.
        y : array-like of shape (n,)
            The class of every row; for a regressor a finite number.
        sample_weight : array-like of shape (n,), default=None
            How much each row counts, relative to their mean; a row of weight 0 is left out.

        Returns
        -------
        estimator
            Itself.
        """
        table, weights = self._read(X, y, sample_weight, estimator=self)
        seed = stored_seed(self.checkpoint) if self.random_state is None else None
        seed = seed_of(self.random_state) if seed is None else seed
        self._run(table, weights, seed, None, self.n_candidates, X, y, patience=self.patience)
        return self

    @fit_context(prefer_skip_nested_validation=False)
    def fit_more(
        self, X: Any, y: ArrayLike, n_candidates: int, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Go on where the last fit ended.

        Parameters
        ----------
        X, y, sample_weight
            The training data of `fit` once more: an ensemble does not keep it.
        n_candidates : int
            How many more members to train. `max_seconds` holds again, `patience` does not.

        Returns
        -------
        estimator
            Itself.
        """
        check_is_fitted(self)
        if isinstance(n_candidates, bool) or not isinstance(n_candidates, numbers.Integral):
            raise TypeError(f"n_candidates={n_candidates!r}, but it is a number of members: pass an int.")
        if n_candidates < 1:
            raise ValueError(f"n_candidates={n_candidates}, but one more member is the least to train.")
        table, weights = self._read(X, y, sample_weight)
        most = self._population.n_trained + n_candidates
        self._run(table, weights, self._seed, self._population, most, X, y)
        return self

    def _read(
        self, X: Any, y: Any, sample_weight: Any, estimator: Any = None
    ) -> tuple[ValueTable, NDArray[np.float64] | None]:
        """Check and read the training data."""
        table = ValueTable.open(
            X, y, categorical_features=self.categorical_features, estimator=estimator, task=self._task
        )
        weights = check_sample_weight(sample_weight, table.n_rows)
        table.target.require_variety(self, weights)
        return table, weights

    @abstractmethod
    def _keep_task(self, task: Any) -> None:
        """Set the attributes that say what outputs mean."""

    def _run(
        self,
        table: ValueTable,
        weights: NDArray[np.float64] | None,
        seed: int,
        population: Population | None,
        most: int,
        X: Any,
        y: Any,
        patience: int | None = None,
    ) -> None:
        search = open_search(self, table, weights, seed)
        if population is not None:
            if (search.about, table.schema) != (self._about, self.schema_):
                raise ValueError(
                    "fit_more got other data, or parameters have changed since fit: pass what fit was given, "
                    "or fit again."
                )
            population = search.evolution.recall(population)

        def keep(population: Population) -> None:
            self._population = population.without_outputs()
            self._reader, self._about, self._seed = search.reader, search.about, seed
            self.schema_, self.coding_ = table.schema, search.reader.coding
            self._keep_task(search.reader.task)

        n_tasks = most - (0 if population is None else population.n_trained)
        try:
            with track(self, n_tasks, task="network", X=X, y=y) as progress:
                run_search(
                    search,
                    population,
                    most,
                    progress,
                    keep=keep,
                    checkpoint=self.checkpoint,
                    max_seconds=self.max_seconds,
                    patience=patience,
                )
        except KeyboardInterrupt:
            if hasattr(self, "schema_"):  # the last whole generation has been kept
                raise StoppedEarly(self) from None
            raise

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_population")

    @property
    def _bred(self) -> Population:
        check_is_fitted(self)
        return self._population

    @property
    def genomes_(self) -> list[Genome]:
        """The columns of every member."""
        return [member.genome for member in self._bred.members]

    @property
    def estimators_(self) -> list[Any]:
        """The members."""
        return [member.model for member in self._bred.members]

    @property
    def estimators_features_(self) -> list[Genome]:
        """The column of each input of every member."""
        return [self._reader.columns_of(genome) for genome in self.genomes_]

    @property
    def fitness_(self) -> NDArray[np.float64]:
        """Fitness of every member."""
        return self._bred.fitness

    @property
    def generations_(self) -> list[dict[str, Any]]:
        """What every generation was like."""
        return [asdict(record) for record in self._bred.history]

    @property
    def n_trained_(self) -> int:
        """Number of members trained so far."""
        return self._bred.n_trained

    @property
    def n_diverged_(self) -> int:
        """Number of them that were dropped."""
        return self._bred.n_diverged

    @property
    def diversity_weight_(self) -> float:
        """Lambda at the end."""
        return self._bred.diversity_weight

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        """Mean answers of the members for every row."""
        check_is_fitted(self)
        return np.concatenate([self._mean_outputs(rows) for rows in self.schema_.encode_batches(X, self)])

    def _mean_outputs(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        reader, members = self._reader, self._population.members
        values = reader.values(rows)
        total = np.zeros((len(values), reader.task.n_outputs))
        networks = isinstance(members[0].model, Network)

        def add(first: int, last: int, stop: _core.StopFlag) -> None:
            part = np.ascontiguousarray(values[first:last])
            for member in members:
                if networks:
                    total[first:last] += member.model.outputs(part)
                else:
                    total[first:last] += reader.answers(member.model, part, member.genome)

        in_row_spans(add, len(values), self.n_jobs)
        mean = total / len(members)
        return np.asarray(reader.task.unscaled(mean)) if networks else mean

    def __sklearn_tags__(self) -> Any:
        return table_tags(super().__sklearn_tags__())
