"""files_in_use.py: what is in use, and what would come of other readings."""

import os
from pathlib import Path

from tooltray.config.settings.file_server import FileEntry, FileReading
from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.events import EventBus
from tooltray.foundation.snapshots.files import FileEntrySnapshot
from tooltray.sources.project_files.files_in_use import FilesInUse, settings_snapshot
from tooltray.sources.project_files.trust_store import TrustStore

ENTRY = FileEntry("one", read_entry("one", {"command": "run"}), {"command": "run"})


def files(tmp_path: Path) -> FilesInUse:
    config = McpConfHelper(tmp_path / "settings.json", EventBus())
    return FilesInUse(config=config, store=TrustStore(tmp_path / "trust.json"), configs=["/etc/servers.json"], project="/p/all")


def test_files_of_folders_come_into_use_and_go_and_that_of_the_hubs_own_project_stays(tmp_path: Path) -> None:
    found = files(tmp_path)
    assert [file.path for file in found] == ["/etc/servers.json", os.path.join("/p/all", ".mcp.json")]
    assert [file.path for file in found.use(["/p/a", "/p/all"])] == [os.path.join("/p/a", ".mcp.json")]
    assert (found.of_folder("/p/a") is not None, found.of_folder("/p/b")) == (True, None)
    assert [file.is_for_all for file in found.project_files] == [True, False]
    assert found.use(["/p/a"]) == []
    found.use([])
    assert found.at(os.path.join("/p/a", ".mcp.json")) is None


def test_looking_what_other_readings_would_do_changes_nothing(tmp_path: Path) -> None:
    found = files(tmp_path)
    reading = FileReading("/etc/servers.json", "mcp-hub", "d", entries=(ENTRY,))
    assert list(found.servers_with({"/etc/servers.json": reading})) == ["one"]
    assert (found.servers(), found.readings, found.servers_with({})) == ({}, (), {})
    assert [snapshot.exists for snapshot in found.snapshots({})] == [False, False]


async def test_of_the_settings_a_broken_entry_is_shown_once_and_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    config = McpConfHelper(path, EventBus())
    entries = ['"a": {"command": "x"}', '"off": {"command": "x", "disable": true}', '"b": {"command": "y"}']
    path.write_text('{"version": 1, "mcpServers": {\n' + ",\n".join(entries) + "}}")
    await config.load()
    path.write_text(path.read_text().replace('"y"', "5"))
    await config.reload()
    assert settings_snapshot(config).entries == (
        FileEntrySnapshot("a", "a", "used"),
        FileEntrySnapshot("off", "off", "off"),
        FileEntrySnapshot("b", "b", "broken", 4),
    )
