"""The calls that wait for the user's approval, pinned above the list, with the answers that need no second look. Unusual calls, and
approvals for longer than once, are left to the window for approval, which shows everything."""

import json
from functools import partial

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.ui.activity.activity_words import client_words
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.approval_line import ApprovalLine
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import Show, View
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, leave_focus
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.server_text import one_line
from tooltray.ui.widgets.sheet import GUARD_MS
from tooltray.ui.widgets.surface import Surface, clear, column, divider, row

MOST = 3  # that stand there at once; the list below has to stay in sight
LONGEST = 200  # characters of arguments on a line
ROW = 44  # px


class WaitingCall(QWidget):
    """A pending call: who wants what, and the answers. It takes no answer until `guard_ms` have passed, since it may have appeared under
    the pointer.
    """

    def __init__(self, theme: Theme, request: ApprovalSnapshot, *, guard_ms: int) -> None:
        super().__init__()
        self.setFixedHeight(ROW)
        self.request = request
        line = row(self, margins=(14, 0, 10, 0), spacing=8)
        line.addWidget(Icon(theme, "state-waiting", 14, "warning", "warning.subtle"))
        words = tr(
            "{client} wants to use {tool} of {server}",
            client=client_words(request.client),
            tool=one_line(request.tool, 60),
            server=one_line(request.server, 60),
        )
        line.addWidget(Label(theme, words, "caption_strong"))
        what = ElidedLabel(theme, "", "mono", "secondary")
        what.set_text(_arguments(request))
        line.addWidget(what, 1)
        self.look = Button(theme, tr("Look closely"), "ghost", small=True)
        self.look.setAccessibleName(tr("Look closely: {what}", what=words))
        self.refuse = Button(theme, tr("Not now"), small=True, heeds_enter=False)
        self.refuse.setAccessibleName(tr("Not now: {what}", what=words))
        self.allow = Button(theme, tr("Allow once"), small=True, heeds_enter=False)
        self.allow.setAccessibleName(tr("Allow once: {what}", what=words))
        for button in (self.look, self.refuse, self.allow):
            line.addWidget(button)
        self._is_guarded = True
        self._draw()
        self._guard = QTimer(self, singleShot=True, interval=guard_ms)
        self._guard.timeout.connect(self._on_guard_over)
        self._guard.start()

    def set_busy(self, is_busy: bool) -> None:
        """Disables the answers while one is being sent, and enables them again if it was not accepted."""
        self._is_guarded = is_busy
        self._draw()

    def _on_guard_over(self) -> None:
        self.set_busy(False)

    def _draw(self) -> None:
        request = self.request
        is_plain = "once" in request.choices and not (request.warnings or request.definition_diff)
        self.allow.setVisible(is_plain)
        for button in (self.refuse, self.allow):
            button.setEnabled(not self._is_guarded)


class WaitingCalls(QWidget, View):
    """The pinned rows of waiting calls, without height while nothing waits.

    Args:
        show: shows why an answer was not accepted.
    """

    def __init__(self, context: PageContext, show: Show, *, guard_ms: int = GUARD_MS) -> None:
        super().__init__()
        self.context, self._show, self._guard_ms = context, show, guard_ms
        self._rows: dict[str, WaitingCall] = {}
        layout = column(self, margins=(24, 12, 24, 0))
        self._box = Surface(context.theme, "warning.subtle", None, "l")
        self._lines = column(self._box)
        layout.addWidget(self._box)
        self._line = ApprovalLine(context.hub, self)
        self._line.changed.connect(self._draw)
        self._catch_up = self.reading(self._read_waiting)
        context.hub.snapshot_changed.connect(self._on_hub_changed)
        self._is_known = False
        self._on_hub_changed()
        self._draw()

    @property
    def rows(self) -> list[WaitingCall]:
        return list(self._rows.values())

    def _on_hub_changed(self) -> None:
        is_known = self.hub.snapshot is not None
        if is_known and not self._is_known:
            self._catch_up()
        self._is_known = is_known

    async def _read_waiting(self) -> None:
        try:
            self._line.add(await self.hub.approvals.get_approvals())
        except TooltrayError:
            return  # the hub has just left, and what waited with it

    def _draw(self) -> None:
        waiting = {each.id: each for each in self._line.waiting[:MOST]}
        if [call.request for call in self._rows.values()] == list(waiting.values()) and self._lines.count():
            self._draw_more()
            return
        leave_focus(self._box)
        kept = {id: call for id, call in self._rows.items() if waiting.get(id) == call.request}
        for call in kept.values():
            self._lines.removeWidget(call)
        clear(self._lines)
        self._rows = {id: kept.get(id) or self._made(request) for id, request in waiting.items()}
        for place, call in enumerate(self._rows.values()):
            if place:
                self._lines.addWidget(divider())
            self._lines.addWidget(call)
            call.show()
        self._more = Label(self.context.theme, "", "caption", "secondary")
        self._more.setContentsMargins(36, 0, 14, 8)
        self._lines.addWidget(self._more)
        self._draw_more()

    def _draw_more(self) -> None:
        more = len(self._line) - MOST
        self._more.setText(many(more, "1 more waits", "{count} more wait"))
        self._more.setVisible(more > 0)
        self.setVisible(bool(self._rows))

    def _made(self, request: ApprovalSnapshot) -> WaitingCall:
        made = WaitingCall(self.context.theme, request, guard_ms=self._guard_ms)
        made.look.clicked.connect(self.context.links.approval_asked)
        made.allow.clicked.connect(partial(self._answer, made, "once"))
        made.refuse.clicked.connect(partial(self._answer, made, "refuse"))
        return made

    def _answer(self, call: WaitingCall, answer: str, *_: object) -> None:
        call.set_busy(True)
        self.run(self.hub.approvals.answer_approval(call.request.id, answer))

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why an answer was not accepted, and enables the answers again."""
        self._show(problem)
        if problem is not None:
            for call in self._rows.values():
                call.set_busy(False)


def _arguments(request: ApprovalSnapshot) -> str:
    """Returns the arguments on one line."""
    try:
        return one_line(json.dumps(json.loads(request.arguments), ensure_ascii=False), LONGEST)
    except ValueError:  # cut, since they are very long
        return one_line(request.arguments, LONGEST)
