"""The zoom of the windows: by keys, commands and a setting, in shown windows and after a restart."""

import asyncio
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QBoxLayout, QPlainTextEdit, QPushButton, QWidget
from tests.ui.scenes.all_scenes import SCENES

from tooltray.foundation.preferences import ZOOM_STEPS, Preferences, preferences_of
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.shell.appearance import Appearance
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import add_gap, column, row
from tooltray.ui.zoom import next_zoom, px, zoom

ROUNDED = 4  # px, of the widths of several words side by side
CONTROL, KEYPAD = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.KeypadModifier


@pytest.fixture(autouse=True)
def actual_size(app: QApplication, theme: Theme) -> Iterator[None]:
    yield
    theme.set_zoom(app, 100)


def test_a_length_of_the_design_follows_the_zoom_and_a_hairline_does_not(app: QApplication, theme: Theme) -> None:
    assert (px(12), px(2.5), theme.line("body"), theme.font().pixelSize()) == (12, 2.5, 20, 13)
    theme.set_zoom(app, 150)
    assert (px(12), px(1), px(0), px(2.5)) == (18, 1, 0, 3.75)
    assert (theme.line("body"), theme.size("row"), theme.radius("m"), theme.font().pixelSize()) == (30, 60, 9, 20)
    assert "padding: 0 18px" in app.styleSheet()
    assert "border: 1px" in app.styleSheet()


def test_steps_end_at_the_smallest_and_at_the_largest_zoom() -> None:
    assert [next_zoom(100, 1), next_zoom(100, -1), next_zoom(200, 1), next_zoom(80, -1)] == [110, 90, 200, 80]


@pytest.mark.parametrize("percent", ZOOM_STEPS)
def test_a_zoom_of_the_settings_is_used_and_another_value_is_not(percent: int) -> None:
    assert preferences_of({"window": {"size": percent}}).zoom == percent
    assert preferences_of({"window": {"size": percent + 1}}).zoom == 100
    assert preferences_of({"window": {"size": [percent]}}).zoom == 100


def test_a_shown_widget_follows_and_comes_back_to_the_same_size(app: QApplication, theme: Theme) -> None:
    label = Label(theme, "Some words")
    label.setFixedWidth(px(101))
    label.show()
    theme.set_zoom(app, 150)
    assert (label.font().pixelSize(), label.width(), label.minimumHeight()) == (20, 152, 30)
    theme.set_zoom(app, 100)
    assert (label.font().pixelSize(), label.minimumWidth(), label.maximumWidth(), label.minimumHeight()) == (13, 101, 101, 20)
    label.close()
    label.deleteLater()
    QApplication.sendPostedEvents(label, QEvent.Type.DeferredDelete)


@pytest.mark.parametrize("name", ["servers", "add", "approval", "feedback"])
async def test_the_keys_of_browsers_zoom_every_window_and_sheet(theme: Theme, name: str) -> None:
    shot = await SCENES[name](theme)
    try:
        asked: list[int] = []
        theme.zoom_requested.connect(asked.append)
        shot.window.activateWindow()
        for _ in range(10):
            await asyncio.sleep(0)
        target: QWidget = shot.window.focusWidget() or shot.window
        for key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus, Qt.Key.Key_0):
            QTest.keyClick(target, key, CONTROL)
        QTest.keyClick(target, Qt.Key.Key_Plus, CONTROL | KEYPAD)
        assert asked == [1, 1, -1, 0, 1]
        theme.zoom_requested.disconnect(asked.append)
    finally:
        await shot.close()


async def test_rows_of_settings_are_as_high_as_before_after_several_steps_and_back(app: QApplication, theme: Theme) -> None:
    shot = await SCENES["settings"](theme)

    async def rows_at(percent: int) -> list[QRect]:
        theme.set_zoom(app, percent)
        for _ in range(10):
            await asyncio.sleep(0)
            app.processEvents()
        return [each.geometry() for each in shot.window.findChildren(QWidget) if each.isVisible()]

    try:
        before = await rows_at(100)
        for percent in (110, 125, 150):
            await rows_at(percent)
        assert await rows_at(100) == before
    finally:
        await shot.close()


def places(window: QWidget) -> list[tuple[str, QRect]]:
    """Where each visible widget lies in its window."""
    shown = [each for each in window.findChildren(QWidget) if each.isVisible()]
    return [(type(each).__name__, QRect(each.mapTo(window, QPoint(0, 0)), each.size())) for each in shown]


@pytest.mark.parametrize("name", ["servers", "settings", "clients_pane", "activity_call"])
async def test_a_shown_window_looks_after_a_zoom_as_one_that_is_built_then(app: QApplication, theme: Theme, name: str) -> None:
    async def settled(window: QWidget, size: QSize) -> None:
        window.resize(size)
        for _ in range(20):
            await asyncio.sleep(0)
            app.processEvents()

    shot = await SCENES[name](theme)
    size = shot.window.size()
    await settled(shot.window, size)
    theme.set_zoom(app, 150)
    built = await SCENES[name](theme)
    try:
        await settled(built.window, size)
        await settled(shot.window, size)
        pairs = zip(places(shot.window), places(built.window), strict=True)
        moved = [(kind, here, there) for (kind, here), (_, there) in pairs if _apart(here, there) > ROUNDED]
        assert moved == []
    finally:
        await built.close()
        await shot.close()


def _apart(here: QRect, there: QRect) -> int:
    return max(abs(a - b) for a, b in zip(here.getRect(), there.getRect(), strict=True))


@pytest.mark.parametrize("make", [row, column])
def test_a_gap_is_of_its_length_alone_and_follows_the_zoom(app: QApplication, theme: Theme, make: Callable[..., QBoxLayout]) -> None:
    widget = QWidget()
    layout = make(widget, spacing=8)
    sizes = []
    layout.addWidget(QPushButton("a"))
    sizes.append(widget.sizeHint())
    add_gap(layout, 10)
    sizes.append(widget.sizeHint())
    theme.set_zoom(app, 150)
    assert layout.itemAt(1).sizeHint() in (QSize(15, 0), QSize(0, 15))
    grown = sizes[1] - sizes[0]
    assert sorted((grown.width(), grown.height())) == [0, 10]
    widget.deleteLater()
    QApplication.sendPostedEvents(widget, QEvent.Type.DeferredDelete)


async def test_what_is_typed_in_an_open_sheet_stays_while_it_is_zoomed(app: QApplication, theme: Theme) -> None:
    shot = await SCENES["add"](theme)
    try:
        sheet = shot.window.sheet
        field = next(each for each in sheet.panel.findChildren(QPlainTextEdit) if each.isVisible())
        field.setPlainText("npx -y a-server")
        high, size = sheet.panel.findChild(QPushButton).minimumHeight(), field.font().pixelSize()
        theme.set_zoom(app, 150)
        for _ in range(10):
            await asyncio.sleep(0)
        assert zoom() == 150
        assert shot.window.sheet is sheet
        assert field.toPlainText() == "npx -y a-server"
        assert (sheet.panel.findChild(QPushButton).minimumHeight(), field.font().pixelSize()) == (high * 3 // 2, size * 3 // 2)
    finally:
        await shot.close()


async def test_a_zoom_is_saved_once_also_if_the_settings_are_said_to_have_changed_while_it_is(app: QApplication, theme: Theme) -> None:
    saved: list[dict[str, Any]] = [{}]
    changed: list[Callable[[], object]] = []

    async def change_settings(settings: dict[str, Any]) -> None:
        saved.append(settings)
        changed[0]()  # the hub says it before it answers
        for _ in range(5):
            await asyncio.sleep(0)

    async def get_settings() -> SimpleNamespace:
        return SimpleNamespace(settings=saved[-1])

    settings = SimpleNamespace(change_settings=change_settings, get_settings=get_settings)
    hub: Any = SimpleNamespace(settings=settings, on_any=lambda _events, receiver, _owner: changed.append(receiver))
    tasks = TaskKeeper()
    appearance = Appearance(app, theme, chosen=Preferences())
    appearance.follow(hub, tasks)
    theme.zoom_requested.emit(1)
    for _ in range(50):
        await asyncio.sleep(0)
    assert saved[1:] == [{"window": {"size": 110}}]
    assert zoom() == 110
    await tasks.close()
    theme.zoom_requested.disconnect(appearance._on_zoom_requested)
    app.styleHints().colorSchemeChanged.disconnect(appearance._paint)
    appearance.deleteLater()
