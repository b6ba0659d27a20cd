"""GEFS for a quantity: genetic ensemble feature selection (Opitz) with squared errors."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from foresift.models.backprop import Scaling
from foresift.models.gefs.base import GEFSModel
from foresift.models.gefs.search import SEARCH_CONSTRAINTS
from foresift.models.gefs.tasks import QuantityTask

__all__ = ["GEFSRegressor"]


class GEFSRegressor(RegressorMixin, GEFSModel):
    """An ensemble whose members see different columns, bred to be accurate and to disagree, for a quantity.

    The search of `GEFSClassifier` (Opitz's GEFS) with other measures. The accuracy of a member is one minus
    its mean squared error, its diversity the mean squared difference from the ensemble's prediction, both in
    units of the variance of y, so that the unit of y has no effect. In the ambiguity decomposition of Krogh
    and Vedelsby, on which Opitz builds, the error of an ensemble is the mean error of its members minus
    their mean diversity. Fitness is therefore accuracy plus lambda times diversity as they are; only the sum
    is scaled to the range from 0 to 1. The ensemble predicts the mean of its members.

    Parameters
    ----------
    estimator : "mlp" or regressor, default="mlp"
        What the members are: networks on the native kernel, or clones of any regressor, such as a tree. What
        these see of the columns is as in `GEFSClassifier`.
    population, n_candidates, n_offspring, mutation_rate, mutation_share, initial_length, diversity_weight
        The search; see `GEFSClassifier`.
    evaluate : {"auto", "training", "oob", "validation"}, default="auto"
        Which rows give accuracy and diversity; see `GEFSClassifier`. "auto" is "training" for networks and
        "oob" for other regressors.
    validation_fraction : float, default=0.2
        Share of the rows that evaluate="validation" holds out, of large and small y alike.
    n_hidden, epochs, learning_rate, momentum
        The networks; see `NetworkRegressor`. Hidden units are the same for all members.
    max_seconds, patience, checkpoint
        When to stop and how to go on; see `GEFSClassifier`.
    categorical_features, n_jobs, random_state
        See `GEFSClassifier`.

    Attributes
    ----------
    genomes_ : list of ndarray
        The columns of every member; one may occur more than once.
    estimators_ : list
        The members: `Network` of the scaled y, or fitted regressors.
    fitness_ : ndarray of shape (n_members,)
        Their fitness.
    generations_ : list of dict
        Of every generation; see `GEFSClassifier`. Errors and diversity are in units of the variance of y.
    estimators_features_, n_trained_, n_diverged_, diversity_weight_, coding_
        See `GEFSClassifier`.
    scaling_ : Scaling
        Mean and standard deviation of y.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    See Also
    --------
    GEFSClassifier : The same for classes.
    NetworkRegressor : A single network.

    Notes
    -----
    Metadata routing ends here: `set_fit_request` says whether `sample_weight` is wanted, requests of the
    estimators inside are not read.

    References
    ----------
    A. Krogh and J. Vedelsby, "Neural network ensembles, cross validation, and active learning", NIPS 1995.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from foresift import GEFSRegressor
    >>> X, y = make_friedman1(400, random_state=0)
    >>> model = GEFSRegressor(n_candidates=40, random_state=0).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.8, len(model.genomes_), model.n_trained_
    (True, 20, 40)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        name: constraint for name, constraint in SEARCH_CONSTRAINTS.items() if name != "emphasis"
    }
    _task = "regression"
    scaling_: Scaling

    def __init__(
        self,
        estimator="mlp",
        *,
        population=20,
        n_candidates=250,
        n_offspring=10,
        mutation_rate=0.5,
        mutation_share=0.1,
        initial_length=2.0,
        diversity_weight=1.0,
        evaluate="auto",
        validation_fraction=0.2,
        n_hidden=None,
        epochs=40,
        learning_rate=0.01,
        momentum=0.9,
        max_seconds=None,
        patience=None,
        checkpoint=None,
        categorical_features="from_dtype",
        n_jobs=None,
        random_state=None,
    ):
        super().__init__(
            estimator=estimator,
            population=population,
            n_candidates=n_candidates,
            n_offspring=n_offspring,
            mutation_rate=mutation_rate,
            mutation_share=mutation_share,
            initial_length=initial_length,
            diversity_weight=diversity_weight,
            evaluate=evaluate,
            validation_fraction=validation_fraction,
            n_hidden=n_hidden,
            epochs=epochs,
            learning_rate=learning_rate,
            momentum=momentum,
            max_seconds=max_seconds,
            patience=patience,
            checkpoint=checkpoint,
            categorical_features=categorical_features,
            n_jobs=n_jobs,
            random_state=random_state,
        )

    def _keep_task(self, task: QuantityTask) -> None:
        self.scaling_ = task.scaling

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the quantity of every row: the mean of the members.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            The predictions.
        """
        return self._outputs(X)[:, 0]
