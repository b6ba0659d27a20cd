"""Example tables: artificial ones with known relevant columns, and classic UCI data sets."""

from foresift.datasets.generators import (
    make_friedman,
    make_simple,
    make_waveform,
)
from foresift.datasets.uci import (
    Place,
    available,
    checksum,
    load,
)

__all__ = [
    "Place",
    "available",
    "checksum",
    "load",
    "make_friedman",
    "make_simple",
    "make_waveform",
]
