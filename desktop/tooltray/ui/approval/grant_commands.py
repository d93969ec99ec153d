"""Carries out the user's actions on the page of grants, and reports the outcome. Knows no widget."""

import msgspec
from PySide6.QtCore import QObject, Signal

from tooltray.foundation.snapshots.approvals import ToolChange
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import Commands, action, at_sheet
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.server_words import runs_everything
from tooltray.ui.state_language import needs_person


class GrantWish(msgspec.Struct, frozen=True):
    """A permission to grant: for one tool, or everything that reads, of a server."""

    server: str
    kind: str  # "tool" or "reads"
    tool: str = ""  # of the kind "tool": the server's own name
    client: str = ""  # as it names itself; empty: for all
    expires_in_s: float | None = None  # None: until it is revoked
    until: str = ""  # "lock": until the screen locks
    seen: str = ""  # `revision` of the preview that the person has looked at


class GrantSubjects(msgspec.Struct, frozen=True):
    """The possible subjects of a grant: the servers' names, those with tools first; AI clients with their names in code and for users."""

    servers: tuple[str, ...]
    clients: tuple[tuple[str, str], ...]
    has_lock: bool = False  # it is heard of when the screen locks


class GrantCommands(Commands):
    grants_changed = Signal(object)  # list[GrantSnapshot]
    changes_changed = Signal(object)  # list[ToolChange]
    open_servers_changed = Signal(int)  # so many servers let every call through, by their own settings
    began = Signal(object)  # GrantSubjects: something is to be allowed
    tools_listed = Signal(str, object)  # a server's name; list[ToolSnapshot]
    previewed = Signal(object, object)  # GrantWish; list[ToolSnapshot] that it covers
    taken_back = Signal(str)  # a grant's id
    saved = Signal()  # what the open sheet was about is done

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None) -> None:
        super().__init__(hub=hub, tasks=tasks, parent=parent)
        self._is_known = False
        hub.grants_changed.connect(self.look)
        hub.snapshot_changed.connect(self.on_hub_changed)

    @action()
    async def look(self) -> None:
        """Reads everything that the page shows."""
        await self._look()

    @action()
    async def take_back(self, id: str) -> None:
        try:
            await self._hub.approvals.remove_grant(id)
            self.taken_back.emit(id)
        finally:
            await self._look()  # the switch stands as it is so

    @action()
    async def give_back(self, id: str) -> None:
        """Undoes the revocation of a grant."""
        try:
            await self._hub.approvals.restore_grant(id)
        finally:
            await self._look()

    @action()
    async def begin(self) -> None:
        """Reads what can be allowed, and emits `began`."""
        modes = await self._hub.views.get_client_modes()
        snapshot = self._hub.snapshot
        own = [server for server in snapshot.servers if not server.is_builtin] if snapshot is not None else []
        servers = [server.name for server in sorted(own, key=lambda server: (not _has_tools(server), server.name))]
        clients = ((mode.client, mode.title or mode.client) for mode in modes if mode.is_seen and mode.client not in ("", "*"))
        self.began.emit(GrantSubjects(tuple(servers), tuple(clients), self._hub.hears_lock))

    @action(at_sheet)
    async def list_tools(self, server: str) -> None:
        self.tools_listed.emit(server, await self._hub.tools.get_tools(server))

    @action(at_sheet)
    async def preview(self, wish: GrantWish) -> None:
        """Reads what a grant would cover; emits `previewed` or `refused`."""
        self.previewed.emit(wish, await self._hub.approvals.preview_grant(wish.server, wish.kind, wish.tool, wish.client))

    @action(at_sheet)
    async def allow(self, wish: GrantWish) -> None:
        """Adds a grant; emits `saved` or `refused`."""
        await self._hub.approvals.add_grant(wish.server, wish.kind, wish.tool, wish.client, wish.expires_in_s, wish.until, wish.seen)
        self.saved.emit()
        self.done.emit(tr("Allowed"))
        await self._look()

    @action(at_sheet)
    async def accept(self, change: ToolChange) -> None:
        """Accepts a tool's or a skill's change that the user has seen; emits `saved` or `refused`."""
        await self._hub.approvals.accept_tool_change(change.server, change.tool, change.kind, change.revision)
        self.saved.emit()
        self.done.emit(tr("{tool} is allowed as it is now", tool=change.tool))
        await self._look()

    def on_hub_changed(self) -> None:
        """Refreshes once the hub is connected; also called by the page, which may be built later."""
        is_known = self._hub.snapshot is not None
        self.open_servers_changed.emit(sum(runs_everything(server) for server in self._hub.snapshot.servers) if self._hub.snapshot else 0)
        if is_known and not self._is_known:
            self.look()
        self._is_known = is_known

    async def _look(self) -> None:
        self.grants_changed.emit(await self._hub.approvals.get_grants())
        self.changes_changed.emit(await self._hub.approvals.get_tool_changes())


def _has_tools(server: ServerSnapshot) -> bool:
    """Returns whether a server has listed tools and has no trouble, so that something can be allowed."""
    return server.tool_count > 0 and not needs_person(server)
