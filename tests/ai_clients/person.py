"""What a person types at a terminal to have AI clients use Tooltray, and to have it undone."""

import json
from typing import Any

from tests.end2end.at_terminal import at_terminal
from tests.end2end.processes import World

COMMAND_S = 90.0  # for one command; an import waits until each server has listed its tools


class Person:
    def __init__(self, world: World) -> None:
        self._world = world

    def scan(self) -> dict[str, Any]:
        found: dict[str, Any] = self._read("clients", "scan")
        return found

    def connect(self, *clients: str) -> None:
        self._type("clients", "connect", *(clients or ("--all",)), "--yes")

    def disconnect(self, *clients: str) -> None:
        self._type("clients", "disconnect", *clients, "--yes")

    def write_skill(self, client: str) -> None:
        self._type("skill", "write", "--client", client, "--yes")

    def undo(self) -> None:
        """Undoes the newest change that can be undone."""
        self._type("clients", "undo", "--yes")

    def undo_all(self) -> None:
        while any(each["undo"] != "none" for each in self._read("clients", "changes")):
            self.undo()

    def import_all(self, *clients: str) -> set[str]:
        """Moves the servers of some clients in; returns the names of all servers that are here afterwards."""
        self._type("import", *clients, "--all", "--yes")
        return {each["name"] for each in self._read("servers", "list")}

    def _type(self, *words: str) -> None:
        code, seen = at_terminal(self._world, *words, timeout_s=COMMAND_S)
        assert code == 0, f"{words}: {seen}"

    def _read(self, *words: str) -> Any:
        done = self._world.tooltray(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
