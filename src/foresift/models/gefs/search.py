"""GEFS on a table: what the data and the parameters mean for the search, and when it ends."""

from __future__ import annotations

import hashlib
import numbers
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.numeric_coding import InputCoding, ValueTable
from foresift.data.sklearn_compat import HasMethods, Interval, Progress, StrOptions
from foresift.errors import warn_caller
from foresift.models.backprop import NETWORK_CONSTRAINTS, Backprop, is_constant
from foresift.models.gefs.checkpoints import load_population, require_place, save_population
from foresift.models.gefs.evolution import Evolution, Population, Settings
from foresift.models.gefs.genes import Genome
from foresift.models.gefs.learners import EstimatorLearner, Learner, ModelReader, NetworkLearner
from foresift.models.gefs.tasks import TASKS

__all__ = ["SEARCH_CONSTRAINTS", "SEARCH_PARAMETERS", "Search", "open_search", "run_search"]

SEARCH_CONSTRAINTS: dict[str, Any] = {
    "estimator": [StrOptions({"mlp"}), HasMethods(["fit", "predict", "get_params"])],
    "population": [Interval(numbers.Integral, 2, None, closed="left")],
    "n_candidates": [Interval(numbers.Integral, 2, None, closed="left")],
    "n_offspring": [Interval(numbers.Integral, 1, None, closed="left")],
    "mutation_rate": [Interval(numbers.Real, 0, 1, closed="both")],
    "mutation_share": [Interval(numbers.Real, 0, 1, closed="both")],
    "initial_length": [Interval(numbers.Real, 0, None, closed="neither")],
    "diversity_weight": [Interval(numbers.Real, 0, None, closed="left")],
    "evaluate": [StrOptions({"auto", "training", "oob", "validation"})],
    "validation_fraction": [Interval(numbers.Real, 0, 1, closed="neither")],
    "emphasis": [StrOptions({"adaboost"}), None],
    **NETWORK_CONSTRAINTS,
    "max_seconds": [Interval(numbers.Real, 0, None, closed="left"), None],
    "patience": [Interval(numbers.Integral, 1, None, closed="left"), None],
    "checkpoint": [str, os.PathLike, None],
    "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
    "n_jobs": [numbers.Integral, None],
    "random_state": ["random_state"],
}

SEARCH_PARAMETERS = tuple(SEARCH_CONSTRAINTS)

_STRATA = 10  # of a quantity, for validation rows of all sizes of it
_DIGESTED = 4096  # rows copied at a time

# What may differ between a run and the checkpoint it goes on from.
_FREE = {
    "n_candidates",
    "max_seconds",
    "patience",
    "checkpoint",
    "categorical_features",
    "n_jobs",
    "random_state",
}


@dataclass(frozen=True, eq=False)
class Search:
    """A search that can be run; made by `open_search`.

    Attributes
    ----------
    evolution : Evolution
        Breeds generations.
    reader : ModelReader
        Reads rows for prediction.
    about : dict
        What identifies the search: a digest of the data, the seed, the parameters.
    varying : ndarray of int32
        The columns that are not constant; if there are any, no other is in a genome.
    """

    evolution: Evolution
    reader: ModelReader
    about: dict[str, Any]
    varying: Genome


def open_search(owner: Any, table: ValueTable, weights: NDArray[np.float64] | None, seed: int) -> Search:
    """Prepare a search by the parameters of an estimator.

    Parameters
    ----------
    owner : GEFSClassifier, GEFSRegressor or GEFSSelector
        Has the parameters.
    table : ValueTable
        The training data.
    weights : ndarray or None
        Weight of every row; rows of weight 0 are left out.
    seed : int
        Draws everything.
    """
    if owner.n_candidates < owner.population:
        raise ValueError(
            f"n_candidates={owner.n_candidates} is less than population={owner.population}, which is trained "
            "first: raise the one or lower the other."
        )
    require_place(owner.checkpoint)
    networks, task_type = isinstance(owner.estimator, str), TASKS[table.target.task]
    rate = task_type.learning_rate if owner.learning_rate is None else owner.learning_rate
    if not networks:
        task_type.require(owner.estimator, type(owner).__name__)
    rows, target = table.values, table.target
    if weights is not None and not weights.all():
        used = weights > 0
        rows, target, weights = rows[used], target.take(used), weights[used]
    task = task_type.learn(target, weights)
    coding = InputCoding.learn(rows, table.schema.categories, weights)
    plain = not networks and "categorical_features" in owner.estimator.get_params(deep=False)
    reader = ModelReader(coding, plain, task)
    values = reader.values(rows)
    varying = reader.varying(values)
    mode = owner.evaluate if owner.evaluate != "auto" else "training" if networks else "oob"

    counted = np.ones(len(rows)) if weights is None else weights / weights.mean()
    trained_on = np.arange(len(rows), dtype=np.uint32)
    if mode == "validation":
        n_strata = max(1, min(_STRATA, int(len(rows) * owner.validation_fraction)))
        held_out = _held_out(target.strata(n_strata), owner.validation_fraction, seed)
        counted, trained_on = np.where(held_out, counted, 0.0), trained_on[~held_out]
    shares = None
    if mode == "oob" or (owner.emphasis is not None and weights is not None):
        shares = np.ones(len(trained_on)) if weights is None else weights[trained_on]
        shares = shares / shares.sum()
    # Rows that are drawn by their weights do not also count by them.
    remaining = None if shares is not None else weights
    learner: Learner
    if networks:
        options = Backprop.for_data(
            coding.n_inputs,
            table.target.n_outputs,
            n_hidden=owner.n_hidden,
            epochs=owner.epochs,
            learning_rate=rate,
            momentum=owner.momentum,
            seed=seed,
        )
        learner = NetworkLearner(values, coding, task.wanted(target), remaining, options, owner.n_jobs)
    else:
        learner = EstimatorLearner(
            owner.estimator, reader, values, task.y(target), remaining, seed, owner.n_jobs
        )
    settings = Settings(
        owner.population,
        owner.n_offspring,
        owner.mutation_rate,
        owner.mutation_share,
        owner.initial_length,
        owner.diversity_weight,
        owner.emphasis is not None,
        seed,
    )
    evaluator = task.evaluator(task.scaled(task.y(target)), counted, oob_only=mode == "oob")
    columns = varying if len(varying) else np.arange(table.n_columns, dtype=np.int32)
    evolution = Evolution(learner, evaluator, settings, columns, trained_on, shares)
    fixed = {name: getattr(owner, name) for name in SEARCH_PARAMETERS if name not in _FREE}
    about = {
        "data": _digest(rows, task.y(target), weights, coding, table, task.known),
        **fixed,
        "learning_rate": rate,
        "estimator": repr(owner.estimator),
        **asdict(settings),
    }
    return Search(evolution, reader, about, varying)


def run_search(
    search: Search,
    population: Population | None,
    most: int,
    progress: Progress,
    *,
    keep: Callable[[Population], Any],
    checkpoint: str | os.PathLike[str] | None = None,
    max_seconds: float | None = None,
    patience: int | None = None,
) -> None:
    """Run until `most` models have been trained, or less.

    Parameters
    ----------
    search : Search
        What to run.
    population : Population or None
        Where to go on; None begins, or goes on from the checkpoint.
    most : int
        How many models to train in all.
    progress : Progress
        Counts the models, and may ask to stop.
    keep : callable
        Gets the last whole population, also when Ctrl-C ends the search.
    checkpoint, max_seconds, patience
        See `GEFSClassifier`.
    """
    began, evolution, count = time.monotonic(), search.evolution, progress.advance
    if population is None and checkpoint is not None:
        population = load_population(checkpoint, evolution, search.about)
        if population is not None:
            count(min(population.n_trained, most))
    before = population.history[-1].seconds if population is not None else 0.0

    def timed(population: Population) -> Population:
        last = replace(population.history[-1], seconds=before + time.monotonic() - began)
        population = replace(population, history=(*population.history[:-1], last))
        if checkpoint is not None:
            save_population(checkpoint, population, evolution, search.about)
        return population

    try:
        if population is None:
            population = timed(evolution.begin(most, count))
        while population.n_trained < most and not progress.stop_requested:
            if _enough(population, began, max_seconds, patience):
                break
            population = timed(evolution.step(population, most, count))
    except KeyboardInterrupt:
        if population is not None:
            keep(population)
        raise
    keep(population)
    _warn_of_useless(search, population)


def _warn_of_useless(search: Search, population: Population) -> None:
    """Warn if half of the models were dropped, or half of the members answer the same for every row.

    Too large a learning rate does not always end in weights that are not finite: units that are saturated
    have no gradient, and stay. Such members are kept, because fitness is the paper's, but they say nothing.
    """
    learner, members = search.evolution.learner, population.members
    n_alike = sum(is_constant(member.outputs) for member in members)
    found = []
    if 2 * population.n_diverged >= population.n_trained:
        dropped = f"{population.n_diverged} of {population.n_trained} models were dropped"
        found.append(f"{dropped}: {learner.when_not_finite}")
    if 2 * n_alike >= len(members) and len(search.varying):
        alike = f"{n_alike} of the {len(members)} members answer the same for every row"
        found.append(f"{alike}: {learner.when_alike}")
    for message in found:
        warn_caller(message)


def _enough(population: Population, began: float, max_seconds: float | None, patience: int | None) -> bool:
    """Whether time is up, or the ensemble's error has not fallen for `patience` generations."""
    if max_seconds is not None and time.monotonic() - began >= max_seconds:
        return True
    errors = [record.ensemble_error for record in population.history]
    return patience is not None and len(errors) - 1 - int(np.argmin(errors)) >= patience


def _held_out(target: NDArray[np.intp], fraction: float, seed: int) -> NDArray[np.bool_]:
    """Mask of the held-out rows: this share of every class or bin of a quantity, rounded down."""
    rng = np.random.default_rng([seed, 0, 0, 1])
    mask = np.zeros(len(target), dtype=bool)
    for code in np.unique(target):
        of_class = rng.permutation(np.flatnonzero(target == code))
        mask[of_class[: int(fraction * len(of_class) + 1e-9)]] = True
    if not mask.any():
        raise ValueError(f"validation_fraction={fraction} holds out no row: raise it, or use evaluate='oob'.")
    return mask


def _digest(
    rows: NDArray[Any],
    target: NDArray[Any],
    weights: NDArray[np.float64] | None,
    coding: InputCoding,
    table: ValueTable,
    labels: list[Any] | None,
) -> str:
    """Fingerprint of the data and of what its codes mean."""
    known = [None if names is None else np.asarray(names).tolist() for names in table.schema.categories]
    digest = hashlib.sha256(repr((rows.shape, known, labels)).encode())
    for begin in range(0, len(rows), _DIGESTED):  # the same numbers in any container and precision
        some = rows[begin : begin + _DIGESTED].astype(np.float64) + 0.0  # which makes 0 of -0
        some[np.isnan(some)] = np.nan
        digest.update(np.ascontiguousarray(some).tobytes())
    for array in (target, weights, coding.starts.astype(np.int64), coding.nominal):
        digest.update(b"none" if array is None else np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
