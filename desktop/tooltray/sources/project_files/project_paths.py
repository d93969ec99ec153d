"""Finds out whether the program of an entry lies in the project, and who can change it.

Above it: trust_requests, project_runners and ServerFiles. Below it: the disk, which is only read. The functions block: call them in a
thread.
"""

import os
import re
from collections.abc import Iterator

from tooltray.config.settings.file_server import FILE_NAME, PROJECT_FOLDER
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.errors import Denied
from tooltray.foundation.phrases import Phrase
from tooltray.servers.upstream.project_folder import is_inside, shown

PROJECT_VARIABLES = (PROJECT_FOLDER,)
"""Placeholders for the project's own folder; they are not variables of the person's environment."""
MOST_WORDS = 200  # arguments that are examined
_OWN_FOLDER = re.compile(r"\$\{(?:" + "|".join(PROJECT_VARIABLES) + r")(?::-[^{}]*)?\}")
_AFTER_SIGN = re.compile(r"^-{1,2}[\w-]+=")  # `--require=./x.js`


def found_inside(config: MCPServerConfig, folder: str) -> bool:
    """Returns whether the command or a file among its arguments lies in the project: who can change the project can then change it."""
    return any(True for _ in paths_inside(config, folder)) or _is_written_inside(config)


def paths_inside(config: MCPServerConfig, folder: str) -> Iterator[str]:
    """Yields the command, if it is a path, and the files among its arguments, as far as they lie in the project."""
    base = place_of(config.cwd or "", folder, folder)
    return (path for path in _paths(config, base, folder) if os.path.lexists(path) and _is_inside(path, folder))


def _is_written_inside(config: MCPServerConfig) -> bool:
    """Returns whether the command is written as a path in the project, existing or not."""
    command = config.command or ""
    is_relative = ("/" in command or "\\" in command) and not os.path.isabs(command) and not command.startswith(("~", "$"))
    return is_relative or bool(_OWN_FOLDER.match(command))


def _paths(config: MCPServerConfig, base: str, folder: str) -> Iterator[str]:
    if "/" in (command := config.command or "") or os.sep in command:
        yield place_of(command, folder, folder)
    for word in (*config.args, *config.template)[:MOST_WORDS]:
        path = place_of(_AFTER_SIGN.sub("", word), base, folder)
        if "\0" not in path and os.path.isfile(path):
            yield path


def place_of(text: str, base: str, folder: str) -> str:
    """Resolves a path of an entry relative to `base`, with the placeholder of the project's folder filled in."""
    return os.path.join(base, _OWN_FOLDER.sub(lambda _: folder, text))


def _is_inside(path: str, folder: str) -> bool:
    return is_inside(os.path.normpath(path), folder) or is_inside(os.path.realpath(path), folder)


def is_writable_by_others(path: str, bits: int) -> bool:
    """Returns whether a file's permissions include one of `bits`, with which other users can change it; False on Windows."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    return os.name == "posix" and bool(found.st_mode & bits)


def check_stays_inside(folder: str) -> None:
    """Checks that a project's file is no link to a file outside the project, which would be foreign.

    Raises:
        Denied: it is such a link.
    """
    path = os.path.join(folder, FILE_NAME)
    real = os.path.realpath(path)
    if not is_inside(real, folder):
        title = Phrase("'{file}' is not read", file=shown(path))
        message = Phrase("it is a link that leads out of the project, to '{place}'", place=shown(real))
        raise Denied(title, message, Phrase("Put the file itself into the project."))
