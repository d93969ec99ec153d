"""One connection of a server to its proxy: a request is read, judged, and relayed; one request for each connection. The name in the request
counts: the content of a tunnel (TLS and its server name) is not inspected, so a listed host that serves others under their names serves
them here, too."""

import asyncio
import base64
import contextlib
import hmac
import logging
from collections.abc import Callable
from http import HTTPStatus

from tooltray.foundation.errors import TooltrayError
from tooltray.servers.confinement.destinations import Destination, HostList
from tooltray.servers.confinement.outward import HostRefused, Outward
from tooltray.servers.confinement.proxy_requests import ProxyRequest, pass_all, pass_body, read_request, relay_tunnel

REQUEST_S = 30.0  # from the connection to the end of the request's head; browsers connect some seconds before they ask
LINGER_S = 1.0  # a refused body is read for this long, so that the answer is not lost with it
MADE = b"HTTP/1.1 200 Connection established\r\n\r\n"
USER = "tooltray"

logger = logging.getLogger(__name__)


class Refusal(Exception):
    """The reason for which a request is not relayed, and the answer to it."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        """
        Args:
            reason: in ASCII, in one line; many programs show only this part of the answer.
        """
        super().__init__()
        self.status, self.reason = status, reason


def credentials(token: str) -> str:
    """Returns the value that the header Proxy-Authorization must have."""
    return "Basic " + base64.b64encode(f"{USER}:{token}".encode()).decode()


class ProxyConnection:
    """A connection of one server; belongs to one task, which calls `run`.

    Attributes:
        destination: the requested host and port; None before the request is read.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        token: str,
        hosts: Callable[[], HostList],
        outward: Outward,
        refused: Callable[[Destination], None],
        request_s: float = REQUEST_S,
    ) -> None:
        """
        Args:
            token: the server's password, which no other process knows.
            hosts: returns the hosts that are allowed at this moment.
            refused: called with each destination that is not listed.
        """
        self._reader, self._writer, self._token = reader, writer, token
        self._hosts, self._outward, self._refused, self._request_s = hosts, outward, refused, request_s
        self._further: asyncio.StreamWriter | None = None
        self.destination: Destination | None = None

    def cut(self) -> None:
        """Ends the connection at once."""
        for writer in filter(None, (self._writer, self._further)):
            writer.transport.abort()

    async def run(self) -> None:
        try:
            await self._serve()
        except Refusal as refusal:
            await self._answer(refusal)
        except (OSError, EOFError):  # one side is gone
            pass
        finally:
            for writer in filter(None, (self._writer, self._further)):
                writer.close()

    async def _serve(self) -> None:
        request = await self._request()
        self.destination = request.destination
        try:
            opened = await self._outward.open(request, self._hosts())
        except HostRefused as refused:
            raise self._not_listed(refused.destination) from None
        except (OSError, EOFError, ValueError, TooltrayError):  # UnicodeError, a name that DNS cannot have, is a ValueError
            raise Refusal(HTTPStatus.BAD_GATEWAY, f"{request.destination} cannot be reached") from None
        further_reader, self._further = opened.streams
        if request.is_tunnel:
            self._writer.write(MADE)
            await relay_tunnel((self._reader, self._writer), opened.streams)
            return
        self._further.write(opened.head)
        async with asyncio.TaskGroup() as group:  # keeps its tasks and ends them together, so that TaskKeeper is not needed
            body = group.create_task(self._send_body(request, self._further))
            with contextlib.suppress(OSError):
                await pass_all(further_reader, self._writer)
            body.cancel()

    async def _request(self) -> ProxyRequest:
        try:
            async with asyncio.timeout(self._request_s):
                head = await self._reader.readuntil(b"\r\n\r\n")
            request = read_request(head)
        except TimeoutError:
            raise Refusal(HTTPStatus.REQUEST_TIMEOUT, "the request did not come") from None
        except asyncio.LimitOverrunError:
            raise Refusal(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the headers are too long") from None
        except ValueError as error:
            raise Refusal(HTTPStatus.BAD_REQUEST, str(error)) from None
        if not hmac.compare_digest(request.authorization.encode(), credentials(self._token).encode()):
            raise Refusal(HTTPStatus.PROXY_AUTHENTICATION_REQUIRED, "use the proxy variables that this server was started with")
        if not self._hosts().allows(request.destination):
            raise self._not_listed(request.destination)
        return request

    def _not_listed(self, destination: Destination) -> Refusal:
        self._refused(destination)
        return Refusal(HTTPStatus.FORBIDDEN, f"Tooltray lets this server reach its listed hosts alone, and {destination} is none of them")

    async def _send_body(self, request: ProxyRequest, further: asyncio.StreamWriter) -> None:
        try:
            await pass_body(self._reader, further, request.length)
        except (OSError, EOFError, ValueError):  # the server is gone, or sends an invalid body
            self.cut()

    async def _answer(self, refusal: Refusal) -> None:
        text = f"{refusal.reason}\n".encode()
        lines = [
            f"HTTP/1.1 {refusal.status.value} {refusal.reason}",
            *([f'Proxy-Authenticate: Basic realm="{USER}"'] if refusal.status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED else []),
            "Content-Type: text/plain; charset=utf-8",
            f"Content-Length: {len(text)}",
            "Connection: close",
        ]
        with contextlib.suppress(OSError):
            self._writer.write("\r\n".join([*lines, "", ""]).encode() + text)
            self._writer.write_eof()
            async with asyncio.timeout(LINGER_S):
                while await self._reader.read(64 * 1024):
                    pass
