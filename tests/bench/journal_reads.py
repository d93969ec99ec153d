"""What the journal costs: a call on the hub's loop, the thread that writes it, and questions to 100,000 entries.

Usage: journal_reads.py [--entries N]     prints one line of JSON: microseconds of a call, milliseconds of a
processor for each question (the median)

`call_us` is what the loop does for an entry, measured while the thread writes what came before; `thread_us` is what the thread does for it.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[2] / "desktop"))

from msgspec import Raw
from tests.fakes.journals import entry

from tooltray.config.settings.settings import ActivitySettings
from tooltray.foundation.events import EventBus
from tooltray.foundation.snapshots.activity import ActivityFilter
from tooltray.protocol.sessions.exchange import CallTimings
from tooltray.records.journal.journal import Journal
from tooltray.records.journal.journal_event import CALL, JournalEvent
from tooltray.records.journal.journal_file import JournalFile
from tooltray.records.journal.journal_reader import JournalReader

ROUNDS, CALLS = 15, 200
DAYS = 30


def fill(path: Path, count: int) -> None:
    chance, now = random.Random(1), time.time()
    file = JournalFile(path)
    for begin in range(0, count, 1000):
        file.write([_entry(chance, now - (count - begin - number) * DAYS * 86_400 / count) for number in range(1000)])
    file.close()


def _entry(chance: random.Random, at: float) -> Any:
    failed = chance.random() < 0.05
    return entry(
        at=at,
        outcome="error" if failed else "ok",
        duration=chance.lognormvariate(-3, 1.5),
        client=f"client {chance.randint(1, 6)}",
        session=f"s{chance.randint(1, 60)}",
        project=f"/home/ada/project{chance.randint(1, 12)}",
        server=f"server {chance.randint(1, 30)}",
        tool=f"tool_{chance.randint(1, 300)}",
        touched=f"/home/ada/project/src/part{chance.randint(1, 900)}/module_{chance.randint(1, 5000)}.py",
        reason="ENOENT: no such file or directory" if failed else "",
    )


def median_ms(ask: Callable[[], object]) -> float:
    spent = []
    for _ in range(ROUNDS):
        began = time.thread_time()  # of a processor: other programs disturb that little
        ask()
        spent.append((time.thread_time() - began) * 1000)
    return round(statistics.median(spent), 2)


def questions(path: Path, count: int) -> dict[str, float]:
    reader = JournalReader(journal_file=path)

    def rows(before: int = 0, collapsed: bool = False, **wanted: Any) -> Callable[[], object]:
        return lambda: reader.rows(ActivityFilter(**wanted), before, 200, collapsed=collapsed)

    asked = {
        "page": rows(),
        "page_in_the_middle": rows(before=count // 2),
        "page_joined": rows(collapsed=True),
        "filter_server": rows(servers=("server 7",)),
        "filter_failed": rows(outcomes=("error",)),
        "filter_nothing": rows(servers=("nowhere",)),
        "filter_old_days": rows(since=time.time() - DAYS * 86_400, until=time.time() - (DAYS - 1) * 86_400),
        "text_often": rows(text="module_77"),
        "text_never": rows(text="nowhere to be found"),
        "series_of_a_day": lambda: reader.series(ActivityFilter(), 96),
        "series_of_all": lambda: reader.series(ActivityFilter(since=time.time() - DAYS * 86_400), 96),
        "figures_by_server": lambda: reader.figures("server", ActivityFilter()),
        "tool_use": lambda: reader.tool_use(0.0),
        "choices": reader.choices,
    }
    found = {name: median_ms(ask) for name, ask in asked.items()}
    reader.close()
    return found


async def call_us(path: Path) -> dict[str, float]:
    """In rounds of CALLS, as fast as the loop can; the thread writes meanwhile."""
    bus, settings = EventBus(), SimpleNamespace(settings=SimpleNamespace(activity=ActivitySettings()))
    journal = Journal(journal_file=path, config=settings, bus=bus, known_values=lambda: {"a dummy secret"})  # type: ignore[arg-type]
    journal.start()
    params, reply = Raw(b'{"name":"read_file","arguments":{"path":"/home/ada/a.txt"}}'), Raw(b'{"content":[{"type":"text","text":"x"}]}')
    spent = []
    for _ in range(ROUNDS * 4):
        began = time.perf_counter()
        for _ in range(CALLS):
            timings = CallTimings()
            with timings.at_server():
                pass
            timings.answered_at = time.perf_counter()
            happened = JournalEvent(
                kind=CALL, at=time.time() - timings.passed_s, outcome="ok", client="Cursor", session="s1", server="files", tool="read_file",
                published="read_file", argument_bytes=60, result_bytes=44, params=params, reply=reply, timings=timings,
            )  # fmt: skip
            bus.publish(happened)
        spent.append((time.perf_counter() - began) / CALLS * 1e6)
        await asyncio.sleep(0.05)
    before = time.process_time()
    for _ in range(5_000):
        bus.publish(happened)
    await journal.flush()
    of_thread = (time.process_time() - before) / 5_000 * 1e6
    await journal.close()
    return {"call_us": round(statistics.median(spent), 2), "thread_us": round(of_thread, 1), "lost": journal.lost}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=100_000)
    count = parser.parse_args().entries
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "activity.db"
        fill(path, count)
        figures = {"bytes_per_entry": round(path.stat().st_size / count), **questions(path, count), **asyncio.run(call_us(path))}
    print(json.dumps(figures))


main()
