"""Draws the pictures of the setup: `python packaging/windows/pictures.py FOLDER`, with a Python that has PySide6.

Modern UI of NSIS shows bitmaps of these sizes, and stretches them on screens of more dots per inch: https://nsis.sourceforge.io/Docs/Modern%20UI/Readme.html
"""

import sys
from pathlib import Path

from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QImage, QPainter

ICON = Path(__file__).parents[2] / "resources" / "icons" / "tooltray.svg"
HEADER, FINISH = "header.bmp", "finish.bmp"
PLACES = {HEADER: (150, 57, QRect(98, 6, 45, 45)), FINISH: (164, 314, QRect(34, 60, 96, 96))}
"""Width and height of a bitmap, and where the icon is in it, in pixels."""
BACKGROUND = {HEADER: QColor("white"), FINISH: QColor("#e8edf7")}  # the first is that of the pages' heads


def draw(name: str, folder: Path) -> None:
    """Writes one bitmap."""
    width, height, place = PLACES[name]
    image = QImage(width, height, QImage.Format.Format_RGB888)  # NSIS reads no bitmap of 32 bits
    image.fill(BACKGROUND[name])
    painter = QPainter(image)
    QIcon(str(ICON)).paint(painter, place)
    painter.end()
    if not image.save(str(folder / name), "BMP"):
        raise OSError(folder / name)


if __name__ == "__main__":
    app = QGuiApplication([])
    for each in PLACES:
        draw(each, Path(sys.argv[1]))
