"""The search of GEFS with models that answer by their genes, so that every step can be worked out by hand."""

import numpy as np
import pytest

from foresift.models.gefs.evolution import Evolution, Population, Settings
from foresift.models.gefs.genes import adjusted, breed, first_genomes
from foresift.models.gefs.members import ClassEvaluator, Member

SETTINGS = {
    "population": 6,
    "n_offspring": 4,
    "mutation_rate": 0.5,
    "mutation_share": 0.1,
    "initial_length": 2.0,
    "diversity_weight": 1.0,
    "emphasis": False,
    "seed": 3,
}
N_ROWS, N_COLUMNS = 30, 5


class FakeLearner:
    """A model is its genome; its output the mean of random columns. Some numbers diverge."""

    when_not_finite = "so do that."

    def __init__(self, n_outputs=1, diverging=()):
        self.values = np.random.default_rng(0).random((N_ROWS, N_COLUMNS, n_outputs)).astype(np.float32)
        self.diverging, self.trained_on = set(diverging), {}

    def train(self, genomes, rows, numbers, done):
        self.trained_on.update(zip(numbers, rows, strict=True))
        return list(numbers)

    def outputs(self, genomes, models):
        return [
            np.full_like(self.values[:, 0], np.nan)
            if model in self.diverging
            else self.values[:, genes].mean(axis=1)
            for genes, model in zip(genomes, models, strict=True)
        ]


def make(n_outputs=1, diverging=(), oob_only=False, shares=None, columns=range(N_COLUMNS), **changes):
    target = np.random.default_rng(1).integers(0, max(2, n_outputs), N_ROWS).astype(np.int32)
    learner = FakeLearner(n_outputs, diverging)
    evaluator = ClassEvaluator(target, np.ones(N_ROWS), oob_only)
    rows = np.arange(N_ROWS, dtype=np.uint32)
    settings, columns = Settings(**{**SETTINGS, **changes}), np.array(columns, np.int32)
    return Evolution(learner, evaluator, settings, columns, rows, shares)


def nothing():
    pass


def literal_scores(evolution, genomes):
    """Accuracy and diversity of models by definition: loops over members, rows and outputs."""
    outputs = evolution.learner.outputs(genomes, [-1] * len(genomes))
    target, n_outputs = evolution.evaluator.target, outputs[0].shape[1]
    mean = [
        [np.mean([o[r, k] for o in outputs], dtype=float) for k in range(n_outputs)] for r in range(N_ROWS)
    ]
    accuracy, diversity = [], []
    for o in outputs:
        said = [int(o[r, 0] > 0.5) if n_outputs == 1 else int(np.argmax(o[r])) for r in range(N_ROWS)]
        accuracy.append(np.mean([said[r] == target[r] for r in range(N_ROWS)]))
        apart = [abs(float(o[r, k]) - mean[r][k]) for r in range(N_ROWS) for k in range(n_outputs)]
        diversity.append(np.mean(apart))
    mean = np.array(mean)
    said = mean[:, 0] > 0.5 if n_outputs == 1 else mean.argmax(axis=1)
    return np.array(accuracy), np.array(diversity), float(np.mean(said != target))


def scaled(values):
    low, high = min(values), max(values)
    return np.array([(value - low) / (high - low) if high > low else 0.0 for value in values])


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_two_generations_by_hand(n_outputs):
    evolution = make(n_outputs)
    population = evolution.begin(100, nothing)
    genomes = first_genomes(6, N_COLUMNS, np.random.default_rng([3, 0, 0]))
    weight, last, fitness = 1.0, None, None
    for generation in range(3):
        if generation:
            population = evolution.step(population, 1000, nothing)
            rng = np.random.default_rng([3, generation])
            everyone = genomes + breed(genomes, fitness, 4, N_COLUMNS, rng)
        else:
            everyone = genomes
        accuracy, diversity, _ = literal_scores(evolution, everyone)
        scores = scaled(accuracy) + weight * scaled(diversity)
        kept = sorted(sorted(range(len(everyone)), key=lambda k: (-scores[k], k))[:6])
        genomes, fitness = [everyone[k] for k in kept], scores[kept]
        assert [member.genome.tolist() for member in population.members] == [g.tolist() for g in genomes]
        assert population.fitness == pytest.approx(fitness, abs=1e-6)
        accuracy, diversity, ensemble_error = literal_scores(evolution, genomes)
        record = population.history[-1]
        now = np.array([ensemble_error, 1 - accuracy.mean(), diversity.mean()])
        assert [record.ensemble_error, record.mean_error, record.diversity] == pytest.approx(now, abs=1e-6)
        assert record.diversity_weight == weight
        if last is not None:
            weight = adjusted(weight, *(now - last))
            assert population.diversity_weight == weight
        last = now
    assert population.n_trained == 14


def test_population_never_shrinks_and_the_unfit_die():
    evolution = make()
    population = evolution.begin(500, nothing)
    while population.n_trained < 106:
        population = evolution.step(population, 106, nothing)
        assert len(population.members) == 6
        assert len({member.number for member in population.members}) == 6
        assert min(len(member.genome) for member in population.members) >= 1
    assert population.n_trained == 106
    assert [record.n_trained for record in population.history] == list(range(6, 107, 4))
    assert max(member.number for member in population.members) > 5


def test_genes_are_of_the_columns_to_choose_from():
    some, all_of_three = make(columns=[1, 2, 4]), make(columns=range(3))
    some.learner.values = some.learner.values[:, [3, 0, 1, 4, 2]]  # so that 1, 2, 4 are what 0, 1, 2 were
    population, same = (evolution.begin(500, nothing) for evolution in (some, all_of_three))
    for _ in range(10):
        population = some.step(population, 500, nothing)
        same = all_of_three.step(same, 500, nothing)
    pairs = zip(population.members, same.members, strict=True)
    assert all(np.array_equal(a.genome, np.array([1, 2, 4])[b.genome]) for a, b in pairs)
    assert {*np.concatenate([member.genome for member in population.members])} == {1, 2, 4}


def test_last_generation_is_cut_short():
    evolution = make()
    population = evolution.begin(13, nothing)
    assert population.n_trained == 6
    population = evolution.step(population, 13, nothing)
    assert population.n_trained == 10
    assert evolution.step(population, 13, nothing).n_trained == 13


def test_those_that_diverge_are_dropped_counted_and_replaced():
    evolution = make(diverging={0, 3, 7, 9})
    population = evolution.begin(100, nothing)
    assert [member.number for member in population.members] == [1, 2, 4, 5, 6, 8]
    assert (population.n_trained, population.n_diverged) == (9, 3)  # 7 among the replacements
    population = evolution.step(population, 1000, nothing)
    assert (population.n_trained, population.n_diverged) == (13, 4)
    assert len(population.members) == 6
    assert all(np.isfinite(member.outputs).all() for member in population.members)
    assert not {member.number for member in population.members} & {0, 3, 7, 9}


def test_fewer_than_wanted_grow_to_the_full_size():
    evolution = make(diverging={0, 1, 2, 3, 4})
    population = evolution.begin(6, nothing)  # no more may be trained
    assert len(population.members) == 1
    population = evolution.step(population, 1000, nothing)
    assert len(population.members) == 5
    assert len(evolution.step(population, 1000, nothing).members) == 6


def test_all_diverge():
    with pytest.raises(ValueError, match=r"All 20 models are useless: so do that\."):
        make(diverging=range(20)).begin(20, nothing)


def test_unseen_rows_judge_and_only_those_speak():
    shares = np.full(N_ROWS, 1 / N_ROWS)
    evolution = make(oob_only=True, shares=shares)
    population = evolution.begin(100, nothing)
    target, members = evolution.evaluator.target, population.members
    for member in members:
        assert np.array_equal(evolution.learner.trained_on[member.number], member.rows)
        assert len(member.rows) == N_ROWS
        out = np.setdiff1d(np.arange(N_ROWS), member.rows)
        assert 0.2 < len(out) / N_ROWS < 0.55
        assert member.accuracy == pytest.approx(((member.outputs[out, 0] > 0.5) == target[out]).mean())
    wrong = counted = 0
    for row in range(N_ROWS):
        votes = [member.outputs[row, 0] for member in members if row not in member.rows]
        if votes:
            counted += 1
            wrong += (np.mean(votes) > 0.5) != target[row]
    assert population.history[0].ensemble_error == pytest.approx(wrong / counted)


def test_a_member_that_saw_every_row_is_judged_by_all():
    evaluator = ClassEvaluator(np.array([0, 1], np.int32), np.ones(2), oob_only=True)
    everything = Member(0, np.array([0]), np.array([0, 1], np.uint32), None, outputs=np.array([[0.1], [0.2]]))
    assert evaluator.accuracy(everything) == 0.5


def test_emphasis_gives_half_of_the_rows_to_the_misclassified():
    evolution = make(emphasis=True)
    population = evolution.begin(100, nothing)
    shares = evolution._shares_for(population)
    outputs = np.mean([member.outputs for member in population.members], axis=0, dtype=float)
    wrong = (outputs[:, 0] > 0.5) != (evolution.evaluator.target == 1)
    assert 0 < wrong.mean() < 0.5
    assert shares.sum() == pytest.approx(1)
    assert shares[wrong].sum() == pytest.approx(0.5)
    beta = (1 - wrong.mean()) / wrong.mean()  # AdaBoost's factor
    assert shares[wrong][0] / shares[~wrong][0] == pytest.approx(beta)
    evolution.step(population, 1000, nothing)
    rows = np.concatenate([evolution.learner.trained_on[k] for k in range(6, 10)])
    assert wrong[rows].mean() > wrong.mean() + 0.1
    assert all(len(evolution.learner.trained_on[k]) == N_ROWS for k in range(6, 10))
    assert np.array_equal(evolution.learner.trained_on[0], np.arange(N_ROWS))


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_emphasis_leaves_rows_alone_that_no_member_may_judge(n_outputs):
    shares = np.full(N_ROWS, 1 / N_ROWS)
    evolution = make(n_outputs, oob_only=True, shares=shares, emphasis=True, population=2)
    target, members = evolution.evaluator.target, evolution.begin(100, nothing).members
    heard = np.array([any(row not in member.rows for member in members) for row in range(N_ROWS)])
    assert (target[~heard] != 0).any()
    for member in members:  # right but for a row that is judged
        member.outputs[:] = target[:, None] == (np.arange(n_outputs) if n_outputs > 1 else 1)
        member.outputs[np.flatnonzero(heard)[0]] = 1 - member.outputs[np.flatnonzero(heard)[0]]
    emphasised = evolution._shares_for(Population(members, np.ones(2), 1.0, 2, 0))
    assert emphasised[heard][0] == pytest.approx(0.5)
    assert np.ptp(np.delete(emphasised, np.flatnonzero(heard)[0])) == pytest.approx(0)


def test_emphasis_is_for_the_rows_that_are_trained_on():
    evolution = make(emphasis=True)  # the first ten rows are held out, and alone judge
    evaluator = ClassEvaluator(
        evolution.evaluator.target, (np.arange(N_ROWS) < 10).astype(float), oob_only=False
    )
    rows = np.arange(10, N_ROWS, dtype=np.uint32)
    evolution = Evolution(evolution.learner, evaluator, evolution.settings, evolution.columns, rows, None)
    population = evolution.begin(100, nothing)
    outputs = np.mean([member.outputs for member in population.members], axis=0, dtype=float)
    wrong = ((outputs[:, 0] > 0.5) != (evaluator.target == 1))[10:]
    assert 0 < wrong.mean() < 0.5
    assert evolution._shares_for(population)[wrong].sum() == pytest.approx(0.5)


@pytest.mark.parametrize("right", [True, False])
def test_emphasis_without_a_factor_is_even(right):
    evolution = make(emphasis=True)
    population = evolution.begin(100, nothing)
    is_second = evolution.evaluator.target == 1
    for member in population.members:
        member.outputs[:, 0] = is_second if right else ~is_second
    assert np.allclose(evolution._shares_for(population), 1 / N_ROWS)


def test_rows_of_one_class_are_drawn_again():
    evolution = make(shares=None)
    shares = np.zeros(N_ROWS)
    shares[evolution.evaluator.target == 0] = 1 / (evolution.evaluator.target == 0).sum()
    assert np.array_equal(evolution._draw(0, shares), evolution.rows)  # one class only: all rows instead
    shares[np.flatnonzero(evolution.evaluator.target == 1)[0]] = 0.02
    drawn = [evolution._draw(number, shares / shares.sum()) for number in range(20)]
    assert all(len(np.unique(evolution.evaluator.target[rows])) == 2 for rows in drawn)


def test_weights_of_rows_count_in_accuracy_and_diversity():
    target = np.array([0, 1, 1], np.int32)
    outputs = np.array([[0.2], [0.9], [0.4]])
    weighted = ClassEvaluator(target, np.array([1.0, 1.0, 2.0]), oob_only=False)
    repeated = ClassEvaluator(target[[0, 1, 2, 2]], np.ones(4), oob_only=False)
    a, b = (Member(0, np.array([0]), None, None, outputs=outputs[rows]) for rows in ([0, 1, 2], [0, 1, 2, 2]))
    assert weighted.accuracy(a) == repeated.accuracy(b) == 0.5
    others = [Member(1, np.array([0]), None, None, 0.0, outputs=1 - m.outputs) for m in (a, b)]
    assert weighted.diversity([a, others[0]]) == pytest.approx(repeated.diversity([b, others[1]]))
