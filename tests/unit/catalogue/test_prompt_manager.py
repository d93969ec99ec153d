"""prompt_manager.py"""

import asyncio
import json
import threading
from collections.abc import Awaitable
from pathlib import Path

from msgspec import Raw
from tests.fakes.exchanges import exchange_of
from tests.fakes.heard import PATIENCE_S
from tests.fakes.hub_parts import settled
from tests.fakes.offering import OfferingServer, offer_parts, prompt, started_offers
from tests.fakes.scripted_server import raw

from tooltray.catalogue.prompt_manager import PromptManager
from tooltray.catalogue.resource_manager import anybody
from tooltray.catalogue.second_looks import LookPatience
from tooltray.config.naming.published_names import PublishedNames
from tooltray.foundation.events import PromptListChanged
from tooltray.protocol.envelope import Envelope


async def listed(listing: Awaitable[Raw]) -> list[str]:
    return [each["name"] for each in json.loads(bytes(await listing))["prompts"]]


async def test_the_prompts_of_all_servers_are_one_page_sorted_by_name_and_verbatim_but_for_a_name_that_changed(tmp_path: Path) -> None:
    first = OfferingServer(prompts=[prompt("z", vendor={"n": 2**70}), prompt("same", arguments=[{"name": "x"}])])
    second = OfferingServer(prompts=[prompt("same", title="two"), prompt("b")])
    async with offer_parts(tmp_path, {"one": first, "two": second}) as parts:
        await parts.start("one", "two")
        assert json.loads(bytes(await parts.prompts.listing())) == {
            "prompts": [
                prompt("b"),
                prompt("one_same", arguments=[{"name": "x"}]),
                prompt("two_same", title="two"),
                prompt("z", vendor={"n": 2**70}),
            ]
        }
        assert await parts.prompts.listing() is await parts.prompts.listing()
        assert [parts.prompts.count(name) for name in ("one", "two", "none")] == [2, 2, 0]


async def test_lists_are_of_the_servers_that_are_shown_and_names_as_long_as_a_client_accepts(tmp_path: Path) -> None:
    long = "p" * 60
    programs = {name: OfferingServer(prompts=[prompt(name), *more]) for name, more in (("a", []), ("b", [prompt(long)]), ("c", []))}
    async with offer_parts(tmp_path, programs) as parts:
        await parts.start("a", "b", "c")
        (short,) = {name for name in await parts.prompt_names() if name not in programs}
        assert len(short) <= 40
        assert await listed(parts.prompts.listing(60)) == ["a", "b", "c", long]
        assert await listed(parts.prompts.listing(59)) == ["a", "b", "c", short]
        assert await listed(parts.prompts.listing_among("ab".__contains__, 60)) == ["a", "b", long]
        assert [json.loads(bytes(each))["name"] for each in await parts.prompts.definitions("b", 60)] == ["b", long]
        client = parts.servers.get("b").client
        programs["b"].prompts = [prompt("of_instance")]
        for shown, own, names in (("ab", None, ["a"]), ("ab", client, ["a", "of_instance"]), ("ac", client, ["a", "c"])):
            assert await listed(parts.prompts.listing_with(shown.__contains__, {"b": own}, 60)) == names


async def test_first_lists_are_waited_for_by_who_lists_and_by_who_knows_a_name(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("a")])
    go_on = program.hold("prompts/list")
    async with offer_parts(tmp_path, {"s": program}, look_patience=LookPatience(within_s=0.0)) as parts:
        await parts.servers.start("s")
        among, own, definitions = (
            parts.prompts.listing_among(anybody, 0),
            parts.prompts.listing_with(anybody, {}, 0),
            parts.prompts.definitions("s", 0),
        )
        reply = asyncio.create_task(parts.ask("prompts/get", name="a"))
        lists = [asyncio.create_task(listed(each)) for each in (parts.prompts.listing(), among, own)]
        await settled()
        assert not any(task.done() for task in (reply, *lists))
        go_on.set()
        assert "result" in await reply
        assert await asyncio.gather(*lists) == [["a"]] * 3
        assert len(await definitions) == 1


async def test_a_prompt_is_got_from_its_server_under_its_own_name(tmp_path: Path) -> None:
    programs = {"one": OfferingServer(prompts=[prompt("same"), prompt("p.q")]), "two": OfferingServer(prompts=[prompt("same")])}
    async with offer_parts(tmp_path, programs) as parts:
        await parts.start("one", "two")
        await parts.prompt_names()
        assert (await parts.ask("prompts/get", name="two_same", arguments={"a": "1"}))["result"]["description"] == '["same", {"a": "1"}]'
        assert (await parts.ask("prompts/get", name="p_q"))["result"]["description"] == '["p.q", null]'
        assert [asked.copy.name for asked in programs["two"].asked.all if asked.method == "prompts/get"] == ["two"]
        used: list[str] = []
        request = Envelope(method="prompts/get", params=Raw(b'{"name":"two_same"}'))
        for is_reached, is_answered in (("one".__eq__, False), ("two".__eq__, True)):
            reply = await parts.prompts.get(exchange_of(request, parts.parts.client()), is_reached=is_reached, on_used=used.append)
            assert bool(reply.result) == is_answered
            assert used == ["two"] * is_answered


async def test_a_name_that_stands_twice_means_the_prompt_that_was_looked_up(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("a"), prompt("b")])
    async with started_offers(tmp_path, {"s": program}) as parts:
        await parts.prompt_names()
        request = Envelope(method="prompts/get", params=Raw(b'{"name":"b","name":"a"}'))
        await parts.send(request)
        assert bytes(request.params) == b'{"name":"a"}'


async def test_an_ordinary_request_and_its_reply_go_through_as_they_are(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("a")])
    program.handlers["prompts/get"] = lambda copy, params: raw(b'{"messages":[],"n":1e400, "x" : 0.1000000000000000055}')
    async with started_offers(tmp_path, {"s": program}) as parts:
        client = parts.parts.client()
        request = Envelope(method="prompts/get", params=Raw(b'{ "name":"a", "n":1180591620717411303424 }'))
        reply = await parts.prompts.get(exchange_of(request, client))
        assert bytes(reply.result) == b'{"messages":[],"n":1e400, "x" : 0.1000000000000000055}'
        assert bytes(request.params) == b'{ "name":"a", "n":1180591620717411303424 }'


async def test_a_client_that_knows_a_prompt_by_heart_need_not_list_first(tmp_path: Path) -> None:
    async with started_offers(tmp_path, {"s": OfferingServer(prompts=[prompt("a")])}) as parts:
        assert "result" in await parts.ask("prompts/get", name="a")


async def test_a_prompt_that_nobody_has_is_told(tmp_path: Path) -> None:
    async with started_offers(tmp_path, {"s": OfferingServer(prompts=[prompt("a")])}) as parts:
        for _ in range(2):
            assert await parts.ask("prompts/get", name="no") == {"error": {"code": -32602, "message": "Unknown prompt: no"}}


async def test_a_prompt_whose_server_is_gone_is_unknown(tmp_path: Path) -> None:
    async with started_offers(tmp_path, {"s": OfferingServer(prompts=[prompt("a")])}) as parts:
        await parts.prompt_names()
        await parts.parts.conf.remove_server("s")
        assert (await parts.ask("prompts/get", name="a"))["error"]["message"] == "Unknown prompt: a"


async def test_names_stay_over_a_restart_of_the_hub(tmp_path: Path) -> None:
    programs = {"one": OfferingServer(prompts=[prompt("same")]), "two": OfferingServer(prompts=[prompt("same")])}
    async with offer_parts(tmp_path, programs) as parts:
        await parts.start("one", "two")
        assert await parts.prompt_names() == ["one_same", "two_same"]
        await parts.parts.conf.remove_server("two")
        await parts.parts.ended()
    async with offer_parts(tmp_path, known=programs) as parts:
        assert await parts.prompt_names() == ["one_same"]


async def test_names_that_are_forgotten_are_given_anew_and_that_is_news(tmp_path: Path) -> None:
    programs = {"one": OfferingServer(prompts=[prompt("same")]), "two": OfferingServer(prompts=[prompt("same")]), "three": OfferingServer()}
    async with offer_parts(tmp_path, programs) as parts:
        await parts.start("one", "two", "three")
        await parts.prompt_names()
        await parts.parts.conf.remove_server("two")
        assert await parts.prompt_names() == ["one_same"]
        told = len(parts.heard.of(PromptListChanged))
        await parts.prompts.forget_names()
        assert parts.heard.of(PromptListChanged)[told:] == [PromptListChanged("one")]
        assert "result" in await parts.ask("prompts/get", name="same")
        assert await parts.prompt_names() == ["same"]


class SlowNames(PublishedNames):
    """Names that a test lets be given."""

    asked, may_answer = threading.Event(), threading.Event()

    def publish(self, *args: object, **kwargs: object) -> dict[tuple[str, str], str]:
        self.asked.set()
        self.may_answer.wait(PATIENCE_S)
        return super().publish(*args, **kwargs)  # type: ignore[arg-type]


async def test_a_change_while_the_list_is_made_is_in_it_and_who_gives_up_leaves_no_old_list(tmp_path: Path) -> None:
    async with started_offers(tmp_path, {"s": OfferingServer(prompts=[prompt("a")])}) as parts:
        names, hub = SlowNames(tmp_path / "slow.json"), parts.parts
        prompts = PromptManager(
            servers=hub.servers, offers=parts.offers, names=names, looks=hub.looks, relay=hub.linking_relay, bus=hub.bus
        )
        listing, given_up = (asyncio.create_task(prompts.listing()) for _ in range(2))
        await asyncio.to_thread(SlowNames.asked.wait, PATIENCE_S)
        await parts.servers.stop("s")
        given_up.cancel()
        SlowNames.may_answer.set()
        assert bytes(await listing) == b'{"prompts":[]}'
        assert bytes(await prompts.listing()) == b'{"prompts":[]}'
