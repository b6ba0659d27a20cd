"""Selector and estimator scored together on held-out rows: tasks and their records."""

from __future__ import annotations

import numbers
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import get_scorer, get_scorer_names

from foresift.data.folds import Fold
from foresift.data.named import NamedArray
from foresift.data.sklearn_compat import require_model, seeded
from foresift.data.slices import take_rows
from foresift.data.table import Table, make_table
from foresift.data.target import Classes, Quantity
from foresift.errors import no_such
from foresift.evaluation.harness.chosen import Size, chosen_columns, selected
from foresift.evaluation.harness.splits import Split, cv_name, seed_for, splits
from foresift.evaluation.harness.tasks import (
    Data,
    Job,
    Record,
    Unit,
    canonical,
    describe,
    host_facts,
    software,
)
from foresift.models.scorer import PlainScorer, SubsetScorer, make_subset_scorer, takes_store
from foresift.models.subset_models import fit_plain, reading_options, refuse_numbered_columns

__all__ = ["Protocol", "attempt", "plan_scores", "refuse_scorers", "score_units", "selected"]

# Codes of the data in use, by how they were read: the tasks of a process share them.
_CODED: WeakKeyDictionary[Data, dict[str, Table]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Protocol:
    """How methods are compared.

    Parameters
    ----------
    cv : int, float, splitter or iterable, default=10
        As in `splits.splits`.
    repeats : int, default=1
        How many times the rows are split anew.
    sizes : int, "own" or a sequence of them, default="own"
        How many of the best features the estimator gets, all from one ranking per split; "own" are those
        that the method itself selects.
    scoring : str, callable, sequence of str or mapping of str to scorer, default="accuracy"
        Scorers of scikit-learn, higher is better.
    random_state : int, default=0
        From 0 to 2**32 - 1; all randomness comes from it. The seed of a unit is
        ``seed_for(random_state, repeat, fold)``, the same for all methods and estimators; every
        `random_state` of a selector that is None is set by ``default_rng([seed, 0])``, of an estimator by
        ``default_rng([seed, 1])``.

    Examples
    --------
    >>> Protocol(cv=5, sizes=[1, 2]).scorers
    {'accuracy': 'accuracy'}
    """

    cv: Any = 10
    repeats: int = 1
    sizes: Size | Sequence[Size] = "own"
    scoring: Any = "accuracy"
    random_state: int = 0

    @property
    def scorers(self) -> dict[str, Any]:
        """Scorers by name."""
        scoring = self.scoring
        if isinstance(scoring, str) or callable(scoring) or not isinstance(scoring, Iterable):
            scoring = [scoring]
        if not isinstance(scoring, Mapping):
            named = [(_name_of(scorer), scorer) for scorer in scoring]
            scoring = dict(named)
            if len(scoring) < len(named):
                raise ValueError("Two scorers have one name: give a mapping of names to scorers.")
        if not scoring:
            raise ValueError("scoring names no scorer: give one, for instance 'accuracy'.")
        for scorer in scoring.values():
            if isinstance(scorer, str):
                _require_scorer(scorer)
            elif not callable(scorer):
                raise TypeError(f"scoring has {scorer!r}: give names of scorers, or scorers themselves.")
        return dict(scoring)

    def sizes_for(self, data: Data) -> tuple[Size, ...]:
        """Check the sizes, and put them in order: "own" first."""
        given: Any = self.sizes
        sizes = (given,) if isinstance(given, str | numbers.Real) else tuple(given)
        counts = [size for size in sizes if size != "own"]
        for size in counts:
            if not isinstance(size, numbers.Integral) or not 1 <= int(size) <= data.n_features:
                raise ValueError(
                    f"sizes has {size!r}: give numbers of features from 1 to {data.n_features}, or 'own' for"
                    " what each method selects."
                )
        own: list[Size] = ["own"] if len(counts) < len(sizes) else []
        if not sizes:
            raise ValueError(
                "sizes is empty: give numbers of features, or 'own' for what each method selects."
            )
        return (*own, *sorted({int(size) for size in counts}))


@dataclass(frozen=True)
class Trial:
    """What `score_units` needs to know besides the data: arguments of a job."""

    selector: Any
    estimators: dict[str, Any]
    split: Split
    seed: int
    sizes: tuple[Size, ...]
    scorers: dict[str, Any]


def plan_scores(
    data: Data,
    methods: Mapping[str, Any],
    estimators: Mapping[str, Any],
    protocol: Protocol,
    *,
    kept: bool = True,
) -> list[Job]:
    """List the work: for every split and method one job, with a unit for every estimator.

    Parameters
    ----------
    data : Data
        The table.
    methods : mapping of str to selector or None
        Any selectors with the protocol of scikit-learn; None is no selection. For sizes they need `ranking_`
        (1 is best) or `scores_` (higher is better).
    estimators : mapping of str to estimator
        Any classifiers, or regressors if the target is a quantity; pipelines included.
    protocol : Protocol
        How they are compared.
    kept : bool, default=True
        Whether results are to be found again, so that everything needs an identity (see `describe`). If not,
        a name is enough for what has none, such as a lambda.

    Returns
    -------
    list of Job
        For `experiment.run`, split by split.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from foresift import InfoGainSelector
    >>> data = Data.of("iris", *load_iris(return_X_y=True))
    >>> methods, protocol = {"none": None, "gain": InfoGainSelector()}, Protocol(cv=5, sizes=[1, 2])
    >>> jobs = plan_scores(data, methods, {"nb": GaussianNB()}, protocol)
    >>> len(jobs), jobs[1].units[0].method
    (10, 'gain')
    >>> record, = score_units(data, jobs[1].arguments, jobs[1].units)
    >>> record.scores, record.features["order"]
    ({'accuracy': {'1': 0.9, '2': 0.9}}, [2, 3, 0, 1])
    """
    for name, estimator in estimators.items():
        _require_kind(name, estimator, data.task)
        if any(method is not None for method in methods.values()):
            refuse_numbered_columns(estimator, own=True)
    for name, method in methods.items():
        if method is not None and not (hasattr(method, "fit") and hasattr(method, "get_params")):
            raise ValueError(
                f"{name}: {type(method).__name__} is no selector; make one, or give None for none."
            )
    if not methods or not estimators:
        raise ValueError("At least one method and one estimator are needed.")
    sizes, scorers = protocol.sizes_for(data), protocol.scorers
    refuse_scorers(scorers, data.y, data.task)
    about_methods, about_estimators = (
        {name: canonical(_identity(name, one, kept)) for name, one in some.items()}
        for some in (methods, estimators)
    )
    scoring = {name: _identity(f"The scorer {name!r}", scorer, kept) for name, scorer in scorers.items()}
    task = {"task": data.task} if data.task == Quantity.task else {}  # keys of classification stay
    jobs = []
    for split in splits(data, protocol.cv, repeats=protocol.repeats, random_state=protocol.random_state):
        seed = seed_for(protocol.random_state, split.repeat, split.fold)
        for name, method in methods.items():
            wanted: tuple[Size, ...] = ("all",) if method is None else sizes
            first = Unit(
                kind="score",
                dataset=data.name,
                data=data.checksum,
                method=name,
                method_parameters=about_methods[name],
                classifier="",
                classifier_parameters="",
                cv=cv_name(protocol.cv, data.dependence),
                repeat=split.repeat,
                fold=split.fold,
                rows=split.rows,
                seed=seed,
                options=canonical({"sizes": wanted, "scoring": scoring, **task}),
                software=software(),
            )
            units = tuple(
                replace(first, classifier=model, classifier_parameters=about)
                for model, about in about_estimators.items()
            )
            trial = Trial(method, dict(estimators), split, seed, wanted, scorers)
            jobs.append(Job(score_units, data.checksum, trial, units))
    return jobs


def _identity(name: str, value: Any, kept: bool) -> Any:
    """Describe a selector, an estimator or a scorer."""
    try:
        return describe(value)
    except ValueError as error:
        if kept:
            advice = str(error).rpartition("again. ")[2].rstrip(".")
            raise ValueError(
                f"{name} cannot be kept in a store: {advice[:1].lower()}{advice[1:]}, or leave out store."
            ) from error
        return {"unidentified": name}


def _require_kind(name: str, estimator: Any, task: str) -> None:
    """Raise unless it is a classifier, or for a quantity a regressor."""
    kinds = {
        Classes.task: (is_classifier, "a classifier", "holds classes"),
        Quantity.task: (is_regressor, "a regressor", "is a quantity"),
    }
    is_wanted, wanted, target = kinds[task]
    model = hasattr(estimator, "fit")
    if model and is_wanted(estimator):
        return
    for other, (is_other, kind, _) in kinds.items():
        if model and is_other(estimator):
            raise ValueError(
                f"{name}: {type(estimator).__name__} is {kind}, but y {target}: give {wanted}, or set"
                f' task="{other}".'
            )
    raise ValueError(f"{name}: {type(estimator).__name__} is not {wanted}.")


def refuse_scorers(scorers: Mapping[str, Any], y: NDArray[Any], task: str) -> None:
    """Raise if a named scorer cannot score this target, before hours are spent: r2 and text."""
    if task == Quantity.task:
        labels, dummy = y, DummyRegressor()
        said, instead = "a quantity", "'r2' or 'neg_mean_absolute_error'"
    else:
        first = {label: row for row, label in reversed([*enumerate(y.tolist())])}
        labels, dummy = y[np.repeat(sorted(first.values()), 2)], DummyClassifier(strategy="prior")
        said, instead = f"these {len(first)} classes", "'accuracy', 'balanced_accuracy' or 'f1_macro'"
    rows = np.zeros((len(labels), 1))
    model = dummy.fit(rows, labels)
    for name, scorer in scorers.items():
        if not isinstance(scorer, str):
            continue  # somebody's own may need more than this model has
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                get_scorer(scorer)(model, rows, labels)
        except Exception as error:
            why = " ".join(str(error).split()).rstrip(".")
            raise ValueError(
                f"The scorer {name!r} does not work on {said} ({why}): take another, for instance {instead}."
            ) from error


def score_units(data: Data, trial: Trial, units: Sequence[Unit]) -> list[Record]:
    """Fit the selector once on the training rows, and every estimator for every size; score on the others.

    A pure function: what comes of a unit depends on the unit alone. An error of the selector is that of all
    units, an error of an estimator that of one. A size that the selector does not know, such as one that cuts
    through columns of equal rank, is not scored: `extra` says why, under "unknown_sizes".

    Parameters
    ----------
    data : Data
        The table.
    trial : Trial
        Selector, estimators, rows, seed, sizes and scorers.
    units : sequence of Unit
        What is asked for; `unit.classifier` names the estimator.

    Returns
    -------
    list of Record
        One per unit.
    """
    fold = Fold(trial.split.train.astype(np.intp), trial.split.test.astype(np.intp))
    guess = _guess(data, fold)

    def select() -> dict[str, Any]:
        if trial.selector is None:
            return {}
        selector = seeded(clone(trial.selector), np.random.default_rng([trial.seed, 0]))
        X = _with_names(take_rows(data.X, fold.train), data, selector)
        start = time.perf_counter()
        some = None if data.dependence is None else data.dependence.take(fold.train)
        fit_plain(selector, X, data.y[fold.train], None, some)
        seconds = time.perf_counter() - start
        features, unknown = chosen_columns(selector, data.n_features, trial.sizes)
        extra = {"unknown_sizes": unknown} if unknown else {}
        return {"features": features, "seconds": {"select": seconds}, "extra": extra}

    def score(unit: Unit) -> dict[str, Any]:
        model = seeded(clone(trial.estimators[unit.classifier]), np.random.default_rng([trial.seed, 1]))
        scorer = _scorer(model, data, fold, trial.scorers)
        sizes = [size for size in trial.sizes if str(size) not in chosen.extra.get("unknown_sizes", ())]
        subsets = [None if size == "all" else tuple(selected(chosen.features, str(size))) for size in sizes]
        found = scorer.evaluate([(subset, 0, [fold.test]) for subset in subsets])
        scores: dict[str, dict[str, float | None]] = {
            name: {str(size): float(one.scores[0][name]) for size, one in zip(sizes, found, strict=True)}
            for name in trial.scorers
        }
        seconds = {
            **chosen.seconds,
            "fit": sum((one.fit_seconds for one in found), 0.0),
            "score": sum((one.score_seconds for one in found), 0.0),
        }
        extra = {"n_train": len(fold.train), "n_test": len(fold.test), **guess, **chosen.extra}
        return {"scores": scores, "features": chosen.features, "seconds": seconds, "extra": extra}

    chosen = attempt(units[0], select)
    if chosen.error:
        return [replace(chosen, unit=unit) for unit in units]
    records = [attempt(unit, lambda unit=unit: score(unit)) for unit in units]  # type: ignore[misc]
    return [replace(record, notes=(*chosen.notes, *record.notes)) for record in records]


def _guess(data: Data, fold: Fold) -> dict[str, float]:
    """Accuracy of always predicting the most frequent class of the training rows; nothing for a quantity."""
    if data.task == Quantity.task:
        return {}
    train, test = (data.y[rows].astype(str) if data.y.dtype == object else data.y[rows] for rows in fold)
    labels, counts = np.unique(train, return_counts=True)
    return {"guess": float(np.mean(test == labels[counts.argmax()]))}


def _scorer(model: Any, data: Data, fold: Fold, scorers: dict[str, Any]) -> SubsetScorer:
    """On codes of the data for our own trees and forests, unless a class has no training rows."""
    quantity = data.task == Quantity.task
    complete = quantity or len(set(data.y[fold.train].tolist())) == len(set(data.y.tolist()))
    if complete and takes_store(model, scorers):
        require_model(model, "compare", data.task)
        options = reading_options(model)
        tables = _CODED.setdefault(data, {})
        if repr(options) not in tables:
            tables[repr(options)] = make_table(data.X, data.y, task=data.task, **options)
        return make_subset_scorer(model, None, tables[repr(options)], None, [fold], scoring=scorers, n_jobs=1)
    return PlainScorer(model, None, [fold], scorers, 1, data.X, data.y)


def _with_names(X: Any, data: Data, selector: Any) -> Any:
    """Give a selector of ours the names too, for what it has to say of columns: an array has none."""
    ours = type(selector).__module__.startswith("foresift.")
    return NamedArray(X, data.features) if ours and data.named and isinstance(X, np.ndarray) else X


def attempt(unit: Unit, work: Callable[[], dict[str, Any]]) -> Record:
    """Make a record of what `work` returns (fields of `Record`), or of its error; keep its warnings.

    Examples
    --------
    >>> unit = Unit("toy", *[""] * 7, 0, 0, "", 0, "", "")
    >>> attempt(unit, lambda: {"scores": {"one": {"all": 1.0}}}).scores
    {'one': {'all': 1.0}}
    >>> attempt(unit, lambda: 1 / 0).error
    'ZeroDivisionError: division by zero'
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fields = work()
        except Exception as error:
            fields = {
                "error": f"{type(error).__name__}: {' '.join(str(error).split())}",
                "traceback": traceback.format_exc(),
            }
    notes = tuple(dict.fromkeys(f"{note.category.__name__}: {note.message}" for note in caught))
    return Record(unit, notes=notes, host=host_facts(), **fields)


def _require_scorer(name: str) -> None:
    known = get_scorer_names()
    if name not in known:
        raise no_such("scorer", name, known, "sklearn.metrics.get_scorer_names() lists them.")


def _name_of(scorer: Any) -> str:
    return scorer if isinstance(scorer, str) else getattr(scorer, "__name__", type(scorer).__name__)
