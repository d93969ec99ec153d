"""result_parts.py: what a result is made of, and whether its structured content says anything new."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from tooltray.catalogue.token_counts import counted
from tooltray.gateway.kept_results import result_parts
from tooltray.gateway.kept_results.result_parts import (
    AROUND_BYTES,
    LONGEST_LINE_BYTES,
    LONGEST_TOKEN_BYTES,
    LONGEST_WORD,
    Hit,
    estimate_tokens,
    page,
    parts_of,
    pieces,
    repeated,
    search,
    text_of,
)
from tooltray.protocol.envelope import dump
from tooltray.protocol.member_scanner import elements_of, opened

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


@pytest.mark.parametrize("blocks", [[{}, {}, {}], [{"text": "x" * 2**20}, {}, {}]])
@pytest.mark.parametrize(("most", "is_parsed"), [(2, False), (3, True)])
def test_a_content_of_very_many_braces_is_not_read_in_one_step(
    monkeypatch: pytest.MonkeyPatch, blocks: list[Any], most: int, is_parsed: bool
) -> None:
    parsed: list[Raw] = []
    monkeypatch.setattr(result_parts, "MOST_BRACES", most)
    monkeypatch.setattr(result_parts, "elements_of", lambda content: parsed.append(content) or elements_of(content))
    assert len(parts_of({"content": dump(blocks)}) or ()) == 3
    assert bool(parsed) is is_parsed


def hits(folder: Path, text: bytes, words: str) -> list[Hit]:
    path = folder / "text"
    path.write_bytes(text)
    with open(path, "rb") as file:
        return list(search(file, len(text), words.encode(), at=0, number=1))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        *(("", 0), ("a word and another", 4), ("123456789", 3), ("someCamelCase", 3), ("漢字", 2), ("größe", 3), ("     \n     \n", 1)),
        *(('{"a": [1, 2]}', 10), ("\ud83d", 1)),
    ],
)
def test_tokens_are_estimated_and_none_is_longer_than_a_page_counts_on(text: str, tokens: int) -> None:
    utf8 = text.encode("utf-8", "surrogatepass")
    assert estimate_tokens(utf8) == tokens
    assert len(utf8) <= tokens * LONGEST_TOKEN_BYTES


def test_the_estimate_is_near_what_a_tokenizer_counts() -> None:
    rows = [{"id": number, "url": f"https://example.com/{number}", "at": "2026-11-28T20:41:58Z"} for number in range(200)]
    texts = ["It says in plain words how to go on, and how large all of it is. " * 50, json.dumps(rows), "讀取其餘的部分，逐頁進行。" * 50]
    for text, tokens in zip(texts, counted(texts) or (), strict=True):
        assert estimate_tokens(text.encode()) == pytest.approx(1.15 * tokens, rel=0.2)


def test_a_text_that_fits_is_all_of_the_page() -> None:
    begun = page([b"12345", b"6789"], 3)
    assert (begun.utf8, begun.tokens, begun.is_all) == (b"123456789", 3, True)
    assert not page([b"12345", b"6789"], 2).is_all


def test_no_more_of_a_text_is_read_than_is_needed() -> None:
    pieces = iter([b"a word " * 1000, b"", b"never read"])
    assert page(pieces, 100).utf8 == (b"a word " * 50)[:-1]
    assert next(pieces) == b""


def test_a_page_ends_behind_a_line_where_little_is_lost_by_it() -> None:
    lines = b"".join(b"line %d\n" % number for number in range(1000))
    for tokens in range(1000, 1004):
        begun = page([lines], tokens).utf8
        assert begun.endswith(b"\n")
        assert tokens - 10 < estimate_tokens(begun) <= tokens
    assert page([b"first\n" + b"123" * 5000], 1000).utf8 == b"first\n" + b"123" * 998


@pytest.mark.parametrize("character", ["ü", "漢", "🎉"])
def test_characters_stay_whole_and_a_page_has_one_at_least(character: str) -> None:
    for tokens in (0, 1, 5, 64):
        begun = page([(character * 500).encode()], tokens).utf8.decode()
        assert begun == character * len(begun)
        assert len(begun) >= 1


def test_lines_with_words_are_numbered_and_placed(tmp_path: Path) -> None:
    assert hits(tmp_path, "eins\nzwei\n\ndrëi".encode(), "ei") == [Hit(1, 0, b"eins", True), Hit(2, 5, b"zwei", True)]
    assert hits(tmp_path, "eins\ndrëi".encode(), "ëi") == [Hit(2, 5, "drëi".encode(), True)]
    assert [hit.number for hit in hits(tmp_path, b"aa\nbaab\n\nb\naaa\n", "aa")] == [1, 2, 5]
    assert hits(tmp_path, b"a.c\nabc", "a.c") == [Hit(1, 0, b"a.c", True)]


@pytest.mark.parametrize("before", range(990, 1010))
def test_of_a_long_line_the_words_are_shown_with_what_is_around_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int) -> None:
    monkeypatch.setattr(result_parts, "READ_BYTES", 1000)  # the words lie before, in and behind the place where the line is read in two
    text = (before * "x" + "nädel" + "漢" * 700 + "nädel\nnädel").encode()
    first, second, third = hits(tmp_path, text, "nädel")
    assert [first.number, second.number, third.number] == [1, 1, 2]
    for hit in (first, second):
        assert text[hit.at : hit.at + len(hit.utf8)] == hit.utf8
        assert hit.utf8.decode().count("nädel") == 1
        assert len(hit.utf8) <= 2 * AROUND_BYTES + 6
        assert not hit.is_whole
    assert third == Hit(2, len(text) - 6, "nädel".encode(), True)


@pytest.mark.parametrize(("length", "is_whole"), [(LONGEST_LINE_BYTES, True), (LONGEST_LINE_BYTES + 1, False)])
def test_a_line_is_whole_as_long_as_it_is_not_too_long(tmp_path: Path, length: int, is_whole: bool) -> None:
    line = b"needle".rjust(length, b"x")
    [hit] = hits(tmp_path, line + b"\nmore", "needle")
    shown = line if is_whole else line[-AROUND_BYTES - 6 :]
    assert hit == Hit(1, length - len(shown), shown, is_whole)


def test_words_that_are_near_each_other_are_shown_once(tmp_path: Path) -> None:
    assert len(hits(tmp_path, b"x" * 500 + b"nn" + b"y" * 100 + b"n" + b"x" * 500, "n")) == 1
