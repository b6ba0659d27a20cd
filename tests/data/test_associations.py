"""Associations of columns equal those of SciPy and of formulas written out."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from foresift.data.associations import MAX_ROWS, associations
from foresift.data.table import make_table


def table(seed=0, n=400):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    X = pd.DataFrame(
        {
            "x": x,
            "tied": np.round(-x + rng.normal(size=n)),
            "sign": np.where(x + 0.3 * rng.normal(size=n) > 0, "plus", "minus"),
            "letter": rng.choice(list("abcd"), n),
            "noise": rng.normal(size=n),
        }
    )
    X.loc[rng.random(n) < 0.2, "tied"] = np.nan
    X.loc[rng.random(n) < 0.2, "letter"] = None
    return X


def test_numeric_pairs_have_the_rank_correlation():
    X = table()
    found = associations(make_table(X), [0, 1, 4])
    both = X[["x", "tied"]].dropna()
    assert found[0, 1] == pytest.approx(abs(stats.spearmanr(both.x, both.tied)[0]))
    assert found[0, 2] == pytest.approx(abs(stats.spearmanr(X.x, X.noise)[0]))
    assert (found == found.T).all()
    assert (np.diag(found) == 1).all()


def test_nominal_pairs_have_cramers_v():
    X = table()
    both = X[["sign", "letter"]].dropna()
    counts = pd.crosstab(both.sign, both.letter).to_numpy()
    chi2 = stats.chi2_contingency(counts, correction=False)[0]
    n, (r, c) = counts.sum(), counts.shape
    phi = max(0, chi2 / n - (r - 1) * (c - 1) / (n - 1))
    v = np.sqrt(phi / min(r - (r - 1) ** 2 / (n - 1) - 1, c - (c - 1) ** 2 / (n - 1) - 1))
    assert associations(make_table(X), [2, 3])[0, 1] == pytest.approx(v)
    same = make_table({"a": list("abc") * 20, "b": list("xyz") * 20})
    assert associations(same, [0, 1])[0, 1] == pytest.approx(1)


def test_mixed_pairs_have_the_correlation_ratio():
    X = table()
    ranks = stats.rankdata(X.x)
    groups = [ranks[X.sign == sign] for sign in ("plus", "minus")]
    total = ((ranks - ranks.mean()) ** 2).sum()
    within = sum(((some - some.mean()) ** 2).sum() for some in groups)
    corrected = 1 - within / (len(ranks) - 2) / (total / (len(ranks) - 1))
    assert associations(make_table(X), [0, 2])[0, 1] == pytest.approx(np.sqrt(corrected))


def test_noise_is_near_zero_whatever_the_kind():
    rng = np.random.default_rng(1)
    X = {"x": rng.normal(size=500), "code": rng.choice([f"c{k}" for k in range(40)], 500)}
    X["other"] = rng.permutation(X["code"])
    found = associations(make_table(X), [0, 1, 2])
    assert found[np.triu_indices(3, 1)].max() < 0.25  # 40 categories of 500 rows would have 0.28 by chance


def test_constant_missing_and_many_rows():
    n = MAX_ROWS + 100
    X = {"x": np.arange(float(n)), "same": np.ones(n), "rare": np.r_[np.arange(5.0), np.full(n - 5, np.nan)]}
    X["opposite"] = -X["x"]
    found = associations(make_table(X), [0, 1, 2, 3])
    assert found[0, 1] == 0
    assert np.isnan(found[0, 2])
    assert found[0, 3] == pytest.approx(1)


def test_rows_without_weight_do_not_count():
    x = np.r_[np.arange(50.0), np.arange(50.0)]
    y = np.r_[np.arange(50.0), np.random.default_rng(0).permutation(50)]
    weights = np.r_[np.ones(50), np.zeros(50)]
    assert associations(make_table({"x": x, "y": y}), [0, 1], weights)[0, 1] == pytest.approx(1)


def test_categories_that_never_repeat_have_no_association():
    names = [f"id{i}" for i in range(30)]
    found = associations(make_table({"id": names, "copy": names, "x": np.arange(30.0)}), [0, 1, 2])
    assert np.isnan(found[np.triu_indices(3, 1)][[0, 1]]).all()
