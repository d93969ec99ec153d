"""What servers ask for when they refuse a request."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.servers.sign_ins.oauth.challenges import MAX_CHALLENGE_CHARACTERS, MAX_SCOPES, Challenge, read_challenge, read_scopes

WHERE = "https://a.example/.well-known/oauth-protected-resource"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'Bearer resource_metadata="{WHERE}"', Challenge(WHERE)),
        (f"bearer resource_metadata={WHERE}", Challenge(WHERE)),
        (f'Bearer error="invalid_token", resource_metadata="{WHERE}", scope="a b"', Challenge(WHERE, ("a", "b"), "invalid_token")),
        (f'Basic realm="x, Bearer scope=no", BEARER scope = "a" , resource_metadata="{WHERE}"', Challenge(WHERE, ("a",))),
        (f'Bearer resource_metadata="{WHERE}", Basic realm="x", scope="not ours"', Challenge(WHERE)),
        ('Negotiate abc==, Bearer realm="a \\"quoted\\" one",scope=a', Challenge(None, ("a",))),
        ('Bearer scope="first", Bearer scope="second"', Challenge(None, ("first",))),
        ('Bearer scope="first", scope="second"', Challenge(None, ("first",))),
        ('Bearer scope="", resource_metadata=""', Challenge()),
        ("Bearer", Challenge()),
        ('Basic realm="x"', Challenge()),
        ('Bearer scope="never closed', Challenge()),
        ("", Challenge()),
        (None, Challenge()),
    ],
)
def test_the_first_bearer_challenge_is_read(text: str | None, expected: Challenge) -> None:
    assert read_challenge(text) == expected


def test_a_token_that_is_good_but_not_for_this_is_known() -> None:
    assert read_challenge('Bearer error="insufficient_scope", scope="files:write"').needs_more
    assert not read_challenge('Bearer error="invalid_token"').needs_more


@given(st.text(alphabet='Bearer ="\\,\t\nabcscope'))
def test_nothing_that_a_server_writes_breaks_the_reading(text: str) -> None:
    assert isinstance(read_challenge(text), Challenge)
    assert isinstance(read_challenge(f"Bearer {text}"), Challenge)


def test_an_endless_challenge_is_read_in_no_time_and_not_to_its_end() -> None:
    for piece in ('"', "\\", "a=", 'a="', ",", " ", "a", "a ,"):
        read_challenge("Bearer " + piece * 2_000_000)
    assert read_challenge("x" * MAX_CHALLENGE_CHARACTERS + ", Bearer scope=a") == Challenge()


def test_scopes_stand_once_each_and_without_what_cannot_be_one() -> None:
    assert read_scopes('b a b  "c" d\\ ü e:f') == ("b", "a", "e:f")
    assert read_scopes(["a"]) == ()
    assert len(read_scopes(" ".join(map(str, range(MAX_SCOPES * 2))))) == MAX_SCOPES
