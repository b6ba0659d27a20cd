"""Write files whole or not at all."""

import contextlib
import errno
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

__all__ = ["atomic", "folder", "json_lines", "together"]


def json_lines(value: Any, depth: int = 0) -> Iterator[str]:
    """Write plain values as JSON that people can read too, piece by piece.

    What holds nothing but strings and numbers stands on one line, such as a row of a table; what holds more
    has a line for each item. The text is not made as a whole: of many columns it is larger than the table.

    Parameters
    ----------
    value : dict, list, str, float, int, bool or None
        Without NaN or infinity.
    depth : int, default=0
        How far lines are moved in.

    Yields
    ------
    str
        Parts of the text, in order.

    Examples
    --------
    >>> rows = [{"name": "age", "rank": 1}, {"name": "size", "rank": 2}]
    >>> print("".join(json_lines({"rows": rows, "n": 2})))
    {
     "rows": [
      {"name": "age", "rank": 1},
      {"name": "size", "rank": 2}
     ],
     "n": 2
    }
    """
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if not any(isinstance(item, dict | list) for item in items):
        yield json.dumps(value, ensure_ascii=False, allow_nan=False)
        return
    begin, end = "{}" if isinstance(value, dict) else "[]"
    names = (f"{json.dumps(str(key), ensure_ascii=False)}: " for key in value) if begin == "{" else repeat("")
    mark = begin
    for name, item in zip(names, items, strict=False):
        yield f"{mark}\n{' ' * (depth + 1)}{name}"
        yield from json_lines(item, depth + 1)
        mark = ","
    yield f"\n{' ' * depth}{end}"


@contextlib.contextmanager
def together(place: Path) -> Iterator[Callable[[str], Path]]:
    """Give places to write the files of one answer to, and move all of them to a folder when all are written.

    So an answer is never half there, nor a new file of it beside an old one: if anything fails before the
    end, such as on a full disk, what was in the folder stays as it was.

    Parameters
    ----------
    place : Path
        The folder. It is made if it is not there, also if it was and has vanished during the work.

    Yields
    ------
    callable
        Takes the name of a file, and gives an empty one with another name to write to. Files of these names
        are replaced at the end, one right after the other in the order in which they were asked for.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     with together(Path(parent)) as new:
    ...         _ = new("answer.txt").write_text("42")
    ...         _ = new("why.txt").write_text("6 x 7")
    ...         any(name.startswith("answer") for name in os.listdir(parent))
    ...     sorted(os.listdir(parent))
    False
    ['answer.txt', 'why.txt']
    """
    parts: dict[Path, Path] = {}  # where each is to be

    def new(name: str) -> Path:
        path = place / name
        parts[path] = path  # so that an error tells of it
        handle, part = tempfile.mkstemp(prefix=".", suffix=f".{path.name}.part", dir=place)
        parts[path] = Path(part)
        os.close(handle)  # it is opened by its name
        return parts[path]

    try:
        _make(place)
        yield new
        for path, part in parts.items():
            _finish(part, path)
        for path, part in parts.items():
            part.replace(path)
    except BaseException as error:
        for path, part in parts.items():
            if part != path:
                part.unlink(missing_ok=True)
        if isinstance(error, OSError) and parts:
            # The name of a part means nothing to the reader; a full disk names no file: it is the last one.
            known = {str(part): path for path, part in parts.items()}
            error.filename = str(known.get(str(error.filename), list(parts)[-1]))
            if error.filename2 is not None:
                del error.filename2  # None would be shown as one
        raise


def _make(place: Path) -> None:
    try:
        place.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(error.errno, "it is a file, not a folder", str(place)) from error


def _finish(part: Path, path: Path) -> None:
    """Do all that may fail before files are moved."""
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with part.open("rb+") as file:
            os.fsync(file.fileno())  # a full disk may tell only now
        umask = os.umask(0)
        os.umask(umask)
        part.chmod(0o666 & ~umask)
    except OSError as error:
        error.filename = str(part)
        raise


@contextlib.contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Give a place to write to, and move it to `path` when all is written; otherwise nothing is left.

    Parameters
    ----------
    path : Path
        Where the file is to be. One that is there already is replaced, at the end and at once. Its folder is
        made if it is not there.

    Yields
    ------
    Path
        An empty file beside it.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic(Path(folder, "answer.txt")) as place:
    ...         _ = place.write_text("42")
    ...     os.listdir(folder)
    ['answer.txt']
    """
    with together(path.parent) as new:
        yield new(path.name)


@contextlib.contextmanager
def folder(path: Path | None) -> Iterator[Path | None]:
    """Make a folder to write to, before any work is done for it; one that stays empty is taken away again.

    Parameters
    ----------
    path : Path or None
        The folder; None to do nothing.

    Yields
    ------
    Path or None
        The same.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     with folder(Path(parent, "new")) as place:
    ...         place.is_dir()
    ...     place.exists()
    True
    False
    """
    if path is None:
        yield None
        return
    made = [place for place in (path, *path.parents) if not place.exists()]  # the innermost first
    try:
        _try_to_write(path)
        yield path
    finally:
        with contextlib.suppress(OSError):
            for place in made:
                place.rmdir()  # only if it is empty


def _try_to_write(path: Path) -> None:
    try:
        with atomic(path / "selection.json") as place:
            place.write_bytes(b" ")
            raise _Tried
    except _Tried:
        pass


class _Tried(Exception):
    """Ends a trial to write."""
