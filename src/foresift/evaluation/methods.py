"""The methods that the command line knows by name."""

__all__ = ["METHODS", "SEARCHES"]

# Long searches say how far they are, and on Ctrl-C show what they have.
_LONG: dict[str, object] = {"verbose": 1, "return_partial": True}
SEARCHES = ("wrappers", "contribution")  # modules whose selectors look for a set, of K columns if so told


def _search(direction: str, what: str) -> tuple[str, str, dict[str, object], str]:
    return "wrappers", "SequentialSelector", {"direction": direction, **_LONG}, what


# Key of a method: module and class of its selector, the parameters that make it the method, what it does.
METHODS: dict[str, tuple[str, str, dict[str, object], str]] = {
    "forest-gain": (
        "embedded",
        "ForestGainSelector",
        {"bound": "exact", "max_features": "sqrt", "n_estimators": 500},
        "average information gain in a forest, and what chance would give (Rogers & Gunn)",
    ),
    "relevance": (
        "relevance",
        "RelevanceSelector",
        {},
        "test of the gain in a forest beside that of permuted twins",
    ),
    "ssv1": (
        "ssv",
        "SSVSelector",
        {"mode": "separate"},
        "separability of each column (Grabczewski & Jankowski)",
    ),
    "ssv2": (
        "ssv",
        "SSVSelector",
        {"mode": "tree"},
        "place in one separability tree (Grabczewski & Jankowski)",
    ),
    "info-gain": ("filters", "InfoGainSelector", {}, "information gain of the best split of each column"),
    "pearson": ("filters", "PearsonSelector", {"nominal": "one-hot"}, "correlation with the class"),
    "fscore": (
        "filters",
        "FScoreSelector",
        {"nominal": "one-hot"},
        "difference of class means over deviations",
    ),
    "relief": (
        "relief",
        "ReliefSelector",
        {},
        "differences to the nearest row of another class (Kira & Rendell)",
    ),
    "relieff": ("relief", "ReliefFSelector", {}, "differences to near rows of other classes (Kononenko)"),
    "gefs": (
        "genetic",
        "GEFSSelector",
        {},
        "share in the genes of an ensemble of networks bred for it (Opitz)",
    ),
    "cfs": ("cfs", "CFSSelector", {}, "columns that tell of the class and not of each other (Hall)"),
    "cumulative-gain": (
        "cumulative",
        "CumulativeGainSelector",
        {},
        "the column that gains most at each level of a tree (Bommaganti)",
    ),
    "feature-boosting": (
        "feature_boosting",
        "FeatureBoostingSelector",
        {"n_iterations": 100},
        "weights learned from trees on random subsets of the columns (Bommaganti)",
    ),
    "random": ("filters", "RandomSelector", {}, "chance: what to compare the others with"),
    "contribution": (
        "contribution",
        "ContributionSelector",
        _LONG,
        "columns dropped by what they contribute to a forest (Murata)",
    ),
    "sfs": _search("forward", "columns added to a forest as they help its accuracy most"),
    "sbs": _search("backward", "columns dropped from a forest as its accuracy misses them least"),
    "plus-minus": _search("plus-minus", "two columns added, one dropped, in turn (Stearns)"),
    "exhaustive": _search("exhaustive", "every set of columns tried"),
}
