"""result_store.py: what is kept, for how long, how much of it, and what is left when the hub was killed."""

import asyncio
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.full_disk import full_disk
from tests.fakes.set_clock import SetClock

from tooltray.foundation.tasks import TaskKeeper
from tooltray.gateway.kept_results.result_store import (
    DESCRIPTION,
    KEPT_FOR_S,
    KeptPart,
    KeptResult,
    NoRoom,
    ResultStore,
    new_handle,
    sweep_hourly,
)


def result(clock: SetClock, size: int = 3) -> KeptResult:
    parts = (KeptPart("text", "text", 0, size),)  # as it will be
    return KeptResult(handle=new_handle(), owner="o", project="", server="s", tool="t", tokens=500, kept_at=clock(), parts=parts)


def store(root: Path, clock: SetClock, most_bytes: int = 100) -> ResultStore:
    return ResultStore(root / "results", most_bytes=lambda: most_bytes, now=clock)


def test_a_result_is_found_again_also_by_the_next_hub_and_is_the_users_alone(tmp_path: Path) -> None:
    clock = SetClock()
    kept, first = result(clock), store(tmp_path, clock)
    first.save(kept, [[b"a", b"bc"]])
    for each in (first, store(tmp_path, clock)):
        assert each.find(kept.handle) == kept
        assert each.data(kept).read_bytes() == b"abc"
    assert first.find("another") is None
    if sys.platform != "win32":
        assert stat.S_IMODE((tmp_path / "results").stat().st_mode) == 0o700
        assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "results").iterdir()} == {0o600}


def test_after_a_day_it_is_gone(tmp_path: Path) -> None:
    clock = SetClock()
    kept, first = result(clock), store(tmp_path, clock)
    first.save(kept, [[b"abc"]])
    clock.now += KEPT_FOR_S
    assert first.find(kept.handle) is None
    assert list((tmp_path / "results").iterdir())
    store(tmp_path, clock)
    assert not list((tmp_path / "results").iterdir())


def test_the_oldest_make_room(tmp_path: Path) -> None:
    clock = SetClock()
    kept, first = [result(clock, 40) for _ in range(3)], store(tmp_path, clock)
    for each in kept:
        first.save(each, [[b"x" * 40]])
    assert [first.find(each.handle) is not None for each in kept] == [False, True, True]
    with pytest.raises(NoRoom):
        first.save(result(clock, 101), [[b"x" * 101]])
    assert len(list((tmp_path / "results").iterdir())) == 4


def test_what_was_being_written_when_the_hub_was_killed_is_forgotten(tmp_path: Path) -> None:
    clock = SetClock()
    kept, first = [result(clock) for _ in range(4)], store(tmp_path, clock)
    for each in kept:
        first.save(each, [[b"abc"]])
    (tmp_path / "results" / f"{kept[3].handle}.json").rename(tmp_path / "results" / "r0.json")
    first.data(kept[3]).rename(tmp_path / "results" / "r0.data")
    (tmp_path / "results" / f"{kept[0].handle}.json").unlink()
    first.data(kept[1]).write_bytes(b"ab")
    (tmp_path / "results" / f"{kept[2].handle}.json").write_bytes(b"{")
    assert all(store(tmp_path, clock).find(each.handle) is None for each in kept)
    assert not list((tmp_path / "results").iterdir())


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    clock = SetClock()
    kept, first = result(clock, 9000), store(tmp_path, clock, most_bytes=10_000)
    with full_disk(), pytest.raises(OSError, match="File too large"):
        first.save(kept, [[b"x" * 9000]])
    (tmp_path / "results" / f"{kept.handle}{DESCRIPTION}").touch()
    with pytest.raises(FileExistsError):
        first.save(kept, [[b"x"]])
    assert first.find(kept.handle) is None
    assert not list((tmp_path / "results").iterdir())


def test_what_cannot_be_removed_is_no_longer_found(tmp_path: Path) -> None:
    clock = SetClock()
    kept, first = result(clock), store(tmp_path, clock)
    first.save(kept, [[b"abc"]])
    first.data(kept).unlink()
    first.data(kept).mkdir()
    clock.now += KEPT_FOR_S
    first.sweep()
    assert first.find(kept.handle) is None


def test_results_that_are_written_at_the_same_moment_leave_room_for_each_other(tmp_path: Path) -> None:
    clock, together = SetClock(), threading.Barrier(4)
    first = store(tmp_path, clock)

    def data() -> Iterator[bytes]:
        yield b"x" * 40
        together.wait(10)

    kept = [result(clock, 40) for _ in range(4)]
    threads = [threading.Thread(target=first.save, args=(each, [data()])) for each in kept]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert sum(path.stat().st_size for path in (tmp_path / "results").glob("*.data")) == 80
    assert len([each for each in kept if first.find(each.handle)]) == 2


async def test_results_go_after_their_day_in_a_hub_that_goes_on(tmp_path: Path) -> None:
    clock, looked, slept = SetClock(), asyncio.Event(), list[float]()
    store = ResultStore(tmp_path / "results", most_bytes=lambda: 100, now=clock)
    about = KeptResult(new_handle(), "o", "", "s", "t", 500, clock(), (KeptPart("text", "text"),))
    store.save(about, [[b"abc"]])
    clock.now += KEPT_FOR_S

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 2:
            looked.set()
            await asyncio.Event().wait()

    tasks = TaskKeeper()
    tasks.spawn(sweep_hourly(store, sleep=sleep), name="sweep")
    assert list((tmp_path / "results").iterdir())
    await asyncio.wait_for(looked.wait(), 5)
    assert not list((tmp_path / "results").iterdir())
    await tasks.close()
