"""Errors that say what to do, and what is said of a name that is not known."""

from collections.abc import Iterable

__all__ = ["InputError", "OutputError", "near_names", "no_such"]


class InputError(Exception):
    """What is wrong with the user's input, in one sentence."""


class OutputError(Exception):
    """What cannot be written, though nothing is wrong with the input, in one sentence."""


def near_names(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return the known names that are spelled nearly like this one, nearest first; capitals do not count.

    Examples
    --------
    >>> near_names("AGE", ["age", "size"]), near_names("weight", ["age", "size"])
    (['age'], [])
    """
    import difflib  # only if something is wrong

    folded: dict[str, list[str]] = {}
    for other in known:
        folded.setdefault(other.strip().casefold(), []).append(other)
    near = difflib.get_close_matches(name.strip().casefold(), folded, n=most)
    return [other for key in near for other in folded[key]][:most]


def no_such(what: str, name: str, known: Iterable[str], more: str) -> ValueError:
    """Make the error for a name that is not among those known; it says which one may have been meant.

    Examples
    --------
    >>> no_such("method", "relif", ["relief", "cfs"], "`foresift methods` lists them.")
    ValueError("There is no method 'relif'; did you mean 'relief'? `foresift methods` lists them.")
    """
    near = near_names(name, known, 1)
    return ValueError(f"There is no {what} {name!r}{f'; did you mean {near[0]!r}?' if near else '.'} {more}")
