"""Results in one SQLite file, a row for each task, safe against a crash at any moment."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from foresift.errors import InputError, OutputError
from foresift.evaluation.harness.record_rows import (
    IDENTITY,
    RESULTS,
    SELECT,
    Damaged,
    Table,
    data_row,
    record_of,
    row_of,
    run_row_of,
    table_of,
)
from foresift.evaluation.harness.tasks import Data, Record, Unit

__all__ = ["Store", "StoreError", "StoreNotWritten"]

VERSION = 1  # of the tables below
_APPLICATION = 0x46535446  # "FSTF": marks our files
_WAIT = 60.0  # seconds to wait for another process that is writing
_NUMBERS = ("repeat", "fold", "seed")

# `units` has the definition and the results of a task, `runs` when and where it was done: so the first is
# the same bit for bit whether a run was interrupted or not. Error messages vary too: some list a set.
_TABLES = f"""
CREATE TABLE datasets (
    data TEXT PRIMARY KEY, dataset TEXT NOT NULL, n_rows INTEGER NOT NULL, n_features INTEGER NOT NULL,
    classes TEXT NOT NULL, features TEXT NOT NULL
);
CREATE TABLE units (
    key TEXT PRIMARY KEY,
    {", ".join(f"{name} {'INTEGER' if name in _NUMBERS else 'TEXT'} NOT NULL" for name in IDENTITY)},
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
_STATEMENTS = [" ".join(statement.split()) for statement in _TABLES.split(";") if statement.strip()]


class StoreError(InputError):
    """An error of a store, and what to do about it."""


class StoreNotWritten(StoreError, OutputError):
    """A store cannot be written at the moment; its contents are safe."""


class Store:
    """A file of results.

    Every `add` is one transaction that is on the disk when it returns: a killed process or a loss of power
    loses at most the work in progress. Only one process should write to a store, but more do no harm: they
    wait for each other, and a task is not written twice.

    Parameters
    ----------
    path : path or ":memory:"
        The file; it is created if needed. Not on a network drive, where SQLite cannot lock.
    read_only : bool, default=False
        Whether the file is only read: then it must exist, its folder may be read-only, and nothing is written
        into it or beside it.

    Notes
    -----
    The tables, for plain SQL:

    - `units`: one row for each task: its `key`, everything that defines it (`dataset`, `method`,
      `classifier`, `repeat`, `fold`, ...), `status` ("done" or "failed"), and JSON in `scores`
      (scorer -> size -> score), `features` ("order": best first, "own": the method's own choice; numbers of
      columns from 0) and `extra`.
    - `runs`: time, host, durations, warnings and errors, by `key`.
    - `datasets`: size, classes and names of the columns, by `data`.
    - `curves`: a view of `units`, one row for each score of each size.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from foresift import InfoGainSelector
    >>> from foresift.evaluation.harness.evaluate import Protocol, plan_scores, score_units
    >>> from foresift.evaluation.harness.tasks import Data
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

    def __init__(self, path: str | os.PathLike[str], *, read_only: bool = False) -> None:
        self.path = str(path)
        self._copies: tempfile.TemporaryDirectory[str] | None = None
        self._read_only = read_only and self.path != ":memory:"
        self._require_valid_path()
        with self._explained():
            try:
                self._connection = self._connected()
                self._prepare()
            except BaseException:
                self.close()
                raise

    def _require_valid_path(self) -> None:
        path = Path(self.path)
        if self.path == ":memory:" or (path.is_file() and os.access(path, os.R_OK)):
            return
        if path.is_dir():
            raise StoreError(f"{path} is a folder: name a file, for example {path / 'results.sqlite'}.")
        if path.exists():
            raise StoreError(f"{path} cannot be read, or is no ordinary file: name another file.")
        if self._read_only:
            raise StoreError(f"There is no file {path}.")
        if not path.parent.is_dir():
            raise StoreError(f"There is no folder {path.parent} for the store {path.name}: make it first.")

    def _connected(self) -> sqlite3.Connection:
        if not self._read_only:
            return sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None)
        # In WAL mode SQLite writes beside a file even to read it, except in these ways.
        path = Path(self.path).resolve()
        log, shared = Path(f"{path}-wal"), Path(f"{path}-shm")
        how = "immutable=1"  # no log: no process is writing
        if log.exists() and shared.exists():  # a process may be writing
            how = "mode=ro&readonly_shm=1"
        elif log.exists() and log.stat().st_size:  # only a copy can merge the log
            self._copies = tempfile.TemporaryDirectory(prefix="foresift-")
            path, _ = (Path(shutil.copy(file, self._copies.name)) for file in (path, log))
            how = "mode=ro"
        return sqlite3.connect(f"{path.as_uri()}?{how}", uri=True, timeout=_WAIT, isolation_level=None)

    def _prepare(self) -> None:
        if not self._is_ours():
            if self._read_only:
                raise StoreError(f"{self.path} is an empty file: name another file.")
            self._switch_to_wal()
            with self._transaction():
                if not self._is_ours():  # or another process has made the tables meanwhile
                    for statement in _STATEMENTS:
                        self._connection.execute(statement)
        # FULL, not NORMAL: results of `add` survive a loss of power. It costs milliseconds, where a task
        # takes a tenth of a second or more (docs/comparing.md has figures).
        self._connection.execute("PRAGMA synchronous = FULL")

    def _is_ours(self) -> bool:
        """Whether the tables exist; False for an empty file, an error for anything else."""
        # Tables first: if another process is making them now, it has set the application id before.
        tables, ((application,),), ((version,),) = (
            self._connection.execute(query).fetchall()
            for query in (
                "SELECT type, sql FROM sqlite_master",
                "PRAGMA application_id",
                "PRAGMA user_version",
            )
        )
        if tables and application != _APPLICATION:
            raise StoreError(f"{self.path} is a database, but not a store of foresift: name another file.")
        if tables and version != VERSION:
            raise StoreError(
                f"{self.path} is a store of format {version}, but this foresift reads format {VERSION}:"
                " use the version that made it, or name another file."
            )
        found = {" ".join(str(sql).split()) for kind, sql in tables if kind == "table"}
        if tables and not found.issuperset(s for s in _STATEMENTS if s.startswith("CREATE TABLE")):
            raise Damaged("its tables are not those that foresift makes")
        return bool(tables)

    def _switch_to_wal(self) -> None:
        """Turn on the write-ahead log, once in the life of a file."""
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
        """Translate errors of SQLite."""
        try:
            yield
        except Damaged as error:
            raise self.damaged(str(error)) from error
        except UnicodeDecodeError as error:  # in a name or a message of SQLite
            raise self.damaged("a text is not UTF-8") from error
        except sqlite3.Error as error:
            text = str(error)
            if "disk I/O error" in text and self._disk_is_full():
                text = "disk is full"
            kind, what = next(
                (found for part, found in _MEANINGS.items() if part in text),
                (StoreError, f"could not answer: {text}."),
            )
            raise kind(f"{self.path} {what}") from error

    def damaged(self, what: str) -> StoreError:
        """Make an error that says what is wrong with the file."""
        return StoreError(f"{self.path} {_DAMAGED.format(f' ({what})')}")

    def _disk_is_full(self) -> bool:
        """Whether the disk is too full for the log of a store, which SQLite does not say."""
        with contextlib.suppress(OSError):
            return shutil.disk_usage(Path(self.path).resolve().parent).free < _MIN_FREE
        return False

    def add(self, records: Iterable[Record]) -> int:
        """Store records, all or none of them, and return the number of new ones.

        A record replaces an earlier one that failed; one that is done stays as it is.
        """
        new = 0
        with self._explained(), self._transaction():
            for record in records:
                if self._connection.execute(_INSERT, row_of(record)).rowcount:
                    self._connection.execute(_INSERT_RUN, run_row_of(record))
                    new += 1
        return new

    def add_data(self, data: Data) -> None:
        """Store name, size, classes and columns of a table, not its values."""
        row = data_row(data)
        with self._explained(), self._transaction():
            self._connection.execute("INSERT OR IGNORE INTO datasets VALUES (?, ?, ?, ?, ?, ?)", row)
            query = "SELECT n_rows, n_features FROM datasets WHERE data = ?"
            if self._connection.execute(query, row[:1]).fetchall() != [row[2:4]]:
                raise Damaged(f"the row {data.checksum!r} of its table datasets has the wrong size")

    def tables(self) -> dict[str, Table]:
        """Return the descriptions that `add_data` stored, by checksum."""
        with self._explained():
            return dict(map(table_of, self.sql("SELECT * FROM datasets")))

    def statuses(self) -> dict[str, str]:
        """Return whether each stored task is "done" or "failed", by key."""
        found = dict(self.sql("SELECT key, status FROM units"))
        if not {"done", "failed"}.issuperset(found.values()):
            raise self.damaged("a row of its table units has a wrong status")
        return found

    def finished(self) -> dict[str, str]:
        """Return when each stored task was finished, in ISO 8601, by key."""
        return dict(self.sql("SELECT key, finished FROM units LEFT JOIN runs USING (key)"))

    def records(self, units: Iterable[Unit] | None = None) -> list[Record]:
        """Return the records of these tasks, in their order, or of all, in the order of their keys.

        Tasks that are not stored are left out. Host and traceback are in the table `runs` only.
        """
        found: dict[str, Record] = {}
        if units is None:
            rows = self.sql(SELECT + " ORDER BY key")
        else:
            units = list(units)
            keys = [unit.key for unit in units]
            # Older versions of SQLite refuse more than some hundred keys in a query.
            rows = [row for k in range(0, len(keys), 500) for row in self._rows_of(keys[k : k + 500])]
        widths = {data: table.n_features for data, table in self.tables().items()}
        with self._explained():
            for row in rows:
                record = record_of(row, widths)
                found[record.unit.key] = record
        return list(found.values()) if units is None else [found[key] for key in keys if key in found]

    def _rows_of(self, keys: Sequence[str]) -> list[tuple[Any, ...]]:
        return self.sql(f"{SELECT} WHERE units.key IN ({', '.join('?' * len(keys))})", keys)

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
        if hasattr(self, "_connection"):  # otherwise it could not be opened
            self._connection.close()
        if self._copies is not None:
            self._copies.cleanup()


_COLUMNS = ("key", *IDENTITY, *RESULTS)
# A failed task is replaced; one that is done stays.
_INSERT = f"""
INSERT INTO units ({", ".join(_COLUMNS)}) VALUES ({", ".join("?" * len(_COLUMNS))})
ON CONFLICT (key) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in RESULTS)} WHERE units.status = 'failed'
"""
_INSERT_RUN = "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_MIN_FREE = 2**16  # bytes; the log of a store takes half of that
_FULL = (
    "cannot be written, the disk is full: free some space, then run the same again, which continues; no"
    " results are lost."
)
_DAMAGED = "is damaged{}: restore it from a copy, delete it, or name another file."
_MEANINGS = {  # by what SQLite says
    "not a database": (StoreError, "is not a SQLite file: name another file."),
    "malformed": (StoreError, _DAMAGED.format("")),
    "unsupported file format": (StoreError, _DAMAGED.format("")),
    "Could not decode to UTF-8": (StoreError, _DAMAGED.format(" (a text is not UTF-8)")),
    "locking protocol": (
        StoreError,
        "has a damaged log: delete the files that end in -wal and -shm, if no process writes to it.",
    ),
    "locked": (
        StoreNotWritten,
        f"has been locked by another process for {_WAIT:.0f} s: wait for it, then run the same again.",
    ),
    "disk is full": (StoreNotWritten, _FULL),
    "readonly": (StoreNotWritten, "cannot be written: the file or its folder is read-only."),
    "unable to open": (
        StoreNotWritten,
        "cannot be opened: its folder is read-only, or belongs to another user.",
    ),
    "disk I/O error": (
        StoreNotWritten,
        "cannot be written or read (disk I/O error): is it on a network drive?",
    ),
}
