"""The Activity page: calls, approvals and statistics; a tab each."""

from typing import cast

from tooltray.ui.activity.approvals_tab import ApprovalsTab
from tooltray.ui.activity.calls_tab import CallsTab
from tooltray.ui.activity.figures_tab import FiguresTab
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import Activity, CallsWhere, Destination, OpenEntry
from tooltray.ui.kit.page import TabbedPage, TabEntry
from tooltray.ui.kit.page_context import PageContext

CALLS, APPROVALS, FIGURES = "calls", "approvals", "figures"  # the tabs
TABS = (
    TabEntry(CALLS, lambda: tr("Calls"), CallsTab),
    TabEntry(APPROVALS, lambda: tr("Approvals"), ApprovalsTab, is_early=True),
    TabEntry(FIGURES, lambda: tr("Figures"), FiguresTab),
)


class ActivityPage(TabbedPage):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context, tr("Activity"), TABS)
        self.approvals.need_person.connect(self.calls.waiting.show_count)

    @property
    def calls(self) -> CallsTab:
        return cast(CallsTab, self.tab(CALLS))

    @property
    def approvals(self) -> ApprovalsTab:
        return cast(ApprovalsTab, self.tab(APPROVALS))

    @property
    def figures(self) -> FiguresTab:
        return cast(FiguresTab, self.tab(FIGURES))

    def open_destination(self, destination: Destination) -> None:
        self.show_tab(destination.tab if isinstance(destination, Activity) else CALLS)
        if isinstance(destination, CallsWhere):
            self.calls.show_calls(destination.filter)
        elif isinstance(destination, OpenEntry):
            self.calls.show_entry(destination.id)
