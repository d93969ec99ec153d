"""The sets of questions that `search_rows.py` measures: tools, and questions with the tools that are right. None is committed.

They are read from a folder of files as their makers publish them: the golden set of mcpproxy-go (`mcpp_corpus_v2.tools.json`,
`mcpp_retrieval_golden_v1.json`) and MetaTool's descriptions, questions for one tool, and questions for two (`metatool_*.json`).
"""

import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tooltray.catalogue.views.search import MAX_TEXT, ToolText, text_of
from tooltray.protocol.envelope import dump


class Question(NamedTuple):
    """A question, and its needs: for each the places of the tools of which any meets it."""

    text: str
    needs: tuple[frozenset[int], ...]


def needs_of(places: Iterable[int]) -> tuple[frozenset[int], ...]:
    """Returns a need for each right tool."""
    return tuple(frozenset({place}) for place in sorted(set(places)))


class QuestionSet(NamedTuple):
    """Tools, and questions for them."""

    name: str
    tools: tuple[ToolText, ...]
    questions: tuple[Question, ...]


def sets(folder: Path) -> Iterator[QuestionSet]:
    """Yields the sets that a folder has."""
    if (folder / "mcpp_retrieval_golden_v1.json").is_file():
        yield _golden(folder)
    yield from starters(folder)
    if (folder / "metatool_des.json").is_file():
        yield from _halves(_metatool(folder, "one tool", [(text, [name]) for text, name in _read(folder, "metatool_queries_3000.json")]))
        both = [(each["query"], each["tool"]) for each in _read(folder, "metatool_multi.json")]
        yield from _halves(_metatool(folder, "two tools", both))


def starters(folder: Path) -> Iterator[QuestionSet]:
    """Yields the set of our own, as far as a folder has it: questions for servers that many people use, and those never looked at."""
    if (folder / "questions.json").is_file():
        entries, asked = _read(folder, "tools.json"), _read(folder, "questions.json")
        tools = tuple(text_of(dump(each), server=each["server"]) for each in entries)
        places = {f"{each['server']}/{each['name']}": place for place, each in enumerate(entries)}
        for is_fresh, name in ((False, "our own questions"), (True, "our own questions, never looked at")):
            questions = (
                Question(each["question"], tuple(frozenset(places[tool] for tool in need) for need in each["needs"]))
                for each in asked
                if each.get("fresh", False) is is_fresh
            )
            yield QuestionSet(name, tools, tuple(questions))


def _golden(folder: Path) -> QuestionSet:
    entries = _read(folder, "mcpp_corpus_v2.tools.json")["tools"]
    tools = tuple(
        text_of(dump({"name": each["tool"], "description": each["description"], "inputSchema": each["schema"]}), server=each["server"])
        for each in entries
    )
    places = {each["tool_id"]: place for place, each in enumerate(entries)}
    questions = (
        Question(each["query"], needs_of(places[label["tool_id"]] for label in each["labels"] if label["relevance"] > 0))
        for each in _read(folder, "mcpp_retrieval_golden_v1.json")["queries"]
    )
    return QuestionSet("mcpproxy golden set", tools, tuple(questions))


def _metatool(folder: Path, name: str, asked: list[tuple[str, list[str]]]) -> QuestionSet:
    described = _read(folder, "metatool_des.json")
    places = {name: place for place, name in enumerate(described)}
    tools = tuple(ToolText(name, description=text[:MAX_TEXT]) for name, text in described.items())
    return QuestionSet(f"MetaTool, {name}", tools, tuple(Question(text, needs_of(places[each] for each in right)) for text, right in asked))


def _halves(whole: QuestionSet) -> Iterator[QuestionSet]:
    """Yields the set, the half with which weights were chosen, and the other half."""
    yield whole
    for half, name in enumerate(("half for choosing", "other half")):
        chosen = tuple(each for each in whole.questions if zlib.crc32(each.text.encode()) & 1 == half)
        yield QuestionSet(f"{whole.name} ({name})", whole.tools, chosen)


def _read(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text("utf-8"))
