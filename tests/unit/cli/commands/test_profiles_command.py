"""`tooltray profiles ...`, with a running hub."""

from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub, hub_snapshot, server_snapshot
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home

SERVERS = hub_snapshot(server_snapshot("a", tool_count=2), server_snapshot("b", tool_count=0), server_snapshot("a:1", tool_count=0))
TOOLS_OF_A = [{"original_name": "x", "name": "a_x"}, {"original_name": "z", "name": "z"}]


def profile(name: str, **changes: Any) -> dict[str, Any]:
    return {"name": name, "servers": None, "tools": {}, "description": "", "tool_count": 3, "skills": {}} | changes


def test_profiles_are_listed_with_what_is_in_them(tooltray: Tooltray, hub_home: Home) -> None:
    profiles = [
        profile("work", servers=["files", "web"], tools={"files": ["read", "list"]}, description="By\n\x1b[1mday"),
        profile("all"),
        profile("nothing", servers=[], tool_count=0),
    ]
    with FakeControlHub(hub_home, {"get_profiles": profiles}):
        result = tooltray("profiles", "list")
        in_json = tooltray("profiles", "list", "--json")
    assert [" ".join(line.split()) for line in result.out.splitlines()] == [
        "PROFILE TOOLS SERVERS DESCRIPTION",
        "work 3 files, web (only 2 of files) By day",
        "all 3 all",
        "nothing 0 none",
    ]
    assert in_json.json == profiles


def test_where_there_are_none_it_is_said_how_to_make_one(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_profiles": []}):
        assert "tooltray profiles set NAME" in tooltray("profiles", "list").out


@pytest.mark.parametrize(
    ("words", "content"),
    [
        ([], {}),
        (["--server", "*", "--tool", "a", "x"], {"tools": {"a": ["x"]}}),
        (["--server", "b", "--server", "a", "--server", "b"], {"servers": ["b", "a"]}),
        (["--server", "b", "--tool", "a", "x"], {"servers": ["b", "a"], "tools": {"a": ["x"]}}),
        (
            ["--tool", "a", "x", "--tool", "a:1", "y", "--tool", "a", "z", "--description", "d"],
            {"servers": ["a", "a:1"], "tools": {"a": ["x", "z"], "a:1": ["y"]}, "description": "d"},
        ),
    ],
)
def test_a_profile_is_set_as_a_whole(tooltray: Tooltray, hub_home: Home, words: list[str], content: dict[str, Any]) -> None:
    profiles = [profile("other"), profile("work", tool_count=1)]
    answers = {"set_profile": None, "get_profiles": profiles, "get_snapshot": SERVERS, "get_tools": TOOLS_OF_A}
    with FakeControlHub(hub_home, answers) as hub:
        result = tooltray("profiles", "set", "work", *words)
        in_json = tooltray("profiles", "set", "work", *words, "--json")
    assert result.out == "The profile work has 1 tool now, of all servers.\n"
    assert "Careful" not in result.err
    assert "tooltray clients mode CLIENT --profile work" in result.err
    assert in_json.json["tool_count"] == 1
    assert hub.calls[0] == ("set_profile", {"name": "work", "profile": content})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--server", "gone\x1b[31m"], "Careful: there is no server 'gone'. It is kept for when there is.\n"),
        (["--tool", "a", "lost"], "Careful: 'a' has no tool 'lost'. It is kept for when there is.\n"),
        (["--tool", "gone", "x"], "Careful: there is no server 'gone'. It is kept for when there is.\n"),
        (["--server", "*", "--tool", "gone", "x"], "Careful: there is no server 'gone'. It is kept for when there is.\n"),
        (["--tool", "b", "nobody knows yet"], ""),
    ],
)
def test_what_a_profile_names_and_there_is_not_is_said_at_once(tooltray: Tooltray, hub_home: Home, words: list[str], said: str) -> None:
    made = profile("work", servers=["a", "b"], tool_count=0)
    answers = {"set_profile": None, "get_profiles": [made], "get_snapshot": SERVERS, "get_tools": TOOLS_OF_A}
    with FakeControlHub(hub_home, answers):
        result = tooltray("profiles", "set", "work", *words)
    assert (result.code, result.out) == (0, "The profile work has 0 tools now, of a, b and Tooltray itself.\n")
    assert result.err.partition("An AI client gets it")[0] == said


def test_sessions_that_asked_for_a_profile_that_is_removed_are_named(tooltray: Tooltray, hub_home: Home) -> None:
    def session(id: str, name: str, *, is_connected: bool = True) -> dict[str, Any]:
        return {"id": id, "client": "acme", "profile": name, "is_connected": is_connected}

    sessions = [session("s1", "work"), session("s2", "other"), session("s3", "work", is_connected=False)]
    with FakeControlHub(hub_home, {"remove_profile": None, "get_sessions": sessions}):
        result = tooltray("profiles", "remove", "work")
        in_json = tooltray("profiles", "remove", "work", "--json").json
    assert (result.code, result.out) == (0, "The profile work is removed.\n")
    assert "see no tools now: acme (s1). They do again" in result.err
    assert in_json == {"profile": "work", "removed": True, "sessions": ["s1"]}


def test_a_profile_is_removed_or_it_is_said_why_not(tooltray: Tooltray, hub_home: Home) -> None:
    def refuse(name: str) -> None:
        raise TooltrayError("it is in use")

    with FakeControlHub(hub_home, {"remove_profile": None, "get_sessions": []}) as hub:
        assert tooltray("profiles", "remove", "work").out == "The profile work is removed.\n"
        assert tooltray("profiles", "remove", "work", "--json").json == {"profile": "work", "removed": True, "sessions": []}
        assert hub.calls[0] == ("remove_profile", {"name": "work"})
        hub.answers["remove_profile"] = refuse
        refused = tooltray("profiles", "remove", "work")
    assert refused.code == 1
    assert "it is in use" in refused.err
