"""The methods and classifiers that people know by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from foresift.errors import no_such

__all__ = ["CLASSIFIERS", "METHODS", "Classifier", "Method", "is_slow", "make_classifier"]


@dataclass(frozen=True)
class Method:
    """A selection method.

    Attributes
    ----------
    selector : str
        Public name of its class, which is imported when it is made: the command line answers at once.
    title : str
        What it does.
    parameters : mapping
        The parameters that make it this method.
    is_search : bool
        Whether it looks for a set of columns, of a given size if so told.
    is_slow : bool
        Whether it takes too long to be repeated in folds.
    """

    selector: str
    title: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    is_search: bool = False
    is_slow: bool = False

    def make(self, **parameters: Any) -> Any:
        """Make the selector; further parameters go before its own."""
        return getattr(import_module("foresift"), self.selector)(**{**self.parameters, **parameters})


# Long searches say how far they are, and on Ctrl-C show what they have.
_LONG = {"verbose": 1, "return_partial": True}


def _search(direction: str, title: str) -> Method:
    parameters = {"direction": direction, **_LONG}
    return Method("SequentialSelector", title, parameters, is_search=True, is_slow=True)


METHODS = {
    "forest-gain": Method(
        "ForestGainSelector",
        "average information gain in a forest, and what chance would give (Rogers & Gunn)",
        {"bound": "exact", "max_features": "sqrt", "n_estimators": 500},
    ),
    "relevance": Method("RelevanceSelector", "test of the gain in a forest against permuted shadow features"),
    "ssv1": Method(
        "SSVSelector", "separability of each column (Grabczewski & Jankowski)", {"mode": "separate"}
    ),
    "ssv2": Method(
        "SSVSelector", "place in one separability tree (Grabczewski & Jankowski)", {"mode": "tree"}
    ),
    "info-gain": Method("InfoGainSelector", "information gain of the best split of each column"),
    "pearson": Method("PearsonSelector", "correlation with the class", {"nominal": "one-hot"}),
    "fscore": Method("FScoreSelector", "difference of class means over deviations", {"nominal": "one-hot"}),
    "relief": Method("ReliefSelector", "differences to the nearest row of another class (Kira & Rendell)"),
    "relieff": Method("ReliefFSelector", "differences to near rows of other classes (Kononenko)"),
    "gefs": Method(
        "GEFSSelector", "share in the genes of an ensemble of networks bred for it (Opitz)", is_slow=True
    ),
    "cfs": Method("CFSSelector", "columns that tell of the class and not of each other (Hall)"),
    "cumulative-gain": Method(
        "CumulativeGainSelector", "the column that gains most at each level of a tree (Bommaganti)"
    ),
    "feature-boosting": Method(
        "FeatureBoostingSelector",
        "weights learned from trees on random subsets of the columns (Bommaganti)",
        {"n_iterations": 100},
    ),
    "random": Method("RandomSelector", "chance: what to compare the others with"),
    "contribution": Method(
        "ContributionSelector",
        "columns dropped by what they contribute to a forest (Murata)",
        _LONG,
        is_search=True,
        is_slow=True,
    ),
    "sfs": _search("forward", "columns added to a forest as they help its accuracy most"),
    "sbs": _search("backward", "columns dropped from a forest as its accuracy misses them least"),
    "plus-minus": _search("plus-minus", "two columns added, one dropped, in turn (Stearns)"),
    "exhaustive": _search("exhaustive", "every set of columns tried"),
}


def is_slow(selector: Any) -> bool:
    """Whether a selector takes too long to be repeated in folds.

    Examples
    --------
    >>> from foresift import InfoGainSelector, SequentialSelector
    >>> is_slow(InfoGainSelector()), is_slow(SequentialSelector())
    (False, True)
    """
    ours = type(selector).__module__.startswith("foresift.")
    return ours and type(selector).__name__ in {m.selector for m in METHODS.values() if m.is_slow}


@dataclass(frozen=True)
class Classifier:
    """A classifier of comparisons: what makes it, and what it is."""

    make: Callable[[], Any]
    title: str


def _own(name: str) -> Callable[[], Any]:
    """One of ours; trees, forests and networks read any table by themselves."""
    return lambda: getattr(import_module("foresift"), name)()


def _on_numbers(module: str, name: str, **parameters: Any) -> Callable[[], Any]:
    """One of scikit-learn, on standardised numbers, indicators of categories, means for missing values."""

    def make() -> Any:
        from sklearn.pipeline import make_pipeline

        from foresift.data.numeric_coding import NumericCoder

        classifier = getattr(import_module(f"sklearn.{module}"), name)(**parameters)
        return make_pipeline(NumericCoder(), classifier)

    return make


CLASSIFIERS = {
    "rf": Classifier(_own("SiftForestClassifier"), "forest of 100 trees, sqrt(p) columns per node"),
    "c45": Classifier(_own("C45Classifier"), "C4.5 with pruning"),
    "nb": Classifier(_on_numbers("naive_bayes", "GaussianNB"), "naive Bayes with normal distributions"),
    "knn": Classifier(
        _on_numbers("neighbors", "KNeighborsClassifier", n_neighbors=5),
        "5 nearest neighbours, Euclidean distance",
    ),
    "knn-manhattan": Classifier(
        _on_numbers("neighbors", "KNeighborsClassifier", n_neighbors=5, p=1),
        "5 nearest neighbours, Manhattan distance",
    ),
    "svm": Classifier(_on_numbers("svm", "SVC"), "support vector machine, Gaussian kernel, C = 1"),
    "svm-linear": Classifier(
        _on_numbers("svm", "SVC", kernel="linear"), "support vector machine, linear, C = 1"
    ),
    "mlp": Classifier(_own("NetworkClassifier"), "network with one hidden layer"),
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
    return CLASSIFIERS[key].make()
