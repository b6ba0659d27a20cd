"""What the sentences of a selection count: columns and groups that may be dropped."""

from __future__ import annotations

from typing import Any, NamedTuple

from foresift.report.numbers import counted

__all__ = ["UnitRows"]

MAX_NAMES = 3  # of columns that are kept by request


class UnitRows(NamedTuple):
    """What sentences count: columns, or groups of them, that are not kept by request.

    `rows` has one row of the ranking for each, `requested` the names of the columns that are kept by request.
    """

    rows: list[dict[str, Any]]
    requested: list[str]

    @classmethod
    def of(cls, ranking: list[dict[str, Any]]) -> UnitRows:
        """Count the rows of a ranking: those of a group share a rank."""
        requested = [row for row in ranking if row.get("requested")]
        free = ranking[len(requested) :]
        first = [
            row for row, before in zip(free, [None, *free], strict=False) if not _same_group(row, before)
        ]
        return cls(first, [row["name"] for row in requested])

    def counted(self, n: int) -> str:
        """A number of them."""
        if not any(row.get("group") for row in self.rows):
            return counted(n, "column")
        return "1 column or group" if n == 1 else f"{n:,} columns and groups"

    @property
    def all(self) -> str:
        """How many there are, beside those that are kept by request."""
        n, more = len(self.requested), len(self.requested) - MAX_NAMES
        if not n:
            return self.counted(len(self.rows))
        names = ", ".join(self.requested[:MAX_NAMES]) + (f" and {more:,} more" if more > 0 else "")
        kept = f"the {'one' if n == 1 else f'{n:,}'} that you keep ({names})"
        return f"{self.counted(len(self.rows))} beside {kept}"

    @property
    def them(self) -> str:
        """What a sentence calls the columns that are kept by request."""
        return "it" if len(self.requested) == 1 else "them"

    def note(self, method: dict[str, Any]) -> list[str]:
        """Say what is not tested."""
        if not self.requested or method["error"] is None:
            return []
        columns = "column that you keep has" if len(self.requested) == 1 else "columns that you keep have"
        return [
            f"The {columns} no p-value: the test asks what helps beside {self.them}, and the error rate does"
            f" not count {self.them}."
        ]


def _same_group(row: dict[str, Any], before: dict[str, Any] | None) -> bool:
    return before is not None and row.get("group") is not None and row["rank"] == before["rank"]
