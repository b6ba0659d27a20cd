"""Which columns of a table matter: trees, forests and what they tell about the columns."""

from __future__ import annotations

# Importing that module is slow, and the command line has to listen for Ctrl-C before anything slow.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from foresift import criteria, datasets, importance, stats
    from foresift.evaluation.compare import Comparison, compare
    from foresift.evaluation.select import Selection, select
    from foresift.models.c45 import C45Classifier
    from foresift.models.cart import CartClassifier, CartRegressor
    from foresift.models.forests import SiftForestClassifier, SiftForestRegressor
    from foresift.models.gefs.classifier import GEFSClassifier
    from foresift.models.gefs.regressor import GEFSRegressor
    from foresift.models.networks import NetworkClassifier, NetworkRegressor
    from foresift.models.resample_boosting import ResampleBoostClassifier
    from foresift.models.ssv_tree import SSVTreeClassifier
    from foresift.models.subset_bagging import SubsetBaggingClassifier, SubsetBaggingRegressor
    from foresift.reading.read import read
    from foresift.selectors.aggregate import AggregateSelector
    from foresift.selectors.best import BestRankerSelector
    from foresift.selectors.cfs import CFSSelector
    from foresift.selectors.correlation import FScoreSelector, PearsonSelector
    from foresift.selectors.cumulative import CumulativeGainSelector
    from foresift.selectors.feature_boosting import FeatureBoostingSelector
    from foresift.selectors.filters import InfoGainSelector, RandomSelector
    from foresift.selectors.forest_gain import ForestGainSelector
    from foresift.selectors.gefs import GEFSSelector
    from foresift.selectors.mutual_info import MutualInfoSelector
    from foresift.selectors.relevance import RelevanceSelector
    from foresift.selectors.relief import ReliefFSelector, ReliefSelector
    from foresift.selectors.search.contribution import ContributionSelector
    from foresift.selectors.search.path import commonality
    from foresift.selectors.search.sequential import SequentialSelector
    from foresift.selectors.size_cv import SubsetSizeCV
    from foresift.selectors.ssv import SSVSelector
    from foresift.selectors.surf import MultiSURFSelector, SURFSelector

    __version__: str

__all__ = [
    "AggregateSelector",
    "BestRankerSelector",
    "C45Classifier",
    "CFSSelector",
    "CartClassifier",
    "CartRegressor",
    "Comparison",
    "ContributionSelector",
    "CumulativeGainSelector",
    "FScoreSelector",
    "FeatureBoostingSelector",
    "ForestGainSelector",
    "GEFSClassifier",
    "GEFSRegressor",
    "GEFSSelector",
    "InfoGainSelector",
    "MultiSURFSelector",
    "MutualInfoSelector",
    "NetworkClassifier",
    "NetworkRegressor",
    "PearsonSelector",
    "RandomSelector",
    "RelevanceSelector",
    "ReliefFSelector",
    "ReliefSelector",
    "ResampleBoostClassifier",
    "SSVSelector",
    "SSVTreeClassifier",
    "SURFSelector",
    "Selection",
    "SequentialSelector",
    "SiftForestClassifier",
    "SiftForestRegressor",
    "SubsetBaggingClassifier",
    "SubsetBaggingRegressor",
    "SubsetSizeCV",
    "__version__",
    "commonality",
    "compare",
    "criteria",
    "datasets",
    "importance",
    "read",
    "select",
    "stats",
]

# Where the names are at home. A name is imported when first asked for: the command line answers at once,
# and whoever wants one selector does not wait for all of them.
_HOMES = {
    "AggregateSelector": "selectors.aggregate",
    "BestRankerSelector": "selectors.best",
    "C45Classifier": "models.c45",
    "CFSSelector": "selectors.cfs",
    "CartClassifier": "models.cart",
    "CartRegressor": "models.cart",
    "ContributionSelector": "selectors.search.contribution",
    "CumulativeGainSelector": "selectors.cumulative",
    "FScoreSelector": "selectors.correlation",
    "FeatureBoostingSelector": "selectors.feature_boosting",
    "ForestGainSelector": "selectors.forest_gain",
    "GEFSClassifier": "models.gefs.classifier",
    "GEFSRegressor": "models.gefs.regressor",
    "GEFSSelector": "selectors.gefs",
    "InfoGainSelector": "selectors.filters",
    "MutualInfoSelector": "selectors.mutual_info",
    "MultiSURFSelector": "selectors.surf",
    "NetworkClassifier": "models.networks",
    "NetworkRegressor": "models.networks",
    "PearsonSelector": "selectors.correlation",
    "RandomSelector": "selectors.filters",
    "RelevanceSelector": "selectors.relevance",
    "ReliefFSelector": "selectors.relief",
    "ReliefSelector": "selectors.relief",
    "ResampleBoostClassifier": "models.resample_boosting",
    "SSVSelector": "selectors.ssv",
    "SSVTreeClassifier": "models.ssv_tree",
    "SURFSelector": "selectors.surf",
    "SequentialSelector": "selectors.search.sequential",
    "SiftForestClassifier": "models.forests",
    "SiftForestRegressor": "models.forests",
    "SubsetBaggingClassifier": "models.subset_bagging",
    "SubsetBaggingRegressor": "models.subset_bagging",
    "SubsetSizeCV": "selectors.size_cv",
    "Comparison": "evaluation.compare",
    "commonality": "selectors.search.path",
    "compare": "evaluation.compare",
    "read": "reading.read",
    "select": "evaluation.select",
    "Selection": "evaluation.select",
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
