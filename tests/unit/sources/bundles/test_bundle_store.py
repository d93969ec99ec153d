"""bundle_store.py: folders and records on the disk."""

from pathlib import Path

import pytest
from tests.fakes.bundles import write_bundle
from tests.fakes.full_disk import full_disk

from tooltray.foundation.errors import TooltrayError
from tooltray.sources.bundles.bundle_store import BundleRecord, BundleStore, ServerChoices, folder_name, plain_values


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
    store.keep(one)
    store.keep(two)
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
    store.keep(one)
    store.keep(two)
    store.forget_server("s", besides="notes/2")
    assert [set(each.servers) for each in store.records] == [{"t"}, {"s"}]
    store.forget_server("s", besides="notes/2")
    store.forget_server("s")
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
    store.keep(record())
    with full_disk(16), pytest.raises(TooltrayError, match="could not be written"):
        store.keep(record("other/1"))
    assert len(store.records) == len(BundleStore(tmp_path).records) == 1


def test_a_folder_s_name_is_one_that_every_system_takes() -> None:
    assert folder_name("My Server!", "1.0.0", "abcdef0123456789") == "my-server/1.0.0-abcdef012345"
    assert folder_name("../..", "", "a") == "bundle/0-a"
    assert folder_name("CON", "1", "a") == "bundle-con/1-a"
    assert folder_name("筆記", "1", "a") == "bundle/1-a"


def test_lists_of_values_are_kept_as_tuples() -> None:
    assert plain_values({"a": ["x"], "b": "y", "c": 1.0, "d": True}) == {"a": ("x",), "b": "y", "c": 1.0, "d": True}
