"""P-values of skewed sums and of the least of several tests, against SciPy."""

import numpy as np
import pytest
from scipy import stats

from foresift.selectors.relevance.moments import log_of_any, log_two_sided, unskewed


@pytest.mark.parametrize("skewness", [0.01, 0.1, 0.5, 1.0, 1.5])
def test_tails_are_those_of_a_gamma_distribution(skewness):
    shape = 4 / skewness**2
    z = np.linspace(0.5, 5, 10)
    exact = stats.gamma.sf(shape + z * np.sqrt(shape), shape)
    found = stats.norm.sf(unskewed(z, np.full(10, skewness)))
    assert np.log(found) == pytest.approx(np.log(exact), abs=0.05 + 0.25 * skewness**2)


def test_without_skewness_to_the_right_nothing_changes():
    z = np.linspace(0, 40, 30)
    for skewness in (0.0, -2.0):
        assert np.array_equal(unskewed(z, np.full(30, skewness)), z)
    slight = unskewed(z[:10], np.full(10, 0.00101))
    assert slight == pytest.approx(z[:10], abs=0.05)  # no jump
    for skewness in (0.01, 0.5, 3.0):
        mapped = unskewed(z, np.full(30, skewness))
        assert (np.diff(mapped) > 0).all()
        assert (mapped >= 0).all()


def test_two_sided():
    z = np.array([-3.0, 0.0, 0.5, 3.0, 38.0, 1e4])
    logs = log_two_sided(z)
    assert logs[:4] == pytest.approx(np.log(2 * stats.norm.sf(np.abs(z[:4]))))
    assert logs[4:] == pytest.approx(np.log(2) + stats.norm.logsf(z[4:]))


def test_least_of_several():
    p = np.array([1e-300, 1e-9, 1e-6, 0.003, 0.4, 1.0])
    for n_tests in (1, 3, 1000):
        expected = -np.expm1(n_tests * np.log1p(-p[:-1]))
        logs = log_of_any(np.log(p), n_tests)
        assert logs[:-1] == pytest.approx(np.log(expected), rel=1e-6, abs=1e-12)
        assert logs[-1] == pytest.approx(0)
    assert log_of_any(np.array([-1e6]), 8) == pytest.approx(-1e6 + np.log(8))
    steps = log_of_any(np.linspace(-25, 0, 5000), 50)
    assert (np.diff(steps) >= 0).all()
