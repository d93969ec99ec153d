"""Carries out the user's actions on the Activity page, and reads what it shows beside the list. Knows no widget."""

import time

import msgspec
from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.activity import ActivityDetails, ActivityFilter, ActivityPoint
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import CoalescedRead, Commands, action
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter

DAY_S = 86400.0
BARS = 96  # a quarter of an hour each
BAR_S = DAY_S / BARS


class Glance(msgspec.Struct, frozen=True):
    """The numbers above the list.

    Attributes:
        bars: the last 24 hours.
        whole: the numbers of the stretch that the list shows; None without calls, since nothing is known then.
    """

    bars: tuple[ActivityPoint, ...]
    whole: ActivityPoint | None


class ActivityCommands(Commands):
    """The commands of the page. Each read emits its result by a signal, None where it failed."""

    read_failed = Signal(object)  # Problem, or None once a glance can be had again
    glance_changed = Signal(object)  # Glance | None
    calls_now_changed = Signal(object)  # list[CallNow] | None
    status_changed = Signal(object)  # JournalStatus | None
    choices_changed = Signal(object)  # ActivityChoices
    entry_read = Signal(object)  # ActivityDetails
    entry_missing = Signal(int, object)  # an id; Problem
    cleared = Signal()  # and can be undone

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None) -> None:
        super().__init__(hub=hub, tasks=tasks, parent=parent)
        self._filter = ActivityFilter()
        self.glance_cost_ms = 0  # what the last one took: over a long journal it is not to be read all the time
        self._glance = CoalescedRead(self._read_glance, tasks=tasks, name="glance of activity", show=self.read_failed.emit)
        self._now = CoalescedRead(self._read_now, tasks=tasks, name="calls under way")
        self._status = CoalescedRead(self._read_status, tasks=tasks, name="status of the journal")

    def look(self, filter: ActivityFilter) -> None:
        """Reads the numbers above the list."""
        self._filter = filter
        self._glance.ask()
        self._status.ask()

    def look_now(self) -> None:
        """Reads which clients are working."""
        self._now.ask()

    @action(clears=False)
    async def look_choices(self) -> None:
        """Reads the values that the list can be filtered by."""
        self.choices_changed.emit(await self._hub.activity.get_activity_choices())

    def read_entry(self, id: int) -> None:
        """Reads an entry in full; emits `entry_read` or `entry_missing`."""
        self.tasks.spawn(self._read_entry(id), name="entry of activity")

    @action()
    async def export(self, path: str, filter: ActivityFilter) -> None:
        """Writes the entries of the list into a file."""
        count = await self._hub.activity.export_activity(path, filter)
        self.done.emit(tr("{count} entries are in {path}", count=f"{count:,}", path=path))

    @action()
    async def clear(self) -> None:
        """Deletes all entries; emits `cleared`."""
        await self._hub.activity.clear_activity()
        self.cleared.emit()

    @action()
    async def undo_clear(self) -> None:
        """Restores the entries that were cleared."""
        await self._hub.activity.undo_clear_activity()
        self.done.emit(tr("They are back"))

    async def _read_glance(self) -> None:
        filter, begun = self._filter, time.monotonic()
        until = (time.time() // BAR_S + 1) * BAR_S  # whole quarters of an hour, so that bars do not walk
        day = replace(filter, since=until - DAY_S, until=until)
        chosen = replace(filter, since=filter.since or day.since, until=filter.until or until)
        try:
            bars = await self._hub.activity.get_activity_series(day, BARS)
            whole = await self._hub.activity.get_activity_series(chosen, 1)
        except TooltrayError:
            self.glance_changed.emit(None)
            raise
        self.glance_cost_ms = int((time.monotonic() - begun) * 1000)
        if filter == self._filter:
            self.glance_changed.emit(Glance(tuple(bars), whole[0] if whole else None))

    async def _read_now(self) -> None:
        try:
            self.calls_now_changed.emit(await self._hub.activity.get_calls_now())
        except TooltrayError:
            self.calls_now_changed.emit(None)  # the page says elsewhere that there is no hub

    async def _read_status(self) -> None:
        try:
            self.status_changed.emit(await self._hub.activity.get_journal_status())
        except TooltrayError:
            self.status_changed.emit(None)

    async def _read_entry(self, id: int) -> None:
        try:
            details: ActivityDetails = await self._hub.activity.get_activity_entry(id)
        except TooltrayError as error:
            problem: Problem = error.problem
            self.entry_missing.emit(id, problem)
        else:
            self.entry_read.emit(details)
