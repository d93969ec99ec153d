"""The person's browser, as the window meets it: an address is opened."""

from PySide6.QtCore import QObject, QUrl, Slot


class Browser(QObject):
    """Stands in for it; `opened` are the addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    @Slot(QUrl)
    def visit(self, url: QUrl) -> None:
        self.opened.append(url.toString())
