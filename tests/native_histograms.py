"""Calls of the histogram engine with odd arguments; run as `native_cases.py` is."""

from collections.abc import Callable

import numpy as np
from native_cases import BIG, numbers, report_all, unaligned

from foresift import _core

NO_SLOT = 2**32 - 1
ARRAYS = (
    *("nodes_of", "requests_of", "node_column", "first_child", "child_of", "slot", "n_slots", "depth"),
    *("request_column", "request_shadow", "width", "scores"),
)


def split_by(codes):
    """The child of each of 256 codes: 1 for these."""
    child_of = np.zeros(256, np.uint8)
    child_of[list(codes)] = 1
    return child_of


def plan_arguments(**changes):
    """Two trees, one of which is split, of three columns and three classes."""
    nowhere = np.zeros(256, np.uint8)
    return {
        "nodes_of": numbers(0, 3, 4),
        "requests_of": numbers(0, 3, 5),
        "node_column": numbers(0, 0, 0, 0),
        "first_child": numbers(1, 1, 2, 0),
        "child_of": np.concatenate([split_by([2, 3]), nowhere, nowhere, nowhere]),
        "slot": numbers(NO_SLOT, 0, 1, 0),
        "n_slots": numbers(2, 1),
        "depth": numbers(1, 0),
        "request_column": numbers(0, 1, 2, 1, 0),
        "request_shadow": numbers(0, 0, 1, 0, 2),
        "width": numbers(4, 3, 5),
        "n_codes": 3,
        "scores": numbers(),
        "seed": 7,
        **changes,
    }


def plan(**changes):
    return _core.LevelPlan.make(**plan_arguments(**changes))


def block(n_rows=6):
    """Codes of three columns, and classes."""
    codes = np.arange(3 * n_rows, dtype=np.uint8).reshape(3, n_rows) % np.array([[4], [3], [5]], np.uint8)
    return codes, np.arange(n_rows, dtype=np.uint16) % 3


def zeros(of):
    return np.zeros(of.n_sums, np.int64), np.zeros(of.n_counts, np.int64)


def add(codes=None, target=None, number=0, sums=None, counts=None, of=None, n_rows=6):
    of = plan() if of is None else of
    own_codes, own_target = block(n_rows)
    own_sums, own_counts = zeros(of)
    of.add(
        own_codes if codes is None else codes,
        own_target if target is None else target,
        number,
        own_sums if sums is None else sums,
        own_counts if counts is None else counts,
    )


def search(tree=0, sums=None, nominal=None, min_share=0.0, of=None, multiway=False):
    of = plan() if of is None else of
    sums = np.ones(of.n_sums, np.int64) if sums is None else sums
    return of.search(tree, sums, np.zeros(3, np.uint8) if nominal is None else nominal, multiway, min_share)


def ones_with(value, of=None):
    sums = np.ones((plan() if of is None else of).n_sums, np.int64)
    sums[:4] = value
    return sums


def code(values=None, cuts=(0.5, 1.5, 0.0), begins=(0, 2, 3)):
    values = np.zeros((4, 2)) if values is None else values
    return _core.code_values(values, np.array(cuts, dtype=np.float64), numbers(*begins))


def into_target(array):
    """Add to memory that the target is read from, which a second tree would read again."""
    memory = np.zeros(plan().n_sums, np.int64)
    target = memory.view(np.uint16)[:6]
    add(target=target, **{array: memory[: zeros(plan())[array == "counts"].size]})


def into_codes(array):
    memory = np.zeros(plan().n_sums, np.int64)
    codes = memory.view(np.uint8)[:18].reshape(3, 6)
    add(codes=codes, **{array: memory[: zeros(plan())[array == "counts"].size]})


def into_each_other():
    of = plan()
    memory = np.zeros(of.n_sums + of.n_counts, np.int64)
    add(sums=memory[: of.n_sums], counts=memory[of.n_sums - 1 : of.n_sums - 1 + of.n_counts])


def quantity_plan(**changes):
    return plan(**{"scores": numbers(1, 5, 9), **changes})


REFUSED: dict[str, Callable[[], object]] = {
    **{
        f"LevelPlan: {name} of another type": lambda name=name: plan(
            **{name: plan_arguments()[name].astype(np.int64)}
        )
        for name in ARRAYS
    },
    **{
        f"LevelPlan: {name} shorter": lambda name=name: plan(**{name: plan_arguments()[name][:-1].copy()})
        for name in ARRAYS
        if name != "scores"
    },
    **{
        f"LevelPlan: {name} longer": lambda name=name: plan(
            **{name: np.concatenate([plan_arguments()[name], np.ones(1, plan_arguments()[name].dtype)])}
        )
        for name in ARRAYS
        if name != "width"
    },
    **{
        f"LevelPlan: {name} strided": lambda name=name: plan(
            **{name: np.repeat(plan_arguments()[name], 2)[::2]}
        )
        for name in ARRAYS
        if name != "scores"
    },
    **{
        f"LevelPlan: {name} in two dimensions": lambda name=name: plan(
            **{name: plan_arguments()[name][np.newaxis]}
        )
        for name in ARRAYS
    },
    "LevelPlan: unaligned": lambda: plan(width=unaligned(numbers(4, 3, 5))),
    "LevelPlan: nodes_of falls": lambda: plan(nodes_of=numbers(0, 5, 4)),
    "LevelPlan: nodes_of begins at 1": lambda: plan(nodes_of=numbers(1, 3, 4)),
    "LevelPlan: a tree without nodes": lambda: plan(nodes_of=numbers(0, 4, 4)),
    "LevelPlan: requests_of falls": lambda: plan(requests_of=numbers(0, 6, 5)),
    "LevelPlan: node_column": lambda: plan(node_column=numbers(3, 0, 0, 0)),
    "LevelPlan: first_child": lambda: plan(first_child=numbers(2, 1, 2, 0)),
    "LevelPlan: first_child of another tree": lambda: plan(first_child=numbers(1, 1, 3, 0)),
    "LevelPlan: first_child without end": lambda: plan(first_child=numbers(1, 1, BIG, 0)),
    "LevelPlan: child_of": lambda: plan(child_of=np.full(4 * 256, 2, np.uint8)),
    "LevelPlan: child of a code that no column has": lambda: plan(
        child_of=np.concatenate([np.zeros(3 * 256 + 255, np.uint8), np.ones(1, np.uint8)])
    ),
    "LevelPlan: slot": lambda: plan(slot=numbers(NO_SLOT, 0, 2, 0)),
    "LevelPlan: slot of a tree with one": lambda: plan(slot=numbers(NO_SLOT, 0, 1, 1)),
    "LevelPlan: more slots than nodes": lambda: plan(n_slots=numbers(4, 1)),
    "LevelPlan: slots without end": lambda: plan(n_slots=numbers(BIG, 1)),
    "LevelPlan: depth": lambda: plan(depth=numbers(65, 0)),
    "LevelPlan: request_column": lambda: plan(request_column=numbers(0, 1, 3, 1, 0)),
    "LevelPlan: request_shadow": lambda: plan(request_shadow=numbers(0, 0, 1, 0, BIG)),
    "LevelPlan: no columns": lambda: plan(width=numbers()),
    "LevelPlan: width 0": lambda: plan(width=numbers(4, 0, 5)),
    "LevelPlan: width 257": lambda: plan(width=numbers(4, 257, 5)),
    "LevelPlan: no classes": lambda: plan(n_codes=0),
    "LevelPlan: classes without end": lambda: plan(n_codes=BIG),
    "LevelPlan: classes negative": lambda: plan(n_codes=-1),
    "LevelPlan: scores of two codes of three": lambda: plan(scores=numbers(1, 2)),
    "LevelPlan: score": lambda: plan(scores=numbers(1, 2, 2**24)),
    "LevelPlan: seed negative": lambda: plan(seed=-1),
    "LevelPlan: seed without end": lambda: plan(seed=2**64),
    "LevelPlan: not made": lambda: _core.LevelPlan(),
    "add: codes of fewer columns": lambda: add(codes=block()[0][:2].copy()),
    "add: codes of more columns": lambda: add(codes=np.zeros((4, 6), np.uint8)),
    "add: codes of fewer rows": lambda: add(codes=np.zeros((3, 5), np.uint8)),
    "add: codes of more rows": lambda: add(codes=np.zeros((3, 7), np.uint8)),
    "add: codes in F order": lambda: add(codes=np.asfortranarray(block()[0])),
    "add: codes turned": lambda: add(codes=block()[0][:, ::-1]),
    "add: codes of another type": lambda: add(codes=block()[0].astype(np.uint16)),
    "add: codes of one column": lambda: add(codes=block()[0][0]),
    "add: no codes": lambda: add(codes="codes"),
    "add: target too large": lambda: add(target=np.full(6, 3, np.uint16)),
    "add: target of another type": lambda: add(target=np.zeros(6, np.int64)),
    "add: target strided": lambda: add(target=np.zeros(12, np.uint16)[::2]),
    "add: target unaligned": lambda: add(target=unaligned(np.zeros(6, np.uint16))),
    "add: target shorter": lambda: add(target=np.zeros(5, np.uint16)),
    "add: 65,536 rows": lambda: add(n_rows=2**16),
    "add: number": lambda: add(number=2**31),
    "add: number negative": lambda: add(number=-1),
    "add: sums shorter": lambda: add(sums=zeros(plan())[0][:-1]),
    "add: sums longer": lambda: add(sums=np.zeros(plan().n_sums + 1, np.int64)),
    "add: sums of another type": lambda: add(sums=np.zeros(plan().n_sums, np.uint64)),
    "add: sums of numbers with fractions": lambda: add(sums=np.zeros(plan().n_sums)),
    "add: sums strided": lambda: add(sums=np.zeros(2 * plan().n_sums, np.int64)[::2]),
    "add: sums unaligned": lambda: add(sums=unaligned(np.zeros(plan().n_sums, np.int64))),
    "add: sums read-only": lambda: add(sums=np.broadcast_to(np.int64(0), plan().n_sums)),
    "add: counts shorter": lambda: add(counts=np.zeros(plan().n_counts - 1, np.int64)),
    "add: counts longer": lambda: add(counts=np.zeros(plan().n_counts + 1, np.int64)),
    "add: counts unaligned": lambda: add(counts=unaligned(np.zeros(plan().n_counts, np.int64))),
    "add: sums into the target": lambda: into_target("sums"),
    "add: counts into the target": lambda: into_target("counts"),
    "add: sums into the codes": lambda: into_codes("sums"),
    "add: counts into the codes": lambda: into_codes("counts"),
    "add: sums into the counts": into_each_other,
    "search: no such tree": lambda: search(tree=2),
    "search: tree negative": lambda: search(tree=-1),
    "search: tree without end": lambda: search(tree=2**63),
    "search: sums shorter": lambda: search(sums=np.zeros(plan().n_sums - 1, np.int64)),
    "search: sums of another plan": lambda: search(sums=np.zeros(quantity_plan().n_sums, np.int64)),
    "search: sums strided": lambda: search(sums=np.zeros(2 * plan().n_sums, np.int64)[::2]),
    "search: sums unaligned": lambda: search(sums=unaligned(np.zeros(plan().n_sums, np.int64))),
    "search: sums of another type": lambda: search(sums=np.zeros(plan().n_sums)),
    "search: a negative sum": lambda: search(sums=ones_with(-1)),
    "search: the least number": lambda: search(sums=ones_with(-(2**63))),
    "search: a huge sum": lambda: search(sums=ones_with(2**63 - 1)),
    "search: numbers that overflow together": lambda: search(sums=ones_with(2**62)),
    "search: scores that overflow together": lambda: search(
        sums=np.full(quantity_plan().n_sums, 2**62), of=quantity_plan()
    ),
    "search: nominal shorter": lambda: search(nominal=np.zeros(2, np.uint8)),
    "search: nominal of another type": lambda: search(nominal=np.zeros(3, np.int64)),
    "search: min_share NaN": lambda: search(min_share=np.nan),
    "search: min_share": lambda: search(min_share=0.6),
    "search: min_share negative": lambda: search(min_share=-0.1),
    "search: multiway": lambda: search(multiway="no"),
    "code_values: ints": lambda: code(np.zeros((4, 2), int)),
    "code_values: one column": lambda: code(np.zeros(4)),
    "code_values: fewer begins": lambda: code(begins=(0, 3)),
    "code_values: more begins": lambda: code(begins=(0, 2, 3, 3)),
    "code_values: begins fall": lambda: code(begins=(0, 4, 3)),
    "code_values: begins end early": lambda: code(begins=(0, 1, 2)),
    "code_values: begins end late": lambda: code(begins=(0, 2, 4)),
    "code_values: begins at 1": lambda: code(begins=(1, 2, 3)),
    "code_values: 255 cut points": lambda: code(np.zeros((4, 1)), np.arange(255.0), (0, 255)),
    "code_values: cuts of another type": lambda: _core.code_values(
        np.zeros((4, 1)), np.zeros(1, np.float32), numbers(0, 1)
    ),
    "code_values: cuts unaligned": lambda: _core.code_values(
        np.zeros((4, 1)), unaligned(np.zeros(1)), numbers(0, 1)
    ),
    "code_values: values unaligned": lambda: code(unaligned(np.zeros((4, 2)))),
    "code_values: rows without end": lambda: code(np.broadcast_to(0.0, (2**40, 2))),
    "code_values: rows without end or columns": lambda: code(np.zeros((2**40, 0)), (), (0,)),
    "code_values: cells without end": lambda: _core.code_values(
        np.broadcast_to(0.0, (2**22, 2**20)), np.zeros(0), np.zeros(2**20 + 1, np.uint32)
    ),
    "block_permutation: 65,536 rows": lambda: _core.block_permutation(0, 0, 0, 2**16),
    "block_permutation: rows without end": lambda: _core.block_permutation(0, 0, 0, 2**63),
    "block_permutation: rows negative": lambda: _core.block_permutation(0, 0, 0, -1),
    "block_permutation: number without end": lambda: _core.block_permutation(0, 0, 2**40, 5),
    "block_permutation: seed": lambda: _core.block_permutation(0.5, 0, 0, 5),
}


def turned_requests():
    """Shadows before columns themselves: the sums are the same in another order."""
    forward, turned = (
        plan(),
        plan(request_column=numbers(2, 1, 0, 0, 1), request_shadow=numbers(1, 0, 0, 2, 0)),
    )
    found = []
    for of in (forward, turned):
        sums, counts = zeros(of)
        of.add(*block(300), 0, sums, counts)
        found.append((sums, counts))
    assert np.array_equal(found[0][1], found[1][1])
    sizes = [24, 18, 30]  # of the first tree
    first, second, third = np.split(found[0][0][:72], np.cumsum(sizes)[:-1])
    assert np.array_equal(found[1][0][:72], np.concatenate([third, second, first]))


ANSWERED: dict[str, Callable[[], object]] = {
    "LevelPlan of no trees": lambda: plan(
        **{name: numbers(0) for name in ("nodes_of", "requests_of")},
        **{name: numbers() for name in ("node_column", "first_child", "slot", "n_slots", "depth")},
        **{name: numbers() for name in ("request_column", "request_shadow")},
        child_of=np.zeros(0, np.uint8),
    ).add(*block(), 0, np.zeros(0, np.int64), np.zeros(0, np.int64)),
    "LevelPlan that goes in a circle": lambda: add(
        of=plan(first_child=numbers(1, 0, 0, 0), depth=numbers(64, 0))
    ),
    "LevelPlan without slots": lambda: add(of=plan(n_slots=numbers(0, 1), slot=numbers(*[NO_SLOT] * 3, 0))),
    "LevelPlan without requests": lambda: add(
        of=plan(requests_of=numbers(0, 0, 0), request_column=numbers(), request_shadow=numbers())
    ),
    "LevelPlan, shadows before columns": turned_requests,
    "LevelPlan, many classes": lambda: add(of=plan(n_codes=2**16)),
    "LevelPlan, the largest score": lambda: add(of=plan(scores=numbers(0, 1, 2**24 - 1)), n_rows=65_535),
    "add no rows": lambda: add(n_rows=0),
    "add one row": lambda: add(n_rows=1),
    "add 65,535 rows": lambda: add(n_rows=65_535),
    "add codes beyond their width": lambda: add(codes=np.full((3, 6), 255, np.uint8)),
    "search of nothing": lambda: search(sums=np.zeros(plan().n_sums, np.int64)),
    "search of nominal nothing": lambda: search(
        sums=np.zeros(plan().n_sums, np.int64), nominal=np.ones(3, np.uint8)
    ),
    "search of scores without rows": lambda: search(
        of=quantity_plan(), sums=np.tile([0, 5], quantity_plan().n_sums // 2)
    ),
    "search of many rows": lambda: search(sums=ones_with(2**40)),
    "search, one branch per category": lambda: search(nominal=np.ones(3, np.uint8), multiway=True),
    "code_values of no rows": lambda: code(np.zeros((0, 2))),
    "code_values of no columns": lambda: code(np.zeros((4, 0)), (), (0,)),
    "code_values of infinity": lambda: code(np.array([[np.inf, -np.inf], [np.nan, 0.0]], np.float32)),
    "code_values, cuts NaN": lambda: code(cuts=(np.nan, np.inf, -np.inf)),
    "code_values, cuts fall": lambda: code(np.arange(8.0).reshape(4, 2), cuts=(5.0, 1.0, 0.0)),
    "code_values turned": lambda: code(np.arange(8.0).reshape(4, 2)[::-1, ::-1]),
    "block_permutation of no rows": lambda: _core.block_permutation(0, 0, 0, 0),
    "block_permutation of 65,535 rows": lambda: _core.block_permutation(2**64 - 1, 2**64 - 1, 0, 65_535),
}

if __name__ == "__main__":
    report_all(REFUSED, ANSWERED)
