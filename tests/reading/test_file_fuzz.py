"""Damaged files are read or refused in a sentence; they never end the process.

`python tests/reading/test_file_fuzz.py --seconds 600` tries new damage for ten minutes.
"""

import argparse
import bz2
import datetime
import functools
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import tempfile
import time
import traceback
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import foresift

N_ROWS = 60
SECONDS = 120  # for the damage of one batch
MEMORY = 16 * 2**30  # address space of a batch, most of it never used


@functools.cache
def _columns():
    rng = np.random.default_rng(0)
    words = np.array(["red", "green", "caf\u00e9", "", "NA"])
    day = datetime.date(2024, 1, 1)
    return {
        "size": pa.array(rng.normal(size=N_ROWS), mask=rng.random(N_ROWS) < 0.1),
        "count": pa.array(rng.integers(0, 99, N_ROWS)),
        "colour": pa.array(words[rng.integers(0, 5, N_ROWS)], mask=rng.random(N_ROWS) < 0.1),
        "price": pa.array([f"{i},5 EUR" for i in rng.integers(0, 9, N_ROWS)]),
        "level": pa.array(words[rng.integers(0, 3, N_ROWS)]).dictionary_encode(),
        "flag": pa.array(rng.random(N_ROWS) < 0.5),
        "day": pa.array([day + datetime.timedelta(days=int(i)) for i in rng.integers(0, 99, N_ROWS)]),
        "when": pa.array(rng.integers(0, 2**40, N_ROWS)).cast(pa.timestamp("us")),
        "y": pa.array(np.array(["u", "v"])[np.arange(N_ROWS) % 2]),
    }


def _parquet(**options):
    file = io.BytesIO()
    pa.parquet.write_table(pa.table(_columns()), file, **options)
    return file.getvalue()


def _feather(**options):
    file = io.BytesIO()
    pa.feather.write_feather(pa.table(_columns()), file, **options)
    return file.getvalue()


def _csv():
    columns = [
        [str(v) if v is not None else "" for v in column.to_pylist()] for column in _columns().values()
    ]
    rows = [
        ",".join(f'"{cell}"' if "," in cell else cell for cell in row) for row in zip(*columns, strict=True)
    ]
    return "\n".join([",".join(_columns()), *rows, ""]).encode()


def _arff(sparse=False):
    head = (
        "@relation r\n@attribute size numeric\n@attribute 'the colour' {red,'light blue'}\n"
        "@attribute note string\n@attribute day date 'yyyy-MM-dd'\n@attribute y {u,v}\n@data\n"
    )
    rng = np.random.default_rng(0)
    rows = []
    for i in range(N_ROWS):
        cells = [f"{rng.normal():.3f}", ("red", "'light blue'")[i % 2], ("?", "'it\\'s'", '"a, b"')[i % 3]]
        cells += [f"2024-01-{i % 28 + 1:02}", "uv"[i // 2 % 2]]
        row = ", ".join(f"{j} {cell}" for j, cell in enumerate(cells)) if sparse else ",".join(cells)
        rows.append(f"{{{row}}}\n" if sparse else f"{row}\n")
    return (head + "".join(rows)).encode()


def _json(array=False):
    records = pa.table(_columns()).to_pylist()
    lines = [
        json.dumps({k: v for k, v in record.items() if v is not None}, default=str) for record in records
    ]
    return f"[{', '.join(lines)}]".encode() if array else "".join(f"{line}\n" for line in lines).encode()


@functools.cache
def _excel():
    book = openpyxl.Workbook()
    book.active.append(list(_columns()))
    for row in zip(*(column.to_pylist() for column in _columns().values()), strict=True):
        book.active.append(list(row))
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


BASES = {
    "Parquet": [
        lambda: _parquet(),
        lambda: _parquet(compression="none", use_dictionary=False, row_group_size=20),
        lambda: _parquet(compression="zstd", data_page_version="2.0", store_schema=False),
    ],
    "Feather": [
        lambda: _feather(),
        lambda: _feather(compression="uncompressed", chunksize=20),
        lambda: _feather(compression="zstd"),
    ],
    "ARFF": [_arff, lambda: _arff(sparse=True)],
    "CSV": [_csv],
    "packed CSV": [
        lambda: gzip.compress(_csv(), mtime=0),
        lambda: bz2.compress(_csv()),
        lambda: lzma.compress(_csv()),
        lambda: pa.compress(_csv(), codec="zstd", asbytes=True),
    ],
    "JSON lines": [_json, lambda: _json(array=True)],
    "Excel": [_excel],
    "Parquet folder": [lambda: _parquet(), lambda: _parquet(compression="none", row_group_size=20)],
}


def damaged(form, seed):
    """A file with a few bytes altered, sometimes cut off or with a part of it twice."""
    rng = np.random.default_rng([seed, len(form)])
    whole = BASES[form][seed % len(BASES[form])]()
    if form == "Excel" and seed % 4:  # within a file of the archive, or nothing but checksums would be tried
        packed = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(whole)) as source, zipfile.ZipFile(packed, "w") as copy:
            parts = [part.filename for part in source.infolist()]
            hit = parts[int(rng.integers(len(parts)))] if rng.random() < 0.5 else "xl/worksheets/sheet1.xml"
            for part in parts:
                content = source.read(part)
                copy.writestr(part, _altered(content, rng) if part == hit else content)
        return packed.getvalue()
    return _altered(whole, rng)


def _altered(whole, rng):
    data = bytearray(whole)
    for _ in range(int(rng.integers(1, 6))):
        place = int(rng.integers(len(data)))
        if rng.random() < 0.5:
            data[place] ^= 1 << int(rng.integers(8))
        else:
            data[place] = int(rng.choice([0, 1, 0x20, 0x22, 0x27, 0x2C, 0x7F, 0x80, 0xFF, rng.integers(256)]))
    if rng.random() < 0.05:
        del data[int(rng.integers(1, len(data))) :]
    if rng.random() < 0.05:
        start, stop = sorted(rng.integers(len(data), size=2).tolist())
        data[start:start] = data[start:stop]
    return bytes(data)


def read_batch(form, first, last):
    """Read damaged files one after the other, and say which one it is beforehand; in a process of its own."""
    from foresift.cli.table import read_columns
    from foresift.errors import InputError

    if os.name == "posix":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as folder:
        path = table = Path(folder, "table")
        if form == "Parquet folder":
            table.mkdir()
            Path(table, "a.parquet").write_bytes(_parquet())
            path = Path(table, "b.parquet")
        for seed in range(first, last):
            print(seed, flush=True)
            path.write_bytes(damaged(form, seed))
            try:
                read, _ = read_columns(str(table), "y")
                read.write(Path(folder, "small"), {"size", "y"})  # as --write-data does
            except InputError as error:
                if "\n" in str(error) or not str(error).endswith((".", "?", ").")):
                    print(f"no sentence: {error}")
            except BaseException:
                print(traceback.format_exc())


def failures(form, first, last):
    """What went wrong with damaged files: texts that begin with the seed."""
    found = []
    env = {**os.environ, "PYTHONPATH": str(Path(foresift.__file__).parents[1])}
    while first < last:
        command = [sys.executable, __file__, "--batch", form, str(first), str(last)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=env)
            code, output, errors = str(done.returncode), done.stdout, done.stderr
        except subprocess.TimeoutExpired as expired:
            code, output, errors = "no end", (expired.stdout or b"").decode(), ""
        reports = []  # of each seed, what was printed after it
        for line in output.splitlines():
            if line.isdigit():
                reports.append([line])
            else:
                reports[-1].append(line)
        found += ["\n".join(report) for report in reports if len(report) > 1]
        if code == "0":
            break
        seed = reports[-1][0] if reports else str(last)
        found.append(f"{seed}: exit code {code}\n{errors[-2000:]}")
        first = int(seed) + 1
    return found


@pytest.mark.parametrize("form", BASES)
@pytest.mark.parametrize(
    "first", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(150, 1800, 150))]
)
def test_a_damaged_file_is_read_or_refused(form, first):
    n_files = 20 if form == "Excel" else 150  # each of them takes a process
    assert failures(form, first, first + n_files) == []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", nargs=3, metavar=("FORM", "FIRST", "LAST"))
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--first", type=int, default=10_000, help="the first seed to try")
    parser.add_argument("--forms", nargs="+", default=list(BASES))
    args = parser.parse_args()
    if args.batch:
        read_batch(args.batch[0], *map(int, args.batch[1:]))
        return
    end, seed, n_bad = time.monotonic() + args.seconds, args.first, 0
    while time.monotonic() < end:
        for form in args.forms:
            for failure in failures(form, seed, seed + (50 if form == "Excel" else 200)):
                n_bad += 1
                print(f"--- {form}, seed {failure}", flush=True)
        seed += 200
    print(f"seeds {args.first} to {seed - 1} of each format: {n_bad} failures")
    sys.exit(n_bad > 0)


if __name__ == "__main__":
    main()
