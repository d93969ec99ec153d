"""HTTP's errors in words."""

import json
from typing import Any

import aiohttp
import pytest
from msgspec import Raw
from yarl import URL

from tooltray.foundation.phrases import Phrase
from tooltray.protocol.envelope import NOTHING, Worded
from tooltray.records.log.masking import Mask
from tooltray.servers.transports.http.http_failures import (
    SHOWN_BODY_CHARACTERS,
    ExchangeFailed,
    error_in,
    explain_error,
    failure_of,
    is_lost_session,
    may_be_lost_session,
    may_be_older,
    refusal,
    retry_after_s,
    status_failure,
)

ERROR = b'{"error":{"code":1}}'
AT = URL("https://far.example/mcp?key=hidden")


def said(status: int, body: bytes = b"", **headers: str) -> str:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return str(json.loads(bytes(refusal("far", status, "Reason", named, body, url=AT).error))["message"])


def test_an_error_is_passed_on_and_one_in_words_carries_its_status_for_programs() -> None:
    assert bytes(refusal("far", 500, "", {}, b'{"error":{"code":1,"message":"m"}}', url=AT).error) == b'{"code":1,"message":"m"}'
    assert json.loads(bytes(refusal("far", 500, "", {}, b"", url=AT).error))["data"] == {"httpStatus": 500}


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"error":"invalid","error_description":"the key is old"}', "the key is old"),
        (b'{"error":{"message":"deep"}}', "deep"),
        (b'{"detail":"Not allowed"}', "Not allowed"),
        (b'{"message":5,"detail":"Not allowed"}', "Not allowed"),
        (b'{"error":"invalid"}', "invalid"),
        (b'{"other":1}', '{"other":1}'),
        (b"[1]", "[1]"),
        (b"no json", "no json"),
    ],
)
def test_what_a_body_says_is_shown(body: bytes, text: str) -> None:
    assert said(500, body, Content_Type="application/json") == f"server 'far' answered with HTTP 500 Reason: {text}"


def test_only_the_beginning_of_a_text_is_shown_and_no_control_characters() -> None:
    message = said(500, b"a\x1b[31m\nb" + b"c" * 1000, Content_Type="text/plain")
    assert message.isprintable()
    assert len(message) < SHOWN_BODY_CHARACTERS + 60


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500])
def test_a_refusal_keeps_its_words_as_a_phrase_beside_the_plain_text_that_is_sent_on(status: int) -> None:
    reply = refusal("far", status, "Reason", {}, b"", url=AT, mask=Mask(tuple).masked)
    assert isinstance(reply, Worded)
    assert isinstance(reply.words, Phrase)
    assert json.loads(bytes(reply.error))["message"] == reply.words


def test_no_secret_is_in_the_words_of_a_refusal() -> None:
    reply = refusal("far", 500, "", {"Content-Type": "text/plain"}, b"dummy-value", url=AT, mask=Mask(lambda: ["dummy-value"]).masked)
    assert isinstance(reply, Worded)
    assert not isinstance(reply.words, Phrase)  # its fields would have it
    assert reply.words == "server 'far' answered with HTTP 500: ***"


@pytest.mark.parametrize(
    ("after", "words"), [("7", "HTTP 429, try again after 7 s"), ("0", "HTTP 429, try again after 0 s"), ("", "HTTP 429")]
)
def test_a_server_that_is_asked_too_often_says_when_to_come_again(after: str, words: str) -> None:
    assert said(429, Retry_After=after) == f"server 'far' is asked too often ({words})"


def test_a_page_for_browsers_is_not_shown() -> None:
    assert said(502, b"<html>", Content_Type="text/html") == "server 'far' answered with HTTP 502 Reason"


@pytest.mark.parametrize("status", [404, 405])
def test_a_wrong_url_is_said_without_its_query(status: int) -> None:
    assert "has no MCP at https://far.example/mcp (HTTP" in said(status)


def test_a_sign_in_says_what_the_server_asks_for_even_beside_a_json_rpc_error() -> None:
    assert said(403, WWW_Authenticate="x" * 501) == f"server 'far' refuses access (HTTP 403) ({'x' * 500})"
    message = said(401, b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"who?"}}', WWW_Authenticate="Bearer")
    assert message.startswith("server 'far' wants a sign-in (HTTP 401) (Bearer)")


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"error":"x"}', b'{"error":{"code":"x"}}', b'{"result":{}}', ERROR.ljust(65537)])
def test_what_is_no_json_rpc_error_is_none(body: bytes) -> None:
    assert error_in(body) == NOTHING
    assert bytes(error_in(b" " + ERROR.ljust(65535))) == b'{"code":1}'


@pytest.mark.parametrize(
    ("status", "body", "is_lost"),
    [
        (404, b"", True),
        (404, b'{"id":null,"error":{"code":-1,"message":"x"}}', True),
        (404, b'{"id":7,"error":{"code":-32601,"message":"x"}}', False),
        (404, b'{"id":"7","error":{"code":-32601,"message":"x"}}', False),
        (400, b'{"id":null,"error":{"code":-1,"message":"No valid Session"}}', True),
        (400, b'{"id":null,"error":{"code":-1,"message":"x"}}', False),
        (400, b'{"id":7,"error":{"code":-32000,"message":"Session not found"}}', True),
        (404, b'{"id":7,"error":{"code":-32601,"message":"no such method in this session"}}', False),
        (400, b"Invalid or missing session ID", True),
        (400, b"Bad Request: Server not initialized", True),
        (403, b"unknown session", True),
        (403, b"no", False),
        (410, b"", True),
        (401, b"session expired", False),
        (409, b"Conflict: Only one SSE stream is allowed per session", False),
        (500, b'{"id":null,"error":{"code":-1,"message":"session"}}', False),
    ],
)
def test_a_lost_session_is_told_from_other_errors(status: int, body: bytes, is_lost: bool) -> None:
    assert is_lost_session(status, body, Raw(b"7")) is is_lost


@pytest.mark.parametrize(
    ("status", "body", "is_older"),
    [(400, b"", True), (404, b"x", True), (405, b"", True), (401, b"", False), (500, b"", False), (404, ERROR, False)],
)
def test_a_server_that_knows_only_the_older_transport_is_told_from_one_that_refuses(status: int, body: bytes, is_older: bool) -> None:
    assert may_be_older(status, body) is is_older


@pytest.mark.parametrize(
    ("status", "body", "may_be_lost"),
    [
        (400, b"", True),
        (400, b'{"id":null,"error":{"code":-1,"message":"x"}}', True),
        (400, b'{"id":7,"error":{"code":-1,"message":"x"}}', False),
        (405, b"", True),
        (409, b"gone", True),
        (418, b"I forgot you", True),
        (403, b"unknown session", True),
        (403, b"no", False),
        (401, b"unknown session", False),
        (413, b"", False),
        (429, b"", False),
        (399, b"", False),
        (499, b"", True),
        (500, b"session", False),
    ],
)
def test_a_refused_request_may_have_lost_its_session_unless_something_else_is_known(status: int, body: bytes, may_be_lost: bool) -> None:
    assert may_be_lost_session(status, body, Raw(b"7")) is may_be_lost


def key_of(host: str, port: int = 443) -> Any:
    return type("Key", (), {"host": host, "port": port, "ssl": True})()


class Refused(OSError):
    """The error for a name with several addresses, which has only a text; or one of TLS."""

    reason = "WRONG_VERSION_NUMBER"


@pytest.mark.parametrize(
    ("error", "reason", "is_unreachable"),
    [
        (aiohttp.ConnectionTimeoutError(), "no connection to https://far.example/mcp in time", True),
        (aiohttp.ServerDisconnectedError(), "it closed the connection without an answer", False),
        (aiohttp.ClientPayloadError(), "the connection broke in the middle of its answer", False),
        (aiohttp.ClientResponseError(None, (), status=400), "its response is not valid HTTP (status 400)", False),  # type: ignore[arg-type]
        (ConnectionResetError(), "the connection broke (ConnectionResetError)", False),
        (ConnectionResetError(104, AT), "the connection broke (Connection reset by peer)", False),
        (
            aiohttp.ClientConnectorError(key_of("far.example"), OSError(113, "No route to host")),
            "no connection to https://far.example/mcp: No route to host",
            True,
        ),
        (aiohttp.ClientConnectorError(key_of("far.example"), Refused()), "no connection to https://far.example/mcp: Refused", True),
        (
            aiohttp.ClientConnectorError(key_of("far.example"), Refused("Multiple: Refused, Refused")),
            "the connection to https://far.example/mcp was refused",
            True,
        ),
        (
            aiohttp.ClientConnectorSSLError(key_of("far.example"), OSError(1, "wrong")),
            "no encrypted connection to https://far.example/mcp: PermissionError",
            True,
        ),
        (
            aiohttp.ClientConnectorSSLError(key_of("far.example"), Refused()),
            "no encrypted connection to https://far.example/mcp: wrong version number",
            True,
        ),
        (
            aiohttp.ClientProxyConnectionError(key_of("proxy.example", 3128), OSError()),
            "the proxy proxy.example:3128 cannot be reached: no connection",
            True,
        ),
    ],
)
def test_each_error_has_words_that_show_no_secret(error: Any, reason: str, is_unreachable: bool) -> None:
    found = explain_error(error, AT)
    assert (found.reason, found.is_unreachable) == (reason, is_unreachable)


# headlines


@pytest.mark.parametrize(
    ("error", "title"),
    [
        (aiohttp.ClientConnectorDNSError(key_of("far.example", 443), OSError(-2, "unknown")), "far.example cannot be found"),
        (aiohttp.ClientConnectorError(key_of("far.example", 443), ConnectionRefusedError()), "nothing answers at far.example"),
        (aiohttp.ClientConnectorError(key_of("far.example", 443), OSError(113, "No route to host")), "far.example cannot be reached"),
        (aiohttp.ClientConnectorSSLError(key_of("far.example", 443), OSError(1, "wrong")), "far.example does not speak HTTPS"),
        (aiohttp.ConnectionTimeoutError(), "far.example does not answer"),
        (
            aiohttp.ClientProxyConnectionError(key_of("proxy.example", 3128), OSError(1, "no")),
            "the proxy proxy.example:3128 cannot be reached",
        ),
        (aiohttp.ClientHttpProxyError(None, (), status=407), "the proxy does not allow connections to far.example"),  # type: ignore[arg-type]
    ],
)
def test_a_server_that_cannot_be_reached_has_the_reason_as_its_headline_and_what_to_do(error: Any, title: str) -> None:
    found = failure_of(explain_error(error, AT))
    assert found is not None
    assert (found.problem.title, found.is_lasting) == (title, False)
    assert "hidden" not in str(found.problem)
    assert found.problem.message
    assert found.problem.hint


def test_what_breaks_on_the_way_has_no_headline_of_its_own() -> None:
    assert failure_of(explain_error(aiohttp.ServerDisconnectedError(), AT)) is None


@pytest.mark.parametrize(
    ("status", "title"),
    [
        (401, "far.example refuses access (HTTP 401)"),
        (403, "far.example refuses access (HTTP 403)"),
        (404, "far.example has no MCP at this address (HTTP 404)"),
        (405, "far.example has no MCP at this address (HTTP 405)"),
        (429, "far.example gets too many requests (HTTP 429)"),
        (502, "far.example has an internal error (HTTP 502)"),
    ],
)
def test_an_http_error_has_a_headline_that_shows_no_path(status: int, title: str) -> None:
    found = status_failure(status, AT)
    assert found is not None
    assert (found.problem.title, found.problem.message) == (title, "")
    assert found.problem.hint


def test_other_statuses_are_left_to_what_the_server_says() -> None:
    assert status_failure(400, AT) is None
    assert status_failure(404, URL("http://127.0.0.1:8000/x")).problem.title.startswith("127.0.0.1:8000 has no MCP")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("after", "date", "expected_s"),
    [
        ("7", "", 7.0),
        ("0", "", 1.0),
        ("Fri, 27 Nov 2026 10:00:05 GMT", "Fri, 27 Nov 2026 10:00:00 GMT", 5.0),
        ("Fri, 27 Nov 2026 10:00:00 GMT", "Fri, 27 Nov 2026 10:00:05 GMT", 1.0),
        ("Fri, 27 Nov 2015 10:00:00 GMT", "", 1.0),
        ("soon", "", None),
        ("", "", None),
    ],
)
def test_a_time_to_come_again_is_given_in_seconds_or_as_a_date(after: str, date: str, expected_s: float | None) -> None:
    assert retry_after_s(429, {"Retry-After": after, "Date": date}) == expected_s
    assert retry_after_s(503, {"Retry-After": after, "Date": date}) is None
    assert (retry_after_s(429, {"Retry-After": "Fri, 27 Nov 2122 10:00:00 GMT"}) or 0.0) > 10**9


def test_a_failed_exchange_may_be_sent_again_only_if_the_server_cannot_have_it() -> None:
    cut_off, unreachable = ExchangeFailed("cut off"), ExchangeFailed("no route", is_unreachable=True)
    assert (cut_off.is_undelivered, cut_off.is_unreachable, cut_off.is_unauthorized) == (False, False, False)
    assert (unreachable.is_undelivered, unreachable.is_unauthorized) == (True, False)
