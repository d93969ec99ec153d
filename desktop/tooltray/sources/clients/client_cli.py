"""Changes made by a client's own command, such as `claude mcp add-json`: bounded, without a shell, and only while the client runs.

A client that runs has its file in memory and may write it at any time; its
own command is made for that. The file of a client that does not run is changed by Tooltray, which keeps every byte.
"""

import asyncio
import json
import logging
import os
import shutil
from asyncio.subprocess import DEVNULL
from collections.abc import Mapping, Sequence

from tooltray.foundation.files.member_change import MISSING
from tooltray.servers.launch.process_family import START_OPTIONS, ProcessFamily
from tooltray.sources.clients.client_look import ClientLook
from tooltray.sources.clients.file_edits import FileEdit

logger = logging.getLogger(__name__)
TIMEOUT_S = 10.0  # such a command takes one to three seconds; the user waits for it


def command_for(edit: FileEdit, look: ClientLook) -> tuple[str, ...]:
    """Returns the client's own command for an edit, with the path of its program; empty: the file is written instead."""
    kind = edit.kind
    if kind.way != "command" or len(edit.changes) != 1 or edit.text == (edit.document.text if edit.document else ""):
        return ()
    place, content = edit.changes[0].place, edit.changes[0].content
    own = look.places.files(kind)
    is_users = bool(own) and own[0].path == edit.path and place[:-1] in kind.places
    words = kind.command.remove if content is MISSING else kind.command.add
    if edit.action == "mend" or not words or not is_users or look.places.is_running(kind) is False:
        return ()
    program = shutil.which(words[0], path=look.places.environ.get("PATH", ""))
    return (os.path.abspath(program), *filled_in(words[1:], place[-1], content)) if program else ()


def filled_in(words: Sequence[str], name: str, content: object) -> list[str]:
    """Returns the words of a command with the values in the place of `{name}`, `{json}`, `{named_json}` and `{words}`."""
    entry = dict(content) if isinstance(content, Mapping) else {}
    line = [str(entry.get("command", "")), *map(str, entry.get("args", ()))]
    filled: list[str] = []
    for word in words:
        if word == "{words}":
            filled += line
            continue
        texts = {"{name}": name, "{json}": json.dumps(entry), "{named_json}": json.dumps({"name": name, **entry})}
        filled.append(texts.get(word, word))
    return filled


async def run(command: Sequence[str], environ: Mapping[str, str], *, cwd: str, timeout_s: float = TIMEOUT_S) -> bool:
    """Runs a command to its end, without its output; returns whether it has reported success.

    Args:
        environ: the whole environment.
        cwd: the folder in which it runs; not that of a project, which the command would take for its own.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, cwd=cwd, env=environ, **START_OPTIONS
        )
    except OSError as error:
        logger.info("%s could not be started: %s", os.path.basename(command[0]), error.strerror)
        return False
    family, is_over = ProcessFamily(process.pid), False
    try:
        async with asyncio.timeout(timeout_s):
            await process.wait()
            is_over = True
    except TimeoutError:
        logger.info("%s took more than %g s", os.path.basename(command[0]), timeout_s)
        return False
    finally:
        if not is_over:
            family.kill()
            await process.wait()
    return process.returncode == 0
