"""The file selection.json: what it must hold, and what is wrong with one that does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["FORMAT", "PARTS", "read_selection"]

FORMAT = 1  # of the file; a version that reads it otherwise counts on
_TYPES: dict[str, type | tuple[type, ...]] = {
    "foresift": str,
    "created": str,
    "source": str,
    "seed": int,
    "data": dict,
    "method": dict,
    "verdict": str,
    "certainty": (str, type(None)),
    "details": list,
    "notes": list,
    "features": list,
    "curve": (dict, type(None)),
    "check": (dict, type(None)),
    "stability": (dict, type(None)),
    "columns": (list, type(None)),
}
_SINCE = {"profiles": (dict, type(None)), "associations": (dict, type(None))}  # not in earlier files
PARTS = frozenset(_TYPES) | frozenset(_SINCE)
_OF_A_COLUMN = {
    *("name", "kind", "rank", "score", "low", "high", "chance", "pvalue", "adjusted_pvalue", "relevant"),
    *("kept", "redundant_with", "frequency"),
}


def read_selection(path: Path) -> dict[str, Any]:
    """Read what `Selection.to_dict` returned, or raise a `ValueError` that says why it cannot be read."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no JSON file, or a damaged one ({error}).") from error
    if not isinstance(plain, dict) or "foresift" not in plain or "verdict" not in plain:
        raise ValueError(
            f"{path} holds no selection: `foresift select --out` and Selection.to_json write such files."
        )
    if (made := plain.get("format", 0)) != FORMAT:
        newer = isinstance(made, int) and made > FORMAT
        do = "update foresift" if newer else "make the selection again"
        raise ValueError(
            f"{path} was written by foresift {plain['foresift']}, whose files this version cannot read: {do}."
        )
    if fault := _fault(plain):
        raise ValueError(f"{path} is a damaged selection: {fault}.")
    return plain


def _fault(plain: dict[str, Any]) -> str:
    """What is missing or of a wrong type; empty if nothing is."""
    for key, types in _TYPES.items():
        if key not in plain:
            return f"it lacks {key!r}"
        if not isinstance(plain[key], types):
            return f"{key!r} is of the wrong type"
    for key, types in _SINCE.items():
        if not isinstance(plain.get(key), types):
            return f"{key!r} is of the wrong type"
    for row in plain["features"]:
        if not isinstance(row, dict) or _OF_A_COLUMN - set(row) or not isinstance(row["name"], str):
            return "'features' has an incomplete row"
    names = [row["name"] for row in plain["features"]]
    columns = plain["columns"]
    if len(set(names)) < len(names) or not names:
        return "'features' names no column, or one twice"
    if columns is not None and sorted(map(str, columns)) != sorted(names):
        return "'columns' are not those of 'features'"
    if not {"key", "title", "order", "error"} <= set(plain["method"]) or "n_rows" not in plain["data"]:
        return "'method' or 'data' is incomplete"
    return ""
