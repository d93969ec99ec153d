"""The place over the window for one sheet at a time."""

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from tooltray.ui.theme import Theme
from tooltray.ui.widgets.sheet import Sheet


class Sheets(QObject):
    """`freed`: nothing lies over the window any more. `replacing`: what lies there goes, since a person has asked for something else."""

    freed = Signal()
    replacing = Signal()

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._theme, self._window = theme, window
        self._sheet: Sheet | None = None

    @property
    def sheet(self) -> Sheet | None:
        """What lies over the window now."""
        return self._sheet

    @property
    def panel(self) -> QWidget | None:
        """What that sheet shows."""
        return self._sheet.panel if self._sheet is not None else None

    def open(self, panel: QWidget, *, closes_outside: bool = True) -> Sheet:
        """Opens a sheet; there is none yet."""
        sheet = self._sheet = Sheet(self._theme, self._window, panel, closes_outside=closes_outside)
        sheet.closed.connect(self._on_closed)
        sheet.show()
        return sheet

    def replace(self, panel: QWidget) -> Sheet:
        """Opens a sheet in place of what lies over the window."""
        if self._sheet is not None:
            self.replacing.emit()
            self._sheet.dismiss()
        return self.open(panel)

    def _on_closed(self) -> None:
        self._sheet = None
        QTimer.singleShot(0, self, self._tell_freed)  # unless another sheet takes its place at once

    def _tell_freed(self) -> None:
        if self._sheet is None:
            self.freed.emit()
