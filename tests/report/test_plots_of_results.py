"""The pictures that `Selection` and `Comparison` offer show what they hold."""

import matplotlib as mpl
import numpy as np
import pytest
import report_cases

from foresift import Comparison, compare, select
from foresift.datasets import make_simple
from foresift.plots import (
    ConvergenceDisplay,
    CriticalDifferenceDisplay,
    MethodCurvesDisplay,
    ParetoDisplay,
    StabilityDisplay,
)

mpl.use("Agg")
import matplotlib.pyplot as plt

X, Y = make_simple(120, n_noise=3, random_state=0)
FAST = {"n_estimators": 15}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def texts(labels):
    return [label.get_text() for label in labels]


@pytest.fixture(scope="module")
def selection():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("foresift.evaluation.select.models.N_TREES", 5)
        return select(X, Y, random_state=0, parameters=FAST)


@pytest.fixture(scope="module")
def comparison():
    return compare(X, Y, ["info-gain", "random"], ["nb", "knn"], sizes=[1, 3, "own"], cv=5)


def test_stability_of_a_selection_is_that_of_its_repetitions(selection):
    frequency = {row["name"]: row["frequency"] for row in selection.ranking}
    assert selection.passes.mean(axis=0).tolist() == [frequency[f"x{j}"] for j in range(X.shape[1])]
    display = selection.plot_stability(max_features=2)
    assert isinstance(display, StabilityDisplay)
    assert display.shares.shape == (len(selection.passes), 2)
    often = sorted(frequency, key=lambda name: -frequency[name])
    assert set(display.names) == set(often[:2])
    assert "passes" not in selection.to_dict()


def test_stability_and_convergence_say_what_they_need():
    ranked = select(X, Y, "info-gain", 2, check=False)
    with pytest.raises(ValueError, match='takes check=True and a method with a test \\("auto"'):
        ranked.plot_stability()
    with pytest.raises(ValueError, match=r"InfoGainSelector has not learned .* or take feature-boosting"):
        ranked.plot_convergence()
    with pytest.raises(ValueError, match="no curve"):
        ranked.plot_curve()


def test_convergence_of_a_selection_that_learns_weights():
    found = select(X, Y, "feature-boosting", 2, check=False, random_state=0, parameters={"n_iterations": 12})
    display = found.plot_convergence()
    assert isinstance(display, ConvergenceDisplay)
    assert display.changes.tolist() == np.abs(found.selector_.history_["change"]).tolist()
    assert (display.changes > 0).any()
    assert display.ax_.get_xlabel() == "iterations"


@pytest.mark.parametrize("classifier", [None, "nb", "knn"])
def test_curves_of_a_comparison_are_its_rows(comparison, classifier):
    display = comparison.plot_curve(estimator=classifier)
    assert isinstance(display, MethodCurvesDisplay)
    wanted = classifier or "nb"
    rows = [row for row in comparison.rows if row.classifier == wanted]
    assert list(display.curves) == ["info-gain", "random"]
    for method, (sizes, scores, low, high) in display.curves.items():
        some = sorted((row for row in rows if row.method == method), key=lambda row: row.n_features)
        assert sizes.tolist() == [row.n_features for row in some]
        assert scores.tolist() == [row.mean for row in some]
        np.testing.assert_array_equal(low, [row.lower for row in some])
        np.testing.assert_array_equal(high, [row.upper for row in some])
    assert display.none == next(row.mean for row in rows if row.method == "none")
    assert texts(display.ax_.get_legend().get_texts()) == ["info-gain", "random", "no selection"]
    display.figure_.canvas.draw()


def test_pareto_picture_of_a_comparison(comparison):
    display = comparison.plot_pareto(estimator="knn")
    rows = [row for row in comparison.rows if row.estimator == "knn"]
    assert isinstance(display, ParetoDisplay)
    assert display.names == ["no selection" if row.size == "all" else row.method for row in rows]
    assert display.sizes.tolist() == [row.n_features for row in rows]
    for at, row in enumerate(rows):
        beaten = any(o.mean >= row.mean and o.n_features <= row.n_features for o in rows if o is not row)
        assert (at in display.front) or beaten
    best = max(rows, key=lambda row: row.mean)
    assert rows[display.front[-1]].mean == best.mean
    display.figure_.canvas.draw()


def test_curves_say_what_there_is(comparison):
    with pytest.raises(ValueError, match=r"no estimator 'rf' in this comparison; it has \['nb', 'knn'\]"):
        comparison.plot_curve(estimator="rf")
    d = comparison.to_dict()
    d["rows"] = [*d["rows"], {**d["rows"][0], "dataset": "another"}]
    with pytest.raises(ValueError, match="several data sets"):
        MethodCurvesDisplay.from_comparison(d)


def test_stability_and_ranks_of_a_comparison(comparison):
    display = comparison.plot_stability(1)
    assert (display.rows, display.shares.sum(axis=1).tolist()) == (["info-gain", "random"], [1, 1])
    with pytest.raises(ValueError, match="several data sets"):
        comparison.plot_ranks()
    ranks = report_cases.comparison(["gain", "relieff", "random"])["ranks"]
    many = Comparison(comparison.rows, comparison.about, [], {}, ranks)
    assert isinstance(many.plot_ranks(), CriticalDifferenceDisplay)


def test_a_comparison_shows_itself_in_one_line(comparison):
    assert repr(comparison) == "<Comparison on data, 14 results: none, info-gain, random>"
    assert "\n" in str(comparison)


def test_a_comparison_has_a_verdict(comparison):
    best = comparison.best()
    assert best.method in comparison.verdict or "No selection" in comparison.verdict
    assert f"with {best.classifier}." in comparison.verdict
