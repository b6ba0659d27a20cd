"""Walks over damaged node tables, which `test_native_hostile` makes in a subprocess."""

from collections.abc import Callable

import numpy as np
from native_cases import C45, X, add_proba, arrays, as_bytes, grown, report

from foresift import _core
from foresift.engine.node_table import NODE_DTYPE


def set_field(name, value, where=0):
    def damage(table):
        inner = np.flatnonzero(table[0]["first_child"] >= 0)
        nominal = np.flatnonzero(table[0]["category_set"] >= 0)
        leaves = np.flatnonzero(table[0]["first_child"] < 0)
        at = {"nominal": nominal, "leaf": leaves}.get(where, inner)[0 if isinstance(where, str) else where]
        table[0][name][at] = value

    return damage


def set_array(k, change):
    def damage(table):
        table[k] = change(table[k])

    return damage


def two_parents(table):
    inner = np.flatnonzero(table[0]["first_child"] >= 0)
    table[0][["first_child", "n_children"]][inner[0]] = table[0][["first_child", "n_children"]][inner[1]]


def ladder(table):
    """Make every node the parent of the next two: as many ways down as a Fibonacci number."""
    n = 90
    nodes = np.zeros(n, NODE_DTYPE)
    nodes["parent"], nodes["first_child"] = np.arange(-1, n - 1), np.arange(1, n + 1)
    nodes["category_set"] = -1
    nodes["n_children"], nodes["size"] = 2, 1.0
    nodes["missing_branch"][0] = -1 if (table[0]["missing_branch"] < 0).any() else 1
    for name in ("first_child", "feature"):
        nodes[name][-2:] = -1
    table[0], table[1] = nodes, np.ones((n, 3))


DAMAGED: dict[str, Callable[[list], object]] = {
    **{f"first_child={v}": set_field("first_child", v) for v in (0, 10**6, 2**31 - 1)},
    "a child above": set_field("first_child", 0, 1),
    **{f"n_children={v}": set_field("n_children", v) for v in (0, 1, 3, 65_535)},
    **{f"missing_branch={v}": set_field("missing_branch", v) for v in (2, -2, 10**6, -(2**31))},
    **{f"missing_branch={v} of a leaf": set_field("missing_branch", v, "leaf") for v in (1, -1, 10**6)},
    **{f"majority_branch={v}": set_field("majority_branch", v) for v in (2, 65_535)},
    **{f"category_set={v}": set_field("category_set", v, "nominal") for v in (50, 10**6, 2**31 - 1)},
    "a set with two nodes": set_field("category_set", 0),
    "no feature": set_field("feature", -1),
    "set_offsets too large": set_array(2, lambda a: a + np.int32(10**6)),
    "set_offsets negative": set_array(2, lambda a: a - np.int32(5)),
    "set_offsets turned": set_array(2, lambda a: a[::-1].copy()),
    "set_offsets gone": set_array(2, lambda a: a[:0]),
    "set_codes cut off": set_array(3, lambda a: a[:1]),
    "set_codes of another type": set_array(3, lambda a: a.astype(np.int64)),
    "set_branches cut off": set_array(4, lambda a: a[:1]),
    "set_branches too large": set_array(4, lambda a: a + np.uint16(9)),
    "counts cut off": set_array(1, lambda a: a[:-1]),
    "counts of another type": set_array(1, lambda a: a.astype(np.float32)),
    "counts turned": set_array(1, lambda a: np.asfortranarray(a)),
    "no nodes": lambda table: table.__setitem__(slice(0, 2), [table[0][:0], table[1][:0]]),
}
# Only what goes down several ways at once looks for these: a single way ends.
FAMILIES: dict[str, Callable[[list], object]] = {
    "another child": set_field("first_child", 2),
    "another parent": set_field("parent", 7, "leaf"),
    "a parent below": set_field("parent", 10**6, 1),
    "two parents": two_parents,
    "ladder": ladder,
}
WALKS = {
    "add_proba": lambda table: add_proba(table),
    "add_proba of many rows": lambda table: add_proba(table, n_rows=200),
    "add_proba of gaps": lambda table: _core.add_proba(
        [arrays(table)], np.full((200, 3), np.nan), None, np.zeros((200, 3))
    ),
    "leaves": lambda table: _core.leaves(arrays(table), X),
    "ssv_rounds": lambda table: _core.ssv_rounds(arrays(table)),
}


def walked():
    """Every walk over every damaged table, by name."""
    for damage, do in (DAMAGED | FAMILIES).items():
        for kind, options in {"": {}, ", C4.5": C45}.items():
            table, _ = grown(**options)
            do(table)
            for walk, call in WALKS.items():
                if damage in FAMILIES and not options and walk != "ssv_rounds":
                    call(table)
                    continue
                yield f"{walk}, {damage}{kind}", lambda call=call, table=table: call(table)
    for value in (10**6, 2**31 - 1):
        table, _ = grown()
        set_field("feature", value)(table)
        for walk in ("add_proba", "add_proba of many rows", "leaves"):
            yield f"{walk}, feature={value}", lambda walk=walk, table=table: WALKS[walk](table)
    for name in ("gain", "size"):
        for value in (np.nan, np.inf, -np.inf):
            table, _ = grown()
            set_field(name, value)(table)
            yield f"ssv_rounds, {name}={value}", lambda table=table: WALKS["ssv_rounds"](table)
    for value in (1, 7, 10**6, -5):
        table, trials = grown()
        table[0]["parent"][1] = value
        yield (
            f"below_own_split, parent={value}",
            lambda table=table, trials=trials: _core.below_own_split(as_bytes(table[0]), trials),
        )


if __name__ == "__main__":
    for name, call in walked():
        report(name, call)
