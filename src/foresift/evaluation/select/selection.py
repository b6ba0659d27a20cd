"""One call from a table to an answer: which columns to keep, how sure that is, and what it costs."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from inspect import isfunction
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foresift.data.containers import read
from foresift.data.sklearn_compat import seed_of
from foresift.data.slices import take_columns
from foresift.data.weights import check_sample_weight
from foresift.engine.grow import one_blas_thread
from foresift.evaluation.registry import METHODS
from foresift.evaluation.select.about_target import facts_of, notes_on, prepared
from foresift.evaluation.select.certainty import certainty_of
from foresift.evaluation.select.choosing import (
    Tell,
    Work,
    make,
    name_of,
    require_arguments,
    require_goal,
    require_rows,
    require_size,
    require_task,
)
from foresift.evaluation.select.findings import Findings
from foresift.evaluation.select.fitted import fit_all, has_test
from foresift.evaluation.select.models import Model
from foresift.evaluation.select.sentences import note_on_own_rule, order_of_ranking, say

__all__ = ["Selection", "select"]

_TITLE = "Which columns matter"
_AUTO_TITLES = {  # by the goal; None for a given number of columns
    "compact": "relevance test, then the fewest relevant columns that predict as well",
    "all": "relevance test; every relevant column is kept",
    None: "relevance test",
}


@dataclass(frozen=True, eq=False)
class Selection:
    """What `select` found.

    Attributes
    ----------
    selector_ : selector
        Fitted to all rows.
    features : list
        The columns to keep, best first, as X labels them; may be empty. ``X[selection.features]`` are these
        columns of a frame, also if its labels are numbers or pairs.
    ranking : list of dict
        A row for every column, best first, as in `to_dict`: there a label is text.
    verdict : str
        The result in one short sentence.
    certainty : str or None
        How far it can be trusted: "clear", "provisional" or "too few rows"; None without a check.
    details : list of str
        What was done, and how sure it is: whole sentences.
    notes : list of str
        What a reader should be warned of: a check that was left out, a column that is too good.
    method, data : dict
        Key, title and parameters of the method; size of the table, its target and what was made of columns.
    curve, check, stability : dict or None
        Scores of the best 1, 2, 3 ... columns; the selection compared with all columns on held-out rows;
        how far selections from subsamples of the rows agree. None if they were not asked for.
    seed : int
        Of all randomness.
    passes : ndarray of bool of shape (n_repetitions, n_columns) or None
        Which columns passed the test again in each part of the rows, in the order of the table; None if it
        was not repeated. Not in `to_dict`.
    labels : list or None
        All columns as X labels them, in its order; None if they have no names. Not in `to_dict`.
    source, created : str
        Name of the file, if there was one, and when the selection was made.

    Examples
    --------
    >>> from foresift import select
    >>> from foresift.datasets import make_simple
    >>> X, y = make_simple(random_state=1)  # only the first two columns matter
    >>> selection = select(X, y, random_state=0)
    >>> sorted(selection.features), selection.transform(X).shape[1]
    (['x0', 'x1'], 2)
    >>> selection.to_frame().loc[:1, "kept"].tolist()
    [True, True]
    """

    selector_: Any
    ranking: list[dict[str, Any]]
    verdict: str
    details: list[str]
    notes: list[str]
    method: dict[str, Any]
    data: dict[str, Any]
    curve: dict[str, Any] | None
    check: dict[str, Any] | None
    stability: dict[str, Any] | None
    seed: int
    certainty: str | None = None
    passes: NDArray[np.bool_] | None = None
    labels: list[Any] | None = None
    source: str = ""
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @property
    def features(self) -> list[Any]:
        """Labels of the kept columns, best first."""
        label_of = dict(zip(self._names, self.labels or self._names, strict=True))
        return [label_of[row["name"]] for row in self.ranking if row["kept"]]

    @property
    def _names(self) -> list[str]:
        """All columns as text, in the order of the table; those that have no names are numbered."""
        return names_of(self.labels, len(self.ranking))

    @property
    def sentence(self) -> str:
        """The verdict, the details and the notes as one text."""
        return " ".join([self.verdict, *self.details, *self.notes])

    def __repr__(self) -> str:
        """Say in one line what was kept; `to_frame` has the ranking."""
        features = self.features
        shown = ", ".join(map(repr, features[:3])) + (", ..." if len(features) > 3 else "")
        kept = f"{len(features)} of {len(self.ranking)} columns kept"
        return f"<Selection by {self.method['key']}: {kept}{': ' if features else ''}{shown}>"

    def transform(self, X: Any) -> Any:
        """Keep the selected columns of X, in the order of X and in a container of its kind.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping
            With the columns that `select` saw; others do no harm if they have names. Names are compared as
            text: 0 is the column "0".

        Returns
        -------
        array-like, data frame, sparse matrix or mapping
            The kept columns.
        """
        kept = [row["name"] for row in self.ranking if row["kept"]]
        if not kept:
            raise ValueError("No column was kept, so nothing is left of X.")
        source = read(X)
        names: Sequence[str] | None = source.texts
        if names is None or (self.labels is None and source.names is None):
            if source.n_columns != len(self.ranking):
                raise ValueError(
                    f"X has {source.n_columns} columns, but the selection was made of {len(self.ranking)}."
                )
            names = self._names
        there, wanted = set(names), set(kept)
        lost = [name for name in kept if name not in there]
        if lost:
            raise ValueError(f"X lacks the column {lost[0]!r}, which was kept.")
        return take_columns(X, np.flatnonzero([name in wanted for name in names]))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists, strings and numbers, fit for JSON; None for no number."""
        return {
            "foresift": version("foresift"),
            "created": self.created,
            "source": self.source,
            "seed": self.seed,
            "data": self.data,
            "method": self.method,
            "verdict": self.verdict,
            "certainty": self.certainty,
            "details": self.details,
            "notes": self.notes,
            "features": self.ranking,
            "curve": self.curve,
            "check": self.check,
            "stability": self.stability,
        }

    def to_frame(self) -> Any:
        """Return the ranking as a data frame of pandas or, where that is not installed, of polars."""
        try:
            import pandas as frames
        except ImportError:  # pragma: no cover - the tests have pandas
            import polars as frames
        return frames.DataFrame(self.ranking)

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report as one HTML page, and write it if `path` is given."""
        from foresift.report import selection_html
        from foresift.report.output import atomic

        page = selection_html(self.to_dict())
        if path is not None:
            with atomic(Path(path)) as place:
                place.write_text(page, encoding="utf-8")
        return page

    def _repr_html_(self) -> str:
        from foresift.report import framed

        return framed(self.to_html(), _TITLE)

    def plot_ranking(self, **options: Any) -> Any:
        """Draw the scores with their intervals; see `foresift.plots`."""
        from foresift.report.plots.of_one import plot_ranking

        return plot_ranking(self.to_dict(), **options)

    def plot_curve(self, **options: Any) -> Any:
        """Draw the score of the best 1, 2, 3 ... columns; see `foresift.plots`."""
        from foresift.report.plots.of_one import plot_curve

        return plot_curve(self.to_dict(), **options)

    def plot_redundancy(self, **options: Any) -> Any:
        """Draw which columns are redundant with better ones; see `foresift.plots`."""
        from foresift.report.plots.of_one import plot_redundancy

        return plot_redundancy(self.to_dict(), **options)

    def plot_stability(self, **options: Any) -> Any:
        """Draw which columns passed the test again in which part of the rows; see `foresift.plots`."""
        from foresift.report.plots.of_many import StabilityDisplay

        if self.passes is None:
            raise ValueError(
                "The test was not repeated on parts of the rows: that takes check=True and a method with a"
                ' test ("auto" or "relevance").'
            )
        if not self.passes.any():
            raise ValueError("No column passed the test in any part of the rows.")
        return StabilityDisplay.from_selections(self.passes, self._names, **options)

    def plot_convergence(self, **options: Any) -> Any:
        """Draw how the sampling distribution settles, if the method learns one; see `foresift.plots`."""
        from foresift.report.plots.of_many import ConvergenceDisplay

        return ConvergenceDisplay.from_forest(self.selector_, **options)


def select(
    X: Any,
    y: ArrayLike,
    method: Any = "auto",
    n_features_to_select: int | None = None,
    *,
    task: str = "auto",
    goal: str = "compact",
    alpha: float = 0.1,
    error: str = "fdr",
    check: bool = True,
    estimator: Any = None,
    scoring: Any = None,
    cv: Any = None,
    log_target: bool = False,
    sample_weight: ArrayLike | None = None,
    parameters: Mapping[str, Any] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    tell: Tell | None = None,
) -> Selection:
    """Select the columns of a table that predict the target, and report how certain that is.

    Parameters
    ----------
    X : array-like, data frame, sparse matrix or mapping of shape (n_rows, n_columns)
        The columns; missing values are allowed.
    y : array-like of shape (n_rows,)
        The class of every row, or a quantity.
    method : str or selector, default="auto"
        A key of `foresift methods`. "auto" tests which columns are relevant and marks those that are
        redundant with better ones; `goal` says which of the relevant ones it keeps.
        Or any selector with `get_support`, of foresift or of scikit-learn: a clone of it is fitted, with its
        own parameters; a `random_state` or `n_jobs` that it leaves None is set.
    n_features_to_select : int or None, default=None
        Keep so many; None leaves it to the method.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity. "auto" takes numbers with fractions, and more than 20 different
        whole numbers, as a quantity; text, booleans, categories and any two values as classes.
    goal : {"compact", "all"}, default="compact"
        What "auto" keeps: as few relevant columns as predict as well, or every relevant column.
    alpha : float, default=0.1
        Error rate of the test, if the method has one; a selector has its own.
    error : {"fdr", "fwer", "none"}, default="fdr"
        What the error rate is, as in `RelevanceSelector`.
    check : bool, default=True
        Whether to score the best 1, 2, 3 ... columns, to compare the selection with all columns out of fold,
        and to repeat it on parts of the rows. Searches are not repeated. Of a large table some rows are used.
    estimator : classifier, regressor or None, default=None
        The model that is checked, of any library; None is a forest. One that takes neither text nor missing
        values gets indicators of the categories and standardised numbers.
    scoring : str, callable or None, default=None
        A scorer of scikit-learn for the check; None is accuracy, ROC AUC if one class has more than 80 % of
        the rows, or R2 for a quantity.
    cv : int, splitter, iterable or None, default=None
        Folds of the check: their number, a splitter of scikit-learn, or pairs of training and test rows; each
        row is tested once. None is 5, or 3 for a large table.
    log_target : bool, default=False
        Whether to model the logarithm of a quantity that is not negative, of 1 + y if it has zeros.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        How much each row counts.
    parameters : mapping or None, default=None
        Further parameters of the selector, those that it was made with included.
    random_state : int, RandomState or None, default=None
        Equal seeds give equal selections.
    n_jobs : int or None, default=None
        Threads; -1 for all cores. The outcome is the same for any number.
    tell : callable or None, default=None
        Called with the progress: what is done, in how many steps, and how many more steps are done.

    Returns
    -------
    Selection
        The fitted selector, the ranking and what is known about it.

    See Also
    --------
    foresift.RelevanceSelector : The test behind "auto".

    Examples
    --------
    >>> from foresift import select
    >>> from foresift.datasets import make_simple
    >>> X, y = make_simple(random_state=1)  # only the first two columns matter
    >>> print(select(X, y, "info-gain", 2, check=False).sentence)
    Kept the best 2 of 9 columns. Method info-gain: information gain of the best split of each column.
    """
    require_arguments(X, y, method)
    tell = tell or (lambda *_: None)
    seed = int(random_state) if isinstance(random_state, numbers.Integral) else seed_of(random_state) % 2**32
    started = perf_counter()
    source = read(X)
    names = names_of(source.texts, source.n_columns)
    key = name_of(method)
    require_size(n_features_to_select, source.n_columns, key)
    require_goal(goal, key, n_features_to_select)
    modelled = prepared(y, task, method, log_target=log_target)
    require_task(method, modelled.task)
    model = Model(estimator, scoring, modelled.back)
    model.require(modelled.task)
    selector = make(method, n_features_to_select, alpha, error, parameters or {}, seed, n_jobs)
    selector = modelled.tell(selector)
    require_rows(selector, source.n_rows)
    weights = check_sample_weight(sample_weight, source.n_rows)
    # The threads are ours: those of the linear algebra would wait for each other in turns, at full speed.
    with one_blas_thread(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No feature passed")  # the sentence says so
        tell("ranking", 1, 0)
        rows = fit_all(selector, X, modelled.y, weights, modelled.task, keep_X=check and model.needs_X)
        tell("ranking", 1, 1)
        work = Work(rows, selector, key, goal, n_features_to_select, model, cv, seed, n_jobs, tell)
        assessment = resampled = None
        unchecked = work.why_unchecked() if check else None
        if check:  # warnings are shut off here and not in the threads, which share the filters
            warnings.simplefilter("ignore", UserWarning)  # what there is to say, the fit to all rows has said
            assessment = work.assess() if unchecked is None else None
            resampled = work.resample()
            if assessment is None and unchecked is None:
                unchecked = "too few of the rows that it looked at are of common classes"
    kept = work.keep(selector, None if assessment is None else assessment.choice)
    target = rows.table.target
    facts = {
        "n_rows": source.n_rows,
        "n_columns": source.n_columns,
        "target": "",
        **facts_of(target, modelled),
        "columns_left_out": [],
        "decisions": [],
    }
    class_names = [one["name"] for one in facts["classes"]]
    result = Findings(selector, names, rows.table.schema.nominal, class_names, kept, assessment, resampled)
    tested = has_test(selector)
    aim = goal if key == "auto" and n_features_to_select is None else None
    about = {
        "key": key,
        "title": _title(method, aim),
        "parameters": _plain(selector.get_params(deep=False)),
        "goal": aim,
        "error": selector.error if tested else None,
        "alpha": selector.alpha if tested else None,
        "seconds": round(perf_counter() - started, 3),
    }
    ranking = result.rows()
    about["order"] = order_of_ranking(ranking)
    wanted = n_features_to_select
    if tested and selector.n_features_to_select is not None:
        wanted = len(kept)
    more = notes_on(y, target, modelled, assessment)
    if getattr(selector, "n_features_to_select", 0) is None:
        more = [*note_on_own_rule(ranking, about), *more]
    if getattr(selector, "interrupted_", False):
        more.insert(0, "The search was stopped by Ctrl-C: this is the best set it had found until then.")
    certainty = None
    if assessment is not None:
        passes = tested and bool(selector.relevant_.any())  # subsamples of noise agree on nothing
        stability = None
        if passes and resampled is not None:
            stability = resampled.stability.value if resampled.passed.any() else 0.0
        certainty = certainty_of(assessment, stability, significant=passes or not tested or not len(kept))
    said = say(ranking, about, wanted, facts, assessment, certainty, unchecked, more)
    return Selection(
        selector,
        ranking,
        *said,
        about,
        facts,
        result.curve(),
        result.check(),
        result.stability(),
        seed,
        None if certainty is None else certainty.level,
        None if resampled is None else resampled.passed,
        None if source.labels is None else list(source.labels),
    )


def names_of(labels: Iterable[Any] | None, n_columns: int) -> list[str]:
    """Columns as texts and JSON have them.

    Examples
    --------
    >>> names_of([("a", 1), ("b", 1)], 2), names_of(None, 2)
    (["('a', 1)", "('b', 1)"], ['x0', 'x1'])
    """
    return [f"x{j}" for j in range(n_columns)] if labels is None else list(map(str, labels))


def _title(method: Any, goal: str | None) -> str:
    """What a method does: of a selector the first line of its documentation."""
    if isinstance(method, str):
        return _AUTO_TITLES[goal] if method == "auto" else METHODS[method].title
    lines = (type(method).__doc__ or "").strip().splitlines()
    return lines[0].strip().rstrip(".") if lines else "a selector that was given"


def _plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as JSON can say them."""
    plain = (str, int, float, bool, type(None))
    return {key: value if isinstance(value, plain) else _shown(value) for key, value in parameters.items()}


def _shown(value: Any) -> str:
    """A parameter as text, the same in every run: a function by its name."""
    return value.__name__ if isfunction(value) else " ".join(repr(value).split())
