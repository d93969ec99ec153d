"""The sheet that calls a tool: its arguments at the left, and at the right the call's progress and result, with questions of its server. It
calls nothing itself."""

import time
import uuid
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from tooltray.foundation.events import TryProgressed
from tooltray.foundation.snapshots.questions import ElicitationSnapshot
from tooltray.ui.activity.activity_words import took
from tooltray.ui.approval.question import QuestionPanel
from tooltray.ui.i18n import tr
from tooltray.ui.results.result_view import ResultView
from tooltray.ui.schema_form.schema_form import SchemaForm
from tooltray.ui.theme import Theme
from tooltray.ui.tools.attempts import CANCELLED, Attempt, command_of, outcome_words, title_of
from tooltray.ui.widgets.accept_keys import add_accept_keys
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.charts import Meter
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.server_text import seen
from tooltray.ui.widgets.surface import Surface, column, divider, row

WIDTH, HEIGHT = 1080, 720
TICK_MS = 500  # how long a call has taken is shown as it goes
HINT, RUNNING, QUESTION, RESULT = range(4)  # what stands at the right


class TryPanel(Surface):
    """A sheet that calls a tool.

    Args:
        title: of the tool.
        server: the server of the tool.
        schema: of its arguments.
        arguments: the values at first; None: the schema's defaults.
        earlier: attempts with this tool, the newest first.
    """

    call_requested = Signal(str, object)  # an attempt's id, and the arguments
    cancel_requested = Signal(str)
    answered = Signal(str, str, object)  # a question's id, "accept", "decline" or "cancel", and a form's values
    copy_requested = Signal(str, str)  # a text, and what it is
    close_requested = Signal()

    def __init__(
        self,
        theme: Theme,
        name: str,
        server: str,
        *,
        schema: Mapping[str, object],
        arguments: Mapping[str, object] | None = None,
        earlier: Sequence[Attempt] = (),
    ) -> None:
        super().__init__(theme, "surface.raised", "border", "xl")
        self.name, self.attempt = name, ""
        self._arguments: Mapping[str, object] = {}
        self._began_at = 0.0
        self._waits_for_yes = False
        self._progress: TryProgressed | None = None
        self._questions: list[ElicitationSnapshot] = []
        self._earlier = list(earlier)
        self.setMaximumWidth(WIDTH)
        self.setAccessibleName(tr("Try {name}", name=seen(name)))
        self.form = SchemaForm(theme, schema, values=arguments)
        self.result = ResultView(theme)
        layout = column(self)
        layout.addLayout(self._head(server))
        layout.addWidget(divider())
        body = row(spacing=0)
        body.addWidget(self._left(), 5)
        body.addWidget(self._right(), 6)
        layout.addLayout(body, 1)
        layout.addWidget(divider())
        layout.addLayout(self._foot())
        self._clock = QTimer(self, interval=TICK_MS)
        self._clock.timeout.connect(self._draw_progress)
        add_accept_keys(self, self.call)
        self._draw()

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, HEIGHT)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        QTimer.singleShot(0, self, self.form.focus)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.attempt:
            self._on_cancel()  # the call first, and the sheet by the next press
        else:
            super().keyPressEvent(event)

    # what happens

    def call(self) -> None:
        """Makes the call, if the arguments are valid."""
        if self.attempt or not self.form.check() or (arguments := self.form.value) is None:
            return
        self.attempt, self._arguments, self._began_at = uuid.uuid4().hex, arguments, time.monotonic()
        self._progress, self._waits_for_yes = None, False
        self._clock.start()
        self._draw()
        self.call_requested.emit(self.attempt, arguments)

    def show_progress(self, news: TryProgressed) -> None:
        """Shows the progress that the server has reported."""
        if news.attempt == self.attempt:
            self._progress = news
            self._draw_progress()

    def show_waiting(self, is_waiting: bool) -> None:
        """Shows whether the call waits for the user's approval in another window."""
        self._waits_for_yes = is_waiting
        self._draw_progress()

    def ask(self, question: ElicitationSnapshot) -> None:
        """Shows a question of the server."""
        if self.attempt and question.attempt == self.attempt:
            self._questions.append(question)
            self._draw()

    def end_question(self, id: str) -> None:
        """Removes a question that was answered or has ended."""
        self._questions = [each for each in self._questions if each.id != id]
        self._draw()

    def end(self, ended: Attempt) -> None:
        """Shows the result of the call, which has ended."""
        self.attempt, self._questions = "", []
        self._clock.stop()
        self._earlier.insert(0, ended)
        self._show(ended)

    def _show(self, ended: Attempt) -> None:
        self._status.setText(outcome_words(ended.outcome, ended.duration_s))
        if ended.problem is not None:
            self.result.show_problem(ended.problem)
        elif ended.result is not None:
            self.result.show_result(ended.result)
        else:
            self.result.clear()
        has_result = ended.problem is not None or ended.result is not None
        self._hint.setText(tr("The call was cancelled.") if ended.outcome == CANCELLED else tr("Its result was too large to be kept."))
        self._draw(RESULT if has_result else HINT)

    # building

    def _head(self, server: str) -> QHBoxLayout:
        line = row(margins=(24, 14, 16, 14), spacing=8)
        line.addWidget(ElidedLabel(self._theme, tr("Try {name}", name=seen(self.name)), "heading", mode=Qt.TextElideMode.ElideMiddle), 3)
        owner = ElidedLabel(self._theme, tr("from {server}", server=server), "caption", "muted")
        owner.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        line.addWidget(owner, 1)
        close = IconButton(self._theme, "x", tr("Close"), small=True)
        close.clicked.connect(self.close_requested)
        line.addWidget(close)
        return line

    def _left(self) -> QWidget:
        side = QWidget()
        lines = column(side)
        head = row(margins=(24, 10, 16, 6))
        head.addWidget(Label(self._theme, tr("Arguments"), "caption_strong", "muted"), 1)
        head.addWidget(self.form.views)
        lines.addLayout(head)
        area = PageScroll(tr("Arguments"), margin=16, below=0)
        content = QWidget()
        inner: QVBoxLayout = column(content, margins=(24, 4, 16, 20), spacing=8)
        if self.form.is_empty:
            inner.addWidget(Label(self._theme, tr("It takes no arguments."), "body", "secondary"))
            self.form.hide()
        inner.addWidget(self.form)
        inner.addStretch(1)
        area.setWidget(content)
        lines.addWidget(area, 1)
        return side

    def _right(self) -> QWidget:
        side = Surface(self._theme, "bg.window", None, "s")
        lines = column(side, margins=(20, 14, 20, 16), spacing=8)
        self._stack = QStackedWidget()
        self._hint = Label(self._theme, "", "body", "muted", wrap=True)
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack.addWidget(self._hint)
        self._stack.addWidget(self._running())
        self._question_place = QWidget()
        column(self._question_place)
        self._stack.addWidget(self._question_place)
        self._stack.addWidget(self.result)
        lines.addWidget(self._stack, 1)
        self._hint.setText(tr("What the tool answers appears here."))
        return side

    def _running(self) -> QWidget:
        widget = QWidget()
        lines = column(widget, spacing=8)
        lines.addStretch(1)
        self._doing = Label(self._theme, "", "strong")
        self._doing.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        lines.addWidget(self._doing)
        self._meter = Meter(self._theme, tr("Progress"))
        lines.addWidget(self._meter)
        self._said = ElidedLabel(self._theme, "", "caption", "secondary")
        self._said.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        lines.addWidget(self._said)
        lines.addStretch(2)
        return widget

    def _foot(self) -> QHBoxLayout:
        line = row(margins=(24, 14, 24, 14), spacing=8)
        self._last = Choice(self._theme, [], name=tr("Earlier attempts"), hint=tr("No attempt yet"))
        self._last.setMaximumWidth(280)
        self._last.chosen_changed.connect(self._on_earlier)
        line.addWidget(self._last, 1)
        copy = Button(self._theme, tr("Copy as a command"), "ghost", "terminal")
        copy.clicked.connect(self._on_copy)
        line.addWidget(copy)
        line.addStretch(1)
        self._status = Label(self._theme, "", "caption", "muted", tabular=True)
        line.addWidget(self._status)
        self._cancel = Button(self._theme, tr("Cancel the call"))
        self._cancel.clicked.connect(self._on_cancel)
        line.addWidget(self._cancel)
        self._call = Button(self._theme, tr("Call"), "primary", "play")
        self._call.setToolTip("Ctrl+Enter")
        self._call.clicked.connect(self.call)
        line.addWidget(self._call)
        return line

    def _draw(self, ended: int = RESULT) -> None:
        is_running = bool(self.attempt)
        shown, gone = (self._cancel, self._call) if is_running else (self._call, self._cancel)
        shown.setEnabled(True)
        shown.show()
        if self.window().focusWidget() is gone:  # also while another window is in front, as an approval's is
            shown.setFocus(Qt.FocusReason.OtherFocusReason)
        gone.hide()
        self._last.set_options([(str(place), title_of(each)) for place, each in enumerate(self._earlier)])
        if is_running and self._questions:
            self._draw_question(self._questions[0])
            self._stack.setCurrentIndex(QUESTION)
        elif is_running:
            self._stack.setCurrentIndex(RUNNING)
            self._draw_progress()
        else:
            self._stack.setCurrentIndex(ended if self._earlier else HINT)

    def _draw_progress(self) -> None:
        if not self.attempt:
            return
        self._doing.setText(tr("Waiting for your approval in the new window") if self._waits_for_yes else tr("Calling…"))
        self._status.setText(took(time.monotonic() - self._began_at))
        news = self._progress
        self._meter.setVisible(news is not None and bool(news.total))
        if news is None:
            self._said.set_text("")
            return
        if news.total:
            self._meter.set_share(news.progress / news.total)
        figures = f"{news.progress:g} / {news.total:g}" if news.total else f"{news.progress:g}"
        self._said.set_text(f"{figures} · {news.message}" if news.message else figures)

    def _draw_question(self, question: ElicitationSnapshot) -> None:
        shown = self._question_place.findChild(QuestionPanel)
        if shown is not None and shown.question.id == question.id:
            return
        if shown is not None:
            shown.settle()
            shown.setParent(None)
            shown.deleteLater()
        panel = QuestionPanel(self._theme, question)
        panel.answered.connect(self._on_answered)
        panel.open_requested.connect(self._on_page_wanted)
        panel.copy_requested.connect(self._on_address)
        layout = self._question_place.layout()
        assert layout is not None
        layout.addWidget(panel)

    # what a person does

    def _on_cancel(self) -> None:
        if self.attempt:
            self._cancel.setEnabled(False)
            self._status.setText(tr("Cancelling…"))
            self.cancel_requested.emit(self.attempt)

    def _on_answered(self, id: str, action: str, content: object) -> None:
        self.answered.emit(id, action, content)
        self.end_question(id)

    def _on_page_wanted(self, url: str) -> None:
        panel = self._question_place.findChild(QuestionPanel)
        if panel is not None:
            panel.accept_url() if QDesktopServices.openUrl(QUrl(url)) else panel.show_no_browser()

    def _on_address(self, url: str) -> None:
        self.copy_requested.emit(url, tr("The address is copied"))

    def _on_copy(self) -> None:
        if (arguments := self.form.value) is not None:
            self.copy_requested.emit(command_of(self.name, arguments), tr("The command is copied"))

    def _on_earlier(self, place: str) -> None:
        if not self.attempt:
            attempt = self._earlier[int(place)]
            self.form.set_value(attempt.arguments)
            self._show(attempt)
            self._last.choose(place)
