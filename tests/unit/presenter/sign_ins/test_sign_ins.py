"""presenter/sign_ins.py and what it works with, as one, with a real authorization server on the loopback."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.authorization_server import AuthorizationServer, authorizing, browse, hangs, query_of, says, sign_in_elsewhere
from tests.fakes.http_server import Hit, answering
from tests.fakes.hub_parts import QUICK, HubParts, hub_parts, settled
from tests.unit.presenter.sign_ins.test_server_access import GOOD

from tooltray.config.expansion import resolve
from tooltray.config.secret_errors import SecretsDenied, SecretsLocked
from tooltray.errors import TooltrayError
from tooltray.events import ProblemReported, ServerChanged
from tooltray.presenter.instance import Patience
from tooltray.presenter.sign_ins.server_access import ServerAccess
from tooltray.presenter.sign_ins.token_store import TokenStore
from tooltray.servers.authorization import NotLetIn, Refusal
from tooltray.snapshots.servers import ServerState

RUNNING, NEEDS_SIGN_IN, ERROR, STOPPED = ServerState.RUNNING, ServerState.NEEDS_SIGN_IN, ServerState.ERROR, ServerState.STOPPED
ENDED_S = 1e-9  # of a token that lives no longer


def entry(server: AuthorizationServer, **fields: Any) -> dict[str, Any]:
    return {"url": server.mcp_url, "autoApprove": ["all"], **fields}


@asynccontextmanager
async def hub(root: Path, server: AuthorizationServer, patience: Patience = QUICK, **fields: Any) -> AsyncIterator[HubParts]:
    """With one server, `far`; what is kept in memory stays in the file `vault` for the next hub of this folder."""
    async with hub_parts(root, servers={"far": entry(server, **fields)}, patience=patience) as parts:
        vault = root / "vault"
        for name, value in (json.loads(vault.read_text()) if vault.exists() else {}).items():
            await parts.secrets.set(name, value)
        try:
            yield parts
        finally:
            await parts.sign_ins.close()
            vault.write_text(json.dumps({name: await parts.secrets.get(name) for name in await parts.secrets.names()}))


async def state(parts: HubParts, wanted: ServerState, name: str = "far") -> None:
    await parts.heard.until(lambda: parts.servers.get(name).state is wanted)


async def start(parts: HubParts) -> None:
    await parts.presenter.start_server("far")


async def wants_sign_in(parts: HubParts) -> str:
    with pytest.raises(TooltrayError) as refused:
        await start(parts)
    assert parts.servers.get("far").state is NEEDS_SIGN_IN
    return str(refused.value)


async def sign_in(parts: HubParts, name: str = "far") -> None:
    page = await parts.presenter.begin_sign_in(name)
    shown = await browse(page.url)
    assert shown.status == 200
    await parts.presenter.finish_sign_in(name)
    await state(parts, RUNNING, name)
    assert "whoami" in await parts.listed()


async def whoami(parts: HubParts) -> str:
    result = await parts.presenter.call_tool("whoami", {})
    return str(result["content"][0]["text"])


def snapshot(parts: HubParts) -> Any:
    return next(each for each in parts.presenter.snapshot().servers if each.name == "far")


def problems(parts: HubParts) -> list[ProblemReported]:
    return parts.heard.of(ProblemReported)


def texts_of(root: Path) -> str:
    return "".join(path.read_text(errors="replace") for path in root.rglob("*") if path.is_file() and path.name != "vault")


# signing in


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


async def test_an_authorization_server_that_is_not_the_one_asked_for_is_not_trusted(tmp_path: Path) -> None:
    async with authorizing(metadata={"issuer": "https://other.example"}) as server, hub(tmp_path, server) as parts:
        with pytest.raises(TooltrayError, match="not trusted"):
            await parts.presenter.begin_sign_in("far")
        with pytest.raises(TooltrayError, match="not trusted"):
            await parts.presenter.finish_sign_in("far")
        assert not snapshot(parts).has_sign_in_page


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
        ({"headers": {"authorization": "Bearer mine"}}, "says already|say already"),
        ({"url": "http://ann:pw@127.0.0.1:9/mcp"}, "say already"),
        ({"url": "http://far.example/mcp"}, "not encrypted"),
        ({"url": "http://[::1/mcp"}, "not encrypted"),
        ({"oauth": False}, "`oauth` is false"),
        ({"url": None, "command": "far"}, "does not run elsewhere"),
        ({"oauth": {"grant": "client_credentials", "clientId": "c", "clientSecret": "dummy"}}, "signs in by itself"),
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
            with pytest.raises(TooltrayError, match="there is no server 'none'"):
                await verb("none")


@pytest.mark.parametrize("fields", [{"headers": {"Authorization": "Bearer mine"}}, {"oauth": False}])
async def test_where_the_settings_say_what_lets_in_a_401_is_an_error_as_ever(tmp_path: Path, fields: dict[str, Any]) -> None:
    async with authorizing() as server, hub(tmp_path, server, **fields) as parts:
        with pytest.raises(TooltrayError, match="HTTP 401"):
            await start(parts)
        assert parts.servers.get("far").state is ERROR
        assert server.asked.all == []


# tokens over time


async def test_an_expired_token_is_renewed_without_a_word(tmp_path: Path) -> None:
    async with authorizing(lifetime_s=ENDED_S) as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        first = parts.servers.get("far").first
        assert await whoami(parts)
        assert len(server.forms("refresh_token")) >= 1
        assert [each.state for each in (first,)] == [RUNNING]


async def test_a_token_that_is_refused_is_renewed_once_for_all_calls(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        server.end_access_tokens()
        answers = await asyncio.gather(*(whoami(parts) for _ in range(10)))
        assert len(set(answers)) == 1
        assert len(server.forms("refresh_token")) == 1


async def test_after_a_restart_an_expired_token_is_renewed_silently_and_without_the_metadata(tmp_path: Path) -> None:
    async with authorizing(lifetime_s=ENDED_S) as server:
        async with hub(tmp_path, server) as parts:
            await sign_in(parts)
        server.end_access_tokens()
        before = len(server.asked.all)
        async with hub(tmp_path, server) as parts:
            assert snapshot(parts).is_signed_in  # before anything is opened
            await start(parts)
            assert {asked.path for asked in server.asked.all[before:]} == {"/token"}
            assert not problems(parts)
        assert "access-" not in texts_of(tmp_path)
        assert "refresh-" not in texts_of(tmp_path)


async def test_a_sign_in_that_has_ended_there_asks_the_person_again(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        server.end_access_tokens()
        server.end_refresh_tokens()
        with pytest.raises(TooltrayError, match="sign"):
            await whoami(parts)
        await state(parts, NEEDS_SIGN_IN)
        await parts.ended()
        assert not snapshot(parts).is_signed_in
        assert await parts.presenter.get_secret_names() == []
        assert "has ended" in str(problems(parts)[-1].problem)


async def test_a_renewal_that_cannot_be_had_now_leaves_the_tokens_alone(tmp_path: Path) -> None:
    patience = replace(QUICK, remote_retry_after_s=(0.1,))  # it comes back by itself
    async with authorizing() as server, hub(tmp_path, server, patience) as parts:
        await sign_in(parts)
        server.end_access_tokens()
        server.answers["/token"] = says("<h1>down</h1>", 503)
        with pytest.raises(TooltrayError):
            await whoami(parts)
        await parts.heard.until(lambda: parts.servers.get("far").state in (ServerState.RESTARTING, ERROR))
        assert snapshot(parts).is_signed_in
        del server.answers["/token"]
        parts.servers.get("far").start()
        await state(parts, RUNNING)
        assert await whoami(parts)


async def test_a_token_that_is_about_to_expire_serves_while_its_renewal_cannot_be_had(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        config = parts.servers.get("far").config
        access = await parts.sign_ins.authorization("far", config, await resolve(config, secrets=parts.secrets, environ={}), {})
        assert isinstance(access, ServerAccess)
        assert access.tokens
        access.load(replace(access.tokens, expires_at=time.time() + 40))
        server.answers["/token"] = says("<h1>down</h1>", 503)
        assert await whoami(parts)
        assert len(server.forms("refresh_token")) >= 1
        assert snapshot(parts).state is RUNNING


async def test_a_server_that_wants_more_rights_gets_them_beside_those_it_had(tmp_path: Path) -> None:
    async with authorizing(resource_metadata={"scopes_supported": ["notes:read"]}) as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        server.needs_scope = "notes:write"
        with pytest.raises(TooltrayError):
            await whoami(parts)
        await state(parts, NEEDS_SIGN_IN)
        assert "it wants more rights: notes:write" in str(snapshot(parts).problem)
        assert snapshot(parts).is_signed_in
        page = await parts.presenter.begin_sign_in("far")
        assert query_of(page.url)["scope"].split() == ["notes:read", "notes:write"]
        await browse(page.url)
        await state(parts, RUNNING)
        assert await whoami(parts) == "signed in for: notes:read notes:write"


async def test_a_fresh_token_that_is_refused_is_not_renewed_for_ever(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        server.end_access_tokens()
        server.answers["/token"] = says({"access_token": "access-of-nobody", "token_type": "Bearer", "expires_in": 3600})
        with pytest.raises(TooltrayError):
            await whoami(parts)
        await state(parts, NEEDS_SIGN_IN)
        assert len(server.forms("refresh_token")) == 1


async def test_a_client_with_credentials_signs_in_by_itself(tmp_path: Path) -> None:
    oauth = {"grant": "client_credentials", "clientId": "machine", "clientSecret": "${secret:far/CLIENT_SECRET}"}
    async with authorizing() as server, hub(tmp_path, server, oauth=oauth) as parts:
        server.know("machine", secret="dummy-secret", method="client_secret_basic")
        await parts.presenter.set_secret("far/CLIENT_SECRET", "dummy-secret")
        await start(parts)
        assert await whoami(parts)
        server.end_access_tokens()
        assert await whoami(parts)
        assert len(server.forms("client_credentials")) == 2
        assert not snapshot(parts).is_signed_in
        assert await parts.presenter.get_secret_names() == ["far/CLIENT_SECRET"]


async def test_a_client_whose_credentials_are_refused_is_in_error_and_nobody_is_to_sign_in(tmp_path: Path) -> None:
    oauth = {"grant": "client_credentials", "clientId": "machine", "clientSecret": "dummy-wrong"}
    async with authorizing() as server, hub(tmp_path, server, oauth=oauth) as parts:
        server.know("machine", secret="dummy-secret", method="client_secret_basic")
        with pytest.raises(TooltrayError, match="refused"):
            await start(parts)
        assert parts.servers.get("far").state in (ERROR, ServerState.RESTARTING)


async def test_a_client_with_credentials_whose_fresh_token_is_refused_is_in_error(tmp_path: Path) -> None:
    oauth = {"grant": "client_credentials", "clientId": "machine", "clientSecret": "dummy-secret"}
    async with authorizing() as server, hub(tmp_path, server, oauth=oauth) as parts:
        server.answers["/token"] = says({"access_token": "access-of-nobody", "token_type": "Bearer", "expires_in": 3600})
        with pytest.raises(TooltrayError, match="HTTP 401"):
            await start(parts)


async def test_a_client_with_credentials_asks_for_more_rights_by_itself(tmp_path: Path) -> None:
    oauth = {"grant": "client_credentials", "clientId": "machine", "clientSecret": "dummy-secret", "scopes": ["notes:read"]}
    async with authorizing() as server, hub(tmp_path, server, oauth=oauth) as parts:
        server.know("machine", secret="dummy-secret", method="client_secret_basic")
        await start(parts)
        assert await whoami(parts) == "signed in for: notes:read"
        server.needs_scope = "notes:write"
        assert await whoami(parts) == "signed in for: notes:read notes:write"


async def test_what_is_refused_for_another_reason_is_the_servers_own_answer(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        server.mcp.on["tools/call"] = answering(403, "not for you")
        with pytest.raises(TooltrayError, match="refuses access"):
            await whoami(parts)
        server.mcp.on["tools/call"] = answering(401, "", **{"WWW-Authenticate": 'Basic realm="x"'})
        with pytest.raises(TooltrayError, match="HTTP 401"):
            await whoami(parts)
        assert snapshot(parts).state is RUNNING
        assert server.forms("refresh_token") == []


# ending


async def test_signing_out_forgets_the_tokens_here_and_there_and_stops_the_server(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        await parts.presenter.sign_out("far")
        assert (parts.servers.get("far").state, snapshot(parts).is_signed_in) == (STOPPED, False)
        assert len(server.at("/revoke")) == 2
        assert (server.access, server.refresh) == ({}, {})
        assert await parts.presenter.get_secret_names() == []
        with pytest.raises(TooltrayError, match="nobody is signed in"):
            await parts.presenter.sign_out("far")


async def test_after_a_restart_one_can_sign_out_without_starting_the_server(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            await sign_in(parts)
        async with hub(tmp_path, server) as parts:
            await parts.presenter.sign_out("far")
            assert server.refresh == {}
            assert not snapshot(parts).is_signed_in


async def test_one_can_sign_out_of_a_server_whose_settings_cannot_be_filled_in(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            await sign_in(parts)
        async with hub(tmp_path, server, headers={"X": "${NOT_SET}"}) as parts:
            await parts.presenter.sign_out("far")
            assert not snapshot(parts).is_signed_in
            assert await parts.presenter.get_secret_names() == []


async def test_an_authorization_server_that_does_not_answer_holds_up_no_sign_out(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        server.answers["/revoke"] = says("<h1>down</h1>", 503)
        await parts.presenter.sign_out("far")
        assert not snapshot(parts).is_signed_in


@pytest.mark.parametrize("change", ["url", "oauth", "removed"])
async def test_other_settings_or_none_end_the_sign_in(tmp_path: Path, change: str) -> None:
    async with authorizing() as server, authorizing() as other, hub(tmp_path, server) as parts:
        await sign_in(parts)
        await parts.presenter.begin_sign_in("far")  # and one that waits
        match change:
            case "url":
                await parts.presenter.update_mcp_server("far", entry(other))
            case "oauth":
                await parts.presenter.update_mcp_server("far", entry(server, oauth={"scopes": ["notes:read"]}))
            case _:
                await parts.presenter.remove_mcp_server("far")
        await server.asked.wait(lambda asked: asked.path == "/revoke", count=2)
        await parts.sign_ins.close()
        assert await parts.presenter.get_secret_names() == []
        assert not parts.sign_ins.is_signed_in("far")
        assert not parts.sign_ins.has_page("far")
        sent = [hit.headers.get("Authorization") for hit in other.mcp.hits.all]
        assert not any(sent)


async def test_settings_that_say_the_same_in_this_respect_keep_the_sign_in(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        await parts.presenter.update_mcp_server("far", entry(server, descriptions="Notes", headers={"X-Team": "a"}))
        await state(parts, RUNNING)
        assert snapshot(parts).is_signed_in
        assert server.at("/revoke") == []


async def test_a_server_that_is_another_one_meanwhile_gets_no_token_and_the_old_one_finds_its_own_again(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            await sign_in(parts)
        async with hub(tmp_path, server, url=server.mcp_url + "/other") as parts:
            assert not snapshot(parts).is_signed_in
            assert await parts.presenter.get_unused_secrets() == []
        async with hub(tmp_path, server) as parts:
            await start(parts)
            assert snapshot(parts).is_signed_in


@pytest.mark.parametrize("meanwhile", ["", "other"])
async def test_an_edit_of_the_file_ends_no_sign_in(tmp_path: Path, meanwhile: str) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        await parts.presenter.begin_sign_in("far")  # and one that waits
        written = parts.conf.path.read_text()
        parts.conf.path.write_text(written.replace(server.mcp_url, f"{server.mcp_url}/{meanwhile}") if meanwhile else "{}")
        await parts.presenter.reload()
        await parts.presenter.set_mcp_enabled(True)  # something is changed here
        assert not parts.sign_ins.is_signed_in("far") or not meanwhile
        assert not parts.sign_ins.has_page("far")
        assert await parts.presenter.get_secret_names() == ["oauth/far"]
        assert await parts.presenter.get_unused_secrets() == ([] if meanwhile else ["oauth/far"])
        parts.conf.path.write_text(written)
        await parts.presenter.reload()
        await start(parts)
        assert snapshot(parts).is_signed_in
        assert not server.at("/revoke")


async def test_a_server_that_has_not_run_since_the_start_leaves_no_sign_in_behind(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            await sign_in(parts)
        async with hub(tmp_path, server) as parts:
            assert (await parts.presenter.remove_mcp_server("far")).sign_in == "oauth/far"
            assert not parts.sign_ins.is_signed_in("far")
        assert "far" not in (tmp_path / "sign-ins.json").read_text()


async def test_a_removed_server_can_come_back_signed_in_for_a_while(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        gone = await parts.presenter.remove_mcp_server("far", keep_secrets=True)
        assert gone.sign_in == "oauth/far"
        await parts.presenter.add_mcp_server("far", entry(server))
        await start(parts)
        assert snapshot(parts).is_signed_in
        await parts.presenter.remove_mcp_server("far", keep_secrets=True)
        assert await parts.presenter.remove_unused_secrets([gone.sign_in]) == ["oauth/far"]
        await server.asked.wait(lambda asked: asked.path == "/revoke", count=2)
        assert await parts.presenter.get_secret_names() == []


async def test_a_slip_in_the_settings_ends_no_sign_in(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            await sign_in(parts)
        async with hub(tmp_path, server, disable="perhaps") as parts:
            assert parts.servers.find("far") is None
        async with hub(tmp_path, server) as parts:
            await start(parts)
            assert snapshot(parts).is_signed_in


async def test_a_url_with_another_secret_in_it_gets_no_token_of_the_old_one(tmp_path: Path) -> None:
    async with authorizing() as server:
        url = server.mcp_url.replace("/mcp", "/${secret:PATH}")
        async with hub(tmp_path, server, url=url) as parts:
            await parts.presenter.set_secret("PATH", "mcp")
            await sign_in(parts)
            await parts.presenter.set_secret("PATH", "other")
            with pytest.raises(TooltrayError):
                await parts.presenter.restart_server("far")
            assert [asked.headers.get("Authorization") for asked in server.at("/other")] == [None] * len(server.at("/other"))


# where tokens are kept


class Closed:
    """Secrets that cannot be reached, as long as `error` says so."""

    def __init__(self, parts: HubParts, error: TooltrayError) -> None:
        self.error: TooltrayError | None = error
        self._set, self._get = parts.secrets.set, parts.secrets.get
        parts.secrets.set = self.set  # type: ignore[method-assign]
        parts.secrets.get = self.get  # type: ignore[method-assign]

    async def set(self, name: str, value: str, **options: Any) -> None:
        if self.error:
            raise self.error
        await self._set(name, value, **options)

    async def get(self, name: str) -> str:
        if self.error:
            raise self.error
        return await self._get(name)


async def test_without_a_place_for_tokens_they_stay_in_memory_and_that_is_said_once(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        closed = Closed(parts, SecretsDenied("The keyring refused", "no access", "Allow it"))
        await sign_in(parts)
        server.end_access_tokens()
        assert await whoami(parts)
        await parts.heard.until(lambda: bool(parts.presenter.snapshot().notices))
        (notice,) = parts.presenter.snapshot().notices
        assert "will not outlive" in notice.title
        assert len([each for each in problems(parts) if "outlive" in each.problem.title]) == 1
        assert snapshot(parts).is_signed_in
        closed.error = None
        server.end_access_tokens()
        assert await whoami(parts)
        await parts.sign_ins.close()
        assert parts.presenter.snapshot().notices == ()


async def test_a_locked_keyring_is_said_and_the_server_starts_when_it_is_open(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            await sign_in(parts)
        async with hub(tmp_path, server) as parts:
            closed = Closed(parts, SecretsLocked("The keyring is locked", "", "Unlock it"))
            with pytest.raises(TooltrayError, match="locked"):
                await start(parts)
            assert parts.servers.get("far").state is ERROR
            closed.error = None
            await parts.presenter.unlock_secrets("")
            await state(parts, RUNNING)


async def test_one_can_sign_in_anew_while_what_is_kept_cannot_be_read(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            await sign_in(parts)
        async with hub(tmp_path, server) as parts:
            closed = Closed(parts, SecretsLocked("The keyring is locked", "", "Unlock it"))
            await sign_in(parts)
            closed.error = None


async def test_tokens_that_are_no_longer_where_they_were_kept_cost_a_sign_in(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            await sign_in(parts)
            await parts.presenter.remove_secret("oauth/far")
        async with hub(tmp_path, server) as parts:
            assert snapshot(parts).is_signed_in
            await wants_sign_in(parts)
            assert not snapshot(parts).is_signed_in


@pytest.mark.parametrize("content", ["no json", "[]", '{"far": 1}', None])
def test_a_list_that_cannot_be_read_is_empty(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "sign-ins.json"
    if content is None:
        path.mkdir()
    else:
        path.write_text(content)
    secrets: Any = None
    assert TokenStore(path, secrets).kept == {}


@pytest.mark.expected_warnings("could not be written")
async def test_a_list_that_cannot_be_written_does_not_end_the_sign_in(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        (tmp_path / "sign-ins.json").mkdir()
        await sign_in(parts)
        await parts.sign_ins.close()
        assert await whoami(parts)


async def test_tokens_and_those_before_them_are_known_to_the_mask(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        first = set(server.access) | set(server.refresh)
        server.end_access_tokens()
        await whoami(parts)
        second = set(server.access) | set(server.refresh)
        assert first | second <= parts.secrets.known_values()


# several at once


async def test_each_clients_own_copy_of_a_server_uses_the_one_sign_in(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server, isolation="session") as parts:
        await sign_in(parts)
        assert await whoami(parts)
        one, two = parts.client(name="one"), parts.client(name="two")
        server.end_access_tokens()
        replies = await asyncio.gather(*(parts.call("whoami", client) for client in (one, two)))
        assert ["result" in reply for reply in replies] == [True, True]
        assert len(server.forms("refresh_token")) == 1
        server.end_access_tokens()
        server.end_refresh_tokens()
        assert "error" in await parts.call("whoami", one)
        await state(parts, NEEDS_SIGN_IN)
        await sign_in(parts)
        assert "result" in await parts.call("whoami", one)
        for client in (one, two):
            await parts.presenter.end_session(client)


async def test_a_call_that_was_let_in_is_answered_though_a_later_one_wants_a_sign_in(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        may_answer = asyncio.Event()

        async def slowly(hit: Hit) -> Any:
            await may_answer.wait()
            return hit.result({"content": []})

        server.mcp.on["tools/call"] = slowly
        let_in = asyncio.ensure_future(parts.call("whoami"))
        await server.mcp.hit("tools/call")
        server.end_access_tokens()
        server.end_refresh_tokens()
        refused = (await parts.call("whoami"))["error"]["message"]
        assert refused.startswith("'far' wants you to sign in: ")
        assert "tooltray servers sign-in far" in refused
        assert not let_in.done()
        may_answer.set()
        assert "result" in await let_in
        await state(parts, NEEDS_SIGN_IN)


async def test_a_new_token_that_comes_while_the_hub_ends_is_kept(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            await sign_in(parts)
            server.end_access_tokens()
            may_answer = asyncio.Event()

            async def slowly(request: Any) -> Any:
                await may_answer.wait()
                del server.answers["/token"]
                return await server.handle(request)

            server.answers["/token"] = slowly
            call = asyncio.ensure_future(parts.call("whoami"))
            await server.asked.wait(lambda asked: asked.fields.get("grant_type") == "refresh_token")
            closing = asyncio.ensure_future(parts.sign_ins.close())
            await settled()
            may_answer.set()
            await closing
            await call
            server.end_access_tokens()
            assert "error" in await parts.call("whoami")  # nothing is renewed any more
        async with hub(tmp_path, server) as parts:
            await start(parts)
            assert await whoami(parts)


async def test_what_becomes_of_an_old_urls_access_concerns_nobody(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        config = parts.servers.get("far").config
        resolved = await resolve(config, secrets=parts.secrets, environ={})
        old = await parts.sign_ins.authorization("far", config, resolved, {})
        new = await parts.sign_ins.authorization("far", config, replace(resolved, url=server.mcp_url + "/new"), {})
        assert isinstance(old, ServerAccess)
        assert new is not old
        old.adopt(replace(GOOD, url=server.mcp_url))
        with pytest.raises(NotLetIn):
            await old.renew(Refusal(403, 'Bearer error="insufficient_scope"', old.held))
        await parts.ended()
        assert not snapshot(parts).is_signed_in
        assert await parts.presenter.get_secret_names() == []
        assert problems(parts) == []


async def test_copies_that_open_at_once_share_what_was_kept(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            await sign_in(parts)
        async with hub(tmp_path, server) as parts:
            config = parts.servers.get("far").config
            resolved = await resolve(config, secrets=parts.secrets, environ={})
            one, two = await asyncio.gather(*(parts.sign_ins.authorization("far", config, resolved, {}) for _ in range(2)))
            assert one is two
            assert one
            assert one.held


# what comes in between


class Slow:
    """Secrets whose removal waits until `may_go_on`."""

    def __init__(self, parts: HubParts) -> None:
        self.has_begun, self.may_go_on = asyncio.Event(), asyncio.Event()
        self._remove = parts.secrets.remove
        parts.secrets.remove = self.remove  # type: ignore[method-assign]

    async def remove(self, name: str) -> None:
        self.has_begun.set()
        await self.may_go_on.wait()
        await self._remove(name)


async def test_a_renewal_in_the_middle_of_a_sign_out_brings_no_sign_in_back(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            await sign_in(parts)
            slow = Slow(parts)
            leaving = asyncio.ensure_future(parts.presenter.sign_out("far"))
            await slow.has_begun.wait()
            server.end_access_tokens()
            await parts.call("whoami")  # renews
            assert len(server.forms("refresh_token")) == 1
            slow.may_go_on.set()
            await leaving
            await parts.ended()
            assert await parts.presenter.get_secret_names() == []
            assert server.refresh == {}
        async with hub(tmp_path, server) as parts:
            assert not snapshot(parts).is_signed_in


async def test_a_sign_in_that_is_cancelled_in_any_moment_says_so(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        for steps in range(12):
            beginning = asyncio.ensure_future(parts.presenter.begin_sign_in("far"))
            for _ in range(steps):
                await asyncio.sleep(0)
            await parts.presenter.cancel_sign_in("far")
            with contextlib.suppress(TooltrayError):
                async with asyncio.timeout(10):
                    assert (await beginning).server == "far"  # it had not begun to begin
            await parts.presenter.cancel_sign_in("far")
            assert not snapshot(parts).has_sign_in_page


async def test_a_replaced_secret_serves_without_another_sign_in(tmp_path: Path) -> None:
    oauth = {"clientId": "me", "clientSecret": "${secret:CLIENT}"}
    async with authorizing() as server, hub(tmp_path, server, oauth=oauth) as parts:
        server.know("me", secret="first-secret", method="client_secret_basic")
        await parts.presenter.set_secret("CLIENT", "first-secret")
        await sign_in(parts)
        server.know("me", secret="second-secret", method="client_secret_basic")
        await parts.presenter.set_secret("CLIENT", "second-secret")
        server.end_access_tokens()
        await parts.presenter.restart_server("far")
        assert await whoami(parts)


async def test_a_slip_made_by_hand_while_the_hub_runs_ends_no_sign_in(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        document = json.loads(parts.home.settings.read_text())
        document["mcpServers"]["far"]["disable"] = "perhaps"
        parts.home.settings.write_text(json.dumps(document))
        await parts.presenter.set_mcp_enabled(True)
        assert await whoami(parts)  # what ran goes on
        del document["mcpServers"]["far"]["disable"]
        parts.home.settings.write_text(json.dumps(document))
        await parts.presenter.set_mcp_enabled(True)
        await start(parts)
        assert await whoami(parts)
        assert server.at("/revoke") == []


async def test_a_sign_in_to_a_url_that_is_another_meanwhile_ends(tmp_path: Path) -> None:
    async with authorizing() as server:
        url = server.mcp_url.replace("/mcp", "/${secret:PATH}")
        async with hub(tmp_path, server, url=url) as parts:
            await parts.presenter.set_secret("PATH", "mcp")
            await parts.presenter.begin_sign_in("far")
            await parts.presenter.set_secret("PATH", "other")
            with pytest.raises(TooltrayError):
                await parts.presenter.restart_server("far")
            with pytest.raises(TooltrayError, match="cancelled"):
                await parts.presenter.finish_sign_in("far")


async def test_tokens_that_could_not_be_kept_are_when_the_hub_ends_and_the_keyring_is_open(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            closed = Closed(parts, SecretsLocked("The secrets are locked", "nobody has typed the password", "Unlock them"))
            await sign_in(parts)
            await parts.heard.until(lambda: bool(parts.sign_ins.problems))
            closed.error = None
            await parts.sign_ins.close()
            assert not parts.sign_ins.problems
        async with hub(tmp_path, server) as parts:
            await start(parts)
            assert await whoami(parts)


async def test_tokens_that_cannot_be_deleted_are_said_to_be_there_and_go_when_they_can(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        await settled()
        error: TooltrayError | None = SecretsLocked("The secrets are locked", "nobody has typed the password", "Unlock them")
        remove = parts.secrets.remove

        async def removed(name: str) -> None:
            if error:
                raise error
            await remove(name)

        parts.secrets.remove = removed  # type: ignore[method-assign]
        server.end_access_tokens()
        server.end_refresh_tokens()
        with pytest.raises(TooltrayError, match="sign"):
            await whoami(parts)
        await parts.heard.until(lambda: bool(parts.sign_ins.problems))
        assert [problem.title for problem in parts.sign_ins.problems] == ["the ended sign-in to 'far' is still among the secrets"]
        assert not snapshot(parts).is_signed_in
        error = None
        await parts.sign_ins.close()
        assert await parts.presenter.get_secret_names() == []
        assert not parts.sign_ins.problems
