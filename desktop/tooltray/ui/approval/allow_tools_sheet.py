"""The sheet that allows calls for longer than one call: one tool, or everything that reads, of a server; shows first what that covers."""

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.ui.approval.approval_body import DAY_S, HOUR_S
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.background import Work
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.widgets.choice import Choice, OptionList
from tooltray.ui.widgets.keyboard import add_accept_keys
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.surface import Surface, column, fill, row
from tooltray.ui.widgets.table import Table
from tooltray.ui.zoom import px

WIDTH, LABEL_WIDTH = 620, 96
ROW_HEIGHT, MOST_ROWS = 34, 6  # tools in sight at once; the rest scrolls
FOREVER, LOCK = "forever", "lock"
FIRST_CHOICE = str(DAY_S)  # what lasts longer is chosen on purpose


class NewGrant(msgspec.Struct, frozen=True):
    """A permission to grant: for one tool, or everything that reads, of a server."""

    server: str
    kind: str  # "tool" or "reads"
    tool: str = ""  # of the kind "tool": the server's own name
    client: str = ""  # as it names itself; empty: for all
    expires_in_s: float | None = None  # None: until it is revoked
    until: str = ""  # "lock": until the screen locks


class AllowToolsSheet(SheetView):
    """A sheet that grants a permission.

    Args:
        server: the tools are of this one.
        clients: AI clients that can be chosen: their names in code and for users.
        read: reads the grants that are shown.
    """

    def __init__(self, context: PageContext, server: str, clients: Sequence[tuple[str, str]], read: Work) -> None:
        super().__init__(context, tr("Allow tools of {server}", server=server), WIDTH)
        self._server = server
        self._previewed: NewGrant | None = None
        self._seen = ""  # the revision of what that covers
        self._read = read
        self._add_choices(clients)
        self._add_preview()
        self.add_button(tr("Cancel"), self.leave)
        self._go = self.add_button(tr("Allow"), self._on_go, "primary")
        self._go.setToolTip("Ctrl+Enter")
        self._go.setEnabled(False)
        add_accept_keys(self, self._on_go)
        self.set_first_focus(self._kind.first)

    @property
    def grant(self) -> NewGrant:
        """The grant in the fields."""
        kind = self._kind.chosen[0]
        until = self._until.chosen
        return NewGrant(
            self._server,
            kind,
            self._tool.chosen if kind == "tool" else "",
            self._client.chosen,
            None if until in (FOREVER, LOCK) else float(until),
            LOCK if until == LOCK else "",
        )

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._previewed is None:
            self.run(self._read_tools(), show=self._show_failure)
            self._draw()

    async def _read_tools(self) -> None:
        """Offers the server's tools."""
        tools = await self.hub.tools.get_tools(self._server)
        self._tool.set_options([(tool.original_name, tool.original_name) for tool in tools])
        self._draw()

    async def _read_preview(self, grant: NewGrant) -> None:
        """Reads what a grant covers, and shows it unless the fields have changed meanwhile."""
        tools = await self.hub.approvals.preview_grant(grant.server, grant.kind, grant.tool, grant.client)
        if grant != self.grant:
            return
        self._previewed, self._seen = grant, tools[0].revision if tools else ""
        self.show_problem(None)
        self._table.set_rows(tools)
        self._table.setFixedHeight(self._table.horizontalHeader().height() + min(len(tools), MOST_ROWS) * px(ROW_HEIGHT))
        self._box.setVisible(bool(tools))
        self._covers.setText(_covered(len(tools)))
        self._go.setEnabled(bool(tools))

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why it failed; the choices stay."""
        super().show_problem(problem)
        if problem is not None:
            self._go.setEnabled(self._previewed == self.grant)

    def _show_failure(self, problem: Problem | None) -> None:
        """Shows why something could not be read; an earlier read that comes later hides no failure."""
        if problem is not None:
            self.show_problem(problem)

    def _add_choices(self, clients: Sequence[tuple[str, str]]) -> None:
        theme = self._theme
        kinds = [("reads", tr("Everything that reads")), ("tool", tr("One tool"))]
        ends = [
            (str(HOUR_S), tr("In an hour")),
            (FIRST_CHOICE, tr("In a day")),
            *([(LOCK, tr("When the screen locks"))] if self.hub.hears_lock else []),
            (str(7 * DAY_S), tr("In 7 days")),
            (str(30 * DAY_S), tr("In 30 days")),
            (FOREVER, tr("When you revoke it")),
        ]
        self._kind = OptionList(theme, kinds, name=tr("What"), chosen=["reads"], may_be_empty=False)
        self._tool = Choice(theme, [], name=tr("Tool"), hint=tr("No tools listed"))
        self._client = Choice(theme, [("", tr("All clients")), *clients], name=tr("For"))
        self._until = Choice(theme, ends, name=tr("Ends"))
        self._until.choose(FIRST_CHOICE)
        self._add_line(tr("What"), self._kind)
        self._tool_line = self._add_line(tr("Tool"), self._tool)
        self._add_line(tr("For"), self._client)
        self._add_line(tr("Ends"), self._until)
        self._tool_line.hide()
        self._kind.changed.connect(self._draw)
        for choice in (self._tool, self._client, self._until):
            choice.chosen_changed.connect(self._draw)

    def _add_line(self, name: str, control: QWidget) -> QWidget:
        widget, label = QWidget(), Label(self._theme, name, "label")
        label.setFixedSize(px(LABEL_WIDTH), self._theme.size("control"))  # in line with the first line of its control
        line = row(widget, spacing=12)
        line.addWidget(label, 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(control, 1)
        self.body.addWidget(widget)
        return widget

    def _add_preview(self) -> None:
        self._covers = Label(self._theme, "", "caption", "muted", wrap=True)
        columns = [
            Column(tr("Tool"), lambda tool: tool.original_name, Kind.MONO, 200),
            Column(tr("What it does"), lambda tool: " ".join(tool.description.split()), Kind.QUIET),
            Column(tr("Kind"), lambda tool: (tr("Writes"), "warning") if tool.category == "write" else (tr("Reads"), ""), Kind.CHIP, 96),
        ]
        name = tr("What is allowed then")
        self._table = Table(self._theme, columns, name, lambda tool: tool.original_name, in_card=True, row_height=px(ROW_HEIGHT))
        self._box = Surface(self._theme, "surface", "border", "m")
        fill(column(self._box, margins=(14, 1, 14, 1)), self._table)
        self._box.hide()
        fill(self.body, self._covers, self._box)

    def _draw(self) -> None:
        """Requests a preview of the grant, which cannot be confirmed before that is shown."""
        grant = self.grant
        self._tool_line.setVisible(grant.kind == "tool")
        self._go.setEnabled(False)
        self.show_problem(None)
        if grant.kind == "tool" and not grant.tool:
            self._box.hide()
            self._covers.setText("")
        else:
            self.run(self._read_preview(grant), show=self._show_failure)

    def _on_go(self) -> None:
        if self._go.isEnabled():
            self._go.setEnabled(False)
            self.show_problem(None)
            self.run(self._allow(self.grant, self._seen), then=self._read, toast=tr("Allowed"))

    async def _allow(self, grant: NewGrant, seen: str) -> None:
        add = self.hub.approvals.add_grant
        await add(grant.server, grant.kind, grant.tool, grant.client, grant.expires_in_s, grant.until, seen)
        self.close_requested.emit()


def _covered(count: int) -> str:
    if not count:
        return tr("No tool of this server is marked as one that reads, so there is nothing to allow.")
    return many(count, "Allows 1 tool, as it is defined now:", "Allows {count} tools, as they are defined now; tools that come later ask:")
