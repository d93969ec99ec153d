"""Keeps the events of the reference's SSE streams, so that a client that comes back gets what it missed."""

from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.types import JSONRPCMessage


class KeptEvents(EventStore):
    """All events of one run; an event's id is its place in the list, counted from 1."""

    def __init__(self) -> None:
        self._events: list[tuple[str, JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        seen = int(last_event_id) if last_event_id.isdecimal() else 0
        if not 0 < seen <= len(self._events):
            return None
        stream = self._events[seen - 1][0]
        for place, (its_stream, message) in enumerate(self._events[seen:], seen + 1):
            if its_stream == stream and message is not None:  # None is a stream's first, empty event
                await send_callback(EventMessage(message, str(place)))
        return stream
