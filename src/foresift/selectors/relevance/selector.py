"""Calibrated relevance: which columns matter, at an error rate that holds."""

from __future__ import annotations

import numbers
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri_exp

from foresift.data.coded_blocks import CodedBlocks
from foresift.data.coding import MAX_VALUES
from foresift.data.containers import read
from foresift.data.dependence import DEPENDENCE
from foresift.data.row_source import InMemory
from foresift.data.sklearn_compat import Interval, Progress, RealNotInt, StrOptions, seed_of, track
from foresift.data.table import Table, UncodedTable
from foresift.engine.local_blocks import LocalBlocks
from foresift.engine.open_blocks import bytes_of, comes_in_batches, open_blocks
from foresift.errors import InputError, warn_caller
from foresift.selectors.base import RankingSelector, Scores
from foresift.selectors.redundancy import STEPS, redundant_with
from foresift.selectors.relevance.block_testing import (
    BlockTests,
    deduplicate_blocks,
    share_between_blocks,
)
from foresift.selectors.relevance.dependent import half_of
from foresift.selectors.relevance.shadows import deduplicate_columns
from foresift.selectors.relevance.testing import ColumnTests, Tested
from foresift.selectors.relevance.untested import LEFT, nothing_left, reasons_of
from foresift.stats import adjusted_pvalues, selection_stability

__all__ = ["RelevanceSelector"]

MANY_ROWS = 50_000  # from which on histograms are used; at 20,000 they gain little, at 100,000 much
MAX_BINS = 65_536  # with fewer rows
MANY_CLASSES = 50  # above, every cut is tried: histograms have a row for each, and of 300 took twice as long
_UNEVEN = 0.02  # of the variance of the target, between parts


class RelevanceSelector(RankingSelector):
    """Keep the features that are relevant to the classes, at an error rate that holds.

    Five tests look at every feature: its gain in a forest compared with that of shadow features (permuted
    copies), the normal scores of its ranks in the classes, the same for residuals after the strong
    predictors, curves of its ranks with little trend, and products of signs of pairs of features. Of a
    quantity all tests use the ranks, those of ranks, residuals and curves also their normal scores. The
    p-values are combined to one, which is adjusted for the number of features.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        The number of best features to keep, or their fraction; None keeps the relevant ones.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity; "auto" takes numbers with fractions as a quantity.
    dependence : {"auto", "none", "groups", "time", "panel"}, default="auto"
        Which rows depend on each other: those of the same group, those that follow each other in time, or
        both; "auto" is what is passed to `fit`. "time" and "panel" without times take the rows as they stand.
    error : {"fdr", "fwer", "none"}, default="fdr"
        What `alpha` bounds: the expected share of irrelevant features among the selected (Benjamini &
        Hochberg), the probability of selecting any irrelevant feature (Bonferroni), or that of selecting an
        irrelevant one, on average over the features.
    alpha : float, default=0.1
        The error rate.
    minimal : bool, default=False
        Keep only one feature of each redundant group, `representative_`. The error rate holds for these.
    interactions : bool, default=True
        Also test pairs of features, which finds those that matter only together, as in an exclusive or.
    n_estimators : int, default=50
        Number of trees.
    n_shadows : int or None, default=None
        Shadows per column, at least 4. None takes 10, or as many as make 100 in all, and 6 from 5,000 columns
        on, where the shadows of all columns tell enough of chance.
    max_features : int, float, {"sqrt", "log2"} or None, default=1/3
        Split candidates per node, at least one; the best one splits.
    max_depth : int or None, default=5
        Levels of splits; None for no limit. From histograms (see `max_bins`) trees have at most 12.
    min_samples_split : int, default=10
        Least weight of a node that is split.
    min_share : float, default=0
        Cuts of numeric columns leave at least this share of the node's rows on either side, if the column has
        such a cut.
    redundancy : float or None, default=0.5
        A relevant feature is redundant with a better one that explains at least this share of its information
        about y. It is compared with the three better ones that it is most strongly associated with. None
        skips this step.
    n_half_samples : int, default=0
        Number of random splits of the rows into halves. The selection is repeated on both halves, to measure
        its stability. Each split costs about as much as the fit itself.
    nominal_splits : {"subsets", "multiway"}, default="subsets"
        Split a nominal column into two sets of categories, or into one branch per category.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are nominal: by dtype (text, categories, booleans), none, or those named, numbered or
        masked here.
    max_bins : "auto" or int, default="auto"
        Numeric columns with more values are cut into this many bins. Up to 255, trees grow from histograms of
        the bins, which is faster on many rows; above, every cut is tried. "auto" takes 255 from 50,000 rows
        on, and else 65,536; see docs/scale.md.
    memory_limit : float, str or None, default=None
        Codes of a table take one byte a cell with up to 255 bins. Above this many bytes ("1GB") they lie in a
        temporary file; None is half of the memory of the machine.
    n_jobs : int, default=None
        Threads; -1 uses all cores. The outcome is the same for any number.
    random_state : int, RandomState or None, default=None
        Draws permutations, columns and halves.
    keep : array-like or None, default=None
        Columns that are kept in any case, by name, number or mask: they are not ranked, tested or counted,
        and the others are tested for what they add to these.
    feature_groups : mapping, list, "one-hot" or None, default=None
        Columns that are tested, ranked, and kept or dropped, as one: lists of columns or patterns of names, a
        label for every column, or the blocks of OneHotEncoder; see `foresift.selectors.units.read_units`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Normal quantiles of the p-values: 1.64 is a p-value of 0.05. 0 for a constant column, NaN for one that
        was hardly ever a split candidate, which too few trees may leave.
    pvalues_ : ndarray of shape (n_features,)
        Combined p-values, not adjusted; 1 without a test.
    adjusted_pvalues_ : ndarray of shape (n_features,)
        Adjusted for the number of features, as `error` says; relevant is what has at most `alpha`.
    test_pvalues_ : dict of str to ndarray of shape (n_features,)
        P-values of each test: "forest", "ranks", "residuals", "curves" and "pairs"; NaN where a feature has
        no such test.
    untested_ : dict of int to str
        Why a feature has no test, for the numbers of those that have none. Not of constant columns.
    relevant_ : ndarray of bool of shape (n_features,)
        The features that pass. May be none.
    shadow_scores_ : ndarray of shape (n_features, n_shadows)
        Scores of the shadows in the forest, on a scale where they are about normal; NaN for a constant
        column.
    gains_, expected_gains_ : ndarray of shape (n_features,)
        Mean gain of every column, and of its shadows: in bits, or in variance of the ranks of a quantity.
    redundant_with_ : ndarray of int of shape (n_features,)
        For every relevant feature that is redundant with a better one, the number of that one; else -1,
        as for all features if `redundancy` is None.
    representative_ : ndarray of bool of shape (n_features,)
        One relevant feature of each redundant group; a group counts once in the error rate. At least the best
        relevant feature is among them.
    stability_ : Stability or None
        Agreement of the selections of half of the rows: `value` (1: always the same, 0: as if drawn at
        random), `lower` and `upper` end of a 95 % interval; see `foresift.stats.selection_stability`. None
        without half-samples.
    selection_frequencies_ : ndarray of shape (n_features,) or None
        Share of the half-samples in which each feature was relevant.
    ranking_ : ndarray of shape (n_features,)
        1 is the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features: the relevant ones, with `minimal` one of each group. If there are none, the
        best feature, with a warning, since `transform` cannot return a table without columns.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    See Also
    --------
    foresift.ForestGainSelector : The paper's own threshold, which is no test.

    Notes
    -----
    Relevant means: not independent of y, alone or together with others. A copy of a relevant feature is
    relevant, and so is a feature that is correlated with one. The error rate counts features as irrelevant
    that are independent of y and of everything relevant. Features of a group in `redundant_with_` are weakly
    relevant in the sense of Rogers & Gunn 2.1: any one of them can be left out while another stays.

    Columns with the same codes are tested once and get the same score. The result depends neither on the
    number of threads nor on the order of the columns. Another order of the rows acts like another seed.

    Weights are scaled to an average of one over the rows that have any. A shadow takes the values of its
    column from other rows, and the weights with them, by their ranks in their classes: weights may depend on
    the classes, and on columns (for instance to correct for sampling by age). If weights vary within a class,
    or at all with a quantity, the forest is the only test.

    A column takes part in pairs if its sign leaves a quarter of the rows on either side, and in the rank
    tests if no value has more than three quarters of them. Pairs are tested if there are at most 1,000
    columns, on at most 2,000 rows. Three columns that are uninformative in pairs are not found. For how the
    tests work and the error rates that were measured see docs/relevance.md.

    If rows depend on each other, `groups` and `time` of `fit` keep the error rate: see docs/dependence.md.
    Pairs are not tested then, nor beside kept columns. In a series with a trend or a season, for which there
    is no forest test, columns that nearly always have one value are in the rank tests, too, and columns that
    only repeat with the season have no test.

    Examples
    --------
    >>> from foresift import RelevanceSelector
    >>> from foresift.datasets import make_simple
    >>> X, y = make_simple(random_state=1)  # only the first two columns matter
    >>> selector = RelevanceSelector(random_state=0).fit(X, y)
    >>> selector.get_support(indices=True)
    array([0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankingSelector._parameter_constraints,
        "dependence": [StrOptions(set(DEPENDENCE))],
        "error": [StrOptions({"fdr", "fwer", "none"})],
        "alpha": [Interval(numbers.Real, 0, 1, closed="neither")],
        "minimal": ["boolean"],
        "interactions": ["boolean"],
        "n_estimators": [Interval(numbers.Integral, 1, None, closed="left")],
        "n_shadows": [Interval(numbers.Integral, 4, None, closed="left"), None],
        "max_features": [
            Interval(numbers.Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            StrOptions({"sqrt", "log2"}),
            None,
        ],
        "max_depth": [Interval(numbers.Integral, 1, None, closed="left"), None],
        "min_samples_split": [Interval(numbers.Integral, 2, None, closed="left")],
        "min_share": [Interval(numbers.Real, 0, 0.5, closed="left")],
        "redundancy": [Interval(numbers.Real, 0, 1, closed="right"), None],
        "n_half_samples": [Interval(numbers.Integral, 0, None, closed="left")],
        "nominal_splits": [StrOptions({"subsets", "multiway"})],
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
        "max_bins": [Interval(numbers.Integral, 2, 65_536, closed="both"), StrOptions({"auto"})],
        "memory_limit": [Interval(numbers.Real, 0, None, closed="left"), str, None],
        "n_jobs": [numbers.Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select=None,
        *,
        task="auto",
        dependence="auto",
        error="fdr",
        alpha=0.1,
        minimal=False,
        interactions=True,
        n_estimators=50,
        n_shadows=None,
        max_features=1 / 3,
        max_depth=5,
        min_samples_split=10,
        min_share=0.0,
        redundancy=0.5,
        n_half_samples=0,
        nominal_splits="subsets",
        categorical_features="from_dtype",
        max_bins="auto",
        memory_limit=None,
        n_jobs=None,
        random_state=None,
        keep=None,
        feature_groups=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.dependence = dependence
        self.error = error
        self.alpha = alpha
        self.minimal = minimal
        self.interactions = interactions
        self.n_estimators = n_estimators
        self.n_shadows = n_shadows
        self.max_features = max_features
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_share = min_share
        self.redundancy = redundancy
        self.n_half_samples = n_half_samples
        self.nominal_splits = nominal_splits
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.keep = keep
        self.feature_groups = feature_groups

    @property
    def reading_options(self) -> dict[str, Any]:
        """How it reads X: parameters of `make_table`."""
        max_bins = MAX_BINS if self.max_bins == "auto" else self.max_bins
        return {**super().reading_options, "max_bins": max_bins}

    def blocks_of(self, X: Any, y: Any) -> CodedBlocks | None:
        """Rows in coded blocks: those that come in batches, and many in memory; else None."""
        max_bins = MAX_VALUES if self.max_bins == "auto" else min(MAX_VALUES, int(self.max_bins))
        if comes_in_batches(X, y):
            options = {"categorical_features": self.categorical_features, "memory_limit": self.memory_limit}
            return open_blocks(X, y, task=self.task, max_bins=max_bins, n_jobs=self.n_jobs, **options)
        few_rows = read(X).n_rows < MANY_ROWS  # names are checked, too
        if not self.takes_blocks() or (self.max_bins == "auto" and few_rows) or not InMemory.takes(X):
            return None
        opened = UncodedTable.open(X, y, self.categorical_features, self, self.task)
        if self.max_bins == "auto" and opened.target.n_outputs > MANY_CLASSES:
            return None
        limit = bytes_of(self.memory_limit)
        source = InMemory(X, opened.target)
        try:
            return LocalBlocks(source, opened.nominal, self.task, max_bins, limit, self.n_jobs)
        except (TypeError, ValueError):
            return None  # what is wrong is better said of the whole table than of a batch
        except InputError as error:
            if "memory_limit" in str(error):
                raise
            return None

    def takes_blocks(self) -> bool:
        """Whether it is fitted to all rows of blocks: not if every cut is asked for, or more than a test."""
        plain = self.keep is None and self.feature_groups is None and not self.n_half_samples
        few_bins = self.max_bins == "auto" or self.max_bins <= MAX_VALUES
        return bool(plain and few_bins and self.dependence in ("auto", "none"))

    def _score(self, table: Table | CodedBlocks, weights: NDArray[np.float64] | None) -> Scores:
        if self.minimal and self.redundancy is None:
            raise ValueError(
                "minimal=True keeps one feature of each group, and redundancy=None looks for none."
            )
        weights, seed, units = _scaled(weights), seed_of(self.random_state), self.units_
        n_rows = table.n_rows if weights is None else int(np.count_nonzero(weights))
        tests = self._tests(table, weights)
        table = tests.table  # of blocks, a sample of their rows
        n_tasks = self.n_estimators * (1 + 2 * self.n_half_samples)
        n_tasks += 0 if self.redundancy is None else STEPS
        with track(self, n_tasks, task="tree") as progress:
            tested = tests.run(weights, seed, progress)
            halves = self._halves(tests, weights, seed, progress)
            pvalues, adjusted = self._pvalues(tested.log_pvalues)
            relevant = adjusted <= self.alpha
            scores = np.where(tests.varies, -ndtri_exp(np.minimum(tested.log_pvalues, -1e-12)), 0.0)
            untested = self._untested(tested, tests.varies, n_rows, table.schema.names)
            members = units.best_members(-tested.by_column)
            redundant = np.full(table.n_columns, -1)
            if self.redundancy is not None:
                best_first = np.argsort(-scores, kind="stable")
                best_first = members[best_first[relevant[best_first]]]
                redundant = redundant_with(table, weights, best_first, self.redundancy, seed, progress)
        leaders = redundant[members]
        representative = self._representatives(tested.log_pvalues, relevant & (leaders < 0))
        learned = {
            "pvalues_": units.spread(pvalues, 1.0),
            "adjusted_pvalues_": units.spread(adjusted, 1.0),
            "test_pvalues_": {name: np.exp(logs) for name, logs in tested.by_test.items()},
            "untested_": untested,
            "relevant_": units.spread(relevant, False),
            "redundant_with_": units.spread(leaders, -1),
            "representative_": units.spread(representative, False),
            "gains_": tested.gains[:, 0].copy(),  # not all of them
            "expected_gains_": _mean(tested.gains[:, 1:]),
            "shadow_scores_": tested.shadow_scores,
            "stability_": selection_stability(halves) if len(halves) else None,
            "selection_frequencies_": halves.mean(axis=0) if len(halves) else None,
        }
        return Scores(scores, learned, by_unit=True, members=members)

    def _representatives(
        self, log_pvalues: NDArray[np.float64], kept: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """One feature of each group, at the error rate of what is left of the selection.

        Irrelevant features are hardly ever redundant. If only the redundant ones were left out, the share of
        false ones among the rest would grow; so a group counts as one discovery.
        """
        if self.error == "fdr" and kept.any():
            n_tested = np.count_nonzero(~np.isnan(log_pvalues))
            adjusted = adjusted_pvalues(np.exp(log_pvalues[kept]), "fdr") * (n_tested / kept.sum())
            passes = adjusted <= self.alpha
            if not passes.any():  # a group may be significant as a block, and not as one discovery
                passes[np.argmin(log_pvalues[kept])] = True
            kept = kept.copy()
            kept[kept] = passes
        return kept

    def _untested(
        self, tested: Tested, varies: NDArray[np.bool_], n_rows: int, names: tuple[str, ...] | None
    ) -> dict[int, str]:
        """Warn of columns without a test that are not constant, and return why each has none."""
        untested = np.isnan(tested.log_pvalues) & varies
        columns = np.flatnonzero(self.units_.spread(untested, False)).tolist()
        reasons = reasons_of(columns, tested, "it was hardly ever a split candidate")
        for sentence in nothing_left(reasons, names):
            warn_caller(sentence)
        others = [column for column, why in reasons.items() if not why.endswith(LEFT)]
        n_untested = len(set(self.units_.free_of_column[others].tolist()))
        if n_untested and n_rows < self.min_samples_split:
            warn_caller(
                f"No column was tested: there are {n_rows} rows (of a weight above 0), and a node needs "
                f"min_samples_split={self.min_samples_split}. Lower min_samples_split, or get more rows."
            )
        elif n_untested and tested.why is not None:
            warn_caller(f"{n_untested} of {len(untested)} columns were not tested: {tested.why}")
        elif n_untested:
            warn_caller(
                f"{n_untested} of {len(untested)} columns were split candidates too rarely, so they have "
                "no score: raise n_estimators or max_features."
            )
        return reasons

    def _tests(self, table: Table | CodedBlocks, weights: NDArray[np.float64] | None) -> ColumnTests:
        """The tests of the columns of a table."""
        forest = {
            "n_estimators": self.n_estimators,
            "max_features": self.max_features,
            "max_depth": self.max_depth,
            "min_samples_split": self.min_samples_split,
            "min_share": self.min_share,
            "nominal_splits": self.nominal_splits,
            "n_jobs": self.n_jobs,
        }
        if isinstance(table, CodedBlocks):
            if (share := share_between_blocks(table)) > _UNEVEN:
                warn_caller(
                    f"The parts of X (files or partitions) differ in the target, by {100 * share:.0f} % of"
                    " its variance, and shadows are permuted within parts, so that less is found: shuffle"
                    " the rows, or save them as one file."
                )
            order, first = deduplicate_blocks(table)
            sample, options = table.sample, (self.units_, self.n_shadows, self.interactions)
            return BlockTests(sample, order, first, *options, forest, blocks=table)
        order, first = deduplicate_columns(table, weights)
        return ColumnTests(table, order, first, self.units_, self.n_shadows, self.interactions, forest)

    def _pvalues(self, log_pvalues: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """P-values, plain and adjusted; untested columns have 1 and do not count."""
        tested = ~np.isnan(log_pvalues)
        pvalues, adjusted = np.ones((2, len(log_pvalues)))
        if tested.any():
            p = pvalues[tested] = np.exp(log_pvalues[tested])
            # The forest's hold on average over the columns: enough for Bonferroni, not for Holm.
            adjusted[tested] = adjusted_pvalues(p, self.error)
        return pvalues, adjusted

    def _halves(
        self,
        tests: ColumnTests,
        weights: NDArray[np.float64] | None,
        seed: int,
        progress: Progress,
    ) -> NDArray[np.bool_]:
        """What is relevant in either half of the rows, for every halving; a weight of 0 leaves a row out."""
        chosen, table = [], tests.table
        whole = np.ones(table.n_rows) if weights is None else weights
        for k in range(self.n_half_samples):
            rng = np.random.default_rng([seed, k])
            if table.dependence is not None:
                in_half = half_of(table, whole, rng)
            else:  # every other row of each class, or of neighbours in a quantity, in random order
                strata = table.target.strata(max(1, table.n_rows // 4))
                shuffled = np.lexsort((rng.random(table.n_rows), strata, whole > 0))
                in_half = np.zeros(table.n_rows)
                in_half[shuffled[::2]] = 1
            for half in (in_half, 1 - in_half):
                own_seed = int(rng.integers(2**63))
                tested = tests.run(whole * half, own_seed, progress)
                passed = self._pvalues(tested.log_pvalues)[1] <= self.alpha
                chosen.append(self.units_.spread(passed, False))
        return np.array(chosen, dtype=bool).reshape(-1, table.n_columns)

    def _own_support(self) -> NDArray[np.bool_]:
        return self.representative_ if self.minimal else self.relevant_

    def _best(self, size: int) -> NDArray[np.bool_]:
        # If one of each group is wanted, the others come after those.
        return self._best_with_last(~(self.representative_ & self.minimal), size)


def _scaled(weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Weights with an average of one where they are not 0, so that their unit does not matter."""
    if weights is None:
        return None
    weights = weights / weights[weights > 0].mean()
    return None if np.allclose(weights, 1) else weights  # rounding must not decide what may be split


def _mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean of what is known in each row."""
    known = ~np.isnan(values)
    sums = np.where(known, values, 0.0).sum(axis=1)
    return np.divide(sums, known.sum(axis=1), out=np.full(len(values), np.nan), where=known.any(axis=1))
