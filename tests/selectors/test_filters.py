"""The single-pass rankers against literal twins, Weka's numbers, and what must not change them."""

import itertools
import os
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import reference_filters as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_filters import problem
from scipy import sparse
from sklearn.datasets import load_iris

from foresift.criteria import gain_ratio, information_gain
from foresift.selectors.correlation import FScoreSelector, PearsonSelector
from foresift.selectors.filters import InfoGainSelector

TWINS = {PearsonSelector: reference.pearson, FScoreSelector: reference.f_score}
GAINS = {False: information_gain, True: gain_ratio}
BOTH = pytest.mark.parametrize("kind", TWINS)
ALL = pytest.mark.parametrize(
    "selector",
    [
        PearsonSelector(nominal="one-hot"),
        FScoreSelector(nominal="one-hot"),
        InfoGainSelector(),
        InfoGainSelector(ratio=True),
    ],
    ids=repr,
)


# The twins


@BOTH
@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("seed", range(5))
def test_scores_equal_the_definition(kind, n_classes, seed):
    X, y, weights = problem(seed, n_classes=n_classes)
    for sample_weight in (None, weights):
        times = np.ones(len(y)) if sample_weight is None else sample_weight
        expected = [TWINS[kind](column, y, times) for column in X.T]
        scores = kind().fit(X, y, sample_weight).scores_
        np.testing.assert_allclose(scores, expected, rtol=1e-12)


@BOTH
@pytest.mark.parametrize("seed", range(5))
def test_nominal_columns_score_by_their_best_category(kind, seed):
    rng = np.random.default_rng(seed)
    y, weights = rng.integers(0, 3, size=30), rng.integers(0, 3, size=30)
    x = rng.choice(np.array(["a", "b", "c", None]), size=30)
    scores = kind(nominal="one-hot").fit({"x": x, "none": [None] * 30, "one": ["z"] * 30}, y, weights).scores_
    assert scores[0] == pytest.approx(reference.best_indicator(TWINS[kind], x, y, weights), rel=1e-12)
    assert scores[1:].tolist() == [0, 0]


def test_correlation_with_two_classes_is_that_of_numpy():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    expected = [abs(np.corrcoef(x, y)[0, 1]) for x in X.T]
    np.testing.assert_allclose(PearsonSelector().fit(X, y).scores_, expected, rtol=1e-13)


@pytest.mark.parametrize("ratio", GAINS)
@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("seed", range(5))
def test_gains_equal_those_of_single_columns(ratio, n_classes, seed):
    X, y, weights = problem(seed, n=80, n_classes=n_classes)
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(X).set_axis([f"x{j}" for j in range(X.shape[1])], axis=1)
    frame["many"] = rng.choice(list("abcdefgh"), size=len(y))
    frame["gaps"] = rng.choice(np.array(["a", "b", None]), size=len(y))
    for sample_weight in (None, weights, rng.random(len(y)) * (weights > 0)):
        expected = [GAINS[ratio](frame[name], y, sample_weight=sample_weight) for name in frame]
        selector = InfoGainSelector(ratio=ratio).fit(frame, y, sample_weight)
        np.testing.assert_allclose(selector.scores_, expected, rtol=0, atol=1e-12)
        if not ratio:
            assert np.array_equal(selector.gains_, selector.scores_)


@pytest.mark.parametrize("ratio", GAINS)
def test_gains_of_columns_with_many_equal_rows(ratio):
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 5, size=(4000, 3)).astype(float), rng.integers(0, 3, size=4000)
    x[rng.random(x.shape) < 0.1] = np.nan
    expected = [GAINS[ratio](column, y) for column in x.T]
    np.testing.assert_allclose(InfoGainSelector(ratio=ratio).fit(x, y).scores_, expected, atol=1e-12)


# Weka

# Weka 3.9.7 (the jar of the PyPI package python-weka-wrapper3 0.3.3) and Weka 3.6.14 (Debian), which agree to
# the last digit: InfoGainAttributeEval and GainRatioAttributeEval with default options, evaluateAttribute(j).
LENSES = {  # the table contact-lenses
    "age": (0.039396503646121905, 0.024856426337024843),
    "spectacle-prescrip": (0.03951083542356559, 0.03951083542356525),
    "astigmatism": (0.3770052300114771, 0.3770052300114769),
    "tear-prod-rate": (0.5487949406953988, 0.5487949406953988),
}
CHESS = {  # kr-vs-kp
    "bxqsq": (0.10794672945547235, 0.12184880434535374),
    "rimmx": (0.19826687955488442, 0.2890147508499519),
    "wkna8": (0.030998203015586978, 0.1012132614158917),
    "wknck": (0.09853936067376856, 0.10291401578389413),
    "wkpos": (0.015537868928575227, 0.01858459494443143),
}


def lenses():
    values = [
        ("young", "pre-presbyopic", "presbyopic"),
        ("myope", "hypermetrope"),
        ("no", "yes"),
        ("reduced", "normal"),
    ]
    X = pd.DataFrame(list(itertools.product(*values)), columns=list(LENSES))
    classes = {"n": "none", "s": "soft", "h": "hard"}
    return X, [classes[letter] for letter in "nsnhnsnhnsnhnsnnnnnhnsnn"]


@pytest.mark.parametrize("ratio", GAINS)
def test_lenses_as_weka_has_them(ratio):
    X, y = lenses()
    expected = [values[ratio] for values in LENSES.values()]
    np.testing.assert_allclose(InfoGainSelector(ratio=ratio).fit(X, y).scores_, expected, rtol=0, atol=1e-12)


@pytest.mark.skipif("FORESIFT_DATA" not in os.environ, reason="needs the UCI tables")
@pytest.mark.parametrize("ratio", GAINS)
def test_chess_as_weka_has_it(ratio):
    table = pd.read_csv(Path(os.environ["FORESIFT_DATA"], "kr-vs-kp.csv"), dtype=str, keep_default_na=False)
    selector = InfoGainSelector(ratio=ratio).fit(table.drop(columns="class"), table["class"])
    scores = dict(zip(selector.feature_names_in_, selector.scores_, strict=True))
    for name, values in CHESS.items():
        assert scores[name] == pytest.approx(values[ratio], abs=1e-9)


# What must not change the scores

SEEDS = st.integers(0, 10**6)


@BOTH
@settings(deadline=None, max_examples=30)
@given(seed=SEEDS, scale=st.floats(1e-3, 1e3), shift=st.integers(-1000, 1000))
def test_scale_and_shift_do_not_matter(kind, seed, scale, shift):
    X, y, weights = problem(seed)
    X[:, 5] -= 1e9
    scores = kind().fit(X, y, weights).scores_
    for factor in (scale, -scale):
        moved = kind().fit(factor * X + shift, y, weights).scores_
        np.testing.assert_allclose(moved, scores, rtol=1e-6, atol=1e-9)


@settings(deadline=None, max_examples=30)
@given(seed=SEEDS)
def test_monotone_transforms_do_not_change_gains(seed):
    X, y, weights = problem(seed)
    X[:, 5] -= 1e9
    for ratio in GAINS:
        scores = InfoGainSelector(ratio=ratio).fit(X, y, weights).scores_
        assert np.array_equal(InfoGainSelector(ratio=ratio).fit(np.exp(X), y, weights).scores_, scores)
        gains = InfoGainSelector().fit(X, y, weights).scores_
        np.testing.assert_allclose(InfoGainSelector().fit(-X, y, weights).scores_, gains, atol=1e-12)


@ALL
@settings(deadline=None, max_examples=20)
@given(seed=SEEDS)
def test_row_order_and_names_do_not_matter(selector, seed):
    X, y, weights = problem(seed)
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(X[:, :7]).set_axis(list("abcdefg"), axis=1)
    frame["colour"] = rng.choice(np.array(["red", "blue", "green", None]), size=len(y))
    scores = selector.fit(frame, y, weights).scores_

    rows = rng.permutation(len(y))
    shuffled = selector.fit(frame.iloc[rows], y[rows], weights[rows]).scores_
    np.testing.assert_allclose(shuffled, scores, rtol=1e-6, atol=1e-9)

    frame["colour"] = frame["colour"].map({"red": "0", "blue": "9", "green": "5"})
    renamed = selector.fit(frame, np.array(["z", "m", "a"])[y], weights).scores_
    np.testing.assert_allclose(renamed, scores, rtol=1e-6, atol=1e-9)


@ALL
@settings(deadline=None, max_examples=20)
@given(seed=SEEDS)
def test_a_weight_is_a_number_of_rows(selector, seed):
    X, y, weights = problem(seed)
    times = weights.astype(int)
    if len(set(np.repeat(y, times))) == len(set(y)):
        repeated = selector.fit(np.repeat(X, times, axis=0), np.repeat(y, times)).scores_
        np.testing.assert_allclose(selector.fit(X, y, weights).scores_, repeated, rtol=1e-6, atol=1e-9)


@ALL
def test_small_weights_are_scaled_up(selector):
    X, y = load_iris(return_X_y=True)
    scores = selector.fit(X, y).scores_
    for unit in (1e-3, 1e-20, 1e-80):
        np.testing.assert_allclose(selector.fit(X, y, np.full(150, unit)).scores_, scores, rtol=1e-9)


@ALL
def test_a_class_without_weight_is_not_there(selector):
    X, y = load_iris(return_X_y=True)
    expected = selector.fit(X[y < 2], y[y < 2]).scores_
    np.testing.assert_allclose(selector.fit(X, y, y < 2).scores_, expected, rtol=1e-12)
    with pytest.raises(ValueError, match="Only one class has rows with a positive sample_weight"):
        selector.fit(X, y, y == 0)


@ALL
def test_every_container_gives_the_same(selector):
    X, y, weights = problem(0)
    X[:, 5] -= 1e9
    scores = selector.fit(X, y, weights).scores_
    names = [f"x{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    for other in (
        np.asfortranarray(X),
        np.hstack([X, X])[:, : len(names)],
        np.hstack([X, X])[::1, len(names) :],
        X[::-1][::-1],
        frame,
        pl.from_pandas(frame),
        dict(zip(names, X.T, strict=True)),
        X.astype(object),
        sparse.csr_matrix(X),
    ):
        np.testing.assert_allclose(selector.fit(other, y, weights).scores_, scores, rtol=1e-10, atol=1e-13)


@BOTH
def test_numbers_are_not_binned(kind):
    rng = np.random.default_rng(0)
    x = np.sort(rng.lognormal(sigma=3, size=100_000))[:, np.newaxis]  # a bin's largest value is far off
    y = rng.integers(0, 2, size=len(x))
    a, b = x[y == 0], x[y == 1]
    if kind is PearsonSelector:
        expected = abs(np.corrcoef(x[:, 0], y)[0, 1])
    else:
        expected = abs(a.mean() - b.mean()) / (a.std(ddof=1) + b.std(ddof=1))
    assert kind().fit(x, y).scores_[0] == pytest.approx(expected, rel=1e-9)


# Special columns, and the rule


@BOTH
def test_constant_columns_score_0(kind):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, size=999)
    X = np.column_stack(
        [np.full(999, 0.1), np.full(999, np.nan), np.where(y == 1, np.nan, 1 / 3), rng.random(999)]
    )
    selector = kind().fit(X, y, rng.random(999))
    assert selector.scores_[:3].tolist() == [0, 0, 0]
    assert selector.ranking_.tolist() == [2, 3, 4, 1]


def test_perfect_separation():
    y = np.array([0] * 30 + [1] * 70 + [2] * 7)
    rng = np.random.default_rng(0)
    X = np.column_stack([np.where(y == 1, 0.1, 0.7), y / 3, rng.random(len(y))])
    selector = FScoreSelector().fit(X, y, rng.random(len(y)))
    assert selector.scores_[0] == np.inf
    assert np.isfinite(selector.scores_[1:]).all()
    assert selector.ranking_[0] == 1
    assert PearsonSelector().fit(X, y).scores_[0] == 1.0


def test_one_hot_categories_with_weights_of_many_magnitudes():
    rng = np.random.default_rng(0)
    X, y = np.array([["a"], ["b"], ["c"], ["d"]] * 10, dtype=object), np.arange(40) // 20
    selector = PearsonSelector(nominal="one-hot")
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        for least, most in ((-300, -100), (-300, 0), (-20, -15), (0, 8), (100, 105)):
            scores = selector.fit(X, y, 10.0 ** rng.uniform(least, most, 40)).scores_
            assert 0 <= scores[0] <= 1
        with pytest.raises(ValueError, match="Bring them closer together"):
            selector.fit(X, y, 10.0 ** rng.uniform(-290, 87, 40))


def test_a_class_of_one_row_has_no_deviation():
    X = [[1.0, 1.0], [5.0, 2.0], [5.0, 3.0], [6.0, 4.0], [8.0, 5.0]]
    assert FScoreSelector().fit(X, [0, 1, 1, 1, 1]).scores_.tolist() == [0, 0]
    three = FScoreSelector().fit(X, [0, 1, 1, 2, 2]).scores_
    assert three.tolist() == [reference.f_score(x, [0, 1, 1, 2, 2], [1] * 5) for x in np.transpose(X)]
    assert (PearsonSelector().fit(X, [0, 1, 1, 1, 1]).scores_ > 0).all()


@BOTH
@pytest.mark.parametrize(("n_columns", "n_kept"), [(1, 1), (2, 1), (3, 1), (8, 4), (9, 4)])
def test_the_better_half_is_kept(kind, n_columns, n_kept):
    X, y = np.random.default_rng(0).random((20, n_columns)), np.arange(20) % 2
    selector = kind().fit(X, y)
    assert selector.support_.sum() == n_kept
    assert selector.scores_[selector.support_].min() >= selector.scores_[~selector.support_].max(initial=0)
    assert kind(1.0).fit(X, y).support_.all()


def test_what_gains_anything_is_kept():
    y = np.array([0, 0, 0, 1, 1, 1] * 7)
    balanced = ["a", "b", "c"] * 14  # gains nothing, but for rounding
    X = {"balanced": balanced, "constant": ["k"] * 42, "useful": y.astype(float)}
    for ratio in GAINS:
        selector = InfoGainSelector(ratio=ratio).fit(X, y)
        assert selector.support_.tolist() == [False, False, True]
        assert selector.scores_ == pytest.approx([0, 0, 1], abs=1e-12)
    with pytest.warns(UserWarning, match="No feature passed the rule of InfoGainSelector.*'balanced'"):
        InfoGainSelector().fit({"balanced": balanced, "constant": ["k"] * 42}, y)


# Bad input


@BOTH
def test_nominal_columns_are_refused_by_name(kind):
    X = {"size": [1.0, 2.0, 3.0, 4.0], "colour": ["red", "blue", "red", "red"]}
    with pytest.raises(
        ValueError, match=r"column 'colour' is nominal, but \w+ needs numbers: set nominal='one"
    ):
        kind().fit(X, [0, 0, 1, 1])
    numbers = np.array([[1.0, 7.0], [2.0, 8.0], [3.0, 7.0], [4.0, 9.0]])
    with pytest.raises(ValueError, match="column 1 is nominal"):
        kind(categorical_features=[1]).fit(numbers, [0, 0, 1, 1])
    selector = kind(nominal="one-hot", categorical_features=[1]).fit(numbers, [0, 0, 1, 1])
    assert selector.schema_.categories[0] is None
    assert selector.schema_.categories[1].tolist() == [7, 8, 9]
    with pytest.raises(ValueError, match="column 'colour' holds text"):
        kind(categorical_features=None).fit(X, [0, 0, 1, 1])


@BOTH
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"nominal": "ordinal"}, "nominal"),
        ({"n_features_to_select": 3}, "more than the 2 columns"),
        ({"n_features_to_select": 0}, "n_features_to_select"),
        ({"categorical_features": ["no"]}, "unknown columns"),
    ],
)
def test_bad_parameters(kind, parameters, message):
    with pytest.raises(ValueError, match=message):
        kind(**parameters).fit([[1.0, 2.0], [3.0, 5.0]], [0, 1])


@BOTH
def test_bad_data(kind):
    good = [[1.0, 2.0], [3.0, 5.0]]
    with pytest.raises(ValueError, match=r"infinity.*column 1"):
        kind().fit([[1.0, 2.0], [3.0, np.inf]], [0, 1])
    with pytest.raises(ValueError, match="one class"):
        kind().fit(good, [1, 1])
    with pytest.raises(ValueError, match="inconsistent"):
        kind().fit(good, [0, 1, 1])
    with pytest.raises(ValueError, match="y contains NaN"):
        kind().fit(good, [0, np.nan])
    with pytest.raises(ValueError, match="Negative"):
        kind().fit(good, [0, 1], [1, -1])
