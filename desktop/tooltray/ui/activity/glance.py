"""The overview above the list: the last 24 hours as bars, the numbers of the listed stretch, and who is working now. Draws frozen
snapshots; unknown values are not drawn as zero."""

import time
from collections.abc import Sequence
from datetime import datetime

import msgspec
from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from tooltray.foundation.snapshots.activity import ActivityPoint, CallNow
from tooltray.ui.activity.activity_words import client_words, milliseconds, slowest, took, typical, waits
from tooltray.ui.activity.histogram import Bar, Histogram
from tooltray.ui.figures import number
from tooltray.ui.i18n import many, tr
from tooltray.ui.server_text import one_line
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.cell_delegate import draw_on_line
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import Surface, column, divider, row
from tooltray.ui.zoom import px

DAY_S = 86400.0
BARS = 96  # a quarter of an hour each
BAR_S = DAY_S / BARS
HEIGHT, LOW_HEIGHT = 92, 66  # px of the bars; in a low window
LOW, NO_CHART = 560, 300  # px of the page: below them the chart is lower, and hidden
MOST_WORKING = 3  # calls that are named at once
FOOT = 36  # px
ROOM_FOR_WORDS, ROOM_FOR_TOKENS = 720, 540  # px of the panel; below them, words and tokens give way


class Glance(msgspec.Struct, frozen=True):
    """The numbers above the list.

    Attributes:
        bars: the last 24 hours.
        whole: the numbers of the stretch that the list shows; None without calls, since nothing is known then.
    """

    bars: tuple[ActivityPoint, ...]
    whole: ActivityPoint | None


class FigureNumber(Label):
    """A number with its unit, on the line of its neighbours whatever script its unit has."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "–", "number", tabular=True)
        self._theme = theme
        self.setFixedHeight(theme.line("number"))

    def paintEvent(self, _event: QPaintEvent) -> None:
        metrics = self._theme.metrics("number", tabular=True)
        with QPainter(self) as painter:
            painter.setFont(self.font())
            painter.setPen(self._theme.color("error.text" if self.property("tone") == "error" else "text.primary"))
            draw_on_line(painter, QRectF(self.rect()), self.text(), metrics)


class Figure(QWidget):
    """A number with its name below it; a dash where it is not known."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._name = name
        layout = column(self)
        self._number = FigureNumber(theme)
        layout.addWidget(self._number)
        layout.addWidget(ElidedLabel(theme, name, "caption", "muted", hugs=True))
        self.set_value("–")

    def set_value(self, text: str, *, tone: str = "primary") -> None:
        self._number.setText(text)
        self._number.set_tone(tone)
        self._number.setAccessibleName(f"{self._name}: {tr('not known') if text == '–' else text}")


class WorkingNow(QWidget):
    """The calls that run now."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setFixedHeight(px(FOOT))
        self._line = line = row(self, margins=(18, 0, 6, 0), spacing=8)
        self._icon = Icon(theme, "state-off", 14, "neutral", "surface")
        line.addWidget(self._icon)
        self._words = ElidedLabel(theme, "", "caption", "secondary")
        line.addWidget(self._words, 1)
        self.show_calls(None)

    def hold(self, notice: QWidget) -> None:
        """Takes a notice, at its right."""
        self._line.addWidget(notice, 0, Qt.AlignmentFlag.AlignVCenter)

    def show_calls(self, calls: Sequence[CallNow] | None) -> None:
        """Shows calls, the longest first; None: not known."""
        if not calls:
            self._icon.set_icon("state-off", "neutral")
            self._words.set_text(tr("Not known who is working now.") if calls is None else tr("Nothing running"))
            return
        self._icon.set_icon("state-starting", "info")
        named = " · ".join(_working(call) for call in calls[:MOST_WORKING])
        more = len(calls) - MOST_WORKING
        shown = tr("{calls} · and {count} more", calls=named, count=more) if more > 0 else named
        self._words.set_text(shown, "\n".join(_working(call) for call in calls[:30]), many(len(calls), "1 running", "{count} running"))


def _working(call: CallNow) -> str:
    since = took(max(0.0, time.time() - call.since))
    return tr(
        "{client}: {tool}, {since}, {waits}",
        client=client_words(call.client),
        tool=one_line(call.tool, 60),
        since=since,
        waits=one_line(waits(call), 80),
    )


class GlancePanel(Surface):
    """An overview of calls. `stretch_chosen` carries the only stretch that the list should show, in unix seconds: since, until; both 0:
    everything.
    """

    stretch_chosen = Signal(float, float)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._points: tuple[ActivityPoint, ...] = ()
        self._stretch = (0.0, 0.0)
        layout = column(self)
        top = column(margins=(18, 12, 18, 6), spacing=6)
        numbers = row(spacing=24)
        self._calls, self._failures = Figure(theme, tr("calls")), Figure(theme, tr("failed"))
        self._p50, self._p95, self._tokens = Figure(theme, typical()), Figure(theme, slowest()), Figure(theme, tr("≈ tokens"))
        self._p50.setToolTip(tr("Half of the calls took less"))
        self._p95.setToolTip(tr("One call in twenty took longer"))
        for figure in (self._calls, self._failures, self._p50, self._p95, self._tokens):
            numbers.addWidget(figure)
        numbers.addStretch(1)
        self._when = Label(theme, "", "caption", "muted")
        numbers.addWidget(self._when)
        top.addLayout(numbers)
        self.chart = Histogram(theme, tr("Calls of the last 24 hours"), tr("Not known"))
        self.chart.setFixedHeight(px(HEIGHT))
        self.chart.stretch_chosen.connect(self._on_chosen)
        self.chart.cleared.connect(self._on_cleared)
        top.addWidget(self.chart)
        layout.addLayout(top)
        layout.addWidget(divider())
        self.working = WorkingNow(theme)
        layout.addWidget(self.working)
        self.show_glance(None)
        self.show_stretch(0.0, 0.0)

    def fit(self, height: int) -> None:
        """Makes the chart lower on a low page of so many px, or hides it."""
        self.chart.setFixedHeight(px(LOW_HEIGHT if height < px(LOW) else HEIGHT))
        self.chart.setHidden(height < px(NO_CHART))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._when.setVisible(self.width() >= px(ROOM_FOR_WORDS))
        self._tokens.setVisible(self.width() >= px(ROOM_FOR_TOKENS))

    def show_glance(self, glance: Glance | None) -> None:
        """Shows numbers and bars; None: not known."""
        if glance is None:
            self._points = ()
            self.chart.set_bars(None)
            for figure in (self._calls, self._failures, self._p50, self._p95, self._tokens):
                figure.set_value("–")
            return
        self._points = glance.bars
        now = datetime.now()
        self.chart.set_bars([_bar(point, now) for point in glance.bars])
        self._mark()
        whole = glance.whole or ActivityPoint(0.0)
        self._calls.set_value(number(whole.calls))
        self._failures.set_value(number(whole.failures), tone="error" if whole.failures else "primary")
        self._p50.set_value(milliseconds(whole.p50_ms))
        self._p95.set_value(milliseconds(whole.p95_ms))
        self._tokens.set_value(number(whole.tokens))

    def show_stretch(self, since: float, until: float) -> None:
        """Marks the stretch that the list shows; both 0: everything."""
        self._stretch = (since, until)
        self._when.setText(tr("the stretch that you chose") if since or until else tr("the last 24 hours"))
        self._mark()

    def _mark(self) -> None:
        since, until = self._stretch
        places = [
            place for place, point in enumerate(self._points) if point.at + BAR_S > since and (not until or point.at + BAR_S / 2 < until)
        ]
        self.chart.set_chosen((places[0], places[-1]) if (since or until) and places else None)

    def _on_chosen(self, first: int, last: int) -> None:
        self.stretch_chosen.emit(self._points[first].at, self._points[last].at + BAR_S)

    def _on_cleared(self) -> None:
        self.stretch_chosen.emit(0.0, 0.0)


def _bar(point: ActivityPoint, now: datetime) -> Bar:
    begin, end = datetime.fromtimestamp(point.at), datetime.fromtimestamp(point.at + BAR_S)
    span = f"{begin:%H:%M}–{end:%H:%M}"
    if not point.calls:
        words = tr("{span}: no calls", span=span)
    elif point.failures:
        words = tr(
            "{span}: {calls} calls, {failed} failed, slowest 5 % over {slow}",
            span=span,
            calls=number(point.calls),
            failed=number(point.failures),
            slow=milliseconds(point.p95_ms),
        )
    else:
        slow = milliseconds(point.p95_ms)
        words = tr("{span}: {calls} calls, slowest 5 % over {slow}", span=span, calls=number(point.calls), slow=slow)
    return Bar(point.at, point.calls, point.failures, words, f"{begin:%H:%M}")
