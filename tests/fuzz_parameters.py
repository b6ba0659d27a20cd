"""Random parameters of estimators, drawn from what their `_parameter_constraints` allow, and nonsense."""

import inspect
import numbers

import numpy as np
import pandas as pd
from fuzz_tables import chance, pick
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import foresift
from foresift.data.sklearn_compat import Interval, Options, RealNotInt

# How much work is done: always drawn, so that a case takes milliseconds.
BUDGETS = {
    "n_estimators": (1, 6),
    "population": (2, 5),
    "n_candidates": (2, 9),
    "n_offspring": (1, 4),
    "epochs": (1, 5),
    "n_hidden": (1, 4),
    "n_shadows": (4, 8),
    "n_half_samples": (0, 2),
    "n_permutations": (1, 4),
    "n_iterations": (1, 8),
    "n_stale": (1, 8),
    "init": (1, 3),
    "cv": (2, 4),
    "max_subsets": (1, 40),
    "order": (1, 2),
}
# Of these any number is as cheap as another.
ANY_NUMBER = (
    *(
        "max_depth",
        "min_samples_split",
        "min_samples_leaf",
        "max_bins",
        "max_features",
        "n_thresholds",
        "top",
    ),
    *("n_features_to_select", "n_samples", "n_neighbors", "patience", "step", "update_every"),
    *("subset_size", "plus", "minus", "min_gain", "soft_constant", "weight_unit", "random_state"),
    *("learning_rate", "initial_length", "diversity_weight", "tol", "max_error_increase"),
)
JUNK = (
    *(
        -1,
        0,
        1.5,
        np.nan,
        np.inf,
        -np.inf,
        "nonsense",
        "",
        None,
        object(),
        [],
        (),
        {},
        b"x",
        True,
        pd.NA,
        len,
    ),
    *(np.array([1, 2]), 1j, np.float64("nan"), int, [None], ["nonsense"], {"a": 1}, np.array("sqrt"), set()),
)
HUGE = (10**30, 2**63, 2**64, 2**31, 1e300, 5e-324, np.int8(5), np.float32(0.5))


def draw_parameters(rng, kind, sketch):
    """Draw the parameters of an estimator class for a table; one in ten has nonsense among them."""
    known = getattr(kind, "_parameter_constraints", {})
    constraints = {name: known.get(name, [None]) for name in inspect.signature(kind).parameters}
    drawn = {}
    for name, allowed in constraints.items():
        if name in BUDGETS:
            low, high = BUDGETS[name]
            drawn[name] = int(rng.integers(low, high + 1))
        if name == "selectors" or chance(rng, 0.3):
            drawn[name] = _value(rng, name, pick(rng, allowed), sketch)
    if "random_state" in constraints and not chance(rng, 0.05):
        drawn["random_state"] = int(rng.integers(5))
    if chance(rng, 0.1):
        name = pick(rng, list(constraints))
        drawn[name] = pick(rng, junk_for(name))
    return drawn


def junk_for(name):
    """Return what is mostly no value of a parameter, or an extreme one."""
    if name in ("scoring", "oob_score"):  # a function is one, and may fail as it likes
        return [value for value in JUNK if not callable(value)]
    if name == "checkpoint":  # a text is one
        return [value for value in JUNK if not isinstance(value, str)]
    return [*JUNK, *HUGE] if name in ANY_NUMBER else JUNK


def _value(rng, name, allowed, sketch):
    if name in SPECIAL:
        return SPECIAL[name](rng, allowed, sketch)
    if isinstance(allowed, Interval):
        return _number(rng, name, allowed)
    if isinstance(allowed, Options):  # StrOptions is one
        return pick(rng, sorted(allowed.options, key=str))
    if allowed == "boolean":
        return pick(rng, [True, False, np.True_])
    return None


def _number(rng, name, interval):
    if name in BUDGETS:
        low, high = BUDGETS[name]
        return int(rng.integers(low, high + 1))
    low = 0 if interval.left is None else interval.left
    if interval.type is numbers.Integral:
        high = low + 6 if interval.right is None else min(interval.right, low + 6)
        value = int(rng.integers(low, high + 1))
        return pick(rng, HUGE[:4]) if name in ANY_NUMBER and chance(rng, 0.1) else value
    high = low + 2 if interval.right is None else interval.right
    ends = [low] if interval.closed in ("left", "both") else [np.nextafter(low, high)]
    ends += [high] if interval.closed in ("right", "both") else [np.nextafter(high, low)]
    value = float(pick(rng, ends)) if chance(rng, 0.2) else float(rng.uniform(low, high))
    return np.float32(value) if interval.type is RealNotInt and chance(rng, 0.1) else value


def draw_classifier(rng):
    """Draw a small classifier, ours or scikit-learn's, or something that is none."""
    state = pick(rng, [None, 0])
    makers = [
        lambda: None,
        lambda: foresift.CartClassifier(max_depth=3, random_state=state),
        lambda: foresift.C45Classifier(random_state=state),
        lambda: foresift.SiftForestClassifier(2, random_state=state),
        lambda: foresift.NetworkClassifier(epochs=2, random_state=state),
        lambda: foresift.SSVTreeClassifier(pruning=None),
        lambda: foresift.ResampleBoostClassifier(foresift.CartClassifier(max_depth=1), n_estimators=2),
        lambda: GaussianNB(),
        lambda: DecisionTreeClassifier(max_depth=2, random_state=state),
        lambda: KNeighborsClassifier(1),
    ]
    bad = [lambda: LinearRegression(), lambda: foresift.CartClassifier, lambda: foresift.RandomSelector()]
    return pick(rng, bad if chance(rng, 0.05) else makers)()


def draw_selector(rng):
    """Draw a cheap selector."""
    return pick(
        rng,
        [
            foresift.InfoGainSelector(),
            foresift.RandomSelector(random_state=0),
            foresift.PearsonSelector(nominal="one-hot"),
            foresift.SSVSelector(),
            foresift.ReliefFSelector(n_neighbors=2, random_state=0),
            foresift.ForestGainSelector(n_estimators=2, random_state=0),
        ],
    )


def _selectors(rng, allowed, sketch):
    drawn = [draw_selector(rng) for _ in range(int(rng.integers(0, 4)))]
    if chance(rng, 0.2):
        drawn = [(f"s{j}", selector) for j, selector in enumerate(drawn)]
    return tuple(drawn) if chance(rng, 0.2) else drawn


def _columns(rng, allowed, sketch):
    width = sketch.width
    return pick(
        rng,
        [
            "from_dtype",
            None,
            [],
            [0],
            [-1],
            [width],
            ["c0"],
            ["nonsense"],
            list(range(width)),
            [True] * width,
            rng.random(width) < 0.5,
            [0, 0],
            [0.5],
            [[0]],
            np.array([0], dtype=np.uint8),
        ],
    )


def _shares(rng, allowed, sketch):
    if isinstance(allowed, Options):
        return pick(rng, sorted(allowed.options))
    width = sketch.width
    arrays = [np.ones(width), rng.random(width), np.zeros(width), -np.ones(width), np.ones(width + 1)]
    arrays += [np.full(width, np.nan), np.full(width, 1e308), np.eye(1, max(width, 1))[0], ["a"] * width]
    return pick(rng, arrays) if chance(rng, 0.5) else draw_selector(rng)


def _class_weight(rng, allowed, sketch):
    weights = [None, "balanced", {0: 2.0, 1: 0.5}, {"class 0": 3}, {}, {0: -1.0}, {0: np.nan}, {0: 1e300}]
    return pick(rng, [*weights, {"nonsense": 1}, {0: "a"}, {0: 0.0, 1: 0.0}])


def _size(rng, allowed, sketch):
    if isinstance(allowed, Interval):
        return _number(rng, "n_features_to_select", allowed)
    if allowed is None or (isinstance(allowed, Options) and not chance(rng, 0.05)):
        return None
    if isinstance(allowed, Options):
        return "cv"
    sizes = pick(rng, [None, [1], [1, 2], [0], [1.5], [], [10**9], "a"])
    rule = pick(rng, ["one-se", "best", "nonsense"])
    tree = pick(
        rng, [foresift.CartClassifier(max_depth=2), GaussianNB(), DecisionTreeClassifier(max_depth=1)]
    )
    return foresift.SubsetSizeCV(tree, cv=pick(rng, [2, 3, 1, KFold(2)]), sizes=sizes, rule=rule)


def _plain_scorer(model, X, y):
    return 0.5


def _random_state(rng, allowed, sketch):
    return pick(rng, [None, 0, 2**32 - 1, np.random.RandomState(0), np.int64(3)])


def _groups(rng, allowed, sketch):
    if isinstance(allowed, Options):
        return "one-hot"
    if allowed is None:
        return None
    few = [int(j) for j in rng.integers(0, 4, 2)]
    labels = rng.integers(0, 3, int(rng.integers(1, 8)))
    return pick(rng, [[few], {"group": few}, ["*"], ["nothing*"], [[0, 1], [2]], labels, [[]], {}])


SPECIAL = {
    "estimator": lambda rng, allowed, sketch: (
        pick(rng, sorted(allowed.options)) if isinstance(allowed, Options) else draw_classifier(rng)
    ),
    "selectors": _selectors,
    "categorical_features": _columns,
    "keep": _columns,
    "feature_groups": _groups,
    "feature_sampling": _shares,
    "distribution": _shares,
    "class_weight": _class_weight,
    "n_features_to_select": _size,
    "random_state": _random_state,
    "n_jobs": lambda rng, allowed, sketch: pick(rng, [None, 1, 2, -1, 0]),
    "verbose": lambda rng, allowed, sketch: pick(rng, [0, 1, True]),
    "max_seconds": lambda rng, allowed, sketch: pick(rng, [None, 1e9]),
    "checkpoint": lambda rng, allowed, sketch: pick(rng, [None, None, f"genes{rng.integers(10**6)}.json"]),
    "scoring": lambda rng, allowed, sketch: pick(
        rng,
        [
            "accuracy",
            "balanced_accuracy",
            "neg_log_loss",
            "nonsense",
            "r2",
            make_scorer(accuracy_score),
            _plain_scorer,
        ],
    ),
    "oob_score": lambda rng, allowed, sketch: pick(rng, [True, False, accuracy_score]),
    "cv": lambda rng, allowed, sketch: pick(
        rng,
        [
            2,
            3,
            KFold(2),
            StratifiedKFold(2),
            [([0, 1], [2, 3]), ([2, 3], [0, 1])],
            [],
            [([0], [10**6])],
            iter([]),
        ],
    ),
}
