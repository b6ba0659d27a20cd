"""Forests on all rows and some columns, and what their trees say of these columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from foresift.data.sklearn_compat import Progress
from foresift.data.slices import TableOfX, sliceable, take_columns
from foresift.engine.co_occurrence import CoOccurrence, count_pairs
from foresift.engine.grow import fold_trees
from foresift.engine.importances import node_tables
from foresift.engine.node_table import NodeTable, contributions
from foresift.models.scorer import grows_on_store, make_store_grower, n_candidates
from foresift.models.subset_models import fit_plain, for_columns

__all__ = ["SubsetForests"]


class SubsetForests:
    """Grows a forest on some columns: one of ours on the column store, any other on a slice of X."""

    def __init__(
        self, estimator: Any, table: TableOfX, weights: NDArray[np.float64] | None, n_jobs: int | None
    ) -> None:
        self._estimator, self._table, self._n_jobs, self._weights = estimator, table, n_jobs, weights
        self._on_store = grows_on_store(estimator)
        if self._on_store:
            self._grower = make_store_grower(estimator, table, estimator.row_weights(table, weights))
        else:
            self._X, self._labels = sliceable(table.X), table.target.values()

    def read(
        self, features: NDArray[np.intp], with_pairs: bool
    ) -> tuple[NDArray[np.float64], CoOccurrence | None]:
        """Contribution ratios of all columns, 0 for those left out, and on wish the pairs."""
        tables = self._grow(features) if self._on_store else self._fit(features)
        p = self._table.n_columns
        return contributions(tables, p), count_pairs(tables, p) if with_pairs else None

    def _grow(self, features: NDArray[np.intp]) -> list[NodeTable]:
        trees = range(getattr(self._estimator, "n_estimators", 1))
        parts = fold_trees(
            self._grower,
            trees,
            Progress(self._estimator, None, "tree", {}),
            list,
            size=max(1, math.ceil(len(trees) / (4 * effective_n_jobs(self._n_jobs)))),
            tried=False,
            columns=features.astype(np.uint32),
            max_features=n_candidates(self._estimator, len(features)),
            n_jobs=self._n_jobs,
        )
        return [table for part in parts for table in part]

    def _fit(self, features: NDArray[np.intp]) -> list[NodeTable]:
        X = take_columns(self._X, features)
        model = fit_plain(
            for_columns(self._estimator, self._table.schema, features), X, self._labels, self._weights
        )
        tables = node_tables(model)
        for table in tables:
            inner = ~table.is_leaf
            table.nodes["feature"][inner] = features[table.nodes["feature"][inner]]
        return tables
