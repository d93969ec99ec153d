import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from tooltray.secrets.secret_worker import SecretWorker

LONG_S = 10.0
LONGER_S = 60.0
AT_ONCE_S = 0.01


@pytest.fixture
async def worker() -> AsyncIterator[SecretWorker]:
    worker = SecretWorker()
    yield worker
    await worker.close()


async def run(worker: SecretWorker, gate: threading.Event) -> bool:
    return await worker.run(lambda: gate.wait(LONGER_S), timeout_s=AT_ONCE_S)


async def test_all_calls_run_on_one_daemon_thread_in_order(worker: SecretWorker) -> None:
    order: list[int] = []

    def call(number: int) -> threading.Thread:
        order.append(number)
        return threading.current_thread()

    threads = await asyncio.gather(*(worker.run(lambda number=number: call(number), timeout_s=LONG_S) for number in range(20)))  # type: ignore[misc]
    assert order == list(range(20))
    (thread,) = set(threads)
    assert thread is not threading.main_thread()
    assert thread.daemon


async def test_what_a_call_raises_is_raised(worker: SecretWorker) -> None:
    with pytest.raises(ZeroDivisionError):
        await worker.run(lambda: 1 // 0, timeout_s=LONG_S)
    assert await worker.run(lambda: 1, timeout_s=LONG_S) == 1


async def test_a_call_that_blocks_costs_its_caller_a_bounded_time_and_later_calls_run_when_it_ends(worker: SecretWorker) -> None:
    gate = threading.Event()
    with pytest.raises(TimeoutError):
        await run(worker, gate)
    later = asyncio.get_running_loop().create_task(worker.run(lambda: "later", timeout_s=LONG_S))
    await asyncio.sleep(0)
    gate.set()
    assert await later == "later"


async def test_a_call_whose_caller_has_gone_is_dropped_if_it_has_not_begun(worker: SecretWorker) -> None:
    gate, ran = threading.Event(), []
    with pytest.raises(TimeoutError):
        await run(worker, gate)
    with pytest.raises(TimeoutError):
        await worker.run(lambda: ran.append("dropped"), timeout_s=AT_ONCE_S)
    gate.set()
    await worker.run(lambda: ran.append("wanted"), timeout_s=LONG_S)
    assert ran == ["wanted"]


async def test_closing_ends_the_thread_and_a_later_call_starts_another(worker: SecretWorker) -> None:
    first = await worker.run(threading.current_thread, timeout_s=LONG_S)
    await worker.close()
    await worker.close()
    assert not first.is_alive()
    second = await worker.run(threading.current_thread, timeout_s=LONG_S)
    assert second is not first


async def test_closing_does_not_wait_for_a_prompt_and_what_is_asked_later_is_answered(worker: SecretWorker) -> None:
    gate = threading.Event()
    with pytest.raises(TimeoutError):
        await run(worker, gate)
    await worker.close()
    try:
        assert await worker.run(lambda: "answered", timeout_s=LONG_S) == "answered"
    finally:
        gate.set()


async def test_a_caller_that_is_cancelled_in_the_moment_of_the_result_is_cancelled(worker: SecretWorker) -> None:
    has_answered = threading.Event()
    caller = asyncio.get_running_loop().create_task(worker.run(lambda: "too late", timeout_s=LONG_S))
    behind = asyncio.get_running_loop().create_task(worker.run(has_answered.set, timeout_s=LONG_S))
    await asyncio.sleep(0)
    assert has_answered.wait(LONGER_S)  # the first result is on its way into this loop
    await asyncio.sleep(0)  # and has arrived; the caller has not gone on yet
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await behind
