"""Throw random tables, targets, weights and parameters at every public estimator and function.

    python tests/fuzz_estimators.py --seconds 600 --seed 0            all of them, in turn
    python tests/fuzz_estimators.py --only CFSSelector --case 17      one case again, with its tracebacks

A case is a name and a number, and does the same whenever it is run. What may come out is an answer that makes
sense, or a ValueError or TypeError that says in a sentence what is wrong. Cases run in a process of their
own, so that a crash, a hang or a lack of memory is a finding like any other.
"""

import argparse
import collections
import contextlib
import faulthandler
import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CASE_SECONDS = 60  # a case takes far less than a second; this is for a busy machine
MEMORY = 6 * 2**30
SLOW = {"compare": 8, "select": 3}  # of how many rounds they take part in one


class Worker:
    """A process that runs cases; when one kills it, the next case gets a new one."""

    def __init__(self):
        self.process = None
        self.place = tempfile.TemporaryDirectory(prefix="foresift-fuzz-")  # files that cases write land here
        self.log = Path(self.place.name) / "stderr.txt"

    def __enter__(self):
        return self

    def __exit__(self, *about):
        self.stop()
        self.place.cleanup()

    def start(self):
        command = [sys.executable, os.path.abspath(__file__), "--worker"]
        paths = [os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
        quiet = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "2"}
        environment = os.environ | quiet | {"PYTHONPATH": os.pathsep.join(paths)}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log.open("wb"),
            cwd=self.place.name,
            env=environment,
            start_new_session=True,  # so that its own workers end with it
        )

    def stop(self):
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None

    def run(self, name, number):
        """Run a case; return its findings."""
        if self.process is None:
            self.start()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps([name, number]).encode() + b"\n")
            self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], CASE_SECONDS + 5)
        answer = self.process.stdout.readline() if ready else b""
        if answer.endswith(b"\n"):
            return json.loads(answer)
        what = "no answer in time" if not ready else None
        if what is None:
            what = f"the process ended with code {self.process.wait()}"
        self.stop()
        trace = self.log.read_text(errors="replace")[-3000:]
        where = next(iter(re.findall(r'foresift/(\S+\.py)", line \d+ in (\w+)', trace)), ("", ""))
        found = {"name": name, "number": number, "step": "", "kind": "crash or hang", "text": what}
        return [found | {"where": ":".join(where), "trace": trace}]


def findings_of(names, *, seed=0, rounds=None, seconds=None, tell=None):
    """Run cases of all names in turn, for some rounds or seconds; return the findings and the number run."""
    began, found, n_run, slowest = time.monotonic(), [], 0, collections.Counter()
    with Worker() as worker:
        k = 0
        while (rounds is None or k < rounds) and (seconds is None or time.monotonic() - began < seconds):
            for name in names:
                if k % SLOW.get(name, 1):
                    continue
                if seconds is not None and time.monotonic() - began > seconds:
                    break
                number, start = seed * 1_000_000 + k, time.monotonic()
                new = worker.run(name, number)
                slowest[f"{name} {number}"] = time.monotonic() - start
                n_run += 1
                found += new
                if tell:
                    for finding in new:
                        tell(finding)
            k += 1
    return found, n_run, slowest.most_common(8)


def report(found):
    """Sum up findings by their causes, with a command that runs a case again."""
    groups = collections.defaultdict(list)
    for finding in found:
        text = re.sub(r"0x\w+|[-+]?\d[\d.e+-]*|'[^']*'", "#", finding["text"].split("\n")[0])[:90]
        groups[finding["kind"], finding["where"], text].append(finding)
    lines = []
    for (kind, where, _), members in sorted(groups.items(), key=lambda item: -len(item[1])):
        first = members[0]
        names = collections.Counter(member["name"] for member in members)
        lines += [
            f"{len(members)} x {kind} in {where or '?'}, step {first['step']!r}: {first['text'][:300]}",
            "    of " + ", ".join(f"{name} ({count})" for name, count in names.most_common(6)),
        ]
        for member in members[:2]:
            lines.append(
                f"    python tests/fuzz_estimators.py --only {member['name']} --case {member['number']}"
            )
    return "\n".join(lines)


def work():
    """Run the cases that stdin names, and answer with their findings."""
    answers = os.fdopen(os.dup(1), "w")
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - cases may print
    os.dup2(sys.stdout.fileno(), 1)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable()
    import fuzz_checks

    for line in sys.stdin:
        name, number = json.loads(line)
        faulthandler.dump_traceback_later(CASE_SECONDS)
        found = fuzz_checks.run_case(name, number).findings
        faulthandler.cancel_dump_traceback_later()
        answers.write(json.dumps(found) + "\n")
        answers.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", metavar="NAME", action="append")
    parser.add_argument("--case", type=int, metavar="NUMBER")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return work()
    import fuzz_checks

    names = options.only or fuzz_checks.names()
    if options.case is not None:
        with tempfile.TemporaryDirectory() as place:
            os.chdir(place)
            case = fuzz_checks.run_case(names[0], options.case)
        print(*case.story, sep="\n")
        for finding in case.findings:
            print(f"\n{finding['kind']} in {finding['step']!r}: {finding['text']}\n{finding['trace']}")
        return sys.exit(bool(case.findings))
    found, n_run, slowest = findings_of(names, seed=options.seed, seconds=options.seconds)
    print(report(found))
    print(f"{n_run} cases of {len(names)} names, {len(found)} findings.")
    print("Slowest:", ", ".join(f"{case} {seconds:.1f} s" for case, seconds in slowest))
    return sys.exit(bool(found))


if __name__ == "__main__":
    main()
