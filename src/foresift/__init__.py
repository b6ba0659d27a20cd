"""Which columns of a table matter: trees, forests and what they tell about the columns."""

from __future__ import annotations

# Importing that module is slow, and the command line has to listen for Ctrl-C before anything slow.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from foresift import criteria, datasets, importance, stats
    from foresift.aggregate import AggregateSelector
    from foresift.boosting import ResampleBoostClassifier
    from foresift.c45 import C45Classifier
    from foresift.cfs import CFSSelector
    from foresift.comparison import Comparison, compare
    from foresift.contribution import ContributionSelector
    from foresift.cumulative import CumulativeGainSelector
    from foresift.embedded import ForestGainSelector
    from foresift.ensembles import SubsetBaggingClassifier
    from foresift.feature_boosting import FeatureBoostingSelector
    from foresift.filters import FScoreSelector, InfoGainSelector, PearsonSelector, RandomSelector
    from foresift.forests import SiftForestClassifier
    from foresift.genetic import GEFSClassifier, GEFSSelector
    from foresift.networks import NetworkClassifier
    from foresift.relevance import RelevanceSelector
    from foresift.relief import ReliefFSelector, ReliefSelector
    from foresift.search_path import commonality
    from foresift.selection import Selection, select
    from foresift.ssv import SSVSelector
    from foresift.ssv_tree import SSVTreeClassifier
    from foresift.subset_size import SubsetSizeCV
    from foresift.trees import CartClassifier
    from foresift.wrappers import SequentialSelector

    __version__: str

__all__ = [
    "AggregateSelector",
    "C45Classifier",
    "CFSSelector",
    "CartClassifier",
    "Comparison",
    "ContributionSelector",
    "CumulativeGainSelector",
    "FScoreSelector",
    "FeatureBoostingSelector",
    "ForestGainSelector",
    "GEFSClassifier",
    "GEFSSelector",
    "InfoGainSelector",
    "NetworkClassifier",
    "PearsonSelector",
    "RandomSelector",
    "RelevanceSelector",
    "ReliefFSelector",
    "ReliefSelector",
    "ResampleBoostClassifier",
    "SSVSelector",
    "SSVTreeClassifier",
    "Selection",
    "SequentialSelector",
    "SiftForestClassifier",
    "SubsetBaggingClassifier",
    "SubsetSizeCV",
    "__version__",
    "commonality",
    "compare",
    "criteria",
    "datasets",
    "importance",
    "select",
    "stats",
]

# Where the names are at home. A name is imported when first asked for: the command line answers at once,
# and whoever wants one selector does not wait for all of them.
_HOMES = {
    "AggregateSelector": "aggregate",
    "C45Classifier": "c45",
    "CFSSelector": "cfs",
    "CartClassifier": "trees",
    "ContributionSelector": "contribution",
    "CumulativeGainSelector": "cumulative",
    "FScoreSelector": "filters",
    "FeatureBoostingSelector": "feature_boosting",
    "ForestGainSelector": "embedded",
    "GEFSClassifier": "genetic",
    "GEFSSelector": "genetic",
    "InfoGainSelector": "filters",
    "NetworkClassifier": "networks",
    "PearsonSelector": "filters",
    "RandomSelector": "filters",
    "RelevanceSelector": "relevance",
    "ReliefFSelector": "relief",
    "ReliefSelector": "relief",
    "ResampleBoostClassifier": "boosting",
    "SSVSelector": "ssv",
    "SSVTreeClassifier": "ssv_tree",
    "SequentialSelector": "wrappers",
    "SiftForestClassifier": "forests",
    "SubsetBaggingClassifier": "ensembles",
    "SubsetSizeCV": "subset_size",
    "Comparison": "comparison",
    "commonality": "search_path",
    "compare": "comparison",
    "select": "selection",
    "Selection": "selection",
}
_MODULES = ("criteria", "datasets", "importance", "stats")


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        value: Any = getattr(import_module(f"foresift.{_HOMES[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"foresift.{name}")
    elif name == "__version__":
        from importlib.metadata import version

        value = version("foresift")
    else:
        raise AttributeError(f"module 'foresift' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
