"""The page of AI clients: the connected ones, the ones on this computer, and profiles; a tab each."""

from typing import cast

from tooltray.ui.clients.computer_tab import ComputerTab
from tooltray.ui.clients.connected_tab import ConnectedTab
from tooltray.ui.clients.profiles_tab import ProfilesTab
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.tabbed_page import TabbedPage, TabEntry

CONNECTED, COMPUTER, PROFILES = "connected", "computer", "profiles"  # the tabs
TABS = (
    TabEntry(CONNECTED, lambda: tr("Connected"), ConnectedTab),
    TabEntry(COMPUTER, lambda: tr("On this computer"), ComputerTab),
    TabEntry(PROFILES, lambda: tr("Profiles"), ProfilesTab),
)


class ClientsPage(TabbedPage):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context, tr("AI clients"), TABS)

    @property
    def connected(self) -> ConnectedTab:
        return cast(ConnectedTab, self.tab(CONNECTED))

    @property
    def computer(self) -> ComputerTab:
        return cast(ComputerTab, self.tab(COMPUTER))

    @property
    def profiles(self) -> ProfilesTab:
        return cast(ProfilesTab, self.tab(PROFILES))

    def show_part(self, part: str, text: str = "") -> None:
        """Shows a tab by its name; with "import" the AI clients on this computer, and the sheet that imports their servers."""
        super().show_part(COMPUTER if part == "import" else part, text)
        if part == "import":
            self.computer.import_from([])
