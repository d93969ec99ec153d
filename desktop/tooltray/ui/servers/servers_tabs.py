"""The Servers page: the installed servers, those to be found, and all that they offer; a tab each."""

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


INSTALLED, DISCOVER = "installed", "discover"  # the tabs
TABS = (
    TabEntry(INSTALLED, lambda: tr("Installed"), InstalledTab),
    TabEntry(DISCOVER, lambda: tr("Discover"), _discover),
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
        """Shows a tab by its name, and in it what `text` names; or a part of the tab Installed, such as a server."""
        if any(entry.name == part for entry in TABS):
            super().show_part(part, text)
            self.tab(part).setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.installed.show_part(part, text)

    def _show_installed(self) -> None:
        self.show_tab(INSTALLED)
