"""Rank features by the cumulative information gain at the levels of a tree (Bommaganti 3.5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from foresift.data.sklearn_compat import StrOptions
from foresift.data.table import Table
from foresift.data.weights import scale_up
from foresift.engine.grow import make_grower
from foresift.engine.node_table import NodeTable
from foresift.engine.root_split import root_gains
from foresift.selectors.base import RankingSelector, Scores, ranks_by_score
from foresift.selectors.unit_chance import gain_of_size

__all__ = ["CumulativeGainSelector"]

_NO_GAIN = 1e-12  # bits, or the share of the variance; less is rounding


class CumulativeGainSelector(RankingSelector):
    """Choose for every level of a tree the feature with the largest gain over all nodes of that level.

    The cumulative information gain of a feature at a level is the mean of its gains at the nodes of that
    level, weighted by their rows. The first feature is the best split of the whole table, the second the best
    one inside the parts, and so on. So a feature is found that matters only where another one has a certain
    value, although its gain over the whole table (`InfoGainSelector`) is about 0.

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of best features to keep, or their fraction, or "cv" to choose it by cross-validation. None
        keeps the features that were chosen for a level with a positive gain.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity; "auto" takes numbers with fractions as a quantity.
    oblivious : bool, default=False
        The tree: every node is split by its own best feature (unpruned, to pure leaves); or an oblivious
        tree, where all nodes of a level are split by the feature chosen for that level.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are nominal: by dtype (text, categories, booleans), none, or those named, numbered or
        masked here.
    keep : array-like or None, default=None
        Columns that are kept in any case, by name, number or mask: they are not ranked, and not counted.
    feature_groups : mapping, list, "one-hot" or None, default=None
        Columns that are ranked, and kept or dropped, as one: lists of columns or patterns of names, a label
        for every column, or the blocks of OneHotEncoder; see `foresift.selectors.units.read_units`.

    Attributes
    ----------
    gains_ : ndarray of shape (n_features,)
        Cumulative gain of each feature at the level it was chosen for, in bits, or as a share of the variance
        of a quantity; for the others the gain over the whole table.
    levels_ : ndarray of int of shape (n_features,)
        The level each feature was chosen for, 0 at the root; -1 for none.
    scores_ : ndarray of shape (n_features,)
        Reversed ranks: `n_features` for the best feature, 1 for the last. (The gains are no score: the
        possible gain differs from level to level.)
    ranking_ : ndarray of shape (n_features,)
        1 is the best: the features in the order of their levels, then the others by their gain over the whole
        table.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    n_features_in_, feature_names_in_, schema_
        Number, names and types of the columns.

    See Also
    --------
    InfoGainSelector : The gain over the whole table.
    SubsetBaggingClassifier : The ensemble of the thesis, which draws columns by the scores of a selector.

    Notes
    -----
    Nominal features are split into one branch per category, numeric ones at their best cut; a row with a
    missing value goes down all branches, as fractions, and the gain is that on the known rows times their
    share. Each feature is chosen once, although a numeric one may be the best again at a lower level. A node
    where the feature of its level is constant stays as it is on the next level of an oblivious tree. Leaves
    count as nodes without gain.

    References
    ----------
    H. Bommaganti, master's thesis, University of Minnesota, section 3.5.

    Examples
    --------
    >>> import numpy as np
    >>> from foresift import CumulativeGainSelector, InfoGainSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(400, 4)).astype(float)
    >>> y = np.where(X[:, 0] == 1, X[:, 1], rng.random(400) < 0.2)  # x1 matters only where x0 is 1
    >>> CumulativeGainSelector().fit(X, y).ranking_[:2]
    array([2, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankingSelector._parameter_constraints,
        "oblivious": ["boolean"],
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
    }

    def __init__(
        self,
        n_features_to_select=None,
        *,
        task="auto",
        oblivious=False,
        categorical_features="from_dtype",
        keep=None,
        feature_groups=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.oblivious = oblivious
        self.categorical_features = categorical_features
        self.keep = keep
        self.feature_groups = feature_groups

    def _score(self, table: Table, weights: NDArray[np.float64] | None) -> Scores:
        weights, units = scale_up(weights), self.units_
        n_features = units.n_free
        cumulative, chosen_at = np.zeros(n_features), np.full(n_features, -1)
        order: list[int] = []
        columns = np.flatnonzero(units.kept).tolist()  # that split an oblivious tree
        levels = _oblivious_levels(table, weights, columns) if self.oblivious else _levels(table, weights)
        bit = table.target.gain_unit(weights)
        by_size = gain_of_size(units, table, weights, lambda some: root_gains(some, weights))
        for level, gains_of_columns in enumerate(level / bit for level in levels):
            best_columns = units.best_members(gains_of_columns)
            gains = gains_of_columns[best_columns] - by_size
            gains[np.abs(gains) <= _NO_GAIN] = 0.0  # rounding must not rank columns that gain nothing
            if level == 0:
                cumulative[:] = whole = gains
            left = np.delete(np.arange(n_features), order)
            if not len(left):
                break
            if gains[left].max() <= _NO_GAIN:
                if self.oblivious:  # no feature splits the level
                    break
                continue
            best = int(left[ranks_by_score(gains[left]).argmin()])  # of equal ones the first
            order.append(best)
            columns.append(int(best_columns[best]))
            cumulative[best], chosen_at[best] = gains[best], level
        others = np.delete(np.arange(n_features), order)
        others = others[np.argsort(ranks_by_score(whole[others]))] if len(others) else others
        scores = np.empty(n_features)
        scores[np.concatenate([np.array(order, dtype=np.intp), others])] = np.arange(n_features, 0, -1)
        learned = {"gains_": units.spread(cumulative, np.nan), "levels_": units.spread(chosen_at, -1)}
        return Scores(scores, learned, by_unit=True)

    def _own_support(self) -> NDArray[np.bool_]:
        return self.levels_ >= 0


def _levels(table: Table, weights: NDArray[np.float64] | None) -> Iterator[NDArray[np.float64]]:
    """Cumulative gain of every feature at each level of the tree of best gains."""
    tree = _grow(table, weights)
    nodes, candidates = tree.nodes, tree.tried
    assert candidates is not None
    level_of = tree.levels
    sums = np.zeros((tree.depth + 1, table.n_columns))
    np.add.at(
        sums,
        (level_of[candidates["node"]], candidates["feature"]),
        nodes["size"][candidates["node"]] * candidates["gain"],
    )
    yield from sums / np.bincount(level_of, nodes["size"])[:, np.newaxis]


def _oblivious_levels(
    table: Table, weights: NDArray[np.float64] | None, chosen: list[int]
) -> Iterator[NDArray[np.float64]]:
    """Cumulative gain of every feature at each level, where the levels above are split by `chosen`."""
    while True:
        tree = _grow(table, weights, **({"level_columns": chosen} if chosen else {"max_depth": 1}))
        candidates = tree.tried
        assert candidates is not None
        bottom = candidates[tree.is_leaf[candidates["node"]]] if chosen else candidates
        size = tree.nodes["size"]
        sums = np.bincount(
            bottom["feature"], size[bottom["node"]] * bottom["gain"], minlength=table.n_columns
        )
        yield sums / size[0]


def _grow(table: Table, weights: NDArray[np.float64] | None, **others: Any) -> NodeTable:
    """Grow a tree to purity by the gain, and record the gain of every column at every node."""
    grower = make_grower(
        table,
        weights,
        criterion=table.target.criterion,
        missing="fractional",
        multiway=True,
        min_leaf=0.0,
        min_split=0.0,
        max_features=table.n_columns,
        record_tried=True,
        **others,
    )
    return NodeTable.from_core(grower.grow([0])[0], tried=True)
