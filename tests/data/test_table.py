"""The same values give the same codes in every container (bad data: test_table_errors.py)."""

import copy
import decimal
import pickle
import tracemalloc

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from foresift.data.table import make_table

NAN = np.nan
MATRIX = np.array([[1.5, 0.0, NAN], [0.0, -2.0, 3.0], [1.5, 0.0, 0.0], [7.0, 1e300, 3.0]])
NAMES = ["a", "b", "c"]


def all_codes(table):
    return [table.store.codes(j).tolist() for j in range(table.n_columns)]


def columns_of(matrix):
    return {name: matrix[:, j].copy() for j, name in enumerate(NAMES)}


NUMERIC_CONTAINERS = {
    "c order": lambda m: m,
    "fortran order": np.asfortranarray,
    "every other column": lambda m: np.repeat(m, 2, axis=1)[:, ::2],
    "reversed": lambda m: m[::-1, ::-1].copy()[::-1, ::-1],
    "big endian": lambda m: m.astype(">f8"),
    "objects": lambda m: m.astype(object),
    "objects with None": lambda m: np.where(np.isnan(m), None, m.astype(object)),
    "lists": lambda m: m.tolist(),
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "dok": sparse.dok_matrix,
    "mapping": columns_of,
    "mapping of lists": lambda m: {k: v.tolist() for k, v in columns_of(m).items()},
    "mapping of series": lambda m: {k: pl.Series(v) for k, v in columns_of(m).items()},
    "pandas": lambda m: pd.DataFrame(m, columns=NAMES),
    "pandas without names": pd.DataFrame,
    "pandas Float64": lambda m: pd.DataFrame(m, columns=NAMES).astype("Float64"),
    "pandas arrow": lambda m: pd.DataFrame(m, columns=NAMES).astype("float64[pyarrow]"),
    "pandas sparse": lambda m: pd.DataFrame(m, columns=NAMES).astype(pd.SparseDtype(float, 0.0)),
    "pandas object": lambda m: pd.DataFrame(m, columns=NAMES).astype(object),
    "polars": lambda m: pl.DataFrame(m, schema=NAMES),
    "polars with null": lambda m: pl.DataFrame(m, schema=NAMES).fill_nan(None),
    "pyarrow": lambda m: pa.table(columns_of(m)),
    "narwhals": lambda m: nw.from_native(pd.DataFrame(m, columns=NAMES)),
    "pyarrow in chunks": lambda m: pa.concat_tables(
        [pa.table(columns_of(m[:2])), pa.table(columns_of(m[2:]))]
    ),
}


@pytest.mark.parametrize("container", NUMERIC_CONTAINERS)
def test_numbers_give_the_same_codes_in_every_container(container):
    X = NUMERIC_CONTAINERS[container](MATRIX)
    before = copy.deepcopy(X)
    table = make_table(X)
    assert all_codes(table) == [[1, 0, 1, 2], [1, 0, 1, 2], [2, 1, 0, 1]]
    assert [table.store.values(j).tolist() for j in range(3)] == [[0, 1.5, 7], [-2, 0, 1e300], [0, 3]]
    assert [table.store.has_missing(j) for j in range(3)] == [False, False, True]
    assert not any(table.store.is_nominal(j) for j in range(3))
    assert (table.n_rows, table.n_columns, table.target) == (4, 3, None)
    encoded = table.schema.encode(X)
    np.testing.assert_array_equal(encoded.astype(float), MATRIX)
    if not sparse.issparse(X):
        assert str(X) == str(before)


@pytest.mark.parametrize("n_rows", [40, 5000])  # frames are read column by column when they are long
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_alternating_dtypes(make, n_rows):
    rng = np.random.default_rng(0)
    columns = {}
    for k in range(4):
        columns |= {f"f{k}": rng.normal(size=n_rows), f"g{k}": rng.normal(size=n_rows).astype("float32")}
        columns |= {
            f"i{k}": rng.integers(-9, 9, n_rows),
            f"h{k}": rng.integers(0, 200, n_rows, dtype="uint8"),
        }
        columns |= {f"b{k}": rng.random(n_rows) < 0.5, f"s{k}": rng.choice(["x", "y", "z"], n_rows)}
    table = make_table(make(columns))
    assert table.schema.names == tuple(columns)
    for j, (name, values) in enumerate(columns.items()):
        np.testing.assert_array_equal(table.store.codes(j), np.unique(values, return_inverse=True)[1])
        assert table.store.is_nominal(j) == (name[0] in "bs")
    encoded = table.schema.encode(make(columns))
    np.testing.assert_array_equal(encoded[:, 5], table.store.codes(5))
    np.testing.assert_array_equal(encoded[:, 0], columns["f0"])


TEXT = ["b", None, "a", "b", "c"]
TEXT_CONTAINERS = {
    "mapping of list": {"s": TEXT},
    "mapping of objects": {"s": np.array(TEXT, dtype=object)},
    "mapping with NaN": {"s": np.array(["b", NAN, "a", "b", "c"], dtype=object)},
    "objects": np.array(TEXT, dtype=object)[:, None],
    "lists": [[value] for value in TEXT],
    "pandas str": pd.DataFrame({"s": TEXT}),
    "pandas object": pd.DataFrame({"s": pd.Series(TEXT, dtype=object)}),
    "pandas string": pd.DataFrame({"s": pd.array(TEXT, dtype="string")}),
    "pandas arrow": pd.DataFrame({"s": pd.array(TEXT, dtype="string[pyarrow]")}),
    "pandas category": pd.DataFrame({"s": pd.Categorical(TEXT)}),
    "pandas ordered": pd.DataFrame({"s": pd.Categorical(TEXT, ["z", "c", "b", "a"], ordered=True)}),
    "polars": pl.DataFrame({"s": TEXT}),
    "polars categorical": pl.DataFrame({"s": pl.Series(TEXT, dtype=pl.Categorical)}),
    "polars enum": pl.DataFrame({"s": pl.Series(TEXT, dtype=pl.Enum(["z", "c", "b", "a"]))}),
    "pyarrow": pa.table({"s": TEXT}),
    "pyarrow large": pa.table({"s": pa.array(TEXT, pa.large_string())}),
    "pyarrow dictionary": pa.table({"s": pa.array(TEXT).dictionary_encode()}),
}


@pytest.mark.parametrize("container", TEXT_CONTAINERS)
def test_text_gives_the_same_codes_in_every_container(container):
    X = TEXT_CONTAINERS[container]
    table = make_table(X)
    assert all_codes(table) == [[1, 3, 0, 1, 2]]
    assert table.store.is_nominal(0)
    assert table.store.n_values(0) == 3
    assert table.schema.categories[0].tolist() == ["a", "b", "c"]
    schema = pickle.loads(pickle.dumps(table.schema))
    np.testing.assert_array_equal(schema.encode(X), [[1], [NAN], [0], [1], [2]])


OTHER_DTYPES = {  # column, nominal?, codes
    "numpy bool": (np.array([True, False, True]), True, [1, 0, 1]),
    "only True": (np.array([True, True, True]), True, [0, 0, 0]),
    "numpy text": (np.array(["b", "a", "b"]), True, [1, 0, 1]),
    "numpy bytes": (np.array([b"b", b"a", b"b"]), True, [1, 0, 1]),
    "bool objects": (np.array([True, False, None], dtype=object), True, [1, 0, 2]),
    "numpy bool objects": (np.array([np.True_, np.False_, None], dtype=object), True, [1, 0, 2]),
    "pandas boolean": (pd.array([True, None, False], dtype="boolean"), True, [1, 2, 0]),
    "pandas arrow bool": (pd.array([True, None, False], dtype="bool[pyarrow]"), True, [1, 2, 0]),
    "polars boolean": (pl.Series([True, None, False]), True, [1, 2, 0]),
    "numbers as categories": (pd.Categorical([7, 3, None]), True, [1, 0, 2]),
    "dictionary of numbers": (
        pa.chunked_array([pa.array([7, None, 3]).dictionary_encode()]),
        True,
        [1, 2, 0],
    ),
    "dates as categories": (
        pd.Categorical(pd.to_datetime(["2021-05-01", None, "2020-05-01"])),
        True,
        [1, 2, 0],
    ),
    "intervals": (pd.cut([1, 2, 3], 2), True, [0, 0, 1]),
    "float16": (np.array([2, 1, NAN], dtype="float16"), False, [1, 0, 2]),
    "long double": (np.array([2, 1, NAN], dtype="longdouble"), False, [1, 0, 2]),
    "int8": (np.array([2, -1, 2], dtype="int8"), False, [1, 0, 1]),
    "uint64": (np.array([2, 1, 2**63], dtype="uint64"), False, [1, 0, 2]),
    "pandas Int64": (pd.array([2, None, 1], dtype="Int64"), False, [1, 2, 0]),
    "pandas arrow int": (pd.array([2, None, 1], dtype="int64[pyarrow]"), False, [1, 2, 0]),
    "polars int": (pl.Series([2, None, 1]), False, [1, 2, 0]),
    "pandas.NA among numbers": (np.array([2, pd.NA, 1.5], dtype=object), False, [1, 2, 0]),
    "decimals": (np.array([decimal.Decimal("1.5"), None, 1], dtype=object), False, [1, 2, 0]),
    "polars decimal": (pl.Series(["1.5", None, "1"]).cast(pl.Decimal(9, 2)), False, [1, 2, 0]),
    "all None": (np.array([None, None, None]), True, [0, 0, 0]),
    "all NaN": (np.array([NAN, NAN, NAN]), False, [0, 0, 0]),
    "polars null": (pl.Series([None, None, None]), False, [0, 0, 0]),
    "constant": (np.array([3.0, 3.0, 3.0]), False, [0, 0, 0]),
}


@pytest.mark.parametrize("case", OTHER_DTYPES)
def test_dtypes(case):
    values, nominal, codes = OTHER_DTYPES[case]
    if isinstance(values, pd.api.extensions.ExtensionArray):
        values = pd.Series(values)
    table = make_table({"x": values})
    assert all_codes(table) == [codes]
    assert table.store.is_nominal(0) == nominal
    encoded = table.schema.encode({"x": values})[:, 0]
    missing = np.array(codes) == table.store.n_values(0)
    np.testing.assert_array_equal(np.isnan(encoded), missing)
    if nominal:
        np.testing.assert_array_equal(encoded[~missing], np.array(codes)[~missing])


def numbers(dtype):
    width = 8 * np.dtype(dtype).itemsize
    cells = st.floats(allow_infinity=False, width=width) | st.sampled_from([0.0, -0.0, 1.0, NAN])
    return hnp.arrays(dtype, st.tuples(st.integers(1, 30), st.integers(1, 3)), elements=cells)


@settings(deadline=None)
@given(numbers(np.float64) | numbers(np.float32))
@example(np.array([[5e-324], [-5e-324], [0.0], [-0.0], [NAN]]))
@example(np.array([[np.finfo(float).max], [np.finfo(float).min], [np.finfo(float).tiny]]))
@example(np.array([[1.0], [np.nextafter(1, 2)], [np.nextafter(1, 0)]]))
def test_codes_are_ranks_of_the_values(X):
    table = make_table(X)
    assert table.schema.encode(X) is X
    for j, x in enumerate(X.T.astype(float)):
        codes, values = table.store.codes(j), table.store.values(j)
        missing = np.isnan(x)
        assert codes.dtype == np.uint8
        assert np.all(np.diff(values) > 0)
        assert len(values) == table.store.n_values(j) == len(set(x[~missing]))
        assert np.all(codes[missing] == len(values))
        assert np.all(values[codes[~missing]] == x[~missing])
        assert table.store.has_missing(j) == missing.any()


@settings(deadline=None)
@given(st.lists(st.none() | st.text(max_size=3), min_size=1, max_size=30))
def test_codes_of_text_are_positions_in_the_sorted_categories(values):
    X = {"s": np.array(values, dtype=object)}
    table = make_table(X)
    known = table.schema.categories[0].tolist()
    assert known == sorted(set(values) - {None})
    for value, code, number in zip(values, table.store.codes(0), table.schema.encode(X)[:, 0], strict=True):
        assert code == (len(known) if value is None else known.index(value))
        assert np.isnan(number) if value is None else number == code


@settings(deadline=None, max_examples=30)
@given(hnp.arrays(float, st.tuples(st.integers(2, 40), st.just(2)), elements=st.floats(-9, 9) | st.just(NAN)))
def test_nominal_numbers(X):
    table = make_table(X, categorical_features=[1])
    assert [table.store.is_nominal(j) for j in range(2)] == [False, True]
    codes = table.store.codes(1).astype(float)
    codes[np.isnan(X[:, 1])] = NAN
    np.testing.assert_array_equal(table.schema.encode(X), np.column_stack([X[:, 0], codes]))


def test_wide_codes_and_bins():
    x = np.random.default_rng(0).permutation(3000).astype(float)[:, None]
    exact = make_table(x).store
    assert exact.codes(0).dtype == np.uint16
    assert not exact.is_binned(0)
    np.testing.assert_array_equal(exact.codes(0), x[:, 0])
    assert [make_table(x[x[:, 0] < n]).store.codes(0).itemsize for n in (255, 256)] == [1, 2]
    binned = make_table(x, max_bins=16).store
    assert binned.is_binned(0)
    assert binned.n_values(0) <= 16
    assert np.all(np.diff(binned.codes(0)[x[:, 0].argsort()].astype(int)) >= 0)


MIXED = pd.DataFrame({"n": [1.0, 2.0, 1.0], "s": ["x", "y", None], "b": [True, False, True], "i": [5, 5, 9]})


@pytest.mark.parametrize(
    ("wanted", "nominal"),
    [
        ("from_dtype", [False, True, True, False]),
        (["s", "i"], [False, True, False, True]),
        ([1, 3], [False, True, False, True]),
        (np.array([3, 1]), [False, True, False, True]),
        ([False, True, True, True], [False, True, True, True]),
        (pl.Series(["n", "s"]), [True, True, False, False]),
    ],
)
def test_categorical_features(wanted, nominal):
    table = make_table(MIXED, categorical_features=wanted)
    assert table.schema.nominal.tolist() == nominal
    assert [table.store.is_nominal(j) for j in range(4)] == nominal
    assert all_codes(table) == [[0, 1, 0], [0, 1, 2], [1, 0, 1], [0, 0, 1]]
    numeric = make_table(MIXED.drop(columns="s"), categorical_features=None)
    assert not numeric.schema.nominal.any()
    np.testing.assert_array_equal(numeric.schema.encode(MIXED.drop(columns="s"))[:, 1], [1, 0, 1])


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (None, "column 's' holds text: could not convert string to float: 'x'"),
        ([], "column 's' holds text"),
        (["i"], "column 's' holds text"),
        (["s", "q"], r"unknown columns: \['q'\]"),
        ([4], r"unknown columns: \[4\]; X has 4 columns"),
        ([-1], r"unknown columns: \[-1\]"),
        ([True, False], "a mask for 2 columns, but X has 4"),
        ([1.5], "must be 'from_dtype', None, or a list"),
        ("s", "must be 'from_dtype', None, or a list"),
    ],
)
def test_bad_categorical_features(wanted, message):
    with pytest.raises(ValueError, match=message):
        make_table(MIXED, categorical_features=wanted)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_boolean_matrices_are_nominal(make):
    table = make_table(make(MATRIX > 0))
    assert table.schema.nominal.all()
    assert all_codes(table) == [[1, 0, 1, 1], [0, 0, 0, 1], [0, 1, 0, 1]]
    np.testing.assert_array_equal(table.schema.encode(make(MATRIX > 0)), MATRIX > 0)


def test_names_need_a_frame():
    with pytest.raises(ValueError, match=r"unknown columns: \['a'\]; X has 3 columns without names"):
        make_table(MATRIX, categorical_features=["a"])


def test_new_data():
    schema = make_table(MIXED, categorical_features=["s", "i", "b"]).schema
    new = {"n": [NAN, 0.0], "s": ["q", None], "b": [False, None], "i": [9, 7]}
    np.testing.assert_array_equal(schema.encode(new), [[NAN, -1, 0, 1], [0, NAN, NAN, -1]])
    np.testing.assert_array_equal(schema.encode(pl.DataFrame(new)), schema.encode(new))
    np.testing.assert_array_equal(schema.encode(new | {"b": [0.0, 1.0]})[:, 2], [0, 1])
    np.testing.assert_array_equal(schema.encode(new | {"s": [NAN, NAN]})[:, 1], [NAN, NAN])
    np.testing.assert_array_equal(schema.encode(new | {"s": np.array([None, None])})[:, 1], [NAN, NAN])
    with pytest.raises(TypeError, match="column 's' holds numbers, but held text when fitted"):
        schema.encode(new | {"s": [1, 2]})
    with pytest.raises(TypeError, match="column 'i' holds text, but held numbers when fitted"):
        schema.encode(new | {"i": ["9", "7"]})
    with pytest.raises(ValueError, match=r"column 'n' holds text.*'z'\. It was numeric when fitted"):
        schema.encode(new | {"n": ["z", None]})
    with pytest.raises(ValueError, match="infinity"):
        schema.encode(new | {"n": [np.inf, 0.0]})
    only_true = make_table(np.array([[True], [True]])).schema
    assert only_true.encode(np.array([[True], [False]])).tolist() == [[0], [-1]]
    never_seen = make_table({"s": np.array([None, None])}).schema
    assert (
        never_seen.encode({"s": ["a", "b"]}).tolist()
        == never_seen.encode({"s": [1, 2]}).tolist()
        == [[-1]] * 2
    )


@pytest.mark.filterwarnings("ignore:X has feature names")
def test_encode_keeps_single_precision():
    schema = make_table(MATRIX).schema
    narrow = np.zeros((2, 3), dtype=np.float32)
    for X in (narrow, sparse.csr_array(narrow), pl.DataFrame(narrow), narrow.astype("int16")):
        assert schema.encode(X).dtype == np.float32
    assert schema.encode(narrow.astype("int32")).dtype == np.float64
    assert schema.encode(pd.DataFrame(narrow, columns=NAMES).astype(float)).flags.c_contiguous


def peak_memory(call):
    """Bytes that Python and NumPy hold at most during a call."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", ["float64", "float32", "pandas", "polars", "pyarrow"])
def test_floats_reach_the_store_without_a_copy(kind):
    base = np.asfortranarray(np.ones((200_000, 3), dtype="float32" if kind == "float32" else "float64"))
    frames = {"pandas": lambda: pd.DataFrame(base, copy=False), "polars": lambda: pl.DataFrame(base, NAMES)}
    frames["pyarrow"] = lambda: pa.table([pa.array(base[:, j]) for j in range(3)], names=NAMES)
    X = frames.get(kind, lambda: base)()
    make_table(X[:10])  # imports
    assert peak_memory(lambda: make_table(X)) < 0.25 * base.nbytes  # less than a copy of one column


def test_sparse_is_never_dense_as_a_whole():
    X = sparse.random(1000, 20_000, density=0.001, format="csr", random_state=0)
    dense = 8 * X.shape[0] * X.shape[1]
    assert peak_memory(lambda: make_table(X)) < 0.6 * dense
    few = X[:, :50]
    table = make_table(few)
    assert all(table.store.n_values(j) == len(np.unique(few[:, [j]].toarray())) for j in range(50))
    batches = list(table.schema.encode_batches(few, max_cells=10_000))
    assert [len(batch) for batch in batches] == [200] * 5
    np.testing.assert_array_equal(np.vstack(batches), few.toarray())
    assert len(list(table.schema.encode_batches(few.toarray()))) == 1


def test_columns_that_are_rows_of_one_array_are_not_copied():
    whole = np.random.default_rng(0).normal(size=(5, 30)).round(1)
    whole[2, 3] = np.nan
    names = list("abcde")
    views = dict(zip(names, whole, strict=True))
    alone = {name: row.copy() for name, row in views.items()}
    table, apart = make_table(views), make_table(alone)
    assert table.schema == apart.schema
    for j in range(5):
        assert table.store.codes(j).tolist() == apart.store.codes(j).tolist()
    matrix = table.schema.encode(views)
    assert np.shares_memory(matrix, whole)
    np.testing.assert_array_equal(matrix, apart.schema.encode(alone))


@pytest.mark.parametrize("take", [[1, 0, 2], [0, 1], [0, 2], [0, 0, 2]])
def test_other_views_of_an_array_are_columns_like_any(take):
    whole = np.arange(12.0).reshape(3, 4)
    views = {f"c{k}": whole[j] for k, j in enumerate(take)}
    for some in (views, views | {"c0": whole[take[0]][::-1]}, views | {"c0": whole[:, 0].repeat(2)[:4]}):
        encoded = make_table(some).schema.encode(some)
        np.testing.assert_array_equal(encoded, np.column_stack(list(some.values())))


def assert_same_table(one, other):
    assert one.schema == other.schema
    assert one.target.codes.tolist() == other.target.codes.tolist()
    assert one.target.labels.tolist() == other.target.labels.tolist()
    for j in range(one.n_columns):
        first, second = np.asarray(one.store.codes(j)), np.asarray(other.store.codes(j))
        assert first.dtype == second.dtype
        assert first.tolist() == second.tolist()
        assert one.store.values(j).tolist() == other.store.values(j).tolist()
        for ask in ("n_values", "is_nominal", "has_missing", "is_binned"):
            assert getattr(one.store, ask)(j) == getattr(other.store, ask)(j)


@settings(deadline=None)
@given(numbers(np.float64) | numbers(np.float32), st.data())
def test_rows_are_coded_as_they_would_be_alone(X, data):
    n = len(X)
    words = data.draw(st.lists(st.none() | st.text(max_size=2), min_size=n, max_size=n))
    y = data.draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n))
    rows = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=2 * n)))
    whole = {**{f"x{j}": X[:, j] for j in range(X.shape[1])}, "word": np.array(words, dtype=object)}
    taken = make_table(whole, y).take_rows(rows)
    alone = make_table({name: column[rows] for name, column in whole.items()}, np.array(y)[rows])
    assert_same_table(taken, alone)
    assert np.array_equal(taken.numbers(), alone.numbers(), equal_nan=True)


def test_rows_of_wide_codes_and_bins():
    X = np.arange(1000.0)[:, np.newaxis]
    rows, y = np.arange(0, 1000, 5), np.arange(1000) % 2
    assert_same_table(make_table(X, y).take_rows(rows), make_table(X[rows], y[rows]))
    binned = make_table(X, y, max_bins=10).take_rows(rows)
    assert binned.store.is_binned(0)
    assert binned.store.values(0).tolist() == list(range(99, 1000, 100))
    with pytest.raises(ValueError, match="rows"):
        make_table(X, y).take_rows(np.array([1000]))
