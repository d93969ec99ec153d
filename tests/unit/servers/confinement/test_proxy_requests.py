"""proxy_requests.py: heads are read strictly, and written anew."""

import asyncio

import pytest

from tooltray.servers.confinement.destinations import Destination
from tooltray.servers.confinement.proxy_requests import MAX_TRAILER_LINES, PIECE_BYTES, pass_all, pass_body, read_request

GET, HOST = "GET http://example.org/ HTTP/1.1", "Host: example.org"


def head(*lines: str) -> bytes:
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def test_a_tunnel_has_a_host_and_a_port_and_may_have_headers() -> None:
    request = read_request(head("CONNECT Example.org:443 HTTP/1.1", "Host: whatever", "Proxy-Authorization: Basic x"))
    assert (request.destination, request.is_tunnel, request.authorization) == (Destination("example.org", 443), True, "Basic x")
    assert "Basic" not in repr(request)
    assert read_request(head("CONNECT example.org:443 HTTP/1.0")).authorization == ""


def test_what_is_meant_for_one_hop_goes_no_further() -> None:
    request = read_request(
        head(
            "POST http://example.org:8080?a=1 HTTP/1.1",
            "Host: example.org:8080",
            "Proxy-Authorization: Basic x",
            "Proxy-Connection: keep-alive",
            "Connection: keep-alive, X-Hop, Content-Length",
            "X-Hop: 1",
            "Keep-Alive: 5",
            "Upgrade: h2c",
            "TE: trailers",
            "Content-Length: 3",
            "X-End: stäys",
        )
    )
    assert request.length == 3
    expected = head(
        "POST /?a=1 HTTP/1.1", "Host: example.org:8080", "Content-Length: 3", "X-End: stäys", "Connection: close"
    )  # a length is never dropped
    assert request.head_for_next() == expected
    through = request.head_for_next(proxy_authorization="Basic y")
    assert through.startswith(b"POST http://example.org:8080/?a=1 HTTP/1.1\r\nHost: example.org:8080\r\n")
    assert b"Proxy-Authorization: Basic y\r\n" in through
    assert b"Proxy-Auth" not in request.head_for_next(proxy_authorization="")


@pytest.mark.parametrize(
    ("lines", "length"),
    [
        (["GET http://example.org HTTP/1.0"], 0),
        (["GET http://example.org?a HTTP/1.1", HOST, "Content-Length: 0"], 0),
        (["GET http://example.org/ HTTP/1.1", HOST, "content-length: 123456789012345678"], 123456789012345678),
        (["GET HTTP://EXAMPLE.org:80/ HTTP/1.1", "Host: example.org."], 0),
        (["POST http://example.org/ HTTP/1.1", "host: example.org", "Transfer-Encoding: Chunked"], None),
    ],
)
def test_a_body_ends_where_its_head_says(lines: list[str], length: int | None) -> None:
    request = read_request(head(*lines))
    assert request.length == length
    assert b"Host: example.org\r\n" in request.head_for_next()


@pytest.mark.parametrize(
    "lines",
    [
        *([""], ["CONNECT"], ["CONNECT example.org:443"], ["CONNECT example.org:443 HTTP/2"], ["CONNECT  example.org:443 HTTP/1.1"]),
        *(["CONNECT example.org HTTP/1.1"], ["CONNECT u:p@example.org:443 HTTP/1.1"], ["CONNECT example.org:443@evil HTTP/1.1"]),
        *(["CONNECT example.org:443\0 HTTP/1.1"], ["CONNECT http://example.org:443 HTTP/1.1"], ["CONNECT e%78ample.org:443 HTTP/1.1"]),
        *(["GET / HTTP/1.1", HOST], ["GET https://example.org/ HTTP/1.1", HOST], ["GET ftp://example.org/ HTTP/1.1", HOST]),
        *(["GET http://u@example.org/ HTTP/1.1", HOST], ["GET http:///x HTTP/1.1", "Host: "], ["GET http://example.org/#x HTTP/1.1", HOST]),
        *([GET], [GET, "Host: evil.org"], [GET, HOST, HOST], [GET, "Host: example.org:8080"], [GET, "Host: example.org@evil"]),
        *([GET, HOST, "A : b"], [GET, HOST, " folded"], [GET, HOST, "A: b\nC: d"], [GET, HOST, "A: \0"], [GET, HOST, "no colon"]),
        *([GET, HOST, "Content-Length: +5"], [GET, HOST, "Content-Length: 5", "Content-Length: 5"], [GET, HOST, "Content-Length: -1"]),
        *([GET, HOST, "Transfer-Encoding: gzip, chunked"], [GET, HOST, "Transfer-Encoding: chunked", "Content-Length: 5"]),
    ],
)
def test_what_can_be_read_in_two_ways_is_no_request(lines: list[str]) -> None:
    with pytest.raises(ValueError):
        read_request(head(*lines))


class Sink:
    """What is written; stands in for a StreamWriter."""

    def __init__(self) -> None:
        self.written = b""

    def write(self, data: bytes) -> None:
        self.written += data

    async def drain(self) -> None:
        pass


def source_of(data: bytes) -> asyncio.StreamReader:
    source = asyncio.StreamReader()
    source.feed_data(data)
    source.feed_eof()
    return source


TRAILER = b"X: y\r\n"


@pytest.mark.parametrize(
    ("sent", "length", "passed", "rest"),
    [
        (b"bodymore", 4, b"body", b"more"),
        (b"x" * (PIECE_BYTES + 1), PIECE_BYTES + 1, b"x" * (PIECE_BYTES + 1), b""),
        (b"more", 0, b"", b"more"),
        (b"3 ;ext\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\nmore", None, b"3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n", b"more"),
        (b"0\r\n" + TRAILER * (MAX_TRAILER_LINES - 1) + b"\r\nmore", None, b"0\r\n\r\n", b"more"),
    ],
)
async def test_a_body_is_passed_on_to_its_end_and_no_further(sent: bytes, length: int | None, passed: bytes, rest: bytes) -> None:
    source, sink = source_of(sent), Sink()
    await pass_body(source, sink, length)  # type: ignore[arg-type]
    assert (sink.written, await source.read()) == (passed, rest)


@pytest.mark.parametrize(
    ("sent", "length", "error"),
    [
        (b"bod", 4, EOFError),
        (b"3\r\nab", None, EOFError),
        (b"3\r\nabcd\r\n0\r\n\r\n", None, ValueError),
        (b"x\r\n", None, ValueError),
        (b"1234567890123\r\n", None, ValueError),
        (b"1;" + b"x" * 2**17 + b"\r\na\r\n0\r\n\r\n", None, ValueError),
        (b"0\r\n" + TRAILER * MAX_TRAILER_LINES + b"\r\n", None, ValueError),
    ],
)
async def test_a_body_that_is_cut_or_malformed_is_an_error(sent: bytes, length: int | None, error: type[Exception]) -> None:
    with pytest.raises(error):
        await pass_body(source_of(sent), Sink(), length)  # type: ignore[arg-type]


async def test_what_has_no_length_is_passed_on_whole() -> None:
    sink = Sink()
    await pass_all(source_of(b"x" * (PIECE_BYTES + 1)), sink)  # type: ignore[arg-type]
    assert sink.written == b"x" * (PIECE_BYTES + 1)
