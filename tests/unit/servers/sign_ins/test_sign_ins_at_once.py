"""sign_ins.py, sign_in_flow.py: several copies, calls and changes that meet in one sign-in."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.fakes.authorization_server import authorizing
from tests.fakes.http_server import Hit
from tests.fakes.hub_parts import HubParts, settled
from tests.fakes.sign_in_hub import (
    NEEDS_SIGN_IN,
    hub,
    problems,
    sign_in,
    snapshot,
    start,
    state,
    whoami,
)
from tests.unit.servers.sign_ins.test_server_access import GOOD

from tooltray.config.settings.expansion import resolve
from tooltray.foundation.errors import TooltrayError
from tooltray.servers.sign_ins.server_access import ServerAccess
from tooltray.servers.transports.transport import NotAuthorized, Refusal

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
            await parts.session_clients.end_session(client)


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
        with pytest.raises(NotAuthorized):
            await old.renew(Refusal(403, 'Bearer error="insufficient_scope"', old.held, is_second=False))
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
