"""Write files completely or not at all."""

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

ONE_LINE = 3  # depth of containers from which on they take one line


def json_lines(value: Any, depth: int = 0) -> Iterator[str]:
    """Write plain values without NaN as readable JSON, part by part.

    Containers of strings and numbers only, such as a row of a table, take one line, and so do those that are
    nested deeply; others take a line for each item. The text is never held as a whole: with many columns it
    is larger than the table.

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
    if depth >= ONE_LINE or not any(isinstance(item, dict | list) for item in items):
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
    """Write several files into a folder, all or none of them; the folder is created if needed.

    Yields a function that takes the name of a file and returns a temporary path to write to. At the end the
    files are moved to their names, in the order of the calls. If anything fails before that, such as on a
    full disk, the folder stays as it was.

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
    parts: dict[Path, Path] = {}  # temporary file of each final path

    def new(name: str) -> Path:
        path = place / name
        parts[path] = path  # so that an error names it
        handle, part = tempfile.mkstemp(prefix=".", suffix=f".{path.name}.part", dir=place)
        parts[path] = Path(part)
        os.close(handle)  # the caller opens it by name
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
            # Users know the final names only. A full disk names no file: it is the last one.
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
    """Do everything that may fail before files are moved."""
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with part.open("rb+") as file:
            os.fsync(file.fileno())  # a full disk may be reported only now
        umask = os.umask(0)
        os.umask(umask)
        part.chmod(0o666 & ~umask)
    except OSError as error:
        error.filename = str(part)
        raise


@contextlib.contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Write one file as `together` does: yields a temporary path, which replaces `path` at the end.

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
    """Create a folder, and test that it can be written, before the work; remove it if it stays empty.

    None does nothing.

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
        with contextlib.suppress(_Cancelled), atomic(path / "selection.json") as place:
            place.write_bytes(b" ")
            raise _Cancelled
        yield path
    finally:
        with contextlib.suppress(OSError):
            for place in made:
                place.rmdir()  # only if it is empty


class _Cancelled(Exception):
    """Ends a test that a folder can be written."""
