"""The Servers page: installed servers, Discover, all tools, and projects; a tab each."""

from typing import cast

from PySide6.QtCore import Qt

from tooltray.ui.i18n import tr
from tooltray.ui.kit.page import HubPhase, Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.tabbed_page import TabbedPage, TabEntry
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
TOOL_PARTS = ("tool", "try", "tools_of", "prompts", "resources")  # of ALL_TOOLS
TABS = (
    TabEntry(INSTALLED, lambda: tr("Installed"), InstalledTab),
    TabEntry(DISCOVER, lambda: tr("Discover"), _discover),
    TabEntry(ALL_TOOLS, lambda: tr("All tools"), _all_tools),
    TabEntry(PROJECTS, lambda: tr("Projects"), _projects, is_early=True),  # it counts what waits for the user's approval
)


class ServersPage(TabbedPage):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context, tr("Servers"), TABS)
        self.installed.needed.connect(self._show_installed)

    @property
    def installed(self) -> InstalledTab:
        return cast(InstalledTab, self.tab(INSTALLED))

    def set_phase(self, phase: HubPhase) -> None:
        super().set_phase(phase)
        if phase is HubPhase.FAILED:
            self.show_tab(INSTALLED)  # where it says why

    def show_part(self, part: str, text: str = "") -> None:
        """Shows a tab by its name, and in it what `text` names; or a part of All tools or Installed, such as a tool or a server."""
        if any(entry.name == part for entry in TABS):
            super().show_part(part, text)
            self.tab(part).setFocus(Qt.FocusReason.OtherFocusReason)
        elif part in TOOL_PARTS:
            self.show_tab(ALL_TOOLS)
            self.tab(ALL_TOOLS).show_part(part, text)
        else:
            self.installed.show_part(part, text)

    def _show_installed(self) -> None:
        self.show_tab(INSTALLED)
