"""Example tables: artificial ones with known relevant columns, and classic data sets."""

from foresift.datasets.generators import (
    make_friedman,
    make_quantity,
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
    "make_quantity",
    "make_simple",
    "make_waveform",
]
