"""Build source distribution and wheels into dist/, and try them in clean environments without a compiler.

    python tools/wheels.py build [PYTHON ...]    # `make wheel`, which installs the tools that it needs
    python tools/wheels.py try [PYTHON ...]      # `make try-wheel`

If no interpreter is named, those on PATH and in ~/.pyenv/versions are used, one of each version.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
TABLE = ROOT / "src/foresift/datasets/_data/bikeshare.csv"
MINORS = range(11, 16)
MAX_BYTES = 5_000_000
MAX_SECONDS = 30  # from the end of the installation to the first answer

ASK = """
import sys, sysconfig
print(*sys.version_info[:2], sysconfig.get_config_var("Py_GIL_DISABLED") or 0)
"""
# The same table in other formats; openpyxl is used for that alone.
CONVERT = """
import openpyxl, pyarrow.csv, pyarrow.parquet
table = pyarrow.csv.read_csv("bikeshare.csv")
pyarrow.parquet.write_table(table, "bikeshare.parquet")
book = openpyxl.Workbook()
for row in [table.column_names, *(row.values() for row in table.to_pylist())]:
    book.active.append(list(row))
book.save("bikeshare.xlsx")
"""


@dataclass(frozen=True, order=True)
class Interpreter:
    """A Python to build for."""

    minor: int
    free_threaded: bool
    path: str

    @property
    def name(self) -> str:
        """Such as 3.14t."""
        return f"3.{self.minor}{'t' * self.free_threaded}"

    @property
    def tag(self) -> str:
        """What its wheel is called: from 3.12 on one wheel serves all, but for free-threaded interpreters."""
        if self.minor >= 12 and not self.free_threaded:
            return "cp312-abi3"
        return f"cp3{self.minor}-cp3{self.minor}{'t' * self.free_threaded}"


def find(paths: list[str]) -> list[Interpreter]:
    """Return the interpreters at these paths, or all that are found; one for each version."""
    if not paths:
        names = [f"python3.{minor}{t}" for minor in MINORS for t in ("", "t")]
        found = [shutil.which(name) for name in names]
        pyenv = Path.home().glob(".pyenv/versions/*/bin/python")
        paths = [path for path in [*found, *map(str, sorted(pyenv))] if path]
    known: dict[str, Interpreter] = {}
    for path in paths:
        answer = subprocess.run([path, "-c", ASK], capture_output=True, text=True, check=False)
        major, minor, free_threaded = map(int, answer.stdout.split() or (0, 0, 0))
        if major == 3 and minor >= MINORS[0]:
            python = Interpreter(minor, bool(free_threaded), path)
            known.setdefault(python.name, python)
    if not known:
        raise SystemExit("No Python 3.11 or newer was found.")
    return sorted(known.values())


def call(*command: str | Path, **more: object) -> None:
    """Run a command; if it fails, so does this program."""
    print("+", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True, **more)


def build(pythons: list[Interpreter]) -> None:
    """Make the source distribution, and from it one wheel for each tag."""
    shutil.rmtree(DIST, ignore_errors=True)
    call(sys.executable, "-m", "build", "--sdist", "--outdir", DIST, ROOT)
    (source,) = DIST.glob("*.tar.gz")
    for python in {python.tag: python for python in reversed(pythons)}.values():  # the oldest of each tag
        with tempfile.TemporaryDirectory() as raw:
            call(python.path, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", raw, source)
            (wheel,) = Path(raw).glob("*.whl")
            check_content(wheel, python.tag)
            call(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", DIST, wheel)
    for wheel in DIST.glob("*-abi3-*.whl"):
        call(sys.executable, "-m", "abi3audit", "--strict", wheel)
    check_sizes(sorted(DIST.iterdir()))


def check_content(wheel: Path, tag: str) -> None:
    """Fail if a wheel is not for the tag it was built for, or has not one extension with its stub."""
    with zipfile.ZipFile(wheel) as archive:
        core = [name for name in archive.namelist() if name.startswith("foresift/_core.")]
    if tag not in wheel.name or len(core) != 2 or "foresift/_core.pyi" not in core:
        raise SystemExit(
            f"{wheel.name} should be for {tag}, with one extension and _core.pyi; it has {core}."
        )


def check_sizes(files: Iterable[Path]) -> None:
    """Print the sizes of files, and fail if one is too large."""
    sizes = {file.name: file.stat().st_size for file in files}
    for name, size in sizes.items():
        print(f"{size / 1e6:6.2f} MB  {name}")
    if max(sizes.values()) > MAX_BYTES:
        raise SystemExit(f"A file is larger than {MAX_BYTES / 1e6:g} MB.")


def attempt(python: Interpreter) -> list[str]:
    """Install the wheel into a new environment, run it on three files, and return a row of the table."""
    wheels = sorted(DIST.glob(f"*-{python.tag}-*.whl"))
    if not wheels:
        return [python.name, "no wheel"]
    with tempfile.TemporaryDirectory() as folder:
        place, env = Path(folder), {**os.environ, "CC": "false", "CXX": "false"}
        env.pop("PYTHONPATH", None)
        at = {"cwd": place, "env": env}
        call(python.path, "-m", "venv", "env", **at)
        programs = place / "env" / ("Scripts" if os.name == "nt" else "bin")
        pip = (programs / "python", "-m", "pip", "install", "--quiet", "--only-binary", ":all:")
        start = time.perf_counter()
        call(*pip, "--no-compile", wheels[0], **at)  # so that the first run has all of Python to compile
        row = [python.name, wheels[0].name, f"{time.perf_counter() - start:.0f}"]
        shutil.copy(TABLE, place)
        row.append(answer(programs, "bikeshare.csv", at))
        call(*pip, "--target", "writer", "openpyxl", **at)
        writing = {"cwd": place, "env": {**env, "PYTHONPATH": str(place / "writer")}}
        call(programs / "python", "-c", CONVERT, **writing)
        return [*row, *(answer(programs, f"bikeshare.{form}", at) for form in ("parquet", "xlsx"))]


def answer(programs: Path, table: str, at: dict) -> str:
    """Select columns of a table; return the seconds and processor seconds that took, or what went wrong."""
    report = at["cwd"] / table.replace(".", "-") / "report.html"
    command = [programs / "foresift", "select", table, "--target", "cancelled", "--out", report.parent.name]
    before = os.times()
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **at)
    after = os.times()
    if done.returncode or not report.exists():
        print(done.stdout, done.stderr, sep="\n")
        return "FAILED"
    seconds, work = after.elapsed - before.elapsed, sum(after[2:4]) - sum(before[2:4])
    return f"{seconds:.1f} ({work:.1f}){'' if seconds < MAX_SECONDS else ' SLOW'}"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=["build", "try"])
    parser.add_argument("pythons", nargs="*", metavar="PYTHON")
    given = parser.parse_args()
    pythons = find(given.pythons)
    if given.what == "build":
        build(pythons)
        return
    rows = [attempt(python) for python in pythons]
    print("\nPython | wheel | seconds (of the processors): installation | CSV | Parquet | Excel")
    for row in rows:
        print(*row, sep=" | ")
    if any(cell.endswith(("FAILED", "SLOW", "no wheel")) for row in rows for cell in row):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
