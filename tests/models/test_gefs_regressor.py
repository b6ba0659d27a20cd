"""GEFS for a quantity: its measures by hand, the search, and what it shares with classes."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from foresift import CartRegressor, GEFSRegressor, NetworkRegressor
from foresift.models.gefs.members import Member, QuantityEvaluator

SMALL = {"population": 6, "n_candidates": 18, "n_offspring": 4, "epochs": 8, "random_state": 0}
DRAWN = {
    f"check_sample_weight_equivalence_on_{kind}_data": "rows are taken in turn, or drawn"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [
        GEFSRegressor(population=5, n_candidates=12, n_offspring=4),
        GEFSRegressor(CartRegressor(max_depth=4), population=5, n_candidates=9, n_offspring=4),
    ],
    expected_failed_checks=lambda _: DRAWN,
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def friedman():
    return make_friedman1(200, noise=0.5, random_state=0)


def member(number, outputs, rows=None):
    rows = None if rows is None else np.array(rows, np.uint32)
    return Member(number, np.array([0], np.int32), rows, None, outputs=np.array(outputs)[:, None])


def scored(evaluator, *members):
    return [Member(m.number, m.genome, m.rows, None, evaluator.accuracy(m), m.outputs) for m in members]


def test_measures_by_hand():
    # Two rows; errors are squared, diversity is the squared distance from (1, 0), the mean of all.
    evaluator = QuantityEvaluator(np.array([1.0, -1.0], np.float32), np.ones(2), oob_only=False)
    a, b = scored(evaluator, member(0, [1.0, 0.0]), member(1, [1.0, 0.0]))
    c, d = scored(evaluator, member(2, [2.0, -1.0]), member(3, [0.0, 1.0]))
    assert [m.accuracy for m in (a, b, c, d)] == [0.5, 0.5, 0.5, -1.5]
    assert evaluator.diversity([a, b, c, d]).tolist() == [0, 0, 1, 1]
    assert evaluator.fitness([a, b, c, d], 0.0).tolist() == [1, 1, 1, 0]
    # 0.5, 0.5, 1.5 and -0.5, scaled by their range
    assert evaluator.fitness([a, b, c, d], 1.0).tolist() == [0.5, 0.5, 1, 0]
    whole, mean, diversity = evaluator.errors([a, b, c, d])
    assert (whole, mean, diversity) == (0.5, 1.0, 0.5)


def test_a_row_counts_by_its_weight_and_where_it_was_not_drawn():
    target = np.array([1.0, -1.0, 0.0], np.float32)
    evaluator = QuantityEvaluator(target, np.array([1.0, 3.0, 0.0]), oob_only=True)
    (a,) = scored(evaluator, member(0, [0.0, 1.0, 9.0]))
    assert a.accuracy == 1 - (1 + 3 * 4) / 4
    (b,) = scored(evaluator, member(1, [0.0, 1.0, 9.0], rows=[1, 2]))
    assert b.accuracy == 0


@pytest.mark.parametrize("seed", range(5))
def test_ambiguity_decomposition(seed):
    """Krogh and Vedelsby: the ensemble's error is the mean error minus the mean diversity."""
    rng = np.random.default_rng(seed)
    evaluator = QuantityEvaluator(rng.normal(size=20).astype(np.float32), rng.random(20), oob_only=False)
    members = scored(evaluator, *(member(k, rng.normal(size=20)) for k in range(7)))
    whole, mean, diversity = evaluator.errors(members)
    assert whole == pytest.approx(mean - diversity, abs=1e-12)


def test_a_member_far_from_all_is_not_fit():
    rng = np.random.default_rng(0)
    target = rng.normal(size=20).astype(np.float32)
    evaluator = QuantityEvaluator(target, np.ones(20), oob_only=False)
    outputs = [target + rng.normal(scale=0.3, size=20) for _ in range(9)]
    fitness = evaluator.fitness(scored(evaluator, *map(member, range(10), [*outputs, target + 1e6])), 1.0)
    assert fitness.argmin() == 9


def test_better_than_a_single_network(friedman):
    X, y = friedman
    model = GEFSRegressor(n_candidates=60, random_state=0).fit(X[::2], y[::2])
    single = [NetworkRegressor(random_state=k).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) for k in range(5)]
    assert model.score(X[1::2], y[1::2]) > np.mean(single)
    errors = [record["ensemble_error"] for record in model.generations_]
    assert min(errors) < errors[0]
    assert model.generations_[-1]["ensemble_error"] == pytest.approx(
        1 - model.score(X[::2], y[::2]), rel=1e-3
    )
    assert len(model.genomes_) == len(model.estimators_) == len(model.fitness_) == 20


@pytest.mark.parametrize("evaluate", ["training", "oob", "validation"])
@pytest.mark.parametrize("estimator", ["mlp", CartRegressor(max_depth=5), DecisionTreeRegressor(max_depth=5)])
def test_any_estimator_and_any_rows(friedman, estimator, evaluate):
    X, y = friedman
    X = pd.DataFrame(X).rename(columns=str).assign(colour=np.where(y > y.mean(), "red", "blue"))
    model = GEFSRegressor(estimator, evaluate=evaluate, **SMALL).fit(X, y)
    assert model.score(X, y) > 0.6
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


@pytest.mark.parametrize("estimator", ["mlp", CartRegressor(max_depth=5), LinearRegression()])
@pytest.mark.parametrize(("centre", "unit"), [(1e9, 1.0), (0.0, 1e-9), (3.0, 1e12)])
def test_the_unit_of_y_does_not_matter(friedman, estimator, centre, unit):
    X, y = friedman
    y = np.rint(64 * y) / 64  # so that a tree finds the same ties in any unit
    plain = GEFSRegressor(estimator, **SMALL).fit(X, y)
    other = GEFSRegressor(estimator, **SMALL).fit(X, centre + unit * y)
    assert [genome.tolist() for genome in plain.genomes_] == [genome.tolist() for genome in other.genomes_]
    np.testing.assert_allclose(other.fitness_, plain.fitness_, atol=1e-3)
    np.testing.assert_allclose((other.predict(X) - centre) / unit, plain.predict(X), rtol=1e-3)


@pytest.mark.parametrize("estimator", ["mlp", DecisionTreeRegressor(max_depth=5)])
def test_same_for_any_number_of_threads(friedman, estimator):
    X, y = friedman
    one, many = (GEFSRegressor(estimator, n_jobs=n, **SMALL).fit(X, y).predict(X) for n in (1, 3))
    assert np.array_equal(one, many)


@pytest.mark.parametrize("estimator", ["mlp", DecisionTreeRegressor(max_depth=5)])
def test_going_on_from_a_file_and_by_fit_more(friedman, estimator, tmp_path):
    X, y = friedman
    file = tmp_path / "search.npz"
    whole = GEFSRegressor(estimator, **SMALL).fit(X, y)
    part = {**SMALL, "n_candidates": 10}
    more = GEFSRegressor(estimator, **part).fit(X, y).fit_more(X, y, 8)
    GEFSRegressor(estimator, checkpoint=file, **part).fit(X, y)
    later = GEFSRegressor(estimator, checkpoint=file, **SMALL).fit(X, y)
    assert np.array_equal(more.predict(X), whole.predict(X))
    assert np.array_equal(later.predict(X), whole.predict(X))
    with pytest.raises(ValueError, match="other data"):
        GEFSRegressor(estimator, checkpoint=file, **SMALL).fit(X, y + 1)
    with pytest.raises(ValueError, match="fit_more got other data"):
        more.fit_more(X, 2 * y, 8)


@pytest.mark.parametrize("evaluate", ["training", "oob"])
def test_rows_without_weight_are_not_there(friedman, evaluate):
    X, y = friedman
    weights = (np.arange(200) < 120).astype(float)
    far = np.where(weights > 0, y, 1e100)
    whole = GEFSRegressor(evaluate=evaluate, **SMALL).fit(X, far, weights)
    part = GEFSRegressor(evaluate=evaluate, **SMALL).fit(X[:120], y[:120])
    assert np.array_equal(whole.predict(X), part.predict(X))


def test_validation_rows_have_large_and_small_y(friedman):
    X, y = friedman
    y = np.where(np.arange(200) % 10 == 0, 1000.0, y)
    model = GEFSRegressor(evaluate="validation", validation_fraction=0.5, **SMALL).fit(X, y)
    assert model.generations_[0]["ensemble_error"] > 0.5
    GEFSRegressor(evaluate="validation", **SMALL).fit(X[:7], y[:7])
    with pytest.raises(ValueError, match="validation_fraction"):
        GEFSRegressor(evaluate="validation", validation_fraction=0.1, **SMALL).fit(X[:7], y[:7])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"estimator": GaussianNB()}, "GEFSRegressor needs a regressor, but GaussianNB is not one"),
        ({"estimator": Ridge}, "GEFSRegressor needs a regressor, but Ridge is a class"),
        ({"n_candidates": 5}, "n_candidates=5 is less than population=6"),
        ({"learning_rate": 0}, "learning_rate"),
    ],
)
def test_parameters_that_are_refused(friedman, parameters, message):
    with pytest.raises(ValueError, match=message):
        GEFSRegressor(**{**SMALL, **parameters}).fit(*friedman)
    with pytest.raises(TypeError, match="emphasis"):
        GEFSRegressor(emphasis="adaboost")


def test_targets_that_are_refused(friedman):
    X, _ = friedman
    with pytest.raises(ValueError, match=r"y has one value, 3\.0: GEFSRegressor needs at least two"):
        GEFSRegressor(**SMALL).fit(X, np.full(200, 3.0))
    with pytest.raises(ValueError, match="y holds text, but GEFSRegressor predicts numbers"):
        GEFSRegressor(**SMALL).fit(X, ["a", "b"] * 100)
    with pytest.raises(ValueError, match="Input y contains NaN"):
        GEFSRegressor(**SMALL).fit(X, np.full(200, np.nan))


class Far(LinearRegression):
    """A regressor that predicts the same enormous number for every row."""

    def __init__(self, answer=np.inf):
        super().__init__()
        self.answer = answer

    def predict(self, X):
        return np.full(len(X), self.answer)


@pytest.mark.parametrize("answer", [np.inf, -np.inf, np.nan, 1e308, 1e200])
def test_regressors_whose_predictions_are_not_finite(friedman, answer):
    with pytest.raises(ValueError, match="All 18 models are useless: the predictions of Far are too large"):
        GEFSRegressor(Far(answer), **SMALL).fit(*friedman)


@pytest.mark.parametrize("estimator", [CartRegressor(), DecisionTreeRegressor()])
def test_pure_leaves_predict_their_y_exactly(friedman, estimator):
    X, y = friedman
    y = np.where(y < 12, 0.0, np.pi)
    model = GEFSRegressor(estimator, evaluate="training", **SMALL).fit(X, y)
    assert (model.predict(X)[y == 0] == 0).all()
    assert model.generations_[-1]["ensemble_error"] < 1e-20


def test_a_y_far_from_all_others_is_compared_as_it_is(friedman):
    X, y = friedman
    weights = np.r_[1e-15, np.ones(199)]
    y[0] = 1e9
    model = GEFSRegressor(DecisionTreeRegressor(), evaluate="training", **SMALL).fit(X, y, weights)
    assert model.generations_[-1]["ensemble_error"] < 1e-20
    assert model.predict(X[:1]) == pytest.approx(1e9)


def test_weights_of_regressors_that_take_none(friedman):
    X, y = friedman
    weights = np.random.default_rng(0).random(200)
    model = GEFSRegressor(KNeighborsRegressor(), evaluate="oob", **SMALL).fit(X, y, weights)
    assert model.score(X, y) > 0.5
    with pytest.raises(ValueError, match="takes no sample_weight"):
        GEFSRegressor(KNeighborsRegressor(), evaluate="training", **SMALL).fit(X, y, weights)
    assert (
        GEFSRegressor(LinearRegression(), evaluate="training", **SMALL).fit(X, y, weights).score(X, y) > 0.5
    )
