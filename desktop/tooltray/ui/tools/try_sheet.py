"""The sheet that calls a tool: its arguments at the left, and at the right the call's progress and result, with questions of its server."""

import asyncio
import contextlib
import json
import time
import uuid
from collections.abc import Callable, Coroutine, Mapping
from functools import partial

from PySide6.QtCore import QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget
from shiboken6 import isValid

from tooltray.foundation import schema_check
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ElicitationAsked, ElicitationEnded, TryProgressed
from tooltray.foundation.snapshots.questions import ElicitationSnapshot
from tooltray.ui.activity.activity_words import took
from tooltray.ui.approval.question import QuestionPanel
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.results.result_view import ResultView
from tooltray.ui.schema_form.schema_form import SchemaForm
from tooltray.ui.server_text import seen
from tooltray.ui.tools.attempts import CANCELLED, OK, Attempt, Attempts, command_of, outcome_words, title_of
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.charts import Meter
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.code_view import DiffView
from tooltray.ui.widgets.keyboard import add_accept_keys
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.sheet import leave, set_saved
from tooltray.ui.widgets.surface import Surface, clear, column, divider, row
from tooltray.ui.zoom import px

WIDTH, HEIGHT = 1080, 720
TICK_MS = 500  # how long a call has taken is shown as it goes
LONGEST_ABOUT = 400  # characters of what a tool does, above its arguments
SETTLE_MS = 300  # after the last change of the arguments
CHANGE_WIDTH = 500  # px
HINT, RUNNING, QUESTION, RESULT, CHANGE = range(5)  # what stands at the right


Run = Callable[[Coroutine[object, object, object]], object]
"""Awaits work in the background, also after the sheet is closed, and shows a failure on the page."""


async def open_try_sheet(context: PageContext, attempts: Attempts, run: Run, name: str, text: str = "") -> None:
    """Opens the sheet that calls a tool, in place of any other.

    Args:
        name: as AI clients see it.
        text: JSON of the arguments at first; empty: the schema's defaults.

    Raises:
        TooltrayError: the tool cannot be called, or the text is not a JSON object.
    """
    arguments = _arguments(text)
    context.tasks.spawn(asyncio.to_thread(schema_check.prepare), name="what checks arguments")  # before somebody presses Call
    definitions, tools = await asyncio.gather(context.hub.tools.get_all_tool_definitions(), context.hub.tools.get_tools())
    definition = next((each for each in definitions if each.get("name") == name), None)
    tool = next((each for each in tools if each.name == name), None)
    if definition is None:
        hint = tr("Switch it on to try it.") if tool is not None and not tool.is_enabled else tr("Its server may have to run first.")
        raise TooltrayError(tr("Tool {name} is not available now", name=name), "", hint)
    panel = TrySheet(context, definition, tool.server if tool is not None else "", attempts, run, arguments)
    sheet = context.sheets.replace(panel)
    sheet.hold()  # a stray click loses no arguments
    panel.close_requested.connect(sheet.dismiss)
    sheet.closed.connect(panel.leave)


def _arguments(text: str) -> dict[str, object] | None:
    """Raises:
    TooltrayError: the text is not a JSON object.
    """
    if not text.strip():
        return None
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise TooltrayError(tr("These arguments cannot be used again"), "", tr("Only a part of them was kept."))
    return given


class TrySheet(Surface, View):
    """A sheet that calls a tool.

    Args:
        definition: of the tool, as AI clients get it.
        server: the server of the tool.
        attempts: the last calls, with this tool too; the sheet adds its own.
        run: awaits cancelling a call and answering a question.
        arguments: the values at first; None: the schema's defaults.

    Attributes:
        attempt: the id of the call that runs; empty: none does.
    """

    close_requested = Signal()

    def __init__(
        self,
        context: PageContext,
        definition: Mapping[str, object],
        server: str,
        attempts: Attempts,
        run: Run,
        arguments: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(context.theme, "surface.raised", "border", "xl")
        self.context, self.attempt, self._attempts = context, "", attempts
        name = self.name = str(definition["name"])
        self._run_on_page = run
        self._began_at = 0.0
        self._progress: TryProgressed | None = None
        self._questions: list[ElicitationSnapshot] = []
        self._earlier = attempts.of(name)
        self.setMaximumWidth(px(WIDTH))
        self.setAccessibleName(tr("Try {name}", name=seen(name)))
        schema = definition.get("inputSchema")
        self.form = SchemaForm(context.theme, schema if isinstance(schema, Mapping) else {}, values=arguments)
        self.result = ResultView(context.theme)
        layout = column(self)
        layout.addLayout(self._head(server))
        layout.addWidget(divider())
        body = row(spacing=0)
        body.addWidget(self._left(str(definition.get("description") or "")), 5)
        body.addWidget(self._right(), 6)
        layout.addLayout(body, 1)
        layout.addWidget(divider())
        layout.addLayout(self._foot())
        self._clock = QTimer(self, interval=TICK_MS)
        self._clock.timeout.connect(self._draw_progress)
        add_accept_keys(self, self.call)
        self._settling = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settling.timeout.connect(self._read_change)
        self.form.changed.connect(self._settling.start)
        self._draw()
        self._read_change()
        hub = context.hub
        hub.on(TryProgressed, self._on_progress, self)
        hub.on(ElicitationAsked, lambda news: self._on_asked(news.question), self)
        hub.on(ElicitationEnded, lambda news: self._end_question(news.id), self)

    def sizeHint(self) -> QSize:
        return QSize(px(WIDTH), px(HEIGHT))

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
        self.attempt, self._began_at = uuid.uuid4().hex, time.monotonic()
        self._progress = None
        self._clock.start()
        self._draw()
        set_saved(self)  # the call is kept with its arguments
        self.run(self._try(self.attempt, arguments))

    def leave(self) -> None:
        """Cancels the call, since the sheet is closed."""
        attempt, self.attempt = self.attempt, ""
        if attempt:
            self._run_on_page(self.hub.tries.cancel_try(attempt))

    async def _try(self, attempt: str, arguments: Mapping[str, object]) -> None:
        """Makes the call, and shows its outcome."""
        self.context.attempts.show(attempt)
        began_at, started_at, size = time.time(), time.monotonic(), 0
        result: Mapping[str, object] | None = None
        problem: Problem | None = None
        try:
            response = await self.hub.tries.try_tool(attempt, self.name, dict(arguments))
            outcome, duration_s, result, size = response.outcome, response.duration_s, response.result, response.result_bytes
        except TooltrayError as error:
            outcome, duration_s, problem = "error", time.monotonic() - started_at, error.problem
        finally:
            self.context.attempts.leave(attempt)
        if outcome != OK:
            duration_s = max(duration_s, time.monotonic() - started_at)  # a person's time counts where nothing came of it
        ended = Attempt(self.name, arguments, began_at, outcome, duration_s, result, problem)
        self._attempts.add(ended, size)
        if self.attempt == attempt:
            self._end(ended)

    def _read_change(self) -> None:
        """Reads what the call would change in a file that it overwrites."""
        if not self.attempt and (arguments := self.form.value) is not None:
            self._run_on_page(self._show_change(arguments))

    async def _show_change(self, arguments: Mapping[str, object]) -> None:
        lines: tuple[str, ...] = ()
        with contextlib.suppress(TooltrayError):  # the engine has just ended
            lines = await self.hub.tries.get_try_diff(self.name, dict(arguments))
        if not isValid(self) or self.attempt or arguments != self.form.value:
            return
        clear(self._change)
        if lines:
            text = tr("This call overwrites a file. What would change in it:")
            self._change.addWidget(Label(self._theme, text, "strong", wrap=True))
            self._change.addWidget(DiffView(self._theme, lines, tr("What would change"), width=px(CHANGE_WIDTH)))
            self._change.addStretch(1)
            self._stack.setCurrentIndex(CHANGE)
        elif self._stack.currentIndex() == CHANGE:
            self._draw()

    def _on_progress(self, news: TryProgressed) -> None:
        if news.attempt == self.attempt:
            self._progress = news
            self._draw_progress()

    def _on_asked(self, question: ElicitationSnapshot) -> None:
        if self.attempt and question.attempt == self.attempt:
            self._questions.append(question)
            self._draw()

    def _end_question(self, id: str) -> None:
        """Removes a question that was answered or has ended."""
        self._questions = [each for each in self._questions if each.id != id]
        self._draw()

    def _end(self, ended: Attempt) -> None:
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
        close.clicked.connect(partial(leave, self, self.close_requested.emit))
        line.addWidget(close)
        return line

    def _left(self, about: str) -> QWidget:
        side = QWidget()
        lines = column(side)
        if about:
            words = Label(self._theme, seen(about[:LONGEST_ABOUT]), "body", "secondary", wrap=True)
            words.setContentsMargins(px(24), px(12), px(16), 0)
            lines.addWidget(words)
        head = row(margins=(24, 10, 16, 6))
        head.addWidget(Label(self._theme, tr("Arguments"), "caption_strong", "muted"), 1)
        head.addWidget(self.form.views)
        lines.addLayout(head)
        area = PageScroll(tr("Arguments"), margin=16, below=0)
        content = QWidget()
        inner: QVBoxLayout = column(content, margins=(24, 4, 16, 20), spacing=8)
        self._no_arguments = QWidget()
        line = row(self._no_arguments, spacing=8)
        line.addWidget(Label(self._theme, tr("It takes no arguments."), "body", "secondary"))
        if not self.form.is_empty:
            give = Button(self._theme, tr("Give some as JSON…"), "link", small=True)
            give.clicked.connect(self._on_give)
            line.addWidget(give)
        line.addStretch(1)
        inner.addWidget(self._no_arguments)
        inner.addWidget(self.form)
        self._show_form(not self.form.has_no_names or bool(self.form.value))
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
        change = QWidget()
        self._change = column(change, spacing=8)
        self._stack.addWidget(change)
        lines.addWidget(self._stack, 1)
        self._hint.setText(tr("What the tool answers appears here."))
        return side

    def _running(self) -> QWidget:
        widget = QWidget()
        lines = column(widget, spacing=8)
        lines.addStretch(1)
        doing = Label(self._theme, tr("Calling…"), "strong")
        doing.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        lines.addWidget(doing)
        self._meter = Meter(self._theme, tr("Progress"))
        lines.addWidget(self._meter)
        self._message = ElidedLabel(self._theme, "", "caption", "secondary")
        self._message.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        lines.addWidget(self._message)
        lines.addStretch(2)
        return widget

    def _foot(self) -> QHBoxLayout:
        line = row(margins=(24, 14, 24, 14), spacing=8)
        self._last = Choice(self._theme, [], name=tr("Earlier attempts"), hint=tr("Earlier attempts"))
        self._last.setMaximumWidth(px(280))
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
        if not is_running and self.window().focusWidget() is self._cancel:  # also while another window is in front, as an approval's is
            self._call.setFocus(Qt.FocusReason.OtherFocusReason)
        self._call.set_busy(is_running)
        self._cancel.setEnabled(True)
        self._cancel.setVisible(is_running)
        self._last.setVisible(bool(self._earlier))
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
        self._status.setText(took(time.monotonic() - self._began_at))
        news = self._progress
        self._meter.setVisible(news is not None and bool(news.total))
        if news is None:
            self._message.set_text("")
            return
        if news.total:
            self._meter.set_share(news.progress / news.total)
        figures = f"{news.progress:g} / {news.total:g}" if news.total else f"{news.progress:g}"
        self._message.set_text(f"{figures} · {news.message}" if news.message else figures)

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
        panel.copy_requested.connect(lambda url: self.context.copy(url, tr("The address is copied")))
        layout = self._question_place.layout()
        assert layout is not None
        layout.addWidget(panel)

    # what a person does

    def _on_cancel(self) -> None:
        if self.attempt:
            self._cancel.setEnabled(False)
            self._status.setText(tr("Cancelling…"))
            self._run_on_page(self.hub.tries.cancel_try(self.attempt))

    def _on_answered(self, id: str, action: str, content: dict[str, object] | None) -> None:
        self._run_on_page(self.hub.questions.answer_elicitation(id, action, content))
        self._end_question(id)

    def _on_page_wanted(self, url: str) -> None:
        panel = self._question_place.findChild(QuestionPanel)
        if panel is not None:
            panel.accept_url() if QDesktopServices.openUrl(QUrl(url)) else panel.show_no_browser()

    def _on_give(self) -> None:
        self._show_form(True)
        self.form.focus()

    def _show_form(self, is_shown: bool) -> None:
        self.form.setVisible(is_shown)
        self._no_arguments.setVisible(not is_shown)

    def _on_copy(self) -> None:
        if (arguments := self.form.value) is not None:
            self.context.copy(command_of(self.name, arguments), tr("The command is copied"))

    def _on_earlier(self, place: str) -> None:
        if not self.attempt:
            attempt = self._earlier[int(place)]
            self.form.set_value(attempt.arguments)
            self._show_form(not self.form.has_no_names or bool(attempt.arguments))
            self._show(attempt)
            self._last.choose(place)
