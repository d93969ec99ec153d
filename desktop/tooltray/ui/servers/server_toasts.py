"""Toasts for actions that can be undone for a while: a server was removed, or stopped."""

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QObject, Signal

from tooltray.foundation.snapshots.setup import ServerRemoval
from tooltray.ui.add.pasted_preview import NewServer
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.servers.server_commands import ServerCommands

MOST_NAMES = 3  # of one kind; it is to be read in the moment before it goes


def removed_words(removed: NewServer) -> str:
    """Returns one line about a removal; it may name secrets, and never contains their values."""
    is_of_file = bool(removed.project)
    text = tr("{name} is removed from its file", name=removed.name) if is_of_file else tr("{name} is removed", name=removed.name)
    return " · ".join([text, *(_of_secrets(removed.removal) if removed.removal is not None else ())])


def _of_secrets(removal: ServerRemoval) -> Iterator[str]:
    if len(removal.secrets) > 1:
        yield tr("with its secrets {names}", names=_listed(removal.secrets))
    elif removal.secrets:
        yield tr("with its secret {names}", names=removal.secrets[0])
    if removal.sign_in:
        yield tr("its sign-in ends")
    for shared in removal.shared:
        users = _listed(shared.users)
        is_one = len(shared.users) == 1
        stays = tr("{name} stays, {users} still uses it", name=shared.name, users=users)
        yield stays if is_one else tr("{name} stays, {users} still use it", name=shared.name, users=users)


def _listed(names: tuple[str, ...]) -> str:
    shown, more = ", ".join(names[:MOST_NAMES]), len(names) - MOST_NAMES
    return tr("{names} and {count} more", names=shown, count=more) if more > 0 else shown


class ServerToasts(QObject):
    """The toasts of the page. `returning` carries the name of a server that is being restored."""

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
