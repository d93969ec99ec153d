"""McpPresenter as sessions see it: answers from a script, notes what it is asked."""

import asyncio
import functools
from collections.abc import Callable, Iterable, Sequence
from types import SimpleNamespace
from typing import Any

from msgspec import Raw
from tests.fakes.heard import Record
from tests.fakes.verb_table import VERBS

from tooltray.foundation.errors import TooltrayError
from tooltray.protocol import envelope, eras
from tooltray.protocol.envelope import METHOD_NOT_FOUND, Envelope, dump, failure, success
from tooltray.protocol.eras import ClientInfo, Era
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.upstream.handshake import Greeting

INSTRUCTIONS = "Servers: fs."  # of a session that has all servers


class FakeCorePresenter:
    """
    Attributes:
        answers: what a verb returns, or the error it raises, by its name; None unless given.
        calls: (verb, arguments) in their order.
        relayed: (method, era, server, client) of what was carried to servers. `tools/call` of the tool `echo` answers with its parameters,
            `hang` never, `ask` with what the AI client says to an elicitation, `tell` behind a progress notification.
        results: what a tool answers, by its name, instead.
        servers: how each server greets.
        listened: what each open listen wants of resources, and of which server.
        hearing: who subscribed to resources, and to which.
        uris: published ones, by server and its own, where they differ.
        own: the servers of which each session has a copy of its own.
        ended: the sessions that have ended.
        followers: what is to be told of lists that changed for one session alone.
        profiles: names of those that there are.
        hidden: servers that sessions see nothing of.
        rooted: the sessions that may say anew which roots they have.
        told: the sessions that were told of changed tools.
        joined: what servers declare besides what the hub does itself.
        honored, early: what extensions acknowledge of a listen, and what they say before that.
        unheard: the listens that are no longer heard.
        deaf: the sessions that may not hear what extensions say.
        held: keeps the lists back until it is set.
    """

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.calls: Record[tuple[str, dict[str, Any]]] = Record()
        self.relayed: Record[tuple[str, Era, str | None, str]] = Record()
        self.results: dict[str, bytes] = {}
        self.taken: Record[tuple[str, str | None]] = Record()
        self.servers: dict[str, Greeting] = {}
        self.servers_of_projects: set[str] = set()
        self.own: set[str] = set()
        self.listened: dict[bytes, tuple[list[str], str | None]] = {}
        self.untold: set[str] = set()  # URIs of which no server tells updates
        self.hearing: list[tuple[Session, str]] = []
        self.uris: dict[tuple[str, str], str] = {}
        self.ended: list[Session] = []
        self.followers: list[Callable[[str], None]] = []
        self.hidden: set[str] = set()
        self.excluded: set[str] = set()  # servers that nobody's profile has
        self.profiles: set[str] = set()
        self.told: list[Session] = []
        self.rooted: list[Session] = []
        self.elsewhere: list[Session] = []  # they work on other projects than the servers that run
        self.listings: dict[str | None, bytes] = {None: b'{"tools":[{"name":"echo","later":1e400}]}'}
        self.honored: dict[str, Any] = {}
        self.early: list[tuple[str, Raw]] = []
        self.unheard: list[bytes] = []
        self.deaf: list[Session] = []
        self.joined: dict[str, Any] = {}
        self.server_pids: frozenset[int] = frozenset()
        self.cancelled: Record[bytes] = Record()
        self.may_list = asyncio.Event()
        self.may_list.set()

    async def answer(self, exchange: Exchange) -> Envelope:
        request, server = exchange.request, exchange.server
        match request.method:
            case "tools/list":
                await self.may_list.wait()
                listing = Raw(self.listings[server])
                return Envelope(result=eras.as_modern_result(request.method, listing) if exchange.era is Era.MODERN else listing)
            case "tools/call":
                return await self._call(exchange)
        if server is None:
            return failure(METHOD_NOT_FOUND, "Method not found", request.method)
        self.relayed.add((request.method, exchange.era, server, ""))
        return success({"relayed": envelope.load(request.params)})

    async def _call(self, exchange: Exchange) -> Envelope:
        request, name = exchange.request, exchange.head.name
        self.relayed.add((request.method, exchange.era, exchange.server, exchange.client))
        match name:
            case "hang":
                try:
                    await asyncio.get_running_loop().create_future()
                finally:
                    self.cancelled.add(bytes(request.id))
            case "ask":
                return await exchange.ask("elicitation/create", dump({"message": "who?"}))
            case "tell":
                exchange.tell("notifications/progress", dump({"progressToken": 1, "progress": 1}))
        return Envelope(result=Raw(self.results[name]) if name in self.results else request.params)

    # its parts

    @property
    def session_servers(self) -> "FakeCorePresenter":
        return self

    @property
    def session_clients(self) -> "FakeCorePresenter":
        return self

    @property
    def router(self) -> "FakeCorePresenter":
        return self

    @property
    def notifications(self) -> "FakeCorePresenter":
        return self

    def take(self, session: Session, method: str, params: Raw, *, server: str | None) -> None:
        self.taken.add((method, server))

    def take_roots(self, session: Session) -> None:
        self.rooted.append(session)

    async def to_resources(self, session: Session, id: Raw, uris: Iterable[str], *, server: str | None) -> list[str]:
        self.listened[bytes(id)] = (list(uris), server)
        return [uri for uri in uris if uri not in self.untold]

    async def to_tasks(self, session: Session, id: Raw, tasks: Sequence[str]) -> list[str]:
        """Those whose ids begin with `own`."""
        return [each for each in tasks if each.startswith("own")]

    def end(self, session: Session, id: Raw) -> None:
        self.unheard.append(bytes(id))
        self.listened.pop(bytes(id), None)

    def follow_lists(self, session: Session, tell: Callable[[str], None]) -> Callable[[], None]:
        self.followers.append(tell)
        return lambda: self.followers.remove(tell)

    def concerns(self, session: Session, server: str, changed: str) -> bool:
        return server not in self.hidden

    def reaches(self, session: Session, server: str) -> bool:
        return server not in self.excluded

    def told_of_tools(self, session: Session) -> None:
        self.told.append(session)

    def hearers(self, client: Any, params: Raw) -> tuple[str, list[tuple[Session, str]]]:
        return envelope.load(params)["uri"], self.hearing

    @property
    def listens(self) -> "FakeCorePresenter":
        return self

    @property
    def extensions(self) -> "FakeCorePresenter":
        return self

    async def open(self, session: Session, id: Raw, params: Raw, *, server: str | None, tell: Callable[[str, Raw], None]) -> dict[str, Any]:
        self.tell_extension = tell
        for method, early in self.early:
            tell(method, early)
        return self.honored

    def has(self, client: Any, params: Raw) -> bool:
        return b"extension" in bytes(params)

    def may_hear(self, session: Session, client: Any, method: str) -> bool:
        return client.owner is session or session not in self.deaf

    def wants_log_message(self, session: Session, params: Raw) -> bool:
        return envelope.load(params).get("level") != "debug"

    def serves(self, client: Any, session: Session) -> bool:
        return session not in self.elsewhere

    def published_uri(self, server: str, uri: str) -> str:
        return self.uris.get((server, uri), uri)

    async def open_server(self, name: str, era: Era, *, session: Session, timeout_s: float) -> Any:
        if name not in self.servers:
            raise TooltrayError(f"server '{name}' is not running")
        greeting = self.servers[name]
        return SimpleNamespace(greeting=greeting, era=greeting.era, owner=session if name in self.own else None)

    async def end_session(self, session: Session) -> None:
        self.ended.append(session)

    def name_client(self, state: SessionState, info: ClientInfo) -> None:
        state.client, state.version = info.name, info.version

    def has_server(self, name: str) -> bool:
        return name in self.servers

    def instructions(self, state: SessionState) -> str:
        return INSTRUCTIONS

    def capabilities(self, session: Session, era: Era, server: str | None) -> dict[str, Any]:
        return self.joined

    def declare(self, state: SessionState, declared: Any) -> None:
        state.declared = declared

    async def finds_server(self, session: Session, name: str) -> bool:
        return name in self.servers_of_projects

    def profile_refusal(self, name: str) -> str:
        return f"no profile '{name}'" if name and name not in self.profiles else ""

    @functools.cached_property
    def verbs(self) -> dict[str, Callable[..., Any]]:
        """Each notes its arguments and answers from `answers`; its signature is the real one's."""
        return {name: self._verb(name, real) for name, real in VERBS.items()}

    def _verb(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(functools.partial(real, self), assigned=())
        async def called(**arguments: Any) -> Any:
            self.calls.add((name, arguments))
            answer = self.answers.get(name)
            if isinstance(answer, Exception):
                raise answer
            return answer

        called.__annotations__ = real.__annotations__
        return called
