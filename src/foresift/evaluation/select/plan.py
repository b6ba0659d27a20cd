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
# From so many rows on, folds have rows of their own: to learn from, to choose a size by, to be tested on.
LARGE, PARTS, MAX_PART, PART_CELLS, PART_SIZES, PART_TREES = 50_000, 5, 2_500, 800_000, 10, 0.4


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
    n_sizes : int
        Numbers of columns that are scored, at most.
    in_parts : bool
        Whether folds have disjoint rows: part i to learn from, the next to choose a size by, the one after
        that to be tested on. Otherwise all rows but those of a fold are its training rows.
    """

    n_rows: int
    n_folds: int
    tree_share: float
    n_sizes: int = 20
    in_parts: bool = False

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

        The first ones are those of the folds. In parts, fold n + i is the part that chooses a size for i.

        Examples
        --------
        >>> plan_for(200, 10_000).lots(by_curve=True)
        [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
        """
        folds = range(self.n_folds)
        if self.in_parts and by_curve:
            return [(fold, self.n_folds + fold) for fold in folds]
        return [lot for size in (1, 2)[: 1 + by_curve] for lot in combinations(folds, size)]


def plan_for(n_rows: int, n_columns: int) -> Plan:
    """Plan the assessment of a table by its size alone, so that equal seeds give equal results anywhere.

    Examples
    --------
    >>> plan_for(600, 12)
    Plan(n_rows=600, n_folds=5, tree_share=1.0, n_sizes=20, in_parts=False)
    >>> plan_for(20_000, 50).n_rows, plan_for(200, 10_000).n_folds
    (10000, 3)
    """
    if n_rows >= LARGE:
        part = max(MIN_ROWS, min(MAX_PART, PART_CELLS // n_columns))
        share = min(PART_TREES, max(0.2, FULL_TREES / (part * n_columns)))
        return Plan(PARTS * part, PARTS, share, PART_SIZES, in_parts=True)
    used = min(n_rows, max(MIN_ROWS, min(MAX_ROWS, MAX_CELLS // n_columns)))
    cells = used * n_columns
    return Plan(used, 5 if cells <= FIVE_FOLDS else 3, min(1.0, max(0.2, FULL_TREES / cells)))
