"""result_ends.py: a result goes after its day, although no other one is kept and the hub goes on."""

import asyncio
from pathlib import Path

from tests.fakes.set_clock import SetClock

from tooltray.foundation.tasks import TaskKeeper
from tooltray.gateway.kept_results.result_ends import ResultEnds
from tooltray.gateway.kept_results.result_store import KEPT_FOR_S, KeptPart, KeptResult, ResultStore, new_handle


async def test_results_go_after_their_day_in_a_hub_that_goes_on(tmp_path: Path) -> None:
    clock, looked, slept = SetClock(), asyncio.Event(), list[float]()
    store = ResultStore(tmp_path / "results", most_bytes=lambda: 100, now=clock)
    about = KeptResult(new_handle(), "o", "", "s", "t", 500, clock(), (KeptPart("text", "text"),))
    store.keep(about, [[b"abc"]])
    clock.now += KEPT_FOR_S

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 2:
            looked.set()
            await asyncio.Event().wait()

    tasks = TaskKeeper()
    ResultEnds(store=store, spawn=tasks.spawn, sleep=sleep).start()
    assert list((tmp_path / "results").iterdir())
    await asyncio.wait_for(looked.wait(), 5)
    assert not list((tmp_path / "results").iterdir())
    await tasks.close()
