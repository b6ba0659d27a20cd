"""The command `foresift select`: read a table, rank its columns, print the ranking."""

import math
import warnings
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foresift.cli_errors import guarded
from foresift.errors import InputError
from foresift.methods import METHODS, SEARCHES
from foresift.reading import read_table, split_target
from foresift.terminal import Ranked, print_ranking

if TYPE_CHECKING:
    import numpy as np

__all__ = ["select"]

# `auto` is the one we would take ourselves.
Method = StrEnum("Method", {key.replace("-", "_"): key for key in ("auto", *METHODS)})  # type: ignore[misc]
AUTO = Method("auto")


def rank(
    columns: dict[str, "np.ndarray"],
    labels: "np.ndarray",
    *,
    method: str = "forest-gain",
    trees: int | None,
    seed: int,
    jobs: int,
    k: int | None = None,
) -> list[Ranked]:
    """Rank columns by one of `METHODS`.

    Parameters
    ----------
    columns : dict of str to ndarray
        The columns to rank.
    labels : ndarray
        The target, one label per row.
    method : str, default="forest-gain"
        A key of `METHODS`.
    trees : int or None
        How many trees to grow, if the method grows a forest; None: what suits the method.
    seed : int
        Equal seeds give equal rankings.
    jobs : int
        How many threads; -1 for all cores.
    k : int, default=None
        Size of the set that a method which searches for one is to find.

    Returns
    -------
    list of Ranked
        Best first: forest-gain by how far the gain is above chance (a column of many values gains more by
        chance than one of few, so gains alone do not compare), other methods by their own ranking. Columns
        without a score have NaN and come last.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(40.0)
    >>> columns = {"noise": x % 3, "signal": x}
    >>> [column.name for column in rank(columns, x > 15, trees=20, seed=0, jobs=1)]
    ['signal', 'noise']
    """
    import numpy as np

    module, name, parameters, _ = METHODS[method]
    selector = getattr(import_module(f"foresift.{module}"), name)(**parameters)
    given = {"random_state": seed, "n_jobs": jobs} | ({} if trees is None else {"n_estimators": trees})
    if k is not None and module in SEARCHES:
        given |= {"n_features_to_select": k}
    selector.set_params(**{key: value for key, value in given.items() if key in selector.get_params()})
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No feature passed")  # the marks in the table say so
        selector.fit(columns, labels)
    if method != "forest-gain":
        kept = getattr(selector, "relevant_", selector.support_)  # of which there may be none
        pvalues = getattr(selector, "pvalues_", np.full(len(columns), math.nan))
        chance = [math.nan] * len(columns)
        ranked = map(Ranked, columns, selector.scores_.tolist(), kept.tolist(), chance, pvalues.tolist())
        return [column for _, column in sorted(zip(selector.ranking_.tolist(), ranked, strict=True))]
    order = np.argsort(selector.expected_scores_ - selector.scores_, kind="stable")  # NaN comes last
    results = (selector.scores_, selector.support_, selector.expected_scores_, selector.pvalues_)
    ranked = map(Ranked, columns, *(result.tolist() for result in results))
    listed = list(ranked)
    return [listed[j] for j in order]


@guarded
def select(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A CSV file with a header line.")],
    target: Annotated[str, typer.Option(metavar="COL", help="The column to explain.")],
    method: Annotated[Method, typer.Option(help="How to rank; see `foresift methods`.")] = AUTO,
    k: Annotated[
        int | None, typer.Option(min=1, help="Show only the best K columns; a search looks for that many.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Equal seeds give equal rankings.")] = 0,
    jobs: Annotated[int, typer.Option(help="Threads; -1 for all cores.")] = -1,
    trees: Annotated[
        int | None,
        typer.Option(min=1, help="Trees of a forest; by default as many as suit the method."),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
) -> None:
    """Rank the columns of DATA by how much they tell about the target.

    A cell that is empty, ?, NA or NaN is a missing value.
    """
    if jobs == 0:
        raise InputError("--jobs is a number of threads, or -1 for all cores; it cannot be 0.")
    columns, labels = split_target(read_table(data), target)
    if k is not None and k > len(columns):
        raise InputError(f"--k is {k}, but there are only {len(columns)} columns besides the target.")
    key = "forest-gain" if method is AUTO else method.value
    ranking = rank(columns, labels, method=key, trees=trees, seed=seed, jobs=jobs, k=k)
    size = f"{len(labels)} rows, {len(columns)} columns"
    how = METHODS[key][-1]
    if key == "forest-gain":
        grown = METHODS[key][2]["n_estimators"] if trees is None else trees
        how = f"average information gain in {grown} trees above what chance gives, seed {seed}"
    print_ranking(ranking[:k], columns, f"{data.name}: {size}, target {target}; {how}")
