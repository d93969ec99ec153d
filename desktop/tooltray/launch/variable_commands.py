"""Variables whose value a shell command of the person's gives, each time a server starts.

Above it: ServerManager. Below it: the shell. What a command prints may be a secret: it stands in no log and no error, and neither does the
command, which may hold one, but for its first word.
"""

import asyncio
import contextlib
import os
import shlex
import signal
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Mapping

from tooltray.errors import TooltrayError

TIMEOUT_S = 30.0  # a password manager may ask the person first; other hubs give as long
MOST_OUTPUT_BYTES = 1024 * 1024  # what a variable of a process can hold at most on Linux is less
READ_BYTES = 64 * 1024
SHELL = "/bin/sh"


async def values_of(commands: Mapping[str, str], *, environ: Mapping[str, str], cwd: str, timeout_s: float = TIMEOUT_S) -> dict[str, str]:
    """What the commands print, without the white space around it, by the names of the variables.

    Args:
        commands: by the names of the variables; run one after the other.
        environ: the whole environment of each.
        cwd: absolute folder in which they run.
        timeout_s: for each.

    Raises:
        TooltrayError: one of them fails, prints too much, or takes too long; says which by its first word.
    """
    return {name: await _value(command, environ, cwd, timeout_s) for name, command in commands.items()}


async def _value(command: str, environ: Mapping[str, str], cwd: str, timeout_s: float) -> str:
    read_end, write_end = os.pipe()
    try:
        try:
            process = await _started(command, environ, cwd, write_end)
        finally:
            os.close(write_end)
        is_over = False
        try:
            async with asyncio.timeout(timeout_s):
                output = await _read(read_end)
                exit_code = await process.wait()
                is_over = True
        finally:
            if not is_over:
                await _end(process)
    except TimeoutError:
        raise _failed(command, f"it took more than {timeout_s:g} s") from None
    except OSError as error:
        raise _failed(command, error.strerror or "it could not be run") from None
    finally:
        os.close(read_end)
    if exit_code:
        raise _failed(command, f"it ended with code {exit_code}")
    if len(output) > MOST_OUTPUT_BYTES or b"\0" in output:
        raise _failed(command, "it printed what no variable can hold")
    return output.decode("utf-8", "replace").strip()


async def _started(command: str, environ: Mapping[str, str], cwd: str, output: int) -> Process:
    if sys.platform == "win32":  # pragma: no cover - one branch per platform
        return await asyncio.create_subprocess_shell(command, stdin=DEVNULL, stdout=output, stderr=DEVNULL, cwd=cwd, env=environ)
    return await asyncio.create_subprocess_exec(
        *(SHELL, "-c", command), stdin=DEVNULL, stdout=output, stderr=DEVNULL, cwd=cwd, env=environ, start_new_session=True
    )


async def _end(process: Process) -> None:
    """A command goes with all that it started, which may be what holds its output open while the shell has ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS says the latter of a group that has just ended
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


async def _read(descriptor: int) -> bytes:
    """Until its end, or until it is too much."""
    loop = asyncio.get_running_loop()
    output, is_complete = bytearray(), asyncio.Event()

    def on_readable() -> None:
        chunk = os.read(descriptor, READ_BYTES)
        output.extend(chunk)
        if not chunk or len(output) > MOST_OUTPUT_BYTES:
            is_complete.set()
            loop.remove_reader(descriptor)

    loop.add_reader(descriptor, on_readable)
    try:
        await is_complete.wait()
    finally:
        loop.remove_reader(descriptor)
    return bytes(output)


def _failed(command: str, why: str) -> TooltrayError:
    title = f"The command '{first_word(command)}' gave no value for a variable"
    return TooltrayError(title, why, "Run it in a terminal to see why, or correct it in the server's file.")


def first_word(command: str) -> str:
    """By which a person recognises a command; what stands behind it may be a secret."""
    try:
        words = shlex.split(command)
    except ValueError:  # a quotation that does not end
        words = command.split()
    word = next((word for word in words if "=" not in word), "")
    return os.path.basename("".join(character for character in word if character.isprintable()))
