"""C4.5: multiway trees by gain ratio, fractions of cases for missing values, error-based pruning."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from foresift.data.sklearn_compat import Interval, StrOptions, fit_context, seed_of, track
from foresift.data.table import Table
from foresift.engine.node_table import NodeTable
from foresift.engine.tree_text import Rule, TreeText
from foresift.models.trees import TreeClassifier

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
    """Quinlan's C4.5, release 8: a tree by gain ratio with multiway splits, pruned by expected errors.

    A node is split by the column of the best gain ratio among those of at least average gain: a nominal one
    into a branch for every category, a numeric one in two. The gain counts the rows with a known value only;
    a row whose value is missing goes down all branches, as fractions of a case. The grown tree is pruned from
    the bottom up: a subtree becomes a leaf, or is replaced by its largest branch, if that is not expected to
    make more errors on new rows.

    Parameters
    ----------
    criterion : {"gain_ratio", "gain"}, default="gain_ratio"
        What a split is judged by: gain over split information; or the information gain alone, as in ID3.
    pruning : "error-based" or None, default="error-based"
        Whether the tree is pruned by the errors that are to be expected.
    confidence_factor : float, default=0.25
        How far that expectation is to be trusted, up to 0.5: the errors of a leaf are taken to be the upper
        limit of a confidence interval of this probability. Smaller values prune more.
    subtree_raising : bool, default=True
        Whether pruning may also put the largest branch of a node in the node's place, with all its rows.
    collapse : bool, default=True
        Whether a subtree that makes no fewer errors on the training rows than a leaf becomes one, pruned or
        not.
    min_samples_leaf : int or float, default=2
        Least weight of two branches of a nominal split, and of both sides of a numeric one, which must also
        hold a tenth of the node's rows per class, though no more than 25. Weights count: a row of weight 2 is
        two rows. A float below 1.0 is a share of the weight of all rows; 1.0 is a weight of one.
    cut_penalty : bool, default=True
        Whether the gain of a numeric column is lowered for the choice of its cut, by log2(number of cuts) / n
        bits (release 8).
    thresholds : {"midpoint", "value"}, default="midpoint"
        Where a numeric column is cut: half way between the neighbouring values at the node; or, as C4.5 does
        it, at the largest value of all training rows that is not above that.
    max_depth : int, default=None
        Most splits from the root to a leaf.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Columns tried per node: a number, a share, or all.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are nominal: by dtype (text, categories, booleans), none, or those named, numbered or
        masked here.
    max_bins : int, default=65536
        A numeric column with more distinct values is cut into so many quantile bins; below, cuts are exact.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" makes them equally heavy.
    random_state : int, RandomState or None, default=None
        Draws columns, if `max_features` is less than all.

    Attributes
    ----------
    node_table_ : NodeTable
        The tree, after pruning. A category that occurs in the data but not at a node has a leaf there, with
        the class shares of the node and next to no weight. The gain of a node is the information gain of its
        split, without the penalty.
    classes_ : ndarray
        Class labels.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    See Also
    --------
    foresift.CartClassifier : Binary trees, unpruned.

    Notes
    -----
    The rules are those of Weka's J48, and with `thresholds="value"` so are the trees, but that J48 does not
    cut between values that are 1e-5 apart or less. ID3 is `C45Classifier(criterion="gain", pruning=None,
    collapse=False, cut_penalty=False, min_samples_leaf=1)`.

    Gains, ratios and weights that differ by less than 1e-6 count as equal. A nominal column with 0.3 n
    categories or more is left out of the average gain, unless all columns are like that. The expected errors
    of a leaf follow Weka: for n rows and e >= 1 errors the upper limit of the normal approximation with
    continuity correction, for e = 0 n(1 - CF^(1/n)), and a straight line between 0 and 1.

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
        "thresholds": [StrOptions({"midpoint", "value"})],
        **{name: TreeClassifier._parameter_constraints[name] for name in _SHARED},
    }

    # What makes it C4.5.
    nominal_splits = "multiway"
    missing = "fractional"
    n_thresholds = None
    min_samples_split = 2  # or two leaves, see `_least_weights`
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
        self.thresholds = thresholds
        self.max_depth = max_depth
        self.max_features = max_features
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.class_weight = class_weight
        self.random_state = random_state

    def _least_weights(self, total: float) -> tuple[float, float]:
        leaf = super()._least_weights(total)[1]
        return 2 * leaf - 1e-6, leaf  # that of two leaves, but for rounding

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> C45Classifier:
        """Grow the tree and prune it.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The columns; missing values are allowed.
        y : array-like of shape (n,)
            The class of every row.
        sample_weight : array-like of shape (n,), default=None
            How much each row counts: a row of weight 2 is two rows, one of weight 0 is not there. Weights
            that are below one on average are scaled up to an average of one.

        Returns
        -------
        C45Classifier
            Itself.
        """
        table, weights = self._make_table(X, y, sample_weight)
        with track(self, 1, task="tree", X=X, y=y) as progress:
            self.grow_on(table, weights)
            progress.advance()
        return self

    def grow_on(self, table: Table, weights: NDArray[np.float64] | None) -> None:
        """Grow and prune the tree on rows that are coded already, as members of an ensemble share them."""
        grower = self._make_grower(
            table,
            weights,
            criterion="entropy" if self.criterion == "gain" else "gain_ratio",
            c45=True,
            cut_penalty=bool(self.cut_penalty),
            finish=True,
            collapse=bool(self.collapse),
            confidence=float(self.confidence_factor) if self.pruning else 0.0,
            raise_subtrees=bool(self.subtree_raising),
            value_thresholds=self.thresholds == "value",
            seed=seed_of(self.random_state),
        )
        (self.node_table_,) = (NodeTable.from_core(a, tried=False) for a in grower.grow([0]))
        self._learned(table)

    def export_text(self, feature_names: Sequence[str] | None = None) -> str:
        """Print the tree the way C4.5 and J48 do: one line per branch, and at a leaf (rows/errors).

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
        r"""Every way from the root to a leaf as a rule; every row without missing values meets exactly one.

        Parameters
        ----------
        feature_names : sequence of str, default=None
            Names of the columns; by default those of X, or x0, x1 and so on.

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
        """The tree as a list of one, as forests have it."""
        return [self.node_table_]
