"""Members of an ensemble: models that each see some rows and columns of one table, and how they vote."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from foresift.data.containers import read
from foresift.data.plain_state import PlainEstimator
from foresift.data.sklearn_compat import (
    CallbackSupportMixin,
    HasMethods,
    Interval,
    check_features,
    require_model,
    seeded,
    table_tags,
)
from foresift.data.slices import sliceable, take_columns, take_rows
from foresift.data.table import Schema, Table, make_table
from foresift.data.weights import check_sample_weight
from foresift.models.base_tree import TreeModel
from foresift.models.c45 import C45Classifier
from foresift.models.subset_models import reading_options

__all__ = [
    "MemberEnsemble",
    "Rows",
    "TrainingRows",
    "VotingEnsemble",
    "draw_rows",
    "fit_member",
    "hard_votes",
    "is_native",
    "shares_of",
    "training_rows",
]

_ROUNDING = 1e-12  # votes that differ by less, relative to their size, are equal


@dataclass(frozen=True)
class Rows:
    """X, opened once for all members.

    Attributes
    ----------
    values : array, sparse matrix or data frame
        For trees of this package the matrix of numbers they compare with; otherwise X itself.
    coded : bool
        Which of the two it is.
    """

    values: Any
    coded: bool

    def of(self, columns: NDArray[np.intp] | None) -> Any:
        """Return some columns; None for all."""
        return self.values if columns is None else take_columns(self.values, columns)

    def outputs(
        self, member: Any, columns: NDArray[np.intp] | None, classes: NDArray[Any] | None = None
    ) -> NDArray[np.float64]:
        """Probability of every class of the ensemble, or the quantity in one column, as a member sees it."""
        part = self.of(columns)
        if self.coded and isinstance(member, TreeModel):
            return member.outputs_of_encoded(np.ascontiguousarray(part))
        if classes is None:
            return np.asarray(member.predict(part), dtype=np.float64).reshape(-1, 1)
        where = np.searchsorted(classes, member.classes_)  # a member may not have met all classes
        out = np.zeros((self.n_rows, len(classes)))
        if hasattr(member, "predict_proba"):
            out[:, where] = member.predict_proba(part)
        else:
            out[np.arange(self.n_rows), np.searchsorted(classes, member.predict(part))] = 1.0
        return out

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])


@dataclass(frozen=True)
class TrainingRows:
    """The training data of an ensemble, opened once for all members."""

    table: Table
    rows: Rows
    estimator: Any  # what the members are clones of

    def outputs(self, member: Any, columns: NDArray[np.intp] | None) -> NDArray[np.float64]:
        """What a member answers for all rows; see `Rows.outputs`."""
        return self.rows.outputs(member, columns, getattr(self.table.target, "labels", None))

    def __reduce__(self) -> tuple[Any, ...]:
        # Members of other libraries may be fitted in other processes. They read no codes, which stay here.
        return TrainingRows, (replace(self.table, store=None), self.rows, self.estimator)  # type: ignore[arg-type]


def is_native(estimator: Any) -> bool:
    """Tell whether an estimator can grow on a table that is coded already."""
    return hasattr(estimator, "grow_on")


def open_training_rows(
    estimator: Any, X: Any, y: Any, ensemble: Any, task: str = "classification"
) -> TrainingRows:
    """Check X and y, and open them for members that are clones of `estimator`.

    Examples
    --------
    >>> from foresift import C45Classifier
    >>> X, y = {"size": [1.0, 2.0, 3.0], "colour": ["red", "blue", "red"]}, ["no", "yes", "yes"]
    >>> data = open_training_rows(C45Classifier(), X, y, ensemble=None)
    >>> tree = fit_member(data, np.array([1]), np.array([1, 1, 1]), seed=0)
    >>> data.outputs(tree, np.array([1])).argmax(axis=1)
    array([1, 1, 1])
    """
    require_model(estimator, type(ensemble).__name__, task)
    how = reading_options(estimator) if is_native(estimator) else {}
    table = make_table(X, y, **how, estimator=ensemble, task=task)
    table.target.require_variety(ensemble)
    return training_rows(estimator, table, X)


def training_rows(estimator: Any, table: Table, X: Any = None) -> TrainingRows:
    """Open a coded table for members that are clones of `estimator`; trees of this package need no X."""
    native = is_native(estimator)
    rows = Rows(table.numbers(), coded=True) if native and X is None else open_rows(X, table.schema, native)
    return TrainingRows(table, rows, clone(estimator))


def open_rows(X: Any, schema: Schema, native: bool, ensemble: Any = None) -> Rows:
    """Open X for members that are trees of this package (`native`), or any models.

    A fitted `ensemble` is asked whether the columns are those it was fitted with.
    """
    if native:
        return Rows(schema.encode(X, ensemble), coded=True)
    source = read(X, ensemble)
    if ensemble is not None:
        pandas = X if source.pandas else None
        check_features(ensemble, pandas, source.names, source.n_columns, reset=False)
    return Rows(sliceable(X, schema.units), coded=False)


def fit_member(data: TrainingRows, columns: NDArray[np.intp] | None, times: NDArray[Any], seed: int) -> Any:
    """Fit a clone of the estimator on some columns and on rows drawn `times` times, or of these weights.

    A `random_state` of None is replaced by `seed`, also deep inside. Where all drawn rows have the same y the
    member is a tree of one leaf, or, of any other kind of estimator, scikit-learn's `DummyClassifier` or
    `DummyRegressor`: each predicts that y.
    """
    if data.rows.coded:
        member = copy(data.estimator)  # a clone, which never was fitted; cloning it again takes a millisecond
        if member.random_state is None:
            member.random_state = seed % 2**32
        part = data.table if columns is None else data.table.take(columns)
        weights = times.astype(np.float64)
        member.n_features_in_ = part.n_columns
        if part.schema.names is not None:
            member.feature_names_in_ = np.array(part.schema.names, dtype=object)
        member.grow_on(part, member.row_weights(part, weights))
        return member
    member = seeded(clone(data.estimator), seed)
    if times.dtype.kind == "f":
        return _fit_weighted(member, data, columns, times)
    drawn = np.repeat(np.arange(len(times)), times)
    y = data.table.target.values(drawn)
    if (y == y[0]).all():
        member = DummyClassifier(strategy="most_frequent") if is_classifier(member) else DummyRegressor()
    return member.fit(take_rows(data.rows.of(columns), drawn), y)


def _fit_weighted(
    member: Any, data: TrainingRows, columns: NDArray[np.intp] | None, weights: NDArray[np.float64]
) -> Any:
    used = np.flatnonzero(weights)
    X, labels = take_rows(data.rows.of(columns), used), data.table.target.values(used)
    if (weights[used] == weights[used[0]]).all():
        return member.fit(X, labels)
    if not has_fit_parameter(member, "sample_weight"):
        raise ValueError(
            f"{type(member).__name__} takes no sample_weight: leave it out, or use accuracy='oob', which"
            " draws rows in proportion to it."
        )
    return member.fit(X, labels, sample_weight=weights[used])


def draw_rows(rng: np.random.Generator, shares: NDArray[np.float64]) -> NDArray[np.intp]:
    """How often each row is drawn, with replacement, as many as there are rows with a positive share.

    Examples
    --------
    >>> int(draw_rows(np.random.default_rng(0), np.array([0.5, 0.0, 0.5])).sum())
    2
    """
    used = np.flatnonzero(shares)  # what rounding leaves over goes to the last row: it must be one of these
    times = np.zeros(len(shares), dtype=np.intp)
    times[used] = rng.multinomial(len(used), shares[used] / shares.sum())
    return times


def hard_votes(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the most probable class of every row the whole vote; of equal ones the first.

    Examples
    --------
    >>> hard_votes(np.array([[0.2, 0.8], [0.5, 0.5]]))
    array([[0., 1.],
           [1., 0.]])
    """
    out = np.zeros_like(probabilities)
    out[np.arange(len(probabilities)), probabilities.argmax(axis=1)] = 1.0
    return out


def shares_of(votes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of the votes of every class, row by row; classes that have the most but for rounding tie.

    Examples
    --------
    >>> int(shares_of(np.array([[0.3, 0.1 + 0.2]])).argmax())  # a tie, though the second is a little more
    0
    """
    most = votes.max(axis=1, keepdims=True)
    votes = np.where(votes >= most * (1 - _ROUNDING), most, votes)
    with np.errstate(invalid="ignore"):
        return np.asarray(votes / votes.sum(axis=1, keepdims=True))


class MemberEnsemble(CallbackSupportMixin, PlainEstimator):
    """What the ensembles share: members with columns of their own, and weights."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(numbers.Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }
    _task: ClassVar[str]  # of `make_table`

    estimator: Any
    estimators_: list[Any]
    estimators_features_: list[NDArray[np.intp]]
    estimator_weights_: NDArray[np.float64]
    schema_: Schema
    n_features_in_: int

    @abstractmethod
    def _base(self) -> Any:
        """What the members are clones of."""

    def _cast(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """What a member contributes, given its outputs."""
        return outputs

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        """Weighted sum of what the members contribute."""
        check_is_fitted(self)
        rows = open_rows(X, self.schema_, is_native(self._base()), self)
        classes = getattr(self, "classes_", None)
        total: Any = 0.0
        members = zip(self.estimators_, self.estimators_features_, self.estimator_weights_, strict=True)
        for member, columns, weight in members:
            total = total + weight * self._cast(rows.outputs(member, columns, classes))
        return np.asarray(total)

    def _open(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[TrainingRows, NDArray[np.float64], NDArray[np.float64] | None]:
        """Open the data; return also every row's share of the draws, and the weights if there are any."""
        data = open_training_rows(self._base(), X, y, self, self._task)
        weights = check_sample_weight(sample_weight, data.table.n_rows)
        data.table.target.require_variety(self, weights)
        self._set_attributes(data.table)
        shares = np.ones(data.table.n_rows) if weights is None else weights / weights.max()
        return data, shares / shares.sum(), weights

    def _set_attributes(self, table: Table) -> None:
        self.schema_ = table.schema

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if is_native(self._base()):
            return table_tags(tags)
        if hasattr(self._base(), "__sklearn_tags__"):  # if not, fit says what is wrong
            own = get_tags(self._base()).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = own.sparse, own.allow_nan
        return tags


class VotingEnsemble(ClassifierMixin, MemberEnsemble):
    """Classifiers whose weighted votes decide."""

    _task = "classification"

    ballot: str = "class"
    classes_: NDArray[Any]

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class with the most votes.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            Class labels; of classes with equal votes the first in `classes_`.
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_.take(shares.argmax(axis=1)))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the share of the votes that every class gets.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Shares, in the order of `classes_`.
        """
        return shares_of(self._outputs(X))

    def _base(self) -> Any:
        return C45Classifier() if self.estimator is None else self.estimator

    def _cast(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        return hard_votes(outputs) if self.ballot == "class" else outputs

    def _set_attributes(self, table: Table) -> None:
        super()._set_attributes(table)
        self.classes_ = table.target.labels
