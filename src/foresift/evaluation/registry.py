"""The named methods and classifiers of the command line and of comparisons."""

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
        Public name of its class, which is imported only when it is made, to keep the command line fast.
    title : str
        Short description.
    parameters : mapping
        Parameters of the selector that define the method.
    is_search : bool
        Whether it searches subsets of the columns.
    is_slow : bool
        Whether it is too slow to be repeated in folds.
    """

    selector: str
    title: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    is_search: bool = False
    is_slow: bool = False

    def make(self, **parameters: Any) -> Any:
        """Make the selector; further parameters override its own."""
        return getattr(import_module("foresift"), self.selector)(**{**self.parameters, **parameters})


# Long searches report their progress, and return partial results on Ctrl-C.
_LONG = {"verbose": 1, "return_partial": True}


def _search(direction: str, title: str) -> Method:
    parameters = {"direction": direction, **_LONG}
    return Method("SequentialSelector", title, parameters, is_search=True, is_slow=True)


def _greedy(scheme: str, title: str) -> Method:
    return Method("MutualInfoSelector", title, {"scheme": scheme})


METHODS = {
    "forest-gain": Method(
        "ForestGainSelector",
        "mean information gain in a forest against its expectation by chance (Rogers & Gunn)",
        {"bound": "exact", "max_features": "sqrt", "n_estimators": 500},
    ),
    "relevance": Method("RelevanceSelector", "test of the gain in a forest against permuted shadow features"),
    "ssv1": Method(
        "SSVSelector", "separability of each column (Grabczewski & Jankowski)", {"mode": "separate"}
    ),
    "ssv2": Method(
        "SSVSelector", "position in one separability tree (Grabczewski & Jankowski)", {"mode": "tree"}
    ),
    "info-gain": Method("InfoGainSelector", "information gain of the best split of each column"),
    "pearson": Method("PearsonSelector", "correlation with the class", {"nominal": "one-hot"}),
    "fscore": Method("FScoreSelector", "difference of class means over deviations", {"nominal": "one-hot"}),
    "relief": Method("ReliefSelector", "differences to the nearest row of another class (Kira & Rendell)"),
    "relieff": Method("ReliefFSelector", "differences to near rows of other classes (Kononenko)"),
    "surf": Method("SURFSelector", "differences to rows nearer than the mean distance (Greene)"),
    "multisurf": Method("MultiSURFSelector", "differences to rows nearer than a limit per row (Urbanowicz)"),
    "gefs": Method(
        "GEFSSelector", "frequency in the genomes of a genetic ensemble of networks (Opitz)", is_slow=True
    ),
    "cfs": Method("CFSSelector", "columns correlated with the target and not with each other (Hall)"),
    "mim": _greedy("mim", "mutual information with the target"),
    "mrmr": _greedy("mrmr", "mutual information with the target less that with added columns (Peng)"),
    "jmi": _greedy("jmi", "mutual information of pairs with added columns and the target (Yang & Moody)"),
    "cmim": _greedy("cmim", "least mutual information with the target given an added column (Fleuret)"),
    "disr": _greedy("disr", "as jmi, over the joint entropy of the pair and the target (Meyer & Bontempi)"),
    "cumulative-gain": Method(
        "CumulativeGainSelector", "the column with the largest gain at each level of a tree (Bommaganti)"
    ),
    "feature-boosting": Method(
        "FeatureBoostingSelector",
        "weights learned from trees on random subsets of the columns (Bommaganti)",
        {"n_iterations": 100},
    ),
    "random": Method("RandomSelector", "random ranking, a baseline for the others"),
    "contribution": Method(
        "ContributionSelector",
        "columns dropped by their contribution to a forest (Murata)",
        _LONG,
        is_search=True,
        is_slow=True,
    ),
    "sfs": _search("forward", "forward search: adds the column that improves a forest most"),
    "sbs": _search("backward", "backward search: drops the column that a forest needs least"),
    "plus-minus": _search("plus-minus", "search that adds two columns and drops one, in turn (Stearns)"),
    "exhaustive": _search("exhaustive", "search of all subsets of the columns"),
}


def is_slow(selector: Any) -> bool:
    """Whether a selector is too slow to be repeated in folds.

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
    """A classifier of comparisons: a function that makes it, and a short description."""

    make: Callable[[], Any]
    title: str


def _own(name: str) -> Callable[[], Any]:
    """One of ours; trees, forests and networks take any table."""
    return lambda: getattr(import_module("foresift"), name)()


def _on_numbers(module: str, name: str, **parameters: Any) -> Callable[[], Any]:
    """One of scikit-learn, with standardised numbers, one-hot categories and imputed means."""

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
    """Make one of `CLASSIFIERS`, not fitted; every `random_state` is None.

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
