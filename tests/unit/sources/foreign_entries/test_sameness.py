"""sameness.py: one server has many spellings, and two keys are two accounts."""

from collections.abc import Mapping
from typing import Any

import pytest

from tooltray.sources.foreign_entries.sameness import Program, looked_up, program_of

KEYS = {"a/KEY": "dummy-one", "b/KEY": "dummy-one", "c/KEY": "dummy-two"}


def program(entry: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> Program:
    return program_of(entry, lambda inner: looked_up(inner, KEYS, environ or {}))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"command": "npx", "args": ["-y", "x"]}, {"command": "/usr/bin/npx", "args": ["--yes", "x"], "type": "stdio"}),
        ({"command": "npx", "args": ["-y", "x"]}, {"command": "cmd", "args": ["/c", "npx.cmd", "-y", "x"]}),
        ({"url": "https://a.example/mcp"}, {"url": "https://a.example/mcp/", "type": "http"}),
        ({"command": "x", "env": {"A": "1", "B": "2"}}, {"command": "x", "env": {"B": "2", "A": "1"}, "icons": "y"}),
        ({"command": "x", "env": {"K": "${secret:a/KEY}"}}, {"command": "x", "env": {"K": "${secret:b/KEY}"}}),
        ({"command": "x", "env": {"K": "${secret:a/KEY}"}}, {"command": "x", "env": {"K": "${UNKNOWN}"}}),
        ({"command": "x", "env": {"K": "${secret:a/KEY}"}}, {"command": "x", "env": {"K": "${SET}"}}),
        ({"command": "x", "env": {"K": "${input:key}"}}, {"command": "x", "env": {"K": "${secret:c/KEY}"}}),
        ({"command": "x", "env": {"K": "${NONE:-dummy-one}"}}, {"command": "x", "env": {"K": "${secret:a/KEY}"}}),
        ({"command": "x", "args": ["${é"], "env": {"A": "}"}}, {"command": "x", "args": ["${é"], "env": {"A": "}"}}),
    ],
)  # fmt: skip
def test_the_same_server(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert program(one, {"SET": "dummy-one"}).is_same(program(other, {"SET": "dummy-one"}))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"command": "x"}, {"command": "y"}),
        ({"command": "x", "args": ["a"]}, {"command": "x", "args": ["b"]}),
        ({"url": "https://a.example", "type": "sse"}, {"url": "https://a.example"}),
        ({"command": "x", "cwd": "/p"}, {"command": "x"}),
        ({"command": "x", "env": {"K": "${secret:a/KEY}"}}, {"command": "x", "env": {"K": "${secret:c/KEY}"}}),
        ({"command": "x", "env": {"K": "${secret:c/KEY}"}}, {"command": "x", "env": {"K": "${SET}"}}),
    ],
)
def test_another_server(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert not program(one, {"SET": "dummy-one"}).is_same(program(other, {"SET": "dummy-one"}))


def test_no_value_is_in_what_is_logged() -> None:
    assert "dummy-one" not in repr(program({"command": "x", "env": {"K": "${secret:a/KEY}"}}))
