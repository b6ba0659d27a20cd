"""GEFS: a genetic search for feature subsets that make an accurate and diverse ensemble (Opitz)."""

from foresift.genetic.classifier import GEFSClassifier
from foresift.genetic.selector import GEFSSelector

__all__ = ["GEFSClassifier", "GEFSSelector"]
