"""Chains of calls through the real bridge and hub, with servers of other people: files are read, and what they hold is remembered."""

import json
from collections import Counter

import pytest
from tests.end2end.processes import wait_until

FILES = 20
EACH_TWICE = {"search_files": 2, "read_text_file": 2 * FILES, "create_entities": 6, "read_graph": 2}


@pytest.fixture
def hub(world, npm_server):
    """A hub with the filesystem's and the memory's server, which shows its tools by search."""
    folder = world.home / "notes"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"note{number}.md").write_text(f"# note {number}\n" + "words " * 500)
    world.write_settings({"version": 1, "mcpServers": {}, "defaultServers": [], "publish": {"mode": "search"}})
    world.add_server("files", *npm_server("filesystem", str(folder)))
    world.add_server("memory", *npm_server("memory"), env={"MEMORY_FILE_PATH": str(world.home / "memory.jsonl")})
    world.start_hub()
    wait_until(lambda: {each["state"] for each in world.servers().values() if each["name"] != "hub"} == {"running"}, "both to run", 60)
    return world


def chain(hub):
    folder = str(hub.home / "notes")
    entity = {"name": {"$": "item"}, "entityType": "file", "observations": []}
    return {
        "steps": [
            {"id": "found", "tool": "search_files", "arguments": {"path": folder, "pattern": "**/*.md"}},
            {
                "id": "texts",
                "tool": "read_text_file",
                "for_each": {"$": "found/content", "split": "\n"},
                "arguments": {"path": {"$": "item"}, "head": 1},
            },
            {
                "id": "kept",
                "tool": "create_entities",
                "for_each": {"$": "texts", "map": "/content", "first": 3},
                "arguments": {"entities": [entity]},
            },
            {"id": "graph", "tool": "read_graph"},
        ],
        "return": {"count": {"$": "texts", "count": True}, "names": {"$": "graph/entities", "map": "/name"}},
    }


def test_files_are_found_read_and_remembered_in_one_call_and_each_call_is_in_the_journal(hub):
    bridge = hub.start_bridge()
    bridge.initialize()
    assert "run_steps" in [tool["name"] for tool in bridge.request("tools/list")["result"]["tools"]]
    planned = json.loads(called(bridge, chain(hub) | {"dry_run": True})["content"][0]["text"])["calls"]
    assert [step["id"] for step in planned] == ["found", "texts", "kept", "graph"]
    assert not any("problem" in step for step in planned)
    result = called(bridge, chain(hub))
    assert not result["isError"], result
    found = json.loads(result["content"][0]["text"])["result"]
    assert found["count"] == FILES
    assert len(found["names"]) == 3
    assert all(name.startswith("# note ") for name in found["names"])
    failed = called(bridge, {**chain(hub), "return": {"$": "graph/entity"}})
    assert failed["isError"]
    assert "no member 'entity'" in failed["content"][0]["text"]
    wait_until(lambda: made(hub) == EACH_TWICE, "the journal to have every call")
    bridge.close_stdin()
    assert bridge.wait() == 0
    hub.stop_hub()


def called(bridge, arguments):
    return bridge.request("tools/call", {"name": "run_steps", "arguments": arguments}, timeout_s=60)["result"]


def made(hub):
    """How often the journal has the call of each tool."""
    return Counter(row["entry"]["tool"] for row in hub.ask("get_activity", limit=200) if row["entry"]["kind"] == "call")
