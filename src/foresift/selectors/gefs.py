"""GEFS as a selector: the columns that survive in the genomes of a bred ensemble."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from foresift.data.numeric_coding import ValueTable
from foresift.data.sklearn_compat import seed_of, track
from foresift.data.table import Table
from foresift.models.gefs.checkpoints import stored_seed
from foresift.models.gefs.evolution import Evolution, Population
from foresift.models.gefs.genes import Genome, survival
from foresift.models.gefs.learners import Learner, Rows
from foresift.models.gefs.search import SEARCH_CONSTRAINTS, Search, open_search, run_search
from foresift.selectors.base import RankingSelector, Scores
from foresift.selectors.units import Units

__all__ = ["GEFSSelector"]


class GEFSSelector(RankingSelector):
    """Keep the features that survive in an ensemble bred for accuracy and diversity (Opitz's GEFS).

    The score of a feature is its share in the genes of the final population, every genome counting by its
    fitness. Genes are drawn uniformly from all n features that are not constant, so a feature that neither
    helps nor harms has 1 / n; by default those that have as much or more are kept. Constant ones score 0.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        The number of best features to keep, or their fraction; None keeps those with at least an equal share.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity; "auto" takes numbers with fractions as a quantity.
    initial_length : float, default=0.5
        Genomes of the initial population have up to this many genes per column; see Notes.
    diversity_weight : float, default=0.3
        Lambda at the beginning; see Notes.
    evaluate : {"oob", "training", "validation", "auto"}, default="oob"
        On which rows accuracy is measured; see Notes and `GEFSClassifier`.
    emphasis : "adaboost" or None, default=None
        For classes only; see `GEFSClassifier`.
    learning_rate : float or None, default=None
        Of the networks; None is 0.15 for classes and 0.01 for a quantity.
    estimator, population, n_candidates, n_offspring, mutation_rate, mutation_share, \
validation_fraction, n_hidden, epochs, momentum, max_seconds, patience, checkpoint, \
categorical_features, n_jobs, random_state
        The search; see `GEFSClassifier`, and `GEFSRegressor` for a quantity.
    keep : array-like or None, default=None
        Columns that are kept in any case, by name, number or mask: they are not ranked, and not counted.
    feature_groups : mapping, list, "one-hot" or None, default=None
        Columns that are ranked, and kept or dropped, as one: lists of columns or patterns of names, a label
        for every column, or the blocks of OneHotEncoder; see `foresift.selectors.units.read_units`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Share of the genes; sums to one, unless all features are constant.
    genomes_ : list of ndarray
        The columns of every member of the final population.
    fitness_ : ndarray of shape (n_members,)
        Their fitness.
    n_trained_, n_diverged_ : int
        How many members were trained, and how many of them dropped.
    ranking_ : ndarray of shape (n_features,)
        1 is the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    See Also
    --------
    GEFSClassifier, GEFSRegressor : The ensemble itself.

    Notes
    -----
    The search looks for an ensemble, not for a ranking: selection is gentle, and a column that others make
    superfluous does no harm. With the genomes of `GEFSClassifier`, up to two genes per column, most columns
    are in most genomes, and diversity is easiest had by members that err; so this selector begins with
    shorter genomes and a smaller lambda. Columns of many categories help a network to learn the training rows
    by heart, so members are scored on held-out rows. With 5 relevant among 30 columns
    (make_classification, 400 rows, 6 tables, 10 epochs) 80 % of the five best were relevant, and 20 % with
    the defaults of `GEFSClassifier`. The default rule kept 87 % of the relevant and 17 % of the irrelevant
    columns.

    For a quantity, likewise with 5 relevant among 30 columns, 400 rows, 6 tables and 10 epochs: 67 % of the
    five best were relevant in make_regression (noise=50; standard error 4 %) and 77 % in make_friedman1
    (6 %), 27 % and 37 % with the other defaults of `GEFSRegressor`. The rule kept 87 % and 90 % of the
    relevant and 21 % of the irrelevant columns.

    Ctrl-C leaves no scores, unlike `GEFSClassifier`, which keeps its population; with `checkpoint` the
    generations up to then are in the file, and fitting again goes on from there.

    Metadata routing ends here: `set_fit_request` says whether `sample_weight` is wanted, requests of the
    estimators inside are not read.

    Examples
    --------
    >>> from foresift import GEFSSelector
    >>> from foresift.datasets import make_simple
    >>> X, y = make_simple(random_state=2)  # only the first two columns matter
    >>> selector = GEFSSelector(2, epochs=10, random_state=0).fit(X, y)
    >>> selector.get_support(indices=True)
    array([0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankingSelector._parameter_constraints,
        **SEARCH_CONSTRAINTS,
        "learning_rate": [*SEARCH_CONSTRAINTS["learning_rate"], None],
    }

    def __init__(
        self,
        n_features_to_select=None,
        *,
        task="auto",
        estimator="mlp",
        population=20,
        n_candidates=250,
        n_offspring=10,
        mutation_rate=0.5,
        mutation_share=0.1,
        initial_length=0.5,
        diversity_weight=0.3,
        evaluate="oob",
        validation_fraction=0.2,
        emphasis=None,
        n_hidden=None,
        epochs=40,
        learning_rate=None,
        momentum=0.9,
        max_seconds=None,
        patience=None,
        checkpoint=None,
        categorical_features="from_dtype",
        n_jobs=None,
        random_state=None,
        keep=None,
        feature_groups=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
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
        self.keep = keep
        self.feature_groups = feature_groups

    _needs_values = True
    genomes_: list[Genome]
    fitness_: NDArray[np.float64]

    def _open(self, X: Any, y: Any) -> ValueTable:
        return ValueTable.open(
            X, y, categorical_features=self.categorical_features, estimator=self, task=self.task
        )

    def _open_table(self, table: Table) -> ValueTable:
        return ValueTable(table.numbers(), table.schema, table.target)

    def _score(self, table: ValueTable, weights: NDArray[np.float64] | None) -> Scores:
        seed = stored_seed(self.checkpoint) if self.random_state is None else None
        seed = seed_of(self.random_state) if seed is None else seed
        if self.emphasis is not None:  # which counts errors
            table.target.require_classes(self, "set emphasis=None")
        units = self.units_
        search = open_search(self, table, weights, seed)
        if not units.trivial:
            search = _of_units(search, units)
        last: list[Population] = []
        with track(self, self.n_candidates, task="network") as progress:
            run_search(
                search,
                None,
                self.n_candidates,
                progress,
                keep=last.append,
                checkpoint=self.checkpoint,
                max_seconds=self.max_seconds,
                patience=self.patience,
            )
        population = last[-1]
        genomes = [member.genome for member in population.members]
        shares = survival(genomes, population.fitness, units.n_free)
        learned = {
            "genomes_": [units.columns(genome) for genome in genomes] if not units.trivial else genomes,
            "fitness_": population.fitness,
            "n_trained_": population.n_trained,
            "n_diverged_": population.n_diverged,
            "_n_varying": len(search.varying),
        }
        return Scores(shares if len(search.varying) else np.zeros(units.n_free), learned, by_unit=True)

    def _own_support(self) -> NDArray[np.bool_]:
        return np.asarray(self.scores_ * self._n_varying >= 1)


def _of_units(search: Search, units: Units) -> Search:
    """The same search, with units for genes."""
    found = np.unique(units.free_of_column[search.varying])
    varying: Genome = found[found >= 0].astype(np.int32)
    old = search.evolution
    genes = varying if len(varying) else np.arange(units.n_free, dtype=np.int32)
    learner = _UnitLearner(old.learner, units)
    evolution = Evolution(learner, old.evaluator, old.settings, genes, old.rows, old.shares)
    about = {**search.about, "units": units.of_column.tolist(), "kept": units.kept.tolist()}
    return replace(search, evolution=evolution, about=about, varying=varying)


class _UnitLearner:
    """Trains models on the columns of genomes of units, and on those that are kept by request."""

    def __init__(self, learner: Learner, units: Units) -> None:
        self._learner, self._units = learner, units
        self.when_not_finite, self.when_alike = learner.when_not_finite, learner.when_alike
        self.pack = learner.pack

    def _columns(self, genome: Genome) -> Genome:
        """The columns of a genome: those of a gene that is there twice are there twice."""
        parts = [np.flatnonzero(self._units.kept), *(self._units.members[unit] for unit in genome)]
        return np.concatenate(parts).astype(np.int32)

    def train(
        self, genomes: Sequence[Genome], rows: Sequence[Rows], numbers: Sequence[int], done: Callable[[], Any]
    ) -> list[Any]:
        """Train a model for every genome; see `Learner`."""
        return self._learner.train([*map(self._columns, genomes)], rows, numbers, done)

    def outputs(self, genomes: Sequence[Genome], models: Sequence[Any]) -> list[NDArray[Any]]:
        """Outputs of every model for all training rows."""
        return self._learner.outputs([*map(self._columns, genomes)], models)

    def can_unpack(self, packed: dict[str, NDArray[Any]], genome: Genome) -> bool:
        """Whether these arrays can be a model of the genome."""
        return self._learner.can_unpack(packed, self._columns(genome))

    def unpack(
        self,
        packed: Sequence[dict[str, NDArray[Any]]],
        genomes: Sequence[Genome],
        rows: Sequence[Rows],
        numbers: Sequence[int],
    ) -> list[Any]:
        """Make packed models again."""
        return self._learner.unpack(packed, [*map(self._columns, genomes)], rows, numbers)
