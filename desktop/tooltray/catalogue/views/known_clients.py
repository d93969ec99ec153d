"""The kinds of AI clients: the known facts about them, which were seen, and the settings of each; also how long names of tools may be for a
session, and how many tokens of a result it gets at once. The facts come from `resources/client-profiles.json`, which holds what was
measured, documented or reported, and nothing guessed. Observations of a connected client replace these facts.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import msgspec

from tooltray.catalogue.auto_approve import WILDCARD, fits
from tooltray.catalogue.tool_routes import ListTerms, Route
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.config.settings.settings import ClientSettings, Settings
from tooltray.protocol.member_scanner import opened
from tooltray.protocol.sessions.client_limits import KnownLimits
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.upstream.server_manager import ServerManager

NAMES_REMEMBERED = 256  # of clients; a user has a few


class ClientProfile(msgspec.Struct, frozen=True, rename="camel"):
    """One kind of AI client.

    Attributes:
        names: the names that it gives itself; `*` matches any characters.
        title: the name that users know.
        obeys_changes: whether it lists again after a notification of changes, and can then use the new entries; None: not known.
        reads_all_pages: whether it reads a list beyond its first page; None: not known.
        name_limit: how many characters of a tool's name it accepts, its own prefix included; None: not known, or no limit.
        tool_cap: how many tools it shows its model at most; None: not known, or no limit.
        searches: whether it defers tools and searches them itself.
        note: more, in words, and the source.
    """

    names: tuple[str, ...]
    title: str
    obeys_changes: bool | None = None
    reads_all_pages: bool | None = None
    name_limit: int | None = None
    tool_cap: int | None = None
    searches: bool = False
    note: str = ""


class ClientProfiles:
    """All known kinds of AI clients."""

    def __init__(self, profiles: tuple[ClientProfile, ...]) -> None:
        self._profiles = profiles
        self._find = lru_cache(NAMES_REMEMBERED)(self._search)  # used with every call

    def __iter__(self) -> Iterator[ClientProfile]:
        return iter(self._profiles)

    def find(self, client: str) -> ClientProfile | None:
        """Returns the profile of a client by the name that it gives itself."""
        return self._find(client)

    def _search(self, client: str) -> ClientProfile | None:
        return next((each for each in self._profiles if any(fits(client, name) for name in each.names)), None)


def read_client_profiles(path: Path) -> ClientProfiles:
    """Reads the profiles that come with Tooltray.

    Raises:
        OSError, ValueError: the installation is broken.
    """
    return ClientProfiles(msgspec.json.decode(path.read_bytes(), type=_File).clients)


class _File(msgspec.Struct):
    clients: tuple[ClientProfile, ...]


MOST_SEEN = 200  # kinds, bounded because of clients that change their names each time
NO_SETTINGS = ClientSettings()
TEXT = "text"


class ResultTerms(msgspec.Struct, frozen=True):
    """How a result is given to a client.

    Attributes:
        tokens: how many of a result are given at once; None: all.
        reads: if a result has the same content twice, the client's model gets only its "text" or "structured" form; empty: both are sent.
        csv_tables: tables in the result are given as CSV.
    """

    tokens: int | None
    reads: str
    csv_tables: bool = False


class KnownClients:
    """The kinds of AI clients. Belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, servers: ServerManager, profiles: ClientProfiles, client_limits: KnownLimits) -> None:
        self._config, self._servers, self._profiles, self._limits = config, servers, profiles, client_limits
        self._seen: dict[str, None] = {}
        self._chosen: dict[str, ClientSettings] = {}  # by client: its settings, found in the examined ones
        self._examined: Settings | None = None

    def saw(self, client: str) -> None:
        """Records that a client with this name has connected."""
        if len(self._seen) < MOST_SEEN:
            self._seen[client] = None

    def profile(self, client: str) -> ClientProfile | None:
        """Returns the known facts about a kind of client."""
        return self._profiles.find(client)

    def title(self, client: str) -> str:
        """Returns the name of a client that users know."""
        profile = self.profile(client)
        return profile.title if profile else client

    def kind(self, client: str) -> str:
        """Returns the name under which a client is listed: the first one of its kind."""
        profile = self.profile(client)
        return profile.names[0] if profile else client

    def settings(self, client: str) -> ClientSettings:
        """Returns the user's settings for a kind of client: under the name that it gives itself, another name of the same kind of client,
        or a pattern in which `*` matches any characters.
        """
        if (settings := self._config.settings) is not self._examined or len(self._chosen) > MOST_SEEN:
            self._examined, self._chosen = settings, {}
        if (found := self._chosen.get(client)) is None:  # used with every call
            found = self._chosen[client] = self._chosen_for(client, settings.publish.clients)
        return found

    def _chosen_for(self, client: str, chosen: Mapping[str, ClientSettings]) -> ClientSettings:
        if not chosen:
            return NO_SETTINGS
        profile = self.profile(client)
        names = (client, *(profile.names if profile else ()))
        if name := next((name for name in names if name in chosen), None):
            return chosen[name]
        return next((settings for name, settings in chosen.items() if WILDCARD in name and fits(client, name)), NO_SETTINGS)

    def is_seen(self, client: str) -> bool:
        """Reports whether a client of this kind has connected since the hub started."""
        profile = self.profile(client)
        return client in self._seen or (profile is not None and any(self.profile(seen) is profile for seen in self._seen))

    def names(self) -> Iterator[str]:
        """Yields one name for each kind: first the known kinds, then others that were seen or have settings."""
        firsts = {profile.names[0]: profile for profile in self._profiles}
        yield from firsts
        for name in sorted({*self._seen, *self._config.settings.publish.clients} - firsts.keys()):
            if self.profile(name) is None:
                yield name

    # terms for a session's client

    def list_terms(self, state: SessionState) -> ListTerms:
        """Returns the facts about a session's client that decide its list of tools."""
        return ListTerms(self.room_of(state), state.shows_views)

    def room_of(self, state: SessionState) -> int:
        """Returns how many characters a session's client accepts for a name of a tool; 0 if it has only one server, whose names are
        unchanged.
        """
        return 0 if state.server else self._limits.limits_of(state.client).tool_name

    def result_terms(self, route: Route, state: SessionState) -> ResultTerms | None:
        """Returns the terms for the result of one tool; None if it stays unchanged. Of the client's and the tool's limit the smaller one is
        used. Results of built-in servers have no limit, nor do results for views of the server or for the user.
        """
        if route.result_limit is None and not route.csv_tables and not self._config.settings.publish.clients:
            return None  # no limit at all: each call skips the rest
        client = self.settings(state.client)
        theirs, reads = client.result_limit, client.reads or ""
        limit = route.result_limit if theirs is None else min(theirs, route.result_limit or theirs)
        csv_tables = _gives_csv(route, client)
        if (limit is None and not reads and not csv_tables) or state.is_persons or not route.definition.view.is_for_models:
            return None
        return None if self._servers.get(route.server).is_builtin else ResultTerms(limit, reads, csv_tables)

    def may_cut(self, state: SessionState) -> bool:
        """Reports whether some result that a session can get may be cut."""
        if self.settings(state.client).result_limit is not None:
            return True
        own = self._servers.find(state.server) if state.server else None
        servers = [own] if own else self._servers
        return any(has_result_limit(server.config) for server in servers)

    def cuts_results_of(self, route: Route, state: SessionState) -> bool:
        """Reports whether a tool is listed to a session without the schema of its results: a cut result does not satisfy the schema.

        Results that a view shows keep their structured content.
        """
        terms = self.result_terms(route, state)
        may_lack = terms is not None and (terms.tokens is not None or terms.reads == TEXT)
        return may_lack and not (state.shows_views and route.definition.view.uris)

    def has_steps(self, state: SessionState) -> bool | None:
        """Returns whether a session's client gets the tool that makes several calls; None: only if it searches tools."""
        own = self.settings(state.client).steps
        return self._config.settings.publish.steps if own is None else own

    def leaves_structure_out(self, state: SessionState) -> bool:
        """Reports whether some results lack their structured content because a session's client does not read it."""
        return self.settings(state.client).reads == TEXT


def _gives_csv(route: Route, client: ClientSettings) -> bool:
    """Reports whether tables in a tool's results are given as CSV: a setting chooses it, none excludes it, and no schema promises JSON."""
    chosen = (route.csv_tables, client.csv_tables)
    return True in chosen and False not in chosen and "outputSchema" not in opened(route.definition.raw)


def has_result_limit(config: MCPServerConfig) -> bool:
    """Reports whether some result of a server may be cut for every client."""
    return config.result_limit is not None or any(each.result_limit is not None for each in config.tool_overrides.values())
