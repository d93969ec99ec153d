"""Labels on one line."""

import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from pytestqt.qtbot import QtBot

from tooltray.ui.server_text import plain_tip
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.cell_delegate import draw_on_line, elide_mode
from tooltray.ui.widgets.label import BREAK, ElidedLabel, breakable


def test_a_text_with_line_breaks_is_one_line(theme: Theme, qtbot: QtBot) -> None:
    label = ElidedLabel(theme, "", "caption", "muted")
    qtbot.addWidget(label)
    label.resize(600, 20)
    label.set_text("python3 -c import time\nprint(1)")
    assert label.text() == "python3 -c import time print(1)"


@pytest.mark.parametrize(
    ("text", "style", "mode"),
    [
        ("/srv/notes/a.md", "body", Qt.TextElideMode.ElideLeft),
        ("~/notes/a b.md", "mono", Qt.TextElideMode.ElideLeft),
        ("HOME/docs/plan.md", "body", Qt.TextElideMode.ElideLeft),
        (r"C:\notes\a.md", "body", Qt.TextElideMode.ElideLeft),
        ("../a.md", "body", Qt.TextElideMode.ElideLeft),
        ("src/billing/invoice.py", "body", Qt.TextElideMode.ElideLeft),
        ("https://x.example/a/b", "body", Qt.TextElideMode.ElideRight),
        ("@scope/server-x", "mono", Qt.TextElideMode.ElideMiddle),
        ("npx -y /srv/x", "mono", Qt.TextElideMode.ElideMiddle),
        ("read and/or write", "body", Qt.TextElideMode.ElideRight),
    ],
)
def test_a_path_keeps_its_end_in_a_cell(text: str, style: str, mode: Qt.TextElideMode) -> None:
    assert elide_mode(text, style) is mode


@pytest.mark.parametrize(
    "text",
    [
        "npm has no package '@modelcontextprotocol/server-filesystm'",
        "No output yet. Its own log: /home/ada/.npm/_logs/2026-11-30T03_04_05_678Z-debug-0.log.",
    ],
)
def test_a_name_or_a_path_at_the_end_keeps_its_end_and_all_of_it_is_in_the_tooltip(theme: Theme, qtbot: QtBot, text: str) -> None:
    label = ElidedLabel(theme, "", "caption")
    qtbot.addWidget(label)
    label.resize(240, 20)
    label.set_text(text)
    assert label.text().startswith(text[:8])
    assert label.text().endswith(text[-8:])
    assert len(label.text()) < len(text)
    assert label.toolTip() == plain_tip(text)


def test_a_text_that_does_not_fit_gives_way_to_its_shorter_one(theme: Theme, qtbot: QtBot) -> None:
    label = ElidedLabel(theme, "", "caption")
    qtbot.addWidget(label)
    label.set_text("Claude Code: write_file, 3.2 s, waits for you", "all of it", "1 running")
    for width, shown in ((400, "Claude Code: write_file, 3.2 s, waits for you"), (80, "1 running")):
        label.resize(width, 20)
        label.grab()  # lays it out
        assert label.text() == shown


def test_a_label_of_two_lines_breaks_between_words_and_is_cut_only_in_the_second(theme: Theme, qtbot: QtBot) -> None:
    label = ElidedLabel(theme, "", "caption")
    qtbot.addWidget(label)
    label.set_most_lines(2)
    heard: list[int] = []
    label.lines_changed.connect(heard.append)
    metrics, text = theme.metrics("caption"), "Install Node.js, or set the full path of the command"
    label.resize(metrics.horizontalAdvance(text) + 2, 20)
    label.set_text(text)
    label.grab()
    assert (label.text(), label.toolTip(), heard) == (text, "", [])
    label.resize(metrics.horizontalAdvance("Install Node.js, or set the full") + 2, 40)
    label.grab()
    assert label.text() == "Install Node.js, or set the full\npath of the command"
    label.resize(metrics.horizontalAdvance("Install Node.js,") + 2, 40)
    label.grab()
    first, second = label.text().split("\n")
    assert first == "Install Node.js,"
    assert second.endswith("…")
    assert label.toolTip() == plain_tip(text)
    assert heard == [2]


def test_a_package_s_name_stays_whole_and_the_words_before_it_are_cut(theme: Theme, qtbot: QtBot) -> None:
    label = ElidedLabel(theme, "", "caption_strong")
    qtbot.addWidget(label)
    name = "'@modelcontextprotocol/server-filesytem'"
    label.resize(theme.metrics("caption_strong").horizontalAdvance(name) + 80, 20)
    label.set_text(f"npm has no package {name}")
    assert label.text().startswith("npm")
    assert label.text().endswith(f"… {name}")
    assert theme.metrics("caption_strong").horizontalAdvance(label.text()) <= label.width()


def test_a_path_breaks_behind_its_separators() -> None:
    path = "/home/ada/projects/shop/node_modules/@modelcontextprotocol/server-filesystem"
    assert breakable(path).split(BREAK) == [
        *("/", "home/", "ada/", "projects/", "shop/", "node_modules/", "@modelcontextprotocol/", "server-filesystem"),
    ]
    assert breakable("x" * 40).split(BREAK) == ["x" * 8] * 5
    assert breakable("a short one/x") == "a short one/x"


def test_a_sign_of_another_script_stays_on_the_line(theme: Theme) -> None:
    def lowest(text: str) -> int:
        picture = QImage(80, 40, QImage.Format.Format_RGB32)
        picture.fill(Qt.GlobalColor.white)
        with QPainter(picture) as painter:
            painter.setFont(theme.font("body"))
            draw_on_line(painter, QRectF(4, 0, 76, 40), text, theme.metrics("body"))
        digits = range(4 + theme.metrics("body").horizontalAdvance("15"))
        return max(y for y in range(40) for x in digits if picture.pixelColor(x, y).lightness() < 128)

    assert lowest("15 秒") == lowest("15 s")


@pytest.mark.parametrize(
    "text",
    [
        "Only the first start takes as long as this one does, since its packages are downloaded",
        "Install uv, or set the command's full path. Looked in /usr/local/bin, /usr/bin and /bin.",
        "Install uv, or set the command's full path. There is no program with the name 'uvx'.",
    ],
)
def test_a_sentence_keeps_its_beginning(theme: Theme, qtbot: QtBot, text: str) -> None:
    label = ElidedLabel(theme, "", "caption")
    qtbot.addWidget(label)
    label.resize(240, 20)
    label.set_text(text)
    assert label.text().endswith("…")
