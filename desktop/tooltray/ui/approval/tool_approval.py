"""A tool's approval, wherever the tool is listed: the sheet with whether it runs without asking and why, a choice, its grants, and the last
answers to its calls; and what the user changes there."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial

from PySide6.QtWidgets import QHBoxLayout

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.activity import ActivityEntry, ActivityFilter, ActivityRow
from tooltray.foundation.snapshots.approvals import GrantSnapshot
from tooltray.ui.approval.approval_body import granted, granted_to, granted_until
from tooltray.ui.approval.permission_words import ToolRow, answer_word, applies_now, choices, read_tools, why
from tooltray.ui.client_names import shown_client
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import Show, Work
from tooltray.ui.kit.destinations import CallsWhere
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.kit.view import View
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.choice import OptionList
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.setting_rows import lines_box
from tooltray.ui.widgets.surface import clear, column, fill, row
from tooltray.ui.zoom import px

WIDTH = 600
TIME_WIDTH = 92  # px
MOST_ANSWERS = 8  # of the last ones to be seen at once; all are on the Activity page


class ToolSheet(SheetView):
    """A sheet about one tool. The owner shows a failed choice by `show_problem`, and newer snapshots by `show_tool`.

    Args:
        choose: changes the choice for a tool, given as its row.
        revoke: revokes a grant, given by its id.
    """

    def __init__(self, context: PageContext, of: ToolRow, *, choose: Callable[[ToolRow, str], None], revoke: Callable[[str], None]) -> None:
        super().__init__(context, tr("{tool} of {server}", tool=of.tool.tool, server=of.server), WIDTH)
        theme, self.of, self._choose, self._revoke = context.theme, of, choose, revoke
        self._state, self._why = Chip(theme), Label(theme, "", "body", "secondary", wrap=True)
        self._options = OptionList(theme, choices(), name=tr("What it does"), chosen=[of.tool.choice], may_be_empty=False)
        self._options.changed.connect(self._on_changed)
        self._options.setVisible(of.is_changeable)
        self._grants, self._answers = column(spacing=8), column()
        head = fill(row(spacing=10), self._state, (self._why, 1))
        fill(self.body, head, self._options, self._grants, Label(theme, tr("Last answers"), "strong"), self._answers)
        self._show_lines([self._line("", tr("Reading…"))])
        fill(self.buttons, Button(theme, tr("Show its calls"), "link", small=True, on_click=self._on_activity), 1)
        self.add_button(tr("Close"), self.leave)
        self.show_tool(of)

    def show_tool(self, of: ToolRow) -> None:
        """Shows a newer snapshot."""
        self.of = of
        word, tone = applies_now(of)
        self._state.set_word(word, tone or "success")
        self._why.setText(why(of))
        self._options.set_chosen([of.tool.choice])
        clear(self._grants)
        if of.grants:
            self._grants.addWidget(lines_box(self._theme, map(self._grant, of.grants), margin=2))

    async def read(self) -> None:
        """Reads the last answers to calls of the tool; shows that they are not known where that fails, and not an empty list."""
        wanted = ActivityFilter(kinds=("approval",), servers=(self.of.server,), tools=(self.of.tool.tool,))
        try:
            self.show_answers(await self.hub.activity.get_activity(wanted, limit=MOST_ANSWERS))
        except TooltrayError as error:
            self._show_lines([self._line("", tr("Not known: {reason}", reason=error.problem.title))])

    def show_answers(self, answers: Sequence[ActivityRow]) -> None:
        """Shows the last answers to calls of the tool."""
        lines = [self._answer(each.entry) for each in answers]
        self._show_lines(lines or [self._line("", tr("Nothing allowed or declined yet."))])

    def _show_lines(self, lines: Iterable[QHBoxLayout]) -> None:
        clear(self._answers)
        self._answers.addWidget(lines_box(self._theme, lines, margin=2))

    def _answer(self, entry: ActivityEntry) -> QHBoxLayout:
        words = answer_word(entry), shown_client(entry.client), entry.touched
        return self._line(moment(entry.at, datetime.now()), " · ".join(filter(None, words)))

    def _grant(self, grant: GrantSnapshot) -> QHBoxLayout:
        until = tr("Until: {when}", when=granted_until(grant, datetime.now()))
        words = f"{granted(grant)} · {granted_to(grant)} · {until}"
        back = Button(self._theme, tr("Revoke"), small=True, on_click=partial(self._on_revoke, grant.id))
        back.setAccessibleName(f"{tr('Revoke')}, {words}")
        return fill(row(margins=(0, 6, 0, 6)), (ElidedLabel(self._theme, words), 1), back)

    def _line(self, when: str, text: str) -> QHBoxLayout:
        line = row(margins=(0, 6, 0, 6))
        if when:
            label = Label(self._theme, when, "caption", "muted", tabular=True)
            label.setFixedWidth(px(TIME_WIDTH))
            line.addWidget(label)
        return fill(line, (ElidedLabel(self._theme, text, "caption", "secondary" if when else "muted"), 1))

    def _on_changed(self) -> None:
        if (chosen := self._options.chosen[0]) != self.of.tool.choice:
            self.show_problem(None)
            self._choose(self.of, chosen)

    def _on_revoke(self, grant: str) -> None:
        self.show_problem(None)
        self._revoke(grant)

    def _on_activity(self) -> None:
        """Shows all calls of the tool on the Activity page."""
        wanted = ActivityFilter(servers=(self.of.server,), tools=(self.of.tool.tool,))
        self.close_requested.emit()
        self.context.go(CallsWhere(wanted))


class ToolApproval(View):
    """Opens the sheets of tools.

    Args:
        show: shows why a tool cannot be read.
        read: reads what the view shows, and updates the open sheet, after each change; None: only the sheet is updated.
    """

    def __init__(self, context: PageContext, show: Show, read: Work | None = None) -> None:
        self.context, self._show, self._then = context, show, read or self._read

    def open(self, server: str, tool: str) -> None:
        """Opens the sheet of a tool; an open sheet of any kind stays."""
        self.run(self._open(server, tool), show=self._show)

    def open_row(self, of: ToolRow) -> None:
        """Opens the sheet of a tool that was read already; an open sheet of any kind stays."""
        sheet = ToolSheet(self.context, of, choose=self.choose, revoke=self._revoke)
        if self.context.sheets.show(sheet) is not None:
            sheet.run(sheet.read())

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure in the open sheet."""
        panel = self.context.sheets.panel
        if isinstance(panel, ToolSheet):
            panel.show_problem(problem)
        else:
            self._show(problem)

    async def _open(self, server: str, tool: str) -> None:
        if (of := (await read_tools(self.hub, server)).get((server, tool))) is not None:
            self.open_row(of)

    async def _read(self) -> None:
        """Updates the open sheet."""
        panel = self.context.sheets.panel
        if isinstance(panel, ToolSheet) and (now := (await read_tools(self.hub, panel.of.server)).get(panel.of.key)) is not None:
            panel.show_tool(now)

    def choose(self, of: ToolRow, choice: str) -> None:
        """Sets the choice for one tool: "always", "ask" or "default"."""
        tool = of.tool.tool
        words = {"always": tr("{tool} runs without asking", tool=tool), "ask": tr("{tool} asks first", tool=tool)}
        toast = words.get(choice) or tr("{tool} is as its server", tool=tool)
        change = partial(self.hub.approvals.set_tool_approval, of.server, tool)
        self.run(change(choice), then=self._then, toast=toast, undo=partial(change, of.tool.choice))

    def _revoke(self, grant: str) -> None:
        approvals = self.hub.approvals
        self.run(approvals.remove_grant(grant), then=self._then, toast=tr("Revoked"), undo=partial(approvals.restore_grant, grant))
