"""Checks that changed settings have an effect: others may override them, and they may name servers or tools that do not exist.

The hub's notices give the reason. No server is started: for one that was never listed, no tool is reported as missing.
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping

from tooltray.cli.hubs import Hub
from tooltray.cli.speech import tr
from tooltray.cli.terminal import clean_line, print_note
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.tools import ToolSnapshot

LIST_TIMEOUT_S = 60.0  # for the tools of a server that was just restarted
MOST_REASONS = 3


def check_effect(hub: Hub, what: str, *, counts: bool) -> None:
    """
    Args:
        what: the written setting, as the beginning of a sentence.
        counts: whether the hub uses the setting now.

    Raises:
        TooltrayError: the setting has no effect; the message has the problems of the settings.
    """
    if counts:
        return
    notices = [f"{notice.title}: {notice.message}" for notice in hub.ask(hub.api.hub.get_snapshot()).notices]
    why = "; ".join(notices[:MOST_REASONS]) or tr("something else has changed the settings at the same time")
    raise TooltrayError(tr("{what} is in the settings, and does not count", what=what), why, tr("See: tooltray status"))


def listing_line(hub: Hub) -> str:
    """Describes which tools AI clients without a setting of their own get, and how to change it; empty if no tools are known yet."""
    with contextlib.suppress(TooltrayError):  # the hub has ended; the report in progress is more important
        for each in hub.ask(hub.api.views.get_client_modes()):
            if not each.client and each.summary:
                return tr("{summary} Change it with: tooltray clients mode '*' MODE", summary=each.summary)
    return ""


def warn_of_missing(hub: Hub, servers: Iterable[str], tools: Mapping[str, Iterable[str]]) -> None:
    """Prints a note about servers and tools that do not exist.

    Args:
        servers: by name.
        tools: the servers' own names for them, by server.
    """
    if missing := list(_missing(hub, servers, tools)):
        print_note(tr("Careful: {missing}. It is kept for when there is.", missing="; ".join(missing)))


def tools_of(hub: Hub, server: str) -> dict[str, ToolSnapshot]:
    """Returns the known tools of a server, by its own names for them; empty if it was never listed."""
    if not any(each.name == server and each.tool_count for each in hub.ask(hub.api.hub.get_snapshot()).servers):
        return {}
    return {each.original_name: each for each in hub.ask(hub.api.tools.get_tools(server=server), timeout_s=LIST_TIMEOUT_S)}


def _missing(hub: Hub, servers: Iterable[str], tools: Mapping[str, Iterable[str]]) -> Iterator[str]:
    there = {each.name for each in hub.ask(hub.api.hub.get_snapshot()).servers}
    yield from (tr("there is no server '{name}'", name=clean_line(name)) for name in servers if name not in there)
    for server in there.intersection(tools):
        known = tools_of(hub, server)
        yield from (
            tr("'{server}' has no tool '{tool}'", server=server, tool=clean_line(tool))
            for tool in tools[server]
            if known and tool not in known
        )
