"""The section of the general settings about the journal: what it records of calls, for how long and how much, and emptying it. A change
applies at once; a failed one resets the control."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

import msgspec
from PySide6.QtCore import QLocale, QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.activity import JournalStatus
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import CoalescedRead, Commands, action
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.problem_words import whole
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.setting_rows import group, setting_row
from tooltray.ui.widgets.surface import clear, column

CHOICE_WIDTH = 200
OFF, ALWAYS = "", "always"
DAYS = (7, 30, 90, 365)
MEGABYTES = (50, 200, 1000, 5000)
DEFAULT_DAYS, DEFAULT_MEGABYTES = 30, 200  # as the engine has them where the settings say nothing
MEGABYTE = 1_000_000


class Retention(msgspec.Struct, frozen=True):
    """The settings of the journal.

    Attributes:
        has_line: one line of each call is recorded.
        has_contents: whole arguments and results are recorded.
        until: unix seconds at which recording whole contents ends; 0: when the user switches it off.
    """

    has_line: bool = True
    has_contents: bool = False
    until: float = 0.0
    days: int = DEFAULT_DAYS
    megabytes: int = DEFAULT_MEGABYTES


def retention_of(settings: Mapping[str, object]) -> Retention:
    """Reads it from a document that may contain anything; invalid values are ignored."""
    given = settings.get("activity")
    given = given if isinstance(given, Mapping) else {}

    def number(name: str, otherwise: int) -> int:
        found = given.get(name)
        return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else otherwise

    until = given.get("contentsUntil")
    return Retention(
        given.get("line") is not False,
        given.get("contents") is True,
        float(until) if isinstance(until, int | float) else 0.0,
        number("days", DEFAULT_DAYS),
        number("megabytes", DEFAULT_MEGABYTES),
    )


class ActivityCommands(Commands):
    known = Signal(object, object)  # Retention; JournalStatus
    cleared = Signal()

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None) -> None:
        super().__init__(hub=hub, tasks=tasks, parent=parent)
        self._reading = CoalescedRead(self._look, tasks=tasks, name="settings of the journal", show=self.failed.emit)

    def look(self) -> None:
        self._reading.ask()

    @action()
    async def change(self, changes: Mapping[str, object]) -> None:
        try:
            await self._hub.settings.change_settings({"activity": changes})
        finally:
            self._reading.ask()

    @action()
    async def clear(self) -> None:
        """Empties the journal; emits `cleared`."""
        try:
            await self._hub.activity.clear_activity()
            self.cleared.emit()
        finally:
            self._reading.ask()

    @action()
    async def undo_clear(self) -> None:
        try:
            await self._hub.activity.undo_clear_activity()
        finally:
            self._reading.ask()

    async def _look(self) -> None:
        settings = (await self._hub.settings.get_settings()).settings
        self.known.emit(retention_of(settings), await self._hub.activity.get_journal_status())


class ActivitySection(QWidget):
    """A section that is refreshed with its tab."""

    def __init__(self, context: PageContext) -> None:
        super().__init__()
        self._context, self._theme = context, context.theme
        commands = self.commands = ActivityCommands(hub=context.hub, tasks=context.tasks, parent=self)
        body = column(self, spacing=10)
        self._problem = column()
        body.addLayout(self._problem)
        body.addWidget(self._rows())
        commands.known.connect(self.show_known)
        commands.cleared.connect(self._on_cleared)

    def show_known(self, kept: Retention, status: JournalStatus) -> None:
        self._line.set_on(kept.has_line)
        self._show_contents(kept)
        _show_numbers(self._keep, kept.days, DAYS, _days)
        _show_numbers(self._most, kept.megabytes, MEGABYTES, _megabytes)
        self._status.set_text(status_words(status), status.path)
        self._clear.setEnabled(bool(status.entries))
        clear(self._problem)
        if status.problem or status.lost:
            self._problem.addWidget(Banner(self._theme, "warning", *lost_words(status)))

    def _rows(self) -> QWidget:
        theme = self._theme
        self._line = Switch(theme, tr("One line of each call"), on=True)
        self._line.clicked.connect(self._on_line)
        self._contents = self._choice(tr("Whole arguments and results"), self._on_contents)
        self._keep = self._choice(tr("Keep entries for"), self._on_days)
        self._most = self._choice(tr("Use at most"), self._on_megabytes)
        self._status = ElidedLabel(theme, "", "caption", "secondary")
        self._status.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._clear = Button(theme, tr("Clear"), "danger", small=True)
        self._clear.setAccessibleName(tr("Clear the journal"))
        self._clear.clicked.connect(self._on_clear)
        line = tr("The path, the host or the first words of a command, without secrets.")
        contents = tr("To see later what was sent and answered. Known secrets are masked.")
        return group(
            theme,
            setting_row(theme, tr("One line of each call"), line, self._line),
            setting_row(theme, tr("Whole arguments and results"), contents, self._contents),
            setting_row(theme, tr("Keep entries for"), tr("Older ones go."), self._keep),
            setting_row(theme, tr("Use at most"), tr("Beyond that the oldest entries go."), self._most),
            setting_row(theme, tr("Kept now"), "", self._status, self._clear),
        )

    def _choice(self, name: str, chosen: Callable[[str], None]) -> Choice:
        choice = Choice(self._theme, [], name=name)
        choice.setFixedWidth(CHOICE_WIDTH)
        choice.chosen_changed.connect(chosen)
        return choice

    def _show_contents(self, kept: Retention) -> None:
        now = time.time()
        is_on = kept.has_contents and (not kept.until or kept.until > now)
        options = [(OFF, tr("Not kept"))]
        if is_on and kept.until:
            options.append(("until", tr("Until {time}", time=moment(kept.until, datetime.now()))))
        lengths = (("3600", tr("For an hour")), ("86400", tr("For a day")), (ALWAYS, tr("Until I switch it off")))
        self._contents.set_options([*options, *lengths])
        self._contents.choose(OFF if not is_on else "until" if kept.until else ALWAYS)

    def _on_line(self, is_on: bool) -> None:
        self.commands.change({"line": is_on})

    def _on_contents(self, chosen: str) -> None:
        if chosen == OFF:
            self.commands.change({"contents": False, "contentsUntil": None})
        elif chosen == ALWAYS:
            self.commands.change({"contents": True, "contentsUntil": None})
        elif chosen != "until":
            self.commands.change({"contents": True, "contentsUntil": time.time() + float(chosen)})

    def _on_days(self, chosen: str) -> None:
        self.commands.change({"days": int(chosen)})

    def _on_megabytes(self, chosen: str) -> None:
        self.commands.change({"megabytes": int(chosen)})

    def _on_clear(self) -> None:
        self.commands.clear()

    def _on_cleared(self) -> None:
        toast = self._context.offer_undo(tr("The journal is empty"))
        toast.action_requested.connect(self.commands.undo_clear)


def _show_numbers(choice: Choice, chosen: int, offered: Sequence[int], words: Callable[[int], str]) -> None:
    """Offers the usual numbers, and the one in the settings."""
    choice.set_options([(str(number), words(number)) for number in sorted({*offered, chosen})])
    choice.choose(str(chosen))


def _days(count: int) -> str:
    return tr("1 day") if count == 1 else tr("{count} days", count=QLocale().toString(count))


def _megabytes(count: int) -> str:
    return tr("{count} MB", count=QLocale().toString(count))


def status_words(status: JournalStatus) -> str:
    """Returns how much is in the journal, and since when."""
    if not status.entries:
        return tr("Nothing")
    locale = QLocale()
    megabytes = locale.toString(max(status.bytes / MEGABYTE, 0.1), "f", 1)
    since = moment(status.oldest_at, datetime.now())
    return tr("{entries} entries since {time}, {megabytes} MB", entries=locale.toString(status.entries), time=since, megabytes=megabytes)


def lost_words(status: JournalStatus) -> tuple[str, str]:
    """Returns what the journal could not record, and why."""
    title = tr("{count} entries could not be kept", count=status.lost) if status.lost else tr("The journal was damaged")
    return title, whole(Problem(status.problem)) if status.problem else ""
