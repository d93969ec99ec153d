"""The list of journal entries, with tabs for calls, failed calls, refused calls and everything; used on the Activity page and in a server's
details. It reads nothing while it is hidden."""

import time

from msgspec.structs import replace
from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ActivityWritten
from tooltray.foundation.snapshots.activity import ActivityFilter
from tooltray.ui.activity.activity_table import ActivityTable
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import Show, View
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import column, row
from tooltray.ui.zoom import px

CALLS, FAILED, REFUSED, ALL = range(4)  # the tabs; the first three list calls, ALL lists everything that happened
OUTCOMES: dict[int, tuple[str, ...]] = {CALLS: (), FAILED: ("error",), REFUSED: ("refused",), ALL: ()}
OF_CALLS = ("call",)
COUNT_EVERY_MS = 2000  # the numbers on the tabs and those above them, so that they say the same
SETTLE_MS = 300  # after the last key of a search; the rows do not wait for it
SHARE = 10  # of the time goes to counting at most: what is counted over a long journal is counted less often
EDGE = 24  # px beside the filters
NEW_TOP = 8  # px of the button that leads to the newest rows, below the head of the table


class ActivityList(QWidget, View):
    """A list of journal entries. `entry_chosen` carries the ActivityRow that the user opens.

    Args:
        filter: which entries it shows, besides what its tabs leave out.
        show: shows why the journal cannot be read; None: it can again.
    """

    entry_chosen = Signal(object)
    filter_changed = Signal(object)  # ActivityFilter: a tab of calls was chosen, which leaves no choice of kinds

    def __init__(self, context: PageContext, filter: ActivityFilter, show: Show) -> None:
        super().__init__()
        theme = context.theme
        self.context, self._filter, self._show = context, filter, show
        self._is_collapsed, self._is_held, self._is_asked_for = True, False, False
        self._is_behind = False  # new rows wait until the pointer is elsewhere
        self._count_cost_ms = 0
        self._waiting = 0  # rows above what is in sight
        layout = column(self)
        names = [tr("Calls"), tr("Failed"), tr("Not allowed"), tr("All")]
        self._tabs = FilterTabs(theme, names, name=tr("What is listed"), uncounted=(ALL,), hides_empty=True)
        self._tabs.choose(CALLS)
        self._tabs.chosen.connect(self._on_tab)
        self.tools = row(margins=(EDGE, 10, EDGE, 8), spacing=8)
        self.tools.addWidget(self._tabs)
        layout.addLayout(self.tools)
        self._below = column(margins=(EDGE, 0, EDGE, 0))
        layout.addLayout(self._below)
        self.table = ActivityTable(theme, context.hub.activity.get_activity, context.tasks)
        self.table.entry_chosen.connect(self.entry_chosen)
        self.table.left_top.connect(self._wait)
        self.table.at_top.connect(self._on_top)
        self._nothing = Label(theme, "", "body", "muted", wrap=True)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.table)
        self._stack.addWidget(self._nothing)
        layout.addWidget(self._stack, 1)
        self._new = Button(theme, "", "primary", small=True)
        self._new.setParent(self._stack)
        self._new.clicked.connect(self._on_show_new)
        self._new.hide()
        self._count_timer = QTimer(self, singleShot=True)
        self._ask_counts = self.reading(self._read_counts)
        self._count_timer.timeout.connect(self._ask_counts)
        model, hub = self.table.activity, context.hub
        model.failed.connect(self.show_problem)
        model.reset_done.connect(self._on_reset)
        model.rowsInserted.connect(self._draw)
        model.fell_behind.connect(self._on_fell_behind)
        hub.on(ActivityWritten, self._on_written, self)
        hub.snapshot_changed.connect(self._on_hub_changed)

    @property
    def filter(self) -> ActivityFilter:
        """The filter of the entries, without the tab."""
        return self._filter

    @property
    def shown_filter(self) -> ActivityFilter:
        """The filter of the entries, including the tab."""
        tab = self._tabs.current
        return self._filter if tab == ALL else replace(self._filter, kinds=OF_CALLS, outcomes=OUTCOMES[tab])

    @property
    def tab(self) -> int:
        return self._tabs.current

    @property
    def is_counted(self) -> bool:
        """Whether the numbers on the tabs are known."""
        return self._count_cost_ms > 0

    @property
    def is_collapsed(self) -> bool:
        """Whether repeats are one row."""
        return self._is_collapsed

    @property
    def is_held(self) -> bool:
        """Whether new rows are held back until the user wants to see them."""
        return self._is_held

    def show_below_tabs(self, widget: QWidget) -> None:
        """Adds a widget between the tabs and the table; the widget hides itself while it is empty."""
        self._below.addWidget(widget)

    def set_filter(self, filter: ActivityFilter) -> None:
        """Shows other entries; the current ones stay until the new ones are read."""
        if filter != self._filter:
            self._filter = filter
            self._ask()

    def show_tab(self, tab: int) -> None:
        """Shows calls, those that failed, those that were refused, or everything."""
        if tab != self._tabs.current:
            self._tabs.choose(tab)
            self._ask()

    def set_collapsed(self, is_collapsed: bool) -> None:
        """Shows repeats as one row, or as separate rows."""
        if is_collapsed != self._is_collapsed:
            self._is_collapsed = is_collapsed
            self._ask()

    def hold(self, is_held: bool) -> None:
        """Holds new rows back until it is released."""
        self._is_held = is_held
        if not is_held:
            self._on_show_new()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._ask()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_new()

    def look_again(self) -> None:
        """Reads new entries now if visible, and counts them soon."""
        if not self.isVisible():
            return
        self._is_behind = self.table.would_move
        if self._is_held or self._is_behind:
            self._wait(0)
        else:
            self.table.activity.look_for_new()
        if not self._count_timer.isActive():
            self._count_timer.start(max(COUNT_EVERY_MS, self._count_cost_ms * SHARE))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        if self._is_behind:
            self.look_again()

    def _ask(self) -> None:
        self._waiting = 0
        self._new.hide()
        if self.isVisible() and self.hub.snapshot is not None:
            self._is_asked_for = True
            self.table.activity.show_filter(self.shown_filter, is_collapsed=self._is_collapsed)
            self._count_timer.start(SETTLE_MS if self._count_cost_ms else 0)

    def _on_written(self, news: ActivityWritten) -> None:
        if news.last_id:
            self.look_again()
        elif self.isVisible():
            self._ask()

    def _on_hub_changed(self) -> None:
        """Reads the journal once the hub is connected; rows that were read stay visible when it disconnects."""
        if self.hub.snapshot is None:
            self._is_asked_for = False
        elif not self._is_asked_for:
            self._ask()

    async def _read_counts(self) -> None:
        """Counts the calls of each tab, as the head of the page does."""
        filter, begun = self._filter, time.monotonic()
        try:
            found = await self.hub.activity.count_activity(replace(filter, kinds=OF_CALLS))
        except TooltrayError:
            self._tabs.set_counts((None, None, None, None))
            return  # the list says why
        self._count_cost_ms = 1 + int((time.monotonic() - begun) * 1000)
        if filter == self._filter:
            self._tabs.set_counts((found.entries, found.failed, found.refused, None))

    def _on_tab(self, tab: int) -> None:
        if self._filter.kinds and tab != ALL:
            self.filter_changed.emit(replace(self._filter, kinds=()))
        self._ask()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why the journal cannot be read; None: it can again."""
        self._show(problem)
        self._draw(problem)

    def _on_reset(self) -> None:
        self._on_top()
        self._draw()

    def _draw(self, problem: object = None, *_: object) -> None:
        model = self.table.activity
        if model.rowCount():
            self._stack.setCurrentWidget(self.table)
            return
        self._nothing.setText(self._words(isinstance(problem, Problem)))
        self._stack.setCurrentWidget(self._nothing)

    def _words(self, has_failed: bool) -> str:
        """Returns the text in place of rows: why there are none, or that the journal could not be read."""
        if has_failed:
            return tr("Not known: the journal could not be read.")
        if not self.table.activity.is_known:
            return ""
        is_narrowed = OUTCOMES[self.tab] or self._filter != ActivityFilter()
        if self._filter.text:
            return tr("Nothing matches. Arguments and results are not searched.")
        return tr("Nothing matches.") if is_narrowed else tr("No activity yet. Calls from AI clients appear here.")

    def _on_fell_behind(self) -> None:
        if self.table.is_at_top and not self._is_held and not self.table.is_busy:
            self.table.activity.begin_anew()
        else:
            self._wait(0)

    def _wait(self, count: int) -> None:
        """Shows how many new rows wait above."""
        self._waiting += count
        text = many(self._waiting, "1 new", "{count} new")
        self._new.set_face(text if self._waiting else tr("Show new"), "chevron-up")
        self._new.show()
        self._place_new()

    def _on_top(self) -> None:
        if not self._is_held and not self._is_behind:
            self._waiting = 0
            self._new.hide()

    def _on_show_new(self, *_: object) -> None:
        self._waiting, self._is_behind = 0, False
        self._new.hide()
        self.table.show_top()
        self.table.activity.begin_anew()
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _place_new(self) -> None:
        head = self.table.horizontalHeader().height()
        self._new.adjustSize()
        self._new.move((self._stack.width() - self._new.width()) // 2, head + px(NEW_TOP))
        self._new.raise_()
