"""GEFS for classes: genetic ensemble feature selection (Opitz)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from foresift.models.gefs.base import GEFSModel
from foresift.models.gefs.tasks import ClassTask
from foresift.models.networks import probabilities

__all__ = ["GEFSClassifier"]


class GEFSClassifier(ClassifierMixin, GEFSModel):
    """An ensemble whose members see different columns, bred to be accurate and to disagree (Opitz's GEFS).

    A genome is a string of columns, constant ones left out; every genome makes a network. New genomes come
    from crossing and mutating those of the present ensemble, the fitter ones more often; of old and new
    members the fittest stay, where fitness is accuracy plus lambda times diversity, both scaled to the range
    from 0 to 1. The ensemble is the plain average of its members. Lambda is adjusted as the search goes on.

    The search can be stopped at any time and goes on later: see `fit_more`, `max_seconds`, `patience` and
    `checkpoint`. Ctrl-C leaves the estimator fitted with the last whole population, if the initial one was
    ready, and then raises.

    Parameters
    ----------
    estimator : "mlp" or classifier, default="mlp"
        What the members are: networks on the native kernel, or clones of any classifier, such as a tree. One
        with a parameter `categorical_features` gets the columns as they are, nominal ones as codes named
        there and NaN for missing; any other gets an indicator per category and standardised numbers.
    population : int, default=20
        Members of the ensemble.
    n_candidates : int, default=250
        How many are trained in all, the initial population included.
    n_offspring : int, default=10
        New members per generation.
    mutation_rate : float, default=0.5
        Share of the new members that are mutants; the others come from crossing two.
    mutation_share : float, default=0.1
        Share of the genes, one at least, that are replaced in a mutant.
    initial_length : float, default=2.0
        Genomes of the initial population have up to this many genes per column.
    diversity_weight : float, default=1.0
        Lambda at the beginning.
    evaluate : {"auto", "training", "oob", "validation"}, default="auto"
        Which rows tell accuracy and diversity: the training rows, as in the paper; for every member the rows
        it was not trained on, each being trained on a bootstrap sample (diversity by all rows); or rows that
        are held out. "auto" is "training" for networks and "oob" for other classifiers: a full-grown tree is
        always right on the rows it has seen.
    validation_fraction : float, default=0.2
        Share of every class that evaluate="validation" holds out.
    emphasis : "adaboost" or None, default=None
        Train new members on rows drawn so that half of them are ones the present ensemble misclassifies.
    n_hidden, epochs, learning_rate, momentum
        The networks; see `NetworkClassifier`. Hidden units are the same for all members.
    max_seconds : float, default=None
        Begin no new generation after this time.
    patience : int, default=None
        Stop when the ensemble's error has had no new low for this many generations.
    checkpoint : path, default=None
        A file that is written after every generation. If it exists, `fit` goes on from there, with the same
        outcome as if it had not been interrupted; data and parameters must be the same, but for
        `n_candidates`, `max_seconds`, `patience` and `n_jobs`. If `n_candidates` or more have been trained
        for it already, the ensemble is that of the file: see `n_trained_`.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are nominal: by dtype (text, categories, booleans), none, or those named, numbered or
        masked here.
    n_jobs : int, default=None
        Threads; -1 uses all cores. The outcome is the same for any number.
    random_state : int, RandomState or None, default=None
        Draws genomes, weights and the order of rows.

    Attributes
    ----------
    genomes_ : list of ndarray
        The columns of every member; one may occur more than once.
    estimators_ : list
        The members: `Network`, or fitted classifiers of class codes.
    estimators_features_ : list of ndarray
        The column of each input of every member; a nominal one may have several inputs.
    fitness_ : ndarray of shape (n_members,)
        Their fitness.
    generations_ : list of dict
        Of every generation, the initial population being number 0: generation, n_trained, ensemble_error,
        mean_error, diversity, diversity_weight (lambda), seconds.
    n_trained_ : int
        How many members have been trained.
    n_diverged_ : int
        How many of them were dropped because their weights or outputs were not finite; see Notes.
    diversity_weight_ : float
        Lambda at the end.
    coding_ : InputCoding
        How columns become inputs.
    classes_, n_features_in_, feature_names_in_, schema_
        What classes and columns were.

    See Also
    --------
    GEFSSelector : Which columns survive.
    NetworkClassifier : A single network.

    Notes
    -----
    What the paper leaves open: ten children per generation; half of them mutants; parents are drawn in
    proportion to fitness; accuracy and diversity are scaled over old and new members together; diversity is
    the mean absolute difference to the outputs of the average of all of them.

    A learning rate that is too large may leave finite weights and saturated units: the network answers the
    same for every row. It is not dropped, but `fit` warns if half of the ensemble are such, or if half of all
    that were trained were dropped.

    `fit` with 100 candidates and then `fit_more` with 150 equals `fit` with 250, because 100 ends with a
    whole generation; a generation that was cut short stays short.

    Metadata routing ends here: `set_fit_request` says whether `sample_weight` is wanted, requests of the
    estimators inside are not read.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from foresift import GEFSClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = GEFSClassifier(n_candidates=40, epochs=10, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95, len(model.genomes_), model.n_trained_
    (True, 20, 40)
    >>> model.fit_more(X, y, 20).n_trained_
    60
    """

    _task = "classification"
    classes_: NDArray[Any]

    def _keep_task(self, task: ClassTask) -> None:
        self.classes_ = task.labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict class probabilities: the mean outputs of the members, as shares of their sum.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Probabilities, in the order of `classes_`.
        """
        return probabilities(self._outputs(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of every row.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            Class labels.
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_.take(shares.argmax(axis=1)))
