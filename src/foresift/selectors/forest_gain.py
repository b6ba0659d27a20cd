"""Selection by the mean information gain in a forest (Rogers & Gunn)."""

from __future__ import annotations

import numbers
from copy import copy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from foresift.data.sklearn_compat import Interval, RealNotInt, StrOptions, seed_of, track
from foresift.data.table import Table
from foresift.data.weights import scale_up
from foresift.engine.null_gain import BOUNDS
from foresift.errors import warn_caller
from foresift.selectors.base import RankingSelector, Scores
from foresift.selectors.evidence import gather_evidence
from foresift.selectors.explained_gain import explained_shares

__all__ = ["ForestGainSelector"]


class ForestGainSelector(RankingSelector):
    """Keep the features that gain more in a forest than an irrelevant one would (Rogers & Gunn).

    Trees are grown on all rows, each node split by the best of some columns drawn at random. The score of a
    feature is its mean information gain over the nodes where it was a split candidate; complex nodes have
    more weight. Even an irrelevant feature has a positive gain by chance. Its expectation is known for every
    node, and its mean over the same nodes is the threshold. The settings of the paper are
    ``ForestGainSelector(bound="mid", max_features=1, constant_draw="leaf")``. For a quantity, the gain is the
    share of the variance of y at the node that the best split explains.

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of best features to keep, or their fraction, or "cv" to choose it by cross-validation. None
        keeps those above their threshold.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity; "auto" takes numbers with fractions as a quantity.
    bound : {"exact", "mid", "lower", "upper"}, default="exact"
        The threshold: the exact expectation of the gain of an irrelevant feature, or a bound of the paper,
        valid for two classes and distinct values only; see `foresift.criteria.expected_gain`. The paper uses
        "mid". For a quantity only "exact".
    weighting : {"complexity", "unit"}, default="complexity"
        Weights of the nodes: their complexity, in which every distinct number of a quantity is a class, or
        all equal.
    redundancy : float or None, default=None
        Drop also redundant features: those whose gain above chance is explained by the kept features to at
        least this share. 0.5 drops copies and near copies; on small tables the share of a copy varies around
        1. Costs two forests per feature above its threshold. None drops none.
    n_estimators : int, default=100
        Number of trees.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Split candidates per node. The paper uses 1. More candidates find features that matter only deep in a
        tree, because better splits lead to the nodes there.
    constant_draw : {"redraw", "leaf"}, default="redraw"
        What a node does if all its split candidates are constant in it: draw further columns, one by one,
        until one is not; or become a leaf. The constant ones count with a gain of 0 either way.
    nominal_splits : {"subsets", "multiway"}, default="subsets"
        Split a nominal column into two sets of categories, or into one branch per category.
    n_permutations : int, default=2
        Number of permutations of the classes of every node, used where the expectation is not known (a
        quantity, more than two classes, ties, nominal columns, missing values, sample weights).
    confidence : float, default=0.95
        Confidence level of `intervals_`.
    weight_unit : float, default=0.1
        Weight of one observation in an interval, as a share of the node complexity of the whole data.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are nominal: by dtype (text, categories, booleans), none, or those named, numbered or
        masked here.
    n_jobs : int, default=None
        Threads; -1 uses all cores. The result is the same for any number.
    random_state : int, RandomState or None, default=None
        Seed of the drawn columns and permutations.
    keep : array-like or None, default=None
        Columns that are kept in any case, by name, number or mask: they are not ranked, and not counted.
    feature_groups : mapping, list, "one-hot" or None, default=None
        Columns that are ranked, and kept or dropped, as one: lists of columns or patterns of names, a label
        for every column, or the blocks of OneHotEncoder; see `foresift.selectors.units.read_units`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Mean gain of every feature, in bits, or as a share of the variance of a quantity at the node; NaN if
        it was never a candidate at a node of positive complexity.
    thresholds_ : ndarray of shape (n_features,)
        Mean of `bound` over the same nodes.
    expected_scores_ : ndarray of shape (n_features,)
        Mean of the exact expectation over the same nodes: the threshold of bound="exact".
    pvalues_ : ndarray of shape (n_features,)
        Probability that an irrelevant feature scores as high; see Notes.
    intervals_ : ndarray of shape (n_features, 2)
        Student-t confidence intervals of the scores (eq. 14), over the split candidates in this forest.
    redundancy_ : ndarray of shape (n_features,)
        Share of a feature's gain above chance that is explained by the better kept features; NaN where not
        computed. Only if `redundancy` is set.
    ranking_ : ndarray of shape (n_features,)
        1 is the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    n_features_in_, feature_names_in_, schema_
        Number, names and types of the columns.

    See Also
    --------
    foresift.SiftForestClassifier, foresift.SiftForestRegressor : Can draw columns by these scores.
    foresift.RelevanceSelector : A test, of classes or a quantity.

    Notes
    -----
    The rule is not a test. The threshold is an expectation, or a bound of it, and a third to a half of all
    irrelevant features are above the exact one by chance. Shares of the irrelevant features removed and of
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
    "upper" is strict because eq. 22 is too high for nodes of more than about 40 rows.

    For a quantity, with 50 seeds (`benchmarks/forest_gain_quantities.py`; standard errors up to 3 %):

    =================  ============  ============  ===========
    data               max_features  normal noise  t(2) noise
    =================  ============  ============  ===========
    Simple             1             68 %, 100 %   63 %, 100 %
    Friedman           1             59 %, 100 %   65 %, 98 %
    make_regression    1             58 %, 92 %    58 %, 84 %
    Simple             "sqrt"        78 %, 100 %   76 %, 100 %
    Friedman           "sqrt"        65 %, 100 %   75 %, 96 %
    make_regression    "sqrt"        64 %, 91 %    66 %, 84 %
    =================  ============  ============  ===========

    Simple and Friedman have 200 rows, and numbers in place of classes; make_regression has 10 relevant
    features of 50 in 500 rows. Gains are shares of the variance at the node, not of that of all rows: with
    t(2) noise, where a few rows have most of the variance, a relevant feature then has more above its
    threshold than an irrelevant one in 95 % of the pairs in Friedman, and in 98 % in Simple; as shares of the
    variance of all rows in 90 % and 91 % (20 seeds, 50 trees). The unit and the origin of y have no effect,
    but for rounding.

    `pvalues_` leave out candidates below a split on the same feature, where its information is used up. They
    treat all trees as one, since all use the same rows, which is conservative; and they are approximate: a
    gamma tail, whose variance comes from few permutations if a column has ties. In our tests fewer than 10 %
    of the noise columns of many kinds are below 0.05; with `max_features=None`, where splits are chosen among
    all columns, there may be more. They are not corrected for the number of features.

    For a quantity, 0 to 7 % of the noise columns were below 0.05 (200 rows; columns without ties, of two and
    three values, rare flags, eight categories; normal, t(2) and log-normal y; 500 columns each, standard
    errors up to 1 %). The most were rare flags, with 7 % for t(2). Very small p-values are not reliable if y
    has heavy tails: the least of 5,000 was 2e-6 for t(2), 8e-8 for log-normal and 6e-4 for normal y. Use
    `RelevanceSelector`, which takes the ranks of y, where they matter.

    Scores of features that were candidates at different nodes differ for that reason too: `scores_` minus
    `expected_scores_` ranks better for few trees with one candidate per node.

    Duplicated rows, as after oversampling, make every feature look better than chance, because rows are not
    independent. Use weights instead.

    The bounds assume as many cuts as rows. For a feature with few distinct values, which gains less by
    chance, they are too high; bound="exact" is right for it.

    The four schemes of the paper's Table 4::

        paper = {"max_features": 1, "constant_draw": "leaf"}
        judge = ForestGainSelector(bound="mid", **paper)
        weigh = ForestGainSelector(bound="mid", n_features_to_select=1.0, **paper)
        SiftForestClassifier(**paper)                            # plain
        SiftForestClassifier(feature_sampling=weigh, **paper)    # WS
        make_pipeline(judge, SiftForestClassifier(**paper))      # FS
        SiftForestClassifier(feature_sampling=judge, **paper)    # WS & FS

    Examples
    --------
    >>> from foresift import ForestGainSelector
    >>> from foresift.datasets import make_simple
    >>> X, y = make_simple(random_state=2)  # only the first two columns matter
    >>> selector = ForestGainSelector(random_state=0).fit(X, y)
    >>> selector.ranking_[:2], (selector.pvalues_ < 0.05).nonzero()[0]
    (array([2, 1]), array([0, 1]))
    >>> selector.get_support(indices=True)  # the rule is not a test, see Notes
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
        "constant_draw": [StrOptions({"redraw", "leaf"})],
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
        task="auto",
        bound="exact",
        weighting="complexity",
        redundancy=None,
        n_estimators=100,
        max_features="sqrt",
        constant_draw="redraw",
        nominal_splits="subsets",
        n_permutations=2,
        confidence=0.95,
        weight_unit=0.1,
        categorical_features="from_dtype",
        n_jobs=None,
        random_state=None,
        keep=None,
        feature_groups=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.bound = bound
        self.weighting = weighting
        self.redundancy = redundancy
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.constant_draw = constant_draw
        self.nominal_splits = nominal_splits
        self.n_permutations = n_permutations
        self.confidence = confidence
        self.weight_unit = weight_unit
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.keep = keep
        self.feature_groups = feature_groups

    def _score(self, table: Table, weights: NDArray[np.float64] | None) -> Scores:
        if self.bound != "exact":
            table.target.require_classes(self, 'set bound="exact"')
        if table.target.n_outputs > 2 and self.bound != "exact":
            raise ValueError(
                f'bound="{self.bound}" is valid for two classes only, but y has {table.target.n_outputs}: '
                'use bound="exact", which works for any number.'
            )
        if weights is not None and (weights == 1).all():
            weights = None
        if self.bound != "exact" and weights is not None and not np.isin(weights, (0, 1)).all():
            raise ValueError(
                f'bound="{self.bound}" uses the number of rows of a node, not their weights: '
                'use bound="exact" with sample_weight.'
            )
        weights, seed = scale_up(weights), seed_of(self.random_state)
        options = {
            "weighting": self.weighting,
            "constant_draw": self.constant_draw,
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
        n_unscored = int(np.isnan(scores).sum())
        if n_unscored:
            warn_caller(
                f"{n_unscored} of {len(scores)} columns were never a split candidate at a node of positive "
                "complexity, so they have no score: raise n_estimators or max_features."
            )
        unit = self.weight_unit * table.target.complexity(weights) if self.weighting == "complexity" else 1.0
        learned = {
            "thresholds_": evidence.per_weight(evidence.bounds),
            "expected_scores_": evidence.per_weight(evidence.chance),
            "pvalues_": evidence.pvalues,
            "intervals_": evidence.intervals(unit, self.confidence),
        }
        if self.redundancy is not None:
            best = self.units_.best_members(scores)
            candidates = best[np.argsort(-scores[best], kind="stable")]
            if self.n_features_to_select is None:
                candidates = candidates[scores[candidates] > learned["thresholds_"][candidates]]
            given, n_wanted = np.flatnonzero(self.units_.kept), self._n_wanted()
            learned["redundancy_"] = explained_shares(
                table, weights, candidates, self.redundancy, n_wanted, seed, options, given
            )
        return Scores(scores, learned)

    def _gain_of_size(self, data: Any, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
        plain = copy(self)
        plain.redundancy = None  # which costs many forests, and has no part in the scores
        return super(ForestGainSelector, plain)._gain_of_size(data, weights)

    def _is_redundant(self) -> NDArray[np.bool_]:
        if self.redundancy is None:
            return np.zeros(len(self.scores_), dtype=bool)
        return np.asarray(self.redundancy_ >= self.redundancy)

    def _own_support(self) -> NDArray[np.bool_]:
        return (self.scores_ > self.thresholds_) & ~self._is_redundant()

    def _best(self, size: int) -> NDArray[np.bool_]:
        # Redundant ones come last, by their ranks.
        return self._best_with_last(self._is_redundant(), size)
