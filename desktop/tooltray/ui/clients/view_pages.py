"""The pages of AI clients and of profiles, the sheets that belong to them, and folders that a person chooses as projects.

Above it: the window, which shows the pages and lends the place for a sheet. Below it: pages, sheets, and commands.
"""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from tooltray.errors import Problem
from tooltray.snapshots.clients import ProfileSnapshot
from tooltray.ui.clients.client_actions import ViewCommands
from tooltray.ui.clients.clients_page import ClientsPage
from tooltray.ui.clients.profile_panel import ProfilePanel
from tooltray.ui.clients.profiles_page import ProfilesPage
from tooltray.ui.i18n import tr
from tooltray.ui.pages.page_links import ServerWishes
from tooltray.ui.presenter.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.presenter.qt_server_manager import QtServerManager
from tooltray.ui.servers.server_actions import Commands
from tooltray.ui.servers.server_sheets import ServerSheets, SheetPlace
from tooltray.ui.servers.servers_page import ServersPage
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.toast import show_toast


class ViewPages(QObject):
    """`clients` and `profiles` are the pages; `servers_page` shows what tools cost.

    Args:
        window: lies below folder dialogs and toasts.
        place: where sheets are opened.
    """

    def __init__(
        self,
        theme: Theme,
        window: QWidget,
        *,
        place: SheetPlace,
        hub: QtMcpPresenter,
        servers: QtServerManager,
        servers_page: ServersPage,
        wishes: ServerWishes,
        commands: Commands,
        views: ViewCommands,
    ) -> None:
        super().__init__(window)
        self._theme, self._window, self._place = theme, window, place
        self._servers, self._wishes, self._commands, self._views = servers, wishes, commands, views
        self.clients, self.profiles = ClientsPage(theme), ProfilesPage(theme)
        self._sheets = ServerSheets(theme, self, place=place, servers=servers, wishes=wishes, commands=commands, views=views)
        self._connect_servers(servers_page)
        self._connect_clients()
        self._connect_profiles()
        for news in (hub.session_list_changed, hub.config_changed):
            news.connect(self.clients.look_again)
        for news in (hub.client_list_updated, hub.config_changed):
            news.connect(self.profiles.look_again)

    def set_usable(self, is_usable: bool) -> None:
        """Says whether there is a hub that could be asked for anything."""
        self.clients.set_usable(is_usable)
        self.profiles.set_usable(is_usable)

    def _connect_servers(self, page: ServersPage) -> None:
        wishes, views = self._wishes, self._views
        wishes.costs_requested.connect(views.look_costs)
        wishes.folder_requested.connect(self._on_server_folder)
        views.costs_changed.connect(page.show_costs)
        views.costs_failed.connect(page.show_costs_problem)

    def _connect_clients(self) -> None:
        page, views = self.clients, self._views
        page.look_requested.connect(views.look_clients)
        page.costs_requested.connect(views.look_client_costs)
        page.mode_requested.connect(views.set_mode)
        page.profile_requested.connect(views.set_client_profile)
        page.auto_approve_requested.connect(views.set_auto_approve)
        page.folder_requested.connect(self._on_session_folder)
        views.profiles_changed.connect(page.show_profiles)
        views.clients_changed.connect(page.show_clients)
        views.sessions_changed.connect(page.show_sessions)
        views.client_costs_changed.connect(page.show_costs)

    def _connect_profiles(self) -> None:
        page, views = self.profiles, self._views
        page.look_requested.connect(views.look_profiles)
        page.edit_requested.connect(self._open_profile)
        views.profiles_changed.connect(page.show_profiles)
        views.profile_removed.connect(self._on_profile_removed)
        views.failed.connect(self._on_failed)

    def _on_failed(self, where: str, problem: Problem | None) -> None:
        (self.clients if where == "clients" else self.profiles).show_fault(problem)

    # projects

    def _on_server_folder(self, name: str) -> None:
        self._choose_folder(tr("For which project does {name} start?", name=name), partial(self._commands.start_for, name))

    def _on_session_folder(self, session: str) -> None:
        self._choose_folder(tr("On which project does this client work?"), partial(self._views.set_project, session))

    def _choose_folder(self, title: str, use: Callable[[str], None]) -> None:
        dialog = QFileDialog(self._window, title)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(use)
        dialog.open()

    # profiles

    def _open_profile(self, profile: ProfileSnapshot | None) -> None:
        if self._place.sheet is not None:
            return
        panel, views = ProfilePanel(self._theme, profile, self._servers.servers), self._views
        panel.save_requested.connect(views.save_profile)
        panel.removal_requested.connect(views.remove_profile)
        views.tools_listed.connect(panel.show_tools)
        views.profile_refused.connect(panel.show_refusal)
        sheet = self._place.open_sheet(panel)
        panel.close_requested.connect(sheet.dismiss)
        views.profile_saved.connect(sheet.dismiss)
        views.profile_removed.connect(sheet.dismiss)
        views.list_tools()

    def _on_profile_removed(self, profile: ProfileSnapshot) -> None:
        toast = show_toast(self._theme, self._window, tr("The profile {name} is removed", name=profile.name), tr("Undo"))
        toast.action_requested.connect(partial(self._views.bring_back, profile))
