"""Which columns of a table matter: trees, forests and what they tell about the columns."""

from importlib.metadata import version

from foresift import criteria, datasets, importance, stats
from foresift.aggregate import AggregateSelector
from foresift.cfs import CFSSelector
from foresift.embedded import ForestGainSelector
from foresift.filters import FScoreSelector, InfoGainSelector, PearsonSelector
from foresift.forests import SiftForestClassifier
from foresift.relevance import RelevanceSelector
from foresift.relief import ReliefFSelector, ReliefSelector
from foresift.ssv import SSVSelector
from foresift.ssv_tree import SSVTreeClassifier
from foresift.trees import CartClassifier

__all__ = [
    "AggregateSelector",
    "CFSSelector",
    "CartClassifier",
    "FScoreSelector",
    "ForestGainSelector",
    "InfoGainSelector",
    "PearsonSelector",
    "RelevanceSelector",
    "ReliefFSelector",
    "ReliefSelector",
    "SSVSelector",
    "SSVTreeClassifier",
    "SiftForestClassifier",
    "__version__",
    "criteria",
    "datasets",
    "importance",
    "stats",
]

__version__ = version("foresift")
