"""Many servers as one table: the same facts as a card in one line each, drawn by model/view."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QResizeEvent

from tooltray.snapshots.servers import ServerSnapshot
from tooltray.snapshots.tools import ServerCost
from tooltray.ui.figures import tokens
from tooltray.ui.i18n import tr
from tooltray.ui.pages.server_wishes import ServerWishes
from tooltray.ui.servers.server_menu import ServerMenu
from tooltray.ui.servers.server_words import label_words, milliseconds, reached, reached_shortly, titled
from tooltray.ui.state_language import IN_USE, Look, paused_look, server_look
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.table import Column, Kind, Table

ROOM_FOR_TRAFFIC, ROOM_FOR_TOKENS = 820, 680  # px; below that, calls with their time, and tokens, are in the details only
TRAFFIC_COLUMNS, TOKENS_COLUMN = (5, 6), 4


class ServerTable(Table):
    def __init__(self, theme: Theme, wishes: ServerWishes) -> None:
        self._is_paused = False
        columns = [
            Column(tr("Name"), titled, Kind.TEXT, 190, label_words),
            Column(tr("State"), self._look, Kind.STATE, 164),
            Column(tr("Runs"), reached_shortly, Kind.QUIET, 0, reached),
            Column(tr("Tools"), lambda server: f"{server.tool_count:,}" if server.tool_count else "–", Kind.NUMBER, 72),
            Column(tr("Tokens"), self._tokens, Kind.NUMBER, 84, self._token_words),
            Column(tr("Calls today"), lambda server: f"{server.calls_today:,}", Kind.NUMBER, 108),
            Column(tr("p95"), lambda server: f"{milliseconds(server.p95_ms)} ms" if server.p95_ms else "–", Kind.NUMBER, 92),
            Column(tr("On"), lambda server: None if server.is_builtin else server.state in IN_USE, Kind.SWITCH, 76),
        ]
        super().__init__(theme, columns, tr("Servers"), lambda server: server.name)
        self._theme, self._wishes = theme, wishes
        self._costs: Mapping[str, ServerCost] = {}
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_context_menu)
        self.switched.connect(self._on_switched)

    def set_servers(self, servers: Sequence[ServerSnapshot]) -> None:
        self.set_rows(servers)

    def set_paused(self, is_paused: bool) -> None:
        """Shows that every call is refused, whatever state a server is in."""
        self._is_paused = is_paused
        self.viewport().update()

    def _look(self, server: ServerSnapshot) -> Look:
        return paused_look(server) if self._is_paused else server_look(server)

    def set_costs(self, costs: Mapping[str, ServerCost]) -> None:
        """Shows what the definitions of the servers' tools cost, by server."""
        self._costs = costs
        self.viewport().update()

    def _tokens(self, server: ServerSnapshot) -> str:
        cost = self._costs.get(server.name)
        return f"{cost.shown_tokens:,}" if cost is not None and cost.tokens else "–"

    def _token_words(self, server: ServerSnapshot) -> str:
        cost = self._costs.get(server.name)
        return tokens(cost.shown_tokens, cost.tokens) if cost is not None else ""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for index in TRAFFIC_COLUMNS:
            self.setColumnHidden(index, self.width() < ROOM_FOR_TRAFFIC)
        self.setColumnHidden(TOKENS_COLUMN, self.width() < ROOM_FOR_TOKENS)

    def _on_switched(self, server: ServerSnapshot, on: bool) -> None:
        wish = self._wishes.start_requested if on else self._wishes.stop_requested
        wish.emit(server.name)

    def _on_context_menu(self, place: QPoint) -> None:
        index = self.indexAt(place)
        if index.isValid():
            ServerMenu(self._theme, self.rows[index.row()], self._wishes, self).popup(self.viewport().mapToGlobal(place))
