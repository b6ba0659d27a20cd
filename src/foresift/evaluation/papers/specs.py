"""Papers as data: the specs in papers/*.toml, checked, and the estimators that they describe."""

from __future__ import annotations

import importlib
import itertools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from typing import Any

from foresift.errors import near_names

__all__ = ["Cell", "Model", "Paper", "PaperTable", "SpecError", "build", "paper_keys", "read_paper"]

KINDS = ("score", "path", "intervals", "gains", "thresholds")
MEASURES = (
    "error",
    "accuracy",
    "intervals",
    "path",
    "commonality",
    "seconds",
    "bounds",
    "gains",
    "thresholds",
)
SPREADS = ("", "variance", "deviation")
_OPTIONS = (
    "limit",
    "against",
    "reduction",
    "over",
    "trials",
    "nodes",
    "up_to",
    "features",
    "relevant",
    "log",
)


class SpecError(ValueError):
    """An invalid spec."""


@dataclass(frozen=True)
class Cell:
    """A published number of a data set, model, classifier and number of features.

    `spread` is a standard deviation, or None if none is published; `size` is a number of features, "own"
    (the method's own choice), "all", or "best" of all sizes.
    """

    dataset: str
    model: str
    value: float
    spread: float | None = None
    classifier: str = ""
    size: str = ""


@dataclass(frozen=True)
class Model:
    """A selector (or none) and classifiers, all still as data.

    `kind` is "score" (cross-validated), "path" (a search on the whole table), "intervals" (sizes of
    confidence intervals while a forest grows), "gains" (of all split candidates of a forest) or "thresholds"
    (of a selector, by all bounds). `template` is the name before the grid is filled in.
    """

    name: str
    template: str
    kind: str
    selector: Any
    classifiers: dict[str, Any]
    grid: dict[str, Any] = field(default_factory=dict)

    def label(self, pattern: str) -> str:
        """Fill in a pattern of labels, such as "Random, {size}"."""
        return str(_fill(pattern, self.grid))


@dataclass(frozen=True)
class PaperTable:
    """A table or figure: its models, and the published numbers.

    `columns` are names of models as published, `more` are additional ones of ours. A spread is over single
    splits (`per` is "trial"), or over repeats (`per` is "repeat"; the mean of its folds). If `measure` is
    "bounds", the columns are bounds of an expected gain, and there is nothing to run.
    """

    id: str
    caption: str
    measure: str
    columns: tuple[str, ...]
    labels: tuple[str, ...]
    datasets: tuple[str, ...]
    cells: tuple[Cell, ...]
    scale: float = 1.0
    per: str = "trial"
    more: tuple[str, ...] = ()
    constant_beyond_own: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def published(self) -> dict[tuple[str, str, str, str], Cell]:
        """Cells by data set, model, classifier and size."""
        return {(cell.dataset, cell.model, cell.classifier, cell.size): cell for cell in self.cells}


@dataclass(frozen=True)
class Paper:
    """A paper: its protocol, data sets, models and tables."""

    key: str
    title: str
    authors: str
    source: str
    notes: tuple[str, ...]
    protocol: dict[str, Any]
    quick: dict[str, Any]
    datasets: dict[str, dict[str, Any]]
    models: tuple[Model, ...]
    tables: tuple[PaperTable, ...]

    def models_of(self, table: PaperTable) -> list[Model]:
        """Models in a table's columns, in their order."""
        wanted = {*table.columns, *table.more, table.options.get("against", "")}
        return [model for model in self.models if model.name in wanted or model.template in wanted]

    def shortened(self) -> Paper:
        """Return the version that `--quick` runs: few data sets and folds, small numbers."""
        given = self.quick.get("defaults", {})
        names = self.quick.get("datasets", list(self.datasets))
        sizes = {"sizes": self.quick["sizes"]} if "sizes" in self.quick else {}
        rows = {"thin_to": self.quick["rows"]} if "rows" in self.quick else {}
        chosen = {name: {**self.datasets[name], **given, **sizes, **rows} for name in names}
        protocol = {**self.protocol, "repeats": self.quick.get("repeats", 1)}
        protocol["folds"] = self.quick.get("folds", self.protocol.get("folds"))
        return replace(self, datasets=chosen, protocol=protocol)


def paper_keys() -> list[str]:
    """Names of the papers that have specs.

    Examples
    --------
    >>> paper_keys()
    ['bommaganti', 'grabczewski-jankowski', 'murata', 'opitz', 'rogers-gunn']
    """
    folder = files("foresift.evaluation.papers")
    return sorted(item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml"))


def read_paper(key: str) -> Paper:
    """Read and check the spec of a paper, one of `paper_keys`.

    Examples
    --------
    >>> paper = read_paper("rogers-gunn")
    >>> [table.id for table in paper.tables], paper.tables[0].published["Votes", "RF", "", ""].value
    (['3', '4', 'figure-2', 'figure-3', 'figure-4', 'figure-5', 'figure-6', 'fresh'], 0.065)
    """
    known = paper_keys()
    if key not in known:
        near = near_names(key, known, 1)
        said = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."
        raise SpecError(f"There is no paper {key!r}; {said}")
    text = (files("foresift.evaluation.papers") / f"{key}.toml").read_text(encoding="utf-8")
    raw = tomllib.loads(text)
    defaults = {"none": None, **raw.get("defaults", {})}
    datasets = {name: {**defaults, **entry} for name, entry in raw["datasets"].items()}
    models = tuple(model for entry in raw["models"] for model in _models(entry, raw))
    if len({model.name for model in models}) < len(models):
        raise SpecError(f"{key}: two models have one name.")
    tables = tuple(_table(entry, key, datasets, models) for entry in raw["tables"])
    unknown = [name for name in raw["quick"].get("datasets", []) if name not in datasets]
    if unknown:
        raise SpecError(f"{key}: [quick] names the data set {unknown[0]!r}, which does not exist.")
    about = {name: raw[name] for name in ("title", "authors", "source", "protocol", "quick")}
    return Paper(key, notes=tuple(raw["notes"]), datasets=datasets, models=models, tables=tables, **about)


def _models(entry: dict[str, Any], raw: dict[str, Any]) -> list[Model]:
    """The models of a grid, with the selectors and classifiers that they name."""
    grid = entry.get("grid", {})
    kind = entry.get("kind", "score")
    if kind not in KINDS:
        raise SpecError(f"{entry['name']}: kind is {kind!r}, not one of {', '.join(KINDS)}.")
    found = []
    for values in itertools.product(*grid.values()):
        chosen = dict(zip(grid, values, strict=True))
        filled = _fill(entry, chosen)
        selector = filled.get("selector")
        if isinstance(selector, str):
            selector = raw["selectors"][selector]
        if "classifiers" in filled:
            classifiers = {name: raw["classifiers"][name] for name in filled["classifiers"]}
        else:
            named = filled["classifier"]
            classifiers = {"": raw["classifiers"][named] if isinstance(named, str) else named}
        found.append(Model(filled["name"], entry["name"], kind, selector, classifiers, chosen))
    return found


def _fill(value: Any, grid: Mapping[str, Any]) -> Any:
    """Replace {name} by its value; a text that is nothing else becomes the value itself."""
    if isinstance(value, dict):
        return {key: _fill(item, grid) for key, item in value.items() if key != "grid"}
    if isinstance(value, list):
        return [_fill(item, grid) for item in value]
    if not isinstance(value, str):
        return value
    for name, item in grid.items():
        if value == f"{{{name}}}":
            return item
        value = value.replace(f"{{{name}}}", str(item))
    return value


def _table(
    entry: dict[str, Any], key: str, datasets: dict[str, Any], models: tuple[Model, ...]
) -> PaperTable:
    where = f"{key}, {entry['id']}"
    columns = tuple(entry["columns"])
    known = {model.name for model in models} | {model.template for model in models}
    known |= {"lower", "mid", "upper", "exact"} if entry["measure"] == "bounds" else set()
    if missing := [name for name in (*columns, *entry.get("more", ())) if name not in known]:
        raise SpecError(f"{where}: there is no model {missing[0]!r}.")
    spread = entry.get("spread", "")
    if entry["measure"] not in MEASURES or spread not in SPREADS:
        raise SpecError(f"{where}: measure {entry['measure']!r} or spread {spread!r} is not known.")
    cells = [
        _cell(where, spread, dataset, model, number)
        for dataset, numbers in entry.get("published", {}).items()
        for model, number in zip(columns, _of_length(where, numbers, len(columns)), strict=True)
    ]
    cells += [Cell(**{**point, "size": str(point.get("size", ""))}) for point in entry.get("points", ())]
    if strange := [cell for cell in cells if cell.dataset not in datasets or cell.model not in known]:
        raise SpecError(f"{where}: a number is published of {strange[0].dataset}, {strange[0].model}.")
    labels = tuple(entry.get("labels", columns))
    _of_length(where, labels, len(columns))
    return PaperTable(
        entry["id"],
        entry["caption"],
        entry["measure"],
        columns,
        labels,
        tuple(entry.get("datasets", datasets)),
        tuple(cells),
        scale=entry.get("scale", 1.0),
        per=entry.get("per", "trial"),
        more=tuple(entry.get("more", ())),
        constant_beyond_own=tuple(entry.get("constant_beyond_own", ())),
        options={name: entry[name] for name in _OPTIONS if name in entry},
    )


def _of_length(where: str, items: Any, length: int) -> Any:
    if len(items) != length:
        raise SpecError(f"{where}: {len(items)} numbers or labels for {length} columns.")
    return items


def _cell(where: str, spread: str, dataset: str, model: str, number: list[float]) -> Cell:
    value, *rest = number
    if len(rest) != bool(spread):
        raise SpecError(f"{where}: {dataset}, {model}: each number needs {'a' if spread else 'no'} spread.")
    deviation = None if not rest else rest[0] ** 0.5 if spread == "variance" else rest[0]
    return Cell(dataset, model, value, deviation)


def build(value: Any, about: Mapping[str, Any]) -> Any:
    """Make the objects of a part of a spec.

    ``{class = "...", ...}`` becomes an object: classes are those of foresift by name, and those of
    scikit-learn by full name; `args` are positional arguments. "$name" becomes ``about["name"]``, a fact
    about the data.

    Examples
    --------
    >>> build({"class": "InfoGainSelector", "n_features_to_select": "$k"}, {"k": 3})
    InfoGainSelector(n_features_to_select=3)
    """
    if isinstance(value, str) and value.startswith("$"):
        if value[1:] not in about:
            raise SpecError(f"{value} is not given for the data set.")
        return build(about[value[1:]], about)
    if isinstance(value, list):
        return [build(item, about) for item in value]
    if not isinstance(value, Mapping):
        return value
    if "class" not in value:
        raise SpecError(f"{value} names no class.")
    made = {name: build(item, about) for name, item in value.items() if name not in ("class", "args")}
    return _named(value["class"])(*build(value.get("args", []), about), **made)


def _named(name: str) -> Any:
    module, _, last = name.rpartition(".")
    if module and module.split(".")[0] != "sklearn":
        raise SpecError(f"{name}: a spec names classes of foresift (without a dot) or of scikit-learn.")
    found = getattr(importlib.import_module(module or "foresift"), last, None)
    if found is None:
        raise SpecError(f"{name}: no such class.")
    return found
