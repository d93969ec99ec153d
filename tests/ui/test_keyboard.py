"""Tab follows what is seen, and the focus stays near what was pressed."""

import gc
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QGridLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.filter_tabs import FilterTab, FilterTabs
from tooltray.ui.widgets.keyboard import last_input, move_focus, put_after
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.table import Table


class Window(QWidget):
    """A field, a row for more fields, and a foot with two buttons."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        layout = QVBoxLayout(self)
        self.first = QLineEdit()
        layout.addWidget(self.first)
        self.rows = QVBoxLayout()
        layout.addLayout(self.rows)
        foot = QHBoxLayout()
        layout.addLayout(foot)
        self.test, self.save = Button(theme, "Test"), Button(theme, "Save")
        foot.addWidget(self.test)
        foot.addWidget(self.save)

    def focusNextPrevChild(self, forwards: bool) -> bool:
        return move_focus(self, forwards=forwards)

    def tabs(self, count: int, key: Qt.Key = Qt.Key.Key_Tab) -> list[QWidget | None]:
        found = []
        for _ in range(count):
            QTest.keyClick(self.focusWidget(), key)
            found.append(self.focusWidget())
        return found


@pytest.fixture
def window(theme: Theme) -> Iterator[Window]:
    window = Window(theme)
    window.show()
    window.activateWindow()
    window.first.setFocus()
    window.windowHandle().installEventFilter(last_input)
    last_input.is_keyboard = False
    yield window
    window.close()
    last_input.is_keyboard = False


def test_a_row_that_is_added_later_has_its_place_between_the_others(window: Window) -> None:
    grid = QGridLayout()
    right, left = QLineEdit(), QLineEdit()
    grid.addWidget(right, 0, 1)
    grid.addWidget(left, 0, 0)
    window.rows.addLayout(grid)
    QApplication.processEvents()  # only then does a layout show what came later
    order = [left, right, window.test, window.save, window.first]
    assert window.tabs(5) == order
    assert window.tabs(5, Qt.Key.Key_Backtab) == [*order[3::-1], order[4]]


def test_what_floats_over_the_window_is_one_tab_away(window: Window, theme: Theme) -> None:
    undo = Button(theme, "Undo")
    undo.setParent(window)
    undo.show()
    put_after(window.first, undo)
    assert window.tabs(2) == [undo, window.test]


def test_a_button_that_is_hidden_leaves_the_focus_beside_it_after_a_key_and_on_no_button_after_a_click(window: Window) -> None:
    window.save.clicked.connect(window.save.hide)
    QTest.mouseClick(window.windowHandle(), Qt.MouseButton.LeftButton, pos=window.save.geometry().center())
    assert window.focusWidget() is window
    window.save.show()
    window.save.setFocus()
    QTest.keyClick(window.windowHandle(), Qt.Key.Key_Return)
    assert window.focusWidget() is window.test


@pytest.mark.parametrize("rest", [lambda save: save.setEnabled(False), lambda save: save.set_busy(True)], ids=["disabled", "busy"])
def test_a_button_that_is_disabled_by_its_press_keeps_the_focus_and_heeds_no_press(window: Window, rest: Callable[[Button], None]) -> None:
    pressed: list[bool] = []
    window.save.clicked.connect(lambda: (pressed.append(True), rest(window.save)))
    window.save.setFocus(Qt.FocusReason.TabFocusReason)
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Return, Qt.Key.Key_Space):
        QTest.keyClick(window.windowHandle(), key)
    QTest.mouseClick(window.windowHandle(), Qt.MouseButton.LeftButton, pos=window.save.geometry().center())
    assert window.focusWidget() is window.save
    assert pressed == [True]
    assert not window.save.isEnabled()
    assert window.tabs(2) == [window.first, window.test]
    assert window.tabs(1) != [window.save]
    window.save.setEnabled(True)
    window.save.set_busy(False)
    QTest.mouseClick(window.windowHandle(), Qt.MouseButton.LeftButton, pos=window.save.geometry().center())
    assert pressed == [True, True]


def test_a_button_shows_its_ring_after_a_key_and_not_after_a_click(window: Window, theme: Theme) -> None:
    def edge() -> QColor:
        return window.save.grab().toImage().pixelColor(0, window.save.height() // 2)

    QTest.mouseClick(window.windowHandle(), Qt.MouseButton.LeftButton, pos=window.save.geometry().center())
    assert window.save.hasFocus()
    assert edge() == theme.color("border.strong")
    window.first.setFocus()
    window.tabs(2)
    assert edge() == theme.color("accent")


def test_a_busy_button_turns_in_place_of_its_text_after_a_moment_and_keeps_its_size(window: Window) -> None:
    before, size = window.save.grab().toImage(), window.save.size()
    window.save.set_busy(True)
    assert window.save.grab().toImage() == before
    window.save._delay.timeout.emit()
    window.rows.activate()
    assert window.save.grab().toImage() != before
    assert window.save.size() == size
    assert window.save.accessibleDescription() == "Working…"
    window.save.set_busy(False)
    assert window.save.grab().toImage() == before


def test_a_control_that_the_program_gives_the_focus_shows_its_ring_only_after_a_key(window: Window, theme: Theme) -> None:
    switch = Switch(theme, "Use it")
    window.rows.addWidget(switch)
    QTest.mouseClick(window.windowHandle(), Qt.MouseButton.LeftButton, pos=window.first.geometry().center())
    switch.setFocus(Qt.FocusReason.OtherFocusReason)
    assert not switch.shows_focus
    window.first.setFocus()
    QTest.keyClick(window.windowHandle(), Qt.Key.Key_A)
    switch.setFocus(Qt.FocusReason.OtherFocusReason)
    assert switch.shows_focus


def test_of_buttons_of_which_one_is_on_tab_comes_to_that_one(window: Window, theme: Theme) -> None:
    tabs = FilterTabs(theme, ["One", "Two"], have_counts=False)
    window.rows.addWidget(tabs)
    QApplication.processEvents()
    window.tabs(1)
    tabs.choose(1)
    window.first.setFocus()
    assert [each.text() for each in window.tabs(1) if isinstance(each, FilterTab)] == ["Two"]


def test_a_table_that_tab_comes_to_marks_its_row_although_nothing_is_selected(window: Window, theme: Theme) -> None:
    table = Table(theme, [Column("Name", str, Kind.TEXT)], "Names", str)
    window.resize(400, 400)
    window.rows.addWidget(table)
    table.set_rows(["one", "two"])
    QApplication.processEvents()
    QTest.keyClick(window.windowHandle(), Qt.Key.Key_Tab)
    assert window.focusWidget() is table
    row = table.visualRect(table.model().index(0, 0))
    bar = table.viewport().grab().toImage().pixelColor(row.center().x(), row.bottom() - 1)
    assert bar == theme.color("accent")
    assert not table.picked


def test_a_choice_that_has_room_shows_its_words_whole(window: Window, theme: Theme) -> None:
    """The width of a text is a fraction of a pixel; what is rounded down would be elided."""
    titles = ["Ask first", "Trusted: changes ask", "An encrypted file", "Default", "Never"]
    for title in titles:
        choice = Choice(theme, [(title, title)], name="Choice")
        assert choice.shown_in(choice.sizeHint().width()) == title


def test_tab_into_a_page_that_is_scrolled_down_scrolls_to_what_gets_the_focus(window: Window) -> None:
    area, content = PageScroll("Area"), QWidget()
    fields = [QLineEdit("npx") for _ in range(20)]
    lines = QVBoxLayout(content)
    for field in fields:
        lines.addWidget(field)
    area.setWidget(content)
    window.layout().addWidget(area)
    window.resize(300, 300)
    QApplication.processEvents()
    bar = area.verticalScrollBar()
    bar.setValue(bar.maximum())
    assert not fields[0].visibleRegion().boundingRect().isValid()
    window.save.setFocus()
    assert window.tabs(1) == [fields[0]]
    assert fields[0].visibleRegion().boundingRect() == fields[0].rect()
    window.first.setFocus()
    assert window.tabs(1, Qt.Key.Key_Backtab) == [fields[-1]]
    assert fields[-1].visibleRegion().boundingRect() == fields[-1].rect()


def test_what_tab_goes_past_is_not_taken_for_garbage(window: Window, theme: Theme) -> None:
    area, gone = PageScroll("Area"), list[str]()
    area.destroyed.connect(lambda: gone.append("the area"))
    content = QWidget()
    QVBoxLayout(content).addWidget(Button(theme, "Inside"))
    area.setWidget(content)
    window.layout().addWidget(area)
    area.show()
    del area, content
    assert window.tabs(3)[-1].text() == "Inside"
    gc.collect()
    assert not gone
