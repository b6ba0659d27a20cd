"""What select says in words: losses, sizes, redundant columns, leaks and duplicate rows."""

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
    assert "The best column alone (paid_back) predicts almost perfectly (accuracy 100.0 %)" in found.sentence
    assert "leak" in found.notes[0]
    assert "-0.0" not in found.sentence
    assert "The difference is 0.0 points in every fold, so there is no interval." in found.sentence
    assert found.check["difference"] == {"value": 0.0, "low": None, "high": None}
    assert "predicts almost perfectly" in found.to_html()


def test_rows_that_are_there_twice_are_pointed_out():
    X, y = table(120)
    once = select(X, y, random_state=0, parameters=FAST)
    twice = select(pd.concat([X, X[:60]]), np.append(y, y[:60]), random_state=0, parameters=FAST)
    assert not any("duplicates" in note for note in once.notes)
    assert "60 of the 180 rows used in the check are duplicates" in " ".join(twice.notes)
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


def whole(*args, **more):
    verdict, details, notes = said(*args, **more)
    return " ".join([verdict, *details, *notes])


def test_a_loss_that_was_seen_is_not_denied():
    assert whole(3, 2).startswith("2 of 3 columns are enough; 3 are relevant.")
    assert "Each fold kept 1 to 3 columns." in whole(3, 2)
    assert (
        "In nested 5-fold cross-validation a forest on the selected columns reaches 77.5 % accuracy, a"
        " forest on all columns 79.0 %. The difference, -1.5 points (95 % interval -6.0 to +3.0), is not"
        " significant."
    ) in whole(3, 2)
    assert "is significant: the other columns are needed." in whole(3, 2, low=-0.06, high=-0.01)
    assert "improves without the other columns" in whole(3, 2, kept=0.82, low=0.01, high=0.05)


def test_a_curve_that_wants_more_than_is_relevant_is_not_kept_quiet():
    assert "The size curve favours 3 columns, but no more are relevant." in said(2, 2, chosen=3).details
    assert said(2, 2, chosen=3).verdict == "2 of 3 columns are relevant and kept."
    assert said(1, 1, chosen=1).verdict == "1 of 3 columns is relevant and kept."
    assert said(0, 2, n_wanted=2).verdict == "The best 2 of 3 columns are kept, as asked; none is relevant."


def test_redundant_columns_that_are_kept_are_explained():
    """Or a reader asks why they are kept, and how to be rid of them."""
    without = (
        "redundant with a better one, but fewer columns score less. To leave redundant columns out, ask for"
    )
    assert f"2 of the kept columns are {without} 1 column." in said(3, 3, doubles=2, chosen=3).details
    one = said(3, 2, doubles=2).details
    assert "The best 2 score within one standard error of the best size." in one
    assert f"1 of the kept columns is {without} 1 column." in one
    for other in (
        whole(3, 1, doubles=2, chosen=1),  # none of them is kept
        whole(3, 3, doubles=2, n_wanted=3),  # as asked
        whole(2, 2, doubles=1, chosen=3),  # all that are relevant
    ):
        assert "of the kept columns" not in other
