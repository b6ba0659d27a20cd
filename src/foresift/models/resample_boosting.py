"""Boosting by resampling, for classifiers without sample weights: AdaBoost and Arc-x4."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foresift.data.sklearn_compat import StrOptions, fit_context, seed_of, track
from foresift.errors import warn_caller
from foresift.models.members import VotingEnsemble, draw_rows, fit_member

__all__ = ["ResampleBoostClassifier"]

_MAX_RESETS = 25  # consecutive restarts after members no better than guessing
_ROUNDING = 1e-12


class ResampleBoostClassifier(VotingEnsemble):
    """Boosting by resampling: each member is fitted mostly to rows that earlier members misclassified.

    Works with any classifier, because rows are drawn instead of weighted. AdaBoost (Freund & Schapire)
    multiplies the probability of the rows that the last member misclassified by (1 - e) / e, where e is their
    total probability, and the member votes with the weight log2((1 - e) / e). Arc-x4 (Breiman) draws a row
    that was misclassified m times so far with a probability proportional to 1 + m^4, and all members have
    equal votes.

    Parameters
    ----------
    estimator : classifier, default=None
        The members are clones of it; None is `C45Classifier()`.
    n_estimators : int, default=25
        Maximum number of members.
    update : {"adaboost", "arc-x4"}, default="adaboost"
        How the probabilities of the rows change.
    random_state : int, RandomState or None, default=None
        Draws rows, and seeds members whose own `random_state` is None.

    Attributes
    ----------
    estimators_ : list of classifiers
        The members.
    estimator_weights_ : ndarray of shape (n_members,)
        Their votes, which sum to one.
    estimator_errors_ : ndarray of shape (n_members,)
        Their errors, weighted by the probabilities of the rows.
    estimators_features_ : list of ndarray
        The columns of each member: all of them.
    classes_, n_features_in_, feature_names_in_, schema_
        Class labels; number, names and categories of the columns.

    See Also
    --------
    sklearn.ensemble.AdaBoostClassifier : Weights rows instead of drawing them.

    Notes
    -----
    AdaBoost does not define two cases. A member without an error has the vote of half an error in n rows,
    log2(2n - 1), instead of an infinite one, and the next one starts again from the initial probabilities. A
    member with an error of 1/2 or more is dropped, and another is fitted to a new draw from the initial
    probabilities; after 25 of these in a row boosting ends early with a warning. If there is no member by
    then, the last one is kept.

    The initial probabilities, and with Arc-x4 all of them, are proportional to `sample_weight`.

    Metadata routing ends here: `set_fit_request` says whether `sample_weight` is wanted, requests of the
    estimators inside are not read.

    References
    ----------
    Y. Freund and R. Schapire, "Experiments with a new boosting algorithm", ICML 1996.
    L. Breiman, "Arcing classifiers", Annals of Statistics 26, 1998.
    H. Bommaganti, master's thesis, University of Minnesota, section 2.4.2.

    Examples
    --------
    >>> from foresift import ResampleBoostClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> boost = ResampleBoostClassifier(n_estimators=10, random_state=0).fit(X[::2], y[::2])
    >>> boost.score(X[1::2], y[1::2]) > 0.93
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **VotingEnsemble._parameter_constraints,
        "update": [StrOptions({"adaboost", "arc-x4"})],
    }

    def __init__(self, estimator=None, n_estimators=25, *, update="adaboost", random_state=None):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.update = update
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)  # the estimator checks its own parameters
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the members, one after another.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The columns, in any form that the estimator accepts.
        y : array-like of shape (n,)
            The class of every row.
        sample_weight : array-like of shape (n,), default=None
            The initial probabilities of the rows, not normalised.

        Returns
        -------
        ResampleBoostClassifier
            The fitted estimator itself.
        """
        data, first, _ = self._open(X, y, sample_weight)
        rng = np.random.default_rng(seed_of(self.random_state))
        rounds = _Rounds(first, arcing=self.update == "arc-x4")
        with track(self, self.n_estimators, task="member", X=X, y=y) as progress:
            while len(rounds.members) < self.n_estimators and rounds.n_resets < _MAX_RESETS:
                times = draw_rows(rng, rounds.shares)
                member = fit_member(data, None, times, seed=int(rng.integers(2**63)))
                probabilities = data.outputs(member, None)
                kept = rounds.add(member, probabilities.argmax(axis=1) != data.table.target.codes)
                if kept and progress.advance():
                    break
        if rounds.n_resets == _MAX_RESETS:
            warn_caller(
                f"Boosting ended with {max(1, len(rounds.members))} of {self.n_estimators} members:"
                f" {_MAX_RESETS} in a row misclassified half of the rows or more. Use a stronger estimator,"
                " or update='arc-x4'."
            )
        self.estimators_, self.estimator_errors_, votes = rounds.result()
        self.estimator_weights_ = votes / votes.sum()
        self.estimators_features_ = [np.arange(data.table.n_columns)] * len(self.estimators_)
        return self


class _Rounds:
    """The probabilities of the rows in every round, and the members kept so far."""

    def __init__(self, first: NDArray[np.float64], *, arcing: bool) -> None:
        self.shares = self.first = first
        self.n_resets = 0  # consecutive ones
        self.members: list[Any] = []
        self._arcing = arcing
        self._times_wrong = np.zeros(len(first))
        self._errors: list[float] = []
        self._votes: list[float] = []
        self._fallback: tuple[Any, float] | None = None  # used if no member is kept

    def add(self, member: Any, wrong: NDArray[np.bool_]) -> bool:
        """Keep or drop a member, set the probabilities of the next round, and return whether it was kept."""
        error = float(self.shares @ wrong)
        if self._arcing:
            self._keep(member, error, 1.0)
            self._times_wrong += wrong
            shares = self.first * (1 + self._times_wrong**4)
            self.shares = shares / shares.sum()
            return True
        if error >= 0.5 - _ROUNDING:  # the same member again would have an error of exactly 1/2
            self.n_resets += 1
            self.shares, self._fallback = self.first, (member, error)
            return False
        self.n_resets = 0
        if error == 0:
            self._keep(member, error, np.log2(2 * np.count_nonzero(self.first) - 1))
            self.shares = self.first
            return True
        factor = (1 - error) / error
        self._keep(member, error, np.log2(factor))
        shares = self.shares * np.where(wrong, factor, 1.0)
        self.shares = shares / shares.sum()
        return True

    def result(self) -> tuple[list[Any], NDArray[np.float64], NDArray[np.float64]]:
        """Members, at least one, their errors and their votes."""
        if not self.members and self._fallback is not None:
            self._keep(*self._fallback, 1.0)
        return self.members, np.array(self._errors), np.array(self._votes)

    def _keep(self, member: Any, error: float, vote: float) -> None:
        self.members.append(member)
        self._errors.append(error)
        self._votes.append(float(vote))
