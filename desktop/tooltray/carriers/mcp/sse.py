"""HTTP with SSE, the transport of 2024-11-05, for old clients: one GET is the session, messages come by POST beside it.

The first event contains the address for POSTs; when the GET ends, so does the session. Callers have authenticated the request.
"""

import secrets
from collections.abc import Callable

from aiohttp import web

from tooltray.carriers.http_server.answers import cut_of, read_message, start_events, unreadable, write_events
from tooltray.carriers.http_server.event_streams import Event, EventQueue, Pressure, write_parts
from tooltray.carriers.http_server.guard import Refused, accepted
from tooltray.carriers.mcp.http_session import CLIENT_GONE, Dispatcher
from tooltray.carriers.mcp.http_sessions import MAX_SESSIONS, SESSION_ID_BYTES, OpensClients
from tooltray.protocol import envelope
from tooltray.protocol.channels import Outgoing
from tooltray.protocol.envelope import INTERNAL_ERROR
from tooltray.protocol.event_stream import event_parts

GET_METHODS, POST_METHODS = "GET", "POST"


class SseSession:
    """The channel of one client session's dispatcher; everything goes into the one stream."""

    def __init__(self, *, owner: str, server: str, dispatcher: Dispatcher, cut: Callable[[], object] | None = None) -> None:
        self.owner, self.server, self.dispatcher = owner, server, dispatcher
        self.queue = EventQueue(Pressure(dispatcher), cut=cut)
        dispatcher.attach_messages(self)

    def send(self, message: Outgoing) -> None:
        self.queue.put(Event(message))

    def close(self) -> None:
        self.queue.end()


class SseHttp:
    """The endpoint of one address."""

    def __init__(self, opens: OpensClients) -> None:
        self._opens = opens
        self._sessions: dict[str, SseSession] = {}

    async def get(self, request: web.Request, owner: str, server: str, messages_path: str) -> web.StreamResponse:
        """Serves one session, until the response ends.

        Raises:
            Refused: the client does not accept events, or there are too many sessions.
        """
        if not accepted(request.headers.get("Accept"))[1]:
            raise Refused(406, "a client must accept text/event-stream")
        if len(self._sessions) >= MAX_SESSIONS:
            raise Refused(503, "there are too many sessions", code=INTERNAL_ERROR)
        id = secrets.token_urlsafe(SESSION_ID_BYTES)
        dispatcher = self._opens.open_client(server).dispatcher
        session = SseSession(owner=owner, server=server, dispatcher=dispatcher, cut=cut_of(request))
        self._sessions[id] = session
        try:
            response = await start_events(request)
            await write_parts(response, event_parts([f"{messages_path}?sessionId={id}".encode()], type="endpoint"))
            await write_events(response, session.queue)
            return response
        finally:
            del self._sessions[id]
            session.dispatcher.connection_lost(CLIENT_GONE)
            session.queue.discard()

    async def post(self, request: web.Request, owner: str, server: str) -> web.StreamResponse:
        """Raises:
        Refused: the session is unknown, or the body is not a message.
        """
        session = self._sessions.get(request.query.get("sessionId", ""))
        if session is None or (session.owner, session.server) != (owner, server):
            raise Refused(404, "there is no such session")
        body = await read_message(request)
        try:
            envelope.decode(body)
        except envelope.MalformedFrame as error:
            raise unreadable(error, body) from None
        session.dispatcher.receive(body)
        return web.Response(status=202, text="Accepted")

    def dispatchers(self, owner: str | None = None) -> list[Dispatcher]:
        """Returns the dispatchers of one owner's sessions, or all; a session ends with its dispatcher."""
        return [session.dispatcher for session in self._sessions.values() if owner in (None, session.owner)]
