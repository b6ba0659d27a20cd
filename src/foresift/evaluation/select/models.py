"""What predicts in the folds of a selection: a forest, or a model of the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.metrics import get_scorer_names
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags

from foresift.data.containers import read
from foresift.data.folds import Fold
from foresift.data.numeric_coding import NumericCoder
from foresift.data.sklearn_compat import seeded
from foresift.data.slices import matrix_of
from foresift.data.table import Table
from foresift.data.target import Target
from foresift.errors import no_such
from foresift.evaluation.select.fitted import Rows
from foresift.evaluation.select.judging import Judge, judge_of
from foresift.models.forests import SiftForestClassifier, SiftForestRegressor
from foresift.models.scorer import SubsetScorer, grows_on_store, make_subset_scorer
from foresift.selectors.best import BestRankerSelector

__all__ = ["Model", "boosting_scorer"]

N_TREES = 50  # of the forests that are scored
CANDIDATES = 2 / 3  # columns per node of forests for a quantity: on real tables better than a third, or all
MAX_OUTPUTS = 10  # classes; each of them is boosted
MAX_CATEGORIES = 255  # of a column that gradient boosting takes as nominal
MIN_IN_A_LEAF = 3  # rows; trees of few columns grown to the end learn the noise of their leaves


@dataclass(frozen=True, eq=False)
class Model:
    """What predicts, and how that is scored.

    Attributes
    ----------
    estimator : estimator or None
        None is a forest.
    scoring : str, callable or None
        A scorer of scikit-learn; None is accuracy or ROC AUC, or R2.
    back : callable or None
        From the target as it is modelled to its unit; None if that is the same.
    """

    estimator: Any = None
    scoring: Any = None
    back: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None

    @property
    def name(self) -> str:
        """What sentences call it."""
        if self.estimator is None:
            return "a forest"
        last = self.estimator
        while isinstance(last, Pipeline | TransformedTargetRegressor):
            last = last[-1] if isinstance(last, Pipeline) else last.regressor
        return type(last).__name__

    @property
    def is_default(self) -> bool:
        """Whether neither estimator nor scorer was given."""
        return self.estimator is None and self.scoring is None

    @property
    def again(self) -> str:
        """What a sentence calls it that has named it."""
        return "a forest" if self.estimator is None else "and"

    @property
    def plural(self) -> str:
        """What sentences call several of them."""
        return "forests" if self.estimator is None else "models"

    @property
    def needs_X(self) -> bool:
        """Whether it takes columns that are not coded."""
        return self.estimator is not None and not grows_on_store(self.estimator)

    def require(self, task: str) -> None:
        """Refuse an estimator for another kind of target, and a scorer that does not exist."""
        if isinstance(self.scoring, str) and self.scoring not in get_scorer_names():
            some = "r2, neg_mean_absolute_error" if task == "regression" else "accuracy, f1_macro, roc_auc"
            names, more = get_scorer_names(), f"There are {some} and the others of scikit-learn."
            raise no_such("score", self.scoring, names, more)
        if self.scoring is not None and self.back is not None:
            raise ValueError("scoring would judge the logarithm: leave out scoring, or log_target.")
        if self.estimator is None:
            return
        if isinstance(self.estimator, type):
            name = self.estimator.__name__
            raise TypeError(f"The estimator {name} is a class: make one, {name}().")
        if not all(hasattr(self.estimator, name) for name in ("fit", "predict", "__sklearn_tags__")):
            raise TypeError(
                f"The estimator {self.estimator!r} is none of scikit-learn's kind: derive its class from"
                " BaseEstimator and ClassifierMixin or RegressorMixin, with fit and predict."
            )
        kind = get_tags(self.estimator).estimator_type
        wanted, other = ("regressor", "classification")
        if task == "classification":
            wanted, other = ("classifier", "regression")
        if kind not in (None, wanted):
            held = "a quantity" if task == "regression" else "classes"
            raise ValueError(
                f"The target holds {held}, so the estimator must be a {wanted}, but {self.name} is not one:"
                f' use another, or set task="{other}".'
            )

    def tell(self, selector: Any) -> Any:
        """Let a selector that chooses among rankers choose by this model and score, unless it has its own."""
        if not isinstance(selector, BestRankerSelector):
            return selector
        new: dict[str, Any] = {}
        if selector.estimator is None and self.estimator is not None:
            plain = isinstance(self.estimator, Pipeline) or grows_on_store(self.estimator)
            new["estimator"] = self.estimator if plain else make_pipeline(NumericCoder(), self.estimator)
        if selector.scoring is None and self.scoring is not None:
            new["scoring"] = self.scoring
        return selector.set_params(**new)

    def judge(self, target: Target) -> Judge:
        """How its predictions of a target are scored."""
        more = {} if self.back is None else {"back": self.back}
        return judge_of(target, self.estimator or SiftForestClassifier(), self.scoring, **more)

    def scorer(
        self, rows: Rows, judge: Judge, folds: list[Fold], seed: int, n_jobs: int | None
    ) -> SubsetScorer:
        """Makes models of sets of columns; forests all grow on one coded table."""
        model = self._made(rows.table, seed)
        X = rows.X
        if X is not None and not isinstance(model, Pipeline):
            X = matrix_of(read(X))  # not every library takes every name of a column
        return make_subset_scorer(
            model, X, rows.table, rows.weights, folds, scoring=judge.scoring, n_jobs=n_jobs
        )

    def _made(self, table: Table, seed: int) -> Any:
        if self.estimator is not None:
            model = seeded(clone(self.estimator), seed)
            return model if _reads(model, table) else make_pipeline(NumericCoder(), model)
        leaf = {"min_samples_leaf": MIN_IN_A_LEAF, "random_state": seed}
        if table.target.task == "regression":
            return SiftForestRegressor(N_TREES, max_features=CANDIDATES, **leaf)
        return SiftForestClassifier(N_TREES, max_features="sqrt", **leaf)


def _reads(model: Any, table: Table) -> bool:
    """Whether a model takes the columns as they are; a pipeline knows what it does."""
    if isinstance(model, Pipeline) or type(model).__module__.startswith("foresift."):
        return True
    missing = any(table.store.has_missing(j) for j in range(table.n_columns))
    return not table.schema.nominal.any() and (not missing or bool(get_tags(model).input_tags.allow_nan))


def boosting_scorer(rows: Rows, judge: Judge, folds: list[Fold], seed: int) -> SubsetScorer | None:
    """Gradient boosting, which the forest is compared with; None of many classes, where it takes too long."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    table = rows.table
    if table.target.n_outputs > MAX_OUTPUTS:
        return None
    quantity = table.target.task == "regression"
    boosting = HistGradientBoostingRegressor if quantity else HistGradientBoostingClassifier
    few = [table.store.n_values(j) <= MAX_CATEGORIES for j in range(table.n_columns)]
    model = boosting(random_state=seed % 2**32, categorical_features=table.schema.nominal & np.array(few))
    X = table.numbers()
    for fold in folds:  # it refuses columns without any value
        X[:, np.isnan(X[fold.train]).all(axis=0)] = 0.0
    return make_subset_scorer(model, X, table, rows.weights, folds, scoring=judge.scoring)
