"""Several rankings made one: the ranks that any selectors give the columns, combined, and how they agree."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from foresift.data.sklearn_compat import Interval, StrOptions, seed_of, seeded
from foresift.data.slices import TableOfX
from foresift.data.table import Table
from foresift.errors import warn_caller
from foresift.models.subset_models import fit_plain, read_alike
from foresift.selectors.base import RankingSelector, Scores, with_task, with_units
from foresift.selectors.units import Units
from foresift.stats.concordance import (
    average_ranks,
    kendall_taus,
    kendall_w,
    places_in_top,
    robust_rank_scores,
)

__all__ = ["AggregateSelector", "ranks_of"]

_SIGNIFICANT = 0.05


class AggregateSelector(RankingSelector):
    """Combine the rankings of several selectors (future work of Grabczewski & Jankowski).

    Every selector is fitted to the data, and its ranks of the columns are combined into one ranking.
    Selectors may be foresift's, scikit-learn's or anyone's: all that have `ranking_`, `scores_`,
    `feature_importances_`, `coef_` or, at the least, `get_support` once they are fitted.

    Parameters
    ----------
    selectors : list of estimators, or of (name, estimator) pairs
        What ranks the columns; clones of them are fitted. In a pipeline the last step counts, and it must see
        the columns of X as they are.
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of best features to keep, or their fraction; choose the number by cross-validation. None:
        see `rule`.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity; "auto" takes numbers with fractions as a quantity.
    rule : {"mean-rank", "borda", "vote", "rra"}, default="mean-rank"
        How ranks become scores; ties go to the better mean rank.

        - "mean-rank": one more than the number of columns, less the mean rank. None keeps the better half.
        - "borda": each selector gives `top` points to its best column, one less to the next, and none to
          those behind place `top`. With all columns in, the order is that of the mean ranks. None keeps the
          better half.
        - "vote": the number of selectors that keep the column, or with `top`, that rank it so high. None
          keeps those that more than half of the selectors vote for.
        - "rra": robust rank aggregation (Kolde et al. 2012), -log10 of the rho score: the smallest chance,
          over all k, that the k-th best of as many random ranks is as good. A column needs the favour of a
          few selectors only. None keeps those of `pvalues_` up to 0.05.
    top : int or None, default=None
        Look only at this many places of every ranking; the columns behind are tied. None looks at all of
        them, and "vote" at what the selectors keep themselves.
    n_jobs : int, default=None
        How many selectors are fitted at a time, by joblib; -1 uses all cores. The outcome is the same.
    random_state : int, RandomState or None, default=None
        Seeds the selectors whose own `random_state` is None.
    keep : array-like or None, default=None
        Columns that are kept in any case, by name, number or mask: they are not ranked, and not counted.
    feature_groups : mapping, list, "one-hot" or None, default=None
        Columns that are ranked, and kept or dropped, as one: lists of columns or patterns of names, a label
        for every column, or the blocks of OneHotEncoder; see `foresift.selectors.units.read_units`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        See `rule`.
    pvalues_ : ndarray of shape (n_features,)
        rho times the number of selectors, at most 1: the probability of such a score if all ranks were random
        and independent, on the safe side. Selectors fitted to the same data are not independent. Only if
        rule="rra".
    ranks_ : ndarray of shape (n_selectors, n_features)
        Ranks by each selector: 1 is the best, equal scores share the mean of their ranks, NaN ranks last.
        Groups are ranked by their best columns, whatever their size; NaN for columns kept by request.
    agreement_ : float
        Kendall's W of all rankings, corrected for ties: from 0, none, to 1, the same; NaN if all are tied.
    agreements_ : ndarray of shape (n_selectors, n_selectors)
        Kendall's tau-b of any two rankings, from -1 to 1; NaN for one that ties all columns. It is
        worked out when asked for.
    selectors_ : list of estimators
        The fitted selectors.
    selector_names_ : list of str
        Their names, as given or by type.
    ranking_ : ndarray of shape (n_features,)
        1 is the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    See Also
    --------
    ranks_of : The ranks of one fitted selector.

    Notes
    -----
    `ranking_` is read first; where neighbours in it have the same `scores_`, they are tied. Of `coef_` the
    absolute values count, summed over the classes. A selector that says only what it keeps ranks those
    columns first and the others second. Weights of rows go to the selectors that take them; a warning names
    the others.

    Metadata routing ends here: `set_fit_request` says which of `sample_weight`, `groups` and `time` are
    wanted, requests of the estimators inside are not read.

    Examples
    --------
    >>> from foresift import AggregateSelector, FScoreSelector, InfoGainSelector
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import SelectKBest
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = AggregateSelector([FScoreSelector(), InfoGainSelector(), SelectKBest(k=2)]).fit(X, y)
    >>> selector.ranks_
    array([[3. , 4. , 1. , 2. ],
           [3. , 4. , 1.5, 1.5],
           [3. , 4. , 1. , 2. ]])
    >>> selector.ranking_, round(selector.agreement_, 3)
    (array([3, 4, 1, 2]), 0.977)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankingSelector._parameter_constraints,
        "selectors": [list, tuple],
        "rule": [StrOptions({"mean-rank", "borda", "vote", "rra"})],
        "top": [Interval(numbers.Integral, 1, None, closed="left"), None],
        "n_jobs": [numbers.Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        selectors,
        n_features_to_select=None,
        *,
        task="auto",
        rule="mean-rank",
        top=None,
        n_jobs=None,
        random_state=None,
        keep=None,
        feature_groups=None,
    ):
        self.selectors = selectors
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.rule = rule
        self.top = top
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.keep = keep
        self.feature_groups = feature_groups

    def takes(self, table: Table) -> bool:
        """Whether all selectors can be fitted to coded columns."""
        return all(self._on_codes(member, table) for _, member in _named(self.selectors))

    def _on_codes(self, member: Any, table: Table) -> bool:
        """Whether a selector reads X as the table was read, and needs no more of it."""
        ours = isinstance(member, RankingSelector)
        return ours and read_alike(member.reading_options, self.reading_options) and member.takes(table)

    def _validate_params(self) -> None:
        super()._validate_params()
        _named(self.selectors)  # says what is wrong with them

    def _score(self, data: TableOfX, weights: NDArray[np.float64] | None) -> Scores:
        names, members = zip(*_named(self.selectors), strict=True)
        fitted = self._fit_members(names, members, data, weights)
        pairs, units = list(zip(fitted, names, strict=True)), self.units_
        ranks = np.stack([_ranks_of_units(ranks_of(*pair, data.n_columns), pair[0], units) for pair in pairs])
        scores, learned = self._combine(ranks, pairs)
        if "pvalues_" in learned:
            learned["pvalues_"] = units.spread(learned["pvalues_"], np.nan)
        learned |= {
            "selector_names_": list(names),
            "selectors_": fitted,
            "ranks_": np.stack([units.spread(row, np.nan) for row in ranks]),
            "agreement_": kendall_w(ranks),
        }
        mean_ranks = average_ranks(-ranks.mean(axis=0))
        order = np.lexsort((mean_ranks, average_ranks(scores)))
        ranking = np.empty(units.n_free, dtype=np.intp)
        ranking[order] = np.arange(1, units.n_free + 1)
        return Scores(scores, learned, ranking, by_unit=True)

    def _combine(
        self, ranks: NDArray[np.float64], pairs: list[tuple[Any, str]]
    ) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Scores by the rule, and the p-values if it has any."""
        n_selectors, n_features = ranks.shape
        top = n_features if self.top is None else min(self.top, n_features)
        if self.rule == "vote" and self.top is None:
            kept = [_kept(*pair, self.units_.n_columns).astype(np.float64) for pair in pairs]
            votes = [row[self.units_.best_members(row)] for row in kept]
            return np.sum(votes, axis=0, dtype=np.float64), {}
        if self.rule in ("borda", "vote"):
            inside, points = np.sum([places_in_top(row, top) for row in ranks], axis=0)
            return np.asarray(points if self.rule == "borda" else inside), {}
        behind = ranks > top
        if self.rule == "mean-rank":
            n_inside = n_features - behind.sum(axis=1, keepdims=True)
            places = np.where(behind, (n_inside + 1 + n_features) / 2, ranks)
            return np.asarray(n_features + 1 - places.mean(axis=0)), {}
        rho = robust_rank_scores(np.where(behind, 1.0, ranks / n_features))
        scores = 0.0 - np.log10(np.maximum(rho, np.finfo(np.float64).tiny))  # 0, not -0
        return scores, {"pvalues_": np.minimum(rho * n_selectors, 1.0)}

    def _own_support(self) -> NDArray[np.bool_]:
        if self.rule == "vote":
            return self.scores_ > len(self.ranks_) / 2
        if self.rule == "rra":
            return self.pvalues_ <= _SIGNIFICANT
        return self._best_half()

    def _fit_members(
        self,
        names: tuple[str, ...],
        members: tuple[Any, ...],
        data: TableOfX,
        weights: NDArray[np.float64] | None,
    ) -> list[Any]:
        rng = np.random.default_rng(seed_of(self.random_state))
        clones = [with_task(seeded(clone(member), rng), data.target.task) for member in members]
        clones = [with_units(member, self.units_) if _ranks_units(member) else member for member in clones]
        weighted = [weights is not None and has_fit_parameter(member, "sample_weight") for member in clones]
        if weights is not None and not all(weighted):
            blind = [name for name, takes in zip(names, weighted, strict=True) if not takes]
            warn_caller(
                f"sample_weight is not taken by {', '.join(blind)}: for them every row counts the same."
            )
        labels = data.target.values()

        def fit(member: Any, own: NDArray[np.float64] | None) -> Any:
            if self._on_codes(member, data):
                return member.fit_table(data, own)
            return fit_plain(member, data.X, labels, own, data.dependence)

        return Parallel(n_jobs=self.n_jobs, require="sharedmem")(  # the codes stay in this process
            delayed(fit)(member, weights if takes else None)
            for member, takes in zip(clones, weighted, strict=True)
        )

    @property
    def agreements_(self) -> NDArray[np.float64]:
        """Kendall's tau-b of any two rankings, from -1 to 1; NaN for one that ties all columns."""
        check_is_fitted(self)
        return kendall_taus(self.ranks_[:, self.units_.first])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            inputs = [get_tags(member).input_tags for _, member in _named(self.selectors)]
        except (AttributeError, TypeError, ValueError):  # fit will say what is wrong
            return tags
        tags.input_tags.sparse = all(member.sparse for member in inputs)
        tags.input_tags.allow_nan = all(member.allow_nan for member in inputs)
        return tags


def _ranks_units(member: Any) -> bool:
    """Whether a selector can rank units, and was not told which."""
    return isinstance(member, RankingSelector) and member.keep is None and member.feature_groups is None


def _ranks_of_units(ranks: NDArray[np.float64], fitted: Any, units: Units) -> NDArray[np.float64]:
    """Ranks of the free units among each other: by their best columns, but not by their sizes.

    A selector that ranks columns has the units ranked by the chance that the best of as many random ranks is
    as good.
    """
    if units.trivial:
        return ranks
    best = np.array([ranks[columns].min() for columns in units.members])
    if isinstance(fitted, RankingSelector) and np.array_equal(fitted.units_.of_column, units.of_column):
        return average_ranks(-best)
    sizes = np.array([len(columns) for columns in units.members])
    return average_ranks(sizes * np.log1p(-(best - 0.5) / len(ranks)))


def ranks_of(fitted: Any, name: str, n_features: int) -> NDArray[np.float64]:
    """Ranks that a fitted selector, or a model with importances, gives the columns.

    Parameters
    ----------
    fitted : estimator
        Read are `ranking_` (1 is the best), `scores_`, `feature_importances_` and `coef_` (absolute values,
        summed over the classes), of the estimator or of one inside (`best_estimator_`, `estimator_`, the last
        step of a pipeline); if there are none, `get_support`.
    name : str
        What messages call it.
    n_features : int
        Number of columns.

    Returns
    -------
    ndarray of shape (n_features,)
        1 is the best; ties share the mean of their ranks.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0, 1, 0], [0, 2, 0]], [0, 1])
    >>> ranks_of(tree, "tree", 3)
    array([2.5, 1. , 2.5])
    """
    for owner in _insides(fitted):
        ranking = _read(owner, "ranking_", name, n_features)
        scores = _read(owner, "scores_", name, n_features)
        if ranking is not None:
            # Equal scores tie, but not a column that was kept with one that was not.
            kept = _read(owner, "support_", name, n_features)
            if scores is not None and kept is not None:
                scores = average_ranks(scores) + kept / 4
            return average_ranks(-ranking, scores)
        for attribute in ("feature_importances_", "coef_"):
            scores = _read(owner, attribute, name, n_features) if scores is None else scores
        if scores is not None:
            return average_ranks(scores)
    return average_ranks(_kept(fitted, name, n_features).astype(np.float64))


def _named(selectors: Any) -> list[tuple[str, Any]]:
    """Return (name, estimator) pairs: names as given, else by type, numbered where they repeat."""
    pairs = [pair if isinstance(pair, tuple) and len(pair) == 2 else (None, pair) for pair in selectors]
    wrong = [member for name, member in pairs if not hasattr(member, "fit") or isinstance(member, type)]
    if wrong or not pairs:
        what = f"contains {wrong[0]!r}" if wrong else "is empty"
        raise ValueError(
            f"selectors {what}: give a list of estimators, such as [InfoGainSelector(), SelectKBest()], or of"
            " (name, estimator) pairs."
        )
    for _, member in pairs:
        for parameter in ("keep", "feature_groups"):
            if isinstance(member, RankingSelector) and getattr(member, parameter) is not None:
                raise ValueError(
                    f"selectors contains a {type(member).__name__} with {parameter} of its own: set"
                    f" {parameter} of AggregateSelector instead, which goes for all of them."
                )
    given = [name or type(member).__name__ for name, member in pairs]
    often, seen = Counter(given), Counter[str]()
    names = []
    for name in given:
        seen[name] += 1
        names.append(f"{name}-{seen[name]}" if often[name] > 1 else name)
    return list(zip(names, (member for _, member in pairs), strict=True))


def _insides(fitted: Any) -> Iterator[Any]:
    """Yield an estimator and what it wraps, from outside in."""
    while fitted is not None:
        yield fitted
        if isinstance(fitted, Pipeline):
            fitted = fitted[-1]
        else:
            fitted = getattr(fitted, "best_estimator_", getattr(fitted, "estimator_", None))


def _read(owner: Any, attribute: str, name: str, n_features: int) -> NDArray[np.float64] | None:
    found: Any = getattr(owner, attribute, None)
    if sparse.issparse(found):
        found = found.toarray()
    if attribute == "coef_" and found is not None:
        found = np.abs(np.atleast_2d(found)).sum(axis=0)
    if np.ndim(found) != 1:  # something else of that name, such as the scores of LogisticRegressionCV
        return None
    if len(found) != n_features:
        raise ValueError(
            f"{name}: {attribute} has {len(found)} entries, but X has {n_features} columns: a selector must"
            " rank the columns of X as they are, not what a step before makes of them."
        )
    return np.asarray(found, dtype=np.float64)


def _kept(fitted: Any, name: str, n_features: int) -> NDArray[np.bool_]:
    for owner in _insides(fitted):
        kept: Any = owner.get_support() if hasattr(owner, "get_support") else getattr(owner, "support_", None)
        if np.shape(kept) == (n_features,) and np.asarray(kept).dtype == bool:  # SVC has another support_
            return np.asarray(kept)
    raise ValueError(
        f"{name}: a fitted {type(fitted).__name__} does not say which columns it keeps (get_support), nor how"
        " it ranks them (ranking_, scores_, feature_importances_, coef_). For rule='vote' set top."
    )
