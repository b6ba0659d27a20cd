"""Splits of columns with many categories are held against what chance gives such a column."""

import numpy as np
import pandas as pd
import pytest
import reference
from growing import grow, make_grower
from hypothesis import given, settings
from hypothesis import strategies as st

from foresift import C45Classifier, CartClassifier, SiftForestClassifier, SSVTreeClassifier
from foresift.data.sklearn_compat import Progress
from foresift.data.table import make_table
from foresift.models.scorer import make_store_grower
from foresift.selectors.relevance import shadows

NOMINAL = [1, 2]
STREAM = 2 << 32  # added to the number of a node
ON = {"correct_nominal": True, "nominal": NOMINAL}
PARTS = ("nodes", "counts", "set_offsets", "set_codes", "set_branches")


def make_many(seed, *, n=60, n_categories=25, missing=0.0, n_classes=2):
    """Return a numeric column, one of `n_categories` that matter a little, and one of 40; and classes."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n), rng.integers(0, n_categories, n), rng.integers(0, 40, n)])
    X[:2, 1], X[:2, 2] = [0, n_categories - 1], [0, 39]
    signal = X[:, 0] + (X[:, 1] % 5) - 2 + rng.normal(size=n)
    y = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    X[2:][rng.random((n - 2, 3)) < missing] = np.nan
    return X, y, rng


def shuffled(y, weights, seed, node, tree=0):
    """Classes and weights in the order in which the engine shuffles them at a node."""
    bits, order = reference.Bits(seed, tree, node + STREAM), np.arange(len(y))
    for left in range(len(y), 1, -1):
        other = bits.below(left)
        order[[left - 1, other]] = order[[other, left - 1]]
    return y[order], weights[order]


def best_gain(x, y, weights, *, nominal, options):
    """What a column gains alone at the root of a tree; None if it cannot split."""
    (node, *_), (trial,) = (
        getattr(
            grow(
                x[:, np.newaxis],
                y,
                weights,
                [0] if nominal else [],
                max_depth=1,
                record_tried=True,
                n_classes=3,
                **options,
            ),
            name,
        )
        for name in ("nodes", "tried")
    )
    return float(trial["gain"]) if node["feature"] >= 0 else None


def check_against_literal(table, X, y, weights, seed, options):
    """At every node: search, shuffle, search again, subtract (not SSV), take what has the most left."""
    at_node = reference.weights_at_nodes(table, X, weights)
    n_beaten = 0
    for number, node in enumerate(table.nodes):
        rows = np.flatnonzero(at_node[number] > 0)
        if options.get("criterion") == "variance":  # rows of equal y are neighbours
            rows = rows[np.argsort(y[rows], kind="stable")]
        if len(np.unique(y[rows])) < 2:
            continue
        here, size = y[rows], at_node[number][rows]
        best, most = -1, -np.inf
        for column in range(X.shape[1]):
            nominal = column in NOMINAL
            gain = best_gain(X[rows, column], here, size, nominal=nominal, options=options)
            tried = table.tried[(table.tried["node"] == number) & (table.tried["feature"] == column)]
            assert tried["gain"] == pytest.approx(gain or 0.0)  # recorded as it is
            if gain is None:
                continue
            left, known = gain, X[weights > 0, column]
            if nominal and len(np.unique(known[~np.isnan(known)])) > 16:
                by_chance = best_gain(
                    X[rows, column], *shuffled(here, size, seed, number), nominal=True, options=options
                )
                by_chance = by_chance or 0.0
                n_beaten += gain <= by_chance + 1e-12
                if gain <= by_chance + 1e-12:
                    continue
                left -= 0.0 if options.get("criterion") == "ssv" else by_chance
            if left > most + 1e-12:
                best, most = column, left
        assert node["feature"] == best
        if best >= 0:
            kept = table.tried[(table.tried["node"] == number) & (table.tried["feature"] == best)]
            assert node["gain"] == kept["gain"][0]
    return n_beaten


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["entropy", "gini", "ssv", "variance"]),
    st.booleans(),
    st.sampled_from([(0.0, "learn"), (0.1, "learn"), (0.1, "fractional")]),
    st.booleans(),
    st.sampled_from([2, 3]),
)
@settings(deadline=None, max_examples=30)
def test_trees_are_those_of_the_literal_rule(seed, criterion, multiway, missing, weighted, n_classes):
    X, y, rng = make_many(seed, missing=missing[0], n_classes=n_classes)
    weights = rng.random(len(y)) + 0.5 if weighted else np.ones(len(y))
    options = {"criterion": criterion, "multiway": multiway, "missing": missing[1], "min_split": 0}
    options |= {"min_gain": -1e9}  # SSV may be negative
    options |= {"min_leaf": 0.0917}  # a share of a row such as 0.1 would be above or below it by rounding
    table = grow(X, y, weights, seed=seed, record_tried=True, n_classes=3, **ON, **options)
    check_against_literal(table, X, y, weights, seed, options)


def test_the_literal_rule_has_something_to_refuse():
    X, y, _ = make_many(0)
    table = grow(X, y, seed=0, record_tried=True, n_classes=3, **ON)
    assert check_against_literal(table, X, y, np.ones(len(y)), 0, {}) > 0


@given(st.integers(0, 2**32 - 1), st.sampled_from(["entropy", "gini", "gain_ratio", "ssv"]), st.booleans())
@settings(deadline=None, max_examples=30)
def test_columns_of_up_to_16_categories_are_as_before(seed, criterion, drawn):
    X, y, _ = make_many(seed, n_categories=16, missing=0.1)
    options = {"criterion": criterion, "seed": seed, "max_features": 1, "nominal": [1]}
    options |= {"draw": "bootstrap", "n_draw": len(y)} if drawn else {}
    on, off = (grow(X[:, :2], y, correct_nominal=switch, **options) for switch in (True, False))
    for part in PARTS:
        assert np.array_equal(getattr(on, part), getattr(off, part))
    X[:17, 1] = np.arange(17)  # all of them, and one more
    at_17 = [
        [grow(X[:, :2], y, tree=t, correct_nominal=switch, **options) for t in range(30)]
        for switch in (True, False)
    ]
    assert any(not np.array_equal(a.nodes, b.nodes) for a, b in zip(*at_17, strict=True))


@given(st.integers(0, 2**32 - 1), st.sampled_from(["entropy", "gain_ratio", "ssv"]))
@settings(deadline=None, max_examples=30)
def test_recording_and_shuffled_trials_do_not_change_trees(seed, criterion):
    X, y, _ = make_many(seed)
    options = {"criterion": criterion, "seed": seed, "max_features": 2, **ON}
    plain = grow(X, y, **options)
    for more in ({"record_tried": True}, {"record_tried": True, "n_permutations": 2}):
        table = grow(X, y, **options, **more)
        for part in PARTS:
            assert np.array_equal(getattr(table, part), getattr(plain, part))


@pytest.mark.parametrize("seed", range(5))
def test_a_tree_of_some_columns_is_that_of_a_table_of_them(seed):
    X, y, rng = make_many(seed)
    wide = np.column_stack([rng.normal(size=len(y)), X])
    some = np.array([1, 3], dtype=np.uint32)
    grower = make_grower(wide, y, nominal=[2, 3], seed=seed, correct_nominal=True)
    (among,) = grower.grow([4], None, None, some, 2)
    (alone,) = make_grower(wide[:, [1, 3]], y, nominal=[1], seed=seed, correct_nominal=True).grow([4])
    assert np.array_equal(among[1], alone[1])  # counts of all nodes


def test_a_column_with_nothing_left_is_drawn_like_a_constant_one():
    # Every category once: shuffled classes gain as much, at every node.
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(100.0), rng.permutation(100), rng.permutation(100)])
    y = rng.integers(0, 2, 100)
    for tree in range(10):
        table = grow(X, y, tree=tree, max_features=1, **ON)
        assert set(table.nodes["feature"]) == {-1, 0}
        assert np.count_nonzero(table.counts[table.nodes["feature"] < 0], axis=1).max() == 1
    leaf = grow(X[:, 1:], y, nominal=[0, 1], correct_nominal=True)
    assert len(leaf.nodes) == 1


def test_min_gain_is_that_of_what_is_left():
    X, y, _ = make_many(3, n=200)
    table = grow(X[:, 1:], y, nominal=[0, 1], correct_nominal=True, max_depth=1)
    gain = table.nodes["gain"][0]
    by_chance = best_gain(
        X[:, 1:][:, table.nodes["feature"][0]],
        *shuffled(y, np.ones(200), 0, 0),
        nominal=True,
        options={},
    )
    for least, splits in ((gain - by_chance - 1e-9, True), (gain - by_chance + 1e-9, False)):
        grown = grow(X[:, 1:], y, nominal=[0, 1], correct_nominal=True, max_depth=1, min_gain=least)
        assert (len(grown.nodes) > 1) == splits


# --- estimators ---


def nearly_unique(n=400, seed=0):
    """One number that matters, and three columns of nearly unique values."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = (x + 0.5 * rng.normal(size=n) > 0).astype(int)
    columns = {f"c{j}": pd.Categorical(rng.integers(350, size=n).astype(str)) for j in range(3)}
    return pd.DataFrame({"x": x, **columns}), y


@pytest.mark.parametrize("max_features", ["sqrt", None])
@pytest.mark.parametrize("nominal_splits", ["subsets", "multiway"])
def test_nearly_unique_columns_do_not_ruin_a_forest(max_features, nominal_splits):
    (X, y), (new, truth) = nearly_unique(), nearly_unique(seed=1)
    options = {"max_features": max_features, "nominal_splits": nominal_splits, "random_state": 0}
    on = SiftForestClassifier(50, **options).fit(X, y)
    off = SiftForestClassifier(50, correct_nominal=False, **options).fit(X, y)
    assert on.score(new, truth) > 0.78
    assert off.score(new, truth) < on.score(new, truth) - 0.1


def test_a_forest_is_the_same_for_any_number_of_threads():
    X, y = nearly_unique()
    one, two = (SiftForestClassifier(20, random_state=0, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    for a, b in zip(one.node_tables_, two.node_tables_, strict=True):
        assert np.array_equal(a.nodes, b.nodes)
        assert np.array_equal(a.counts, b.counts)


def test_a_weight_of_two_is_two_rows_to_the_search():
    X, y = nearly_unique(100)
    weights = np.random.default_rng(0).integers(0, 3, 100)
    whole, real = (
        CartClassifier(random_state=0).fit(X, y, weights * factor).node_table_ for factor in (1, 1.0 + 1e-15)
    )
    assert np.array_equal(whole.nodes["feature"], real.nodes["feature"])


def grown_with(monkeypatch, module, work):
    """The options with which a module makes its engine."""
    seen = []
    made = module.make_grower
    monkeypatch.setattr(module, "make_grower", lambda *a, **o: (seen.append(o), made(*a, **o))[1])
    work()
    return [options.get("correct_nominal", False) for options in seen]


def test_who_corrects(monkeypatch):
    from foresift.models import base_tree

    X, y = nearly_unique(60)
    table = make_table(X, y)
    for model, expected in (
        (CartClassifier(), True),
        (CartClassifier(correct_nominal=False), False),
        (SiftForestClassifier(2), True),
        (SiftForestClassifier(2, correct_nominal=False), False),
        (C45Classifier(), False),
        (SSVTreeClassifier(pruning=None), False),
    ):
        assert grown_with(monkeypatch, base_tree, lambda m=model: m.fit(X, y)) == [expected]
        if hasattr(model, "correct_nominal") and not isinstance(model, SSVTreeClassifier):
            store = grown_with(monkeypatch, base_tree, lambda m=model: make_store_grower(m, table, None))
            assert store == [expected]
    order = np.arange(4, dtype=np.uint32)
    options = {"order": order, "n_shadows": 2, "shadows_per_tree": 1, "n_estimators": 2}
    options |= {"max_features": 2, "max_depth": None, "min_samples_split": 2, "min_share": 0.0}
    options |= {"nominal_splits": "subsets", "seed": 0, "n_jobs": 1}
    work = lambda: shadows.gather_shadow_sums(table, None, Progress(None, None, "", {}), **options)  # noqa: E731
    assert grown_with(monkeypatch, shadows, work) == [True]


def test_categories_of_held_out_rows_do_not_count():
    # 17 categories in all rows, 16 where rows count: as if those of weight 0 were not there.
    X, y, _ = make_many(3, n_categories=16)
    X[:17, 1], weights = np.arange(17), np.ones(len(y))
    weights[16] = 0
    options = {"seed": 3, "max_features": 1, "nominal": [1]}
    trees = [
        [grow(X[:, :2], y, weights, tree=t, correct_nominal=switch, **options) for t in range(20)]
        for switch in (True, False)
    ]
    for on, off in zip(*trees, strict=True):
        assert np.array_equal(on.nodes, off.nodes)
