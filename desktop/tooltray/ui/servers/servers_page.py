"""The Servers page: installed servers, Discover, all tools, and projects; a tab each. And the first of these tabs: filters, search, the
list of servers, and the opened server beside it."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import SessionListChanged
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.foundation.snapshots.tools import ServerCost, ToolCosts, ToolSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.kit import destinations as to
from tooltray.ui.kit.hub_phase import HubPhase
from tooltray.ui.kit.page import Page, TabbedPage, TabEntry
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.servers.first_steps import FirstStart, FirstStepsStrip
from tooltray.ui.servers.many_servers import ManyBar, ManyServers
from tooltray.ui.servers.server_filter import ServerFilter
from tooltray.ui.servers.server_list import ServerList
from tooltray.ui.servers.server_sheets import OptionsSheet
from tooltray.ui.servers.server_verbs import ClosedSecrets, ServerVerbs
from tooltray.ui.state_language import needs_person
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.empty_state import EmptyState
from tooltray.ui.widgets.page_frame import SearchField
from tooltray.ui.widgets.split_view import SplitView
from tooltray.ui.widgets.surface import column, fill

if TYPE_CHECKING:  # imported when a server is opened
    from tooltray.ui.server_pane.server_details import ServerDetails

WIDEST_PANE = 560  # px of an opened server beside the list


class InstalledTab(Page):
    """The tab of the user's servers, which also shows the notices of the hub.

    Attributes:
        server_list: the servers, as cards or lines.
    """

    needed = Signal()  # a server is opened here, on the user's request

    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        theme, servers, wishes = context.theme, context.servers, context.wishes
        self._servers = servers
        self._costs: dict[str, ServerCost] = {}
        self._lazy: dict[str, bool] = {}  # as it was when the costs were asked for
        self._projects: Sequence[str] = ()  # whose own files are in use
        self._install = ""  # a link that adds a server, opened before there was a hub
        self._asked = self._asked_tab = ""  # the server of an address that was opened before servers were known
        self._are_costs_old = True
        self.notices = context.notices
        self.verbs = ServerVerbs(self)
        self.many = ManyServers(self, self.verbs)
        self.secrets = ClosedSecrets(context, self)
        self._read_listings = self.reading(self._read_listings_now)
        self._read_costs = self.reading(self._read_costs_now)
        self._add = Button(theme, tr("Add server"), "primary", "plus", on_click=lambda: self.add())
        self._search = SearchField(theme, tr("Search servers and tools"))
        self._search.textChanged.connect(self._on_search)
        self.header_actions = (self._search, self._add)
        self.steps = FirstStepsStrip(context)
        self._filter = ServerFilter(theme, wishes)
        self._filter.changed.connect(self._show_matching)
        self._head = QStackedWidget()  # the filter, or in its place what can be done with all selected servers: no row moves
        self._head.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._head.addWidget(self._filter)
        self._stack = QStackedWidget()
        fill(column(self), self.steps, self._head, (self._stack, 1))
        self._loading = EmptyState(theme, tr("Tooltray is starting"), tr("Your servers appear here in a moment."), [])
        self._blank = QWidget()
        self._empty = FirstStart(context)
        self.server_list = ServerList(context, self._filter)
        self.server_list.table.row_chosen.connect(self._open_details)
        self._split = SplitView(self.server_list, most=WIDEST_PANE)
        self._split.closing.connect(self._keep_unsaved)
        self._split.closed.connect(self._on_details_closed)
        self._split.resized.connect(self._fit_details)
        self._opened = ""  # whose details were opened last
        for part in (self._loading, self._blank, self._empty, self._split):
            self._stack.addWidget(part)
        self.server_list.views.changed.connect(self._show_matching)
        self._filter.add_control(self.server_list.views)
        self._many = ManyBar(theme, wishes, self.server_list.table, self._head)
        context.hub.on_any((SessionListChanged,), self._on_sessions, self)
        servers.server_changed.connect(self._on_server_changed)
        servers.servers_changed.connect(self._on_servers_changed)
        context.tools.tool_list_changed.connect(self._on_tool_list_changed)
        context.hub.snapshot_changed.connect(self._on_hub_changed)
        wishes.costs_requested.connect(self._read_costs)
        context.links.projects_changed.connect(self._on_projects)
        context.scans.scan_changed.connect(self._empty.show_scan)
        QShortcut(QKeySequence(QKeySequence.StandardKey.New), context.window, self.add)
        paste = QShortcut(QKeySequence(QKeySequence.StandardKey.Paste), self, lambda: self.add(QGuiApplication.clipboard().text()))
        paste.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self._on_servers_changed()

    @property
    def details(self) -> "ServerDetails | None":
        """The open details at the right of the table."""
        return cast("ServerDetails | None", self._split.details)

    def set_phase(self, phase: HubPhase) -> None:
        """Shows that the hub is starting while no servers are known; otherwise the page is blank until then."""
        super().set_phase(phase)
        if not self._servers.servers:
            is_loading = phase in (HubPhase.STARTING, HubPhase.TAKING_OVER)
            self._stack.setCurrentWidget(self._loading if is_loading else self._blank)

    def enable(self, is_usable: bool) -> None:
        self._add.setEnabled(is_usable)
        self._empty.enable(is_usable)
        if self._stack.currentWidget() is self._empty:
            self._scan_clients()
        if is_usable:
            self.steps.read()
        self._on_hub_changed()
        if is_usable and self._install:
            self.show_install(self._install)

    def _on_hub_changed(self) -> None:
        """Shows on the whole page whether every call is refused, and counts what needs the user."""
        snapshot = self.context.hub.snapshot
        is_paused = self.is_usable and snapshot is not None and snapshot.is_paused
        self.server_list.set_paused(is_paused)
        self._filter.set_paused(is_paused)
        self.need_person.emit(sum(needs_person(server) for server in snapshot.servers) if snapshot is not None else 0)

    def show_server_problem(self, name: str, problem: Problem | None) -> None:
        """Shows at a server why an action failed, or without a name above the pages; None hides it."""
        if not name:
            self.show_problem(problem)
            return
        if (details := self.details) is not None and details.server.name == name:
            details.set_refusal(problem)
        self.server_list.show_problem(name, problem)

    def show_tools(self, name: str, tools: Sequence[ToolSnapshot]) -> None:
        """Shows the tools of a server where it is open; with "" these are all tools, for the search."""
        if not name:
            self._search_in(tools)
        if (details := self.details) is not None and details.server.name == name:
            details.set_tools(tools)

    def show_costs(self, costs: ToolCosts) -> None:
        """Shows what the definitions of tools cost: on each server, and together."""
        self._costs = {cost.server: cost for cost in costs.servers}
        self._filter.tokens.show_costs(costs, self._servers.servers)
        self.server_list.table.set_costs(self._costs)
        if (details := self.details) is not None:
            details.set_cost(self.cost_of(details.server.name))
        if isinstance(sheet := self.context.sheets.panel, OptionsSheet):
            sheet.set_cost(self.cost_of(sheet.server.name))

    def cost_of(self, name: str) -> ServerCost | None:
        """Returns what the definitions of a server's tools cost; None: not known."""
        return self._costs.get(name)

    async def _read_costs_now(self) -> None:
        try:
            await self._read_listings_now()
            self.show_costs(await self.hub.views.get_tool_costs())
        except TooltrayError as error:
            self._filter.tokens.show_problem(error.problem)

    async def _read_listings_now(self) -> None:
        self._filter.tokens.set_listings(await self.hub.views.get_client_modes())

    def _on_sessions(self) -> None:
        """Reads which listing each client gets; what tools cost is as before."""
        if self.isVisible() and not self._are_costs_old:
            self._read_listings()

    def show_server(self, name: str, tab: str = "") -> None:
        """Opens a server as soon as it exists; if the filter hides the server, all servers are shown.

        Args:
            tab: of the server; an unknown one opens the first.
        """
        self._asked, self._asked_tab = name, tab
        if (server := self._servers.find(name)) is None:
            return
        self._asked = ""
        if not self._filter.passes(server):
            self._filter.show_all()
            self._search.clear()
        self.open_server(name, tab)

    def show_install(self, link: str) -> None:
        """Opens the sheet that adds a server with the content of a link, as soon as a hub runs; an open sheet stays."""
        self._install = "" if self.is_usable else link
        if self.is_usable and not self._open_add(link):
            self.context.say(tr("Close what is open, then open the link again."), "warning")

    def open_destination(self, destination: to.Destination) -> None:
        match destination:
            case to.AddServer():
                self.add(destination.text)
            case to.InstallLink():
                self.show_install(destination.link)
            case to.OpenBundle() if self.is_usable:
                self.show_bundle(destination.source)
            case to.TooltrayLog() if self.is_usable:
                self.verbs.open_hub_log()
            case to.ServerLog() if self.is_usable:
                self._show_log(destination.name, destination.at)
            case to.OpenServer():
                self.show_server(destination.name, destination.tab)

    def _show_log(self, name: str, at: float) -> None:
        """Opens a server's log; `at`: the time of the wanted lines, in unix seconds, 0: the newest lines."""
        from tooltray.ui.logs.log_view import LogView

        self.show_server(name, "log")
        view = self.details.view("log") if self.details is not None else None
        if at and isinstance(view, LogView):
            view.show_time(at)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stack.currentWidget() is self._empty:
            self._scan_clients()
        if self._are_costs_old:
            self._ask_costs()

    def _ask_costs(self) -> None:
        """Requests what tools cost now; a hidden page does so when it is shown."""
        self._are_costs_old = not (self.isVisible() and self._servers.servers)
        if not self._are_costs_old:
            self._lazy = {server.name: server.is_lazy for server in self._servers.servers}
            self._read_costs()

    # news

    def _on_server_changed(self, server: ServerSnapshot) -> None:
        self.server_list.update_server(server)
        self._many.look()
        if (details := self.details) is not None and details.server.name == server.name:
            details.set_server(server)

    def _on_servers_changed(self) -> None:
        servers = self._servers.servers
        if servers and self._lazy != {server.name: server.is_lazy for server in servers}:
            self._ask_costs()
        own = [server for server in servers if not server.is_builtin]
        if (details := self.details) is not None and self._servers.find(details.server.name) is None:
            if details.unsaved:
                details.set_gone()
            else:
                self._split.close_details()
        self._head.setVisible(bool(own))
        self._filter.set_servers(servers)
        if servers:
            self.steps.set_empty(not own)
        if not servers:
            if self._stack.currentWidget() not in (self._loading, self._blank):
                self._stack.setCurrentWidget(self._blank)
        elif not own:
            self._stack.setCurrentWidget(self._empty)
            self._scan_clients()
        else:
            self.server_list.set_servers(servers, is_new=self._stack.currentWidget() is not self._split)
            self._stack.setCurrentWidget(self._split)
        if self._asked and servers:
            self.show_server(self._asked, self._asked_tab)
            self._asked = ""

    def _on_tool_list_changed(self, name: str) -> None:
        if (details := self.details) is not None and details.server.name == name:
            self.verbs.list_tools(name)
        if self._search.text().strip():
            self.verbs.list_tools("")
        self._ask_costs()

    def _scan_clients(self) -> None:
        """Scans once for AI clients that have servers, for users without servers."""
        scans = self.context.scans
        if self.is_usable and self.isVisible() and scans.scan is None and not scans.is_scanning:
            scans.look()

    # filter and search

    def _on_search(self, text: str) -> None:
        if text.strip():
            self.verbs.list_tools("")
            self._filter.set_words(text)
            self._show_matching()
        else:
            self._search_in(())

    def _search_in(self, tools: Sequence[ToolSnapshot]) -> None:
        self._filter.search(self._search.text(), tools)
        self.server_list.set_found(self._filter.found)
        self._show_matching()

    def _show_matching(self) -> None:
        if self._stack.currentWidget() is self._split:
            self.server_list.show_matching()

    # the person

    def open_server(self, name: str, tab: str = "") -> None:
        """Opens a server in the pane on the user's request, and moves the focus there.

        Args:
            tab: of the server; empty: the first.
        """
        if (server := self._servers.find(name)) is None:
            return
        self.needed.emit()
        self._open_details(server)
        if (details := self.details) is not None:
            details.show_tab(tab)
            details.take_keyboard()

    def _open_details(self, server: ServerSnapshot) -> None:
        if (details := self.details) is not None and details.server.name == server.name:
            return
        self._keep_unsaved()
        if details is not None:
            details.leave_form()
        tab = details.tab if details is not None else ""  # who compares two servers looks at the same of both
        from tooltray.ui.server_pane.server_details import ServerDetails

        details = ServerDetails(self.context, server)
        details.close_requested.connect(self._on_close_details)
        details.wide_requested.connect(self._on_wide)
        details.set_cost(self.cost_of(server.name))
        details.show_tab(tab)
        self._opened = server.name
        self._split.open_details(details)
        self._fit_details()
        self.server_list.set_opened(server.name)

    def _fit_details(self) -> None:
        if (details := self.details) is not None:
            details.set_wide(self._split.is_wide, can_change=not self._split.is_narrow)

    def _on_wide(self, is_wide: bool) -> None:
        self._split.set_wide(is_wide)
        self._fit_details()

    def _keep_unsaved(self) -> None:
        """Offers for a while to restore what the user has typed in the details that are closing."""
        if (details := self.details) is not None and (text := details.unsaved):
            name = details.server.name
            toast = self.context.offer_undo(tr("Your changes to {name} are not saved", name=name))
            toast.action_requested.connect(partial(self._on_restore, name, text))

    def _on_restore(self, name: str, text: str) -> None:
        self.open_server(name, "settings")
        if (details := self.details) is not None:
            details.restore(text)

    def _on_close_details(self) -> None:
        self._keep_unsaved()
        self._split.close_details()
        self._on_details_closed()

    def _on_details_closed(self) -> None:
        self._split.set_wide(False)
        self.server_list.set_opened("")
        self.server_list.take_keyboard(self._opened)

    def add(self, text: str = "") -> None:
        """Opens the sheet that adds a server, if a hub runs."""
        if self.is_usable:
            self._open_add(text)

    def _open_add(self, text: str) -> bool:
        """Opens the sheet that adds a server; returns False if another sheet is open."""
        if self.context.sheets.sheet is not None:
            return False
        from tooltray.ui.add.add_server import AddServerSheet

        self.context.sheets.show(AddServerSheet(self.context, text, self._projects))
        return True

    def _on_projects(self, projects: Sequence[str]) -> None:
        self._projects = projects

    def show_bundle(self, source: str) -> None:
        """Reads a bundle without starting it, and shows what it is; a sheet that the user would lose stays."""
        from tooltray.ui.add.add_server import AddServerSheet
        from tooltray.ui.add.offer_sheets import ReadingBundleSheet

        sheets = self.context.sheets
        if sheets.panel is None or isinstance(sheets.panel, AddServerSheet | ReadingBundleSheet):
            sheets.replace(ReadingBundleSheet(self.context, source))


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
TABS = (
    TabEntry(INSTALLED, lambda: tr("Installed"), InstalledTab, has_count=False),
    TabEntry(DISCOVER, lambda: tr("Discover"), _discover),
    TabEntry(ALL_TOOLS, lambda: tr("All tools"), _all_tools),
    TabEntry(PROJECTS, lambda: tr("Projects"), _projects, is_early=True),  # it counts what waits for the user's approval
)


class ServersPage(TabbedPage):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context, tr("Servers"), TABS)
        self.installed.needed.connect(partial(self.show_tab, INSTALLED))

    @property
    def installed(self) -> InstalledTab:
        return cast(InstalledTab, self.tab(INSTALLED))

    def set_phase(self, phase: HubPhase) -> None:
        super().set_phase(phase)
        if phase is HubPhase.FAILED:
            self.show_tab(INSTALLED)  # where it says why

    def open_destination(self, destination: to.Destination) -> None:
        match destination:
            case to.Servers():
                if destination.tab:
                    self._go_to_tab(destination.tab)
            case to.WellKnownServer():
                self._go_to_tab(DISCOVER)
                self.tab(DISCOVER).open_destination(destination)
            case to.TryTool():
                self.tab(ALL_TOOLS).open_destination(destination)  # a sheet above whatever is shown
            case to.OpenTool() | to.ToolsOf():
                self.show_tab(ALL_TOOLS)
                self.tab(ALL_TOOLS).open_destination(destination)
            case _:
                self.installed.open_destination(destination)

    def _go_to_tab(self, name: str) -> None:
        self.show_tab(name)
        self.tab(name).setFocus(Qt.FocusReason.OtherFocusReason)
