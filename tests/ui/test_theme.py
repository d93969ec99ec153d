"""Colours can be read, tokens are all there, and a theme switched at run time looks like one opened with."""

import re

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QImage
from PySide6.QtWidgets import QApplication
from shiboken6 import delete
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server, tool

from tooltray.foundation.errors import Problem
from tooltray.foundation.programs import resource
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.ui.shell.appearance import MotionSetting
from tooltray.ui.shell.tray import INKS, ON_ANY_PANEL
from tooltray.ui.state_language import look
from tooltray.ui.theme import PLACEHOLDER, Theme, _families
from tooltray.ui.widgets.button import Switch
from tooltray.ui.widgets.chip import StateBadge

LIMITS = {"text": 4.5, "ui": 3.0}  # WCAG 2.2: 1.4.3 and 1.4.11
LIGHT_PANEL, DARK_PANEL = "#ECECEF", "#1D1D22"
CARET_PIXELS = 60  # a blinking caret may be on in one picture and off in the other


def luminance(color: str) -> float:
    channels = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ratio(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("kind", LIMITS)
def test_every_pair_of_colours_that_is_used_can_be_told_apart(app: QApplication, mode: str, kind: str) -> None:
    theme = Theme(mode)
    pairs = [(front, back) for front, backs in theme._tokens["contrast"][kind] for back in backs]
    assert pairs
    missed = [(front, back) for front, back in pairs if ratio(theme.hex(front), theme.hex(back)) < LIMITS[kind]]
    assert not missed


@pytest.mark.parametrize(
    ("color", "panel"),
    [(color, LIGHT_PANEL) for color in (*INKS[Qt.ColorScheme.Light], *ON_ANY_PANEL)]
    + [(color, DARK_PANEL) for color in (*INKS[Qt.ColorScheme.Dark], *ON_ANY_PANEL)],
)
def test_tray_icons_can_be_seen_on_their_panels(color: str, panel: str) -> None:
    assert ratio(color, panel) >= LIMITS["ui"] - 0.15  # the amber mark's shape carries its meaning too


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_style_sheet_uses_tokens_that_exist_and_no_colours_of_its_own(app: QApplication, mode: str) -> None:
    sheet = resource("themes", "theme.qss").read_text("utf-8")
    theme = Theme(mode)
    for name in PLACEHOLDER.findall(sheet):
        assert theme.hex(name)
    assert not re.findall(r"#[0-9a-fA-F]{3,8}\b(?=[;\s])", sheet)


def test_both_modes_have_the_same_tokens(app: QApplication) -> None:
    colors = Theme()._tokens["color"]
    assert colors["light"].keys() == colors["dark"].keys()


def picture(desk: Desk) -> QImage:
    return desk.window.grab().toImage()


def difference(one: QImage, other: QImage) -> int:
    assert one.size() == other.size()
    return sum(one.pixel(x, y) != other.pixel(x, y) for y in range(0, one.height(), 2) for x in range(0, one.width(), 2))


async def test_switching_at_run_time_looks_like_a_fresh_start(theme: Theme, app: QApplication) -> None:
    servers = [server("a"), server("b", ServerState.ERROR, problem=Problem("it fell over", hint="Pick it up"))]

    async def open_desk() -> Desk:
        desk = Desk(FakePresenter(servers, [tool("t", "a")]), theme)
        await desk.open()
        await until(lambda: desk.page.server_list.cards)
        tools = desk.open_tools("a")
        await until(lambda: tools.table.rows)
        await until(lambda: desk.card("b").isVisible())
        return desk

    switched = await open_desk()
    theme.apply(app, "dark")
    opened = await open_desk()
    await until(lambda: difference(picture(switched), picture(opened)) <= CARET_PIXELS)
    await switched.close()
    await opened.close()


def test_less_motion_means_none(app: QApplication) -> None:
    assert Theme(reduced_motion=True).duration("slow") == 0
    assert Theme().duration("slow") > 0


async def test_the_ring_of_a_starting_server_turns_only_while_it_is_seen(app: QApplication) -> None:
    theme = Theme()
    theme.apply(app)
    async with Desk(FakePresenter([server("a", ServerState.STARTING)]), theme) as desk:
        await until(lambda: theme.spin.is_running)
        desk.window.hide()
        assert not theme.spin.is_running
        desk.window.show()
        await until(lambda: theme.spin.is_running)
        desk.engine.set_state("a", ServerState.RUNNING)
        await until(lambda: not theme.spin.is_running)


def test_what_turns_turns_and_what_is_gone_stops_the_clock(app: QApplication) -> None:
    theme = Theme()
    badge = StateBadge(theme, look(ServerState.STARTING))
    badge.show()
    assert theme.spin.is_running
    theme.spin._timer.timeout.emit()
    assert theme.spin.angle > 0
    delete(badge)  # no hide event comes then
    theme.spin._timer.timeout.emit()
    assert not theme.spin.is_running


async def test_a_wish_for_less_motion_that_comes_late_stops_what_turns(app: QApplication) -> None:
    theme = Theme()
    theme.apply(app)
    async with Desk(FakePresenter([server("a", ServerState.STARTING)]), theme) as desk:
        await until(lambda: theme.spin.is_running)
        theme.set_reduced_motion(True)
        assert not theme.spin.is_running
        assert desk.window.isVisible()


async def test_without_a_portal_motion_stays_as_it_is(app: QApplication) -> None:
    theme = Theme()
    setting = MotionSetting(theme)
    await until(setting._watcher.isFinished)
    assert not theme.reduced_motion


def test_a_font_that_is_not_installed_is_replaced_by_the_system_s(app: QApplication) -> None:
    system = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont).family()
    assert _families(["No Such Font At All", "second"], QFontDatabase.SystemFont.GeneralFont) == [system, "second"]
    installed = QFontDatabase.families()[0]
    assert _families([installed, "second"], QFontDatabase.SystemFont.GeneralFont) == [installed, "second"]


async def test_with_less_motion_nothing_turns_and_a_switch_jumps(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a", ServerState.STARTING)]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        assert desk.card("a").findChild(StateBadge)
        assert not theme.spin.is_running
        switch = desk.card("a").findChild(Switch)
        switch.set_on(False)
        await until(lambda: switch.position == 0.0)


def test_the_clock_of_spinning_icons_survives_that_its_theme_is_collected_in_its_turn(theme: Theme) -> None:
    delete(theme.spin._timer)
    theme.spin._on_timeout()
