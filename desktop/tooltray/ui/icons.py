"""Icons: our own stroke SVGs, tinted at run time. A file's `currentColor` is replaced by the first colour, its `#fff` (cut-outs in filled
state shapes, the mark in a tray icon) by the second one."""

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap, QPixmapCache
from PySide6.QtSvg import QSvgRenderer

from tooltray.foundation.programs import resource

SCALES = (1, 2, 3)


@lru_cache(maxsize=256)
def _renderer(name: str, color: str, second: str) -> QSvgRenderer:
    source = resource("icons", f"{name}.svg").read_text("utf-8")
    return QSvgRenderer(QByteArray(source.replace("#fff", second).replace("currentColor", color).encode()))


def draw(painter: QPainter, name: str, rect: QRectF, color: QColor, second: QColor | None = None) -> None:
    """Draws an icon into `rect`, sharp at every scale."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _renderer(name, color.name(), (second or QColor("white")).name()).render(painter, QRectF(rect))


def pixmap(name: str, size: int, color: QColor, *, second: QColor | None = None, scale: int = 1, gap: int = 0) -> QPixmap:
    """Returns an icon of `size` logical pixels for a screen of `scale`, with `gap` empty pixels at its right. Drawn icons are cached."""
    key = f"icon {name} {size} {scale} {gap} {color.name()} {second and second.name()}"
    result = QPixmap()
    if QPixmapCache.find(key, result):
        return result
    result = QPixmap((size + gap) * scale, size * scale)
    result.fill(Qt.GlobalColor.transparent)
    with QPainter(result) as painter:
        draw(painter, name, QRectF(0, 0, size * scale, size * scale), color, second)
    result.setDevicePixelRatio(scale)
    QPixmapCache.insert(key, result)
    return result


def icon(name: str, color: QColor, size: int = 16, gap: int = 0, *, disabled: QColor | None = None) -> QIcon:
    """Returns an icon for buttons and menus, for 1x, 2x and 3x screens; `disabled` is its colour in disabled controls."""
    result = QIcon()
    for scale in SCALES:
        result.addPixmap(pixmap(name, size, color, scale=scale, gap=gap))
        if disabled is not None:
            result.addPixmap(pixmap(name, size, disabled, scale=scale, gap=gap), QIcon.Mode.Disabled)
    return result


def app_icon() -> QIcon:
    """Returns the program's own icon, for windows and task bars."""
    return QIcon(str(resource("icons", "tooltray.svg")))
