"""What the report draws of columns: the target over their values, and how they are associated."""

from __future__ import annotations

from typing import Any

import numpy as np

from foresift.data.associations import associations
from foresift.data.profiles import Profiles
from foresift.data.target import Quantity
from foresift.evaluation.select.about_target import Modelled
from foresift.evaluation.select.fitted import Rows
from foresift.report.column_view import MOSTLY_MISSING
from foresift.report.numbers import PLAIN

__all__ = ["associations_of", "note_on_missing", "profiles_of"]

MAX_PROFILES = 2000  # columns: those that are kept, then the best
MAX_ASSOCIATED = 24
MAX_NAMED = 5


def profiles_of(
    rows: Rows, modelled: Modelled, names: list[str], ranking: list[dict[str, Any]], seed: int
) -> dict[str, Any]:
    """The target over the values of every column, for JSON and the report; see `Profiles`.

    Returns
    -------
    dict
        `target` of all rows, and `columns`: a profile by name.
    """
    target = rows.table.target
    y = modelled.in_units(target.y) if isinstance(target, Quantity) else None
    profiles = Profiles.of(rows.table, rows.weights, y, seed)
    place = {name: j for j, name in enumerate(names)}
    kept_first = sorted(ranking, key=lambda row: not row["kept"])[:MAX_PROFILES]
    found = {row["name"]: profiles.column(place[row["name"]]) for row in kept_first}
    about = profiles.target()
    if rows.blocks is not None:  # these rows are a sample themselves
        about |= {"of": rows.blocks.n_rows, "sampled": True}
    return {"target": about, "columns": found}


def associations_of(
    rows: Rows, names: list[str], ranking: list[dict[str, Any]], seed: int
) -> dict[str, Any] | None:
    """Associations of the kept columns and of those that are redundant with others, group by group."""
    place = {name: j for j, name in enumerate(names)}
    groups: dict[str, list[str]] = {row["name"]: [] for row in ranking if row["redundant_with"] is None}
    for row in ranking:
        if row["redundant_with"] is not None:
            groups.setdefault(row["redundant_with"], []).append(row["name"])
    kept = {row["name"] for row in ranking if row["kept"]}
    related = {name for leader in groups if groups[leader] for name in (leader, *groups[leader])}
    # Kept columns first, then leaders, then in turns what is redundant with each of them.
    turns = {name: turn for members in groups.values() for turn, name in enumerate(members)}
    wanted = sorted(kept | related, key=lambda name: (name not in kept, turns.get(name, -1), place[name]))
    drawn = set(wanted[:MAX_ASSOCIATED])
    chosen = [name for leader in groups for name in (leader, *groups[leader]) if name in drawn]
    if len(chosen) < 2:
        return None
    values = associations(rows.table, [place[name] for name in chosen], rows.weights, seed)
    plain = [[None if np.isnan(value) else round(value, 3) for value in row] for row in values.tolist()]
    return {"names": chosen, "values": plain, "n_left_out": len(wanted) - len(chosen)}


def note_on_missing(profiles: dict[str, Any], ranking: list[dict[str, Any]], n_rows: int) -> list[str]:
    """Name the columns that are mostly missing, and say what a kept one rests on.

    Examples
    --------
    >>> profiles = {"columns": {"lab": {"missing": 0.98}, "age": {"missing": 0}}}
    >>> print(*note_on_missing(profiles, [{"name": "lab", "kept": True}, {"name": "age", "kept": True}], 500))
    Column lab is missing in 98 % of the rows and is kept: its result rests on about 10 values. Check ...
    """
    columns = profiles["columns"]
    empty = [
        row for row in ranking if MOSTLY_MISSING <= columns.get(row["name"], {"missing": 0.0})["missing"] < 1
    ]
    if not empty:
        return []
    share = [columns[row["name"]]["missing"] for row in empty]
    check = "Check whether it is known when the prediction is made, and whether its absence is the signal."
    if len(empty) == 1:
        n_values = round(n_rows * (1 - share[0]))
        kept = " and is kept" if empty[0]["kept"] else ""
        text = f"Column {empty[0]['name']} is missing in {PLAIN.part(share[0])} of the rows{kept}"
        return [f"{text}: its result rests on about {n_values:,} values. {check if kept else ''}".strip()]
    named = [
        f"{row['name']} ({PLAIN.part(missing)}{', kept' if row['kept'] else ''})"
        for row, missing in list(zip(empty, share, strict=True))[:MAX_NAMED]
    ]
    more = f" and {len(empty) - MAX_NAMED} more" if len(empty) > MAX_NAMED else ""
    text = f"{len(empty)} columns are mostly missing: {', '.join(named)}{more}."
    checks = check.replace("it is", "they are").replace("its absence", "their absence")
    return [f"{text} {checks}" if any(row["kept"] for row in empty) else text]
