"""The Activity page: the log and the statistics; a tab each."""

from functools import cached_property
from typing import TypeVar

from PySide6.QtWidgets import QStackedWidget

from tooltray.ui.activity.calls_tab import CallsTab
from tooltray.ui.activity.figures_tab import FiguresTab
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page import HubPhase, Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.page_frame import Header
from tooltray.ui.widgets.surface import column

CALLS, FIGURES = 0, 1  # the tabs
T = TypeVar("T", bound=Page)


class ActivityPage(Page):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        self._phase = HubPhase.STARTING
        self._made: list[Page] = []
        self._tabs = FilterTabs(context.theme, [tr("What happened"), tr("Figures")], name=tr("Activity"), have_counts=False)
        self._tabs.chosen.connect(self.show_tab)
        self._header = Header(context.theme, tr("Activity"), tabs=self._tabs)
        layout = column(self)
        layout.addWidget(self._header)
        self._stack = QStackedWidget()
        layout.addWidget(self._stack, 1)
        self.show_tab(CALLS)

    @cached_property
    def calls(self) -> CallsTab:
        return self._made_now(CallsTab(self.context))

    @cached_property
    def figures(self) -> FiguresTab:
        figures = self._made_now(FiguresTab(self.context))
        figures.filter_requested.connect(self._on_filter_wanted)
        return figures

    def set_phase(self, phase: HubPhase) -> None:
        self._phase = phase
        super().set_phase(phase)
        for tab in self._made:
            tab.set_phase(phase)

    def enable(self, is_usable: bool) -> None:
        """Does nothing: each tab is enabled separately."""

    def show_tab(self, index: int) -> None:
        """Shows one of the tabs."""
        tab: Page = self.calls if index == CALLS else self.figures
        self._tabs.choose(index)
        self._stack.setCurrentWidget(tab)
        self._header.set_actions(tab.header_actions)

    def show_part(self, part: str, text: str = "") -> None:
        """Shows the log with the entries of an ActivityFilter in JSON ("filter"), or with one entry ("entry", its id); or the statistics
        ("figures").
        """
        self.show_tab(FIGURES if part == "figures" else CALLS)
        self.calls.show_part(part, text)

    def _on_filter_wanted(self, text: str) -> None:
        self.show_part("filter", text)

    def _made_now(self, tab: T) -> T:
        self._made.append(tab)
        self._stack.addWidget(tab)
        tab.set_phase(self._phase)
        return tab
