"""How long the window's thread is busy for one frame: page changes, scrolling 100,000 entries of the journal, keys of a search.

Usage: ui_frames.py [--entries 100000]     prints a Markdown table

The window is drawn offscreen; its data come from a real `activity.db`, read in threads, and from a hub in memory with 100 servers and 5,000
tools. A frame is what happens from one step of the wheel until everything that came of it is painted: on the clock, and what the window's
thread itself worked, which other programs disturb less. Nothing is asserted.
"""

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "desktop"), str(ROOT)]
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import qasync  # noqa: E402
from PySide6.QtCore import QPoint, QPointF, Qt  # noqa: E402
from PySide6.QtGui import QWheelEvent  # noqa: E402
from PySide6.QtTest import QTest  # noqa: E402
from PySide6.QtWidgets import QApplication, QWidget  # noqa: E402
from tests.fakes.desk import Desk, until  # noqa: E402
from tests.fakes.journal_in_memory import JournalInMemory  # noqa: E402
from tests.fakes.server_snapshots import server, tool  # noqa: E402

from tooltray.foundation.events import ActivityWritten  # noqa: E402
from tooltray.records.journal.journal_file import JournalFile, NewEntry  # noqa: E402
from tooltray.records.journal.journal_reader import JournalReader  # noqa: E402
from tooltray.ui.shell.pages import PAGES  # noqa: E402
from tooltray.ui.theme import Theme  # noqa: E402

SERVERS, TOOLS_EACH = 100, 50
CLIENTS = ("claude-code", "cursor-vscode", "codex-mcp-client", "gemini-cli")
WHEEL_STEPS, JUMPS, ROUNDS = 1500, 100, 5
TEXTS = ("r", "re", "rea", "read", "read_", "read_f", "s7", "s77", "s", "inv", "invoice")
BATCH = 5000


class FileHub(JournalInMemory):
    """Its journal is a file, as the engine's is, and is read in threads."""

    def __init__(self, path: Path) -> None:
        servers = [server(f"s{number}", tool_count=TOOLS_EACH) for number in range(SERVERS)]
        tools = [tool(f"tool_{number}", f"s{of}") for of in range(SERVERS) for number in range(TOOLS_EACH)]
        super().__init__(servers, tools)
        self.reader = JournalReader(journal_file=path)

    async def get_activity(self, filter, before, limit, collapsed):  # type: ignore[no-untyped-def, override]
        return await asyncio.to_thread(self.reader.rows, filter, before, limit, collapsed=collapsed)

    async def get_activity_series(self, filter, bars):  # type: ignore[no-untyped-def, override]
        return await asyncio.to_thread(self.reader.series, filter, bars)

    async def get_activity_figures(self, by, filter):  # type: ignore[no-untyped-def, override]
        return await asyncio.to_thread(self.reader.figures, by, filter)

    async def get_journal_status(self):  # type: ignore[no-untyped-def, override]
        return await asyncio.to_thread(self.reader.status, 0, "")


def fill(path: Path, count: int) -> None:
    """Writes a day of calls."""
    chance, now = random.Random(1), time.time()
    file = JournalFile(path)
    for first in range(0, count, BATCH):
        file.write(_made(chance, now - 86400 * (1 - place / count)) for place in range(first, min(first + BATCH, count)))
    file.close()


def _made(chance: random.Random, at: float) -> NewEntry:
    of, name, client = f"s{chance.randrange(SERVERS)}", chance.choice(("read_file", "search", "edit")), chance.choice(CLIENTS)
    outcome = "error" if chance.random() < 0.02 else "ok"
    call = ("call", at, f"src/invoice_{chance.randrange(500)}.py", outcome, chance.random() / 5, client, "s1", "/srv/shop", of)
    rest = (name, f"{of}_{name}", 120, 4000, 1000, "rules", 0.0001, None, None, 0.02, 0.0001, 0)
    return NewEntry((*call, *rest))


Times = list[tuple[float, float]]
"""Of each frame: ms on the clock, and ms that the thread worked."""


class Watch:
    def __init__(self) -> None:
        self._begun = time.perf_counter(), time.thread_time()

    @property
    def spent(self) -> tuple[float, float]:
        return (time.perf_counter() - self._begun[0]) * 1000, (time.thread_time() - self._begun[1]) * 1000


async def frames(act: Callable[[int], None], count: int) -> Times:
    """The act, what the loop does about it, and the painting."""
    spent = []
    for number in range(count):
        watch = Watch()
        act(number)
        await asyncio.sleep(0)
        await asyncio.sleep(0)  # what is dirty has been painted by now
        spent.append(watch.spent)
    return spent


async def measure(theme: Theme, path: Path) -> list[tuple[str, Times]]:
    found: list[tuple[str, Times]] = []
    async with Desk(FileHub(path), theme) as desk:
        await desk.window.build_pages()
        found.append(("page change", await page_changes(desk)))
        desk.window.open_page("activity")
        listed = desk.activity.calls.list
        await until(lambda: listed.table.activity.rowCount() > 50)
        listed.set_collapsed(False)
        await asyncio.sleep(0.5)
        table = listed.table
        bar = table.verticalScrollBar()
        down = await frames(lambda _: wheel(table.viewport(), -120), WHEEL_STEPS)
        found.append(("wheel, downwards", down))
        chance = random.Random(2)
        found.append(("jump into the list", await frames(lambda _: bar.setValue(chance.randrange(bar.maximum())), JUMPS)))
        while not table.activity.is_whole and table.activity.rowCount() < 100_000:  # all rows, page by page
            bar.setValue(bar.maximum())
            await asyncio.sleep(0)
        print(f"rows: {table.activity.rowCount():,}, in memory: {table.activity.kept:,}")
        up = await frames(lambda _: wheel(table.viewport(), 120), WHEEL_STEPS)
        found.append((f"wheel, upwards, {table.activity.rowCount():,} rows", up))
        bar.setValue(bar.maximum() // 2)
        found.append(("rows on top while reading", await arrivals(desk)))
        keys, shown = await search(desk)
        found += [("key of a search, window busy", keys), ("key of a search, until its rows stand there", shown)]
    return found


def wheel(view: QWidget, angle: int) -> None:
    place = QPointF(view.rect().center())
    QApplication.sendEvent(
        view,
        QWheelEvent(
            place,
            view.mapToGlobal(place),
            QPoint(),
            QPoint(0, angle),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        ),
    )


async def page_changes(desk: Desk) -> Times:
    spent = []
    for _ in range(ROUNDS):
        for page in PAGES:
            watch = Watch()
            desk.window.open_page(page.name)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            spent.append(watch.spent)
            await asyncio.sleep(0.05)
    return spent


async def arrivals(desk: Desk) -> Times:
    """New rows come on top, as four times a second in life."""
    table, spent = desk.activity.calls.list.table, []
    file = JournalFile(desk.engine.reader._path)  # type: ignore[attr-defined]
    try:
        for _ in range(20):
            last = file.write([_made(random.Random(3), time.time()) for _ in range(5)])
            before, count = table.activity.rowCount(), asyncio.Event()
            table.activity.grown.connect(lambda _, done=count: done.set())
            desk.engine.bus.publish(ActivityWritten(last))
            while not count.is_set() and table.activity.rowCount() == before:
                watch = Watch()
                await asyncio.sleep(0)
                spent.append(watch.spent)
    finally:
        file.close()
    return spent


async def search(desk: Desk) -> tuple[Times, Times]:
    field, model = desk.activity.calls.search, desk.activity.calls.list.table.activity
    keys, shown = [], []
    for text in TEXTS * ROUNDS:
        done = asyncio.Event()
        model.reset_done.connect(done.set)
        field.blockSignals(True)
        field.setText(text[:-1])
        field.blockSignals(False)
        watch = Watch()
        QTest.keyClicks(field, text[-1])
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        keys.append(watch.spent)
        await done.wait()
        shown.append(watch.spent)
        model.reset_done.disconnect(done.set)
        await asyncio.sleep(0.05)
    return keys, shown


def table_of(found: list[tuple[str, Times]]) -> str:
    lines = ["| what | frames | p50 ms | p99 ms | longest ms | worked: p50 ms | p99 ms |", "|---|---|---|---|---|---|---|"]
    for name, times in found:
        clock, worked = (sorted(each[which] for each in times) for which in (0, 1))
        middle, late = len(times) // 2, int(len(times) * 0.99)
        figures = (clock[middle], clock[late], clock[-1], worked[middle], worked[late])
        lines.append(f"| {name} | {len(times)} | {' | '.join(f'{figure:.1f}' for figure in figures)} |")
    return "\n".join(lines)


async def run(entries: int) -> None:
    theme = Theme(reduced_motion=True)
    theme.apply(QApplication.instance())  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "activity.db"
        fill(path, entries)
        print(table_of(await measure(theme, path)))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--entries", type=int, default=100_000)
    args = options.parse_args()
    app = QApplication(sys.argv[:1])
    app.setQuitOnLastWindowClosed(False)
    with qasync.QEventLoop(app) as loop:
        work: Awaitable[None] = run(args.entries)
        loop.run_until_complete(work)


if __name__ == "__main__":
    main()
