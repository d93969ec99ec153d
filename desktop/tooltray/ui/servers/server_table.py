"""Many servers as one table: the same facts as a card in one line each, drawn by model/view; sorted, under headings, many selected.
And the menu that chooses between cards and table, the order and the headings."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import msgspec
from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QActionGroup, QResizeEvent
from PySide6.QtWidgets import QMenu

from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.foundation.snapshots.tools import ServerCost
from tooltray.ui.figures import default_tokens
from tooltray.ui.i18n import tr
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.kit.window_memory import WindowMemory
from tooltray.ui.origins import file_name, is_of_file, project_of
from tooltray.ui.server_pane.server_menu import ServerMenu
from tooltray.ui.server_words import foot, label_words, reached, titled, tool_count
from tooltray.ui.servers.server_filter import NEEDS_YOU, STARTING, STOPPED, WAITING, tab_of
from tooltray.ui.service_words import host, service
from tooltray.ui.state_language import IN_USE, UNKNOWN, Look, not_known, paused_look, server_look
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import IconButton, new_menu, popup_below
from tooltray.ui.widgets.row_model import Column, Heading, Kind
from tooltray.ui.widgets.table import Table
from tooltray.ui.zoom import px

ROOM_FOR_TRAFFIC, ROOM_FOR_TOKENS = 850, 710  # px; below that, calls and tokens are in the details only
ROOM_FOR_RUNS = 640  # px; below that, what runs is in the details that lie beside
TRAFFIC_COLUMN, TOKENS_COLUMN, FOUND_COLUMN = 6, 5, 3
SORTS = ("", "name", "state", "runs", "tools", "tokens", "calls", "on")
"""Names of the columns by which servers can be sorted, in the memory of the window; "": none."""


STATE_ORDER = (
    ServerState.ERROR,
    ServerState.NEEDS_SIGN_IN,
    ServerState.WAITING,
    ServerState.RESTARTING,
    ServerState.STARTING,
    ServerState.INSTALLING,
    ServerState.STOPPING,
    ServerState.RUNNING,
    ServerState.ON_DEMAND,
    ServerState.STOPPED,
)
"""What a person should look at first."""

DECORATION = re.compile(r"^(?:mcp-server-|server-|mcp-)|(?:-mcp-server|-mcp|-server)$")


class Grouping(msgspec.Struct, frozen=True):
    """A way of grouping servers.

    Args:
        name: in the memory of the window.
        of: returns the heading of a server.
    """

    name: str
    title: Callable[[], str]
    of: Callable[[ServerSnapshot], str]


def state_rank(server: ServerSnapshot) -> int:
    return STATE_ORDER.index(server.state)


def by_state(server: ServerSnapshot) -> str:
    ready = tr("Connected") if server.state is ServerState.RUNNING else tr("Sleeping")
    others = {NEEDS_YOU: tr("Needs you"), WAITING: tr("Waiting for project"), STOPPED: tr("Stopped"), STARTING: tr("Starting")}
    return others.get(tab_of(server), ready)


def by_file(server: ServerSnapshot) -> str:
    """Returns the project or the file that a server is from."""
    if is_of_file(server):
        return file_name(server.file, project_of(server))
    return tr("Comes with Tooltray") if server.is_builtin else tr("Settings")


def by_service(server: ServerSnapshot) -> str:
    """Returns the service of a server: the host or the program, without the common parts of names."""
    if server.is_builtin:
        return tr("Comes with Tooltray")
    if "://" in server.target:
        return ".".join(host(server.target).split(".")[-2:]) or server.name
    return DECORATION.sub("", service(server).rpartition("/")[2]) if server.target else server.name


GROUPINGS = (
    Grouping("", lambda: tr("No groups"), lambda server: ""),
    Grouping("state", lambda: tr("State"), by_state),
    Grouping("file", lambda: tr("Project or file"), by_file),
    Grouping("service", lambda: tr("Service"), by_service),
)


def grouping(name: str) -> Grouping:
    """Returns the grouping of this name; the first one for an unknown name."""
    return next((each for each in GROUPINGS if each.name == name), GROUPINGS[0])


def grouped(servers: Sequence[ServerSnapshot], by: Grouping) -> list[ServerSnapshot | Heading]:
    """Returns servers under headings, each group in the given order: states by urgency, others by name."""
    if not by.name:
        return list(servers)
    groups: dict[str, list[ServerSnapshot]] = {}
    for server in servers:
        groups.setdefault(by.of(server), []).append(server)
    rows: list[ServerSnapshot | Heading] = []
    for title in _in_order(groups, by):
        rows += [Heading(title, len(groups[title])), *groups[title]]
    return rows


def _in_order(groups: Mapping[str, Sequence[ServerSnapshot]], by: Grouping) -> list[str]:
    if by.name == "state":
        return sorted(groups, key=lambda title: min(state_rank(server) for server in groups[title]))
    return sorted(groups, key=lambda title: (all(server.is_builtin for server in groups[title]), title.casefold()))


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
        return [server for server in self.picked if not server.is_builtin]

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


MOST_CARDS = 11  # beyond that a table, unless a person wants cards: scanning beats looking, and no widget is built per server
CARDS, TABLE = "cards", "table"
VIEW, SORT, GROUP = "servers.view", "servers.sort", "servers.group"  # in the memory of the window


class ServerViews(IconButton):
    """A button whose menu has all views. `changed`: the user has chosen another one."""

    changed = Signal()

    def __init__(self, theme: Theme, memory: WindowMemory, table: ServerTable) -> None:
        super().__init__(theme, "layers", tr("How servers are shown"), small=True)
        self._memory, self._table = memory, table
        self._count = 0
        table.set_grouping(self.grouping)
        name, _, falls = memory.text(SORT).partition(" ")
        table.sort_by(SORTS.index(name) if name in SORTS[1:] else -1, bool(falls))
        table.sort_changed.connect(self._on_sorted)
        self.clicked.connect(self._on_clicked)

    @property
    def grouping(self) -> Grouping:
        return grouping(self._memory.text(GROUP))

    def is_table(self, count: int) -> bool:
        """Returns whether so many servers are shown as a table."""
        self._count = count
        chosen = self._memory.text(VIEW)
        return chosen == TABLE if chosen in (CARDS, TABLE) else count > MOST_CARDS

    def _on_sorted(self) -> None:
        by = self._table.sorted_by
        self._memory.remember(SORT, f"{SORTS[by[0]]} {'falls' if by[1] else ''}".strip() if by is not None else "")

    def _on_clicked(self) -> None:
        menu = new_menu(self, self._theme, self.accessibleName())
        is_table = self.is_table(self._count)
        self._add_choices(menu, tr("Show as"), [(tr("Cards"), CARDS), (tr("Table"), TABLE)], TABLE if is_table else CARDS, VIEW)
        if is_table:
            self._add_choices(menu, tr("Group by"), [(each.title(), each.name) for each in GROUPINGS], self.grouping.name, GROUP)
            self._add_choices(menu, tr("Sort by"), self._sorts(), self._memory.text(SORT).partition(" ")[0], SORT)
        popup_below(menu, self)

    def _sorts(self) -> list[tuple[str, str]]:
        titles = [column.title for column in self._table.columns]
        return [(tr("As added"), ""), *((titles[index], name) for index, name in enumerate(SORTS) if name)]

    def _add_choices(self, menu: QMenu, title: str, choices: Sequence[tuple[str, str]], chosen: str, name: str) -> None:
        if not menu.isEmpty():
            menu.addSeparator()
        menu.addAction(title).setEnabled(False)
        group = QActionGroup(menu)
        for words, value in choices:
            action = menu.addAction(words)
            action.setCheckable(True)
            action.setChecked(value == chosen)
            group.addAction(action)
            action.triggered.connect(partial(self._on_chosen, name, value))

    def _on_chosen(self, name: str, value: str) -> None:
        if name == SORT:
            index = SORTS.index(value) if value else -1
            self._table.sort_by(index, self._table.columns[index].falls if value else False)
            self._on_sorted()
        else:
            self._memory.remember(name, value)
        if name == GROUP:
            self._table.set_grouping(self.grouping)
        self.changed.emit()
