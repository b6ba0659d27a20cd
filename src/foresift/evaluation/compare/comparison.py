"""Which method, how many features, and can I trust it: `compare`, and the table it returns."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from foresift.data.target_notes import are_numbers, notes_on_classes
from foresift.errors import no_such
from foresift.evaluation.compare.summary import Row, failures, selection_shares, summarise
from foresift.evaluation.harness.chosen import Size
from foresift.evaluation.harness.evaluate import Protocol, plan_scores
from foresift.evaluation.harness.run import run
from foresift.evaluation.harness.store import Store
from foresift.evaluation.harness.tasks import Data, software
from foresift.evaluation.registry import METHODS, make_classifier

__all__ = ["Comparison", "compare", "make_method"]

NONE = "none"  # the name of no selection
DEFAULT_METHODS = ("forest-gain", "relevance", "info-gain", "relieff", "random")


@dataclass(frozen=True)
class Comparison:
    """What `compare` found; printed, it is a table.

    Attributes
    ----------
    rows : list of Row
        One for each method, classifier, size and scorer; no selection is the method "none".
    about : dict
        Data and protocol: name, rows, columns, classes, notes on them that a reader should be warned of,
        splits, scorers, seed, store, versions.
    failures : list of dict
        What went wrong, and how many times.
    selected : dict
        Method -> size -> feature -> share of the splits in which it was selected; up to 30 features each.
        Empty if there are several data sets.
    ranks : dict or None
        Mean ranks of the methods over several data sets, and the critical difference (Demsar 2006).
    """

    rows: list[Row]
    about: dict[str, Any]
    failures: list[dict[str, Any]]
    selected: dict[str, dict[str, dict[str, float]]]
    ranks: dict[str, Any] | None = None

    def best(self, classifier: str | None = None, scorer: str | None = None) -> Row:
        """Return the row of the highest mean, of a classifier or of all, by a scorer or the first.

        Parameters
        ----------
        classifier : str, default=None
            Its name; None looks at all.
        scorer : str, default=None
            Its name; None is the first.

        Returns
        -------
        Row
            One that is `best` for its classifier: it has a score for every split. If there is none, one of
            those with the most splits. Of equals the one of fewest features.
        """
        scorer = scorer or next(iter(self.about["scoring"]))
        rows = [row for row in self.rows if row.scorer == scorer and classifier in (None, row.classifier)]
        if not rows:
            raise ValueError(f"There are no results of classifier {classifier!r} and scorer {scorer!r}.")

        def worth(row: Row) -> tuple[Any, ...]:
            known = not math.isnan(row.mean)
            return row.best, known, 0 if row.best else row.n, row.mean if known else 0.0, -row.n_features

        return max(rows, key=worth)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON types; what is not known is None."""
        return {
            "about": self.about,
            "rows": [row.to_dict() for row in self.rows],
            "failures": self.failures,
            "selected": self.selected,
            "ranks": self.ranks,
        }

    def to_frame(self) -> Any:
        """Return the rows as a pandas frame, which needs pandas; `to_dict` does not."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas, or use to_dict().") from error
        return pd.DataFrame([row.to_dict() for row in self.rows])

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report as one HTML page, and write it if `path` is given."""
        from foresift.report import comparison_html
        from foresift.report.output import atomic

        page = comparison_html(self.to_dict())
        if path is not None:
            with atomic(Path(path)) as place:
                place.write_text(page, encoding="utf-8")
        return page

    def _repr_html_(self) -> str:
        from foresift.report import framed

        return framed(self.to_html(), "Methods compared")

    @property
    def verdict(self) -> str:
        """Which method does best, and whether the others are significantly worse."""
        from foresift.report.comparison_view import view

        return str(view(self.to_dict())["sentence"]).replace("\N{NO-BREAK SPACE}", " ")

    def plot_curve(self, **options: Any) -> Any:
        """Draw the scores of all methods over the number of features; see `foresift.plots`."""
        from foresift.report import plots

        return plots.MethodCurvesDisplay.from_comparison(self.to_dict(), **options)

    def plot_stability(self, size: Any = None, **options: Any) -> Any:
        """Draw which features each method selects, and in which share of the splits; see `foresift.plots`."""
        from foresift.report import plots

        return plots.StabilityDisplay.from_comparison(self.to_dict(), size, **options)

    def plot_ranks(self, **options: Any) -> Any:
        """Draw the critical differences of the methods over several data sets; see `foresift.plots`."""
        from foresift.report import plots

        return plots.CriticalDifferenceDisplay.from_comparison(self.to_dict(), **options)

    def __repr__(self) -> str:
        """Say in one line what was compared; printed, it is a table."""
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
    methods: Sequence[Any] | Mapping[str, Any] = DEFAULT_METHODS,
    classifiers: Sequence[Any] | Mapping[str, Any] = ("rf",),
    *,
    sizes: Size | Sequence[Size] | None = None,
    cv: Any = 10,
    repeats: int = 1,
    scoring: Any = "accuracy",
    groups: Any = None,
    store: str | os.PathLike[str] | Store | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    name: str = "data",
    retry_failed: bool = False,
    progress: Any = False,
) -> Comparison:
    """Compare feature selection methods by what classifiers make of their selections.

    Every method is fitted on training rows only, and so is all that the classifiers need; they are judged on
    the rows left out. No selection is always among the methods, as "none".

    Parameters
    ----------
    X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
        The columns.
    y : array-like of shape (n,)
        The classes.
    methods : sequence or mapping
        Names from `foresift methods`, selectors, or (name, selector) pairs.
    classifiers : sequence or mapping, default=("rf",)
        Names ("rf", "c45", "nb", "knn", "knn-manhattan", "svm", "svm-linear", "mlp"), classifiers, or pairs.
    sizes : int, "own" or a sequence of them, default=None
        How many of the best features the classifiers get, from one ranking per split; "own", which is also
        what None means, is what the method selects by itself. A search goes as far as the sizes ask for.
    cv : int, float, splitter or iterable, default=10
        Stratified folds; a share of the rows for testing, drawn at random; any splitter of scikit-learn; or
        pairs of row numbers or masks.
    repeats : int, default=1
        How many times the rows are split anew.
    scoring : str, callable, sequence or mapping, default="accuracy"
        Scorers of scikit-learn.
    groups : array-like of shape (n,), default=None
        Rows of one group stay on one side of every split; a `cv` that parts a group is refused.
    store : path or Store, default=None
        A file to keep results in. If it is there, only what is missing in it is done.
    n_jobs : int, default=None
        Processes; -1 for all cores. Under ``joblib.parallel_config("dask")`` the cluster does the work.
    random_state : int, default=0
        From 0 to 2**32 - 1; equal numbers give equal results.
    name : str, default="data"
        What the data is called in the store.
    retry_failed : bool, default=False
        Whether what failed before is tried again.
    progress : bool or callable, default=False
        Whether to draw a bar with the time left, or what to call (`experiment.run`).

    Returns
    -------
    Comparison
        A table; `to_frame`, `to_dict`, `best`.

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
    data = Data.of(name, X, y, groups)
    protocol = Protocol(cv, repeats, "own" if sizes is None else sizes, scoring, random_state)
    wanted = protocol.sizes_for(data)
    chosen = {NONE: None, **_named(methods, lambda key: make_method(key, wanted), "method")}
    if chosen[NONE] is not None:
        raise ValueError(f"{NONE!r} is the name of no selection: give that method another name.")
    models = _named(classifiers, make_classifier, "classifier")
    jobs = plan_scores(data, chosen, models, protocol)
    place = store if isinstance(store, Store) else Store(":memory:" if store is None else store)
    try:
        run(jobs, [data], place, n_jobs=n_jobs, retry_failed=retry_failed, progress=progress)
        records = place.records(unit for job in jobs for unit in job.units)
    finally:
        if place is not store:
            place.close()
    about = {
        "dataset": name,
        "n_rows": data.n_rows,
        "n_features": data.n_features,
        "classes": data.classes,
        "notes": notes_on_classes(data.classes, numeric=are_numbers(y, set(data.y.tolist()))),
        "features": list(data.features),
        "cv": jobs[0].units[0].cv,
        "repeats": int(repeats),
        "sizes": list(wanted),
        "scoring": list(protocol.scorers),
        "random_state": int(random_state),
        "store": None if place.path == ":memory:" else place.path,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "software": software(),
    }
    rows = summarise(records, {data.checksum: data.n_features})
    return Comparison(rows, about, failures(records), selection_shares(records, data.features))


def make_method(key: str, sizes: Sequence[Size] = ("own",)) -> Any:
    """Make the selector of a method that the command line knows by name.

    Parameters
    ----------
    key : str
        One of `METHODS`.
    sizes : sequence of int or "own", default=("own",)
        What will be asked of it. A search that is asked for sizes only is told to go through all of them.

    Returns
    -------
    selector or None
        Not fitted; None for "none".

    Examples
    --------
    >>> make_method("ssv2"), make_method("sfs", [2, 5]).n_features_to_select
    (SSVSelector(mode='tree'), 5)
    >>> make_method("relif")
    Traceback (most recent call last):
        ...
    ValueError: There is no method 'relif'; did you mean 'relief'? `foresift methods` lists them.
    """
    if key == NONE:
        return None
    if key not in METHODS:
        raise no_such("method", key, METHODS, "`foresift methods` lists them.")
    method = METHODS[key]
    if not method.is_search:
        return method.make()
    # A half-finished search, or one that talks, is of no use here.
    options: dict[str, Any] = {"verbose": 0, "return_partial": False}
    counts = [size for size in sizes if not isinstance(size, str)]
    if len(counts) == len(sizes):
        grows = method.parameters.get("direction") in ("forward", "plus-minus")
        options["n_features_to_select"] = max(counts) if grows else min(counts)
    return method.make(**options)


def _named(given: Any, make: Any, what: str) -> dict[str, Any]:
    """Estimators by name, from names, estimators, pairs or a mapping."""
    if isinstance(given, str) or hasattr(given, "fit"):
        given = [given]
    named: dict[str, Any] = {}
    for item in given.items() if isinstance(given, Mapping) else given:
        name, estimator = item if isinstance(item, tuple) else (item, item)
        if isinstance(estimator, str):
            estimator = make(estimator)
        if not isinstance(name, str):
            name = type(name).__name__
        if name in named:
            if isinstance(item, str):
                raise ValueError(f"The {what} {name!r} is there twice: name it once.")
            raise ValueError(
                f"Two {what}s are named {name!r}: give (name, {what}) pairs with different names."
            )
        named[name] = estimator
    if not named:
        raise ValueError(f"At least one {what} is needed.")
    return named
