"""What carries a dispatcher's messages: a stream of bytes, split into lines at a cost linear in their size, or a channel of whole messages.

A long line grows one bytearray, which is passed on without a copy. A line beyond the limit is dropped as it arrives, except for its first
and last bytes, in which its id can still be found.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import msgspec
from msgspec import Raw

from tooltray.protocol.envelope import NOTHING

MAX_SERVER_LINE_BYTES = 256 * 2**20  # of one message; a limit against a runaway server, not against large results
MAX_CLIENT_LINE_BYTES = 64 * 2**20  # of one request of an AI client
KEPT_OF_OVERSIZED_BYTES = 4096  # at each end of a dropped line
LOOKED_AT_BYTES = 17 * 2**20  # at this size a line is checked once: does a call wait for such a large reply?
READ_BYTES = 1 << 16  # what a pipe holds; for asyncio's own 256 KiB malloc maps pages at each read, whose faults cost a call 30 us


class Channel(Protocol):
    """A channel for bytes that never blocks and buffers what the peer does not read yet."""

    def write(self, data: bytes | memoryview) -> None: ...
    def close(self) -> None: ...


class Outgoing(msgspec.Struct):
    """A message to send.

    Attributes:
        parts: head, payload and tail; joined they are its JSON and a newline.
        id: of our request, or of the peer's request that this message answers; empty for a notification and a batch of replies.
        method: empty for a reply.
        about: id of the peer's request that the message relates to (progress, questions, log messages); for a reply its own id; else empty.
    """

    parts: tuple[bytes, Raw, bytes]
    id: Raw = NOTHING
    method: str = ""
    about: Raw = NOTHING

    @property
    def payload(self) -> Raw:
        """Returns the params, the result or the error."""
        return self.parts[1]

    def joined(self) -> bytes:
        """Returns the message's JSON."""
        return b"".join(self.parts)[:-1]


class MessageChannel(Protocol):
    """A channel for whole messages that never blocks."""

    def send(self, message: Outgoing) -> None: ...
    def close(self) -> None: ...


def read_in_pieces(transport: asyncio.BaseTransport | None) -> None:
    """Limits each read of a transport to READ_BYTES. asyncio does not document `max_size`; a test notices if it changes."""
    if transport is not None:
        transport.max_size = READ_BYTES  # type: ignore[attr-defined]


def on_one_line(message: bytes | bytearray) -> bytes | bytearray:
    """Replaces line breaks between the parts of a JSON message, for transports that separate messages by line breaks."""
    for line_break in (b"\n", b"\r"):
        if line_break in message:
            message = message.replace(line_break, b" ")  # between the parts of JSON; inside a text it would be escaped
    return message


class LineBuffer:
    """A buffer that collects chunks and yields complete lines without their newline, skipping empty lines."""

    def __init__(
        self, *, on_oversized: Callable[[bytes, int], None], max_line_bytes: int, is_unwanted: Callable[[bytes], bool] = lambda head: False
    ) -> None:
        """
        Args:
            on_oversized: called with the first and last bytes of a dropped line, and its size in bytes.
            max_line_bytes: longer lines are dropped.
            is_unwanted: whether to drop a line with this beginning already at LOOKED_AT_BYTES.
        """
        self._on_oversized = on_oversized
        self.max_line_bytes = max_line_bytes
        self._partial = bytearray()
        self._is_unwanted, self._is_looked_at = is_unwanted, False
        self._is_oversized = False
        self._dropped_bytes = 0

    def feed(self, chunk: bytes) -> Iterable[bytes | bytearray]:
        """Returns the lines that `chunk` completes. Most chunks are exactly one line."""
        if not self._partial and chunk.find(b"\n") == len(chunk) - 1 <= self.max_line_bytes:
            line = chunk[:-1]
            return (line,) if line and not line.isspace() else ()
        return self._lines_in(chunk)

    def _lines_in(self, chunk: bytes) -> Iterator[bytes | bytearray]:
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            is_whole = not self._partial and end - start <= self.max_line_bytes
            line = chunk[start:end] if is_whole else self._complete(chunk[start:end])
            if line and not line.isspace():
                yield line
            start = end + 1
        if start < len(chunk):
            self._grow(chunk[start:] if start else chunk)

    def finish(self) -> bytearray:
        """Returns the unfinished last line at the end of the stream."""
        return self._complete(b"")

    def _complete(self, end: bytes) -> bytearray:
        self._grow(end)
        line, self._partial, self._is_looked_at = self._partial, bytearray(), False
        if not self._is_oversized:
            return line
        size = self._dropped_bytes + len(line)
        self._is_oversized, self._dropped_bytes = False, 0
        self._on_oversized(bytes(line), size)
        return bytearray()

    def _grow(self, chunk: bytes) -> None:
        try:
            self._partial += chunk
        except MemoryError:  # the line is dropped, which frees its memory
            self._is_oversized = True
            self._drop_middle()
            self._partial += chunk
        self._is_oversized = self._is_oversized or len(self._partial) > self.max_line_bytes
        if len(self._partial) > LOOKED_AT_BYTES and not (self._is_oversized or self._is_looked_at):
            self._is_looked_at = True
            self._is_oversized = self._is_unwanted(bytes(self._partial[:KEPT_OF_OVERSIZED_BYTES]))
        if self._is_oversized:
            self._drop_middle()

    def _drop_middle(self) -> None:
        if len(self._partial) > 2 * KEPT_OF_OVERSIZED_BYTES:
            kept = self._partial[:KEPT_OF_OVERSIZED_BYTES] + self._partial[-KEPT_OF_OVERSIZED_BYTES:]
            self._dropped_bytes += len(self._partial) - len(kept)
            self._partial = kept
