"""The texts and declarations in servers' greetings: `instructions`, and capabilities that the hub does not have itself. Both are saved over
restarts of the hub, as kinds of the catalogue, so they are known even if a server does not run. Also the hub's own `instructions` for AI
clients.
"""

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from weakref import WeakKeyDictionary

import msgspec

from tooltray.catalogue.catalogue import CatalogueStore
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.views.meta_tools import ACTIVATE, CALL_KEY, FIND_KEY, HubTools, key_of
from tooltray.catalogue.views.modes import Modes
from tooltray.catalogue.views.profiles import Profiles
from tooltray.foundation.events import EventBus
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.protocol import declarations
from tooltray.protocol.declarations import BEYOND, JOINED_BYTES, TASKS, Declarations
from tooltray.protocol.envelope import dump, load
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.elicitation_form import plain
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.builtin import hub_server
from tooltray.servers.upstream.managed_server import InstanceOpened, ManagedServer, ServersConfigured
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager

MOST_BYTES = 800  # of UTF-8 for the whole text, which a model reads with each request: 300 tokens, also in Chinese
LEAST_BYTES = 24  # of what a server says of itself; where there is less room only its name is given
MORE_BYTES = len(" and 10000 more.")
ELLIPSIS = "…"
INSTRUCTIONS = "instructions"  # of the catalogue
KEPT_BYTES = 4096  # a secret that is cut in two here is after the shown part
READ_CHARACTERS = 65_536  # characters of an overlong text that are searched for secrets


class Introduced(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of the `instructions` for a session.

    Attributes:
        servers: what each server is for, by its name, in the order of the text; may be empty.
        on_demand: the servers whose tools are listed after activation, with the names of the tools that activate them.
        find, call: the names of the tools that find and call others; empty if they are not listed.
        is_search: no tools of servers are listed.
        about: the hub's own tools that describe servers.
    """

    servers: Mapping[str, str]
    on_demand: Mapping[str, str]
    find: str = ""
    call: str = ""
    is_search: bool = False
    about: Sequence[str] = ()


def instructions(told: Introduced) -> str:
    """Returns the `instructions` for an AI client that has all servers together: at most 300 tokens for its model.

    The facts that a model needs most come first: how to find tools, and how servers are loaded on demand. Then come the servers, a line
    for each, so that a server cannot speak as the hub or as its neighbour; of very many servers only the names.
    """
    lines = ["Tools of several MCP servers, published by Tooltray."]
    if told.find:
        what = "The servers' tools are not listed" if told.is_search else "Not all tools are listed"
        lines.append(f"{what}: {told.find} finds them, {told.call} calls them.")
    if told.on_demand:
        lines.append(
            f"Servers with * load on demand: call {ACTIVATE}NAME or any of their tools by name. Their tools are not listed until then."
        )
    if told.about:
        lines.append(f"{' and '.join(told.about)} {'shows' if len(told.about) == 1 else 'show'} what runs.")
    room_bytes = MOST_BYTES - len(_encoded("\n".join([*lines, ""])))
    return "\n".join([*lines, *_about_servers(told, room_bytes)])


def _about_servers(told: Introduced, room_bytes: int) -> list[str]:
    names = {server: _marked(server, told.on_demand.get(server)) for server in told.servers}
    left_bytes = room_bytes - sum(len(_encoded(f"- {name}: \n")) for name in names.values())
    if left_bytes < LEAST_BYTES * len(names):
        return [f"Servers: {_listed(list(names.values()), room_bytes - len('Servers: .'))}."]
    words = shared_out({server: " ".join(plain(text, MOST_BYTES).split()) for server, text in told.servers.items()}, left_bytes)
    return [f"- {name}: {words[server]}" if server in words else f"- {name}" for server, name in names.items()]


def _marked(server: str, activate: str | None) -> str:
    """Returns a server's name, marked if it loads on demand, with the tool that does so if it has another name than the usual one."""
    return server if activate is None else f"{server}*" if activate == ACTIVATE + server else f"{server}* ({activate})"


def shared_out(texts: Mapping[str, str], room_bytes: int) -> dict[str, str]:
    """Cuts each text to a fair share of the room: long texts get the room that short ones leave. Texts that would be empty are left
    out.
    """
    sizes = {name: len(_encoded(text)) for name, text in texts.items()}
    left_bytes, shares = room_bytes, {}
    for place, name in enumerate(sorted(sizes, key=lambda name: (sizes[name], name))):
        shares[name] = min(sizes[name], left_bytes // (len(sizes) - place))
        left_bytes -= shares[name]
    return {name: cut for name, text in texts.items() if (cut := shortened(text, shares[name]))}


def shortened(text: str, most_bytes: int) -> str:
    """Returns the beginning of a text, at most so many bytes of UTF-8: up to the end of a line or else of a word, and an ellipsis.

    Text without spaces (Chinese, Japanese) is cut between two characters.
    """
    whole = _encoded(text)
    if len(whole) <= most_bytes:
        return whole.decode()
    kept = whole[: max(0, most_bytes - len(_encoded(ELLIPSIS)))].decode(errors="ignore")
    if not text[len(kept) : len(kept) + 1].isspace():
        end = max(kept.rfind("\n"), kept.rfind(" "))
        kept = kept[:end] if end > len(kept) // 2 else kept  # one long word is better cut than left out
    kept = kept.rstrip()
    return kept + ELLIPSIS if kept else ""


def _encoded(text: str) -> bytes:
    """Encodes a text; halves of surrogate pairs, which no client could read, become question marks."""
    return text.encode("utf-8", "replace")


def _listed(names: Sequence[str], room_bytes: int) -> str:
    """Returns the names that have room, and how many more there are."""
    ends = list(accumulate(len(_encoded(name)) + len(", ") for name in names))
    if ends[-1] <= room_bytes:
        return ", ".join(names)
    count = bisect_right(ends, room_bytes - MORE_BYTES)
    return f"{', '.join(names[:count])} and {len(names) - count} more"


class ServerInstructions:
    """The saved instructions of all servers. Belongs to the engine's loop."""

    def __init__(
        self, *, servers: ServerManager, catalogues: CatalogueStore, mask: Callable[[str], str], bus: EventBus, spawn: Spawn
    ) -> None:
        """
        Args:
            mask: removes secrets from instructions, before they are saved and again before they are shown: more may be known by then.
        """
        self._servers, self._catalogues, self._mask, self._bus, self._spawn = servers, catalogues, mask, bus, spawn
        self._said: dict[str, tuple[str, str]] = {}  # by server: its configuration and its instructions

    async def load(self) -> None:
        """Loads the last known instructions from the disk, and watches the servers."""
        for server in self._servers:
            catalogue = await asyncio.to_thread(self._catalogues.load, server.name, server.config_hash, kind=INSTRUCTIONS)
            if catalogue and catalogue.definitions and isinstance(text := load(catalogue.definitions[0]), str):
                self._said[server.name] = server.config_hash, text
        self._bus.subscribe(InstanceOpened, self._on_instance_opened)
        self._bus.subscribe(ServersConfigured, self._on_servers_configured)

    def of(self, server: ManagedServer) -> str:
        """Returns a server's known instructions for its present configuration; empty if it has none."""
        config_hash, text = self._said.get(server.name, ("", ""))
        return self._mask(text) if config_hash == server.config_hash else ""

    def _on_instance_opened(self, event: InstanceOpened) -> None:
        server, client = event.server, event.client
        if client is not server.client:
            return  # an instance of one session, or for the other era
        said = self._mask((client.greeting.instructions or "")[:READ_CHARACTERS])
        text = shortened(said.strip(), KEPT_BYTES)
        if self._said.get(server.name, (server.config_hash, "")) != (server.config_hash, text):
            save = partial(self._catalogues.save, server.name, server.config_hash, [dump(text)], kind=INSTRUCTIONS)
            self._spawn(finish_in_thread(save), name=f"save the instructions of '{server.name}'")
        self._said[server.name] = server.config_hash, text

    def _on_servers_configured(self, event: ServersConfigured) -> None:
        """Drops removed servers; their data on disk are deleted with their lists."""
        for name in [name for name in self._said if self._servers.find(name) is None]:
            del self._said[name]


CAPABILITIES = "capabilities"  # of the catalogue


class ServerDeclarations:
    """The declarations of all servers. Belongs to the engine's loop."""

    def __init__(self, *, servers: ServerManager, catalogues: CatalogueStore, bus: EventBus, spawn: Spawn) -> None:
        self._servers, self._catalogues, self._bus, self._spawn = servers, catalogues, bus, spawn
        self._kept: dict[str, tuple[str, dict[str, Declarations]]] = {}  # by server: its configuration, and its declarations by era
        self._of_clients: WeakKeyDictionary[McpClient, Declarations] = WeakKeyDictionary()
        self._saving = asyncio.Lock()

    async def load(self) -> None:
        """Loads the last known declarations from the disk, and watches the servers."""
        for server in self._servers:
            catalogue = await asyncio.to_thread(self._catalogues.load, server.name, server.config_hash, kind=CAPABILITIES)
            if catalogue and catalogue.definitions:
                said = msgspec.json.decode(catalogue.definitions[0])
                eras = {era.value: _read(said[era.value]) for era in Era if isinstance(said, dict) and era.value in said}
                self._kept[server.name] = server.config_hash, eras
        self._bus.subscribe(InstanceOpened, self._on_instance_opened)
        self._bus.subscribe(ServersConfigured, self._on_servers_configured)

    def of(self, server: ManagedServer, era: Era, session: Session | None = None) -> Declarations:
        """Returns a server's declarations to clients of an era: from its running instance, else the last known ones.

        Args:
            session: the session whose instance is meant; None: the shared one.
        """
        if client := server.client_for(era, session):
            return self.of_client(client)
        config_hash, eras = self._kept.get(server.name, ("", {}))
        known = eras if config_hash == server.config_hash else {}
        return known[era.value] if era.value in known else next(iter(known.values()), {})

    def of_client(self, client: McpClient) -> Declarations:
        """Returns a server's declarations on one connection."""
        if client not in self._of_clients:
            self._of_clients[client] = _read(client.greeting.capabilities)
        return self._of_clients[client]

    def joined(self, servers: Iterable[ManagedServer], era: Era, session: Session) -> Declarations:
        """Returns the declarations of several servers together."""
        together = declarations.joined(self.of(server, era, session) for server in servers)
        if era is Era.MODERN:
            together.pop(TASKS, None)  # it is an extension there
        return declarations.bounded(together, JOINED_BYTES)

    def _on_instance_opened(self, event: InstanceOpened) -> None:
        server, client = event.server, event.client
        if client.owner is not None or server.is_builtin:
            return
        era, now = client.era.value, self.of_client(client)
        config_hash, eras = self._kept.get(server.name, ("", {}))
        before = eras if config_hash == server.config_hash else {}
        if before.get(era) == now or not (before or now):
            return
        others = {} if era in before else before  # the program has changed; the other era is unknown again
        self._kept[server.name] = known = server.config_hash, {**others, era: now}
        self._spawn(self._save(server.name, *known), name=f"save the capabilities of '{server.name}'")

    async def _save(self, server: str, config_hash: str, eras: dict[str, Declarations]) -> None:
        async with self._saving:  # saves are written in their order
            await finish_in_thread(self._catalogues.save, server, config_hash, [dump(eras)], kind=CAPABILITIES)

    def _on_servers_configured(self, event: ServersConfigured) -> None:
        """Drops removed servers; their data on disk are deleted with their lists."""
        for name in [name for name in self._kept if self._servers.find(name) is None]:
            del self._kept[name]


def _read(capabilities: object) -> Declarations:
    read = dict(declarations.read(capabilities, (*BEYOND, TASKS)))
    if tasks := read.pop(TASKS, None):
        read[TASKS] = {name: _objects_alone(value) for name, value in tasks.items()}
    return read


def _objects_alone(value: object) -> dict[str, object]:
    """Drops all members that are not objects, at each level: the `tasks` capability has only objects, and AI clients refuse a greeting with
    other values.
    """
    members = value if isinstance(value, dict) else {}
    return {name: _objects_alone(each) for name, each in members.items() if isinstance(each, dict)}


class Introduction:
    """The greeting for sessions. Belongs to the engine's loop; has no state of its own."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        tools: ToolManager,
        profiles: Profiles,
        modes: Modes,
        hub_tools: HubTools,
        said: ServerInstructions,
        declared: ServerDeclarations,
    ) -> None:
        self._servers, self._tools, self._profiles, self._modes = servers, tools, profiles, modes
        self._hub_tools, self._said, self._declared = hub_tools, said, declared

    def of(self, state: SessionState) -> str:
        """Returns the text for a session as it is now."""
        view = self._modes.view(state)
        seen = sorted(filter(partial(self._is_seen, state), self._servers), key=lambda server: server.name)
        about = [tool for tool in hub_server.ABOUT_SERVERS if self._profiles.includes(state, hub_server.NAME, tool)]
        told = Introduced(
            servers={server.name: f"{self._hub_tools.offers(server)} {self._said.of(server)}".strip() for server in seen},
            on_demand={server: self._hub_tools.likely_name(key_of(server)) for server in sorted(view.lazy)},
            find=self._hub_tools.likely_name(FIND_KEY) if view.has_search else "",
            call=self._hub_tools.likely_name(CALL_KEY) if view.has_search else "",
            is_search=view.is_search,
            about=[self._hub_tools.likely_name((hub_server.NAME, tool)) for tool in about],
        )
        return instructions(told)

    def capabilities(self, session: Session, era: Era, server: str | None) -> Declarations:
        """Returns the joined declarations of a session's servers beyond the hub's own: of servers that run, and of those that would if
        used.

        Args:
            server: only this one.
        """
        seen = [each for each in self._servers if server in (None, each.name) and self._is_seen(session.state, each)]
        return self._declared.joined(seen, era, session)

    def _is_seen(self, state: SessionState, server: ManagedServer) -> bool:
        return not server.is_builtin and self._profiles.includes(state, server.name) and self._tools.is_offering(server)
