"""A hub with one server, `far`, to which a person signs in at a real authorization server on the loopback. Test code."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.authorization_server import AuthorizationServer, browse
from tests.fakes.hub_parts import QUICK, HubParts, hub_parts

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ProblemReported
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.servers.upstream.start_limits import Patience

RUNNING, NEEDS_SIGN_IN, ERROR, STOPPED = ServerState.RUNNING, ServerState.NEEDS_SIGN_IN, ServerState.ERROR, ServerState.STOPPED


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
