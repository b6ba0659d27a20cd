"""The only module that imports scikit-learn internals: parameter checks, feature names, tags, callbacks.

A new release of scikit-learn can therefore break only this file. It supports scikit-learn 1.7 to 1.9.
"""

from __future__ import annotations

import numbers
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import _fit_context, is_classifier, is_regressor
from sklearn.metrics._scorer import _BaseScorer
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    Options,
    RealNotInt,
    StrOptions,
)
from sklearn.utils.validation import validate_data

__all__ = [
    "HAS_CALLBACKS",
    "CallbackSupportMixin",
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "Options",
    "Progress",
    "ProgressBar",
    "RealNotInt",
    "StoppedEarly",
    "StrOptions",
    "check_features",
    "fit_context",
    "is_metric_scorer",
    "match_features",
    "output_container",
    "require_classifier",
    "require_model",
    "require_regressor",
    "seed_of",
    "seeded",
    "table_tags",
    "track",
]

try:  # scikit-learn 1.9, where it is experimental
    from sklearn.callback import CallbackSupportMixin, ProgressBar

    HAS_CALLBACKS = True
except ImportError:
    HAS_CALLBACKS = False

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Replacement for scikit-learn 1.9's mixin: accepts callbacks, warns, and never calls them."""

        def set_callbacks(self, *callbacks: Any) -> Any:
            """Warn that progress callbacks need scikit-learn 1.9."""
            if callbacks:
                warnings.warn("Callbacks need scikit-learn 1.9 or newer; they are ignored.", stacklevel=2)
            return self

    class ProgressBar:  # type: ignore[no-redef]
        """Replacement for scikit-learn 1.9's progress bar: raises an error that names the missing version."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            raise ImportError("ProgressBar needs scikit-learn 1.9 or newer: pip install -U scikit-learn")


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate `fit` with scikit-learn's checks of parameters and callbacks, and make it atomic.

    A fit starts without learned attributes, unless it continues an earlier one (a warm start, or a method of
    another name). If it fails or is interrupted, the estimator is restored to its earlier state; only
    `StoppedEarly` keeps the new state. The parameter is that of scikit-learn's own decorator.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> class Mean(BaseEstimator):
    ...     _parameter_constraints = {}
    ...
    ...     @fit_context(prefer_skip_nested_validation=True)
    ...     def fit(self, X, y=None):
    ...         self.n_features_in_ = len(X[0])
    ...         self.means_ = [sum(column) / len(X) for column in zip(*X, strict=True)]
    ...         return self
    >>> mean = Mean().fit([[1.0, 2.0]])
    >>> mean.fit([[1.0], ["text"]])
    Traceback (most recent call last):
        ...
    TypeError: unsupported operand type(s) for +: 'float' and 'str'
    >>> mean.n_features_in_, mean.means_
    (2, [1.0, 2.0])
    """

    def decorator(fit: Callable[..., Any]) -> Callable[..., Any]:
        checked = _fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation)(fit)

        @wraps(fit)
        def wrapper(estimator: Any, *args: Any, **kwargs: Any) -> Any:
            before = vars(estimator)
            warm = getattr(estimator, "warm_start", False)  # not validated yet
            # A subclass that overrides `fit` may have set attributes before calling this one.
            own = getattr(type(estimator), fit.__name__, None) is wrapper
            keep = not own or fit.__name__ != "fit" or (isinstance(warm, bool | np.bool_) and warm)
            estimator.__dict__ = {name: before[name] for name in before if keep or not _is_learned(name)}
            try:
                return checked(estimator, *args, **kwargs)
            except BaseException as error:
                if isinstance(error, StoppedEarly) and error.owner is estimator:
                    raise
                estimator.__dict__ = before
                raise

        return wrapper

    return decorator


class StoppedEarly(KeyboardInterrupt):
    """Ctrl-C in a fit after which its estimator, the owner, has a complete result: the best so far."""

    def __init__(self, owner: Any) -> None:
        super().__init__()
        self.owner = owner


def _is_learned(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


class Progress:
    """Reports finished subtasks of a fit to the callbacks of an estimator; made by `track`."""

    def __init__(self, estimator: Any, context: Any, task: str, about: dict[str, Any]) -> None:
        self.stop_requested = False  # by a callback
        self._estimator = estimator
        self._context = context  # None: no callbacks
        self._task = task
        self._about = about
        self._lock = threading.Lock()
        self._n_done = 0

    def advance(self, count: int = 1, **about: Any) -> bool:
        """Report `count` more finished subtasks, from any thread; return whether a callback asks to stop.

        Begin and end of a subtask are reported together, because native code that grows many trees in one
        call reports them only when they are finished. `about` are further arguments of
        `CallbackContext.call_on_fit_task_end`, for instance `reconstruction_attributes`.
        """
        if self._context is None:
            return False
        # Hooks are user code that is not thread-safe, and task ids must be unique.
        with self._lock:
            for _ in range(count):
                task = self._context.subcontext(task_name=self._task, task_id=self._n_done)
                self._n_done += 1
                task.call_on_fit_task_begin(estimator=self._estimator, **self._about)
                ended = task.call_on_fit_task_end(estimator=self._estimator, **self._about, **about)
                self.stop_requested |= bool(ended)
        return self.stop_requested


@contextmanager
def track(
    estimator: Any, n_tasks: int | None, *, task: str = "iteration", X: Any = None, y: Any = None
) -> Iterator[Progress]:
    """Report a long fit to scikit-learn's callbacks (`estimator.set_callbacks(ProgressBar())`).

    The fit is one task with at most `n_tasks` subtasks (None: unknown) named `task`, finished in any order.
    The callbacks are set up on entry, `Progress.advance` reports finished subtasks, and the end of the fit is
    reported on a normal exit. `fit_context`, which must decorate the `fit` that uses `track`, tears the
    callbacks down, also after an error. Without callbacks, or before scikit-learn 1.9, nothing happens.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from foresift.data.sklearn_compat import CallbackSupportMixin, fit_context, track
    >>> class Slow(CallbackSupportMixin, BaseEstimator):
    ...     _parameter_constraints = {}
    ...
    ...     @fit_context(prefer_skip_nested_validation=True)
    ...     def fit(self, X, y=None):
    ...         with track(self, 3, task="tree", X=X, y=y) as progress:
    ...             for _ in range(3):
    ...                 if progress.advance():
    ...                     break
    ...         return self
    >>> Slow().fit([[1.0]])
    Slow()
    """
    about = {"X": X, "y": y}
    if not hasattr(estimator, "_init_callback_context"):
        yield Progress(estimator, None, task, about)
        return
    # Also without callbacks of its own: those of a meta-estimator may show its subtasks.
    context = estimator._init_callback_context(max_subtasks=n_tasks, sequential_subtasks=False)
    context.call_on_fit_task_begin(estimator=estimator, **about)
    has_callbacks = bool(getattr(estimator, "_skl_callbacks", None))
    yield Progress(estimator, context if has_callbacks else None, task, about)
    context.call_on_fit_task_end(estimator=estimator, **about)


def table_tags(tags: Any) -> Any:
    """Set the input tags of an estimator that reads its data through `make_table`.

    `string` and `categorical` stay False, although text columns are supported: `string` would promise support
    for any object, and with `categorical` scikit-learn's checks round their data to integers.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> class Reader(BaseEstimator):
    ...     def __sklearn_tags__(self):
    ...         return table_tags(super().__sklearn_tags__())
    >>> Reader().__sklearn_tags__().input_tags.allow_nan
    True
    """
    tags.input_tags.sparse = True
    tags.input_tags.allow_nan = True
    return tags


def output_container(transformer: Any) -> str:
    """The output container set by the transformer's `set_output`, or else by the global configuration.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> output_container(StandardScaler().set_output(transform="pandas"))
    'pandas'
    """
    own = getattr(transformer, "_sklearn_output_config", {})
    return str(own.get("transform", get_config()["transform_output"]))


def check_features(
    estimator: Any,
    X: Any,
    names: Sequence[str] | None,
    n_features: int,
    *,
    reset: bool,
    y: Any = "no_validation",
) -> None:
    """Set (`reset=True`) or check `n_features_in_` and `feature_names_in_`, and require y if necessary.

    X is given only if it is a pandas frame, whose names scikit-learn reads itself. Which other frames
    scikit-learn supports depends on its version, so their names are passed as `names`. A `y` of None raises
    for an estimator that requires a target.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> estimator = BaseEstimator()
    >>> check_features(estimator, None, ["a", "b"], 2, reset=True)
    >>> estimator.feature_names_in_
    array(['a', 'b'], dtype=object)
    """
    if X is None:
        X = np.broadcast_to(0.0, (1, n_features))  # only its shape is read
        if names is not None and not reset:
            fitted_names = getattr(estimator, "feature_names_in_", None)
            match_features(
                type(estimator).__name__, fitted_names, estimator.n_features_in_, names, n_features
            )
            return
    validate_data(estimator, X, y, reset=reset, skip_check_array=True)
    if reset and names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def match_features(
    owner: str,
    fitted_names: Sequence[str] | NDArray[Any] | None,
    n_fitted: int,
    names: Sequence[str] | None,
    n_features: int,
) -> None:
    """Compare the columns of X with the fitted ones, with scikit-learn's messages, for any container.

    Examples
    --------
    >>> match_features("Tree", ["a", "b"], 2, ["b", "a"], 2)
    Traceback (most recent call last):
        ...
    ValueError: The feature names should match those that were passed during fit.
    Feature names must be in the same order as they were in fit.
    """
    if names is not None and fitted_names is None:
        warnings.warn(f"X has feature names, but {owner} was fitted without feature names", stacklevel=3)
    elif names is None and fitted_names is not None:
        warnings.warn(
            f"X does not have valid feature names, but {owner} was fitted with feature names", stacklevel=3
        )
    elif names is not None and fitted_names is not None and list(names) != list(fitted_names):
        message = "The feature names should match those that were passed during fit.\n"
        unseen = sorted(set(names) - set(fitted_names))
        lost = sorted(set(fitted_names) - set(names))
        for title, group in [
            ("Feature names unseen at fit time:\n", unseen),
            ("Feature names seen at fit time, yet now missing:\n", lost),
        ]:
            if group:
                message += title + "".join(f"- {name}\n" for name in group[:5])
                message += "- ...\n" if len(group) > 5 else ""
        if not unseen and not lost:
            message += "Feature names must be in the same order as they were in fit.\n"
        raise ValueError(message)
    if n_features != n_fitted:
        raise ValueError(
            f"X has {n_features} features, but {owner} is expecting {n_fitted} features as input."
        )


def seeded(estimator: Any, seed: int | np.random.Generator) -> Any:
    """Set every `random_state`, including nested ones, to a number, so that all clones behave the same.

    Returns the estimator, which is modified.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> seeded(DecisionTreeClassifier(random_state=7), 0), seeded(DecisionTreeClassifier(), 0)
    (DecisionTreeClassifier(random_state=7), DecisionTreeClassifier(random_state=1826701614))
    """
    rng = np.random.default_rng(seed)
    seeds: dict[str, int] = {}
    for key, value in sorted(estimator.get_params().items()):
        if key.split("__")[-1] == "random_state" and not isinstance(value, numbers.Integral):
            seeds[key] = int(rng.integers(2**31 - 1)) if value is None else seed_of(value) % 2**31
    return estimator.set_params(**seeds)


def require_classifier(estimator: Any, owner: str) -> None:
    """Raise unless `estimator` is a classifier with valid parameters.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> require_classifier(LinearRegression(), "Bagging")
    Traceback (most recent call last):
        ...
    ValueError: Bagging needs a classifier, but LinearRegression is not one.
    """
    _require_kind(estimator, owner, "classifier", is_classifier)


def require_regressor(estimator: Any, owner: str) -> None:
    """Raise unless `estimator` is a regressor with valid parameters.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> require_regressor(GaussianNB(), "Bagging")
    Traceback (most recent call last):
        ...
    ValueError: Bagging needs a regressor, but GaussianNB is not one.
    """
    _require_kind(estimator, owner, "regressor", is_regressor)


def require_model(estimator: Any, owner: str, task: str = "auto") -> None:
    """Raise unless `estimator` is a classifier or regressor, as the task needs; "auto" takes either.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> require_model(GaussianNB(), "Search")
    >>> require_model(GaussianNB(), "Search", "regression")
    Traceback (most recent call last):
        ...
    ValueError: Search needs a regressor, but GaussianNB is not one.
    """
    either = task == "auto" and not isinstance(estimator, type) and is_regressor(estimator)
    (require_regressor if either or task == "regression" else require_classifier)(estimator, owner)


def _require_kind(estimator: Any, owner: str, kind: str, is_kind: Callable[[Any], bool]) -> None:
    if isinstance(estimator, type):
        name = estimator.__name__
        raise ValueError(f"{owner} needs a {kind}, but {name} is a class: pass an instance, {name}().")
    if not hasattr(estimator, "fit") or not is_kind(estimator):
        raise ValueError(f"{owner} needs a {kind}, but {type(estimator).__name__} is not one.")
    # Not every path to a fitted clone validates it; estimators of other packages may have no constraints.
    if hasattr(estimator, "_parameter_constraints"):
        estimator._validate_params()


def is_metric_scorer(scorer: Any) -> bool:
    """Whether a scorer is a metric of predictions and labels, independent of X.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> is_metric_scorer(get_scorer("accuracy")), is_metric_scorer(lambda model, X, y: model.score(X, y))
    (True, False)
    """
    return isinstance(scorer, _BaseScorer)


def seed_of(random_state: Any) -> int:
    """Convert a random_state to a seed of the native engine; None uses fresh entropy, not the global state.

    Examples
    --------
    >>> seed_of(0) == seed_of(0)
    True
    """
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(random_state, numbers.Integral) and not 0 <= int(random_state) < 2**32:
        raise ValueError(
            f"random_state is {random_state}: use a whole number from 0 to {2**32 - 1}, or None."
        )
    return int(check_random_state(random_state).randint(np.iinfo(np.int64).max, dtype=np.int64))
