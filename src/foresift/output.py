"""Write files whole or not at all."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["atomic", "folder"]


@contextlib.contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Give a place to write to, and move it to `path` when all is written; otherwise nothing is left.

    Parameters
    ----------
    path : Path
        Where the file is to be. One that is there already is replaced, at the end and at once.

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
    try:
        handle, name = tempfile.mkstemp(prefix=".", suffix=f".{path.name}.part", dir=path.parent)
    except OSError as error:
        error.filename = str(path)  # not the name of the part, which means nothing to the reader
        raise
    place = Path(name)
    try:
        os.close(handle)  # `place` is opened by its name
        yield place
        with place.open("rb+") as file:
            os.fsync(file.fileno())  # a full disk may tell only now
        umask = os.umask(0)
        os.umask(umask)
        place.chmod(0o666 & ~umask)
        place.replace(path)
    except BaseException as error:
        place.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename, error.filename2 = str(path), None
        raise


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
    made = not path.exists()
    try:
        _try_to_write(path)
        yield path
    finally:
        if made:
            with contextlib.suppress(OSError):
                path.rmdir()  # only if it is empty


def _try_to_write(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
        with atomic(path / "selection.json") as place:
            place.write_bytes(b" ")
            raise _Tried
    except _Tried:
        pass
    except FileExistsError as error:
        raise NotADirectoryError(error.errno, "it is a file, not a folder", str(path)) from error


class _Tried(Exception):
    """Ends a trial to write."""
