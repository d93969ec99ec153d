"""file_edits.py: what is changed in which file, and the smallest edit of each format."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.ai_client_home import ClientHome
from tests.fakes.client_files import BRIDGE, KINDS, put

from tooltray.foundation.errors import Conflict, NotFound
from tooltray.foundation.files.json_places import CannotRead
from tooltray.sources.clients.client_kinds import ClientPlaces, Format
from tooltray.sources.clients.client_look import ClientLook
from tooltray.sources.clients.file_edits import (
    ABSENT,
    EntryChange,
    FileEdit,
    changed,
    chosen_kinds,
    connecting,
    content_of,
    disconnecting,
    edit_named,
    full_content,
    made_for,
    named_place,
    parse_edit_id,
    planned,
    removing,
    unreadable,
    why_unable,
    without,
)
from tooltray.sources.clients.found_entries import FoundEntry

CURSOR, VSCODE, OPENCODE = ".cursor/mcp.json", ".config/Code/User", ".config/opencode/opencode.json"


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[ClientHome]:
    made = ClientHome(tmp_path)
    yield made
    await made.close()


def connect(home: ClientHome, client: str) -> list[FileEdit]:
    return list(connecting(KINDS[client], home.look_now()))


def disconnect(home: ClientHome, client: str) -> list[FileEdit]:
    return list(disconnecting(KINDS[client], home.look_now()))


def ours(home: ClientHome, **more: object) -> dict[str, object]:
    return {"command": str(home.bridge), "args": [], **more}


def entries(home: ClientHome, client: str) -> list[FoundEntry]:
    return [entry for file in home.look_now().files(KINDS[client]) for entry in file.entries]


def test_a_client_without_a_file_gets_one(home: ClientHome) -> None:
    (edit,) = connect(home, "cursor")
    assert (edit.id, edit.revision, edit.is_change) == (f"connect:cursor:{home.root / CURSOR}", ABSENT, True)
    assert json.loads(edit.text) == {"mcpServers": {"tooltray": ours(home)}}
    assert edit.names == ("tooltray",)
    assert not (home.root / CURSOR).exists()


def test_an_entry_whose_program_is_gone_is_mended_in_its_place(home: ClientHome) -> None:
    home.write(CURSOR, json.dumps({"mcpServers": {"hub": {"command": "/gone/tooltray-bridge", "args": [], "env": {"A": "b"}}}}))
    (edit,) = connect(home, "cursor")
    assert (edit.action, edit.names) == ("mend", ("hub",))
    assert json.loads(edit.text) == {"mcpServers": {"hub": ours(home, env={"A": "b"})}}


def test_every_profile_gets_an_entry_and_so_does_the_first_file(home: ClientHome) -> None:
    for name in ("mcp.json", "profiles/a/mcp.json", "profiles/b/mcp.json"):
        home.write(f"{VSCODE}/{name}", "{}")
    places = [edit.path.relative_to(home.root / VSCODE).as_posix() for edit in connect(home, "vscode") if edit.is_change]
    assert places == ["mcp.json", "profiles/a/mcp.json", "profiles/b/mcp.json"]


def test_an_entry_of_another_program_under_our_name_stays(home: ClientHome) -> None:
    home.write(CURSOR, text := '{"mcpServers": {"tooltray": {"command": "other"}}}')
    (edit,) = connect(home, "cursor")
    assert (edit.text, edit.is_change) == (text, False)
    assert edit.problem
    assert (edit.problem.message, edit.problem.hint) == ("there is an entry 'tooltray' already, which is not Tooltray", "Rename it")


def test_the_innermost_holder_that_is_there_is_taken_and_written_as_its_version_reads_it(home: ClientHome) -> None:
    inner = max(KINDS["opencode"].places, key=len)
    assert len(inner) == 2
    home.write(OPENCODE, json.dumps({inner[0]: {inner[1]: {}}}))
    (edit,) = connect(home, "opencode")
    assert json.loads(edit.text) == {inner[0]: {inner[1]: {"tooltray": {"type": "local", "command": [str(home.bridge)]}}}}


def test_disconnecting_takes_out_all_that_is_ours_and_nothing_else(home: ClientHome) -> None:
    home.write(CURSOR, json.dumps({"mcpServers": {"hub": ours(home), "git": {"command": "git-server"}, "tooltray": ours(home)}}))
    (edit,) = disconnect(home, "cursor")
    assert (edit.action, edit.names) == ("disconnect", ("hub", "tooltray"))
    assert json.loads(edit.text) == {"mcpServers": {"git": {"command": "git-server"}}}


def test_a_client_that_has_nothing_of_ours_is_not_edited(home: ClientHome) -> None:
    home.write(CURSOR, '{"mcpServers": {"git": {"command": "git-server"}}}')
    assert disconnect(home, "cursor") == []


def test_entries_of_a_project_are_taken_out_and_none_is_put_there(home: ClientHome) -> None:
    home.projects = (str(home.root / "p"),)
    project = home.write("p/.cursor/mcp.json", json.dumps({"mcpServers": {"hub": ours(home)}}))
    assert [edit.path for edit in disconnect(home, "cursor")] == [project]
    assert [edit.path for edit in connect(home, "cursor")] == [home.root / CURSOR]


def test_servers_leave_their_files_with_one_edit_for_each(home: ClientHome) -> None:
    servers = {"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}, "c": {"command": "z"}}}
    for path in (CURSOR, ".kiro/settings/mcp.json"):
        home.write(path, json.dumps(servers))
    found = [entry for client in ("kiro", "cursor") for entry in entries(home, client) if entry.name != "b"]
    edits = list(removing(found))
    assert [(edit.kind.id, edit.names) for edit in edits] == [("cursor", ("a", "c")), ("kiro", ("a", "c"))]
    assert [json.loads(edit.text) for edit in edits] == [{"mcpServers": {"b": {"command": "y"}}}] * 2


def test_one_that_is_gone_needs_nothing_and_another_of_its_name_stays(home: ClientHome) -> None:
    home.write(CURSOR, '{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}')
    found = entries(home, "cursor")
    home.write(CURSOR, text := '{"mcpServers": {"b": {"command": "y"}}}')
    (edit,) = removing(found[:1])
    assert (edit.text, edit.is_change, edit.problem) == (text, False, None)
    home.write(CURSOR, text := '{"mcpServers": {"b": {"command": "other"}}}')
    (edit,) = removing(found)
    assert edit.problem
    assert (edit.text, edit.problem.message) == (text, "'b' has changed meanwhile")
    (home.root / CURSOR).unlink()
    (home.root / CURSOR).mkdir()
    (edit,) = removing(found)
    assert edit.problem
    assert (edit.revision, edit.is_change) == ("", False)


def test_without_names_those_are_connected_that_are_installed_and_all_are_disconnected(home: ClientHome) -> None:
    home.write(CURSOR, "{}")
    look = home.look_now()
    assert [kind.id for kind in chosen_kinds("connect", [], look)] == ["cursor"]
    assert [kind.id for kind in chosen_kinds("disconnect", [], look)] == list(KINDS)


def test_a_client_that_is_named_twice_counts_once_and_an_unknown_one_is_an_error(home: ClientHome) -> None:
    assert [kind.id for kind in chosen_kinds("connect", ["kiro", "cursor", "kiro"], home.look_now())] == ["kiro", "cursor"]
    with pytest.raises(NotFound, match="AI client 'nobody' not found"):
        chosen_kinds("disconnect", ["cursor", "nobody"], home.look_now())


def test_a_client_that_only_the_user_can_connect_gets_no_edit(home: ClientHome) -> None:
    kinds = [KINDS[id] for id in ("jetbrains-ai", "cherry-studio", "cursor")]
    assert [edit.kind.id for edit in planned("connect", kinds, home.look_now())] == ["cursor"]


def test_a_file_that_two_clients_share_is_edited_once(home: ClientHome) -> None:
    home.projects = (str(home.root / "p"),)
    home.write("p/.mcp.json", json.dumps({"mcpServers": {"tooltray": {"command": str(home.bridge)}}}))
    edits = planned("disconnect", list(KINDS.values()), home.look_now())
    assert [edit.path for edit in edits] == [home.root / "p/.mcp.json"]


def test_an_edit_is_found_again_by_its_name_and_is_of_the_file_as_it_is_now(home: ClientHome) -> None:
    home.write(CURSOR, "{}")
    (shown,) = planned("connect", [KINDS["cursor"]], home.look_now())
    home.write(CURSOR, '{"other": 1}')
    again = edit_named(shown.id, home.look_now())
    assert (again.id, again.revision != shown.revision, json.loads(again.text)["other"]) == (shown.id, True, 1)


@pytest.mark.parametrize("name", ["connect:cursor:/etc/passwd", "disconnect:cursor:/x", "remove:cursor:/x"])
def test_an_edit_that_is_not_to_be_made_is_not_found(home: ClientHome, name: str) -> None:
    home.write(CURSOR, "{}")
    with pytest.raises(Conflict, match="has changed since"):
        edit_named(name, home.look_now())
    with pytest.raises(NotFound):
        edit_named(name.replace("cursor", "nobody"), home.look_now())


@pytest.mark.parametrize(
    ("client", "said"),
    [
        ("jetbrains-ai", "paste the entry"),
        ("cherry-studio", "no file can be written"),
        ("warp", "its file cannot be located until it exists"),
    ],
)
def test_why_a_client_cannot_be_connected_is_reported(home: ClientHome, client: str, said: str) -> None:
    problem = why_unable(KINDS[client], home.look_now())
    assert problem
    assert said in problem.message


def test_a_client_whose_file_is_there_or_can_be_made_can_be_connected(home: ClientHome) -> None:
    assert why_unable(KINDS["cursor"], home.look_now()) is None


def look(home: Path) -> ClientLook:
    return ClientLook(ClientPlaces({"HOME": str(home)}, "linux"))


def test_entries_are_found_by_what_they_start_whatever_they_are_called(tmp_path: Path) -> None:
    claude = put(
        tmp_path / ".claude.json",
        {
            "mcpServers": {"hub": BRIDGE, "tooltray": {"command": "other"}},
            "projects": {"/p": {"mcpServers": {"t": BRIDGE}}, "/q": 1},
            "history": ["tooltray_bridge"],
        },
    )
    code = put(tmp_path / ".config/Code/User/mcp.json", {"servers": {"x": {"command": "tooltray-bridge"}}})
    codex = put(tmp_path / ".codex/config.toml", "# tooltray_bridge\n[mcp_servers.x]\ncommand = 'tooltray-bridge'\n")
    found = [
        (edit.kind.name, edit.path, [change.place for change in edit.changes])
        for edit in planned("disconnect", KINDS.values(), look(tmp_path))
    ]
    assert found == [
        ("Claude Code", claude, [("mcpServers", "hub"), ("projects", "/p", "mcpServers", "t")]),
        ("VS Code", code, [("servers", "x")]),
        ("Codex", codex, [("mcp_servers", "x")]),
    ]


@pytest.mark.parametrize(("content", "count"), [('{"mcpServers": {"t": "tooltray_bridge"}', 1), ("[mcp] # tooltray-bridge", 1), ("{", 0)])
def test_a_config_that_names_us_and_cannot_be_read_is_for_the_person(tmp_path: Path, content: str, count: int) -> None:
    file = put(tmp_path / ".cursor/mcp.json", content)
    assert [(kind.name, path) for kind, path in unreadable(look(tmp_path), KINDS.values())] == [("Cursor", file)] * count
    assert (planned("disconnect", KINDS.values(), look(tmp_path))) == []


def test_what_cannot_be_opened_has_no_sign_of_us(tmp_path: Path) -> None:
    (tmp_path / ".cursor/mcp.json").mkdir(parents=True)
    assert list(unreadable(look(tmp_path), KINDS.values())) == []


def test_an_id_names_what_is_done_for_which_client_in_which_file() -> None:
    assert parse_edit_id("mend:cursor:C:\\me\\mcp.json") == ("mend", "cursor", "C:\\me\\mcp.json")
    assert [parse_edit_id(id) for id in ("erase:cursor:/x", "")] == [("connect", "", "erase:cursor:/x"), ("connect", "", "")]


ENTRY = {"command": "x"}


def found(*place: str | int) -> FoundEntry:
    return FoundEntry(client=KINDS["continue"], path=Path("/x"), project="", name="a", entry=ENTRY, place=place, line=1, kind="server")


def test_an_item_of_a_list_is_found_again_by_its_name() -> None:
    assert named_place(found("mcpServers", 3)) == ("mcpServers", "a")
    assert full_content(found("mcpServers", 3)) == {"name": "a", **ENTRY}


def test_a_member_is_found_again_by_its_key() -> None:
    assert named_place(found("mcpServers", "b")) == ("mcpServers", "b")
    assert full_content(found("mcpServers", "b")) == ENTRY


@pytest.mark.parametrize("text", ["", "\ufeff", " \n"])
@pytest.mark.parametrize("format", ["json", "toml", "yaml"])
def test_an_empty_text_holds_nothing(text: str, format: Format) -> None:
    assert content_of(text, format) is None


@pytest.mark.parametrize(
    ("format", "text"), [("json", '{"a": 1}'), ("json", '\ufeff{"a": 1, // one\n}'), ("toml", "\ufeffa = 1"), ("yaml", "\ufeffa: 1")]
)
def test_each_format_is_read_with_a_byte_order_mark_and_comments(format: Format, text: str) -> None:
    assert content_of(text, format) == {"a": 1}


def test_the_outermost_holder_that_has_to_be_made_is_known() -> None:
    place = ("a", "b", "name")
    assert made_for({}, place) == ("a",)
    assert made_for({"a": None}, place) == ("a",)
    assert made_for({"a": {}}, place) == ("a", "b")
    assert made_for({"a": {"b": {}}}, place) == ()


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("", '{\n  "s": {\n    "n": {\n      "command": "x"\n    }\n  }\n}\n'),
        ("\ufeff", '\ufeff{\n  "s": {\n    "n": {\n      "command": "x"\n    }\n  }\n}\n'),
    ],
)
def test_an_empty_file_gets_all_around_an_entry(text: str, after: str) -> None:
    assert changed(text, "json", [EntryChange(("s", "n"), ENTRY)]) == after


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("json", '{"s": {"a": {"command": "y"}}, "other": 1} // mine\n'),
        ("toml", "other = 1 # mine\n\n[s.a]\ncommand = 'y'\n"),
        ("yaml", "other: 1 # mine\ns:\n  a:\n    command: y\n"),
    ],
)
def test_what_was_put_in_goes_again_and_the_rest_is_as_it_was(format: Format, text: str) -> None:
    more = changed(text, format, [EntryChange(("s", "n"), ENTRY)])
    assert content_of(more, format) == {"s": {"a": {"command": "y"}, "n": ENTRY}, "other": 1}
    assert "mine" in more
    assert content_of(changed(more, format, [EntryChange(("s", "n"))]), format) == content_of(text, format)


@pytest.mark.parametrize("text", ["a: 1\n", "a: 1\ns:\n"])
def test_a_list_of_servers_is_made_where_there_is_none(text: str) -> None:
    after = changed(text, "yaml", [EntryChange(("s", "n"), {"name": "n", **ENTRY}, is_list=True)])
    assert content_of(after, "yaml") == {"a": 1, "s": [{"name": "n", **ENTRY}]}


@pytest.mark.parametrize("format", ["json", "toml", "yaml"])
def test_what_is_not_there_cannot_be_taken_out(format: Format) -> None:
    text = {"json": '{"s": {}}', "toml": "[s]\n", "yaml": "s: {}\n"}[format]
    with pytest.raises(CannotRead):
        without(text, format, ("s", "gone"))
