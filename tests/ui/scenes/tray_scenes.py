"""Scenes of the tray: its menu, and its icons on panels of every colour."""

import time

from msgspec.structs import replace
from PySide6.QtGui import QColor, QPainter, QPixmap
from PySide6.QtWidgets import QWidget
from tests.ui.scenes.opened_desk import desk
from tests.ui.scenes.settings_scenes import NEWER, WITHDRAWN
from tests.ui.scenes.shot import Shot
from tests.ui.scenes.sign_in_scenes import SIGN_INS

from tooltray.foundation.snapshots.activity import ActivityEntry, ActivityRow, CallNow
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.foundation.snapshots.hub import ProgramLoad
from tooltray.ui.kit.hub_phase import HubPhase
from tooltray.ui.shell.hub_status import TrayState
from tooltray.ui.shell.tray import INKS, SIZES, tray_icon
from tooltray.ui.shell.tray_menu import TrayMenu, TrayReadings
from tooltray.ui.theme import Theme

READ = ApprovalSnapshot("1", "filesystem", "read_text_file", "Claude Code", "read", "{}", "It asks.", 0.0, ("once",))
WRITE = ApprovalSnapshot("2", "postgres", "query", "Cursor", "write", "{}", "It writes.", 0.0, ("once",))


async def tray_menu(theme: Theme) -> Shot:
    result = await desk(theme)
    menu = TrayMenu(theme, result.wishes)
    menu.show_hub(HubPhase.RUNNING, result.hub.snapshot)
    return Shot(result, widget=menu)


async def tray_menu_busy(theme: Theme) -> Shot:
    """What waits for a person, who works now, what failed, and what that needs."""
    result = await desk(theme)
    menu = TrayMenu(theme, result.wishes)
    menu.show_hub(HubPhase.RUNNING, result.hub.snapshot)
    menu.show_waiting([READ, WRITE], ["github"])
    now = time.time()
    calls = (
        CallNow("Claude Code", "1", "/srv/shop", "filesystem", "read_text_file", now - 4),
        CallNow("Cursor", "2", "/srv/shop", "postgres", "query", now - 75, "person"),
    )
    failed = tuple(
        ActivityEntry(id=number, kind="call", at=now - 600 * number, outcome="error", server=of, tool=tool)
        for number, (of, tool) in enumerate((("github", "create_issue"), ("fetch", "fetch"), ("postgres", "query")), 1)
    )
    menu.show_readings(
        TrayReadings(calls, [ActivityRow(each, 1, each.id, each.at) for each in failed], ProgramLoad(212_000_000, 0.014, 1_480_000_000, 6))
    )
    return Shot(result, widget=menu)


async def tray_menu_newer(theme: Theme) -> Shot:
    result = await desk(theme)
    menu = TrayMenu(theme, result.wishes)
    menu.show_hub(HubPhase.RUNNING, replace(result.hub.snapshot, release=replace(NEWER, withdrawn=WITHDRAWN)))
    return Shot(result, widget=menu)


async def tray_release_menu(theme: Theme) -> Shot:
    shot = await tray_menu_newer(theme)
    menu = next(action.menu() for action in shot.window.actions() if action.menu() and "1.3.0" in action.text())
    return Shot(shot.desk, widget=menu)


async def tray_menu_paused(theme: Theme) -> Shot:
    result = await desk(theme, is_paused=True, paused_until=time.time() + 3600)
    menu = TrayMenu(theme, result.wishes)
    menu.show_hub(HubPhase.RUNNING, result.hub.snapshot)
    return Shot(result, widget=menu)


async def paused_for_an_hour(theme: Theme) -> Shot:
    return Shot(await desk(theme, is_paused=True, paused_until=time.time() + 3600))


async def tray_menu_sign_in(theme: Theme) -> Shot:
    result = await desk(theme, SIGN_INS)
    menu = TrayMenu(theme, result.wishes)
    menu.show_hub(HubPhase.RUNNING, result.hub.snapshot)
    return Shot(result, widget=menu)


class TraySheet(QWidget):
    """The tray icons on light, dark and grey panels, in their real sizes and three times larger."""

    PANELS = ("#ECECEF", "#1D1D22", "#8A8A90")

    def paintEvent(self, _event: object) -> None:
        schemes = [*INKS, None]
        with QPainter(self) as painter:
            for line, scheme in enumerate(schemes):
                top = line * 120
                for part, panel in enumerate((self.PANELS[line],) if scheme else self.PANELS[:2]):
                    painter.fillRect(part * 330, top, 660 if scheme else 330, 120, QColor(panel))
                for column, state in enumerate(TrayState):
                    for place, size in enumerate(SIZES):
                        count = 3 if state is TrayState.ATTENTION and place else 0
                        icon = tray_icon(state, scheme, count)  # type: ignore[arg-type]
                        painter.drawPixmap(20 + column * 160 + place * 40, top + 20, icon.pixmap(size, size))
                    painter.drawPixmap(20 + column * 160, top + 64, QPixmap(icon.pixmap(16, 16).scaled(48, 48)))


async def tray_icons(theme: Theme) -> Shot:
    sheet = TraySheet()
    sheet.resize(660, 360)
    return Shot(widget=sheet)


SCENES = (
    tray_menu,
    tray_menu_busy,
    tray_menu_newer,
    tray_release_menu,
    tray_menu_paused,
    paused_for_an_hour,
    tray_menu_sign_in,
    tray_icons,
)
