"""A picture that a server sent, decoded with a limit that is checked before anything is decoded, since the size in its header may be
wrong."""

import base64
import binascii

import msgspec
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QImageReader, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.zoom import px

MOST_BYTES = 16_000_000  # of the file; larger ones can be saved
MOST_PIXELS = 40_000_000  # 160 MB in memory; a photograph of a phone has 12 million
PIXELS_AT_ONCE = 3_000_000  # decoded without being asked: 20 ms; a screenshot has 2 million
MOST_SHOWN = 2_000  # px of a side; more than a window shows
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

    @property
    def is_small(self) -> bool:
        return self.width * self.height <= PIXELS_AT_ONCE


def decoded_base64(text: str) -> bytes | None:
    """Returns the bytes of a Base64 text; None if it is not Base64."""
    try:
        return base64.b64decode(text, validate=False)
    except (binascii.Error, ValueError):
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
    """Returns the picture, scaled down to MOST_SHOWN px on its longer side; None if it is damaged."""
    reader, _buffer = _reader(file.content, file.format)
    size = QSize(file.width, file.height)
    if max(file.width, file.height) > MOST_SHOWN:
        reader.setScaledSize(size.scaled(MOST_SHOWN, MOST_SHOWN, Qt.AspectRatioMode.KeepAspectRatio))
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

    def __init__(self, theme: Theme, image: QImage, name: str, *, most_height: int) -> None:
        super().__init__()
        self._theme, self._image, self._most_height = theme, image, most_height
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
        room = QSize(min(width, size.width()), min(px(self._most_height), size.height()))
        return size.scaled(room, Qt.AspectRatioMode.KeepAspectRatio)

    def paintEvent(self, _event: QPaintEvent) -> None:
        place = QRectF(0, 0, self._fitted(self.width()).width(), self._fitted(self.width()).height())
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.fillRect(place, self._theme.color("surface.sunken"))
            painter.drawImage(place, self._image)
