"""Random tables, targets and weights, most of them usable, many of them hostile."""

import datetime
import decimal
import fractions
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

ODD_TEXT = [
    "",
    " ",
    "\0",
    "é",
    "e\u0301",
    "😀",
    "\u202e",
    "nan",
    "NaN",
    "None",
    "1",
    "-inf",
    "ß",
    "\ud800",
    "a" * 300,
]
EXTREMES = [
    1e308,
    -1e308,
    1.7e308,
    1e-300,
    -1e-300,
    5e-324,
    -0.0,
    0.0,
    1.0,
    2.0**53,
    2.0**53 + 2,
    1e154,
    1e155,
]


def pick(rng, options):
    """One of a sequence, as it is (rng.choice would make NumPy values of it)."""
    return options[int(rng.integers(len(options)))]


def chance(rng, share):
    return bool(rng.random() < share)


def _objects(values):
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _holes(rng, values, hole=None):
    values = _objects(list(values))
    values[rng.random(len(values)) < 0.2] = hole
    return values


def _texts(rng, n, words):
    return _objects([pick(rng, words) for _ in range(n)])


def _with_nan(rng, n):
    values = rng.normal(size=n)
    values[rng.random(n) < rng.random()] = np.nan
    return values


# Every kind of column that some reader is meant to take: rng and the number of rows -> a 1-D array.
USABLE = {
    "normal": lambda rng, n: rng.normal(size=n),
    "few integers": lambda rng, n: rng.integers(0, 4, n),
    "unique integers": lambda rng, n: rng.permutation(n),
    "constant": lambda rng, n: np.full(n, pick(rng, [0.0, 1.0, -0.0, 1e300, 7.0])),
    "missing here and there": _with_nan,
    "all missing": lambda rng, n: np.full(n, np.nan),
    "signed zeros": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, -0.0),
    "extremes": lambda rng, n: np.array([pick(rng, EXTREMES) for _ in range(n)], dtype=np.float64),
    "many magnitudes": lambda rng, n: rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-300, 307, n),
    "huge": lambda rng, n: rng.normal(size=n) * 1e307,
    "tiny": lambda rng, n: rng.normal(size=n) * 1e-310,
    "neighbours": lambda rng, n: 1.0 + rng.integers(0, 3, n) * np.finfo(float).eps,
    "far from zero": lambda rng, n: 1e15 + rng.integers(0, 9, n),
    "64-bit extremes": lambda rng, n: rng.choice(np.array([-(2**63), 2**63 - 1, 0], dtype=np.int64), n),
    "unsigned extremes": lambda rng, n: rng.choice(np.array([2**64 - 1, 0, 1], dtype=np.uint64), n),
    "bytes of one bit": lambda rng, n: rng.choice(np.array([-128, 127], dtype=np.int8), n),
    "single precision": lambda rng, n: (rng.normal(size=n) * 1e37).astype(np.float32),
    "half precision": lambda rng, n: rng.normal(size=n).astype(np.float16),
    "booleans": lambda rng, n: rng.random(n) < 0.5,
    "words": lambda rng, n: _texts(rng, n, ["red", "green", "blue"]),
    "odd words": lambda rng, n: _texts(rng, n, ODD_TEXT),
    "words with holes": lambda rng, n: _holes(rng, _texts(rng, n, ["x", "y"]), pick(rng, [None, np.nan])),
    "unique words": lambda rng, n: _objects([f"id{i}" for i in range(n)]),
    "booleans with holes": lambda rng, n: _holes(rng, (rng.random(n) < 0.5).tolist()),
    "numbers as objects": lambda rng, n: _holes(rng, rng.integers(0, 5, n).tolist()),
    "decimals": lambda rng, n: _objects([decimal.Decimal(int(v)) / 8 for v in rng.integers(0, 9, n)]),
    "fractions": lambda rng, n: _objects([fractions.Fraction(int(v), 3) for v in rng.integers(0, 9, n)]),
    "dates": lambda rng, n: np.datetime64("2020-01-01") + rng.integers(0, 99, n).astype("m8[D]"),
    "durations": lambda rng, n: rng.integers(0, 99, n).astype("m8[s]"),
    "date objects": lambda rng, n: _holes(rng, [datetime.date(2020, 1, 1)] * n),
}
# And those that have to be refused, or are taken by some container only.
HOSTILE = {
    "infinities": lambda rng, n: rng.choice([np.inf, -np.inf, 1.0, np.nan], n),
    "complex": lambda rng, n: rng.normal(size=n) + 1j,
    "bytes": lambda rng, n: _texts(rng, n, [b"a", b"\xff", b""]),
    "mixed": lambda rng, n: _texts(rng, n, [1, "a", None, 2.5, True, b"x", np.nan]),
    "numbers and words": lambda rng, n: _texts(rng, n, [1.0, "1", 2]),
    "lists": lambda rng, n: _objects([[1, 2]] * n),
    "dictionaries": lambda rng, n: _objects([{"a": 1}] * n),
    "enormous integers": lambda rng, n: _texts(rng, n, [10**400, -(10**400), 1]),
    "big integers": lambda rng, n: _texts(rng, n, [10**30, 2**64, 1]),
    "odd decimals": lambda rng, n: _texts(rng, n, [decimal.Decimal("NaN"), decimal.Decimal("Infinity"), 1]),
    "signalling decimals": lambda rng, n: _texts(rng, n, [decimal.Decimal("sNaN"), decimal.Decimal(1)]),
    "missing of all sorts": lambda rng, n: _texts(rng, n, [None, np.nan, pd.NA, pd.NaT]),
    "long doubles": lambda rng, n: np.full(n, np.longdouble("1e4000")),
}


@dataclass(frozen=True)
class Sketch:
    """A table before it is put into a container: named columns, and the name of the container."""

    columns: tuple
    names: tuple
    n_rows: int
    container: str
    about: str

    def made(self, rng):
        """Return the table itself."""
        return CONTAINERS[self.container](rng, self)

    @property
    def width(self):
        return len(self.columns)


def _matrix(sketch, dtype=None):
    if not sketch.columns:
        return np.empty((sketch.n_rows, 0), dtype=dtype or float)
    if dtype is object or any(column.dtype.kind in "OMmVUS" for column in sketch.columns):
        out = np.empty((sketch.n_rows, sketch.width), dtype=object)
        for j, column in enumerate(sketch.columns):
            out[:, j] = list(column) if column.dtype.kind == "O" else column
        return out
    with np.errstate(all="ignore"):
        return np.stack(sketch.columns, axis=1).astype(dtype, copy=False)


def _numbers(sketch, dtype=np.float64):
    """All columns as numbers, those that are none as the lengths of their texts."""
    columns = tuple(
        column
        if column.dtype.kind in "fiub"
        else np.array([len(str(value)) % 7 for value in column], dtype=np.float64)
        for column in sketch.columns
    )
    with np.errstate(all="ignore"):
        return _matrix(replace(sketch, columns=columns), np.float64).astype(dtype)


def _strided(values):
    wide = np.zeros((2 * len(values) + 1, 3 * values.shape[1] + 1), dtype=values.dtype)
    view = wide[1::2, 1::3]
    view[...] = values
    return view


def _frozen(values):
    values.setflags(write=False)
    return values


def _unaligned(values):
    record = np.zeros(values.shape, dtype=[("skip", np.int8), ("value", values.dtype)])
    record["value"] = values
    return record["value"]


def _frame(rng, sketch, names=None):
    columns = {}
    for j, column in enumerate(sketch.columns):
        series = pd.Series(column)
        if column.dtype.kind == "b" and chance(rng, 0.3):
            series = series.astype("boolean")
        elif column.dtype.kind in "iu" and chance(rng, 0.3):
            series = series.astype(column.dtype.name.replace("i", "I").replace("u", "U").replace("UI", "UI"))
            series = series.mask(rng.random(len(series)) < 0.2)
        elif column.dtype.kind == "f" and column.dtype.itemsize in (4, 8) and chance(rng, 0.15):
            series = series.astype(f"Float{8 * column.dtype.itemsize}")
        elif column.dtype.kind == "f" and chance(rng, 0.1):
            series = series.astype(pd.SparseDtype(column.dtype, 0.0))
        elif column.dtype.kind == "O" and chance(rng, 0.4):
            series = _categorical(rng, series)
        columns[j] = series
    frame = pd.DataFrame(columns, index=range(sketch.n_rows))
    frame.columns = list(sketch.names) if names is None else names
    if chance(rng, 0.2) and sketch.n_rows:
        frame.index = rng.permutation(sketch.n_rows) * 3 - 5
    return frame


def _categorical(rng, series):
    try:
        known = list(dict.fromkeys(value for value in series if not _none(value)))
        return pd.Series(pd.Categorical(series, categories=[*known, "unused"], ordered=chance(rng, 0.3)))
    except (TypeError, ValueError):  # which pandas does not take
        return series


def _none(value):
    return value is None or value is pd.NA or value is pd.NaT or value != value


def _polars(rng, sketch):
    columns = []
    for name, column in zip(sketch.names, sketch.columns, strict=True):
        values = [None if _none(v) else v for v in column] if column.dtype.kind == "O" else column
        try:
            series = pl.Series(name, values, strict=True)
        except (Exception, pl.exceptions.PanicException):  # of whatever polars cannot hold
            series = pl.Series(name, [str(value)[:5].encode("ascii", "ignore").decode() for value in values])
        if series.dtype == pl.String and chance(rng, 0.4):
            series = series.cast(pl.Categorical)
        columns.append(series)
    return pl.DataFrame(columns)


def _arrow(rng, sketch):
    columns = {}
    for name, column in zip(sketch.names, sketch.columns, strict=True):
        try:
            values = pa.array(column, from_pandas=chance(rng, 0.5))
        except Exception:  # of whatever pyarrow cannot hold
            values = pa.array([str(value)[:5].encode("ascii", "ignore").decode() for value in column])
        if pa.types.is_string(values.type) and chance(rng, 0.4):
            values = values.dictionary_encode()
        if chance(rng, 0.3):
            values = pa.chunked_array([values[: len(values) // 2], values[len(values) // 2 :]])
        columns[str(name)] = values
    return pa.table(columns)


def _records(rng, sketch):
    kinds = [(f"f{j}", column.dtype) for j, column in enumerate(sketch.columns)]
    out = np.empty(sketch.n_rows, dtype=kinds)
    for j, column in enumerate(sketch.columns):
        out[f"f{j}"] = column
    return out


def _sparse(form):
    def make(rng, sketch):
        values = _numbers(sketch)
        values[rng.random(values.shape) < 0.6] = 0.0
        kind = pick(rng, [np.float64, np.float32, np.int64, bool])
        with np.errstate(all="ignore"):
            return form(values.astype(kind))

    return make


CONTAINERS = {
    "array": lambda rng, s: _matrix(s),
    "numbers": lambda rng, s: _numbers(s),
    "Fortran order": lambda rng, s: np.asfortranarray(_numbers(s)),
    "strided view": lambda rng, s: _strided(_numbers(s)),
    "reversed view": lambda rng, s: _numbers(s)[::-1, ::-1],
    "read-only": lambda rng, s: _frozen(_numbers(s)),
    "read-only objects": lambda rng, s: _frozen(_matrix(s, object)),
    "unaligned": lambda rng, s: _unaligned(_numbers(s)),
    "big endian": lambda rng, s: _numbers(s, ">f8"),
    "float32": lambda rng, s: _numbers(s, np.float32),
    "float16": lambda rng, s: _numbers(s, np.float16),
    "long double": lambda rng, s: _numbers(s, np.longdouble),
    "int64": lambda rng, s: _numbers(s, np.int64),
    "uint8": lambda rng, s: _numbers(s, np.uint8),
    "bool": lambda rng, s: _numbers(s, bool),
    "objects": lambda rng, s: _matrix(s, object),
    "text": lambda rng, s: _matrix(s, object).astype(str),
    "lists": lambda rng, s: _matrix(s, object).tolist(),
    "pandas": _frame,
    "pandas with numbers for names": lambda rng, s: _frame(rng, s, list(range(s.width))),
    "polars": _polars,
    "pyarrow": _arrow,
    "mapping": lambda rng, s: dict(zip(s.names, s.columns, strict=True)),
    "mapping of lists": lambda rng, s: {name: list(c) for name, c in zip(s.names, s.columns, strict=True)},
} | {
    form.__name__: _sparse(form)
    for form in (
        *(sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.bsr_array, sparse.dia_array),
        *(sparse.dok_array, sparse.lil_array, sparse.csr_matrix, sparse.csc_matrix, sparse.dok_matrix),
    )
}
HOSTILE_CONTAINERS = {
    "structured": _records,
    "masked": lambda rng, s: np.ma.masked_array(_numbers(s), rng.random((s.n_rows, s.width)) < 0.2),
    "np.matrix": lambda rng, s: np.asmatrix(_numbers(s)),
    "three-dimensional": lambda rng, s: _numbers(s)[:, :, np.newaxis],
    "one-dimensional": lambda rng, s: _numbers(s).ravel(),
    "zero-dimensional": lambda rng, s: np.array(1.0),
    "complex": lambda rng, s: _numbers(s) + 1j,
    "void": lambda rng, s: np.zeros((s.n_rows, s.width), dtype="V8"),
    "dates": lambda rng, s: np.zeros((s.n_rows, s.width), dtype="M8[D]"),
    "ragged": lambda rng, s: [[0.0] * (1 + j % 3) for j in range(s.n_rows)],
    "ragged mapping": lambda rng, s: {name: [0.0] * j for j, name in enumerate(s.names)},
    "nested mapping": lambda rng, s: {name: [[0.0]] * s.n_rows for name in s.names},
    "mapping by number": lambda rng, s: dict(enumerate(s.columns)),
    "mapping of scalars": lambda rng, s: dict.fromkeys(s.names, 1.0),
    "generator": lambda rng, s: (row for row in _numbers(s)),
    "iterator of rows": lambda rng, s: iter(_numbers(s).tolist()),
    "lazy": lambda rng, s: _polars(rng, s).lazy(),
    "series": lambda rng, s: pd.Series(np.zeros(s.n_rows)),
    "polars series": lambda rng, s: pl.Series(np.zeros(s.n_rows)),
    "same names": lambda rng, s: _frame(rng, s, ["a"] * s.width),
    "mixed names": lambda rng, s: _frame(rng, s, [j if j % 2 else f"c{j}" for j in range(s.width)]),
    "names of tuples": lambda rng, s: _frame(rng, s, [("a", j) for j in range(s.width)]),
    "names of two levels": lambda rng, s: _frame(
        rng, s, pd.MultiIndex.from_tuples([("a", j) for j in range(s.width)])
    ),
    "odd names": lambda rng, s: _frame(rng, s, [ODD_TEXT[j % 14] * (1 + j // 14) for j in range(s.width)]),
    "names of nothing": lambda rng, s: _frame(rng, s, [None] * s.width),
    "nested polars": lambda rng, s: pl.DataFrame({"a": [[1.0]] * s.n_rows, "b": [{"c": 1}] * s.n_rows}),
    "nested pyarrow": lambda rng, s: pa.table({"a": [[1.0]] * s.n_rows}),
    "null columns": lambda rng, s: pa.table({"a": pa.nulls(s.n_rows), "b": pa.nulls(s.n_rows)}),
    "sparse complex": lambda rng, s: sparse.csr_array(_numbers(s) + 1j),
    "sparse infinity": lambda rng, s: sparse.csr_array(np.full((s.n_rows, max(1, s.width)), np.inf)),
    "one-dimensional sparse": lambda rng, s: sparse.coo_array(np.ones(s.n_rows)),
    "None": lambda rng, s: None,
    "word": lambda rng, s: "table",
    "number": lambda rng, s: 3,
    "set": lambda rng, s: {1.0, 2.0},
    "function": lambda rng, s: len,
    "empty list": lambda rng, s: [],
    "list of empty lists": lambda rng, s: [[] for _ in range(s.n_rows)],
    "list of words": lambda rng, s: ["a"] * s.n_rows,
    "list of None": lambda rng, s: [[None] * s.width for _ in range(s.n_rows)],
    "class": lambda rng, s: dict,
}
PLAIN_CONTAINERS = list(CONTAINERS)
CONTAINERS |= HOSTILE_CONTAINERS


def draw_sketch(rng, *, hostile=0.25):
    """Draw a table: how likely each of its parts is one that has to be refused is up to `hostile`."""
    n_rows = int(pick(rng, [12, 25, 40, 60, 100, 300]) * rng.uniform(0.3, 1.0))
    width = int(rng.integers(1, 10))
    if chance(rng, 0.15):
        n_rows, width = pick(rng, [(0, 3), (1, 4), (2, 2), (5, 1), (3, 40), (30, 0), (0, 0), (250, 40)])
    pool = list(USABLE) if chance(rng, 0.7) else [pick(rng, list(USABLE)) for _ in range(2)]
    if chance(rng, 0.4):
        pool = ["normal", "few integers", "missing here and there"]
    kinds = [pick(rng, pool) for _ in range(width)]
    if width and chance(rng, hostile / 2):
        kinds[int(rng.integers(width))] = pick(rng, list(HOSTILE))
    columns = [(USABLE | HOSTILE)[kind](rng, n_rows) for kind in kinds]
    if width > 1 and chance(rng, 0.3):
        columns[-1], kinds[-1] = columns[0], "copy"
    container = (
        pick(rng, list(HOSTILE_CONTAINERS)) if chance(rng, hostile / 2) else pick(rng, PLAIN_CONTAINERS)
    )
    names = tuple(f"c{j}" for j in range(width))
    about = f"{container} of {n_rows} rows, columns {kinds}"
    return Sketch(tuple(columns), names, n_rows, container, about)


def draw_variant(rng, sketch):
    """Draw a table to predict on: the same one, or one that differs in its columns, types or values."""
    how = pick(rng, ["same", "permuted", "retyped", "wider", "narrower", "new values", "rows", "other"])
    columns, names, n = list(sketch.columns), list(sketch.names), sketch.n_rows
    if how == "permuted":
        order = rng.permutation(sketch.width).tolist()
        columns, names = [columns[j] for j in order], [names[j] for j in order]
    elif how == "wider":
        columns, names = [*columns, rng.normal(size=n)], [*names, "extra"]
    elif how == "narrower":
        columns, names = columns[:-1], names[:-1]
    elif how == "new values":
        columns = [_texts(rng, n, ["unseen", *ODD_TEXT[:9]]) if c.dtype.kind == "O" else c for c in columns]
    elif how == "retyped":
        columns = [(USABLE | HOSTILE)[pick(rng, [*USABLE, *HOSTILE])](rng, n) for _ in columns]
    elif how == "rows":
        keep = rng.integers(0, max(n, 1), int(rng.integers(0, 5)) if n else 0)
        columns, n = [column[keep] for column in columns], len(keep)
    elif how == "other":
        return how, draw_sketch(rng, hostile=0.6)
    container = sketch.container if chance(rng, 0.6) else pick(rng, PLAIN_CONTAINERS)
    return how, Sketch(tuple(columns), tuple(names), n, container, f"{how}, {container}")


def draw_target(rng, sketch, *, hostile=0.25):
    """Draw the classes of the rows: mostly some that can be learned."""
    n = sketch.n_rows
    classes = int(pick(rng, [2, 2, 2, 3, 5, min(50, n + 1)]))
    codes = rng.integers(0, classes, n)
    if sketch.columns and sketch.columns[0].dtype.kind in "fiu" and chance(rng, 0.5):
        with np.errstate(all="ignore"):
            codes = (np.argsort(np.argsort(sketch.columns[0].astype(float))) * classes) // max(n, 1)
    if not chance(rng, hostile / 2):
        return pick(rng, list(TARGETS.values()))(codes)
    return pick(rng, list(HOSTILE_TARGETS.values()))(rng, codes)


def draw_quantity(rng, n):
    """Draw numbers to predict: of any scale, with ties, on a large offset, with heavy tails."""
    y = pick(rng, [rng.normal, rng.standard_cauchy, rng.standard_exponential])(size=n)
    y = np.round(y, int(rng.integers(0, 3))) if chance(rng, 0.3) else y
    y = y * 10.0 ** int(rng.integers(-100, 100)) if chance(rng, 0.2) else y
    y = y + 10.0 ** int(rng.integers(0, 12)) if chance(rng, 0.2) else y
    return pick(rng, [y, y, y.astype(np.float32), y.tolist(), pd.Series(y, dtype="Float64"), pl.Series(y)])


TARGETS = {
    "codes": lambda codes: codes,
    "floats": lambda codes: codes.astype(float),
    "words": lambda codes: np.array([f"class {code}" for code in codes], dtype=str),
    "objects": lambda codes: _objects([f"{code}" for code in codes]),
    "booleans": lambda codes: codes % 2 == 0,
    "list": lambda codes: codes.tolist(),
    "series": lambda codes: pd.Series(codes, index=np.arange(len(codes))[::-1]),
    "category": lambda codes: pd.Series(
        pd.Categorical(codes.astype(str), categories=["9", "1", "0", "2"])
    ).fillna("9"),
    "nullable": lambda codes: pd.Series(codes, dtype="Int64"),
    "polars": lambda codes: pl.Series(codes.astype(str)),
    "arrow": lambda codes: pa.chunked_array([pa.array(codes)]),
    "negative": lambda codes: -codes * 1000,
    "read-only": lambda codes: _frozen(codes.copy()),
    "odd words": lambda codes: _objects([ODD_TEXT[code % 13] for code in codes]),
}
HOSTILE_TARGETS = {
    "one class": lambda rng, codes: np.zeros(len(codes)),
    "unique": lambda rng, codes: rng.permutation(len(codes)),
    "continuous": lambda rng, codes: rng.normal(size=len(codes)),
    "missing": lambda rng, codes: np.where(rng.random(len(codes)) < 0.2, np.nan, codes),
    "holes": lambda rng, codes: _holes(rng, [f"{code}" for code in codes], pick(rng, [None, pd.NA, np.nan])),
    "infinite": lambda rng, codes: np.where(codes == 0, np.inf, codes),
    "mixed": lambda rng, codes: _objects([code if code % 2 else f"{code}" for code in codes.tolist()]),
    "mixed numbers": lambda rng, codes: _objects(
        [float(code) if code % 2 else code for code in codes.tolist()]
    ),
    "nullable holes": lambda rng, codes: pd.Series(codes, dtype="Int64").mask(codes == 1),
    "polars holes": lambda rng, codes: pl.Series([None if code == 1 else code for code in codes.tolist()]),
    "short": lambda rng, codes: codes[:-1],
    "long": lambda rng, codes: np.append(codes, [0, 1]),
    "column": lambda rng, codes: codes[:, np.newaxis],
    "two columns": lambda rng, codes: np.stack([codes, codes], axis=1),
    "frame": lambda rng, codes: pd.DataFrame({"y": codes}),
    "dates": lambda rng, codes: codes.astype("M8[D]"),
    "complex": lambda rng, codes: codes * 1j,
    "bytes": lambda rng, codes: np.array([b"%d" % code for code in codes], dtype="S"),
    "lists": lambda rng, codes: _objects([[code] for code in codes]),
    "tuples": lambda rng, codes: _objects([(code,) for code in codes.tolist()]),
    "dictionaries": lambda rng, codes: _objects([{} for _ in codes]),
    "structured": lambda rng, codes: np.zeros(len(codes), dtype=[("a", int)]),
    "sparse": lambda rng, codes: sparse.csr_array(codes[np.newaxis, :]),
    "enormous": lambda rng, codes: _objects([10**400 if code else 0 for code in codes]),
    "extremes": lambda rng, codes: np.where(codes == 0, -(2**63), 2**63 - 1),
    "None": lambda rng, codes: None,
    "number": lambda rng, codes: 1,
    "word": lambda rng, codes: "y",
    "mapping": lambda rng, codes: {"y": codes},
    "generator": lambda rng, codes: (code for code in codes),
    "empty": lambda rng, codes: [],
}


def draw_weights(rng, n):
    """Draw the weights of the rows: mostly None or usable ones."""
    return pick(rng, WEIGHTS if chance(rng, 0.3) else WEIGHTS[:4])(rng, n)


WEIGHTS = [
    lambda rng, n: None,
    lambda rng, n: None,
    lambda rng, n: rng.random(n),
    lambda rng, n: rng.integers(0, 3, n),
    lambda rng, n: np.zeros(n),
    lambda rng, n: -rng.random(n),
    lambda rng, n: np.full(n, np.nan),
    lambda rng, n: np.full(n, np.inf),
    lambda rng, n: np.full(n, pick(rng, [1e-300, 1e-100, 1e18, 1e19, 1e60, 1e99, 1e200, 5e-324, 1e308])),
    lambda rng, n: 10.0 ** rng.uniform(-300, 90, n),
    lambda rng, n: np.ones(n + 1),
    lambda rng, n: np.ones((n, 1)),
    lambda rng, n: np.ones((n, 2)),
    lambda rng, n: np.eye(1, max(n, 1))[0],
    lambda rng, n: ["a"] * n,
    lambda rng, n: [None] * n,
    lambda rng, n: pd.Series(rng.random(n), index=np.arange(n)[::-1]),
    lambda rng, n: pl.Series(rng.random(n)),
    lambda rng, n: pick(rng, [0.0, 2.0, -1, np.nan, "a", 1j, True, {}, []]),
    lambda rng, n: np.ones(n, dtype=complex),
    lambda rng, n: np.ones(n, dtype=bool),
]
