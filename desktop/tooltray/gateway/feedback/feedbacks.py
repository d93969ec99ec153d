"""Reports of models that wait for an answer, and the answers.

The event bus informs the desktop of a report and of its end. A report outlives the call that opened it: a client that gave up gets the
answer by calling again.
"""

import asyncio
import contextlib
import json
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tooltray.config.settings.document import Document
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import Conflict, NotFound, TooltrayError
from tooltray.foundation.events import EventBus, FeedbackAsked, FeedbackEnded
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.questions import FeedbackAttachment, FeedbackEntry, FeedbackSnapshot
from tooltray.foundation.verbs import MAX_PICTURES_BYTES, verb
from tooltray.gateway.feedback.feedback_attachments import read_attachments
from tooltray.gateway.feedback.feedback_history import FeedbackNotes
from tooltray.gateway.feedback.feedback_report import ANSWERED, DISMISSED, EXPIRED, REPLACED, WITHDRAWN, Answer, Asked, KeptAnswers, Report
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.sessions.elicitation_form import plain
from tooltray.protocol.sessions.session_state import SessionForgotten, SessionState

MOST_OPEN = 5  # windows; a user cannot handle more
ID_BYTES = 4  # short, since people type ids; a hub has few at a time
MOST_REPLACED = 100  # ids of replaced reports that are remembered, for a user who still looks at one
PROGRESS_EVERY_S = 15.0  # the shortest time-out of AI clients that progress notifications reset is 30 s
LONGEST_ANSWER = 100_000  # characters for the model
LONGEST_ID = 40  # characters of an unknown id in an error
REPORTS_HINT = Phrase("See which wait: tooltray feedback list, and which there were: tooltray feedback history")


class Feedbacks:
    """The open reports, at most one of each session. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        bus: EventBus,
        deadlines: DeadlineWheel,
        notes: FeedbackNotes,
        mask: Callable[[str], str],
        has_window: bool,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            mask: masks known secrets in texts.
            has_window: whether this is the desktop's hub, which shows reports as soon as its window subscribes to events.
            now: seconds of a monotonic clock.
        """
        self._bus, self._deadlines, self._notes = bus, deadlines, notes
        self._mask, self._has_window, self._now = mask, has_window, now
        self._open: dict[str, Report] = {}  # by id, the oldest first
        self._kept = KeptAnswers(deadlines)
        self._replaced: deque[str] = deque(maxlen=MOST_REPLACED)
        self._is_closed = False
        bus.subscribe(SessionForgotten, self._on_session_forgotten)

    @property
    def is_shown(self) -> bool:
        """Whether a window shows reports."""
        return self._has_window and self._bus.is_heard(FeedbackAsked)

    async def start(self) -> None:
        """Marks reports that were open when a hub died as expired. Must be called once, before models report."""
        await self._notes.start()

    # for the tool

    def masked(self, asked: Asked) -> Asked:
        """Masks known secrets in a request: a model may have read them in a file, and commands and the history show the texts."""
        return replace(
            asked, client=self._mask(asked.client), summary=self._mask(asked.summary), project_name=self._mask(asked.project_name)
        )

    def open(self, state: SessionState, asked: Asked) -> Report:
        """Returns the report for a call: one that was answered meanwhile, an open one that is repeated, or a new one.

        Raises:
            TooltrayError: too many reports are open, or this hub is about to end.
        """
        if self._is_closed:
            raise TooltrayError(
                Phrase("Tooltray is restarting"), Phrase("the user cannot be asked right now"), Phrase("Call again in a few seconds.")
            )
        session = _session_of(state, asked)
        if kept := self._kept.take(session, asked):
            return kept
        same = next((each for each in self._open.values() if each.is_like(asked) and (each.session == session or not each.waiters)), None)
        for before in [each for each in self._open.values() if each.session == session and each is not same]:
            self._replaced.append(before.id)
            self._end(before, REPLACED)
        if same:
            return self._wait_on(same, state, asked)
        self._make_room()
        return self._show(state, asked)

    @contextlib.contextmanager
    def collecting(self, report: Report) -> Iterator[None]:
        """Surrounds a call that waits for a report and returns the answer; a cancelled call leaves the answer to the next one."""
        report.waiters += 1
        began_at = self._now()
        try:
            yield
            if report.outcome.done():
                report.is_collected = True
                self._kept.forget(report)
                self._kept.keep_returned(report, self._now() - began_at)
        finally:
            report.waiters -= 1
            self._keep_if_lost(report)

    async def answer_to(self, report: Report, *, while_waiting: Callable[[], None]) -> Answer | None:
        """Waits for the answer of a report; returns None if the AI client showed the report and got no answer.

        Args:
            while_waiting: called at once, and then every `PROGRESS_EVERY_S`.
        """
        while not (report.outcome.done() or report.left_alone.done()):
            while_waiting()
            ends: set[asyncio.Future[Any]] = {report.outcome, report.left_alone}
            await asyncio.wait(ends, timeout=PROGRESS_EVERY_S, return_when=asyncio.FIRST_COMPLETED)
        return report.outcome.result() if report.outcome.done() else None

    def keep(self, report: Report) -> None:
        """Keeps the answer for the session's next call, since the waiting call cannot take it now."""
        self._kept.keep(report)

    # for the user

    def waiting(self) -> list[FeedbackSnapshot]:
        """Returns the open reports; see FeedbackApi.get_feedback_requests."""
        return [report.shown for report in self._open.values()]

    async def answer(self, id: str, text: str, attachments: Sequence[FeedbackAttachment]) -> None:
        """Ends a report with an answer; see FeedbackApi.answer_feedback."""
        await self._find(id)
        text = text.strip().encode("utf-8", "replace").decode()
        if not text and not attachments:
            raise TooltrayError(
                Phrase("The answer is empty"),
                Phrase("it has neither text nor an attachment"),
                Phrase("Write something, or dismiss the report."),
            )
        if len(text) > LONGEST_ANSWER:
            raise TooltrayError(
                Phrase("The answer is too long"),
                Phrase("it has {number} characters", number=f"{len(text):,}"),
                Phrase("Send at most {longest_answer}.", longest_answer=f"{LONGEST_ANSWER:,}"),
            )
        read = await asyncio.to_thread(read_attachments, attachments)
        self._end(await self._find(id), ANSWERED, Answer(ANSWERED, time.time(), text, read))

    async def dismiss(self, id: str) -> None:
        """Ends a report without an answer; see FeedbackApi.dismiss_feedback."""
        self._end(await self._find(id), DISMISSED)

    async def close(self) -> None:
        """Ends all open reports with the hub; may be called twice."""
        self._is_closed = True
        for report in list(self._open.values()):
            self._end(report, WITHDRAWN)
        self._kept.clear()
        await self._notes.close()

    # opening

    def _wait_on(self, report: Report, state: SessionState, asked: Asked) -> Report:
        """Reopens a repeated report, until the later of its deadline and the new call's deadline."""
        now = self._now()
        until = max(now + asked.waits_s, report.until if report.waiters else 0.0)
        if until != report.until:
            report.snapshot = replace(report.snapshot, ends_at=time.time() + until - now)
        report.session, report.state, report.until, report.waits_s = _session_of(state, asked), state.id, until, until - now
        if report.left_alone.done():
            report.left_alone = asyncio.get_running_loop().create_future()
        self._end_after_its_time(report)
        self._bus.publish(FeedbackAsked(report.snapshot))
        return report

    def _show(self, state: SessionState, asked: Asked) -> Report:
        now, id = time.time(), secrets.token_hex(ID_BYTES)
        snapshot = FeedbackSnapshot(
            id=id,
            client=asked.client,
            project_path=asked.project_path,
            project_name=asked.project_name,
            summary=asked.summary,
            asked_at=now,
            ends_at=now + asked.waits_s,
        )
        outcome: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        report = self._open[id] = Report(snapshot, _session_of(state, asked), state.id, asked.waits_s, self._now() + asked.waits_s, outcome)
        self._end_after_its_time(report)
        self._notes.add(report)
        self._bus.publish(FeedbackAsked(snapshot))
        return report

    def _end_after_its_time(self, report: Report) -> None:
        report.stop_clock()
        report.deadline = self._deadlines.add(report.waits_s, partial(self._end, report, EXPIRED))

    def _make_room(self) -> None:
        """Withdraws a report without a waiting client if too many are open.

        Raises:
            TooltrayError: clients wait for all of them.
        """
        if len(self._open) < MOST_OPEN:
            return
        left_alone = next((report for report in self._open.values() if not report.waiters), None)
        if left_alone is None:
            raise TooltrayError(
                Phrase("Too many reports wait for the person"),
                Phrase("{most_open} are open already", most_open=MOST_OPEN),
                Phrase("Ask again later."),
            )
        self._end(left_alone, WITHDRAWN)

    # ending

    async def _find(self, id: str) -> Report:
        """Returns an open report; suspends only if it is not open.

        Raises:
            TooltrayError: the report is not open; the error has the reason.
        """
        if report := self._open.get(id):
            return report
        if id in self._replaced:
            raise Conflict(
                Phrase("This report has ended"), Phrase("it was replaced by a newer report"), Phrase("See it: tooltray feedback list")
            )
        if await self._notes.knows(id):
            raise Conflict(
                Phrase("This report has ended"),
                Phrase("no model waits for the answer any more"),
                Phrase("See the history for its outcome."),
            )
        raise NotFound(Phrase("Report '{id}' not found", id=plain(id, LONGEST_ID)), hint=REPORTS_HINT)

    def _end(self, report: Report, outcome: str, answer: Answer | None = None) -> None:
        report.outcome.set_result(answer or Answer(outcome, time.time()))
        del self._open[report.id]
        report.stop_clock()
        self._notes.add(report)
        self._keep_if_lost(report)
        self._bus.publish(FeedbackEnded(report.id))

    def _keep_if_lost(self, report: Report) -> None:
        """Keeps an answer that no call has returned and no call waits for."""
        if report.outcome.done() and not report.waiters and not report.is_collected:
            self.keep(report)

    def _on_session_forgotten(self, event: SessionForgotten) -> None:
        """Withdraws the open reports of a forgotten session; kept answers stay for the same report of a new session."""
        for report in [each for each in self._open.values() if each.state == event.state.id]:
            self._end(report, WITHDRAWN)


def _session_of(state: SessionState, asked: Asked) -> str:
    """Returns the key of a report's session. If the requests of a client cannot be tied together, an equal report has an equal key."""
    return "\n".join((asked.client, asked.project_path, asked.summary)) if state.is_passing else state.id


MOST_READY = 20  # buttons in one window
LONGEST_READY = 200  # characters of one


def read_shipped(path: Path) -> tuple[str, ...]:
    """Reads the default ready answers."""
    return tuple(json.loads(path.read_bytes()))


class ReadyAnswers:
    """The user's ready answers, or the defaults. Belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, shipped: tuple[str, ...]) -> None:
        self._config, self._shipped = config, shipped

    def all(self) -> list[str]:
        return list(self._config.settings.ready_answers or self._shipped)

    async def set(self, answers: list[str]) -> None:
        """Replaces the ready answers; an empty list restores the defaults.

        Raises:
            TooltrayError: there are too many, one is empty or too long, or the settings cannot be written.
        """
        kept = list(dict.fromkeys(plain(answer, LONGEST_READY + 1) for answer in answers))
        if len(kept) > MOST_READY:
            raise TooltrayError(
                Phrase("These are too many ready answers"),
                Phrase("there are {number}", number=len(kept)),
                Phrase("Keep at most {most_ready}.", most_ready=MOST_READY),
            )
        if not all(0 < len(answer) <= LONGEST_READY for answer in kept):
            raise TooltrayError(
                Phrase("A ready answer cannot be kept"),
                Phrase("each has 1 to {longest_ready} characters", longest_ready=LONGEST_READY),
                Phrase("Shorten it, or remove it."),
            )

        def edit(document: Document) -> None:
            document.pop("readyAnswers", None)
            if kept:
                document["readyAnswers"] = kept

        await self._config.edit(edit)


class FeedbackApi:
    def __init__(self, *, feedbacks: Feedbacks, notes: FeedbackNotes, ready: ReadyAnswers) -> None:
        self._feedbacks, self._notes, self._ready = feedbacks, notes, ready

    async def get_feedback_requests(self) -> list[FeedbackSnapshot]:
        """Returns the reports that wait for an answer, the oldest first."""
        return self._feedbacks.waiting()

    @verb(max_body_bytes=MAX_PICTURES_BYTES)
    async def answer_feedback(self, id: str, text: str, attachments: Sequence[FeedbackAttachment] = ()) -> None:
        """Answers a report.

        Raises:
            TooltrayError: it waits no longer, the answer is empty, or a picture or file cannot be sent; the error has the reason.
        """
        await self._feedbacks.answer(id, text, attachments)

    async def dismiss_feedback(self, id: str) -> None:
        """Closes a report without an answer, and reports that to the model.

        Raises:
            TooltrayError: it waits no longer.
        """
        await self._feedbacks.dismiss(id)

    async def get_feedback_history(self, project_path: str = "", limit: int = 50) -> list[FeedbackEntry]:
        """Returns reports and answers, the newest first; only of the project `project_path` if it is given."""
        return await self._notes.read(project_path, limit)

    async def get_ready_answers(self) -> list[str]:
        """Returns the ready answers; the defaults while none are set."""
        return self._ready.all()

    async def set_ready_answers(self, answers: list[str]) -> None:
        """Replaces the ready answers; an empty list restores the defaults.

        Raises:
            TooltrayError: an answer cannot be kept, or the settings cannot be written.
        """
        await self._ready.set(answers)
