"""Which servers exist for a session: those that all have, and those of the project that it works on.

Above it: ServerManager, Profiles, Modes and the views, which ask. Below it: McpConfHelper, which knows which servers a project's own file
has, and for which folders a person keeps one of the settings: two accounts of one service have a folder each. Where no server is of a
project, nothing is looked up: the settings are examined once for each change.
"""

from collections.abc import Mapping
from os import sep
from os.path import expanduser, normpath

import msgspec

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.config.settings.settings import Settings
from tooltray.protocol.sessions.session_state import SessionState

MOST_GONE = 1000  # servers of projects that are no more; each is some 100 bytes


class Place(msgspec.Struct, frozen=True):
    """A folder, and perhaps all below it."""

    folder: str
    with_below: bool


Places = tuple[Place, ...]
EVERYBODY = ""
"""The place of sessions that work on no project, and the project of servers that all have."""


class Visibility:
    """Belongs to the engine's loop."""

    def __init__(self, config: McpConfHelper) -> None:
        self._config = config
        self._examined: Settings | None = None
        self._projects: dict[str, Places] = {}  # by server, those that some projects alone have
        self._gone: dict[str, Places] = {}  # the same of servers that are no more: that they end is told to nobody else, either

    @property
    def is_plain(self) -> bool:
        """Whether every server there is exists for every session."""
        return not self._current()

    def place(self, state: SessionState) -> str | None:
        """What decides which servers a session has: the folder of its project; None: it has all of them.

        The person has all, unless they name a project.
        """
        if project := state.project:
            return project.path
        return None if state.is_persons else EVERYBODY

    def includes(self, place: str | None, server: str) -> bool:
        """Whether a server exists for sessions in a place."""
        places = self._current().get(server) or self._gone.get(server)
        return places is None or place is None or _is_among(place, places)

    def sees(self, state: SessionState, server: str) -> bool:
        """Whether a server exists for a session."""
        return self.includes(self.place(state), server)

    def own(self, state: SessionState) -> frozenset[str]:
        """The servers that a session has because of its project, and others have not."""
        if not (projects := self._current()):
            return frozenset()
        place = self.place(state)
        return frozenset(server for server, places in projects.items() if place is None or _is_among(place, places))

    def lacks_any(self, state: SessionState) -> bool:
        """Whether there are servers that do not exist for a session."""
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
        """The folders whose sessions alone have a server; none: all have it. What its own file says goes before what its entry says."""
        if (file := self._config.file_server(name)) and file.project:
            return (Place(file.project, with_below=False),)
        return tuple(Place(normpath(expanduser(folder)), with_below=True) for folder in config.projects)


def _is_among(path: str, places: Places) -> bool:
    return any(path == each.folder or (each.with_below and path.startswith(each.folder.rstrip(sep) + sep)) for each in places)
