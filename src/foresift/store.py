"""Results in one SQLite file, a row for each unit of work, safe against a crash at any moment."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from foresift.errors import InputError, OutputError
from foresift.units import Data, Record, Unit, canonical

__all__ = ["Store", "StoreError", "StoreNotWritten"]

VERSION = 1  # of the tables below
_APPLICATION = 0x46535446  # "FSTF": tells our files from other people's
_WAIT = 60.0  # seconds to wait for another process that is writing
_IDENTITY = tuple(column.name for column in fields(Unit))
_NUMBERS = ("repeat", "fold", "seed")

# What a unit is and gave lies in `units`, when and where it was done in `runs`: so the first is the same bit
# for bit whether a run was interrupted or not. Texts of errors vary too: some list a set in no order.
_TABLES = f"""
CREATE TABLE datasets (
    data TEXT PRIMARY KEY, dataset TEXT NOT NULL, n_rows INTEGER NOT NULL, n_features INTEGER NOT NULL,
    classes TEXT NOT NULL, features TEXT NOT NULL
);
CREATE TABLE units (
    key TEXT PRIMARY KEY,
    {", ".join(f"{name} {'INTEGER' if name in _NUMBERS else 'TEXT'} NOT NULL" for name in _IDENTITY)},
    status TEXT NOT NULL CHECK (status IN ('done', 'failed')),
    scores TEXT NOT NULL, features TEXT NOT NULL, extra TEXT NOT NULL
);
CREATE TABLE runs (
    key TEXT PRIMARY KEY REFERENCES units (key),
    finished TEXT NOT NULL, select_seconds REAL, fit_seconds REAL, score_seconds REAL,
    host TEXT, about_host TEXT NOT NULL,
    warnings TEXT NOT NULL, error TEXT NOT NULL, traceback TEXT NOT NULL
);
CREATE VIEW curves AS
    SELECT units.key, dataset, method, classifier, repeat, fold,
        scorer.key AS scorer, size.key AS size, size.value AS score
    FROM units, json_each(units.scores) AS scorer, json_each(scorer.value) AS size
    WHERE status = 'done';
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {VERSION};
"""


class StoreError(InputError):
    """What is wrong with a store, and what to do about it."""


class StoreNotWritten(StoreError, OutputError):
    """Why a store cannot be written at the moment; what it has is safe."""


class Store:
    """A file of results.

    Every `add` is one transaction that is on the disk when it returns: a process that is killed, or a machine
    that loses power, loses at most what it was working on. Only one process should compute into a store,
    but more do no harm: they wait for each other to write, and a unit that is there is not written twice.

    Parameters
    ----------
    path : path or ":memory:"
        The file; it is made if it is not there. Not on a network drive, where SQLite cannot lock.
    create : bool, default=True
        Whether a file that is not there is made.

    Notes
    -----
    The tables, for plain SQL:

    - `units`: one row for each unit: its `key`, all that defines it (`dataset`, `method`, `classifier`,
      `repeat`, `fold`, ...), `status` ("done" or "failed"), and JSON in `scores`
      (scorer -> size -> score), `features` ("order": best first, "own": what the method chose; numbers of
      columns from 0) and `extra`.
    - `runs`: when, where, how long, warnings and errors, by `key`.
    - `datasets`: size, classes and names of the columns, by `data`.
    - `curves`: a view of `units`, one row for each score of each size.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from foresift import InfoGainSelector
    >>> from foresift.evaluate import Protocol, plan_scores, score_units
    >>> from foresift.units import Data
    >>> data = Data.of("iris", *load_iris(return_X_y=True))
    >>> methods, protocol = {"gain": InfoGainSelector()}, Protocol(cv=2, sizes=[1, 2])
    >>> jobs = plan_scores(data, methods, {"nb": GaussianNB()}, protocol)
    >>> store = Store(":memory:")
    >>> for job in jobs:
    ...     _ = store.add(score_units(data, job.arguments, job.units))
    >>> for row in store.sql("SELECT method, size, count(*), avg(score) FROM curves GROUP BY method, size"):
    ...     print(*row)
    gain 1 2 0.95...
    gain 2 2 0.96
    """

    def __init__(self, path: str | os.PathLike[str], *, create: bool = True) -> None:
        self.path = str(path)
        self._require_place(create)
        with self._explained():
            self._connection = sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None)
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def _require_place(self, create: bool) -> None:
        path = Path(self.path)
        if self.path == ":memory:" or path.is_file():
            return
        if path.is_dir():
            raise StoreError(f"{path} is a folder: name a file, for instance {path / 'results.sqlite'}.")
        if not create:
            raise StoreError(f"There is no file {path}.")
        if not path.parent.is_dir():
            raise StoreError(f"There is no folder {path.parent} for the store {path.name}: make it first.")

    def _prepare(self) -> None:
        if not self._is_ours():
            self._switch_to_wal()
            with self._transaction():
                if not self._is_ours():  # or another process has made the tables meanwhile
                    for statement in _TABLES.split(";"):
                        self._connection.execute(statement)
        # FULL, not NORMAL: a unit that `add` has taken is there after a loss of power too. It costs
        # milliseconds, where a unit is a tenth of a second or more (docs/comparing.md has figures).
        self._connection.execute("PRAGMA synchronous = FULL")

    def _is_ours(self) -> bool:
        """Whether the tables are there; False for an empty file, an error for anything else."""
        # Tables first: if another process makes them now, its mark is there when they are.
        tables, application, version = (
            self._connection.execute(query).fetchone()[0]
            for query in (
                "SELECT count(*) FROM sqlite_master",
                "PRAGMA application_id",
                "PRAGMA user_version",
            )
        )
        if tables and application != _APPLICATION:
            raise StoreError(f"{self.path} is a database, but not a store of foresift: name another file.")
        if tables and version != VERSION:
            raise StoreError(
                f"{self.path} is a store of format {version}, but this foresift knows format {VERSION}:"
                " use the foresift that made it, or name another file."
            )
        return bool(tables)

    def _switch_to_wal(self) -> None:
        """Turn on the write-ahead log, once for all in the life of a file."""
        # SQLite does not wait here if another process is doing the same.
        for left in reversed(range(100)):
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or not left:
                    raise
                time.sleep(0.05)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # some errors have rolled back already
                self._connection.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Say of SQLite's errors what they mean here."""
        try:
            yield
        except sqlite3.Error as error:
            text = str(error)
            if "disk I/O error" in text and self._has_no_room():
                text = "disk is full"
            kind, what = next(
                (found for part, found in _MEANINGS.items() if part in text),
                (StoreError, f"could not answer: {text}."),
            )
            raise kind(f"{self.path} {what}") from error

    def _has_no_room(self) -> bool:
        """Whether the disk is too full for the file beside a store; SQLite does not say so."""
        with contextlib.suppress(OSError):
            return shutil.disk_usage(Path(self.path).resolve().parent).free < _LEAST_ROOM
        return False

    def add(self, records: Iterable[Record]) -> int:
        """Store records, all or none of them; what is done already stays as it is.

        Parameters
        ----------
        records : iterable of Record
            What has come of some units. A record that failed is replaced by a later one.

        Returns
        -------
        int
            How many were new.
        """
        new = 0
        with self._explained(), self._transaction():
            for record in records:
                values = _row(record)
                if self._connection.execute(_INSERT, values).rowcount:
                    self._connection.execute(_INSERT_RUN, _run_row(record))
                    new += 1
        return new

    def add_data(self, data: Data) -> None:
        """Store what a table is: its name, size, classes and columns, not its values."""
        about = (data.checksum, data.name, data.n_rows, data.n_features)
        texts = (canonical(data.classes), canonical(data.features))
        with self._explained(), self._transaction():
            self._connection.execute(
                "INSERT OR IGNORE INTO datasets VALUES (?, ?, ?, ?, ?, ?)", about + texts
            )

    def statuses(self) -> dict[str, str]:
        """Whether each unit that is there is "done" or "failed", by key."""
        return dict(self.sql("SELECT key, status FROM units"))

    def records(self, units: Iterable[Unit] | None = None) -> list[Record]:
        """Return what came of these units, in their order, or of all; units that are not there are left out.

        Parameters
        ----------
        units : iterable of Unit, default=None
            What to look for; None is all, in the order of their keys.

        Returns
        -------
        list of Record
            Without host and traceback, which are in the table `runs`.
        """
        found: dict[str, Record] = {}
        if units is None:
            rows = self.sql(_SELECT + " ORDER BY key")
        else:
            units = list(units)
            keys = [unit.key for unit in units]
            # One query for some hundred keys: more are refused by older SQLite.
            rows = [row for k in range(0, len(keys), 500) for row in self._rows_of(keys[k : k + 500])]
        for row in rows:
            record = _record(row)
            found[record.unit.key] = record
        return list(found.values()) if units is None else [found[key] for key in keys if key in found]

    def _rows_of(self, keys: Sequence[str]) -> list[tuple[Any, ...]]:
        return self.sql(f"{_SELECT} WHERE units.key IN ({', '.join('?' * len(keys))})", keys)

    def sql(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self._explained():
            return self._connection.execute(query, parameters).fetchall()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


_COLUMNS = ("key", *_IDENTITY, "status", "scores", "features", "extra")
# A unit that failed gives way to one that did not, or failed later; one that is done stays.
_INSERT = f"""
INSERT INTO units ({", ".join(_COLUMNS)}) VALUES ({", ".join("?" * len(_COLUMNS))})
ON CONFLICT (key) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in _COLUMNS[-4:])} WHERE units.status = 'failed'
"""
_INSERT_RUN = "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_TIMES = ("select_seconds", "fit_seconds", "score_seconds")
_READ = ", ".join((*_IDENTITY, *_COLUMNS[-3:], *_TIMES, "warnings", "error"))
_SELECT = f"SELECT {_READ} FROM units JOIN runs USING (key)"
_LEAST_ROOM = 2**16  # bytes; the file beside a store in WAL mode takes half of that
_FULL = (
    "cannot be written, the disk is full: make room, then run the same again, which goes on; nothing that was"
    " done is lost."
)
_MEANINGS = {  # by what SQLite says
    "not a database": (StoreError, "is not a SQLite file: name another file."),
    "malformed": (StoreError, "is damaged: restore it from a copy, or name another file."),
    "locked": (
        StoreNotWritten,
        f"has been locked by another process for {_WAIT:.0f} s: let that end, then go on.",
    ),
    "disk is full": (StoreNotWritten, _FULL),
    "readonly": (StoreNotWritten, "cannot be written: the file or its folder is read-only."),
    "unable to open": (StoreNotWritten, "cannot be opened: its folder is read-only, or not yours."),
    "disk I/O error": (
        StoreNotWritten,
        "cannot be written or read (disk I/O error): is it on a network drive?",
    ),
}


def _row(record: Record) -> tuple[Any, ...]:
    unit = record.unit
    results = (canonical(record.scores), canonical(record.features), canonical(record.extra))
    status = "failed" if record.error else "done"
    return (unit.key, *(getattr(unit, name) for name in _IDENTITY), status, *results)


def _run_row(record: Record) -> tuple[Any, ...]:
    return (
        record.unit.key,
        datetime.now(UTC).isoformat(timespec="milliseconds"),
        *(record.seconds.get(name.split("_")[0]) for name in _TIMES),
        record.host.get("host"),
        canonical(record.host),
        canonical(record.notes),
        record.error,
        record.traceback,
    )


def _record(row: Sequence[Any]) -> Record:
    n = len(_IDENTITY)
    scores, features, extra = map(json.loads, row[n : n + 3])
    seconds = {
        name.split("_")[0]: value
        for name, value in zip(_TIMES, row[n + 3 : n + 6], strict=True)
        if value is not None
    }
    notes, error = json.loads(row[n + 6]), row[n + 7]
    return Record(Unit(*row[:n]), scores, features, extra, error, seconds, tuple(notes))
