"""What the file in which a server's entry stands adds to how the server runs: from where its paths are taken, and what it is told.

Above it: ServerManager and the doctor, which must mean the same. Below it: FileServer. Pure. A server of the settings has no such file.
"""

import os
from collections.abc import Mapping

from msgspec.structs import replace

from tooltray.settings.expansion import ResolvedServer
from tooltray.settings.file_server import PROJECT_FOLDER, FileServer


def folder_of(file: FileServer | None, otherwise: str) -> str:
    """Where a server runs unless its entry says another place. `otherwise`: where one runs whose file does not say."""
    return file.folder if file and file.folder else otherwise


def placeholder_variables(file: FileServer | None, environ: Mapping[str, str], values: Mapping[str, str]) -> Mapping[str, str]:
    """What an entry's placeholders find.

    Args:
        environ: the person's environment.
        values: of the variables that commands give.
    """
    return {**environ, **file.entry.variables, **values} if file else environ


def process_variables(file: FileServer | None) -> Mapping[str, str]:
    """What a server finds in its environment because of its file."""
    return {PROJECT_FOLDER: file.folder} if file and file.origin == "project" else {}


def placed(resolved: ResolvedServer, file: FileServer | None) -> ResolvedServer:
    """The entry with its paths taken from the file's folder: a relative `cwd`, and a relative command that is no bare name."""
    if not (file and file.folder):
        return resolved
    command = resolved.command
    if command and os.path.dirname(command):
        command = os.path.join(file.folder, command)
    return replace(resolved, command=command, cwd=os.path.join(file.folder, resolved.cwd) if resolved.cwd else file.folder)
