"""Where a time went: stages one below the other, each beginning where the one before it ended. A stage that was not measured is named, and
takes no room in the picture."""

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from tooltray.ui.theme import Theme

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
    def __init__(self, theme: Theme, name: str, stages: Sequence[Stage]) -> None:
        super().__init__()
        self._theme, self._stages = theme, tuple(stages)
        self.setAccessibleName(name)
        self.setAccessibleDescription(", ".join(f"{stage.name}: {stage.words}" for stage in stages))
        self.setToolTip("\n".join(f"{stage.name}: {stage.words}" for stage in stages))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(ROW * len(self._stages))

    def sizeHint(self) -> QSize:
        return QSize(280, ROW * len(self._stages))

    def paintEvent(self, _event: QPaintEvent) -> None:
        whole = sum(stage.seconds or 0.0 for stage in self._stages)
        names = self.width() * NAMES
        track = QRectF(names + GAP, 0, max(1.0, self.width() - names - TIMES - 2 * GAP), ROW)
        done = 0.0
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for place, stage in enumerate(self._stages):
                line = QRectF(0, place * ROW, self.width(), ROW)
                self._paint_words(painter, line, stage, names)
                self._paint_bar(painter, track.translated(0, place * ROW), stage, done, whole)
                done += stage.seconds or 0.0

    def _paint_words(self, painter: QPainter, line: QRectF, stage: Stage, names: float) -> None:
        theme, is_known = self._theme, stage.seconds is not None
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.color("text.secondary" if is_known else "text.muted"))
        side = Qt.AlignmentFlag.AlignVCenter
        name = theme.metrics("caption").elidedText(stage.name, Qt.TextElideMode.ElideRight, int(names))
        painter.drawText(QRectF(0, line.top(), names, ROW), side | Qt.AlignmentFlag.AlignLeft, name)
        painter.setFont(theme.font("caption_strong" if stage.is_long else "caption", tabular=True))
        painter.setPen(theme.color("text.primary" if is_known else "text.muted"))
        painter.drawText(QRectF(line.right() - TIMES, line.top(), TIMES, ROW), side | Qt.AlignmentFlag.AlignRight, stage.words)

    def _paint_bar(self, painter: QPainter, track: QRectF, stage: Stage, done: float, whole: float) -> None:
        theme, middle = self._theme, track.center().y()
        if stage.seconds is None:
            painter.setPen(QPen(theme.color("border.strong"), 1, Qt.PenStyle.DotLine))
            painter.drawLine(QPointF(track.left(), middle), QPointF(track.right(), middle))
            return
        width = max(SMALLEST, track.width() * stage.seconds / whole) if whole else SMALLEST
        left = track.left() + (track.width() * done / whole if whole else 0.0)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("chart.p95" if stage.is_long else "chart.p50", 1.0 if stage.is_long else 0.85))
        painter.drawRoundedRect(QRectF(min(left, track.right() - width), middle - BAR / 2, width, BAR), 2, 2)
