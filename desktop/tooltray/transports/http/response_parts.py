"""What is read of an HTTP answer: where it redirects to, and as much of its body as anybody wants.

Above it: http_connections, and who asks authorization servers and npm registries. Below it: aiohttp. Follows nothing itself.
"""

import aiohttp
from yarl import URL

_REDIRECTS = (301, 302, 303, 307, 308)


def redirection(response: aiohttp.ClientResponse) -> URL | None:
    """Where an answer sends whoever asked; None if it is none that does, or names no address."""
    location = response.headers.get("Location") if response.status in _REDIRECTS else None
    try:
        return response.url.join(URL(location)) if location else None
    except ValueError:
        return None


async def read_up_to(response: aiohttp.ClientResponse, limit_bytes: int) -> bytes:
    """The body; of one that is larger than the limit the beginning, which is a little more than that."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > limit_bytes:
            break
    return bytes(body)
