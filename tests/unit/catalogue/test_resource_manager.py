"""resource_manager.py"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import Client, HubParts, settled
from tests.fakes.lazy_hub import answered, ready
from tests.fakes.offering import OfferingServer, offer_parts, resource, started_offers, template
from tests.fakes.scripted_server import Copy, error, raw, tool

from tooltray.catalogue.offer import RESOURCES
from tooltray.catalogue.resource_manager import read_uri
from tooltray.protocol.envelope import Envelope
from tooltray.protocol.eras import Head

CLASH = {"a": "tooltray://a/x%3A%2F%2F1", "b": "tooltray://b/x%3A%2F%2F1"}


def clashing() -> dict[str, Any]:
    return {
        "a": OfferingServer(
            resources=[resource("x://1", n=2**70), resource("x://a")], templates=[template("x://{i}"), template("a://{i}")]
        ),
        "b": OfferingServer(resources=[resource("x://1")], templates=[template("x://{i}")]),
    }


async def test_the_resources_of_all_servers_are_one_page_and_verbatim_where_no_other_server_lists_the_same(tmp_path: Path) -> None:
    async with started_offers(tmp_path, clashing()) as parts:
        assert json.loads(bytes(await parts.resources.listing())) == {
            "resources": [resource(CLASH["a"], n=2**70), resource("x://a"), resource(CLASH["b"])]
        }
        assert await parts.templates() == ["tooltray://a/x%3A%2F%2F{i}", "a://{i}", "tooltray://b/x%3A%2F%2F{i}"]
        assert await parts.resources.listing() is await parts.resources.listing()


async def test_a_session_with_instances_of_its_own_sees_their_resources_and_those_of_the_servers_that_are_shown(tmp_path: Path) -> None:
    servers = {name: OfferingServer(resources=[resource(f"{name}://1")]) for name in "abc"}
    async with started_offers(tmp_path, servers) as parts:
        for own, uris in ((None, ["a://1"]), (parts.servers.get("b").client, ["a://1", "b://1"])):
            listed = json.loads(bytes(await parts.resources.listing_with(RESOURCES, "ab".__contains__, {"b": own})))
            assert [each["uri"] for each in listed["resources"]] == uris


async def test_a_resource_is_read_from_its_server_and_comes_back_under_the_uri_that_was_asked_for(tmp_path: Path) -> None:
    async with started_offers(tmp_path, clashing()) as parts:
        assert await parts.read(CLASH["b"]) == [{"uri": CLASH["b"], "text": "b: x://1"}]
        assert await parts.read("x://a") == [{"uri": "x://a", "text": "a: x://a"}]
        assert await parts.read("a://5") == [{"uri": "a://5", "text": "a: a://5"}]
        assert await parts.read("tooltray://b/x%3A%2F%2Fa%20b") == [{"uri": "tooltray://b/x%3A%2F%2Fa%20b", "text": "b: x://a%20b"}]


async def test_other_uris_in_the_contents_are_those_that_clients_know_and_nothing_else_changes(tmp_path: Path) -> None:
    programs = clashing()
    programs["b"].handlers["resources/read"] = lambda copy, params: raw(
        b'{"contents":[{"uri":"x://1","n":1e400},{"uri":"x://a"},{"uri":"b://7"},{"text":"x://1"},5,{"uri":6}],"_meta":{"uri":"x://1"}}'
    )
    async with offer_parts(tmp_path, programs) as parts:
        await parts.start("a", "b")
        client = parts.parts.client()
        request = Envelope(method="resources/read", params=Raw(b'{"uri":"%b"}' % CLASH["b"].encode()))
        reply = await parts.resources.read(exchange_of(request, client, head=Head()))
        first = b'{"uri":"%b","n":1e400}' % CLASH["b"].encode()
        others = b'{"uri":"tooltray://b/x%3A%2F%2Fa"},{"uri":"b://7"},{"text":"x://1"},5,{"uri":6}'
        assert bytes(reply.result) == b'{"contents":[%b,%b],"_meta":{"uri":"x://1"}}' % (first, others)
        assert bytes(request.params) == b'{"uri":"%b"}' % CLASH["b"].encode()


@pytest.mark.parametrize("result", [b'{"resultType":"input_required","inputRequests":{}}', b'{"contents":{}}'])
async def test_a_result_without_contents_stays_as_it_is(tmp_path: Path, result: bytes) -> None:
    programs = clashing()
    programs["b"].handlers["resources/read"] = lambda copy, params: raw(result)
    async with offer_parts(tmp_path, programs) as parts:
        await parts.start("a", "b")
        assert (await parts.ask("resources/read", uri=CLASH["b"]))["result"] == json.loads(result)


async def test_a_uri_that_nobody_listed_is_read_from_the_first_server_that_has_it(tmp_path: Path) -> None:
    programs = {
        "no": OfferingServer(resources=[]),
        "yes": OfferingServer(resources=[]),
        "never": OfferingServer(resources=[]),
        "prompts": OfferingServer(prompts=[]),
    }
    programs["yes"].handlers["resources/read"] = lambda copy, params: {"contents": [{"uri": params["uri"], "text": "here"}]}
    async with offer_parts(tmp_path, programs) as parts:
        await parts.start(*programs)
        assert await parts.read("z://1") == [{"uri": "z://1", "text": "here"}]
        assert [program.count("resources/read") for program in programs.values()] == [1, 1, 0, 0]
        used: list[str] = []
        request = Envelope(method="resources/read", params=Raw(b'{"uri":"z://1"}'))
        for is_reached, is_answered in (("no".__eq__, False), ("yes".__eq__, True)):
            reply = await parts.resources.read(exchange_of(request, parts.parts.client()), is_reached=is_reached, on_read=used.append)
            assert (bool(reply.result), used) == (is_answered, ["yes"] * is_answered)
        assert [program.count("resources/read") for program in programs.values()] == [2, 2, 0, 0]


async def test_servers_whose_template_matches_are_the_only_ones_asked(tmp_path: Path) -> None:
    programs = {"other": OfferingServer(resources=[]), "its": OfferingServer(templates=[template("z://{i}")])}
    async with offer_parts(tmp_path, programs) as parts:
        await parts.start(*programs)
        assert await parts.read("z://1") == [{"uri": "z://1", "text": "its: z://1"}]
        assert programs["other"].count("resources/read") == 0


@pytest.mark.parametrize(("is_modern", "code"), [(False, -32002), (True, -32602)])
async def test_a_uri_that_no_server_could_have_is_told_in_the_words_of_the_era(tmp_path: Path, is_modern: bool, code: int) -> None:
    async with started_offers(tmp_path, {"s": OfferingServer(prompts=[])}) as parts:
        assert await parts.ask("resources/read", uri="z://1", is_modern=is_modern) == {
            "error": {"code": code, "message": "Resource not found", "data": {"uri": "z://1"}}
        }


async def test_where_no_server_has_a_uri_the_last_one_says_so(tmp_path: Path) -> None:
    programs = {"a": OfferingServer(resources=[]), "b": OfferingServer(resources=[])}
    async with offer_parts(tmp_path, programs) as parts:
        await parts.start("a", "b")
        assert await parts.ask("resources/read", uri="z://1") == {"error": {"code": -32002, "message": "b has no z://1"}}


async def test_a_failed_read_of_a_known_resource_is_its_servers_own_error(tmp_path: Path) -> None:
    programs = clashing()
    programs["b"].handlers["resources/read"] = lambda copy, params: error(-32603, "disk on fire", {"uri": params["uri"]})
    async with offer_parts(tmp_path, programs) as parts:
        await parts.start("a", "b")
        reply = await parts.ask("resources/read", uri=CLASH["b"])
        assert reply == {"error": {"code": -32603, "message": "disk on fire", "data": {"uri": "x://1"}}}


@pytest.mark.parametrize("params", [{}, {"uri": 5}])
async def test_a_read_of_nothing_is_refused(tmp_path: Path, params: Any) -> None:
    async with offer_parts(tmp_path, {"s": OfferingServer(resources=[])}) as parts:
        assert (await parts.ask("resources/read", **params))["error"]["code"] == -32602


async def test_a_client_that_knows_a_uri_by_heart_may_be_faster_than_the_servers(tmp_path: Path) -> None:
    program = OfferingServer(resources=[resource("x://1")])
    go_on = program.hold("resources/list")
    async with offer_parts(tmp_path, {"s": program}) as parts:
        parts.servers.get("s").start()
        await program.request("resources/list")
        reading = asyncio.create_task(parts.read("x://1"))
        await settled()
        assert not reading.done()
        go_on.set()
        assert await reading == [{"uri": "x://1", "text": "s: x://1"}]


async def test_a_resource_of_a_removed_server_is_not_there(tmp_path: Path) -> None:
    async with started_offers(tmp_path, clashing()) as parts:
        await parts.parts.conf.remove_server("b")
        assert await parts.uris() == ["x://1", "x://a"]
        assert await parts.templates() == ["x://{i}", "a://{i}"]
        assert "error" in await parts.ask("resources/read", uri=CLASH["b"])
        assert await parts.read(CLASH["a"]) == [{"uri": CLASH["a"], "text": "a: x://1"}]


async def test_while_everything_is_paused_lists_stay_and_reads_are_refused(tmp_path: Path) -> None:
    async with started_offers(tmp_path, clashing()) as parts:
        await parts.parts.conf.set_enabled(False)
        assert "x://a" in await parts.uris()
        assert "paused" in (await parts.ask("resources/read", uri="x://a"))["error"]["message"]


async def test_what_a_server_says_of_a_resource_can_be_told_to_clients_and_back(tmp_path: Path) -> None:
    async with started_offers(tmp_path, clashing()) as parts:
        assert parts.resources.published_uri("b", "x://1") == CLASH["b"]
        assert parts.resources.target(CLASH["b"]) == ("b", "x://1")
        assert parts.resources.published_uri("a", "x://a") == "x://a"
        assert parts.resources.target("unheard://of") is None


async def test_a_subscription_is_for_the_server_whose_resource_it_is_or_could_be(tmp_path: Path) -> None:
    async with offer_parts(tmp_path, {"prompts": OfferingServer(prompts=[]), **clashing()}) as parts:
        assert await parts.resources.owner("unheard://of") is None
        await parts.start("prompts", "a", "b")
        assert await parts.resources.owner(CLASH["b"]) == (parts.servers.get("b"), "x://1")
        assert await parts.resources.owner("unheard://of") == (parts.servers.get("a"), "unheard://of")
        assert await parts.resources.owner("unheard://of", is_reached="b".__eq__) == (parts.servers.get("b"), "unheard://of")


@pytest.mark.parametrize(("params", "uri"), [(b'{"uri":"x"}', "x"), (b"{}", None), (b"[]", None), (b'{"uri":null}', None)])
def test_the_uri_of_a_request_is_read_if_there_is_one(params: bytes, uri: str | None) -> None:
    assert read_uri(Raw(params)) == uri


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
        for server, uri in (("a", "x://1"), (None, OF_A)):
            exchange = exchange_of(Envelope(method="tools/call", params=Raw(b'{"name":"t"}')), client, server=server)
            reply = await each.parts.linking_relay.send_with_retry(each.servers.get("a"), exchange)
            assert f'"{uri}"'.encode() in bytes(reply.result)


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
