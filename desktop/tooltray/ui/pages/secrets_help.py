"""What to do when secrets cannot be kept or read: try again, an encrypted file, or memory. A person chooses; nothing falls back by
itself."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit

from tooltray.errors import Problem
from tooltray.ui.i18n import tr
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import Surface, column, row

PASSPHRASE_WIDTH = 320  # px


class SecretsHelp(Surface):
    """`chosen` carries "keyring", "file" or "memory", and the passphrase for the file."""

    chosen = Signal(str, str)

    def __init__(self, theme: Theme, problem: Problem) -> None:
        super().__init__(theme, "warning.subtle", None, "m")
        self._theme = theme
        layout = column(self, margins=(14, 12, 14, 12), spacing=8)
        self._title = Label(theme, title(problem), "caption_strong", "warning", wrap=True)
        layout.addWidget(self._title)
        self._text = Label(theme, sentences(problem), "caption", "secondary", wrap=True)
        layout.addWidget(self._text)
        ways = row()
        again = Button(theme, tr("Try again"), small=True)
        again.clicked.connect(self._on_keyring)
        ways.addWidget(again)
        memory = Button(theme, tr("Only in memory"), small=True)
        memory.setToolTip(tr("Forgotten when Tooltray ends"))
        memory.clicked.connect(self._on_memory)
        ways.addWidget(memory)
        ways.addStretch(1)
        layout.addLayout(ways)
        layout.addLayout(self._file_line())

    def _file_line(self) -> QHBoxLayout:
        theme, line = self._theme, row()
        self._passphrase = QLineEdit()
        self._passphrase.setEchoMode(QLineEdit.EchoMode.Password)
        self._passphrase.setPlaceholderText(tr("Passphrase for the file"))
        self._passphrase.setAccessibleName(tr("Passphrase for the file"))
        self._passphrase.setFont(theme.font())
        self._passphrase.setFixedHeight(theme.size("control_small"))
        self._passphrase.setMaximumWidth(PASSPHRASE_WIDTH)
        self._passphrase.returnPressed.connect(self._on_file)
        self._passphrase.textChanged.connect(self._on_passphrase_changed)
        line.addWidget(self._passphrase, 1)
        self._file = Button(theme, tr("Use an encrypted file"), small=True)
        self._file.setEnabled(False)
        self._file.clicked.connect(self._on_file)
        line.addWidget(self._file)
        line.addStretch(0)
        return line

    def set_problem(self, problem: Problem) -> None:
        self._title.setText(title(problem))
        self._text.setText(sentences(problem))

    def _on_passphrase_changed(self, text: str) -> None:
        self._file.setEnabled(bool(text))

    def _on_file(self) -> None:
        if self._passphrase.text():
            self.chosen.emit("file", self._passphrase.text())

    def _on_memory(self) -> None:
        self.chosen.emit("memory", "")

    def _on_keyring(self) -> None:
        self.chosen.emit("keyring", "")
