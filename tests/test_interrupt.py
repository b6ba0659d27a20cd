"""Ctrl-C in a long fit stops it soon and leaves no thread at work."""

import os
import signal
import subprocess
import sys
import time

import pytest

# The fit would take many minutes; a single tree takes seconds.
SCRIPT = """
import os, sys, threading, time
import numpy as np
import foresift

rng = np.random.default_rng(0)
X = rng.normal(size=(150_000, 30)).astype(np.float32)
y = rng.integers(0, 2, len(X))
model, learned = getattr(foresift, sys.argv[1]), sys.argv[2]
few = model(n_estimators=20, n_jobs=2, random_state=0)
small = np.array(getattr(few.fit(X[:3000], y[:3000]), learned))
long = model(n_estimators=5000, max_features=None, n_jobs=int(sys.argv[3]), random_state=0)
print("started", flush=True)
try:
    long.fit(X, y)
except KeyboardInterrupt:
    print("interrupted", flush=True)
else:
    sys.exit("the fit ended by itself")

def busy():
    # A thread of a pool may linger, idle; what counts is that it does not work on.
    before = time.process_time()
    time.sleep(0.3)
    return time.process_time() - before > 0.1

for _ in range(100):
    if threading.active_count() == 1 and not busy():
        break
    time.sleep(0.1)
others = [thread.name for thread in threading.enumerate() if not thread.name.endswith("(worker)")]
print("threads", others, "busy", busy(), flush=True)
assert not hasattr(long, learned)
again = np.array(getattr(few.fit(X[:3000], y[:3000]), learned))
print("same", np.array_equal(again, small), flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    ("model", "learned"), [("SiftForestClassifier", "node_tables_"), ("ForestGainSelector", "scores_")]
)
def test_ctrl_c_stops_a_fit(model, learned, n_jobs):
    command = [sys.executable, "-c", SCRIPT, model, learned, str(n_jobs)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "started\n", process.stderr.read()
        time.sleep(2)  # coding of the data is over, trees are growing
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        assert process.stdout.readline() == "interrupted\n", process.stderr.read()
        waited = time.monotonic() - sent
        output, errors = process.communicate(timeout=120)
    finally:
        process.kill()
        process.communicate()
    assert waited < 10, waited  # it takes about 0.1 s; a loaded machine may take longer
    assert output.splitlines() == ["threads ['MainThread'] busy False", "same True"], (output, errors)
    assert process.returncode == 0, errors
