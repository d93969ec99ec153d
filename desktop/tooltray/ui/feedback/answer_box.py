"""A box for an answer: text, and below it the pictures and files that were pasted, dropped or chosen. Knows nothing of reports."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QMimeData, QObject, QSize, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QFileDialog, QPlainTextEdit, QSizePolicy, QWidget
from shiboken6 import isValid

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.ui.feedback.attachments import Attachment, AttachmentChip, Source, check_room, has_sources, read, sources_of
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import IconButton
from tooltray.ui.widgets.card_grid import FlowArea
from tooltray.ui.widgets.surface import Surface, column, row
from tooltray.ui.zoom import px

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
        layout = column(self, margins=(4, 4, 10, 10), spacing=4)
        layout.addWidget(self.field)
        line = row(margins=(8, 0, 0, 0))
        self._tray = FlowArea(TWO_LINES)
        holder = QWidget()  # keeps the button at the right while there is no picture
        column(holder).addWidget(self._tray)
        line.addWidget(holder, 1)
        self._add = IconButton(theme, "image", "", small=True)
        self._add.clicked.connect(self._on_add)
        line.addWidget(self._add, 0, Qt.AlignmentFlag.AlignBottom)
        layout.addLayout(line)
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
