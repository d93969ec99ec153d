"""Tests a server, and shows the progress and the result: the tools and their tokens, or why it does not work and what to do."""

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ServerTestOutput
from tooltray.foundation.snapshots.entries import NextStep, ServerTest
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.ui.figures import first_names, tokens
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.state_language import look
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.chip import StateBadge
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import Surface, clear, column, fill, row

OUTPUT_LINES = 5  # in sight; the rest scrolls
MOST_KEPT = 500  # lines
MOST_NAMES = 40  # tools that are named
SECONDS_MS = 1000
OFFERED = ("use_absolute_path", "add_to_path", "switch_registry", "store_secret")
"""Kinds of remedies that change the entry or store something; whoever shows this panel carries them out."""


class TestPanel(Surface, View):
    """A panel that tests a server, one test at a time; hidden until the first one.

    Args:
        cancelled: called after the user cancelled a test.
        step: carries out a remedy that the user chose; None: none are offered.
    """

    __test__ = False  # not a class of tests, whatever its name says

    def __init__(
        self, context: PageContext, *, cancelled: Callable[[], object] | None = None, step: Callable[[NextStep], object] | None = None
    ) -> None:
        theme = context.theme
        super().__init__(theme, "surface.sunken", "border", "m")
        self.context, self._cancelled, self._step = context, cancelled, step
        self._test = ""  # that runs
        self._lines: list[str] = []
        self._began_at = 0.0
        self._badge = StateBadge(theme, look(ServerState.STARTING))
        self._mark = Icon(theme, "check", 16, "success.text", "surface.sunken")
        self._headline = Label(theme, "", "caption_strong", "primary", wrap=True)
        self._cancel = Button(theme, tr("Cancel"), small=True, on_click=self._on_cancel)
        self._cancel.setAccessibleName(tr("Stop the test"))
        self._text = Label(theme, "", "caption", "secondary", wrap=True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._step_area = QWidget()
        self._steps = row(self._step_area, spacing=8)
        self._code = CodeView(theme, "", tr("What the server writes"), lines=OUTPUT_LINES)
        head = fill(row(spacing=8), self._badge, self._mark, (self._headline, 1), self._cancel)
        fill(column(self, margins=(14, 10, 10, 12), spacing=8), head, self._text, self._step_area, self._code)
        self._clock = QTimer(self, interval=SECONDS_MS)
        self._clock.timeout.connect(self._tick)
        context.hub.on(ServerTestOutput, self._on_output, self)
        self.hide()

    @property
    def is_running(self) -> bool:
        return bool(self._test)

    def test(self, name: str, entry: Mapping[str, object]) -> None:
        """Begins to test a server, and ends a test that runs.

        Args:
            entry: with the values of its secrets.
        """
        self.cancel()
        self._test = uuid.uuid4().hex
        self.begin()
        self.run(self._tested(self._test, name, entry))

    def cancel(self) -> None:
        """Cancels the running test, whose result is dropped."""
        test, self._test = self._test, ""
        if test:
            self.run(self._end_test(test))

    @property
    def words(self) -> str:
        """The text of the panel."""
        return " ".join(filter(None, (self._headline.text(), self._text.text())))

    def begin(self) -> None:
        """Shows that a test has begun."""
        self._lines, self._began_at = [], time.monotonic()
        self._show(tr("Connecting…"), "primary", "")
        self._badge.show()
        self._mark.hide()
        self._cancel.show()
        self._show_steps([])
        self._code.hide()
        self._clock.start()
        self.show()

    def show_result(self, test: ServerTest) -> None:
        self._clock.stop()
        self._badge.hide()
        self._cancel.hide()
        self._mark.setVisible(test.is_ok)
        if test.is_ok:
            count, cost = many(len(test.tools), "1 tool", "{count} tools"), tokens(test.tokens, test.tokens)
            words = tr("Connected in {seconds} s, {tools}, {tokens}", seconds=f"{test.took_s:.1f}", tools=count, tokens=cost)
            names = [tool.name for tool in sorted(test.tools, key=lambda tool: -tool.tokens)]  # the most expensive first
            self._show(words, "success", first_names(names, MOST_NAMES))
        else:
            problem = test.problem
            self._show(title(problem) if problem else "", "error", sentences(problem) if problem else "")
        self._show_lines(() if test.is_ok else test.output or self._lines)
        self._show_steps([step for step in test.remedies if step.kind in OFFERED and not test.is_ok])
        self.show()

    def end(self) -> None:
        """Cancels the running test, and hides the panel."""
        self.cancel()
        self._clock.stop()
        self.hide()

    async def _tested(self, test: str, name: str, entry: Mapping[str, object]) -> None:
        try:
            found = await self.hub.servers.test_server(test, name, entry)
        except TooltrayError as error:
            found = ServerTest(name, False, problem=error.problem)
        if self._test == test:
            self._test = ""
            self.show_result(found)

    async def _end_test(self, test: str) -> None:
        with suppress(TooltrayError):  # the hub is gone, and the test with it
            await self.hub.servers.cancel_server_test(test)

    def _on_output(self, news: ServerTestOutput) -> None:
        if news.test == self._test:
            self._lines = [*self._lines, *news.lines][-MOST_KEPT:]
            self._show_lines(self._lines)

    def _on_cancel(self) -> None:
        self.end()
        if self._cancelled is not None:
            self._cancelled()

    def _show(self, headline: str, tone: str, text: str) -> None:
        self._headline.setText(headline)
        self._headline.set_tone(tone)
        self._text.setText(text)
        self._text.setVisible(bool(text))
        self.setAccessibleName(f"{headline}. {text}" if text else headline)

    def _show_lines(self, lines: Sequence[str]) -> None:
        self._code.setPlainText("\n".join(lines))
        self._code.set_lines(max(1, min(OUTPUT_LINES, len(lines))))
        self._code.setVisible(bool(lines))
        bar = self._code.verticalScrollBar()
        bar.setValue(bar.maximum())

    def _show_steps(self, steps: Sequence[NextStep]) -> None:
        clear(self._steps)
        if self._step is not None:
            for step in steps:
                self._steps.addWidget(Button(self._theme, say(step.title), small=True, on_click=partial(self._step, step)))
        self._steps.addStretch(1)
        self._step_area.setVisible(self._steps.count() > 1)

    def _tick(self) -> None:
        self._headline.setText(tr("Connecting… {seconds} s", seconds=f"{time.monotonic() - self._began_at:.0f}"))
