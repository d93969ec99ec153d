"""call_params.py"""

from typing import Any

import pytest
from msgspec import Raw

from tooltray.protocol.envelope import NOTHING, dump
from tooltray.records.journal.call_params import (
    LONGEST_CONTEXT,
    LONGEST_VALUE_BYTES,
    TARGET_BELOW_BYTES,
    TRACE_BELOW_BYTES,
    arguments_of,
    read_trace,
    target_of,
)

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "00f067aa0ba902b7"


def line(arguments: Any) -> str:
    return target_of(dump({"name": "t", "arguments": arguments}))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"path": "/a/b.txt", "content": "all of it"}, "/a/b.txt"),
        ({"file_path": "/a"}, "/a"),
        ({"filePath": " /a "}, "/a"),
        ({"paths": ["/a", "/b"]}, "/a"),
        ({"source": "/a", "destination": "/b"}, "/a → /b"),
        ({"to": "/b"}, ""),
        ({"path": "", "directory": "/d"}, "/d"),
        ({"path": 7, "files": []}, ""),
        ({"uri": "file:///a%20b/c"}, "/a b/c"),
        ({"url": "https://ada:pw@example.org:8443/private?token=abc#x"}, "example.org"),
        ({"url": "data:text/plain,abc"}, "data:text/plain,abc"),
        ({"url": "postgres:///db"}, "postgres:"),
        ({"url": "https://[broken"}, ""),
        ({"path": "see https://example.org/?token=abc"}, ""),
        ({"query": "my secret thoughts"}, ""),
        ({"entityNames": ["Ann", "Ben"]}, "Ann"),
        ({"name": "notes", "path": "/a"}, "/a"),
        ({"url": "https://example.org/x", "title": "X"}, "example.org"),
        ({"command": "rm -rf /home/ada"}, "rm -rf"),
        ({"command": "rm /home/ada/x y z"}, "rm /home/ada/x"),
        ({"command": "PGPASSWORD=abc A=b psql -h db"}, "psql -h"),
        ({"command": "mysql -pSECRET db"}, "mysql"),
        ({"command": "deploy --token=abc"}, "deploy"),
        ({"command": "deploy --dry-run now"}, "deploy --dry-run"),
        ({"command": "export TOKEN=abc"}, "export"),
        ({"command": "curl https://ada:pw@example.org/x?k=1"}, "curl example.org"),
        ({"command": "echo 'not closed"}, "echo 'not"),
        ({"command": "A=b"}, ""),
        ({"cmd": ["git", "push", "origin"]}, "git push"),
        ([1, 2], ""),
        ("text", ""),
    ],
)
def test_a_path_a_host_or_two_words_of_a_command(arguments: Any, expected: str) -> None:
    assert line(arguments) == expected


@pytest.mark.parametrize(
    "params",
    [
        NOTHING,
        Raw(b"{"),
        Raw(b"[" * 100_000),
        Raw(b'{"arguments": 1e999}'),
        dump({"name": "t"}),
        dump({"arguments": {"path": "x" * LONGEST_VALUE_BYTES}}),
        dump({"arguments": {"path": "/a", "content": "x" * TARGET_BELOW_BYTES}}),
    ],
)
def test_of_odd_and_of_large_arguments_nothing_is_known(params: Raw) -> None:
    assert target_of(params) == ""


def test_the_file_that_is_written_is_known_however_long_its_content_is() -> None:
    assert line({"content": "x" * 250_000, "path": "/a/b.txt"}) == "/a/b.txt"


def test_arguments_are_found_as_they_came() -> None:
    assert bytes(arguments_of(Raw(b'{"name":"t","arguments":{"a": 1 }}'))) == b'{"a": 1 }'
    assert arguments_of(Raw(b'{"name":"t"}')) == arguments_of(Raw(b"[]")) == arguments_of(NOTHING) == NOTHING


def params(**meta: Any) -> Raw:
    return dump({"name": "t", "arguments": {"x": 1}, "_meta": meta})


def test_its_parts_are_read() -> None:
    found = read_trace(params(traceparent=f"00-{TRACE}-{SPAN}-01", tracestate="a=1", baggage="b" * 1000))
    assert found
    assert (found.trace_id, found.parent_id, found.is_sampled) == (TRACE, SPAN, True)
    assert (found.tracestate, found.baggage) == ("a=1", "b" * LONGEST_CONTEXT)


def test_what_is_odd_beside_it_is_left_out_and_a_later_version_may_have_more() -> None:
    found = read_trace(params(traceparent=f"01-{TRACE}-{SPAN}-02-more", tracestate=[1], baggage=None))
    assert found
    assert (found.is_sampled, found.tracestate, found.baggage) == (False, "", "")


@pytest.mark.parametrize(
    "given",
    [
        Raw(b""),
        Raw(b'["traceparent"]'),
        params(),
        params(traceparent=7),
        params(traceparent=f"00-{TRACE}-{SPAN}"),
        params(traceparent=f"00-{TRACE.upper()}-{SPAN}-01"),
        params(traceparent=f"00-{'0' * 32}-{SPAN}-01"),
        params(traceparent=f"00-{TRACE}-{'0' * 16}-01"),
        params(traceparent=f"00-{TRACE}-{SPAN}-01-more"),
        params(traceparent=f"ff-{TRACE}-{SPAN}-01"),
        Raw(b" " * TRACE_BELOW_BYTES + bytes(params(traceparent=f"00-{TRACE}-{SPAN}-01"))),
    ],
)
def test_what_is_no_trace_is_none(given: Raw) -> None:
    assert read_trace(given) is None
