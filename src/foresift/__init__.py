"""Which columns of a table matter: trees, forests and what they tell about the columns."""

from importlib.metadata import version

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
from foresift.genetic import GEFSClassifier
from foresift.genetic_selector import GEFSSelector
from foresift.networks import NetworkClassifier
from foresift.relevance import RelevanceSelector
from foresift.relief import ReliefFSelector, ReliefSelector
from foresift.search_path import commonality
from foresift.ssv import SSVSelector
from foresift.ssv_tree import SSVTreeClassifier
from foresift.subset_size import SubsetSizeCV
from foresift.trees import CartClassifier
from foresift.wrappers import SequentialSelector

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
    "stats",
]

__version__ = version("foresift")
