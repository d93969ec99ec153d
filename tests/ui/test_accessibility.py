"""The window can be used without a mouse and without seeing it."""

import asyncio
from functools import partial

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAccessible, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QTableView, QWidget
from shiboken6 import delete
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server, tool
from tests.ui.seen import control

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, ProfileSnapshot, SessionSnapshot
from tooltray.foundation.snapshots.entries import ServerTest
from tooltray.foundation.snapshots.servers import ProjectCopySnapshot, ServerState
from tooltray.foundation.snapshots.setup import SetupChange
from tooltray.ui.add.add_server import AddServerSheet
from tooltray.ui.approval.call_view import ApprovalWindow
from tooltray.ui.clients.client_table import NEW
from tooltray.ui.shell.sidebar import NavItem
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, IconButton, PaintedButton, Switch
from tooltray.ui.widgets.choice import OptionList
from tooltray.ui.widgets.filter_tabs import FilterTab, FilterTabs
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.table import Table

SERVERS = [
    server("a", tool_count=2),
    server("b", ServerState.ERROR, problem=Problem("x")),
    server("c", ServerState.STOPPED),
    server("d", ServerState.STARTING),
]
TOOLS = [tool("one", "a"), tool("two", "a")]
BLOCK = '{"mcpServers": {"x": {"command": "y", "env": {"A_TOKEN": "1"}}}}'


def takes_tab(widget: QWidget) -> bool:
    return widget.isVisible() and widget.isEnabled() and bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)


def nameless(window: QWidget) -> list[str]:
    found = []
    for widget in window.findChildren(QWidget):
        if takes_tab(widget) and not widget.focusProxy():
            text = getattr(widget, "text", None)
            if not widget.accessibleName() and not (callable(text) and text()):
                found.append(type(widget).__name__)
    return found


def name_of(widget: QWidget | None) -> str:
    assert widget is not None
    text = getattr(widget, "text", None)
    return widget.accessibleName() or (text() if callable(text) else "") or type(widget).__name__


async def test_pages_and_sheets_of_clients_profiles_and_projects_have_names_for_everything_too(theme: Theme) -> None:
    waiting = server("w", ServerState.WAITING, is_deferred=True, is_lazy=True)
    fake = FakePresenter([waiting, server("a", copies=(ProjectCopySnapshot("/srv/p", "p", ServerState.RUNNING),))], TOOLS)
    fake.sessions, fake.profiles = [SessionSnapshot("1", "c")], [ProfileSnapshot("p", None, {})]
    fake.client_modes = [ClientModeSnapshot("c", "C", "", "lazy", "it is so")]
    async with Desk(fake, theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.open_server("a")
        desk.wishes.options_requested.emit("w")
        assert nameless(desk.window) == []
        desk.window.sheet.dismiss()
        desk.window.open_page("clients")
        page = desk.clients
        await until(lambda: page.table.rows and not len(desk.tasks))
        page.table.row_chosen.emit(page.table.rows[0])
        assert nameless(desk.window) == []
        for open_sheet in (
            control(page, "Defaults…").click,
            control(page, "Profiles…").click,
            lambda: page.edit_profile("p"),
            lambda: page.choose_profile(page.table.rows[0], NEW),
        ):
            open_sheet()
            await until(lambda: not len(desk.tasks))
            assert nameless(desk.window) == []
            desk.window.sheet.dismiss()


async def tab(window: QWidget, *, back: bool = False) -> str:
    QTest.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Backtab if back else Qt.Key.Key_Tab)
    await asyncio.sleep(0)
    return name_of(QApplication.focusWidget())


async def test_everything_that_takes_the_keyboard_has_a_name(theme: Theme) -> None:
    async with Desk(FakePresenter(SERVERS, TOOLS, notices=(Problem("a notice"),)), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        tools = desk.open_tools("a")
        await until(lambda: tools.table.isVisible())
        assert nameless(desk.window) == []
        desk.page.add(BLOCK)
        sheet = desk.window.sheet.panel
        assert isinstance(sheet, AddServerSheet)
        sheet.show_secrets_help(Problem("no keyring"))
        await asyncio.sleep(0)
        assert nameless(desk.window) == []
        desk.window.sheet.dismiss()
        desk.page.verbs.open_log("b")
        await asyncio.sleep(0)
        assert nameless(desk.window) == []
        desk.window.sheet.dismiss()
        for open_tab in (desk.open_projects, *(partial(desk.open_settings, name) for name in ("general", "backup", "about"))):
            open_tab()
            await asyncio.sleep(0)
            assert nameless(desk.window) == []
        for open_sheet in (control(desk.open_network(), "Add registry").click, lambda: desk.page.verbs.open_why("b")):
            open_sheet()
            await asyncio.sleep(0)
            assert nameless(desk.window) == []
            desk.window.sheet.dismiss()


async def test_sheets_of_a_sign_in_and_of_the_set_up_have_names_and_take_tab(theme: Theme) -> None:
    async with Desk(FakePresenter(SERVERS), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        for open_sheet in (
            lambda: desk.page.verbs.show_sign_in_address("a", "https://x.example/"),
            lambda: desk.backup.show_changes({"mcpServers": {}}, (SetupChange("add", "server", "x"),)),
        ):
            open_sheet()
            await until(lambda: desk.window.sheet.panel.isAncestorOf(QApplication.focusWidget()))
            assert nameless(desk.window) == []
            path = {await tab(desk.window) for _ in range(8)}
            assert "Close" in path
            assert "More for a" not in path  # it stays inside
            QTest.keyClick(desk.window.sheet, Qt.Key.Key_Escape)
            assert desk.window.sheet is None


async def test_a_long_list_of_servers_has_names_too(theme: Theme) -> None:
    async with Desk(FakePresenter([server(f"s{number}") for number in range(30)]), theme) as desk:
        await until(lambda: desk.page.findChild(QTableView).isVisible())
        desk.page.findChild(Table).row_chosen.emit(desk.servers.find("s3"))
        await asyncio.sleep(0)
        assert nameless(desk.window) == []


async def test_an_empty_page_has_names_too(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        await until(lambda: desk.hub.snapshot)
        assert nameless(desk.window) == []


async def test_tab_goes_through_header_and_filters_to_one_card_and_its_controls(theme: Theme) -> None:
    async with Desk(FakePresenter(SERVERS[:3]), theme) as desk:
        await until(lambda: desk.page.server_list.cards and desk.card("a").isVisible())
        path = [await tab(desk.window) for _ in range(18)]
        start = path.index("Search servers and tools")
        assert path[start : start + 2] == ["Search servers and tools", "Add server"]
        cards = path[path.index("b, Error") :]
        assert cards[:5] == ["b, Error", "More for b", "Use b", "Why does b not run?", "Try again, b"]
        assert "a, Connected" not in path
        control(desk.card("b"), "b, Error").setFocus()
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Right)
        assert [name_of(QApplication.focusWidget()), await tab(desk.window), await tab(desk.window)] == [
            "a, Connected",
            "More for a",
            "Use a",
        ]


async def test_servers_with_eleven_cards_has_at_most_thirty_controls_and_the_keyboard_reaches_all(theme: Theme) -> None:
    servers = [server(f"s{number:02}", list(ServerState)[number % len(ServerState)], problem=Problem("x")) for number in range(11)]
    async with Desk(FakePresenter(servers), theme) as desk:
        await until(lambda: len(desk.page.server_list.cards) == 12 and desk.card("s01").isVisible())
        first = await tab(desk.window)
        path = [first]
        while (name := await tab(desk.window)) != first:
            path.append(name)
        assert len(path) <= 30
        shown = [card for card in desk.page.server_list.cards.values() if card.isVisible()]
        assert len(shown) == 11
        reached = set[QWidget]()
        for card in shown:
            card.controls()[0].setFocus(Qt.FocusReason.TabFocusReason)
            while card.isAncestorOf(focused := QApplication.focusWidget()):
                reached.add(focused)
                await tab(desk.window)
        assert reached == {each for card in shown for each in card.controls() if each.isVisible()}


async def test_a_ring_shows_after_tab_and_not_after_a_click(theme: Theme) -> None:
    async with Desk(FakePresenter(SERVERS), theme) as desk:
        await until(lambda: desk.page.server_list.cards and desk.card("a").isVisible())
        switch = control(desk.card("a"), "Use a")
        assert isinstance(switch, PaintedButton)
        QTest.mouseClick(switch, Qt.MouseButton.LeftButton)
        assert not switch.shows_focus
        control(desk.card("a"), "More for a").setFocus()
        await tab(desk.window)
        assert switch.hasFocus()
        assert switch.shows_focus


async def test_arrows_go_from_card_to_card_and_keep_to_the_same_control(theme: Theme) -> None:
    async with Desk(FakePresenter(SERVERS), theme) as desk:
        await until(lambda: desk.page.server_list.cards and desk.card("d").isVisible())
        await until(lambda: desk.card("c").y() > desk.card("a").y())
        control(desk.card("a"), "Use a").setFocus()
        for key, name in (
            (Qt.Key.Key_Left, "Use b"),
            (Qt.Key.Key_Down, "Use c"),
            (Qt.Key.Key_Right, "Use d"),
            (Qt.Key.Key_Up, "Use a"),
            (Qt.Key.Key_Up, "Use a"),
        ):
            QTest.keyClick(QApplication.focusWidget(), key)
            assert name_of(QApplication.focusWidget()) == name


async def test_space_switches_and_arrows_choose_a_filter(theme: Theme) -> None:
    async with Desk(FakePresenter(SERVERS), theme) as desk:
        await until(lambda: desk.page.server_list.cards and desk.card("a").isVisible())
        control(desk.card("a"), "Use a").setFocus()
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
        await desk.asked("stop_server", "a")
        next(each for each in desk.window.findChildren(PaintedButton) if each.text() == "All").setFocus()
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Left)
        assert name_of(QApplication.focusWidget()).startswith("Stopped")


async def test_tab_goes_round_inside_a_sheet(theme: Theme) -> None:
    async with Desk(FakePresenter(SERVERS), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.page.add(BLOCK)
        panel = desk.window.sheet.panel
        await until(lambda: panel.isAncestorOf(QApplication.focusWidget()))
        there = []
        for _ in range(30):
            there.append(await tab(desk.window))
            assert panel.isAncestorOf(QApplication.focusWidget())
        assert {"Command, URL or config", "Name of the server", "Value of A_TOKEN", "Cancel", "Add server"} <= set(there)
        back = [await tab(desk.window, back=True) for _ in range(len(set(there)))]
        assert set(back) == set(there)


async def test_rows_of_tools_are_reached_by_arrows_and_come_into_view(theme: Theme) -> None:
    tools = [tool(f"tool_{number}", "a") for number in range(100)]
    async with Desk(FakePresenter(SERVERS, tools), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        listed = desk.open_tools("a")
        await until(lambda: listed.table.isVisible() and listed.table.rows)
        listed._on_more()
        area = desk.page.details.view("tools").findChild(PageScroll)
        bar = area.verticalScrollBar()
        await until(lambda: bar.maximum() > 1000)
        listed.table.setFocus(Qt.FocusReason.TabFocusReason)
        assert listed.table.currentIndex().row() == 0
        QTest.keyClick(listed.table, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: bar.value() > 1000)
        assert "Off" not in listed.table.model().index(0, 2).data()
        assert listed.table.model().index(0, 2).data() == "On"


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space])
async def test_enter_and_space_open_the_menu_of_a_card(theme: Theme, key: Qt.Key) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        button = control(desk.card("a"), "More for a")
        button.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(button, key)
        menu = next(each for each in desk.card("a").findChildren(QMenu) if each.isVisible())
        menu.close()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space])
def test_every_kind_of_button_heeds_enter_and_space(theme: Theme, key: Qt.Key) -> None:
    buttons = (
        Button(theme, "Add"),
        IconButton(theme, "x", "Close"),
        Switch(theme, "Use a"),
        FilterTab(theme, "All"),
        NavItem(theme, "x", "A"),
    )
    pressed: list[QWidget] = []
    for each in buttons:
        each.clicked.connect(partial(_note, pressed, each))
        QTest.keyClick(each, key)
    assert pressed == list(buttons)


def _note(pressed: list[QWidget], button: QWidget, *_: object) -> None:
    pressed.append(button)


def test_what_grants_something_in_a_window_that_comes_by_itself_wants_more_than_enter(theme: Theme) -> None:
    button = Button(theme, "Allow once", heeds_enter=False)
    clicks: list[QWidget] = []
    button.clicked.connect(partial(_note, clicks, button))
    QTest.keyClick(button, Qt.Key.Key_Return)
    assert not clicks
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert len(clicks) == 1


def test_enter_that_is_held_down_presses_once(theme: Theme) -> None:
    button = Button(theme, "Add")
    clicks: list[QWidget] = []
    button.clicked.connect(partial(_note, clicks, button))
    for is_repeat in (False, True, True):
        event = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier, "\r", is_repeat)
        QApplication.sendEvent(button, event)
    assert len(clicks) == 1


async def test_the_settings_of_a_server_and_their_sheets_have_names(theme: Theme) -> None:
    fake = FakePresenter(SERVERS, TOOLS)
    fake.entries["a"] = {"command": "p", "env": {"A_TOKEN": "${secret:a/A_TOKEN}", "HOST": "x"}, "args": 3}
    async with Desk(fake, theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        view = desk.open_server("a", "settings").view("settings")
        await until(lambda: view.form.entry)
        view.test_panel.show_result(ServerTest("a", False, problem=Problem("no"), output=("x",)))
        await asyncio.sleep(0)
        assert nameless(desk.window) == []
        for wish in (lambda: desk.wishes.duplicate_requested.emit("a"), lambda: desk.wishes.secret_requested.emit("a", "a/A_TOKEN")):
            wish()
            await asyncio.sleep(0)
            assert nameless(desk.window) == []
            desk.window.sheet.dismiss()


def role(widget: QWidget) -> QAccessible.Role:
    return QAccessible.queryAccessibleInterface(widget).role()


async def test_windows_and_sheets_that_ask_are_dialogs(theme: Theme) -> None:
    async with Desk(FakePresenter(SERVERS), theme) as desk:
        asking = ApprovalWindow(theme, hub=desk.hub, tasks=desk.tasks, guard_ms=0)
        desk.wishes.duplicate_requested.emit("a")
        assert role(asking) == role(desk.window.sheet) == QAccessible.Role.Dialog
        delete(asking)


def test_choices_say_what_they_are(theme: Theme) -> None:
    for options, expected in (
        (OptionList(theme, [("a", "A"), ("b", "B")], name="One", chosen=["a"], may_be_empty=False), QAccessible.Role.RadioButton),
        (OptionList(theme, [("a", "A"), ("b", "B")], name="Some", takes_many=True), QAccessible.Role.CheckBox),
    ):
        assert role(options.first) == expected
        options.set_chosen(["b"])
        assert options.chosen == ["b"]


async def test_tabs_are_tabs_of_a_list_of_which_one_is_selected(theme: Theme) -> None:
    async with Desk(FakePresenter(SERVERS), theme) as desk:
        desk.window.open_page("settings")
        tabs = desk.settings.findChild(FilterTabs)
        row = QAccessible.queryAccessibleInterface(tabs)
        assert (row.role(), row.text(QAccessible.Text.Name)) == (QAccessible.Role.PageTabList, "Settings")
        first, second = row.child(0), row.child(1)
        assert first.role() == second.role() == QAccessible.Role.PageTab
        assert [bool(each.state().selected) for each in (first, second)] == [True, False]
        second.actionInterface().doAction("Press")
        assert [bool(each.state().selected) for each in (first, second)] == [False, True]
        assert (tabs.current, bool(second.state().checkable)) == (1, False)
        second.actionInterface().doAction("SetFocus")
        assert QApplication.focusWidget() is tabs.findChildren(FilterTab)[1]


async def test_cards_are_items_of_a_list(theme: Theme) -> None:
    async with Desk(FakePresenter(SERVERS), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        items = QAccessible.queryAccessibleInterface(desk.page.server_list.grid.widget())
        assert (items.role(), items.text(QAccessible.Text.Name)) == (QAccessible.Role.List, "Servers")
        cards = [items.child(place) for place in range(items.childCount())]
        assert {card.role() for card in cards} == {QAccessible.Role.ListItem}
        assert "a, Connected" in [card.text(QAccessible.Text.Name) for card in cards]


async def test_a_page_that_its_key_opens_leaves_no_mark_on_the_entry_of_the_page_before(theme: Theme) -> None:
    async with Desk(FakePresenter(SERVERS), theme) as desk:
        first = desk.window.findChild(NavItem)
        assert isinstance(first, NavItem)
        first.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(desk.window, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
        assert not first.isChecked()
        assert not first.shows_focus
