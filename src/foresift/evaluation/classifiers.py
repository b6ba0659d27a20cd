"""The classifiers that comparisons know by name, each with what it needs to read any table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from foresift.data.numeric import NumericCoder
from foresift.errors import no_such
from foresift.models.c45 import C45Classifier
from foresift.models.forests import SiftForestClassifier
from foresift.models.networks import NetworkClassifier

__all__ = ["CLASSIFIERS", "make_classifier"]


def _on_numbers(classifier: Any) -> Any:
    return make_pipeline(NumericCoder(), classifier)


# What makes it, and what it is. Everything but trees and networks, which read any table by themselves, gets
# indicators for categories, standardised numbers and means for what is missing, learned with the classifier.
CLASSIFIERS: dict[str, tuple[Callable[[], Any], str]] = {
    "rf": (
        SiftForestClassifier,
        "forest of 100 trees, sqrt(p) columns per node",
    ),
    "c45": (C45Classifier, "C4.5 with pruning"),
    "nb": (lambda: _on_numbers(GaussianNB()), "naive Bayes with normal distributions"),
    "knn": (lambda: _on_numbers(KNeighborsClassifier(5)), "5 nearest neighbours, Euclidean distance"),
    "knn-manhattan": (
        lambda: _on_numbers(KNeighborsClassifier(5, p=1)),
        "5 nearest neighbours, Manhattan distance",
    ),
    "svm": (lambda: _on_numbers(SVC()), "support vector machine, Gaussian kernel, C = 1"),
    "svm-linear": (lambda: _on_numbers(SVC(kernel="linear")), "support vector machine, linear, C = 1"),
    "mlp": (NetworkClassifier, "network with one hidden layer"),
}


def make_classifier(key: str) -> Any:
    """Make one of `CLASSIFIERS`.

    Parameters
    ----------
    key : str
        Its name.

    Returns
    -------
    classifier
        Not fitted; every `random_state` is None.

    Examples
    --------
    >>> make_classifier("knn")[-1]
    KNeighborsClassifier()
    >>> make_classifier("knm")
    Traceback (most recent call last):
        ...
    ValueError: There is no classifier 'knm'; did you mean 'knn'? There are: rf, c45, nb, ...
    """
    if key not in CLASSIFIERS:
        raise no_such("classifier", key, CLASSIFIERS, f"There are: {', '.join(CLASSIFIERS)}.")
    return CLASSIFIERS[key][0]()
