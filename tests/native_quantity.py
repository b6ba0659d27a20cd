"""Calls of the native module with a quantity and odd arguments; run as `native_cases.py` is."""

from collections.abc import Callable

import numpy as np
from native_cases import BIG, C45, ROWS, grower, ints, report_all, small_store, unaligned

from foresift import _core

ODD_VALUES = (np.nan, np.inf, -np.inf, 1e300, -1e151)


def best_value_split(x=(1.0, 2.0, 3.0), y=(0.5, 1.0, 1.5), weights=(1.0, 1.0, 1.0), missing="learn"):
    return _core.best_value_split(*(np.array(array, dtype=np.float64) for array in (x, y, weights)), missing)


def nominal_value_split(codes=(0, 1, 1), n_categories=2, y=(0.5, 1.0, 1.5), weights=(1.0, 1.0, 1.0)):
    y, weights = np.array(y, dtype=np.float64), np.array(weights, dtype=np.float64)
    return _core.nominal_value_split(ints(*codes), n_categories, y, weights, False, "learn")


def value_grower(y=(0.5, 1.0, 1.5, 0.0, 2.0, 1.0), weights=None, **options):
    y = y if isinstance(y, np.ndarray) else np.array(y, dtype=np.float64)
    return _core.Grower(small_store(), y, weights, _core.GrowOptions(**{"criterion": "variance", **options}))


def vote(shape):
    value_grower().vote([0], np.zeros(1, np.uint32), 1, ROWS, np.zeros(shape))


REFUSED: dict[str, Callable[[], object]] = {
    "best_value_split: no rows": lambda: best_value_split((), (), ()),
    "best_value_split: classes": lambda: _core.best_value_split(np.ones(2), ints(0, 1), np.ones(2), "learn"),
    "best_value_split: fewer values": lambda: best_value_split(y=(0.5, 1.0)),
    "best_value_split: fewer weights": lambda: best_value_split(weights=(1.0,)),
    "best_value_split: weights of 0": lambda: best_value_split(weights=(0.0, 0.0, 0.0)),
    "best_value_split: negative weight": lambda: best_value_split(weights=(1.0, -1.0, 1.0)),
    "best_value_split: infinite x": lambda: best_value_split(x=(1.0, np.inf, 2.0)),
    "best_value_split: rule": lambda: best_value_split(missing="luck"),
    "best_value_split: unaligned": lambda: _core.best_value_split(
        np.ones(9), unaligned(np.arange(9.0)), np.ones(9), "learn"
    ),
    "nominal_value_split: no rows": lambda: nominal_value_split((), 0, (), ()),
    "nominal_value_split: code too large": lambda: nominal_value_split(codes=(0, 1, 70_000)),
    "nominal_value_split: code negative": lambda: nominal_value_split(codes=(0, 1, -2)),
    "nominal_value_split: categories without end": lambda: nominal_value_split(n_categories=BIG),
    "nominal_value_split: fewer codes": lambda: nominal_value_split(codes=(0, 1)),
    **{
        f"{call.__name__}: {value}": lambda call=call, value=value: call(y=(0.5, value, 1.0))
        for call in (best_value_split, nominal_value_split)
        for value in ODD_VALUES
    },
    **{
        f"Grower: {value}": lambda value=value: value_grower(y=(0.5, value, 1.0, 0.0, 2.0, 1.0))
        for value in ODD_VALUES
    },
    **{
        f"Grower: {dtype}": lambda dtype=dtype: value_grower(np.arange(6).astype(dtype))
        for dtype in ("f4", "i4", "i8", "O", "U3", ">f8", "c16", "?")
    },
    **{
        f"Grower: {options}": lambda options=options: value_grower(**options)
        for options in (
            *({"criterion": name} for name in ("entropy", "gini", "gain_ratio", "ssv", "luck")),
            *({"c45": True, "missing": "fractional"}, C45, {"finish": True}, {"cut_penalty": True}),
            *({"min_leaf": np.nan}, {"n_thresholds": BIG}, {"n_shadows": 1, "n_permutations": 1}),
        )
    },
    "Grower: variance of classes": lambda: grower(criterion="variance"),
    "Grower: rows": lambda: value_grower((0.5, 1.0)),
    "Grower: no rows": lambda: value_grower(()),
    "Grower: two columns": lambda: value_grower(np.ones((6, 1))),
    "Grower: strided": lambda: value_grower(np.arange(12.0)[::2]),
    "Grower: weights": lambda: value_grower(weights=np.full(6, np.nan)),
    "Grower: weights of 0": lambda: value_grower(weights=np.zeros(6)),
    "vote: out too wide": lambda: vote((6, 2)),
    "vote: out too short": lambda: vote((5, 1)),
}

ANSWERED: dict[str, Callable[[], object]] = {
    "best_value_split, one row": lambda: best_value_split((1.0,), (2.0,), (1.0,)),
    "best_value_split, most rows of weight 0": lambda: best_value_split(weights=(0.0, 1.0, 0.0)),
    "best_value_split, far apart": lambda: best_value_split(y=(1e150, -1e150, 1e-300), weights=(1e149,) * 3),
    "nominal_value_split, no value": lambda: nominal_value_split(codes=(-1, -1, -1)),
    "Grower without aligned memory": lambda: value_grower(unaligned(np.arange(6.0))).grow([0]),
    "Grower of one value": lambda: value_grower(np.ones(6)).grow([0]),
    "Grower of tiny steps": lambda: value_grower(np.arange(6) * 5e-324).grow([0]),
    "Grower of all sizes": lambda: value_grower((1e150, -1e150, 1e-318, 0.0, 2e-318, -0.0)).grow([0]),
    "Grower of tiny steps among others": lambda: value_grower((1.0, 2.0, 1e-318, 0.0, 2e-318, -0.0)).grow(
        [0]
    ),
    "Grower of tiny steps, recorded": lambda: value_grower(
        np.arange(6) * 5e-324, record_tried=True, n_permutations=2
    ).grow([0]),
    "Grower of one value, recorded": lambda: value_grower(np.ones(6), record_tried=True).grow([0]),
    "Grower with weights of all sizes": lambda: value_grower(
        weights=np.array([1e149, 1e-300, 5e-324, 1.0, 0.0, 1e100])
    ).grow([0]),
    "vote": lambda: vote((6, 1)),
}

if __name__ == "__main__":
    report_all(REFUSED, ANSWERED)
