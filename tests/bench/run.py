"""Measures Tooltray beside a direct connection and FastMCP's proxy; prints a table and writes build/figures.json.

Usage: python -m tests.bench.run [--rounds N] [--quick] [--only GROUP ...]     `make bench` runs it

It wants a quiet machine and Linux. With --only, the rows of other groups stay in the file, if they were measured on the same commit,
machine and Python. Nothing is asserted, but a group that fails or takes too long makes the run fail in the end.
"""

import argparse
import contextlib
import os
import platform
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import msgspec
from scripts.figures import Row, Run, table
from tests.bench import call_rows, disk_rows, load_rows, start_rows
from tests.bench.machine import ROOT

FIGURES = ROOT / "build" / "figures.json"
ROUNDS, LIMIT_S = 5, 300
PROGRAM = ("desktop", "resources", "requirements/run.txt")
GROUPS: dict[str, Callable[[int], Iterator[Row]]] = {
    "bridge": start_rows.bridge_rows,
    "commands": start_rows.command_rows,
    "desktop": start_rows.desktop_rows,
    "confined": start_rows.confined_rows,
    "calls": call_rows.stdio_rows,
    "http": call_rows.http_rows,
    "large": call_rows.large_rows,
    "rate": call_rows.rate_rows,
    "busy": load_rows.busy_window_rows,
    "memory": load_rows.memory_rows,
    "many": load_rows.many_servers_rows,
    "unread": load_rows.unread_rows,
    "rest": load_rows.unread_rest_rows,
    "registry": load_rows.registry_rows,
    "window": load_rows.window_rows,
    "package": disk_rows.package_rows,
    "disk": disk_rows.disk_rows,
}


def new_run(rounds: int) -> Run:
    """Returns a run without rows."""
    with open("/proc/cpuinfo") as info, open("/proc/meminfo") as memory:
        model = next((line.partition(":")[2].strip() for line in info if line.startswith("model name")), platform.machine())
        gigabytes = int(memory.readline().split()[1]) / 2**20
    locked = (ROOT / "requirements" / "fastmcp.txt").read_text().splitlines()
    processors = len(os.sched_getaffinity(0))
    return Run(
        machine=f"{processors} × {model}, {gigabytes:.0f} GB, {platform.system()} {platform.release().partition('-')[0]}",
        processors=processors,
        python=platform.python_version(),
        peer=next(line.split()[0].rpartition("=")[2] for line in locked if line.startswith("fastmcp==")),
        date=datetime.now(UTC).date().isoformat(),
        commit=git("log", "-1", "--format=%H", "--", *PROGRAM),
        is_clean=not git("status", "--porcelain", "--", *PROGRAM, "tests/bench"),
        rounds=rounds,
        load=round(os.getloadavg()[0], 1),
        took_s=0.0,
        rows=(),
    )


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()


def earlier_run(run: Run) -> Run:
    """Returns the run in the file, if it can take rows of this one; else this one."""
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        earlier = msgspec.json.decode(FIGURES.read_bytes(), type=Run)
        same = ("machine", "python", "commit", "is_clean", "rounds")
        if all(getattr(earlier, name) == getattr(run, name) for name in same):
            return earlier
    return run


def with_rows(run: Run, rows: list[Row], spent_s: float) -> Run:
    """Returns the run with more rows, which replace those with the same ids."""
    by_id = {row.id: row for row in (*run.rows, *rows)}
    return msgspec.structs.replace(run, rows=tuple(by_id.values()), took_s=round(run.took_s + spent_s, 1))


@contextlib.contextmanager
def limit(seconds: int) -> Iterator[None]:
    """Ends what hangs.

    Raises:
        TimeoutError: it took too long.
    """

    def give_up(*_: object) -> None:
        raise TimeoutError(f"took more than {seconds} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def measured(name: str, rounds: int) -> list[Row]:
    rows = []
    for row in GROUPS[name](rounds):
        rows.append(row)
        print(f"  {row.what}: {row.text}", file=sys.stderr)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--quick", action="store_const", const=1, dest="rounds", help="one round, to see that it runs")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=[], metavar="GROUP", help=", ".join(GROUPS))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends what was started, too
    run, failed = new_run(options.rounds), []
    run = earlier_run(run) if options.only else run
    for name in options.only or GROUPS:
        began = time.monotonic()
        rows = []
        try:
            with limit(LIMIT_S):
                rows = measured(name, options.rounds)
        except Exception:
            traceback.print_exc()
            failed.append(name)
        spent_s = time.monotonic() - began
        print(f"{name}: {spent_s:.0f} s", file=sys.stderr)
        run = with_rows(run, rows, spent_s)
        FIGURES.parent.mkdir(exist_ok=True)
        FIGURES.write_bytes(msgspec.json.encode(run))
    print(table(run))
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
