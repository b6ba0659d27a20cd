"""How far an answer can be trusted: three levels by the difference, the rows and the stability."""

import math
from dataclasses import replace

import numpy as np
import pytest
from selection_cases import judge

from foresift.evaluation.select.assess import Assessment, Check
from foresift.evaluation.select.by_loss import Choice
from foresift.evaluation.select.certainty import CLEAR, LEVELS, PROVISIONAL, TOO_FEW_ROWS, certainty_of
from foresift.evaluation.select.models import Model
from foresift.evaluation.select.plan import plan_for
from foresift.selectors.size_cv import SizeCurve
from foresift.stats import Estimate


def assessed(low, high, n_rows=400, metric="accuracy"):
    """What folds could have told of a selection that differs from all columns by an interval."""
    curve = SizeCurve(np.array([1, 2]), np.full((5, 2), 0.8), 1)
    check = Check(Estimate(0.8, 0.7, 0.9), Estimate(0.8, 0.7, 0.9), Estimate((low + high) / 2, low, high))
    return Assessment(
        judge(metric),
        Model(),
        curve,
        Choice(1, True),
        check,
        plan_for(n_rows, 2),
        n_rows,
        0.2,
        np.full(5, 1),
        0.5,
    )


@pytest.mark.parametrize(
    ("low", "high", "level"),
    [
        (-0.019, 0.03, CLEAR),  # a loss of two points is excluded
        (0.01, 0.05, CLEAR),  # better
        (-0.09, -0.01, CLEAR),  # worse
        (-0.3, -0.01, CLEAR),  # worse, by how much is not known well
        (-0.01, 0.3, CLEAR),  # no worse
        (0.0, 0.0, CLEAR),
        (-0.021, 0.03, PROVISIONAL),
        (-0.149, 0.0, PROVISIONAL),
        (-0.1, 0.06, TOO_FEW_ROWS),
    ],
)
def test_the_difference(low, high, level):
    found = certainty_of(assessed(low, high), 0.9)
    assert found.level == level
    loss = [f"a loss of up to {-100 * low:.1f} points cannot be excluded"]
    assert found.reasons == ([] if level == CLEAR else loss)


def test_what_the_loss_is_where_no_column_is_kept():
    found = certainty_of(assessed(-0.1, 0.06), None, any_kept=False)
    said = "a forest on all columns may be up to 10.0 points better than"
    assert found == (TOO_FEW_ROWS, [f"{said} guessing"])
    requested = SizeCurve(np.array([0, 1]), np.full((5, 2), 0.8), 0)
    found = certainty_of(replace(assessed(-0.1, 0.06), curve=requested), None, any_kept=False)
    assert found.reasons == [f"{said} the columns that you keep"]


@pytest.mark.parametrize(
    ("value", "level"),
    [(1.0, CLEAR), (0.4, CLEAR), (0.39, PROVISIONAL), (0.2, PROVISIONAL), (0.19, TOO_FEW_ROWS)],
)
def test_the_stability(value, level):
    found = certainty_of(assessed(-0.01, 0.01), value)
    assert found.level == level
    said = [f"subsamples do not select the same columns (stability {value:.2f})"]
    assert found.reasons == ([] if level == CLEAR else said)


def test_without_a_stability_the_difference_decides():
    assert certainty_of(assessed(-0.01, 0.01), None).level == CLEAR
    assert certainty_of(assessed(-0.01, 0.01), math.nan).level == CLEAR


def test_fewer_than_a_hundred_rows_are_too_few():
    assert certainty_of(assessed(-0.01, 0.01, 100), 1.0).level == CLEAR
    found = certainty_of(assessed(-0.01, 0.01, 99), 1.0)
    assert found == (TOO_FEW_ROWS, ["the check has only 99 rows"])


def test_what_is_not_significant_is_provisional_at_best():
    found = certainty_of(assessed(-0.01, 0.01), None, significant=False)
    assert found == (PROVISIONAL, ["no column is significant alone"])
    assert certainty_of(assessed(-0.1, 0.1), None, significant=False).level == TOO_FEW_ROWS


def test_the_worst_doubt_decides_and_all_are_said():
    found = certainty_of(assessed(-0.05, 0.01, 60), 0.3)
    assert found.level == TOO_FEW_ROWS
    assert len(found.reasons) == 3
    assert LEVELS == ("clear", "provisional", "too few rows")


def test_areas_have_no_points():
    found = certainty_of(assessed(-0.05, 0.01, metric="ROC AUC"), 0.9)
    assert found.reasons == ["a loss of up to 0.050 in ROC AUC cannot be excluded"]
