"""The desktop's parts wired as app.py wires them, over a FakePresenter in the same event loop: what a person sees, without an engine."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import cast

from shiboken6 import isValid
from tests.fakes.fake_presenter import FakePresenter

from tooltray.config.settings.given_entries import read_entry_text
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.tasks import TaskKeeper
from tooltray.sources.entries.pasted import parse_pasted
from tooltray.sources.entries.pasted_parts import secret_spans
from tooltray.sources.entries.portable_entry import with_new_secrets_moved
from tooltray.ui.activity.activity_page import ActivityPage
from tooltray.ui.add.discover_tab import DiscoverTab
from tooltray.ui.clients.clients_page import ClientsPage
from tooltray.ui.kit.destinations import OpenSecret, Servers, Settings
from tooltray.ui.kit.hub_phase import HubPhase
from tooltray.ui.kit.local_work import LocalWork
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import Presenters
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.link.link import EngineLink
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.link.qt_server_manager import QtServerManager
from tooltray.ui.link.qt_tool_manager import QtToolManager
from tooltray.ui.projects.projects_tab import ProjectsTab
from tooltray.ui.server_pane.server_details import ServerDetails
from tooltray.ui.server_pane.server_tools import ServerTools, ToolTable
from tooltray.ui.servers.server_card import ServerCard
from tooltray.ui.servers.servers_page import ALL_TOOLS, DISCOVER, PROJECTS, ServersPage
from tooltray.ui.settings.backup_tab import BackupTab
from tooltray.ui.settings.network_tab import NetworkTab
from tooltray.ui.settings.secrets_tab import SecretsTab
from tooltray.ui.settings.settings_page import SettingsPage
from tooltray.ui.shell.main_window import MainWindow
from tooltray.ui.theme import Theme
from tooltray.ui.tools.all_tools_tab import AllToolsTab

PATIENCE_S = 20.0  # a bound, not a measure: everything here takes milliseconds


async def until(condition: Callable[[], object]) -> None:
    """Lets Qt and the loop go on until `condition` holds; there is no event for everything that a person sees."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0)


class Desk:
    """`async with Desk(fake) as desk:` opens the window and has the hub's first snapshot."""

    def __init__(self, engine: FakePresenter, theme: Theme) -> None:
        self.engine, self.theme = engine, theme
        self.has_tray = True
        self.tasks = TaskKeeper()
        self.link = EngineLink(news_every_s=0.0)
        self.hub = QtMcpPresenter(self.link)
        self.servers = QtServerManager(self.hub)
        self.tools = QtToolManager(self.link)
        self.wishes = ServerWishes()
        self.window = self.make_window()
        self.servers_page = cast(ServersPage, self.window.page("servers"))
        self.page = self.servers_page.installed

    def make_window(self) -> MainWindow:
        return MainWindow(
            self.theme,
            presenters=Presenters(self.hub, self.servers, self.tools, self.tasks),
            local=LocalWork(parse_pasted, secret_spans, write_atomically, read_entry_text, with_new_secrets_moved),
            wishes=self.wishes,
            hides_on_close=lambda: self.has_tray,
        )

    @property
    def discover(self) -> DiscoverTab:
        return cast(DiscoverTab, self.servers_page.tab(DISCOVER))

    @property
    def clients(self) -> ClientsPage:
        return cast(ClientsPage, self.window.page("clients"))

    @property
    def activity(self) -> ActivityPage:
        return cast(ActivityPage, self.window.page("activity"))

    @property
    def all_tools(self) -> AllToolsTab:
        return cast(AllToolsTab, self.servers_page.tab(ALL_TOOLS))

    @property
    def projects(self) -> ProjectsTab:
        return cast(ProjectsTab, self.servers_page.tab(PROJECTS))

    def open_projects(self) -> ProjectsTab:
        """Shows the projects' folders and files."""
        self.window.go(Servers("projects"))
        return self.projects

    @property
    def settings(self) -> SettingsPage:
        return cast(SettingsPage, self.window.page("settings"))

    def open_settings(self, tab: str) -> Page:
        """Shows a tab of the settings."""
        self.window.go(Settings(tab))
        return self.settings.tab(tab)

    def open_secrets(self, name: str = "") -> SecretsTab:
        """Shows the Secrets tab of the settings, and one of them."""
        self.window.go(OpenSecret(name) if name else Settings("secrets"))
        return cast(SecretsTab, self.settings.findChild(SecretsTab))

    def open_network(self) -> NetworkTab:
        """Shows the Network tab of the settings."""
        return cast(NetworkTab, self.open_settings("network"))

    @property
    def backup(self) -> BackupTab:
        return cast(BackupTab, self.settings.tab("backup"))

    def attach(self) -> None:
        self.link.attach(self.engine.verbs, self.engine.bus, asyncio.get_running_loop())

    async def open(self) -> None:
        self.window.show()
        self.window.activateWindow()
        await until(self.window.isActiveWindow)
        self.attach()
        await until(lambda: self.hub.snapshot is not None)
        self.window.set_phase(HubPhase.RUNNING)

    def card(self, name: str) -> ServerCard:
        return self.page.server_list.cards[name]

    def open_server(self, name: str, tab: str = "overview") -> ServerDetails:
        """Opens a server in the pane at one of its tabs."""
        self.page.open_server(name, tab)
        return cast(ServerDetails, self.page.details)

    def open_tools(self, name: str) -> ToolTable:
        """Opens the tools of a server in the pane."""
        return cast(ServerTools, self.open_server(name, "tools").view("tools")).tools

    async def asked(self, *call: object) -> None:
        """Waits until the engine was asked for something."""
        await until(lambda: call in self.engine.calls)

    async def close(self) -> None:
        self.link.detach()
        await self.tasks.close()
        self.window.hide()
        self.window.deleteLater()
        await until(lambda: not isValid(self.window))

    async def __aenter__(self) -> "Desk":
        await self.open()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()
