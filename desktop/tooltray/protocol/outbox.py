"""Hands bytes to an asyncio transport no faster than it drains.

A transport copies what the kernel does not take at once: 100 MB in one `write` block the loop for 100 ms and more (page faults). Large
payloads go in slices instead, and are never copied whole. What waits here is counted (see unsent).
"""

import asyncio
from collections import deque

from tooltray.protocol.unsent import Unsent

SLICE_BYTES = 2**18


class Outbox:
    """Belongs to one transport, whose `pause_writing` and `resume_writing` it is told of."""

    def __init__(self, transport: asyncio.WriteTransport) -> None:
        self._transport = transport
        self._waiting: deque[memoryview] = deque()
        self._unsent: Unsent | None = None
        self._is_paused = self._is_closing = False

    def count_for(self, unsent: Unsent) -> None:
        """From now on what waits here counts there; nothing waits yet."""
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
        """Whether what was written last has not left whole, and never will: the transport is ending, or was ended by the peer."""
        return self._transport.is_closing()

    def pause(self) -> None:
        self._is_paused = True

    def resume(self) -> None:
        self._is_paused = False
        self._push()

    def close(self) -> None:
        """After what was written has left; a peer that is gone ends the transport itself."""
        self._is_closing = True
        if not self._waiting:
            self._transport.close()

    def discard(self) -> None:
        """The peer is gone; lets go of what it has not read, which a reference cycle would keep."""
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
