"""SequentialSelector: the same sets as scikit-learn's, rules to stop by, progress, Ctrl-C, bad input."""

import os
import signal
import subprocess
import sys
import time
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from callbacks import Listener
from sklearn.datasets import load_iris, make_classification
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

from foresift import CartClassifier, SequentialSelector, SiftForestClassifier, SubsetSizeCV
from foresift.data.sklearn_compat import HAS_CALLBACKS

CV = StratifiedKFold(3, shuffle=True, random_state=0)
FOREST = SiftForestClassifier(5, max_features="sqrt", random_state=0)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(200, 7, n_informative=3, n_redundant=1, random_state=3)
    return X, y


def found(selector):
    return selector.get_support(indices=True).tolist()


# --- against scikit-learn ---


@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("model", [GaussianNB(), FOREST], ids=["GaussianNB", "forest"])
def test_sets_are_those_of_scikit_learn(model, direction, k, data):
    X, y = data
    scoring = "neg_log_loss"  # without ties
    theirs = SequentialFeatureSelector(
        model, n_features_to_select=k, direction=direction, cv=CV, scoring=scoring
    ).fit(X, y)
    ours = SequentialSelector(model, k, direction=direction, cv=CV, scoring=scoring).fit(X, y)
    assert found(ours) == found(theirs)


@pytest.mark.parametrize("tol", [0.02, 0.005])
def test_tolerance_stops_where_scikit_learn_stops(tol, data):
    X, y = data
    theirs = SequentialFeatureSelector(
        GaussianNB(), n_features_to_select="auto", tol=tol, direction="forward", cv=CV, scoring="neg_log_loss"
    ).fit(X, y)
    ours = SequentialSelector(GaussianNB(), direction="forward", tol=tol, cv=CV, scoring="neg_log_loss")
    assert found(ours.fit(X, y)) == found(theirs)


# --- the rules ---


def test_paths_of_every_direction(data):
    X, y = data
    sizes = {
        "forward": [1, 2, 3],
        "backward": [7, 6, 5, 4, 3],
        "plus-minus": [1, 2, 1, 2, 3, 2, 3, 4, 3],
        "exhaustive": [3],
    }
    paths = {}
    for direction, expected in sizes.items():
        selector = SequentialSelector(FOREST, 3, direction=direction, cv=CV).fit(X, y)
        assert selector.path_.n_features.tolist() == expected
        assert selector.support_.sum() == 3
        assert selector.path_.best(3).features == tuple(found(selector))
        assert (selector.path_.seconds > 0).all()
        assert not selector.interrupted_
        paths[direction] = selector.path_.best(3).score
    assert paths["exhaustive"] == max(paths.values())


def test_plus_minus_ends_at_all_features(data):
    X, y = data
    for k in (6, 7):
        selector = SequentialSelector(FOREST, k, direction="plus-minus", cv=CV).fit(X, y)
        assert selector.support_.sum() == k
    assert selector.n_cached_ > 0  # it comes by many sets again


def test_plus_minus_finds_what_only_the_way_back_shows():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 5)).astype(float)
    y = (X[:, 1] != X[:, 2]).astype(int)
    X[:, 0] = np.where(rng.random(400) < 0.75, y, 1 - y)
    for options in ({"direction": "plus-minus"}, {"direction": "forward", "floating": True}):
        selector = SequentialSelector(CartClassifier(), 2, cv=CV, **options).fit(X, y)
        assert selector.path_[0].features == (0,)
        assert found(selector) == [1, 2]
        assert selector.path_.best(2).score == 1.0


def test_floating_goes_back(data):
    X, y = data
    plain = SequentialSelector(FOREST, 2, cv=CV).fit(X, y)
    floating = SequentialSelector(FOREST, 2, cv=CV, floating=True).fit(X, y)
    assert len(floating.path_) >= len(plain.path_)
    assert floating.path_.best(2).score >= plain.path_.best(2).score
    assert floating.n_evaluated_ > plain.n_evaluated_


def test_without_a_rule_the_best_set_of_the_whole_way_is_kept(data):
    X, y = data
    for direction in ("forward", "backward", "plus-minus", "exhaustive"):
        selector = SequentialSelector(FOREST, direction=direction, cv=CV).fit(X, y)
        top = selector.path_.scores.max()
        assert selector.path_.best().score == top
        best = [f for f, s in zip(selector.path_.features, selector.path_.scores, strict=True) if s == top]
        assert tuple(found(selector)) in best
        assert selector.support_.sum() == min(map(len, best))
        assert selector.path_.n_features.max() == 7
        assert selector.full_error_ == pytest.approx(1 - selector.path_.best(7).score)


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("direction", ["forward", "backward", "exhaustive", "plus-minus"])
def test_error_increase(direction, relative, data):
    X, y = data
    increase = 0.5 if relative else 0.05
    selector = SequentialSelector(
        FOREST, direction=direction, max_error_increase=increase, relative=relative, cv=CV
    ).fit(X, y)
    full = 1 - SequentialSelector(FOREST, 7, cv=CV).fit(X, y).path_[0].score
    assert selector.full_error_ == pytest.approx(full)
    limit = full * 1.5 if relative else full + 0.05
    path = selector.path_
    kept = path.best(int(selector.support_.sum()))
    assert tuple(found(selector)) == kept.features
    assert 1 - kept.score <= limit + 1e-12
    if direction == "backward":
        assert path.errors[-1] > limit or path.n_features[-1] == 1
        assert (path.errors[:-1] <= limit + 1e-12).all()
    else:
        assert (path.errors[:-1] > limit).all()


def test_tolerance_backward(data):
    X, y = data
    selector = SequentialSelector(FOREST, tol=0.01, cv=CV).fit(X, y)
    drops = -np.diff(selector.path_.scores)
    assert (drops[:-1] <= 0.01 + 1e-12).all()
    assert drops[-1] > 0.01
    assert selector.support_.sum() == selector.path_.n_features[-2]


def test_scores_tell_the_order(data):
    X, y = data
    selector = SequentialSelector(FOREST, 2, cv=CV).fit(X, y)
    dropped = [
        set(a) - set(b) for a, b in zip(selector.path_.features, selector.path_.features[1:], strict=False)
    ]
    order = [features.pop() for features in dropped]
    assert selector.ranking_[order].tolist() == [7, 6, 5, 4, 3]
    assert (selector.scores_[selector.support_] > 7).all()


def test_the_same_for_any_number_of_threads(data):
    X, y = data
    one, two = (SequentialSelector(FOREST, 3, n_jobs=n, random_state=0).fit(X, y) for n in (1, 2))
    assert one.path_ == two.path_
    again = SequentialSelector(n_features_to_select=3, random_state=1)
    assert again.fit(X, y).path_ == again.fit(X, y).path_


def test_frames_with_words_and_missing_values():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 150)
    frame = pd.DataFrame({"noise": rng.normal(size=150), "word": np.where(y == 1, "yes", "no")})
    frame["weak"] = y + rng.normal(size=150)
    frame.loc[rng.random(150) < 0.2, ["word", "weak"]] = None
    selector = SequentialSelector(FOREST, 2, cv=CV).fit(frame, y)
    assert selector.get_feature_names_out().tolist() == ["word", "weak"]


# --- long searches ---


def test_progress_lines(data, capsys):
    X, y = data
    SequentialSelector(FOREST, 5, cv=CV, verbose=1).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("]")[1].split(",")[0] for line in lines] == [f" {k} of 7 features" for k in (7, 6, 5)]
    assert all("error 0." in line and "left" in line and "gone" in line for line in lines)
    assert lines[-1].endswith("about 0:00:00 left")


@pytest.mark.skipif(not HAS_CALLBACKS, reason="callbacks came with scikit-learn 1.9")
def test_callbacks_hear_of_every_step_and_may_end_the_search(data):
    X, y = data
    listener = Listener()
    SequentialSelector(FOREST, 4, cv=CV).set_callbacks(listener).fit(X, y)
    assert listener.ended == [("step", 0), ("step", 1), ("step", 2), ("step", 3), ("fit", 0)]
    ended = SequentialSelector(FOREST, 1, cv=CV).set_callbacks(Listener(stop_after=2)).fit(X, y)
    assert ended.path_.n_features.tolist() == [7, 6]
    assert ended.interrupted_
    assert ended.support_.sum() in (6, 7)


class Interrupting(GaussianNB):
    """Raises KeyboardInterrupt at a certain fit."""

    def __init__(self, after=0):
        super().__init__()
        self.after = after

    fits = 0

    def fit(self, X, y, sample_weight=None):
        Interrupting.fits += 1
        if Interrupting.fits > self.after:
            raise KeyboardInterrupt
        return super().fit(X, y)


def test_ctrl_c_stores_the_best_so_far(data):
    X, y = data
    expected = SequentialSelector(GaussianNB(), 1, cv=CV).fit(X, y).path_
    after = 3 * (1 + 7 + 6) + 4  # in the middle of the third step
    for return_partial in (False, True):
        Interrupting.fits = 0
        selector = SequentialSelector(Interrupting(after), 1, cv=CV, return_partial=return_partial)
        if return_partial:
            selector.fit(X, y)
        else:
            with pytest.raises(KeyboardInterrupt):
                selector.fit(X, y)
        assert selector.interrupted_
        assert selector.path_ == expected[:3]
        assert tuple(found(selector)) == expected[:3].best().features
        assert selector.transform(X).shape[1] == selector.support_.sum()
    Interrupting.fits = 0
    with pytest.raises(KeyboardInterrupt):  # nothing to return yet
        SequentialSelector(Interrupting(1), 1, cv=CV, return_partial=True).fit(X, y)


def test_ctrl_c_in_an_exhaustive_search(data, monkeypatch, capsys):
    X, y = data
    monkeypatch.setattr("foresift.selectors.search.walks._TOGETHER", 5)
    whole = SequentialSelector(GaussianNB(), 3, direction="exhaustive", cv=CV, verbose=1).fit(X, y)
    assert len(capsys.readouterr().err.splitlines()) == 7  # of 35 sets
    assert whole.path_.n_features.tolist() == [3]
    Interrupting.fits = 0
    selector = SequentialSelector(
        Interrupting(3 * 12), 3, direction="exhaustive", cv=CV, return_partial=True
    ).fit(X, y)
    assert selector.interrupted_
    first = list(combinations(range(7), 3))[:10]
    best = max(first, key=lambda s: cross_val_score(GaussianNB(), X[:, list(s)], y, cv=CV).mean())
    assert tuple(found(selector)) == best


def test_a_fit_that_is_cut_short_before_it_found_anything_leaves_the_one_before(data):
    X, y = data
    Interrupting.fits = 0
    selector = SequentialSelector(Interrupting(10**9), 2, cv=CV).fit(X, y)
    selector.estimator.after = Interrupting.fits
    with pytest.raises(KeyboardInterrupt):
        selector.fit(X[:, :5], y)
    assert (selector.n_features_in_, selector.interrupted_) == (7, False)
    assert selector.get_support().sum() == 2


SCRIPT = """
import sys, numpy as np
from foresift import ContributionSelector, SequentialSelector, SiftForestClassifier
rng = np.random.default_rng(0)
X, y = rng.normal(size=(1500, 60)), rng.integers(0, 2, 1500)
forest = SiftForestClassifier(60, max_features="sqrt", random_state=0)
options = {"verbose": 1, "n_jobs": int(sys.argv[2]), "random_state": 0}
options["return_partial"] = sys.argv[3] == "True"
if sys.argv[1] == "SequentialSelector":
    selector = SequentialSelector(forest, 1, **options)
else:
    selector = ContributionSelector(1, estimator=forest.set_params(n_estimators=300), **options)
try:
    selector.fit(X, y)
    print("returned")
except KeyboardInterrupt:
    print("raised")
print(selector.interrupted_, 1 <= len(selector.path_) < 60, selector.support_.sum() > 50)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
@pytest.mark.parametrize(
    ("name", "n_jobs", "partial"),
    [("SequentialSelector", 1, True), ("SequentialSelector", 2, False), ("ContributionSelector", 2, True)],
)
def test_a_real_ctrl_c(name, n_jobs, partial):
    command = [sys.executable, "-c", SCRIPT, name, str(n_jobs), str(partial)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        assert "60 of 60 features" in line, line + process.stderr.read()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert time.monotonic() - sent < 20
    assert output.splitlines() == ["returned" if partial else "raised", "True True True"], (output, errors)


# --- bad input ---


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features_to_select": 0}, "n_features_to_select"),
        ({"n_features_to_select": "cv"}, "SequentialSelector chooses its own size; use None, tol or max"),
        ({"n_features_to_select": SubsetSizeCV()}, "chooses its own size"),
        ({"n_features_to_select": np.array([1, 2])}, "parameter of SequentialSelector must be"),
        ({"n_features_to_select": "all"}, "'n_features_to_select' parameter .* must be an int"),
        ({"n_features_to_select": 8}, "more than the 7 columns"),
        ({"direction": "plus-minus", "plus": 1, "minus": 1}, "plus=1 must be more than minus=1"),
        ({"direction": "plus-minus", "plus": 1, "minus": 2}, "plus=1 must be more than minus=2"),
        ({"direction": "plus-minus", "floating": True}, "floating=True goes with"),
        ({"direction": "exhaustive", "tol": 0.1}, "tol goes with"),
        ({"n_features_to_select": 2, "tol": 0.1}, "n_features_to_select and tol are rules"),
        ({"direction": "exhaustive", "max_subsets": 100}, "127 sets, more than max_subsets=100"),
        (
            {"direction": "exhaustive", "n_features_to_select": 3, "max_subsets": 34},
            "35 sets, more than max_subsets=34",
        ),
        ({"scoring": lambda model, X, y: float("nan")}, "scorer returned nan"),
        ({"scoring": "no-such-scorer"}, "no-such-scorer"),
        ({"cv": 150}, "fewer than the 150 folds"),
        ({"cv": 1}, "cv"),
        ({"direction": "sideways"}, "direction"),
    ],
)
def test_bad_input(options, message, data):
    X, y = data
    with pytest.raises(ValueError, match=message):
        SequentialSelector(**{"estimator": FOREST, **options}).fit(X, y)


def test_a_regressor_is_refused(data):
    from sklearn.linear_model import Ridge

    with pytest.raises(ValueError, match="Ridge is not one"):
        SequentialSelector(Ridge()).fit(*data)


def test_what_the_classifier_cannot_take_is_refused_by_itself(data):
    X, y = data
    X = X.copy()
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        SequentialSelector(LogisticRegression()).fit(X, y)
    assert SequentialSelector(CartClassifier(), 2).fit(X, y).support_.sum() == 2


def test_iris_needs_the_petals():
    X, y = load_iris(return_X_y=True)
    selector = SequentialSelector(n_features_to_select=2, random_state=0, n_jobs=2).fit(X, y)
    assert found(selector) == [2, 3]
