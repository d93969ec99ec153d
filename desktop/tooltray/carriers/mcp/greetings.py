"""The greetings for AI clients that open a connection: the hub's, or the one server's, in the client's era.

A server's own greeting is passed on unchanged, except that it declares the hub's own notifications of changed lists.
"""

from collections.abc import Mapping

from msgspec import Raw

from tooltray.protocol import eras
from tooltray.protocol.declarations import BEYOND, TASKS
from tooltray.protocol.envelope import NOTHING, dump
from tooltray.protocol.eras import MODERN_VERSIONS, SERVER_INFO, SERVER_INFO_KEY, Era
from tooltray.protocol.member_scanner import closed, opened
from tooltray.servers.upstream.handshake import Greeting

LISTS = ("tools", "prompts", "resources")
OWN_CAPABILITIES: dict[str, dict[str, bool]] = {
    "tools": {"listChanged": True},
    "prompts": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "completions": {},
    "logging": {},
}
_OF_LEGACY = {"protocolVersion"}  # these have no meaning in the other era
_OF_MODERN = {"resultType", "supportedVersions", "ttlMs", "cacheScope"}


def of_hub(era: Era, instructions: str = "", capabilities: Mapping[str, object] | None = None) -> Raw:
    """Returns the hub's greeting, which also covers servers that are added later.

    Args:
        instructions: of all servers together; servers that did not answer in time have no part in it.
        capabilities: the servers' capabilities besides the hub's own: `extensions`, `experimental`, `tasks`.
    """
    members = {"capabilities": dump({**OWN_CAPABILITIES, **(capabilities or {})}), "serverInfo": dump(SERVER_INFO)}
    if instructions:
        members["instructions"] = dump(instructions)
    return closed(members) if era is Era.LEGACY else _modern(members)


def of_server(greeting: Greeting, era: Era) -> Raw:
    """Returns one server's greeting for a client of an era, without the protocol version for a legacy client. A greeting for the other era
    has all members that have a meaning there, and all unknown ones.
    """
    members = opened(greeting.result)
    members["capabilities"] = _capabilities(members.get("capabilities", NOTHING), era)
    if era is greeting.era:
        return closed(members | ({"supportedVersions": dump(list(MODERN_VERSIONS))} if era is Era.MODERN else {}))
    if era is Era.MODERN:
        return _modern({name: value for name, value in members.items() if name not in _OF_LEGACY})
    meta = _members(members.pop("_meta", NOTHING))
    members["serverInfo"] = meta.pop(SERVER_INFO_KEY, dump(SERVER_INFO))
    members |= {"_meta": closed(meta)} if meta else {}
    return closed({name: value for name, value in members.items() if name not in _OF_MODERN})


def _modern(members: dict[str, Raw]) -> Raw:
    server_info = members.pop("serverInfo", dump(SERVER_INFO))
    meta = _members(members.get("_meta", NOTHING)) | {SERVER_INFO_KEY: server_info}
    members |= {"supportedVersions": dump(list(MODERN_VERSIONS)), "_meta": closed(meta)}
    return eras.as_modern_result("server/discover", closed(members))


def _capabilities(capabilities: Raw, era: Era) -> Raw:
    """Returns capabilities without those for which a client would reject the greeting, and with the list changes that the hub notifies."""
    offered = _members(capabilities)
    for name in [name for name in BEYOND if name in offered and not _is_object(offered[name])]:
        del offered[name]
    if era is Era.MODERN:
        offered.pop(TASKS, None)  # of 2025-11-25; an extension took its place
    for name in LISTS:
        if name in offered and _is_object(offered[name]):
            offered[name] = eras.with_members(offered[name], listChanged=Raw(b"true"))
    return closed(offered)


def _members(value: Raw) -> dict[str, Raw]:
    """Returns the members of an object; nothing for other values."""
    return opened(value) if _is_object(value) else {}


def _is_object(value: Raw) -> bool:
    return bytes(memoryview(value)[:1]) == b"{"
