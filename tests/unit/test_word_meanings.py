"""scripts/word_sources.py: what the table of meanings is learned from may be used, and is named."""

import re

from scripts.word_meanings import ROOT
from scripts.word_sources import SOURCES, first_sentence, operation, with_spaces


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
