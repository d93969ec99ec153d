"""The Permissions page: what runs without asking and why, with a choice for servers, tools and clients."""

import json
import time
from datetime import datetime

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from shiboken6 import isValid
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import button, cells, control, drawn, words
from tests.ui.test_accessibility import nameless

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ClientListUpdated
from tooltray.foundation.snapshots.activity import ActivityEntry, ActivityRow
from tooltray.foundation.snapshots.approvals import (
    CHOICES,
    GrantSnapshot,
    ServerPermissions,
    ToolPermission,
)
from tooltray.ui.approval.permission_words import ToolRow, answer_word, comes_to
from tooltray.ui.approval.permissions_page import PermissionsPage
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.toast import Toast

READ = ToolPermission("read_it", "read", "default", True, "It only reads")
WRITE = ToolPermission("write_it", "write", "default", False, "It may change things")
ALLOWED = ToolPermission("<b>push</b>", "write", "default", False, "It may change things", ("g",))
FILES = ServerPermissions("files", ("read",), tools=(READ, WRITE))
GIT = ServerPermissions("git", ("all",), tools=(ALLOWED, replace(READ, tool="log")))
GRANT = GrantSnapshot("g", "tool", "git", "<b>push</b>", client="Cursor", created_at=time.time())


def engine(*servers: ServerPermissions) -> FakePresenter:
    fake = FakePresenter([server("files"), server("git")])
    fake.permissions = list(servers or (FILES, GIT))
    return fake


async def opened(desk: Desk, tab: int = 0) -> PermissionsPage:
    desk.window.open_page("permissions")
    page = desk.permissions
    page.show_tab(tab)
    await until(lambda: len(page.rules.servers.rows) == len(desk.engine.permissions) + 1 and not len(desk.tasks))
    return page


async def undone(desk: Desk) -> str:
    """Presses Undo in the toast that is there; returns what it says."""
    await until(lambda: desk.window.findChildren(Toast))
    toast = desk.window.findChildren(Toast)[-1]
    text = toast.text
    button(toast, "Undo").click()
    await until(lambda: not isValid(toast) and not len(desk.tasks))
    return text


def choice(widget: object, name: str) -> Choice:
    return next(each for each in widget.findChildren(Choice) if each.accessibleName().startswith(name))  # type: ignore[attr-defined]


def pick(menu: QMenu, title: str) -> None:
    next(action for action in menu.actions() if action.text() == title).trigger()
    menu.close()


async def test_servers_say_how_much_of_them_runs_without_asking_and_tools_why(theme: Theme) -> None:
    fake = engine()
    fake.grants = [GRANT]
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        assert [cells(page.rules.servers, at) for at in range(3)] == [["All servers", ""], ["files", "1 of 2"], ["git", "1 of 2"]]
        assert "1 of 2 servers runs everything without asking." in drawn(page)
        assert cells(page.rules.tools, 1) == ["write_it", "files", "Asks first", "It may change things", "Change…"]
        assert cells(page.rules.tools, 2)[2] == "Allowed for Cursor"
        assert nameless(desk.window) == []
        control(page, "Ask first, 2").click()
        assert [each.tool.tool for each in page.rules.tools.rows] == ["write_it", "<b>push</b>"]


async def test_the_rules_of_a_server_are_chosen_and_undone(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        desk.window.context.links.part_asked.emit("permissions", "server", "files")  # as another page does
        await until(lambda: page.rules.server == "files")
        chosen = choice(page, "What runs without asking")
        chosen.click()
        pick(chosen.findChildren(QMenu)[-1], "Everything")
        await desk.asked("set_server_auto_approve", "files", ["all"])
        await until(lambda: chosen.chosen == "all")
        assert await undone(desk) == "What runs without asking of files is changed"
        assert ("set_server_auto_approve", "files", ["read"]) in desk.engine.calls


async def test_one_tool_is_made_to_ask_by_the_keyboard_and_that_is_undone(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        tools = page.rules.tools
        tools.setFocus()
        tools.setCurrentIndex(tools.model().index(0, 0))
        QTest.keyClick(tools, Qt.Key.Key_Space)
        pick(tools.findChildren(QMenu)[-1], "Asks first")
        await desk.asked("set_tool_approval", "files", "read_it", "ask")
        await until(lambda: cells(tools)[2] == "Asks first")
        assert await undone(desk) == "read_it asks first"
        assert ("set_tool_approval", "files", "read_it", "default") in desk.engine.calls


async def test_what_could_not_be_chosen_is_said_and_stands_as_before(theme: Theme) -> None:
    fake = engine()
    fake.failures["set_server_auto_approve"] = TooltrayError("Server 'files' not found")
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        page.show_part("server", "files")
        chosen = choice(page, "What runs without asking")
        chosen.chosen_changed.emit("all")
        await until(lambda: "Server 'files' not found" in drawn(page))
        assert chosen.chosen == "reads"


async def test_a_server_that_goes_while_one_looks_is_shown_no_more(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        page.show_part("server", "git")
        desk.engine.permissions = [FILES]
        desk.engine.bus.publish(ClientListUpdated())
        await until(lambda: len(page.rules.servers.rows) == 2)
        assert page.rules.server == ""
        assert not choice(page, "What runs without asking").isVisible()


async def test_tools_that_are_not_known_are_not_said_to_be_none(theme: Theme) -> None:
    async with Desk(engine(ServerPermissions("files", (), is_listed=False)), theme) as desk:
        page = await opened(desk)
        page.show_part("server", "files")
        assert "Which tools it has is not known yet" in drawn(page)
        assert cells(page.rules.servers, 1) == ["files", "Nothing"]


async def test_five_thousand_tools_are_searched_by_name_and_server(theme: Theme) -> None:
    tools = tuple(replace(WRITE, tool=f"tool_{number}") for number in range(50))
    async with Desk(engine(*(ServerPermissions(f"s{number}", (), tools=tools) for number in range(100))), theme) as desk:
        page = await opened(desk)
        assert len(page.rules.tools.rows) == 5000
        QTest.keyClick(desk.window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClicks(desk.window.focusWidget(), "TOOL_7 s42")
        assert [each.key for each in page.rules.tools.rows] == [("s42", "tool_7")]
        assert [each.server for each in page.rules.servers.rows] == ["", "s42"]


async def test_a_tool_opened_shows_its_last_answers_and_leads_to_its_calls(theme: Theme) -> None:
    fake = engine()
    fake.grants = [GRANT]
    asked: list[tuple[str, str, str]] = []
    entry = ActivityEntry(1, "approval", time.time(), "refused", client="Cursor", touched="origin")
    fake.get_activity = lambda **_: [ActivityRow(entry, 1, 1, entry.at)]  # type: ignore[attr-defined]
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        links = desk.window.context.links
        links.part_asked.disconnect()
        links.part_asked.connect(lambda *part: asked.append(part))
        page.rules.tools.row_chosen.emit(page.rules.tools.rows[2])
        panel = desk.window.sheet.panel
        await until(lambda: "Refused · Cursor · origin" in drawn(panel))
        assert nameless(desk.window) == []
        control(panel, "Revoke").click()
        await until(lambda: desk.engine.grants == [])
        control(panel, "Asks first").click()
        await desk.asked("set_tool_approval", "git", "<b>push</b>", "ask")
        control(panel, "Show its calls").click()
        (_, part, text) = asked[-1]
        assert (part, json.loads(text)["tools"]) == ("filter", ["<b>push</b>"])


async def test_answers_that_cannot_be_read_are_said_to_be_not_known(theme: Theme) -> None:
    fake = engine()
    fake.failures["get_activity"] = TooltrayError("The journal cannot be read")
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        page.rules.open_tool(page.rules.tools.rows[0])
        await until(lambda: "Not known: The journal cannot be read" in words(desk.window.sheet.panel))


async def test_what_could_not_be_chosen_in_the_sheet_of_a_tool_is_said_there(theme: Theme) -> None:
    fake = engine()
    fake.failures["set_tool_approval"] = TooltrayError("The disk is full")
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        page.rules.open_tool(page.rules.tools.rows[0])
        panel = desk.window.sheet.panel
        control(panel, "Asks first").click()
        await until(lambda: "The disk is full" in words(panel))
        assert control(panel, "As its server").isChecked()
        fake.failures.clear()
        control(panel, "Asks first").click()
        assert "The disk is full" not in words(panel)
        await until(lambda: cells(page.rules.tools)[2] == "Asks first")


async def test_a_hub_that_cannot_say_is_not_taken_for_one_that_allows_nothing(theme: Theme) -> None:
    fake = engine()
    fake.failures["get_permissions"] = TooltrayError("Tooltray is not running")
    async with Desk(fake, theme) as desk:
        desk.window.open_page("permissions")
        page = desk.permissions
        await until(lambda: "Tooltray is not running" in drawn(page))
        assert "No servers yet" not in drawn(page)
        assert "No tools listed yet." not in drawn(page)
        fake.failures.clear()
        page.look_again()
        await until(lambda: "1 of 2 servers runs everything" in drawn(page))


async def test_the_rules_of_a_server_on_arguments_are_said_in_words(theme: Theme) -> None:
    async with Desk(engine(replace(FILES, call_rules=("read_it, where path is x",)), GIT), theme) as desk:
        page = await opened(desk)
        page.rules.choose("files")
        assert "Runs without asking: read_it, where path is x." in words(page)
        page.rules.choose("git")
        assert "read_it, where path is x" not in words(page)


def test_each_answer_to_a_call_has_words() -> None:
    for outcome in (*CHOICES, "rule", "refused", "late", "cancelled"):
        word = answer_word(ActivityEntry(1, "approval", 1.0, outcome))
        assert word[:1].isupper(), outcome


def test_a_tool_that_is_allowed_until_the_screen_locks_says_so() -> None:
    tool, grant = ToolPermission("t", "write", "default", False, "", ("1",)), GrantSnapshot("1", "tool", "s", "t", until="lock")
    row = ToolRow("s", tool, True, (grant,))
    assert comes_to(row, datetime.now()) == ("Allowed until the screen locks", "accent")
    assert comes_to(replace(row, grants=(replace(grant, until=""),)), datetime.now()) == ("Allowed", "accent")
