"""Which rows Relief, ReliefF, SURF and MultiSURF compare with all others, by default and on request."""

import warnings

import numpy as np
import pytest

from foresift import MultiSURFSelector, ReliefFSelector, ReliefSelector, SURFSelector
from foresift.selectors import near_rows

ALL = [ReliefSelector, ReliefFSelector, SURFSelector, MultiSURFSelector]


@pytest.fixture
def few(monkeypatch):
    """Tables count as large from 201 rows on."""
    monkeypatch.setattr(near_rows, "MAX_ROWS", 200)
    monkeypatch.setattr(near_rows, "MANY_ROWS_SAMPLE", 60)


def make(n_rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


@pytest.mark.parametrize("kind", ALL)
def test_up_to_the_limit_every_row_is_compared(few, kind):
    X, y = make(200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        default, exact = kind().fit(X, y), kind(n_samples=None).fit(X, y)
    np.testing.assert_array_equal(default.scores_, exact.scores_)
    assert default.n_samples_ == exact.n_samples_ == 200


@pytest.mark.parametrize("kind", ALL)
def test_above_it_a_seeded_sample_is_compared_with_all_rows(few, kind):
    X, y = make(201)
    with pytest.warns(UserWarning, match=r"Only 60 of the 201 rows, drawn at random, .* n_samples=None"):
        default = kind(random_state=3).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked, exact = kind(n_samples=60, random_state=3).fit(X, y), kind(n_samples=None).fit(X, y)
    np.testing.assert_array_equal(default.scores_, asked.scores_)
    assert (default.n_samples_, asked.n_samples_, exact.n_samples_) == (60, 60, 201)
    assert not np.array_equal(default.scores_, exact.scores_)


def test_rows_without_weight_do_not_count(few):
    X, y = make(300)
    weights = (np.arange(300) < 200).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ReliefFSelector().fit(X, y, sample_weight=weights).n_samples_ == 200


@pytest.mark.filterwarnings("ignore:Only")
def test_without_a_seed_samples_differ(few):
    X, y = make(300)
    one, other = (ReliefFSelector().fit(X, y).scores_ for _ in range(2))
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("kind", ALL)
def test_the_published_limits(kind):
    X, y = make(20_001)
    with pytest.warns(UserWarning, match="Only 5,000 of the 20,001 rows"):
        found = kind(random_state=0).fit(X, y)
    assert found.n_samples_ == 5000
    assert set(np.argsort(-found.scores_)[:2]) == {0, 1}


def test_other_text_is_refused():
    X, y = make(20)
    with pytest.raises(ValueError, match="n_samples"):
        ReliefFSelector(n_samples="all").fit(X, y)
