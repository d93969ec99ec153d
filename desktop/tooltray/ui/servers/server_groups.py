"""The groups of the table of servers and their headings. `server_list` has the order of the cards. Pure functions of snapshots."""

import re
from collections.abc import Callable, Mapping, Sequence

import msgspec

from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.ui.i18n import tr
from tooltray.ui.origins import file_name, is_of_file, project_of
from tooltray.ui.service_words import host, service
from tooltray.ui.state_language import WORKING, needs_person
from tooltray.ui.widgets.row_model import Heading

STATE_ORDER = (
    ServerState.ERROR,
    ServerState.NEEDS_SIGN_IN,
    ServerState.WAITING,
    ServerState.RESTARTING,
    ServerState.STARTING,
    ServerState.INSTALLING,
    ServerState.STOPPING,
    ServerState.RUNNING,
    ServerState.ON_DEMAND,
    ServerState.STOPPED,
)
"""What a person should look at first."""

DECORATION = re.compile(r"^(?:mcp-server-|server-|mcp-)|(?:-mcp-server|-mcp|-server)$")


class Grouping(msgspec.Struct, frozen=True):
    """A way of grouping servers.

    Args:
        name: in the memory of the window.
        of: returns the heading of a server.
    """

    name: str
    title: Callable[[], str]
    of: Callable[[ServerSnapshot], str]


def state_rank(server: ServerSnapshot) -> int:
    return STATE_ORDER.index(server.state)


def needs_action(server: ServerSnapshot) -> bool:
    """Returns whether the user has to do or to look at something; such servers are first in every list."""
    return needs_person(server) or server.waiting


def by_state(server: ServerSnapshot) -> str:
    if needs_action(server):
        return tr("Needs you")
    if server.state is ServerState.WAITING:
        return tr("Waiting for project")
    if server.state in (ServerState.STOPPED, ServerState.STOPPING):
        return tr("Stopped")
    if server.state in WORKING:
        return tr("Starting")
    return tr("Connected") if server.state is ServerState.RUNNING else tr("Sleeping")


def by_file(server: ServerSnapshot) -> str:
    """Returns the project or the file that a server is from."""
    if is_of_file(server):
        return file_name(server.file, project_of(server))
    return tr("Comes with Tooltray") if server.is_builtin else tr("Settings")


def by_service(server: ServerSnapshot) -> str:
    """Returns the service of a server: the host or the program, without the common parts of names."""
    if server.is_builtin:
        return tr("Comes with Tooltray")
    if "://" in server.target:
        return ".".join(host(server.target).split(".")[-2:]) or server.name
    return DECORATION.sub("", service(server).rpartition("/")[2]) if server.target else server.name


GROUPINGS = (
    Grouping("", lambda: tr("No groups"), lambda server: ""),
    Grouping("state", lambda: tr("State"), by_state),
    Grouping("file", lambda: tr("Project or file"), by_file),
    Grouping("service", lambda: tr("Service"), by_service),
)


def grouping(name: str) -> Grouping:
    """Returns the grouping of this name; the first one for an unknown name."""
    return next((each for each in GROUPINGS if each.name == name), GROUPINGS[0])


def grouped(servers: Sequence[ServerSnapshot], by: Grouping) -> list[ServerSnapshot | Heading]:
    """Returns servers under headings, each group in the given order: states by urgency, others by name."""
    if not by.name:
        return list(servers)
    groups: dict[str, list[ServerSnapshot]] = {}
    for server in servers:
        groups.setdefault(by.of(server), []).append(server)
    rows: list[ServerSnapshot | Heading] = []
    for title in _in_order(groups, by):
        rows += [Heading(title, len(groups[title])), *groups[title]]
    return rows


def _in_order(groups: Mapping[str, Sequence[ServerSnapshot]], by: Grouping) -> list[str]:
    if by.name == "state":
        return sorted(groups, key=lambda title: min(state_rank(server) for server in groups[title]))
    return sorted(groups, key=lambda title: (all(server.is_builtin for server in groups[title]), title.casefold()))
