"""The search of GEFS: members are bred, trained, scored by accuracy and diversity, and the fittest kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.plain_state import saved
from foresift.models.gefs.genes import Genome, adjusted, breed, first_genomes
from foresift.models.gefs.learners import Learner, Rows
from foresift.models.gefs.members import Evaluator, Member

__all__ = ["Evolution", "Population", "Record", "Settings"]

_TOO_LARGE = 1e30  # for an output, also in single precision


@dataclass(frozen=True)
class Settings:
    """What drives the search; see `GEFSClassifier`."""

    population: int
    n_offspring: int
    mutation_rate: float
    mutation_share: float
    initial_length: float
    diversity_weight: float
    emphasis: bool
    seed: int


@saved
@dataclass(frozen=True)
class Record:
    """One generation: an entry of `generations_`."""

    generation: int
    n_trained: int
    ensemble_error: float
    mean_error: float
    diversity: float
    diversity_weight: float  # lambda of this generation
    seconds: float = 0.0


@saved
@dataclass(frozen=True, eq=False)
class Population:
    """The state of a search between two generations; all that is needed to go on.

    Attributes
    ----------
    members : tuple of Member
        The ensemble.
    fitness : ndarray
        Fitness of every member in the last generation.
    diversity_weight : float
        Lambda for the next generation.
    n_trained, n_diverged : int
        Models trained so far, and how many of them were useless.
    history : tuple of Record
        All generations, the initial population first.
    """

    members: tuple[Member, ...]
    fitness: NDArray[np.float64]
    diversity_weight: float
    n_trained: int
    n_diverged: int
    history: tuple[Record, ...] = field(default=())

    def without_outputs(self) -> Population:
        """Leave out what can be worked out again from the training rows."""
        return replace(self, members=tuple(replace(member, outputs=None) for member in self.members))


def _are_among(chosen: NDArray[Any], all_of_them: NDArray[Any]) -> bool:
    """Whether these are whole numbers, at least one, and all among the others."""
    one_by_one = chosen.ndim == 1 and chosen.size > 0 and chosen.dtype.kind in "iu"
    return one_by_one and bool(np.isin(chosen, all_of_them).all())


def _all_sound(outputs: NDArray[Any]) -> bool:
    """Whether all outputs are finite, and so are sums of their squares."""
    return bool((np.abs(outputs) < _TOO_LARGE).all())


class Evolution:
    """Breeds one generation after another. A population is never changed: a step returns the next.

    Parameters
    ----------
    learner : Learner
        Trains the models.
    evaluator : Evaluator
        Scores them.
    settings : Settings
        Sizes and rates.
    columns : ndarray of int32
        The genes to choose from, in ascending order.
    rows : ndarray of uint32
        The rows that may be trained on.
    shares : ndarray or None
        Probability with which each of `rows` is drawn; None trains on all of them, if there is no emphasis.
    """

    def __init__(
        self,
        learner: Learner,
        evaluator: Evaluator,
        settings: Settings,
        columns: Genome,
        rows: Rows,
        shares: NDArray[np.float64] | None,
    ) -> None:
        self.learner = learner
        self.evaluator = evaluator
        self.settings = settings
        self.columns = columns
        self.rows = rows
        self.shares = shares

    def begin(self, most: int, done: Callable[[], Any]) -> Population:
        """Train the initial population; those that diverge are replaced, until `most` have been trained."""
        wanted, n_trained = self.settings.population, 0
        members: list[Member] = []
        while len(members) < wanted and n_trained < most:
            rng = np.random.default_rng([self.settings.seed, 0, n_trained])
            n_new = min(wanted - len(members), most - n_trained)
            drawn = first_genomes(n_new, len(self.columns), rng, self.settings.initial_length)
            genomes = [self.columns[places] for places in drawn]
            members += self._born(genomes, n_trained, self.shares, done)
            n_trained += n_new
        if not members:
            raise ValueError(f"All {n_trained} models are useless: {self.learner.when_not_finite}")
        weight = self.settings.diversity_weight
        scores = self.evaluator.fitness(members, weight)
        first = Record(0, n_trained, *self.evaluator.errors(members), weight)
        return Population(tuple(members), scores, weight, n_trained, n_trained - len(members), (first,))

    def step(self, old: Population, most: int, done: Callable[[], Any]) -> Population:
        """Breed and train children, and keep the fittest of old and new (Opitz, Table 1, 2a to 2f).

        There are fewer children than usual if more than `most` models would have been trained in all.
        """
        settings, last = self.settings, old.history[-1]
        n_children = min(settings.n_offspring, most - old.n_trained)
        rng = np.random.default_rng([settings.seed, last.generation + 1])
        places = breed(
            [np.searchsorted(self.columns, member.genome).astype(np.int32) for member in old.members],
            old.fitness,
            n_children,
            len(self.columns),
            rng,
            mutation_rate=settings.mutation_rate,
            mutation_share=settings.mutation_share,
        )
        children = [self.columns[child] for child in places]
        new = self._born(children, old.n_trained, self._shares_for(old), done)
        everyone = [*old.members, *new]
        weight = old.diversity_weight
        scores = self.evaluator.fitness(everyone, weight)
        best = np.sort(np.argsort(-scores, kind="stable")[: settings.population])
        members = tuple(everyone[k] for k in best)
        record = Record(
            last.generation + 1, old.n_trained + n_children, *self.evaluator.errors(members), weight
        )
        return Population(
            members,
            scores[best],
            adjusted(
                weight,
                record.ensemble_error - last.ensemble_error,
                record.mean_error - last.mean_error,
                record.diversity - last.diversity,
            ),
            record.n_trained,
            old.n_diverged + n_children - len(new),
            (*old.history, record),
        )

    def recall(self, population: Population) -> Population:
        """Ask the members of a population that has been stored for their outputs again."""
        genomes = [member.genome for member in population.members]
        outputs = self.learner.outputs(genomes, [member.model for member in population.members])
        pairs = zip(population.members, outputs, strict=True)
        return replace(population, members=tuple(replace(member, outputs=out) for member, out in pairs))

    def can_hold(self, population: Population, packed: Sequence[dict[str, NDArray[Any]]]) -> bool:
        """Whether this search can have made the population and the packed models of its members."""
        members = population.members
        return (
            len(members) > 0
            and len(population.history) > 0
            and population.fitness.shape == (len(members),)
            and bool(np.isfinite(population.fitness).all())
            and all(_are_among(member.genome, self.columns) for member in members)
            and all(self.shares is None if m.rows is None else _are_among(m.rows, self.rows) for m in members)
            and all(map(self.learner.can_unpack, packed, [member.genome for member in members]))
        )

    def revive(self, population: Population, packed: Sequence[dict[str, NDArray[Any]]]) -> Population:
        """Give the members of a population from a file their models and outputs."""
        members = population.members
        genomes = [member.genome for member in members]
        rows = [self.rows if member.rows is None else member.rows for member in members]
        models = self.learner.unpack(packed, genomes, rows, [member.number for member in members])
        pairs = zip(members, models, strict=True)
        return self.recall(
            replace(population, members=tuple(replace(member, model=model) for member, model in pairs))
        )

    def _shares_for(self, population: Population) -> NDArray[np.float64] | None:
        """Probability of every row to be drawn for a child.

        With emphasis, AdaBoost's factor: rows that the present ensemble misclassifies get as much of the
        whole as the others. Without errors, or with as many as right answers, there is no such factor. A row
        without an out-of-bag prediction is not known to be wrong.
        """
        if not self.settings.emphasis:
            return self.shares
        shares = np.full(len(self.rows), 1 / len(self.rows)) if self.shares is None else self.shares
        outputs, has_oob_prediction = self.evaluator.ensemble(population.members)
        wrong = ((self.evaluator.row_errors(outputs) > 0) & has_oob_prediction)[self.rows]
        error = shares[wrong].sum()
        if not 0 < error < 0.5:
            return shares
        shares = np.where(wrong, shares * ((1 - error) / error), shares)
        return np.asarray(shares / shares.sum())

    def _born(
        self, genomes: list[Genome], first: int, shares: NDArray[np.float64] | None, done: Callable[[], Any]
    ) -> list[Member]:
        """Train and score a model for every genome; those that diverged are left out."""
        numbers = range(first, first + len(genomes))
        drawn = [None if shares is None else self._draw(number, shares) for number in numbers]
        rows = [self.rows if draw is None else draw for draw in drawn]
        models = self.learner.train(genomes, rows, numbers, done)
        members = map(Member, numbers, genomes, drawn, models)
        outputs = self.learner.outputs(genomes, models)
        asked = [replace(member, outputs=out) for member, out in zip(members, outputs, strict=True)]
        alive = [m for m in asked if _all_sound(m.outputs) and getattr(m.model, "is_finite", True)]
        return [replace(member, accuracy=self.evaluator.accuracy(member)) for member in alive]

    def _draw(self, number: int, shares: NDArray[np.float64]) -> Rows:
        """Draw as many rows as there are, with replacement, that differ in y."""
        rng = np.random.default_rng([self.settings.seed, number, 1])
        for _ in range(100):
            rows = np.sort(rng.choice(self.rows, size=len(self.rows), p=shares))
            if len(np.unique(self.evaluator.target[rows])) > 1:
                return rows
        return self.rows
