"""The genetic operators and rules of GEFS: pure functions of genomes, scores and a random generator.

A genome is a string of columns, as long as it likes, in which a column may occur more than once (Opitz).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["adjusted", "breed", "crossed", "first_genomes", "fitness", "mutated", "normalised", "survival"]

Genome = NDArray[np.int32]
LAMBDA_STEP = 0.1  # "the amount lambda changes is 10% of its current value"
_MAX_GENES = 10**8


def first_genomes(
    n_genomes: int, n_columns: int, rng: np.random.Generator, max_length: float = 2.0
) -> list[Genome]:
    """Draw genomes of a length uniform between 1 and `max_length` times the columns, with replacement.

    Examples
    --------
    >>> genomes = first_genomes(1000, 5, np.random.default_rng(0))
    >>> sorted({len(genome) for genome in genomes})
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    """
    if max_length * n_columns > _MAX_GENES:
        raise ValueError(
            f"initial_length={max_length} asks for genomes of more than {_MAX_GENES:,} genes: it is a"
            f" multiple of the {n_columns} columns, usually between 0.5 and 2."
        )
    most = max(1, int(max_length * n_columns))
    lengths = rng.integers(1, most, size=n_genomes, endpoint=True)
    return [rng.integers(0, n_columns, size=length, dtype=np.int32) for length in lengths]


def crossed(first: Genome, second: Genome, rng: np.random.Generator) -> tuple[Genome, Genome]:
    """Place every gene of both parents in one of two children, by the toss of a coin.

    Nothing is lost or made: the children together have the genes of the parents together. A child that gets
    none is given one gene of the other, drawn at random; two parents have two genes at least.

    Examples
    --------
    >>> children = crossed(np.array([0, 1, 2]), np.array([7, 7]), np.random.default_rng(0))
    >>> np.sort(np.concatenate(children))
    array([0, 1, 2, 7, 7])
    """
    genes = np.concatenate([first, second])
    to_second = rng.random(len(genes)) < 0.5
    if to_second.all() or not to_second.any():
        to_second[rng.integers(len(genes))] ^= True
    return genes[~to_second], genes[to_second]


def mutated(genome: Genome, n_columns: int, rng: np.random.Generator, share: float = 0.1) -> Genome:
    """Replace a share of the genes, one at least, by columns drawn uniformly.

    Examples
    --------
    >>> genome = np.arange(100)
    >>> child = mutated(genome, 10**6, np.random.default_rng(0), share=0.05)
    >>> int((child != genome).sum())
    5
    """
    n_changed = max(1, round(share * len(genome)))
    child = genome.copy()
    child[rng.permutation(len(genome))[:n_changed]] = rng.integers(0, n_columns, size=n_changed)
    return child


def normalised(values: ArrayLike) -> NDArray[np.float64]:
    """Scale values to the range from 0 to 1; all 0 if they are all the same.

    Examples
    --------
    >>> normalised([0.5, 0.7, 0.9]), normalised([0.5, 0.5])
    (array([0. , 0.5, 1. ]), array([0., 0.]))
    """
    values = np.asarray(values, dtype=np.float64)
    span = np.ptp(values)
    return (values - values.min()) / span if span > 0 else np.zeros_like(values)


def fitness(accuracy: ArrayLike, diversity: ArrayLike, weight: float) -> NDArray[np.float64]:
    """Fitness of the members of a population: accuracy + weight x diversity, normalised (Opitz eq. 1).

    Examples
    --------
    >>> fitness([0.8, 0.9], [0.2, 0.1], 0.5)
    array([0.5, 1. ])
    """
    return normalised(accuracy) + weight * normalised(diversity)


def _spin(scores: NDArray[np.float64], rng: np.random.Generator) -> int:
    """Draw one with a probability proportional to its score; if all are 0, any."""
    total = scores.sum()
    if total <= 0:
        return int(rng.integers(len(scores)))
    return int(min(np.searchsorted(np.cumsum(scores), rng.random() * total, side="right"), len(scores) - 1))


def _pair(scores: NDArray[np.float64], rng: np.random.Generator) -> tuple[int, int]:
    """Draw two different ones, if there are two."""
    first = _spin(scores, rng)
    if len(scores) == 1:
        return first, first
    others = np.delete(np.arange(len(scores)), first)
    return first, int(others[_spin(scores[others], rng)])


def breed(
    genomes: Sequence[Genome],
    scores: NDArray[np.float64],
    n_children: int,
    n_columns: int,
    rng: np.random.Generator,
    *,
    mutation_rate: float = 0.5,
    mutation_share: float = 0.1,
) -> list[Genome]:
    """Make the genomes of the next networks.

    Parameters
    ----------
    genomes : sequence of ndarray
        The population.
    scores : ndarray
        Their fitness; parents are drawn in proportion.
    n_children : int
        How many are wanted.
    n_columns : int
        Number of columns to draw new genes from.
    rng : Generator
        Draws everything.
    mutation_rate : float, default=0.5
        Share of the children that are mutants of one parent; the others come from crossing two.
    mutation_share : float, default=0.1
        Share of a mutant's genes that are new.

    Returns
    -------
    list of ndarray
        The children, the mutants first; none is empty.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> parents = [np.array([0, 1]), np.array([2, 3])]
    >>> len(breed(parents, np.array([1.0, 1.0]), 7, 4, rng))
    7
    """
    n_mutants = int(n_children * mutation_rate + 0.5)
    children = [
        mutated(genomes[_spin(scores, rng)], n_columns, rng, mutation_share) for _ in range(n_mutants)
    ]
    while len(children) < n_children:
        a, b = _pair(scores, rng)
        children.extend(crossed(genomes[a], genomes[b], rng))
    return children[:n_children]


def adjusted(weight: float, ensemble_error: float, mean_error: float, diversity: float) -> float:
    """Adjust lambda by how the ensemble's error, the mean error and the mean diversity have just changed.

    It stays while the ensemble's error falls. Otherwise it grows by a tenth if the mean error does not grow
    and the diversity falls, and shrinks by a tenth if the mean error grows and the diversity does not fall.

    Examples
    --------
    >>> adjusted(1.0, -0.01, 0.0, -0.1), adjusted(1.0, 0.0, 0.0, -0.1), adjusted(1.0, 0.0, 0.1, 0.0)
    (1.0, 1.1, 0.9)
    """
    if ensemble_error < 0:
        return weight
    if mean_error <= 0 and diversity < 0:
        return weight * (1 + LAMBDA_STEP)
    if mean_error > 0 and diversity >= 0:
        return weight * (1 - LAMBDA_STEP)
    return weight


def survival(genomes: Sequence[Genome], scores: NDArray[np.float64], n_columns: int) -> NDArray[np.float64]:
    """Share of every column in the genes of a population, each genome counting by its fitness.

    Examples
    --------
    >>> survival([np.array([0, 0, 1]), np.array([1])], np.array([1.0, 3.0]), 3).round(3)
    array([0.333, 0.667, 0.   ])
    """
    if scores.sum() <= 0:
        scores = np.ones(len(genomes))
    counts = np.stack([np.bincount(genome, minlength=n_columns) for genome in genomes])
    shares = scores @ counts
    return np.asarray(shares / shares.sum())
