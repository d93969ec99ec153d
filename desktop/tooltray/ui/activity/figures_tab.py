"""The tab of statistics: calls, failures, tokens and times of each server, client or tool, and a chart of the chosen one."""

import time
from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import ActivityWritten
from tooltray.foundation.snapshots.activity import ActivityFigures, ActivityFilter, ActivityPoint
from tooltray.ui.activity.activity_words import SLOWEST, TYPICAL, client_words, milliseconds, took
from tooltray.ui.figures import DAY_S, moment, number
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.background import timer
from tooltray.ui.kit.destinations import CallsWhere
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.origins import server_name
from tooltray.ui.server_text import one_line
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import FaultArea, NoticesAbove
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.charts import Line, LineChart
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.surface import Surface, column, fill, row
from tooltray.ui.widgets.table import Table
from tooltray.ui.zoom import px

BY = ("server", "client", "tool")
SPANS = (DAY_S, 7 * DAY_S, 30 * DAY_S)
POINTS = (24, 42, 30)  # of the chart: an hour, four hours, a day each
EXTRAS = ((7, 900), (4, 780))  # columns that give way, and below which width in px
LOW = 560  # px of the page; then the chart is lower
CHART, LOW_CHART = 170, 120  # px
LOOK_EVERY_MS = 5000  # while calls go on: of a long journal, figures take half a second
LONGEST = 120  # characters of a name


class FiguresTable(Table):
    def __init__(self, theme: Theme) -> None:
        self._most, self._by = 1, BY[0]
        half, slow = say(TYPICAL).capitalize(), say(SLOWEST).capitalize()
        columns = [
            Column(tr("Name"), lambda each: self.title(each.name), order=lambda each: self.title(each.name).casefold()),
            Column(tr("Calls"), self._share, Kind.BAR, 170, order=lambda each: each.calls, falls=True),
            Column(tr("Failed"), _failures, Kind.CHIP, 108, order=lambda each: each.failures, falls=True),
            Column(tr("Tokens"), lambda each: number(each.tokens), Kind.NUMBER, 104, order=lambda each: each.tokens, falls=True),
            Column(tr("Per call"), lambda each: number(_per_call(each)), Kind.NUMBER, 84, order=_per_call, falls=True),
            Column(half, lambda each: milliseconds(each.p50_ms), Kind.NUMBER, 84, order=lambda each: each.p50_ms or 0.0, falls=True),
            Column(slow, lambda each: milliseconds(each.p95_ms), Kind.NUMBER, 124, order=lambda each: each.p95_ms or 0.0, falls=True),
            Column(tr("Last"), lambda each: moment(each.last_at, datetime.now()), Kind.QUIET, 108, order=lambda e: e.last_at, falls=True),
        ]
        super().__init__(theme, columns, tr("Figures"), lambda each: each.name)

    def set_figures(self, figures: Sequence[ActivityFigures], by: str) -> None:
        """Shows rows; the bars compare them with the most called one.

        Args:
            by: their kind, one of BY.
        """
        self._by = by
        self._most = max((each.calls for each in figures), default=1)
        self.set_rows(figures)
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for place, width in EXTRAS:
            self.setColumnHidden(place, self.width() < px(width))

    def title(self, name: str) -> str:
        """Returns the name of a server, a client or a tool for display."""
        words = {"server": server_name, "client": client_words}
        return one_line(words[self._by](name) if self._by in words else name, LONGEST)

    def _share(self, each: ActivityFigures) -> tuple[float, str, str]:
        return each.calls / self._most, "chart.p50", number(each.calls)


def _failures(each: ActivityFigures) -> tuple[str, str]:
    if not each.failures:
        return "0", ""
    share = 100 * each.failures / each.calls
    return f"{number(each.failures)} · {number(share, int(share < 10))} %", "error"


def _per_call(each: ActivityFigures) -> float:
    return each.tokens / each.calls


def _point_words(each: ActivityPoint, now: datetime) -> str:
    at, p50, p95, calls = moment(each.at, now), milliseconds(each.p50_ms), milliseconds(each.p95_ms), number(each.calls)
    return tr("{time}: typical {typical}, slowest 5 % over {slow}, {calls} calls", time=at, typical=p50, slow=p95, calls=calls)


class FiguresTab(Page):
    """A tab with statistics."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        theme, content = context.theme, QWidget()
        self._chosen = ""  # whose chart is shown
        self._by = FilterTabs(theme, [tr("Servers"), tr("Clients"), tr("Tools")], name=tr("Figures of"), have_counts=False)
        self._by.chosen.connect(self._on_by)
        self._span = FilterTabs(theme, [tr("24 hours"), tr("7 days"), tr("30 days")], name=tr("How far back"), have_counts=False)
        self.table = FiguresTable(theme)
        self.table.row_chosen.connect(lambda each: self._choose(each.name))
        self.table.selectionModel().currentChanged.connect(self._on_current)
        self._fault = FaultArea(theme)
        head = fill(row(margins=(24, 16, 24, 12), spacing=8), self._by, 1, self._span)
        fill(column(content), head, self._build_chart(theme), (self.table, 1))
        fill(column(self), (NoticesAbove(self._fault, content), 1))
        self._ask_figures, self._ask_series = self.reading(self._read_figures), self.reading(self._read_series)
        self.look_requested.connect(self._ask_figures)
        self._span.chosen.connect(self._ask_figures)
        self._timer = timer(self, LOOK_EVERY_MS, self.look_again)
        context.hub.on_any((ActivityWritten,), self._on_written, self)
        self.enable(False)

    def _build_chart(self, theme: Theme) -> QWidget:
        outer, box = QWidget(), Surface(theme)
        self._name = ElidedLabel(theme, "", "strong")
        legends = _legend(theme, say(TYPICAL), "chart.p50"), _legend(theme, say(SLOWEST), "chart.p95")
        self._show = Button(theme, tr("Show these calls"), "link", small=True, on_click=self._on_show)
        self.chart = LineChart(theme, tr("How long calls took"), tr("No calls in this time."), lambda ms: took(ms / 1000) if ms else "0")
        head = fill(row(spacing=16), (self._name, 1), *legends, self._show)
        fill(column(box, margins=(18, 12, 14, 6), spacing=6), head, self.chart)
        fill(column(outer, margins=(24, 0, 24, 12)), box)
        return outer

    @property
    def by(self) -> str:
        """The kind of rows in the table: servers, clients or tools."""
        return BY[self._by.current]

    def enable(self, is_usable: bool) -> None:
        for widget in (self._by, self._span, self.table, self._show):
            widget.setEnabled(is_usable)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why figures cannot be read; None: they can again."""
        self._fault.show_problem(problem)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.chart.setFixedHeight(px(LOW_CHART) if self.height() < px(LOW) else px(CHART))

    def _filter(self) -> ActivityFilter:
        return ActivityFilter(since=time.time() - SPANS[self._span.current])

    def _of_chosen(self) -> ActivityFilter:
        """Returns the filter for the calls of the selected row, or for all calls."""
        filter = self._filter()
        if not self._chosen:
            return filter
        if self.by == "client":
            return replace(filter, clients=(self._chosen,))
        server, _, tool = self._chosen.partition("/")
        return replace(filter, servers=(server,), tools=(tool,)) if self.by == "tool" else replace(filter, servers=(self._chosen,))

    async def _read_figures(self) -> None:
        by = self.by
        figures = await self.hub.activity.get_activity_figures(by, self._filter())
        if by != self.by:
            return
        self.table.set_figures(sorted(figures, key=lambda each: -each.calls), by)
        if self._chosen not in {each.name for each in figures}:
            self._chosen = ""
        self._ask_series()

    async def _read_series(self) -> None:
        chosen, filter = self._chosen, self._of_chosen()
        points = await self.hub.activity.get_activity_series(replace(filter, until=time.time()), POINTS[self._span.current])
        if chosen == self._chosen:
            self._draw(points)

    def _draw(self, points: Sequence[ActivityPoint]) -> None:
        calls, failed = sum(point.calls for point in points), sum(point.failures for point in points)
        name = self.table.title(self._chosen) if self._chosen else tr("All together")
        self._name.set_text(tr("{name}: {calls} calls, {failed} failed", name=name, calls=number(calls), failed=number(failed)))
        now = datetime.now()
        is_day = SPANS[self._span.current] == DAY_S
        times = [f"{datetime.fromtimestamp(point.at):%H:%M}" if is_day else moment(point.at, now) for point in points]
        words = [_point_words(point, now) for point in points]
        lines = [
            Line(say(SLOWEST), tuple(point.p95_ms for point in points), "chart.p95"),
            Line(say(TYPICAL), tuple(point.p50_ms for point in points), "chart.p50", is_filled=True),
        ]
        self.chart.set_lines(lines, times, words, ". ".join(word for word, point in zip(words, points, strict=True) if point.calls))

    def _on_written(self) -> None:
        if self.isVisible() and not self._timer.isActive():
            self._timer.start()

    def _on_by(self, _index: int) -> None:
        self._chosen = ""
        self._ask_figures()

    def _on_current(self, *_: object) -> None:
        index = self.table.currentIndex()
        if index.isValid():
            self._choose(self.table.rows[index.row()].name)

    def _choose(self, name: str) -> None:
        if name != self._chosen:
            self._chosen = name
            self._ask_series()

    def _on_show(self) -> None:
        self.context.go(CallsWhere(self._of_chosen()))


def _legend(theme: Theme, word: str, tone: str) -> QHBoxLayout:
    """Returns the name of a line in a chart, behind its mark."""
    mark = Surface(theme, tone, None, "s")
    mark.setFixedSize(px(14), px(3))
    return fill(row(spacing=6), mark, Label(theme, word, "caption", "secondary"))
