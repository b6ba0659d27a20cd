"""Single-pass rankers: every column is scored by itself, by its information gain, or at random."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from foresift.data.coded_blocks import CodedBlocks
from foresift.data.sklearn_compat import StrOptions, seed_of
from foresift.data.table import Table
from foresift.data.weights import scale_up
from foresift.engine.block_gains import best_splits
from foresift.engine.root_split import root_gains, split_information
from foresift.selectors.base import RankingSelector, Scores

__all__ = ["InfoGainSelector", "RandomSelector"]

_NO_GAIN = 1e-12  # bits, or the share of the variance; less is rounding


class InfoGainSelector(RankingSelector):
    """Rank features by the information that their best split gives about the class (Bommaganti 3.4).

    A numeric column is cut in two where the gain is largest, a nominal one is split into one branch per
    category. For a quantity the score is the share of its variance that this split explains.

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of best features to keep, or their fraction; choose the number by cross-validation; None
        keeps all that gain anything, which a numeric column nearly always does by chance.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity; "auto" takes numbers with fractions as a quantity.
    ratio : bool, default=False
        Score by gain ratio: the gain over the information in the split itself, so that many categories are no
        advantage.
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
    scores_ : ndarray of shape (n_features,)
        Gain in bits, or the share of the variance; or gain ratio.
    gains_ : ndarray of shape (n_features,)
        Gain in bits, or the share of the variance.
    ranking_ : ndarray of shape (n_features,)
        1 is the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    See Also
    --------
    foresift.criteria.information_gain : The gain of one column, and how missing values enter it.
    foresift.criteria.gain_ratio : The gain ratio of one column.
    foresift.criteria.variance_reduction : The explained variance of one column.

    Notes
    -----
    On nominal columns without missing values the scores are those of InfoGainAttributeEval and
    GainRatioAttributeEval of Weka. Where values are missing, Weka spreads them over the categories or makes a
    category of them; here, as in C4.5, the gain on the known rows is multiplied by their share. Weka cuts
    numeric columns into any number of intervals first.

    Rows that come in batches all count, with codes of one byte: a numeric column has at most 254 cut points,
    quantiles of a sample, and of more than 255 categories the rare ones share a branch. A quantity enters by
    the means of 4,096 bins. Columns and quantities of no more values have exact scores.

    Examples
    --------
    >>> from foresift import InfoGainSelector
    >>> X = {"tears": ["less", "less", "more", "more"], "age": [20, 61, 35, 49]}
    >>> selector = InfoGainSelector(n_features_to_select=1).fit(X, ["none", "none", "soft", "hard"])
    >>> selector.scores_.round(3), selector.get_feature_names_out()
    (array([1. , 0.5]), array(['tears'], dtype=object))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankingSelector._parameter_constraints,
        "ratio": ["boolean"],
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
    }

    _needs_quantity = True

    def __init__(
        self,
        n_features_to_select=None,
        *,
        task="auto",
        ratio=False,
        categorical_features="from_dtype",
        keep=None,
        feature_groups=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.ratio = ratio
        self.categorical_features = categorical_features
        self.keep = keep
        self.feature_groups = feature_groups

    def takes_blocks(self) -> bool:
        """Whether it is fitted to all rows of blocks: not with groups, whose size is told by permutations."""
        return self.feature_groups is None

    def _score(self, table: Table | CodedBlocks, weights: NDArray[np.float64] | None) -> Scores:
        if self.ratio:
            table.target.require_classes(self, "set ratio=False")
        if isinstance(table, CodedBlocks):
            gains, information = best_splits(table)
            split = self.ratio & (gains > _NO_GAIN)
            scores = np.divide(gains, information, out=np.zeros_like(gains), where=split)
            return Scores(scores if self.ratio else gains, {"gains_": gains})
        weights = scale_up(weights)  # the engine tells ties apart on the scale of whole rows
        scores = gains = root_gains(table, weights)
        if self.ratio:
            split = np.flatnonzero(gains > _NO_GAIN)
            scores = np.zeros(table.n_columns)
            scores[split] = gains[split] / split_information(table, weights, split)
        return Scores(scores, {"gains_": gains})

    def _own_support(self) -> NDArray[np.bool_]:
        return self.gains_ > _NO_GAIN


class RandomSelector(RankingSelector):
    """Rank features at random, as a baseline (Bommaganti 3.3).

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of features to keep, or their fraction; choose the number by cross-validation; None keeps
        half of them.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity; "auto" takes numbers with fractions as a quantity.
    random_state : int, RandomState or None, default=None
        Draws the ranking.
    keep : array-like or None, default=None
        Columns that are kept in any case, by name, number or mask: they are not ranked, and not counted.
    feature_groups : mapping, list, "one-hot" or None, default=None
        Columns that are ranked, and kept or dropped, as one: lists of columns or patterns of names, a label
        for every column, or the blocks of OneHotEncoder; see `foresift.selectors.units.read_units`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Uniform random numbers.
    ranking_, support_ : ndarray of shape (n_features,)
        1 is the best; mask of the kept features.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    Examples
    --------
    >>> from foresift import RandomSelector
    >>> RandomSelector(random_state=0).fit([[1, 2, 3, 4], [5, 6, 7, 8]], [0, 1]).support_
    array([ True,  True, False, False])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankingSelector._parameter_constraints,
        "random_state": ["random_state"],
    }

    def __init__(
        self, n_features_to_select=None, *, task="auto", random_state=None, keep=None, feature_groups=None
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.random_state = random_state
        self.keep = keep
        self.feature_groups = feature_groups

    def _score(self, table: Table, weights: NDArray[np.float64] | None) -> Scores:
        rng = np.random.default_rng(seed_of(self.random_state))
        return Scores(rng.random(self.units_.n_free), by_unit=True)

    def _own_support(self) -> NDArray[np.bool_]:
        return self._best_half()
