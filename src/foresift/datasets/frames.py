"""Columns by name as a table."""

from __future__ import annotations

import importlib.util
from typing import Any

from numpy.typing import NDArray

__all__ = ["frame_of"]


def frame_of(columns: dict[str, NDArray[Any]]) -> Any:
    """Return a pandas frame, with categories in place of objects; the dict itself without pandas.

    Examples
    --------
    >>> import numpy as np
    >>> frame_of({"size": np.array([1.0, 2.0])}).shape
    (2, 1)
    """
    if importlib.util.find_spec("pandas") is None:
        return columns
    import pandas as pd

    return pd.DataFrame(
        {name: pd.Categorical(v) if v.dtype == object else v for name, v in columns.items()}, copy=False
    )
