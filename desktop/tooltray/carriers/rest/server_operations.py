"""The REST operations on servers that have paths of their own, as other programs of this kind have them.

A server is shown as a snapshot with a simple status and its tools. Entries are validated strictly. In a returned entry each value that
looks like a secret is replaced by `${secret:NAME/KEY}`, and a caller may send it back like that.
"""

import logging
import os
from collections import defaultdict
from collections.abc import Iterable
from typing import Literal, Protocol, TypeAlias
from urllib.parse import quote

import msgspec

from tooltray.api.presenter.hub_api import HubApi
from tooltray.carriers.rest.operation import Call, Operation
from tooltray.carriers.rest.responses import WHAT_IT_TAKES, Failed
from tooltray.config.settings.given_entries import BUILTIN_NAMES, check_name, read_given_entry
from tooltray.config.settings.json_schema import schema_of
from tooltray.config.settings.server_config import SPELLINGS, MCPServerConfig
from tooltray.config.settings.server_edits import name_is_taken
from tooltray.foundation.confirm_widening import must_wait, with_current_asker
from tooltray.foundation.errors import Conflict, Denied, NotFound, TooltrayError
from tooltray.foundation.files.json_text import check_revision
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.foundation.tasks import finish_in_thread
from tooltray.foundation.verbs import JsonMapping, JsonObject
from tooltray.gateway.calls.api import ToolsApi
from tooltray.sources.entries.api import ServersApi
from tooltray.sources.entries.portable_entry import without_secrets

Entry: TypeAlias = JsonMapping  # as in `mcpServers`
Status = Literal["connected", "disconnected", "error"]

_STATUS: dict[ServerState, Status] = {
    ServerState.RUNNING: "connected",
    ServerState.ERROR: "error",
    ServerState.NEEDS_SIGN_IN: "error",
}
"""Every other state is "disconnected"."""

_REASONS = {
    ServerState.STOPPED: "it was stopped",
    ServerState.ON_DEMAND: "it starts when used",
    ServerState.WAITING: "it waits for a project",
    ServerState.NEEDS_SIGN_IN: "it needs sign-in",
    ServerState.STARTING: "it is starting",
    ServerState.INSTALLING: "its packages are being downloaded",
    ServerState.RESTARTING: "it is being restarted",
    ServerState.STOPPING: "it is being stopped",
}

_SPELLED = {spellings[0]: spellings for spellings in SPELLINGS.values()}
FIELDS = {spelling for name, field in MCPServerConfig.model_fields.items() for spelling in SPELLINGS.get(name, (field.alias,))}


# returned servers
logger = logging.getLogger(__name__)
SERVERS, ONE = "/mcp/servers", "/mcp/servers/{server}"
PROPOSED = "proposal"  # see ServerSnapshot.origin


class ServerView(ServerSnapshot, frozen=True):
    """
    Attributes:
        status: the state, simplified.
        reason: why the server is not connected; empty if it is.
        tools: all known tools, also disabled ones.
    """

    status: Status = "disconnected"
    reason: str = ""
    tools: tuple[ToolSnapshot, ...] = ()


class Restarting(msgspec.Struct, frozen=True):
    """The response to a restart, whose progress shows in the server's state."""

    state: Literal["restarting"] = "restarting"


def status_of(state: ServerState) -> Status:
    return _STATUS.get(state, "disconnected")


def reason_of(server: ServerSnapshot) -> str:
    """Returns why a server is not connected; empty if it is."""
    if server.state is ServerState.RUNNING:
        return ""
    if server.problem:
        return str(server.problem)
    if server.is_disabled:
        return "it is disabled in its settings"
    return server.detail or _REASONS.get(server.state, "")


def view(server: ServerSnapshot, tools: Iterable[ToolSnapshot]) -> ServerView:
    """Makes the view of a server.

    Args:
        tools: the server's tools.
    """
    members = msgspec.structs.asdict(server)
    return ServerView(**members, status=status_of(server.state), reason=reason_of(server), tools=tuple(tools))


# entries from callers


def entry_schema(**members: JsonObject) -> JsonObject:
    """Returns the JSON schema of an entry.

    Args:
        **members: schemas of additional members; those without a default are required.
    """
    found = schema_of(MCPServerConfig, "#/components/schemas/")
    for part in (found, *found["$defs"].values()):
        part["description"] = part["description"].partition("\n")[0]
    fields = {spelling: schema for field, schema in found["properties"].items() for spelling in _SPELLED.get(field, (field,))}
    fields["transport"] = fields["type"]
    required = [name for name, schema in members.items() if "default" not in schema]
    return found | {"properties": {**members, **fields}, "required": required, "additionalProperties": False}


def read_given(given: Entry, name: str) -> JsonObject:
    """Validates an entry and returns it in the spelling of `mcpServers`; `transport` is an alias of `type`.

    Raises:
        Failed: the entry has unknown members or cannot be used.
        TooltrayError: the name cannot be used.
    """
    entry = dict(given)
    if "transport" in entry:
        if entry.get("type") not in (None, entry["transport"]):
            raise Failed(422, "The body cannot be used", "type and transport differ; keep one of them")
        entry["type"] = entry.pop("transport")
    if unknown := sorted(entry.keys() - FIELDS):
        raise Failed(422, "The body cannot be used", f"unknown field {', '.join(repr(field) for field in unknown[:5])}", WHAT_IT_TAKES)
    check_name(name, BUILTIN_NAMES)
    try:
        read_given_entry(name, entry)
    except TooltrayError as error:  # its hint is for users who edit a file
        raise Failed(422, error.problem.title, error.problem.message, WHAT_IT_TAKES) from None
    return entry


def with_secrets(name: str, entry: Entry, before: Entry | None = None) -> tuple[JsonObject, dict[str, str]]:
    """Returns an entry with placeholders for values that look like secrets, and the values by the names of the secrets.

    Args:
        before: the replaced entry. If the new entry has the placeholder for one of its plain values, that value is among the secrets.
    """
    portable = without_secrets(name, entry)
    if before is None:
        return portable.entry, dict(portable.values)
    text = msgspec.json.encode(portable.entry).decode()
    known = without_secrets(name, before).values
    return portable.entry, {secret: value for secret, value in known.items() if f"${{secret:{secret}}}" in text} | portable.values


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
    entry = read_given(given, name)
    async with call.changing_entries:
        if any(server.name == name for server in (await call.presenter.hub.get_snapshot()).servers):
            raise name_is_taken(name)
        stored, secrets = with_secrets(name, entry)
        if project:  # other readers of that file ask for this spelling of `type`
            stored["transport"] = stored.get("type") or ("stdio" if stored.get("command") else "http")
        server = await call.presenter.servers.add_mcp_server(name, stored, project=project, secrets=secrets)
    call.headers["Location"] = f"/api{SERVERS}/{quote(server, safe='')}"
    return await _shown(call, server)


async def _replace(call: Call) -> ServerView:
    name, revision = call.arguments["name"], call.arguments["revision"]
    entry = read_given(call.arguments["config"], name)
    async with call.changing_entries:
        check_revision((await _snapshot(call, name)).revision, revision)
        before = (await call.presenter.servers.get_server_entry(name)).entry
        stored, secrets = (entry, {}) if await must_wait() else with_secrets(name, entry, before)
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
        raise Denied(f"Server '{server.name}' is not running yet", "it waits for the user's approval")
    if server.is_disabled:
        raise Conflict(f"Server '{server.name}' is disabled", "`disable` is true in its settings", "Enable it first.")
    call.spawn(with_current_asker(_restarted(call)), name=f"restart of {server.name}")
    return Restarting()


async def _restarted(call: Call) -> None:
    try:
        await call.verb()
    except TooltrayError as error:
        logger.info("a restart requested over REST failed: %s", error)


async def _snapshot(call: Call, name: str) -> ServerSnapshot:
    snapshot = await call.presenter.hub.get_snapshot()
    for server in snapshot.servers:
        if server.name == name:
            return server
    raise NotFound(f"Server '{name}' not found", hint="GET /api/mcp/servers lists them.")


async def _shown(call: Call, name: str) -> ServerView:
    server = await _snapshot(call, name)
    if server.revision:
        call.show_revision(server.revision)
    return view(server, await call.presenter.tools.get_tools(name))


def _text(given: JsonObject, member: str, default: str | None = None) -> str:
    value = given.pop(member, default)
    if not isinstance(value, str):
        raise Failed(422, "The body cannot be used", f"{member}: must be a string")
    return value


def _tool_name(tool: ToolSnapshot) -> str:
    return f"{tool.server}/{tool.original_name}"


ENTRY = entry_schema()
NEW_SERVER = entry_schema(name={"type": "string", "minLength": 1}, project={"type": "string", "default": ""})

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
