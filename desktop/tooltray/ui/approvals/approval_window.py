"""A tool call asks for a person's yes: a small window of its own, since the main window may be closed.

Above it: ApprovalPrompt. Below it: ApprovalBody. It never takes the keyboard from another program: it is shown without being activated, and
until it can be answered it cannot be activated at all. For a moment after it is shown, and after each change of what it asks, it takes no
answer, so that a click or a key meant for something else is none. Once the person goes there, "Not now" has the focus; Enter does nothing.
"""

import time
from collections.abc import Callable, Iterable

from PySide6.QtCore import QEvent, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QCloseEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLayout, QMenu, QPushButton, QWidget

from tooltray.errors import Problem
from tooltray.snapshots.approvals import ApprovalSnapshot, OfferedRule, RulePreview
from tooltray.ui import icons
from tooltray.ui.approvals.approval_body import LASTING, MARGIN, WIDTH, ApprovalBody, because, lasting_choice, minutes, question, wish
from tooltray.ui.approvals.rule_choice import RuleChoice
from tooltray.ui.i18n import tr
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.charts import Meter
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.page_frame import FittedScroll
from tooltray.ui.widgets.sheet import GUARD_MS
from tooltray.ui.widgets.surface import clear, column, divider, height_at, row

MAKE_RULE = "make a rule"  # in the menu of lasting answers
GAP = 24  # px from the screen's edges
TICK_MS = 500
WHOLE_S = 120.0  # how long a call waits at most, for the bar; the engine decides
FLAGS = Qt.WindowType.Window | Qt.WindowType.WindowStaysOnTopHint | Qt.WindowType.WindowDoesNotAcceptFocus


class ApprovalWindow(QWidget):
    """`answered` carries the request's id and one of its choices, that of a rule, or "refuse"; `put_away`: what has ended was read;
    `preview_requested` carries a server and an OfferedRule: what would it have covered?

    Args:
        guard_ms: how long it takes no answer after each change.
    """

    answered = Signal(str, str)
    put_away = Signal()
    preview_requested = Signal(str, object)

    def __init__(self, theme: Theme, *, guard_ms: int = GUARD_MS) -> None:
        super().__init__(None, FLAGS)
        self._theme = theme
        self._request: ApprovalSnapshot | None = None
        self._body: ApprovalBody | None = None
        self._rule: RuleChoice | None = None  # a rule is being made of the call
        self._is_busy = False
        self._count = 1  # of calls that wait
        self._fault: Problem | None = None
        self.setObjectName("Window")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setWindowTitle(tr("Tooltray asks"))
        self.setWindowIcon(icons.app_icon())
        self._guard = _timer(self, guard_ms, self._on_guard_over)
        self._arrival = _timer(self, guard_ms)  # keys are no answer until then, after the window was activated
        self._refit = _timer(self, 0, self._fit)  # once all layouts know what they show now
        self._clock = _timer(self, TICK_MS, self._tick, repeats=True)
        layout = column(self)
        self._faults = column()
        layout.addLayout(self._faults)
        self._scroll = FittedScroll(self.windowTitle(), WIDTH)
        layout.addWidget(self._scroll, 1)
        layout.addWidget(divider())
        layout.addLayout(self._buttons())
        layout.addLayout(self._time())
        for keys, slot in (("Ctrl+Return", self._on_once_key), ("Ctrl+Enter", self._on_once_key), ("Esc", self._on_refuse_key)):
            QShortcut(QKeySequence(keys), self, slot)

    @property
    def request(self) -> ApprovalSnapshot | None:
        """What is asked now; None after it has ended."""
        return self._request

    @property
    def takes_answers(self) -> bool:
        return not (self._guard.isActive() or self._is_busy)

    def ask(self, request: ApprovalSnapshot, count: int) -> None:
        """Shows a call, one of `count` that wait; what is shown already stays as it is."""
        self._count = count
        if request == self._request and self._rule is not None:
            return
        place = tr("1 of {count}", count=count) if count > 1 else ""
        if request == self._request and self._body is not None:
            self._body.set_place(place)
            return
        self._request, self._is_busy, self._rule = request, False, None
        self._body = ApprovalBody(self._theme, request, place)
        self._scroll.setWidget(self._body)
        self._scroll.show()
        self._clear_fault()
        self.setAccessibleName(question(request))
        self.setAccessibleDescription(f"{wish(request)} {because(request)}")
        self._once.setVisible("once" in request.choices)
        self._session.setVisible("session" in request.choices)
        self._always.setVisible(bool(self._lasting() or request.rules))
        self._once.setText(tr("Allow once"))
        self._refuse.setText(tr("Not now"))
        self._bar.show()
        self._left.show()
        self._tick()
        self._begin_guard()
        self._fit()

    def set_busy(self) -> None:
        """An answer is on its way."""
        self._clear_fault()
        self._is_busy = True
        self._set_usable(False)

    def show_fault(self, problem: Problem) -> None:
        """Shows what became of an answer that did not count; the call waits on, or another one stands below."""
        if problem == self._fault:
            return
        self._clear_fault()
        self._fault = problem
        banner = Banner(self._theme, "error", title(problem), sentences(problem))
        self._faults.setContentsMargins(24, 16, 24, 0 if self._body is not None else 16)
        self._faults.addWidget(banner)
        banner.show()  # at once, since the window becomes as high as what is seen
        self._is_busy = False
        self._begin_guard()
        self._fit()

    def show_ended(self, problem: Problem) -> None:
        """Shows why an answer came too late, where nothing else waits."""
        self._request, self._body, self._rule = None, None, None
        self._scroll.hide()
        self._clear_fault()
        self.show_fault(problem)
        for widget in (self._once, self._session, self._always, self._bar, self._left):
            widget.hide()
        self._refuse.setText(tr("Close"))
        self._fit()

    def show_preview(self, rule: OfferedRule, preview: RulePreview) -> None:
        """Shows what a rule would have covered."""
        if self._rule is not None:
            self._rule.show_preview(rule, preview)
            self._refit.start()

    def go_there(self) -> None:
        """Gives it the keyboard: the person wants to answer."""
        self._accept_focus()
        self.show()
        self.raise_()
        self.activateWindow()

    def _clear_fault(self) -> None:
        clear(self._faults)
        self._faults.setContentsMargins(0, 0, 0, 0)
        self._fault = None

    # the parts

    def _buttons(self) -> QHBoxLayout:
        theme = self._theme
        line = row(margins=(24, 16, 24, 12))
        self._session = Button(theme, tr("Allow this session"), heeds_enter=False)
        self._always = Button(theme, tr("For longer…"), "ghost")
        self._refuse = Button(theme, tr("Not now"), heeds_enter=False)
        self._once = Button(theme, tr("Allow once"), "primary", heeds_enter=False)
        self._once.setToolTip("Ctrl+Enter")
        self._session.clicked.connect(self._on_session)
        self._always.clicked.connect(self.open_longer)
        self._refuse.clicked.connect(self._on_refuse)
        self._once.clicked.connect(self._on_once)
        line.addWidget(self._session)
        line.addWidget(self._always)
        line.addStretch(1)
        line.addWidget(self._refuse)
        line.addWidget(self._once)
        return line

    def _time(self) -> QHBoxLayout:
        line = row(margins=(24, 0, 24, 16), spacing=10)
        self._bar = Meter(self._theme, tr("Time left"), height=3, tone="neutral")
        self._left = Label(self._theme, "", "caption", "muted", tabular=True)
        line.addWidget(self._bar, 1)
        line.addWidget(self._left)
        return line

    def _fit(self) -> None:
        """As high as what it says, as far as the screen allows; at the screen's upper right, out of the way."""
        room = self.screen().availableGeometry()
        self.setFixedWidth(min(WIDTH, room.width()))
        self.setFixedHeight(min(_height(self.layout(), self.width()), room.height() - 2 * GAP))
        if not self.isVisible():
            self.move(room.topRight() - QPoint(self.width() + GAP, -GAP))

    def _lasting(self) -> list[str]:
        choices = self._request.choices if self._request is not None else ()
        return [each for each in LASTING if each in choices]

    # time

    def _tick(self) -> None:
        if self._request is not None:
            left = self._request.ends_at - time.time()
            self._bar.set_share(left / WHOLE_S)
            self._left.setText(tr("Refuses by itself in {time}", time=minutes(left)))

    def _begin_guard(self) -> None:
        self._set_usable(False)
        self.setFocus(Qt.FocusReason.OtherFocusReason)  # not on the first part that takes it, now that no button does
        self._guard.start()

    def _on_guard_over(self) -> None:
        self._accept_focus()
        if not self._is_busy:
            self._set_usable(True)
            self._refuse.setFocus(Qt.FocusReason.OtherFocusReason)

    def _set_usable(self, is_usable: bool) -> None:
        for button in self._answer_buttons():
            button.setEnabled(is_usable)

    def _answer_buttons(self) -> Iterable[QPushButton]:
        return self._session, self._always, self._refuse, self._once

    def _accept_focus(self) -> None:
        """From now on a person can go there, by a click or from the list of windows; that gives it nothing by itself."""
        no_focus = Qt.WindowType.WindowDoesNotAcceptFocus
        if self.windowFlags() & no_focus:
            self.overrideWindowFlags(self.windowFlags() & ~no_focus)
            if (handle := self.windowHandle()) is not None:
                handle.setFlag(no_focus, False)  # through the widget, the window would be hidden and shown again

    # answers

    def _on_once(self) -> None:
        self._answer("once" if self._rule is None else self._rule.chosen.answer)

    def _on_once_key(self) -> None:
        if self._request is not None and "once" in self._request.choices and not self._arrival.isActive():
            self._on_once()

    def _on_refuse_key(self) -> None:
        if not self._arrival.isActive():
            self._on_refuse()

    def _on_session(self) -> None:
        self._answer("session")

    def _on_refuse(self) -> None:
        if self._rule is not None and self.takes_answers:
            self._end_rule()
        else:
            self._answer("refuse")

    def open_longer(self) -> None:
        """Opens the menu of answers that last."""
        assert self._request is not None
        menu = QMenu(self)
        menu.setFont(self._theme.font())
        menu.aboutToHide.connect(menu.deleteLater)
        for choice in self._lasting():
            action = menu.addAction(lasting_choice(choice, self._request).replace("&", "&&"))
            action.setData((self._request, choice))
        if self._request.rules:
            menu.addAction(tr("Make a rule…")).setData((self._request, MAKE_RULE))
        menu.triggered.connect(self._on_lasting)
        menu.popup(self._always.mapToGlobal(QPoint(0, -menu.sizeHint().height() - 4)))

    def _on_lasting(self, action: QAction) -> None:
        request, choice = action.data()
        if request != self._request:  # it may have become another one while the menu was open
            return
        if choice == MAKE_RULE:
            self._begin_rule(request)
        else:
            self._answer(choice)

    def _begin_rule(self, request: ApprovalSnapshot) -> None:
        """Shows the rules that could be made of the call, in the place of what it is."""
        rule = self._rule = RuleChoice(self._theme, request, margin=MARGIN)
        self._body = None
        rule.preview_requested.connect(self.preview_requested)
        self._scroll.setWidget(rule)
        self._session.hide()
        self._always.hide()
        self._refuse.setText(tr("Back"))
        self._once.setText(tr("Allow, and make the rule"))
        self._once.show()
        self._begin_guard()
        self._refit.start()
        rule.ask_for_preview()

    def _end_rule(self) -> None:
        """Back to the call."""
        self._rule = None
        if (request := self._request) is not None:
            self.ask(request, self._count)

    def _answer(self, answer: str) -> None:
        if not self.takes_answers:
            return
        if self._request is None:
            self.put_away.emit()
        else:
            self.answered.emit(self._request.id, answer)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            self._arrival.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._clock.start()
        self._begin_guard()

    def closeEvent(self, event: QCloseEvent) -> None:
        event.ignore()  # what has been answered is taken away by whoever has shown it
        self._answer("refuse")


def _timer(parent: QWidget, interval_ms: int, slot: Callable[[], None] | None = None, *, repeats: bool = False) -> QTimer:
    timer = QTimer(parent)
    timer.setSingleShot(not repeats)
    timer.setInterval(interval_ms)
    if slot is not None:
        timer.timeout.connect(slot)
    return timer


def _height(layout: QLayout | None, width: int) -> int:
    """How high its content is now."""
    assert layout is not None
    layout.invalidate()
    layout.activate()
    return height_at(layout, width)
