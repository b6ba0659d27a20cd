"""Feature importances of a fitted tree or forest, computed from its node tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils.validation import check_is_fitted

from foresift.data.complexity import complexity_of_distinct
from foresift.engine.candidate_gains import GainSums
from foresift.engine.co_occurrence import CoOccurrence, count_pairs
from foresift.engine.node_table import NodeTable, contributions, leaves

__all__ = ["average_gain", "co_occurrence", "contribution_ratio", "mean_decrease_impurity", "node_tables"]


def node_tables(model: Any) -> list[NodeTable]:
    """Node tables of a fitted tree or tree ensemble of foresift or scikit-learn.

    Parameters
    ----------
    model : estimator
        A fitted tree or forest of this package, or any fitted scikit-learn tree, forest, bagging, voting or
        boosting ensemble whose members are trees with a public `tree_`.

    Returns
    -------
    list of NodeTable
        One per tree, in the order of the ensemble (gradient boosting: stage by stage, class by class).

    Notes
    -----
    For scikit-learn models:

    - Nodes are renumbered, so that the children of a node are adjacent: the root stays 0, and the children of
      the k-th inner node, in scikit-learn's order, become nodes 2k + 1 and 2k + 2.
    - `gain` is the decrease of the impurity of the tree's criterion: bits for "entropy" and "log_loss".
    - `counts` holds weighted class counts, in the order of that tree's `classes_`; for a regression tree, as
      in gradient boosting, one column with the weighted sum of y (of several targets, of the first).
    - Sample weights that sum to less than the number of rows, such as AdaBoost's, are scaled up to that
      number, because class counts are treated as numbers of rows.
    - `feature` is an index into the columns of the whole model, even if bagging gave a tree only some of
      them.
    - A `DummyClassifier` or `DummyRegressor` among the members is a tree of one leaf.
    - scikit-learn compares values with `threshold` in single precision.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(n_estimators=3, random_state=0).fit(X, y)
    >>> tables = node_tables(forest)
    >>> len(tables), float(tables[0].nodes["size"][0])
    (3, 150.0)
    """
    if isinstance(model, type):
        raise TypeError(f"{model.__name__} is a class: pass a fitted model, {model.__name__}().fit(X, y).")
    if not hasattr(model, "node_table_") and not hasattr(model, "node_tables_"):
        check_is_fitted(model)
    return [
        _with_columns(tree, columns) if isinstance(tree, NodeTable) else _from_sklearn(tree, columns)
        for tree, columns in _members(model, None)
    ]


def average_gain(model: Any, weighting: str = "complexity") -> NDArray[np.float64]:
    """Mean gain of each feature over the nodes where it was a split candidate (Rogers & Gunn 2).

    Parameters
    ----------
    model : estimator
        A fitted tree or forest; see `node_tables`.
    weighting : {"complexity", "unit"}, default="complexity"
        Weights of the nodes: their node complexity, or 1.

    Returns
    -------
    ndarray of shape (n_features,)
        Mean gain of every feature. NaN if the feature was never a candidate, or only at nodes of complexity
        0, which any feature splits equally well.

    See Also
    --------
    foresift.criteria.node_complexity : The weight of a node.

    Notes
    -----
    A model of this package with recorded candidates is averaged over all of them, in the unit of its
    criterion (bits by default). Any other classification tree is averaged over its splits, with gains in bits
    computed from the class counts, whatever its criterion. Of a regression tree its own decreases of impurity
    are averaged: variance, in squared units of y.

    In the node complexity of a regression tree every distinct y is a class of its own: n distinct values have
    n! arrangements. The trees of scikit-learn do not say which y of a node are equal: they are taken to be
    all different.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(max_features=1, random_state=0).fit(X, y)
    >>> average_gain(forest).argmax() in (2, 3)  # a petal's length or width
    True
    """
    if weighting not in ("complexity", "unit"):
        raise ValueError(f'weighting must be "complexity" or "unit", but is {weighting!r}.')
    tables = node_tables(model)
    sums = GainSums(model.n_features_in_)
    sums.add_trees(tables, weighting)
    return sums.mean


def contribution_ratio(model: Any) -> NDArray[np.float64]:
    """Fraction of the rows that each feature splits, in percent, averaged over trees (Murata eq. 5).

    Parameters
    ----------
    model : estimator
        A fitted tree or forest; see `node_tables`.

    Returns
    -------
    ndarray of shape (n_features,)
        In every tree, the rows at the splits on a feature over the rows at all splits; the mean over the
        trees, times 100. They sum to 100. All 0 if no tree has a split.

    Notes
    -----
    Rows count as often as they were drawn for a tree, times their sample weight. A tree without a split is
    ignored. The quality of a split has no effect: a feature has a large ratio if it is chosen early.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> ratios = contribution_ratio(RandomForestClassifier(random_state=0).fit(X, y))
    >>> float(ratios.sum().round(6)), int(ratios.argmin())
    (100.0, 1)
    """
    return contributions(node_tables(model), model.n_features_in_)


def co_occurrence(model: Any) -> CoOccurrence:
    """How often two features split parent and child nodes, compared with chance (Murata, future work).

    Parameters
    ----------
    model : estimator
        A fitted forest of at least two trees; see `node_tables`.

    Returns
    -------
    CoOccurrence
        Matrices over all pairs of features: `observed`, `expected`, `lift`, `statistic`, `pvalues`; and
        `significant(alpha)`.

    Notes
    -----
    By chance the feature of a split would be independent of a different feature in the parent split. The
    expected counts are fitted to the features of every depth, so that features that are frequent near the
    root do not look like pairs; significant pairs are excluded from the fit, one after the other. The trees
    are the independent observations, so the test is a statement about this forest: on noise the statistic has
    a standard deviation of 1 (docs/murata.md), and with more trees weaker pairs become significant.

    Examples
    --------
    >>> from foresift import SiftForestClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 6))
    >>> y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    >>> pairs = co_occurrence(SiftForestClassifier(200, max_features="sqrt", random_state=0).fit(X, y))
    >>> np.argwhere(np.triu(pairs.significant())), bool(pairs.lift[0, 1] > 1)
    (array([[0, 1]]), True)
    """
    return count_pairs(node_tables(model), model.n_features_in_)


def mean_decrease_impurity(model: Any, normalize: bool = True) -> NDArray[np.float64]:
    """Decrease of impurity by each feature, weighted by node size and averaged over trees.

    Parameters
    ----------
    model : estimator
        A fitted tree or forest; see `node_tables`.
    normalize : bool, default=True
        Scale the decreases of every tree to a sum of one before averaging, and the average too, as
        scikit-learn does. Of gradient boosting only the average is scaled, since late stages should have a
        small weight. If False, return the plain mean over trees, in the unit of the criterion.

    Returns
    -------
    ndarray of shape (n_features,)
        Importance of every feature; all 0 if no tree has a split. For a scikit-learn model that has
        `feature_importances_`, it equals that.

    Notes
    -----
    The decrease is that of the tree's criterion. The gain ratio and SSV are not impurities; for such trees
    the scores themselves are weighted by size. AdaBoost's trees count by their weight in the vote.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(random_state=0).fit(X, y)
    >>> bool(np.allclose(mean_decrease_impurity(forest), forest.feature_importances_))
    True
    """
    tables = node_tables(model)
    decreases = np.array([table.decreases(model.n_features_in_) for table in tables])
    votes = np.ones(len(tables))
    if hasattr(model, "estimator_weights_"):
        votes = np.asarray(model.estimator_weights_, dtype=float)[: len(tables)]
    if not normalize:
        mean: NDArray[np.float64] = votes @ decreases / votes.sum()
        return mean
    if not _is_gradient_boosting(model):
        totals = decreases.sum(axis=1)
        votes = np.divide(votes, totals, out=np.zeros(len(votes)), where=totals > 0)
    importances: NDArray[np.float64] = votes @ decreases
    total = importances.sum()
    return importances / total if total > 0 else importances


def _is_gradient_boosting(model: Any) -> bool:
    members = getattr(model, "estimators_", None)
    return isinstance(members, np.ndarray) and members.ndim == 2


def _members(model: Any, columns: NDArray[np.intp] | None) -> Iterator[tuple[Any, NDArray[np.intp] | None]]:
    """Trees of a model, each with the model's index of each of its columns (None: the same)."""
    if hasattr(model, "node_table_"):
        yield model.node_table_, columns
        return
    if hasattr(model, "node_tables_"):
        yield from ((table, columns) for table in model.node_tables_)
        return
    if hasattr(model, "tree_"):
        yield model, columns
        return
    members = getattr(model, "estimators_", None)
    if members is None:
        raise TypeError(_why_no_trees(model))
    if isinstance(members, np.ndarray):  # gradient boosting: one row per stage, one column per class
        members = members.ravel().tolist()
    subsets = getattr(model, "estimators_features_", [None] * len(members))
    for member, subset in zip(members, subsets, strict=True):
        inner = columns if subset is None else subset if columns is None else columns[subset]
        if isinstance(member, DummyClassifier):  # if an ensemble drew rows of one class only
            n_classes = len(model.classes_)
            yield _one_leaf(np.full((1, n_classes), 1 / n_classes)), None
        elif isinstance(member, DummyRegressor):  # likewise rows of one y only
            yield replace(_one_leaf(member.constant_[:, :1]), complexity=np.zeros(1)), None
        else:
            yield from _members(member, inner)


def _one_leaf(counts: NDArray[np.float64]) -> NodeTable:
    nodes = leaves(1)
    nodes["size"] = 1.0
    return _numeric_table(nodes, counts)


def _numeric_table(nodes: NDArray[Any], counts: NDArray[np.float64]) -> NodeTable:
    """A node table without nominal splits."""
    empty = np.empty(0, dtype=np.uint16)
    return NodeTable(nodes, counts, np.zeros(1, dtype=np.int32), empty, empty)


def _with_columns(table: NodeTable, columns: NDArray[np.intp] | None) -> NodeTable:
    """Replace the column indices of a tree by those of the whole model."""
    if columns is None:
        return table
    nodes, tried = table.nodes.copy(), None if table.tried is None else table.tried.copy()
    inner = nodes["feature"] >= 0
    nodes["feature"][inner] = columns[nodes["feature"][inner]]
    if tried is not None:
        tried["feature"] = columns[tried["feature"]]
    return replace(table, nodes=nodes, tried=tried)


def _why_no_trees(model: Any) -> str:
    name = type(model).__name__
    if hasattr(model, "steps"):
        return (
            f"{name}: pass its last step, model[-1], instead. The importances then belong to the columns "
            "that the steps before it put out: model[:-1].get_feature_names_out()."
        )
    if hasattr(model, "best_estimator_"):
        return f"{name}: pass model.best_estimator_ instead."
    if name.startswith("HistGradientBoosting"):
        return (
            f"{name} does not expose its trees: use GradientBoosting, or permutation importance "
            "(sklearn.inspection.permutation_importance)."
        )
    return f"{name} is neither a decision tree nor an ensemble of decision trees."


def _from_sklearn(estimator: Any, columns: NDArray[np.intp] | None) -> NodeTable:
    tree = estimator.tree_
    if is_classifier(estimator) and tree.n_outputs > 1:
        raise ValueError("The trees predict several targets at once: fit one model per target.")
    inner = np.flatnonzero(tree.children_left >= 0)
    left, right = tree.children_left[inner], tree.children_right[inner]
    # The children of the k-th inner node become rows 2k + 1 and 2k + 2.
    old = np.zeros(tree.node_count, dtype=np.intp)
    old[1::2], old[2::2] = left, right
    new = np.empty_like(old)
    new[old] = np.arange(len(old))

    size, impurity = tree.weighted_n_node_samples, tree.impurity
    nodes = leaves(tree.node_count)
    nodes["size"] = size[old] * max(1.0, tree.n_node_samples[0] / size[0])
    rows = new[inner]
    nodes["parent"][1:] = np.repeat(rows, 2)
    nodes["first_child"][rows] = new[left]
    nodes["feature"][rows] = tree.feature[inner] if columns is None else columns[tree.feature[inner]]
    nodes["n_children"][rows] = 2
    nodes["missing_branch"][rows] = np.where(tree.missing_go_to_left[inner] == 1, 0, 1)
    nodes["majority_branch"][rows] = size[right] > size[left]
    nodes["threshold"][rows] = tree.threshold[inner]
    children = size[left] * impurity[left] + size[right] * impurity[right]
    nodes["gain"][rows] = impurity[inner] - children / size[inner]

    # `value` holds class frequencies, or means of y.
    counts = tree.value[old, 0] * nodes["size"][:, np.newaxis]
    complexity = None if is_classifier(estimator) else complexity_of_distinct(nodes["size"])
    return replace(_numeric_table(nodes, counts), complexity=complexity)
