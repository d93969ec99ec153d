"""Whether servers and tools that a person names are there: what is chosen for one that is not is kept, and said at once.

Above it: profiles and shown. Below it: a hub. Starts no server: where nobody knows yet which tools a server has, nothing is said of them.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tooltray.cli.terminal import clean_line, print_note
from tooltray.control.control_client import Hub

LIST_TIMEOUT_S = 60.0  # for the tools of a server that has just been started again


def warn_of_missing(hub: Hub, servers: Iterable[str], tools: Mapping[str, Iterable[str]]) -> None:
    """Says on standard error which servers, and which tools of servers, there are not.

    Args:
        servers: by name.
        tools: the servers' own names for them, by server.
    """
    missing = list(_missing(hub, servers, tools))
    if missing:
        print_note(f"Careful: {'; '.join(missing)}. It is kept for when there is.")


def tools_of(hub: Hub, server: str) -> dict[str, dict[str, Any]]:
    """The tools that a server is known to have, by its own names for them; empty while it was never listed."""
    if not any(each["name"] == server and each["tool_count"] for each in hub.call("get_snapshot")["servers"]):
        return {}
    return {each["original_name"]: each for each in hub.call("get_tools", timeout_s=LIST_TIMEOUT_S, server=server)}


def _missing(hub: Hub, servers: Iterable[str], tools: Mapping[str, Iterable[str]]) -> Iterator[str]:
    there = {each["name"] for each in hub.call("get_snapshot")["servers"]}
    yield from (f"there is no server '{clean_line(name)}'" for name in servers if name not in there)
    for server in there.intersection(tools):
        known = tools_of(hub, server)
        yield from (f"'{server}' has no tool '{clean_line(tool)}'" for tool in tools[server] if known and tool not in known)
