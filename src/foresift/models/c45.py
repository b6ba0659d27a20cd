"""C4.5: multiway trees by gain ratio, fractional cases for missing values, error-based pruning."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from foresift.data.sklearn_compat import Interval, StrOptions, seed_of
from foresift.data.table import Table
from foresift.engine.node_table import NodeTable
from foresift.engine.tree_text import Rule, TreeText
from foresift.models.base_tree import TreeClassifier

__all__ = ["C45Classifier"]

_SHARED = (
    "max_depth",
    "min_samples_leaf",
    "max_features",
    "categorical_features",
    "max_bins",
    "class_weight",
    "random_state",
)


class C45Classifier(TreeClassifier):
    """Quinlan's C4.5, release 8: a tree by gain ratio with multiway splits and error-based pruning.

    A node is split by the column of the best gain ratio among those of at least average gain: a nominal one
    into a branch per category, a numeric one in two. The gain counts only rows with a known value; a row with
    a missing value goes to all branches as fractional cases. The tree is pruned from the bottom up: a subtree
    becomes a leaf, or is replaced by its largest branch, if its expected number of errors is not smaller.

    Parameters
    ----------
    criterion : {"gain_ratio", "gain"}, default="gain_ratio"
        The split criterion: gain over split information; or the information gain alone, as in ID3.
    pruning : "error-based" or None, default="error-based"
        Whether the tree is pruned by its expected errors.
    confidence_factor : float, default=0.25
        The expected errors of a leaf are the upper limit of a confidence interval of this probability, up to
        0.5. Smaller values prune more.
    subtree_raising : bool, default=True
        Whether pruning may also replace a node by its largest branch, with all rows of the node.
    collapse : bool, default=True
        Whether a subtree that makes no fewer training errors than a leaf becomes one, with or without
        pruning.
    min_samples_leaf : int or float, default=2
        Minimum weight of two branches of a nominal split, and of both sides of a numeric one, which must also
        hold a tenth of the node's rows per class, but no more than 25. A row of weight 2 counts as two rows.
        A float below 1.0 is a fraction of the weight of all rows; 1.0 is a weight of one.
    cut_penalty : bool, default=True
        Whether log2(number of cuts) / n bits are subtracted from the gain of a numeric column (release 8).
    min_value_gap : float, default=0.0
        Numeric columns are cut only between neighbouring values of a node that are further apart than this.
        C4.5 and J48 have 1e-5.
    group_categories : bool, default=False
        Whether a nominal split has a branch per group of categories instead of one per category, as C4.5 with
        its option -s. Groups are merged in pairs as long as that raises the gain ratio; see Notes. The tree
        is smaller, but fits noise if irrelevant columns have many categories.
    thresholds : {"midpoint", "value"}, default="midpoint"
        The threshold of a numeric split: half way between the adjacent values at the node; or, as in C4.5,
        the largest value of all training rows that is not above it.
    max_depth, max_features, categorical_features, max_bins, class_weight
        As in `CartClassifier`.
    random_state : int, RandomState or None, default=None
        Seed of the candidate columns, if `max_features` is less than all.

    Attributes
    ----------
    node_table_ : NodeTable
        The tree, after pruning. A category that occurs in the data but not at a node has a leaf there, with
        the class frequencies of the node and almost no weight (not with `group_categories`). The gain of a
        node is the information gain of its split, without the penalty.
    classes_ : ndarray
        Class labels.
    n_features_in_, feature_names_in_, schema_
        Number, names and categories of the columns.

    See Also
    --------
    foresift.CartClassifier : Binary trees, unpruned.

    Notes
    -----
    The rules are those of Weka's J48. With `thresholds="value"` and `min_value_gap=1e-5` the trees are the
    same too. ID3 is `C45Classifier(criterion="gain",
    pruning=None, collapse=False, cut_penalty=False, min_samples_leaf=1)`.

    Gains, ratios and weights that differ by less than 1e-6 count as equal. A nominal column with 0.3 n
    categories or more does not count for the average gain, unless all columns have that many. The expected
    errors of a leaf follow Weka: for n rows and e >= 1 errors the upper limit of the normal approximation
    with continuity correction, for e = 0 n(1 - CF^(1/n)), and linear interpolation between 0 and 1.

    `group_categories` follows chapter 7 of Quinlan's book. At every node each category begins as a group, and
    the two groups are merged that give the best gain ratio, as long as it rises and more than two groups are
    left. Groups are also merged where fewer than two hold `min_samples_leaf` rows, and never so that fewer
    than two do. A category that does not occur at the node joins the largest group. All columns count for the
    average gain then. A column with more than 256 categories at a node is not grouped there. J48 has no such
    option, so these trees have been checked only against a literal implementation.

    References
    ----------
    J. R. Quinlan, "C4.5: Programs for Machine Learning", Morgan Kaufmann 1993.
    J. R. Quinlan, "Improved use of continuous attributes in C4.5", JAIR 4, 1996.
    H. Bommaganti, master's thesis, University of Minnesota, section 2.3.

    Examples
    --------
    >>> from foresift import C45Classifier
    >>> X = {
    ...     "outlook": ["sunny", "sunny", "overcast", "rainy", "rainy", "rainy", "overcast", "sunny", "sunny",
    ...                 "rainy", "sunny", "overcast", "overcast", "rainy"],
    ...     "humidity": [85, 90, 86, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 91],
    ...     "windy": [False, True, False, False, False, True, True, False, False, False, True, True, False,
    ...               True],
    ... }
    >>> play = ["no", "no", "yes", "yes", "yes", "no", "yes", "no", "yes", "yes", "yes", "yes", "yes", "no"]
    >>> tree = C45Classifier().fit(X, play)
    >>> print(tree.export_text())
    outlook = overcast: yes (4.0)
    outlook = rainy
    |   windy = False: yes (3.0)
    |   windy = True: no (2.0)
    outlook = sunny
    |   humidity <= 77.5: yes (2.0)
    |   humidity > 77.5: no (3.0)
    <BLANKLINE>
    Number of leaves: 5
    Size of the tree: 8
    >>> tree.predict({"outlook": ["rainy", None], "humidity": [70, 70], "windy": [True, True]}).tolist()
    ['no', 'yes']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "criterion": [StrOptions({"gain_ratio", "gain"})],
        "pruning": [StrOptions({"error-based"}), None],
        "confidence_factor": [Interval(numbers.Real, 0, 0.5, closed="right")],
        "subtree_raising": ["boolean"],
        "collapse": ["boolean"],
        "cut_penalty": ["boolean"],
        "min_value_gap": [Interval(numbers.Real, 0, None, closed="left")],
        "group_categories": ["boolean"],
        "thresholds": [StrOptions({"midpoint", "value"})],
        **{name: TreeClassifier._parameter_constraints[name] for name in _SHARED},
    }

    # Parameters of growth that C4.5 fixes.
    nominal_splits = "multiway"
    missing = "fractional"
    n_thresholds = None
    min_samples_split = 2  # replaced by `_min_weights`
    min_gain = 1e-6
    record_tried = False

    node_table_: NodeTable

    def __init__(
        self,
        *,
        criterion="gain_ratio",
        pruning="error-based",
        confidence_factor=0.25,
        subtree_raising=True,
        collapse=True,
        min_samples_leaf=2,
        cut_penalty=True,
        min_value_gap=0.0,
        group_categories=False,
        thresholds="midpoint",
        max_depth=None,
        max_features=None,
        categorical_features="from_dtype",
        max_bins=65_536,
        class_weight=None,
        random_state=None,
    ):
        self.criterion = criterion
        self.pruning = pruning
        self.confidence_factor = confidence_factor
        self.subtree_raising = subtree_raising
        self.collapse = collapse
        self.min_samples_leaf = min_samples_leaf
        self.cut_penalty = cut_penalty
        self.min_value_gap = min_value_gap
        self.group_categories = group_categories
        self.thresholds = thresholds
        self.max_depth = max_depth
        self.max_features = max_features
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.class_weight = class_weight
        self.random_state = random_state

    def _min_weights(self, total: float) -> tuple[float, float]:
        leaf = super()._min_weights(total)[1]
        return 2 * leaf - 1e-6, leaf  # two leaves, minus a rounding error

    def grow_on(self, table: Table, weights: NDArray[np.float64] | None) -> None:
        """Grow and prune the tree on coded rows, which the members of an ensemble share."""
        grower = self._make_grower(
            table,
            weights,
            criterion="entropy" if self.criterion == "gain" else "gain_ratio",
            c45=True,
            cut_penalty=bool(self.cut_penalty),
            min_gap=float(self.min_value_gap),
            group_categories=bool(self.group_categories),
            finish=True,
            collapse=bool(self.collapse),
            confidence=float(self.confidence_factor) if self.pruning else 0.0,
            raise_subtrees=bool(self.subtree_raising),
            value_thresholds=self.thresholds == "value",
            seed=seed_of(self.random_state),
        )
        (self.node_table_,) = (NodeTable.from_core(a, tried=False) for a in grower.grow([0]))
        self._set_attributes(table)

    def export_text(self, feature_names: Sequence[str] | None = None) -> str:
        """Return the tree as text, like C4.5 and J48: one line per branch, with (rows/errors) at a leaf.

        Parameters
        ----------
        feature_names : sequence of str, default=None
            Names of the columns; by default those of X, or x0, x1 and so on.

        Returns
        -------
        str
            The tree, its number of leaves and its number of nodes.

        Examples
        --------
        >>> from foresift import C45Classifier
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> print(C45Classifier().fit(X, y).export_text(["sl", "sw", "pl", "pw"]))
        pw <= 0.8: 0 (50.0)
        pw > 0.8
        |   pw <= 1.75
        |   |   pl <= 4.95: 1 (48.0/1.0)
        |   |   pl > 4.95
        |   |   |   pw <= 1.55: 2 (3.0)
        |   |   |   pw > 1.55: 1 (3.0/1.0)
        |   pw > 1.75: 2 (46.0/1.0)
        <BLANKLINE>
        Number of leaves: 5
        Size of the tree: 9
        """
        lines = self._text(feature_names).lines()
        sizes = [f"Number of leaves: {self.node_table_.n_leaves}"]
        return "\n".join([*lines, "", *sizes, f"Size of the tree: {len(self.node_table_.nodes)}"])

    def rules(self, feature_names: Sequence[str] | None = None) -> list[Rule]:
        r"""Return one rule per leaf; every row without missing values satisfies exactly one of them.

        Parameters
        ----------
        feature_names : sequence of str, default=None
            As in `export_text`.

        Returns
        -------
        list of Rule
            Each with its `conditions`, `prediction`, `coverage` and `errors`.

        Examples
        --------
        >>> from foresift import C45Classifier
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> print(*C45Classifier().fit(X, y).rules(["sl", "sw", "pl", "pw"])[:3], sep="\n")
        if pw <= 0.8 then 0 (50.0)
        if pw > 0.8 and pw <= 1.75 and pl <= 4.95 then 1 (48.0/1.0)
        if pw > 0.8 and pl > 4.95 and pw <= 1.55 then 2 (3.0)
        """
        return self._text(feature_names).rules()

    def _text(self, feature_names: Sequence[str] | None) -> TreeText:
        check_is_fitted(self)
        return TreeText(self.node_table_, self.schema_, self.classes_, feature_names)

    @property
    def node_tables_(self) -> list[NodeTable]:  # type: ignore[override]
        """The tree as a list, for code shared with forests."""
        return [self.node_table_]
