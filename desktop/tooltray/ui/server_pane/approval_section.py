"""Which calls of a server run without asking: by kind, by rules on arguments, and its tools, each with a choice."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction, QActionGroup, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget

from tooltray.foundation.snapshots.approvals import GrantSnapshot, ServerPermissions
from tooltray.ui.approval.allow_tools_sheet import AllowToolsSheet
from tooltray.ui.approval.permission_words import OWN, ToolRow, applies_now, choices, covered, mode_of, modes_for, rules_for, tool_rows, why
from tooltray.ui.approval.tool_approval import ToolApproval, ToolSheet
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.server_pane.server_view import AccessSection
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.cell_delegate import CHIP_LINES_HEIGHT
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.setting_rows import heading
from tooltray.ui.widgets.surface import Surface, column, row
from tooltray.ui.widgets.table import Table
from tooltray.ui.zoom import px

FEW = 8  # tools in sight; all are shown by a press
ROOM_FOR_REASONS = 640  # px; below that reasons are in tooltips only
CHOICE_WIDTH = 184
WHY, CHANGE = 1, 2  # columns


class ApprovalSection(AccessSection):
    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__(context, name)
        theme = self._theme
        self._permissions: ServerPermissions | None = None
        self._grants: Sequence[GrantSnapshot] = ()
        self._shows_all = False
        self._tools = ToolApproval(context, self.show_problem, self._read)
        self._about = Label(theme, tr("Reading what runs without asking…"), "caption", "muted", wrap=True)
        self._allow = Button(theme, tr("Allow tools…"), small=True)
        self._allow.clicked.connect(lambda: self.run(self._open_allow()))
        self.body.addLayout(heading(theme, tr("Approval"), self._about, self._allow))
        self.body.addLayout(self.notes)
        self._mode_line = QWidget()
        self._mode_line.setLayout(self._make_mode_line())
        self.body.addWidget(self._mode_line)
        self._call_rules = Label(theme, "", "caption", "secondary", wrap=True)
        self.body.addWidget(self._call_rules)
        self._box = Surface(theme)
        self._table = Table(theme, self._columns(), tr("Tools"), lambda each: each.key, in_card=True, row_height=px(CHIP_LINES_HEIGHT))
        self._table.row_chosen.connect(self._tools.open_row)
        self._table.pressed.connect(self._open_choices)
        column(self._box, margins=(16, 1, 16, 1)).addWidget(self._table)
        self.body.addWidget(self._box)
        self._all = Button(theme, "", "link", small=True)
        self._all.clicked.connect(self._on_all)
        self.body.addWidget(self._all)
        self._request = self.reading(self._read)
        self._draw()

    def look(self) -> None:
        self._request()

    def show_permissions(self, permissions: ServerPermissions | None, grants: Sequence[GrantSnapshot]) -> None:
        """Shows what runs without asking; None: the server is gone."""
        self._permissions, self._grants = permissions, grants
        self._draw()
        sheet = self.context.sheets.panel
        if isinstance(sheet, ToolSheet):
            for each in self._rows():
                if each.key == sheet.of.key:
                    sheet.show_tool(each)

    async def _read(self) -> None:
        found = await self.hub.approvals.get_permissions(self._name)
        self.show_permissions(found[0] if found else None, await self.hub.approvals.get_grants())

    def _make_mode_line(self) -> QHBoxLayout:
        line = row(spacing=10)
        line.addWidget(Label(self._theme, tr("Runs without asking:"), "body"))
        self._mode = Choice(self._theme, [], name=tr("What runs without asking"))
        self._mode.setFixedWidth(px(CHOICE_WIDTH))
        self._mode.chosen_changed.connect(self._on_mode_chosen)
        line.addWidget(self._mode)
        line.addStretch(1)
        return line

    def _columns(self) -> list[Column]:
        return [
            Column(
                tr("Tool"),
                lambda each: (each.tool.tool, *applies_now(each)),
                Kind.TWO_LINES,
                tip=lambda each: f"{each.tool.tool}: {why(each)}",
            ),
            Column(tr("Why"), why, Kind.QUIET, 240, why),
            Column("", lambda each: tr("Change…") if each.is_changeable else "", Kind.BUTTON, 72),
        ]

    def _rows(self) -> list[ToolRow]:
        known = {each.id: each for each in self._grants}
        return tool_rows([self._permissions], known) if self._permissions is not None else []

    def _draw(self) -> None:
        server, rows = self._permissions, self._rows()
        is_changeable = server is not None and server.is_changeable
        self._allow.setEnabled(is_changeable)
        self._mode_line.setVisible(is_changeable)
        rules: list[str] = []
        if server is not None:
            self._about.setText(_about(server))
            self._mode.set_options(modes_for(server))
            self._mode.choose(mode_of(server))
            rules = [covered(each) for each in server.call_rules]
        self._call_rules.setText("\n".join([tr("Rules on arguments in its settings:"), *rules]))
        self._call_rules.setVisible(bool(rules))
        self._table.set_rows(rows if self._shows_all else rows[:FEW])
        self._table.fit_height()
        self._box.setVisible(bool(rows))
        self._all.setVisible(len(rows) > FEW)
        self._all.setText(tr("Show fewer tools") if self._shows_all else tr("Show all {count} tools", count=len(rows)))

    # what a person wants

    def _on_all(self) -> None:
        self._shows_all = not self._shows_all
        self._draw()

    def _on_mode_chosen(self, mode: str) -> None:
        if (server := self._permissions) is not None and mode != OWN:
            change = partial(self.hub.approvals.set_server_auto_approve, self._name)
            toast = tr("What runs without asking of {server} is changed", server=self._name)
            self.run(change(rules_for(server, mode)), then=self._read, toast=toast, undo=partial(change, list(server.rules)))
            self._mode.choose(mode_of(server))  # until it is so

    def _open_choices(self, of: ToolRow) -> None:
        menu = QMenu(self._table)
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
        place = self._table.visualRect(self._table.model().index(self._table.rows.index(of), CHANGE))
        menu.popup(self._table.viewport().mapToGlobal(QPoint(place.left(), place.bottom())))

    def _on_chosen(self, of: ToolRow, action: QAction) -> None:
        if (chosen := str(action.data())) != of.tool.choice:
            self._tools.choose(of, chosen)

    async def _open_allow(self) -> None:
        modes = await self.hub.views.get_client_modes()
        clients = [(mode.client, mode.title or mode.client) for mode in modes if mode.is_seen and mode.client not in ("", "*")]
        self.context.sheets.show(AllowToolsSheet(self.context, self._name, clients, self._read))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._table.setColumnHidden(WHY, self.width() < px(ROOM_FOR_REASONS))


def _about(server: ServerPermissions) -> str:
    if not server.is_listed:
        return tr("Its tools are not known yet. They are listed when it has run once.")
    if not server.tools:
        return tr("It has no tools.")
    free = sum(tool.is_free for tool in server.tools)
    return tr("{free} of {count} tools run without asking.", free=free, count=len(server.tools))
