"""The sessions of legacy clients over streamable HTTP: found by their id, bounded in number, ended when unused.

A session is the channel of a dispatcher: it sorts messages into responses, and keeps messages for a client that reconnects. Each POST of a
request has a stream, and stream 0 has the messages that belong to no request: the client reads it by a GET. A stream outlives its response:
the request continues when its client has disconnected, and messages are kept until the client requests them with the id of the last event
that it saw. Ids are `<stream>-<number>`, numbered over the whole session.
"""

import contextlib
import secrets
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from tooltray.carriers.http_server.answers import Event, EventQueue, Pressure
from tooltray.carriers.mcp.sessions import Sessions
from tooltray.protocol.channels import Outgoing
from tooltray.protocol.deadlines import Deadline, DeadlineWheel
from tooltray.protocol.dispatcher import RawDispatcher

KEPT_BYTES = 2**20  # bytes kept in each session for a client that reconnects; the newest message is kept at any size, until it is written
KEEPING_BYTES = 512  # bytes that keeping a message costs besides its text
MAX_STREAMS = 1024  # requests of one session that wait at once; a client with more is faulty
BATCH_VERSION = "2025-03-26"  # the only version with batches
PRIMED_VERSION = "2025-11-25"  # from this version on, a stream begins with an event that only has an id
CLIENT_GONE = "the AI client disconnected"

Cut = Callable[[], object] | None
"""Ends the connection of a response at once."""
MAX_SESSIONS = 1000
IDLE_EXPIRY_S = 1800.0  # killed clients do not end their sessions
SESSION_ID_BYTES = 24  # besides its token, the id identifies the client, so it must not be guessable
EXPIRED = "the session was idle for too long"


class Stream:
    """The messages of one POST, or, as number 0, those that belong to no POST.

    Attributes:
        keys: the ids of its requests.
        is_complete: no more messages will come.
        is_resumable: its response carries ids, so that unwritten messages are kept.
        queue: the unwritten messages of its response; None while no response is open.
    """

    def __init__(self, number: int, keys: Sequence[bytes] = ()) -> None:
        self.number, self.keys = number, keys
        self.is_complete = self.is_resumable = False
        self.kept_count = 0  # number of its events that can still be sent again
        self.queue: EventQueue | None = None


class _Initialized(msgspec.Struct):
    version: str = msgspec.field(name="protocolVersion", default="")


class HttpSession:
    """The channel of one client session's dispatcher.

    Attributes:
        owner: the client whose token opened it.
        server: its only server, or None for all.
        version: the protocol version agreed on; empty until then.
    """

    def __init__(
        self, *, id: str, owner: str, server: str | None, dispatcher: RawDispatcher, on_closed: Callable[["HttpSession"], None]
    ) -> None:
        self.id, self.owner, self.server, self.dispatcher = id, owner, server, dispatcher
        self.version = ""
        self.is_closed = False
        self._on_closed = on_closed
        self._pressure = Pressure(dispatcher)
        self._standing = Stream(0)
        self._standing.is_resumable = True
        self._streams: dict[int, Stream] = {0: self._standing}
        self._by_key: dict[bytes, Stream] = {}
        self._kept: deque[tuple[Stream, Event]] = deque()
        self._kept_bytes = self._last_stream = self._last_event = 0
        self._initialize = b""  # the id of `initialize`, while it is not answered
        self._keeping = dispatcher.unsent.all.of(is_server=False)
        self._keeping.ends.add(self._drop_kept)
        dispatcher.attach_messages(self)

    # methods for the dispatcher

    def send(self, message: Outgoing) -> None:
        is_reply = not message.method
        stream = self._stream_for(message)
        if is_reply:
            self._note_version(message)
        if stream is None:
            return  # its client disconnected before it had an id to resume from
        self._last_event += 1
        event = Event(message, f"{stream.number}-{self._last_event}", self._last_event)
        if stream.is_resumable:
            self._keep(stream, event)
        if stream.queue:
            stream.queue.put(event)
        if is_reply:
            self._complete(stream)

    def close(self) -> None:
        """Closes the session after its dispatcher has ended; answers are still written."""
        if self.is_closed:
            return
        self.is_closed = True
        self._drop_kept()
        for stream in list(self._streams.values()):
            self._complete(stream)
        self._on_closed(self)

    # methods for the endpoint

    @property
    def is_idle(self) -> bool:
        """Reports whether no response is open and no request is being answered."""
        return not self.dispatcher.requests_in_flight and not any(stream.queue for stream in self._streams.values())

    @property
    def is_standing_open(self) -> bool:
        return self._standing.queue is not None

    @property
    def is_full(self) -> bool:
        return len(self._by_key) >= MAX_STREAMS

    @property
    def is_primed(self) -> bool:
        return self.version >= PRIMED_VERSION

    @property
    def takes_batches(self) -> bool:
        return self.version == BATCH_VERSION

    def is_waiting_for(self, keys: Sequence[bytes]) -> bool:
        """Reports whether one of these requests is in flight."""
        return any(key in self._by_key for key in keys)

    def begin(self, keys: Sequence[bytes], *, is_initialize: bool = False, cut: Cut = None) -> Stream:
        """Opens a stream for a POST of requests, with a queue for its response, whose connection `cut` ends."""
        self._last_stream += 1
        stream = Stream(self._last_stream, keys)
        stream.queue = EventQueue(self._pressure, self._on_written, cut=cut)
        self._streams[stream.number] = stream
        self._by_key.update(dict.fromkeys(keys, stream))
        if is_initialize:
            self._initialize = keys[0]
        return stream

    def make_resumable(self, stream: Stream) -> str:
        """Keeps a stream's unwritten messages from now on, since its response carries ids; returns the id to send before the first
        event.
        """
        stream.is_resumable = True
        for event in stream.queue.waiting if stream.queue else ():
            self._keep(stream, event)
        return f"{stream.number}-0"

    def give_up(self, key: bytes) -> None:
        """Completes the stream of a request that the client cancelled: it will not be answered."""
        stream = self._by_key.get(key)
        if stream and len(stream.keys) == 1:
            self._complete(stream)

    def resume(self, event_id: str, cut: Cut = None) -> Stream | None:
        """Returns the stream of an event, with a queue for a new response that begins after the event; None if the stream is unknown."""
        stream_number, _, event_number = event_id.partition("-")
        if not (stream_number.isdecimal() and event_number.isdecimal()):
            return None
        stream = self._streams.get(int(stream_number))
        if stream is None or not stream.is_resumable:
            return None
        self._reopen(stream, lambda event: event.number > int(event_number), cut)
        return stream

    def open_standing(self, cut: Cut = None) -> Stream:
        """Returns stream 0, with a queue that begins with the unread messages."""
        self._reopen(self._standing, lambda event: not event.is_written, cut)
        return self._standing

    def left(self, stream: Stream, queue: EventQueue) -> None:
        """Detaches a stream from its response, which has ended; the client may reconnect for unread messages."""
        queue.discard()
        if stream.queue is queue:  # and the queue does not belong to another response
            stream.queue = None
        if not stream.is_resumable:
            self._forget(stream)
        else:
            self._drop_if_over(stream)

    # inside

    def _stream_for(self, message: Outgoing) -> Stream | None:
        key = bytes(message.about or message.id) if not message.method else bytes(message.about)
        if stream := self._by_key.get(key):
            return stream
        is_question = bool(message.method and message.id)
        return self._standing if is_question or (message.method and not key) else None

    def _note_version(self, message: Outgoing) -> None:
        if not self._initialize or bytes(message.id) != self._initialize:
            return
        self._initialize = b""
        with contextlib.suppress(ValueError):
            self.version = msgspec.json.decode(message.payload, type=_Initialized).version or self.version  # an error has no version

    def _complete(self, stream: Stream) -> None:
        stream.is_complete = True
        for key in stream.keys:
            self._by_key.pop(key, None)
        if stream.queue:
            stream.queue.end()

    def _reopen(self, stream: Stream, is_wanted: Callable[[Event], bool], cut: Cut) -> None:
        if stream.queue:
            stream.queue.discard()  # the earlier response belongs to a dead connection, or to one that this response replaces
        stream.queue = EventQueue(self._pressure, self._on_written, cut=cut)
        for kept, event in self._kept:
            if kept is stream and is_wanted(event):
                stream.queue.put(event)
        if stream.is_complete:
            stream.queue.end()

    def _keep(self, stream: Stream, event: Event) -> None:
        self._kept.append((stream, event))
        stream.kept_count += 1
        self._kept_bytes += event.size + KEEPING_BYTES
        self._trim()
        self._keeping.hold(self._kept_bytes)

    def _on_written(self, event: Event) -> None:
        self._trim()
        self._keeping.hold(self._kept_bytes)

    def _drop_kept(self) -> None:
        """Drops the kept messages: a client that reconnects misses them."""
        while self._kept:
            self._drop_oldest()
        self._keeping.hold(0)

    def _trim(self) -> None:
        while self._kept and self._kept_bytes > KEPT_BYTES and (len(self._kept) > 1 or self._kept[0][1].is_written):
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        stream, event = self._kept.popleft()
        self._kept_bytes -= event.size + KEEPING_BYTES
        stream.kept_count -= 1
        self._drop_if_over(stream)

    def _drop_if_over(self, stream: Stream) -> None:
        if stream.is_complete and not (stream.queue or stream.kept_count):
            self._streams.pop(stream.number, None)

    def _forget(self, stream: Stream) -> None:
        self._streams.pop(stream.number, None)
        for key in stream.keys:
            self._by_key.pop(key, None)


class HttpSessions:
    """The open sessions. Belongs to one event loop."""

    def __init__(
        self, opens: Sessions, *, deadlines: DeadlineWheel, max_sessions: int = MAX_SESSIONS, idle_expiry_s: float = IDLE_EXPIRY_S
    ) -> None:
        self._opens, self._deadlines = opens, deadlines
        self._max_sessions, self._idle_expiry_s = max_sessions, idle_expiry_s
        self._sessions: OrderedDict[str, HttpSession] = OrderedDict()  # the most recently used one is last
        self._expiries: dict[str, Deadline] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, owner: str, server: str | None) -> HttpSession | None:
        """Opens a session; if there are too many, replaces the one that was idle for longest. Returns None if no session is idle."""
        if len(self._sessions) >= self._max_sessions and not self._end_oldest_idle():
            return None
        id = secrets.token_urlsafe(SESSION_ID_BYTES)
        dispatcher = self._opens.open_client(server).dispatcher
        session = HttpSession(id=id, owner=owner, server=server, dispatcher=dispatcher, on_closed=self._on_closed)
        self._sessions[id] = session
        self._expiries[id] = self._deadlines.add(self._idle_expiry_s, partial(self._on_expiry, id))
        return session

    def find(self, id: str, owner: str, server: str | None) -> HttpSession | None:
        """Returns the session of this id, if it is this client's and this endpoint's, and marks it as used now."""
        session = self._sessions.get(id)
        if session is None or (session.owner, session.server) != (owner, server):
            return None
        self.touch(session)
        return session

    def touch(self, session: HttpSession) -> None:
        """Marks a session as used now."""
        if session.id in self._sessions:
            self._sessions.move_to_end(session.id)
            self._expiries[session.id].restart()

    def end(self, session: HttpSession, reason: str = CLIENT_GONE) -> None:
        session.dispatcher.connection_lost(reason)  # closes the session's streams, and removes the session
        session.close()  # if the dispatcher was closed before

    def dispatchers(self, owner: str | None = None) -> list[RawDispatcher]:
        """Returns the dispatchers of one owner's sessions, or all; a session ends with its dispatcher."""
        return [session.dispatcher for session in self._sessions.values() if owner in (None, session.owner)]

    def _end_oldest_idle(self) -> bool:
        oldest = next((session for session in self._sessions.values() if session.is_idle), None)
        if oldest:
            self.end(oldest, EXPIRED)
        return oldest is not None

    def _on_expiry(self, id: str) -> None:
        session = self._sessions[id]
        if session.is_idle:
            self.end(session, EXPIRED)
        else:
            self._expiries[id] = self._deadlines.add(self._idle_expiry_s, partial(self._on_expiry, id))

    def _on_closed(self, session: HttpSession) -> None:
        del self._sessions[session.id]
        self._expiries.pop(session.id).cancel()
