"""What is ticked in a profile goes into the settings as a person meant it, and comes back from them the same."""

from tests.fakes.server_snapshots import BUILTIN, server, tool

from tooltray.foundation.snapshots.clients import ProfileSnapshot
from tooltray.ui.clients.profile_choice import Choice, ProfileChoice, choices, profile_choice

SERVERS = [server("files", description="Reads and writes"), server("web")]
TOOLS = [tool("read", "files"), tool("write", "files", description="Changes a file"), tool("fetch", "web")]


def chosen(profile: ProfileSnapshot | None = None) -> ProfileChoice:
    choice = profile_choice(profile, SERVERS)
    choice.list_tools(TOOLS)
    return choice


def lines(choice: ProfileChoice, opened: tuple[str, ...] = (), words: str = "") -> list[str]:
    shown = choices(choice, opened, words.split(), {each.name: each.description for each in SERVERS})
    return [f"{'/' if line.is_part else 'x' if line.is_on else '-'} {line.tool or line.server}" for line in shown]


def test_a_new_profile_has_nothing_and_names_no_tools() -> None:
    assert lines(chosen(), ("files",)) == ["- files", "- read", "- write", "- web"]
    assert chosen().settings("") == {"servers": [], "tools": {}}


def test_a_server_is_ticked_with_all_its_tools_and_with_those_it_gets_later() -> None:
    choice = chosen()
    choice.set_server("files", True)
    assert lines(choice, ("files",)) == ["x files", "x read", "x write", "- web"]
    assert choice.settings("Work") == {"servers": ["files"], "tools": {}, "description": "Work"}
    choice.list_tools([*TOOLS, tool("move", "files")])
    assert choice.has("files", "move")


def test_a_single_tool_brings_its_server_and_no_other_tool() -> None:
    choice = chosen()
    choice.set_tool("files", "read", True)
    assert lines(choice, ("files",)) == ["/ files", "x read", "- write", "- web"]
    assert choice.settings("") == {"servers": ["files"], "tools": {"files": ["read"]}}


def test_the_last_tool_takes_its_server_along_and_the_last_missing_one_completes_it() -> None:
    choice = chosen()
    choice.set_tool("files", "read", True)
    choice.set_tool("files", "write", True)
    assert choice.settings("")["tools"] == {}
    choice.set_tool("files", "read", False)
    assert choice.settings("")["tools"] == {"files": ["write"]}
    choice.set_tool("files", "write", False)
    assert choice.settings("") == {"servers": [], "tools": {}}


def test_all_servers_are_none_by_name_and_may_still_have_single_tools() -> None:
    choice = chosen(ProfileSnapshot("p", None, {"files": ("read",)}))
    assert lines(choice, ("files",)) == ["/ files", "x read", "- write", "x web"]
    assert choice.settings("") == {"tools": {"files": ["read"]}}


def test_taking_a_server_out_of_all_leaves_the_others_by_name() -> None:
    choice = chosen(ProfileSnapshot("p", None, {"files": ("read",)}))
    choice.set_server("web", False)
    assert not choice.takes_all
    assert choice.settings("") == {"servers": ["files"], "tools": {"files": ["read"]}}
    choice.take_all(True)
    assert choice.settings("") == {"tools": {"files": ["read"]}}


def test_a_server_of_which_no_tool_is_taken_is_not_ticked() -> None:
    choice = chosen(ProfileSnapshot("p", None, {"files": ()}))
    assert lines(choice) == ["- files", "x web"]
    choice.take_all(False)
    assert choice.settings("") == {"servers": ["web"], "tools": {}}
    choice.set_tool("files", "read", True)
    assert choice.settings("") == {"servers": ["files", "web"], "tools": {"files": ["read"]}}


def test_what_comes_with_tooltray_stands_last_under_a_name_that_no_server_of_the_user_has() -> None:
    choice = profile_choice(None, [BUILTIN, *SERVERS])
    choice.list_tools([tool("list_servers", "hub"), *TOOLS])
    shown = choices(choice, (), [], {"hub": "what the server says"})
    assert [line.name for line in shown] == ["files", "web", "Tooltray's own tools"]
    assert (shown[-1].text, shown[-1].is_on) == ("Every profile has them: with them, models report to you.", True)


def test_what_comes_with_tooltray_is_ticked_until_its_tools_are_left_out() -> None:
    choice = profile_choice(None, [*SERVERS, BUILTIN])
    choice.list_tools([*TOOLS, tool("list_servers", "hub"), tool("server_status", "hub")])
    assert (choice.has("hub"), choice.settings("")) == (True, {"servers": [], "tools": {}})
    choice.set_tool("hub", "list_servers", False)
    assert choice.settings("") == {"servers": [], "tools": {"hub": ["server_status"]}}
    choice.set_server("hub", False)
    assert (choice.has("hub"), choice.settings("")) == (False, {"servers": [], "tools": {"hub": []}})
    choice.set_server("hub", True)
    assert (choice.has("hub"), choice.settings("")) == (True, {"servers": [], "tools": {}})


def test_servers_and_tools_that_are_not_there_now_are_kept_and_said_to_be_missing() -> None:
    profile = ProfileSnapshot("p", ("files", "gone"), {"files": ("read", "old")})
    choice = chosen(profile)
    shown = choices(choice, ("files",), [], {})
    assert [line.key for line in shown if not line.is_known] == [("files", "old"), ("gone", "")]
    assert choice.settings("") == {"servers": ["files", "gone"], "tools": {"files": ["read", "old"]}}
    choice.set_server("gone", False)
    choice.set_tool("files", "old", False)
    assert choice.settings("") == {"servers": ["files"], "tools": {"files": ["read"]}}


def test_tools_of_a_server_that_has_listed_none_yet_are_not_said_to_be_missing() -> None:
    choice = profile_choice(ProfileSnapshot("p", ("files",), {"files": ("read",)}), SERVERS)
    assert choices(choice, ("files",), [], {})[1] == Choice("files", "read", True)


def test_a_search_shows_servers_and_tools_that_have_every_word() -> None:
    assert lines(chosen(), words="change file") == ["- files", "- write"]
    assert lines(chosen(), words="reads") == ["- files"]
    assert lines(chosen(), words="fetch") == ["- web", "- fetch"]
    assert lines(chosen(), words="nothing") == []
