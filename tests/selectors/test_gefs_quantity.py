"""GEFSSelector for a quantity: it is the search of GEFSRegressor; what it finds and refuses."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from foresift import CartClassifier, CartRegressor, GEFSRegressor, GEFSSelector

SMALL = {"population": 6, "n_candidates": 18, "n_offspring": 4, "epochs": 5, "random_state": 0}


@pytest.mark.parametrize("estimator", ["mlp", CartRegressor(max_depth=4)])
def test_it_is_the_search_of_the_regressor(estimator):
    X, y = make_friedman1(150, 8, random_state=0)
    same = {**SMALL, "initial_length": 1.0, "diversity_weight": 0.5, "evaluate": "oob"}
    selector = GEFSSelector(estimator=estimator, **same).fit(X, y)
    model = GEFSRegressor(estimator, **same).fit(X, y)
    assert selector.task_ == "regression"
    assert list(map(np.ndarray.tolist, selector.genomes_)) == list(map(np.ndarray.tolist, model.genomes_))
    assert np.array_equal(selector.fitness_, model.fitness_)


def test_it_finds_columns_that_matter_in_any_unit():
    X, y = make_friedman1(300, 12, random_state=0)
    selector = GEFSSelector(epochs=10, random_state=0).fit(X, y)
    assert set(np.flatnonzero(selector.ranking_ <= 4)) <= {0, 1, 2, 3, 4}
    assert selector.support_.tolist() == (selector.scores_ >= 1 / 12).tolist()
    scaled = GEFSSelector(task="regression", epochs=10, random_state=0).fit(X, 2.0**400 * y)
    assert np.array_equal(scaled.scores_, selector.scores_)


def test_the_learning_rate_is_that_of_the_task():
    X, y = make_friedman1(80, 6, random_state=0)

    def scores(y, **options):
        return GEFSSelector(**SMALL, **options).fit(X, y).scores_.tolist()

    assert scores(y) == scores(y, learning_rate=0.01) != scores(y, learning_rate=0.15)
    assert scores(y > 14) == scores(y > 14, learning_rate=0.15) != scores(y > 14, learning_rate=0.01)


def test_what_it_refuses():
    X, y = make_friedman1(80, 6, random_state=0)
    with pytest.raises(ValueError, match="GEFSSelector needs classes, but y is a quantity: set emphasis=Non"):
        GEFSSelector(**SMALL, emphasis="adaboost").fit(X, y)
    with pytest.raises(ValueError, match="GEFSSelector needs a regressor, but CartClassifier is not one"):
        GEFSSelector(**SMALL, estimator=CartClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="GEFSSelector needs a classifier, but CartRegressor is not one"):
        GEFSSelector(**SMALL, estimator=CartRegressor()).fit(X, y > 14)
