"""Filters of rows that come in batches: all rows count, and scores are those of a table in memory."""

import warnings

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from sklearn.naive_bayes import GaussianNB

from foresift import (
    CFSSelector,
    FScoreSelector,
    InfoGainSelector,
    MutualInfoSelector,
    PearsonSelector,
    SubsetSizeCV,
    select,
)
from foresift.data.row_source import Batch, RowSource
from foresift.engine.local_blocks import LocalBlocks
from foresift.errors import InputError
from foresift.selectors import block_candidates

SCHEMES = ["mim", "mrmr", "jmi", "cmim", "disr"]
KINDS = ["two", "three", "quantity"]
pytestmark = pytest.mark.filterwarnings("ignore:No feature passed the rule")


def make(kind, n=30_011, seed=0):
    """Columns of at most 255 values: numbers, text, missing values, a constant; and a target."""
    rng = np.random.default_rng(seed)
    words = np.array(["u", "v", "w"], dtype=object)
    X = {
        "cut": rng.integers(0, 50, n).astype(float),
        "noise": rng.integers(0, 200, n).astype(float),
        "constant": np.full(n, 0.1),
        "text": words[rng.integers(0, 3, n)],
        "holes": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 9, n)),
        "flag": np.where(rng.random(n) < 0.1, None, words[rng.integers(0, 2, n)]),
        "many": np.array([f"w{k:03}" for k in rng.integers(0, 200, n)], dtype=object),
        "far": 1e9 + rng.integers(0, 3, n),
    }
    score = X["cut"] / 50 + (X["text"] == "u") + np.nan_to_num(X["holes"]) / 9 + rng.random(n)
    score += (X["far"] - 1e9) / 5
    if kind == "quantity":
        return X, np.minimum(np.round(score, 2), 3.0) + 0.005
    return X, np.digitize(score, [1.5, 2.2][: KINDS.index(kind) + 1])


def arrow(X, y):
    columns = {name: pa.array(values.tolist(), from_pandas=True) for name, values in X.items()}
    return pa.table({**columns, "y": y})


def same(selector, fitted, exact):
    assert selector.scores_ == pytest.approx(exact.scores_, rel=1e-9, abs=1e-9, nan_ok=True)
    assert selector.ranking_.tolist() == exact.ranking_.tolist()
    assert selector.support_.tolist() == exact.support_.tolist()
    assert selector.schema_.names == tuple(fitted)
    assert selector.feature_names_in_.tolist() == list(fitted)


def both(selector, X, y, source=None):
    """The same selector of the batches and of the table; no sample may be drawn."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*sample of")
        stream = arrow(X, y).to_reader(max_chunksize=7001) if source is None else source
        in_batches = type(selector)(**selector.get_params()).fit(stream, "y")
    exact = type(selector)(**selector.get_params()).fit(X, y)
    same(in_batches, X, exact)
    return in_batches, exact


@pytest.mark.parametrize("kind", KINDS)
def test_information_gain_is_that_of_the_table(kind):
    X, y = make(kind)
    in_batches, exact = both(InfoGainSelector(), X, y)
    assert in_batches.gains_ == pytest.approx(exact.gains_, abs=1e-9)
    assert in_batches.gains_[2] == 0
    if kind != "quantity":
        both(InfoGainSelector(ratio=True), X, y)


def test_gain_ratio_needs_classes():
    X, y = make("quantity", 2000)
    with pytest.raises(ValueError, match="ratio=False"):
        InfoGainSelector(ratio=True).fit(arrow(X, y).to_reader(), "y")


@pytest.mark.parametrize("kind", KINDS)
def test_gains_of_continuous_columns_are_close(kind):
    rng = np.random.default_rng(3)
    n = 60_000
    X = {f"x{j}": rng.normal(size=n) for j in range(6)}
    X["x5"][rng.random(n) < 0.3] = np.nan
    score = sum(X[f"x{j}"] * (3 - j) for j in range(3)) + np.nan_to_num(X["x5"]) + rng.standard_cauchy(n)
    y = (
        np.clip(score, -20, 20)
        if kind == "quantity"
        else np.digitize(score, [-1, 2][: KINDS.index(kind) + 1])
    )
    in_batches = InfoGainSelector().fit(arrow(X, y).to_reader(max_chunksize=10_007), "y")
    exact = InfoGainSelector().fit(X, y)
    clear = [0, 1, 2, 5]
    assert in_batches.scores_[clear] == pytest.approx(exact.scores_[clear], rel=1e-2)
    assert np.argsort(in_batches.ranking_)[:4].tolist() == np.argsort(exact.ranking_)[:4].tolist()
    assert (in_batches.scores_[[3, 4]] < 1e-3).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", [PearsonSelector, FScoreSelector])
def test_moments_are_those_of_the_table(method, kind):
    X, y = make(kind)
    rng = np.random.default_rng(1)
    size = X["cut"] + rng.normal(size=len(y))
    late = np.arange(len(y)) > 20_000  # after the first batches
    X |= {
        "continuous": size,
        "large": size * 1e300,
        "small": size * 1e-300,
        "grows": np.where(late, size * 1e200, size * 1e-250),
        "late": np.where(late, size, np.nan),
        "one-sided": np.where(y > np.median(y), np.nan, 1.0),
        "target": 3.0 * y - 1e6,
    }
    both(method(nominal="one-hot"), X, y)


@pytest.mark.parametrize("method", [PearsonSelector, FScoreSelector])
def test_columns_of_many_categories_are_counted_exactly(method):
    rng = np.random.default_rng(5)
    names = np.array([f"w{k}" for k in range(700)], dtype=object)
    X = {"word": names[rng.integers(0, 700, 30_000) ** 2 // 700], "x": rng.normal(size=30_000)}
    for y in ((X["word"] > "w4") ^ (rng.random(30_000) < 0.3), X["x"] + (X["word"] > "w4")):
        both(method(nominal="one-hot"), X, y)


@pytest.mark.parametrize("method", [PearsonSelector, FScoreSelector])
def test_nominal_columns_are_refused_in_the_same_words(method):
    X, y = make("two", 3000)
    with pytest.raises(ValueError, match="'text' is nominal") as of_batches:
        method().fit(arrow(X, y).to_reader(), "y")
    with pytest.raises(ValueError, match="'text' is nominal") as of_table:
        method().fit(X, y)
    assert str(of_batches.value) == str(of_table.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_greedy_orders_are_those_of_the_table(scheme, kind):
    X, y = make(kind)
    in_batches, exact = both(MutualInfoSelector(1.0, scheme=scheme), X, y)
    assert in_batches.relevance_ == pytest.approx(exact.relevance_, abs=1e-9)
    assert in_batches.n_added_ == len(X)


@pytest.mark.parametrize("scheme", ["jmi", "cmim", "disr"])
def test_many_joint_codes_are_counted_in_rounds(scheme, monkeypatch):
    monkeypatch.setattr(block_candidates, "_MAX_CODES", 20)
    X, y = make("three", 25_000)
    both(MutualInfoSelector(1.0, scheme=scheme), X, y)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_stopping_rule_keeps_what_matters(scheme):
    X, y = make("three")
    selector = MutualInfoSelector(scheme=scheme, random_state=0)
    kept = selector.fit(arrow(X, y).to_reader(max_chunksize=7001), "y").get_feature_names_out()
    exact = MutualInfoSelector(scheme=scheme, random_state=0).fit(X, y)
    assert len(set(kept) ^ set(exact.get_feature_names_out())) <= 1  # one step in twenty goes too far
    assert {"cut", "text"} <= set(kept) or scheme == "disr"
    assert selector.shadow_scores_.shape == (selector.n_added_ + 1, 19)
    both = min(len(selector.shadow_scores_), len(exact.shadow_scores_)) - 1
    assert selector.shadow_scores_[:both].mean(axis=1) == pytest.approx(
        exact.shadow_scores_[:both].mean(axis=1), rel=0.02, abs=3e-4
    )


def test_kept_columns_and_groups():
    X, y = make("two")
    both(InfoGainSelector(2, keep=["noise"]), X, y)
    both(PearsonSelector(2, nominal="one-hot", keep=["noise"]), X, y)
    both(MutualInfoSelector(3, keep=["cut"]), X, y)
    groups = {"pair": ["cut", "noise"], "words": ["text", "flag", "many"]}
    greedy = MutualInfoSelector(2, feature_groups=groups, random_state=0)
    of_batches = greedy.fit(arrow(X, y).to_reader(), "y").ranking_.tolist()
    assert (
        of_batches == MutualInfoSelector(2, feature_groups=groups, random_state=0).fit(X, y).ranking_.tolist()
    )
    for selector in (InfoGainSelector(feature_groups=groups), MutualInfoSelector(missing="pairwise")):
        with pytest.warns(UserWarning, match="random sample of"):
            selector.fit(arrow(X, y).to_reader(), "y")


def selectors():
    return [
        InfoGainSelector(),
        InfoGainSelector(ratio=True),
        PearsonSelector(nominal="one-hot"),
        FScoreSelector(nominal="one-hot"),
        MutualInfoSelector(3, scheme="jmi"),
    ]


def test_parts_and_batches_do_not_matter(tmp_path):
    X, y = make("three")
    del X["constant"]  # columns of one value are not read from text
    table = arrow(X, y)
    folder = tmp_path / "parts"
    folder.mkdir()
    ends = [0, 1, 5000, 5100, 17_333, len(y)]
    for k in range(5):
        parquet.write_table(table[ends[k] : ends[k + 1]], folder / f"part-{k}.parquet", row_group_size=999)
    csv.write_csv(table, tmp_path / "table.csv")
    for selector in selectors():
        for source in (str(folder), tmp_path / "table.csv", table.to_reader(max_chunksize=101)):
            both(selector, X, y, source)


def test_threads_do_not_matter():
    X, y = make("two", 150_000)
    found = [
        MutualInfoSelector(n_jobs=n_jobs, random_state=1).fit(arrow(X, y).to_reader(), "y")
        for n_jobs in (1, 3)
    ]
    assert found[0].scores_.tolist() == found[1].scores_.tolist()
    assert found[0].shadow_scores_.tolist() == found[1].shadow_scores_.tolist()


class Shrinking(RowSource):
    """Rows of which fewer come when they are read a third time."""

    source = "the demo"

    def __init__(self, X, y):
        self.X, self.y, self.times = X, y, 0

    def batches(self, part=0):
        self.times += 1
        n = len(self.y) - (self.times > 2)
        yield Batch({name: column[:n] for name, column in self.X.items()}, self.y[:n])


def test_rows_that_change_are_noticed():
    X, y = make("two", 5000)
    del X["text"], X["flag"], X["many"]
    blocks = LocalBlocks(Shrinking(X, y), None, "auto")
    with pytest.raises(InputError, match="do not change it meanwhile"):
        PearsonSelector().fit_blocks(blocks)


def test_batches_where_a_column_is_all_missing():
    X, y = make("two", 20_000)
    column = pa.chunked_array([pa.nulls(10_000, pa.float64()), pa.array(X["cut"][10_000:])])
    table = pa.table({"x": column, "y": y})
    alone = {"x": np.where(np.arange(20_000) < 10_000, np.nan, X["cut"])}
    for selector in (PearsonSelector(), FScoreSelector(), InfoGainSelector(), MutualInfoSelector(1)):
        both(selector, alone, y, table.to_reader(max_chunksize=5000))


@pytest.mark.parametrize("method", ["info-gain", "pearson", "fscore", "mrmr", "jmi"])
@pytest.mark.parametrize("kind", ["two", "quantity"])
def test_select_ranks_all_rows(method, kind, tmp_path):
    X, y = make(kind)
    parquet.write_table(arrow(X, y), tmp_path / "table.parquet")
    of_file = select(tmp_path / "table.parquet", "y", method, 3, check=False)
    of_table = select(X, y, method, 3, check=False)
    assert of_file.selector_.scores_ == pytest.approx(of_table.selector_.scores_, rel=1e-9, abs=1e-9)
    assert not [note for note in of_file.notes if "ranked a random sample" in note]


def test_the_logarithm_of_a_quantity_is_that_of_the_sample(tmp_path):
    X, y = make("quantity")
    parquet.write_table(arrow(X, np.exp(y)), tmp_path / "table.parquet")
    ranked = select(tmp_path / "table.parquet", "y", "pearson", 3, check=False, log_target=True)
    assert [note for note in ranked.notes if "random sample" in note]
    exact = PearsonSelector(nominal="one-hot").fit(X, y)
    assert ranked.selector_.scores_ == pytest.approx(exact.scores_, abs=0.03)
    greedy = select(tmp_path / "table.parquet", "y", "mrmr", 3, check=False, log_target=True)
    assert not [note for note in greedy.notes if "random sample" in note]


def test_sizes_by_cross_validation_come_from_the_sample():
    X, y = make("two")
    X = {name: X[name] for name in ("cut", "noise", "far")}
    size = SubsetSizeCV(GaussianNB(), cv=2)
    for selector in (InfoGainSelector(size), PearsonSelector(size)):
        selector.fit(arrow(X, y).to_reader(), "y")
        assert selector.size_curve_.chosen == selector.support_.sum()
        exact = type(selector)().fit(X, y)
        assert selector.scores_ == pytest.approx(exact.scores_, abs=1e-9)


def test_other_methods_still_take_a_sample():
    X, y = make("two")
    with pytest.warns(UserWarning, match="random sample of"):
        CFSSelector().fit(arrow(X, y).to_reader(), "y")


@pytest.mark.parametrize("cluster", [False, True])
def test_partitions_of_dask(cluster):
    frames = pytest.importorskip("dask.dataframe", reason="needs Dask: pip install 'foresift[dask]'")
    distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'foresift[dask]'")
    X, y = make("three", 25_000)
    frame = frames.from_pandas(arrow(X, y).to_pandas(), npartitions=3)
    client = distributed.Client(processes=False, n_workers=1, dashboard_address=None) if cluster else None
    try:
        for selector in selectors():
            both(selector, X, y, frame)
        shadows = MutualInfoSelector(random_state=0).fit(frame, "y").shadow_scores_
        assert shadows.shape[1] == 19
    finally:
        if client is not None:
            client.close()
