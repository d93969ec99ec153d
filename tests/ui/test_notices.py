"""Notices in the header: they cover and move nothing, and say plainly that everything is paused."""

import asyncio

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import delete
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import control, drawn, field, words

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import ReleaseNewsChanged
from tooltray.foundation.snapshots.hub import ReleaseNews
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.ui.kit.destinations import Clients, Servers, Settings
from tooltray.ui.kit.notice_area import NoticeArea
from tooltray.ui.kit.secrets_help import SecretsHelp
from tooltray.ui.servers.server_table import ServerTable
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import HEIGHT, FaultArea, NoticeDetails, NoticeLine
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.chip import StateBadge
from tooltray.ui.widgets.filter_tabs import FilterTab
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.page_frame import Header, SearchField
from tooltray.ui.widgets.surface import column
from tooltray.ui.widgets.toast import show_toast

BROKEN = Problem("The settings could not be read", "line 4 is not JSON")


def top(desk: Desk, name: str) -> int:
    return desk.card(name).mapTo(desk.window, QPoint(0, 0)).y()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def with_cards(desk: Desk) -> NoticeArea:
    await until(lambda: desk.page.server_list.cards and desk.card("a").isVisible())
    await settle()
    return desk.page.notices


def controls(desk: Desk) -> list[QRect]:
    """Returns where the controls in the header are."""
    header = desk.page.window().findChild(Header)
    shown = [each for each in header.findChildren(QWidget) if isinstance(each, Label | FilterTab | SearchField) and each.isVisible()]
    return [QRect(each.mapTo(desk.window, QPoint(0, 0)), each.size()) for each in shown if not desk.page.notices.isAncestorOf(each)]


async def test_a_notice_is_a_line_in_the_header_of_whatever_page_and_moves_nothing(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a"), server("b")]), theme) as desk:
        notices = await with_cards(desk)
        before, places = top(desk, "a"), controls(desk)
        notices.add_notice(BROKEN)
        await until(lambda: notices.isVisible() and notices.height() == HEIGHT)
        await settle()
        assert (top(desk, "a"), controls(desk)) == (before, places)
        assert len(places) > 4
        for name in ("activity", "settings", "servers"):
            desk.window.open_page(name)
            await until(notices.isVisible)
            header = desk.window.page(name).findChild(Header)
            assert isinstance(header, Header)
            assert header.isAncestorOf(notices)
            assert header.height() == theme.size("header")
        control(notices, "Dismiss this notice").click()
        await until(notices.isHidden)
        assert top(desk, "a") == before


def line_of(theme: Theme, width: int, *buttons: Button) -> NoticeLine:
    text = "Line 4 is not JSON. Put it right and start Tooltray again."
    line = NoticeLine(theme, "warning", "The settings could not be read", text, *buttons)
    line.resize(width, HEIGHT)
    line.show()
    QApplication.processEvents()
    return line


def test_what_does_not_fit_into_the_line_is_a_click_away_and_the_title_gives_way_last(theme: Theme) -> None:
    wide = line_of(theme, 1200)
    assert "More…" not in [each.text() for each in wide.findChildren(Button) if each.isVisible()]
    line = line_of(theme, 560, Button(theme, "Copy report"))
    assert "The settings could not be read" in drawn(line)
    assert "Tooltray again" not in drawn(line)
    control(line, "More…").click()
    details = line.findChild(NoticeDetails)
    assert "Line 4 is not JSON. Put it right and start Tooltray again." in drawn(details)
    QTest.keyClick(details, Qt.Key.Key_Escape)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert line.findChild(NoticeDetails) is None


async def test_secrets_are_unlocked_from_the_line(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        notices = await with_cards(desk)
        notices.set_secrets_problem(Problem("The keyring is locked", "it was not unlocked", "Run a command"), "file")
        assert "It was not unlocked." in words(notices)
        assert "Run a command" not in words(notices)
        control(notices, "Unlock…").click()
        help = notices.findChild(SecretsHelp)
        assert isinstance(help, SecretsHelp)
        assert "It was not unlocked." in drawn(help)
        assert "Run a command" not in drawn(help)
        assert help.window().focusWidget() is field(help, "Passphrase")
        notices.set_secrets_problem(Problem("The passphrase is wrong"), "file")
        assert "The passphrase is wrong" in drawn(help)
        field(help, "Passphrase").setText("open sesame")
        control(help, "Unlock").click()
        await desk.asked("unlock_secrets", "open sesame")
        await until(lambda: notices.findChild(SecretsHelp) is None)


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
    shown = notices.findChild(NoticeLine)
    assert isinstance(shown, NoticeLine)
    assert shown.accessibleName().startswith("The settings could not be read" if is_failing else "Everything is paused")
    delete(notices)


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


async def test_a_narrow_header_with_a_notice_leaves_free_space_and_the_whole_title(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        window = desk.window
        search = next(each for each in window.findChildren(SearchField) if each.isVisible())
        window.resize(900, 600)
        window.context.notices.add_notice(
            Problem(BROKEN.title, "settings.json was set aside as settings.json.broken-1; line 4 is not JSON")
        )
        line = window.findChild(NoticeLine)
        assert isinstance(line, NoticeLine)
        await until(lambda: line.mapTo(window, QPoint(0, 0)).y() - search.geometry().bottom() >= 8)
        header = window.findChild(Header)
        below = header.height() - search.y() - search.height()
        assert below == 8 + HEIGHT + 1  # the notice, its distance, and the line below the header
        assert (search.placeholderText(), search.accessibleName()) == ("Search", "Search servers and tools")
        assert "The settings could not be read" in words(line)


async def test_a_text_with_next_to_no_room_is_left_to_the_details(theme: Theme) -> None:
    line = NoticeLine(theme, "error", BROKEN.title, "settings.json was set aside")
    line.resize(340, HEIGHT)
    line.show()
    await until(lambda: words(line) == "The settings could not be read")
    assert control(line, "More…").isVisible()
    line.resize(600, HEIGHT)
    await until(lambda: words(line) == "The settings could not be read\nsettings.json was set aside")


@pytest.mark.parametrize("place", [Clients(), Servers("projects"), Settings("secrets")])
async def test_a_page_s_own_fault_has_the_line_while_the_page_is_shown(theme: Theme, place: Clients | Servers | Settings) -> None:
    async with Desk(FakePresenter([server("a")], is_paused=True), theme) as desk:
        window, notices = desk.window, desk.window.context.notices
        window.go(place)
        whole = window.page(place.page)
        page = whole if isinstance(place, Clients) else whole.tab(place.tab)  # type: ignore[attr-defined]
        header = whole.findChild(Header)
        await until(lambda: page.isVisible() and notices.isVisible() and not len(desk.tasks))  # what it asks for when it is shown
        page.show_problem(BROKEN)
        assert "The settings could not be read" in words(header)
        assert not notices.isVisible()
        window.open_page("activity")
        assert "Everything is paused" in words(desk.activity)
        window.go(place)
        assert "The settings could not be read" in words(header)
        page.show_problem(None)
        assert "The settings could not be read" not in words(header)
        assert notices.isVisible()


def test_of_two_faults_in_one_header_the_later_one_is_shown_and_without_a_header_a_fault_is_where_it_was_found(theme: Theme) -> None:
    page, faults = QWidget(), [FaultArea(theme), FaultArea(theme)]
    lines = column(page)
    header = Header(theme, "Page")
    for part in (header, *faults):
        lines.addWidget(part)
    page.show()
    for fault, text in zip(faults, ("one", "two"), strict=True):
        fault.show_problem(Problem(text))
    assert ("One" in words(header), "Two" in words(header)) == (False, True)
    faults[1].show_problem(None)
    assert "One" in words(header)
    alone = FaultArea(theme)
    alone.show_problem(BROKEN)
    alone.show()
    assert "The settings could not be read" in words(alone)


@pytest.mark.parametrize("is_wanted", [True, False])
async def test_whether_new_versions_are_looked_for_is_asked_once_in_the_line(theme: Theme, is_wanted: bool) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        notices = await with_cards(desk)
        assert "once a day" not in drawn(notices)
        desk.engine.bus.publish(ReleaseNewsChanged(ReleaseNews("https://releases.example/releases.json")))
        await until(lambda: "Check for new versions of Tooltray once a day?" in drawn(notices))
        control(notices, "Yes" if is_wanted else "No").click()
        await until(lambda: desk.engine.settings.get("updates") == {"check": is_wanted})
        await until(lambda: not len(desk.tasks))
        assert (("check_for_release",) in desk.engine.calls) is is_wanted
        desk.engine.bus.publish(ReleaseNewsChanged(ReleaseNews("https://releases.example/releases.json", is_wanted)))
        await until(lambda: not notices.isVisible())


async def test_the_question_waits_behind_every_other_notice(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        notices = await with_cards(desk)
        desk.engine.bus.publish(ReleaseNewsChanged(ReleaseNews("https://releases.example/releases.json")))
        await until(lambda: "once a day" in drawn(notices))
        notices.add_notice(BROKEN)
        assert "once a day" not in drawn(notices)
