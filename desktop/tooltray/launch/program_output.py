"""What a program of the person's prints, with nobody there to answer it: no input, no terminal, an end after so many seconds.

Above it: the commands that give variables, and the providers of secrets. Below it: process_family. What it prints may be a secret, and what
it says on stderr may repeat one: that is thrown away.
"""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar

from tooltray.hidden_fields import HidesFields
from tooltray.launch.process_family import START_OPTIONS, ProcessFamily

READ_BYTES = 64 * 1024
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
    process = await _started(command, environ, cwd)
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
            await process.wait()
    return Printed(code, output)


async def _started(command: str | Sequence[str], environ: Mapping[str, str], cwd: str) -> Process:
    words = (SHELL, "-c", command) if isinstance(command, str) else tuple(command)
    start: Callable[..., Awaitable[Process]] = partial(asyncio.create_subprocess_exec, *words)
    if isinstance(command, str) and sys.platform == "win32":
        start = partial(asyncio.create_subprocess_shell, command)
    return await start(stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, cwd=cwd, env=environ, **START_OPTIONS)


async def _read(output: asyncio.StreamReader, most_bytes: int) -> bytes:
    """Until its end, or until it is too much."""
    read = bytearray()
    while len(read) <= most_bytes and (chunk := await output.read(READ_BYTES)):
        read += chunk
    return bytes(read[: most_bytes + 1])
