"""The tool `collect_feedback`: a model reports, the user answers, and the project's servers start meanwhile.

Arguments are parsed leniently and made safe to display; the model gets a remark for each correction.
"""

import asyncio
import math
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import msgspec

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.tasks import Spawn
from tooltray.foundation.verbs import JsonObject
from tooltray.gateway.feedback.feedback_report import (
    Asked,
    Report,
    answer_blocks,
    failed_note,
    late_note,
    nobody_blocks,
    notes_block,
    result,
    started_note,
    text_block,
)
from tooltray.gateway.feedback.feedbacks import LONGEST_ANSWER, Feedbacks
from tooltray.protocol import envelope
from tooltray.protocol.envelope import INVALID_PARAMS, Envelope, dump, failure
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import Question, lacking
from tooltray.protocol.sessions.elicitation_form import LONGEST_MESSAGE, is_persons_no, plain
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.sources.projects.projects import ProjectReport, Projects

LONGEST_SUMMARY = 20_000  # characters; a user reads no more
LONGEST_PROJECT_NAME, LONGEST_SHOWN_PATH = 100, 4096
LEAST_WAIT_S = 600.0  # models tend to give a user only half a minute
MOST_WAIT_S = 86400.0  # a day; also the default
NO_SUMMARY = "work_summary is missing: describe in Markdown what you have done and what you want to know"
LONGEST_CLIENT = 100  # characters of a client's own name
START_WAIT_S = 20.0  # for servers that still start when the user answers; calls wait as long
STILL_STARTING = "Servers of this project are still starting; their tools are listed when they are ready."
NOBODY_TO_ASK = "The user cannot be asked: no Tooltray window is open, and this AI client supports no forms"
NOBODY_ANSWERED = "The AI client was asked to show the report, and no one answered there"
_FORM = {
    "type": "object",
    "properties": {"answer": {"type": "string", "title": "Your answer", "description": "What the model should know"}},
    "required": ["answer"],
}


class BadArguments(Exception):
    """An error: the required argument is missing; the text is for the model."""


class FeedbackArguments(msgspec.Struct, frozen=True):
    """
    Attributes:
        project_name, project_path: as the model wrote them; empty if missing.
        wait_s: how many seconds the report waits for the user.
        remarks: notes for the model about its arguments.
    """

    summary: str
    project_name: str
    project_path: str
    wait_s: float
    remarks: tuple[str, ...]

    @property
    def shown_path(self) -> str:
        """The normalized folder for display and for the history; empty if the path is not absolute and printable."""
        path = self.project_path
        is_one = os.path.isabs(path) and path.isprintable() and len(path) <= LONGEST_SHOWN_PATH
        return os.path.normpath(path) if is_one else ""


def read_arguments(arguments: object) -> FeedbackArguments:
    """Parses the arguments; wrong types are ignored with a remark.

    Raises:
        BadArguments: the summary is missing.
    """
    given: Mapping[str, object] = arguments if isinstance(arguments, dict) else {}
    remarks: list[str] = []
    written = given.get("work_summary")
    summary = plain(written, LONGEST_SUMMARY, keeps_lines=True)
    if not summary:
        raise BadArguments(NO_SUMMARY)
    if isinstance(written, str) and len(written) > LONGEST_SUMMARY:
        remarks.append(f"work_summary was cut after {LONGEST_SUMMARY:,} characters; keep it short.")
    name = plain(_text(given, "project_name", remarks), LONGEST_PROJECT_NAME)
    wait_s = _wait_s(given.get("timeout_s"), remarks)
    return FeedbackArguments(summary, name, _text(given, "project_path", remarks), wait_s, tuple(remarks))


def _text(given: Mapping[str, object], name: str, remarks: list[str]) -> str:
    value = given.get(name)
    if isinstance(value, str):
        return value
    if value is not None:
        remarks.append(f"{name} must be text, and was ignored.")
    return ""


def _wait_s(value: object, remarks: list[str]) -> float:
    if value is None:
        return MOST_WAIT_S
    seconds = _number(value)
    if math.isnan(seconds):
        remarks.append("timeout_s must be a number of seconds, and was ignored.")
        return MOST_WAIT_S
    if seconds < LEAST_WAIT_S:
        remarks.append(f"timeout_s was raised to {LEAST_WAIT_S:g}: the user needs time to read and to answer.")
    return min(max(seconds, LEAST_WAIT_S), MOST_WAIT_S)


def _number(value: object) -> float:
    """Parses a number, which models also write as text; nan for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


class FeedbackTool:
    """The tool itself, an OwnTool. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        feedbacks: Feedbacks,
        projects: Projects,
        tools: ToolManager,
        spawn: Spawn,
        offers: Callable[[SessionState, Route], bool],
    ) -> None:
        """
        Args:
            offers: whether a session may see a tool.
        """
        self._feedbacks, self._projects, self._tools, self._spawn, self._offers = feedbacks, projects, tools, spawn, offers

    async def __call__(self, exchange: Exchange) -> Envelope:
        """Waits for the user; a cancelled call leaves the report open."""
        state, era = exchange.session.state, exchange.era
        try:
            params = envelope.load(exchange.request.params)
            arguments = read_arguments(params.get("arguments") if isinstance(params, dict) else None)
        except ValueError as error:
            return failure(INVALID_PARAMS, f"the arguments cannot be read: {error}")
        except BadArguments as error:
            return result([text_block(str(error))], era, is_error=True)
        starting = self._spawn(
            self._projects.reported(state, arguments.project_name, arguments.project_path), name="start servers of a project"
        )
        asked = self._feedbacks.masked(_asked(arguments, exchange))
        try:
            report = self._feedbacks.open(state, asked)
        except TooltrayError as error:
            return result([text_block(state.words(error)), *notes_block(arguments.remarks)], era, is_error=True)
        is_late = report.outcome.done()
        with self._feedbacks.collecting(report):
            with exchange.timings.at_person():
                blocks = await self._answer(report, exchange)
            notes = [*([late_note(report, asked.summary)] if is_late else []), *arguments.remarks]
            return result([*blocks, *notes_block([*notes, *await self._of_servers(starting, state)])], era)

    async def _answer(self, report: Report, exchange: Exchange) -> list[JsonObject]:
        can_ask = self._can_ask(report, exchange)
        if not (can_ask or self._feedbacks.is_shown or report.outcome.done() or report.is_asked_there):
            return nobody_blocks(report.id, NOBODY_TO_ASK)
        tell = partial(self._tell, report, exchange, asyncio.get_running_loop().time())
        asking = self._spawn(self._ask_there(report, exchange), name="ask for feedback") if can_ask else None
        try:
            answer = await self._feedbacks.answer_to(report, while_waiting=tell)
            if answer is None:
                return nobody_blocks(report.id, NOBODY_ANSWERED)
            if asking and exchange.era is Era.MODERN and not asking.done():  # answered elsewhere; the client is away with our question
                self._feedbacks.keep(report)
                await asyncio.wait({asking})
            return answer_blocks(answer)
        finally:
            if asking:
                asking.cancel()

    def _tell(self, report: Report, exchange: Exchange, began_at: float) -> None:
        """Sends progress, with which clients extend their time-outs."""
        if not (token := exchange.head.meta.progress_token):
            return
        how = "" if self._feedbacks.is_shown else f" Answer in Tooltray, where the report waits as {report.id}."
        waited_s = round(asyncio.get_running_loop().time() - began_at)
        params = {"progressToken": token, "progress": waited_s, "message": f"Waiting for the user's answer.{how}"}
        exchange.tell("notifications/progress", dump(params))

    # the client's own user

    def _can_ask(self, report: Report, exchange: Exchange) -> bool:
        method, caller = "elicitation/create", exchange.caller
        if self._feedbacks.is_shown or report.outcome.done() or report.is_asked_there or not caller.can_answer(method):
            return False
        return not lacking(Question(method, _question(report)), caller.capabilities)

    async def _ask_there(self, report: Report, exchange: Exchange) -> None:
        """Asks by elicitation. An answer may come by the command line meanwhile, which cancels this."""
        report.is_asked_there = True
        loop = asyncio.get_running_loop()
        asked_at = loop.time()
        try:
            reply = await exchange.ask("elicitation/create", _question(report))
            if reply.error or not await self._take(report, envelope.load(reply.result), loop.time() - asked_at):
                report.leave_alone()
        except (ValueError, TooltrayError):  # an invalid answer; or the report was answered elsewhere in this moment, which counts
            report.leave_alone()
        finally:
            report.is_asked_there = False

    async def _take(self, report: Report, answer: Any, waited_s: float) -> bool:
        """Takes the answer of an elicitation; returns whether the user gave it."""
        if not isinstance(answer, dict):
            return False
        content, action = answer.get("content"), answer.get("action")
        text = content.get("answer") if isinstance(content, dict) else None
        if action == "accept" and isinstance(text, str) and text.strip():
            await self._feedbacks.answer(report.id, text[:LONGEST_ANSWER], ())
        elif is_persons_no(action, waited_s):
            await self._feedbacks.dismiss(report.id)
        else:
            return False
        return True

    # the project's servers

    async def _of_servers(self, starting: "asyncio.Task[ProjectReport]", state: SessionState) -> list[str]:
        await asyncio.wait({starting}, timeout=START_WAIT_S)
        if not starting.done():
            return [STILL_STARTING]
        if starting.cancelled() or starting.exception():  # the log has the reason
            return []
        report = starting.result()
        started = [started_note(name, await self._tools_of(name, state)) for name in report.started]
        return [*started, *(failed_note(name, reason) for name, reason in report.failed), report.warning]

    async def _tools_of(self, server: str, state: SessionState) -> list[str]:
        return list(self._named(await self._tools.published(server), state))

    def _named(self, published: Iterable[tuple[str, Route]], state: SessionState) -> Iterable[str]:
        """Returns the tools that the session's model can call; empty if the session has only another server."""
        mine = (each for each in published if state.server in (None, each[1].server) and each[1].definition.view.is_for_models)
        return (name for name, route in mine if self._offers(state, route))


def _asked(arguments: FeedbackArguments, exchange: Exchange) -> Asked:
    state = exchange.session.state
    path = arguments.shown_path or (state.project.path if state.project else "")
    known_name = state.project.name if state.project and state.project.path == path else os.path.basename(path)
    return Asked(
        client=plain(state.client or exchange.session.name, LONGEST_CLIENT),
        summary=arguments.summary,
        project_name=arguments.project_name or plain(known_name, LONGEST_PROJECT_NAME),
        project_path=path,
        waits_s=arguments.wait_s,
        names_path=bool(arguments.shown_path),
    )


def _question(report: Report) -> Any:
    return dump({"message": plain(report.snapshot.summary, LONGEST_MESSAGE, keeps_lines=True), "requestedSchema": _FORM})
