"""Whatever bytes come over HTTP: a response, and never one that says that something is wrong in here."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fakes.heard import PATIENCE_S
from tests.fakes.http_hub import http_hub
from tests.fakes.rest_hub import rest_hub
from tests.fakes.served_hub import entry, reading, served_hub

NAMES = [
    *("Host", "Origin", "Authorization", "Expect", "Accept", "Accept-Encoding", "Content-Type", "Content-Encoding", "Connection"),
    *("Mcp-Session-Id", "Last-Event-ID", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Param-X", "If-Match", "If-None-Match"),
    *("Sec-Fetch-Site", "Upgrade", "Cookie", "Range", "Forwarded", "X-Forwarded-For", "Sec-WebSocket-Key", "X-HTTP-Method-Override"),
]
PATHS = {
    "mcp": ["/mcp", "/servers/fs/mcp", "/servers/fs/sse", "/servers/fs/messages?sessionId=x", "/healthz", "/servers/%ff/mcp", "/%0a", "*"],
    "rest": ["/api", "/api/mcp", "/api/mcp/servers", "/api/mcp/servers/%ff", "/api/events", "/api/openapi.json", "/api/mcp/tools?limit=x"],
    "served": ["/", "/fs/", "/fs/sse", "/fs/mcp", "/fs/message?sessionId=x", "/elsewhere", "/fs/%ff", "//fs"],
}
BODIES = [
    b"",
    b"{}",
    b'{"jsonrpc":"2.0","id":1,"method":"echo"}',
    b"\xff\xfe",
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}',
]
GOOD = {
    "Host": b"HOST",
    "Authorization": b"Bearer right",
    "Accept": b"application/json, text/event-stream",
    "Content-Type": b"application/json",
}

ODD = [
    *(b"\xff", b"\xe4", b"100-continue", b"Bearer right", b"Bearer \xff", b"text/event-stream"),
    *(b"2026-07-28", b"2025-11-25", b"=?base64?/w==?=", b"websocket"),
]

values = st.binary(max_size=20).filter(lambda value: not set(value) & set(b"\r\n\0")) | st.sampled_from(ODD)
odd_headers = st.lists(st.tuples(st.sampled_from(NAMES), values), max_size=4)
methods = st.sampled_from(["GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH", "CONNECT", "TRACE", "BREW"])


@asynccontextmanager
async def place(kind: str) -> AsyncIterator[int]:
    """The port of one of the endpoints."""
    with tempfile.TemporaryDirectory() as folder:
        if kind == "mcp":
            async with http_hub(tokens={"right": "one"}) as mcp:
                yield mcp.port
        elif kind == "rest":
            async with rest_hub(Path(folder)) as rest:
                yield rest.port
        else:
            async with served_hub(Path(folder), reading(entry("fs"))) as served:
                await served.listener.start()
                yield urlsplit(next(iter(served.files.endpoints.values()))).port or 0


async def status_of(port: int, method: str, path: str, headers: dict[str, bytes], odd: list[tuple[str, bytes]], body: bytes) -> int:
    """The status of the response; 0 where the connection was just closed."""
    lines = [f"{method} {path} HTTP/1.1".encode()]
    lines += [b"%b: %b" % (name.encode(), value.replace(b"HOST", b"127.0.0.1:%d" % port)) for name, value in [*headers.items(), *odd]]
    lines += [b"Content-Length: %d" % len(body), b"", body]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(b"\r\n".join(lines))
        async with asyncio.timeout(PATIENCE_S):
            line = await reader.readline()
            while line.startswith(b"HTTP/1.1 100"):
                await reader.readline()
                line = await reader.readline()
        return int(line.split()[1]) if line else 0
    except ConnectionResetError:
        return 0
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


@pytest.mark.parametrize("kind", ["mcp", "rest", "served"])
@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_no_header_makes_an_endpoint_fail(kind: str, data: st.DataObject) -> None:
    left_out = st.sets(st.sampled_from(sorted(GOOD)))
    one = st.tuples(methods, st.sampled_from(PATHS[kind]), left_out, odd_headers, st.sampled_from(BODIES))
    requests = data.draw(st.lists(one, min_size=1, max_size=15))

    async def ask_all() -> None:
        async with place(kind) as port:
            for method, path, without, odd, body in requests:
                headers = {name: value for name, value in GOOD.items() if name not in without}
                assert await status_of(port, method, path, headers, odd, body) < 500, (method, path, headers, odd, body)

    asyncio.run(ask_all())


@pytest.mark.parametrize("kind", ["mcp", "rest", "served"])
@pytest.mark.parametrize("method", ["GET", "CONNECT"])
@pytest.mark.parametrize("expected", [b"\xff", b"something", b"100-continue", b""])
async def test_what_a_client_expects_besides_an_answer_changes_nothing(kind: str, method: str, expected: bytes) -> None:
    async with place(kind) as port:
        path = PATHS[kind][-2]
        plain = await status_of(port, method, path, GOOD, [], b"")
        assert await status_of(port, method, path, GOOD, [("Expect", expected)], b"") == plain < 500
