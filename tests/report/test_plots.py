"""The displays: what they draw is what they were given, and they leave matplotlib alone until they draw."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
import report_cases
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine

from foresift import SiftForestClassifier
from foresift.plots import (
    ConvergenceDisplay,
    CriticalDifferenceDisplay,
    CurveDisplay,
    RankingDisplay,
    RedundancyDisplay,
    StabilityDisplay,
    plot_curve,
    plot_ranking,
    plot_redundancy,
)
from foresift.report.plots.rank_diagram import rank_groups

mpl.use("Agg")
import matplotlib.pyplot as plt

NAMES = [f"column_{i}" for i in range(8)]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def texts(labels):
    return [label.get_text() for label in labels]


def drawn(display):
    """The picture, which matplotlib makes only now: bad labels show here."""
    display.figure_.canvas.draw()
    return np.asarray(display.figure_.canvas.buffer_rgba())


def test_ranking_shows_scores_intervals_chance_and_what_was_kept():
    d = report_cases.selection(NAMES, n_kept=3)
    display = plot_ranking(d, max_features=5)
    ax = display.ax_
    assert texts(ax.get_yticklabels()) == NAMES[:5]
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == [feature["score"] for feature in d["features"][:5]]
    colours = [bar.get_facecolor()[:3] for bar in ax.patches]
    assert len(set(colours[:3])) == 1
    assert len(set(colours[3:])) == 1
    assert colours[0] != colours[3]
    intervals, chance = (collection.get_segments() for collection in ax.collections)
    assert intervals[1][:, 0].tolist() == [d["features"][1]["low"], d["features"][1]["high"]]
    assert chance[1][:, 0].tolist() == [2.0, 2.0]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # best on top


def test_ranking_without_intervals_and_with_missing_scores():
    d = {
        "features": [
            {"name": "b", "rank": 2, "score": None},
            {"name": "a", "rank": 1, "score": 1.0, "kept": True},
        ]
    }
    display = plot_ranking(d)
    assert texts(display.ax_.get_yticklabels()) == ["a", "b"]
    assert display.ax_.get_xlabel() == "score"
    drawn(display)


@pytest.mark.filterwarnings("ignore:Glyph")  # a font may not have all of them
def test_ranking_takes_any_name():
    drawn(RankingDisplay([*report_cases.HOSTILE, "$x_", "$\\frac$", "100 %"], np.arange(19.0)).plot())


def test_axes_can_be_given():
    figure, (left, right) = plt.subplots(1, 2)
    d = report_cases.selection(NAMES)
    one, two = plot_ranking(d, ax=left), plot_curve(d, ax=right)
    assert one.ax_ is left
    assert two.ax_ is right
    assert one.figure_ is two.figure_ is figure


def test_curve_marks_the_chosen_size():
    d = report_cases.selection(NAMES, n_kept=3)
    display = CurveDisplay.from_selection(d)
    curve, _, mark = display.ax_.get_lines()
    assert curve.get_xdata().tolist() == [p["n"] for p in d["curve"]["points"]]
    assert curve.get_ydata().tolist() == [p["score"] for p in d["curve"]["points"]]
    assert mark.get_xdata().tolist() == [3]
    assert display.ax_.get_ylabel() == "accuracy"
    assert display.ax_.get_xscale() == "linear"


def test_curve_of_many_sizes_is_logarithmic_and_needs_points():
    assert CurveDisplay([1, 10, 100], [0.1, 0.2, 0.3]).plot().ax_.get_xscale() == "log"
    with pytest.raises(ValueError, match="no curve"):
        plot_curve({"curve": None, "features": []})


def test_redundancy_groups():
    names = ["a", "b", "c", "d", "e"]
    display = RedundancyDisplay(names, [5, 4, 3, 2, 1], [None, None, "a", "b", "a"]).plot()
    assert display.groups == [[0, 2, 4], [1, 3]]
    assert texts(display.ax_.get_yticklabels()) == ["a", "c", "e", "b", "d"]
    assert plot_redundancy(report_cases.selection(NAMES, n_kept=3)).groups == [[0, 3]]
    assert drawn(
        RedundancyDisplay(names, np.arange(5), [None] * 5).plot()
    ).any()  # nothing to show is no error


def test_stability_of_selections_and_of_a_comparison():
    selections = np.array([[0, 1, 1, 0], [1, 1, 0, 0], [0, 1, 1, 0]], dtype=bool)
    display = StabilityDisplay.from_selections(selections)
    assert texts(display.ax_.get_xticklabels()) == ["x1", "x2", "x0"]
    assert np.array_equal(display.image_.get_array(), selections[:, [1, 2, 0]])
    d = report_cases.comparison(["gain", "relieff"])
    d["selected"]["relieff"]["5"] = {"colour": 0.9}
    display = StabilityDisplay.from_comparison(d, 5)
    assert display.rows == ["gain", "relieff"]
    assert display.names == ["colour", "age"]  # 1.52 in all, and 1
    assert display.shares.tolist() == [[0.62, 1.0], [0.9, 0.0]]
    with pytest.raises(ValueError, match="size 7"):
        StabilityDisplay.from_comparison(d, 7)
    with pytest.raises(ValueError, match="shape"):
        StabilityDisplay(["a"], ["b"], [[1, 2]])


@pytest.mark.parametrize("sampling", ["confidence", "two-stage+confidence", "soft"])
def test_convergence_of_a_forest(sampling):
    X, y = load_wine(return_X_y=True)
    forest = SiftForestClassifier(23, feature_sampling=sampling, update_every=5, random_state=0).fit(X, y)
    changes = forest.weight_changes_
    assert changes.shape == (5,)  # after every fifth tree, and after the last
    assert ((changes >= 0) & (changes <= 1)).all()
    display = ConvergenceDisplay.from_forest(forest)
    assert display.ax_.get_lines()[0].get_xdata().tolist() == [5, 10, 15, 20, 25]
    drawn(display)


def test_changes_are_those_of_the_weights():
    """Grown one tree at a time by warm starts, the forest shows every distribution on its way."""
    X, y = load_wine(return_X_y=True)
    forest = SiftForestClassifier(1, feature_sampling="soft", warm_start=True, random_state=0)
    way = [np.full(X.shape[1], 1 / X.shape[1])]
    for n in range(1, 8):
        way.append(forest.set_params(n_estimators=n).fit(X, y).feature_weights_)
    assert forest.weight_changes_ == pytest.approx(np.abs(np.diff(way, axis=0)).sum(axis=1) / 2)
    whole = SiftForestClassifier(7, feature_sampling="soft", random_state=0).fit(X, y)
    assert np.array_equal(whole.weight_changes_, forest.weight_changes_)


def test_a_forest_that_does_not_learn_has_no_convergence():
    X, y = load_wine(return_X_y=True)
    forest = SiftForestClassifier(3, feature_sampling="soft", random_state=0).fit(X, y)
    forest.set_params(feature_sampling="uniform").fit(X, y)
    assert not hasattr(forest, "weight_changes_")
    with pytest.raises(ValueError, match="feature_sampling"):
        ConvergenceDisplay.from_forest(forest)


def test_critical_differences():
    display = CriticalDifferenceDisplay(["a", "b", "c", "d"], [2.0, 1.2, 4.0, 2.9], 1.0).plot()
    assert display.groups == [(0, 1), (1, 2)]  # of b, a, d, c
    shown = [text.get_text() for text in display.ax_.texts]
    assert {"b 1.20", "a 2.00", "d 2.90", "c 4.00", "CD 1.00"} <= set(shown)
    d = report_cases.comparison(["gain", "relieff", "random"])
    assert CriticalDifferenceDisplay.from_comparison(d).methods == ["gain", "relieff", "random"]
    with pytest.raises(ValueError, match="several data sets"):
        CriticalDifferenceDisplay.from_comparison(d | {"ranks": None})


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(1, 9), min_size=1, max_size=8), st.floats(0.01, 9))
def test_groups_are_the_largest_that_hold_no_difference(ranks, difference):
    ranks.sort()
    k = len(ranks)
    alike = {(a, b) for a in range(k) for b in range(a + 1, k) if ranks[b] - ranks[a] < difference}
    largest = {(a, b) for a, b in alike if (a - 1, b) not in alike and (a, b + 1) not in alike}
    assert set(rank_groups(ranks, difference)) == largest


def test_matplotlib_is_not_imported_before_something_is_drawn():
    slow = "not {'matplotlib', 'jinja2'}.isdisjoint(sys.modules)"
    code = f"import sys, foresift.plots, foresift.report; sys.exit({slow})"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
