"""Addresses of things in the window: `tooltray://open`, `tooltray://servers/NAME`, and `tooltray://install?...`, which fills the sheet that
adds a server. Any page of the web may have such a link.

Resources of servers have URIs with the same scheme (catalogue/resource_uris.py); only AI clients use these, and they cannot be opened."""

from urllib.parse import unquote, urlsplit

from PySide6.QtCore import QEvent, QObject, Qt, QUrl, Signal
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

SCHEME = "tooltray"
LONGEST = 2048  # characters
LONGEST_INSTALL = 64 * 1024  # as sources/entries/links.py has it, which reads them; a longer one is shown cut off, and refused there


class OpenedAddresses(QObject):
    """What macOS hands to the program while it runs, in place of starting it again.

    `opened` carries each address. `reopened`: the user has opened the app, and it shows no window.
    """

    opened = Signal(str)
    reopened = Signal()

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        app.installEventFilter(self)
        app.applicationStateChanged.connect(self._on_state_changed)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FileOpen and isinstance(event, QFileOpenEvent) and event.url().scheme() == SCHEME:
            self.opened.emit(event.url().toString(QUrl.ComponentFormattingOption.FullyEncoded))
            return True
        return False

    def _on_state_changed(self, state: Qt.ApplicationState) -> None:
        """Handles what Qt sends each time an app is opened, also if it was active before; and when a window of it is clicked."""
        if state == Qt.ApplicationState.ApplicationActive and not any(each.isVisible() for each in QApplication.topLevelWidgets()):
            self.reopened.emit()


def server_of_link(link: str) -> str:
    """Returns the server in an address; empty without one."""
    try:
        parts = urlsplit(link[:LONGEST])
    except ValueError:
        return ""
    is_server = parts.scheme == SCHEME and parts.netloc == "servers"
    return unquote(parts.path.removeprefix("/")) if is_server else ""


def install_link(link: str) -> str:
    """Returns the address if it adds a server; else an empty text."""
    is_install = link[: len(_INSTALL) + 1].lower().rstrip("/?") == _INSTALL
    return link[: LONGEST_INSTALL + 1] if is_install else ""


_INSTALL = f"{SCHEME}://install"
