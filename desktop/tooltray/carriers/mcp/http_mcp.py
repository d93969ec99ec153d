"""Streamable HTTP at one path: decides by era and method which transport answers a request.

Callers have authenticated the request. streamable_http serves legacy clients, http_modern the others.
"""

from aiohttp import web

from tooltray.carriers.http_server.guard import Refused
from tooltray.carriers.mcp import http_modern, streamable_http
from tooltray.carriers.mcp.http_modern import ModernHttp, is_modern
from tooltray.carriers.mcp.streamable_http import SESSION_HEADER, StreamableHttp
from tooltray.protocol.eras import MODERN_VERSIONS
from tooltray.protocol.routing_headers import VERSION_HEADER


async def answer_mcp(
    request: web.Request, owner: str, server: str | None, *, streamable: StreamableHttp, modern: ModernHttp
) -> web.StreamResponse:
    """Answers a request of either era.

    Args:
        owner: the client whose token came with it.
        server: the one server of this path; None: all.

    Raises:
        Refused: the request cannot be answered.
    """
    if is_modern(request):
        if request.method == "POST":
            return await modern.post(request, owner, server)
        raise _not_spoken(request)
    match request.method:
        case "POST":
            return await streamable.post(request, owner, server)
        case "GET":
            return await streamable.get(request, owner, server)
        case "DELETE":
            return await streamable.delete(request, owner, server)
    raise not_allowed(streamable_http.METHODS)


def not_allowed(methods: str) -> Refused:
    return Refused(405, "method not allowed", headers={"Allow": methods})


def _not_spoken(request: web.Request) -> Refused:
    """Builds the refusal of a GET or DELETE that names a version without sessions, or an unknown one."""
    if request.headers[VERSION_HEADER] in MODERN_VERSIONS or SESSION_HEADER not in request.headers:
        return not_allowed(http_modern.METHODS)
    return Refused(400, "the protocol version is not known")
