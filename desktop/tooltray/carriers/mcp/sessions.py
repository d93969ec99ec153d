"""All sessions of the hub: makes a session for each connection, counts them, ends them together."""

import asyncio
import itertools
import sys
from collections.abc import Collection, Hashable, Iterable

from msgspec import Raw

from tooltray.api.presenter.mcp_presenter import McpPresenter
from tooltray.carriers.control.control_session import ControlSessions
from tooltray.carriers.mcp.client_notices import ACKNOWLEDGED, PROMPTS_CHANGED, RESOURCES_CHANGED, TOOLS_CHANGED
from tooltray.carriers.mcp.client_session import ClientSession, SessionTerms
from tooltray.carriers.mcp.local_socket import CONTROL, Connection, Hello
from tooltray.carriers.mcp.request_recorder import Recorder
from tooltray.foundation.events import EventBus, SessionsChanged
from tooltray.foundation.tasks import TaskKeeper
from tooltray.gateway.calls.extensions import DEFINED
from tooltray.protocol import eras
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.client_limits import KnownLimits
from tooltray.protocol.sessions.session_state import SessionStates
from tooltray.protocol.task_messages import STATUS_NEWS
from tooltray.records.log.structured_log import StructuredLog
from tooltray.servers.relay.held_calls import HeldCalls

if sys.platform == "win32":
    from tooltray.carriers.control.local_windows import leaders_of
else:
    from tooltray.carriers.control.local_posix import leaders_of
from tooltray.servers.upstream.managed_server import ServerNotified
from tooltray.servers.upstream.mcp_client import McpClient

LIST_CHANGES = frozenset({TOOLS_CHANGED, PROMPTS_CHANGED, RESOURCES_CHANGED})
LEADS_BACK = "this server connects Tooltray to itself; remove its entry"


class Sessions:
    """The open sessions. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        presenter: McpPresenter,
        states: SessionStates,
        bus: EventBus,
        deadlines: DeadlineWheel,
        log: StructuredLog,
        client_limits: KnownLimits,
        control_sessions: ControlSessions,
    ) -> None:
        self._presenter, self._bus, self._deadlines, self._log = presenter, bus, deadlines, log
        self._servers, self._notifications = presenter.session_servers, presenter.router.notifications
        self._states, self._limits, self._controls = states, client_limits, control_sessions
        self._numbers = itertools.count(1)
        self._tasks = TaskKeeper()
        self._clients: set[ClientSession] = set()
        self._finished_requests = 0  # requests of ended sessions, and requests without a session
        bus.subscribe(ServerNotified, self._on_server_notified)

    def open(self, hello: Hello, connection: Connection) -> RawDispatcher:
        """Makes the session that a hello asks for; returns its dispatcher."""
        if hello.role == CONTROL:
            return self._controls.open(peer_pid=hello.peer_pid, is_at_terminal=hello.is_at_terminal, wants_events=hello.wants_events)
        key = ("bridge", hello.session, hello.server, hello.profile) if hello.session else None
        refusal = self._refusal(hello)
        must_find = bool(hello.server) and not self._servers.has_server(hello.server or "")
        facts = b"" if refusal or must_find or key is None else hello.facts
        send_away = connection.send_away if hello.leaves else None
        terms = SessionTerms(hello.server, refusal, must_find, facts=facts, send_away=send_away)
        return self._open(terms, folder=hello.cwd, profile=hello.profile, key=key).dispatcher

    def open_client(self, server: str | None, *, is_lasting: bool = True, client: str = "", held: HeldCalls | None = None) -> ClientSession:
        """Makes an AI client's session, which ends with its dispatcher; the caller attaches the dispatcher to the client's connection.

        Args:
            server, is_lasting, client, held: see SessionTerms.
        """
        return self._open(SessionTerms(server, is_lasting=is_lasting, client=client, held=held))

    def _open(self, terms: SessionTerms, *, folder: str = "", profile: str = "", key: Hashable = None) -> ClientSession:
        """Args:
        folder, profile: see SessionState.
        key: identifies the client's next connection, which continues with this one's state; None: the state ends with the session.
        """
        number = next(self._numbers)
        is_passing = not (terms.is_lasting or terms.client or key)
        key = ("token", terms.client, terms.server) if terms.client else key or number
        state = self._states.connect(
            key, server=terms.server, folder=folder, profile=profile, is_lasting=terms.is_lasting, is_passing=is_passing
        )
        session = ClientSession(
            recorder=Recorder(self._log, f"client {number}"),
            terms=terms,
            state=state,
            presenter=self._presenter,
            bus=self._bus,
            deadlines=self._deadlines,
            limits=self._limits,
        )
        self._clients.add(session)
        if terms.is_lasting:
            self._count()
        self._tasks.spawn(self._serve(session, key), name=session.name)
        return session

    def note_refusal(self, id: Raw, refusal: Envelope) -> None:
        """Records and counts an error over HTTP outside of sessions."""
        Recorder(self._log, "http").refused(id, refusal)
        self._finished_requests += 1

    @property
    def clients(self) -> Collection[ClientSession]:
        """The sessions of AI clients that are connected now."""
        return self._clients

    @property
    def count(self) -> int:
        """AI clients connected now; a single request without a session is not counted as a connection."""
        return sum(session.is_lasting for session in self._clients)

    @property
    def request_count(self) -> int:
        """Requests of AI clients answered since the start."""
        return self._finished_requests + sum(session.request_count for session in self._clients)

    @property
    def is_busy(self) -> bool:
        """Reports whether an AI client waits for an answer."""
        return any(session.dispatcher.requests_in_flight for session in self._clients)

    def _on_server_notified(self, event: ServerNotified) -> None:
        """Passes a notification on to the sessions that it concerns, as far as that can be known."""
        client, method, params = event.client, event.method, event.params
        server = client.name
        match method:
            case "notifications/message":
                self._pass_log_message(server, client, params)
            case "notifications/resources/updated":
                self._pass_update(server, client, eras.without_subscription_id(params))
            case "notifications/elicitation/complete":
                self._pass_completion(server, client, params)
            case _ if method in LIST_CHANGES and client.owner is None:
                pass  # the hub lists again, and notifies if the list is different
            case _ if method in LIST_CHANGES:
                for session in self._concerned(server, client):
                    if self._notifications.concerns(session, server, method):
                        session.listening.list_changed(method)
            case _ if method in STATUS_NEWS:
                pass  # of a task, which belongs to one client
            case _ if self._notifications.listens.extensions.has(client, params):
                pass  # it is for the client with this listen
            case _ if method != ACKNOWLEDGED:  # a notification of the hub's own listens
                self._pass_other(server, client, method, eras.without_subscription_id(params))

    def _pass_log_message(self, server: str, client: McpClient, params: Raw) -> None:
        """Passes a log message to the session that calls, if there is only one; otherwise to all with this server that want messages."""
        calling = {each.session.identity: each for each in client.exchanges()}
        if len(calling) == 1:
            (exchange,) = calling.values()
            if self._notifications.wants_log_message(exchange.session, params):
                exchange.tell("notifications/message", params)
            return
        for session in self._concerned(server, client):
            if self._notifications.wants_log_message(session, params):
                session.tell_server_news("notifications/message", params)

    def _pass_other(self, server: str, client: McpClient, method: str, params: Raw) -> None:
        """Passes a notification unknown to the hub to the sessions that may get it; to a modern client only while no other client calls."""
        may_hear = self._notifications.may_hear
        for session in self._concerned(server, client):
            if may_hear(session, client, method):
                session.tell_server_news(method, params)
        calling = {each.session.identity: each for each in client.exchanges()}
        exchange = next(iter(calling.values())) if len(calling) == 1 else None
        if exchange and exchange.era is Era.MODERN and method not in DEFINED and may_hear(exchange.session, client, method):
            exchange.tell(method, params)

    def _pass_update(self, server: str, client: McpClient, params: Raw) -> None:
        uri, hearers = self._notifications.hearers(client, params)
        for session in self._reaching(server, self._clients):
            asked_for = [self._known(session, server, asked) for hearer, asked in hearers if hearer is session]
            known = self._known(session, server, uri)
            for asked in asked_for:
                session.listening.updated(asked, params if known == uri else eras.with_members(params, uri=dump(known)))

    def _pass_completion(self, server: str, client: McpClient, params: Raw) -> None:
        """Passes the completion of a URL elicitation to the client that got the page's URL, even after it has reconnected; otherwise to the
        instance's owner.
        """
        asked = client.url_questions.ended(params) or client.owner
        if asked is None:
            return
        is_there = asked in self._clients
        known_by = [each for each in self._clients if each is asked or (not is_there and each.state is asked.state)]
        for session in self._reaching(server, known_by):
            session.tell_server_news("notifications/elicitation/complete", params)

    def _known(self, session: ClientSession, server: str, uri: str) -> str:
        """Returns the URI by which a client knows a server's resource."""
        return uri if session.server else self._servers.published_uri(server, uri)

    def _concerned(self, server: str, client: McpClient) -> list[ClientSession]:
        """Returns the instance's owner; for a shared instance, the sessions that have only this server or all servers."""
        if client.owner is not None:
            return [session for session in self._reaching(server, self._clients) if session is client.owner]
        concerned = (session for session in self._clients if session.server in (None, server))
        return [session for session in self._reaching(server, concerned) if self._servers.serves(client, session)]

    def _reaching(self, server: str, sessions: Iterable[ClientSession]) -> list[ClientSession]:
        """Returns the sessions whose profile includes a server; others do not get its messages."""
        return [session for session in sessions if self._notifications.reaches(session, server)]

    async def close(self, reason: str, *, grace_s: float) -> None:
        """Ends all sessions: calls in flight may finish within `grace_s`, then they are answered with `reason`."""
        clients = [session.dispatcher.close(reason, grace_s=grace_s) for session in self._clients]
        await asyncio.gather(*clients, self._controls.close(reason, grace_s=grace_s))
        await self._tasks.close()

    async def finish_calls(self, *, within_s: float) -> None:
        """Waits until no AI client's request is in flight and all bridges that can have left, at most `within_s` seconds.

        A request that reaches the hub in its last moment would be lost, so bridges keep what their clients send from now on.
        """
        waiting = [session.finish() for session in self._clients]
        if waiting:
            await asyncio.wait([self._tasks.spawn(each, name="finish calls") for each in waiting], timeout=within_s)

    async def _serve(self, session: ClientSession, key: Hashable) -> None:
        try:
            await session.run()
        finally:
            self._clients.discard(session)
            self._states.disconnect(key, is_lasting=session.is_lasting)
            self._finished_requests += session.request_count
            if session.is_lasting:
                self._count()

    def _count(self) -> None:
        self._bus.publish(SessionsChanged(self.count))

    def _refusal(self, hello: Hello) -> str:
        if self._leads_back(hello.peer_pid):
            return LEADS_BACK
        return self._presenter.session_clients.profile_refusal(hello.profile)

    def _leads_back(self, pid: int) -> bool:
        """Reports whether a bridge was started by one of the hub's own servers."""
        return bool(pid) and not leaders_of(pid).isdisjoint(self._servers.server_pids)
