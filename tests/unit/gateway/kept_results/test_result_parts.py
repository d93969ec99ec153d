"""result_parts.py: what a result is made of, and whether its structured content says anything new."""

from typing import Any

import pytest
from msgspec import Raw

from tooltray.gateway.kept_results import result_parts
from tooltray.gateway.kept_results.result_parts import LONGEST_WORD, parts_of, repeated
from tooltray.protocol.envelope import dump
from tooltray.protocol.member_scanner import opened


@pytest.mark.parametrize(
    ("block", "kind", "title"),
    [
        ({"type": "text", "text": "a"}, "text", "text"),
        ({"type": "text", "text": 7}, "block", "text"),
        ({"type": "image", "data": "AA", "mimeType": "image/png"}, "block", "image image/png"),
        ({"type": "resource_link", "uri": "file:///a"}, "block", "resource_link file:///a"),
        ({"type": "resource", "resource": {"uri": "a:b", "text": "x"}}, "text", "resource a:b"),
        ({"type": "resource", "resource": {"uri": "a:b", "blob": "x"}}, "block", "resource a:b"),
        ({"type": "resource", "resource": []}, "block", "resource"),
        ({"type": 7, "mimeType": "x" * LONGEST_WORD}, "block", "content"),
        ({}, "block", "content"),
    ],
)
def test_blocks(block: Any, kind: str, title: str) -> None:
    (part,) = parts_of({"content": dump([block])}) or ()
    assert (part.kind, part.title) == (kind, title)
    assert b"".join(part.pieces()) == (b"a" if block.get("text") == "a" else b"x" if kind == "text" else bytes(dump(block)))


def test_a_word_that_cannot_be_read_is_none() -> None:
    (part,) = parts_of({"content": Raw(b'[{"type":"\\ud83","a":1}]')}) or ()
    assert part.title == "content"


@pytest.mark.parametrize(
    ("text", "structured", "is_repeated"),
    [
        ('{"a": [1, 2]}', b'{"a":[1,2]}', True),
        ('{"a": [1, 2]}\n', b'{"a":[1,2]}', True),
        ('{"a": [1, 3]}', b'{"a":[1,2]}', False),
        ('{"a": [1]}', b'{"a":[1,2]}', False),
        ("a word", b'{"result":"a word"}', True),
        ("a word", b'{"result":"another"}', False),
        ("a word", b'{"result":"a word","more":1}', False),
        ("[1]", b"[1]", True),
        ("", b"{}", False),
        ("[" + " " * 600_000 + "]", b"[]", True),
    ],
)
def test_structured_content_that_repeats_the_text(text: str, structured: bytes, is_repeated: bool) -> None:
    members = opened(dump({"content": [{"type": "text", "text": text}], "structuredContent": Raw(structured)}))
    assert (repeated(parts_of(members) or ()) is not None) is is_repeated


def test_a_long_value_comes_in_pieces_of_whole_characters() -> None:
    value = dump({"a": "\u6f22" * 200_000})
    (part,) = parts_of({"structuredContent": value}) or ()
    pieces = list(part.pieces())
    assert len(pieces) == 3
    assert "".join(piece.decode() for piece in pieces).encode() == bytes(value)


@pytest.mark.parametrize("braces", [1, result_parts.MOST_BRACES])
def test_a_content_of_too_many_blocks_is_one_part(monkeypatch: pytest.MonkeyPatch, braces: int) -> None:
    monkeypatch.setattr(result_parts, "MOST_PARTS", 2)
    monkeypatch.setattr(result_parts, "MOST_BRACES", braces)
    assert [part.title for part in parts_of({"content": dump([{}, {}])}) or ()] == ["content", "content"]
    (part,) = parts_of({"content": dump([{}, {}, {}])}) or ()
    assert (part.kind, bytes(part.raw)) == ("json", b"[{},{},{}]")
