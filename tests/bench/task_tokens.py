"""Counts the tokens of ten tasks over the real tool lists of 26 servers: all tools listed, servers that are activated, and a search.

Usage: python -m tests.bench.task_tokens     prints a Markdown table

The tasks are questions of `tests/data/search`. A model that searches asks the question as it stands, and finds the right tool if it
is among five. Tokens are those of definitions, instructions and answers, as the hub gives them.
"""

import json
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from tests.bench.machine import PYTHON, Home
from tests.bench.raw_client import INITIALIZE, RawClient

from tooltray.catalogue.token_counts import counted

DATA = Path(__file__).parents[1] / "data" / "search"
SERVER = [PYTHON, "-I", "-S", str(Path(__file__).with_name("listed_server.py"))]
MODES = {"everything": "all tools", "lazy": "servers are activated", "search": "a search"}
TASKS = 10


class Task(NamedTuple):
    """A question, and tools of a server that answer it."""

    question: str
    right: tuple[str, ...]


def tasks() -> list[Task]:
    """Returns the first ten English questions with one need whose servers differ."""
    found: dict[str, Task] = {}
    for each in json.loads((DATA / "questions.json").read_bytes()):
        server = each["needs"][0][0].partition("/")[0]
        if each["language"] == "en" and len(each["needs"]) == 1:
            found.setdefault(server, Task(each["question"], tuple(each["needs"][0])))
    return list(found.values())[:TASKS]


def home_of() -> Home:
    servers = sorted({each["server"] for each in json.loads((DATA / "tools.json").read_bytes())})
    home = Home(0, 0)
    settings = home.folder / ".tooltray" / "settings.json"
    document = json.loads(settings.read_bytes())
    document["mcpServers"] = {name: {"command": SERVER[0], "args": [*SERVER[1:], name], "autoApprove": ["all"]} for name in servers}
    document["defaultServers"] = servers
    settings.write_text(json.dumps(document))
    return home


class Heard(NamedTuple):
    """What a model reads, at the beginning and for each task, and for how many tasks it has the tool then."""

    start: list[str]
    answers: list[str]
    found: int


def listed(client: RawClient) -> list[dict[str, object]]:
    return client.request("tools/list")["result"]["tools"]


def heard(home: Home, mode: str) -> Heard:
    """Returns what a model reads in one mode."""
    home.run("clients", "mode", "*", mode)
    with closing(home.client()) as client:
        instructions = client.request("initialize", INITIALIZE)["result"].get("instructions", "")
        client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        tools = listed(client)
        start = [instructions, *(json.dumps({key: each[key] for key in ("name", "description", "inputSchema")}) for each in tools)]
        names = {each["name"] for each in tools}
        read = [(task, answer(client, mode, task)) for task in tasks()]
        found = sum(any(tool in names or f"{tool}(" in text for tool in map(tool_of, task.right)) for task, text in read)
        return Heard(start, [text for _, text in read], found)


def answer(client: RawClient, mode: str, task: Task) -> str:
    """Returns what the model reads before it can call the tool of a task; each task has another server."""
    if mode == "everything":
        return ""
    if mode == "lazy":
        return text_of(client.call(f"activate_{task.right[0].partition('/')[0]}"))
    return text_of(client.call("find_tools", query=task.question))


def tool_of(right: str) -> str:
    return right.partition("/")[2]


def text_of(result: dict[str, object]) -> str:
    return "".join(each["text"] for each in result["content"])  # type: ignore[attr-defined]


def main() -> None:
    home = home_of()
    with home.hub():
        found = {mode: heard(home, mode) for mode in MODES}
    print("| mode | at the start | a task, median | ten tasks in all | tools found |")
    print("|---|---|---|---|---|")
    for mode, what in MODES.items():
        at_start, each = sum(counted(found[mode].start) or []), sorted(counted(found[mode].answers) or [])
        print(f"| {what} | {at_start:,} | {each[len(each) // 2]:,} | {at_start + sum(each):,} | {found[mode].found} of {TASKS} |")


if __name__ == "__main__":
    main()
