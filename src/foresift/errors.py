"""Errors that say what to do, and what is said of a name that is not known."""

from collections.abc import Iterable

__all__ = ["InputError", "OutputError", "no_such"]


class InputError(Exception):
    """What is wrong with the user's input, in one sentence."""


class OutputError(Exception):
    """What cannot be written, though nothing is wrong with the input, in one sentence."""


def no_such(what: str, name: str, known: Iterable[str], more: str) -> ValueError:
    """Make the error for a name that is not among those known; it says which one may have been meant.

    Examples
    --------
    >>> no_such("method", "relif", ["relief", "cfs"], "`foresift methods` lists them.")
    ValueError("There is no method 'relif'; did you mean 'relief'? `foresift methods` lists them.")
    """
    import difflib  # only if something is wrong

    near = difflib.get_close_matches(name, known, n=1)
    return ValueError(f"There is no {what} {name!r}{f'; did you mean {near[0]!r}?' if near else '.'} {more}")
