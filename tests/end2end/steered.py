"""The SDK's client, steered by a test or activating a server by itself; and the servers of tests that it meets.

Tests have both through fixtures of conftest. The client's program is clients/steered_client.py or clients/activating_client.py, the
server's is servers/featured.py.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.end2end.processes import BRIDGE, World, wait_until

HERE = Path(__file__).parent
CLIENT = HERE / "clients" / "steered_client.py"
ACTIVATING = HERE / "clients" / "activating_client.py"
FEATURED = HERE / "servers" / "featured.py"
START_S = 60.0  # servers of Python and Node.js on two busy cores


class Refused(Exception):
    """A request was answered with an error; `args` are its code and message."""


class SteeredClient:
    """The SDK's client in one era. `era` and `capabilities` are what it found.

    Args:
        mode: legacy, or auto, which finds the modern era.
        arguments: for the bridge, as `--server`, `NAME`.
        prefix: before the names of the tools that `call`, `told` and `start_call` are asked for.
    """

    def __init__(self, world: World, mode: str, *arguments: str, prefix: str = "") -> None:
        self.mode = mode
        self.prefix = prefix
        bridge = (sys.executable, "-I", "-S", str(BRIDGE), *arguments)
        self.program = world.start(sys.executable, str(CLIENT), mode, *bridge)
        found = self.program.read(START_S)
        self.era = found["era"]
        self.capabilities = found["capabilities"]

    def do(self, do: str, **arguments: Any) -> Any:
        """Has it do something and returns the outcome; what it can do stands in the client's docstring.

        Raises:
            Refused: the other side answered with an error.
        """
        self.program.send({"do": do, **arguments})
        outcome = self.program.read(START_S)
        if "error" in outcome:
            raise Refused(outcome["error"]["code"], outcome["error"]["message"])
        return outcome["result"]

    def names(self, kind: str) -> set[str]:
        """The names, URIs or templates of a list; `kind` is tools, prompts, resources or resource_templates."""
        [found] = [value for value in self.do(f"list_{kind}").values() if isinstance(value, list)]
        return {entry.get("uri") or entry.get("uriTemplate") or entry["name"] for entry in found}

    def call(self, name: str, **arguments: Any) -> str:
        """A tool's text."""
        return text_of(self.do("call", name=self.prefix + name, arguments=arguments))

    def told(self, name: str, **arguments: Any) -> Any:
        """A tool's text, as JSON."""
        return json.loads(self.call(name, **arguments))

    def hear(self, **event: Any) -> dict[str, Any]:
        """Waits for an event that has these members; anything else that was heard is kept."""
        heard: dict[str, Any] = self.do("hear", event=event)
        return heard

    def start_call(self, key: str, name: str, **arguments: Any) -> None:
        """Has it call a tool meanwhile."""
        self.do("start", key=key, what={"do": "call", "name": self.prefix + name, "arguments": arguments})

    def wait_until(self, kind: str, is_so: Callable[[set[str]], bool]) -> None:
        """Lists anew each time it hears of a change, until it is so; `kind` is tools, prompts or resources."""
        while not is_so(self.names(kind)):
            self.hear(event="changed", list=kind)

    def end(self) -> None:
        """Closes its stdin, and lets it take the time that it needs on a busy machine to end by itself."""
        self.program.close_stdin()
        assert self.program.wait() == 0, self.program.error_text


def activated(world: World, mode: str, server: str, call: Sequence[Any], token: str, *target: str, timeout_s: float = START_S) -> Any:
    """What the SDK's client sees that activates a server, lists again and calls a tool; its docstring says what `target` is."""
    program = world.start(sys.executable, str(ACTIVATING), mode, f"activate_{server}", json.dumps(call), token, *target)
    try:
        return program.read(timeout_s)
    finally:
        program.end()


def text_of(result: dict[str, Any]) -> str:
    return "".join(part.get("text", "") for part in result["content"])


def signed(text: str) -> list[str]:
    """The names of the tools in a text that has their signatures."""
    return re.findall(r"^([\w.-]+)\(", text, re.MULTILINE)


def add_featured(world: World, name: str, era: str = "both", **fields: Any) -> None:
    """Adds the server with every feature, under its own name."""
    world.add_server(name, sys.executable, str(FEATURED), era, name, **fields)


def signal_server(world: World, name: str, number: int) -> None:
    """Sends a signal to every running copy of a server."""
    for pid in world.servers()[name]["pids"]:
        send_signal(pid, number)


def send_signal(pid: int, number: int) -> None:
    """Sends a signal, and waits until the process has taken it: of two that wait, Linux runs the handler of the later one first."""
    os.kill(pid, number)
    wait_until(lambda: not _pending(pid) >> (number - 1) & 1, "the process to take the signal")


def _pending(pid: int) -> int:
    """Returns the signals that a process has not taken, a bit for each (proc(5), ShdPnd)."""
    status = Path("/proc", str(pid), "status").read_text()
    return int(re.search(r"^ShdPnd:\s*([0-9a-f]+)$", status, re.MULTILINE)[1], 16)  # type: ignore[index]


def start_and_wait(world: World) -> None:
    """Starts a hub and waits until all its servers run, so that lists are whole."""
    world.start_hub()
    wait_until(lambda: {server["state"] for server in world.servers().values()} == {"running"}, "all servers to run", START_S)
