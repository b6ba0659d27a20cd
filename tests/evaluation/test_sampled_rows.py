"""What select and compare make of methods that compare some of the rows of a large table only."""

import warnings

import numpy as np
import pytest

from foresift import ReliefFSelector, select
from foresift.evaluation.harness.identity import describe
from foresift.selectors import near_rows


@pytest.fixture
def table(monkeypatch):
    """A table that counts as large."""
    monkeypatch.setattr(near_rows, "MAX_ROWS", 100)
    monkeypatch.setattr(near_rows, "MANY_ROWS_SAMPLE", 60)
    X = np.random.default_rng(0).normal(size=(150, 3))
    return X, (X[:, 0] > 0).astype(int)


def of_samples(found):
    return [note for note in found.notes if "drawn at random" in note]


def test_a_note_says_so_once(table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = select(*table, "relieff", random_state=0)
    assert of_samples(found) == [near_rows.sampled_sentence(60, 150)]


@pytest.mark.parametrize("n_samples", [None, 50])
def test_not_of_what_was_asked_for(table, n_samples):
    found = select(*table, ReliefFSelector(n_samples=n_samples), random_state=0, check=False)
    assert not of_samples(found)


def test_stores_have_the_default_by_its_former_name():
    """It was None, and up to 20,000 rows it is the same; None itself is something else in larger tables."""
    default, every, some = (describe(ReliefFSelector(n_samples=n))["n_samples"] for n in ("auto", None, 7))
    assert (default, every, some) == (None, "all", 7)


def test_every_row_on_request(table):
    found = select(*table, "relieff", parameters={"n_samples": None}, random_state=0, check=False)
    assert not of_samples(found)
