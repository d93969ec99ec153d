"""The list of every tool of every server in one table, with what it costs, who uses it, and a switch. Draws frozen snapshots."""

from collections.abc import Awaitable, Mapping, Sequence
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import TypeVar

from msgspec.structs import replace
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ConfigChanged, GrantsChanged, ToolCallResult
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.activity import ToolUse
from tooltray.foundation.snapshots.tools import ToolCosts, ToolSnapshot
from tooltray.ui.approval.permission_words import ToolRow as Approval
from tooltray.ui.approval.permission_words import read_tools
from tooltray.ui.approval.tool_approval import ToolApproval
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.kit.background import timer
from tooltray.ui.kit.destinations import AddServer, NewProfile
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.origins import server_name
from tooltray.ui.tools import tool_rows as said
from tooltray.ui.tools.tool_details import ToolDetails
from tooltray.ui.tools.tool_rows import ToolRow, profile_of
from tooltray.ui.tools.try_sheet import Attempts, open_try_sheet
from tooltray.ui.widgets.banner import Banner, FaultArea, NoticesAbove
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.cell_delegate import TWO_LINES_HEIGHT
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.empty_state import EmptyState
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.row_model import Column, Heading, Kind
from tooltray.ui.widgets.split_view import SplitView
from tooltray.ui.widgets.surface import clear, column, fill, row
from tooltray.ui.widgets.table import Table
from tooltray.ui.zoom import px

T = TypeVar("T")
ROOMS = {7: 1060, 6: 928, 3: 832, 5: 748, 4: 664, 2: 484}
"""The width in px below which a column is left to the details, by its place: user, time, tokens, Change…, approval, server."""
NAME = 1  # column
DRAWN_AFTER_MS = 30  # several lists arrive together, and are drawn once
USE_READ_AFTER_MS = 2_000  # after a call; a busy hub has hundreds in that time, and the page shows when a tool was used last
SERVER_WIDTH = 132  # px; "All servers" is not cut
MOST_NAMES = 3  # servers named in a sentence
USES, COSTS = Phrase("How tools were used could not be read"), Phrase("What tools cost could not be read")
APPROVALS = Phrase("Temporary approvals could not be read")


class ToolTable(Table):
    """A table of tools, which hides columns one after the other when it becomes narrow.

    Attributes:
        is_grouped: the tools of each server have a heading; set before the rows are.
    """

    is_grouped = False

    def arranged(self, rows: Sequence[ToolRow]) -> list[ToolRow | Heading]:
        if not self.is_grouped:
            return super().arranged(rows)
        by_server: dict[str, list[ToolRow]] = {}
        for each in super().arranged(rows):
            by_server.setdefault(each.key[0], []).append(each)
        lines: list[ToolRow | Heading] = []
        for server in sorted(by_server, key=str.casefold):
            lines += [Heading(server_name(server), len(by_server[server])), *by_server[server]]
        return lines

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for index, room in ROOMS.items():
            self.setColumnHidden(index, self.width() < px(room))


class ToolsTab(Page):
    """The list of every tool of every server that was ever listed.

    Attributes:
        filters, choices: narrow the list; the owner places them.
    """

    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        self._theme, self._attempts = context.theme, Attempts()
        self._tools: Sequence[ToolSnapshot] | None = None
        self._costs: ToolCosts | None = None
        self._approvals: Mapping[tuple[str, str], Approval] | None = None
        self._unread: set[Phrase] = set()  # reads that have failed
        self._uses: Sequence[ToolUse] | None = None
        self._rows: list[ToolRow] = []
        self._shown: Sequence[ToolRow] = ()  # what the table was given last
        self._wanted = ""  # a published name whose details are to be shown once it is known
        self._wanted_server = ""  # whose tools are to be shown once they are known
        self._is_hint_put_away = False
        self._text = ""
        self._approval = ToolApproval(context, self._show_failure)
        self._ask_tools, self._ask_costs = self.reading(self._read_tools), self.reading(self._read_costs)
        self._ask_use = self.reading(self._read_use)
        self._use_later = timer(self, USE_READ_AFTER_MS, self._ask_use)
        self._drawing = timer(self, DRAWN_AFTER_MS, self._draw)
        self._build()
        self.enable(False)
        self.look_requested.connect(self._refresh)
        context.tools.tool_list_changed.connect(self.look_again)
        context.servers.server_changed.connect(self._draw_soon)
        context.hub.on_any((ToolCallResult,), self._on_call, self)
        context.hub.on_any((GrantsChanged, ConfigChanged), self.look_again, self)

    @property
    def details(self) -> ToolDetails | None:
        details = self._split.details
        return details if isinstance(details, ToolDetails) else None

    def enable(self, is_usable: bool) -> None:
        self._stack.setEnabled(is_usable)
        for control in (self.filters, *self.choices):
            control.setEnabled(is_usable)

    def search(self, text: str) -> None:
        """Shows only the tools with these words."""
        self._text = text
        self._draw_rows()

    def show_tool(self, name: str) -> None:
        """Shows the details of a tool, by the name that AI clients see, as soon as the tools are read."""
        self._wanted = name
        self._show_wanted()

    def show_server(self, name: str) -> None:
        """Shows the tools of one server, and the details of the first, since they have the button that tries it."""
        self._wanted_server = name
        self._draw_soon()

    def try_tool(self, name: str, arguments: str = "") -> None:
        """Opens the sheet that calls a tool, by the name that AI clients see; `arguments` are JSON."""
        show = self._show_try_failure
        self.run(open_try_sheet(self.context, self._attempts, show, name, arguments), show=show)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure at the top; None removes it."""
        self._fault.show_problem(problem)

    # building

    def _build(self) -> None:
        self._fault = FaultArea(self._theme)
        self._hint = column(margins=(24, 0, 24, 0))
        self._make_filters()
        self._stack = QStackedWidget()
        text = tr("Tools come from servers. What a server offers is listed here once it has run.")
        ways = [("server", tr("Add a server"), tr("From the registry, a command, or an address"))]
        self._empty = EmptyState(self._theme, tr("No tools yet"), text, ways)
        self._empty.way_chosen.connect(lambda _: self.context.go(AddServer()))
        self.table = ToolTable(self._theme, self._columns(), tr("Tools"), attrgetter("key"), row_height=px(TWO_LINES_HEIGHT))
        self.table.row_chosen.connect(self._open)
        self.table.switched.connect(self._on_switch)
        self.table.pressed.connect(self._on_change)
        self.table.picked_changed.connect(self._draw_picked)
        self._loading = EmptyState(self._theme, tr("Loading the tools…"), "", ())
        self._none_found = EmptyState(self._theme, tr("No matching tools"), tr("Search for something else, or choose another filter."), ())
        for each in (self._loading, self.table, self._empty, self._none_found):
            self._stack.addWidget(each)
        self._unknown = ElidedLabel(self._theme, "", "caption", "muted")
        self._unknown.setContentsMargins(px(24), px(6), px(24), px(6))
        self._unknown.hide()
        content = QWidget()
        fill(column(content), self._hint, (self._stack, 1), self._make_picked_bar(), self._unknown)  # no row moves when it is shown
        self._split = SplitView(content)
        self._split.closed.connect(self.table.setFocus)
        fill(column(self), (NoticesAbove(self._fault, self._split), 1))

    def _make_filters(self) -> None:
        names = [tr("All"), tr("Asks first"), tr("Blocked until reviewed"), tr("Off"), tr("Never used")]
        self.filters = FilterTabs(self._theme, names, name=tr("Which tools"), hides_empty=True)
        self.filters.chosen.connect(self._draw_rows)
        self._server = Choice(self._theme, [("", tr("All servers"))], name=tr("Server"))
        self._server.setMinimumWidth(px(SERVER_WIDTH))
        self._server.setMaximumWidth(px(180))
        self._server.chosen_changed.connect(self._draw_rows)
        self._group = IconButton(self._theme, "layers", tr("Group by server"), on_click=self._on_group)
        self.choices = (self._server, self._group)

    def _make_picked_bar(self) -> QWidget:
        theme, self._picked_bar = self._theme, QWidget()
        self._picked_words = Label(theme, "", "label")
        fill(
            row(self._picked_bar, margins=(24, 10, 24, 10)),
            self._picked_words,
            1,
            Button(theme, tr("Switch on"), small=True, on_click=partial(self._switch_picked, True)),
            Button(theme, tr("Switch off"), small=True, on_click=partial(self._switch_picked, False)),
            Button(theme, tr("Make a profile…"), small=True, on_click=lambda: self._make_profile(self.table.picked, tr("my tools"))),
        )
        self._picked_bar.hide()
        return self._picked_bar

    def _columns(self) -> list[Column]:
        def last(row: ToolRow) -> str:
            return said.last_used(row, datetime.now())

        return [
            Column("", lambda row: row.name, Kind.PICK, 52),
            Column(tr("Tool"), said.name_and_text, Kind.TWO_LINES, 0, said.tip, lambda row: row.tool.original_name.casefold()),
            Column(tr("Server"), lambda row: server_name(row.tool.server), Kind.QUIET, 116, None, lambda row: row.tool.server.casefold()),
            Column(tr("Tokens"), said.tokens_words, Kind.NUMBER, 84, said.tokens_tip, lambda row: row.tokens or 0, falls=True),
            Column(tr("Approval"), said.approval, Kind.CHIP, 180, said.why_so),
            Column("", lambda row: tr("Change…"), Kind.BUTTON, 84),
            Column(tr("Last used"), last, Kind.QUIET, 96, said.use_tip, lambda row: row.use.last_at if row.use else 0.0, falls=True),
            Column(tr("Used by"), said.used_by, Kind.QUIET, 132, said.use_tip),
            Column(tr("On"), lambda row: row.tool.is_enabled, Kind.SWITCH, 76),
        ]

    # what is read

    def _refresh(self) -> None:
        for ask in (self._ask_tools, self._ask_costs, self._ask_use):
            ask()

    async def _read_tools(self) -> None:
        self._tools = await self.hub.tools.get_tools()
        self._draw_soon()
        self._approvals = await self._known(self._read_approvals(), APPROVALS)

    async def _read_approvals(self) -> Mapping[tuple[str, str], Approval]:
        """Returns what decides about each tool; empty without grants and rules on arguments: then each tool says it itself."""
        has_rules = any(server.access is not None and server.access.has_call_rules for server in self.context.servers.servers)
        return await read_tools(self.hub) if has_rules or await self.hub.approvals.get_grants() else {}

    async def _read_costs(self) -> None:
        self._costs = await self._known(self.hub.views.get_tool_costs(), COSTS)

    async def _read_use(self) -> None:
        self._uses = await self._known(self.hub.activity.get_tool_use(said.USED_DAYS), USES)

    async def _known(self, read: Awaitable[T], failed: Phrase) -> T | None:
        """Returns what was read; None if it could not be read, which a line below the table then explains."""
        self._unread.discard(failed)
        try:
            return await read
        except TooltrayError:
            self._unread.add(failed)
            return None
        finally:
            self._draw_soon()

    def _on_call(self) -> None:
        if self.is_usable and self.isVisible() and not self._use_later.isActive():
            self._use_later.start()

    def _draw_soon(self, *_news: object) -> None:
        self._drawing.start()

    # drawing

    def _draw(self) -> None:
        self._rows = said.rows_of(self._tools or (), self._costs, self._uses, self._approvals or {})
        servers = sorted({row.tool.server for row in self._rows}, key=str.casefold)
        self._server.set_options([("", tr("All servers")), *((name, server_name(name)) for name in servers)])
        wanted = self._wanted_server if self._wanted_server in servers else ""
        if wanted:
            self._wanted_server = ""
            self._server.choose(wanted)
            self.filters.choose(said.ALL)
        self._draw_hint()
        self._draw_unknown()
        self._draw_rows()
        if wanted:
            self._open(min((row for row in self._rows if row.key[0] == wanted), key=said.danger))
        self._show_wanted()
        if (details := self.details) is not None:
            current = next((row for row in self._rows if row.key == details.row.key), None)
            if current is not None:
                details.set_row(current)

    def _draw_rows(self, *_news: object) -> None:
        server, text = self._server.chosen, self._text
        here, filter = said.found(self._rows, server=server, text=text), self.filters.current
        counts: list[int | None] = [*said.counts(here)]
        if self._uses is None:
            counts[said.UNUSED] = None
        self.filters.set_counts(counts)
        shown = [each for each in here if said.is_in(each, filter)] if filter else here
        if shown != self._shown:
            self._shown = shown
            self.table.set_rows(shown)
        self._draw_picked()
        page = self.table if shown else self._none_found if self._rows else self._empty if self._tools is not None else self._loading
        self._stack.setCurrentWidget(page)

    def _draw_hint(self) -> None:
        share = None if self._is_hint_put_away else said.used_share(self._rows)
        clear(self._hint)
        self._hint.setContentsMargins(px(24), 0, px(24), px(12) if share is not None else 0)
        if share is None:
            return
        make = Button(self._theme, tr("Make a profile of them…"), small=True, on_click=self._profile_of_used)
        close = IconButton(self._theme, "x", tr("Dismiss this notice"), small=True, on_click=self._on_hint_closed)
        title = tr("{used} of {count} tools were used in {days} days", used=share[0], count=share[1], days=said.USED_DAYS)
        text = tr("Clients with this profile have fewer tokens in their context.")
        self._hint.addWidget(Banner(self._theme, "info", title, text, make, close))

    def _draw_unknown(self) -> None:
        """Shows which servers' tools are unknown, since these may have tools."""
        unread = [server.name for server in self.context.servers.servers if not server.is_listed and not server.is_disabled]
        names = ", ".join(unread[:MOST_NAMES]) + ("…" if len(unread) > MOST_NAMES else "")
        parts = [tr("Not known yet: the tools of {names}", names=names)] if unread else []
        parts += [say(each) for each in (USES, COSTS, APPROVALS) if each in self._unread]
        self._unknown.set_text(" · ".join(parts))
        self._unknown.setVisible(bool(parts))

    def _draw_picked(self) -> None:
        count = len(self.table.picked)
        self._picked_words.setText(tr("{count} tools selected", count=f"{count:,}"))
        self._picked_bar.setVisible(count > 1)

    # what a person wants

    def _open(self, row: ToolRow) -> None:
        if row in self.table.rows:
            self.table.setCurrentIndex(self.table.model().index(self.table.rows.index(row), NAME))
        details = ToolDetails(self.context, row, try_tool=self.try_tool, change=self._on_change)
        details.close_requested.connect(self._close_details)
        self._split.open_details(details)
        details.run(details.read(), show=self._show_failure)

    def _show_failure(self, problem: Problem | None) -> None:
        """Shows a failure; a success says nothing of an earlier one of something else."""
        if problem is not None:
            self.show_problem(problem)

    def _show_try_failure(self, problem: Problem | None) -> None:
        """Shows a failure of the sheet that calls a tool, which may be open above another page."""
        if problem is not None and not self.isVisible():
            self.context.notices.add_notice(problem)
        else:
            self._show_failure(problem)

    def _show_wanted(self) -> None:
        row = next((each for each in self._rows if self._wanted and self._wanted in (each.tool.name, each.tool.original_name)), None)
        if row is not None:
            self._wanted = ""
            self._open(row)

    def _close_details(self) -> None:
        self._split.close_details()
        self.table.setFocus()

    def _on_change(self, row: ToolRow) -> None:
        self._approval.open(*row.key)

    def _on_switch(self, row: ToolRow, on: bool) -> None:
        self.table.update_row(replace(row, tool=replace(row.tool, is_enabled=on)))  # at once; a failure brings the true list
        self._shown = ()  # which is then shown in any case
        self.run(self._switch([row.tool], on))

    def _switch_picked(self, on: bool) -> None:
        tools = [row.tool for row in self.table.picked if row.tool.is_enabled is not on]
        if tools:
            self.run(self._switch(tools, on))

    async def _switch(self, tools: Sequence[ToolSnapshot], on: bool) -> None:
        """Enables or disables tools for AI clients; offers to undo what worked, and raises why the rest did not."""
        done: list[ToolSnapshot] = []
        failure: TooltrayError | None = None
        for tool in tools:
            try:
                await self.hub.tools.set_tool_enabled(tool.server, tool.original_name, on)
                done.append(tool)
            except TooltrayError as error:
                failure = failure or error
        self._ask_tools()  # the switches then show what is true
        if done:
            self._offer_switching_back(done, on)
        if failure is not None and len(tools) == 1:
            raise failure
        if failure is not None:
            problem, failed = failure.problem, len(tools) - len(done)
            title = tr("{count} of {total} tools could not be switched", count=failed, total=len(tools))
            raise TooltrayError(title, f"{problem.title}. {problem.message}".rstrip(". "), problem.hint)

    def _offer_switching_back(self, tools: Sequence[ToolSnapshot], on: bool) -> None:
        count, name = len(tools), tools[0].original_name
        is_on = many(count, "{name} is on", "{count} tools are on", name=name)
        is_off = many(count, "{name} is off", "{count} tools are off", name=name)
        self.context.offer_undo(is_on if on else is_off).action_requested.connect(lambda: self.run(self._switch(tools, not on)))

    def _on_group(self) -> None:
        self.table.is_grouped = not self.table.is_grouped
        self._group.set_name(tr("Do not group") if self.table.is_grouped else tr("Group by server"))
        self.table.set_rows(self._shown)

    def _on_hint_closed(self) -> None:
        self._is_hint_put_away = True
        self._draw_hint()

    def _profile_of_used(self) -> None:
        self._on_hint_closed()
        used = [row for row in self._rows if row.use is not None and row.tool.is_enabled]
        self._make_profile(used, tr("used"))

    def _make_profile(self, rows: Sequence[ToolRow], name: str) -> None:
        """Opens the sheet of a new profile with these tools; `name`: its suggested name."""
        self.context.go(NewProfile(profile_of(rows, name)))
