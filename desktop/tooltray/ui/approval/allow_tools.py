"""The sheet that allows calls for longer than one call: one tool, or everything that reads, of a server; shows first what that covers."""

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.tools import CoveredTool, ToolSnapshot
from tooltray.ui.approval.approval_body import DAY_S, HOUR_S
from tooltray.ui.approval.grant_commands import GrantSubjects, GrantWish
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.accept_keys import add_accept_keys
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.choice import Choice, OptionList
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.sheet import SheetFrame
from tooltray.ui.widgets.surface import Surface, column, row
from tooltray.ui.widgets.table import Table

WIDTH, LABEL_WIDTH = 620, 96
ROW_HEIGHT, MOST_ROWS = 34, 6  # tools in sight at once; the rest scrolls
FOREVER, LOCK = "forever", "lock"
FIRST_CHOICE = str(DAY_S)  # what lasts longer is chosen on purpose


class AllowToolsPanel(SheetFrame):
    """A sheet that grants a permission. `preview_requested` asks what a GrantWish covers, `confirmed` carries out one; `tools_requested`
    carries a server.
    """

    tools_requested = Signal(str)
    preview_requested = Signal(object)  # GrantWish
    confirmed = Signal(object)  # GrantWish

    def __init__(self, theme: Theme, subjects: GrantSubjects) -> None:
        super().__init__(theme, tr("Allow tools"), WIDTH)
        self._theme = theme
        self._previewed: GrantWish | None = None
        self._seen = ""  # the revision of what that covers
        self._add_choices(subjects)
        self._add_preview()
        self.buttons.addStretch(1)
        self._cancel = Button(theme, tr("Cancel"))
        self._cancel.clicked.connect(self.close_requested)
        self.buttons.addWidget(self._cancel)
        self._go = Button(theme, tr("Allow"), "primary")
        self._go.setToolTip("Ctrl+Enter")
        self._go.setEnabled(False)
        self._go.clicked.connect(self._on_go)
        self.buttons.addWidget(self._go)
        add_accept_keys(self, self._on_go)

    @property
    def wish(self) -> GrantWish:
        """The grant in the fields."""
        kind = self._kind.chosen[0]
        until = self._until.chosen
        return GrantWish(
            self._server.chosen,
            kind,
            self._tool.chosen if kind == "tool" else "",
            self._client.chosen,
            None if until in (FOREVER, LOCK) else float(until),
            LOCK if until == LOCK else "",
        )

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._server.setFocus(Qt.FocusReason.OtherFocusReason)
        if self._previewed is None and self._server.chosen:
            self.tools_requested.emit(self._server.chosen)
            self._look()

    def show_tools(self, server: str, tools: Sequence[ToolSnapshot]) -> None:
        """Offers the tools of a server."""
        if server == self._server.chosen:
            self._tool.set_options([(tool.original_name, tool.original_name) for tool in tools])
            self._look()

    def show_preview(self, wish: GrantWish, tools: Sequence[CoveredTool]) -> None:
        """Shows what a grant covers, unless the fields have changed since."""
        if wish != self.wish:
            return
        self._previewed, self._seen = wish, tools[0].revision if tools else ""
        self.show_problem(None)
        self._table.set_rows(tools)
        self._table.setFixedHeight(self._table.horizontalHeader().height() + min(len(tools), MOST_ROWS) * ROW_HEIGHT)
        self._box.setVisible(bool(tools))
        self._covers.setText(_covered(len(tools)))
        self._go.setEnabled(bool(tools))

    def show_refusal(self, problem: Problem) -> None:
        """Shows why it failed; the choices stay."""
        self.show_problem(problem)
        self._go.setEnabled(self._previewed == self.wish)

    def _add_choices(self, subjects: GrantSubjects) -> None:
        theme = self._theme
        kinds = [("reads", tr("Everything that reads")), ("tool", tr("One tool"))]
        ends = [
            (str(HOUR_S), tr("In an hour")),
            (FIRST_CHOICE, tr("In a day")),
            *([(LOCK, tr("When the screen locks"))] if subjects.has_lock else []),
            (str(7 * DAY_S), tr("In 7 days")),
            (str(30 * DAY_S), tr("In 30 days")),
            (FOREVER, tr("When you revoke it")),
        ]
        clients = [("", tr("All clients")), *subjects.clients]
        self._server = Choice(theme, [(name, name) for name in subjects.servers], name=tr("Server"), hint=tr("No servers yet"))
        self._kind = OptionList(theme, kinds, name=tr("What"), chosen=["reads"], may_be_empty=False)
        self._tool = Choice(theme, [], name=tr("Tool"), hint=tr("No tools listed"))
        self._client = Choice(theme, clients, name=tr("For"))
        self._until = Choice(theme, ends, name=tr("Ends"))
        self._until.choose(FIRST_CHOICE)
        self._add_line(tr("Server"), self._server)
        self._add_line(tr("What"), self._kind)
        self._tool_line = self._add_line(tr("Tool"), self._tool)
        self._add_line(tr("For"), self._client)
        self._add_line(tr("Ends"), self._until)
        self._tool_line.hide()
        self._server.chosen_changed.connect(self._on_server_chosen)
        self._kind.changed.connect(self._on_kind_chosen)
        for choice in (self._tool, self._client, self._until):
            choice.chosen_changed.connect(self._look)

    def _add_line(self, name: str, control: QWidget) -> QWidget:
        widget = QWidget()
        line = row(widget, spacing=12)
        label = Label(self._theme, name, "label")
        label.setFixedSize(LABEL_WIDTH, self._theme.size("control"))  # in line with the first line of its control
        line.addWidget(label, 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(control, 1)
        self.body.addWidget(widget)
        return widget

    def _add_preview(self) -> None:
        self._covers = Label(self._theme, "", "caption", "muted", wrap=True)
        self.body.addWidget(self._covers)
        columns = [
            Column(tr("Tool"), lambda tool: tool.original_name, Kind.MONO, 200),
            Column(tr("What it does"), lambda tool: " ".join(tool.description.split()), Kind.QUIET),
            Column(tr("Kind"), lambda tool: (tr("Writes"), "warning") if tool.category == "write" else (tr("Reads"), ""), Kind.CHIP, 96),
        ]
        name = tr("What is allowed then")
        self._table = Table(self._theme, columns, name, lambda tool: tool.original_name, in_card=True, row_height=ROW_HEIGHT)
        self._box = Surface(self._theme, "surface", "border", "m")
        column(self._box, margins=(14, 1, 14, 1)).addWidget(self._table)
        self._box.hide()
        self.body.addWidget(self._box)

    def _on_server_chosen(self, server: str) -> None:
        self._tool.set_options([])
        self.tools_requested.emit(server)
        self._look()

    def _on_kind_chosen(self) -> None:
        self._tool_line.setVisible(self.wish.kind == "tool")
        self._look()

    def _look(self) -> None:
        """Requests a preview of the grant, which cannot be confirmed before that is shown."""
        wish = self.wish
        self._go.setEnabled(False)
        self.show_problem(None)
        if wish.kind == "tool" and not wish.tool:
            self._box.hide()
            self._covers.setText("")
        else:
            self.preview_requested.emit(wish)

    def _on_go(self) -> None:
        if self._go.isEnabled():
            self._go.setEnabled(False)
            self.show_problem(None)
            self.confirmed.emit(msgspec.structs.replace(self.wish, seen=self._seen))


def _covered(count: int) -> str:
    if not count:
        return tr("No tool of this server is marked as one that reads, so there is nothing to allow.")
    if count == 1:
        return tr("Allows 1 tool, as it is defined now:")
    return tr("Allows {count} tools, as they are defined now; tools that come later ask:", count=count)
