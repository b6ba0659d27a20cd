"""A search of GEFS in a file, so that a run that was killed goes on as if it had not been."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from foresift.models.gefs.evolution import Evolution, Population, Record
from foresift.models.gefs.members import Member

__all__ = ["load_population", "require_place", "save_population", "stored_seed"]

_FORMAT = "foresift GEFS 1"


def save_population(
    path: str | os.PathLike[str], population: Population, evolution: Evolution, about: dict[str, Any]
) -> None:
    """Write a population; the file is either the old one or the new one, whenever the process dies.

    Parameters
    ----------
    path : path
        Where to; a NumPy archive without pickled objects.
    population : Population
        What to write.
    evolution : Evolution
        The search it belongs to.
    about : dict
        What a search must have in common with the file to go on from it: JSON types only.
    """
    members = population.members
    head = {
        "format": _FORMAT,
        "about": about,
        "diversity_weight": population.diversity_weight,
        "n_trained": population.n_trained,
        "n_diverged": population.n_diverged,
        "history": [asdict(record) for record in population.history],
    }
    arrays: dict[str, Any] = {
        "head": np.array(_json(head)),
        "fitness": population.fitness,
        "numbers": np.array([member.number for member in members]),
        "accuracies": np.array([member.accuracy for member in members]),
    }
    for k, member in enumerate(members):
        arrays[f"genome.{k}"] = member.genome
        if member.rows is not None:
            arrays[f"rows.{k}"] = member.rows
        arrays.update(
            {f"model.{k}.{key}": value for key, value in evolution.learner.pack(member.model).items()}
        )
    path = Path(path)
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def load_population(
    path: str | os.PathLike[str], evolution: Evolution, about: dict[str, Any]
) -> Population | None:
    """Read a population that `save_population` wrote; None if there is no file.

    Raises
    ------
    ValueError
        If the file is something else, or belongs to other data or parameters.
    """
    if not os.path.exists(path):
        return None
    head, arrays = _read(path)
    _require_same(path, head["about"], about)
    with _refusing(path):
        _require_sound(head, arrays)
        population, packed = _unpacked(head, arrays)
        if not evolution.can_hold(population, packed):
            raise ValueError("a model, a gene or a row that cannot be")
    return evolution.revive(population, packed)  # may fit classifiers, whose errors are their own


def _unpacked(head: dict[str, Any], arrays: dict[str, Any]) -> tuple[Population, list[dict[str, Any]]]:
    """Return the population of a file, and the packed models of its members."""
    members = [
        Member(number, arrays[f"genome.{k}"], arrays.get(f"rows.{k}"), None, accuracy)
        for k, (number, accuracy) in enumerate(
            zip(arrays["numbers"].tolist(), arrays["accuracies"].tolist(), strict=True)
        )
    ]
    packed: list[dict[str, Any]] = [{} for _ in members]
    for name, array in arrays.items():
        if name.startswith("model."):
            _, place, key = name.split(".")
            packed[int(place)][key] = array
    population = Population(
        tuple(members),
        arrays["fitness"],
        float(head["diversity_weight"]),
        int(head["n_trained"]),
        int(head["n_diverged"]),
        tuple(Record(**record) for record in head["history"]),
    )
    return population, packed


def require_place(path: str | os.PathLike[str] | None) -> None:
    """Raise if no file can be written there: before a search, not after its first generation.

    Examples
    --------
    >>> require_place("no such folder/search.npz")
    Traceback (most recent call last):
        ...
    FileNotFoundError: checkpoint=no such folder/search.npz: there is no folder no such folder; make it first.
    """
    if path is None:
        return
    folder = Path(path).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"checkpoint={path}: there is no folder {folder}; make it first.")
    if Path(path).is_dir():
        raise IsADirectoryError(f"checkpoint={path} is a folder: name a file, for instance in it.")


def stored_seed(path: str | os.PathLike[str] | None) -> int | None:
    """Seed of the search in a file; None if there is no file."""
    require_place(path)
    if path is None or not os.path.exists(path):
        return None
    return int(_read(path)[0]["about"]["seed"])


def _read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Head and arrays of a file."""
    with open(path, "rb") as opened, _refusing(path):  # one that may not be opened is not damaged
        with np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        head = json.loads(str(arrays["head"]))
        about = head["about"]
        if head["format"] != _FORMAT or not (_is_count(about["seed"]) and about["seed"] < 2**64):
            raise ValueError(head["format"])
        if any(isinstance(value, dict | list) for value in about.values()):
            raise TypeError("about")
    return head, arrays


def _require_sound(head: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Raise if something has a type or a value that `save_population` does not write."""
    n_trained, n_diverged = head["n_trained"], head["n_diverged"]
    records = [asdict(Record(**record)) for record in head["history"]]
    generations = [record.pop("generation") for record in records]
    so_far = [record.pop("n_trained") for record in records]
    numbers = [head["diversity_weight"], *(value for record in records for value in record.values())]
    dtypes: dict[str, Any] = {"genome": np.int32, "rows": np.uint32, "numbers": np.int64}
    dtypes |= {"fitness": np.float64, "accuracies": np.float64}
    sound = (
        all(map(_is_count, [n_diverged, *generations, *so_far]))
        and generations == list(range(len(records)))
        and so_far[-1] == n_trained >= n_diverged
        and all(type(number) in (int, float) and abs(number) <= sys.float_info.max for number in numbers)
        and all(arrays[name].dtype == dtypes.get(name.split(".")[0], arrays[name].dtype) for name in arrays)
        and bool((arrays["numbers"] >= 0).all())
        and bool((arrays["numbers"] < n_trained).all())
        and bool(np.isfinite(arrays["accuracies"]).all())
    )
    if not sound:
        raise ValueError("a number that cannot be")


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


@contextlib.contextmanager
def _refusing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say of a file in which something is missing or wrong that it cannot be used."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what NumPy has to say of strange files
            yield
    except Exception as error:  # a strange archive has many ways to fail, in zipfile, zlib, NumPy and json
        raise ValueError(
            f"{path} is not a checkpoint of GEFS, or is damaged: delete it, or name another file."
        ) from error


def _json(value: Any) -> str:
    return json.dumps(value, default=lambda number: number.item())  # NumPy's numbers are welcome parameters


def _require_same(path: Any, stored: dict[str, Any], given: dict[str, Any]) -> None:
    """Say what differs, if anything does."""
    given = json.loads(_json(given))
    names = [name for name in given if stored.get(name) != given[name]]
    if not names:
        return
    if "data" in names:
        raise ValueError(f"{path} belongs to a search on other data: delete it, or name another file.")
    differences = ", ".join(f"{name}={stored.get(name)} instead of {given[name]}" for name in names)
    raise ValueError(
        f"{path} belongs to a search with other parameters ({differences}): set them as they were, "
        "delete it, or name another file."
    )
