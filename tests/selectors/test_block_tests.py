"""The relevance test from histograms and sums over blocks of rows."""

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from block_cases import NOMINAL, blocks_of, few_values, fitted, same, signals
from power import seeds
from relevance_cases import NULL_KINDS, exceeds, null_table
from scipy.stats import binomtest, norm

from foresift import RelevanceSelector
from foresift.data import coded_blocks
from foresift.data.table import make_table
from foresift.engine import local_blocks
from foresift.engine.histograms import Root, root_sums
from foresift.errors import InputError
from foresift.selectors.relevance import block_ranks
from foresift.selectors.relevance import selector as selector_module
from foresift.selectors.relevance.block_ranks import block_rank_tests
from foresift.selectors.relevance.block_testing import deduplicate_blocks
from foresift.selectors.relevance.ranks import rank_tests

# Rank tests


def both_rank_tests(X, y, nominal=NOMINAL):
    """Logs of p-values by table and by blocks."""
    table = make_table(X, y, categorical_features=nominal, task="auto")
    blocks = blocks_of(X, y, nominal)
    quantity = blocks.coding.labels is None
    scores = np.zeros(blocks.coding.n_target_codes, np.uint32) if quantity else None
    columns = np.arange(X.shape[1], dtype=np.uint32)
    expected = rank_tests(table, None, columns)
    found = block_rank_tests(blocks, *root_sums(blocks, Root.of(blocks, scores)), columns, quantity=quantity)
    return expected, found


@seeds(3, 20)
@pytest.mark.parametrize("target", ["two", "three", "quantity", "zeros"])
def test_rank_tests_equal_those_of_a_table(target, seed, monkeypatch):
    monkeypatch.setattr(coded_blocks, "MAX_BLOCK_ROWS", 700)
    monkeypatch.setattr(block_ranks, "CELLS", 2000)  # a few columns at a time
    expected, found = both_rank_tests(*few_values(seed, target))
    # Blocks compare all categories with classes, and with a quantity if none are missing, as in column 2.
    same_tests = np.ones(8, dtype=bool) if target in ("two", "three") else np.arange(8) != 2
    np.testing.assert_allclose(found.ranks[same_tests], expected.ranks[same_tests], rtol=1e-3, atol=1e-3)
    assert np.isnan(expected.ranks).tolist() == [False] * 7 + [True]  # most rows have one value: no test
    # Moments of residuals are taken from the target, which is not quite the same; and the commonest category
    # alone is compared with them.
    of_numbers = found.residuals[~NOMINAL], expected.residuals[~NOMINAL]
    np.testing.assert_allclose(*of_numbers, rtol=0.02, atol=0.02)
    assert np.isfinite(found.residuals[NOMINAL]).all()
    assert not np.isnan(expected.residuals[:7]).any()
    np.testing.assert_allclose(found.curves, expected.curves, rtol=0.02, atol=0.02)
    assert np.isnan(found.curves).any()
    assert np.isfinite(found.curves).any()


def test_rank_tests_without_strong_predictors():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 50, (1000, 3)).astype(float)
    expected, found = both_rank_tests(X, np.arange(1000) % 2, np.zeros(3, dtype=bool))
    np.testing.assert_allclose(found.ranks, expected.ranks, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(found.curves, expected.curves, rtol=1e-3, atol=1e-3)
    assert np.isnan(expected.residuals).all()
    assert np.isnan(found.residuals).all()


@pytest.mark.parametrize("target", ["two", "quantity"])
def test_rank_tests_of_columns_that_act_by_their_distance_from_the_middle(target):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 60, (1500, 6)).astype(float)
    y = (np.abs(X[:, :3] - 30) / 30).sum(axis=1) + rng.normal(size=1500)
    y = y if target == "quantity" else (y > np.median(y)).astype(int)
    expected, found = both_rank_tests(X, y, np.zeros(6, dtype=bool))
    assert expected.curves[:3].max() < -20
    np.testing.assert_allclose(found.curves, expected.curves, rtol=0.02, atol=0.02)
    np.testing.assert_allclose(found.residuals, expected.residuals, rtol=0.02, atol=0.02)


@pytest.mark.parametrize("target", ["two", "quantity"])
def test_rank_tests_with_a_column_that_says_all(target):
    X, y = few_values(0, target)
    X[:, 5] = np.unique(y, return_inverse=True)[1] if target == "two" else np.digitize(y, np.unique(y)[::9])
    X[:, 4] = X[:, 5]
    expected, found = both_rank_tests(X, y)
    same_tests = np.ones(8, dtype=bool) if target == "two" else np.arange(8) != 2  # which has missing ones
    np.testing.assert_allclose(found.ranks[same_tests], expected.ranks[same_tests], rtol=2e-3, atol=1e-3)
    assert np.isfinite(found.residuals[:4]).all() == np.isfinite(expected.residuals[:4]).all()
    assert found.residuals[5] < -100


def test_more_strong_predictors_than_are_multiplied(monkeypatch):
    X, y = few_values(1)
    monkeypatch.setattr(block_ranks, "MAX_STRONG", 1)
    expected, found = both_rank_tests(X, y)
    np.testing.assert_allclose(found.ranks, expected.ranks, rtol=1e-3, atol=1e-3)
    assert np.isfinite(found.residuals[:7]).all()


# Equal columns, constant columns


def test_deduplicate_blocks(monkeypatch):
    monkeypatch.setattr(coded_blocks, "MAX_BLOCK_ROWS", 300)
    rng = np.random.default_rng(0)
    a, b = np.round(rng.normal(size=(2, 1000)), 1)
    missing = np.where(rng.random(1000) < 0.5, np.nan, 1.0)
    X = np.column_stack([a, b, a, 10 * b + 3, np.zeros(1000), np.full(1000, np.nan), missing])
    order, first = deduplicate_blocks(blocks_of(X, np.arange(1000) % 2))
    assert first.tolist() == [0, 1, 0, 1, 4, 5, 6]
    assert sorted(order.tolist()) == [0, 1, 6]
    turned, _ = deduplicate_blocks(blocks_of(X[:, ::-1], np.arange(1000) % 2))
    assert [first[6 - j] for j in turned.tolist()] == order.tolist()


# The selector


def test_finds_the_relevant_columns():
    X, y = signals()
    selector = fitted(X, y, error="fwer")
    assert selector.relevant_.tolist() == [True] * 3 + [False] * 12
    exact = fitted(X, y, error="fwer", max_bins=65_536)
    assert exact.relevant_.tolist() == selector.relevant_.tolist()
    for name, rounding in (("ranks", 0.05), ("curves", 0.1)):  # a p-value of curves is one of four
        found, expected = (norm.isf(some.test_pvalues_[name] / 2) for some in (selector, exact))
        np.testing.assert_allclose(found, expected, atol=rounding, rtol=0.01)


@pytest.mark.parametrize("target", ["two", "three", "quantity", "zeros"])
@pytest.mark.parametrize("max_bins", [255, 16])
def test_agrees_with_exact_cuts(target, max_bins):
    X, y = few_values(2, target)
    options = {"categorical_features": NOMINAL, "error": "fwer", "alpha": 0.01}
    found = fitted(X, y, max_bins=max_bins, **options)
    exact = fitted(X, y, max_bins=65_536, **options)
    assert found.task_ == exact.task_
    assert found.relevant_.tolist() == exact.relevant_.tolist()
    assert found.relevant_[0]
    # Both measure gains in the same units.
    np.testing.assert_allclose(found.gains_[:4], exact.gains_[:4], rtol=0.25)


@pytest.mark.parametrize("target", ["two", "quantity"])
def test_threads_and_blocks_of_any_batches_do_not_matter(target, monkeypatch):
    monkeypatch.setattr(coded_blocks, "MAX_BLOCK_ROWS", 1000)
    X, y = few_values(3, target)
    assert same(fitted(X, y, n_jobs=1), fitted(X, y, n_jobs=2))


def test_order_of_columns_does_not_matter():
    X, y = few_values(4, "three")
    order = np.random.default_rng(0).permutation(X.shape[1])
    one = fitted(X, y, categorical_features=NOMINAL)
    other = fitted(X[:, order], y, categorical_features=NOMINAL[order])
    assert np.array_equal(one.pvalues_[order], other.pvalues_)
    for name, own in one.test_pvalues_.items():
        if name != "pairs":  # of columns in their order
            assert np.array_equal(own[order], other.test_pvalues_[name], equal_nan=True), name


def test_kinds_of_arrays_do_not_matter():
    X, y = few_values(5)
    one = fitted(X, y)
    wide = np.zeros((2 * len(X), 2 * X.shape[1]))
    wide[::2, ::2] = X
    for other in (np.asfortranarray(X), X[::-1][::-1], wide[::2, ::2], X.astype(np.float32)):
        exact = X if other.dtype == np.float64 else other.astype(np.float64)
        assert same(one if exact is X else fitted(exact, y), fitted(other, y))


def test_containers_do_not_matter():
    X, y = few_values(6)
    names = [f"c{j}" for j in range(X.shape[1])]
    columns = {name: X[:, j] for j, name in enumerate(names)}
    one = fitted(columns, y)
    assert one.feature_names_in_.tolist() == names
    for other in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        assert same(one, fitted(other, y)), type(other)
    assert same(one, fitted(X, y))


def test_nominal_columns_by_dtype():
    X, y = few_values(7)
    text = np.array(["no", "yes", "maybe", "a"], dtype=object)[np.nan_to_num(X[:, 2]).astype(int)]
    text[np.isnan(X[:, 2])] = None
    frame = pd.DataFrame({"number": X[:, 0], "text": text, "flag": X[:, 3] > 0, "noise": X[:, 4]})
    one = fitted(frame, y)
    assert one.schema_.nominal.tolist() == [False, True, True, False]
    assert same(one, fitted(frame.assign(text=frame["text"].astype("category")), y))
    assert same(one, fitted(pl.from_pandas(frame), y))
    assert one.relevant_[[0, 2]].all()


def test_more_categories_than_codes():
    rng = np.random.default_rng(0)
    X, y = signals(6000)
    category = np.where(rng.random(6000) < 0.7, rng.integers(0, 3, 6000), rng.integers(3, 600, 6000))
    y = np.where(category == 1, 1, y)
    selector = fitted(pd.DataFrame({"c": category.astype(str), "x": X[:, 0], "noise": X[:, 5]}), y)
    assert selector.relevant_.tolist() == [True, True, False]


def test_odd_columns():
    X, y = signals(2000)
    X = np.column_stack([X, np.zeros(2000), X[:, 0], np.full(2000, np.nan), X[:, 0] > 5])
    selector = fitted(X, y)
    assert selector.pvalues_[15] == selector.pvalues_[17] == 1
    assert selector.scores_[15] == selector.scores_[17] == 0
    assert selector.pvalues_[16] == selector.pvalues_[0]
    assert np.isfinite(selector.scores_).all()


def test_all_columns_constant():
    with pytest.warns(UserWarning, match="No feature passed"):
        RelevanceSelector(max_bins=255, n_estimators=5).fit(np.ones((200, 3)), np.arange(200) % 2)


def test_a_rare_class():
    X, y = signals(5000, n_classes=2)
    y = y + 5 * (np.arange(5000) < 3)
    selector = fitted(X, y)
    assert selector.relevant_[:2].all()
    y[:] = 0
    y[[5, 50, 500]] = 1
    assert np.isfinite(fitted(X, y).scores_).all()


def test_infinity_and_other_targets_are_refused():
    X, y = signals(500)
    with pytest.raises(ValueError, match="one class"):
        fitted(X, np.zeros(500, dtype=int))
    with pytest.raises(ValueError, match="missing"):
        fitted(X, np.where(np.arange(500) == 3, np.nan, y + 0.5))
    X[3, 4] = np.inf
    with pytest.raises(ValueError, match="inf"):
        fitted(X, y)


@pytest.mark.parametrize("n_candidates", [5, np.int64(5), 0.4, "sqrt", None])
def test_candidates_of_any_type(n_candidates):
    X, y = signals(1000, n_noise=3)
    X[:, 4] = X[:, 5] = 1.0
    found = fitted(X, y, max_features=n_candidates)
    assert found.relevant_[0]


def test_pickles_and_fits_again():
    X, y = few_values(8)
    selector = fitted(X, y)
    loaded = pickle.loads(pickle.dumps(selector))
    assert same(selector, loaded)
    assert np.array_equal(loaded.transform(X), selector.transform(X), equal_nan=True)
    first = fitted(X, y)
    selector.fit(X[:, :3], y)
    assert selector.n_features_in_ == 3
    assert same(selector.fit(X, y), first)


def test_the_seed_counts():
    X, y = few_values(9)
    assert not np.array_equal(fitted(X, y).pvalues_, fitted(X, y, random_state=1).pvalues_)


# Memory


def test_codes_in_a_file_give_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = []
    monkeypatch.setattr(
        local_blocks, "_room", lambda *a, own=local_blocks._room: made.append(own(*a)) or made[-1]
    )
    X, y = few_values(10)
    one = fitted(X, y)
    for limit in (0, "1KB", 0.0):
        assert same(one, fitted(X, y, memory_limit=limit))
        assert isinstance(made[-1], np.memmap)
        assert list(tmp_path.iterdir()) == []
    assert type(made[0]) is np.ndarray


def test_no_room_for_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    X, y = few_values(10)
    with pytest.raises(InputError, match="raise memory_limit"):
        fitted(X, y, memory_limit=0)


def test_without_fallocate(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    X, y = few_values(10)
    one = fitted(X, y)
    monkeypatch.delattr(os, "posix_fallocate")  # as on macOS and Windows
    assert same(one, fitted(X, y, memory_limit=0))


@pytest.mark.parametrize("limit", ["lots", "", "GB", "1.2.3GB", "-1GB", "5XB"])
def test_odd_limits_are_refused(limit):
    X, y = few_values(10, n=300)
    with pytest.raises(ValueError, match=r"memory_limit is .*: give a number of bytes"):
        fitted(X, y, memory_limit=limit)


# Error rates


def check_null_tables(kind, numbers):
    """Blocks of small tables, too: their p-values hold as well."""
    tables = [fitted(*null_table(kind, seed), random_state=seed, n_estimators=50) for seed in numbers]
    n_wrong = sum(bool(selector.relevant_.any()) for selector in tables)
    assert binomtest(n_wrong, len(tables), 0.1, alternative="greater").pvalue > 0.001
    for alpha in (0.01, 0.1):
        assert not exceeds([selector.pvalues_ for selector in tables], alpha)


@pytest.mark.parametrize("kind", NULL_KINDS)
def test_noise_is_rarely_relevant(kind):
    check_null_tables(kind, range(8))


@pytest.mark.slow
@pytest.mark.parametrize("kind", NULL_KINDS)
def test_noise_is_rarely_relevant_in_200_tables(kind):
    check_null_tables(kind, range(3000, 3200))


@pytest.mark.slow
@pytest.mark.parametrize("target", ["classes", "quantity"])
def test_noise_of_many_rows_is_rarely_relevant(target):
    found = []
    for seed in range(60):
        rng = np.random.default_rng([seed, 93])
        y = rng.integers(0, 3, 5000) if target == "classes" else rng.exponential(size=5000)
        found.append(fitted(rng.normal(size=(5000, 20)), y, random_state=seed).pvalues_)
    for alpha in (0.01, 0.1):
        assert not exceeds(found, alpha)


# Ctrl-C

SCRIPT = """
import sys, threading, time
import numpy as np
from foresift import RelevanceSelector

rng = np.random.default_rng(0)
X = rng.normal(size=(200_000, 60)).astype(np.float32)
y = rng.integers(0, 2, len(X))
long = RelevanceSelector(n_estimators=3000, max_features=None, max_depth=12, n_jobs=int(sys.argv[1]))
blocks = long.blocks_of(X, y)
print("started", flush=True)
try:
    long.fit_blocks(blocks)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    for _ in range(50):  # threads may linger, but end soon
        if threading.active_count() > 1:
            time.sleep(0.1)
    print(threading.active_count(), hasattr(long, "scores_"), flush=True)
else:
    sys.exit("the fit ended by itself")
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("wait", [0.3, 3])
def test_ctrl_c_stops_a_fit_to_blocks(n_jobs, wait):
    command = [sys.executable, "-c", SCRIPT, str(n_jobs)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "started\n", process.stderr.read()
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        assert process.stdout.readline() == "interrupted\n", process.stderr.read()
        assert time.monotonic() - sent < 10
        assert process.stdout.readline() == "1 False\n"
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("n_classes", "options", "in_blocks"),
    [(2, {}, True), (60, {}, False), (60, {"max_bins": 255}, True), (2, {"max_bins": 65_536}, False)],
)
def test_what_is_read_in_blocks(n_classes, options, in_blocks, monkeypatch):
    monkeypatch.setattr(selector_module, "MANY_ROWS", 500)
    X, y = np.random.default_rng(0).normal(size=(600, 2)), np.arange(600) % n_classes
    assert (RelevanceSelector(**options).blocks_of(X, y) is not None) == in_blocks
    few = RelevanceSelector(**options).blocks_of(X[:400], y[:400])
    assert (few is not None) == (in_blocks and bool(options))
