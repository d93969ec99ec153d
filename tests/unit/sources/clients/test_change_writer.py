"""change_writer.py: files are changed in one step or by the client itself, and changes are undone."""

import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.fakes.ai_client_home import ClientHome
from tests.fakes.client_files import KINDS, document_of
from tests.fakes.full_disk import full_disk

from tooltray.foundation.errors import Conflict, TooltrayError
from tooltray.foundation.files.edited_files import EditedFiles
from tooltray.foundation.files.json_places import CannotRead
from tooltray.foundation.files.json_text import digest_of
from tooltray.foundation.files.member_change import MISSING
from tooltray.foundation.snapshots.ai_clients import ClientChange
from tooltray.sources.clients.change_store import ChangeRecord, ChangeStore, EntryRecord
from tooltray.sources.clients.change_writer import ChangeWriter, filled_in, reversed_text, run
from tooltray.sources.clients.file_edits import FileEdit, connecting, content_of, disconnecting, removing

BEFORE = '{"mcpServers": {"a": {"command": "x"}}}'


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[ClientHome]:
    made = ClientHome(tmp_path)
    yield made
    await made.close()


@pytest.fixture
def store(home: ClientHome) -> ChangeStore:
    return ChangeStore(home.home.client_changes)


def _connect(home: ClientHome, client: str = "cursor") -> FileEdit:
    return next(connecting(KINDS[client], home.look_now()))


def _disconnect(home: ClientHome, client: str = "cursor") -> FileEdit:
    return next(disconnecting(KINDS[client], home.look_now()))


class Killed(BaseException):
    """The process ends here."""


def _files_that(before: Callable[[], None] = lambda: None, after: Callable[[], None] = lambda: None) -> EditedFiles:
    class Files(EditedFiles):
        def replace(self, path: Path, data: bytes, *, based_on: str, new_mode: int = 0o600) -> None:
            before()
            super().replace(path, data, based_on=based_on, new_mode=new_mode)
            after()

    return Files(pause=lambda seconds: None)


def _kill() -> None:
    raise Killed


def test_killed_before_the_file_was_written_no_change_is_listed(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    with pytest.raises(Killed):
        ChangeWriter(store, _files_that(before=_kill)).make(_connect(home), None)
    assert file.read_text() == BEFORE
    assert ChangeWriter(store).changes() == []


def test_killed_after_the_file_was_written_the_change_is_listed_and_undone(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    with pytest.raises(Killed):
        ChangeWriter(store, _files_that(after=_kill)).make(_connect(home), None)
    ((record, undo),) = ChangeWriter(store).changes()
    assert undo == "exact"
    with pytest.raises(Killed):
        ChangeWriter(store, _files_that(before=_kill)).undo(record, None)
    assert [undo for _, undo in ChangeWriter(store).changes()] == ["none", "exact"]
    ChangeWriter(store).undo(record, None)
    assert file.read_text() == BEFORE


def test_a_full_disk_changes_nothing(home: ClientHome, store: ChangeStore) -> None:
    before = json.dumps({"mcpServers": {}, "padding": "x" * 20_000})
    file = home.write(CURSOR, before)
    with full_disk(), pytest.raises(TooltrayError, match="copy from before the change cannot be written"):
        ChangeWriter(store).make(_connect(home), None)
    assert file.read_text() == before
    assert store.all() == []
    assert list(home.home.client_changes.glob("*.backup")) == []


def test_a_file_that_cannot_be_written_leaves_no_record(home: ClientHome, store: ChangeStore) -> None:
    def refuse() -> None:
        raise PermissionError(13, "Permission denied")

    edit = _connect(home)
    with pytest.raises(TooltrayError, match="Permission denied"):
        ChangeWriter(store, _files_that(before=refuse)).make(edit, None)
    assert store.all() == []
    assert not (home.root / ".cursor").exists()  # the folder that was made for it is gone again


def test_a_save_between_reading_and_writing_wins(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    with pytest.raises(Conflict, match="has changed since"):
        ChangeWriter(store, _files_that(before=lambda: file.write_text("{}") and None)).make(_connect(home), None)
    assert file.read_text() == "{}"
    assert store.all() == []


def test_a_save_between_reading_and_undoing_wins(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    record = ChangeWriter(store).make(_connect(home), None)
    with pytest.raises(Conflict):
        ChangeWriter(store, _files_that(before=lambda: file.write_text("{}") and None)).undo(record, None)
    assert file.read_text() == "{}"
    assert [each.state for each in store.all()] == ["made"]


def test_a_file_that_was_removed_counts_as_undone(home: ClientHome, store: ChangeStore) -> None:
    record = ChangeWriter(store).make(_connect(home), None)
    (home.root / CURSOR).unlink()
    ChangeWriter(store).undo(record, None)
    assert store.get(record.id).state == "undone"
    assert not (home.root / CURSOR).exists()


def test_without_the_copy_what_was_taken_out_cannot_be_put_back(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    (entry,) = home.look_now().files(KINDS["cursor"])[0].entries
    record = ChangeWriter(store).make(next(removing([entry])), None)
    next(home.home.client_changes.glob("*.backup")).unlink()
    ((_, undo),) = ChangeWriter(store).changes()
    assert undo == "none"
    with pytest.raises(TooltrayError, match="cannot be read"):
        ChangeWriter(store).undo(record, None)
    assert json.loads(file.read_text()) == {"mcpServers": {}}


def test_an_unreadable_file_is_not_undone(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    record = ChangeWriter(store).make(_connect(home), None)
    file.write_text("{")
    ((_, undo),) = ChangeWriter(store).changes()
    assert undo == "none"
    with pytest.raises(TooltrayError, match="cannot be read"):
        ChangeWriter(store).undo(record, None)


def test_a_yaml_list_that_was_made_goes_with_its_item(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(".continue/config.yaml", "name: mine\n")
    record = ChangeWriter(store).make(_connect(home, "continue"), None)
    file.write_text(file.read_text() + "# later\n")
    ChangeWriter(store).undo(record, None)
    assert file.read_text() == "name: mine\n# later\n"


def test_what_the_clients_own_command_did_is_recorded_as_it_is(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(".claude.json", "{}")
    edit = _connect(home, "claude-code")
    writer = ChangeWriter(store)
    file.write_text(json.dumps(json.loads(edit.text) | {"theirs": 1}))
    record = writer.confirm(writer.record(edit, None))
    assert record is not None
    assert writer.changes()[0][1] == "exact"
    writer.undo(record, None)
    assert file.read_text() == "{}"


@pytest.mark.parametrize("after", ["{}", '{"theirs": 1}', "{"])
def test_what_the_clients_own_command_did_not_do_is_forgotten(home: ClientHome, store: ChangeStore, after: str) -> None:
    file = home.write(".claude.json", "{}")
    edit = _connect(home, "claude-code")
    writer = ChangeWriter(store)
    record = writer.record(edit, None)
    file.write_text(after)
    assert writer.confirm(record) is None
    assert store.all() == []


def test_a_toml_table_that_was_made_goes_and_what_came_since_stays(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(".codex/config.toml", "a = 1\n")
    record = ChangeWriter(store).make(_connect(home, "codex"), None)
    file.write_text("b = 2\n" + file.read_text())
    ChangeWriter(store).undo(record, None)
    assert file.read_text() == "b = 2\na = 1\n"


def test_a_toml_server_is_taken_out_and_put_back_as_it_was(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(".codex/config.toml", before := "[mcp_servers.a]\ncommand = 'x'\nsince = 1979-05-27\n")
    (entry,) = home.look_now().files(KINDS["codex"])[0].entries
    edit = next(removing([entry]))
    assert edit.problem is None
    record = ChangeWriter(store).make(edit, None)
    file.write_text("b = 2\n")
    ChangeWriter(store).undo(record, None)
    assert file.read_text() == 'b = 2\n\n[mcp_servers.a]\ncommand = "x"\nsince = 1979-05-27\n'
    assert before


OURS, OTHER = {"command": "/opt/tooltray-bridge", "args": []}, {"command": "x"}
PLACE = ("mcpServers", "tooltray")
CURSOR = ".cursor/mcp.json"


def record(**entry: Any) -> ChangeRecord:
    return ChangeRecord("cursor", "connect", "/x", "json", entries=(EntryRecord(PLACE, **entry),))


def undone(folder: Path, change: ChangeRecord, now: Any, before: Any = None) -> Any:
    document = document_of(KINDS["cursor"], folder, now)
    return content_of(reversed_text(change, document, before, None), "json")


NEW = record(written=digest_of(OURS), is_new=True)
MADE = record(written=digest_of(OURS), is_new=True, made=("mcpServers",))
MENDED, REMOVED = record(written=digest_of(OURS)), record()


def test_a_new_entry_goes_and_what_was_made_for_it_unless_more_is_in_that(tmp_path: Path) -> None:
    assert undone(tmp_path, NEW, {"mcpServers": {"tooltray": OURS}}) == {"mcpServers": {}}
    assert undone(tmp_path, MADE, {"mcpServers": {"tooltray": OURS}, "a": 1}) == {"a": 1}
    assert undone(tmp_path, MADE, {"mcpServers": {"tooltray": OURS, "o": OTHER}}) == {"mcpServers": {"o": OTHER}}


@pytest.mark.parametrize(
    ("made", "left"), [(("a",), {"x": 1}), (("a", "b"), {"a": {}, "x": 1}), ((), {"a": {"b": {}}, "x": 1})], ids=["all", "inner", "none"]
)
def test_of_the_holders_those_go_that_were_made(tmp_path: Path, made: tuple[str, ...], left: Any) -> None:
    change = replace(NEW, entries=(EntryRecord(("a", "b", "tooltray"), written=digest_of(OURS), is_new=True, made=made),))
    assert undone(tmp_path, change, {"a": {"b": {"tooltray": OURS}}, "x": 1}) == left


def test_an_entry_that_the_client_has_added_to_is_ours_still(tmp_path: Path) -> None:
    assert undone(tmp_path, NEW, {"mcpServers": {"tooltray": {**OURS, "disabled": True}}}) == {"mcpServers": {}}


def test_an_entry_that_is_gone_already_needs_nothing(tmp_path: Path) -> None:
    assert undone(tmp_path, NEW, {"mcpServers": {"o": OTHER}}) == {"mcpServers": {"o": OTHER}}


def test_a_server_that_took_the_place_stays(tmp_path: Path) -> None:
    for change, said in (
        (NEW, "' has changed meanwhile"),
        (MENDED, "' has changed meanwhile"),
        (REMOVED, "a new entry 'tooltray' was added"),
    ):
        with pytest.raises(CannotRead) as raised:
            undone(tmp_path, change, {"mcpServers": {"tooltray": OTHER}}, {"mcpServers": {"tooltray": OURS}})
        assert said in raised.value.reason


def test_what_was_there_before_comes_back(tmp_path: Path) -> None:
    before = {"mcpServers": {"tooltray": {**OURS, "env": {"A": "b"}}}}
    assert undone(tmp_path, MENDED, {"mcpServers": {"tooltray": OURS}}, before) == before
    assert undone(tmp_path, REMOVED, {"mcpServers": {"o": OTHER}}, before) == {"mcpServers": {"o": OTHER, **before["mcpServers"]}}


def test_what_is_unknown_does_not_come_back(tmp_path: Path) -> None:
    for change, now in ((MENDED, {"mcpServers": {"tooltray": OURS}}), (REMOVED, {"mcpServers": {}})):
        with pytest.raises(CannotRead) as raised:
            undone(tmp_path, change, now)
        assert "the earlier content of 'tooltray' is unknown" in raised.value.reason


def test_the_last_entry_of_a_change_is_reversed_first(tmp_path: Path) -> None:
    both = replace(MADE, entries=(*MADE.entries, EntryRecord(("mcpServers", "b"), written=digest_of(OURS), is_new=True)))
    assert undone(tmp_path, both, {"mcpServers": {"tooltray": OURS, "b": OURS}, "a": 1}) == {"a": 1}


async def shown(home: ClientHome) -> ClientChange:
    return (await home.edits().changes())[0]


async def test_how_a_change_can_be_undone_depends_on_its_file(home: ClientHome) -> None:
    file = home.write(CURSOR, "{}")
    (edit,) = await home.edits().preview("connect", ["cursor"])
    await home.edits().apply({edit.id: edit.revision})
    connected = file.read_text()
    assert (await shown(home)).undo == "exact"
    file.write_text(connected + "\n")
    assert (await shown(home)).undo == "entries"
    file.write_text('{"other": 1}')
    assert (await shown(home)).undo == "none"  # there is nothing of it left
    file.write_text("{}")
    assert await home.edits().changes() == []  # it is as if the change had never been made
    file.unlink()
    file.mkdir()
    assert (await shown(home)).undo == "none"
    file.rmdir()
    file.write_text(connected)
    for copy in home.home.client_changes.glob("*.backup"):
        copy.unlink()
    assert (await shown(home)).undo == "entries"  # without the old bytes the entry alone goes


def test_what_was_taken_out_does_not_replace_what_came_since(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    ChangeWriter(store).make(_connect(home), None)
    record = ChangeWriter(store).make(_disconnect(home), None)
    file.write_text(other := '{"mcpServers": {"tooltray": {"command": "theirs"}}}')
    with pytest.raises(Conflict, match="a new entry '"):
        ChangeWriter(store).undo(record, None)
    assert file.read_text() == other


CLAUDE = """#!{python}
import json, os, sys
path = os.environ["HOME"] + "/.claude.json"
document = json.load(open(path))
if sys.argv[2] == "add-json":
    document.setdefault("mcpServers", {{}})[sys.argv[5]] = json.loads(sys.argv[6])
else:
    del document["mcpServers"][sys.argv[5]]
json.dump(document | {{"words": sys.argv[1:5]}}, open(path, "w"), indent=2)
"""
STARTED = '{"numStartups": 1}'


@pytest.fixture
async def claude_home(tmp_path: Path) -> AsyncIterator[ClientHome]:
    made = ClientHome(tmp_path)
    made.path = str(tmp_path / "programs")
    made.runs("claude")
    yield made
    await made.close()


def _claude(claude_home: ClientHome, script: str) -> str:
    program = claude_home.write("programs/claude", script.format(python=sys.executable))
    program.chmod(0o755)
    return str(program)


@pytest.mark.posix  # the program is a script
async def test_a_client_that_runs_is_asked_to_write_its_own_file(claude_home: ClientHome) -> None:
    program, file = _claude(claude_home, CLAUDE), claude_home.write(".claude.json", STARTED)
    (edit,) = await claude_home.edits().preview("connect", ["claude-code"])
    entry = {"type": "stdio", "command": str(claude_home.bridge), "args": []}
    assert edit.command == (program, "mcp", "add-json", "-s", "user", "tooltray", json.dumps(entry))
    (change,) = await claude_home.edits().apply({edit.id: edit.revision})
    document = json.loads(file.read_text())
    assert (document["words"], document["mcpServers"]) == (["mcp", "add-json", "-s", "user"], {"tooltray": entry})
    (edit,) = await claude_home.edits().preview("disconnect", ["claude-code"])
    assert edit.command[1:] == ("mcp", "remove", "-s", "user", "tooltray")
    (gone,) = await claude_home.edits().apply({edit.id: edit.revision})
    assert json.loads(file.read_text())["mcpServers"] == {}
    await claude_home.edits().undo(gone.id)
    await claude_home.edits().undo(change.id)
    assert file.read_text() == STARTED


@pytest.mark.posix  # the program is a script
@pytest.mark.parametrize("script", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\nexit 0\n", "no program", "#!/bin/sh\nkill -9 $$\n"])
async def test_where_the_command_does_not_do_it_the_file_is_written(claude_home: ClientHome, script: str) -> None:
    _claude(claude_home, script)
    file = claude_home.write(".claude.json", STARTED)
    (edit,) = await claude_home.edits().preview("connect", ["claude-code"])
    assert edit.command
    (change,) = await claude_home.edits().apply({edit.id: edit.revision})
    assert change.problem is None
    assert json.loads(file.read_text())["mcpServers"]["tooltray"]["command"] == str(claude_home.bridge)
    await claude_home.edits().undo(change.id)
    assert file.read_text() == STARTED


@pytest.mark.posix  # the program is a script
async def test_a_command_that_wrote_something_else_is_a_conflict(claude_home: ClientHome) -> None:
    _claude(claude_home, '#!/bin/sh\necho "{{}}" > "$HOME/.claude.json"\n')
    claude_home.write(".claude.json", STARTED)
    (edit,) = await claude_home.edits().preview("connect", ["claude-code"])
    (change,) = await claude_home.edits().apply({edit.id: edit.revision})
    assert change.problem
    assert "has changed since" in change.problem.title
    assert await claude_home.edits().changes() == []


@pytest.mark.posix  # the program is a script
async def test_without_its_program_or_if_it_does_not_run_the_file_is_written(claude_home: ClientHome) -> None:
    claude_home.write(".claude.json", STARTED)
    (edit,) = await claude_home.edits().preview("connect", ["claude-code"])
    assert (edit.command, edit.diff != "") == ((), True)
    _claude(claude_home, CLAUDE)
    os.unlink(claude_home.proc / "4242" / "cmdline")
    (edit,) = await claude_home.edits().preview("connect", ["claude-code"])
    assert edit.command == ()


@pytest.mark.posix  # the program is a script
async def test_a_list_of_a_project_and_an_outdated_entry_are_changed_in_the_file(claude_home: ClientHome) -> None:
    _claude(claude_home, CLAUDE)
    entry = {"command": "/gone/tooltray-bridge"}
    claude_home.write(".claude.json", json.dumps({"projects": {"/p": {"mcpServers": {"tooltray": entry}}}}))
    (edit,) = await claude_home.edits().preview("disconnect", ["claude-code"])
    assert (edit.command, edit.diff != "") == ((), True)
    claude_home.write(".claude.json", json.dumps({"mcpServers": {"tooltray": entry}}))
    (edit,) = await claude_home.edits().preview("connect", ["claude-code"])
    assert (edit.action, edit.command) == ("mend", ())


@pytest.mark.posix  # the program is a script
async def test_a_command_gets_no_shell_and_no_more_time_than_it_should(claude_home: ClientHome, tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"]}
    assert await run(["/bin/sh", "-c", "test \"$1\" = 'a;b $HOME'", "sh", "a;b $HOME"], environ, cwd=str(tmp_path))
    assert not await run(["/bin/sh", "-c", "sleep 60"], environ, cwd=str(tmp_path), timeout_s=0.01)
    assert not await run([str(tmp_path / "nothing")], environ, cwd=str(tmp_path))


def test_words_of_every_command_are_filled_in() -> None:
    entry = {"command": "/b", "args": ["--x"]}
    assert filled_in(["add", "{name}", "--", "{words}"], "t", entry) == ["add", "t", "--", "/b", "--x"]
    assert filled_in(["--add-mcp", "{named_json}"], "t", entry) == ["--add-mcp", json.dumps({"name": "t", **entry})]
    assert filled_in(["remove", "{name}"], "t", MISSING) == ["remove", "t"]
