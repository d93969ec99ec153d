"""Lines out of a byte stream, at a cost linear in their size.

Above it: dispatcher. A long line grows one bytearray, which is handed out without a copy; a line beyond the bound is dropped
as it arrives, keeping both its ends so that its id can still be found.
"""

from collections.abc import Callable, Iterator

MAX_SERVER_LINE_BYTES = 256 * 2**20  # of one message; a limit against a runaway server, not against large results
MAX_CLIENT_LINE_BYTES = 64 * 2**20  # of one request of an AI client
KEPT_OF_OVERSIZED_BYTES = 4096


class LineBuffer:
    """Collects chunks and yields complete lines without their newline; empty lines are skipped."""

    def __init__(self, *, on_oversized: Callable[[bytes, int], None], max_line_bytes: int) -> None:
        """
        Args:
            on_oversized: called with both ends of a dropped line and its size in bytes.
            max_line_bytes: what is longer is dropped.
        """
        self._on_oversized = on_oversized
        self.max_line_bytes = max_line_bytes
        self._partial = bytearray()
        self._dropped_bytes = 0

    def feed(self, chunk: bytes) -> Iterator[bytes | bytearray]:
        """The lines that `chunk` completes."""
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            line = self._complete(chunk[start:end]) if self._partial else chunk[start:end]
            if line and not line.isspace():
                yield line
            start = end + 1
        if start < len(chunk):
            self._grow(chunk[start:] if start else chunk)

    def finish(self) -> bytearray:
        """The unfinished last line, at the end of the stream."""
        return self._complete(b"")

    def _complete(self, end: bytes) -> bytearray:
        self._grow(end)
        line, self._partial = self._partial, bytearray()
        if self._dropped_bytes:
            size, self._dropped_bytes = self._dropped_bytes + len(line), 0
            self._on_oversized(bytes(line), size)
            return bytearray()
        return line

    def _grow(self, chunk: bytes) -> None:
        self._partial += chunk
        if len(self._partial) > self.max_line_bytes or (self._dropped_bytes and len(self._partial) > 2 * KEPT_OF_OVERSIZED_BYTES):
            kept = self._partial[:KEPT_OF_OVERSIZED_BYTES] + self._partial[-KEPT_OF_OVERSIZED_BYTES:]
            self._dropped_bytes += len(self._partial) - len(kept)
            self._partial = kept
