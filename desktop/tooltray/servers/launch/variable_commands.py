"""Variables whose value a shell command of the person's gives, each time a server starts.

Above it: ServerManager. Below it: program_output. What a command prints may be a secret: it stands in no log and no error, and neither does
the command, which may hold one, but for its first word.
"""

import os
import shlex
from collections.abc import Mapping

from tooltray.foundation.errors import TooltrayError
from tooltray.servers.launch.program_output import printed_by

TIMEOUT_S = 30.0  # a password manager may ask the person first; other hubs give as long
MOST_OUTPUT_BYTES = 1024 * 1024  # what a variable of a process can hold at most on Linux is less


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
        printed = await printed_by(command, environ=environ, cwd=cwd, timeout_s=timeout_s, most_bytes=MOST_OUTPUT_BYTES)
    except TimeoutError:
        raise _failed(command, f"it took more than {timeout_s:g} s") from None
    except OSError as error:
        raise _failed(command, error.strerror or "it could not be run") from None
    if printed.code:
        raise _failed(command, f"it ended with code {printed.code}")
    if len(printed.output) > MOST_OUTPUT_BYTES or b"\0" in printed.output:
        raise _failed(command, "it printed what no variable can hold")
    return printed.output.decode("utf-8", "replace").strip()


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
