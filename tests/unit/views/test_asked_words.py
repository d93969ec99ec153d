"""views/asked_words.py and catalogue/words.py: what a question asks for, and what is found by the table that comes with Tooltray."""

import json
from pathlib import Path

import pytest

from tooltray.protocol.envelope import dump
from tooltray.resources import resource
from tooltray.views.asked_words import MAX_WORDS, AskedWords, read_asked_words
from tooltray.views.search import ToolIndex, ToolText, text_of

DEFINITIONS = Path(__file__).parents[2] / "contract" / "definitions"
BROWSER = (
    ToolText("browser_click", "playwright", "Click", "Perform click on a web page", ("element", "doubleClick", "button")),
    ToolText("browser_close", "playwright", "Close browser", "Close the page"),
    ToolText("browser_drag", "playwright", "Drag mouse", "Perform drag and drop between two elements"),
    ToolText("browser_fill_form", "playwright", "Fill form", "Fill multiple form fields", ("fields",)),
    ToolText("browser_navigate", "playwright", "Navigate to a URL", "Navigate to a URL", ("url",)),
    ToolText("browser_take_screenshot", "playwright", "Take a screenshot", "Take a screenshot of the current page.", ("filename",)),
    ToolText("browser_wait_for", "playwright", "Wait for", "Wait for text to appear or disappear or a specified time to pass", ("text",)),
)


@pytest.fixture(scope="module")
def shipped() -> AskedWords:
    return read_asked_words(resource("search-words.json"))


@pytest.fixture(scope="module")
def tools() -> tuple[ToolText, ...]:
    """Those of three servers that many people have."""
    read = [(server, each) for server in ("filesystem", "memory") for each in json.loads((DEFINITIONS / f"{server}.json").read_text())]
    return *(text_of(dump(each), server=server) for server, each in read), *BROWSER


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
    assert list(AskedWords().of(question)) == words


def test_words_that_mean_much_the_same_come_with_each() -> None:
    asked = AskedWords({"website site": "navigate url"})
    assert asked.of("websites now") == {"websit": ("navigat", "url"), "now": ()}
    assert asked.of("site") == {"sit": ("navigat", "url")}


def test_chinese_words_are_asked_for_in_english_too_the_longest_first_and_without_what_says_nothing() -> None:
    asked = AskedWords({"delete": "remove"}, {"刪 刪除": "delete", "檔案": "file", "一個 請": ""})
    assert asked.of("請刪除一個檔案") == {"delet": ("remov",), "fil": (), "刪": (), "除": (), "刪除": (), "檔": (), "案": (), "檔案": ()}
    assert list(asked.of("請")) == ["請"]


def test_long_questions_end() -> None:
    assert len(AskedWords({}, {"檔": "file"}).of("檔 x1y " * 100_000)) <= 2 * MAX_WORDS


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("open a website", "browser_navigate"),
        ("visit a web page", "browser_navigate"),
        ("take a picture of the page", "browser_take_screenshot"),
        ("remember something", "add_observations"),
        ("rename a file", "move_file"),
        ("make a new folder", "create_directory"),
        ("讀取檔案", "read_file"),
        ("如何讀取檔案的內容？", "read_file"),
        ("打開網頁", "browser_navigate"),
        ("打开网站", "browser_navigate"),
        ("搜尋檔案", "search_files"),
        ("截圖", "browser_take_screenshot"),
        ("新增資料夾", "create_directory"),
        ("点击按钮", "browser_click"),
    ],
)
def test_what_people_say_finds_what_servers_call_otherwise(
    shipped: AskedWords, tools: tuple[ToolText, ...], question: str, first: str
) -> None:
    found = ToolIndex(tools, shipped).find(question, 5)
    assert tools[found[0]].name == first


@pytest.mark.parametrize("question", ["save a fact", "save a fact to remember", "store knowledge", "幫我記住一件事"])
def test_what_is_to_be_remembered_finds_what_adds_to_the_memory(shipped: AskedWords, tools: tuple[ToolText, ...], question: str) -> None:
    found = [tools[place].name for place in ToolIndex(tools, shipped).find(question, 6)]
    assert {"create_entities", "add_observations"} <= set(found)


@pytest.mark.parametrize("question", ["delete a file", "erase the document", "刪除一個檔案"])
def test_what_deletes_files_comes_before_what_deletes_other_things(shipped: AskedWords, tools: tuple[ToolText, ...], question: str) -> None:
    more = (*tools, ToolText("remove_file", "other", "", "Removes a file.", ("path",)))
    found = [more[place].name for place in ToolIndex(more, shipped).find(question, 3)]
    assert "remove_file" in found
    assert any(name.startswith("delete_") for name in found)


def test_what_is_said_itself_goes_before_what_means_much_the_same() -> None:
    tools = (ToolText("remove"), ToolText("delete"))
    assert ToolIndex(tools, AskedWords({"delete": "remove"})).find("delete", 2) == [1, 0]
    assert ToolIndex(tools).find("delete", 2) == [1]


def test_no_word_stands_twice_in_the_table_that_comes_with_tooltray() -> None:
    for part in json.loads(resource("search-words.json").read_text("utf-8")).values():
        words = [word for words in part for word in words.split()]
        assert len(words) == len(set(words))
