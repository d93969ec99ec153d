"""The REST operations on servers that have paths of their own, as other programs of this kind have them."""

import logging
import os
from collections import defaultdict
from typing import Protocol
from urllib.parse import quote

from tooltray.api.presenter.hub_api import HubApi
from tooltray.carriers.rest import server_json
from tooltray.carriers.rest.operation import Call, Operation
from tooltray.carriers.rest.problems import Failed
from tooltray.carriers.rest.server_json import Restarting, ServerView, view
from tooltray.config.settings.server_edits import name_is_taken
from tooltray.foundation.confirmation import must_wait, with_current_asker
from tooltray.foundation.errors import Conflict, Denied, NotFound, TooltrayError
from tooltray.foundation.files.json_text import check_revision
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.foundation.tasks import finish_in_thread
from tooltray.foundation.verbs import JsonObject
from tooltray.gateway.calls.api import ToolsApi
from tooltray.sources.entries.api import ServersApi
from tooltray.sources.entries.portable_entry import without_secrets

logger = logging.getLogger(__name__)
SERVERS, ONE = "/mcp/servers", "/mcp/servers/{server}"
PROPOSED = "proposal"  # see ServerSnapshot.origin


class Asks(Protocol):
    """The types that operations take and return if these differ from the verb's."""

    async def one(self, name: str) -> ServerView:
        """Returns one server."""

    async def all(self, project: str = "") -> list[ServerView]:
        """Returns all servers with their states and tools; with a project, those that its sessions have."""

    async def add(self, server: JsonObject) -> ServerView:
        """Adds a server and begins to start it.

        The body is an entry as in `mcpServers` (`command`, `args`, `env`, `cwd`, or `url`, `headers`; `transport` is another word for
        `type`), and `name`. With `project`, a folder, it is written into the `.mcp.json` there, otherwise into the settings. Values that
        look like secrets are stored as secrets, and the entry gets `${secret:NAME/KEY}`. With a token that is not trusted nothing starts
        before a person has approved it: until then the server is `disconnected` and `waiting`.
        """

    async def replace(self, name: str, config: JsonObject, revision: str = "") -> ServerView:
        """Replaces a server's entry, in the file where it is; a running server is restarted if that changes what runs. With a token that is
        not trusted, a change that widens anything waits for a person's approval: until then the server stays as it was, and `waiting`.
        """

    async def entry(self, name: str) -> JsonObject:
        """Returns a server's entry as its file has it, with `${secret:NAME/KEY}` in the place of values that look like secrets."""

    async def restart(self, name: str) -> Restarting:
        """Begins to restart a server; the server's state shows the progress."""


async def _list(call: Call) -> list[ServerView]:
    snapshot, tools = await call.presenter.hub.get_snapshot(), defaultdict[str, list[ToolSnapshot]](list)
    for tool in await call.presenter.tools.get_tools():
        tools[tool.server].append(tool)
    project = call.arguments.get("project", "")
    project = await finish_in_thread(os.path.realpath, project) if project else ""
    return [view(server, tools[server.name]) for server in snapshot.servers if not project or server.project in ("", project)]


async def _show(call: Call) -> ServerView:
    return await _shown(call, call.arguments["name"])


async def _add(call: Call) -> ServerView:
    """Writes nothing and stores no secret unless the whole entry can be used."""
    given = dict(call.arguments["server"])
    name, project = _text(given, "name"), _text(given, "project", "")
    entry = server_json.read_given(given, name)
    async with call.changing_entries:
        if any(server.name == name for server in (await call.presenter.hub.get_snapshot()).servers):
            raise name_is_taken(name)
        stored, secrets = server_json.with_secrets(name, entry)
        if project:  # other readers of that file ask for this spelling of `type`
            stored["transport"] = stored.get("type") or ("stdio" if stored.get("command") else "http")
        server = await call.presenter.servers.add_mcp_server(name, stored, project=project, secrets=secrets)
    call.headers["Location"] = f"/api{SERVERS}/{quote(server, safe='')}"
    return await _shown(call, server)


async def _replace(call: Call) -> ServerView:
    name, revision = call.arguments["name"], call.arguments["revision"]
    entry = server_json.read_given(call.arguments["config"], name)
    async with call.changing_entries:
        check_revision((await _snapshot(call, name)).revision, revision)
        before = (await call.presenter.servers.get_server_entry(name)).entry
        stored, secrets = (entry, {}) if await must_wait() else server_json.with_secrets(name, entry, before)
        await call.presenter.servers.update_mcp_server(name, stored, revision, secrets)
    return await _shown(call, name)


async def _show_entry(call: Call) -> JsonObject:
    name = call.arguments["name"]
    entry = (await call.presenter.servers.get_server_entry(name)).entry
    call.show_revision((await _snapshot(call, name)).revision)
    return without_secrets(name, entry).entry


async def _restart(call: Call) -> Restarting:
    """Begins a restart, whose progress shows in the server's state."""
    server = await _snapshot(call, call.arguments["name"])
    if server.origin == PROPOSED:
        raise Denied(f"Server '{server.name}' does not run yet", "it waits for a person's yes")
    if server.is_disabled:
        raise Conflict(f"Server '{server.name}' is switched off", "`disable` is true in its settings", "Switch it on first.")
    call.spawn(with_current_asker(_restarted(call)), name=f"restart of {server.name}")
    return Restarting()


async def _restarted(call: Call) -> None:
    try:
        await call.verb()
    except TooltrayError as error:
        logger.info("a restart asked for over REST has failed: %s", error)


async def _snapshot(call: Call, name: str) -> ServerSnapshot:
    snapshot = await call.presenter.hub.get_snapshot()
    for server in snapshot.servers:
        if server.name == name:
            return server
    raise NotFound(f"There is no server '{name}'", hint="GET /api/mcp/servers says which there are.")


async def _shown(call: Call, name: str) -> ServerView:
    server = await _snapshot(call, name)
    if server.revision:
        call.show_revision(server.revision)
    return view(server, await call.presenter.tools.get_tools(name))


def _text(given: JsonObject, member: str, default: str | None = None) -> str:
    value = given.pop(member, default)
    if not isinstance(value, str):
        raise Failed(422, "The body cannot be used", f"{member}: must be a text")
    return value


def _tool_name(tool: ToolSnapshot) -> str:
    return f"{tool.server}/{tool.original_name}"


ENTRY = server_json.entry_schema()
NEW_SERVER = server_json.entry_schema(name={"type": "string", "minLength": 1}, project={"type": "string", "default": ""})

OPERATIONS = (
    Operation("GET", SERVERS, HubApi.get_snapshot, asks=Asks.all, run=_list, page_key=lambda each: each.name),
    Operation("POST", SERVERS, ServersApi.add_mcp_server, status=201, whole="server", asks=Asks.add, run=_add, body_schema=NEW_SERVER),
    Operation("GET", ONE, HubApi.get_snapshot, asks=Asks.one, run=_show),
    Operation("PUT", ONE, ServersApi.update_mcp_server, whole="config", asks=Asks.replace, run=_replace, body_schema=ENTRY),
    Operation("DELETE", ONE, ServersApi.remove_mcp_server, "Stops it, removes its entry, and the secrets that only it uses", 204),
    Operation("GET", f"{ONE}/entry", ServersApi.get_server_entry, asks=Asks.entry, run=_show_entry),
    Operation("POST", f"{ONE}/restart", ServersApi.restart_server, status=202, asks=Asks.restart, run=_restart),
    Operation("GET", f"{ONE}/tools", ToolsApi.get_tools, page_key=_tool_name),
)
WITHOUT_ANOTHER = {each.name for each in OPERATIONS} - {HubApi.get_snapshot.__name__, ToolsApi.get_tools.__name__}
"""The verbs that have only the paths of this module, which keep secrets out of entries and do not wait."""
