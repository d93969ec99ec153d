"""The Activity page, with tabs for calls, approvals and statistics; and the tab of calls: an overview of the last 24 hours, and the list,
with one entry in full beside it."""

import contextlib
import time
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import cast

from msgspec.structs import replace
from PySide6.QtCore import QPoint
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ActivityWritten, ApprovalEnded, ConfigChanged
from tooltray.foundation.snapshots.activity import ActivityFilter, ActivityPoint
from tooltray.ui.activity.activity_list import ALL, CALLS, COUNT_EVERY_MS, SETTLE_MS, SHARE, ActivityList, FilterBar, JournalNotice
from tooltray.ui.activity.activity_model import ShownRow
from tooltray.ui.activity.approvals_tab import ApprovalsTab
from tooltray.ui.activity.entry_details import EntryDetails
from tooltray.ui.activity.figures_tab import FiguresTab
from tooltray.ui.activity.glance import BAR_S, BARS, GlancePanel
from tooltray.ui.figures import DAY_S, moment, number
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.background import Work, timer
from tooltray.ui.kit.destinations import Activity, CallsWhere, Clients, Destination, OpenEntry, Servers
from tooltray.ui.kit.page import Page, TabbedPage, TabEntry
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.setting_form import FOREVER, recorded_until
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import NoticesAbove
from tooltray.ui.widgets.button import Button, IconButton, add_tick, new_menu
from tooltray.ui.widgets.empty_state import EmptyState
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.page_frame import SearchField
from tooltray.ui.widgets.split_view import SplitView
from tooltray.ui.widgets.surface import Surface, column, fill, row
from tooltray.ui.zoom import px

NOW_EVERY_MS = 1000  # who is working
CALLS_TAB, APPROVALS, FIGURES = "calls", "approvals", "figures"  # the tabs


class WaitingLine(Surface):
    """A line that leads to the approvals that wait, hidden while none does. It has its place in the foot of the overview: what is below
    must not move under the pointer.
    """

    def __init__(self, theme: Theme, review: Callable[[], object]) -> None:
        super().__init__(theme, "warning.subtle", None, "m")
        icon, self._words = Icon(theme, "state-waiting", 14, "warning", "warning.subtle"), Label(theme, "", "caption_strong")
        fill(row(self, margins=(10, 1, 1, 1)), icon, self._words, Button(theme, tr("Review…"), small=True, on_click=review))
        self.hide()

    def show_count(self, count: int) -> None:
        self._words.setText(many(count, "1 approval waits for you", "{count} approvals wait for you"))
        self.setVisible(bool(count))


class RecordingLine(Surface):
    """A line that shows that whole arguments and results are being recorded, with a button that ends it; hidden while they are not.

    Attributes:
        until: when the recording ends, see `recorded_until`.
    """

    def __init__(self, theme: Theme, stop: Callable[[], object]) -> None:
        super().__init__(theme, "info.subtle", None, "m")
        self._words, button = ElidedLabel(theme, "", "caption_strong", hugs=True), Button(theme, tr("Stop"), small=True, on_click=stop)
        button.setAccessibleName(tr("Stop recording"))
        fill(row(self, margins=(10, 1, 1, 1)), Icon(theme, "info", 14, "info", "info.subtle"), self._words, button)
        self.until = 0.0
        self.hide()

    def show_until(self, until: float) -> None:
        """Shows until when calls are recorded."""
        self.until = until
        words = tr("Recording") if until == FOREVER else tr("Recording until {time}", time=moment(until, datetime.now()))
        self._words.set_text(words, tr("Arguments and results of calls are recorded."))
        self.refresh()

    def refresh(self) -> None:
        """Hides the line once the time is over."""
        self.setVisible(self.until > time.time())


class CallsTab(Page):
    """A tab with the list and everything around it."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        theme = self._theme = context.theme
        self.search = SearchField(theme, tr("Search tools and targets"))
        self.search.textChanged.connect(self._on_text)
        self.search.returnPressed.connect(self._focus_list)
        self._menu_button = IconButton(theme, "more", tr("More for activity"), on_click=self._on_menu)
        self.header_actions = (self.search, self._menu_button)
        self._notice = JournalNotice(theme)
        self._stack = QStackedWidget()
        self.recording = RecordingLine(theme, self._on_stop_recording)
        self.waiting = WaitingLine(theme, lambda: context.go(Activity("approvals")))
        self.glance = GlancePanel(theme, self.recording, self.waiting)
        self.list = ActivityList(context)
        self.list.table.activity.failed.connect(partial(self._notice.show_failure, "list"))
        self.glance.stretch_chosen.connect(lambda since, until: self.set_filter(replace(self.list.filter, since=since, until=until)))
        self.list.table.row_chosen.connect(self._on_row_chosen)
        self.list.filter_changed.connect(self.set_filter)
        self.filters = FilterBar(theme)
        self.filters.filter_changed.connect(self.set_filter)
        self.filters.menu_opened.connect(self._read_choices)
        self._stack.addWidget(self._content())
        self._stack.addWidget(self._build_empty())
        self._split = SplitView(NoticesAbove(self._notice, self._stack))
        self._split.closed.connect(self._focus_list)
        column(self).addWidget(self._split)
        self._wanted = 0  # the entry whose details are on their way
        self.enable(False)
        self._follow_hub()

    def _follow_hub(self) -> None:
        """Reads everything when the tab is shown, and again on news while it is visible."""
        self._refresh_glance = self._read_if_visible(self._read_glance, self._read_status)
        self._refresh_calls_now = self._read_if_visible(self._read_calls_now)
        self._refresh_recording = self._read_if_visible(self._read_recording)
        for refresh in (self._refresh_glance, self._refresh_calls_now, self._refresh_recording, self._read_choices, self.list.look_again):
            self.look_requested.connect(refresh)
        self._glance_cost_ms = 0  # what the last read took: a long journal is not to be read all the time
        self._glance_timer = timer(self, COUNT_EVERY_MS, self._refresh_glance)
        self._now_timer = timer(self, NOW_EVERY_MS, self._refresh_calls_now)
        self.hub.on(ActivityWritten, self._on_written, self)
        self.hub.on_any((ApprovalEnded,), self._refresh_calls_now, self)
        self.hub.on_any((ConfigChanged,), self._refresh_recording, self)

    def _content(self) -> QWidget:
        content = QWidget()
        self._hold = Button(self._theme, tr("Pause list"), "ghost", "pause", small=True, on_click=self._on_hold)
        fill(self.list.tools, self.filters.add, 1, self._hold)
        self.list.below_tabs.addWidget(self.filters)
        fill(column(content), fill(column(margins=(24, 16, 24, 0)), self.glance), (self.list, 1))
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
        empty.way_chosen.connect(lambda index: self.context.go(Clients() if index == 0 else Servers("all_tools")))
        return empty

    def enable(self, is_usable: bool) -> None:
        self._menu_button.setEnabled(is_usable)

    def set_filter(self, filter: ActivityFilter) -> None:
        """Shows other entries. `filter`: without outcomes, which the tabs choose."""
        if filter.kinds:
            self.list.show_tab(ALL)
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
        self._notice.show_failure("wish", problem)

    def show_calls(self, filter: ActivityFilter) -> None:
        """Shows the calls that a filter passes, without the details of one."""
        self._split.close_details()
        self.list.show_tab(CALLS)
        self.set_filter(filter)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.glance.fit(self.height())

    # what is read

    def _read_if_visible(self, *reads: Work) -> Callable[[], None]:
        """Returns a function that requests reads, but for a hidden tab."""
        requests = [self.reading(read) for read in reads]

        def ask() -> None:
            if self.is_usable and self.isVisible():
                for request in requests:
                    request()

        return ask

    def _read_choices(self) -> None:
        self.run(self._show_choices(), show=partial(self._notice.show_failure, "choices"))

    async def _show_choices(self) -> None:
        self.filters.choices = await self.hub.activity.get_activity_choices()

    async def _read_glance(self) -> None:
        filter, begun = replace(self.list.filter, kinds=()), time.monotonic()
        until = (time.time() // BAR_S + 1) * BAR_S  # whole quarters of an hour, so that bars do not walk
        day = replace(filter, since=until - DAY_S, until=until)
        chosen = replace(filter, since=filter.since or day.since, until=filter.until or until)
        try:
            bars = await self.hub.activity.get_activity_series(day, BARS)
            whole = await self.hub.activity.get_activity_series(chosen, 1)
        except TooltrayError as error:
            self.glance.show_unknown()
            self._notice.show_failure("glance", error.problem)
            return
        self._glance_cost_ms = int((time.monotonic() - begun) * 1000)
        if filter == replace(self.list.filter, kinds=()):
            self.glance.show_points(bars, whole[0] if whole else ActivityPoint(0.0))
        self._notice.show_failure("glance", None)

    async def _read_calls_now(self) -> None:
        try:
            calls = await self.hub.activity.get_calls_now()
        except TooltrayError:
            calls = None  # the tab says elsewhere that there is no hub
        self.glance.working.show_calls(calls)
        self.recording.refresh()
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
            pane = EntryDetails(self.context, details, self._on_only, self.recording.until)
            pane.close_requested.connect(self._on_close_details)
            self._split.open_details(pane)
            self.list.table.show_entry(id)

    def _show_entry_problem(self, id: int, problem: Problem | None) -> None:
        if id == self._wanted:
            self._notice.show_failure("entry", problem)

    # what happens

    def _on_written(self, news: ActivityWritten) -> None:
        if not news.last_id or self._stack.currentIndex():  # it was emptied, or filled again, or this is a first call
            self._refresh_glance()
        elif not self._glance_timer.isActive():
            self._glance_timer.start(max(COUNT_EVERY_MS, self._glance_cost_ms * SHARE))

    def _on_row_chosen(self, shown: ShownRow) -> None:
        if shown.row is not None:
            self.show_entry(shown.row.entry.id)

    def _on_stop_recording(self) -> None:
        changes = {"activity": {"contents": False, "contentsUntil": None}}
        self.run(self.hub.settings.change_settings(changes), toast=tr("Calls are no longer recorded"))

    def _on_text(self, text: str) -> None:
        self.set_filter(replace(self.list.filter, text=text.strip()))

    def _on_hold(self) -> None:
        is_held = not self.list.is_held
        self._hold.set_face(*((tr("Resume"), "play") if is_held else (tr("Pause list"), "pause")))
        self.list.hold(is_held)

    def _on_only(self, field: str, value: str) -> None:
        """Shows only the entries with this value; of a target, all that did something with the same file."""
        self.set_filter(replace(self.list.filter, **{field: value if field == "text" else (value,)}))

    def _on_close_details(self) -> None:
        self._wanted = 0
        self._split.close_details()
        self._focus_list()

    def _focus_list(self) -> None:
        self.list.table.setFocus()

    def _on_menu(self) -> None:
        menu = new_menu(self, self._theme, self._menu_button.accessibleName())
        add_tick(menu, tr("Show repeats as one row"), self.list.is_collapsed, self.list.set_collapsed)
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
        filter, kind = self.list.shown_filter, tr("JSON Lines (*.jsonl)")
        self.context.choose_new_file(
            tr("Export activity"), "tooltray-activity.jsonl", lambda path: self.run(self._export(path, filter)), kind=kind
        )

    async def _export(self, path: str, filter: ActivityFilter) -> None:
        count = await self.hub.activity.export_activity(path, filter)
        self.context.say(tr("{count} entries are in {path}", count=number(count), path=path))


TABS = (
    TabEntry(CALLS_TAB, lambda: tr("Calls"), CallsTab),
    TabEntry(APPROVALS, lambda: tr("Approvals"), ApprovalsTab, is_early=True),
    TabEntry(FIGURES, lambda: tr("Figures"), FiguresTab),
)


class ActivityPage(TabbedPage):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context, tr("Activity"), TABS)
        self.approvals.need_person.connect(self.calls.waiting.show_count)

    @property
    def calls(self) -> CallsTab:
        return cast(CallsTab, self.tab(CALLS_TAB))

    @property
    def approvals(self) -> ApprovalsTab:
        return cast(ApprovalsTab, self.tab(APPROVALS))

    def open_destination(self, destination: Destination) -> None:
        self.show_tab(destination.tab if isinstance(destination, Activity) else CALLS_TAB)
        if isinstance(destination, CallsWhere):
            self.calls.show_calls(destination.filter)
        elif isinstance(destination, OpenEntry):
            self.calls.show_entry(destination.id)
