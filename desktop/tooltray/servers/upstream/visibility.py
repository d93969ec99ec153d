"""Which servers exist for a session: the servers that all sessions have, and the servers of the project that it works on.

A server belongs to a project if the project's own file has it, or if its entry names folders: two accounts of one service have one each. If
no server belongs to a project, nothing is looked up: the settings are examined once for each change.
"""

from collections.abc import Mapping
from os import sep
from os.path import expanduser, normpath

import msgspec

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.config.settings.settings import Settings
from tooltray.protocol.sessions.session_state import SessionState

MOST_GONE = 1000  # servers of projects that no longer exist; each is some 100 bytes


class Place(msgspec.Struct, frozen=True):
    """A folder, perhaps with all folders below."""

    folder: str
    with_below: bool


Places = tuple[Place, ...]
EVERYBODY = ""
"""The place of sessions that work on no project, and the project of servers that all sessions have."""


class Visibility:
    """The rules for all sessions. Belongs to the engine's loop."""

    def __init__(self, config: McpConfHelper) -> None:
        self._config = config
        self._examined: Settings | None = None
        self._projects: dict[str, Places] = {}  # by server, for servers that only some projects have
        self._gone: dict[str, Places] = {}  # the same for removed servers: only those projects are notified of their end

    @property
    def is_plain(self) -> bool:
        """Reports whether every server exists for every session."""
        return not self._current()

    def place(self, state: SessionState) -> str | None:
        """Returns the folder of the session's project, which decides the servers that the session has; None: the session has all servers.

        The user has all servers, unless a project is named.
        """
        if project := state.project:
            return project.path
        return None if state.is_persons else EVERYBODY

    def includes(self, place: str | None, server: str) -> bool:
        """Reports whether a server exists for sessions in a place."""
        places = self._current().get(server) or self._gone.get(server)
        return places is None or place is None or _is_among(place, places)

    def sees(self, state: SessionState, server: str) -> bool:
        """Reports whether a server exists for a session."""
        return self.includes(self.place(state), server)

    def own(self, state: SessionState) -> frozenset[str]:
        """Returns the servers that a session has because of its project, and others have not."""
        if not (projects := self._current()):
            return frozenset()
        place = self.place(state)
        return frozenset(server for server, places in projects.items() if place is None or _is_among(place, places))

    def lacks_any(self, state: SessionState) -> bool:
        """Reports whether there are servers that do not exist for a session."""
        return len(self.own(state)) < len(self._current())

    def _current(self) -> Mapping[str, Places]:
        if (settings := self._config.settings) is not self._examined:
            self._examine(settings)
        return self._projects

    def _examine(self, settings: Settings) -> None:
        before, self._examined = self._projects, settings
        found = ((name, self._places(name, config)) for name, config in settings.mcp_servers.items())
        self._projects = {name: places for name, places in found if places}
        gone = {**self._gone, **before}
        kept = [name for name in gone if name not in settings.mcp_servers]
        self._gone = {name: gone[name] for name in kept[-MOST_GONE:]}

    def _places(self, name: str, config: MCPServerConfig) -> Places:
        """Returns the folders whose sessions have a server; empty: all sessions do. A project's own file goes before `projects`."""
        if (file := self._config.file_server(name)) and file.project:
            return (Place(file.project, with_below=False),)
        return tuple(Place(normpath(expanduser(folder)), with_below=True) for folder in config.projects)


def _is_among(path: str, places: Places) -> bool:
    return any(path == each.folder or (each.with_below and path.startswith(each.folder.rstrip(sep) + sep)) for each in places)
