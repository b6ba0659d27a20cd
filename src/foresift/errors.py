"""Errors and warnings, suggestions for unknown names, and checks of numeric arguments."""

from __future__ import annotations

import numbers
import sys
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "InputError",
    "OutputError",
    "floats_of",
    "near_names",
    "no_room",
    "no_such",
    "renamed",
    "require_number",
    "typed",
    "warn_caller",
]


class InputError(Exception):
    """Something is wrong with the user's input; the message is one sentence."""


class OutputError(Exception):
    """The output cannot be written; the message is one sentence."""


def near_names(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return the known names with a similar spelling, most similar first, ignoring case.

    Examples
    --------
    >>> near_names("AGE", ["age", "size"]), near_names("weight", ["age", "size"])
    (['age'], [])
    """
    import difflib  # only needed for errors

    folded: dict[str, list[str]] = {}
    for other in known:
        folded.setdefault(other.strip().casefold(), []).append(other)
    near = difflib.get_close_matches(name.strip().casefold(), folded, n=most)
    return [other for key in near for other in folded[key]][:most]


def no_such(what: str, name: str, known: Iterable[str], more: str) -> ValueError:
    """Return the error for an unknown name, with a suggestion.

    Examples
    --------
    >>> no_such("method", "relif", ["relief", "cfs"], "`foresift methods` lists them.")
    ValueError("There is no method 'relif'; did you mean 'relief'? `foresift methods` lists them.")
    """
    near = near_names(name, known, 1)
    return ValueError(f"There is no {what} {name!r}{f'; did you mean {near[0]!r}?' if near else '.'} {more}")


def no_room(what: str, error: OSError, instead: str) -> InputError:
    """Return the error for a temporary file that cannot be written.

    Examples
    --------
    >>> print(no_room("2 GB of codes", OSError(28, "No space left on device"), "raise memory_limit"))
    There is no room for 2 GB of codes in ... (No space left on device): set the variable TMPDIR to a
    folder that has, or raise memory_limit.
    """
    import tempfile  # only needed for errors

    try:
        folder = tempfile.gettempdir()
    except OSError:  # there is no folder that can be written at all
        folder = "any folder"
    return InputError(
        f"There is no room for {what} in {folder} ({error.strerror or error}): set the variable TMPDIR to a"
        f" folder that has, or {instead}."
    )


def typed(flag: str, name: str) -> str:
    """Return a command-line option with a column name, quoted for the shell.

    Examples
    --------
    >>> print(typed("--drop", "my size"))
    --drop 'my size'
    """
    import shlex  # only needed for messages

    return f"{flag} {shlex.quote(name)}"


def renamed(value: Any, former: Any, old: str, new: str) -> Any:
    """Return the value of a parameter that has a new name; the old name still works, with a warning.

    Examples
    --------
    >>> renamed("rf", None, "classifier", "estimator")
    'rf'
    """
    if former is None:
        return value
    warn_caller(f"{old} is now called {new}, and will be removed.", FutureWarning)
    return former


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with the line of the user's code that called foresift.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_caller("Raise n_estimators.")
    >>> str(caught[0].message)
    'Raise n_estimators.'
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_internal(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_internal(module: str) -> bool:
    return module.partition(".")[0] in ("foresift", "sklearn", "joblib")


def floats_of(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Convert an argument of any shape to float64, None to NaN, or raise.

    Examples
    --------
    >>> floats_of([1, None], "scores")
    array([ 1., nan])
    >>> floats_of(["a"], "scores")
    Traceback (most recent call last):
        ...
    ValueError: scores must hold numbers only: convert it, or drop what is not a number.
    """
    import numpy as np  # slow, and not needed by the command line

    try:
        array = np.asarray(values)
        if array.dtype.kind != "c":  # NumPy would keep the real part, with a warning
            with np.errstate(over="ignore"):
                return array.astype(np.float64, copy=False)
    except OverflowError:
        raise ValueError(f"{name} holds numbers too large for float64: drop them, or rescale.") from None
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{name} must hold numbers only: convert it, or drop what is not a number.")


def require_number(value: Any, name: str) -> None:
    """Raise unless an argument is a single real number.

    Examples
    --------
    >>> require_number("a", "alpha")
    Traceback (most recent call last):
        ...
    TypeError: alpha must be a number, but is 'a'.
    """
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, but is {value!r}.")
