"""What a call touched, in one line, and never what could be a secret in it."""

from typing import Any

import pytest
from msgspec import Raw

from tooltray.protocol.envelope import NOTHING, dump
from tooltray.records.journal.touched import READ_BELOW_BYTES, arguments_of, touched


def line(arguments: Any) -> str:
    return touched(dump({"name": "t", "arguments": arguments}))


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
        dump({"arguments": {"path": "x" * READ_BELOW_BYTES}}),
    ],
)
def test_of_odd_and_of_large_arguments_nothing_is_known(params: Raw) -> None:
    assert touched(params) == ""


def test_arguments_are_found_as_they_came() -> None:
    assert bytes(arguments_of(Raw(b'{"name":"t","arguments":{"a": 1 }}'))) == b'{"a": 1 }'
    assert arguments_of(Raw(b'{"name":"t"}')) == arguments_of(Raw(b"[]")) == arguments_of(NOTHING) == NOTHING
