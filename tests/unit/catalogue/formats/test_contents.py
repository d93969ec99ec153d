"""contents.py"""

from typing import Any

import pytest
from tests.contract.results import PIXEL, RESULTS, blob, image, responded, text

from tooltray.catalogue.formats.contents import (
    NOTHING_SAID,
    TOO_DEEP,
    Media,
    as_blocks,
    as_json,
    as_text,
    is_error,
    pieces,
    size_in_words,
)
from tooltray.foundation.errors import TooltrayError


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ("text", "5"),
        ("texts", "one\n\ntwo"),
        ("image", "here\n\n[Image: image/png, 70 bytes; it cannot be shown here]"),
        ("image that is none", "[Image: image/png, unreadable data; it cannot be shown here]"),
        ("audio", "[Audio: audio/wav, 4 bytes; it cannot be shown here]"),
        ("text resource", "[Resource: file:///a.txt]\nhello"),
        ("binary resource", "[File: file:///a.bin, application/octet-stream, 8 bytes; it cannot be shown here]"),
        ("image resource", "[Image: file:///a.png, image/png, 70 bytes; it cannot be shown here]"),
        ("link", "[Resource link: a.txt, file:///a.txt, 1.2 kB]\nThe file"),
        ("nothing", NOTHING_SAID),
        ("blank", NOTHING_SAID),
        ("unknown", '{"type": "hologram", "depth": 3}'),
        ("structured", '{"a": 1}'),
        ("structured and text", '{"a": 1}'),
    ],
)
def test_a_result_is_said_in_words(result: str, words: str) -> None:
    assert as_text(responded(RESULTS[result])) == words


@pytest.mark.parametrize(
    ("content", "structured", "words"),
    [
        ([text("5")], {"result": 5}, "5"),
        ([text("five")], {"result": "five"}, "five"),
        ([text("a"), text("b")], {"result": ["a", "b"]}, "a\n\nb"),
        ([text('["a", "b"]')], {"result": ["a", "b"]}, '["a", "b"]'),
        ([text("Found two")], {"result": ["a", "b"]}, 'Found two\n\n{"result": ["a", "b"]}'),
        ([text("6")], {"result": 5}, '6\n\n{"result": 5}'),
        ([text("It is 5")], {"sum": 5}, 'It is 5\n\n{"sum": 5}'),
        ([text("[" * 5000)], [1], "[" * 5000 + "\n\n[1]"),
        ([], None, "null"),
    ],
)
def test_structured_content_is_told_once(content: list[Any], structured: Any, words: str) -> None:
    assert as_text(responded({"content": content, "structuredContent": structured})) == words


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("hello", '"hello"'),
        ({"type": "text", "text": "hello"}, "hello"),
        ([{"type": "text", "text": 5}], '{"type": "text", "text": 5}'),
        ([{"type": "resource", "resource": {"uri": 5}}], '{"type": "resource", "resource": {"uri": 5}}'),
        ([{"type": "resource_link", "uri": "a:b", "size": "big", "name": 5, "description": 5}], "[Resource link: a:b]"),
        ([{"type": "resource_link", "uri": "a:b", "description": ""}], "[Resource link: a:b]"),
        ([{"type": "resource", "resource": {"uri": "a:b", "blob": ""}}], "[File: a:b, 0 bytes; it cannot be shown here]"),
        ([None], "null"),
    ],
)
def test_content_that_no_specification_knows_is_told_as_it_is(content: Any, words: str) -> None:
    assert as_text(responded({"content": content})) == words


def test_media_are_found_with_their_facts() -> None:
    data = PIXEL[:10] + "\n " + PIXEL[10:]
    found = pieces(responded({"content": [{"type": "image", "data": data, "mimeType": "Image/PNG; charset=x"}]}))
    assert found == [Media("Image", "image/png", PIXEL, 70, "")]
    assert Media("Image", "image/png", "AA==", 1, "").data_url == "data:image/png;base64,AA=="


@pytest.mark.parametrize(("uri", "name"), [("file:///a/b.pdf", "b.pdf"), ("note://b/", "b"), ("", "file")])
def test_a_file_is_named_by_its_address(uri: str, name: str) -> None:
    assert Media("File", "", "", 0, uri).file_name == name


def test_blocks_show_what_a_format_can_show_and_say_the_rest() -> None:
    response = responded({"content": [text("here"), image(), image("image/tiff"), blob("application/pdf")]})
    blocks = as_blocks(
        response,
        text=lambda words: {"words": words},
        media=lambda media: {"shown": media.mime_type} if media.mime_type != "image/tiff" else None,
    )
    assert blocks == [
        {"words": "here"},
        {"shown": "image/png"},
        {"words": "[Image: image/tiff, 70 bytes; it cannot be shown here]"},
        {"words": "[Resource: file:///a/report.pdf]"},
        {"shown": "application/pdf"},
    ]


def test_what_cannot_be_read_is_never_shown() -> None:
    assert as_blocks(responded(RESULTS["image that is none"]), text=lambda words: {}, media=lambda media: {"shown": 1}) == [{}]


def test_a_failed_call_is_known_by_its_mark_alone() -> None:
    failed = {"content": [{"type": "text", "text": "no"}], "isError": True}
    assert is_error(responded(failed))
    assert not is_error(responded({"content": [], "isError": "yes"}))
    assert not is_error(responded(None))
    assert as_text(responded(failed)) == "no"


def test_an_event_has_no_result_to_convert() -> None:
    with pytest.raises(TooltrayError, match="the call of 'add' has no result to convert"):
        pieces(responded(None))


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (999_900, "999.9 kB"),
        (10**6, "1.0 MB"),
        (999_900_000, "999.9 MB"),
        (10**9, "1.0 GB"),
        (3 * 10**9, "3.0 GB"),
    ],
)
def test_a_size_is_said_in_its_unit(size: int, words: str) -> None:
    assert size_in_words(size) == words


def test_a_value_is_told_in_its_own_script() -> None:
    assert as_json({"城市": [1, None]}) == '{"城市": [1, null]}'


def test_a_long_value_is_cut_where_that_is_asked_for() -> None:
    assert as_json("x" * 10, longest=5) == '"xxxx...'
    assert as_json("x" * 10, longest=12) == f'"{"x" * 10}"'


def test_a_value_that_is_nested_too_deeply_is_named_as_that() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    assert as_json(value) == TOO_DEEP
    while value:  # inside out, so that its end does not nest
        value = value.pop()
