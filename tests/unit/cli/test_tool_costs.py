"""`tooltray tools cost`, with a running hub."""

from typing import Any

from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import Tooltray

from tooltray.home.home import Home

READ = {"name": "read", "tokens": 10, "is_shown": False}
WRITE = {"name": "write", "tokens": 90, "is_shown": True}
FILES = {"server": "files", "tokens": 100, "shown_tokens": 95, "tools": [READ, WRITE]}
WEB = {"server": "web", "tokens": 7, "shown_tokens": 7, "tools": []}


def costs(**changes: Any) -> dict[str, Any]:
    return {"tokenizer": "o200k_base", "tokens": 107, "shown_tokens": 102, "servers": [FILES, WEB], "client": ""} | changes


def rows(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_costs_are_told_by_server_and_in_all(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_tool_costs": costs()}) as hub:
        printed = rows(tooltray("tools", "cost").out)
        in_json = tooltray("tools", "cost", "--json").json
    assert printed[:3] == ["SERVER TOOLS TOKENS SHOWN AT FIRST", "files 2 100 95", "web 0 7 7"]
    said = "The tools cost 107 tokens; what an AI client without settings of its own is shown at first costs 102 (counted with o200k_base;"
    assert printed[3].startswith(said)
    assert in_json == costs()
    assert hub.calls[0] == ("get_tool_costs", {"client": None})


def test_the_tools_of_one_server_are_told_the_dearest_first(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_tool_costs": costs(client="acme", tokenizer="estimate")}) as hub:
        printed = rows(tooltray("tools", "cost", "--server", "files", "--client", "acme").out)
        in_json = tooltray("tools", "cost", "--server", "files", "--json").json
    assert printed == [
        "TOKENS SHOWN AT FIRST TOOL",
        "90 yes write",
        "10 - read",
        "The tools cost 100 tokens; what acme is shown at first costs 95 (estimated by size).",
    ]
    assert (in_json["servers"], in_json["tokens"]) == ([FILES], 100)
    assert hub.calls[0] == ("get_tool_costs", {"client": "acme"})


def test_the_costs_of_a_session_are_those_of_now(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_tool_costs": costs(client="acme")}) as hub:
        printed = rows(tooltray("tools", "cost", "--session", "s1").out)
        refused = tooltray("tools", "cost", "--session", "s1", "--client", "acme")
    assert printed[0] == "SERVER TOOLS TOKENS SHOWN NOW"
    assert printed[3].startswith("The tools cost 107 tokens; what acme is shown now costs 102 (")
    assert (hub.calls, refused.code) == ([("get_tool_costs", {"client": None, "session": "s1"})], 2)


def test_a_server_without_tools_is_said(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_tool_costs": costs()}):
        result = tooltray("tools", "cost", "--server", "gone")
    assert result.code == 1
    assert "'gone' offers no tools" in result.err
