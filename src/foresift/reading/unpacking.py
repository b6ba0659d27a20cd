"""Open files plain or compressed with gzip, bzip2, xz or zstd; compressed ones are unpacked up to a limit."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import shutil
import sys
import tempfile
import weakref
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from foresift.errors import InputError

__all__ = [
    "PACKINGS",
    "SAMPLE",
    "Progress",
    "close_with",
    "ignore",
    "open_packed",
    "open_unpacked",
    "packing_of",
]

Progress = Callable[[float], None]  # takes the fraction that is done
PACKINGS = {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "zstd": ".zst"}
_MARKS = {
    "gzip": re.compile(rb"\x1f\x8b"),
    "bzip2": re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\0"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
}
SAMPLE = 2**18  # bytes from which encoding and delimiter are detected
_BLOCK = 2**20
_DAMAGED = OSError, EOFError, zlib.error, lzma.LZMAError


def ignore(fraction: float) -> None:
    """Show no progress."""


def close_with(owner: object, file: Any) -> None:
    """Close a file as soon as what reads it is gone; it may be read again until then."""
    weakref.finalize(owner, file.close)


def packing_of(start: bytes) -> str:
    r"""Name of the compression of a file that begins like this; empty if there is none.

    Examples
    --------
    >>> packing_of(gzip.compress(b"x,y")), packing_of(b"x,y")
    ('gzip', '')
    """
    return next((name for name, mark in _MARKS.items() if mark.match(start)), "")


def open_packed(file: Any, packing: str, mode: Any) -> Any:
    """Return a stream that unpacks (`mode` "rb") or packs ("wb") a file; the file itself if not `packing`."""
    if not packing:
        return file
    if packing == "zstd":
        stream = pa.CompressedInputStream if mode == "rb" else pa.CompressedOutputStream
        return stream(pa.PythonFile(file, mode[0]), "zstd")
    if packing == "gzip":
        return gzip.GzipFile(fileobj=file, mode=mode)
    return bz2.BZ2File(file, mode) if packing == "bzip2" else lzma.LZMAFile(file, mode)


def open_unpacked(
    path: Path | str,
    source: str,
    max_bytes: float,
    check: Callable[[bytes], object],
    progress: Progress = lambda fraction: None,
) -> tuple[BinaryIO, str]:
    """Open a file, or standard input (-), as a seekable plain one; return also the name of its compression.

    A small file can unpack to any size: `check` gets the beginning of the contents and raises if that is no
    table, before the rest is unpacked to at most `max_bytes`.
    """
    file: BinaryIO = sys.stdin.buffer if str(path) == "-" else Path(path).open("rb")  # noqa: SIM115
    if str(path) == "-" or not file.seekable():
        copy = tempfile.TemporaryFile()  # noqa: SIM115
        shutil.copyfileobj(file, copy)
        copy.seek(0)
        if str(path) != "-":
            file.close()
        file = copy
    packing = packing_of(file.read(16))
    file.seek(0)
    if not packing:
        return file, ""
    size = file.seek(0, 2)
    file.seek(0)
    packed, plain = open_packed(file, packing, "rb"), tempfile.TemporaryFile()  # noqa: SIM115
    try:
        block = packed.read(SAMPLE)
        check(block)
        while block:
            if plain.tell() + len(block) > max_bytes:
                raise InputError(
                    f"{source} ({packing}) unpacks to more than {max_bytes / 1e9:g} GB: if it"
                    " should, raise the limit (--max-memory)."
                )
            plain.write(block)
            progress(file.tell() / size)
            block = packed.read(_BLOCK)
        plain.seek(0)
    except BaseException as error:
        plain.close()
        # With a number it is no damage, but for example a full disk.
        if getattr(error, "errno", None) or not isinstance(error, _DAMAGED):
            raise
        raise InputError(f"{source} is a damaged {packing} file ({str(error).rstrip('.')}).") from error
    finally:
        file.close()
    return plain, packing
