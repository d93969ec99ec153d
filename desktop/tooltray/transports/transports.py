"""The table of server types, and the function that makes the transport of each.

Above it: upstream. Below it: one module per transport. To add a type, add such a module and a line to `TRANSPORTS`.
"""

from collections.abc import Awaitable, Callable, Mapping

import msgspec

from tooltray.launch.program_launch import CannotStart
from tooltray.phrases import Phrase
from tooltray.transports.http.remote_transport import make_remote_transport
from tooltray.transports.self_reference import leads_back, refusal, url_leads_back
from tooltray.transports.transport import Transport, TransportOrder

MakeTransport = Callable[[TransportOrder], Awaitable[Transport]]
"""
Raises:
    TooltrayError: the server cannot be reached with these settings; the error gives the reason.
"""


class TransportKind(msgspec.Struct, frozen=True):
    """One type of server.

    Attributes:
        is_remote: the server runs elsewhere, so connecting is retried in the background without limit.
    """

    make: MakeTransport
    is_remote: bool = False


async def make_process(order: TransportOrder) -> Transport:
    """Makes the transport of a server that runs as a child process."""
    if leads_back(order.resolved.command or "", order.resolved.args):
        raise refusal(order.name)
    return order.start_process(await order.prepare_launch())


async def make_remote(order: TransportOrder) -> Transport:
    """Makes the transport of a server that is reached by a URL."""
    url = order.resolved.url or ""
    if url_leads_back(url, order.own_url):
        raise refusal(order.name)
    return await make_remote_transport(
        name=order.name,
        kind=order.config.transport,
        url=url,
        headers=order.resolved.headers,
        environ=order.environ,
        mask=order.mask,
        tool_schema=order.tool_schema,
        authorization=await order.authorize(),
    )


TRANSPORTS: Mapping[str, TransportKind] = {
    "stdio": TransportKind(make_process),
    "http": TransportKind(make_remote, is_remote=True),
    "sse": TransportKind(make_remote, is_remote=True),
}
"""By `type` of the settings. `inmemory` is missing on purpose: such servers are built in, and no entry of the settings can add one."""


def is_remote(type: str) -> bool:
    """Returns whether servers of a type run elsewhere."""
    return type in TRANSPORTS and TRANSPORTS[type].is_remote


async def make_transport(order: TransportOrder) -> Transport:
    """Makes the transport for a server's type.

    Raises:
        CannotStart: there is no such type.
        TooltrayError: the server cannot be reached with these settings; the error gives the reason.
    """
    type = order.config.transport
    if type not in TRANSPORTS:
        hint = Phrase("Give it a command, or a URL and the type http or sse.")
        raise CannotStart(Phrase("'{name}' cannot be started", name=order.name), Phrase("its type is {type}", type=type), hint)
    return await TRANSPORTS[type].make(order)
