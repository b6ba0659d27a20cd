"""Classic data sets by name, from folders of CSV files or from OpenML."""

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

from foresift.datasets.frames import frame_of
from foresift.errors import near_names

__all__ = ["CATALOGUE", "FOLDERS", "Known", "Place", "available", "checksum", "load"]

# The environment variables that name the folders.
FOLDERS = {"classification": "FORESIFT_DATA", "regression": "FORESIFT_DATA_REGRESSION"}


class Known(NamedTuple):
    """Expected shape of a data set, its OpenML number, and the beginning of the SHA-256 of its file.

    `classes` is None if the target is a quantity.
    """

    rows: int
    features: int
    classes: int | None
    openml: int | None
    sha256: str


class Place(NamedTuple):
    """Location of a data set, from `available`.

    `classes` is None if the target is a quantity. `file` is empty if the folder does not have it; `openml` is
    None if OpenML has no copy with the same rows. `as_pinned` says whether the file is identical to the one
    used for published results.
    """

    name: str
    rows: int
    features: int
    classes: int | None
    file: str
    as_pinned: bool
    openml: int | None

    @property
    def task(self) -> str:
        """Either "classification" or "regression"."""
        return _task(self.classes)


CATALOGUE = {
    "abalone": Known(4177, 8, None, None, "5d26d49c36ec5f02"),
    "airfoil": Known(1503, 5, None, None, "5e44d79ea724350b"),
    "ann-thyroid": Known(7200, 21, 3, None, "4a78a7440b1d67d6"),
    "auto-mpg": Known(398, 7, None, None, "f5efb3d9cf7946e3"),
    "auto-price": Known(159, 15, None, None, "13873e2dfa34bc9f"),
    "bank32nh": Known(8192, 32, None, None, "42d30238f7968115"),
    "bodyfat": Known(252, 14, None, None, "f23edc04a1444e96"),
    "breast-cancer-wisconsin": Known(699, 9, 2, 15, "ac9798070863fbdf"),
    "california-housing": Known(20640, 8, None, None, "1bc5735822f2c476"),
    "concrete": Known(1030, 8, None, None, "73697b301b2ac314"),
    "credit-a": Known(690, 15, 2, 29, "f8de65ee03561295"),
    "credit-g": Known(1000, 20, 2, 31, "fe55ee080ffa2ae3"),
    "diabetes": Known(768, 8, 2, 37, "202f486ed3f5f431"),
    "energy-heating": Known(768, 8, None, None, "58426f173d06dd88"),
    "glass": Known(214, 9, 6, 41, "e052a1f541dfa48d"),
    "heart-cleveland": Known(303, 13, 2, None, "624a9fd322695259"),
    "heart-cleveland-num": Known(303, 13, 5, None, "081387a56f538d11"),
    "hepatitis": Known(155, 19, 2, 55, "7fb6f2cb00dbe49f"),
    "house-votes-84": Known(435, 16, 2, 56, "bded75e448017d27"),
    "hypo": Known(3772, 29, 4, 57, "8a1cf13d9659606f"),
    "ionosphere": Known(351, 34, 2, 59, "c3c36b692d178f83"),
    "iris": Known(150, 4, 3, 61, "e1412f8c8c69c78f"),
    "kin8nm": Known(8192, 8, None, None, "07fa082ce0e9d7d2"),
    "kr-vs-kp": Known(3196, 36, 2, 3, "a3e5eee1290e27fe"),
    "labor": Known(57, 16, 2, 4, "a3f5a1338e500b80"),
    "lenses": Known(24, 4, 3, None, "8574d31fe25b5f0f"),
    "letter": Known(20000, 16, 26, 6, "e82774b2dfec4732"),
    "machine-cpu": Known(209, 6, None, None, "5dea3d6a6b6f8dca"),
    "mushroom": Known(8124, 22, 2, 24, "02c1173e22944692"),
    "optdigits": Known(5620, 64, 10, 28, "bf2243ddee0efbbe"),
    "pendigits": Known(10992, 16, 10, 32, "3731d4f59c1d4f85"),
    "promoters": Known(106, 57, 2, None, "2007f2a19dcffbe2"),
    "satellite": Known(6435, 36, 6, None, "3c7e4c4046e700aa"),
    "segmentation": Known(2310, 19, 7, 36, "2c6db53d387083c5"),
    "servo": Known(167, 4, None, None, "43c015fcdca0d8cb"),
    "sick": Known(3772, 29, 2, 38, "29fc9467f57238cc"),
    "sonar": Known(208, 60, 2, 40, "33bc2146cac6e3f3"),
    "soybean": Known(683, 35, 19, 42, "5b8bde322774734e"),
    "spambase": Known(4601, 57, 2, 44, "f61035a509a20e4c"),
    "splice": Known(3190, 60, 3, 46, "3e5a5ef53722a1da"),
    "triazines": Known(186, 60, None, None, "2e42a3bbbad5411d"),
    "vehicle": Known(846, 18, 4, 54, "2cda1c3830bae455"),
    "waveform": Known(5000, 21, 3, None, "14b668e382bea9e8"),
    "waveform-noise": Known(5000, 40, 3, 60, "29d4b3e0a1846e4b"),
    "wine-quality-red": Known(1599, 11, None, None, "b8dca862954628a7"),
    "yacht": Known(308, 6, None, None, "be8c41af93c2ab4b"),
}


class _Entry(NamedTuple):
    """What is known of one data set: from the folder's schema (empty if it is not there), and from us."""

    name: str
    task: str
    root: Path | None
    listed: dict[str, Any]
    known: Known | None

    @property
    def path(self) -> Path | None:
        path = self.root / self.listed["file"] if self.root is not None and self.listed else None
        return path if path is not None and path.is_file() else None

    @property
    def lost(self) -> str:
        """Beginning of the sentence that says that there is no file."""
        where = f"{self.root} has no" if self.root else f"{FOLDERS[self.task]} is not set, so there is no"
        return f"{where} file of {self.name!r}"

    def is_pinned(self) -> bool:
        if self.path is None or self.known is None:
            return False
        return _sha256(self.path).startswith(self.known.sha256)


def load(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    task: str | None = None,
    download: bool = True,
) -> tuple[Any, NDArray[Any]]:
    """Load one of the classic tables.

    Parameters
    ----------
    name : str
        As `available` lists them, for instance "sonar" (classes) or "concrete" (a quantity).
    folder : path or None, default=None
        Folder with CSV files and a ``schema.json`` that lists the discrete columns; None: the environment
        variables FORESIFT_DATA (classes) and FORESIFT_DATA_REGRESSION (a quantity). Other data sets are
        fetched from OpenML and cached by scikit-learn (`sklearn.datasets.get_data_home`).
    task : {"classification", "regression"} or None, default=None
        Only needed if both folders have a data set of that name.
    download : bool, default=True
        Whether to fetch from OpenML.

    Returns
    -------
    X : DataFrame or dict of str to ndarray
        A pandas frame if pandas is installed, else a dict, which every estimator of foresift accepts.
        Continuous columns are float64 with NaN for missing; discrete ones are categories, or objects with
        None for missing.
    y : ndarray of str or float64
        The classes, or the quantity.

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
    entry = _find(name, folder, task)
    if entry.path is not None:
        columns, y = _read(entry.path, entry.listed["discrete"], entry.task)
        X = frame_of(columns)
        shape, where = (len(y), len(columns)), str(entry.path)
    else:
        X, y, number = _fetch(entry, download)
        shape, where = X.shape, f"number {number} of OpenML"
    if entry.known is not None:
        classes = len(set(y.tolist())) if entry.known.classes is not None else None
        _check(name, where, (*shape, classes), entry.known)
        if entry.path is not None and not entry.is_pinned():
            warnings.warn(
                f"{where} is not the copy of {name} used for published results: its SHA-256 differs, so"
                " results may differ too.",
                UserWarning,
                stacklevel=2,
            )
    return X, y


def available(folder: str | os.PathLike[str] | None = None, *, task: str | None = None) -> list[Place]:
    """List the data sets of `load`, and where they are.

    Parameters
    ----------
    folder : path or None, default=None
        As in `load`.
    task : {"classification", "regression"} or None, default=None
        Tables with classes, tables with a quantity, or both.

    Returns
    -------
    list of Place
        Sorted by name. Nothing is loaded or fetched.

    Examples
    --------
    >>> from foresift.datasets import available
    >>> next(place for place in available() if place.name == "sonar").openml
    40
    >>> len(available(task="regression")) >= 15
    True
    """
    places = []
    for entry in _entries(folder, task):
        if entry.known is not None:
            shape = entry.known[:3]
        else:
            listed = entry.listed
            classes = len(listed["classes"]) if "classes" in listed else None
            shape = (listed["rows"], listed["features"], classes)
        openml = entry.known.openml if entry.known else None
        places.append(Place(entry.name, *shape, str(entry.path or ""), entry.is_pinned(), openml))
    return places


def checksum(name: str, folder: str | os.PathLike[str] | None = None, *, task: str | None = None) -> str:
    """SHA-256 of the uncompressed file of a data set.

    Parameters
    ----------
    name : str
        As in `load`.
    folder : path or None, default=None
        As in `load`.
    task : {"classification", "regression"} or None, default=None
        As in `load`.

    Returns
    -------
    str
        64 hexadecimal digits.

    Raises
    ------
    ValueError
        If the name is unknown.
    FileNotFoundError
        If the folder does not have the data set.

    Examples
    --------
    >>> from foresift.datasets import checksum
    >>> checksum("iris")[:8]  # doctest: +SKIP
    'e1412f8c'
    """
    entry = _find(name, folder, task)
    if entry.path is None:
        raise FileNotFoundError(f"{entry.lost}.")
    return _sha256(entry.path)


def _task(classes: Any) -> str:
    return "regression" if classes is None else "classification"


def _entries(folder: str | os.PathLike[str] | None, task: str | None) -> list[_Entry]:
    """List the data sets of our catalogue and of the folders, by name, which may occur once for each task."""
    if task not in (None, *FOLDERS):
        raise ValueError(f"task must be one of {', '.join(map(repr, FOLDERS))} or None, but is {task!r}.")
    roots = {each: _root(folder, each) for each in FOLDERS}
    entries = {}
    for name, known in CATALOGUE.items():
        key = (name, _task(known.classes))
        entries[key] = _Entry(*key, roots[key[1]], {}, known)
    for root in dict.fromkeys(root for root in roots.values() if root is not None):
        for name, listed in _schema(root).items():
            key = (name, _task(listed.get("classes")))
            known_here = entries[key].known if key in entries else None
            entries[key] = _Entry(*key, root, listed, known_here)
    return [entries[key] for key in sorted(entries) if task in (None, key[1])]


def _find(name: str, folder: str | os.PathLike[str] | None, task: str | None) -> _Entry:
    entries = _entries(folder, task)
    found = [entry for entry in entries if entry.name == name]
    if not found:
        known = [entry.name for entry in entries]
        near = near_names(name, known)
        said = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}."
        raise ValueError(f"There is no data set {name!r}; {said}")
    if len(found) > 1:
        raise ValueError(
            f"There are two data sets {name!r}, one with classes and one with a quantity: say which with"
            ' task="classification" or task="regression".'
        )
    return found[0]


def _root(folder: str | os.PathLike[str] | None, task: str) -> Path | None:
    named = folder if folder is not None else os.environ.get(FOLDERS[task])
    if not named:
        return None
    root = Path(named)
    if folder is not None and not root.is_dir():
        raise FileNotFoundError(f"There is no folder {root}.")
    return root


def _schema(root: Path) -> dict[str, Any]:
    path = root / "schema.json"
    if not path.is_file():
        return {}
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ValueError(f"{path} is not valid JSON: {error}.") from error


def _sha256(path: Path) -> str:
    return hashlib.sha256(_content(path)).hexdigest()


def _content(path: Path) -> bytes:
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def _read(path: Path, discrete: list[str] | str, task: str) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
    """Read a CSV file whose last column is the target; an empty cell is missing."""
    header, *rows = list(csv.reader(io.StringIO(_content(path).decode("utf-8"), newline="")))
    last = "class" if task == "classification" else "target"
    if not rows or header[-1] != last or any(len(row) != len(header) for row in rows):
        raise ValueError(f"{path} must have a header, equally long lines and a last column {last!r}.")
    columns: dict[str, NDArray[Any]] = {}
    for name, cells in zip(header[:-1], zip(*(row[:-1] for row in rows), strict=True), strict=True):
        if discrete == "all" or name in discrete:
            columns[name] = np.array([cell or None for cell in cells], dtype=object)
        else:
            columns[name] = np.array([float(cell or "nan") for cell in cells])
    target = np.array([row[-1] for row in rows])
    return columns, target if task == "classification" else target.astype(np.float64)


def _fetch(entry: _Entry, download: bool) -> tuple[Any, NDArray[np.str_], int]:
    number = entry.known.openml if entry.known else None
    if number is None:
        raise FileNotFoundError(f"{entry.lost}, and OpenML has no suitable copy: get its file first.")
    if not download:
        raise FileNotFoundError(f"{entry.lost}, and download is False.")
    if importlib.util.find_spec("pandas") is None:
        raise FileNotFoundError(f"{entry.lost}; to fetch it from OpenML, install pandas.")
    try:
        found = fetch_openml(data_id=number, as_frame=True, parser="auto")
    except OSError as error:  # no network, no such number
        raise FileNotFoundError(f"{entry.lost}, and OpenML cannot be reached ({error}).") from error
    return found.data, found.target.astype(str).to_numpy(dtype=str), number


def _check(name: str, where: str, found: tuple[int, int, int | None], known: Known) -> None:
    if found == known[:3]:
        return

    def said(rows: int, features: int, classes: int | None) -> str:
        target = "a quantity" if classes is None else f"{classes} classes"
        return f"{rows} rows, {features} columns and {target}"

    raise ValueError(f"{where} is not {name}: it has {said(*found)}, in place of {said(*known[:3])}.")
