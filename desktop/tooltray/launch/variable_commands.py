"""Variables whose value a shell command of the person's gives, each time a server starts.

Above it: ServerManager. Below it: the shell. What a command prints may be a secret: it stands in no log and no error, and neither does the
command, which may hold one, but for its first word.
"""

import asyncio
import os
import shlex
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from functools import partial

from tooltray.errors import TooltrayError
from tooltray.launch.process_family import START_OPTIONS, ProcessFamily

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
    try:
        process = await _started(command, environ, cwd)
        family, is_over = ProcessFamily(process.pid), False
        try:
            async with asyncio.timeout(timeout_s):
                assert process.stdout is not None
                output = await _read(process.stdout)
                exit_code = await process.wait()
                is_over = True
        finally:
            if not is_over:  # what it started goes with it, which may be what holds its output open while the shell has ended
                family.kill()
                await process.wait()
    except TimeoutError:
        raise _failed(command, f"it took more than {timeout_s:g} s") from None
    except OSError as error:
        raise _failed(command, error.strerror or "it could not be run") from None
    if exit_code:
        raise _failed(command, f"it ended with code {exit_code}")
    if len(output) > MOST_OUTPUT_BYTES or b"\0" in output:
        raise _failed(command, "it printed what no variable can hold")
    return output.decode("utf-8", "replace").strip()


async def _started(command: str, environ: Mapping[str, str], cwd: str) -> Process:
    start = partial(asyncio.create_subprocess_exec, SHELL, "-c") if sys.platform != "win32" else asyncio.create_subprocess_shell
    return await start(command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, cwd=cwd, env=environ, **START_OPTIONS)


async def _read(output: asyncio.StreamReader) -> bytes:
    """Until its end, or until it is too much."""
    read = bytearray()
    while len(read) <= MOST_OUTPUT_BYTES and (chunk := await output.read(READ_BYTES)):
        read += chunk
    return bytes(read)


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
