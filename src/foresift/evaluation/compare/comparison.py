"""`compare`: feature selection methods compared by cross-validation, and the table of results."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from foresift.data.dependence import facts_of_dependence
from foresift.data.target import Classes, Quantity
from foresift.data.target_notes import (
    are_numbers,
    note_on_quantity,
    note_on_rare_classes,
    notes_on_classes,
)
from foresift.errors import renamed
from foresift.evaluation.compare.methods import methods_of, named
from foresift.evaluation.compare.summary import (
    Row,
    Scores,
    best_row,
    failures,
    recommended_row,
    scored_rows,
    selection_shares,
)
from foresift.evaluation.harness.chosen import Size
from foresift.evaluation.harness.evaluate import Protocol, plan_scores
from foresift.evaluation.harness.run import run
from foresift.evaluation.harness.store import Store
from foresift.evaluation.harness.tasks import Data, software
from foresift.evaluation.registry import ESTIMATORS, METHODS, make_estimator

__all__ = ["Comparison", "compare"]

TASKS = ("auto", Classes.task, Quantity.task)


@dataclass(frozen=True)
class Comparison:
    """Result of `compare`; printed, it is a table.

    Attributes
    ----------
    rows : list of Row
        One for each method, estimator, size and scorer; no selection is the method "none".
    about : dict
        Data and protocol: name, rows, columns, task, classes, notes on them, splits, scorers, seed, store,
        versions.
    failures : list of dict
        Errors, and how often they occurred.
    selected : dict
        Method -> size -> feature -> share of the splits in which it was selected; up to 30 features each.
        Empty if there are several data sets.
    ranks : dict or None
        Mean ranks of the methods over several data sets, and the critical difference (Demsar 2006).
    scores : sequence of Scores
        The scores of each row, by split, which `pairs` compares.
    """

    rows: list[Row]
    about: dict[str, Any]
    failures: list[dict[str, Any]]
    selected: dict[str, dict[str, dict[str, float]]]
    ranks: dict[str, Any] | None = None
    scores: Sequence[Scores] = field(default=(), repr=False)

    def best(
        self, estimator: str | None = None, scorer: str | None = None, *, classifier: str | None = None
    ) -> Row:
        """Return the row with the highest mean, for one estimator or for all.

        Parameters
        ----------
        estimator : str, default=None
            Name of the estimator; None considers all.
        scorer : str, default=None
            Name of the scorer; None is the first.
        classifier : str, default=None
            The former name of `estimator`.

        Returns
        -------
        Row
            A row that is `best` for its estimator, and so has a score for every split. If there is none, a
            row with the most splits. Of equal means the one with the fewest features.
        """
        estimator = renamed(estimator, classifier, "classifier", "estimator")
        scorer = scorer or next(iter(self.about["scoring"]))
        rows = [row for row in self.rows if row.scorer == scorer and estimator in (None, row.estimator)]
        if not rows:
            raise ValueError(f"There are no results of estimator {estimator!r} and scorer {scorer!r}.")
        return best_row(rows)

    def pairs(self, estimator: str | None = None, scorer: str | None = None) -> list[dict[str, Any]]:
        """Compare every two rows of the same data set, estimator and scorer.

        Parameters
        ----------
        estimator : str, default=None
            Name of the estimator; None is all of them.
        scorer : str, default=None
            Name of the scorer; None is all of them.

        Returns
        -------
        list of dict
            Pairs of the best rows first; ``pandas.DataFrame(found.pairs())`` is a table. A pair has the names
            `dataset`, `estimator` and `scorer`; `method`, `size` and `n_features` of the row with the higher
            mean, and `other_method`, `other_size` and `other_n_features` of the other; the number `n` of
            splits that both have; the mean `difference` of their scores with its 95 % interval, `lower` to
            `upper`, corrected for shared training rows; its p-value `p`, and `p_adjusted`, adjusted by Holm's
            method for all pairs of the data set, estimator and scorer. What is not known is None: an interval
            or p-value for fewer than 5 splits, or if all differences are equal.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> found = compare(*load_iris(return_X_y=True), ["info-gain"], ["nb"], sizes=[1, 2], cv=5)
        >>> for pair in found.pairs():
        ...     print(pair["method"], pair["size"], "-", pair["other_method"], pair["other_size"])
        info-gain 2 - none all
        info-gain 2 - info-gain 1
        none all - info-gain 1
        """
        from foresift.evaluation.compare.pairs import all_pairs

        if len(self.scores) != len(self.rows):
            raise ValueError("This comparison has no scores of single splits; run it again to compare pairs.")
        kept = [
            k
            for k, row in enumerate(self.rows)
            if estimator in (None, row.estimator) and scorer in (None, row.scorer)
        ]
        if self.rows and not kept:
            raise ValueError(f"There are no results of estimator {estimator!r} and scorer {scorer!r}.")
        return all_pairs([self.rows[k] for k in kept], [self.scores[k] for k in kept])

    def to_dict(self, *, all_pairs: bool = False) -> dict[str, Any]:
        """Return everything as JSON types; unknown numbers are None. `all_pairs` adds those of `pairs`."""
        return {
            "verdict": self.verdict,
            "recommendation": self.recommendation,
            "recommended": None if self.recommended is None else self.recommended.to_dict(),
            "about": self.about,
            "rows": [row.to_dict() for row in self.rows],
            "failures": self.failures,
            "selected": self.selected,
            "ranks": self.ranks,
            "titles": self._titles(),
        } | ({"pairs": self.pairs()} if all_pairs else {})

    def _titles(self) -> dict[str, str]:
        """What the methods and estimators that are known by name do."""
        known = {"none": "the estimator with all columns"}
        for row in self.rows:
            if row.method in METHODS:
                known[row.method] = METHODS[row.method].title
            if row.classifier in ESTIMATORS:
                known[row.classifier] = ESTIMATORS[row.classifier].title
        return known

    def to_frame(self) -> Any:
        """Return the rows as a pandas frame, which needs pandas; `to_dict` does not."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas, or use to_dict().") from error
        return pd.DataFrame([row.to_dict() for row in self.rows])

    def to_html(self, path: str | Path | None = None, *, all_pairs: bool = False) -> str:
        """Return the report as one HTML page, and write it if `path` is given; `all_pairs` adds these."""
        from foresift.report import comparison_html
        from foresift.report.output import atomic

        page = comparison_html(self.to_dict(all_pairs=all_pairs))
        if path is not None:
            with atomic(Path(path)) as place:
                place.write_text(page, encoding="utf-8")
        return page

    def _repr_html_(self) -> str:
        from foresift.report import framed

        return framed(self.to_html(), "Methods compared")

    @property
    def verdict(self) -> str:
        """Which method does best, on the first data set, and whether the others are significantly worse."""
        from foresift.evaluation.compare.text import verdict

        return verdict(self.rows)

    @property
    def recommended(self) -> Row | None:
        """The fewest columns that are not significantly worse than the best, with its estimator.

        None if there is nothing to go by, as for fewer than 5 splits, or if the best row is not significantly
        better than always predicting the most frequent class.
        """
        return recommended_row(self.rows, self.scores)

    @property
    def recommendation(self) -> str:
        """The row `recommended` in a sentence; empty if there is none."""
        from foresift.evaluation.compare.text import recommendation

        return recommendation(self.rows, self.scores)

    def plot_curve(self, **options: Any) -> Any:
        """Draw the scores of all methods over the number of features; see `foresift.plots`."""
        from foresift.report.plots.of_methods import MethodCurvesDisplay

        return MethodCurvesDisplay.from_comparison(self.to_dict(), **options)

    def plot_pareto(self, **options: Any) -> Any:
        """Draw the scores against the numbers of columns; see `foresift.plots`."""
        from foresift.report.plots.of_methods import ParetoDisplay

        return ParetoDisplay.from_comparison(self.to_dict(), **options)

    def plot_stability(self, size: Any = None, **options: Any) -> Any:
        """Draw how often each method selects each feature; see `foresift.plots`."""
        from foresift.report.plots.of_many import StabilityDisplay

        return StabilityDisplay.from_comparison(self.to_dict(), size, **options)

    def plot_ranks(self, **options: Any) -> Any:
        """Draw the critical differences of the methods over several data sets; see `foresift.plots`."""
        from foresift.report.plots.of_many import CriticalDifferenceDisplay

        return CriticalDifferenceDisplay.from_comparison(self.to_dict(), **options)

    def __repr__(self) -> str:
        """Summarise the comparison in one line; printed, it is a table."""
        methods = list(dict.fromkeys(row.method for row in self.rows))
        shown = ", ".join(methods[:4]) + (", ..." if len(methods) > 4 else "")
        found = f": {shown}" if methods else ", all of which failed"
        return f"<Comparison on {self.about['dataset']}, {len(self.rows)} results{found}>"

    def __str__(self) -> str:
        from foresift.evaluation.compare.text import as_text

        return as_text(self.rows, self.about, self.failures)


def compare(
    X: Any,
    y: Any,
    methods: Sequence[Any] | Mapping[str, Any] | None = None,
    estimators: Sequence[Any] | Mapping[str, Any] = ("rf",),
    *,
    task: str = "auto",
    sizes: Size | Sequence[Size] | None = None,
    cv: Any = 10,
    repeats: int = 1,
    scoring: Any = None,
    groups: Any = None,
    time: Any = None,
    store: str | os.PathLike[str] | Store | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    name: str = "data",
    retry_failed: bool = False,
    progress: Any = False,
    classifiers: Any = None,
) -> Comparison:
    """Compare feature selection methods by the held-out scores of estimators on the selected features.

    Methods, estimators and all preprocessing are fitted to training rows only, and scored on held-out rows.
    No selection is always among the methods, as "none".

    Parameters
    ----------
    X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
        The columns. Methods and estimators get dates as days, times as seconds, since 1970.
    y : array-like of shape (n,)
        The classes, or a quantity.
    methods : sequence or mapping, default=None
        Names from `foresift methods`, selectors, or (name, selector) pairs. None: "forest-gain", "relevance",
        "info-gain", "relieff" and "random", as far as they take the target.
    estimators : sequence or mapping, default=("rf",)
        Names from `foresift methods` ("rf", "knn", "mlp", ...), classifiers or regressors of scikit-learn, or
        (name, estimator) pairs.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity. "auto": numbers with fractions are a quantity, and so are more
        than 20 different whole numbers; text, booleans, categories and any two values are classes.
    sizes : int, "own" or a sequence of them, default=None
        Numbers of features given to the estimators, from one ranking per split. "own", the default, is the
        method's own choice. A search stops when it has all these sizes.
    cv : int, float, splitter or iterable, default=10
        Number of folds, stratified by the classes or by quantiles of a quantity; share of the rows in a
        random test set; any splitter of scikit-learn; or pairs of row numbers or masks.
    repeats : int, default=1
        Number of repetitions with other splits.
    scoring : str, callable, sequence or mapping, default=None
        Scorers of scikit-learn. None: "accuracy", or "r2" for a quantity; for rare classes use "roc_auc", for
        three or more classes "balanced_accuracy". Without a store, a lambda will do.
    groups : array-like of shape (n,), default=None
        Rows of one group stay on one side of every split; a `cv` that splits a group is refused.
    time : array-like of shape (n,), default=None
        When every row was observed: numbers, or dates. A number of folds are blocks of time,
        without the training rows next to the block that is tested; a share are the last rows; a splitter
        sees the rows in the order of time.
    store : path or Store, default=None
        A file that keeps results. If it exists, only missing results are computed.
    n_jobs : int, default=None
        Processes; -1 for all cores. Under ``joblib.parallel_config("dask")`` the jobs run on the cluster.
    random_state : int, default=0
        Seed, from 0 to 2**32 - 1; equal seeds give equal results.
    name : str, default="data"
        Name of the data in the store.
    retry_failed : bool, default=False
        Whether to run tasks again that failed before.
    progress : bool or callable, default=False
        Whether to show a progress bar, or a function of the progress (see `harness.run.run`).
    classifiers : sequence or mapping, default=None
        The former name of `estimators`.

    Returns
    -------
    Comparison
        A table, with `to_frame`, `to_dict`, `best` and `pairs`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from foresift import compare
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> found = compare(X, y, ["info-gain", "random"], ["nb"], sizes=[3], cv=5)
    >>> for row in found.rows:
    ...     print(f"{row.method:9} {row.size:3} {row.mean:.3f} {row.stability:.2f}")
    none      all 0.932 nan
    info-gain 3   0.917 0.70
    random    3   0.926 0.22
    """
    estimators = renamed(estimators, classifiers, "classifiers", "estimators")
    if task not in TASKS:
        raise ValueError(f"task is {task!r}: give {', '.join(map(repr, TASKS[:-1]))} or {TASKS[-1]!r}.")
    data = Data.of(name, X, y, groups, task, time)
    if scoring is None:
        scoring = Quantity.metric if data.task == Quantity.task else Classes.metric
    protocol = Protocol(cv, repeats, "own" if sizes is None else sizes, scoring, random_state)
    wanted = protocol.sizes_for(data)
    chosen = methods_of(methods, wanted, data.task)
    models = named(estimators, lambda key: make_estimator(key, data.task), "estimator")
    jobs = plan_scores(data, chosen, models, protocol, kept=store is not None)
    place = store if isinstance(store, Store) else Store(":memory:" if store is None else store)
    try:
        run(jobs, [data], place, n_jobs=n_jobs, retry_failed=retry_failed, progress=progress)
        records = place.records(unit for job in jobs for unit in job.units)
    finally:
        if place is not store:
            place.close()
    named_target = getattr(y, "name", None)
    about = {
        "dataset": name,
        "target": named_target if isinstance(named_target, str) else "",
        "n_rows": data.n_rows,
        "n_features": data.n_features,
        "task": data.task,
        "classes": data.classes,
        "notes": _notes(y, data, task, protocol.scorers),
        "features": list(data.features),
        "cv": jobs[0].units[0].cv,
        **facts_of_dependence(data.dependence, groups, time),
        "repeats": int(repeats),
        "sizes": list(wanted),
        "scoring": list(protocol.scorers),
        "random_state": int(random_state),
        "store": None if place.path == ":memory:" else place.path,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "software": software(),
    }
    rows, scores = scored_rows(records, {data.checksum: data.n_features})
    shares = selection_shares(records, data.features)
    return Comparison(rows, about, failures(records), shares, scores=scores)


def _notes(y: Any, data: Data, task: str, scorers: Mapping[str, Any]) -> list[str]:
    """How numbers are treated, unless the user has said so, labels that may be one class, and rare ones."""
    if data.task == Quantity.task:
        return [note_on_quantity(data.y)] if task == "auto" else []
    notes = notes_on_classes(data.classes, numeric=task == "auto" and are_numbers(y, set(data.y.tolist())))
    target = Classes.read(data.y, data.n_rows)
    if target.lopsided and [*scorers] == [Classes.metric]:
        notes.append(note_on_rare_classes(target.largest_share, target.n_classes))
    return notes
