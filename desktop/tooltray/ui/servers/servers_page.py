"""The Servers page: installed servers, Discover, all tools, and projects; a tab each."""

from functools import partial
from typing import cast

from PySide6.QtCore import Qt

from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import Destination, OpenTool, Servers, ToolsOf, TryTool, WellKnownServer
from tooltray.ui.kit.hub_phase import HubPhase
from tooltray.ui.kit.page import Page, TabbedPage, TabEntry
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.servers.installed_tab import InstalledTab


def _discover(context: PageContext) -> Page:
    from tooltray.ui.add.discover_tab import DiscoverTab

    return DiscoverTab(context)


def _all_tools(context: PageContext) -> Page:
    from tooltray.ui.tools.all_tools_tab import AllToolsTab

    return AllToolsTab(context)


def _projects(context: PageContext) -> Page:
    from tooltray.ui.projects.projects_tab import ProjectsTab

    return ProjectsTab(context)


INSTALLED, DISCOVER, ALL_TOOLS, PROJECTS = "installed", "discover", "all_tools", "projects"  # the tabs
TABS = (
    TabEntry(INSTALLED, lambda: tr("Installed"), InstalledTab, has_count=False),
    TabEntry(DISCOVER, lambda: tr("Discover"), _discover),
    TabEntry(ALL_TOOLS, lambda: tr("All tools"), _all_tools),
    TabEntry(PROJECTS, lambda: tr("Projects"), _projects, is_early=True),  # it counts what waits for the user's approval
)


class ServersPage(TabbedPage):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context, tr("Servers"), TABS)
        self.installed.needed.connect(partial(self.show_tab, INSTALLED))

    @property
    def installed(self) -> InstalledTab:
        return cast(InstalledTab, self.tab(INSTALLED))

    def set_phase(self, phase: HubPhase) -> None:
        super().set_phase(phase)
        if phase is HubPhase.FAILED:
            self.show_tab(INSTALLED)  # where it says why

    def open_destination(self, destination: Destination) -> None:
        match destination:
            case Servers():
                if destination.tab:
                    self._go_to_tab(destination.tab)
            case WellKnownServer():
                self._go_to_tab(DISCOVER)
                self.tab(DISCOVER).open_destination(destination)
            case TryTool():
                self.tab(ALL_TOOLS).open_destination(destination)  # a sheet above whatever is shown
            case OpenTool() | ToolsOf():
                self.show_tab(ALL_TOOLS)
                self.tab(ALL_TOOLS).open_destination(destination)
            case _:
                self.installed.open_destination(destination)

    def _go_to_tab(self, name: str) -> None:
        self.show_tab(name)
        self.tab(name).setFocus(Qt.FocusReason.OtherFocusReason)
