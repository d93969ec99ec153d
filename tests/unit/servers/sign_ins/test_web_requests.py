"""web_requests.py"""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.servers.sign_ins import web_requests
from tooltray.servers.sign_ins.web_requests import (
    MAX_SHOWN_CHARACTERS,
    Answer,
    AuthorizationFailed,
    AuthorizationRefused,
    error_text,
    sanitized,
)

KINDS = [kind for kind in vars(web_requests).values() if isinstance(kind, type) and issubclass(kind, AuthorizationFailed)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_failure_names_the_server_and_says_what_to_do(kind: type[AuthorizationFailed]) -> None:
    problem = kind("my {server}", "why").problem
    assert "'my {server}'" in problem.title
    assert problem.message == "why"
    assert problem.hint or kind is AuthorizationFailed
    assert kind("far", "why", "so").problem.hint == "so"


@given(st.text())
def test_words_of_others_are_short_and_on_one_line(text: str) -> None:
    shown = sanitized(text)
    assert len(shown) <= MAX_SHOWN_CHARACTERS + 1
    assert not shown or shown.isprintable()


def test_a_longer_text_ends_with_a_mark() -> None:
    assert sanitized("x" * MAX_SHOWN_CHARACTERS) == "x" * MAX_SHOWN_CHARACTERS
    assert sanitized("x" * (MAX_SHOWN_CHARACTERS + 1)) == f"{'x' * MAX_SHOWN_CHARACTERS}…"


def test_what_is_no_text_is_not_shown() -> None:
    assert sanitized(None) == sanitized(5) == sanitized({"a": 1}) == ""


def test_secrets_are_taken_out_of_what_others_say_before_it_is_cut() -> None:
    assert sanitized("token abcdef and abcd", ["abcd", "abcdef", "", "tok"]) == "token ••• and •••"
    secret = "s" * 50
    assert "s" * 5 not in sanitized("x " * (MAX_SHOWN_CHARACTERS - 10) + secret, [secret])


def test_an_error_of_oauth_is_said_in_one_sentence() -> None:
    assert error_text({"error": "e"}) == "the authorization server reported 'e'"
    assert error_text({"error": "e", "error_description": "why"}) == "the authorization server reported 'e': why"
    assert error_text({"error": {}, "error_description": "why"}) == error_text({}) == ""


@pytest.mark.parametrize(
    ("code", "words", "expected"),
    [
        ("invalid_target", "", True),
        ("invalid_request", "AADSTS9010010: The resource parameter provided in the request does not match the scopes", True),
        ("invalid_request", "Unknown parameter: resource", True),
        ("access_denied", "Service not found: https://a.example/mcp", True),
        ("access_denied", "The resource owner or authorization server denied the request", False),
        ("invalid_scope", "AADSTS70011: the scope is not valid", False),
    ],
)
def test_a_refusal_of_the_parameter_resource_is_told_from_others(code: str, words: str, expected: bool) -> None:
    assert AuthorizationRefused("far", f"the authorization server reported '{code}': {words}", code=code).is_about_resource == expected


def test_only_a_json_object_is_a_document() -> None:
    assert Answer(200, json.dumps({"a": 1}).encode()).document() == {"a": 1}
    for body in (b"", b"[]", b'"a"', b"<html>", b"\xff", b"[" * 100_000, b'{"a":' * 100_000):
        assert Answer(200, body).document() is None


def test_which_answers_say_nothing_about_what_was_asked() -> None:
    assert [status for status in (200, 204, 302, 400, 401, 404, 408, 425, 429, 500, 503) if Answer(status).is_overloaded] == [
        408,
        425,
        429,
        500,
        503,
    ]
    assert "secret" not in repr(Answer(200, b"secret"))


def test_the_http_library_is_not_imported_before_somebody_asks() -> None:
    parts = "authorization_client", "sign_in_flow", "web_requests"
    imported = "import sys, " + ", ".join(f"tooltray.servers.sign_ins.{part}" for part in parts)
    subprocess.run([sys.executable, "-c", f"{imported}; assert 'aiohttp' not in sys.modules"], check=True, env={"PYTHONPATH": "desktop"})
