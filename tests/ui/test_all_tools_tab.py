"""The page of tools: what is known of each stands in one line, what is not known is never none, many are switched at once."""

import time
from datetime import datetime
from typing import Any

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.server_snapshots import server, tool
from tests.fakes.tools_in_memory import ToolsInMemory
from tests.ui.seen import button, cells, control, words
from tests.ui.test_accessibility import nameless

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import GrantsChanged, ToolCallResult
from tooltray.foundation.snapshots.activity import ActivityFigures, ActivityFilter, ToolUse
from tooltray.foundation.snapshots.approvals import GrantSnapshot, ServerPermissions, ToolPermission
from tooltray.foundation.snapshots.clients import ProfileSnapshot
from tooltray.foundation.snapshots.servers import AccessSnapshot
from tooltray.foundation.snapshots.tools import MCPToolResponse, ServerCost, ToolCost, ToolCosts
from tooltray.ui.approval.tool_approval import ToolSheet
from tooltray.ui.kit.destinations import CallsWhere, Destination, NewProfile, OpenTool, Servers, ToolsOf
from tooltray.ui.state_language import UNKNOWN
from tooltray.ui.theme import Theme
from tooltray.ui.tools import tool_rows
from tooltray.ui.tools.all_tools_tab import FilterLine
from tooltray.ui.tools.tool_details import ToolDetails
from tooltray.ui.tools.tools_tab import ToolsTab
from tooltray.ui.tools.try_sheet import TrySheet
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.filter_tabs import FilterTab
from tooltray.ui.widgets.row_model import Heading
from tooltray.ui.widgets.toast import Toast

SERVERS = [server("files"), server("git"), server("unread", is_listed=False)]
TOOLS = [
    tool("read", "files", description="Reads <b>a file</b>\u202e."),
    tool("write", "files", category="write", is_approved=False),
    tool("changed", "git", is_held=True, is_approved=False),
    tool("off", "git", is_enabled=False),
]
OF_VIEWS = [tool("map", "files", has_view=True), tool("refresh", "files", is_for_views=True)]
USE = ToolUse("files", "read", 7, 2, time.time() - 60, ("cursor", "tooltray"))
SCHEMA = {"type": "object", "properties": {"b": {"type": "integer"}, "a": {"type": "string", "description": "which"}}, "required": ["a"]}
AT_NOON = datetime.now().replace(hour=12, minute=0, second=0, microsecond=0).timestamp()
NOON = "12:00"
PICK, NAME, OF, TOKENS, GOES, CHANGE, LAST, USERS = range(8)


def engine(**fields: Any) -> ToolsInMemory:
    fake = ToolsInMemory(SERVERS, TOOLS)
    fake.uses = [USE]
    fake.schemas = {"read": SCHEMA}
    fake.figures = [ActivityFigures("files/read", 7, 2, 0, 12.0, 20.0, 0.0)]
    fake.costs = ToolCosts("", 9, 9, (ServerCost("files", 9, 9, (ToolCost("read", 1234, True), ToolCost("write", 5, True))),))
    for name, value in fields.items():
        setattr(fake, name, value)
    return fake


async def opened(desk: Desk) -> ToolsTab:
    desk.window.go(Servers("all_tools"))
    tab = desk.all_tools.tools
    await until(lambda: len(tab.table.rows) == len(desk.engine.tools))
    return tab


def toasts(desk: Desk) -> list[str]:
    return [toast.text for toast in desk.window.findChildren(Toast) if toast.isVisible()]


async def detailed(desk: Desk, name: str) -> ToolDetails:
    tab = await opened(desk)
    desk.window.go(OpenTool(name))
    await until(lambda: tab.details is not None and tab.details._is_read)
    assert tab.details is not None
    return tab.details


async def test_a_tool_with_a_view_or_for_views_alone_says_so(theme: Theme) -> None:
    async with Desk(engine(tools=[*TOOLS, *OF_VIEWS]), theme) as desk:
        details = await detailed(desk, "map")
        await until(lambda: "from files · shows a view" in words(details))
        other = await detailed(desk, "refresh")
        await until(lambda: "from files · only for its server's views" in words(other))


async def test_tools_of_the_server_that_is_tooltray_itself_are_called_so(theme: Theme) -> None:
    async with Desk(engine(tools=[tool("list_servers", "hub")]), theme) as desk:
        tab = await opened(desk)
        assert cells(tab.table)[OF] == "Tooltray's own"
        control(desk.all_tools, "Group by server").click()
        await until(lambda: tab.table.is_grouped and tab.table.rows[0].title == "Tooltray's own")


async def test_a_line_has_all_that_is_known_of_a_tool_and_what_is_not_known_is_marked(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        await until(lambda: cells(tab.table)[TOKENS] == "1,234")
        assert cells(tab.table)[NAME:GOES] == ["read\nReads <b>a file</b>.", "files", "1,234"]
        assert cells(tab.table)[GOES] == "Runs without asking"
        assert cells(tab.table)[USERS] == "cursor, You"
        assert [cells(tab.table, row)[GOES] for row in (1, 2, 3)] == ["Asks first", "Blocked until reviewed", "Off"]
        assert [cells(tab.table, row)[LAST] for row in (1, 2, 3)] == ["Never"] * 3
        assert cells(tab.table, 2)[TOKENS] == UNKNOWN
        await until(lambda: "Not known yet: the tools of unread" in words(tab))
        assert nameless(desk.window) == []


async def test_a_journal_that_cannot_be_read_is_not_a_tool_that_nobody_uses(theme: Theme) -> None:
    async with Desk(engine(uses=None), theme) as desk:
        desk.engine.failures["get_tool_costs"] = TooltrayError("no tokenizer")
        tab = await opened(desk)
        await until(lambda: "How tools were used could not be read" in words(tab))
        assert "What tools cost could not be read" in words(tab)
        assert cells(tab.table)[TOKENS:GOES] + cells(tab.table)[LAST : USERS + 1] == [UNKNOWN, UNKNOWN, UNKNOWN]
        assert [tab.count for tab in tab.filters._tabs] == [4, 1, 1, 1, None]
        details = await detailed(desk, "read")
        await until(lambda: "The journal could not be read." in words(details))


async def test_filters_search_and_server_go_together(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        for name, shown in [
            ("Asks first", ["write"]),
            ("Blocked until reviewed", ["changed"]),
            ("Off", ["off"]),
            ("Never used", ["write", "changed", "off"]),
        ]:
            next(each for each in tab.filters._tabs if each.text() == name).click()
            assert [row.tool.name for row in tab.table.rows] == shown
        QTest.keyClicks(desk.all_tools.search, "files wri")
        assert [row.tool.name for row in tab.table.rows] == ["write"]
        QTest.keyClicks(desk.all_tools.search, "x")
        await until(lambda: "No matching tools" in words(tab))
        QTest.keyClick(desk.all_tools.search, Qt.Key.Key_Escape)
        tab._server.choose("git")
        tab._server.chosen_changed.emit("git")
        assert [row.tool.name for row in tab.table.rows] == ["changed", "off"]


async def test_tools_are_sorted_and_grouped_by_server(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        await until(lambda: tab.table.rows[0].tokens)
        control(desk.all_tools, "Group by server").click()
        assert [row if isinstance(row, Heading) else row.tool.name for row in tab.table.rows] == [
            Heading("files", 2), "read", "write", Heading("git", 2), "changed", "off",
        ]  # fmt: skip
        tab.table.sort_by(TOKENS, False)
        tab.table.sort_changed.emit()
        assert [row.tool.name for row in tab.table.rows if not isinstance(row, Heading)] == ["write", "read", "changed", "off"]
        control(desk.all_tools, "Do not group").click()
        assert [row.tool.name for row in tab.table.rows] == ["changed", "off", "write", "read"]


async def test_a_switch_works_at_once_can_be_undone_and_goes_back_where_it_is_refused(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        tab.table.setFocus()
        tab.table.setCurrentIndex(tab.table.model().index(0, NAME))
        QTest.keyClick(tab.table, Qt.Key.Key_Space)
        await desk.asked("set_tool_enabled", "files", "read", False)
        await until(lambda: "read is off" in toasts(desk))
        button(desk.window, "Undo").click()
        await desk.asked("set_tool_enabled", "files", "read", True)
        await until(lambda: tab.table.rows[0].tool.is_enabled)
        desk.engine.failures["set_tool_enabled"] = TooltrayError("its file cannot be written", "/a/.mcp.json")
        tab.table.switched.emit(tab.table.rows[0], False)
        assert not tab.table.rows[0].tool.is_enabled
        await until(lambda: "Its file cannot be written" in words(desk.all_tools))
        await until(lambda: tab.table.rows[0].tool.is_enabled)


async def test_many_are_switched_at_once_with_undo_and_those_that_refuse_are_counted(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        first = tab.table.mapTo(tab, QPoint(0, 0))
        tab.table.selectAll()
        await until(lambda: "4 tools selected" in words(tab))
        assert tab.table.mapTo(tab, QPoint(0, 0)) == first, "no row moves away from the pointer"
        button(tab, "Switch off").click()
        await until(lambda: "3 tools are off" in toasts(desk))
        await until(lambda: not any(row.tool.is_enabled for row in tab.table.rows))
        button(desk.window, "Undo").click()
        await until(lambda: [row.tool.is_enabled for row in tab.table.rows] == [True, True, True, False])
        desk.engine.failures["set_tool_enabled"] = TooltrayError("no")
        button(tab, "Switch off").click()
        await until(lambda: "3 of 3 tools could not be switched" in words(desk.all_tools))


async def test_a_profile_is_made_of_the_tools_that_are_used_or_selected(theme: Theme) -> None:
    many = [tool(f"t{number}", "files") for number in range(30)]
    async with Desk(engine(tools=many, uses=[replace(USE, tool="t3"), replace(USE, tool="t5")]), theme) as desk:
        tab = await opened(desk)
        gone: list[NewProfile] = []
        await until(lambda: "2 of 30 tools were used in 30 days" in words(tab))
        desk.window.context.go = gone.append
        button(tab, "Make a profile of them…").click()
        assert gone == [NewProfile(ProfileSnapshot("used", ("files",), {"files": ("t3", "t5")}))]
        assert "were used in 30 days" not in words(tab)
        tab.table.selectAll()
        await until(lambda: "30 tools selected" in words(tab))
        button(tab, "Make a profile…").click()
        assert len(gone[1].content.tools["files"]) == 30


async def test_filters_that_find_nothing_are_hidden_and_the_others_go_below_where_there_is_no_room(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        filters = {each.text(): each for each in tab.filters.findChildren(FilterTab)}
        await until(lambda: filters["Off"].isVisible())
        desk.engine.tools = TOOLS[:2]
        tab.look_again()
        await until(lambda: filters["Off"].isHidden() and filters["Blocked until reviewed"].isHidden())
        filters["Asks first"].setFocus()
        QTest.keyClick(filters["Asks first"], Qt.Key.Key_Right)  # over the hidden ones
        assert filters["Never used"].isChecked()
        choice = control(desk.all_tools, "Server: All servers")
        desk.window.resize(1400, 760)
        await until(lambda: tab.filters.x() > choice.geometry().right())
        desk.engine.tools = TOOLS
        tab.look_again()
        desk.window.resize(900, 600)
        await until(lambda: tab.filters.x() < choice.geometry().right())


async def asked_about(desk: Desk, tab: ToolsTab, place: int) -> ToolSheet:
    """Presses Change… in a line; returns the sheet."""
    tab.table.pressed.emit(tab.table.rows[place])
    await until(lambda: isinstance(desk.window.context.sheets.panel, ToolSheet) and not len(desk.tasks))
    panel = desk.window.context.sheets.panel
    assert isinstance(panel, ToolSheet)
    return panel


async def test_whether_a_tool_asks_is_changed_in_its_line(theme: Theme) -> None:
    grant = GrantSnapshot("g1", "tool", "files", "write")
    write = ToolPermission("write", "write", "default", False, "It changes things", ("g1",))
    fake = engine(permissions=[ServerPermissions("files", (), tools=(write,))], grants=[grant])
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        assert cells(tab.table, 1)[CHANGE] == "Change…"
        sheet = await asked_about(desk, tab, 1)
        assert ("get_permissions", "files") in fake.calls
        control(sheet, "Runs without asking").click()
        await desk.asked("set_tool_approval", "files", "write", "always")
        await until(lambda: sheet.of.tool.choice == "always")
        await until(lambda: "Until: " in words(sheet))
        button(sheet, "Revoke").click()
        await desk.asked("remove_grant", "g1")
        await until(lambda: not sheet.of.grants)
        fake.failures["set_tool_approval"] = TooltrayError("The disk is full")
        control(sheet, "Asks first").click()
        await until(lambda: "The disk is full" in words(sheet) and not len(desk.tasks))
        button(desk.window.findChildren(Toast)[-1], "Undo").click()
        await desk.asked("restore_grant", "g1")
        await until(lambda: sheet.of.grants)


@pytest.mark.parametrize(
    ("fields", "chip", "sentence"),
    [
        ({"client": "claude-code", "expires_at": AT_NOON}, "Allowed for Claude Code", f"Asks first; allowed for Claude Code until {NOON}."),
        ({"client": "claude-code"}, "Allowed for Claude Code", "Asks first; allowed for Claude Code."),
        ({"session": "1"}, "Allowed for One session", "Asks first; allowed for One session."),
        ({"expires_at": AT_NOON}, f"Allowed until {NOON}", "You have allowed it. Otherwise it asks first."),
    ],
)
async def test_what_was_allowed_for_a_time_is_in_the_line_and_the_pane(
    theme: Theme, fields: dict[str, Any], chip: str, sentence: str
) -> None:
    write = ToolPermission("write", "write", "default", False, "It changes things", ("g1",))
    grant = GrantSnapshot("g1", "tool", "files", "write", **fields)
    async with Desk(engine(permissions=[ServerPermissions("files", (), tools=(write,))], grants=[grant]), theme) as desk:
        tab = await opened(desk)
        await until(lambda: cells(tab.table, 1)[GOES] == chip)
        details = await detailed(desk, "write")
        await until(lambda: sentence in words(details).splitlines())
        assert chip in [each.accessibleName() for each in details.findChildren(Chip)]
        desk.engine.grants = []
        desk.engine.permissions = [ServerPermissions("files", (), tools=(replace(write, grants=()),))]
        desk.engine.bus.publish(GrantsChanged())
        await until(lambda: cells(tab.table, 1)[GOES] == "Asks first")
        await until(lambda: "It can change things, so you are asked first." in words(details))


async def test_a_tool_that_a_rule_lets_run_is_said_so_where_access_says_it(theme: Theme) -> None:
    rules = ("write, where path is x; no other arguments",)
    write = ToolPermission("write", "write", "default", False, "It changes things", call_rules=rules)
    fake = ToolsInMemory([server("files", access=AccessSnapshot("careful", (), "reads", has_call_rules=True))], TOOLS)
    fake.permissions = [ServerPermissions("files", (), tools=(write,))]
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        await until(lambda: cells(tab.table, 1)[GOES] == "Asks, except by a rule")
        details = await detailed(desk, "write")
        await until(lambda: "Runs without asking: write, where path is x; no other arguments" in words(details))
        sheet = await asked_about(desk, tab, 1)
        assert "Asks, except by a rule" in [each.accessibleName() for each in sheet.findChildren(Chip)]


async def test_a_tool_of_a_server_is_tried_with_two_presses(theme: Theme) -> None:
    fake = engine(tools=[tool("write", "files", category="write"), replace(TOOLS[3], server="files"), *TOOLS])
    fake.tools = [*{(each.server, each.name): each for each in fake.tools}.values()]
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        desk.all_tools.search.setText("changed")
        tab.filters._tabs[tool_rows.UNUSED].click()
        desk.window.go(ToolsOf("files"))
        await until(lambda: tab.details is not None)
        assert tab.details is not None
        assert tab.details.row.name == "read"  # it is on, and changes nothing
        assert {row.tool.server for row in tab.table.rows} == {"files"}
        assert len(tab.table.rows) == 3
        assert tab.table.rows[tab.table.currentIndex().row()].name == "read"
        assert tab.table.picked == []
        button(tab.details, "Try it").click()
        await until(lambda: isinstance(desk.window.context.sheets.panel, TrySheet))
        assert "Reads <b>a file</b>." in words(desk.window.context.sheets.panel)


async def test_why_a_tool_s_approval_cannot_be_seen_is_said_on_the_page(theme: Theme) -> None:
    async with Desk(engine(grants=[GrantSnapshot("g1", "tool", "files", "read")]), theme) as desk:
        desk.engine.failures["get_permissions"] = TooltrayError("The hub is busy")
        details = await detailed(desk, "write")
        await until(lambda: "It can change things, so you are asked first." in words(details))
        button(details, "Change…").click()
        await until(lambda: "The hub is busy" in words(desk.all_tools) and not len(desk.tasks))
        assert "Temporary approvals could not be read" in words(desk.all_tools)
        assert desk.window.sheet is None


async def test_a_row_that_is_opened_is_not_ticked(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        table = tab.table
        QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=table.visualRect(table.model().index(1, NAME)).center())
        assert tab.details is not None
        assert table.picked == []
        QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=table.visualRect(table.model().index(0, PICK)).center())
        assert [row.tool.name for row in table.picked] == ["read"]


async def test_the_pane_has_what_a_tool_does_and_takes_and_how_it_was_used(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        details = await detailed(desk, "read")
        await until(lambda: "12 ms" in words(details))
        shown = words(details)
        for part in ("from files · 1,234 tokens", "Reads <b>a file</b>.", "Runs without asking", "7", "cursor, You"):
            assert part in shown
        assert shown.index("\na\n") < shown.index("\nb\n")
        links: list[Destination] = []
        desk.window.context.go = links.append
        button(details, "Show its calls").click()
        assert links == [CallsWhere(ActivityFilter(servers=("files",), tools=("read",)))]
        button(details, "Copy name").click()
        assert QGuiApplication.clipboard().text() == "read"
        button(details, "Name and description for AI clients…").click()
        assert desk.window.sheet is not None
        desk.window.sheet.dismiss()
        QTest.keyClick(desk.all_tools.tools._split, Qt.Key.Key_Escape)
        assert desk.all_tools.tools.details is None


async def test_a_tool_that_is_off_can_be_looked_at_but_not_tried(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        details = await detailed(desk, "off")
        await until(lambda: "They can be seen while the tool is on." in words(details))
        assert not button(details, "Try it").isEnabled()
        desk.engine.tools = [replace(each, is_enabled=True) for each in desk.engine.tools]
        desk.all_tools.tools.look_again()
        await until(lambda: button(details, "Try it").isEnabled())


async def test_without_tools_the_page_says_where_they_come_from(theme: Theme) -> None:
    async with Desk(ToolsInMemory(), theme) as desk:
        desk.window.go(Servers("all_tools"))
        await until(lambda: "No tools yet" in words(desk.all_tools))


async def test_a_call_is_news_of_use(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tab = await opened(desk)
        tab._use_later.setInterval(0)
        asked = len([call for call in desk.engine.calls if call[0] == "get_tool_use"])
        desk.engine.bus.publish(ToolCallResult(MCPToolResponse("read", "files", "c", "ok", 0.0, 0, 0)))
        await until(lambda: len([call for call in desk.engine.calls if call[0] == "get_tool_use"]) > asked)


@pytest.mark.parametrize(("used", "count", "share"), [(14, 183, (14, 183)), (0, 100, None), (15, 20, None), (2, 10, None)])
def test_a_profile_is_proposed_where_few_of_many_tools_are_used(used: int, count: int, share: tuple[int, int] | None) -> None:
    tools = [tool(f"t{number}", "s") for number in range(count)]
    uses = [ToolUse("s", f"t{number}", 1, 0, 1.0, ()) for number in range(used)]
    assert tool_rows.used_share(tool_rows.rows_of(tools, None, uses)) == share
    assert tool_rows.used_share(tool_rows.rows_of(tools, None, None)) is None


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"is_enabled": False}, "AI clients do not see it."),
        ({"is_held": True}, "Its definition has changed since you allowed it. It asks until you have seen how."),
        ({}, "What you have allowed for this server covers it."),
        ({"is_approved": False, "category": "write"}, "It can change things, so you are asked first."),
        ({"is_approved": False}, "You are asked before each call."),
    ],
)
def test_why_a_call_asks_is_said(theme: Theme, fields: dict[str, Any], words: str) -> None:
    assert tool_rows.why_so(tool_rows.rows_of([tool("t", "s", **fields)], None, None)[0]) == words


def test_the_filters_have_the_margins_of_the_zoom_that_they_are_built_at(app: QApplication, theme: Theme) -> None:
    theme.set_zoom(app, 150)
    try:
        line = FilterLine([], QWidget())
        margins = line.layout().contentsMargins()
        assert (margins.left(), margins.top()) == (36, 18)
    finally:
        theme.set_zoom(app, 100)
