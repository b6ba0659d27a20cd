"""The leak test: on noise every method does as well as chance, and a selection that leaks does better."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from foresift.evaluation.harness.store import Store
from foresift.evaluation.registry import METHODS
from foresift.stats.resampled import corrected_interval

_spec = importlib.util.spec_from_file_location("leaks", Path(__file__).parents[2] / "benchmarks" / "leaks.py")
leaks = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(leaks)

# Quick enough for noise of 200 x 1,000; the others meet 100 x 200, and 200 x 1,000 in benchmarks/leaks.py.
CHEAP = ("ssv1", "ssv2", "info-gain", "pearson", "fscore", "relief", "relieff", "cumulative-gain", "random")
CHEAP += ("cfs", "forest-gain")


def intervals(keys, rows, columns, sizes, *, quantity=False):
    """Intervals of 99 %, since there are forty of them, by method, one for each size."""
    table = leaks.noise(rows, columns, quantity=quantity)
    with Store(":memory:") as store:
        found = leaks.compared(keys, *table, sizes=sizes, store=store, quick=True)
        assert found.failures == []
        scores = {
            (row.method, row.size): store.sql(
                "SELECT score FROM curves WHERE method = ? AND size = ?", (row.method, row.size)
            )
            for row in found.rows
        }
    by_method = {}
    for (method, _), some in scores.items():
        assert len(some) == 10
        estimate = corrected_interval(np.ravel(some), 0.3, confidence=0.99)
        by_method.setdefault(method, []).append(estimate)
    return by_method, found


@pytest.fixture(scope="module")
def wide():
    return intervals(CHEAP, 200, 1000, [5, 20])


@pytest.fixture(scope="module")
def small():
    return intervals([*METHODS], 100, 200, ["own", 5])


@pytest.fixture(scope="module")
def quantity():
    return intervals(leaks.methods_for(quantity=True), 100, 200, ["own", 5], quantity=True)


@pytest.mark.parametrize("key", ["none", *leaks.methods_for(quantity=True)])
def test_noise_of_a_quantity_has_no_r2_for_any_method(quantity, key):
    for estimate in quantity[0][key]:
        assert estimate.low < 0
        assert estimate.value < 0.05


@pytest.mark.parametrize("key", ["none", *CHEAP])
def test_noise_of_a_thousand_columns_is_chance(wide, key):
    for estimate in wide[0][key]:
        assert estimate.low < 0.5 < estimate.high


@pytest.mark.parametrize("key", ["none", *METHODS])
def test_noise_is_chance_for_every_method(small, key):
    for estimate in small[0][key]:
        assert estimate.low < 0.5 < estimate.high


@pytest.mark.parametrize("table", ["wide", "small"])
def test_selection_that_saw_the_test_rows_is_found_out(table, request):
    found, _ = request.getfixturevalue(table)
    assert len(found["leaky"]) == 2
    for estimate in found["leaky"]:
        assert estimate.low > 0.5


def test_selection_that_saw_the_test_rows_has_an_r2(quantity):
    assert [estimate.value > 0.1 for estimate in quantity[0]["leaky"]] == [True, True]


def test_selections_on_noise_are_not_stable(wide):
    stability = {(row.method, row.size): row.stability for row in wide[1].rows}
    assert abs(stability["random", "5"]) < 0.05
    assert stability["leaky", "5"] == 1
