"""The tab of calls: an overview of the last 24 hours, and the list, with one entry in full beside it."""

import contextlib
import time
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFileDialog, QMenu, QStackedWidget, QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ActivityWritten, ApprovalEnded, ConfigChanged
from tooltray.foundation.snapshots.activity import ActivityDetails, ActivityFilter, ActivityRow
from tooltray.ui.activity.activity_list import ALL, CALLS, COUNT_EVERY_MS, OUTCOMES, SETTLE_MS, SHARE, ActivityList
from tooltray.ui.activity.entry_details import EntryDetails
from tooltray.ui.activity.filter_bar import FilterBar, with_value
from tooltray.ui.activity.glance import BAR_S, BARS, DAY_S, Glance, GlancePanel
from tooltray.ui.activity.journal_notice import JournalNotice
from tooltray.ui.activity.recording import RecordingLine
from tooltray.ui.figures import number
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.destinations import Activity, Clients, Servers
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.recording import recorded_until
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import NoticesAbove
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.empty_state import EmptyState
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.page_frame import SearchField
from tooltray.ui.widgets.split_view import SplitView
from tooltray.ui.widgets.surface import Surface, column, row
from tooltray.ui.zoom import px

NOW_EVERY_MS = 1000  # who is working


class WaitingLine(Surface):
    """A line that leads to the approvals that wait, hidden while none does. It has its place in the foot of the overview: what is below
    must not move under the pointer.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "warning.subtle", None, "m")
        line = row(self, margins=(10, 1, 1, 1), spacing=8)
        line.addWidget(Icon(theme, "state-waiting", 14, "warning", "warning.subtle"))
        self._words = Label(theme, "", "caption_strong")
        line.addWidget(self._words)
        self.review = Button(theme, tr("Review…"), small=True)
        line.addWidget(self.review)
        self.hide()

    def show_count(self, count: int) -> None:
        self._words.setText(many(count, "1 approval waits for you", "{count} approvals wait for you"))
        self.setVisible(bool(count))


class CallsTab(Page):
    """A tab with the list and everything around it."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        theme = self._theme = context.theme
        self.search = SearchField(theme, tr("Search tools and targets"))
        self.search.textChanged.connect(self._on_text)
        self.search.returnPressed.connect(self._focus_list)
        self._menu_button = IconButton(theme, "more", tr("More for activity"))
        self._menu_button.clicked.connect(self._on_menu)
        self.header_actions = (self.search, self._menu_button)
        self._notice = JournalNotice(theme)
        self._stack = QStackedWidget()
        self.glance = GlancePanel(theme)
        self.glance.stretch_chosen.connect(self._on_stretch)
        self.recording = RecordingLine(theme)
        self.glance.working.hold(self.recording)
        self.recording.stop.clicked.connect(self._on_stop_recording)
        self.waiting = WaitingLine(theme)
        self.glance.working.hold(self.waiting)
        self.waiting.review.clicked.connect(partial(context.go, Activity("approvals")))
        self.list = ActivityList(context, ActivityFilter(), partial(self._notice.show_problem, "list"))
        self.list.entry_chosen.connect(self._on_chosen)
        self.list.filter_changed.connect(self.set_filter)
        self.filters = FilterBar(theme)
        self.filters.filter_changed.connect(self.set_filter)
        self.filters.menu_opened.connect(self._read_choices)
        self._stack.addWidget(self._content())
        self._stack.addWidget(self._build_empty())
        self._split = SplitView(NoticesAbove(self._notice, self._stack))
        self._split.closed.connect(self._focus_list)
        column(self).addWidget(self._split)
        self._ask_glance, self._ask_status = self.reading(self._read_glance), self.reading(self._read_status)
        self._ask_calls_now, self._ask_recording = self.reading(self._read_calls_now), self.reading(self._read_recording)
        self._glance_cost_ms = 0  # what the last read took: a long journal is not to be read all the time
        self._glance_timer = self._timer(COUNT_EVERY_MS, self._refresh_glance)
        self._now_timer = self._timer(NOW_EVERY_MS, self._refresh_calls_now)
        self._wanted = 0  # the entry whose details are on their way
        self.enable(False)
        self.look_requested.connect(self._refresh)
        context.hub.on(ActivityWritten, self._on_written, self)
        context.hub.on(ApprovalEnded, self._refresh_calls_now, self)
        context.hub.on(ConfigChanged, self._refresh_recording, self)

    def _content(self) -> QWidget:
        content = QWidget()
        layout = column(content)
        top = column(margins=(24, 16, 24, 0))
        top.addWidget(self.glance)
        layout.addLayout(top)
        self.list.tools.addWidget(self.filters.add)
        self.list.tools.addStretch(1)
        self._hold = Button(self._theme, tr("Pause list"), "ghost", "pause", small=True)
        self._hold.clicked.connect(self._on_hold)
        self.list.tools.addWidget(self._hold)
        self.list.show_below_tabs(self.filters)
        layout.addWidget(self.list, 1)
        return content

    def _build_empty(self) -> EmptyState:
        empty = EmptyState(
            self._theme,
            tr("No calls yet"),
            tr("Every call of an AI client is listed here, with its target and duration."),
            [
                ("plug", tr("Connect the AI clients on this computer"), tr("An entry in their settings, after a preview")),
                ("play", tr("Try a tool by hand"), tr("Choose one, fill in its form, and see what it answers")),
            ],
        )
        empty.way_chosen.connect(self._on_way)
        return empty

    def _timer(self, interval_ms: int, slot: object) -> QTimer:
        timer = QTimer(self, singleShot=True, interval=interval_ms)
        timer.timeout.connect(slot)
        return timer

    @property
    def details(self) -> EntryDetails | None:
        """The details of the open entry."""
        return self._split.details if isinstance(self._split.details, EntryDetails) else None

    def enable(self, is_usable: bool) -> None:
        self._menu_button.setEnabled(is_usable)

    def set_filter(self, filter: ActivityFilter) -> None:
        """Shows other entries; outcomes are left to the tabs."""
        if filter.kinds:
            self.list.show_tab(ALL)
        elif filter.outcomes:
            tab = next((tab for tab, outcomes in OUTCOMES.items() if outcomes == filter.outcomes), None)
            if tab is not None:
                filter = replace(filter, outcomes=())
                self.list.show_tab(tab)
        self.filters.show_filter(filter)
        self.glance.show_stretch(filter.since, filter.until)
        self.list.set_filter(filter)
        if self.search.text().strip() != filter.text:
            self.search.setText(filter.text)  # comes back here, and finds the list as it is to be
        self._glance_timer.start(SETTLE_MS)

    def show_entry(self, id: int) -> None:
        """Opens an entry in full."""
        self._wanted = id
        self.run(self._read_entry(id), show=partial(self._show_entry_problem, id))

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why something that the user wanted failed; None: it worked."""
        self._notice.show_problem("wish", problem)

    def show_calls(self, filter: ActivityFilter) -> None:
        """Shows the calls that a filter passes, without the details of one."""
        self._split.close_details()
        self.list.show_tab(CALLS)
        self.set_filter(filter)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.glance.fit(self.height())

    # what is read

    def _refresh(self) -> None:
        self._refresh_glance()
        self._refresh_calls_now()
        self._refresh_recording()
        self._read_choices()
        self.list.look_again()

    def _refresh_glance(self) -> None:
        if self.is_usable and self.isVisible():
            self._ask_glance()
            self._ask_status()

    def _refresh_calls_now(self, *_: object) -> None:
        if self.is_usable and self.isVisible():
            self._ask_calls_now()

    def _refresh_recording(self, *_: object) -> None:
        if self.is_usable and self.isVisible():
            self._ask_recording()

    def _read_choices(self) -> None:
        self.run(self._show_choices(), show=partial(self._notice.show_problem, "choices"))

    async def _show_choices(self) -> None:
        self.filters.set_choices(await self.hub.activity.get_activity_choices())

    async def _read_glance(self) -> None:
        filter, begun = replace(self.list.filter, kinds=()), time.monotonic()
        until = (time.time() // BAR_S + 1) * BAR_S  # whole quarters of an hour, so that bars do not walk
        day = replace(filter, since=until - DAY_S, until=until)
        chosen = replace(filter, since=filter.since or day.since, until=filter.until or until)
        try:
            bars = await self.hub.activity.get_activity_series(day, BARS)
            whole = await self.hub.activity.get_activity_series(chosen, 1)
        except TooltrayError as error:
            self.glance.show_glance(None)
            self._notice.show_problem("glance", error.problem)
            return
        self._glance_cost_ms = int((time.monotonic() - begun) * 1000)
        if filter == replace(self.list.filter, kinds=()):
            self.glance.show_glance(Glance(tuple(bars), whole[0] if whole else None))
        self._notice.show_problem("glance", None)

    async def _read_calls_now(self) -> None:
        try:
            calls = await self.hub.activity.get_calls_now()
        except TooltrayError:
            calls = None  # the tab says elsewhere that there is no hub
        self.glance.working.show_calls(calls)
        self.recording.refresh()
        if self.isVisible():
            self._now_timer.start()

    async def _read_status(self) -> None:
        try:
            status = await self.hub.activity.get_journal_status()
        except TooltrayError:
            status = None
        self._notice.show_status(status)
        is_empty = status is not None and not (status.entries or status.problem or status.lost)
        self._stack.setCurrentIndex(1 if is_empty else 0)

    async def _read_recording(self) -> None:
        with contextlib.suppress(TooltrayError):  # the tab says elsewhere that there is no hub
            self.recording.show_until(recorded_until((await self.hub.settings.get_settings()).settings))

    async def _read_entry(self, id: int) -> None:
        details = await self.hub.activity.get_activity_entry(id)
        await self._read_recording()
        if id == self._wanted:  # else the user has chosen another one meanwhile
            self._open_details(details)

    def _open_details(self, details: ActivityDetails) -> None:
        pane = EntryDetails(self.context, details, self._on_only, self.recording.until)
        pane.close_requested.connect(self._on_close_details)
        self._split.open_details(pane)
        self.list.table.show_entry(details.entry.id)

    def _show_entry_problem(self, id: int, problem: Problem | None) -> None:
        if id == self._wanted:
            self._notice.show_problem("entry", problem)

    # what happens

    def _on_written(self, news: ActivityWritten) -> None:
        if not news.last_id or self._stack.currentIndex():  # it was emptied, or filled again, or this is a first call
            self._refresh_glance()
        elif not self._glance_timer.isActive():
            self._glance_timer.start(max(COUNT_EVERY_MS, self._glance_cost_ms * SHARE))

    def _on_stop_recording(self) -> None:
        changes = {"activity": {"contents": False, "contentsUntil": None}}
        self.run(self.hub.settings.change_settings(changes), toast=tr("Calls are no longer recorded"))

    def _on_text(self, text: str) -> None:
        self.set_filter(replace(self.list.filter, text=text.strip()))

    def _on_stretch(self, since: float, until: float) -> None:
        self.set_filter(replace(self.list.filter, since=since, until=until))

    def _on_hold(self) -> None:
        is_held = not self.list.is_held
        self._hold.set_face(*((tr("Resume"), "play") if is_held else (tr("Pause list"), "pause")))
        self.list.hold(is_held)

    def _on_chosen(self, row: ActivityRow) -> None:
        self.show_entry(row.entry.id)

    def _on_only(self, field: str, value: str) -> None:
        """Shows only the entries with this value; of a target, all that did something with the same file."""
        if field == "text":
            self.set_filter(replace(self.list.filter, text=value))
        else:
            self.set_filter(with_value(replace(self.list.filter, **{field: ()}), field, value))

    def _on_close_details(self) -> None:
        self._wanted = 0
        self._split.close_details()
        self._focus_list()

    def _focus_list(self) -> None:
        self.list.table.setFocus()

    def _on_menu(self) -> None:
        menu = QMenu(self)
        menu.setFont(self._theme.font())
        menu.setAccessibleName(self._menu_button.accessibleName())
        menu.aboutToHide.connect(menu.deleteLater)
        repeats = menu.addAction(tr("Show repeats as one row"))
        repeats.setCheckable(True)
        repeats.setChecked(self.list.is_collapsed)
        repeats.triggered.connect(self.list.set_collapsed)
        menu.addSeparator()
        menu.addAction(tr("Export what is listed…"), self._on_export)
        menu.addAction(tr("Clear activity"), lambda: self.run(self._clear(), toast=tr("The activity is cleared"), undo=self._undo_clear))
        menu.popup(self._menu_button.mapToGlobal(QPoint(0, self._menu_button.height() + px(2))))

    async def _clear(self) -> None:
        await self.hub.activity.clear_activity()
        self._split.close_details()
        self._refresh_glance()

    async def _undo_clear(self) -> None:
        await self.hub.activity.undo_clear_activity()
        self.context.say(tr("They are back"))

    def _on_export(self) -> None:
        dialog = QFileDialog(self.context.window, tr("Export activity"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(tr("JSON Lines (*.jsonl)"))
        dialog.setDefaultSuffix("jsonl")
        dialog.selectFile("tooltray-activity.jsonl")
        filter = self.list.shown_filter
        dialog.fileSelected.connect(lambda path: self.run(self._export(path, filter)))
        dialog.open()

    async def _export(self, path: str, filter: ActivityFilter) -> None:
        count = await self.hub.activity.export_activity(path, filter)
        self.context.say(tr("{count} entries are in {path}", count=number(count), path=path))

    def _on_way(self, index: int) -> None:
        self.context.go(Clients() if index == 0 else Servers("all_tools"))
