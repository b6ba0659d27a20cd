"""Statistical tests on a few seeds by default, and with power on many of them behind the marker `slow`."""

import math

import pytest


def few_or_many(few, many):
    """Pass `n_tables` to a test: `few` by default, `many` in `make test-slow`."""
    return pytest.mark.parametrize(
        "n_tables", [few, pytest.param(many, marks=pytest.mark.slow)], ids=["quick", "slow"]
    )


def highest(rate, n):
    """Return the largest share of n independent cases that a rate explains: three standard errors above it.

    "The slow run finds a rate" is said of one that exceeds it with a probability of 95 %: it is 1.6 of its
    own standard errors above that.
    """
    return rate + 3 * math.sqrt(rate * (1 - rate) / n)


def seeds(few, many):
    """Pass `seed` to a test: `few` cases by default, as many as make up `many` in `make test-slow`."""
    later = (pytest.param(seed, marks=pytest.mark.slow) for seed in range(few, many))
    return pytest.mark.parametrize("seed", [*range(few), *later])
