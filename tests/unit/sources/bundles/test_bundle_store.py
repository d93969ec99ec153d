"""bundle_store.py: folders and records on the disk; which folders are needed."""

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
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import EventBus, ServerRemoved
from tooltray.foundation.tasks import TaskKeeper
from tooltray.sources.bundles.bundle_store import BundleFolders, BundleRecord, BundleStore, ServerChoices, folder_name, plain_values


def record(folder: str = "notes/1.0.0-abc", **more: object) -> BundleRecord:
    about = {"sha256": "abc", "name": "notes", "title": "Notes", "version": "1.0.0", "author": "me", "source": "/a", "installed_at": 1.0}
    return BundleRecord(folder=folder, **{**about, **more})  # type: ignore[arg-type]


def test_a_bundle_is_placed_kept_and_removed_without_a_trace(tmp_path: Path) -> None:
    store, archive = BundleStore(tmp_path / "bundles"), write_bundle(tmp_path / "a.mcpb")
    assert (store.records, store.folders()) == ((), [])
    one, two = record(servers={"s": ServerChoices({"a": ("x",), "b": 1.5})}), record("notes/2.0.0-def", sha256="def")
    assert store.place(one, archive, ["server/main.py"])
    assert not store.place(one, archive, [])
    store.place(two, archive, [])
    store.save(one)
    store.save(two)
    again = BundleStore(tmp_path / "bundles")
    assert again.records == (one, two)
    assert (again.of_server("s"), again.of_server("t")) == (one, None)
    assert sorted(again.folders()) == [store.path(one), store.path(two)]
    again.remove(store.path(one))
    assert again.records == (two,)
    again.remove(store.path(two))
    assert [path.name for path in (tmp_path / "bundles").iterdir()] == ["installed.json"]
    again.remove(store.path(two))


def test_a_server_is_forgotten_but_for_one_folder(tmp_path: Path) -> None:
    store = BundleStore(tmp_path)
    one, two = record(servers={"s": ServerChoices(), "t": ServerChoices()}), record("notes/2", servers={"s": ServerChoices()})
    store.save(one)
    store.save(two)
    store.drop_server("s", besides="notes/2")
    assert [set(each.servers) for each in store.records] == [{"t"}, {"s"}]
    store.drop_server("s", besides="notes/2")
    store.drop_server("s")
    assert [set(each.servers) for each in store.records] == [{"t"}, set()]


def test_what_interrupted_work_has_left_goes(tmp_path: Path) -> None:
    (tmp_path / ".unpacking-1" / "a").mkdir(parents=True)
    (tmp_path / ".reading-1").touch()
    (tmp_path / "notes" / "1").mkdir(parents=True)
    store = BundleStore(tmp_path)
    store.tidy()
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]
    BundleStore(tmp_path / "none").tidy()


@pytest.mark.expected_warnings("set aside")
@pytest.mark.parametrize("content", ["{", "[]", '{"bundles": [{"folder": 1}]}'])
def test_a_list_that_cannot_be_read_is_set_aside(tmp_path: Path, content: str) -> None:
    (tmp_path / "installed.json").write_text(content)
    assert BundleStore(tmp_path).records == ()
    assert any(path.name.startswith("installed.json.broken-") for path in tmp_path.iterdir())


def test_a_list_that_cannot_be_written_stays_as_it_was(tmp_path: Path) -> None:
    store = BundleStore(tmp_path)
    store.save(record())
    with full_disk(16), pytest.raises(TooltrayError, match="could not be written"):
        store.save(record("other/1"))
    assert len(store.records) == len(BundleStore(tmp_path).records) == 1


def test_a_folder_s_name_is_one_that_every_system_takes() -> None:
    assert folder_name("My Server!", "1.0.0", "abcdef0123456789") == "my-server/1.0.0-abcdef012345"
    assert folder_name("../..", "", "a") == "bundle/0-a"
    assert folder_name("CON", "1", "a") == "bundle-con/1-a"
    assert folder_name("筆記", "1", "a") == "bundle/1-a"


def test_lists_of_values_are_kept_as_tuples() -> None:
    assert plain_values({"a": ["x"], "b": "y", "c": 1.0, "d": True}) == {"a": ("x",), "b": "y", "c": 1.0, "d": True}


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
        self.store.save(self.record)
        self.folders = BundleFolders(
            store=self.store,
            config=self.config,
            configs=lambda: self.configs,
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


def test_the_choices_for_a_renamed_server_are_those_of_its_new_name(tmp_path: Path) -> None:
    store = BundleStore(tmp_path)
    store.save(record(servers={"s": ServerChoices(), "t": ServerChoices()}))
    store.rename_server("s", "new")
    assert store.of_server("s") is None
    assert [set(each.servers) for each in BundleStore(tmp_path).records] == [{"new", "t"}]
    before = (tmp_path / "installed.json").stat().st_mtime_ns
    store.rename_server("s", "new")
    assert (tmp_path / "installed.json").stat().st_mtime_ns == before
