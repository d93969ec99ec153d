"""The requests that wait for an answer, pinned above the tabs of the Permissions page: tool calls, and servers that a project or a program
brings. Every text of a server or a model is plain text."""

import time
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec.structs import replace
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot, TrustRequest
from tooltray.ui.approval.approval_body import because, minutes
from tooltray.ui.approval.call_sheet import CallSheet
from tooltray.ui.approval.call_view import Arguments, answer_call
from tooltray.ui.approval.permission_words import waiting_call, waiting_entries
from tooltray.ui.approval.permissions_part import PermissionsPart
from tooltray.ui.i18n import tr
from tooltray.ui.kit.approval_line import disk_diff
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import Surface, clear, column, divider, row

if TYPE_CHECKING:
    from tooltray.ui.approval.permissions_page import PermissionsPage

MOST_CALLS = 3  # in sight at once; the others come up as these are answered
TICK_MS = 1000


class WaitingArea(QWidget, PermissionsPart):
    """The pinned area with what waits for approval."""

    def __init__(self, page: "PermissionsPage") -> None:
        super().__init__()
        self.page, self.context = page, page.context
        theme = self._theme = page.context.theme
        self._calls: Sequence[ApprovalSnapshot] = ()
        self._requests: Sequence[TrustRequest] = ()
        self._times: list[tuple[Label, float]] = []
        outer = column(self, margins=(24, 12, 24, 0))
        self._box = Surface(theme, "warning.subtle", None, "m")
        self._lines = column(self._box, margins=(14, 2, 14, 2))
        outer.addWidget(self._box)
        self._clock = QTimer(self, interval=TICK_MS)
        self._clock.timeout.connect(self._tick)
        self.hide()

    @property
    def calls(self) -> Sequence[ApprovalSnapshot]:
        """The waiting calls."""
        return self._calls

    @property
    def count(self) -> int:
        """The number of waiting requests."""
        return len(self._calls) + len(self._requests)

    async def read(self) -> None:
        """Reads what waits, and shows it."""
        calls = await self.hub.approvals.get_approvals()
        self.show_calls([replace(call, diff=await disk_diff(self.hub, call)) for call in calls])
        self.show_requests(await self.hub.files.get_trust_requests())

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why an answer was not accepted: in the sheet of its call if that is open."""
        panel = self.context.sheets.panel
        if problem is not None and isinstance(panel, CallSheet):
            panel.show_problem(problem)
        else:
            super().show_problem(problem)

    def show_calls(self, calls: Sequence[ApprovalSnapshot]) -> None:
        """Shows the calls that wait; closes the sheet of another one."""
        if list(calls) != list(self._calls):
            self._calls = calls
            self._draw()
        self.page.draw()
        sheet = self.context.sheets.sheet
        if sheet is not None and isinstance(sheet.panel, CallSheet) and sheet.panel.call_id not in {call.id for call in calls}:
            sheet.dismiss()

    def show_requests(self, requests: Sequence[TrustRequest]) -> None:
        if list(requests) != list(self._requests):
            self._requests = requests
            self._draw()

    def open_call(self, call: ApprovalSnapshot) -> None:
        """Opens the sheet that answers a call; an open sheet of any kind stays."""
        self.context.sheets.show(CallSheet(self.context, call, partial(self.answer, call.id)))

    def answer(self, call: str, answer: str, arguments: Arguments | None = None) -> None:
        """Answers a call that waits, as CallView.answered says."""
        self.run(answer_call(self.hub, call, answer, arguments), then=self.read)

    def _draw(self) -> None:
        clear(self._lines)
        self._times = []
        rows = [self._call_row(call) for call in self._calls[:MOST_CALLS]]
        if (more := len(self._calls) - MOST_CALLS) > 0:
            rows.append(Label(self._theme, tr("And {count} more calls", count=more), "caption", "secondary"))
        for project, requests in groupby(sorted(self._requests, key=_project), key=_project):
            rows.append(self._request_row(project, list(requests)))
        for index, widget in enumerate(rows):
            if index:
                self._lines.addWidget(divider())
            self._lines.addWidget(widget)
        self.setVisible(bool(rows))
        self._clock.start() if self._times else self._clock.stop()
        self._tick()

    def _call_row(self, call: ApprovalSnapshot) -> QWidget:
        left = Label(self._theme, "", "caption", "muted", tabular=True)
        self._times.append((left, call.ends_at))
        what = waiting_call(call)
        refuse = Button(self._theme, tr("Not now"), small=True)
        refuse.setAccessibleName(f"{tr('Not now')}, {what}")
        refuse.clicked.connect(partial(self.answer, call.id, "refuse"))
        look = Button(self._theme, tr("Answer…"), small=True)
        look.setAccessibleName(f"{tr('Answer…')}, {what}")
        look.clicked.connect(partial(self.open_call, call))
        return self._row("edit" if call.category == "write" else "search", what, because(call), left, refuse, look)

    def _request_row(self, project: str, requests: Sequence[TrustRequest]) -> QWidget:
        what = waiting_entries(requests)
        look = Button(self._theme, tr("Look…"), small=True)
        look.setAccessibleName(f"{tr('Look…')}, {what}")
        look.clicked.connect(partial(self.context.links.trust_asked.emit, project))
        return self._row("server", what, ", ".join(each.entry for each in requests), look)

    def _row(self, icon: str, title: str, text: str, *controls: QWidget) -> QWidget:
        widget = QWidget()
        line = row(widget, margins=(0, 8, 0, 8), spacing=10)
        line.addWidget(Icon(self._theme, icon, 16, "warning.text", "warning.subtle"))
        words = column(spacing=1)
        words.addWidget(ElidedLabel(self._theme, title, "label"))
        words.addWidget(ElidedLabel(self._theme, text, "caption", "secondary"))
        line.addLayout(words, 1)
        for control in controls:
            line.addWidget(control)
        return widget

    def _tick(self) -> None:
        for label, ends_at in self._times:
            label.setText(minutes(ends_at - time.time()))


def _project(request: TrustRequest) -> str:
    return request.project
