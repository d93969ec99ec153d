"""The window: closing, pausing, copying, undoing, the log, and what the hub has to say."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QPushButton, QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server, tool
from tests.ui.seen import control, drawn, field, words

from tooltray.foundation.errors import SECRETS_UNREACHABLE, Problem, TooltrayError
from tooltray.foundation.events import ProblemReported, SecretsChanged
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.snapshots.setup import StoredSecrets
from tooltray.ui.kit.destinations import Servers
from tooltray.ui.kit.hub_phase import HubPhase
from tooltray.ui.kit.notice_area import NoticeArea
from tooltray.ui.kit.secrets_help import SecretsHelp
from tooltray.ui.logs.log_view import LogSheet
from tooltray.ui.settings.secret_places import PlaceSection
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.filter_tabs import FilterTab
from tooltray.ui.widgets.page_frame import SearchField
from tooltray.ui.widgets.sheet import Sheet
from tooltray.ui.widgets.toast import SHADOW, Toast

CONTROL = Qt.KeyboardModifier.ControlModifier


def toasts(desk: Desk) -> list[str]:
    return [toast.text for toast in desk.window.findChildren(Toast) if toast.isVisible()]


def toast_box(desk: Desk) -> QRect:
    """Where a new toast of some words lies."""
    desk.window.context.say("a long line of what was done and can be undone " * 2)
    toast = desk.window.findChildren(Toast)[-1]
    return QRect(toast.pos(), toast.size()).adjusted(SHADOW, SHADOW, -SHADOW, -SHADOW)


def press(widget: QWidget, name: str) -> None:
    """Presses the visible button with this text or name."""
    found = [each for each in widget.findChildren(QPushButton) if each.isVisible() and name in (each.text(), each.accessibleName())]
    assert found, f"no button {name!r}"
    found[0].click()


async def test_closing_hides_where_there_is_a_tray(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        quits: list[bool] = []
        desk.window.quit_requested.connect(lambda: quits.append(True))
        desk.window.close()
        assert not desk.window.isVisible()
        assert not quits
        desk.window.show_up()
        assert desk.window.isVisible()


async def test_closing_ends_where_there_is_none(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        quits: list[bool] = []
        desk.has_tray = False
        desk.window.quit_requested.connect(lambda: quits.append(True))
        desk.window.close()
        assert desk.window.isVisible()  # until all has ended
        assert quits == [True]


@pytest.mark.parametrize(("key", "is_visible", "quits"), [(Qt.Key.Key_W, False, 0), (Qt.Key.Key_Q, True, 1)])
async def test_the_window_s_shortcuts(theme: Theme, key: Qt.Key, is_visible: bool, quits: int) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        asked: list[bool] = []
        desk.window.quit_requested.connect(lambda: asked.append(True))
        QTest.keyClick(desk.window, key, CONTROL)
        assert (desk.window.isVisible(), len(asked)) == (is_visible, quits)


async def test_control_n_adds_a_server_only_while_the_hub_runs(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.window.set_phase(HubPhase.STARTING)
        add = next(each for each in desk.window.findChildren(QPushButton) if each.text() == "Add server")
        assert not add.isEnabled()
        QTest.keyClick(desk.window, Qt.Key.Key_N, CONTROL)
        assert desk.window.sheet is None
        desk.window.set_phase(HubPhase.RUNNING)
        assert add.isEnabled()
        QTest.keyClick(desk.window, Qt.Key.Key_N, CONTROL)
        assert desk.window.sheet is not None


async def test_pause_and_resume(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        press(desk.window, "Pause all servers")
        menu = next(each for each in desk.window.findChildren(QMenu) if each.isVisible())
        menu.actions()[0].trigger()
        menu.close()
        await desk.asked("set_mcp_enabled", False, 3600.0)
        await until(lambda: "Tooltray is paused" in drawn(desk.window))
        await until(lambda: "Everything is paused until " in drawn(desk.window))
        tabs = [each.text() for each in desk.page.findChildren(FilterTab)]
        assert [text for text in tabs if text not in ("Installed", "Discover")] == [
            "All",
            "Needs you",
            "Paused",
            "Starting",
            "Waiting",
            "Stopped",
        ]
        press(desk.window, "Resume all servers")
        await desk.asked("set_mcp_enabled", True)
        await until(lambda: "Tooltray is running" in drawn(desk.window))


async def test_the_foot_counts_clients_and_the_badge_servers_that_need_a_person(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a", ServerState.ERROR, problem=Problem("x"))]), theme) as desk:
        desk.engine.set_sessions(1)
        await until(lambda: "1 open session" in drawn(desk.window))
        assert any(each.accessibleName() == "Servers, 1 need you" for each in desk.window.findChildren(QWidget))
        assert control(desk.servers_page, "Installed").text() == "Installed"


async def test_a_removed_server_can_be_brought_back_as_it_was(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a", is_default=True)]), theme) as desk:
        desk.engine.entries["a"] = {"command": "npx", "custom": 1}
        desk.wishes.removal_requested.emit("a")
        await until(lambda: toasts(desk) == ["a is removed"])
        assert "a" not in desk.engine.entries
        press(desk.window, "Undo")
        await desk.asked("add_mcp_server", "a", {"command": "npx", "custom": 1}, True)
        await until(lambda: not toasts(desk))


async def test_ctrl_z_presses_undo_but_in_a_field_that_has_something_to_undo(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a"), server("b")]), theme) as desk:
        desk.engine.entries["a"] = {"command": "npx"}
        desk.wishes.removal_requested.emit("a")
        await until(lambda: toasts(desk) == ["a is removed"])
        undo = control(desk.window, "Undo")
        assert (undo.toolTip(), undo.accessibleDescription()) == ("Ctrl+Z", "Ctrl+Z")
        search = next(each for each in desk.window.findChildren(SearchField) if each.isVisible())
        search.setFocus()
        QTest.keyClicks(search, "x")
        QTest.keyClick(search, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        assert (search.text(), toasts(desk)) == ("", ["a is removed"])
        desk.window.centralWidget().setFocus()
        QTest.keyClick(desk.window.centralWidget(), Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        await desk.asked("add_mcp_server", "a", {"command": "npx"}, False)


@pytest.mark.parametrize("by", ["pointer", "keyboard"])
async def test_a_toast_stays_while_the_pointer_or_the_keyboard_is_on_it(theme: Theme, by: str) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        toast = desk.window.context.offer_undo("a is removed")
        end = toast.findChild(QTimer).timeout.emit
        if by == "pointer":
            toast.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
        else:
            control(toast, "Undo").setFocus(Qt.FocusReason.TabFocusReason)
        end()
        assert toasts(desk) == ["a is removed"]
        toast.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
        desk.window.centralWidget().setFocus()
        end()
        assert toasts(desk) == []


async def test_a_new_toast_takes_the_place_of_the_old_one(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.window.context.say("one")
        desk.window.context.say("two")
        assert toasts(desk) == ["two"]


async def test_a_toast_lies_beside_the_details_and_above_buttons_that_do_not_scroll(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        details = desk.open_server("a", "access")
        assert toast_box(desk).right() < details.mapTo(desk.window, QPoint(0, 0)).x()
        desk.window.resize(900, 600)  # now they lie over the cards
        desk.open_server("a", "settings")
        await until(lambda: any(each.text() == "Save" for each in details.findChildren(Button)))
        for name in ("Test", "Discard", "Save"):
            button = control(details, name)
            assert not QRect(button.mapTo(desk.window, QPoint(0, 0)), button.size()).intersects(toast_box(desk)), name


async def test_a_server_s_entry_is_copied_in_the_form_of_other_programs(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.wishes.copy_requested.emit("a")
        await until(lambda: toasts(desk))
        assert json.loads(QGuiApplication.clipboard().text()) == {"mcpServers": {"a": {"command": "npx"}}}


async def test_start_with_the_hub_is_switched_both_ways(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.wishes.default_requested.emit("a", True)
        await until(lambda: desk.engine.defaults == ["a"])
        desk.wishes.default_requested.emit("a", False)
        await until(lambda: desk.engine.defaults == [])


async def test_the_log_of_a_server_shows_its_lines_and_the_whole_problem_until_that_is_over(theme: Theme) -> None:
    failed = server("a", ServerState.ERROR, problem=Problem("it fell over", "exit code 7", "Pick it up"))
    async with Desk(FakePresenter([failed]), theme) as desk:
        desk.engine.logs["a"] = ["first", "second"]
        await until(lambda: desk.page.server_list.cards)
        desk.wishes.log_requested.emit("a")
        panel = desk.window.findChild(LogSheet)
        assert isinstance(panel, LogSheet)
        await until(lambda: [line.text for line in panel.log.lines] == ["first", "second"])
        assert "It fell over" in drawn(panel)
        assert "Exit code 7. Pick it up." in drawn(panel)
        desk.engine.set_state("a", ServerState.RUNNING, problem=None)
        await until(lambda: panel.findChild(Banner) is None)


async def test_the_log_of_a_removed_server_closes(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.wishes.log_requested.emit("a")
        await desk.hub.servers.remove_mcp_server("a")
        await until(lambda: desk.window.sheet is None)


async def test_the_log_opens_a_hidden_window(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.window.close()
        desk.wishes.log_requested.emit("a")
        assert desk.window.isVisible()


async def test_notices_are_shown_one_at_a_time_and_can_be_put_away(theme: Theme) -> None:
    first, second = Problem("settings.json was set aside", "line 4 is not JSON"), Problem("an entry was skipped")
    async with Desk(FakePresenter(notices=(first, second)), theme) as desk:
        await until(lambda: "settings.json was set aside" in drawn(desk.window).replace("Settings", "settings"))
        await until(lambda: "1 more notice" in drawn(desk.window))
        press(desk.window, "Dismiss this notice")
        await until(lambda: "An entry was skipped" in drawn(desk.window))
        press(desk.window, "Dismiss this notice")
        assert desk.page.notices.isHidden()


async def test_what_the_hub_says_no_more_is_no_notice_any_more_also_if_it_was_news(theme: Theme) -> None:
    broken, gone = Problem("an entry cannot be used", "line 4"), Problem("a sign-in was lost")
    notices = NoticeArea(theme)
    notices.resize(688, 28)
    for problem in (broken, gone):  # as they are told when they happen
        notices.add_notice(problem)
    notices.set_notices((broken,))
    await until(lambda: "Line 4" in words(notices))
    notices.set_notices((Problem("an entry cannot be used", "line 9"),))  # lines were taken out above it
    await until(lambda: words(notices) == "A sign-in was lost\n1 more notice")
    control(notices, "Dismiss this notice").click()
    await until(lambda: "Line 9" in words(notices))
    notices.set_notices(())
    assert notices.isHidden()


async def test_a_problem_without_a_server_is_a_notice_and_one_with_a_server_is_not(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.engine.bus.publish(ProblemReported(Problem("of a server"), "a"))
        desk.engine.bus.publish(ProblemReported(Problem("of the hub")))
        await until(lambda: "Of the hub" in drawn(desk.window))
        assert "Of a server" not in drawn(desk.window)


async def test_a_wish_that_fails_and_belongs_to_no_server_is_a_notice(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.engine.failures["set_mcp_enabled"] = TooltrayError("the disk is full")
        desk.window.pause(True)
        await until(lambda: "The disk is full" in drawn(desk.window))


async def test_a_hub_that_does_not_start_says_why_and_offers_to_try_again(theme: Theme) -> None:
    desk = Desk(FakePresenter(), theme)
    desk.window.show()
    retries: list[bool] = []
    desk.window.retry_requested.connect(lambda: retries.append(True))
    desk.window.set_phase(HubPhase.FAILED, Problem("another hub runs", "pid 7", "End it with `kill 7`"))
    await until(lambda: "Another hub runs" in drawn(desk.window))
    assert "Pid 7. End it with `kill 7`." in drawn(desk.window)
    press(desk.window, "Try again")
    assert retries == [True]
    desk.window.set_phase(HubPhase.STARTING)
    assert "Another hub runs" not in drawn(desk.window)
    await desk.close()


async def test_secrets_that_keep_a_server_from_starting_can_be_opened_in_the_window(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a"), server("b")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.engine.failures["get_secret_names"] = TooltrayError(LOCKED.title, LOCKED.message, LOCKED.hint)
        desk.engine.set_state("a", ServerState.ERROR, problem=LOCKED)
        await until(lambda: LOCKED.title in drawn(desk.page.notices))
        press(desk.window, "Unlock…")
        del desk.engine.failures["get_secret_names"]
        press(desk.window, "Only in memory…")
        await until(lambda: "Those in memory are lost" in drawn(desk.window))
        press(desk.window, "Back")
        assert ("set_secret_backend", "memory") not in desk.engine.calls
        press(desk.window, "Only in memory…")
        press(desk.window, "Only in memory")
        await desk.asked("set_secret_backend", "memory")
        await desk.asked("restart_server", "a")
        await until(lambda: desk.window.findChild(SecretsHelp) is None)
        assert ("restart_server", "b") not in desk.engine.calls


LOCKED = Problem("The secrets are locked", "secrets.enc needs its passphrase", "Unlock them")


@asynccontextmanager
async def with_locked_file(theme: Theme) -> AsyncIterator[Desk]:
    async with Desk(FakePresenter([server("a")], secret_backend="file"), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.engine.failures["get_secret_names"] = TooltrayError(LOCKED.title, LOCKED.message, LOCKED.hint)
        desk.engine.set_state("a", ServerState.ERROR, problem=LOCKED)
        await until(lambda: LOCKED.title in drawn(desk.page.notices))
        press(desk.window, "Unlock…")
        yield desk


async def test_a_passphrase_unlocks_the_file_and_a_wrong_one_is_said(theme: Theme) -> None:
    async with with_locked_file(theme) as desk:
        desk.engine.failures["unlock_secrets"] = TooltrayError("The passphrase is wrong")
        field(desk.window, "Passphrase").setText("no")
        press(desk.window, "Unlock")
        await until(lambda: "The passphrase is wrong" in drawn(desk.window))
        del desk.engine.failures["unlock_secrets"], desk.engine.failures["get_secret_names"]
        field(desk.window, "Passphrase").setText("open sesame")
        press(desk.window, "Unlock")
        await desk.asked("unlock_secrets", "open sesame")
        await until(lambda: desk.window.findChild(SecretsHelp) is None)
        assert not [call for call in desk.engine.calls if call[0] == "set_secret_backend"]


async def test_an_unlock_at_a_terminal_reaches_the_window(theme: Theme) -> None:
    async with with_locked_file(theme) as desk:
        desk.engine.stored_secrets = StoredSecrets("file", problem=LOCKED)
        desk.engine.bus.publish(SecretsChanged("file"))
        await desk.asked("get_secrets")
        await until(lambda: not len(desk.tasks))
        assert desk.window.findChild(SecretsHelp)
        desk.engine.stored_secrets = StoredSecrets("file", is_proven=True)
        desk.engine.bus.publish(SecretsChanged("file"))
        await until(lambda: desk.window.findChild(SecretsHelp) is None)


async def test_the_card_of_a_server_with_locked_secrets_unlocks_at_the_notice_or_in_the_settings(theme: Theme) -> None:
    locked = replace(LOCKED, code=SECRETS_UNREACHABLE)
    async with Desk(FakePresenter([server("a")], secret_backend="file"), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.engine.failures["get_secret_names"] = TooltrayError(LOCKED.title, LOCKED.message, LOCKED.hint)
        desk.engine.set_state("a", ServerState.ERROR, problem=locked)
        await until(lambda: LOCKED.title in drawn(desk.page.notices))
        card = desk.page.server_list.cards["a"]
        card._changed_at = 0.0  # the button is not that of before under the pointer of a double click
        control(card, "Unlock…").click()
        help = desk.page.notices.findChild(SecretsHelp)
        assert help is not None
        help.window().close()
        desk.window.context.notices.set_paused(True)
        control(card, "Unlock…").click()
        await until(lambda: (place := desk.window.findChild(PlaceSection)) is not None and place.isVisible())


async def test_a_server_s_own_problem_is_not_taken_for_one_of_the_secrets(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.engine.failures["get_secret_names"] = TooltrayError("No keyring found")
        desk.engine.set_state("a", ServerState.ERROR, problem=Problem("Command not found"))
        await desk.asked("get_secret_names")
        await until(lambda: "Command not found" in drawn(desk.window) and not len(desk.tasks))
        assert desk.window.findChild(SecretsHelp) is None


async def test_escape_closes_a_sheet_and_gives_the_focus_back(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        before = desk.card("a").controls()[0]
        before.setFocus()
        desk.page.add()
        await until(lambda: QApplication.focusWidget() is not before)
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
        assert desk.window.sheet is None
        assert QApplication.focusWidget() is before


async def test_a_click_beside_the_panel_closes_the_sheet_and_one_inside_does_not(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.page.add()
        sheet = desk.window.sheet
        assert isinstance(sheet, Sheet)
        QTest.mouseClick(sheet, Qt.MouseButton.LeftButton, pos=sheet.panel.geometry().center())
        assert desk.window.sheet is sheet
        QTest.mouseClick(sheet, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
        assert desk.window.sheet is None


async def test_a_click_beside_the_panel_loses_nothing_that_was_typed(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.page.add()
        sheet = desk.window.sheet
        assert isinstance(sheet, Sheet)
        QTest.keyClicks(QApplication.focusWidget(), "npx")
        QTest.mouseClick(sheet, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
        assert desk.window.sheet is sheet


async def test_undo_is_one_tab_away(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a"), server("b")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        focused = control(desk.card("a"), "More for a")
        focused.setFocus(Qt.FocusReason.TabFocusReason)
        desk.window.context.offer_undo("a is stopped")
        QTest.keyClick(focused, Qt.Key.Key_Tab)
        assert QApplication.focusWidget() is control(desk.window, "Undo")
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
        assert QApplication.focusWidget() is focused


async def test_a_page_that_a_shortcut_opens_has_the_keyboard_and_not_the_sidebar(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        QTest.keyClick(desk.window, Qt.Key.Key_Tab)
        QTest.keyClick(desk.window, Qt.Key.Key_3, CONTROL)
        assert QApplication.focusWidget() is desk.window.page("clients")
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        assert desk.window.page("clients").isAncestorOf(QApplication.focusWidget())


class ShownWindows(QObject):
    """Notes each window that comes up, however short."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.seen.add(type(watched).__name__)
        return False


async def test_no_part_of_the_window_ever_flashes_up_as_a_window_of_its_own(theme: Theme, app: QApplication) -> None:
    windows = ShownWindows()
    app.installEventFilter(windows)
    async with Desk(FakePresenter([server("a"), server("b", ServerState.ERROR, problem=Problem("x"))], [tool("t", "a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.open_tools("a")
        desk.page.add('{"mcpServers": {"x": {"command": "y", "env": {"A_TOKEN": "1"}}}}')
        desk.wishes.log_requested.emit("b")
        desk.window.context.say("hello")
        for state in ServerState:
            desk.engine.set_state("a", state)
        await until(lambda: desk.card("a").server.state is list(ServerState)[-1])
        await desk.hub.servers.add_mcp_server("new", {"command": "z"})
        await until(lambda: "new" in desk.page.server_list.cards)
    app.removeEventFilter(windows)
    assert windows.seen == {"MainWindow"}


async def test_stopping_a_server_can_be_undone_for_a_while(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        control(desk.card("a"), "Use a").click()
        await until(lambda: toasts(desk) == ["a is stopped"])
        assert desk.card("a").server.state is ServerState.STOPPED
        press(desk.window, "Undo")
        await desk.asked("start_server", "a")
        await until(lambda: desk.card("a").server.state is ServerState.RUNNING)


async def test_undo_of_a_stop_goes_once_the_server_is_started_in_another_way(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a"), server("b", ServerState.STOPPED)]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        control(desk.card("a"), "Use a").click()
        await until(lambda: toasts(desk) == ["a is stopped"])
        control(desk.card("b"), "Use b").click()
        await desk.asked("start_server", "b")
        assert toasts(desk) == ["a is stopped"]
        control(desk.card("a"), "Use a").click()
        await desk.asked("start_server", "a")
        assert toasts(desk) == []


@pytest.mark.parametrize(("is_default", "text"), [(True, "a starts when a client needs it"), (False, "a starts with Tooltray")])
async def test_when_a_server_starts_from_now_on_is_said(theme: Theme, is_default: bool, text: str) -> None:
    async with Desk(FakePresenter([server("a", is_default=is_default)]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.engine.defaults = ["a"] if is_default else []
        desk.wishes.default_requested.emit("a", not is_default)
        await until(lambda: toasts(desk) == [f"{text} from now on"])


def placed(desk: Desk) -> list[str]:
    cards = [card for card in desk.page.server_list.cards.values() if card.isVisible()]
    return [card.server.name for card in sorted(cards, key=lambda card: (card.y(), card.x()))]


async def test_a_server_that_is_brought_back_has_its_place_and_the_keyboard(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a"), server("b"), server("c")]), theme) as desk:
        await until(lambda: placed(desk) == ["a", "b", "c"])
        desk.engine.entries["b"] = {"command": "npx"}
        desk.wishes.removal_requested.emit("b")
        await until(lambda: placed(desk) == ["a", "c"])
        await until(lambda: toasts(desk))
        undo = control(desk.window, "Undo")
        undo.setFocus(Qt.FocusReason.TabFocusReason)
        undo.click()
        await until(lambda: placed(desk) == ["a", "b", "c"])
        await until(lambda: QApplication.focusWidget() is desk.card("b").controls()[0])


@pytest.mark.parametrize(("removed", "next_one"), [("b", "c"), ("c", "b")])
async def test_the_keyboard_goes_to_the_next_card_when_its_own_is_removed(theme: Theme, removed: str, next_one: str) -> None:
    async with Desk(FakePresenter([server("a"), server("b"), server("c")]), theme) as desk:
        await until(lambda: placed(desk) == ["a", "b", "c"])
        desk.engine.entries[removed] = {"command": "npx"}
        control(desk.card(removed), f"{removed}, Connected").setFocus(Qt.FocusReason.TabFocusReason)
        desk.wishes.removal_requested.emit(removed)
        await until(lambda: removed not in desk.page.server_list.cards)
        await until(lambda: QApplication.focusWidget() is control(desk.card(next_one), f"{next_one}, Connected"))


async def test_an_address_that_adds_a_server_opens_the_sheet_and_changes_nothing(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.window.open_link("tooltray://install?name=x&config=%7B%22command%22%3A%22npx%22%7D")
        assert desk.window.sheet is not None
        assert [method for method, *_ in desk.engine.calls if method == "add_mcp_server"] == []
        desk.window.open_link("tooltray://open")


async def test_tab_goes_from_the_search_on_to_what_was_found(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")], [tool("t", "a")]), theme) as desk:
        desk.window.go(Servers("all_tools"))
        page = desk.servers_page
        search = next(each for each in page.findChildren(SearchField) if each.isVisible())
        search.setFocus()
        QTest.keyClick(search, Qt.Key.Key_Tab)
        await until(lambda: page.isAncestorOf(desk.window.focusWidget()) and desk.window.focusWidget() is not search)


async def test_it_is_no_larger_than_the_screen_has_room_for(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.window.fit(QSize(1000, 700))
        assert desk.window.size() == QSize(992, 660)
        desk.window.fit(QSize(4000, 3000))
        assert desk.window.size() == QSize(992, 660)
