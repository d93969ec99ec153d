"""change_undo.py: what undoing would make of a file that has changed since."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.fakes.ai_client_home import ClientHome
from tests.fakes.client_files import KINDS, document_of

from tooltray.foundation.files.json_places import CannotRead
from tooltray.foundation.files.json_text import digest_of
from tooltray.foundation.snapshots.ai_clients import ClientChange
from tooltray.sources.clients.change_store import ChangeRecord, EntryRecord
from tooltray.sources.clients.change_undo import reversed_text
from tooltray.sources.clients.entry_changes import content_of

OURS, OTHER = {"command": "/opt/tooltray-bridge", "args": []}, {"command": "x"}
PLACE = ("mcpServers", "tooltray")
CURSOR = ".cursor/mcp.json"


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[ClientHome]:
    made = ClientHome(tmp_path)
    yield made
    await made.close()


def record(**entry: Any) -> ChangeRecord:
    return ChangeRecord("1", "cursor", "connect", "/x", "json", 1.0, entries=(EntryRecord(PLACE, **entry),), state="made")


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


def test_a_document_stays_one_when_all_that_was_in_it_is_undone(tmp_path: Path) -> None:
    assert undone(tmp_path, MADE, {"mcpServers": {"tooltray": OURS}}) == {}


def test_an_entry_that_the_client_has_added_to_is_ours_still(tmp_path: Path) -> None:
    assert undone(tmp_path, NEW, {"mcpServers": {"tooltray": {**OURS, "disabled": True}}}) == {"mcpServers": {}}


def test_an_entry_that_is_gone_already_needs_nothing(tmp_path: Path) -> None:
    assert undone(tmp_path, NEW, {"mcpServers": {"o": OTHER}}) == {"mcpServers": {"o": OTHER}}


def test_a_server_that_stands_there_by_now_stays(tmp_path: Path) -> None:
    for change, said in ((NEW, "is another server by now"), (MENDED, "is another server by now"), (REMOVED, "another entry 'tooltray'")):
        with pytest.raises(CannotRead) as raised:
            undone(tmp_path, change, {"mcpServers": {"tooltray": OTHER}}, {"mcpServers": {"tooltray": OURS}})
        assert said in raised.value.reason


def test_what_was_there_before_comes_back(tmp_path: Path) -> None:
    before = {"mcpServers": {"tooltray": {**OURS, "env": {"A": "b"}}}}
    assert undone(tmp_path, MENDED, {"mcpServers": {"tooltray": OURS}}, before) == before
    assert undone(tmp_path, REMOVED, {"mcpServers": {"o": OTHER}}, before) == {"mcpServers": {"o": OTHER, **before["mcpServers"]}}


def test_what_nobody_knows_any_more_does_not_come_back(tmp_path: Path) -> None:
    for change, now in ((MENDED, {"mcpServers": {"tooltray": OURS}}), (REMOVED, {"mcpServers": {}})):
        with pytest.raises(CannotRead) as raised:
            undone(tmp_path, change, now)
        assert "nobody knows what 'tooltray' was before" in raised.value.reason


def test_the_last_entry_of_a_change_is_reversed_first(tmp_path: Path) -> None:
    both = replace(MADE, entries=(*MADE.entries, EntryRecord(("mcpServers", "b"), written=digest_of(OURS), is_new=True)))
    assert undone(tmp_path, both, {"mcpServers": {"tooltray": OURS, "b": OURS}, "a": 1}) == {"a": 1}


async def shown(home: ClientHome) -> ClientChange:
    return (await home.edits().changes())[0]


async def test_how_a_change_can_be_undone_is_said_by_what_is_in_its_file(home: ClientHome) -> None:
    file = home.write(CURSOR, "{}")
    (edit,) = await home.edits().preview_connect(["cursor"])
    await home.edits().apply({edit.id: edit.revision})
    connected = file.read_text()
    assert (await shown(home)).undo == "exact"
    file.write_text(connected + "\n")
    assert (await shown(home)).undo == "entries"
    file.write_text("{}")
    assert (await shown(home)).undo == "none"  # there is nothing of it left
    file.unlink()
    file.mkdir()
    assert (await shown(home)).undo == "none"
    file.rmdir()
    file.write_text(connected)
    for copy in home.home.client_changes.glob("*.backup"):
        copy.unlink()
    assert (await shown(home)).undo == "entries"  # without the old bytes the entry alone goes
