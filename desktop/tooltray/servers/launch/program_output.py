"""What a program of the person's prints, with nobody there to answer it: no input, no terminal, an end after so many seconds.

Above it: the commands that give variables, and the providers of secrets. Below it: process_family. What it prints may be a secret, and what
it says on stderr may repeat one: that is thrown away.
"""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Coroutine, Mapping, Sequence
from typing import ClassVar

from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.tasks import finish
from tooltray.servers.launch.process_family import START_OPTIONS, ProcessFamily

READ_BYTES = 64 * 1024
KILLED_WITHIN_S = 2.0  # a process is gone within milliseconds; the end of its output, for which asyncio waits besides, may never come
SHELL = "/bin/sh"


class Printed(HidesFields, frozen=True):
    """
    Attributes:
        code: with which it ended; negative for a signal.
        output: what it printed, one byte more than was asked for at most.
    """

    hidden: ClassVar = ("output",)

    code: int
    output: bytes


async def printed_by(command: str | Sequence[str], *, environ: Mapping[str, str], cwd: str, timeout_s: float, most_bytes: int) -> Printed:
    """
    Args:
        command: a line for the shell, or a program with its arguments; it is looked for on the PATH of `environ`.
        environ: its whole environment.
        most_bytes: what it prints beyond that ends it.

    Raises:
        TimeoutError: it took longer; it has been ended, with all that it started.
        OSError: it cannot be run.
    """
    process = await started(_start(command, environ, cwd))
    family, is_over = ProcessFamily(process.pid), False
    try:
        async with asyncio.timeout(timeout_s):
            assert process.stdout is not None
            output = await _read(process.stdout, most_bytes)
            code = await process.wait() if len(output) <= most_bytes else 0
            is_over = len(output) <= most_bytes
    finally:
        if not is_over:  # what it started goes with it, which may be what holds its output open while it has ended itself
            family.kill()
            await killed(process)
    return Printed(code, output)


async def started(start: Coroutine[object, None, Process]) -> Process:
    """The process that is being started, with START_OPTIONS; whoever is cancelled meanwhile leaves nothing of it behind.

    asyncio by itself ends it alone then, and waits for the end of its output, which a child of it may hold open for ever.

    Raises:
        OSError: it cannot be run.
    """
    process: Process | None = None

    async def begin() -> None:
        nonlocal process
        process = await start

    try:
        await finish(begin())
    except asyncio.CancelledError:
        if process is not None:
            ProcessFamily(process.pid).kill()
            await killed(process)
        raise
    assert process is not None
    return process


async def killed(process: Process) -> None:
    """Waits for the end of a process that was killed with its family. What has left the family may hold its output open for ever."""
    try:
        async with asyncio.timeout(KILLED_WITHIN_S):
            await process.wait()
    except TimeoutError:
        process._transport.close()  # type: ignore[attr-defined]  # there is no public way


async def _start(command: str | Sequence[str], environ: Mapping[str, str], cwd: str) -> Process:
    if isinstance(command, str) and sys.platform == "win32":
        return await asyncio.create_subprocess_shell(
            command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, cwd=cwd, env=environ, **START_OPTIONS
        )
    words = (SHELL, "-c", command) if isinstance(command, str) else tuple(command)
    return await asyncio.create_subprocess_exec(*words, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, cwd=cwd, env=environ, **START_OPTIONS)


async def _read(output: asyncio.StreamReader, most_bytes: int) -> bytes:
    """Until its end, or until it is too much."""
    read = bytearray()
    while len(read) <= most_bytes and (chunk := await output.read(READ_BYTES)):
        read += chunk
    return bytes(read[: most_bytes + 1])
