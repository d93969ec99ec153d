"""file_edits.py: what would change in which file; nothing is written."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.ai_client_home import ClientHome
from tests.fakes.client_files import KINDS

from tooltray.sources.clients.file_edits import ABSENT, FileEdit, connecting, disconnecting, removing
from tooltray.sources.clients.found_entries import FoundEntry

CURSOR, VSCODE, OPENCODE = ".cursor/mcp.json", ".config/Code/User", ".config/opencode/opencode.json"


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[ClientHome]:
    made = ClientHome(tmp_path)
    yield made
    await made.close()


def connect(home: ClientHome, client: str) -> list[FileEdit]:
    return list(connecting(KINDS[client], home.look_now(), home.own, home.environ))


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


def test_one_that_is_connected_needs_no_change(home: ClientHome) -> None:
    home.write(CURSOR, json.dumps({"mcpServers": {"hub": ours(home)}}))
    (edit,) = connect(home, "cursor")
    assert (edit.action, edit.is_change, edit.problem) == ("connect", False, None)
    assert edit.revision not in ("", ABSENT)


def test_an_entry_whose_program_is_gone_is_mended_where_it_stands(home: ClientHome) -> None:
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


def test_a_malformed_file_is_left_to_the_person(home: ClientHome) -> None:
    home.write(CURSOR, '{"mcpServers": {}, "mcpServers": {}}')
    (edit,) = connect(home, "cursor")
    assert not edit.is_change
    assert edit.problem


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


def test_servers_leave_the_files_that_they_stand_in_one_edit_for_each(home: ClientHome) -> None:
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
    assert (edit.text, edit.problem.message) == (text, "'b' is another server by now")
    (home.root / CURSOR).unlink()
    (home.root / CURSOR).mkdir()
    (edit,) = removing(found)
    assert edit.problem
    assert (edit.revision, edit.is_change) == ("", False)
