"""server_access.py, sign_ins.py, authorization_client.py: tokens over time are renewed without a word, or a person is asked again."""

import asyncio
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.fakes.authorization_server import authorizing, browse, query_of, says
from tests.fakes.http_server import answering
from tests.fakes.hub_parts import QUICK
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
    texts_of,
    whoami,
)

from tooltray.config.settings.expansion import resolve
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.servers import ServerState

ENDED_S = 1e-9  # of a token that lives no longer


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


async def test_an_entry_that_is_tried_out_has_the_sign_in_of_its_server_and_begins_none(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        config = parts.servers.get("far").config
        settled = partial(parts.sign_ins.settled_authorization, environ={})
        resolved = await resolve(config, secrets=parts.secrets, environ={})
        assert await settled("far", config, resolved) is await parts.sign_ins.authorization("far", config, resolved, {})
        assert await settled("far", config.model_copy(update={"base_url": "https://elsewhere.example/"}), resolved) is None
        assert await settled("new", config, resolved) is None


async def test_a_server_that_wants_more_rights_gets_them_beside_those_it_had(tmp_path: Path) -> None:
    async with authorizing(resource_metadata={"scopes_supported": ["notes:read"]}) as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        server.needs_scope = "notes:write"
        with pytest.raises(TooltrayError):
            await whoami(parts)
        await state(parts, NEEDS_SIGN_IN)
        assert "it requires more scopes: notes:write" in str(snapshot(parts).problem)
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
