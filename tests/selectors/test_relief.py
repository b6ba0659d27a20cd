"""Relief and ReliefF: against literal twins and Weka, and what must not change the weights."""

import numpy as np
import pandas as pd
import pytest
import reference_relief as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from relief_tables import mixed_table, scaled

from foresift import _core
from foresift.selectors.relief import ReliefFSelector, ReliefSelector


@pytest.mark.filterwarnings("ignore:No feature passed")
@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_twin(seed, weighted):
    frame, X, n_values, y, rng = mixed_table(seed)
    weights = rng.integers(1, 4, size=len(y)).astype(float) if weighted else None
    ones = np.ones(len(y)) if weights is None else weights
    k = int(rng.integers(1, 6))
    several = ReliefFSelector(n_neighbors=k).fit(frame, y, sample_weight=weights)
    assert several.scores_ == pytest.approx(reference.relief(X, n_values, y, k, ones), abs=1e-12)
    one = ReliefSelector().fit(frame, y, sample_weight=weights)
    assert one.scores_ == pytest.approx(reference.relief(X, n_values, y, 1, ones, True), abs=1e-12)


def weka_table(gaps):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    y = np.repeat([0, 1, 2], [30, 14, 6])
    X[:, 0] += y
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["e"] = rng.choice(["u", "v", "w"], 50)
    frame["f"] = rng.choice(["no", "yes"], 50)
    if gaps:
        frame.loc[rng.random(50) < 0.2, "b"] = np.nan
        frame.loc[rng.random(50) < 0.2, "e"] = None
    return frame, y


# Weka 3.9.7, weka.attributeSelection.ReliefFAttributeEval with setNumNeighbours(k), setSampleSize(-1), else
# defaults; evaluateAttribute of every attribute. The third class has 6 members, fewer than 10.
WEKA = {
    (10, False): [
        0.1176639722616048,
        -0.0037004923173943357,
        0.018308861555420688,
        0.019943799798251186,
        0.01948686868686881,
        0.07092121212121245,
    ],
    (3, False): [
        0.09886381109192126,
        -0.008076881798500588,
        0.023343735434853224,
        0.04604172497762811,
        0.0392525252525251,
        -0.008545454545454552,
    ],
    (10, True): [
        0.11714298772927048,
        0.007458810717921882,
        0.013768999332954524,
        0.013319880085949766,
        0.03118249158249053,
        0.08701818181818272,
    ],
}


@pytest.mark.parametrize(("k", "gaps"), WEKA)
def test_equals_weka(k, gaps):
    frame, y = weka_table(gaps)
    assert ReliefFSelector(n_neighbors=k).fit(frame, y).scores_ == pytest.approx(WEKA[k, gaps], abs=1e-13)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_what_does_not_matter(seed):
    frame, _, _, y, rng = mixed_table(seed)
    fit = ReliefFSelector(len(frame.columns), n_neighbors=3).fit(frame, y)
    order = rng.permutation(len(y))
    moved = ReliefFSelector(len(frame.columns), n_neighbors=3).fit(frame.iloc[order], y[order])
    assert moved.scores_ == pytest.approx(fit.scores_, abs=1e-12)
    other = frame.copy()
    for name in frame:
        if frame[name].dtype == "category":
            other[name] = frame[name].cat.rename_categories(lambda c: "z" + c[::-1])
        else:
            other[name] = 8 * frame[name] - 2
    renamed = ReliefFSelector(len(frame.columns), n_neighbors=3).fit(other, np.array(["x", "a", "m"])[y])
    assert renamed.scores_ == pytest.approx(fit.scores_, abs=1e-9)


@pytest.mark.filterwarnings("ignore:No feature passed")
@pytest.mark.parametrize("seed", range(5))
def test_repeated_rows_are_weights(seed):
    frame, _, _, y, rng = mixed_table(seed)
    weights = rng.integers(0, 4, size=len(y))
    weights[:3] = 1  # every class stays
    rows = np.repeat(np.arange(len(y)), weights)
    weighted = ReliefFSelector().fit(frame, y, sample_weight=weights.astype(float))
    repeated = ReliefFSelector().fit(frame.iloc[rows], y[rows])
    # Scales and numbers of categories are those of the rows that are there.
    assert weighted.scores_ == pytest.approx(repeated.scores_, abs=1e-12)


def test_many_categories():
    """Codes that share a byte."""
    rng = np.random.default_rng(3)
    n = 300  # rows, so that there are categories enough
    X = rng.random((n, 9))
    X[:, 6:] = rng.integers(0, 2000, size=(n, 3)) // rng.integers(1, 7, size=3)
    y = rng.integers(0, 2, size=n)
    columns = [6, 7, 8]
    got = ReliefFSelector(n_neighbors=4, categorical_features=columns).fit(X, y).scores_
    codes = X.copy()
    codes[:, :6] = np.apply_along_axis(scaled, 0, X[:, :6])
    n_values = [0] * 6 + [len(np.unique(X[:, j])) for j in columns]
    assert max(n_values) > 255
    assert got == pytest.approx(reference.relief(codes, n_values, y, 4, np.ones(n)), abs=1e-12)


def test_many_columns():
    """The more columns, the further bytes lead astray: most rows may then be the nearest."""
    rng = np.random.default_rng(4)
    X, y = rng.random((40, 20_000)), np.repeat([0, 1], 20)
    got = ReliefFSelector(n_neighbors=3).fit(X, y).scores_
    X = np.apply_along_axis(scaled, 0, X)
    distances = np.abs(X[:, None, :] - X[None, :, :]).sum(axis=2)
    expected = np.zeros(X.shape[1])
    for i in range(40):
        for members, factor in ((y == y[i], -1), (y != y[i], 1)):
            others = [j for j in np.argsort(distances[i]) if members[j] and j != i][:3]
            expected += factor * np.abs(X[i] - X[others]).mean(axis=0) / 40
    assert got == pytest.approx(expected, abs=1e-12)


def test_threads_and_samples():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 7)), rng.integers(0, 3, size=300)
    whole = ReliefFSelector().fit(X, y).scores_
    np.testing.assert_array_equal(ReliefFSelector(n_jobs=2).fit(X, y).scores_, whole)
    np.testing.assert_array_equal(ReliefFSelector(n_samples=300).fit(X, y).scores_, whole)
    one, two = (ReliefFSelector(n_samples=50, random_state=1).fit(X, y).scores_ for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, ReliefFSelector(n_samples=50, random_state=2).fit(X, y).scores_)
    many = [ReliefFSelector(n_samples=50, random_state=seed).fit(X, y).scores_ for seed in range(60)]
    assert np.mean(many, axis=0) == pytest.approx(whole, abs=5 * np.std(many, axis=0).max() / 60**0.5)


def test_constant_column_and_lone_row():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(20, 3.0), rng.random(20)])
    y = np.array([0] * 10 + [1] * 9 + [2])  # the last class has one row, which has no hits
    scores = ReliefFSelector(2).fit(X, y).scores_
    expected = reference.relief(scaled(X[:, 1])[:, np.newaxis], [0], y, 10, np.ones(20))
    assert scores == pytest.approx([min(0, expected[0]), expected[0]], abs=1e-12)


@pytest.mark.filterwarnings("ignore:No feature passed")
@pytest.mark.parametrize("seed", range(10))
def test_columns_that_tell_nothing_score_the_minimum(seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.full(30, np.nan), rng.normal(size=(30, 4)), np.full(30, 2.0)])
    y = np.arange(30) % 2
    for selector in (ReliefSelector(), ReliefFSelector(n_neighbors=3)):
        scores = selector.fit(X, y).scores_
        assert scores[0] == scores[-1] == min(0, scores.min())
        assert not selector.support_[[0, -1]].any() or not (scores > 1e-12).any()


def test_unit_of_the_weights_and_overflow():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
    scores = ReliefFSelector(4, n_neighbors=3).fit(X, y).scores_
    for unit in (0.1, 1 / 60):
        weighted = ReliefFSelector(4, n_neighbors=3).fit(X, y, np.full(60, unit))
        assert weighted.scores_ == pytest.approx(scores, abs=1e-12)
    X[:, 0] *= 5e307
    assert ReliefFSelector(4, n_neighbors=3).fit(X, y).scores_ == pytest.approx(scores, abs=1e-12)


def test_categories_without_weight_are_not_there():
    rng = np.random.default_rng(0)
    word = rng.choice(["a", "b", "c"], 60).astype(object)
    weights = (word != "c").astype(float)
    word[::7] = None
    frame = pd.DataFrame({"word": word, "x": rng.normal(size=60)})
    y = np.arange(60) % 2
    kept = weights > 0
    alone = ReliefFSelector(2).fit(frame[kept], y[kept]).scores_
    assert ReliefFSelector(2).fit(frame, y, weights).scores_ == pytest.approx(alone, abs=1e-12)


def test_kernel_refuses_nonsense():
    rows, y = np.zeros((3, 2)), np.array([0, 1, 0], dtype=np.int32)
    with pytest.raises(ValueError, match="n_values must have 2"):
        _core.Relief(rows, [0], y, 2, None, 1.0, False)
    with pytest.raises(ValueError, match="class code"):
        _core.Relief(rows, [0, 0], y, 1, None, 1.0, False)
    relief = _core.Relief(rows, [0, 0], y, 2, None, 1.0, False)
    with pytest.raises(ValueError, match="sample has the number 3"):
        relief.sums(np.array([3], dtype=np.uint32))


@pytest.mark.parametrize("bad", [{"n_neighbors": 0}, {"n_samples": 0}, {"n_neighbors": 1.5}])
def test_bad_parameters(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        ReliefFSelector(**bad).fit(np.zeros((4, 1)), [0, 1, 0, 1])
