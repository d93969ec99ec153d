"""presenter/offers.py"""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import settled
from tests.fakes.offering import OfferingServer, OfferParts, offer_parts, prompt, resource, template
from tests.fakes.scripted_server import error, never

from tooltray.events import PromptListChanged, ResourceListChanged, ServerState
from tooltray.presenter.offers import ERROR_LISTED_FOR_S
from tooltray.tools.offer import KINDS, PROMPTS, RESOURCES, TEMPLATES, OfferKind
from tooltray.wire.eras import Era

FOR_EVER = {"first_listing_wait_s": 600.0}


def all_kinds(*, eras: tuple[str, ...] = ("legacy",)) -> OfferingServer:
    return OfferingServer(prompts=[prompt("p")], resources=[resource("x://1")], templates=[template("x://{i}")], eras=eras)


def keys(parts: OfferParts, kind: OfferKind, server: str = "s") -> list[str]:
    return [offer.key for offer in parts.offers.offered(kind)[server]]


def of_all(parts: OfferParts, server: str = "s") -> list[list[str]]:
    return [keys(parts, kind, server) for kind in KINDS]


def news(parts: OfferParts) -> list[Any]:
    return parts.heard.of(PromptListChanged, ResourceListChanged)


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


async def test_all_pages_are_one_and_what_cannot_be_used_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    program = OfferingServer(prompts=[])
    pages = {None: {"prompts": [prompt("a")], "nextCursor": "2"}, "2": {"prompts": [prompt("b"), prompt("a")]}}
    program.handlers["prompts/list"] = lambda copy, params: pages[params.get("cursor")]
    async with offer_parts(tmp_path, {"s": program}) as parts:
        await parts.start("s")
        assert keys(parts, PROMPTS) == ["a", "b"]
        assert "'s': prompts: number 3 of the list is left out: 'a' stands in it before" in caplog.text


async def test_a_change_is_listed_anew_and_only_a_real_one_is_news(tmp_path: Path) -> None:
    program = all_kinds()
    async with offer_parts(tmp_path, {"s": program}) as parts:
        await parts.start("s")
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


async def test_a_change_during_a_listing_is_never_overwritten_by_what_was_asked_before(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("p")])
    answers: list[asyncio.Future[Any]] = []

    async def answer(copy: Any, params: Any) -> Any:
        answers.append(asyncio.get_running_loop().create_future())
        return await answers[-1]

    program.handlers["prompts/list"] = answer
    async with offer_parts(tmp_path, {"s": program}) as parts:
        await parts.servers.start("s")
        await program.request("prompts/list")
        program.copy.notify("notifications/prompts/list_changed")
        await settled()
        assert len(answers) == 1
        answers[0].set_result({"prompts": [prompt("old")]})
        await program.request("prompts/list", count=2)
        assert not parts.offers.listed(parts.servers.get("s")).is_set()
        answers[1].set_result({"prompts": [prompt("new")]})
        await parts.heard.event(PromptListChanged)
        assert keys(parts, PROMPTS) == ["new"]
        assert len(news(parts)) == 1


async def test_a_copy_that_dies_while_it_lists_is_followed_by_the_next_one(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("p")])
    deaths = iter([True])
    program.handlers["prompts/list"] = lambda copy, params: copy.die() if next(deaths, False) else {"prompts": program.prompts}
    async with offer_parts(tmp_path, {"s": program}, **FOR_EVER) as parts:
        parts.servers.get("s").start()
        assert await parts.prompt_names() == ["p"]


async def test_a_sudden_empty_list_is_believed_only_if_it_still_is_empty_after_a_while(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("p")])
    async with offer_parts(tmp_path, {"s": program}, empty_confirmed_after_s=0.01) as parts:
        await parts.start("s")
        lists = iter([[], [prompt("q")]])
        program.handlers["prompts/list"] = lambda copy, params: {"prompts": next(lists, [])}
        program.copy.notify("notifications/prompts/list_changed")
        await parts.heard.event(PromptListChanged, count=2)
        assert keys(parts, PROMPTS) == ["q"]
        program.copy.notify("notifications/prompts/list_changed")
        await parts.heard.event(PromptListChanged, count=3)
        assert keys(parts, PROMPTS) == []


async def test_one_list_that_fails_costs_neither_the_others_nor_what_was_known(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    program = all_kinds()
    async with offer_parts(tmp_path, {"s": program}) as parts:
        await parts.start("s")
        program.handlers["resources/list"] = lambda copy, params: error(-32603, "not ready")
        program.templates = [template("y://{i}")]
        program.copy.notify("notifications/resources/list_changed")
        await parts.heard.event(ResourceListChanged, count=3)
        assert of_all(parts) == [["p"], ["x://1"], ["y://{i}"]]
        assert "the resources of 's' could not be listed: it answered resources/list with an error. not ready" in caplog.text


async def test_what_else_changes_of_a_server_is_no_reason_to_list_it(tmp_path: Path) -> None:
    program = all_kinds()
    async with offer_parts(tmp_path, {"s": program}) as parts:
        await parts.start("s")
        await parts.parts.conf.set_server("s", {"command": "s", "autoApprove": []})
        await settled()
        assert [program.count(kind.method) for kind in KINDS] == [1, 1, 1]


# waiting


async def test_the_first_list_waits_for_servers_that_were_never_listed(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("p")])
    go_on = program.hold("prompts/list")
    async with offer_parts(tmp_path, {"s": program}, **FOR_EVER) as parts:
        parts.servers.get("s").start()
        listing = asyncio.create_task(parts.prompt_names())
        await program.request("prompts/list")
        assert not listing.done()
        go_on.set()
        assert await listing == ["p"]


async def test_the_first_list_waits_a_bounded_time_and_not_a_second_time(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("p")])
    go_on = program.hold("initialize")
    async with offer_parts(tmp_path, {"s": program}, first_listing_wait_s=0.02) as parts:
        parts.servers.get("s").start()
        assert await parts.prompt_names() == []
        again = asyncio.create_task(parts.prompt_names())
        await settled()
        assert again.done()
        go_on.set()
        await parts.heard.event(PromptListChanged)
        assert await parts.prompt_names() == ["p"]


async def test_nobody_waits_for_a_server_that_is_given_up_or_cannot_list(tmp_path: Path) -> None:
    dying, silent = OfferingServer(), OfferingServer(prompts=[])
    dying.handlers["initialize"] = lambda copy, params: copy.die()
    silent.handlers["prompts/list"] = lambda copy, params: error(-32603, "no")
    async with offer_parts(tmp_path, {"dying": dying, "silent": silent}, **FOR_EVER) as parts:
        for server in parts.servers:
            server.start()
        assert await parts.prompt_names() == []


async def test_nobody_waits_for_a_server_that_is_removed_meanwhile(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("p")])
    program.handlers["initialize"] = never
    async with offer_parts(tmp_path, {"s": program}, **FOR_EVER) as parts:
        parts.servers.get("s").start()
        await program.request("initialize")
        listing = asyncio.create_task(parts.prompt_names())
        await asyncio.sleep(0)
        await parts.parts.conf.remove_server("s")
        assert await listing == []


# on disk


async def test_the_last_known_lists_are_served_at_once_and_then_corrected(tmp_path: Path) -> None:
    async with offer_parts(tmp_path, {"s": all_kinds(), "bare": OfferingServer()}) as parts:
        await parts.start("s", "bare")
        await parts.parts.ended()
    program = OfferingServer(prompts=[prompt("new")], resources=[resource("x://1")])
    async with offer_parts(tmp_path, known={"program": program}, **FOR_EVER) as parts:
        assert await parts.prompt_names() == ["p"]
        assert await parts.uris() == ["x://1"]
        assert [server.name for server in parts.offers.declaring(RESOURCES)] == ["s"]
        assert all(parts.offers.listed(server).is_set() for server in parts.servers if not server.is_builtin)
        parts.parts.programs = {"s": program}
        told = len(parts.heard.of(ResourceListChanged))
        await parts.start("s")
        await parts.heard.event(ResourceListChanged, count=told + 1)
        assert of_all(parts) == [["new"], ["x://1"], []]


async def test_a_list_that_is_as_it_was_is_not_written_again(tmp_path: Path) -> None:
    program = all_kinds()
    async with offer_parts(tmp_path, {"s": program}) as parts:
        await parts.start("s")
        await parts.parts.ended()
    files = [path for path in (tmp_path / "catalogue").iterdir() if any(kind.name in path.name for kind in KINDS)]
    before = [file.stat().st_mtime_ns for file in files]
    assert len(before) == 3
    async with offer_parts(tmp_path, known={"s": program}) as parts:
        told = len(news(parts))
        await parts.start("s")
        await program.request("resources/templates/list", count=2)
        await settled()
        assert len(news(parts)) == told
        await parts.parts.ended()
    assert [file.stat().st_mtime_ns for file in files] == before


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


async def test_a_server_that_is_removed_while_it_lists_leaves_nothing_on_the_disk(tmp_path: Path) -> None:
    program = all_kinds()
    go_on = program.hold("resources/list")
    async with offer_parts(tmp_path, {"s": program}) as parts:
        await parts.servers.start("s")
        await program.request("resources/list")
        await parts.parts.conf.remove_server("s")
        go_on.set()
        await parts.parts.ended()
    assert list((tmp_path / "catalogue").iterdir()) == []


# states of a server


async def test_a_stopped_server_offers_nothing_and_a_restarted_one_is_listed_anew(tmp_path: Path) -> None:
    program = all_kinds()
    async with offer_parts(tmp_path, {"s": program}) as parts:
        await parts.start("s")
        await parts.servers.stop("s")
        assert of_all(parts) == [[], [], []]
        assert parts.offers.declaring(RESOURCES) == []
        program.prompts = [prompt("q")]
        await parts.servers.start("s")
        await parts.heard.event(PromptListChanged, count=4)
        assert of_all(parts) == [["q"], ["x://1"], ["x://{i}"]]


async def test_a_server_in_error_offers_what_it_did_for_a_while(tmp_path: Path) -> None:
    program = all_kinds()
    async with offer_parts(tmp_path, {"s": program}) as parts:
        await parts.start("s")
        program.handlers["initialize"] = lambda copy, params: copy.die()
        program.copy.die()
        await parts.heard.state("s", ServerState.ERROR)
        assert of_all(parts) == [["p"], ["x://1"], ["x://{i}"]]
        assert parts.parts.wheel.expire(ERROR_LISTED_FOR_S) >= 1
        assert of_all(parts) == [[], [], []]
        del program.handlers["initialize"]
        program.handlers["initialize"] = OfferingServer(prompts=[]).handlers["initialize"]
        await parts.start("s")
        assert keys(parts, PROMPTS) == ["p"]


async def test_nothing_is_left_of_a_server_in_error_that_is_removed(tmp_path: Path) -> None:
    program = all_kinds()
    async with offer_parts(tmp_path, {"s": program}) as parts:
        await parts.start("s")
        program.handlers["initialize"] = lambda copy, params: copy.die()
        program.copy.die()
        await parts.heard.state("s", ServerState.ERROR)
        await parts.parts.conf.remove_server("s")
        assert parts.parts.wheel.of(ERROR_LISTED_FOR_S) == []


async def test_a_server_with_other_settings_is_listed_anew_and_offers_the_old_until_then(tmp_path: Path) -> None:
    program = all_kinds()
    async with offer_parts(tmp_path, {"s": program}) as parts:
        await parts.start("s")
        program.prompts = [prompt("q")]
        go_on = program.hold("prompts/list")
        await parts.parts.conf.set_server("s", {"command": "s", "args": ["--new"], "autoApprove": ["all"]})
        await program.request("prompts/list", count=2)
        assert keys(parts, PROMPTS) == ["p"]
        go_on.set()
        await parts.heard.event(PromptListChanged, count=2)
        assert keys(parts, PROMPTS) == ["q"]
        await parts.offers.listed(parts.servers.get("s")).wait()
        await parts.parts.ended()
    async with offer_parts(tmp_path, known={"s": program}) as parts:
        assert of_all(parts) == [["q"], ["x://1"], ["x://{i}"]]


async def test_a_list_that_comes_from_a_server_replaced_meanwhile_is_not_taken_over(tmp_path: Path) -> None:
    program = OfferingServer(prompts=[prompt("old")])
    go_on = program.hold("prompts/list")
    async with offer_parts(tmp_path, {"s": program}) as parts:
        await parts.servers.start("s")
        await program.request("prompts/list")
        program.may_end.clear()
        await parts.parts.conf.set_server("s", {"command": "s", "args": ["--new"], "autoApprove": ["all"]})
        program.handlers["prompts/list"] = lambda copy, params: {"prompts": [prompt("new")]}
        go_on.set()
        await settled()
        assert keys(parts, PROMPTS) == []
        program.may_end.set()
        await parts.heard.event(PromptListChanged)
        assert keys(parts, PROMPTS) == ["new"]


async def test_servers_that_run_are_asked_before_others(tmp_path: Path) -> None:
    programs = {"a": OfferingServer(resources=[]), "b": OfferingServer(resources=[])}
    async with offer_parts(tmp_path, programs) as parts:
        await parts.start("a", "b")
        await parts.servers.stop("a", then=ServerState.ON_DEMAND)
        assert [server.name for server in parts.offers.declaring(RESOURCES)] == ["b", "a"]


async def test_a_server_that_was_never_listed_is_started_for_it_and_rests_when_all_is_listed(tmp_path: Path) -> None:
    program = all_kinds()
    go_on = program.hold("resources/templates/list")
    async with offer_parts(tmp_path, {"s": program}) as parts:
        parts.parts.tools.list_unknown_servers()
        await program.request("resources/templates/list")
        await parts.parts.heard.event(PromptListChanged)
        await settled()
        assert parts.servers.get("s").state is ServerState.RUNNING
        go_on.set()
        await parts.heard.state("s", ServerState.ON_DEMAND)
        assert of_all(parts) == [["p"], ["x://1"], ["x://{i}"]]
        parts.parts.tools.list_unknown_servers()
        await settled()
        assert len(program.copies.all) == 1


async def test_a_server_of_which_only_the_tools_are_known_is_started_to_list_the_rest(tmp_path: Path) -> None:
    program = all_kinds()
    async with offer_parts(tmp_path, {"s": program}) as parts:
        await parts.start("s")
        await parts.parts.ended()
    for file in (tmp_path / "catalogue").glob("*.prompts.jsonl"):
        file.unlink()
    async with offer_parts(tmp_path, known={"s": program}, **FOR_EVER) as parts:
        parts.parts.tools.list_unknown_servers()
        assert await parts.prompt_names() == ["p"]


async def test_what_the_copy_for_another_era_says_is_told_on_although_its_lists_are_not_kept(tmp_path: Path) -> None:
    program = all_kinds(eras=("legacy", "modern"))
    async with offer_parts(tmp_path, {"s": program}) as parts:
        await parts.start("s")
        await parts.servers.get("s").running(Era.LEGACY, timeout_s=10)
        before = len(news(parts))
        program.copy.notify("notifications/resources/list_changed")
        await parts.heard.event(ResourceListChanged, count=3)
        assert news(parts)[before:] == [ResourceListChanged("s")]
