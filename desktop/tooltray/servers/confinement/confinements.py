"""The confinement of each server, by the settings and as far as this computer can enforce it: for cards, and for the verbs."""

import os
import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from tooltray.config.settings.confinement import Confinement
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.snapshots.confinement import ConfinementSnapshot, ConfinementSupport, Files, RefusedThing
from tooltray.servers.confinement.support import NO_LANDLOCK, Support, can_confine, can_have_hosts, missing
from tooltray.servers.launch.command_lookup import program_name

Refused = Callable[[str], tuple[RefusedThing, ...]]
CONFINEMENT = "confinement"
OWN_FILES: Files = "own"
ELSEWHERE = frozenset({"docker", "podman", "nerdctl"})
"""Programs that start containers through the socket of a service, which the sandbox would block."""


def nothing(server: str) -> tuple[RefusedThing, ...]:
    return ()


class Confinements:
    """The confinements of all servers. Belongs to the engine's loop."""

    def __init__(self, *, support: Support, refused: Refused = nothing) -> None:
        """
        Args:
            refused: returns the refusals to a server since it started, the latest first.
        """
        self.support, self._refused = support, refused
        self._left_out: dict[str, tuple[str, ...]] = {}  # by server, since it last started

    @cached_property
    def here(self) -> ConfinementSupport:
        """Returns the parts of a sandbox that this computer can enforce."""
        lacks, can = missing("own", "none", self.support), can_confine(self.support)
        return ConfinementSupport(files=can and NO_LANDLOCK not in lacks, network=can, hosts=can_have_hosts(self.support), missing=lacks)

    def applies(self, chosen: Confinement) -> bool:
        """Reports whether a process is confined at all; if not, it runs as if it were open, and its card reports that."""
        return not chosen.is_open and can_confine(self.support)

    def note_left_out(self, server: str, left_out: tuple[str, ...]) -> None:
        """Records the named paths that a server did not get at its start, each as a sentence for its card."""
        self._left_out[server] = left_out

    def of(self, name: str, config: MCPServerConfig) -> ConfinementSnapshot | None:
        """Returns how a server is confined; None: it is not a process."""
        if config.transport != "stdio":
            return None
        chosen = config.confinement
        return ConfinementSnapshot(
            files=chosen.files,
            network=chosen.network,
            hosts=chosen.hosts,
            read=chosen.read,
            write=chosen.write,
            missing=() if chosen.is_open else (*missing(chosen.files, chosen.network, self.support), *self._left_out.get(name, ())),
            is_in_vain=not chosen.is_open and not can_confine(self.support),
            refused=self._refused(name),
        )


def starts_confined(entry: Mapping[str, Any], *, platform: str = sys.platform) -> bool:
    """Reports whether a new server gets a sandbox: it is a process of this computer for which that works, and its entry does not set
    its confinement."""
    command, kind = entry.get("command"), entry.get("type") or "stdio"
    if not isinstance(command, str) or not command or kind not in ("stdio", "local"):
        return False
    is_installed = command == program_name(command) or os.path.isabs(command)  # `./docker` may be anything in a project's folder
    is_elsewhere = is_installed and program_name(command) in ELSEWHERE
    return entry.get(CONFINEMENT) is None and platform != "win32" and not is_elsewhere


def as_new(entry: Mapping[str, Any], *, platform: str = sys.platform) -> dict[str, Any]:
    """Returns the entry of a new server that others describe, sandboxed if that works."""
    return {**entry, CONFINEMENT: OWN_FILES} if starts_confined(entry, platform=platform) else dict(entry)
