"""The list of journal entries, with tabs for calls, failed calls, calls not allowed and everything, which reads nothing while it is hidden;
its filters as chips that can be removed, and the menu that adds some; and the notice of the journal's problem."""

import time
from collections.abc import Sequence
from datetime import datetime
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QScrollArea, QSizePolicy, QStackedWidget, QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ActivityWritten
from tooltray.foundation.snapshots.activity import KINDS, ActivityChoices, ActivityFilter, JournalStatus
from tooltray.ui.activity.activity_table import ActivityTable
from tooltray.ui.activity.activity_words import FilterChip, chips, client_words, kind_name
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.kit.background import Show
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.problem_words import whole
from tooltray.ui.server_text import one_line
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import FaultArea
from tooltray.ui.widgets.button import Button, add_tick, new_menu
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import clear, column, fill, row
from tooltray.ui.zoom import px

CALLS, FAILED, REFUSED, ALL = range(4)  # the tabs; the first three list calls, ALL lists everything that happened
OUTCOMES: dict[int, tuple[str, ...]] = {CALLS: (), FAILED: ("error",), REFUSED: ("refused",), ALL: ()}
OF_CALLS = ("call",)
COUNT_EVERY_MS = 2000  # the numbers on the tabs and those above them, so that they say the same
SETTLE_MS = 300  # after the last key of a search; the rows do not wait for it
SHARE = 10  # of the time goes to counting at most: what is counted over a long journal is counted less often
EDGE = 24  # px beside the filters
LONGEST, MOST = 60, 40  # characters of a choice in the menu of filters, and choices of a kind; a search finds the others
FILTERS_HEIGHT = 36  # px
NEW_TOP = 8  # px of the button that leads to the newest rows, below the head of the table


class ActivityList(QWidget, View):
    """A list of journal entries. `entry_chosen` carries the ActivityRow that the user opens.

    Args:
        filter: which entries it shows, besides what its tabs leave out.
        show: shows why the journal cannot be read; None: it can again.

    Attributes:
        tools: the line of the tabs.
        below_tabs: the layout between the tabs and the table.
        is_collapsed: repeats are one row.
        is_held: new rows are held back until the user wants to see them.
    """

    entry_chosen = Signal(object)
    filter_changed = Signal(object)  # ActivityFilter: a tab of calls was chosen, which leaves no choice of kinds

    def __init__(self, context: PageContext, filter: ActivityFilter, show: Show) -> None:
        super().__init__()
        theme = context.theme
        self.context, self._filter, self._show = context, filter, show
        self.is_collapsed, self.is_held, self._is_asked_for = True, False, False
        self._is_behind = False  # new rows wait until the pointer is elsewhere
        self._count_cost_ms = 0
        self._waiting = 0  # rows above what is in sight
        names = [tr("Calls"), tr("Failed"), tr("Not allowed"), tr("All")]
        self._tabs = FilterTabs(theme, names, name=tr("What is listed"), uncounted=(ALL,), hides_empty=True)
        self._tabs.choose(CALLS)
        self._tabs.chosen.connect(self._on_tab)
        self.tools = fill(row(margins=(EDGE, 10, EDGE, 8), spacing=8), self._tabs)
        self.below_tabs = column(margins=(EDGE, 0, EDGE, 0))
        self.table = ActivityTable(theme, context.hub.activity.get_activity, context.tasks)
        self.table.entry_chosen.connect(self.entry_chosen)
        self.table.left_top.connect(self._wait)
        self.table.at_top.connect(self._on_top)
        self._nothing = Label(theme, "", "body", "muted", wrap=True)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.table)
        self._stack.addWidget(self._nothing)
        fill(column(self), self.tools, self.below_tabs, (self._stack, 1))
        self._new = Button(theme, "", "primary", small=True, on_click=self._on_show_new)
        self._new.setParent(self._stack)
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
        tab = self.tab
        return self._filter if tab == ALL else replace(self._filter, kinds=OF_CALLS, outcomes=OUTCOMES[tab])

    @property
    def tab(self) -> int:
        return self._tabs.current

    @property
    def is_counted(self) -> bool:
        """Whether the numbers on the tabs are known."""
        return self._count_cost_ms > 0

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
        if is_collapsed != self.is_collapsed:
            self.is_collapsed = is_collapsed
            self._ask()

    def hold(self, is_held: bool) -> None:
        """Holds new rows back until it is released."""
        self.is_held = is_held
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
        if self.is_held or self._is_behind:
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
            self.table.activity.show_filter(self.shown_filter, is_collapsed=self.is_collapsed)
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
        if self.table.is_at_top and not self.is_held and not self.table.is_busy:
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
        if not self.is_held and not self._is_behind:
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
            self._area.show_notice(_notice_words(self._status) if self._status is not None else None)


def _notice_words(status: JournalStatus) -> tuple[str, str, str] | None:
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


class FilterBar(QScrollArea):
    """A row of filters. `filter_changed` carries the new filter, whose text and outcome the bar leaves unchanged. `menu_opened` requests
    the choices.

    Attributes:
        choices: of the menu.
    """

    filter_changed = Signal(object)
    menu_opened = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._filter, self.choices = ActivityFilter(), ActivityChoices()
        self._shown: list[FilterChip] | None = None
        self.setAccessibleName(tr("Filters"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFixedHeight(px(FILTERS_HEIGHT))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        content = QWidget()
        self._line = row(content, margins=(0, 0, 0, 8), spacing=6)
        self.setWidget(content)
        self.add = Button(theme, tr("Filter"), "ghost", "plus", small=True, on_click=self._on_add)
        self.add.setAccessibleName(tr("Add a filter"))
        self.show_filter(self._filter)

    def show_filter(self, filter: ActivityFilter) -> None:
        """Shows a filter as chips."""
        self._filter = filter
        shown = chips(filter, datetime.now())
        if shown == self._shown:
            return
        self._shown = shown
        clear(self._line)
        for chip in shown:
            text, remove = one_line(chip.label, LONGEST), partial(self._on_remove, chip)
            button = Button(self._theme, text, "secondary", "x", small=True, on_click=remove)
            button.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the cross stands behind the word
            button.setAccessibleName(tr("Remove the filter {name}", name=chip.label))
            self._line.addWidget(button)
        if len(shown) > 1:
            self._line.addWidget(Button(self._theme, tr("Clear filters"), "link", small=True, on_click=self._on_clear))
        self._line.addStretch(1)
        self.setVisible(bool(shown))

    def _on_remove(self, chip: FilterChip, *_: object) -> None:
        self.add.setFocus(Qt.FocusReason.OtherFocusReason)
        self.filter_changed.emit(without(self._filter, chip))

    def _on_clear(self) -> None:
        self.add.setFocus(Qt.FocusReason.OtherFocusReason)
        self.filter_changed.emit(ActivityFilter(text=self._filter.text, outcomes=self._filter.outcomes))

    def _on_add(self) -> None:
        self.menu_opened.emit()
        menu = new_menu(self, self._theme, tr("Add a filter"))
        choices, filter = self.choices, self._filter
        clients = [(client, client_words(client)) for client in choices.clients]
        self._fill(menu, tr("Client"), "clients", clients, filter.clients)
        self._fill(menu, tr("Server"), "servers", [(each, each) for each in choices.servers], filter.servers)
        self._fill(menu, tr("Project"), "projects", [(each, each) for each in choices.projects], filter.projects)
        self._fill(menu, tr("Kind"), "kinds", [(kind, kind_name(kind)) for kind in KINDS], filter.kinds)
        menu.popup(self.add.mapToGlobal(QPoint(0, self.add.height() + px(2))))

    def _fill(self, menu: QMenu, title: str, field: str, options: Sequence[tuple[str, str]], chosen: Sequence[str]) -> None:
        part = menu.addMenu(title)
        part.setFont(self._theme.font())
        part.setEnabled(bool(options))
        for value, name in options[:MOST]:
            add_tick(part, one_line(name, LONGEST).replace("&", "&&"), value in chosen, partial(self._on_chosen, field, value))

    def _on_chosen(self, field: str, value: str, is_on: bool) -> None:
        before = without(self._filter, FilterChip(field, value, ""))
        self.filter_changed.emit(with_value(before, field, value) if is_on else before)


def with_value(filter: ActivityFilter, field: str, value: str) -> ActivityFilter:
    """Returns a filter that also accepts this value of a field."""
    known: tuple[str, ...] = getattr(filter, field)
    return replace(filter, **{field: known if value in known else (*known, value)})


def without(filter: ActivityFilter, chip: FilterChip) -> ActivityFilter:
    """Returns a filter without the value of a chip."""
    if chip.field == "since":
        return replace(filter, since=0.0, until=0.0)
    return replace(filter, **{chip.field: tuple(each for each in getattr(filter, chip.field) if each != chip.value)})
