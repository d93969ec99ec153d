"""What a person can do with the one server that a card or its details show: the slots of their buttons.

Above it: cards and details. Below it: the wishes of all servers, and the menu.
"""

from PySide6.QtCore import QObject, QPoint
from PySide6.QtWidgets import QWidget

from tooltray.snapshots.servers import ServerSnapshot
from tooltray.ui.pages.server_wishes import ServerWishes
from tooltray.ui.servers.server_menu import ServerMenu
from tooltray.ui.servers.server_words import Action
from tooltray.ui.theme import Theme

BELOW_BUTTON = 2  # px between a button and its menu


class ServerActions(QObject):
    """Goes with its view, which keeps `server` up to date."""

    def __init__(self, theme: Theme, view: QWidget, *, server: ServerSnapshot, wishes: ServerWishes) -> None:
        super().__init__(view)
        self._theme, self._view, self._wishes = theme, view, wishes
        self.server = server

    def perform(self, action: Action) -> None:
        """Does what a button offers; what only the view can do, it does itself."""
        wishes = self._wishes
        wanted = {
            Action.START: wishes.start_requested,
            Action.RETRY: wishes.restart_requested,
            Action.CANCEL: wishes.stop_requested,
            Action.SIGN_IN: wishes.sign_in_requested,
            Action.CANCEL_SIGN_IN: wishes.sign_in_cancel_requested,
            Action.TRUST: wishes.trust_requested,
            Action.CHOOSE_FOLDER: wishes.folder_requested,
        }
        if action in wanted:
            wanted[action].emit(self.server.name)

    def stop(self) -> None:
        self._wishes.stop_requested.emit(self.server.name)

    def sign_in(self) -> None:
        """Also shows the page of a sign-in that has begun again."""
        self._wishes.sign_in_requested.emit(self.server.name)

    def copy_sign_in_address(self) -> None:
        self._wishes.sign_in_address_requested.emit(self.server.name)

    def start_anyway(self) -> None:
        self._wishes.start_anyway_requested.emit(self.server.name)

    def show_why(self) -> None:
        self._wishes.diagnosis_requested.emit(self.server.name)

    def show_log(self) -> None:
        self._wishes.log_requested.emit(self.server.name)

    def switch_tool(self, tool: str, on: bool) -> None:
        self._wishes.tool_switch_requested.emit(self.server.name, tool, on)

    def open_menu(self, button: QWidget) -> None:
        """Opens the menu below a button."""
        menu = ServerMenu(self._theme, self.server, self._wishes, self._view)
        menu.popup(button.mapToGlobal(QPoint(0, button.height() + BELOW_BUTTON)))
