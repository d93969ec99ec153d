"""proxy_requests.py: heads are read strictly, and written anew."""

import pytest

from tooltray.servers.confinement.destinations import Destination
from tooltray.servers.confinement.proxy_requests import read_request


def head(*lines: str) -> bytes:
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def test_a_tunnel_has_a_host_and_a_port_and_may_have_headers() -> None:
    request = read_request(head("CONNECT Example.org:443 HTTP/1.1", "Host: whatever", "Proxy-Authorization: Basic x"))
    assert (request.destination, request.is_tunnel, request.authorization) == (Destination("example.org", 443), True, "Basic x")
    assert "Basic" not in repr(request)


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
        (["GET HTTP://EXAMPLE.org:80/ HTTP/1.1", "Host: example.org."], 0),
        (["POST http://example.org/ HTTP/1.1", "host: example.org", "Transfer-Encoding: Chunked"], None),
    ],
)
def test_a_body_ends_where_its_head_says(lines: list[str], length: int | None) -> None:
    request = read_request(head(*lines))
    assert request.length == length
    assert b"Host: example.org\r\n" in request.head_for_next()


GET, HOST = "GET http://example.org/ HTTP/1.1", "Host: example.org"


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
