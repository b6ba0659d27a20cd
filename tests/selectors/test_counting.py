"""Codes, counts and ranks of many columns at a time are those of one column after another."""

import numpy as np
import pytest

from foresift.data.table import make_table
from foresift.selectors.relevance import counting
from foresift.selectors.relevance.column_ranks import (
    CURVES,
    curves_by_code,
    normal_scores,
    ranks_by_code,
)
from foresift.selectors.relevance.counting import code_counts
from foresift.selectors.relevance.pooling import log_effective_levels


def make(seed):
    """Continuous, tied, constant, nominal and rare columns, with missing values in some."""
    rng = np.random.default_rng(seed)
    n, columns = 60, {}
    for j in range(30):
        values = (rng.normal(size=n), rng.integers(4, size=n), np.zeros(n), rng.random(n) < 0.05)[j % 4]
        values = values.astype(float)
        if j % 3 == 0:
            values[rng.random(n) < rng.random()] = np.nan
        columns[f"number {j}"] = values
        columns[f"category {j}"] = rng.choice(["a", "b", "c", None], p=[0.5, 0.2, 0.2, 0.1], size=n)
    return make_table(columns, rng.integers(2, size=n))


def literal_ranks(codes, n_values, nominal, least):
    """Scores of the codes of one column as the definition has them; None with too few rows."""
    counts = np.bincount(codes, minlength=n_values + 1)
    counts[n_values] = 0
    n_known, most = counts.sum(), counts.max()
    if min(most if nominal else n_known, n_known - most) < least:
        return None
    if nominal:
        ranks = np.where(np.arange(n_values + 1) == counts.argmax(), n_known, 0) - most
    else:
        ranks = normal_scores(twice_ranks(counts), counts)
    ranks[n_values] = 0
    return ranks


def literal_curve(codes, n_values, nominal, least, curve):
    """The same of a curve."""
    counts = np.bincount(codes, minlength=n_values + 1)
    counts[n_values] = 0
    if nominal or np.count_nonzero(counts) <= curve.n_equal:
        return None
    scores = curve.scores(twice_ranks(counts), counts)
    if counts.sum() - max(counts[scores == one].sum() for one in scores) < least:
        return None
    scores[n_values] = 0
    return scores


def twice_ranks(counts):
    return np.array([2 * counts[:code].sum() + counts[code] - counts.sum() for code in range(len(counts))])


@pytest.mark.parametrize("cells", [1, 500, 2**17])
@pytest.mark.parametrize("every_row", [True, False])
@pytest.mark.parametrize("curve", [None, *CURVES], ids=lambda curve: curve.name if curve else "ranks")
def test_scores_of_many_columns_are_those_of_each(monkeypatch, cells, every_row, curve):
    scored, literal, more = (
        (curves_by_code, literal_curve, [curve]) if curve else (ranks_by_code, literal_ranks, [])
    )
    monkeypatch.setattr(counting, "_CELLS", cells)
    table = make(seed=3)
    rows = np.arange(table.n_rows) if every_row else np.arange(0, table.n_rows, 3)
    columns, least, n_found = np.arange(table.n_columns)[::-1], 5.0, 0
    for some in code_counts(table, columns, rows):
        by_code, usable = scored(some, table.store, least, *more)
        for at, (column, counts) in enumerate(zip(some.columns.tolist(), some.each(), strict=True)):
            assert column == columns[n_found]
            n_found += 1
            codes, n_values = np.asarray(table.store.codes(column))[rows], table.store.n_values(column)
            assert np.array_equal(counts, np.bincount(codes, minlength=n_values + 1))
            own = literal(codes, n_values, table.store.is_nominal(column), least, *more)
            assert (own is not None) == (at in usable)
            if own is not None:
                assert np.array_equal(by_code[some.places[at]], own[codes])
    assert n_found == table.n_columns


def test_effective_levels_are_those_of_each_column():
    table = make(seed=4)
    weights = (np.arange(table.n_rows) % 4 > 0).astype(float)
    found = log_effective_levels(table, weights)
    for j in range(table.n_columns):
        shares = np.unique(np.asarray(table.store.codes(j))[weights > 0], return_counts=True)[1] / 45
        entropy = -(shares * np.log(shares)).sum()
        assert found[j] == pytest.approx(entropy + 1000 * table.store.is_nominal(j), abs=1e-12)
