"""The Activity page: the log and the statistics; a tab each."""

from typing import cast

from tooltray.ui.activity.calls_tab import CallsTab
from tooltray.ui.activity.figures_tab import FiguresTab
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.tabbed_page import TabbedPage, TabEntry

CALLS, FIGURES = "calls", "figures"  # the tabs
TABS = (TabEntry(CALLS, lambda: tr("What happened"), CallsTab), TabEntry(FIGURES, lambda: tr("Figures"), FiguresTab))


class ActivityPage(TabbedPage):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context, tr("Activity"), TABS)

    @property
    def calls(self) -> CallsTab:
        return cast(CallsTab, self.tab(CALLS))

    @property
    def figures(self) -> FiguresTab:
        return cast(FiguresTab, self.tab(FIGURES))

    def show_part(self, part: str, text: str = "") -> None:
        """Shows the log with the entries of an ActivityFilter in JSON ("filter"), or with one entry ("entry", its id); or the statistics
        ("figures").
        """
        self.show_tab(FIGURES if part == FIGURES else CALLS)
        self.calls.show_part(part, text)
