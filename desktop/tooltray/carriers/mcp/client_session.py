"""One AI client's connection: both eras on one dispatcher.

Handshake, discovery, ping and subscriptions are answered here. The era is decided request by request, so a client that tries
`server/discover` and then changes to the legacy handshake is served too.
"""

import asyncio
import time
from collections.abc import Callable, Hashable, Mapping
from functools import partial

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from tooltray.api.presenter.mcp_presenter import McpPresenter
from tooltray.carriers.mcp import greetings
from tooltray.carriers.mcp.client_notices import (
    LISTS,
    PROGRESS,
    PROMPTS_CHANGED,
    RESOURCES_CHANGED,
    TOOLS_CHANGED,
    Listening,
    LiveCalls,
    Wanted,
)
from tooltray.carriers.mcp.first_answers_file import checksum
from tooltray.carriers.mcp.request_recorder import Recorder
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import Event, EventBus, PromptListChanged, ResourceListChanged, ToolListChanged
from tooltray.foundation.tasks import TaskKeeper
from tooltray.gateway.calls.extensions import DEFINED
from tooltray.protocol import declarations, eras
from tooltray.protocol.channels import MAX_CLIENT_LINE_BYTES
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.declarations import shows_views
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, NOTHING, Envelope, dump, failure, success
from tooltray.protocol.eras import (
    BATCH_VERSION,
    CAPABILITY_FOR,
    HANDSHAKE_VERSIONS,
    SUBSCRIPTION_ID_KEY,
    ClientInfo,
    Era,
    Head,
)
from tooltray.protocol.in_flight import AnswerOrder
from tooltray.protocol.member_scanner import opened
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.client_limits import KnownLimits
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.protocol.task_messages import declares_tasks, undeclared
from tooltray.servers.relay.held_calls import HeldCalls
from tooltray.servers.relay.log_levels import LEVELS
from tooltray.servers.upstream.mcp_client import McpClient

ROOTS_CHANGED = "notifications/roots/list_changed"
NOTHING_KNOWN = KnownLimits()
ORDER = AnswerOrder(holds_back=frozenset({"initialize"}), stays_open=frozenset({"subscriptions/listen"}), is_paced=True)
OPENING_WAIT_S = 5.0  # for one server's own greeting; clients wait little longer for a handshake
LOG_LEVELS = frozenset({b"null", *(bytes(dump(level)) for level in LEVELS)})  # of an envelope
# never answered by a server, even if the session has only one
ANSWERED_HERE = frozenset({"initialize", "ping", "server/discover", "subscriptions/listen"})
FIRST = frozenset({"initialize", "server/discover", "logging/setLevel", *LISTS})
AHEAD = b'"tooltray-ahead-'  # how the id of a request begins that a bridge has answered before; the checksum of the result follows


class FirstAnswered(Event, frozen=True):
    """A client behind a bridge has an answer of those with which sessions begin. Never leaves the process.

    Attributes:
        facts: see SessionTerms.
    """

    session: "ClientSession"
    facts: bytes
    era: Era
    method: str
    params: Raw
    result: Raw


class SessionTerms(msgspec.Struct, frozen=True):
    """How a client is served.

    Attributes:
        server: only this server's tools, under their own names; None: the tools of all servers.
        refusal: why this client cannot be served; every request is answered with it.
        must_find: not every session may have the server; the first request waits until the servers of the client's project are known.
        is_lasting: False for a single request without a connection.
        client: the name of its token; several sessions may belong to one client.
        facts: what makes the session of a bridge like another one; empty: its first answers are not noted.
        send_away: asks its bridge to leave, see Connection.send_away; None: its end cannot be announced.
        held: its calls that wait for an answer, if they outlive this session; None: the session's own.
    """

    server: str | None = None
    refusal: str = ""
    must_find: bool = False
    is_lasting: bool = True
    client: str = ""
    facts: bytes = b""
    held: HeldCalls | None = None
    send_away: Callable[[], None] | None = None


class ClientSession:
    """One client's session; serves until its dispatcher is closed. Satisfies Caller, so that servers can send requests to the client."""

    def __init__(
        self,
        *,
        recorder: Recorder,
        terms: SessionTerms,
        state: SessionState,
        presenter: McpPresenter,
        bus: EventBus,
        deadlines: DeadlineWheel,
        limits: KnownLimits = NOTHING_KNOWN,
    ) -> None:
        """
        Args:
            recorder: its name for the client is the session's.
            state: its state, which its next connection takes over.
            limits: how long each client waits for a call.
        """
        self.session: Session = self
        self.name, self.state, self.is_lasting = recorder.client, state, terms.is_lasting
        self.folder = state.folder
        self.identity: Hashable = ("token", terms.client) if terms.client else self
        self.introduction = NOTHING
        self.request_count = 0  # answered
        self._facts, self._send_away = terms.facts, terms.send_away
        self._greeted: dict[str, tuple[Raw, Era, str]] = {}  # by method: params, era and version of the last greeting
        self._server, self._refusal, self._must_find = terms.server, terms.refusal, terms.must_find
        self._bus, self._servers, self._clients = bus, presenter.session_servers, presenter.session_clients
        self._router, self._notifications = presenter.router, presenter.router.notifications
        self.capabilities = Raw(b"{}")  # declared in the legacy handshake
        self._declared, self._shows_views = b"", False
        self._client = self.name
        self._tasks = TaskKeeper()
        self._held = terms.held or HeldCalls(deadlines=deadlines, spawn=self._tasks.spawn)
        self._own_held = None if terms.held else self._held
        self._limits, self._live = limits, LiveCalls(deadlines=deadlines, tell=self._tell_progress)
        self._recorder = recorder
        self._is_initialized = asyncio.Event()
        self.dispatcher = RawDispatcher(
            name=self.name,
            deadlines=deadlines,
            answer=self._answer,
            take_notification=self._take_notification,
            order=ORDER,
            max_line_bytes=MAX_CLIENT_LINE_BYTES,
        )
        self.dispatcher.note_refusal = self._note_refusal
        if not terms.is_lasting:  # no bridge repeats the request to the next hub
            self.dispatcher.farewell = end_of_listening
        self.listening = Listening(self.dispatcher, on_tools_told=self._on_tools_told)

    async def finish(self) -> None:
        """Waits until no request is in flight; a bridge that leaves when it is asked to is asked, and waited for until it has left."""
        if self._send_away is None:
            await self.dispatcher.idle()
        else:
            self._send_away()
            await self.dispatcher.closed.wait()

    async def run(self) -> None:
        """Serves until the client has disconnected."""
        news = {ToolListChanged: TOOLS_CHANGED, PromptListChanged: PROMPTS_CHANGED, ResourceListChanged: RESOURCES_CHANGED}
        unsubscribe = [self._bus.subscribe(kind, partial(self._on_list_changed, method)) for kind, method in news.items()]
        unsubscribe.append(self._notifications.follow_lists(self, self.listening.list_changed))
        try:
            await self.dispatcher.closed.wait()
        finally:
            for end in unsubscribe:
                end()
            self.listening.close()
            if self._own_held:
                self._own_held.close()
            await self._tasks.close()
            await self._clients.end_session(self)

    # requests and notifications of servers for the client (Session)

    def can_answer(self, method: str) -> bool:
        return CAPABILITY_FOR[method] in opened(self.capabilities)

    async def ask(self, method: str, params: Raw, *, about: Raw = NOTHING) -> Envelope:
        await self._is_initialized.wait()  # the client may refuse an earlier request
        return await self.dispatcher.call(method, params, about=about)

    def tell(self, method: str, params: Raw, *, about: Raw = NOTHING) -> None:
        """Sends a notification to the client; drops it if the client does not read."""
        if method == PROGRESS and about and self._live:
            params = self._live.passes(params, about)
        if not self.dispatcher.is_congested:
            self.dispatcher.send_notification(method, params, about=about)

    def _tell_progress(self, params: Raw, about: Raw) -> None:
        """Sends the hub's own progress of a call whose server reports none."""
        if not self.dispatcher.is_congested:
            self.dispatcher.send_notification(PROGRESS, params, about=about)

    def tell_server_news(self, method: str, params: Raw) -> None:
        """Sends a legacy client a server's notification outside of calls; modern clients open a `subscriptions/listen`."""
        if self.listening.is_legacy and self.listening.has_answered:
            self.tell(method, params)

    def tell_task_news(self, id: str, params: Raw) -> None:
        """Sends the new state of a task that a modern client listens for."""
        self.listening.task_changed(id, params)

    @property
    def server(self) -> str | None:
        return self._server

    # requests

    def _note_refusal(self, id: Raw, refusal: Envelope) -> None:
        self._recorder.refused(id, refusal)
        self.request_count += 1

    async def _answer(self, request: Envelope) -> Envelope:
        recorded = self._recorder.received(request)
        if self._must_find and self._server and not self._refusal:
            self._must_find = not await self._servers.finds_server(self, self._server)
        exchange = self._exchange(request)
        if isinstance(exchange, Envelope):
            reply = exchange
        elif request.method in ANSWERED_HERE:
            reply = await self._answer_here(request, exchange.era)
        else:
            changes = self.listening.changes(request.method) if request.method in LISTS else 0
            reply = await (self._answer_live(exchange) if exchange.head.meta.progress_token else self._router.answer(exchange))
            exchange.timings.sent_at = time.perf_counter()
            if request.method in LISTS:
                self.listening.seen(request.method, changes)
        self._recorder.answered(recorded, reply)
        self.request_count += 1
        if not self.listening.has_answered and request.method != "initialize":
            self.listening.answered()
        if request.method in FIRST and isinstance(exchange, Exchange):
            self._on_first_answer(request, exchange.era, reply)
        return reply

    def _on_first_answer(self, request: Envelope, era: Era, reply: Envelope) -> None:
        """Publishes an answer with which sessions begin, and what greets the client now; and compares with what a bridge has answered."""
        id = bytes(request.id)
        if request.method in LISTS and id.startswith(AHEAD) and not id.startswith(AHEAD + checksum(bytes(reply.result))):
            self.listening.answered_otherwise(request.method)
        if not self._facts or not reply.result:
            return
        if self._server is None:
            for method, (params, of, version) in self._greeted.items():
                greeting = self._greeting(None, of)
                result = eras.with_members(greeting, protocolVersion=dump(version)) if version else greeting
                self._bus.publish(FirstAnswered(self, self._facts, of, method, params, result))
        if request.method not in self._greeted:
            self._bus.publish(FirstAnswered(self, self._facts, era, request.method, request.params, reply.result))

    async def _answer_live(self, exchange: Exchange) -> Envelope:
        """Answers a request, and keeps its client notified in time while it runs."""
        id = exchange.request.id  # a stage may put another request in its place
        self._live.begin(exchange, self._limits.limits_of(self.state.client))
        try:
            return await self._router.answer(exchange)
        finally:
            self._live.end(id)

    def _exchange(self, request: Envelope) -> Exchange | Envelope:
        """Returns a request with its context; otherwise the error in it, or why this client is not served."""
        if self._refusal:
            return failure(INTERNAL_ERROR, self._refusal)
        if self._must_find and self._server:
            return failure(INTERNAL_ERROR, f"Tooltray has no server '{self._server}'")
        head = eras.read_head(request.params)
        if head is None and request.method not in DEFINED:
            head = eras.read_meta_alone(request.params)
        if head is None:
            return failure(INVALID_PARAMS, "Invalid request parameters")
        if head.meta.version and request.method != "initialize":
            if fault := _envelope_fault(head):
                return fault
            if bytes(head.meta.capabilities) != self._declared:
                self._declare(head.meta.capabilities)
            self.state.shows_views = self._shows_views  # another connection of the same client may have declared otherwise
            if request.method not in ANSWERED_HERE and not (self.is_lasting and self.state.client):  # no `initialize` named it
                self._call_client(eras.read_client_info(request.params))
        return Exchange(request, head, self, self._held, self._server, self._client)

    async def _answer_here(self, request: Envelope, era: Era) -> Envelope:
        match request.method, era:
            case "initialize", _:
                return await self._initialize(request)
            case "ping", Era.LEGACY:
                return success({})
            case "server/discover", Era.MODERN:
                return await self._discover(request)
            case "subscriptions/listen", Era.MODERN:
                return await self._listen(request)
        return failure(METHOD_NOT_FOUND, "Method not found", request.method)

    async def _initialize(self, request: Envelope) -> Envelope:
        try:
            asked = msgspec.json.decode(request.params, type=_Initialize)
        except (ValueError, RecursionError) as error:
            return failure(INVALID_PARAMS, f"Invalid request parameters: {error}")
        self.introduction = request.params
        self.capabilities = dump(asked.capabilities)
        self._declare(self.capabilities)
        self._call_client(asked.client_info)
        version = asked.protocol_version if asked.protocol_version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        server = await self._open_server(Era.LEGACY)
        if server and server.owner is self and server.era is Era.LEGACY:
            version = server.greeting.version  # started with the client's own request
        self.dispatcher.takes_batches = version == BATCH_VERSION
        if server is None:
            self._greeted["initialize"] = request.params, Era.LEGACY, version
        return Envelope(result=eras.with_members(self._greeting(server, Era.LEGACY), protocolVersion=dump(version)))

    def _declare(self, capabilities: Raw) -> None:
        """Stores what this client declares: once in the legacy era, with each request in the modern one."""
        self._declared = bytes(capabilities)
        self._shows_views = self.state.shows_views = shows_views(capabilities)
        self._clients.declare(self.state, declarations.read_raw(capabilities))

    def _call_client(self, info: ClientInfo) -> None:
        """Stores the name that the client gives itself, for later records."""
        self._clients.name_client(self.state, info)
        self._client = self._recorder.client = f"{info.name} {info.version}".strip()

    async def _discover(self, request: Envelope) -> Envelope:
        self._call_client(eras.read_client_info(request.params))
        server = await self._open_server(Era.MODERN)
        if server is None:
            self._greeted["server/discover"] = request.params, Era.MODERN, ""
        return Envelope(result=self._greeting(server, Era.MODERN))

    def _greeting(self, server: McpClient | None, era: Era) -> Raw:
        if server is None:
            instructions = "" if self._server else self._clients.instructions(self.state)
            return greetings.of_hub(era, instructions, self._clients.capabilities(self, era, self._server))
        return greetings.of_server(server.greeting, era)

    async def _open_server(self, era: Era) -> McpClient | None:
        """Returns the one server of this session, if the session has only one and it is available soon."""
        if self._server is None or not self._notifications.reaches(self, self._server):
            return None
        try:
            return await self._servers.open_server(self._server, era, session=self, timeout_s=OPENING_WAIT_S)
        except TooltrayError:
            return None

    async def _listen(self, request: Envelope) -> Envelope:
        """Serves one stream of notifications: acknowledged first, open until the client cancels it or disconnects."""
        try:
            wanted = msgspec.json.decode(request.params, type=_Listen).notifications
        except (ValueError, RecursionError) as error:
            return failure(INVALID_PARAMS, f"Invalid request parameters: {error}")
        if wanted.tasks and not declares_tasks(request.params):
            return undeclared()
        if server := await self._open_server(Era.MODERN):
            wanted = wanted.offered(server.greeting.capabilities)
        end: asyncio.Future[Envelope] = asyncio.get_running_loop().create_future()
        try:
            told = await self._notifications.listens.to_resources(self, request.id, wanted.uris, server=self._server)
            tasks = await self._notifications.listens.to_tasks(self, request.id, wanted.tasks) if wanted.tasks else []
            self.listening.open(request.id, replace(wanted, uris=told, tasks=tasks), await self._listen_to_extensions(request))
            return await end
        finally:
            self.listening.end(request.id)
            self._notifications.listens.end(self, request.id)

    async def _listen_to_extensions(self, request: Envelope) -> Mapping[str, object]:
        """Returns what else the listen requests, as far as servers have acknowledged it."""
        tell = partial(self.listening.tell, request.id)
        return await self._notifications.listens.extensions.open(self, request.id, request.params, server=self._server, tell=tell)

    # notifications

    def _take_notification(self, message: Envelope) -> None:
        if message.method == "notifications/initialized":
            self.listening.initialized()
            self._is_initialized.set()
            self._clients.take_roots(self)
        else:
            if message.method == ROOTS_CHANGED:
                self._clients.take_roots(self)
            self._notifications.take(self, message.method, message.params, server=self._server)

    def _on_list_changed(self, method: str, event: ToolListChanged | PromptListChanged | ResourceListChanged) -> None:
        if self._server in (None, event.server) and self._notifications.concerns(self, event.server, method):
            self.listening.list_changed(method)

    def _on_tools_told(self) -> None:
        self._notifications.told_of_tools(self)


def end_of_listening(id: Raw) -> Envelope:
    """Returns the reply that ends a client's `subscriptions/listen` when the hub ends it; no earlier notification was lost."""
    return success({"resultType": "complete", "_meta": {SUBSCRIPTION_ID_KEY: id}})


class _Initialize(msgspec.Struct):
    protocol_version: str = msgspec.field(name="protocolVersion")
    capabilities: dict[str, Raw] = {}
    client_info: ClientInfo = msgspec.field(name="clientInfo", default_factory=ClientInfo)


class _Listen(msgspec.Struct):
    notifications: Wanted


def _envelope_fault(head: Head) -> Envelope | None:
    """Returns the error of a modern request's envelope, in the form that the specification requires."""
    capabilities = bytes(head.meta.capabilities)
    if not capabilities:
        return failure(INVALID_PARAMS, "params._meta lacks a part of the envelope of 2026-07-28: protocolVersion or clientCapabilities")
    if not eras.is_version_spoken(head):
        if not bytes(head.meta.version).startswith(b'"'):
            return failure(INVALID_PARAMS, "the protocol version in the envelope must be a string")
        return eras.unsupported_version(head.meta.version)
    if not capabilities.startswith(b"{"):
        return failure(INVALID_PARAMS, "the client's capabilities in the envelope must be an object")
    if (level := bytes(head.meta.log_level)) and level not in LOG_LEVELS:
        return failure(INVALID_PARAMS, f"no such log level in the envelope; available: {', '.join(LEVELS)}")
    return None
