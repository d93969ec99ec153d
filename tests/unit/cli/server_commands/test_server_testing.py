"""`tooltray servers test` and `tooltray servers duplicate`."""

import json
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub, problem
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.home.home import Home


def outcome(**fields: Any) -> dict[str, Any]:
    return {"server": "git", "is_ok": True, "took_s": 1.84, "tools": [{"name": "t", "tokens": 3546}], "tokens": 3546, **fields}


@pytest.mark.parametrize(
    ("fields", "words"),
    [({}, "Connected in 1.8 s, 1 tool, 3546 tokens.\n"), ({"is_estimated": True}, "Connected in 1.8 s, 1 tool, about 3546 tokens.\n")],
)
def test_a_server_that_works_says_its_tools_and_tokens(tooltray: Tooltray, hub_home: Home, fields: dict[str, Any], words: str) -> None:
    with FakeControlHub(hub_home, {"test_server": outcome(**fields)}):
        result = tooltray("servers", "test", "git")
    assert (result.code, result.out) == (0, words)


def test_one_that_does_not_says_why_and_what_it_wrote(tooltray: Tooltray, hub_home: Home) -> None:
    failed = outcome(
        is_ok=False, problem=problem("npm knows no such package", "x", "Check its name"), output=["npm \x1b[31merror"], tools=[]
    )
    with FakeControlHub(hub_home, {"test_server": failed}):
        result = tooltray("servers", "test", "git")
        in_json = tooltray("servers", "test", "git", "--json")
    assert result.code == 1
    assert "git does not work: npm knows no such package" in result.out
    assert "npm error" in result.err.replace("\x1b[31m", "").replace("?[31m", "")
    assert "\x1b" not in result.err
    assert (in_json.code, json.loads(in_json.out)["is_ok"], in_json.err) == (1, False, "")


def test_a_copy_says_what_it_is_and_when_it_starts(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"duplicate_mcp_server": "git-2"}):
        result = tooltray("servers", "duplicate", "git", "git-2")
    assert result.code == 0
    assert "Added git-2, a copy of git." in result.out
