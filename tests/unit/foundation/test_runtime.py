"""runtime.py"""

import asyncio
import gc
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tooltray.foundation import runtime
from tooltray.foundation.runtime import (
    MANY,
    ROUNDS_WITHOUT_NEWS,
    freeze_if_large,
    is_fatal,
    log_loop_exception,
    logging_uncaught,
    new_event_loop,
    reporting_uncaught,
)

PROGRAM = """
import resource, sys
from tooltray.foundation.runtime import return_large_blocks

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

return_large_blocks()
before, small = resident(), []
for _ in range(4):
    blocks = []
    for _ in range(20):
        blocks.append(b"x" * 8_000_000)
        small.append(bytearray(2000))  # would keep the heap below it
    del blocks
print((resident() - before) // 1_000_000)
"""


def test_what_comes_in_is_heard_of_although_callbacks_never_stop() -> None:
    async def wait() -> int:
        reading, writing = os.pipe()
        loop, heard, turns = asyncio.get_running_loop(), asyncio.Event(), 0
        loop.add_reader(reading, heard.set)
        os.write(writing, b"x")
        while not heard.is_set():
            turns += 1
            await asyncio.sleep(0)
        loop.remove_reader(reading)
        os.close(reading)
        os.close(writing)
        return turns

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        assert 1 <= runner.run(wait()) <= 2 * ROUNDS_WITHOUT_NEWS + 2


def test_timers_threads_and_cancellation_work_as_in_any_loop() -> None:
    async def work() -> list[str]:
        loop, done = asyncio.get_running_loop(), asyncio.Event()
        done_by: list[str] = []
        loop.call_later(0.001, done_by.append, "timer")
        thread = threading.Thread(target=lambda: loop.call_soon_threadsafe(done.set))
        thread.start()
        await done.wait()
        done_by.append(await asyncio.to_thread(lambda: "thread"))
        try:
            async with asyncio.timeout(0.005):
                await loop.create_future()
        except TimeoutError:
            done_by.append("timeout")
        thread.join()
        return done_by

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        assert sorted(runner.run(work())) == ["thread", "timeout", "timer"]


@pytest.mark.skipif(sys.platform != "linux", reason="the allocator of glibc")
def test_large_blocks_go_back_to_the_system() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 20


@pytest.mark.parametrize(("count", "is_left_out"), [(MANY - 1, False), (MANY, True)])
def test_what_a_long_list_holds_is_left_out_of_full_passes(count: int, is_left_out: bool) -> None:
    before = gc.get_freeze_count()
    made = [[] for _ in range(count)]
    try:
        freeze_if_large(len(made))
        assert (gc.get_freeze_count() >= before + count) is is_left_out
    finally:
        gc.unfreeze()


def fail() -> None:
    raise ZeroDivisionError("seven")


async def turns() -> None:
    """What was to happen in the loop by itself has happened."""
    for _ in range(5):
        await asyncio.sleep(0)


def in_thread(work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work, name="doomed")
    thread.start()
    thread.join()


class Ends(list[None]):
    """Counts how often the program was to end."""

    def __call__(self) -> None:
        self.append(None)


@pytest.mark.expected_warnings("doomed")
async def test_a_thread_that_dies_ends_the_program(caplog: pytest.LogCaptureFixture) -> None:
    ends = Ends()
    with reporting_uncaught(ends):
        await asyncio.to_thread(in_thread, fail)
        await turns()
    assert len(ends) == 1
    assert "the thread 'doomed' has died" in caplog.text
    assert "in fail" in caplog.text


async def test_a_thread_that_ends_itself_is_no_news() -> None:
    ends = Ends()
    with reporting_uncaught(ends):
        in_thread(sys.exit)
        await turns()
    assert ends == []


@pytest.mark.expected_warnings("a thread without a name")
async def test_a_thread_that_is_gone_already_is_logged_all_the_same() -> None:
    with reporting_uncaught(Ends()):
        error = ZeroDivisionError("a thread without a name")
        threading.excepthook(threading.ExceptHookArgs((type(error), error, None, None)))
        await turns()


@pytest.mark.expected_warnings("Exception in callback")
async def test_a_callback_that_fails_ends_the_program(caplog: pytest.LogCaptureFixture) -> None:
    ends = Ends()
    with reporting_uncaught(ends):
        asyncio.get_running_loop().call_soon(fail)
        await turns()
    assert len(ends) == 1
    assert "in fail" in caplog.text


@pytest.mark.expected_warnings("Exception in callback")
async def test_one_that_fails_again_and_again_does_not_fill_the_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "MOST_REPORTED", 2)
    ends = Ends()
    with reporting_uncaught(ends):
        for _ in range(5):
            asyncio.get_running_loop().call_soon(fail)
        await turns()
    assert (len(ends), len(caplog.records)) == (5, 2)


@pytest.mark.expected_warnings("Exception in callback")
async def test_a_callback_of_a_library_is_logged_and_no_more(caplog: pytest.LogCaptureFixture) -> None:
    ends = Ends()
    with reporting_uncaught(ends):
        asyncio.get_running_loop().call_soon(json.loads, "{")
        await turns()
    assert ends == []
    assert "JSONDecodeError" in caplog.text


@pytest.mark.expected_warnings("never retrieved")
async def test_a_task_that_nobody_asks_for_its_error_is_logged_and_no_more(caplog: pytest.LogCaptureFixture) -> None:
    ends = Ends()

    async def work() -> None:
        fail()

    with reporting_uncaught(ends):
        task = asyncio.ensure_future(work())
        await turns()
        del task
        gc.collect()
        await turns()
    assert ends == []
    assert "in fail" in caplog.text


@pytest.mark.expected_warnings("finalizer", "Exception ignored")
async def test_an_error_in_a_finalizer_is_logged_and_no_more(caplog: pytest.LogCaptureFixture) -> None:
    class Doomed:
        def __del__(self) -> None:
            fail()

    ends = Ends()
    with reporting_uncaught(ends):
        doomed = Doomed()
        del doomed
        gc.collect()
        await turns()
    assert ends == []
    assert "in fail" in caplog.text


@pytest.mark.expected_warnings("nothing caught")
async def test_the_hooks_of_before_are_there_again_and_the_main_threads_error_ends_the_program() -> None:
    def hooks() -> tuple[Any, ...]:
        return sys.excepthook, threading.excepthook, sys.unraisablehook, asyncio.get_running_loop().get_exception_handler()

    before, ends = hooks(), Ends()
    with reporting_uncaught(ends):
        sys.excepthook(ZeroDivisionError, ZeroDivisionError("seven"), None)
        await turns()
    assert hooks() == before
    assert len(ends) == 1


@pytest.mark.expected_warnings("doomed")
def test_after_the_loops_end_it_is_logged() -> None:
    hooks: list[Any] = []

    async def run() -> None:
        with reporting_uncaught(Ends()):
            hooks.append(threading.excepthook)

    asyncio.run(run())
    error = ZeroDivisionError("doomed")
    hooks[0](threading.ExceptHookArgs((type(error), error, None, None)))


@pytest.mark.expected_warnings("doomed")
def test_where_nothing_ends_the_program_it_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with logging_uncaught():
        in_thread(fail)
    assert "in fail" in caplog.text


@pytest.mark.expected_warnings("asyncio reports an error", "a task is gone")
async def test_a_report_without_an_error_is_logged_with_whom_it_is_about(caplog: pytest.LogCaptureFixture) -> None:
    loop = asyncio.get_running_loop()
    log_loop_exception(loop, {})
    log_loop_exception(loop, {"message": "a task is gone", "task": "its name"})
    assert [record.getMessage() for record in caplog.records] == ["asyncio reports an error", "a task is gone ('its name')"]
    assert not is_fatal({"handle": object()})
