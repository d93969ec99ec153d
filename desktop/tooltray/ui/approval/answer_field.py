"""One field of a server's form: the question, the control for the answer, and what is wrong with it."""

from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from tooltray.foundation.snapshots.questions import AnswerKind, ElicitationField
from tooltray.ui.approval import answers
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Switch
from tooltray.ui.widgets.choice import OptionList
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import column, row

LONGEST_ANSWER = 32_767  # characters; what a line of Qt's holds


class AnswerField(QWidget):
    """A field of a server's form. Nothing is remembered: only the server's own default is filled in."""

    def __init__(self, theme: Theme, field: ElicitationField) -> None:
        super().__init__()
        self._theme, self._field = theme, field
        self._is_fault_shown = False
        self._layout = column(self, spacing=4)
        self._layout.addLayout(self._question())
        self._text: QLineEdit | None = None
        self._switch: Switch | None = None
        self._options: OptionList | None = None
        match field.kind:
            case AnswerKind.BOOLEAN:
                self._add_switch()
            case AnswerKind.CHOICE | AnswerKind.CHOICES:
                self._add_options()
            case _:
                self._add_text()
        if field.description:
            self._layout.addWidget(Label(theme, field.description, "caption", "secondary", wrap=True))
        self._fault = Label(theme, "", "caption", "error", wrap=True)
        self._fault.hide()
        self._layout.addWidget(self._fault)

    @property
    def name(self) -> str:
        return self._field.name

    @property
    def value(self) -> answers.Value | None:
        """The answer in the form for the server; None without one. Only without `fault`."""
        if self._switch is not None:
            return self._switch.isChecked()
        if self._options is not None:
            return answers.choice_value(self._field, self._options.chosen)
        return answers.text_value(self._field, self._text.text()) if self._text is not None else None

    @property
    def fault(self) -> str:
        """What is wrong with the answer, in words; empty if it can be sent."""
        if self._options is not None:
            return answers.choice_fault(self._field, self._options.chosen)
        return answers.text_fault(self._field, self._text.text()) if self._text is not None else ""

    @property
    def control(self) -> QWidget:
        """The widget for the keyboard."""
        control = self._text or self._switch or (self._options.first if self._options is not None else None)
        assert control is not None
        return control

    def show_fault(self) -> None:
        """Shows the error in the answer from now on, also while the user corrects it."""
        self._is_fault_shown = True
        self._draw_fault()

    def _question(self) -> QHBoxLayout:
        line = row(spacing=6)
        self._title = Label(self._theme, self._field.title, "label", wrap=True)
        line.addWidget(self._title, 1)
        if not self._field.is_required and self._field.kind is not AnswerKind.BOOLEAN:
            line.addWidget(Label(self._theme, tr("optional"), "caption", "muted"))
        return line

    def _add_text(self) -> None:
        default = self._field.default
        text = QLineEdit(f"{default:.15g}" if isinstance(default, int | float) else str(default or ""))
        text.setMaxLength(LONGEST_ANSWER)
        text.setFont(self._theme.font())
        text.setFixedHeight(self._theme.size("control"))
        text.setAccessibleName(self._field.title)
        text.setAccessibleDescription(self._field.description)
        text.setPlaceholderText(answers.EXAMPLES.get(self._field.format, ""))
        text.textChanged.connect(self._on_changed)
        self._text = text
        self._layout.addWidget(text)

    def _add_switch(self) -> None:
        line = row()
        self._switch = Switch(self._theme, self._field.title, on=bool(self._field.default))
        self._switch.toggled.connect(self._on_changed)
        line.addWidget(self._switch)
        self._word = Label(self._theme, "", "body", "secondary")
        line.addWidget(self._word)
        line.addStretch(1)
        self._layout.addLayout(line)
        self._draw_word()

    def _add_options(self) -> None:
        field, default = self._field, self._field.default
        self._options = OptionList(
            self._theme,
            [(option.value, option.title) for option in field.options],
            name=field.title,
            chosen=[default] if isinstance(default, str) else default if isinstance(default, tuple) else [],
            takes_many=field.kind is AnswerKind.CHOICES,
            may_be_empty=not field.is_required,
        )
        self._options.changed.connect(self._on_changed)
        self._layout.addWidget(self._options)

    def _on_changed(self) -> None:
        self._draw_word()
        if self._is_fault_shown:
            self._draw_fault()

    def _draw_word(self) -> None:
        if self._switch is not None:
            self._word.setText(tr("Yes") if self._switch.isChecked() else tr("No"))

    def _draw_fault(self) -> None:
        self._fault.setText(self.fault)
        self._fault.setVisible(bool(self.fault))
