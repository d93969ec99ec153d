"""A server that listens on a unix socket."""

import asyncio

from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.servers.transports.transport import Transport, TransportOrder


async def make_unix(order: TransportOrder) -> Transport:
    """The transport of an entry like `{"type": "unix", "socket": "/run/thing.sock"}`."""
    if not order.config.socket:  # type: ignore[attr-defined]  # where the guide was followed, there is such a field
        raise CannotStart(f"'{order.name}' cannot be started", "it has no socket", "Give the path of its socket.")
    return UnixTransport(order.name, order.config.socket)  # type: ignore[attr-defined]


class UnixTransport:
    """Satisfies Transport."""

    pids: tuple[int, ...] = ()
    exit_code: int | None = None
    has_expired = False
    failure = output = None

    def __init__(self, name: str, path: str) -> None:
        self._name, self._path = name, path
        self._line: _Line | None = None

    async def open(self, dispatcher: RawDispatcher) -> None:
        try:
            _, self._line = await asyncio.get_running_loop().create_unix_connection(lambda: _Line(self._name, dispatcher), self._path)
        except OSError as error:
            raise CannotStart(f"'{self._name}' cannot be reached", f"{self._path}: {error.strerror}", "Start it first.") from None

    async def close(self) -> None:
        if self._line:
            self._line.close()


class _Line(asyncio.Protocol):
    """The channel of the connection's dispatcher."""

    def __init__(self, name: str, dispatcher: RawDispatcher) -> None:
        self._name, self._dispatcher = name, dispatcher

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._dispatcher.attach(self)

    def data_received(self, data: bytes) -> None:
        self._dispatcher.feed(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._dispatcher.connection_lost(f"server '{self._name}' has closed its socket")

    def write(self, data: bytes | memoryview) -> None:
        self._transport.write(data)

    def close(self) -> None:
        self._transport.close()
