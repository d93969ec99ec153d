"""How a new server is confined that others describe: a registry, a bundle, a link, a project's own file. What the user types stays open."""

import os
import sys
from collections.abc import Mapping
from typing import Any

from tooltray.foundation.snapshots.confinement import Files
from tooltray.servers.launch.command_lookup import program_name

CONFINEMENT = "confinement"
OWN_FILES: Files = "own"
ELSEWHERE = frozenset({"docker", "podman", "nerdctl"})
"""These start containers, which a service creates that is reached by a socket: their own files would be of no use to them."""


def starts_confined(entry: Mapping[str, Any], *, platform: str = sys.platform) -> bool:
    """Reports whether a new server is to be sandboxed: it is a process of this computer for which that works, and its entry does not set
    its confinement."""
    command, kind = entry.get("command"), entry.get("type") or "stdio"
    if not isinstance(command, str) or not command or kind not in ("stdio", "local"):
        return False
    is_installed = command == program_name(command) or os.path.isabs(command)  # `./docker` may be anything in a project's folder
    is_elsewhere = is_installed and program_name(command) in ELSEWHERE
    return entry.get(CONFINEMENT) is None and platform != "win32" and not is_elsewhere


def as_new(entry: Mapping[str, Any], *, platform: str = sys.platform) -> dict[str, Any]:
    """Returns the entry of a new server that others describe, sandboxed where that works."""
    return {**entry, CONFINEMENT: OWN_FILES} if starts_confined(entry, platform=platform) else dict(entry)
