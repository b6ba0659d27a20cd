"""Splits that are given: masks, numbers, and what they must not be; seeds and sizes."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from foresift.evaluation.harness.evaluate import Protocol
from foresift.evaluation.harness.splits import splits
from foresift.evaluation.harness.tasks import Data


def table(n, groups=None):
    return Data.of("toy", np.random.default_rng(0).normal(size=(n, 6)), np.arange(n) % 2, groups)


def halves(n=60):
    first = np.arange(n) < n // 2
    return [(first, ~first), (~first, first)]


def test_masks_are_masks():
    data = table(60)
    by_mask = splits(data, halves())
    by_number = splits(data, [(np.flatnonzero(a), np.flatnonzero(b).tolist()) for a, b in halves()])
    assert [split.rows for split in by_mask] == [split.rows for split in by_number]
    assert by_mask[0].test.tolist() == list(range(30, 60))


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        ([True, False], [False, True], "mask of shape"),
        ([0, 1, 2], [60], "the test row 60: rows are numbered from 0 to 59"),
        ([0, -1], [5], "the training row -1"),
        ([0, 1, 1], [5], "a row twice"),
        ([0, 1, 2], [2, 3], "row 2 for training and for testing"),
        ([0.0, 1.0], [2], "whole numbers"),
        ([[0, 1]], [2], "whole numbers"),
        ([], [2], "no training rows"),
        (np.ones(60, dtype=bool), np.zeros(60, dtype=bool), "no test rows"),
    ],
)
def test_splits_that_are_none_are_refused(train, test, message):
    with pytest.raises(ValueError, match=message):
        splits(table(60), [(train, test)])


def test_given_splits_are_not_repeated():
    with pytest.raises(ValueError, match=r"^cv \(given splits\) splits the same way every time"):
        splits(table(60), halves(), repeats=2)


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_splitters_that_part_groups_are_refused():
    data = table(60, groups=np.repeat(np.arange(20), 3))
    with pytest.raises(
        ValueError, match=r"row \d+ for training and row \d+ of the same group for testing.* GroupKFold"
    ):
        splits(data, KFold(3, shuffle=True, random_state=0))
    assert len(splits(data, KFold(4))) == 4  # which happens to part none


@pytest.mark.parametrize("seed", [None, -1, 2**32, 0.5, "0"])
def test_seeds_are_whole_numbers(seed):
    with pytest.raises(ValueError, match=r"random_state .* must be a whole number from 0"):
        splits(table(60), 3, random_state=seed)


@pytest.mark.parametrize(("given", "wanted"), [(2, (2,)), ("own", ("own",)), (np.array([2, 1]), (1, 2))])
def test_one_size_is_as_good_as_a_list(given, wanted):
    assert Protocol(sizes=given).sizes_for(table(60)) == wanted


@pytest.mark.parametrize("given", [2.5, "best", ["best"], [1.5], 0])
def test_sizes_that_are_none(given):
    with pytest.raises(ValueError, match=r"sizes has .*: give numbers"):
        Protocol(sizes=given).sizes_for(table(60))
