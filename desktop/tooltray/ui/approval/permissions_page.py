"""The Permissions page: what runs without asking."""

from functools import partial

from PySide6.QtWidgets import QStackedWidget

from tooltray.foundation.errors import Problem
from tooltray.ui.approval.allow_tools_sheet import AllowToolsSheet
from tooltray.ui.approval.rules_tab import RulesTab
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.state_language import needs_person
from tooltray.ui.widgets.banner import FaultArea, NoticesAbove
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.page_frame import Header, SearchField
from tooltray.ui.widgets.surface import column, divider, row

RULES = 0  # the tab


class PermissionsPage(Page):
    """The page of permissions.

    Attributes:
        rules: its tab.
    """

    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        theme = context.theme
        outer = column(self)
        self._search = SearchField(theme, tr("Search tools"))
        self._allow = Button(theme, tr("Allow tools"), "primary", "plus")
        outer.addWidget(Header(theme, tr("Permissions"), self._search, self._allow))
        self._tabs = FilterTabs(theme, [tr("Without asking")], name=tr("Permissions"))
        line = row(margins=(24, 10, 24, 10))
        line.addWidget(self._tabs)
        line.addStretch(1)
        outer.addLayout(line)
        outer.addWidget(divider())
        self.rules = RulesTab(self)
        self._stack = QStackedWidget()
        for tab in (self.rules,):
            self._stack.addWidget(tab)
        self._fault = FaultArea(theme)
        outer.addWidget(NoticesAbove(self._fault, self._stack), 1)
        self.enable(False)
        self._tabs.chosen.connect(self.show_tab)
        self._search.textChanged.connect(self.rules.search)
        self._allow.clicked.connect(self.allow)
        self._ask = self.reading(self._read)
        self.look_requested.connect(self._ask)
        hub = self.hub
        for news in (hub.client_list_updated, hub.config_changed, hub.grants_changed, hub.server_files_changed):
            news.connect(self.look_again)

    def enable(self, is_usable: bool) -> None:
        self._allow.setEnabled(is_usable)
        self._stack.setEnabled(is_usable)

    def show_part(self, part: str, text: str = "") -> None:
        """Shows what runs without asking on a server: "server" and its name."""
        self.show_tab(RULES)
        if part == "server":
            self._search.clear()
            self.rules.choose(text)

    def show_tab(self, index: int) -> None:
        """Shows one of the tabs."""
        self._tabs.choose(index)
        self._stack.setCurrentIndex(index)
        self._search.setEnabled(index == RULES)

    def show_problem(self, problem: Problem | None) -> None:
        self._fault.show_problem(problem)

    def draw(self) -> None:
        """Draws how much is in each tab."""
        self._tabs.set_counts([tab.total for tab in (self.rules,)])

    def revoke(self, grant: str) -> None:
        approvals = self.hub.approvals
        self.run(approvals.remove_grant(grant), then=self._read_grants, toast=tr("Revoked"), undo=partial(approvals.restore_grant, grant))

    def allow(self) -> None:
        """Opens the sheet that allows tools; an open sheet of any kind stays."""
        self.run(self._open_allow())

    async def _open_allow(self) -> None:
        modes = await self.hub.views.get_client_modes()
        snapshot = self.hub.snapshot
        own = [server for server in snapshot.servers if not server.is_builtin] if snapshot is not None else []
        own.sort(key=lambda server: (not server.tool_count or needs_person(server), server.name))  # first what something can be allowed of
        clients = [(mode.client, mode.title or mode.client) for mode in modes if mode.is_seen and mode.client not in ("", "*")]
        self.context.sheets.show(AllowToolsSheet(self.context, [server.name for server in own], clients, self._read_grants))

    async def _read(self) -> None:
        for tab in (self.rules,):
            await tab.read()
        await self._read_grants()

    async def _read_grants(self) -> None:
        self.rules.show_grants(await self.hub.approvals.get_grants())
