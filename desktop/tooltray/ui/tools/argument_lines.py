"""Lines for the arguments of a prompt or the variables of a template; the server proposes values while the user types."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QStringListModel, Qt, QTimer, Signal
from PySide6.QtWidgets import QCompleter, QLineEdit, QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.tools.offered import Argument
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.server_text import one_line, seen
from tooltray.ui.widgets.surface import column, row

ASKED_AFTER_MS = 250  # a pause in typing; each question goes to the server
LONGEST_VALUE = 32_767  # characters; what a line of Qt's holds
MOST_PROPOSED = 100  # the protocol's own limit


class ArgumentLines(QWidget):
    """Fields for arguments. `completion_requested` carries an argument and the text in it; `entered`: Enter was pressed."""

    changed = Signal()
    entered = Signal()
    completion_requested = Signal(str, str)

    def __init__(self, theme: Theme, arguments: Sequence[Argument]) -> None:
        super().__init__()
        self._arguments = arguments
        self._lines: dict[str, QLineEdit] = {}
        self._typed = ""
        self._pause = QTimer(self, singleShot=True, interval=ASKED_AFTER_MS)
        self._pause.timeout.connect(self._on_pause)
        layout = column(self, spacing=4)
        for argument in arguments:
            head = row(spacing=6)
            head.addWidget(Label(theme, one_line(argument.name, 80), "label"), 1)
            if argument.is_required:
                head.addWidget(Label(theme, tr("required"), "caption", "secondary"))
            layout.addLayout(head)
            layout.addWidget(self._line(theme, argument))
            if argument.description:
                layout.addWidget(Label(theme, argument.description, "caption", "secondary", wrap=True))
            layout.addSpacing(8)

    @property
    def values(self) -> dict[str, str]:
        """The typed values, without empty ones."""
        return {name: line.text() for name, line in self._lines.items() if line.text()}

    @property
    def is_complete(self) -> bool:
        """Whether all required values are typed."""
        return all(self._lines[each.name].text() for each in self._arguments if each.is_required and each.name in self._lines)

    def focus(self) -> None:
        """Moves the focus to the first line that needs a value."""
        lines = [self._lines[each.name] for each in self._arguments if each.is_required and not self._lines[each.name].text()]
        for line in (lines or list(self._lines.values()))[:1]:
            line.setFocus(Qt.FocusReason.OtherFocusReason)

    def propose(self, argument: str, written: str, values: Sequence[str]) -> None:
        """Shows possible values of an argument, unless its text has changed since the request."""
        line = self._lines.get(argument)
        if line is None or line.text() != written:
            return
        completer = line.completer()
        model = completer.model() if completer is not None else None
        if isinstance(model, QStringListModel):
            model.setStringList([seen(value).replace("\n", " ") for value in values[:MOST_PROPOSED]])
            if values and line.hasFocus() and values != [written]:
                completer.complete()

    def _line(self, theme: Theme, argument: Argument) -> QLineEdit:
        line = QLineEdit()
        line.setMaxLength(LONGEST_VALUE)
        line.setFont(theme.font())
        line.setFixedHeight(theme.size("control"))
        line.setAccessibleName(argument.name)
        line.setAccessibleDescription(argument.description)
        completer = QCompleter(QStringListModel(line), line)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)  # the server has filtered
        if (popup := completer.popup()) is not None:
            popup.setFont(theme.font())
            popup.setAccessibleName(tr("Proposals for {name}", name=argument.name))
        line.setCompleter(completer)
        line.textEdited.connect(partial(self._on_edited, argument.name))
        line.textChanged.connect(self.changed)
        line.returnPressed.connect(self.entered)
        self._lines[argument.name] = line
        return line

    def _on_edited(self, name: str, _text: str) -> None:
        self._typed = name
        self._pause.start()

    def _on_pause(self) -> None:
        if (line := self._lines.get(self._typed)) is not None:
            self.completion_requested.emit(self._typed, line.text())
