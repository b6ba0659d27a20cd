"""Which columns of a table matter: trees, forests and what they tell about the columns."""

from importlib.metadata import version

from foresift import criteria, datasets, importance
from foresift.aggregate import AggregateSelector
from foresift.cfs import CFSSelector
from foresift.contribution import ContributionSelector
from foresift.embedded import ForestGainSelector
from foresift.filters import FScoreSelector, InfoGainSelector, PearsonSelector
from foresift.forests import SiftForestClassifier
from foresift.relief import ReliefFSelector, ReliefSelector
from foresift.search_path import commonality
from foresift.ssv import SSVSelector
from foresift.ssv_tree import SSVTreeClassifier
from foresift.trees import CartClassifier
from foresift.wrappers import SequentialSelector

__all__ = [
    "AggregateSelector",
    "CFSSelector",
    "CartClassifier",
    "ContributionSelector",
    "FScoreSelector",
    "ForestGainSelector",
    "InfoGainSelector",
    "PearsonSelector",
    "ReliefFSelector",
    "ReliefSelector",
    "SSVSelector",
    "SSVTreeClassifier",
    "SequentialSelector",
    "SiftForestClassifier",
    "__version__",
    "commonality",
    "criteria",
    "datasets",
    "importance",
]

__version__ = version("foresift")
