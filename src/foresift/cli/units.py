"""The options --keep and --feature-groups: columns that must stay, and columns that belong together."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from foresift.cli.table import column_of, columns_of, how_to_keep, names_of, option
from foresift.errors import InputError

if TYPE_CHECKING:
    from foresift.reading.splitting import Split

__all__ = ["FeatureGroups", "Keep", "units_of"]

_PANEL = "Columns that must stay, or belong together"
_FILE = "give labels with lists of columns or patterns, or a list of such lists"

Keep = Annotated[str, option("Columns that stay in any case: what helps beside them?", _PANEL, metavar="A,B")]
FeatureGroups = Annotated[
    str,
    option(
        "Columns that are kept or dropped as one: a JSON file, patterns such as `sensor1_*,sensor2_*`, or"
        " `one-hot`.",
        _PANEL,
        metavar="FILE|PATTERN",
    ),
]


def units_of(keep: str, feature_groups: str, split: "Split") -> dict[str, Any]:
    """Options of `select` for both."""
    left_out = _left_out(split)
    known = [*split.columns, *_no_features(split), *left_out]
    names = [_feature(name, "--keep", split, known) for name in columns_of(keep, known)]
    for name in names:
        if name in left_out:
            raise InputError(f"--keep names {name!r}, which is left out: {left_out[name]}.")
    groups = _groups(feature_groups, split, known) if feature_groups else None
    return {"keep": names or None, "feature_groups": groups}


def _groups(text: str, split: "Split", known: list[str]) -> Any:
    if text == "one-hot":
        return text
    if not os.path.isfile(text):  # pathlib raises for a name that is too long
        if any(sign in text for sign in "*?["):
            return list(names_of(text))
        raise InputError(
            f"There is no file {text!r} (--feature-groups): give a JSON file, patterns such as"
            " 'sensor1_*,sensor2_*', or one-hot."
        )
    given = _read(text)
    named = isinstance(given, dict)
    found = {}
    for label, columns in given.items() if named else enumerate(given):
        is_list = isinstance(columns, list) and all(isinstance(name, str) for name in columns)
        if not (is_list or (isinstance(columns, str) and (named or any(map(columns.count, "*?["))))):
            raise InputError(f"{text} (--feature-groups) has {columns!r} for a group: {_FILE}.")
        if is_list:
            exact = [_feature(column_of(name, known), "--feature-groups", split, known) for name in columns]
            kept = [name for name in exact if name in split.columns]
            if exact and not kept:
                continue  # all of them are left out, and listed there
            columns = kept
        found[label] = columns
    return found if named else list(found.values())


def _read(path: str) -> Any:
    try:
        given = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"Cannot read {path} (--feature-groups): {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} (--feature-groups) is no JSON: {_FILE}.") from error
    if not isinstance(given, dict | list) or not given:
        raise InputError(f"{path} (--feature-groups) has no groups: {_FILE}.")
    return given


def _feature(name: str, flag: str, split: "Split", known: list[str]) -> str:
    """The name of a column that may be a feature."""
    from foresift.reading.splitting import require_column

    require_column(name, known, flag)
    if why := _no_features(split).get(name):
        raise InputError(f"{flag} names {name!r}, which is {why}: leave it out.")
    return name


def _no_features(split: "Split") -> dict[str, str]:
    """What columns are that are no features."""
    about = {name: f"no feature (--{key})" for key, (name,) in split.about_rows.items()}
    return {split.target: "the target", **about}


def _left_out(split: "Split") -> dict[str, str]:
    """Why columns were left out."""
    dropped = dict.fromkeys(split.dropped, "--drop names it too")
    return {**dropped, **{d.name: f"{d.why}{how_to_keep(d)}" for d in split.decisions if d.left_out}}
