"""What looks like a secret in a pasted text is found where it stands, also in a text that is only half there."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.sources.entries.secret_spans import secret_spans


def found(text: str) -> list[str]:
    return [text[first:last] for first, last in secret_spans(text)]


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("GH_TOKEN=abc LOG=info npx -y gh", ["abc"]),
        ("GH_TOKEN='a b' npx gh", ["a b"]),
        ("npx x --api-key abc --port 80", ["abc"]),
        ("npx x --api-key=abc", ["abc"]),
        ("npx x sk-0123456789 y", ["sk-0123456789"]),
        ("docker run -e A_TOKEN=abc image", ["abc"]),
        ("https://example.org/mcp?team=a&api_key=a%20b&z=1", ["a%20b"]),
        ("https://me:pw@example.org/mcp", ["me:pw"]),
        ("DATABASE_URI=postgresql://me:pw@localhost/db npx x", ["me:pw"]),
        ("claude mcp add far https://example.org --header 'Authorization: Bearer abc'", ["abc"]),
        (json.dumps({"s": {"command": "npx", "env": {"A_TOKEN": 'q"r', "B": "c"}}}), ['q\\"r']),
        (json.dumps({"s": {"command": "npx", "args": ["--api-key", "abc", "d"]}}, indent=2), ["abc"]),
        (json.dumps({"s": {"url": "https://example.org", "headers": {"Authorization": "Bearer abc", "X-Team": "a"}}}), ["abc"]),
        ('[mcp_servers.s]\ncommand = "npx"\nenv = {A_TOKEN = "abc", B = "c"}', ["abc"]),
        ("A_TOKEN=abc B_KEY=def npx x", ["abc", "def"]),
        ('A_TOKEN="sk-0123456789" npx x', ["sk-0123456789"]),  # by its name and by its form
    ],
)
def test_every_form_of_a_secret_is_found_where_it_stands(text: str, secrets: list[str]) -> None:
    assert found(text) == secrets


@pytest.mark.parametrize(
    "text",
    [
        "npx -y @modelcontextprotocol/server-everything",
        "A_TOKEN=<your token> npx x",
        "A_TOKEN=${GH_TOKEN} npx x",
        "npx x --api-key --verbose",
        "KEYBOARD=us MAX_TOKENS=100 npx x",
        "https://example.org/mcp?team=a",
        "",
    ],
)
def test_what_is_no_secret_stays_to_be_read(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize("text", ['{"s": {"env": {"A_TOKEN": "abc', '"A_TOKEN": "abc"', "A_TOKEN='abc", "curl -H 'X-Api-Key: abc"])
def test_a_text_that_is_not_whole_yet_hides_its_secret_too(text: str) -> None:
    assert found(text) == ["abc"]


@pytest.mark.parametrize("text", ["x" * 200_000, "a-" * 100_000, "a='" * 60_000, "x://" * 10_000])
def test_a_long_text_without_sense_is_gone_through_once(text: str) -> None:
    assert found(text) == []  # bounded by the time that a test has


@given(st.text(alphabet="aK_=:\"' -{}[],&?/@\\\nTOKEN", max_size=60))
def test_places_are_in_order_and_inside_the_text(text: str) -> None:
    spans = secret_spans(text)
    flat = [place for span in spans for place in span]
    assert flat == sorted(set(flat))
    assert all(0 <= place <= len(text) for place in flat)
