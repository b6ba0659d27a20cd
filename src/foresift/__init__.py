"""Which columns of a table matter: trees, forests and what they tell about the columns."""

from importlib.metadata import version

from foresift import criteria, importance
from foresift.forests import SiftForestClassifier
from foresift.trees import CartClassifier

__all__ = ["CartClassifier", "SiftForestClassifier", "__version__", "criteria", "importance"]

__version__ = version("foresift")
