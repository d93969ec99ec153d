"""What the Servers page says above its cards: it covers nothing, and says plainly that everything is paused."""

import asyncio

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import control, words

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.ui.clients.clients_page import PROFILES
from tooltray.ui.kit.notice_area import NoticeArea
from tooltray.ui.servers.server_table import ServerTable
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner, FaultArea, NoticesAbove
from tooltray.ui.widgets.chip import StateBadge
from tooltray.ui.widgets.toast import show_toast

BROKEN = Problem("The settings could not be read", "line 4 is not JSON")


def point_at(desk: Desk, widget: QWidget) -> None:
    """Moves the pointer into the middle of a widget."""
    window = desk.window.windowHandle()
    assert window is not None
    place = widget.mapTo(desk.window, widget.rect().center())
    QCursor.setPos(desk.window.mapToGlobal(place))  # where Qt looks when what is under the pointer goes
    QTest.mouseMove(window, place)


def top(desk: Desk, name: str) -> int:
    return desk.card(name).mapTo(desk.window, QPoint(0, 0)).y()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def with_cards(desk: Desk) -> NoticeArea:
    await until(lambda: desk.page.server_list.cards and desk.card("a").isVisible())
    await settle()
    return desk.page.notices


async def test_a_notice_moves_the_cards_and_covers_none_and_leaves_no_band_when_it_goes(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a"), server("b")]), theme) as desk:
        notices = await with_cards(desk)
        before = top(desk, "a")
        point_at(desk, desk.card("a"))
        await until(desk.card("a").underMouse)
        notices.add_notice(BROKEN)
        await until(lambda: top(desk, "a") == before + notices.height() > before)
        close = control(notices, "Dismiss this notice")
        point_at(desk, close)
        await until(close.underMouse)
        close.click()
        await until(lambda: top(desk, "a") == before)


async def test_a_list_that_scrolls_keeps_its_place_under_the_pointer(theme: Theme) -> None:
    async with Desk(FakePresenter([server(f"s{number}") for number in range(11)]), theme) as desk:
        await until(lambda: desk.page.server_list.cards and desk.card("s0").isVisible())
        await settle()
        notices, before = desk.page.notices, top(desk, "s0")
        point_at(desk, desk.card("s0"))
        await until(desk.card("s0").underMouse)
        notices.add_notice(BROKEN)
        await until(notices.isVisible)
        await settle()
        assert top(desk, "s0") == before
        notices.set_notices([])
        control(notices, "Dismiss this notice").click()
        await until(notices.isHidden)
        await settle()
        assert top(desk, "s0") == before


async def test_a_list_gives_way_to_a_notice_where_the_pointer_only_lay_as_the_page_came(theme: Theme) -> None:
    async with Desk(FakePresenter([server(f"s{number}") for number in range(11)]), theme) as desk:
        await until(lambda: desk.page.server_list.cards and desk.card("s0").isVisible())
        await settle()
        notices, before = desk.page.notices, top(desk, "s0")
        point_at(desk, desk.card("s0"))
        await until(desk.card("s0").underMouse)
        desk.window.open_page("tools")
        desk.window.open_page("servers")
        await settle()
        notices.add_notice(BROKEN)
        await until(notices.isVisible)
        await until(lambda: top(desk, "s0") == before + notices.height() > before)


def badges(desk: Desk) -> dict[str, str]:
    found = {}
    for name, card in desk.page.server_list.cards.items():
        badge = card.findChild(StateBadge)
        assert isinstance(badge, StateBadge)
        found[name] = badge.accessibleName()
    return found


async def test_everything_that_is_paused_says_so_and_can_be_resumed_there(theme: Theme) -> None:
    servers = [server("a"), server("b", ServerState.ERROR, problem=Problem("x"))]
    async with Desk(FakePresenter(servers, is_paused=True), theme) as desk:
        notices = await with_cards(desk)
        assert "Everything is paused" in words(notices)
        assert badges(desk) == {"a": "Paused", "b": "Error", "hub": "Paused"}
        muted = desk.card("a").grab().toImage()
        control(notices, "Resume").click()
        await desk.asked("set_mcp_enabled", True)
        await until(notices.isHidden)
        assert badges(desk) == {"a": "Connected", "b": "Error", "hub": "Connected"}
        assert desk.card("a").grab().toImage() != muted


async def test_a_card_that_comes_while_everything_is_paused_is_paused_too(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")], is_paused=True), theme) as desk:
        await with_cards(desk)
        desk.engine.tell(server("late"))
        desk.engine._publish_config()
        await until(lambda: badges(desk).get("late") == "Paused")


async def test_the_table_of_many_is_paused_too(theme: Theme) -> None:
    many: list[ServerSnapshot] = [server(f"s{number}") for number in range(30)]
    async with Desk(FakePresenter(many, is_paused=True), theme) as desk:
        table = desk.page.findChild(ServerTable)
        assert isinstance(table, ServerTable)
        await until(lambda: table.isVisible() and len(table.rows) == 30)
        assert table.model().index(0, 2).data() == "Paused"


@pytest.mark.parametrize("is_failing", [False, True])
def test_what_keeps_the_hub_from_running_is_said_before_that_it_is_paused(theme: Theme, is_failing: bool) -> None:
    notices = NoticeArea(theme)
    notices.set_secrets_problem(Problem("The keyring is locked"))
    notices.set_paused(True)
    notices.set_failure(BROKEN if is_failing else None)
    shown = notices.findChild(Banner)
    assert isinstance(shown, Banner)
    assert shown.accessibleName().startswith("The settings could not be read" if is_failing else "Everything is paused")


async def test_a_notice_or_a_toast_that_goes_gives_the_keyboard_to_no_neighbour(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")], is_paused=True), theme) as desk:
        notices = await with_cards(desk)
        resume = control(notices, "Resume")
        resume.setFocus(Qt.FocusReason.MouseFocusReason)
        resume.click()
        await until(notices.isHidden)
        assert QApplication.focusWidget() is desk.window
        toast = show_toast(theme, desk.window, "a is stopped", "Undo")
        control(toast, "Undo").setFocus(Qt.FocusReason.TabFocusReason)
        toast.dismiss()
        assert QApplication.focusWidget() is desk.window


@pytest.mark.parametrize("name", ["clients", "profiles", "permissions"])
async def test_a_page_s_fault_moves_what_is_below_it(theme: Theme, name: str) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        window = desk.window
        window.open_page("clients" if name == "profiles" else name)
        if name == "profiles":
            desk.open_tab(PROFILES)
        page = {"clients": desk.clients, "profiles": desk.profiles}.get(name) or window.page(name)
        await until(lambda: page.isVisible() and not len(desk.tasks))  # what it asks for when it is shown
        area = page.findChild(NoticesAbove)
        fault = page.findChild(FaultArea)
        assert isinstance(area, NoticesAbove)
        assert isinstance(fault, FaultArea)
        page.show_problem(BROKEN)
        await until(lambda: area.content_top == fault.height() > 0)
        assert "The settings could not be read" in words(fault)
        page.show_problem(None)
        await until(lambda: area.content_top == 0)
