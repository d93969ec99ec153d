"""ui/icons.py"""

from PySide6.QtGui import QColor, QPixmap

from tooltray.ui import icons


def colours(pixmap: QPixmap) -> set[str]:
    """Of what is fully drawn, without its soft edges."""
    image = pixmap.toImage()
    pixels = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    return {pixel.name() for pixel in pixels if pixel.alpha() == 255}


def test_an_icon_has_the_colour_it_is_asked_for_also_the_one_of_the_cut_outs(qapp: object) -> None:
    for color in ("#ffffff", "#fff123", "#5558d9"):
        assert colours(icons.pixmap("check", 64, QColor(color), second=QColor("#00ff00"))) == {color}


def test_a_cut_out_has_the_second_colour(qapp: object) -> None:
    assert {"#ffffff", "#00ff00"} <= colours(icons.pixmap("state-connected", 64, QColor("#ffffff"), second=QColor("#00ff00")))
