"""Classic UCI data sets by name, from a folder of CSV files or from OpenML."""

from __future__ import annotations

import csv
import gzip
import hashlib
import importlib.util
import io
import json
import os
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml

from foresift.errors import near_names

__all__ = ["CATALOGUE", "FOLDER", "Known", "Place", "available", "checksum", "load"]

FOLDER = "FORESIFT_DATA"  # the environment variable that names the folder


class Known(NamedTuple):
    """Expected shape of a data set, its OpenML number, and the beginning of the SHA-256 of its file."""

    rows: int
    features: int
    classes: int
    openml: int | None
    sha256: str


class Place(NamedTuple):
    """Location of a data set, from `available`.

    `file` is empty if the folder does not have it; `openml` is None if OpenML has no copy with the same rows.
    `as_pinned` says whether the file is identical to the one used for published results.
    """

    name: str
    rows: int
    features: int
    classes: int
    file: str
    as_pinned: bool
    openml: int | None


CATALOGUE = {
    "ann-thyroid": Known(7200, 21, 3, None, "4a78a7440b1d67d6"),
    "breast-cancer-wisconsin": Known(699, 9, 2, 15, "ac9798070863fbdf"),
    "credit-a": Known(690, 15, 2, 29, "f8de65ee03561295"),
    "credit-g": Known(1000, 20, 2, 31, "fe55ee080ffa2ae3"),
    "diabetes": Known(768, 8, 2, 37, "202f486ed3f5f431"),
    "glass": Known(214, 9, 6, 41, "e052a1f541dfa48d"),
    "heart-cleveland": Known(303, 13, 2, None, "624a9fd322695259"),
    "heart-cleveland-num": Known(303, 13, 5, None, "081387a56f538d11"),
    "hepatitis": Known(155, 19, 2, 55, "7fb6f2cb00dbe49f"),
    "house-votes-84": Known(435, 16, 2, 56, "bded75e448017d27"),
    "hypo": Known(3772, 29, 4, 57, "8a1cf13d9659606f"),
    "ionosphere": Known(351, 34, 2, 59, "c3c36b692d178f83"),
    "iris": Known(150, 4, 3, 61, "e1412f8c8c69c78f"),
    "kr-vs-kp": Known(3196, 36, 2, 3, "a3e5eee1290e27fe"),
    "labor": Known(57, 16, 2, 4, "a3f5a1338e500b80"),
    "lenses": Known(24, 4, 3, None, "8574d31fe25b5f0f"),
    "letter": Known(20000, 16, 26, 6, "e82774b2dfec4732"),
    "mushroom": Known(8124, 22, 2, 24, "02c1173e22944692"),
    "optdigits": Known(5620, 64, 10, 28, "bf2243ddee0efbbe"),
    "pendigits": Known(10992, 16, 10, 32, "3731d4f59c1d4f85"),
    "promoters": Known(106, 57, 2, None, "2007f2a19dcffbe2"),
    "satellite": Known(6435, 36, 6, None, "3c7e4c4046e700aa"),
    "segmentation": Known(2310, 19, 7, 36, "2c6db53d387083c5"),
    "sick": Known(3772, 29, 2, 38, "29fc9467f57238cc"),
    "sonar": Known(208, 60, 2, 40, "33bc2146cac6e3f3"),
    "soybean": Known(683, 35, 19, 42, "5b8bde322774734e"),
    "spambase": Known(4601, 57, 2, 44, "f61035a509a20e4c"),
    "splice": Known(3190, 60, 3, 46, "3e5a5ef53722a1da"),
    "vehicle": Known(846, 18, 4, 54, "2cda1c3830bae455"),
    "waveform": Known(5000, 21, 3, None, "14b668e382bea9e8"),
    "waveform-noise": Known(5000, 40, 3, 60, "29d4b3e0a1846e4b"),
}


def load(
    name: str, folder: str | os.PathLike[str] | None = None, *, download: bool = True
) -> tuple[Any, NDArray[np.str_]]:
    """Load one of the classic UCI tables.

    Parameters
    ----------
    name : str
        As `available` lists them, for instance "sonar".
    folder : path or None, default=None
        Folder with CSV files and a ``schema.json`` that lists the discrete columns; None: the environment
        variable FORESIFT_DATA. Other data sets are fetched from OpenML and cached by scikit-learn
        (`sklearn.datasets.get_data_home`).
    download : bool, default=True
        Whether to fetch from OpenML.

    Returns
    -------
    X : DataFrame or dict of str to ndarray
        A pandas frame if pandas is installed, else a dict, which every estimator of foresift accepts.
        Continuous columns are float64 with NaN for missing; discrete ones are categories, or objects with
        None for missing.
    y : ndarray of str
        The classes.

    Warns
    -----
    UserWarning
        If the file is not identical to the one used for published results (`Place.as_pinned`).

    Raises
    ------
    ValueError
        If the name is unknown, or the table does not have the expected rows, columns and classes.
    FileNotFoundError
        If the folder does not have the data set and it cannot be fetched.

    Examples
    --------
    >>> from foresift.datasets import load
    >>> X, y = load("iris")  # doctest: +SKIP
    >>> X.shape, len(set(y))  # doctest: +SKIP
    ((150, 4), 3)
    """
    root = _root(folder)
    schema = _schema(root)
    if name not in CATALOGUE and name not in schema:
        known = sorted({*CATALOGUE, *schema})
        near = near_names(name, known)
        said = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}."
        raise ValueError(f"There is no data set {name!r}; {said}")
    from_file = name in schema and root is not None and (root / schema[name]["file"]).is_file()
    if from_file and root is not None:
        columns, y = _read(root / schema[name]["file"], schema[name]["discrete"])
        X = _frame(columns)
        shape = (len(y), len(columns))
        where = str(root / schema[name]["file"])
    else:
        X, y = _fetch(name, root, download)
        shape, where = X.shape, f"number {CATALOGUE[name].openml} of OpenML"
    _check(name, where, (*shape, len(set(y.tolist()))))
    if from_file and name in CATALOGUE and not checksum(name, root).startswith(CATALOGUE[name].sha256):
        warnings.warn(
            f"{where} is not the copy of {name} used for published results: its SHA-256 differs, so results"
            " may differ too.",
            UserWarning,
            stacklevel=2,
        )
    return X, y


def available(folder: str | os.PathLike[str] | None = None) -> list[Place]:
    """List the data sets of `load`, and where they are.

    Parameters
    ----------
    folder : path or None, default=None
        As in `load`.

    Returns
    -------
    list of Place
        Sorted by name. Nothing is loaded or fetched.

    Examples
    --------
    >>> from foresift.datasets import available
    >>> next(place for place in available() if place.name == "sonar").openml
    40
    """
    root = _root(folder)
    schema = _schema(root)
    places = []
    for name in sorted({*CATALOGUE, *schema}):
        entry = schema.get(name, {})
        path = root / entry["file"] if root is not None and entry else None
        file = str(path) if path is not None and path.is_file() else ""
        known = CATALOGUE.get(name)
        n_rows, n_features, n_classes = (
            known[:3] if known else (entry["rows"], entry["features"], len(entry["classes"]))
        )
        pinned = bool(file) and known is not None and checksum(name, root).startswith(known.sha256)
        openml = known.openml if known else None
        places.append(Place(name, n_rows, n_features, n_classes, file, pinned, openml))
    return places


def checksum(name: str, folder: str | os.PathLike[str] | None = None) -> str:
    """SHA-256 of the uncompressed file of a data set.

    Parameters
    ----------
    name : str
        As in `load`.
    folder : path or None, default=None
        As in `load`.

    Returns
    -------
    str
        64 hexadecimal digits.

    Raises
    ------
    FileNotFoundError
        If the folder does not have the data set.

    Examples
    --------
    >>> from foresift.datasets import checksum
    >>> checksum("iris")[:8]  # doctest: +SKIP
    'e1412f8c'
    """
    root = _root(folder)
    schema = _schema(root)
    if root is None or name not in schema:
        where = f"{root} has" if root else f"{FOLDER} is not set, so there is"
        raise FileNotFoundError(f"{where} no file of {name!r}.")
    return hashlib.sha256(_content(root / schema[name]["file"])).hexdigest()


def _root(folder: str | os.PathLike[str] | None) -> Path | None:
    named = folder if folder is not None else os.environ.get(FOLDER)
    if not named:
        return None
    root = Path(named)
    if folder is not None and not root.is_dir():
        raise FileNotFoundError(f"There is no folder {root}.")
    return root


def _schema(root: Path | None) -> dict[str, Any]:
    path = None if root is None else root / "schema.json"
    if path is None or not path.is_file():
        return {}
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ValueError(f"{path} is not valid JSON: {error}.") from error


def _content(path: Path) -> bytes:
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def _read(path: Path, discrete: list[str] | str) -> tuple[dict[str, NDArray[Any]], NDArray[np.str_]]:
    """Read a CSV file whose last column is the class; an empty cell is missing."""
    header, *rows = list(csv.reader(io.StringIO(_content(path).decode("utf-8"), newline="")))
    if not rows or header[-1] != "class" or any(len(row) != len(header) for row in rows):
        raise ValueError(f"{path} must have a header, equally long lines and a last column 'class'.")
    columns: dict[str, NDArray[Any]] = {}
    for name, cells in zip(header[:-1], zip(*(row[:-1] for row in rows), strict=True), strict=True):
        if discrete == "all" or name in discrete:
            columns[name] = np.array([cell or None for cell in cells], dtype=object)
        else:
            columns[name] = np.array([float(cell or "nan") for cell in cells])
    return columns, np.array([row[-1] for row in rows])


def _frame(columns: dict[str, NDArray[Any]]) -> Any:
    if importlib.util.find_spec("pandas") is None:
        return columns
    import pandas as pd

    return pd.DataFrame(
        {name: pd.Categorical(v) if v.dtype == object else v for name, v in columns.items()}, copy=False
    )


def _fetch(name: str, root: Path | None, download: bool) -> tuple[Any, NDArray[np.str_]]:
    wanted = f"{root} has no data set {name!r}" if root else f"{FOLDER} is not set, so there is no {name!r}"
    number = CATALOGUE[name].openml if name in CATALOGUE else None
    if number is None:
        raise FileNotFoundError(f"{wanted}, and OpenML has no suitable copy: get its file first.")
    if not download:
        raise FileNotFoundError(f"{wanted}, and download is False.")
    if importlib.util.find_spec("pandas") is None:
        raise FileNotFoundError(f"{wanted}; to fetch it from OpenML, install pandas.")
    try:
        found = fetch_openml(data_id=number, as_frame=True, parser="auto")
    except OSError as error:  # no network, no such number
        raise FileNotFoundError(f"{wanted}, and OpenML cannot be reached ({error}).") from error
    return found.data, found.target.astype(str).to_numpy(dtype=str)


def _check(name: str, where: str, found: tuple[int, int, int]) -> None:
    known = CATALOGUE.get(name)
    if known is not None and found != known[:3]:
        raise ValueError(
            f"{where} is not {name}: it has {found[0]} rows, {found[1]} columns and {found[2]} classes, in"
            f" place of {known.rows}, {known.features} and {known.classes}."
        )
