"""Boosting by resampling: probabilities, errors and votes against their literal form; the open cases."""

import math
import warnings

import numpy as np
import pytest
import reference_thesis
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from foresift import C45Classifier, CartClassifier, ResampleBoostClassifier
from foresift.models.resample_boosting import _Rounds

UPDATES = pytest.mark.parametrize("update", ["adaboost", "arc-x4"])
FITTED = []  # every member that was fitted, also those that boosting dropped


class Noted(DecisionTreeClassifier):
    def fit(self, X, y, sample_weight=None):
        FITTED.append((self, X[:, 0].astype(int)))  # the first column numbers the rows
        return super().fit(X[:, 1:], y, sample_weight)

    def predict_proba(self, X, check_input=True):
        return super().predict_proba(X[:, 1:])


def make_data(seed=0, n=100, noise=0.8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).round(1)
    y = (X[:, 1] + X[:, 2] * X[:, 3] + rng.normal(scale=noise, size=n) > 0).astype(int)
    return np.column_stack([np.arange(n), X]), y


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_adaboost(seed, depth, weighted):
    X, y = make_data(seed)
    weights = np.random.default_rng(seed).integers(0, 3, 100).astype(float) if weighted else None
    FITTED.clear()
    model = ResampleBoostClassifier(Noted(max_depth=depth), 12, random_state=seed)
    model.fit(X, y, sample_weight=weights)
    first = np.full(100, 0.01) if weights is None else weights / weights.sum()
    wrongs = [member.predict_proba(X).argmax(axis=1) != y for member, _ in FITTED]
    probabilities, errors, votes = reference_thesis.adaboost(first, wrongs)
    kept = [i for i, vote in enumerate(votes) if vote is not None]
    assert [FITTED[i][0] for i in kept] == model.estimators_
    assert len(kept) == 12
    assert model.estimator_errors_ == pytest.approx([errors[i] for i in kept])
    votes = np.array([votes[i] for i in kept])
    assert model.estimator_weights_ == pytest.approx(votes / votes.sum())
    for (_, drawn), p in zip(FITTED, probabilities, strict=True):
        assert len(drawn) == np.count_nonzero(first)
        assert all(p[i] > 0 for i in drawn)
    expected = reference_thesis.weighted_vote([np.where(wrongs[i], 1 - y, y) for i in kept], votes, 2)
    assert model.predict(X).tolist() == expected


def test_rows_that_were_wrong_are_drawn_more_often():
    X, y = make_data(1, n=400)
    FITTED.clear()
    ResampleBoostClassifier(Noted(max_depth=1), 30, random_state=0).fit(X, y)
    wrongs = [member.predict_proba(X).argmax(axis=1) != y for member, _ in FITTED]
    probabilities, _, votes = reference_thesis.adaboost(np.full(400, 1 / 400), wrongs)
    assert None not in votes[:2]
    # Half of the probability is on the rows that the last member got wrong, whatever their number.
    shares = [
        np.mean(wrongs[k][FITTED[k + 1][1]])
        for k in range(len(FITTED) - 1)
        if votes[k] is not None and votes[k + 1] is not None
    ]
    assert np.mean(shares) == pytest.approx(0.5, abs=0.02)
    assert np.mean([wrong.mean() for wrong in wrongs]) < 0.45
    rows = np.concatenate([drawn for _, drawn in FITTED])
    expected = 400 * np.sum(probabilities, axis=0)
    counts = np.bincount(rows, minlength=400)
    assert ((counts - expected) ** 2 / expected).mean() == pytest.approx(1, abs=0.3)


@pytest.mark.parametrize("weighted", [False, True])
def test_arc_x4(weighted):
    X, y = make_data(2)
    weights = np.random.default_rng(0).integers(0, 3, 100).astype(float) if weighted else None
    FITTED.clear()
    model = ResampleBoostClassifier(Noted(max_depth=2), 12, update="arc-x4", random_state=0)
    model.fit(X, y, sample_weight=weights)
    first = np.full(100, 0.01) if weights is None else weights / weights.sum()
    wrongs = [member.predict_proba(X).argmax(axis=1) != y for member, _ in FITTED]
    _, errors = reference_thesis.arc_x4(first, wrongs)
    assert [member for member, _ in FITTED] == model.estimators_
    assert model.estimator_errors_ == pytest.approx(errors)
    assert model.estimator_weights_ == pytest.approx(1 / 12)
    votes = [np.where(wrong, 1 - y, y) for wrong in wrongs]
    assert model.predict(X).tolist() == reference_thesis.weighted_vote(votes, [1] * 12, 2)
    if weighted:
        assert all(weights[drawn].all() for _, drawn in FITTED)


@pytest.mark.parametrize("arcing", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_probabilities_of_the_rounds(arcing, seed):
    """With errors of every size, 0 and above 1/2 among them."""
    rng = np.random.default_rng(seed)
    first = rng.dirichlet(np.ones(12))
    first[3] = 0
    first /= first.sum()
    wrongs = [rng.random(12) < p for p in rng.choice([0.0, 0.1, 0.3, 0.6], 24)]
    twin = reference_thesis.arc_x4 if arcing else reference_thesis.adaboost
    probabilities, errors, *votes = twin(first, wrongs)
    rounds = _Rounds(first, arcing=arcing)
    for k, wrong in enumerate(wrongs):
        assert rounds.shares == pytest.approx(probabilities[k])
        assert rounds.shares.sum() == pytest.approx(1)
        kept = rounds.add(k, wrong)
        assert kept == (arcing or votes[0][k] is not None)
    members, found, cast = rounds.result()
    assert found == pytest.approx([errors[k] for k in members])
    assert cast == pytest.approx([1.0 if arcing else votes[0][k] for k in members])


# --- what AdaBoost leaves open ---


def test_members_without_error():
    X = np.arange(40.0)[:, np.newaxis]
    y = np.arange(40) // 20
    model = ResampleBoostClassifier(CartClassifier(), 6, random_state=0).fit(X, y)
    none = model.estimator_errors_ == 0
    assert none.any()
    assert len(model.estimators_) == 6
    assert np.isfinite(model.estimator_weights_).all()
    votes = np.array([math.log2(79) if e == 0 else math.log2((1 - e) / e) for e in model.estimator_errors_])
    assert model.estimator_weights_ == pytest.approx(votes / votes.sum())
    assert model.score(X, y) == 1


@pytest.mark.parametrize("estimator", [DummyClassifier(), DecisionTreeClassifier(max_depth=1)])
def test_members_that_only_guess(estimator):
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10)
    y = X[:, 0] ^ X[:, 1]
    with pytest.warns(UserWarning, match=r"ended with 1 of 25 members: 25 in a row.*arc-x4") as caught:
        model = ResampleBoostClassifier(estimator, random_state=0).fit(X, y)
    assert caught[0].filename == __file__  # where fit was called
    assert model.estimator_errors_ == pytest.approx([0.5])
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arcing = ResampleBoostClassifier(estimator, update="arc-x4", random_state=0).fit(X, y)
    assert len(arcing.estimators_) == 25


def test_an_error_of_one_half_but_for_rounding():
    """A learner that comes out the same again has an error of 1/2 by the new probabilities: dropped."""
    X = make_data(n=30)[0]
    for n_wrong in range(1, 15):
        y = (np.arange(30) < n_wrong).astype(int)
        never = DummyClassifier(strategy="constant", constant=0)
        model = ResampleBoostClassifier(never, 4, random_state=0).fit(X, y)
        assert model.estimator_errors_ == pytest.approx([n_wrong / 30] * 4)


def test_when_no_member_is_better_than_guessing_the_last_is_kept():
    X, y = np.zeros((10, 1)), np.array([0, 1] * 5)
    with pytest.warns(UserWarning, match="ended with 1 of 25"):
        model = ResampleBoostClassifier(random_state=0).fit(X, y)
    assert len(model.estimators_) == len(model.estimator_weights_) == 1
    assert model.estimator_errors_[0] >= 0.5
    assert model.estimator_weights_.tolist() == [1]


# --- members of any kind, odd and bad input ---


@UPDATES
@pytest.mark.parametrize(
    "estimator", [None, CartClassifier(max_depth=3), GaussianNB(), LinearSVC(), Perceptron()]
)
def test_members_of_any_kind(update, estimator):
    X, y = make_data(n=150, noise=0.2)
    model = ResampleBoostClassifier(estimator, 8, update=update, random_state=0).fit(X[:, 1:], y)
    shares = model.predict_proba(X[:, 1:])
    assert shares.shape == (150, 2)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert model.score(X[:, 1:], y) > 0.65
    again = ResampleBoostClassifier(estimator, 8, update=update, random_state=0).fit(X[:, 1:], y)
    assert np.array_equal(again.predict_proba(X[:, 1:]), shares)
    assert all(columns.tolist() == [0, 1, 2, 3, 4] for columns in model.estimators_features_)


def test_several_classes_and_text_labels():
    X = make_data(n=150)[0]
    labels = np.array(["no", "some", "yes"])[np.digitize(X[:, 2], [-0.5, 0.5])]
    model = ResampleBoostClassifier(n_estimators=5, random_state=0).fit(X, labels)
    assert model.classes_.tolist() == ["no", "some", "yes"]
    assert model.score(X, labels) > 0.95


@UPDATES
@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(), GaussianNB()])
def test_a_draw_of_one_class(update, estimator):
    X, _ = make_data(n=25)
    y = (np.arange(25) == 3).astype(int)
    for seed in range(4):
        model = ResampleBoostClassifier(estimator, 6, update=update, random_state=seed).fit(X, y)
        assert model.predict_proba(X).sum(axis=1) == pytest.approx(1)


@UPDATES
@pytest.mark.parametrize("value", [1.0, np.nan])
def test_columns_that_say_nothing(update, value):
    X, y = make_data()
    X[:, [0, 4]] = value
    model = ResampleBoostClassifier(n_estimators=4, update=update, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"update": "gradient"}, "update"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"estimator": "tree"}, "estimator"),
        ({"estimator": LinearRegression()}, "needs a classifier, but LinearRegression is not one"),
        ({"estimator": C45Classifier}, r"pass an instance, C45Classifier\(\)"),
        ({"estimator": C45Classifier(confidence_factor=7)}, "confidence_factor"),
        ({"estimator": LogisticRegression(C=-1)}, "'C' parameter"),
    ],
)
def test_bad_parameters(options, message):
    X, y = make_data(n=30)
    with pytest.raises(ValueError, match=message):
        ResampleBoostClassifier(**options).fit(X, y)


def test_bad_data():
    X, y = make_data(n=30)
    with pytest.raises(ValueError, match="one class"):
        ResampleBoostClassifier().fit(X, np.ones(30))
    with pytest.raises(ValueError, match="one class"):
        ResampleBoostClassifier().fit(X, y, sample_weight=y)
    with pytest.raises(ValueError, match="features"):
        ResampleBoostClassifier(n_estimators=2).fit(X, y).predict(X[:, :2])
