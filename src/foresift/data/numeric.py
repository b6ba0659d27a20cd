"""Any table as numbers, for classifiers that know neither categories nor missing values."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from foresift.data.numeric_coding import InputCoding, ValueTable
from foresift.data.sklearn_compat import StrOptions, fit_context, table_tags

__all__ = ["NumericCoder"]


class NumericCoder(TransformerMixin, BaseEstimator):
    """Make numbers of all columns, by what the training rows tell.

    A nominal column becomes one indicator for each of its categories. Any other column is standardised: its
    mean becomes 0 and its standard deviation 1. A missing value becomes the mean of a numeric column, and
    none of the categories of a nominal one, as does a category that did not occur in training.

    Parameters
    ----------
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are nominal, as in `SiftForestClassifier`.

    Attributes
    ----------
    schema_ : Schema
        What the columns were.
    coding_ : InputCoding
        Means, deviations and categories.
    n_features_in_ : int
        Number of columns.

    Examples
    --------
    >>> from foresift.data.numeric import NumericCoder
    >>> coder = NumericCoder().fit({"size": [1.0, 3.0, None], "colour": ["red", "blue", "red"]})
    >>> coder.transform({"size": [5.0, None], "colour": ["blue", "green"]})
    array([[3., 1., 0.],
           [0., 0., 0.]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
    }

    def __init__(self, categorical_features="from_dtype"):
        self.categorical_features = categorical_features

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn categories, means and deviations.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The rows.
        y : None
            Not used.

        Returns
        -------
        NumericCoder
            Itself.
        """
        table = ValueTable.open(X, categorical_features=self.categorical_features, estimator=self)
        self.schema_ = table.schema
        self.coding_ = InputCoding.learn(table.values, table.schema.categories)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Code rows.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n, n_inputs)
            Numbers.
        """
        check_is_fitted(self)
        return self.coding_.code(self.schema_.encode(X, self)).astype(np.float64)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the numbers: a numeric column keeps its name, a category is named column=category.

        Parameters
        ----------
        input_features : None
            Not used.

        Returns
        -------
        ndarray of str
            One name for each number.
        """
        check_is_fitted(self)
        names = self.schema_.names or [f"x{j}" for j in range(self.n_features_in_)]
        return np.array(
            [
                name if categories is None else f"{name}={category}"
                for name, categories in zip(names, self.schema_.categories, strict=True)
                for category in ([None] if categories is None else categories)
            ],
            dtype=object,
        )

    def __sklearn_tags__(self) -> Any:
        return table_tags(super().__sklearn_tags__())
