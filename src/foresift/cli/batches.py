"""`foresift select` of tables that are read in batches: larger than memory, or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foresift.errors import InputError

if TYPE_CHECKING:
    from foresift.evaluation.select import Selection
    from foresift.reading.splitting import Split

__all__ = ["BatchTable", "opened", "refuse_options", "split_of", "wants_batches"]

_ROW_FORMS = (".parquet", ".pq", ".feather", ".arrow", ".csv", ".tsv", ".txt")


@dataclass(frozen=True)
class BatchTable:
    """What is printed of a table that is read in batches."""

    source: str
    how: str = "read in batches"
    form: str = ""
    suffix: str = ""
    notes: tuple[str, ...] = ()


def wants_batches(data: str, max_memory: float, *, asked: bool, cluster: str) -> bool:
    """Whether a table is to be read in batches: on request, on a cluster, or if it is too large for memory.

    Examples
    --------
    >>> wants_batches("no-such-file.csv", 4.0, asked=False, cluster="")
    False
    """
    if asked or cluster:
        return True
    path = Path(data)
    if data == "-" or not path.exists():
        return False
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    if path.is_file() and not path.name.lower().endswith(_ROW_FORMS):
        return False
    return sum(file.stat().st_size for file in files) > max_memory * 1e9


def refuse_options(**given: Any) -> None:
    """Refuse options that say something of every row, or that need the file as it stands."""
    for name, value in given.items():
        if value:
            flag = f"--{name.replace('_', '-')}"
            raise InputError(f"{flag} needs all rows in memory, but the table is read in batches: drop it.")


@contextmanager
def opened(data: str, target: str, drop: tuple[str, ...], cluster: str) -> Iterator[Any]:
    """Rows in batches; of a Parquet file or folder the workers of a cluster may read them."""
    from foresift.reading.row_sources import open_rows

    source = open_rows(data, target, drop=drop)
    if not cluster:
        yield source
        return
    from foresift.evaluation.harness.cluster import connected, require_workers
    from foresift.reading.arrow_rows import FileRows

    if not isinstance(source, FileRows):
        raise InputError(f"{data} is no Parquet file or folder: save it as one, which all workers can read.")
    with connected(cluster) as client:
        require_workers(client)
        source.client = client
        yield source


def split_of(found: Selection, target: str, drop: tuple[str, ...]) -> Split:
    """What is printed of the columns: their kinds are those that the file says."""
    import numpy as np

    from foresift.reading.kinds import Decision
    from foresift.reading.splitting import Split

    labels = np.empty(0, dtype=object if found.data["task"] == "classification" else float)
    decisions = [Decision(row["name"], row["kind"], "the file says so") for row in found.ranking]
    return Split({}, labels, target, decisions, list(drop))
