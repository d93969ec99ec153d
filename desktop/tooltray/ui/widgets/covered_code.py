"""A field for code in which secrets are covered, as in a field for passwords, until a person wants to see them.

Above it: the sheet "Add server". Below it: CodeView. The text itself stays what it is: it can be edited, copied and read by the program.
"""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QTextBlock

from tooltray.ui.theme import Theme
from tooltray.ui.widgets.code_view import CodeView

DOT = "•"

FindSpans = Callable[[str], Sequence[tuple[int, int]]]
"""Finds places in a text: the first character of each, and the one behind its last."""


def covered(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Returns a text with dots in these places."""
    for first, last in spans:
        text = text[:first] + DOT * (last - first) + text[last:]
    return text


class CoveredCode(CodeView):
    def __init__(self, theme: Theme, name: str, find_secrets: FindSpans, *, lines: int) -> None:
        super().__init__(theme, "", name, lines=lines, editable=True, json=True)
        self._theme, self._find = theme, find_secrets
        self._spans: Sequence[tuple[int, int]] = ()
        self._places: Sequence[tuple[int, int]] = ()  # the same, as Qt counts
        self._is_covered = True
        self.textChanged.connect(self._on_text_changed)

    @property
    def has_secrets(self) -> bool:
        return bool(self._spans)

    @property
    def is_covered(self) -> bool:
        return self._is_covered

    @property
    def shown_text(self) -> str:
        """The text as somebody sees it who looks at the screen."""
        return covered(self.toPlainText(), self._spans if self._is_covered else ())

    def set_covered(self, is_covered: bool) -> None:
        self._is_covered = is_covered
        self.viewport().update()

    def _on_text_changed(self) -> None:
        text = self.toPlainText()
        self._spans = self._find(text)
        self._places = [(_units(text[:first]), _units(text[:last])) for first, last in self._spans]
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not (self._is_covered and self._spans):
            return
        with QPainter(self.viewport()) as painter:
            painter.setFont(self.font())
            block, origin = self.firstVisibleBlock(), self.contentOffset()
            while block.isValid():
                box = self.blockBoundingGeometry(block).translated(origin)
                if box.top() > event.rect().bottom():
                    return
                for place in self._covers(block):
                    self._cover(painter, place.translated(box.topLeft()))
                block = block.next()

    def _covers(self, block: QTextBlock) -> Sequence[QRectF]:
        """Where in a line secrets stand; a line never wraps."""
        line, start, length = block.layout().lineAt(0), block.position(), block.length() - 1
        places = []
        for first, last in self._places if line.isValid() else ():
            if first < start + length and last > start:
                left, right = (_x(line.cursorToX(min(max(at - start, 0), length))) for at in (first, last))
                places.append(QRectF(QPointF(left, line.y()), QPointF(right, line.y() + line.height())))
        return places

    def _cover(self, painter: QPainter, place: QRectF) -> None:
        painter.fillRect(place, self._theme.color("surface.sunken"))
        painter.setPen(self._theme.color("text.muted"))
        dots = DOT * max(1, round(place.width() / QFontMetricsF(self.font()).horizontalAdvance(DOT)))
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, dots)


def _x(found: object) -> float:
    """PySide6 gives the place alone or with the cursor that belongs to it."""
    return float(found[0] if isinstance(found, tuple) else found)  # type: ignore[arg-type]


def _units(text: str) -> int:
    """How long Qt takes a text for: what is beyond 16 bits counts twice."""
    return len(text) + sum(ord(sign) > 0xFFFF for sign in text)
