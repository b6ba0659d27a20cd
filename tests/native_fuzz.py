"""Random arguments for every callable of the native module; run as `python native_fuzz.py SEED N_CALLS`.

Every call begins with arguments that fit, of which some are made wrong. What may come of it is an answer, a
ValueError, a TypeError or an OverflowError; anything else is printed, and ends the process with 1.
"""

import sys

import numpy as np
from native_cases import C45, ROWS, X, Y, as_bytes, grown, ints, numbers, relief, small_store, surf
from native_histograms import block, plan, plan_arguments, quantity_plan, zeros

from foresift import _core

INTS = [-1, 0, 1, 2, 3, 7, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1, 2**70, 1.5, None, "7", True]
REALS = [np.nan, np.inf, -np.inf, -1.0, 0.0, -0.0, 1e-320, 0.5, 1.0, 3, 1e18, 1e149, 1e308, None, "1"]
VALUES = [-1, 0, 1, 2, 5, 255, 65_535, 2**31 - 1, -(2**31), 2**32 - 1, 0.5, 1e-320, 1e308, np.nan, np.inf]
DTYPES = ["u1", "u2", "i4", "u4", "i8", "f4", "f8", "c16", "?", "O", "U3", ">i4", ">f8"]
OPTIONS = {
    "criterion": ["entropy", "gini", "gain_ratio", "ssv", "variance", "luck", 3],
    "missing": ["learn", "known", "fractional", "luck"],
    "draw": ["all", "bootstrap", "subsample", "luck"],
    "n_draw": [1, 3, 6, 40, *INTS],
    "n_thresholds": INTS,
    "n_permutations": INTS,
    "n_shadows": INTS,
    "shadows_per_tree": INTS,
    "max_features": INTS,
    "max_depth": INTS,
    "seed": INTS,
    "min_leaf": REALS,
    "min_split": REALS,
    "min_gain": REALS,
    "min_share": REALS,
    "min_gap": REALS,
    "confidence": REALS,
    "permute_column": [[1, 0], [0, 1, 1], [], [256, 1], "ab", None],
    "level_columns": [[0], [1, 0], [1, 1], [2], [-1], [], None],
    "column_order": [[0], [1, 0], [1, 1, 0, 0], [2], [], 3],
}
for flag in (
    *("multiway", "group_categories", "constant_leaf", "record_tried", "c45", "cut_penalty"),
    *("finish", "collapse", "raise_subtrees"),
):
    OPTIONS[flag] = [False, True, True, 1, None]
OPTIONS["value_thresholds"] = OPTIONS["collapse"]
NETWORK = {
    "n_hidden": INTS,
    "n_outputs": INTS,
    "epochs": [0, 1, 2, -1, 2**32, None],  # many are a long time, which is what was asked for
    "learning_rate": REALS,
    "momentum": REALS,
    "init_range": REALS,
    "seed": INTS,
}


class Fuzz:
    """One stream of random calls."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.trees = [grown(), grown(**C45)]
        self.makers = {
            "ColumnStore": lambda: (_core.ColumnStore, [6, 16]),
            "ColumnStore.add_numeric": lambda: (small_store().add_numeric, [X[:6, :2].copy()]),
            "ColumnStore.add_nominal": lambda: (small_store().add_nominal, [ints(0, 1, 2, -1, 2, 0), 3]),
            "ColumnStore.take": lambda: (small_store().take, [[0, 1]]),
            "ColumnStore.take_rows": lambda: (small_store().take_rows, [ROWS]),
            **{
                f"ColumnStore.{name}": lambda name=name: (getattr(small_store(), name), [1])
                for name in ("codes", "values", "n_values", "is_nominal", "has_missing", "is_binned")
            },
            "StopFlag": lambda: (_core.StopFlag, []),
            "StopFlag.set": lambda: (_core.StopFlag().set, []),
            "Grower": self.make_grower,
            "Grower.grow": lambda: (self.grower().grow, self.grow_arguments()),
            "Grower.vote": lambda: (
                self.grower().vote,
                [[0, 1], np.array([0, 1], "u4"), 1, np.array([0, 5], "u4"), np.zeros((2, 2)), None],
            ),
            "Grower.shadow_rows": lambda: (self.grower().shadow_rows, [0]),
            "Grower.shadow_ratios": lambda: (self.grower().shadow_ratios, [0]),
            "Grower.drawn_rows": lambda: (self.grower().drawn_rows, [0]),
            "null_tail": lambda: (_core.null_tail, [4, 7, 0.1]),
            "null_moments": lambda: (_core.null_moments, [4, 7, 5]),
            "permuted_gains": lambda: (_core.permuted_gains, [self.store(), 1, Y[:6].copy(), 3, True, 4, 0]),
            "permuted_reductions": lambda: (
                _core.permuted_reductions,
                [X[:6, 0].copy(), np.array([1, 2, 3], "u4"), self.of("multiway"), 4, 0],
            ),
            "ssv_ranks": lambda: (
                _core.ssv_ranks,
                [small_store(), 0, 2, ints(0, 1, 0, 1, 1, 0), 2, np.ones(6), None],
            ),
            "best_split": lambda: (
                _core.best_split,
                [X[:, 0].copy(), Y.copy(), 3, np.ones(120), self.of("criterion"), self.of("missing")],
            ),
            "nominal_split": lambda: (
                _core.nominal_split,
                [
                    *(X[:, 2].astype("i4"), 5, Y.copy(), 3, np.ones(120)),
                    *(self.of("criterion"), self.of("multiway"), self.of("missing")),
                ],
            ),
            "best_value_split": lambda: (
                _core.best_value_split,
                [X[:, 0].copy(), X[:, 1].copy(), np.ones(120), self.of("missing")],
            ),
            "nominal_value_split": lambda: (
                _core.nominal_value_split,
                [
                    X[:, 2].astype("i4"),
                    5,
                    X[:, 1].copy(),
                    np.ones(120),
                    self.of("multiway"),
                    self.of("missing"),
                ],
            ),
            "Relief": lambda: (
                _core.Relief,
                [np.array([[0, 1], [0.5, 0], [1, np.nan]]), [0, 2], ints(0, 1, 1), 2, np.ones(3), 1.0, False],
            ),
            "Relief of a quantity": lambda: (
                _core.Relief,
                [
                    np.array([[0, 1], [0.5, 0], [1, np.nan]]),
                    [0, 2],
                    np.array([0, 0.3, 1]),
                    np.ones(3),
                    2.0,
                    1.5,
                ],
            ),
            "Surf": lambda: (
                _core.Surf,
                [np.array([[0, 1], [0.5, 0], [1, np.nan]]), [0, 2], ints(0, 1, 1), 2, np.ones(3), -1.0],
            ),
            "Surf of a quantity": lambda: (
                _core.Surf,
                [
                    np.array([[0, 1], [0.5, 0], [1, np.nan]]),
                    [0, 2],
                    np.array([0, 0.3, 1]),
                    np.ones(3),
                    0.5,
                    0.3,
                ],
            ),
            "Surf.sums": lambda: (surf(limit=-1.0).sums, [np.array([0, 2], "u4"), None]),
            "Relief.sums": lambda: (relief().sums, [np.array([0, 2], "u4"), None]),
            "MutualInfo": lambda: (_core.MutualInfo, [self.store()]),
            "MutualInfo.of": lambda: (
                _core.MutualInfo(self.store()).of,
                [
                    *(np.array([0, 2], "u4"), ints(0, 1, 0, -1, 1, 0), 2),
                    *(self.pick([None, ints(0, 2, -1, 1, 2, 0)]), 3, self.pick([None, np.ones(6)])),
                    *(self.chance(0.5), None),
                ],
            ),
            "below_own_split": self.make_below,
            "ssv_rounds": lambda: (_core.ssv_rounds, [self.table()]),
            "add_proba": lambda: (
                _core.add_proba,
                [[self.table(), self.table()], self.rows(), self.some_rows(), np.zeros((120, 3)), None],
            ),
            "leaves": lambda: (_core.leaves, [self.table(), self.rows()]),
            "LevelPlan": lambda: (self.make_plan, list(plan_arguments().values())),
            "LevelPlan.make": lambda: (self.make_plan, [*plan_arguments(scores=numbers(1, 2, 3)).values()]),
            "LevelPlan.add": self.make_add,
            "LevelPlan.search": self.make_search,
            "code_values": lambda: (
                _core.code_values,
                [self.rows(), np.array([-1.0, 0.5, 2.0]), numbers(0, 1, 1, 3)],
            ),
            "block_permutation": lambda: (_core.block_permutation, [3, 0, 1, 40]),
            "GrowOptions": lambda: (_core.GrowOptions, [], self.some(OPTIONS)),
            "NetworkOptions": lambda: (_core.NetworkOptions, [], self.some(NETWORK)),
            "train_network": lambda: (self.train, self.network(), self.some(NETWORK)),
            "network_outputs": lambda: (
                _core.network_outputs,
                [
                    *(np.ones(shape, "f4") for shape in [(2, 4), (3, 3)]),
                    np.arange(3, dtype="u4"),
                    np.ones((5, 3), "f4"),
                ],
            ),
        }

    @staticmethod
    def make_plan(*arguments):
        """Make a plan, and use it if that goes."""
        made = _core.LevelPlan.make(*arguments)
        if made.n_sums + made.n_counts < 10**7:  # large ones are what was asked for
            sums, counts = zeros(made)
            made.add(*block(70), 0, sums, counts)
            made.search(0, sums, np.array([0, 1, 0], "u1"), False, 0.0)

    def make_add(self):
        of = self.pick([plan, quantity_plan])()
        return of.add, [*block(70), 3, *zeros(of), None]

    def make_search(self):
        of = self.pick([plan, quantity_plan])()
        sums = self.rng.integers(0, 9, of.n_sums)
        return of.search, [1, sums, np.array([0, 1, 0], "u1"), self.chance(0.5), 0.1, None]

    def of(self, name):
        return self.pick(OPTIONS[name][: 2 if self.chance(0.9) else None])

    def pick(self, items):
        return items[self.rng.integers(len(items))]

    def chance(self, p):
        return self.rng.random() < p

    def some(self, options):
        return {name: self.pick(values) for name, values in options.items() if self.chance(0.08)}

    def store(self):
        store = small_store()
        store.add_nominal(ints(0, 1, 2, -1, 2, 0), 3)
        return store

    @staticmethod
    def train(*arguments, **options):
        _core.train_network(*arguments, _core.NetworkOptions(**options))

    def make_grower(self):
        classes, weights = [ints(0, 1, 0, 1, 1, 0), 2], self.pick([None, np.arange(6.0)])
        target, options = self.pick([(classes, {}), ([X[:6, 1].copy()], {"criterion": "variance"})])

        def make_and_grow(*arguments, **options):
            _core.Grower(*arguments, _core.GrowOptions(**options)).grow([0, 1])

        return make_and_grow, [small_store(), *target, weights], {**options, **self.some(OPTIONS)}

    def grower(self):
        shadows = {"n_shadows": 2, "shadow_of": [5, 0, 1, 3]}
        options = self.pick([{}, shadows, {"column_order": [1]}, {"draw": "bootstrap", "n_draw": 4}])
        weights = self.pick([None, np.arange(6.0)])
        if self.chance(0.3):
            options = _core.GrowOptions(criterion="variance", **options)
            return _core.Grower(small_store(), X[:6, 1].copy(), weights, options)
        return _core.Grower(small_store(), ints(0, 1, 0, 1, 1, 0), 2, weights, _core.GrowOptions(**options))

    def grow_arguments(self):
        weights, columns = self.pick([(None, None), (np.ones(2), None), (None, np.array([0, 1], "u4"))])
        return [[0, 1], weights, None, columns, 1]

    def table(self):
        """A tree, with a few of its numbers changed."""
        nodes, *others = (array.copy() for array in self.trees[self.rng.integers(2)][0])
        while self.chance(0.5):
            name = self.pick(nodes.dtype.names)
            nodes[name][self.rng.integers(len(nodes))] = self.fitting(nodes[name].dtype)
        while self.chance(0.3):
            array = self.pick(others)
            array.flat[self.rng.integers(array.size)] = self.fitting(array.dtype)
        return (as_bytes(nodes), *others)

    def fitting(self, dtype):
        with np.errstate(all="ignore"):
            return np.array(self.pick(VALUES)).astype("i8" if dtype.kind in "iu" else "f8").astype(dtype)

    def make_below(self):
        nodes, trials = self.table()[0], self.trees[0][1].copy()
        trials.view("i4")[self.rng.integers(len(trials)), 0] += self.pick([0, 0, 1, 10**6, -(10**6)])
        return _core.below_own_split, [nodes, trials]

    def rows(self):
        x = X.copy()
        x.flat[self.rng.integers(x.size, size=3)] = self.pick([np.nan, np.inf, 0.0])
        return x.astype(self.pick(["f4", "f8"]))

    def some_rows(self):
        return self.pick([None, np.array([3, 3, 119], "u4"), np.zeros(0, "u4"), np.array([120], "u4")])

    def network(self):
        inputs, rows = np.arange(3, dtype="u4"), np.arange(4, dtype="u4")
        target = self.pick([ints(0, 1, 0, 1), np.arange(4, dtype="f4")])
        return [np.ones((4, 3), "f4"), target, None, inputs, rows, 0, None]

    def wrong(self, value):
        """Something else in place of an argument that fits."""
        if self.chance(0.1):
            return self.pick([None, "x", -1, 2.5, [], {}, np.zeros(0), np.zeros((2, 2, 2)), _core.StopFlag()])
        if isinstance(value, np.ndarray):
            return self.wrong_array(value)
        if isinstance(value, (list, tuple)) and len(value):
            k = int(self.rng.integers(len(value)))
            changed = [*value[:k], self.wrong(value[k]), *value[k + 1 :]]
            return self.pick([changed, changed, value[:-1], [*value, *value]])
        if isinstance(value, float):
            return self.pick(REALS)
        return self.pick(INTS) if isinstance(value, int) else value

    def wrong_array(self, array):
        match self.rng.integers(9):
            case 0:
                with np.errstate(all="ignore"):
                    return np.nan_to_num(array).astype(self.pick(DTYPES))
            case 1:
                return array[: self.rng.integers(len(array) + 1)]
            case 2:
                return np.concatenate([array, array])[:: self.pick([1, 2])]
            case 3:
                return self.pick([array.T, array[::-1], array[..., None], np.asfortranarray(array)])
            case 4:
                return np.frombuffer(b"\0" + array.tobytes(), array.dtype, offset=1).reshape(array.shape)
            case 5:
                return np.broadcast_to(array.flat[0] if array.size else 0, array.shape).astype(array.dtype)
            case 6:
                return np.zeros((self.pick([0, 2**40]), 0), array.dtype)
            case 7 if array.ndim == 2:
                return np.ascontiguousarray(array[:, : self.rng.integers(array.shape[1] + 1)])
            case _:
                changed = array.copy()
                if changed.size:
                    changed.flat[self.rng.integers(changed.size)] = self.fitting(array.dtype)
                return changed

    def call(self, name):
        what, arguments, *options = self.makers[name]()
        arguments = [self.wrong(a) if self.chance(0.15) else a for a in arguments]
        what(*arguments, **(options[0] if options else {}))


def callables():
    """The names of everything that can be called in the native module."""
    for name, thing in vars(_core).items():
        if name.startswith("_") or not callable(thing):
            continue
        yield name
        if isinstance(thing, type):
            own = (member for member in vars(thing) if not member.startswith("_"))
            yield from (f"{name}.{member}" for member in own if callable(getattr(thing, member)))


def fuzz(seed, n_calls):
    """Make so many calls of everything; print how often each was answered and refused."""
    stream = Fuzz(seed)
    called = {name.partition(" of ")[0] for name in stream.makers}  # some in more than one way
    assert called == set(callables()), called ^ set(callables())
    for name in stream.makers:
        counts = {"answered": 0, "refused": 0}
        for number in range(n_calls):
            print(f"\r{name} {number}", end="", flush=True)
            try:
                stream.call(name)
                counts["answered"] += 1
            except (ValueError, TypeError, OverflowError):
                counts["refused"] += 1
        print("\t", counts, flush=True)


if __name__ == "__main__":
    np.seterr(all="ignore")
    fuzz(int(sys.argv[1]), int(sys.argv[2]))
