"""Reading of CSV files against polars and pandas: processor time and peak memory, in processes of their own.

    python benchmarks/reading.py                      # made tables
    python benchmarks/reading.py --before OTHER/src   # and an older foresift whose sources lie there

Every side reads the same file in turn, several times; the smallest time of each counts, and imports are not
counted. foresift also finds out what each column is; kinds and sums must be those of polars. It is told
which column has text late, because otherwise it refuses the file.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SIZES = {
    "200,000 x 50": (200_000, 50, 0),
    "1,000,000 x 25": (1_000_000, 25, 5),
    "60 x 20,000": (60, 20_000, 0),
    "decimal commas": (100_000, 20, 0),
}
SIDES = ("foresift", "polars", "pandas")
LATE = "late"

CHILD = """
import json, sys, time
side, path, late, commas = sys.argv[1:]
if side == "foresift":
    import pyarrow.csv, sklearn, foresift.reading.files, foresift.reading.splitting
    from foresift.cli.table import read_columns
elif side == "polars":
    import polars
else:
    import pandas
def peak():
    lines = open("/proc/self/status").read().split("\\n")
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
before, start = peak(), time.process_time()
if side == "foresift":
    table, split = read_columns(path, "y")
elif side == "polars":
    how = {"separator": ";", "decimal_comma": True} if commas else {}
    frame = polars.read_csv(path, schema_overrides={late: polars.String} if late else None, **how)
else:
    frame = pandas.read_csv(path, **({"sep": ";", "decimal": ","} if commas else {}))
said = {"seconds": time.process_time() - start, "megabytes": peak() - before}
if side == "foresift":
    said["kinds"] = {decision.name: decision.kind for decision in split.decisions}
    numbers = {name: values for name, values in split.columns.items() if values.dtype == float}
    said["sums"] = {name: float(values[values == values].sum()) for name, values in numbers.items()}
elif side == "polars":
    kinds = {n: "numeric" if t.is_numeric() else "categorical" for n, t in frame.schema.items()}
    said["kinds"] = {name: kind for name, kind in kinds.items() if name != "y"}
    said["sums"] = {n: float(frame[n].sum()) for n, t in frame.schema.items() if t.is_numeric()}
print(json.dumps(said))
"""


def write_table(path, commas, n_rows, n_columns, n_texts):
    """A table of normal numbers, rounded ones, integers, numbers with gaps, words, and one late text."""
    import polars as pl

    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(30)])
    columns = {}
    for j in range(n_columns - 1 - n_texts - bool(n_texts)):
        x = rng.normal(size=n_rows)
        gaps = pl.Series(np.where(rng.random(n_rows) < 0.05, np.nan, x.round(4))).fill_nan(None)
        columns[f"x{j}"] = (x, (100 * x).round(2), rng.integers(0, 1000, n_rows), gaps)[j % 4]
    columns |= {f"t{j}": words[rng.integers(0, 30, n_rows)] for j in range(n_texts)}
    if n_texts:
        columns[LATE] = [*map(str, rng.integers(0, 500, n_rows - 3)), "late", "1", "2"]
    columns["y"] = np.array(["a", "b"])[rng.integers(0, 2, n_rows)]
    pl.DataFrame(columns).write_csv(path, separator=";" if commas else ",", decimal_comma=commas)


def run(side, path, late, commas, sources=None):
    env = {**os.environ, **({"PYTHONPATH": sources} if sources else {})}
    command = [sys.executable, "-c", CHILD, side, str(path), late, "commas" if commas else ""]
    return json.loads(subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--before", help="sources of an older foresift")
    args = parser.parse_args()
    sides = {side: (side, None) for side in SIDES}
    if args.before:
        sides["before"] = ("foresift", args.before)
    print(f"{'table':16}{'side':10}{'CPU s':>8}{'MB':>8}   ours / side: time, memory")
    with tempfile.TemporaryDirectory() as folder:
        for size, shape in SIZES.items():
            path = Path(folder, "table.csv")
            commas = size == "decimal commas"
            write_table(path, commas, *shape)
            late = LATE if shape[2] else ""
            runs = {name: [] for name in sides}
            for _ in range(args.repeat):
                for name, (side, sources) in sides.items():
                    runs[name].append(run(side, path, late, commas, sources))
            ours, polars = runs["foresift"][0], runs["polars"][0]
            assert ours["kinds"] == polars["kinds"]
            assert ours["sums"].keys() == polars["sums"].keys()
            for name, total in polars["sums"].items():
                assert np.isclose(ours["sums"][name], total), name
            best = {
                name: [min(found[key] for found in all_runs) for key in ("seconds", "megabytes")]
                for name, all_runs in runs.items()
            }
            for name, (seconds, megabytes) in best.items():
                ratios = "".join(
                    f"{mine / of:8.2f}" for mine, of in zip(best["foresift"], best[name], strict=True)
                )
                print(f"{size:16}{name:10}{seconds:8.2f}{megabytes:8.0f}{ratios}", flush=True)


if __name__ == "__main__":
    main()
