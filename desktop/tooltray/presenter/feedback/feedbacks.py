"""Reports of models that wait for a person's answer, and the answers.

Above it: McpPresenter and the tool `collect_feedback`. Below it: the history on the disk, and the event bus, by which the desktop hears of
a report and of its end. A report outlives the call that brought it: a client that gave up finds the answer by asking again.
"""

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from tooltray.config.feedback_history import FeedbackHistory
from tooltray.errors import TooltrayError
from tooltray.events import EventBus, FeedbackAsked, FeedbackAttachment, FeedbackEnded, FeedbackEntry, FeedbackSnapshot
from tooltray.presenter.feedback.feedback_attachments import read_attachments
from tooltray.presenter.feedback.feedback_report import ANSWERED, DISMISSED, EXPIRED, REPLACED, WITHDRAWN, Answer, Report
from tooltray.presenter.feedback.ready_answers import ReadyAnswers
from tooltray.presenter.session_state import KEPT_FOR_S, SessionState, SessionStates
from tooltray.tasks import Spawn, finish_in_thread
from tooltray.wire.deadlines import DeadlineWheel

MOST_OPEN = 5  # windows; more than a person can look at
ANSWER_KEPT_S = 1800.0  # for the next call, where nobody waited for it any more; models need minutes to ask again
ID_BYTES = 4  # people type it; a hub has few at a time
MOST_KEPT = 16  # such answers; each may hold 27 MiB
TOLD_EVERY_S = 15.0  # the shortest clock of AI clients that news wind up again runs 30 s
LONGEST_ANSWER, LONGEST_KEPT = 100_000, 20_000  # characters that a model gets, and that the history keeps
LONGEST_HISTORY = 1000  # entries of one answer to a question for the history


@dataclass(frozen=True)
class Asked:
    """A model's report, as it may be shown.

    Attributes:
        project_path: empty where none is known.
        waits_s: how long the person has.
    """

    client: str
    summary: str
    project_name: str
    project_path: str
    waits_s: float


class Feedbacks:
    """Belongs to the engine's loop. One report of each session is open at a time."""

    def __init__(
        self,
        *,
        bus: EventBus,
        deadlines: DeadlineWheel,
        spawn: Spawn,
        states: SessionStates,
        history: FeedbackHistory,
        ready: ReadyAnswers,
        mask: Callable[[str], str],
        has_window: bool,
    ) -> None:
        """
        Args:
            mask: takes known secrets out of what the history keeps.
            has_window: whether this hub is a desktop's, which shows reports as soon as it listens to events.
        """
        self._bus, self._deadlines, self._spawn = bus, deadlines, spawn
        self._history, self._ready, self._mask, self._has_window = history, ready, mask, has_window
        self._open: dict[str, Report] = {}  # by id, the oldest first
        self._kept: dict[str, Report] = {}  # answered, and nobody waited; by the entry's id, the oldest first
        self._unwritten: dict[str, FeedbackEntry] = {}  # on their way to the disk
        states.listen(on_ended=self._on_session_ended)

    @property
    def is_shown(self) -> bool:
        """Whether a window shows reports."""
        return self._has_window and self._bus.is_heard(FeedbackAsked)

    # what the tool does

    def open(self, state: SessionState, asked: Asked) -> Report:
        """The report that a call waits for: one that was answered meanwhile, the same one asked again, or a new one.

        Raises:
            TooltrayError: too many wait already.
        """
        if kept := self._answered_meanwhile(state, asked):
            return kept
        known = next((report for report in self._open.values() if report.session == state.id), None)
        if known and (known.snapshot.summary, known.snapshot.project_path) == (asked.summary, asked.project_path):
            return self._wait_on(known, asked)
        if known:
            self._end(known, REPLACED, is_over=False)
        else:
            self._make_room()
        return self._show(state, asked, known)

    @contextlib.contextmanager
    def collecting(self, report: Report) -> Iterator[None]:
        """While a call waits for a report and returns the answer; one that is given up meanwhile leaves the answer to the next."""
        report.waiters += 1
        try:
            yield
            report.is_collected = True
        finally:
            report.waiters -= 1
            self._keep_if_lost(report)

    async def answer_to(self, report: Report, *, while_waiting: Callable[[], None]) -> Answer:
        """Waits for the end of a report.

        Args:
            while_waiting: called at once, and then every TOLD_EVERY_S.
        """
        while not report.outcome.done():
            while_waiting()
            await asyncio.wait({report.outcome}, timeout=TOLD_EVERY_S)
        return report.outcome.result()

    # what the person does

    def waiting(self) -> list[FeedbackSnapshot]:
        """See FeedbackVerbs.get_feedback_requests."""
        return [report.snapshot for report in self._open.values()]

    async def answer(self, id: str, text: str, attachments: Sequence[FeedbackAttachment]) -> None:
        """See FeedbackVerbs.answer_feedback."""
        self._find(id)
        text = text.strip().encode("utf-8", "replace").decode()
        if not text and not attachments:
            raise TooltrayError("The answer is empty", "it has neither text nor an attachment", "Write something, or dismiss the report.")
        if len(text) > LONGEST_ANSWER:
            raise TooltrayError("The answer is too long", f"it has {len(text):,} characters", f"Send at most {LONGEST_ANSWER:,}.")
        read = await asyncio.to_thread(read_attachments, attachments)
        self._end(self._find(id), ANSWERED, Answer(ANSWERED, time.time(), text, read))

    async def dismiss(self, id: str) -> None:
        """See FeedbackVerbs.dismiss_feedback."""
        self._end(self._find(id), DISMISSED)

    async def history(self, project_path: str, limit: int) -> list[FeedbackEntry]:
        """See FeedbackVerbs.get_feedback_history."""
        on_disk = await asyncio.to_thread(self._history.read, project_path)
        known = {entry.id: entry for entry in on_disk} | self._unwritten | {each.entry_id: each.entry() for each in self._open.values()}
        entries = [entry for entry in known.values() if project_path in ("", entry.project_path)]
        return sorted(entries, key=lambda entry: entry.asked_at, reverse=True)[: max(0, min(limit, LONGEST_HISTORY))]

    def ready_answers(self) -> list[str]:
        """See FeedbackVerbs.get_ready_answers."""
        return self._ready.all()

    async def set_ready_answers(self, answers: list[str]) -> None:
        """See FeedbackVerbs.set_ready_answers."""
        await self._ready.set(answers)

    async def close(self) -> None:
        """The hub ends, and with it every report that is open."""
        for report in list(self._open.values()):
            self._end(report, WITHDRAWN)
        for report in list(self._kept.values()):
            self._forget(report)
        for entry in list(self._unwritten.values()):  # the tasks may be cancelled before they begin
            await self._write(entry)

    # beginning

    def _answered_meanwhile(self, state: SessionState, asked: Asked) -> Report | None:
        for report in self._kept.values():
            if report.session == state.id and asked.project_path in ("", report.snapshot.project_path):
                self._forget(report)
                return report
        return None

    def _wait_on(self, report: Report, asked: Asked) -> Report:
        """The same report again: the person has as long as the new call waits."""
        report.waits_s = asked.waits_s
        report.snapshot = replace(report.snapshot, ends_at=time.time() + asked.waits_s)
        self._end_after_its_time(report)
        self._bus.publish(FeedbackAsked(report.snapshot))
        return report

    def _show(self, state: SessionState, asked: Asked, before: Report | None) -> Report:
        """`before`: whose window it takes over."""
        now, entry_id = time.time(), secrets.token_hex(ID_BYTES)
        id = before.id if before else entry_id
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
        report = self._open[id] = Report(snapshot, entry_id, state.id, asked.waits_s, outcome)
        self._end_after_its_time(report)
        self._bus.publish(FeedbackAsked(snapshot))
        return report

    def _end_after_its_time(self, report: Report) -> None:
        _stop_clock(report)
        report.deadline = self._deadlines.add(report.waits_s, partial(self._end, report, EXPIRED))

    def _make_room(self) -> None:
        """Reports that no client waits for give way.

        Raises:
            TooltrayError: all are waited for.
        """
        if len(self._open) < MOST_OPEN:
            return
        left_alone = next((report for report in self._open.values() if not report.waiters), None)
        if left_alone is None:
            raise TooltrayError("Too many reports wait for the person", f"{MOST_OPEN} are open already", "Ask again later.")
        self._end(left_alone, WITHDRAWN)

    # ending

    def _find(self, id: str) -> Report:
        if id not in self._open:
            raise TooltrayError("This report has ended", "no model waits for the answer any more", "Its end stands in the history.")
        return self._open[id]

    def _end(self, report: Report, outcome: str, answer: Answer | None = None, *, is_over: bool = True) -> None:
        """
        Args:
            is_over: False: a newer report is shown under the same id.
        """
        report.outcome.set_result(answer or Answer(outcome, time.time()))
        del self._open[report.id]
        _stop_clock(report)
        text = report.outcome.result().text[:LONGEST_KEPT]
        entry = replace(report.entry(self._mask(text)), summary=self._mask(report.snapshot.summary))
        self._unwritten[entry.id] = entry
        self._spawn(self._write(entry), name="history of reports")
        self._keep_if_lost(report)
        if is_over:
            self._bus.publish(FeedbackEnded(report.id))

    def _keep_if_lost(self, report: Report) -> None:
        """An answer that no call has returned, or will return now, is for the next one."""
        is_answered = report.outcome.done() and report.outcome.result().outcome == ANSWERED
        if not is_answered or report.waiters or report.is_collected:
            return
        self._kept[report.entry_id] = report
        report.deadline = self._deadlines.add(ANSWER_KEPT_S, partial(self._forget, report))
        if len(self._kept) > MOST_KEPT:
            self._forget(next(iter(self._kept.values())))

    def _forget(self, report: Report) -> None:
        self._kept.pop(report.entry_id, None)
        _stop_clock(report)

    async def _write(self, entry: FeedbackEntry) -> None:
        await finish_in_thread(self._history.add, entry)
        self._unwritten.pop(entry.id, None)

    def _on_session_ended(self, state: SessionState) -> None:
        """A client that does not come back will not collect an answer."""
        if any(report.session == state.id for report in self._open.values()):
            self._deadlines.add(KEPT_FOR_S, partial(self._withdraw_if_gone, state))

    def _withdraw_if_gone(self, state: SessionState) -> None:
        if not state.connections:
            for report in [each for each in self._open.values() if each.session == state.id]:
                self._end(report, WITHDRAWN)


def _stop_clock(report: Report) -> None:
    if report.deadline:
        report.deadline.cancel()
