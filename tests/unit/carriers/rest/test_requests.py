"""requests.py: paths, queries and bodies that cannot be what they should be."""

import asyncio
import gzip
import io
import socket
from pathlib import Path

import pytest
from aiohttp import StreamReader
from aiohttp.base_protocol import BaseProtocol
from aiohttp.test_utils import make_mocked_request
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.nesting import TOO_DEEP
from tests.fakes.rest_hub import TOKEN, RestHub, rest_hub

from tooltray.carriers.rest.operations import operations_at
from tooltray.carriers.rest.requests import BODY_WITHIN_S, page, read_body
from tooltray.carriers.rest.responses import Failed, problem_response

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("data", "headers", "status", "said"),
    [
        (b"", {}, 415, "send application/json"),
        (b"{}", {"Content-Type": "text/plain"}, 415, "send application/json"),
        (b"{}", {"Content-Type": "application/json; charset=latin-1"}, 415, "UTF-8"),
        ('{"kind": "x"}'.encode("utf-16"), JSON, 415, "UTF-16"),
        ('{"kind": "x"}'.encode("utf-16-le"), JSON, 415, "UTF-16"),
        (b'{"kind": "\xff"}', JSON, 400, "not UTF-8"),
        (b'{"kind": ', JSON, 400, "line 1, column 10"),
        (b"", JSON, 400, "line 1"),
        (b'{"kind": NaN}', JSON, 400, ""),
        (b'{"kind": "memory", "kind": "file"}', JSON, 400, "'kind'"),
        (b"[" * TOO_DEEP + b"]" * TOO_DEEP, JSON, 400, "nested too deeply"),
        (b'{"kind": 1}', JSON, 422, "`kind`"),
        (b'{"kind": "memory", "colour": 1}', JSON, 422, "`colour`"),
        (b"{}", JSON, 422, "`kind`"),
        (b"[]", JSON, 422, "Expected `object`"),
        (b'{"kind": "\\ud800"}', JSON, 422, "surrogate"),
        (b'{"kind": "\\u0000"}', JSON, 422, "zero character"),
        (b'{"kind": 1e400}', JSON, 422, "too large"),
        (b'{"kind": 99999999999999999999999}', JSON, 422, "too large"),
        (b'{"kind": 0.12345678901234567890123456789}', JSON, 422, "`kind`"),
    ],
)
async def test_a_body_that_cannot_be_used_is_told(hub: RestHub, data: bytes, headers: dict[str, str], status: int, said: str) -> None:
    answer = await hub.ask("POST", "/api/secrets/set_secret_backend", data=data, headers={"Content-Type": "", **headers})
    assert (answer.status, answer.json["status"]) == (status, status)
    assert said in answer.json["detail"]
    assert (await hub.ask("GET", "/api/secrets/check_secrets")).json == "memory"


@pytest.mark.parametrize("body", [b"not gzip", gzip.compress(b'{"kind": "file"}'), gzip.compress(b" " * 10_000_000)])
async def test_a_compressed_body_is_not_taken(hub: RestHub, body: bytes) -> None:
    answer = await hub.ask("POST", "/api/secrets/set_secret_backend", data=body, headers={**JSON, "Content-Encoding": "gzip"})
    assert (answer.status, answer.json["detail"]) == (415, "it is compressed; send it uncompressed")
    assert (await hub.ask("GET", "/api/secrets/check_secrets")).json == "memory"


async def test_a_body_that_says_it_is_too_large_is_not_read(hub: RestHub) -> None:
    answer = await hub.ask("POST", "/api/secrets/set_secret_backend", data=io.BytesIO(b" " * (1024 * 1024 + 1)), headers=JSON)
    assert (answer.status, answer.json["detail"]) == (413, "at most 1,048,576 bytes are accepted here")


async def test_a_bodys_values_are_not_repeated(hub: RestHub) -> None:
    answer = await hub.ask("POST", "/api/secrets/set_secret", {"name": "a", "value": ["hunter2"]})
    assert answer.status == 422
    assert b"hunter2" not in answer.body


async def test_a_byte_order_mark_before_a_body_is_passed_over(hub: RestHub) -> None:
    assert (await hub.ask("POST", "/api/secrets/set_secret", data=b'\xef\xbb\xbf{"name": "a", "value": "x"}', headers=JSON)).status == 204


async def test_a_body_in_pieces_is_not_taken_beyond_its_limit(tmp_path: Path) -> None:
    async def pieces():  # type: ignore[no-untyped-def]
        for _ in range(20):
            yield b" " * 100_000

    async with rest_hub(tmp_path) as hub:
        assert (await hub.ask("POST", "/api/secrets/set_secret", data=pieces(), headers=JSON)).status == 413


class Silent(BaseProtocol):
    """A connection on which nothing more comes."""

    connected = True  # type: ignore[assignment]


@in_fake_time
async def test_a_body_that_does_not_come_is_not_waited_for_for_ever() -> None:
    [(operation, _)] = operations_at(("secrets", "set_secret")).values()
    body = StreamReader(Silent(asyncio.get_running_loop()), 2**16)
    body.feed_data(b'{"value": ')
    began = asyncio.get_running_loop().time()
    with pytest.raises(Failed) as failed:
        await read_body(make_mocked_request("POST", "/api/secrets/set_secret", headers=JSON, payload=body), operation)
    assert (failed.value.status, problem_response(failed.value).status) == (408, 408)
    assert asyncio.get_running_loop().time() - began == pytest.approx(BODY_WITHIN_S)


async def test_what_takes_no_body_says_so_and_what_needs_none_does_without(hub: RestHub) -> None:
    answer = await hub.ask("POST", "/api/files/reload/", {})
    assert answer.status == 404
    answer = await hub.ask("POST", "/api/projects/reset_deferred_state", {"a": 1})
    assert (answer.status, answer.json["detail"]) == (413, "no body is accepted here")
    assert (await hub.ask("POST", "/api/views/set_lazy_load")).status == 204
    assert (await hub.ask("POST", "/api/views/set_lazy_load", {"enabled": True})).status == 204


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ("project=a&project=b", 422, ""),
        ("colour=red", 422, "`colour`"),
        ("project=%FF", 400, "UTF-8"),
        ("project=%00", 400, ""),
        ("project", 400, "name=value"),
        ("limit=0", 422, "limit is a number"),
        ("limit=501", 422, "limit is a number"),
        ("limit=%C2%B2", 422, "limit is a number"),
        ("limit=99999999999999999999", 422, "limit is a number"),
        ("cursor=nonsense", 422, "cursor"),
        ("cursor=%C3%BC", 422, "cursor"),
        ("&".join(f"a{number}=1" for number in range(60)), 400, ""),
    ],
)
async def test_a_query_that_cannot_be_used_is_told(hub: RestHub, query: str, status: int, said: str) -> None:
    answer = await hub.ask("GET", f"/servers?{query}")
    assert answer.status == status
    assert said in answer.json["detail"]


async def test_numbers_in_a_query_are_numbers(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"s": {"command": "p", "disable": True}}) as hub:
        assert (await hub.ask("GET", "/api/servers/get_server_log?name=s&lines=5")).json == []
        assert (await hub.ask("GET", "/api/servers/get_server_log?name=s&lines=many")).status == 422


async def raw(hub: RestHub, target: str) -> bytes:
    """The status line for a request target that no client library would send."""
    reader, writer = await asyncio.open_connection("127.0.0.1", hub.port)
    writer.write(
        f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{hub.port}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n\r\n".encode()
    )
    line = await reader.readline()
    writer.close()
    await writer.wait_closed()
    return line


@pytest.mark.parametrize(("name", "status"), [("%FF", b"400"), ("%00", b"400"), ("%2E%2E", b"404")])
async def test_a_path_that_is_no_name_is_told(hub: RestHub, name: str, status: bytes) -> None:
    assert status in await raw(hub, f"/api/mcp/servers/{name}")


async def test_two_authorizations_are_none(hub: RestHub) -> None:
    with socket.create_connection(("127.0.0.1", hub.port)) as connection:
        connection.setblocking(False)
        loop = asyncio.get_running_loop()
        twice = f"Authorization: Bearer {TOKEN}\r\n" * 2
        await loop.sock_sendall(connection, f"GET /api/mcp HTTP/1.1\r\nHost: 127.0.0.1:{hub.port}\r\n{twice}\r\n".encode())
        assert b" 40" in await loop.sock_recv(connection, 100)


def test_without_a_limit_everything_is_one_page() -> None:
    assert page(["a", "b"], {}, str) == (["a", "b"], "")
    assert page([], {"limit": "3"}, str) == ([], "")


@given(st.lists(st.text(), unique=True, max_size=12), st.integers(1, 5))
def test_the_pages_together_are_the_list(items: list[str], limit: int) -> None:
    seen, cursor = list[str](), ""
    while True:
        found, cursor = page(items, {"limit": str(limit), "cursor": cursor}, str)
        seen += found
        if not cursor:
            break
    assert seen == items


def test_what_comes_and_goes_between_two_pages_hides_and_repeats_nothing() -> None:
    _, cursor = page(["b", "d", "f", "h"], {"limit": "2"}, str)
    assert page(["a", "b", "d", "f", "h"], {"cursor": cursor}, str)[0] == ["f", "h"]
    assert page(["b", "f", "h"], {"cursor": cursor}, str)[0] == ["f", "h"]
    assert page([], {"cursor": cursor}, str) == ([], "")


@pytest.mark.parametrize("cursor", ["x", "ü", "AAAA"])
def test_a_cursor_that_was_not_given_here_is_refused(cursor: str) -> None:
    with pytest.raises(Failed):
        page(["a"], {"cursor": cursor}, str)


def test_a_cursor_that_somebody_made_up_leads_to_a_page_of_the_list() -> None:
    assert page(["a"], {"cursor": "LTEuYQ=="}, str) == (["a"], "")
