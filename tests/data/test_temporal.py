"""Dates, times and durations in every container: the numbers that files give, in units that never change."""

import datetime
import math
import warnings
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from foresift import (
    C45Classifier,
    CartClassifier,
    CartRegressor,
    InfoGainSelector,
    NetworkClassifier,
    RelevanceSelector,
    SiftForestClassifier,
    SSVTreeClassifier,
    SubsetBaggingClassifier,
    compare,
    select,
)
from foresift.criteria import information_gain
from foresift.data.numeric_coding import ValueTable
from foresift.data.slices import sliceable
from foresift.data.table import make_table
from foresift.data.temporal import DAYS, SECONDS
from foresift.reading.files import open_table
from foresift.reading.splitting import split_table

DATES = [datetime.date(2024, 2, 29), None, datetime.date(1969, 12, 31), datetime.date(1, 1, 1)]
TIMES = [
    datetime.datetime(2024, 2, 29, 13, 5, 7, 123_457),
    None,
    datetime.datetime(1969, 12, 31, 23, 59, 59, 500_000),
    datetime.datetime(1700, 1, 1),
]
LENGTHS = [
    datetime.timedelta(days=2, microseconds=3),
    None,
    -datetime.timedelta(seconds=1.5),
    datetime.timedelta(),
]
CLOCKS = [datetime.time(23, 59, 59, 999_999), None, datetime.time(0), datetime.time(1, 30)]
BERLIN = ZoneInfo("Europe/Berlin")
ZONED = [None if time is None else time.replace(tzinfo=datetime.UTC).astimezone(BERLIN) for time in TIMES]
EPOCH = datetime.datetime(1970, 1, 1)
SECOND = datetime.timedelta(seconds=1)
NUMBERS = {
    "dates": ([19782.0, np.nan, -1.0, -719162.0], DAYS),
    "times": ([np.nan if time is None else (time - EPOCH) / SECOND for time in TIMES], SECONDS),
    "lengths": ([172800.000003, np.nan, -1.5, 0.0], "seconds"),
    "clocks": ([86399.999999, np.nan, 0.0, 5400.0], "seconds since midnight"),
}


def objects(values):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def arrow(values, kind=None):
    return pa.chunked_array([pa.array(values[:1], kind), pa.array(values[1:], kind)])


def arrow_in_pandas(values, kind):
    return pd.Series(pa.array(values, kind), dtype=pd.ArrowDtype(kind))


COLUMNS = {
    "dates": {
        "objects": objects(DATES),
        "list": DATES,
        "numpy": np.array(DATES, dtype="datetime64[D]"),
        "polars": pl.Series(DATES),
        "pyarrow": arrow(DATES),
        "pyarrow date64": arrow(DATES, pa.date64()),
        "pandas": pd.Series(DATES),
        "pandas and pyarrow": arrow_in_pandas(DATES, pa.date32()),
    },
    "times": {
        "objects": objects(TIMES),
        "objects in a zone": objects(ZONED),
        "list": TIMES,
        "numpy": np.array(TIMES, dtype="datetime64[us]"),
        "numpy ns": np.array(TIMES, dtype="datetime64[ns]"),
        "numpy objects": objects([None if t is None else np.datetime64(t, "us") for t in TIMES]),
        "timestamps": objects([pd.NaT if t is None else pd.Timestamp(t) for t in TIMES]),
        "timestamps in a zone": objects([pd.NaT if t is None else pd.Timestamp(t) for t in ZONED]),
        "pandas": pd.Series(TIMES),
        "pandas ns": pd.Series(TIMES).astype("datetime64[ns]"),
        "pandas in a zone": pd.Series(pd.to_datetime(TIMES, utc=True)).dt.tz_convert("Europe/Berlin"),
        "pandas and pyarrow": arrow_in_pandas(ZONED, pa.timestamp("us", "Europe/Berlin")),
        "polars": pl.Series(TIMES),
        "polars in a zone": pl.Series(TIMES).dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo"),
        "pyarrow": arrow(TIMES),
        "pyarrow in a zone": arrow(TIMES, pa.timestamp("ns", "America/Lima")),
    },
    "lengths": {
        "objects": objects(LENGTHS),
        "timedeltas": objects([pd.NaT if t is None else pd.Timedelta(t) for t in LENGTHS]),
        "numpy": np.array(LENGTHS, dtype="timedelta64[us]"),
        "pandas": pd.Series(LENGTHS),
        "polars": pl.Series(LENGTHS),
        "pyarrow": arrow(LENGTHS),
    },
    "clocks": {
        "objects": objects(CLOCKS),
        "polars": pl.Series(CLOCKS),
        "pyarrow": arrow(CLOCKS),
        "pandas and pyarrow": arrow_in_pandas(CLOCKS, pa.time64("us")),
    },
}
CASES = [(kind, name) for kind, columns in COLUMNS.items() for name in columns]


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_every_container_gives_the_same_numbers(kind, name):
    column, (numbers, unit) = COLUMNS[kind][name], NUMBERS[kind]
    table = ValueTable.open({"n": [1.0, 2.0, 3.0, 4.0], "t": column})
    np.testing.assert_array_equal(table.values[:, 1], numbers)
    assert table.schema.units == ("", unit)
    assert table.schema.kinds == ["numeric", "date"]
    np.testing.assert_array_equal(table.schema.encode({"n": [1.0] * 4, "t": column})[:, 1], numbers)


@pytest.mark.parametrize(("kind", "name"), [case for case in CASES if case != ("dates", "numpy")])
def test_frames_and_arrays_of_objects(kind, name):
    column, (numbers, unit) = COLUMNS[kind][name], NUMBERS[kind]
    frame = {
        "polars": pl.DataFrame,
        "pyarrow": lambda columns: pa.table({key: pa.chunked_array(value) for key, value in columns.items()}),
    }.get(name.split()[0], pd.DataFrame)
    X = frame({"t": column})
    table = make_table(X)
    assert table.schema.units == (unit,)
    np.testing.assert_array_equal(table.numbers()[:, 0], numbers)
    if name != "pyarrow date64":  # NumPy has times of it
        np.testing.assert_array_equal(make_table(np.asarray(X)).numbers()[:, 0], numbers)
    np.testing.assert_array_equal(np.asarray(sliceable(X), dtype=float)[:, 0], numbers)


def test_periods_are_their_first_moment():
    periods = pd.Series(pd.PeriodIndex(["2024-02", "NaT"], freq="M"))
    expected = [1706745600.0, np.nan]
    for column in (periods, objects(periods)):
        table = make_table({"t": column})
        np.testing.assert_array_equal(table.numbers()[:, 0], expected)
        assert table.schema.units == (SECONDS,)


def test_all_missing_and_categories_and_chosen_columns():
    nothing = make_table(pl.DataFrame({"t": pl.Series([None, None], dtype=pl.Date), "n": [1, 2]})).schema
    assert nothing.units == (DAYS, "")
    assert np.isnan(nothing.encode(pl.DataFrame({"t": [None, None], "n": [1, 2]}))[:, 0]).all()
    dates = pd.to_datetime(["2024-01-01", "2024-01-02"])
    category = make_table({"t": pd.Series(pd.Categorical(dates))}).schema
    assert (category.kinds, category.units) == (["categorical"], ())
    chosen = make_table({"t": pd.Series(dates)}, categorical_features=["t"]).schema
    assert (chosen.kinds, chosen.units) == (["categorical"], (SECONDS,))
    other = {"t": objects([datetime.date(2024, 1, 2), datetime.date(2025, 1, 1), None])}
    np.testing.assert_array_equal(chosen.encode(other)[:, 0], [1, -1, np.nan])
    assert make_table({"a": [1, 2], "t": dates}).take(np.array([1])).schema.units == (SECONDS,)


@given(
    st.lists(
        st.datetimes(datetime.datetime(1678, 1, 1), datetime.datetime(2261, 1, 1)), min_size=1, max_size=9
    )
)
def test_numbers_do_not_depend_on_the_resolution(times):
    coarse = [time.replace(microsecond=time.microsecond // 1000 * 1000) for time in times]
    expected = [(time - EPOCH) / SECOND for time in coarse]  # correctly rounded by Python
    for dtype in ("datetime64[ms]", "datetime64[us]", "datetime64[ns]", object):
        table = make_table({"t": np.array(coarse, dtype=dtype)})
        assert table.numbers()[:, 0].tolist() == expected


def test_durations_keep_nanoseconds_and_wide_units():
    for unit, second in {"h": 1 / 3600, "m": 1 / 60, "ns": 1e9, "ps": 1e12}.items():
        found = make_table({"t": np.array([1, 7], f"timedelta64[{unit}]")}).numbers()[:, 0]
        np.testing.assert_allclose(found, [1 / second, 7 / second], rtol=1e-15)
    years = make_table({"t": np.array(["1970", "1972"], "datetime64[Y]")})
    assert (years.numbers()[:, 0].tolist(), years.schema.units) == ([0.0, 730.0], (DAYS,))


def test_numbers_are_those_of_files(tmp_path):
    columns = {name: pa.chunked_array([some["pyarrow"].combine_chunks()]) for name, some in COLUMNS.items()}
    table = pa.table({**columns, "y": [0, 1, 0, 1]})
    pq.write_table(table, tmp_path / "t.parquet")
    split = split_table(open_table(tmp_path / "t.parquet").read(), "y")
    ours = make_table(table.drop_columns("y"))
    for j, name in enumerate(columns):
        np.testing.assert_allclose(split.columns[name], ours.numbers()[:, j], rtol=1e-15)
    assert {d.name: d.why for d in split.decisions} == {
        name: f"dates, taken as {unit}" for name, (_, unit) in NUMBERS.items()
    }


RNG = np.random.default_rng(0)
WHEN = np.datetime64("2020-01-01T00:00:00", "s") + RNG.integers(0, 400, 120) * np.timedelta64(86_400, "s")
FRAME = pd.DataFrame({"noise": RNG.normal(size=120), "when": WHEN})
LATE = np.where(np.datetime64("2020-08-01") < WHEN, "late", "early")
AS_DATES = FRAME.assign(when=FRAME["when"].dt.date)
MODELS = [
    CartClassifier(),
    C45Classifier(),
    SSVTreeClassifier(),
    SiftForestClassifier(5, random_state=0),
    NetworkClassifier(random_state=0),
    SubsetBaggingClassifier(n_estimators=3, random_state=0),
    SubsetBaggingClassifier(GaussianNB(), n_estimators=3, random_state=0),
    make_pipeline(InfoGainSelector(1), DecisionTreeClassifier(random_state=0)),
    make_pipeline(RelevanceSelector(1, n_estimators=20, random_state=0), CartClassifier()),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_dates_and_times_agree_and_other_columns_are_refused(model):
    fitted = clone(model).fit(FRAME, LATE)
    expected = fitted.predict(FRAME)
    for other in (
        AS_DATES,
        pl.from_pandas(FRAME),
        pl.from_pandas(AS_DATES),
        FRAME.astype({"when": "M8[ns]"}),
    ):
        np.testing.assert_array_equal(fitted.predict(other), expected)
    of_dates = clone(model).fit(AS_DATES, LATE)
    np.testing.assert_array_equal(of_dates.predict(FRAME), of_dates.predict(AS_DATES))
    with pytest.raises(TypeError, match=r"'when' holds plain numbers, but seconds since 1970 .* when fitted"):
        fitted.predict(FRAME.assign(when=1.5))
    with pytest.raises(
        TypeError, match=r"'when' holds seconds .* but seconds since 1970 .* convert it to wha"
    ):
        fitted.predict(FRAME.assign(when=FRAME["when"] - FRAME["when"].min()))
    plain = clone(model).fit(FRAME.assign(when=WHEN.astype(float)), LATE)
    with pytest.raises(TypeError, match=r"'when' holds seconds since 1970 .* but plain numbers when fitted"):
        plain.predict(FRAME)


def test_transform_gives_numbers_in_the_fitted_unit():
    selector = InfoGainSelector(1).fit(AS_DATES, LATE)
    days = selector.transform(AS_DATES)
    assert days.dtype == np.float64
    np.testing.assert_array_equal(selector.transform(FRAME), days)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an array has no names
        np.testing.assert_array_equal(selector.transform(AS_DATES.to_numpy()), days)
    kept = clone(selector).set_output(transform="pandas").fit(FRAME, LATE).transform(FRAME)
    pd.testing.assert_frame_equal(kept, FRAME[["when"]])
    array = np.stack([WHEN, WHEN + np.timedelta64(1, "D")], axis=1)
    both = InfoGainSelector(2).fit(array, LATE).transform(array)
    np.testing.assert_array_equal(both, array.astype("datetime64[s]").astype(float))


def test_nested_lists_of_times():
    day, y = datetime.timedelta(days=1), [0] * 20 + [1] * 20
    X = [[datetime.datetime(2024, 1, 1) + i * day, i % 3, "ab"[i % 2]] for i in range(40)]
    for rows in (X, [row[:1] for row in X]):
        selector = InfoGainSelector(1).fit(rows, y)
        assert selector.transform(rows)[:2].tolist() == [[1704067200.0], [1704153600.0]]
        assert make_pipeline(InfoGainSelector(1), DecisionTreeClassifier()).fit(rows, y).score(rows, y) == 1
    assert select(X, y, "info-gain", 1).features == ["x0"]


def test_select_and_compare_and_trees_show_dates():
    found = select(FRAME, LATE, random_state=0)
    assert found.features == ["when"]
    assert {row["name"]: row["kind"] for row in found.ranking} == {"when": "date", "noise": "numeric"}
    assert found.data["decisions"] == [
        {"name": "when", "kind": "date", "why": "dates, taken as seconds since 1970"}
    ]
    assert "The rows are observed at the dates of when." in found.sentence
    assert "taken as seconds since 1970" in found.to_html()
    other = select(pl.from_pandas(AS_DATES), LATE, random_state=0, estimator=GaussianNB())
    assert other.features == ["when"]
    rows = compare(
        FRAME, LATE, ["info-gain"], ["nb", ("tree", DecisionTreeClassifier())], cv=3, sizes=[1]
    ).rows
    assert all(math.isfinite(row.mean) for row in rows)
    assert "when <= 2020-08-02T00:00:00: early" in C45Classifier().fit(FRAME, LATE).export_text()
    assert "when <= 2020-08-02: early" in C45Classifier().fit(AS_DATES, LATE).export_text()


def test_one_column_of_dates():
    expected = information_gain(WHEN.astype(float), LATE)
    for column in (WHEN, FRAME["when"], AS_DATES["when"], pl.Series(AS_DATES["when"].tolist())):
        assert information_gain(column, LATE) == expected


def test_dates_are_no_target():
    dates = FRAME["when"]
    for y in (dates, dates.to_numpy(), dates.dt.date, pl.Series(dates.tolist()), dates.astype("category")):
        for call in (CartClassifier().fit, CartRegressor().fit, RelevanceSelector().fit, select, compare):
            with pytest.raises(
                TypeError, match=r"y holds dates or times .* to numbers, .* or to text if these"
            ):
                call(FRAME[["noise"]], y)
    with pytest.raises(TypeError, match=r"y holds dates or times"):
        compare(FRAME[["noise"]], dates, task="classification")
    with pytest.raises(TypeError, match=r"y holds dates or times"):
        information_gain(FRAME["noise"], dates)


def test_text_that_looks_like_dates_is_categorical():
    X = FRAME.assign(when=FRAME["when"].dt.strftime("%Y-%m-%d"))
    assert make_table(X).schema.kinds == ["numeric", "categorical"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert "The rows are observed at the dates of when." in select(X, LATE, check=False).sentence
