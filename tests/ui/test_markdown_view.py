"""A model's Markdown is shown as text: nothing is fetched, nothing is followed, and nothing hides."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor, QTextDocument, QTextFormat
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from tests.ui.test_attachments import pixels

from tooltray.ui.theme import Theme
from tooltray.ui.widgets.markdown_view import LONGEST_TEXT, MarkdownView, harmless, words_of


@pytest.fixture
def view(theme: Theme) -> Iterator[MarkdownView]:
    result = MarkdownView(theme, "What was done")
    result.resize(500, 300)
    yield result
    result.hide()


def formats(view: MarkdownView) -> dict[str, QTextFormat]:
    found = {}
    block = view.document().begin()
    while block.isValid():
        walk = block.begin()
        while not walk.atEnd():
            found[walk.fragment().text()] = walk.fragment().charFormat()
            walk += 1
        block = block.next()
    return found


def test_markdown_is_rendered_in_the_theme_s_fonts(view: MarkdownView, theme: Theme) -> None:
    view.set_markdown("# Title\n\nplain **bold** *lean* ~~gone~~ `code`\n\n```\nblock\n```\n\n- one\n- two\n")
    found = formats(view)
    assert "#" not in view.toPlainText()
    assert found["Title"].font().pixelSize() == theme.font("heading").pixelSize()
    assert found["bold"].fontWeight() > found["plain "].fontWeight()
    assert found["lean"].fontItalic()
    assert found["gone"].fontStrikeOut()
    for name in ("code", "block"):
        assert found[name].font().families()[0] == theme.font("mono").families()[0]
        assert found[name].foreground().color() == theme.color("code.key")


def test_a_switch_of_the_theme_changes_its_colours_and_keeps_its_code(view: MarkdownView, theme: Theme, app: QApplication) -> None:
    view.set_markdown("plain `code`")
    theme.apply(app, "dark")
    found = formats(view)
    assert found["plain "].foreground().color() == theme.color("text.primary")
    assert found["code"].foreground().color() == theme.color("code.key")
    assert found["code"].font().families()[0] == theme.font("mono").families()[0]


def test_html_stays_text(view: MarkdownView) -> None:
    view.set_markdown("<b>bold</b> <script>alert(1)</script> <img src='file:///etc/passwd'>")
    assert view.toPlainText() == "<b>bold</b> <script>alert(1)</script> <img src='file:///etc/passwd'>"


def test_no_picture_is_looked_for_on_the_disk_or_anywhere(view: MarkdownView, tmp_path: Path) -> None:
    path = tmp_path / "secret.png"
    pixels().save(str(path))
    view.set_markdown(f"a ![the footer]({path}) b ![](file://{path}) c ![x](https://x.example/y.png)")
    view.show()
    view.grab()
    assert "[picture, not loaded: the footer]" in view.toPlainText()
    assert "[picture, not loaded: https://x.example/y.png]" not in view.toPlainText()  # it has words of its own
    assert "[picture, not loaded: x]" in view.toPlainText()
    assert not any(each.isImageFormat() for each in formats(view).values())
    assert view.loadResource(QTextDocument.ResourceType.ImageResource.value, str(path)).width() == 1


def test_a_link_is_told_and_not_followed_and_its_address_is_shown_before(view: MarkdownView) -> None:
    told: list[str] = []
    view.link_chosen.connect(told.append)
    view.set_markdown("[click me](https://x.example/%E4?a=1)")
    view.show()
    QTest.mouseMove(view.viewport(), QPoint(20, 8))
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(20, 8))
    assert told == ["https://x.example/%E4?a=1"]
    assert view.toPlainText() == "click me"
    view.highlighted.emit("https://x.example/")
    assert view.toolTip() == "https://x.example/"


def test_what_cannot_be_seen_is_taken_out_and_joiners_of_emoji_stay() -> None:
    assert harmless("a\u202eb\u200bc\x1b[31m\x00d") == "abcd"
    assert harmless("👩\u200d🔬\tx\ny") == "👩\u200d🔬\tx\ny"


def test_endless_text_nesting_and_tables_are_bounded(view: MarkdownView) -> None:
    assert len(harmless("x" * 200_000)) == LONGEST_TEXT + 1
    view.set_markdown(">" * 20_000 + "deep")
    assert view.toPlainText() == "deep"
    table = "|" + "a|" * 60 + "\n|" + "-|" * 60 + "\n" + ("|" + "b|" * 60 + "\n") * 60
    view.set_markdown(table)
    assert view.toPlainText().startswith("|a|")  # as it was written: Qt would take seconds for so many cells
    view.set_markdown("| a | b |\n|---|---|\n| c | d |\n")
    assert view.toPlainText().split() == ["a", "b", "c", "d"]


def test_the_keyboard_reaches_links_and_the_text_can_be_copied(view: MarkdownView) -> None:
    view.set_markdown("some words")
    assert view.isReadOnly()
    view.moveCursor(QTextCursor.MoveOperation.Start)
    view.selectAll()
    assert view.createMimeDataFromSelection().text() == "some words"


def test_words_of_markdown_have_no_signs_and_no_pictures() -> None:
    assert words_of("# A\n\n**b** ![c](d.png)") == "A\nb [picture, not loaded: c]"


def test_tables_have_lines_and_room_also_in_quotations(view: MarkdownView) -> None:
    view.set_markdown("| a | b |\n|---|---|\n| 1 | 2 |\n\n> | c |\n> |---|\n> | 3 |\n")
    found = []
    block = view.document().begin()
    while block.isValid():
        table = QTextCursor(block).currentTable()
        found += [table.format().toTableFormat()] if table is not None else []
        block = block.next()
    assert len(found) == 6
    assert all(shape.cellPadding() > 0 and shape.borderCollapse() for shape in found)
