"""resource_manager.py"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import settled
from tests.fakes.offering import OfferingServer, offer_parts, resource, template
from tests.fakes.scripted_server import error, raw

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
    async with offer_parts(tmp_path, clashing()) as parts:
        await parts.start("a", "b")
        assert json.loads(bytes(await parts.resources.listing())) == {
            "resources": [resource(CLASH["a"], n=2**70), resource("x://a"), resource(CLASH["b"])]
        }
        assert await parts.templates() == ["tooltray://a/x%3A%2F%2F{i}", "a://{i}", "tooltray://b/x%3A%2F%2F{i}"]
        assert await parts.resources.listing() is await parts.resources.listing()


async def test_a_resource_is_read_from_its_server_and_comes_back_under_the_uri_that_was_asked_for(tmp_path: Path) -> None:
    async with offer_parts(tmp_path, clashing()) as parts:
        await parts.start("a", "b")
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


async def test_servers_whose_template_matches_are_the_only_ones_asked(tmp_path: Path) -> None:
    programs = {"other": OfferingServer(resources=[]), "its": OfferingServer(templates=[template("z://{i}")])}
    async with offer_parts(tmp_path, programs) as parts:
        await parts.start(*programs)
        assert await parts.read("z://1") == [{"uri": "z://1", "text": "its: z://1"}]
        assert programs["other"].count("resources/read") == 0


@pytest.mark.parametrize(("is_modern", "code"), [(False, -32002), (True, -32602)])
async def test_a_uri_that_no_server_could_have_is_told_in_the_words_of_the_era(tmp_path: Path, is_modern: bool, code: int) -> None:
    async with offer_parts(tmp_path, {"s": OfferingServer(prompts=[])}) as parts:
        await parts.start("s")
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
    async with offer_parts(tmp_path, clashing()) as parts:
        await parts.start("a", "b")
        await parts.parts.conf.remove_server("b")
        assert await parts.uris() == ["x://1", "x://a"]
        assert await parts.templates() == ["x://{i}", "a://{i}"]
        assert "error" in await parts.ask("resources/read", uri=CLASH["b"])
        assert await parts.read(CLASH["a"]) == [{"uri": CLASH["a"], "text": "a: x://1"}]


async def test_while_everything_is_paused_lists_stay_and_reads_are_refused(tmp_path: Path) -> None:
    async with offer_parts(tmp_path, clashing()) as parts:
        await parts.start("a", "b")
        await parts.parts.conf.set_enabled(False)
        assert "x://a" in await parts.uris()
        assert "paused" in (await parts.ask("resources/read", uri="x://a"))["error"]["message"]


async def test_what_a_server_says_of_a_resource_can_be_told_to_clients_and_back(tmp_path: Path) -> None:
    async with offer_parts(tmp_path, clashing()) as parts:
        await parts.start("a", "b")
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


@pytest.mark.parametrize(("params", "uri"), [(b'{"uri":"x"}', "x"), (b"{}", None), (b"[]", None), (b'{"uri":null}', None)])
def test_the_uri_of_a_request_is_read_if_there_is_one(params: bytes, uri: str | None) -> None:
    assert read_uri(Raw(params)) == uri
