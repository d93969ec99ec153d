"""Many servers as one table: the same facts as a card in one line each, drawn by model/view; sorted, under headings, many selected."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QResizeEvent

from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.foundation.snapshots.tools import ServerCost
from tooltray.ui.figures import default_tokens
from tooltray.ui.i18n import tr
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.server_pane.server_menu import ServerMenu
from tooltray.ui.server_words import foot, label_words, reached, titled, tool_count
from tooltray.ui.servers.server_groups import GROUPINGS, Grouping, grouped, state_rank
from tooltray.ui.service_words import service
from tooltray.ui.state_language import IN_USE, UNKNOWN, Look, not_known, paused_look, server_look
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.row_model import Column, Heading, Kind
from tooltray.ui.widgets.table import Table
from tooltray.ui.zoom import px

ROOM_FOR_TRAFFIC, ROOM_FOR_TOKENS = 850, 710  # px; below that, calls and tokens are in the details only
ROOM_FOR_RUNS = 640  # px; below that, what runs is in the details that lie beside
TRAFFIC_COLUMN, TOKENS_COLUMN, FOUND_COLUMN = 6, 5, 3
SORTS = ("", "name", "state", "runs", "tools", "tokens", "calls", "on")
"""Names of the columns by which servers can be sorted, in the memory of the window; "": none."""


class ServerTable(Table):
    def __init__(self, theme: Theme, wishes: ServerWishes) -> None:
        self._is_paused = False
        self._costs: Mapping[str, ServerCost] = {}
        self._found: Mapping[str, str] = {}
        self._grouping: Grouping = GROUPINGS[0]
        columns = [
            Column("", lambda server: not server.is_builtin, Kind.PICK, 48),
            Column(tr("Name"), titled, Kind.TEXT, 190, label_words, order=lambda server: server.name.casefold()),
            Column(tr("State"), self._look, Kind.STATE, 156, self._state_words, order=state_rank),
            Column(tr("Runs"), self._runs, Kind.QUIET, 0, self._runs_tip, order=lambda server: service(server).casefold()),
            Column(tr("Tools"), _tool_count, Kind.NUMBER, 64, self._tools_tip, order=lambda server: server.tool_count, falls=True),
            Column(tr("Tokens"), self._tokens, Kind.NUMBER, 76, self._token_words, order=self._token_count, falls=True),
            Column(tr("Calls today"), _calls, Kind.NUMBER, 108, order=lambda server: server.calls_today, falls=True),
            Column(tr("On"), _is_on, Kind.SWITCH, 76, order=lambda server: not _is_on(server)),
        ]
        super().__init__(theme, columns, tr("Servers"), lambda server: server.name)
        self._theme, self._wishes = theme, wishes
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_context_menu)
        self.switched.connect(self._on_switched)

    def set_servers(self, servers: Sequence[ServerSnapshot]) -> None:
        self.set_rows(servers)

    def set_grouping(self, by: Grouping) -> None:
        """Groups servers under headings, or stops grouping them."""
        self._grouping = by
        self.set_rows(self.given)

    def set_paused(self, is_paused: bool) -> None:
        """Shows that every call is refused, whatever state a server is in."""
        self._is_paused = is_paused
        self.viewport().update()

    def set_costs(self, costs: Mapping[str, ServerCost]) -> None:
        """Shows what the definitions of the servers' tools cost, by server."""
        self._costs = costs
        if self.sorted_by is not None and self.sorted_by[0] == TOKENS_COLUMN:
            self.set_rows(self.given)
        self.viewport().update()

    def set_found(self, found: Mapping[str, str]) -> None:
        """Shows the names of the tools that a search has found, by server, instead of what runs."""
        self._found = found
        self._give_room()
        self.viewport().update()

    @property
    def picked_servers(self) -> list[ServerSnapshot]:
        """The selected servers that the user may act on."""
        return [server for server in self.picked if not isinstance(server, Heading) and not server.is_builtin]

    def arranged(self, rows: Sequence[Any]) -> list[Any]:
        return list(grouped(super().arranged(rows), self._grouping))

    def _state_words(self, server: ServerSnapshot) -> str:
        word, meaning = self._look(server).word, foot(server, None, datetime.now()).explanation
        return tr("{words}: {meaning}", words=word, meaning=meaning) if meaning else word

    def _look(self, server: ServerSnapshot) -> Look:
        return paused_look(server) if self._is_paused else server_look(server)

    def _runs(self, server: ServerSnapshot) -> str:
        return self._found.get(server.name) or service(server)

    def _runs_tip(self, server: ServerSnapshot) -> str:
        return self._found.get(server.name) or reached(server)

    def _tools_tip(self, server: ServerSnapshot) -> str:
        if not server.is_listed:
            return not_known(tr("it has not listed its tools yet"))
        return tool_count(server, self._costs.get(server.name))

    def _token_count(self, server: ServerSnapshot) -> int:
        cost = self._costs.get(server.name)
        return cost.shown_tokens if cost is not None else -1

    def _tokens(self, server: ServerSnapshot) -> str:
        cost = self._costs.get(server.name)
        return f"{cost.shown_tokens:,}" if cost is not None and (cost.tokens or server.is_listed) else UNKNOWN

    def _token_words(self, server: ServerSnapshot) -> str:
        cost = self._costs.get(server.name)
        return default_tokens(cost.shown_tokens, cost.tokens) if cost is not None else not_known(tr("they have not been counted yet"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._give_room()

    def _give_room(self) -> None:
        """Hides columns in a narrow table; the names of found tools take space, too."""
        self.setColumnHidden(TRAFFIC_COLUMN, self.width() < px(ROOM_FOR_TRAFFIC) or bool(self._found))
        self.setColumnHidden(TOKENS_COLUMN, self.width() < px(ROOM_FOR_TOKENS))
        self.setColumnHidden(FOUND_COLUMN, self.width() < px(ROOM_FOR_RUNS))

    def _on_switched(self, server: ServerSnapshot, on: bool) -> None:
        wish = self._wishes.start_requested if on else self._wishes.stop_requested
        wish.emit(server.name)

    def _on_context_menu(self, place: QPoint) -> None:
        index = self.indexAt(place)
        if index.isValid() and not isinstance(server := self.rows[index.row()], Heading):
            ServerMenu(self._theme, server, self._wishes, self, is_short=True).popup(self.viewport().mapToGlobal(place))


def _tool_count(server: ServerSnapshot) -> str:
    return f"{server.tool_count:,}" if server.tool_count or server.is_listed else UNKNOWN


def _calls(server: ServerSnapshot) -> str:
    return f"{server.calls_today:,}"


def _is_on(server: ServerSnapshot) -> bool | None:
    return None if server.is_builtin else server.state in IN_USE
