"""The native module with odd arguments: refused in a sentence, never a crash or a call without end.

All of it runs in subprocesses, which inherit the environment: under `make sanitize` they are sanitized too.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from power import seeds

from foresift import CartClassifier

HERE = Path(__file__).parents[1]


def run(script, *arguments):
    """Run a script of this folder; return its exit code and what it printed."""
    command = [sys.executable, "-W", "ignore", str(HERE / script), *map(str, arguments)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired as late:
        return "no end", (late.stdout or b"").decode(), (late.stderr or b"").decode()
    return done.returncode, done.stdout, done.stderr


def outcomes(*command):
    """What came of each call: (name, outcome, message)."""
    code, out, errors = run(*command)
    lines = [[*line.split("\t"), "", ""][:3] for line in out.splitlines()]
    assert code == 0, (code, lines[-1] if lines else None, errors[-3000:])
    assert lines
    return lines


@pytest.mark.parametrize(
    "command",
    [
        ("native_cases.py", "refused"),
        ("native_quantity.py", "refused"),
        ("native_histograms.py", "refused"),
        ("native_tables.py",),
    ],
)
def test_refused_in_a_sentence(command):
    for name, outcome, message in outcomes(*command):
        assert outcome in ("ValueError", "TypeError"), name
        assert len(message) > 10, name


@pytest.mark.parametrize("script", ["native_cases.py", "native_quantity.py", "native_histograms.py"])
def test_odd_but_right(script):
    assert [line for line in outcomes(script, "answered") if line[1] != "answered"] == []


@seeds(1, 20)
def test_random_arguments(seed):
    code, out, errors = run("native_fuzz.py", seed, 120)
    last = out.replace("\r", "\n").splitlines()[-1:]
    assert code == 0, (code, last, errors[-3000:])
    lines = [line.rsplit("\r", 1)[-1] for line in out.split("\n") if "{" in line]
    answered = [line for line in lines if "'answered': 0" not in line]
    assert len(answered) == len(lines), set(lines) - set(answered)  # else the random arguments say nothing


def test_encoded_rows_with_too_few_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 30))
    tree = CartClassifier().fit(X, X[:, 29] > 0)
    assert tree.outputs_of_encoded(X[:5]).shape == (5, 2)
    for n in (3, 70):
        with pytest.raises(ValueError, match="at least 30 columns"):
            tree.outputs_of_encoded(np.zeros((n, 7)))
