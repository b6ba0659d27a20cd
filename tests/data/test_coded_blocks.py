"""Rows that are read in batches and parts: codes, samples, and what is said of data that do not fit."""

import time
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresift.data import coded_blocks, pass_one
from foresift.data.coded_blocks import joined_parts, n_blocks_of
from foresift.data.coding import MAX_VALUES
from foresift.data.row_source import Batch, InMemory, RowSource
from foresift.data.target import Target
from foresift.engine import local_blocks
from foresift.engine.local_blocks import LocalBlocks
from foresift.errors import InputError


class InParts(RowSource):
    """Parts of batches, as files have them; `counts` says whether their rows are known before."""

    source = "the folder"

    def __init__(self, parts, *, counts=False):
        self.parts, self.counts, self.n_reads = parts, counts, 0

    @property
    def n_parts(self):
        return len(self.parts)

    def n_rows_of(self, part):
        return sum(len(y) for _, y in self.parts[part]) if self.counts else None

    def batches(self, part=0):
        self.n_reads += part == 0
        yield from (Batch(X, y) for X, y in self.parts[part])


def table(n_rows=900, seed=0):
    rng = np.random.default_rng([seed, 51])
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n_rows),
            "gaps": np.where(rng.random(n_rows) < 0.3, np.nan, np.round(rng.normal(size=n_rows), 1)),
            "text": rng.choice(["a", "b", "c", None], n_rows),
            "flag": rng.random(n_rows) < 0.5,
            "whole": rng.integers(0, 1000, n_rows),
        }
    )
    return frame, np.where(frame["number"] > 0.3, "yes", "no").astype(object)


def cut_up(X, y, ends):
    """Batches of rows."""
    edges = [0, *sorted(ends), len(y)]
    return [(X.iloc[a:b], y[a:b]) for a, b in pairwise(edges)]


def blocks_of(parts, **options):
    return LocalBlocks(InParts(parts, counts=options.pop("counts", False)), None, "auto", **options)


def contents(blocks):
    return blocks.collect(lambda block: (block.codes.tolist(), block.target.tolist(), block.number))


def same_coding(one, other):
    for own, theirs in zip(one.coding.cuts, other.coding.cuts, strict=True):
        assert (own is None) == (theirs is None)
        assert own is None or np.array_equal(own, theirs)
    assert one.coding.schema.names == other.coding.schema.names
    return np.array_equal(one.coding.n_values, other.coding.n_values)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 899), max_size=6, unique=True), st.booleans())
def test_batches_do_not_matter(ends, counts):
    X, y = table()
    whole = blocks_of([cut_up(X, y, [])])
    parts = blocks_of([cut_up(X, y, ends)], counts=counts)
    assert same_coding(whole, parts)
    assert contents(whole) == contents(parts)
    assert whole.target_counts.tolist() == parts.target_counts.tolist()
    assert whole.sample.n_rows == parts.sample.n_rows == 900


def test_a_target_in_memory_is_read_alike():
    X, y = table()
    in_memory = LocalBlocks(InMemory(X, Target.of(y, len(y))), None, "auto")
    in_batches = blocks_of([cut_up(X, y, [100])])
    assert same_coding(in_memory, in_batches)
    assert contents(in_memory) == contents(in_batches)
    assert in_memory.coding.labels.tolist() == in_batches.coding.labels.tolist()


def test_parts_are_divided_by_themselves(monkeypatch):
    monkeypatch.setattr(coded_blocks, "MIN_BLOCK_ROWS", 200)
    monkeypatch.setattr(coded_blocks, "MAX_BLOCK_ROWS", 250)
    X, y = table()
    parts = [cut_up(X[a:b], y[a:b], []) for a, b in [(0, 400), (400, 450), (450, 700), (700, 900)]]
    blocks = blocks_of(parts)
    found = contents(blocks)
    assert [len(target) for _, target, _ in found] == [200, 200, 150, 150, 200]
    codes = np.array(found[0][0])
    whole = blocks.coding.codes(X)
    assert np.array_equal(codes, whole[:, 0:400:2])
    assert np.array_equal(np.array(found[3][0]), whole[:, 401:700:2])
    assert sum(target.count(0) for _, target, _ in found) == blocks.target_counts[0]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 9000), min_size=1, max_size=12))
def test_joined_parts(sizes):
    groups = joined_parts(sizes)
    assert [part for group in groups for part in group] == list(range(len(sizes)))
    if len(groups) > 1:
        assert min(sum(sizes[part] for part in group) for group in groups) >= coded_blocks.MIN_BLOCK_ROWS


@pytest.mark.parametrize("n_rows", [1, 65_535, 65_536, 131_070, 131_071, 10**9])
def test_no_block_is_too_large(n_rows):
    assert -(-n_rows // n_blocks_of(n_rows)) <= coded_blocks.MAX_BLOCK_ROWS


def test_a_sample_does_not_depend_on_batches(monkeypatch):
    monkeypatch.setattr(pass_one, "_MIN_SAMPLE", 100)
    monkeypatch.setattr(pass_one, "_MAX_SAMPLE", 100)
    monkeypatch.setattr(pass_one, "TABLE_ROWS", 60)
    X, y = table(3000)
    known = blocks_of([cut_up(X, y, [])], counts=True)
    unknown = blocks_of([cut_up(X, y, range(50, 3000, 50))])
    assert same_coding(known, unknown)
    assert contents(known) == contents(unknown)
    assert known.sample.n_rows == unknown.sample.n_rows
    assert 30 < known.sample.n_rows < 100
    for j in range(5):
        assert known.sample.store.codes(j).tolist() == unknown.sample.store.codes(j).tolist()


def test_the_head_is_the_first_rows(monkeypatch):
    monkeypatch.setattr(local_blocks, "HEAD_ROWS", 70)
    X, y = table()
    blocks = blocks_of([cut_up(X, y, [30, 60, 90])])
    assert blocks.head.n_rows == 70
    assert blocks.head.target.labels[blocks.head.target.codes].tolist() == y[:70].tolist()


def test_a_batch_without_values():
    X, y = table()
    X.loc[:299, ["text", "gaps"]] = None
    assert contents(blocks_of([cut_up(X, y, [300])])) == contents(blocks_of([cut_up(X, y, [])]))
    X["text"] = None
    blocks = blocks_of([cut_up(X, y, [300])])
    assert blocks.coding.n_values[2] == 0


def test_most_frequent_categories_have_codes():
    rng = np.random.default_rng(0)
    often = np.repeat([f"often {k}" for k in range(254)], 20)
    text = rng.permutation(np.concatenate([often, [f"rare {k}" for k in range(300)]]))
    X = pd.DataFrame({"text": text, "x": np.arange(len(text)) % 7})
    blocks = blocks_of([[(X, np.arange(len(text)) % 2)]])
    codes = blocks.coding.codes(X)[0]
    assert blocks.coding.n_values[0] == MAX_VALUES
    rare = np.char.startswith(text.astype(str), "rare")
    assert set(codes[rare]) == {254}
    assert len(set(codes[~rare])) == 254


def test_no_rows():
    X, y = table()
    with pytest.raises(InputError, match="There are no rows in the folder"):
        blocks_of([[], []])
    assert contents(blocks_of([[], cut_up(X, y, []), []])) == contents(blocks_of([cut_up(X, y, [])]))


def odd_batches(change):
    X, y = table()
    first, second = cut_up(X, y, [400])
    return [[first, change(*second)]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X.drop(columns="gaps"), y), "lacks column 'gaps'"),
        (lambda X, y: (X.assign(other=1), y), "has another column, 'other'"),
        (lambda X, y: (X[X.columns[::-1]], y), "in another order"),
        (lambda X, y: (X.to_numpy(), y), "the same columns"),
        (lambda X, y: (X.assign(number="text"), y), "holds numbers in one batch of rows and categories"),
        (lambda X, y: (X.assign(text=1.5), y), "holds categories in one batch of rows and numbers"),
        (lambda X, y: (X, y[:-1]), "500 rows, but 499 values of the target"),
        (lambda X, y: (X.assign(number=np.inf), y), "inf"),
        (lambda X, y: (X, np.where(np.arange(500) == 7, None, y)), "target has missing values"),
    ],
)
@pytest.mark.parametrize("as_part", [False, True])
def test_batches_that_do_not_fit(change, message, as_part):
    parts = odd_batches(change)
    if as_part:
        parts = [[batch] for batch in parts[0]]
    with pytest.raises((ValueError, InputError), match=message):
        blocks_of(parts)


class Changing(InParts):
    """Other rows when it is read again."""

    def __init__(self, first, again):
        super().__init__([first])
        self.again = again

    def batches(self, part=0):
        self.n_reads += 1
        yield from (Batch(X, y) for X, y in (self.parts[0] if self.n_reads == 1 else self.again))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X[:-1], y[:-1]), "were others when it was read a second time"),
        (lambda X, y: (pd.concat([X, X]), np.tile(y, 2)), "were others when it was read a second time"),
        (lambda X, y: (X.assign(text="new"), y), "has a category that was not there"),
        (lambda X, y: (X, np.full(len(y), "maybe", object)), "has a class that was not there"),
    ],
)
def test_data_that_change_meanwhile(change, message):
    X, y = table()
    with pytest.raises(InputError, match=message):
        LocalBlocks(Changing([(X, y)], [change(X, y)]), None, "auto")


def test_a_failure_ends_the_other_threads(monkeypatch):
    monkeypatch.setattr(coded_blocks, "MAX_BLOCK_ROWS", 10)
    X, y = table()
    blocks, added = blocks_of([cut_up(X, y, [])], n_jobs=2), []

    class Failing:
        def zeros(self):
            return (np.zeros(1, np.int64),)

        def add(self, block, to, stop):
            time.sleep(0.01)
            added.append(block.number)
            if block.number == 2:
                raise ArithmeticError

    with pytest.raises(ArithmeticError):
        blocks.sum(Failing())
    assert len(added) < 40  # of 90
