"""Labels on one line."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tooltray.ui.server_text import plain_tip
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.cell_delegate import elide_mode
from tooltray.ui.widgets.label import ElidedLabel


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


def test_a_sentence_keeps_its_beginning(theme: Theme, qtbot: QtBot) -> None:
    label = ElidedLabel(theme, "", "caption")
    qtbot.addWidget(label)
    label.resize(240, 20)
    label.set_text("Only the first start takes as long as this one does, since its packages are downloaded")
    assert label.text().endswith("…")
