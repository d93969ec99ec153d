"""Reads the output of one of the user's programs, which runs without input or a terminal and for a limited time. The output may be a
secret, and stderr may repeat it, so stderr is thrown away."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Coroutine, Mapping, Sequence
from typing import ClassVar

from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.tasks import finish
from tooltray.servers.launch.process_family import START_OPTIONS, ProcessFamily

READ_BYTES = 64 * 1024
KILLED_WITHIN_S = 2.0  # a process is gone within milliseconds; the end of its output, for which asyncio also waits, may never come
SHELL = "/bin/sh"


class Printed(HidesFields, frozen=True):
    """The output of a program.

    Attributes:
        code: its exit code; negative for a signal.
        output: at most one byte more than the limit.
    """

    hidden: ClassVar = ("output",)

    code: int
    output: bytes


async def printed_by(command: str | Sequence[str], *, environ: Mapping[str, str], cwd: str, timeout_s: float, most_bytes: int) -> Printed:
    """Runs a command to its end and returns what it prints.

    Args:
        command: a line for the shell, or a program with its arguments; it is searched on the PATH of `environ`.
        environ: its whole environment.
        most_bytes: a command that prints more is ended.

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
        if not is_over:  # its children end too: one of them may hold its output open after its own end
            family.kill()
            await killed(process)
    return Printed(code, output)


async def started(start: Coroutine[object, None, Process]) -> Process:
    """Waits for a process that is being started with START_OPTIONS; a caller that is cancelled meanwhile leaves no process behind.

    asyncio would then end only the process itself, and wait for the end of its output, which a child of the process may hold open for ever.

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
    """Waits for the end of a process that was killed with its family. A process that has left the family may hold the output open."""
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
    """Reads until the end of the output, or until the output is too large."""
    read = bytearray()
    while len(read) <= most_bytes and (chunk := await output.read(READ_BYTES)):
        read += chunk
    return bytes(read[: most_bytes + 1])
