"""A sheet opens as high as what is in it, has the keyboard while it is there, and gives it back."""

import asyncio
from typing import Any

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QCursor, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import control, field

from tooltray.ui.add.add_server import AddServerSheet
from tooltray.ui.approval.allow_tools_sheet import AllowToolsSheet
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.empty_state import EmptyState
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.page_frame import FittedScroll
from tooltray.ui.widgets.sheet import RISE, Sheet, SheetFrame, set_saved


def opened(desk: Desk) -> Sheet:
    assert desk.window.sheet is not None
    return desk.window.sheet


def whole_content(sheet: Sheet) -> bool:
    """Whether nothing in a sheet has to be scrolled to."""
    scroll = sheet.panel.findChild(FittedScroll)
    assert isinstance(scroll, FittedScroll)
    content = scroll.widget()
    assert content is not None
    return content.height() <= scroll.viewport().height() and scroll.verticalScrollBar().maximum() == 0


def has_focus_inside(sheet: Sheet) -> bool:
    focused = QApplication.focusWidget()
    return focused is not None and (focused is sheet or sheet.panel.isAncestorOf(focused))


def log_from_the_menu(desk: Desk, name: str) -> None:
    """Opens the log of a server as a person does."""
    control(desk.card(name), f"More for {name}").setFocus(Qt.FocusReason.MouseFocusReason)
    control(desk.card(name), f"More for {name}").click()
    menu = next(each for each in desk.card(name).findChildren(QMenu) if each.isVisible())
    menu.setActiveAction(next(action for action in menu.actions() if action.text() == "Log"))
    QTest.keyClick(menu, Qt.Key.Key_Return)


async def test_the_sheet_that_adds_a_server_opens_with_room_for_its_field(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.page.add()
        sheet = opened(desk)
        field = sheet.panel.findChild(CodeView)
        assert isinstance(field, CodeView)
        assert field.visibleRegion().boundingRect().height() == field.height()
        assert whole_content(sheet)


async def test_a_sheet_in_the_making_has_its_height_before_it_is_seen(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        panel = AllowToolsSheet(desk.window.context, "s", (), desk.activity.approvals.temporary.read)
        sheet = desk.window.context.sheets.open(panel)
        before = QRect(panel.geometry())
        assert whole_content(sheet)
        for _ in range(5):
            await asyncio.sleep(0)
        assert panel.geometry() == before


def grow(panel: QWidget) -> None:
    """Adds something to a sheet, for which it becomes higher."""
    assert isinstance(panel, SheetFrame)
    line = QWidget()
    line.setFixedHeight(60)
    panel.body.addWidget(line)


@pytest.mark.parametrize("aimed_at", ["Cancel", "Close"])  # on the buttons, and anywhere else in the sheet
async def test_buttons_stay_where_the_pointer_can_reach_them_while_the_sheet_grows(theme: Theme, aimed_at: str) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.window.resize(1180, 760)
        desk.page.add()
        sheet = opened(desk)
        await until(lambda: sheet.panel.isVisible() and sheet.panel.geometry() == sheet.painted_box)
        before, button = QRect(sheet.panel.geometry()), control(sheet.panel, aimed_at)
        QCursor.setPos(button.mapToGlobal(button.rect().center()))
        grow(sheet.panel)
        await until(lambda: sheet.panel.height() > before.height())
        assert sheet.panel.geometry().bottom() == before.bottom()
        QCursor.setPos(0, 0)
        height = sheet.panel.height()
        grow(sheet.panel)
        await until(lambda: sheet.panel.height() > height)
        assert sheet.panel.geometry().bottom() > before.bottom()


async def test_the_shadow_follows_a_sheet_that_grows(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.page.add()
        sheet = opened(desk)
        await until(lambda: sheet.panel.isVisible())
        panel = sheet.panel
        assert isinstance(panel, AddServerSheet)
        small = QRect(panel.geometry())
        shown_before = sheet.grab().toImage()
        field = panel.findChild(CodeView)
        assert isinstance(field, CodeView)
        field.setPlainText("npx -y @scope/server-notes")
        await until(lambda: panel.height() != small.height())
        await until(lambda: opened(desk).grab().toImage() != shown_before)
        assert sheet.painted_box == panel.geometry()


@pytest.mark.parametrize("opens", ["menu", "shortcut"])
async def test_a_sheet_has_the_keyboard_from_the_first_moment(theme: Theme, opens: str) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        if opens == "menu":
            log_from_the_menu(desk, "a")
        else:
            QTest.keyClick(desk.window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
        sheet = opened(desk)
        await until(lambda: has_focus_inside(sheet))
        for _ in range(30):
            QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
            focused = QApplication.focusWidget()
            assert focused is not None
            assert sheet.panel.isAncestorOf(focused)


async def test_escape_closes_a_sheet_from_a_card_s_menu_and_the_menu_s_button_has_the_keyboard_again(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        log_from_the_menu(desk, "a")
        sheet = opened(desk)
        await until(lambda: has_focus_inside(sheet))
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
        await until(lambda: desk.window.sheet is None)
        assert QApplication.focusWidget() is control(desk.card("a"), "More for a")


def press(key: Qt.Key) -> None:
    QTest.keyClick(QApplication.focusWidget(), key)


@pytest.mark.parametrize("is_pasted", [False, True])
async def test_escape_asks_before_what_was_typed_or_pasted_is_lost(theme: Theme, is_pasted: bool) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.page.add()
        sheet = opened(desk)
        field = sheet.panel.findChild(CodeView)
        await until(field.hasFocus)
        if is_pasted:
            QGuiApplication.clipboard().setText("npx a")
            QTest.keyClick(field, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        else:
            QTest.keyClicks(field, "npx a")
        press(Qt.Key.Key_Escape)
        await until(control(sheet, "Keep editing").hasFocus)
        press(Qt.Key.Key_Escape)
        await until(field.hasFocus)
        assert field.toPlainText() == "npx a"
        press(Qt.Key.Key_Escape)
        await until(control(sheet, "Keep editing").hasFocus)
        press(Qt.Key.Key_Tab)
        assert control(sheet, "Discard").hasFocus()
        press(Qt.Key.Key_Return)
        await until(lambda: desk.window.sheet is None)


@pytest.mark.parametrize("name", ["Close", "Cancel"])
async def test_a_button_that_closes_a_sheet_asks_as_escape_does(theme: Theme, name: str) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.page.add()
        sheet = opened(desk)
        field = sheet.panel.findChild(CodeView)
        await until(field.hasFocus)
        QTest.keyClicks(field, "npx a")
        control(sheet, name).click()
        await until(control(sheet, "Keep editing").hasFocus)
        control(sheet, "Discard").click()
        await until(lambda: desk.window.sheet is None)
        desk.page.add()
        control(opened(desk), name).click()
        await until(lambda: desk.window.sheet is None)


async def test_escape_closes_a_sheet_at_once_where_nothing_that_was_typed_is_left(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.page.add()
        field = opened(desk).panel.findChild(CodeView)
        await until(field.hasFocus)
        QTest.keyClicks(field, "a")
        press(Qt.Key.Key_Backspace)
        press(Qt.Key.Key_Escape)
        await until(lambda: desk.window.sheet is None)


async def test_what_was_sent_is_no_loss(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.page.add()
        sheet = opened(desk)
        await until(sheet.panel.findChild(CodeView).hasFocus)
        QTest.keyClicks(sheet.panel.findChild(CodeView), "npx a")
        QTest.keyClicks(field(sheet.panel, "Name of the server"), "b")
        set_saved(sheet.panel)
        press(Qt.Key.Key_Escape)
        await until(lambda: desk.window.sheet is None)


async def test_nothing_behind_an_open_sheet_can_take_the_keyboard(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.page.add()
        sheet = opened(desk)
        behind: QWidget = control(desk.card("a"), "Use a")
        behind.setFocus(Qt.FocusReason.TabFocusReason)
        await until(lambda: has_focus_inside(sheet))
        QTest.keyClick(desk.window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: has_focus_inside(sheet))


async def test_pages_do_not_change_behind_an_open_sheet(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.page.add()
        QTest.keyClick(desk.window, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
        assert desk.page.isVisible()
        opened(desk).dismiss()
        QTest.keyClick(desk.window, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
        assert not desk.page.isVisible()


def test_a_panel_that_is_higher_than_its_content_lies_in_the_middle(qtbot: QtBot, theme: Theme) -> None:
    window, panel = QWidget(), QWidget()
    qtbot.addWidget(window)
    window.resize(800, 600)
    panel.setMinimumHeight(400)
    sheet = Sheet(theme, window, panel)
    window.show()
    sheet.show()
    assert panel.height() == 400
    assert 0 <= panel.y() - (600 - 400) // 2 <= RISE


def test_the_words_of_an_empty_place_wrap_where_there_is_no_room_for_one_line(qtbot: QtBot, theme: Theme) -> None:
    state = EmptyState(theme, "Nothing", "Page not found to look at, and this is why. " * 2, ())
    qtbot.addWidget(state)
    state.resize(320, 300)
    state.show()
    words = state.findChildren(Label)[1]
    assert words.wordWrap()
    assert state.rect().contains(words.geometry())
    state.resize(2_000, 300)
    assert not words.wordWrap()


def test_an_empty_place_without_a_width_asks_qt_for_no_negative_one(qtbot: QtBot, qtlog: Any, app: QApplication, theme: Theme) -> None:
    theme.set_zoom(app, 150)
    state = EmptyState(theme, "Nothing", "And this is why.", ())
    qtbot.addWidget(state)
    state.setFixedWidth(0)
    state.show()
    theme.set_zoom(app, 100)
    assert [record.message for record in qtlog.records if "Negative sizes" in record.message] == []


def test_the_ways_to_begin_stand_in_the_middle_below_wider_words(theme: Theme) -> None:
    state = EmptyState(theme, "Nothing", "Page not found to look at, and this is why. " * 2, [("plus", "Begin", "Here")])
    state.resize(1200, 600)
    state.show()
    [way] = state.findChildren(QAbstractButton)
    assert abs(way.geometry().center().x() - state.rect().center().x()) <= 1
    state.close()
