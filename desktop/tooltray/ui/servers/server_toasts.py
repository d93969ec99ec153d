"""What can be undone for a while: a server that was removed, or stopped.

Above it: the Servers page. Below it: toasts and ServerCommands.
"""

from functools import partial

from PySide6.QtCore import QObject, Signal

from tooltray.ui.i18n import tr
from tooltray.ui.pages.page_context import PageContext
from tooltray.ui.servers.removed_words import removed_words
from tooltray.ui.servers.server_commands import NewServer, ServerCommands


class ServerToasts(QObject):
    """`returning` carries the name of a server that is being brought back."""

    returning = Signal(str)

    def __init__(self, context: PageContext, parent: QObject, *, commands: ServerCommands) -> None:
        super().__init__(parent)
        self._context, self._commands = context, commands
        commands.server_stopped.connect(self._on_stopped)
        commands.server_removed.connect(self._on_removed)

    def _on_stopped(self, name: str) -> None:
        toast = self._context.offer_undo(tr("{name} is stopped", name=name))
        toast.action_requested.connect(partial(self._commands.start, name))

    def _on_removed(self, removed: NewServer) -> None:
        toast = self._context.offer_undo(removed_words(removed))
        self._removed = removed
        toast.action_requested.connect(self._on_undo)
        toast.passed.connect(self._on_passed)

    def _on_undo(self) -> None:
        self.returning.emit(self._removed.name)
        self._commands.bring_back(self._removed)

    def _on_passed(self) -> None:
        if self._removed.removal is not None:
            self._commands.forget_secrets(self._removed.removal)
