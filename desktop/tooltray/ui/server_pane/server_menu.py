"""The user's actions on one server: its menu, and the slots of the buttons of its card and its details."""

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.ui import icons
from tooltray.ui.i18n import tr
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.origins import is_of_file
from tooltray.ui.server_words import Action, missing_secret
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.menus import popup_below


class ServerMenu(QMenu):
    """A menu for the server as it is when the menu is opened; deletes itself."""

    def __init__(self, theme: Theme, server: ServerSnapshot, wishes: ServerWishes, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme, self._name, self._wishes = theme, server.name, wishes
        self._file = server.file
        self._is_default = server.is_default
        self.setFont(theme.font())
        self.setAccessibleName(tr("More for {name}", name=server.name))
        self.aboutToHide.connect(self.deleteLater)
        if server.waiting:
            self._add("shield", tr("Look at what waits…")).triggered.connect(self._on_trust)
            self._add("trash", tr("Refuse")).triggered.connect(self._on_refuse)
        if server.origin == "proposal":
            return
        self._add("info", tr("Open")).triggered.connect(self._on_open)
        is_stopped = server.state in (ServerState.STOPPED, ServerState.STOPPING, ServerState.ON_DEMAND)
        if not server.is_builtin and server.state is not ServerState.WAITING:
            self._add("refresh", tr("Start") if is_stopped else tr("Restart")).triggered.connect(self._on_restart)
        if server.is_deferred:
            self._add("folder", tr("Choose folder…")).triggered.connect(self._on_folder)
        if server.state is ServerState.WAITING:
            self._add("play", tr("Start anyway")).triggered.connect(self._on_anyway)
        if server.state is ServerState.NEEDS_SIGN_IN:
            self._add("external", tr("Sign in")).triggered.connect(self._on_sign_in)
        if server.has_sign_in_page:
            self._add("copy", tr("Copy sign-in address")).triggered.connect(self._on_address)
        self._add("log", tr("Show log")).triggered.connect(self._on_log)
        if server.is_builtin:
            return
        self._add("edit", tr("Edit…")).triggered.connect(self._on_edit)
        self._add("layers", tr("Duplicate…")).triggered.connect(self._on_duplicate)
        self._add("settings", tr("Options…")).triggered.connect(self._on_options)
        if server.is_deferred:
            self._add("stop", tr("Reset projects")).triggered.connect(self._wishes.projects_reset_requested)
        else:
            words = ("clock", tr("Start when a client needs it")) if server.is_default else ("power", tr("Start with Tooltray"))
            self._add(*words).triggered.connect(self._on_default)
        if is_of_file(server):
            self._add("external", tr("Open its file")).triggered.connect(self._on_file)
        else:
            self._add("copy", tr("Copy settings entry")).triggered.connect(self._on_copy)
        self._add("link", tr("Add to an AI client…")).triggered.connect(self._on_link)
        if server.is_signed_in:
            self._add("key", tr("Sign out")).triggered.connect(self._on_sign_out)
        if server.origin == "served":
            return  # its file is as the hub was started with, and is not written
        self.addSeparator()
        removal = tr("Remove from its file") if is_of_file(server) else tr("Remove")
        self._add("trash", removal).triggered.connect(self._on_remove)

    def _add(self, icon: str, text: str) -> QAction:
        return self.addAction(icons.icon(icon, self._theme.color("text.secondary")), text)

    def _on_restart(self) -> None:
        self._wishes.restart_requested.emit(self._name)

    def _on_open(self) -> None:
        self._wishes.open_requested.emit(self._name, "")

    def _on_edit(self) -> None:
        self._wishes.open_requested.emit(self._name, "settings")

    def _on_duplicate(self) -> None:
        self._wishes.duplicate_requested.emit(self._name)

    def _on_trust(self) -> None:
        self._wishes.trust_requested.emit(self._name)

    def _on_refuse(self) -> None:
        self._wishes.refusal_requested.emit(self._name)

    def _on_log(self) -> None:
        self._wishes.log_requested.emit(self._name)

    def _on_sign_in(self) -> None:
        self._wishes.sign_in_requested.emit(self._name)

    def _on_address(self) -> None:
        self._wishes.sign_in_address_requested.emit(self._name)

    def _on_sign_out(self) -> None:
        self._wishes.sign_out_requested.emit(self._name)

    def _on_folder(self) -> None:
        self._wishes.folder_requested.emit(self._name)

    def _on_anyway(self) -> None:
        self._wishes.start_anyway_requested.emit(self._name)

    def _on_options(self) -> None:
        self._wishes.options_requested.emit(self._name)

    def _on_default(self) -> None:
        self._wishes.default_requested.emit(self._name, not self._is_default)

    def _on_file(self) -> None:
        self._wishes.file_requested.emit(self._file)

    def _on_copy(self) -> None:
        self._wishes.copy_requested.emit(self._name)

    def _on_link(self) -> None:
        self._wishes.link_requested.emit(self._name)

    def _on_remove(self) -> None:
        self._wishes.removal_requested.emit(self._name)


class ServerActions(QObject):
    """The actions of one server, owned by a view that keeps `server` up to date."""

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
        if action in wanted:
            wanted[action].emit(self.server.name)

    def open(self) -> None:
        """Opens the details of the server."""
        self._wishes.open_requested.emit(self.server.name, "")

    def edit(self) -> None:
        self._wishes.open_requested.emit(self.server.name, "settings")

    def show_tools(self) -> None:
        self._wishes.open_requested.emit(self.server.name, "tools")

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

    def show_log(self) -> None:
        self._wishes.log_requested.emit(self.server.name)

    def switch_tool(self, tool: str, on: bool) -> None:
        self._wishes.tool_switch_requested.emit(self.server.name, tool, on)

    def open_menu(self, button: QWidget) -> None:
        """Opens the menu below a button."""
        menu = ServerMenu(self._theme, self.server, self._wishes, self._view)
        popup_below(menu, button)
