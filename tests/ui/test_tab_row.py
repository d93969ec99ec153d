"""Tabs in a narrow place: those without room are in a menu, and the one that is on is always to be seen."""

import pytest
from PySide6.QtWidgets import QAbstractButton, QMenu
from pytestqt.qtbot import QtBot

from tooltray.ui.theme import Theme
from tooltray.ui.widgets.tab_row import TabRow

TITLES = ["Overview", "Tools", "Settings", "Log", "Activity"]


@pytest.fixture
def tabs(qtbot: QtBot, theme: Theme) -> TabRow:
    row = TabRow(theme, TITLES, name="Parts")
    qtbot.addWidget(row)
    row.resize(900, 30)
    row.show()
    return row


def shown(tabs: TabRow) -> list[str]:
    return [each.text() for each in tabs.findChildren(QAbstractButton) if each.isVisible() and each.text()]


def test_all_are_shown_where_there_is_room_and_else_the_first_ones(tabs: TabRow) -> None:
    assert shown(tabs) == TITLES
    tabs.resize(200, 30)
    assert shown(tabs) == TITLES[:2]


def test_one_of_the_menu_comes_into_the_row_when_it_is_chosen(tabs: TabRow) -> None:
    tabs.resize(200, 30)
    chosen: list[int] = []
    tabs.chosen.connect(chosen.append)
    next(each for each in tabs.findChildren(QAbstractButton) if each.accessibleName() == "More tabs").click()
    menu = tabs.findChild(QMenu)
    assert isinstance(menu, QMenu)
    assert [action.text() for action in menu.actions()] == TITLES[2:]
    menu.actions()[-1].trigger()
    menu.close()
    assert chosen == [4]
    assert "Activity" in shown(tabs)
