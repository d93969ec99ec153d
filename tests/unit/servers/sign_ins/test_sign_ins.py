"""sign_ins.py, sign_in_flow.py, api.py and what they work with, as one, with a real authorization server on the loopback."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.authorization_server import authorizing, browse, hangs, query_of, sign_in_elsewhere
from tests.fakes.hub_parts import hub_parts, settled
from tests.fakes.sign_in_hub import (
    ERROR,
    NEEDS_SIGN_IN,
    RUNNING,
    hub,
    problems,
    sign_in,
    snapshot,
    start,
    state,
    wants_sign_in,
    whoami,
)

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ServerChanged
from tooltray.servers.sign_ins.tokens import TokenStore


async def test_a_server_that_wants_a_sign_in_says_so_once_and_calls_fail_fast(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        said = await wants_sign_in(parts)
        assert "'far' wants you to sign in" in said
        assert "tooltray servers sign-in far" in said
        asked = len(server.mcp.hits.all), len(server.asked.all)
        reply = await parts.call("whoami")
        assert "wants you to sign in" in str(reply) or "error" in reply
        await settled()
        assert [problem.problem.title for problem in problems(parts)] == ["'far' wants you to sign in"]
        assert (len(server.mcp.hits.all), len(server.asked.all)) == asked
        assert not snapshot(parts).is_signed_in


async def test_a_person_signs_in_and_the_server_starts(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await wants_sign_in(parts)
        page = await parts.presenter.begin_sign_in("far")
        assert snapshot(parts).has_sign_in_page
        assert (await parts.presenter.begin_sign_in("far")) == page
        assert "You can close this page" in (await browse(page.url)).text
        await parts.presenter.finish_sign_in("far")
        await state(parts, RUNNING)
        assert await whoami(parts) == "signed in for: notes:read notes:write"
        assert (snapshot(parts).is_signed_in, snapshot(parts).has_sign_in_page) == (True, False)
        told = [each.server for each in parts.heard.of(ServerChanged)]
        assert any(each.has_sign_in_page for each in told)
        await parts.presenter.finish_sign_in("far")  # it is over, and was well


async def test_renewed_tokens_are_masked_in_logs_before_they_are_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(*_: object, **__: object) -> None:
        raise TooltrayError("the keyring is locked")

    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        before = set(server.access)
        server.end_access_tokens()
        monkeypatch.setattr(TokenStore, "save", fails)
        assert await whoami(parts)
        [token] = set(server.access) - before
        assert token in parts.secrets.known_values()


async def test_who_signs_in_to_a_server_that_was_stopped_starts_it_for_good(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await wants_sign_in(parts)
        await parts.presenter.stop_server("far")
        page = await parts.presenter.begin_sign_in("far")
        await browse(page.url)
        await state(parts, RUNNING)
        assert json.loads(parts.home.stopped.read_bytes()) == {"servers": []}


async def test_a_sign_in_that_nobody_waits_for_counts_all_the_same(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        page = await parts.presenter.begin_sign_in("far")  # nobody has started the server: it is asked what it wants
        await browse(page.url)
        await state(parts, RUNNING)
        assert await whoami(parts)


async def test_where_to_sign_in_is_learnt_from_the_refusal(tmp_path: Path) -> None:
    async with authorizing(needs_scope="notes:write") as server, hub(tmp_path, server) as parts:
        await parts.presenter.begin_sign_in("far")
        assert server.mcp.hits.all == []
        assert parts.servers.get("far").state is NEEDS_SIGN_IN
        await parts.presenter.cancel_sign_in("far")


async def test_a_server_over_sse_that_wants_a_sign_in_says_so_too(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server, type="sse") as parts:
        assert "wants you to sign in" in await wants_sign_in(parts)
        page = await parts.presenter.begin_sign_in("far")
        await browse(page.url)
        await parts.presenter.finish_sign_in("far")
        hit = await server.mcp.hit(method="GET")
        assert hit.headers["Authorization"].removeprefix("Bearer ") in server.access


async def test_a_paused_hub_signs_in_and_starts_nothing(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await parts.presenter.set_mcp_enabled(False)
        page = await parts.presenter.begin_sign_in("far")
        await browse(page.url)
        await parts.presenter.finish_sign_in("far")
        await parts.ended()
        assert snapshot(parts).is_signed_in
        assert server.mcp.hits.all == []


async def test_the_address_at_which_the_browser_ended_can_be_given_by_hand(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        page = await parts.presenter.begin_sign_in("far")
        address = await sign_in_elsewhere(page.url)
        state_of_it = query_of(address)["state"]
        for wrong in ("nonsense", address.replace(state_of_it, "other")):
            with pytest.raises(TooltrayError):
                await parts.presenter.finish_sign_in("far", wrong)
        assert snapshot(parts).has_sign_in_page
        await parts.presenter.finish_sign_in("far", address)
        await state(parts, RUNNING)
        await parts.presenter.finish_sign_in("far", address)  # it is over


async def test_a_person_who_declines_is_told_so_and_may_begin_again(tmp_path: Path) -> None:
    async with authorizing(consents=False) as server, hub(tmp_path, server) as parts:
        page = await parts.presenter.begin_sign_in("far")
        await browse(page.url)
        with pytest.raises(TooltrayError, match="declined"):
            await parts.presenter.finish_sign_in("far")
        assert not snapshot(parts).has_sign_in_page
        server.consents = True
        await sign_in(parts)


async def test_a_cancelled_sign_in_ends_for_all_who_wait(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await parts.presenter.cancel_sign_in("far")  # there is none
        page = await parts.presenter.begin_sign_in("far")
        waiting = asyncio.ensure_future(parts.sign_ins.finish("far"))
        await settled()
        await parts.presenter.cancel_sign_in("far")
        with pytest.raises(TooltrayError, match="cancelled"):
            await waiting
        assert not snapshot(parts).has_sign_in_page
        with pytest.raises(OSError, match="annot connect"):
            await browse(query_of(page.url)["redirect_uri"])
        with pytest.raises(TooltrayError, match="cancelled"):
            await parts.presenter.finish_sign_in("far")


async def test_a_sign_in_that_is_cancelled_before_its_page_is_known_says_so(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        server.answers["/register"] = hangs
        beginning = asyncio.ensure_future(parts.presenter.begin_sign_in("far"))
        await server.asked.wait(lambda asked: asked.path == "/register")
        address = "http://127.0.0.1:1/callback?code=c&state=s"
        with pytest.raises(TooltrayError, match="does not belong"):
            await parts.presenter.finish_sign_in("far", address)
        await parts.presenter.cancel_sign_in("far")
        with pytest.raises(TooltrayError, match="cancelled"):
            await beginning


async def test_the_hubs_end_ends_what_waits_for_a_browser(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        page = await parts.presenter.begin_sign_in("far")
        await parts.sign_ins.close()
        with pytest.raises(TooltrayError, match="cancelled"):
            await parts.presenter.finish_sign_in("far")
        with pytest.raises(OSError, match="annot connect"):
            await browse(query_of(page.url)["redirect_uri"])


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"headers": {"authorization": "Bearer mine"}}, "its settings already contain credentials"),
        ({"url": "http://ann:pw@127.0.0.1:9/mcp"}, "its settings already contain credentials"),
        ({"url": "http://far.example/mcp"}, "not encrypted"),
        ({"url": "http://[::1/mcp"}, "not encrypted"),
        ({"oauth": False}, "`oauth` is false"),
        ({"url": None, "command": "far"}, "it does not run elsewhere"),
        ({"oauth": {"grant": "client_credentials", "clientId": "c", "clientSecret": "dummy"}}, "signs in automatically"),
    ],
)
async def test_where_nobody_can_sign_in_that_is_said(tmp_path: Path, fields: dict[str, Any], said: str) -> None:
    async with authorizing() as server, hub(tmp_path, server, **fields) as parts:
        with pytest.raises(TooltrayError, match=said):
            await parts.presenter.begin_sign_in("far")
        with pytest.raises(TooltrayError, match="no sign-in to 'far' has begun"):
            await parts.presenter.finish_sign_in("far")


async def test_verbs_about_no_server_say_so(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={}) as parts:
        presenter = parts.presenter
        for verb in (presenter.begin_sign_in, presenter.finish_sign_in, presenter.cancel_sign_in, presenter.sign_out):
            with pytest.raises(TooltrayError, match="server 'none' not found"):
                await verb("none")


@pytest.mark.parametrize("fields", [{"headers": {"Authorization": "Bearer mine"}}, {"oauth": False}])
async def test_where_the_settings_say_what_lets_in_a_401_is_an_error_as_ever(tmp_path: Path, fields: dict[str, Any]) -> None:
    async with authorizing() as server, hub(tmp_path, server, **fields) as parts:
        with pytest.raises(TooltrayError, match="HTTP 401"):
            await start(parts)
        assert parts.servers.get("far").state is ERROR
        assert server.asked.all == []
