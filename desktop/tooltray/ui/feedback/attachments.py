"""Pictures and files that the user adds to an answer: read, checked, scaled down, and shown as chips. `read` blocks and belongs in a
thread; it explains why a file cannot be attached before anything is sent."""

import base64
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMimeData, QMimeDatabase, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QImageReader, QImageWriter, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.questions import FeedbackAttachment
from tooltray.ui import icons
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import PaintedButton
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import column, row
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
    if len(present) >= MOST_ATTACHMENTS:
        raise TooltrayError(
            tr("'{name}' does not fit any more", name=new.name), tr("An answer takes {count} pictures and files.", count=MOST_ATTACHMENTS)
        )
    total = sum(len(each.data) for each in present) + len(new.data)
    if total > LARGEST_ANSWER_BYTES:
        left = size_words(LARGEST_ANSWER_BYTES - total + len(new.data))
        most = size_words(LARGEST_ANSWER_BYTES)
        title = tr("'{name}' does not fit any more", name=new.name)
        raise TooltrayError(title, tr("An answer takes {most} in all; {left} are left.", most=most, left=left))


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
    return (
        wanted if wanted.width() <= min(size.width(), longest) and wanted.height() <= longest else size.boundedTo(QSize(longest, longest))
    )


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
            icons.draw(
                painter,
                "x",
                QRectF(px(6), px(6), px(10), px(10)),
                self._theme.color("switch.knob" if self._theme.mode == "light" else "text.primary"),
            )


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
            self._write(words)
        self.remove = RemoveButton(theme, tr("Remove {name}", name=attachment.name), self)
        self.remove.move(self.width() - px(REMOVE_SIDE) - px(2), px(2))
        self.remove.clicked.connect(lambda: remove(self))

    def _write(self, words: str) -> None:
        line = row(self, margins=(10, 8, REMOVE_SIDE + 4, 8), spacing=8)
        line.addWidget(Icon(self._theme, "folder" if self.attachment.path else "log", 16, "text.secondary", "surface.sunken"))
        lines = column()
        lines.addStretch(1)
        lines.addWidget(ElidedLabel(self._theme, self.attachment.name, "caption_strong", mode=Qt.TextElideMode.ElideMiddle))
        lines.addWidget(Label(self._theme, words, "caption", "muted"))
        lines.addStretch(1)
        line.addLayout(lines, 1)

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
    shown = (
        size
        if size.width() <= box.width() and size.height() <= box.height()
        else size.scaled(box, Qt.AspectRatioMode.KeepAspectRatioByExpanding)
    )
    return QRectF((box.width() - shown.width()) / 2, (box.height() - shown.height()) / 2, shown.width(), shown.height())
