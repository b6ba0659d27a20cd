"""Series with a season: rare columns have a test that holds, columns that repeat with it have none."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from power import few_or_many
from reference_dependent import drift, effective_rows, innovations, places_of_a_season, without_terms
from relevance_cases import exceeds

from foresift import RelevanceSelector, select
from foresift.cli.errors import as_typed
from foresift.cli.terminal import ranking_table
from foresift.data.dependence import Dependence
from foresift.data.table import make_table
from foresift.selectors.relevance.ranks import MIN_RARE, _scores, rank_tests
from foresift.selectors.relevance.untested import nothing_left
from foresift.selectors.relevance.views import views_of

QUICK = {"n_estimators": 12, "random_state": 0, "redundancy": None}


def weekly(seed, n=420, rate=0.05, effect=0.0, task="regression"):
    """A weekly target with autocorrelated noise, and columns: weather, a rare promotion, weekdays."""
    rng = np.random.default_rng(seed)
    day, noise = np.arange(n) % 7, rng.normal(size=n)
    for i in range(1, n):
        noise[i] += 0.6 * noise[i - 1]
    X = pd.DataFrame({"weather": rng.normal(size=n), "promotion": (rng.random(n) < rate).astype(float)})
    X["weekday"] = np.array(["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"])[day]
    X["weekend"] = (day >= 5).astype(int)
    y = X["weather"] + effect * X["promotion"] + 4 * (day >= 5) + noise
    return X, y if task == "regression" else (y > y.median()).astype(int)


def series(X, y, task="regression"):
    table = make_table(np.asarray(X, dtype=float), np.asarray(y), task=task)
    return replace(table, dependence=Dependence(time=np.arange(len(y))))


def fit(X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return RelevanceSelector(**{**QUICK, **options}).fit(X, y, time=np.arange(len(y)))


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("as_text", [False, True])
def test_a_rare_column_is_found_beside_a_season(task, as_text):
    X, y = weekly(0, effect=4, task=task)
    if as_text:
        X["promotion"] = np.where(X["promotion"] > 0, "yes", "no")
    selector = fit(X, y)
    assert selector.relevant_[:2].all()
    assert np.isnan(selector.test_pvalues_["forest"]).all()
    assert 1 not in selector.untested_


def test_columns_of_which_the_season_leaves_nothing_are_not_tested_and_named():
    X, y = weekly(0)
    with pytest.warns(UserWarning, match="nothing of them is left") as caught:
        selector = RelevanceSelector(**QUICK).fit(X, y, time=np.arange(len(y)))
    (said,) = (str(one.message) for one in caught if "not tested" in str(one.message))
    assert said == (
        "2 columns were not tested (weekday, weekend): after the season of the target is removed, nothing of"
        " them is left. To keep them, use keep=['weekday', 'weekend']."
    )
    assert sorted(selector.untested_) == [2, 3]
    assert np.isnan(selector.scores_[2:]).all()
    assert (selector.pvalues_[2:] == 1).all()
    kept = fit(X, y, keep=["weekday"])
    assert kept.support_[2]
    assert kept.untested_ == {
        3: selector.untested_[3].replace("target is", "target and the kept columns are")
    }


def test_sentences_name_a_few_columns():
    why = "after the season of the target is removed, nothing of it is left"
    (said,) = nothing_left(dict.fromkeys(range(5), why), ["a", "b", "c", "d", "e"])
    assert said.startswith("5 columns were not tested (a, b, c and 2 more): ")
    assert said.endswith("nothing of them is left. To keep them, name them in keep.")
    (said,) = nothing_left({3: why}, None)
    assert said.startswith("column 3 was not tested: ")
    assert said.endswith("use keep=[3].")
    assert not nothing_left({3: "it was hardly ever a split candidate"}, None)


def test_a_selection_shows_no_pvalue_of_an_untested_column():
    X, y = weekly(0, effect=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = select(
            X, y, time=np.arange(len(y)), check=False, random_state=0, parameters={"n_estimators": 20}
        )
    (row,) = (row for row in found.ranking if row["name"] == "weekday")
    assert row["relevant"] is None
    assert row["untested"] == "after the season of the target is removed, nothing of it is left"
    for key in ("score", "low", "high", "chance", "pvalue", "adjusted_pvalue", "frequency"):
        assert row[key] is None
    others = [row for row in found.ranking if row["name"] in ("weather", "promotion")]
    assert all(row["relevant"] and row["untested"] is None and row["pvalue"] < 0.05 for row in others)
    said = found.notes[0]
    assert said.startswith("2 columns were not tested (weekday, weekend): after the season of the target is")
    assert as_typed(said).endswith("To keep them, use --keep weekday,weekend.")
    assert found.method["order"].startswith("relevant columns by score")
    page = found.to_html()
    assert "not tested" in page
    assert "Not tested: after the season of the target is removed" in page
    assert "not tested" in ranking_table(found.ranking, width=120)
    frame = found.to_frame().set_index("name")
    assert frame.loc[["weekday", "weekend"], ["pvalue", "adjusted_pvalue", "score"]].isna().all(axis=None)


@pytest.mark.parametrize("seed", range(4))
def test_rare_columns_need_rows_of_another_value_and_as_many_in_effect(seed):
    rng = np.random.default_rng(seed)
    y = weekly(seed)[1]
    n = len(y)
    scattered = [np.isin(np.arange(n), rng.choice(n, k, replace=False)) for k in (5, 9, 10, 15, 40)]
    together = [np.abs(np.arange(n) - at) < size for at, size in ((90, 8), (200, 30))]
    columns = np.array([*scattered, *together], dtype=float)
    table = series(columns.T, y)
    filtered = views_of(table.dependence, _scores(table.target.contrasts(np.arange(n))[:, 0]))[0].filter
    assert filtered.periods == [7]
    found = rank_tests(table, None, np.arange(len(columns), dtype=np.uint32), rare=True)
    terms = [*places_of_a_season(7, n)[1:], np.arange(n), *drift(n)]
    for k, column in enumerate(columns):
        seen = innovations(without_terms(column, terms), filtered.lags[0])
        enough = column.sum() >= MIN_RARE and effective_rows(seen - seen.mean()) >= MIN_RARE
        assert np.isnan(found.ranks[k]) == (not enough)
    assert np.isnan(rank_tests(table, None, np.arange(len(columns), dtype=np.uint32)).ranks).all()
    assert not found.gone.any()


@pytest.mark.parametrize("task", ["regression", "classification"])
@few_or_many(10, 200)
def test_pvalues_of_rare_columns_hold_beside_a_season(n_tables, task):
    pvalues = []
    for seed in range(3000, 3000 + n_tables):
        y = weekly(seed, task=task)[1]
        rng, n = np.random.default_rng([seed, 1]), len(y)
        starts = [rng.random((n, 10)) < rate for rate in (0.03, 0.05, 0.1, 0.01)]
        starts[-1] = sum(np.roll(starts[-1], k, axis=0) for k in range(4)) > 0  # four rows each
        table = series(np.hstack(starts), y, task)
        found = rank_tests(table, None, np.arange(40, dtype=np.uint32), rare=True).ranks
        pvalues.append(np.exp(found[~np.isnan(found)]))
    assert min(map(len, pvalues)) > 20
    for alpha in (0.001, 0.01, 0.05):
        assert not exceeds(pvalues, alpha)
