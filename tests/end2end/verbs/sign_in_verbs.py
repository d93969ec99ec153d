"""Signing in to servers, and out."""

import asyncio

from tests.end2end.verbs.hub_at_work import Checks
from tests.fakes.authorization_server import browse


async def sign_in_begun(hub):
    """Begins to sign in to the server that wants it, which is added for that."""
    await hub("add_mcp_server", name="gate", config={"type": "http", "url": hub.gate.mcp_url, "autoApprove": ["all"]}, is_default=False)
    return await hub("begin_sign_in", name="gate")


async def begin_sign_in(hub):
    begun = await sign_in_begun(hub)
    assert begun["url"].startswith(hub.gate.origin)
    assert await hub("begin_sign_in", name="gate") == begun
    assert (await hub.server("gate"))["has_sign_in_page"] is True
    assert await hub.refusal("begin_sign_in", name="kit")
    await hub("remove_mcp_server", name="gate")


async def finish_sign_in(hub):
    begun = await sign_in_begun(hub)
    await asyncio.gather(hub("finish_sign_in", name="gate"), browse(begun["url"]))
    assert (await hub.server("gate"))["is_signed_in"] is True
    await hub("start_server", name="gate")
    assert await hub("get_all_tool_definitions", server="gate")
    await hub("remove_mcp_server", name="gate")


async def cancel_sign_in(hub):
    await sign_in_begun(hub)
    await hub("cancel_sign_in", name="gate")
    assert (await hub.server("gate"))["has_sign_in_page"] is False
    assert "sign-in to 'gate'" in await hub.refusal("finish_sign_in", name="gate")
    await hub("remove_mcp_server", name="gate")


async def sign_out(hub):
    begun = await sign_in_begun(hub)
    await asyncio.gather(hub("finish_sign_in", name="gate"), browse(begun["url"]))
    await hub("sign_out", name="gate")
    assert (await hub.server("gate"))["is_signed_in"] is False
    await hub("remove_mcp_server", name="gate")


CHECKS: Checks = {
    "begin_sign_in": begin_sign_in,
    "finish_sign_in": finish_sign_in,
    "cancel_sign_in": cancel_sign_in,
    "sign_out": sign_out,
}
