"""search_words.py: words of queries, and the table that comes with Tooltray."""

import json

import pytest

from tooltray.catalogue.views.search_words import MAX_WORDS, STORY, QueryWords, singular, whole_words, words_of
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


def test_japanese_words_are_asked_for_in_english_however_their_marks_are_written() -> None:
    asked = QueryWords(chinese={"ページ": "page"})
    assert list(asked.of("ページ")) == list(asked.of("\u30d8\u309a\u30fc\u30b7\u3099")) == ["pag", *QueryWords().of("ページ")]


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


@pytest.mark.parametrize(
    ("question", "needs"),
    [
        ("commit my changes and open a pull request", ["commit my changes", "open a pull request"]),
        ("find the mail, then save its attachment. Send it back", ["find the mail", "save its attachment", "send it back"]),
        ("搜尋檔案然後刪除資料夾", ["搜尋檔案", "刪除資料夾"]),
        ("read and write files", ["read write files"]),
        ("drag and drop the page", ["drag drop the page"]),
        ("read files", ["read files"]),
        ("the", ["the"]),
        (" ?! ", []),
    ],
)
def test_each_part_of_a_question_that_asks_for_something_is_a_need(question: str, needs: list[str]) -> None:
    found = QueryWords(chinese={"檔案": "file", "搜尋": "search", "刪除": "delete", "資料夾": "folder"}).needs(question)
    assert [" ".join(each.split()).casefold() for each in found] == needs


def test_a_story_has_one_need() -> None:
    story = "paint walls and " + " ".join(f"fence{chr(97 + number)}" for number in range(STORY))
    assert QueryWords().needs(story) == [story]
    assert len(QueryWords().needs("paint walls and mow lawns")) == 2


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("rename ~/notes/final-report.txt to old.md", ["renam", "fil"]),
        ("把report.csv打開", ["把", "fil", "打", "開", "打開"]),
        ("open https://example.com/a?b=c#d now", ["open", "url", "now"]),
        ("write to anna.b@mail.example.com", ["writ", "email"]),
        ("next.js and v1.2", ["next", "js", "v", "1", "2"]),
    ],
)
def test_what_is_said_of_one_thing_is_a_word_for_its_kind(question: str, words: list[str]) -> None:
    assert list(QueryWords().of(question)) == words


def test_the_name_of_a_product_is_one_word_beside_its_parts() -> None:
    assert list(whole_words("GitHub readTextFile")) == ["git", "hub", "github", "read", "text", "file"]
