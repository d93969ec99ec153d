"""Carries out what the user chooses for a server's confinement; each choice can be undone. Knows no widget."""

from functools import partial

from PySide6.QtCore import QObject, Signal

from tooltray.foundation.snapshots.confinement import ConfinementSnapshot, ConfinementSupport, RefusedThing
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.confinement_words import in_full
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import Commands, action
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter


class ConfinementCommands(Commands):
    support_known = Signal(object)  # ConfinementSupport: what this computer can
    changed = Signal(str, object)  # what was done, and what takes it back: Work

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None, server: str) -> None:
        super().__init__(hub=hub, tasks=tasks, parent=parent)
        self._server = server

    @action()
    async def look(self) -> None:
        support: ConfinementSupport = await self._hub.confinement.get_confinement_support()
        self.support_known.emit(support)

    @action()
    async def choose(self, wanted: ConfinementSnapshot, before: ConfinementSnapshot) -> None:
        """Applies a choice to the server's confinement."""
        now = await self._set(wanted)
        words = in_full(now).partition("\n")[0]
        self.changed.emit(tr("{server}: {words}", server=self._server, words=words), partial(self._set, before))

    @action()
    async def allow(self, thing: RefusedThing, before: ConfinementSnapshot) -> None:
        """Allows the server something that was refused."""
        await self._hub.confinement.allow_refused(self._server, "host" if thing.kind == "host" else "path", thing.name)
        self.changed.emit(tr("{server} is allowed {thing} now", server=self._server, thing=thing.name), partial(self._set, before))

    async def _set(self, wanted: ConfinementSnapshot) -> ConfinementSnapshot:
        return await self._hub.confinement.set_confinement(
            self._server, wanted.files, wanted.network, list(wanted.hosts), list(wanted.read), list(wanted.write)
        )
