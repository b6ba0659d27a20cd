"""What must not matter: order of rows, names of classes and, to trees, the scale of a column."""

import numpy as np
import pytest

from foresift import (
    C45Classifier,
    CartClassifier,
    CFSSelector,
    CumulativeGainSelector,
    ForestGainSelector,
    FScoreSelector,
    InfoGainSelector,
    MultiSURFSelector,
    MutualInfoSelector,
    PearsonSelector,
    RelevanceSelector,
    ReliefFSelector,
    ReliefSelector,
    SiftForestClassifier,
    SSVSelector,
    SURFSelector,
)

# Methods without chance; Relief takes every row once where there are no more than 500.
EXACT = [
    InfoGainSelector(),
    InfoGainSelector(ratio=True),
    PearsonSelector(),
    FScoreSelector(),
    SSVSelector(),
    SSVSelector(mode="tree"),
    CFSSelector(),
    MutualInfoSelector(1.0),
    MutualInfoSelector(1.0, scheme="disr"),
    CumulativeGainSelector(),
    ReliefSelector(),
    ReliefFSelector(),
    SURFSelector(),
    MultiSURFSelector(),
]
SEEDED = [
    ForestGainSelector(n_estimators=20, random_state=0),
    RelevanceSelector(n_estimators=20, random_state=0),
]


def table(n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 5))
    X[:, 4] = np.round(X[:, 0])
    y = np.clip(np.round(X[:, 0] + 0.5 * rng.normal(size=120)), -1, n_classes - 2).astype(int) + 1
    return X, np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("selector", EXACT, ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_rows_does_not_matter(selector, seed):
    X, y = table(seed=seed)
    order = np.random.default_rng(seed).permutation(len(y))
    expected = selector.fit(X, y)
    scores, support = expected.scores_.copy(), expected.support_.copy()
    found = selector.fit(X[order], y[order])
    assert found.scores_ == pytest.approx(scores, abs=1e-9)
    assert (found.support_ == support).all()


@pytest.mark.parametrize("selector", [*EXACT, *SEEDED], ids=lambda selector: type(selector).__name__)
@pytest.mark.filterwarnings("ignore:No feature passed the rule")
def test_the_names_of_the_classes_do_not_matter(selector):
    X, y = table()
    scores = selector.fit(X, y).scores_.copy()
    renamed = np.array([{"a": 10, "b": 20, "c": 30}[label] for label in y])  # in the same order
    assert selector.fit(X, renamed).scores_.tolist() == scores.tolist()


@pytest.mark.parametrize("selector", EXACT, ids=repr)
def test_the_order_of_the_classes_does_not_matter(selector):
    X, y = table()
    scores = selector.fit(X, y).scores_.copy()
    swapped = np.array([{"a": "z", "b": "b", "c": "a"}[label] for label in y])
    assert selector.fit(X, swapped).scores_ == pytest.approx(scores, abs=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        CartClassifier(),
        CartClassifier(criterion="gini", max_depth=4),
        C45Classifier(),
        # Rows out of a bag may lie between two of its values, where the middle depends on the scale.
        SiftForestClassifier(10, bootstrap=False, random_state=0),
        SiftForestClassifier(10, criterion="ssv", bootstrap=False, random_state=0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("transform", [np.exp, lambda x: x**3, lambda x: 1e6 * x - 3.0])
def test_trees_see_only_the_order_of_values(model, transform):
    X, y = table()
    expected = model.fit(X, y).predict_proba(X)
    moved = transform(X)
    assert model.fit(moved, y).predict_proba(moved).tolist() == expected.tolist()


@pytest.mark.parametrize(
    "selector", [InfoGainSelector(), SSVSelector(), *SEEDED], ids=lambda s: type(s).__name__
)
@pytest.mark.filterwarnings("ignore:No feature passed the rule")
def test_rankings_by_splits_see_only_the_order_of_values(selector):
    X, y = table()
    scores = selector.fit(X, y).scores_.copy()
    assert selector.fit(np.exp(X), y).scores_.tolist() == scores.tolist()
