"""bundle_folders.py: a folder stays as long as something needs it, and goes then."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.bundles import write_bundle
from tests.fakes.file_servers import file_server
from tests.fakes.full_disk import full_disk

from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.events import EventBus, ServerRemoved
from tooltray.foundation.tasks import TaskKeeper
from tooltray.sources.bundles.bundle_folders import BundleFolders
from tooltray.sources.bundles.bundle_store import BundleRecord, BundleStore, ServerChoices


class Place:
    """One bundle, placed and kept, and all that may need its folder.

    Attributes:
        configs: with which servers run.
        proposed: entries that wait for a yes.
    """

    def __init__(self, root: Path) -> None:
        self.bus, self.keeper, self.store = EventBus(), TaskKeeper(), BundleStore(root / "bundles")
        self.settings = root / "settings.json"
        self.config = McpConfHelper(self.settings, self.bus)
        self.configs: tuple[MCPServerConfig, ...] = ()
        self.proposed: dict[str, Any] = {}
        self.record = BundleRecord("notes/1", "f00d", "notes", "Notes", "1", "me", "/a", 1.0, servers={"s": ServerChoices()})
        self.store.place(self.record, write_bundle(root / "a.mcpb"), [])
        self.store.keep(self.record)
        self.folders = BundleFolders(
            store=self.store,
            config=self.config,
            servers=self,
            proposed=lambda: self.proposed,
            bus=self.bus,
            spawn=self.keeper.spawn,
        )

    @property
    def folder(self) -> Path:
        return self.store.path(self.record)

    @property
    def entry(self) -> dict[str, Any]:
        return {"command": str(self.folder / "run")}

    async def write(self, **servers: Any) -> None:
        self.settings.write_text(json.dumps({"version": 1, "mcpServers": servers}))
        await self.config.load()


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    made = Place(tmp_path)
    await made.write()
    yield made
    await made.keeper.close()


async def test_at_the_start_a_folder_goes_that_no_entry_names(place: Place) -> None:
    await place.write(s=place.entry)
    await place.folders.tidy()
    assert place.folder.exists()
    await place.write()
    await place.folders.tidy()
    assert not place.folder.exists()
    assert place.store.records == ()


async def test_while_something_is_wrong_with_the_settings_no_folder_goes(place: Place) -> None:
    await place.write(broken=5)
    await place.folders.tidy()
    assert place.folder.exists()


async def test_an_entry_that_names_the_bundle_by_its_sum_needs_its_folder(place: Place) -> None:
    await place.write(s={"command": "x", "disable": True, "origin": {"kind": "bundle", "sha256": "f00d"}})
    await place.folders.retire([place.folder])
    assert place.folder.exists()


async def test_entries_of_other_files_and_those_that_wait_need_their_folder_too(place: Place) -> None:
    place.config.set_file_servers({"s": file_server(str(place.folder / "run"))})
    await place.folders.retire([place.folder])
    assert place.folder.exists()
    place.config.set_file_servers({})
    place.proposed = {"s": place.entry}
    await place.folders.retire([])
    assert place.folder.exists()
    place.proposed = {}
    await place.folders.retire([])
    assert not place.folder.exists()


async def test_a_folder_goes_as_soon_as_nothing_runs_from_it(place: Place) -> None:
    place.configs = (read_entry("s", place.entry),)
    await place.folders.forget("s")
    assert place.folder.exists()
    place.configs = ()
    place.bus.publish(ServerRemoved("s"))
    await place.folders.retire([])  # behind what the news has begun
    assert not place.folder.exists()


async def test_a_server_that_is_of_no_bundle_is_forgotten_without_a_trace(place: Place) -> None:
    await place.folders.forget("other")
    assert (place.folder.exists(), place.store.records) == (True, (place.record,))


@pytest.mark.expected_warnings("could not be written")
async def test_forgetting_never_fails(place: Place) -> None:
    await place.write(s=place.entry)
    with full_disk(50):
        await place.folders.forget("s")
    assert (place.folder.exists(), [set(each.servers) for each in place.store.records]) == (True, [{"s"}])
