"""Rows of a comparison say no more than their records do: failures, few splits, equal scores, many rows."""

import math

import numpy as np
import pytest
from power import few_or_many, highest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from foresift import InfoGainSelector, RandomSelector
from foresift.evaluation.compare import Comparison, compare
from foresift.evaluation.compare.stored import mean_ranks
from foresift.evaluation.compare.summary import Row, Scores, recommended_row, summarise
from foresift.evaluation.compare.text import recommendation, verdict
from foresift.evaluation.harness.tasks import Record, Unit, canonical
from foresift.stats.stability import selection_stability


def record(
    method, fold, score=None, *, classifier="nb", scorer="accuracy", features=(0,), scoring=None, data="d"
):
    """A record; without a score it failed."""
    options = "" if scoring is None else canonical({"scoring": scoring})
    unit = Unit("score", data, data, method, "", classifier, "", "", 0, fold, "", 0, options, "")
    if score is None:
        return Record(unit, error="ValueError: no")
    size = "all" if method == "none" else "own"
    chosen = {} if method == "none" else {"own": list(features)}
    return Record(unit, {scorer: {size: score}}, chosen, {"n_train": 80, "n_test": 20})


def rows_of(scores, p=6, **more):
    records = [record(m, k, s, **more) for m, some in scores.items() for k, s in enumerate(some)]
    return {row.method: row for row in summarise(records, {"d": p})}


def comparison(rows):
    about = {"dataset": "d", "cv": "5", "repeats": 1, "scoring": ["accuracy"], "store": "s.sqlite"}
    return Comparison(list(rows.values()), about, [], {})


# --- failures ---

FLAKY = {
    "none": [0.6, 0.7, 0.65, 0.6, 0.7],
    "flaky": [0.99, None, None, None, None],
    "gain": [0.7, 0.75, 0.7, 0.65, 0.7],
}


def test_a_method_that_failed_is_not_the_best():
    rows = rows_of(FLAKY)
    assert [rows[m].best for m in FLAKY] == [False, False, True]
    assert (rows["flaky"].n, rows["flaky"].n_failed) == (1, 4)
    found = comparison(rows)
    assert found.best().method == "gain"
    assert "1, 4 failed" in str(found)
    assert found.verdict.startswith("gain ")
    assert found.to_dict()["verdict"] == found.verdict


def test_the_verdict_says_which_is_best_and_whether_the_others_are_worse():
    def row(method, size, mean, p_best=math.nan, dataset="wine"):
        return Row(
            dataset, method, "rf", size, "accuracy", 10, mean, 0.1, 0.88, 0.92, 10.0,
            best=math.isnan(p_best), p_best=p_best,
        )  # fmt: skip

    gain, none, near, random = (
        row("gain", "10", 0.915),
        row("none", "all", 0.91, 0.3),
        row("relieff", "10", 0.9, 0.06),
        row("random", "10", 0.8, 0.001),
    )
    best = "gain with 10 columns does best: accuracy 91.5 % (88.0 % to 92.0 %) with rf."
    one = "1 of the 3 other results with rf is significantly worse."
    assert verdict([none, gain, near, random]) == f"{best} {one}"
    assert verdict([none, gain, near]) == f"{best} The others are not significantly worse."
    assert verdict([gain]) == best
    assert verdict([row("none", "all", 0.99), near]).startswith(
        "Using all columns scores best: accuracy 99.0 %"
    )
    other = row("gain", "10", 0.99, dataset="iris")
    assert verdict([gain, other]).startswith("gain with 10 columns does best on wine: accuracy 91.5 %")
    assert verdict([]) == verdict([row("gain", "10", math.nan)]) == "There are no results to compare yet."


def test_where_all_failed_alike_there_is_a_best():
    rows = rows_of({name: [None, *some[1:]] for name, some in FLAKY.items() if name != "flaky"})
    assert rows["gain"].best


def test_where_none_is_whole_none_is_best():
    rows = rows_of({"a": [None, 0.9, 0.8, 0.9], "b": [0.9, 0.7, 0.7, None], "c": [None, None, 1.0, 1.0]})
    assert not any(row.best for row in rows.values())
    assert all(math.isnan(row.p_best) for row in rows.values())
    assert comparison(rows).best().method == "a"


def test_a_mean_that_is_not_known_comes_last():
    rows = rows_of({"lost": [math.nan] * 5, **FLAKY})
    found = comparison(rows)
    assert found.best().method == "gain"
    text = str(found)
    assert text.index("flaky") < text.index("gain") < text.index("lost")


def test_how_to_try_again_is_told(tmp_path):
    X, y = load_iris(return_X_y=True)
    found = compare(X, y, {"bad": RandomSelector(9)}, ["nb"], cv=3, store=tmp_path / "s.sqlite")
    assert found.failures
    assert "--retry-failed" in str(found)
    assert "--retry-failed" not in str(compare(X, y, ["random"], ["nb"], cv=3, store=tmp_path / "s.sqlite"))


def test_ranks_leave_out_data_with_failures():
    def rows(data, failed):
        scores = {"a": [0.9, 0.8], "b": [0.8, 0.7], "c": [0.7, None if failed else 0.6]}
        records = [record(m, k, s, data=data) for m, some in scores.items() for k, s in enumerate(some)]
        return summarise(records, {data: 6})

    assert mean_ranks([*rows("x", False), *rows("y", False), *rows("z", True)])["n"] == 2


def test_ranks_are_of_methods_tried_on_all_data_whatever_came_first():
    scores = {"a": [0.9, 0.8], "b": [0.8, 0.7], "c": [0.7, 0.6], "d": [0.6, 0.5]}

    def rows(data, methods):
        return summarise(
            [record(m, k, s, data=data) for m in methods for k, s in enumerate(scores[m])], {data: 6}
        )

    x, y = rows("x", "abcd"), rows("y", "abc")
    for order in ([*x, *y], [*y, *x]):
        found = mean_ranks(order)
        assert (found["methods"], found["mean_ranks"], found["n"]) == (["a", "b", "c"], [1, 2, 3], 2)


# --- few splits, and scores that are all equal ---


def test_few_splits_tell_neither_interval_nor_p():
    four = rows_of({"none": [0.6, 0.7, 0.65, 0.6], "gain": [0.7, 0.75, 0.7, 0.65]})
    five = rows_of({"none": [0.6, 0.7, 0.65, 0.6, 0.7], "gain": [0.7, 0.75, 0.7, 0.65, 0.75]})
    for name in ("lower", "upper", "p_none"):
        assert math.isnan(getattr(four["gain"], name))
        assert not math.isnan(getattr(five["gain"], name))
    assert "fewer than 5 splits" in str(comparison(four))


def test_a_difference_that_never_varies_is_no_proof():
    base = np.array([0.5, 0.6, 0.7, 0.65, 0.55])
    rows = rows_of({"none": base.tolist(), "gain": (base + 0.05).tolist(), "same": base.tolist()})
    assert math.isnan(rows["gain"].p_none)
    assert math.isnan(rows["none"].p_best)
    assert rows["same"].p_none == 1
    flat = rows_of({"none": [0.8] * 5})["none"]
    assert flat.deviation == 0
    assert math.isnan(flat.lower)


def test_noise_in_two_folds_is_not_told_apart():
    rng = np.random.default_rng(0)
    for _ in range(3):
        found = compare(rng.normal(size=(40, 3)), np.arange(40) % 2, {"a": InfoGainSelector(1)}, ["nb"], cv=2)
        assert all(math.isnan(row.p_best) for row in found.rows)


# --- many rows ---


def simulated(rng, k, n, share, shift=0.0):
    """Scores whose trials hang together as the corrected test takes them to."""
    scores = np.sqrt(share) * rng.normal(size=(k, 1)) + np.sqrt(1 - share) * rng.normal(size=(k, n))
    scores[0] -= shift
    return summarise(
        [record(f"m{i}", j, float(scores[i, j]), scorer="made") for i in range(k) for j in range(n)], {"d": 6}
    )


# The best row is named by the same scores, so some of eight equal rows is marked worse more often than that,
# but no one row. The slow run finds a rate of 0.039 in place of 0.025.
@few_or_many(200, 3000)
def test_a_row_that_is_truly_best_is_rarely_marked_worse(n_tables):
    rng = np.random.default_rng(1)
    equal = [simulated(rng, 8, 10, 0.2) for _ in range(n_tables)]
    lost = np.mean([rows[0].p_best <= 0.05 for rows in equal])
    some = np.mean([any(row.p_best <= 0.05 for row in rows) for rows in equal])
    assert lost <= highest(0.025, n_tables)
    assert some <= highest(0.13, n_tables)  # of 10 rows 0.14, says docs/comparing.md


@few_or_many(20, 300)
def test_what_is_worse_is_found(n_tables):
    rng = np.random.default_rng(2)
    found = [simulated(rng, 4, 10, 0.2, shift=6.0)[0].p_best <= 0.05 for _ in range(n_tables)]
    assert np.mean(found) > 0.8


# --- intervals end where scores do ---

HIGH = [0.9, 1.0, 1.0, 0.95, 1.0]


@pytest.mark.parametrize(
    "scorer", ["accuracy", "f1_macro", "roc_auc", "roc_auc_ovr", "recall", "average_precision"]
)
def test_intervals_of_shares_end_at_one(scorer):
    assert rows_of({"none": HIGH}, scorer=scorer)["none"].upper == 1
    assert rows_of({"none": HIGH}, scorer=scorer, scoring={scorer: scorer})["none"].upper == 1
    assert rows_of({"none": [1 - s for s in HIGH]}, scorer=scorer)["none"].lower == 0


@pytest.mark.parametrize(
    ("scorer", "scoring"),
    [("neg_log_loss", None), ("mine", None), ("accuracy", {"accuracy": "module.function"})],
)
def test_intervals_of_other_scores_do_not(scorer, scoring):
    assert rows_of({"none": HIGH}, scorer=scorer, scoring=scoring)["none"].upper > 1


# --- stability ---


def test_stability_is_of_all_splits_though_a_classifier_failed():
    sets = [(0, 1), (0, 1), (0, 2), (1, 3), (0, 1), (2, 3)]
    records = [
        record(
            "gain", k, None if name == "bad" and k > 1 else 0.5 + k / 100, classifier=name, features=chosen
        )
        for name in ("bad", "nb")
        for k, chosen in enumerate(sets)
    ]
    masks = np.zeros((6, 6), dtype=bool)
    for mask, chosen in zip(masks, sets, strict=True):
        mask[list(chosen)] = True
    for order in (records, records[::-1]):
        found = summarise(order, {"d": 6})
        assert [row.stability for row in found] == [selection_stability(masks).value] * 2


def test_real_runs_show_their_splits():
    X, y = load_iris(return_X_y=True)
    text = str(compare(X, y, ["fscore"], {"nb": GaussianNB()}, cv=5))
    assert "splits" in text
    assert " to 1.000)" in text


def recommended(*changes):
    """Of rows with fewer and fewer columns, the first of which is the best."""
    about = {"n": 10, "mean": 0.9, "deviation": 0.1, "lower": 0.8, "upper": 1.0}
    about |= {"dataset": "d", "classifier": "nb", "size": "own", "scorer": "accuracy"}
    one = {"p_best_alone": 0.5, "mean": 0.85}
    rows = [
        Row(
            **about | {"method": f"m{k}", "n_features": 9.0 - k, "best": k == 0} | (one if k else {}) | change
        )
        for k, change in enumerate(changes)
    ]
    return recommended_row(rows)


def test_the_fewest_columns_that_are_not_worse_are_recommended():
    assert recommended({}, {}, {}).method == "m2"
    assert recommended({}, {}, {"p_best_alone": 0.05}).method == "m1"
    assert recommended({}, {"p_best_alone": 0.01}, {"p_best_alone": 0.01}).method == "m0"
    assert recommended({}, {}, {"classifier": "knn"}).method == "m1"  # another estimator
    assert recommended({}, {}, {"n": 9}).method == "m1"  # a split is missing
    assert recommended({}, {}, {"method": "random"}).method == "m1"
    assert recommended({}, {"mean": 0.8}, {"n_features": 8.0}).method == "m2"  # the higher mean
    same = {"p_best_alone": math.nan, "mean": 0.9}  # as the best in every split
    assert recommended({}, {"p_best_alone": 0.01}, same).method == "m2"
    assert recommended({}, {}, {"dataset": "another"}).method == "m1"


def test_nothing_is_recommended_where_nothing_was_tested():
    assert recommended({}, {"p_best_alone": math.nan}) is None
    assert recommended({"best": False}, {}) is None
    assert recommended_row([]) is None


def guessed(scores, guess):
    """A row of these scores, beside one that is worse, and the accuracies of guessing."""
    rows = [
        Row("d", name, "nb", "own", "accuracy", 5, mean, 0.1, 0.8, 1.0, 3.0, best=best, p_best_alone=p)
        for name, mean, best, p in (("m", np.mean(scores), True, math.nan), ("none", 0.5, False, 0.2))
    ]
    guess = dict(enumerate(guess))
    return rows, [Scores(dict(enumerate(scores)), 0.2, guess), Scores(dict(enumerate(scores)), 0.2, guess)]


def test_nothing_is_recommended_that_does_not_beat_guessing():
    share = [0.96, 0.97, 0.96, 0.97, 0.96]
    good = [0.98, 0.99, 0.985, 0.98, 0.99]
    assert recommended_row(*guessed(good, share)).method == "m"
    assert (
        recommended_row(*guessed([s + 0.01 for s in share], share)) is not None
    )  # by the same in every split
    for scores in (share, [0.96, 0.98, 0.95, 0.98, 0.96], [0.9] * 5):
        found = guessed(scores, share)
        assert recommended_row(*found) is None
        assert recommendation(*found).startswith(
            "None is recommended: the best accuracy is not significantly"
        )
    assert recommended_row(guessed(share, share)[0]) is not None  # a store from before
    assert recommended_row(*guessed(share, [])) is not None


def test_a_single_comparison_is_not_adjusted():
    rows = rows_of(
        {
            "none": [0.7, 0.8, 0.6, 0.7, 0.7],
            "gain": [0.8, 0.9, 0.9, 0.8, 1.0],
            "cfs": [0.7, 0.8, 0.8, 0.7, 0.7],
        }
    )
    assert math.isnan(rows["gain"].p_best_alone)
    assert 0 < rows["cfs"].p_best_alone < rows["cfs"].p_best
