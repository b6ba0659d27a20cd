"""Which columns of a table that is read in batches count, and which is the target."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from foresift.errors import InputError
from foresift.reading.splitting import require_column

__all__ = ["Columns"]

_INDEX = re.compile(r"__index_level_\d+__")  # how pandas stores the labels of rows


@dataclass(frozen=True)
class Columns:
    """What the user says of columns.

    Attributes
    ----------
    target : str
        The column that is predicted.
    drop : collection of str
        Columns that are not read.
    only : collection of str or None
        The features, if not all other columns are.

    Examples
    --------
    >>> Columns("kind", drop=["id"]).of(["id", "size", "kind"], "demo")
    ['size', 'kind']
    """

    target: str
    drop: Collection[str] = ()
    only: Collection[str] | None = None

    def of(self, names: Sequence[str], source: str) -> list[str]:
        """The columns of a table that are read, in its order; raise for names that it lacks."""
        require_column(self.target, names, "")
        for name in (*self.drop, *(self.only or ())):
            require_column(name, names, "")
        if self.target in self.drop:
            raise InputError(f"drop names the target {self.target!r}.")
        if self.only is None:
            chosen = {name for name in names if not _INDEX.fullmatch(name)}
        else:
            chosen = set(self.only)
        chosen = (chosen | {self.target}).difference(self.drop)
        if len(chosen) == 1:
            raise InputError(
                f"{source} has no column besides the target {self.target!r} that is not dropped."
            )
        return [name for name in names if name in chosen]
