"""The journal's problem, above the list: it cannot be read, was damaged, or has lost entries. The notice has no height without a
problem."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.activity import JournalStatus
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.problem_words import sentences, title, whole
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.surface import clear, column


class JournalNotice(QWidget):
    """A banner with the latest failure, else with the journal's own problem."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._faults: dict[str, Problem] = {}
        self._status: JournalStatus | None = None
        self._shown: tuple[str, str, str] | None = None
        self.setObjectName("Notices")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._layout = column(self, margins=(24, 12, 24, 0))
        self.hide()

    def show_problem(self, of: str, problem: Problem | None) -> None:
        """Shows a failure; None ends it.

        Args:
            of: what failed; a success of something else leaves the failure in place.
        """
        self._faults.pop(of, None)
        if problem is not None:
            self._faults[of] = problem
        self._draw()

    def show_status(self, status: JournalStatus | None) -> None:
        """Shows the journal's status; None if the status could not be read."""
        if status is not None:
            self._status = status
        self._draw()

    def _draw(self) -> None:
        fault = next(iter(self._faults.values()), None)
        shown = (
            ("error", title(fault), sentences(fault)) if fault is not None else _words(self._status) if self._status is not None else None
        )
        if shown == self._shown:
            return
        self._shown = shown
        clear(self._layout)
        if shown is not None:
            self._layout.addWidget(Banner(self._theme, *shown))
        self.setVisible(shown is not None)


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
