"""The page of everything that servers offer: tools, prompts and resources; a tab each."""

from functools import cached_property
from typing import TypeVar

from PySide6.QtWidgets import QStackedWidget

from tooltray.ui.i18n import tr
from tooltray.ui.kit.page import HubPhase, Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.tools.offered_tabs import PromptsTab, ResourcesTab
from tooltray.ui.tools.tools_tab import ToolsTab
from tooltray.ui.tools.try_sheets import TrySheets
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.page_frame import Header
from tooltray.ui.widgets.surface import column

TOOLS, PROMPTS, RESOURCES = 0, 1, 2  # the tabs
T = TypeVar("T", bound=Page)


class ToolsPage(Page):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        self._phase = HubPhase.STARTING
        self._made: list[Page] = []
        self.tries = TrySheets(context, self)
        names = [tr("Tools"), tr("Prompts"), tr("Resources")]
        self._tabs = FilterTabs(context.theme, names, name=tr("Tools, prompts and resources"), have_counts=False)
        self._tabs.chosen.connect(self.show_tab)
        self._header = Header(context.theme, tr("Tools"), tabs=self._tabs)
        layout = column(self)
        layout.addWidget(self._header)
        self._stack = QStackedWidget()
        layout.addWidget(self._stack, 1)
        self.show_tab(TOOLS)
        self.tries.failed.connect(self.tools.show_problem)

    @cached_property
    def tools(self) -> ToolsTab:
        return self._made_now(ToolsTab(self.context, self.tries))

    @cached_property
    def prompts(self) -> PromptsTab:
        return self._made_now(PromptsTab(self.context))

    @cached_property
    def resources(self) -> ResourcesTab:
        return self._made_now(ResourcesTab(self.context))

    def set_phase(self, phase: HubPhase) -> None:
        self._phase = phase
        super().set_phase(phase)
        for tab in self._made:
            tab.set_phase(phase)

    def enable(self, is_usable: bool) -> None:
        """Does nothing: each tab is enabled separately."""

    def show_tab(self, index: int) -> None:
        """Shows one of the tabs."""
        tab: Page = self.tools if index == TOOLS else self.prompts if index == PROMPTS else self.resources
        self._tabs.choose(index)
        self._stack.setCurrentWidget(tab)
        self._header.set_actions(tab.header_actions)

    def _made_now(self, tab: T) -> T:
        self._made.append(tab)
        self._stack.addWidget(tab)
        tab.set_phase(self._phase)
        return tab

    def show_part(self, part: str, text: str = "") -> None:
        """Shows a tool ("tool", its name as AI clients see it), or opens the sheet that calls it ("try", its name and on further lines the
        arguments as JSON).
        """
        if part in ("tool", "try"):
            self.show_tab(TOOLS)
        if part == "tool":
            self.tools.show_tool(text)
        elif part == "try":
            name, _, arguments = text.partition("\n")
            self.tries.open(name, arguments)
        elif part in ("prompts", "resources"):
            self.show_tab(PROMPTS if part == "prompts" else RESOURCES)
