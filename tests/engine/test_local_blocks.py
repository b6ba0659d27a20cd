"""Blocks on one machine: codes, sample and sums are those of a literal reference, however rows are cut."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foresift.data import coded_blocks, pass_one
from foresift.data.coded_blocks import joined_parts, n_blocks_of
from foresift.data.coded_column import CodedColumn
from foresift.data.pass_one import sampled_at
from foresift.data.row_source import Batch, InMemory, RowSource
from foresift.data.target import Target
from foresift.engine import local_blocks
from foresift.engine.local_blocks import LocalBlocks
from foresift.errors import InputError


class Cut(RowSource):
    """Columns in parts, each of batches of some rows; `again` is what the second reading gives."""

    source = "the rows"

    def __init__(self, columns, y, cuts, *, counted=True, again=None):
        self.columns, self.y, self.cuts, self.counted = columns, y, cuts, counted
        self.again, self.n_read = again, 0

    @property
    def n_parts(self):
        return len(self.cuts)

    def rows_of(self, part):
        begin = sum(sum(sizes) for sizes in self.cuts[:part])
        for size in self.cuts[part]:
            yield slice(begin, begin + size)
            begin += size

    def n_rows_of(self, part):
        return sum(self.cuts[part]) if self.counted else None

    def batches(self, part=0):
        self.n_read += 1
        source = self.again if self.again is not None and self.n_read > self.n_parts else self
        for rows in source.rows_of(part):
            yield Batch({name: column[rows] for name, column in source.columns.items()}, source.y[rows])


@pytest.fixture
def small(monkeypatch):
    """Blocks of few rows, and a sample that is not all of them."""
    monkeypatch.setattr(coded_blocks, "MAX_BLOCK_ROWS", 16)
    monkeypatch.setattr(coded_blocks, "MIN_BLOCK_ROWS", 6)
    monkeypatch.setattr(pass_one, "_MIN_SAMPLE", 30)
    monkeypatch.setattr(pass_one, "_MAX_SAMPLE", 30)
    monkeypatch.setattr(local_blocks, "HEAD_ROWS", 20)


def coded(values):
    known = sorted({value for value in values if value is not None}, reverse=True)
    codes = [-1 if value is None else known.index(value) for value in values]
    objects = np.empty(len(known), dtype=object)
    objects[:] = known
    return CodedColumn(np.array(codes, dtype=np.int64), objects)


def objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


COLUMNS = {
    "floats": st.sampled_from([0.0, -1.5, 2.25, np.nan, 1e300]) | st.floats(-10, 10),
    "ties": st.sampled_from([1.0, 2.0, 3.0]),
    "holes": st.sampled_from([np.nan, 5.0]),
    "text": st.sampled_from(["a", "b", "c", None]),
    "coded": st.sampled_from(["x", "y", "z", None]),
    "flag": st.booleans(),
}


@st.composite
def tables(draw):
    n = draw(st.integers(2, 200))
    rows = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(rows)
    columns = {}
    for name, values in COLUMNS.items():
        some = draw(st.lists(values, min_size=1, max_size=12))
        columns[name] = [some[k] for k in rng.integers(0, len(some), n)]
    y = np.append([0, 1], rng.integers(0, 3, n - 2))
    return columns, rng.permutation(y)


@st.composite
def cuttings(draw, n):
    """Sizes of the batches of every part, some of them empty."""
    edges = sorted(draw(st.lists(st.integers(0, n), max_size=12)))
    sizes = np.diff([0, *edges, n]).tolist()
    n_first = draw(st.integers(0, len(sizes)))
    return [sizes[:n_first], sizes[n_first:]] if draw(st.booleans()) else [sizes]


def arrays_of(columns):
    make = {"text": objects, "coded": coded}
    return {name: make.get(name, np.array)(values) for name, values in columns.items()}


def reference_cuts(values):
    """Cut points of at most 255 distinct values: all but the largest."""
    return sorted({value for value in values if value == value})[:-1]


def reference_codes(columns, in_sample):
    codes = []
    for name, values in columns.items():
        if name in ("text", "coded", "flag"):
            known = sorted({value for value in values if value is not None})
            codes.append([len(known) if value is None else known.index(value) for value in values])
        else:
            cuts = reference_cuts([value for value, is_in in zip(values, in_sample, strict=True) if is_in])
            found = np.searchsorted(cuts, values)
            codes.append([len(cuts) + 1 if x != x else int(k) for x, k in zip(values, found, strict=True)])
    return np.array(codes)


def reference_blocks(codes, y, sizes):
    """Blocks of parts of some sizes, literally."""
    blocks, first = [], 0
    for group in joined_parts(sizes):
        n = sum(sizes[part] for part in group)
        k = n_blocks_of(n)
        for block in range(k):
            rows = [first + row for row in range(n) if row % k == block]
            blocks.append((codes[:, rows], y[rows]))
        first += n
    return blocks


class Counts:
    def __init__(self, n_columns):
        self.shape = (n_columns, 256, 3)

    def zeros(self):
        return (np.zeros(self.shape, dtype=np.int64),)

    def add(self, block, to, stop):
        for j, codes in enumerate(block.codes):
            np.add.at(to[0][j], (codes, block.target), 1)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_cutting_gives_the_codes_of_the_reference(small, data):
    columns, y = data.draw(tables())
    n = len(y)
    ready = arrays_of(columns)
    cuts = data.draw(cuttings(n))
    sizes = [sum(part) for part in cuts]
    sampled = np.concatenate([sampled_at(part, 0, size) for part, size in enumerate(sizes)])
    in_sample = sampled < 30 / n
    if not in_sample.any():
        return
    source = Cut(ready, y, cuts, counted=data.draw(st.booleans()))
    blocks = LocalBlocks(source, None, "auto", n_jobs=1, memory_limit=data.draw(st.sampled_from([0, 1e9])))
    codes = reference_codes(columns, in_sample)
    found = blocks.collect(lambda block: (np.array(block.codes), np.array(block.target), block.number))
    wanted = reference_blocks(codes, y, sizes)
    assert [number for _, _, number in found] == list(range(len(wanted)))
    for (here, target, _), (there, classes) in zip(found, wanted, strict=True):
        assert np.array_equal(here, there)
        assert np.array_equal(target, classes)
    assert blocks.sample_X["ties"].tolist() == [
        v for v, s in zip(columns["ties"], in_sample, strict=True) if s
    ]
    assert blocks.sample_X["coded"].tolist() == [
        v for v, s in zip(columns["coded"], in_sample, strict=True) if s
    ]
    assert blocks.sample.target.values().tolist() == y[in_sample].tolist()
    assert blocks.head.target.values().tolist() == y[:20].tolist()
    (sums,) = blocks.sum(Counts(6))
    literal = Counter((j, int(code), int(c)) for j in range(6) for code, c in zip(codes[j], y, strict=True))
    assert {tuple(map(int, at)): int(sums[tuple(at)]) for at in np.argwhere(sums)} == literal


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 60), min_size=1, max_size=8).filter(any))
def test_parts_are_joined_and_dealt(small, sizes):
    n = sum(sizes)
    X = {"x": np.arange(n, dtype=np.float64), "c": np.zeros(n)}
    y = np.arange(n) % 2 if n > 1 else np.zeros(1)
    groups = joined_parts(sizes)
    assert [part for group in groups for part in group] == list(range(len(sizes)))
    of_groups = [sum(sizes[part] for part in group) for group in groups]
    assert len(groups) == 1 or min(of_groups) >= 6
    if n == 1:
        return
    source = Cut(X, y, [[size] for size in sizes])
    blocks = LocalBlocks(source, None, "classification", n_jobs=1)
    assert sum(blocks.collect(lambda block: len(block.target))) == n


def test_threads_and_a_mapped_file_give_the_same():
    rng = np.random.default_rng(0)
    n = 300_000
    X = {"a": rng.normal(size=n).astype(np.float32), "b": rng.integers(0, 500, n)}
    y = rng.integers(0, 3, n)
    one = LocalBlocks(Cut(X, y, [[n]]), None, "auto", n_jobs=1)
    two = LocalBlocks(InMemory(X, Target.of(y, n)), None, "auto", n_jobs=2, memory_limit=10)
    assert isinstance(two._store, np.memmap)
    assert np.array_equal(one.sum(Counts(2))[0], two.sum(Counts(2))[0])
    assert len(one.collect(len)) == n_blocks_of(n) == 5


def test_codes_of_float32_are_those_of_the_cuts():
    rng = np.random.default_rng(1)
    x = rng.normal(size=200_000).astype(np.float32)
    blocks = LocalBlocks(Cut({"x": x}, rng.integers(0, 2, len(x)), [[len(x)]]), None, "auto", n_jobs=1)
    (cuts,) = blocks.coding.cuts
    assert len(cuts) == 254
    wanted = np.searchsorted(cuts, x.astype(np.float64))
    found = blocks.collect(lambda block: block.codes[0])
    k = len(found)
    assert all(np.array_equal(codes, wanted[b::k]) for b, codes in enumerate(found))
    assert np.bincount(wanted).min() > 0.7 * len(x) / 255


@pytest.mark.parametrize("as_codes", [False, True])
def test_more_categories_than_codes(as_codes):
    rng = np.random.default_rng(0)
    names = np.array([f"c{k:04}" for k in range(1000)], dtype=object)
    place = np.minimum(rng.geometric(0.01, 50_000) - 1, 999)
    column = CodedColumn(place, names) if as_codes else names[place]
    blocks = LocalBlocks(Cut({"c": column}, place % 2, [[30_000, 20_000]]), None, "auto", n_jobs=1)
    (codes,) = blocks.collect(lambda block: block.codes[0])
    assert blocks.coding.n_values.tolist() == [255]
    n_own = 0
    for category in np.unique(place):
        (code,) = np.unique(codes[place == category])
        n_own += int((codes == code).sum() == (place == category).sum())
    assert n_own >= 254


def test_a_category_of_the_last_batch():
    text = objects(["a", "b"] * 5000 + ["late"])
    for column in (text, coded(text.tolist())):
        source = Cut({"t": column}, np.arange(10_001) % 2, [[10_000], [1]])
        blocks = LocalBlocks(source, None, "auto")
        assert blocks.coding.schema.categories[0].tolist() == ["a", "b", "late"]
        assert blocks.collect(lambda block: int((block.codes == 2).sum())) == [1]


def test_empty_batches_are_skipped():
    X, y = {"x": np.arange(6.0)}, np.arange(6) % 2
    blocks = LocalBlocks(Cut(X, y, [[0, 3, 0, 3, 0], [0], []]), None, "auto")
    assert blocks.collect(lambda block: block.codes.tolist()) == [[[0, 1, 2, 3, 4, 5]]]


def test_a_class_with_fractions_in_few_rows_is_a_quantity():
    y = np.zeros(200_000)
    y[77_777], y[5] = 0.5, 1.0
    blocks = LocalBlocks(Cut({"x": np.arange(200_000.0)}, y, [[200_000]]), None, "auto")
    assert blocks.coding.labels is None


NUMBERS = np.arange(40.0)
BAD = {
    "other columns": (
        Cut({"y": NUMBERS}, np.arange(40) % 2, [[20], [20]]),
        "A batch of rows lacks column 'x'",
    ),
    "text": (Cut({"x": objects(["a"] * 40)}, np.arange(40) % 2, [[20], [20]]), "column 'x' holds"),
    "fewer": (Cut({"x": NUMBERS[:30]}, np.arange(30) % 2, [[20], [10]]), "do not change it meanwhile"),
    "more": (Cut({"x": np.arange(60.0)}, np.arange(60) % 2, [[20], [40]]), "do not change it meanwhile"),
    "class": (Cut({"x": NUMBERS}, np.arange(40) % 3, [[20], [20]]), "class that was not there"),
}


@pytest.mark.parametrize("again", BAD)
def test_a_second_reading_that_differs(again):
    source = Cut({"x": NUMBERS}, np.arange(40) % 2, [[20], [20]], again=BAD[again][0])
    with pytest.raises(InputError) as caught:
        LocalBlocks(source, None, "auto")
    assert BAD[again][1] in str(caught.value)
    assert str(caught.value).count(".") == 1


class Batches(RowSource):
    source = "the rows"

    def __init__(self, *batches):
        self._batches = [Batch(X, np.asarray(y)) for X, y in batches]

    def batches(self, part=0):
        return iter(self._batches)


def one(**columns):
    return {name: np.asarray(values) for name, values in columns.items()}


@pytest.mark.parametrize(
    ("batches", "said"),
    [
        ([(one(x=[1.0, 2.0]), [0, 1]), (one(z=[1.0]), [1])], "lacks column 'x': give all of them the same"),
        ([(one(x=[1.0], z=[1.0]), [0]), (one(x=[1.0]), [1])], "lacks column 'z': give all of them the same"),
        ([(one(x=[1.0], z=[1.0]), [0]), (one(z=[1.0], x=[1.0]), [1])], "in another order: give all"),
        ([(one(x=[1.0]), [0]), (one(x=objects(["a"])), [1])], "holds numbers in one batch of rows and categ"),
        ([(one(x=[True]), [0]), (one(x=objects(["a"])), [1])], "give it one type in all of them"),
        ([(one(x=[1.0, 2.0]), [0])], "has 2 rows, but 1 values of the target"),
        ([(one(x=[]), [])], "There are no rows in the rows"),
        ([], "There are no rows in the rows"),
        ([(one(x=[1.0, 2.0]), [0.0, np.nan])], "missing values: drop the rows whose target is missing"),
        ([(one(x=[1.0, 2.0]), objects(["a", None]))], "missing values: drop the rows whose target"),
        ([(one(x=[1.0, 2.0]), [0.5, np.inf])], "The target contains infinity: drop or correct these rows"),
        ([(one(x=[1.0, 2.0]), [1, 1])], "y has one class, 1"),
        ([(one(x=[1.0, 2.0]), [1.5, 1.5])], "y has one value, 1.5"),
        ([(one(x=[1.0]), [1]), (one(x=[1.0]), objects(["a"]))], "The target holds text in one batch"),
        ([(one(x=[1.0, np.inf]), [0, 1])], "infinity"),
    ],
)
def test_bad_batches_are_told_in_a_sentence(batches, said):
    with pytest.raises((InputError, ValueError)) as caught:
        LocalBlocks(Batches(*batches), None, "auto")
    assert said in str(caught.value)


def test_no_room_for_the_codes(monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    source = Cut({"x": NUMBERS}, np.arange(40) % 2, [[40]])
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(InputError, match=r"no room for 4e-08 GB of codes in .*TMPDIR.*memory_limit\.$"):
        LocalBlocks(source, None, "auto", memory_limit=10)
    assert LocalBlocks(source, None, "auto", memory_limit=40).n_rows == 40


def test_systems_that_cannot_reserve_room(monkeypatch):
    monkeypatch.delattr(os, "posix_fallocate")
    source = Cut({"x": NUMBERS}, np.arange(40) % 2, [[40]])
    blocks = LocalBlocks(source, None, "auto", memory_limit=0)
    assert blocks.collect(lambda block: block.codes.tolist()) == [[list(range(40))]]


SCRIPT = """
import sys, time
import numpy as np
from foresift.data.row_source import Batch, RowSource
from foresift.engine.local_blocks import LocalBlocks
from foresift.reading.row_sources import open_rows
import pyarrow as pa

def batches():
    for k in range(1000):
        yield pa.RecordBatch.from_pydict({"x": np.arange(1000.0), "y": np.arange(1000) % 2})
        if sys.argv[1] == "stream" and k == 100:
            print("started", flush=True)
            time.sleep(60)

class Slow(RowSource):
    n_read = 0

    def batches(self, part=0):
        self.n_read += 1
        for k in range(100):
            yield Batch({"x": np.arange(1000.0)}, np.arange(1000) % 2)
            if str(self.n_read) == sys.argv[1] and k == 50:
                print("started", flush=True)
                time.sleep(60)

schema = pa.schema({"x": pa.float64(), "y": pa.int64()})
reader = pa.RecordBatchReader.from_batches(schema, batches())
source = open_rows(reader, "y") if sys.argv[1] == "stream" else Slow()
LocalBlocks(source, None, "auto", memory_limit=0)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
@pytest.mark.parametrize("when", ["1", "2", "stream"])
def test_ctrl_c_leaves_no_file(when, tmp_path):
    command = [sys.executable, "-c", SCRIPT, when]
    process = subprocess.Popen(
        command,
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "started\n", process.stderr.read()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        process.wait(20)
        assert "KeyboardInterrupt" in process.stderr.read()
    finally:
        process.kill()
        process.wait()
    assert not list(tmp_path.iterdir())


def test_nothing_is_left_in_the_folder_of_temporary_files(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    blocks = LocalBlocks(Cut({"x": NUMBERS}, np.arange(40) % 2, [[40]]), None, "auto", memory_limit=0)
    assert not list(tmp_path.iterdir())
    assert blocks.sum(Counts(1))[0].sum() == 40
