"""A tree as text: indented like C4.5's output, or as one rule per leaf."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from foresift.data.table import Schema
from foresift.data.temporal import time_of_number
from foresift.engine.node_table import NodeTable

__all__ = ["Condition", "Rule", "TreeText"]


@dataclass(frozen=True)
class Condition:
    """The condition of a branch.

    Attributes
    ----------
    name : str
        The column.
    operator : {"<=", ">", "=", "in"}
        The comparison: with a number, with one category, or with several.
    value : float, datetime64, category or tuple of categories
        The right side of the comparison.

    Examples
    --------
    >>> print(Condition("humidity", "<=", 75.0)), print(Condition("outlook", "in", ("rainy", "sunny")))
    humidity <= 75
    outlook in {rainy, sunny}
    (None, None)
    """

    name: str
    operator: str
    value: Any

    def __str__(self) -> str:
        if self.operator == "in":
            return f"{self.name} in {{{', '.join(map(_worded, self.value))}}}"
        return f"{self.name} {self.operator} {_worded(self.value)}"


@dataclass(frozen=True)
class Rule:
    """The path from the root of a tree to a leaf.

    Attributes
    ----------
    conditions : tuple of Condition
        All of them must hold; of several limits of one numeric column only the tightest is kept.
    prediction : object
        The class.
    coverage : float
        Weight of the training rows in the leaf; with missing values, including fractional cases.
    errors : float
        Weight of the misclassified ones.

    Examples
    --------
    >>> print(Rule((Condition("humidity", ">", 75.0), Condition("windy", "=", "no")), "yes", 3.0, 1.0))
    if humidity > 75 and windy = no then yes (3.0/1.0)
    """

    conditions: tuple[Condition, ...]
    prediction: Any
    coverage: float
    errors: float

    def __str__(self) -> str:
        wanted = "if " + " and ".join(map(str, self.conditions)) if self.conditions else "always"
        return f"{wanted} then {self.prediction} {_sizes(self.coverage, self.errors)}"


class TreeText:
    """Converts a classification tree to text; `names` default to those of the schema, or x0, x1, ..."""

    def __init__(
        self, table: NodeTable, schema: Schema, classes: NDArray[Any], names: Sequence[str] | None = None
    ) -> None:
        if names is None:
            names = schema.names or [f"x{j}" for j in range(schema.n_columns)]
        if isinstance(names, str) or len(names) != schema.n_columns:
            n_names = "a string" if isinstance(names, str) else f"{len(names)} names"
            raise ValueError(f"feature_names must name {schema.n_columns} columns, but is {n_names}.")
        self._names = [str(name) for name in names]
        if len(set(self._names)) < len(self._names):
            raise ValueError("feature_names must be unique, or rules would be ambiguous.")
        self._schema = schema
        self._table = table
        self._nodes = {key: table.nodes[key].tolist() for key in table.nodes.dtype.names or ()}
        self._classes = classes[table.counts.argmax(axis=1)].tolist()
        largest = table.counts.max(axis=1, initial=0.0)
        self._wrong = (table.nodes["size"] - largest).clip(min=0.0).tolist()

    def lines(self) -> list[str]:
        r"""One line per branch, indented by the branches above it.

        Examples
        --------
        >>> from foresift import C45Classifier
        >>> tree = C45Classifier(min_samples_leaf=1).fit([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
        >>> print(*TreeText(tree.node_table_, tree.schema_, tree.classes_, ["size"]).lines(), sep="\n")
        size <= 1.5: no (1.0)
        size > 1.5: yes (2.0)
        """
        if self._nodes["first_child"][0] < 0:
            return [self._leaf(0)]
        return [
            "|   " * depth + str(condition) + (self._leaf(node) if is_leaf else "")
            for node, depth, condition, is_leaf in self._walk()
        ]

    def rules(self) -> list[Rule]:
        r"""One rule per leaf, from the first branch to the last.

        Examples
        --------
        >>> from foresift import C45Classifier
        >>> tree = C45Classifier(min_samples_leaf=1).fit([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
        >>> print(*TreeText(tree.node_table_, tree.schema_, tree.classes_, ["size"]).rules(), sep="\n")
        if size <= 1.5 then no (1.0)
        if size > 1.5 then yes (2.0)
        """
        if self._nodes["first_child"][0] < 0:
            return [self._rule(0, [])]
        rules: list[Rule] = []
        path: list[Condition] = []
        for node, depth, condition, is_leaf in self._walk():
            path[depth:] = [condition]
            if is_leaf:
                rules.append(self._rule(node, path))
        return rules

    def _walk(self) -> Iterator[tuple[int, int, Condition, bool]]:
        """Yield node, depth, condition and whether it is a leaf of every branch, depth first."""
        waiting = self._below(0, 0)
        while waiting:
            node, depth, condition = waiting.pop()
            is_leaf = self._nodes["first_child"][node] < 0
            yield node, depth, condition, is_leaf
            if not is_leaf:
                waiting += self._below(node, depth + 1)

    def _below(self, node: int, depth: int) -> list[tuple[int, int, Condition]]:
        """The branches of a node in reverse order."""
        first = self._nodes["first_child"][node]
        return [(first + b, depth, condition) for b, condition in enumerate(self._branches(node))][::-1]

    def _branches(self, node: int) -> list[Condition]:
        feature, chosen = self._nodes["feature"][node], self._nodes["category_set"][node]
        name = self._names[feature]
        if chosen < 0:
            threshold = self._nodes["threshold"][node]
            if self._schema.units:
                threshold = time_of_number(threshold, self._schema.units[feature])
            return [Condition(name, "<=", threshold), Condition(name, ">", threshold)]
        known = self._schema.categories[feature]
        assert known is not None  # the column is nominal
        entries = slice(*self._table.set_offsets[chosen : chosen + 2])
        labels = known[self._table.set_codes[entries]].tolist()
        groups: list[list[Any]] = [[] for _ in range(self._nodes["n_children"][node])]
        for label, branch in zip(labels, self._table.set_branches[entries].tolist(), strict=True):
            groups[branch].append(label)
        return [
            Condition(name, "=", group[0]) if len(group) == 1 else Condition(name, "in", tuple(group))
            for group in groups
        ]

    def _rule(self, node: int, path: list[Condition]) -> Rule:
        return Rule(_tightest(path), self._classes[node], self._nodes["size"][node], self._wrong[node])

    def _leaf(self, node: int) -> str:
        return f": {self._classes[node]} {_sizes(self._nodes['size'][node], self._wrong[node])}"


def _tightest(path: list[Condition]) -> tuple[Condition, ...]:
    """Drop limits that a later, tighter one implies."""
    last = {(condition.name, condition.operator): i for i, condition in enumerate(path)}
    return tuple(
        condition
        for i, condition in enumerate(path)
        if condition.operator not in ("<=", ">") or last[condition.name, condition.operator] == i
    )


def _sizes(size: float, errors: float) -> str:
    """The weight of a leaf, and its errors if any, with up to two decimals."""
    wrong = f"/{_two_decimals(errors)}" if errors > 1e-6 else ""
    return f"({_two_decimals(size)}{wrong})"


def _two_decimals(number: float) -> str:
    return repr(math.floor(number * 100 + 0.5) / 100)


def _worded(value: Any) -> str:
    """A float with up to six decimals, or six digits if it is small; str() of anything else."""
    if not isinstance(value, float):
        return str(value)
    if value != 0 and (abs(value) < 1e-3 or abs(value) >= 1e15):
        return f"{value:.6g}"
    text = f"{value:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
