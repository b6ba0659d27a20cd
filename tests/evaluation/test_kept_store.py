"""A store is found again by later versions: data/kept-store.db was written before the code was moved.

Do not write the file again to make this test pass: people have such files, from runs of hours.
"""

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline

from foresift import ForestGainSelector, GEFSSelector, SiftForestClassifier, compare

KEPT = Path(__file__).parent / "kept-store.db"
FIELDS = ("kind", "dataset", "data", "method", "method_parameters", "classifier", "classifier_parameters")
FIELDS += ("cv", "repeat", "fold", "rows", "seed", "options", "software")
N_TASKS = 80

ROW, COLUMN = np.arange(60)[:, np.newaxis], np.arange(5)
X = ((7 * ROW * (COLUMN + 3) + ROW * ROW * (COLUMN + 1)) % 13).astype(np.float64)
Y = (X[:, 0] + X[:, 2] > 11).astype(np.int64)
FOLDS = [(np.flatnonzero(ROW[:, 0] % 2 != fold), np.flatnonzero(ROW[:, 0] % 2 == fold)) for fold in range(2)]

# All parameters are given where a default is likely to change; scikit-learn's are of classes that have few.
FOREST_GAIN = ForestGainSelector(
    None, bound="exact", weighting="complexity", redundancy=None, n_estimators=10, max_features="sqrt",
    nominal_splits="subsets", n_permutations=2, confidence=0.95, weight_unit=0.1,
    categorical_features="from_dtype", random_state=None,
)  # fmt: skip
FOREST = SiftForestClassifier(
    10, criterion="entropy", max_features="sqrt", n_thresholds=None, feature_sampling="uniform",
    update_every=1, confidence=0.95, weight_unit=0.1, soft_constant=1.0, bootstrap=True, max_samples=None,
    oob_score=False, max_depth=None, min_samples_split=2, min_samples_leaf=1, min_gain=0.0,
    nominal_splits="subsets", correct_nominal=False, missing="learn", categorical_features="from_dtype",
    max_bins=65_536, record_tried=False, class_weight=None, warm_start=False, random_state=None,
)  # fmt: skip
METHODS = {key: key for key in ("info-gain", "relieff", "cfs", "ssv1", "ssv2", "random")}
METHODS |= {"forest-gain": FOREST_GAIN, "gefs": GEFSSelector(population=4, n_candidates=8, epochs=5)}
METHODS |= {"k-best": SelectKBest(f_classif, k=2)}
CLASSIFIERS = {"c45": "c45", "nb": "nb", "gauss": GaussianNB(), "forest": FOREST}


def compared(store):
    """Compare as the kept store was made."""
    scoring = {"accuracy": "accuracy", "f1": "f1_macro"}
    return compare(
        X, Y, METHODS, CLASSIFIERS, cv=FOLDS, sizes=["own", 2], scoring=scoring, store=store, name="made"
    )


def key_of(fields):
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def as_of_these_versions(path):
    """Rewrite a store as if the installed versions had written it: results of others are never reused."""
    software = compare(X, Y, ["random"], {"gauss": GaussianNB()}, cv=2).about["software"]
    with closing(sqlite3.connect(path)) as connection, connection:
        for key, *values in connection.execute(f"SELECT key, {', '.join(FIELDS)} FROM units").fetchall():
            fields = dict(zip(FIELDS, values, strict=True))
            assert key == key_of(fields)
            new = key_of({**fields, "software": software})
            connection.execute("UPDATE units SET key = ?, software = ? WHERE key = ?", (new, software, key))
            connection.execute("UPDATE runs SET key = ? WHERE key = ?", (new, key))


def contents(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute("SELECT key, finished, scores FROM units JOIN runs USING (key)").fetchall()


@pytest.mark.skipif(
    set(Pipeline([]).get_params(deep=False)) != {"memory", "steps", "transform_input", "verbose"},
    reason="a pipeline of this version of scikit-learn has other parameters, so other keys",
)
def test_every_task_of_a_kept_store_is_found(tmp_path):
    path = tmp_path / "results.sqlite"
    shutil.copyfile(KEPT, path)
    as_of_these_versions(path)
    before = contents(path)
    assert len(before) == N_TASKS
    found = compared(path)
    assert contents(path) == before  # nothing was run again, nothing added
    assert found.failures == []
    assert {row.method for row in found.rows} == {"none", *METHODS}


def test_the_kept_store_names_no_module():
    with closing(sqlite3.connect(f"file:{KEPT}?mode=ro&immutable=1", uri=True)) as connection:
        told = connection.execute("SELECT DISTINCT method_parameters, classifier_parameters FROM units")
        text = " ".join(part for row in told for part in row)
    assert "foresift.InfoGainSelector" in text
    assert "foresift.NumericCoder" in text
    assert "foresift.selectors.filters" not in text
    assert "sklearn.feature_selection.SelectKBest" in text
