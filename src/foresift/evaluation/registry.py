"""The named methods and estimators of the command line and of comparisons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from typing import Any

from foresift.errors import no_such

__all__ = [
    "ESTIMATORS",
    "METHODS",
    "OTHERS",
    "Estimator",
    "Method",
    "is_slow",
    "make_estimator",
    "takes_quantities",
]


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
    instead : str
        The nearest method for a quantity, if this one does not take one; see `takes`.
    """

    selector: str
    title: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    is_search: bool = False
    is_slow: bool = False
    instead: str = "info-gain"

    @property
    def _class(self) -> Any:
        return getattr(import_module("foresift"), self.selector)

    def make(self, **parameters: Any) -> Any:
        """Make the selector; further parameters override its own."""
        return self._class(**{**self.parameters, **parameters})

    def takes(self, task: str) -> bool:
        """Whether it takes targets of a task; all take classes."""
        return task == "classification" or takes_quantities(self._class)


def takes_quantities(selector: Any) -> bool:
    """Whether a selector of foresift, or its class, takes a quantity as target.

    Examples
    --------
    >>> from foresift import InfoGainSelector, SSVSelector
    >>> takes_quantities(InfoGainSelector), takes_quantities(SSVSelector())
    (True, False)
    """
    kind: Any = selector if isinstance(selector, type) else type(selector)
    return kind._for_quantities is None and "task" in signature(kind).parameters


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
    "pearson": Method("PearsonSelector", "correlation with the target", {"nominal": "one-hot"}),
    "fscore": Method(
        "FScoreSelector",
        "difference of class means over deviations; of a quantity the F statistic",
        {"nominal": "one-hot"},
    ),
    "relief": Method(
        "ReliefSelector",
        "differences to the nearest row of another class (Kira & Rendell)",
        instead="relieff",
    ),
    "relieff": Method(
        "ReliefFSelector", "differences to near rows of other classes, or of other values (Kononenko)"
    ),
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
    "best": Method(
        "BestRankerSelector", "the ranking, of several, whose best columns predict held-out rows best"
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


# Methods of other libraries, in comparisons only: `compare.others` makes them.
OTHERS = {
    "boruta": "importances in a forest against permuted copies (Kursa & Rudnicki; pip install boruta)",
    "rfe": "recursive feature elimination by a forest's importances, half of the columns (scikit-learn)",
    "rfecv": "the same, with the number of columns chosen by cross-validation (scikit-learn)",
    "permutation": "loss of a forest on held-out rows with a column permuted (scikit-learn)",
    "select-from-model": "importance in a forest above the mean (scikit-learn)",
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
class Estimator:
    """A model of comparisons.

    Attributes
    ----------
    title : str
        Short description.
    classes, quantity : callable or None
        Make the classifier, and the regressor; None if there is none.
    """

    title: str
    classes: Callable[[], Any] | None = None
    quantity: Callable[[], Any] | None = None

    @property
    def tasks(self) -> dict[str, Callable[[], Any]]:
        """What makes it, by task."""
        both = {"classification": self.classes, "regression": self.quantity}
        return {task: make for task, make in both.items() if make is not None}


def _own(name: str) -> Callable[[], Any]:
    """One of ours; trees, forests and networks take any table."""
    return lambda: getattr(import_module("foresift"), name)()


def _on_numbers(module: str, name: str, **parameters: Any) -> Callable[[], Any]:
    """One of scikit-learn, with standardised numbers, one-hot categories and imputed means."""

    def make() -> Any:
        from sklearn.pipeline import make_pipeline

        from foresift.data.numeric_coding import NumericCoder

        model = getattr(import_module(f"sklearn.{module}"), name)(**parameters)
        return make_pipeline(NumericCoder(), model)

    return make


def _installed(package: str, name: str, **parameters: Any) -> Callable[[], Any]:
    """One of a library that need not be there; categories become indicators."""

    def make() -> Any:
        from sklearn.pipeline import make_pipeline

        from foresift.data.numeric_coding import NumericCoder

        try:
            module = import_module(package)
        except ImportError:
            raise ValueError(f"{package} is not installed: pip install {package}, or use boosting.") from None
        return make_pipeline(NumericCoder(), getattr(module, name)(**parameters))

    return make


def _neighbours(title: str, **parameters: Any) -> Estimator:
    names = ("KNeighborsClassifier", "KNeighborsRegressor")
    return Estimator(title, *(_on_numbers("neighbors", name, n_neighbors=5, **parameters) for name in names))


def _scaled_svr() -> Any:
    """Its parameters C and epsilon are in the unit of y."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.preprocessing import StandardScaler

    return TransformedTargetRegressor(_on_numbers("svm", "SVR")(), transformer=StandardScaler())


ESTIMATORS = {
    "rf": Estimator(
        "forest of 100 trees; sqrt(p) columns per node, for a quantity p/3",
        _own("SiftForestClassifier"),
        _own("SiftForestRegressor"),
    ),
    "c45": Estimator("C4.5 with pruning", _own("C45Classifier")),
    "cart": Estimator("CART, grown in full", _own("CartClassifier"), _own("CartRegressor")),
    "boosting": Estimator(
        "histogram gradient boosting of scikit-learn",
        _on_numbers("ensemble", "HistGradientBoostingClassifier"),
        _on_numbers("ensemble", "HistGradientBoostingRegressor"),
    ),
    "lightgbm": Estimator(
        "gradient boosting of LightGBM, where it is installed",
        _installed("lightgbm", "LGBMClassifier", verbose=-1),
        _installed("lightgbm", "LGBMRegressor", verbose=-1),
    ),
    "xgboost": Estimator(
        "gradient boosting of XGBoost, where it is installed",
        _installed("xgboost", "XGBClassifier"),
        _installed("xgboost", "XGBRegressor"),
    ),
    "logistic": Estimator(
        "logistic regression, penalty 1", _on_numbers("linear_model", "LogisticRegression", max_iter=1000)
    ),
    "nb": Estimator("naive Bayes with normal distributions", _on_numbers("naive_bayes", "GaussianNB")),
    "ridge": Estimator("ridge regression, penalty 1", None, _on_numbers("linear_model", "Ridge")),
    "knn": _neighbours("5 nearest neighbours, Euclidean distance"),
    "knn-manhattan": _neighbours("5 nearest neighbours, Manhattan distance", p=1),
    "svm": Estimator("support vector machine, Gaussian kernel, C = 1", _on_numbers("svm", "SVC")),
    "svm-linear": Estimator(
        "support vector machine, linear, C = 1", _on_numbers("svm", "SVC", kernel="linear")
    ),
    "svr": Estimator(
        "support vector regression, Gaussian kernel, C = 1, target standardised", None, _scaled_svr
    ),
    "mlp": Estimator("network with one hidden layer", _own("NetworkClassifier"), _own("NetworkRegressor")),
}


def make_estimator(key: str, task: str = "classification") -> Any:
    """Make one of `ESTIMATORS`, not fitted; every `random_state` is None.

    Examples
    --------
    >>> make_estimator("knn")[-1], make_estimator("knn", "regression")[-1]
    (KNeighborsClassifier(), KNeighborsRegressor())
    >>> make_estimator("knm")
    Traceback (most recent call last):
        ...
    ValueError: There is no estimator 'knm'; did you mean 'knn'? There are: rf, c45, cart, boosting, ...
    >>> make_estimator("nb", "regression")
    Traceback (most recent call last):
        ...
    ValueError: The estimator 'nb' takes classes only, but y is a quantity: use rf, cart, boosting, ...
    """
    fit = [name for name, estimator in ESTIMATORS.items() if task in estimator.tasks]
    if key not in ESTIMATORS:
        raise no_such("estimator", key, fit, f"There are: {', '.join(fit)}.")
    if key not in fit:
        takes, but = ("classes", "is a quantity") if task == "regression" else ("a quantity", "holds classes")
        raise ValueError(
            f"The estimator {key!r} takes {takes} only, but y {but}: use {', '.join(fit[:-1])} or {fit[-1]}."
        )
    return ESTIMATORS[key].tasks[task]()
