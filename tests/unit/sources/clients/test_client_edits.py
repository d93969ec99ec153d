"""client_edits.py: clients are connected and disconnected, and all of it is undone."""

import asyncio
import errno
import json
import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.ai_client_home import ClientHome

from tooltray.foundation.errors import Conflict
from tooltray.foundation.files import edited_files
from tooltray.foundation.snapshots.ai_clients import ClientChange
from tooltray.sources.clients.client_kinds import ClientKind, read_client_kinds
from tooltray.sources.clients.found_entries import FoundEntry

CURSOR = ".cursor/mcp.json"
SERVERS = '{\n\t"mcpServers": {\n\t\t"a": {"command": "x", "env": {"API_KEY": "sk-dummy-1234567890"}} // mine\n\t}\n}\n'
CODEX = "# mine\nmodel = 'o3'\n\n[mcp_servers.a] # one\ncommand = 'x'\n"
GOOSE = "extensions:\n  developer:\n    enabled: true # mine\n    type: builtin\nGOOSE_MODEL: x\n"
CONTINUE = "name: mine\nmcpServers:\n  - name: a\n    command: x # one\n"


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[ClientHome]:
    made = ClientHome(tmp_path)
    yield made
    await made.close()


async def _connect(home: ClientHome, *clients: str) -> list[ClientChange]:
    edits = home.edits()
    previews = await edits.preview("connect", clients)
    return await edits.apply({edit.id: edit.revision for edit in previews})


ENTRY_OF_CURSOR = ',\n\t\t"tooltray": {\n\t\t\t"command": "BRIDGE",\n\t\t\t"args": []\n\t\t}'
ENTRY_OF_GOOSE = """  tooltray:
    type: stdio
    name: tooltray
    enabled: true
    cmd: BRIDGE
    args: []
    envs: {}
    timeout: 3600
"""
ENTRY_OF_CODEX = """
[mcp_servers.tooltray]
command = "BRIDGE"
args = []
startup_timeout_sec = 60
tool_timeout_sec = 3600
"""
OPENCODE = """{
  "mcp": {
    "tooltray": {
      "type": "local",
      "command": [
        "BRIDGE"
      ],
      "enabled": true,
      "timeout": 3600000
    }
  }
}
"""


@pytest.mark.parametrize(
    ("client", "path", "content", "expected"),
    [
        ("cursor", CURSOR, SERVERS, SERVERS.replace("}} // mine", "}}, // mine" + ENTRY_OF_CURSOR[1:])),
        ("codex", ".codex/config.toml", CODEX, CODEX + ENTRY_OF_CODEX),
        ("goose", ".config/goose/config.yaml", GOOSE, GOOSE.replace("builtin\n", "builtin\n" + ENTRY_OF_GOOSE)),
        ("continue", ".continue/config.yaml", CONTINUE, f"{CONTINUE}  - name: tooltray\n    command: BRIDGE\n    args: []\n"),
        ("opencode", ".config/opencode/opencode.json", "{}\r\n", OPENCODE.replace("\n", "\r\n")),
    ],
)
async def test_the_smallest_edit_connects_and_undoing_it_restores_every_byte(
    home: ClientHome, client: str, path: str, content: str, expected: str
) -> None:
    file = home.write(path, content)
    (change,) = await _connect(home, client)
    assert change.problem is None
    assert file.read_bytes().decode() == expected.replace("BRIDGE", str(home.bridge))
    assert (change.action, change.servers, change.undo, change.is_encrypted) == ("connect", ("tooltray",), "exact", True)
    undone = await home.edits().undo(change.id)
    assert (undone.action, file.read_bytes().decode()) == ("undo", content)


KINDS = [kind for kind in read_client_kinds() if kind.files.of("linux") and not kind.why_not]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.id)
async def test_every_client_gets_an_entry_that_is_recognised_and_goes_again(home: ClientHome, kind: ClientKind) -> None:
    name = kind.files.of("linux")[0].replace("${XDG_CONFIG}", ".config").removeprefix("~/")
    file = home.write(name, "" if kind.format != "json" else "{}\n")
    (change,) = await _connect(home, kind.id)
    assert change.problem is None
    (edit,) = await home.edits().preview("connect", [kind.id])
    assert (edit.action, edit.diff) == ("connect", "")  # it is connected
    (edit,) = await home.edits().preview("disconnect", [kind.id])
    (gone,) = await home.edits().apply({edit.id: edit.revision})
    assert gone.problem is None
    assert str(home.bridge) not in file.read_text()
    back = await home.edits().undo(gone.id)
    assert back.problem is None
    await home.edits().undo(change.id)
    assert file.read_text() == ("" if kind.format != "json" else "{}\n")


async def test_a_file_and_folders_that_were_made_go_again(home: ClientHome) -> None:
    (home.root / ".config" / "goose").mkdir(parents=True)
    previews = await home.edits().preview("connect", ["kiro", "goose"])
    assert [(Path(edit.path).name, edit.revision) for edit in previews] == [("mcp.json", "absent"), ("config.yaml", "absent")]
    assert previews[0].diff.startswith("--- /dev/null\n")
    changes = await home.edits().apply({edit.id: edit.revision for edit in previews})
    assert all(Path(change.path).is_file() for change in changes)
    assert stat.S_IMODE(Path(changes[0].path).stat().st_mode) == 0o600
    for change in changes:
        await home.edits().undo(change.id)
    assert not (home.root / ".kiro").exists()
    assert list((home.root / ".config" / "goose").iterdir()) == []


async def test_a_file_that_was_made_and_has_more_in_it_by_now_stays(home: ClientHome) -> None:
    (change,) = await _connect(home, "cursor")
    file = home.root / CURSOR
    document = json.loads(file.read_text())
    file.write_text(json.dumps(document | {"other": 1}))
    undone = await home.edits().undo(change.id)
    assert undone.note == "other changes of the file stay"
    assert json.loads(file.read_text()) == {"other": 1}


async def test_nothing_is_undone_twice(home: ClientHome) -> None:
    home.write(CURSOR, SERVERS)
    (change,) = await _connect(home, "cursor")
    undone = await home.edits().undo(change.id)
    for again in (change.id, undone.id):
        with pytest.raises(Conflict, match="cannot be undone"):
            await home.edits().undo(again)
    assert [(each.action, each.undo) for each in await home.edits().changes()] == [("undo", "none"), ("connect", "none")]


async def test_two_changes_of_one_file_are_undone_in_any_order(home: ClientHome) -> None:
    file = home.write(CURSOR, SERVERS.replace(" // mine", ""))
    (first,) = await _connect(home, "cursor")
    found = [entry for entry in _entries(home, "cursor") if entry.name == "a"]
    (second,) = await home.edits().remove_entries(found)
    assert (second.action, second.servers) == ("remove", ("a",))
    assert "sk-dummy" not in file.read_text()
    await home.edits().undo(first.id)
    assert json.loads(file.read_text()) == {"mcpServers": {}}
    await home.edits().undo(second.id)
    assert json.loads(file.read_text())["mcpServers"] == {"a": {"command": "x", "env": {"API_KEY": "sk-dummy-1234567890"}}}


def _entries(home: ClientHome, client: str) -> list[FoundEntry]:
    look = home.look_now()
    kind = next(kind for kind in read_client_kinds() if kind.id == client)
    return [entry for file in look.files(kind) for entry in file.entries]


async def test_no_secret_is_in_a_difference_and_known_ones_are_masked(home: ClientHome) -> None:
    home.write(CURSOR, SERVERS.replace('"x"', '"known-value"'))
    (edit,) = await home.edits(mask=lambda text: text.replace("known-value", "***")).preview("connect", ["cursor"])
    assert "tooltray" in edit.diff
    assert "API_KEY" in edit.diff
    assert "sk-dummy" not in edit.diff
    assert "known-value" not in edit.diff


async def test_a_file_that_has_changed_since_it_was_shown_is_not_written(home: ClientHome) -> None:
    file = home.write(CURSOR, SERVERS)
    (edit,) = await home.edits().preview("connect", ["cursor"])
    file.write_text("{}")
    (change,) = await home.edits().apply({edit.id: edit.revision})
    assert change.problem
    assert "has changed since" in change.problem.title
    assert file.read_text() == "{}"
    assert await home.edits().changes() == []


async def test_two_windows_at_once_make_one_change(home: ClientHome) -> None:
    home.write(CURSOR, SERVERS)
    edits = home.edits()
    (edit,) = await edits.preview("connect", ["cursor"])
    one, other = await asyncio.gather(*(edits.apply({edit.id: edit.revision}) for _ in range(2)))
    assert [bool(each[0].problem) for each in (one, other)] == [False, True]


async def test_one_file_that_fails_does_not_stop_the_others(home: ClientHome) -> None:
    cursor = home.write(CURSOR, "{broken")
    home.write(".kiro/settings/mcp.json", "{}")
    edits = await home.edits().preview("connect", ["cursor", "kiro"])
    assert edits[0].problem
    assert "cannot be read" in edits[0].problem.title
    assert edits[0].diff == ""
    changes = await home.edits().apply({edit.id: edit.revision for edit in edits})
    assert [bool(change.problem) for change in changes] == [True, False]
    assert cursor.read_text() == "{broken"


@pytest.mark.parametrize("edit", ["", "connect:nobody:/x", "connect:cursor:/etc/passwd", "what:cursor:/x", "disconnect:cursor:/x"])
async def test_an_edit_without_a_preview_is_not_made(home: ClientHome, edit: str) -> None:
    (change,) = await home.edits().apply({edit: ""})
    assert change.problem


async def test_files_under_version_control_need_an_approval_of_their_own(home: ClientHome) -> None:
    (home.root / "project" / ".git").mkdir(parents=True)
    home.projects = (str(home.root / "project"),)
    entry = {"mcpServers": {"tooltray": {"command": str(home.bridge)}}}
    home.write("project/.mcp.json", json.dumps(entry))
    home.write("project/.cursor/mcp.json", json.dumps(entry))
    edits = await home.edits().preview("disconnect")
    assert [(edit.client, edit.needs_own_yes) for edit in edits] == [("claude-code", True), ("cursor", True)]  # shared by two clients


async def test_links_stay_links_and_the_mode_is_kept(home: ClientHome) -> None:
    real = home.write("dotfiles/cursor.json", SERVERS)
    real.chmod(0o640)
    link = home.root / CURSOR
    link.parent.mkdir()
    link.symlink_to(real)
    (change,) = await _connect(home, "cursor")
    assert link.is_symlink()
    assert "tooltray" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    await home.edits().undo(change.id)
    assert link.is_symlink()
    assert real.read_text() == SERVERS


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
async def test_the_encoding_of_a_file_is_kept(home: ClientHome, encoding: str) -> None:
    content = SERVERS.replace("mine", "\u00e9").encode(encoding)
    file = home.write(CURSOR, content)
    (change,) = await _connect(home, "cursor")
    assert change.problem is None
    after = file.read_bytes()
    assert str(home.bridge) in after.decode(encoding)
    assert after[:2] == content[:2]
    await home.edits().undo(change.id)
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    "content",
    [
        '{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}',
        '{"mcpServers": {}, "mcpServers": {}}',
        '{"mcpServers": []}',
        "[]",
        b"\xff\xfe\xff",
        b"{" + b" " * (33 * 1024 * 1024) + b"}",
    ],
    ids=["servers twice", "holder twice", "a list", "no object", "no text", "33 MB"],
)
async def test_what_cannot_be_edited_safely_stays_as_it_is(home: ClientHome, content: str | bytes) -> None:
    file = home.write(CURSOR, content)
    before = file.read_bytes()
    (edit,) = await home.edits().preview("connect", ["cursor"])
    assert edit.problem
    assert edit.diff == ""
    (change,) = await home.edits().apply({edit.id: edit.revision})
    assert change.problem
    assert file.read_bytes() == before


async def test_a_folder_that_cannot_be_written_is_reported(home: ClientHome, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> str:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))  # root, as which the tests may run, may write everywhere

    file = home.write(CURSOR, SERVERS)
    monkeypatch.setattr(edited_files, "write_beside", refused)
    (change,) = await _connect(home, "cursor")
    assert change.problem
    assert "Permission denied" in str(change.problem)
    assert file.read_text() == SERVERS
    assert await home.edits().changes() == []


async def test_without_a_place_for_the_key_copies_are_readable_only_by_their_user(tmp_path: Path) -> None:
    home = ClientHome(tmp_path, backend="memory")
    file = home.write(CURSOR, SERVERS)
    (change,) = await _connect(home, "cursor")
    assert not change.is_encrypted
    (copy,) = home.home.client_changes.glob("*.backup")
    assert (copy.read_text(), stat.S_IMODE(copy.stat().st_mode)) == (SERVERS, 0o600)
    await home.edits().undo(change.id)
    assert file.read_text() == SERVERS
    await home.close()


async def test_when_the_key_is_gone_only_our_change_is_reversed(home: ClientHome) -> None:
    file = home.write(CURSOR, SERVERS)
    (change,) = await _connect(home, "cursor")
    home.keyring.values.clear()
    await home.edits().undo(change.id)
    assert file.read_text() == SERVERS


async def test_a_client_that_is_connected_needs_no_change(home: ClientHome) -> None:
    home.write(CURSOR, "{}")
    await _connect(home, "cursor")
    (change,) = await _connect(home, "cursor")
    assert (change.id, change.note) == ("", "nothing had to be changed")


async def test_where_nothing_was_ever_changed_nothing_is_swept(home: ClientHome) -> None:
    home.edits().start()
    await home.slept_once()
    assert not home.home.client_changes.exists()
