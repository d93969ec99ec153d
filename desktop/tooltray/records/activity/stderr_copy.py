"""Copies log lines to stderr without ever blocking the log on its reader.

An AI client may close its end of stderr, or keep it open and never read it: then a write blocks forever. So a separate thread writes; lines
that exceed its queue are only in the log files.
"""

import os
import threading
import time
from collections import deque

MAX_WAITING_BYTES = 2**20
RETRY_S = 0.05  # for a stderr that the parent process made non-blocking


class StderrCopy:
    """A writer of text to stderr, in order. Its thread is a daemon: if it is stuck in a write, it ends with the process."""

    def __init__(self) -> None:
        """Duplicates descriptor 2, which may be closed and reused for something else later."""
        self._changed = threading.Condition()
        self._pieces: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._is_open = True
        try:
            self._descriptor = os.dup(2)
        except OSError:  # started without a stderr
            self._is_open = False
            return
        self._thread = threading.Thread(target=self._run, name="tooltray-stderr", daemon=True)
        self._thread.start()

    def write(self, piece: bytes) -> None:
        """Queues a piece if there is room for it; never blocks."""
        with self._changed:
            if self._is_open and self._waiting_bytes + len(piece) <= MAX_WAITING_BYTES:
                self._pieces.append(piece)
                self._waiting_bytes += len(piece)
                self._changed.notify_all()

    def flush(self, timeout_s: float) -> bool:
        """Waits until all pieces are written or stderr is closed; returns False after `timeout_s` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._pieces, timeout_s)

    def close(self, timeout_s: float) -> None:
        """Writes queued pieces for `timeout_s` seconds at most. May be called twice."""
        with self._changed:
            was_open, self._is_open = self._is_open, False
            self._changed.notify_all()
        if was_open:
            self._thread.join(timeout_s)

    def _run(self) -> None:
        while piece := self._next():
            try:
                self._write_all(piece)
            except OSError:  # the reader has gone (EPIPE)
                self._drop_all()
                break
            with self._changed:
                self._pieces.popleft()
                self._waiting_bytes -= len(piece)
                self._changed.notify_all()
        os.close(self._descriptor)

    def _next(self) -> bytes:
        with self._changed:
            self._changed.wait_for(lambda: self._pieces or not self._is_open)
            return self._pieces[0] if self._pieces else b""

    def _write_all(self, piece: bytes) -> None:
        while piece:
            try:
                piece = piece[os.write(self._descriptor, piece) :]
            except BlockingIOError:
                time.sleep(RETRY_S)

    def _drop_all(self) -> None:
        with self._changed:
            self._is_open = False
            self._pieces.clear()
            self._waiting_bytes = 0
            self._changed.notify_all()
