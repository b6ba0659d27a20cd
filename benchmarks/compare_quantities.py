"""Compare methods with two regressors on tables of a quantity, and print a table for docs/comparing.md.

python benchmarks/compare_quantities.py F.sqlite [--tables A,B] [--methods A,B] [--estimators A,B] [--cv 5]
    [--repeats 2]

The tables are read from the folder FORESIFT_DATA_REGRESSION. Results are kept in the store: a run that was
stopped goes on. Every cell has the mean R2 and the mean number of columns; * is the set to take, - a method
that is significantly worse than all columns (p <= 0.05, adjusted for the number of methods).
"""

import argparse
import importlib.util
import os
from pathlib import Path

from foresift import compare

TABLES = "auto-mpg,bodyfat,machine-cpu,servo,yacht"
METHODS = "relevance,info-gain,mrmr,relieff,rfe,select-from-model"


def loaded(name):
    folder = Path(os.environ["FORESIFT_DATA_REGRESSION"])
    spec = importlib.util.spec_from_file_location("load", folder / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load(name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("store")
    parser.add_argument("--tables", default=TABLES)
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--estimators", default="ridge,rf")
    parser.add_argument("--cv", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=2)
    given = parser.parse_args()
    methods = given.methods.split(",")
    print("| table | model | all columns |", *(f" {method} |" for method in methods), sep="")
    print("|" + " --- |" * (3 + len(methods)))
    for name in given.tables.split(","):
        found = compare(
            *loaded(name),
            methods,
            given.estimators.split(","),
            task="regression",
            cv=given.cv,
            repeats=given.repeats,
            store=given.store,
            name=name,
        )
        for estimator in given.estimators.split(","):
            rows = {row.method: row for row in found.rows if row.estimator == estimator}
            cells = [
                cell(rows[method], found) if method in rows else "failed" for method in ("none", *methods)
            ]
            print(f"| {name} | {estimator} |", " | ".join(cells), "|", flush=True)
        for failure in found.failures:
            print(failure)


def cell(row, found):
    mark = (
        "*"
        if row == found.recommended
        else "-"
        if row.p_none <= 0.05 and row.mean < none_of(row, found)
        else ""
    )
    return f"{row.mean:.3f} ({row.n_features:g}){mark}"


def none_of(row, found):
    return next(r.mean for r in found.rows if (r.method, r.estimator) == ("none", row.estimator))


if __name__ == "__main__":
    main()
