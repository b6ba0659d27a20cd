"""Speed of CFSSelector, and of Weka's CfsSubsetEval if there is a jar of it, as a ratio in one run.

Tables of two classes or of a quantity, a quarter of the columns relevant and correlated in five groups. Ours
is timed whole, from the array on; Weka's time is without starting Java and reading the table. Ours runs with
Weka's convention here, so both keep the same columns.

    python benchmarks/cfs.py                   # ours alone
    python benchmarks/cfs.py --weka weka.jar   # the jar is in the PyPI package python-weka-wrapper3
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from datetime import date
from itertools import product
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from common import Results, seconds

from foresift.selectors.cfs import CFSSelector

SIZES = [(10_000, 200), (2_000, 500), (200, 60_000), (60_000, 50)]
SEARCHES = {
    "best-first": "new BestFirst()",
    "best-first-backward": 'new BestFirst() {{ setOptions(new String[] {"-D", "0"}); }}',
    "best-first-bidirectional": 'new BestFirst() {{ setOptions(new String[] {"-D", "2"}); }}',
    "forward": "new GreedyStepwise()",
    "backward": "new GreedyStepwise() {{ setSearchBackwards(true); }}",
}
JAVA = """
import weka.attributeSelection.*;
import weka.core.Instances;
import weka.core.converters.ConverterUtils.DataSource;

public class Timed {
    public static void main(String[] arguments) throws Exception {
        Instances data = DataSource.read(arguments[0]);
        data.setClassIndex(data.numAttributes() - 1);
        double best = Double.MAX_VALUE;
        int[] kept = null;
        for (int turn = 0; turn < 3; turn++) {
            long start = System.nanoTime();
            CfsSubsetEval evaluator = new CfsSubsetEval();
            evaluator.setLocallyPredictive(false);
            evaluator.buildEvaluator(data);
            ASSearch search = SEARCH;
            kept = search.search(evaluator, data);
            best = Math.min(best, (System.nanoTime() - start) / 1e9);
        }
        System.out.println(best + " " + java.util.Arrays.toString(kept).replaceAll("[^0-9,]", ""));
    }
}
"""


def data(n_rows: int, n_columns: int, task: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows) if task == "classification" else rng.normal(size=n_rows).round(6)
    X = rng.normal(size=(n_rows, n_columns)).round(6)
    n_relevant = min(n_columns // 4, 300)
    X[:, :n_relevant] += rng.normal(size=(n_rows, 5))[:, rng.integers(0, 5, n_relevant)]
    X[:, :n_relevant] += y[:, np.newaxis] * rng.random(n_relevant)
    return X, y


def weka(jar: str, search: str, X: np.ndarray, y: np.ndarray) -> tuple[float, list[int]]:
    """Best time of three, and the columns kept."""
    with tempfile.TemporaryDirectory() as folder:
        table, program = Path(folder, "table.arff"), Path(folder, "Timed.java")
        program.write_text(JAVA.replace("SEARCH;", f"{SEARCHES[search]};"), encoding="utf-8")
        with table.open("w", encoding="utf-8") as file:
            file.write("@relation table\n")
            file.writelines(f"@attribute a{j} numeric\n" for j in range(X.shape[1]))
            classes = y.dtype.kind == "i"
            file.write(f"@attribute target {'{0,1}' if classes else 'numeric'}\n@data\n")
            np.savetxt(file, np.column_stack([X, y]), fmt="%.17g", delimiter=",")
        path = os.pathsep.join([jar, str(Path(jar).parent / "*")])
        command = ["java", "-Xmx2g", "-XX:+UseSerialGC", "-cp", path, str(program), str(table)]
        answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(answer[0]), [int(column) for column in answer[1].split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--weka", metavar="JAR", help="compare with this; needs Java 11 or newer")
    args = parser.parse_args()
    columns = ("rows x columns", "task", "search", "Weka", "foresift", "ratio", "check")
    table = Results(f"{date.today()}, correlation-based feature selection, one thread", columns)
    for (n_rows, n_columns), task in product(SIZES, ("classification", "regression")):
        X, y = data(n_rows, n_columns, task)
        for search in SEARCHES:
            if search.endswith("backward") and n_columns > 1_000:
                continue  # asks for all pairs of columns
            selector = CFSSelector(search=search, convention="weka")
            ours = min(seconds(lambda s=selector, X=X, y=y: s.fit(X, y), time.perf_counter) for _ in range(3))
            theirs, ratio, check = "", "", f"{selector.support_.sum()} columns kept"
            if args.weka and n_columns <= 1_000:  # Weka holds a matrix of all pairs
                took, kept = weka(args.weka, search, X, y)
                theirs, ratio = f"{took:.2f} s", f"{took / ours:.1f}x"
                check += ", the same" if kept == selector.get_support(indices=True).tolist() else ", others"
            table.add_row(f"{n_rows:,} x {n_columns:,}", task, search, theirs, f"{ours:.2f} s", ratio, check)
    table.show()


if __name__ == "__main__":
    main()
