"""The hub's tools about other tools, as sessions see them: their names and their definitions. meta_tools has their texts."""

from collections.abc import Mapping, Sequence

from msgspec import Raw

from tooltray.catalogue.known_servers import KnownServers
from tooltray.catalogue.offer import KINDS, PROMPTS, RESOURCES, TEMPLATES
from tooltray.catalogue.offers import Offers
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.views import meta_tools
from tooltray.catalogue.views.meta_tools import CALL_KEY, FIND_KEY, READ_KEY, LazyServer, key_of
from tooltray.catalogue.views.session_view import SessionView
from tooltray.config.naming.published_names import PublishedNames
from tooltray.foundation.tasks import finish_in_thread
from tooltray.servers.builtin import hub_server
from tooltray.servers.upstream.server_manager import ServerManager

_WORDS = {PROMPTS: "prompt", RESOURCES: "resource", TEMPLATES: "resource template"}

Key = tuple[str, str]


class HubTools:
    """The hub's tools about other tools. Belongs to the engine's loop."""

    def __init__(self, *, servers: ServerManager, tools: ToolManager, offers: Offers, names: PublishedNames, known: KnownServers) -> None:
        self._servers, self._tools, self._offers, self._names, self._known = servers, tools, offers, names, known
        self._given: dict[Key, str] = {}

    # names

    @property
    def given(self) -> tuple[tuple[Key, str], ...]:
        """The names that were given so far."""
        return tuple(self._given.items())

    async def give_names(self, view: SessionView) -> bool:
        """Gives the tools of a view their names, after those of the servers' tools; returns whether any of them had none."""
        keys = [*map(key_of, view.lazy), *((FIND_KEY, CALL_KEY) if view.has_search else ()), *((READ_KEY,) if view.reads_results else ())]
        if all(self._names.target(self._given.get(key, "")) == key for key in keys):
            return False
        self._given |= await finish_in_thread(self._names.publish, keys)
        return True

    def key(self, name: str, server: str | None) -> Key | None:
        """Returns which of the hub's tools about others a session calls by a name; None for any other name. `server`: the session's only
        server.
        """
        target = self._names.target(name) or self._by_heart(name)
        if server is None:
            return target if target and target[0] == hub_server.NAME and meta_tools.is_meta(target) else None
        if name in self._tools.offered_names(server):
            return None
        if target and meta_tools.is_meta(target):
            return target
        return next(
            (key for key in (FIND_KEY, CALL_KEY, READ_KEY, key_of(server)) if key in self._given and self.name(key, server) == name), None
        )

    def _by_heart(self, name: str) -> Key | None:
        """Returns the key of a name that was never given, because nothing was listed yet."""
        is_there = name in (FIND_KEY[1], CALL_KEY[1], READ_KEY[1]) or self._servers.find(name.removeprefix(meta_tools.ACTIVATE))
        return (hub_server.NAME, name) if is_there else None

    def name(self, key: Key, server: str | None) -> str:
        """Returns the name of such a tool; for a session with only one server, a name that no tool of the server has."""
        name, taken = self._given.get(key, key[1]), self._tools.offered_names(server) if server else frozenset()
        while name in taken:
            name = f"{hub_server.NAME}_{name}"
        return name

    def reader_name(self, server: str | None) -> str:
        """Returns the name of the tool that reads results. `server`: the session's only server."""
        return self.name(READ_KEY, server)

    def likely_name(self, key: Key) -> str:
        """Returns the name under which a tool of the hub's own is listed, or will be unless another tool gets the name first."""
        return self._names.known(key) or key[1]

    def is_for_models(self, name: str, server: str | None) -> bool:
        """Reports whether a model may call the tool `name`, as far as it is known: not a tool that only views may call."""
        target = self._tools.target(name, server)
        route = self._tools.routes(target[0]).get(target[1]) if target else None
        return route is None or route.definition.view.is_for_models

    # definitions

    def definitions(self, view: SessionView, server: str | None, tools: Mapping[str, Sequence[str]]) -> list[Raw]:
        """Returns the definitions of a view's tools of this kind.

        Args:
            server: the session's only server.
            tools: the names of the tools of each lazy server.
        """
        made = [
            meta_tools.activate_definition(self.name(key_of(lazy), server), self._lazy_server(lazy, names)) for lazy, names in tools.items()
        ]
        if view.has_search:
            call_name = self.name(CALL_KEY, server)
            made += [meta_tools.find_definition(self.name(FIND_KEY, server), call_name), meta_tools.call_definition(call_name)]
        if view.reads_results:
            made.append(meta_tools.read_definition(self.reader_name(server)))
        return made

    def _lazy_server(self, name: str, tools: Sequence[str]) -> LazyServer:
        config = self._servers.get(name).config
        counts = {_WORDS[kind]: len(self._offers.offered(kind).get(name, ())) for kind in KINDS}
        is_known = self._tools.is_listed(name)
        return LazyServer(self._known.title(name, config), self._known.offers(name, config), tools if is_known else None, counts)
