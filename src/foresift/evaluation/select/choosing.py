"""What `select` does with rows: the selector of a method, what it keeps, and its repetitions."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from foresift.data.sklearn_compat import seeded
from foresift.data.unread import refuse_unread
from foresift.engine.open_blocks import comes_in_batches
from foresift.errors import no_such, warn_caller
from foresift.evaluation.registry import METHODS, is_slow
from foresift.evaluation.select.assess import Assessment, assess, numbers_rows
from foresift.evaluation.select.by_loss import Choice
from foresift.evaluation.select.fitted import Rows, has_test, is_ours, is_relevant, ranked
from foresift.evaluation.select.models import Model
from foresift.evaluation.select.plan import Plan, plan_for
from foresift.evaluation.select.resample import Resampled, resample, samples_for
from foresift.evaluation.select.rows_of_folds import drawn_rows, why_not

__all__ = [
    "Tell",
    "Work",
    "count_copies",
    "make",
    "name_of",
    "require_arguments",
    "require_goal",
    "require_no_rows",
    "require_rows",
    "require_size",
    "require_task",
]

# Told what is being done, of how many steps, and how many more are done: 0 of them when it begins.
Tell = Callable[[str, int, int], object]
MIN_VALUES = 20  # of a column that tells rows apart
USUAL = {"alpha": 0.1, "error": "fdr"}
GOALS = ("compact", "all")  # of the method auto
# Up to so many columns that are not redundant are kept, whatever the curve says. This number and
# `by_loss.WITHIN` were chosen by benchmarks/size_rule.py.
FEW = 30


def count_copies(X: NDArray[Any], y: NDArray[Any]) -> int:
    """Count the rows that are copies of others, unless rows may well be equal by coincidence.

    Rows of a few categories are often equal. They are not where a column has a value of its own in at least
    half of the different rows, and 20 different ones.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Numbers, or codes of the values.
    y : ndarray of shape (n,)
        The target.

    Returns
    -------
    int
        How many rows would have to go to leave each only once.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.arange(60.0).reshape(30, 2)[[*range(30), 0]], np.zeros(31, dtype=int)
    >>> count_copies(X, y), count_copies(X % 5, y)
    (1, 0)
    """
    whole = {hash((row.tobytes(), label)) for row, label in zip(X, y.tolist(), strict=True)}
    n_copies = len(y) - len(whole)
    own = max(len(whole) / 2, MIN_VALUES)
    if n_copies and any(len(np.unique(column)) >= own for column in X.T):
        return n_copies
    return 0


def name_of(method: Any) -> str:
    """Return the key of a method, or the class of one that is a selector."""
    return method if isinstance(method, str) else type(method).__name__


def make(
    method: Any,
    n_wanted: int | None,
    alpha: float,
    error: str,
    parameters: Mapping[str, Any],
    seed: int,
    n_jobs: int | None,
    keep: Any = None,
    feature_groups: Any = None,
) -> Any:
    """Make the selector of a method; `parameters` go before what we would take."""
    if not isinstance(parameters, Mapping):
        raise TypeError(f"parameters is {parameters!r}: give a mapping of names to values.")
    units = {"keep": keep, "feature_groups": feature_groups}
    units = {key: value for key, value in units.items() if value is not None}
    if not (isinstance(method, str) or is_ours(method)) and units:
        raise ValueError(
            f"{next(iter(units))} is for selectors of foresift, and {name_of(method)} is none: leave it out,"
            " or use a method such as auto."
        )
    parameters = {**units, **parameters}
    if parameters.get("candidates") is not None:
        parameters["candidates"] = [_candidate(one) for one in parameters["candidates"]]
    if method == "auto" and "n_features_to_select" in parameters:
        raise ValueError("Pass n_features_to_select to select itself, not in parameters.")
    asked = [key for key, value in {"alpha": alpha, "error": error}.items() if value != USUAL[key]]
    if not isinstance(method, str):
        return _given(method, n_wanted, asked, parameters, seed, n_jobs)
    selector = METHODS["relevance" if method == "auto" else method].make()
    known = selector.get_params()
    given = {"random_state": seed, "n_jobs": n_jobs, "alpha": alpha, "error": error}
    if method != "auto":
        given["n_features_to_select"] = n_wanted
    if not hasattr(selector, "redundancy"):
        given.pop("alpha")  # of Pearson's and others it means something else
    given = {key: value for key, value in given.items() if key in known}
    why = f"{method} does not test columns. Use auto or relevance."
    _warn_of_no_test([key for key in asked if key not in given], why)
    return _set(selector, given, parameters)


def _candidate(given: Any) -> Any:
    """Read a candidate of the method best: the key of a method, or what the selector takes."""
    if not isinstance(given, str):
        return given
    fast = [key for key, method in METHODS.items() if not method.is_slow and key != "best"]
    if given not in METHODS:
        raise no_such("method", given, fast, f"Candidates may be: {', '.join(fast)}.")
    if given not in fast:
        raise ValueError(f"The candidate {given} cannot be repeated in folds: use {', '.join(fast)}.")
    return given, METHODS[given].make()


def _given(
    method: Any,
    n_wanted: int | None,
    asked: list[str],
    parameters: Mapping[str, Any],
    seed: int,
    n_jobs: int | None,
) -> Any:
    """Clone a selector: its own parameters stay, but threads and seeds that it leaves open are ours."""
    selector = clone(method)
    ours = {"random_state": seed, "n_jobs": n_jobs}
    given = {key: value for key, value in ours.items() if selector.get_params().get(key, 0) is None}
    wanted = {} if n_wanted is None else {"n_features_to_select": n_wanted}
    it = "it" if len(asked) == 1 else "them"
    _warn_of_no_test(asked, f"set {it} where {name_of(method)} is made.")
    return seeded(_set(selector, given, {**wanted, **parameters}), seed)


def _set(selector: Any, given: Mapping[str, Any], parameters: Mapping[str, Any]) -> Any:
    known = selector.get_params()
    if unknown := sorted(set(parameters) - set(known)):
        name = type(selector).__name__
        raise ValueError(f"{name} has no parameter {unknown[0]!r}; it has {', '.join(sorted(known))}.")
    return selector.set_params(**{**given, **parameters})


def _warn_of_no_test(ignored: list[str], why: str) -> None:
    """Say which part of a test changes nothing, though it was asked for."""
    if ignored:
        have = "has" if len(ignored) == 1 else "have"
        warn_caller(f"{' and '.join(ignored)} {have} no effect: {why}")


def require_arguments(X: Any, y: Any, method: Any) -> None:
    """Refuse what is often given by mistake, and say what to give."""
    if not comes_in_batches(X, y):
        _require_values(X, y)
    if isinstance(method, type):
        name = method.__name__
        raise TypeError(f"The method {name} is a class: make one, {name}().")
    if isinstance(method, str):
        if method not in ("auto", *METHODS):
            raise no_such("method", method, METHODS, f"There are: auto, {', '.join(METHODS)}.")
    elif not all(hasattr(method, name) for name in ("fit", "get_support", "get_params")):
        raise TypeError(
            f"method is a key such as 'auto', or a selector with fit and get_support, not {method!r}."
        )


def _require_values(X: Any, y: Any) -> None:
    refuse_unread(X, "X")
    if y is None:  # optional only so that a table of foresift.read, which holds it, gets a better answer
        raise TypeError("y is missing: pass the class of every row, or a quantity, select(X, y).")
    if isinstance(y, str):
        raise TypeError(
            "y is the target of every row, not the name of a column: pass the values, such as"
            f" select(X.drop(columns={y!r}), X[{y!r}])."
        )


def require_no_rows(sample_weight: Any, groups: Any, time: Any, cv: Any) -> None:
    """Refuse what says something of every row, of rows that come in batches."""
    given = {"sample_weight": sample_weight, "groups": groups, "time": time}
    given["cv by row numbers"] = cv if numbers_rows(cv) else None
    if named := next((name for name, value in given.items() if value is not None), ""):
        raise ValueError(
            f"{named} needs all rows in memory, but X is read in batches: read it first, or leave it out."
        )


def require_task(method: Any, task: str) -> None:
    """Refuse a method that does not take a quantity, and name the nearest that does."""
    if isinstance(method, str) and method != "auto" and not METHODS[method].takes(task):
        raise ValueError(
            f"The method {method} takes classes only, but the target is a quantity: use"
            f" {METHODS[method].instead}, or auto."
        )


def require_size(n_wanted: Any, n_columns: int, method: str, which: str = "to choose from") -> None:
    """Refuse a number of columns that cannot be kept; methods know what else they take."""
    whole = isinstance(n_wanted, numbers.Integral) and not isinstance(n_wanted, bool)
    if n_wanted is None or (not whole and method != "auto"):
        return
    if not whole or not 1 <= n_wanted <= n_columns:
        columns = f"{n_columns} columns" if n_columns != 1 else "1 column"
        raise ValueError(
            f"n_features_to_select is {n_wanted!r}, but there are {columns} {which}: use a whole "
            f"number from 1 to {n_columns}, or None to leave it to the method."
        )


def require_goal(goal: str, method: str, n_wanted: int | None) -> None:
    """Refuse a goal that does not exist, or that the method cannot have."""
    if goal not in GOALS:
        raise ValueError(f"goal must be one of {', '.join(GOALS)}, but is {goal!r}.")
    if goal == GOALS[0]:
        return
    if method != "auto":
        raise ValueError(
            f"goal={goal!r} is for the method auto, not for {method}: leave it out, or use auto."
        )
    if n_wanted is not None:
        raise ValueError(
            f"goal={goal!r} keeps every relevant column, so n_features_to_select cannot be {n_wanted} too:"
            " leave out one of them."
        )


def require_rows(selector: Any, n_rows: int) -> None:
    """Refuse a table on which the test of relevance cannot try a single column."""
    least = getattr(selector, "min_samples_split", 0)
    if "error" in selector.get_params() and n_rows < least:
        rows = f"{n_rows} rows are" if n_rows != 1 else "1 row is"
        raise ValueError(
            f"{rows} too few for a test of relevance, which needs at least {least}: get more rows, or rank "
            'the columns without a test (method "info-gain").'
        )


@dataclass(frozen=True, eq=False)
class Work:
    """The parts of a selection that look at rows."""

    rows: Rows
    selector: Any
    method: str
    goal: str
    n_wanted: int | None
    seed: int
    n_jobs: int | None
    tell: Tell
    model: Model = field(default_factory=Model)
    cv: Any = None

    def keep(self, fitted: Any, choice: Choice | None) -> NDArray[np.intp]:
        """Return the columns that the method keeps; of "auto" as its goal says.

        Where no curve says how many are needed, redundant ones are left out. Where one does, it decides how
        many redundant ones are added: the curve of a small table is too rough to leave out others, unless
        there are many. Of a quantity more columns are kept than are relevant if they predict better than
        none, and the relevant ones significantly worse: those that matter only together may fail the test. If
        no column passes the test, but the best of them predict better than none, those are kept. The
        sentences say so. All this counts groups of columns as one, and not those that are kept by request,
        which are always there.
        """
        if self.method != "auto":
            # If nothing is relevant, a selector keeps the best all the same, and we do not.
            by_test = has_test(fitted) and fitted.n_features_to_select is None
            if not by_test:
                return np.flatnonzero(fitted.get_support())
            return np.flatnonzero(fitted.units_.spread(fitted._own_support()[fitted._members], True))
        return ranked(fitted).best(self._n_best(fitted, choice))

    def _n_best(self, fitted: Any, choice: Choice | None) -> int:
        """How many units "auto" keeps."""
        if self.n_wanted is not None:
            return self.n_wanted
        n_relevant = int(is_relevant(fitted).sum())
        if self.goal == "all":
            return n_relevant
        n_representative = int(is_relevant(fitted, representative=True).sum())
        if choice is None:
            return n_representative
        if not n_relevant:
            return choice.size if choice.predicts else 0
        if fitted.task_ == "regression" and choice.predicts and n_relevant <= choice.worse and self._may_add:
            return choice.size
        return min(max(choice.size, min(n_representative, FEW)), n_relevant)

    @property
    def _may_add(self) -> bool:
        """Whether columns that fail the test may be kept; groups and stretches of time are too few to say."""
        return self.rows.table.dependence is None

    @property
    def by_curve(self) -> bool:
        """Whether the number of columns is chosen by a curve."""
        return self.method == "auto" and self.n_wanted is None and self.goal == "compact"

    def why_unchecked(self) -> str | None:
        """Say why there is no check, or None if there can be one."""
        if is_slow(self.selector):
            return f"{self.method} would take too long to repeat in folds"
        return why_not(self.rows)

    def assess(self) -> Assessment | None:
        """Score sizes, and the selection beside all columns."""
        plan = self._plan
        n_steps = len(plan.lots(by_curve=self.by_curve))
        self.tell("checking", n_steps, 0)
        some = self._some_rows()
        found = assess(
            some,
            self.selector,
            self.keep,
            plan,
            self.model,
            by_curve=self.by_curve,
            cv=self.cv,
            seed=self.seed,
            n_jobs=self.n_jobs,
            tell=lambda: self.tell("checking", n_steps, 1),
        )
        return (
            None
            if found is None
            else replace(found, n_copies=count_copies(some.table.codes(), some.table.target.values()))
        )

    def copies(self) -> tuple[int, int]:
        """How many of how many rows are copies of others, where no check says so."""
        some = self._some_rows()
        return count_copies(some.table.codes(), some.table.target.values()), len(some)

    def _some_rows(self) -> Rows:
        """All rows, or of a large table some: twice what the check uses, as of rare classes none are."""
        n_rows, n_used = len(self.rows), 2 * self._plan.n_rows
        if self._plan.in_parts or n_rows <= n_used or numbers_rows(self.cv):
            return self.rows
        rng = np.random.default_rng([self.seed, 1])
        return self.rows.take(drawn_rows(self.rows, np.arange(n_rows), n_used, rng))

    def resample(self) -> Resampled | None:
        """Repeat a test of relevance on parts of the rows."""
        if not has_test(self.selector) or len(self.rows) < 2 * self.selector.min_samples_split:
            return None
        n_samples, _ = samples_for(self._n_rows, self.rows.table.n_columns)
        self.tell("repeating", n_samples, 0)
        target = self.rows.table.target
        n_jobs, n_jobs_each = self._plan.jobs(self.n_jobs)
        return resample(
            lambda selector, rows: self.rows.take(rows).fit(selector),
            self.selector,
            target.values() if target.task == "regression" else self.rows.strata,
            self.rows.table.dependence,
            n_all=self._n_rows,
            tree_share=self._plan.tree_share,
            seed=self.seed,
            n_jobs=n_jobs,
            n_jobs_each=n_jobs_each,
            tell=lambda: self.tell("repeating", n_samples, 1),
        )

    @property
    def _plan(self) -> Plan:
        return plan_for(self._n_rows, self.rows.table.n_columns)

    @property
    def _n_rows(self) -> int:
        """All rows, of which those at hand may be a sample."""
        return len(self.rows) if self.rows.blocks is None else self.rows.blocks.n_rows
