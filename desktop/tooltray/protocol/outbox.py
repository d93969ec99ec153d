"""Hands bytes to an asyncio transport no faster than it drains.

Above it: connections over pipes and sockets. Below it: asyncio's transports, unsent. A transport copies what the kernel does not take at
once: 100 MB in one `write` block the loop for 100 ms and more (page faults). So large payloads are written in slices, and never copied
whole. Bytes that wait here are counted (see unsent).
"""

import asyncio
from collections import deque

from tooltray.protocol.unsent import Unsent

SLICE_BYTES = 2**18


class Outbox:
    """The queue in front of one transport, whose `pause_writing` and `resume_writing` are forwarded to `pause` and `resume`."""

    def __init__(self, transport: asyncio.WriteTransport) -> None:
        self._transport = transport
        self._waiting: deque[memoryview] = deque()
        self._unsent: Unsent | None = None
        self._is_paused = self._is_closing = False

    def count_for(self, unsent: Unsent) -> None:
        """Counts waiting bytes in this account from now on; call it before the first write."""
        self._unsent = unsent

    def write(self, data: bytes | memoryview) -> None:
        if not self._waiting and not self._is_paused and len(data) <= SLICE_BYTES:
            self._transport.write(data)
            return
        self._waiting.append(memoryview(data))
        if self._unsent:
            self._unsent.add(len(data))
        self._push()

    @property
    def is_broken(self) -> bool:
        """Whether the transport is closing or was closed by the peer, so that queued bytes will never be sent."""
        return self._transport.is_closing()

    def pause(self) -> None:
        self._is_paused = True

    def resume(self) -> None:
        self._is_paused = False
        self._push()

    def close(self) -> None:
        """Closes the transport once all queued bytes are sent; a peer that is gone closes it itself."""
        self._is_closing = True
        if not self._waiting:
            self._transport.close()

    def discard(self) -> None:
        """Drops queued bytes of a peer that is gone, because a reference cycle would keep them in memory."""
        if self._unsent:
            self._unsent.take(sum(map(len, self._waiting)))
        self._waiting.clear()

    def _push(self) -> None:
        while self._waiting and not self._is_paused:
            view = self._waiting.popleft()
            if len(view) > SLICE_BYTES:
                self._waiting.appendleft(view[SLICE_BYTES:])
            self._transport.write(view[:SLICE_BYTES])
            if self._unsent:
                self._unsent.take(min(len(view), SLICE_BYTES))
        if self._is_closing and not self._waiting:
            self._transport.close()
