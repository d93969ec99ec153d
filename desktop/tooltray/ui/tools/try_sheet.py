"""The sheet that calls a tool: its arguments at the left, and at the right the call's progress and result, with questions of its server.
The calls that the user has made are kept only in memory, and not for long."""

import asyncio
import contextlib
import json
import time
import uuid
from collections import deque
from collections.abc import Coroutine, Mapping
from datetime import datetime
from functools import partial

import msgspec
from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QWidget
from shiboken6 import isValid

from tooltray.foundation import schema_check
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ElicitationAsked, ElicitationEnded, TryProgressed
from tooltray.foundation.shell_words import joined
from tooltray.foundation.snapshots.questions import ElicitationSnapshot
from tooltray.ui.activity.activity_words import took
from tooltray.ui.approval.question import QuestionPanel
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import Show, timer
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.results.result_view import ResultView
from tooltray.ui.schema_form.schema_form import SchemaForm
from tooltray.ui.server_text import seen
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.charts import Meter
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.code_view import DiffView
from tooltray.ui.widgets.keyboard import add_accept_keys
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.sheet import leave, set_saved
from tooltray.ui.widgets.surface import Surface, clear, column, divider, fill, row
from tooltray.ui.zoom import px

KEPT = 20  # attempts, of all tools together
LARGEST_KEPT = 1_000_000  # bytes of a result; a larger one is shown once
OK, CANCELLED = "ok", "cancelled"


class Attempt(msgspec.Struct, frozen=True):
    """A call that the user has made.

    Attributes:
        name: of the tool, as AI clients see it.
        at: unix seconds at which it began.
        outcome: as of MCPToolResponse.
        result: None without a result, or if it was too large to be kept.
        problem: why the call has no result.
    """

    name: str
    arguments: Mapping[str, object]
    at: float
    outcome: str
    duration_s: float
    result: Mapping[str, object] | None = None
    problem: Problem | None = None


class Attempts:
    """The last calls, the newest first."""

    def __init__(self) -> None:
        self._kept: deque[Attempt] = deque(maxlen=KEPT)

    def add(self, attempt: Attempt, result_bytes: int) -> None:
        """Adds a call; drops a large result."""
        self._kept.appendleft(attempt if result_bytes <= LARGEST_KEPT else msgspec.structs.replace(attempt, result=None))

    def of(self, name: str) -> list[Attempt]:
        """Returns the calls of one tool."""
        return [each for each in self._kept if each.name == name]


def outcome_words(outcome: str, seconds: float) -> str:
    """Returns the outcome of a call, and how long it took."""
    words = {
        OK: tr("Done in {duration}", duration=took(seconds)),
        CANCELLED: tr("Cancelled after {duration}", duration=took(seconds)),
        "refused": tr("Not allowed after {duration}", duration=took(seconds)),
    }
    return words.get(outcome) or tr("Failed after {duration}", duration=took(seconds))


def title_of(attempt: Attempt) -> str:
    """Returns the line of a call in a menu."""
    return f"{datetime.fromtimestamp(attempt.at):%H:%M:%S} · {outcome_words(attempt.outcome, attempt.duration_s)}"


def command_of(name: str, arguments: Mapping[str, object]) -> str:
    """Returns the command that makes the same call."""
    return joined(["tooltray", "tools", "call", name, *([json.dumps(arguments, ensure_ascii=False)] if arguments else [])])


WIDTH, HEIGHT = 1080, 720
TICK_MS = 500  # how long a call has taken is shown as it goes
LONGEST_ABOUT = 400  # characters of what a tool does, above its arguments
SETTLE_MS = 300  # after the last change of the arguments
CHANGE_WIDTH = 500  # px
HINT, RUNNING, QUESTION, RESULT, CHANGE = range(5)  # what stands at the right


async def open_try_sheet(context: PageContext, attempts: Attempts, show: Show, name: str, text: str) -> None:
    """Opens the sheet that calls a tool, in place of any other.

    Args:
        show: shows on the page what failed, also after the sheet is closed.
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
    panel = TrySheet(context, definition, tool.server if tool is not None else "", attempts, show, arguments)
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
        show: shows why a call could not be cancelled, or a question not be answered.
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
        show: Show,
        arguments: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(context.theme, "surface.raised", "border", "xl")
        self.context, self.attempt, self._attempts = context, "", attempts
        name = self.name = str(definition["name"])
        self._show_on_page = show
        self._began_at = 0.0
        self._progress: TryProgressed | None = None
        self._questions: list[ElicitationSnapshot] = []
        self._earlier = attempts.of(name)
        self.setMaximumWidth(px(WIDTH))
        self.setAccessibleName(tr("Try {name}", name=seen(name)))
        schema = definition.get("inputSchema")
        self.form = SchemaForm(context.theme, schema if isinstance(schema, Mapping) else {}, values=arguments)
        self.result = ResultView(context.theme)
        body = fill(row(spacing=0), (self._left(str(definition.get("description") or "")), 5), (self._right(), 6))
        fill(column(self), self._head(server), divider(), (body, 1), divider(), self._foot())
        self._clock = timer(self, TICK_MS, self._draw_progress, repeats=True)
        add_accept_keys(self, self.call)
        self._settling = timer(self, SETTLE_MS, self._read_change)
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
        self.context.attempts.add(attempt)
        began_at, started_at, size = time.time(), time.monotonic(), 0
        result: Mapping[str, object] | None = None
        problem: Problem | None = None
        try:
            response = await self.hub.tries.try_tool(attempt, self.name, dict(arguments))
            outcome, duration_s, result, size = response.outcome, response.duration_s, response.result, response.result_bytes
        except TooltrayError as error:
            outcome, duration_s, problem = "error", time.monotonic() - started_at, error.problem
        finally:
            self.context.attempts.discard(attempt)
            self.context.links.attempt_left.emit(attempt)
        if outcome != OK:
            duration_s = max(duration_s, time.monotonic() - started_at)  # a person's time counts where nothing came of it
        ended = Attempt(self.name, arguments, began_at, outcome, duration_s, result, problem)
        self._attempts.add(ended, size)
        if self.attempt == attempt:
            self.attempt, self._questions = "", []
            self._clock.stop()
            self._earlier.insert(0, ended)
            self._show(ended)

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
        name = ElidedLabel(self._theme, tr("Try {name}", name=seen(self.name)), "heading", mode=Qt.TextElideMode.ElideMiddle)
        owner = ElidedLabel(self._theme, tr("from {server}", server=server), "caption", "muted")
        owner.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        close = IconButton(self._theme, "x", tr("Close"), small=True, on_click=partial(leave, self, self.close_requested.emit))
        return fill(row(margins=(24, 14, 16, 14)), (name, 3), (owner, 1), close)

    def _left(self, about: str) -> QWidget:
        side = QWidget()
        lines = column(side)
        if about:
            words = Label(self._theme, seen(about[:LONGEST_ABOUT]), "body", "secondary", wrap=True)
            words.setContentsMargins(px(24), px(12), px(16), 0)
            lines.addWidget(words)
        title = Label(self._theme, tr("Arguments"), "caption_strong", "muted")
        self._no_arguments = QWidget()
        line = fill(row(self._no_arguments), Label(self._theme, tr("It takes no arguments."), "body", "secondary"))
        if not self.form.is_empty:
            line.addWidget(Button(self._theme, tr("Give some as JSON…"), "link", small=True, on_click=self._on_give))
        line.addStretch(1)
        area, content = PageScroll(tr("Arguments"), margin=16, below=0), QWidget()
        fill(column(content, margins=(24, 4, 16, 20), spacing=8), self._no_arguments, self.form, 1)
        self._show_form(not self.form.has_no_names or bool(self.form.value))
        area.setWidget(content)
        fill(lines, fill(row(margins=(24, 10, 16, 6)), (title, 1), self.form.views), (area, 1))
        return side

    def _right(self) -> QWidget:
        side, change = Surface(self._theme, "bg.window", None, "s"), QWidget()
        self._hint = Label(self._theme, tr("What the tool answers appears here."), "body", "muted", wrap=True)
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._question_place = QWidget()
        self._question = column(self._question_place)
        self._change = column(change, spacing=8)
        self._stack = QStackedWidget()
        for each in (self._hint, self._running(), self._question_place, self.result, change):  # in the order of HINT, RUNNING…
            self._stack.addWidget(each)
        fill(column(side, margins=(20, 14, 20, 16)), (self._stack, 1))
        return side

    def _running(self) -> QWidget:
        widget = QWidget()
        doing = Label(self._theme, tr("Calling…"), "strong")
        self._meter = Meter(self._theme, tr("Progress"))
        self._message = ElidedLabel(self._theme, "", "caption", "secondary")
        for label in (doing, self._message):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        fill(column(widget, spacing=8), 1, doing, self._meter, self._message, 2)
        return widget

    def _foot(self) -> QHBoxLayout:
        theme = self._theme
        self._last = Choice(theme, [], name=tr("Earlier attempts"), hint=tr("Earlier attempts"))
        self._last.setMaximumWidth(px(280))
        self._last.chosen_changed.connect(self._on_earlier)
        copy = Button(theme, tr("Copy as a command"), "ghost", "terminal", on_click=self._on_copy)
        self._status = Label(theme, "", "caption", "muted", tabular=True)
        self._cancel = Button(theme, tr("Cancel the call"), on_click=self._on_cancel)
        self._call = Button(theme, tr("Call"), "primary", "play", on_click=self.call)
        self._call.setToolTip("Ctrl+Enter")
        return fill(row(margins=(24, 14, 24, 14)), (self._last, 1), copy, 1, self._status, self._cancel, self._call)

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
        clear(self._question)
        panel = QuestionPanel(self.context, question)
        panel.answered.connect(self._on_answered)
        self._question.addWidget(panel)

    def _run_on_page(self, work: Coroutine[object, object, object]) -> None:
        self.context.run(work, show=self._show_on_page)

    # what a person does

    def _on_cancel(self) -> None:
        self._cancel.setEnabled(False)
        self._status.setText(tr("Cancelling…"))
        self._run_on_page(self.hub.tries.cancel_try(self.attempt))

    def _on_answered(self, id: str, action: str, content: dict[str, object] | None) -> None:
        self._run_on_page(self.hub.questions.answer_elicitation(id, action, content))
        self._end_question(id)

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
