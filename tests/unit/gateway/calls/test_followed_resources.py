"""notifications.py, api.py: resources that the window follows, and completions."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import settled
from tests.fakes.offering import OfferingServer, OfferParts, offer_parts, prompt, resource, template
from tests.fakes.refusal import refusal
from tests.fakes.scripted_server import Copy, error

from tooltray.foundation.events import ResourceUpdated
from tooltray.gateway.calls import notifications

UPDATED = "notifications/resources/updated"


@pytest.fixture
def program() -> OfferingServer:
    program = OfferingServer(prompts=[prompt("p")], resources=[resource("x://1")], templates=[template("x://{i}")])
    program.handlers["resources/subscribe"] = program.handlers["resources/unsubscribe"] = lambda copy, params: {}
    return program


@pytest.fixture
async def parts(tmp_path: Path, program: OfferingServer) -> AsyncIterator[OfferParts]:
    async with offer_parts(tmp_path, {"a": program}) as parts:
        await parts.start("a")
        await parts.prompt_names()
        yield parts


async def test_an_update_of_what_is_followed_is_told_until_the_last_one_leaves(parts: OfferParts, program: OfferingServer) -> None:
    presenter = parts.parts.presenter
    program.copy.notify(UPDATED, {"uri": "x://1"})
    await settled()
    for _ in range(2):
        await presenter.subscribe_resource("x://1")
    program.copy.notify(UPDATED, {"uri": "x://1"})
    await parts.parts.heard.event(ResourceUpdated, uri="x://1")
    await presenter.unsubscribe_resource("x://1")
    program.copy.notify("notifications/resources/list_changed")
    program.copy.notify(UPDATED, {"uri": "x://1/part"})
    program.copy.notify(UPDATED, {"uri": "x://1"})
    await parts.parts.heard.event(ResourceUpdated, uri="x://1", count=2)
    assert program.count("resources/unsubscribe") == 0
    for _ in range(2):
        await presenter.unsubscribe_resource("x://1")
    assert program.count("resources/unsubscribe") == 1
    program.copy.notify(UPDATED, {"uri": "x://1"})
    await settled()
    assert len(parts.parts.heard.of(ResourceUpdated)) == 2


async def test_after_a_pause_an_update_is_told_at_once_again(
    parts: OfferParts, program: OfferingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "TOLD_EVERY_S", 0.0)
    await parts.parts.presenter.subscribe_resource("x://1")
    for count in (1, 2):
        program.copy.notify(UPDATED, {"uri": "x://1"})
        await parts.parts.heard.event(ResourceUpdated, uri="x://1", count=count)
        program.copy.notify("notifications/resources/list_changed", {"uri": "x://1"})
        await settled()
        assert len(parts.parts.heard.of(ResourceUpdated)) == count


async def test_what_another_session_follows_is_not_told_here(parts: OfferParts, program: OfferingServer) -> None:
    await parts.parts.presenter.subscribe_resource("x://1")
    await parts.parts.subscriptions.subscribe(parts.parts.client(), parts.parts.servers.get("a"), "x://2")
    program.copy.notify(UPDATED, {"uri": "x://2"})
    program.copy.notify(UPDATED, {"uri": "x://1"})
    assert await parts.parts.heard.event(ResourceUpdated) == ResourceUpdated("x://1")


@pytest.mark.parametrize("said", [error(-32601, "no such method"), error(-1, "")])
async def test_what_cannot_be_followed_says_why(parts: OfferParts, program: OfferingServer, said: Any) -> None:
    program.handlers["resources/subscribe"] = lambda copy, params: said
    assert (await refusal(parts.parts.presenter.subscribe_resource("x://1"))).startswith("'a' does not report changes of this resource")
    await parts.parts.presenter.unsubscribe_resource("x://1")


async def test_where_no_server_has_resources_there_is_nothing_to_follow(tmp_path: Path) -> None:
    async with offer_parts(tmp_path, {"a": OfferingServer(prompts=[])}) as parts:
        await parts.start("a")
        assert await refusal(parts.parts.presenter.subscribe_resource("gone://1")) == "Resource 'gone://1' not found"


async def test_arguments_of_prompts_and_variables_of_templates_are_completed(parts: OfferParts, program: OfferingServer) -> None:
    def complete(copy: Copy, params: Any) -> Any:
        return {"completion": {"values": [params["ref"].get("name") or params["ref"]["uri"], *params["context"]["arguments"], 7]}}

    program.handlers["completion/complete"] = complete
    assert await parts.parts.presenter.complete_prompt("p", "n", "v", {"other": "o"}) == ["p", "other"]
    assert await parts.parts.presenter.complete_resource("x://{i}", "i", "v") == ["x://{i}"]
    for odd in ({}, {"completion": {"values": 5}}):
        program.handlers["completion/complete"] = lambda copy, params, odd=odd: odd
        assert await parts.parts.presenter.complete_prompt("p", "n", "v") == []
    assert "Unknown prompt: q" in await refusal(parts.parts.presenter.complete_prompt("q", "n", "v"))
