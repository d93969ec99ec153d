"""sign_in_flow.py: the listener for the browser, and its page."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlencode, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.authorization_server import browse
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.ports import free_port

from tooltray.servers.sign_ins.sign_in_flow import (
    MAX_CONNECTIONS,
    MAX_HEAD_BYTES,
    REQUEST_TIMEOUT_S,
    CallbackListener,
    Page,
    answered,
    callback_params,
    declined,
)
from tooltray.servers.sign_ins.web_requests import AuthorizationFailed, SignInUnanswered

STATE = "the-state"


def refuse(params: Mapping[str, str]) -> None:
    if params.get("iss") != "https://auth.example":
        raise AuthorizationFailed("far", "another <issuer> has answered")


@asynccontextmanager
async def listening() -> AsyncIterator[tuple[CallbackListener, str]]:
    listener = CallbackListener(server="far")
    try:
        yield listener, await listener.open()
    finally:
        await listener.close()


def at(address: str, **params: str) -> str:
    return f"{address}?{urlencode(params)}"


async def raw(address: str, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(address).port)
    try:
        writer.write(request)
        writer.write_eof()
        return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


def request(address: str, target: str, *, method: str = "GET", host: str | None = None) -> bytes:
    return f"{method} {target} HTTP/1.1\r\nHost: {host or urlsplit(address).netloc}\r\n\r\n".encode()


def is_open(address: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", urlsplit(address).port)) == 0


async def test_the_answer_is_brought_back_and_the_person_may_close_the_page() -> None:
    async with listening() as (listener, address):
        assert urlsplit(address).path == "/callback"
        listener.expect(STATE)
        page = await browse(at(address, state=STATE, code="c", iss="https://a.example"))
        assert (page.status, "You can close this page" in page.text, "'far'" in page.text or "&#x27;far&#x27;" in page.text) == (
            200,
            True,
            True,
        )
        assert "the-state" not in page.text
        assert await listener.wait(STATE) == {"state": STATE, "code": "c", "iss": "https://a.example"}
        assert not is_open(address)


async def test_who_waits_first_gets_it_too() -> None:
    async with listening() as (listener, address):
        waiting = asyncio.ensure_future(listener.wait(STATE))
        await asyncio.sleep(0)
        await browse(at(address, state=STATE, code="c"))
        assert (await waiting)["code"] == "c"


async def test_a_refusal_is_brought_back_too_and_said_on_the_page() -> None:
    async with listening() as (listener, address):
        listener.expect(STATE)
        page = await browse(at(address, state=STATE, error="access_denied", error_description="<script>alert(1)</script>"))
        assert "You are not signed in" in page.text
        assert "&lt;script&gt;" in page.text
        assert "<script" not in page.text
        assert (await listener.wait(STATE))["error"] == "access_denied"


async def test_the_name_of_an_error_is_shown_where_it_has_no_words() -> None:
    async with listening() as (listener, address):
        listener.expect(STATE)
        assert "server_error" in (await browse(at(address, state=STATE, error="server_error"))).text


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/favicon.ico", 404),
        ("/", 404),
        ("/callback/", 404),
        (f"/callback2?state={STATE}", 404),
        ("*", 404),
        ("", 404),
        (f"http://127.0.0.1/callback?state={STATE}", 404),
        ("/callback", 400),
        ("/callback?code=c", 400),
        ("/callback?state=another&code=c", 400),
        ("/callback?state=%C3%A4%ED%A0%80&code=c", 400),
        (f"/callback?state={STATE}&code=c&code=d", 400),
        ("/callback?" + "&".join(f"p{number}=1" for number in range(100)), 400),
    ],
)
async def test_what_is_not_the_answer_changes_nothing(target: str, status: int) -> None:
    async with listening() as (listener, address):
        listener.expect(STATE)
        assert (await raw(address, request(address, target))).startswith(f"HTTP/1.1 {status} ".encode())
        await browse(at(address, state=STATE, code="right"))
        assert (await listener.wait(STATE))["code"] == "right"


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document", 200),
        ("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image", 403),
        ("Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe", 403),
    ],
)
async def test_a_browser_that_goes_there_is_taken_and_a_page_that_loads_it_is_not(said: str, status: int) -> None:
    async with listening() as (listener, address):
        listener.expect(STATE)
        target = at(urlsplit(address).path, state=STATE, code="c")
        answer = await raw(address, request(address, target).replace(b"\r\n\r\n", f"\r\n{said}\r\n\r\n".encode()))
        assert answer.startswith(b"HTTP/1.1 %d" % status)


@pytest.mark.parametrize("method", ["HEAD", "POST", "OPTIONS", ""])
async def test_only_a_page_that_is_opened_counts(method: str) -> None:
    async with listening() as (listener, address):
        listener.expect(STATE)
        answer = await raw(address, request(address, f"/callback?state={STATE}&code=wrong", method=method))
        assert answer.startswith(b"HTTP/1.1 405 ")
        await browse(at(address, state=STATE, code="right"))
        assert (await listener.wait(STATE))["code"] == "right"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost"])
async def test_a_request_that_was_meant_for_another_place_is_refused(host: str) -> None:
    async with listening() as (listener, address):
        listener.expect(STATE)
        target = f"/callback?state={STATE}&code=wrong"
        assert (await raw(address, request(address, target, host=host))).startswith(b"HTTP/1.1 403 ")
        assert (await raw(address, f"GET {target} HTTP/1.1\r\n\r\n".encode())).startswith(b"HTTP/1.1 403 ")
        twice = f"GET {target} HTTP/1.1\r\nHost: {urlsplit(address).netloc}\r\nHost: evil.example\r\n\r\n"
        assert (await raw(address, twice.encode())).startswith(b"HTTP/1.1 403 ")
        right = request(address, f"/callback?state={STATE}&code=right", host=f"LOCALHOST:{urlsplit(address).port}")
        assert (await raw(address, right)).startswith(b"HTTP/1.1 200 ")
        assert (await listener.wait(STATE))["code"] == "right"


async def test_before_a_sign_in_has_begun_and_after_it_has_ended_nothing_is_taken() -> None:
    async with listening() as (listener, address):
        assert (await browse(at(address, state="", code="c"))).status == 400
        listener.expect(STATE)
        await browse(at(address, state=STATE, code="first"))
        assert (await browse(at(address, state=STATE, code="second"))).status == 410
        assert (await listener.wait(STATE))["code"] == "first"


@pytest.mark.parametrize(
    "junk", [b"", b"\x16\x03\x01", b"GET", b"\r\n\r\n", b"\xff\xfe\r\n\r\n", b"x" * (2 * MAX_HEAD_BYTES) + b"\r\n\r\n"]
)
async def test_what_is_no_request_ends_nothing(junk: bytes) -> None:
    async with listening() as (listener, address):
        listener.expect(STATE)
        await raw(address, junk)
        await browse(at(address, state=STATE, code="right"))
        assert (await listener.wait(STATE))["code"] == "right"


async def test_the_page_needs_nothing_from_elsewhere_and_nothing_keeps_it() -> None:
    async with listening() as (listener, address):
        listener.expect(STATE)
        head, _, body = (await raw(address, request(address, f"/callback?state={STATE}&code=c"))).decode().partition("\r\n\r\n")
        assert "Content-Security-Policy: default-src 'none'" in head
        assert "Cache-Control: no-store" in head
        assert f"Content-Length: {len(body.encode())}" in head
        assert not [word for word in ("<script", "http:", "https:", "src=", "href=") if word in body]


@in_fake_time
async def test_nobody_is_waited_for_longer_than_ten_minutes() -> None:
    listener = CallbackListener(server="far")
    address = await listener.open()
    begun = asyncio.get_running_loop().time()
    with pytest.raises(SignInUnanswered, match="did not come back within 10 min"):
        await listener.wait(STATE)
    assert asyncio.get_running_loop().time() - begun == pytest.approx(600)
    assert not is_open(address)


@in_fake_time
async def test_a_connection_that_says_nothing_is_let_go() -> None:
    listener = CallbackListener(server="far")
    address = await listener.open()
    begun = asyncio.get_running_loop().time()
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(address).port)
    assert await reader.read() == b""
    assert asyncio.get_running_loop().time() - begun == pytest.approx(REQUEST_TIMEOUT_S)
    writer.close()
    await listener.close()


async def test_closing_it_ends_the_waiting_and_what_is_connected() -> None:
    async with listening() as (listener, address):
        waiting = asyncio.ensure_future(listener.wait(STATE))
        reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(address).port)
        writer.write(b"GET /callback")
        await writer.drain()
        await browse(at(address, state="another"))  # by then the listener has both connections
        async with asyncio.timeout(REQUEST_TIMEOUT_S / 2):  # before they would be let go anyway
            await listener.close()
        with pytest.raises(SignInUnanswered, match="was cancelled"):
            await waiting
        with contextlib.suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()
        await listener.close()


async def test_who_waits_and_is_cancelled_leaves_nothing_open() -> None:
    async with listening() as (listener, address):
        waiting = asyncio.ensure_future(listener.wait(STATE))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert not is_open(address)


async def test_one_that_was_never_opened_can_be_closed() -> None:
    await CallbackListener(server="far").close()


async def test_a_port_of_the_settings_is_used_or_said_to_be_taken() -> None:
    async with listening() as (first, address):
        port = urlsplit(address).port
        assert port
        second = CallbackListener(server="near")
        with pytest.raises(AuthorizationFailed, match=f"port {port}") as raised:
            await second.open(port)
        assert "redirectPort" in raised.value.problem.hint
        await first.close()
        assert await second.open(port) == address
        await second.close()


async def test_a_port_that_is_only_preferred_gives_way() -> None:
    async with listening() as (first, address):
        port = urlsplit(address).port
        assert port
        second, third = CallbackListener(server="near"), CallbackListener(server="third")
        assert await second.open(preferred=port) != address
        await second.close()
        await first.close()
        assert await third.open(preferred=port) == address
        await third.close()


# an address that a person copied


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:1/callback?code=c&state=s", " ?code=c&state=s\n", "https://far.example/x?code=c&state=s#_=_"]
)
def test_a_copied_address_brings_the_same(address: str) -> None:
    assert callback_params("far", address) == {"code": "c", "state": "s"}


@pytest.mark.parametrize("address", ["", "hello", "http://127.0.0.1/callback", "http://[?state=s", "?state=a&state=b", "?code=c"])
def test_another_address_is_said_to_be_none(address: str) -> None:
    with pytest.raises(AuthorizationFailed, match="not the one at which a sign-in ends"):
        callback_params("far", address)


@given(st.text())
def test_no_copied_text_is_too_odd(text: str) -> None:
    try:
        assert "state" in callback_params("far", text)
    except AuthorizationFailed:
        pass


async def test_who_holds_many_connections_keeps_no_browser_out() -> None:
    async with listening() as (listener, address):
        listener.expect(STATE)
        held = [await asyncio.open_connection("127.0.0.1", urlsplit(address).port) for _ in range(MAX_CONNECTIONS + 5)]
        try:
            assert (await browse(at(address, state=STATE, code="c"))).status == 200
            async with asyncio.timeout(REQUEST_TIMEOUT_S / 2):  # before they would be let go anyway
                for reader, _ in held[:6]:
                    with contextlib.suppress(ConnectionResetError):
                        assert await reader.read() == b""
            assert (await listener.wait(STATE))["code"] == "c"
        finally:
            for _, writer in held:
                writer.close()


async def test_who_is_cancelled_while_it_opens_leaves_no_port_open() -> None:
    for steps in range(6):
        listener = CallbackListener(server="far")
        port = free_port()
        opening = asyncio.ensure_future(listener.open(port))
        for _ in range(steps):
            await asyncio.sleep(0)
        opening.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await opening
        await listener.close()
        assert not is_open(f"http://127.0.0.1:{port}/")


async def test_the_page_of_an_answer_that_is_refused_says_why() -> None:
    async with listening() as (listener, address):
        listener.expect(STATE, refuse)
        page = await browse(at(address, state=STATE, code="x", iss="https://evil.example"))
        assert page.status == 400
        assert "You are not signed in" in page.text
        assert "another &lt;issuer&gt; has answered" in page.text
        assert (await listener.wait(STATE))["code"] == "x"


def test_names_and_reasons_are_shown_as_text() -> None:
    shown = declined("<b>far</b>", "<img src=x>").response().decode()
    assert "&lt;b&gt;far&lt;/b&gt;" in shown
    assert "&lt;img src=x&gt;" in shown


def test_a_refusal_without_a_reason_is_one_all_the_same() -> None:
    assert declined("far", "").text == "You can close this page, and sign in again in Tooltray."


def test_the_length_is_that_of_the_bytes() -> None:
    head, _, body = answered("伺服器").response().partition(b"\r\n\r\n")
    assert f"Content-Length: {len(body)}".encode() in head
    assert "伺服器" in body.decode()


def test_a_text_that_is_none_can_be_shown() -> None:
    assert b"<h1>?</h1>" in Page(404, "\ud800", "").response()
