"""The comparison with other packages: its tables, its store, and what it calls lost."""

import argparse
import contextlib
import importlib
import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="module")
def bench():
    """The modules of the benchmark; they set environment variables, which are restored."""
    folder, before = str(Path(__file__).parents[1] / "benchmarks"), dict(os.environ)
    sys.path.insert(0, folder)
    try:
        yield {
            part: importlib.import_module(f"headtohead{part}")
            for part in ("", "_cells", "_check", "_peers", "_results")
        }
    finally:
        sys.path.remove(folder)
        os.environ.clear()
        os.environ.update(before)


def test_every_cell_is_as_its_name_says(bench):
    cells = bench["_cells"]
    for name, cell in cells.CELLS.items():
        n, p = map(int, re.search(r"(\d+)x(\d+)", name).groups())
        relevant = int(found[1]) if (found := re.search(r", (\d+)$", name)) else 0
        assert (cell.n, cell.p, cell.relevant) == (n, p, relevant), name
        if n * p > 500_000:
            continue
        X, y, truth = cells.make(name, 1)
        assert X.shape == (n, p)
        assert np.sum(truth == cells.RELEVANT) == relevant
        assert np.sum(truth == cells.IRRELEVANT) >= p // 2, "no room for false discoveries"
        if cell.target == "classes" and cell.signal != "groups":
            assert abs(y.mean() - cell.minority) < 2 / n, name


def test_proxies_follow_relevant_columns_and_the_rest_does_not(bench):
    cells = bench["_cells"]
    X, _, truth = cells.make("proxies classes 400x200, 5", 1)
    correlations = np.abs(np.corrcoef(X.T))[truth == cells.RELEVANT]
    assert correlations[:, truth == cells.PROXY].max(axis=0).min() > 0.8
    assert correlations[:, truth == cells.IRRELEVANT].max() < 0.3


def run(bench, folder, **changes):
    asked = {"methods": ["f-test", "spin"], "cells": "null classes 200x100", "only": "truth", "seeds": 2}
    bench[""].run(argparse.Namespace(**{"folder": folder, "limit": 0.2, "quiet": False, **asked, **changes}))
    return (folder / "truth.jsonl").read_text().splitlines()


def test_a_run_takes_up_where_the_last_one_stopped(bench, tmp_path, monkeypatch):
    def spin(*_):
        while True:
            with contextlib.suppress(Exception):  # as careless methods do
                sum(range(1000))

    method = bench["_peers"].METHODS["f-test"]
    monkeypatch.setitem(bench["_peers"].METHODS, "spin", replace(method, run=spin))
    lines = run(bench, tmp_path)
    assert [json.loads(line)["method"] for line in lines] == ["f-test", "spin", "f-test"]
    assert json.loads(lines[1])["stopped"] == 0.2  # and it is not run on the next table
    assert run(bench, tmp_path) == lines
    (tmp_path / "truth.jsonl").write_text("\n".join(lines[:2]) + "\n" + lines[2][:30] + "\n")
    again = run(bench, tmp_path)
    assert len(again) == 4
    assert json.loads(again[3])["chosen"] == json.loads(lines[2])["chosen"]
    quiet = run(bench, tmp_path, quiet=True, methods=["f-test"])  # measured anew, for the times
    assert [json.loads(line)["loaded"] for line in quiet[4:]] == [False, False]


def test_only_times_of_a_quiet_machine_are_shown(bench, tmp_path):
    results, cell = bench["_results"], "null classes 200x100"
    of = {"cell": cell, "chosen": [0, 0, 0], "of": [100, 0, 0]}
    for seed, seconds, loaded in ((1, 3.0, False), (2, 5.0, False), (3, 99.0, True)):
        record = {**of, "method": "f-test", "seed": seed, "seconds": seconds, "loaded": loaded}
        results.append(tmp_path / "truth.jsonl", record)
    results.append(
        tmp_path / "truth.jsonl", {**of, "method": "rfecv", "seed": 1, "seconds": 7, "loaded": True}
    )
    lines = results.shown(tmp_path)["seconds"].splitlines()
    assert lines == [f"| method | {cell} |", "| --- | --- |", "| f-test | 4.00 |"]


def test_the_summary_is_of_the_same_tables(bench, tmp_path):
    results, cells = bench["_results"], ("linear classes 100x100, 5", "xor classes 500x100, 2")
    about = {"seconds": 1.0, "loaded": True, "of": [75, 5, 20]}
    chosen = {"relevance": ([1, 4, 3], [0, 5, 5], [9, 0, 0]), "f-test": ([1, 1, 0], [0, 2, 2])}
    for method, tables in chosen.items():
        for seed, found in enumerate(tables):
            record = {"cell": cells[0], "method": method, "seed": seed, "chosen": found, **about}
            results.append(tmp_path / "truth.jsonl", record)
    pair = {
        "cell": cells[1],
        "method": "relevance",
        "seed": 0,
        "chosen": [0, 1, 1],
        **about,
        "of": [90, 2, 8],
    }
    results.append(tmp_path / "truth.jsonl", pair)
    lines = results.shown(tmp_path)["summary"].splitlines()
    # (0.8 + 1 + 0) / 3; 1 of 2; false in the first cell (1/8 + 0 + 1) / 3, without proxies (1/5 + 0 + 1) / 3
    assert lines[2] == "| relevance | 2 | 1-3 | 0.60 | 0.50 | 0.19 | 0.20 | 0.60 | 0.50 | 0.19 | 0.20 |"
    assert lines[3] == "| f-test | 1 | 2 | 0.30 |  | 0.25 | 0.25 | 0.90 |  | 0.06 | 0.10 |"


def test_only_a_peer_whose_rate_holds_takes_a_cell(bench):
    found_of = bench["_results"].Found

    def found(false, powers):
        keys = range(len(powers))
        shares = dict(zip(keys, powers, strict=True))
        return found_of(dict.fromkeys(keys, false), shares, dict.fromkeys(keys, 1), dict.fromkeys(keys, 1.0))

    cell = "linear classes 100x100, 5"
    weak, strong = [0.4, 0.2] * 5, [0.8, 0.8, 1.0, 0.8, 1.0] * 2
    ours = found(0.0, weak)
    _, lines = bench["_check"].compared({cell: {"relevance": ours, "boruta": found(0.05, strong)}})
    assert f"1 of 1 cells, 100 %: {cell}" in lines[1]
    peers = {"boruta": found(0.05, strong[:9]), "f-test": found(0.0, weak)}
    _, lines = bench["_check"].compared({cell: {"relevance": ours, **peers}})
    assert "0 of 1 cells" in lines[1]  # nine tables are too few to be judged
    assert lines[4].endswith("1 pairs of cell and peer; the peer's mean power is higher in 1 of them")
    _, lines = bench["_check"].compared(
        {cell: {"relevance": ours, "boruta": found(0.5, strong), "f-test": found(0.0, weak)}}
    )
    assert "1 pairs" in lines[0]
    assert "0 of 1 cells" in lines[1]
    _, lines = bench["_check"].compared({cell: {"relevance": found(0, strong), "f-test": ours}})
    assert "1 of 1, 100 %" in lines[2]
