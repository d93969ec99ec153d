"""Whether what was chosen has an effect: settings can be written, and be of none beside something else in them, or name what is not there.

Above it: the commands that change settings. Below it: a hub, whose notices say why. Starts no server: where nobody knows yet which tools a
server has, nothing is said of them.
"""

from collections.abc import Iterable, Iterator, Mapping

from tooltray.cli.hub import Hub
from tooltray.cli.terminal import clean_line, print_note
from tooltray.errors import TooltrayError
from tooltray.snapshots.tools import ToolSnapshot

LIST_TIMEOUT_S = 60.0  # for the tools of a server that has just been started again
MOST_REASONS = 3


def check_effect(hub: Hub, what: str, *, counts: bool) -> None:
    """
    Args:
        what: what was written, as the beginning of a sentence.
        counts: whether it is what the hub has by now.

    Raises:
        TooltrayError: it is not; tells what is wrong with the settings.
    """
    if counts:
        return
    notices = [f"{notice.title}: {notice.message}" for notice in hub.ask(hub.api.hub.get_snapshot()).notices]
    why = "; ".join(notices[:MOST_REASONS]) or "something else has changed the settings at the same time"
    raise TooltrayError(f"{what} is in the settings, and does not count", why, "See: tooltray status")


def warn_of_missing(hub: Hub, servers: Iterable[str], tools: Mapping[str, Iterable[str]]) -> None:
    """Notes which servers, and which tools of servers, there are not.

    Args:
        servers: by name.
        tools: the servers' own names for them, by server.
    """
    if missing := list(_missing(hub, servers, tools)):
        print_note(f"Careful: {'; '.join(missing)}. It is kept for when there is.")


def tools_of(hub: Hub, server: str) -> dict[str, ToolSnapshot]:
    """The tools that a server is known to have, by its own names for them; empty while it was never listed."""
    if not any(each.name == server and each.tool_count for each in hub.ask(hub.api.hub.get_snapshot()).servers):
        return {}
    return {each.original_name: each for each in hub.ask(hub.api.tools.get_tools(server=server), timeout_s=LIST_TIMEOUT_S)}


def _missing(hub: Hub, servers: Iterable[str], tools: Mapping[str, Iterable[str]]) -> Iterator[str]:
    there = {each.name for each in hub.ask(hub.api.hub.get_snapshot()).servers}
    yield from (f"there is no server '{clean_line(name)}'" for name in servers if name not in there)
    for server in there.intersection(tools):
        known = tools_of(hub, server)
        yield from (f"'{server}' has no tool '{clean_line(tool)}'" for tool in tools[server] if known and tool not in known)
