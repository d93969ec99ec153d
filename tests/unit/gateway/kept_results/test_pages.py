"""pages.py: a page is as much as fits, ends behind a line or a character, and always has something; words are found wherever they are."""

import json
from pathlib import Path

import pytest

from tooltray.catalogue.token_counts import counted
from tooltray.gateway.kept_results import result_parts
from tooltray.gateway.kept_results.result_parts import AROUND_BYTES, LONGEST_TOKEN_BYTES, Hit, estimate_tokens, page, search


def hits(folder: Path, text: bytes, words: str) -> list[Hit]:
    path = folder / "text"
    path.write_bytes(text)
    with open(path, "rb") as file:
        return list(search(file, len(text), words.encode(), at=0, number=1))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a word and another", 4),
        ("123456789", 3),
        ("someCamelCase", 3),
        ("漢字", 2),
        ("größe", 3),
        ("     \n     \n", 1),
        ('{"a": [1, 2]}', 10),
        ("\ud83d", 1),
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
    begun = page([lines], 1000).utf8
    assert begun.endswith(b"\n")
    assert 990 < estimate_tokens(begun) <= 1000
    assert page([b"first\n" + b"123" * 5000], 1000).utf8 == b"first\n" + b"123" * 998


@pytest.mark.parametrize("character", ["ü", "漢", "🎉"])
def test_characters_stay_whole_and_a_page_has_one_at_least(character: str) -> None:
    for tokens in (0, 1, 5, 64):
        begun = page([(character * 500).encode()], tokens).utf8.decode()
        assert begun == character * len(begun)
        assert len(begun) >= 1


def test_lines_with_words_are_numbered_and_placed(tmp_path: Path) -> None:
    assert hits(tmp_path, "eins\nzwei\n\ndrëi".encode(), "ei") == [
        Hit(1, 0, b"eins", True),
        Hit(2, 5, b"zwei", True),
    ]
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


def test_words_that_are_near_each_other_are_shown_once(tmp_path: Path) -> None:
    assert len(hits(tmp_path, b"x" * 500 + b"nn" + b"y" * 100 + b"n" + b"x" * 500, "n")) == 1
