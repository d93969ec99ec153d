"""The connections of an address: those that have shown no token yet have a share of their own, so that they take no descriptor of others.

Above it: site. Knows transports, and nothing of requests.
"""

import asyncio
import sys
from collections import Counter
from weakref import WeakSet

HEAD_WITHIN_S = 10.0  # programs send the head of a request at once
LEAST_STRANGERS, MOST_STRANGERS = 16, 256
_NO_LIMIT = 65536


class Strangers:
    """Belongs to one event loop; `close` when the address does."""

    def __init__(self, most_files: int = 0) -> None:
        """
        Args:
            most_files: descriptors that this process may have open; 0: as the system says.
        """
        files = most_files or _most_files()
        self.most = max(LEAST_STRANGERS, min(files // 8, MOST_STRANGERS))
        self._most_in_all = max(2 * LEAST_STRANGERS, files // 2)
        self._since: dict[asyncio.BaseTransport, tuple[float, str]] = {}  # the oldest first: when it came, and the peer's host
        self._known: WeakSet[asyncio.BaseTransport] = WeakSet()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def count(self) -> int:
        self._drop_closed()
        return len(self._since)

    @property
    def is_full(self) -> bool:
        """Whether the connections of this address have half of all descriptors; the others are for bridges, commands and servers."""
        return self.count + sum(not each.is_closing() for each in self._known) >= self._most_in_all

    def add(self, transport: asyncio.BaseTransport) -> None:
        """Counts a new connection. One beyond the share ends the oldest of the host that has most."""
        if transport in self._known:  # its request has come with it
            return
        if self.count >= self.most:
            hosts = Counter(host for _, host in self._since.values())
            [(most, _)] = hosts.most_common(1)
            self._end(next(each for each, (_, host) in self._since.items() if host == most))
        peer = transport.get_extra_info("peername")
        self._since[transport] = asyncio.get_running_loop().time(), peer[0] if isinstance(peer, tuple) else ""
        self._look_later()

    def welcome(self, transport: asyncio.BaseTransport | None) -> None:
        """A request of this connection has shown a token, or needs none."""
        if transport is not None:
            self._since.pop(transport, None)
            self._known.add(transport)

    def close(self) -> None:
        """Ends the connections that have shown nothing."""
        if self._timer:
            self._timer.cancel()
        for each in list(self._since):
            self._end(each)

    def _end(self, transport: asyncio.BaseTransport) -> None:
        del self._since[transport]
        assert isinstance(transport, asyncio.Transport)
        transport.abort()

    def _drop_closed(self) -> None:
        for each in [each for each in self._since if each.is_closing()]:
            del self._since[each]

    def _look_later(self) -> None:
        if self._timer is None and self._since:
            loop = asyncio.get_running_loop()
            oldest, _ = next(iter(self._since.values()))
            self._timer = loop.call_at(oldest + HEAD_WITHIN_S, self._look)

    def _look(self) -> None:
        self._timer = None
        self._drop_closed()
        overdue = asyncio.get_running_loop().time() - HEAD_WITHIN_S
        for each in [each for each, (since, _) in self._since.items() if since <= overdue]:
            self._end(each)
        self._look_later()


def _most_files() -> int:
    if sys.platform == "win32":
        return _NO_LIMIT
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _NO_LIMIT if soft == resource.RLIM_INFINITY else soft
