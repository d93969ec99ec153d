"""What waits for the user: tool calls, servers that a project or a program brings, and tools that have changed since. Every text of a
server or a model is plain text."""

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter

from msgspec.structs import replace
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot, ToolChange, TrustRequest
from tooltray.ui.approval.approval_body import because, minutes, waiting_call, waiting_entries, warnings
from tooltray.ui.approval.call_view import Arguments, CallSheet, answer_call, disk_diff
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import Work, timer
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.section import Section
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.server_text import one_line
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, leave_focus
from tooltray.ui.widgets.code_view import DiffView
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.sheet import GUARD_MS
from tooltray.ui.widgets.surface import Surface, column, divider, fill, row
from tooltray.ui.zoom import px

TICK_MS = 1000
LONGEST = 400  # characters of arguments on a line
CHANGE_WIDTH, MARGIN = 680, 24  # px; the margin is the frame's
SKILL = "skill"  # the kind of a change


class WaitingRow(QWidget):
    """A row with something that waits: what it is, and a button that shows it in full.

    Args:
        look: the text of that button.
        show: shows it in full.
    """

    def __init__(self, theme: Theme, icon: str, title: str, text: str, look: str, show: Callable[[], object]) -> None:
        super().__init__()
        self._theme, self._title, self.edge = theme, title, divider()
        words = fill(column(spacing=1), ElidedLabel(theme, title, "label"), ElidedLabel(theme, text, "caption", "secondary"))
        sign = Icon(theme, icon, 16, "warning.text", "warning.subtle")
        self.line = fill(row(margins=(0, 8, 0, 8), spacing=10), sign, (words, 1))
        fill(column(self), self.edge, self.line)
        self.look = self.add_button(look, show)

    def add_button(self, text: str, slot: Callable[[], object]) -> Button:
        """Adds a button, which Enter does not press."""
        button = Button(self._theme, text, small=True, heeds_enter=False, on_click=slot)
        button.setAccessibleName(f"{text}, {self._title}")
        self.line.addWidget(button)
        return button


class WaitingCall(WaitingRow):
    """A call that waits. It takes no answer until `guard_ms` have passed, since it may have appeared under the pointer. Unusual calls are
    allowed in the sheet only, which shows everything.

    Args:
        answer: sends an answer, see `Answer`.
    """

    def __init__(
        self, theme: Theme, call: ApprovalSnapshot, show: Callable[[], object], answer: Callable[[str], object], *, guard_ms: int
    ) -> None:
        icon = "edit" if call.category == "write" else "search"
        super().__init__(theme, icon, waiting_call(call), _arguments(call), tr("Look closely…"), show)
        self._answer, self.ends_at = answer, call.ends_at
        self._left = Label(theme, "", "caption", "muted", tabular=True)
        self.line.insertWidget(self.line.indexOf(self.look), self._left)
        self.refuse = self.add_button(tr("Decline"), lambda: self._on_answer("refuse"))
        self.allow = self.add_button(tr("Allow once"), lambda: self._on_answer("once"))
        self.allow.setVisible("once" in call.choices and not (call.warnings or call.definition_diff or call.flow))
        self.set_busy(True)
        timer(self, guard_ms, partial(self.set_busy, False)).start()
        self.tick()

    def set_busy(self, is_busy: bool) -> None:
        """Disables the answers while one is being sent, and enables them again if it was not accepted."""
        for button in (self.refuse, self.allow):
            button.setEnabled(not is_busy)

    def _on_answer(self, answer: str) -> None:
        self.set_busy(True)
        self._answer(answer)

    def tick(self) -> None:
        """Shows how much time is left."""
        self._left.setText(minutes(self.ends_at - time.time()))


class WaitingSection(Section):
    """The section with what waits, hidden while nothing does.

    Args:
        changed: called when something else waits than before.

    Attributes:
        calls: those that wait.
        changes: the changed tools and skills that wait for a review.
    """

    def __init__(self, context: PageContext, changed: Callable[[], None]) -> None:
        super().__init__(context, tr("Waiting for you"))
        self._changed, self.guard_ms = changed, GUARD_MS
        self.calls: Sequence[ApprovalSnapshot] = ()
        self._requests: Sequence[TrustRequest] = ()
        self.changes: Sequence[ToolChange] = ()
        self._rows: list[tuple[object, WaitingRow]] = []
        self._box = Surface(self._theme, "warning.subtle", None, "m")
        self._lines = column(self._box, margins=(14, 2, 14, 2))
        self.body.addWidget(self._box)
        self._clock = timer(self, TICK_MS, self._tick, repeats=True)
        self.hide()

    @property
    def call_rows(self) -> list[WaitingCall]:
        return [each for _, each in self._rows if isinstance(each, WaitingCall)]

    async def read(self) -> None:
        """Reads what waits, and shows it."""
        calls = await self.hub.approvals.get_approvals()
        self.show_calls([replace(call, diff=await disk_diff(self.hub, call)) for call in calls])
        self._requests = await self.hub.files.get_trust_requests()
        self._draw()

    async def read_changes(self) -> None:
        """Reads the changed tools, and shows them."""
        self.changes = await self.hub.approvals.get_tool_changes()
        self._draw()

    def clear(self) -> None:
        """Shows nothing, since the hub has gone with what waited."""
        self._requests, self.changes = (), ()
        self.show_calls(())

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why an answer was not accepted: in the sheet of its call if that is open."""
        panel = self.context.sheets.panel
        if problem is not None and isinstance(panel, CallSheet):
            panel.show_problem(problem)
            return
        super().show_problem(problem)
        self.setVisible(bool(self._rows) or problem is not None)
        if problem is not None:
            for each in self.call_rows:
                each.set_busy(False)

    def show_calls(self, calls: Sequence[ApprovalSnapshot]) -> None:
        """Shows the calls that wait; closes the sheet of another one."""
        self.calls = calls
        self._draw()
        sheet = self.context.sheets.sheet
        if sheet is not None and isinstance(sheet.panel, CallSheet):
            call = next((each for each in calls if each.id == sheet.panel.call_id), None)
            sheet.panel.show_call(call) if call is not None else sheet.dismiss()

    def open_call(self, call: ApprovalSnapshot) -> None:
        """Opens the sheet that answers a call; an open sheet of any kind stays."""
        self.context.sheets.show(CallSheet(self.context, call, partial(self.answer, call.id)))

    def open_change(self, change: ToolChange) -> None:
        """Opens the sheet of a tool that has changed; an open sheet of any kind stays."""
        self.context.sheets.show(ToolChangeSheet(self.context, change, self.read_changes))

    def answer(self, call: str, answer: str, arguments: Arguments | None = None) -> None:
        """Answers a call that waits, see `Answer`."""
        self.run(answer_call(self.hub, call, answer, arguments), then=self.read)

    def _draw(self) -> None:
        project = attrgetter("project")
        requests = [list(some) for _, some in groupby(sorted(self._requests, key=project), key=project)]
        things: list[object] = [*(replace(call, ends_at=0.0) for call in self.calls), *requests, *self.changes]
        if things != [thing for thing, _ in self._rows]:
            leave_focus(self._box)
            before = self._rows
            self._rows = [(thing, next((each for of, each in before if of == thing), None) or self._made(thing)) for thing in things]
            for thing, each in before:
                self._lines.removeWidget(each)
                if thing not in things:
                    each.hide()
                    each.deleteLater()
            for place, (_, each) in enumerate(self._rows):
                each.edge.setVisible(place > 0)
                self._lines.addWidget(each)
            self.setVisible(bool(self._rows))
            self._clock.start() if self.calls else self._clock.stop()
        for call, line in zip(self.calls, self.call_rows, strict=True):
            line.ends_at = call.ends_at
            line.tick()
        self._changed()

    def _made(self, thing: object) -> WaitingRow:
        theme = self._theme
        if isinstance(thing, ApprovalSnapshot):

            def show() -> None:
                self.open_call(next(each for each in self.calls if each.id == thing.id))

            return WaitingCall(theme, thing, show, partial(self.answer, thing.id), guard_ms=self.guard_ms)
        if isinstance(thing, ToolChange):
            title = tr("{tool} of {server} has changed", tool=thing.tool, server=thing.server)
            text = tr("Unusual: review it closely.") if thing.warnings else tr("Blocked until reviewed")
            icon = "alert" if thing.warnings else "shield"
            return WaitingRow(theme, icon, title, text, tr("Review…"), lambda: self.open_change(thing))
        assert isinstance(thing, list)
        names, trust_asked = ", ".join(each.entry for each in thing), self.context.links.trust_asked
        return WaitingRow(theme, "server", waiting_entries(thing), names, tr("Review…"), lambda: trust_asked.emit(thing[0].project))

    def _tick(self) -> None:
        for each in self.call_rows:
            each.tick()


def _arguments(call: ApprovalSnapshot) -> str:
    """Returns the arguments of a call on one line; why it waits where it has none."""
    try:
        found = json.loads(call.arguments)
        return one_line(json.dumps(found, ensure_ascii=False), LONGEST) if found else because(call)
    except ValueError:  # cut, since they are very long
        return one_line(call.arguments, LONGEST)


class ToolChangeSheet(SheetView):
    """A sheet that shows how a tool or a skill has changed.

    Args:
        read: reads what the page shows of changes.
    """

    def __init__(self, context: PageContext, change: ToolChange, read: Work) -> None:
        super().__init__(context, tr("{tool} of {server} has changed", tool=change.tool, server=change.server), CHANGE_WIDTH)
        theme, self._change, self._read = context.theme, change, read
        text = tr("The server has changed this tool since you allowed it. Until you accept the change, each call asks you again.")
        if change.kind == SKILL:
            text = tr("The server has put another skill in the place of this one. Until you accept the change, no AI client gets it.")
        self.body.addWidget(Label(theme, text, "body", "secondary", wrap=True))
        if change.warnings:
            self.body.addWidget(Banner(theme, "warning", tr("Look closely at this tool"), warnings(change.warnings)))
        name, width = tr("What is different in the tool's definition"), px(CHANGE_WIDTH) - 2 * px(MARGIN)
        self.body.addWidget(DiffView(theme, change.diff, name, width=width))
        self.set_first_focus(self.add_button(tr("Not now"), self.close_requested.emit))
        self._accept = self.add_button(tr("Accept the change"), self._on_accept, "primary")

    def _on_accept(self) -> None:
        self.show_problem(None)
        toast = tr("{tool} is allowed as it is now", tool=self._change.tool)
        self.run(self._accept_change(), then=self._read, toast=toast, button=self._accept)

    async def _accept_change(self) -> None:
        change = self._change
        await self.hub.approvals.accept_tool_change(change.server, change.tool, change.kind, change.revision)
        self.close_requested.emit()
