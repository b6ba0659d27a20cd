"""The operators and rules of GEFS, one by one."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresift.models.gefs.genes import (
    adjusted,
    breed,
    crossed,
    first_genomes,
    fitness,
    mutated,
    normalised,
    survival,
)

genomes = st.lists(st.integers(0, 9), min_size=1, max_size=20).map(
    lambda genes: np.array(genes, dtype=np.int32)
)
seeds = st.integers(0, 2**32).map(np.random.default_rng)


# What the paper says of lambda, by the signs of the changes of the ensemble's error, the mean error and the
# diversity: "we never change lambda if the ensemble error is decreasing; otherwise we (a) increase lambda if
# the mean error is not increasing and the diversity is decreasing; or (b) decrease lambda if the mean error
# is increasing and the diversity is not decreasing".
INCREASE = {(0, -1, -1), (0, 0, -1), (1, -1, -1), (1, 0, -1)}
DECREASE = {(0, 1, 0), (0, 1, 1), (1, 1, 0), (1, 1, 1)}


@pytest.mark.parametrize("signs", list(product((-1, 0, 1), repeat=3)))
def test_lambda_in_all_27_cases(signs):
    expected = 2.2 if signs in INCREASE else 1.8 if signs in DECREASE else 2.0
    assert adjusted(2.0, *(0.01 * sign for sign in signs)) == pytest.approx(expected, rel=1e-12)


@given(genomes, genomes, seeds)
def test_crossing_conserves_genes_and_leaves_no_child_empty(first, second, rng):
    children = crossed(first, second, rng)
    assert min(map(len, children)) >= 1
    together = np.concatenate(children)
    assert sorted(together) == sorted(np.concatenate([first, second]))


def test_no_child_of_the_shortest_parents_is_empty():
    one, two = np.array([3]), np.array([5])
    pairs = [crossed(one, two, np.random.default_rng(seed)) for seed in range(200)]
    assert all(len(a) == len(b) == 1 for a, b in pairs)
    assert {int(a[0]) for a, _ in pairs} == {3, 5}


def test_crossing_tosses_a_fair_coin_for_every_gene():
    rng = np.random.default_rng(0)
    parents = np.arange(10), np.arange(10, 20)
    counts = np.zeros(20)
    for _ in range(2000):
        counts[crossed(*parents, rng)[0]] += 1
    assert np.all(np.abs(counts / 2000 - 0.5) < 0.05)


@given(genomes, st.floats(0, 1), seeds)
def test_a_mutant_keeps_its_length_and_most_genes(genome, share, rng):
    before = genome.copy()
    child = mutated(genome, 10, rng, share)
    assert np.array_equal(genome, before)
    assert len(child) == len(genome)
    assert (child != genome).sum() <= max(1, round(share * len(genome)))
    assert ((child >= 0) & (child < 10)).all()


def test_new_genes_come_from_all_columns_and_every_place_changes():
    rng, genome = np.random.default_rng(0), np.zeros(5, dtype=np.int32)
    children = np.array([mutated(genome, 1000, rng, 0.1) for _ in range(3000)])
    changed = children != 0
    assert set(changed.sum(axis=1)) <= {0, 1}  # a new gene may be the old one
    assert changed.sum(axis=0).min() > 450
    assert len(np.unique(children)) > 900


def test_first_genomes_are_as_long_as_the_paper_says():
    drawn = first_genomes(4000, 6, np.random.default_rng(0))
    lengths = np.bincount([len(genome) for genome in drawn])
    assert len(lengths) == 13
    assert lengths[0] == 0
    assert np.abs(lengths[1:] / 4000 - 1 / 12).max() < 0.02
    assert np.abs(np.bincount(np.concatenate(drawn)) / sum(map(len, drawn)) - 1 / 6).max() < 0.01
    assert {len(genome) for genome in first_genomes(50, 1, np.random.default_rng(0))} == {1, 2}
    assert {len(genome) for genome in first_genomes(50, 3, np.random.default_rng(0), 0.1)} == {1}
    for length in (1e300, np.inf):
        with pytest.raises(ValueError, match="genomes of more than 100,000,000 genes"):
            first_genomes(2, 3, np.random.default_rng(0), length)


def test_normalised_and_fitness():
    assert normalised([3.0, 1.0, 2.0]).tolist() == [1.0, 0.0, 0.5]
    assert normalised([0.2, 0.2]).tolist() == [0.0, 0.0]
    assert fitness([0.9, 0.8, 0.85], [0.1, 0.3, 0.1], 2.0) == pytest.approx([1.0, 2.0, 0.5])
    assert fitness([0.5, 0.5], [0.1, 0.1], 1.0).tolist() == [0.0, 0.0]


def test_roulette_is_proportional_to_fitness():
    def shares(scores):
        """How often each is the parent of a mutant, which keeps nine of its ten genes."""
        parents = [np.full(10, k, dtype=np.int32) for k in range(len(scores))]
        children = breed(parents, scores, 4000, len(scores), rng, mutation_rate=1.0)
        return np.bincount(np.median(children, axis=1).astype(int), minlength=len(scores)) / 4000

    rng = np.random.default_rng(0)
    assert shares(np.array([1.0, 0.0, 3.0])) == pytest.approx([0.25, 0.0, 0.75], abs=0.03)
    assert shares(np.zeros(4)) == pytest.approx([0.25] * 4, abs=0.03)


@given(st.lists(st.floats(0, 2), min_size=2, max_size=6), seeds)
def test_parents_are_two(scores, rng):
    parents = [np.full(3, k, dtype=np.int32) for k in range(len(scores))]
    children = breed(parents, np.array(scores), 2, len(scores), rng, mutation_rate=0.0)
    assert np.unique(np.concatenate(children), return_counts=True)[1].tolist() == [3, 3]


@given(
    st.lists(genomes, min_size=1, max_size=5),
    st.integers(1, 12),
    st.floats(0, 1),
    seeds,
)
def test_breeding_makes_as_many_as_wanted(parents, n_children, rate, rng):
    children = breed(parents, np.ones(len(parents)), n_children, 10, rng, mutation_rate=rate)
    assert len(children) == n_children
    assert min(map(len, children)) >= 1
    assert all(((child >= 0) & (child < 10)).all() for child in children)


def test_share_of_mutants():
    parents = [np.zeros(10, dtype=np.int32), np.ones(10, dtype=np.int32)]
    rng = np.random.default_rng(0)
    children = breed(parents, np.ones(2), 10, 2, rng, mutation_share=0.0, mutation_rate=0.5)
    assert [len(child) for child in children[:5]] == [10] * 5  # mutants keep their length
    only_crossed = breed(parents, np.ones(2), 10, 2, rng, mutation_rate=0.0)
    for a, b in zip(only_crossed[::2], only_crossed[1::2], strict=True):
        assert sorted(np.concatenate([a, b])) == [0] * 10 + [1] * 10


def test_survival_counts_genes_by_fitness():
    population = [np.array([0, 0, 1]), np.array([2]), np.array([1, 1])]
    assert survival(population, np.array([1.0, 4.0, 0.0]), 4) == pytest.approx([2 / 7, 1 / 7, 4 / 7, 0])
    assert survival(population, np.zeros(3), 4) == pytest.approx([2 / 6, 3 / 6, 1 / 6, 0])
