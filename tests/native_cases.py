"""Calls of the native module with odd arguments, which `test_native_hostile` makes in a subprocess.

Run as `python native_cases.py refused`, or `answered`. Every call is named before it is made, so that the
last line says which one ended the process or never came back.
"""

import sys
from collections.abc import Callable

import numpy as np

from foresift import _core
from foresift.engine.node_table import NODE_DTYPE

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(120, 3)), 1)
X[:, 2] = RNG.integers(0, 5, 120)
Y = ((X[:, 0] > 0) + (X[:, 2] == 3)).astype(np.int32)
ROWS = np.arange(6, dtype=np.uint32)
C45 = {"missing": "fractional", "multiway": True, "c45": True, "finish": True}


def ints(*values):
    return np.array(values, dtype=np.int32)


def numbers(*values):
    return np.array(values, dtype=np.uint32)


def small_store(n_rows=6, n_columns=2):
    store = _core.ColumnStore(n_rows)
    store.add_numeric(np.arange(float(n_rows * n_columns)).reshape(n_rows, n_columns))
    return store


def grower(**options):
    return _core.Grower(small_store(), ints(0, 1, 0, 1, 1, 0), 2, None, _core.GrowOptions(**options))


def grown(**options):
    """Node, counts and category sets of one tree with numeric and nominal splits, and its trials."""
    store = _core.ColumnStore(len(X))
    store.add_numeric(X[:, :2])
    store.add_nominal(X[:, 2].astype(np.int32), 5)
    options = {"max_features": 3, "record_tried": True, **options}
    grown = _core.Grower(store, Y, 3, None, _core.GrowOptions(**options)).grow([0])[0]
    nodes, *others, trials = grown[:6]
    return [nodes.view(NODE_DTYPE)[:, 0].copy(), *(array.copy() for array in others)], trials


def as_bytes(nodes):
    return nodes.view(np.uint8).reshape(len(nodes), NODE_DTYPE.itemsize)


def arrays(table):
    return (as_bytes(table[0]), *table[1:])


def add_proba(table, n_rows=6, n_columns=3, n_classes=3, rows=None, out=None):
    out = np.zeros((n_rows, n_classes)) if out is None else out
    _core.add_proba([arrays(table)], np.resize(X, (n_rows, n_columns)), rows, out)


def network(**changes):
    arguments = {
        "values": np.ones((4, 3), np.float32),
        "target": ints(0, 1, 0, 1),
        "weights": None,
        "inputs": np.arange(3, dtype=np.uint32),
        "rows": np.arange(4, dtype=np.uint32),
        "number": 0,
        "stop": None,
    }
    options = {"n_hidden": 2, "epochs": 2}
    for name, value in changes.items():
        (arguments if name in arguments else options)[name] = value
    return _core.train_network(**arguments, options=_core.NetworkOptions(**options))


def outputs(n_hidden=2, n_outputs=1, n_inputs=3, shape=(4, 3)):
    layers = [np.zeros((n_hidden, n_inputs + 1), np.float32), np.zeros((n_outputs, n_hidden + 1), np.float32)]
    return _core.network_outputs(*layers, np.arange(n_inputs, dtype=np.uint32), np.zeros(shape, np.float32))


def relief(
    rows=((0.0, 1.0), (0.5, 0.0), (1.0, 1.0)), n_values=(0, 2), y=(0, 1, 1), weights=None, k=1.0, n_classes=2
):
    rows = np.array(rows, dtype=np.float64).reshape(len(rows), len(n_values))
    weights = None if weights is None else np.array(weights, dtype=np.float64)
    return _core.Relief(rows, list(n_values), ints(*y), n_classes, weights, k, False)


def mutual_info(columns=(0, 1), y=(0, 1, 0, -1, 1, 0), n_y=2, given=None, n_given=1, weights=None):
    """A call of the counter on a small store; `given` and `weights` may have any length."""
    given = None if given is None else ints(*given)
    weights = None if weights is None else np.array(weights, dtype=np.float64)
    columns = np.array(columns, dtype=np.uint32)
    return _core.MutualInfo(small_store()).of(columns, ints(*y), n_y, given, n_given, weights, True, None)


def quantity_relief(y=(0.0, 0.5, 1.0), kernel=_core.Relief, **options):
    return kernel(np.array([[0.0, 1.0], [0.5, 0.0], [1.0, 1.0]]), [0, 2], np.array(y), None, **options)


def surf(y=(0, 1, 1), **options):
    return _core.Surf(np.array([[0.0, 1.0], [0.5, 0.0], [1.0, 1.0]]), [0, 2], ints(*y), 2, None, **options)


def best_split(x=(1.0, 2.0), y=(0, 1), n_classes=2, weights=(1.0, 1.0), criterion="gini", missing="learn"):
    x, weights = np.array(x, dtype=np.float64), np.array(weights, dtype=np.float64)
    return _core.best_split(x, ints(*y), n_classes, weights, criterion, missing)


def nominal_split(codes=(0, 1), n_categories=2, y=(0, 1), n_classes=2, weights=(1.0, 1.0)):
    weights = np.array(weights, dtype=np.float64)
    return _core.nominal_split(
        ints(*codes), n_categories, ints(*y), n_classes, weights, "gini", False, "learn"
    )


def unaligned(array):
    raw = np.zeros(array.nbytes + 1, np.uint8)
    raw[1:] = np.frombuffer(array.tobytes(), np.uint8)
    return raw[1:].view(array.dtype).reshape(array.shape)


def store_after_growing():
    store = small_store()
    keep = _core.Grower(store, ints(0, 1, 0, 1, 1, 0), 2, None)
    store.add_numeric(np.zeros((6, 50)))
    keep.grow([0])


def forgotten(change):
    """What is read must be what was checked: a kernel may not keep the caller's array."""
    rows = np.zeros((3, 1))
    made = _core.Relief(rows, [0], ints(0, 1, 1), 2, None, 1.0, False)
    rows[:] = change
    assert made.sums(np.arange(3, dtype=np.uint32)).tolist() == [0.0]


def vote(rows=ROWS, columns=(0, 1), out=None):
    out = np.zeros((len(rows), 2)) if out is None else out
    grower().vote([0], np.array(columns, np.uint32), 1, rows, out)


def shared(n_bytes, dtype, shape):
    memory = np.zeros(n_bytes, np.uint8)
    return memory.view(dtype)[: int(np.prod(shape))].reshape(shape), memory


def vote_into_its_rows():
    out, memory = shared(96, np.float64, (6, 2))
    vote(memory.view(np.uint32)[:6], out=out)


def add_proba_into_its_nodes():
    table, _ = grown()
    n_rows = table[0].nbytes // 24
    out = table[0].view(np.uint8)[: n_rows * 24].view(np.float64).reshape(n_rows, 3)
    _core.add_proba([arrays(table)], np.resize(X, (n_rows, 3)), None, out)


TABLE, TRIALS = grown()
LEAF = [np.zeros(1, NODE_DTYPE), np.ones((1, 3)), ints(0), np.zeros(0, np.uint16), np.zeros(0, np.uint16)]
LEAF[0]["first_child"] = LEAF[0]["parent"] = LEAF[0]["feature"] = -1

BIG = 2**32 - 1
REFUSED: dict[str, Callable[[], object]] = {
    # single columns
    "best_split: class too large": lambda: best_split(y=(0, 10**6)),
    "best_split: class negative": lambda: best_split(y=(0, -5)),
    "best_split: no classes": lambda: best_split((), (), 0, ()),
    "best_split: classes without end": lambda: best_split(n_classes=BIG),
    "best_split: fewer weights": lambda: best_split(weights=(1.0,)),
    "best_split: negative weight": lambda: best_split(weights=(1.0, -1.0)),
    "best_split: weight NaN": lambda: best_split(weights=(1.0, np.nan)),
    "best_split: weight infinite": lambda: best_split(weights=(1.0, np.inf)),
    "best_split: infinite value": lambda: best_split(x=(1.0, np.inf)),
    "best_split: criterion": lambda: best_split(criterion="luck"),
    "best_split: rule": lambda: best_split(missing="luck"),
    "best_split: unaligned": lambda: _core.best_split(
        unaligned(np.ones(9)), np.zeros(9, np.int32), 1, np.ones(9), "gini", "learn"
    ),
    "nominal_split: code too large": lambda: nominal_split(codes=(0, 70_000)),
    "nominal_split: code negative": lambda: nominal_split(codes=(0, -2)),
    "nominal_split: class too large": lambda: nominal_split(y=(0, 10**6)),
    "nominal_split: categories without end": lambda: nominal_split(n_categories=BIG),
    "nominal_split: wrapped codes": lambda: _core.nominal_split(
        np.array([0, 2**32]), 2, ints(0, 1), 2, np.ones(2), "gini", False, "learn"
    ),
    "null_tail: no rows": lambda: _core.null_tail(0, 5, 0.1),
    "null_tail: rows without end": lambda: _core.null_tail(BIG, BIG, 0.1),
    "null_tail: NaN": lambda: _core.null_tail(3, 5, np.nan),
    "null_moments: rows without end": lambda: _core.null_moments(2**30, 2**30),
    "null_moments: points without end": lambda: _core.null_moments(5, 5, BIG),
    "permuted_gains: class": lambda: _core.permuted_gains(small_store(2), 0, ints(0, 2), 2, False, 3, 0),
    "permuted_gains: column": lambda: _core.permuted_gains(small_store(2), 2, ints(0, 1), 2, False, 3, 0),
    "permuted_gains: times": lambda: _core.permuted_gains(small_store(2), 0, ints(0, 1), 2, False, BIG, 0),
    "permuted_gains: classes": lambda: _core.permuted_gains(small_store(2), 0, ints(0, 1), BIG, False, 3, 0),
    "ssv_ranks: columns": lambda: _core.ssv_ranks(small_store(2), 0, 3, ints(0, 1), 2, None),
    "ssv_ranks: columns turned": lambda: _core.ssv_ranks(small_store(2), 2, 1, ints(0, 1), 2, None),
    "ssv_ranks: class": lambda: _core.ssv_ranks(small_store(2), 0, 2, ints(0, 9), 2, None),
    "ssv_ranks: weights": lambda: _core.ssv_ranks(small_store(2), 0, 2, ints(0, 1), 2, np.full(2, np.nan)),
    # the store
    "ColumnStore: no rows": lambda: _core.ColumnStore(0),
    "ColumnStore: rows without end": lambda: _core.ColumnStore(BIG),
    "ColumnStore: bins": lambda: _core.ColumnStore(3, 0),
    "ColumnStore: rows negative": lambda: _core.ColumnStore(-1),
    "add_numeric: rows": lambda: small_store().add_numeric(np.zeros((5, 1))),
    "add_numeric: infinite": lambda: small_store().add_numeric(np.full((6, 1), np.inf)),
    "add_numeric: int": lambda: small_store().add_numeric(np.zeros((6, 1), int)),
    "add_numeric: unaligned": lambda: small_store().add_numeric(unaligned(np.zeros((6, 2)))),
    "add_numeric: columns without end": lambda: small_store().add_numeric(np.broadcast_to(0.0, (6, 2**40))),
    "add_numeric: while a grower reads": store_after_growing,
    "add_nominal: categories without end": lambda: small_store().add_nominal(np.zeros(6, np.int32), BIG),
    "add_nominal: 65,535 categories": lambda: small_store().add_nominal(np.zeros(6, np.int32), 65_535),
    "add_nominal: code": lambda: small_store().add_nominal(np.full(6, 2, np.int32), 2),
    "add_nominal: wrapped codes": lambda: small_store().add_nominal(np.full(6, 2**32), 2),
    "add_nominal: rows": lambda: small_store().add_nominal(np.zeros(7, np.int32), 2),
    "take: column": lambda: small_store().take([2]),
    "take_rows: row": lambda: small_store().take_rows(np.array([6], dtype=np.uint32)),
    "take_rows: none": lambda: small_store().take_rows(ROWS[:0]),
    "codes: column": lambda: small_store().codes(2),
    "values: column": lambda: small_store().values(2**63),
    "n_values: column": lambda: small_store().n_values(2),
    "is_nominal: column": lambda: small_store().is_nominal(2),
    "has_missing: column": lambda: small_store().has_missing(2),
    "is_binned: column": lambda: small_store().is_binned(2),
    # growing
    "Grower: class": lambda: _core.Grower(small_store(2), ints(0, 2), 2, None),
    "Grower: wrapped classes": lambda: _core.Grower(small_store(2), np.array([0, 2**32]), 2, None),
    "Grower: rows": lambda: _core.Grower(small_store(2), ints(0, 1, 0), 2, None),
    "Grower: classes without end": lambda: _core.Grower(small_store(2), ints(0, 1), BIG, None),
    "Grower: weights of 0": lambda: _core.Grower(small_store(2), ints(0, 1), 2, np.zeros(2)),
    "Grower: weights negative": lambda: _core.Grower(small_store(2), ints(0, 1), 2, np.array([2.0, -1])),
    "Grower: weights too large": lambda: _core.Grower(small_store(2), ints(0, 1), 2, np.full(2, 1e300)),
    **{
        f"Grower: {name}={value!r}": lambda name=name, value=value: grower(**{name: value}).grow([0])
        for name, values in {
            "n_thresholds": [BIG, 10**6, -1, 2**40],
            "n_permutations": [BIG],
            "n_shadows": [BIG],
            "min_leaf": [np.nan, -1.0],
            "min_split": [np.nan, -1.0],
            "min_gain": [np.nan],
            "min_share": [np.nan, -0.1, 0.6],
            "confidence": [np.nan, -1.0, 2.0],
            "permute_column": [[1], [1, 1, 1], [300, 1]],
            "level_columns": [[2], [-1]],
            "column_order": [[2], "x"],
            "max_features": [2**40, -1, 1.5],
            "max_depth": [2**40],
            "seed": [-1, 2**64],
            "criterion": ["luck", 3],
            "missing": ["luck"],
            "draw": ["bootstrap", "luck"],
            "multiway": ["no"],
            "c45": [True],
            "cut_penalty": [True],
            "group_categories": [True],
            "min_gap": [np.nan, -1e-5],
            "finish": [True],
        }.items()
        for value in values
    },
    **{
        f"Grower: shadow_rows of {name}": lambda some=some: grower(record_tried=True, **some).grow([0])
        for name, some in {
            "fewer rows": {"n_shadows": 2, "shadow_rows": numbers(*[0] * 11)},
            "more rows": {"n_shadows": 2, "shadow_rows": numbers(*[0] * 13)},
            "one shadow of two": {"n_shadows": 2, "shadow_rows": numbers(*[0] * 6)},
            "no shadow": {"shadow_rows": numbers(*[0] * 6)},
            "fewer than the pool": {
                "n_shadows": 2,
                "shadow_of": [0, 1, 2, 0],
                "shadow_rows": numbers(*[0] * 12),
            },
            "no such row": {"n_shadows": 1, "shadow_rows": numbers(0, 1, 2, 3, 4, 6)},
            "the greatest number": {"n_shadows": 1, "shadow_rows": numbers(0, 1, 2, 3, 4, 2**32 - 1)},
            "a row below 0": {"n_shadows": 1, "shadow_rows": ints(0, 1, 2, 3, 4, -1)},
            "two axes": {"n_shadows": 2, "shadow_rows": np.zeros((2, 6), np.uint32)},
            "a list": {"n_shadows": 1, "shadow_rows": [0, 1, 2, 3, 4, 5]},
            "text": {"n_shadows": 1, "shadow_rows": "012345"},
        }.items()
    },
    **{
        f"Grower.shadow_rows({number})": lambda number=number: grower(
            record_tried=True, n_shadows=2, shadow_rows=numbers(*[0] * 12)
        ).shadow_rows(number)
        for number in (2, 2**32, 2**63, -1)
    },
    "Grower: n_draw": lambda: grower(draw="bootstrap", n_draw=BIG).grow([0]),
    "Grower: finish of two sets": lambda: grower(c45=True, missing="fractional", finish=True).grow([0]),
    "Grower: unknown option": lambda: grower(luck=1),
    "grow: weights of features": lambda: grower().grow([0], np.ones(3)),
    "grow: weights of features 0": lambda: grower().grow([0], np.zeros(2)),
    "grow: weights of features NaN": lambda: grower().grow([0], np.array([1, np.nan])),
    "grow: weights and columns": lambda: grower().grow([0], np.ones(2), None, np.zeros(1, np.uint32)),
    "grow: weights and order": lambda: grower(column_order=[1]).grow([0], np.ones(2)),
    "grow: columns and order": lambda: grower(column_order=[1]).grow([0], None, None, np.ones(1, np.uint32)),
    "grow: column": lambda: grower().grow([0], None, None, np.array([2], np.uint32)),
    "grow: columns turned": lambda: grower().grow([0], None, None, np.array([1, 0], np.uint32)),
    "grow: trees": lambda: grower().grow([-1]),
    "vote: row": lambda: vote(np.array([6], np.uint32)),
    "vote: rows of another type": lambda: vote(np.array([2**32])),
    "vote: column": lambda: vote(columns=(0, 2)),
    "vote: no column": lambda: vote(columns=()),
    "vote: out too small": lambda: vote(out=np.zeros((5, 2))),
    "vote: out too narrow": lambda: vote(out=np.zeros((6, 1))),
    "vote: into its rows": vote_into_its_rows,
    # trees
    "add_proba: row out of range": lambda: add_proba(TABLE, rows=np.array([10**6], np.uint32)),
    "add_proba: few columns": lambda: add_proba(TABLE, n_columns=1),
    "add_proba: few columns, many rows": lambda: add_proba(TABLE, n_rows=200, n_columns=1),
    "add_proba: no columns": lambda: add_proba(LEAF, n_columns=0),
    "add_proba: out": lambda: add_proba(TABLE, out=np.zeros((5, 3))),
    "add_proba: classes": lambda: add_proba(TABLE, n_classes=2),
    "add_proba: read-only": lambda: add_proba(TABLE, out=np.broadcast_to(0.0, (6, 3))),
    "add_proba: unaligned nodes": lambda: _core.add_proba(
        [(unaligned(arrays(TABLE)[0]), *TABLE[1:])], X, None, np.zeros((120, 3))
    ),
    "add_proba: into its nodes": add_proba_into_its_nodes,
    "add_proba: no classes": lambda: _core.add_proba(
        [arrays([LEAF[0], np.zeros((1, 0)), *LEAF[2:]])], np.zeros((2**40, 0)), None, np.zeros((2**40, 0))
    ),
    "leaves: few columns": lambda: _core.leaves(arrays(TABLE), X[:, :1].copy()),
    "leaves: rows without end": lambda: _core.leaves(arrays(LEAF), np.zeros((2**40, 0))),
    "ssv_rounds: a regression tree": lambda: _core.ssv_rounds(arrays([LEAF[0], np.zeros((1, 0)), *LEAF[2:]])),
    "below_own_split: bytes": lambda: _core.below_own_split(np.zeros((3, 47), np.uint8), TRIALS),
    "below_own_split: node": lambda: _core.below_own_split(arrays(LEAF)[0], TRIALS),
    # Relief
    "Relief: no rows": lambda: relief((), (0, 2), ()),
    "Relief: no columns": lambda: _core.Relief(np.zeros((3, 0)), [], ints(0, 1, 1), 2, None, 1.0, False),
    "Relief: infinite": lambda: relief(((np.inf, 0.0), (0.5, 0.0), (-np.inf, 1.0))),
    "Relief: not scaled": lambda: relief(((7.0, 0.0), (0.5, 0.0), (0.1, 1.0))),
    "Relief: category": lambda: relief(((0.0, 2.0), (0.5, 0.0), (0.1, 1.0))),
    "Relief: category and a half": lambda: relief(((0.0, 0.5), (0.5, 0.0), (0.1, 1.0))),
    "Relief: class": lambda: relief(y=(0, 1, 2)),
    "Relief: classes without end": lambda: relief(n_classes=BIG),
    "Relief: n_values": lambda: _core.Relief(np.zeros((2, 2)), [0], ints(0, 1), 2, None, 1.0, False),
    "Relief: weight of 0": lambda: relief(weights=(1.0, 0.0, 1.0)),
    "Relief: weight NaN": lambda: relief(weights=(1.0, np.nan, 1.0)),
    "Relief: no neighbours": lambda: relief(k=0.0),
    "Relief: neighbours NaN": lambda: relief(k=np.nan),
    "Relief: sigma": lambda: quantity_relief(n_neighbors=1.0, sigma=1e7),
    "Relief: sigma NaN": lambda: quantity_relief(n_neighbors=1.0, sigma=np.nan),
    "Relief: quantity not scaled": lambda: quantity_relief((0.0, 2.0, 1.0), n_neighbors=1.0),
    "Relief: quantity NaN": lambda: quantity_relief((0.0, np.nan, 1.0), n_neighbors=1.0),
    "Relief: rows of the quantity": lambda: quantity_relief((0.0, 1.0), n_neighbors=1.0),
    "Surf: class": lambda: surf((0, 1, 2), limit=-1.0),
    "Surf: limit NaN": lambda: surf(limit=np.nan),
    "Surf: quantity not scaled": lambda: quantity_relief(
        (0.0, 2.0, 1.0), _core.Surf, limit=1.0, hit_below=0.5
    ),
    "Surf: hits NaN": lambda: quantity_relief(kernel=_core.Surf, limit=1.0, hit_below=np.nan),
    "Surf sums: row": lambda: surf(limit=-1.0).sums(np.array([3], np.uint32)),
    "sums: row": lambda: relief().sums(np.array([3], np.uint32)),
    # mutual information
    "MutualInfo: column": lambda: mutual_info(columns=(0, 2)),
    "MutualInfo: code": lambda: mutual_info(y=(0, 1, 2, 0, 1, 0)),
    "MutualInfo: code negative": lambda: mutual_info(y=(0, 1, -2, 0, 1, 0)),
    "MutualInfo: rows": lambda: mutual_info(y=(0, 1)),
    "MutualInfo: no codes": lambda: mutual_info(n_y=0),
    "MutualInfo: codes without end": lambda: mutual_info(n_y=BIG),
    "MutualInfo: given code": lambda: mutual_info(given=(0, 0, 0, 1, 0, 0)),
    "MutualInfo: given codes without end": lambda: mutual_info(given=(0,) * 6, n_given=BIG),
    "MutualInfo: given rows": lambda: mutual_info(given=(0, 0)),
    "MutualInfo: weights": lambda: mutual_info(weights=(1.0,)),
    "MutualInfo: weight of 0": lambda: mutual_info(weights=(1.0, 0.0, 1.0, 1.0, 1.0, 1.0)),
    "MutualInfo: weight NaN": lambda: mutual_info(weights=(1.0, np.nan, 1.0, 1.0, 1.0, 1.0)),
    # networks
    "train_network: class": lambda: network(target=ints(0, 1, 2, 1)),
    "train_network: class negative": lambda: network(target=ints(0, 1, -1, 1)),
    "train_network: class, three outputs": lambda: network(target=ints(0, 1, 3, 1), n_outputs=3),
    "train_network: quantity NaN": lambda: network(target=np.array([0, 1, np.nan, 1], np.float32)),
    "train_network: quantity infinite": lambda: network(target=np.array([0, 1, np.inf, 1], np.float32)),
    "train_network: quantity, two outputs": lambda: network(target=np.ones(4, np.float32), n_outputs=2),
    "train_network: input": lambda: network(inputs=np.array([3], np.uint32)),
    "train_network: row": lambda: network(rows=np.array([4], np.uint32)),
    "train_network: no rows": lambda: network(rows=np.zeros(0, np.uint32), epochs=BIG),
    "train_network: weights": lambda: network(weights=np.ones(3, np.float32)),
    "train_network: weights NaN": lambda: network(weights=np.full(4, np.nan, np.float32)),
    "train_network: no units": lambda: network(n_hidden=0),
    "train_network: units without end": lambda: network(n_hidden=BIG),
    "train_network: outputs without end": lambda: network(n_outputs=BIG),
    "train_network: rate NaN": lambda: network(learning_rate=np.nan),
    "train_network: unknown option": lambda: network(n_layers=2),
    "network_outputs: no outputs": lambda: outputs(n_outputs=0),
    "network_outputs: no hidden units": lambda: outputs(n_hidden=0),
    "network_outputs: column": lambda: outputs(shape=(4, 2)),
    "network_outputs: rows without end": lambda: outputs(n_inputs=0, shape=(2**40, 0)),
}

ANSWERED: dict[str, Callable[[], object]] = {
    "best_split of no rows": lambda: best_split((), (), 1, ()),
    "best_split, most rows of weight 0": lambda: best_split((1.0, 2.0, 3.0), (0, 1, 0), 2, (0.0, 1.0, 0.0)),
    "nominal_split of no rows": lambda: nominal_split((), 0, (), 1, ()),
    "nominal_split, many classes": lambda: nominal_split(range(40), 40, range(40), 65_535, np.ones(40)),
    "add_proba to no row": lambda: add_proba(TABLE, rows=np.zeros(0, np.uint32)),
    "add_proba of no trees": lambda: _core.add_proba([], X, None, np.zeros((120, 3))),
    "add_proba of no data": lambda: add_proba(TABLE, n_rows=0),
    "leaves of no data": lambda: _core.leaves(arrays(TABLE), np.zeros((0, 3))),
    "trees without columns": lambda: _core.Grower(_core.ColumnStore(2), ints(0, 1), 2, None).grow([0, 1]),
    "no trees": lambda: grower().grow([]),
    "shadows by given rows": lambda: grower(
        record_tried=True, n_shadows=2, shadow_of=[1, 0, 0, 1], shadow_rows=numbers(*[0, 0, 2, 5, 1, 1] * 2)
    ).grow([0, 1]),
    "shadows of a pool": lambda: grower(record_tried=True, n_shadows=2, shadow_of=[9, 9, 0, 3]).grow([0, 1]),
    "network_outputs without columns": lambda: outputs(n_inputs=0, shape=(4, 0)),
    "Relief, weights that round": lambda: relief(
        np.linspace(0, 1, 40)[:, None], (0,), [0, 1] * 20, RNG.uniform(1, 9e17, 40)
    ).sums(np.arange(40, dtype=np.uint32)),
    "Relief, more neighbours than rows": lambda: quantity_relief(n_neighbors=1e300, sigma=1e6).sums(
        np.arange(3, dtype=np.uint32)
    ),
    "Surf of one row": lambda: _core.Surf(np.zeros((1, 1)), [0], ints(0), 1, None, -1.0).sums(
        np.zeros(1, np.uint32)
    ),
    "Surf without limit": lambda: surf(limit=np.inf).sums(np.arange(3, dtype=np.uint32)),
    "Relief with its rows changed": lambda: forgotten(np.inf),
    "Relief with its rows lost": lambda: forgotten(np.nan),
    "MutualInfo of no columns": lambda: mutual_info(columns=()),
    "MutualInfo of no known row": lambda: mutual_info(y=(-1,) * 6),
    "MutualInfo, many codes": lambda: mutual_info(n_y=65_536, given=(65_535,) * 6, n_given=65_536),
    "null_tail of infinity": lambda: _core.null_tail(3, 5, np.inf),
}


def report(name, call):
    """Say what is called, then what came of it."""
    print(name, end="\t", flush=True)
    try:
        call()
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[0], sep="\t", flush=True)
    else:
        print("answered", flush=True)


def report_all(refused, answered):
    """Make the calls that the command line asks for."""
    for name, call in {"refused": refused, "answered": answered}[sys.argv[1]].items():
        report(name, call)


if __name__ == "__main__":
    report_all(REFUSED, ANSWERED)
