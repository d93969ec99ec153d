"""host_proxies.py, proxy_requests.py, outward.py: a server reaches its hosts, and by no trick another one."""

import asyncio
import logging
import socket
import struct
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.proxied import Proxied, authorized, connected, listening, proxied, rest, said, status, tunnelled

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ServerRemoved
from tooltray.servers.confinement import host_proxies
from tooltray.servers.confinement.host_proxies import MADE
from tooltray.servers.confinement.proxy_requests import MAX_HEAD_BYTES


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Proxied]:
    async with proxied(tmp_path) as made:
        await made.config.load()
        yield made


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Says the same to the end, and then what it was."""
    heard = await reader.read()
    writer.write(b"heard " + heard)


async def web(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers a request with what it was, body included."""
    head = await reader.readuntil(b"\r\n\r\n")
    size = 11 if b"chunked" in head else int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0] or 0)
    body = await reader.readexactly(size)
    writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + head + body)


# what goes through


async def test_a_listed_host_is_reached_and_each_side_may_end_first(hub: Proxied) -> None:
    async with listening(echo) as port:
        door = await hub.door(f"127.0.0.1:{port}")
        async with connected(door.port) as (reader, writer):
            writer.write(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n{authorized(door)}\r\n".encode() + b"early ")
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
            writer.write(b"and late")
            writer.write_eof()
            assert await reader.read() == b"heard early and late"
    assert hub.refused() == []


@pytest.mark.parametrize(
    ("body", "headers", "arrives"),
    [
        (b"", "", b""),
        (b"abcGET http://evil/ HTTP/1.1\r\n\r\n", "Content-Length: 3\r\n", b"abc"),
        (b"1;x=y\r\na\r\n0\r\nTrailer: x\r\n\r\nGET /", "Transfer-Encoding: chunked\r\n", b"1\r\na\r\n0\r\n\r\n"),
    ],
)
async def test_a_plain_request_is_passed_on_to_its_end_and_not_further(hub: Proxied, body: bytes, headers: str, arrives: bytes) -> None:
    async with listening(web) as port:
        door = await hub.door(f"127.0.0.1:{port}")
        request = f"POST http://127.0.0.1:{port}/x HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{headers}{authorized(door)}\r\n"
        answer = await said(door, request.encode() + body)
    assert answer.endswith(f"POST /x HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{headers}Connection: close\r\n\r\n".encode() + arrives)


async def test_an_answer_ends_a_request_whose_rest_is_never_sent(hub: Proxied) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"abc")
        writer.write(b"HTTP/1.1 413 Content Too Large\r\n\r\n")

    async with listening(refuse) as port:
        door = await hub.door(f"127.0.0.1:{port}")
        head = f"POST http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 9\r\n{authorized(door)}\r\n"
        assert status(await said(door, head.encode() + b"abc")) == 413


@pytest.mark.parametrize("body", ["x\r\n", "1\r\nab\r\n", f"{'0' * 20}1\r\n", "0\r\n" + "A: b\r\n" * 200, "1" * 70_000, "2\r\na"])
async def test_chunks_that_cannot_be_read_end_the_request(hub: Proxied, body: str) -> None:
    async with listening(echo) as port:
        door = await hub.door(f"127.0.0.1:{port}")
        head = f"POST http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nTransfer-Encoding: chunked\r\n{authorized(door)}\r\n"
        async with connected(door.port) as (reader, writer):
            writer.write((head + body).encode())
            writer.write_eof()
            assert await rest(reader) == b""


async def test_a_host_that_vanishes_ends_what_was_on_its_way(hub: Proxied) -> None:
    async def vanish(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(4)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    async with listening(vanish) as port:
        door = await hub.door(f"127.0.0.1:{port}")
        for request in (f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n", f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"):
            async with connected(door.port) as (reader, writer):
                writer.write(f"{request}{authorized(door)}\r\nmore".encode())
                assert await rest(reader) in (b"", MADE)


# what does not


@pytest.mark.parametrize(
    ("authority", "refused"),
    [
        ("evil.org:443", "evil.org:443"),
        ("EVIL.org.:443", "evil.org:443"),
        ("example.org:8443", "example.org:8443"),
        ("example.org.evil.org:443", "example.org.evil.org:443"),
        ("127.0.0.1:443", "127.0.0.1:443"),
        ("2130706433:443", "127.0.0.1:443"),
        ("0x7f000001:443", "127.0.0.1:443"),
        ("[::ffff:7f00:1]:443", "127.0.0.1:443"),
        ("[::1]:443", "[::1]:443"),
        ("169.254.169.254:80", "169.254.169.254:80"),
    ],
)
async def test_other_hosts_are_refused_before_dns_is_asked(hub: Proxied, authority: str, refused: str) -> None:
    answer = await tunnelled(await hub.door("example.org"), authority)
    assert status(answer) == 403
    assert f"and {refused} is not among them".encode() in answer.split(b"\r\n")[0]
    assert (hub.refused(), hub.asked) == ([refused], [])


@pytest.mark.parametrize("means", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fe80::1", "64:ff9b::7f00:1"])
async def test_a_listed_name_that_means_this_computer_or_its_network_is_refused(hub: Proxied, means: str) -> None:
    hub.dns["example.org"] = [means]
    assert status(await tunnelled(await hub.door("example.org"), "example.org:443")) == 403
    assert hub.refused() == [f"[{means}]:443" if ":" in means else f"{means}:443"]


async def test_such_a_name_is_reached_where_its_address_is_listed_too(hub: Proxied) -> None:
    hub.dns["inner.org"] = ["10.255.255.1", "127.0.0.1"]
    async with listening(web) as port:
        door = await hub.door(f"inner.org:{port}", f"127.0.0.1:{port}")
        request = f"GET http://inner.org:{port}/ HTTP/1.1\r\nHost: inner.org:{port}\r\n{authorized(door)}\r\n"
        assert b"GET / HTTP/1.1" in await said(door, request.encode())


@pytest.mark.parametrize(("answers", "code"), [(None, 502), ([], 403)])
async def test_a_name_without_an_address_is_not_reached(hub: Proxied, answers: list[str] | None, code: int) -> None:
    hub.dns |= {} if answers is None else {"example.org": answers}
    assert status(await tunnelled(await hub.door("example.org"), "example.org:443")) == code


async def test_an_address_where_nobody_listens_is_said_not_to_be_reached(hub: Proxied) -> None:
    async with listening(echo) as port:
        door = await hub.door(f"127.0.0.1:{port}")
    assert status(await tunnelled(door, f"127.0.0.1:{port}")) == 502


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (b"CONNECT a@example.org:443 HTTP/1.1\r\n\r\n", 400),
        (b"CONNECT example.org:443@evil.org HTTP/1.1\r\n\r\n", 400),
        (b"CONNECT example.org :443 HTTP/1.1\r\n\r\n", 400),
        (b"CONNECT example%2eorg:443 HTTP/1.1\r\n\r\n", 400),
        (b"CONNECT example.org\0:443 HTTP/1.1\r\n\r\n", 400),
        ("CONNECT example。org:443 HTTP/1.1\r\n\r\n".encode(), 400),
        (b"\x16\x03\x01\x02\r\n\r\n", 400),
        (b"GET http://example.org/ HTTP/1.1\r\nHost: evil.org\r\n\r\n", 400),
        (b"CONNECT example.org:443 HTTP/1.1\r\nA: " + b"b" * 100_000 + b"\r\n\r\n", 431),
        (b"CONNECT example.org:443 HTTP/1.1\r\n\r\n", 407),
        (b"CONNECT example.org:443 HTTP/1.1\r\nProxy-Authorization: Basic dG9vbHRyYXk6eA==\r\n\r\n", 407),
    ],
)
async def test_what_is_no_request_of_this_server_gets_an_answer_and_nothing_else(hub: Proxied, request_: bytes, code: int) -> None:
    answer = await said(await hub.door("example.org"), request_)
    assert status(answer) == code
    assert (b"Proxy-Authenticate" in answer) is (code == 407)
    assert (hub.refused(), hub.asked) == ([], [])
    assert MAX_HEAD_BYTES < 100_000


async def test_half_a_request_is_waited_for_only_so_long(tmp_path: Path) -> None:
    async with proxied(tmp_path, request_s=0.01) as hub:
        assert status(await said(await hub.door("example.org"), b"CONNECT example.org:443 HTTP/1.1\r\n")) == 408


async def test_who_leaves_in_the_middle_of_a_request_is_forgotten(hub: Proxied) -> None:
    door = await hub.door("example.org")
    async with connected(door.port) as (reader, writer):
        writer.write(b"CONNECT")
        writer.write_eof()
        assert await reader.read() == b""


async def test_a_server_has_only_so_many_connections(hub: Proxied, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_proxies, "MAX_CONNECTIONS", 1)
    door = await hub.door("example.org")
    async with connected(door.port) as (_, first):
        first.write(b"CONNECT")
        assert await tunnelled(door, "example.org:443") == b""


# its life


async def test_another_servers_token_opens_nothing(hub: Proxied) -> None:
    mine, other = await hub.door("example.org"), await hub.door("*.org", server="other")
    request = f"CONNECT example.org:443 HTTP/1.1\r\n{authorized(other)}\r\n"
    assert status(await said(mine, request.encode())) == 407
    assert mine.port != other.port
    assert len(set(hub.noted)) == 2
    assert hub.noted[0] not in repr(mine)


async def test_hosts_change_while_the_server_runs_and_cut_what_is_not_listed_any_more(hub: Proxied) -> None:
    async with listening(echo) as port:
        entry = {"command": "p", "confinement": {"hosts": [f"127.0.0.1:{port}"]}}
        await hub.config.set_server("s", {"command": "p", "confinement": {"hosts": []}})
        door = await hub.door()
        assert status(await tunnelled(door, f"127.0.0.1:{port}")) == 403
        await hub.config.set_server("s", entry)
        async with connected(door.port) as (reader, writer), connected(door.port):
            writer.write(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n{authorized(door)}\r\n".encode())
            await reader.readuntil(b"\r\n\r\n")
            await hub.config.set_server("s", entry | {"args": ["a"]})
            writer.write(b"still there")
            writer.write_eof()
            assert await reader.read() == b"heard still there"
        async with connected(door.port) as (reader, writer):
            writer.write(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n{authorized(door)}\r\n".encode())
            await reader.readuntil(b"\r\n\r\n")
            await hub.config.set_server("s", {"command": "p", "confinement": {"network": "none"}})
            assert await rest(reader) == b""
    assert (await hub.door("a")).port == door.port
    await hub.config.remove_server("s")  # until it has ended, it keeps its proxy


async def test_the_proxy_of_a_server_that_is_gone_is_closed(hub: Proxied) -> None:
    door = await hub.door("example.org")
    async with connected(door.port) as (reader, writer):
        writer.write(b"CONNECT")
        hub.bus.publish(ServerRemoved("s"))
        hub.bus.publish(ServerRemoved("unknown"))
        assert await rest(reader) == b""
    with pytest.raises(OSError):
        await said(door, b"")


async def test_without_a_port_the_server_does_not_start(hub: Proxied, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_proxies, "LOOPBACK", "192.0.2.1")
    with pytest.raises(TooltrayError, match="'s' cannot be given its hosts"):
        await hub.door("example.org")


async def test_nothing_but_host_and_port_is_logged(hub: Proxied, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    door = await hub.door("example.org")
    request = f"GET http://evil.org/secret?key=1 HTTP/1.1\r\nHost: evil.org\r\nCookie: secret\r\n{authorized(door)}\r\n"
    assert status(await said(door, request.encode())) == 403
    assert [record.getMessage() for record in caplog.records if "tooltray" in record.name] == ["'s' was blocked from reaching evil.org:80"]
