"""Runs all tests for `make test`: in batches, each a process of its own, one more at a time than there are cores.

Tests of real programs wait more than they work, so their batches run beside the others; and a batch is small enough that all cores have
work to the end. With `--coverage` unit, contract and UI tests are measured, not the end-to-end tests: what a package promises is proved by
tests of its own. Prints one line for each batch that passed, the whole output of one that failed, and at the end
which tests failed.
"""

import itertools
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PLAIN = ("-m", "pytest")
MEASURED = ("-m", "coverage", "run", *PLAIN)
KINDS = {  # whether it can be measured, what is not torn apart, in how many batches
    "end2end": (False, ("tests/end2end/test_*.py",), 6),
    "unit": (True, ("tests/unit/test_*.py", "tests/unit/*/test_*.py", "tests/unit/*/*/", "tests/contract/test_*.py"), 5),
    "ui": (True, ("tests/ui/test_*.py",), 3),
}
FAILED = ("FAILED ", "ERROR ")  # how pytest's summary begins a line
COUNT = re.compile(r"(\d+) (passed|failed|skipped|errors?)\b")


class Batch(NamedTuple):
    kind: str
    python: Sequence[str]
    paths: Sequence[str]


def size(path: Path) -> int:
    """How long its tests may take, by what is easily known: their text."""
    files = path.rglob("test_*.py") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files)


def split(paths: Iterable[Path], count: int) -> list[list[Path]]:
    """As many lists of about the same size; the largest path goes first, each to the list that is shortest then."""
    lists: list[list[Path]] = [[] for _ in range(count)]
    for path in sorted(paths, key=lambda path: (-size(path), path)):
        min(lists, key=lambda each: sum(map(size, each))).append(path)
    return [each for each in lists if each]


def batches(root: Path, *, has_coverage: bool = False) -> list[Batch]:
    """Returns batches of all tests; those of a kind stand apart, so that tests that wait run beside tests that work."""
    kinds = []
    for kind, (is_measurable, patterns, count) in KINDS.items():
        python = MEASURED if has_coverage and is_measurable else PLAIN
        paths = [path for pattern in patterns for path in root.glob(pattern) if size(path)]
        kinds.append([Batch(kind, python, [str(path.relative_to(root)) for path in each]) for each in split(paths, count)])
    return [batch for each in itertools.zip_longest(*kinds) for batch in each if batch]


class Runner:
    """Runs batches. It passes one signal on to those that run, which end their programs then."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._running: set[subprocess.Popen[str]] = set()
        self._is_ending = False

    def __call__(self, batch: Batch) -> tuple[int, str, float]:
        """Its exit code, what it wrote, and how many seconds it took."""
        begun = time.monotonic()
        if self._is_ending:
            return 1, "not run", 0.0
        command = [sys.executable, *batch.python, *batch.paths]
        process = subprocess.Popen(
            command,
            cwd=self._root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._running.add(process)
        words, _ = process.communicate()
        self._running.discard(process)
        return process.returncode, words, time.monotonic() - begun

    def end(self) -> None:
        self._is_ending = True
        for process in tuple(self._running):
            process.send_signal(signal.SIGINT)


def last_line(words: str) -> str:
    return words.rstrip().rpartition("\n")[2]


def end_in_order(*_: object) -> None:
    raise KeyboardInterrupt


def tell(words: str) -> None:
    sys.stdout.write(words.rstrip() + "\n")
    sys.stdout.flush()


def run(batches: Sequence[Batch], runner: Runner) -> int:
    """Runs them side by side and prints what became of each; returns the worst exit code."""
    worst, total, failed = 0, Counter[str](), list[str]()
    with ThreadPoolExecutor((os.cpu_count() or 1) + 1) as pool:
        try:
            for batch, (code, words, took_s) in zip(batches, pool.map(runner, batches), strict=True):
                tell(words if code else f"{batch.kind:8} {took_s:4.0f} s  {last_line(words)}")
                if code < 0:  # Qt may crash as Python exits, after the last test has passed
                    tell(f"{batch.kind}: ended by {signal.Signals(-code).name}")
                worst = max(worst, abs(code))
                failed += [line for line in words.splitlines() if line.startswith(FAILED)]
                total.update({what: int(number) for number, what in COUNT.findall(last_line(words))})
        except KeyboardInterrupt:
            runner.end()
            return 130
    for line in failed:  # again: of a long output often only the end is looked at
        tell(line)
    tell(", ".join(f"{number} {what}" for what, number in total.items()))
    return worst


def main() -> int:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # programs are started some thousand times: compiled once
    signal.signal(signal.SIGTERM, end_in_order)
    return run(batches(ROOT, has_coverage="--coverage" in sys.argv), Runner(ROOT))


if __name__ == "__main__":
    sys.exit(main())
