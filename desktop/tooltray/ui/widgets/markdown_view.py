"""Markdown of a model as readable text: our fonts, real paragraph spacing, and nothing that is fetched or run.

Knows nothing of who wrote the text. HTML stays text; pictures are replaced by their words before the layout, since Qt would look for them
on the disk; a click on a link emits a signal, and nothing is opened."""

from PySide6.QtCore import QSize, QUrl, Signal
from PySide6.QtGui import (
    QFont,
    QImage,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrame,
    QTextFrameFormat,
    QTextTable,
    QTextTableFormat,
)
from PySide6.QtWidgets import QTextBrowser

from tooltray.ui.i18n import tr
from tooltray.ui.server_text import seen
from tooltray.ui.theme import Theme
from tooltray.ui.zoom import px

LINE_HEIGHT, PARAGRAPH_GAP, LIST_GAP, INDENT = 20, 8, 2, 18
CELL_PADDING = 5
IS_CODE = QTextFormat.Property.UserProperty + 1  # ours: survives a second styling after a theme switch
LONGEST_TEXT = 32_000  # characters; a whole log would freeze the window
MOST_BLOCKS = 2_000  # paragraphs and cells; a table of 30,000 cells takes Qt 9 s
DEEPEST = 16  # marks of quotations in a row; each is a frame within a frame
FEATURES = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML


class MarkdownView(QTextBrowser):
    """A view of Markdown. `link_chosen` carries the address of a link that the user wants to follow."""

    link_chosen = Signal(str)

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._theme = theme
        self.setOpenLinks(False)
        self.setOpenExternalLinks(False)
        self.setUndoRedoEnabled(False)
        self.setAccessibleName(name)
        self.anchorClicked.connect(self._on_link)
        self.highlighted.connect(self._on_hovered)
        theme.changed.connect(self._style)

    def set_markdown(self, text: str) -> None:
        document = QTextDocument(self)
        document.setDefaultFont(self._theme.font())
        document.setDocumentMargin(0)
        document.setIndentWidth(px(INDENT))
        shown = harmless(text)
        document.setMarkdown(shown, FEATURES)
        if document.blockCount() > MOST_BLOCKS:
            document.setPlainText(shown)
        _replace_pictures(document)
        self.setDocument(document)
        self._style()

    def sizeHint(self) -> QSize:
        return self.minimumSizeHint()  # it takes what the others leave

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Loads nothing; an empty picture keeps Qt from looking for one itself."""
        return QImage(1, 1, QImage.Format.Format_ARGB32_Premultiplied)

    def _on_link(self, url: QUrl) -> None:
        self.link_chosen.emit(url.toString(QUrl.ComponentFormattingOption.FullyEncoded))

    def _on_hovered(self, url: QUrl) -> None:
        self.setToolTip(url.toString(QUrl.ComponentFormattingOption.FullyEncoded))

    def _style(self) -> None:
        edit = QTextCursor(self.document())
        edit.beginEditBlock()  # one layout for all
        block = self.document().begin()
        while block.isValid():
            self._style_block(block)
            block = block.next()
        for frame in _tables(self.document().rootFrame()):
            self._style_table(frame)
        edit.endEditBlock()

    def _style_table(self, table: QTextTable) -> None:
        shape = QTextTableFormat(table.format().toTableFormat())
        shape.setCellPadding(px(CELL_PADDING))
        shape.setBorder(1)
        shape.setBorderCollapse(True)
        shape.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        shape.setBorderBrush(self._theme.color("border.control"))
        shape.setBottomMargin(px(PARAGRAPH_GAP))
        table.setFormat(shape)

    def _style_block(self, block: QTextBlock) -> None:
        shape = QTextBlockFormat(block.blockFormat())
        in_list = block.textList() is not None and block.next().textList() is not None
        shape.setTopMargin(0)
        in_table = QTextCursor(block).currentTable() is not None
        shape.setBottomMargin(0 if in_table else px(LIST_GAP) if in_list else px(PARAGRAPH_GAP))
        shape.setLineHeight(px(LINE_HEIGHT), QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        QTextCursor(block).setBlockFormat(shape)
        is_code = block.blockFormat().hasProperty(QTextFormat.Property.BlockCodeLanguage) or block.blockFormat().hasProperty(
            QTextFormat.Property.BlockCodeFence
        )
        for start, length, style in _spans(block):
            cursor = QTextCursor(self.document())
            cursor.setPosition(start)
            cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
            cursor.setCharFormat(self._styled(style, is_heading=shape.headingLevel() > 0, is_code=is_code))

    def _styled(self, style: QTextCharFormat, *, is_heading: bool, is_code: bool) -> QTextCharFormat:
        """Returns a span's format in our fonts and colours, without anything else that Qt has added."""
        is_code = (is_code or style.fontFixedPitch() or style.hasProperty(IS_CODE)) and not is_heading
        is_strong = style.fontWeight() > QFont.Weight.Medium
        new = QTextCharFormat()
        new.setFont(self._theme.font("heading" if is_heading else "mono" if is_code else "strong" if is_strong else "body"))
        new.setForeground(self._theme.color("code.key" if is_code else "text.primary"))
        if is_code:
            new.setProperty(IS_CODE, True)
        new.setFontItalic(style.fontItalic())
        new.setFontStrikeOut(style.fontStrikeOut())
        if style.isAnchor() and style.anchorHref():
            new.setAnchor(True)
            new.setAnchorHref(style.anchorHref())
            new.setForeground(self._theme.color("accent.text"))
            new.setFontUnderline(True)
        return new


def words_of(text: str) -> str:
    """Returns Markdown as plain text without its markup, for the history."""
    document = QTextDocument()
    document.setMarkdown(harmless(text), FEATURES)
    _replace_pictures(document)
    return document.toPlainText()


def harmless(text: str) -> str:
    """Returns a model's text without invisible characters, bounded in length and in depth."""
    shown = seen(text)
    if len(shown) > LONGEST_TEXT:
        shown = shown[:LONGEST_TEXT] + "…"
    return "\n".join(_shallow(line) for line in shown.split("\n"))


def _shallow(line: str) -> str:
    """Returns a line with at most DEEPEST levels of nesting at its start."""
    rest = line.lstrip(" \t>-+*")
    start = line[: len(line) - len(rest)]
    return line if len(start) <= 4 * DEEPEST else start[: 4 * DEEPEST] + rest


def _tables(frame: QTextFrame) -> list[QTextTable]:
    """Returns all tables in a frame, including tables in quotations."""
    found = []
    for child in frame.childFrames():
        found += [child] if isinstance(child, QTextTable) else _tables(child)
    return found


def _spans(block: QTextBlock) -> list[tuple[int, int, QTextCharFormat]]:
    """Returns the pieces of a block with the same format, each with its position and length."""
    spans = []
    walk = block.begin()
    while not walk.atEnd():
        fragment = walk.fragment()
        spans.append((fragment.position(), fragment.length(), fragment.charFormat()))
        walk += 1
    return spans


def _replace_pictures(document: QTextDocument) -> None:
    """Replaces pictures by their words, from the last to the first, so that positions stay right."""
    found = []
    block = document.begin()
    while block.isValid():
        found += [(start, length, _picture_name(style)) for start, length, style in _spans(block) if style.isImageFormat()]
        block = block.next()
    for start, length, name in reversed(found):
        cursor = QTextCursor(document)
        cursor.setPosition(start)
        cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(tr("[picture, not loaded: {name}]", name=name), QTextCharFormat())


def _picture_name(style: QTextCharFormat) -> str:
    return style.stringProperty(QTextFormat.Property.ImageAltText) or style.toImageFormat().name()
