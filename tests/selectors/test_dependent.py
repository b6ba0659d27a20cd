"""RelevanceSelector with rows that depend on each other: what it finds, and what must not change it."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from power import few_or_many, highest
from relevance_cases import exceeds
from scipy.special import ndtri
from scipy.stats import t as student
from sklearn.base import clone

from foresift import RelevanceSelector
from foresift.data.dependence import Dependence
from foresift.data.table import make_table
from foresift.selectors.relevance.pooling import standardized_alone

QUICK = {"n_estimators": 12, "random_state": 0, "redundancy": None}
UNTESTED = "No feature passed|.* columns were not tested"
KINDS = ["groups", "time", "panel"]


def rows_of(kind, n_groups=30, size=8):
    """Arguments of `fit`."""
    groups, time = np.repeat(np.arange(n_groups), size), np.tile(np.arange(size), n_groups)
    return {
        "groups": {"groups": groups},
        "time": {"time": np.arange(len(groups))},
        "panel": {"groups": groups, "time": time},
    }[kind]


def make_rows(seed=0, task="regression", n=240, size=8):
    """The first column matters; all rows of a group share an effect."""
    rng = np.random.default_rng(seed)
    groups = np.arange(n) // size
    X = rng.normal(size=(n, 6)) + rng.normal(size=(n // size, 6))[groups]
    X[:, 4] = rng.normal(size=n // size)[groups]  # constant within groups
    X[rng.random(n) < 0.2, 5] = np.nan
    y = X[:, 0] + rng.normal(size=n // size)[groups] + rng.normal(size=n)
    return X, y if task == "regression" else (y > 0).astype(int)


def make_series(task):
    """The first column matters; columns and noise are autoregressive, which effects of groups are not."""
    X, noise, _ = autoregressive_noise(np.random.default_rng(0), 240, 0.6)
    y = X[:, 0] + noise
    return X[:, :6], y if task == "regression" else (y > 0).astype(int)


def quiet_fit(X, y, **arguments):
    rows = {name: arguments.pop(name) for name in ("groups", "time", "sample_weight") if name in arguments}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No feature passed")
        warnings.filterwarnings("ignore", ".* columns were not tested")
        return RelevanceSelector(**{**QUICK, **arguments}).fit(X, y, **rows)


def learned(selector):
    names = ("scores_", "pvalues_", "adjusted_pvalues_", "relevant_", "shadow_scores_", "gains_")
    return {name: getattr(selector, name) for name in names} | selector.test_pvalues_


def assert_same(one, other):
    for name, values in learned(one).items():
        assert np.array_equal(learned(other)[name], values, equal_nan=True), name


def assert_same_ranks(one, other):
    for name in ("ranks", "residuals"):
        assert other.test_pvalues_[name] == pytest.approx(one.test_pvalues_[name], rel=1e-6, nan_ok=True), (
            name
        )
    assert not np.isnan(one.test_pvalues_["ranks"]).all()


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("kind", KINDS)
def test_finds_what_matters(kind, task):
    X, y = make_series(task) if kind == "time" else make_rows(task=task)
    selector = quiet_fit(X, y, **rows_of(kind))
    assert selector.relevant_[0]
    assert selector.relevant_[1:].sum() <= 1
    assert np.isnan(selector.test_pvalues_["pairs"]).all()
    assert selector.shadow_scores_.shape == (6, 30)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("kind", ["groups", "panel"])
def test_the_order_of_rows_does_not_matter_to_ranks(kind, task):
    X, y = make_rows(task=task)
    rows, moved = rows_of(kind), np.random.default_rng(1).permutation(len(y))
    one = quiet_fit(X, y, **rows)
    other = quiet_fit(X[moved], y[moved], **{name: some[moved] for name, some in rows.items()})
    assert_same_ranks(one, other)


def test_rows_in_any_order_with_their_times_are_a_series():
    X, y = make_rows()
    moved = np.random.default_rng(1).permutation(len(y))
    one, other = quiet_fit(X, y, dependence="time"), quiet_fit(X[moved], y[moved], time=moved)
    assert_same_ranks(one, other)
    backwards = quiet_fit(X[moved], y[moved])
    assert backwards.test_pvalues_["ranks"] != pytest.approx(one.test_pvalues_["ranks"], rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_threads_do_not_matter(kind):
    X, y = make_rows()
    options = {"n_half_samples": 1, **rows_of(kind)}
    one, two = quiet_fit(X, y, **options), quiet_fit(X, y, n_jobs=2, **options)
    assert_same(one, two)
    assert one.stability_ == two.stability_


def test_labels_of_groups_and_times_do_not_matter():
    X, y = make_rows()
    rows = rows_of("panel")
    dates = pd.Timestamp("2020-01-31") + pd.to_timedelta(rows["time"] * 30, unit="D")
    names = np.array([f"patient {g:03d}" for g in rows["groups"]])
    for groups in (names, pd.Categorical(names), 7.5 * rows["groups"] - 90, names.tolist()):
        assert_same(quiet_fit(X, y, **rows), quiet_fit(X, y, groups=groups, time=dates))
    # Names that sort otherwise: groups change places, the tests of ranks do not see it.
    others = np.array([str(g) for g in rows["groups"]])
    assert_same_ranks(quiet_fit(X, y, **rows), quiet_fit(X, y, groups=others, time=rows["time"]))


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_none_is_as_if_nothing_was_passed(task):
    X, y = make_rows(task=task)
    assert_same(quiet_fit(X, y), quiet_fit(X, y, dependence="none", **rows_of("panel")))
    panel = rows_of("panel")
    assert_same(quiet_fit(X, y, groups=panel["groups"]), quiet_fit(X, y, dependence="groups", **panel))
    assert_same(quiet_fit(X, y, dependence="panel", **panel), quiet_fit(X, y, **panel))


@pytest.mark.parametrize("kind", KINDS)
def test_fit_table_is_fit(kind):
    X, y = make_rows()
    rows = rows_of(kind)
    table = make_table(X, y, task="regression")
    table = replace(table, dependence=Dependence(rows.get("groups"), rows.get("time")))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No feature passed")
        fitted = RelevanceSelector(**QUICK).fit_table(table)
    assert_same(quiet_fit(X, y, **rows), fitted)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("kind", KINDS)
def test_ranks_do_not_see_rows_of_weight_0(kind, task):
    X, y = make_rows(task=task)
    weights = (np.random.default_rng(2).random(len(y)) < 0.8).astype(float)
    some, rows = weights > 0, rows_of(kind)
    X[~some, 1] += 1000 * np.sign(y[~some] - 0.5)
    one = quiet_fit(X, y, sample_weight=3 * weights, **rows)
    other = quiet_fit(X[some], y[some], **{name: values[some] for name, values in rows.items()})
    assert_same_ranks(one, other)


@pytest.mark.parametrize("kind", KINDS)
def test_clone_and_pickle(kind):
    X, y = make_rows()
    selector = clone(RelevanceSelector(**QUICK, dependence=kind)).fit(X, y, **rows_of(kind))
    assert selector.dependence == kind
    assert_same(selector, pickle.loads(pickle.dumps(selector)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_predictors", [1, 3])
def test_noise_is_not_related_to_nothing(kind, n_predictors):
    # A copy of the target leaves nothing of it but rounding and what innovations have for a mean.
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = rng.normal(size=240)
        copies = [y, np.exp(y), y**3][:n_predictors]
        X = np.column_stack([*copies, rng.normal(size=(240, 8))])
        assert quiet_fit(X, y, **rows_of(kind)).pvalues_[n_predictors:].min() > 1e-4


def test_rare_classes_of_a_panel_are_no_evidence():
    # Few series have rows of a class: the spread of their sums is small by chance.
    for seed in range(6):
        rng = np.random.default_rng(seed)
        selector = quiet_fit(rng.normal(size=(320, 4)), rng.integers(0, 60, 320), **rows_of("panel", 40))
        assert selector.pvalues_.min() > 1e-4


def test_a_series_of_one_level_after_another_is_not_tested():
    rng = np.random.default_rng(0)
    X, y, selector = rng.normal(size=(300, 4)), np.arange(300) > 150, RelevanceSelector(**QUICK)
    with pytest.warns(UserWarning, match="too few independent rows to test|No feature passed") as caught:
        selector.fit(X, y, time=np.arange(300))
    assert str(caught[0].message).startswith("4 of 4 columns were not tested: 300 rows in the order of time")
    assert len(caught) == 2
    assert not selector.relevant_.any()
    assert (selector.pvalues_ == 1).all()
    assert np.isnan(selector.scores_).all()


def test_columns_and_target_of_five_groups_are_not_tested_by_ranks():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(5), 20)
    X = np.column_stack([rng.normal(size=5)[groups], np.arange(5)[groups], rng.normal(size=100)])
    selector = quiet_fit(X, groups % 2, groups=groups)
    assert np.isnan(selector.test_pvalues_["ranks"]).all()
    assert not selector.relevant_.any()
    with pytest.warns(UserWarning, match="No feature passed|too few groups to compare") as caught:
        RelevanceSelector(**QUICK, max_features=1, max_depth=1).fit(X, groups % 2, groups=groups)
    assert any("(5; 10 are needed)" in str(one.message) for one in caught)


@pytest.mark.parametrize("kind", KINDS)
def test_halves_may_lack_a_class(kind):
    X, _ = make_rows()
    y = (np.arange(240) < 16).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", UNTESTED)
        selector = RelevanceSelector(n_half_samples=4, **QUICK).fit(X, y, **rows_of(kind))
    assert 0 <= selector.selection_frequencies_.min() <= selector.selection_frequencies_.max() <= 1


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_halves_of_a_few_rows_in_time_may_be_empty(task, n):
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, 3)), np.arange(n) % 2 if task == "classification" else rng.normal(size=n)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "No feature passed|.*o column.* tested")
        selector = RelevanceSelector(n_half_samples=2, task=task, **QUICK).fit(X, y, time=np.arange(n))
    assert not selector.relevant_.any()


@pytest.mark.parametrize(("n_groups", "size"), [(60, 2), (8, 2), (20, 3), (5, 12)])
@pytest.mark.parametrize("n_classes", [2, 4, None])
@pytest.mark.parametrize("kind", KINDS)
def test_short_series_and_small_groups(kind, n_classes, n_groups, size):
    rng = np.random.default_rng(size)
    n = n_groups * size
    y = rng.normal(size=n) if n_classes is None else rng.integers(0, n_classes, n)
    X = rng.normal(size=(n, 3))
    X[:, 1] = np.nan
    X[0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings(
            "ignore", "No feature passed|.* columns were not tested|Column .* has no known"
        )
        selector = RelevanceSelector(**QUICK).fit(X, y, **rows_of(kind, n_groups, size))
    assert (selector.pvalues_ > 1e-4).all()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"groups": np.zeros(240)}, "one group only"),
        (
            {"groups": np.arange(240)},
            "no rows belong together: leave it out",
        ),
        ({"groups": np.arange(9)}, "has 9 values, but X has 240 rows"),
        ({"groups": np.r_[np.nan, np.ones(239)]}, "missing in row 0"),
        ({"groups": np.array([1, "a"] * 120, dtype=object)}, "mixes types"),
        ({"groups": "patient"}, "not the name of a column"),
        ({"time": np.zeros(240)}, "pass groups too if there are several series"),
        ({"time": [None, *range(239)]}, "missing in row 0"),
        (
            {"time": np.arange(240) // 2, "groups": np.arange(240) // 8},
            "the time of another row of a group",
        ),
        ({"dependence": "panel"}, "needs groups"),
        ({"dependence": "groups"}, "needs groups"),
        ({"dependence": "rows"}, "dependence"),
    ],
)
def test_bad_rows_are_refused_in_a_sentence(rows, message):
    X, y = make_rows()
    with pytest.raises((ValueError, TypeError), match=message):
        quiet_fit(X, y, **rows)


def test_scores_by_their_own_shadows_are_student_quantiles():
    rng = np.random.default_rng(0)
    scores = rng.gamma(5, size=(6, 9))
    scores[2, 3:6] = np.nan  # hardly tried
    scores[3, 1:] = 0.5  # shadows that do not vary
    z = standardized_alone(scores)
    assert np.isnan(z[3]).all()
    for j in (0, 1, 2, 4, 5):
        for k in range(9):
            others = np.cbrt([scores[j, i] for i in range(1, 9) if i != k])
            others = others[~np.isnan(others)]
            n = len(others)
            t = (np.cbrt(scores[j, k]) - others.mean()) / (others.std(ddof=1) * np.sqrt(1 + 1 / n))
            assert z[j, k] == pytest.approx(-ndtri(student.sf(t, n - 1)), nan_ok=True)
    far = np.column_stack([[1e6, 1e-9], np.tile(scores[0, 1:], (2, 1))])
    assert np.isfinite(standardized_alone(far)).all()


def grouped_noise(rng, n_groups=40, size=8):
    """Patients with an effect in y; half of the columns are constant within patients."""
    groups = np.repeat(np.arange(n_groups), size)
    X = rng.normal(size=(n_groups, 30))[groups]
    X[:, 15:] += rng.normal(size=(len(groups), 15))
    return X, 2 * rng.normal(size=n_groups)[groups] + rng.normal(size=len(groups)), {"groups": groups}


def autoregressive_noise(rng, n=400, coefficient=0.9):
    values = rng.normal(size=(31, n))
    for i in range(1, n):
        values[:, i] += coefficient * values[:, i - 1]
    return values[:30].T, values[30], {"time": np.arange(n)}


def panel_noise(rng, n_groups=20, size=15):
    groups = np.repeat(np.arange(n_groups), size)
    X, y, _ = autoregressive_noise(rng, n_groups * size, 0.7)
    return X + rng.normal(size=(n_groups, 30))[groups], y, {"groups": groups, "time": np.arange(len(groups))}


NOISE = {"groups": grouped_noise, "time": autoregressive_noise, "panel": panel_noise}


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("kind", NOISE)
@few_or_many(4, 200)
def test_noise_is_rarely_relevant_if_dependence_is_respected(n_tables, kind, task):
    fitted, ignored = [], []
    for seed in range(3000, 3000 + n_tables):
        X, y, rows = NOISE[kind](np.random.default_rng([seed, 80]))
        y = y if task == "regression" else (y > np.median(y)).astype(int)
        fitted.append(quiet_fit(X, y, random_state=seed, n_estimators=25, **rows))
        if len(ignored) < 10:
            ignored.append(quiet_fit(X, y, random_state=seed).relevant_.sum())
    assert np.mean([one.relevant_.any() for one in fitted]) <= highest(0.1, n_tables)
    for alpha in (0.01, 0.1):
        assert not exceeds([one.pvalues_ for one in fitted], alpha)
    # Without it many columns of noise are: the tables are hard.
    assert np.median(ignored) >= (10 if kind != "panel" else 2)


def test_weights_made_from_a_column_do_not_make_it_relevant():
    false = 0
    groups = np.repeat(np.arange(60), 5)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
        selector = RelevanceSelector(n_estimators=20, redundancy=None, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector.fit(X, y, sample_weight=np.exp(1.2 * X[:, 0]), groups=groups)
        false += selector.pvalues_[0] < 0.05
    assert false <= 5  # 17 if the weights stayed in their rows


def test_a_table_is_tested_as_its_rows_would_be():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 5)), rng.normal(size=100)
    selector = RelevanceSelector(dependence="time", task="regression", n_estimators=5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = clone(selector).fit(X, y)
        other = clone(selector).fit_table(make_table(X, y, task="regression"))
    assert np.array_equal(one.pvalues_, other.pvalues_)
    with pytest.raises(ValueError, match='dependence="groups" needs groups'):
        clone(selector).set_params(dependence="groups").fit_table(make_table(X, y, task="regression"))
