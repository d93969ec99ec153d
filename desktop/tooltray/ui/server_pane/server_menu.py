"""The user's actions on one server: its menu, and the slots of the buttons of its card and its details."""

from functools import partial
from typing import cast

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


WISHES = {
    Action.START: "start",
    Action.RETRY: "restart",
    Action.CANCEL: "stop",
    Action.SIGN_IN: "sign_in",
    Action.CANCEL_SIGN_IN: "sign_in_cancel",
    Action.TRUST: "trust",
    Action.CHOOSE_FOLDER: "folder",
}
"""The signals of ServerWishes that carry out the actions, without their ending; the view handles the actions that only it can."""


class ServerButtons(QObject):
    """What the buttons of a card or a pane do for its server; the view that owns it keeps `server` up to date."""

    def __init__(self, theme: Theme, view: QWidget, *, server: ServerSnapshot, wishes: ServerWishes) -> None:
        super().__init__(view)
        self._theme, self._wishes = theme, wishes
        self.server = server

    def perform(self, action: Action) -> None:
        """Carries out a button's action."""
        if action is Action.SECRET:
            self._wishes.secret_requested.emit(self.server.name, missing_secret(self.server.problem))
        elif action is Action.UNLOCK:
            self._wishes.unlock_requested.emit()
        elif action in WISHES:
            self.request(WISHES[action])

    def request(self, wish: str) -> None:
        """Emits a signal of ServerWishes with the server's name; `wish`: the signal's name without its ending."""
        getattr(self._wishes, f"{wish}_requested").emit(self.server.name)

    def open(self) -> None:
        """Opens the details of the server."""
        self._wishes.place_requested.emit(OpenServer(self.server.name))

    def open_menu(self, button: QWidget, *, is_short: bool = False) -> None:
        """Opens the menu, or the short one, below a button."""
        menu = ServerMenu(self._theme, self.server, self._wishes, cast(QWidget, self.parent()), is_short=is_short)
        popup_below(menu, button)
