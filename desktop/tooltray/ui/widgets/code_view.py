"""Code, JSON and logs in the mono style: selectable, and editable where a person pastes something."""

import re

from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QFontMetricsF, QSyntaxHighlighter, QTextCharFormat, QTextDocument, QTextLayout, QTextOption
from PySide6.QtWidgets import QFrame, QPlainTextEdit

from tooltray.ui.theme import Theme

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
    """Text in mono that never wraps."""

    def __init__(self, theme: Theme, text: str, name: str, *, lines: int = 0, editable: bool = False, json: bool = False) -> None:
        super().__init__(text)
        self.setProperty("code", True)
        self.setFont(theme.font("mono"))
        self.setReadOnly(not editable)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(4)
        if editable:
            self.setUndoRedoEnabled(True)
        else:
            self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard)
        if lines:
            self.set_lines(lines)
        if json:
            self._colors = JsonColors(theme, self.document())

    def set_lines(self, lines: int) -> None:
        """Makes the view as high as so many lines."""
        self.setFixedHeight(int(lines * QFontMetricsF(self.font()).lineSpacing()) + CHROME + BAR)

    def wrap(self, width: int, most_lines: int) -> None:
        """Wraps long lines: for what must not be hidden beyond an edge. As high as its lines, up to `most_lines`; then it scrolls.

        Args:
            width: px that the view will have.
        """
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setWordWrapMode(WRAP)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        lines = 0
        for text in self.toPlainText().split("\n", most_lines)[:most_lines]:
            lines += self._parts(text[:LONGEST_MEASURED], width - CHROME - BAR)  # a bar that has come for a moment would stay
        self.setFixedHeight(int(min(lines, most_lines) * QFontMetricsF(self.font()).lineSpacing()) + CHROME)

    def _parts(self, text: str, width: int) -> int:
        """How many lines a line becomes that is wrapped."""
        layout = QTextLayout(text, self.font())
        option = QTextOption()
        option.setWrapMode(WRAP)
        layout.setTextOption(option)
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width)
        layout.endLayout()
        return layout.lineCount()

    def insertFromMimeData(self, source: QMimeData) -> None:
        if source.hasText():
            self.insertPlainText(source.text()[:LONGEST_PASTE])
