"""A server's answer for the user to read: text, JSON as a tree, Markdown, pictures, files and links. Nothing in it is run or fetched.
However large an answer is, only its beginning is laid out; the rest is shown after a click, or saved. Each view of a part is built when it
is first shown. A picture is decoded with a limit that is checked before anything is decoded, since the size in its header may be wrong."""

import base64
import re
from collections.abc import Callable, Mapping, Sequence

import msgspec
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPointF, QRectF, QSaveFile, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QImage, QImageReader, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QSizePolicy, QWidget

from tooltray.foundation.errors import Problem
from tooltray.ui.i18n import many, tr
from tooltray.ui.results.json_tree import JsonTree
from tooltray.ui.results.result_parts import Part, as_json, parts_of, whole_text
from tooltray.ui.server_text import broken, seen
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import show_error
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.markdown_view import MarkdownView
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.surface import Surface, clear, column, fill, row
from tooltray.ui.zoom import px

MOST_BYTES = 16_000_000  # of the file; larger ones can be saved
MOST_PIXELS = 40_000_000  # 160 MB in memory; a photograph of a phone has 12 million
PIXELS_AT_ONCE = 3_000_000  # decoded without being asked: 20 ms; a screenshot has 2 million
LONGEST_SIDE = 2_000  # px; more than a window shows
PICTURE_HEIGHT = 480  # px
MAGIC = ((b"\x89PNG\r\n\x1a\n", b"png"), (b"\xff\xd8\xff", b"jpeg"), (b"GIF87a", b"gif"), (b"GIF89a", b"gif"), (b"BM", b"bmp"))


class PictureFile(msgspec.Struct, frozen=True):
    """A picture before it is decoded.

    Attributes:
        width, height: px, from the file's header.
        problem: why it cannot be shown; empty: it can be tried.
    """

    content: bytes
    format: bytes = b""
    width: int = 0
    height: int = 0
    problem: str = ""


def decoded_base64(text: str) -> bytes | None:
    """Returns the bytes of a Base64 text; None if it is not Base64."""
    try:
        return base64.b64decode(text, validate=False)
    except ValueError:
        return None


def look_at(content: bytes) -> PictureFile:
    """Reads a picture's header."""
    format = _format(content)
    if not format:
        return PictureFile(content, problem=tr("This picture format cannot be shown here."))
    if len(content) > MOST_BYTES:
        return PictureFile(content, format, problem=tr("It is too large to be shown; save it to open it elsewhere."))
    reader, _buffer = _reader(content, format)
    size = reader.size()
    if not size.isValid() or size.isEmpty():
        return PictureFile(content, format, problem=tr("It is damaged."))
    if size.width() * size.height() > MOST_PIXELS:
        sides = f"{size.width():,} × {size.height():,}"
        return PictureFile(content, format, problem=tr("It is too large to show here: {size} pixels.", size=sides))
    return PictureFile(content, format, size.width(), size.height())


def decode(file: PictureFile) -> QImage | None:
    """Returns the picture, scaled down to LONGEST_SIDE on its longer side; None if it is damaged."""
    reader, _buffer = _reader(file.content, file.format)
    size = QSize(file.width, file.height)
    if max(file.width, file.height) > LONGEST_SIDE:
        reader.setScaledSize(size.scaled(LONGEST_SIDE, LONGEST_SIDE, Qt.AspectRatioMode.KeepAspectRatio))
    image = reader.read()
    return None if image.isNull() else image


def _format(content: bytes) -> bytes:
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return b"webp"
    return next((format for magic, format in MAGIC if content.startswith(magic)), b"")


def _reader(content: bytes, format: bytes) -> tuple[QImageReader, QBuffer]:
    buffer = QBuffer()
    buffer.setData(QByteArray(content))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(format))
    reader.setAutoDetectImageFormat(False)
    return reader, buffer


class Picture(QWidget):
    """A picture as wide as it fits, never larger than its own size."""

    def __init__(self, theme: Theme, image: QImage, name: str) -> None:
        super().__init__()
        self._theme, self._image = theme, image
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return self._fitted(self._image.width())

    def minimumSizeHint(self) -> QSize:
        return QSize(px(24), px(24))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setFixedHeight(max(1, self._fitted(self.width()).height()))

    def _fitted(self, width: int) -> QSize:
        size = self._image.size()
        room = QSize(min(width, size.width()), min(px(PICTURE_HEIGHT), size.height()))
        return size.scaled(room, Qt.AspectRatioMode.KeepAspectRatio)

    def paintEvent(self, _event: QPaintEvent) -> None:
        place = QRectF(QPointF(), self._fitted(self.width()).toSizeF())
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.fillRect(place, self._theme.color("surface.sunken"))
            painter.drawImage(place, self._image)


FIRST_SHOWN = 60_000  # characters of a text: 20 ms to lay out
MORE_SHOWN = 250_000  # by one press; 50 ms
MOST_SHOWN = 3_000_000  # then it is for an editor, and can be saved
MOST_LINES = 24  # of one part among several; more scroll inside it
MARKDOWN_SIGNS = re.compile(r"^(?:#{1,6} |[-*] |\d+\. |```|> |\|.*\|)", re.MULTILINE)


class LongText(QWidget):
    """A text in mono that wraps; shows its beginning first, at first `shown` characters."""

    def __init__(self, theme: Theme, text: str, name: str, *, is_alone: bool) -> None:
        super().__init__()
        self._text, self.shown = text, min(len(text), FIRST_SHOWN)
        self._view = CodeView(theme, broken(seen(text[: self.shown])), name)
        self._view.setLineWrapMode(CodeView.LineWrapMode.WidgetWidth)
        self._rest = QWidget()
        self._words = Label(theme, "", "caption", "muted", tabular=True)
        self._more = Button(theme, tr("Show more"), "link", small=True, on_click=self.show_more)
        fill(row(self._rest), self._words, self._more, 1)
        fill(column(self, spacing=6), (self._view, 1), self._rest)
        if not is_alone:
            self._view.set_lines(min(MOST_LINES, max(2, text.count("\n", 0, FIRST_SHOWN) + 1 + len(text[:FIRST_SHOWN]) // 90)))
        self._draw_rest()

    def show_more(self) -> None:
        """Shows the next stretch of the text."""
        more = self._text[self.shown : min(self.shown + MORE_SHOWN, MOST_SHOWN)]
        self.shown += len(more)
        cursor = self._view.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        cursor.insertText(broken(seen(more)))
        self._draw_rest()

    def _draw_rest(self) -> None:
        shown, count = f"{self.shown:,}", f"{len(self._text):,}"
        if self.shown >= MOST_SHOWN:
            self._words.setText(tr("The first {shown} of {count} characters. Save it to see the rest.", shown=shown, count=count))
        else:
            self._words.setText(tr("The first {shown} of {count} characters.", shown=shown, count=count))
        self._rest.setVisible(self.shown < len(self._text))
        self._more.setVisible(self.shown < min(len(self._text), MOST_SHOWN))


class PartView(QWidget):
    """A part with its heading, and a choice of views of its content. Each view is built when it is first shown.

    Args:
        is_alone: it is the only part, and may use the full height.
    """

    save_requested = Signal(object)  # Part

    def __init__(self, theme: Theme, part: Part, number: int, *, is_alone: bool) -> None:
        super().__init__()
        self._theme, self._part, self._is_alone = theme, part, is_alone
        self._name = part.heading or tr("Part {number} of the result", number=number)
        self._layout = column(self, spacing=6)
        self._ways = self._possible_ways()
        self._built: dict[int, QWidget] = {}
        first = 1 if part.mime == "text/markdown" else 0
        if part.heading or len(self._ways) > 1:
            self._add_head(first)
        self._choose(first)

    def _possible_ways(self) -> list[tuple[str, "Callable[[PartView], QWidget]"]]:
        """Returns the titles of the views, and what builds them."""
        part, text = self._part, (tr("Text"), PartView._text)
        if part.kind == "json":
            return [(tr("Tree"), PartView._tree), text]
        if part.kind != "text":
            return [("", PartView._link if part.kind == "link" else PartView._file)]
        is_marked_up = part.mime == "text/markdown" or MARKDOWN_SIGNS.search(part.text[:FIRST_SHOWN]) is not None
        return [text, (tr("Markdown"), PartView._markdown)] if is_marked_up else [text]

    def _add_head(self, first: int) -> None:
        heading = ElidedLabel(self._theme, self._part.heading, "caption_strong", "secondary", mode=Qt.TextElideMode.ElideMiddle)
        line = fill(row(), (heading, 1))
        if len(self._ways) > 1:
            name = tr("How to show {name}", name=self._name)
            tabs = FilterTabs(self._theme, [title for title, _ in self._ways], name=name, have_counts=False)
            tabs.choose(first)
            tabs.chosen.connect(self._choose)
            line.addWidget(tabs)
        self._layout.addLayout(line)

    def _choose(self, way: int) -> None:
        if way not in self._built:
            self._built[way] = self._ways[way][1](self)
            self._layout.addWidget(self._built[way], 1)
        for each, widget in self._built.items():
            widget.setVisible(each == way)

    def _tree(self) -> QWidget:
        tree = JsonTree(self._theme, self._name)
        tree.set_value(self._part.value)
        if not self._is_alone:
            tree.setFixedHeight(tree.content_height(MOST_LINES))
        return tree

    def _markdown(self) -> QWidget:
        view = MarkdownView(self._theme, self._name)
        view.set_markdown(self._part.text)
        if not self._is_alone:
            view.setMinimumHeight(px(160))
        return view

    def _text(self) -> QWidget:
        text = self._part.text if self._part.kind == "text" else as_json(self._part.value)
        return LongText(self._theme, text, self._name, is_alone=self._is_alone)

    def _file(self) -> QWidget:
        return FilePart(self._theme, self._part, self._name, self._on_save)

    def _on_save(self) -> None:
        self.save_requested.emit(self._part)

    def _link(self) -> QWidget:
        theme, address = self._theme, self._part.text
        words = fill(column(), ElidedLabel(theme, seen(address), "mono", mode=Qt.TextElideMode.ElideMiddle))
        if about := " · ".join(filter(None, [self._part.mime, self._part.note])):
            words.addWidget(ElidedLabel(theme, about, "caption", "muted"))
        copy = IconButton(theme, "copy", tr("Copy the address"), small=True, on_click=lambda: QGuiApplication.clipboard().setText(address))
        box = Surface(theme, "surface.sunken", "border", "m")
        icon = Icon(theme, "link", 16, "text.secondary", "surface.sunken")
        fill(row(box, margins=(12, 8, 8, 8)), icon, (words, 1), copy)
        return box


class FilePart(QWidget):
    """A picture, a sound or another file: the picture itself where it can be shown, and the file's facts."""

    def __init__(self, theme: Theme, part: Part, name: str, save: Callable[[], object]) -> None:
        super().__init__()
        self._theme, self._name = theme, name
        self._layout = column(self, spacing=6)
        content = decoded_base64(part.text)
        file = look_at(content) if part.kind == "picture" and content is not None else None
        words = {"picture": tr("Picture"), "audio": tr("Audio")}.get(part.kind, tr("File"))
        sides = f"{file.width:,} × {file.height:,}" if file is not None and file.width else ""
        facts = [words, part.mime, sides, size_words(len(content)) if content is not None else tr("damaged")]
        icon = Icon(theme, "image" if part.kind == "picture" else "log", 16, "text.secondary")
        about = ElidedLabel(theme, " · ".join(filter(None, facts)), "caption", "secondary")
        self._file = file
        self._show = Button(theme, tr("Show picture"), small=True, on_click=self._decode)
        self._show.hide()
        button = Button(theme, tr("Save as…"), small=True, on_click=save)
        button.setEnabled(content is not None)
        self._layout.addLayout(fill(row(), icon, (about, 1), self._show, button))
        if file is not None and file.problem:
            self._layout.addWidget(Label(theme, file.problem, "caption", "warning", wrap=True))
        elif file is not None and file.width * file.height <= PIXELS_AT_ONCE:
            self._decode()
        elif file is not None:
            self._show.show()

    def _decode(self) -> None:
        self._show.hide()
        image = decode(self._file) if self._file is not None else None
        if image is None:
            self._layout.addWidget(Label(self._theme, tr("It is damaged."), "caption", "warning"))
        else:
            self._layout.addWidget(Picture(self._theme, image, self._name))


def size_words(count: int) -> str:
    """Returns a size with its unit."""
    if count < 1_000:
        return tr("{count} bytes", count=count)
    return f"{count / 1_000:.3g} kB" if count < 1_000_000 else f"{count / 1_000_000:.3g} MB"


FIRST_PARTS, MORE_PARTS = 20, 40  # widgets are made for each
ENDINGS = {"picture": "png", "audio": "wav", "file": "bin", "text": "txt", "json": "json"}


class ResultView(QWidget):
    """A view of an answer, empty until `show_result`, which takes a CallToolResult or the answer of a resource or a prompt."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._result: Mapping[str, object] = {}
        self.parts: Sequence[Part] = ()
        self._shown = 0
        area, content = PageScroll(tr("Result"), margin=0, below=0), QWidget()
        self._lines = column(content, spacing=14)
        fill(column(self, spacing=8), self._make_bar(), (area, 1))
        area.setWidget(content)
        self.clear()

    def clear(self) -> None:
        """Shows nothing."""
        self._result, self.parts, self._shown = {}, (), 0
        clear(self._lines)
        self._bar.hide()

    def show_result(self, result: Mapping[str, object]) -> None:
        """Shows an answer; an error is marked."""
        self.clear()
        self._result, self.parts = result, parts_of(result)
        self._bar.show()
        self._state.setVisible(result.get("isError") is True)
        self._about.setText(self._words())
        if isinstance(about := result.get("description"), str) and "messages" in result:
            self._lines.addWidget(Label(self._theme, seen(about[:FIRST_SHOWN]), "body", "secondary", wrap=True))
        self._add_parts(FIRST_PARTS)

    def show_problem(self, problem: Problem) -> None:
        """Shows a problem in place of an answer."""
        self.clear()
        show_error(self._lines, self._theme, problem)
        self._lines.addStretch(1)

    def _make_bar(self) -> QWidget:
        theme, self._bar = self._theme, QWidget()
        self._state = Chip(theme, tr("The tool failed"), "error")
        self._about = Label(theme, "", "caption", "muted", tabular=True)
        self._copied = Label(theme, "", "caption", "muted")
        copy = Button(theme, tr("Copy"), "ghost", "copy", small=True, on_click=self.copy)
        save = Button(theme, tr("Save as…"), "ghost", "download", small=True, on_click=self._on_save)
        fill(row(self._bar), self._state, self._about, 1, self._copied, copy, save)
        return self._bar

    def _words(self) -> str:
        if not self.parts:
            return tr("The answer is empty.")
        count = len(self.parts)
        size = sum(len(part.text) for part in self.parts)
        return " · ".join([many(count, "1 part", "{count} parts"), *([size_words(size)] if size else [])])

    def _add_parts(self, count: int) -> None:
        is_alone = len(self.parts) == 1
        fills = is_alone and self.parts[0].kind in ("text", "json")  # it uses all the height that it can get
        for part in self.parts[self._shown : self._shown + count]:
            self._shown += 1
            view = PartView(self._theme, part, self._shown, is_alone=is_alone)
            view.save_requested.connect(self._save)
            self._lines.addWidget(view, int(fills))
        if self._shown < len(self.parts):
            words = tr("Show {count} more", count=min(MORE_PARTS, len(self.parts) - self._shown))
            self._lines.addWidget(Button(self._theme, words, "link", small=True, on_click=self._on_more))
        if not fills:
            self._lines.addStretch(1)

    def _on_more(self) -> None:
        for _ in range(2):  # the stretch and the button
            item = self._lines.takeAt(self._lines.count() - 1)
            if item is not None and (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self._add_parts(MORE_PARTS)

    def copy(self) -> None:
        """Copies the text to the clipboard, or without text everything as JSON."""
        QGuiApplication.clipboard().setText(whole_text(self.parts, self._result))
        self._copied.setText(tr("Copied"))

    def _on_save(self) -> None:
        self._save(self.parts[0] if len(self.parts) == 1 else None)

    def _save(self, part: Part | None) -> None:
        """Saves a part; None, or a link: the whole result."""
        if part is None or part.kind == "link":
            self._ask_where("result.json", as_json(self._result).encode("utf-8", "replace"))
        elif part.kind in ("text", "json"):
            text = part.text or as_json(part.value)
            self._ask_where(f"result.{_ending(part)}", text.encode("utf-8", "replace"))
        elif (content := decoded_base64(part.text)) is not None:
            self._ask_where(f"result.{_ending(part)}", content)

    def _ask_where(self, name: str, content: bytes) -> None:
        dialog = QFileDialog(self.window(), tr("Save the result"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(name)
        dialog.fileSelected.connect(lambda path: self.save(path, content))
        dialog.open()

    def save(self, path: str, content: bytes) -> None:
        """Writes a file, whole or not at all, and shows the outcome."""
        file = QSaveFile(path)
        is_written = file.open(QSaveFile.OpenModeFlag.WriteOnly) and file.write(content) == len(content) and file.commit()
        self._copied.setText(tr("Saved") if is_written else tr("Could not be saved: {reason}", reason=file.errorString()))


def _ending(part: Part) -> str:
    """Returns the ending of a file's name: the subtype of the server's MIME type, if it is a plain word."""
    if part.kind in ("text", "json"):
        return "md" if part.mime == "text/markdown" else ENDINGS[part.kind]
    kind = part.mime.rpartition("/")[2].lower()
    return {"jpeg": "jpg", "mpeg": "mp3"}.get(kind, kind) if re.fullmatch(r"[a-z0-9]{2,5}", kind) else ENDINGS[part.kind]
