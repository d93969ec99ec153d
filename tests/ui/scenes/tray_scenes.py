"""Scenes of the tray: its menu, and its icons on panels of every colour."""

from PySide6.QtGui import QColor, QPainter, QPixmap
from PySide6.QtWidgets import QWidget
from tests.ui.scenes.opened_desk import desk
from tests.ui.scenes.shot import Shot
from tests.ui.scenes.sign_in_scenes import SIGN_INS

from tooltray.ui.pages.page import HubPhase
from tooltray.ui.shell.hub_words import TrayState
from tooltray.ui.shell.tray import INKS, SIZES, TrayMenu, tray_icon
from tooltray.ui.theme import Theme


async def tray_menu(theme: Theme) -> Shot:
    result = await desk(theme)
    menu = TrayMenu(theme, result.wishes)
    menu.show_hub(HubPhase.RUNNING, result.hub.snapshot)
    return Shot(result, widget=menu)


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
                        icon = tray_icon(state, scheme)  # type: ignore[arg-type]
                        painter.drawPixmap(20 + column * 160 + place * 40, top + 20, icon.pixmap(size, size))
                    painter.drawPixmap(20 + column * 160, top + 64, QPixmap(icon.pixmap(16, 16).scaled(48, 48)))


async def tray_icons(theme: Theme) -> Shot:
    sheet = TraySheet()
    sheet.resize(660, 360)
    return Shot(widget=sheet)


SCENES = (
    tray_menu,
    tray_menu_sign_in,
    tray_icons,
)
