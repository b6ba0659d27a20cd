"""Feature rankings from trees of the separability criterion SSV (Grabczewski & Jankowski)."""

from __future__ import annotations

import numbers
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from foresift import _core
from foresift.data.complete import require_numbers
from foresift.data.sklearn_compat import StrOptions, track
from foresift.data.table import Table
from foresift.data.weights import scale_up
from foresift.engine.grow import grow_trees, in_threads, make_grower
from foresift.engine.node_table import NodeTable
from foresift.errors import warn_caller
from foresift.selectors.base import RankingSelector, Scores

__all__ = ["SSVSelector"]


class SSVSelector(RankingSelector):
    """Rank features by full SSV trees: one tree per feature, or one tree of them all.

    The separability of a split value, SSV, is twice the number of pairs of rows of different classes that it
    separates, minus the rows of each class on the side that has fewer of them. Numeric and nominal columns
    are comparable.

    mode="separate" is the paper's Algorithm 1. For each feature the full tree of that feature alone is grown,
    and its final splits (whose two sides are leaves) are deleted one by one, always the one that saves the
    fewest training errors. With i splits left, the value of the tree is the sum of their SSV over ln(2 + i);
    the score is the largest of these values. So features that need several splits are ranked fairly, with a
    penalty for every split.

    mode="tree" is Algorithm 2. The full tree of all features is pruned in rounds: all final splits that save
    the fewest training errors are deleted, and then repeatedly all that save none. The score is the number of
    rounds a feature stays in the tree. Complementary features rank well, but features that the tree does not
    use cannot be ranked: they score 0.

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of best features to keep, or their fraction, or "cv" to choose it by cross-validation. None
        keeps the better half (at least one) with mode="separate", for which the paper has no rule, and the
        features of the tree with mode="tree".
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity; "auto" takes numbers with fractions as a quantity.
    mode : {"separate", "tree"}, default="separate"
        One tree per feature, or one tree of all.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are nominal: by dtype (text, categories, booleans), none, or those named, numbered or
        masked here. Missing values of a nominal column are a category of their own; in a numeric column they
        are refused.
    n_jobs : int, default=None
        Threads over the columns, with mode="separate"; -1 uses all cores. The result is the same for any
        number.
    keep : array-like or None, default=None
        Columns that are kept in any case, by name, number or mask: they are not ranked, and not counted.
    feature_groups : mapping, list, "one-hot" or None, default=None
        Columns that are ranked, and kept or dropped, as one: lists of columns or patterns of names, a label
        for every column, or the blocks of OneHotEncoder; see `foresift.selectors.units.read_units`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The rank R(f) of Algorithm 1 or 2 of every feature, higher is better; 0 for a constant column,
        and with mode="tree" for every column that the tree does not use.
    n_rankable_ : int
        Number of features that can be ranked: those that the tree uses with mode="tree", all with
        mode="separate". Selecting more gives a warning; the others follow in column order.
    node_table_ : NodeTable
        The full tree. Only with mode="tree".
    ranking_ : ndarray of shape (n_features,)
        1 is the best. With mode="tree" many features share a score; they rank in column order.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    n_features_in_, feature_names_in_, schema_
        Number, names and types of the columns.

    See Also
    --------
    foresift.SSVTreeClassifier : The tree as a classifier, pruned by cross-validation.
    foresift.criteria.best_ssv_split : The best split of one column.

    Notes
    -----
    Ties, which the paper leaves open: of several final splits that save equally many errors the one with the
    smallest SSV is deleted first, and of these the leftmost; of equally good splits of a node the first
    column, the smallest cut or the smallest subset is chosen. Weights are counts: a row of weight 2 is two
    rows. Weights below one on average are scaled up to an average of one.

    References
    ----------
    K. Grabczewski and N. Jankowski, "Feature selection with decision tree criterion", HIS 2005.

    Examples
    --------
    >>> from foresift import SSVSelector
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> SSVSelector(3).fit(X, y).get_support(indices=True)
    array([ 0,  6, 12])
    >>> selector = SSVSelector(mode="tree").fit(X, y)
    >>> selector.scores_.astype(int), selector.n_rankable_
    (array([2, 3, 3, 1, 2, 0, 4, 0, 0, 0, 3, 5, 6]), 9)
    """

    _for_quantities = "use InfoGainSelector"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankingSelector._parameter_constraints,
        "mode": [StrOptions({"separate", "tree"})],
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
        "n_jobs": [numbers.Integral, None],
    }

    def __init__(
        self,
        n_features_to_select=None,
        *,
        task="auto",
        mode="separate",
        categorical_features="from_dtype",
        n_jobs=None,
        keep=None,
        feature_groups=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.mode = mode
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.keep = keep
        self.feature_groups = feature_groups

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Only nominal columns may have missing values; scikit-learn's check in `transform` is for all
        # columns.
        tags.input_tags.allow_nan = hasattr(self, "schema_") and bool(self.schema_.nominal.any())
        return tags

    def _score(self, table: Table, weights: NDArray[np.float64] | None) -> Scores:
        require_numbers(table)
        weights = scale_up(weights)
        if self.mode == "separate":
            return Scores(self._score_columns(table, weights), {"n_rankable_": self.units_.n_free})
        tree = self._grow_full_tree(table, weights)
        scores = rounds_in_tree(tree, table.n_columns)
        return Scores(
            scores, {"node_table_": tree, "n_rankable_": self.units_.n_free_in(np.flatnonzero(scores))}
        )

    def _score_columns(self, table: Table, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
        n_columns, stop = table.n_columns, _core.StopFlag()
        n_spans = min(n_columns, 8 * effective_n_jobs(self.n_jobs))  # many, to keep the threads busy
        edges = [n_columns * k // n_spans for k in range(n_spans + 1)]
        with track(self, n_columns, task="column") as progress:

            def score(span: tuple[int, int]) -> NDArray[np.float64]:
                scores = _core.ssv_ranks(
                    table.store, *span, table.target.codes, table.target.n_classes, weights, stop
                )
                progress.advance(len(scores))
                return scores

            return np.concatenate(in_threads(score, list(pairwise(edges)), self.n_jobs, stop))

    def _grow_full_tree(self, table: Table, weights: NDArray[np.float64] | None) -> NodeTable:
        options = {"max_features": table.n_columns, "min_split": 0.0, "min_leaf": 0.0}
        grower = make_grower(table, weights, criterion="ssv", missing="learn", **options)
        with track(self, 1, task="tree") as progress:
            return grow_trees(grower, [0], progress, tried=False)[0]

    def _own_support(self) -> NDArray[np.bool_]:
        if self.mode == "tree":
            return self.scores_ > 0
        return super()._best(max(1, self.units_.n_free // 2))

    def _best(self, size: int) -> NDArray[np.bool_]:
        if size > self.n_rankable_:
            warn_caller(
                f"{size} features are requested, but the tree uses, and so can rank, only"
                f" {self.n_rankable_}: the others follow in column order. Select at most"
                f' {self.n_rankable_}, or use mode="separate".'
            )
        return super()._best(size)


def rounds_in_tree(tree: NodeTable, n_features: int) -> NDArray[np.float64]:
    """Rounds of pruning that each feature stays in a tree (Algorithm 2); 0 if it is not used."""
    inner = ~tree.is_leaf
    rounds = np.zeros(n_features)
    # A split that is deleted in round i is missing when round i + 1 begins.
    np.maximum.at(rounds, tree.nodes["feature"][inner], _core.ssv_rounds(tree.arrays)[inner] + 1)
    return rounds
