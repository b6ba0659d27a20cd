"""Selectors that read a forest."""

from __future__ import annotations

import numbers
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from foresift.data.sklearn_compat import Interval, RealNotInt, StrOptions, seed_of, track
from foresift.data.table import Table
from foresift.data.weights import scale_up
from foresift.engine.criteria import node_complexity
from foresift.engine.null_gain import BOUNDS
from foresift.errors import warn_caller
from foresift.selectors.base import RankingSelector, Scores
from foresift.selectors.evidence import gather_evidence
from foresift.selectors.redundancy import explained_shares

__all__ = ["ForestGainSelector"]


class ForestGainSelector(RankingSelector):
    """Keep the features that gain more in a forest than an irrelevant one would (Rogers & Gunn).

    Trees are grown on all rows, each node split by the best of some columns drawn at random. The score of a
    feature is its mean information gain over the nodes where it was tried, the complex nodes weighing more.
    Even an irrelevant feature gains something by chance; how much is known for every node, and averaged over
    the very same nodes it is the threshold. The settings of the paper are
    ``ForestGainSelector(bound="mid", max_features=1)``.

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of best features to keep, or their fraction; choose the number by cross-validation; None
        keeps those above their threshold.
    bound : {"exact", "mid", "lower", "upper"}, default="exact"
        What the threshold averages: the true expectation of the gain of an irrelevant feature, or bounds of
        the paper for it, which know two classes and distinct values only; see
        `foresift.criteria.expected_gain`. "mid" is the paper's.
    weighting : {"complexity", "unit"}, default="complexity"
        How much a node counts: by its complexity, or all alike.
    redundancy : float or None, default=None
        Drop also features that better ones account for: those of whose gain above chance at least this share
        is left when only what the kept features know of them is left. 0.5 drops copies and near copies; on
        small tables the share of a copy strays around 1. Costs two forests per feature that passes. None
        drops none.
    n_estimators : int, default=100
        Number of trees.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Columns tried per node; the best is split. One is the paper's. More find features that matter only
        deep in a tree: the nodes there have been made by better splits.
    nominal_splits : {"subsets", "multiway"}, default="subsets"
        Split a nominal column into two sets of categories, or into one branch per category.
    n_permutations : int, default=2
        Where chance cannot be worked out (more than two classes, ties, nominal columns, missing values,
        sample weights), the classes of every node are shuffled so often, and the columns tried again.
    confidence : float, default=0.95
        Confidence of `intervals_`.
    weight_unit : float, default=0.1
        What counts as one observation in an interval, as a share of the whole data's node complexity.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are nominal: by dtype (text, categories, booleans), none, or those named, numbered or
        masked here.
    n_jobs : int, default=None
        Threads; -1 uses all cores. The outcome is the same for any number.
    random_state : int, RandomState or None, default=None
        Draws columns and shuffles.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Mean gain of every feature, in bits; NaN where it was never tried at a node of any complexity.
    thresholds_ : ndarray of shape (n_features,)
        Mean over the same nodes of what `bound` says of an irrelevant feature.
    expected_scores_ : ndarray of shape (n_features,)
        Mean over the same nodes of the true expectation: the threshold of bound="exact".
    pvalues_ : ndarray of shape (n_features,)
        Probability that an irrelevant feature scores as high; see Notes.
    intervals_ : ndarray of shape (n_features, 2)
        Student-t confidence intervals of the scores (eq. 14), over the trials in this forest.
    redundancy_ : ndarray of shape (n_features,)
        Share of a feature's gain above chance that the kept better ones account for; NaN where that was not
        asked. Only if `redundancy` is set.
    ranking_ : ndarray of shape (n_features,)
        1 is the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    See Also
    --------
    foresift.SiftForestClassifier : Draws columns by such scores.

    Notes
    -----
    The rule is no test. The threshold is an expectation, or a bound of one, and a third to a half of all
    irrelevant features lie above the exact one by chance. Shares of the irrelevant features removed and of
    the relevant ones kept, 100 seeds, 100 trees (docs/rogers-gunn.md):

    ===================  ============  ===========  ===========  ============  ===========
    data                 max_features  lower        mid          upper         exact
    ===================  ============  ===========  ===========  ============  ===========
    Simple               1             0 %, 100 %   30 %, 100 %  89 %, 100 %   68 %, 100 %
    Friedman             1             1 %, 100 %   30 %, 100 %  84 %, 97 %    66 %, 98 %
    make_classification  1             0 %, 100 %   1 %, 100 %   99 %, 98 %    57 %, 100 %
    Simple               "sqrt"        1 %, 100 %   46 %, 100 %  89 %, 100 %   68 %, 100 %
    Friedman             "sqrt"        2 %, 100 %   40 %, 100 %  83 %, 97 %    68 %, 99 %
    make_classification  "sqrt"        0 %, 100 %   1 %, 100 %   100 %, 100 %  67 %, 100 %
    ===================  ============  ===========  ===========  ============  ===========

    Simple has 2 relevant features of 9, Friedman 5 of 10, make_classification 10 of 100 in 2,000 rows.
    "upper" is strict because eq. 22 is too high for nodes of more than some 40 rows.

    `pvalues_` leave out trials below a split on the same feature, where it has nothing left to tell. They
    take all trees to be one, since all saw the same rows, which is on the safe side; and they are
    approximate: a gamma tail, whose variance comes from few shuffles where a column has ties. The tests hold
    noise of many kinds to fewer than 10 % of the columns below 0.05; `max_features=None`, where a node is
    what the luckiest columns made of it, may go beyond. They are not corrected for the number of features.

    Scores of features that were tried at different nodes differ for that reason too: `scores_` less
    `expected_scores_` ranks better where few trees are grown with one column per node.

    Rows that repeat others, as after oversampling, make every feature look better than chance: they are not
    independent. Give such rows a weight instead.

    The bounds assume as many cuts as rows. A feature with few distinct values gains less by chance, so they
    are too high for it; bound="exact" is right for it.

    The four schemes of the paper's Table 4::

        judge = ForestGainSelector(bound="mid", max_features=1)
        weigh = ForestGainSelector(bound="mid", max_features=1, n_features_to_select=1.0)
        SiftForestClassifier(max_features=1)                            # plain
        SiftForestClassifier(max_features=1, feature_sampling=weigh)    # WS
        make_pipeline(judge, SiftForestClassifier(max_features=1))      # FS
        SiftForestClassifier(max_features=1, feature_sampling=judge)    # WS & FS

    Examples
    --------
    >>> from foresift import ForestGainSelector
    >>> from foresift.datasets import make_simple
    >>> X, y = make_simple(random_state=2)  # only the first two columns matter
    >>> selector = ForestGainSelector(random_state=0).fit(X, y)
    >>> selector.ranking_[:2], (selector.pvalues_ < 0.05).nonzero()[0]
    (array([2, 1]), array([0, 1]))
    >>> selector.get_support(indices=True)  # the rule is no test, see Notes
    array([0, 1, 3, 6, 7])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankingSelector._parameter_constraints,
        "bound": [StrOptions(set(BOUNDS))],
        "weighting": [StrOptions({"complexity", "unit"})],
        "redundancy": [Interval(numbers.Real, 0, 1, closed="right"), None],
        "n_estimators": [Interval(numbers.Integral, 1, None, closed="left")],
        "max_features": [
            Interval(numbers.Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            StrOptions({"sqrt", "log2"}),
            None,
        ],
        "nominal_splits": [StrOptions({"subsets", "multiway"})],
        "n_permutations": [Interval(numbers.Integral, 2, None, closed="left")],
        "confidence": [Interval(numbers.Real, 0, 1, closed="neither")],
        "weight_unit": [Interval(numbers.Real, 0, None, closed="neither")],
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
        "n_jobs": [numbers.Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select=None,
        *,
        bound="exact",
        weighting="complexity",
        redundancy=None,
        n_estimators=100,
        max_features="sqrt",
        nominal_splits="subsets",
        n_permutations=2,
        confidence=0.95,
        weight_unit=0.1,
        categorical_features="from_dtype",
        n_jobs=None,
        random_state=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.bound = bound
        self.weighting = weighting
        self.redundancy = redundancy
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.nominal_splits = nominal_splits
        self.n_permutations = n_permutations
        self.confidence = confidence
        self.weight_unit = weight_unit
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _score(self, table: Table, weights: NDArray[np.float64] | None) -> Scores:
        if table.target.n_classes > 2 and self.bound != "exact":
            raise ValueError(
                f'bound="{self.bound}" is known for two classes only, but y has {table.target.n_classes}: '
                'use bound="exact", which works for any number.'
            )
        if weights is not None and (weights == 1).all():
            weights = None
        if self.bound != "exact" and weights is not None and not np.isin(weights, (0, 1)).all():
            raise ValueError(
                f'bound="{self.bound}" knows the number of rows of a node, not their weights: '
                'use bound="exact" with sample_weight.'
            )
        weights, seed = scale_up(weights), seed_of(self.random_state)
        options = {
            "weighting": self.weighting,
            "nominal_splits": self.nominal_splits,
            "n_permutations": self.n_permutations,
            "n_jobs": self.n_jobs,
        }
        with track(self, self.n_estimators, task="tree") as progress:
            evidence = gather_evidence(
                table,
                weights,
                progress,
                bound=self.bound,
                n_estimators=self.n_estimators,
                max_features=self.max_features,
                seed=seed,
                **options,
            )
        scores = evidence.mean
        n_untried = int(np.isnan(scores).sum())
        if n_untried:
            warn_caller(
                f"{n_untried} of {len(scores)} columns were never tried at a node of any complexity, so they "
                "have no score: raise n_estimators or max_features."
            )
        counts = table.target.counts(weights)
        unit = self.weight_unit * float(node_complexity(counts)) if self.weighting == "complexity" else 1.0
        learned = {
            "thresholds_": evidence.per_weight(evidence.bounds),
            "expected_scores_": evidence.per_weight(evidence.chance),
            "pvalues_": evidence.pvalues,
            "intervals_": evidence.intervals(unit, self.confidence),
        }
        if self.redundancy is not None:
            candidates = np.argsort(-scores, kind="stable")
            if self.n_features_to_select is None:
                candidates = candidates[scores[candidates] > learned["thresholds_"][candidates]]
            n_wanted = self._n_wanted(table.n_columns)
            learned["redundancy_"] = explained_shares(
                table, weights, candidates, self.redundancy, n_wanted, seed, options
            )
        return Scores(scores, learned)

    def _is_redundant(self) -> NDArray[np.bool_]:
        if self.redundancy is None:
            return np.zeros(len(self.scores_), dtype=bool)
        return np.asarray(self.redundancy_ >= self.redundancy)

    def _own_support(self) -> NDArray[np.bool_]:
        return (self.scores_ > self.thresholds_) & ~self._is_redundant()

    def _best(self, size: int) -> NDArray[np.bool_]:
        # Redundant ones come last, by their ranks.
        order = np.lexsort((self.ranking_, self._is_redundant()))
        support = np.zeros(len(order), dtype=bool)
        support[order[:size]] = True
        return support
