"""`select` with a selector as its method, of ours or of scikit-learn, and with any labels of columns."""

import json
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from selection_cases import FAST, table
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SelectorMixin,
    SequentialFeatureSelector,
    VarianceThreshold,
    mutual_info_classif,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from foresift import (
    AggregateSelector,
    ContributionSelector,
    FeatureBoostingSelector,
    GEFSSelector,
    InfoGainSelector,
    PearsonSelector,
    RelevanceSelector,
    ReliefFSelector,
    SequentialSelector,
    SiftForestClassifier,
    SubsetSizeCV,
    compare,
    select,
)
from foresift.data.target import Target

pytestmark = pytest.mark.usefixtures("small_forests")


def numbers(n=100):
    X, y = table(n)
    return X.drop(columns="word").fillna(0.0), y


# --- a selector as the method ---


def test_our_selector_does_what_its_key_does():
    X, y = table(100)
    by_key = select(X, y, "relevance", random_state=0, parameters=FAST)
    given = RelevanceSelector(**FAST)
    found = select(X, y, given, random_state=0)
    same = ("features", "curve", "check", "stability", "verdict", "details", "data", "seed")
    one, other = found.to_dict(), by_key.to_dict()
    assert {key: one[key] for key in same} == {key: other[key] for key in same}
    assert one["method"]["key"] == "RelevanceSelector"
    assert one["method"]["error"] == "fdr"
    assert not hasattr(given, "scores_")  # it is cloned
    assert "RelevanceSelector" in repr(found)


RANKERS = [PearsonSelector(), ReliefFSelector(), InfoGainSelector()]


@pytest.mark.filterwarnings("ignore:No feature passed")
@pytest.mark.parametrize(
    "method",
    [
        *RANKERS,
        RelevanceSelector(**FAST),
        GEFSSelector(population=4, n_candidates=8, epochs=2),
        FeatureBoostingSelector(n_iterations=6),
        SequentialSelector(SiftForestClassifier(3), direction="forward", cv=2),
        ContributionSelector(n_estimators=3),
        AggregateSelector(RANKERS),
        PearsonSelector(SubsetSizeCV(SiftForestClassifier(3), cv=2)),
        AggregateSelector(RANKERS, SubsetSizeCV(GaussianNB(), cv=2)),
    ],
    ids=lambda method: repr(method)[:40],
)
def test_the_data_is_read_once_and_the_result_is_that_of_fit(method, monkeypatch):
    X, y = numbers()
    coded = []
    monkeypatch.setattr(
        Target, "of", lambda y, n, *others, of=Target.of: coded.append(n) or of(y, n, *others)
    )
    found = select(X, y, method, random_state=0)
    assert coded == [100]
    alone = clone(found.selector_).fit(X, y)
    for name in ("ranking_", "support_", "feature_names_in_"):
        assert np.array_equal(getattr(found.selector_, name), getattr(alone, name))
    # Sums over a frame and over the values of a table may differ in their last bits.
    assert found.selector_.scores_ == pytest.approx(alone.scores_, rel=1e-13, nan_ok=True)
    assert found.selector_.schema_ == alone.schema_


def test_parameters_of_the_object_stay():
    X, y = table(100)
    found = select(X, y, RelevanceSelector(alpha=0.01, error="fwer", **FAST), random_state=0, check=False)
    assert (found.method["alpha"], found.method["error"]) == (0.01, "fwer")
    with pytest.warns(UserWarning, match="alpha has no effect: set it where RelevanceSelector is made"):
        select(X, y, RelevanceSelector(**FAST), alpha=0.3, check=False)
    three = select(X, y, RelevanceSelector(3, **FAST), random_state=0)
    assert len(three.features) == 3
    assert "The best 3 of 8 columns are kept, as requested; " in three.verdict
    two, by_key = (select(X, y, how, 2, check=False) for how in (InfoGainSelector(), "info-gain"))
    assert two.features == by_key.features
    small = select(X, y, RelevanceSelector(minimal=True, **FAST), random_state=0)
    kept = [row for row in small.ranking if row["kept"]]
    assert all(row["redundant_with"] is None for row in kept)
    assert len(kept) < sum(row["relevant"] for row in small.ranking)
    seeded = select(X, y, RelevanceSelector(random_state=7, **FAST), random_state=0, check=False)
    assert seeded.selector_.random_state == 7


@pytest.mark.parametrize(
    "selector",
    [
        SelectKBest(k=3),
        SelectKBest(partial(mutual_info_classif, random_state=0), k=2),
        RFE(DecisionTreeClassifier(max_depth=3), n_features_to_select=2),
        RFE(DecisionTreeClassifier(max_depth=3), n_features_to_select=1),
        SelectFromModel(RandomForestClassifier(10)),
        SelectFromModel(LogisticRegression(class_weight={"lo": 2, "hi": 1})),
        SequentialFeatureSelector(GaussianNB(), n_features_to_select=1, cv=2),
        VarianceThreshold(0.5),
        AggregateSelector([InfoGainSelector(), PearsonSelector()]),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_selectors_of_scikit_learn(selector):
    X, y = numbers()
    found, again = (select(X, y, selector, random_state=0, n_jobs=n) for n in (1, 2))
    plain = found.to_dict()
    name = type(selector).__name__
    assert plain["method"]["key"] == name
    assert set(found.features) == set(X.columns[found.selector_.get_support()])
    assert list(found.transform(X).columns) == [c for c in X.columns if c in found.features]
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["check"]["n_folds"] == 5
    assert 0.5 < plain["check"]["kept"]["score"] <= 1
    assert {**plain, "created": 0, "method": 0} == {**again.to_dict(), "created": 0, "method": 0}
    assert f"Method {name}: " in found.sentence
    assert found.features[0] in found.to_html()
    assert [row["rank"] for row in found.ranking] == list(range(1, 8))
    ranks_all = hasattr(found.selector_, "scores_") or len(set(getattr(found.selector_, "ranking_", []))) == 7
    assert (plain["curve"] is not None) == ranks_all
    assert (found.ranking[0]["score"] is not None) == hasattr(found.selector_, "scores_")
    kept = [row["kept"] for row in found.ranking]
    assert kept == sorted(kept, reverse=True)


class ByName(SelectorMixin, BaseEstimator):
    def fit(self, X, y):
        self.support_ = np.array([name.startswith(("strong", "word")) for name in X.columns])
        assert set(y) == {"lo", "hi"}
        return self

    def _get_support_mask(self):
        return self.support_


def test_a_selector_meets_the_container_that_was_given_in_folds_too():
    X, y = table(100)
    found = select(X, y, ByName(), random_state=0)
    assert set(found.features) == {"strong", "word"}
    assert found.check["n_kept"] == [2] * 5
    assert found.ranking[0]["score"] is None
    assert {row["name"]: row["kind"] for row in found.ranking}["word"] == "categorical"
    assert found.method["order"] == "as the method ranks them"


def test_mappings_and_tables_without_names_of_scikit_learn():
    X, y = numbers(60)
    names = select(X, y, SelectKBest(k=2), check=False).features
    for other in (X.to_dict("list"), pa.table(dict(X.items()))):
        assert select(other, y, SelectKBest(k=2)).features == names


def test_a_search_is_not_repeated():
    X, y = numbers(60)
    found = select(X, y, SequentialSelector(GaussianNB(), n_features_to_select=1, cv=2), random_state=0)
    assert found.check is None
    assert "SequentialSelector would take too long to repeat in folds" in found.notes[0]


@pytest.mark.parametrize(
    ("method", "error", "message"),
    [
        (RelevanceSelector, TypeError, r"is a class: make one, RelevanceSelector\(\)"),
        (GaussianNB(), TypeError, "method is a key such as 'auto', or a selector"),
        (None, TypeError, "method is a key such as 'auto', or a selector"),
    ],
)
def test_what_is_no_selector_is_refused(method, error, message):
    X, y = numbers(40)
    with pytest.raises(error, match=message):
        select(X, y, method)


def test_what_a_selector_does_not_have_is_said():
    X, y = numbers(40)
    with pytest.raises(
        ValueError, match="SelectKBest has no parameter 'n_features_to_select'; it has k, sco"
    ):
        select(X, y, SelectKBest(), 3)
    with pytest.raises(ValueError, match="SelectKBest has no parameter 'trees'; it has k, score_func"):
        select(X, y, SelectKBest(), parameters={"trees": 3})
    assert len(select(X, y, SelectKBest(), parameters={"k": 3}, check=False).features) == 3
    with pytest.raises(ValueError, match="y has one class"):
        select(X, np.zeros(40), SelectKBest())


# --- labels of columns ---

LABELS = {
    "numbers": [3, 1, 0, 2],
    "range": range(4),
    "pairs": pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]),
    "pairs of kinds": pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1), ("b", 2)]),
    "dates": pd.to_datetime(["2020-01-01", "2020-02-01", "2020-03-01", "2021-01-01"]),
    "fractions": [0.5, 1.5, 2.5, 3.5],
}


def labelled(columns, n=100):
    X, y = numbers(n)
    return pd.DataFrame(X.to_numpy()[:, [0, 1, 3, 4]], columns=columns), y


@pytest.mark.parametrize("columns", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("method", ["auto", "info-gain", SelectKBest(k=2)], ids=str)
def test_features_index_the_frame_whatever_its_labels(columns, method):
    X, y = labelled(columns)
    wanted = 2 if method == "info-gain" else None
    found = select(X, y, method, wanted, random_state=0, check=method != "auto")
    assert set(X.columns[:1]) <= set(found.features)
    assert X[found.features].shape == (100, len(found.features))
    pd.testing.assert_frame_equal(
        found.transform(X), X.loc[:, [c for c in X.columns if c in set(found.features)]]
    )
    assert found.transform(X.to_numpy()).shape == found.transform(X).shape
    shuffled = X.iloc[:, ::-1]
    assert set(found.transform(shuffled).columns) == set(found.features)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert {row["name"] for row in plain["features"]} == set(map(str, X.columns))
    assert [row["name"] for row in plain["features"] if row["kept"]] == list(map(str, found.features))
    assert str(X.columns.tolist()[0]) in found.to_frame()["name"].tolist()
    assert found.to_html()
    with pytest.raises(ValueError, match="X lacks the column"):
        found.transform(X.iloc[:, 1:])


def test_labels_without_names_are_places():
    X, y = labelled(range(4))
    found = select(X.to_numpy(), y, "info-gain", 2, check=False)
    assert set(found.features) == {"x0", "x1"}
    assert list(found.transform(X).columns) == [0, 1]


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        (["a", "b", "a", "c"], "'a'"),
        ([0, 1, 1, 2], "'1'"),
        (pd.MultiIndex.from_tuples([("a", 1), ("a", 1), ("b", 1), ("b", 2)]), r"\"\('a', 1\)\""),
        ([0.5, np.nan, None, 1.5], "'nan'"),
    ],
)
def test_labels_that_come_twice_are_told_in_one_sentence(columns, named):
    X, y = labelled(columns)
    message = f"^Two columns of X are named {named}: rename or drop one of them.$"
    with pytest.raises(ValueError, match=message):
        select(X, y)
    with pytest.raises(ValueError, match=message):
        compare(X, y)


def test_names_that_come_twice_in_a_table_of_arrow():
    X = pa.table([pa.array([1.0, 2.0]), pa.array([2.0, 1.0])], names=["a", "a"])
    with pytest.raises(ValueError, match=r"^Two columns of X are named 'a': rename"):
        select(X, [0, 1])


def test_stability_of_labels_is_drawn():
    pytest.importorskip("matplotlib")
    X, y = labelled(LABELS["pairs"])
    found = select(X, y, random_state=0, parameters=FAST)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert "('a', 'x')" in found.plot_stability().names


def test_a_function_among_the_parameters_has_no_address():
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    found = select(X, y, SelectKBest(k=2), check=False)
    assert found.method["parameters"]["score_func"] == "f_classif"
