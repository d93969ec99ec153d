"""The page of AI clients: who is connected, which ones this computer has, and profiles; a tab each.

Above it: the window. Below it: the tabs, which are pages of their own; each is built when it is wanted.
"""

from functools import cached_property
from typing import TypeVar

from PySide6.QtWidgets import QStackedWidget

from tooltray.ui.clients.computer_tab import ComputerTab
from tooltray.ui.clients.connected_tab import ConnectedTab
from tooltray.ui.clients.profiles_tab import ProfilesTab
from tooltray.ui.i18n import tr
from tooltray.ui.pages.page import HubPhase, Page
from tooltray.ui.pages.page_context import PageContext
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.page_frame import Header
from tooltray.ui.widgets.surface import column

CONNECTED, COMPUTER, PROFILES = 0, 1, 2  # the tabs
T = TypeVar("T", bound=Page)


class ClientsPage(Page):
    def __init__(self, context: PageContext) -> None:
        super().__init__()
        self._context = context
        self._phase = HubPhase.STARTING
        self._made: list[Page] = []
        names = [tr("Connected"), tr("On this computer"), tr("Profiles")]
        self._tabs = FilterTabs(context.theme, names, name=tr("AI clients"), have_counts=False)
        self._tabs.chosen.connect(self.show_tab)
        self._header = Header(context.theme, tr("AI clients"), tabs=self._tabs)
        layout = column(self)
        layout.addWidget(self._header)
        self._stack = QStackedWidget()
        layout.addWidget(self._stack, 1)
        self.show_tab(CONNECTED)

    @cached_property
    def connected(self) -> ConnectedTab:
        return self._made_now(ConnectedTab(self._context))

    @cached_property
    def computer(self) -> ComputerTab:
        return self._made_now(ComputerTab(self._context))

    @cached_property
    def profiles(self) -> ProfilesTab:
        return self._made_now(ProfilesTab(self._context))

    def set_phase(self, phase: HubPhase) -> None:
        self._phase = phase
        super().set_phase(phase)
        for tab in self._made:
            tab.set_phase(phase)

    def enable(self, is_usable: bool) -> None:
        """Each tab is told itself."""

    def show_tab(self, index: int) -> None:
        """Shows one of the tabs."""
        tab: Page = self.connected if index == CONNECTED else self.computer if index == COMPUTER else self.profiles
        self._tabs.choose(index)
        self._stack.setCurrentWidget(tab)
        self._header.set_actions(tab.header_actions)

    def _made_now(self, tab: T) -> T:
        self._made.append(tab)
        self._stack.addWidget(tab)
        tab.set_phase(self._phase)
        return tab

    def show_part(self, part: str, text: str = "") -> None:
        """Shows the AI clients on this computer ("computer"), with "import" also the sheet that moves their servers here."""
        if part in ("computer", "import"):
            self.show_tab(COMPUTER)
        if part == "import":
            self.computer.import_from([])
