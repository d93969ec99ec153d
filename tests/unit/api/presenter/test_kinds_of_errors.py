"""Which verbs say that something is not there, that it is not as was believed, or that it is not allowed."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.config.secrets.vaults import SecretMissing
from tooltray.foundation.errors import Conflict, Denied, NotFound


@pytest.fixture
async def parts(tmp_path: Path) -> AsyncIterator[HubParts]:
    program = ScriptedServer(tool("echo"))
    async with hub_parts(tmp_path / "home", servers={"s": entry("program")}, programs={"program": program}) as parts:
        yield parts


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("start_server", {"name": "nowhere"}),
        ("stop_server", {"name": "nowhere"}),
        ("restart_server", {"name": "nowhere"}),
        ("update_mcp_server", {"name": "nowhere", "config": {"command": "x"}}),
        ("remove_mcp_server", {"name": "nowhere"}),
        ("add_mcp_default_server", {"name": "nowhere"}),
        ("get_server_log", {"name": "nowhere"}),
        ("get_all_tool_definitions", {"server": "nowhere"}),
        ("set_tool_enabled", {"server": "nowhere", "tool": "x", "enabled": False}),
        ("set_tool_override", {"server": "nowhere", "tool": "x", "name": "y"}),
        ("set_lazy_load", {"enabled": True, "server": "nowhere"}),
        ("remove_secret", {"name": "nowhere"}),
        ("remove_client_token", {"name": "nobody"}),
        ("answer_approval", {"id": "x", "answer": "once"}),
        ("answer_elicitation", {"id": "x", "action": "accept"}),
        ("answer_feedback", {"id": "x", "text": "yes"}),
        ("remove_grant", {"id": "x"}),
        ("preview_grant", {"server": "nowhere", "kind": "tool", "tool": "x"}),
        ("preview_grant", {"server": "s", "kind": "tool", "tool": "nothing"}),
        ("remove_profile", {"name": "nowhere"}),
        ("set_client_profile", {"client": "Cursor", "profile": "nowhere"}),
        ("set_session_project", {"session": "nobody", "path": "/"}),
        ("disallow_folder", {"path": "/nowhere"}),
        ("sign_out", {"name": "nowhere"}),
    ],
)
async def test_what_was_named_is_not_there(parts: HubParts, verb: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(NotFound):
        await getattr(parts.presenter, verb)(**arguments)


async def test_a_secret_that_is_not_there_is_still_told_apart(parts: HubParts) -> None:
    with pytest.raises(SecretMissing):
        await parts.presenter.remove_secret("nowhere")


async def test_a_name_that_is_taken_and_a_profile_in_use_are_conflicts(parts: HubParts) -> None:
    with pytest.raises(Conflict):
        await parts.presenter.add_mcp_server("s", {"command": "x"})
    await parts.presenter.set_profile("work", {})
    await parts.presenter.set_client_profile("Cursor", "work")
    with pytest.raises(Conflict):
        await parts.presenter.remove_profile("work")
    with pytest.raises(Conflict):
        await parts.presenter.accept_tool_change("s", "echo")


async def test_a_folder_that_nobody_has_allowed_is_denied(parts: HubParts, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    with pytest.raises(Denied):
        await parts.presenter.call_tool("echo", {}, project=str(tmp_path / "project"))
