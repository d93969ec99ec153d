"""Text in one of the theme's styles and tones, elided or wrapped, never clipped."""

import re

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent, QTextLayout
from PySide6.QtWidgets import QLabel, QSizePolicy

from tooltray.ui.server_text import plain_tip
from tooltray.ui.theme import Theme
from tooltray.ui.zoom import px

BREAK = "\u200b"  # a space without width: where a line may end
LONGEST_WHOLE, PIECE = 32, 8  # characters; a label wraps between words only, and a path is one word
PART = re.compile(r"[^/\\]*[/\\]+|[^/\\]+")  # of a path: a line may end behind each


class Label(QLabel):
    """A label with a text style (`title`, `body`, ...) and a tone (`primary`, `secondary`, `muted`, `error`, ...)."""

    def __init__(
        self, theme: Theme, text: str = "", style: str = "body", tone: str = "primary", *, wrap: bool = False, tabular: bool = False
    ) -> None:
        super().__init__(text)
        self.setFont(theme.font(style, tabular=tabular))
        self.setProperty("tone", tone)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        if wrap:
            self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self.setMinimumHeight(theme.line(style))

    def set_tone(self, tone: str) -> None:
        """Changes the colour; a style sheet evaluates a property only after `polish`."""
        if tone != self.property("tone"):
            self.setProperty("tone", tone)
            self.style().unpolish(self)
            self.style().polish(self)


ENDS_WITH_NAME = re.compile(r"""(?!.*\. ).*['"”」][.。]?|.*[:：]\s?\S*[/\\]\S+""")
"""One sentence with a quoted name at its end, or a text with a path there, behind a colon."""
QUOTED_END = re.compile(r"""(.*?)\s?((?:'[^']+'|"[^"]+"|“[^”]+”|「[^」]+」)[.。]?)""")
"""A text and the quoted name at its end, such as a package's."""
LEAST_BEFORE_NAME = 48  # px of the words before a name that is kept whole; with less room both are cut


class ElidedLabel(Label):
    """One line, or a few, with an ellipsis where the text is cut: at its end, or in its middle if what it names is there. The full text is
    its tooltip and its name for screen readers. `lines_changed` carries the number of lines.

    Args:
        hugs: it asks for no more room than its text needs; otherwise it takes what its layout has.
    """

    lines_changed = Signal(int)

    def __init__(
        self,
        theme: Theme,
        text: str = "",
        style: str = "body",
        tone: str = "primary",
        *,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        hugs: bool = False,
    ) -> None:
        super().__init__(theme, text, style, tone)
        self._mode = mode
        self._full = text
        self._explanation = self._shorter = ""
        self._most_lines = self._line_count = 1
        self.setSizePolicy(QSizePolicy.Policy.Preferred if hugs else QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setAccessibleName(text)

    def set_text(self, text: str, explanation: str = "", shorter: str = "") -> None:
        """Shows `text` on one line, line breaks as spaces; `explanation` is the tooltip even if the text fits; `shorter` is shown where
        the text does not fit.
        """
        text = " ".join(text.splitlines())
        if (text, explanation, shorter) != (self._full, self._explanation, self._shorter):
            self._full, self._explanation, self._shorter = text, explanation, shorter
            self.setAccessibleName(text)
            self._elide()

    def set_most_lines(self, count: int) -> None:
        """Sets to how many lines it wraps before it is cut; at first 1."""
        if count != self._most_lines:
            self._most_lines = count
            self._elide()

    def sizeHint(self) -> QSize:
        margins, hint = self.contentsMargins(), super().sizeHint()
        return QSize(QFontMetrics(self.font()).size(0, self._full).width() + margins.left() + margins.right(), hint.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(px(24), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        is_named = self._mode is Qt.TextElideMode.ElideRight and ENDS_WITH_NAME.fullmatch(self._full)
        mode = Qt.TextElideMode.ElideMiddle if is_named else self._mode
        metrics = QFontMetrics(self.font())
        is_long = self._shorter and metrics.horizontalAdvance(self._full) > self.width()
        shown = metrics.elidedText(self._shorter if is_long else self._full, mode, self.width())
        if is_named and shown != self._full and (parts := QUOTED_END.fullmatch(self._full)):
            room = self.width() - metrics.horizontalAdvance(f" {parts[2]}")
            shown = f"{metrics.elidedText(parts[1], self._mode, room)} {parts[2]}" if room >= px(LEAST_BEFORE_NAME) else shown
        lines = [shown]
        if self._most_lines > 1 and shown != self._full:
            lines = self._wrapped()
        self.setText("\n".join(lines))
        self.setToolTip(plain_tip(self._explanation or (self._full if lines != [self._full] else "")))
        if len(lines) != self._line_count:
            self._line_count = len(lines)
            self.lines_changed.emit(len(lines))

    def _wrapped(self) -> list[str]:
        """Returns the lines of the text at the width of now, the last one cut if more are needed than it may have."""
        layout, lines, start = QTextLayout(self._full, self.font()), list[str](), 0
        layout.beginLayout()
        while len(lines) < self._most_lines and (line := layout.createLine()).isValid():
            line.setLineWidth(max(1, self.width()))
            lines.append(self._full[line.textStart() : line.textStart() + line.textLength()].strip())
            start = line.textStart()
        layout.endLayout()
        return [*lines[:-1], QFontMetrics(self.font()).elidedText(self._full[start:].strip(), self._mode, self.width())]


class CodeLabel(Label):
    """A value from code in mono: wrapped, also inside long words, so that nothing is hidden.

    It cannot be selected: the characters that let long words break would be copied, too.
    """

    def __init__(self, theme: Theme, text: str = "", tone: str = "primary") -> None:
        super().__init__(theme, "", "mono", tone, wrap=True)
        self.set_text(text)

    def set_text(self, text: str) -> None:
        self.setAccessibleName(text)
        self.setText(breakable(text))


def breakable(text: str) -> str:
    """Returns a text whose long words can be wrapped, paths behind their separators; not for copying, since it contains invisible
    characters.
    """
    return " ".join(_breakable(word) for word in text.split(" "))


def _breakable(word: str) -> str:
    if len(word) <= LONGEST_WHOLE:
        return word
    parts = (part if len(part) <= LONGEST_WHOLE else _pieces(part) for part in PART.findall(word))
    return BREAK.join(parts)


def _pieces(text: str) -> str:
    return BREAK.join(text[place : place + PIECE] for place in range(0, len(text), PIECE))
