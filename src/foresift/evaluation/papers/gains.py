"""Gains of irrelevant features: bounds over nodes, densities in a forest, and thresholds of a selector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from foresift.data.sklearn_compat import seeded
from foresift.engine.criteria import expected_gain, node_complexity
from foresift.evaluation.harness.evaluate import attempt
from foresift.evaluation.harness.splits import seed_for
from foresift.evaluation.harness.tasks import Data, Job, Record, Unit
from foresift.evaluation.papers.specs import PaperTable
from foresift.evaluation.papers.units import make_unit

__all__ = ["bounds_over_nodes", "gains_of_records", "plan_gains", "plan_thresholds", "thresholds_of_records"]

N_BINS = 100
WEIGHTINGS = ("unit", "complexity")
BOUNDS = ("lower", "mid", "upper", "exact")


@dataclass(frozen=True)
class Whole:
    """Arguments of `gain_units` and `threshold_units`: an estimator for a whole table."""

    estimator: Any
    seed: int


def bounds_over_nodes(table: PaperTable) -> dict[tuple[str, str], dict[int, float]]:
    """Bounds of the expected gain of an irrelevant feature, by place and bound, as curves.

    With the option `nodes` the places are sizes of nodes, and a curve is over the positive rows; with `up_to`
    they are "one row of a class" and "equal classes", and a curve is over the size of the node.

    Examples
    --------
    >>> from foresift.evaluation.papers.specs import read_paper
    >>> figure = next(table for table in read_paper("rogers-gunn").tables if table.id == "figure-2")
    >>> curves = bounds_over_nodes(figure)
    >>> round(curves["6 rows", "lower"][1], 3), round(curves["6 rows", "exact"][1], 3)
    (0.386, 0.386)
    """
    if "nodes" in table.options:
        places = {
            f"{n} rows": [(i, (i, n - i), (1, n - 1)) for i in range(1, n)] for n in table.options["nodes"]
        }
    else:
        sizes = range(2, table.options["up_to"] + 1)
        single, even = [(n, (1, n - 1)) for n in sizes], [(n, (n // 2, n // 2)) for n in sizes if n % 2 == 0]
        places = {"one row of a class": [(n, counts, counts) for n, counts in single]}
        places["equal classes"] = [(n, counts, counts) for n, counts in even]
    curves = {}
    for place, points in places.items():
        for bound in table.columns:
            counts = np.array([exact if bound == "exact" else extreme for _, exact, extreme in points])
            gains = expected_gain(counts, bound).tolist()
            curves[place, bound] = dict(zip((at for at, *_ in points), gains, strict=True))
    return curves


def plan_gains(data: Data, name: str, forest: Any, *, random_state: int = 0) -> list[Job]:
    """Plan a forest on a whole table that records the gain of every split candidate.

    Examples
    --------
    >>> from foresift import SiftForestClassifier
    >>> from foresift.datasets import make_simple
    >>> data = Data.of("simple", *make_simple(60, n_noise=1, random_state=0))
    >>> job, = plan_gains(data, "gains", SiftForestClassifier(3, record_tried=True))
    >>> record, = gain_units(data, job.arguments, job.units)
    >>> round(sum(record.extra["densities"]["unit"][0]), 6)
    1.0
    """
    return _plan("gains", gain_units, data, name, forest, random_state)


def plan_thresholds(data: Data, name: str, selector: Any, *, random_state: int = 0) -> list[Job]:
    """Plan a `ForestGainSelector` on a whole table, with each of its bounds.

    Examples
    --------
    >>> from foresift import ForestGainSelector
    >>> from foresift.datasets import make_simple
    >>> data = Data.of("simple", *make_simple(60, n_noise=1, random_state=0))
    >>> job, = plan_thresholds(data, "thresholds", ForestGainSelector(n_estimators=5))
    >>> record, = threshold_units(data, job.arguments, job.units)
    >>> list(record.extra)
    ['score', 'lower', 'mid', 'upper', 'exact']
    """
    return _plan("thresholds", threshold_units, data, name, selector, random_state)


def _plan(kind: str, function: Any, data: Data, name: str, estimator: Any, random_state: int) -> list[Job]:
    seed = seed_for(random_state, 0, 0)
    selector, classifier = (None, estimator) if kind == "gains" else (estimator, None)
    unit = make_unit(kind, data, name, selector, classifier, "all rows", (0, 0, "all"), seed, {})
    return [Job(function, data.checksum, Whole(estimator, seed), (unit,))]


def gain_units(data: Data, whole: Whole, units: Sequence[Unit]) -> list[Record]:
    """Grow a forest, and record the densities of the gains of each feature; a pure function."""

    def work() -> dict[str, Any]:
        forest = seeded(clone(whole.estimator), np.random.default_rng([whole.seed, 1])).fit(data.X, data.y)
        nodes = [(table.counts[table.tried["node"]], table.tried) for table in forest.node_tables_]
        complexity = np.concatenate([node_complexity(counts) for counts, _ in nodes])
        feature, gain = (np.concatenate([tried[key] for _, tried in nodes]) for key in ("feature", "gain"))
        weights = {"unit": np.ones_like(complexity), "complexity": complexity}
        densities: dict[str, list[list[float]]] = {}
        for name in WEIGHTINGS:
            densities[name] = []
            for j in range(data.n_features):
                of_feature = feature == j
                values, w = np.minimum(gain[of_feature], 1.0), weights[name][of_feature]
                mass, _ = np.histogram(values, N_BINS, (0.0, 1.0), weights=w)
                densities[name].append((mass / mass.sum()).tolist())
        return {"extra": {"densities": densities}}

    return [attempt(unit, work) for unit in units]


def threshold_units(data: Data, whole: Whole, units: Sequence[Unit]) -> list[Record]:
    """Fit a selector with every bound, and record its scores and thresholds; a pure function."""

    def work() -> dict[str, Any]:
        found: dict[str, list[float]] = {}
        for bound in BOUNDS:
            selector = clone(whole.estimator).set_params(bound=bound)
            selector = seeded(selector, np.random.default_rng([whole.seed, 0])).fit(data.X, data.y)
            found.setdefault("score", selector.scores_.tolist())
            found[bound] = selector.thresholds_.tolist()
        return {"extra": found}

    return [attempt(unit, work) for unit in units]


def gains_of_records(table: PaperTable, records: Sequence[Record]) -> dict[tuple[str, str, str], list[float]]:
    """Densities by weighting, feature and bin; a bin is named by its upper end in hundredths of a bit."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for record in records:
        for weighting, features in record.extra["densities"].items():
            for j in table.options["features"]:
                for k, mass in enumerate(features[j - 1]):
                    found.setdefault((weighting, f"X{j}", str(k + 1)), []).append(mass * N_BINS)
    return found


def thresholds_of_records(
    table: PaperTable, records: Sequence[Record]
) -> dict[tuple[str, str, str], list[float]]:
    """Scores and thresholds by feature, and where the irrelevant features lie: the last ones of a table."""
    found: dict[tuple[str, str, str], list[float]] = {}
    n_relevant = table.options["relevant"]
    for record in records:
        values = {name: np.array(numbers) for name, numbers in record.extra.items()}
        for name, numbers in values.items():
            for j, number in enumerate(numbers.tolist()):
                found.setdefault(("", name, str(j + 1)), []).append(number)
        noise = {name: numbers[n_relevant:] for name, numbers in values.items()}
        below, above = noise["score"] <= noise["lower"], noise["score"] >= noise["upper"]
        place = (noise["exact"] - noise["lower"]) / (noise["upper"] - noise["lower"])
        shares = {"below": below, "between": ~below & ~above, "above": above, "place of exact": place}
        for name, share in shares.items():
            found.setdefault(("", "irrelevant features", name), []).append(float(np.mean(share)))
    return found
