"""Real servers, each watched at work and then confined by what was proposed: the same work goes on, and one deed it did not do is refused.

The end-to-end tests try one of them, tests/conformance the others.
"""

import asyncio
import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.end2end.conftest import NPM_SERVERS, SERENA
from tests.end2end.hub_at_work import Hub, write_settings
from tests.end2end.processes import ROOT, World

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----"
WATCHED_S = 120.0  # a trial ends it before
LOOK_EVERY_S, LOOKS = 0.2, 150
PYTHON_SERVERS = ROOT / ".cache" / "confined" / "bin"
MORE_NPM_SERVERS = ROOT / "tests" / "confined" / "node_modules" / ".bin"
AUTHOR = {f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
READS_KEY = "console.log(require('fs').readFileSync('{home}/.ssh/id_ed25519', 'utf8'))"


@dataclass(frozen=True)
class Step:
    """A call of a tool: `arguments` with `{work}`, `{home}`; `says`: what stands in its result, with a group for what later ones need."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    says: str = ""


@dataclass(frozen=True)
class Server:
    """A server of other people.

    Attributes:
        command: with `{work}` for the folder that it works in.
        steps: real work.
        decoy: reads the person's key, by a tool of its own; None: it has none.
        files, network: of the profile that is to be proposed.
    """

    name: str
    command: Sequence[str]
    steps: Sequence[Step]
    decoy: Step | None = None
    files: str = "read"
    network: str = "none"
    env: Mapping[str, str] = field(default_factory=dict)


FILESYSTEM = Server(
    "filesystem",
    [f"{NPM_SERVERS}/mcp-server-filesystem", "{home}"],
    [
        Step("write_file", {"path": "{work}/a.txt", "content": "words"}, "Successfully"),
        Step("read_text_file", {"path": "{work}/a.txt"}, "words"),
    ],
    decoy=Step("read_text_file", {"path": "{home}/.ssh/id_ed25519"}),
    files="own",
)

OTHERS = (
    Server(
        "memory",
        [f"{NPM_SERVERS}/mcp-server-memory"],
        [
            Step("create_entities", {"entities": [{"name": "Ada", "entityType": "person", "observations": ["counts"]}]}),
            Step("read_graph", {}, "Ada"),
        ],
        files="own",
        env={"MEMORY_FILE_PATH": "{home}/notes/memory.jsonl"},
    ),
    Server(
        "Serena",
        [str(SERENA), "start-mcp-server", "--enable-web-dashboard", "false", "--project", "{work}"],
        [
            Step("initial_instructions", {}, r"session id is `(\w+)`"),
            Step("serena_repl", {"session": "{found}", "code": 's.fs.read_file("who.txt")'}, "this is one"),
        ],
        files="own",
        env={"GIT_CEILING_DIRECTORIES": str(ROOT)},  # it asks git what it was built from, and its environment lies in this repository
    ),
    Server(
        "sequential-thinking",
        [f"{MORE_NPM_SERVERS}/mcp-server-sequential-thinking"],
        [
            Step(
                "sequentialthinking",
                {"thought": "one", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1},
                "thoughtHistoryLength",
            )
        ],
    ),
    Server(
        "code-runner",
        [f"{MORE_NPM_SERVERS}/mcp-server-code-runner"],
        [Step("run-code", {"code": "console.log(6 * 7)", "languageId": "javascript"}, "42")],
        decoy=Step("run-code", {"code": READS_KEY, "languageId": "javascript"}),
    ),
    Server(
        "commands",
        [f"{MORE_NPM_SERVERS}/mcp-server-commands"],
        [Step("run_command", {"command": "echo words > {work}/a && cat {work}/a"}, "words")],
        decoy=Step("run_command", {"command": "cat {home}/.ssh/id_ed25519"}),
        files="own",
    ),
    Server(
        "git",
        [f"{PYTHON_SERVERS}/mcp-server-git", "--repository", "{work}"],
        [
            Step("git_add", {"repo_path": "{work}", "files": ["who.txt"]}),
            Step("git_commit", {"repo_path": "{work}", "message": "first"}),
            Step("git_log", {"repo_path": "{work}"}, "first"),
        ],
        files="own",
        env=AUTHOR,
    ),
    Server(
        "time",
        [f"{PYTHON_SERVERS}/mcp-server-time"],
        [Step("get_current_time", {"timezone": "Asia/Taipei"}, "Asia/Taipei")],
    ),
    Server(
        "excel",
        [f"{PYTHON_SERVERS}/excel-mcp-server", "stdio"],
        [Step("create_workbook", {"path": "{work}/a.xlsx"}), Step("describe_workbook", {"path": "{work}/a.xlsx"}, "Sheet")],
        files="own",
    ),
    Server(
        "fetch",
        [f"{PYTHON_SERVERS}/mcp-server-fetch", "--ignore-robots-txt", "--allow-private-ips"],
        [Step("fetch", {"url": "{site}", "raw": True}, "words of a site")],
        network="open",
    ),
)
"""Those that `make conformance` installs besides."""


async def try_server(world: World, server: Server, *, site: str = "") -> dict[str, Any]:
    """Returns the profile that was proposed.

    Args:
        site: a web site of this computer.

    Raises:
        AssertionError: the server does not do the same work under it, or does what it had not done.
    """
    places = _prepare(world, site)
    command, *args = (_filled(each, places) for each in server.command)
    env = {name: _filled(value, places) for name, value in server.env.items()}
    world.folders_of_others.add(world.home / f".{server.name.lower()}")  # Serena writes its settings there at any moment
    write_settings(world, {"tried": {"command": command, "args": args, "env": env, "cwd": places["{work}"], "autoApprove": ["all"]}})
    world.start_hub()
    hub = Hub(world)
    try:
        await hub("watch_server", server="tried", duration_s=WATCHED_S)
        await _work(hub, server.steps, places)
        proposal: dict[str, Any] = (await hub("stop_watching", server="tried"))["proposal"]
        if server.decoy:
            assert KEY in await _said(hub, server.decoy, places), "nothing holds it back, and yet it does not read the key"
        await hub("apply_proposal", server="tried")
        await _work(hub, server.steps, places)
        if server.decoy:
            assert KEY not in await _said(hub, server.decoy, places)
        return proposal
    finally:
        hub.channel.close()
        for left in world.temporary.iterdir():  # code-runner leaves its script there while it is open
            left.unlink()


def _prepare(world: World, site: str) -> dict[str, str]:
    """A project under git, a folder for notes, and the key that no server is to read."""
    work = world.home / "work"
    for folder in (work, world.home / "notes", world.home / ".ssh"):
        folder.mkdir(mode=0o700)
    (work / "who.txt").write_text("this is one")
    (work / "main.py").write_text("print(1)\n")
    (world.home / ".ssh" / "id_ed25519").write_text(KEY)
    subprocess.run(["git", "init", "--quiet", str(work)], check=True)
    return {"{work}": str(work), "{home}": str(world.home), "{site}": site}


async def _work(hub: Hub, steps: Sequence[Step], places: dict[str, str]) -> None:
    for _ in range(LOOKS):  # the first list comes a moment after the start
        if (await hub.server("tried"))["is_listed"]:
            break
        await asyncio.sleep(LOOK_EVERY_S)
    for step in steps:
        said = await _said(hub, step, places)
        found = re.search(step.says, said)
        assert found, f"{step.tool} said {said[:2000]}"
        places["{found}"] = found[1] if found.groups() else ""


async def _said(hub: Hub, step: Step, places: Mapping[str, str]) -> str:
    arguments = json.loads(_filled(json.dumps(step.arguments), places))
    return json.dumps(await hub("call_tool", name=step.tool, arguments=arguments))


def _filled(text: str, places: Mapping[str, str]) -> str:
    for name, value in places.items():
        text = text.replace(name, value)
    return text
