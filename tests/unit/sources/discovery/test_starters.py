"""starters.py, and the list that comes with Tooltray."""

import pytest

from tooltray.config.settings.given_entries import check_name, read_entry
from tooltray.foundation.errors import NotFound
from tooltray.foundation.programs import resource
from tooltray.sources.discovery.server_forms import made_of
from tooltray.sources.discovery.starters import Starter, Starters

STARTERS = Starters(resource("starter-servers.json"))


@pytest.mark.parametrize("starter", STARTERS.all(), ids=lambda each: each.id)
def test_each_server_of_the_list_can_be_added(starter: Starter) -> None:
    choice = starter.choice
    assert choice.option.problem is None
    values = {field.key: field.choices[0] if field.choices else "/x" for field in choice.option.fields if field.is_required}
    made = made_of(choice, values, server=starter.id)
    read_entry(starter.id, made.entry)
    check_name(starter.id, ())
    assert starter.good_for.endswith(".")
    assert len(starter.good_for) <= 90
    assert (starter.package is None) != (starter.remote is None)
    assert {field.key for field in choice.option.fields if field.is_required} <= (starter.trial or values).keys()


def test_the_list_has_some_forty_servers_each_once() -> None:
    assert 35 <= len(STARTERS.all()) <= 60
    targets = [each.target for each in STARTERS.snapshots({})]
    assert len(set(targets)) == len(targets)


def test_it_says_what_would_run_and_which_are_here() -> None:
    entries = {
        "mine": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory@1.0.0", 3]},
        "search": {"command": "x", "origin": {"kind": "starter", "id": "duckduckgo"}},
        "lin": {"url": "https://mcp.linear.app/mcp"},
        "pinned": {"command": "uvx", "args": ["mcp-server-time==1.0"]},
        "odd": {"command": "x", "args": "words"},
    }
    found = {each.id: each for each in STARTERS.snapshots(entries)}
    assert found["filesystem"].target == "npx -y @modelcontextprotocol/server-filesystem '<folders>'"
    assert found["excel"].target == "uvx excel-mcp-server stdio"
    assert found["motherduck"].target == "uvx mcp-server-motherduck"
    assert found["linear"].target == "https://mcp.linear.app/mcp"
    assert {each.id: each.here for each in found.values() if each.here} == {
        "memory": "mine",
        "duckduckgo": "search",
        "linear": "lin",
        "time": "pinned",
    }
    assert [field.key for field in found["filesystem"].fields] == ["folders"]


def test_a_server_that_is_not_in_the_list_is_not_found() -> None:
    with pytest.raises(NotFound):
        STARTERS.get("none")
