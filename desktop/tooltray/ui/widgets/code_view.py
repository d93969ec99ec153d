"""Text in the font of code: for reading, for writing, with its secrets covered, and as the difference of two texts."""

import re
from collections.abc import Callable, Sequence

from PySide6.QtCore import QMimeData, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QSyntaxHighlighter,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QTextEdit

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.zoom import px

JSON_RULES = (  # later rules win: a number inside a string stays a string's colour
    (re.compile(r"\b(?:true|false|null|-?\d+(?:\.\d+)?)\b"), "code.number"),
    (re.compile(r'"(?:[^"\\]|\\.)*"'), "code.string"),
    (re.compile(r'"(?:[^"\\]|\\.)*"(?=\s*:)'), "code.key"),
)
CHROME = 26  # padding, border and document margin
BAR = 12  # room for the horizontal scroll bar
WRAP = QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere
LONGEST_MEASURED = 4_000  # characters of a line; it is higher than any view then
LONGEST_PASTE = 250_000  # characters; a whole log pasted by mistake must not freeze the window


class JsonColors(QSyntaxHighlighter):
    def __init__(self, theme: Theme, document: QTextDocument) -> None:
        super().__init__(document)
        self._theme = theme
        theme.changed.connect(self.rehighlight)

    def highlightBlock(self, text: str) -> None:
        if not self.document().firstBlock().text().lstrip().startswith(("{", "[", '"')):
            return  # a command line has no colours
        for pattern, token in JSON_RULES:
            style = QTextCharFormat()
            style.setForeground(self._theme.color(token))
            for match in pattern.finditer(text):
                self.setFormat(match.start(), match.end() - match.start(), style)


class CodeView(QPlainTextEdit):
    """Text in mono; long lines are not wrapped before `wrap`."""

    def __init__(self, theme: Theme, text: str, name: str, *, lines: int = 0, editable: bool = False, json: bool = False) -> None:
        super().__init__(text)
        self.setProperty("code", True)
        self.setFont(theme.font("mono"))
        self.setReadOnly(not editable)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(px(4))
        self.document().clearUndoRedoStacks()  # Ctrl+Z takes back what is typed, not the margin
        if not editable:
            self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard)
        else:
            self.horizontalScrollBar().rangeChanged.connect(self._keep_cursor_visible)
        if lines:
            self.set_lines(lines)
        if json:
            self._colors = JsonColors(theme, self.document())

    def set_lines(self, lines: int) -> None:
        """Makes the view as high as so many lines."""
        self.setFixedHeight(int(lines * QFontMetricsF(self.font()).lineSpacing()) + px(CHROME) + px(BAR))

    def wrap(self, width: int, most_lines: int) -> None:
        """Wraps long lines, so that nothing is hidden beyond an edge. As high as its lines, up to `most_lines`; then it scrolls.

        Args:
            width: px that the view will have.
        """
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setWordWrapMode(WRAP)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        room = width - px(CHROME) - px(BAR)  # a bar that has come for a moment would stay
        lines = sum(self._parts(text[:LONGEST_MEASURED], room) for text in self.toPlainText().split("\n", most_lines)[:most_lines])
        self.setFixedHeight(int(min(lines, most_lines) * QFontMetricsF(self.font()).lineSpacing()) + px(CHROME))

    def _parts(self, text: str, width: int) -> int:
        """Returns into how many lines a long line is wrapped."""
        layout, option = QTextLayout(text, self.font()), QTextOption()
        option.setWrapMode(WRAP)
        layout.setTextOption(option)
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width)
        layout.endLayout()
        return layout.lineCount()

    def _keep_cursor_visible(self) -> None:
        """Scrolls to the cursor of a user who types: Qt does so before it knows the new width, and not after a resize."""
        if self.hasFocus():
            self.ensureCursorVisible()

    def insertFromMimeData(self, source: QMimeData) -> None:
        if source.hasText():
            self.insertPlainText(source.text()[:LONGEST_PASTE])


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
        self.is_covered = True
        self.textChanged.connect(self._on_text_changed)

    @property
    def has_secrets(self) -> bool:
        return bool(self._spans)

    @property
    def shown_text(self) -> str:
        """The text as it is visible on the screen."""
        return covered(self.toPlainText(), self._spans if self.is_covered else ())

    def set_covered(self, is_covered: bool) -> None:
        self.is_covered = is_covered
        self.viewport().update()

    def _on_text_changed(self) -> None:
        text = self.toPlainText()
        self._spans = self._find(text)
        self._places = [(_units(text[:first]), _units(text[:last])) for first, last in self._spans]
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not (self.is_covered and self._spans):
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
        """Returns where secrets are in a line; a line never wraps."""
        line, start, length = block.layout().lineAt(0), block.position(), block.length() - 1
        places = []
        for first, last in self._places if line.isValid() else ():
            if first < start + length and last > start:
                left, right = (_x(line.cursorToX(min(max(at - start, 0), length))) for at in (first, last))
                places.append(QRectF(QPointF(left, line.y()), QPointF(right, line.y() + line.height())))
        return places

    def _cover(self, painter: QPainter, place: QRectF) -> None:
        painter.fillRect(place, self._theme.color("surface"))
        painter.setPen(self._theme.color("text.muted"))
        dots = DOT * max(1, round(place.width() / QFontMetricsF(self.font()).horizontalAdvance(DOT)))
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, dots)


def _x(found: object) -> float:
    """Returns a place, which PySide6 gives with or without the cursor that belongs to it."""
    return float(found[0] if isinstance(found, tuple) else found)  # type: ignore[arg-type]


def _units(text: str) -> int:
    """Returns the length of a text for Qt, in UTF-16 units."""
    return len(text) + sum(ord(sign) > 0xFFFF for sign in text)


MOST_LINES = 10  # in sight at once; the rest scrolls
LONGEST = 2_000  # lines; each of them costs three fills, and nobody reads more in a small window
LOOKS = {"+": ("diff.add", "success.text"), "-": ("diff.remove", "error.text")}
"""The fill of a line, and the colour of its sign."""


class DiffView(CodeView):
    """A view of lines that begin with "+", "-" or " "; long ones are wrapped.

    Args:
        width: px that it will have; the height of wrapped text depends on it.
    """

    def __init__(self, theme: Theme, lines: Sequence[str], name: str, *, width: int) -> None:
        shown = [f"{line[:1]} {line[1:]}" for line in lines[:LONGEST]]
        if len(lines) > LONGEST:
            shown.append(f"  {tr('… and {count} more lines', count=f'{len(lines) - LONGEST:,}')}")
        self._theme, self._signs = theme, [line[:1] for line in shown]
        super().__init__(theme, "\n".join(shown), name)
        self.wrap(width, MOST_LINES)
        theme.changed.connect(self._fill)
        self._fill()

    def _fill(self) -> None:
        fills = []
        for place, sign in enumerate(self._signs):
            if sign in LOOKS:
                fill, color = (self._theme.color(token) for token in LOOKS[sign])
                fills += self._filled(place, fill)
                fills.append(_selection(self._cursor(place, 1), fill, color))
        self.setExtraSelections(fills)

    def _filled(self, place: int, fill: QColor) -> list[QTextEdit.ExtraSelection]:
        """Fills a line to the view's edge: Qt fills all parts of a wrapped one but the last, which needs a selection of its
        own at its end.
        """
        ink, whole = self._theme.color("text.primary"), self._cursor(place)
        last = QTextCursor(whole)
        last.clearSelection()
        return [_selection(cursor, fill, ink, is_to_edge=True) for cursor in (whole, last)]

    def _cursor(self, place: int, length: int = 0) -> QTextCursor:
        """Returns a cursor that selects a line, or so many of its first characters."""
        cursor = QTextCursor(self.document().findBlockByNumber(place))
        move = QTextCursor.MoveOperation.NextCharacter if length else QTextCursor.MoveOperation.EndOfBlock
        cursor.movePosition(move, QTextCursor.MoveMode.KeepAnchor, length or 1)
        return cursor


def _selection(cursor: QTextCursor, fill: QColor, ink: QColor, *, is_to_edge: bool = False) -> QTextEdit.ExtraSelection:
    selection = QTextEdit.ExtraSelection()
    selection.cursor = cursor
    selection.format.setBackground(fill)
    selection.format.setForeground(ink)
    selection.format.setProperty(QTextFormat.Property.FullWidthSelection, is_to_edge)
    return selection
