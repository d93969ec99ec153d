"""`tooltray servers add --project`: how an entry is written that belongs into a project's own file.

Above it: servers. Pure but for the names of folders. What is in the project is named from its folder, so that the file can be shared.
"""

import os
from collections.abc import Mapping
from typing import Any

from tooltray.upstream.project_folder import is_inside

FILE = ".mcp.json"


def real_folder(typed: str) -> str:
    """The folder as it is really called; whether it may be a project, the hub judges."""
    return os.path.realpath(os.path.expanduser(typed))


def project_entry(entry: Mapping[str, Any], folder: str, *, is_approval_chosen: bool) -> dict[str, Any]:
    """An entry for a project's file.

    Args:
        entry: as it would stand in the settings, its paths absolute.
        folder: the project's.
        is_approval_chosen: a person said which calls go through unasked; if not, the file says nothing of it.
    """
    written = {field: value for field, value in entry.items() if field != "autoApprove" or is_approval_chosen}
    command, cwd = written.get("command", ""), written.pop("cwd", "")
    if os.path.isabs(command) and is_inside(command, folder):
        written["command"] = os.path.join(os.curdir, os.path.relpath(command, folder))
    if cwd and os.path.realpath(cwd) != folder:
        written["cwd"] = os.path.relpath(cwd, folder) if is_inside(cwd, folder) else cwd
    return written
