"""event_loop.py"""

import asyncio
import os
import threading

from tooltray.foundation.event_loop import ROUNDS_WITHOUT_NEWS, new_event_loop


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
