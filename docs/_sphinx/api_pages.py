"""The API reference: one page for every public name, listed by what the package itself calls public."""

import importlib
import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

import foresift

__all__ = ["index_page", "public_names", "setup"]

# Public, though the package itself does not name them: what they need is imported when they are.
MODULES = ("foresift.evaluation.compare", "foresift.plots", "foresift.report")

# What fitted estimators and comparisons hold: few make these, but everyone meets them.
RESULTS = (
    "foresift.selectors.aggregate.ranks_of",
    "foresift.evaluation.harness.cluster.connected",
    "foresift.data.numeric_coding.InputCoding",
    "foresift.data.discretize.mdl_cuts",
    "foresift.models.networks.Network",
    "foresift.engine.node_table.NodeTable",
    "foresift.data.numeric_coding.NumericCoder",
    "foresift.engine.co_occurrence.CoOccurrence",
    "foresift.selectors.base.RankingSelector",
    "foresift.selectors.search.path.SearchPath",
    "foresift.evaluation.harness.store.Store",
    "foresift.selectors.size_cv.SizeCurve",
    "foresift.data.table.Schema",
)


def _modules() -> list[ModuleType]:
    named = (getattr(foresift, name) for name in foresift.__all__)
    return [thing for thing in named if inspect.ismodule(thing)] + list(map(importlib.import_module, MODULES))


def _section(title: str, text: str, names: Iterable[str]) -> Iterator[str]:
    yield from (title, "-" * len(title), "", text, "")
    yield from (".. autosummary::", "   :toctree: generated", "   :nosignatures:", "")
    yield from (f"   {name}" for name in names)
    yield ""


def public_names() -> dict[str, list[str]]:
    """Sort all public names into sections of the reference.

    Returns
    -------
    dict of str to list of str
        Title of a section to full names, in alphabetical order.
    """
    here = [name for name in foresift.__all__ if not name.startswith("__")]
    here = [name for name in here if not inspect.ismodule(getattr(foresift, name))]
    selectors = [name for name in here if name.endswith("Selector")]
    classifiers = [name for name in here if name.endswith("Classifier")]
    others = [name for name in here if name not in {*selectors, *classifiers}]
    groups = {"Selectors": selectors, "Classifiers": classifiers, "One call, and helpers": others}
    sections = {title: sorted(f"foresift.{name}" for name in names) for title, names in groups.items()}
    for module in _modules():
        names = set(module.__all__) - set(here)  # those the package has too are above
        sections[module.__name__] = sorted(f"{module.__name__}.{name}" for name in names)
    return sections | {"What results are made of": list(RESULTS)}


def index_page() -> str:
    """Write the page that lists every public name, with a line on each."""
    texts = {
        "Selectors": "Estimators with `fit`, `transform`, `scores_`, `ranking_` and `support_`.",
        "Classifiers": "Estimators with `fit`, `predict` and `predict_proba`.",
        "One call, and helpers": "What is not an estimator.",
        "What results are made of": "What estimators and comparisons hold; the base of methods of your own.",
    }
    lines = ["API reference", "=============", ""]
    lines += [
        "Estimators have scikit-learn's `get_params`, `set_params`, `set_output` and metadata routing too;"
    ]
    lines += ["the pages show what is foresift's own.", ""]
    for title, names in public_names().items():
        text = texts.get(title) or inspect.getdoc(importlib.import_module(title)).split("\n\n")[0]
        lines += _section(title, text, names)
    return "\n".join(lines)


def _write_index(app, config) -> None:
    page = Path(app.srcdir, "api", "index.rst")
    page.parent.mkdir(exist_ok=True)
    text = index_page()
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


def _skip(app, what, name, thing, skip, options) -> bool | None:
    """Leave out what is inherited from others: their texts refer to their own pages."""
    home = getattr(getattr(thing, "fget", None) or thing, "__module__", None) or ""
    return True if what == "class" and not home.startswith("foresift") else None


def setup(app) -> dict[str, bool]:
    """Write the index before Sphinx looks which pages there are, and keep foreign members out."""
    app.connect("config-inited", _write_index)
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
