"""Greedy filters by mutual information that weigh relevance against redundancy: mRMR, JMI and others."""

from __future__ import annotations

import numbers
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from foresift.data.coded_blocks import CodedBlocks
from foresift.data.sklearn_compat import Interval, StrOptions, seed_of, track
from foresift.data.table import Table
from foresift.selectors.base import RankingSelector, Scores, ranks_by_score
from foresift.selectors.block_candidates import BlockCandidates
from foresift.selectors.candidates import Candidates, TableCandidates
from foresift.selectors.units import Units

__all__ = ["MutualInfoSelector"]

_ROUNDING = 1e-12  # scores that differ by less are equal; relative, if they are above 1
_CHANCE = 10  # permutations for what the best column of a group scores by chance


class MutualInfoSelector(RankingSelector):
    """Add the feature that scores best by mutual information, one after another: MIM, mRMR, JMI, CMIM, DISR.

    The first feature is the one with the largest mutual information I(X;Y) with the target. From then on,
    with S the features so far, the next is the one with the largest

    - "mim": I(X;Y), whatever the others are;
    - "mrmr": I(X;Y) less the mean over W in S of I(X;W) (Peng et al. 2005);
    - "jmi": sum over W in S of I(X,W;Y) (Yang & Moody 1999);
    - "cmim": the least of I(X;Y) and, over W in S, of I(X;Y|W) (Fleuret 2004);
    - "disr": sum over W in S of I(X,W;Y) / H(X,W,Y) (Meyer & Bontempi 2006).

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of features to add, or their fraction; choose the number by cross-validation; None stops
        when the next feature is not above its shadows (see Notes), after one feature at least.
    scheme : {"mim", "mrmr", "jmi", "cmim", "disr"}, default="mrmr"
        The score.
    n_bins : int, default=5
        Numeric columns, and a numeric target, with more distinct values are cut into this many bins of about
        equal frequency. More bins need more rows: a table of three columns has n_bins ** 3 cells.
    missing : {"value", "pairwise"}, default="value"
        Missing is a value of its own; or every table of counts leaves out the rows where one of its columns
        is missing.
    n_shadows : int, default=19
        Permutations that give shadows, if `n_features_to_select` is None. At least one feature has to beat
        all of them.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity; "auto" takes numbers with fractions for a quantity, as
        scikit-learn's `type_of_target` does.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are nominal: by dtype (text, categories, booleans), none, or those named, numbered or
        masked here.
    n_jobs : int, default=None
        Threads; -1 uses all cores. The outcome is the same for any number.
    random_state : int, RandomState or None, default=None
        Draws the permutations.
    keep : array-like or None, default=None
        Columns that are kept in any case, by name, number or mask: they are not ranked, and not counted.
    feature_groups : mapping, list, "one-hot" or None, default=None
        Columns that are ranked, and kept or dropped, as one: lists of columns or patterns of names, a label
        for every column, or the blocks of OneHotEncoder; see `foresift.selectors.units.read_units`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Score of every feature, in nats, when it was added, or when it was last considered. Scores of
        different steps are not comparable.
    relevance_ : ndarray of shape (n_features,)
        I(X;Y) of every feature.
    ranking_ : ndarray of shape (n_features,)
        The order in which the features were added; the others follow by their last score. To rank all of
        them greedily, set ``n_features_to_select=1.0``.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    shadow_scores_ : ndarray of shape (n_steps, n_shadows)
        The best shadow of each permutation at every step, with the one that ended the selection: its score,
        or with "mrmr" its excess information (see Notes). No rows if `n_features_to_select` is given.
    n_added_ : int
        Number of features that were added.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    See Also
    --------
    CFSSelector : Searches the subset that is correlated with the target and not within itself.
    InfoGainSelector : The information of the best split of each column.

    Notes
    -----
    Probabilities are relative frequencies and logarithms natural; on nominal columns orders and scores are
    those of the R package praznik. Features that score the same, but for rounding, are added in column order.

    *When it stops.* A shadow is a copy of a feature with its rows permuted: it has the same values and is
    independent of the target and of the features so far. One permutation gives shadows of all features that
    are left, which thus keep their dependence on each other; the best of them is what the best of as many
    irrelevant features scores. A feature is added while it scores above this in all `n_shadows` permutations.
    If no feature left depends on the target or on those so far, that happens with probability at most
    1 / (n_shadows + 1), 5 % by default.

    "mrmr" compares relevance instead of scores, because shadows are not redundant with any feature: the
    redundancy decides which feature is next, and not when to stop. The *excess information* of a feature is
    its I(X;Y) less the mean of that of itself and its shadows, which is larger for more categories. Two
    conditions must hold. First, of the features left, the one with the most excess information is above all
    shadows. If the features left are independent of the target, all of them together, that happens with
    probability at most 1 / (n_shadows + 1). Second, the next feature is above chance: down to it, or to a
    feature with less excess information, there are more features than shadows of all permutations. About one
    of `n_shadows` features above chance is then irrelevant; this is an estimate and no bound. An irrelevant
    feature has a score of about 0 and comes before those that are more redundant than relevant; the selection
    ends there.

    Weights count rows: one of weight 2 is two rows, but not for the permutations, which move whole rows. So
    with None a table of repeated rows may have more features added than one of weighted rows.

    Rows that come in batches all count if missing is a value. Bins are then made of at most 255 codes per
    numeric column, of more than 255 categories the rare ones are one, and shadows are permuted within blocks
    of up to 65,535 rows.

    Time grows with rows times features times those added, times 1 + `n_shadows` where it must find the
    number itself; with "mrmr" that factor holds for the first step alone.

    References
    ----------
    G. Brown, A. Pocock, M.-J. Zhao, M. Lujan, "Conditional likelihood maximisation: a unifying framework for
    information theoretic feature selection", JMLR 13 (2012), pages 27-66.

    M. B. Kursa, "Praznik: high performance information-based feature selection", SoftwareX 16 (2021), 100819.

    Examples
    --------
    >>> from foresift import MutualInfoSelector
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = MutualInfoSelector(2, scheme="jmi").fit(X, y)
    >>> selector.ranking_, selector.scores_.round(3)
    (array([4, 3, 2, 1]), array([0.825, 0.912, 0.915, 0.796]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankingSelector._parameter_constraints,
        "scheme": [StrOptions({"mim", "mrmr", "jmi", "cmim", "disr"})],
        "n_bins": [Interval(numbers.Integral, 2, 65_534, closed="both")],
        "missing": [StrOptions({"value", "pairwise"})],
        "n_shadows": [Interval(numbers.Integral, 1, None, closed="left")],
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
        "n_jobs": [numbers.Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select=None,
        *,
        scheme="mrmr",
        n_bins=5,
        missing="value",
        n_shadows=19,
        task="auto",
        categorical_features="from_dtype",
        n_jobs=None,
        random_state=None,
        keep=None,
        feature_groups=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.scheme = scheme
        self.n_bins = n_bins
        self.missing = missing
        self.n_shadows = n_shadows
        self.task = task
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.keep = keep
        self.feature_groups = feature_groups

    def takes_blocks(self) -> bool:
        """Whether it is fitted to all rows of blocks: not if tables of counts leave out rows."""
        return bool(self.missing == "value")

    def _score(self, table: Table | CodedBlocks, weights: NDArray[np.float64] | None) -> Scores:
        n_wanted, units = self._n_wanted(), self.units_
        n_shadows = self.n_shadows if n_wanted is None else _CHANCE if units.unequal else 0
        pool = self._candidates(table, weights, n_shadows)
        for column in np.flatnonzero(units.kept).tolist():
            pool.add(column)
        scores, added, shadow_scores = np.empty(units.n_free), [], []
        with track(self, n_wanted or units.n_free, task="feature") as progress:
            while len(pool.left):
                left, values = _scores_of_units(pool, units)
                own = scores[left] = values[0]
                if n_wanted == 0:  # nothing beside the kept columns
                    break
                following = int((own >= own.max() - _rounding(own)).argmax())
                if n_wanted is None:
                    compared = _excess_of_units(pool, units) if self.scheme == "mrmr" else values
                    shadow_scores.append(compared[1:].max(axis=1))
                    if not _above_chance(compared)[following]:
                        break
                added.append(int(left[following]))
                if progress.advance() or len(added) == n_wanted:
                    break
                for column in units.members[added[-1]].tolist():
                    pool.add(column)
        ranking = ranks_by_score(np.where(np.isin(np.arange(units.n_free), added), np.nan, scores))
        ranking += len(added)
        ranking[added] = np.arange(1, len(added) + 1)
        learned = {
            "relevance_": pool.relevance[0],
            "shadow_scores_": np.array(shadow_scores).reshape(len(shadow_scores), n_shadows),
            "n_added_": len(added),
        }
        return Scores(scores, learned, ranking, by_unit=True)

    def _candidates(
        self, table: Table | CodedBlocks, weights: NDArray[np.float64] | None, n_shadows: int
    ) -> Candidates:
        """All columns, and permutations for their shadows."""
        seed = seed_of(self.random_state)
        scores_shadows = self.scheme != "mrmr" or self.units_.unequal
        if isinstance(table, CodedBlocks):
            return BlockCandidates(self.scheme, table, self.n_bins, n_shadows, seed, scores_shadows)
        used = np.arange(table.n_rows) if weights is None else np.flatnonzero(weights)
        kept = None
        if weights is not None:  # a power of two takes their size away, and no bit of the scores
            kept = np.ldexp(weights[used], -np.frexp(weights.sum())[1])
        rng = np.random.default_rng(seed)
        orders = [rng.permutation(len(used)) for _ in range(n_shadows)]
        known_only = self.missing == "pairwise"
        return TableCandidates(
            self.scheme, table, used, kept, orders, self.n_bins, known_only, self.n_jobs, scores_shadows
        )

    def _own_support(self) -> NDArray[np.bool_]:
        return self.ranking_ <= self.n_added_


def _scores_of_units(pool: Candidates, units: Units) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The free units that are left, and what the best column of each scores; below that of its shadows.

    If some have more columns than others, less what the best of the shadows is above their mean on average.
    """
    left, best, means = _best_of_units(pool, units, pool.scores())
    if units.unequal:
        best = best - (best[1:] - means[1:]).mean(axis=0)
    return left, best


def _excess_of_units(pool: Candidates, units: Units) -> NDArray[np.float64]:
    """The relevance of the best column of each unit that is left, and of its shadows, above that by chance.

    The mean is that of all, and not of the shadows alone: if the target is independent of the units, rows are
    then exchangeable.
    """
    best = _best_of_units(pool, units, pool.relevance[:, pool.left])[1]
    excess: NDArray[np.float64] = best - best.mean(axis=0)
    return excess


def _best_of_units(
    pool: Candidates, units: Units, values: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
    """The free units that are left, and the best and the mean of what the columns of each have."""
    owner = units.free_of_column[pool.left]
    order = np.argsort(owner, kind="stable")
    left, starts, sizes = np.unique(owner[order], return_index=True, return_counts=True)
    best = np.maximum.reduceat(values[:, order], starts, axis=1)
    return left, best, np.add.reduceat(values[:, order], starts, axis=1) / sizes


def _above_chance(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which features, in the first row, are above chance, by their shadows below.

    None, unless the best is above all shadows. Then those down to the last one above which there are fewer
    shadows, of all permutations together, than features: the best is always one of them.
    """
    own, shadows = values[0], np.sort(values[1:], axis=None)
    n_shadows = shadows.size - np.searchsorted(shadows, own - _rounding(own))
    if n_shadows[own.argmax()] > 0:
        return np.zeros(own.size, dtype=bool)
    n_features = own.size - np.searchsorted(np.sort(own), own)
    passed: NDArray[np.bool_] = own >= own[n_features > n_shadows].min()
    return passed


def _rounding(values: NDArray[np.float64]) -> float:
    """Values that differ by less are equal."""
    return _ROUNDING * max(1.0, abs(float(values.max())))
