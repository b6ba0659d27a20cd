"""What select says in words: losses, sizes, columns that tell the same, leaks and copies of rows."""

import numpy as np
import pandas as pd
import pytest
from selection_cases import FAST, table

from foresift import select
from foresift.evaluation.select.assess import Assessment, Check, plan_for
from foresift.evaluation.select.choosing import count_copies
from foresift.evaluation.select.sentences import say
from foresift.selectors.size_cv import SizeCurve
from foresift.stats import Estimate

pytestmark = pytest.mark.usefixtures("small_forests")


def test_a_column_that_is_too_good_is_pointed_out():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = pd.DataFrame({"paid_back": y + 0.0, "age": rng.normal(size=80), "income": rng.normal(size=80)})
    found = select(X, y, random_state=0, parameters=FAST)
    assert "The best column alone (paid_back) predicts almost perfectly (accuracy 100.0%)" in found.sentence
    assert "leak" in found.notes[0]
    assert "-0.0" not in found.sentence
    assert "a difference of 0.0 points in every fold, too uniform" in found.sentence
    assert "unlikely" not in found.sentence
    assert found.check["difference"] == {"value": 0.0, "low": None, "high": None}
    assert "predicts almost perfectly" in found.to_html()


def test_rows_that_are_there_twice_are_pointed_out():
    X, y = table(120)
    once = select(X, y, random_state=0, parameters=FAST)
    twice = select(pd.concat([X, X[:60]]), np.append(y, y[:60]), random_state=0, parameters=FAST)
    assert not any("copies" in note for note in once.notes)
    assert "60 of 180 rows that the check looked at are copies of others" in " ".join(twice.notes)
    assert twice.sentence.endswith(" ".join(twice.notes))


def test_rows_that_are_equal_by_coincidence_are_no_copies():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(300, 3)).astype(float), rng.integers(0, 2, 300)
    assert count_copies(X, y) == 0  # though most of them are equal to another
    X[:, 0] = rng.normal(size=300)
    assert count_copies(X, y) == 0
    X[200:], y[200:] = X[:100], y[:100]
    assert count_copies(X, y) == 100
    y[200:] = 1 - y[:100]  # another class: another row
    assert count_copies(X, y) == 0


def assessed(kept=0.775, full=0.79, low=-0.06, high=0.03, chosen=2, alone=0.7):
    """What folds could have told of three columns."""
    curve = SizeCurve(np.arange(1, 4), np.tile([alone, 0.79, 0.79], (5, 1)), chosen)
    estimates = Estimate(full, 0.7, 0.8), Estimate(kept, 0.7, 0.8), Estimate(kept - full, low, high)
    return Assessment(
        "accuracy", curve, Check(*estimates), plan_for(100, 3), 100, 0.2, np.array([1, 2, 2, 2, 3]), 0.5
    )


def said(n_relevant, n_kept, *, n=3, n_wanted=None, doubles=0, **more):
    ranking = [
        {"name": f"c{i}", "relevant": i < n_relevant, "kept": i < n_kept, "redundant_with": None}
        for i in range(n)
    ]
    for row in ranking[n_relevant - doubles : n_relevant]:
        row["redundant_with"] = "c0"
    method = {"key": "auto", "title": "", "error": "fdr", "alpha": 0.1}
    return say(ranking, method, n_wanted, {"n_rows": 100, "classes": []}, assessed(**more))


def test_a_loss_that_was_seen_is_not_denied():
    whole = said(3, 2).whole
    assert whole.startswith("2 of 3 columns are enough; 3 are relevant.")
    assert "it kept 1 to 3 columns" in whole
    assert (
        "-1.5 points (95 % interval -6.0 to +3.0), so no loss can be shown, and one of more than 6.0" in whole
    )
    assert "no loss was seen" not in whole
    assert "costs something" in said(3, 2, low=-0.06, high=-0.01).whole
    assert "helps" in said(3, 2, kept=0.82, low=0.01, high=0.05).whole


def test_a_curve_that_wants_more_than_is_relevant_is_not_kept_quiet():
    assert "By the curve of sizes 3 columns would do better, but no more are relevant." in (
        said(2, 2, chosen=3).details
    )
    assert said(2, 2, chosen=3).verdict == "2 of 3 columns are relevant and kept."
    assert said(1, 1, chosen=1).verdict == "1 of 3 columns is relevant and kept."
    assert said(0, 2, n_wanted=2).verdict == "The best 2 of 3 columns are kept, as asked; none is relevant."


def test_columns_that_tell_the_same_and_are_kept_are_explained():
    """Or a reader asks why what is told already is kept, and how to be rid of it."""
    without = (
        "tell the same as a better one, but fewer columns score less; to have none of that kind, ask for"
    )
    assert f"2 of those kept {without} 1 column." in said(3, 3, doubles=2, chosen=3).details
    one = said(3, 2, doubles=2).details
    assert "The best 2 are within one standard error of the best size." in one
    assert f"1 of those kept {without.replace('tell', 'tells', 1)} 1 column." in one
    for other in (
        said(3, 1, doubles=2, chosen=1),  # none of them is kept
        said(3, 3, doubles=2, n_wanted=3),  # as asked
        said(2, 2, doubles=1, chosen=3),  # all that are relevant, and smaller sizes were not compared with it
    ):
        assert "of those kept" not in other.whole
