"""The base of the tabs of an opened server, and what they show."""

from collections.abc import Sequence

import msgspec
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.foundation.snapshots.tools import ServerCost, ToolSnapshot


class PaneState(msgspec.Struct, frozen=True):
    """What is known of an opened server.

    Attributes:
        refusal: why the user's action failed.
        cost: of the definitions of its tools; None: not known.
        tools: None: not known.
    """

    server: ServerSnapshot
    refusal: Problem | None = None
    cost: ServerCost | None = None
    tools: Sequence[ToolSnapshot] | None = None


class ServerView(QWidget):
    def show_state(self, state: PaneState) -> None:
        """Shows what is known now."""
        raise NotImplementedError
