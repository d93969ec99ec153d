"""How many tokens a model reads of the hub's answers: the tool lists of 26 servers in use, and a hundred plain questions."""

import json
import statistics
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, entry
from tests.fakes.lazy_hub import answered, called, ready_parts, said
from tests.fakes.scripted_server import ScriptedServer

from tooltray.catalogue.tokenizer import Tokenizer
from tooltray.protocol.sessions.session_state import SessionState

DATA = Path(__file__).parents[3] / "data" / "search"
QUESTIONS: list[str] = [each["question"] for each in json.loads((DATA / "questions.json").read_bytes())]
WORDS = "Use these tools for everything that has to do with it, and read the manual before the first call. " * 20


def servers() -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for each in json.loads((DATA / "tools.json").read_bytes()):
        members = {name: each[name] for name in ("name", "title", "description", "inputSchema") if name in each}
        found.setdefault(each["server"], []).append(members)
    return found


def program(tools: Sequence[dict[str, Any]]) -> ScriptedServer:
    made = ScriptedServer(*tools)
    greeting = {"capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}, "instructions": WORDS}
    made.handlers["initialize"] = lambda copy, params: {"protocolVersion": "2025-11-25", **greeting}
    return made


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer()


@pytest.fixture
async def parts(tmp_path: Path) -> AsyncIterator[HubParts]:
    programs = {name: program(tools) for name, tools in servers().items()}
    options = {"servers": {name: entry(name) for name in programs}, "programs": programs}
    async with ready_parts(tmp_path, *programs, settings={"publish": {"mode": "search"}}, **options) as made:
        yield made


async def test_an_answer_of_find_tools_has_few_tokens(parts: HubParts, tokenizer: Tokenizer) -> None:
    client = parts.client()
    answers = [said(await called(parts, client, "find_tools", query=question)) for question in QUESTIONS]
    assert len(answers) == 100
    tokens = sorted(tokenizer.count(answers))
    assert statistics.median(tokens) <= 250
    assert tokens[-1] <= 450, max(answers, key=len)


async def test_what_a_client_reads_before_the_first_search_has_few_tokens(parts: HubParts, tokenizer: Tokenizer) -> None:
    listed = (await answered(parts, "tools/list", parts.client()))["result"]["tools"]
    read = [json.dumps({name: each[name] for name in ("name", "description", "inputSchema")}) for each in listed]
    assert sum(tokenizer.count(read)) <= 1000
    (instructions,) = tokenizer.count([parts.session_clients.instructions(SessionState("s"))])
    assert instructions <= 300
