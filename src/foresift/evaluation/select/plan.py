"""How much of a table the check looks at, so that it ends within a minute or so."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

__all__ = ["Plan", "plan_for"]

# What a table may cost, in cells (rows times columns) that a ranking looks at; a million take about 5 s.
MAX_CELLS = 1_300_000  # of the rows that are used; of more, some are drawn
MIN_ROWS, MAX_ROWS = 500, 10_000  # that are used, however many columns there are
FIVE_FOLDS = 250_000  # cells up to which there are five folds; beyond, three
FULL_TREES = 500_000  # cells up to which the ranking has all its trees in the folds


@dataclass(frozen=True)
class Plan:
    """How the assessment is done, so that it ends within a minute or so on any table.

    Attributes
    ----------
    n_rows : int
        Rows that are used, at most.
    n_folds : int
        Folds.
    tree_share : float
        Share of the trees of a ranking that is grown in the folds.
    """

    n_rows: int
    n_folds: int
    tree_share: float

    @property
    def one_by_one(self) -> bool:
        """Whether rankings follow each other, each in all threads: two of a wide table need much memory.

        Examples
        --------
        >>> plan_for(200, 10_000).one_by_one, plan_for(600, 12).one_by_one
        (True, False)
        """
        return self.n_folds < 5

    def jobs(self, n_jobs: int | None) -> tuple[int | None, int | None]:
        """How many threads share out the rankings, and how many each of them has."""
        return (1, n_jobs) if self.one_by_one else (n_jobs, 1)

    def lots(self, *, by_curve: bool) -> list[tuple[int, ...]]:
        """Folds that are held out together: each alone, and every two if inner folds choose sizes.

        Examples
        --------
        >>> plan_for(200, 10_000).lots(by_curve=True)
        [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
        """
        folds = range(self.n_folds)
        return [lot for size in (1, 2)[: 1 + by_curve] for lot in combinations(folds, size)]


def plan_for(n_rows: int, n_columns: int) -> Plan:
    """Plan the assessment of a table by its size alone, so that equal seeds give equal results anywhere.

    Examples
    --------
    >>> plan_for(600, 12)
    Plan(n_rows=600, n_folds=5, tree_share=1.0)
    >>> plan_for(100_000, 50).n_rows, plan_for(200, 10_000).n_folds
    (10000, 3)
    """
    used = min(n_rows, max(MIN_ROWS, min(MAX_ROWS, MAX_CELLS // n_columns)))
    cells = used * n_columns
    return Plan(used, 5 if cells <= FIVE_FOLDS else 3, min(1.0, max(0.2, FULL_TREES / cells)))
