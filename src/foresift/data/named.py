"""An array with column names, so that messages of estimators can use them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["NamedArray"]


@dataclass(frozen=True, eq=False)
class NamedArray:
    """An array with column names; `read` uses the names, and everything else sees a plain array-like.

    One array is faster to slice by rows and columns than a mapping of columns.

    Examples
    --------
    >>> from foresift.selectors.filters import InfoGainSelector
    >>> X = NamedArray(np.eye(2), ("a", "b"))
    >>> InfoGainSelector().fit(X, [0, 1]).feature_names_in_
    array(['a', 'b'], dtype=object)
    >>> np.asarray(X).shape, X[[0]].values
    ((2, 2), array([[1., 0.]]))
    """

    values: NDArray[Any]
    names: Sequence[str]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self.values.shape

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> NamedArray:
        return NamedArray(self.values[rows], self.names)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)
