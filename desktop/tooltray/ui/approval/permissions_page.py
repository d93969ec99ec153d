"""The Permissions page: waiting requests at the top; what runs without asking; grants; AI clients' own rules; trusted projects."""

import json
from collections.abc import Callable, Sequence
from functools import partial

import msgspec
from PySide6.QtWidgets import QStackedWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.activity import ActivityFilter, ActivityRow
from tooltray.foundation.snapshots.approvals import (
    ApprovalSnapshot,
    AuditEntry,
    GrantSnapshot,
    ServerPermissions,
    ToolChange,
    TrustedEntry,
    TrustRequest,
)
from tooltray.foundation.snapshots.clients import ClientModeSnapshot
from tooltray.ui.approval.call_sheet import CallPanel
from tooltray.ui.approval.clients_section import ClientsSection
from tooltray.ui.approval.decisions_tab import DecisionsTab
from tooltray.ui.approval.grant_commands import GrantCommands
from tooltray.ui.approval.grant_sheets import GrantSheets
from tooltray.ui.approval.granted_tab import GrantedTab
from tooltray.ui.approval.permission_commands import PermissionCommands
from tooltray.ui.approval.permission_words import ToolRow, has_own_rules
from tooltray.ui.approval.rule_sheet import RulePanel
from tooltray.ui.approval.rules_tab import RulesTab
from tooltray.ui.approval.tool_sheet import ToolPanel
from tooltray.ui.approval.trusted_tab import TrustedTab
from tooltray.ui.approval.waiting_area import WaitingArea
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.widgets.banner import FaultArea, NoticesAbove
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.page_frame import Header, SearchField
from tooltray.ui.widgets.surface import column, divider, row

RULES, GRANTED, CLIENTS, TRUSTED, DECISIONS = range(5)  # the tabs


class PermissionsPage(Page):
    """The page of permissions.

    Attributes:
        rules, granted, clients, trusted, decisions: its tabs.
        waiting: the area pinned above them.
    """

    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        theme = context.theme
        self._asked = ""  # a server that is to be shown once it is known which there are
        self._counts = [0, 0, 0, 0, 0]
        self._is_known = False
        outer = column(self)
        self._search = SearchField(theme, tr("Search tools"))
        self._allow = Button(theme, tr("Allow tools"), "primary", "plus")
        outer.addWidget(Header(theme, tr("Permissions"), self._search, self._allow))
        self.waiting = WaitingArea(theme)
        outer.addWidget(self.waiting)
        names = [tr("Without asking"), tr("Allowed for longer"), tr("AI clients"), tr("Trusted"), tr("Decisions")]
        self._tabs = FilterTabs(theme, names, name=tr("Permissions"))
        line = row(margins=(24, 10, 24, 10))
        line.addWidget(self._tabs)
        line.addStretch(1)
        outer.addLayout(line)
        outer.addWidget(divider())
        self.rules, self.granted = RulesTab(theme), GrantedTab(theme)
        self.clients, self.trusted = ClientsSection(theme), TrustedTab(theme)
        self._stack = QStackedWidget()
        self.decisions = DecisionsTab(theme)
        for tab in (self.rules, self.granted, self.clients, self.trusted, self.decisions):
            self._stack.addWidget(tab)
        self._fault = FaultArea(theme)
        outer.addWidget(NoticesAbove(self._fault, self._stack), 1)
        self.enable(False)
        self.commands = PermissionCommands(hub=context.hub, tasks=context.tasks, parent=self)
        self.grants = GrantCommands(hub=context.hub, tasks=context.tasks, parent=self)
        self._sheets = GrantSheets(context, self, commands=self.grants)
        self._connect()

    def _connect(self) -> None:
        self._connect_news()
        commands = self.commands
        self._tabs.chosen.connect(self.show_tab)
        self._search.textChanged.connect(self.rules.search)
        self._allow.clicked.connect(self.grants.begin)
        self.rules.rules_requested.connect(commands.set_rules)
        self.rules.tool_requested.connect(commands.set_tool)
        self.rules.tool_opened.connect(self.open_tool)
        self.granted.take_back_requested.connect(self.grants.take_back)
        self.granted.change_requested.connect(self._sheets.open_change)
        self.granted.opened.connect(self._on_grant_opened)
        self.clients.rules_requested.connect(commands.set_client)
        self.clients.guard_requested.connect(commands.set_guard)
        self.clients.asking.change_requested.connect(commands.set_asking)
        self.trusted.allow_requested.connect(self._on_allow_folder)
        self.trusted.disallow_requested.connect(commands.disallow_folder)
        self.trusted.distrust_requested.connect(commands.distrust)
        self.waiting.look_requested.connect(self.open_call)
        self.waiting.refuse_requested.connect(self._on_refuse)
        self.waiting.trust_requested.connect(self.context.links.trust_asked)

    def _connect_news(self) -> None:
        commands, grants, hub = self.commands, self.grants, self.context.hub
        self.look_requested.connect(commands.look)
        self.look_requested.connect(grants.look)
        commands.permissions_changed.connect(self.show_permissions)
        commands.clients_changed.connect(self.show_clients)
        commands.asking_changed.connect(self.clients.asking.show_asking)
        commands.folders_changed.connect(self.show_folders)
        commands.trusted_changed.connect(self.show_trusted)
        commands.decisions_changed.connect(self.show_decisions)
        commands.decisions_checked.connect(self.decisions.show_check)
        commands.calls_changed.connect(self.show_calls)
        commands.requests_changed.connect(self.show_requests)
        commands.read_failed.connect(self._fault.show_problem)
        commands.failed.connect(self.show_problem)
        commands.changed.connect(self._offer_undo)
        commands.answers_known.connect(self._on_answers)
        commands.answers_unknown.connect(self._on_no_answers)
        grants.grants_changed.connect(self.show_grants)
        grants.changes_changed.connect(self.show_changes)
        grants.open_servers_changed.connect(self.granted.show_open_servers)
        grants.failed.connect(self.show_problem)
        grants.began.connect(self._sheets.open_allow)
        grants.done.connect(self.context.say)
        grants.taken_back.connect(self._on_taken_back)
        grants.on_hub_changed()
        self._on_hub_changed()
        for news in (hub.approval_asked, hub.approval_ended, hub.server_files_changed):
            news.connect(commands.look_waiting)
        hub.snapshot_changed.connect(self._on_hub_changed)
        for more in (hub.client_list_updated, hub.config_changed, hub.grants_changed, hub.server_files_changed):
            more.connect(self.look_again)

    def enable(self, is_usable: bool) -> None:
        self._allow.setEnabled(is_usable)
        self._stack.setEnabled(is_usable)
        self.waiting.setEnabled(is_usable)

    def show_part(self, part: str, text: str = "") -> None:
        """Shows what runs without asking on a server: "server" and its name; or the grants and changed tools: "granted"."""
        self.show_tab(GRANTED if part == "granted" else RULES)
        if part == "server":
            self._search.clear()
            self._asked = text
            self.rules.choose(text)

    def show_tab(self, index: int) -> None:
        """Shows one of the tabs."""
        self._tabs.choose(index)
        self._stack.setCurrentIndex(index)
        self._search.setEnabled(index == RULES)

    # what the hub says

    def show_permissions(self, servers: Sequence[ServerPermissions]) -> None:
        self.rules.show_permissions(servers)
        self._count(RULES, sum(tool.is_free for each in servers for tool in each.tools))
        if self._asked:
            asked, self._asked = self._asked, ""
            self.rules.choose(asked)
        self._follow_tool()

    def show_grants(self, grants: Sequence[GrantSnapshot]) -> None:
        self.granted.show_grants(grants)
        self.rules.show_grants(grants)
        self._count(GRANTED, len(grants))
        self._follow_tool()

    def show_changes(self, changes: Sequence[ToolChange]) -> None:
        self.granted.show_changes(changes)
        self._tell_need()

    def show_clients(self, modes: Sequence[ClientModeSnapshot]) -> None:
        self.clients.show_clients(modes)
        self._count(CLIENTS, sum(has_own_rules(mode) for mode in modes))

    def show_folders(self, folders: Sequence[str]) -> None:
        self.trusted.show_folders(folders)
        self._count_trusted()

    def show_trusted(self, entries: Sequence[TrustedEntry]) -> None:
        self.trusted.show_entries(entries)
        self._count_trusted()

    def show_decisions(self, entries: Sequence[AuditEntry]) -> None:
        self.decisions.show_entries(entries)
        self._count(DECISIONS, len(entries))

    def show_calls(self, calls: Sequence[ApprovalSnapshot]) -> None:
        self.waiting.show_calls(calls)
        self._tell_need()
        sheet = self.context.sheets.sheet
        if sheet is not None and isinstance(sheet.panel, CallPanel) and sheet.panel.call_id not in {call.id for call in calls}:
            sheet.dismiss()

    def show_requests(self, requests: Sequence[TrustRequest]) -> None:
        self.waiting.show_requests(requests)
        self._tell_need()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure: in the sheet of its call, else at the top; None removes it."""
        panel = self.context.sheets.panel
        if problem is not None and isinstance(panel, CallPanel):
            panel.show_refusal(problem)
        else:
            self._fault.show_problem(problem)

    def _on_hub_changed(self) -> None:
        """Reads what waits once the hub is connected, and clears it when it disconnects; also while hidden, since the navigation shows the
        number.
        """
        is_known = self.context.hub.snapshot is not None
        if is_known and not self._is_known:
            self.commands.look_waiting()
        elif self._is_known and not is_known:
            self.show_calls(())
            self.show_requests(())
        self._is_known = is_known

    def _count(self, tab: int, count: int) -> None:
        self._counts[tab] = count
        self._tabs.set_counts(self._counts)

    def _count_trusted(self) -> None:
        self._count(TRUSTED, len(self.trusted.folders.rows) + len(self.trusted.entries.rows))

    def _tell_need(self) -> None:
        self.need_person.emit(len(self.waiting.calls) + len(self.granted.changes))

    # sheets

    def open_call(self, call: ApprovalSnapshot) -> None:
        """Opens the sheet that answers a call; an open sheet of any kind stays."""
        if self.context.sheets.sheet is None:
            panel = CallPanel(self.context.theme, call)
            panel.answered.connect(self.commands.answer)
            panel.preview_requested.connect(lambda server, rule: self.commands.preview_rule(rule.answer, server, rule.rule))
            self.commands.rule_previewed.connect(panel.show_preview)
            panel.close_requested.connect(self.context.sheets.open(panel).dismiss)

    def open_tool(self, of: ToolRow) -> None:
        """Opens the sheet of one tool; an open sheet of any kind stays."""
        if self.context.sheets.sheet is not None:
            return
        panel, server, tool = ToolPanel(self.context.theme, of), of.server, of.tool.tool
        panel.chosen.connect(lambda chosen: self.commands.set_tool(server, tool, chosen, panel.of.tool.choice))
        panel.take_back_requested.connect(self.grants.take_back)
        sheet = self.context.sheets.open(panel)
        panel.close_requested.connect(sheet.dismiss)
        panel.activity_requested.connect(sheet.dismiss)
        panel.activity_requested.connect(partial(self._show_activity, server, tool))
        self.commands.look_answers(server, tool)

    def _follow_tool(self) -> None:
        """Updates the open sheet of a tool."""
        panel = self.context.sheets.panel
        if isinstance(panel, ToolPanel) and (now := self.rules.tool(*panel.of.key)) is not None:
            panel.show_tool(now)

    def _on_answers(self, server: str, tool: str, answers: Sequence[ActivityRow]) -> None:
        panel = self.context.sheets.panel
        if isinstance(panel, ToolPanel) and panel.of.key == (server, tool):
            panel.show_answers(answers)

    def _on_no_answers(self, server: str, tool: str, problem: Problem) -> None:
        panel = self.context.sheets.panel
        if isinstance(panel, ToolPanel) and panel.of.key == (server, tool):
            panel.show_no_answers(problem)

    def _show_activity(self, server: str, tool: str) -> None:
        wanted = msgspec.to_builtins(ActivityFilter(servers=(server,), tools=(tool,)))
        self.context.links.part_asked.emit("activity", "filter", json.dumps(wanted))

    def _on_grant_opened(self, grant: GrantSnapshot) -> None:
        if grant.kind == "rule":
            self.open_rule(grant)
        elif grant.kind == "tool" and (of := self.rules.tool(grant.server, grant.tool)) is not None:
            self.open_tool(of)

    def open_rule(self, grant: GrantSnapshot) -> None:
        """Opens the sheet of a rule on arguments; an open sheet of any kind stays."""
        if self.context.sheets.sheet is not None:
            return
        panel = RulePanel(self.context.theme, grant)
        panel.take_back_requested.connect(self.grants.take_back)
        self.commands.rule_previewed.connect(panel.show_preview)
        panel.close_requested.connect(self.context.sheets.open(panel).dismiss)
        self.commands.preview_rule(grant.id, grant.server, grant.rule)

    # revoking

    def _offer_undo(self, text: str, undo: Callable[[], None]) -> None:
        self.context.offer_undo(text).action_requested.connect(undo)

    def _on_taken_back(self, id: str) -> None:
        self._offer_undo(tr("Revoked"), partial(self.grants.give_back, id))

    def _on_refuse(self, id: str) -> None:
        self.commands.answer(id, "refuse")

    def _on_allow_folder(self) -> None:
        self.context.choose_folder(tr("Allow a folder"), self.commands.allow_folder)
