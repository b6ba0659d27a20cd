"""Greedy information filters: against a reference and praznik, the stopping rule, what must not matter."""

import threading

import numpy as np
import pandas as pd
import pytest
import reference_mutual_info as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from foresift import MutualInfoSelector, _core
from foresift.data.discretize import equal_frequency_bins
from foresift.data.sklearn_compat import seed_of
from foresift.data.table import make_table
from foresift.selectors.mutual_info import _above_chance

SCHEMES = ["mim", "mrmr", "jmi", "cmim", "disr"]
pytestmark = pytest.mark.filterwarnings("ignore:No feature passed the rule")


def nominal_table(seed, n=None, p=None):
    """Few categories, so many ties; repeated and constant columns, missing values; also as lists."""
    rng = np.random.default_rng(seed)
    n, p = n or int(rng.integers(6, 60)), p or int(rng.integers(1, 8))
    y = rng.integers(0, 3, n)
    y[:3] = [0, 1, 2]
    columns = []
    for j in range(p):
        codes = rng.integers(0, int(rng.choice([1, 2, 3, 6])), n)
        if rng.random() < 0.4:
            codes = np.where(rng.random(n) < 0.7, y, codes)
        if columns and rng.random() < 0.2:
            codes = np.array([-1 if c is None else 5 - c for c in columns[int(rng.integers(0, j))]])
        missing = (codes < 0) | (rng.random(n) < (0.3 if rng.random() < 0.4 else 0.0))
        columns.append([None if gap else int(code) for gap, code in zip(missing, codes, strict=True)])
    frame = {
        f"c{j}": np.array([None if c is None else f"v{c}" for c in column], dtype=object)
        for j, column in enumerate(columns)
    }
    return frame, columns, y, rng


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("missing", ["value", "pairwise"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_orders_and_scores_equal_the_reference(scheme, missing, weighted, seed):
    frame, columns, y, rng = nominal_table(seed)
    weights = rng.integers(0, 4, len(y)).astype(float) if weighted else None
    if weighted:
        weights[:3] = 1.0
    n_steps = int(rng.integers(1, len(columns) + 1))
    selector = MutualInfoSelector(n_steps, scheme=scheme, missing=missing).fit(
        frame, y, sample_weight=weights
    )
    options = {"weights": None if weights is None else weights.tolist(), "pairwise": missing == "pairwise"}
    order, _, last = reference.greedy(scheme, columns, y.tolist(), n_steps, **options)
    assert np.argsort(selector.ranking_)[:n_steps].tolist() == order
    assert selector.scores_ == pytest.approx(last, abs=1e-12)
    rest = np.argsort(selector.ranking_)[n_steps:]
    assert (np.diff(last[rest]) <= 1e-11).all()
    assert selector.support_.sum() == n_steps == selector.n_added_


def titanic():
    """Titanic of R: how many persons of each kind."""
    cells = """1st F Adult No 4|1st F Adult Yes 140|1st F Child Yes 1|1st M Adult No 118|1st M Adult Yes 57
    |1st M Child Yes 5|2nd F Adult No 13|2nd F Adult Yes 80|2nd F Child Yes 13|2nd M Adult No 154
    |2nd M Adult Yes 14|2nd M Child Yes 11|3rd F Adult No 89|3rd F Adult Yes 76|3rd F Child No 17
    |3rd F Child Yes 14|3rd M Adult No 387|3rd M Adult Yes 75|3rd M Child No 35|3rd M Child Yes 13
    |Crew F Adult No 3|Crew F Adult Yes 20|Crew M Adult No 670|Crew M Adult Yes 192"""
    rows = pd.DataFrame(
        [cell.split() for cell in cells.split("|")], columns=["Class", "Sex", "Age", "y", "n"]
    )
    return rows[["Class", "Sex", "Age"]], rows["y"], rows["n"].astype(int)


# praznik 11.0.0 (R 4.2.2): order and scores with k = all features, of iris cut into five parts of equal width
# and of Titanic.
PRAZNIK_IRIS = {
    "mim": ([3, 2, 0, 1], [0.918094937545392, 0.877699665695303, 0.443782233344533, 0.27135017497779]),
    "mrmr": (
        [3, 2, 1, 0],
        [0.918094937545392, -0.00385576655941811, -0.0768143075403129, -0.0383065836208284],
    ),
    "jmi": ([3, 2, 0, 1], [0.918094937545392, 0.975832310781851, 1.86230182091951, 2.55761238181058]),
    "cmim": ([3, 2, 0, 1], [0.918094937545392, 0.0577373732364589, 0.0284703174612631, 0.00722798788245139]),
    "disr": ([3, 2, 0, 1], [0.918094937545392, 0.463352979082857, 0.738481532389901, 0.965998673737922]),
}
PRAZNIK_TITANIC = {
    "mim": (["Sex", "Class", "Age"], [0.0986980550383637, 0.0410952661006594, 0.00444357133759518]),
    "mrmr": (["Sex", "Age", "Class"], [0.0986980550383637, -0.000845777677544595, -0.022617647182089]),
    "jmi": (["Sex", "Class", "Age"], [0.0986980550383637, 0.13760193994167, 0.157285686341221]),
    "cmim": (["Sex", "Class", "Age"], [0.0986980550383637, 0.0389038849033063, 0.00444357133759518]),
    "disr": (["Sex", "Age", "Class"], [0.0986980550383637, 0.0839475151618205, 0.0892422084638467]),
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_equals_praznik(scheme):
    X, y = load_iris(return_X_y=True)
    parts = pd.DataFrame({j: pd.Categorical(pd.cut(X[:, j], 5, labels=False)) for j in range(4)})
    selector = MutualInfoSelector(1.0, scheme=scheme).fit(parts.rename(columns=str), y)
    order, scores = PRAZNIK_IRIS[scheme]
    assert np.argsort(selector.ranking_).tolist() == order
    assert selector.scores_[order] == pytest.approx(scores, abs=1e-13)
    rows, survived, counts = titanic()
    every = np.repeat(np.arange(len(rows)), counts)
    for fitted in (
        MutualInfoSelector(1.0, scheme=scheme).fit(rows, survived, sample_weight=counts),
        MutualInfoSelector(1.0, scheme=scheme).fit(rows.iloc[every], survived.iloc[every]),
    ):
        order, scores = PRAZNIK_TITANIC[scheme]
        at = np.argsort(fitted.ranking_)
        assert fitted.feature_names_in_[at].tolist() == order
        assert fitted.scores_[at] == pytest.approx(scores, abs=1e-13)


def bins_of(values, n_bins):
    """Bins of about equal frequency, by the middle rank of each value."""
    known = sorted(v for v in values if not np.isnan(v))
    distinct = sorted(set(known))
    if len(distinct) <= n_bins:
        return [None if np.isnan(v) else distinct.index(v) for v in values]
    middle = {v: known.index(v) + known.count(v) / 2 for v in distinct}
    return [None if np.isnan(v) else int(middle[v] * n_bins / len(known)) for v in values]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seed", range(6))
def test_numbers_are_cut_into_bins_of_equal_frequency(scheme, seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(80, 6)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 5] = rng.integers(0, 3, 80)
    y = np.nan_to_num(X[:, 0]) + 0.3 * rng.normal(size=80)
    selector = MutualInfoSelector(4, scheme=scheme, n_bins=5).fit(X, y)
    coded = [bins_of(X[:, j].tolist(), 5) for j in range(6)]
    order, _, last = reference.greedy(scheme, coded, bins_of(y.tolist(), 5), 4)
    assert np.argsort(selector.ranking_)[:4].tolist() == order
    assert selector.scores_ == pytest.approx(last, abs=1e-12)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40).filter(any), st.integers(2, 12))
def test_bins_keep_the_order_and_are_about_equal(counts, n_bins):
    counts = np.array(counts)
    bins = equal_frequency_bins(counts, n_bins)
    assert (np.diff(bins) >= 0).all()
    assert (np.diff(bins) <= 1).all()
    assert bins[0] == 0
    assert bins[-1] < max(n_bins, 1)
    size = np.bincount(bins, counts)
    if np.count_nonzero(counts) > n_bins:
        assert size.max() <= counts.sum() / n_bins + counts.max()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(SCHEMES), st.booleans())
def test_a_weight_is_a_repetition(seed, scheme, pairwise):
    frame, _, y, rng = nominal_table(seed)
    frame["number"] = rng.normal(size=len(y)).round(1)
    weights = rng.integers(0, 4, len(y))
    weights[:3] += 1
    rows = np.repeat(np.arange(len(y)), weights)
    options = {"scheme": scheme, "n_bins": 3, "missing": "pairwise" if pairwise else "value"}
    weighted = MutualInfoSelector(1.0, **options).fit(frame, y, sample_weight=weights)
    repeated = MutualInfoSelector(1.0, **options).fit({k: v[rows] for k, v in frame.items()}, y[rows])
    assert weighted.ranking_.tolist() == repeated.ranking_.tolist()
    assert weighted.scores_ == pytest.approx(repeated.scores_, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(SCHEMES))
def test_names_of_categories_and_order_of_rows_do_not_matter(seed, scheme):
    frame, _, y, rng = nominal_table(seed)
    rows = rng.permutation(len(y))
    other = {
        k: np.array([c if c is None else f"z{9 - int(c[1:])}" for c in v[rows]], dtype=object)
        for k, v in frame.items()
    }
    a = MutualInfoSelector(1.0, scheme=scheme).fit(frame, y)
    b = MutualInfoSelector(1.0, scheme=scheme).fit(other, -y[rows])
    assert a.ranking_.tolist() == b.ranking_.tolist()
    assert a.scores_ == pytest.approx(b.scores_, abs=1e-12)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("quantity", [False, True])
def test_threads_change_no_bit(scheme, quantity):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 150))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.nan_to_num(X[:, 0] + X[:, 70]) + rng.normal(size=300)
    y = y if quantity else (y > 0).astype(int)
    weights = rng.uniform(0.5, 2, 300)
    for wanted in (None, 5):
        one, four = (
            MutualInfoSelector(wanted, scheme=scheme, n_jobs=n_jobs, random_state=0).fit(X, y, weights)
            for n_jobs in (1, 4)
        )
        assert one.scores_.tobytes() == four.scores_.tobytes()
        assert one.ranking_.tolist() == four.ranking_.tolist()
        assert one.shadow_scores_.tobytes() == four.shadow_scores_.tobytes()


def test_columns_of_many_categories_are_counted_by_sorting():
    rng = np.random.default_rng(0)
    n = 3000
    wide = [
        rng.integers(0, 1500, n).tolist(),
        rng.integers(0, 900, n).tolist(),
        rng.integers(0, 3, n).tolist(),
    ]
    frame = pd.DataFrame({f"c{j}": pd.Categorical(column) for j, column in enumerate(wide)})
    y = (np.array(wide[0]) + rng.integers(0, 700, n)) // 4
    for scheme in SCHEMES:
        for weights in (None, rng.integers(1, 3, n).astype(float)):
            found = MutualInfoSelector(3, scheme=scheme).fit(frame, y, weights)
            given_weights = None if weights is None else weights.tolist()
            order, _, last = reference.greedy(scheme, wide, y.tolist(), 3, given_weights)
            assert np.argsort(found.ranking_).tolist() == order
            assert found.scores_ == pytest.approx(last, abs=1e-11)


def signal(rng, quantity, n=400, p=30):
    X = rng.normal(size=(n, p))
    X[:, 3] = X[:, 2] + 0.01 * rng.normal(size=n)  # redundant
    score = X[:, 0] + X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n)
    return X, score if quantity else np.digitize(score, [-1, 1])


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("quantity", [False, True])
def test_stops_where_the_shadows_begin(scheme, quantity):
    rng = np.random.default_rng(1)
    X, y = signal(rng, quantity)
    selector = MutualInfoSelector(scheme=scheme, n_bins=5, random_state=0).fit(X, y)
    kept = np.flatnonzero(selector.support_)
    assert set(kept) <= {0, 1, 2, 3}
    assert len(kept) >= 2
    assert len(selector.shadow_scores_) == len(kept) + 1 == selector.n_added_ + 1
    order = np.argsort(selector.ranking_)
    last = selector.shadow_scores_.max(axis=1)
    if scheme != "mrmr":  # which compares relevance
        assert (selector.scores_[order[: len(kept)]] > last[:-1]).all()
        assert selector.scores_[order[len(kept)]] <= last[-1] + 1e-12
    fixed = MutualInfoSelector(len(kept), scheme=scheme, n_bins=5).fit(X, y)
    assert (fixed.support_ == selector.support_).all()
    assert fixed.shadow_scores_.shape == (0, 0)
    if scheme not in ("mim", "jmi", "disr"):
        assert not {2, 3} <= set(kept)


def correlated_table(seed):
    """Numbers that many columns share, in two to nine categories, some of them grouped."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(20, 120)), int(rng.integers(2, 14))
    shared = rng.normal(size=(n, 2))
    X = shared @ rng.normal(size=(2, p)) + rng.choice([0.3, 1.0, 3.0], p) * rng.normal(size=(n, p))
    X = np.column_stack([np.digitize(x, np.sort(rng.normal(size=int(rng.integers(1, 9))))) for x in X.T])
    X[:, rng.random(p) < 0.1] = 0
    return X, np.digitize(shared[:, 0] + 0.5 * rng.normal(size=n), [-0.5, 0.5]), rng


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_mrmr_stops_as_the_reference(seed, grouped):
    X, y, rng = correlated_table(seed)
    n_shadows, p = int(rng.integers(1, 8)), X.shape[1]
    labels = rng.permutation(np.arange(p) // 2) if grouped and p % 2 == 0 else np.arange(p)
    selector = MutualInfoSelector(
        n_bins=9, n_shadows=n_shadows, random_state=seed, feature_groups=[f"g{k}" for k in labels]
    ).fit(X, y)
    drawn = np.random.default_rng(seed_of(seed))
    # a shadow has the target of row i at row order[i], so rows are put back
    orders = [np.argsort(drawn.permutation(len(y))).tolist() for _ in range(n_shadows)]
    names = list(dict.fromkeys(labels.tolist()))  # groups in the order of their first column
    groups = [np.flatnonzero(labels == name).tolist() for name in names]
    added, bests = reference.mrmr_until_chance(X.T.tolist(), y.tolist(), orders, groups)
    assert selector.n_added_ == len(added)
    assert selector.shadow_scores_ == pytest.approx(np.array(bests), abs=1e-12)
    if added:
        kept = sorted(j for g in added for j in groups[g])
        assert np.flatnonzero(selector.support_).tolist() == kept


def test_features_above_chance_by_hand():
    own = [1.0, 9.0, 4.0, 5.0]
    shadows = [[2.0, 4.5, 2.0, 0.0], [3.0, 0.0, 0.0, 2.0]]
    # at least 4: three features and one shadow; at least 1: four features and five shadows
    assert _above_chance(np.array([own, *shadows])).tolist() == [False, True, True, True]
    shadows[1][1] = 9.0  # as good as the best
    assert not _above_chance(np.array([own, *shadows])).any()


def test_mrmr_does_not_stop_at_redundant_columns():
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(500, 1))
    X = np.hstack([factor + 0.5 * rng.normal(size=(500, 6)), rng.normal(size=(500, 3))])
    y = factor[:, 0] + 2 * rng.normal(size=500)
    selector = MutualInfoSelector(random_state=0).fit(X[:, :6], y)
    assert selector.n_added_ == 6
    assert (selector.scores_[selector.ranking_ > 1] < -0.1).all()  # shadows have about 0
    with_noise = MutualInfoSelector(random_state=0).fit(X, y)
    assert not with_noise.support_[6:].any()


def test_mrmr_is_not_stopped_by_columns_of_many_categories():
    rng = np.random.default_rng(1)
    y = np.arange(200) % 2
    flipped = rng.permutation(200) < 72
    frame = {"two": np.where(flipped, 1 - y, y).astype(str), "many": rng.integers(0, 12, 200).astype(str)}
    one = MutualInfoSelector(scheme="mim", random_state=0).fit(frame, y)
    other = MutualInfoSelector(random_state=0).fit(frame, y)
    assert one.relevance_[1] < one.relevance_[0] < one.shadow_scores_[0].max()
    assert one.n_added_ == 0
    assert other.n_added_ == 1
    assert other.support_.tolist() == [True, False]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("quantity", [False, True])
def test_irrelevant_columns_pass_as_often_as_promised(scheme, quantity):
    passed = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 10))
        X[:, 5:] = X[:, :5] + 0.3 * rng.normal(size=(60, 5))
        y = rng.standard_t(2, 60) if quantity else rng.integers(0, 3, 60)
        passed += (
            MutualInfoSelector(scheme=scheme, n_shadows=9, n_bins=4, random_state=seed).fit(X, y).n_added_ > 0
        )
    assert passed <= 9  # 10 % of 40; more has a probability of 1.6 %, and the seeds are fixed


def test_the_task_follows_the_target():
    X = np.arange(20.0).reshape(10, 2)
    whole, fractions = np.arange(10) // 2, np.arange(10) / 4
    as_classes = MutualInfoSelector(2, n_bins=2).fit(X, whole)
    as_quantity = MutualInfoSelector(2, n_bins=2, task="regression").fit(X, whole)
    assert as_classes.scores_[0] != as_quantity.scores_[0]
    MutualInfoSelector(2).fit(X, fractions)
    with pytest.raises(ValueError, match="continuous"):
        MutualInfoSelector(2, task="classification").fit(X, fractions)
    MutualInfoSelector(2).fit(X, list("aabbccddee"))
    with pytest.raises(ValueError, match="text"):
        MutualInfoSelector(2, task="regression").fit(X, list("aabbccddee"))


def test_a_coded_table_gives_the_same():
    rng = np.random.default_rng(3)
    X, y = signal(rng, True, n=120, p=6)
    table = make_table(X, y, task="regression")
    one = MutualInfoSelector(random_state=0).fit(X, y)
    other = MutualInfoSelector(random_state=0).fit_table(table)
    assert one.scores_.tolist() == other.scores_.tolist()
    assert one.support_.tolist() == other.support_.tolist()


@pytest.mark.parametrize("missing", ["value", "pairwise"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_columns_without_known_values(scheme, missing):
    X = np.full((12, 3), np.nan)
    X[:, 1] = np.arange(12) % 3
    X[:6, 2] = 1.0
    selector = MutualInfoSelector(3, scheme=scheme, missing=missing).fit(X, np.arange(12) % 2)
    assert np.isfinite(selector.scores_).all()
    assert selector.relevance_[0] == 0


def test_another_thread_stops_it():
    rng = np.random.default_rng(0)
    store = _core.ColumnStore(100_000)
    for _ in range(20):
        store.add_nominal(rng.integers(0, 9, 100_000).astype(np.int32), 9)
    counter, stop = _core.MutualInfo(store), _core.StopFlag()
    threading.Timer(0.05, stop.set).start()
    columns, y = np.zeros(10**6, np.uint32), rng.integers(0, 9, 100_000).astype(np.int32)
    with pytest.raises(RuntimeError, match="interrupted"):
        counter.of(columns, y, 9, None, 1, None, False, stop)
