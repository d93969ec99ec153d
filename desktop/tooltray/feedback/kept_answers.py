"""Answers that are kept for a client that asks again: those that nobody waited for, and for a while those that a call has returned, since
its client may have given up without a word.

Above it: Feedbacks. Below it: the reports, and the wheel of deadlines.
"""

from functools import partial

from tooltray.feedback.feedback_report import ANSWERED, Asked, Report
from tooltray.protocol.deadlines import DeadlineWheel

ANSWER_KEPT_S = 1800.0  # for the next call, where nobody waited for it any more; models need minutes to ask again
REPEATED_FOR_S = 600.0  # an answer that was returned; who lost it by a time-out asks again soon
LEAST_OPEN_S = 20.0  # of a call that may have been given up; clocks of AI clients run 30 s or more, a model that repeats itself is quicker
MOST_KEPT = 16  # such answers; each may hold 27 MiB


class KeptAnswers:
    """Belongs to the engine's loop."""

    def __init__(self, deadlines: DeadlineWheel) -> None:
        self._deadlines = deadlines
        self._reports: dict[str, Report] = {}  # by id, the oldest first

    def keep(self, report: Report) -> None:
        """Nobody has the answer yet: whichever call comes first gets it."""
        if report.outcome.result().outcome == ANSWERED and report.id not in self._reports:
            self._add(report, ANSWER_KEPT_S)

    def keep_returned(self, report: Report, open_s: float) -> None:
        """A call has returned the answer; whether its client still listened is not known.

        Args:
            open_s: how long the call was open.
        """
        if report.outcome.result().outcome == ANSWERED and open_s >= LEAST_OPEN_S and not report.is_repeated:
            self._add(report, REPEATED_FOR_S)

    def take(self, session: str, asked: Asked) -> Report | None:
        """The answered report that this one asks for again, which is forgotten by it."""
        found = [report for report in self._reports.values() if _is_for(report, session, asked)]
        if not found:
            return None
        report = min(found, key=lambda each: each.is_collected)  # what nobody has seen goes first
        self.forget(report)
        report.is_repeated, report.is_collected = report.is_repeated or report.is_collected, False
        return report

    def forget(self, report: Report) -> None:
        self._reports.pop(report.id, None)
        report.stop_clock()

    def clear(self) -> None:
        for report in list(self._reports.values()):
            self.forget(report)

    def _add(self, report: Report, kept_s: float) -> None:
        self._reports[report.id] = report
        report.deadline = self._deadlines.add(kept_s, partial(self.forget, report))
        if len(self._reports) > MOST_KEPT:
            self.forget(min(self._reports.values(), key=lambda each: not each.is_collected))  # rather one that has arrived


def _is_for(report: Report, session: str, asked: Asked) -> bool:
    """The same report again is of the same client, also in another session; of its session it may be any, if nobody has the answer."""
    if report.is_collected or report.session != session:
        return report.is_like(asked)
    path = report.snapshot.project_path
    return not asked.names_path or not path or asked.project_path in ("", path)
