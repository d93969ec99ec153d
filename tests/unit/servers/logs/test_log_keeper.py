import asyncio
from pathlib import Path

import pytest
from tests.fakes.hub_parts import hub_parts, one_server
from tests.fakes.scripted_server import ScriptedServer, error, tool

from tooltray.foundation.events import EventBus, LogWritten
from tooltray.foundation.tasks import TaskKeeper
from tooltray.servers.logs import log_keeper
from tooltray.servers.logs.log_files import ServerLogFiles
from tooltray.servers.logs.log_keeper import LogKeeper

AT = 1_795_600_000.0
PATIENCE_S = 10.0  # a bound, not a measure


class Kept:
    """A keeper of logs in a folder."""

    def __init__(self, folder: Path) -> None:
        self.bus, self.tasks = EventBus(), TaskKeeper()
        self.files = ServerLogFiles(folder)
        self.keeper = LogKeeper(self.files, bus=self.bus, spawn=self.tasks.spawn, clock=lambda: AT)
        self.told: list[str] = []
        self.bus.subscribe(LogWritten, lambda event: self.told.append(event.source))

    def text(self, server: str) -> str:
        return "".join(segment.path.read_text("utf-8") for segment in self.files.segments(server))


async def test_lines_are_written_together_and_told_of_once(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    is_told = asyncio.Event()
    kept.bus.subscribe(LogWritten, lambda event: is_told.set())
    kept.keeper.keep("a", "one \x1b[31mred")
    kept.keeper.keep("a", "two")
    async with asyncio.timeout(PATIENCE_S):
        await is_told.wait()
    assert kept.text("a") == "2026-11-25T09:46:40.000Z | one red\n2026-11-25T09:46:40.000Z | two\n"
    assert kept.told == ["server:a"]
    await kept.tasks.close()


async def test_the_last_lines_are_written_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loop, timers = asyncio.get_running_loop(), list[asyncio.TimerHandle]()
    call_later = loop.call_later
    monkeypatch.setattr(loop, "call_later", lambda *given: timers.append(call_later(*given)) or timers[-1])
    kept = Kept(tmp_path)
    kept.keeper.keep("a", "last words")
    kept.keeper.keep("b", "half a pair \ud800")
    await kept.keeper.close()
    assert [timer.cancelled() for timer in timers] == [True]
    assert "last words" in kept.text("a")
    assert "half a pair" in kept.text("b")
    await kept.keeper.close()
    assert sorted(kept.told) == ["server:a", "server:b"]


async def test_old_files_go_with_the_first_lines_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, removals = Kept(tmp_path), []
    monkeypatch.setattr(kept.files, "remove_old", lambda: removals.append(kept.text("a")))
    for _ in range(2):
        kept.keeper.keep("a", "line")
        await kept.keeper.flush()
    assert removals == [""]


async def test_a_disk_that_refuses_is_said_until_it_takes_lines_again(tmp_path: Path) -> None:
    (tmp_path / "servers").write_text("no folder")
    kept = Kept(tmp_path / "servers")
    kept.keeper.keep("a", "lost")
    await kept.keeper.flush()
    problem = kept.keeper.problem("a")
    assert problem is not None
    assert problem.title == "The log is not kept on disk"
    (tmp_path / "servers").unlink()
    kept.keeper.keep("a", "kept")
    await kept.keeper.flush()
    assert kept.keeper.problem("a") is None
    assert "kept" in kept.text("a")


async def test_lines_that_a_slow_disk_has_no_room_for_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_keeper, "MAX_WAITING_LINES", 2)
    kept = Kept(tmp_path)
    for number in range(5):
        kept.keeper.keep("a", f"line {number}")
    await kept.keeper.flush()
    kept.keeper.keep("a", "after")
    await kept.keeper.flush()
    said = [line.partition("| ")[2] for line in kept.text("a").splitlines()]
    assert said == ["line 0", "line 1", "(3 lines left out: the disk was too slow)", "after"]


async def test_the_states_of_a_server_stand_among_its_lines(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await parts.presenter.start_server("s")
        parts.servers.get("s").log.append("it says something")
        await parts.presenter.stop_server("s")
        program.handlers["initialize"] = lambda copy, params: error(-1, "no licence")
        with pytest.raises(Exception, match="no licence"):
            await parts.presenter.start_server("s")
        await parts.log_keeper.flush()
        text = "".join(segment.path.read_text() for segment in parts.server_logs.segments("s"))
        assert parts.server_logs.segments("hub") == []
    said = [line[25:] for line in text.splitlines()]
    assert said[:4] == ["= starting", "= running", "| it says something", "= stopped"]
    assert any(line.startswith("= error ") and "no licence" in line for line in said[4:])
