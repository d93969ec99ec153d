"""A picture or a file that goes with an answer, with a button that takes it out again."""

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from tooltray.ui import icons
from tooltray.ui.feedback.attachments import Attachment, size_words
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.keyboard_focus import PaintedButton
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import column, row

PICTURE, FILE = QSize(96, 64), QSize(216, 64)
REMOVE_SIDE = 22  # the disc has 18; the rest is for the ring and for unsteady hands
DISC_ALPHA = 0.75  # the cross has to be seen on any picture


class RemoveButton(PaintedButton):
    """A cross on a dark disc."""

    def __init__(self, theme: Theme, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFixedSize(REMOVE_SIDE, REMOVE_SIDE)
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
            painter.drawEllipse(QRectF(self.rect()).adjusted(2, 2, -2, -2))
            icons.draw(
                painter, "x", QRectF(6, 6, 10, 10), self._theme.color("switch.knob" if self._theme.mode == "light" else "text.primary")
            )


class AttachmentChip(QWidget):
    """`remove_requested` is told by its button, or by Delete while the button has the focus."""

    remove_requested = Signal(object)  # Attachment

    def __init__(self, theme: Theme, attachment: Attachment) -> None:
        super().__init__()
        self._theme, self.attachment = theme, attachment
        words = size_words(attachment.size_bytes)
        if attachment.path:
            words = tr("{size}, sent as its path", size=words)
        self.setAccessibleName(f"{attachment.name}, {words}")
        self.setToolTip(f"{attachment.name}\n{words}")
        self.setFixedSize(FILE if attachment.thumbnail is None else PICTURE)
        if attachment.thumbnail is None:
            self._write(words)
        self.remove = RemoveButton(theme, tr("Remove {name}", name=attachment.name), self)
        self.remove.move(self.width() - REMOVE_SIDE - 2, 2)
        self.remove.clicked.connect(self._on_remove)

    def _write(self, words: str) -> None:
        line = row(self, margins=(10, 8, REMOVE_SIDE + 4, 8), spacing=8)
        line.addWidget(Icon(self._theme, "folder" if self.attachment.path else "log", 16, "text.secondary", "surface.sunken"))
        lines = column()
        lines.addStretch(1)
        lines.addWidget(ElidedLabel(self._theme, self.attachment.name, "caption_strong", mode=Qt.TextElideMode.ElideMiddle))
        lines.addWidget(Label(self._theme, words, "caption", "muted"))
        lines.addStretch(1)
        line.addLayout(lines, 1)

    def _on_remove(self) -> None:
        self.remove_requested.emit(self.attachment)

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
    """Where a picture lies so that it fills the box; a small one lies in the middle."""
    shown = (
        size
        if size.width() <= box.width() and size.height() <= box.height()
        else size.scaled(box, Qt.AspectRatioMode.KeepAspectRatioByExpanding)
    )
    return QRectF((box.width() - shown.width()) / 2, (box.height() - shown.height()) / 2, shown.width(), shown.height())
