"""Every verb of McpPresenter that widens what may happen asks for a confirmation before it does anything; what narrows asks for none."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Generator
from pathlib import Path

import pytest
from tests.fakes.consents import Meanwhile
from tests.fakes.hub_parts import HubParts, hub_parts
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.api.presenter.mcp_presenter import McpPresenter
from tooltray.foundation.confirm_widening import UNATTENDED, asked_by
from tooltray.foundation.errors import Conflict, Denied

SERVERS = {"s": {"command": "p", "autoApprove": ["read"]}, "d": {"command": "p", "deferredStartup": True}}
SERVERS["c"] = {"command": "p", "confinement": "own"}
SERVERS["o"] = {"command": "p", "toolOverrides": {"t": {"flow": "sends", "annotations": {"destructiveHint": True}}}}
SERVERS["w"] = {"command": "p", "toolOverrides": {"t": {"description": "W"}}}
SERVERS["k"] = {"command": "p", "autoApprove": [], "callRules": [{"tool": "t"}], "env": {"A": "${secret:k/A}"}}
Verb = Callable[[McpPresenter, str], Awaitable[object]]


class Answered:
    """Calls a tool with nobody there, and answers the question about that call when it is awaited."""

    def __init__(self, hub: McpPresenter, answer: str) -> None:
        self._hub, self._give, self._answer = hub, hub.answer_approval, answer

    def __await__(self) -> Generator[object, None, None]:
        return self._asked().__await__()

    async def _asked(self) -> None:
        with asked_by(UNATTENDED):
            await self._hub.start_server("s")
            call = asyncio.ensure_future(self._hub.call_tool("t", {"command": "git status"}))
        await asyncio.wait([call])
        assert call.exception()
        [question] = await self._hub.get_approvals()
        assert self._answer in (*question.choices, *(each.answer for each in question.rules))
        await self._give(question.id, self._answer)


WIDENING: dict[str, Verb] = {
    "a yes to a project's servers": lambda hub, folder: hub.trust_entries(folder, {"a": "x"}),
    "a yes to what a program wants": lambda hub, folder: hub.trust_entries("", {"a": "x"}),
    "a yes to a call": lambda hub, folder: Answered(hub, "once"),
    "a grant": lambda hub, folder: hub.add_grant("s", "reads"),
    "a rule on arguments": lambda hub, folder: hub.add_rule("s", {"tool": "t"}),
    "a rule made of a call": lambda hub, folder: Answered(hub, "rule-1"),
    "rules on arguments of a client": lambda hub, folder: hub.change_settings(
        {"publish": {"clients": {"c": {"callRules": [{"tool": "t"}]}}}}
    ),
    "a changed tool": lambda hub, folder: hub.accept_tool_change("s", "t"),
    "an allowed folder": lambda hub, folder: hub.allow_folder(folder),
    "a server for a folder": lambda hub, folder: hub.start_for_project("d", folder),
    "a client's project": lambda hub, folder: hub.set_session_project("x", folder),
    "wider rules of a server": lambda hub, folder: hub.set_server_auto_approve("s", ["all"]),
    "an entry with wider rules": lambda hub, folder: hub.update_mcp_server("s", {"command": "p", "autoApprove": ["all"]}),
    "an entry with rules on arguments": lambda hub, folder: hub.update_mcp_server("s", {"command": "p", "callRules": [{"tool": "t"}]}),
    "an entry that is not sandboxed any more": lambda hub, folder: hub.update_mcp_server("c", {"command": "p"}),
    "an entry in which a tool sends nothing": lambda hub, folder: hub.update_mcp_server(
        "s", {"command": "p", "toolOverrides": {"t": {"flow": "none"}}}
    ),
    "an entry without the hints that made a tool ask": lambda hub, folder: hub.update_mcp_server("o", {"command": "p"}),
    "a new server with rules on arguments": lambda hub, folder: hub.add_mcp_server("new", {"command": "p", "callRules": [{"tool": "t"}]}),
    "a new server in which a tool sends nothing": lambda hub, folder: hub.add_mcp_server(
        "new", {"command": "p", "toolOverrides": {"t": {"flow": "none"}}}
    ),
    "a new server that runs everything": lambda hub, folder: hub.add_mcp_server("new", {"command": "p", "autoApprove": ["all"]}),
    "a new server with the secret of another": lambda hub, folder: hub.add_mcp_server(
        "new", {"command": "p", "args": ["${secret:k/A}"]}, project=folder
    ),
    "an entry with the secret of another": lambda hub, folder: hub.update_mcp_server(
        "s", {"command": "p", "autoApprove": ["read"], "env": {"A": "${secret:k/A}"}}
    ),
    "an import that replaces a server by one with wider rules": lambda hub, folder: hub.import_setup(
        {"mcpServers": {"s": {"command": "p", "autoApprove": ["all"]}}}, replace=True
    ),
    "an import with rules of an AI client": lambda hub, folder: hub.import_setup(
        {"mcpServers": {}, "publish": {"clients": {"c": {"autoApprove": ["read"]}}}}
    ),
    "a tool without the hints that made it ask": lambda hub, folder: hub.set_tool_override("o", "t", title="T"),
    "a tool under another name": lambda hub, folder: hub.set_tool_override("s", "t", name="u"),
    "a tool in other words": lambda hub, folder: hub.set_tool_override("w", "t", description="reads a note"),
    "hints that a tool does not have": lambda hub, folder: hub.set_tool_override("s", "t", annotations={"readOnlyHint": True}),
    "an entry with other words for a tool": lambda hub, folder: hub.update_mcp_server(
        "s", {"command": "p", "autoApprove": ["read"], "toolOverrides": {"t": {"name": "get_note"}}}
    ),
    "another place for secrets": lambda hub, folder: hub.set_secret_backend("file"),
    "a passphrase": lambda hub, folder: hub.set_passphrase("correct horse"),
    "no passphrase any more": lambda hub, folder: hub.remove_passphrase(),
    "a tool that runs without asking": lambda hub, folder: hub.set_tool_approval("s", "t", "always"),
    "what was revoked": lambda hub, folder: hub.restore_grant("x"),
    "a yes that was revoked": lambda hub, folder: hub.restore_trust(folder, "a"),
    "rules of a client": lambda hub, folder: hub.set_client_auto_approve("c", ["read"]),
    "a token that was revoked": lambda hub, folder: hub.restore_client_token("x"),
    "a trusted token": lambda hub, folder: hub.create_api_token("x", trusted=True),
    "an address for others": lambda hub, folder: hub.change_settings({"publish": {"http": {"host": "0.0.0.0"}}}),
    "no token any more": lambda hub, folder: hub.change_settings({"publish": {"http": {"requireToken": False}}}),
    "an empty journal": lambda hub, folder: hub.clear_activity(),
    "contents of calls in the journal": lambda hub, folder: hub.change_settings({"activity": {"contents": True}}),
    "an entry that is tried": lambda hub, folder: hub.test_server("1", "s", {"command": "p"}),
    "report the refusals of a server": lambda hub, folder: hub.allow_refused("c", "path", folder),
    "a server that may do more": lambda hub, folder: hub.set_confinement("c", "open"),
    "another access of a server": lambda hub, folder: hub.set_access("c", "free"),
    "a confined server that runs unconfined for a while": lambda hub, folder: hub.watch_server("c"),
    "a command that gives a secret": lambda hub, folder: hub.change_settings({"secretCommands": {"op": ["op"]}}),
    "folders in the settings": lambda hub, folder: hub.change_settings({"allowedFolders": [folder]}),
}
NARROWING: dict[str, Verb] = {
    "fewer rules of a server": lambda hub, folder: hub.set_server_auto_approve("s", []),
    "a tool that asks": lambda hub, folder: hub.set_tool_approval("s", "t", "ask"),
    "no rules of a client": lambda hub, folder: hub.set_client_auto_approve("c", []),
    "a token that is not trusted": lambda hub, folder: hub.create_api_token("x"),
    "other settings": lambda hub, folder: hub.change_settings({"publish": {"mode": "search"}}),
    "a server that may do less": lambda hub, folder: hub.set_confinement("c", "read", "none"),
    "a server off": lambda hub, folder: hub.set_tool_enabled("s", "t", False),
    "an entry with the same rules": lambda hub, folder: hub.update_mcp_server("s", {"command": "p", "autoApprove": ["read"], "icon": "x"}),
    "the words that a tool has already": lambda hub, folder: hub.set_tool_override("w", "t", description="W"),
    "a tool in its own words": lambda hub, folder: hub.set_tool_override("w", "t"),
    "the place of secrets again": lambda hub, folder: hub.set_secret_backend("memory"),
    "a server as it stands": lambda hub, folder: hub.test_server("1", "s"),
    "a command's own server": lambda hub, folder: hub.add_mcp_server("new", {"command": "p", "disable": True}),
    "a new server with secrets of its own": lambda hub, folder: hub.add_mcp_server(
        "new", {"command": "p", "disable": True, "autoApprove": ["read"], "env": {"A": "${secret:new/A}"}}
    ),
    "a copy of a server": lambda hub, folder: hub.duplicate_mcp_server("k", "new"),
    "an import without rules": lambda hub, folder: hub.import_setup({"mcpServers": {"new": {"command": "p", "disable": True}}}),
}


def written(parts: HubParts) -> object:
    return json.loads(parts.home.settings.read_bytes())


@pytest.mark.parametrize("what", WIDENING)
async def test_what_widens_is_denied_where_nobody_confirms_it_and_changes_nothing(tmp_path: Path, what: str) -> None:
    folder = tmp_path.resolve() / "shop"
    folder.mkdir()
    async with hub_parts(tmp_path / "home", servers=SERVERS, programs={"p": ScriptedServer(tool("t"))}) as parts:
        before = written(parts)
        with asked_by(UNATTENDED), pytest.raises(Denied, match="needs a person at a terminal"):
            await WIDENING[what](parts.presenter, str(folder))
        assert written(parts) == before
        assert await parts.presenter.get_grants() == []


@pytest.mark.parametrize("what", NARROWING)
async def test_what_narrows_needs_nobody(tmp_path: Path, what: str) -> None:
    async with hub_parts(tmp_path / "home", servers=SERVERS, programs={"p": ScriptedServer(tool("t"))}) as parts:
        with asked_by(UNATTENDED):
            await NARROWING[what](parts.presenter, str(tmp_path))


ASKS = ["read", "ask:t"]
CHANGED_MEANWHILE: dict[str, tuple[Verb, Verb]] = {
    "a tool that asks by now": (
        lambda hub, folder: hub.set_tool_approval("s", "other", "always"),
        lambda hub, folder: hub.set_tool_approval("s", "t", "ask"),
    ),
    "rules": (lambda hub, folder: hub.set_server_auto_approve("s", ["all"]), lambda hub, folder: hub.set_server_auto_approve("s", ASKS)),
    "a client's rules": (
        lambda hub, folder: hub.set_client_auto_approve("c", ["all"]),
        lambda hub, folder: hub.set_client_auto_approve("c", []),
    ),
    "an entry": (
        lambda hub, folder: hub.update_mcp_server("s", {"command": "p", "autoApprove": ["all"]}),
        lambda hub, folder: hub.set_server_auto_approve("s", ASKS),
    ),
    "a confined server's entry": (
        lambda hub, folder: hub.update_mcp_server("c", {"command": "p"}),
        lambda hub, folder: hub.set_confinement("c", "read", "none"),
    ),
    "how a server is confined": (
        lambda hub, folder: hub.set_confinement("c", "open"),
        lambda hub, folder: hub.set_confinement("c", "read", "none"),
    ),
    "a tool's hints": (
        lambda hub, folder: hub.set_tool_override("o", "t", title="T"),
        lambda hub, folder: hub.set_tool_override("o", "t", title="U", annotations={"destructiveHint": True}),
    ),
    "a server that an import replaces": (
        lambda hub, folder: hub.import_setup({"mcpServers": {"s": {"command": "p", "autoApprove": ["all"]}}}, replace=True),
        lambda hub, folder: hub.set_server_auto_approve("s", ASKS),
    ),
    "settings": (
        lambda hub, folder: hub.change_settings({"secretCommands": {"op": ["op"]}}),
        lambda hub, folder: hub.change_settings({"hotReload": False}),
    ),
}


@pytest.mark.parametrize("what", CHANGED_MEANWHILE)
async def test_a_yes_counts_for_what_was_asked_about_and_not_for_what_has_changed_meanwhile(tmp_path: Path, what: str) -> None:
    wanted, other = CHANGED_MEANWHILE[what]
    async with hub_parts(tmp_path / "home", servers=SERVERS, programs={"p": ScriptedServer(tool("t"))}) as parts:
        after: list[object] = []

        async def happen() -> None:
            await other(parts.presenter, "")
            after.append(written(parts))

        with asked_by(Meanwhile(happen)), pytest.raises(Conflict):
            await wanted(parts.presenter, "")
        assert [written(parts)] == after


async def test_a_path_that_leads_elsewhere_by_the_time_of_the_yes_allows_what_was_shown(tmp_path: Path) -> None:
    good, evil, link = tmp_path.resolve() / "good", tmp_path.resolve() / "evil", tmp_path.resolve() / "link"
    good.mkdir()
    evil.mkdir()
    link.symlink_to(good)
    async with hub_parts(tmp_path / "home", servers={}) as parts:

        async def happen() -> None:
            link.unlink()
            link.symlink_to(evil)

        with asked_by(Meanwhile(happen)):
            assert await parts.presenter.allow_folder(str(link)) == str(good)


async def test_a_folder_in_one_that_is_allowed_needs_no_second_yes(tmp_path: Path) -> None:
    inside = tmp_path.resolve() / "src" / "shop"
    inside.mkdir(parents=True)
    async with hub_parts(tmp_path / "home", servers={}, settings={"allowedFolders": [str(inside.parent)]}) as parts:
        with asked_by(UNATTENDED):
            assert await parts.presenter.allow_folder(str(inside)) == str(inside)
