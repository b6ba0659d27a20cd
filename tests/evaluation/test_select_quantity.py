"""select for a quantity: an honest check by R2, its unit, logarithms, own models, scores and folds."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from selection_cases import FAST, N_TREES
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foresift import InfoGainSelector, RelevanceSelector, SiftForestRegressor, SSVSelector, select
from foresift.data.target import Target
from foresift.evaluation.select.judging import Classified, Measured, Scored, judge_of
from foresift.evaluation.select.models import CANDIDATES, MIN_IN_A_LEAF
from foresift.evaluation.select.rows_of_folds import dealt

pytestmark = pytest.mark.usefixtures("small_forests")


def table(n=200, seed=0):
    """Two columns that matter, a copy of the first, a category that matters, and noise."""
    rng = np.random.default_rng(seed)
    strong, weak = rng.normal(size=(2, n))
    word = rng.choice(["north", "south", "east"], n)
    y = 2 * strong + weak + 1.5 * (word == "north") + 0.5 * rng.normal(size=n)
    X = pd.DataFrame({"strong": strong, "weak": weak, "copy": 2 * strong + 1, "word": word})
    for j in range(4):
        X[f"noise{j}"] = rng.normal(size=n)
    X.loc[::7, "noise0"] = np.nan
    return X, y


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return X, y + 0.25


def test_a_quantity_is_selected_for():
    X, y = table()
    found = select(X, y, random_state=0, parameters=FAST)
    assert {"strong", "weak", "word"} <= set(found.features)
    assert not any(name.startswith("noise") for name in found.features)
    assert found.data["task"] == "regression"
    assert found.data["classes"] == []
    assert found.check["metric"] == found.curve["metric"] == "R2"
    assert "squared error" in found.sentence or "R2" in found.sentence
    assert found.check["kept"]["score"] > 0.6
    assert found.check["error"]["kept"] < 0.6 * found.check["error"]["baseline"]
    assert sum(found.data["quantity"]["counts"]) == len(y)
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    page = found.to_html()
    assert "Histogram of the target" in page
    assert "Predicted against actual" in page
    assert "off by" in page


def test_the_check_is_a_plain_loop(diabetes):
    X, y = diabetes
    X, y = X[:150], y[:150].to_numpy()
    found = select(X, y, "info-gain", 3, random_state=5)
    kept, full, curve, errors, held_out = [], [], [], [], []
    parts = dealt(y, 5, 5)
    for test in parts:
        train = np.setdiff1d(np.arange(150), test)

        def predict(columns, train=train, test=test):
            forest = SiftForestRegressor(
                N_TREES, min_samples_leaf=MIN_IN_A_LEAF, max_features=CANDIDATES, random_state=5
            )
            columns = np.sort(columns)
            return forest.fit(X.iloc[train, columns], y[train]).predict(X.iloc[test, columns])

        order = np.argsort(InfoGainSelector().fit(X.iloc[train], y[train]).ranking_)
        chosen = predict(order[:3])
        kept.append(r2_score(y[test], chosen))
        errors.append(mean_absolute_error(y[test], chosen))
        full.append(r2_score(y[test], predict(np.arange(10))))
        curve.append([r2_score(y[test], predict(order[:size])) for size in range(1, 11)])
        held_out += [*zip(y[test], chosen, strict=True)]
    assert found.check["kept"]["score"] == pytest.approx(np.mean(kept))
    assert found.check["full"]["score"] == pytest.approx(np.mean(full))
    assert found.check["error"]["kept"] == pytest.approx(np.mean(errors))
    assert [p["score"] for p in found.curve["points"]] == pytest.approx(np.mean(curve, axis=0))
    d = np.subtract(kept, full)
    half = stats.t.ppf(0.975, 4) * math.sqrt(1 / 5 + 0.2 / 0.8) * d.std(ddof=1)
    assert found.check["difference"]["low"] == pytest.approx(d.mean() - half)
    seen = sorted(zip(*found.check["held_out"].values(), strict=True))
    assert np.array(seen) == pytest.approx(np.array(sorted(held_out)))


def test_gradient_boosting_beside_the_forest(diabetes):
    X, y = diabetes
    found = select(X, y, "info-gain", 3, random_state=5)
    scores = []
    for test in dealt(y.to_numpy(), 5, 5):
        train = np.setdiff1d(np.arange(len(y)), test)
        boosted = HistGradientBoostingRegressor(random_state=5).fit(X.iloc[train].to_numpy(), y.iloc[train])
        scores.append(boosted.score(X.iloc[test].to_numpy(), y.iloc[test]))
    assert found.check["boosting"]["score"] == pytest.approx(np.mean(scores))
    assert "boosting" not in select(X, y, "info-gain", 3, estimator=Ridge(), random_state=5).check


def test_where_boosting_is_better_it_is_said():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3]
    found = select(X, y, random_state=0, parameters=FAST)
    assert found.check["boosting_difference"]["low"] > 0
    assert any("estimator=HistGradientBoostingRegressor()" in note for note in found.notes)


def test_folds_have_small_and_large_values_alike():
    y = np.random.default_rng(0).lognormal(size=203)
    parts = dealt(y, 5, 0)
    assert sorted(np.concatenate(parts).tolist()) == list(range(203))
    assert {len(part) for part in parts} <= {40, 41}
    tenths = np.quantile(y, np.linspace(0, 1, 11)[1:-1])
    counts = np.array([np.bincount(np.digitize(y[part], tenths), minlength=10) for part in parts])
    assert np.ptp(counts, axis=0).max() <= 2


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (np.arange(60), "regression"),
        (np.arange(60) % 20, "classification"),
        (np.arange(60) % 21, "regression"),
        (np.where(np.arange(60) % 2, 1.5, 2.5), "classification"),
        ((np.arange(60) % 7) / 2, "regression"),
        ((np.arange(60) % 7).astype(str), "classification"),
        (np.arange(60) % 2 == 0, "classification"),
    ],
)
def test_the_table_says_which_it_is(y, task):
    X = np.random.default_rng(0).normal(size=(60, 3))
    found = select(X, y, "random", 1, check=False)
    assert found.data["task"] == task


def test_the_task_can_be_said(diabetes):
    X, _ = diabetes
    y = np.arange(len(X)) % 5
    assert select(X, y, "info-gain", 2, task="regression", check=False).data["task"] == "regression"
    assert select(X, y, InfoGainSelector(2, task="regression"), check=False).data["task"] == "regression"
    assert select(X, y, "info-gain", 2, check=False).data["task"] == "classification"
    mixed = np.random.default_rng(0).permutation(len(X))
    said = select(X, mixed, "info-gain", 2, check=False).notes
    assert said == ["The target has 442 distinct whole numbers, treated as a quantity."]
    said = select(X, np.arange(len(X)) % 30, "info-gain", 2, check=False).notes
    assert said == [
        'The target has 30 distinct whole numbers, treated as a quantity; task="classification" treats them'
        " as classes."
    ]
    with pytest.raises(ValueError, match="task must be one of auto, classification, regression"):
        select(X, y, task="ranking")
    with pytest.raises(ValueError, match=r'y holds text.* set task="classification"'):
        select(X, y.astype(str), task="regression")


def test_methods_for_classes_name_another(diabetes):
    with pytest.raises(ValueError, match=r"method ssv1 takes classes only, but .* use info-gain, or auto"):
        select(*diabetes, "ssv1")
    with pytest.raises(ValueError, match="SSVSelector needs classes, but y is a quantity: use "):
        select(*diabetes, SSVSelector())


def test_a_logarithm_is_offered_and_modelled(diabetes):
    X, y = diabetes
    price = np.exp(y / 50)
    plain = select(X, price, random_state=0, parameters=FAST)
    (offer,) = [note for note in plain.notes if "skewed" in note]
    assert "log_target=True models its logarithm: a forest on all columns is then off by" in offer
    logged = select(X, price, random_state=0, parameters=FAST, log_target=True)
    assert not any("skewed" in note for note in logged.notes)
    assert logged.data["quantity"]["log"]
    assert logged.data["quantity"]["max"] == pytest.approx(price.max())
    assert f"off by {logged.check['error']['full']:.3g} on average, instead" in offer
    assert logged.check["error"]["full"] < plain.check["error"]["full"]
    same = select(X, np.log(price), random_state=0, parameters=FAST)
    assert same.check["full"] == logged.check["full"]
    assert logged.check["metric"] == "R2 of the logarithm"
    with pytest.raises(ValueError, match="log_target needs a target that is not negative, but its least"):
        select(X, y - 100, log_target=True)
    with pytest.raises(ValueError, match="log_target is for a quantity, but the target holds classes"):
        select(X, y > 100, log_target=True)
    assert not any("skewed" in note for note in select(X, y, random_state=0, parameters=FAST).notes)


def test_own_models(diabetes):
    X, y = diabetes
    found = select(X, y, "pearson", 4, estimator=Ridge(0.1), random_state=3)
    parts = dealt(y.to_numpy(), 5, 3)
    full = [
        clone(Ridge(0.1)).fit(X.drop(index=part), y.drop(index=part)).score(X.loc[part], y[part])
        for part in parts
    ]
    assert found.check["full"]["score"] == pytest.approx(np.mean(full))
    assert found.check["model"] == "Ridge"
    assert "Ridge on the selected columns reaches R2" in found.sentence
    assert "forest" not in found.sentence
    X, y = table()
    mixed = select(X, y, estimator=Ridge(), random_state=0, parameters=FAST)
    assert mixed.check["kept"]["score"] > 0.8  # categories became indicators, missing numbers means
    piped = select(X.drop(columns=["word", "noise0"]), y, estimator=make_pipeline(StandardScaler(), Ridge()))
    assert piped.check["model"] == "Ridge"


@pytest.mark.parametrize("model", [LogisticRegression(), RidgeClassifier()])
def test_own_models_for_classes(model):
    X, y = load_iris(return_X_y=True)
    found = select(X, y, "info-gain", 2, estimator=model, random_state=0)
    assert found.check["kept"]["score"] > 0.75
    assert found.check["metric"] == "accuracy"


def test_own_scores(diabetes):
    X, y = diabetes
    found = select(X, y, "pearson", 4, scoring="neg_mean_absolute_error", random_state=3)
    usual = select(X, y, "pearson", 4, random_state=3)
    assert found.check["full"]["score"] == pytest.approx(-usual.check["error"]["full"])
    assert found.check["baseline"] == pytest.approx(-usual.check["error"]["baseline"])
    assert "error" not in found.check
    own = select(X, y, scoring=lambda model, X, y: -np.abs(model.predict(X) - y).max(), estimator=Ridge())
    assert own.check["full"]["score"] < -80
    assert "Mean" not in own.to_html().split("<main")[0]
    with pytest.raises(ValueError, match="no score 'neg_mean_error'; did you mean"):
        select(X, y, "pearson", 4, scoring="neg_mean_error")


@pytest.mark.parametrize("kind", ["classes", "quantity"])
def test_folds_that_do_not_fit_are_refused(kind, diabetes):
    X, y = diabetes
    X, y = X[:60], y[:60] if kind == "quantity" else (y[:60] > 120)
    rows = np.arange(60)
    apart = [(rows[i : i + 20], np.roll(rows, 20)[i : i + 20]) for i in (0, 20, 40)]
    for cv, message in [
        (2, "cv must be at least 3 folds, but is 2"),
        (0, "cv must be at least 3 folds, but is 0"),
        (KFold(2), "cv makes 2 folds: the check needs at least 3"),
        (apart, "Two splits of cv have no training row in common"),
    ]:
        with pytest.raises(ValueError, match=message):
            select(X, y, cv=cv)
    if kind == "quantity":
        with pytest.raises(ValueError, match="A fold of cv has 1 row, but R2 needs at least 4: use fewer"):
            select(X, y, "pearson", 2, cv=LeaveOneOut())


def test_pairs_number_all_rows_of_a_large_table(monkeypatch, diabetes):
    monkeypatch.setattr("foresift.evaluation.select.plan.MAX_CELLS", 100)
    monkeypatch.setattr("foresift.evaluation.select.plan.MIN_ROWS", 50)
    X, y = diabetes
    pairs = list(KFold(4, shuffle=True, random_state=1).split(X))
    found = select(X, y, "pearson", 4, estimator=Ridge(), cv=pairs, random_state=3)
    assert found.check["n_rows"] == len(y)
    full = [Ridge().fit(X.iloc[a], y.iloc[a]).score(X.iloc[b], y.iloc[b]) for a, b in pairs]
    assert found.check["full"]["score"] == pytest.approx(np.mean(full))
    assert select(X, y, "pearson", 4, cv=4).check["n_rows"] < 100


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_the_unit_of_the_target_does_not_matter(unit, diabetes):
    X, y = diabetes
    found, other = (select(X, target, random_state=0, parameters=FAST) for target in (y, unit * y))
    assert other.features == found.features
    assert other.curve["by_rule"] == found.curve["by_rule"]
    assert other.check["error"]["kept"] == pytest.approx(unit * found.check["error"]["kept"])


def test_rows_of_weight_zero_are_not_there(diabetes):
    X, y = diabetes
    weights = (np.arange(len(y)) % 2).astype(float)
    found = select(X, y, "pearson", 4, estimator=Ridge(), sample_weight=weights, random_state=0)
    assert found.check["n_rows"] == len(y) // 2
    half = select(X[1::2], y[1::2], "pearson", 4, estimator=Ridge(), random_state=0)
    assert found.check["full"] == pytest.approx(half.check["full"])


def test_weighted_baselines_agree(diabetes):
    X, y = diabetes
    weights = np.where(np.arange(len(y)) < 50, 20.0, 1.0)
    how = {"estimator": Ridge(), "sample_weight": weights, "random_state": 0}
    usual, own = (select(X, y, "pearson", 4, scoring=s, **how).check for s in (None, "r2"))
    assert own["baseline"] == pytest.approx(usual["baseline"])
    assert own["full"] == pytest.approx(usual["full"])


def test_one_value_that_decides_is_pointed_out(diabetes):
    X, y = diabetes
    y = y.to_numpy() - 100
    y[0] = 1e6
    said = "One value makes up 100 % of the variance of the target, so R2 says little: check it."
    (note,) = [note for note in select(X, y, "pearson", 4, random_state=0).notes if "variance" in note]
    assert note == said  # no logarithm of negative values
    (note,) = [n for n in select(X, y + 100, "pearson", 4, random_state=0).notes if "variance" in n]
    assert note == f"{said} If it is right, try log_target=True."


class Plain(BaseEstimator):
    """A model that does not say whether it is a classifier or a regressor."""

    def fit(self, X, y):
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_models_by_name_and_of_no_base(diabetes):
    X, y = diabetes
    named = select(X, y, "pearson", 4, estimator="ridge", random_state=3)
    assert named.check["model"] == "Ridge"
    assert select(X, y, "pearson", 4, estimator="svr").check["model"] == "SVR"
    plain = select(X, y, "pearson", 4, estimator=Plain(), random_state=3)
    assert plain.check["full"]["score"] == pytest.approx(plain.check["baseline"])
    with pytest.raises(TypeError, match="derive its class from BaseEstimator"):
        select(X, y, estimator=object())
    with pytest.raises(ValueError, match="The scorer 'accuracy' does not work on a quantity"):
        select(X, y, scoring="accuracy")
    with pytest.raises(ValueError, match="leave out scoring, or log_target"):
        select(X, y, scoring="r2", log_target=True)
    with pytest.raises(TypeError, match="y holds dates"):
        select(X, pd.date_range("2020", periods=len(y)))
    odd = X.set_axis([f"a[{j}]<{j}>:{{x}},y" for j in range(10)], axis=1)
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1)
    assert select(odd, y, "pearson", 4, estimator=model).check["model"] == "LGBMRegressor"


def test_own_folds(diabetes):
    X, y = diabetes
    splitter = KFold(4, shuffle=True, random_state=1)
    found = select(X, y, "pearson", 4, estimator=Ridge(), cv=splitter, random_state=3)
    full = [Ridge().fit(X.iloc[a], y.iloc[a]).score(X.iloc[b], y.iloc[b]) for a, b in splitter.split(X)]
    assert found.check["full"]["score"] == pytest.approx(np.mean(full))
    pairs = select(X, y, "pearson", 4, estimator=Ridge(), cv=list(splitter.split(X)), random_state=3)
    assert pairs.check["full"] == found.check["full"]
    assert select(X, y, "pearson", 4, estimator=Ridge(), cv=3).check["n_folds"] == 3
    with pytest.raises(
        ValueError, match=r"test \d+ of the 442 rows more than once, but each may be tested once"
    ):
        select(X, y, "pearson", 4, cv=ShuffleSplit(9, test_size=0.3, random_state=0))
    with pytest.raises(ValueError, match="cv"):
        select(X, y, "pearson", 4, cv="many")


def test_weights_count_rows():
    X, y = table(120)
    X = X.drop(columns="word")
    weights = np.random.default_rng(1).integers(1, 4, 120).astype(float)
    found = select(X, y, "pearson", 3, estimator=Ridge(), sample_weight=weights, random_state=0)
    parts = dealt(y, 5, 0)
    full = []
    for part in parts:
        train = np.setdiff1d(np.arange(120), part)
        model = make_pipeline(StandardScaler(), Ridge())
        filled = X.fillna({"noise0": X["noise0"].iloc[train].mean()})
        model.fit(filled.iloc[train], y[train], ridge__sample_weight=weights[train])
        full.append(r2_score(y[part], model.predict(filled.iloc[part]), sample_weight=weights[part]))
    assert found.check["full"]["score"] == pytest.approx(np.mean(full), abs=5e-3)  # filled in slightly else
    plain = select(X, y, "pearson", 3, estimator=Ridge(), random_state=0)
    assert plain.check["full"] != found.check["full"]
    with pytest.raises(ValueError, match="sample_weight"):
        select(X, y, sample_weight=[1.0, 2.0])
    heavy = select(X, y, sample_weight=weights, random_state=0, parameters=FAST)
    assert "strong" in heavy.features


def test_models_of_another_kind_are_refused(diabetes):
    X, y = diabetes
    with pytest.raises(ValueError, match=r"holds a quantity.* must be a regressor, but LogisticRegression"):
        select(X, y, estimator=LogisticRegression())
    with pytest.raises(ValueError, match=r"holds classes.* must be a classifier, but Ridge is not one"):
        select(X, y > 100, estimator=Ridge())
    with pytest.raises(TypeError, match=r"The estimator Ridge is a class: make one, Ridge\(\)"):
        select(X, y, estimator=Ridge)


def test_judges():
    y = Target.of([1.0, 2.0, 4.5], 3, "regression")
    assert isinstance(judge_of(y), Measured)
    assert judge_of(y).score(np.array([1.0, 2.0, 4.5]), y, None) == 1
    assert judge_of(y).score(np.full(3, 2.5), y, None) == pytest.approx(0)
    constant = Target.of([2.0, 2.0], 2, "regression")
    assert judge_of(y).score(np.array([1.0, 3.0]), constant, None) == 0
    classes = Target.of(["a", "b", "b"], 3)
    assert isinstance(judge_of(classes, LogisticRegression()), Classified)
    assert isinstance(judge_of(classes, scoring="f1_macro"), Scored)
    hard = judge_of(classes, RidgeClassifier())
    assert hard.losses(np.array([[1.0, 0], [1, 0], [0, 1]]), classes).tolist() == [0, 2, 0]


def test_noise_is_not_relevant():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(120, 30)), rng.normal(size=120)
    found = select(X, y, random_state=0)
    assert found.features == []
    assert "one of the 30 columns is significant; none is kept." in found.verdict
    assert found.check["full"]["low"] < 0.02
    assert "always predicting the mean reaches" in found.sentence
    assert "no columns: the mean" in found.to_html()


def test_too_few_rows_and_leave_one_out(diabetes):
    X, y = diabetes
    few = select(X[:15], y[:15], "pearson", 2)
    assert few.check is None
    assert "needs 20 rows, and there are 15" in few.sentence
    with pytest.raises(ValueError, match="y has one class"):
        select(X[:1], y[:1], "pearson")
    score = {"estimator": Ridge(), "scoring": "neg_mean_absolute_error"}
    assert select(X[:30], y[:30], "pearson", 2, cv=LeaveOneOut(), **score).check["n_folds"] == 30


def test_the_test_of_a_quantity_is_repeated(diabetes):
    X, y = diabetes
    found = select(X, y, random_state=0, parameters=FAST)
    assert found.passes is not None
    assert isinstance(found.selector_, RelevanceSelector)
    assert found.selector_.task_ == "regression"
    assert found.stability["value"] > 0
