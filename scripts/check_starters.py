"""Starts each server of resources/starter-servers.json that starts without an account: `python scripts/check_starters.py [ID ...]`.

Each is started as Tooltray would start it (npx, uvx), greeted over stdio, and asked for its tools, all within STARTS_WITHIN_S. Downloads
what it starts. Servers elsewhere, and those that want an account or a program of their own, are listed as not tried. Prints a table;
exits 1 if one that was tried does not list tools.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "desktop"))
from tooltray.sources.discovery.api import Starter, Starters
from tooltray.sources.discovery.server_forms import made_of

STARTS_WITHIN_S = 300.0  # most of it is the download
ENDS_WITHIN_S = 10.0
STARTERS = Path(__file__).parents[1] / "resources" / "starter-servers.json"
GREETING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "check_starters", "version": "1"}}
Row = tuple[str, str, str, str]


class DoesNotStart(Exception):
    """Says why."""


class Server:
    """One running program."""

    def __init__(self, command: list[str], env: dict[str, str], folder: Path, errors: Path) -> None:
        self._deadline, self._errors = time.monotonic() + STARTS_WITHIN_S, errors
        pipes: dict[str, Any] = {
            "stdin": subprocess.PIPE,
            "stdout": subprocess.PIPE,
            "stderr": errors.open("wb"),
            "start_new_session": True,
        }
        try:
            self.process = subprocess.Popen(command, env={**os.environ, **env}, cwd=folder, **pipes)
        except OSError as error:
            raise DoesNotStart(f"{command[0]}: {error.strerror}") from None
        self._lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        try:
            self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            raise DoesNotStart(self._last_words()) from None

    def ask(self, id: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.send({"id": id, "method": method, "params": params})
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, self._deadline - time.monotonic()))
            except queue.Empty:
                raise DoesNotStart(f"no answer to {method} within {STARTS_WITHIN_S:g} s") from None
            if not line:
                raise DoesNotStart(self._last_words())
            try:
                message = json.loads(line)
            except ValueError:
                continue  # some write a banner first
            if message.get("id") == id and "method" not in message:
                if "result" not in message:
                    raise DoesNotStart(f"{method}: {message.get('error')}")
                return dict(message["result"])

    def _last_words(self) -> str:
        lines = self._errors.read_text(errors="replace").strip().splitlines()
        return f"it has ended: {lines[-1][:120] if lines else 'without a word'}"

    def end(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        try:
            self.process.wait(3)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def tried(starter: Starter, folder: Path) -> Row:
    values = json.loads(json.dumps(starter.trial).replace("{folder}", str(folder)))
    made = made_of(starter.choice, values, server=starter.id)
    command = [made.entry["command"], *made.entry["args"]]
    began = time.monotonic()
    try:
        server = Server(command, made.entry.get("env", {}), folder, folder / "stderr.txt")
    except DoesNotStart as error:
        return starter.id, "no", str(error), ""
    try:
        greeted = server.ask(1, "initialize", GREETING)
        server.send({"method": "notifications/initialized"})
        tools = server.ask(2, "tools/list", {})["tools"]
        version = str(greeted.get("serverInfo", {}).get("version", "?"))
        return starter.id, "yes" if tools else "no", f"{len(tools)} tools, version {version}", f"{time.monotonic() - began:.0f} s"
    except DoesNotStart as error:
        return starter.id, "no", str(error), f"{time.monotonic() - began:.0f} s"
    finally:
        server.end()


def rows(wanted: list[str]) -> Iterator[Row]:
    for starter in Starters(STARTERS).all():
        if wanted and starter.id not in wanted:
            continue
        if starter.trial is None:
            yield starter.id, "not tried", "elsewhere" if starter.remote else f"needs {starter.needs}", ""
            continue
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            yield tried(starter, Path(folder))


def main() -> int:
    is_good = True
    print("| server | starts | what | after |\n|---|---|---|---|")  # noqa: T201
    for row in rows(sys.argv[1:]):
        print("| " + " | ".join(row) + " |", flush=True)  # noqa: T201
        is_good = is_good and row[1] != "no"
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
