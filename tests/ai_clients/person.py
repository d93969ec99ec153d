"""What a person does with Tooltray and the AI clients on this computer, through the hub that runs.

Above it: the tests. Below it: the control channel, as a command at a terminal uses it.
"""

from typing import Any

from tests.end2end.processes import World

from tooltray.control.control_client import ControlClient
from tooltray.home.home import Home

IMPORT_S = 120.0  # nineteen servers start, two at a time


class Person:
    """Uses one hub while it is entered."""

    def __init__(self, world: World) -> None:
        hub = ControlClient.connect(Home(world.root), is_at_terminal=True)
        assert hub, "no hub runs"
        self._hub = hub

    def __enter__(self) -> "Person":
        return self

    def __exit__(self, *_: object) -> None:
        self._hub.close()

    def scan(self) -> dict[str, Any]:
        found: dict[str, Any] = self._hub.call("scan_ai_clients")
        return found

    def connect(self, *clients: str) -> None:
        self._apply(self._hub.call("preview_connect", clients=clients))

    def disconnect(self, *clients: str) -> None:
        self._apply(self._hub.call("preview_disconnect", clients=clients))

    def undo(self) -> None:
        """Undoes the newest change that can be undone."""
        change = next(each for each in self.changes() if each["undo"] != "none")
        undone = self._hub.call("undo_client_change", id=change["id"])
        assert undone["problem"] is None, undone

    def undo_all(self) -> None:
        while any(each["undo"] != "none" and each["action"] != "undo" for each in self.changes()):
            self.undo()

    def changes(self) -> list[dict[str, Any]]:
        """The newest first."""
        found: list[dict[str, Any]] = self._hub.call("get_client_changes")
        return found

    def import_all(self, *clients: str) -> set[str]:
        """Moves the servers of some clients in; returns the names of those that have listed their tools."""
        plan = self._hub.call("preview_client_import", clients=clients)
        assert plan["problems"] == []
        chosen = [each["id"] for each in plan["candidates"] if each["is_chosen"]]
        moved = self._hub.call("import_servers", choices=chosen, clients=clients, tidy=True, timeout_s=IMPORT_S)
        assert [each["problem"] for each in moved] == [None] * len(chosen)
        return {each["name"] for each in moved if each["state"] == "listed"}

    def _apply(self, edits: list[dict[str, Any]]) -> None:
        assert [each["problem"] for each in edits] == [None] * len(edits)
        made = self._hub.call("apply_client_edits", edits={each["id"]: each["revision"] for each in edits if each["diff"]})
        assert [each["problem"] for each in made] == [None] * len(made)
