"""Tasks that are kept, whose failures are heard, and that end together."""

import asyncio
import gc
import logging
import threading
from functools import partial

import pytest
from tests.fakes.fake_clock import in_fake_time

from tooltray.foundation.tasks import SLICE, TaskKeeper, end_in_turn, finish, finish_in_thread, in_slices


@in_fake_time
async def test_a_task_is_kept_while_it_runs_and_let_go_when_it_is_done() -> None:
    keeper, go = TaskKeeper(), asyncio.Event()
    task = keeper.spawn(go.wait(), name="waits")
    assert (len(keeper), task.get_name()) == (1, "waits")
    go.set()
    assert await task is True
    assert len(keeper) == 0


@in_fake_time
async def test_a_task_that_nobody_else_refers_to_is_not_collected() -> None:
    keeper, done = TaskKeeper(), asyncio.Event()

    async def work() -> None:
        waiter = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(1, waiter.set_result, None)
        await waiter
        done.set()

    keeper.spawn(work(), name="work")
    await asyncio.sleep(0)
    gc.collect()
    await done.wait()


@pytest.mark.expected_warnings("task 'fails' failed")
@in_fake_time
async def test_a_failure_is_logged_with_its_trace(caplog: pytest.LogCaptureFixture) -> None:
    keeper = TaskKeeper()

    async def fail() -> None:
        raise KeyError("oops")

    with caplog.at_level(logging.ERROR):
        await asyncio.wait({keeper.spawn(fail(), name="fails")})
    (record,) = caplog.records
    assert record.exc_info
    assert isinstance(record.exc_info[1], KeyError)
    assert len(keeper) == 0


@in_fake_time
async def test_a_cancelled_task_is_no_failure() -> None:
    keeper = TaskKeeper()
    task = keeper.spawn(asyncio.sleep(100), name="sleeps")
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    assert len(keeper) == 0


@in_fake_time
async def test_closing_waits_for_the_last_words_of_every_task() -> None:
    keeper, said = TaskKeeper(), []

    async def work(name: str) -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            await asyncio.sleep(1)
            said.append(name)

    for name in ("a", "b"):
        keeper.spawn(work(name), name=name)
    await asyncio.sleep(0)
    await keeper.close()
    assert (sorted(said), len(keeper)) == (["a", "b"], 0)


@in_fake_time
async def test_closing_ends_also_what_is_spawned_meanwhile() -> None:
    keeper, ended = TaskKeeper(), []

    async def work(depth: int) -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            if depth:
                keeper.spawn(work(depth - 1), name="another")
                await asyncio.sleep(0)
            ended.append(depth)

    keeper.spawn(work(2), name="first")
    await asyncio.sleep(0)
    await keeper.close()
    assert (sorted(ended), len(keeper)) == ([0, 1, 2], 0)


@in_fake_time
async def test_a_task_may_close_the_keeper_it_belongs_to() -> None:
    keeper = TaskKeeper()
    other = keeper.spawn(asyncio.sleep(1000), name="other")
    await keeper.spawn(keeper.close(), name="closes")
    assert other.cancelled()
    assert len(keeper) == 0


@in_fake_time
async def test_closing_an_empty_keeper_does_nothing() -> None:
    await TaskKeeper().close()


async def test_what_is_written_in_a_thread_gives_its_result_or_its_error() -> None:
    assert await finish_in_thread(sorted, [2, 1], reverse=True) == [2, 1]
    with pytest.raises(ZeroDivisionError):
        await finish_in_thread(divmod, 1, 0)


@pytest.mark.expected_warnings("a task that had to be finished failed")
@pytest.mark.parametrize("fails", [False, True])
async def test_who_is_cancelled_while_a_thread_writes_waits_until_it_has_written(fails: bool, caplog: pytest.LogCaptureFixture) -> None:
    is_writing, may_end, written = threading.Event(), threading.Event(), []

    def write() -> None:
        is_writing.set()
        may_end.wait(20)
        written.append("all of it")
        if fails:
            raise OSError("the disk is full")

    keeper = TaskKeeper()
    task = keeper.spawn(finish_in_thread(write), name="write")
    await asyncio.to_thread(is_writing.wait, 20)
    closing = asyncio.ensure_future(keeper.close())
    await asyncio.sleep(0)
    assert not task.done()
    may_end.set()
    await closing
    assert written == ["all of it"]
    assert task.cancelled()
    assert ("the disk is full" in caplog.text) is fails


async def test_who_is_cancelled_waits_for_a_task_that_is_to_be_finished() -> None:
    may_end, done = asyncio.Event(), []

    async def work() -> None:
        await may_end.wait()
        done.append("all of it")

    keeper = TaskKeeper()
    task = keeper.spawn(finish(work()), name="work")
    await asyncio.sleep(0)
    closing = asyncio.ensure_future(keeper.close())
    for _ in range(3):
        await asyncio.sleep(0)
    assert not task.done()
    may_end.set()
    await closing
    assert (done, task.cancelled()) == (["all of it"], True)


@pytest.mark.expected_warnings("did not end cleanly")
async def test_parts_end_in_turn_and_a_bug_in_one_keeps_none_alive() -> None:
    ended = []

    async def end(name: str) -> None:
        ended.append(name)
        if name == "broken":
            raise RuntimeError(name)

    await end_in_turn(*(partial(end, name) for name in ("first", "broken", "last")))
    assert ended == ["first", "broken", "last"]


@in_fake_time
async def test_a_long_list_is_dealt_with_in_slices_between_which_others_get_their_turn() -> None:
    others: list[int] = []
    done: list[int] = []

    async def other() -> None:
        while True:
            others.append(len(done))
            await asyncio.sleep(0)

    keeper = TaskKeeper()
    keeper.spawn(other(), name="other")
    assert await in_slices(lambda item: done.append(item) or 2 * item, range(3 * SLICE + 1)) == [2 * item for item in range(3 * SLICE + 1)]
    assert others == [SLICE, 2 * SLICE, 3 * SLICE]
    await keeper.close()


async def test_closing_in_the_moment_in_which_a_task_has_just_ended() -> None:
    keeper = TaskKeeper()
    keeper.spawn(asyncio.sleep(0, "done"), name="short")
    await asyncio.sleep(0)
    await asyncio.sleep(0)  # the task has ended, and its callbacks have not run yet
    assert len(keeper) == 1
    await keeper.close()
    assert len(keeper) == 0
