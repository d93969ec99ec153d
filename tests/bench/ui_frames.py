"""Measures how long the window's thread is busy for one frame: page changes, the wheel in 100,000 calls, keys of a search.

Usage: python -m tests.bench.ui_frames     prints JSON: by id what it is, and p50 and p99 in ms on the clock

The window is drawn offscreen; its data come from a real `activity.db`, read in threads, and from a hub in memory with 100 servers and 5,000
tools. A frame lasts from one step of the wheel until everything that came of it is painted.
"""

import asyncio
import json
import os
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import qasync
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from tests.bench.machine import p50_p99
from tests.fakes.desk import Desk, until
from tests.fakes.journal_in_memory import JournalInMemory
from tests.fakes.journals import entry
from tests.fakes.server_snapshots import server, tool

from tooltray.records.journal.journal_file import JournalFile, NewEntry
from tooltray.records.journal.journal_reader import JournalReader
from tooltray.ui.shell.main_window import PAGES
from tooltray.ui.theme import Theme

CALLS, BATCH = 100_000, 5000
SERVERS, TOOLS_EACH = 100, 50
WHEEL_STEPS, ROUNDS = 1500, 5
TEXTS = ("r", "re", "rea", "read", "read_", "read_f", "s7", "s77", "s", "inv", "invoice")


class FileHub(JournalInMemory):
    """A hub in memory whose journal is a file, as the engine's is, and is read in threads."""

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


def fill(path: Path) -> None:
    """Writes a day of calls."""
    chance, now = random.Random(1), time.time()
    file = JournalFile(path)
    for first in range(0, CALLS, BATCH):
        file.write([made(chance, now - 86400 * (1 - place / CALLS)) for place in range(first, first + BATCH)])
    file.close()


def made(chance: random.Random, at: float) -> NewEntry:
    return entry(
        at=at,
        outcome="error" if chance.random() < 0.02 else "ok",
        duration=chance.random() / 5,
        client=chance.choice(("claude-code", "cursor-vscode", "codex-mcp-client", "gemini-cli")),
        server=f"s{chance.randrange(SERVERS)}",
        tool=chance.choice(("read_file", "search", "edit")),
        touched=f"src/invoice_{chance.randrange(500)}.py",
    )


def ms_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


async def frame(act: Callable[[], None]) -> float:
    """Acts and paints; returns how long that took."""
    started = time.perf_counter()
    act()
    await asyncio.sleep(0)
    await asyncio.sleep(0)  # what is dirty has been painted by now
    return ms_since(started)


async def measure(path: Path) -> dict[str, tuple[str, float, float]]:
    theme = Theme(reduced_motion=True)
    theme.apply(QApplication.instance())  # type: ignore[arg-type]
    async with Desk(FileHub(path), theme) as desk:
        await desk.window.build_pages()
        pages = await page_changes(desk)
        desk.window.open_page("activity")
        listed = desk.activity.calls.list
        await until(lambda: listed.table.activity.rowCount() > 50)
        listed.set_collapsed(False)
        await asyncio.sleep(0.5)
        wheel = [await frame(lambda: turn_wheel(listed.table.viewport())) for _ in range(WHEEL_STEPS)]
        keys, found = await search(desk)
    return {
        "page_change": ("page change", *p50_p99(pages)),
        "wheel": ("a step of the wheel", *p50_p99(wheel)),
        "search_key": ("a key of a search", *p50_p99(keys)),
        "search_found": ("a key of a search, until its calls are shown", *p50_p99(found)),
    }


async def page_changes(desk: Desk) -> list[float]:
    spent = []
    for page in PAGES * ROUNDS:
        spent.append(await frame(lambda name=page.name: desk.window.open_page(name)))
        await asyncio.sleep(0.05)
    return spent


def turn_wheel(view: QWidget) -> None:
    place, down = QPointF(view.rect().center()), QPoint(0, -120)
    neither = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase
    QApplication.sendEvent(view, QWheelEvent(place, view.mapToGlobal(place), QPoint(), down, *neither, False))


async def search(desk: Desk) -> tuple[list[float], list[float]]:
    """Types; returns for each key how long the window was busy, and how long it took until what was found was shown."""
    field, model = desk.activity.calls.search, desk.activity.calls.list.table.activity
    keys, found = [], []
    for text in TEXTS * ROUNDS:
        done = asyncio.Event()
        model.reset_done.connect(done.set)
        field.blockSignals(True)
        field.setText(text[:-1])
        field.blockSignals(False)
        started = time.perf_counter()
        keys.append(await frame(lambda key=text[-1]: QTest.keyClicks(field, key)))
        await done.wait()
        found.append(ms_since(started))
        model.reset_done.disconnect(done.set)
        await asyncio.sleep(0.05)
    return keys, found


def main() -> None:
    app = QApplication(["bench"])
    app.setQuitOnLastWindowClosed(False)
    with tempfile.TemporaryDirectory() as folder, qasync.QEventLoop(app) as loop:
        path = Path(folder) / "activity.db"
        fill(path)
        print(json.dumps(loop.run_until_complete(measure(path))))


if __name__ == "__main__":
    main()
