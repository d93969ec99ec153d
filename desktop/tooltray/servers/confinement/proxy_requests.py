"""A server's request to its proxy: its head, read strictly, and written again for the next hop.

Two kinds are known: `CONNECT host:port`, after which a tunnel is relayed without inspection, and `GET http://host/path` (any method), where
the Host header must name the same. Anything that two programs might read in two ways is refused: folded lines, a bare line feed, a user in
front of the host, a percent sign in it, two lengths of one body.
"""

import asyncio
import re
from typing import ClassVar

from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.servers.confinement.destinations import Destination, read_destination

MAX_HEAD_BYTES = 32 * 1024  # servers of the web take 8 to 16 KB of headers

_REQUEST_LINE = lazy_pattern(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}) ([\x21-\x7e]+) HTTP/1\.([01])")
_HEADER = lazy_pattern(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)")
_ABSOLUTE = lazy_pattern(r"http://([^/?#]*)(/[^#]*|\?[^#]*)?", re.IGNORECASE)
_LENGTH = lazy_pattern(r"[0-9]{1,18}")
_OF_ONE_HOP = {"connection", "proxy-connection", "keep-alive", "te", "upgrade", "proxy-authorization", "proxy-authenticate"}
_NEVER_DROPPED = {"content-length", "transfer-encoding", "host"}  # even if `Connection` lists them: they mark the request's end

Header = tuple[str, str]
PIECE_BYTES = 64 * 1024
MAX_TRAILER_LINES = 100
_CHUNK = lazy_pattern(rb"([0-9a-fA-F]{1,12})[ \t]*(?:;[^\r\n]*)?\r\n")


class ProxyRequest(HidesFields, frozen=True):
    """The head of a request.

    Attributes:
        path: with query; empty for a tunnel.
        headers: as received, including the headers for this hop; Latin-1.
        length: of the body in bytes; None: it comes in chunks, as does all that a tunnel carries.
    """

    hidden: ClassVar = ("method", "path", "headers")

    destination: Destination
    is_tunnel: bool
    method: str
    path: str
    headers: tuple[Header, ...]
    length: int | None

    @property
    def authorization(self) -> str:
        """Returns the header's credentials; empty without the header."""
        return ", ".join(_values(self.headers, "proxy-authorization"))

    def head_for_next(self, *, proxy_authorization: str | None = None) -> bytes:
        """Returns the head for the next hop, with `Connection: close`.

        Args:
            proxy_authorization: for a proxy that is next, and may be empty; None: the destination itself is next.
        """
        named = {name.strip().lower() for value in _values(self.headers, "connection") for name in value.split(",")}
        dropped = (_OF_ONE_HOP | named) - _NEVER_DROPPED | {"host"}
        kept = [(name, value) for name, value in self.headers if name.lower() not in dropped]
        authority = str(self.destination).removesuffix(":80")
        target = self.path if proxy_authorization is None else f"http://{authority}{self.path}"
        further = [("Proxy-Authorization", proxy_authorization)] if proxy_authorization else []
        lines = [("Host", authority), *kept, *further, ("Connection", "close")]
        return f"{self.method} {target} HTTP/1.1\r\n".encode("latin-1") + written(lines)


def written(headers: list[Header]) -> bytes:
    """Returns headers as they are sent, with the line that ends them."""
    return "".join(f"{name}: {value}\r\n" for name, value in headers).encode("latin-1") + b"\r\n"


def read_request(head: bytes) -> ProxyRequest:
    """Reads the head of a request.

    Args:
        head: to the empty line that ends it, and no further.

    Raises:
        ValueError: it is not a request that is answered here; gives the reason, without the request's words.
    """
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    found = _REQUEST_LINE.fullmatch(first)
    if not found:
        raise ValueError("this is not a request for a proxy")
    method, target, minor = (part.decode("ascii") for part in found.groups())
    headers = tuple(_header(line) for line in lines)
    if method == "CONNECT":
        if not re.search(r":[0-9]+$", target):
            raise ValueError("CONNECT needs a host and a port")
        return ProxyRequest(read_destination(target), True, method, "", headers, None)
    return _plain(method, target, headers, is_old=minor == "0")


def _header(line: bytes) -> Header:
    found = _HEADER.fullmatch(line)
    if not found:
        raise ValueError("a header cannot be read")
    return found[1].decode("ascii"), found[2].decode("latin-1").rstrip()


def _plain(method: str, target: str, headers: tuple[Header, ...], *, is_old: bool) -> ProxyRequest:
    found = _ABSOLUTE.fullmatch(target)
    if not found:
        raise ValueError("the whole URL is needed, and it must begin with http://")
    destination = read_destination(found[1], 80)
    hosts = _values(headers, "host")
    if len(hosts) > 1 or not (hosts or is_old) or any(read_destination(host, 80) != destination for host in hosts):
        raise ValueError("the Host header and the URL differ")
    path = found[2] or "/"
    return ProxyRequest(destination, False, method, path if path.startswith("/") else f"/{path}", headers, _length(headers))


def _length(headers: tuple[Header, ...]) -> int | None:
    codings, lengths = _values(headers, "transfer-encoding"), _values(headers, "content-length")
    if codings:
        if lengths or [coding.lower() for coding in codings] != ["chunked"]:
            raise ValueError("it is not clear where the body ends")
        return None
    if not lengths:
        return 0
    if len(lengths) > 1 or not _LENGTH.fullmatch(lengths[0]):
        raise ValueError("the length of the body cannot be read")
    return int(lengths[0])


def _values(headers: tuple[Header, ...], wanted: str) -> list[str]:
    return [value for name, value in headers if name.lower() == wanted]


async def relay_tunnel(
    inner: tuple[asyncio.StreamReader, asyncio.StreamWriter], outer: tuple[asyncio.StreamReader, asyncio.StreamWriter]
) -> None:
    """Relays until both sides have ended; the end of one side is passed to the other, which may continue to send."""
    await asyncio.gather(_pump(inner[0], outer[1]), _pump(outer[0], inner[1]))


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Relays one direction to its end. A side that is gone ends both directions, since each reads from it or writes to it."""
    try:
        while data := await source.read(PIECE_BYTES):
            sink.write(data)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()
        else:  # TLS, which has no half end
            sink.close()
    except OSError:
        sink.transport.abort()


async def pass_body(source: asyncio.StreamReader, sink: asyncio.StreamWriter, length: int | None) -> None:
    """Passes one body on, to its end.

    Args:
        length: in bytes; None: it comes in chunks, whose extensions are not passed on.

    Raises:
        ValueError: it is malformed.
        OSError, EOFError: one side is gone.
    """
    if length is not None:
        await _pass_bytes(source, sink, length)
        return
    while size := await _chunk_size(source):
        sink.write(b"%x\r\n" % size)
        await _pass_bytes(source, sink, size)
        if await source.readexactly(2) != b"\r\n":
            raise ValueError("a chunk is longer than its declared size")
        sink.write(b"\r\n")
    for _ in range(MAX_TRAILER_LINES):
        if await _line(source) == b"\r\n":
            sink.write(b"0\r\n\r\n")
            return
    raise ValueError("too many lines after the body")


async def _chunk_size(source: asyncio.StreamReader) -> int:
    found = _CHUNK.fullmatch(await _line(source))
    if not found:
        raise ValueError("a chunk cannot be read")
    return int(found[1], 16)


async def _line(source: asyncio.StreamReader) -> bytes:
    try:
        return await source.readuntil(b"\r\n")
    except asyncio.LimitOverrunError:
        raise ValueError("a line is too long") from None


async def _pass_bytes(source: asyncio.StreamReader, sink: asyncio.StreamWriter, length: int) -> None:
    while length:
        data = await source.read(min(length, PIECE_BYTES))
        if not data:
            raise EOFError
        sink.write(data)
        await sink.drain()
        length -= len(data)


async def pass_all(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Passes everything on, to the source's end.

    Raises:
        OSError: one side is gone.
    """
    while data := await source.read(PIECE_BYTES):
        sink.write(data)
        await sink.drain()
