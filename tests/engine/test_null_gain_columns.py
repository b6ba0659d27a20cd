"""What an irrelevant column gains where no path counts it: shuffled classes against every arrangement."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
import reference
import reference_forest_gain as twin
from hypothesis import given, settings
from hypothesis import strategies as st

from foresift import _core
from foresift.criteria import expected_gain, gain_pvalue, gain_variance

SHUFFLES = 4000


def assert_chance(gains, counts, **options):
    """Compare the three questions about a node with the gains of all equally likely arrangements."""
    gains = np.asarray(gains, dtype=float)
    options = {"n_permutations": SHUFFLES, **options}
    mean, variance = gains.mean(), gains.var()
    error = math.sqrt(variance / SHUFFLES)
    assert expected_gain(counts, "exact", **options) == pytest.approx(mean, abs=5 * error + 1e-9)
    # How far the variance of a sample strays: by the variance of the squared deviations.
    error = math.sqrt(((gains - mean) ** 2).var() / SHUFFLES) + variance / SHUFFLES
    assert gain_variance(counts, **options) == pytest.approx(variance, abs=5 * error + 1e-12)
    for asked in np.unique(gains.round(9))[::3]:
        share = (gains >= asked - 1e-8).mean()
        error = math.sqrt(share * (1 - share) / SHUFFLES)
        expected = 1 if asked <= 1e-8 else pytest.approx(share, abs=5 * error + 2 / SHUFFLES)
        assert gain_pvalue(asked - 1e-8, counts, **options) == expected


@pytest.mark.parametrize("counts", [[1, 1, 1], [2, 2, 2], [3, 2, 2], [5, 1, 1], [2, 2, 1, 1], [1] * 5])
def test_more_classes(counts):
    assert_chance(twin.gains_of_arrangements(counts), counts)


def test_more_classes_in_any_order_and_with_empty_ones():
    nodes = np.array([[5, 2, 3], [3, 5, 2], [2, 3, 5]])
    for ask in (lambda c: expected_gain(c, "exact"), gain_variance, lambda c: gain_pvalue(0.4, c)):
        assert len(set(ask(nodes).tolist())) == 1
        assert ask(np.insert(nodes, 1, 0, axis=1)).tolist() == ask(nodes).tolist()
    assert expected_gain(nodes[:1], "exact").shape == (1,)
    assert expected_gain(np.stack([nodes, nodes]), "exact").shape == (2, 3)


COLUMNS = {
    "distinct": [0.1, 2, 3.5, -4, 5, 6, 7, 8],
    "ties": [1, 1, 2, 2, 2, 3, 3, 9],
    "two values": [0, 0, 0, 1, 1, 1, 1, 1],
    "missing": [math.nan, 1, 2, 2, math.nan, 3, 4, 4],
    "mostly missing": [math.nan] * 6 + [1, 2],
    "one value and missing": [math.nan] * 3 + [4] * 5,
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("counts", [[4, 4], [2, 6], [3, 3, 2]])
def test_numeric_columns(name, counts):
    x = COLUMNS[name]
    assert_chance(twin.null_gains_of_column(x, counts)[0], counts, x=x)


@pytest.mark.parametrize("codes", [[0, 0, 1, 1, 1, 2, 2, 3], [0, 1, 2, 3, 4], [0, 0, 0, 0, -1, 1, 1]])
@pytest.mark.parametrize("classes", [2, 3])
def test_nominal_columns(codes, classes):
    counts = np.bincount(np.arange(len(codes)) % classes).tolist()
    x = [None if code < 0 else f"c{code}" for code in codes]
    assert_chance(twin.null_gains_of_column(codes, counts, nominal=True)[0], counts, x=x)
    labels = list(reference.arrangements(counts))
    multiway = [reference.multiway(codes, y, "entropy", missing="category") for y in labels]
    assert_chance(multiway, counts, x=x, nominal_splits="multiway")


@given(st.lists(st.integers(0, 3), min_size=4, max_size=7), st.integers(1, 3), st.booleans())
@settings(deadline=None, max_examples=25)
def test_any_column_with_ties(x, rarer, nominal):
    counts = [rarer, len(x) - rarer]
    assert_chance(twin.null_gains_of_column(x, counts, nominal)[0], counts, x=x, nominal=nominal)


def test_a_column_without_ties_is_counted_and_simulated_alike():
    counted = expected_gain([30, 50], "exact"), gain_variance([30, 50]), gain_pvalue(0.08, [30, 50])
    options = {"x": np.random.default_rng(0).normal(size=80), "n_permutations": SHUFFLES}
    assert expected_gain([30, 50], "exact", **options) == pytest.approx(
        counted[0], abs=5 * math.sqrt(counted[1] / SHUFFLES)
    )
    assert gain_variance([30, 50], **options) == pytest.approx(counted[1], rel=0.2)
    assert gain_pvalue(0.08, [30, 50], **options) == pytest.approx(
        counted[2], abs=5 * math.sqrt(counted[2] / SHUFFLES)
    )


def test_fewer_ways_to_cut_gain_less():
    n = 40
    gains = [expected_gain([20, 20], "exact", x=np.arange(n) // size) for size in (1, 2, 5, 20, 40)]
    assert (np.diff(gains) < 0).all()
    assert gains[-1] == 0
    assert gain_pvalue(0.1, [20, 20], x=np.zeros(n)) == 1 / 1001
    assert gain_variance([20, 20], x=np.zeros(n)) == 0


def test_the_type_says_whether_a_column_is_nominal():
    codes = [0, 1, 2, 0, 1, 2, 0, 1]
    ask = lambda x, **options: expected_gain([4, 4], "exact", x=x, **options)  # noqa: E731
    numeric, nominal = ask(codes), ask(codes, nominal=True)
    assert nominal > numeric
    text = [f"c{code}" for code in codes]
    for x in (text, np.array(text), pd.Series(text, dtype="category"), pl.Series(text)):
        assert ask(x) == nominal
    for x in (np.array(codes, dtype=float), pd.Series(codes), pl.Series(codes)):
        assert ask(x) == numeric
    assert ask([str(code) for code in codes], nominal=False) == numeric


def test_several_gains_of_one_column():
    x, gains = [1, 1, 2, 2, 2, 3, 3, 9], [0.05, 0.2, 0.4]
    one_by_one = [gain_pvalue(gain, [3, 5], x=x) for gain in gains]
    assert gain_pvalue(gains, [3, 5], x=x).tolist() == one_by_one
    assert one_by_one == sorted(one_by_one, reverse=True)


def test_the_order_of_the_rows_does_not_matter_on_average():
    x, counts = np.array([1, 1, 2, 2, 2, 3, 3, 9]), [3, 5]
    mixed = np.random.default_rng(0).permutation(x)
    gains = np.array(twin.null_gains_of_column(x, counts)[0])
    one, two = (expected_gain(counts, "exact", x=values, n_permutations=SHUFFLES) for values in (x, mixed))
    assert one == pytest.approx(two, abs=7 * gains.std() / math.sqrt(SHUFFLES))


# --- seeds ---


@pytest.mark.parametrize("options", [{}, {"x": np.arange(9) // 2}, {"x": list("aabbccddd")}])
def test_the_same_seed_gives_the_same_answer(options):
    ask = lambda seed: expected_gain([2, 3, 4], "exact", n_permutations=50, random_state=seed, **options)  # noqa: E731
    assert ask(0) == ask(0)
    assert ask(1) != ask(0)
    assert ask(None) != ask(None)
    assert ask(np.random.RandomState(3)) == ask(np.random.RandomState(3))
    mean = expected_gain([2, 3, 4], "exact", **options)
    assert mean == expected_gain([2, 3, 4], "exact", random_state=0, n_permutations=1000, **options)


def test_the_three_questions_see_the_same_shuffles():
    x, counts = np.arange(12) // 3, [4, 8]
    store = _core.ColumnStore(12, 65_536)
    store.add_numeric(x.astype(float)[:, np.newaxis])
    target = np.repeat([0, 1], counts).astype(np.int32)
    gains = _core.permuted_gains(store, 0, target, 2, False, 100, 5)
    again = _core.permuted_gains(store, 0, target, 2, False, 40, 5)
    assert gains[:40].tolist() == again.tolist()  # more shuffles begin like fewer
    # With the seed of random_state=0 all three are read off one set of gains.
    options = {"x": x, "n_permutations": 200}
    pvalues = [gain_pvalue(gain, counts, **options) for gain in np.linspace(1e-9, 1, 401)]
    from_tail = np.trapezoid(np.array(pvalues) * 201 / 200 - 1 / 200, np.linspace(0, 1, 401))
    assert expected_gain(counts, "exact", **options) == pytest.approx(from_tail, abs=5e-3)


def test_bad_classes_and_columns_are_refused_by_the_engine():
    store = _core.ColumnStore(3, 65_536)
    store.add_numeric(np.arange(3.0)[:, np.newaxis])
    target = np.array([0, 1, 1], dtype=np.int32)
    with pytest.raises(ValueError, match="class code is out of range"):
        _core.permuted_gains(store, 0, target + 1, 2, False, 5, 0)
    with pytest.raises(ValueError, match="target must have 3"):
        _core.permuted_gains(store, 0, target[:2], 2, False, 5, 0)
    with pytest.raises(ValueError, match="no such column"):
        _core.permuted_gains(store, 1, target, 2, False, 5, 0)
    for call in (_core.null_moments, lambda i, j: _core.null_tail(i, j, 0.1)):
        with pytest.raises(ValueError):
            call(0, 5)
