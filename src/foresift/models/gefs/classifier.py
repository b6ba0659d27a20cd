"""GEFS: genetic ensemble feature selection (Opitz)."""

from __future__ import annotations

import numbers
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from foresift import _core
from foresift.data.numeric_coding import ValueTable
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
from foresift.models.networks import probabilities

__all__ = ["GEFSClassifier"]


def _read(
    owner: GEFSClassifier, X: Any, y: Any, sample_weight: Any, estimator: Any = None
) -> tuple[ValueTable, NDArray[np.float64] | None]:
    """Check and read the training data."""
    table = ValueTable.open(X, y, categorical_features=owner.categorical_features, estimator=estimator)
    weights = check_sample_weight(sample_weight, table.n_rows)
    table.target.require_variety(owner, weights)
    return table, weights


class GEFSClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """An ensemble whose members see different columns, bred to be accurate and to disagree (Opitz's GEFS).

    A genome is a string of columns, constant ones left out; every genome makes a network. New genomes come
    from crossing and mutating those of the present ensemble, the fitter ones more often; of old and new
    members the fittest stay, where fitness is accuracy plus lambda times diversity, both scaled to the range
    from 0 to 1. The ensemble is the plain average of its members. Lambda is adjusted as the search goes on.

    The search can be stopped at any time and goes on later: see `fit_more`, `max_seconds`, `patience` and
    `checkpoint`. Ctrl-C leaves the estimator fitted with the last whole population, if the initial one was
    ready, and then raises.

    Parameters
    ----------
    estimator : "mlp" or classifier, default="mlp"
        What the members are: networks on the native kernel, or clones of any classifier, such as a tree. One
        with a parameter `categorical_features` gets the columns as they are, nominal ones as codes named
        there and NaN for missing; any other gets an indicator per category and standardised numbers.
    population : int, default=20
        Members of the ensemble.
    n_candidates : int, default=250
        How many are trained in all, the initial population included.
    n_offspring : int, default=10
        New members per generation.
    mutation_rate : float, default=0.5
        Share of the new members that are mutants; the others come from crossing two.
    mutation_share : float, default=0.1
        Share of the genes, one at least, that are replaced in a mutant.
    initial_length : float, default=2.0
        Genomes of the initial population have up to this many genes per column.
    diversity_weight : float, default=1.0
        Lambda at the beginning.
    evaluate : {"auto", "training", "oob", "validation"}, default="auto"
        Which rows tell accuracy and diversity: the training rows, as in the paper; for every member the rows
        it was not trained on, each being trained on a bootstrap sample (diversity by all rows); or rows that
        are held out. "auto" is "training" for networks and "oob" for other classifiers: a full-grown tree is
        always right on the rows it has seen.
    validation_fraction : float, default=0.2
        Share of every class that evaluate="validation" holds out.
    emphasis : "adaboost" or None, default=None
        Train new members on rows drawn so that half of them are ones the present ensemble misclassifies.
    n_hidden, epochs, learning_rate, momentum
        The networks; see `NetworkClassifier`. Hidden units are the same for all members.
    max_seconds : float, default=None
        Begin no new generation after this time.
    patience : int, default=None
        Stop when the ensemble's error has had no new low for this many generations.
    checkpoint : path, default=None
        A file that is written after every generation. If it exists, `fit` goes on from there, with the same
        outcome as if it had not been interrupted; data and parameters must be the same, but for
        `n_candidates`, `max_seconds`, `patience` and `n_jobs`. If `n_candidates` or more have been trained
        for it already, the ensemble is that of the file: see `n_trained_`.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are nominal: by dtype (text, categories, booleans), none, or those named, numbered or
        masked here.
    n_jobs : int, default=None
        Threads; -1 uses all cores. The outcome is the same for any number.
    random_state : int, RandomState or None, default=None
        Draws genomes, weights and the order of rows.

    Attributes
    ----------
    genomes_ : list of ndarray
        The columns of every member; one may occur more than once.
    estimators_ : list
        The members: `Network`, or fitted classifiers of class codes.
    fitness_ : ndarray of shape (n_members,)
        Their fitness.
    generations_ : list of dict
        Of every generation, the initial population being number 0: generation, n_trained, ensemble_error,
        mean_error, diversity, diversity_weight (lambda), seconds.
    n_trained_ : int
        How many members have been trained.
    n_diverged_ : int
        How many of them were dropped because their weights or outputs were not finite; see Notes.
    diversity_weight_ : float
        Lambda at the end.
    coding_ : InputCoding
        How columns become inputs.
    classes_, n_features_in_, feature_names_in_, schema_
        What classes and columns were.

    See Also
    --------
    GEFSSelector : Which columns survive.
    NetworkClassifier : A single network.

    Notes
    -----
    What the paper leaves open: ten children per generation; half of them mutants; parents are drawn in
    proportion to fitness; accuracy and diversity are scaled over old and new members together; diversity is
    the mean absolute difference to the outputs of the average of all of them.

    A learning rate that is too large may leave finite weights and saturated units: the network answers the
    same for every row. It is not dropped, but `fit` warns if half of the ensemble are such, or if half of all
    that were trained were dropped.

    `fit` with 100 candidates and then `fit_more` with 150 equals `fit` with 250, because 100 ends with a
    whole generation; a generation that was cut short stays short.

    Metadata routing ends here: `set_fit_request` says whether `sample_weight` is wanted, requests of the
    estimators inside are not read.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from foresift import GEFSClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = GEFSClassifier(n_candidates=40, epochs=10, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95, len(model.genomes_), model.n_trained_
    (True, 20, 40)
    >>> model.fit_more(X, y, 20).n_trained_
    60
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = SEARCH_CONSTRAINTS

    schema_: Schema
    classes_: NDArray[Any]
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

    @fit_context(prefer_skip_nested_validation=False)  # a classifier may be among the parameters
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> GEFSClassifier:
        """Breed an ensemble.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The columns; missing values are allowed.
        y : array-like of shape (n,)
            The class of every row.
        sample_weight : array-like of shape (n,), default=None
            How much each row counts, relative to their mean; a row of weight 0 is left out.

        Returns
        -------
        GEFSClassifier
            Itself.
        """
        table, weights = _read(self, X, y, sample_weight, estimator=self)
        seed = stored_seed(self.checkpoint) if self.random_state is None else None
        seed = seed_of(self.random_state) if seed is None else seed
        self._run(table, weights, seed, None, self.n_candidates, X, y, patience=self.patience)
        return self

    @fit_context(prefer_skip_nested_validation=False)
    def fit_more(
        self, X: Any, y: ArrayLike, n_candidates: int, sample_weight: ArrayLike | None = None
    ) -> GEFSClassifier:
        """Go on where the last fit ended.

        Parameters
        ----------
        X, y, sample_weight
            The training data of `fit` once more: an ensemble does not keep it.
        n_candidates : int
            How many more members to train. `max_seconds` holds again, `patience` does not.

        Returns
        -------
        GEFSClassifier
            Itself.
        """
        check_is_fitted(self)
        if isinstance(n_candidates, bool) or not isinstance(n_candidates, numbers.Integral):
            raise TypeError(f"n_candidates={n_candidates!r}, but it is a number of members: pass an int.")
        if n_candidates < 1:
            raise ValueError(f"n_candidates={n_candidates}, but one more member is the least to train.")
        table, weights = _read(self, X, y, sample_weight)
        most = self._population.n_trained + n_candidates
        self._run(table, weights, self._seed, self._population, most, X, y)
        return self

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
            given = search.about, table.schema, table.target.labels.tolist()
            if given != (self._about, self.schema_, self.classes_.tolist()):
                raise ValueError(
                    "fit_more got other data, or parameters have changed since fit: pass what fit was given, "
                    "or fit again."
                )
            population = search.evolution.recall(population)

        def keep(population: Population) -> None:
            self._population = population.without_outputs()
            self._reader, self._about, self._seed = search.reader, search.about, seed
            self.schema_, self.classes_, self.coding_ = (
                table.schema,
                table.target.labels,
                search.reader.coding,
            )

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

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict class probabilities: the mean outputs of the members, as shares of their sum.

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
        return probabilities(np.concatenate([self._outputs(batch) for batch in batches]))

    def _outputs(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        """Mean outputs of the members for encoded rows."""
        reader, members = self._reader, self._population.members
        values = reader.values(rows)
        total = np.zeros((len(values), 1 if len(self.classes_) == 2 else len(self.classes_)))

        def add(first: int, last: int, stop: _core.StopFlag) -> None:
            part = np.ascontiguousarray(values[first:last])
            for member in members:
                if isinstance(member.model, Network):
                    total[first:last] += member.model.outputs(part)
                else:
                    total[first:last] += reader.outputs(member.model, part, member.genome)

        in_row_spans(add, len(values), self.n_jobs)
        return total / len(members)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of every row.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            Class labels.
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_.take(shares.argmax(axis=1)))

    def __sklearn_tags__(self) -> Any:
        return table_tags(super().__sklearn_tags__())
