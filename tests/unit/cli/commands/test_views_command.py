"""`tooltray sessions`, `tooltray clients modes|mode`, `tooltray servers lazy` and `tooltray tools override`, with a running hub."""

from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub, hub_snapshot, server_snapshot
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home


def session(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "id": "s1",
        "client": "acme",
        "version": "7",
        "server": "",
        "profile": "",
        "mode": "lazy",
        "reason": "so it is",
    }
    return values | {"project": None, "activated": [], "is_connected": True, "kind": "", "connected_at": 0.0} | changes


def client(name: str, **changes: Any) -> dict[str, Any]:
    values = {"client": name, "title": name.title(), "mode": "", "shown_mode": "everything", "reason": "nothing is hidden"}
    return values | {"profile": "", "is_seen": True, "auto_approve": None} | changes


def rows(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()[1:]]


def test_sessions_are_listed_with_what_they_see_and_why(tooltray: Tooltray, hub_home: Home) -> None:
    sessions = [
        session(),
        session(id="s2", client="", version="", server="files", profile="work"),
        session(id="s3", project={"name": "p", "path": "/p", "source": "roots"}, activated=["a", "b"]),
    ]
    with FakeControlHub(hub_home, {"get_sessions": sessions, "get_profiles": [{"name": "work"}]}):
        printed = tooltray("sessions").out
        in_json = tooltray("sessions", "--json").json
    assert rows(printed) == [
        "s1 acme 7 lazy - - - so it is",
        "s2 ? lazy (files only) work - - so it is",
        "s3 acme 7 lazy - /p a, b so it is",
    ]
    assert in_json == sessions


def test_a_session_whose_profile_is_gone_is_shown_nothing(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_sessions": [session(profile="gone")], "get_profiles": [{"name": "work"}]}):
        assert rows(tooltray("sessions").out) == ["s1 acme 7 nothing gone - - so it is"]


def test_sessions_that_have_left_take_one_line(tooltray: Tooltray, hub_home: Home) -> None:
    left = [session(id=f"s{number}", client=name, is_connected=False) for number, name in enumerate(("acme", "", "acme"), 2)]
    with FakeControlHub(hub_home, {"get_sessions": [session(), *left]}) as hub:
        result = tooltray("sessions")
        in_json = tooltray("sessions", "--json").json
        hub.answers["get_sessions"] = left
        alone = tooltray("sessions")
    assert rows(result.out) == ["s1 acme 7 lazy - - - so it is"]
    assert result.err.endswith("if they reconnect: acme (2), ?.\n")
    assert in_json == [session(), *left]
    assert (alone.out, alone.err) == ("No AI client is connected.\n", result.err)


def test_no_session_is_said(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_sessions": []}):
        assert tooltray("sessions").out == "No AI client is connected.\n"


def test_modes_are_listed_for_each_kind_of_client(tooltray: Tooltray, hub_home: Home) -> None:
    others = client("", title="Every other AI client")
    clients = [others, client("acme", mode="search", shown_mode="search", profile="work"), client("other", is_seen=False)]
    with FakeControlHub(hub_home, {"get_client_modes": clients}):
        printed = tooltray("clients", "modes").out
        in_json = tooltray("clients", "modes", "--json").json
    assert rows(printed) == [
        "Every other AI client * default everything - nothing is hidden",
        "Acme acme search search work nothing is hidden",
        "Other (not seen) other default everything - nothing is hidden",
    ]
    assert in_json == [
        {**each, **dict.fromkeys(("result_limit", "call_rules", "flow_guard", "csv_tables")), "summary": ""} for each in clients
    ]


def test_that_no_client_was_seen_is_said(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_client_modes": []}):
        assert tooltray("clients", "modes").out == "No AI client has connected yet.\n"


@pytest.mark.parametrize(
    ("words", "chosen", "printed"),
    [
        (["25000", "--client", "Cursor"], {"client": "Cursor"}, "Cursor: at most 25,000 tokens of a result at once."),
        (["25000", "--server", "files"], {"server": "files"}, "files: at most 25,000 tokens of a result at once."),
        (
            ["none", "--server", "files", "--tool", "gone"],
            {"server": "files", "tool": "gone"},
            "gone of files: no limit for results of its own.",
        ),
    ],
)
def test_how_much_of_a_result_clients_get_at_once_is_chosen(
    tooltray: Tooltray, hub_home: Home, words: list[str], chosen: dict[str, str], printed: str
) -> None:
    answers = {"set_result_limit": None, "get_snapshot": hub_snapshot(server_snapshot("files")), "get_tools": [{"original_name": "read"}]}
    with FakeControlHub(hub_home, answers) as hub:
        result = tooltray("tools", "limit", *words)
    tokens = None if words[0] == "none" else 25_000
    assert (result.out, result.err) == (printed + "\n", "")
    assert hub.calls[0] == ("set_result_limit", {"tokens": tokens, "server": None, "tool": None, "client": None, **chosen})


@pytest.mark.parametrize(
    ("words", "chosen", "printed"),
    [
        (["on", "--client", "Cursor"], {"enabled": True, "client": "Cursor"}, "Cursor: tables in results as CSV."),
        (
            ["default", "--server", "files", "--tool", "gone"],
            {"server": "files", "tool": "gone"},
            "gone of files: tables in results by the other",
        ),
        (
            ["off", "--server", "files", "--tool", "gone"],
            {"enabled": False, "server": "files", "tool": "gone"},
            "gone of files: tables in results as JSON.",
        ),
    ],
)
def test_whether_clients_get_tables_as_csv_is_chosen(
    tooltray: Tooltray, hub_home: Home, words: list[str], chosen: dict[str, Any], printed: str
) -> None:
    answers = {
        "set_csv_tables": None,
        "get_snapshot": hub_snapshot(server_snapshot("files", tool_count=1)),
        "get_tools": [{"original_name": "read"}],
    }
    with FakeControlHub(hub_home, answers) as hub:
        result = tooltray("tools", "csv", *words)
    assert result.out.startswith(printed)
    assert ("no tool 'gone'" in result.err) is (words[0] == "off")
    assert hub.calls[0] == ("set_csv_tables", {**dict.fromkeys(("enabled", "server", "tool", "client")), **chosen})


@pytest.mark.parametrize(
    ("words", "calls", "printed"),
    [
        (["acme", "search"], [("set_client_mode", {"client": "acme", "mode": "search"})], "Acme sees: everything"),
        (["acme", "default"], [("set_client_mode", {"client": "acme", "mode": ""})], "profile: none."),
        (["*", "lazy"], [("set_client_mode", {"client": "", "mode": "lazy"})], "Chosen for all AI clients without a mode of their own."),
        (["acme", "--profile", "work"], [("set_client_profile", {"client": "acme", "profile": "work"})], "Acme sees"),
        (
            ["gone", "lazy", "--no-profile"],
            [("set_client_profile", {"client": "gone", "profile": ""}), ("set_client_mode", {"client": "gone", "mode": "lazy"})],
            "Chosen for gone.",
        ),
        (
            ["gone", "default"],
            [("set_client_mode", {"client": "gone", "mode": ""})],
            "gone uses the default of all AI clients again.",
        ),
    ],
)
def test_a_mode_and_a_profile_are_chosen(
    tooltray: Tooltray, hub_home: Home, words: list[str], calls: list[tuple[str, Any]], printed: str
) -> None:
    chosen = client("acme", mode="search" if "search" in words else "", profile="work" if "work" in words else "")
    answers = {"set_client_mode": None, "set_client_profile": None, "get_client_modes": [chosen]}
    with FakeControlHub(hub_home, answers) as hub:
        assert printed in tooltray("clients", "mode", *words).out
        assert "mode" in tooltray("clients", "mode", *words, "--json").json
    assert [call for call in hub.calls if call[0] != "get_client_modes"] == calls * 2


def test_a_mode_for_a_client_that_nobody_knows_says_which_there_are(tooltray: Tooltray, hub_home: Home) -> None:
    others, known = client("", title="Every other AI client"), [client("acme"), client("other")]
    answers = iter(
        [[others, *known], [others, *known, client("acmee", mode="lazy")], [others, *known], [others, client("acme", mode="lazy")]]
    )
    with FakeControlHub(hub_home, {"set_client_mode": None, "get_client_modes": lambda: next(answers)}):
        misspelt, right = tooltray("clients", "mode", "acmee", "lazy"), tooltray("clients", "mode", "acme", "lazy")
    assert misspelt.code == 0
    assert misspelt.err == "No AI client named acmee has connected yet. Known clients: acme, other.\n"
    assert right.err == ""


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["acme"], 1, "Nothing to choose"),
        (["*", "--profile", "work"], 1, "A profile is given to one AI client"),
        (["acme", "loud"], 2, "invalid choice"),
        (["", "lazy"], 2, "argument CLIENT: it is empty"),
        (["acme", "--profile", "x", "--no-profile"], 2, "not allowed with"),
    ],
)
def test_what_cannot_be_chosen_is_said(tooltray: Tooltray, hub_home: Home, words: list[str], code: int, said: str) -> None:
    with FakeControlHub(hub_home, {}) as hub:
        result = tooltray("clients", "mode", *words)
    assert (result.code, hub.calls) == (code, [])
    assert said in result.err


@pytest.mark.parametrize(
    ("name", "switch", "params", "printed"),
    [
        ("files", "on", {"enabled": True, "server": "files"}, "files shows one small tool; using it loads the rest.\n"),
        ("files", "off", {"enabled": False, "server": "files"}, "files shows all its tools.\n"),
        ("files", "default", {"enabled": None, "server": "files"}, "files uses the default of all servers.\n"),
        ("*", "default", {"enabled": None, "server": None}, "Every server without its own setting shows all its tools.\n"),
    ],
)
def test_servers_are_made_lazy(tooltray: Tooltray, hub_home: Home, name: str, switch: str, params: Any, printed: str) -> None:
    with FakeControlHub(hub_home, {"set_lazy_load": None, "get_snapshot": hub_snapshot(server_snapshot("files", is_lazy=True))}) as hub:
        result = tooltray("servers", "lazy", name, switch)
        assert (result.out, result.err) == (printed, "")
        assert tooltray("servers", "lazy", name, switch, "--json").json == {"server": params["server"], "lazy": params["enabled"]}
    assert hub.calls[0] == ("set_lazy_load", params)


@pytest.mark.parametrize("name", ["files", "*"])
def test_where_a_mode_is_chosen_for_all_clients_lazy_servers_are_said_to_be_without_effect(
    tooltray: Tooltray, hub_home: Home, name: str
) -> None:
    with FakeControlHub(hub_home, {"set_lazy_load": None, "get_snapshot": hub_snapshot(server_snapshot("files", is_lazy=False))}):
        assert "tooltray clients mode '*' default" in tooltray("servers", "lazy", name, "on").err
        assert tooltray("servers", "lazy", name, "off").err == ""


@pytest.mark.parametrize(
    ("words", "name", "description", "printed"),
    [
        (["--name", "look"], "look", "Before", "read of files is shown as look, with your description."),
        (["--description", "New"], "old", "New", "read of files is shown as old, with your description."),
        (["--clear"], None, None, "read of files has its own name and description again."),
        (["--clear", "--name", "look"], "look", None, "read of files is shown as look."),
        (["--clear", "--description", "New"], None, "New", "read of files is shown under its own name, with your description."),
    ],
)
def test_a_tool_is_shown_otherwise_and_what_is_not_given_stays(
    tooltray: Tooltray, hub_home: Home, words: list[str], name: str | None, description: str | None, printed: str
) -> None:
    entry = {"name": "files", "entry": {}, "counts": {"toolOverrides": {"read": {"name": "old", "description": "Before"}}}}
    params = {"server": "files", "tool": "read", "name": name, "description": description}
    published = name or "read"
    answers = {"get_server_entry": entry, "set_tool_override": None, "get_snapshot": hub_snapshot(server_snapshot("files", tool_count=1))}
    with FakeControlHub(hub_home, answers | {"get_tools": [{"original_name": "read", "name": published}]}) as hub:
        result = tooltray("tools", "override", "files", "read", *words)
        in_json = tooltray("tools", "override", "files", "read", *words, "--json").json
    assert (result.out, result.err) == (printed + "\n", "")
    assert in_json == params | {"published_name": published}
    assert hub.calls[1] == ("set_tool_override", params)


@pytest.mark.parametrize(
    ("tool_count", "tool", "out", "err"),
    [
        (1, "read", "read of files is shown as files_look.\n", "Another tool has the name look"),
        (1, "lost", "lost of files is shown as look.\n", "Warning: 'files' has no tool 'lost'. The choice is saved"),
        (0, "lost", "lost of files is shown as look.\n", ""),
    ],
)
def test_a_chosen_name_is_told_as_it_came_out(tooltray: Tooltray, hub_home: Home, tool_count: int, tool: str, out: str, err: str) -> None:
    snapshot = hub_snapshot(server_snapshot("files", tool_count=tool_count))
    tools = [{"original_name": "read", "name": "files_look"}]
    entry = {"name": "files", "entry": {}, "counts": {}}
    answers = {"get_server_entry": entry, "set_tool_override": None, "get_snapshot": snapshot, "get_tools": tools}
    with FakeControlHub(hub_home, answers):
        result = tooltray("tools", "override", "files", tool, "--name", "look")
    assert (result.code, result.out) == (0, out)
    assert result.err.startswith(err)
    assert bool(result.err) is bool(err)


def test_an_override_without_anything_to_change_is_refused(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {}) as hub:
        result = tooltray("tools", "override", "files", "read")
    assert (result.code, hub.calls) == (1, [])
    assert "Give --name, --description, --title, --hint, --icon or --clear" in " ".join(result.err.split())


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
        (["--server", "gone\x1b[31m"], "Warning: server 'gone' not found. The choice is saved for when it exists.\n"),
        (["--tool", "a", "lost"], "Warning: 'a' has no tool 'lost'. The choice is saved for when it exists.\n"),
        (["--tool", "gone", "x"], "Warning: server 'gone' not found. The choice is saved for when it exists.\n"),
        (["--server", "*", "--tool", "gone", "x"], "Warning: server 'gone' not found. The choice is saved for when it exists.\n"),
        (["--tool", "b", "nobody knows yet"], ""),
    ],
)
def test_what_a_profile_names_and_there_is_not_is_said_at_once(tooltray: Tooltray, hub_home: Home, words: list[str], said: str) -> None:
    made = profile("work", servers=["a", "b"], tool_count=0)
    answers = {"set_profile": None, "get_profiles": [made], "get_snapshot": SERVERS, "get_tools": TOOLS_OF_A}
    with FakeControlHub(hub_home, answers):
        result = tooltray("profiles", "set", "work", *words)
    assert (result.code, result.out) == (0, "The profile work has 0 tools now, of a, b and Tooltray itself.\n")
    assert result.err.partition("Give it to an AI client")[0] == said


def test_sessions_that_asked_for_a_profile_that_is_removed_are_named(tooltray: Tooltray, hub_home: Home) -> None:
    def session(id: str, name: str, *, is_connected: bool = True) -> dict[str, Any]:
        return {"id": id, "client": "acme", "profile": name, "is_connected": is_connected}

    sessions = [session("s1", "work"), session("s2", "other"), session("s3", "work", is_connected=False)]
    with FakeControlHub(hub_home, {"remove_profile": None, "get_sessions": sessions}):
        result = tooltray("profiles", "remove", "work")
        in_json = tooltray("profiles", "remove", "work", "--json").json
    assert (result.code, result.out) == (0, "The profile work is removed.\n")
    assert "see no tools now: acme (s1)" in result.err
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


ICON = "https://example.org/i.png"


OLD = [{"src": "old"}]
HINTS = {"readOnlyHint": True, "title": "A"}


@pytest.mark.parametrize(
    ("words", "override"),
    [
        (["--title", "T"], {"title": "T", "annotations": HINTS, "icons": OLD}),
        (
            ["--hint", "readOnlyHint=own", "--hint", "openWorldHint=no"],
            {"annotations": {"openWorldHint": False, "title": "A"}, "icons": OLD},
        ),
        (
            ["--clear", "--icon", ICON, "--hint", "destructiveHint=yes"],
            {"annotations": {"destructiveHint": True}, "icons": [{"src": ICON}]},
        ),
        (["--clear", "--hint", "destructiveHint=own", "--title", "T"], {"title": "T"}),
    ],
)
def test_hints_change_one_by_one_and_all_else_as_a_whole(
    tooltray: Tooltray, hub_home: Home, words: list[str], override: dict[str, Any]
) -> None:
    before = {"annotations": HINTS, "icons": OLD, "title": 5}
    entry = {"name": "files", "entry": {}, "counts": {"toolOverrides": {"read": before}}}
    answers = {"get_server_entry": entry, "set_tool_override": None, "get_snapshot": hub_snapshot(server_snapshot("files", tool_count=1))}
    with FakeControlHub(hub_home, answers | {"get_tools": [{"original_name": "read", "name": "read"}]}) as hub:
        result = tooltray("tools", "override", "files", "read", *words)
    params = {"server": "files", "tool": "read", "name": None, "description": None, **override}
    assert hub.calls[1] == ("set_tool_override", params)
    assert result.out == "read of files is shown under its own name, with your changes.\n"


@pytest.mark.parametrize("hint", ["readOnlyHint", "readOnlyHint=maybe", "title=yes"])
def test_what_is_no_hint_is_refused(tooltray: Tooltray, hub_home: Home, hint: str) -> None:
    with FakeControlHub(hub_home, {}) as hub:
        result = tooltray("tools", "override", "files", "read", "--hint", hint)
    assert (result.code, hub.calls) == (1, [])
    assert "Use one of readOnlyHint" in result.err


CLIENT = {"client": "acme", "title": "Acme", "mode": "", "shown_mode": "everything", "reason": "so it is", "profile": "", "is_seen": True}
NOTICE = {"title": "Somebody made a slip", "message": "work: must be an object", "hint": ""}
COMMANDS = [
    (["profiles", "set", "work"], "The profile work in the settings is ignored"),
    (["clients", "mode", "acme", "lazy"], "What was chosen in the settings is ignored"),
    (["clients", "mode", "acme", "--profile", "work"], "What was chosen in the settings is ignored"),
    (["servers", "lazy", "files", "on"], "What was chosen in the settings is ignored"),
]


def answers(*notices: dict[str, str]) -> dict[str, Any]:
    done = dict.fromkeys(("set_profile", "set_client_mode", "set_client_profile", "set_lazy_load"))
    snapshot = hub_snapshot() | {"notices": list(notices)}
    return done | {"get_profiles": [], "get_client_modes": [CLIENT], "get_sessions": [], "get_snapshot": snapshot}


@pytest.mark.parametrize(("words", "said"), COMMANDS)
def test_what_was_written_and_does_not_count_is_no_success(tooltray: Tooltray, hub_home: Home, words: list[str], said: str) -> None:
    with FakeControlHub(hub_home, answers(NOTICE)) as hub:
        result = tooltray(*words)
        hub.answers |= answers()
        unexplained = tooltray(*words)
    assert (result.code, result.out) == (1, "")
    assert said in result.err
    assert "Somebody made a slip: work: must be an object" in " ".join(result.err.split())
    assert "another program changed the settings at the same time" in " ".join(unexplained.err.split())


@pytest.mark.parametrize("overrides", [["read"], {"read": "look"}, {"read": {"name": 3}}])
def test_an_override_that_cannot_be_used_is_replaced(tooltray: Tooltray, hub_home: Home, overrides: Any) -> None:
    entry = {"name": "files", "entry": {}, "counts": {"toolOverrides": overrides}}
    with FakeControlHub(hub_home, {"get_server_entry": entry, "set_tool_override": None, "get_tools": [], **answers()}) as hub:
        tooltray("tools", "override", "files", "read", "--description", "New")
    params = {"server": "files", "tool": "read", "name": None, "description": "New"}
    assert ("set_tool_override", params) in hub.calls
