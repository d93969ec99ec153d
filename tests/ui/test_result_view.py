"""An answer is shown whatever it is: its parts in the way each is best read, and nothing of it can freeze, fool or run anything."""

import base64
import struct
import zlib
from pathlib import Path

import pytest
from PySide6.QtCore import QBuffer
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QPlainTextEdit, QTextBrowser
from tests.fakes.desk import until
from tests.ui.seen import button, words
from tests.ui.test_accessibility import nameless

from tooltray.foundation.errors import Problem
from tooltray.ui.results.json_tree import AT_ONCE, JsonTree
from tooltray.ui.results.result_view import FIRST_PARTS, FIRST_SHOWN, LongText, Picture, ResultView, decode, look_at
from tooltray.ui.theme import Theme


def text(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}


def png(width: int, height: int) -> bytes:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(0)
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def png_that_lies(side: int) -> bytes:
    """A file whose head says another size than what is in it."""
    whole = png(3, 3)
    head = b"IHDR" + struct.pack(">II", side, side) + whole[24:29]
    return whole[:12] + head + struct.pack(">I", zlib.crc32(head)) + whole[33:]


def picture(content: bytes) -> dict[str, object]:
    return {"type": "image", "data": base64.b64encode(content).decode(), "mimeType": "image/png"}


def shown(theme: Theme, result: dict[str, object]) -> ResultView:
    view = ResultView(theme)
    view.show_result(result)
    view.show()
    return view


def test_text_is_shown_as_it_is_without_what_nobody_sees(theme: Theme) -> None:
    view = shown(theme, {"content": [text("<b>a</b>\x1b[31m red\x1b[0m \u202eb"), text("c")], "isError": True})
    assert [each.toPlainText() for each in view.findChildren(QPlainTextEdit)] == ["<b>a</b> red b", "c"]
    assert "2 parts" in words(view)
    assert nameless(view) == []


def test_markdown_is_a_press_away(theme: Theme) -> None:
    view = shown(theme, {"content": [text("# Title\n\n- one")]})
    assert view.findChildren(QTextBrowser) == []
    button(view, "Markdown").click()
    assert view.findChildren(QTextBrowser)[0].toPlainText() == "Title\none"


def test_json_is_a_tree_also_where_it_came_as_text_and_is_not_shown_twice(theme: Theme) -> None:
    view = shown(theme, {"content": [text('{"a": [1, "x"]}')], "structuredContent": {"a": [1, "x"]}})
    assert [part.kind for part in view.parts] == ["json"]
    tree = view.findChild(JsonTree)
    model = tree.model()
    inner = model.index(0, 0)
    assert [model.index(row, column, inner).data() for row in (0, 1) for column in (0, 1)] == ["0", "1", "1", '"x"']
    assert model.parent(model.index(0, 0, inner)) == inner
    tree.setCurrentIndex(inner)
    tree.copy_current()
    assert QGuiApplication.clipboard().text() == '[\n  1,\n  "x"\n]'


@pytest.mark.parametrize(
    ("content", "structured", "said"),
    [
        ([text("hello")], {"result": "hello"}, [("text", "")]),
        ([text("5")], {"result": 5}, [("text", "")]),
        ([text("a"), text('{"b": 1}')], {"result": ["a", {"b": 1}]}, [("text", ""), ("json", "")]),
        ([text('[{"b": 1}]')], {"items": [{"b": 1}]}, [("json", "Structured result")]),
        ([text("Found 1.")], {"result": "hello"}, [("json", "Structured result"), ("text", "")]),
        ([], {"result": []}, [("json", "Structured result")]),
    ],
)
def test_a_structured_result_is_shown_once(
    theme: Theme, content: list[object], structured: dict[str, object], said: list[tuple[str, str]]
) -> None:
    view = shown(theme, {"content": content, "structuredContent": structured})
    assert [(part.kind, part.heading) for part in view.parts] == said


def test_a_tree_of_a_million_rows_has_those_that_somebody_looks_at(theme: Theme) -> None:
    names = {str(each): 0 for each in range(500)}
    view = shown(theme, {"content": [], "structuredContent": {"rows": list(range(1_000_000)), "names": names}})
    model = view.findChild(JsonTree).model()
    for row in (0, 1):
        above = model.index(row, 0)
        model.fetchMore(above)
        assert model.rowCount(above) == AT_ONCE
        model.fetchMore(above)
        assert model.index(AT_ONCE, 0, above).data() == str(AT_ONCE)


async def test_of_a_long_text_the_beginning_is_shown_and_the_rest_by_presses(theme: Theme) -> None:
    view = shown(theme, {"content": [text("x" * 400_000)]})
    long = view.findChild(LongText)
    assert long.shown == FIRST_SHOWN
    await until(lambda: "The first 60,000 of 400,000 characters." in words(view))
    while long.shown < 400_000:
        button(view, "Show more").click()
    assert "The first" not in words(view)
    assert view.findChild(QPlainTextEdit).toPlainText().replace("\n", "") == "x" * 400_000
    view.copy()
    assert QGuiApplication.clipboard().text() == "x" * 400_000


async def test_many_parts_come_in_portions(theme: Theme) -> None:
    view = shown(theme, {"content": [text(str(number)) for number in range(50)]})
    assert len(view.findChildren(LongText)) == FIRST_PARTS
    button(view, "Show 30 more").click()
    assert len(view.findChildren(LongText)) == 50


def test_a_picture_is_shown_and_one_that_lies_about_its_size_is_not_decoded(theme: Theme) -> None:
    view = shown(
        theme, {"content": [picture(png(30, 20)), picture(png_that_lies(60_000)), picture(b"no picture"), picture(png(3, 3)[:40])]}
    )
    assert len(view.findChildren(Picture)) == 1
    assert "It is too large to show here: 60,000 × 60,000 pixels." in words(view)
    assert "This picture format cannot be shown here." in words(view)
    assert "It is damaged." in words(view)


async def test_a_large_picture_is_decoded_when_somebody_wants_to_see_it(theme: Theme) -> None:
    view = shown(theme, {"content": [picture(png(2500, 1500))]})
    assert view.findChildren(Picture) == []
    button(view, "Show picture").click()
    assert len(view.findChildren(Picture)) == 1


def test_a_picture_that_is_larger_than_a_window_is_decoded_smaller(theme: Theme) -> None:
    image = decode(look_at(png(2500, 1500)))
    assert image is not None
    assert (image.width(), image.height()) == (2000, 1200)


def test_files_links_resources_and_unknown_parts_are_named(theme: Theme) -> None:
    blob = {"uri": "file:///a.bin", "blob": base64.b64encode(b"abc").decode(), "mimeType": "application/x-odd"}
    link = {"type": "resource_link", "uri": "https://example.org/", "name": "site", "description": "what it is"}
    odd = {"type": "odd", "more": 1}
    content = [{"type": "resource", "resource": blob}, link, {"type": "audio", "data": "YWJj", "mimeType": "audio/wav"}, odd, 7]
    view = shown(theme, {"content": content})
    for part in (
        "file:///a.bin",
        "File · application/x-odd · 3 bytes",
        "https://example.org/",
        "what it is",
        "Audio · audio/wav · 3 bytes",
    ):
        assert part in words(view)
    assert [part.value for part in view.parts][-2:] == [odd, {"": 7}]


async def test_resources_and_prompts_are_shown_the_same_way(theme: Theme) -> None:
    view = shown(theme, {"contents": [{"uri": "a://b", "text": "# Read me", "mimeType": "text/markdown"}]})
    assert view.findChild(QTextBrowser).toPlainText() == "Read me"
    view.show_result(
        {"description": "Reviews", "messages": [{"role": "user", "content": text("Look")}, {"role": "odd", "content": [text("x")]}]}
    )
    assert [part.heading for part in view.parts] == ["From the user", "odd"]
    await until(lambda: "Reviews" in words(view))


async def test_what_failed_is_said_and_clearing_leaves_nothing(theme: Theme) -> None:
    view = shown(theme, {"content": [], "isError": True})
    assert "The answer is empty." in words(view)
    view.show_problem(Problem("it fell over", "why"))
    await until(lambda: "It fell over" in words(view))
    view.clear()
    assert words(view) == ""


def test_a_result_is_saved_and_where_that_fails_it_says_so(theme: Theme, tmp_path: Path) -> None:
    view = shown(theme, {"content": [text("a")]})
    view.save(str(tmp_path / "a.txt"), b"a")
    assert (tmp_path / "a.txt").read_bytes() == b"a"
    view.save(str(tmp_path / "no" / "a.txt"), b"a")
    assert "Could not be saved" in words(view)
