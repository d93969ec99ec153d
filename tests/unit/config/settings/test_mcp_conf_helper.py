import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.conftest import Heard, put

from tooltray.config.settings.mcp_conf_helper import EntriesEdited, McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.config.settings.settings_edits import secret_backend
from tooltray.foundation.errors import Conflict, TooltrayError
from tooltray.foundation.events import ConfigChanged, EventBus, ProblemReported

FULL = {"version": 1, "mcpServers": {"a": {"command": "x", "url": None, "note": 1}, "bad": {"note": 2}}, "defaultServers": ["a", "bad"]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "settings.json"
    put(path, FULL)
    return path


def on_disk(path: Path) -> Any:
    return json.loads(path.read_bytes())


def put_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


async def test_before_loading_there_are_defaults(path: Path) -> None:
    conf = McpConfHelper(path, EventBus())
    assert (conf.settings.mcp_servers, conf.entries, conf.problems) == ({}, {}, ())


async def test_loading_gives_what_can_be_used_and_what_cannot(conf: McpConfHelper, heard: Heard) -> None:
    assert conf.settings.mcp_servers == {"a": MCPServerConfig(command="x", note=1)}
    assert conf.entries == {"a": {"command": "x", "url": None, "note": 1}}
    assert [problem.title for problem in conf.problems] == ["The entry of server 'bad' cannot be used"]
    assert heard == []


async def test_entries_are_the_callers_own_copy(conf: McpConfHelper) -> None:
    conf.entries["a"]["command"] = "changed"
    assert conf.entries["a"]["command"] == "x"


async def test_a_server_is_added_as_it_was_written_and_announced(conf: McpConfHelper, path: Path, heard: Heard) -> None:
    entry = {"url": "https://h", "headers": {"A": "1"}, "note": [1.5]}
    await conf.set_server("new", entry, is_default=True)
    assert on_disk(path)["mcpServers"] == FULL["mcpServers"] | {"new": entry}
    assert conf.settings.mcp_servers["new"].base_url == "https://h"
    assert conf.settings.default_servers == ("a", "bad", "new")
    assert heard == [ConfigChanged(conf.entries, ("a", "bad", "new"), True)]


async def test_a_config_made_in_python_can_be_added(conf: McpConfHelper, path: Path) -> None:
    await conf.set_server("new", MCPServerConfig(command="y", args=("1",)))
    assert on_disk(path)["mcpServers"]["new"] == {"command": "y", "args": ["1"]}
    assert conf.settings.default_servers == ("a", "bad")


async def test_replacing_replaces_the_whole_entry_and_can_end_being_a_default(conf: McpConfHelper, path: Path) -> None:
    await conf.set_server("a", {"command": "y"}, is_default=False)
    assert on_disk(path)["mcpServers"]["a"] == {"command": "y"}
    assert conf.settings.default_servers == ("bad",)


async def test_changed_and_removed_entries_are_named_before_the_change_is_announced(path: Path) -> None:
    bus, told = EventBus(), list[object]()
    bus.subscribe(EntriesEdited, lambda event: told.append(event.servers))
    bus.subscribe(ConfigChanged, lambda event: told.append(sorted(event.mcp_servers)))
    conf = McpConfHelper(path, bus)
    await conf.load()
    await conf.set_server("new", {"command": "y"})
    await conf.set_server("a", {"command": "z"})
    await conf.remove_server("new")
    assert told == [["a", "new"], ("a",), ["a", "new"], ("new",), ["a"]]


async def test_a_callers_later_changes_to_its_mapping_do_nothing(conf: McpConfHelper) -> None:
    entry = {"command": "y", "args": ["1"]}
    await conf.set_server("new", entry)
    entry["args"].append("2")  # type: ignore[attr-defined]
    assert conf.entries["new"]["args"] == ["1"]


@pytest.mark.parametrize(("name", "entry"), [("hub", {"command": "x"}), ("a/b", {"command": "x"}), ("new", {}), ("new", {"command": 1})])
async def test_what_cannot_be_used_is_not_added(conf: McpConfHelper, path: Path, heard: Heard, name: str, entry: dict[str, Any]) -> None:
    with pytest.raises(TooltrayError):
        await conf.set_server(name, entry)
    assert on_disk(path) == FULL
    assert heard == []


async def test_both_spellings_of_a_field_are_changed_together(conf: McpConfHelper) -> None:
    await conf.set_server("b", {"url": "https://h", "baseUrl": "https://h"})
    await conf.change_server("b", base_url="https://i")
    assert conf.entries["b"] == {"url": "https://i", "baseUrl": "https://i"}


async def test_a_change_to_a_bad_value_is_refused(conf: McpConfHelper, path: Path) -> None:
    with pytest.raises(TooltrayError, match="callTimeout: must be more than 0"):
        await conf.change_server("a", call_timeout=-1)
    assert on_disk(path) == FULL


async def test_a_skipped_entry_can_be_put_right(conf: McpConfHelper) -> None:
    await conf.change_server("bad", command="y")
    assert conf.entries["bad"] == {"note": 2, "command": "y"}
    assert conf.problems == ()


async def test_an_entry_that_is_no_object_can_be_put_right(conf: McpConfHelper, path: Path) -> None:
    put(path, {"version": 1, "mcpServers": {"a": 3}})
    with pytest.raises(TooltrayError, match="a: must be an object"):
        await conf.change_server("a", command="y")
    await conf.set_server("a", {"command": "y"})
    assert conf.entries == {"a": {"command": "y"}}


async def test_a_field_that_does_not_exist_is_a_mistake_of_the_caller(conf: McpConfHelper) -> None:
    with pytest.raises(TypeError, match="has no commnad"):
        await conf.change_server("a", commnad="y")


async def test_a_server_is_removed_with_its_place_among_the_defaults(conf: McpConfHelper, path: Path) -> None:
    await conf.remove_server("bad")
    assert on_disk(path) == {"version": 1, "mcpServers": {"a": {"command": "x", "url": None, "note": 1}}, "defaultServers": ["a"]}
    assert conf.problems == ()


@pytest.mark.parametrize(
    ("removed", "also_gone", "order"),
    [("b", (), ["a", "b", "c", "d"]), ("a", ("b",), ["a", "c", "d"]), ("b", ("c", "d"), ["a", "b"]), ("d", (), ["a", "b", "c", "d"])],
)
async def test_a_server_that_is_brought_back_stands_where_it_stood(
    conf: McpConfHelper, path: Path, removed: str, also_gone: tuple[str, ...], order: list[str]
) -> None:
    for name in ("bad", *conf.entries):
        await conf.remove_server(name)
    for name in ("a", "b", "c", "d"):
        await conf.set_server(name, {"command": name})
    for name in (removed, *also_gone):
        await conf.remove_server(name)
    await conf.set_server(removed, {"command": removed}, is_new=True)
    assert list(on_disk(path)["mcpServers"]) == order
    await conf.set_server(removed, {"command": "other"})
    assert list(on_disk(path)["mcpServers"]) == order


async def test_a_server_becomes_a_default_once_and_stops_being_one(conf: McpConfHelper) -> None:
    await conf.set_server("b", {"command": "y"})
    await conf.set_default("b", True)
    await conf.set_default("b", True)
    assert conf.settings.default_servers == ("a", "bad", "b")
    await conf.set_default("a", False)
    await conf.set_default("gone", False)
    assert conf.settings.default_servers == ("bad", "b")


async def test_a_built_in_server_can_be_a_default(conf: McpConfHelper) -> None:
    await conf.set_default("hub", True)
    assert "hub" in conf.settings.default_servers


async def test_everything_is_paused_and_let_go_on(conf: McpConfHelper, heard: Heard) -> None:
    await conf.set_enabled(False)
    await conf.set_enabled(True)
    assert [event.mcp_enabled for event in heard] == [False, True]


async def test_parts_of_an_odd_shape_stay_as_they_are(conf: McpConfHelper, path: Path) -> None:
    written = {"version": 1, "mcpServers": ["a"], "defaultServers": "a", "secrets": "x"}
    put(path, written)
    with pytest.raises(TooltrayError, match="Server 'a' not found"):
        await conf.remove_server("a")
    with pytest.raises(TooltrayError, match="mcpServers: must be an object"):
        await conf.set_server("a", {"command": "x"})
    with pytest.raises(TooltrayError, match="defaultServers: must be a list of texts"):
        await conf.set_default("hub", True)
    with pytest.raises(TooltrayError, match="secrets: must be an object"):
        await conf.edit(secret_backend("memory"))
    await conf.set_default("hub", False)
    assert on_disk(path) == written


async def test_many_changes_at_once_all_count(conf: McpConfHelper, path: Path) -> None:
    await asyncio.gather(*(conf.set_server(f"s{number}", {"command": "x"}, is_default=True) for number in range(20)))
    assert len(on_disk(path)["mcpServers"]) == 22
    assert len(conf.settings.default_servers) == 22


async def test_an_edit_by_somebody_else_is_not_lost(conf: McpConfHelper, path: Path, heard: Heard) -> None:
    put(path, {"version": 1, "mcpServers": {"theirs": {"command": "y"}, "odd": {}}})
    await conf.set_enabled(False)
    assert on_disk(path) == {"version": 1, "mcpServers": {"theirs": {"command": "y"}, "odd": {}}, "mcpEnabled": False}
    assert [event.problem.title for event in heard if isinstance(event, ProblemReported)] == ["The entry of server 'odd' cannot be used"]
    assert heard[-1] == ConfigChanged({"theirs": {"command": "y"}}, (), False)


async def test_if_the_file_cannot_be_written_nothing_has_changed(conf: McpConfHelper, path: Path, heard: Heard) -> None:
    put_folder(path)
    with pytest.raises(TooltrayError, match="it is a folder"):
        await conf.set_enabled(False)
    assert conf.settings.mcp_enabled
    assert heard == []


async def test_a_change_whose_caller_is_cancelled_is_finished_and_announced(conf: McpConfHelper, path: Path) -> None:
    bus_heard = asyncio.Event()
    conf_bus = EventBus()
    conf_bus.subscribe(ConfigChanged, lambda event: bus_heard.set())
    other = McpConfHelper(path, conf_bus)
    await other.load()
    caller = asyncio.get_running_loop().create_task(other.set_enabled(False))
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await asyncio.wait_for(bus_heard.wait(), 10)
    assert not other.settings.mcp_enabled
    assert on_disk(path)["mcpEnabled"] is False


async def test_of_two_who_add_one_name_at_once_the_second_is_refused(conf: McpConfHelper, path: Path) -> None:
    adding = [conf.set_server("new", {"command": text}, is_new=True) for text in ("a", "b")]
    outcomes = await asyncio.gather(*adding, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes if outcome] == [Conflict]
    assert on_disk(path)["mcpServers"]["new"]["command"] in ("a", "b")


async def test_no_new_server_replaces_an_entry_that_cannot_be_used(conf: McpConfHelper, path: Path) -> None:
    assert ("bad" in conf.names, "bad" in conf.settings.mcp_servers) == (True, False)
    before = on_disk(path)
    with pytest.raises(Conflict, match="there is a server 'bad' already"):
        await conf.set_server("bad", {"command": "a"}, is_new=True)
    assert on_disk(path) == before
    await conf.set_server("bad", {"command": "a"})
    assert on_disk(path)["mcpServers"]["bad"] == {"command": "a"}
