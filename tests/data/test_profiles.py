"""Profiles of columns: counts, shares and means equal those of pandas, and directions are as made."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresift.data.profiles import MAX_PARTS, MAX_ROWS, Profiles, _ranges
from foresift.data.table import make_table


def rows_of(part, column):
    """Mask of the rows that a part says it has."""
    if "missing" in part:
        return column.isna()
    if "value" in part:
        return column.astype(str).where(column.notna()) == part["value"]
    return (column >= part["low"]) & (column <= part["high"])


def table_of(seed, n=300):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "few": rng.integers(0, 4, n).astype(float),
            "many": rng.normal(size=n),
            "spike": np.where(rng.random(n) < 0.8, 0.0, rng.exponential(size=n)),
            "colour": rng.choice(["red", "green", "blue"], n),
            "code": rng.choice([f"c{k}" for k in range(30)], n),
            "constant": np.ones(n),
        }
    )
    X = X.mask(rng.random(X.shape) < 0.1)
    X["constant"] = 1.0
    return X, rng


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 9])
def test_shares_equal_counting(n_classes, weighted):
    X, rng = table_of(n_classes)
    y = rng.choice([f"k{c}" for c in range(n_classes)], len(X))
    weights = rng.random(len(X)) * (rng.random(len(X)) < 0.9) if weighted else None
    profiles = Profiles.of(make_table(X, y), weights)
    shown = profiles.target()["classes"]
    used = np.ones(len(X), dtype=bool) if weights is None else weights > 0
    X, y, w = X[used], y[used], np.ones(len(X))[used] if weights is None else weights[used]
    for j, name in enumerate(X):
        profile = profiles.column(j)
        assert profile["missing"] == X[name].isna().mean()
        assert profile["n_values"] == X[name].nunique()
        assert sum(part["n"] for part in profile["parts"]) == len(X)
        for part in profile["parts"]:
            assert sum(part["target"]) == pytest.approx(1, abs=1e-3)
            if "n_values" in part:
                continue
            rows = rows_of(part, X[name]).to_numpy()
            assert part["n"] == rows.sum()
            for label, share in zip(shown, part["target"], strict=True):
                if "other classes" not in label:
                    of_class = w[rows & (y == label)].sum() / w[rows].sum()
                    assert share == pytest.approx(of_class, abs=1e-4)


def test_means_and_quartiles_equal_those_of_the_rows():
    X, rng = table_of(5)
    y = rng.gamma(2, size=len(X))
    profiles = Profiles.of(make_table(X, y, task="regression"))
    for j, name in enumerate(X):
        for part in profiles.column(j)["parts"]:
            if "n_values" in part:
                continue
            some = np.sort(y[rows_of(part, X[name]).to_numpy()])
            mean, low, high = part["target"]
            assert mean == pytest.approx(some.mean(), rel=1e-5)
            assert low == pytest.approx(some[(len(some) - 1) // 4], rel=1e-5)
            assert high == pytest.approx(some[-1 - (len(some) - 1) // 4], rel=1e-5)


def test_a_quantity_is_drawn_in_its_unit():
    X, rng = table_of(6)
    y = rng.gamma(2, size=len(X))
    table = make_table(X, np.log(y), task="regression")
    assert Profiles.of(table, y=y).target()["overall"][0] == pytest.approx(y.mean(), rel=1e-5)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 200), min_size=1, max_size=60).filter(any))
def test_ranges_are_in_order_and_not_too_many(counts):
    counts = np.array(counts)
    of_code = _ranges(counts)
    assert (np.diff(of_code) >= 0).all()
    assert len(of_code) == len(counts)
    of_present = of_code[counts > 0]
    n_parts = of_present.max() + 1
    assert n_parts <= MAX_PARTS
    assert set(of_present) == set(range(n_parts))  # none is empty
    if (counts > 0).sum() > MAX_PARTS and counts.sum() >= 100 and counts.max() < counts.sum() / 10:
        sizes = np.bincount(of_code, counts)
        assert sizes.max() < 3 * counts.sum() / n_parts + counts.max()


def test_a_frequent_value_is_a_range_of_its_own():
    x = np.r_[np.zeros(800), np.linspace(1, 2, 200)]
    parts = Profiles.of(make_table({"x": x}, np.arange(1000) % 2)).column(0)["parts"]
    assert (parts[0]["low"], parts[0]["high"], parts[0]["n"]) == (0.0, 0.0, 800)
    assert len(parts) > 3


def direction(x, y, **options):
    return Profiles.of(make_table({"x": x}, y, **options)).column(0)["direction"]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (lambda x: 3 * x, "up"),
        (lambda x: -3 * x, "down"),
        (lambda x: 3 - 2 * x**2, "peak"),
        (lambda x: 2 * x**2 - 3, "dip"),
    ],
)
def test_directions(shape, expected):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x = rng.uniform(-2, 2, 1500)
        signal = shape(x)
        y = np.where(rng.random(1500) < 1 / (1 + np.exp(-signal + signal.mean())), "a yes", "no")
        # The rarer class is drawn, which the shape may make either.
        turned = {"up": "down", "down": "up", "peak": "dip", "dip": "peak"}
        rarer = np.mean(y == "a yes") < 0.5
        assert direction(x, y) == (expected if rarer else turned[expected]), seed
        assert direction(x, signal + rng.normal(size=1500), task="regression") == expected


def test_noise_is_mostly_flat():
    """About one in ten looks like something: two tests at 0.05, one of differences and one of a trend."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 300)), rng.integers(0, 2, 400)
    profiles = Profiles.of(make_table(X, y))
    found = [profiles.column(j)["direction"] for j in range(300)]
    assert 0.85 < found.count("flat") / 300 < 0.98


def test_several_classes_and_categories_differ():
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    y = np.digitize(x + rng.normal(size=600), [-1, 1])
    assert direction(x, y) == "differs"
    names = np.array(["low", "mid", "high"])[np.digitize(x, [-1, 1])]
    assert direction(names, x > 0) == "differs"


def test_many_rows_are_sampled():
    x = np.arange(MAX_ROWS + 5000.0)
    profiles = Profiles.of(make_table({"x": x}, x % 2))
    assert profiles.target()["n_rows"] == MAX_ROWS
    assert sum(part["n"] for part in profiles.column(0)["parts"]) == MAX_ROWS


def test_a_column_without_values():
    profile = Profiles.of(make_table({"x": [np.nan] * 6, "z": range(6)}, [0, 1] * 3)).column(0)
    assert profile["missing"] == 1
    assert profile["direction"] == "flat"
    assert [part.get("missing") for part in profile["parts"]] == [True]


def test_rare_classes_are_added_up():
    y = np.repeat(np.arange(12), np.arange(12, 0, -1))
    target = Profiles.of(make_table({"x": np.arange(len(y))}, y)).target()
    assert target["classes"] == ["0", "1", "2", "3", "4", "7 other classes"]
    assert target["overall"][0] == pytest.approx(12 / len(y), abs=1e-4)


def column_of(x, y, **options):
    return Profiles.of(make_table({"x": x}, y, **options)).column(0)


@pytest.mark.parametrize("text", [False, True])
def test_rows_with_and_without_a_value_are_compared(text):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(400) % 3 == 0, "yes", "no")
    x = rng.choice(["a", "b"], 400).astype(object) if text else rng.normal(size=400).round(1)
    of_one_class = column_of(pd.Series(x).where(y == "yes"), y)
    assert of_one_class["known"] == [1.0, 0.0]
    assert of_one_class["direction"] == "flat"
    assert column_of(pd.Series(x).where(np.arange(400) % 100 > 0), y).keys() & {"known"} == set()  # few
    some = pd.Series(x).where((y == "yes") | (rng.random(400) < 0.5))
    assert column_of(some, y)["known"][0] == pytest.approx((y[some.notna()] == "yes").mean(), abs=1e-4)
    z = rng.normal(size=400)
    found = column_of(pd.Series(x).where(z > 0), z, task="regression")
    assert found["known"][0] == pytest.approx(z[z > 0].mean(), rel=1e-5)


def test_gaps_at_random_are_seldom_remarkable():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(400, 300))).mask(rng.random((400, 300)) < 0.3)
    profiles = Profiles.of(make_table(X, rng.integers(0, 2, 400)))
    assert sum("known" in profiles.column(j) for j in range(300)) < 0.03 * 300
