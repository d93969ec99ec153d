"""Small charts: the share of a whole, and where a time went."""

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from tooltray.ui.theme import Theme
from tooltray.ui.widgets.surface import paint_box
from tooltray.ui.zoom import px

SMALLEST_WIDTH = 40


class Meter(QWidget):
    """A bar that shows a share; `name` is for screen readers, and the number itself is written beside it."""

    def __init__(self, theme: Theme, name: str, *, height: int = 6, tone: str = "chart.p50") -> None:
        super().__init__()
        self._theme, self._tone, self._share = theme, tone, 0.0
        self.setFixedHeight(px(height))
        self.setMinimumWidth(px(SMALLEST_WIDTH))
        self.setAccessibleName(name)

    def set_share(self, share: float) -> None:
        """Shows a share from 0 to 1; anything above 0 is at least a dot."""
        share = min(max(share, 0.0), 1.0)
        if share != self._share:
            self._share = share
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        height = self.height()
        with QPainter(self) as painter:
            paint_box(painter, QRectF(self.rect()), height / 2, self._theme.color("neutral.subtle"))
            if self._share:
                done = QRectF(0, 0, max(height, self.width() * self._share), height)
                paint_box(painter, done, height / 2, self._theme.color(self._tone))


ROW = 24  # px
NAMES, TIMES, GAP = 0.36, 88, 8  # share of the width for the names; px for the times, and between
BAR, SMALLEST = 8, 2.0  # px: height of a bar, and its least width


class Stage(msgspec.Struct, frozen=True):
    """A stage of a call.

    Args:
        seconds: None: it was not measured, or did not take place.
        words: its time in words.
        is_long: it took the most time, or is the one to highlight.
    """

    name: str
    seconds: float | None
    words: str
    is_long: bool = False


class Waterfall(QWidget):
    """Stages one below the other, each beginning where the one before it ended. A stage that was not measured has no bar."""

    def __init__(self, theme: Theme, name: str, stages: Sequence[Stage]) -> None:
        super().__init__()
        self._theme, self._stages = theme, tuple(stages)
        self.setAccessibleName(name)
        words = [f"{stage.name}: {stage.words}" for stage in stages]
        self.setAccessibleDescription(", ".join(words))
        self.setToolTip("\n".join(words))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(px(ROW) * len(self._stages))

    def sizeHint(self) -> QSize:
        return QSize(px(280), px(ROW) * len(self._stages))

    def paintEvent(self, _event: QPaintEvent) -> None:
        whole = sum(stage.seconds or 0.0 for stage in self._stages)
        names, done = self.width() * NAMES, 0.0
        track = QRectF(names + px(GAP), 0, max(1.0, self.width() - names - px(TIMES) - 2 * px(GAP)), px(ROW))
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for place, stage in enumerate(self._stages):
                self._paint_words(painter, QRectF(0, place * px(ROW), self.width(), px(ROW)), stage, names)
                self._paint_bar(painter, track.translated(0, place * px(ROW)), stage, done, whole)
                done += stage.seconds or 0.0

    def _paint_words(self, painter: QPainter, line: QRectF, stage: Stage, names: float) -> None:
        theme, is_known = self._theme, stage.seconds is not None
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.color("text.secondary" if is_known else "text.muted"))
        side = Qt.AlignmentFlag.AlignVCenter
        name = theme.metrics("caption").elidedText(stage.name, Qt.TextElideMode.ElideRight, int(names))
        painter.drawText(QRectF(0, line.top(), names, px(ROW)), side | Qt.AlignmentFlag.AlignLeft, name)
        painter.setFont(theme.font("caption_strong" if stage.is_long else "caption", tabular=True))
        painter.setPen(theme.color("text.primary" if is_known else "text.muted"))
        painter.drawText(QRectF(line.right() - px(TIMES), line.top(), px(TIMES), px(ROW)), side | Qt.AlignmentFlag.AlignRight, stage.words)

    def _paint_bar(self, painter: QPainter, track: QRectF, stage: Stage, done: float, whole: float) -> None:
        theme, middle = self._theme, track.center().y()
        if stage.seconds is None:
            painter.setPen(QPen(theme.color("border.strong"), 1, Qt.PenStyle.DotLine))
            painter.drawLine(QPointF(track.left(), middle), QPointF(track.right(), middle))
            return
        width = max(SMALLEST, track.width() * stage.seconds / whole) if whole else SMALLEST
        left = track.left() + (track.width() * done / whole if whole else 0.0)
        color = theme.color("chart.p95") if stage.is_long else theme.color("chart.p50", 0.85)
        paint_box(painter, QRectF(min(left, track.right() - width), middle - px(BAR) / 2, width, px(BAR)), px(2), color)
