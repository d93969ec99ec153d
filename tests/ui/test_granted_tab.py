"""What was allowed is listed and can be taken back; changed tools show how they differ; more is allowed after a look at what it covers."""

import time

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server, tool
from tests.ui.seen import button, cells, table, words
from tests.ui.test_accessibility import nameless

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import GrantsChanged
from tooltray.foundation.snapshots.approvals import GrantSnapshot, ToolChange
from tooltray.foundation.snapshots.clients import ClientModeSnapshot
from tooltray.ui.approval.permissions_page import GRANTED, PermissionsPage
from tooltray.ui.approval.tool_change_sheet import ToolChangeSheet
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.toast import Toast

WRITE = GrantSnapshot("1", "tool", "files", "write_file", created_at=time.time())
READS = GrantSnapshot("2", "reads", "github", client="Cursor", is_held=True, held_tools=("get_issue",))
CHANGE = ToolChange("github", "get_issue", ("-before", "+after"), ("It gives orders to a model",), revision="seen")
TOOLS = [tool("read_file", "files"), tool("list_folder", "files"), tool("write_file", "files", category="write"), tool("pay", "bank")]
SEEN = ClientModeSnapshot("cursor-vscode", "Cursor", "", "everything", "", is_seen=True)
UNSEEN = replace(SEEN, client="zed", title="Zed", is_seen=False)


def engine(grants: list[GrantSnapshot], changes: list[ToolChange] | None = None) -> FakePresenter:
    fake = FakePresenter([server("files"), server("github"), server("bank")], TOOLS)
    fake.grants, fake.tool_changes, fake.client_modes = grants, changes or [], [SEEN, UNSEEN]
    return fake


async def opened(desk: Desk, count: int) -> PermissionsPage:
    desk.window.open_page("permissions")
    page = desk.permissions
    page.show_tab(GRANTED)
    await until(lambda: len(table(page, "Allowed").rows) == count)
    return page


async def test_what_is_allowed_is_listed_with_whom_and_until_when(theme: Theme) -> None:
    async with Desk(engine([WRITE, READS], [CHANGE]), theme) as desk:
        page = await opened(desk, 2)
        shown = table(page, "Allowed")
        assert [cells(shown)[place] for place in (0, 1, 3, 4)] == ["write_file of files", "All clients", "You revoke it", "On"]
        assert [cells(shown, 1)[place] for place in (0, 1, 3)] == ["Everything of github that reads", "Cursor", "Blocked until reviewed"]
        assert "get_issue" in shown.model().index(1, 3).data(Qt.ItemDataRole.ToolTipRole)
        await until(lambda: cells(table(page, "Changed tools and skills"))[:2] == ["get_issue of github", "Look closely"])
        assert nameless(desk.window) == []


async def test_with_nothing_allowed_the_page_says_what_would_stand_there(theme: Theme) -> None:
    async with Desk(engine([]), theme) as desk:
        page = await opened(desk, 0)
        assert "No standing permissions beyond each server's own" in words(page)
        assert nameless(desk.window) == []


async def test_the_navigation_counts_changed_tools(theme: Theme) -> None:
    async with Desk(engine([READS], [CHANGE]), theme) as desk:
        await desk.window.build_pages()
        item = next(each for each in desk.window.findChildren(QAbstractButton) if each.text() == "Permissions")
        await until(lambda: item.accessibleName() == "Permissions, 1 need you")
        desk.engine.tool_changes = []
        desk.engine.bus.publish(GrantsChanged())
        await until(lambda: item.accessibleName() == "Permissions")


async def test_a_switch_takes_back(theme: Theme) -> None:
    async with Desk(engine([WRITE]), theme) as desk:
        shown = table(await opened(desk, 1), "Allowed")
        shown.setFocus()
        shown.setCurrentIndex(shown.model().index(0, 0))
        QTest.keyClick(shown, Qt.Key.Key_Space)
        await desk.asked("remove_grant", "1")
        await until(lambda: "Revoked" in [toast.text for toast in desk.window.findChildren(Toast)])


async def test_what_could_not_be_taken_back_stays_and_the_page_says_why(theme: Theme) -> None:
    async with Desk(engine([WRITE]), theme) as desk:
        page = await opened(desk, 1)
        desk.engine.failures["remove_grant"] = TooltrayError("the disk is full", "grants.json")
        page.granted.revoke("1")
        await until(lambda: "The disk is full" in words(page))
        assert len(table(page, "Allowed").rows) == 1
        desk.engine.failures.clear()
        page.granted.revoke("1")
        await until(lambda: "The disk is full" not in words(page))


async def test_news_of_what_is_allowed_is_shown(theme: Theme) -> None:
    async with Desk(engine([]), theme) as desk:
        page = await opened(desk, 0)
        desk.engine.grants = [WRITE]
        desk.engine.bus.publish(GrantsChanged())
        await until(lambda: len(table(page, "Allowed").rows) == 1)
        desk.engine.grants = []
        desk.engine.bus.publish(GrantsChanged())
        await until(lambda: "No standing permissions" in words(page))


async def test_a_hundred_grants_can_be_walked_through_by_arrows(theme: Theme) -> None:
    async with Desk(engine([replace(WRITE, id=str(number), tool=f"tool_{number}") for number in range(100)]), theme) as desk:
        page = await opened(desk, 100)
        shown = table(page, "Allowed")
        bar = page.granted._area.verticalScrollBar()
        await until(lambda: bar.maximum() > 1000)
        shown.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(shown, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: bar.value() > 1000)


async def test_a_changed_tool_shows_how_it_differs_and_is_accepted(theme: Theme) -> None:
    async with Desk(engine([READS], [CHANGE]), theme) as desk:
        page = await opened(desk, 1)
        await until(lambda: table(page, "Changed tools and skills").rows)
        page.granted.open_change(CHANGE)
        assert desk.window.sheet is not None
        panel = desk.window.sheet.panel
        assert isinstance(panel, ToolChangeSheet)
        await until(lambda: "get_issue of github has changed" in words(panel))
        assert "It gives orders to a model" in words(panel)
        await until(lambda: QApplication.focusWidget() is button(panel, "Not now"))
        assert nameless(desk.window) == []
        desk.engine.failures["accept_tool_change"] = TooltrayError("the disk is full")
        button(panel, "Accept the change").click()
        await until(lambda: "The disk is full" in words(panel))
        desk.engine.failures.clear()
        button(panel, "Accept the change").click()
        await desk.asked("accept_tool_change", "github", "get_issue", "tool", "seen")
        await until(lambda: desk.window.sheet is None)


async def test_a_row_of_a_changed_tool_opens_it_and_not_now_accepts_nothing(theme: Theme) -> None:
    async with Desk(engine([], [CHANGE]), theme) as desk:
        page = await opened(desk, 0)
        held = table(page, "Changed tools and skills")
        await until(lambda: held.rows)
        held.setCurrentIndex(held.model().index(0, 0))
        QTest.keyClick(held, Qt.Key.Key_Return)
        assert desk.window.sheet is not None
        page.granted.open_change(CHANGE)  # an open sheet stays
        button(desk.window.sheet.panel, "Not now").click()
        assert desk.window.sheet is None
        assert all(call[0] != "accept_tool_change" for call in desk.engine.calls)


async def test_a_click_on_the_switch_takes_back_and_one_beside_it_does_not(theme: Theme) -> None:
    async with Desk(engine([WRITE]), theme) as desk:
        shown = table(await opened(desk, 1), "Allowed")
        for column in (0, 4):
            place = shown.visualRect(shown.model().index(0, column)).center()
            QTest.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=place)
        await desk.asked("remove_grant", "1")
        assert [call for call in desk.engine.calls if call[0] == "remove_grant"] == [("remove_grant", "1")]


@pytest.mark.parametrize("phase", ["hidden", "shown"])
async def test_the_page_asks_how_things_are_when_it_can(theme: Theme, phase: str) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        page = desk.permissions
        page.set_usable(False)
        looks: list[None] = []
        page.look_requested.connect(lambda: looks.append(None))
        if phase == "shown":
            desk.window.open_page("permissions")
            page.set_usable(True)
        else:
            page.set_usable(True)
            assert looks == []
            desk.window.open_page("permissions")
        assert len(looks) == 1


@pytest.mark.parametrize(
    ("rules", "ending"),
    [
        ([], "each server's own"),
        (["all"], "each server's own (1 server allows everything)"),
        (["*", "all", "read"], "each server's own (2 servers allow everything)"),
    ],
)
async def test_without_grants_it_says_which_permissions_there_are_all_the_same(theme: Theme, rules: list[str], ending: str) -> None:
    servers = [server(f"s{place}", auto_approve=(each,)) for place, each in enumerate(rules)]
    async with Desk(FakePresenter(servers), theme) as desk:
        page = await opened(desk, 0)
        await until(lambda: f"No standing permissions beyond {ending}" in words(page).splitlines())
