"""The Permissions page: waiting requests at the top; grants; AI clients' own rules; trusted projects; decisions."""

from PySide6.QtWidgets import QStackedWidget

from tooltray.foundation.errors import Problem
from tooltray.ui.approval.clients_tab import ClientsTab
from tooltray.ui.approval.decisions_tab import DecisionsTab
from tooltray.ui.approval.granted_tab import GrantedTab
from tooltray.ui.approval.trusted_tab import TrustedTab
from tooltray.ui.approval.waiting_area import WaitingArea
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.server_words import runs_everything
from tooltray.ui.widgets.banner import FaultArea, NoticesAbove
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.page_frame import Header
from tooltray.ui.widgets.surface import column, divider, row

GRANTED, CLIENTS, TRUSTED, DECISIONS = range(4)  # the tabs


class PermissionsPage(Page):
    """The page of permissions.

    Attributes:
        granted, clients, trusted, decisions: its tabs.
        waiting: the area pinned above them.
    """

    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        theme = context.theme
        self._is_known = False
        outer = column(self)
        outer.addWidget(Header(theme, tr("Permissions")))
        self.waiting = WaitingArea(self)
        outer.addWidget(self.waiting)
        names = [tr("Allowed for longer"), tr("AI clients"), tr("Trusted"), tr("Decisions")]
        self._tabs = FilterTabs(theme, names, name=tr("Permissions"))
        line = row(margins=(24, 10, 24, 10))
        line.addWidget(self._tabs)
        line.addStretch(1)
        outer.addLayout(line)
        outer.addWidget(divider())
        self.granted, self.clients = GrantedTab(self), ClientsTab(self)
        self.trusted, self.decisions = TrustedTab(self), DecisionsTab(self)
        self._stack = QStackedWidget()
        for tab in (self.granted, self.clients, self.trusted, self.decisions):
            self._stack.addWidget(tab)
        self._fault = FaultArea(theme)
        outer.addWidget(NoticesAbove(self._fault, self._stack), 1)
        self.enable(False)
        self._tabs.chosen.connect(self.show_tab)
        self._follow_hub()

    def _follow_hub(self) -> None:
        """Reads everything when the page is shown, and again on news; what waits and the grants also while it is hidden, since the
        navigation counts them. What the hub connects to are methods of the page, which end with it.
        """
        hub, self._read_tabs = self.hub, self.reading(self._read)
        self._read_waiting, self._read_grants = self.reading(self.waiting.read), self.reading(self.granted.read)
        for read in (self._read_tabs, self._read_waiting, self._read_grants):
            self.look_requested.connect(read)
        for news in (hub.approval_asked, hub.approval_ended, hub.server_files_changed):
            news.connect(self._look_waiting)
        for news in (hub.client_list_updated, hub.config_changed, hub.grants_changed, hub.server_files_changed):
            news.connect(self.look_again)
        hub.grants_changed.connect(self._look_grants)
        hub.snapshot_changed.connect(self._on_hub_changed)
        self._on_hub_changed()

    def enable(self, is_usable: bool) -> None:
        self._stack.setEnabled(is_usable)
        self.waiting.setEnabled(is_usable)

    def show_part(self, part: str, text: str = "") -> None:
        """Shows the grants and changed tools: "granted"; or what a server may do: "server" and its name, a tab of that server."""
        if part == "granted":
            self.show_tab(GRANTED)
        elif part == "server":
            self.context.links.part_asked.emit("servers", "access", text)

    def show_tab(self, index: int) -> None:
        """Shows one of the tabs."""
        self._tabs.choose(index)
        self._stack.setCurrentIndex(index)

    def show_problem(self, problem: Problem | None) -> None:
        self._fault.show_problem(problem)

    def draw(self) -> None:
        """Draws how much is in each tab, and how much needs the user."""
        self._tabs.set_counts([tab.total for tab in (self.granted, self.clients, self.trusted, self.decisions)])
        self.need_person.emit(len(self.waiting.calls) + len(self.granted.changes))

    async def _read(self) -> None:
        for tab in (self.clients, self.trusted, self.decisions):
            await tab.read()

    def _look_waiting(self) -> None:
        self._read_waiting()

    def _look_grants(self) -> None:
        self._read_grants()

    def _on_hub_changed(self) -> None:
        """Reads once the hub is connected, and clears what waits when it disconnects."""
        snapshot = self.hub.snapshot
        is_known = snapshot is not None
        self.granted.show_open_servers(sum(map(runs_everything, snapshot.servers)) if snapshot is not None else 0)
        if is_known and not self._is_known:
            self._read_waiting()
            self._read_grants()
        elif self._is_known and not is_known:
            self.waiting.show_calls(())
            self.waiting.show_requests(())
        self._is_known = is_known
