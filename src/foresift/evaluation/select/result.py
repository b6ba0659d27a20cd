"""What `select` returns: the ranking, what is known about it, and everything that can be made of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.containers import read
from foresift.data.slices import take_columns
from foresift.evaluation.select.loading import FORMAT, PARTS, read_selection

__all__ = ["Selection", "names_of"]

_TITLE = "Which columns matter"


@dataclass(frozen=True, eq=False)
class Selection:
    """What `select` found.

    Attributes
    ----------
    selector_ : selector
        Fitted to all rows; not there if the selection was loaded from a file.
    features : list
        The columns to keep, best first, as X labels them; may be empty. ``X[selection.features]`` are these
        columns of a frame, also if its labels are numbers or pairs.
    ranking : list of dict
        A row for every column, best first, as in `to_dict`: there a label is text. Columns that are kept by
        request come before the others, with the rank 0; those of a group share a rank.
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
        All columns as X labels them, in its order; None if they have no names. In `to_dict` they are
        `columns`, text and whole numbers as they are, others as text.
    profiles : dict or None
        The target over the values of the columns, those that are kept and up to 2,000 in all: `columns` has
        for each its number of values, the share of missing ones, the direction ("up", "down", "peak", "dip",
        "mixed", "differs" or "flat") and `parts` with the number of rows and the target of each: shares of
        the classes in `target`, or mean and quartiles of a quantity. None in files of earlier versions.
    associations : dict or None
        How strongly the kept and the redundant columns are associated with each other, from 0 to 1. None if
        there are fewer than two.
    source, created, version : str
        Name of the file, if there was one, when the selection was made, and by which version of foresift.

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

    _selector: Any
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
    profiles: dict[str, Any] | None = None
    associations: dict[str, Any] | None = None
    source: str = ""
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    version: str = field(default_factory=lambda: version("foresift"))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Selection:
        """Read a selection from the file selection.json of `foresift select --out`, or of `to_json`.

        Everything is as it was, but the fitted selector and the repetitions of the test, which the file does
        not hold.

        Parameters
        ----------
        path : path
            The file, or the folder that `--out` named.

        Returns
        -------
        Selection
            The same selection.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from foresift import Selection, select
        >>> from foresift.datasets import make_simple
        >>> selection = select(*make_simple(random_state=1), "info-gain", 2, check=False)
        >>> with TemporaryDirectory() as folder:
        ...     selection.to_json(Path(folder, "selection.json"))
        ...     again = Selection.load(Path(folder, "selection.json"))
        >>> again.features == selection.features, again.verdict
        (True, 'Kept the best 2 of 9 columns.')
        """
        path = Path(path)
        plain = read_selection(path / "selection.json" if path.is_dir() else path)
        others: dict[str, Any] = {key: plain.get(key) for key in PARTS - {"features", "columns", "foresift"}}
        return cls(None, plain["features"], labels=plain["columns"], version=plain["foresift"], **others)

    @property
    def selector_(self) -> Any:
        """The selector, fitted to all rows."""
        if self._selector is None:
            raise AttributeError(
                "This selection was loaded from a file, which does not hold the fitted selector: run select"
                " again, or pickle the selector."
            )
        return self._selector

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
            "foresift": self.version,
            "format": FORMAT,
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
            "profiles": self.profiles,
            "associations": self.associations,
            "columns": None if self.labels is None else list(map(_plain, self.labels)),
        }

    def to_json(self, path: str | PathLike[str]) -> None:
        """Write `to_dict` as a JSON file, which `load` reads."""
        from foresift.report.output import atomic, json_lines

        with atomic(Path(path)) as place, place.open("w", encoding="utf-8") as file:
            file.writelines(json_lines(self.to_dict()))
            file.write("\n")

    def to_frame(self) -> Any:
        """Return the ranking as a data frame of pandas or, where that is not installed, of polars."""
        for library in ("pandas", "polars"):
            with contextlib.suppress(ImportError):
                return import_module(library).DataFrame(self.ranking)
        raise ImportError("to_frame needs pandas or polars: pip install one of them, or use `ranking`.")

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

    def plot_columns(self, columns: Sequence[Any] | None = None, **options: Any) -> Any:
        """Draw the target over the values of columns, by default of the kept ones; see `foresift.plots`."""
        from foresift.report.plots.of_columns import plot_columns

        names = None if columns is None else list(map(str, columns))
        return plot_columns(self.to_dict(), names, **options)

    def plot_associations(self, **options: Any) -> Any:
        """Draw how strongly the kept and the redundant columns are associated; see `foresift.plots`."""
        from foresift.report.plots.of_columns import AssociationDisplay

        return AssociationDisplay.from_selection(self.to_dict(), **options)

    def plot_stability(self, **options: Any) -> Any:
        """Draw which columns passed the test again in which part of the rows; see `foresift.plots`."""
        from foresift.report.plots.of_many import StabilityDisplay

        if self.passes is None and self._selector is None:
            raise ValueError(
                "This selection was loaded from a file, which does not hold the repetitions of the test: run"
                " select again."
            )
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


def names_of(labels: Iterable[Any] | None, n_columns: int) -> list[str]:
    """Columns as texts and JSON have them.

    Examples
    --------
    >>> names_of([("a", 1), ("b", 1)], 2), names_of(None, 2)
    (["('a', 1)", "('b', 1)"], ['x0', 'x1'])
    """
    return [f"x{j}" for j in range(n_columns)] if labels is None else list(map(str, labels))


def _plain(label: Any) -> str | int:
    """A label as JSON holds it."""
    return int(label) if isinstance(label, int | np.integer) and not isinstance(label, bool) else str(label)
