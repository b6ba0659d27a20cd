"""Which columns of a table matter: trees, forests and what they tell about the columns."""

from importlib.metadata import version

from foresift import criteria, datasets, importance
from foresift.embedded import ForestGainSelector
from foresift.forests import SiftForestClassifier
from foresift.trees import CartClassifier

__all__ = [
    "CartClassifier",
    "ForestGainSelector",
    "SiftForestClassifier",
    "__version__",
    "criteria",
    "datasets",
    "importance",
]

__version__ = version("foresift")
