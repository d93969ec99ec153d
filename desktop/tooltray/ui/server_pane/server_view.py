"""The bases of the tabs of an opened server, and of the sections of its tab Access."""

from collections.abc import Sequence

import msgspec
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.confinement import ConfinementSnapshot
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.foundation.snapshots.tools import ServerCost, ToolSnapshot
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.widgets.banner import show_error
from tooltray.ui.widgets.surface import column

TAB_INSET = 11  # px of a tab of the pane: its word keeps to the pane's margin


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


class AccessSection(QWidget, View):
    """The base of the sections.

    Attributes:
        body: the layout of the section.
        notes: the layout for failures; each section adds it where it belongs.
    """

    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__()
        self.context, self._theme, self._name = context, context.theme, name
        self.body, self.notes = column(self, spacing=10), column(spacing=8)

    def set_server(self, server: ServerSnapshot) -> None:
        """Shows a newer snapshot."""

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure in `notes`; None removes it."""
        show_error(self.notes, self._theme, problem)

    async def confine(self, wanted: ConfinementSnapshot) -> ConfinementSnapshot:
        """Sets the server's confinement; returns the one that applies."""
        return await self.hub.confinement.set_confinement(
            self._name, wanted.files, wanted.network, list(wanted.hosts), list(wanted.read), list(wanted.write)
        )
