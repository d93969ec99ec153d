"""Keeps answers for clients that call again: answers that no call waited for, and for a while also returned ones, since a client may give
up a call without notice.

Above it: Feedbacks. Below it: the reports, and DeadlineWheel.
"""

from functools import partial

from tooltray.feedback.feedback_report import ANSWERED, Asked, Report
from tooltray.protocol.deadlines import DeadlineWheel

ANSWER_KEPT_S = 1800.0  # an answer that no call waited for; models need minutes to call again
REPEATED_FOR_S = 600.0  # a returned answer; a client that lost it by a time-out calls again soon
LEAST_OPEN_S = 20.0  # of a call that a client may have given up: time-outs are 30 s or more; a model that repeats itself is quicker
MOST_KEPT = 16  # answers; each may have 27 MiB


class KeptAnswers:
    """Belongs to the engine's loop."""

    def __init__(self, deadlines: DeadlineWheel) -> None:
        self._deadlines = deadlines
        self._reports: dict[str, Report] = {}  # by id, the oldest first

    def keep(self, report: Report) -> None:
        """Keeps an answer that no call has returned, for the next call."""
        if report.outcome.result().outcome == ANSWERED and report.id not in self._reports:
            self._add(report, ANSWER_KEPT_S)

    def keep_returned(self, report: Report, open_s: float) -> None:
        """Keeps a returned answer for a while, since its client may have given up the call before.

        Args:
            open_s: how many seconds the call was open.
        """
        if report.outcome.result().outcome == ANSWERED and open_s >= LEAST_OPEN_S and not report.is_repeated:
            self._add(report, REPEATED_FOR_S)

    def take(self, session: str, asked: Asked) -> Report | None:
        """Removes and returns the answered report that a request repeats; None if there is none."""
        found = [report for report in self._reports.values() if _is_for(report, session, asked)]
        if not found:
            return None
        report = min(found, key=lambda each: each.is_collected)  # first an answer that no client has
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
            self.forget(min(self._reports.values(), key=lambda each: not each.is_collected))  # rather one that was returned


def _is_for(report: Report, session: str, asked: Asked) -> bool:
    """Returns whether an answer is for a request: a repeated report in any session, or, if not returned yet, any report of its session."""
    if report.is_collected or report.session != session:
        return report.is_like(asked)
    path = report.snapshot.project_path
    return not asked.names_path or not path or asked.project_path in ("", path)
