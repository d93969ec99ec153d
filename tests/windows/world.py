"""A person's folder on Windows, a hub and bridges in it, as an AI client meets them."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import psutil

from tooltray.foundation import programs

PATIENCE_S = 60.0
HERE = Path(__file__).parent
STDIO_SERVER = [sys.executable, str(HERE / "stdio_server.py")]


class Client:
    """An AI client with a bridge: asks, and waits for the answer."""

    def __init__(self, command: list[str], *arguments: str, cwd: Path) -> None:
        self.process = subprocess.Popen(
            [*command, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=cwd
        )
        self._answers: Queue[dict[str, Any]] = Queue()
        self._last_id = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._answers.put(json.loads(line))

    def send(self, method: str, **params: Any) -> int:
        self._last_id += 1
        self._write({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        return self._last_id

    def notify(self, method: str) -> None:
        self._write({"jsonrpc": "2.0", "method": method})

    def _write(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self, id: int) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                message = self._answers.get(timeout=max(0.0, deadline - time.monotonic()))
            except Empty:
                raise AssertionError(f"no answer to {id}; the bridge's exit code is {self.process.poll()}") from None
            if message.get("id") == id:
                return message

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return self.answer(self.send(method, **params))

    def start(self) -> "Client":
        """Greets, again where the bridge says so: on a busy machine a hub takes longer to start than a bridge waits for it."""
        greeting = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a client", "version": "1"}}
        deadline = time.monotonic() + PATIENCE_S
        while "result" not in (answer := self.ask("initialize", **greeting)):
            assert time.monotonic() < deadline, answer
        self.notify("notifications/initialized")
        return self

    def tools(self) -> set[str]:
        return {tool["name"] for tool in self.ask("tools/list")["result"]["tools"]}

    def call(self, tool: str, **arguments: Any) -> str:
        reply = self.ask("tools/call", name=tool, arguments=arguments)
        return str(reply["result"]["content"][0]["text"]) if "result" in reply else f"error: {reply['error']['message']}"

    def leave(self) -> int:
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(PATIENCE_S)


class World:
    """What one test has."""

    def __init__(self, user: Path, frozen: Path | None = None) -> None:
        """
        Args:
            frozen: the folder of a frozen app; None: what this Python runs.
        """
        self.user, self.home = user, user / ".tooltray"
        self.tooltray = [str(frozen / "tooltray.exe")] if frozen else programs.tooltray_command()
        self.bridge = [str(frozen / "tooltray-bridge.exe")] if frozen else programs.bridge_command()
        self._clients: list[Client] = []

    def run(self, *arguments: str, code: int = 0) -> str:
        """Runs a command to its end; returns what it prints."""
        ended = subprocess.run(
            [*self.tooltray, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S, cwd=self.user
        )
        text = (ended.stdout + ended.stderr).decode(errors="replace")
        assert ended.returncode == code, text
        return text

    def client(self, *arguments: str, bridge: Path | None = None) -> Client:
        client = Client([str(bridge)] if bridge else self.bridge, *arguments, cwd=self.user)
        self._clients.append(client)
        return client

    def add_echo(self) -> None:
        self.run("servers", "add", "echo", "--", *STDIO_SERVER)

    def hub(self) -> dict[str, Any]:
        """What the running hub says of itself; empty between two hubs, and for the moment in which it says something new."""
        try:
            return dict(json.loads((self.home / "run" / "hub.json").read_bytes()))
        except (OSError, ValueError):
            return {}

    def hub_pid(self) -> int:
        said: list[dict[str, Any]] = []

        def has_said() -> bool:
            said[:] = [self.hub()]
            return bool(said[0])

        self.until("the hub says which process it is", has_said)
        return int(said[0]["pid"])

    def until(self, what: str, is_so: Any) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not is_so():
            assert time.monotonic() < deadline, f"never: {what}"
            threading.Event().wait(0.05)

    def left(self, before: set[int]) -> list[str]:
        """The processes that a test has left, by their command lines."""

        def ours() -> list[str]:
            found = []
            for process in psutil.process_iter():
                if process.pid in before or process.pid == os.getpid():
                    continue
                try:
                    line = " ".join(process.cmdline())
                except psutil.Error:
                    continue
                if "tooltray" in line.lower() or "stdio_server" in line:
                    found.append(line)
            return found

        deadline = time.monotonic() + 20.0
        while (remaining := ours()) and time.monotonic() < deadline:
            threading.Event().wait(0.1)
        return remaining

    def close(self) -> None:
        for client in self._clients:
            if client.process.poll() is None:
                client.process.kill()
            client.process.wait(PATIENCE_S)
        subprocess.run([*self.tooltray, "stop"], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S, check=False)
