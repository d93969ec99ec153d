"""What reading the settings and all files with servers in them again would do; it is done after a yes."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent

from tooltray.errors import Problem
from tooltray.snapshots.files import ReloadChange
from tooltray.ui.files.file_words import reload_does_something, reload_file, reload_look, reload_name
from tooltray.ui.i18n import say, tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.sheet_frame import SheetFrame
from tooltray.ui.widgets.surface import Surface, column
from tooltray.ui.widgets.table import Column, Kind, Table

WIDTH = 760


class ReloadPlanPanel(SheetFrame):
    """`confirmed`: it is to be done; whoever carries it out calls `show_refusal`, or closes the sheet."""

    confirmed = Signal()

    def __init__(self, theme: Theme, changes: Sequence[ReloadChange]) -> None:
        super().__init__(theme, tr("Read the files again"), WIDTH)
        self._what = Label(theme, "", "body", "secondary", wrap=True)
        self.body.addWidget(self._what)
        columns = [
            Column(tr("Name"), reload_name, Kind.TEXT, 148),
            Column(tr("Change"), reload_look, Kind.STATE, 132),
            Column(tr("Details"), lambda each: say(each.detail), Kind.QUIET),
            Column(tr("File"), reload_file, Kind.QUIET, 140, lambda each: each.file),
        ]
        self._table = Table(
            theme, columns, tr("What changes"), lambda each: (each.file, each.kind, each.name, each.detail), in_card=True, has_header=True
        )
        self._box = Surface(theme, "surface", "border", "m")
        column(self._box, margins=(14, 1, 14, 1)).addWidget(self._table)
        self.body.addWidget(self._box)
        self.buttons.addStretch(1)
        self._cancel = Button(theme, tr("Cancel"))
        self._cancel.clicked.connect(self.close_requested)
        self.buttons.addWidget(self._cancel)
        self._go = Button(theme, tr("Reload now"), "primary")
        self._go.clicked.connect(self._on_go)
        self.buttons.addWidget(self._go)
        self.show_plan(changes)

    def show_plan(self, changes: Sequence[ReloadChange]) -> None:
        """Shows what would be done as the files are now."""
        is_something = reload_does_something(changes)
        text = tr("This is what changes. Calls to other servers go on. Nothing is done yet.")
        quiet = (
            tr("Nothing changes. What stands here needs you first.")
            if changes
            else tr("What runs is what the files say. There is nothing to do.")
        )
        self._what.setText(text if is_something else quiet)
        self._table.set_rows(changes)
        self._table.fit_height()
        self._box.setVisible(bool(changes))
        self._can_go = is_something
        self._go.setVisible(is_something)
        self._cancel.setText(tr("Cancel") if is_something else tr("Close"))
        self._set_busy(False)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._cancel.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_refusal(self, problem: Problem) -> None:
        self._set_busy(False)
        self.show_fault(problem)

    def _on_go(self) -> None:
        self._set_busy(True)
        self.show_fault(None)
        self.confirmed.emit()

    def _set_busy(self, is_busy: bool) -> None:
        self._go.setText(tr("Reading…") if is_busy else tr("Reload now"))
        self._go.setEnabled(self._can_go and not is_busy)
