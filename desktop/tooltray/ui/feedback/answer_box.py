"""A box for an answer: text, and below it the pictures and files that were pasted, dropped or chosen: read, checked, scaled down, and shown
as chips. `read` blocks and belongs in a thread; it explains why a file cannot be attached before anything is sent. Knows nothing of
reports."""

import base64
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import QBuffer, QByteArray, QEvent, QIODevice, QMimeData, QMimeDatabase, QObject, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QImageReader, QImageWriter, QPainter, QPainterPath, QPaintEvent, QPen, QTextCursor
from PySide6.QtWidgets import QFileDialog, QPlainTextEdit, QSizePolicy, QWidget
from shiboken6 import isValid

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.questions import FeedbackAttachment
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.ui import icons
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import IconButton, PaintedButton
from tooltray.ui.widgets.card_grid import FlowArea
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import Surface, column, fill, row
from tooltray.ui.zoom import px

MIB = 2**20
LARGEST_PICTURE_BYTES = 5 * MIB // 4 * 3  # as base64 5 MiB, what services of models take
LONGEST_SIDE = 8000  # pixels; the same services refuse longer ones
LARGEST_FILE_BYTES = MIB  # larger ones are named by their path, which the AI client can read itself
LARGEST_ANSWER_BYTES = 20 * MIB  # all together; in base64 it is one line of the control channel
MOST_PIXELS = 50_000_000  # of one picture: 200 MB in memory; compressed, a few kilobytes can claim any size
MOST_ATTACHMENTS = 20
THUMBNAIL = QSize(288, 192)  # pixels: 96 x 64 on a screen of 300 %
LONGEST_NAME = 120  # characters
PICTURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff", "image/gif": b"GIF8", "image/webp": b"RIFF"}
"""Kinds that models take, and how their files begin."""
BINARY = "application/octet-stream"
PASTED_NAME = "picture"

Source = str | bytes | QImage
"""The path of a file, a picture's file as bytes, or pixels."""


class Attachment(msgspec.Struct, frozen=True):
    """A file attached to an answer; `thumbnail` is None for files that are not pictures."""

    name: str
    mime_type: str
    size_bytes: int
    data: bytes = b""  # empty where `path` says where it is
    path: str = ""
    thumbnail: QImage | None = None

    def for_engine(self) -> FeedbackAttachment:
        return FeedbackAttachment(self.name, self.mime_type, base64.b64encode(self.data).decode(), self.path)


def sources_of(mime: QMimeData) -> list[Source]:
    """Returns the files and pictures in what is pasted or dropped; empty where it is text.

    A table or a page copied from an office program is text with a picture: the text is meant.
    """
    files: list[Source] = [url.toLocalFile() for url in mime.urls() if url.isLocalFile()]
    if files:
        return files
    if mime.hasFormat("text/plain") and mime.text().strip():
        return []
    for kind in PICTURES:
        if mime.hasFormat(kind) and (data := bytes(mime.data(kind).data())):
            return [data]
    image = mime.imageData() if mime.hasImage() else None
    return [image] if isinstance(image, QImage) and not image.isNull() else []


def has_sources(mime: QMimeData) -> bool:
    """Returns whether `sources_of` will find something; reads nothing, since it is called during a drag."""
    return mime.hasImage() or mime.hasUrls() or any(mime.hasFormat(kind) for kind in PICTURES)


def read(source: Source) -> Attachment:
    """Reads and checks what the user has added. Blocks.

    Raises:
        TooltrayError: it cannot be attached, with the reason.
    """
    if isinstance(source, str):
        return _read_file(source)
    if isinstance(source, QImage):
        return _from_pixels(source)
    kind = picture_kind(source)
    if not kind:
        raise TooltrayError(tr("The picture cannot be read"), "", tr("Save it as a file and add that."))
    return _picture(source, f"{PASTED_NAME}.{kind.removeprefix('image/')}", kind)


def check_room(present: Sequence[Attachment], new: Attachment) -> None:
    """Raises:
    TooltrayError: one more attachment is too much for one answer.
    """
    title = tr("'{name}' does not fit any more", name=new.name)
    if len(present) >= MOST_ATTACHMENTS:
        raise TooltrayError(title, tr("An answer takes {count} pictures and files.", count=MOST_ATTACHMENTS))
    left = LARGEST_ANSWER_BYTES - sum(len(each.data) for each in present)
    if len(new.data) > left:
        most = size_words(LARGEST_ANSWER_BYTES)
        raise TooltrayError(title, tr("An answer takes {most} in all; {left} are left.", most=most, left=size_words(left)))


def picture_kind(data: bytes) -> str:
    """Returns the MIME type of a picture that models accept, by the file's first bytes; empty for everything else."""
    for kind, start in PICTURES.items():
        if data.startswith(start) and (kind != "image/webp" or data[8:12] == b"WEBP"):
            return kind
    return ""


def size_words(size_bytes: int) -> str:
    """Returns a size with its unit, as people read it."""
    for unit, one in (("MiB", MIB), ("KiB", 1024)):
        if size_bytes >= one:
            return f"{size_bytes / one:.1f} {unit}"
    return f"{size_bytes} B"


def harmless_name(name: str) -> str:
    """Returns a file's name for display and sending: bounded, and without characters that cannot be seen."""
    shown = "".join(sign if sign.isprintable() else "_" for sign in name)
    return shown if len(shown) <= LONGEST_NAME else "…" + shown[1 - LONGEST_NAME :]


def _read_file(path: str) -> Attachment:
    name = harmless_name(Path(path).name)
    try:
        found = os.stat(path)
        if stat.S_ISDIR(found.st_mode):
            raise TooltrayError(tr("'{name}' is a folder", name=name), "", tr("Add the files in it, or write its path."))
        if not stat.S_ISREG(found.st_mode):  # reading from a pipe or a device may never end
            raise TooltrayError(tr("'{name}' is not a file", name=name))
        with open(path, "rb") as file:
            data = file.read(LARGEST_PICTURE_BYTES + 1)
    except OSError as error:
        raise TooltrayError(tr("'{name}' cannot be read", name=name), error.strerror or str(error)) from None
    if not data:
        raise TooltrayError(tr("'{name}' is empty", name=name))
    if kind := picture_kind(data):
        return _picture(data, name, kind, found.st_size)
    mime_type = QMimeDatabase().mimeTypeForFile(path).name() or BINARY
    if len(data) > LARGEST_FILE_BYTES:
        return Attachment(name, mime_type, found.st_size, path=os.path.abspath(path))
    return Attachment(name, BINARY if mime_type in PICTURES else mime_type, len(data), data)  # named like a picture, and none


def _picture(data: bytes, name: str, kind: str, size_bytes: int = 0) -> Attachment:
    size_bytes = max(len(data), size_bytes)
    if size_bytes > LARGEST_PICTURE_BYTES:
        what = tr("It has {size}; a picture may have {most}.", size=size_words(size_bytes), most=size_words(LARGEST_PICTURE_BYTES))
        raise _too_large(name, what)
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(kind.removeprefix("image/").encode()))
    reader.setAutoTransform(True)
    size = reader.size()  # from the head of the file: nothing is unpacked yet
    _check_pixels(name, size)
    if size.isValid():
        reader.setScaledSize(_thumbnail_size(size))
    shown = reader.read()
    if shown.isNull():
        raise TooltrayError(tr("'{name}' cannot be read", name=name), tr("It is a damaged picture."))
    return Attachment(name, kind, size_bytes, data, thumbnail=shown)


def _from_pixels(image: QImage) -> Attachment:
    name = f"{PASTED_NAME}.png"
    _check_pixels(name, image.size())
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return _picture(bytes(buffer.data().data()), name, "image/png")


def _check_pixels(name: str, size: QSize) -> None:
    width, height = size.width(), size.height()
    if max(width, height) > LONGEST_SIDE:
        what = tr("It has {width} x {height} points; a side may have {most}.", width=width, height=height, most=LONGEST_SIDE)
        raise _too_large(name, what)
    if width * height > MOST_PIXELS:
        millions = MOST_PIXELS // 10**6
        raise _too_large(name, tr("It has {width} x {height} points, more than {most} million.", width=width, height=height, most=millions))


def _too_large(name: str, what: str) -> TooltrayError:
    return TooltrayError(tr("'{name}' is too large", name=name), what, tr("Cut out the part that matters."))


def _thumbnail_size(size: QSize) -> QSize:
    """Returns the size at which a picture just covers its thumbnail; small pictures keep their size."""
    wanted = size.scaled(THUMBNAIL, Qt.AspectRatioMode.KeepAspectRatioByExpanding)
    longest = 4 * THUMBNAIL.width()  # a picture of 1 x 50,000 points is not made any larger
    is_small = wanted.width() <= min(size.width(), longest) and wanted.height() <= longest
    return wanted if is_small else size.boundedTo(QSize(longest, longest))


PICTURE, FILE = QSize(96, 64), QSize(216, 64)
REMOVE_SIDE = 22  # the disc has 18; the rest is for the ring and for unsteady hands
DISC_ALPHA = 0.75  # the cross has to be seen on any picture


class RemoveButton(PaintedButton):
    """A cross on a dark disc."""

    def __init__(self, theme: Theme, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFixedSize(px(REMOVE_SIDE), px(REMOVE_SIDE))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(name)
        self.setToolTip(name)

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            ring = QPen(self._theme.color("accent"), 2) if self.shows_focus else QPen(Qt.PenStyle.NoPen)
            painter.setPen(ring)
            painter.setBrush(self._theme.color("scrim", 1.0 if self.underMouse() else DISC_ALPHA))
            painter.drawEllipse(QRectF(self.rect()).adjusted(px(2), px(2), -px(2), -px(2)))
            ink = self._theme.color("switch.knob" if self._theme.mode == "light" else "text.primary")
            icons.draw(painter, "x", QRectF(px(6), px(6), px(10), px(10)), ink)


class AttachmentChip(QWidget):
    """A chip with an attached file.

    Args:
        remove: removes it, when its button is pressed.
    """

    def __init__(self, theme: Theme, attachment: Attachment, remove: Callable[["AttachmentChip"], object]) -> None:
        super().__init__()
        self._theme, self.attachment = theme, attachment
        words = size_words(attachment.size_bytes)
        if attachment.path:
            words = tr("{size}, sent as its path", size=words)
        self.setAccessibleName(f"{attachment.name}, {words}")
        self.setToolTip(f"{attachment.name}\n{words}")
        self.setFixedSize((FILE if attachment.thumbnail is None else PICTURE) * px(1.0))
        if attachment.thumbnail is None:
            icon = Icon(theme, "folder" if attachment.path else "log", 16, "text.secondary", "surface.sunken")
            name = ElidedLabel(theme, attachment.name, "caption_strong", mode=Qt.TextElideMode.ElideMiddle)
            lines = fill(column(), 1, name, Label(theme, words, "caption", "muted"), 1)
            fill(row(self, margins=(10, 8, REMOVE_SIDE + 4, 8)), icon, (lines, 1))
        self.remove = RemoveButton(theme, tr("Remove {name}", name=attachment.name), self)
        self.remove.move(self.width() - px(REMOVE_SIDE) - px(2), px(2))
        self.remove.clicked.connect(lambda: remove(self))

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme, picture = self._theme, self.attachment.thumbnail
        with QPainter(self) as painter:
            painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
            frame = QPainterPath()
            frame.addRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), theme.radius("m"), theme.radius("m"))
            painter.fillPath(frame, theme.color("surface.sunken"))
            if picture is not None:
                painter.setClipPath(frame)
                painter.drawImage(_covering(QSize(picture.size()), self.size()), picture)
                painter.setClipping(False)
            painter.setPen(theme.color("border.strong"))
            painter.drawPath(frame)


def _covering(size: QSize, box: QSize) -> QRectF:
    """Returns the rectangle in which a picture fills the box; a small one is centred."""
    is_small = size.width() <= box.width() and size.height() <= box.height()
    shown = size if is_small else size.scaled(box, Qt.AspectRatioMode.KeepAspectRatioByExpanding)
    return QRectF((box.width() - shown.width()) / 2, (box.height() - shown.height()) / 2, shown.width(), shown.height())


LOWEST, HIGHEST = 64, 160  # logical pixels of the text; it grows with what is written
TWO_LINES = 134  # logical pixels of chips; more are scrolled to
CHROME = 20  # logical pixels around the text
LONGEST_PASTE = 100_000  # characters; a model gets no more, and a whole log pasted by mistake must not freeze the window


class AnswerText(QPlainTextEdit):
    """A text field.

    Args:
        add: gets pasted or dropped files and pictures.
    """

    def __init__(self, theme: Theme, add: Callable[[Sequence[Source]], object]) -> None:
        super().__init__()
        self._add = add
        self.setFont(theme.font())
        self.setTabChangesFocus(True)
        self.setStyleSheet("QPlainTextEdit { border: none; background: transparent; }")
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setMinimumHeight(px(LOWEST))
        self.setMaximumHeight(px(HIGHEST))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.document().documentLayout().documentSizeChanged.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        """Returns a height that fits the text, within bounds."""
        lines = round(self.document().size().height())
        return QSize(super().sizeHint().width(), min(px(HIGHEST), max(px(LOWEST), lines * self.fontMetrics().lineSpacing() + px(CHROME))))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, px(LOWEST))

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return has_sources(source) or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        if sources := sources_of(source):
            self._add(sources)
        elif source.hasText():
            self.insertPlainText(source.text()[:LONGEST_PASTE])


class AnswerBox(Surface):
    """A box for an answer.

    Args:
        changed: called when text or pictures have changed, or a file is being read.
        refused: gets why a file was not attached.
    """

    def __init__(self, theme: Theme, spawn: Spawn, *, changed: Callable[[], object], refused: Callable[[Problem], object]) -> None:
        super().__init__(theme, "surface", "border.control", "m")
        self._spawn, self._changed, self._refused = spawn, changed, refused
        self._reading = 0
        self._chips: list[AttachmentChip] = []
        self.field = AnswerText(theme, self.add)
        self.field.installEventFilter(self)
        self.field.textChanged.connect(changed)
        self._tray = FlowArea(TWO_LINES)
        holder = QWidget()  # keeps the button at the right while there is no picture
        fill(column(holder), self._tray)
        self._add = IconButton(theme, "image", "", small=True, on_click=self._on_add)
        line = fill(row(margins=(8, 0, 0, 0)), (holder, 1))
        line.addWidget(self._add, 0, Qt.AlignmentFlag.AlignBottom)
        fill(column(self, margins=(4, 4, 10, 10), spacing=4), self.field, line)
        self.retranslate()

    @property
    def text(self) -> str:
        return self.field.toPlainText()

    @property
    def attachments(self) -> list[Attachment]:
        return [chip.attachment for chip in self._chips]

    @property
    def is_empty(self) -> bool:
        return not self.text.strip() and not self._chips

    @property
    def is_reading(self) -> bool:
        """Whether a file is still being read."""
        return self._reading > 0

    def retranslate(self) -> None:
        self.field.setPlaceholderText(tr("Write your answer, or paste a picture"))
        self.field.setAccessibleName(tr("Your answer"))
        self._add.set_name(tr("Add a picture or file"))

    def set_content(self, text: str, attachments: Sequence[Attachment]) -> None:
        self.field.setPlainText(text)
        self.field.moveCursor(QTextCursor.MoveOperation.End)
        for attachment in attachments:
            self._take(attachment)

    def append(self, text: str) -> None:
        """Appends a sentence on a line of its own, and moves the cursor there."""
        cursor = self.field.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(f"\n{text}" if self.text.strip() else text)
        self.field.setTextCursor(cursor)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def add(self, sources: Sequence[Source]) -> None:
        """Reads what was pasted, dropped or chosen and shows it; `refused` carries why something cannot be attached."""
        self._reading += 1
        self._changed()
        self._spawn(self._read(list(sources)), name="reading what was added to an answer")

    async def _read(self, sources: Sequence[Source]) -> None:
        for source in sources:
            try:
                attachment = await finish_in_thread(read, source)
                if isValid(self):
                    check_room(self.attachments, attachment)
                    self._take(attachment)
            except TooltrayError as error:
                if isValid(self):
                    self._refused(error.problem)
        if isValid(self):  # the window may have been closed meanwhile
            self._reading -= 1
            self._changed()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Draws the text field's focus as the border of the whole box."""
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self._border = "accent" if event.type() == QEvent.Type.FocusIn else "border.control"
            self.update()
        return False

    def _take(self, attachment: Attachment) -> None:
        chip = AttachmentChip(self._theme, attachment, self._remove)
        self._chips.append(chip)
        self._tray.add(chip)
        self._changed()

    def _remove(self, chip: AttachmentChip) -> None:
        self._chips.remove(chip)
        self._tray.remove(chip)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self._changed()

    def _on_add(self) -> None:
        dialog = QFileDialog(self.window(), tr("Add a picture or file"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(self.add)
        dialog.open()
