"""A small window that requests approval, since the main window may be closed; and the one for a command that waits for it: what it wants
to allow, the details, and the programs that started it.

It never takes the keyboard from another program: it is shown without being activated, and cannot be activated before it can be answered.
For a moment after it is shown, and after each change of its request, it takes no answer, so that a click or a key meant for something else
is ignored. Once the user activates it, the refusing button has the focus; Enter does nothing."""

import re
import time
from typing import Generic, TypeVar

from msgspec.structs import replace
from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.approvals import UNTIL_REVOKED, ApprovalSnapshot, ConfirmationSnapshot
from tooltray.ui import icons
from tooltray.ui.approval.approval_body import MARGIN, WIDTH, RequestBody, facts_box, hint_line, minutes
from tooltray.ui.client_names import shown_client
from tooltray.ui.confinement_words import FILES, NETWORKS, files_title, network_title
from tooltray.ui.figures import duration
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.background import timer
from tooltray.ui.problem_words import sentences, title, whole
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.charts import Meter
from tooltray.ui.widgets.icon import IconTile
from tooltray.ui.widgets.keyboard import add_zoom_keys
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.page_frame import FittedScroll
from tooltray.ui.widgets.sheet import GUARD_MS
from tooltray.ui.widgets.surface import DialogWindow, clear, column, divider, fill, height_at, row
from tooltray.ui.zoom import px

GAP = 24  # px from the screen's edges
TICK_MS = 500
WHOLE_S = 120.0  # how long a question waits at most, for the bar; the engine decides
FLAGS = Qt.WindowType.Window | Qt.WindowType.WindowStaysOnTopHint | Qt.WindowType.WindowDoesNotAcceptFocus
R = TypeVar("R", bound=ApprovalSnapshot | ConfirmationSnapshot)


class AskingWindow(DialogWindow, Generic[R]):
    """The base of the windows that request approval. A subclass makes the body, and defines the answers.

    Args:
        buttons: the layout with all buttons: `refuse`, and the `others`.
        guard_ms: how long it takes no answer after each change.
    """

    answered = Signal(str, object)  # the id of the request, and the answer
    put_away = Signal()  # the user has read that a request has ended

    def __init__(self, theme: Theme, buttons: QHBoxLayout, refuse: QPushButton, *others: QPushButton, guard_ms: int) -> None:
        super().__init__(None, FLAGS)
        self._theme, self._refuse, self._others = theme, refuse, others
        self.request: R | None = None  # that is shown; None after it has ended
        self._body: QWidget | None = None
        self._is_busy = False
        self._fault: Problem | None = None
        self.setObjectName("Window")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setWindowTitle(tr("Tooltray asks"))
        self.setWindowIcon(icons.app_icon())
        self._guard = timer(self, guard_ms, self._on_guard_over)
        self._arrival = timer(self, guard_ms)  # keys are no answer until then, after the window was activated
        self._refit = timer(self, 0, self._fit)  # once all layouts know what they show now
        self._clock = timer(self, TICK_MS, self._tick, repeats=True)
        self._faults = column()
        self._scroll = FittedScroll(self.windowTitle(), WIDTH)
        self._bar = Meter(theme, tr("Time left"), height=3, tone="neutral")
        self._left = Label(theme, "", "caption", "muted", tabular=True)
        time_left = fill(row(margins=(24, 0, 24, 16), spacing=10), (self._bar, 1), self._left)
        fill(column(self), self._faults, (self._scroll, 1), divider(), buttons, time_left)
        for keys, slot in (("Ctrl+Return", self._on_yes_key), ("Ctrl+Enter", self._on_yes_key), ("Esc", self._on_no_key)):
            QShortcut(QKeySequence(keys), self, slot)
        add_zoom_keys(self, theme)
        theme.changed.connect(self._refit.start)

    @property
    def takes_answers(self) -> bool:
        return not (self._guard.isActive() or self._is_busy)

    def set_busy(self) -> None:
        """Disables the buttons while an answer is being sent."""
        self._clear_fault()
        self._is_busy = True
        self._set_usable(False)

    def show_problem(self, problem: Problem) -> None:
        """Shows why an answer was not accepted; the same request keeps waiting, or another one is shown below."""
        if problem == self._fault:
            return
        self._clear_fault()
        self._fault = problem
        banner = Banner(self._theme, "error", title(problem), sentences(problem))
        self._faults.setContentsMargins(px(24), px(16), px(24), 0 if self._body is not None else px(16))
        self._faults.addWidget(banner)
        banner.show()  # at once, since the window becomes as high as what is seen
        self._is_busy = False
        self._begin_guard()
        self._fit()

    def show_ended(self, problem: Problem) -> None:
        """Shows why an answer came too late, where nothing else waits."""
        self.request = self._body = None
        self._scroll.hide()
        self._clear_fault()
        self.show_problem(problem)
        for widget in (*self._others, self._bar, self._left):
            widget.hide()
        self._refuse.setText(tr("Close"))
        self._fit()

    def go_there(self) -> None:
        """Gives the window the keyboard, since the user wants to answer."""
        self._accept_focus()
        self.show()
        self.raise_()
        self.activateWindow()

    # what a subclass defines

    def ask(self, request: R, count: int) -> None:
        """Shows a request, one of `count` that wait; does nothing if it is shown already."""
        raise NotImplementedError

    def _answer(self, is_yes: bool) -> None:
        """Answers by a key, or by closing the window: approves once, or refuses."""
        raise NotImplementedError

    def _time_left(self, request: R) -> tuple[float, str]:
        """Returns how many seconds are left for an answer, and the text about that."""
        left_s = request.ends_at - time.time()
        return left_s, tr("Declines in {time}", time=minutes(left_s))

    # the parts

    def place_body(self, body: QWidget) -> None:
        """Shows another request."""
        self._body, self._is_busy = body, False
        body.installEventFilter(self)
        self._scroll.setWidget(body)
        self._scroll.show()
        self._clear_fault()
        self._bar.show()
        self._left.show()
        self._tick()
        self._begin_guard()
        self._fit()
        self._refit.start()  # what stands there for the first time, or again, is not as high as it says before that

    def _clear_fault(self) -> None:
        clear(self._faults)
        self._faults.setContentsMargins(0, 0, 0, 0)
        self._fault = None

    def _fit(self) -> None:
        """Makes the window as high as its content, as far as the screen allows, and opens it at the upper right of the screen."""
        room = self.screen().availableGeometry()
        self.setFixedWidth(min(px(WIDTH), room.width()))
        layout = self.layout()
        assert layout is not None
        layout.invalidate()
        layout.activate()  # it then knows what it has now
        self.setFixedHeight(min(height_at(layout, self.width()), room.height() - 2 * px(GAP)))
        if not self.isVisible():
            self.move(room.topRight() - QPoint(self.width() + px(GAP), -px(GAP)))

    # time

    def _tick(self) -> None:
        if self.request is not None:
            left_s, words = self._time_left(self.request)
            self._bar.set_share(left_s / WHOLE_S)
            self._left.setText(words)

    def _begin_guard(self) -> None:
        self._set_usable(False)
        self.setFocus(Qt.FocusReason.OtherFocusReason)  # not on the first part that takes it, now that no button does
        self._guard.start()

    def _on_guard_over(self) -> None:
        self._accept_focus()
        if not self._is_busy:
            self._set_usable(True)
            focused = self.focusWidget()
            if self._body is None or focused is None or not self._body.isAncestorOf(focused):  # else the user types there
                self._refuse.setFocus(Qt.FocusReason.OtherFocusReason)

    def _set_usable(self, is_usable: bool) -> None:
        for button in (*self._others, self._refuse):
            button.setEnabled(is_usable)

    def _accept_focus(self) -> None:
        """Allows activating the window, by a click or from the list of windows; this does not activate it."""
        no_focus = Qt.WindowType.WindowDoesNotAcceptFocus
        if self.windowFlags() & no_focus:
            self.overrideWindowFlags(self.windowFlags() & ~no_focus)
            if (handle := self.windowHandle()) is not None:
                handle.setFlag(no_focus, False)  # through the widget, the window would be hidden and shown again

    # answers

    def _send(self, answer: object) -> None:
        """Answers the request, or closes what has ended."""
        if not self.takes_answers:
            return
        if self.request is None:
            self.put_away.emit()
        else:
            self.answered.emit(self.request.id, answer)

    def _on_yes_key(self) -> None:
        if not self._arrival.isActive():
            self._answer(True)

    def _on_no_key(self) -> None:
        if not self._arrival.isActive():
            self._answer(False)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest and watched is self._body:  # it wants another height
            self._refit.start()
        return super().eventFilter(watched, event)

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
        self._answer(False)


DURATIONS = frozenset({"expires_in_s", "duration_s"})
"""Facts in seconds."""
NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]+)?")


def heading() -> str:
    return tr("Let a command allow something?")


def wish(request: ConfirmationSnapshot) -> str:
    """Returns what a command wants, as a sentence."""
    return whole(Problem(request.what))


def fact_name(name: str) -> str:
    """Returns the name of a detail for the user; an unknown one keeps its own."""
    names = {
        "server": tr("Server"),
        "tool": tr("Tool"),
        "client": tr("AI client"),
        "project": tr("Project"),
        "folder": tr("Folder"),
        "path": tr("Folder"),
        "kind": tr("Kind"),
        "name": tr("Name"),
        "files": tr("Files"),
        "network": tr("Network"),
        "hosts": tr("Hosts"),
        "read": tr("May read"),
        "write": tr("May change"),
        "rule": tr("Rule"),
        "rules": tr("Rules"),
        "rules_before": tr("Before"),
        "entries": tr("Servers"),
        "commands": tr("Command"),
        "digests": tr("Fingerprint"),
        "definitions": tr("Fingerprint"),
        "expires_in_s": tr("How long"),
        "duration_s": tr("How long"),
        "secrets": tr("Secrets"),
        "token": tr("Token"),
        "scope": tr("Scope"),
        "settings": tr("Settings"),
        "changes": tr("Changes"),
        "session": tr("Session"),
        "until": tr("How long"),
        "changed": tr("Changed arguments"),
    }
    return names.get(name, name)


def fact_value(name: str, value: str) -> str:
    """Returns the value of a detail for the user; an unknown one stays unchanged."""
    if name == "files" and value in FILES:
        return files_title(value)
    if name == "network" and value in NETWORKS:
        return network_title(value)
    if name in DURATIONS and NUMBER.fullmatch(value):
        return tr("for {duration}", duration=duration(float(value)))
    words = {
        ("kind", "tool"): tr("One tool"),
        ("kind", "reads"): tr("Everything that reads"),
        ("until", "lock"): tr("until the screen locks"),
        ("until", UNTIL_REVOKED): tr("until you revoke it"),
    }
    return words.get((name, value)) or say(value)


def origin(request: ConfirmationSnapshot) -> str:
    """Returns which programs started a command, as a sentence."""
    if not request.origin:
        return tr("The system does not identify the program that asks.")
    first, *others = request.origin
    if not others:
        return tr("It comes from {program}.", program=first)
    return tr("It comes from {program}, started by {others}.", program=first, others=", ".join(others))


class ConfirmationBody(RequestBody):
    """A view of one frozen request."""

    def __init__(self, theme: Theme, request: ConfirmationSnapshot, place: str) -> None:
        below = Label(theme, wish(request), "body", "secondary", wrap=True)
        super().__init__(theme, IconTile(theme, "shield", tone="warning"), heading(), below, place, margin=MARGIN)
        if request.ai_client:
            text = tr("If you typed it there in a terminal, it is yours. Otherwise, decline it.")
            words = tr("It comes from {client}, an AI client", client=shown_client(request.ai_client))
            self.lines.addWidget(Banner(theme, "warning", words, text))
        if request.facts:
            self.lines.addWidget(facts_box(theme, [(fact_name(name), fact_value(name, value)) for name, value in request.facts]))
        self.lines.addLayout(hint_line(theme, "terminal", origin(request)))
        if request.count > 1:
            self.lines.addLayout(hint_line(theme, "info", tr("{count} commands wait for this answer.", count=request.count)))
        self.lines.addStretch(1)


class ConfirmationWindow(AskingWindow[ConfirmationSnapshot]):
    """A window with a command's request. It is answered with whether it is approved."""

    def __init__(self, theme: Theme, *, guard_ms: int = GUARD_MS) -> None:
        self._no = Button(theme, tr("No"), heeds_enter=False, on_click=lambda: self._send(False))
        self._yes = Button(theme, tr("Yes, allow it"), "primary", heeds_enter=False, on_click=lambda: self._send(True))
        self._yes.setToolTip("Ctrl+Enter")
        super().__init__(theme, fill(row(margins=(24, 16, 24, 12)), 1, self._no, self._yes), self._no, self._yes, guard_ms=guard_ms)

    def ask(self, request: ConfirmationSnapshot, count: int) -> None:
        place = tr("1 of {count}", count=count) if count > 1 else ""
        before = self.request
        if before is not None and isinstance(self._body, ConfirmationBody) and replace(before, count=request.count) == request:
            self._body.set_place(place)
            return
        self.request = request
        self.setAccessibleName(f"{heading()} {wish(request)}")
        self.setAccessibleDescription(origin(request))
        self._yes.show()
        self._no.setText(tr("No"))
        self.place_body(ConfirmationBody(self._theme, request, place))

    def _answer(self, is_yes: bool) -> None:
        self._send(is_yes)
