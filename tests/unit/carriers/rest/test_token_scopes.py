"""What a token may do by its scope, and the end of one that has expired."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import entry
from tests.fakes.rest_hub import CALL_TOKEN, READ_TOKEN, RestHub, rest_hub
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.foundation.errors import TooltrayError


def on_disk(hub: RestHub) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(hub.parts.home.settings.read_text())
    return document


@pytest.mark.parametrize(
    ("token", "method", "path", "needed"),
    [
        (READ_TOKEN, "POST", "/api/tools/call_tool", "call"),
        (READ_TOKEN, "POST", "/servers", "manage"),
        (READ_TOKEN, "DELETE", "/servers/s", "manage"),
        (CALL_TOKEN, "POST", "/api/settings/change_settings", "manage"),
        (CALL_TOKEN, "POST", "/api/servers/stop_server", "manage"),
    ],
)
async def test_a_token_does_what_its_scope_covers_and_is_told_what_it_would_need(
    tmp_path: Path, token: str, method: str, path: str, needed: str
) -> None:
    async with rest_hub(tmp_path, servers={"s": entry("p", disable=True)}) as hub:
        answer = await hub.ask(method, path, {}, token=token)
        assert (answer.status, answer.json["scope"]) == (403, needed)
        assert f"this needs {needed}" in answer.json["detail"]
        assert f'scope="{needed}"' in answer.headers["WWW-Authenticate"]
        assert "s" in on_disk(hub)["mcpServers"]
        for path in ("/servers", "/api/settings/get_settings", "/api/events", "/api/openapi.json"):
            assert (await hub.ask("GET", path, token=token)).status == 200


async def test_a_token_of_the_scope_call_calls_tools(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"s": entry("p")}, programs={"p": ScriptedServer(tool("t"))}) as hub:
        await hub.ask("POST", "/api/servers/start_server", {"name": "s"})
        assert (await hub.ask("POST", "/api/tools/call_tool", {"name": "t", "arguments": {}}, token=CALL_TOKEN)).status == 200


async def test_a_token_that_was_seen_beyond_its_end_is_saved_as_ended(tmp_path: Path) -> None:
    async with rest_hub(tmp_path) as hub:
        hub.tokens.is_saved = False
        assert (await hub.ask("GET", "/servers", token="nobody's")).status == 401
        async with asyncio.timeout(10):
            while len(hub.parts.keeper):  # noqa: ASYNC110 - not all tasks: the refused connection stays open for 15 s
                await asyncio.sleep(0)
        assert hub.tokens.saved == 1


@pytest.mark.expected_warnings("the tokens cannot be saved")
async def test_a_save_of_ended_tokens_that_fails_is_only_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with rest_hub(tmp_path) as hub:

        def fails() -> None:
            raise TooltrayError("the tokens cannot be saved")

        hub.tokens.is_saved, hub.tokens.save = False, fails  # type: ignore[method-assign]
        assert (await hub.ask("GET", "/servers")).status == 200
        await hub.parts.ended()
    assert "the tokens cannot be saved" in caplog.text
    caplog.clear()
