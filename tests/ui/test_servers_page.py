"""The Servers page shows what the hub tells, in place, and asks the hub for what a person does."""

import asyncio

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QMenu, QPushButton, QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server, tool
from tests.ui.seen import control, words

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.ui.kit.hub_phase import HubPhase
from tooltray.ui.servers.server_table import ServerTable
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.cell_delegate import TWO_LINES_HEIGHT
from tooltray.ui.widgets.empty_state import Beginning, EmptyState
from tooltray.ui.widgets.filter_tabs import FilterTab
from tooltray.ui.widgets.page_frame import SearchField
from tooltray.ui.widgets.surface import Tint
from tooltray.ui.widgets.toast import Toast

TOOLS = [tool("read_file", "files"), tool("write_file", "files", category="write"), tool("now", "clock")]


def many(count: int) -> list[ServerSnapshot]:
    return [server(f"server-{number}") for number in range(count)]


def shown(desk: Desk) -> list[str]:
    """Names of the cards on the page, from left to right and top to bottom."""
    cards = [card for card in desk.page.server_list.cards.values() if card.isVisible()]
    return [card.server.name for card in sorted(cards, key=lambda card: (card.y(), card.x()))]


def page_words(desk: Desk) -> str:
    labels = desk.page.findChildren(QLabel)
    return "\n".join(label.text() for label in labels if label.isVisible())


def table(desk: Desk) -> ServerTable:
    found = desk.page.findChild(ServerTable)
    assert isinstance(found, ServerTable)
    return found


def search(desk: Desk, text: str) -> None:
    field = desk.servers_page.findChild(SearchField)
    assert isinstance(field, SearchField)
    field.setText(text)


def choose_filter(desk: Desk, name: str) -> None:
    next(tab for tab in desk.page.findChildren(FilterTab) if tab.text() == name).click()


def menu_of(desk: Desk, name: str) -> list[str]:
    control(desk.card(name), f"More for {name}").click()
    menu = desk.card(name).findChild(QMenu)
    assert isinstance(menu, QMenu)
    texts = [action.text() for action in menu.actions() if action.text()]
    menu.close()
    return texts


def filters(desk: Desk) -> list[tuple[str, int | None]]:
    """The filters that are to be seen, and how many servers each has."""
    names = ("All", "Needs you", "Ready", "Starting", "Waiting", "Stopped")
    return [(tab.text(), tab.count) for tab in desk.page.findChildren(FilterTab) if tab.text() in names and tab.isVisible()]


async def settle(desk: Desk) -> None:
    """Lets layouts and paints that are due happen."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_each_server_has_a_card_and_tooltray_s_own_one_only_if_it_is_searched_for(theme: Theme) -> None:
    async with Desk(FakePresenter([server("b"), server("a")]), theme) as desk:
        await until(lambda: shown(desk) == ["b", "a"])
        search(desk, "hub")
        await until(lambda: shown(desk) == ["hub"])
        assert menu_of(desk, "hub") == ["Log"]


async def test_what_needs_the_user_comes_first_and_no_card_moves_during_a_visit(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a"), server("b"), server("c", ServerState.ERROR, problem=Problem("x"))]), theme) as desk:
        await until(lambda: shown(desk) == ["c", "a", "b"])
        control(desk.card("a"), "Use a").setFocus(Qt.FocusReason.TabFocusReason)
        desk.engine.set_state("b", ServerState.ERROR, problem=Problem("x"))
        await until(lambda: desk.card("b").server.state is ServerState.ERROR)
        await settle(desk)
        assert shown(desk) == ["c", "a", "b"]
        desk.servers_page.findChild(SearchField).setFocus(Qt.FocusReason.MouseFocusReason)
        await settle(desk)
        assert shown(desk) == ["c", "a", "b"]  # a click elsewhere moves none
        control(desk.card("a"), "Use a").setFocus(Qt.FocusReason.TabFocusReason)
        desk.servers_page.findChild(SearchField).setFocus(Qt.FocusReason.TabFocusReason)
        await settle(desk)
        assert shown(desk) == ["c", "a", "b"]  # nor does anything else in the same visit
        desk.window.open_page("activity")
        desk.window.open_page("servers")
        await until(lambda: shown(desk) == ["b", "c", "a"])


async def test_tab_comes_to_what_needs_the_user_first_and_back_to_the_card_that_it_left(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a"), server("b"), server("c")]), theme) as desk:
        await until(lambda: shown(desk) == ["a", "b", "c"])
        search_field = desk.servers_page.findChild(SearchField)

        def stop() -> str:
            return next(
                name for name, card in desk.page.server_list.cards.items() if card.controls()[0].focusPolicy() & Qt.FocusPolicy.TabFocus
            )

        assert stop() == "a"
        desk.card("b").controls()[0].setFocus(Qt.FocusReason.TabFocusReason)
        search_field.setFocus(Qt.FocusReason.TabFocusReason)
        await settle(desk)
        assert stop() == "b"
        desk.card("c").controls()[0].setFocus(Qt.FocusReason.MouseFocusReason)
        search_field.setFocus(Qt.FocusReason.MouseFocusReason)
        await until(lambda: stop() == "a")
        desk.engine.set_state("c", ServerState.ERROR, problem=Problem("x"))
        await until(lambda: stop() == "c")


async def test_while_the_keyboard_is_among_the_cards_a_hint_says_how_it_goes_on(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a"), server("b")]), theme) as desk:
        await until(lambda: shown(desk) == ["a", "b"])
        name = desk.card("a").controls()[0]
        assert "Arrow keys: other servers" in name.accessibleDescription()
        name.setFocus(Qt.FocusReason.TabFocusReason)
        await until(lambda: "Arrow keys: other servers" in page_words(desk))
        desk.servers_page.findChild(SearchField).setFocus(Qt.FocusReason.TabFocusReason)
        await until(lambda: "Arrow keys" not in page_words(desk))


async def test_without_servers_the_page_says_how_to_begin(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        await until(lambda: "Add your first server" in page_words(desk))
        assert "\nBegin with one of these. They need no account." in page_words(desk), "also where there is nothing to import"
        begin = next(way for way in desk.page.findChildren(Beginning) if "Paste" in way.accessibleName())
        QTest.keyClick(begin, Qt.Key.Key_Return)
        assert desk.window.sheet is not None


async def test_the_first_server_takes_the_place_of_the_empty_page(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        await desk.hub.servers.add_mcp_server("files", {"command": "npx"})
        await until(lambda: shown(desk) == ["files"])


async def test_a_changed_server_changes_its_card_and_keeps_focus_and_every_card(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a"), server("b")]), theme) as desk:
        await until(lambda: shown(desk) == ["a", "b"])
        before = desk.page.server_list.cards
        switch = before["a"].controls()[1]
        switch.setFocus(Qt.FocusReason.TabFocusReason)
        desk.engine.set_state("b", ServerState.ERROR, problem=Problem("it fell over", hint="Pick it up"))
        await until(lambda: before["b"].server.state is ServerState.ERROR)
        assert desk.page.server_list.cards == before
        assert QApplication.focusWidget() is switch
        assert "It fell over" in page_words(desk)
        assert "Pick it up" in page_words(desk)


async def test_the_page_stays_scrolled_where_it_is(theme: Theme) -> None:
    async with Desk(FakePresenter(many(11)), theme) as desk:
        await until(lambda: len(shown(desk)) == 11)
        desk.window.resize(900, 600)
        area = desk.page.server_list.grid
        await until(lambda: area.verticalScrollBar().maximum() > 100)
        area.verticalScrollBar().setValue(100)
        desk.engine.set_state("server-3", ServerState.STOPPED)
        await until(lambda: desk.card("server-3").server.state is ServerState.STOPPED)
        await settle(desk)
        assert area.verticalScrollBar().value() == 100


async def test_more_than_11_servers_are_a_table(theme: Theme) -> None:
    async with Desk(FakePresenter(many(11)), theme) as desk:
        await until(lambda: len(shown(desk)) == 11)
        await desk.hub.servers.add_mcp_server("one more", {"command": "npx"})
        await until(lambda: table(desk).isVisible())
        assert len(table(desk).rows) == 12


async def test_a_line_of_the_table_changes_in_place(theme: Theme) -> None:
    async with Desk(FakePresenter(many(30)), theme) as desk:
        await until(lambda: table(desk).isVisible())
        table(desk).selectRow(7)
        desk.engine.set_state("server-7", ServerState.STOPPED)
        await until(lambda: table(desk).rows[7].state is ServerState.STOPPED)
        assert table(desk).currentIndex().row() == 7
        desk.engine.set_state("server-7", ServerState.ERROR)
        await until(lambda: table(desk).rows[7].state is ServerState.ERROR)
        desk.window.open_page("activity")
        desk.window.open_page("servers")
        await until(lambda: table(desk).rows[0].name == "server-7")
        assert table(desk).currentIndex().row() == 0


async def test_the_table_s_switch_starts_and_stops_with_the_mouse_and_the_keyboard(theme: Theme) -> None:
    async with Desk(FakePresenter(many(30)), theme) as desk:
        await until(lambda: table(desk).isVisible())
        cell = table(desk).visualRect(table(desk).model().index(2, 7)).center()
        QTest.mouseClick(table(desk).viewport(), Qt.MouseButton.LeftButton, pos=cell)
        await desk.asked("stop_server", "server-2")
        await until(lambda: table(desk).rows[2].state is ServerState.STOPPED)
        table(desk).selectRow(2)
        QTest.keyClick(table(desk), Qt.Key.Key_Space)
        await desk.asked("start_server", "server-2")


async def test_a_restart_is_told_when_it_has_ended_however_quick_it_was(theme: Theme) -> None:
    fake = FakePresenter([server("a"), server("b", ServerState.STOPPED), server("c")])
    async with Desk(fake, theme) as desk:
        await until(lambda: desk.page.server_list.cards)

        def told() -> list[str]:
            return [each.text for each in desk.window.findChildren(Toast) if each.isVisible()]

        desk.wishes.restart_requested.emit("a")
        await until(lambda: "a restarted" in told())
        desk.wishes.restart_requested.emit("b")
        await until(lambda: "b started" in told())
        fake.failures["restart_server"] = TooltrayError("it does not want to")
        desk.wishes.restart_requested.emit("c")
        await until(lambda: "It does not want to" in words(desk.card("c")))
        assert "c restarted" not in told()


async def test_a_chosen_line_opens_its_details_with_the_whole_problem_and_escape_closes_them(theme: Theme) -> None:
    servers = many(30)
    servers[4] = replace(servers[4], state=ServerState.ERROR, problem=Problem("it fell over", "exit code 7", "Pick it up"))
    async with Desk(FakePresenter(servers, [tool("read", "server-4")]), theme) as desk:
        await until(lambda: table(desk).isVisible())
        table(desk).setFocus()
        assert table(desk).rows[0].name == "server-4"
        table(desk).selectRow(0)
        QTest.keyClick(table(desk), Qt.Key.Key_Return)
        assert desk.page.details is not None
        assert "Exit code 7. Pick it up." in page_words(desk)
        QTest.keyClick(table(desk), Qt.Key.Key_Escape)
        assert desk.page.details is None


@pytest.mark.parametrize(
    ("state", "text", "wish"),
    [
        (ServerState.RUNNING, "Stop", "stop_server"),
        (ServerState.STARTING, "Cancel", "stop_server"),
        (ServerState.STOPPED, "Start", "start_server"),
        (ServerState.ERROR, "Try again", "restart_server"),
    ],
)
async def test_details_offer_the_next_step(theme: Theme, state: ServerState, text: str, wish: str) -> None:
    servers = many(30)
    servers[4] = replace(servers[4], state=state, problem=Problem("x") if state is ServerState.ERROR else None)
    async with Desk(FakePresenter(servers, [tool("read", "server-4")]), theme) as desk:
        await until(lambda: table(desk).isVisible())
        table(desk).row_chosen.emit(desk.servers.find("server-4"))
        details = desk.page.details
        assert details is not None
        buttons = {each.text() or each.accessibleName(): each for each in details.findChildren(QPushButton)}
        buttons["More for server-4"].click()
        menu = details.findChild(QMenu)
        assert isinstance(menu, QMenu)
        assert "Remove" in [action.text() for action in menu.actions()]
        menu.close()
        tools = desk.open_tools("server-4").table
        await until(lambda: tools.rows)
        tools.switched.emit(tools.rows[0], False)
        await desk.asked("set_tool_enabled", "server-4", "read", False)
        buttons[text].click()
        await desk.asked(wish, "server-4")
        buttons["Close details"].click()
        assert desk.page.details is None


async def test_a_wish_that_fails_is_explained_in_the_details_and_puts_the_table_s_switch_back(theme: Theme) -> None:
    async with Desk(FakePresenter(many(30)), theme) as desk:
        await until(lambda: table(desk).isVisible())
        desk.engine.failures["stop_server"] = TooltrayError("it does not want to", "at all")
        table(desk).row_chosen.emit(desk.servers.find("server-4"))
        table(desk).switched.emit(desk.servers.find("server-4"), False)
        await until(lambda: "It does not want to" in page_words(desk) and "At all." in page_words(desk))
        assert table(desk).model().index(4, 7).data() == "On"


async def test_a_right_click_on_a_line_opens_its_menu(theme: Theme) -> None:
    async with Desk(FakePresenter(many(30)), theme) as desk:
        await until(lambda: table(desk).isVisible())
        place = table(desk).visualRect(table(desk).model().index(3, 0)).center()
        table(desk).customContextMenuRequested.emit(place)
        menu = table(desk).findChild(QMenu)
        assert isinstance(menu, QMenu)
        next(action for action in menu.actions() if action.text() == "Remove").trigger()
        await desk.asked("remove_mcp_server", "server-3")
        menu.close()


async def test_details_follow_their_server_and_close_with_it(theme: Theme) -> None:
    async with Desk(FakePresenter(many(30)), theme) as desk:
        await until(lambda: table(desk).isVisible())
        table(desk).row_chosen.emit(desk.servers.find("server-4"))
        desk.engine.set_state("server-4", ServerState.STOPPED)
        await until(lambda: desk.page.details and desk.page.details.server.state is ServerState.STOPPED)
        await desk.hub.servers.remove_mcp_server("server-4")
        await until(lambda: desk.page.details is None)


@pytest.mark.parametrize(
    ("name", "names"),
    [("All", ["c", "a", "b", "d"]), ("Ready", ["a"]), ("Starting", ["b"]), ("Needs you", ["c"]), ("Stopped", ["d"])],
)
async def test_filters_let_their_states_through(theme: Theme, name: str, names: list[str]) -> None:
    servers = [
        server("a"),
        server("b", ServerState.STARTING),
        server("c", ServerState.ERROR, problem=Problem("x")),
        server("d", ServerState.STOPPED),
    ]
    async with Desk(FakePresenter(servers), theme) as desk:
        await until(lambda: len(shown(desk)) == 4)
        choose_filter(desk, name)
        await settle(desk)
        assert shown(desk) == names


async def test_counts_in_the_filters_follow_the_servers(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a"), server("b")]), theme) as desk:
        await until(lambda: shown(desk))
        desk.engine.set_state("a", ServerState.STOPPED)
        await until(lambda: filters(desk) == [("All", 2), ("Ready", 1), ("Stopped", 1)])


async def test_each_server_is_in_one_filter_and_a_filter_without_servers_is_hidden(theme: Theme) -> None:
    servers = [server(f"s{number}", state, problem=Problem("x")) for number, state in enumerate(ServerState)]
    async with Desk(FakePresenter(servers), theme) as desk:
        await until(lambda: shown(desk))
        assert filters(desk) == [("All", 10), ("Needs you", 2), ("Ready", 2), ("Starting", 3), ("Waiting", 1), ("Stopped", 2)]
        choose_filter(desk, "Waiting")
        desk.engine.set_state(shown(desk)[0], ServerState.RUNNING)
        await until(lambda: ("Waiting", 0) in filters(desk))
        choose_filter(desk, "Ready")
        assert filters(desk) == [("All", 10), ("Needs you", 2), ("Ready", 3), ("Starting", 3), ("Stopped", 2)]


async def test_a_card_that_a_person_is_using_stays_until_they_leave_it(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a", ServerState.STOPPED), server("b", ServerState.STOPPED)]), theme) as desk:
        await until(lambda: shown(desk))
        choose_filter(desk, "Stopped")
        desk.card("a").controls()[1].setFocus(Qt.FocusReason.TabFocusReason)
        desk.engine.set_state("a", ServerState.RUNNING)
        await until(lambda: desk.card("a").server.state is ServerState.RUNNING)
        await settle(desk)
        assert shown(desk) == ["a", "b"]
        desk.servers_page.findChild(SearchField).setFocus(Qt.FocusReason.TabFocusReason)
        await until(lambda: shown(desk) == ["b"])


async def test_search_finds_servers_by_name_target_and_tools(theme: Theme) -> None:
    servers = [server("files", target="npx thing"), server("clock"), server("other")]
    async with Desk(FakePresenter(servers, TOOLS), theme) as desk:
        await until(lambda: shown(desk))
        search(desk, "thing")
        await until(lambda: shown(desk) == ["files"])
        search(desk, "write_file")
        await until(lambda: shown(desk) == ["files"] and "1 found" in page_words(desk))
        search(desk, "nothing like this")
        await until(lambda: "No server matches" in page_words(desk))
        search(desk, "")
        await until(lambda: shown(desk) == ["files", "clock", "other"])
        assert "found" not in page_words(desk)


async def test_search_has_its_shortcut_and_escape_empties_it(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.window.activateWindow()
        await until(lambda: shown(desk) and desk.window.isActiveWindow())
        QTest.keyClick(desk.window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
        field = desk.servers_page.findChild(SearchField)
        assert QApplication.focusWidget() is field
        QTest.keyClicks(field, "abc")
        QTest.keyClick(field, Qt.Key.Key_Escape)
        assert field.text() == ""


async def test_tools_in_the_pane_follow_their_changes(theme: Theme) -> None:
    async with Desk(FakePresenter([server("files", tool_count=2), server("clock")], TOOLS), theme) as desk:
        await until(lambda: shown(desk))
        listed = desk.open_tools("files").table
        await until(lambda: listed.rows)
        desk.engine.set_tools([tool("only", "files")], "files")
        await until(lambda: [row.name for row in listed.rows] == ["only"])


async def test_enter_on_a_card_s_name_opens_it_and_escape_gives_the_keyboard_back(theme: Theme) -> None:
    async with Desk(FakePresenter([server("files"), server("clock")], TOOLS), theme) as desk:
        await until(lambda: shown(desk))
        name = control(desk.card("clock"), "clock, Connected")
        name.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(name, Qt.Key.Key_Return)
        assert desk.page.details is not None
        assert desk.page.details.isAncestorOf(QApplication.focusWidget())
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Right)
        assert desk.page.details.tab == "tools"
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
        assert desk.page.details is None
        assert QApplication.focusWidget() is name


async def test_an_opened_server_lies_over_a_small_window_and_beside_its_list_in_a_large_one(theme: Theme) -> None:
    async with Desk(FakePresenter([server("files")]), theme) as desk:
        await until(lambda: shown(desk))
        details = desk.open_server("files")
        desk.window.resize(900, 600)
        await until(lambda: details.width() == desk.page.width())
        desk.window.resize(1180, 760)
        await until(lambda: details.width() < desk.page.width())
        control(details, "Use the whole page").click()
        assert details.width() == desk.page.width()
        assert not desk.page.server_list.isVisible()  # Tab does not come to what is covered
        control(details, "Show beside the list").click()
        assert details.width() < desk.page.width()
        assert desk.page.server_list.isVisible()


async def test_a_tool_s_switch_applies_at_once_and_a_failure_puts_it_back_and_says_why(theme: Theme) -> None:
    async with Desk(FakePresenter([server("files")], TOOLS), theme) as desk:
        await until(lambda: shown(desk))
        tools = desk.open_tools("files")
        await until(lambda: len(tools.table.rows) == 2)
        desk.engine.failures["set_tool_enabled"] = TooltrayError("the disk is full", hint="Free some space")
        tools.table.setFocus()
        tools.table.selectRow(1)
        QTest.keyClick(tools.table, Qt.Key.Key_Space)
        assert [row.is_enabled for row in tools.table.rows] == [True, False]
        await until(lambda: [row.is_enabled for row in tools.table.rows] == [True, True])
        await until(lambda: "The disk is full" in page_words(desk))
        del desk.engine.failures["set_tool_enabled"]
        QTest.keyClick(tools.table, Qt.Key.Key_Space)
        await desk.asked("set_tool_enabled", "files", "write_file", False)
        await until(lambda: "The disk is full" not in page_words(desk))
        assert [row.is_enabled for row in tools.table.rows] == [True, False]


async def test_one_tool_more_than_usual_is_shown_without_a_button_for_it(theme: Theme) -> None:
    async with Desk(FakePresenter([server("files")], [tool(f"tool_{number}", "files") for number in range(9)]), theme) as desk:
        await until(lambda: shown(desk))
        listed = desk.open_tools("files")
        await until(lambda: len(listed.table.rows) == 9)
        assert not [each for each in listed.findChildren(QAbstractButton) if each.text().startswith("Show ") and each.isVisible()]


async def test_of_thousands_of_tools_a_server_shows_some_and_more_on_demand(theme: Theme) -> None:
    tools = [tool(f"tool_{number}", "files") for number in range(5_000)]
    async with Desk(FakePresenter([server("files")], tools), theme) as desk:
        await until(lambda: shown(desk))
        listed = desk.open_tools("files")
        await until(lambda: len(listed.table.rows) == 8)
        more = next(button for button in listed.findChildren(QWidget) if getattr(button, "text", str)() == "Show 200 more")
        more.click()  # type: ignore[attr-defined]
        assert len(listed.table.rows) == 208
        assert listed.table.height() == 208 * TWO_LINES_HEIGHT


async def test_while_the_hub_is_on_its_way_the_page_says_so(theme: Theme) -> None:
    desk = Desk(FakePresenter(), theme)
    desk.page.set_phase(HubPhase.STARTING)
    desk.window.show()
    assert any("Tooltray is starting" in page_words(desk) for _ in desk.page.findChildren(EmptyState))
    await desk.close()


def opened(desk: Desk) -> str:
    """Returns whose details are open."""
    return desk.page.details.server.name if desk.page.details is not None else ""


async def test_a_server_that_is_asked_for_is_shown_though_the_filter_hides_it(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a"), server("b", ServerState.STOPPED)]), theme) as desk:
        control(desk.page, "Stopped, 1").click()
        await until(lambda: not desk.page.server_list.cards["a"].isVisible())
        desk.window.open_link("tooltray://servers/a")
        assert opened(desk) == "a"
        assert desk.page.server_list.cards["a"].isVisible()
        desk.window.open_link("tooltray://servers/a")  # once more: it stays open
        assert opened(desk) == "a"


async def test_of_many_servers_the_one_that_is_asked_for_is_opened_beside_the_table(theme: Theme) -> None:
    async with Desk(FakePresenter([server(f"s{number}") for number in range(40)]), theme) as desk:
        desk.window.open_link("tooltray://servers/s30")
        assert opened(desk) == "s30"


async def test_a_server_that_is_not_there_is_forgotten_with_the_next_one(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a"), server("b")]), theme) as desk:
        desk.window.open_link("tooltray://servers/nowhere")
        assert opened(desk) == ""
        desk.window.open_link("tooltray://servers/b")
        assert opened(desk) == "b"


async def test_a_card_that_is_opened_stays_under_the_pointer_when_the_columns_change(theme: Theme) -> None:
    async with Desk(FakePresenter([server(f"s{number}") for number in range(11)]), theme) as desk:
        desk.window.resize(1180, 600)
        await until(lambda: desk.card("s0").isVisible() and desk.card("s1").x() > desk.card("s0").x())
        card, bar = desk.card("s5"), desk.page.server_list.grid.verticalScrollBar()
        await until(lambda: bar.maximum() > 0)
        name = card.controls()[0]
        name.setFocus(Qt.FocusReason.MouseFocusReason)
        before = card.y() - bar.value()
        desk.page.open_server("s5")
        await until(lambda: card.x() == desk.card("s0").x() and card.y() > before)
        name.setFocus(Qt.FocusReason.MouseFocusReason)
        await until(lambda: card.y() - bar.value() == before)


async def test_an_open_sheet_stays_whatever_is_requested_of_a_server(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: shown(desk))
        desk.wishes.duplicate_requested.emit("gone")
        desk.wishes.rename_requested.emit("gone")
        assert desk.window.sheet is None
        desk.page.add()
        sheet = desk.window.sheet
        wishes = desk.wishes
        for wish in (
            wishes.options_requested,
            wishes.diagnosis_requested,
            wishes.link_requested,
            wishes.duplicate_requested,
            wishes.rename_requested,
        ):
            wish.emit("a")
        wishes.secret_requested.emit("a", "a/TOKEN")
        wishes.tool_requested.emit(tool("t", "a"))
        await until(lambda: not len(desk.tasks))
        assert desk.window.sheet is sheet
        assert not {"diagnose", "get_client_links", "get_server_entry"} & {call[0] for call in desk.engine.calls}


async def test_a_menu_opens_inside_the_window(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a"), server("b")]), theme) as desk:
        await until(lambda: desk.card("b").isVisible() and desk.card("b").x() > desk.card("a").x())
        control(desk.card("b"), "More for b").click()
        menu = desk.card("b").findChild(QMenu)
        assert isinstance(menu, QMenu)
        assert menu.x() + menu.width() <= desk.window.mapToGlobal(desk.window.rect().topRight()).x()
        menu.close()


async def test_the_opened_server_is_marked_and_in_sight(theme: Theme) -> None:
    async with Desk(FakePresenter([server(f"s{number:02}") for number in range(10)]), theme) as desk:
        await until(lambda: len(desk.page.server_list.cards) == 11)
        desk.open_server("s09")
        card, grid = desk.card("s09"), desk.page.server_list.grid
        await until(lambda: grid.viewport().rect().contains(card.mapTo(grid.viewport(), card.rect().center())))
        assert [name for name, each in desk.page.server_list.cards.items() if each._border == "accent"] == ["s09"]
        desk.open_server("s01")
        await until(lambda: desk.card("s01")._border == "accent")
        control(desk.page.details, "Close details").click()
        await until(lambda: desk.page.details is None)
        assert not [each for each in desk.page.server_list.cards.values() if each._border == "accent"]


async def test_tooltray_s_own_server_is_listed_while_something_is_wrong_with_it(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: shown(desk) == ["a"])
        desk.engine.set_state("hub", ServerState.RUNNING, problem=Problem("entries were lost"))
        await until(lambda: shown(desk) == ["a", "hub"])
        assert "Entries were lost" in page_words(desk)


async def test_try_a_tool_leads_to_the_tools_of_the_server_from_where_they_are_called(theme: Theme) -> None:
    fake = FakePresenter([server("a", tool_count=1), server("b", tool_count=1)])
    fake.tools = [tool("read", "a"), tool("write", "b")]
    async with Desk(fake, theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        control(desk.card("b"), "More for b").click()
        menu = next(each for each in desk.card("b").findChildren(QMenu) if each.isVisible())
        next(action for action in menu.actions() if action.text() == "Try a tool…").trigger()
        menu.close()
        await until(lambda: desk.all_tools.isVisible() and [row.tool.name for row in desk.all_tools.tools.table.rows] == ["write"])


@pytest.mark.parametrize("count", [8, 40])
async def test_what_is_added_comes_into_sight_under_a_tint_that_fades(theme: Theme, count: int) -> None:
    theme.set_reduced_motion(False)
    async with Desk(FakePresenter(many(count)), theme) as desk:
        await settle(desk)
        assert not desk.page.findChildren(Tint)
        desk.engine.tell(server("zebra"))
        await until(lambda: any(tint.isVisible() and not tint.visibleRegion().isEmpty() for tint in desk.page.findChildren(Tint)))
        await until(lambda: not desk.page.findChildren(Tint))
