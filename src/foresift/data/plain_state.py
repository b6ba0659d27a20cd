"""Estimators whose saved state is plain: arrays, numbers, text, lists and dicts, which skops can check."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from sklearn.base import BaseEstimator

from foresift.stats import Estimate, Stability

__all__ = ["PlainEstimator", "saved"]

_TAG = "__foresift_class__"  # key of the name of a class, in a dict of its state
_CLASSES: dict[str, type] = {}
Class = TypeVar("Class", bound=type)


def saved(cls: Class) -> Class:
    """Let a class, by its name, be part of the state of estimators: a dataclass, or one of plain attributes.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @saved
    ... @dataclass
    ... class Point:
    ...     x: float
    >>> _plain([Point(1.5)]), _rebuilt({"__foresift_class__": "Point", "x": 2.5})
    ([{'__foresift_class__': 'Point', 'x': 1.5}], Point(x=2.5))
    """
    if _CLASSES.setdefault(cls.__name__, cls) is not cls:
        raise TypeError(f"Two classes of saved state are named {cls.__name__}.")
    return cls


class PlainEstimator(BaseEstimator):
    """An estimator whose state, as pickle and skops save it, has none of our types but public estimators."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: _plain(value) for name, value in super().__getstate__().items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({name: _rebuilt(value) for name, value in state.items()})


def _plain(value: Any) -> Any:
    kind = type(value)
    if _CLASSES.get(kind.__name__) is kind:
        return {_TAG: kind.__name__} | {name: _plain(part) for name, part in _parts(value).items()}
    if kind is dict:
        return {name: _plain(part) for name, part in value.items()}
    return kind(map(_plain, value)) if kind in (list, tuple) else value


def _parts(value: Any) -> dict[str, Any]:
    if is_dataclass(value):
        return {part.name: getattr(value, part.name) for part in fields(value)}
    return value._asdict() if isinstance(value, tuple) else vars(value)  # type: ignore[attr-defined]


def _rebuilt(state: Any) -> Any:
    if type(state) in (list, tuple):
        return type(state)(map(_rebuilt, state))
    if type(state) is not dict:
        return state
    parts = {name: _rebuilt(part) for name, part in state.items() if name != _TAG}
    if _TAG not in state:
        return parts
    cls = _CLASSES.get(state[_TAG])
    if cls is None:
        raise ValueError(f"The file has a {state[_TAG]!r}, which this version of foresift does not know.")
    if is_dataclass(cls) or issubclass(cls, tuple):
        return cls(**parts)
    made = cls.__new__(cls)
    vars(made).update(parts)
    return made


saved(Estimate)
saved(Stability)
