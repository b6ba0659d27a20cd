"""Random arguments of the functions of `foresift.importance`, `criteria` and `stats`, by their names."""

import functools
import inspect

import numpy as np
from fuzz_tables import chance, pick
from sklearn.ensemble import BaggingClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import foresift
from foresift import criteria, importance, stats
from foresift.selectors.search.path import SearchPath, Step


@functools.cache
def functions():
    """All public functions that take arrays or models, by their names."""
    found = {"commonality": foresift.commonality}
    for module in (importance, criteria, stats):
        for name in module.__all__:
            if inspect.isfunction(getattr(module, name)):
                found[name] = getattr(module, name)
    return found


def draw_arguments(rng, function, draw_data):
    """Draw arguments for a function; those with a default are often left out."""
    sketch, X, y, weights = draw_data()
    length = int(pick(rng, [0, 1, 2, 5, 12]))
    arguments = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.default is not parameter.empty and chance(rng, 0.6):
            continue
        if name == "x":
            arguments[name] = pick(rng, sketch.columns) if sketch.columns and chance(rng, 0.8) else X
        elif name == "y":
            arguments[name] = y
        elif name == "sample_weight":
            arguments[name] = weights
        else:
            arguments[name] = DRAWN.get(name, _numbers)(rng, length)
    return arguments


def _numbers(rng, n):
    """Draw numbers from 0 to 1, or anything else that could be handed over in their place."""
    return pick(
        rng,
        [
            rng.random(n),
            rng.random(n),
            rng.random(n).tolist(),
            rng.normal(size=n),
            np.zeros(n),
            np.ones(n),
            10.0 ** rng.uniform(-300, 308, n),
            np.full(n, np.nan),
            np.full(n, np.inf),
            rng.integers(0, 2, n),
            rng.random((n, 2)),
            rng.random(n + 1),
            ["a"] * n,
            [None] * n,
            rng.random(n) * 1j,
            pick(rng, [0.5, "a", None, {}, np.nan, object(), 1, [[1], [1, 2]], np.array(0.3)]),
        ],
    )


def _counts(rng, n):
    k = int(rng.integers(1, 5))
    arrays = [
        rng.integers(0, 20, k),
        rng.integers(0, 20, k),
        rng.integers(0, 9, (n, k)),
        rng.integers(0, 1000, 2),
    ]
    odd = [
        np.zeros(k),
        -np.ones(k),
        np.full(k, 0.5),
        np.full(k, np.nan),
        [np.inf, 1],
        [1e300, 1],
        [2**63 - 1, 1],
    ]
    odd += [
        np.zeros((2, 0)),
        np.ones((2, 2, 2)),
        ["a", "b"],
        [3, None],
        [10**30, 1],
        [5],
        3,
        [1e-300, 1e-300],
        [True, False],
    ]
    return pick(rng, odd) if chance(rng, 0.4) else pick(rng, arrays)


def _table(rng, n):
    shape = (int(rng.integers(0, 7)), int(rng.integers(0, 6)))
    tables = [rng.random(shape), rng.random(shape).round(1), np.zeros(shape), np.full(shape, np.nan)]
    return pick(rng, [*tables, rng.normal(size=shape) * 1e300, _numbers(rng, n)])


def _selections(rng, n):
    shape = (int(rng.integers(0, 6)), int(rng.integers(0, 9)))
    return pick(
        rng,
        [
            rng.random(shape) < 0.5,
            np.zeros(shape, bool),
            np.ones(shape),
            rng.integers(0, 3, shape),
            _table(rng, n),
        ],
    )


def _number(*usual):
    odd = (0, 1, -1, 0.5, np.nan, np.inf, "a", None, [0.1, 0.2], 1e-300, 1e300, 10**30, True)
    return lambda rng, n: pick(rng, usual if chance(rng, 0.7) else odd)


def _word(*usual):
    return lambda rng, n: pick(rng, (*usual, "nonsense", None, 3) if chance(rng, 0.2) else usual)


def _model(rng, n):
    X = rng.normal(size=(30, 3)).round(1)
    y = rng.integers(0, int(rng.integers(2, 4)), 30)
    makers = [
        lambda: foresift.CartClassifier(record_tried=True),
        lambda: foresift.C45Classifier(),
        lambda: foresift.SSVTreeClassifier(),
        lambda: foresift.SiftForestClassifier(3, record_tried=chance(rng, 0.5)),
        lambda: foresift.SubsetBaggingClassifier(n_estimators=2),
        lambda: foresift.ResampleBoostClassifier(n_estimators=2),
        lambda: DecisionTreeClassifier(max_depth=int(rng.integers(1, 4))),
        lambda: RandomForestClassifier(2),
        lambda: GradientBoostingClassifier(n_estimators=2),
        lambda: BaggingClassifier(n_estimators=2, max_features=2),
        lambda: LogisticRegression(),
        lambda: foresift.NetworkClassifier(epochs=1),
        lambda: foresift.InfoGainSelector(),
    ]
    model = pick(rng, makers)()
    if chance(rng, 0.1):
        return pick(rng, [model, type(model), None, 3, "forest", [], X])
    return model.set_params(**{k: 0 for k in model.get_params() if k == "random_state"}).fit(X, y)


def _path(rng, n):
    steps = [
        Step(
            tuple(sorted(rng.choice(5, int(rng.integers(0, 5)), replace=False).tolist())),
            float(rng.random()),
            0.1,
        )
        for _ in range(n)
    ]
    return pick(rng, [SearchPath(5, steps), SearchPath(5, steps), SearchPath(4, []), None, [1, 2]])


DRAWN = {
    "class_counts": _counts,
    "left_counts": _counts,
    "right_counts": _counts,
    "scores": _table,
    "selections": _selections,
    "model": _model,
    "one": _path,
    "other": _path,
    "bound": _word("mid", "exact", "upper", "lower"),
    "nominal_splits": _word("subsets", "multiway"),
    "weighting": _word("complexity", "unit"),
    "error": _word("fdr", "fwer", "none"),
    "nominal": _number(None, True, False),
    "normalize": _number(True, False),
    "n_permutations": lambda rng, n: pick(rng, [1, 2, 5, 10, 0, -1, 1.5, "a", None, np.nan]),
    "random_state": _number(0, 1, None),
    "test_share": _number(0.1, 0.5),
    "confidence": _number(0.95, 0.5),
    "alpha": _number(0.05, 0.1),
    "tol": _number(0.0, 0.1),
    "least": _number(0.0, -np.inf),
    "most": _number(1.0, np.inf),
    "k": _number(2, 3, 10, 100),
    "n": _number(2, 3, 10),
}
