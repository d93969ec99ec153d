"""Waits for the end of any process, not only of a child, without looking again and again. Linux."""

import asyncio
import os

PATIENCE_S = 20.0


async def end_of(pid: int) -> None:
    """Returns when there is no such process any more, or only what is left of it until its parent looks."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(handle, ended.set)
    try:
        async with asyncio.timeout(PATIENCE_S):
            await ended.wait()
    finally:
        loop.remove_reader(handle)
        os.close(handle)
