"""scripts/word_sources.py: what the table of meanings is learned from may be used, and is named."""

import json
import re

from scripts.word_meanings import ROOT, told
from scripts.word_sources import SOURCES, AskedTool, everyday_questions, first_sentence, operation, with_spaces

from tooltray.catalogue.views.meanings import WordMeanings
from tooltray.catalogue.views.search_words import whole_words
from tooltray.foundation.programs import resource


def test_each_source_is_pinned_and_stands_in_the_page_of_licences() -> None:
    page = (ROOT / "docs" / "licences.md").read_text("utf-8")
    for source in SOURCES:
        assert source.name in page
        assert source.licence in page
        assert re.fullmatch(r"[0-9a-f]{64}", source.checksum)
        assert re.fullmatch(r"[\d.]+", source.version)


def test_of_a_description_the_first_sentence_is_read_without_its_marks() -> None:
    assert first_sentence("<p>Lists the `pods` of a namespace.</p> More of it.") == "Lists the pods of a namespace."
    assert with_spaces("ListAllPods") == "List All Pods"


def test_an_operation_has_a_name_and_a_text_that_says_something_else() -> None:
    assert operation({"summary": "List pods", "description": "Returns <b>all</b> pods."}) == ("List pods", "Returns all pods.")
    entry = {"operationId": "pods_listAll", "summary": "List pods", "description": "List pods", "tags": ["Core", 5]}
    assert operation(entry) == ("pods list All Core", "List pods")
    assert operation({"summary": "List pods"}) is None


def test_everyday_questions_are_no_questions_that_the_search_is_measured_with() -> None:
    measured = json.loads((ROOT / "tests" / "data" / "search" / "questions.json").read_text("utf-8"))
    asked = [question for tool in everyday_questions() for question in tool.questions]
    assert len(asked) > 6_800
    assert {each["question"].casefold() for each in measured}.isdisjoint(map(str.casefold, asked))
    assert told(AskedTool("pie_chart", "Draws shares.", ())) == "pie chart: Draws shares."


def test_the_table_has_the_words_of_everyday_questions_and_of_their_tools() -> None:
    meanings = WordMeanings(resource("word-meanings.bin"))
    texts = (text for tool in everyday_questions() for text in (*tool[:2], *tool.questions))
    words = {word for text in texts for word in whole_words(text) if re.fullmatch("[a-z]{2,18}", word)}
    assert [word for word in words if meanings.of({word: 1}) is None] == []
