"""Accounts of the bytes that wait for peers which do not read: one for each peer, and one for all peers of a hub (backpressure).

A reply that does not fit into its client's queue becomes an error, so that the server can serve the calls of other clients. Reading from
servers is paused only if all queues together are full. Every client of those servers notices that, so clients that have stopped reading
are then disconnected, the one with the fullest queue first.

An asyncio transport copies what the kernel does not take at once: 100 MB in one `write` block the loop for 100 ms and more (page faults).
So Outbox writes large payloads in slices, as fast as the transport drains, and never copies them whole.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable

logger = logging.getLogger(__name__)
PEER_BYTES = 64 * 2**20  # waiting for one peer; a larger message fits into an empty queue
HUB_BYTES = 256 * 2**20  # in all queues: a hub with all of them full stays below 400 MB
SERVERS_BYTES = 128 * 2**20  # of these, towards servers, which are not disconnected: a share is always left for clients
RESUMED_BELOW_BYTES = 192 * 2**20
LOOKED_AT_EVERY_S = 0.2  # while all queues are full: calls of other clients wait for this time, and may wait a second
READS_BYTES = 2**20  # a client that takes less within that time has stopped reading; a slow one takes ten times as much


class Unsent:
    """The account of one peer.

    Attributes:
        all: the account of all peers.
        bytes: waiting for this peer; nearly always 0.
        ends: callbacks, each of which closes one connection to the peer.
    """

    __slots__ = ("_is_server", "all", "bytes", "ends", "taken_bytes")

    def __init__(self, all: "AllUnsent", *, is_server: bool) -> None:
        self.all, self._is_server = all, is_server
        self.bytes = self.taken_bytes = 0
        self.ends: set[Callable[[], object]] = set()

    def add(self, size: int) -> None:
        """Counts bytes that were queued."""
        self.bytes += size
        if self._is_server:
            self.all.add_to_servers(size)
        else:
            self.all.add(self, size)

    def take(self, size: int) -> None:
        """Counts bytes that were sent or dropped."""
        self.bytes -= size
        self.taken_bytes += size
        if self._is_server:
            self.all.add_to_servers(-size)
        else:
            self.all.take(self, size)

    def has_room(self, size: int) -> bool:
        """Returns whether a message of this size may be queued."""
        if self._is_server and self.all.servers_bytes + size > SERVERS_BYTES:
            return False
        return not self.bytes or self.bytes + size <= PEER_BYTES

    def no_room(self, name: str, what: str) -> str:
        """Returns the error's text for a message that does not fit."""
        return f"{name} does not read its messages, and {self.bytes:,} bytes are already queued: {what}"

    def hold(self, size: int) -> None:
        """Sets the number of waiting bytes."""
        if size > self.bytes:
            self.add(size - self.bytes)
        elif size < self.bytes:
            self.take(self.bytes - size)


class AllUnsent:
    """The account of all peers of a hub. Belongs to one event loop.

    Attributes:
        bytes: waiting for clients.
        servers_bytes: waiting for servers.
        is_full: whether reading from servers is paused.
    """

    def __init__(self) -> None:
        self.bytes = self.servers_bytes = 0
        self.is_full = False
        self._waiting: dict[Unsent, None] = {}  # clients
        self._pauses: dict[Callable[[], object], Callable[[], object]] = {}  # of connections to servers: pause, resume
        self._has_room = asyncio.Event()
        self._looks = 0
        self._timer: asyncio.TimerHandle | None = None

    def of(self, *, is_server: bool) -> Unsent:
        """Returns the account of a peer that has just connected."""
        return Unsent(self, is_server=is_server)

    def follow(self, pause: Callable[[], object], resume: Callable[[], object]) -> Callable[[], None]:
        """Registers callbacks that pause and resume reading from a server; returns the function that removes them."""
        self._pauses[pause] = resume
        if self.is_full:
            pause()

        def unfollow() -> None:
            self._pauses.pop(pause, None)

        return unfollow

    async def room(self) -> None:
        """Waits while reading from servers is paused."""
        while self.is_full:
            await self._has_room.wait()

    # called by the accounts

    def add(self, peer: Unsent, size: int) -> None:
        self.bytes += size
        self._waiting[peer] = None
        if self.bytes + self.servers_bytes > HUB_BYTES and not self.is_full:
            self._fill()

    def take(self, peer: Unsent, size: int) -> None:
        self.bytes -= size
        if not peer.bytes:
            self._waiting.pop(peer, None)
        if self.is_full and self.bytes + self.servers_bytes < RESUMED_BELOW_BYTES:
            self._drain()

    def add_to_servers(self, size: int) -> None:
        self.servers_bytes += size

    # inside

    def _fill(self) -> None:
        self.is_full, self._looks = True, 0
        for pause in list(self._pauses):
            pause()
        self._look_later()

    def _drain(self) -> None:
        self.is_full = False
        assert self._timer, "it was full"
        self._timer.cancel()
        self._has_room.set()
        self._has_room = asyncio.Event()
        for resume in list(self._pauses.values()):
            resume()

    def _look_later(self) -> None:
        for peer in self._waiting:
            peer.taken_bytes = 0
        self._timer = asyncio.get_running_loop().call_later(LOOKED_AT_EVERY_S, self._look)

    def _look(self) -> None:
        """Disconnects clients that have not read since the last check; from the second check on also the fullest queues, because others
        wait.
        """
        self._looks += 1
        peers = [peer for peer in self._waiting if peer.ends]
        stalled = [peer for peer in peers if peer.taken_bytes < READS_BYTES]
        chosen = stalled or (peers if self._looks > 1 else [])
        freed = 0
        for peer in sorted(chosen, key=lambda each: each.bytes, reverse=True):
            if self.bytes + self.servers_bytes - freed < RESUMED_BELOW_BYTES:
                break
            freed += peer.bytes
            logger.info("too much is queued for peers that do not read; the queue of one of them was dropped (%d bytes)", peer.bytes)
            for end in list(peer.ends):
                end()
        if self.is_full:
            self._look_later()


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
        """Returns whether the transport is closing or was closed by the peer, so that queued bytes will never be sent."""
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
