"""A classifier for some of the columns: how it reads X, what it refuses, and how it is fitted."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from foresift.data.dependence import Dependence
from foresift.data.table import Schema

__all__ = [
    "count_columns",
    "fit_plain",
    "for_columns",
    "read_alike",
    "reading_options",
    "refuse_numbered_columns",
    "refuse_size_by_cv",
]

_PER_COLUMN = ("feature_sampling", "interaction_cst", "monotonic_cst")


def count_columns(wanted: float, n_columns: int, name: str, what: str = "columns of X") -> int:
    """How many columns, or whatever is chosen from, a parameter asks for: a number, or a share, at least one.

    Examples
    --------
    >>> count_columns(3, 100, "subset_size"), count_columns(0.29, 100, "subset_size")
    (3, 29)
    """
    if not isinstance(wanted, numbers.Integral):
        return max(1, int(wanted * n_columns + 1e-9))  # 0.29 * 100 is a little less than 29
    if wanted > n_columns:
        raise ValueError(
            f"{name}={wanted} is more than the {n_columns} {what}: use at most that, a share such as"
            " 0.5, or None."
        )
    return int(wanted)


def reading_options(estimator: Any) -> dict[str, Any]:
    """How an estimator reads X: the parameters of `make_table` that it has, the others by default.

    Examples
    --------
    >>> from foresift import CartClassifier
    >>> reading_options(CartClassifier(max_bins=255))
    {'categorical_features': 'from_dtype', 'max_bins': 255}
    """
    usual = {"categorical_features": "from_dtype", "max_bins": 65_536}
    return {name: getattr(estimator, name, default) for name, default in usual.items()}


def read_alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two `reading_options` read any columns the same way; lists, which number columns, never do."""
    values = (*one.values(), *other.values())
    return all(value is None or isinstance(value, str | int) for value in values) and one == other


def refuse_size_by_cv(selector: Any) -> None:
    """Raise if a selector that searches for its size is asked to choose it by another cross-validation.

    Examples
    --------
    >>> from foresift import SequentialSelector
    >>> refuse_size_by_cv(SequentialSelector(n_features_to_select="cv"))
    Traceback (most recent call last):
        ...
    ValueError: n_features_to_select="cv": SequentialSelector chooses its own size; use None, ...
    """
    wanted = selector.n_features_to_select
    if (isinstance(wanted, str) and wanted == "cv") or hasattr(wanted, "curve"):
        rules = [name for name in ("tol", "max_error_increase") if name in selector.get_params()]
        raise ValueError(
            f'n_features_to_select="cv": {type(selector).__name__} chooses its own size; use None,'
            f" {' or '.join(rules)}, or give a number."
        )


def refuse_numbered_columns(estimator: Any, *, own: bool = False) -> None:
    """Raise if parameters of the classifier number columns in a way that cannot follow as some are dropped.

    Its `own` list of nominal columns can follow, if somebody knows how the columns were read (`for_columns`).

    Examples
    --------
    >>> from foresift import SiftForestClassifier
    >>> refuse_numbered_columns(SiftForestClassifier(feature_sampling=[0.5, 0.25, 0.25]))
    Traceback (most recent call last):
        ...
    ValueError: feature_sampling of SiftForestClassifier says something of every column: it cannot follow ...
    """
    for key, value in estimator.get_params().items():
        name = key.split("__")[-1]
        per_column = name in _PER_COLUMN or (name == "categorical_features" and (own or name != key))
        if per_column and not (value is None or isinstance(value, str) or hasattr(value, "fit")):
            raise ValueError(
                f"{key} of {type(estimator).__name__} says something of every column: it cannot follow as"
                " columns are dropped. Leave it out; nominal columns can be marked by their dtype."
            )


def for_columns(estimator: Any, schema: Schema | None, columns: Sequence[int] | NDArray[np.intp]) -> Any:
    """Clone a classifier for some columns: nominal ones are numbered anew, `max_features` is not more.

    Without a schema, nominal columns that are given by number or name stay as they are.

    Examples
    --------
    >>> from foresift import C45Classifier
    >>> from foresift.data.table import make_table
    >>> schema = make_table(np.eye(4), categorical_features=[0, 3]).schema
    >>> for_columns(C45Classifier(categorical_features=[0, 3], max_features=3), schema, [1, 3])
    C45Classifier(categorical_features=[1], max_features=2)
    """
    model, parameters = clone(estimator), estimator.get_params(deep=False)
    given = parameters.get("categorical_features")
    if given is not None and not isinstance(given, str) and schema is not None:
        nominal = np.flatnonzero(schema.nominal[list(columns)]).tolist()
        model.set_params(categorical_features=nominal or None)
    most = parameters.get("max_features")
    if isinstance(most, numbers.Integral) and int(most) > len(columns):
        model.set_params(max_features=len(columns))
    return model


def fit_plain(
    model: Any,
    X: Any,
    labels: NDArray[Any],
    weights: NDArray[np.float64] | None,
    dependence: Dependence | None = None,
) -> Any:
    """Fit a model, with `sample_weight` if there are weights; of a pipeline the last step gets them.

    Selectors of ours get the dependence of rows, others the groups if their `fit` takes them.
    """
    more: dict[str, Any] = {}
    if dependence is not None and hasattr(model, "fit_table"):
        more["groups"] = dependence
    elif dependence is not None and dependence.groups is not None and _takes_groups(model):
        more["groups"] = dependence.groups
    if weights is None:
        return model.fit(X, labels, **more)
    if isinstance(model, Pipeline) and has_fit_parameter(model[-1], "sample_weight"):
        return model.fit(X, labels, **{f"{model.steps[-1][0]}__sample_weight": weights}, **more)
    if not has_fit_parameter(model, "sample_weight"):
        raise ValueError(
            f"{type(model).__name__} takes no sample_weight: leave it out, or take another estimator."
        )
    return model.fit(X, labels, sample_weight=weights, **more)


def _takes_groups(model: Any) -> bool:
    """Whether groups go through `fit`: by its signature, or to a splitter inside, as in RFECV."""
    if has_fit_parameter(model, "groups"):
        return True
    return "groups" in get_routing_for_object(model).consumes("fit", ["groups"])
