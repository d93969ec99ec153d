"""Server-sent events, read and written at a cost linear in their size.

The rules are the WHATWG's "server-sent events", except that an event without data also counts here if it sets an id or a reconnection time,
as MCP's first event of a resumable stream does.
"""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Raw

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
KEEPALIVE = b": keepalive\n\n"  # a comment: no reader makes an event of it
MEDIA_TYPE = "text/event-stream"
_LF, _CR = 10, 13


class Event(msgspec.Struct):
    """A server-sent event.

    Attributes:
        data: empty for an event that only sets an id or a time.
        type: "message" if the stream gives none.
        id: None if the stream gives none.
        retry_ms: None if the stream gives none.
    """

    data: bytearray = msgspec.field(default_factory=bytearray)
    type: str = "message"
    id: str | None = None
    retry_ms: int | None = None


class EventReader:
    """A reader that collects chunks and yields complete events; an event cut off at the end of a stream is dropped."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._is_first_line = True
        self._is_after_cr = False  # at the end of a chunk: a newline at the start of the next chunk belongs to it
        self._start_event()

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """Yields the events that `chunk` completes. The data of an event is handed out without a copy."""
        for line in self._lines(chunk):
            if line:
                self._read_field(line)
            elif not self._is_empty:
                event = self._event
                self._start_event()
                yield event

    @property
    def waiting_bytes(self) -> int:
        """Returns the number of received bytes of an incomplete event."""
        return len(self._line) + len(self._event.data)

    def _start_event(self) -> None:
        self._event, self._has_data, self._is_empty = Event(), False, True

    def _lines(self, chunk: bytes) -> Iterator[bytearray]:
        start = 1 if self._is_after_cr and chunk[:1] == b"\n" else 0
        if chunk:
            self._is_after_cr = chunk[-1] == _CR
        lf, cr = chunk.find(b"\n", start), chunk.find(b"\r", start)
        while lf >= 0 or cr >= 0:
            end = cr if lf < 0 or 0 <= cr < lf else lf
            self._line += memoryview(chunk)[start:end]
            start = end + 2 if end == cr and lf == end + 1 else end + 1
            yield self._take_line()
            if 0 <= lf < start:
                lf = chunk.find(b"\n", start)
            if 0 <= cr < start:
                cr = chunk.find(b"\r", start)
        self._line += memoryview(chunk)[start:]

    def _take_line(self) -> bytearray:
        line, self._line = self._line, bytearray()
        if self._is_first_line:
            self._is_first_line = False
            if line.startswith(BYTE_ORDER_MARK):
                del line[: len(BYTE_ORDER_MARK)]
        return line

    def _read_field(self, line: bytearray) -> None:
        end = line.find(b":")
        name = bytes(line[:end]) if end >= 0 else bytes(line)
        del line[: end + 1 if end >= 0 else len(line)]  # moves nothing: a bytearray gives up its front for free
        if line[:1] == b" ":
            del line[:1]
        match name:
            case b"data":
                self._add_data(line)
            case b"event":
                self._event.type = str(line, "utf-8", "replace") or "message"
            case b"id" if b"\0" not in line:
                self._event.id = str(line, "utf-8", "replace")
            case b"retry" if line.isdigit():
                self._event.retry_ms = int(line)
            case _:
                return
        self._is_empty = self._is_empty and name == b"event"

    def _add_data(self, line: bytearray) -> None:
        if not self._has_data:
            self._event.data, self._has_data = line, True
        else:
            self._event.data += b"\n"
            self._event.data += line


def event_parts(
    data: Sequence[bytes | memoryview | Raw], *, id: str = "", type: str = "", retry_ms: int | None = None
) -> list[bytes | memoryview]:
    """Returns an event to be written part by part; large data is not copied unless it contains line breaks.

    Args:
        data: the parts of the data, to be joined.
        id: empty for an event after which a stream cannot be resumed.
        type: empty for "message".
    """
    head = (f"event: {type}\n" if type else "") + (f"id: {id}\n" if id else "") + ("" if retry_ms is None else f"retry: {retry_ms}\n")
    views = [memoryview(part) for part in data]
    if any(_has_line_break(view) for view in views):
        joined = b"".join(views).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        views = [memoryview(joined.replace(b"\n", b"\ndata: "))]
    return [head.encode() + b"data: ", *views, b"\n\n"]


def _has_line_break(view: memoryview) -> bool:
    return _LF in bytes(view) or _CR in bytes(view) if len(view) < 65536 else _has_break_in_slices(view)


def _has_break_in_slices(view: memoryview) -> bool:
    slices = (bytes(view[at : at + 65536]) for at in range(0, len(view), 65536))
    return any(_LF in each or _CR in each for each in slices)
