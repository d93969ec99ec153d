"""A diff: sign, fill and text, so that it can be read without colour too. Read-only and selectable."""

from collections.abc import Sequence

from PySide6.QtGui import QColor, QTextCursor, QTextFormat
from PySide6.QtWidgets import QTextEdit

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.code_view import CodeView

MOST_LINES = 10  # in sight at once; the rest scrolls
LONGEST = 2_000  # lines; each of them costs three fills, and nobody reads more in a small window
LOOKS = {"+": ("diff.add", "success.text"), "-": ("diff.remove", "error.text")}
"""The fill of a line, and the colour of its sign."""


class DiffView(CodeView):
    """Lines that begin with "+", "-" or " "; long ones are wrapped.

    Args:
        width: px that it will have; how high wrapped text is depends on it.
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
        """Fills a line to the view's edge: Qt does so for all parts of a wrapped one but the last, which is named by its end alone."""
        ink, whole = self._theme.color("text.primary"), self._cursor(place)
        last = QTextCursor(whole)
        last.clearSelection()
        return [_selection(cursor, fill, ink, is_to_edge=True) for cursor in (whole, last)]

    def _cursor(self, place: int, length: int = 0) -> QTextCursor:
        """Selects a line, or so many of its first characters."""
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
