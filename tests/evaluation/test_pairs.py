"""All pairs of rows on request, and the comparison with the best row that needs no adjustment for them."""

import json
import math
import pickle
import shutil
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from sklearn.datasets import load_iris

from foresift.evaluation.compare import Comparison, compare
from foresift.evaluation.compare.pairs import COLUMNS, all_pairs
from foresift.evaluation.compare.stored import stored_comparison
from foresift.evaluation.compare.summary import Row, scored_rows
from foresift.evaluation.compare.text import pairs_text
from foresift.evaluation.harness.store import Store
from foresift.evaluation.harness.tasks import Record, Unit
from foresift.report.comparison_view import MAX_PAIRS

KEPT = Path(__file__).parent / "kept-store.db"
ABOUT = {"dataset": "d", "cv": "10", "repeats": 1, "scoring": ["accuracy"], "store": None}


def comparison(scores, n_test=20, n_train=180):
    """A comparison of rows with these scores by split; None failed."""
    records = []
    for k, (method, values) in enumerate(scores.items()):
        for j, value in enumerate(values):
            unit = Unit("score", "d", "d", method, "", "nb", "", "", j // 10, j % 10, "", 0, "", "")
            if value is None:
                records.append(Record(unit, error="ValueError: no"))
                continue
            size = "all" if method == "none" else "own"
            chosen = {} if method == "none" else {"own": [k % 6]}
            extra = {"n_train": n_train, "n_test": n_test}
            records.append(Record(unit, {"accuracy": {size: value}}, chosen, extra))
    rows, kept = scored_rows(records, {"d": 6})
    return Comparison(rows, ABOUT, [], {}, scores=kept)


# --- reference: the definitions, one after the other ---


def reference_pvalue(a, b, share):
    """Nadeau and Bengio's corrected resampled t-test of the splits that both have, or None."""
    d = [x - y for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    if len(d) < 5 or (any(d) and max(d) - min(d) <= 1e-12 * max(abs(x) for x in d)):
        return None
    if not any(d):
        return 1.0
    mean = sum(d) / len(d)
    variance = sum((x - mean) ** 2 for x in d) / (len(d) - 1)
    t = mean / math.sqrt(variance * (1 / len(d) + share / (1 - share)))
    return 2 * scipy_stats.t.sf(abs(t), len(d) - 1)


def reference_holm(raw):
    """Holm's adjustment: the smallest p-value times their number, the next times one less, never falling."""
    known = sorted((p, key) for key, p in raw.items() if p is not None)
    adjusted, largest = {}, 0.0
    for place, (p, key) in enumerate(known):
        largest = max(largest, min(1.0, p * (len(known) - place)))
        adjusted[key] = largest
    return adjusted


def reference_best(scores):
    """The highest mean of the rows without failures; of equal means the first, as all have one column."""
    splits = [{j for j, x in enumerate(values) if x is not None} for values in scores.values()]
    every = set().union(*splits)
    whole = [m for m, own in zip(scores, splits, strict=True) if own == every]
    return max(whole, key=lambda m: np.mean([x for x in scores[m] if x is not None]), default=None)


# Accuracies on 20 rows, with ties and failures.
VALUES = st.one_of(st.none(), st.integers(8, 20).map(lambda k: k / 20))
TABLES = st.integers(4, 12).flatmap(
    lambda n: st.lists(st.lists(VALUES, min_size=n, max_size=n), min_size=2, max_size=6)
)


@settings(max_examples=150, deadline=None)
@given(TABLES)
def test_pvalues_are_those_of_the_reference(table):
    scores = {f"m{k}": values for k, values in enumerate(table) if any(x is not None for x in values)}
    if not scores:
        return
    found = comparison(scores)
    best = next((row.method for row in found.rows if row.best), None)
    means = {row.method: row.mean for row in found.rows}
    expected = reference_best(scores)
    assert (best is None) == (expected is None)
    if best is not None:
        assert means[best] == means[expected]
        raw = {m: reference_pvalue(scores[m], scores[best], 0.1) for m in scores if m != best}
        after = reference_holm(raw)
        for row in found.rows:
            assert row.p_best == pytest.approx(after.get(row.method, math.nan), rel=1e-6, nan_ok=True)
    pairs = {(p["method"], p["other_method"]): p for p in found.pairs()}
    assert {frozenset(key) for key in pairs} == {frozenset(key) for key in combinations(scores, 2)}
    raw = {(a, b): reference_pvalue(scores[a], scores[b], 0.1) for a, b in pairs}
    after = reference_holm(raw)
    for key, pair in pairs.items():
        assert pair["p"] == (None if raw[key] is None else pytest.approx(raw[key], rel=1e-6))
        assert pair["p_adjusted"] == (None if raw[key] is None else pytest.approx(after[key], rel=1e-6))
        assert means[pair["method"]] >= means[pair["other_method"]]
        both = [(x, y) for x, y in zip(*(scores[m] for m in key), strict=True) if None not in (x, y)]
        assert pair["n"] == len(both)
        if both:
            assert pair["difference"] == pytest.approx(np.mean([x - y for x, y in both]), abs=1e-12)
        if pair["lower"] is not None:
            assert pair["lower"] <= pair["difference"] <= pair["upper"]
            # The interval is that of the unadjusted test.
            assert (pair["p"] <= 0.05) == (not pair["lower"] < 0 < pair["upper"]) or math.isclose(
                pair["p"], 0.05, rel_tol=1e-6
            )
    json.dumps(found.to_dict(all_pairs=True), allow_nan=False)


# --- the case that a table of twelve rows hid ---


MEANS = (0.84, 0.835, 0.83, 0.825, 0.82, 0.815, 0.81, 0.8, 0.79, 0.78, 0.76, 0.71)


def twelve_rows(n_splits, noise=0.1, seed=0):
    """Rows with exactly these mean accuracies; `noise` is how much a method varies beside the split."""
    rng = np.random.default_rng(seed)
    split = rng.normal(0, 0.04, n_splits)
    scores = {}
    for k, mean in enumerate(MEANS):
        values = split + rng.normal(0, noise, n_splits)
        scores["none" if k == 3 else f"m{k}"] = (mean + values - values.mean()).tolist()
    return comparison(scores)


def against_the_best(found, method="m11"):
    return next(p for p in found.pairs() if (p["method"], p["other_method"]) == ("m0", method))


def test_71_against_84_percent_is_significant_in_three_repeats_of_ten_folds():
    found = twelve_rows(30)
    rows = {row.method: row for row in found.rows}
    worst = rows["m11"]
    assert (rows["m0"].best, round(rows["m0"].mean, 3), round(worst.mean, 3)) == (True, 0.84, 0.71)
    pair = against_the_best(found)
    assert worst.p_best <= 0.05
    assert worst.p_best == pytest.approx(11 * pair["p"])
    assert worst.p_best_alone == pytest.approx(pair["p"])
    assert pair["p_adjusted"] == pytest.approx(66 * pair["p"])
    assert pair["p_adjusted"] > 0.05  # adjusted for all pairs it would not be significant
    assert pair["difference"] == pytest.approx(0.13)
    assert found.verdict.endswith("1 of the 11 other results with nb is significantly worse.")
    assert min(row.p_best for row in found.rows if row.method not in ("m0", "m11")) > 0.05


def test_the_comparison_with_the_best_finds_more_than_all_pairs_do():
    tables = [twelve_rows(30, 0.07, seed) for seed in range(40)]
    with_best = np.mean([found.rows[-1].p_best <= 0.05 for found in tables])
    of_all = np.mean([against_the_best(found)["p_adjusted"] <= 0.05 for found in tables])
    assert with_best > 0.7
    assert of_all < 0.5


def test_rows_are_significantly_different_though_their_intervals_overlap():
    rng = np.random.default_rng(0)
    split = rng.normal(0, 0.1, 10)
    found = comparison({"a": (0.8 + split).tolist(), "b": (0.76 + split + rng.normal(0, 0.01, 10)).tolist()})
    a, b = found.rows
    assert b.upper > a.lower
    assert b.p_best < 0.01
    assert "although their intervals overlap" in " ".join(str(found).split())


# --- what is asked for, and what is not there ---


def test_pairs_of_an_estimator_and_a_scorer():
    X, y = load_iris(return_X_y=True)
    methods, scoring = ["info-gain", "random"], ["accuracy", "f1_macro"]
    found = compare(X, y, methods, ["nb", "knn"], sizes=[1, 2], cv=5, scoring=scoring)
    everything = found.pairs()
    assert len(everything) == 2 * 2 * 10
    assert all(tuple(pair) == COLUMNS for pair in everything)
    some = found.pairs("knn", "f1_macro")
    assert some == [p for p in everything if (p["estimator"], p["scorer"]) == ("knn", "f1_macro")]
    assert [len(found.pairs("nb")), len(found.pairs(scorer="accuracy"))] == [20, 20]
    with pytest.raises(ValueError, match="no results of estimator 'rf' and scorer None"):
        found.pairs("rf")
    assert "pairs" not in found.to_dict()
    assert found.to_dict(all_pairs=True)["pairs"] == everything
    assert "All pairs" not in found.to_html()
    assert "All pairs" in found.to_html(all_pairs=True)


def test_few_splits_have_a_difference_but_neither_interval_nor_p():
    (pair,) = comparison({"a": [0.8, 0.9, 0.85, 0.9], "b": [0.7, 0.8, 0.8, 0.7]}).pairs()
    assert pair["difference"] == pytest.approx(0.1125)
    assert [pair[name] for name in ("lower", "upper", "p", "p_adjusted")] == [None] * 4


def test_a_comparison_without_scores_says_so():
    rows = twelve_rows(10).rows
    with pytest.raises(ValueError, match="no scores of single splits"):
        Comparison(rows, ABOUT, [], {}).pairs()
    assert Comparison([], ABOUT, [], {}).pairs() == all_pairs([], []) == []


def test_a_comparison_pickled_before_there_were_pairs_is_read():
    found = twelve_rows(10)
    older = pickle.loads(pickle.dumps(found))
    object.__delattr__(older, "scores")
    older = pickle.loads(pickle.dumps(older))
    assert [row.to_dict() for row in older.rows] == [row.to_dict() for row in found.rows]
    assert "84.0 %" in older.verdict
    assert "All pairs" not in older.to_html()


def test_pairs_of_a_store_are_those_of_the_comparison(tmp_path):
    X, y = load_iris(return_X_y=True)
    with Store(tmp_path / "s.sqlite") as store:
        found = compare(X, y, ["info-gain", "random"], ["nb"], sizes=[1, 2], cv=5, store=store)
        again = stored_comparison(store)
    assert again.pairs() == found.pairs()
    assert len(found.pairs()) == 10


def test_pairs_of_an_old_store(tmp_path):
    shutil.copyfile(KEPT, tmp_path / "old.sqlite")
    with Store(tmp_path / "old.sqlite", read_only=True) as store:
        found = stored_comparison(store)
    pairs = found.pairs()
    families = {(row.estimator, row.scorer) for row in found.rows}
    sizes = [sum((r.estimator, r.scorer) == family for r in found.rows) for family in families]
    assert len(pairs) == sum(k * (k - 1) // 2 for k in sizes) > 0
    assert {pair["p"] for pair in pairs} == {None}  # it has two folds
    assert "All pairs" in found.to_html(all_pairs=True)


# --- as text ---


def test_many_pairs_are_cut_and_said():
    about = ("nb", "3", "accuracy", 10)
    rows = [Row("d", f"m{k:02}", *about, 0.9 - k / 100, 0.1, 0.8, 1.0, 3.0) for k in range(30)]
    scores = comparison(
        {f"m{k}": [0.9 - k / 100 + (j % 3) / 50 for j in range(10)] for k in range(30)}
    ).scores
    pairs = all_pairs(rows, scores)
    assert len(pairs) == 30 * 29 // 2
    text = pairs_text(pairs, "pairs.csv has all of them.")
    assert text.count("\n m") == MAX_PAIRS
    assert f"And {len(pairs) - MAX_PAIRS} more, of lower rows; pairs.csv has all of them." in text
    assert pairs[0]["method"] == "m00"
    assert pairs[0]["other_method"] == "m01"


def test_names_in_the_tables_of_pairs_are_no_markup_of_the_terminal():
    found = comparison({"[red]a[/red]": [0.8, 0.9, 0.85, 0.9, 0.7], "b\n[/x]": [0.7, 0.8, 0.8, 0.7, 0.75]})
    text = pairs_text(found.pairs(), "")
    assert "[red]a[/red]" in text
    assert "[/x]" in text
