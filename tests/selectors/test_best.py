"""The choice among rankers: against a literal reference, folds that respect rows, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, balanced_accuracy_score, r2_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from foresift import (
    AggregateSelector,
    BestRankerSelector,
    CartClassifier,
    FScoreSelector,
    InfoGainSelector,
    PearsonSelector,
    RandomSelector,
    ReliefFSelector,
    SSVSelector,
    select,
)
from foresift.selectors import best as module
from foresift.selectors.best import choose_ranker
from foresift.selectors.size_cv import SizeCurve, SubsetSizeCV

RANKERS = [("f", FScoreSelector()), ("gain", InfoGainSelector()), ("relief", ReliefFSelector())]
WINE, WINES = load_wine(return_X_y=True)


def reference(rankers, X, y, model, folds, sizes, score, rule, weights=None):
    """Loops: rank the training rows of every fold, fit and score the model for every size, then choose."""
    table = np.zeros((len(rankers), len(sizes), len(folds)))
    for number, (train, test) in enumerate(folds):
        own = {} if weights is None else {"sample_weight": weights[train]}
        judged = {} if weights is None else {"sample_weight": weights[test]}
        for r, (_, ranker) in enumerate(rankers):
            ranks = clone(ranker).fit(X[train], y[train], **own).ranking_
            for s, size in enumerate(sizes):
                columns = [j for j in range(X.shape[1]) if ranks[j] <= size]
                fitted = clone(model).fit(X[train][:, columns], y[train], **own)
                table[r, s, number] = score(y[test], fitted.predict(X[test][:, columns]), **judged)
    means = table.mean(axis=2)
    highest = [max(row) for row in means]
    chosen = next(r for r in range(len(rankers)) if highest[r] >= max(highest) - 1e-12)
    best = next(s for s in range(len(sizes)) if means[chosen, s] >= highest[chosen] - 1e-12)
    least = highest[chosen] - 1e-12
    if rule == "one-se":
        least -= table[chosen, best].std(ddof=1) / len(folds) ** 0.5
    size = next(size for s, size in enumerate(sizes) if means[chosen, s] >= least)
    return table, rankers[chosen][0], size


def tables():
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(120, 7))
    yield "wine", WINE, WINES
    yield "pair", Z, ((Z[:, 1] > 0) ^ (Z[:, 4] > 0)).astype(int)
    yield "ties", np.round(Z), (Z[:, 0] + Z[:, 2] + rng.normal(size=120) > 0).astype(int)
    yield "noise", Z, rng.integers(0, 3, 120)


@pytest.mark.parametrize("rule", ["one-se", "best"])
@pytest.mark.parametrize("table", list(tables()), ids=lambda table: table[0])
@pytest.mark.parametrize("model", [GaussianNB(), CartClassifier(max_depth=3)], ids=["nb", "cart"])
def test_choice_is_that_of_plain_loops(table, model, rule):
    _, X, y = table
    folds = list(StratifiedKFold(4, shuffle=True, random_state=1).split(X, y))
    sizes = [1, 2, 3, 5, X.shape[1]]
    expected, chosen, size = reference(RANKERS, X, y, model, folds, sizes, accuracy_score, rule)
    found = BestRankerSelector(RANKERS, estimator=model, cv=folds, sizes=sizes, rule=rule).fit(X, y)
    curves = np.stack([curve.scores.T for curve in found.candidate_curves_])
    assert np.allclose(curves, expected, rtol=0, atol=1e-12)
    assert (found.chosen_, found.size_curve_.chosen, found.support_.sum()) == (chosen, size, size)
    alone = clone(dict(RANKERS)[chosen]).fit(X, y)
    assert np.array_equal(found.scores_, alone.scores_)
    assert np.array_equal(found.ranking_, alone.ranking_)
    assert np.array_equal(found.support_, alone.ranking_ <= size)


def test_choice_for_a_quantity_with_weights_is_that_of_plain_loops():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 6))
    y, weights = X[:, 2] + X[:, 3] ** 2 + 0.3 * rng.normal(size=100), rng.uniform(0.5, 2, size=100)
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    args = (RANKERS, X, y, Ridge(), folds, [1, 2, 6], r2_score, "one-se", weights)
    expected, chosen, size = reference(*args)
    found = BestRankerSelector(RANKERS, estimator=Ridge(), cv=folds, sizes=[1, 2, 6])
    found.fit(X, y, sample_weight=weights)
    assert np.allclose([curve.scores.T for curve in found.candidate_curves_], expected, rtol=0, atol=1e-9)
    assert (found.chosen_, found.support_.sum(), found.task_) == (chosen, size, "regression")


def test_other_scores():
    folds = list(StratifiedKFold(3).split(WINE, WINES))
    expected, *_ = reference(
        RANKERS, WINE, WINES, GaussianNB(), folds, [1, 4], balanced_accuracy_score, "best"
    )
    found = BestRankerSelector(
        RANKERS, estimator=GaussianNB(), cv=folds, sizes=[1, 4], scoring="balanced_accuracy"
    )
    curves = found.fit(WINE, WINES).candidate_curves_
    assert np.allclose([curve.scores.T for curve in curves], expected, rtol=0, atol=1e-12)


def test_a_given_number_of_columns_is_what_candidates_are_compared_at():
    folds = list(StratifiedKFold(3).split(WINE, WINES))
    for size in (1, 3):
        _, chosen, _ = reference(RANKERS, WINE, WINES, GaussianNB(), folds, [size], accuracy_score, "best")
        found = BestRankerSelector(RANKERS, size, estimator=GaussianNB(), cv=folds).fit(WINE, WINES)
        assert (found.chosen_, found.support_.sum()) == (chosen, size)
        assert found.candidate_scores_.shape == (3, 3)


def test_one_candidate_is_that_with_its_size_chosen():
    plan = SubsetSizeCV(GaussianNB(), cv=StratifiedKFold(4))
    alone = InfoGainSelector(plan).fit(WINE, WINES)
    found = BestRankerSelector([InfoGainSelector()], estimator=GaussianNB(), cv=StratifiedKFold(4))
    assert np.array_equal(found.fit(WINE, WINES).support_, alone.support_)
    assert np.array_equal(found.size_curve_.scores, alone.size_curve_.scores)


def test_ties_go_to_the_first():
    same = [("a", InfoGainSelector()), ("b", InfoGainSelector())]
    assert BestRankerSelector(same, random_state=0).fit(WINE, WINES).chosen_ == "a"
    flat = SizeCurve(np.array([1, 2]), np.full((3, 2), 0.5), 1)
    assert choose_ranker([flat, flat]) == 0


def test_default_candidates_of_any_table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(90, 4)), columns=list("abcd"))
    frame["colour"] = rng.choice(["red", "blue", "green"], 90)
    frame.loc[::5, "a"] = np.nan
    y = np.where(frame["colour"] == "red", "yes", "no")
    found = BestRankerSelector(random_state=0).fit(frame, y)
    assert found.candidate_names_ == ["fscore", "info-gain", "mrmr", "relieff", "relevance"]
    assert found.get_feature_names_out().tolist() == ["colour"]
    number = (frame["colour"] == "red") * 1.5 + frame["b"]
    found = BestRankerSelector(random_state=0).fit(frame, number)
    assert set(found.get_feature_names_out()) == {"b", "colour"}


def test_outcome_is_the_same_for_any_number_of_jobs():
    one, two = (BestRankerSelector(random_state=1, n_jobs=n).fit(WINE, WINES) for n in (None, 2))
    assert one.chosen_ == two.chosen_
    assert np.array_equal(one.candidate_scores_, two.candidate_scores_)


# Folds


@pytest.fixture
def seen(monkeypatch):
    """Folds of every choice."""
    folds = []
    from foresift.selectors import size_cv

    made = size_cv.make_folds

    def make(*args):
        folds.append(made(*args))
        return folds[-1]

    monkeypatch.setattr(size_cv, "make_folds", make)
    return folds


def test_groups_stay_together_in_the_folds(seen):
    rng = np.random.default_rng(0)
    groups, X = np.repeat(np.arange(20), 6), rng.normal(size=(120, 4))
    y = np.tile([0, 1], 60)
    BestRankerSelector(RANKERS, estimator=GaussianNB(), random_state=0).fit(X, y, groups=groups)
    (folds,) = seen
    assert len(folds) == 5
    for fold in folds:
        assert not set(groups[fold.train]) & set(groups[fold.test])
    torn = list(KFold(4, shuffle=True, random_state=0).split(X))
    with pytest.raises(ValueError, match="of the same group for testing"):
        BestRankerSelector(RANKERS, cv=torn).fit(X, y, groups=groups)
    BestRankerSelector(RANKERS, estimator=GaussianNB(), cv=GroupKFold(4)).fit(X, y, groups=groups)


def test_folds_are_blocks_of_time(seen):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4)).cumsum(axis=0)
    y = X[:, 1] + rng.normal(size=150)
    BestRankerSelector(RANKERS, estimator=Ridge(), random_state=0).fit(X, y, time=np.arange(150))
    (folds,) = seen
    for fold in folds:
        assert np.ptp(fold.test) == len(fold.test) - 1
        assert np.abs(fold.train[:, np.newaxis] - fold.test).min() > 1  # a gap


def test_few_groups_make_fewer_folds(seen):
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.tile([0, 1], 30)
    groups = np.repeat([0, 1, 2], 20)
    BestRankerSelector(RANKERS, estimator=GaussianNB()).fit(X, y, groups=groups)
    assert len(seen[-1]) == 3


def test_rare_classes_take_no_part_in_the_choice(seen):
    y = np.array([*WINES[:100], 7, 7, *WINES[102:]])
    found = BestRankerSelector(RANKERS, estimator=GaussianNB(), random_state=0).fit(WINE, y)
    assert sum(len(fold.test) for fold in seen[-1]) == len(y) - 2
    assert np.array_equal(found.scores_, clone(dict(RANKERS)[found.chosen_]).fit(WINE, y).scores_)
    small = np.array([*np.zeros(60), *np.ones(4)])
    BestRankerSelector(RANKERS, estimator=GaussianNB()).fit(WINE[:64], small)
    assert len(seen[-1]) == 4


def test_rows_without_weight_do_not_count():
    weights = (WINES != 2).astype(float)
    some = BestRankerSelector(RANKERS, estimator=CartClassifier(), cv=StratifiedKFold(3)).fit(
        WINE[weights > 0], WINES[weights > 0], sample_weight=weights[weights > 0]
    )
    found = BestRankerSelector(RANKERS, estimator=CartClassifier(), cv=StratifiedKFold(3))
    found.fit(WINE, WINES, sample_weight=weights)
    assert np.array_equal(found.candidate_scores_, some.candidate_scores_)


# Columns kept by request, groups of columns


def test_kept_columns_are_in_every_model_and_groups_count_as_one():
    found = BestRankerSelector(RANKERS, 2, keep=[4], feature_groups=[[0, 12], [5, 6]], random_state=0)
    found.fit(WINE, WINES)
    assert found.support_[4]
    assert found.ranking_[4] == 0
    assert found.support_[0] == found.support_[12]
    assert found.units_.n_free_in(np.flatnonzero(found.support_)) == 2
    assert np.array_equal(found.subset_of_size(2), found.support_)


# What is refused


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"candidates": []}, "candidates is empty: name at least one selector"),
        ({"candidates": ["relieff"]}, r"candidates contains 'relieff': give selectors of foresift, such as"),
        ({"candidates": [SelectKBest()]}, r"candidates contains SelectKBest\(\): .* AggregateSelector"),
        ({"candidates": [InfoGainSelector]}, "candidates contains <class"),
        ({"candidates": [("a", FScoreSelector()), ("a", SSVSelector())]}, "Two candidates are named 'a'"),
        ({"candidates": [InfoGainSelector(keep=[0])]}, "InfoGainSelector with keep of its own: set keep of"),
        ({"estimator": Ridge()}, "needs a classifier, but Ridge is not one"),
        ({"cv": 1}, "cv must be at least 2 folds"),
        ({"sizes": [0]}, "sizes must be a list of whole numbers of at least 1"),
        ({"sizes": [99]}, "sizes goes up to 99, but X has 13 columns"),
        ({"n_features_to_select": 14}, "n_features_to_select=14 is more than the 13 columns of X"),
        ({"rule": "any"}, "'rule' parameter"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        BestRankerSelector(**parameters).fit(WINE, WINES)


def test_candidates_for_classes_are_refused_for_a_quantity():
    y = WINE[:, 0] + 0.001
    with pytest.raises(ValueError, match="The candidate SSVSelector takes classes only, but y is a quantity"):
        BestRankerSelector([FScoreSelector(), SSVSelector()]).fit(WINE[:, 1:], y)


def test_too_few_rows_are_refused():
    with pytest.raises(ValueError, match="too few, or in too few groups, to choose a ranker in folds"):
        BestRankerSelector(RANKERS).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    with pytest.raises(ValueError, match="too few, or in too few groups"):
        BestRankerSelector(RANKERS).fit(WINE, WINES, groups=WINES)  # a class is in one group only


def test_other_selectors_inside_of_an_aggregate():
    inside = AggregateSelector([SelectKBest(k=1)])
    found = BestRankerSelector([inside, RandomSelector(random_state=0)], estimator=GaussianNB(), cv=3)
    noise = np.random.default_rng(0).normal(size=(len(WINE), 200))  # of which the random one takes a column
    found.set_params(n_features_to_select=1)
    assert found.fit(np.hstack([WINE, noise]), WINES).chosen_ == "AggregateSelector"


def test_names_by_type_are_numbered():
    found = BestRankerSelector([InfoGainSelector(), InfoGainSelector(ratio=True)], random_state=0)
    assert found.fit(WINE, WINES).candidate_names_ == ["InfoGainSelector", "InfoGainSelector-2"]


# In select


def test_select_judges_the_choice_in_nested_folds(monkeypatch):
    rows = []
    scored = module.BestRankerSelector._score

    def score(self, data, weights):
        rows.append(data.n_rows)
        return scored(self, data, weights)

    monkeypatch.setattr(module.BestRankerSelector, "_score", score)
    found = select(WINE, WINES, "best", random_state=0, parameters={"candidates": ["fscore", "info-gain"]})
    assert rows[0] == len(WINE)
    assert len(rows) == 6
    assert max(rows[1:]) < len(WINE)
    best = found.selector_
    assert (
        f"The ranking is that of {best.chosen_}, chosen by cross-validation among fscore 0." in found.sentence
    )
    assert found.check["kept"]["score"] > 0.9


def test_choice_uses_the_model_and_score_of_the_check():
    named = {"candidates": ["fscore", PearsonSelector()]}
    found = select(
        WINE, WINES, "best", 2, check=False, estimator=KNeighborsClassifier(), scoring="f1_macro",
        parameters=named, random_state=0,
    ).selector_  # fmt: skip
    assert isinstance(found.estimator[-1], KNeighborsClassifier)
    assert found.scoring == "f1_macro"
    assert found.candidate_names_ == ["fscore", "PearsonSelector"]
    own = {"estimator": GaussianNB(), "scoring": "accuracy"}
    found = select(
        WINE, WINES, "best", 2, check=False, estimator="knn", scoring="f1_macro", parameters={**named, **own}
    ).selector_
    assert (type(found.estimator), found.scoring) == (GaussianNB, "accuracy")


@pytest.mark.parametrize(
    ("candidates", "sentence"),
    [
        (["relif"], "There is no method 'relif'; did you mean 'relief'"),
        (["sfs"], "The candidate sfs cannot be repeated in folds: use forest-gain"),
        (["best"], "The candidate best cannot be repeated in folds"),
        (["ssv1"], "The candidate ssv1 takes classes only"),
    ],
)
def test_select_refuses_candidates_with_a_sentence(candidates, sentence):
    with pytest.raises(ValueError, match=sentence):
        select(WINE[:, 1:], WINE[:, 0], "best", parameters={"candidates": candidates})
