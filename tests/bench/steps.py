"""Measures what chains of calls save: ten tasks, each once call by call and once as one call of `run_steps`, through a hub and its bridge.

Usage: python -m tests.bench.steps     prints a table in Markdown

Written are the calls that a model writes (name and arguments as JSON), read is the text of what comes back; both in tokens of
o200k_base. The first count of rounds is of a model that makes one call after the other, the second of one that makes at once all calls
whose arguments it knows. Not counted: that each round sends the whole conversation again, and what a model thinks. The servers:
filesystem and memory from npm, and `steps_server`, which has issues and a database.
"""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from tests.end2end.processes import ROOT, Program, World, new_world, wait_until

from tooltray.catalogue.token_counts import counted
from tooltray.catalogue.views.meta_tools import HUB_TOOLS, RUN
from tooltray.gateway.steps.chain import Chain, read_chain
from tooltray.gateway.steps.references import ITEM, Room, resolve
from tooltray.gateway.steps.step_values import value_of
from tooltray.protocol.envelope import dump

NPM = ROOT / "tests" / "npm" / "node_modules" / ".bin"
CALL_S = 60.0
FILES = 20


class Task(msgspec.Struct):
    """One task.

    Attributes:
        steps, result: as in the arguments of `run_steps`.
    """

    what: str
    steps: list[dict[str, Any]]
    result: Any

    @property
    def arguments(self) -> dict[str, Any]:
        return {"steps": self.steps, "return": self.result}


class Cost(msgspec.Struct):
    """What a model writes and reads.

    Attributes:
        rounds: one call after the other.
        parallel_rounds: with all calls at once whose arguments are known.
    """

    written: list[str]
    read: list[str]
    rounds: int
    parallel_rounds: int

    @property
    def tokens(self) -> int:
        return sum(counted([*self.written, *self.read]) or ())


def step(id: str, tool: str, for_each: Any = None, **arguments: Any) -> dict[str, Any]:
    return {"id": id, "tool": tool, **({} if for_each is None else {"for_each": for_each}), "arguments": arguments}


def tasks(folder: Path) -> list[Task]:
    item, notes = {"$": "item"}, str(folder)
    files = step("found", "search_files", path=notes, pattern="**/*.md")
    texts = step("texts", "read_text_file", {"$": "found/content", "split": "\n"}, path=item)
    issues = step("list", "list_issues", state="open")
    crashes = {"$": "list/issues", "filter": {"/title": {"contains": "crash"}}}
    of_city = "select id, name, mail, notes from customers where city = 'Lima'"
    add_visit = {"$": ["insert into visits values (", item, ")"], "join": ""}
    lines = {"$": "rows", "map": "/mail", "join": "\n"}
    entity = {"name": item, "entityType": "heading", "observations": []}
    return [
        Task("read 20 files, count them", [files, texts], {"count": {"$": "texts", "count": True}}),
        Task("read 20 files, find the urgent ones", [files, texts], {"$": "texts", "filter": {"/content": {"contains": "URGENT"}}}),
        Task(
            "sizes of 20 files",
            [files, step("info", "get_file_info", texts["for_each"], path=item)],
            {"$": "info", "map": "/content"},
        ),
        Task(
            "copy a file",
            [
                step("a", "read_text_file", path=f"{notes}/0.md"),
                step("b", "write_file", path=f"{notes}/copy.txt", content={"$": "a/content"}),
            ],
            "done",
        ),
        Task("titles of the open issues", [issues], {"$": "list/issues", "map": {"n": "/number", "t": "/title"}}),
        Task(
            "label the crashes",
            [issues, step("label", "add_label", {**crashes, "map": "/number"}, number=item, label="bug")],
            {"labelled": {"$": "label", "count": True}},
        ),
        Task(
            "send the titles of the crashes to a channel",
            [issues, step("send", "send_message", channel="dev", text={**crashes, "map": "/title", "join": "\n"})],
            "done",
        ),
        Task(
            "query, then write a row for each",
            [step("rows", "read_query", query=of_city), step("write", "write_query", {"$": "rows", "map": "/id"}, query=add_visit)],
            {"written": {"$": "write", "count": True}},
        ),
        Task(
            "query, then write a file",
            [step("rows", "read_query", query=of_city), step("file", "write_file", path=f"{notes}/mails.txt", content=lines)],
            "done",
        ),
        Task(
            "remember the headings of 5 files",
            [
                files,
                step("heads", "read_text_file", {**texts["for_each"], "first": 5}, path=item, head=1),
                step("keep", "create_entities", {"$": "heads", "map": "/content"}, entities=[entity]),
            ],
            {"kept": {"$": "keep", "count": True}},
        ),
    ]


def call(bridge: Program, name: str, arguments: Any) -> dict[str, Any]:
    result: dict[str, Any] = bridge.request("tools/call", {"name": name, "arguments": arguments}, timeout_s=CALL_S)["result"]
    if result.get("isError"):
        raise RuntimeError(result)
    return result


def text_of(result: dict[str, Any]) -> str:
    return "\n".join(block.get("text", "") for block in result["content"])


def one_by_one(bridge: Program, chain: Chain) -> Cost:
    """Makes the calls of a chain one by one, as a model does that reads each result and writes the next call itself."""
    values: dict[str, object] = {}
    cost = Cost([], [], 0, len(chain.steps))
    for each in chain.steps:
        found = []
        items = [None] if each.for_each is None else resolve(each.for_each, values, Room("items"))
        for item in items:
            arguments = resolve(each.arguments, {**values, ITEM: item}, Room("arguments"))
            result = call(bridge, each.tool, arguments)
            cost.written.append(json.dumps({"name": each.tool, "arguments": arguments}, ensure_ascii=False, separators=(",", ":")))
            cost.read.append(text_of(result))
            cost.rounds += 1
            found.append(value_of(dump(result), Room("values")))
        values[each.id] = found[0] if each.for_each is None else found
    return cost


def as_chain(bridge: Program, arguments: dict[str, Any]) -> Cost:
    written = json.dumps({"name": "run_steps", "arguments": arguments}, ensure_ascii=False, separators=(",", ":"))
    return Cost([written], [text_of(call(bridge, "run_steps", arguments))], 1, 1)


def make_files(folder: Path) -> None:
    folder.mkdir()
    for number in range(FILES):
        marks = "URGENT: the cellar is wet.\n" if number % 10 == 3 else ""
        (folder / f"{number}.md").write_text(f"# Note {number}\n\n{marks}" + "Some words about the house, the garden and the roof.\n" * 30)


def start(world: World) -> Program:
    make_files(world.home / "notes")
    node = shutil.which("node") or "node"
    world.write_settings({"version": 1, "mcpServers": {}, "defaultServers": [], "publish": {"steps": True, "mode": "everything"}})
    world.add_server("files", node, str((NPM / "mcp-server-filesystem").resolve()), str(world.home / "notes"))
    memory = str(world.home / "memory.jsonl")
    world.add_server("memory", node, str((NPM / "mcp-server-memory").resolve()), env={"MEMORY_FILE_PATH": memory})
    world.add_server("work", sys.executable, str(Path(__file__).with_name("steps_server.py")))
    world.start_hub()
    wait_until(lambda: {each["state"] for each in world.servers().values()} == {"running"}, "all servers to run", CALL_S)
    bridge = world.start_bridge()
    bridge.initialize()
    wait_until(lambda: len(bridge.request("tools/list")["result"]["tools"]) > 25, "all tools to be listed", CALL_S)
    return bridge


def rows(bridge: Program, folder: Path) -> Iterator[str]:
    yield "| task | calls | rounds: one by one / at once / chain | tokens: one by one | chain | |"
    yield "|---|---|---|---|---|---|"
    totals = [0, 0, 0, 0]
    for task in tasks(folder):
        single = one_by_one(bridge, read_chain(dump({"arguments": task.arguments})))
        chain = as_chain(bridge, task.arguments)
        before, after = single.tokens, chain.tokens
        rounds = f"{single.rounds} / {single.parallel_rounds} / 1"
        yield f"| {task.what} | {single.rounds} | {rounds} | {before:,} | {after:,} | {after / before:.0%} |"
        totals = [total + added for total, added in zip(totals, (single.rounds, single.parallel_rounds, before, after), strict=True)]
    calls, parallel, before, after = totals
    yield f"| all ten | {calls} | {calls} / {parallel} / 10 | {before:,} | {after:,} | {after / before:.0%} |"


def main() -> None:
    with new_world() as world:
        bridge = start(world)
        print(*rows(bridge, world.home / "notes"), sep="\n")
        definition = bytes(HUB_TOOLS[RUN].definition(RUN)).decode()
        print(f"\nThe definition of run_steps: {sum(counted([definition]) or ()):,} tokens, in every conversation.")
        bridge.close_stdin()
        bridge.wait()
        world.stop_hub()


if __name__ == "__main__":
    main()
