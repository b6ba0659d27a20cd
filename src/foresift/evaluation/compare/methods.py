"""Selectors of a comparison, from names, objects or pairs, ready for the task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import clone

from foresift.data.target import Classes, Quantity
from foresift.errors import no_such
from foresift.evaluation.harness.chosen import Size
from foresift.evaluation.registry import METHODS, OTHERS, takes_quantities
from foresift.report.comparison_view import BASELINE, NONE

__all__ = ["make_method", "methods_of", "named"]

DEFAULT_METHODS = ("forest-gain", "relevance", "info-gain", "relieff", BASELINE)


def methods_of(given: Any, sizes: Sequence[Size], task: str) -> dict[str, Any]:
    """Selectors by name, from names, selectors, pairs or a mapping; no selection, as None, is the first.

    Examples
    --------
    >>> [*methods_of(["relieff"], ["own"], "classification")], [*methods_of(None, ["own"], "regression")][:3]
    (['none', 'relieff'], ['none', ..., ...])
    """
    if given is None:
        given = [key for key in DEFAULT_METHODS if METHODS[key].takes(task)]
    found = {NONE: None, **named(given, lambda key: make_method(key, sizes, task), "method")}
    if found[NONE] is not None:
        raise ValueError(f"{NONE!r} means no selection: give that method another name.")
    return {key: _for_task(key, selector, task) for key, selector in found.items()}


def make_method(key: str, sizes: Sequence[Size] = ("own",), task: str = Classes.task) -> Any:
    """Make the selector of a named method.

    Parameters
    ----------
    key : str
        One of `METHODS`, or of `OTHERS`.
    sizes : sequence of int or "own", default=("own",)
        The sizes needed. A search that needs numbers only is set to go through all of them.
    task : {"classification", "regression"}, default="classification"
        What the target holds; a method that does not take a quantity is refused.

    Returns
    -------
    selector or None
        Not fitted; None for "none".

    Examples
    --------
    >>> make_method("ssv2"), make_method("sfs", [2, 5]).n_features_to_select
    (SSVSelector(mode='tree'), 5)
    >>> make_method("relif")
    Traceback (most recent call last):
        ...
    ValueError: There is no method 'relif'; did you mean 'relief'? `foresift methods` lists them.
    """
    if key == NONE:
        return None
    if key in OTHERS:
        from foresift.evaluation.compare.others import make_other

        return make_other(key, sizes, task)
    if key not in METHODS:
        raise no_such("method", key, [*METHODS, *OTHERS], "`foresift methods` lists them.")
    method = METHODS[key]
    if not method.takes(task):
        raise ValueError(
            f"The method {key!r} takes classes only, but y is a quantity: use {method.instead}, or cut y into"
            " classes."
        )
    if not method.is_search:
        return method.make()
    # Neither partial results nor messages are useful here.
    options: dict[str, Any] = {"verbose": 0, "return_partial": False}
    counts = [size for size in sizes if not isinstance(size, str)]
    if len(counts) == len(sizes):
        grows = method.parameters.get("direction") in ("forward", "plus-minus")
        options["n_features_to_select"] = max(counts) if grows else min(counts)
    return method.make(**options)


def _for_task(key: str, selector: Any, task: str) -> Any:
    """Tell a selector that y is a quantity, which it cannot see if the numbers are whole."""
    if task != Quantity.task or not hasattr(selector, "get_params"):
        return selector
    if hasattr(selector, "_for_quantities") and not takes_quantities(selector):
        instead = selector._for_quantities or "use ReliefFSelector"
        who = f"{key}: {type(selector).__name__}"
        raise ValueError(f"{who} takes classes only, but y is a quantity: {instead}, or cut y into classes.")
    parameters = selector.get_params()
    unset = [name for name, value in parameters.items() if name.split("__")[-1] == "task" and value == "auto"]
    return clone(selector).set_params(**dict.fromkeys(unset, task)) if unset else selector


def named(given: Any, make: Any, what: str) -> dict[str, Any]:
    """Estimators by name, from names, estimators, pairs or a mapping."""
    if isinstance(given, str) or hasattr(given, "fit"):
        given = [given]
    named: dict[str, Any] = {}
    for item in given.items() if isinstance(given, Mapping) else given:
        name, estimator = item if isinstance(item, tuple) else (item, item)
        if isinstance(estimator, str):
            estimator = make(estimator)
        if not isinstance(name, str):
            name = type(name).__name__
        if name in named:
            if isinstance(item, str):
                raise ValueError(f"The {what} {name!r} is given twice: name it once.")
            raise ValueError(
                f"Two {what}s are named {name!r}: give (name, {what}) pairs with different names."
            )
        named[name] = estimator
    if not named:
        raise ValueError(f"At least one {what} is needed.")
    return named
