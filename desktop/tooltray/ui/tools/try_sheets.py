"""Opens the sheet that calls a tool, and carries out the user's actions in it. One sheet at a time; its call ends with it."""

import asyncio
import json
import time
from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import QObject, Signal

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import TryProgressed
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.foundation.snapshots.questions import ElicitationSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import Commands, action, as_notice, at_page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.schema_form import faults
from tooltray.ui.tools.attempts import OK, Attempt, Attempts
from tooltray.ui.tools.try_panel import TryPanel

OWN_NAME = "tooltray"  # how the person's own calls name their client


class TrySheets(Commands):
    """The sheets that call tools. `failed`: why a tool cannot be called."""

    opened = Signal(object)  # TryPanel

    def __init__(self, context: PageContext, parent: QObject | None) -> None:
        super().__init__(hub=context.hub, tasks=context.tasks, parent=parent)
        self._context = context
        self._attempts = Attempts()
        self._panel: TryPanel | None = None
        self._waiting: set[str] = set()  # ids of approvals
        hub = context.hub
        hub.try_progressed.connect(self._on_progress)
        hub.elicitation_asked.connect(self._on_asked)
        hub.elicitation_ended.connect(self._on_question_ended)
        hub.approval_asked.connect(self._on_approval_asked)
        hub.approval_ended.connect(self._on_approval_ended)

    @property
    def panel(self) -> TryPanel | None:
        """The open sheet."""
        return self._panel

    @action(at_page)
    async def open(self, name: str, text: str = "") -> None:
        """Opens the sheet for a tool.

        Args:
            name: as AI clients see it.
            text: JSON of the arguments at first; empty: the schema's defaults.
        """
        arguments = _arguments(text)
        self.tasks.spawn(asyncio.to_thread(faults.prepare), name="what checks arguments")  # before somebody presses Call
        definitions, tools = await asyncio.gather(self._hub.tools.get_all_tool_definitions(), self._hub.tools.get_tools())
        definition = next((each for each in definitions if each.get("name") == name), None)
        tool = next((each for each in tools if each.name == name), None)
        if definition is None:
            hint = tr("Switch it on to try it.") if tool is not None and not tool.is_enabled else tr("Its server may have to run first.")
            raise TooltrayError(tr("Tool {name} is not available now", name=name), "", hint)
        schema = definition.get("inputSchema")
        panel = TryPanel(
            self._context.theme,
            name,
            tool.server if tool is not None else "",
            schema=schema if isinstance(schema, Mapping) else {},
            arguments=arguments,
            earlier=self._attempts.of(name),
        )
        self._show(panel)

    def _show(self, panel: TryPanel) -> None:
        self._panel = panel
        panel.call_requested.connect(partial(self.call, panel))
        panel.cancel_requested.connect(self.cancel)
        panel.answered.connect(self.answer)
        panel.copy_requested.connect(self._context.copy)
        sheet = self._context.sheets.replace(panel)
        sheet.hold()  # a stray click loses no arguments
        panel.close_requested.connect(sheet.dismiss)
        sheet.closed.connect(partial(self._on_closed, panel))
        self.opened.emit(panel)

    @action(as_notice, clears=False)
    async def call(self, panel: TryPanel, attempt: str, arguments: Mapping[str, object]) -> None:
        """Makes the call of a sheet, and shows its outcome there."""
        self._context.attempts.show(attempt)
        began_at, started_at, size = time.time(), time.monotonic(), 0
        result: Mapping[str, object] | None = None
        problem: Problem | None = None
        try:
            response = await self._hub.tries.try_tool(attempt, panel.name, dict(arguments))
            outcome, duration_s, result, size = response.outcome, response.duration_s, response.result, response.result_bytes
        except TooltrayError as error:
            outcome, duration_s, problem = "error", time.monotonic() - started_at, error.problem
        finally:
            self._context.attempts.leave(attempt)
        if outcome != OK:
            duration_s = max(duration_s, time.monotonic() - started_at)  # a person's time counts where nothing came of it
        ended = Attempt(panel.name, arguments, began_at, outcome, duration_s, result, problem)
        self._attempts.add(ended, size)
        if self._panel is panel and panel.attempt == attempt:
            panel.end(ended)

    @action(as_notice, clears=False)
    async def cancel(self, attempt: str) -> None:
        """Cancels a call."""
        await self._hub.tries.cancel_try(attempt)

    @action(as_notice, clears=False)
    async def answer(self, id: str, action: str, content: dict[str, object] | None) -> None:
        """Sends the user's answer to the server with the question."""
        await self._hub.questions.answer_elicitation(id, action, content)

    def _on_closed(self, panel: TryPanel) -> None:
        if panel.attempt:
            self.cancel(panel.attempt)
        if self._panel is panel:
            self._panel = None

    def _on_progress(self, news: TryProgressed) -> None:
        if self._panel is not None:
            self._panel.show_progress(news)

    def _on_asked(self, question: ElicitationSnapshot) -> None:
        if self._panel is not None:
            self._panel.ask(question)

    def _on_question_ended(self, id: str) -> None:
        if self._panel is not None:
            self._panel.end_question(id)

    def _on_approval_asked(self, request: ApprovalSnapshot) -> None:
        if request.client == OWN_NAME:
            self._waiting.add(request.id)
            self._tell_waiting()

    def _on_approval_ended(self, id: str) -> None:
        self._waiting.discard(id)
        self._tell_waiting()

    def _tell_waiting(self) -> None:
        if self._panel is not None:
            self._panel.show_waiting(bool(self._waiting))


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
