"""What an AI client is told when it opens its connection: of the hub, or of the one server that it has, in its own era.

Above it: client_session. Below it: protocol. A server's own greeting goes through as it is, but for what the hub does in its place: it
tells every change of a list.
"""

from msgspec import Raw

from tooltray.protocol import eras
from tooltray.protocol.envelope import dump
from tooltray.protocol.eras import MODERN_VERSIONS, SERVER_INFO_KEY, Era
from tooltray.protocol.member_scanner import closed, opened
from tooltray.sessions.own_results import SERVER_INFO
from tooltray.upstream.handshake import Greeting

LISTS = ("tools", "prompts", "resources")
OWN_CAPABILITIES: dict[str, dict[str, bool]] = {
    "tools": {"listChanged": True},
    "prompts": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "completions": {},
    "logging": {},
}
_SAID_OF_ITSELF = {"capabilities", "serverInfo", "instructions"}


def of_hub(era: Era, instructions: str = "") -> Raw:
    """What stands for servers that are still to come.

    Args:
        instructions: of all of them together; empty for one that could not be asked in time.
    """
    members = {"capabilities": dump(OWN_CAPABILITIES), "serverInfo": dump(SERVER_INFO)}
    if instructions:
        members["instructions"] = dump(instructions)
    return closed(members) if era is Era.LEGACY else _modern(members)


def of_server(greeting: Greeting, era: Era) -> Raw:
    """One server's greeting for a client of an era, without the version that a legacy client is answered with."""
    members = opened(greeting.result)
    members["capabilities"] = _with_list_changes(members.get("capabilities", Raw(b"{}")))
    if era is greeting.era:
        return closed(members | ({"supportedVersions": dump(list(MODERN_VERSIONS))} if era is Era.MODERN else {}))
    if era is Era.MODERN:
        return _modern({name: value for name, value in members.items() if name in _SAID_OF_ITSELF})
    meta = opened(members.get("_meta", Raw(b"{}")))
    members["serverInfo"] = meta.get(SERVER_INFO_KEY, dump(SERVER_INFO))
    return closed({name: value for name, value in members.items() if name in _SAID_OF_ITSELF})


def _modern(members: dict[str, Raw]) -> Raw:
    server_info = members.pop("serverInfo", dump(SERVER_INFO))
    members |= {"supportedVersions": dump(list(MODERN_VERSIONS)), "_meta": closed({SERVER_INFO_KEY: server_info})}
    return eras.as_modern_result("server/discover", closed(members))


def _with_list_changes(capabilities: Raw) -> Raw:
    offered = opened(capabilities)
    for name in LISTS:
        if name in offered:
            offered[name] = eras.with_members(offered[name], listChanged=Raw(b"true"))
    return closed(offered)
