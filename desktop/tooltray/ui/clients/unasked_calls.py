"""Which calls of one kind of AI client go through unasked: by each server's settings, or by rules in their place."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.option_list import OptionList
from tooltray.ui.widgets.surface import column, row

BY_SERVERS, BY_RULES = "servers", "rules"


class UnaskedCalls(QWidget):
    """`chosen` carries the rules, None for the servers' own. Rules count when a person saves them."""

    chosen = Signal(object)

    def __init__(self, theme: Theme, rules: tuple[str, ...] | None) -> None:
        super().__init__()
        self._rules = rules
        layout = column(self, spacing=8)
        options = [(BY_SERVERS, tr("As each server's settings say")), (BY_RULES, tr("By these rules in their place"))]
        self._whose = OptionList(theme, options, name=tr("Calls that run without asking"), may_be_empty=False)
        self._whose.changed.connect(self._on_whose)
        layout.addWidget(self._whose)
        self._own = QWidget()
        lines = column(self._own, spacing=8)
        line = row(spacing=8)
        self._field = QLineEdit()
        self._field.setFont(theme.font("mono"))
        self._field.setFixedHeight(theme.size("control"))
        self._field.setAccessibleName(tr("Rules, with commas between"))
        self._field.textChanged.connect(self._draw)
        self._field.returnPressed.connect(self._on_save)
        line.addWidget(self._field, 1)
        self._save = Button(theme, tr("Save"))
        self._save.clicked.connect(self._on_save)
        line.addWidget(self._save)
        lines.addLayout(line)
        text = tr("read, write, all, names:get_* or a tool's name, with commas between. Empty: every call asks.")
        lines.addWidget(Label(theme, text, "caption", "muted", wrap=True))
        layout.addWidget(self._own)
        self._show()

    def set_rules(self, rules: tuple[str, ...] | None) -> None:
        """Shows what counts now; what a person is writing stays while nothing has changed."""
        if rules != self._rules:
            self._rules = rules
            self._show()
        elif rules is not None:  # a choice that did not work goes back
            self._whose.set_chosen([BY_RULES])
            self._draw()

    def _show(self) -> None:
        self._whose.set_chosen([BY_SERVERS if self._rules is None else BY_RULES])
        self._field.setText(", ".join(self._rules or ()))
        self._draw()

    @property
    def _written(self) -> list[str]:
        return [part.strip() for part in self._field.text().split(",") if part.strip()]

    def _draw(self) -> None:
        self._own.setVisible(self._whose.chosen == [BY_RULES])
        self._save.setEnabled(self._rules is None or self._written != list(self._rules))

    def _on_whose(self) -> None:
        self._draw()
        if self._whose.chosen == [BY_SERVERS] and self._rules is not None:
            self.chosen.emit(None)
        elif self._whose.chosen == [BY_RULES]:
            self._field.setFocus()

    def _on_save(self) -> None:
        if self._save.isEnabled():
            self.chosen.emit(self._written)
