"""linking_relay.py, for calls, prompts and what is read of servers whose resources clash"""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import Client, HubParts
from tests.fakes.lazy_hub import answered, ready
from tests.fakes.offering import OfferingServer, offer_parts, resource, template
from tests.fakes.scripted_server import Copy, raw, tool

LINK = {"type": "resource_link", "uri": "x://1", "name": "n"}
OF_A = "tooltray://a/x%3A%2F%2F1"
AS_WRITTEN = b'{"content":[{"uri":"x://1",  "type":"resource_link"}]}'


def linking(*, uri: str = "x://1", templates: list[Any] | None = None) -> OfferingServer:
    """A server whose tool and prompt link to a resource."""
    program = OfferingServer(prompts=[{"name": "p"}], resources=[resource(uri)], templates=templates)
    program.tools = [tool("t")]
    program.calls["t"] = lambda copy, params: {"content": [LINK]}
    program.handlers["prompts/get"] = lambda copy, params: {"messages": [{"role": "user", "content": LINK}]}
    return program


async def linked_by(parts: HubParts, name: str = "a_t", client: Client | None = None) -> Any:
    await parts.tools.listing()
    reply = await answered(parts, "tools/call", client or parts.client(), name=name, arguments={})
    return reply["result"]["content"][0]["uri"]


async def test_links_of_servers_that_list_one_uri_lead_back_to_the_server_that_linked(tmp_path: Path) -> None:
    async with offer_parts(tmp_path, {"a": linking(), "b": linking()}) as each:
        parts, client = each.parts, each.parts.client()
        await ready(parts, "a", "b")
        assert await linked_by(parts) == OF_A
        assert await each.read(await linked_by(parts, "b_t")) == [{"uri": "tooltray://b/x%3A%2F%2F1", "text": "b: x://1"}]
        await parts.prompts.listing()
        got = await answered(parts, "prompts/get", client, name="a_p")
        assert got["result"]["messages"][0]["content"]["uri"] == OF_A


async def test_links_change_as_soon_as_another_server_has_resources(tmp_path: Path) -> None:
    async with offer_parts(tmp_path, {"a": linking(), "b": linking()}) as each:
        await ready(each.parts, "a")
        assert await linked_by(each.parts, "t") == "x://1"
        await ready(each.parts, "b")
        assert await linked_by(each.parts, "t") == OF_A


async def test_a_session_with_one_server_gets_what_that_server_wrote(tmp_path: Path) -> None:
    program = linking()
    program.calls["t"] = lambda copy, params: raw(AS_WRITTEN)
    async with offer_parts(tmp_path, {"a": program, "b": linking()}) as each:
        await ready(each.parts, "a", "b")
        client = each.parts.client()
        client.state.server = "a"
        assert await linked_by(each.parts, "t", client) == "x://1"


@pytest.mark.parametrize("program", [linking(uri="y://1"), OfferingServer()])
async def test_a_server_whose_uris_clash_with_none_links_as_it_likes(tmp_path: Path, program: OfferingServer) -> None:
    async with offer_parts(tmp_path, {"a": linking(), "b": program}) as each:
        await ready(each.parts, "a", "b")
        assert await linked_by(each.parts, "t" if not program.resources else "a_t") == "x://1"


async def test_a_link_of_a_server_without_resources_cannot_be_read_there_and_stays(tmp_path: Path) -> None:
    program = OfferingServer()
    program.tools, program.calls["t"] = [tool("t")], lambda copy, params: {"content": [LINK]}
    async with offer_parts(tmp_path, {"a": program, "b": OfferingServer(resources=[resource("x://1")])}) as each:
        await ready(each.parts, "a", "b")
        assert await linked_by(each.parts, "t") == "x://1"


async def test_a_link_to_what_another_server_lists_leads_to_the_one_that_linked(tmp_path: Path) -> None:
    program = linking(uri="y://1")
    async with offer_parts(tmp_path, {"a": program, "b": OfferingServer(resources=[resource("x://1")])}) as each:
        await ready(each.parts, "a", "b")
        assert await linked_by(each.parts, "t") == OF_A


async def test_what_a_read_lists_besides_follows_too(tmp_path: Path) -> None:
    folder = OfferingServer(resources=[resource("x://1"), resource("x://folder")], templates=[template("t://{i}")])
    folder.handlers["resources/read"] = lambda copy, params: {"contents": [{"uri": uri} for uri in ("x://folder", "x://1", "t://7")]}
    other = OfferingServer(resources=[resource("x://1")], templates=[template("t://{i}")])
    async with offer_parts(tmp_path, {"a": folder, "b": other}) as each:
        await ready(each.parts, "a", "b")
        assert await each.read("x://folder") == [{"uri": "x://folder"}, {"uri": OF_A}, {"uri": "tooltray://a/t%3A%2F%2F7"}]


@pytest.mark.parametrize("method", ["tools/call", "resources/read"])
async def test_a_question_with_an_embedded_resource_has_the_uri_that_the_client_knows(tmp_path: Path, method: str) -> None:
    program, other = linking(), linking()

    async def ask(copy: Copy, params: Any) -> Any:
        answer = await copy.ask("sampling/createMessage", {"messages": [{"role": "user", "content": LINK}], "maxTokens": 1})
        return {
            "content": [{"type": "text", "text": answer["content"]["uri"]}],
            "contents": [{"uri": "x://1", "text": answer["content"]["uri"]}],
        }

    program.handlers["resources/read"] = program.calls["t"] = ask
    async with offer_parts(tmp_path, {"a": program, "b": other}) as each:
        await ready(each.parts, "a", "b")
        await each.parts.tools.listing()
        client = each.parts.client(capabilities={"sampling": {}}, answer={"role": "assistant", "content": LINK})
        params = {"name": "a_t", "arguments": {}} if method == "tools/call" else {"uri": OF_A}
        reply = (await answered(each.parts, method, client, **params))["result"]
        assert client.asked.all[0][1]["messages"][0]["content"]["uri"] == OF_A
        assert (reply["content"] if method == "tools/call" else reply["contents"])[0]["text"] == "x://1"  # the answer is free


async def test_a_modern_client_is_asked_with_the_uri_that_it_knows(tmp_path: Path) -> None:
    program, other = linking(), linking()
    program.eras = ("modern",)
    question = {"method": "sampling/createMessage", "params": {"messages": [{"role": "user", "content": LINK}]}}
    program.calls["t"] = lambda copy, params: {"resultType": "input_required", "inputRequests": {"q": question}}
    async with offer_parts(tmp_path, {"a": program, "b": other}) as each:
        await ready(each.parts, "a", "b")
        await each.parts.tools.listing()
        reply = await answered(each.parts, "tools/call", each.parts.client(), is_modern=True, name="a_t", arguments={})
        assert reply["result"]["inputRequests"]["q"]["params"]["messages"][0]["content"]["uri"] == OF_A


async def test_replies_pass_as_they_are_where_no_other_server_has_resources(tmp_path: Path) -> None:
    program = linking()
    program.calls["t"] = lambda copy, params: raw(AS_WRITTEN)
    async with offer_parts(tmp_path, {"a": program, "b": OfferingServer()}) as each:
        await ready(each.parts, "a", "b")
        assert each.resources.publisher("a") is None
        assert each.resources.publisher("nobody") is None
        assert await linked_by(each.parts, "t") == "x://1"
