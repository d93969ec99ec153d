"""The journal's problem: it cannot be read, was damaged, or has lost entries."""

from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.activity import JournalStatus
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.problem_words import whole
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import FaultArea
from tooltray.ui.widgets.surface import column


class JournalNotice(QWidget):
    """A notice with the latest failure, else with the journal's own problem."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._area = FaultArea(theme)
        column(self).addWidget(self._area)
        self._faults: dict[str, Problem] = {}
        self._status: JournalStatus | None = None

    def show_problem(self, of: str, problem: Problem | None) -> None:
        """Shows a failure; None ends it.

        Args:
            of: what failed; a success of something else leaves the failure in place.
        """
        self._faults.pop(of, None)
        if problem is not None:
            self._faults[of] = problem
        self._choose()

    def show_status(self, status: JournalStatus | None) -> None:
        """Shows the journal's status; None if the status could not be read."""
        if status is not None:
            self._status = status
        self._choose()

    def _choose(self) -> None:
        fault = next(iter(self._faults.values()), None)
        if fault is not None:
            self._area.show_problem(fault)
        else:
            self._area.show_notice(_words(self._status) if self._status is not None else None)


def _words(status: JournalStatus) -> tuple[str, str, str] | None:
    """Returns tone, title and text of the journal's problem, or None."""
    problem = whole(Problem(say(status.problem))) if status.problem else ""
    if status.lost:
        name = many(status.lost, "1 entry is missing", "{count} entries are missing")
        return "warning", name, problem or tr("They came faster than the disk could save them. The calls themselves were not affected.")
    if problem:
        return "warning", tr("The journal had a problem"), problem
    if not status.path:
        return "info", tr("Nothing is saved on disk"), tr("This list is lost when Tooltray ends.")
    return None
