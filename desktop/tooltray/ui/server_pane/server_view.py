"""The base class of the tabs of an opened server: its methods notify a tab of changes, and each tab overrides the ones that it needs."""

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.foundation.snapshots.tools import ServerCost, ToolSnapshot


class ServerView(QWidget):
    def set_server(self, server: ServerSnapshot) -> None:
        """Shows a newer snapshot."""

    def set_refusal(self, problem: Problem | None) -> None:
        """Shows why the user's action failed; None removes it."""

    def set_cost(self, cost: ServerCost | None) -> None:
        """Shows what the definitions of the server's tools cost; None: not known."""

    def set_gone(self) -> None:
        """Shows that the server was removed; what the user has typed stays `unsaved`."""

    @property
    def unsaved(self) -> str:
        """The user's input that is not saved; may be empty."""
        return ""

    def restore(self, text: str) -> None:
        """Shows what was `unsaved`."""

    def set_tools(self, tools: Sequence[ToolSnapshot]) -> None:
        """Shows the server's tools."""
