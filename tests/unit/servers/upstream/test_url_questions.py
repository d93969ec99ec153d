"""url_questions.py, and pages that a person is sent to in each pair of eras"""

from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.hub_parts import MODERN_META, Client, hub_parts, one_server, started
from tests.fakes.scripted_server import Copy, ScriptedServer, error, text, tool

from tooltray.protocol.envelope import Envelope, dump, load, success
from tooltray.servers.upstream.url_questions import REMEMBERED, UrlQuestions

PAGE = {"mode": "url", "message": "Sign in", "url": "https://example.org/"}
WANTED = {"elicitations": [{**PAGE, "elicitationId": "e1"}, {**PAGE, "elicitationId": "e2"}]}


async def ask_in_place(copy: Copy, params: Any) -> Any:
    return text((await copy.ask("elicitation/create", {**PAGE, "elicitationId": "e"}))["action"])


def ask_by_result(copy: Copy, params: Any) -> Any:
    if answers := params.get("inputResponses"):
        return text(answers["q"]["action"])
    question = {"method": "elicitation/create", "params": PAGE}
    return {"resultType": "input_required", "inputRequests": {"q": question}, "requestState": "s"}


@pytest.mark.parametrize("server_era", ["legacy", "modern"])
@pytest.mark.parametrize("client_era", ["legacy", "modern"])
async def test_a_page_is_shown_to_the_client_and_its_yes_reaches_the_server(tmp_path: Path, client_era: str, server_era: str) -> None:
    program = ScriptedServer(tool("t"), eras=(server_era,))
    program.calls["t"] = ask_in_place if server_era == "legacy" else ask_by_result
    capabilities = {"elicitation": {"form": {}, "url": {}}}
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        await parts.listed()
        client = parts.client(capabilities=capabilities, answer={"action": "accept"})
        if client_era == "legacy":
            reply = await parts.call("t", client)
            ((_, page),) = client.asked.all
            assert page.pop("elicitationId")
        else:
            meta = {**MODERN_META, "io.modelcontextprotocol/clientCapabilities": capabilities}
            first = (await parts.call("t", client, is_modern=True, _meta=meta))["result"]
            ((key, question),) = first["inputRequests"].items()
            page = question["params"]
            page.pop("elicitationId", None)
            more: Any = {"inputResponses": {key: {"action": "accept"}}, "requestState": first["requestState"]}
            reply = await parts.call("t", client, is_modern=True, _meta=meta, **more)
        assert page == PAGE
        assert reply["result"]["content"] == text("accept")["content"]


async def test_who_was_asked_or_refused_for_a_page_is_known_once(tmp_path: Path) -> None:
    program = ScriptedServer(tool("ask"), tool("refuse"), tool("fail"))
    program.calls["ask"] = ask_in_place
    program.calls["refuse"] = lambda copy, params: error(-32042, "open it", WANTED)
    program.calls["fail"] = lambda copy, params: error(-32000, "no", WANTED)
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        await parts.listed()
        first, second = (parts.client(capabilities={"elicitation": {"url": {}}}, answer={"action": "accept"}) for _ in range(2))
        await parts.call("ask", first)
        assert (await parts.call("refuse", second))["error"] == {"code": -32042, "message": "open it", "data": WANTED}
        await parts.call("fail", first)
        server = parts.servers.get("s").first.client
        assert server
        told = [server.url_questions.ended(dump({"elicitationId": id})) for id in ("e", "e1", "e2", "e", "unknown")]
        assert told == [first, second, second, None, None]


async def test_a_client_that_shows_forms_alone_gets_no_page_and_the_person_at_the_machine_does(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    program.calls["t"] = ask_in_place
    shown: list[Any] = []

    async def ask_person(server: str, params: Raw) -> Envelope:
        shown.append((server, load(params)["url"]))
        return success({"action": "accept"})

    async with hub_parts(tmp_path, waits={"ask_person": ask_person}, **one_server(program)) as parts:
        await started(parts)
        await parts.listed()
        client = parts.client(capabilities={"elicitation": {"form": {}}}, answer={"action": "decline"})
        assert (await parts.call("t", client))["result"]["content"] == text("accept")["content"]
        assert (client.asked.all, shown) == ([], [("s", PAGE["url"])])


def test_only_the_latest_pages_are_remembered_and_nonsense_is_none() -> None:
    questions, client = UrlQuestions(), Client()
    for number in range(REMEMBERED + 1):
        questions.asked(dump({"elicitationId": f"e{number}"}), client)
    assert questions.ended(dump({"elicitationId": "e0"})) is None
    assert questions.ended(dump({"elicitationId": "e1"})) is client
    questions.asked(dump({"elicitationId": 5}), client)
    questions.required(dump({"code": -32042, "data": {"elicitations": 5}}), client)
    questions.required(dump({"code": -32042}), client)
    assert questions.ended(dump([])) is None
