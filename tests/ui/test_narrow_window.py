"""A window that is narrow at its zoom: its sidebar and its header fold, and the whole page scrolls where even that is not enough."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.ui.seen import control

from tooltray.ui.shell.sidebar import COMPACT_WIDTH, NavItem, Sidebar
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.page_frame import SMALLEST, Header, PageRoom
from tooltray.ui.zoom import px


@pytest.fixture(autouse=True)
def actual_size(app: QApplication, theme: Theme) -> Iterator[None]:
    yield
    theme.set_zoom(app, 100)


async def test_the_sidebar_folds_in_a_zoomed_window_and_its_words_stay_as_tooltips_and_names(app: QApplication, theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sidebar = desk.window.findChild(Sidebar)
        items = sidebar.findChildren(NavItem)
        brand = next(each for each in sidebar.findChildren(Label) if each.text() == "Tooltray")
        assert (sidebar.width(), brand.isVisible(), [item.toolTip() for item in items]) == (theme.size("sidebar"), True, [""] * 4)
        theme.set_zoom(app, 150)
        await until(lambda: sidebar.width() == px(COMPACT_WIDTH))
        assert not brand.isVisible()
        assert [item.toolTip() for item in items] == ["Servers", "Activity", "Clients", "Settings"]
        assert [item.accessibleName() for item in items] == ["Servers", "Activity", "Clients", "Settings"]
        find = control(sidebar, "Search or run a command")
        assert (find.text(), sidebar.rect().contains(find.geometry())) == ("", True)
        assert all(sidebar.rect().contains(item.geometry()) for item in items)
        theme.set_zoom(app, 100)
        await until(lambda: sidebar.width() == theme.size("sidebar"))
        assert (brand.isVisible(), find.text(), items[0].toolTip()) == (True, "Search or run a command", "")


@pytest.mark.parametrize(("has_tabs", "width"), [(True, 720), (False, 600)])
def test_a_header_without_room_has_its_tabs_or_its_actions_on_a_second_line(
    qtbot: QtBot, app: QApplication, theme: Theme, has_tabs: bool, width: int
) -> None:
    theme.set_zoom(app, 200)
    actions = Button(theme, "Add server"), Button(theme, "Pause all servers")
    tabs = FilterTabs(theme, ["Installed", "Discover", "Projects"], name="Servers") if has_tabs else None
    header = Header(theme, "Servers", *actions, tabs=tabs)
    page = QWidget()
    header.setParent(page)  # a window of its own would grow with it
    qtbot.addWidget(page)
    title = next(each for each in header.findChildren(Label) if each.text() == "Servers")
    moved = tabs if tabs is not None else actions[0]
    header.resize(4 * width, header.height())
    page.show()
    qtbot.waitUntil(lambda: header.height() == theme.size("header") and top(moved, header) < title.geometry().bottom())
    header.resize(width, header.height())
    qtbot.waitUntil(lambda: header.height() > theme.size("header") and top(moved, header) > title.geometry().bottom())
    header.resize(4 * width, header.height())
    qtbot.waitUntil(lambda: header.height() == theme.size("header") and top(moved, header) < title.geometry().bottom())


def top(widget: QWidget, header: QWidget) -> int:
    return widget.mapTo(header, widget.rect().topLeft()).y()


@pytest.mark.parametrize(
    ("percent", "size", "scrolls"),
    [
        (100, (700, 500), (False, False)),
        (150, (700, 500), (True, True)),
        (150, (900, 500), (False, True)),
        (150, (700, 700), (True, False)),
    ],
)
def test_a_page_gets_all_room_and_scrolls_where_that_is_less_than_it_needs(
    qtbot: QtBot, app: QApplication, theme: Theme, percent: int, size: tuple[int, int], scrolls: tuple[bool, bool]
) -> None:
    theme.set_zoom(app, percent)
    pages = QWidget()
    room = PageRoom(pages)
    qtbot.addWidget(room)
    room.resize(*size)
    room.show()
    bars = room.horizontalScrollBar(), room.verticalScrollBar()
    shown = QSize(size[0] - scrolls[1] * bars[1].sizeHint().width(), size[1] - scrolls[0] * bars[0].sizeHint().height())
    qtbot.waitUntil(lambda: room.viewport().size() == shown)
    assert tuple(bar.maximum() > 0 for bar in bars) == scrolls
    assert pages.size() == shown.expandedTo(QSize(*map(px, SMALLEST)))
