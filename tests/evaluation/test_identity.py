"""What is not the same has not the same key: a store must never take one thing for another."""

import functools
import importlib
import inspect
import pkgutil
import re
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import f_classif
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, fbeta_score, make_scorer
from sklearn.model_selection import GridSearchCV, KFold, PredefinedSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

import foresift
from foresift import InfoGainSelector, SiftForestClassifier, SubsetSizeCV, compare, criteria, stats
from foresift.evaluation.compare.methods import make_method
from foresift.evaluation.harness.identity import canonical, describe
from foresift.evaluation.harness.tasks import Data
from foresift.evaluation.registry import ESTIMATORS, METHODS, make_estimator

X = np.random.default_rng(0).normal(size=(60, 4))
Y = np.arange(60) % 2
FOLDS = np.arange(2000) % 5
OTHER_FOLDS = np.concatenate([FOLDS[:5], FOLDS[5:1990][::-1], FOLDS[1990:]])
SERIES = pd.Series(np.arange(200.0))


def key(value):
    return canonical(describe(value))


def doubled(values):
    return values * 2


def made(factor):
    def inner(values):
        return values * factor

    return inner


class Scaled:
    """A callable object without a repr of its own."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, values):
        return values * self.factor

    def method(self, values):
        return values * self.factor


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (GridSearchCV(GaussianNB(), {}, cv=PredefinedSplit(FOLDS)),
         GridSearchCV(GaussianNB(), {}, cv=PredefinedSplit(OTHER_FOLDS))),
        (GridSearchCV(GaussianNB(), {}, cv=KFold(3)), GridSearchCV(GaussianNB(), {}, cv=KFold(4))),
        (FunctionTransformer(kw_args={"w": SERIES}),
         FunctionTransformer(kw_args={"w": SERIES.replace(100, -1)})),
        (pl.DataFrame({"a": range(200)}), pl.DataFrame({"a": [*range(199), 0]})),
        (pd.Series([1.0], index=["a"]), pd.Series([1.0], index=["b"])),
        (FrozenEstimator(LogisticRegression().fit(X, Y)), FrozenEstimator(LogisticRegression().fit(-X, Y))),
        (FrozenEstimator(DecisionTreeClassifier().fit(X, Y)),
         FrozenEstimator(DecisionTreeClassifier().fit(-X, Y))),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (b"a", "a"),
        ({1: 2}, {"1": 2}),
        (make_scorer(fbeta_score, beta=1), make_scorer(fbeta_score, beta=2)),
        (functools.partial(doubled, 1), functools.partial(doubled, 2)),
        (Scaled(1), Scaled(2)),
        (Scaled(1).method, Scaled(2).method),
        (np.array(["2001-01-01"], "M8[D]"), np.array(["2001-01-02"], "M8[D]")),
        (sparse.csr_array(np.eye(2)), np.eye(2)),
    ],
)  # fmt: skip
def test_different_things_have_different_keys(one, other):
    assert key(one) != key(other)


@pytest.mark.parametrize(
    "make",
    [
        lambda: GridSearchCV(GaussianNB(), {}, cv=PredefinedSplit(FOLDS.copy()), n_jobs=2),
        lambda: FrozenEstimator(DecisionTreeClassifier(random_state=0).fit(X, Y)),
        lambda: SERIES.copy(),
        lambda: make_scorer(f1_score, average="".join(["mac", "ro"])),
        lambda: Scaled("".join(["a", "b"])),
        lambda: make_pipeline(FunctionTransformer(doubled), GaussianNB()),
        lambda: (np.mean, np.add, len, float, slice(3), range(4), np.dtype("f4")),
    ],
)
def test_equal_things_have_equal_keys(make):
    assert key(make()) == key(make())
    if hasattr(make(), "get_params"):
        assert key(clone(make())) == key(make())


# --- public names: moving code must not lose a store ---


@pytest.mark.parametrize("name", [name for name in foresift.__all__ if name[0].isupper()])
def test_public_classes_go_by_their_public_names(name):
    assert describe(getattr(foresift, name)) == f"foresift.{name}"


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (compare, "foresift.compare"),
        (stats.kuncheva, "foresift.stats.kuncheva"),
        (stats.Outcome, "foresift.stats.Outcome"),
        (criteria.gain_ratio, "foresift.criteria.gain_ratio"),
        (type(make_estimator("nb")[0]), "foresift.NumericCoder"),
        (RandomForestClassifier, "sklearn.ensemble.RandomForestClassifier"),
        (f1_score, "sklearn.metrics.f1_score"),
        (f_classif, "sklearn.feature_selection.f_classif"),
        (sparse.csr_array, "scipy.sparse.csr_array"),
        (float, "builtins.float"),
        (np.float64, "numpy.float64"),
        (doubled, f"{__name__}.doubled"),
        (Scaled, f"{__name__}.Scaled"),
        (Scaled.method, f"{__name__}.Scaled.method"),
    ],
)
def test_names(value, name):
    assert describe(value) == name


@pytest.mark.parametrize(
    "make",
    [
        *(functools.partial(make_method, name) for name in METHODS),
        *(
            functools.partial(make_estimator, name)
            for name in ESTIMATORS
            if ESTIMATORS[name].classes and (name not in ("lightgbm", "xgboost") or find_spec(name))
        ),
        lambda: InfoGainSelector(SubsetSizeCV(SiftForestClassifier())),
        lambda: FrozenEstimator(SiftForestClassifier(3).fit(X, Y)),
        lambda: FrozenEstimator(InfoGainSelector("cv").fit(X, Y)),
    ],
)
def test_no_key_has_the_path_of_a_module_of_ours(make):
    assert set(re.findall(r"foresift\.\w+\.", key(make()))) == set()


def test_a_class_that_moves_keeps_its_key(monkeypatch):
    before = key(InfoGainSelector())
    monkeypatch.setattr(InfoGainSelector, "__module__", "foresift.elsewhere")
    assert key(InfoGainSelector()) == before


def test_no_private_class_bears_a_public_name():
    for found in pkgutil.walk_packages(foresift.__path__, "foresift."):
        if not found.name.endswith("__main__"):
            for name, value in vars(importlib.import_module(found.name)).items():
                if inspect.isclass(value) and value.__module__ == found.name and name in foresift.__all__:
                    assert getattr(foresift, name) is value


LOOP: list = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    "value",
    [
        FunctionTransformer(lambda values: values),
        FunctionTransformer(made(2)),
        functools.partial(made(2), 1),
        make_scorer(lambda y, z: 1.0),
        LOOP,
        (n for n in range(3)),
        functools.wraps(doubled)(made(2)),  # says that it is another
        make_method,  # of ours, but not public: another module may have one of that name
    ],
)
def test_what_cannot_be_told_apart_is_refused(value):
    with pytest.raises(ValueError, match="cannot be identified"):
        key(value)


def test_a_store_does_not_return_the_results_of_another_function(tmp_path):
    def run(transform):
        model = make_pipeline(FunctionTransformer(transform), GaussianNB())
        return compare(X, Y, ["info-gain"], {"p": model}, cv=3, sizes=[2], store=tmp_path / "s.sqlite")

    run(doubled)
    with pytest.raises(ValueError, match="top of a module"):
        run(lambda values: values * 0)


# --- checksums of tables ---


def frame(**changes):
    return pd.DataFrame({"a": pd.Categorical(list("abc") * 20, **changes), "b": X[:, 0]})


def with_labels(values, labels):
    return pd.DataFrame(values, columns=labels)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (sparse.csr_array(X), X),
        (sparse.csr_array(X), sparse.csr_matrix(X)),
        (X.astype(object), X),
        (X.astype(np.float32), X.astype(np.float32).astype(float)),
        (frame(), frame(categories=list("cba"))),
        (frame(), frame(categories=list("abcd"))),
        (frame(), frame(ordered=True)),
        (frame(), frame().astype({"a": str})),
        (frame().astype({"a": str}), frame().astype({"a": object})),
        (frame(), frame().to_dict("list")),
        (frame(), pl.DataFrame({"a": list("abc") * 20, "b": X[:, 0]})),
        (pl.DataFrame({"a": list("abc") * 20}, schema={"a": pl.Enum(list("abc"))}),
         pl.DataFrame({"a": list("abc") * 20}, schema={"a": pl.Enum(list("acb"))})),
        (with_labels(X, list("0123")), with_labels(X, [0, 1, 2, 3])),
        (with_labels(X, list("0123")), with_labels(X, list("0123")).astype("Float64")),
        (with_labels(X, list("0123")), {str(j): X[:, j] for j in range(4)}),
    ],
)  # fmt: skip
def test_checksums_see_how_a_table_is_stored(one, other):
    assert Data.of("d", one, Y).checksum != Data.of("d", other, Y).checksum


@pytest.mark.parametrize("n_rows", [40, 5000])
def test_whether_columns_lie_in_one_array_does_not_count(n_rows):
    rows = np.arange(3.0 * n_rows).reshape(3, n_rows)
    together = {f"c{j}": row for j, row in enumerate(rows)}
    apart = {name: column.copy() for name, column in together.items()}
    y = np.arange(n_rows) % 2
    assert Data.of("d", together, y).checksum == Data.of("d", apart, y).checksum


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_equal_tables_have_equal_checksums(form):
    assert (
        Data.of("d", sparse.csr_array(X), Y).checksum
        == Data.of("d", sparse.csr_array(X).asformat(form), Y).checksum
    )
    assert Data.of("d", X, Y).checksum == Data.of("d", np.asfortranarray(X), Y).checksum
    assert Data.of("d", frame(), Y).checksum == Data.of("d", frame(categories=list("abc")), Y).checksum
    labels = np.where(Y, "a", "b")
    assert Data.of("d", X, labels).checksum == Data.of("d", X, labels.astype("U10")).checksum
    assert Data.of("d", X, labels).checksum != Data.of("d", X, np.where(Y, "aa", "b")).checksum


def test_a_failed_sparse_run_does_not_shadow_a_dense_one(tmp_path):
    found = [
        compare(table, Y, ["info-gain"], {"nb": GaussianNB()}, cv=3, sizes=[2], store=tmp_path / "s.sqlite")
        for table in (sparse.csr_array(X), X)
    ]
    assert [len(some.failures) > 0 for some in found] == [True, False]
