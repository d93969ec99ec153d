"""The user's own calls that are visible now: a server's question about such a call is shown there, and not over the window."""

from PySide6.QtCore import QObject, Signal


class OpenAttempts(QObject):
    """The calls that are visible in a sheet. `changed`: a call was shown or hidden."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._shown: set[str] = set()

    def show(self, attempt: str) -> None:
        """Marks a call as visible."""
        self._shown.add(attempt)
        self.changed.emit()

    def leave(self, attempt: str) -> None:
        """Marks a call as no longer visible."""
        self._shown.discard(attempt)
        self.changed.emit()

    def is_shown(self, attempt: str) -> bool:
        return attempt in self._shown
