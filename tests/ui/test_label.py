"""Labels on one line."""

from pytestqt.qtbot import QtBot

from tooltray.ui.theme import Theme
from tooltray.ui.widgets.label import ElidedLabel


def test_a_text_with_line_breaks_is_one_line(theme: Theme, qtbot: QtBot) -> None:
    label = ElidedLabel(theme, "", "caption", "muted")
    qtbot.addWidget(label)
    label.resize(600, 20)
    label.set_text("python3 -c import time\nprint(1)")
    assert label.text() == "python3 -c import time print(1)"
