"""The table of server types, and the function that makes the transport of each. To add a type, add a module and a line to `TRANSPORTS`.

The HTTP transports are imported in a thread when the first such server is started: the import of aiohttp takes a quarter of a second, which
a Tooltray with only stdio servers should not pay and no call should wait for. An in-memory server imports the SDK, for half a second, in
its own thread.
"""

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from tooltray.foundation.phrases import Phrase
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.servers.transports.inmemory.sdk_transport import make_in_memory
from tooltray.servers.transports.self_reference import leads_back, refusal, url_leads_back
from tooltray.servers.transports.transport import Transport, TransportOrder

_REMOTE_MODULES = (
    "tooltray.servers.transports.http.http_transport",
    "tooltray.servers.transports.http.sse_transport",
    "tooltray.servers.transports.http.certificate_trust",
)
MakeTransport = Callable[[TransportOrder], Awaitable[Transport]]
"""
Raises:
    TooltrayError: the server cannot be reached with these settings; the error gives the reason.
"""


class TransportKind(msgspec.Struct, frozen=True):
    """One type of server.

    Attributes:
        is_remote: the server is reached by a URL, so connecting is retried in the background without limit.
    """

    make: MakeTransport
    is_remote: bool = False


async def make_process(order: TransportOrder) -> Transport:
    """Makes the transport of a server that runs as a child process."""
    if leads_back(order.resolved.command or "", order.resolved.args):
        raise refusal(order.name)
    return order.start_process(await order.prepare_launch())


async def make_remote(order: TransportOrder) -> Transport:
    """Makes the transport of a server that is reached by a URL; no connection is opened yet.

    Raises:
        CannotStart: the URL, a header or the proxy cannot be used.
    """
    url = order.resolved.url or ""
    if url_leads_back(url, order.own_url):
        raise refusal(order.name)
    authorization = await order.authorize()
    for module in _REMOTE_MODULES:
        await asyncio.to_thread(importlib.import_module, module)
    from tooltray.servers.transports.http.certificate_trust import tls_context
    from tooltray.servers.transports.http.http_connections import HttpConnection
    from tooltray.servers.transports.http.http_transport import HttpTransport
    from tooltray.servers.transports.http.sse_transport import SseTransport

    connection = HttpConnection(
        server=order.name,
        url=url,
        headers=order.resolved.headers,
        environ=order.environ,
        trust=await asyncio.to_thread(tls_context, order.environ),
        mask=order.mask,
        authorization=authorization,
    )
    if order.config.transport == "sse":
        return SseTransport(name=order.name, connection=connection)
    return HttpTransport(name=order.name, connection=connection, tool_schema=order.tool_schema, refused=order.refused)


TRANSPORTS: Mapping[str, TransportKind] = {
    "stdio": TransportKind(make_process),
    "http": TransportKind(make_remote, is_remote=True),
    "sse": TransportKind(make_remote, is_remote=True),
    "inmemory": TransportKind(make_in_memory),
}
"""The kinds by `type` of the settings."""


def is_remote(type: str) -> bool:
    """Returns whether servers of a type are reached by a URL."""
    return type in TRANSPORTS and TRANSPORTS[type].is_remote


async def make_transport(order: TransportOrder) -> Transport:
    """Makes the transport for a server's type.

    Raises:
        CannotStart: no transport has this type.
        TooltrayError: the server cannot be reached with these settings; the error gives the reason.
    """
    type = order.config.transport
    if type not in TRANSPORTS:
        hint = Phrase("Give it a command, or a URL and the type http or sse.")
        raise CannotStart(Phrase("'{name}' cannot be started", name=order.name), Phrase("its type is {type}", type=type), hint)
    return await TRANSPORTS[type].make(order)
