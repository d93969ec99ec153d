"""The user's actions on one server: its menu, and the slots of the buttons of its card and its details."""

from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu, QWidget

from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui import icons
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.destinations import OpenServer
from tooltray.ui.kit.server_actions import in_menu
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.origins import is_of_file
from tooltray.ui.server_words import Action, missing_secret
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import popup_below


class ServerMenu(QMenu):
    """A menu for the server as it is when the menu is opened; deletes itself. `is_short`: with the common actions only."""

    def __init__(self, theme: Theme, server: ServerSnapshot, wishes: ServerWishes, parent: QWidget, *, is_short: bool = False) -> None:
        super().__init__(parent)
        self.setFont(theme.font())
        self.setAccessibleName(tr("More for {name}", name=server.name))
        self.aboutToHide.connect(self.deleteLater)
        for action in in_menu(server, is_short=is_short):
            if action.name == "remove":
                self.addSeparator()
            title = tr("Remove from its file") if action.name == "remove" and is_of_file(server) else say(action.title)
            shown = self.addAction(icons.icon(action.icon, theme.color("text.secondary")), title)
            shown.triggered.connect(partial(action.wish, wishes, server))


class ServerButtons(QObject):
    """What the buttons of a card or a pane do for its server; the view that owns it keeps `server` up to date."""

    def __init__(self, theme: Theme, view: QWidget, *, server: ServerSnapshot, wishes: ServerWishes) -> None:
        super().__init__(view)
        self._theme, self._view, self._wishes = theme, view, wishes
        self.server = server

    def perform(self, action: Action) -> None:
        """Carries out a button's action; the view handles the actions that only it can."""
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
        if action is Action.SECRET:
            wishes.secret_requested.emit(self.server.name, missing_secret(self.server.problem))
        if action is Action.UNLOCK:
            wishes.unlock_requested.emit()
        if action in wanted:
            wanted[action].emit(self.server.name)

    def open(self) -> None:
        """Opens the details of the server."""
        self._wishes.place_requested.emit(OpenServer(self.server.name))

    def stop(self) -> None:
        self._wishes.stop_requested.emit(self.server.name)

    def sign_in(self) -> None:
        """Requests a sign-in, or shows the page of one that was started again."""
        self._wishes.sign_in_requested.emit(self.server.name)

    def copy_sign_in_address(self) -> None:
        self._wishes.sign_in_address_requested.emit(self.server.name)

    def start_anyway(self) -> None:
        self._wishes.start_anyway_requested.emit(self.server.name)

    def show_why(self) -> None:
        self._wishes.diagnosis_requested.emit(self.server.name)

    def open_menu(self, button: QWidget, *, is_short: bool = False) -> None:
        """Opens the menu, or the short one, below a button."""
        menu = ServerMenu(self._theme, self.server, self._wishes, self._view, is_short=is_short)
        popup_below(menu, button)
