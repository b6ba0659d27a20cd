"""The size by the losses of held-out rows: equal to plain loops, also where sizes tie or rows are few."""

import math
import statistics

import numpy as np
import pytest

from foresift.evaluation.select.by_loss import Choice, choose_by_loss


def in_errors(differences):
    """Mean of numbers in units of its standard error."""
    mean, spread = statistics.fmean(differences), statistics.stdev(differences)
    if spread < 1e-9:
        return 0.0 if abs(mean) < 1e-9 else math.copysign(math.inf, mean)
    return mean / (spread / math.sqrt(len(differences)))


def literal(sizes, losses, of_none):
    """Smallest size whose loss exceeds the least by no more than a standard error of the difference."""
    best = min(losses, key=statistics.fmean)
    for size, own in zip(sizes, losses, strict=True):
        if in_errors([a - b for a, b in zip(own, best, strict=True)]) <= 1.0:
            better = in_errors([a - b for a, b in zip(own, of_none, strict=True)])
            smaller = [(n, other) for n, other in zip(sizes, losses, strict=True) if n < size]
            worse = [n for n, other in smaller if in_errors(np.subtract(other, own).tolist()) > 1.64]
            return Choice(size, better < -2.3, max(worse, default=0))
    raise AssertionError("the best size is within any distance of itself")


@pytest.mark.parametrize("seed", range(40))
def test_is_a_plain_loop(seed):
    rng = np.random.default_rng(seed)
    n_sizes, n_rows = rng.integers(1, 9), rng.integers(2, 60)
    sizes = np.sort(rng.choice(np.arange(1, 30), n_sizes, replace=False))
    rows = rng.random(n_rows)
    # Sizes share the rows, so that their losses differ by little; some sizes are equal.
    losses = rows + rng.choice([0.0, 0.02, 0.1], n_sizes)[:, None] * rng.random((n_sizes, n_rows))
    losses[rng.integers(n_sizes)] = losses[0]
    of_none = rows + rng.choice([0.0, 0.05, 0.3])
    expected = literal(sizes.tolist(), losses.tolist(), of_none.tolist())
    assert choose_by_loss(sizes, losses, of_none) == expected


def test_small_differences_count_if_they_are_certain():
    rows = np.random.default_rng(0).random(200)
    sizes, swing = np.array([1, 2, 3]), np.tile([1.0, -1.0], 100)
    for spread, size in ((0.05, 2), (0.001, 3)):  # 0.001 is 0.3 standard errors, and 14
        losses = rows + np.array([np.full(200, 0.2), 0.001 + spread * swing, np.zeros(200)])
        assert choose_by_loss(sizes, losses, rows + 1) == Choice(size, True, size - 1)


def test_one_size():
    losses = np.array([[0.1, 0.3, 0.2]])
    assert choose_by_loss(np.array([7]), losses, np.array([0.5, 0.6, 0.6])) == Choice(7, True)
    assert choose_by_loss(np.array([7]), losses, losses[0]) == Choice(7, False)


def test_of_equal_losses_the_smallest_size():
    losses = np.tile([0.1, 0.3, 0.2], (3, 1))
    assert choose_by_loss(np.array([1, 2, 5]), losses, np.ones(3)) == Choice(1, True)


def test_a_loss_that_is_the_same_in_every_row_counts():
    """There is no standard error to hide it."""
    losses = np.array([[0.2, 0.2], [0.1, 0.1]])
    assert choose_by_loss(np.array([1, 2]), losses, np.array([0.1, 0.1])) == Choice(2, False, 1)
    assert choose_by_loss(np.array([1, 2]), losses, np.array([0.2, 0.2])) == Choice(2, True, 1)


def test_two_rows():
    losses = np.array([[0.3, 0.1], [0.1, 0.2]])  # worse by 0.05, with a standard error of 0.15
    assert choose_by_loss(np.array([1, 2]), losses, np.array([0.6, 0.2])) == Choice(1, False)
    assert choose_by_loss(np.array([1, 2]), losses, np.array([0.6, 0.3])) == Choice(1, True)
