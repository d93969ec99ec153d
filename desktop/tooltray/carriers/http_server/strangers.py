"""Limits connections that have shown no token yet to a share of the descriptors, so that they take no descriptor of others.

Within the share each user of this computer and each host is counted separately: one that fills the share displaces only its own
connections.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

from tooltray.carriers.http_server.peer_user import user_of

HEAD_WITHIN_S = 10.0  # programs send the head of a request at once
LEAST_STRANGERS, MOST_STRANGERS = 16, 256
_NO_LIMIT = 65536


class _Stranger:
    """A connection that has shown no token yet.

    Attributes:
        came: seconds of the loop's clock.
        peer: the other end, as far as known: the address, or the user's number once the share was full.
    """

    def __init__(self, came: float, transport: asyncio.BaseTransport) -> None:
        self.came, self._transport, self._is_known = came, transport, False
        address = transport.get_extra_info("peername")
        self.peer: str | int = address[0] if isinstance(address, tuple) else ""

    def lookup_user(self, user_of: Callable[[Any, Any], int | None]) -> None:
        if not self._is_known:
            self._is_known = True
            user = user_of(*map(self._transport.get_extra_info, ("peername", "sockname")))
            self.peer = self.peer if user is None else user


class Strangers:
    """The strangers of one address. Belongs to one event loop; `close` when the address does."""

    def __init__(self, most_files: int = 0, *, user_of: Callable[[Any, Any], int | None] = user_of) -> None:
        """
        Args:
            most_files: descriptors that this process may have open; 0: the system's limit.
            user_of: returns the user of this computer who is the peer, by the addresses of both ends; None if unknown.
        """
        self._user_of = user_of
        files = most_files or _most_files()
        self.most = max(LEAST_STRANGERS, min(files // 8, MOST_STRANGERS))
        self._most_in_all = max(2 * LEAST_STRANGERS, files // 2)
        self._strangers: dict[asyncio.BaseTransport, _Stranger] = {}  # the oldest first
        self._known: WeakSet[asyncio.BaseTransport] = WeakSet()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def count(self) -> int:
        self._drop_closed()
        return len(self._strangers)

    @property
    def is_full(self) -> bool:
        """Reports whether the connections of this address have half of all descriptors; the others are for bridges, commands and servers"""
        return self.count + sum(not each.is_closing() for each in self._known) >= self._most_in_all

    def add(self, transport: asyncio.BaseTransport) -> None:
        """Counts a new connection. One beyond the share ends the oldest of the user or host with the most."""
        if transport in self._known:  # its request arrived together with it
            return
        if self.count >= self.most:
            for stranger in self._strangers.values():
                stranger.lookup_user(self._user_of)
            [(most, _)] = Counter(each.peer for each in self._strangers.values()).most_common(1)
            self._end(next(each for each, stranger in self._strangers.items() if stranger.peer == most))
        self._strangers[transport] = _Stranger(asyncio.get_running_loop().time(), transport)
        self._look_later()

    def welcome(self, transport: asyncio.BaseTransport | None) -> None:
        """Stops counting a connection whose request has shown a token, or needs none."""
        if transport is not None:
            self._strangers.pop(transport, None)
            self._known.add(transport)

    def close(self) -> None:
        """Ends the connections that have shown no token."""
        if self._timer:
            self._timer.cancel()
        for each in list(self._strangers):
            self._end(each)

    def _end(self, transport: asyncio.BaseTransport) -> None:
        del self._strangers[transport]
        assert isinstance(transport, asyncio.Transport)
        transport.abort()

    def _drop_closed(self) -> None:
        for each in [each for each in self._strangers if each.is_closing()]:
            del self._strangers[each]

    def _look_later(self) -> None:
        if self._timer is None and self._strangers:
            loop = asyncio.get_running_loop()
            oldest = next(iter(self._strangers.values()))
            self._timer = loop.call_at(oldest.came + HEAD_WITHIN_S, self._look)

    def _look(self) -> None:
        self._timer = None
        self._drop_closed()
        overdue = asyncio.get_running_loop().time() - HEAD_WITHIN_S
        for each in [each for each, stranger in self._strangers.items() if stranger.came <= overdue]:
            self._end(each)
        self._look_later()


def _most_files() -> int:
    if sys.platform == "win32":
        return _NO_LIMIT
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _NO_LIMIT if soft == resource.RLIM_INFINITY else soft
