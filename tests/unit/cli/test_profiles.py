"""`tooltray profiles ...`, with a running hub."""

from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import Tooltray

from tooltray.config.home import Home
from tooltray.errors import TooltrayError


def profile(name: str, **changes: Any) -> dict[str, Any]:
    return {"name": name, "servers": None, "tools": {}, "description": "", "tool_count": 3} | changes


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
        (["--server", "b", "--server", "a", "--server", "b"], {"servers": ["b", "a"]}),
        (
            ["--tool", "a", "x", "--tool", "a:1", "y", "--tool", "a", "z", "--description", "d"],
            {"tools": {"a": ["x", "z"], "a:1": ["y"]}, "description": "d"},
        ),
    ],
)
def test_a_profile_is_set_as_a_whole(tooltray: Tooltray, hub_home: Home, words: list[str], content: dict[str, Any]) -> None:
    answers = {"set_profile": None, "get_profiles": [profile("other"), profile("work", tool_count=1)]}
    with FakeControlHub(hub_home, answers) as hub:
        result = tooltray("profiles", "set", "work", *words)
        in_json = tooltray("profiles", "set", "work", *words, "--json")
    assert result.out == "The profile work has 1 tool now.\n"
    assert "tooltray clients mode CLIENT --profile work" in result.err
    assert in_json.json["tool_count"] == 1
    assert hub.calls[0] == ("set_profile", {"name": "work", "profile": content})


def test_a_profile_is_removed_or_it_is_said_why_not(tooltray: Tooltray, hub_home: Home) -> None:
    def refuse(name: str) -> None:
        raise TooltrayError("it is in use")

    with FakeControlHub(hub_home, {"remove_profile": None}) as hub:
        assert tooltray("profiles", "remove", "work").out == "The profile work is removed.\n"
        assert tooltray("profiles", "remove", "work", "--json").json == {"profile": "work", "removed": True}
        assert hub.calls[0] == ("remove_profile", {"name": "work"})
        hub.answers["remove_profile"] = refuse
        refused = tooltray("profiles", "remove", "work")
    assert refused.code == 1
    assert "it is in use" in refused.err
