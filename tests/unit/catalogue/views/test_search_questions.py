"""search.py: how many of a hundred plain questions find their tools in the lists of real servers (tests/data/search/README.md)."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypedDict

import pytest
from msgspec import Raw

from tooltray.catalogue.views.meanings import WordMeanings
from tooltray.catalogue.views.search import ToolIndex, text_of
from tooltray.catalogue.views.search_words import read_query_words
from tooltray.foundation.programs import resource
from tooltray.protocol.envelope import dump

DATA = Path(__file__).parents[3] / "data" / "search"
LEAST_R5, LEAST_R1 = 0.825, 0.52  # what was measured last; raise them when the search improves


class Tool(TypedDict):
    server: str
    name: str


class Question(TypedDict, total=False):
    question: str
    language: str
    needs: list[list[str]]
    fresh: bool


class Answer(NamedTuple):
    """The best five tools for a question, the best first."""

    question: Question
    found: list[str]

    def recall(self) -> float:
        """Returns the share of the needs that one of the tools serves."""
        return sum(not set(self.found).isdisjoint(need) for need in self.question["needs"]) / len(self.question["needs"])

    def is_first_right(self) -> bool:
        return any(self.found[:1] == [tool] for need in self.question["needs"] for tool in need)


def full_name(tool: Tool) -> str:
    return f"{tool['server']}/{tool['name']}"


@cache
def tools() -> list[Tool]:
    loaded: list[Tool] = json.loads((DATA / "tools.json").read_text("utf-8"))
    return loaded


@cache
def questions() -> list[Question]:
    loaded: list[Question] = json.loads((DATA / "questions.json").read_text("utf-8"))
    return loaded


@cache
def answers() -> list[Answer]:
    query_words, meanings = read_query_words(resource("search-words.json")), WordMeanings(resource("word-meanings.bin"))
    index = ToolIndex((text_of(Raw(dump(tool)), server=tool["server"]) for tool in tools()), query_words, meanings)
    return [Answer(each, [full_name(tools()[place]) for place in index.find(each["question"], 5)]) for each in questions()]


def mean_recall(given: list[Answer]) -> float:
    return sum(each.recall() for each in given) / len(given)


def first_right(given: list[Answer]) -> float:
    return sum(each.is_first_right() for each in given) / len(given)


def report() -> Iterator[str]:
    """Yields the figures, and the questions that miss a tool; of the fresh ones only figures, so that the search is not fitted to them."""
    fresh = [each for each in answers() if each.question.get("fresh")]
    others = [each for each in answers() if not each.question.get("fresh")]
    for name, given in ("all", answers()), ("fresh", fresh), ("others", others):
        yield f"{name}: {len(given)} questions, R@5 {mean_recall(given):.3f}, R@1 {first_right(given):.3f}"
    for each in others:
        missed = [need for need in each.question["needs"] if set(each.found).isdisjoint(need)]
        if missed:
            yield f"{each.question['question']}: needs {missed}, found {each.found}"


def test_questions_find_their_tools_as_often_as_when_last_measured() -> None:
    r5, r1 = mean_recall(answers()), first_right(answers())
    if r5 < LEAST_R5 or r1 < LEAST_R1:
        pytest.fail("\n".join(report()))


def test_a_question_names_tools_that_exist() -> None:
    names = {full_name(tool) for tool in tools()}
    assert [each for each in questions() if not each["needs"] or not all(need and names.issuperset(need) for need in each["needs"])] == []


def test_the_set_has_a_hundred_questions_of_which_thirty_are_fresh() -> None:
    assert (len({each["question"] for each in questions()}), sum(each.get("fresh", False) for each in questions())) == (100, 30)
