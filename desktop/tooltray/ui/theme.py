"""The theme: reads `tokens.json` and turns it into colours, fonts, a palette and a style sheet."""

import json
import re
from collections.abc import Sequence
from typing import cast

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetrics, QPalette
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from tooltray.foundation.preferences import ACTUAL_SIZE
from tooltray.foundation.programs import find_resources, resource
from tooltray.foundation.verbs import JsonObject
from tooltray.ui.zoom import Rezoom, px, set_zoom, zoom

TURN_MS, STEPS = 1200, 24


class SpinClock(QObject):
    """A clock for spinning icons: from `join` to `leave` a widget is repainted with each new `angle`."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.angle = 0.0
        self._users: list[QWidget] = []
        self._timer = QTimer(self, interval=TURN_MS // STEPS)
        self._timer.timeout.connect(self._on_timeout)

    @property
    def is_running(self) -> bool:
        return self._timer.isActive()

    def join(self, user: QWidget) -> None:
        if user not in self._users:
            self._users.append(user)
        self._timer.start()

    def leave(self, user: QWidget) -> None:
        if user in self._users:
            self._users.remove(user)
        if not self._users:
            self._timer.stop()

    def _on_timeout(self) -> None:
        self._users = [user for user in self._users if isValid(user)]  # deleted while shown: no hide event came
        if not isValid(self._timer):  # the line above may collect garbage, and with it a theme that nothing uses any more
            return
        if not self._users:
            self._timer.stop()
            return
        self.angle = (self.angle + 360 / STEPS) % 360
        for user in self._users:
            user.update()


PLACEHOLDER = re.compile(r"@([a-z0-9_.]+)@")
LENGTH = re.compile(r"\b(\d+)px\b")


class Theme(QObject):
    """The light or dark tokens, with lengths at the current zoom. `changed` is emitted after the application's style sheet was replaced."""

    changed = Signal()
    zoom_requested = Signal(int)  # so many steps larger, or smaller; 0: to the actual size

    def __init__(self, mode: str = "light", *, reduced_motion: bool = False) -> None:
        super().__init__()
        self._tokens: JsonObject = json.loads(resource("themes", "tokens.json").read_text("utf-8"))
        self._template = resource("themes", "theme.qss").read_text("utf-8")
        self.mode = mode
        self.reduced_motion = reduced_motion
        self.spin = SpinClock(self)
        self._fonts: dict[tuple[str, bool], tuple[QFont, QFontMetrics]] = {}
        _add_shipped_fonts()
        fonts, system = self._tokens["type"], QFontDatabase.SystemFont
        self._families = {
            "families": _families(fonts["families"], system.GeneralFont),
            "mono": _families(fonts["mono"], system.FixedFont),
        }

    def set_reduced_motion(self, reduced: bool) -> None:
        """Sets whether animations are reduced."""
        if reduced != self.reduced_motion:
            self.reduced_motion = reduced
            self.changed.emit()

    def duration(self, name: str) -> int:
        """Returns a motion duration in milliseconds; 0 for users who want less motion."""
        return int(self._tokens["motion"]["reduced" if self.reduced_motion else name])

    def hex(self, name: str) -> str:
        """Returns a colour token as `#RRGGBB`."""
        return str(self._tokens["color"][self.mode][name])

    def color(self, name: str, alpha: float = 1.0) -> QColor:
        """Returns a colour token, optionally transparent (`alpha` from 0 to 1)."""
        color = QColor(self.hex(name))
        color.setAlphaF(alpha)
        return color

    def size(self, name: str) -> int:
        """Returns a fixed size in logical pixels at the current zoom, e.g. `row` or `sidebar`."""
        return px(int(self._tokens["size"][name]))

    def radius(self, name: str) -> int:
        return px(int(self._tokens["radius"][name]))

    def elevation(self, name: str) -> JsonObject:
        spec = self._tokens["elevation"][name]
        return cast(JsonObject, {**spec, "y": px(spec["y"]), "blur": px(spec["blur"])})

    def line(self, style: str) -> int:
        """Returns the line height of a text style in logical pixels at the current zoom."""
        return px(int(self._tokens["type"]["styles"][style]["line"]))

    def font(self, style: str = "body", *, tabular: bool = False) -> QFont:
        """Returns the font of a text style; `tabular` gives digits of equal width."""
        return QFont(self._metrics(style, tabular)[0])  # a copy shares its data until it is changed

    def metrics(self, style: str = "body", *, tabular: bool = False) -> QFontMetrics:
        """Returns the metrics of such a font; made once, since that takes as long as painting a word."""
        return self._metrics(style, tabular)[1]

    def _metrics(self, style: str, tabular: bool) -> tuple[QFont, QFontMetrics]:
        if (style, tabular) not in self._fonts:
            font = self._made_font(style, tabular)
            self._fonts[style, tabular] = font, QFontMetrics(font)
        return self._fonts[style, tabular]

    def _made_font(self, style: str, tabular: bool) -> QFont:
        spec = self._tokens["type"]["styles"][style]
        font = QFont()
        font.setFamilies(self._families["mono" if spec.get("mono") else "families"])
        font.setPixelSize(px(int(spec["size"])))
        font.setWeight(QFont.Weight(spec["weight"]))
        font.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, spec.get("tracking", 0) * zoom() / ACTUAL_SIZE)
        font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        if tabular:
            font.setFeature(QFont.Tag("tnum"), 1)
        if spec.get("mono"):
            font.setFeature(QFont.Tag("calt"), 0)  # no ligatures: a command line is shown as typed
        return font

    def apply(self, app: QApplication, mode: str | None = None) -> None:
        """Applies the tokens to the application; call again with another `mode` to switch at run time."""
        self.mode = mode or self.mode
        app.setStyle("Fusion")
        app.setFont(self.font())
        app.setPalette(self._palette())
        sheet = LENGTH.sub(lambda match: f"{px(int(match[1]))}px", self._template)
        app.setStyleSheet(PLACEHOLDER.sub(lambda match: self.hex(match[1]), sheet))
        self.changed.emit()

    def set_zoom(self, app: QApplication, percent: int) -> None:
        """Zooms all windows to so many per cent, those that are shown, too; what was typed in them stays."""
        if percent != zoom():
            change = Rezoom(zoom(), percent)
            change.read(app.allWidgets())
            set_zoom(percent)
            self._fonts.clear()
            if app.styleSheet():
                self.apply(app)
            change.apply()

    def _palette(self) -> QPalette:
        role = QPalette.ColorRole
        palette = QPalette()
        for target, name in (
            (role.Window, "bg.window"),
            (role.Base, "surface"),
            (role.Button, "surface"),
            (role.WindowText, "text.primary"),
            (role.Text, "text.primary"),
            (role.ButtonText, "text.primary"),
            (role.PlaceholderText, "text.muted"),
            (role.Highlight, "accent"),
            (role.HighlightedText, "text.on_accent"),
            (role.Link, "accent.text"),
        ):
            palette.setColor(target, self.color(name))
        return palette


def _add_shipped_fonts() -> None:
    """Adds the design's fonts, which packages contain; a checkout uses the system's."""
    for file in sorted((find_resources() / "fonts").glob("*.[ot]tf")):
        QFontDatabase.addApplicationFont(str(file))


def _families(wanted: Sequence[str], system: QFontDatabase.SystemFont) -> list[str]:
    """Returns the wanted families; the system's own font replaces the first one where that is not installed."""
    first, *others = wanted
    return [first if QFontDatabase.hasFamily(first) else QFontDatabase.systemFont(system).family(), *others]


def system_mode(app: QApplication) -> str:
    """Returns the mode of the desktop; light where it is not known."""
    return "dark" if app.styleHints().colorScheme() is Qt.ColorScheme.Dark else "light"
