"""The sheet that allows tools of a server for longer than one call: opened from the server's tab Access, it shows what that covers."""

import asyncio

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server, tool
from tests.ui.seen import button, control, words
from tests.ui.test_accessibility import nameless

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.approvals import ServerPermissions
from tooltray.foundation.snapshots.clients import ClientModeSnapshot
from tooltray.foundation.snapshots.tools import CoveredTool
from tooltray.ui.approval.allow_tools_sheet import AllowToolsSheet, NewGrant
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.choice import Choice, Option
from tooltray.ui.widgets.table import Table

TOOLS = [tool("read_file", "files"), tool("list_folder", "files"), tool("write_file", "files", category="write"), tool("pay", "bank")]
SEEN = ClientModeSnapshot("cursor-vscode", "Cursor", "", "everything", "", is_seen=True)
UNSEEN = replace(SEEN, client="zed", title="Zed", is_seen=False)


def engine() -> FakePresenter:
    fake = FakePresenter([server("files"), server("bank")], TOOLS)
    fake.client_modes, fake.permissions = [SEEN, UNSEEN], [ServerPermissions("files", ("read",))]
    return fake


async def allowing(desk: Desk) -> AllowToolsSheet:
    details = desk.open_server("files", "access")
    allow = control(details, "Allow tools…")
    await until(allow.isEnabled)
    allow.click()
    await until(lambda: desk.window.sheet is not None)
    assert desk.window.sheet is not None
    panel = desk.window.sheet.panel
    assert isinstance(panel, AllowToolsSheet)
    return panel


def choice(panel: QWidget, name: str) -> Choice:
    return next(each for each in panel.findChildren(Choice) if each.accessibleName().startswith(f"{name}: "))


def choose(panel: QWidget, name: str, title: str) -> None:
    """As a person does: opens the menu and takes an entry."""
    control = choice(panel, name)
    control.click()
    menu = control.findChildren(QMenu)[-1]
    next(action for action in menu.actions() if action.text() == title).trigger()
    menu.close()


def option(panel: QWidget, title: str) -> Option:
    return next(each for each in panel.findChildren(Option) if each.text() == title)


async def test_all_reads_of_a_server_are_allowed_after_a_look_at_what_that_covers(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        panel = await allowing(desk)
        go = button(panel, "Allow")
        assert not go.isEnabled()
        await until(go.isEnabled)
        choose(panel, "For", "Cursor")
        choose(panel, "Ends", "In an hour")
        assert not go.isEnabled()
        await until(go.isEnabled)
        assert [each.original_name for each in panel.findChild(Table).rows] == ["read_file", "list_folder"]
        await until(lambda: "Allows 2 tools, as they are defined now; tools that come later ask:" in words(panel))
        assert nameless(desk.window) == []
        desk.window.activateWindow()
        go.setFocus()
        await until(go.hasFocus)
        QTest.keyClick(go, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await desk.asked("add_grant", "files", "reads", "", "cursor-vscode", 3600.0, "", "r")
        await until(lambda: desk.window.sheet is None)


async def test_one_tool_is_allowed_until_it_is_taken_back(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        panel = await allowing(desk)
        option(panel, "One tool").click()
        await until(lambda: choice(panel, "Tool").isEnabled() and choice(panel, "Tool").chosen == "read_file")
        choose(panel, "Tool", "write_file")
        choose(panel, "Ends", "When you revoke it")
        await until(lambda: "Allows 1 tool, as it is defined now:" in words(panel) and button(panel, "Allow").isEnabled())
        assert panel.grant == NewGrant("files", "tool", "write_file", "", None, "")
        button(panel, "Allow").click()
        await desk.asked("add_grant", "files", "tool", "write_file", "", None, "", "r")


async def test_a_server_that_reads_nothing_can_be_allowed_nothing(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        desk.engine.tools = [tool("pay", "bank", category="write")]
        panel = await allowing(desk)
        await until(lambda: "No tool of this server is marked as one that reads" in words(panel))
        assert not button(panel, "Allow").isEnabled()
        option(panel, "One tool").click()
        assert not choice(panel, "Tool").isEnabled()
        assert not button(panel, "Allow").isEnabled()
        button(panel, "Cancel").click()
        assert desk.window.sheet is None


async def test_what_could_not_be_allowed_says_why_and_can_be_tried_again(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        panel = await allowing(desk)
        await until(button(panel, "Allow").isEnabled)
        desk.engine.failures["add_grant"] = TooltrayError("the disk is full", "grants.json")
        button(panel, "Allow").click()
        await until(lambda: "The disk is full" in words(panel) and button(panel, "Allow").isEnabled())
        desk.engine.failures["preview_grant"] = TooltrayError("there is no such server")
        choose(panel, "For", "Cursor")
        await until(lambda: "There is no such server" in words(panel))
        assert not button(panel, "Allow").isEnabled()


async def test_a_look_at_something_else_comes_too_late_to_be_confirmed(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        panel = await allowing(desk)
        await until(button(panel, "Allow").isEnabled)
        late: asyncio.Future[list[CoveredTool]] = asyncio.get_running_loop().create_future()
        desk.engine.preview_grant = lambda **_: late  # type: ignore[method-assign, assignment, return-value]
        choose(panel, "For", "Cursor")
        await desk.asked("preview_grant", "files", "reads", "", "cursor-vscode")
        desk.engine.failures["preview_grant"] = TooltrayError("there is no such server")
        choose(panel, "Ends", "In an hour")
        late.set_result(TOOLS)
        await until(lambda: "There is no such server" in words(panel))
        assert not button(panel, "Allow").isEnabled()


async def test_until_the_screen_locks_can_be_chosen_only_where_that_is_heard(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        for hears in (False, True):
            desk.hub.hears_lock = hears
            panel = await allowing(desk)
            ends = choice(panel, "Ends")
            ends.click()
            menu = ends.findChildren(QMenu)[-1]
            assert ("When the screen locks" in [action.text() for action in menu.actions()]) is hears
            menu.close()
            panel.close_requested.emit()
            await until(lambda: desk.window.sheet is None)


def test_a_choice_says_what_is_chosen_and_tells_only_of_changes(theme: Theme) -> None:
    control = Choice(theme, [("a", "First & last"), ("b", "x" * 100)], name="Which")
    heard: list[str] = []
    control.chosen_changed.connect(heard.append)
    control.show()
    for place in (0, 1):
        control.click()
        menu = control.findChildren(QMenu)[-1]
        assert [action.isChecked() for action in menu.actions()] == [True, False]
        menu.actions()[place].trigger()
        menu.close()
    assert menu.actions()[0].text() == "First && last"
    assert len(menu.actions()[1].text()) < 70
    assert heard == ["b"]
    assert control.accessibleName() == "Which: " + "x" * 100
    control.set_options([("c", "Third")])
    assert control.chosen == "c"
    assert control.minimumSizeHint().width() <= control.sizeHint().width()
    control.grab()
