"""Servers as programs see and send them: a snapshot with a simple status and the tools; an entry, which is validated strictly.

In a returned entry each value that looks like a secret is replaced by `${secret:NAME/KEY}`, and a caller may send it back like that.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from tooltray.carriers.rest.problems import WHAT_IT_TAKES, Failed
from tooltray.config.settings.given_entries import BUILTIN_NAMES, check_name, read_given_entry
from tooltray.config.settings.server_config import SPELLINGS, MCPServerConfig
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.foundation.verbs import JsonObject
from tooltray.sources.entries.portable_entry import without_secrets

Entry: TypeAlias = Mapping[str, Any]  # as in `mcpServers`
Status = Literal["connected", "disconnected", "error"]

_STATUS: dict[ServerState, Status] = {
    ServerState.RUNNING: "connected",
    ServerState.ERROR: "error",
    ServerState.NEEDS_SIGN_IN: "error",
}
"""Every other state is "disconnected"."""

_REASONS = {
    ServerState.STOPPED: "somebody stopped it",
    ServerState.ON_DEMAND: "its first use starts it",
    ServerState.WAITING: "it waits until a project is known",
    ServerState.NEEDS_SIGN_IN: "it needs somebody to sign in",
    ServerState.STARTING: "it is starting",
    ServerState.INSTALLING: "its packages are being downloaded",
    ServerState.RESTARTING: "it is being restarted",
    ServerState.STOPPING: "it is being stopped",
}

_SPELLED = {spellings[0]: spellings for spellings in SPELLINGS.values()}
FIELDS = {spelling for name, field in MCPServerConfig.model_fields.items() for spelling in SPELLINGS.get(name, (field.alias or name,))}


# returned servers


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
        return "it is switched off in its settings"
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
    found = MCPServerConfig.model_json_schema(by_alias=True, ref_template="#/components/schemas/{model}")
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
        raise Failed(422, "The body cannot be used", f"there is no field {', '.join(repr(field) for field in unknown[:5])}", WHAT_IT_TAKES)
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
