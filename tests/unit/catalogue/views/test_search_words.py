"""search_words.py: words of queries, and the table that comes with Tooltray."""

import json

import pytest

from tooltray.catalogue.views.search_words import MAX_WORDS, QueryWords, singular, whole_words, words_of
from tooltray.foundation.programs import resource


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("delete a file", ["delet", "fil"]),
        ("What's the weather?", ["weather"]),
        ("I'd like you to open it, please", ["open"]),
        ("the", ["the"]),
        ("", []),
        ("?!", []),
    ],
)
def test_words_that_say_nothing_are_not_asked_for_where_there_are_others(question: str, words: list[str]) -> None:
    assert list(QueryWords().of(question)) == words


def test_words_that_mean_much_the_same_come_with_each() -> None:
    asked = QueryWords({"website site": "navigate url"})
    assert asked.of("websites now") == {"websit": ("navigat", "url"), "now": ()}
    assert asked.of("site") == {"site": ("navigat", "url")}


def test_chinese_words_are_asked_for_in_english_too_the_longest_first_and_without_what_says_nothing() -> None:
    asked = QueryWords({"delete": "remove"}, {"刪 刪除": "delete", "檔案": "file", "一個 請": ""})
    assert asked.of("請刪除一個檔案") == {"delet": ("remov",), "fil": (), "刪": (), "除": (), "刪除": (), "檔": (), "案": (), "檔案": ()}
    assert list(asked.of("請")) == ["請"]


def test_long_questions_end() -> None:
    assert len(QueryWords({}, {"檔": "file"}).of("檔 x1y " * 100_000)) <= 2 * MAX_WORDS


def test_no_word_stands_twice_in_the_table_that_comes_with_tooltray() -> None:
    for part in json.loads(resource("search-words.json").read_text("utf-8")).values():
        words = [word for words in part for word in words.split()]
        assert len(words) == len(set(words))


def test_whole_words_keep_their_endings_and_say_something() -> None:
    assert list(whole_words("the Files of readAllNotes 檔案")) == ["files", "read", "notes", "檔案"]
    assert singular("queries") == "query"


def test_words_that_would_become_others_keep_their_endings() -> None:
    assert list(words_of("news new notes not planes plan sites sit")) == ["news", "new", "note", "not", "plane", "plan", "site", "sit"]
