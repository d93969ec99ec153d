"""Makes the transport of a server that is reached by a URL.

Above it: transports. Below it: HttpTransport and SseTransport, imported in a thread when the first such server is started: the import of
aiohttp takes a quarter of a second, which a hub with only stdio servers should not pay and no call should wait for.
"""

import asyncio
import importlib
from collections.abc import Callable, Mapping

from msgspec import Raw

from tooltray.transports.authorization import Authorization
from tooltray.transports.transport import Transport


async def make_remote_transport(
    *,
    name: str,
    kind: str,
    url: str,
    headers: Mapping[str, str],
    environ: Mapping[str, str],
    mask: Callable[[str], str],
    tool_schema: Callable[[str], Raw | None],
    authorization: Authorization | None = None,
) -> Transport:
    """Makes the transport; no connection is opened yet.

    Args:
        kind: "sse" for HTTP+SSE, "http" for streamable HTTP.
        url, headers: with all placeholders filled in.
        environ: the person's login-shell environment, for proxies and certificate authorities.
        mask: masks secrets in a text.
        tool_schema: returns the `inputSchema` of a tool, by the server's own name for it; None if the tool was never listed.
        authorization: supplies the `Authorization` header, besides what `url` and `headers` contain.

    Raises:
        CannotStart: the URL, a header or the proxy cannot be used.
    """
    for module in (
        "tooltray.transports.http.http_transport",
        "tooltray.transports.http.sse_transport",
        "tooltray.transports.http.certificate_trust",
    ):
        await asyncio.to_thread(importlib.import_module, module)
    from tooltray.transports.http.certificate_trust import tls_context
    from tooltray.transports.http.http_connections import HttpConnection
    from tooltray.transports.http.http_transport import HttpTransport
    from tooltray.transports.http.sse_transport import SseTransport

    trust = await asyncio.to_thread(tls_context, environ)
    connection = HttpConnection(server=name, url=url, headers=headers, environ=environ, trust=trust, mask=mask, authorization=authorization)
    if kind == "sse":
        return SseTransport(name=name, connection=connection)
    return HttpTransport(name=name, connection=connection, tool_schema=tool_schema)
