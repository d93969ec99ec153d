"""The tab of approvals: what waits for the user, what was allowed for longer than one call, and the history of decisions."""

from functools import partial

from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QWidget

from tooltray.foundation.events import ApprovalAsked, ApprovalEnded, ConfigChanged, GrantsChanged, ServerFilesChanged
from tooltray.ui.activity.history_section import HistorySection
from tooltray.ui.activity.temporary_section import TemporarySection
from tooltray.ui.activity.waiting_section import WaitingSection
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.server_words import runs_everything
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.surface import column
from tooltray.ui.widgets.table import Table


class ApprovalsTab(Page):
    """The tab of approvals, a section each.

    Attributes:
        waiting, temporary, history: the sections.
    """

    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        self._is_known = False
        self._scroll = PageScroll(tr("Approvals"))
        content = QWidget()
        body = column(content, margins=(24, 20, 24, 32), spacing=28)
        self.waiting, self.temporary, self.history = WaitingSection(context, self._draw), TemporarySection(context), HistorySection(context)
        for section in (self.waiting, self.temporary, self.history):
            body.addWidget(section)
        body.addStretch(1)
        self._scroll.setWidget(content)
        column(self).addWidget(self._scroll)
        for table in (self.temporary.table, self.history.table):
            table.selectionModel().currentChanged.connect(partial(self._follow, table))
        self.enable(False)
        self._follow_hub()

    def _follow_hub(self) -> None:
        """Reads everything when the tab is shown, and again on news; what waits also while it is hidden, since the navigation counts it.
        What the hub connects to are methods of the tab, which end with it.
        """
        hub, waiting, temporary, history = self.hub, self.waiting, self.temporary, self.history
        self._read_waiting, self._read_changes = waiting.reading(waiting.read), waiting.reading(waiting.read_changes)
        self._read_grants, self._read_history = temporary.reading(temporary.read), history.reading(history.read)
        for read in (self._read_waiting, self._read_changes, self._read_grants, self._read_history):
            self.look_requested.connect(read)
        hub.on_any((ApprovalAsked, ApprovalEnded, ServerFilesChanged), self._look_waiting, self)
        hub.on_any((ApprovalEnded, ConfigChanged, GrantsChanged, ServerFilesChanged), self.look_again, self)
        hub.on_any((GrantsChanged,), self._look_changes, self)
        hub.snapshot_changed.connect(self._on_hub_changed)
        self._on_hub_changed()

    def enable(self, is_usable: bool) -> None:
        for section in (self.waiting, self.temporary, self.history):
            section.setEnabled(is_usable)

    def _draw(self) -> None:
        """Counts what needs the user; a project's servers are counted where they are allowed."""
        self.need_person.emit(len(self.waiting.calls) + len(self.waiting.changes))

    def _look_waiting(self) -> None:
        self._read_waiting()

    def _look_changes(self) -> None:
        self._read_changes()

    def _on_hub_changed(self) -> None:
        """Reads once the hub is connected, and clears what waits when it disconnects."""
        snapshot = self.hub.snapshot
        is_known = snapshot is not None
        self.temporary.show_open_servers(sum(map(runs_everything, snapshot.servers)) if snapshot is not None else 0)
        if is_known and not self._is_known:
            self._read_waiting()
            self._read_changes()
        elif self._is_known and not is_known:
            self.waiting.clear()
        self._is_known = is_known

    def _follow(self, table: Table, current: QModelIndex, _before: QModelIndex) -> None:
        """Scrolls to the current row, since the tables are as high as their rows."""
        content = self._scroll.widget()
        if content is not None and current.isValid() and table.hasFocus():
            row_middle = table.viewport().mapTo(content, table.visualRect(current).center())
            self._scroll.ensureVisible(0, row_middle.y(), 0, table.verticalHeader().defaultSectionSize())
