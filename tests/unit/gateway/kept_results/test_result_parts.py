"""result_parts.py: what a result is made of, and whether its structured content says anything new."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from tooltray.gateway.kept_results import result_parts
from tooltray.gateway.kept_results.result_parts import LONGEST_WORD, parts_of, pieces, repeated, text_of
from tooltray.protocol.envelope import dump
from tooltray.protocol.member_scanner import opened

ODD = 'a"b\\ü\n\u2028漢字🎉\ud83d x \udf89 \ud83d'


@pytest.mark.parametrize("is_ascii", [True, False])
@pytest.mark.parametrize("size", [13, 14, 15, 16, 17, 18, 19])
def test_no_escape_pair_or_character_is_cut_in_two(monkeypatch: pytest.MonkeyPatch, size: int, is_ascii: bool) -> None:
    monkeypatch.setattr(result_parts, "PIECE_BYTES", size)
    string = json.dumps(ODD * 9, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")
    given = list(pieces(Raw(string)))
    assert len(given) > 5
    assert "".join(text_of(piece) for piece in given) == json.loads(string.decode("utf-8", "surrogatepass"))


@given(st.text(), st.booleans())
def test_any_text_comes_out_as_it_is(text: str, is_ascii: bool) -> None:
    assert b"".join(pieces(Raw(json.dumps(text, ensure_ascii=is_ascii).encode()))) == text.encode()


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
