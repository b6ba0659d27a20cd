"""Tables to try things on: artificial ones whose relevant columns are known, and the classic UCI ones."""

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
