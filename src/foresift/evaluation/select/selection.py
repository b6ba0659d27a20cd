"""One call from a table to an answer: which columns to keep, how sure that is, and what it costs."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Mapping
from inspect import isfunction
from time import perf_counter
from typing import Any

from numpy.typing import ArrayLike

from foresift.data.containers import read
from foresift.data.dependence import facts_of_dependence, read_dependence
from foresift.data.sklearn_compat import seed_of
from foresift.data.table import Schema
from foresift.data.target_column import target_column
from foresift.data.weights import check_sample_weight
from foresift.engine.grow import one_blas_thread
from foresift.engine.open_blocks import comes_in_batches, open_blocks
from foresift.evaluation.harness.evaluate import refuse_scorers
from foresift.evaluation.registry import METHODS, make_estimator
from foresift.evaluation.select.about_target import facts_of, notes_on, prepared
from foresift.evaluation.select.alone import almost_perfect
from foresift.evaluation.select.assess import Assessment, numbers_rows
from foresift.evaluation.select.certainty import Certainty, certainty_of
from foresift.evaluation.select.choosing import (
    Tell,
    Work,
    make,
    name_of,
    require_arguments,
    require_goal,
    require_no_rows,
    require_rows,
    require_size,
    require_task,
)
from foresift.evaluation.select.findings import Findings
from foresift.evaluation.select.fitted import fit_all, has_test, is_ours
from foresift.evaluation.select.looks_dependent import note_on_text, notes_on_rows
from foresift.evaluation.select.models import Model
from foresift.evaluation.select.notes import (
    note_on_choice,
    note_on_copies,
    note_on_own_rule,
    note_on_sample,
    note_on_targets,
    notes_on_untested,
)
from foresift.evaluation.select.pictures import associations_of, note_on_missing, profiles_of
from foresift.evaluation.select.resample import Resampled
from foresift.evaluation.select.result import Selection, names_of
from foresift.evaluation.select.rows_of_folds import NoFolds
from foresift.evaluation.select.sentences import order_of_ranking, say

__all__ = ["select"]

_AUTO_TITLES = {  # by the goal; None for a given number of columns
    "compact": "relevance test, then the fewest relevant columns that predict as well",
    "all": "relevance test; every relevant column is kept",
    None: "relevance test",
}


def select(
    X: Any,
    y: ArrayLike | None = None,
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
    memory_limit: float | str | None = None,
    sample_weight: ArrayLike | None = None,
    groups: Any = None,
    time: Any = None,
    dependence: str = "auto",
    keep: Any = None,
    feature_groups: Any = None,
    parameters: Mapping[str, Any] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    tell: Tell | None = None,
) -> Selection:
    """Select the columns of a table that predict the target, and report how certain that is.

    Parameters
    ----------
    X : array-like, data frame, sparse matrix or mapping of shape (n_rows, n_columns)
        The columns; missing values are allowed. Dates are taken as days, times as seconds, since 1970; text
        is nominal, also if it looks like dates, of which a note tells.
        Or rows that need not fit in memory: the path of a Parquet or CSV file or of a folder, a Dask
        DataFrame, a polars LazyFrame, a stream or dataset of pyarrow, a DuckDB relation; see docs/scale.md.
    y : array-like of shape (n_rows,) or str
        The class of every row, or a quantity; of rows that come in batches the name of its column.
    method : str or selector, default="auto"
        A key of `foresift methods`. "auto" tests which columns are relevant and marks those that are
        redundant with better ones; `goal` says which of the relevant ones it keeps.
        Or any selector with `get_support`, of foresift or of scikit-learn: a clone of it is fitted, with its
        own parameters; a `random_state` or `n_jobs` that it leaves None is set.
    n_features_to_select : int or None, default=None
        Keep so many, beside those in `keep`, where a group counts as one; None leaves it to the method.
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
    estimator : classifier, regressor, str or None, default=None
        The model that is checked, of any library, or the name of one (`foresift methods`); None is a forest.
        One that takes neither text nor missing values gets indicators of the categories and standardised
        numbers.
    scoring : str, callable or None, default=None
        A scorer of scikit-learn for the check; None is accuracy, ROC AUC if one class has more than 80 % of
        the rows, or R2 for a quantity.
    cv : int, splitter, iterable or None, default=None
        Folds of the check: their number, at least 3, a splitter of scikit-learn such as KFold, or pairs of
        training and test rows. Each row is tested once at most. None is 5, or 3 for a large table.
    log_target : bool, default=False
        Whether to model the logarithm of a quantity that is not negative, of 1 + y if it has zeros.
    memory_limit : float, str or None, default=None
        The test of a large table reads codes of one byte a cell. Above this many bytes ("1GB") they lie in a
        temporary file; None is half of the memory of the machine.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        How much each row counts.
    groups : array-like of shape (n_rows,) or None, default=None
        Group of every row, such as a patient: rows of a group stay together in every fold and sample, and in
        the permutations of a test. A column of a frame, or a mapping of its name to the values, is called by
        its name.
    time : array-like of shape (n_rows,) or None, default=None
        When every row was observed, within its group if there are groups: numbers, or dates.
        Folds are blocks of time, with a gap between training and test rows; a splitter sees the rows in the
        order of time.
    dependence : {"auto", "none", "groups", "time", "panel"}, default="auto"
        Which of both to respect; "auto": what was passed. "time" without times takes the rows as they stand;
        "none" says that they are independent, and there is no note if they do not look it.
    keep : array-like or None, default=None
        Columns that stay in any case: names, numbers or a mask. They are in every model of the check and are
        not tested: the question is what helps beside them.
    feature_groups : mapping, list, array-like, "one-hot" or None, default=None
        Columns that are kept or dropped as one: lists of columns or patterns such as ``"sensor3_*"``, by
        label or without, a label for every column, or the blocks of OneHotEncoder.
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
    tell = tell or (lambda *_: None)
    seed = int(random_state) if isinstance(random_state, numbers.Integral) else seed_of(random_state) % 2**32
    started = perf_counter()
    require_arguments(X, y, method)
    blocks, named = None, getattr(y, "name", None)
    name_of_target = named if isinstance(named, str) else ""
    if comes_in_batches(X, y):
        name_of_target = str(y)
        require_no_rows(sample_weight, groups, time, cv)
        tell("reading", 0, 0)
        rule = task if task in ("classification", "regression") else "table"
        blocks = open_blocks(X, y, task=rule, memory_limit=memory_limit, n_jobs=n_jobs)
        X, y = blocks.sample_X, blocks.sample.target.values()  # what follows looks at these rows
    source = read(X)
    n_rows = source.n_rows if blocks is None else blocks.n_rows
    names = names_of(source.texts, source.n_columns)
    key = name_of(method)
    require_size(n_features_to_select, source.n_columns, key)
    require_goal(goal, key, n_features_to_select)
    modelled = prepared(y, task, method, log_target=log_target)
    require_task(method, modelled.task)
    if isinstance(estimator, str):
        estimator = make_estimator(estimator, modelled.task)
    model = Model(estimator, scoring, modelled.back)
    model.require(modelled.task)
    if isinstance(scoring, str):
        refuse_scorers({scoring: scoring}, target_column(modelled.y)[0], modelled.task)
    selector = make(
        method, n_features_to_select, alpha, error, parameters or {}, seed, n_jobs, keep, feature_groups
    )
    selector = model.tell(modelled.tell(selector))
    if memory_limit is not None and "memory_limit" in selector.get_params(deep=False):
        selector.set_params(memory_limit=memory_limit)
    require_rows(selector, n_rows)
    weights = check_sample_weight(sample_weight, source.n_rows)
    how = getattr(selector, "dependence", "auto") if dependence == "auto" else dependence
    depends = read_dependence(how, groups, time, source.n_rows)
    # The threads are ours: those of the linear algebra would wait for each other in turns, at full speed.
    with one_blas_thread(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No feature passed")  # the sentence says so,
        warnings.filterwarnings("ignore", ".*nothing of (it|them) is left")  # notes,
        warnings.filterwarnings("ignore", "Only .* rows, drawn at random")  # and a note
        tell("ranking", 1, 0)
        keep_X = check and model.needs_X
        in_blocks = not numbers_rows(cv)  # folds by row number need all rows
        rows = fit_all(
            selector,
            X,
            modelled.y,
            weights,
            modelled.task,
            keep_X=keep_X,
            dependence=depends,
            in_blocks=in_blocks,
            blocks=blocks,
        )
        tell("ranking", 1, 1)
        if is_ours(selector) and not selector.units_.trivial:
            which = "and groups that may be dropped"
            require_size(n_features_to_select, selector.units_.n_free, key, which)
        work = Work(rows, selector, key, goal, n_features_to_select, seed, n_jobs, tell, model, cv)
        # Not in the threads, which share the filters; the fit to all rows has said what there is to say.
        warnings.simplefilter("ignore", UserWarning)
        assessment, resampled, unchecked = _checked(work) if check else (None, None, None)
        alone = almost_perfect(rows, names, selector, seed, n_jobs)
    kept = work.keep(selector, None if assessment is None else assessment.choice)
    n_best = selector.units_.n_free_in(kept) if is_ours(selector) else len(kept)
    target = rows.table.target
    if rows.blocks is not None and rows.blocks.whole_target is not None:
        target = rows.blocks.whole_target
    schema = rows.table.schema if rows.blocks is None else rows.blocks.schema
    n_counted = len(rows) if weights is None else int((weights > 0).sum())
    facts = {
        "n_rows": n_rows,
        "n_columns": source.n_columns,
        "target": name_of_target,
        **facts_of(target, modelled, None if rows.blocks is None else rows.blocks.target_counts),
        **facts_of_dependence(depends, groups, time),
        "columns_left_out": [],
        "decisions": _decisions(schema, names),
    }
    class_names = [one["name"] for one in facts["classes"]]
    kinds = schema.kinds
    result = Findings(
        selector, names, kinds, class_names, kept, assessment, resampled, dependent=depends is not None
    )
    ranking = result.rows()
    profiles = profiles_of(rows, modelled, names, ranking, seed)
    aim = goal if key == "auto" and n_features_to_select is None else None
    about = _about(method, selector, aim, ranking, perf_counter() - started)
    wanted = n_features_to_select
    if has_test(selector) and selector.n_features_to_select is not None:
        wanted = n_best
    more = notes_on(y, target, modelled, assessment)
    if blocks is not None and len(rows) < n_rows:
        more = [note.replace("The target has", "In a sample of the rows the target has") for note in more]
    more = [*notes_on_untested(selector, names), *more]
    more = [*note_on_missing(profiles, ranking, n_rows), *note_on_text(schema, names), *more]
    if assessment is None:
        more = [*note_on_copies(*work.copies()), *more]
    if depends is None and how == "auto":
        as_they_stand = rows.table if rows.blocks is None else rows.blocks.head
        more = [*notes_on_rows(as_they_stand, names), *more]
    if getattr(selector, "n_features_to_select", 0) is None:
        more = [*note_on_own_rule(ranking, about), *more]
    more = [*note_on_choice(selector), *note_on_targets(selector, n_counted), *more]
    if blocks is not None and not (is_ours(selector) and selector.takes_rows(blocks, target)):
        more = [*note_on_sample(key, len(rows), n_rows), *more]
    if getattr(selector, "interrupted_", False):
        more.insert(0, "The search was stopped by Ctrl-C: this is the best set it had found until then.")
    certainty = None if assessment is None else _certainty(selector, assessment, resampled, n_best)
    said = say(ranking, about, wanted, facts, assessment, certainty, unchecked, more, alone)
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
        profiles,
        associations_of(rows, names, ranking, seed),
    )


def _decisions(schema: Schema, names: list[str]) -> list[dict[str, str]]:
    """Which columns are taken as something else than they are."""
    units = zip(names, schema.units or (), strict=False)
    return [{"name": name, "kind": "date", "why": f"dates, taken as {unit}"} for name, unit in units if unit]


def _checked(work: Work) -> tuple[Assessment | None, Resampled | None, str | None]:
    """What folds and parts of the rows say, and why the folds say nothing."""
    unchecked, assessment = work.why_unchecked(), None
    if unchecked is None:
        try:
            assessment = work.assess()
        except NoFolds as error:
            if work.cv is not None:
                raise
            unchecked = str(error)[0].lower() + str(error)[1:].partition(": ")[0]
        else:
            if assessment is None:
                unchecked = "too few of the rows that it looked at are of common classes"
    return assessment, work.resample(), unchecked


def _certainty(selector: Any, assessment: Assessment, resampled: Resampled | None, n_kept: int) -> Certainty:
    """How far the answer can be trusted."""
    tested = has_test(selector)
    passes = tested and bool(selector.relevant_.any())  # subsamples of noise agree on nothing
    stability = None
    if passes and resampled is not None:
        stability = resampled.stability.value if resampled.passed.any() else 0.0
    significant = passes or not tested or not n_kept
    return certainty_of(assessment, stability, significant=significant, any_kept=n_kept > 0)


def _about(
    method: Any, selector: Any, goal: str | None, ranking: list[dict[str, Any]], seconds: float
) -> dict[str, Any]:
    """What JSON tells of the method."""
    tested = has_test(selector)
    return {
        "key": name_of(method),
        "title": _title(method, goal),
        "parameters": _plain(selector.get_params(deep=False)),
        "goal": goal,
        "error": selector.error if tested else None,
        "alpha": selector.alpha if tested else None,
        "seconds": round(seconds, 3),
        "order": order_of_ranking(ranking),
    }


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
