"""offers.py"""

import logging
from pathlib import Path

import pytest
from tests.fakes.hub_parts import settled
from tests.fakes.offering import OfferingServer, all_kinds, keys, news, of_all, offer_parts, prompt, resource, started_offers

from tooltray.catalogue.offer import PROMPTS, RESOURCES, TEMPLATES
from tooltray.foundation.events import PromptListChanged, ResourceListChanged
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.protocol.eras import Era

# listing


@pytest.mark.parametrize("eras", [("legacy",), ("modern",), ("legacy", "modern")])
async def test_what_a_server_offers_is_listed_when_it_has_opened(tmp_path: Path, eras: tuple[str, ...]) -> None:
    async with offer_parts(tmp_path, {"s": all_kinds(eras=eras)}) as parts:
        assert of_all(parts) == [[], [], []]
        await parts.start("s")
        assert of_all(parts) == [["p"], ["x://1"], ["x://{i}"]]
        assert news(parts) == [PromptListChanged("s"), ResourceListChanged("s"), ResourceListChanged("s")]


async def test_a_server_is_asked_only_for_what_it_declares(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("p")])
    async with offer_parts(tmp_path, {"s": program, "none": (none := OfferingServer())}) as parts:
        await parts.start("s", "none")
        assert (program.count("prompts/list"), program.count("resources/list"), program.count("resources/templates/list")) == (1, 0, 0)
        assert none.count("prompts/list") == 0
        assert [server.name for server in parts.offers.declaring(PROMPTS)] == ["s"]
        assert parts.offers.declaring(TEMPLATES) == []
        assert [parts.offers.is_declared(name, PROMPTS) for name in ("s", "none", "gone")] == [True, False, False]


async def test_all_pages_are_one_and_what_cannot_be_used_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    program = OfferingServer(prompts=[])
    pages = {None: {"prompts": [prompt("a")], "nextCursor": "2"}, "2": {"prompts": [prompt("b"), prompt("a")]}}
    program.handlers["prompts/list"] = lambda copy, params: pages[params.get("cursor")]
    async with started_offers(tmp_path, {"s": program}) as parts:
        assert keys(parts, PROMPTS) == ["a", "b"]
        assert "'s': prompts: number 3 of the list is left out: 'a' is already in the list" in caplog.text


async def test_a_change_is_listed_anew_and_only_a_real_one_is_news(tmp_path: Path) -> None:
    program = all_kinds()
    async with started_offers(tmp_path, {"s": program}) as parts:
        before = len(news(parts))
        program.copy.notify("notifications/prompts/list_changed")
        program.copy.notify("notifications/tools/list_changed")
        await program.request("prompts/list", count=2)
        await settled()
        assert news(parts)[before:] == []
        assert program.count("resources/list") == 1
        program.resources = [resource("x://2")]
        program.copy.notify("notifications/resources/list_changed")
        await parts.heard.event(ResourceListChanged, count=3)
        assert of_all(parts) == [["p"], ["x://2"], ["x://{i}"]]
        assert program.count("prompts/list") == 2
        assert news(parts)[before:] == [ResourceListChanged("s")]


# on disk


async def test_what_a_removed_server_offered_is_gone_also_from_the_disk(tmp_path: Path) -> None:
    async with offer_parts(tmp_path, {"s": all_kinds(), "bare": OfferingServer()}) as parts:
        await parts.start("s", "bare")
        before = len(news(parts))
        await parts.parts.conf.remove_server("s")
        await parts.parts.conf.remove_server("bare")
        assert parts.offers.offered(PROMPTS) == {}
        assert news(parts)[before:] == [PromptListChanged("s"), ResourceListChanged("s")]
        await parts.parts.ended()
    assert list((tmp_path / "catalogue").iterdir()) == []


# states of a server


async def test_a_stopped_server_offers_nothing_and_a_restarted_one_is_listed_anew(tmp_path: Path) -> None:
    program = all_kinds()
    async with started_offers(tmp_path, {"s": program}) as parts:
        await parts.servers.stop("s")
        assert of_all(parts) == [[], [], []]
        assert parts.offers.declaring(RESOURCES) == []
        program.prompts = [prompt("q")]
        await parts.servers.start("s")
        await parts.heard.event(PromptListChanged, count=4)
        assert of_all(parts) == [["q"], ["x://1"], ["x://{i}"]]


async def test_servers_that_run_are_asked_before_others(tmp_path: Path) -> None:
    programs = {"a": OfferingServer(resources=[]), "b": OfferingServer(resources=[])}
    async with offer_parts(tmp_path, programs) as parts:
        await parts.start("a", "b")
        await parts.servers.get("a").stop(then=ServerState.ON_DEMAND)
        assert [server.name for server in parts.offers.declaring(RESOURCES)] == ["b", "a"]


async def test_what_the_copy_for_another_era_says_is_told_on_although_its_lists_are_not_kept(tmp_path: Path) -> None:
    program = all_kinds(eras=("legacy", "modern"))
    async with started_offers(tmp_path, {"s": program}) as parts:
        await parts.servers.get("s").running(Era.LEGACY, timeout_s=10)
        before = len(news(parts))
        program.copy.notify("notifications/resources/list_changed")
        await parts.heard.event(ResourceListChanged, count=3)
        assert news(parts)[before:] == [ResourceListChanged("s")]
