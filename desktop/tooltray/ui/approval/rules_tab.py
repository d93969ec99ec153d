"""The rules of servers, and beside them the tools of the chosen server, or all tools. A hundred servers and five thousand tools are rows of
two models."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPoint
from PySide6.QtGui import QAction, QActionGroup, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget

from tooltray.foundation.snapshots.approvals import GrantSnapshot, ServerPermissions
from tooltray.ui.approval.permission_words import (
    OWN,
    ToolRow,
    choices,
    comes_to,
    found,
    mode_of,
    modes_for,
    overall,
    rules_for,
    summary,
    tool_rows,
    why,
)
from tooltray.ui.approval.permissions_part import PermissionsPart
from tooltray.ui.approval.rule_sentences import covered
from tooltray.ui.approval.tool_sheet import ToolSheet
from tooltray.ui.i18n import tr
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.surface import column, divider, row
from tooltray.ui.widgets.table import Table

if TYPE_CHECKING:
    from tooltray.ui.approval.permissions_page import PermissionsPage

SERVERS_WIDTH, NARROW_SERVERS_WIDTH = 280, 196  # px of the list of servers, and where there is little room
ROOM_FOR_REASONS, ROOM_FOR_ALL = 900, 1240  # px of the tab; below that reasons are in tooltips alone, sooner beside servers' names
CHOICE_WIDTH = 184
ALL_SERVERS = ""
SERVER, NOW, WHY, CHANGE = 1, 2, 3, 4  # columns
WIDTHS, NARROW_WIDTHS = {SERVER: 140, NOW: 168}, {SERVER: 92, NOW: 148}  # px, and where there is little room


class RulesTab(QWidget, PermissionsPart):
    """A tab with the rules of servers and tools."""

    def __init__(self, page: "PermissionsPage") -> None:
        super().__init__()
        self.page, self.context = page, page.context
        theme = self._theme = page.context.theme
        self._servers: Sequence[ServerPermissions] = ()
        self._is_known = False  # what runs without asking
        self._is_selecting = False  # the program moves the selection, not the user
        self._rows: Sequence[ToolRow] = ()  # of all tools
        self._found: Sequence[ToolRow] = ()  # those among them that are searched for
        self._grants: Mapping[str, GrantSnapshot] = {}
        self._chosen, self._text = ALL_SERVERS, ""
        self._wanted = ALL_SERVERS  # a server that is to be chosen once it is known which there are
        line = row(self, spacing=0)
        self.servers = Table(theme, self._server_columns(), tr("Servers"), lambda each: each.server, has_header=False)
        self.servers.selectionModel().currentChanged.connect(self._on_server_moved)
        self.servers.setFixedWidth(SERVERS_WIDTH)
        line.addWidget(self.servers)
        edge = QWidget()
        edge.setObjectName("Divider")
        edge.setFixedWidth(1)
        line.addWidget(edge)
        right = column()
        right.addLayout(self._head())
        right.addLayout(self._filters())
        self._call_rules = Label(theme, "", "caption", "secondary", wrap=True)
        self._call_rules.setContentsMargins(24, 0, 24, 10)
        right.addWidget(self._call_rules)
        right.addWidget(divider())
        self.tools = Table(theme, self._tool_columns(), tr("Tools"), lambda each: each.key)
        self.tools.row_chosen.connect(self.open_tool)
        self.tools.pressed.connect(self._open_choices)
        right.addWidget(self.tools, 1)
        self._none = Label(theme, "", "body", "muted", wrap=True)
        self._none.setContentsMargins(24, 20, 24, 20)
        right.addWidget(self._none)
        right.addStretch(0)
        line.addLayout(right, 1)
        self._draw()

    @property
    def server(self) -> str:
        """The chosen server; empty: all."""
        return self._chosen

    @property
    def total(self) -> int:
        """The number of tools that run without asking."""
        return sum(row.tool.is_free for row in self._rows)

    async def read(self) -> None:
        """Reads what runs without asking, and shows it."""
        self.show_permissions(await self.hub.approvals.get_permissions())

    def show_permissions(self, servers: Sequence[ServerPermissions]) -> None:
        self._servers, self._is_known = servers, True
        self._rows = tool_rows(servers, self._grants)
        self.choose(self._wanted or self._chosen)  # all, if it is gone: nothing is shown in its place as if it were it
        self._wanted = ALL_SERVERS
        self._follow_tool()
        self.page.draw()

    def show_grants(self, grants: Sequence[GrantSnapshot]) -> None:
        self._grants = {each.id: each for each in grants}
        self._rows = tool_rows(self._servers, self._grants)
        self._found = found(self._rows, self._text)
        self._draw_tools()
        self._follow_tool()

    def search(self, text: str) -> None:
        """Shows the tools, and the servers, in whose names all words are found."""
        self._text = text
        self._draw()

    def choose(self, server: str) -> None:
        """Shows one server's tools; an unknown server shows all until the next read."""
        self._chosen = server if any(each.server == server for each in self._servers) else ALL_SERVERS
        self._wanted = server if self._chosen != server else ALL_SERVERS
        self._draw()

    def tool(self, server: str, tool: str) -> ToolRow | None:
        """Returns a tool's current row; None if the tool no longer exists."""
        return next((each for each in self._rows if each.key == (server, tool)), None)

    def open_tool(self, of: ToolRow) -> None:
        """Opens the sheet of one tool; an open sheet of any kind stays."""
        sheet = ToolSheet(self.context, of, choose=self._set_tool, revoke=self.page.revoke)
        if self.context.sheets.show(sheet) is not None:
            sheet.run(sheet.read())

    def _follow_tool(self) -> None:
        """Updates the open sheet of a tool."""
        sheet = self.context.sheets.panel
        if isinstance(sheet, ToolSheet) and (now := self.tool(*sheet.of.key)) is not None:
            sheet.show_tool(now)

    # the parts

    def _head(self) -> QHBoxLayout:
        theme = self._theme
        line = row(margins=(24, 12, 24, 6), spacing=10)
        words = column(spacing=2)
        self._name = ElidedLabel(theme, "", "heading")
        self._summary = ElidedLabel(theme, "", "caption", "muted")
        words.addWidget(self._name)
        words.addWidget(self._summary)
        line.addLayout(words, 1)
        self._rules_label = Label(theme, tr("Runs without asking:"), "caption", "secondary")
        line.addWidget(self._rules_label)
        self._rules = Choice(theme, [], name=tr("What runs without asking"))
        self._rules.setFixedWidth(CHOICE_WIDTH)
        self._rules.chosen_changed.connect(self._on_mode_chosen)
        line.addWidget(self._rules)
        return line

    def _filters(self) -> QHBoxLayout:
        line = row(margins=(24, 0, 24, 8))
        self._filter = FilterTabs(self._theme, [tr("All"), tr("Run without asking"), tr("Ask first")], name=tr("Tools"))
        self._filter.chosen.connect(self._draw_tools)
        line.addWidget(self._filter)
        line.addStretch(1)
        return line

    def _server_columns(self) -> list[Column]:
        return [
            Column(tr("Server"), lambda each: each.server or tr("All servers"), Kind.TEXT, tip=lambda each: each.server),
            Column(tr("Run without asking"), lambda each: summary(each) if each.server else "", Kind.NUMBER, 92),
        ]

    def _tool_columns(self) -> list[Column]:
        return [
            Column(tr("Tool"), lambda each: each.tool.tool, Kind.MONO, tip=lambda each: f"{each.tool.tool} · {each.server}"),
            Column(tr("Server"), lambda each: each.server, Kind.QUIET, WIDTHS[SERVER], lambda each: each.server),
            Column(tr("Now"), lambda each: comes_to(each, datetime.now()), Kind.CHIP, WIDTHS[NOW], why),
            Column(tr("Why"), why, Kind.QUIET, 260, why),
            Column("", lambda each: tr("Change…") if each.is_changeable else "", Kind.BUTTON, 96),
        ]

    def _draw(self) -> None:
        words = self._text.casefold().split()
        self._found = found(self._rows, self._text)
        hits = {each.server for each in self._found}
        shown = [
            each for each in self._servers if not words or each.server in hits or all(word in each.server.casefold() for word in words)
        ]
        self.servers.set_rows([ServerPermissions(ALL_SERVERS, ()), *shown])
        self._select_chosen()
        server = self._server()
        self._name.set_text(server.server if server else tr("All servers"))
        self._summary.set_text((overall(self._servers) if self._is_known else "") if server is None else _about(server))
        self._rules.setVisible(server is not None and server.is_changeable)
        if server is not None:
            self._rules.set_options(modes_for(server))
            self._rules.choose(mode_of(server))
        rules = [covered(each) for each in server.call_rules] if server is not None else []
        self._call_rules.setText("\n".join([tr("Rules on arguments in its settings:"), *rules]))
        self._call_rules.setVisible(bool(rules))
        self._fit_columns()
        self._draw_tools()

    def _draw_tools(self) -> None:
        server = self._server()
        rows = [each for each in self._found if server is None or each.server == server.server]
        free = [each for each in rows if each.tool.is_free]
        asking = [each for each in rows if not each.tool.is_free]
        self._filter.set_counts([len(rows), len(free), len(asking)])
        shown = (rows, free, asking)[self._filter.current]
        self.tools.set_rows(shown)
        self.tools.setVisible(bool(shown))
        self._none.setVisible(not shown)
        self._none.setText(self._nothing(server))

    def _nothing(self, server: ServerPermissions | None) -> str:
        if not self._is_known:
            return tr("Reading what runs without asking…")
        if server is not None and not server.is_listed:
            return tr("Which tools it has is not known yet. They are listed when it has run once.")
        if self._text.strip() or self._filter.current:
            return tr("No such tool.")
        return tr("It has no tools.") if server is not None else tr("No tools listed yet.")

    def _server(self) -> ServerPermissions | None:
        return next((each for each in self._servers if each.server == self._chosen), None)

    def _select_chosen(self) -> None:
        place = next((index for index, each in enumerate(self.servers.rows) if each.server == self._chosen), 0)
        if self.servers.currentIndex().row() != place:
            self._is_selecting = True
            self.servers.setCurrentIndex(self.servers.model().index(place, 0))
            self._is_selecting = False

    # what a person wants

    def _on_server_moved(self, current: QModelIndex, _before: QModelIndex) -> None:
        if not self._is_selecting and current.isValid() and (server := self.servers.rows[current.row()].server) != self._chosen:
            self._chosen, self._wanted = server, ALL_SERVERS
            self._draw()

    def _on_mode_chosen(self, mode: str) -> None:
        if (server := self._server()) is not None and mode != OWN:
            change = partial(self.hub.approvals.set_server_auto_approve, server.server)
            toast = tr("What runs without asking of {server} is changed", server=server.server)
            self.run(change(rules_for(server, mode)), then=self.read, toast=toast, undo=partial(change, list(server.rules)))
            self._rules.choose(mode_of(server))  # until it is so

    def _open_choices(self, of: ToolRow) -> None:
        menu = QMenu(self.tools)
        menu.setFont(self._theme.font())
        menu.setAccessibleName(tr("What {tool} does", tool=of.tool.tool))
        menu.aboutToHide.connect(menu.deleteLater)
        group = QActionGroup(menu)
        for value, title in choices():
            action = menu.addAction(title)
            action.setData(value)
            action.setCheckable(True)
            action.setChecked(value == of.tool.choice)
            group.addAction(action)
        menu.triggered.connect(partial(self._on_chosen, of))
        place = self.tools.visualRect(self.tools.model().index(self.tools.rows.index(of), CHANGE))
        menu.popup(self.tools.viewport().mapToGlobal(QPoint(place.left(), place.bottom())))

    def _on_chosen(self, of: ToolRow, action: QAction) -> None:
        if (chosen := str(action.data())) != of.tool.choice:
            self._set_tool(of, chosen)

    def _set_tool(self, of: ToolRow, choice: str) -> None:
        """Sets the choice for one tool: "always", "ask" or "default"."""
        tool = of.tool.tool
        words = {"always": tr("{tool} runs without asking", tool=tool), "ask": tr("{tool} asks first", tool=tool)}
        toast = words.get(choice) or tr("{tool} is as its server", tool=tool)
        change = partial(self.hub.approvals.set_tool_approval, of.server, tool)
        self.run(change(choice), then=self.read, toast=toast, undo=partial(change, of.tool.choice))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.servers.setFixedWidth(SERVERS_WIDTH if self.width() >= ROOM_FOR_REASONS else NARROW_SERVERS_WIDTH)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Shows the servers' names beside the tools of several servers; hides reasons where the width is too small for both."""
        for place, width in (WIDTHS if self.width() >= ROOM_FOR_REASONS else NARROW_WIDTHS).items():
            self.tools.setColumnWidth(place, width)
        self.tools.setColumnHidden(SERVER, bool(self._chosen))
        server = self._server()  # its label is said by the line below its name, where there is no room for both
        self._rules_label.setVisible(server is not None and server.is_changeable and self.width() >= ROOM_FOR_REASONS)
        self.tools.setColumnHidden(WHY, self.width() < (ROOM_FOR_REASONS if self._chosen else ROOM_FOR_ALL))


def _about(server: ServerPermissions) -> str:
    if not server.is_changeable:
        return tr("Comes with Tooltray, and runs without asking.")
    if not server.is_listed:
        return tr("Its tools are not known yet.")
    free = sum(tool.is_free for tool in server.tools)
    return tr("{free} of {count} tools run without asking.", free=free, count=len(server.tools))
